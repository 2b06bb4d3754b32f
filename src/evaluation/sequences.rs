//! Sequences as wholes: their lengths, their summaries, the steps from row to row, and whether they are new.
//! In: tables side by side. Out: [`SequenceReport`].

mod lengths;
mod novelty;
mod steps;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use serde::Serialize;

use super::Comparison;
use super::columns::Histogram;
use super::quality::mean_of;

/// Sequences as wholes: their lengths, their summaries, the steps from row to row, and whether they are new.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SequenceReport {
    /// Where the real or the synthetic table is one single sequence: about how many rows the windows have that stand
    /// for sequences in all that follows but the lengths. `None` elsewhere.
    pub window_rows: Option<usize>,
    /// How long sequences are.
    pub lengths: LengthReport,
    /// Mean of SDMetrics' `StatisticMSAS` (mean, standard deviation, smallest, largest) over `columns`; [0, 1], 1 best.
    pub statistic_msas: Option<f64>,
    /// Mean of SDMetrics' `InterRowMSAS` (one and two rows apart) over `columns`; [0, 1], 1 best.
    pub inter_row_msas: Option<f64>,
    /// Mean over `columns` of the `score` of `steps`; [0, 1], 1 best.
    pub step_similarity: Option<f64>,
    /// Numbers and dates that belong to the rows, the sequence index included, in the table's order.
    pub columns: Vec<SequenceColumn>,
}

/// How long sequences are, in rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LengthReport {
    /// SDMetrics' `SequenceLengthSimilarity`, in [0, 1], 1 best; it compares lengths as they are, whatever the number
    /// of sequences.
    pub similarity: Option<f64>,
    /// Real sequences.
    pub real: LengthSummary,
    /// Synthetic sequences.
    pub synthetic: LengthSummary,
    /// Held-out sequences.
    pub holdout: Option<LengthSummary>,
    /// The same bins for every table, in rows.
    pub histogram: Option<Histogram>,
}

/// Lengths of the sequences of one table, in rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LengthSummary {
    /// How many sequences.
    pub sequences: usize,
    /// Mean length.
    pub mean: f64,
    /// Shortest.
    pub shortest: usize,
    /// Median length.
    pub median: f64,
    /// Longest.
    pub longest: usize,
}

/// A column of numbers or dates along its sequences.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SequenceColumn {
    /// Name of the column.
    pub column: String,
    /// Place among the table's columns, from 0.
    pub position: usize,
    /// Whether it holds dates, so that steps are in seconds.
    pub date: bool,
    /// SDMetrics' `StatisticMSAS`, one a statistic.
    pub statistics: StatisticScores,
    /// SDMetrics' `InterRowMSAS` of rows one apart and two apart, in [0, 1], 1 best.
    pub inter_row: Vec<InterRowScore>,
    /// The steps from row to row, each sequence weighing the same.
    pub steps: StepReport,
}

/// SDMetrics' `StatisticMSAS`: how like a statistic of each sequence is distributed over the sequences; [0, 1], 1 best.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StatisticScores {
    /// Of means.
    pub mean: Option<f64>,
    /// Of medians.
    pub median: Option<f64>,
    /// Of standard deviations; `None` where no sequence has two values.
    pub standard_deviation: Option<f64>,
    /// Of smallest values.
    pub smallest: Option<f64>,
    /// Of largest values.
    pub largest: Option<f64>,
}

/// SDMetrics' `InterRowMSAS` of rows some rows apart.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InterRowScore {
    /// How many rows apart.
    pub rows_apart: usize,
    /// The score, in [0, 1], 1 best; `None` where no sequence is long enough.
    pub score: Option<f64>,
}

