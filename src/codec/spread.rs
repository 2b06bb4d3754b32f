//! How a made-up column's values are spread over its rows: one a sequence or one a row, and how many are missing.

use crate::rng::{Purpose, Seed, uniform};
use crate::table::MISSING_CODE;
use rand::rngs::ChaCha12Rng;

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

    /// Which cells of a column have a value, sequence after sequence.
    pub(crate) fn presence(self, column: usize, seed: u64) -> Presence {
        Presence {
            missing_share: self.missing_share,
            // Each column has streams of its own under one seed.
            seed: Seed::new(Some(seed.wrapping_add((column as u64 + 1) << 40))),
            current: None,
        }
    }
}

/// Which cells of a made-up column have a value: the same for a sequence wherever a part of the table begins.
#[derive(Debug)]
pub(crate) struct Presence {
    missing_share: f64,
    seed: Seed,
    /// The sequence of the last cell, and its stream.
    current: Option<(usize, ChaCha12Rng)>,
}

impl Presence {
    /// Whether the next cell of a sequence has a value.
    pub(crate) fn next(&mut self, sequence: usize) -> bool {
        if self.missing_share == 0.0 {
            return true;
        }
        let is_new = self.current.as_ref().is_none_or(|(at, _)| *at != sequence);
        let fresh = || {
            let purpose = Purpose::MadeUpMissing;
            (
                sequence,
                self.seed.numbered_stream(purpose, sequence as u64),
            )
        };
        let current = match is_new {
            true => self.current.insert(fresh()),
            false => self.current.get_or_insert_with(fresh),
        };
        uniform(&mut current.1) >= self.missing_share
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
    fn the_share_of_missing_comes_back_and_each_sequence_has_its_own() {
        let spread = Spread {
            is_constant: false,
            missing_share: 0.2,
        };
        let cells = |sequences: std::ops::Range<usize>, column: usize| -> Vec<bool> {
            let mut presence = spread.presence(column, 7);
            let rows = sequences.flat_map(|sequence| [sequence; 10]);
            rows.map(|sequence| presence.next(sequence)).collect()
        };
        let presence = cells(0..1_000, 3);
        let missing = presence.iter().filter(|present| !**present).count();
        assert!((1800..2200).contains(&missing), "{missing}"); // 5 deviations of 40
        assert_eq!(cells(400..500, 3), presence[4_000..5_000]);
        assert_ne!(cells(400..500, 4), presence[4_000..5_000]);
        assert_ne!(presence[..10], presence[10..20]);
        let mut full = Spread::FULL.presence(3, 7);
        assert!((0..9).all(|sequence| full.next(sequence)));
    }
}
