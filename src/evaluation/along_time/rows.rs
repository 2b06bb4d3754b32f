//! What follows what, what stands first and last, and what should rise or stay.

use std::collections::HashMap;

use rayon::prelude::*;
use serde::Serialize;

use crate::evaluation::Comparison;
use crate::evaluation::metrics::{ks_complement, tv_complement};
use crate::table::{ComparedCells, ComparedTable, MISSING_CODE};

/// Categories that have a line of their own in a table of transitions; the rest are pooled.
const MOST_LABELS: usize = 12;

/// How often each category of a column comes after each, `missing` being one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Transitions {
    /// Name of the column.
    pub column: String,
    /// 1 less the total variation distance of the two tables of (value, next value), all categories apart; [0, 1], 1
    /// best. `None` where no sequence of one table has two rows.
    pub score: Option<f64>,
    /// The most frequent real categories, at most 12, then perhaps `others`.
    pub labels: Vec<String>,
    /// Share of the real pairs of rows that go from the category of the line to that of the column; all sum to 1.
    pub real: Vec<Vec<f64>>,
    /// As `real`, of the synthetic table.
    pub synthetic: Vec<Vec<f64>>,
    /// How the lengths of runs, of rows of one category after each other, are distributed: `KSComplement`; [0, 1], 1
    /// best. The table of pairs tells their mean only.
    pub run_score: Option<f64>,
    /// Mean length of the real runs, in rows.
    pub real_run_rows: Option<f64>,
    /// As `real_run_rows`, of the synthetic table.
    pub synthetic_run_rows: Option<f64>,
}

/// The first and the last rows of sequences, which a table of all rows hides behind the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EndRow {
    /// Name of the column.
    pub column: String,
    /// `KSComplement` or `TVComplement` of the first rows; [0, 1], 1 best.
    pub first_row: Option<f64>,
    /// The same of the last rows.
    pub last_row: Option<f64>,
}

/// Whether the sequence index rises from row to row.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct IndexRise {
    /// Name of the sequence index.
    pub column: String,
    /// Share of the real steps that rise; sorting makes the others stand still.
    pub real: f64,
    /// As `real`, of the synthetic table.
    pub synthetic: f64,
}

/// How many sequences a context column varies in.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ContextChange {
    /// Name of the context column.
    pub column: String,
    /// Share of the real sequences in which it takes more than one value.
    pub real: f64,
    /// As `real`, of the synthetic table.
    pub synthetic: f64,
}

pub(super) fn transitions(comparison: &Comparison) -> Vec<Transitions> {
    let columns: Vec<usize> = comparison
        .categories()
        .filter(|&column| comparison.varies(column))
        .collect();
    columns
        .into_par_iter()
        .map(|column| {
            let labels = &comparison.columns[column].labels;
            let real = counts(&comparison.real, column);
            let synthetic = counts(&comparison.synthetic, column);
            let places = places(&real);
            let mut names: Vec<String> = vec![String::new(); places.len()];
            for (&code, &place) in &places {
                let name = labels.get(code as usize).map_or("missing", String::as_str);
                names[place].push_str(name);
            }
            let others = |counts: &Counts| {
                counts
                    .keys()
                    .any(|(from, to)| !places.contains_key(from) || !places.contains_key(to))
            };
            if others(&real) || others(&synthetic) {
                names.push("others".to_owned());
            }
            let [real_runs, synthetic_runs] =
                [&comparison.real, &comparison.synthetic].map(|table| runs(table, column));
            Transitions {
                run_score: ks_complement(&real_runs, &synthetic_runs),
                real_run_rows: mean(&real_runs),
                synthetic_run_rows: mean(&synthetic_runs),
                column: comparison.columns[column].name.clone(),
                score: score(&real, &synthetic),
                real: table(&real, &places, names.len()),
                synthetic: table(&synthetic, &places, names.len()),
                labels: names,
            }
        })
        .collect()
}

type Counts = HashMap<(u32, u32), usize>;

fn counts(table: &ComparedTable, column: usize) -> Counts {
    let codes = table.columns[column].codes().unwrap_or_default();
    let mut counts = Counts::new();
    for range in table.ranges() {
        for pair in codes[range].windows(2) {
            *counts.entry((pair[0], pair[1])).or_default() += 1;
        }
    }
    counts
}

/// Rows of each run of equal categories, which ends where its sequence ends.
fn runs(table: &ComparedTable, column: usize) -> Vec<f64> {
    let codes = table.columns[column].codes().unwrap_or_default();
    table
        .ranges()
        .flat_map(|range| codes[range].chunk_by(|left, right| left == right))
        .map(|run| run.len() as f64)
        .collect()
}

/// `None` of nothing.
fn mean(runs: &[f64]) -> Option<f64> {
    (!runs.is_empty()).then(|| runs.iter().sum::<f64>() / runs.len() as f64)
}

fn score(real: &Counts, synthetic: &Counts) -> Option<f64> {
    let total = |counts: &Counts| counts.values().sum::<usize>();
    let (reals, synthetics) = (total(real), total(synthetic));
    if reals == 0 || synthetics == 0 {
        return None;
    }
    let mut pairs: Vec<&(u32, u32)> = real.keys().chain(synthetic.keys()).collect();
    pairs.sort_unstable(); // one order, one sum
    pairs.dedup();
    let share = |counts: &Counts, total: usize, pair| {
        counts.get(pair).copied().unwrap_or(0) as f64 / total as f64
    };
    let variation: f64 = pairs
        .into_iter()
        .map(|pair| (share(real, reals, pair) - share(synthetic, synthetics, pair)).abs())
        .sum();
    Some(1.0 - variation / 2.0)
}

