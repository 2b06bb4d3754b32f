//! From a frame and its metadata to the schema: roles, storage, bases.
//! Everything that can be refused by looking at one column is refused here, before any grouping.

use std::collections::HashSet;

use polars::prelude::{Column, DataType};

use super::cells;
use super::dates::Misfit;
use super::parts::fit_parts;
use super::read::{self, is_number};
use super::{ColumnSchema, Role, Schema, Source, Storage, TableError, TimeUnitName};
use crate::metadata::{Metadata, Pattern, PersonalKind, SdType, nearest_name};

const SUPPORTED_DTYPES: &str = "supported dtypes are Boolean, Int8 to Int64, UInt8 to UInt64, Float32, Float64, \
     String, Categorical, Enum, Date, Datetime, Duration";

impl Schema {
    /// Matches a table with its metadata; context columns are named in any order.
    ///
    /// # Errors
    /// [`TableError`] naming the column: an empty frame, columns that the frame and the metadata do not
    /// share, a context column with another role, a dtype that cannot hold the sdtype, an infinite number,
    /// a date that does not fit its format.
    pub(crate) fn fit(
        source: &impl Source,
        metadata: &Metadata,
        context_columns: &[String],
    ) -> Result<Schema, TableError> {
        let names = source.names();
        if names.is_empty() {
            return Err(TableError::Empty { what: "columns" });
        }
        check_same_names(|| names.iter().copied(), metadata)?;
        check_context(metadata, context_columns)?;
        if source.rows() == 0 {
            return Err(TableError::Empty { what: "rows" });
        }
        let columns = names
            .iter()
            .map(|name| fit_parts(source, name, metadata, context_columns))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Schema { columns })
    }

    /// Bytes that a table keeps of a row: a number or a label of each column, and the row's own number.
    pub(crate) fn bytes_per_row(&self) -> u64 {
        let of_column = |column: &ColumnSchema| match is_number(&column.sdtype, column.role) {
            true => size_of::<f64>(),
            false => size_of::<u32>(),
        };
        let of_columns: usize = self.columns.iter().map(of_column).sum();
        (of_columns + size_of::<u32>()) as u64
    }

    /// Seconds of one unit of a datetime column's numbers; `None` for other columns.
    pub(crate) fn seconds_per_raw_unit(&self, column: usize) -> Option<f64> {
        let column = self.columns.get(column)?;
        if !is_number(&column.sdtype, column.role) {
            return None;
        }
        match &column.storage {
            Storage::Date => Some(86_400.0),
            // Time that passes has no calendar.
            Storage::Duration { .. } => None,
            storage => match storage.unit_nanoseconds()? {
                1 => Some(1e-9),
                1_000 => Some(1e-6),
                _ => Some(1e-3),
            },
        }
    }

    /// Positions of the columns that together are the sequence key.
    pub(crate) fn sequence_key(&self) -> Vec<usize> {
        (0..self.columns.len())
            .filter(|&position| self.columns[position].is_key)
            .collect()
    }

    /// Names of the sequence key's columns, for messages.
    pub(crate) fn key_names(&self) -> String {
        let names = self.columns.iter().filter(|column| column.is_key);
        let names: Vec<&str> = names.map(|column| column.name.as_str()).collect();
        names.join("`, `")
    }

    /// Position of the sequence index.
    pub(crate) fn sequence_index(&self) -> Option<usize> {
        self.positions(Role::SequenceIndex).next()
    }

    /// Positions of the context columns.
    pub(crate) fn context(&self) -> Vec<usize> {
        self.positions(Role::Context).collect()
    }

    /// Positions of the sequential columns.
    pub(crate) fn sequential(&self) -> Vec<usize> {
        self.positions(Role::Sequential).collect()
    }

    fn positions(&self, role: Role) -> impl Iterator<Item = usize> {
        self.columns
            .iter()
            .enumerate()
            .filter(move |(_, column)| column.role == role)
            .map(|(position, _)| position)
    }
}

