//! Whether a frame fits its metadata: every problem at once, where a fit stops at the first.
//! In: a frame and its metadata, perhaps a fitted schema. Out: `InvalidData`, in the words that a fit would use.

use polars::prelude::{Column, DataFrame, DataType, IdxCa};

use super::cells;
use super::codes::Codes;
use super::parts::fit_column;
use super::schema::{context_problems, name_problems};
use super::{ColumnSchema, Role, Schema, SequenceTable, Store, TableError, dates, read::read};
use crate::metadata::{Metadata, SdType, UniqueKey};

/// Everything that is wrong with a table.
#[derive(Debug, thiserror::Error)]
#[error("the data has {}", counted(.problems))]
#[non_exhaustive]
pub struct InvalidData {
    /// Each problem, by column; at least one.
    pub problems: Vec<DataProblem>,
}

/// One thing that is wrong with a table; `Display` says it in one line.
#[derive(Debug)]
#[non_exhaustive]
pub struct DataProblem {
    /// The column, where it is one column's problem.
    pub column: Option<String>,
    /// The first row that has it, from 0; none where the column as a whole is wrong.
    pub first_row: Option<usize>,
    /// How many rows have it: 1 or more where there is a first row, else 0.
    pub rows: usize,
    /// What is wrong, in the words of a fit; `Display` adds what to do, where they do not say it.
    pub error: TableError,
}

impl std::fmt::Display for DataProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.error)?;
        if self.rows > 1 {
            write!(f, " ({} rows in all)", self.rows)?;
        }
        match self.error.remedy() {
            Some(remedy) => write!(f, "; {remedy}"),
            None => Ok(()),
        }
    }
}

fn counted(problems: &[DataProblem]) -> String {
    let lines = problems.iter().map(|problem| format!("\n- {problem}"));
    let many = if problems.len() == 1 {
        "a problem"
    } else {
        "problems"
    };
    format!("{many}:{}", lines.collect::<String>())
}

impl Metadata {
    /// Looks for everything in a frame that does not fit this metadata.
    ///
    /// What a fit refuses is listed here, all of it: columns that the frame and the metadata do not share, dtypes that
    /// cannot hold the sdtype, dates that do not fit their format, infinite numbers, a missing key or index. Besides,
    /// what a fit lets pass though the metadata says otherwise: ids that do not match their `regex_format`, a primary or
    /// alternate key that is missing or not unique. A sequence index may repeat: such rows keep their order. Whether
    /// context columns are constant, [`ParSynthesizerBuilder::validate`](crate::ParSynthesizerBuilder::validate) tells.
    ///
    /// ```
    /// use parsynth::{Metadata, SdType};
    /// let metadata = Metadata::builder()
    ///     .column("patient", SdType::Id { regex_format: None })
    ///     .column("seen", SdType::Datetime { format: Some("%Y-%m-%d".to_owned()) })
    ///     .column("weight", SdType::Numerical)
    ///     .sequence_key("patient")
    ///     .build()?;
    /// let visits = polars::df!(
    ///     "patient" => [Some("a"), None, Some("b")],
    ///     "seen" => ["2021-04-05", "5 April", "April"],
    ///     "wieght" => [71.5, 70.0, 64.0],
    /// )?;
    /// let problems = metadata.validate_data(&visits).unwrap_err().problems;
    /// assert_eq!(problems.len(), 4);
    /// assert!(problems[0].to_string().ends_with("did you mean `weight`?"));
    /// let seen = problems.iter().find(|problem| problem.column.as_deref() == Some("seen"));
    /// assert_eq!(seen.map(|problem| (problem.first_row, problem.rows)), Some((Some(1), 2)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// # Errors
    /// [`InvalidData`] with each problem: its column, first row, number of rows, and what to do.
    pub fn validate_data(&self, frame: &DataFrame) -> Result<(), InvalidData> {
        validate(frame, self, &[], None)
    }
}

