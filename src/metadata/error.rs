//! What can be wrong with a metadata statement.

use std::path::PathBuf;

/// Why a metadata statement was refused; each message names the column or field and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MetadataError {
    /// The file could not be read.
    #[error("cannot read metadata {}", .path.display())]
    ReadFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file could not be written.
    #[error("cannot write metadata {}", .path.display())]
    WriteFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The text is no JSON, or a field is written twice.
    #[error("line {line}, column {column}: metadata is not valid JSON: {reason}")]
    Json {
        /// One-based line of the fault.
        line: usize,
        /// One-based character of the fault in its line.
        column: usize,
        /// What is wrong there.
        reason: String,
    },
    /// `METADATA_SPEC_VERSION` is none of those we read.
    #[error(
        "`METADATA_SPEC_VERSION` is {found}; wanted \"V1\", \"V2\", \"SINGLE_TABLE_V1\" or \"SINGLE_TABLE_V2\""
    )]
    SpecVersion {
        /// The value found, as JSON, or "missing".
        found: String,
    },
    /// The file describes no table, or several.
    #[error("metadata has {found} tables; exactly one is wanted")]
    TableCount {
        /// How many tables there are.
        found: usize,
    },
    /// The file relates tables to each other, which one table cannot be.
    #[error(
        "`relationships` must be empty: only single tables are modelled, join parent columns in as context"
    )]
    Relationships,
    /// A field whose name SDV's format does not have.
    #[error("unknown field `{field}` in {place}{}", did_you_mean(.nearest.as_deref()))]
    UnknownField {
        /// The field.
        field: String,
        /// The object that holds it.
        place: String,
        /// A known field of nearly that name.
        nearest: Option<String>,
    },
    /// A field that must be there is not.
    #[error("{place} has no `{field}`")]
    MissingField {
        /// The field.
        field: &'static str,
        /// The object that should hold it.
        place: String,
    },
    /// A field's value has the wrong JSON type.
    #[error("`{field}` in {place} must be {wanted}, found {found}")]
    FieldType {
        /// The field.
        field: String,
        /// The object that holds it.
        place: String,
        /// What it must be.
        wanted: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// An sdtype that neither SDV nor we know.
    #[error(
        "column `{column}`: sdtype `{sdtype}` is unknown{}; known are {}",
        did_you_mean(.nearest.as_deref()),
        super::known_sdtypes().join(", ")
    )]
    UnknownSdType {
        /// The column.
        column: String,
        /// The sdtype found.
        sdtype: String,
        /// A known sdtype of nearly that name.
        nearest: Option<String>,
    },
    /// A column of an sdtype that is learned was called personal.
    #[error(
        "column `{column}`: `pii` is true, but values of sdtype {sdtype} are learned and come out; state its personal sdtype, for instance name, text or unknown, or set `pii` to false"
    )]
    PersonalButLearned {
        /// The column.
        column: String,
        /// Its sdtype.
        sdtype: String,
    },
    /// No column was stated.
    #[error("metadata has no columns; state at least one")]
    NoColumns,
    /// A column was stated twice.
    #[error("column `{column}` is stated twice")]
    DuplicateColumn {
        /// The column.
        column: String,
    },
    /// A role was given to a name that is no column.
    #[error("`{role}` names `{column}`, which is not a column{}", did_you_mean(.nearest.as_deref()))]
    RoleNotAColumn {
        /// The role.
        role: &'static str,
        /// The name given.
        column: String,
        /// A column of nearly that name.
        nearest: Option<String>,
    },
    /// One column was given two roles that exclude each other.
    #[error("column `{column}` cannot be both `{first}` and `{second}`")]
    TwoRoles {
        /// The column.
        column: String,
        /// One role.
        first: &'static str,
        /// The other role.
        second: &'static str,
    },
    /// A column was listed twice in the sequence key.
    #[error("`sequence_key` lists column `{column}` twice; list each once")]
    RepeatedKeyColumn {
        /// The column.
        column: String,
    },
    /// More columns were listed in the sequence key than a key can have.
    #[error("`sequence_key` lists {found} columns; it takes at most {most}")]
    TooManyKeyColumns {
        /// How many columns were listed.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// The sequence index is neither a number nor a date.
    #[error(
        "`sequence_index` column `{column}` has sdtype {sdtype}; it must be numerical or datetime"
    )]
    IndexSdType {
        /// The column.
        column: String,
        /// Its sdtype.
        sdtype: &'static str,
    },
    /// A `datetime_format` that dates cannot be read with.
    #[error("column `{column}`: datetime_format `{format}` is not valid: {reason}")]
    DatetimeFormat {
        /// The column.
        column: String,
        /// The format.
        format: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A `regex_format` that ids cannot be made from.
    #[error("column `{column}`: regex_format `{regex}` is not valid: {reason}")]
    RegexFormat {
        /// The column.
        column: String,
        /// The regular expression.
        regex: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A column to be changed that is not stated.
    #[error("`{column}` is not a column{}", did_you_mean(.nearest.as_deref()))]
    UnknownColumn {
        /// The name given.
        column: String,
        /// A column of nearly that name.
        nearest: Option<String>,
    },
    /// A column to be removed that has a role.
    #[error("column `{column}` is in `{role}`; set or remove that first")]
    RemovedRole {
        /// The column.
        column: String,
        /// Its role.
        role: &'static str,
    },
    /// A file of SDV before 1.0, which has fields for columns.
    #[error("the file has `fields`, as SDV wrote before 1.0; read it with Metadata::upgrade_json")]
    Outdated,
}

/// The tail of a message that offers a name; empty without one.
pub(crate) fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}
