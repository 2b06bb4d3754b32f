//! How far a value lies from a column's usual ones: the features that the network reads of numbers.

use super::{Distinct, Grid, KnotPlacement, QuantileMap, Unit};

/// Level and spread of a column, and its scores: what history and current-row features are made of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NumberScale {
    pub(crate) map: QuantileMap,
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
    /// Standard deviation of the change from the value before.
    pub(crate) change_deviation: f64,
}

/// Linear features are clipped here, in standard deviations.
pub(crate) const FEATURE_LIMIT: f64 = 6.0;

impl NumberScale {
    pub(crate) fn fit(
        values: &[f64],
        change_deviation: f64,
        placement: KnotPlacement,
    ) -> NumberScale {
        NumberScale::fit_in(values, change_deviation, placement, Unit::Plain)
    }

    /// Mean, deviations and the places between knots are in this unit.
    pub(crate) fn fit_in(
        values: &[f64],
        change_deviation: f64,
        placement: KnotPlacement,
        unit: Unit,
    ) -> NumberScale {
        let mut distinct = Distinct::count(values, &vec![0; values.len()]);
        if distinct.values.is_empty() {
            distinct = Distinct {
                values: vec![0.0],
                rows: vec![1],
                sequences: vec![1],
            };
        }
        let resolution = Grid::fit(&distinct.values).map_or(0.0, |grid| grid.resolution());
        let map = QuantileMap::fit(
            &distinct.values,
            &distinct.rows,
            resolution,
            false,
            placement,
            unit,
        );
        let (mean, deviation) = match unit {
            Unit::Plain => mean_and_deviation(values),
            _ => mean_and_deviation(&values.iter().map(|&v| unit.of(v)).collect::<Vec<_>>()),
        };
        NumberScale {
            map,
            mean,
            deviation,
            change_deviation,
        }
    }

    /// The normal score of a value.
    pub(crate) fn score(&self, value: f64) -> f64 {
        self.map.score(value)
    }

    /// Standard deviations from the mean, clipped at six.
    pub(crate) fn standard(&self, value: f64) -> f64 {
        ratio(self.map.unit.of(value) - self.mean, self.deviation)
            .clamp(-FEATURE_LIMIT, FEATURE_LIMIT)
    }

    /// A change in units of the typical change, clipped at six.
    pub(crate) fn change(&self, from: f64, to: f64) -> f64 {
        let difference = self.map.unit.of(to) - self.map.unit.of(from);
        ratio(difference, self.change_deviation).clamp(-FEATURE_LIMIT, FEATURE_LIMIT)
    }
}

pub(super) fn ratio(value: f64, unit: f64) -> f64 {
    if unit > 0.0 { value / unit } else { 0.0 }
}

/// Mean and standard deviation (divisor n) of the values that are not missing; 0 and 0 when there are none.
pub(crate) fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let present = || values.iter().filter(|v| !v.is_nan());
    let n = present().count().max(1) as f64;
    // Half, sum, double: values near the largest float would overflow a plain sum.
    let mean = present().map(|v| v / n).sum::<f64>();
    let largest = present().fold(0.0_f64, |most, v| most.max((v - mean).abs()));
    // Below the noise of summing, a column is constant.
    if largest <= 1e-12 * mean.abs() || !largest.is_finite() {
        return (mean, 0.0);
    }
    let variance = present()
        .map(|v| ((v - mean) / largest).powi(2))
        .sum::<f64>()
        / n;
    (mean, largest * variance.sqrt())
}
