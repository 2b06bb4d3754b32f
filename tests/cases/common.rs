//! Builders of small tables and fits, and plain views of what was sampled.

use parsynth::{Metadata, ParSynthesizer, ParSynthesizerBuilder, SampleOptions, SdType};
use polars::prelude::*;
use std::ops::Range;

pub(crate) const DAY_MILLISECONDS: i64 = 86_400_000;
pub(crate) const HOUR_MILLISECONDS: i64 = 3_600_000;

pub(crate) fn id() -> SdType {
    SdType::Id { regex_format: None }
}

pub(crate) fn datetime() -> SdType {
    SdType::Datetime { format: None }
}

pub(crate) fn datetime_as(format: &str) -> SdType {
    SdType::Datetime {
        format: Some(format.to_owned()),
    }
}

/// Columns in order; the one called `k` is the sequence key, the one called `t` the index, where they occur.
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

/// A small network, untrained unless the test says otherwise: what codecs promise holds without training.
pub(crate) fn untrained(columns: &[(&str, SdType)]) -> ParSynthesizerBuilder {
    ParSynthesizer::builder(metadata(columns))
        .hidden_size(8)
        .threads(1)
        .seed(1)
        .epochs(0)
}

pub(crate) fn sample(synthesizer: &ParSynthesizer, options: SampleOptions) -> DataFrame {
    synthesizer
        .sample_with(&options.seed(1).threads(1))
        .unwrap()
}

/// Keys `K0`, `K1`, ..., each repeated for its rows.
pub(crate) fn keys(lengths: &[usize]) -> Vec<String> {
    lengths
        .iter()
        .enumerate()
        .flat_map(|(number, &length)| std::iter::repeat_n(format!("K{number}"), length))
        .collect()
}

/// Days since 1970 as a Date column.
pub(crate) fn dates(days: &[i32]) -> Series {
    Series::new("".into(), days).cast(&DataType::Date).unwrap()
}

/// Raw values as a Datetime column.
pub(crate) fn moments(raw: &[i64], unit: TimeUnit, zone: Option<&str>) -> Series {
    let zone = TimeZone::opt_try_new(zone).unwrap();
    Series::new("".into(), raw)
        .cast(&DataType::Datetime(unit, zone))
        .unwrap()
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

/// Whole numbers of a column, dates as their raw values; panics on a null.
pub(crate) fn wholes(frame: &DataFrame, column: &str) -> Vec<i64> {
    let column = frame.column(column).unwrap();
    let column = column.cast(&DataType::Int64).unwrap();
    column.i64().unwrap().iter().map(Option::unwrap).collect()
}

pub(crate) fn reals(frame: &DataFrame, column: &str) -> Vec<Option<f64>> {
    let column = frame.column(column).unwrap();
    let column = column.cast(&DataType::Float64).unwrap();
    column.f64().unwrap().iter().collect()
}

pub(crate) fn texts(frame: &DataFrame, column: &str) -> Vec<Option<String>> {
    let column = frame.column(column).unwrap();
    let column = column.cast(&DataType::String).unwrap();
    let cells = column.str().unwrap();
    cells.iter().map(|cell| cell.map(str::to_owned)).collect()
}

pub(crate) fn nulls(frame: &DataFrame, column: &str) -> usize {
    frame.column(column).unwrap().null_count()
}

/// The rows of each sequence; panics when a key comes back after another.
pub(crate) fn sequences(frame: &DataFrame) -> Vec<Range<usize>> {
    let keys = texts(frame, "k");
    let mut sequences: Vec<Range<usize>> = Vec::new();
    for (row, key) in keys.iter().enumerate() {
        match sequences.last_mut() {
            Some(rows) if keys[rows.start] == *key => rows.end = row + 1,
            _ => sequences.push(row..row + 1),
        }
    }
    let mut distinct: Vec<_> = sequences.iter().map(|rows| &keys[rows.start]).collect();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(
        distinct.len(),
        sequences.len(),
        "a key occurs in two places"
    );
    sequences
}

/// Rows of each sequence.
pub(crate) fn lengths(frame: &DataFrame) -> Vec<usize> {
    sequences(frame)
        .iter()
        .map(ExactSizeIterator::len)
        .collect()
}

/// Differences between neighbouring rows of one sequence, of all sequences.
pub(crate) fn gaps(frame: &DataFrame, column: &str) -> Vec<i64> {
    let values = wholes(frame, column);
    sequences(frame)
        .into_iter()
        .flat_map(|rows| {
            values[rows]
                .windows(2)
                .map(|pair| pair[1] - pair[0])
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Whether every sequence has one value in this column.
pub(crate) fn is_constant_per_sequence(frame: &DataFrame, column: &str) -> bool {
    let values = texts(frame, column);
    sequences(frame).into_iter().all(|rows| {
        values[rows.clone()]
            .iter()
            .all(|v| *v == values[rows.start])
    })
}

/// The value of this column in each sequence's first row.
pub(crate) fn first_texts(frame: &DataFrame, column: &str) -> Vec<Option<String>> {
    let values = texts(frame, column);
    sequences(frame)
        .into_iter()
        .map(|rows| values[rows.start].clone())
        .collect()
}
