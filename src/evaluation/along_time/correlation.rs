//! Correlations between rows of the same sequence.

use std::ops::Range;

use crate::table::ComparedTable;

/// Below this share of a column's largest value a deviation is the noise of floats.
const NOISE: f64 = 1e-12;
/// What is left of a column when the mean of its own sequence is taken off each value, as a share of the largest
/// value; NaN where missing.
#[derive(Debug)]
pub(super) struct Deviations {
    ranges: Vec<Range<usize>>,
    cells: Vec<f64>,
}

impl Deviations {
    pub(super) fn of(table: &ComparedTable, column: usize) -> Deviations {
        let numbers = table.columns[column].numbers().unwrap_or_default();
        // f64::max passes over NaN.
        let scale = numbers
            .iter()
            .fold(0.0, |scale: f64, cell| scale.max(cell.abs()));
        let mut cells = Vec::with_capacity(numbers.len());
        for range in table.ranges() {
            let scaled = numbers[range]
                .iter()
                .map(|cell| if scale > 0.0 { cell / scale } else { *cell });
            let (sum, count) = scaled
                .clone()
                .filter(|cell| !cell.is_nan())
                .fold((0.0, 0_u32), |(sum, count), cell| (sum + cell, count + 1));
            let mean = sum / f64::from(count.max(1));
            cells.extend(scaled.map(|cell| {
                let deviation = cell - mean;
                if deviation.abs() < NOISE {
                    0.0
                } else {
                    deviation
                }
            }));
        }
        Deviations {
            ranges: table.ranges().collect(),
            cells,
        }
    }

    /// Pearson's correlation of a row with the one `lag` rows before.
    pub(super) fn autocorrelation(&self, lag: usize) -> Option<f64> {
        self.correlation(self, lag)
    }

    /// Pearson's correlation of these rows with those of `later`, `lag` rows after; `None` of fewer than three pairs,
    /// or where one side does not vary.
    pub(super) fn correlation(&self, later: &Deviations, lag: usize) -> Option<f64> {
        let pairs = self
            .ranges
            .iter()
            .filter(|range| range.len() > lag)
            .flat_map(|range| {
                let early = &self.cells[range.start..range.end - lag];
                early.iter().zip(&later.cells[range.start + lag..range.end])
            })
            .filter(|(early, late)| !early.is_nan() && !late.is_nan());
        // One pass, with the first pair taken off so that sums of squares lose no digits where all pairs are much alike.
        let (first_early, first_late) = pairs.clone().next()?;
        let (mut count, mut early_sum, mut late_sum) = (0.0, 0.0, 0.0);
        let (mut early_square, mut late_square, mut product) = (0.0, 0.0, 0.0);
        for (early, late) in pairs {
            let (early, late) = (early - first_early, late - first_late);
            count += 1.0;
            early_sum += early;
            late_sum += late;
            early_square += early * early;
            late_square += late * late;
            product += early * late;
        }
        if count < 3.0 {
            return None;
        }
        let spread = |squares: f64, sum: f64| (squares - sum * sum / count).max(0.0).sqrt();
        let (early_spread, late_spread) = (
            spread(early_square, early_sum),
            spread(late_square, late_sum),
        );
        let correlation = (product - early_sum * late_sum / count) / (early_spread * late_spread);
        correlation
            .is_finite()
            .then(|| correlation.clamp(-1.0, 1.0))
    }
}
