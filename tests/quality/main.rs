//! Whole-path tests through the public API: each is named after a trouble that users of sequence synthesizers meet,
//! and states the right value.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test's panic is its report, and its numbers are small"
)]

mod categories;
mod common;
mod identifiers;
mod likelihood;
mod missing;
mod numbers;
mod properties;
mod reproducibility;
