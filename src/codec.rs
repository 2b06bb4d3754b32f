//! Column codecs: what is learned about each column, and both directions through it, on plain slices.

pub(crate) mod calendar;
pub(crate) mod identifier;
mod normal;
pub(crate) mod number;
pub(crate) mod personal;
pub(crate) mod spread;
