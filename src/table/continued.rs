//! Given rows with the rows that follow them.
//! In: the user's frame, its sequences and new cells. Out: one frame in which every given cell is the user's own.

use polars::prelude::{Column, DataFrame, IdxSize, Series};

use super::read::read;
use super::sequences::find;
use super::write::write;
use super::{ColumnSchema, Role, Schema, SequenceTable, TableError, Values};

impl Schema {
    /// The sequences of `history` in order of appearance, each in the order of `table` and with its new rows after it,
    /// of which `new_rows` says how many. `new` holds the cells of the columns that are not constant in a sequence, by
    /// schema column, sequence after sequence in the order of `table`; key and context are repeated.
    ///
    /// # Errors
    /// [`TableError::ValueChanges`] for a given value of another dtype that the fitted one cannot hold, and
    /// [`TableError::IndexDoesNotFit`] for an index that the dtype does not let go on.
    pub(crate) fn continued(
        &self,
        history: &DataFrame,
        table: &SequenceTable,
        new: &[(usize, Values)],
        new_rows: &[usize],
    ) -> Result<DataFrame, TableError> {
        let order = Order::new(table, history.height(), new_rows);
        let goes_on = new_rows.iter().any(|&rows| rows > 0);
        let columns = self
            .columns
            .iter()
            .enumerate()
            .map(|(position, column)| {
                let given = as_fitted(find(history, &column.name)?, column)?;
                let values = new.iter().find(|(at, _)| *at == position);
                let continued = match values {
                    Some((_, values)) if goes_on => {
                        let mut all = given;
                        all.append(&write(column, values)?)?;
                        all.take_slice(&order.changing)?
                    }
                    _ => given.take_slice(&order.constant)?,
                };
                Ok(Column::from(continued))
            })
            .collect::<Result<Vec<_>, TableError>>()?;
        let frame = DataFrame::new_infer_height(columns)?;
        if goes_on {
            self.check_rise(&frame, &order.last_given)?;
        }
        Ok(frame)
    }

    /// Refuses an index that stands still after a given row because its dtype has nothing greater, or nothing near.
    fn check_rise(&self, frame: &DataFrame, last_given: &[usize]) -> Result<(), TableError> {
        let index = self.columns.iter().find(|c| c.role == Role::SequenceIndex);
        let Some(column) = index else {
            return Ok(());
        };
        let ranks = read(find(frame, &column.name)?, column)?.ranks();
        if last_given.iter().all(|&row| ranks[row] < ranks[row + 1]) {
            return Ok(());
        }
        Err(TableError::IndexDoesNotFit {
            column: column.name.clone(),
            dtype: column.storage.name(),
        })
    }
}

/// Where each row of the result comes from.
struct Order {
    /// Rows of the given frame, the new rows being behind them.
    changing: Vec<IdxSize>,
    /// The same with the last given row in place of a new one.
    constant: Vec<IdxSize>,
    /// Rows of the result after which new ones begin, of sequences that have any.
    last_given: Vec<usize>,
}

impl Order {
    fn new(table: &SequenceTable, given: usize, new_rows: &[usize]) -> Order {
        let mut sequences: Vec<usize> = (0..table.sequences()).collect();
        sequences.sort_by_cached_key(|&sequence| {
            table.row_numbers[table.range(sequence)]
                .iter()
                .min()
                .copied()
        });
        let mut starts = vec![given];
        for &rows in new_rows {
            starts.push(starts[starts.len() - 1] + rows);
        }
        // The caller sees to it that all rows can be counted.
        let place = |row: usize| IdxSize::try_from(row).unwrap_or(IdxSize::MAX);
        let mut order = Order {
            changing: Vec::new(),
            constant: Vec::new(),
            last_given: Vec::new(),
        };
        for sequence in sequences {
            let rows = &table.row_numbers[table.range(sequence)];
            for &row in rows {
                order.changing.push(row);
                order.constant.push(row);
            }
            let new = starts[sequence]..starts[sequence + 1];
            if !new.is_empty() {
                order.last_given.push(order.changing.len() - 1);
            }
            let last = rows.last().copied().unwrap_or(0);
            for row in new {
                order.changing.push(place(row));
                order.constant.push(last);
            }
        }
        order
    }
}

/// A given column in the fitted dtype: the very cells where it has it already, else the same values.
pub(super) fn as_fitted(column: &Column, schema: &ColumnSchema) -> Result<Series, TableError> {
    let series = column.as_materialized_series();
    if *series.dtype() == schema.storage.dtype()? {
        return Ok(series.clone());
    }
    let given = read(column, schema)?;
    let ranks = given.ranks();
    let written = write(schema, &given.into_values(schema.base, schema.step))?;
    let kept = read(&Column::from(written.clone()), schema)?.ranks();
    match ranks
        .iter()
        .zip(&kept)
        .position(|(given, kept)| given != kept)
    {
        None => Ok(written),
        Some(row) => Err(TableError::ValueChanges {
            column: schema.name.clone(),
            row,
            expected: schema.storage.name(),
        }),
    }
}
