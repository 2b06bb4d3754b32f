//! A column of both tables, with all that its pairs have in common worked out once.

use super::super::Comparison;
use super::super::metrics::{
    Tally, ascending, digitize, even_edges, extremes, gapped_pearson, ks_of_sorted,
    missing_value_similarity, product, ranks_in, standardized, to_fourteen_decimals, tv_of,
};
use super::ColumnShape;
use super::deciles::{Deciles, MOST_DECILES};
use crate::table::ComparedCells;

/// Bins of a number in SDMetrics' report.
const BINS: usize = 10;

/// How numbers become categories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bins {
    /// Each table on its own, ten bins of equal width: as SDMetrics' report does.
    OwnWidth,
    /// Both tables at the deciles of the real column.
    RealDeciles,
}

/// A column of the real and of the synthetic table.
#[derive(Debug)]
pub(super) struct ColumnSides<'a> {
    pub(super) name: &'a str,
    pub(super) cells: SidesCells<'a>,
}

#[derive(Debug)]
pub(super) enum SidesCells<'a> {
    Numbers(Box<[NumberSide<'a>; 2]>),
    Categories(SideCodes<'a>),
}

/// Both tables' codes of a column; a code that is none of the labels is a missing cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct SideCodes<'a> {
    pub(super) sides: [&'a [u32]; 2],
    pub(super) labels: usize,
}

/// Numbers of one table.
#[derive(Debug)]
pub(super) struct NumberSide<'a> {
    values: &'a [f64],
    /// Rows that hold a value, by their value.
    order: Vec<usize>,
    /// Whether all values are the same, missing ones left out.
    pub(super) constant: bool,
    /// Where no value is missing: the values and their ranks, ready to be multiplied.
    standard: Option<Vec<f64>>,
    standard_ranks: Option<Vec<f64>>,
    /// `None` where a value is infinite.
    own_bins: Option<Vec<u32>>,
    decile_bins: Vec<u32>,
}

impl<'a> ColumnSides<'a> {
    pub(super) fn of(comparison: &'a Comparison, column: usize) -> ColumnSides<'a> {
        let name = comparison.columns[column].name.as_str();
        let [real, synthetic] =
            [&comparison.real, &comparison.synthetic].map(|table| &table.columns[column]);
        let cells = match (real, synthetic) {
            (ComparedCells::Numbers(real), ComparedCells::Numbers(synthetic)) => {
                let order = ascending(real);
                let sorted: Vec<f64> = order.iter().map(|&row| real[row]).collect();
                let deciles = Deciles::of(&sorted);
                let sides = [
                    NumberSide::of(real, order, &deciles),
                    NumberSide::of(synthetic, ascending(synthetic), &deciles),
                ];
                SidesCells::Numbers(Box::new(sides))
            }
            _ => SidesCells::Categories(SideCodes {
                sides: [real, synthetic].map(|cells| cells.codes().unwrap_or_default()),
                labels: comparison.columns[column].labels.len(),
            }),
        };
        ColumnSides { name, cells }
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self.cells, SidesCells::Numbers(_))
    }

    /// How like the two sides are distributed.
    pub(super) fn shape(&self) -> ColumnShape {
        let (metric, score, shape_and_missing) = match &self.cells {
            SidesCells::Numbers(sides) => {
                let [real, synthetic] = [sides[0].values, sides[1].values];
                // Rounding keeps the order.
                let score = ks_of_sorted(&sides[0].rounded(), &sides[1].rounded());
                let missing = missing_value_similarity(real, synthetic);
                let both = missing.map(|missing| missing * score.unwrap_or(1.0));
                ("KSComplement", score, both)
            }
            SidesCells::Categories(codes) => {
                let mut tally = Tally::of_codes(codes.sides[0], codes.sides[1], codes.labels);
                let score = tv_of(&tally);
                tally.counts.push(tally.missing);
                ("TVComplement", score, tv_of(&tally))
            }
        };
        ColumnShape {
            column: self.name.to_owned(),
            metric: metric.to_owned(),
            score,
            shape_and_missing,
        }
    }

    /// As categories; `None` where SDMetrics cannot cut numbers.
    pub(super) fn codes(&self, bins: Bins) -> Option<SideCodes<'_>> {
        match (&self.cells, bins) {
            (SidesCells::Categories(codes), _) => Some(*codes),
            (SidesCells::Numbers(sides), Bins::OwnWidth) => Some(SideCodes {
                sides: [sides[0].own_bins.as_ref()?, sides[1].own_bins.as_ref()?],
                labels: BINS + 2,
            }),
            (SidesCells::Numbers(sides), Bins::RealDeciles) => Some(SideCodes {
                sides: [&sides[0].decile_bins, &sides[1].decile_bins],
                labels: MOST_DECILES,
            }),
        }
    }
}

impl<'a> NumberSide<'a> {
    fn of(values: &'a [f64], order: Vec<usize>, deciles: &Deciles) -> NumberSide<'a> {
        let range = extremes(values);
        let complete = order.len() == values.len();
        let finite = range.is_none_or(|(low, high)| low.is_finite() && high.is_finite());
        let edges = even_edges(range, BINS);
        NumberSide {
            values,
            constant: range.is_some_and(|(low, high)| low == high),
            standard: complete.then(|| standardized(values)).flatten(),
            standard_ranks: complete
                .then(|| standardized(&ranks_in(values, &order)))
                .flatten(),
            own_bins: finite.then(|| {
                values
                    .iter()
                    .map(|&value| digitize(value, &edges))
                    .collect()
            }),
            decile_bins: values.iter().map(|&value| deciles.place(value)).collect(),
            order,
        }
    }

    /// The values that are present, rounded and sorted.
    fn rounded(&self) -> Vec<f64> {
        let rows = self.order.iter();
        rows.map(|&row| to_fourteen_decimals(self.values[row]))
            .collect()
    }

    pub(super) fn pearson(&self, other: &NumberSide) -> Option<f64> {
        if let (Some(first), Some(second)) = (&self.standard, &other.standard) {
            return Some(product(first, second));
        }
        gapped_pearson(self.values, other.values)
    }

    pub(super) fn spearman(&self, other: &NumberSide) -> Option<f64> {
        if let (Some(first), Some(second)) = (&self.standard_ranks, &other.standard_ranks) {
            return Some(product(first, second));
        }
        gapped_pearson(&self.ranks_beside(other), &other.ranks_beside(self))
    }

    /// Ranks among the rows in which the other column holds a value too; NaN of all others.
    fn ranks_beside(&self, other: &NumberSide) -> Vec<f64> {
        let rows = self.order.iter().copied();
        let both: Vec<usize> = rows.filter(|&row| !other.values[row].is_nan()).collect();
        ranks_in(self.values, &both)
    }
}
