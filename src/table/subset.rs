//! Parts of a table that keep sequences whole: a random subset, and a split into training and held-out data.
//! In: a frame and its metadata. Out: frames of the same columns, dtypes and row order.

use polars::prelude::{DataFrame, IdxCa};

use super::parts::fit_column;
use super::schema::name_problems;
use super::{Schema, SequenceTable, Store, TableError};
use crate::metadata::Metadata;
use crate::rng::{Purpose, Seed, shuffle};

/// Which rows of a sequence stay where it is longer than it may be; the words are SDV's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum LongSequences {
    /// Its first rows, by the sequence index or else by the frame's order.
    #[default]
    FirstRows,
    /// Its last rows.
    LastRows,
    /// Rows drawn at random, which stay in their order.
    Random,
}

/// How much of a table to keep: how many sequences, and how much of each.
///
/// ```
/// use parsynth::{LongSequences, Metadata, SubsetOptions, read_csv};
/// let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
/// let stores = read_csv("data/stores.csv", &metadata)?;
/// let options = SubsetOptions::sequences(10)
///     .max_length(3)
///     .long_sequences(LongSequences::LastRows)
///     .seed(7);
/// let part = metadata.subset(&stores, &options)?;
/// assert_eq!(part.height(), 10 * 3);
/// assert_eq!(part.schema(), stores.schema());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use]
pub struct SubsetOptions {
    sequences: Option<usize>,
    max_length: Option<usize>,
    long_sequences: LongSequences,
    seed: Option<u64>,
}

impl SubsetOptions {
    /// So many sequences, drawn at random, each as likely as any other whatever its length.
    pub fn sequences(sequences: usize) -> Self {
        SubsetOptions {
            sequences: Some(sequences),
            ..SubsetOptions::default()
        }
    }

    /// All sequences, to be shortened by [`max_length`](SubsetOptions::max_length).
    pub fn all_sequences() -> Self {
        SubsetOptions::default()
    }

    /// At most so many rows of each sequence; no limit by default, and 0 keeps none.
    pub fn max_length(mut self, rows: usize) -> Self {
        self.max_length = Some(rows);
        self
    }

    /// Which rows of a longer sequence stay: by default the first.
    pub fn long_sequences(mut self, which: LongSequences) -> Self {
        self.long_sequences = which;
        self
    }

    /// Makes the draws repeatable; fresh randomness by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }
}

impl Metadata {
    /// A part of a frame that keeps sequences together: some of them, or a part of each. Columns, dtypes and the order
    /// of rows stay; without a sequence key the table is one sequence.
    ///
    /// ```
    /// use parsynth::{Metadata, SubsetOptions, read_csv};
    /// let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// let stores = read_csv("data/stores.csv", &metadata)?;
    /// let part = metadata.subset(&stores, &SubsetOptions::sequences(10).max_length(3).seed(7))?;
    /// assert_eq!(part.height(), 10 * 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// # Errors
    /// [`TableError::TooFewSequences`] when more sequences are wanted than there are; others when the frame lacks a
    /// column of the metadata, or a key or index is missing or has a dtype that cannot be one.
    pub fn subset(
        &self,
        frame: &DataFrame,
        options: &SubsetOptions,
    ) -> Result<DataFrame, TableError> {
        let sequences = self.rows_of_sequences(frame)?;
        let seed = Seed::new(options.seed);
        let mut chosen: Vec<usize> = (0..sequences.len()).collect();
        if let Some(wanted) = options.sequences {
            if wanted > sequences.len() {
                return Err(TableError::TooFewSequences {
                    wanted,
                    found: sequences.len(),
                });
            }
            shuffle(&mut chosen, &mut seed.stream(Purpose::Subset));
            chosen.truncate(wanted);
        }
        let mut kept = Vec::new();
        for number in chosen {
            let rows = &sequences[number];
            let most = options.max_length.unwrap_or(rows.len()).min(rows.len());
            match options.long_sequences {
                LongSequences::FirstRows => kept.extend_from_slice(&rows[..most]),
                LongSequences::LastRows => kept.extend_from_slice(&rows[rows.len() - most..]),
                LongSequences::Random => {
                    // A stream of its own, so that a sequence keeps its draw whichever others are drawn.
                    let mut generator = seed.numbered_stream(Purpose::SubsetRows, number as u64);
                    let mut rows = rows.clone();
                    shuffle(&mut rows, &mut generator);
                    kept.extend_from_slice(&rows[..most]);
                }
            }
        }
        rows_of(frame, kept)
    }