/// Checks a frame against its metadata and context columns, and against the dtypes of a fit where there was one.
pub(crate) fn validate(
    frame: &DataFrame,
    metadata: &Metadata,
    context_columns: &[String],
    fitted: Option<&Schema>,
) -> Result<(), InvalidData> {
    let mut problems: Vec<DataProblem> = Vec::new();
    if frame.columns().is_empty() {
        problems.push(TableError::Empty { what: "columns" }.into());
        return Err(InvalidData { problems });
    }
    let names = || frame.columns().iter().map(|column| column.name().as_str());
    problems.extend(name_problems(&names, metadata).map(DataProblem::from));
    problems.extend(
        context_problems(metadata, context_columns)
            .into_iter()
            .map(DataProblem::from),
    );
    if frame.height() == 0 {
        problems.push(TableError::Empty { what: "rows" }.into());
    }
    let stated = frame
        .columns()
        .iter()
        .filter(|column| metadata.sdtype(column.name()).is_some());
    let mut sound: Vec<ColumnSchema> = Vec::new();
    for column in stated.filter(|_| frame.height() > 0) {
        match column_schema(column, metadata, context_columns, fitted) {
            Ok(schema) => sound.push(schema),
            Err(error) => problems.push(DataProblem::of_column(error, column, metadata)),
        }
        problems.extend(missing_roles(column, metadata));
        problems.extend(unmatched(column, metadata));
    }
    let unique = metadata.unique_keys();
    problems.extend(unique.iter().flat_map(|key| repeated(key, frame)));
    // Without its whole key, no sequence can be told.
    let has_key = |name: &String| sound.iter().any(|column| column.name == *name);
    if metadata.sequence_key().iter().all(has_key) {
        problems.extend(varying(frame, metadata, Schema { columns: sound }));
    }
    if problems.is_empty() {
        Ok(())
    } else {
        Err(InvalidData { problems })
    }
}

fn column_schema(
    column: &Column,
    metadata: &Metadata,
    context_columns: &[String],
    fitted: Option<&Schema>,
) -> Result<ColumnSchema, TableError> {
    let Some(fitted) = fitted else {
        return fit_column(column, metadata, context_columns);
    };
    let mut columns = fitted.columns.iter();
    match columns.find(|fitted| fitted.name == column.name().as_str()) {
        None => fit_column(column, metadata, context_columns),
        Some(schema) => read(column, schema).map(|_| schema.clone()),
    }
}

impl From<TableError> for DataProblem {
    fn from(error: TableError) -> Self {
        let (column, first_row) = error.place();
        DataProblem {
            column,
            first_row,
            rows: usize::from(first_row.is_some()),
            error,
        }
    }
}

impl DataProblem {
    /// A problem of a column's cells, with the number of those that have it.
    fn of_column(error: TableError, column: &Column, metadata: &Metadata) -> DataProblem {
        let rows = match &error {
            TableError::Infinite { .. } => infinite(column),
            TableError::DateFormat { round_trip, .. } => {
                let declared = match metadata.sdtype(column.name()) {
                    Some(SdType::Datetime { format }) => format.as_deref(),
                    _ => None,
                };
                misfits(column, declared, *round_trip).unwrap_or(1)
            }
            _ => 1,
        };
        let mut problem = DataProblem::from(error);
        if problem.first_row.is_some() {
            problem.rows = rows.max(1);
        }
        problem
    }
}

fn infinite(column: &Column) -> usize {
    let series = column.as_materialized_series();
    let count32 = series.f32().map(|cells| {
        cells
            .iter()
            .flatten()
            .filter(|cell| cell.is_infinite())
            .count()
    });
    let count64 = series.f64().map(|cells| {
        cells
            .iter()
            .flatten()
            .filter(|cell| cell.is_infinite())
            .count()
    });
    count32.or(count64).unwrap_or(1)
}

/// Cells that no spelling of the format reads, or none writes back.
fn misfits(column: &Column, declared: Option<&str>, round_trip: bool) -> Option<usize> {
    let series = column.as_materialized_series();
    if let (true, Some(format)) = (series.dtype().is_integer(), declared) {
        let digits = cells::digits(&cells::whole(series).ok()?, format);
        let cells: Vec<Option<&str>> = digits.iter().map(Option::as_deref).collect();
        return Some(dates::misfits(&cells, declared, round_trip));
    }
    let text = cells::text(series).ok()?;
    let cells: Vec<Option<&str>> = text.str().ok()?.iter().collect();
    Some(dates::misfits(&cells, declared, round_trip))
}

/// A key or index without a value.
fn missing_roles(column: &Column, metadata: &Metadata) -> Option<DataProblem> {
    let name = column.name().as_str();
    let role = if metadata.is_key(name) {
        Role::SequenceKey
    } else if metadata.sequence_index() == Some(name) {
        Role::SequenceIndex
    } else {
        return None;
    };
    let codes = Codes::of(column.as_materialized_series()).ok()??;
    missing(&codes, name, role.name())
}

