//! Made-up values for the key and other id columns.
//! In: the labels seen in training. Out: as many new labels as are asked for, by number.
//! A training value never comes out, no two numbers give the same id, and whoever holds a codec cannot read
//! the training ids from it: it keeps a bound or keyed hashes, not the values.

mod series;
mod shuffle;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::metadata::Pattern;
use crate::table::{Label, Storage};
pub(crate) use series::IdentifierSeries;
pub(crate) use shuffle::hash_text;

/// Whole numbers above this have gaps in f64, and the next in f32.
const EXACT_F64: i128 = 1 << 53;
const EXACT_F32: i128 = 1 << 24;

/// Why ids could not be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IdentifierError {
    /// There are fewer new values than were asked for.
    #[error("{origin} has room for {available} new ids; {wanted} are wanted")]
    Capacity {
        /// The pattern or dtype the ids come from.
        origin: String,
        /// How many new ids there are.
        available: u128,
        /// How many were asked for, all calls together.
        wanted: u64,
    },
    /// A text of the pattern cannot be held by the column's dtype.
    #[error("regex_format `{regex}` gives ids that dtype {dtype} cannot hold")]
    PatternDoesNotFit {
        /// The pattern.
        regex: String,
        /// The dtype.
        dtype: String,
    },
}

/// What was learned of an id column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum IdentifierCodec {
    /// A prefix, a number past every training number, a suffix.
    Counter {
        prefix: String,
        /// Zero-padded width, 0 for none.
        digits: usize,
        next: u128,
        /// Numbers past the dtype's largest go on downwards from below this one.
        smallest: i128,
        suffix: String,
    },
    /// Texts of a regular expression.
    Pattern {
        regex: String,
        /// Keyed hashes of the training values, sorted: enough to avoid them, too little to read them.
        taken: Vec<u64>,
        hash_key: u64,
    },
}

impl IdentifierCodec {
    /// Learns what new ids must look like and what they must avoid.
    pub(crate) fn fit(
        labels: &[Label],
        regex_format: Option<&str>,
        hash_key: u64,
    ) -> IdentifierCodec {
        if let Some(regex) = regex_format
            && Pattern::compile(regex).is_ok()
        {
            let mut taken: Vec<u64> = labels
                .iter()
                .map(|label| hash_text(&plain_text(label), hash_key))
                .collect();
            taken.sort_unstable();
            taken.dedup();
            return IdentifierCodec::Pattern {
                regex: regex.to_owned(),
                taken,
                hash_key,
            };
        }
        let texts: Option<Vec<&str>> = labels
            .iter()
            .map(|label| match label {
                Label::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        match texts {
            Some(texts) if !texts.is_empty() => {
                numbered_texts(&texts).unwrap_or_else(|| unlike(&texts))
            }
            _ => numbers(labels),
        }
    }

    /// New ids, by number.
    pub(crate) fn series<'a>(&'a self, seed: u64, storage: &'a Storage) -> IdentifierSeries<'a> {
        IdentifierSeries::new(self, seed, storage)
    }

    /// The ids of these numbers, where no others are wanted before or after.
    #[cfg(test)]
    fn generate(
        &self,
        numbers: Range<u64>,
        seed: u64,
        storage: &Storage,
    ) -> Result<Vec<Label>, IdentifierError> {
        self.series(seed, storage).take(numbers)
    }
}

/// The ids of a counter, from a number past every training number on.
fn counted(
    prefix: &str,
    digits: usize,
    (next, smallest): (u128, i128),
    suffix: &str,
    numbers: Range<u64>,
    storage: &Storage,
) -> Result<Vec<Label>, IdentifierError> {
    let ends = (next, smallest);
    match storage {
        Storage::Integer(integer) => count(numbers, ends, integer.range(), storage, Label::Integer),
        Storage::Float64 => count(numbers, ends, (-EXACT_F64, EXACT_F64), storage, |whole| {
            Label::Float(whole as f64)
        }),
        Storage::Float32 => count(numbers, ends, (-EXACT_F32, EXACT_F32), storage, |whole| {
            Label::Float(whole as f64)
        }),
        Storage::Text | Storage::Categorical | Storage::TextDate { .. } | Storage::Null => numbers
            .map(|number| match next.checked_add(number.into()) {
                Some(id) => Ok(Label::Text(format!("{prefix}{id:0digits$}{suffix}"))),
                None => Err(no_room(storage.name(), u128::MAX - next, number)),
            })
            .collect(),
        Storage::Boolean
        | Storage::Enumeration(_)
        | Storage::Date
        | Storage::Datetime { .. }
        | Storage::Duration { .. }
        | Storage::IntegerDate { .. } => Err(no_room(storage.name(), 0, numbers.end)),
    }
}

/// A label the way a pattern would give it: 50.0 in a float column is the text 50.
fn plain_text(label: &Label) -> String {
    match label {
        Label::Float(value) => format!("{value}"),
        Label::Boolean(_) | Label::Integer(_) | Label::Text(_) => label.to_string(),
    }
}

fn no_room(origin: String, available: u128, wanted: u64) -> IdentifierError {
    IdentifierError::Capacity {
        origin,
        available,
        wanted,
    }
}

/// Whole numbers upwards from `next`, then downwards from below `smallest`.
fn count(
    numbers: Range<u64>,
    (next, smallest): (u128, i128),
    (low, high): (i128, i128),
    storage: &Storage,
    label: impl Fn(i128) -> Label,
) -> Result<Vec<Label>, IdentifierError> {
    let next = i128::try_from(next).unwrap_or(i128::MAX);
    let above = high.saturating_sub(next).saturating_add(1).max(0);
    let below = smallest.saturating_sub(low).max(0);
    if i128::from(numbers.end) > above.saturating_add(below) {
        let available = above.saturating_add(below).unsigned_abs();
        return Err(no_room(
            format!("dtype {}", storage.name()),
            available,
            numbers.end,
        ));
    }
    Ok(numbers
        .map(i128::from)
        .map(|number| {
            if number < above {
                next + number
            } else {
                smallest - 1 - (number - above)
            }
        })
        .map(label)
        .collect())
}

/// Number columns: past the largest whole number seen.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a float beyond i128 stops at its end, past every id we make"
)]
fn numbers(labels: &[Label]) -> IdentifierCodec {
    let bound = |round: fn(f64) -> f64| {
        move |label: &Label| match label {
            Label::Integer(value) => Some(*value),
            Label::Float(value) => Some(round(*value) as i128),
            Label::Boolean(_) | Label::Text(_) => None,
        }
    };
    let largest = labels.iter().filter_map(bound(f64::ceil)).max();
    let smallest = labels.iter().filter_map(bound(f64::floor)).min();
    let next = largest
        .map_or(0, |largest| largest.saturating_add(1))
        .max(0);
    IdentifierCodec::Counter {
        prefix: String::new(),
        digits: 0,
        next: next.unsigned_abs(),
        smallest: smallest.unwrap_or(0),
        suffix: String::new(),
    }
}

