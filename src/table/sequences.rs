//! Rows to sequences: grouped by key, ordered by index, checked for what a sequence must be.
//! The order depends on the values alone, so a sliced, chunked or shuffled frame gives the same table.

use std::cmp::Ordering;
use std::ops::Range;

use polars::prelude::{Column, DataFrame};

use super::cells::Cells;
use super::parts::read_parts;
use super::read::read;
use super::{
    ContextRows, Label, MISSING_CODE, Role, Schema, SequenceTable, Source, Store, TableError,
    Values,
};
use crate::metadata::nearest_name;

impl SequenceTable {
    /// Groups and orders a table that has the schema's columns, in memory.
    ///
    /// # Errors
    /// [`TableError`] naming column and row: a column that is not there or does not fit the fitted dtype, a
    /// missing key or index, a context column that changes within a sequence; no rows at all.
    pub(crate) fn from_source(
        source: &impl Source,
        schema: &Schema,
    ) -> Result<SequenceTable, TableError> {
        SequenceTable::kept(source, schema, &Store::Memory)
    }

    /// As [`SequenceTable::from_source`], wherever the columns are kept.
    ///
    /// # Errors
    /// Also [`TableError::TemporaryDirectory`].
    pub(crate) fn kept(
        source: &impl Source,
        schema: &Schema,
        store: &Store,
    ) -> Result<SequenceTable, TableError> {
        let table = SequenceTable::grouped(source, schema, store)?;
        table.check_context(schema)?;
        Ok(table)
    }

    /// Groups and orders a table whose context columns may change within a sequence.
    pub(super) fn grouped(
        source: &impl Source,
        schema: &Schema,
        store: &Store,
    ) -> Result<SequenceTable, TableError> {
        for name in source.names() {
            schema.column(name)?;
        }
        if source.rows() == 0 {
            return Err(TableError::Empty { what: "rows" });
        }
        let rows = row_count(source.rows())?;
        // Key and index give the order; the other columns are put in it one by one, as they are read.
        let present = |position: usize, role: Role| {
            let column = &schema.columns[position];
            let compact = |cells: Cells| cells.compact(column.base, column.step);
            let cells = read_parts(source, column, compact)?;
            check_present(&cells, &column.name, role)?;
            Ok((position, cells))
        };
        let keys = schema.sequence_key().into_iter();
        let keys = keys
            .map(|position| present(position, Role::SequenceKey))
            .collect::<Result<Vec<_>, TableError>>()?;
        let index = schema
            .sequence_index()
            .map(|position| present(position, Role::SequenceIndex))
            .transpose()?;
        let by_key = |left: u32, right: u32| compare(&keys, left, right);
        let mut order: Vec<u32> = (0..rows).collect();
        // By row last, so rows of one key and index keep the table's order.
        order.sort_unstable_by(|&left, &right| {
            let by_index = || compare(index.as_slice(), left, right);
            by_key(left, right)
                .then_with(by_index)
                .then(left.cmp(&right))
        });
        let mut offsets = vec![0];
        let is_first = |&at: &usize| by_key(order[at - 1], order[at]).is_ne();
        offsets.extend((1..order.len()).filter(is_first));
        offsets.push(order.len());
        let order = store.keep(order.into_iter())?;
        let mut columns: Vec<Option<Values>> = vec![None; schema.columns.len()];
        for (position, cells) in index.into_iter().chain(keys) {
            let column = &schema.columns[position];
            let values = cells.into_values(column.base, column.step);
            columns[position] = Some(values.in_order(&order, store)?);
        }
        for (values, column) in columns.iter_mut().zip(&schema.columns) {
            if values.is_none() {
                let in_steps = |cells: Cells| cells.in_steps(column.base, column.step);
                let cells = read_parts(source, column, in_steps)?;
                *values = Some(cells.into_values(0, 1).in_order(&order, store)?);
            }
        }
        Ok(SequenceTable {
            owners: (0..).take(offsets.len() - 1).collect(),
            offsets,
            columns: columns.into_iter().flatten().collect(),
            row_numbers: order,
        })
    }

    /// The same rows with each sequence cut into segments of at most so many rows, each a sequence from here on. Its
    /// last one is as long as what is left.
    pub(crate) fn segmented(mut self, rows: usize) -> SequenceTable {
        let (mut offsets, mut owners) = (vec![0], Vec::new());
        for (ends, &owner) in self.offsets.windows(2).zip(&self.owners) {
            let inner = (ends[0]..ends[1]).step_by(rows.max(1)).skip(1);
            offsets.extend(inner.chain([ends[1]]));
            owners.resize(offsets.len() - 1, owner);
        }
        (self.offsets, self.owners) = (offsets, owners);
        self
    }

