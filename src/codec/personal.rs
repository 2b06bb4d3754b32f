//! Made-up values for personal columns.
//! In: the cells seen in training. Out: values of the column's kind, by number: the same for the same codec, seed and
//! number. As long as the kind has other values, none of training comes out; what is kept of those are keyed hashes.
//! Columns know nothing of each other, but for the locale, which all values of one number share.

mod locale;
mod numbers;
#[cfg(test)]
mod tests;
mod text;

use std::collections::HashSet;

use chrono::{Days, NaiveDate};
use rand::rngs::ChaCha12Rng;

use super::identifier::{IdentifierError, hash_text};
use crate::metadata::PersonalKind;
use crate::rng::{Purpose, Seed, below};
use crate::table::{Label, Storage};
pub(crate) use locale::Locale;

/// Draws until a value counts as having no alternative; after half of them any of the locales will do.
const DRAWS: usize = 256;
/// Draws that tell whether training holds all the values there are.
const PROBES: u64 = 2048;
/// Decimals of degrees that are held as text or floats, at most: about a metre.
const MOST_DECIMALS: u32 = 6;
/// Whole numbers that f64 and f32 hold exactly end here.
const EXACT_F64: u64 = 1 << 53;
const EXACT_F32: u64 = 1 << 24;

/// What was learned of a personal column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PersonalCodec {
    pub(crate) kind: PersonalKind,
    /// At least one.
    pub(crate) locales: Vec<Locale>,
    /// Keyed hashes of the training values, sorted: enough to avoid them, too little to read them.
    pub(crate) taken: Vec<u64>,
    pub(crate) hash_key: u64,
    /// Whether training holds every value there is, so that none can be avoided.
    pub(crate) is_exhausted: bool,
    /// Whether no value may come out twice, as in a primary key.
    pub(crate) is_unique: bool,
    /// Fewest and most digits of whole numbers.
    pub(crate) digits: (u32, u32),
    /// Decimals of degrees.
    pub(crate) decimals: u32,
}

impl PersonalCodec {
    /// Learns what must be avoided, and what whole numbers and degrees look like.
    pub(crate) fn fit(
        kind: PersonalKind,
        labels: &[Label],
        storage: &Storage,
        is_unique: bool,
        locales: &[Locale],
        hash_key: u64,
    ) -> PersonalCodec {
        let mut taken: Vec<u64> = labels.iter().map(|label| hash(label, hash_key)).collect();
        taken.sort_unstable();
        taken.dedup();
        let mut codec = PersonalCodec {
            kind,
            locales: locales.to_vec(),
            taken,
            hash_key,
            is_exhausted: false,
            is_unique,
            digits: digit_counts(labels),
            decimals: decimals(labels),
        };
        let mut generator = Seed::new(Some(hash_key)).stream(Purpose::PersonalValue);
        codec.is_exhausted = (0..PROBES).all(|_| {
            let locale = codec.locale(&mut generator);
            let label = codec.label(locale, storage, &mut generator);
            !codec.is_free(&label)
        });
        codec
    }

    /// The values of these numbers. A value of `besides`, which is sorted, does not come out if there are others. Where
    /// no value may come out twice, `seen` holds hashes of those before, and then of these too.
    ///
    /// # Errors
    /// [`IdentifierError::Capacity`] when there are too few values for all to differ.
    pub(crate) fn values(
        &self,
        numbers: &[u64],
        column: usize,
        seed: u64,
        storage: &Storage,
        besides: &[Label],
        seen: &mut HashSet<u64>,
    ) -> Result<Vec<Label>, IdentifierError> {
        let wanted = seen.len().saturating_add(numbers.len());
        let mut labels = Vec::with_capacity(numbers.len());
        for &number in numbers {
            let mut draws = self.draws(number, column, seed, storage);
            if !self.is_unique {
                labels.push(draws.next_besides(besides));
                continue;
            }
            let label = (0..DRAWS)
                .map(|_| draws.next_besides(besides))
                .find(|label| {
                    let hash = hash_text(&label.to_string(), self.hash_key);
                    besides.binary_search(label).is_err() && seen.insert(hash)
                })
                .ok_or_else(|| IdentifierError::Capacity {
                    origin: format!("sdtype {}", self.kind.name()),
                    available: seen.len() as u128,
                    wanted: wanted as u64,
                })?;
            labels.push(label);
        }
        Ok(labels)
    }

