//! A first statement about a table, guessed from its columns' names, dtypes and values.
//! In: a frame, or a file. Out: a `DetectedMetadata`: the statement, the context columns, and what speaks for each
//! guess. Every cell is looked at; the work grows with the cells, whatever they hold.

mod dates;
mod names;
mod order;
mod profile;
mod roles;
mod shape;
mod show;
mod untyped;

use std::path::Path;

use polars::prelude::DataFrame;

use super::csv::other_separator;
use super::{TableError, files};
use crate::metadata::{Metadata, SdType};
use profile::{Family, Profile};
use roles::Roles;

/// A key column with so many times fewer values than the other is no id.
const FEW_BESIDE: usize = 4;

/// What a table seems to be; the guess is a start, its report says where to look twice.
///
/// ```
/// use parsynth::{Metadata, ParSynthesizer, read_csv};
/// let detected = Metadata::detect_from_csv("data/stores.csv")?;
/// assert_eq!(detected.metadata.sequence_key(), ["store_id"]);
/// assert_eq!(detected.metadata.sequence_index(), Some("date"));
/// assert_eq!(detected.context_columns, ["region"]);
/// println!("{detected}"); // each guess with its reason
///
/// let stores = read_csv("data/stores.csv", &detected.metadata)?;
/// let synthesizer = ParSynthesizer::builder(detected.metadata)
///     .context_columns(detected.context_columns)
///     .epochs(0)
///     .fit(&stores)?;
/// assert_eq!(synthesizer.sample(3)?.schema(), stores.schema());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DetectedMetadata {
    /// The statement, to be used as it is or updated first.
    pub metadata: Metadata,
    /// Columns that are constant within every sequence, in the table's order; none without a sequence key.
    pub context_columns: Vec<String>,
    /// What speaks for each guess.
    pub report: DetectionReport,
}

/// Why a table was taken for what it was; `Display` writes it as a table.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DetectionReport {
    /// Rows of the table.
    pub rows: usize,
    /// Each column, in the table's order.
    pub columns: Vec<DetectedColumn>,
    /// Columns looked at as sequence key, the one taken first.
    pub sequence_keys: Vec<KeyCandidate>,
    /// Columns looked at as sequence index, the one taken first.
    pub sequence_indexes: Vec<IndexCandidate>,
    /// What concerns the table as a whole.
    pub notes: Vec<String>,
}

/// One column's guess.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DetectedColumn {
    /// Its name.
    pub name: String,
    /// What it was taken for.
    pub sdtype: SdType,
    /// Why.
    pub reason: String,
    /// What else it may be, and what to do then.
    pub doubts: Vec<String>,
}

/// A column that might say whose row it is.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct KeyCandidate {
    /// Its name.
    pub column: String,
    /// Whether it was taken.
    pub taken: bool,
    /// What speaks for it, or against.
    pub reason: String,
}

/// A column that might order the rows.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct IndexCandidate {
    /// Its name.
    pub column: String,
    /// Whether it was taken.
    pub taken: bool,
    /// What speaks for it, or against.
    pub reason: String,
}

impl Metadata {
    /// Guesses the statement about a frame.
    ///
    /// - Dates, truth values and polars' categories are what their dtype says. Text is datetime if one strftime format
    ///   reads and writes back every value, id if all values differ, personal if its name says so (`email`), else
    ///   categorical. Whole numbers are datetime if all their digits are dates (20230623).
    /// - Numbers are numerical, unless they are codes: each of 2 to 10 values recurs (five cells to a value), and there
    ///   are at most three, or they run from 0 or 1 without a gap; a name such as `price` or `age` speaks against it.
    /// - The *sequence key* is text or whole numbers that recur, for which two or more of these speak: a date or number
    ///   rises or never repeats in each of its groups, columns are constant in each, its rows stand together, its name
    ///   is one of a key, it comes first. Where no column will do, two together may.
    /// - The *sequence index* is a date, else a number by the name of a time, else one that rises in every sequence.
    /// - *Context columns* are those constant in every sequence.
    ///
    /// ```
    /// use parsynth::{Metadata, SdType};
    /// let visits = polars::df!(
    ///     "patient" => ["a", "a", "a", "b", "b", "b"],
    ///     "day" => [0, 7, 30, 0, 3, 9],
    ///     "born" => [1980, 1980, 1980, 1975, 1975, 1975],
    ///     "weight" => [71.5, 70.0, 70.5, 64.0, 65.5, 65.0],
    /// )?;
    /// let detected = Metadata::detect_from_dataframe(&visits)?;
    /// assert_eq!(detected.metadata.sequence_key(), ["patient"]);
    /// assert_eq!(detected.metadata.sequence_index(), Some("day"));
    /// assert_eq!(detected.metadata.sdtype("weight"), Some(&SdType::Numerical));
    /// assert_eq!(detected.context_columns, ["born"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// # Errors
    /// [`TableError::Empty`] when the frame has no columns; one without rows is described by its dtypes.
    pub fn detect_from_dataframe(frame: &DataFrame) -> Result<DetectedMetadata, TableError> {
        if frame.columns().is_empty() {
            return Err(TableError::Empty { what: "columns" });
        }
        let profiles = frame
            .columns()
            .iter()
            .map(Profile::of)
            .collect::<Result<Vec<_>, _>>()?;
        let roles = roles::find(frame, &profiles)?;
        detected(frame, profiles, roles)
    }

