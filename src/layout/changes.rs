//! How numbers that change along sequences are learned: the index's gaps, and columns told by value or by change.
//! A list of values, steps or changes takes as much memory as the column, so few live at a time.

use super::fit::NumberChoice;
use super::{ChangeCodec, NumberColumn, gap, round_difference};
use crate::codec::number::{
    KnotPlacement, NumberCodec, NumberOptions, NumberScale, Unit, mean_and_deviation,
};
use crate::distribution::NumericalDistribution;
use crate::protection::Protection;
use crate::table::SequenceTable;
use std::borrow::Cow;

/// Nats by which the change from row to row must be easier to tell than the value, for the change to be modelled.
const CHANGE_GAIN_NATS: f64 = 0.7;
/// Cells per interquartile range when entropies are compared.
const ENTROPY_CELLS: f64 = 32.0;

/// The gaps from row to row of an index.
pub(super) fn fit_gap(
    values: &[f64],
    table: &SequenceTable,
    least_gap: f64,
    protection: Protection,
) -> NumberColumn {
    let sequences = || table.offsets.windows(2).map(|ends| ends[0]..ends[1]);
    let mut gaps: Vec<f64> = sequences()
        .flat_map(|rows| values[rows].windows(2).map(|pair| gap(pair[0], pair[1])))
        .collect();
    let mut owners: Vec<u32> = sequences()
        .zip(&table.owners)
        .flat_map(|(rows, &owner)| std::iter::repeat_n(owner, rows.len() - 1))
        .collect();
    if protection.is_on() {
        gaps = protection.clip(&gaps, &owners).into_owned();
    }
    let mut first = 0;
    let changes: Vec<f64> = sequences()
        .flat_map(|rows| {
            let own = first..first + rows.len() - 1;
            first = own.end;
            gaps[own].windows(2).map(|pair| pair[1] - pair[0])
        })
        .collect();
    let same = changes.iter().filter(|&&change| change == 0.0).count();
    let same_share = same as f64 / changes.len().max(1) as f64;
    let (_, deviation) = mean_and_deviation(&changes);
    drop(changes);
    let mut protection = protection;
    if gaps.iter().all(|gap| gap.is_nan()) {
        // Every sequence that may be told of has one row; one that is asked to be longer goes on by one unit a row.
        (gaps, owners) = (vec![least_gap], vec![0]);
        protection = Protection::OFF;
    }
    let choice = NumberChoice::default();
    let options = choice.options(same_share, KnotPlacement::Midpoints, protection);
    let whole = NumberCodec::fit(&gaps, &owners, options);
    NumberColumn {
        scale: NumberScale::fit(
            &told(&whole, &gaps, protection),
            deviation,
            KnotPlacement::Midpoints,
        ),
        whole,
        change: None,
    }
}

/// A column as it changes along sequences.
pub(super) fn fit_number_column(
    values: &[f64],
    offsets: &[usize],
    sequence: &[u32],
    protection: Protection,
    choice: NumberChoice,
) -> NumberColumn {
    let values = &*protection.clip(values, sequence);
    // Each list takes as much as the column, so only one lives at a time.
    let steps = || Steps::of(values, offsets, sequence, protection);
    let changes = || changes(values, offsets, sequence, protection);
    let plain_changes = changes();
    let same = plain_changes.iter().filter(|&&d| d == 0.0).count();
    let same_share = same as f64 / plain_changes.len().max(1) as f64;
    drop(plain_changes);
    let options = choice.options(same_share, KnotPlacement::Midpoints, protection);
    let whole = NumberCodec::fit(values, sequence, options);
    let is_learned = choice.distribution == NumericalDistribution::Learned;
    let resolution = whole.grid.as_ref().map_or(0.0, |grid| grid.resolution());
    let gains = is_learned && {
        let mut observed = observed(values, offsets);
        let width = resolution.max(interquartile_range(&mut observed) / ENTROPY_CELLS);
        let nats = (width > 0.0).then(|| entropy(observed, width));
        let changes = changes();
        changes.len() > 20
            && nats.is_some_and(|nats| nats - entropy(changes, width) > CHANGE_GAIN_NATS)
    };
    let plain = NumberOptions {
        same_share: 0.0,
        ..options
    };
    let unit = unit(values, choice);
    let changes_in_unit = match unit {
        Unit::Plain | Unit::Count => changes(),
        Unit::Logarithm { .. } => changes_in(unit, values, offsets),
    };
    let (_, deviation) = mean_and_deviation(&changes_in_unit);
    drop(changes_in_unit);
    NumberColumn {
        scale: NumberScale::fit_in(
            &told(&whole, values, protection),
            deviation,
            KnotPlacement::Midpoints,
            unit,
        ),
        whole,
        change: gains.then(|| {
            let steps = steps();
            ChangeCodec {
                first: NumberCodec::fit(&steps.firsts, &steps.first_owners, plain),
                step: NumberCodec::fit(&steps.steps, &steps.step_owners, plain),
            }
        }),
    }
}

