//! How near rows lie to the closest row of another table. Each row is held against each, so large tables are to be
//! sampled first, as SDMetrics does with `num_rows_subsample`.

use rayon::prelude::*;

use super::TableColumn;
use super::numbers::{Statistic, extremes, finite};
use super::rows::{alike, rows_of};

/// What `dcr_baseline_protection` finds; distances lie in `[0, 1]`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BaselineProtection {
    /// Median of the synthetic rows over that of the random ones, at most 1; `None` where that of the random ones is 0.
    pub score: Option<f64>,
    /// Median distance of a synthetic row to the closest real one.
    pub synthetic_median: f64,
    /// Median distance of a random row to the closest real one.
    pub random_median: f64,
}

/// What `dcr_overfitting_protection` finds.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct OverfittingProtection {
    /// Twice the share of synthetic rows that are not closer to the training table, at most 1.
    pub score: f64,
    /// Share of the synthetic rows that are closer to the training table.
    pub closer_to_training: f64,
}

/// For each row, the distance to the closest row of `reference`: the mean over the columns of, for numbers, their
/// difference as a share of the range in `reference`, at most 1 (where that is 0, whether they differ); for
/// categories, whether they differ; a missing cell is as far as can be from any other, and at no distance from its
/// like. SDMetrics' `calculate_dcr`. In `[0, 1]`; `None` where a table has no row or no column, or they do not have the
/// same columns. The cost is the product of the numbers of rows.
pub fn distance_to_closest_record(
    rows: &[TableColumn],
    reference: &[TableColumn],
) -> Option<Vec<f64>> {
    let (count, references) = (rows_of(rows), rows_of(reference));
    if count == 0 || references == 0 || !alike(rows, reference) {
        return None;
    }
    let ranges: Vec<f64> = reference.iter().map(half_range).collect();
    let (rows, reference) = (Matrix::of(rows, count), Matrix::of(reference, references));
    Some(
        (0..count)
            .into_par_iter()
            .map(|row| closest(rows.row(row), &reference, &ranges))
            .collect(),
    )
}

/// SDMetrics' `DCRBaselineProtection`: are synthetic rows as far from the real ones as random rows are? `random` is a
/// table of random rows within the ranges of the real one. `None` as of [`distance_to_closest_record`].
pub fn dcr_baseline_protection(
    real: &[TableColumn],
    synthetic: &[TableColumn],
    random: &[TableColumn],
) -> Option<BaselineProtection> {
    let median = |rows| Statistic::Median.of(&distance_to_closest_record(rows, real)?);
    let (synthetic_median, random_median) = (median(synthetic)?, median(random)?);
    Some(BaselineProtection {
        score: finite(synthetic_median / random_median).map(|score| score.min(1.0)),
        synthetic_median,
        random_median,
    })
}

/// SDMetrics' `DCROverfittingProtection`: do synthetic rows lie closer to the table they were learned from than to
/// real rows the generator never saw? Fair between tables of the same size. `None` as of
/// [`distance_to_closest_record`].
pub fn dcr_overfitting_protection(
    training: &[TableColumn],
    synthetic: &[TableColumn],
    validation: &[TableColumn],
) -> Option<OverfittingProtection> {
    let training = distance_to_closest_record(synthetic, training)?;
    let validation = distance_to_closest_record(synthetic, validation)?;
    let closer = training.iter().zip(&validation);
    let closer = closer.filter(|(training, validation)| training < validation);
    let closer_to_training = closer.count() as f64 / training.len() as f64;
    Some(OverfittingProtection {
        score: ((1.0 - closer_to_training) * 2.0).min(1.0),
        closer_to_training,
    })
}

/// Half the range of numbers, since the whole may be more than the largest number; NaN of categories, which differ or
/// do not.
fn half_range(column: &TableColumn) -> f64 {
    match column {
        TableColumn::Numbers(cells) => {
            extremes(cells).map_or(0.0, |(low, high)| high / 2.0 - low / 2.0)
        }
        TableColumn::Categories(_) => f64::NAN,
    }
}

/// A table row by row: categories as numbers, missing cells as NaN.
#[derive(Debug)]
struct Matrix {
    cells: Vec<f64>,
    columns: usize,
}

impl Matrix {
    fn of(table: &[TableColumn], rows: usize) -> Matrix {
        let cell = |column: &TableColumn, row: usize| match column {
            TableColumn::Numbers(cells) => cells[row],
            TableColumn::Categories(cells) => cells[row].map_or(f64::NAN, f64::from),
        };
        Matrix {
            cells: (0..rows)
                .flat_map(|row| table.iter().map(move |column| cell(column, row)))
                .collect(),
            columns: table.len(),
        }
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.cells[row * self.columns..(row + 1) * self.columns]
    }
}

fn closest(row: &[f64], reference: &Matrix, ranges: &[f64]) -> f64 {
    let mut closest = f64::INFINITY;
    for other in reference.cells.chunks_exact(reference.columns) {
        let mut sum = 0.0;
        for ((cell, other), range) in row.iter().zip(other).zip(ranges) {
            sum += distance(*cell, *other, *range);
            if sum >= closest {
                break; // it only grows
            }
        }
        closest = sum.min(closest);
    }
    closest / row.len() as f64
}

fn distance(cell: f64, other: f64, half_range: f64) -> f64 {
    if cell == other || (cell.is_nan() && other.is_nan()) {
        0.0
    } else if half_range > 0.0 {
        // A missing cell makes a NaN, of which the minimum is 1.
        ((cell / 2.0 - other / 2.0).abs() / half_range).min(1.0)
    } else {
        1.0
    }
}
