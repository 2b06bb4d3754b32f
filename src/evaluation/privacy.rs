//! Whether real sequences shine through: closeness, copies, rare values, membership, keys.
//! In: tables side by side. Out: [`PrivacyReport`]. All is per sequence: the sequence key, ids, the order of sequences
//! and of rows of one index leave no trace, so that a copy under a new key is a copy.
//! Sequences are held against each other as standardised summary features, of at most 2,000 sequences a table; copies
//! and rare values are found by hashing, in all of them.

mod closeness;
mod copies;
mod rare;
mod verdicts;

use std::collections::HashSet;

use serde::Serialize;

use super::Comparison;
use crate::table::{ComparedCells, ComparedTable};

pub use closeness::{ClosenessReport, DistanceQuantiles, MembershipReport};
pub use copies::{Copy, CopyReport};
pub use rare::RareValues;
pub use verdicts::{Outcome, Verdict};

/// Whether real sequences shine through. Nothing here is a promise of privacy: it finds what it looks for.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PrivacyReport {
    /// What it comes to, one for each check.
    pub verdicts: Vec<Verdict>,
    /// Distances to the closest real sequence.
    pub closeness: ClosenessReport,
    /// Whether who has the synthetic table can tell who was in the real one; `None` without a holdout of at least 20
    /// sequences.
    pub membership: Option<MembershipReport>,
    /// Whole sequences and rows that are copies.
    pub copies: CopyReport,
    /// Values that one real sequence alone has, one for each column that has some.
    pub rare_values: Vec<RareValues>,
    /// Share of the synthetic sequence keys that are a real sequence's key, in [0, 1]; `None` without keys.
    pub reused_keys: Option<f64>,
}

pub(super) fn privacy(comparison: &Comparison) -> PrivacyReport {
    let (closeness, membership) = closeness::closeness(comparison);
    let mut report = PrivacyReport {
        verdicts: Vec::new(),
        closeness,
        membership,
        copies: copies::copies(comparison),
        rare_values: rare::rare_values(comparison),
        reused_keys: reused_keys(comparison),
    };
    report.verdicts = verdicts::verdicts(&report, comparison);
    report
}

fn reused_keys(comparison: &Comparison) -> Option<f64> {
    let columns: Vec<usize> = (0..comparison.columns.len())
        .filter(|&column| comparison.columns[column].is_key)
        .collect();
    let part = |cells: &ComparedCells, row: usize| match cells {
        ComparedCells::Numbers(numbers) => numbers[row].to_bits(),
        ComparedCells::Codes(codes) => codes[row].into(),
    };
    let keys = |table: &ComparedTable| -> HashSet<Vec<u64>> {
        let key = |row: usize| {
            let parts = columns
                .iter()
                .map(|&column| part(&table.columns[column], row));
            parts.collect()
        };
        table.ranges().map(|rows| key(rows.start)).collect()
    };
    let (real, synthetic) = (keys(&comparison.real), keys(&comparison.synthetic));
    (!columns.is_empty() && !synthetic.is_empty())
        .then(|| synthetic.intersection(&real).count() as f64 / synthetic.len() as f64)
}