/// Lines of the categories that are left and reached most often, in the order of their codes.
fn places(real: &Counts) -> HashMap<u32, usize> {
    let mut sums: HashMap<u32, usize> = HashMap::new();
    for (&(from, to), count) in real {
        *sums.entry(from).or_default() += count;
        *sums.entry(to).or_default() += count;
    }
    let mut codes: Vec<(usize, u32)> = sums.into_iter().map(|(code, sum)| (sum, code)).collect();
    codes.sort_unstable_by_key(|&(sum, code)| (std::cmp::Reverse(sum), code));
    let mut codes: Vec<u32> = codes
        .into_iter()
        .take(MOST_LABELS)
        .map(|(_, code)| code)
        .collect();
    codes.sort_unstable();
    codes.into_iter().zip(0..).collect()
}

fn table(counts: &Counts, places: &HashMap<u32, usize>, labels: usize) -> Vec<Vec<f64>> {
    let mut table = vec![vec![0.0; labels]; labels];
    let total: usize = counts.values().sum();
    let mut pairs: Vec<_> = counts.iter().collect();
    pairs.sort_unstable();
    for ((from, to), &count) in pairs {
        let place = |code| places.get(code).copied().unwrap_or(labels - 1);
        table[place(from)][place(to)] += count as f64 / total as f64;
    }
    table
}

pub(super) fn end_rows(comparison: &Comparison) -> Vec<EndRow> {
    let columns: Vec<usize> = (0..comparison.columns.len())
        .filter(|&column| comparison.varies(column))
        .filter(|&column| {
            comparison.columns[column].is_number() || comparison.columns[column].is_category()
        })
        .collect();
    columns
        .into_par_iter()
        .map(|column| {
            let score = |last: bool| {
                similarity(
                    &ends(&comparison.real, column, last),
                    &ends(&comparison.synthetic, column, last),
                )
            };
            EndRow {
                column: comparison.columns[column].name.clone(),
                first_row: score(false),
                last_row: score(true),
            }
        })
        .collect()
}

fn ends(table: &ComparedTable, column: usize, last: bool) -> ComparedCells {
    let rows = table
        .ranges()
        .map(|range| if last { range.end - 1 } else { range.start });
    match &table.columns[column] {
        ComparedCells::Numbers(numbers) => {
            ComparedCells::Numbers(rows.map(|row| numbers[row]).collect())
        }
        ComparedCells::Codes(codes) => ComparedCells::Codes(rows.map(|row| codes[row]).collect()),
    }
}

fn similarity(real: &ComparedCells, synthetic: &ComparedCells) -> Option<f64> {
    match (real, synthetic) {
        (ComparedCells::Numbers(real), ComparedCells::Numbers(synthetic)) => {
            ks_complement(real, synthetic)
        }
        (ComparedCells::Codes(real), ComparedCells::Codes(synthetic)) => {
            let present = |codes: &[u32]| -> Vec<Option<u32>> {
                codes
                    .iter()
                    .map(|&code| (code != MISSING_CODE).then_some(code))
                    .collect()
            };
            tv_complement(&present(real), &present(synthetic))
        }
        _ => None,
    }
}

pub(super) fn index_rise(comparison: &Comparison) -> Option<IndexRise> {
    let column = comparison.sequence_index()?;
    let rising = |table: &ComparedTable| {
        let numbers = table.columns[column].numbers()?;
        let steps = table.ranges().flat_map(|range| numbers[range].windows(2));
        let (rising, all) = steps.fold((0_usize, 0_usize), |(rising, all), pair| {
            (rising + usize::from(pair[1] > pair[0]), all + 1)
        });
        (all > 0).then(|| rising as f64 / all as f64)
    };
    Some(IndexRise {
        column: comparison.columns[column].name.clone(),
        real: rising(&comparison.real)?,
        synthetic: rising(&comparison.synthetic)?,
    })
}

pub(super) fn context_changes(comparison: &Comparison) -> Vec<ContextChange> {
    let context = (0..comparison.columns.len())
        .filter(|&column| comparison.columns[column].role == crate::table::Role::Context);
    context
        .map(|column| ContextChange {
            column: comparison.columns[column].name.clone(),
            real: varying(&comparison.real, column),
            synthetic: varying(&comparison.synthetic, column),
        })
        .collect()
}

/// Share of the sequences in which a column takes more than one value.
fn varying(table: &ComparedTable, column: usize) -> f64 {
    let varies = table.ranges().filter(|range| match &table.columns[column] {
        // Bits, so that missing equals missing.
        ComparedCells::Numbers(numbers) => numbers[range.clone()]
            .windows(2)
            .any(|pair| pair[0] != pair[1] && !(pair[0].is_nan() && pair[1].is_nan())),
        ComparedCells::Codes(codes) => codes[range.clone()]
            .windows(2)
            .any(|pair| pair[0] != pair[1]),
    });
    varies.count() as f64 / table.sequences() as f64
}
