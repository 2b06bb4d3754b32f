//! How values follow each other: correlations along time, transitions, spectra, first and last rows.
//! In: tables side by side. Out: [`AlongTimeReport`], bounded in size whatever the number of rows and categories.
//! Lengths, gaps and summaries of sequences are in [`SequenceReport`](super::SequenceReport).

mod correlation;
mod rows;
mod spectrum;

use rayon::prelude::*;
use serde::Serialize;

use super::Comparison;
use correlation::Deviations;

pub use rows::{ContextChange, EndRow, IndexRise, Transitions};

/// Rows apart, at most, in autocorrelations; no more than half the longest real sequence.
const MOST_LAGS: usize = 24;
/// Rows apart, at most, in cross-correlations, both ways.
const CROSS_LAGS: usize = 5;
/// Columns that are correlated with each other; the first of the table, when there are more.
const CROSS_COLUMNS: usize = 12;

/// How values follow each other along their sequences. Columns that belong to the rows are looked at, the sequence
/// index among them; context columns are not, but for `context_changes`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AlongTimeReport {
    /// 1 less the difference of the autocorrelations at lag 1, a mean over the columns; [0, 1], 1 best.
    pub autocorrelation_score: Option<f64>,
    /// 1 less the difference of the cross-correlations, a mean over pairs and lags; [0, 1], 1 best.
    pub cross_correlation_score: Option<f64>,
    /// Mean `score` of `transitions`; [0, 1], 1 best.
    pub transition_score: Option<f64>,
    /// Mean `score` of `spectra`; [0, 1], 1 best.
    pub spectrum_score: Option<f64>,
    /// Mean score of the first rows of sequences over the columns; [0, 1], 1 best.
    pub first_row_score: Option<f64>,
    /// Mean score of the last rows of sequences over the columns; [0, 1], 1 best.
    pub last_row_score: Option<f64>,
    /// One for each column of numbers.
    pub autocorrelations: Vec<Autocorrelation>,
    /// One for each pair among the first 12 columns of numbers.
    pub cross_correlations: Vec<CrossCorrelation>,
    /// One for each column of categories.
    pub transitions: Vec<Transitions>,
    /// One for each column of numbers, where sequences are long enough.
    pub spectra: Vec<Spectrum>,
    /// First and last rows, one for each column of numbers or categories.
    pub end_rows: Vec<EndRow>,
    /// Whether the sequence index rises; `None` without an index.
    pub index_rise: Option<IndexRise>,
    /// One for each context column: how many sequences it varies in, which it should not.
    pub context_changes: Vec<ContextChange>,
}

/// Correlation of a row with the one `k` rows before, over all sequences, after the mean of its own sequence is taken
/// off each value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Autocorrelation {
    /// Name of the column.
    pub column: String,
    /// Of the real table at lags 1, 2 and so on, in [-1, 1]; `None` where fewer than three pairs of rows are that far
    /// apart or the column does not vary.
    pub real: Vec<Option<f64>>,
    /// As `real`, of the synthetic table.
    pub synthetic: Vec<Option<f64>>,
    /// As `real`, of the held-out table.
    pub holdout: Option<Vec<Option<f64>>>,
}

/// Correlation of one column with another some rows later or earlier, the means of sequences taken off.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CrossCorrelation {
    /// Name of the one column.
    pub first: String,
    /// Name of the other.
    pub second: String,
    /// Rows by which the second comes after the first: -5 to 5.
    pub lags: Vec<i32>,
    /// Of the real table at each lag, in [-1, 1].
    pub real: Vec<Option<f64>>,
    /// As `real`, of the synthetic table.
    pub synthetic: Vec<Option<f64>>,
}

/// Mean periodogram of the sequences (squared magnitudes of the Fourier transform, of each sequence divided by their
/// sum): how much of the movement is slow and how much is fast.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Spectrum {
    /// Name of the column.
    pub column: String,
    /// 1 less the total variation distance of the two spectra; [0, 1], 1 best.
    pub score: f64,
    /// Upper limits of the bins of frequency, in cycles per row; the last is 0.5, one up and down in two rows.
    pub frequencies: Vec<f64>,
    /// Share of the real movement in each bin; they sum to 1.
    pub real: Vec<f64>,
    /// As `real`, of the synthetic table.
    pub synthetic: Vec<f64>,
}

