//! Bins that several tables have in common, made for the bulk of the real values, with named tails.

use super::super::metrics::{even_edges, quantile};
use super::{Histogram, HistogramSide};

/// Bins of numbers of any kind.
const BINS: usize = 30;
/// Numbers that are whole (or dates on whole days) have a bin each up to so many.
const MOST_BINS: usize = 40;
/// The share of values at either end that need not fit into the bins.
const TAIL: f64 = 0.005;

/// What values may be whole multiples of, so that no bin holds more of them than its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Unit {
    /// Whole numbers.
    One,
    /// Seconds: whole days, hours, minutes, seconds.
    Time,
}

impl Unit {
    fn sizes(self) -> &'static [f64] {
        match self {
            Unit::One => &[1.0],
            Unit::Time => &[86_400.0, 3_600.0, 60.0, 1.0],
        }
    }
}

/// A histogram of sorted values; `None` where no real one is finite.
pub(in super::super) fn histogram(
    real: &[f64],
    synthetic: &[f64],
    holdout: Option<&[f64]>,
    unit: Unit,
) -> Option<Histogram> {
    let edges = edges(finite_part(real), finite_part(synthetic), unit)?;
    Some(Histogram {
        real: side(real, &edges),
        synthetic: side(synthetic, &edges),
        holdout: holdout.map(|holdout| side(holdout, &edges)),
        edges,
    })
}

fn finite_part(sorted: &[f64]) -> &[f64] {
    let start = sorted.partition_point(|&value| value == f64::NEG_INFINITY);
    let end = sorted.partition_point(|&value| value < f64::INFINITY);
    &sorted[start..end]
}

/// The bulk of the real values, widened where the bulk of the synthetic ones asks for it, to three times its width at
/// most: a synthetic column that is far off does not squeeze the real one into one bin.
fn edges(real: &[f64], synthetic: &[f64], unit: Unit) -> Option<Vec<f64>> {
    let (&smallest, &largest) = (real.first()?, real.last()?);
    let (mut low, mut high) = (quantile(real, TAIL), quantile(real, 1.0 - TAIL));
    if low == high {
        (low, high) = (smallest, largest);
    }
    let width = high - low;
    if let (Some(&first), Some(&last)) = (synthetic.first(), synthetic.last())
        && width > 0.0
    {
        let (bulk_low, bulk_high) = (quantile(synthetic, TAIL), quantile(synthetic, 1.0 - TAIL));
        low = low.min(bulk_low.max(low - width)).max(first.min(smallest));
        high = high.max(bulk_high.min(high + width)).min(last.max(largest));
    }
    let whole = |size: &&f64| real.iter().all(|value| (value / **size).fract() == 0.0);
    if let Some(size) = unit.sizes().iter().find(whole) {
        let (first, last) = ((low / size).floor(), (high / size).ceil());
        let values = last - first + 1.0;
        // Beyond this a half is no longer seen.
        if last.abs().max(first.abs()) < 1e15 {
            let bins = if values <= MOST_BINS as f64 {
                values
            } else {
                BINS as f64
            };
            let width = (values / bins).ceil();
            let bins = (values / width).ceil();
            let edge = |place: usize| (first - 0.5 + place as f64 * width) * size;
            return Some(
                (0..=MOST_BINS)
                    .take_while(|&place| place as f64 <= bins)
                    .map(edge)
                    .collect(),
            );
        }
    }
    if low == high {
        let half = 0.5_f64.max(low.abs() * 1e-6);
        (low, high) = ((low - half).max(f64::MIN), (high + half).min(f64::MAX));
    }
    let mut edges = even_edges(Some((low, high)), BINS);
    edges.retain(|edge| edge.is_finite());
    edges.dedup();
    (edges.len() > 1).then_some(edges)
}

fn side(sorted: &[f64], edges: &[f64]) -> HistogramSide {
    let share = |count: usize| count as f64 / sorted.len().max(1) as f64;
    let last = edges.len() - 1;
    let places: Vec<usize> = (0..=last)
        .map(|edge| {
            let inside =
                |&value: &f64| value < edges[edge] || (edge == last && value == edges[last]);
            sorted.partition_point(inside)
        })
        .collect();
    HistogramSide {
        shares: places
            .windows(2)
            .map(|pair| share(pair[1] - pair[0]))
            .collect(),
        below: share(places[0]),
        above: share(sorted.len() - places[last]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(side: &HistogramSide) -> f64 {
        side.shares.iter().sum::<f64>() + side.below + side.above
    }

    #[test]
    fn an_outlier_lands_in_the_tail_and_leaves_the_bulk_its_bins() {
        let mut real: Vec<f64> = (0..1000).map(|row| f64::from(row) / 999.0).collect();
        real[999] = 1e300;
        let found = histogram(&real, &[f64::NEG_INFINITY, 0.5], None, Unit::One).unwrap();
        assert_eq!(found.edges.len(), BINS + 1);
        assert!(found.edges[BINS] < 1.0);
        assert!(
            found.real.shares.iter().all(|share| *share > 0.01),
            "{found:?}"
        );
        assert_eq!(found.synthetic.below, 0.5);
        assert!((total(&found.real) - 1.0).abs() < 1e-12); // 33 sums of f64
    }

    #[test]
    fn whole_numbers_have_a_bin_each_or_equally_many_a_bin() {
        let few = histogram(&[1.0, 2.0, 2.0, 4.0], &[], None, Unit::One).unwrap();
        assert_eq!(few.edges, [0.5, 1.5, 2.5, 3.5, 4.5]);
        assert_eq!(few.real.shares, [0.25, 0.5, 0.0, 0.25]);
        let many: Vec<f64> = (0..1000).map(f64::from).collect();
        let many = histogram(&many, &[], None, Unit::One).unwrap();
        let whole = many
            .edges
            .windows(2)
            .all(|edges| edges[1] - edges[0] == 34.0);
        assert!(whole, "{:?}", many.edges);
    }

    #[test]
    fn dates_on_whole_days_are_cut_between_days() {
        let days: Vec<f64> = (18_000..18_010)
            .map(|day| f64::from(day) * 86_400.0)
            .collect();
        let found = histogram(&days, &days, None, Unit::Time).unwrap();
        assert_eq!(found.real.shares, [0.1; 10]);
    }

    #[test]
    fn constant_huge_and_empty_columns_have_bins_or_none() {
        for value in [0.0, 0.25, 1e300, -1e300, f64::MAX, 5e-324] {
            let found = histogram(&[value; 3], &[value], None, Unit::One).unwrap();
            assert!(
                found.edges.is_sorted_by(|left, right| left < right),
                "{value}: {found:?}"
            );
            assert!(
                (total(&found.real) - 1.0).abs() < 1e-12,
                "{value}: {found:?}"
            );
        }
        let wide = histogram(&[f64::MIN, 0.0, f64::MAX], &[], None, Unit::One);
        assert!(wide.is_none_or(|found| found.edges.iter().all(|edge| edge.is_finite())));
        assert_eq!(histogram(&[f64::INFINITY], &[1.0], None, Unit::One), None);
        assert_eq!(histogram(&[], &[1.0], None, Unit::One), None);
    }
}
