//! Builders of small tables and tiny fits, and views of what was sampled.

use parsynth::{Metadata, ParSynthesizer, ParSynthesizerBuilder, SampleOptions, SdType};
use polars::prelude::*;

pub(crate) fn id() -> SdType {
    SdType::Id { regex_format: None }
}

pub(crate) fn datetime() -> SdType {
    SdType::Datetime { format: None }
}

pub(crate) fn dated(format: &str) -> SdType {
    SdType::Datetime {
        format: Some(format.to_owned()),
    }
}

pub(crate) fn metadata(columns: &[(&str, SdType)]) -> Metadata {
    let mut builder = Metadata::builder().column("k", id()).sequence_key("k");
    for (name, sdtype) in columns {
        builder = builder.column(*name, sdtype.clone());
        if *name == "t" {
            builder = builder.sequence_index("t");
        }
    }
    builder.build().unwrap()
}

pub(crate) fn tiny(metadata: &Metadata, epochs: usize) -> ParSynthesizerBuilder {
    ParSynthesizer::builder(metadata.clone())
        .hidden_size(8)
        .epochs(epochs)
        .threads(1)
        .seed(3)
}

pub(crate) fn fit(frame: &DataFrame, metadata: &Metadata, epochs: usize) -> ParSynthesizer {
    tiny(metadata, epochs).fit(frame).unwrap()
}

pub(crate) fn sample(synthesizer: &ParSynthesizer, sequences: usize) -> DataFrame {
    synthesizer
        .sample_with(&SampleOptions::sequences(sequences).seed(5).threads(1))
        .unwrap()
}

pub(crate) fn sample_of_length(
    synthesizer: &ParSynthesizer,
    sequences: usize,
    length: usize,
) -> DataFrame {
    let options = SampleOptions::sequences(sequences).length(length);
    synthesizer
        .sample_with(&options.seed(5).threads(1))
        .unwrap()
}

pub(crate) fn keys(lengths: &[usize]) -> Column {
    let keys: Vec<String> = lengths
        .iter()
        .enumerate()
        .flat_map(|(number, &length)| std::iter::repeat_n(format!("key-{number:03}"), length))
        .collect();
    Column::new("k".into(), keys)
}

pub(crate) fn frame(columns: Vec<Column>) -> DataFrame {
    DataFrame::new_infer_height(columns).unwrap()
}

pub(crate) fn wholes(frame: &DataFrame, column: &str) -> Vec<i64> {
    let cells = frame.column(column).unwrap().to_physical_repr();
    let cells = cells.cast(&DataType::Int64).unwrap();
    let cells: Vec<Option<i64>> = cells.i64().unwrap().iter().collect();
    cells
        .into_iter()
        .map(|cell| cell.expect("no missing cell"))
        .collect()
}

pub(crate) fn reals(frame: &DataFrame, column: &str) -> Vec<Option<f64>> {
    let cells = frame.column(column).unwrap().cast(&DataType::Float64);
    cells.unwrap().f64().unwrap().iter().collect()
}

pub(crate) fn present(frame: &DataFrame, column: &str) -> Vec<f64> {
    reals(frame, column).into_iter().flatten().collect()
}

pub(crate) fn texts(frame: &DataFrame, column: &str) -> Vec<Option<String>> {
    let cells = frame.column(column).unwrap().cast(&DataType::String);
    let cells = cells.unwrap();
    cells
        .str()
        .unwrap()
        .iter()
        .map(|cell| cell.map(str::to_owned))
        .collect()
}

pub(crate) fn distinct(frame: &DataFrame, column: &str) -> Vec<Option<String>> {
    let mut cells = texts(frame, column);
    cells.sort();
    cells.dedup();
    cells
}

pub(crate) fn sequences(frame: &DataFrame) -> Vec<std::ops::Range<usize>> {
    let keys = texts(frame, "k");
    let mut at = 0;
    keys.chunk_by(|left, right| left == right)
        .map(|run| {
            at += run.len();
            at - run.len()..at
        })
        .collect()
}

pub(crate) fn gaps(frame: &DataFrame) -> Vec<Vec<i64>> {
    let cells = wholes(frame, "t");
    sequences(frame)
        .into_iter()
        .map(|rows| {
            cells[rows]
                .windows(2)
                .map(|pair| pair[1] - pair[0])
                .collect()
        })
        .collect()
}

pub(crate) fn shape(frame: &DataFrame) -> Vec<(String, DataType)> {
    frame
        .columns()
        .iter()
        .map(|column| (column.name().to_string(), column.dtype().clone()))
        .collect()
}

pub(crate) fn assert_same(left: &DataFrame, right: &DataFrame) {
    assert!(left.equals_missing(right), "{left}\n{right}");
}

pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut state = self.0;
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^ (state >> 31)
    }

    /// In `0.0..1.0`.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal (Box and Muller 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
