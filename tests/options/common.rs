//! Builders of small tables and fits, and plain views of what was sampled.

use parsynth::{Metadata, ParSynthesizer, ParSynthesizerBuilder, SampleOptions, SdType};
use polars::prelude::*;

pub(crate) fn id() -> SdType {
    SdType::Id { regex_format: None }
}

/// Columns in order; `k` is the sequence key and `t` the index, where they occur.
pub(crate) fn metadata(columns: &[(&str, SdType)]) -> Metadata {
    let mut builder = Metadata::builder();
    for (name, sdtype) in columns {
        builder = builder.column(*name, sdtype.clone());
        builder = match *name {
            "k" => builder.sequence_key("k"),
            "t" => builder.sequence_index("t"),
            _ => builder,
        };
    }
    builder.build().unwrap()
}

pub(crate) fn builder(columns: &[(&str, SdType)]) -> ParSynthesizerBuilder {
    ParSynthesizer::builder(metadata(columns))
        .hidden_size(8)
        .threads(1)
        .seed(1)
}

pub(crate) fn sample(model: &ParSynthesizer, sequences: usize) -> DataFrame {
    let options = SampleOptions::sequences(sequences).seed(1).threads(1);
    model.sample_with(&options).unwrap()
}

/// Numbers without a pattern, in 0..1, the same in every run.
pub(crate) fn noise(count: usize) -> Vec<f64> {
    let mut state = 7_u64;
    (0..count)
        .map(|_| {
            // Knuth's linear congruential generator; the upper bits are good enough here.
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        })
        .collect()
}

/// Keys of `sequences` sequences of `rows` rows each.
pub(crate) fn keys(sequences: usize, rows: usize) -> Vec<i64> {
    (0..sequences * rows)
        .map(|row| (row / rows) as i64)
        .collect()
}

pub(crate) fn reals(frame: &DataFrame, column: &str) -> Vec<f64> {
    let column = frame.column(column).unwrap();
    let column = column.cast(&DataType::Float64).unwrap();
    column.f64().unwrap().iter().flatten().collect()
}

pub(crate) fn lengths(frame: &DataFrame) -> Vec<usize> {
    let keys = reals(frame, "k");
    keys.chunk_by(|a, b| a == b).map(<[f64]>::len).collect()
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

pub(crate) fn reloaded(model: &ParSynthesizer) -> (ParSynthesizer, u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.parsynth");
    model.save(&path).unwrap();
    let bytes = std::fs::metadata(&path).unwrap().len();
    (ParSynthesizer::load(&path).unwrap(), bytes)
}

pub(crate) fn numbers() -> [(&'static str, SdType); 3] {
    [
        ("k", id()),
        ("region", SdType::Categorical),
        ("v", SdType::Numerical),
    ]
}

pub(crate) fn numbers_frame() -> DataFrame {
    let regions: Vec<&str> = (0..60).map(|row| ["n", "s"][(row / 6) % 2]).collect();
    df!("k" => keys(10, 6), "region" => regions, "v" => noise(60)).unwrap()
}
