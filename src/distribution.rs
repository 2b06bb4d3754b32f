//! Which distribution a column of numbers is learned with, and why a wish for one is refused.

use crate::metadata::did_you_mean;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Bins of one column.
pub(crate) const BINS: RangeInclusive<usize> = 2..=1_000;
/// Counts are summed up one by one.
pub(crate) const LARGEST_COUNT: f64 = 1e6;

/// How a column of numbers is learned, see
/// [`ParSynthesizerBuilder::numerical_distribution`](crate::ParSynthesizerBuilder::numerical_distribution).
///
/// All four keep missing cells, and, where more than 5 % of the rows repeat the row before, "as before" as a class of
/// its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NumericalDistribution {
    /// The default, which finds out by itself: values that recur are told exactly, all others lie on the scale of the
    /// column's own distribution, on which a mixture of logistics is learned for each row; where the change from the
    /// row before is easier to tell than the value, the change is learned.
    #[default]
    Learned,
    /// So many bins, `2..=1_000`, of about as many rows each; which bin comes next is learned like a category, and
    /// values are uniform between the smallest and the largest value seen in it. A value that fills a bin alone comes
    /// out exactly. Coarse, and robust: use it for a column of which any other scale makes no sense.
    Bins(usize),
    /// The logarithm is learned, so that steps from row to row are ratios, and values beyond those seen go on by ratios
    /// too and never fall to zero: prices, incomes, concentrations. For values that are not negative; zero is told
    /// exactly. Within the range seen the default finds such a scale by itself; the difference is beyond it, where
    /// [`enforce_min_max_values`](crate::ParSynthesizerBuilder::enforce_min_max_values) is off.
    Logarithmic,
    /// Whole numbers from 0 to 1,000,000 that count something: events, visits, items. Each is the interval of half a
    /// count around it on the scale of the negative binomial distribution that has the column's mean and variance
    /// (Poisson, where the variance is not the larger), and what is learned for each row is a mixture on that scale.
    /// No count is told exactly: those between and (without
    /// [`enforce_min_max_values`](crate::ParSynthesizerBuilder::enforce_min_max_values)) beyond the ones seen come out
    /// as often as the distribution says.
    ///
    /// Use it where a small count varies at random. Of 400 sequences of 8 counts around 3 it gives rows that were held
    /// out 0.08 nats more than the default, around 40 neither is better, and on counts that hardly change from row to
    /// row, as the customers of one store by day, it gives 0.5 nats less than the default, which learns the change.
    Counts,
}

impl std::fmt::Display for NumericalDistribution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NumericalDistribution::Learned => f.write_str("learned"),
            NumericalDistribution::Bins(bins) => write!(f, "bins({bins})"),
            NumericalDistribution::Logarithmic => f.write_str("logarithmic"),
            NumericalDistribution::Counts => f.write_str("counts"),
        }
    }
}

/// Why a column cannot have the distribution that was asked for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DistributionError {
    /// There is no such column.
    #[error("numerical_distribution: column `{column}` is not a column{}", did_you_mean(.nearest.as_deref()))]
    UnknownColumn {
        /// The name given.
        column: String,
        /// A column of nearly that name.
        nearest: Option<String>,
    },
    /// The column's values are not learned as numbers.
    #[error(
        "numerical_distribution: column `{column}` is {found}; wanted is a numerical column that is neither key nor index"
    )]
    NotNumerical {
        /// The column.
        column: String,
        /// Its role, or its sdtype.
        found: String,
    },
    /// A value that the distribution does not have.
    #[error(
        "column `{column}`, row {row}: the value cannot come from {distribution}, which has {wanted}; choose another distribution, or leave it to the default"
    )]
    Value {
        /// The column.
        column: String,
        /// The row, from 0.
        row: usize,
        /// The distribution asked for.
        distribution: NumericalDistribution,
        /// The values that it has.
        wanted: &'static str,
    },
}
