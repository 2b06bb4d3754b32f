//! Dates held as text or digits: the format that gives every value back byte for byte.
//! SDV's formats say how to read; how a value is padded or how many digits its fraction has, they do not
//! say. So the spelling is learned from the values, and a format that would write them differently refused.

use std::collections::HashSet;

use chrono::{DateTime, NaiveDate, NaiveDateTime};

use super::TimeUnitName;
use super::cells::MISSING_WHOLE;
use crate::metadata::DateFormat;

/// Tried in this order where the metadata names no format.
pub(super) const DEFAULTS: [&str; 8] = [
    "%Y-%m-%d",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M:%S.%f",
    "%Y-%m-%dT%H:%M:%S.%f",
    "%Y-%m-%d %H:%M:%S.%f%z",
    "%Y-%m-%dT%H:%M:%S.%f%z",
    "%Y-%m-%dT%H:%M:%S%z",
];
/// Directives that write a number with leading zeros.
const PADDED: [char; 8] = ['d', 'm', 'H', 'M', 'S', 'I', 'j', 'y'];
const OFFSETS: [&str; 5] = ["%::z", "%:z", "%#z", "%z", "%Z"];

/// The first value that no format suits.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Misfit {
    pub(super) row: usize,
    /// The formats tried.
    pub(super) formats: String,
    /// The value can be read, but it would be written differently.
    pub(super) round_trip: bool,
}

/// How a format does on a column; ordered from bad to good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Misfit(usize),
    Rewrites(usize),
    /// All is read; padding alone differs when it is written.
    Padding,
    Exact,
}

/// Finds the spelling of the declared format (or of the defaults) that suits all values.
pub(super) fn learn(cells: &[Option<&str>], declared: Option<&str>) -> Result<String, Misfit> {
    match declared {
        Some(format) => learn_from(cells, &[format]),
        None => learn_from(cells, &DEFAULTS),
    }
}

/// Finds the spelling of dates of birth, for which no format can be declared. Where day and month cannot be told
/// apart, either will do: the dates are made up.
pub(super) fn learn_births(cells: &[Option<&str>]) -> Result<String, Misfit> {
    const FORMS: [&str; 8] = [
        "%Y/%m/%d",
        "%Y%m%d",
        "%d.%m.%Y",
        "%d/%m/%Y",
        "%m/%d/%Y",
        "%d-%m-%Y",
        "%d %b %Y",
        "%b %d, %Y",
    ];
    learn_from(cells, &[&DEFAULTS[..], &FORMS[..]].concat())
}

fn learn_from(cells: &[Option<&str>], bases: &[&str]) -> Result<String, Misfit> {
    let values = first_uses(cells);
    let mut best = (Fit::Misfit(0), String::new());
    for base in bases {
        for spelling in offset_spellings(base, &values)
            .iter()
            .flat_map(|base| fractions(base))
        {
            let mut fit = try_format(&values, &spelling);
            if fit == Fit::Exact {
                return Ok(spelling);
            }
            if fit >= Fit::Rewrites(0) {
                for variant in paddings(&spelling) {
                    let variant_fit = try_format(&values, &variant);
                    if variant_fit == Fit::Exact {
                        return Ok(variant);
                    }
                    fit = fit.max(variant_fit);
                }
            }
            if best.1.is_empty() || fit > best.0 {
                best = (fit, spelling);
            }
        }
    }
    let misfit = |row, round_trip| Misfit {
        row,
        formats: bases.join(", "),
        round_trip,
    };
    match best.0 {
        Fit::Exact | Fit::Padding => Ok(best.1),
        Fit::Rewrites(row) => Err(misfit(row, true)),
        Fit::Misfit(row) => Err(misfit(row, false)),
    }
}

/// How many cells the best spelling of a format cannot read, or would write differently, padding aside.
pub(super) fn misfits(cells: &[Option<&str>], declared: Option<&str>, round_trip: bool) -> usize {
    let values = first_uses(cells);
    let bases = declared.map_or_else(|| DEFAULTS.to_vec(), |format| vec![format]);
    let spellings = bases
        .iter()
        .flat_map(|base| offset_spellings(base, &values))
        .flat_map(|base| fractions(&base));
    let count = |spelling: String| {
        let compiled = DateFormat::new(&spelling).ok()?;
        let unit = format_unit(&spelling).nanoseconds();
        let is_fit = |cell: &&str| match parse_one(cell, &compiled, unit) {
            None => false,
            Some(_) if !round_trip => true,
            Some(raw) => {
                write_one(raw, &compiled, unit).is_some_and(|text| bare(&text) == bare(cell))
            }
        };
        Some(cells.iter().flatten().filter(|cell| !is_fit(cell)).count())
    };
    spellings.filter_map(count).min().unwrap_or(cells.len())
}

