//! The values of a column, each once.

use crate::protection::Protection;
use std::collections::HashMap;

/// Distinct values in order, how many rows hold each, and in how many sequences each is seen.
pub(super) struct Distinct {
    pub(super) values: Vec<f64>,
    pub(super) rows: Vec<usize>,
    pub(super) sequences: Vec<usize>,
}

/// Rows for each distinct value, below which values are sorted and not looked up.
const ROWS_PER_VALUE: usize = 16;
/// Values that are sorted at once, of which each takes 16 bytes.
const SORTED_AT_ONCE: usize = 1 << 21;
/// Values looked at to cut a range into parts.
const LOOKED_AT: usize = 1 << 12;

/// One value.
struct Count {
    value: f64,
    rows: usize,
    sequences: usize,
}

/// The values that are not NaN, zero without a sign, and whose each is.
fn cells<'v>(values: &'v [f64], sequence: &'v [u32]) -> impl Iterator<Item = (f64, u32)> + 'v {
    let cells = values.iter().zip(sequence);
    let present = cells.filter(|(value, _)| !value.is_nan());
    present.map(|(value, sequence)| (value + 0.0, *sequence)) // -0.0 + 0.0 is 0.0
}

/// The values in order, where they are few and come sequence by sequence.
fn few(values: &[f64], sequence: &[u32]) -> Option<Vec<Count>> {
    let most = values.len() / ROWS_PER_VALUE;
    let mut counts: HashMap<u64, (Count, u32)> = HashMap::new();
    for (value, sequence) in cells(values, sequence) {
        let new = || {
            let count = Count {
                value,
                rows: 0,
                sequences: 1,
            };
            (count, sequence)
        };
        let (count, last) = counts.entry(value.to_bits()).or_insert_with(new);
        count.rows += 1;
        count.sequences += usize::from(*last != sequence);
        *last = sequence;
        if counts.len() > most {
            return None;
        }
    }
    let mut counts: Vec<Count> = counts.into_values().map(|(count, _)| count).collect();
    counts.sort_unstable_by(|a, b| a.value.total_cmp(&b.value));
    Some(counts)
}

/// Where values are cut into ranges of about [`SORTED_AT_ONCE`] each.
fn ranges(values: &[f64]) -> Vec<f64> {
    let parts = values.len().div_ceil(SORTED_AT_ONCE);
    let step = values.len().div_ceil(LOOKED_AT).max(1);
    let some = values.iter().copied().step_by(step);
    let mut some: Vec<f64> = some.filter(|value| !value.is_nan()).collect();
    some.sort_unstable_by(f64::total_cmp);
    let end = |part: usize| some.get(part * some.len() / parts).copied();
    let mut ends: Vec<f64> = (1..parts).filter_map(end).collect();
    ends.dedup();
    ends
}

impl Distinct {
    /// Counts values that are not NaN. A column may have more of them than memory holds several times over: few
    /// distinct values are counted as they come, many are sorted range by range.
    pub(super) fn count(values: &[f64], sequence: &[u32]) -> Distinct {
        let mut distinct = Distinct {
            values: Vec::new(),
            rows: Vec::new(),
            sequences: Vec::new(),
        };
        let few = sequence.is_sorted().then(|| few(values, sequence));
        match few.flatten() {
            Some(counts) => counts.into_iter().for_each(|count| distinct.push(&count)),
            None => {
                let mut low = f64::NEG_INFINITY;
                for high in ranges(values).into_iter().chain([f64::INFINITY]) {
                    let is_last = high == f64::INFINITY;
                    distinct.extend(values, sequence, |v| low <= v && (v < high || is_last));
                    low = high;
                }
            }
        }
        distinct
    }

    fn push(&mut self, count: &Count) {
        self.values.push(count.value);
        self.rows.push(count.rows);
        self.sequences.push(count.sequences);
    }

    /// Counts those values that are wanted, which lie above all before.
    fn extend(&mut self, values: &[f64], sequence: &[u32], is_wanted: impl Fn(f64) -> bool) {
        let cells = cells(values, sequence);
        let mut cells: Vec<(f64, u32)> = cells.filter(|&(value, _)| is_wanted(value)).collect();
        cells.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for run in cells.chunk_by(|a, b| a.0 == b.0) {
            self.push(&Count {
                value: run[0].0,
                rows: run.len(),
                sequences: run.chunk_by(|a, b| a.1 == b.1).count(),
            });
        }
    }

    /// The values that enough sequences share.
    pub(super) fn shared(&self, protection: Protection) -> Distinct {
        let kept: Vec<usize> = (0..self.values.len())
            .filter(|&at| !protection.hides(self.sequences[at]))
            .collect();
        Distinct {
            values: kept.iter().map(|&at| self.values[at]).collect(),
            rows: kept.iter().map(|&at| self.rows[at]).collect(),
            sequences: kept.iter().map(|&at| self.sequences[at]).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts(distinct: &Distinct) -> Vec<(u64, usize, usize)> {
        let rows = distinct.rows.iter().zip(&distinct.sequences);
        let values = distinct.values.iter().zip(rows);
        values
            .map(|(value, (&rows, &sequences))| (value.to_bits(), rows, sequences))
            .collect()
    }

    fn sorted_at_once(values: &[f64], sequence: &[u32]) -> Distinct {
        let mut all = Distinct {
            values: Vec::new(),
            rows: Vec::new(),
            sequences: Vec::new(),
        };
        all.extend(values, sequence, |_| true);
        all
    }

    proptest! {
        #[test]
        fn values_looked_up_and_values_sorted_are_counted_alike(
            cells in prop::collection::vec(
                (prop_oneof![Just(f64::NAN), Just(0.0), Just(-0.0), (0..3).prop_map(f64::from)], 0_u32..4),
                0..400,
            ),
        ) {
            let (values, mut sequence): (Vec<f64>, Vec<u32>) = cells.into_iter().unzip();
            sequence.sort_unstable();
            let all = sorted_at_once(&values, &sequence);
            prop_assert_eq!(counts(&Distinct::count(&values, &sequence)), counts(&all));
            if values.len() >= 6 * ROWS_PER_VALUE {
                let few = few(&values, &sequence).expect("at most five values");
                prop_assert_eq!(few.len(), all.values.len());
            }
        }
    }

    #[test]
    fn many_values_are_counted_range_by_range_as_all_at_once() {
        let values: Vec<f64> = (0..3 * SORTED_AT_ONCE)
            .map(|at| match at % 5 {
                0 => 1.5,
                1 => f64::NAN,
                // A step that is coprime to the length goes through all.
                _ => ((at * 7_919) % (2 * SORTED_AT_ONCE)) as f64 / 3.0,
            })
            .collect();
        let sequence: Vec<u32> = (0..).map(|at| at / 1_000).take(values.len()).collect();
        assert!(ranges(&values).len() > 1, "{:?}", ranges(&values));
        assert!(few(&values, &sequence).is_none());
        let (parts, all) = (
            Distinct::count(&values, &sequence),
            sorted_at_once(&values, &sequence),
        );
        assert!(counts(&parts) == counts(&all));
    }
}
