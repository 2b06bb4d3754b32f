//! Values to normal scores and back, by the empirical distribution.

use super::scale::ratio;
use super::sorted::Sorted;
use crate::codec::normal;
use crate::distribution::NumericalDistribution;

/// Knots kept of an empirical distribution.
pub(super) const MOST_KNOTS: usize = 2_000;
/// Standard errors by which a smoothed map may leave the empirical distribution.
const TOLERANCE: f64 = 0.5;

/// Just below the logarithm of the largest float.
const LARGEST_LOGARITHM: f64 = 709.78;

/// In which unit values lie between the knots of a map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Unit {
    /// Their own.
    Plain,
    /// Natural logarithms; values below the floor, which is above 0, count as the floor.
    Logarithm { floor: f64 },
    /// Their own, and none is below 0.
    Count,
}

impl Unit {
    /// The unit in which a distribution has its values, given those seen, in order.
    pub(crate) fn for_values(seen: &[f64], distribution: NumericalDistribution) -> Unit {
        let least = seen.iter().copied().find(|&value| value > 0.0);
        match (distribution, least) {
            (NumericalDistribution::Logarithmic, Some(least)) => Unit::Logarithm {
                floor: (least / 2.0).max(f64::MIN_POSITIVE),
            },
            _ => Unit::Plain,
        }
    }

    /// A value's place in this unit.
    pub(crate) fn of(self, value: f64) -> f64 {
        match self {
            Unit::Plain | Unit::Count => value,
            Unit::Logarithm { .. } if value.is_nan() => value,
            Unit::Logarithm { floor } => value.max(floor).ln().min(LARGEST_LOGARITHM),
        }
    }

    fn value(self, place: f64) -> f64 {
        match self {
            Unit::Plain | Unit::Count => place,
            Unit::Logarithm { .. } => place.exp(),
        }
    }

    /// The least value there is.
    pub(crate) fn least(self) -> f64 {
        match self {
            Unit::Plain => f64::MIN,
            Unit::Logarithm { .. } | Unit::Count => 0.0,
        }
    }
}

/// A monotone map between values and standard normal scores, through a distribution function.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QuantileMap {
    /// Increasing places, in the map's unit.
    pub(crate) knots: Sorted,
    /// The distribution function at each knot, increasing from 0 to 1.
    pub(crate) shares: Sorted,
    /// Shares are kept this far from 0 and 1, so that scores stay finite.
    pub(crate) margin: f64,
    pub(crate) unit: Unit,
}

/// Where the knots of a map lie between the distinct values of rounded data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnotPlacement {
    /// Half way between neighbours: mass flows into gaps of the data, as for a measured quantity.
    Midpoints,
    /// Half way between neighbours, and only as many as the data can tell apart from a straight line: for a value that
    /// each sequence has one of, whose exact place among the others would tell whose it is.
    Smoothed,
    /// At half a grid step around each value: nothing falls where no value was seen, as between two seasons.
    Tight,
}

impl QuantileMap {
    pub(super) fn fit(
        distinct: &[f64],
        counts: &[usize],
        resolution: f64,
        support: bool,
        placement: KnotPlacement,
        unit: Unit,
    ) -> QuantileMap {
        let total: usize = counts.iter().sum();
        let n = total.max(1) as f64;
        let mut knots = Vec::with_capacity(distinct.len() + 1);
        let mut shares = Vec::with_capacity(distinct.len() + 1);
        let mut below = 0_usize;
        if let [only] = distinct {
            let half = if resolution > 0.0 {
                resolution / 2.0
            } else {
                (only.abs() * 1e-6).max(1e-6)
            };
            (knots, shares) = (vec![only - half, only + half], vec![0.0, 1.0]);
        } else if support || (resolution > 0.0 && placement != KnotPlacement::Tight) {
            for (i, &value) in distinct.iter().enumerate() {
                let knot = match i {
                    0 if support => value - (distinct[1] - value) / 2.0,
                    0 => value - resolution / 2.0,
                    _ => f64::midpoint(distinct[i - 1], value),
                };
                knots.push(knot);
                shares.push(below as f64 / n);
                below += counts[i];
            }
            let (before, last) = (distinct[distinct.len() - 2], distinct[distinct.len() - 1]);
            knots.push(if support {
                last + (last - before) / 2.0
            } else {
                last + resolution / 2.0
            });
            shares.push(1.0);
        } else if resolution > 0.0 {
            let mut highest = f64::NEG_INFINITY;
            for (&value, &count) in distinct.iter().zip(counts) {
                for (end, seen) in [(-0.5, below), (0.5, below + count)] {
                    // Two floats may stand for one grid point, as 0.3 and 0.1 + 0.2 do.
                    highest = (value + end * resolution).max(highest);
                    knots.push(highest);
                    shares.push(seen as f64 / n);
                }
                below += count;
            }
        } else {
            for (&value, &count) in distinct.iter().zip(counts) {
                knots.push(value);
                shares.push((below as f64 + count as f64 / 2.0) / n);
                below += count;
            }
        }
        for knot in &mut knots {
            // Half a step beyond the outermost value may be beyond all floats.
            *knot = unit.of(*knot).clamp(f64::MIN, f64::MAX);
        }
        let (mut knots, mut shares) = thin(knots, shares);
        if placement == KnotPlacement::Smoothed && !support {
            (knots, shares) = smooth(knots, shares, n);
        }
        QuantileMap {
            knots: Sorted::new(knots),
            shares: Sorted::new(shares),
            margin: (0.25 / n).min(0.01),
            unit,
        }
    }

