//! Rows of random cells within what the real table holds: the baseline of `DCRBaselineProtection`.

use rand::rngs::ChaCha12Rng;

use super::super::super::Comparison;
use super::super::super::metrics::extremes;
use super::{Cells, Rows, compared};
use crate::rng::{below, uniform};
use crate::table::{ComparedCells, MISSING_CODE};

/// Each cell on its own: numbers uniform within the real range, whole where the real ones are; categories uniform over
/// those that occur; missing as often as in the real column.
pub(super) fn random_rows(
    comparison: &Comparison,
    count: usize,
    generator: &mut ChaCha12Rng,
) -> Rows {
    let cells = compared(comparison).into_iter();
    Rows {
        cells: cells
            .map(|column| match &comparison.real.columns[column] {
                ComparedCells::Numbers(numbers) => {
                    Cells::Numbers(random_numbers(numbers, count, generator))
                }
                ComparedCells::Codes(codes) => {
                    Cells::Categories(random_codes(codes, count, generator))
                }
            })
            .collect(),
    }
}

fn random_numbers(real: &[f64], count: usize, generator: &mut ChaCha12Rng) -> Vec<f64> {
    let Some((low, high)) = extremes(real) else {
        return vec![f64::NAN; count];
    };
    let missing = real.iter().filter(|cell| cell.is_nan()).count() as f64 / real.len() as f64;
    let whole = real.iter().all(|cell| cell.is_nan() || cell.fract() == 0.0);
    let draw = |_| {
        let part = uniform(generator);
        let cell = if whole {
            (low + part * (high - low + 1.0)).floor().min(high)
        } else {
            low * (1.0 - part) + high * part
        };
        if uniform(generator) < missing {
            f64::NAN
        } else {
            cell
        }
    };
    (0..count).map(draw).collect()
}

fn random_codes(real: &[u32], count: usize, generator: &mut ChaCha12Rng) -> Vec<Option<u32>> {
    let mut present: Vec<u32> = real
        .iter()
        .copied()
        .filter(|&code| code != MISSING_CODE)
        .collect();
    let missing = (real.len() - present.len()) as f64 / real.len() as f64;
    present.sort_unstable();
    present.dedup();
    let draw = |_| {
        let code = present.get(below(generator, present.len())).copied();
        code.filter(|_| uniform(generator) >= missing)
    };
    (0..count).map(draw).collect()
}
