//! What a fit's options do, and what a fitted model says of itself.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test's panic is its report; its numbers are small"
)]

mod common;
mod distributions;
mod inspection;
mod mapped;
mod parquet;
mod rounding;
mod segments;
mod training;
