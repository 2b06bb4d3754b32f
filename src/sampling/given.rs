//! What can be asked of sampling where rows are given.

use super::{DrawOptions, draw_setters};
use crate::params::{CANDIDATES, OptionError, STEPS, within};

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
    /// New rows of every sequence; none to draw an end from the model.
    pub(crate) steps: Option<usize>,
    pub(crate) draws: DrawOptions,
}

impl ContinueOptions {
    draw_setters!();

    /// New rows of every sequence: `0..=10_000_000`.
    pub fn steps(rows: usize) -> Self {
        ContinueOptions {
            steps: Some(rows),
            draws: DrawOptions::default(),
        }
    }

    /// As many new rows as it takes each sequence to end, perhaps none. How many rows a sequence has in all is drawn
    /// given its context and the fact that it has at least those given, and then by what the given rows say of it: of 16
    /// lengths drawn, one is kept by how likely it makes them. A sequence with as many rows as the longest seen, or
    /// more, ends where it is.
    ///
    /// ```
    /// # use parsynth::{ContinueOptions, Metadata, ParSynthesizer, read_csv};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// # let synthesizer = ParSynthesizer::builder(metadata).context_columns(["region"]).epochs(0).fit(&data)?;
    /// // Every store has seven rows, so four that are given are followed by three.
    /// let whole = synthesizer.continue_sequences_with(&data.head(Some(4)), &ContinueOptions::to_the_end())?;
    /// assert_eq!(whole.height(), 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn to_the_end() -> Self {
        ContinueOptions {
            steps: None,
            draws: DrawOptions::default(),
        }
    }

    /// How far to go, checked.
    pub(crate) fn checked_steps(&self) -> Result<Option<usize>, OptionError> {
        if let Some(steps) = self.steps {
            within("steps", steps, &STEPS)?;
        }
        Ok(self.steps)
    }
}

/// Which missing cells to fill, and how: for [`ParSynthesizer::impute_with`](crate::ParSynthesizer::impute_with).
///
/// ```
/// use parsynth::ImputeOptions;
/// let options = ImputeOptions::default().columns(["chol", "platelet"]).seed(7);
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct ImputeOptions {
    /// All columns when none.
    pub(crate) columns: Option<Vec<String>>,
    candidates: Option<usize>,
    pub(crate) draws: DrawOptions,
}

/// How many ways to fill a sequence are followed, unless the user says otherwise.
pub(crate) const IMPUTE_CANDIDATES: usize = 16;

impl ImputeOptions {
    draw_setters!();

    /// Fills these columns alone, where the missing cells of others may be a state that means something. All by default.
    pub fn columns<S: Into<String>>(mut self, columns: impl IntoIterator<Item = S>) -> Self {
        self.columns = Some(columns.into_iter().map(Into::into).collect());
        self
    }

    /// How many ways to fill a sequence are followed at once, of which those that do not fit the given cells after the
    /// filled ones are dropped: `1..=1_000`, default 16. Takes that many times as long; at 1 a drawn cell depends on
    /// what stands before it alone.
    pub fn candidates(mut self, count: usize) -> Self {
        self.candidates = Some(count);
        self
    }

    /// How many ways are followed, checked.
    pub(crate) fn checked_candidates(&self) -> Result<usize, OptionError> {
        let candidates = self.candidates.unwrap_or(IMPUTE_CANDIDATES);
        within("candidates", candidates, &CANDIDATES)?;
        Ok(candidates)
    }
}
