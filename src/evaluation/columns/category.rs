//! One column of categories or truth values.

use std::cmp::Reverse;

use super::super::Comparison;
use super::super::metrics::{Tally, adherence_of, coverage_of, similarity_of_shares};
use super::{CategoryColumn, CategoryShare, CategorySummary};

/// Categories shown by name.
const MOST_SHOWN: usize = 20;

pub(super) fn category_column(
    comparison: &Comparison,
    position: usize,
    tv_complement: Option<f64>,
) -> CategoryColumn {
    let column = &comparison.columns[position];
    let sides: Vec<&[u32]> = comparison
        .parts()
        .into_iter()
        .map(|table| table.columns[position].codes().unwrap_or_default())
        .collect();
    let against = |side: usize| Tally::of_codes(sides[0], sides[side], column.labels.len());
    let tally = against(1);
    let holdout = (sides.len() > 2).then(|| against(2));
    let (shown, pooled) = most_frequent(&tally, holdout.as_ref());
    let share = |label: String, codes: &[usize]| CategoryShare {
        label,
        real: share(&tally, 0, codes),
        synthetic: share(&tally, 1, codes),
        holdout: holdout.as_ref().map(|tally| share(tally, 1, codes)),
    };
    CategoryColumn {
        column: column.name.clone(),
        position,
        role: column.role.name().to_owned(),
        tv_complement,
        category_coverage: coverage_of(&tally),
        category_adherence: adherence_of(&tally),
        missing_similarity: similarity_of_shares(
            (tally.missing[0], sides[0].len()),
            (tally.missing[1], sides[1].len()),
        ),
        real: summary(&tally, 0),
        synthetic: summary(&tally, 1),
        holdout: holdout.as_ref().map(|tally| summary(tally, 1)),
        shares: shown
            .iter()
            .map(|&code| share(column.labels[code].clone(), &[code]))
            .collect(),
        others: match pooled.len() {
            0 => None,
            1 => Some(share("1 other".to_owned(), &pooled)),
            count => Some(share(format!("{count} others"), &pooled)),
        },
    }
}

/// Codes by their share in the real and the synthetic column together, and all others that occur.
fn most_frequent(tally: &Tally, holdout: Option<&Tally>) -> (Vec<usize>, Vec<usize>) {
    let rows = [tally.present(0).max(1), tally.present(1).max(1)];
    // Shares over a common denominator, so that ties are ties.
    let weight = |code: usize| {
        let [real, synthetic] = tally.counts[code].map(|count| count as u128);
        real * rows[1] as u128 + synthetic * rows[0] as u128
    };
    let held_out = |code: usize| holdout.is_some_and(|tally| tally.counts[code][1] > 0);
    let mut codes: Vec<usize> = (0..tally.counts.len())
        .filter(|&code| weight(code) > 0 || held_out(code))
        .collect();
    codes.sort_by_key(|&code| (Reverse(weight(code)), code));
    let pooled = codes.split_off(codes.len().min(MOST_SHOWN));
    (codes, pooled)
}

/// Rows of these categories, as a share of those in which one is present.
fn share(tally: &Tally, side: usize, codes: &[usize]) -> f64 {
    let rows: usize = codes.iter().map(|&code| tally.counts[code][side]).sum();
    rows as f64 / tally.present(side).max(1) as f64
}

fn summary(tally: &Tally, side: usize) -> CategorySummary {
    let present = tally.present(side);
    let unseen = tally.counts.iter().filter(|counts| counts[0] == 0);
    CategorySummary {
        rows: present + tally.missing[side],
        missing: tally.missing[side],
        categories: tally
            .counts
            .iter()
            .filter(|counts| counts[side] > 0)
            .count(),
        unseen_categories: unseen.clone().filter(|counts| counts[side] > 0).count(),
        unseen_rows: unseen.map(|counts| counts[side]).sum(),
    }
}