pub(super) fn along_time(comparison: &Comparison) -> AlongTimeReport {
    let numbers: Vec<usize> = comparison
        .numbers()
        .filter(|&column| comparison.varies(column))
        .collect();
    // [columns][tables]
    let deviations: Vec<Vec<Deviations>> = numbers
        .par_iter()
        .map(|&column| {
            comparison
                .parts()
                .iter()
                .map(|table| Deviations::of(table, column))
                .collect()
        })
        .collect();
    let autocorrelations = autocorrelations(comparison, &numbers, &deviations);
    let cross_correlations = cross_correlations(comparison, &numbers, &deviations);
    let transitions = rows::transitions(comparison);
    let spectra = spectrum::spectra(comparison, &numbers);
    let end_rows = rows::end_rows(comparison);
    let lag_one = |curve: &[Option<f64>]| curve.first().copied().flatten();
    AlongTimeReport {
        autocorrelation_score: mean(autocorrelations.iter().filter_map(|of| {
            // A column that does not move on one side has no autocorrelation there: as good as none at all.
            let (real, synthetic) = (lag_one(&of.real), lag_one(&of.synthetic));
            (!of.real.is_empty()).then(|| closeness(real.unwrap_or(0.0), synthetic.unwrap_or(0.0)))
        })),
        cross_correlation_score: mean(cross_correlations.iter().flat_map(|pair| {
            let both = pair.real.iter().zip(&pair.synthetic);
            both.filter_map(|(real, synthetic)| Some(closeness((*real)?, (*synthetic)?)))
        })),
        transition_score: mean(transitions.iter().filter_map(|table| table.score)),
        spectrum_score: mean(spectra.iter().map(|spectrum| spectrum.score)),
        first_row_score: mean(end_rows.iter().filter_map(|column| column.first_row)),
        last_row_score: mean(end_rows.iter().filter_map(|column| column.last_row)),
        autocorrelations,
        cross_correlations,
        transitions,
        spectra,
        end_rows,
        index_rise: rows::index_rise(comparison),
        context_changes: rows::context_changes(comparison),
    }
}

/// Mean of what there is; `None` of nothing.
fn mean(scores: impl Iterator<Item = f64>) -> Option<f64> {
    let scores: Vec<f64> = scores.collect();
    (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64)
}

fn closeness(real: f64, synthetic: f64) -> f64 {
    1.0 - (real - synthetic).abs().min(1.0)
}

fn autocorrelations(
    comparison: &Comparison,
    numbers: &[usize],
    deviations: &[Vec<Deviations>],
) -> Vec<Autocorrelation> {
    let longest = comparison
        .real
        .ranges()
        .map(|rows| rows.len())
        .max()
        .unwrap_or(0);
    let lags = if longest < 2 {
        0
    } else {
        (longest / 2).clamp(1, MOST_LAGS)
    };
    numbers
        .par_iter()
        .zip(deviations)
        .map(|(&column, tables)| {
            let curve = |table: &Deviations| -> Vec<Option<f64>> {
                (1..=lags).map(|lag| table.autocorrelation(lag)).collect()
            };
            Autocorrelation {
                column: comparison.columns[column].name.clone(),
                real: curve(&tables[0]),
                synthetic: curve(&tables[1]),
                holdout: tables.get(2).map(curve),
            }
        })
        .collect()
}

fn cross_correlations(
    comparison: &Comparison,
    numbers: &[usize],
    deviations: &[Vec<Deviations>],
) -> Vec<CrossCorrelation> {
    let columns = numbers.len().min(CROSS_COLUMNS);
    let pairs: Vec<(usize, usize)> = (0..columns)
        .flat_map(|first| (first + 1..columns).map(move |second| (first, second)))
        .collect();
    pairs
        .into_par_iter()
        .map(|(first, second)| {
            let curve = |table: usize| -> Vec<Option<f64>> {
                let (first, second) = (&deviations[first][table], &deviations[second][table]);
                let before = (1..=CROSS_LAGS)
                    .rev()
                    .map(|lag| second.correlation(first, lag));
                before
                    .chain((0..=CROSS_LAGS).map(|lag| first.correlation(second, lag)))
                    .collect()
            };
            CrossCorrelation {
                first: comparison.columns[numbers[first]].name.clone(),
                second: comparison.columns[numbers[second]].name.clone(),
                lags: (-5..=5).collect(),
                real: curve(0),
                synthetic: curve(1),
            }
        })
        .collect()
}
