//! What two statements about a table say differently.

use std::fmt;

use super::{Column, Metadata};

/// The differences of two statements, in the order of the first; `Display` writes a line for each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MetadataDiff {
    differences: Vec<MetadataDifference>,
}

impl MetadataDiff {
    /// Each difference.
    pub fn differences(&self) -> &[MetadataDifference] {
        &self.differences
    }

    /// Whether both say the same, the order of columns and the table's name aside.
    pub fn is_empty(&self) -> bool {
        self.differences.is_empty()
    }
}

impl fmt::Display for MetadataDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, difference) in self.differences.iter().enumerate() {
            let end = if at == 0 { "" } else { "\n" };
            write!(f, "{end}{difference}")?;
        }
        Ok(())
    }
}

/// One thing that two statements say differently: `left` is in the one asked, `right` in the one given.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetadataDifference {
    /// A column that only the left one states.
    OnlyLeft {
        /// The column.
        column: String,
    },
    /// A column that only the right one states.
    OnlyRight {
        /// The column.
        column: String,
    },
    /// A column stated otherwise: its sdtype, a format, another field.
    Column {
        /// The column.
        column: String,
        /// What the left one says of it, as JSON.
        left: String,
        /// What the right one says of it, as JSON.
        right: String,
    },
    /// A field of the table, such as `sequence_key`.
    Field {
        /// The field.
        field: String,
        /// What the left one says, as JSON; "none" where it says nothing.
        left: String,
        /// What the right one says, as JSON; "none" where it says nothing.
        right: String,
    },
}

impl fmt::Display for MetadataDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MetadataDifference::OnlyLeft { column } => {
                write!(f, "column `{column}`: only in the left one")
            }
            MetadataDifference::OnlyRight { column } => {
                write!(f, "column `{column}`: only in the right one")
            }
            MetadataDifference::Column {
                column,
                left,
                right,
            } => write!(f, "column `{column}`: {left}; right: {right}"),
            MetadataDifference::Field { field, left, right } => {
                write!(f, "`{field}`: {left}; right: {right}")
            }
        }
    }
}

impl Metadata {
    /// What another statement says differently: columns, roles, and the fields that are carried along. The order of
    /// columns and the name of the table do not count.
    ///
    /// ```
    /// use parsynth::{Metadata, SdType};
    /// let old = Metadata::builder().column("age", SdType::Numerical).build()?;
    /// let new = old.update_column("age", SdType::Categorical)?;
    /// assert_eq!(
    ///     old.diff(&new).to_string(),
    ///     r#"column `age`: {"sdtype":"numerical"}; right: {"sdtype":"categorical"}"#
    /// );
    /// assert!(old.diff(&old).is_empty());
    /// # Ok::<(), parsynth::MetadataError>(())
    /// ```
    pub fn diff(&self, other: &Metadata) -> MetadataDiff {
        let mut differences = Vec::new();
        let find = |metadata: &Metadata, name: &str| -> Option<Column> {
            let mut columns = metadata.columns.iter();
            columns.find(|column| column.name == name).cloned()
        };
        for column in &self.columns {
            let name = column.name.clone();
            match find(other, &name) {
                None => differences.push(MetadataDifference::OnlyLeft { column: name }),
                Some(right) if right == *column => {}
                Some(right) => differences.push(MetadataDifference::Column {
                    column: name,
                    left: super::json::column_text(column),
                    right: super::json::column_text(&right),
                }),
            }
        }
        for column in &other.columns {
            if find(self, &column.name).is_none() {
                differences.push(MetadataDifference::OnlyRight {
                    column: column.name.clone(),
                });
            }
        }
        let (left, right) = (self.table_fields(), other.table_fields());
        let mut fields: Vec<&String> = left.keys().collect();
        fields.extend(right.keys().filter(|field| !left.contains_key(*field)));
        let told = |value: Option<&serde_json::Value>| {
            value.map_or_else(|| "none".to_owned(), serde_json::Value::to_string)
        };
        for field in fields {
            if left.get(field) != right.get(field) {
                differences.push(MetadataDifference::Field {
                    field: field.clone(),
                    left: told(left.get(field)),
                    right: told(right.get(field)),
                });
            }
        }
        MetadataDiff { differences }
    }
}
