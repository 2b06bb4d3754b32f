//! Metrics of one column of numbers or dates.

use super::Cell;

/// A figure that stands for a column or a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Statistic {
    /// The arithmetic mean.
    Mean,
    /// The middle value, or the mean of the middle two.
    Median,
    /// The standard deviation, with `n - 1` below the line; undefined of one value.
    StandardDeviation,
    /// The smallest value.
    Smallest,
    /// The largest value.
    Largest,
}

/// SDMetrics' `KSComplement`: 1 less the largest distance between the two empirical distribution functions (the
/// statistic of Kolmogorov and Smirnov). As there, values are first rounded to 14 decimals. `None` where one side has
/// no value.
pub fn ks_complement(real: &[f64], synthetic: &[f64]) -> Option<f64> {
    ks_of_sorted(&rounded(real), &rounded(synthetic))
}

/// SDMetrics' `RangeCoverage`: how much of the real range lies between the smallest and the largest synthetic value.
/// `None` where the real column is constant or one side has no value.
pub fn range_coverage(real: &[f64], synthetic: &[f64]) -> Option<f64> {
    let (low, high) = extremes(real)?;
    let (synthetic_low, synthetic_high) = extremes(synthetic)?;
    if low == high {
        return None;
    }
    // Halves, since the distance of the two largest numbers is not finite.
    let range = high / 2.0 - low / 2.0;
    let below = finite((synthetic_low / 2.0 - low / 2.0) / range)?.max(0.0);
    let above = finite((high / 2.0 - synthetic_high / 2.0) / range)?.max(0.0);
    Some((1.0 - (below + above)).max(0.0))
}

/// SDMetrics' `BoundaryAdherence`: the share of synthetic values between the smallest and the largest real one. A
/// missing synthetic value is left out where the real column has missing values, and is out of bounds where it has
/// none. `None` where there is no synthetic value to look at; 0 where the real column has none.
pub fn boundary_adherence(real: &[f64], synthetic: &[f64]) -> Option<f64> {
    let may_be_missing = real.iter().any(Cell::is_missing);
    let missing = synthetic.iter().filter(|cell| cell.is_nan()).count();
    let rows = synthetic.len() - if may_be_missing { missing } else { 0 };
    if rows == 0 {
        return None;
    }
    let within = extremes(real).map_or(0, |(low, high)| {
        let inside = |cell: &&f64| low <= **cell && **cell <= high;
        synthetic.iter().filter(inside).count()
    });
    Some(within as f64 / rows as f64)
}

/// SDMetrics' `MissingValueSimilarity`: 1 less the difference of the shares of missing cells. `None` where one side
/// has no cell.
pub fn missing_value_similarity<T: Cell>(real: &[T], synthetic: &[T]) -> Option<f64> {
    let missing = |cells: &[T]| cells.iter().filter(|cell| cell.is_missing()).count();
    similarity_of_shares(
        (missing(real), real.len()),
        (missing(synthetic), synthetic.len()),
    )
}

/// SDMetrics' `StatisticSimilarity`: 1 less the difference of a statistic as a share of the real range, at least 0.
/// `None` where the real column is constant or one side has too few values. (The smallest and the largest value, which
/// SDMetrics refuses, are compared alike.)
pub fn statistic_similarity(real: &[f64], synthetic: &[f64], statistic: Statistic) -> Option<f64> {
    let (low, high) = extremes(real)?;
    if low == high {
        return None;
    }
    let of = |cells: &[f64]| statistic.of(cells).map(|figure| figure / 2.0);
    let difference = finite((of(real)? - of(synthetic)?).abs() / (high / 2.0 - low / 2.0))?;
    Some((1.0 - difference).max(0.0))
}

impl Statistic {
    /// The statistic of the values that are present; `None` where there are too few or it is not a number.
    pub(crate) fn of(self, cells: &[f64]) -> Option<f64> {
        let figure = match self {
            Statistic::Mean => mean(cells),
            Statistic::Median => median(cells),
            Statistic::StandardDeviation => spread(cells),
            Statistic::Smallest => extremes(cells)?.0,
            Statistic::Largest => extremes(cells)?.1,
        };
        (!figure.is_nan()).then_some(figure)
    }
}

/// `None` of NaN and infinity.
pub(crate) fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// 1 less the difference of two shares, each a count and of how many.
pub(crate) fn similarity_of_shares(real: (usize, usize), synthetic: (usize, usize)) -> Option<f64> {
    let share = |(count, of): (usize, usize)| count as f64 / of as f64;
    finite(1.0 - (share(real) - share(synthetic)).abs())
}

