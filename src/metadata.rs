//! What the user says about the table: each column's kind, the sequence key, the sequence index.
//! In: builder calls or SDV's metadata JSON. Out: a [`Metadata`] that holds nothing contradictory.
//! It is checked once, on construction, so later stages never meet an impossible role.

mod date_format;
mod difference;
mod error;
mod json;
mod parent;
mod pattern;
mod personal;
#[cfg(test)]
mod tests;
mod update;

use std::path::Path;

use serde_json::{Map, Value};

pub(crate) use date_format::DateFormat;
pub use difference::{MetadataDiff, MetadataDifference};
pub use error::MetadataError;
pub(crate) use error::did_you_mean;
use json::known_sdtypes;
pub(crate) use pattern::{Pattern, UNCOUNTED};
pub use personal::PersonalKind;
pub(crate) use update::UniqueKey;

/// Columns of a sequence key.
const MOST_KEY_COLUMNS: usize = 64;

/// What a column means, in SDV's words.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SdType {
    /// A number, whole or not.
    Numerical,
    /// One of a set of values, of any storage: text, whole numbers, floats, truth values.
    Categorical,
    /// True or false.
    Boolean,
    /// A point in time, held as a date, a date-time, text, or digits.
    Datetime {
        /// The strftime format of dates held as text or whole numbers, as Python reads it
        /// (`%f` is a fraction of six digits); not needed for columns that are dates already.
        format: Option<String>,
    },
    /// A name for a sequence or a row; values are made up, never learned, and differ within one call of sampling. A
    /// column that is constant in each sequence of the data stays so, and as many cells are missing as were.
    Id {
        /// The regular expression that made-up values match; default: they continue the
        /// numbering of the values seen.
        regex_format: Option<String>,
    },
    /// Personal data, or what else is made up by its kind, such as a company's name.
    ///
    /// None of the values in the data comes out, as long as the kind has others (all countries may be there), and a
    /// model file does not hold them. Values are of [the locales](crate::ParSynthesizerBuilder::locales) chosen, or of
    /// ranges that are never given out: mail of `example.com`, social security numbers of unused areas, IP addresses
    /// kept for documentation, American and French phone numbers kept for fiction, codes of banks that are for tests.
    /// For IBANs, cards, vehicles and other phone numbers there is no such range: their check digits are right, and
    /// one may belong to someone. Columns are made up one by one, so first name and email address need not agree.
    ///
    /// A column that is constant in each sequence of the data stays so; otherwise each row has its own value. As many
    /// are missing as were. Text and Categorical take all kinds; whole numbers and floats those that are digits or
    /// degrees; dates, also as text, take a date of birth, which lies in the years 1930 to 2009.
    Personal {
        /// What the column holds.
        kind: PersonalKind,
        /// SDV's word: whether values are to be made up, never learned. With `false` the column is learned:
        /// latitude and longitude as numerical, a date of birth as datetime, all else as categorical.
        pii: bool,
    },
}

impl SdType {
    /// Personal data that is to be made up, never learned.
    ///
    /// ```
    /// use parsynth::{PersonalKind, SdType};
    /// let email = SdType::personal(PersonalKind::Email);
    /// assert_eq!(email, SdType::Personal { kind: PersonalKind::Email, pii: true });
    /// ```
    #[must_use]
    pub fn personal(kind: PersonalKind) -> SdType {
        SdType::Personal { kind, pii: true }
    }

    /// The word SDV's files use.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            SdType::Numerical => "numerical",
            SdType::Categorical => "categorical",
            SdType::Boolean => "boolean",
            SdType::Datetime { .. } => "datetime",
            SdType::Id { .. } => "id",
            SdType::Personal { kind, .. } => kind.name(),
        }
    }

    /// What a column is learned as: personal data that may be told is one of the learned sdtypes.
    pub(crate) fn learned(self) -> SdType {
        match self {
            SdType::Personal { kind, pii: false } => match kind {
                PersonalKind::Latitude | PersonalKind::Longitude => SdType::Numerical,
                PersonalKind::DateOfBirth => SdType::Datetime { format: None },
                _ => SdType::Categorical,
            },
            other => other,
        }
    }

    /// Whether values are made up, never learned.
    pub(crate) fn is_made_up(&self) -> bool {
        match self {
            SdType::Id { .. } => true,
            SdType::Personal { pii, .. } => *pii,
            SdType::Numerical | SdType::Categorical | SdType::Boolean | SdType::Datetime { .. } => {
                false
            }
        }
    }
}