/// The values of a column before which none was observed in their sequence, the others as steps from the last observed,
/// and whose each is; NaN where missing.
struct Steps {
    firsts: Vec<f64>,
    first_owners: Vec<u32>,
    steps: Vec<f64>,
    step_owners: Vec<u32>,
}

impl Steps {
    fn of(values: &[f64], offsets: &[usize], sequence: &[u32], protection: Protection) -> Steps {
        let mut all = Steps {
            firsts: Vec::new(),
            first_owners: Vec::new(),
            steps: Vec::new(),
            step_owners: Vec::new(),
        };
        for (row, value, last) in with_last(values, offsets) {
            if last.is_nan() {
                all.firsts.push(value);
                all.first_owners.push(sequence[row]);
            } else {
                all.steps.push(step(last, value));
                all.step_owners.push(sequence[row]);
            }
        }
        if protection.is_on() {
            all.steps = protection.clip(&all.steps, &all.step_owners).into_owned();
        }
        all
    }
}

/// The steps that are not missing.
fn changes(
    values: &[f64],
    offsets: &[usize],
    sequence: &[u32],
    protection: Protection,
) -> Vec<f64> {
    let mut changes: Vec<f64> = match protection.is_on() {
        true => Steps::of(values, offsets, sequence, protection).steps,
        false => with_last(values, offsets)
            .filter(|(_, _, last)| !last.is_nan())
            .map(|(_, value, last)| step(last, value))
            .collect(),
    };
    changes.retain(|change| !change.is_nan());
    changes
}

fn step(last: f64, value: f64) -> f64 {
    round_difference(value - last, value.abs().max(last.abs()))
}

/// The values before which one was observed in their sequence.
fn observed(values: &[f64], offsets: &[usize]) -> Vec<f64> {
    with_last(values, offsets)
        .filter(|(_, value, last)| !value.is_nan() && !last.is_nan())
        .map(|(_, value, _)| value)
        .collect()
}

/// Each row, its value, and the last value observed before it in its sequence; NaN where there is none.
fn with_last(values: &[f64], offsets: &[usize]) -> impl Iterator<Item = (usize, f64, f64)> {
    offsets.windows(2).flat_map(move |ends| {
        (ends[0]..ends[1]).scan(f64::NAN, move |last, row| {
            let (value, before) = (values[row], *last);
            if !value.is_nan() {
                *last = value;
            }
            Some((row, value, before))
        })
    })
}

/// Differences of a unit's places from the last observed value to the next.
fn changes_in(unit: Unit, values: &[f64], offsets: &[usize]) -> Vec<f64> {
    let mut changes = Vec::with_capacity(values.len());
    for ends in offsets.windows(2) {
        let observed: Vec<f64> = values[ends[0]..ends[1]]
            .iter()
            .filter(|value| !value.is_nan())
            .map(|&value| unit.of(value))
            .collect();
        // From one end of the floats to the other is further than they reach.
        let change = |pair: &[f64]| (pair[1] - pair[0]).clamp(f64::MIN, f64::MAX);
        changes.extend(observed.windows(2).map(change));
    }
    changes
}

/// Puts the values in order.
pub(super) fn interquartile_range(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n => values[n * 3 / 4] - values[n / 4],
    }
}

/// Entropy in nats of values cut into cells of one width, with the correction of Miller (1955) for few values.
pub(super) fn entropy(values: Vec<f64>, width: f64) -> f64 {
    let n = values.len() as f64;
    let mut cells: Vec<f64> = values.into_iter().map(|v| (v / width).round()).collect();
    cells.sort_unstable_by(f64::total_cmp);
    let (mut sum, mut occupied) = (0.0, 0.0);
    for run in cells.chunk_by(|a, b| a == b) {
        let share = run.len() as f64 / n;
        sum -= share * share.ln();
        occupied += 1.0;
    }
    sum + (occupied - 1.0) / (2.0 * n)
}

/// The unit of a column's scale.
pub(super) fn unit(values: &[f64], choice: NumberChoice) -> Unit {
    let least = values
        .iter()
        .copied()
        .filter(|&v| v > 0.0)
        .fold(f64::NAN, f64::min);
    Unit::for_values(&[least], choice.distribution)
}

/// The values that the scale of a column may be made of: with protection, those that are listed where all are.
pub(super) fn told<'v>(
    codec: &NumberCodec,
    values: &'v [f64],
    protection: Protection,
) -> Cow<'v, [f64]> {
    if protection.is_on() {
        Cow::Owned(values.iter().map(|&value| codec.listed(value)).collect())
    } else {
        Cow::Borrowed(values)
    }
}
