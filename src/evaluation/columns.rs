//! One column at a time: how its values are distributed.

use serde::Serialize;

use super::Comparison;

/// One column at a time: how its values are distributed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ColumnReport {}

pub(super) fn columns(_comparison: &Comparison) -> ColumnReport {
    ColumnReport {}
}