    /// Number of sequences before they were cut into segments.
    pub(crate) fn whole_sequences(&self) -> usize {
        self.owners.chunk_by(|a, b| a == b).count()
    }

    /// Number of sequences.
    pub(crate) fn sequences(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Number of rows of all sequences.
    pub(crate) fn rows(&self) -> usize {
        self.row_numbers.len()
    }

    /// The frame's row that a row came from.
    pub(crate) fn row_number(&self, row: usize) -> usize {
        self.row_numbers[row] as usize
    }

    /// Rows of each sequence.
    pub(crate) fn lengths(&self) -> Vec<usize> {
        self.offsets
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .collect()
    }

    /// The number of the sequence, before any was cut into segments, that each row belongs to.
    pub(crate) fn sequence_of_row(&self) -> Vec<u32> {
        self.owners
            .iter()
            .zip(self.lengths())
            .flat_map(|(&owner, length)| std::iter::repeat_n(owner, length))
            .collect()
    }

    /// Some of the sequences, with the cells of the wanted columns; the other columns come back empty.
    pub(crate) fn part(
        &self,
        sequences: Range<usize>,
        is_wanted: impl Fn(usize) -> bool,
    ) -> SequenceTable {
        let offsets = &self.offsets[sequences.start..=sequences.end];
        let rows: Vec<usize> = (offsets[0]..offsets[sequences.len()]).collect();
        SequenceTable {
            offsets: offsets.iter().map(|row| row - offsets[0]).collect(),
            owners: self.owners[sequences.clone()].to_vec(),
            columns: self
                .columns
                .iter()
                .enumerate()
                .map(|(column, values)| {
                    if is_wanted(column) {
                        values.take(&rows)
                    } else {
                        Values::Numbers(Vec::new().into())
                    }
                })
                .collect(),
            row_numbers: self.row_numbers[offsets[0]..offsets[sequences.len()]]
                .to_vec()
                .into(),
        }
    }

    pub(super) fn range(&self, sequence: usize) -> Range<usize> {
        self.offsets[sequence]..self.offsets[sequence + 1]
    }

    pub(super) fn check_context(&self, schema: &Schema) -> Result<(), TableError> {
        for position in schema.context() {
            if let Some(&(first, row)) = self.changes(position).first() {
                return Err(self.varies(schema, position, first, row));
            }
        }
        Ok(())
    }

    /// Rows of a column that differ from the first of their sequence, which stands before them.
    pub(super) fn changes(&self, position: usize) -> Vec<(usize, usize)> {
        let values = &self.columns[position];
        (0..self.sequences())
            .flat_map(|sequence| {
                let rows = self.range(sequence);
                let first = rows.start;
                rows.map(move |row| (first, row))
            })
            .filter(|&(first, row)| !same(values, first, row))
            .collect()
    }

    /// Why a column whose rows differ is no context column.
    pub(super) fn varies(
        &self,
        schema: &Schema,
        position: usize,
        first: usize,
        row: usize,
    ) -> TableError {
        TableError::ContextVaries {
            column: schema.columns[position].name.clone(),
            key: self.key_text(schema, first),
            first_row: self.row_number(first),
            row: self.row_number(row),
        }
    }

    fn key_text(&self, schema: &Schema, row: usize) -> String {
        let keys = schema.sequence_key();
        if keys.is_empty() {
            return "of the whole table".to_owned();
        }
        let texts = keys.into_iter().map(|key| match &self.columns[key] {
            Values::Labels { codes, labels } => labels
                .get(codes[row] as usize)
                .map_or_else(String::new, Label::to_string),
            // A column that is drawn, whose numbers are not those of the frame; the others name the sequence.
            Values::Numbers(_) => "...".to_owned(),
        });
        texts.collect::<Vec<_>>().join("`, `")
    }
}

impl Values {
    fn in_order(self, order: &[u32], store: &Store) -> Result<Values, TableError> {
        let rows = order.iter().map(|&row| row as usize);
        Ok(match self {
            Values::Numbers(numbers) => {
                let numbers: &[f64] = &numbers;
                Values::Numbers(store.keep(rows.map(|row| numbers[row]))?)
            }
            Values::Labels { codes, labels } => {
                let codes: &[u32] = &codes;
                let codes = store.keep(rows.map(|row| codes[row]))?;
                Values::Labels { codes, labels }
            }
        })
    }
}

impl ContextRows {
    /// Reads rows that wish for context values: any of the context columns, in any order, perhaps the key.
    /// dtypes other than the fitted ones are taken where nothing is lost by it.
    ///
    /// # Errors
    /// [`TableError`] naming the column: one that is neither context nor key, a value that the fitted dtype
    /// cannot hold exactly, a missing key; no rows at all.
    pub(crate) fn from_frame(
        frame: &DataFrame,
        schema: &Schema,
    ) -> Result<ContextRows, TableError> {
        if frame.columns().is_empty() {
            return Err(TableError::Empty { what: "columns" });
        }
        if frame.height() == 0 {
            return Err(TableError::Empty { what: "rows" });
        }
        let columns = frame
            .columns()
            .iter()
            .map(|column| read_context(column, schema))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(ContextRows {
            rows: frame.height(),
            columns,
        })
    }
}

fn read_context(column: &Column, schema: &Schema) -> Result<(usize, Values), TableError> {
    let name = column.name().as_str();
    let key = schema.sequence_key();
    let own = key.iter().find(|&&key| schema.columns[key].name == name);
    let position = match own {
        Some(&key) => key,
        None => schema.context_column(name)?,
    };
    let fitted = &schema.columns[position];
    let cells = read(column, fitted)?;
    if fitted.is_key {
        check_present(&cells, name, Role::SequenceKey)?;
    }
    Ok((position, cells.into_values(fitted.base, fitted.step)))
}

impl Schema {
    /// Position of the column of a name.
    ///
    /// # Errors
    /// [`TableError::ColumnNotInMetadata`] when there is none.
    pub(crate) fn column(&self, name: &str) -> Result<usize, TableError> {
        let fitted = || self.columns.iter().map(|column| column.name.as_str());
        let position = fitted().position(|fitted| fitted == name);
        position.ok_or_else(|| TableError::ColumnNotInMetadata {
            column: name.to_owned(),
            nearest: nearest_name(name, fitted()),
        })
    }

