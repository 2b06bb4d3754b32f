//! Rows to sequences: grouped by key, ordered by index, checked for what a sequence must be.
//! The order depends on the values alone, so a sliced, chunked or shuffled frame gives the same table.

use std::ops::Range;

use polars::prelude::{Column, DataFrame};

use super::cells::{Cells, MISSING_WHOLE};
use super::read::read;
use super::{ContextRows, Label, Role, Schema, SequenceTable, Source, TableError, Values};
use crate::metadata::nearest_name;

impl SequenceTable {
    /// Groups and orders a table that has the schema's columns.
    ///
    /// # Errors
    /// [`TableError`] naming column and row: a column that is not there or does not fit the fitted dtype, a
    /// missing key or index, a context column that changes within a sequence; no rows at all.
    pub(crate) fn from_source(
        source: &impl Source,
        schema: &Schema,
    ) -> Result<SequenceTable, TableError> {
        let table = SequenceTable::grouped(source, schema)?;
        table.check_context(schema)?;
        Ok(table)
    }

    /// Groups and orders a table whose context columns may change within a sequence.
    pub(super) fn grouped(
        source: &impl Source,
        schema: &Schema,
    ) -> Result<SequenceTable, TableError> {
        for name in source.names() {
            schema.column(name)?;
        }
        if source.rows() == 0 {
            return Err(TableError::Empty { what: "rows" });
        }
        let cells = |position: usize| -> Result<Cells, TableError> {
            let column = &schema.columns[position];
            read(source.column(&column.name)?.as_ref(), column)
        };
        let values = |position: usize, cells: Cells| {
            let column = &schema.columns[position];
            cells.into_values(column.base, column.step)
        };
        // Key and index give the order; the other columns are put in it one by one, as they are read.
        let mut ordering: Vec<Option<Values>> = vec![None; schema.columns.len()];
        let mut ranks = |position: usize, role: Role| -> Result<Vec<i128>, TableError> {
            let cells = cells(position)?;
            let ranks = cells.ranks();
            check_present(&ranks, &schema.columns[position].name, role)?;
            ordering[position] = Some(values(position, cells));
            Ok(ranks)
        };
        let mut keys: Option<Vec<i128>> = None;
        for position in schema.sequence_key() {
            let own = ranks(position, Role::SequenceKey)?;
            keys = Some(match keys {
                None => own,
                Some(before) => ranks_of_pairs(&before, &own),
            });
        }
        let indexes = schema
            .sequence_index()
            .map(|position| ranks(position, Role::SequenceIndex))
            .transpose()?;
        let mut order: Vec<usize> = (0..source.rows()).collect();
        // Stable, so rows of one key and index keep the table's order.
        order.sort_by_key(|&row| {
            (
                keys.as_ref().map(|keys| keys[row]),
                indexes.as_ref().map(|indexes| indexes[row]),
            )
        });
        drop(indexes);
        let mut offsets = vec![0];
        if let Some(keys) = &keys {
            offsets.extend((1..order.len()).filter(|&at| keys[order[at]] != keys[order[at - 1]]));
        }
        offsets.push(order.len());
        drop(keys);
        let columns = (0..schema.columns.len())
            .map(|position| {
                let values = match ordering[position].take() {
                    Some(values) => values,
                    None => values(position, cells(position)?),
                };
                Ok(values.take(&order))
            })
            .collect::<Result<Vec<Values>, TableError>>()?;
        Ok(SequenceTable {
            owners: (0..).take(offsets.len() - 1).collect(),
            offsets,
            columns,
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
                        Values::Numbers(Vec::new())
                    }
                })
                .collect(),
            row_numbers: rows.iter().map(|&row| self.row_numbers[row]).collect(),
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
            first_row: self.row_numbers[first],
            row: self.row_numbers[row],
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
        check_present(&cells.ranks(), name, Role::SequenceKey)?;
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

/// The place of each pair among all that there are.
fn ranks_of_pairs(firsts: &[i128], seconds: &[i128]) -> Vec<i128> {
    let pair = |row: usize| (firsts[row], seconds[row]);
    let mut order: Vec<usize> = (0..firsts.len()).collect();
    order.sort_unstable_by_key(|&row| pair(row));
    let mut ranks = vec![0; firsts.len()];
    let mut rank = 0;
    for (at, &row) in order.iter().enumerate() {
        if at > 0 && pair(order[at - 1]) != pair(row) {
            rank += 1;
        }
        ranks[row] = rank;
    }
    ranks
}

fn check_present(ranks: &[i128], column: &str, role: Role) -> Result<(), TableError> {
    match ranks.iter().position(|&rank| rank == MISSING_WHOLE) {
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