/// The values that are present, rounded as `ks_complement` does and sorted.
pub(crate) fn rounded(cells: &[f64]) -> Vec<f64> {
    let present = cells.iter().filter(|cell| !cell.is_nan());
    let mut values: Vec<f64> = present.map(|&cell| to_fourteen_decimals(cell)).collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// Differences beyond the 14th decimal are noise of the sums that made the numbers.
pub(crate) fn to_fourteen_decimals(number: f64) -> f64 {
    const SCALE: f64 = 1e14;
    let scaled = number * SCALE;
    if scaled.is_finite() && number.fract() != 0.0 {
        scaled.round_ties_even() / SCALE
    } else {
        number
    }
}

/// 1 less the largest distance of the distribution functions of two sorted samples.
pub(crate) fn ks_of_sorted(real: &[f64], synthetic: &[f64]) -> Option<f64> {
    if real.is_empty() || synthetic.is_empty() {
        return None;
    }
    let (mut left, mut right, mut distance) = (0, 0, 0.0_f64);
    while left < real.len() && right < synthetic.len() {
        let value = real[left].min(synthetic[right]);
        while left < real.len() && real[left] <= value {
            left += 1;
        }
        while right < synthetic.len() && synthetic[right] <= value {
            right += 1;
        }
        let reached = left as f64 / real.len() as f64;
        distance = distance.max((reached - right as f64 / synthetic.len() as f64).abs());
    }
    Some(1.0 - distance)
}

/// Smallest and largest value that is present.
pub(crate) fn extremes(cells: &[f64]) -> Option<(f64, f64)> {
    let mut present = cells.iter().copied().filter(|cell| !cell.is_nan());
    let first = present.next()?;
    Some(present.fold((first, first), |(low, high), cell| {
        (low.min(cell), high.max(cell))
    }))
}

/// Mean of the values that are present, NaN of none. The sum carries its rounding error along (Kahan 1965), as the one
/// of pandas' groups does: means of sequences that are equal there are equal here.
pub(crate) fn mean(cells: &[f64]) -> f64 {
    let (mut sum, mut lost, mut count) = (0.0_f64, 0.0_f64, 0_usize);
    for &cell in cells.iter().filter(|cell| !cell.is_nan()) {
        let corrected = cell - lost;
        let next = sum + corrected;
        lost = next - sum - corrected;
        if lost.is_nan() {
            lost = 0.0; // an infinite sum
        }
        sum = next;
        count += 1;
    }
    sum / count as f64
}

/// Standard deviation of the values that are present, with `n - 1` below the line; NaN of less than two. One pass
/// (Welford 1962), as that of pandas' groups.
pub(crate) fn spread(cells: &[f64]) -> f64 {
    let (mut mean, mut squares, mut count) = (0.0_f64, 0.0_f64, 0.0_f64);
    for &cell in cells.iter().filter(|cell| !cell.is_nan()) {
        count += 1.0;
        let before = mean;
        mean += (cell - before) / count;
        squares += (cell - mean) * (cell - before);
    }
    if count < 2.0 {
        return f64::NAN;
    }
    (squares / (count - 1.0)).sqrt()
}

/// NaN of nothing.
fn median(cells: &[f64]) -> f64 {
    let mut values: Vec<f64> = cells
        .iter()
        .copied()
        .filter(|cell| !cell.is_nan())
        .collect();
    if values.is_empty() {
        return f64::NAN;
    }
    let middle = values.len() / 2;
    let even = values.len().is_multiple_of(2);
    let (lower, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    if !even {
        return upper;
    }
    let lower = lower.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let middle = (lower + upper) / 2.0;
    if middle.is_infinite() {
        lower / 2.0 + upper / 2.0
    } else {
        middle
    }
}

/// The quantile of sorted values, between two of them on the straight line (numpy's default); NaN of nothing.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let place = last as f64 * share.clamp(0.0, 1.0);
    #[allow(
        clippy::cast_possible_truncation,
        reason = "between 0 and the last position"
    )]
    let lower = (place.floor() as usize).min(last);
    let (left, right) = (sorted[lower], sorted[(lower + 1).min(last)]);
    let part = place - lower as f64;
    if left == right {
        return left; // of infinities too
    }
    if part >= 0.5 {
        right - (right - left) * (1.0 - part)
    } else {
        left + (right - left) * part
    }
}
