//! Values that point to one real sequence.

use std::collections::{HashMap, HashSet};

use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::Serialize;

use crate::evaluation::Comparison;
use crate::rng::Purpose;
use crate::table::{ComparedCells, ComparedTable, MISSING_CODE};

/// Values of a column that one real sequence alone has, and how many of them come out.
///
/// Of a measurement with many digits nearly all values are rare, and some come out by chance alone: the holdout, which
/// knows none of the real sequences, says how many. Synthetic and held-out sequences are equally many here, else the
/// larger table would find more.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RareValues {
    /// Name of the column.
    pub column: String,
    /// Values that one real sequence alone has.
    pub rare: usize,
    /// Different values of the real column.
    pub values: usize,
    /// Share of the rare values that come out in the synthetic sequences looked at, in [0, 1].
    pub leaked: f64,
    /// Share of the rare values that the held-out sequences have too, in [0, 1].
    pub in_holdout: Option<f64>,
}

pub(super) fn rare_values(comparison: &Comparison) -> Vec<RareValues> {
    let synthetic = comparison.synthetic.sequences();
    let looked_at = comparison
        .holdout
        .as_ref()
        .map_or(synthetic, |holdout| holdout.sequences().min(synthetic));
    let mut order: Vec<usize> = (0..synthetic).collect();
    if looked_at < synthetic {
        order.shuffle(
            &mut comparison
                .seed
                .numbered_stream(Purpose::EvaluationSubsample, 1),
        );
    }
    order.truncate(looked_at);
    (0..comparison.columns.len())
        .into_par_iter()
        .filter(|&column| {
            comparison.columns[column].is_number() || comparison.columns[column].is_category()
        })
        .filter_map(|column| {
            let mut owners: HashMap<u64, Option<usize>> = HashMap::new();
            for (sequence, range) in comparison.real.ranges().enumerate() {
                for value in range.filter_map(|row| value(&comparison.real, column, row)) {
                    let owner = owners.entry(value).or_insert(Some(sequence));
                    if *owner != Some(sequence) {
                        *owner = None;
                    }
                }
            }
            let rare: HashSet<u64> = owners
                .iter()
                .filter(|(_, owner)| owner.is_some())
                .map(|(value, _)| *value)
                .collect();
            if rare.is_empty() {
                return None;
            }
            let found = |table: &ComparedTable, sequences: &mut dyn Iterator<Item = usize>| {
                let rows = sequences.flat_map(|at| table.offsets[at]..table.offsets[at + 1]);
                let values: HashSet<u64> = rows
                    .filter_map(|row| value(table, column, row))
                    .filter(|value| rare.contains(value))
                    .collect();
                values.len() as f64 / rare.len() as f64
            };
            Some(RareValues {
                column: comparison.columns[column].name.clone(),
                rare: rare.len(),
                values: owners.len(),
                leaked: found(&comparison.synthetic, &mut order.iter().copied()),
                in_holdout: comparison
                    .holdout
                    .as_ref()
                    .map(|holdout| found(holdout, &mut (0..holdout.sequences().min(looked_at)))),
            })
        })
        .collect()
}

fn value(table: &ComparedTable, column: usize, row: usize) -> Option<u64> {
    match &table.columns[column] {
        ComparedCells::Numbers(numbers) if numbers[row].is_nan() => None,
        ComparedCells::Numbers(numbers) => Some((numbers[row] + 0.0).to_bits()),
        ComparedCells::Codes(codes) if codes[row] == MISSING_CODE => None,
        ComparedCells::Codes(codes) => Some(codes[row].into()),
    }
}
