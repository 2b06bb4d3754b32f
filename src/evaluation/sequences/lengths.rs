//! How long sequences are.

use super::super::Comparison;
use super::super::columns::{Unit, histogram};
use super::super::metrics::{ks_of_sorted, mean, quantile};
use super::{LengthReport, LengthSummary};
use crate::table::ComparedTable;

pub(super) fn lengths(rows: &Comparison) -> LengthReport {
    let sorted: Vec<Vec<f64>> = rows.parts().into_iter().map(sorted_lengths).collect();
    LengthReport {
        similarity: ks_of_sorted(&sorted[0], &sorted[1]),
        real: summary(&rows.real),
        synthetic: summary(&rows.synthetic),
        holdout: rows.holdout.as_ref().map(summary),
        histogram: histogram(
            &sorted[0],
            &sorted[1],
            sorted.get(2).map(Vec::as_slice),
            Unit::One,
        ),
    }
}

fn sorted_lengths(table: &ComparedTable) -> Vec<f64> {
    let mut lengths = table.lengths();
    lengths.sort_unstable();
    lengths.into_iter().map(|rows| rows as f64).collect()
}

fn summary(table: &ComparedTable) -> LengthSummary {
    let lengths = table.lengths();
    let sorted = sorted_lengths(table);
    LengthSummary {
        sequences: lengths.len(),
        mean: if sorted.is_empty() {
            0.0
        } else {
            mean(&sorted)
        },
        shortest: lengths.iter().copied().min().unwrap_or(0),
        median: if sorted.is_empty() {
            0.0
        } else {
            quantile(&sorted, 0.5)
        },
        longest: lengths.iter().copied().max().unwrap_or(0),
    }
}
