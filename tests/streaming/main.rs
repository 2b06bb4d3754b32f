//! Tables that come in parts, in ranges and into files are the table that is made in one go.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test's panic is its report"
)]

mod cancel;
mod common;
mod files;
mod parts;
mod ranges;
