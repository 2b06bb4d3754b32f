//! SDMetrics' quality report: column shapes and column pair trends.

use serde::Serialize;

use super::Comparison;

/// SDMetrics' quality report: column shapes and column pair trends.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QualityReport {}

pub(super) fn quality(_comparison: &Comparison) -> QualityReport {
    QualityReport {}
}