    /// Guesses the statement about a CSV file with a header line; see
    /// [`detect_from_dataframe`](Metadata::detect_from_dataframe).
    ///
    /// A column is one of numbers only if every cell is a number that a number's text comes back from: codes with
    /// leading zeros (0870) and whole numbers past 9,223,372,036,854,775,807 stay text. `true` and `false` in any
    /// capitals are truth values; `yes` and `no` are categories, which come back as they are written.
    ///
    /// ```
    /// # use parsynth::Metadata;
    /// let detected = Metadata::detect_from_csv("data/stores.csv")?;
    /// assert_eq!(detected.metadata.sequence_key(), ["store_id"]);
    /// assert_eq!(detected.metadata.sequence_index(), Some("date"));
    /// # Ok::<(), parsynth::TableError>(())
    /// ```
    /// # Errors
    /// [`TableError`] when the file cannot be read, is not UTF-8, has no header or rows of unequal length.
    pub fn detect_from_csv(path: impl AsRef<Path>) -> Result<DetectedMetadata, TableError> {
        let text = files::read_csv_as_text(path.as_ref())?;
        let separator = other_separator(&text.get_column_names());
        let mut detected = Metadata::detect_from_dataframe(&untyped::typed(text)?)?;
        if let Some(separator) = separator {
            detected.report.notes.push(format!(
                "the file has one column with {separator:?} in its name; columns are separated by commas here"
            ));
        }
        Ok(detected)
    }

    /// Guesses the statement about a Parquet file; see
    /// [`detect_from_dataframe`](Metadata::detect_from_dataframe).
    ///
    /// ```
    /// # use parsynth::{Metadata, read_csv, write_parquet};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let stores = read_csv("data/stores.csv", &metadata)?;
    /// # let path = std::env::temp_dir().join(format!("parsynth-detect-{}.parquet", std::process::id()));
    /// write_parquet(&stores, &path)?;
    /// let detected = Metadata::detect_from_parquet(&path)?;
    /// assert_eq!(detected.context_columns, ["region"]);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// # Errors
    /// [`TableError`] when the file cannot be read or has no columns.
    pub fn detect_from_parquet(path: impl AsRef<Path>) -> Result<DetectedMetadata, TableError> {
        Metadata::detect_from_dataframe(&files::read_parquet(path)?)
    }
}

/// The guesses put together; roles outweigh what a column seemed to be by itself.
fn detected(
    frame: &DataFrame,
    mut profiles: Vec<Profile>,
    roles: Roles,
) -> Result<DetectedMetadata, TableError> {
    let most_keys = roles.key.iter().map(|&at| profiles[at].distinct).max();
    for (at, profile) in profiles.iter_mut().enumerate() {
        // Of two key columns, the one of few values is a category beside the id: a clinic and its patients.
        let is_few = most_keys.is_some_and(|most| profile.distinct * FEW_BESIDE <= most);
        if roles.key.contains(&at) && !is_few && !profile.sdtype.is_made_up() {
            profile.sdtype = SdType::Id {
                regex_format: profile.shape.clone(),
            };
            profile.doubts.clear();
            profile.reason = "the sequence key".to_owned();
        } else if roles.aliases.contains(&at) {
            profile.sdtype = SdType::Id {
                regex_format: profile.shape.clone(),
            };
            profile.reason = "one text for each sequence names it".to_owned();
            profile
                .doubts
                .push("state it as categorical to learn it; real names then come out".to_owned());
        } else if roles.index == Some(at)
            && matches!(profile.family, Family::Whole | Family::Real)
            && profile.sdtype == SdType::Categorical
        {
            profile.sdtype = SdType::Numerical;
            profile.doubts.clear();
            profile.reason = "numbers, the sequence index".to_owned();
        }
    }
    let mut builder = Metadata::builder();
    for profile in &profiles {
        builder = builder.column(profile.name.as_str(), profile.sdtype.clone());
    }
    let key = roles.key.iter().map(|&at| profiles[at].name.as_str());
    builder = builder.sequence_key_columns(key);
    if let Some(index) = roles.index {
        builder = builder.sequence_index(profiles[index].name.as_str());
    }
    let metadata = builder.build().map_err(|source| TableError::Frame {
        source: Box::new(source),
    })?;
    let names = |columns: &[usize]| {
        columns
            .iter()
            .map(|&at| profiles[at].name.clone())
            .collect()
    };
    Ok(DetectedMetadata {
        metadata,
        context_columns: names(&roles.context),
        report: DetectionReport {
            rows: frame.height(),
            columns: profiles
                .into_iter()
                .map(|profile| DetectedColumn {
                    name: profile.name,
                    sdtype: profile.sdtype,
                    reason: profile.reason,
                    doubts: profile.doubts,
                })
                .collect(),
            sequence_keys: roles.keys,
            sequence_indexes: roles.indexes,
            notes: roles.notes,
        },
    })
}
