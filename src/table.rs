//! The only module that names polars: a frame in, plain sequences out, and back.
//! In: a `DataFrame`, in any order and chunking, with its `Metadata`. Out: a `SequenceTable` whose rows are
//! grouped by key and ordered by index, and later a frame of the same names, order and dtypes.
//! A missing cell is NaN in numbers and `MISSING_CODE` in labels; no value is invented or lost here.

mod buffer;
mod cells;
mod codes;
mod compared;
mod continued;
mod csv;
mod dates;
mod detect;
mod error;
mod files;
mod filled;
mod measure;
mod parts;
mod read;
mod related;
mod schema;
mod sequences;
mod single;
mod source;
mod subset;
#[cfg(test)]
mod tests;
mod validation;
mod write;

use std::cmp::Ordering;
use std::sync::Arc;

use crate::metadata::SdType;

pub(crate) use buffer::{Buffer, Store};
pub(crate) use compared::{ComparedCells, ComparedColumn, ComparedTable, ComparedTables};
pub use detect::{DetectedColumn, DetectedMetadata, DetectionReport, IndexCandidate, KeyCandidate};
pub use error::TableError;
pub use files::{read_csv, read_parquet, write_csv, write_parquet};
pub(crate) use files::{write_csv_parts, write_parquet_parts};
pub(crate) use filled::Fill;
pub(crate) use measure::Measure;
pub use related::{JoinedTables, RelatedTable, RelatedTablesError, join_parent, split_parent};
pub(crate) use schema::{can_hold, role_and_sdtype};
pub(crate) use source::{ParquetFiles, Source};
pub use subset::{LongSequences, SubsetOptions};
pub(crate) use validation::validate;
pub use validation::{DataProblem, InvalidData};

/// The code of a missing label.
pub(crate) const MISSING_CODE: u32 = u32::MAX;

/// The part a column plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    SequenceKey,
    SequenceIndex,
    Context,
    Sequential,
}

impl Role {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Role::SequenceKey => "sequence key",
            Role::SequenceIndex => "sequence index",
            Role::Context => "context column",
            Role::Sequential => "sequential column",
        }
    }
}

/// The integer dtypes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IntegerType {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

impl IntegerType {
    /// Smallest and largest value.
    pub(crate) fn range(self) -> (i128, i128) {
        match self {
            IntegerType::I8 => (i8::MIN.into(), i8::MAX.into()),
            IntegerType::I16 => (i16::MIN.into(), i16::MAX.into()),
            IntegerType::I32 => (i32::MIN.into(), i32::MAX.into()),
            IntegerType::I64 => (i64::MIN.into(), i64::MAX.into()),
            IntegerType::U8 => (u8::MIN.into(), u8::MAX.into()),
            IntegerType::U16 => (u16::MIN.into(), u16::MAX.into()),
            IntegerType::U32 => (u32::MIN.into(), u32::MAX.into()),
            IntegerType::U64 => (u64::MIN.into(), u64::MAX.into()),
        }
    }
}

/// The unit of a date-time or duration column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeUnitName {
    Nanoseconds,
    Microseconds,
    Milliseconds,
}

impl TimeUnitName {
    pub(crate) fn nanoseconds(self) -> i128 {
        match self {
            TimeUnitName::Nanoseconds => 1,
            TimeUnitName::Microseconds => 1_000,
            TimeUnitName::Milliseconds => 1_000_000,
        }
    }
}

/// How the fitted frame held a column; what `to_frame` gives back.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Storage {
    Boolean,
    Integer(IntegerType),
    Float32,
    Float64,
    Text,
    Categorical,
    /// A fixed list of categories, in its order.
    Enumeration(Vec<String>),
    Date,
    Datetime {
        unit: TimeUnitName,
        zone: Option<String>,
    },
    Duration {
        unit: TimeUnitName,
    },
    /// Dates as text in a strftime format that gives the very text that was read.
    TextDate {
        format: String,
    },
    /// Dates as whole numbers whose digits follow a strftime format.
    IntegerDate {
        format: String,
        integer: IntegerType,
    },
    /// A column of polars' null type: every cell is missing.
    Null,
}

