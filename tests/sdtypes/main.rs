//! Every sdtype that users state: personal data, keys of several columns, durations, ids.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test's panic is its report"
)]

mod common;
mod durations;
mod ids;
mod keys;
mod personal;
