//! Protection of rare values: which categories may come out of sampling, and between which bounds numbers stay.
//! In: a column's values and whose each is. Out: what may be learned of them.

use std::borrow::Cow;
use std::collections::HashSet;

/// How many sequences must share a value before it may be learned; 1 protects nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Protection {
    sequences: usize,
}

impl Protection {
    /// Protects nothing.
    pub(crate) const OFF: Protection = Protection { sequences: 1 };

    /// For values that at least so many sequences must share.
    pub(crate) fn new(sequences: usize) -> Protection {
        Protection {
            sequences: sequences.max(1),
        }
    }

    pub(crate) fn is_on(self) -> bool {
        self.sequences > 1
    }

    /// Whether a value that so many sequences hold must not come out.
    pub(crate) fn hides(self, sequences: usize) -> bool {
        sequences < self.sequences
    }

    /// By code, whether too few sequences hold the label.
    pub(crate) fn hidden(self, codes: &[u32], labels: usize, sequence: &[u32]) -> Vec<bool> {
        if !self.is_on() {
            return vec![false; labels];
        }
        let pairs: HashSet<(u32, u32)> = codes
            .iter()
            .copied()
            .zip(sequence.iter().copied())
            .collect();
        let mut holders = vec![0; labels];
        for (code, _) in pairs {
            if let Some(count) = holders.get_mut(code as usize) {
                *count += 1;
            }
        }
        holders.into_iter().map(|count| self.hides(count)).collect()
    }

    /// How many sequences have a value that is not NaN. Rows of a sequence lie together.
    pub(crate) fn holders(values: &[f64], sequence: &[u32]) -> usize {
        extremes(values, sequence).len()
    }

    /// The values, those beyond the k-th most extreme sequence moved to that sequence's extreme; NaN stays, and is all
    /// that is left where fewer sequences than that have a value. Rows of a sequence lie together.
    pub(crate) fn clip<'v>(self, values: &'v [f64], sequence: &[u32]) -> Cow<'v, [f64]> {
        if !self.is_on() {
            return Cow::Borrowed(values);
        }
        let Some((low, high)) = self.bounds(values, sequence) else {
            return Cow::Owned(vec![f64::NAN; values.len()]);
        };
        Cow::Owned(
            values
                .iter()
                .map(|value| {
                    if value.is_nan() {
                        f64::NAN
                    } else {
                        value.clamp(low, high)
                    }
                })
                .collect(),
        )
    }

    fn bounds(self, values: &[f64], sequence: &[u32]) -> Option<(f64, f64)> {
        let (mut lows, mut highs): (Vec<f64>, Vec<f64>) =
            extremes(values, sequence).into_iter().unzip();
        if self.hides(lows.len()) {
            return None;
        }
        lows.sort_unstable_by(f64::total_cmp);
        highs.sort_unstable_by(f64::total_cmp);
        let (low, high) = (
            lows[self.sequences - 1],
            highs[highs.len() - self.sequences],
        );
        if low <= high {
            return Some((low, high));
        }
        // Where few sequences overlap, one value that lies in their midst is all that may be told.
        let middle = highs[highs.len() / 2];
        Some((middle, middle))
    }
}

/// Smallest and largest value of each sequence that has one.
fn extremes(values: &[f64], sequence: &[u32]) -> Vec<(f64, f64)> {
    let mut extremes: Vec<(f64, f64)> = Vec::new();
    let mut owner = None;
    for (&value, &sequence) in values.iter().zip(sequence) {
        if value.is_nan() {
            continue;
        }
        match extremes.last_mut().filter(|_| owner == Some(sequence)) {
            Some((low, high)) => (*low, *high) = (low.min(value), high.max(value)),
            None => extremes.push((value, value)),
        }
        owner = Some(sequence);
    }
    extremes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_hidden_by_the_sequences_that_hold_it_not_by_its_rows() {
        let (codes, sequence) = ([0, 1, 1, 1, 0, 2, 0], [0, 0, 0, 0, 1, 1, 2]);
        let hidden = |k| Protection::new(k).hidden(&codes, 3, &sequence);
        assert_eq!(hidden(1), [false; 3]);
        assert_eq!(hidden(2), [false, true, true]);
        assert_eq!(hidden(4), [true; 3]);
    }

    #[test]
    fn numbers_are_clipped_to_the_extreme_of_the_second_most_extreme_sequence() {
        let values = [1.0, 50.0, 60.0, f64::NAN, 2.0, 9.0, 3.0, 8.0];
        let sequence = [0, 0, 0, 1, 1, 1, 2, 2];
        let clipped = Protection::new(2).clip(&values, &sequence);
        // Smallest of each: 1, 2, 3. Largest: 60, 9, 8.
        let wanted = [2.0, 9.0, 9.0, f64::NAN, 2.0, 9.0, 3.0, 8.0];
        assert!(
            clipped
                .iter()
                .zip(wanted)
                .all(|(a, b)| *a == b || (a.is_nan() && b.is_nan())),
            "{clipped:?}"
        );
        assert!(matches!(
            Protection::OFF.clip(&values, &sequence),
            Cow::Borrowed(_)
        ));
    }

    #[test]
    fn sequences_that_do_not_overlap_leave_one_value() {
        let clipped = Protection::new(3).clip(&[1.0, 5.0, 9.0], &[0, 1, 2]);
        assert_eq!(&*clipped, [5.0, 5.0, 5.0]);
    }

    #[test]
    fn values_that_too_few_sequences_have_go_missing() {
        let (values, sequence) = ([1.0, f64::NAN, 5.0, f64::NAN], [0, 0, 1, 2]);
        assert_eq!(Protection::holders(&values, &sequence), 2);
        let clipped = Protection::new(3).clip(&values, &sequence);
        assert!(clipped.iter().all(|value| value.is_nan()), "{clipped:?}");
    }
}
