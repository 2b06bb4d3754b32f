//! SDMetrics' diagnostic report: data validity and data structure.

use serde::Serialize;

use super::Comparison;

/// SDMetrics' diagnostic report: data validity and data structure.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiagnosticReport {}

pub(super) fn diagnostic(_comparison: &Comparison) -> DiagnosticReport {
    DiagnosticReport {}
}
