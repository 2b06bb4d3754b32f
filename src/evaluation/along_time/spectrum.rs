//! Mean periodograms of sequences.

use rayon::prelude::*;
use realfft::RealFftPlanner;

use super::Spectrum;
use crate::evaluation::Comparison;
use crate::table::ComparedTable;

const BINS: usize = 16;
/// Sequences looked at in each table, evenly spread over all.
const MOST_SEQUENCES: usize = 2_000;
/// Rows looked at of each sequence, from its start.
const MOST_ROWS: usize = 4_096;
/// Shorter sequences have too few frequencies.
const FEWEST_ROWS: usize = 8;

pub(super) fn spectra(comparison: &Comparison, numbers: &[usize]) -> Vec<Spectrum> {
    numbers
        .par_iter()
        .filter_map(|&column| {
            let real = spectrum(&comparison.real, column)?;
            let synthetic = spectrum(&comparison.synthetic, column)?;
            let differences = real
                .iter()
                .zip(&synthetic)
                .map(|(real, synthetic)| (real - synthetic).abs());
            Some(Spectrum {
                column: comparison.columns[column].name.clone(),
                score: 1.0 - differences.sum::<f64>() / 2.0,
                frequencies: (1..=BINS)
                    .map(|bin| bin as f64 / (2 * BINS) as f64)
                    .collect(),
                real,
                synthetic,
            })
        })
        .collect()
}

/// `None` where no sequence is long enough and varies.
fn spectrum(table: &ComparedTable, column: usize) -> Option<Vec<f64>> {
    let numbers = table.columns[column].numbers()?;
    let long: Vec<_> = table
        .ranges()
        .filter(|range| range.len() >= FEWEST_ROWS)
        .collect();
    let every = long.len().div_ceil(MOST_SEQUENCES).max(1);
    let mut planner = RealFftPlanner::<f64>::new();
    let (mut sum, mut sequences) = (vec![0.0; BINS], 0.0);
    for range in long.into_iter().step_by(every) {
        let end = range.end.min(range.start + MOST_ROWS);
        let Some(shares) = periodogram(&numbers[range.start..end], &mut planner) else {
            continue;
        };
        sequences += 1.0;
        for (sum, share) in sum.iter_mut().zip(shares) {
            *sum += share;
        }
    }
    (sequences > 0.0).then(|| sum.into_iter().map(|sum| sum / sequences).collect())
}

/// Shares of the bins of frequency in one sequence; a missing cell stands at the mean. `None` where it does not vary.
fn periodogram(cells: &[f64], planner: &mut RealFftPlanner<f64>) -> Option<Vec<f64>> {
    let scale = cells
        .iter()
        .fold(0.0, |scale: f64, cell| scale.max(cell.abs()));
    if scale == 0.0 {
        return None;
    }
    let present = || {
        cells
            .iter()
            .filter(|cell| !cell.is_nan())
            .map(|cell| cell / scale)
    };
    let mean = present().sum::<f64>() / present().count() as f64;
    let mut input: Vec<f64> = cells
        .iter()
        .map(|cell| {
            if cell.is_nan() {
                0.0
            } else {
                cell / scale - mean
            }
        })
        .collect();
    if input.iter().all(|cell| cell.abs() < 1e-12) {
        return None;
    }
    let transform = planner.plan_fft_forward(input.len());
    let mut output = transform.make_output_vec();
    transform.process(&mut input, &mut output).ok()?;
    let mut shares = vec![0.0; BINS];
    for (step, value) in output.iter().enumerate().skip(1) {
        // Frequency `step / rows` lies in (0, 0.5]; bins hold their upper limit.
        let bin = (step * 2 * BINS).div_ceil(cells.len()).clamp(1, BINS) - 1;
        shares[bin] += value.norm_sqr();
    }
    let total: f64 = shares.iter().sum();
    (total > 0.0).then(|| shares.into_iter().map(|share| share / total).collect())
}
