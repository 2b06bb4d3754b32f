//! Why tables cannot be compared.

use crate::table::TableError;

/// Which of the tables that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparedRole {
    /// The table that the synthetic one was learned from.
    Real,
    /// The table to be judged.
    Synthetic,
    /// Real sequences that the generator never saw.
    Holdout,
}

impl std::fmt::Display for ComparedRole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ComparedRole::Real => "real",
            ComparedRole::Synthetic => "synthetic",
            ComparedRole::Holdout => "holdout",
        })
    }
}

/// Why tables cannot be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// One of the tables cannot be read, or does not fit the metadata.
    #[error("{table} table: {source}")]
    Table {
        /// Which.
        table: ComparedRole,
        /// What is wrong with it.
        source: TableError,
    },
    /// There is nothing to compare: every column is an id or the sequence key.
    #[error(
        "no column to compare: all {columns} are ids; state the others as numerical, categorical, boolean or datetime"
    )]
    NothingToCompare {
        /// How many columns there are.
        columns: usize,
    },
    /// The report could not be written.
    #[error("cannot write report {}", .path.display())]
    Write {
        /// Where to.
        path: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
}