/// The same columns in the data and the metadata, in whatever order.
pub(super) fn check_same_names<'a, I: Iterator<Item = &'a str>>(
    names: impl Fn() -> I,
    metadata: &Metadata,
) -> Result<(), TableError> {
    name_problems(&names, metadata).next().map_or(Ok(()), Err)
}

/// Columns that the data or the metadata lacks.
pub(super) fn name_problems<'a, I: Iterator<Item = &'a str>>(
    names: &impl Fn() -> I,
    metadata: &Metadata,
) -> impl Iterator<Item = TableError> {
    let in_data: HashSet<&str> = names().collect();
    let stated: HashSet<&str> = metadata.columns().map(|(name, _)| name).collect();
    // A stated column that the data lacks is the likeliest meaning.
    let lacking: Vec<&str> = metadata
        .columns()
        .map(|(name, _)| name)
        .filter(|name| !in_data.contains(name))
        .collect();
    let unknown: Vec<&str> = names().filter(|name| !stated.contains(name)).collect();
    let not_stated: Vec<TableError> = unknown
        .iter()
        .map(|column| TableError::ColumnNotInMetadata {
            column: (*column).to_owned(),
            nearest: nearest_name(column, lacking.iter().copied()),
        })
        .collect();
    let not_there: Vec<TableError> = lacking
        .iter()
        .map(|column| TableError::ColumnNotInFrame {
            column: (*column).to_owned(),
            nearest: nearest_name(column, names()),
        })
        .collect();
    not_stated.into_iter().chain(not_there)
}

fn check_context(metadata: &Metadata, context_columns: &[String]) -> Result<(), TableError> {
    let problems = context_problems(metadata, context_columns);
    problems.into_iter().next().map_or(Ok(()), Err)
}

/// Context columns that are no columns, or have another role.
pub(super) fn context_problems(metadata: &Metadata, context_columns: &[String]) -> Vec<TableError> {
    let mut problems = Vec::new();
    for (position, column) in context_columns.iter().enumerate() {
        if metadata.sdtype(column).is_none() {
            problems.push(TableError::UnknownContextColumn {
                column: column.clone(),
                nearest: nearest_name(column, metadata.columns().map(|(name, _)| name)),
            });
            continue;
        }
        let other = if metadata.is_key(column) {
            Some(Role::SequenceKey)
        } else if metadata.sequence_index() == Some(column) {
            Some(Role::SequenceIndex)
        } else if context_columns[..position].contains(column) {
            Some(Role::Context) // listed twice
        } else {
            None
        };
        if let Some(other) = other {
            problems.push(TableError::TwoRoles {
                column: column.clone(),
                first: other.name(),
                second: Role::Context.name(),
            });
        }
    }
    problems
}

/// The part a column plays, and what it means to us.
pub(crate) fn role_and_sdtype(metadata: &Metadata, name: &str, is_context: bool) -> (Role, SdType) {
    let role = if metadata.is_made_up_key(name) {
        Role::SequenceKey
    } else if metadata.sequence_index() == Some(name) {
        Role::SequenceIndex
    } else if is_context || metadata.is_key(name) {
        Role::Context
    } else {
        Role::Sequential
    };
    let stated = metadata
        .sdtype(name)
        .cloned()
        .unwrap_or(SdType::Categorical)
        .learned();
    // A key names its sequence whatever it is called in the metadata: its values are made up, not learned.
    let sdtype = if role == Role::SequenceKey && !stated.is_made_up() {
        SdType::Id { regex_format: None }
    } else {
        stated
    };
    (role, sdtype)
}

