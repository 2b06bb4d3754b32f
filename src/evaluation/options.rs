//! What a user can ask of an evaluation.

/// How to compare tables.
///
/// ```
/// use parsynth::EvaluationOptions;
/// let options = EvaluationOptions::new().context_columns(["region"]).seed(7);
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct EvaluationOptions {
    pub(crate) context_columns: Vec<String>,
    pub(crate) seed: Option<u64>,
}

impl EvaluationOptions {
    /// No context columns, fresh randomness.
    pub fn new() -> Self {
        EvaluationOptions::default()
    }

    /// Columns that belong to a sequence, not to its rows; none by default. What is measured along time leaves them out.
    pub fn context_columns<I, S>(mut self, columns: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.context_columns = columns.into_iter().map(Into::into).collect();
        self
    }

    /// Makes the report repeatable, whatever the number of threads; fresh randomness by default. Random are the folds
    /// of the classifier, and which sequences are looked at where there are very many.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }
}
