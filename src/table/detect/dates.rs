//! The strftime format of dates held as text or digits.
//! In: a column's cells. Out: a format that reads and writes back every one of them, in Python's spelling.

use std::sync::OnceLock;

use chrono::Datelike;

use super::super::cells::MISSING_WHOLE;
use super::super::dates::{fractions, learn};
use crate::metadata::DateFormat;

/// Dates alone; those that month-first and day-first both read stand side by side.
const DATES: [&str; 30] = [
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%m-%d-%Y",
    "%d-%m-%Y",
    "%d.%m.%Y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%d.%m.%y",
    "%d-%m-%y",
    "%d %b %Y",
    "%d %B %Y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%d/%b/%Y",
    "%b %d, %Y",
    "%B %d, %Y",
    "%b %d %Y",
    "%B %d %Y",
    "%a, %d %b %Y",
    "%A, %B %d, %Y",
    "%Y-%b-%d",
    "%Y%m%d",
    "%Y-%m",
    "%Y/%m",
    "%m/%Y",
    "%b %Y",
    "%B %Y",
];
/// What may follow a date.
const TIMES: [&str; 7] = [
    "",
    "%H:%M:%S",
    "%H:%M:%S.%f",
    "%H:%M",
    "%I:%M:%S %p",
    "%I:%M %p",
    "%H%M%S",
];
const OFFSETS: [&str; 5] = ["", "Z", "%z", " %z", " UTC"];
/// Dates written as whole numbers; by the digits alone a six-digit one is more often something else.
const DIGITS: [(&str, usize); 4] = [
    ("%Y%m%d", 8),
    ("%Y%m%d%H%M%S", 14),
    ("%Y%m%d%H%M", 12),
    ("%Y%m", 6),
];
/// Values that a format is tried on before it is tried on all.
const SAMPLE: usize = 200;
/// Years outside are taken for misread numbers.
const YEARS: std::ops::RangeInclusive<i32> = 1500..=2499;
/// No date is longer; free text need not be tried.
const LONGEST: usize = 48;

/// What a column of text turned out to be.
pub(super) enum TextDates {
    /// Dates of this format; `doubtful` where another fits as well, which is named.
    Format {
        format: String,
        doubtful: Option<String>,
    },
    /// Most values are dates of this format, but not that of the row.
    Almost {
        format: String,
        row: usize,
    },
    No,
}

struct Known {
    python: String,
    /// Its spellings by digits of the fraction.
    compiled: Vec<DateFormat>,
}

impl Known {
    fn new(python: String) -> Known {
        Known {
            compiled: fractions(&python)
                .iter()
                .filter_map(|spelling| DateFormat::new(spelling).ok())
                .collect(),
            python,
        }
    }

    fn reads(&self, value: &str) -> bool {
        self.compiled.iter().any(|format| reads(format, value))
    }
}

fn reads(format: &DateFormat, value: &str) -> bool {
    format
        .parse(value)
        .is_some_and(|date| YEARS.contains(&date.year()))
}

fn known() -> &'static [Known] {
    static KNOWN: OnceLock<Vec<Known>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let mut formats = Vec::new();
        for date in DATES {
            for time in TIMES {
                for offset in OFFSETS {
                    let separators: &[&str] = match time {
                        "" if offset.is_empty() => &[""],
                        "" => continue,
                        _ => &[" ", "T", ", "],
                    };
                    let written =
                        |separator: &&str| Known::new(format!("{date}{separator}{time}{offset}"));
                    formats.extend(separators.iter().map(written));
                }
            }
        }
        formats.retain(|format| !format.compiled.is_empty());
        formats
    })
}

