//! One column of a frame to plain cells.
//! In: a column of any supported dtype and the way it was fitted. Out: `Cells`, one per row of the frame.
//! A dtype other than the fitted one is taken where nothing is lost by it; else the error says so.

use polars::prelude::{Column, DataType, Series, TimeUnit};

use super::cells::{
    Cells, EXACT, MISSING_WHOLE, digits, labels, real, real_labels, text, whole, whole_labels,
};
use super::{
    ColumnSchema, IntegerType, Label, MISSING_CODE, Role, Storage, TableError, TimeUnitName,
};
use crate::metadata::{DateFormat, SdType};

/// Nanoseconds of a day.
const DAY: i128 = 86_400_000_000_000;

/// Below this, f32 holds every whole number.
const EXACT_SINGLE: i128 = 1 << 24;

/// Whether a column's cells are numbers; else they are labels.
pub(super) fn is_number(sdtype: &SdType, role: Role) -> bool {
    match sdtype {
        SdType::Numerical | SdType::Datetime { .. } => role != Role::SequenceKey,
        SdType::Categorical | SdType::Boolean | SdType::Id { .. } | SdType::Personal { .. } => {
            false
        }
    }
}

/// Reads a column the way it was fitted.
pub(super) fn read(column: &Column, schema: &ColumnSchema) -> Result<Cells, TableError> {
    let series = column.as_materialized_series();
    let number = is_number(&schema.sdtype, schema.role);
    if series.null_count() == series.len() {
        let rows = series.len();
        return Ok(match (number, &schema.storage) {
            (true, Storage::Float32 | Storage::Float64) => Cells::Real(vec![f64::NAN; rows]),
            (true, _) => Cells::Whole(vec![MISSING_WHOLE; rows]),
            (false, _) => Cells::Labels {
                codes: vec![MISSING_CODE; rows],
                labels: Vec::new(),
            },
        });
    }
    if number {
        read_numbers(series, schema)
    } else {
        read_labels(series, schema)
    }
}

fn read_numbers(series: &Series, schema: &ColumnSchema) -> Result<Cells, TableError> {
    let dtype = series.dtype();
    match &schema.storage {
        Storage::Integer(_) if dtype.is_integer() => held(whole(series)?, schema).map(Cells::Whole),
        Storage::Integer(_) if is_float(dtype) => {
            let cells = exact_wholes(&real(series, &schema.name)?, schema)?;
            held(cells, schema).map(Cells::Whole)
        }
        Storage::Float32 | Storage::Float64 if is_float(dtype) => {
            let cells = real(series, &schema.name)?;
            let is_too_large =
                |cell: &f64| schema.storage == Storage::Float32 && cell.abs() > f64::from(f32::MAX);
            match cells.iter().position(is_too_large) {
                None => Ok(Cells::Real(cells)),
                Some(row) => Err(value_changes(row, schema)),
            }
        }
        Storage::Float32 | Storage::Float64 if dtype.is_integer() => {
            exact_reals(&whole(series)?, schema).map(Cells::Real)
        }
        Storage::Date
        | Storage::Datetime { .. }
        | Storage::TextDate { .. }
        | Storage::IntegerDate { .. } => {
            held(read_dates(series, schema)?, schema).map(Cells::Whole)
        }
        Storage::Duration { unit } => {
            held(read_durations(series, *unit, schema)?, schema).map(Cells::Whole)
        }
        Storage::Integer(_)
        | Storage::Float32
        | Storage::Float64
        | Storage::Boolean
        | Storage::Text
        | Storage::Categorical
        | Storage::Enumeration(_)
        | Storage::Null => Err(changed(series, schema)),
    }
}

fn read_durations(
    series: &Series,
    unit: TimeUnitName,
    schema: &ColumnSchema,
) -> Result<Vec<i128>, TableError> {
    let DataType::Duration(from) = series.dtype() else {
        return Err(changed(series, schema));
    };
    let from = TimeUnitName::from(*from).nanoseconds();
    rescale(whole(series)?, from, unit.nanoseconds(), schema)
}

