//! Metrics of pairs of columns: correlation of two numbers, tables of anything else.

use std::hash::Hash;

use super::categories::Codes;
use super::numbers::{extremes, mean};

/// How the correlation of two columns of numbers is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Coefficient {
    /// Of the values: how near they lie to a straight line.
    Pearson,
    /// Of the ranks, ties sharing their mean: how near one column is to rising or falling with the other.
    Spearman,
}

/// Cells of a table up to which it is counted without sorting, however few the rows.
const SMALL_TABLE: usize = 1 << 16;

/// The correlation of two columns over the rows in which neither is missing, in `[-1, 1]`. `None` where fewer than two
/// rows are left, one column is constant in them, or a value is infinite.
pub fn correlation(first: &[f64], second: &[f64], coefficient: Coefficient) -> Option<f64> {
    match coefficient {
        Coefficient::Pearson => gapped_pearson(first, second),
        Coefficient::Spearman => {
            let both = first.iter().zip(second);
            let both = both.filter(|(first, second)| !first.is_nan() && !second.is_nan());
            let (first, second): (Vec<f64>, Vec<f64>) = both.unzip();
            gapped_pearson(&ranks(&first), &ranks(&second))
        }
    }
}

/// SDMetrics' `CorrelationSimilarity`: 1 less half the difference of the two correlations, where the real one is
/// farther from zero than `threshold` (in `[0, 1]`; 0 there by default). `None` where it is not, or where a column is
/// constant on one side.
pub fn correlation_similarity(
    real: (&[f64], &[f64]),
    synthetic: (&[f64], &[f64]),
    coefficient: Coefficient,
    threshold: f64,
) -> Option<f64> {
    // Constant once the missing cells of that column alone are left out.
    if [real.0, real.1, synthetic.0, synthetic.1].map(is_constant) != [false; 4] {
        return None;
    }
    let real = correlation(real.0, real.1, coefficient)?;
    if real.abs() <= threshold {
        return None;
    }
    let synthetic = correlation(synthetic.0, synthetic.1, coefficient)?;
    Some(1.0 - (real - synthetic).abs() / 2.0)
}

/// SDMetrics' `ContingencySimilarity`: 1 less the total variation distance of the tables that count how often each
/// pair of categories occurs, a missing cell being a category, where Cramér's V of the real one is above `threshold`
/// (in `[0, 1]`; 0 there by default, and then no pair is left out). `None` where it is not, or where a side has no row.
/// Numbers go through [`discretize`] first.
pub fn contingency_similarity<A: Eq + Hash, B: Eq + Hash>(
    real: (&[Option<A>], &[Option<B>]),
    synthetic: (&[Option<A>], &[Option<B>]),
    threshold: f64,
) -> Option<f64> {
    let (mut first, mut second) = (Codes::default(), Codes::default());
    let (real_first, real_second) = (first.of(real.0), second.of(real.1));
    let (synthetic_first, synthetic_second) = (first.of(synthetic.0), second.of(synthetic.1));
    let (first_labels, second_labels) = (first.places.len(), second.places.len());
    let counts = |first_codes: &[u32], second_codes: &[u32]| {
        PairCounts::of(&CodePair {
            first: first_codes,
            second: second_codes,
            first_labels,
            second_labels,
        })
    };
    let real = counts(&real_first, &real_second);
    if threshold > 0.0 && real.cramers_v()? <= threshold {
        return None;
    }
    complement_of_variation(&real, &counts(&synthetic_first, &synthetic_second))
}

/// Cramér's V of two columns of categories, a missing cell being one: 0 where they have nothing to do with each other,
/// 1 where one says all of the other. `None` where one of them is constant.
pub fn cramers_v<A: Eq + Hash, B: Eq + Hash>(
    first: &[Option<A>],
    second: &[Option<B>],
) -> Option<f64> {
    let (mut first_codes, mut second_codes) = (Codes::default(), Codes::default());
    let (first, second) = (first_codes.of(first), second_codes.of(second));
    PairCounts::of(&CodePair {
        first: &first,
        second: &second,
        first_labels: first_codes.places.len(),
        second_labels: second_codes.places.len(),
    })
    .cramers_v()
}

/// Cuts numbers into `bins` of equal width over the real range, the outer ones open; a missing cell is a bin of its
/// own. What SDMetrics does with the `continuous_column_names` of `ContingencySimilarity` (10 bins there by default).
pub fn discretize(
    real: &[f64],
    synthetic: &[f64],
    bins: usize,
) -> (Vec<Option<u32>>, Vec<Option<u32>>) {
    let mut edges = even_edges(extremes(real), bins.clamp(1, SMALL_TABLE));
    let last = edges.len() - 1;
    (edges[0], edges[last]) = (f64::NEG_INFINITY, f64::INFINITY);
    let cut = |cells: &[f64]| {
        let cells = cells.iter().map(|&cell| Some(digitize(cell, &edges)));
        cells.collect()
    };
    (cut(real), cut(synthetic))
}

