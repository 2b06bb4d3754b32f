//! The text of a CSV file to a frame.
//! Our own reading of RFC 4180, because messages need the line, and because a quoted empty cell and an
//! empty one mean different things here; readers at hand tell neither.

use std::path::Path;

use polars::prelude::{Column, DataFrame, NamedFrom, Series, StringChunked, StringChunkedBuilder};

use super::TableError;
use super::dates::Misfit;
use crate::metadata::{Metadata, PersonalKind, SdType};

/// A file's cells, column by column, before they are understood.
struct Cells {
    columns: Vec<StringChunked>,
    /// The line on which each row starts, from 1.
    lines: Vec<usize>,
}

/// Where messages point to.
struct Place<'a> {
    path: &'a Path,
    lines: &'a [usize],
    column: &'a str,
}

impl Place<'_> {
    fn wrong(&self, row: usize, expected: impl Into<String>) -> TableError {
        TableError::CsvCell {
            path: self.path.to_path_buf(),
            line: self.lines.get(row).copied().unwrap_or(0),
            column: self.column.to_owned(),
            expected: expected.into(),
        }
    }
}

pub(super) fn read(
    bytes: &[u8],
    path: &Path,
    metadata: &Metadata,
) -> Result<DataFrame, TableError> {
    let (names, cells) = scan(bytes, path, |names| {
        let checked =
            super::schema::check_same_names(|| names.iter().map(String::as_str), metadata);
        match other_separator(names) {
            Some(separator) if checked.is_err() => Err(TableError::Csv {
                path: path.to_path_buf(),
                line: 1,
                reason: format!(
                    "there is one column, `{}`, with {separator:?} in its name; columns are separated by commas here",
                    names[0]
                ),
            }),
            _ => checked,
        }
    })?;
    let columns = names
        .iter()
        .zip(cells.columns)
        .map(|(name, text)| {
            let place = Place {
                path,
                lines: &cells.lines,
                column: name,
            };
            understand(
                text,
                metadata.sdtype(name).cloned().map(SdType::learned).as_ref(),
                metadata.is_made_up_key(name),
                &place,
            )
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(DataFrame::new(cells.lines.len(), columns)?)
}

/// Every cell as the text it is.
pub(super) fn read_text(bytes: &[u8], path: &Path) -> Result<DataFrame, TableError> {
    let (names, cells) = scan(bytes, path, |_| Ok(()))?;
    let columns = names
        .iter()
        .zip(cells.columns)
        .map(|(name, text)| Series::from(text).with_name(name.as_str().into()).into())
        .collect();
    Ok(DataFrame::new(cells.lines.len(), columns)?)
}

/// What a file's columns seem to be separated by, if that is not commas.
pub(super) fn other_separator(names: &[impl AsRef<str>]) -> Option<char> {
    let [only] = names else {
        return None;
    };
    let mut separators = [';', '\t', '|'].into_iter();
    separators.find(|separator| only.as_ref().contains(*separator))
}

/// Column names, to be checked before the rows are read, and cells.
fn scan(
    bytes: &[u8],
    path: &Path,
    check_names: impl FnOnce(&[String]) -> Result<(), TableError>,
) -> Result<(Vec<String>, Cells), TableError> {
    let fault = |line: usize, reason: String| TableError::Csv {
        path: path.to_path_buf(),
        line,
        reason,
    };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        fault(count_lines(before) + 1, "the text is not UTF-8".to_owned())
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut scanner = Scanner {
        text,
        at: 0,
        line: 1,
    };
    let names = scanner
        .header()
        .map_err(|(line, reason)| fault(line, reason))?;
    check_names(&names)?;
    let cells = scanner
        .rows(&names)
        .map_err(|(line, reason)| fault(line, reason))?;
    Ok((names, cells))
}

/// A fault and the line it is on.
type Fault = (usize, String);

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Scanner<'a> {
    fn header(&mut self) -> Result<Vec<String>, Fault> {
        let mut names: Vec<String> = Vec::new();
        if self.is_at_end() {
            return Err((1, "the file is empty; wanted is a header line".to_owned()));
        }
        loop {
            let (cell, last) = self.cell()?;
            let name = cell.map(|cell| cell.text()).unwrap_or_default();
            if names.contains(&name) {
                return Err((1, format!("column `{name}` stands twice in the header")));
            }
            names.push(name);
            if last {
                return Ok(names);
            }
        }
    }

    fn rows(&mut self, names: &[String]) -> Result<Cells, Fault> {
        let mut builders: Vec<StringChunkedBuilder> = names
            .iter()
            .map(|name| StringChunkedBuilder::new(name.as_str().into(), 0))
            .collect();
        let mut lines = Vec::new();
        while !self.is_at_end() {
            if names.len() > 1 && self.skip_blank_line() {
                continue;
            }
            let start = self.line;
            let mut found = 0;
            loop {
                let (cell, last) = self.cell()?;
                if let Some(builder) = builders.get_mut(found) {
                    match cell {
                        Some(Cell::Plain(text)) => builder.append_value(text),
                        Some(Cell::Quoted(text)) => builder.append_value(&text),
                        None => builder.append_null(),
                    }
                }
                found += 1;
                if last {
                    break;
                }
            }
            if found != names.len() {
                return Err((
                    start,
                    format!("the row has {found} cells; the header has {}", names.len()),
                ));
            }
            lines.push(start);
        }
        Ok(Cells {
            columns: builders
                .into_iter()
                .map(StringChunkedBuilder::finish)
                .collect(),
            lines,
        })
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blank_line(&mut self) -> bool {
        let length = ["\n", "\r\n"]
            .into_iter()
            .find(|end| self.rest().starts_with(end))
            .map(str::len);
        self.at += length.unwrap_or(0);
        self.line += usize::from(length.is_some());
        length.is_some()
    }

    /// The next cell, `None` when empty and not quoted, and whether it is the last of its row.
    fn cell(&mut self) -> Result<(Option<Cell<'a>>, bool), Fault> {
        let cell = if self.rest().starts_with('"') {
            Some(self.quoted()?)
        } else {
            self.plain()
        };
        let rest = self.rest();
        let (length, last) = if rest.starts_with(',') {
            (1, false)
        } else if rest.starts_with('\n') {
            (1, true)
        } else if rest.starts_with("\r\n") {
            (2, true)
        } else if rest.is_empty() {
            (0, true)
        } else {
            return Err((self.line, "there is text after a closing quote".to_owned()));
        };
        self.at += length;
        self.line += usize::from(last && length > 0);
        Ok((cell, last))
    }

    fn plain(&mut self) -> Option<Cell<'a>> {
        let rest = self.rest();
        let end = rest.find([',', '\n']).unwrap_or(rest.len());
        let mut text = &rest[..end];
        if rest[end..].starts_with('\n') {
            text = text.strip_suffix('\r').unwrap_or(text);
        }
        self.at += text.len();
        (!text.is_empty()).then_some(Cell::Plain(text))
    }

    fn quoted(&mut self) -> Result<Cell<'a>, Fault> {
        let start = self.line;
        let mut text = String::new();
        self.at += 1;
        loop {
            let rest = self.rest();
            let Some(end) = rest.find('"') else {
                return Err((start, "a quote is opened and never closed".to_owned()));
            };
            text.push_str(&rest[..end]);
            self.line += count_lines(&rest.as_bytes()[..end]);
            self.at += end + 1;
            if !self.rest().starts_with('"') {
                return Ok(Cell::Quoted(text));
            }
            text.push('"'); // a doubled quote stands for one
            self.at += 1;
        }
    }
}

