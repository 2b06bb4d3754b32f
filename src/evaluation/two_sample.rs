//! Whether a classifier can tell synthetic sequences from real ones.

use serde::Serialize;

use super::Comparison;

/// Whether a classifier can tell synthetic sequences from real ones.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TwoSampleReport {}

pub(super) fn two_sample(_comparison: &Comparison) -> TwoSampleReport {
    TwoSampleReport {}
}