/// Each distinct value with the row it is first met on, in that order.
fn first_uses<'a>(cells: &[Option<&'a str>]) -> Vec<(usize, &'a str)> {
    let mut seen = HashSet::new();
    cells
        .iter()
        .enumerate()
        .filter_map(|(row, cell)| {
            cell.filter(|cell| seen.insert(*cell))
                .map(|cell| (row, cell))
        })
        .collect()
}

fn try_format(values: &[(usize, &str)], format: &str) -> Fit {
    let Ok(compiled) = DateFormat::new(format) else {
        return Fit::Misfit(0);
    };
    let unit = format_unit(format).nanoseconds();
    let mut fit = Fit::Exact;
    for &(row, value) in values {
        let Some(raw) = parse_one(value, &compiled, unit) else {
            return Fit::Misfit(row);
        };
        let written = write_one(raw, &compiled, unit).unwrap_or_default();
        if written == value {
            continue;
        }
        let only_padding = bare(&written) == bare(value);
        fit = fit.min(if only_padding {
            Fit::Padding
        } else {
            Fit::Rewrites(row)
        });
        if !only_padding {
            // Read on: a later value that does not fit at all weighs more.
            if let Some(&(row, _)) = values
                .iter()
                .find(|(later, value)| *later > row && parse_one(value, &compiled, unit).is_none())
            {
                return Fit::Misfit(row);
            }
            return fit;
        }
    }
    fit
}

/// Text without what padding changes: blanks, zeros in front of a number, zeros at a fraction's end.
fn bare(text: &str) -> String {
    let mut result = String::new();
    for part in text.split_whitespace() {
        let mut rest = part;
        while !rest.is_empty() {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            if digits == 0 {
                let length = rest.chars().next().map_or(rest.len(), char::len_utf8);
                result.push_str(&rest[..length]);
                rest = &rest[length..];
                continue;
            }
            let number = &rest[..digits];
            result.push_str(if result.ends_with('.') {
                number.trim_end_matches('0')
            } else {
                number.trim_start_matches('0')
            });
            rest = &rest[digits..];
        }
    }
    result
}

/// Spellings of Python's `%f`: six digits, or three, nine, or as many as needed.
pub(super) fn fractions(format: &str) -> Vec<String> {
    if format.contains(".%f") {
        ["%.6f", "%.3f", "%.9f", "%.f"]
            .map(|part| format.replace(".%f", part))
            .to_vec()
    } else if format.contains("%f") {
        ["%6f", "%3f", "%9f"]
            .map(|part| format.replace("%f", part))
            .to_vec()
    } else {
        vec![format.to_owned()]
    }
}

/// A zone or offset that all values share becomes plain text, which alone can be written back.
fn offset_spellings(format: &str, values: &[(usize, &str)]) -> Vec<String> {
    let Some(directive) = OFFSETS
        .into_iter()
        .find(|directive| format.contains(directive))
    else {
        return vec![format.to_owned()];
    };
    let first = values.first().map_or("", |(_, value)| value);
    let name = &first[first
        .trim_end_matches(|c: char| c.is_ascii_alphabetic())
        .len()..];
    let body = first.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':');
    let sign = body.len() - usize::from(body.ends_with(['+', '-']));
    let mut spellings: Vec<String> = [name, &first[sign..], "+0000", "+00:00", "Z", "UTC"]
        .into_iter()
        .filter(|literal| !literal.is_empty())
        .map(|literal| format.replacen(directive, literal, 1))
        .collect();
    spellings.push(format.to_owned());
    spellings
}