fn read_dates(series: &Series, schema: &ColumnSchema) -> Result<Vec<i128>, TableError> {
    let Some(unit) = schema.storage.unit_nanoseconds() else {
        return Err(changed(series, schema));
    };
    let zoned = matches!(&schema.storage, Storage::Datetime { zone: Some(_), .. });
    match series.dtype() {
        DataType::Date if !zoned => rescale(whole(series)?, DAY, unit, schema),
        DataType::Datetime(from, zone) if zone.is_some() == zoned => rescale(
            whole(series)?,
            TimeUnitName::from(*from).nanoseconds(),
            unit,
            schema,
        ),
        dtype if is_text(dtype) && !zoned => {
            let cells = text(series)?;
            let cells: Vec<Option<&str>> = cells.str()?.iter().collect();
            let formats = date_formats(schema);
            parse_dates(&cells, &formats, unit, &schema.name)
        }
        dtype if dtype.is_integer() => match &schema.storage {
            Storage::IntegerDate { format, .. } => {
                let digits = digits(&whole(series)?, format);
                let cells: Vec<Option<&str>> = digits.iter().map(Option::as_deref).collect();
                parse_dates(&cells, std::slice::from_ref(format), unit, &schema.name)
            }
            _ => Err(changed(series, schema)),
        },
        _ => Err(changed(series, schema)),
    }
}

/// Formats in which text may stand for a date of this column; the first that fits all is used.
pub(super) fn date_formats(schema: &ColumnSchema) -> Vec<String> {
    match (&schema.storage, &schema.sdtype) {
        (Storage::TextDate { format } | Storage::IntegerDate { format, .. }, _) => {
            vec![format.clone()]
        }
        (
            _,
            SdType::Datetime {
                format: Some(format),
            },
        ) => {
            let mut formats = super::dates::fractions(format);
            formats.extend(super::dates::DEFAULTS.map(str::to_owned));
            formats
        }
        _ => super::dates::DEFAULTS.map(str::to_owned).to_vec(),
    }
}

fn parse_dates(
    cells: &[Option<&str>],
    formats: &[String],
    unit: i128,
    column: &str,
) -> Result<Vec<i128>, TableError> {
    let mut furthest = 0;
    for format in formats {
        let Ok(compiled) = DateFormat::new(format) else {
            continue;
        };
        match super::dates::parse_all(cells, &compiled, unit) {
            Ok(parsed) => return Ok(parsed),
            Err(row) => furthest = furthest.max(row),
        }
    }
    Err(TableError::DateFormat {
        column: column.to_owned(),
        row: furthest,
        format: formats.join(", "),
        round_trip: false,
    })
}

fn read_labels(series: &Series, schema: &ColumnSchema) -> Result<Cells, TableError> {
    let dtype = series.dtype();
    match &schema.storage {
        Storage::Boolean if *dtype == DataType::Boolean => {
            Ok(labels(series.bool()?.iter(), Label::Boolean))
        }
        Storage::Integer(_) if dtype.is_integer() => Ok(whole_labels(&whole(series)?)),
        Storage::Integer(_) if is_float(dtype) => Ok(whole_labels(&exact_wholes(
            &real(series, &schema.name)?,
            schema,
        )?)),
        Storage::Float32 | Storage::Float64 if is_float(dtype) => {
            Ok(real_labels(&real(series, &schema.name)?))
        }
        Storage::Float32 | Storage::Float64 if dtype.is_integer() => {
            Ok(real_labels(&exact_reals(&whole(series)?, schema)?))
        }
        Storage::Text | Storage::Categorical | Storage::Enumeration(_) if is_text(dtype) => {
            let text = text(series)?;
            Ok(labels(text.str()?.iter(), |cell| {
                Label::Text(cell.to_owned())
            }))
        }
        Storage::Date
        | Storage::Datetime { .. }
        | Storage::TextDate { .. }
        | Storage::IntegerDate { .. } => Ok(whole_labels(&read_dates(series, schema)?)),
        Storage::Duration { unit } => Ok(whole_labels(&read_durations(series, *unit, schema)?)),
        Storage::Boolean
        | Storage::Integer(_)
        | Storage::Float32
        | Storage::Float64
        | Storage::Text
        | Storage::Categorical
        | Storage::Enumeration(_)
        | Storage::Null => Err(changed(series, schema)),
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "only whole numbers below 2^53 are cast"
)]
fn exact_wholes(cells: &[f64], schema: &ColumnSchema) -> Result<Vec<i128>, TableError> {
    cells
        .iter()
        .enumerate()
        .map(|(row, &cell)| {
            if cell.is_nan() {
                Ok(MISSING_WHOLE)
            } else if cell.fract() == 0.0 && cell.abs() < EXACT as f64 {
                Ok(cell as i128)
            } else {
                Err(value_changes(row, schema))
            }
        })
        .collect()
}

