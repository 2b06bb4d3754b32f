//! Plain columns back to a frame with the fitted names, order and dtypes.
//! A number that the dtype cannot hold is brought to the nearest it can, never wrapped around.

use polars::prelude::*;

use super::cells::in_steps;
use super::{
    ColumnSchema, IntegerType, Label, MISSING_CODE, Role, Schema, Storage, TableError,
    TimeUnitName, Values,
};
use crate::metadata::DateFormat;

/// Days from 1970 to the years -262000 and 262000: polars cannot show dates much beyond.
const SHOWABLE_DAYS: i128 = 95_000_000;
const DAY_NANOSECONDS: i128 = 86_400_000_000_000;

impl Schema {
    /// The frame of these columns, which are parallel to `self.columns` and of one length.
    /// Numbers that must be whole are rounded, and kept to the dtype's range.
    ///
    /// # Errors
    /// [`TableError::LabelDoesNotFit`] for a label that the column's dtype cannot hold, and
    /// [`TableError::IndexDoesNotFit`] for an index that would stand still at the end of its dtype.
    pub(crate) fn to_frame(&self, columns: Vec<Values>) -> Result<DataFrame, TableError> {
        let columns = self
            .columns
            .iter()
            .zip(columns)
            .map(|(schema, values)| write(schema, &values).map(Column::from))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(DataFrame::new_infer_height(columns)?)
    }

    /// The greatest number that the sequence index can be written with; infinite where there is no such end.
    pub(crate) fn last_index(&self) -> f64 {
        self.sequence_index()
            .and_then(|column| {
                let column = &self.columns[column];
                let steps = (column.storage.last_raw()? - column.base).div_euclid(column.step);
                // Not to the nearest float, which may lie past the end.
                Some(in_steps(steps, 1))
            })
            .unwrap_or(f64::INFINITY)
    }
}

pub(super) fn write(schema: &ColumnSchema, values: &Values) -> Result<Series, TableError> {
    match values {
        Values::Numbers(numbers) => write_numbers(schema, numbers),
        Values::Labels { codes, labels } => write_labels(schema, codes, labels),
    }
}

fn write_numbers(schema: &ColumnSchema, numbers: &[f64]) -> Result<Series, TableError> {
    let name: PlSmallStr = schema.name.as_str().into();
    let raw = || {
        numbers
            .iter()
            .map(|&number| to_raw(number, schema.base, schema.step))
    };
    if schema.role == Role::SequenceIndex
        && let Some(last) = schema.storage.last_raw()
        && raw().flatten().any(|cell| cell > last)
    {
        return Err(TableError::IndexDoesNotFit {
            column: schema.name.clone(),
            dtype: schema.storage.name(),
        });
    }
    match &schema.storage {
        Storage::Integer(integer) => integers(name, raw(), *integer),
        Storage::Float64 => Ok(Series::new(name, reals(numbers, f64::MAX))),
        Storage::Float32 => {
            Ok(Series::new(name, reals(numbers, f32::MAX.into())).cast(&DataType::Float32)?)
        }
        Storage::Date => dates(name, raw()),
        Storage::Datetime { unit, zone } => datetimes(name, raw(), *unit, zone.as_deref()),
        Storage::Duration { .. } => durations(name, raw(), &schema.storage),
        Storage::TextDate { format } => {
            let text = date_texts(raw(), format, schema)?;
            Ok(Series::new(name, text))
        }
        Storage::IntegerDate { format, integer } => date_digits(raw(), format, *integer, schema),
        // These hold numbers only where every cell was missing.
        Storage::Boolean
        | Storage::Text
        | Storage::Categorical
        | Storage::Enumeration(_)
        | Storage::Null => Ok(Series::full_null(
            name,
            numbers.len(),
            &schema.storage.dtype()?,
        )),
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "an infinite number stops at the end of i128, and later at that of the dtype"
)]
fn to_raw(number: f64, base: i128, step: i128) -> Option<i128> {
    let whole = number.floor();
    // Whole steps are exact; only the part of one goes through f64.
    let part = ((number - whole) * step as f64).round() as i128;
    let distance = (whole as i128).saturating_mul(step).saturating_add(part);
    (!number.is_nan()).then(|| base.saturating_add(distance))
}

/// NaN as null, all else within `-limit..=limit`: an infinite number would be refused as input.
fn reals(numbers: &[f64], limit: f64) -> Vec<Option<f64>> {
    numbers
        .iter()
        .map(|number| (!number.is_nan()).then(|| number.clamp(-limit, limit)))
        .collect()
}

fn integers(
    name: PlSmallStr,
    cells: impl Iterator<Item = Option<i128>>,
    integer: IntegerType,
) -> Result<Series, TableError> {
    let (low, high) = integer.range();
    let cells = cells.map(|cell| cell.map(|cell| cell.clamp(low, high)));
    if integer == IntegerType::U64 {
        let cells: Vec<Option<u64>> = cells
            .map(|cell| cell.and_then(|cell| cell.try_into().ok()))
            .collect();
        return Ok(Series::new(name, cells));
    }
    Ok(wide(name, cells).strict_cast(&Storage::Integer(integer).dtype()?)?)
}