/// One column as stated by the user; `kept` holds SDV fields that we carry but do not use.
#[derive(Debug, Clone, PartialEq)]
struct Column {
    name: String,
    sdtype: SdType,
    kept: Map<String, Value>,
}

/// The statement about a table: columns, sequence key, sequence index.
///
/// ```
/// use parsynth::{Metadata, SdType};
/// let metadata = Metadata::builder()
///     .column("patient", SdType::Id { regex_format: None })
///     .column("day", SdType::Numerical)
///     .column("bilirubin", SdType::Numerical)
///     .sequence_key("patient")
///     .sequence_index("day")
///     .build()?;
/// assert_eq!(metadata, Metadata::from_json(&metadata.to_json())?);
/// # Ok::<(), parsynth::MetadataError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Metadata {
    table: String,
    columns: Vec<Column>,
    sequence_key: Vec<String>,
    /// Whether a column of the sequence key is an id or personal data.
    has_made_up_key: bool,
    sequence_index: Option<String>,
    kept: Map<String, Value>,
}

impl Metadata {
    /// Starts an empty statement; see [`MetadataBuilder`].
    pub fn builder() -> MetadataBuilder {
        MetadataBuilder::default()
    }

    /// Reads SDV's metadata: version `V1` or `V2` with exactly one table, `SINGLE_TABLE_V1` or `SINGLE_TABLE_V2`.
    ///
    /// The sdtype `ordinal` of `V2` is categorical here. Its ranges are carried along and written back, no more:
    /// what may come out is learned from the data.
    ///
    /// # Errors
    /// [`MetadataError`] when the text is no JSON, has an unknown field, or says something impossible.
    pub fn from_json(text: &str) -> Result<Metadata, MetadataError> {
        json::read(text)
    }

    /// Reads a metadata file; see [`Metadata::from_json`].
    ///
    /// # Errors
    /// [`MetadataError::ReadFile`] when the file cannot be read as UTF-8 text, else as `from_json`.
    pub fn from_json_file(path: impl AsRef<Path>) -> Result<Metadata, MetadataError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|source| MetadataError::ReadFile {
            path: path.to_path_buf(),
            source,
        })?;
        Metadata::from_json(&text)
    }

    /// Reads metadata as SDV wrote it before 1.0, with `fields` for columns: of one table, as SDV's own upgrade does.
    /// The `entity_columns` of a table of sequences become its sequence key; `context_columns` are left to the builder
    /// of a synthesizer.
    ///
    /// # Errors
    /// As [`Metadata::from_json`].
    pub fn upgrade_json(text: &str) -> Result<Metadata, MetadataError> {
        json::read_outdated(text)
    }

    /// SDV's JSON, indented: `V1`, or `V2` where a column has a field of that; reading it gives an equal `Metadata`.
    pub fn to_json(&self) -> String {
        json::write(self)
    }

    /// Writes [`Metadata::to_json`] to a file; a sibling temporary file is renamed into place.
    ///
    /// # Errors
    /// [`MetadataError::WriteFile`] when the file cannot be made.
    pub fn to_json_file(&self, path: impl AsRef<Path>) -> Result<(), MetadataError> {
        let path = path.as_ref();
        json::write_file(self, path).map_err(|source| MetadataError::WriteFile {
            path: path.to_path_buf(),
            source,
        })
    }

    /// Columns and their sdtypes, in the order they were stated.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &SdType)> {
        self.columns
            .iter()
            .map(|column| (column.name.as_str(), &column.sdtype))
    }

    /// The sdtype of a column; `None` for a column that was not stated.
    pub fn sdtype(&self, column: &str) -> Option<&SdType> {
        self.columns()
            .find(|(name, _)| *name == column)
            .map(|(_, sdtype)| sdtype)
    }

    /// Columns that are to hold no value twice: the primary key, where it is one column, and alternate keys.
    pub(crate) fn unique_columns(&self) -> Vec<&str> {
        let names = |field: &str| match self.kept.get(field) {
            Some(Value::String(name)) => vec![name.as_str()],
            Some(Value::Array(names)) => names
                .iter()
                .flat_map(|name| match name {
                    Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
                    name => Vec::from_iter(name.as_str()),
                })
                .collect(),
            _ => Vec::new(),
        };
        let mut primary = names("primary_key");
        if primary.len() > 1 {
            primary.clear();
        }
        primary.extend(names("alternate_keys"));
        primary
    }

    /// The columns that together say whose row it is; none when the table is one sequence.
    pub fn sequence_key(&self) -> &[String] {
        &self.sequence_key
    }

    /// Whether a column is part of the sequence key.
    pub(crate) fn is_key(&self, column: &str) -> bool {
        self.sequence_key.iter().any(|key| key == column)
    }

    /// Whether a column is part of the sequence key and made up: ids and personal data always are, the others unless
    /// one of those tells sequences apart.
    pub(crate) fn is_made_up_key(&self, column: &str) -> bool {
        self.is_key(column) && (!self.has_made_up_key || self.is_stated_made_up(column))
    }

    fn is_stated_made_up(&self, column: &str) -> bool {
        self.sdtype(column).is_some_and(SdType::is_made_up)
    }

    /// The column that orders and spaces a sequence's rows; `None` when the input order does.
    pub fn sequence_index(&self) -> Option<&str> {
        self.sequence_index.as_deref()
    }
}

