//! Numbers: how a column's values become a class plus a normal score, and come back.
//! In: plain values, NaN where missing. Out: [`Target`]s for the network's heads, and values again.
//!
//! A value is *missing*, the *same* as the row before, an *atom* (an exact value that recurs), in a *bin*, or *continuous*:
//! mapped by the column's empirical distribution to a uniform share and on to a standard normal score. A rounded
//! value stands for an interval of scores, so its likelihood is exact.

#![allow(
    clippy::cast_possible_truncation,
    reason = "scores are handed to the network in f32; counts fit u32"
)]

mod bins;
mod counts;
mod distinct;
mod grid;
mod quantile;
mod scale;
mod sorted;

pub(crate) use bins::Bin;
pub(crate) use grid::Grid;
pub(crate) use quantile::{KnotPlacement, QuantileMap, Unit};
pub(crate) use scale::{FEATURE_LIMIT, NumberScale, mean_and_deviation};
pub(crate) use sorted::Sorted;

use crate::distribution::NumericalDistribution;
use crate::protection::Protection;
use distinct::Distinct;

/// How a value column is told apart from noise: all shares and counts below.
const ATOMS_IF_AT_MOST_DISTINCT: usize = 20;
const ATOM_SHARE: f64 = 0.02;
const ATOM_COUNT: usize = 5;
const ATOM_SEQUENCES: usize = 3;
const ATOM_OVER_NEIGHBOURS: f64 = 3.0;
const SAME_SHARE: f64 = 0.05;
/// The narrowest interval of scores that a value stands for; a floor for the likelihood of one value.
const NARROWEST_INTERVAL: f64 = 2e-3;
/// What a number is to the network: a class and, for the continuous class, an interval of scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Target {
    pub(crate) class: u32,
    /// Lower end of the interval of scores.
    pub(crate) low: f32,
    /// Upper end of the interval of scores.
    pub(crate) high: f32,
    /// What turns the interval's probability into a density in the column's unit, in nats; 0 for rounded values.
    pub(crate) log_density: f32,
}

/// Everything learned about one stream of numbers: classes, grid, range, distribution.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NumberCodec {
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) grid: Option<Grid>,
    /// All values there are, when they are few and recur; empty otherwise.
    pub(crate) support: Vec<f64>,
    pub(crate) has_missing: bool,
    pub(crate) has_same: bool,
    pub(crate) atoms: Vec<f64>,
    /// The distribution of the values that are no atoms; none when every value is one, or in a bin.
    pub(crate) continuous: Option<QuantileMap>,
    /// In rising order, where the column is learned in bins; empty otherwise.
    pub(crate) bins: Vec<Bin>,
    /// Whether values come back on the grid or the support.
    pub(crate) is_rounded: bool,
}

/// What decides how a [`NumberCodec`] is fitted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NumberOptions {
    /// The share of rows that repeat the row before; above 5 % "same" becomes a class.
    pub(crate) same_share: f64,
    pub(crate) placement: KnotPlacement,
    /// Values are clipped by it, and values that are told exactly are seen in enough sequences.
    pub(crate) protection: Protection,
    pub(crate) distribution: NumericalDistribution,
    /// Whether values come back on the grid that they were written on; else few values are not all there are.
    pub(crate) is_rounded: bool,
}

