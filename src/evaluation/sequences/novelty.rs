//! Whether rows and sequences are new, and how near to real ones rows lie. Keys and ids are never looked at.

mod random;

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use rayon::prelude::*;

use super::super::Comparison;
use super::super::metrics::{
    BaselineProtection, OverfittingProtection, TableColumn, dcr_baseline_protection,
    dcr_overfitting_protection, new_row_synthesis,
};
use super::NoveltyReport;
use crate::rng::{Purpose, shuffle};
use crate::table::{ComparedCells, ComparedTable, MISSING_CODE};

/// Synthetic rows that are looked up among the real ones.
const MOST_MATCHED_ROWS: usize = 10_000;
/// Rows of each table that are held against each other.
const MOST_DISTANT_ROWS: usize = 2_000;

/// What rows are drawn for; each has a stream of its own.
#[derive(Debug, Clone, Copy)]
enum Draw {
    Matched = 100,
    DistantReal,
    DistantSynthetic,
    RandomRows,
    HoldoutReal,
    HoldoutSynthetic,
    Holdout,
}

pub(in super::super) fn novelty(rows: &Comparison, sequences: &Comparison) -> NoveltyReport {
    let matched = rows.synthetic.rows().min(MOST_MATCHED_ROWS);
    let (baseline, dcr_rows) = baseline(rows);
    let (overfitting, dcr_holdout_rows) = overfitting(rows).unzip();
    let overfitting = overfitting.flatten();
    let row_prints = prints(rows, row_prints);
    let sequence_prints = prints(sequences, sequence_prints);
    NoveltyReport {
        new_row_synthesis: new_rows_within_a_percent(rows, matched),
        new_row_synthesis_rows: matched,
        new_rows: share_new(&row_prints, 1),
        new_rows_of_holdout: share_new(&row_prints, 2),
        new_sequences: share_new(&sequence_prints, 1),
        new_sequences_of_holdout: share_new(&sequence_prints, 2),
        dcr_baseline_protection: baseline.and_then(|found| found.score),
        dcr_median_synthetic: baseline.map(|found| found.synthetic_median),
        dcr_median_random: baseline.map(|found| found.random_median),
        dcr_overfitting_protection: overfitting.map(|found| found.score),
        dcr_closer_to_real: overfitting.map(|found| found.closer_to_training),
        dcr_rows,
        dcr_holdout_rows: dcr_holdout_rows.unwrap_or(0),
    }
}

fn new_rows_within_a_percent(rows: &Comparison, count: usize) -> Option<f64> {
    let all: Vec<usize> = (0..rows.real.rows()).collect();
    let real = Rows::of(rows, &rows.real, &all);
    let synthetic = Rows::of(
        rows,
        &rows.synthetic,
        &drawn(rows, &rows.synthetic, count, Draw::Matched),
    );
    new_row_synthesis(&real.columns(), &synthetic.columns(), 0.01)
}

fn baseline(rows: &Comparison) -> (Option<BaselineProtection>, usize) {
    let count = rows
        .real
        .rows()
        .min(rows.synthetic.rows())
        .min(MOST_DISTANT_ROWS);
    let take = |table, draw| Rows::of(rows, table, &drawn(rows, table, count, draw));
    let real = take(&rows.real, Draw::DistantReal);
    let synthetic = take(&rows.synthetic, Draw::DistantSynthetic);
    let mut generator = stream(rows, Draw::RandomRows);
    let random = random::random_rows(rows, count, &mut generator);
    let found = dcr_baseline_protection(&real.columns(), &synthetic.columns(), &random.columns());
    (found, count)
}

fn overfitting(rows: &Comparison) -> Option<(Option<OverfittingProtection>, usize)> {
    let holdout = rows.holdout.as_ref()?;
    let tables = [&rows.real, &rows.synthetic, holdout];
    let count = tables
        .map(ComparedTable::rows)
        .into_iter()
        .min()?
        .min(MOST_DISTANT_ROWS);
    let take = |table, draw| Rows::of(rows, table, &drawn(rows, table, count, draw));
    let real = take(&rows.real, Draw::HoldoutReal);
    let synthetic = take(&rows.synthetic, Draw::HoldoutSynthetic);
    let holdout = take(holdout, Draw::Holdout);
    let found =
        dcr_overfitting_protection(&real.columns(), &synthetic.columns(), &holdout.columns());
    Some((found, count))
}