    /// The draws of one number.
    pub(crate) fn draws<'a>(
        &'a self,
        number: u64,
        column: usize,
        seed: u64,
        storage: &'a Storage,
    ) -> PersonalDraws<'a> {
        let locale = self
            .locale(&mut Seed::new(Some(seed)).numbered_stream(Purpose::PersonalLocale, number));
        // Each column has numbers of its own under one seed.
        let own = Seed::new(Some(seed.wrapping_add((column as u64 + 1) << 40)));
        PersonalDraws {
            codec: self,
            storage,
            locale,
            generator: own.numbered_stream(Purpose::PersonalValue, number),
        }
    }

    fn locale(&self, generator: &mut ChaCha12Rng) -> Locale {
        let place = below(generator, self.locales.len());
        self.locales.get(place).copied().unwrap_or(Locale::EnUs)
    }

    fn is_free(&self, label: &Label) -> bool {
        self.taken
            .binary_search(&hash(label, self.hash_key))
            .is_err()
    }

    fn label(&self, locale: Locale, storage: &Storage, generator: &mut ChaCha12Rng) -> Label {
        let kind = self.kind;
        match storage {
            Storage::Integer(integer) => {
                let (_, most) = integer.range();
                let most = u64::try_from(most).unwrap_or(u64::MAX);
                Label::Integer(match kind {
                    PersonalKind::Latitude | PersonalKind::Longitude => {
                        whole(text::degrees(kind, generator))
                    }
                    _ => self.whole(most, generator).into(),
                })
            }
            Storage::Float64 | Storage::Float32 => Label::Float(match kind {
                PersonalKind::Latitude | PersonalKind::Longitude => {
                    rounded(text::degrees(kind, generator), self.decimals)
                }
                _ => {
                    let is_single = *storage == Storage::Float32;
                    let most = if is_single { EXACT_F32 } else { EXACT_F64 };
                    self.whole(most, generator) as f64
                }
            }),
            Storage::Date
            | Storage::Datetime { .. }
            | Storage::TextDate { .. }
            | Storage::IntegerDate { .. } => {
                let days = day_of_birth(generator)
                    .signed_duration_since(NaiveDate::default())
                    .num_days();
                let unit = storage.unit_nanoseconds().unwrap_or(DAY_NANOSECONDS);
                Label::Integer(i128::from(days) * DAY_NANOSECONDS / unit)
            }
            Storage::Text
            | Storage::Categorical
            | Storage::Boolean
            | Storage::Enumeration(_)
            | Storage::Duration { .. }
            | Storage::Null => Label::Text(text::text(kind, locale, generator)),
        }
    }

    /// A whole number of as many digits as were seen, in a range of its kind where there is one.
    fn whole(&self, most: u64, generator: &mut ChaCha12Rng) -> u64 {
        let (fewest, longest) = self.digits;
        match self.kind {
            PersonalKind::Ssn if most > 999_999_999 => {
                let digits = numbers::ssn(generator).replace('-', "");
                digits.parse().unwrap_or(0)
            }
            PersonalKind::CreditCardNumber => {
                let start = numbers::digits(fewest - 1, longest - 1, most / 10 - 1, generator);
                numbers::with_luhn(&start.to_string())
                    .parse()
                    .unwrap_or(start)
            }
            _ => numbers::digits(fewest, longest, most, generator),
        }
    }
}

const DAY_NANOSECONDS: i128 = 86_400_000_000_000;

/// The draws of one number of one column.
#[derive(Debug)]
pub(crate) struct PersonalDraws<'a> {
    codec: &'a PersonalCodec,
    storage: &'a Storage,
    locale: Locale,
    generator: ChaCha12Rng,
}

impl PersonalDraws<'_> {
    /// The next value that training does not have, or any where there is none.
    pub(crate) fn next(&mut self) -> Label {
        self.next_besides(&[])
    }

    fn next_besides(&mut self, besides: &[Label]) -> Label {
        let draws = if self.codec.is_exhausted { 1 } else { DRAWS };
        let mut label = self.one();
        for draw in 1..draws {
            if self.codec.is_free(&label) && besides.binary_search(&label).is_err() {
                break;
            }
            if draw >= DRAWS / 2 {
                self.locale = self.codec.locale(&mut self.generator);
            }
            label = self.one();
        }
        label
    }

    /// Whether training has this value.
    pub(crate) fn is_of_training(&self, label: &Label) -> bool {
        !self.codec.is_free(label)
    }

    fn one(&mut self) -> Label {
        self.codec
            .label(self.locale, self.storage, &mut self.generator)
    }
}

/// A hash of a label in any capitals, under a key.
fn hash(label: &Label, key: u64) -> u64 {
    hash_text(&label.to_string().trim().to_lowercase(), key)
}

/// A day in the years 1930 to 2009, whatever the ages in the table: those are not to be told.
fn day_of_birth(generator: &mut ChaCha12Rng) -> NaiveDate {
    const DAYS: usize = 29_220;
    let first = NaiveDate::from_ymd_opt(1930, 1, 1).unwrap_or_default();
    let days = below(generator, DAYS) as u64;
    first.checked_add_days(Days::new(days)).unwrap_or(first)
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "degrees lie between -180 and 180"
)]
fn whole(degrees: f64) -> i128 {
    degrees.round() as i128
}

fn rounded(degrees: f64, decimals: u32) -> f64 {
    let scale = f64::from(10_u32.pow(decimals.min(MOST_DECIMALS)));
    (degrees * scale).round() / scale + 0.0 // no negative zero
}

/// Fewest and most digits of whole numbers; one digit where there are none.
fn digit_counts(labels: &[Label]) -> (u32, u32) {
    let count = |label: &Label| match label {
        Label::Integer(value) => Some(value.unsigned_abs()),
        Label::Float(value) => format!("{:.0}", value.abs()).parse().ok(),
        Label::Boolean(_) | Label::Text(_) => None,
    };
    let counts = || {
        labels
            .iter()
            .filter_map(count)
            .map(|value: u128| value.checked_ilog10().unwrap_or(0) + 1)
    };
    // Longer numbers than any dtype of 64 bits.
    let most = counts().max().unwrap_or(1).min(20);
    (counts().min().unwrap_or(1).min(most), most)
}

/// The most decimals of floats, as far as they matter.
fn decimals(labels: &[Label]) -> u32 {
    labels
        .iter()
        .filter_map(|label| match label {
            Label::Float(value) => {
                let text = value.to_string();
                let decimals = text.split_once('.').map_or(0, |(_, tail)| tail.len());
                u32::try_from(decimals).ok()
            }
            Label::Boolean(_) | Label::Integer(_) | Label::Text(_) => None,
        })
        .max()
        .unwrap_or(0)
        .min(MOST_DECIMALS)
}