impl NumberCodec {
    /// Learns from `values` (NaN is missing); `sequence` tells whose each value is.
    pub(crate) fn fit(values: &[f64], sequence: &[u32], options: NumberOptions) -> NumberCodec {
        let has_missing = values.iter().any(|v| v.is_nan());
        let values = &*options.protection.clip(values, sequence);
        let mut distinct = Distinct::count(values, sequence);
        if distinct.values.is_empty() {
            return NumberCodec::all_missing();
        }
        let grid = Grid::fit(&distinct.values);
        match options.distribution {
            NumericalDistribution::Bins(most) => {
                let bins = Bin::fit(&distinct, most, options.protection);
                return NumberCodec {
                    bins,
                    ..NumberCodec::empty(&distinct.values, grid, has_missing, options)
                };
            }
            NumericalDistribution::Counts => {
                let present: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
                return NumberCodec {
                    continuous: Some(counts::map(&present)),
                    ..NumberCodec::empty(&distinct.values, Some(Grid::WHOLE), has_missing, options)
                };
            }
            NumericalDistribution::Learned | NumericalDistribution::Logarithmic => {}
        }
        let resolution = grid.as_ref().map_or(0.0, Grid::resolution);
        let several = sequence.windows(2).any(|pair| pair[0] != pair[1]);
        // A value repeated along one sequence is no recurring value: evidence is counted in sequences.
        let evidence = if several {
            &distinct.sequences
        } else {
            &distinct.rows
        };
        let total: usize = distinct.rows.iter().sum();
        let count = distinct.values.len();
        let mut finite = options.is_rounded
            && count > ATOMS_IF_AT_MOST_DISTINCT
            && is_finite_support(&distinct.values, evidence, resolution);
        // Few distinct values are all there are, unless so few rows were seen that most came up once.
        let mut is_short_list = count == 1
            || (options.is_rounded && count <= ATOMS_IF_AT_MOST_DISTINCT && total >= 2 * count);
        if options.protection.is_on() && (finite || is_short_list) {
            let shared = distinct.shared(options.protection);
            // A list needs a value, cells around supported values need two; without them the column is smooth.
            is_short_list &= !shared.values.is_empty();
            finite &= shared.values.len() >= 2;
            if finite || is_short_list {
                distinct = shared;
            }
        }
        let Distinct {
            values: seen,
            rows,
            sequences,
        } = &distinct;
        let unit = Unit::for_values(seen, options.distribution);
        let is_atom = |i: usize| {
            is_short_list
                || (seen[i] <= 0.0 && unit != Unit::Plain)
                || (rows[i] as f64 >= ATOM_SHARE * total as f64
                    && rows[i] >= ATOM_COUNT
                    && (!several || sequences[i] >= ATOM_SEQUENCES)
                    && !options.protection.hides(sequences[i])
                    && rows[i] as f64 >= ATOM_OVER_NEIGHBOURS * median_of_neighbours(rows, i))
        };
        let atom_flags: Vec<bool> = (0..seen.len()).map(is_atom).collect();
        let atoms = picked(seen, &atom_flags, true);
        let continuous = (atoms.len() < seen.len()).then(|| {
            let map = |values: &[f64], counts: &[usize]| {
                QuantileMap::fit(values, counts, resolution, finite, options.placement, unit)
            };
            match atoms.is_empty() {
                // As many as there are rows, where no value comes twice.
                true => map(seen, rows),
                false => map(
                    &picked(seen, &atom_flags, false),
                    &picked(rows, &atom_flags, false),
                ),
            }
        });
        NumberCodec {
            support: if finite { seen.clone() } else { Vec::new() },
            atoms,
            continuous,
            ..NumberCodec::empty(seen, grid, has_missing, options)
        }
    }

    /// Range and grid of the sorted values, and no class for any of them yet.
    fn empty(
        seen: &[f64],
        grid: Option<Grid>,
        has_missing: bool,
        options: NumberOptions,
    ) -> NumberCodec {
        NumberCodec {
            low: seen[0],
            high: seen[seen.len() - 1],
            grid,
            support: Vec::new(),
            has_missing,
            has_same: options.same_share > SAME_SHARE,
            atoms: Vec::new(),
            continuous: None,
            bins: Vec::new(),
            is_rounded: options.is_rounded,
        }
    }

    /// A value as it may be told: where all values are listed, the nearest of them.
    pub(crate) fn listed(&self, value: f64) -> f64 {
        let list = match &self.continuous {
            Some(_) => &self.support,
            None => &self.atoms,
        };
        match nearest(list, value) {
            Some(at) if !value.is_nan() => list[at],
            _ => value,
        }
    }

    /// A column in which no value was ever seen: its one class is "missing".
    fn all_missing() -> NumberCodec {
        NumberCodec {
            low: 0.0,
            high: 0.0,
            grid: None,
            support: Vec::new(),
            has_missing: true,
            has_same: false,
            atoms: Vec::new(),
            continuous: None,
            bins: Vec::new(),
            is_rounded: true,
        }
    }

