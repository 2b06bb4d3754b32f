//! What the tests share: metadata in a line, a generator of numbers, columns as plain vectors.

use parsynth::{Metadata, ParSynthesizer, ParSynthesizerBuilder, SampleOptions, SdType};
use polars::prelude::*;

pub(crate) fn metadata(
    columns: &[(&str, SdType)],
    key: Option<&str>,
    index: Option<&str>,
) -> Metadata {
    let mut builder = Metadata::builder();
    for (name, sdtype) in columns {
        builder = builder.column(*name, sdtype.clone());
    }
    if let Some(key) = key {
        builder = builder.sequence_key(key);
    }
    if let Some(index) = index {
        builder = builder.sequence_index(index);
    }
    builder.build().unwrap()
}

pub(crate) fn id() -> SdType {
    SdType::Id { regex_format: None }
}

pub(crate) fn datetime() -> SdType {
    SdType::Datetime { format: None }
}

/// A seeded fit of columns beside the key `k`, without a sequence index.
pub(crate) fn keyed(columns: &[(&str, SdType)]) -> ParSynthesizerBuilder {
    let mut all = vec![("k", id())];
    all.extend_from_slice(columns);
    ParSynthesizer::builder(metadata(&all, Some("k"), None)).seed(1)
}

/// Seeded sequences of any length.
pub(crate) fn sampled(synthesizer: &ParSynthesizer, sequences: usize) -> DataFrame {
    synthesizer
        .sample_with(&SampleOptions::sequences(sequences).seed(1))
        .unwrap()
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

    /// Standard normal (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// A column as numbers, missing ones left out.
pub(crate) fn numbers(frame: &DataFrame, column: &str) -> Vec<f64> {
    let cast = frame
        .column(column)
        .unwrap()
        .cast(&DataType::Float64)
        .unwrap();
    cast.f64().unwrap().iter().flatten().collect()
}

/// A column as text, missing cells as `None`.
pub(crate) fn texts(frame: &DataFrame, column: &str) -> Vec<Option<String>> {
    let cast = frame
        .column(column)
        .unwrap()
        .cast(&DataType::String)
        .unwrap();
    cast.str()
        .unwrap()
        .iter()
        .map(|text| text.map(str::to_owned))
        .collect()
}

/// Ranges of rows that share a key; sequences come one after another.
pub(crate) fn sequences(frame: &DataFrame, key: &str) -> Vec<std::ops::Range<usize>> {
    let keys = texts(frame, key);
    let mut ranges = Vec::new();
    let mut start = 0;
    for row in 1..=keys.len() {
        if row == keys.len() || keys[row] != keys[start] {
            ranges.push(start..row);
            start = row;
        }
    }
    ranges
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

pub(crate) fn standard_deviation(values: &[f64]) -> f64 {
    let centre = mean(values);
    mean(
        &values
            .iter()
            .map(|value| (value - centre).powi(2))
            .collect::<Vec<_>>(),
    )
    .sqrt()
}

/// The share of values for which a claim holds.
pub(crate) fn share(values: &[f64], claim: impl Fn(f64) -> bool) -> f64 {
    values.iter().filter(|value| claim(**value)).count() as f64 / values.len() as f64
}

pub(crate) fn smallest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

pub(crate) fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The value below which this share of the values lies.
pub(crate) fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() as f64 * share) as usize).min(sorted.len() - 1)]
}

/// Names and dtypes in order.
pub(crate) fn shape(frame: &DataFrame) -> Vec<(String, DataType)> {
    frame
        .columns()
        .iter()
        .map(|column| (column.name().to_string(), column.dtype().clone()))
        .collect()
}

/// An error and all its causes, as a program would print them.
pub(crate) fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
