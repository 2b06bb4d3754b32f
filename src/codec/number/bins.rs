//! Numbers as classes: bins of about as many rows each.

use super::distinct::Distinct;
use crate::protection::Protection;

/// The values from the smallest to the largest that were seen in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bin {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Bin {
    /// At most `most` bins of about equally many rows; values seen in many rows have one of their own. With protection a
    /// bin goes half way to its neighbours where too few sequences share the value at its end.
    pub(super) fn fit(distinct: &Distinct, most: usize, protection: Protection) -> Vec<Bin> {
        let total: usize = distinct.rows.iter().sum();
        let mut below = 0;
        let mut ranges: Vec<(usize, usize, usize)> = Vec::new();
        for (at, rows) in distinct.rows.iter().enumerate() {
            // The bin in which the middle of the value's rows falls.
            let number = (2 * below + rows) * most / (2 * total.max(1));
            below += rows;
            match ranges.last_mut() {
                Some((last, _, end)) if *last == number => *end = at,
                _ => ranges.push((number, at, at)),
            }
        }
        let end = |at: usize, neighbour: Option<usize>| match neighbour {
            Some(neighbour) if protection.hides(distinct.sequences[at]) => {
                f64::midpoint(distinct.values[at], distinct.values[neighbour])
            }
            _ => distinct.values[at],
        };
        let last = distinct.values.len().saturating_sub(1);
        ranges
            .into_iter()
            .map(|(_, first, until)| Bin {
                low: end(first, first.checked_sub(1)),
                high: end(until, (until < last).then_some(until + 1)),
            })
            .collect()
    }

    /// How likely one value of the bin is, in nats: one of those on the grid, or a density.
    pub(super) fn log_density(&self, resolution: f64) -> f64 {
        let width = (self.high - self.low).min(f64::MAX);
        if resolution > 0.0 {
            -(width / resolution).round().ln_1p()
        } else if width > 0.0 {
            -width.ln()
        } else {
            0.0
        }
    }

    /// The value a share of the way through; on a grid each of its points has an equal part.
    pub(super) fn value(&self, share: f64, resolution: f64) -> f64 {
        let half = resolution / 2.0;
        let value = (self.low - half) * (1.0 - share) + (self.high + half) * share;
        value.clamp(self.low, self.high)
    }
}

/// Position of the bin that holds a value, or of the nearest.
pub(super) fn position(bins: &[Bin], value: f64) -> Option<usize> {
    let at = bins.partition_point(|bin| bin.high < value);
    match (at.checked_sub(1), bins.get(at)) {
        (Some(before), Some(bin)) if value - bins[before].high < bin.low - value => Some(before),
        (_, Some(_)) => Some(at),
        (before, None) => before,
    }
}
