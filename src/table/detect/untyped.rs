//! The text of a CSV file to columns of numbers and truth values, where nothing is lost by it.
//! In: a frame of text. Out: a frame in which numbers are numbers, as `read_csv` would read them, and codes text.

use polars::prelude::{Column, DataFrame, NamedFrom, Series, StringChunked};

use super::super::TableError;
use super::names::NameWords;
use crate::metadata::PersonalKind;

pub(super) fn typed(text: DataFrame) -> Result<DataFrame, TableError> {
    let height = text.height();
    let columns = text
        .into_columns()
        .into_iter()
        .map(typed_column)
        .collect::<Result<Vec<_>, TableError>>()?;
    Ok(DataFrame::new(height, columns)?)
}

fn typed_column(column: Column) -> Result<Column, TableError> {
    let name = column.name().clone();
    // A phone number is no quantity, though all of it be digits.
    let kind = NameWords::of(&name).personal();
    if matches!(
        kind,
        Some(
            PersonalKind::PhoneNumber
                | PersonalKind::Postcode
                | PersonalKind::Ssn
                | PersonalKind::CreditCardNumber
                | PersonalKind::Iban
                | PersonalKind::Bban
        )
    ) {
        return Ok(column);
    }
    let text = column.str()?;
    Ok(match numbers(text).or_else(|| truths(text)) {
        Some(series) => series.with_name(name).into(),
        None => column,
    })
}

fn cells(text: &StringChunked) -> impl Iterator<Item = Option<&str>> {
    text.iter()
        .map(|cell| cell.map(str::trim).filter(|cell| !cell.is_empty()))
}

fn numbers(text: &StringChunked) -> Option<Series> {
    let is_missing = |cell: &str| cell.eq_ignore_ascii_case("nan");
    let mut any = false;
    let mut whole = true;
    for cell in cells(text).flatten().filter(|cell| !is_missing(cell)) {
        if is_code(cell) || !cell.parse::<f64>().is_ok_and(f64::is_finite) {
            return None;
        }
        any = true;
        let digits = cell.strip_prefix('-').unwrap_or(cell);
        if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            // So many digits are a name, not a quantity, and a float would lose some of them.
            if cell.parse::<i64>().is_err() {
                return None;
            }
        } else {
            whole = false;
        }
    }
    if !any {
        return None;
    }
    let present = || cells(text).map(|cell| cell.filter(|cell| !is_missing(cell)));
    if whole && let Some(cells) = parsed::<i64>(present()) {
        return Some(Series::new("".into(), cells));
    }
    parsed::<f64>(present()).map(|cells| Series::new("".into(), cells))
}

/// Leading zeros, and signs that a number is not written with: it would not come back as it was.
fn is_code(cell: &str) -> bool {
    let digits = cell.strip_prefix('-').unwrap_or(cell);
    let mut characters = digits.bytes();
    match (characters.next(), characters.next()) {
        (Some(b'0'), Some(second)) => second.is_ascii_digit(),
        (Some(first), _) => !first.is_ascii_digit() && first != b'.',
        (None, _) => true,
    }
}

fn parsed<'a, T: std::str::FromStr>(
    cells: impl Iterator<Item = Option<&'a str>>,
) -> Option<Vec<Option<T>>> {
    cells
        .map(|cell| match cell {
            None => Some(None),
            Some(cell) => cell.parse().ok().map(Some),
        })
        .collect()
}

fn truths(text: &StringChunked) -> Option<Series> {
    let truths = cells(text)
        .map(|cell| match cell {
            None => Some(None),
            Some(cell) if cell.eq_ignore_ascii_case("true") => Some(Some(true)),
            Some(cell) if cell.eq_ignore_ascii_case("false") => Some(Some(false)),
            Some(_) => None,
        })
        .collect::<Option<Vec<Option<bool>>>>()?;
    let any = truths.iter().any(Option::is_some);
    any.then(|| Series::new("".into(), truths))
}
