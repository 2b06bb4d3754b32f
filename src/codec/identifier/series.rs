//! New ids of one column, by number.
//! In: ranges of numbers, best in rising order. Out: their ids, different from each other and from every training
//! value, and the same for the same codec, seed and number, whichever ranges they are asked for in.
//! What it remembers is a few numbers; of a pattern that has texts in several places, a hash of each id made.

use std::collections::HashSet;
use std::ops::Range;

use super::shuffle::{Shuffle, hash_text, mix};
use super::{IdentifierCodec, IdentifierError, counted, no_room, pattern_label};
use crate::metadata::{Pattern, UNCOUNTED};
use crate::table::{Label, Storage};

/// Patterns of more texts than this give each number its own places to try; smaller ones are walked through
/// from the start, which uses their last text too.
const WALKED: u128 = 1 << 20;
/// Places each number has to itself in a large pattern.
const PLACES: u128 = 8;
/// Tries of a pattern too large to number, where even one repeat is out of reach.
const DRAWS: u64 = 64;
/// Places in a row without a new text after which a pattern counts as used up: sixty times `a?` has few texts at
/// very many places.
const MOST_MISSES: u32 = 1 << 20;

/// The new ids of one column under one seed.
#[derive(Debug)]
pub(crate) struct IdentifierSeries<'a> {
    seed: u64,
    storage: &'a Storage,
    source: Source<'a>,
}

#[derive(Debug)]
enum Source<'a> {
    Counter {
        prefix: &'a str,
        digits: usize,
        /// The first number upwards, and the one below which it goes on downwards.
        ends: (u128, i128),
        suffix: &'a str,
    },
    /// The regular expression no longer compiles.
    Nothing(&'a str),
    Pattern(Texts<'a>),
}

/// The texts of a pattern that training did not have.
#[derive(Debug)]
struct Texts<'a> {
    regex: &'a str,
    taken: &'a [u64],
    hash_key: u64,
    pattern: Pattern,
    way: Way,
}

/// How numbers come to texts.
#[derive(Debug)]
enum Way {
    /// Each draws its own, of more texts than can be numbered.
    Drawn,
    /// Each has places of its own among all texts, of which so many numbers have some.
    OwnPlaces { shuffle: Shuffle, numbers: u128 },
    /// One after the other, in shuffled order.
    Walked { shuffle: Shuffle, walk: Walk },
}

/// How far a walk through all texts has come.
#[derive(Debug, Default)]
struct Walk {
    place: u128,
    /// Texts found so far.
    found: u64,
    /// Places since the last.
    misses: u32,
    /// Hashes of the texts found, of a pattern that has a text at several places.
    seen: HashSet<u64>,
}

impl<'a> IdentifierSeries<'a> {
    pub(super) fn new(codec: &'a IdentifierCodec, seed: u64, storage: &'a Storage) -> Self {
        let source = match codec {
            IdentifierCodec::Counter {
                prefix,
                digits,
                next,
                smallest,
                suffix,
            } => Source::Counter {
                prefix,
                digits: *digits,
                ends: (*next, *smallest),
                suffix,
            },
            IdentifierCodec::Pattern {
                regex,
                taken,
                hash_key,
            } => match Pattern::compile(regex) {
                Ok(pattern) => Source::Pattern(Texts {
                    way: Way::of(&pattern, taken.len(), seed),
                    regex,
                    taken,
                    hash_key: *hash_key,
                    pattern,
                }),
                Err(_) => Source::Nothing(regex),
            },
        };
        IdentifierSeries {
            seed,
            storage,
            source,
        }
    }

    /// The ids of these numbers. Small patterns are walked from the first number on, again where a range begins before
    /// the end of the last.
    ///
    /// # Errors
    /// [`IdentifierError::Capacity`] when the pattern or dtype has no room for the last of the numbers;
    /// [`IdentifierError::PatternDoesNotFit`] when a number column cannot hold a text of the pattern.
    pub(crate) fn take(&mut self, numbers: Range<u64>) -> Result<Vec<Label>, IdentifierError> {
        match &mut self.source {
            Source::Counter {
                prefix,
                digits,
                ends,
                suffix,
            } => counted(prefix, *digits, *ends, suffix, numbers, self.storage),
            Source::Nothing(regex) => {
                Err(no_room(format!("regex_format `{regex}`"), 0, numbers.end))
            }
            Source::Pattern(texts) => {
                let regex = texts.regex;
                texts
                    .take(numbers, self.seed)?
                    .into_iter()
                    .map(|text| pattern_label(text, regex, self.storage))
                    .collect()
            }
        }
    }

