//! What users of other sequence synthesizers ran into, each as the smallest table that shows it, with the right value.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test's panic is its report"
)]

mod common;
mod context;
mod continuation;
mod index;
mod lengths;
mod sdv;