/// One column of the fitted frame.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnSchema {
    pub(crate) name: String,
    pub(crate) sdtype: SdType,
    pub(crate) role: Role,
    /// Whether it is part of the sequence key: made up in that role, or drawn as a context column.
    pub(crate) is_key: bool,
    pub(crate) storage: Storage,
    /// Subtracted from raw whole numbers, so that f64 holds what is left exactly; 0 for small ones. A column
    /// that spans 2^53 units or more (104 days of nanoseconds) is still rounded, by less than its 2^53rd part.
    pub(crate) base: i128,
    /// What is left is counted in steps of this: 1 for small numbers, else what divides all that were seen, so that
    /// whole days in nanoseconds stay exact.
    pub(crate) step: i128,
}

/// The columns of the fitted frame, in its order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Schema {
    pub(crate) columns: Vec<ColumnSchema>,
}

/// One value of a categorical, boolean or id column.
#[derive(Debug, Clone)]
pub(crate) enum Label {
    Boolean(bool),
    Integer(i128),
    Float(f64),
    Text(String),
}

impl Label {
    fn rank(&self) -> u8 {
        match self {
            Label::Boolean(_) => 0,
            Label::Integer(_) => 1,
            Label::Float(_) => 2,
            Label::Text(_) => 3,
        }
    }
}

impl Ord for Label {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Label::Boolean(left), Label::Boolean(right)) => left.cmp(right),
            (Label::Integer(left), Label::Integer(right)) => left.cmp(right),
            (Label::Float(left), Label::Float(right)) => left.total_cmp(right),
            (Label::Text(left), Label::Text(right)) => left.as_bytes().cmp(right.as_bytes()),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Label {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Label {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Label {}

impl std::fmt::Display for Label {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Label::Boolean(value) => write!(formatter, "{value}"),
            Label::Integer(value) => write!(formatter, "{value}"),
            Label::Float(value) => write!(formatter, "{value:?}"),
            Label::Text(value) => formatter.write_str(value),
        }
    }
}

/// The cells of one column.
#[derive(Debug, Clone)]
pub(crate) enum Values {
    /// Numerical and datetime columns: raw value minus the column's base, in its steps; NaN where missing.
    Numbers(Buffer<f64>),
    /// Categorical, boolean and id columns; `labels` is sorted and unique, a missing cell has `MISSING_CODE`.
    Labels {
        codes: Buffer<u32>,
        labels: Arc<[Label]>,
    },
}

impl Values {
    /// The cells at these positions, in their order; the labels stay whole.
    pub(crate) fn take(&self, rows: &[usize]) -> Values {
        match self {
            Values::Numbers(numbers) => {
                Values::Numbers(rows.iter().map(|&row| numbers[row]).collect())
            }
            Values::Labels { codes, labels } => Values::Labels {
                codes: rows.iter().map(|&row| codes[row]).collect(),
                labels: labels.clone(),
            },
        }
    }
}

/// Rows grouped into sequences by key (numbers by value, text by bytes), ordered by index in each.
#[derive(Debug, Clone)]
pub(crate) struct SequenceTable {
    /// Rows of sequence `i` are `offsets[i]..offsets[i + 1]`.
    pub(crate) offsets: Vec<usize>,
    /// By sequence, which of the frame's it is, or is a segment of.
    pub(crate) owners: Vec<u32>,
    /// Parallel to `Schema::columns`.
    pub(crate) columns: Vec<Values>,
    /// The frame's row that each row came from, for messages.
    pub(crate) row_numbers: Buffer<u32>,
}

/// Rows given for conditional sampling: any of the context columns, in any order, perhaps the key too.
#[derive(Debug, Clone)]
pub(crate) struct ContextRows {
    pub(crate) rows: usize,
    /// Position in `Schema::columns`, and the cells.
    pub(crate) columns: Vec<(usize, Values)>,
}
