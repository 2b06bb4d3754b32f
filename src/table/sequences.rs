//! Rows to sequences: grouped by key, ordered by index, checked for what a sequence must be.
//! The order depends on the values alone, so a sliced, chunked or shuffled frame gives the same table.

use std::ops::Range;

use polars::prelude::{Column, DataFrame};

use super::cells::{Cells, MISSING_WHOLE};
use super::read::read;
use super::{ContextRows, Label, Role, Schema, SequenceTable, TableError, Values};
use crate::metadata::nearest_name;

impl SequenceTable {
    /// Groups and orders a frame that has the schema's columns.
    ///
    /// # Errors
    /// [`TableError`] naming column and row: a column that is not there or does not fit the fitted dtype, a
    /// missing key or index, a context column that changes within a sequence; no rows at all.
    pub(crate) fn from_frame(
        frame: &DataFrame,
        schema: &Schema,
    ) -> Result<SequenceTable, TableError> {
        let table = SequenceTable::grouped(frame, schema)?;
        table.check_context(schema)?;
        Ok(table)
    }

    /// As [`SequenceTable::from_frame`], with context that may change within a sequence.
    pub(super) fn grouped(frame: &DataFrame, schema: &Schema) -> Result<SequenceTable, TableError> {
        check_columns(frame, schema)?;
        if frame.height() == 0 {
            return Err(TableError::Empty { what: "rows" });
        }
        let cells = schema
            .columns
            .iter()
            .map(|column| read(find(frame, &column.name)?, column))
            .collect::<Result<Vec<Cells>, _>>()?;
        let keys = ranks_of(&cells, schema, Role::SequenceKey)?;
        let indexes = ranks_of(&cells, schema, Role::SequenceIndex)?;
        let mut order: Vec<usize> = (0..frame.height()).collect();
        // Stable, so rows of one key and index keep the frame's order.
        order.sort_by_key(|&row| {
            (
                keys.as_ref().map(|keys| keys[row]),
                indexes.as_ref().map(|indexes| indexes[row]),
            )
        });
        let mut offsets = vec![0];
        if let Some(keys) = &keys {
            offsets.extend((1..order.len()).filter(|&at| keys[order[at]] != keys[order[at - 1]]));
        }
        offsets.push(order.len());
        let columns = cells
            .into_iter()
            .zip(&schema.columns)
            .map(|(cells, column)| cells.into_values(column.base, column.step).take(&order))
            .collect();
        Ok(SequenceTable {
            offsets,
            columns,
            row_numbers: order,
        })
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

    /// The number of the sequence that each row belongs to.
    pub(crate) fn sequence_of_row(&self) -> Vec<u32> {
        (0_u32..)
            .zip(self.lengths())
            .flat_map(|(sequence, length)| std::iter::repeat_n(sequence, length))
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
            let values = &self.columns[position];
            for sequence in 0..self.sequences() {
                let rows = self.range(sequence);
                let first = rows.start;
                let Some(row) = rows.into_iter().find(|&row| !same(values, first, row)) else {
                    continue;
                };
                return Err(TableError::ContextVaries {
                    column: schema.columns[position].name.clone(),
                    key: self.key_text(schema, first),
                    first_row: self.row_numbers[first],
                    row: self.row_numbers[row],
                });
            }
        }
        Ok(())
    }

    fn key_text(&self, schema: &Schema, row: usize) -> String {
        let label = schema
            .sequence_key()
            .and_then(|key| match &self.columns[key] {
                Values::Labels { codes, labels } => labels.get(codes[row] as usize),
                Values::Numbers(_) => None,
            });
        label.map_or_else(|| "of the whole table".to_owned(), Label::to_string)
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
    let position = match key.filter(|&key| schema.columns[key].name == name) {
        Some(key) => key,
        None => schema.context_column(name)?,
    };
    let fitted = &schema.columns[position];
    let cells = read(column, fitted)?;
    if fitted.role == Role::SequenceKey {
        check_present(&cells.ranks(), name, fitted.role)?;
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

fn check_columns(frame: &DataFrame, schema: &Schema) -> Result<(), TableError> {
    for column in frame.columns() {
        schema.column(column.name().as_str())?;
    }
    Ok(())
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

/// Sort ranks of the column with this role, all present; `None` when no column has it.
fn ranks_of(cells: &[Cells], schema: &Schema, role: Role) -> Result<Option<Vec<i128>>, TableError> {
    let Some(position) = schema.columns.iter().position(|column| column.role == role) else {
        return Ok(None);
    };
    let ranks = cells[position].ranks();
    check_present(&ranks, &schema.columns[position].name, role)?;
    Ok(Some(ranks))
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
