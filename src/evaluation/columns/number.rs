//! One column of numbers or dates.

use super::super::Comparison;
use super::super::metrics::{
    Statistic, boundary_adherence, finite, mean, missing_value_similarity, quantile,
    range_coverage, spread, statistic_similarity,
};
use super::{NumberColumn, NumberSummary, Unit, histogram};

/// Steps between 0% and 100% at which quantiles are given.
const QUANTILE_STEPS: u32 = 20;

pub(super) fn number_column(
    comparison: &Comparison,
    position: usize,
    ks_complement: Option<f64>,
) -> NumberColumn {
    let column = &comparison.columns[position];
    let sides: Vec<&[f64]> = comparison
        .parts()
        .into_iter()
        .map(|table| table.columns[position].numbers().unwrap_or_default())
        .collect();
    let sorted: Vec<Vec<f64>> = sides.iter().map(|cells| present(cells)).collect();
    let (real, synthetic) = (sides[0], sides[1]);
    let similarity = |statistic| statistic_similarity(real, synthetic, statistic);
    let summary = |side: usize| summary(sides[side], &sorted[side]);
    let unit = if column.is_date() {
        Unit::Time
    } else {
        Unit::One
    };
    NumberColumn {
        column: column.name.clone(),
        position,
        date: column.is_date(),
        role: column.role.name().to_owned(),
        ks_complement,
        range_coverage: range_coverage(real, synthetic),
        boundary_adherence: boundary_adherence(real, synthetic),
        missing_similarity: missing_value_similarity(real, synthetic),
        mean_similarity: similarity(Statistic::Mean),
        standard_deviation_similarity: similarity(Statistic::StandardDeviation),
        median_similarity: similarity(Statistic::Median),
        real: summary(0),
        synthetic: summary(1),
        holdout: (sides.len() > 2).then(|| summary(2)),
        histogram: histogram(
            &sorted[0],
            &sorted[1],
            sorted.get(2).map(Vec::as_slice),
            unit,
        ),
    }
}

/// The values that are present, sorted.
fn present(cells: &[f64]) -> Vec<f64> {
    let mut values: Vec<f64> = cells
        .iter()
        .copied()
        .filter(|cell| !cell.is_nan())
        .collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

fn summary(cells: &[f64], sorted: &[f64]) -> NumberSummary {
    let at = |step: u32| quantile(sorted, f64::from(step) / f64::from(QUANTILE_STEPS));
    let quantiles: Vec<f64> = (0..=QUANTILE_STEPS).map(at).collect();
    let all_finite = quantiles.iter().all(|quantile| quantile.is_finite());
    NumberSummary {
        rows: cells.len(),
        missing: cells.len() - sorted.len(),
        mean: finite(mean(cells)),
        standard_deviation: finite(spread(cells)),
        quantiles: if all_finite { quantiles } else { Vec::new() },
    }
}
