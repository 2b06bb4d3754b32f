//! What a user can ask of sampling.
//! In: setters. Out: options whose ranges are checked when they are used.

mod condition;
mod given;

pub use condition::Condition;
pub use given::{ContinueOptions, ImputeOptions};

use crate::cancel::CancelToken;
use crate::params::{CANDIDATES, LENGTH, MAX_TRIES, OptionError, TEMPERATURE, within};
use crate::report::SampleProgress;
use polars::frame::DataFrame;
use std::ops::Range;
use std::sync::Arc;

/// Draws of a sequence that custom constraints refuse, unless the options say otherwise.
const TRIES: usize = 100;

/// Called after each chunk of sequences.
pub(crate) type OnSampleProgress = Arc<dyn Fn(&SampleProgress) + Send + Sync>;

/// A rule of the user's own on a whole sequence.
#[derive(Clone)]
pub(crate) struct CustomConstraint {
    pub(crate) name: String,
    pub(crate) keeps: Arc<dyn Fn(&DataFrame) -> bool + Send + Sync>,
}

impl std::fmt::Debug for CustomConstraint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CustomConstraint")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// How values are drawn, whatever they are drawn for.
#[derive(Clone, Default)]
pub(crate) struct DrawOptions {
    pub(crate) seed: Option<u64>,
    temperature: Option<f64>,
    pub(crate) threads: Option<usize>,
    pub(crate) progress: Option<OnSampleProgress>,
    pub(crate) cancel: CancelToken,
}

impl DrawOptions {
    /// The temperature, checked.
    pub(crate) fn temperature(&self) -> Result<f64, OptionError> {
        let temperature = self.temperature.unwrap_or(1.0);
        within("temperature", temperature, &TEMPERATURE)?;
        Ok(temperature)
    }
}

impl std::fmt::Debug for DrawOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DrawOptions")
            .field("seed", &self.seed)
            .field("temperature", &self.temperature)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

/// The setters of [`DrawOptions`], for options that have them in a field `draws`.
macro_rules! draw_setters {
    () => {
        /// Makes the result repeatable on CPU, whatever the number of threads. By default calls get seeds of their own:
        /// see [`ParSynthesizer::seed_sampling`](crate::ParSynthesizer::seed_sampling).
        pub fn seed(mut self, seed: u64) -> Self {
            self.draws.seed = Some(seed);
            self
        }

        /// Below 1 draws keep to what is likely, above 1 they stray from it: `0.01..=10.0`, default 1, which is the
        /// distribution that was learned. Divides the logits and multiplies the scales of the mixtures.
        pub fn temperature(mut self, temperature: f64) -> Self {
            self.draws.temperature = Some(temperature);
            self
        }

        /// Worker threads: `1..=1024`, default one a core. The result does not depend on it.
        pub fn threads(mut self, threads: usize) -> Self {
            self.draws.threads = Some(threads);
            self
        }

        /// Called after each chunk of sequences, from the calling thread.
        pub fn on_progress(
            mut self,
            progress: impl Fn(&crate::SampleProgress) + Send + Sync + 'static,
        ) -> Self {
            self.draws.progress = Some(std::sync::Arc::new(progress));
            self
        }

        /// Lets another thread, or the closure given to `on_progress`, end the call soon with
        /// [`Error::Cancelled`](crate::Error::Cancelled); no file is left then.
        pub fn cancel_token(mut self, token: crate::CancelToken) -> Self {
            self.draws.cancel = token;
            self
        }
    };
}
use draw_setters;

/// Rows of the sequences asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Lengths {
    /// Drawn from the model.
    #[default]
    Drawn,
    /// One for all sequences.
    Same(usize),
    /// One a sequence.
    Each(Vec<usize>),
}

impl Lengths {
    /// The length of a sequence, unless it is drawn.
    pub(crate) fn of(&self, sequence: usize) -> Option<usize> {
        match self {
            Lengths::Drawn => None,
            Lengths::Same(length) => Some(*length),
            Lengths::Each(lengths) => lengths.get(sequence).copied(),
        }
    }
}

/// How much to sample, and how. Where conditions or context rows say how many sequences there are, options begin with
/// `SampleOptions::default()`.
///
/// ```
/// use parsynth::SampleOptions;
/// let options = SampleOptions::sequences(1_000).length(50).seed(7).temperature(0.9);
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct SampleOptions {
    pub(crate) sequences: Option<usize>,
    pub(crate) rows: Option<usize>,
    pub(crate) lengths: Lengths,
    pub(crate) row_limit: Option<usize>,
    /// Which sequences of the whole table.
    sequence_range: Option<Range<usize>>,
    candidates: Option<usize>,
    pub(crate) custom_constraints: Vec<CustomConstraint>,
    max_tries: Option<usize>,
    pub(crate) draws: DrawOptions,
}