    /// How many classes: missing?, same?, atoms, bins, continuous?.
    pub(crate) fn classes(&self) -> usize {
        self.first_bin() + self.bins.len() + usize::from(self.continuous.is_some())
    }

    fn first_bin(&self) -> usize {
        self.first_atom() + self.atoms.len()
    }

    /// The bin of a class, if it is one.
    pub(crate) fn bin(&self, class: usize) -> Option<&Bin> {
        self.bins.get(class.checked_sub(self.first_bin())?)
    }

    fn first_atom(&self) -> usize {
        usize::from(self.has_missing) + usize::from(self.has_same)
    }

    /// The class "missing", if missing values were seen.
    pub(crate) fn missing_class(&self) -> Option<usize> {
        self.has_missing.then_some(0)
    }

    /// The class "same as the row before", which needs a row before.
    pub(crate) fn same_class(&self) -> Option<usize> {
        self.has_same.then_some(usize::from(self.has_missing))
    }

    /// The class "continuous", the last.
    pub(crate) fn continuous_class(&self) -> Option<usize> {
        self.continuous.is_some().then(|| self.classes() - 1)
    }

    /// The class and scores of a value, given the last value observed before it (NaN if none).
    /// A value that no class holds goes to the nearest that does.
    pub(crate) fn target(&self, value: f64, last: f64) -> Target {
        let class = |class: usize| Target {
            class: class as u32,
            low: 0.0,
            high: 0.0,
            log_density: 0.0,
        };
        if value.is_nan() {
            return class(0);
        }
        if let Some(same) = self.same_class()
            && value == last
        {
            return class(same);
        }
        if let Some(at) = bins::position(&self.bins, value) {
            let resolution = self.resolution();
            return Target {
                log_density: self.bins[at].log_density(resolution) as f32,
                ..class(self.first_bin() + at)
            };
        }
        let nearest_atom = nearest(&self.atoms, value);
        match (&self.continuous, nearest_atom) {
            (_, Some(atom)) if self.atoms[atom] == value => class(self.first_atom() + atom),
            (Some(map), _) => self.interval(map, value),
            (None, Some(atom)) => class(self.first_atom() + atom),
            (None, None) => class(0),
        }
    }

    /// Distance between neighbouring values; 0 where there is no grid.
    pub(crate) fn resolution(&self) -> f64 {
        self.grid.as_ref().map_or(0.0, Grid::resolution)
    }

    fn interval(&self, map: &QuantileMap, value: f64) -> Target {
        let resolution = self.resolution();
        let rounded = resolution > 0.0 || !self.support.is_empty();
        let (low, high) = if self.support.is_empty() {
            (
                map.score(value - resolution / 2.0),
                map.score(value + resolution / 2.0),
            )
        } else {
            let (low, high) = self.support_cell(value);
            (map.score(low), map.score(high))
        };
        let centre = if rounded {
            f64::midpoint(low, high)
        } else {
            map.score(value)
        };
        let half = (high - low).max(NARROWEST_INTERVAL) / 2.0;
        let (low, high) = (centre - half, centre + half);
        let log_density = if rounded {
            0.0
        } else {
            -(map.value(high) - map.value(low)).max(1e-12).ln()
        };
        Target {
            class: (self.classes() - 1) as u32,
            low: low as f32,
            high: high as f32,
            log_density: log_density as f32,
        }
    }

    /// The interval nearer to one supported value than to its neighbours.
    fn support_cell(&self, value: f64) -> (f64, f64) {
        let support = &self.support;
        let at = nearest(support, value).unwrap_or(0);
        let half = |left: usize| (support[left + 1] - support[left]) / 2.0;
        let below = if at == 0 { half(0) } else { half(at - 1) };
        let above = if at + 1 == support.len() {
            half(at - 1)
        } else {
            half(at)
        };
        (support[at] - below, support[at] + above)
    }

