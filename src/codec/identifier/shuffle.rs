//! Keyed hashes and a keyed shuffle of numbers, both by mixing alone: no state, no list.

/// The finalizer of SplitMix64 (Steele, Lea and Flood 2014): every input bit reaches every output bit.
pub(super) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// A hash of a text under a key; the same on every machine, since it is saved.
pub(crate) fn hash_text(text: &str, key: u64) -> u64 {
    let start = mix(key ^ mix(text.len() as u64));
    text.as_bytes().chunks(8).fold(start, |state, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mix(state.rotate_left(5) ^ u64::from_le_bytes(word).wrapping_add(0x9e37_79b9_7f4a_7c15))
    })
}

/// A one-to-one map of the numbers below `size` onto themselves.
/// A Feistel network over the next even power of two; a number that lands outside is sent through again
/// until it lands inside (cycle walking, Black and Rogaway 2002), at most four times on average.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shuffle {
    size: u128,
    half_bits: u32,
    seed: u64,
}

impl Shuffle {
    /// `size` is at least 1 and at most 2^100.
    pub(super) fn new(size: u128, seed: u64) -> Shuffle {
        let bits = 128 - size.saturating_sub(1).leading_zeros();
        Shuffle {
            size,
            half_bits: bits.div_ceil(2).max(1),
            seed,
        }
    }

    pub(super) fn place(&self, number: u128) -> u128 {
        let mut place = self.rounds(number);
        while place >= self.size {
            place = self.rounds(place);
        }
        place
    }

    fn rounds(&self, number: u128) -> u128 {
        let mask = (1_u128 << self.half_bits) - 1;
        let mut left = number >> self.half_bits;
        let mut right = number & mask;
        for round in 0..6_u64 {
            // A half has at most 50 bits, so it fits the mixer's word.
            let word = u64::try_from(right).unwrap_or(u64::MAX);
            let mixed = mix(word
                ^ mix(self
                    .seed
                    .wrapping_add(round.wrapping_mul(0x9e37_79b9_7f4a_7c15))));
            (left, right) = (right, left ^ (u128::from(mixed) & mask));
        }
        (left << self.half_bits) | right
    }
}
