//! Whether a classifier can tell synthetic sequences from real ones (Lopez-Paz and Oquab, *Revisiting Classifier
//! Two-Sample Tests*, 2017), by summary features of each sequence.

use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::Serialize;

use super::Comparison;
use super::boosting::{Goal, area_under_curve, learn_and_predict};
use super::features::{Features, features};
use crate::rng::{Purpose, Seed};

/// A side; with fewer the classifier learns nothing that holds in the next fold.
const FEWEST_SEQUENCES: usize = 40;
/// A side; drawn where there are more.
const MOST_SEQUENCES: usize = 2_000;
const FOLDS: usize = 5;
/// Few sequences are dealt into folds again, at most so often, since chance is greatest there.
const MOST_ROUNDS: usize = 5;
/// Sequences a side, over all rounds, that are enough.
const ENOUGH_SEQUENCES: usize = 500;
const TREES: usize = 80;
/// Values of a feature below which it is passed over.
const FEWEST_VALUES: usize = 10;
const MOST_GIVEAWAYS: usize = 10;

/// Whether a classifier can tell synthetic sequences from real ones.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TwoSampleReport {
    /// How often the classifier finds the real one of a real and a synthetic sequence that it has not learned from:
    /// area under the ROC curve, in [0, 1]. 0.5 is guessing. Five folds; of few sequences a mean over up to
    /// five ways to deal them. `None` of fewer than 40 sequences a side.
    pub auc: Option<f64>,
    /// `1 - 2 |auc - 0.5|`: 1 where the classifier guesses, 0 where it is always right.
    pub indistinct: Option<f64>,
    /// Sequences a side: as many as the smaller table has, at most 2,000.
    pub sequences: usize,
    /// The features that tell the most, each by itself; at most 10, the strongest first.
    pub giveaways: Vec<Giveaway>,
}

/// A feature of a sequence that differs between real and synthetic.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Giveaway {
    /// What it is, such as `mean step of price`.
    pub feature: String,
    /// How often a real sequence has more of it than a synthetic one, ties half: [0, 1], 0.5 is no difference.
    pub auc: f64,
    /// Median over the real sequences that have it.
    pub real_median: Option<f64>,
    /// Median over the synthetic sequences that have it.
    pub synthetic_median: Option<f64>,
}

pub(super) fn two_sample(comparison: &Comparison) -> TwoSampleReport {
    let mut generator = comparison.seed.stream(Purpose::EvaluationFolds);
    let thinned = comparison.thinned(MOST_SEQUENCES, &mut generator);
    let features = features(thinned.as_ref().unwrap_or(comparison));
    let [real, synthetic] = [0, 1].map(|side| &features[side]);
    let count = real.sequences().min(synthetic.sequences());
    let mut drawn = |all: usize| -> Vec<usize> {
        let mut order: Vec<usize> = (0..all).collect();
        order.shuffle(&mut generator);
        order.truncate(count);
        order
    };
    let sides = Sides {
        real: drawn(real.sequences()),
        synthetic: drawn(synthetic.sequences()),
    };
    let columns = sides.columns(real, synthetic);
    let auc = (count >= FEWEST_SEQUENCES)
        .then(|| area_over_rounds(&columns, count, comparison.seed))
        .flatten();
    TwoSampleReport {
        auc,
        indistinct: auc.map(|auc| 1.0 - 2.0 * (auc - 0.5).abs()),
        sequences: count,
        giveaways: giveaways(real, &columns, count),
    }
}

struct Sides {
    real: Vec<usize>,
    synthetic: Vec<usize>,
}

impl Sides {
    /// Features of the real sequences drawn, then of the synthetic ones; column by column.
    fn columns(&self, real: &Features, synthetic: &Features) -> Vec<Vec<f64>> {
        let pairs = real.columns.iter().zip(&synthetic.columns);
        pairs
            .map(|(real, synthetic)| {
                let real = self.real.iter().map(|&sequence| real[sequence]);
                real.chain(self.synthetic.iter().map(|&sequence| synthetic[sequence]))
                    .collect()
            })
            .collect()
    }
}

