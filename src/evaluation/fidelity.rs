//! The scores that sum an evaluation up, beside what real sequences reach.
//! In: what was measured between real and synthetic, and between two halves of the real table. Out: [`FidelityReport`].

use serde::Serialize;

use super::{
    AlongTimeReport, Comparison, QualityReport, SequenceReport, TwoSampleReport, along_time,
    quality, sequences, two_sample,
};

/// How much the synthetic table is like the real one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FidelityReport {
    /// Mean of the scores that count in it; [0, 1], 1 best.
    pub overall: Option<f64>,
    /// The same of one random half of the real sequences against the other (at most 5,000 each). A half is smaller than the whole, so a
    /// good synthetic table may pass it.
    pub overall_of_real_halves: Option<f64>,
    /// The scores, those that count in `overall` first.
    pub scores: Vec<FidelityScore>,
}

/// One score.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FidelityScore {
    /// A short name.
    pub name: String,
    /// What is compared.
    pub meaning: String,
    /// [0, 1], 1 best; `None` where it does not apply.
    pub score: Option<f64>,
    /// What one random half of the real sequences scores against the other: near this is as good as real.
    pub of_real_halves: Option<f64>,
    /// Whether it counts in `overall`.
    pub in_overall: bool,
}

/// What is measured between two tables, be they real and synthetic or two halves of the real one.
#[derive(Debug)]
pub(super) struct Scored {
    pub(super) quality: QualityReport,
    pub(super) sequences: SequenceReport,
    pub(super) along_time: AlongTimeReport,
    pub(super) two_sample: TwoSampleReport,
}

impl Scored {
    pub(super) fn of(rows: &Comparison, sequences: &Comparison) -> Scored {
        Scored {
            quality: quality::quality(rows),
            sequences: sequences::sequences(rows, sequences),
            along_time: along_time::along_time(sequences),
            two_sample: two_sample::two_sample(sequences),
        }
    }

    /// Name, meaning, score and whether it counts in the mean.
    fn scores(&self) -> Vec<(&'static str, &'static str, Option<f64>, bool)> {
        let time = &self.along_time;
        vec![
            (
                "marginals",
                "each column by itself: distribution and share of missing cells",
                self.quality.shapes_and_missing,
                true,
            ),
            (
                "pairs",
                "each two columns of a row: correlation, or joint table",
                self.quality.all_pair_trends,
                true,
            ),
            (
                "sequence statistics",
                "mean, spread, smallest and largest value of each sequence",
                self.sequences.statistic_msas,
                true,
            ),
            (
                "row changes",
                "changes from a row to the next and to the one after that",
                self.sequences.inter_row_msas,
                true,
            ),
            (
                "lengths",
                "rows per sequence",
                self.sequences.lengths.similarity,
                true,
            ),
            (
                "transitions",
                "which category follows which",
                time.transition_score,
                true,
            ),
            (
                "autocorrelation",
                "how strongly a row follows the one before",
                time.autocorrelation_score,
                true,
            ),
            (
                "indistinct",
                "whether a classifier takes synthetic sequences for real ones",
                self.two_sample.indistinct,
                true,
            ),
            (
                "steps",
                "changes from row to row, every sequence weighing the same, and their spread and drift",
                self.sequences.step_similarity,
                false,
            ),
            (
                "cross-correlation",
                "how a column follows another, up to five rows apart",
                time.cross_correlation_score,
                false,
            ),
            (
                "spectrum",
                "slow and fast movements",
                time.spectrum_score,
                false,
            ),
            (
                "first rows",
                "how sequences begin",
                time.first_row_score,
                false,
            ),
            ("last rows", "how sequences end", time.last_row_score, false),
        ]
    }
}

pub(super) fn fidelity(scored: &Scored, of_halves: Option<&Scored>) -> FidelityReport {
    let halves: Vec<Option<f64>> = of_halves.map_or_else(Vec::new, |halves| {
        halves.scores().iter().map(|score| score.2).collect()
    });
    let scores: Vec<FidelityScore> = scored
        .scores()
        .into_iter()
        .enumerate()
        .map(|(at, (name, meaning, score, in_overall))| FidelityScore {
            name: name.to_owned(),
            meaning: meaning.to_owned(),
            score,
            of_real_halves: halves.get(at).copied().flatten(),
            in_overall,
        })
        .collect();
    let overall = |value: fn(&FidelityScore) -> Option<f64>| {
        let counting = scores.iter().filter(|score| score.in_overall);
        quality::mean_of(counting.map(value))
    };
    FidelityReport {
        overall: overall(|score| score.score),
        overall_of_real_halves: overall(|score| score.of_real_halves),
        scores,
    }
}
