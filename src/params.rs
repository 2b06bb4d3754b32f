//! Every option and its range, in one place; the work accepts only the checked form.

use crate::distribution::{BINS, NumericalDistribution};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

/// An option outside its range.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("option `{option}` is {found}, expected {wanted}")]
#[non_exhaustive]
pub struct OptionError {
    /// The option's name.
    pub option: &'static str,
    /// The value found.
    pub found: String,
    /// The range it must lie in.
    pub wanted: String,
}

/// Options of training, as the builder collects them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FitOptions {
    pub(crate) hidden_size: Option<usize>,
    pub(crate) layers: usize,
    pub(crate) epochs: Option<usize>,
    pub(crate) batch_size: Option<usize>,
    pub(crate) learning_rate: f64,
    pub(crate) dropout: f64,
    pub(crate) validation_share: f64,
    pub(crate) patience_steps: usize,
    pub(crate) max_training_time: Option<Duration>,
    pub(crate) enforce_min_max: bool,
    pub(crate) value_protection: usize,
    pub(crate) seed: Option<u64>,
    pub(crate) threads: Option<usize>,
    pub(crate) enforce_rounding: bool,
    pub(crate) segment_size: Option<usize>,
    /// By column, where it is not the default.
    pub(crate) numerical_distributions: BTreeMap<String, NumericalDistribution>,
    pub(crate) mixed_precision: bool,
}

impl Default for FitOptions {
    fn default() -> Self {
        FitOptions {
            hidden_size: None,
            layers: 1,
            epochs: None,
            batch_size: None,
            learning_rate: 5e-3,
            dropout: 0.3,
            validation_share: 0.1,
            patience_steps: 100,
            max_training_time: None,
            enforce_min_max: true,
            value_protection: 1,
            seed: None,
            threads: None,
            enforce_rounding: true,
            segment_size: None,
            numerical_distributions: BTreeMap::new(),
            mixed_precision: false,
        }
    }
}

/// Tables below this many rows get a smaller network and smaller batches.
pub(crate) const SMALL_TABLE_ROWS: usize = 6_000;
const SMALL_HIDDEN_SIZE: usize = 32;
pub(crate) const LARGE_HIDDEN_SIZE: usize = 128;
pub(crate) const HIDDEN_SIZE: RangeInclusive<usize> = 1..=4096;
pub(crate) const LAYERS: RangeInclusive<usize> = 1..=8;
pub(crate) const BATCH_SIZE: RangeInclusive<usize> = 1..=65_536;
pub(crate) const THREADS: RangeInclusive<usize> = 1..=1024;
/// Rows of one sequence that can be asked for.
pub(crate) const LENGTH: RangeInclusive<usize> = 1..=10_000_000;
/// Sequences of one part of a sampled table.
pub(crate) const SEQUENCES_PER_PART: RangeInclusive<usize> = 1..=1_000_000_000;
/// Rows of the segments that sequences are cut into.
pub(crate) const SEGMENT_SIZE: RangeInclusive<usize> = LENGTH;
/// Rows by which given sequences can be continued.
pub(crate) const STEPS: RangeInclusive<usize> = 0..=*LENGTH.end();
/// Draws of a sequence that custom constraints refuse.
pub(crate) const MAX_TRIES: RangeInclusive<usize> = 1..=10_000;
/// Sequences drawn for each that is kept, and ways to fill a sequence's missing cells that are tried.
pub(crate) const CANDIDATES: RangeInclusive<usize> = 1..=1_000;
pub(crate) const TEMPERATURE: RangeInclusive<f64> = 0.01..=10.0;
pub(crate) const LEARNING_RATE: RangeInclusive<f64> = 1e-7..=1.0;
/// Below one half: above it training has fewer sequences than validation.
pub(crate) const VALIDATION_SHARE: RangeInclusive<f64> = 0.0..=0.5;
pub(crate) const VALUE_PROTECTION: RangeInclusive<usize> = 1..=1_000_000_000;
pub(crate) const DROPOUT: RangeInclusive<f64> = 0.0..=0.9;

