//! Metrics of sequences, told apart by a key.

use std::hash::Hash;
use std::ops::Range;

use rayon::prelude::*;

use super::categories::Codes;
use super::numbers::{Statistic, ks_complement};
use crate::table::MISSING_CODE;

/// SDMetrics' `SequenceLengthSimilarity`: `KSComplement` of how often each key occurs, rows without a key left out.
/// Lengths are compared as they are: sequences of 4, 6 and 2 rows are twice as long as those of 2, 3 and 1, and score
/// a third. `None` where one side has no key.
pub fn sequence_length_similarity<K: Eq + Hash>(
    real_keys: &[Option<K>],
    synthetic_keys: &[Option<K>],
) -> Option<f64> {
    let lengths = |keys| {
        let rows = Grouped::of(keys, &[]).ranges;
        let lengths = rows.into_iter().map(|range| range.len() as f64);
        lengths.collect::<Vec<f64>>()
    };
    ks_complement(&lengths(real_keys), &lengths(synthetic_keys))
}

/// SDMetrics' `StatisticMSAS`: `KSComplement` of a statistic of each sequence. Each side is its keys and its values,
/// row by row; rows without a key are left out, as are missing values and sequences of too few. `None` where no
/// sequence of one side is left.
pub fn statistic_msas<K: Eq + Hash>(
    real: (&[Option<K>], &[f64]),
    synthetic: (&[Option<K>], &[f64]),
    statistic: Statistic,
) -> Option<f64> {
    let figures = |(keys, values)| {
        let grouped = Grouped::of(keys, values);
        statistic_of_each(&grouped.values, &grouped.ranges, statistic)
    };
    ks_complement(&figures(real), &figures(synthetic))
}

/// SDMetrics' `InterRowMSAS`: `KSComplement` of the differences between rows that are `rows_apart` in a sequence (1
/// there by default), of the values or of their natural logarithms. Rows without a key are left out, as are
/// differences with a missing value, and logarithms of negative numbers. `None` where no difference of one side is
/// left, or `rows_apart` is 0.
///
/// SDMetrics describes an average over each sequence; its version 0.32 compares all differences at once, and so does
/// this.
pub fn inter_row_msas<K: Eq + Hash>(
    real: (&[Option<K>], &[f64]),
    synthetic: (&[Option<K>], &[f64]),
    rows_apart: usize,
    logarithms: bool,
) -> Option<f64> {
    if rows_apart == 0 {
        return None;
    }
    let differences = |(keys, values): (&[Option<K>], &[f64])| {
        let mut grouped = Grouped::of(keys, values);
        if logarithms {
            grouped
                .values
                .iter_mut()
                .for_each(|value| *value = value.ln());
        }
        steps_of_each(&grouped.values, &grouped.ranges, rows_apart).concat()
    };
    ks_complement(&differences(real), &differences(synthetic))
}

/// Values brought together by key, each sequence's in the order of its rows.
#[derive(Debug)]
struct Grouped {
    values: Vec<f64>,
    ranges: Vec<Range<usize>>,
}

impl Grouped {
    /// Values that are not there are missing.
    fn of<K: Eq + Hash>(keys: &[Option<K>], values: &[f64]) -> Grouped {
        let mut codes = Codes::default();
        let of_row = codes.of(keys);
        let mut rows: Vec<usize> = (0..keys.len())
            .filter(|&row| of_row[row] != MISSING_CODE)
            .collect();
        rows.sort_by_key(|&row| of_row[row]);
        let mut ranges = Vec::with_capacity(codes.places.len());
        for sequence in rows.chunk_by(|&left, &right| of_row[left] == of_row[right]) {
            let start = ranges.last().map_or(0, |range: &Range<usize>| range.end);
            ranges.push(start..start + sequence.len());
        }
        let value = |&row: &usize| values.get(row).copied().unwrap_or(f64::NAN);
        Grouped {
            values: rows.iter().map(value).collect(),
            ranges,
        }
    }
}

/// A statistic of each sequence, NaN where it is undefined.
pub(crate) fn statistic_of_each(
    values: &[f64],
    ranges: &[Range<usize>],
    statistic: Statistic,
) -> Vec<f64> {
    let of = |range: &Range<usize>| statistic.of(&values[range.clone()]).unwrap_or(f64::NAN);
    ranges.par_iter().with_min_len(1024).map(of).collect()
}

/// The differences between rows some rows apart, sequence by sequence, NaN where one is missing.
pub(crate) fn steps_of_each(
    values: &[f64],
    ranges: &[Range<usize>],
    rows_apart: usize,
) -> Vec<Vec<f64>> {
    let of = |range: &Range<usize>| {
        let values = &values[range.clone()];
        let later = values.iter().skip(rows_apart);
        later
            .zip(values)
            .map(|(later, value)| later - value)
            .collect()
    };
    ranges.par_iter().with_min_len(1024).map(of).collect()
}