    /// Refuses more ids than there is room for, as far as that can be told quickly.
    ///
    /// # Errors
    /// As [`take`](Self::take) of all of them.
    pub(crate) fn check_room(&mut self, wanted: u64) -> Result<(), IdentifierError> {
        let wanted_places = u128::from(wanted);
        let takes_long = match &self.source {
            Source::Pattern(texts) => {
                let is_walked = matches!(texts.way, Way::Walked { .. });
                is_walked && (WALKED..=texts.pattern.capacity()).contains(&wanted_places)
            }
            Source::Counter { .. } | Source::Nothing(_) => false,
        };
        match takes_long || wanted == 0 {
            true => Ok(()),
            false => self.take(wanted - 1..wanted).map(|_| ()),
        }
    }
}

impl Way {
    fn of(pattern: &Pattern, taken: usize, seed: u64) -> Way {
        let capacity = pattern.capacity();
        if capacity >= UNCOUNTED {
            return Way::Drawn;
        }
        let shuffle = Shuffle::new(capacity, seed);
        let crowded = u128::try_from(taken).unwrap_or(u128::MAX) > capacity / 64;
        match capacity > WALKED && !crowded && pattern.unambiguous() {
            true => Way::OwnPlaces {
                shuffle,
                numbers: capacity / PLACES,
            },
            false => Way::Walked {
                shuffle,
                walk: Walk::default(),
            },
        }
    }
}

impl Texts<'_> {
    fn take(&mut self, numbers: Range<u64>, seed: u64) -> Result<Vec<String>, IdentifierError> {
        let (regex, pattern) = (self.regex, &self.pattern);
        let full =
            |available: u128| no_room(format!("regex_format `{regex}`"), available, numbers.end);
        let (taken, hash_key) = (self.taken, self.hash_key);
        let is_free = |text: &str| taken.binary_search(&hash_text(text, hash_key)).is_err();
        match &mut self.way {
            Way::Drawn => {
                let one = |number: u64| {
                    let mut state = mix(seed) ^ mix(number.wrapping_add(1));
                    let mut random = move || {
                        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                        mix(state)
                    };
                    (0..DRAWS)
                        .map(|_| pattern.draw(&mut random))
                        .find(|text| is_free(text))
                };
                let all: Option<Vec<String>> = numbers.clone().map(one).collect();
                all.ok_or_else(|| full(0))
            }
            Way::OwnPlaces { numbers: own, .. } if u128::from(numbers.end) > *own => {
                Err(full(*own))
            }
            Way::OwnPlaces {
                shuffle,
                numbers: own,
            } => {
                let one = |number: u128| {
                    (0..PLACES)
                        .map(|attempt| pattern.text(shuffle.place(number + attempt * *own)))
                        .find(|text| is_free(text))
                        .ok_or_else(|| full(number))
                };
                numbers.clone().map(u128::from).map(one).collect()
            }
            Way::Walked { shuffle, walk } => {
                let text_at = |place: u128| pattern.text(shuffle.place(place));
                walk.take(&numbers, pattern, text_at, is_free).map_err(full)
            }
        }
    }
}

impl Walk {
    /// Texts in their shuffled order without the taken ones; the error is how many there were.
    fn take(
        &mut self,
        numbers: &Range<u64>,
        pattern: &Pattern,
        text_at: impl Fn(u128) -> String,
        is_free: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>, u128> {
        if numbers.start < self.found {
            *self = Walk::default();
        }
        let (capacity, unambiguous) = (pattern.capacity(), pattern.unambiguous());
        let mut texts = Vec::new();
        while self.found < numbers.end {
            if self.place == capacity || self.misses == MOST_MISSES {
                return Err(self.found.into());
            }
            let text = text_at(self.place);
            self.place += 1;
            if !is_free(&text) || (!unambiguous && !self.seen.insert(hash_text(&text, 0))) {
                self.misses += 1;
                continue;
            }
            self.misses = 0;
            if self.found >= numbers.start {
                texts.push(text);
            }
            self.found += 1;
        }
        Ok(texts)
    }
}