fn missing(codes: &Codes, column: &str, role: &'static str) -> Option<DataProblem> {
    let row = codes.first_missing()?;
    let error = TableError::MissingRole {
        column: column.to_owned(),
        row,
        role,
    };
    Some(DataProblem {
        rows: codes.missing(),
        ..DataProblem::from(error)
    })
}

/// Ids that do not match their pattern.
fn unmatched(column: &Column, metadata: &Metadata) -> Option<DataProblem> {
    let name = column.name().as_str();
    let Some(SdType::Id {
        regex_format: Some(regex_format),
    }) = metadata.sdtype(name)
    else {
        return None;
    };
    let regex = regex::Regex::new(&format!("^(?:{regex_format})$")).ok()?;
    let series = column.as_materialized_series();
    let whole_end = if series.dtype().is_float() { ".0" } else { "" };
    let text = series.cast(&DataType::String).ok()?;
    let rows: Vec<usize> = text
        .str()
        .ok()?
        .iter()
        .enumerate()
        // A float that is whole is the id without its fraction.
        .filter(|(_, cell)| {
            cell.map(|cell| cell.strip_suffix(whole_end).unwrap_or(cell))
                .is_some_and(|cell| !regex.is_match(cell))
        })
        .map(|(row, _)| row)
        .collect();
    let error = TableError::Unmatched {
        column: name.to_owned(),
        row: *rows.first()?,
        regex: regex_format.clone(),
    };
    Some(DataProblem {
        rows: rows.len(),
        ..DataProblem::from(error)
    })
}

/// Primary and alternate keys that are missing or stand twice.
fn repeated(key: &UniqueKey, frame: &DataFrame) -> Vec<DataProblem> {
    let mut problems = Vec::new();
    let mut all: Option<Codes> = None;
    for name in &key.columns {
        let codes = frame
            .column(name)
            .ok()
            .and_then(|column| Codes::of(column.as_materialized_series()).ok()?);
        let Some(codes) = codes else {
            return problems;
        };
        problems.extend(missing(&codes, name, key.role));
        all = Some(match all {
            None => codes,
            Some(before) => Codes::pairs(&before, &codes),
        });
    }
    let Some(codes) = all else { return problems };
    let later = codes.later_rows();
    if let Some(&(row, first_row)) = later.first() {
        let error = TableError::RepeatedKey {
            column: key.columns.join("`, `"),
            row,
            first_row,
            role: key.role,
        };
        problems.push(DataProblem {
            rows: later.len(),
            ..DataProblem::from(error)
        });
    }
    problems
}

/// Context columns that change within a sequence; rows without key or index are left out.
fn varying(frame: &DataFrame, metadata: &Metadata, schema: Schema) -> Vec<DataProblem> {
    if schema.context().is_empty() {
        return Vec::new();
    }
    let mut has_roles = vec![true; frame.height()];
    let index = metadata.sequence_index().into_iter();
    let roles = metadata.sequence_key().iter().map(String::as_str);
    for name in roles.chain(index) {
        let Some(Ok(Some(codes))) = frame
            .column(name)
            .ok()
            .map(|column| Codes::of(column.as_materialized_series()))
        else {
            continue;
        };
        for (has_roles, &code) in has_roles.iter_mut().zip(&codes.rows) {
            *has_roles &= code != super::MISSING_CODE;
        }
    }
    let rows: Vec<u32> = (0..)
        .zip(&has_roles)
        .filter(|(_, has)| **has)
        .map(|(row, _)| row)
        .collect();
    let names = schema.columns.iter().map(|column| column.name.as_str());
    let part = frame
        .select(names)
        .and_then(|part| part.take(&IdxCa::from_vec("".into(), rows.clone())));
    let table = part.map_err(TableError::from).and_then(|part| {
        let mut table = SequenceTable::grouped(&part, &schema, &Store::Memory)?;
        let whole = |&row: &u32| rows.get(row as usize).copied().unwrap_or(row);
        table.row_numbers = table.row_numbers.iter().map(whole).collect();
        Ok(table)
    });
    let Ok(table) = table else { return Vec::new() };
    let problem = |position: usize| {
        let changes = table.changes(position);
        let &(first, row) = changes.first()?;
        Some(DataProblem {
            rows: changes.len(),
            ..DataProblem::from(table.varies(&schema, position, first, row))
        })
    };
    schema.context().into_iter().filter_map(problem).collect()
}
