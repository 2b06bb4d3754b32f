//! The decimal grid that a column was written on.

#![allow(
    clippy::cast_possible_truncation,
    reason = "decimals and exact whole numbers fit i64"
)]

/// Decimals looked for, from none to this many.
const MOST_DECIMALS: u32 = 6;
/// For the decimals looked for; each value that is sampled is rounded with one.
const POWERS_OF_TEN: [f64; MOST_DECIMALS as usize + 1] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];
/// Whole numbers up to here are exact in f64.
const EXACT_WHOLE: f64 = 9_007_199_254_740_992.0;
/// The grid on which all values of a column lie: `(first + step * k) / 10^decimals`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Grid {
    pub(crate) decimals: u32,
    pub(crate) first: f64,
    pub(crate) step: f64,
}

impl Grid {
    /// The whole numbers.
    pub(super) const WHOLE: Grid = Grid {
        decimals: 0,
        first: 0.0,
        step: 1.0,
    };

    /// The coarsest decimal grid that holds every value, if one of at most six decimals does.
    pub(super) fn fit(distinct: &[f64]) -> Option<Grid> {
        let largest = distinct.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        // Eight units in the last place: what a sum of a few decimals may be off by.
        let tolerance = 8.0 * f64::EPSILON * largest;
        let decimals = (0..=MOST_DECIMALS).find(|&decimals| {
            let scale = 10_f64.powi(decimals as i32);
            largest * scale < EXACT_WHOLE
                && distinct
                    .iter()
                    .all(|v| ((v * scale).round() / scale - v).abs() <= tolerance)
        })?;
        let scale = 10_f64.powi(decimals as i32);
        let wholes: Vec<i64> = distinct
            .iter()
            .map(|v| (v * scale).round() as i64)
            .collect();
        let step = wholes.windows(2).fold(0, |divisor, pair| {
            greatest_common_divisor(divisor, pair[1] - pair[0])
        });
        Some(Grid {
            decimals,
            first: wholes[0] as f64,
            step: step.max(1) as f64,
        })
    }

    /// Distance between neighbouring grid points.
    pub(crate) fn resolution(&self) -> f64 {
        self.step / self.scale()
    }

    /// How many units of the last decimal make 1.
    pub(crate) fn scale(&self) -> f64 {
        let known = POWERS_OF_TEN.get(self.decimals as usize).copied();
        known.unwrap_or_else(|| 10_f64.powi(self.decimals as i32))
    }

    /// The nearest grid point, as the very float its decimal text would read.
    pub(crate) fn round(&self, value: f64) -> f64 {
        let steps = ((value * self.scale() - self.first) / self.step).round();
        (self.first + self.step * steps) / self.scale()
    }

    /// The nearest number of the grid's decimals, which need not lie on its steps.
    pub(crate) fn round_decimals(&self, value: f64) -> f64 {
        let rounded = (value * self.scale()).round() / self.scale();
        if rounded.is_finite() { rounded } else { value }
    }

    /// The unit of the last decimal.
    pub(crate) fn last_decimal(&self) -> f64 {
        1.0 / self.scale()
    }
}

fn greatest_common_divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.abs()
}