fn dates(
    name: PlSmallStr,
    cells: impl Iterator<Item = Option<i128>>,
) -> Result<Series, TableError> {
    let cells = cells.map(|cell| cell.map(|days| days.clamp(-SHOWABLE_DAYS, SHOWABLE_DAYS)));
    Ok(wide(name, cells)
        .strict_cast(&DataType::Int32)?
        .strict_cast(&DataType::Date)?)
}

fn datetimes(
    name: PlSmallStr,
    cells: impl Iterator<Item = Option<i128>>,
    unit: TimeUnitName,
    zone: Option<&str>,
) -> Result<Series, TableError> {
    let limit = showable(unit);
    let cells = cells.map(|cell| cell.map(|cell| cell.clamp(-limit, limit)));
    let dtype = datetime_dtype(unit, zone)?;
    Ok(wide(name, cells).strict_cast(&dtype)?)
}

fn durations(
    name: PlSmallStr,
    cells: impl Iterator<Item = Option<i128>>,
    storage: &Storage,
) -> Result<Series, TableError> {
    let cells = cells.map(|cell| cell.map(|cell| cell.clamp(i64::MIN.into(), i64::MAX.into())));
    Ok(wide(name, cells).strict_cast(&storage.dtype()?)?)
}

/// The last moment of a unit that polars can show.
fn showable(unit: TimeUnitName) -> i128 {
    (SHOWABLE_DAYS * DAY_NANOSECONDS / unit.nanoseconds()).min(i64::MAX.into())
}

/// Cells that are known to fit 64 bits.
fn wide(name: PlSmallStr, cells: impl Iterator<Item = Option<i128>>) -> Series {
    let cells: Vec<Option<i64>> = cells
        .map(|cell| cell.and_then(|cell| cell.try_into().ok()))
        .collect();
    Series::new(name, cells)
}

fn date_texts(
    raw: impl Iterator<Item = Option<i128>>,
    format: &str,
    schema: &ColumnSchema,
) -> Result<Vec<Option<String>>, TableError> {
    let unit = super::dates::format_unit(format).nanoseconds();
    let compiled = DateFormat::new(format).map_err(|_| does_not_fit(schema))?;
    raw.map(|cell| match cell {
        None => Ok(None),
        Some(cell) => super::dates::write_one(cell, &compiled, unit)
            .map(Some)
            .ok_or_else(|| does_not_fit(schema)),
    })
    .collect()
}

fn date_digits(
    raw: impl Iterator<Item = Option<i128>>,
    format: &str,
    integer: IntegerType,
    schema: &ColumnSchema,
) -> Result<Series, TableError> {
    let texts = date_texts(raw, format, schema)?;
    let wholes = texts
        .into_iter()
        .map(|text| text.and_then(|text| text.parse().ok()));
    integers(schema.name.as_str().into(), wholes, integer)
}

fn write_labels(
    schema: &ColumnSchema,
    codes: &[u32],
    labels: &[Label],
) -> Result<Series, TableError> {
    let name: PlSmallStr = schema.name.as_str().into();
    match &schema.storage {
        Storage::Boolean => {
            let cells = picked(schema, codes, labels, |label| match label {
                Label::Boolean(value) => Some(*value),
                _ => None,
            })?;
            Ok(Series::new(name, cells))
        }
        Storage::Integer(integer) => {
            integers(name, wholes(schema, codes, labels)?.into_iter(), *integer)
        }
        Storage::Date => dates(name, wholes(schema, codes, labels)?.into_iter()),
        Storage::Duration { .. } => durations(
            name,
            wholes(schema, codes, labels)?.into_iter(),
            &schema.storage,
        ),
        Storage::Datetime { unit, zone } => datetimes(
            name,
            wholes(schema, codes, labels)?.into_iter(),
            *unit,
            zone.as_deref(),
        ),
        Storage::Float32 | Storage::Float64 => {
            let cells = picked(schema, codes, labels, |label| match label {
                Label::Float(value) => Some(*value),
                _ => None,
            })?;
            Ok(Series::new(name, cells).cast(&schema.storage.dtype()?)?)
        }
        Storage::Text | Storage::Categorical | Storage::Enumeration(_) => {
            let cells = picked(schema, codes, labels, |label| match label {
                Label::Text(value) => Some(value.as_str()),
                _ => None,
            })?;
            let text = Series::new(name, cells);
            text.strict_cast(&schema.storage.dtype()?)
                .map_err(|_| does_not_fit(schema))
        }
        Storage::TextDate { format } => {
            let cells = wholes(schema, codes, labels)?.into_iter();
            Ok(Series::new(name, date_texts(cells, format, schema)?))
        }
        Storage::IntegerDate { format, integer } => {
            let cells = wholes(schema, codes, labels)?.into_iter();
            date_digits(cells, format, *integer, schema)
        }
        // It holds labels only where every cell was missing.
        Storage::Null => Ok(Series::full_null(
            name,
            codes.len(),
            &schema.storage.dtype()?,
        )),
    }
}