pub(super) fn fit_storage(
    column: &Column,
    name: &str,
    sdtype: &SdType,
) -> Result<Storage, TableError> {
    let plain = plain_storage(column.dtype()).ok_or_else(|| TableError::DtypeForSdType {
        column: name.to_owned(),
        sdtype: sdtype.name(),
        dtype: column.dtype().to_string(),
        remedy: nearest_cast(column.dtype()),
    })?;
    if column.null_count() == column.len() {
        // Without a value there is nothing that the dtype could contradict.
        return Ok(plain);
    }
    let refuse = |remedy: &str| TableError::DtypeForSdType {
        column: name.to_owned(),
        sdtype: sdtype.name(),
        dtype: column.dtype().to_string(),
        remedy: remedy.to_owned(),
    };
    match (sdtype, plain) {
        (
            SdType::Numerical,
            storage @ (Storage::Integer(_)
            | Storage::Float32
            | Storage::Float64
            | Storage::Duration { .. }),
        ) => Ok(storage),
        (SdType::Numerical, Storage::Date | Storage::Datetime { .. }) => {
            Err(refuse("state the column as datetime"))
        }
        (SdType::Numerical, Storage::Boolean) => Err(refuse("state the column as boolean")),
        (SdType::Numerical, _) => Err(refuse(
            "cast the column to a number before, or state it as categorical",
        )),
        (SdType::Categorical | SdType::Boolean, storage) => Ok(storage),
        (SdType::Datetime { .. }, storage @ (Storage::Date | Storage::Datetime { .. })) => {
            Ok(storage)
        }
        (SdType::Datetime { format }, Storage::Text) => {
            let text = cells::text(column.as_materialized_series())?;
            let values: Vec<Option<&str>> = text.str()?.iter().collect();
            learn_format(&values, format.as_deref(), name)
                .map(|format| Storage::TextDate { format })
        }
        (
            SdType::Datetime {
                format: Some(format),
            },
            Storage::Integer(integer),
        ) => {
            let digits = cells::digits(&cells::whole(column.as_materialized_series())?, format);
            let values: Vec<Option<&str>> = digits.iter().map(Option::as_deref).collect();
            let format = learn_format(&values, Some(format), name)?;
            Ok(Storage::IntegerDate { format, integer })
        }
        (SdType::Datetime { format: None }, Storage::Integer(_)) => Err(refuse(
            "give its datetime_format, for instance %Y%m%d, or state it as numerical",
        )),
        (SdType::Datetime { .. }, Storage::Duration { .. }) => {
            Err(refuse("state the column as numerical"))
        }
        (SdType::Datetime { .. }, _) => Err(refuse(
            "wanted is Date, Datetime, String, or whole numbers with a datetime_format",
        )),
        (SdType::Id { .. } | SdType::Personal { .. }, Storage::Enumeration(_)) => Err(refuse(
            "made-up values are new, which an Enum cannot take; cast the column to String",
        )),
        (
            SdType::Id { .. },
            Storage::Boolean | Storage::Date | Storage::Datetime { .. } | Storage::Duration { .. },
        ) => Err(refuse(
            "ids are made up for text and numbers; cast the column to String",
        )),
        (SdType::Personal { kind, .. }, storage) if can_hold(*kind, &storage) => {
            fit_personal(column, name, *kind, storage)
        }
        (SdType::Personal { .. }, _) => Err(refuse(
            "its made-up values do not fit; cast the column to String",
        )),
        (SdType::Id { regex_format }, storage) => {
            check_pattern(regex_format.as_deref(), &storage, name)?;
            Ok(storage)
        }
    }
}

/// Whether made-up values of a kind can be held so.
pub(crate) fn can_hold(kind: PersonalKind, storage: &Storage) -> bool {
    match storage {
        Storage::Text | Storage::Categorical | Storage::Null => true,
        Storage::Integer(_) | Storage::Float32 | Storage::Float64 => matches!(
            kind,
            PersonalKind::PhoneNumber
                | PersonalKind::Postcode
                | PersonalKind::Ssn
                | PersonalKind::Bban
                | PersonalKind::CreditCardNumber
                | PersonalKind::Latitude
                | PersonalKind::Longitude
                | PersonalKind::Unknown
        ),
        Storage::Date
        | Storage::Datetime { .. }
        | Storage::TextDate { .. }
        | Storage::IntegerDate { .. } => kind == PersonalKind::DateOfBirth,
        Storage::Boolean | Storage::Enumeration(_) | Storage::Duration { .. } => false,
    }
}

