//! What a model says of how it came about: when, by which versions, from how much, with which options.
//! In: what the fit noted. Out: [`SynthesizerInfo`] and [`FitParameters`], as text and as JSON.

use crate::distribution::NumericalDistribution;
use crate::health::Versions;
use crate::params::ValidFitOptions;
use chrono::{DateTime, SecondsFormat};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{Display, Formatter, Result};
use std::time::{SystemTime, UNIX_EPOCH};

/// The last second of the year 9999, counted from 1970.
pub(crate) const LAST_SECOND: i64 = 253_402_300_799;

/// When a model was made, and by what.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Provenance {
    /// Seconds since 1970, UTC, up to [`LAST_SECOND`].
    pub(crate) created: i64,
    pub(crate) fitted: i64,
    pub(crate) fitted_by: Versions,
}

/// Seconds since 1970 by the system's clock.
pub(crate) fn now() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = elapsed.map_or(0, |elapsed| elapsed.as_secs());
    i64::try_from(seconds).map_or(LAST_SECOND, |seconds| seconds.min(LAST_SECOND))
}

/// A moment as RFC 3339 writes it, such as `2026-12-02T23:14:42Z`.
pub(crate) fn rfc_3339(seconds: i64) -> String {
    DateTime::from_timestamp(seconds, 0)
        .unwrap_or_default()
        .to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// What a model is and where it comes from, from [`ParSynthesizer::info`](crate::ParSynthesizer::info).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SynthesizerInfo {
    /// When the builder was made: UTC, as RFC 3339 writes it.
    pub created: String,
    /// When the fit ended: UTC, as RFC 3339 writes it.
    pub fitted: String,
    /// The versions that fitted it.
    pub fitted_by: Versions,
    /// The versions that run it now.
    pub running: Versions,
    /// Sequences in the training table.
    pub sequences: usize,
    /// Segments that they were cut into, where they were.
    pub segments: Option<usize>,
    /// Rows in the training table; all of them were used.
    pub rows: usize,
    /// Columns in the training table.
    pub columns: usize,
    /// Numbers in both networks.
    pub weights: usize,
    /// Where the weights lie: `cpu`, `cuda:0`, `mps`.
    pub device: String,
    /// Bytes of the file that the model was loaded from; none for one that was fitted in this process.
    pub file_bytes: Option<u64>,
    /// What the fit warned of, see [`FitReport::warnings`](crate::FitReport::warnings).
    pub warnings: Vec<String>,
}

impl SynthesizerInfo {
    /// The fields by their names, as indented JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        json(self)
    }
}

impl Display for SynthesizerInfo {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let segments = self.segments.map_or(String::new(), |segments| {
            format!(", cut into {segments} segments")
        });
        let file = self
            .file_bytes
            .map_or("none".to_owned(), |bytes| format!("{bytes} bytes"));
        let lines = [
            ("created", self.created.clone()),
            ("fitted", self.fitted.clone()),
            ("fitted by", self.fitted_by.to_string()),
            ("running", self.running.to_string()),
            ("sequences", format!("{}{segments}", self.sequences)),
            ("rows", self.rows.to_string()),
            ("columns", self.columns.to_string()),
            ("weights", self.weights.to_string()),
            ("device", self.device.clone()),
            ("file", file),
        ];
        for (name, value) in lines {
            writeln!(f, "{name:<10} {value}")?;
        }
        for warning in &self.warnings {
            writeln!(f, "warning    {warning}")?;
        }
        Ok(())
    }
}

/// Every option of a fit with its value, from [`ParSynthesizer::parameters`](crate::ParSynthesizer::parameters); the
/// setters of [`ParSynthesizerBuilder`](crate::ParSynthesizerBuilder) say what each means.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FitParameters {
    /// In the order of the table.
    pub context_columns: Vec<String>,
    /// The width used, chosen or by default.
    pub hidden_size: usize,
    /// Layers of the LSTM.
    pub layers: usize,
    /// None where the default decided.
    pub epochs: Option<usize>,
    /// None where the default decided.
    pub batch_size: Option<usize>,
    /// Adam's first learning rate.
    pub learning_rate: f64,
    /// Share of inputs and hidden units dropped in training.
    pub dropout: f64,
    /// Share of the sequences held out.
    pub validation_share: f64,
    /// Optimizer steps without a gain before training begins to end.
    pub patience_steps: usize,
    /// In seconds; none without a limit.
    pub max_training_secs: Option<f64>,
    /// Whether sampled values keep within the range seen.
    pub enforce_min_max_values: bool,
    /// Whether sampled numbers keep the decimals seen.
    pub enforce_rounding: bool,
    /// Sequences that must share a value.
    pub value_protection: usize,
    /// Rows of a segment; none where sequences were learned whole.
    pub segment_size: Option<usize>,
    /// Columns for which one was chosen.
    pub numerical_distributions: BTreeMap<String, NumericalDistribution>,
    /// None for a fit with fresh randomness.
    pub seed: Option<u64>,
    /// The threads used, chosen or by default.
    pub threads: usize,
    /// Whether training multiplied in bfloat16.
    pub mixed_precision: bool,
}

impl FitParameters {
    pub(crate) fn new(context_columns: Vec<String>, options: &ValidFitOptions) -> FitParameters {
        let ValidFitOptions {
            hidden_size,
            layers,
            epochs,
            batch_size,
            learning_rate,
            dropout,
            validation_share,
            patience_steps,
            max_training_time,
            enforce_min_max,
            value_protection,
            seed,
            threads,
            enforce_rounding,
            segment_size,
            numerical_distributions,
            mixed_precision,
        } = options.clone();
        FitParameters {
            context_columns,
            hidden_size,
            layers,
            epochs,
            batch_size,
            learning_rate,
            dropout,
            validation_share,
            patience_steps,
            max_training_secs: max_training_time.map(|time| time.as_secs_f64()),
            enforce_min_max_values: enforce_min_max,
            enforce_rounding,
            value_protection,
            segment_size,
            numerical_distributions,
            seed,
            threads,
            mixed_precision,
        }
    }

    /// The fields by their names, as indented JSON; an option that the default decided is null.
    #[must_use]
    pub fn to_json(&self) -> String {
        json(self)
    }
}

/// A line for each option, in the words of its JSON.
impl Display for FitParameters {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let fields = serde_json::to_value(self).unwrap_or_default();
        for (name, value) in fields.as_object().into_iter().flatten() {
            writeln!(f, "{name:<23} {value}")?;
        }
        Ok(())
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("text and numbers, under names that are text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_rfc_3339() {
        assert_eq!(rfc_3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc_3339(LAST_SECOND), "9999-12-31T23:59:59Z");
        assert!((1_700_000_000..LAST_SECOND).contains(&now()));
    }
}
