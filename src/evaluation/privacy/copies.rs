//! Sequences and rows that are those of the real table.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use rayon::prelude::*;
use serde::Serialize;

use crate::evaluation::Comparison;
use crate::table::{ComparedCells, ComparedTable};

const MOST_NAMED: usize = 10;

/// Sequences and rows that are those of the real table, keys and ids left out, the order of rows left out, numbers
/// compared in their first seven digits.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CopyReport {
    /// Synthetic sequences that have the very rows of a real one.
    pub sequences: usize,
    /// Share of the synthetic sequences that are such copies, in [0, 1].
    pub share: f64,
    /// The same of the held-out sequences: what chance does, in a table of few different sequences.
    pub share_of_holdout: Option<f64>,
    /// Share of the synthetic sequences that are a real one moved in time: the same rows but for the sequence index,
    /// which has the same gaps; copies in place included. `None` without a sequence index.
    pub shifted_share: Option<f64>,
    /// The same of the held-out sequences.
    pub shifted_share_of_holdout: Option<f64>,
    /// Share of the synthetic rows that equal a real row.
    pub row_share: f64,
    /// The same of the held-out rows.
    pub row_share_of_holdout: Option<f64>,
    /// The copies, at most ten.
    pub named: Vec<Copy>,
}

/// A synthetic sequence that is a real one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Copy {
    /// Number of the synthetic sequence, from 0 in the order of keys.
    pub synthetic_sequence: usize,
    /// Number of the first real sequence that it copies, from 0 in the order of keys.
    pub real_sequence: usize,
    /// Rows of both.
    pub rows: usize,
}

/// Two hashes of 64 bits, so that no two different sequences are taken for one in any table there is.
type Print = [u64; 2];

/// Prints of all rows and sequences of a table.
struct Prints {
    rows: Vec<Print>,
    sequences: Vec<Print>,
    shifted: Option<Vec<Print>>,
}

pub(super) fn copies(comparison: &Comparison) -> CopyReport {
    let [real, synthetic] =
        [&comparison.real, &comparison.synthetic].map(|table| Prints::of(comparison, table));
    let holdout = comparison
        .holdout
        .as_ref()
        .map(|table| Prints::of(comparison, table));
    let mut firsts: HashMap<Print, usize> = HashMap::new();
    for (sequence, print) in real.sequences.iter().enumerate() {
        firsts.entry(*print).or_insert(sequence);
    }
    let lengths = comparison.synthetic.lengths();
    let named: Vec<Copy> = synthetic
        .sequences
        .iter()
        .enumerate()
        .filter_map(|(sequence, print)| {
            Some(Copy {
                synthetic_sequence: sequence,
                real_sequence: *firsts.get(print)?,
                rows: lengths[sequence],
            })
        })
        .collect();
    let of_sequences = |prints: &Prints| share_known(&real.sequences, &prints.sequences);
    let of_shifted = |prints: &Prints| {
        Some(share_known(
            real.shifted.as_ref()?,
            prints.shifted.as_ref()?,
        ))
    };
    let of_rows = |prints: &Prints| share_known(&real.rows, &prints.rows);
    CopyReport {
        sequences: named.len(),
        share: of_sequences(&synthetic),
        share_of_holdout: holdout.as_ref().map(of_sequences),
        shifted_share: of_shifted(&synthetic),
        shifted_share_of_holdout: holdout.as_ref().and_then(of_shifted),
        row_share: of_rows(&synthetic),
        row_share_of_holdout: holdout.as_ref().map(of_rows),
        named: named.into_iter().take(MOST_NAMED).collect(),
    }
}

fn share_known(known: &[Print], asked: &[Print]) -> f64 {
    let known: std::collections::HashSet<&Print> = known.iter().collect();
    asked.iter().filter(|print| known.contains(print)).count() as f64 / asked.len().max(1) as f64
}

impl Prints {
    fn of(comparison: &Comparison, table: &ComparedTable) -> Prints {
        let index = comparison.sequence_index();
        let compared: Vec<usize> = (0..table.columns.len())
            .filter(|&column| {
                comparison.columns[column].is_number() || comparison.columns[column].is_category()
            })
            .collect();
        let unmoved: Vec<usize> = compared
            .iter()
            .copied()
            .filter(|&column| Some(column) != index)
            .collect();
        let rows: Vec<Print> = (0..table.rows())
            .into_par_iter()
            .map(|row| row_print(table, &compared, row, None))
            .collect();
        let sequences = table
            .ranges()
            .map(|range| sequence_print(rows[range].to_vec()))
            .collect();
        let ranges: Vec<_> = table.ranges().collect();
        let shifted = index
            .and_then(|index| table.columns[index].numbers())
            .map(|index| {
                ranges
                    .into_par_iter()
                    .map(|range| {
                        let start = index[range.start];
                        let prints = range
                            .map(|row| row_print(table, &unmoved, row, Some(index[row] - start)));
                        sequence_print(prints.collect())
                    })
                    .collect()
            });
        Prints {
            rows,
            sequences,
            shifted,
        }
    }
}

fn row_print(table: &ComparedTable, columns: &[usize], row: usize, extra: Option<f64>) -> Print {
    [1_u64, 2].map(|salt| {
        let mut hasher = DefaultHasher::new();
        salt.hash(&mut hasher);
        for &column in columns {
            match &table.columns[column] {
                ComparedCells::Numbers(numbers) => seven_digits(numbers[row]).hash(&mut hasher),
                ComparedCells::Codes(codes) => codes[row].hash(&mut hasher),
            }
        }
        if let Some(extra) = extra {
            seven_digits(extra).hash(&mut hasher);
        }
        hasher.finish()
    })
}

/// The same for the same rows in any order.
fn sequence_print(mut rows: Vec<Print>) -> Print {
    rows.sort_unstable();
    [1_u64, 2].map(|salt| {
        let mut hasher = DefaultHasher::new();
        (salt, &rows).hash(&mut hasher);
        hasher.finish()
    })
}

/// The bits of a number rounded to about seven digits: of the 53 of its mantissa 24 are kept. Missing cells are alike.
fn seven_digits(cell: f64) -> u64 {
    const DROPPED: u32 = 29;
    if cell.is_nan() {
        return u64::MAX;
    }
    // Half of the last kept bit is added, so that neighbours on either side of a limit seldom part.
    ((cell + 0.0).to_bits() + (1 << (DROPPED - 1))) >> DROPPED
}
