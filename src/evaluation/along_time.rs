//! How values follow each other: correlations along time, transitions, gaps, spectra, first and last rows.

use serde::Serialize;

use super::Comparison;

/// How values follow each other: correlations along time, transitions, gaps, spectra, first and last rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AlongTimeReport {}

pub(super) fn along_time(_comparison: &Comparison) -> AlongTimeReport {
    AlongTimeReport {}
}