fn wholes(
    schema: &ColumnSchema,
    codes: &[u32],
    labels: &[Label],
) -> Result<Vec<Option<i128>>, TableError> {
    picked(schema, codes, labels, |label| match label {
        Label::Integer(value) => Some(*value),
        _ => None,
    })
}

/// The values of codes; an error for a code without label or a label of another kind.
fn picked<'a, T: Copy>(
    schema: &ColumnSchema,
    codes: &[u32],
    labels: &'a [Label],
    value: impl Fn(&'a Label) -> Option<T>,
) -> Result<Vec<Option<T>>, TableError> {
    let values: Vec<Option<T>> = labels.iter().map(value).collect();
    codes
        .iter()
        .map(|&code| {
            if code == MISSING_CODE {
                return Ok(None);
            }
            match values.get(code as usize) {
                Some(Some(value)) => Ok(Some(*value)),
                _ => Err(does_not_fit(schema)),
            }
        })
        .collect()
}

fn does_not_fit(schema: &ColumnSchema) -> TableError {
    TableError::LabelDoesNotFit {
        column: schema.name.clone(),
        dtype: schema.storage.name(),
    }
}

fn datetime_dtype(unit: TimeUnitName, zone: Option<&str>) -> Result<DataType, TableError> {
    Ok(DataType::Datetime(
        time_unit(unit),
        TimeZone::opt_try_new(zone)?,
    ))
}

fn time_unit(unit: TimeUnitName) -> TimeUnit {
    match unit {
        TimeUnitName::Nanoseconds => TimeUnit::Nanoseconds,
        TimeUnitName::Microseconds => TimeUnit::Microseconds,
        TimeUnitName::Milliseconds => TimeUnit::Milliseconds,
    }
}

impl Storage {
    /// The greatest raw value that can be written; `None` for floats and for what holds no raw values.
    fn last_raw(&self) -> Option<i128> {
        match self {
            Storage::Integer(integer) => Some(integer.range().1),
            Storage::Date => Some(SHOWABLE_DAYS),
            Storage::Datetime { unit, .. } => Some(showable(*unit)),
            Storage::Duration { .. } => Some(i64::MAX.into()),
            Storage::TextDate { format } | Storage::IntegerDate { format, .. } => Some(
                super::dates::LAST_TEXT_DAY * DAY_NANOSECONDS
                    / super::dates::format_unit(format).nanoseconds(),
            ),
            Storage::Boolean
            | Storage::Float32
            | Storage::Float64
            | Storage::Text
            | Storage::Categorical
            | Storage::Enumeration(_)
            | Storage::Null => None,
        }
    }

    /// The polars dtype.
    pub(super) fn dtype(&self) -> Result<DataType, TableError> {
        Ok(match self {
            Storage::Boolean => DataType::Boolean,
            Storage::Integer(integer) | Storage::IntegerDate { integer, .. } => match integer {
                IntegerType::I8 => DataType::Int8,
                IntegerType::I16 => DataType::Int16,
                IntegerType::I32 => DataType::Int32,
                IntegerType::I64 => DataType::Int64,
                IntegerType::U8 => DataType::UInt8,
                IntegerType::U16 => DataType::UInt16,
                IntegerType::U32 => DataType::UInt32,
                IntegerType::U64 => DataType::UInt64,
            },
            Storage::Float32 => DataType::Float32,
            Storage::Float64 => DataType::Float64,
            Storage::Text | Storage::TextDate { .. } => DataType::String,
            Storage::Categorical => DataType::from_categories(Categories::global()),
            Storage::Enumeration(categories) => DataType::from_frozen_categories(
                FrozenCategories::new(categories.iter().map(String::as_str))?,
            ),
            Storage::Date => DataType::Date,
            Storage::Datetime { unit, zone } => datetime_dtype(*unit, zone.as_deref())?,
            Storage::Duration { unit } => DataType::Duration(time_unit(*unit)),
            Storage::Null => DataType::Null,
        })
    }

    /// The dtype in words, for messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Storage::TextDate { format } => format!("String with format {format}"),
            Storage::IntegerDate { format, .. } => {
                let dtype = self
                    .dtype()
                    .map_or_else(|_| "integer".to_owned(), |dtype| dtype.to_string());
                format!("{dtype} with format {format}")
            }
            _ => self
                .dtype()
                .map_or_else(|_| "unknown".to_owned(), |dtype| dtype.to_string()),
        }
    }
}