    /// The standard normal score of a value; values beyond the knots get the outermost scores.
    pub(crate) fn score(&self, value: f64) -> f64 {
        let share = interpolate(self.unit.of(value), &self.knots, &self.shares);
        normal::quantile(share.clamp(self.margin, 1.0 - self.margin))
    }

    /// Whether the value can come of a score, however far out.
    pub(crate) fn holds(&self, value: f64) -> bool {
        match self.unit {
            Unit::Plain => true,
            Unit::Count => value >= 0.0,
            Unit::Logarithm { .. } => value > 0.0,
        }
    }

    /// The value at a standard normal score; scores beyond the knots get the outermost values.
    pub(crate) fn value(&self, score: f64) -> f64 {
        self.unit.value(self.place(score))
    }

    fn place(&self, score: f64) -> f64 {
        interpolate(normal::distribution(score), &self.shares, &self.knots)
    }

    /// As [`QuantileMap::value`], but beyond the outermost scores values go on, as far for each unit of score as they
    /// went within the last one: a normal column keeps its normal tails.
    pub(super) fn value_beyond(&self, score: f64) -> f64 {
        let end = |share: f64| normal::quantile(share.clamp(self.margin, 1.0 - self.margin));
        let (low, high) = (end(self.shares[0]), end(self.shares[self.shares.len() - 1]));
        let (end, inwards) = if score < low {
            (low, (low + 1.0).min(high))
        } else if score > high {
            (high, (high - 1.0).max(low))
        } else {
            return self.value(score);
        };
        let slope = ratio(
            (self.place(end) - self.place(inwards)).abs(),
            (end - inwards).abs(),
        );
        let place = self.place(end) + slope * (score - end);
        self.unit.value(place).clamp(self.unit.least(), f64::MAX)
    }
}

/// Keeps the knots that lie further than [`TOLERANCE`] standard errors of their share from the straight line between
/// those kept (Douglas and Peucker 1973, with the error of an empirical distribution function as the distance).
fn smooth(knots: Vec<f64>, shares: Vec<f64>, n: f64) -> (Vec<f64>, Vec<f64>) {
    let last = knots.len() - 1;
    let mut is_kept = vec![false; knots.len()];
    (is_kept[0], is_kept[last]) = (true, true);
    let mut open = vec![(0, last)];
    while let Some((left, right)) = open.pop() {
        let slope = ratio(shares[right] - shares[left], knots[right] - knots[left]);
        let distance = |at: usize| {
            let line = shares[left] + slope * (knots[at] - knots[left]);
            let variance = (shares[at] * (1.0 - shares[at])).max(1.0 / n) / n;
            (line - shares[at]).abs() / variance.sqrt()
        };
        let furthest = (left + 1..right).max_by(|&a, &b| distance(a).total_cmp(&distance(b)));
        if let Some(at) = furthest.filter(|&at| distance(at) > TOLERANCE) {
            is_kept[at] = true;
            open.extend([(left, at), (at, right)]);
        }
    }
    let pairs = knots.into_iter().zip(shares).zip(is_kept);
    let (knots, shares) = pairs
        .filter(|(_, kept)| *kept)
        .map(|(pair, _)| pair)
        .unzip();
    thin(knots, shares)
}

/// Keeps at most [`MOST_KNOTS`] knots, evenly by rank, the outermost always.
fn thin(knots: Vec<f64>, shares: Vec<f64>) -> (Vec<f64>, Vec<f64>) {
    if knots.len() <= MOST_KNOTS {
        return (knots, shares);
    }
    let last = knots.len() - 1;
    (0..MOST_KNOTS)
        .map(|i| {
            let at = i * last / (MOST_KNOTS - 1);
            (knots[at], shares[at])
        })
        .unzip()
}

/// Piecewise linear interpolation over increasing `x`, constant outside. Repeated `x` gives the upper `y`.
fn interpolate(at: f64, x: &Sorted, y: &Sorted) -> f64 {
    let after = x.first_above(at);
    if after == 0 {
        return y[0];
    }
    if after == x.len() {
        return y[x.len() - 1];
    }
    let (left, right) = (x[after - 1], x[after]);
    let (low, high) = (y[after - 1], y[after]);
    let share = (at - left) / (right - left);
    match high - low {
        rise if rise.is_finite() => low + rise * share,
        _ => low * (1.0 - share) + high * share,
    }
}
