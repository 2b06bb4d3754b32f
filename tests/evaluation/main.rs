//! The evaluation, through the public API.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

mod common;
mod golden;
mod pictures;
mod privacy;
mod report;
mod sound;
mod time;
