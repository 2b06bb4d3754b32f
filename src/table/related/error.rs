//! Why two tables cannot be joined, or one cannot be split.

use crate::metadata::did_you_mean;
use crate::table::TableError;

/// Which of the two tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelatedTable {
    /// One row each.
    Parents,
    /// The rows that belong to them.
    Children,
    /// Both together: children with their parent's columns.
    Joined,
}

impl std::fmt::Display for RelatedTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            RelatedTable::Parents => "parents",
            RelatedTable::Children => "children",
            RelatedTable::Joined => "joined table",
        })
    }
}

/// Why two tables cannot be joined, or one cannot be split; rows count from 0.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RelatedTablesError {
    /// No key was named.
    #[error("the key has no column; name the columns that children and parents share")]
    NoKey,
    /// A column was named twice.
    #[error("column `{column}` is named twice")]
    NamedTwice {
        /// The column.
        column: String,
    },
    /// A table has no such column.
    #[error("{table}: there is no column `{column}`{}", did_you_mean(.nearest.as_deref()))]
    UnknownColumn {
        /// The table.
        table: RelatedTable,
        /// The name given.
        column: String,
        /// A column of nearly that name.
        nearest: Option<String>,
    },
    /// A key column has two dtypes.
    #[error(
        "key column `{column}` has dtype {children} in the children and {parents} in the parents; cast one of them"
    )]
    KeyDtype {
        /// The column.
        column: String,
        /// Its dtype in the children.
        children: String,
        /// Its dtype in the parents.
        parents: String,
    },
    /// A column that is no key is in both tables.
    #[error("column `{column}` is in both tables; rename it in one, or drop it from the children")]
    InBoth {
        /// The column.
        column: String,
    },
    /// A key cell without a value.
    #[error(
        "{table}: key column `{column}` is missing in {rows} rows, the first of them {row}; every row needs one"
    )]
    MissingKey {
        /// The table.
        table: RelatedTable,
        /// The column.
        column: String,
        /// The first such row.
        row: usize,
        /// How many there are.
        rows: usize,
    },
    /// A key that several parents have.
    #[error("parents: rows {first_row} and {row} have the same key {key}; wanted is one row a key")]
    RepeatedParent {
        /// The key's columns.
        key: String,
        /// The first row with the key.
        first_row: usize,
        /// The next.
        row: usize,
    },
    /// Children without a parent.
    #[error(
        "children: {rows} rows have a key {key} that no parent has, the first of them {row}; add the parents, or leave these rows out"
    )]
    NoParent {
        /// The key's columns.
        key: String,
        /// The first such row.
        row: usize,
        /// How many there are.
        rows: usize,
    },
    /// A column of the parent that changes among its children.
    #[error(
        "joined table: column `{column}` is not the same in rows {first_row} and {row} of one key; was it fitted as a context column?"
    )]
    ParentVaries {
        /// The column.
        column: String,
        /// A row of the key.
        first_row: usize,
        /// A row that differs from it.
        row: usize,
    },
    /// A column that cannot be read.
    #[error(transparent)]
    Table(#[from] TableError),
}