impl SampleOptions {
    draw_setters!();

    /// As many sequences as asked for, of any length.
    pub fn sequences(count: usize) -> Self {
        SampleOptions {
            sequences: Some(count),
            ..SampleOptions::default()
        }
    }

    /// Whole sequences until there are at least this many rows.
    pub fn rows(count: usize) -> Self {
        SampleOptions {
            rows: Some(count),
            ..SampleOptions::default()
        }
    }

    /// One sequence for each row of a context frame: for
    /// [`ParSynthesizer::sample_sequential_columns_with`](crate::ParSynthesizer::sample_sequential_columns_with).
    pub fn per_context_row() -> Self {
        SampleOptions::default()
    }

    /// Rows of every sequence: `1..=10_000_000`; drawn from the model by default. A sequence index goes on past the
    /// last one seen if the length asks for it. Takes the place of [`lengths`](SampleOptions::lengths).
    pub fn length(mut self, rows: usize) -> Self {
        self.lengths = Lengths::Same(rows);
        self
    }

    /// Rows of each sequence, as many numbers as there are sequences: `1..=10_000_000` each. Sequences that conditions
    /// ask for are counted one after the other. Takes the place of [`length`](SampleOptions::length).
    ///
    /// ```
    /// # use parsynth::{Metadata, ParSynthesizer, SampleOptions, read_csv};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// # let synthesizer = ParSynthesizer::builder(metadata).context_columns(["region"]).epochs(0).fit(&data)?;
    /// let synthetic = synthesizer.sample_with(&SampleOptions::sequences(3).lengths([7, 1, 30]))?;
    /// assert_eq!(synthetic.height(), 7 + 1 + 30);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lengths(mut self, rows: impl IntoIterator<Item = usize>) -> Self {
        self.lengths = Lengths::Each(rows.into_iter().collect());
        self
    }

    /// At most this many rows: sequences that would pass it are left out, and a first sequence that is longer is cut.
    /// No limit by default.
    pub fn row_limit(mut self, rows: usize) -> Self {
        self.row_limit = Some(rows);
        self
    }

    /// Only these sequences of the table that the options and the seed make, numbered from 0, as they are in it: for
    /// sharing a large table out to several machines, or going on where a run ended. With conditions or context rows the
    /// numbers count the sequences they ask for.
    ///
    /// ```
    /// # use parsynth::{Metadata, ParSynthesizer, SampleOptions, read_csv};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// # let synthesizer = ParSynthesizer::builder(metadata).context_columns(["region"]).epochs(0).fit(&data)?;
    /// let table = SampleOptions::sequences(10).seed(7);
    /// let whole = synthesizer.sample_with(&table)?;
    /// let first = synthesizer.sample_with(&table.clone().sequence_range(0..4))?;
    /// let second = synthesizer.sample_with(&table.sequence_range(4..10))?;
    /// assert!(first.vstack(&second)?.equals_missing(&whole));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// It needs a seed, and the whole stated in sequences, not in rows. Ids that rows have of their own are the one thing
    /// that differs from the whole table, where lengths are drawn: how many rows come before a sequence is not known, so
    /// each sequence gets as many numbers as the longest has rows. They differ in all rows, whichever ranges they are
    /// made in. Refused for what would hang on all sequences before: personal values that must differ from row to row
    /// where lengths are drawn, and a key of personal values beside ones that are drawn, unless the range begins at 0.
    /// Personal values that must differ are made for all sequences before the range again, which takes its time.
    pub fn sequence_range(mut self, sequences: Range<usize>) -> Self {
        self.sequence_range = Some(sequences);
        self
    }

    /// Draws each sequence so many times, with the same context and length, and keeps the candidate whose rows the
    /// model finds likeliest, by nats per row: `1..=1_000`, default 1. Takes that many times as long. What comes out is
    /// more typical and less varied than what was learned from: rare events become rarer. DeepEcho calls it
    /// `sample_size`.
    pub fn candidates(mut self, count: usize) -> Self {
        self.candidates = Some(count);
        self
    }

    /// A rule of your own: sequences for which it is false are drawn again. It is given the rows of one sequence, all
    /// columns, and is called from the calling thread; several rules must all hold. Made-up keys and ids that it sees
    /// are placeholders: the final ones are numbered once all is accepted. A `row_limit` comes after it. Rules that a
    /// [`Constraint`](crate::Constraint) can state are better stated so: they cost no draws, and are saved with the
    /// model, which a closure cannot be.
    ///
    /// ```
    /// # use parsynth::{Metadata, ParSynthesizer, SampleOptions, read_csv};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// # let synthesizer = ParSynthesizer::builder(metadata).context_columns(["region"]).epochs(0).fit(&data)?;
    /// let short = SampleOptions::sequences(5).custom_constraint("at most 21 days", |days| days.height() <= 21);
    /// let lengths = synthesizer.sample_with(&short)?.height();
    /// assert!(lengths <= 5 * 21);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn custom_constraint(
        mut self,
        name: impl Into<String>,
        keeps: impl Fn(&DataFrame) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.custom_constraints.push(CustomConstraint {
            name: name.into(),
            keeps: Arc::new(keeps),
        });
        self
    }

    /// How often a sequence is drawn that custom constraints refuse, before sampling ends in an error: `1..=10_000`,
    /// default 100.
    pub fn max_tries(mut self, tries: usize) -> Self {
        self.max_tries = Some(tries);
        self
    }

    /// How often a refused sequence is drawn, checked.
    pub(crate) fn checked_tries(&self) -> Result<usize, OptionError> {
        if let (Some(rows), false) = (self.rows, self.custom_constraints.is_empty()) {
            return Err(OptionError {
                option: "rows",
                found: rows.to_string(),
                wanted: "SampleOptions::sequences(n) beside a custom constraint, which decides how many rows are kept".to_owned(),
            });
        }
        let tries = self.max_tries.unwrap_or(TRIES);
        within("max_tries", tries, &MAX_TRIES)?;
        Ok(tries)
    }

    /// Which sequences of the whole table, checked; `sequences` is how many that has.
    pub(crate) fn checked_range(
        &self,
        sequences: Option<usize>,
    ) -> Result<Option<Range<usize>>, OptionError> {
        let Some(range) = &self.sequence_range else {
            return Ok(None);
        };
        let refuse = |beside: &str, wanted: String| {
            Err(OptionError {
                option: "sequence_range",
                found: format!("{}..{}{beside}", range.start, range.end),
                wanted,
            })
        };
        match sequences {
            _ if self.rows.is_some() || self.row_limit.is_some() => refuse(
                " of a table that rows or row_limit ends",
                "SampleOptions::sequences(n): which sequences a number of rows makes is known once they are made"
                    .to_owned(),
            ),
            _ if self.draws.seed.is_none() => refuse(
                " without a seed",
                "SampleOptions::seed(..) beside it, so that all parts are of one table".to_owned(),
            ),
            _ if range.start > range.end => refuse("", "a start that is not past the end".to_owned()),
            Some(sequences) if range.end > sequences => {
                refuse("", format!("an end of at most {sequences}, the sequences of the whole"))
            }
            Some(_) | None => Ok(Some(range.clone())),
        }
    }

    /// How many sequences are drawn for each that is kept, checked.
    pub(crate) fn checked_candidates(&self) -> Result<usize, OptionError> {
        let candidates = self.candidates.unwrap_or(1);
        within("candidates", candidates, &CANDIDATES)?;
        Ok(candidates)
    }

    /// The lengths asked for, checked; `sequences` is how many there will be, where that is known.
    pub(crate) fn checked_lengths(&self, sequences: Option<usize>) -> Result<Lengths, OptionError> {
        match &self.lengths {
            Lengths::Drawn => {}
            Lengths::Same(length) => {
                within("length", *length, &LENGTH)?;
            }
            Lengths::Each(lengths) => {
                let wanted = match sequences {
                    Some(sequences) if lengths.len() == sequences => None,
                    Some(sequences) => Some(format!("{sequences}, one for each sequence")),
                    None => Some("a number of sequences, not of rows, to go with it".to_owned()),
                };
                if let Some(wanted) = wanted {
                    return Err(OptionError {
                        option: "lengths",
                        found: format!("{} numbers", lengths.len()),
                        wanted,
                    });
                }
                for (sequence, &length) in lengths.iter().enumerate() {
                    within("lengths", length, &LENGTH).map_err(|error| OptionError {
                        found: format!("{} for sequence {sequence}", error.found),
                        ..error
                    })?;
                }
            }
        }
        Ok(self.lengths.clone())
    }
}
