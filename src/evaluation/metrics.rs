//! The metrics themselves, on plain slices: a table's columns in, a score out.
//!
//! Each equals its namesake in SDMetrics 0.32.0 to 1e-9, so that scores can be held against published ones; where
//! that raises an error or gives NaN, the score here is `None`. Scores lie in `[0, 1]`, 1 best, and never depend on the
//! number of threads.
//!
//! Numbers are `&[f64]` with NaN where a cell is missing, and dates numbers of any unit; categories are
//! `&[Option<T>]` of anything that can be told apart. Of slices that belong together, such as the two columns of a
//! pair, the shortest says how many rows there are.
//!
//! ```
//! use parsynth::evaluation::metrics::{ks_complement, tv_complement};
//! let real = [1.0, 2.0, 3.0, f64::NAN];
//! assert_eq!(ks_complement(&real, &[1.0, 2.0, 3.0]), Some(1.0));
//! assert_eq!(ks_complement(&real, &[f64::NAN]), None);
//! assert_eq!(tv_complement(&[Some("a"), Some("b")], &[Some("a"), None]), Some(0.5));
//! ```

mod categories;
mod closest;
mod numbers;
mod pairs;
mod rows;
mod sequences;
#[cfg(test)]
mod tests;

pub use categories::{category_adherence, category_coverage, tv_complement};
pub use closest::{
    BaselineProtection, OverfittingProtection, dcr_baseline_protection, dcr_overfitting_protection,
    distance_to_closest_record,
};
pub use numbers::{
    Statistic, boundary_adherence, ks_complement, missing_value_similarity, range_coverage,
    statistic_similarity,
};
pub use pairs::{
    Coefficient, contingency_similarity, correlation, correlation_similarity, cramers_v, discretize,
};
pub use rows::{TableColumn, new_row_synthesis};
pub use sequences::{inter_row_msas, sequence_length_similarity, statistic_msas};

pub(super) use categories::{Tally, adherence_of, coverage_of, tv_of};
pub(super) use numbers::{
    extremes, finite, ks_of_sorted, mean, quantile, similarity_of_shares, spread,
    to_fourteen_decimals,
};
pub(super) use pairs::{
    CodePair, PairCounts, ascending, complement_of_variation, digitize, even_edges, gapped_pearson,
    product, ranks_in, standardized,
};
pub(super) use sequences::{statistic_of_each, steps_of_each};

/// What can be missing: NaN of numbers, `None` of categories.
pub trait Cell {
    /// Whether nothing is known of it.
    fn is_missing(&self) -> bool;
}

impl Cell for f64 {
    fn is_missing(&self) -> bool {
        self.is_nan()
    }
}

impl<T> Cell for Option<T> {
    fn is_missing(&self) -> bool {
        self.is_none()
    }
}
