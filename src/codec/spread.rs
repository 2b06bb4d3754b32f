//! How a made-up column's values are spread over its rows: one a sequence or one a row, and how many are missing.

use crate::rng::{Purpose, Seed, uniform};
use crate::table::MISSING_CODE;

/// What was learned of where values stand, whatever they are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    /// Whether a sequence has one value (or none) in all its rows, else each row has its own.
    pub(crate) is_constant: bool,
    /// Share of sequences, or of rows, without a value.
    pub(crate) missing_share: f64,
}

impl Spread {
    /// A value in every row.
    pub(crate) const FULL: Spread = Spread {
        is_constant: false,
        missing_share: 0.0,
    };

    /// Learns from codes; rows of sequence `i` are `offsets[i]..offsets[i + 1]`. A column that may not be constant has
    /// a value for each row even where all sequences have one row.
    pub(crate) fn fit(codes: &[u32], offsets: &[usize], may_be_constant: bool) -> Spread {
        let sequences = || offsets.windows(2).map(|ends| &codes[ends[0]..ends[1]]);
        let is_constant =
            may_be_constant && sequences().all(|codes| codes.iter().all(|code| *code == codes[0]));
        let share = |missing: usize, all: usize| missing as f64 / all.max(1) as f64;
        let missing_share = if is_constant {
            let missing = sequences().filter(|codes| codes.first() == Some(&MISSING_CODE));
            share(missing.count(), sequences().count())
        } else {
            let missing = codes.iter().filter(|code| **code == MISSING_CODE);
            share(missing.count(), codes.len())
        };
        Spread {
            is_constant,
            missing_share,
        }
    }

    /// Which of so many sequences or rows have a value.
    pub(crate) fn presence(&self, count: usize, column: usize, seed: u64) -> Vec<bool> {
        if self.missing_share == 0.0 {
            return vec![true; count];
        }
        let mut generator =
            Seed::new(Some(seed)).numbered_stream(Purpose::MadeUpMissing, column as u64);
        (0..count)
            .map(|_| uniform(&mut generator) >= self.missing_share)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODES: [u32; 6] = [0, 0, MISSING_CODE, MISSING_CODE, 1, 1];

    #[test]
    fn missing_cells_are_counted_by_sequence_where_sequences_are_constant() {
        let spread = Spread::fit(&CODES, &[0, 2, 4, 6], true);
        assert!(spread.is_constant);
        assert!((spread.missing_share - 1.0 / 3.0).abs() < 1e-12);
        let spread = Spread::fit(&CODES, &[0, 3, 6], true);
        assert!(!spread.is_constant);
        assert!((spread.missing_share - 1.0 / 3.0).abs() < 1e-12);
        assert!(!Spread::fit(&CODES, &[0, 2, 4, 6], false).is_constant);
    }

    #[test]
    fn the_share_of_missing_comes_back_and_a_longer_draw_begins_as_a_shorter() {
        let spread = Spread {
            is_constant: false,
            missing_share: 0.2,
        };
        let presence = spread.presence(10_000, 3, 7);
        let missing = presence.iter().filter(|present| !**present).count();
        assert!((1800..2200).contains(&missing), "{missing}"); // 5 deviations of 40
        assert_eq!(spread.presence(100, 3, 7), presence[..100]);
        assert_ne!(spread.presence(100, 4, 7), presence[..100]);
        assert!(
            Spread::FULL
                .presence(9, 3, 7)
                .into_iter()
                .all(|present| present)
        );
    }
}