/// Mean area over some ways to deal the sequences into folds; `None` where a fold has nothing to learn from.
fn area_over_rounds(columns: &[Vec<f64>], count: usize, seed: Seed) -> Option<f64> {
    let used: Vec<&[f64]> = columns
        .iter()
        .filter(|column| column.iter().filter(|cell| !cell.is_nan()).count() >= FEWEST_VALUES)
        .filter(|column| {
            column
                .iter()
                .any(|cell| cell.to_bits() != column[0].to_bits())
        })
        .map(Vec::as_slice)
        .collect();
    if used.is_empty() {
        return Some(0.5); // all sequences look alike, so there is nothing but guessing
    }
    let rounds = (ENOUGH_SEQUENCES / count).clamp(1, MOST_ROUNDS);
    let mut areas = 0.0;
    for round in 1..=rounds {
        let mut generator = seed.numbered_stream(Purpose::EvaluationFolds, round as u64);
        let mut folds_of_side = || {
            let mut folds: Vec<usize> = (0..count).map(|place| place % FOLDS).collect();
            folds.shuffle(&mut generator);
            folds
        };
        let folds = [folds_of_side(), folds_of_side()].concat();
        areas += cross_validated(&used, &folds, count)?;
    }
    Some(areas / rounds as f64)
}

/// Area under the curve of scores that each sequence gets from a classifier that has not seen it. The first `count` rows
/// are real.
fn cross_validated(used: &[&[f64]], folds: &[usize], count: usize) -> Option<f64> {
    let scores_of_folds: Option<Vec<Vec<(usize, f64)>>> = (0..FOLDS)
        .into_par_iter()
        .map(|fold| {
            let (asked, learned): (Vec<usize>, Vec<usize>) =
                (0..2 * count).partition(|&row| folds[row] == fold);
            let part = |rows: &[usize]| -> Vec<Vec<f64>> {
                used.iter()
                    .map(|column| rows.iter().map(|&row| column[row]).collect())
                    .collect()
            };
            let targets: Vec<f64> = learned
                .iter()
                .map(|&row| f64::from(u8::from(row < count)))
                .collect();
            let scores =
                learn_and_predict(Goal::Class, TREES, &part(&learned), &targets, &part(&asked))?;
            Some(asked.into_iter().zip(scores).collect())
        })
        .collect();
    let mut scores = vec![0.0; 2 * count];
    for (row, score) in scores_of_folds?.into_iter().flatten() {
        scores[row] = score;
    }
    let (real, synthetic) = scores.split_at(count);
    area_under_curve(real, synthetic)
}

fn giveaways(features: &Features, columns: &[Vec<f64>], count: usize) -> Vec<Giveaway> {
    let mut giveaways: Vec<Giveaway> = features
        .names
        .par_iter()
        .zip(columns)
        .filter_map(|(name, column)| {
            let (real, synthetic) = column.split_at(count);
            Some(Giveaway {
                feature: name.clone(),
                auc: area_under_curve(real, synthetic)?,
                real_median: median(real),
                synthetic_median: median(synthetic),
            })
        })
        .collect();
    giveaways.sort_by(|left, right| (right.auc - 0.5).abs().total_cmp(&(left.auc - 0.5).abs()));
    giveaways.truncate(MOST_GIVEAWAYS);
    giveaways
}

fn median(cells: &[f64]) -> Option<f64> {
    let mut present: Vec<f64> = cells
        .iter()
        .copied()
        .filter(|cell| cell.is_finite())
        .collect();
    present.sort_unstable_by(f64::total_cmp);
    let middle = present.len() / 2;
    let upper = *present.get(middle)?;
    if present.len() % 2 == 1 {
        return Some(upper);
    }
    Some(present[middle - 1] / 2.0 + upper / 2.0)
}
