//! Tables with planted faults.

use parsynth::{EvaluationOptions, EvaluationReport, Metadata, SdType, evaluate_with};
use polars::prelude::*;
use rand::rngs::ChaCha12Rng;
use rand::{RngExt, SeedableRng};

pub(crate) fn id() -> SdType {
    SdType::Id { regex_format: None }
}

/// Key `k`, index `t`, a number `x`, a category `c`, and a context column `g`.
pub(crate) fn metadata() -> Metadata {
    Metadata::builder()
        .column("k", id())
        .column("t", SdType::Numerical)
        .column("g", SdType::Categorical)
        .column("x", SdType::Numerical)
        .column("c", SdType::Categorical)
        .sequence_key("k")
        .sequence_index("t")
        .build()
        .unwrap()
}

/// Rows of sequences.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rows {
    pub(crate) keys: Vec<String>,
    pub(crate) times: Vec<i64>,
    pub(crate) groups: Vec<String>,
    pub(crate) numbers: Vec<f64>,
    pub(crate) states: Vec<String>,
}

impl Rows {
    pub(crate) fn frame(&self) -> DataFrame {
        df!("k" => &self.keys, "t" => &self.times, "g" => &self.groups, "x" => &self.numbers, "c" => &self.states)
            .unwrap()
    }

    /// Rows `from` and on change places as told, times stay: same values, another order in time.
    pub(crate) fn shuffled_in_time(&self, seed: u64) -> Rows {
        let mut generator = ChaCha12Rng::seed_from_u64(seed);
        let mut rows = self.clone();
        let mut start = 0;
        while start < rows.keys.len() {
            let end = (start..rows.keys.len()).find(|&row| rows.keys[row] != rows.keys[start]);
            let end = end.unwrap_or(rows.keys.len());
            for row in (start + 1..end).rev() {
                let other = generator.random_range(start..=row);
                rows.numbers.swap(row, other);
                rows.states.swap(row, other);
            }
            start = end;
        }
        rows
    }
}

/// Autoregressive numbers that keep `memory` of the row before, and states that stay with the same chance.
pub(crate) fn sequences(count: usize, memory: f64, seed: u64) -> Rows {
    let mut generator = ChaCha12Rng::seed_from_u64(seed);
    let mut rows = Rows::default();
    for sequence in 0..count {
        let length = generator.random_range(8..20);
        let group = ["north", "south"][generator.random_range(0..2)];
        let (mut time, mut number, mut state) = (0, generator.random_range(-1.0..1.0), 0);
        for _ in 0..length {
            rows.keys.push(format!("{seed}-{sequence}"));
            rows.times.push(time);
            rows.groups.push(group.to_owned());
            rows.numbers.push(f64::round(number * 1e4) / 1e4);
            rows.states.push(["calm", "busy", "down"][state].to_owned());
            time += generator.random_range(1..4);
            number = memory * number
                + (1.0 - memory * memory).sqrt() * generator.random_range(-1.7..1.7);
            if generator.random::<f64>() > memory {
                state = generator.random_range(0..3);
            }
        }
    }
    rows
}

pub(crate) fn evaluated(real: &Rows, synthetic: &Rows, holdout: Option<&Rows>) -> EvaluationReport {
    let options = EvaluationOptions::new().context_columns(["g"]).seed(1);
    let holdout = holdout.map(Rows::frame);
    evaluate_with(
        &real.frame(),
        &synthetic.frame(),
        holdout.as_ref(),
        &metadata(),
        &options,
    )
    .unwrap()
}