    /// Splits a frame into training and held-out data, whole sequences to either side, at random: `share` of them,
    /// rounded, are held out, but at least one, and at least one is left to train on.
    ///
    /// ```
    /// use parsynth::{Metadata, read_csv};
    /// let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// let stores = read_csv("data/stores.csv", &metadata)?;
    /// let (training, held_out) = metadata.split(&stores, 0.2, Some(7))?;
    /// assert_eq!((training.height(), held_out.height()), (80 * 7, 20 * 7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// # Errors
    /// [`TableError::Share`] when the share is not between 0 and 1, or there are fewer than two sequences; others as
    /// [`subset`](Metadata::subset).
    pub fn split(
        &self,
        frame: &DataFrame,
        share: f64,
        seed: Option<u64>,
    ) -> Result<(DataFrame, DataFrame), TableError> {
        let mut sequences = self.rows_of_sequences(frame)?;
        let count = sequences.len();
        if !(share > 0.0 && share < 1.0) || count < 2 {
            return Err(TableError::Share {
                share,
                sequences: count,
            });
        }
        #[allow(
            clippy::cast_possible_truncation,
            reason = "a share of a count is no larger than the count"
        )]
        let held_out = ((count as f64 * share).round() as usize).clamp(1, count - 1);
        let mut generator = Seed::new(seed).stream(Purpose::Subset);
        shuffle(&mut sequences, &mut generator);
        let training = sequences.split_off(held_out);
        Ok((
            rows_of(frame, training.concat())?,
            rows_of(frame, sequences.concat())?,
        ))
    }

    /// Rows of each sequence, in the order of key and index, so that a draw does not depend on the order of rows.
    fn rows_of_sequences(&self, frame: &DataFrame) -> Result<Vec<Vec<usize>>, TableError> {
        let names = || frame.columns().iter().map(|column| column.name().as_str());
        if let Some(problem) = name_problems(&names, self).next() {
            return Err(problem);
        }
        // The other columns are taken along, whatever is in them.
        let is_role = |name: &str| self.is_key(name) || self.sequence_index() == Some(name);
        let roles: Vec<&str> = names().filter(|name| is_role(name)).collect();
        if frame.height() == 0 {
            return Ok(Vec::new());
        }
        if roles.is_empty() {
            return Ok(vec![(0..frame.height()).collect()]);
        }
        let part = frame.select(roles)?;
        let columns = part
            .columns()
            .iter()
            .map(|column| fit_column(column, self, &[]))
            .collect::<Result<Vec<_>, _>>()?;
        let table = SequenceTable::grouped(&part, &Schema { columns }, &Store::Memory)?;
        Ok(table
            .offsets
            .windows(2)
            .map(|pair| {
                (pair[0]..pair[1])
                    .map(|row| table.row_number(row))
                    .collect()
            })
            .collect())
    }
}

/// Some rows of a frame, in its order.
fn rows_of(frame: &DataFrame, mut rows: Vec<usize>) -> Result<DataFrame, TableError> {
    rows.sort_unstable();
    let rows = rows
        .into_iter()
        .map(u32::try_from)
        .collect::<Result<Vec<u32>, _>>()
        .map_err(|source| TableError::Frame {
            source: Box::new(source),
        })?;
    Ok(frame.take(&IdxCa::from_vec("".into(), rows))?)
}
