//! One column at a time, and the pairs of columns that are off most: what pictures and tables of them need.
//! In: tables side by side. Out: [`ColumnReport`], bounded in size whatever the number of rows and categories.

mod category;
mod histogram;
mod number;
mod pair;

use rayon::prelude::*;
use serde::Serialize;

use super::Comparison;
use super::quality::QualityReport;
pub(super) use histogram::{Unit, histogram};

/// One column at a time: how its values are distributed, in numbers and in arrays for pictures.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ColumnReport {
    /// Columns of numbers and dates, in the table's order.
    pub numbers: Vec<NumberColumn>,
    /// Columns of categories and truth values, in the table's order.
    pub categories: Vec<CategoryColumn>,
    /// The pairs of columns with the lowest `plain_score` of the quality report, lowest first; at most six.
    pub worst_pairs: Vec<PairTable>,
}

/// A column of numbers or dates. Dates are in seconds since 1970 (UTC).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NumberColumn {
    /// Name of the column.
    pub column: String,
    /// Place among the table's columns, from 0.
    pub position: usize,
    /// Whether it holds dates, so that all that is said in its unit is in seconds.
    pub date: bool,
    /// `context column`, `sequence index` or `sequential column`.
    pub role: String,
    /// SDMetrics' `KSComplement`, in [0, 1], 1 best.
    pub ks_complement: Option<f64>,
    /// SDMetrics' `RangeCoverage`, in [0, 1], 1 best; `None` of a constant real column.
    pub range_coverage: Option<f64>,
    /// SDMetrics' `BoundaryAdherence`, in [0, 1], 1 best.
    pub boundary_adherence: Option<f64>,
    /// SDMetrics' `MissingValueSimilarity`, in [0, 1], 1 best.
    pub missing_similarity: Option<f64>,
    /// SDMetrics' `StatisticSimilarity` of the means, in [0, 1], 1 best; `None` of a constant real column.
    pub mean_similarity: Option<f64>,
    /// As `mean_similarity`, of the standard deviations.
    pub standard_deviation_similarity: Option<f64>,
    /// As `mean_similarity`, of the medians.
    pub median_similarity: Option<f64>,
    /// The real column.
    pub real: NumberSummary,
    /// The synthetic column.
    pub synthetic: NumberSummary,
    /// The held-out column.
    pub holdout: Option<NumberSummary>,
    /// The same bins for every table; `None` where the real column holds no finite value.
    pub histogram: Option<Histogram>,
}

/// What one table holds in a column of numbers. Figures are in the column's unit, and `None` where there is no value
/// or they are not finite.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NumberSummary {
    /// Rows, missing ones included.
    pub rows: usize,
    /// Missing cells.
    pub missing: usize,
    /// Mean.
    pub mean: Option<f64>,
    /// Standard deviation, with `n - 1` below the line.
    pub standard_deviation: Option<f64>,
    /// Quantiles at 0, 5, 10 and so on to 100%, so the smallest value first and the largest last, the median at 10;
    /// between two values they are interpolated. Empty where there is no value.
    pub quantiles: Vec<f64>,
}

/// Shares in bins that several tables have in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Histogram {
    /// Limits of the bins, ascending, one more than there are bins, at most 41, in the column's unit. Bins hold their
    /// lower limit but not the upper one; the last holds both. Whole numbers of few values have a bin each, with the
    /// number in the middle.
    pub edges: Vec<f64>,
    /// The real table.
    pub real: HistogramSide,
    /// The synthetic table.
    pub synthetic: HistogramSide,
    /// The held-out table.
    pub holdout: Option<HistogramSide>,
}

/// Shares of one table; with the tails they sum to 1, or are all 0 where there is no value.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HistogramSide {
    /// Share of the values that are present in each bin, in [0, 1].
    pub shares: Vec<f64>,
    /// Share below the first bin: bins span the bulk, not the outliers.
    pub below: f64,
    /// Share above the last bin.
    pub above: f64,
}

/// A column of categories or truth values.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CategoryColumn {
    /// Name of the column.
    pub column: String,
    /// Place among the table's columns, from 0.
    pub position: usize,
    /// `context column` or `sequential column`.
    pub role: String,
    /// SDMetrics' `TVComplement`, in [0, 1], 1 best.
    pub tv_complement: Option<f64>,
    /// SDMetrics' `CategoryCoverage`, in [0, 1], 1 best.
    pub category_coverage: Option<f64>,
    /// SDMetrics' `CategoryAdherence`, in [0, 1], 1 best.
    pub category_adherence: Option<f64>,
    /// SDMetrics' `MissingValueSimilarity`, in [0, 1], 1 best.
    pub missing_similarity: Option<f64>,
    /// The real column.
    pub real: CategorySummary,
    /// The synthetic column.
    pub synthetic: CategorySummary,
    /// The held-out column.
    pub holdout: Option<CategorySummary>,
    /// The most frequent categories of the real and the synthetic column together, most frequent first; at most 20.
    pub shares: Vec<CategoryShare>,
    /// All other categories together; `None` where there are none.
    pub others: Option<CategoryShare>,
}

/// What one table holds in a column of categories.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CategorySummary {
    /// Rows, missing ones included.
    pub rows: usize,
    /// Missing cells.
    pub missing: usize,
    /// Categories that occur.
    pub categories: usize,
    /// Categories that occur here but not in the real table.
    pub unseen_categories: usize,
    /// Rows that hold one of those.
    pub unseen_rows: usize,
}

/// How often a category occurs, as a share of the rows in which one is present, in [0, 1].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CategoryShare {
    /// The category; of the pooled rest how many they are, such as `12 others`.
    pub label: String,
    /// In the real table.
    pub real: f64,
    /// In the synthetic table.
    pub synthetic: f64,
    /// In the held-out table.
    pub holdout: Option<f64>,
}

/// How two columns go together, as a table for a heat map.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairTable {
    /// The column down the side.
    pub first: PairAxis,
    /// The column along the top.
    pub second: PairAxis,
    /// Its `plain_score` in the quality report, in [0, 1], 1 best.
    pub score: Option<f64>,
    /// Share of the real rows in each cell, `[first.labels.len()]` rows of `[second.labels.len()]`; they sum to 1.
    pub real: Vec<Vec<f64>>,
    /// As `real`, of the synthetic rows.
    pub synthetic: Vec<Vec<f64>>,
}

/// One side of a table of two columns.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairAxis {
    /// Name of the column.
    pub column: String,
    /// Whether it holds dates.
    pub date: bool,
    /// Names of the cells: categories, or ranges of numbers such as `1.5 to 3` (dates written as dates), at last
    /// `others` and `missing` where there are any. At most 14.
    pub labels: Vec<String>,
}

pub(super) fn columns(comparison: &Comparison, quality: &QualityReport) -> ColumnReport {
    let numbers: Vec<usize> = comparison.numbers().collect();
    let categories: Vec<usize> = comparison.categories().collect();
    let score = |column: usize| {
        let name = &comparison.columns[column].name;
        let shape = quality.shapes.iter().find(|shape| shape.column == *name);
        shape.and_then(|shape| shape.score)
    };
    ColumnReport {
        numbers: numbers
            .into_par_iter()
            .map(|column| number::number_column(comparison, column, score(column)))
            .collect(),
        categories: categories
            .into_par_iter()
            .map(|column| category::category_column(comparison, column, score(column)))
            .collect(),
        worst_pairs: pair::worst_pairs(comparison, quality),
    }
}