/// Whole numbers that the fitted dtype can hold.
fn held(cells: Vec<i128>, schema: &ColumnSchema) -> Result<Vec<i128>, TableError> {
    let (least, most) = match &schema.storage {
        Storage::Integer(integer) => integer.range(),
        Storage::Date => IntegerType::I32.range(),
        Storage::Datetime { .. } | Storage::Duration { .. } => IntegerType::I64.range(),
        _ => return Ok(cells),
    };
    let is_held = |cell: i128| cell == MISSING_WHOLE || (least..=most).contains(&cell);
    match cells.iter().position(|&cell| !is_held(cell)) {
        None => Ok(cells),
        Some(row) => Err(value_changes(row, schema)),
    }
}

fn exact_reals(cells: &[i128], schema: &ColumnSchema) -> Result<Vec<f64>, TableError> {
    let exact = match schema.storage {
        Storage::Float32 => EXACT_SINGLE,
        _ => EXACT,
    };
    cells
        .iter()
        .enumerate()
        .map(|(row, &cell)| {
            if cell == MISSING_WHOLE {
                Ok(f64::NAN)
            } else if cell.abs() < exact {
                Ok(cell as f64)
            } else {
                Err(value_changes(row, schema))
            }
        })
        .collect()
}

fn rescale(
    cells: Vec<i128>,
    from: i128,
    to: i128,
    schema: &ColumnSchema,
) -> Result<Vec<i128>, TableError> {
    if from == to {
        return Ok(cells);
    }
    cells
        .into_iter()
        .enumerate()
        .map(|(row, cell)| {
            if cell == MISSING_WHOLE {
                Ok(MISSING_WHOLE)
            } else if (cell * from) % to == 0 {
                Ok(cell * from / to)
            } else {
                Err(value_changes(row, schema))
            }
        })
        .collect()
}

fn changed(series: &Series, schema: &ColumnSchema) -> TableError {
    TableError::DtypeChanged {
        column: schema.name.clone(),
        found: series.dtype().to_string(),
        expected: schema.storage.name(),
    }
}

fn value_changes(row: usize, schema: &ColumnSchema) -> TableError {
    TableError::ValueChanges {
        column: schema.name.clone(),
        row,
        expected: schema.storage.name(),
    }
}

pub(super) fn is_float(dtype: &DataType) -> bool {
    matches!(dtype, DataType::Float32 | DataType::Float64)
}

pub(super) fn is_text(dtype: &DataType) -> bool {
    matches!(
        dtype,
        DataType::String | DataType::Categorical(..) | DataType::Enum(..)
    )
}

/// Our name of an integer dtype; `None` for others, among them the 128-bit ones.
pub(super) fn integer_type(dtype: &DataType) -> Option<IntegerType> {
    Some(match dtype {
        DataType::Int8 => IntegerType::I8,
        DataType::Int16 => IntegerType::I16,
        DataType::Int32 => IntegerType::I32,
        DataType::Int64 => IntegerType::I64,
        DataType::UInt8 => IntegerType::U8,
        DataType::UInt16 => IntegerType::U16,
        DataType::UInt32 => IntegerType::U32,
        DataType::UInt64 => IntegerType::U64,
        _ => return None,
    })
}

impl From<TimeUnit> for TimeUnitName {
    fn from(unit: TimeUnit) -> Self {
        match unit {
            TimeUnit::Nanoseconds => TimeUnitName::Nanoseconds,
            TimeUnit::Microseconds => TimeUnitName::Microseconds,
            TimeUnit::Milliseconds => TimeUnitName::Milliseconds,
        }
    }
}

impl Storage {
    /// Nanoseconds of one raw unit of a date or duration column; `None` for other columns.
    pub(crate) fn unit_nanoseconds(&self) -> Option<i128> {
        match self {
            Storage::Date => Some(DAY),
            Storage::Datetime { unit, .. } | Storage::Duration { unit } => Some(unit.nanoseconds()),
            Storage::TextDate { format } | Storage::IntegerDate { format, .. } => {
                Some(super::dates::format_unit(format).nanoseconds())
            }
            Storage::Boolean
            | Storage::Integer(_)
            | Storage::Float32
            | Storage::Float64
            | Storage::Text
            | Storage::Categorical
            | Storage::Enumeration(_)
            | Storage::Null => None,
        }
    }
}