/// The limits of bins of equal width: one more than there are bins. A range of nothing is taken as 0 to 1, that of one
/// value as half below to half above it.
pub(crate) fn even_edges(range: Option<(f64, f64)>, bins: usize) -> Vec<f64> {
    let (mut low, mut high) = range.unwrap_or((0.0, 1.0));
    if low == high {
        (low, high) = (low - 0.5, high + 0.5);
    }
    let width = high - low;
    // A width beyond the largest number: halves.
    let step = if width.is_finite() {
        width / bins as f64
    } else {
        (high / 2.0 - low / 2.0) / bins as f64 * 2.0
    };
    let mut edges: Vec<f64> = (0..=bins).map(|edge| edge as f64 * step + low).collect();
    edges[bins] = high;
    edges
}

/// How many of the ascending edges are not above the number; as many as there are where it is missing.
pub(crate) fn digitize(number: f64, edges: &[f64]) -> u32 {
    let place = edges.partition_point(|&edge| edge <= number || number.is_nan());
    u32::try_from(place).unwrap_or(u32::MAX)
}

fn is_constant(cells: &[f64]) -> bool {
    extremes(cells).is_some_and(|(low, high)| low == high)
}

/// Positions in the order of the values from 1, ties sharing their mean; no value may be NaN.
fn ranks(values: &[f64]) -> Vec<f64> {
    ranks_in(values, &ascending(values))
}

/// The rows in which a value is present, by their value.
pub(crate) fn ascending(values: &[f64]) -> Vec<usize> {
    let rows = values.iter().copied().zip(0_usize..);
    let mut rows: Vec<(f64, usize)> = rows.filter(|(value, _)| !value.is_nan()).collect();
    rows.sort_unstable_by(|left, right| left.0.total_cmp(&right.0).then(left.1.cmp(&right.1)));
    rows.into_iter().map(|(_, row)| row).collect()
}

/// As [`ranks`], of the rows in `order`, which goes by value; NaN of all others.
pub(crate) fn ranks_in(values: &[f64], order: &[usize]) -> Vec<f64> {
    let mut ranks = vec![f64::NAN; values.len()];
    let mut start = 0;
    for tie in order.chunk_by(|&left, &right| values[left] == values[right]) {
        let rank = start as f64 + (tie.len() + 1) as f64 / 2.0;
        for &row in tie {
            ranks[row] = rank;
        }
        start += tie.len();
    }
    ranks
}

/// Pearson's coefficient of columns without missing cells.
fn pearson(first: &[f64], second: &[f64]) -> Option<f64> {
    Some(product(&standardized(first)?, &standardized(second)?))
}

/// Pearson's coefficient over the rows in which neither cell is missing, without a copy of them.
pub(crate) fn gapped_pearson(first: &[f64], second: &[f64]) -> Option<f64> {
    let both = || {
        let rows = first.iter().copied().zip(second.iter().copied());
        rows.filter(|(first, second)| !first.is_nan() && !second.is_nan())
    };
    let start = both().next()?;
    let (mut count, mut sums, mut constant) = (0.0, (0.0, 0.0), (true, true));
    for (first, second) in both() {
        count += 1.0;
        // Sums of differences, so that what lies far from zero loses nothing.
        sums = (sums.0 + (first - start.0), sums.1 + (second - start.1));
        constant = (
            constant.0 && first == start.0,
            constant.1 && second == start.1,
        );
    }
    if constant.0 || constant.1 {
        return None;
    }
    let means = (start.0 + sums.0 / count, start.1 + sums.1 / count);
    let (mut products, mut squares) = (0.0, (0.0, 0.0));
    for (first, second) in both() {
        let (left, right) = (first - means.0, second - means.1);
        products += left * right;
        squares = (squares.0 + left * left, squares.1 + right * right);
    }
    let coefficient: f64 = products / (f64::sqrt(squares.0) * f64::sqrt(squares.1));
    if coefficient.is_finite() && squares.0.is_normal() && squares.1.is_normal() {
        return Some(coefficient.clamp(-1.0, 1.0));
    }
    let (first, second): (Vec<f64>, Vec<f64>) = both().unzip();
    pearson(&first, &second) // squares beyond the smallest or largest number: scaled
}

/// Deviations from the mean, their squares summing to 1; `None` of less than two values, of equal ones and where they
/// are not finite.
pub(crate) fn standardized(cells: &[f64]) -> Option<Vec<f64>> {
    if cells.len() < 2 || is_constant(cells) {
        return None;
    }
    let mean = mean(cells);
    let mut deviations: Vec<f64> = cells.iter().map(|cell| cell - mean).collect();
    let largest = deviations
        .iter()
        .fold(0.0_f64, |largest, deviation| largest.max(deviation.abs()));
    deviations
        .iter_mut()
        .for_each(|deviation| *deviation /= largest);
    let squares: f64 = deviations
        .iter()
        .map(|deviation| deviation * deviation)
        .sum();
    let length = squares.sqrt();
    deviations
        .iter_mut()
        .for_each(|deviation| *deviation /= length);
    (length.is_finite() && length > 0.0).then_some(deviations)
}