/// Looks for a format that suits a column of text; `values` are its distinct ones with their first rows.
pub(super) fn text_dates(cells: &[Option<&str>], values: &[(usize, &str)]) -> TextDates {
    let Some((_, first)) = values.first() else {
        return TextDates::No;
    };
    let may_be = |value: &str| {
        value.len() <= LONGEST && value.bytes().filter(u8::is_ascii_digit).count() >= 4
    };
    let step = values.len().div_ceil(SAMPLE).max(1);
    let sample: Vec<(usize, &str)> = values.iter().step_by(step).copied().collect();
    if !may_be(first)
        && sample.iter().filter(|(_, value)| may_be(value)).count() * 10 < sample.len() * 9
    {
        return TextDates::No;
    }
    let mut fitting: Vec<&Known> = Vec::new();
    let mut almost: Option<(usize, &Known)> = None;
    // Where the first value is a slip, the second tells the format as well.
    let firsts = sample.iter().take(3);
    for format in known()
        .iter()
        .filter(|format| firsts.clone().any(|(_, value)| format.reads(value)))
    {
        let read = sample
            .iter()
            .filter(|(_, value)| format.reads(value))
            .count();
        if read == sample.len() && values.iter().all(|(_, value)| format.reads(value)) {
            fitting.push(format);
        } else if read * 10 >= sample.len() * 9 && almost.is_none_or(|(best, _)| best < read) {
            almost = Some((read, format));
        }
    }
    fitting.retain(|format| learn(cells, Some(&format.python)).is_ok());
    // Of formats that all fit, the one in which rows follow each other in time, else the first.
    let best = fitting.iter().copied().reduce(|best, format| {
        if rises(cells, format) > rises(cells, best) {
            format
        } else {
            best
        }
    });
    if let Some(best) = best {
        let other = fitting
            .iter()
            .find(|other| other.python != best.python && reads_otherwise(values, best, other));
        return TextDates::Format {
            format: best.python.clone(),
            doubtful: other.map(|other| other.python.clone()),
        };
    }
    match almost {
        Some((_, format)) => {
            let row = values.iter().find(|(_, value)| !format.reads(value));
            TextDates::Almost {
                format: format.python.clone(),
                row: row.map_or(0, |&(row, _)| row),
            }
        }
        None => TextDates::No,
    }
}

/// Rows that are no earlier than the row before.
fn rises(cells: &[Option<&str>], format: &Known) -> usize {
    let Some(compiled) = format.compiled.first() else {
        return 0;
    };
    let dates: Vec<_> = cells
        .iter()
        .take(10_000)
        .filter_map(|cell| compiled.parse((*cell)?))
        .collect();
    dates.windows(2).filter(|pair| pair[0] <= pair[1]).count()
}

fn reads_otherwise(values: &[(usize, &str)], left: &Known, right: &Known) -> bool {
    let read =
        |known: &Known, value: &str| known.compiled.iter().find_map(|format| format.parse(value));
    values
        .iter()
        .any(|(_, value)| read(left, value) != read(right, value))
}

