//! What can be wrong with a frame or a table file.

use std::path::PathBuf;

use crate::metadata::did_you_mean;

/// Why a frame or a file was refused; rows count from 0 in frames, lines from 1 in files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// There is nothing to learn from.
    #[error("the frame has no {what}; at least one is wanted")]
    Empty {
        /// "rows" or "columns".
        what: &'static str,
    },
    /// The frame has a column that the metadata does not state.
    #[error("column `{column}` is not in the metadata{}", did_you_mean(.nearest.as_deref()))]
    ColumnNotInMetadata {
        /// The column.
        column: String,
        /// A stated column of nearly that name.
        nearest: Option<String>,
    },
    /// The metadata states a column that the data does not have.
    #[error("column `{column}` of the metadata is not in the data{}", did_you_mean(.nearest.as_deref()))]
    ColumnNotInFrame {
        /// The column.
        column: String,
        /// A column of the data of nearly that name.
        nearest: Option<String>,
    },
    /// A context column that the metadata does not state.
    #[error("context column `{column}` is not a column{}", did_you_mean(.nearest.as_deref()))]
    UnknownContextColumn {
        /// The name given.
        column: String,
        /// A column of nearly that name.
        nearest: Option<String>,
    },
    /// A column was given two roles that exclude each other.
    #[error("column `{column}` {}", two_roles(.first, .second))]
    TwoRoles {
        /// The column.
        column: String,
        /// One role.
        first: &'static str,
        /// The other role.
        second: &'static str,
    },
    /// A column given for conditional sampling is no context column.
    #[error(
        "column `{column}` is not a context column{}; context columns are: {}",
        did_you_mean(.nearest.as_deref()), listed(.context)
    )]
    NotAContextColumn {
        /// The column.
        column: String,
        /// A context column of nearly that name.
        nearest: Option<String>,
        /// All context columns.
        context: Vec<String>,
    },
    /// The dtype cannot hold what the sdtype says.
    #[error("column `{column}` of sdtype {sdtype} has dtype {dtype}; {remedy}")]
    DtypeForSdType {
        /// The column.
        column: String,
        /// The sdtype stated.
        sdtype: &'static str,
        /// The dtype found.
        dtype: String,
        /// What to do about it.
        remedy: String,
    },
    /// A dtype that differs from the fitted one and cannot be turned into it without loss.
    #[error("column `{column}` has dtype {found}; {expected} was fitted")]
    DtypeChanged {
        /// The column.
        column: String,
        /// The dtype found.
        found: String,
        /// The dtype fitted.
        expected: String,
    },
    /// A value that cannot be turned into the fitted dtype without loss.
    #[error(
        "column `{column}`, row {row}: the value has no exact counterpart in {expected}, the fitted dtype"
    )]
    ValueChanges {
        /// The column.
        column: String,
        /// The row.
        row: usize,
        /// The dtype fitted.
        expected: String,
    },
    /// A value given for a column whose fitted dtype cannot hold it exactly.
    #[error("column `{column}`: {value} of dtype {dtype} cannot be given; {expected} was fitted")]
    ValueDoesNotFit {
        /// The column.
        column: String,
        /// The value given.
        value: String,
        /// Its dtype.
        dtype: String,
        /// The dtype fitted.
        expected: String,
    },
    /// An infinite number.
    #[error(
        "column `{column}`, row {row}: the value is infinite; wanted a finite number, or null for a missing one"
    )]
    Infinite {
        /// The column.
        column: String,
        /// The row.
        row: usize,
    },
    /// A date that does not fit the format, or does not come back from it.
    #[error("column `{column}`, row {row}: the value does not fit the format {format}{}", if *.round_trip { "; it would be written differently" } else { "" })]
    DateFormat {
        /// The column.
        column: String,
        /// The row.
        row: usize,
        /// The format, or the formats that were tried.
        format: String,
        /// Whether the value can be read but would be written back differently.
        round_trip: bool,
    },
    /// A key or index cell without a value.
    #[error("column `{column}`, row {row}: the {role} is missing; every row needs one")]
    MissingRole {
        /// The column.
        column: String,
        /// The row.
        row: usize,
        /// The column's role.
        role: &'static str,
    },
    /// A context column that changes within a sequence.
    #[error(
        "context column `{column}` is not constant in the sequence `{key}`: rows {first_row} and {row} differ"
    )]
    ContextVaries {
        /// The column.
        column: String,
        /// The sequence key's value.
        key: String,
        /// A row of the sequence.
        first_row: usize,
        /// A row that differs from it.
        row: usize,
    },
    /// A sequence index that went on past what its dtype can hold.
    #[error(
        "sequence index column `{column}` goes on past the last value of {dtype}; ask for shorter sequences, or fit it with a wider dtype"
    )]
    IndexDoesNotFit {
        /// The column.
        column: String,
        /// The dtype.
        dtype: String,
    },
    /// A label that the column's dtype cannot hold.
    #[error("column `{column}`: a value does not fit dtype {dtype}")]
    LabelDoesNotFit {
        /// The column.
        column: String,
        /// The dtype.
        dtype: String,
    },
    /// A `regex_format` whose texts the column's dtype cannot hold.
    #[error(
        "column `{column}` has dtype {dtype}, which cannot hold every text of regex_format `{regex}`; read it as text (String)"
    )]
    PatternConflict {
        /// The column.
        column: String,
        /// The dtype.
        dtype: String,
        /// The pattern.
        regex: String,
    },
    /// A file that could not be opened or read.
    #[error("cannot read {}", .path.display())]
    ReadFile {
        /// The file.
        path: PathBuf,
        /// What the system or the decoder said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A file that could not be written.
    #[error("cannot write {}", .path.display())]
    WriteFile {
        /// The file.
        path: PathBuf,
        /// What the system or the encoder said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A file of a folder that has other columns than the first, with which it is one table.
    #[error("{}: {difference} in {}; write both alike", .path.display(), .first.display())]
    FilesDiffer {
        /// The file.
        path: PathBuf,
        /// The folder's first file.
        first: PathBuf,
        /// The column, and what it is in the one and in the other.
        difference: String,
    },
    /// The folder for the columns of a large table could not be used: it is not there, cannot be written to, or is full.
    #[error(
        "cannot keep the columns of a large table in {}, {} MB in all; give another folder as `temporary_directory`, or keep them in memory with a larger `max_table_memory`",
        .path.display(), .bytes.div_ceil(1_000_000)
    )]
    TemporaryDirectory {
        /// The folder.
        path: PathBuf,
        /// What the table's columns take in all.
        bytes: u64,
        /// What the system said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A table of more rows than can be counted.
    #[error("the table has {rows} rows, more than the {most} that can be fitted; fit a part of it")]
    TooManyRows {
        /// The rows found.
        rows: usize,
        /// The most rows.
        most: usize,
    },
    /// A column that a CSV file cannot hold so that it reads back.
    #[error(
        "column `{column}` has dtype {dtype}, which has no CSV form; cast it to Int64, or write Parquet"
    )]
    NoCsvForm {
        /// The column.
        column: String,
        /// Its dtype.
        dtype: String,
    },
    /// A fault in the text of a CSV file.
    #[error("{}, line {line}: {reason}", .path.display())]
    Csv {
        /// The file.
        path: PathBuf,
        /// One-based line.
        line: usize,
        /// What is wrong there.
        reason: String,
    },
    /// A cell of a CSV file that is not what the metadata says.
    #[error("{}, line {line}, column `{column}`: expected {expected}", .path.display())]
    CsvCell {
        /// The file.
        path: PathBuf,
        /// One-based line on which the cell's row starts.
        line: usize,
        /// The column.
        column: String,
        /// What the metadata wants there.
        expected: String,
    },
    /// An id that does not match its `regex_format`; validation names it, a fit does not mind.
    #[error("column `{column}`, row {row}: the id does not match regex_format `{regex}`")]
    Unmatched {
        /// The column.
        column: String,
        /// The row.
        row: usize,
        /// The pattern.
        regex: String,
    },
    /// A primary or alternate key that stands twice; validation names it, a fit does not mind.
    #[error("column `{column}`, row {row}: the {role} has the value of row {first_row}")]
    RepeatedKey {
        /// The column, or the columns that are the key together.
        column: String,
        /// The row.
        row: usize,
        /// The row that has the value first.
        first_row: usize,
        /// "primary key" or "alternate key".
        role: &'static str,
    },
    /// More sequences are wanted than there are.
    #[error("{wanted} sequences are wanted, the data has {found}; ask for at most so many")]
    TooFewSequences {
        /// How many are wanted.
        wanted: usize,
        /// How many there are.
        found: usize,
    },
    /// A share to be held out that is not strictly between 0 and 1, or leaves a side without a sequence.
    #[error(
        "a share of {share} of {sequences} sequences leaves nothing on one side; wanted is a share between 0 and 1 that takes at least one sequence and not all"
    )]
    Share {
        /// The share.
        share: f64,
        /// How many sequences there are.
        sequences: usize,
    },
    /// An operation of the frame library failed.
    #[error("the frame could not be handled")]
    Frame {
        /// What polars said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl TableError {
    /// The column and row that the error names, if any.
    pub(super) fn place(&self) -> (Option<String>, Option<usize>) {
        use TableError as E;
        match self {
            E::Infinite { column, row }
            | E::DateFormat { column, row, .. }
            | E::ValueChanges { column, row, .. }
            | E::MissingRole { column, row, .. }
            | E::ContextVaries { column, row, .. }
            | E::Unmatched { column, row, .. }
            | E::RepeatedKey { column, row, .. } => (Some(column.clone()), Some(*row)),
            E::ColumnNotInMetadata { column, .. }
            | E::ColumnNotInFrame { column, .. }
            | E::UnknownContextColumn { column, .. }
            | E::TwoRoles { column, .. }
            | E::NotAContextColumn { column, .. }
            | E::DtypeForSdType { column, .. }
            | E::DtypeChanged { column, .. }
            | E::PatternConflict { column, .. } => (Some(column.clone()), None),
            _ => (None, None),
        }
    }
}