/// Collects a statement; nothing is checked before [`MetadataBuilder::build`].
#[derive(Debug, Clone, Default)]
pub struct MetadataBuilder {
    table: Option<String>,
    columns: Vec<Column>,
    sequence_key: Vec<String>,
    sequence_index: Option<String>,
    kept: Map<String, Value>,
}

impl MetadataBuilder {
    /// Adds a column.
    #[must_use]
    pub fn column(self, name: impl Into<String>, sdtype: SdType) -> Self {
        self.column_with(name.into(), sdtype, Map::new())
    }

    /// Names the sequence key; default: none, the whole table is one sequence.
    #[must_use]
    pub fn sequence_key(self, column: impl Into<String>) -> Self {
        self.sequence_key_columns([column])
    }

    /// Names a sequence key of several columns: a sequence is the rows that agree in all of them.
    ///
    /// Sampled sequences differ in at least one of them. Ids and personal data are made up; other columns are drawn
    /// as context columns are, and may be given as those, if an id or personal data stands beside them. If none does,
    /// all are made up, each as an id.
    ///
    /// ```
    /// use parsynth::{Metadata, SdType};
    /// let metadata = Metadata::builder()
    ///     .column("clinic", SdType::Categorical)
    ///     .column("patient", SdType::Id { regex_format: None })
    ///     .column("weight", SdType::Numerical)
    ///     .sequence_key_columns(["clinic", "patient"])
    ///     .build()?;
    /// assert_eq!(metadata.sequence_key(), ["clinic", "patient"]);
    /// # Ok::<(), parsynth::MetadataError>(())
    /// ```
    #[must_use]
    pub fn sequence_key_columns<S: Into<String>>(
        mut self,
        columns: impl IntoIterator<Item = S>,
    ) -> Self {
        self.sequence_key = columns.into_iter().map(Into::into).collect();
        self
    }

    /// Names the sequence index, a numerical or datetime column; default: none, rows keep their order.
    #[must_use]
    pub fn sequence_index(mut self, column: impl Into<String>) -> Self {
        self.sequence_index = Some(column.into());
        self
    }

    /// Checks the statement. What SDV's `validate` looks for is looked for here, so that every [`Metadata`] there is
    /// is a valid one; whether data fits it, [`Metadata::validate_data`] tells.
    ///
    /// # Errors
    /// [`MetadataError`] naming the column and what to change: no column, a column stated twice, a role
    /// given to a column that does not exist or cannot play it, a format that is not valid.
    pub fn build(self) -> Result<Metadata, MetadataError> {
        let mut metadata = Metadata {
            table: self.table.unwrap_or_else(|| "table".to_owned()),
            columns: self.columns,
            sequence_key: self.sequence_key,
            has_made_up_key: false,
            sequence_index: self.sequence_index,
            kept: self.kept,
        };
        metadata.check()?;
        let mut keys = metadata.sequence_key.iter();
        metadata.has_made_up_key = keys.any(|key| metadata.is_stated_made_up(key));
        Ok(metadata)
    }