/// A longer run of digits is a name, and wider than a text can be padded.
const MOST_DIGITS: usize = 255;

/// Texts that are one prefix, a number, one suffix; `None` when they are not.
fn numbered_texts(texts: &[&str]) -> Option<IdentifierCodec> {
    let first = texts.first()?;
    let is_digit = |character: char| character.is_ascii_digit();
    let shared = |left: &str, right: &str| -> usize {
        left.chars()
            .zip(right.chars())
            .take_while(|(a, b)| a == b)
            .map(|(a, _)| a.len_utf8())
            .sum()
    };
    let shortest = texts.iter().map(|text| shared(first, text)).min()?;
    // Digits that all share may belong to the number: leave them to it.
    let prefix = first[..shortest].trim_end_matches(is_digit);
    let rests: Vec<&str> = texts.iter().map(|text| &text[prefix.len()..]).collect();
    let suffix = rests.first()?.trim_start_matches(is_digit);
    let mut width = None;
    let mut same_width = true;
    let mut largest = 0_u128;
    for rest in rests {
        let number = rest.strip_suffix(suffix)?;
        if number.is_empty() || number.len() > MOST_DIGITS || !number.chars().all(is_digit) {
            return None;
        }
        same_width &= *width.get_or_insert(number.len()) == number.len();
        largest = largest.max(number.parse().ok()?);
    }
    Some(IdentifierCodec::Counter {
        prefix: prefix.to_owned(),
        // Numbers of unequal width are padded only by chance, those of one width on purpose.
        digits: if same_width { width.unwrap_or(0) } else { 0 },
        next: largest.checked_add(1)?,
        smallest: 0,
        suffix: suffix.to_owned(),
    })
}

/// A prefix that starts no training value, so that none can come out.
fn unlike(texts: &[&str]) -> IdentifierCodec {
    let is_free = |prefix: &str| !texts.iter().any(|text| text.starts_with(prefix));
    let mut prefix = "sequence-".to_owned();
    while !is_free(&prefix) {
        // Each round leaves fewer training values that could start with it, down to none.
        prefix.insert(0, 's');
    }
    IdentifierCodec::Counter {
        prefix,
        digits: 0,
        next: 1,
        smallest: 0,
        suffix: String::new(),
    }
}

fn pattern_label(text: String, regex: &str, storage: &Storage) -> Result<Label, IdentifierError> {
    let misfit = || IdentifierError::PatternDoesNotFit {
        regex: regex.to_owned(),
        dtype: storage.name(),
    };
    let whole = |(low, high): (i128, i128)| {
        // Another spelling of the same number would not be another id.
        let value = text
            .parse::<i128>()
            .ok()
            .filter(|value| value.to_string() == text);
        value
            .filter(|value| (low..=high).contains(value))
            .ok_or_else(misfit)
    };
    match storage {
        Storage::Integer(integer) => whole(integer.range()).map(Label::Integer),
        Storage::Float64 => whole((-EXACT_F64, EXACT_F64)).map(|value| Label::Float(value as f64)),
        Storage::Float32 => whole((-EXACT_F32, EXACT_F32)).map(|value| Label::Float(value as f64)),
        Storage::Text | Storage::Categorical | Storage::TextDate { .. } | Storage::Null => {
            Ok(Label::Text(text))
        }
        Storage::Boolean
        | Storage::Enumeration(_)
        | Storage::Date
        | Storage::Datetime { .. }
        | Storage::Duration { .. }
        | Storage::IntegerDate { .. } => Err(misfit()),
    }
}