impl TableError {
    /// The same of a part of a table that begins at a row.
    pub(super) fn counted_from(mut self, first_row: usize) -> TableError {
        use TableError as E;
        if let E::Infinite { row, .. } | E::DateFormat { row, .. } | E::ValueChanges { row, .. } =
            &mut self
        {
            *row += first_row;
        }
        self
    }

    /// What to do about a problem whose message does not say it.
    pub(super) fn remedy(&self) -> Option<&'static str> {
        use TableError as E;
        Some(match self {
            E::Empty { .. } => "give data",
            E::ColumnNotInMetadata { nearest: None, .. } => "state it, or leave it out of the data",
            E::ColumnNotInFrame { nearest: None, .. } => {
                "add it to the data, or leave it out of the metadata"
            }
            E::TwoRoles { .. } => "take one of them away",
            E::DtypeChanged { .. } => "cast it",
            E::ValueChanges { .. } => "round it, or fit with a dtype that holds it",
            E::DateFormat { .. } => "correct it, make it missing, or state another datetime_format",
            E::ContextVaries { .. } => "correct it, or leave it out of the context columns",
            E::Unmatched { .. } => "correct it, or state another regex_format",
            E::RepeatedKey { .. } => "make its values differ, or take the key out of the metadata",
            _ => return None,
        })
    }
}

fn two_roles(first: &str, second: &str) -> String {
    match first == second {
        true => format!("is named as {first} twice"),
        false => format!("cannot be both {first} and {second}"),
    }
}

impl From<polars::error::PolarsError> for TableError {
    fn from(source: polars::error::PolarsError) -> Self {
        TableError::Frame {
            source: Box::new(source),
        }
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}