fn stream(rows: &Comparison, draw: Draw) -> rand::rngs::ChaCha12Rng {
    rows.seed
        .numbered_stream(Purpose::EvaluationSubsample, draw as u64)
}

/// Some rows of a table, without repetition; all in their order where there are no more.
fn drawn(rows: &Comparison, table: &ComparedTable, count: usize, draw: Draw) -> Vec<usize> {
    let mut order: Vec<usize> = (0..table.rows()).collect();
    if count < order.len() {
        shuffle(&mut order, &mut stream(rows, draw));
        order.truncate(count);
    }
    order
}

/// Rows of a table without key and ids.
pub(super) struct Rows {
    cells: Vec<Cells>,
}

enum Cells {
    Numbers(Vec<f64>),
    Categories(Vec<Option<u32>>),
}

impl Rows {
    fn of(comparison: &Comparison, table: &ComparedTable, rows: &[usize]) -> Rows {
        let cells = compared(comparison).into_par_iter();
        Rows {
            cells: cells
                .map(|column| match &table.columns[column] {
                    ComparedCells::Numbers(numbers) => {
                        Cells::Numbers(rows.iter().map(|&row| numbers[row]).collect())
                    }
                    ComparedCells::Codes(codes) => {
                        let cell =
                            |&row: &usize| Some(codes[row]).filter(|&code| code != MISSING_CODE);
                        Cells::Categories(rows.iter().map(cell).collect())
                    }
                })
                .collect(),
        }
    }

    fn columns(&self) -> Vec<TableColumn<'_>> {
        let cells = self.cells.iter();
        cells
            .map(|cells| match cells {
                Cells::Numbers(numbers) => TableColumn::Numbers(numbers),
                Cells::Categories(codes) => TableColumn::Categories(codes),
            })
            .collect()
    }
}

/// Positions of the columns that are compared: all but the key and ids.
fn compared(comparison: &Comparison) -> Vec<usize> {
    let columns = 0..comparison.columns.len();
    let kept = |&column: &usize| {
        comparison.columns[column].is_number() || comparison.columns[column].is_category()
    };
    columns.filter(kept).collect()
}

/// What tells rows, or sequences, of each table apart; two hashes, so that no two of a billion are taken for equal.
fn prints(
    comparison: &Comparison,
    of: fn(&Comparison, &ComparedTable) -> Vec<[u64; 2]>,
) -> Vec<Vec<[u64; 2]>> {
    let tables = comparison.parts();
    tables
        .into_iter()
        .map(|table| of(comparison, table))
        .collect()
}

fn row_prints(comparison: &Comparison, table: &ComparedTable) -> Vec<[u64; 2]> {
    let columns = compared(comparison);
    let cell = |column: usize, row: usize| match &table.columns[column] {
        ComparedCells::Numbers(numbers) if numbers[row].is_nan() => f64::NAN.to_bits(),
        ComparedCells::Numbers(numbers) => (numbers[row] + 0.0).to_bits(), // -0 is 0
        ComparedCells::Codes(codes) => codes[row].into(),
    };
    (0..table.rows())
        .into_par_iter()
        .map(|row| print(columns.iter().map(|&column| cell(column, row))))
        .collect()
}

/// The same rows in another order make the same print.
fn sequence_prints(comparison: &Comparison, table: &ComparedTable) -> Vec<[u64; 2]> {
    let rows = row_prints(comparison, table);
    let ranges: Vec<std::ops::Range<usize>> = table.ranges().collect();
    ranges
        .into_par_iter()
        .map(|range| {
            let mut rows = rows[range].to_vec();
            rows.sort_unstable();
            print(rows.into_iter().flatten())
        })
        .collect()
}

fn print(parts: impl Iterator<Item = u64>) -> [u64; 2] {
    let mut hashers = [DefaultHasher::new(), DefaultHasher::new()];
    0_u64.hash(&mut hashers[1]);
    for part in parts {
        for hasher in &mut hashers {
            part.hash(hasher);
        }
    }
    hashers.map(|hasher| hasher.finish())
}

/// Share of the prints of one table that the real one does not have.
fn share_new(prints: &[Vec<[u64; 2]>], side: usize) -> Option<f64> {
    let own = prints.get(side)?;
    let real: HashSet<[u64; 2]> = prints[0].iter().copied().collect();
    let new = own.iter().filter(|print| !real.contains(*print)).count();
    (!own.is_empty()).then(|| new as f64 / own.len() as f64)
}