enum Cell<'a> {
    Plain(&'a str),
    Quoted(String),
}

impl Cell<'_> {
    fn text(self) -> String {
        match self {
            Cell::Plain(text) => text.to_owned(),
            Cell::Quoted(text) => text,
        }
    }
}

fn count_lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

/// Cells of one column by its sdtype.
fn understand(
    text: StringChunked,
    sdtype: Option<&SdType>,
    is_key: bool,
    place: &Place,
) -> Result<Column, TableError> {
    let series = match sdtype {
        Some(SdType::Personal { kind, .. }) => match kind {
            PersonalKind::Latitude | PersonalKind::Longitude => numbers(&text, place)?,
            PersonalKind::DateOfBirth => dates(text, super::dates::learn_births, place)?,
            _ => text.into(),
        },
        // A key's digits are a name: leading zeros and all.
        _ if is_key => text.into(),
        Some(SdType::Numerical) => numbers(&text, place)?,
        Some(SdType::Boolean) => truths(&text, place)?,
        Some(SdType::Datetime { format }) => {
            let format = format.as_deref();
            dates(text, |cells| super::dates::learn(cells, format), place)?
        }
        Some(SdType::Categorical | SdType::Id { .. }) | None => text.into(),
    };
    Ok(series.with_name(place.column.into()).into())
}

fn numbers(text: &StringChunked, place: &Place) -> Result<Series, TableError> {
    let trimmed = || {
        text.iter()
            .map(|cell| cell.map(str::trim).filter(|cell| !cell.is_empty()))
    };
    if let Some(cells) = parsed::<i64>(trimmed()) {
        return Ok(Series::new("".into(), cells));
    }
    if let Some(cells) = parsed::<u64>(trimmed()) {
        return Ok(Series::new("".into(), cells));
    }
    let cells = trimmed()
        .enumerate()
        .map(|(row, cell)| match cell.map(str::parse::<f64>) {
            None => Ok(None),
            Some(Ok(number)) if number.is_nan() => Ok(None), // "NaN" is how pandas may write a missing one
            Some(Ok(number)) if number.is_finite() => Ok(Some(number)),
            Some(_) => Err(place.wrong(row, "a finite number, or nothing for a missing one")),
        })
        .collect::<Result<Vec<Option<f64>>, _>>()?;
    Ok(Series::new("".into(), cells))
}

/// All cells parsed; `None` when one is not such a number.
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

fn truths(text: &StringChunked, place: &Place) -> Result<Series, TableError> {
    let cells = text
        .iter()
        .enumerate()
        .map(
            |(row, cell)| match cell.map(|cell| cell.trim().to_ascii_lowercase()).as_deref() {
                None | Some("") => Ok(None),
                Some("true" | "yes" | "t" | "y" | "1" | "1.0") => Ok(Some(true)),
                Some("false" | "no" | "f" | "n" | "0" | "0.0") => Ok(Some(false)),
                Some(_) => Err(place.wrong(row, "true or false, or nothing for a missing one")),
            },
        )
        .collect::<Result<Vec<Option<bool>>, _>>()?;
    Ok(Series::new("".into(), cells))
}

fn dates(
    text: StringChunked,
    learn: impl Fn(&[Option<&str>]) -> Result<String, Misfit>,
    place: &Place,
) -> Result<Series, TableError> {
    let cells: Vec<Option<&str>> = text
        .iter()
        .map(|cell| cell.filter(|cell| !cell.is_empty()))
        .collect();
    match learn(&cells) {
        Ok(_) => Ok(Series::new("".into(), cells)),
        Err(misfit) if misfit.round_trip => Err(place.wrong(
            misfit.row,
            format!(
                "a date that format {} writes back unchanged",
                misfit.formats
            ),
        )),
        Err(misfit) => Err(place.wrong(misfit.row, format!("a date of format {}", misfit.formats))),
    }
}
