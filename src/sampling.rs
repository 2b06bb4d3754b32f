//! What a user can ask of sampling.

use crate::params::{LENGTH, MAX_TRIES, OptionError, STEPS, TEMPERATURE, within};
use crate::report::SampleProgress;
use polars::frame::DataFrame;
use std::sync::Arc;

/// Called after each chunk of sequences.
pub(crate) type OnSampleProgress = Arc<dyn Fn(&SampleProgress) + Send + Sync>;

/// A rule of the user's own on a whole sequence.
#[derive(Clone)]
pub(crate) struct CustomConstraint {
    pub(crate) name: String,
    pub(crate) keeps: Arc<dyn Fn(&DataFrame) -> bool + Send + Sync>,
}

/// How much to sample, and how.
///
/// ```
/// use parsynth::SampleOptions;
/// let options = SampleOptions::sequences(1_000).length(50).seed(7).temperature(0.9);
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct SampleOptions {
    pub(crate) sequences: Option<usize>,
    pub(crate) rows: Option<usize>,
    pub(crate) length: Option<usize>,
    pub(crate) seed: Option<u64>,
    pub(crate) temperature: Option<f64>,
    pub(crate) row_limit: Option<usize>,
    pub(crate) threads: Option<usize>,
    pub(crate) progress: Option<OnSampleProgress>,
    pub(crate) custom_constraints: Vec<CustomConstraint>,
    pub(crate) max_tries: Option<usize>,
}

impl std::fmt::Debug for SampleOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SampleOptions")
            .field("sequences", &self.sequences)
            .field("rows", &self.rows)
            .field("length", &self.length)
            .field("seed", &self.seed)
            .field("temperature", &self.temperature)
            .field("row_limit", &self.row_limit)
            .field("threads", &self.threads)
            .field("max_tries", &self.max_tries)
            .finish_non_exhaustive()
    }
}

impl SampleOptions {
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
    /// last one seen if the length asks for it.
    pub fn length(mut self, rows: usize) -> Self {
        self.length = Some(rows);
        self
    }

    /// Makes the result repeatable on CPU, whatever the number of threads; fresh randomness by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Below 1 samples keep to what is likely, above 1 they stray from it: `0.01..=10.0`, default 1, which is the
    /// distribution that was learned. Divides the logits and multiplies the scales of the mixtures.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// At most this many rows: sequences that would pass it are left out, and a first sequence that is longer is cut.
    /// No limit by default.
    pub fn row_limit(mut self, rows: usize) -> Self {
        self.row_limit = Some(rows);
        self
    }

    /// Worker threads: `1..=1024`, default one a core. The result does not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// A rule of your own: sequences for which it is false are drawn again. It is given the rows of one sequence, all
    /// columns, and is called from the calling thread; several rules must all hold. Rules that a
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

    /// Called after each chunk of sequences, from the calling thread.
    pub fn on_progress(
        mut self,
        progress: impl Fn(&SampleProgress) + Send + Sync + 'static,
    ) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }

    /// Checks what has a range.
    pub(crate) fn check(&self) -> Result<(), OptionError> {
        if let Some(length) = self.length {
            within("length", length, &LENGTH)?;
        }
        if let Some(temperature) = self.temperature {
            within("temperature", temperature, &TEMPERATURE)?;
        }
        if let Some(tries) = self.max_tries {
            within("max_tries", tries, &MAX_TRIES)?;
        }
        if let (Some(rows), false) = (self.rows, self.custom_constraints.is_empty()) {
            return Err(OptionError {
                option: "rows",
                found: rows.to_string(),
                wanted: "SampleOptions::sequences(n) beside a custom constraint, which decides how many rows are kept".to_owned(),
            });
        }
        Ok(())
    }
}

/// How far to continue given sequences, and how: for
/// [`ParSynthesizer::continue_sequences_with`](crate::ParSynthesizer::continue_sequences_with).
///
/// ```
/// use parsynth::ContinueOptions;
/// let options = ContinueOptions::steps(12).seed(7).temperature(0.9);
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct ContinueOptions {
    pub(crate) steps: usize,
    pub(crate) seed: Option<u64>,
    pub(crate) temperature: Option<f64>,
    pub(crate) threads: Option<usize>,
}

impl ContinueOptions {
    /// New rows of every sequence: `0..=10_000_000`.
    pub fn steps(rows: usize) -> Self {
        ContinueOptions {
            steps: rows,
            seed: None,
            temperature: None,
            threads: None,
        }
    }

    /// Makes the result repeatable on CPU, whatever the number of threads; fresh randomness by default. Several seeds
    /// give several possible futures of the same sequences.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// As [`SampleOptions::temperature`]: `0.01..=10.0`, default 1.
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Worker threads: `1..=1024`, default one a core. The result does not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Checks what has a range.
    pub(crate) fn check(&self) -> Result<(), OptionError> {
        within("steps", self.steps, &STEPS)?;
        if let Some(temperature) = self.temperature {
            within("temperature", temperature, &TEMPERATURE)?;
        }
        Ok(())
    }
}
