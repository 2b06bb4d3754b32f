//! strftime formats as SDV writes them (Python's), read and written by chrono.
//! A format is compiled once; reading gives a date-time, missing parts take Python's defaults.

use std::fmt::Write as _;

use chrono::format::{Item, Parsed, StrftimeItems, parse};
use chrono::{DateTime, NaiveDate, NaiveDateTime};

/// A checked format: what it writes it can read.
#[derive(Debug, Clone)]
pub(crate) struct DateFormat {
    items: Vec<Item<'static>>,
    /// Whether all is written in capitals (`%^b`, a flag of the C library).
    capital: bool,
}

impl DateFormat {
    /// Compiles a format; the error says in a few words what is wrong with it.
    pub(crate) fn new(text: &str) -> Result<DateFormat, String> {
        let chrono_text = to_chrono(text);
        let items = StrftimeItems::new(&chrono_text)
            .parse_to_owned()
            .map_err(|_| "it has an unknown directive".to_owned())?;
        let literal = |item: &Item| {
            matches!(
                item,
                Item::Literal(_) | Item::OwnedLiteral(_) | Item::Space(_) | Item::OwnedSpace(_)
            )
        };
        if items.iter().all(literal) {
            return Err("it has no directive such as %Y".to_owned());
        }
        let format = DateFormat {
            capital: text.contains("%^"),
            items,
        };
        let readable = sample()
            .and_then(|sample| format.format_with_offset(sample))
            .is_some_and(|text| format.parse(&text).is_some());
        if readable {
            Ok(format)
        } else {
            Err("dates written in it cannot be read back".to_owned())
        }
    }

    /// Length of what it writes, in a month and day of two digits.
    pub(crate) fn width(&self) -> usize {
        sample()
            .and_then(|sample| self.format_with_offset(sample))
            .map_or(0, |text| text.len())
    }

    /// Reads a value; `None` when it does not fit the format. An offset in the text is left out of the
    /// result: local time is what the column shows.
    pub(crate) fn parse(&self, value: &str) -> Option<NaiveDateTime> {
        let mut parsed = Parsed::new();
        parse(&mut parsed, value, self.items.iter()).ok()?;
        complete(&mut parsed)
    }

    /// Writes a value; `None` when the format needs what a plain date-time has not (an offset).
    pub(crate) fn format(&self, value: NaiveDateTime) -> Option<String> {
        let mut text = String::new();
        write!(text, "{}", value.format_with_items(self.items.iter())).ok()?;
        Some(if self.capital {
            text.to_uppercase()
        } else {
            text
        })
    }

    fn format_with_offset(&self, value: NaiveDateTime) -> Option<String> {
        let mut text = String::new();
        write!(
            text,
            "{}",
            value.and_utc().format_with_items(self.items.iter())
        )
        .ok()?;
        Some(text)
    }
}

fn sample() -> Option<NaiveDateTime> {
    NaiveDate::from_ymd_opt(2021, 11, 24)?.and_hms_opt(13, 14, 15)
}

/// Fills in the parts a format leaves out, as Python's strptime does: 1900-01-01, midnight.
fn complete(parsed: &mut Parsed) -> Option<NaiveDateTime> {
    if let Some(seconds) = parsed.timestamp() {
        let nanoseconds = parsed.nanosecond().unwrap_or(0);
        return DateTime::from_timestamp(seconds, nanoseconds).map(|instant| instant.naive_utc());
    }
    let has_year =
        parsed.year().is_some() || parsed.year_mod_100().is_some() || parsed.isoyear().is_some();
    if !has_year {
        parsed.set_year(1900).ok()?;
    }
    if parsed.to_naive_date().is_err() {
        // A quarter or week without a day stays unreadable: guessing its day would not round-trip.
        if parsed.month().is_none() {
            parsed.set_month(1).ok()?;
        }
        if parsed.day().is_none() {
            parsed.set_day(1).ok()?;
        }
    }
    if parsed.hour_div_12().is_none() {
        parsed.set_ampm(false).ok()?;
    }
    if parsed.hour_mod_12().is_none() {
        parsed.set_hour12(12).ok()?;
    }
    if parsed.minute().is_none() {
        parsed.set_minute(0).ok()?;
    }
    if parsed.nanosecond().is_some() && parsed.second().is_none() {
        parsed.set_second(0).ok()?;
    }
    Some(
        parsed
            .to_naive_date()
            .ok()?
            .and_time(parsed.to_naive_time().ok()?),
    )
}

/// Python's directives in chrono's spelling: `%f` is six digits, and `%#d` is Windows for `%-d`.
fn to_chrono(format: &str) -> String {
    let mut result = String::with_capacity(format.len());
    let mut characters = format.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '%' {
            result.push(character);
            continue;
        }
        match characters.next() {
            Some('f') if result.ends_with('.') => {
                result.pop();
                result.push_str("%.6f");
            }
            Some('f') => result.push_str("%6f"),
            Some('#') if characters.peek() != Some(&'z') => result.push_str("%-"),
            Some('^') => result.push('%'),
            Some(other) => {
                result.push('%');
                result.push(other);
            }
            None => result.push('%'),
        }
    }
    result
}
