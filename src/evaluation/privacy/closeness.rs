//! Distances between sequences, by their standardised features.

use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::Serialize;

use crate::evaluation::Comparison;
use crate::evaluation::boosting::area_under_curve;
use crate::evaluation::features::{Features, features, mean, standard_deviation};
use crate::rng::Purpose;

/// Sequences of each table that are held against each other; drawn where there are more.
const MOST_SEQUENCES: usize = 2_000;
/// Held-out sequences below which nothing is said about them.
const FEWEST_HELD_OUT: usize = 20;
/// Draws of equally many real and held-out sequences.
const REPEATS: usize = 20;
/// Standardised features are cut here, both ways.
const FARTHEST: f64 = 10.0;

/// Distances to the closest real sequence (in standard deviations of the real features, Euclidean).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ClosenessReport {
    /// Share of the synthetic sequences that lie nearer to the real table than to as many held-out sequences, ties
    /// half, a mean over 20 draws; [0, 1], 0.5 is private, 1 is copying. `None` without a holdout of at least 20
    /// sequences.
    pub closer_to_real: Option<f64>,
    /// Standard error of `closer_to_real`, as of a share of as many independent draws as there are held-out sequences:
    /// which sequences happen to be held out is most of the noise.
    pub standard_error: Option<f64>,
    /// From synthetic sequences to the closest real one; `None` where a table has none.
    pub synthetic_to_real: Option<DistanceQuantiles>,
    /// From synthetic sequences to the closest held-out one.
    pub synthetic_to_holdout: Option<DistanceQuantiles>,
    /// From held-out sequences to the closest real one: what a sample that has learned nothing by heart looks like.
    pub holdout_to_real: Option<DistanceQuantiles>,
    /// Share of the synthetic sequences that lie nearer to a real one than 99% of the held-out sequences do, in
    /// [0, 1]; about 0.01 is private.
    pub near_copies: Option<f64>,
    /// Median over the synthetic sequences of the distance to the closest real one over that to the second closest,
    /// in [0, 1]; low is a sequence that clings to one real one.
    pub neighbour_ratio: Option<f64>,
    /// The same of held-out sequences.
    pub neighbour_ratio_of_holdout: Option<f64>,
    /// Sequences looked at: synthetic, real, held out.
    pub sequences: [usize; 3],
}

/// Distances, sorted and thinned out.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DistanceQuantiles {
    /// At 0, 5, 10 and so on to 100%.
    pub quantiles: Vec<f64>,
    /// Share that is exactly 0.
    pub zero: f64,
}

/// An attacker who knows the synthetic table guesses who was in the real one: those closest to a synthetic sequence.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MembershipReport {
    /// How often, of a real and a held-out sequence, the real one lies nearer to the synthetic table: area under the ROC
    /// curve, in [0, 1]; 0.5 is guessing.
    pub auc: f64,
    /// Standard error of `auc` where the attacker guesses (Mann and Whitney).
    pub standard_error: f64,
    /// Largest difference of the shares of real and of held-out sequences within one distance, in [0, 1] (Yeom et al.,
    /// *Privacy Risk in Machine Learning*, 2018); 0 is guessing.
    pub advantage: f64,
}

/// Points, one a sequence.
struct Points {
    width: usize,
    cells: Vec<f64>,
}

impl Points {
    fn count(&self) -> usize {
        self.cells.len() / self.width.max(1)
    }

    fn point(&self, at: usize) -> &[f64] {
        &self.cells[at * self.width..(at + 1) * self.width]
    }

    /// `[self.count()][others.count()]` distances.
    fn distances(&self, others: &Points) -> Vec<Vec<f64>> {
        (0..self.count())
            .into_par_iter()
            .map(|at| {
                let point = self.point(at);
                (0..others.count())
                    .map(|other| {
                        let differences = point.iter().zip(others.point(other));
                        differences
                            .map(|(left, right)| (left - right).powi(2))
                            .sum::<f64>()
                            .sqrt()
                    })
                    .collect()
            })
            .collect()
    }
}