/// Spellings without leading zeros, with blanks for them, or with capital names; most changes first, so
/// that a style is taken to hold for the parts the values cannot tell about.
fn paddings(format: &str) -> Vec<String> {
    let characters: Vec<char> = format.chars().collect();
    let places = |wanted: &[char]| -> Vec<usize> {
        (1..characters.len())
            .filter(|&at| characters[at - 1] == '%' && wanted.contains(&characters[at]))
            .take(6) // 64 spellings each way; dates have no more parts
            .collect()
    };
    let mark = |places: &[usize], chosen: usize, mark: char| -> String {
        let mut result = String::new();
        for (at, character) in characters.iter().enumerate() {
            let marked = places.iter().position(|place| *place == at);
            if marked.is_some_and(|bit| chosen >> bit & 1 == 1) {
                result.push(mark);
            }
            result.push(*character);
        }
        result
    };
    let padded = places(&PADDED);
    let mut choices: Vec<usize> = (1..1 << padded.len()).collect();
    choices.sort_by_key(|chosen| std::cmp::Reverse(chosen.count_ones()));
    let mut spellings: Vec<String> = Vec::new();
    for flag in ['-', '_'] {
        spellings.extend(choices.iter().map(|&chosen| mark(&padded, chosen, flag)));
    }
    if !places(&['b', 'B', 'a', 'A', 'h']).is_empty() {
        let names = places(&['b', 'B', 'a', 'A', 'h']);
        let capital = mark(&names, usize::MAX, '^');
        spellings.push(capital.replace("%d", "%-d"));
        spellings.push(capital);
    }
    if format.contains("%p") {
        spellings.push(format.replace("%p", "%P"));
        spellings.push(format.replace("%p", "%P").replace("%I", "%-I"));
    }
    spellings
}

/// The unit that raw values of a format are counted in: nanoseconds where it writes nine digits.
pub(super) fn format_unit(format: &str) -> TimeUnitName {
    if format.contains("%.9f") || format.contains("%9f") {
        TimeUnitName::Nanoseconds
    } else {
        TimeUnitName::Microseconds
    }
}

/// Raw units of the finest part of a moment that a format writes; of a month or year, its longest.
pub(super) fn finest_part(format: &str) -> i128 {
    const SECOND: i128 = 1_000_000_000;
    const DAY: i128 = 86_400 * SECOND;
    const PARTS: [i128; 9] = [
        1,
        1_000,
        1_000_000,
        SECOND,
        60 * SECOND,
        3_600 * SECOND,
        DAY,
        31 * DAY,
        366 * DAY,
    ];
    let unit = format_unit(format).nanoseconds();
    let parts = || PARTS.into_iter().filter(|part| part % unit == 0);
    let finest = DateFormat::new(format).ok().and_then(|compiled| {
        let first = write_one(0, &compiled, unit);
        parts().find(|part| write_one(part / unit, &compiled, unit) != first)
    });
    finest.map_or(1, |part| part / unit)
}

/// Raw values of all cells; the error is the row of the first that does not fit.
pub(super) fn parse_all(
    cells: &[Option<&str>],
    format: &DateFormat,
    unit: i128,
) -> Result<Vec<i128>, usize> {
    cells
        .iter()
        .enumerate()
        .map(|(row, cell)| match cell {
            None => Ok(MISSING_WHOLE),
            Some(cell) => parse_one(cell, format, unit).ok_or(row),
        })
        .collect()
}

fn parse_one(value: &str, format: &DateFormat, unit: i128) -> Option<i128> {
    let instant = format.parse(value)?.and_utc();
    let nanoseconds = i128::from(instant.timestamp()) * 1_000_000_000
        + i128::from(instant.timestamp_subsec_nanos());
    (nanoseconds % unit == 0).then_some(nanoseconds / unit)
}

/// Text of a raw value; `None` only when the format needs an offset, which `learn` does not choose.
pub(super) fn write_one(raw: i128, format: &DateFormat, unit: i128) -> Option<String> {
    format.format(instant(raw, unit)?)
}

/// Days from 1970 to the last day of the year 9999, which all formats can write and read.
pub(super) const LAST_TEXT_DAY: i128 = 2_932_896;

/// The instant of a raw value, kept to the years 1 to 9999, which all formats can write and read.
fn instant(raw: i128, unit: i128) -> Option<NaiveDateTime> {
    let first = NaiveDate::from_ymd_opt(1, 1, 1)?
        .and_hms_opt(0, 0, 0)?
        .and_utc()
        .timestamp();
    let last = NaiveDate::from_ymd_opt(9999, 12, 31)?
        .and_hms_opt(23, 59, 59)?
        .and_utc()
        .timestamp();
    let nanoseconds = raw.saturating_mul(unit);
    let seconds = i64::try_from(nanoseconds.div_euclid(1_000_000_000))
        .unwrap_or(if raw < 0 { i64::MIN } else { i64::MAX })
        .clamp(first, last);
    let rest = u32::try_from(nanoseconds.rem_euclid(1_000_000_000)).ok()?;
    DateTime::from_timestamp(seconds, rest).map(|instant| instant.naive_utc())
}
