//! Train on synthetic, test on real: how well the next row can be foretold.

use serde::Serialize;

use super::Comparison;

/// Train on synthetic, test on real: how well the next row can be foretold.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NextRowReport {}

pub(super) fn next_row(_comparison: &Comparison) -> NextRowReport {
    NextRowReport {}
}