/// Text keeps the format that its dates have.
fn fit_personal(
    column: &Column,
    name: &str,
    kind: PersonalKind,
    storage: Storage,
) -> Result<Storage, TableError> {
    if (kind, &storage) != (PersonalKind::DateOfBirth, &Storage::Text) {
        return Ok(storage);
    }
    let text = cells::text(column.as_materialized_series())?;
    let values: Vec<Option<&str>> = text.str()?.iter().collect();
    let format = super::dates::learn_births(&values).map_err(|misfit| date_format(misfit, name))?;
    Ok(Storage::TextDate { format })
}

fn learn_format(
    cells: &[Option<&str>],
    declared: Option<&str>,
    column: &str,
) -> Result<String, TableError> {
    super::dates::learn(cells, declared).map_err(|misfit| date_format(misfit, column))
}

fn date_format(misfit: Misfit, column: &str) -> TableError {
    TableError::DateFormat {
        column: column.to_owned(),
        row: misfit.row,
        format: misfit.formats,
        round_trip: misfit.round_trip,
    }
}

/// A number column cannot hold a pattern's letters or leading zeros; a few texts show which it has.
fn check_pattern(regex: Option<&str>, storage: &Storage, column: &str) -> Result<(), TableError> {
    let (Some(regex), Storage::Integer(_) | Storage::Float32 | Storage::Float64) = (regex, storage)
    else {
        return Ok(());
    };
    let Ok(pattern) = Pattern::compile(regex) else {
        return Ok(());
    };
    let last = pattern.capacity() - 1;
    let fits = [0, last / 3, last / 2, last].into_iter().all(|number| {
        let text = pattern.text(number);
        text.parse::<i128>()
            .is_ok_and(|value| value.to_string() == text)
    });
    if fits {
        return Ok(());
    }
    Err(TableError::PatternConflict {
        column: column.to_owned(),
        dtype: storage.name(),
        regex: regex.to_owned(),
    })
}

/// What to cast a column of an unsupported dtype to.
fn nearest_cast(dtype: &DataType) -> String {
    let dtype = dtype.to_string();
    let start = |start: &str| dtype.starts_with(start);
    let cast = if start("time") {
        "cast the column to Int64 (nanoseconds since midnight), or to Duration; "
    } else if start("decimal") || start("f16") {
        "cast the column to Float64; "
    } else if start("i128") || start("u128") {
        "cast the column to Int64, or to String where that is too small; "
    } else if start("binary") {
        "encode the column as String; "
    } else if start("list") || start("array") || start("struct") {
        "take the column apart into plain ones; "
    } else {
        ""
    };
    format!("{cast}{SUPPORTED_DTYPES}")
}

fn plain_storage(dtype: &DataType) -> Option<Storage> {
    if let Some(integer) = read::integer_type(dtype) {
        return Some(Storage::Integer(integer));
    }
    Some(match dtype {
        DataType::Boolean => Storage::Boolean,
        DataType::Float32 => Storage::Float32,
        DataType::Float64 => Storage::Float64,
        DataType::String => Storage::Text,
        DataType::Categorical(..) => Storage::Categorical,
        DataType::Enum(categories, _) => Storage::Enumeration(
            categories
                .categories()
                .values_iter()
                .map(str::to_owned)
                .collect(),
        ),
        DataType::Date => Storage::Date,
        DataType::Datetime(unit, zone) => Storage::Datetime {
            unit: TimeUnitName::from(*unit),
            zone: zone.as_ref().map(|zone| zone.to_string()),
        },
        DataType::Duration(unit) => Storage::Duration {
            unit: TimeUnitName::from(*unit),
        },
        DataType::Null => Storage::Null,
        _ => return None,
    })
}
