//! Single values of context columns, as conditions hold them.
//! In: a polars value and the column it is for. Out: its cell, or the other way round.

use polars::prelude::{AnyValue, Column, Series};

use super::read::read;
use super::write::write;
use super::{ContextRows, Label, Schema, Storage, TableError, Values};

impl ContextRows {
    /// One row with one value.
    ///
    /// # Errors
    /// [`TableError`] naming the column: one that is no context column, or one whose fitted dtype cannot hold the value
    /// exactly.
    pub(crate) fn from_value(
        name: &str,
        value: &AnyValue<'static>,
        schema: &Schema,
    ) -> Result<ContextRows, TableError> {
        let position = schema.context_column(name)?;
        let fitted = &schema.columns[position];
        let misfit = |dtype: String| TableError::ValueDoesNotFit {
            column: name.to_owned(),
            value: value.to_string(),
            dtype,
            expected: fitted.storage.name(),
        };
        let series = Series::from_any_values(name.into(), std::slice::from_ref(value), true)
            .map_err(|_| misfit(value.dtype().to_string()))?;
        let dtype = series.dtype().to_string();
        let cells = read(&Column::from(series), fitted).map_err(|_| misfit(dtype))?;
        Ok(ContextRows {
            rows: 1,
            columns: vec![(position, cells.into_values(fitted.base, fitted.step))],
        })
    }
}

impl Schema {
    /// The labels of a category column as polars' values, which [`ContextRows::from_value`] takes.
    ///
    /// # Errors
    /// [`TableError::LabelDoesNotFit`] for a label that the column's dtype cannot hold.
    pub(crate) fn polars_values(
        &self,
        column: usize,
        labels: &[Label],
    ) -> Result<Vec<AnyValue<'static>>, TableError> {
        let schema = &self.columns[column];
        if matches!(
            schema.storage,
            Storage::Categorical | Storage::Enumeration(_)
        ) {
            let text = |label: &Label| AnyValue::StringOwned(label.to_string().into());
            return Ok(labels.iter().map(text).collect());
        }
        let values = Values::Labels {
            codes: (0..).take(labels.len()).collect(),
            labels: labels.into(),
        };
        let series = write(schema, &values)?;
        let values = series.iter().map(AnyValue::into_static);
        Ok(values.collect())
    }
}
