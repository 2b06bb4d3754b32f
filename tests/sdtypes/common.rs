//! Builders of small tables and untrained fits, and views of what was sampled.

use parsynth::{
    Metadata, ParSynthesizer, ParSynthesizerBuilder, PersonalKind, SampleOptions, SdType,
};
use polars::prelude::*;
use std::collections::HashSet;

pub(crate) fn id() -> SdType {
    SdType::Id { regex_format: None }
}

pub(crate) fn id_like(regex: &str) -> SdType {
    SdType::Id {
        regex_format: Some(regex.to_owned()),
    }
}

pub(crate) fn personal(kind: PersonalKind) -> SdType {
    SdType::personal(kind)
}

/// Columns in order, some of them the key.
pub(crate) fn metadata(keys: &[&str], columns: &[(&str, SdType)]) -> Metadata {
    let mut builder = Metadata::builder().sequence_key_columns(keys.iter().copied());
    for (name, sdtype) in columns {
        builder = builder.column(*name, sdtype.clone());
        if *name == "t" {
            builder = builder.sequence_index("t");
        }
    }
    builder.build().unwrap()
}

/// A small network, untrained: what codecs promise holds without training.
pub(crate) fn untrained(metadata: &Metadata) -> ParSynthesizerBuilder {
    ParSynthesizer::builder(metadata.clone())
        .hidden_size(8)
        .threads(1)
        .seed(1)
        .epochs(0)
}

pub(crate) fn sample(synthesizer: &ParSynthesizer, sequences: usize) -> DataFrame {
    let options = SampleOptions::sequences(sequences).seed(5).threads(1);
    synthesizer.sample_with(&options).unwrap()
}

/// Text cells, missing ones as none.
pub(crate) fn texts(frame: &DataFrame, column: &str) -> Vec<Option<String>> {
    let text = frame
        .column(column)
        .unwrap()
        .cast(&DataType::String)
        .unwrap();
    let cells = text.str().unwrap().iter();
    cells.map(|cell| cell.map(str::to_owned)).collect()
}

/// Text cells, none of which is missing.
pub(crate) fn present(frame: &DataFrame, column: &str) -> Vec<String> {
    texts(frame, column)
        .into_iter()
        .map(Option::unwrap)
        .collect()
}

pub(crate) fn distinct(cells: &[String]) -> HashSet<&str> {
    cells.iter().map(String::as_str).collect()
}

/// Each key with its rows, by the key's columns, in order.
pub(crate) fn runs(frame: &DataFrame, keys: &[&str]) -> Vec<(Vec<String>, std::ops::Range<usize>)> {
    let columns: Vec<Vec<String>> = keys.iter().map(|key| present(frame, key)).collect();
    let key = |row: usize| -> Vec<String> { columns.iter().map(|c| c[row].clone()).collect() };
    let mut runs: Vec<(Vec<String>, std::ops::Range<usize>)> = Vec::new();
    for row in 0..frame.height() {
        match runs.last_mut() {
            Some((last, rows)) if *last == key(row) => rows.end = row + 1,
            _ => runs.push((key(row), row..row + 1)),
        }
    }
    runs
}

/// So many sequences of three rows each: the number of each row's sequence.
pub(crate) fn thrice(sequences: usize) -> Vec<usize> {
    (0..sequences).flat_map(|sequence| [sequence; 3]).collect()
}
