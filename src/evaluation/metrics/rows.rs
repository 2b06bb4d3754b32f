//! Whether rows are new. Rows are told apart by their categories first, then found in a tree of boxes by their
//! numbers, so that no row is held against all others.

mod boxes;

use std::collections::HashMap;

use rayon::prelude::*;

use boxes::Boxes;

/// A column of a table of which rows are compared.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum TableColumn<'a> {
    /// Numbers or dates, NaN where missing.
    Numbers(&'a [f64]),
    /// Categories as numbers that mean the same in every table, `None` where missing.
    Categories(&'a [Option<u32>]),
}

impl TableColumn<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            TableColumn::Numbers(cells) => cells.len(),
            TableColumn::Categories(cells) => cells.len(),
        }
    }
}

/// Rows of the shortest column.
pub(super) fn rows_of(table: &[TableColumn]) -> usize {
    table.iter().map(TableColumn::len).min().unwrap_or(0)
}

/// Whether columns are numbers and categories in the same places, and there are any.
pub(super) fn alike(left: &[TableColumn], right: &[TableColumn]) -> bool {
    let numbers = |column: &TableColumn| matches!(column, TableColumn::Numbers(_));
    !left.is_empty() && left.iter().map(numbers).eq(right.iter().map(numbers))
}

/// SDMetrics' `NewRowSynthesis`: the share of synthetic rows that match no real row. Categories match that are equal,
/// numbers that differ by at most `tolerance` of the synthetic one (0.01 there by default), missing cells each other.
/// `None` where there is no column or no synthetic row, or the tables do not have the same columns.
pub fn new_row_synthesis(
    real: &[TableColumn],
    synthetic: &[TableColumn],
    tolerance: f64,
) -> Option<f64> {
    let rows = rows_of(synthetic);
    if rows == 0 || !alike(real, synthetic) {
        return None;
    }
    let groups = Groups::of(real, synthetic);
    let matched: usize = groups
        .synthetic
        .par_iter()
        .zip(&groups.real)
        .map(|(rows, candidates)| matches(real, synthetic, (candidates, rows), tolerance))
        .sum();
    Some((rows - matched) as f64 / rows as f64)
}

/// Of rows that are in no group.
const NO_GROUP: usize = usize::MAX;

/// Rows with the same categories and the same cells missing; each group has a synthetic row.
struct Groups {
    real: Vec<Vec<usize>>,
    synthetic: Vec<Vec<usize>>,
}

impl Groups {
    fn of(real: &[TableColumn], synthetic: &[TableColumn]) -> Groups {
        let mut of_real = vec![0_usize; rows_of(real)];
        let mut of_synthetic = vec![0_usize; rows_of(synthetic)];
        // Groups of the columns so far, and the next cell: the groups of one column more. Real rows that are in no group
        // of a synthetic one drop out.
        for (real, synthetic) in real.iter().zip(synthetic) {
            let mut finer: HashMap<(usize, u64), usize> = HashMap::new();
            for (row, group) in of_synthetic.iter_mut().enumerate() {
                let next = finer.len();
                *group = *finer.entry((*group, label(synthetic, row))).or_insert(next);
            }
            of_real.par_iter_mut().enumerate().for_each(|(row, group)| {
                if *group != NO_GROUP {
                    let found = finer.get(&(*group, label(real, row)));
                    *group = found.copied().unwrap_or(NO_GROUP);
                }
            });
        }
        let groups = of_synthetic.iter().max().map_or(0, |last| last + 1);
        let gather = |of_row: &[usize]| {
            let mut rows: Vec<Vec<usize>> = vec![Vec::new(); groups];
            for (row, &group) in of_row.iter().enumerate() {
                if let Some(rows) = rows.get_mut(group) {
                    rows.push(row);
                }
            }
            rows
        };
        Groups {
            real: gather(&of_real),
            synthetic: gather(&of_synthetic),
        }
    }
}

/// What of a cell decides about its group: of a number, whether it is missing.
fn label(column: &TableColumn, row: usize) -> u64 {
    match column {
        TableColumn::Numbers(cells) => u64::from(cells[row].is_nan()),
        TableColumn::Categories(cells) => cells[row].map_or(u64::MAX, u64::from),
    }
}

/// How many rows of a group match one of the candidates.
fn matches(
    real: &[TableColumn],
    synthetic: &[TableColumn],
    (candidates, rows): (&[usize], &[usize]),
    tolerance: f64,
) -> usize {
    let (Some(&first), false) = (rows.first(), candidates.is_empty()) else {
        return 0;
    };
    let mut numbers: Vec<(&[f64], &[f64])> = Vec::new();
    for columns in real.iter().zip(synthetic) {
        if let (TableColumn::Numbers(real), TableColumn::Numbers(synthetic)) = columns
            && !synthetic[first].is_nan()
        {
            numbers.push((real, synthetic));
        }
    }
    if numbers.is_empty() {
        return rows.len();
    }
    let points = candidates
        .iter()
        .flat_map(|&row| numbers.iter().map(move |(real, _)| real[row]))
        .collect();
    let boxes = Boxes::of(points, numbers.len());
    rows.par_iter()
        .filter(|&&row| {
            let center: Vec<f64> = numbers.iter().map(|(_, numbers)| numbers[row]).collect();
            let reach = center.iter().map(|number| (tolerance * number).abs());
            boxes.holds_near(&center, &reach.collect::<Vec<f64>>())
        })
        .count()
}
