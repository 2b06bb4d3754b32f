//! Whether real sequences shine through: copies, closeness, rare values, membership.

use serde::Serialize;

use super::Comparison;

/// Whether real sequences shine through: copies, closeness, rare values, membership.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PrivacyReport {}

pub(super) fn privacy(_comparison: &Comparison) -> PrivacyReport {
    PrivacyReport {}
}
