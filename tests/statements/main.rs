//! What a user states about a table is checked, what files hold comes back, what training did is told.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test's panic is its report"
)]

mod common;
mod metadata;
