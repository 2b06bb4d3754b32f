//! Lengths, summaries and steps of sequences.

use serde::Serialize;

use super::Comparison;

/// Lengths, summaries and steps of sequences.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SequenceReport {}

pub(super) fn sequences(_comparison: &Comparison) -> SequenceReport {
    SequenceReport {}
}