pub(super) fn closeness(comparison: &Comparison) -> (ClosenessReport, Option<MembershipReport>) {
    let mut generator = comparison.seed.stream(Purpose::EvaluationSubsample);
    let thinned = comparison.thinned(MOST_SEQUENCES, &mut generator);
    let features = features(thinned.as_ref().unwrap_or(comparison));
    let scales = scales(&features[0]);
    let mut points = features.iter().map(|table| points(table, &scales));
    let (Some(real), Some(synthetic)) = (points.next(), points.next()) else {
        unreachable!("real and synthetic are always there");
    };
    let holdout = points
        .next()
        .filter(|holdout| holdout.count() >= FEWEST_HELD_OUT);

    let to_real = synthetic.distances(&real);
    let to_holdout = holdout.as_ref().map(|holdout| synthetic.distances(holdout));
    let held_out_to_real = holdout.as_ref().map(|holdout| holdout.distances(&real));
    let nearest_real = nearest(&to_real);
    let nearest_of_holdout = held_out_to_real.as_deref().map(nearest);
    let closer_to_real = to_holdout
        .as_ref()
        .map(|to_holdout| closer(&to_real, to_holdout, real.count(), &mut generator));
    let references = real.count().min(holdout.as_ref().map_or(0, Points::count)) as f64;
    let membership = holdout.as_ref().map(|holdout| {
        membership(
            &nearest_transposed(&to_real, real.count()),
            &to_holdout,
            holdout.count(),
        )
    });
    let report = ClosenessReport {
        closer_to_real,
        standard_error: closer_to_real.map(|share| (share * (1.0 - share) / references).sqrt()),
        synthetic_to_real: DistanceQuantiles::of(&nearest_real),
        synthetic_to_holdout: to_holdout
            .as_deref()
            .and_then(|distances| DistanceQuantiles::of(&nearest(distances))),
        holdout_to_real: nearest_of_holdout
            .as_deref()
            .and_then(DistanceQuantiles::of),
        near_copies: nearest_of_holdout.map(|mut distances| {
            distances.sort_unstable_by(f64::total_cmp);
            let limit = distances[distances.len() / 100];
            let near = nearest_real
                .iter()
                .filter(|distance| **distance < limit)
                .count();
            near as f64 / nearest_real.len() as f64
        }),
        neighbour_ratio: neighbour_ratio(&to_real),
        neighbour_ratio_of_holdout: held_out_to_real.as_deref().and_then(neighbour_ratio),
        sequences: [
            synthetic.count(),
            real.count(),
            holdout.as_ref().map_or(0, Points::count),
        ],
    };
    (report, membership)
}

/// Mean and standard deviation of each real feature; 1 for what is constant, so that it counts as equal or unequal.
fn scales(real: &Features) -> Vec<(f64, f64)> {
    real.columns
        .iter()
        .map(|column| {
            let present: Vec<f64> = column
                .iter()
                .copied()
                .filter(|cell| cell.is_finite())
                .collect();
            let deviation = standard_deviation(&present);
            let is_scale = deviation > 0.0 && deviation.is_finite();
            (mean(&present), if is_scale { deviation } else { 1.0 })
        })
        .collect()
}

fn points(features: &Features, scales: &[(f64, f64)]) -> Points {
    let cells = (0..features.sequences())
        .flat_map(|sequence| {
            features
                .columns
                .iter()
                .zip(scales)
                .map(move |(column, (mean, deviation))| {
                    let standard = (column[sequence] - mean) / deviation;
                    // What is missing stands at the mean.
                    if standard.is_nan() {
                        0.0
                    } else {
                        standard.clamp(-FARTHEST, FARTHEST)
                    }
                })
        })
        .collect();
    Points {
        width: features.columns.len(),
        cells,
    }
}

fn nearest(distances: &[Vec<f64>]) -> Vec<f64> {
    distances
        .iter()
        .map(|row| row.iter().copied().fold(f64::INFINITY, f64::min))
        .collect()
}

/// From each of the `others` to the nearest of those the rows belong to.
fn nearest_transposed(distances: &[Vec<f64>], others: usize) -> Vec<f64> {
    let mut nearest = vec![f64::INFINITY; others];
    for row in distances {
        for (nearest, distance) in nearest.iter_mut().zip(row) {
            *nearest = nearest.min(*distance);
        }
    }
    nearest
}

