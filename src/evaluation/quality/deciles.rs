//! Numbers cut at the deciles of the real column.

use super::super::metrics::quantile;

/// Bins of numbers at most.
pub(in super::super) const MOST_DECILES: usize = 10;

/// The deciles within the range of a column, each once.
#[derive(Debug, Clone)]
pub(in super::super) struct Deciles {
    /// Ascending, at least one; a bin holds its upper limit but not the lower one.
    pub(in super::super) inner: Vec<f64>,
}

impl Deciles {
    /// Of sorted values. A column of at most two different deciles is cut once, at the lower one.
    pub(in super::super) fn of(sorted: &[f64]) -> Deciles {
        let mut deciles: Vec<f64> = (0..=MOST_DECILES)
            .map(|decile| quantile(sorted, decile as f64 * (1.0 / MOST_DECILES as f64)))
            .filter(|decile| !decile.is_nan())
            .collect();
        deciles.dedup();
        let inner = match deciles.len() {
            0 => vec![0.0],
            1 | 2 => vec![deciles[0]],
            count => deciles[1..count - 1].to_vec(),
        };
        Deciles { inner }
    }

    /// The bin of a value, below `MOST_DECILES`; `u32::MAX` where it is missing.
    pub(in super::super) fn place(&self, value: f64) -> u32 {
        if value.is_nan() {
            return u32::MAX;
        }
        let below = self.inner.partition_point(|&decile| decile < value);
        u32::try_from(below).unwrap_or(u32::MAX)
    }
}
