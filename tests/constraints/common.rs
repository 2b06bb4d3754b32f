//! Tables that keep rules, and columns as plain vectors.

use parsynth::{Constraint, Metadata, ParSynthesizer, SampleOptions, SdType};
use polars::prelude::*;

pub(crate) fn id() -> SdType {
    SdType::Id { regex_format: None }
}

pub(crate) fn datetime() -> SdType {
    SdType::Datetime { format: None }
}

/// A seeded, barely trained fit: rules must hold whatever the network says.
pub(crate) fn fitted(
    columns: &[(&str, SdType)],
    index: Option<&str>,
    context: &[&str],
    constraints: Vec<Constraint>,
    data: &DataFrame,
) -> parsynth::Result<ParSynthesizer> {
    let mut builder = Metadata::builder().column("k", id()).sequence_key("k");
    for (name, sdtype) in columns {
        builder = builder.column(*name, sdtype.clone());
    }
    if let Some(index) = index {
        builder = builder.sequence_index(index);
    }
    ParSynthesizer::builder(builder.build()?)
        .context_columns(context.iter().copied())
        .constraints(constraints)
        .epochs(1)
        .seed(5)
        .fit(data)
}

pub(crate) fn sampled(synthesizer: &ParSynthesizer, sequences: usize) -> DataFrame {
    let options = SampleOptions::sequences(sequences).seed(9);
    synthesizer.sample_with(&options).unwrap()
}

/// A column as numbers, NaN where missing.
pub(crate) fn numbers(frame: &DataFrame, column: &str) -> Vec<f64> {
    let cast = frame
        .column(column)
        .unwrap()
        .cast(&DataType::Float64)
        .unwrap();
    let cells = cast.f64().unwrap().iter();
    cells.map(|cell| cell.unwrap_or(f64::NAN)).collect()
}

pub(crate) fn texts(frame: &DataFrame, column: &str) -> Vec<String> {
    let cast = frame
        .column(column)
        .unwrap()
        .cast(&DataType::String)
        .unwrap();
    let cells = cast.str().unwrap().iter();
    cells
        .map(|cell| cell.unwrap_or("missing").to_owned())
        .collect()
}

/// The rows of each sequence, in order, by the key `k`.
pub(crate) fn sequences(frame: &DataFrame) -> Vec<std::ops::Range<usize>> {
    let keys = texts(frame, "k");
    let mut ranges = Vec::new();
    let mut first = 0;
    for row in 1..=keys.len() {
        if row == keys.len() || keys[row] != keys[first] {
            ranges.push(first..row);
            first = row;
        }
    }
    ranges
}

/// Knuth's 64-bit linear congruential generator: the same numbers on every machine.
pub(crate) struct Generator(pub(crate) u64);

impl Generator {
    /// Uniform on `0.0..1.0`.
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A whole number of `0..n`.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        (self.uniform() * f64::from(n)) as u32
    }
}

/// A number to two decimals.
pub(crate) fn cents(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