/// The format of dates written as whole numbers; the name must speak for the short one.
pub(super) fn digit_dates(cells: &[i128], name_says_time: bool) -> Option<&'static str> {
    let mut present = cells
        .iter()
        .filter(|&&cell| cell != MISSING_WHOLE)
        .peekable();
    let digits = present.peek()?.to_string().len();
    let (format, _) = DIGITS
        .iter()
        .filter(|(format, _)| name_says_time || *format != "%Y%m")
        .find(|(_, width)| *width == digits)?;
    let compiled = DateFormat::new(format).ok()?;
    let current = 1900..=2199;
    present
        .all(|cell| {
            let text = cell.to_string();
            text.len() == digits
                && compiled
                    .parse(&text)
                    .is_some_and(|date| current.contains(&date.year()))
        })
        .then_some(format)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format_of(values: &[&str]) -> Option<(String, Option<String>)> {
        let cells: Vec<Option<&str>> = values.iter().copied().map(Some).collect();
        let mut distinct: Vec<(usize, &str)> = values.iter().copied().enumerate().collect();
        distinct.dedup_by_key(|(_, value)| *value);
        match text_dates(&cells, &distinct) {
            TextDates::Format { format, doubtful } => Some((format, doubtful)),
            TextDates::Almost { .. } | TextDates::No => None,
        }
    }

    #[test]
    fn common_formats_are_found_without_doubt() {
        for (format, values) in [
            ("%Y-%m-%d", ["2020-06-01", "2021-12-31"]),
            (
                "%Y-%m-%d %H:%M:%S",
                ["1993-05-31 12:00:00", "1993-05-31 18:00:00"],
            ),
            (
                "%Y-%m-%dT%H:%M:%S",
                ["2020-01-01T00:00:00", "2020-01-01T00:00:01"],
            ),
            (
                "%Y-%m-%dT%H:%M:%SZ",
                ["2020-01-01T00:00:00Z", "2020-01-01T00:00:01Z"],
            ),
            (
                "%Y-%m-%dT%H:%M:%S.%f%z",
                [
                    "2020-01-01T00:00:00.123+02:00",
                    "2020-01-01T00:00:01.250+02:00",
                ],
            ),
            (
                "%Y-%m-%d %H:%M:%S.%f",
                ["2020-01-01 00:00:00.000001", "2020-01-01 00:00:01.250000"],
            ),
            ("%b %d, %Y", ["Jun 26, 2021", "Jul 04, 2021"]),
            ("%B %d, %Y", ["June 26, 2021", "July 4, 2021"]),
            ("%d.%m.%Y", ["26.06.2021", "01.07.2021"]),
            ("%m/%d/%Y", ["06/26/2021", "07/01/2021"]),
            ("%d/%m/%Y", ["26/06/2021", "01/07/2021"]),
            (
                "%m/%d/%Y %I:%M %p",
                ["06/26/2021 01:15 PM", "07/01/2021 11:00 AM"],
            ),
            ("%d %b %Y %H:%M", ["26 Jun 2021 13:15", "01 Jul 2021 11:00"]),
            ("%m/%d/%y", ["06/26/21", "07/01/21"]),
            ("%Y-%m", ["2020-01", "2021-12"]),
            ("%Y%m%d", ["20200101", "20211231"]),
        ] {
            assert_eq!(
                format_of(&values),
                Some((format.to_owned(), None)),
                "{values:?}"
            );
        }
    }

    #[test]
    fn a_date_that_may_be_month_first_or_day_first_is_doubtful() {
        // As month first the rows go back and forth, as day first they rise.
        let days = ["05/01/2020", "06/01/2020", "01/02/2020", "02/02/2020"];
        assert_eq!(
            format_of(&days),
            Some(("%d/%m/%Y".to_owned(), Some("%m/%d/%Y".to_owned())))
        );
        let unclear = ["01/02/2020", "02/03/2020"];
        assert_eq!(
            format_of(&unclear),
            Some(("%m/%d/%Y".to_owned(), Some("%d/%m/%Y".to_owned())))
        );
    }

    #[test]
    fn codes_and_words_are_no_dates() {
        for values in [
            ["12-34-56", "12-34-57"],
            ["AL011993-0", "AL021993-0"],
            ["a", "b"],
            ["1.2.3", "1.2.4"],
        ] {
            assert_eq!(format_of(&values), None, "{values:?}");
        }
    }

    #[test]
    fn one_slip_among_dates_is_told_by_its_row() {
        let mut values: Vec<String> = (1..=28).map(|day| format!("2020-01-{day:02}")).collect();
        values[7] = "unknown".to_owned();
        let cells: Vec<Option<&str>> = values.iter().map(|value| Some(value.as_str())).collect();
        let distinct: Vec<(usize, &str)> = values.iter().map(String::as_str).enumerate().collect();
        assert!(matches!(
            text_dates(&cells, &distinct),
            TextDates::Almost { format, row: 7 } if format == "%Y-%m-%d"
        ));
    }

    #[test]
    fn digits_are_dates_when_all_of_them_can_be() {
        assert_eq!(
            digit_dates(&[20_230_623, 20_210_405], false),
            Some("%Y%m%d")
        );
        assert_eq!(digit_dates(&[20_230_623, 20_211_405], false), None);
        assert_eq!(digit_dates(&[202_306, 202_307], false), None);
        assert_eq!(digit_dates(&[202_306, 202_307], true), Some("%Y%m"));
        assert_eq!(digit_dates(&[MISSING_WHOLE], true), None);
    }
}