    /// The value of a drawn class and score (of a bin: the share of the way through it), not yet rounded; past the
    /// outermost values seen unless kept within them.
    pub(crate) fn decode(&self, class: usize, score: f64, last: f64, within_range: bool) -> f64 {
        if Some(class) == self.missing_class() {
            return f64::NAN;
        }
        if Some(class) == self.same_class() {
            return last;
        }
        if let Some(bin) = self.bin(class) {
            return bin.value(score, self.resolution());
        }
        match (self.atoms.get(class - self.first_atom()), &self.continuous) {
            (Some(&atom), _) => atom,
            (None, Some(map)) if within_range => map.value(score),
            (None, Some(map)) => map.value_beyond(score),
            (None, None) => f64::NAN,
        }
    }

    /// A value as the column would write it: on its support or grid if it is rounded, and within its range if asked.
    pub(crate) fn restore(&self, value: f64, within_range: bool) -> f64 {
        let value = if within_range {
            value.clamp(self.low, self.high)
        } else {
            value
        };
        if !self.is_rounded || value.is_nan() {
            return value;
        }
        match (nearest(&self.support, value), &self.grid) {
            (Some(at), _) => self.support[at],
            (None, Some(grid)) => {
                let mut rounded = grid.round(value);
                if within_range {
                    // The ends may lie off the grid by what it tolerates.
                    rounded = rounded.clamp(self.low, self.high);
                }
                // An atom keeps the very float that was seen, which a decimal may miss by its last bit.
                match nearest(&self.atoms, rounded) {
                    Some(at) if (self.atoms[at] - rounded).abs() < grid.resolution() * 1e-6 => {
                        self.atoms[at]
                    }
                    _ => rounded,
                }
            }
            (None, None) => value,
        }
    }
}

/// The values whose flag is the wanted one.
fn picked<T: Copy>(values: &[T], flags: &[bool], wanted: bool) -> Vec<T> {
    let flagged = values.iter().zip(flags);
    flagged
        .filter(|(_, flag)| **flag == wanted)
        .map(|(value, _)| *value)
        .collect()
}

/// Position of the nearest of sorted values.
fn nearest(sorted: &[f64], value: f64) -> Option<usize> {
    let after = sorted.partition_point(|&v| v < value);
    match (after.checked_sub(1), sorted.get(after)) {
        (Some(before), Some(next)) if value - sorted[before] < next - value => Some(before),
        (_, Some(_)) => Some(after),
        (before, None) => before,
    }
}

fn median_of_neighbours(counts: &[usize], at: usize) -> f64 {
    let mut around: Vec<usize> = (at.saturating_sub(3)..(at + 4).min(counts.len()))
        .filter(|&i| i != at)
        .map(|i| counts[i])
        .collect();
    around.sort_unstable();
    match around.len() {
        0 => 0.0,
        n if n % 2 == 1 => around[n / 2] as f64,
        n => f64::midpoint(around[n / 2 - 1] as f64, around[n / 2] as f64),
    }
}

/// Whether the values seen are all there are: in blocks of ten neighbours, far fewer distinct values than a
/// smooth density over the block's grid cells would give, and each seen again and again.
fn is_finite_support(seen: &[f64], evidence: &[usize], resolution: f64) -> bool {
    let (mut found, mut expected) = (0.0, 0.0);
    for (values, counts) in seen.chunks(10).zip(evidence.chunks(10)) {
        if values.len() < 3 {
            continue;
        }
        let observations = counts.iter().sum::<usize>() as f64;
        found += values.len() as f64;
        expected += if resolution > 0.0 {
            let cells = (values[values.len() - 1] - values[0]) / resolution + 1.0;
            cells * -(-observations / cells).exp_m1()
        } else {
            observations
        };
    }
    let total = evidence.iter().sum::<usize>() as f64;
    let mean = total / seen.len() as f64;
    let recurring = evidence.iter().filter(|&&c| c >= 2).sum::<usize>() as f64 / total.max(1.0);
    found < 0.7 * expected
        && ((seen.len() <= 256 && mean >= 8.0) || (recurring >= 0.9 && mean >= 4.0))
}

#[cfg(test)]
mod tests;