/// The correlation of two standardized columns.
pub(crate) fn product(first: &[f64], second: &[f64]) -> f64 {
    let products = first
        .iter()
        .zip(second)
        .map(|(first, second)| first * second);
    products.sum::<f64>().clamp(-1.0, 1.0)
}

/// Two columns of codes, row by row; a code that is none of the labels is a missing cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CodePair<'a> {
    pub(crate) first: &'a [u32],
    pub(crate) second: &'a [u32],
    pub(crate) first_labels: usize,
    pub(crate) second_labels: usize,
}

/// How often each pair of codes occurs.
#[derive(Debug, Clone)]
pub(crate) struct PairCounts {
    /// Cell and count, cells ascending; a cell is `first * second_size + second`.
    cells: Vec<(u64, usize)>,
    /// How many categories each column can have, missing included.
    first_size: usize,
    second_size: usize,
    rows: usize,
}

impl PairCounts {
    pub(crate) fn of(pair: &CodePair) -> PairCounts {
        let limit = |labels: usize| u32::try_from(labels).unwrap_or(u32::MAX);
        let (first_missing, second_missing) = (limit(pair.first_labels), limit(pair.second_labels));
        let width = u64::from(second_missing) + 1;
        let cells = pair.first.iter().zip(pair.second);
        let cells = cells.map(|(&first, &second)| {
            u64::from(first.min(first_missing)) * width + u64::from(second.min(second_missing))
        });
        let rows = cells.len();
        let (first_size, second_size) = (pair.first_labels + 1, pair.second_labels + 1);
        let size = first_size.saturating_mul(second_size);
        PairCounts {
            cells: if size <= SMALL_TABLE.max(2 * rows) {
                counted(cells, size)
            } else {
                sorted_and_counted(cells.collect())
            },
            first_size,
            second_size,
            rows,
        }
    }

    /// The categories of a cell.
    fn categories(&self, cell: u64) -> (usize, usize) {
        let width = self.second_size as u64;
        let place = |category: u64| usize::try_from(category).unwrap_or(usize::MAX);
        (place(cell / width), place(cell % width))
    }

    /// `None` where one column is constant.
    pub(crate) fn cramers_v(&self) -> Option<f64> {
        let (mut first, mut second) = (vec![0; self.first_size], vec![0; self.second_size]);
        for &(cell, count) in &self.cells {
            let (row, column) = self.categories(cell);
            first[row] += count;
            second[column] += count;
        }
        let occurring = |margin: &[usize]| margin.iter().filter(|&&count| count > 0).count();
        let (first_occurring, second_occurring) = (occurring(&first), occurring(&second));
        let freedom = first_occurring.min(second_occurring).checked_sub(1)?;
        if freedom == 0 {
            return None;
        }
        let rows = self.rows as f64;
        let (mut statistic, mut met) = (0.0, 0.0);
        for &(cell, count) in &self.cells {
            let (row, column) = self.categories(cell);
            let expected = first[row] as f64 * second[column] as f64 / rows;
            statistic += (count as f64 - expected).powi(2) / expected;
            met += expected;
        }
        // Empty cells add what is expected of them; where there are none, the difference is noise.
        if first_occurring * second_occurring > self.cells.len() {
            statistic += rows - met;
        }
        Some((statistic.max(0.0) / rows / freedom as f64).sqrt().min(1.0))
    }
}

fn counted(cells: impl Iterator<Item = u64>, size: usize) -> Vec<(u64, usize)> {
    let mut counts = vec![0_usize; size];
    for cell in cells {
        if let Some(count) = usize::try_from(cell).ok().and_then(|at| counts.get_mut(at)) {
            *count += 1;
        }
    }
    let cells = (0..).zip(counts);
    cells.filter(|&(_, count)| count > 0).collect()
}

fn sorted_and_counted(mut cells: Vec<u64>) -> Vec<(u64, usize)> {
    cells.sort_unstable();
    let runs = cells.chunk_by(|left, right| left == right);
    runs.map(|run| (run[0], run.len())).collect()
}

/// 1 less the total variation distance of two tables of the same categories; `None` where one has no row.
pub(crate) fn complement_of_variation(real: &PairCounts, synthetic: &PairCounts) -> Option<f64> {
    if real.rows == 0 || synthetic.rows == 0 {
        return None;
    }
    let share = |count: usize, of: usize| count as f64 / of as f64;
    let (mut left, mut right) = (real.cells.as_slice(), synthetic.cells.as_slice());
    let mut variation = 0.0;
    loop {
        let (cell, other) = match (left.first(), right.first()) {
            (Some(&(cell, _)), Some(&(other, _))) => (cell, other),
            (Some(&(cell, _)), None) => (cell, u64::MAX),
            (None, Some(&(other, _))) => (u64::MAX, other),
            (None, None) => break,
        };
        let mut shares = [0.0, 0.0];
        if cell <= other {
            shares[0] = share(left[0].1, real.rows);
            left = &left[1..];
        }
        if other <= cell {
            shares[1] = share(right[0].1, synthetic.rows);
            right = &right[1..];
        }
        variation += (shares[0] - shares[1]).abs() / 2.0;
    }
    Some((1.0 - variation).clamp(0.0, 1.0))
}
