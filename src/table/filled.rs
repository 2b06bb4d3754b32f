//! Given rows with missing cells, and the same with these cells filled.
//! In: the user's frame and cells to put into it. Out: a frame in which every other cell is the user's own.

use polars::prelude::{Column, DataFrame, IdxSize};

use super::continued::as_fitted;
use super::write::write;
use super::{MISSING_CODE, Schema, SequenceTable, Store, TableError, Values};

/// Cells for rows of one column.
#[derive(Debug)]
pub(crate) struct Fill {
    /// Position in `Schema::columns`.
    pub(crate) column: usize,
    /// Rows of the frame.
    pub(crate) rows: Vec<usize>,
    /// One a row.
    pub(crate) values: Values,
}

impl Values {
    /// Which cells are missing.
    pub(crate) fn missing(&self) -> Vec<bool> {
        match self {
            Values::Numbers(numbers) => numbers.iter().map(|number| number.is_nan()).collect(),
            Values::Labels { codes, .. } => {
                codes.iter().map(|&code| code == MISSING_CODE).collect()
            }
        }
    }
}

impl SequenceTable {
    /// As [`SequenceTable::from_source`], for a frame in which context may be missing in some rows of a sequence: they
    /// take the value of the others. Also which cells were missing, by schema column.
    pub(crate) fn with_gaps(
        frame: &DataFrame,
        schema: &Schema,
    ) -> Result<(SequenceTable, Vec<Vec<bool>>), TableError> {
        let mut table = SequenceTable::grouped(frame, schema, &Store::Memory)?;
        let missing: Vec<Vec<bool>> = table.columns.iter().map(Values::missing).collect();
        for column in schema.context() {
            let mut from: Vec<usize> = (0..table.rows()).collect();
            for sequence in 0..table.sequences() {
                let mut rows = table.range(sequence);
                let Some(known) = rows.clone().find(|&row| !missing[column][row]) else {
                    continue;
                };
                rows.by_ref()
                    .filter(|&row| missing[column][row])
                    .for_each(|row| from[row] = known);
            }
            table.columns[column] = table.columns[column].take(&from);
        }
        table.check_context(schema)?;
        Ok((table, missing))
    }
}

impl Schema {
    /// The frame with cells put into it: its own rows and columns in their order, dtypes as fitted.
    ///
    /// # Errors
    /// [`TableError::ValueChanges`] for a given value of another dtype that the fitted one cannot hold.
    pub(crate) fn filled(
        &self,
        frame: &DataFrame,
        fills: &[Fill],
    ) -> Result<DataFrame, TableError> {
        let columns = frame.columns().iter().map(|column| {
            let name = column.name().as_str();
            let Some(position) = self.columns.iter().position(|own| own.name == name) else {
                return Ok(column.clone());
            };
            let schema = &self.columns[position];
            let mut cells = as_fitted(column, schema)?;
            // A frame has fewer rows than that; where there would be more, polars says so.
            let place = |row: usize| IdxSize::try_from(row).unwrap_or(IdxSize::MAX);
            let mut order: Vec<IdxSize> = (0..frame.height()).map(place).collect();
            for fill in fills.iter().filter(|fill| fill.column == position) {
                let first = cells.len();
                cells.append(&write(schema, &fill.values)?)?;
                for (at, &row) in fill.rows.iter().enumerate() {
                    order[row] = place(first + at);
                }
            }
            Ok(Column::from(cells.take_slice(&order)?))
        });
        let columns = columns.collect::<Result<Vec<_>, TableError>>()?;
        Ok(DataFrame::new_infer_height(columns)?)
    }
}