/// Share of rows nearer to one of some real sequences than to one of as many held-out ones, ties half.
fn closer(
    to_real: &[Vec<f64>],
    to_holdout: &[Vec<f64>],
    reals: usize,
    generator: &mut impl rand::Rng,
) -> f64 {
    let held_out = to_holdout.first().map_or(0, Vec::len);
    let count = reals.min(held_out);
    let mut drawn = |all: usize| -> Vec<usize> {
        let mut order: Vec<usize> = (0..all).collect();
        order.shuffle(generator);
        order.truncate(count);
        order
    };
    let draws: Vec<[Vec<usize>; 2]> = (0..REPEATS)
        .map(|_| [drawn(reals), drawn(held_out)])
        .collect();
    let closest = |row: &[f64], places: &[usize]| {
        places
            .iter()
            .map(|&place| row[place])
            .fold(f64::INFINITY, f64::min)
    };
    let wins: Vec<f64> = draws
        .par_iter()
        .map(|[reals, held_out]| {
            let won = to_real.iter().zip(to_holdout).map(|(to_real, to_holdout)| {
                let (real, holdout) = (closest(to_real, reals), closest(to_holdout, held_out));
                f64::from(u8::from(real < holdout)) + 0.5 * f64::from(u8::from(real == holdout))
            });
            won.sum::<f64>() / to_real.len() as f64
        })
        .collect();
    wins.iter().sum::<f64>() / REPEATS as f64
}

fn membership(
    real_to_synthetic: &[f64],
    to_holdout: &Option<Vec<Vec<f64>>>,
    held_out: usize,
) -> MembershipReport {
    let holdout_to_synthetic =
        nearest_transposed(to_holdout.as_deref().unwrap_or_default(), held_out);
    let near =
        |distances: &[f64]| -> Vec<f64> { distances.iter().map(|distance| -distance).collect() };
    let auc = area_under_curve(&near(real_to_synthetic), &near(&holdout_to_synthetic));
    let (reals, held_out) = (real_to_synthetic.len() as f64, held_out as f64);
    MembershipReport {
        auc: auc.unwrap_or(0.5),
        standard_error: ((reals + held_out + 1.0) / (12.0 * reals * held_out)).sqrt(),
        advantage: advantage(real_to_synthetic, &holdout_to_synthetic),
    }
}

/// Largest amount by which the share of members within a distance passes that of the others.
fn advantage(members: &[f64], others: &[f64]) -> f64 {
    let mut all: Vec<(f64, f64)> = members
        .iter()
        .map(|distance| (*distance, 1.0 / members.len() as f64))
        .chain(
            others
                .iter()
                .map(|distance| (*distance, -1.0 / others.len() as f64)),
        )
        .collect();
    all.sort_unstable_by(|left, right| left.0.total_cmp(&right.0));
    let (mut lead, mut largest) = (0.0, 0.0_f64);
    for same in all.chunk_by(|left, right| left.0 == right.0) {
        lead += same.iter().map(|(_, weight)| weight).sum::<f64>();
        largest = largest.max(lead);
    }
    largest.min(1.0)
}

fn neighbour_ratio(distances: &[Vec<f64>]) -> Option<f64> {
    let mut ratios: Vec<f64> = distances
        .iter()
        .filter(|row| row.len() > 1)
        .map(|row| {
            let (first, second) = row.iter().fold(
                (f64::INFINITY, f64::INFINITY),
                |(first, second), &distance| {
                    if distance < first {
                        (distance, first)
                    } else {
                        (first, second.min(distance))
                    }
                },
            );
            // Two real sequences alike: it clings to neither alone.
            if second == 0.0 { 1.0 } else { first / second }
        })
        .collect();
    ratios.sort_unstable_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied()
}

impl DistanceQuantiles {
    fn of(distances: &[f64]) -> Option<DistanceQuantiles> {
        let mut sorted = distances.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        Some(DistanceQuantiles {
            quantiles: (0..=20).map(|step| sorted[step * last / 20]).collect(),
            zero: sorted.iter().filter(|distance| **distance == 0.0).count() as f64
                / sorted.len() as f64,
        })
    }
}
