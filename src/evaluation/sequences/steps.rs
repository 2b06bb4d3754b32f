//! A column of numbers along its sequences: summaries of each, and the steps from row to row.

use std::ops::Range;

use super::super::Comparison;
use super::super::columns::{Unit, histogram};
use super::super::metrics::{
    Statistic, ks_complement, ks_of_sorted, mean, spread, statistic_of_each, steps_of_each,
    to_fourteen_decimals,
};
use super::super::quality::mean_of;
use super::{InterRowScore, SequenceColumn, StatisticScores, StepReport};

pub(super) fn sequence_column(sequences: &Comparison, position: usize) -> SequenceColumn {
    let column = &sequences.columns[position];
    let tables = sequences.parts();
    let ranges: Vec<Vec<Range<usize>>> = tables
        .iter()
        .map(|table| table.ranges().collect())
        .collect();
    let values: Vec<&[f64]> = tables
        .iter()
        .map(|table| table.columns[position].numbers().unwrap_or_default())
        .collect();
    let statistic = |statistic| {
        let of = |side: usize| statistic_of_each(values[side], &ranges[side], statistic);
        ks_complement(&of(0), &of(1))
    };
    let two_apart = |side: usize| steps_of_each(values[side], &ranges[side], 2).concat();
    let steps: Vec<Steps> = values
        .iter()
        .zip(&ranges)
        .map(|(values, ranges)| Steps::of(values, ranges))
        .collect();
    let unit = if column.is_date() {
        Unit::Time
    } else {
        Unit::One
    };
    SequenceColumn {
        column: column.name.clone(),
        position,
        date: column.is_date(),
        statistics: StatisticScores {
            mean: statistic(Statistic::Mean),
            median: statistic(Statistic::Median),
            standard_deviation: statistic(Statistic::StandardDeviation),
            smallest: statistic(Statistic::Smallest),
            largest: statistic(Statistic::Largest),
        },
        inter_row: vec![
            InterRowScore {
                rows_apart: 1,
                score: ks_of_sorted(&steps[0].sorted, &steps[1].sorted),
            },
            InterRowScore {
                rows_apart: 2,
                score: ks_complement(&two_apart(0), &two_apart(1)),
            },
        ],
        steps: report(&steps, unit),
    }
}

/// The steps of all sequences of a table.
pub(super) struct Steps {
    /// All of them.
    pub(super) sorted: Vec<f64>,
    /// All of them by size, each with its weight: 1 over the number of steps of its sequence.
    pub(super) weighted: Vec<(f64, f64)>,
    /// Of each sequence, NaN where it has too few.
    pub(super) spreads: Vec<f64>,
    pub(super) drifts: Vec<f64>,
}

impl Steps {
    pub(super) fn of(values: &[f64], ranges: &[Range<usize>]) -> Steps {
        let steps = steps_of_each(values, ranges, 1);
        let mut weighted: Vec<(f64, f64)> = Vec::new();
        for steps in &steps {
            let present = steps.iter().filter(|step| !step.is_nan());
            let weight = 1.0 / present.clone().count() as f64;
            weighted.extend(present.map(|&step| (to_fourteen_decimals(step), weight)));
        }
        weighted.sort_unstable_by(|left, right| {
            left.0.total_cmp(&right.0).then(left.1.total_cmp(&right.1))
        });
        Steps {
            sorted: weighted.iter().map(|(step, _)| *step).collect(),
            weighted,
            spreads: steps.iter().map(|steps| spread(steps)).collect(),
            drifts: steps.iter().map(|steps| mean(steps)).collect(),
        }
    }
}

fn report(steps: &[Steps], unit: Unit) -> StepReport {
    let (real, synthetic) = (&steps[0], &steps[1]);
    let distribution_similarity = weighted_similarity(&real.weighted, &synthetic.weighted);
    let spread_similarity = ks_complement(&real.spreads, &synthetic.spreads);
    let drift_similarity = ks_complement(&real.drifts, &synthetic.drifts);
    let scores = [distribution_similarity, spread_similarity, drift_similarity];
    StepReport {
        score: mean_of(scores.into_iter()),
        distribution_similarity,
        spread_similarity,
        drift_similarity,
        histogram: histogram(
            &real.sorted,
            &synthetic.sorted,
            steps.get(2).map(|steps| steps.sorted.as_slice()),
            unit,
        ),
    }
}

/// 1 less the largest distance of the distribution functions of two samples, sorted, with weights.
pub(super) fn weighted_similarity(real: &[(f64, f64)], synthetic: &[(f64, f64)]) -> Option<f64> {
    let total = |sample: &[(f64, f64)]| sample.iter().map(|(_, weight)| weight).sum::<f64>();
    let totals = [total(real), total(synthetic)];
    if totals.contains(&0.0) {
        return None;
    }
    let (mut left, mut right) = (real, synthetic);
    let (mut reached, mut distance) = ([0.0, 0.0], 0.0_f64);
    while let (Some(first), Some(second)) = (left.first(), right.first()) {
        let value = first.0.min(second.0);
        for (side, sample) in [&mut left, &mut right].into_iter().enumerate() {
            while let Some(&(step, weight)) = sample.first()
                && step <= value
            {
                reached[side] += weight / totals[side];
                *sample = &sample[1..];
            }
        }
        distance = distance.max((reached[0] - reached[1]).abs());
    }
    Some((1.0 - distance).max(0.0))
}