/// How like the steps from a row to the next are, beyond `InterRowMSAS`.
///
/// What SDMetrics describes, the average step of each sequence, telescopes to `(last - first) / steps`: steps that
/// cancel go unseen. What its version 0.32 computes pools all steps: a long sequence outweighs many short ones, and
/// whether a few wild sequences or all of them make the large steps goes unseen. So here each sequence weighs the
/// same, and the spread of steps within sequences is compared too.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StepReport {
    /// Mean of the similarities below that are defined, in [0, 1], 1 best.
    pub score: Option<f64>,
    /// 1 less the largest distance of the distribution functions of steps, every sequence weighing the same.
    pub distribution_similarity: Option<f64>,
    /// `KSComplement` of the standard deviation of the steps of each sequence that has two or more.
    pub spread_similarity: Option<f64>,
    /// `KSComplement` of the mean step of each sequence: its drift.
    pub drift_similarity: Option<f64>,
    /// All steps, in the same bins for every table, in the column's unit (seconds for dates).
    pub histogram: Option<Histogram>,
}

/// Whether rows and sequences are new, and how near to real ones rows lie.
///
/// The sequence key and ids are never looked at, so a copy under a new key is a copy. Rows that are drawn are drawn by
/// the seed of the evaluation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NoveltyReport {
    /// SDMetrics' `NewRowSynthesis`: share of the synthetic rows looked at that match no real row, where numbers match
    /// within 1% of the synthetic one. [0, 1], 1 best; but rows of few columns cannot all be new.
    pub new_row_synthesis: Option<f64>,
    /// Synthetic rows that were looked at for it, drawn where there are more than 10,000; the real ones are all used.
    pub new_row_synthesis_rows: usize,
    /// Share of all synthetic rows that equal no real row exactly.
    pub new_rows: Option<f64>,
    /// Of the held-out rows, the share that equal no real row exactly: what to expect of a good generator.
    pub new_rows_of_holdout: Option<f64>,
    /// Share of the synthetic sequences that are not the copy of a real one: the same rows, in any order.
    pub new_sequences: Option<f64>,
    /// Of the held-out sequences, the share that are not the copy of a real one.
    pub new_sequences_of_holdout: Option<f64>,
    /// SDMetrics' `DCRBaselineProtection`: the median distance of a synthetic row to the closest real one, as a share
    /// of that of random rows, at most 1. [0, 1], 1 best; `None` where random rows are copies too.
    pub dcr_baseline_protection: Option<f64>,
    /// Median distance of a synthetic row to the closest real one, in [0, 1] (mean over the columns).
    pub dcr_median_synthetic: Option<f64>,
    /// As `dcr_median_synthetic`, of random rows.
    pub dcr_median_random: Option<f64>,
    /// SDMetrics' `DCROverfittingProtection`: twice the share of synthetic rows that are not closer to the real table
    /// than to the held-out one, at most 1. [0, 1], 1 best; `None` without a held-out table.
    pub dcr_overfitting_protection: Option<f64>,
    /// Share of the synthetic rows that are closer to the real table than to the held-out one, in [0, 1]; about 0.5 or
    /// below is private.
    pub dcr_closer_to_real: Option<f64>,
    /// Rows of the real, the synthetic and the random table that `dcr_baseline_protection` looked at: equally many of
    /// each, drawn, at most 2,000.
    pub dcr_rows: usize,
    /// Rows of the real, the synthetic and the held-out table that `dcr_overfitting_protection` looked at: equally many
    /// of each, drawn, at most 2,000; 0 without a held-out table.
    pub dcr_holdout_rows: usize,
}

pub(super) use novelty::novelty;

pub(super) fn sequences(rows: &Comparison, sequences: &Comparison) -> SequenceReport {
    let numbers: Vec<usize> = sequences
        .numbers()
        .filter(|&column| sequences.varies(column))
        .collect();
    let columns: Vec<SequenceColumn> = numbers
        .into_par_iter()
        .map(|column| steps::sequence_column(sequences, column))
        .collect();
    let statistics = columns.iter().flat_map(|column| {
        let scores = &column.statistics;
        [
            scores.mean,
            scores.standard_deviation,
            scores.smallest,
            scores.largest,
        ]
    });
    let inter_row = columns.iter().flat_map(|column| &column.inter_row);
    SequenceReport {
        window_rows: sequences.window_rows,
        lengths: lengths::lengths(rows),
        statistic_msas: mean_of(statistics),
        inter_row_msas: mean_of(inter_row.map(|rows| rows.score)),
        step_similarity: mean_of(columns.iter().map(|column| column.steps.score)),
        columns,
    }
}