/// Options of training, checked; saved with the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ValidFitOptions {
    pub(crate) hidden_size: usize,
    pub(crate) layers: usize,
    pub(crate) epochs: Option<usize>,
    pub(crate) batch_size: Option<usize>,
    pub(crate) learning_rate: f64,
    pub(crate) dropout: f64,
    pub(crate) validation_share: f64,
    pub(crate) patience_steps: usize,
    pub(crate) max_training_time: Option<Duration>,
    pub(crate) enforce_min_max: bool,
    pub(crate) value_protection: usize,
    pub(crate) seed: Option<u64>,
    pub(crate) threads: usize,
    pub(crate) enforce_rounding: bool,
    pub(crate) segment_size: Option<usize>,
    pub(crate) numerical_distributions: BTreeMap<String, NumericalDistribution>,
    pub(crate) mixed_precision: bool,
}

impl FitOptions {
    /// Checks every option against its range.
    /// # Errors
    /// [`OptionError`] for the first option outside.
    pub(crate) fn check(self) -> Result<ValidFitOptions, OptionError> {
        let hidden_size = self.hidden_size.unwrap_or(SMALL_HIDDEN_SIZE);
        within("hidden_size", hidden_size, &HIDDEN_SIZE)?;
        within("layers", self.layers, &LAYERS)?;
        if let Some(batch_size) = self.batch_size {
            within("batch_size", batch_size, &BATCH_SIZE)?;
        }
        within("learning_rate", self.learning_rate, &LEARNING_RATE)?;
        within("dropout", self.dropout, &DROPOUT)?;
        within("validation_share", self.validation_share, &VALIDATION_SHARE)?;
        within("value_protection", self.value_protection, &VALUE_PROTECTION)?;
        let threads = checked_threads(self.threads)?;
        if let Some(segment_size) = self.segment_size {
            within("segment_size", segment_size, &SEGMENT_SIZE)?;
        }
        for distribution in self.numerical_distributions.values() {
            if let NumericalDistribution::Bins(bins) = distribution {
                within("numerical_distribution: bins", *bins, &BINS)?;
            }
        }
        Ok(ValidFitOptions {
            hidden_size,
            layers: self.layers,
            epochs: self.epochs,
            batch_size: self.batch_size,
            learning_rate: self.learning_rate,
            dropout: self.dropout,
            validation_share: self.validation_share,
            patience_steps: self.patience_steps,
            max_training_time: self.max_training_time,
            enforce_min_max: self.enforce_min_max,
            value_protection: self.value_protection,
            seed: self.seed,
            threads,
            enforce_rounding: self.enforce_rounding,
            segment_size: self.segment_size,
            numerical_distributions: self.numerical_distributions,
            mixed_precision: self.mixed_precision,
        })
    }
}

/// The number of threads asked for, or one a core.
pub(crate) fn checked_threads(threads: Option<usize>) -> Result<usize, OptionError> {
    let threads = threads.unwrap_or_else(|| {
        std::thread::available_parallelism()
            .map_or(1, std::num::NonZero::get)
            .min(*THREADS.end())
    });
    within("threads", threads, &THREADS)
}

/// The value, if it lies in its range.
pub(crate) fn within<T: PartialOrd + Copy + std::fmt::Display>(
    option: &'static str,
    value: T,
    range: &RangeInclusive<T>,
) -> Result<T, OptionError> {
    if range.contains(&value) {
        return Ok(value);
    }
    Err(OptionError {
        option,
        found: value.to_string(),
        wanted: format!("{} to {}", range.start(), range.end()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_outside_its_range_is_named_with_the_range() {
        let error = FitOptions {
            learning_rate: f64::NAN,
            ..FitOptions::default()
        }
        .check()
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "option `learning_rate` is NaN, expected 0.0000001 to 1"
        );
        let error = FitOptions {
            hidden_size: Some(0),
            ..FitOptions::default()
        }
        .check()
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "option `hidden_size` is 0, expected 1 to 4096"
        );
    }

    #[test]
    fn zero_epochs_is_a_value_and_not_unset() {
        let checked = FitOptions {
            epochs: Some(0),
            ..FitOptions::default()
        }
        .check()
        .expect("valid");
        assert_eq!(checked.epochs, Some(0));
    }
}
