//! Sorted numbers among which places are looked up: quantile maps are read a dozen times for each row that is sampled.

use std::ops::Deref;

/// Numbers in rising order, with a guide table (Chen and Asau 1974): the range of the numbers in as many cells of one
/// width as there are numbers, and where in the list each cell begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sorted {
    values: Vec<f64>,
    /// Cells for each unit of the values; 0 where their range is none, or beyond all floats.
    cells_per_unit: f64,
    /// One more than there are cells.
    starts: Vec<u32>,
}

impl Sorted {
    /// Takes numbers in rising order.
    pub(crate) fn new(values: Vec<f64>) -> Sorted {
        let cells = values.len();
        let range = values.last().copied().unwrap_or(0.0) - values.first().copied().unwrap_or(0.0);
        let cells_per_unit = cells as f64 / range;
        let mut sorted = Sorted {
            cells_per_unit: if cells_per_unit.is_finite() {
                cells_per_unit
            } else {
                0.0
            },
            starts: Vec::with_capacity(cells + 1),
            values,
        };
        for at in 0..sorted.values.len() {
            let cell = sorted.cell(sorted.values[at]);
            let start = u32::try_from(at).unwrap_or(u32::MAX);
            if cell >= sorted.starts.len() {
                sorted.starts.resize(cell + 1, start);
            }
        }
        let end = u32::try_from(cells).unwrap_or(u32::MAX);
        sorted.starts.resize(cells + 1, end);
        sorted
    }

    /// The cell of a number that is not below the first. A larger number is never in a cell before.
    fn cell(&self, value: f64) -> usize {
        let cell = (value - self.values[0]) * self.cells_per_unit;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and 0 for what is no number"
        )]
        let cell = cell as usize;
        cell.min(self.values.len() - 1)
    }

    /// Where the first of the numbers lies that is above `at`; their count where none is, 0 for what is no number.
    pub(crate) fn first_above(&self, at: f64) -> usize {
        let (Some(&first), Some(&last)) = (self.values.first(), self.values.last()) else {
            return 0;
        };
        if at >= last {
            return self.values.len();
        }
        if at.is_nan() || at < first {
            return 0;
        }
        let cell = self.cell(at);
        let (start, end) = (self.starts[cell] as usize, self.starts[cell + 1] as usize);
        start + self.values[start..end].partition_point(|&value| value <= at)
    }
}

impl Deref for Sorted {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_guide_leads_to_what_a_search_by_halves_finds(
            mut values in prop::collection::vec(prop_oneof![-1e3..1e3, -1e308..1e308, Just(0.0)], 1..60),
            at in prop_oneof![-1e3..1e3, -1.7e308..1.7e308, Just(0.0), Just(f64::NAN), Just(f64::INFINITY)],
            choice in any::<prop::sample::Index>(),
        ) {
            values.sort_by(f64::total_cmp);
            let sorted = Sorted::new(values.clone());
            for at in [at, *choice.get(&values)] {
                prop_assert_eq!(sorted.first_above(at), values.partition_point(|&value| value <= at));
            }
        }
    }
}
