//! The evaluation, through the public API.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

mod golden;
mod pictures;
mod sound;
