//! What can be asked of sampling: values of context columns, lengths, an end, missing cells filled, repeatable calls.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test's panic is its report"
)]

mod candidates;
#[path = "../cases/common.rs"]
#[allow(dead_code, reason = "the other tests' builders, some of them")]
mod common;
mod conditions;
mod end;
mod impute;
mod known_cells;
mod lengths;
mod rules;
mod seeds;
mod temperature;
