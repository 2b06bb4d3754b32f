//! SDMetrics' quality report, and beside it scores that leave no pair of columns out.
//! In: tables side by side. Out: [`QualityReport`].
//! Equal to `sdmetrics.reports.QualityReport` 0.32 on what that looks at, except that the sequence key never counts
//! as a column here, whatever its sdtype, and that no rows are drawn where there are more than 50,000.

mod deciles;
mod sides;

use rayon::prelude::*;
use serde::Serialize;

use super::Comparison;
use super::metrics::{CodePair, PairCounts, complement_of_variation, finite, mean};
pub(super) use deciles::Deciles;
use sides::{Bins, ColumnSides, NumberSide, SidesCells};

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
    /// As the score, but missing values count: for numbers the score (1 where one side holds no value) times the
    /// similarity of the shares missing, for categories the score with missing as a category of its own.
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
    /// Pearson correlation in the synthetic table, in [-1, 1]; also of pairs that SDMetrics leaves out.
    pub synthetic_correlation: Option<f64>,
    /// Cramér's V in the real table, in [0, 1]; not of two numbers, `None` where one is constant.
    pub real_association: Option<f64>,
    /// A score of every pair, in [0, 1], 1 best: of two numbers `CorrelationSimilarity` by Spearman's coefficient,
    /// else `ContingencySimilarity` with numbers cut at the deciles of the real column (once, at the lower one, where it
    /// has but two). A real coefficient of exactly 0 counts, which SDMetrics leaves out: years and a constant of each
    /// sequence have it in a balanced panel. `None` where a number is constant.
    pub plain_score: Option<f64>,
}

/// Where a pair of numbers begins to count in SDMetrics' report.
const CORRELATION_THRESHOLD: f64 = 0.5;
/// Where any other pair begins to count in SDMetrics' report.
const ASSOCIATION_THRESHOLD: f64 = 0.3;

pub(super) fn quality(comparison: &Comparison) -> QualityReport {
    let positions: Vec<usize> = (0..comparison.columns.len())
        .filter(|&column| {
            comparison.columns[column].is_number() || comparison.columns[column].is_category()
        })
        .collect();
    let sides: Vec<ColumnSides> = positions
        .par_iter()
        .map(|&column| ColumnSides::of(comparison, column))
        .collect();
    let shapes: Vec<ColumnShape> = sides.par_iter().map(ColumnSides::shape).collect();
    let pairs: Vec<(usize, usize)> = (0..sides.len())
        .flat_map(|first| (first + 1..sides.len()).map(move |second| (first, second)))
        .collect();
    let pairs: Vec<ColumnPairTrend> = pairs
        .into_par_iter()
        .map(|(first, second)| trend(&sides[first], &sides[second]))
        .collect();
    let column_shapes = mean_of(shapes.iter().map(|shape| shape.score));
    let counting = pairs.iter().filter(|pair| pair.meets_threshold);
    let column_pair_trends = mean_of(counting.map(|pair| pair.score));
    QualityReport {
        overall: mean_of([column_shapes, column_pair_trends].into_iter()),
        column_shapes,
        column_pair_trends,
        shapes_and_missing: mean_of(shapes.iter().map(|shape| shape.shape_and_missing)),
        all_pair_trends: mean_of(pairs.iter().map(|pair| pair.plain_score)),
        shapes,
        pairs,
    }
}

/// Mean of the scores that are defined.
pub(super) fn mean_of(scores: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    finite(mean(&scores.flatten().collect::<Vec<f64>>()))
}

/// The score of a pair of columns.
fn trend(first: &ColumnSides, second: &ColumnSides) -> ColumnPairTrend {
    let mut trend = match (&first.cells, &second.cells) {
        (SidesCells::Numbers(left), SidesCells::Numbers(right)) => correlations(left, right),
        _ => contingencies(first, second),
    };
    trend.first = first.name.to_owned();
    trend.second = second.name.to_owned();
    trend
}

fn correlations(first: &[NumberSide; 2], second: &[NumberSide; 2]) -> ColumnPairTrend {
    let constant = first.iter().chain(second).any(|side| side.constant);
    let of = |side: usize, correlation: fn(&NumberSide, &NumberSide) -> Option<f64>| {
        if constant {
            return None;
        }
        correlation(&first[side], &second[side])
    };
    let similarity =
        |real: Option<f64>, synthetic: Option<f64>| Some(1.0 - (real? - synthetic?).abs() / 2.0);
    let (real, synthetic) = (
        of(0, |left, right| left.pearson(right)),
        of(1, |left, right| left.pearson(right)),
    );
    let meets_threshold = real.is_some_and(|real| real.abs() > CORRELATION_THRESHOLD);
    ColumnPairTrend {
        first: String::new(),
        second: String::new(),
        metric: "CorrelationSimilarity".to_owned(),
        score: similarity(real, synthetic).filter(|_| meets_threshold),
        meets_threshold,
        real_correlation: real,
        synthetic_correlation: synthetic,
        real_association: None,
        plain_score: similarity(
            of(0, |left, right| left.spearman(right)),
            of(1, |left, right| left.spearman(right)),
        ),
    }
}

fn contingencies(first: &ColumnSides, second: &ColumnSides) -> ColumnPairTrend {
    let counts = |bins: Bins| {
        let (left, right) = (first.codes(bins)?, second.codes(bins)?);
        let side = |side: usize| {
            PairCounts::of(&CodePair {
                first: left.sides[side],
                second: right.sides[side],
                first_labels: left.labels,
                second_labels: right.labels,
            })
        };
        Some([side(0), side(1)])
    };
    let score = |[real, synthetic]: &[PairCounts; 2]| complement_of_variation(real, synthetic);
    let plain = counts(Bins::RealDeciles);
    // Two columns of categories have no bins, so one table serves for both.
    let cut = first.is_number() || second.is_number();
    let own = if cut { counts(Bins::OwnWidth) } else { None };
    let own = if cut { own.as_ref() } else { plain.as_ref() };
    let association = own.and_then(|[real, _]| real.cramers_v());
    let meets_threshold = association.is_some_and(|real| real > ASSOCIATION_THRESHOLD);
    ColumnPairTrend {
        first: String::new(),
        second: String::new(),
        metric: "ContingencySimilarity".to_owned(),
        score: own.filter(|_| meets_threshold).and_then(score),
        meets_threshold,
        real_correlation: None,
        synthetic_correlation: None,
        real_association: association,
        plain_score: plain.as_ref().and_then(score),
    }
}