    /// Position of the context column of a name.
    ///
    /// # Errors
    /// [`TableError::NotAContextColumn`] when there is none.
    pub(crate) fn context_column(&self, name: &str) -> Result<usize, TableError> {
        let positions = self.context();
        let position = positions.iter().find(|&&at| self.columns[at].name == name);
        position.copied().ok_or_else(|| {
            let context: Vec<String> = positions
                .iter()
                .map(|&position| self.columns[position].name.clone())
                .collect();
            TableError::NotAContextColumn {
                column: name.to_owned(),
                nearest: nearest_name(name, context.iter().map(String::as_str)),
                context,
            }
        })
    }
}

pub(super) fn find<'a>(frame: &'a DataFrame, name: &str) -> Result<&'a Column, TableError> {
    frame
        .column(name)
        .map_err(|_| TableError::ColumnNotInFrame {
            column: name.to_owned(),
            nearest: nearest_name(
                name,
                frame.columns().iter().map(|column| column.name().as_str()),
            ),
        })
}

/// Rows are numbered as labels are, with the number of a missing one to spare.
fn row_count(rows: usize) -> Result<u32, TableError> {
    let count = u32::try_from(rows).ok().filter(|rows| *rows < MISSING_CODE);
    count.ok_or(TableError::TooManyRows {
        rows,
        most: MISSING_CODE as usize - 1,
    })
}

/// Which of two rows stands first by the columns in turn.
fn compare(columns: &[(usize, Cells)], left: u32, right: u32) -> Ordering {
    let by_column = |(_, cells): &(usize, Cells)| {
        let rank = |row: u32| cells.rank(row as usize);
        rank(left).cmp(&rank(right))
    };
    let mut by_column = columns.iter().map(by_column);
    by_column
        .find(|ordering| ordering.is_ne())
        .unwrap_or(Ordering::Equal)
}

fn check_present(cells: &Cells, column: &str, role: Role) -> Result<(), TableError> {
    match cells.first_missing() {
        None => Ok(()),
        Some(row) => Err(TableError::MissingRole {
            column: column.to_owned(),
            row,
            role: role.name(),
        }),
    }
}

fn same(values: &Values, left: usize, right: usize) -> bool {
    match values {
        // Bits, so that two missing cells are equal.
        Values::Numbers(numbers) => {
            numbers[left].to_bits() == numbers[right].to_bits()
                || (numbers[left].is_nan() && numbers[right].is_nan())
        }
        Values::Labels { codes, .. } => codes[left] == codes[right],
    }
}
