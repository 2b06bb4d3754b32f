//! Rules on rows: every sampled row keeps them, data that breaks them is named, and they outlive saving.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test's panic is its report; test numbers are small"
)]

mod between_columns;
mod between_rows;
mod common;
mod custom;
mod refused;
mod saved;