    fn column_with(mut self, name: String, sdtype: SdType, kept: Map<String, Value>) -> Self {
        self.columns.push(Column { name, sdtype, kept });
        self
    }
}

impl Metadata {
    fn check(&self) -> Result<(), MetadataError> {
        if self.columns.is_empty() {
            return Err(MetadataError::NoColumns);
        }
        for (position, column) in self.columns.iter().enumerate() {
            if self.columns[..position]
                .iter()
                .any(|earlier| earlier.name == column.name)
            {
                return Err(MetadataError::DuplicateColumn {
                    column: column.name.clone(),
                });
            }
            check_formats(column)?;
        }
        self.check_roles()
    }

    fn check_roles(&self) -> Result<(), MetadataError> {
        if self.sequence_key.len() > MOST_KEY_COLUMNS {
            return Err(MetadataError::TooManyKeyColumns {
                found: self.sequence_key.len(),
                most: MOST_KEY_COLUMNS,
            });
        }
        let primary = self.kept.get("primary_key").and_then(Value::as_str);
        let keys = self
            .sequence_key
            .iter()
            .map(|key| ("sequence_key", key.as_str()));
        let others = [
            ("sequence_index", self.sequence_index()),
            ("primary_key", primary),
        ];
        let others = others
            .into_iter()
            .filter_map(|(role, column)| Some((role, column?)));
        let roles: Vec<(&'static str, &str)> = keys.chain(others).collect();
        for (role, column) in &roles {
            self.check_is_column(role, column)?;
        }
        for (position, (second, column)) in roles.iter().enumerate() {
            for (first, earlier) in &roles[..position] {
                if column != earlier {
                    continue;
                }
                let column = (*column).to_owned();
                return Err(if first == second {
                    MetadataError::RepeatedKeyColumn { column }
                } else {
                    MetadataError::TwoRoles {
                        column,
                        first,
                        second,
                    }
                });
            }
        }
        if let Some(index) = self.sequence_index() {
            match self.sdtype(index) {
                Some(SdType::Numerical | SdType::Datetime { .. }) | None => {}
                Some(
                    sdtype @ (SdType::Categorical
                    | SdType::Boolean
                    | SdType::Id { .. }
                    | SdType::Personal { .. }),
                ) => {
                    return Err(MetadataError::IndexSdType {
                        column: index.to_owned(),
                        sdtype: sdtype.name(),
                    });
                }
            }
        }
        Ok(())
    }

    fn check_is_column(&self, role: &'static str, column: &str) -> Result<(), MetadataError> {
        if self.sdtype(column).is_some() {
            return Ok(());
        }
        Err(MetadataError::RoleNotAColumn {
            role,
            column: column.to_owned(),
            nearest: nearest_name(column, self.columns().map(|(name, _)| name)),
        })
    }
}

fn check_formats(column: &Column) -> Result<(), MetadataError> {
    match &column.sdtype {
        SdType::Datetime {
            format: Some(format),
        } => {
            DateFormat::new(format).map_err(|reason| MetadataError::DatetimeFormat {
                column: column.name.clone(),
                format: format.clone(),
                reason,
            })?;
        }
        SdType::Id {
            regex_format: Some(regex),
        } => {
            Pattern::compile(regex).map_err(|reason| MetadataError::RegexFormat {
                column: column.name.clone(),
                regex: regex.clone(),
                reason,
            })?;
        }
        SdType::Numerical
        | SdType::Categorical
        | SdType::Boolean
        | SdType::Datetime { format: None }
        | SdType::Id { regex_format: None }
        | SdType::Personal { .. } => {}
    }
    Ok(())
}

/// The candidate that a user most likely meant; `None` when no name is near.
pub(crate) fn nearest_name<'a>(
    wanted: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<String> {
    let folded = wanted.to_lowercase();
    candidates
        .map(|name| {
            (
                strsim::normalized_damerau_levenshtein(&folded, &name.to_lowercase()),
                name,
            )
        })
        .filter(|(likeness, _)| *likeness >= 0.5) // below, a guess misleads more than it helps
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, name)| name.to_owned())
}
