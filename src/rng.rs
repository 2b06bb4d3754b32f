//! The only maker of random generators: one seed, one named stream per purpose.
//! A draw added to one purpose leaves every other purpose unchanged.

use rand::rngs::{ChaCha12Rng, SysRng};
use rand::{Rng, SeedableRng, TryRng};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a stream of random numbers is used for; each has numbers of its own under one seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Initial weights of the context network.
    ContextWeights,
    /// Initial weights of the sequence network.
    SequenceWeights,
    /// Which sequences are held out for validation.
    ValidationSplit,
    /// Order, masks and dropout while the context network trains.
    ContextTraining,
    /// Order, masks and dropout while the sequence network trains.
    SequenceTraining,
    /// The draws of one sampled sequence.
    Sampling,
    /// The keyed hash that guards training identifiers.
    IdentifierHash,
    /// The draws of one given sequence's new rows.
    Continuation,
    /// Which sequences and rows an evaluation looks at where there are very many.
    EvaluationSubsample,
    /// How an evaluation halves the real table, to see what real sequences score.
    EvaluationHalves,
    /// How an evaluation splits sequences between what a classifier learns and what it is tested on.
    EvaluationFolds,
    /// The seeds with which refused sequences are drawn again.
    Rejection,
    /// Made-up values of a personal column.
    PersonalValue,
    /// The locale of made-up values.
    PersonalLocale,
    /// Which made-up cells are missing.
    MadeUpMissing,
    /// The missing cells of one given sequence.
    Imputation,
    /// The seed of one call of a series.
    SeedSeries,
    /// Which sequences make a subset, or are held out.
    Subset,
    /// Which rows of a sequence make a subset.
    SubsetRows,
}

/// A seed from which every stream is derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seed(u64);

impl Seed {
    /// The given seed, or fresh randomness from the operating system.
    pub(crate) fn new(seed: Option<u64>) -> Self {
        Seed(seed.unwrap_or_else(|| {
            SysRng
                .try_next_u64()
                // Without a system source (a stripped sandbox) the clock still differs from call to call.
                .unwrap_or_else(|_| {
                    std::time::SystemTime::now()
                        .duration_since(std::time::UNIX_EPOCH)
                        .map_or(0, |elapsed| {
                            elapsed.as_secs() ^ (u64::from(elapsed.subsec_nanos()) << 32)
                        })
                })
        }))
    }

    /// The seed itself.
    pub(crate) fn get(self) -> u64 {
        self.0
    }

    /// A key for hashes of identifiers.
    pub(crate) fn hash_key(self) -> u64 {
        self.stream(Purpose::IdentifierHash).next_u64()
    }

    /// The seed with which sequences that were refused so many times are drawn again.
    pub(crate) fn after_refusals(self, refusals: u64) -> u64 {
        self.numbered_stream(Purpose::Rejection, refusals)
            .next_u64()
    }

    /// The generator of one purpose.
    pub(crate) fn stream(self, purpose: Purpose) -> ChaCha12Rng {
        self.numbered_stream(purpose, 0)
    }

    /// The generator of one purpose and one item, such as the sequence number in sampling.
    pub(crate) fn numbered_stream(self, purpose: Purpose, number: u64) -> ChaCha12Rng {
        self.candidate_stream(purpose, number, 0)
    }

    /// The generator of one of the candidates for an item; that of the first is the item's own.
    pub(crate) fn candidate_stream(
        self,
        purpose: Purpose,
        number: u64,
        candidate: u32,
    ) -> ChaCha12Rng {
        let mut key = [0_u8; 32];
        key[..8].copy_from_slice(&self.0.to_le_bytes());
        key[8] = purpose as u8;
        key[9..13].copy_from_slice(&candidate.to_le_bytes());
        let mut generator = ChaCha12Rng::from_seed(key);
        generator.set_stream(number);
        generator
    }
}

/// Seeds for calls that bring none: each call gets one of its own, and the series can be started again.
#[derive(Debug)]
pub(crate) struct SeedSeries(Mutex<Series>);

#[derive(Debug)]
struct Series {
    seed: Seed,
    calls: u64,
}

impl SeedSeries {
    /// A series that no other repeats.
    pub(crate) fn fresh() -> SeedSeries {
        SeedSeries(Mutex::new(Series {
            seed: Seed::new(None),
            calls: 0,
        }))
    }

    /// Goes over to the series of a seed.
    pub(crate) fn start(&self, seed: u64) {
        *self.locked() = Series {
            seed: Seed(seed),
            calls: 0,
        };
    }

    /// Goes back to the first seed of the series.
    pub(crate) fn start_again(&self) {
        self.locked().calls = 0;
    }

    /// The next seed.
    pub(crate) fn next(&self) -> Seed {
        let mut series = self.locked();
        let number = series.calls;
        series.calls = number.wrapping_add(1);
        let mut stream = series.seed.numbered_stream(Purpose::SeedSeries, number);
        Seed(stream.next_u64())
    }

    fn locked(&self) -> MutexGuard<'_, Series> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A uniform draw in the open interval (0, 1), never 0 nor 1.
pub(crate) fn uniform(generator: &mut ChaCha12Rng) -> f64 {
    // 53 random bits, moved to the middle of their cell.
    ((generator.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// A draw from 0..n, uniform to within 2^-53.
pub(crate) fn below(generator: &mut ChaCha12Rng, n: usize) -> usize {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the product is below n, which is a usize"
    )]
    let drawn = (uniform(generator) * n as f64) as usize;
    drawn.min(n.saturating_sub(1))
}

/// Shuffles in place (Fisher and Yates 1938).
pub(crate) fn shuffle<T>(items: &mut [T], generator: &mut ChaCha12Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, below(generator, last + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_stream_and_purposes_differ() {
        let seed = Seed::new(Some(7));
        let draw = |purpose, number| seed.numbered_stream(purpose, number).next_u64();
        assert_eq!(draw(Purpose::Sampling, 3), draw(Purpose::Sampling, 3));
        assert_ne!(draw(Purpose::Sampling, 3), draw(Purpose::Sampling, 4));
        assert_ne!(
            draw(Purpose::Sampling, 0),
            draw(Purpose::ValidationSplit, 0)
        );
    }

    #[test]
    fn candidates_differ_and_the_first_is_the_item_itself() {
        let seed = Seed::new(Some(7));
        let draw = |candidate| {
            let mut stream = seed.candidate_stream(Purpose::Sampling, 3, candidate);
            stream.next_u64()
        };
        let own = seed.numbered_stream(Purpose::Sampling, 3).next_u64();
        assert_eq!(draw(0), own);
        assert_ne!(draw(1), own);
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn a_series_of_seeds_goes_on_until_it_is_started_again() {
        let series = SeedSeries::fresh();
        let fresh = [series.next(), series.next()];
        assert_ne!(fresh[0], fresh[1]);
        series.start_again();
        assert_eq!([series.next(), series.next()], fresh);
        series.start(7);
        let seeded = [series.next(), series.next()];
        assert_ne!(seeded, fresh);
        series.start(7);
        assert_eq!([series.next(), series.next()], seeded);
        assert_ne!(SeedSeries::fresh().next(), SeedSeries::fresh().next());
    }

    #[test]
    fn no_seed_is_fresh_each_time() {
        assert_ne!(Seed::new(None).get(), Seed::new(None).get());
    }

    #[test]
    fn shuffle_keeps_every_item() {
        let mut items: Vec<usize> = (0..100).collect();
        shuffle(
            &mut items,
            &mut Seed::new(Some(1)).stream(Purpose::ValidationSplit),
        );
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
