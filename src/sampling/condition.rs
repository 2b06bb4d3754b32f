//! A number of sequences that share values of context columns.

use polars::prelude::AnyValue;

/// So many sequences with these values of context columns: for
/// [`ParSynthesizer::sample_from_conditions`](crate::ParSynthesizer::sample_from_conditions).
///
/// ```
/// use parsynth::Condition;
/// let women = Condition::sequences(30).with("sex", "f").with("trt", "1");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Condition {
    pub(crate) sequences: usize,
    pub(crate) values: Vec<(String, AnyValue<'static>)>,
}

impl Condition {
    /// This many sequences, at least 1; without a value they are like any others.
    pub fn sequences(count: usize) -> Self {
        Condition {
            sequences: count,
            values: Vec::new(),
        }
    }

    /// With this value of a context column, in place of one given before. Numbers, texts, truth values and polars'
    /// values are taken (those of a `Scalar` by its `into_value`), dates also as text; `None` is a missing value.
    pub fn with<'a>(mut self, column: impl Into<String>, value: impl Into<AnyValue<'a>>) -> Self {
        let (column, value) = (column.into(), value.into().into_static());
        match self.values.iter_mut().find(|(name, _)| *name == column) {
            Some((_, given)) => *given = value,
            None => self.values.push((column, value)),
        }
        self
    }

    /// How many sequences.
    #[must_use]
    pub fn count(&self) -> usize {
        self.sequences
    }

    /// The value of a context column, if it is given.
    #[must_use]
    pub fn value(&self, column: &str) -> Option<&AnyValue<'static>> {
        let given = self.values.iter().find(|(name, _)| name == column);
        given.map(|(_, value)| value)
    }
}
