//! CSV and Parquet files, in and out.
//! A CSV file is read by what the metadata says, never by a guess from its first rows; the pair of reader
//! and writer keeps null and the empty text apart. Parquet keeps every dtype as it is.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use polars::prelude::{
    CsvWriter, DataFrame, DataType, ParquetReader, ParquetWriter, PolarsResult, SerReader,
    SerWriter,
};

use super::TableError;
use crate::files::replace;
use crate::metadata::Metadata;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Reads a CSV file with a header line, each column as the metadata states it.
///
/// Numerical columns become `Int64` when every value is a whole number that fits, else `UInt64`, else
/// `Float64`. Boolean columns take true, false, yes, no, 1, 0 in any capitals. Datetime columns stay text in
/// the metadata's format, categorical, id and personal columns stay text with all their digits, but for latitude,
/// longitude (numbers) and dates of birth (dates). An empty cell is null; a quoted empty cell, `""`, is the empty text
/// in columns that stay text and null in the others.
///
/// # Errors
/// [`TableError`] naming file and line: a file that cannot be read, is not UTF-8 or has rows of unequal
/// length, columns that the file and the metadata do not share, a cell that is not what the metadata says.
pub fn read_csv(path: impl AsRef<Path>, metadata: &Metadata) -> Result<DataFrame, TableError> {
    let path = path.as_ref();
    let bytes = std::fs::read(path).map_err(|source| unreadable(path, source.into()))?;
    super::csv::read(&bytes, path, metadata)
}

/// Reads a CSV file with every cell as text, for those who have yet to find out what it holds.
pub(super) fn read_csv_as_text(path: &Path) -> Result<DataFrame, TableError> {
    let bytes = std::fs::read(path).map_err(|source| unreadable(path, source.into()))?;
    super::csv::read_text(&bytes, path)
}

/// Writes a CSV file with a header line: numbers in the shortest text that reads back as the same number,
/// nothing for null, `""` for the empty text. A sibling temporary file is renamed into place.
///
/// # Errors
/// [`TableError::NoCsvForm`] for a column of durations, which have no text that reads back as one;
/// [`TableError::WriteFile`] when the file cannot be made or another dtype has no CSV form.
pub fn write_csv(frame: &DataFrame, path: impl AsRef<Path>) -> Result<(), TableError> {
    check_csv_form(frame)?;
    write(path.as_ref(), |file| {
        Ok(CsvWriter::new(file).finish(&mut frame.clone())?)
    })
}

/// Writes a table that comes in parts as [`write_csv`] writes the whole; `empty` is the table without rows.
pub(crate) fn write_csv_parts<E: From<TableError>>(
    empty: &DataFrame,
    parts: impl Iterator<Item = Result<DataFrame, E>>,
    path: &Path,
) -> Result<(), E> {
    check_csv_form(empty)?;
    write_parts(path, parts, |file, parts| {
        CsvWriter::new(&mut *file).finish(&mut empty.clone())?;
        for mut part in parts {
            CsvWriter::new(&mut *file)
                .include_header(false)
                .finish(&mut part)?;
        }
        Ok(())
    })
}

/// Refuses what [`write_csv`] could not write.
fn check_csv_form(frame: &DataFrame) -> Result<(), TableError> {
    for column in frame.columns() {
        if let DataType::Duration(_) = column.dtype() {
            return Err(TableError::NoCsvForm {
                column: column.name().to_string(),
                dtype: column.dtype().to_string(),
            });
        }
    }
    Ok(())
}

/// Reads a Parquet file, with the dtypes it was written with.
///
/// # Errors
/// [`TableError::ReadFile`] when the file cannot be read or is not Parquet.
pub fn read_parquet(path: impl AsRef<Path>) -> Result<DataFrame, TableError> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|source| unreadable(path, source.into()))?;
    damaged_or(path, || ParquetReader::new(file).finish())
}

/// What a Parquet decoder gives. It is not ours, and a damaged file must not take the caller's process down.
pub(super) fn damaged_or<T>(
    path: &Path,
    read: impl FnOnce() -> PolarsResult<T>,
) -> Result<T, TableError> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(source)) => Err(unreadable(path, source.into())),
        Err(_) => Err(unreadable(path, "the file is damaged".into())),
    }
}

/// Writes a Parquet file. A sibling temporary file is renamed into place.
///
/// # Errors
/// [`TableError::WriteFile`] when the file cannot be made.
pub fn write_parquet(frame: &DataFrame, path: impl AsRef<Path>) -> Result<(), TableError> {
    write(path.as_ref(), |file| {
        ParquetWriter::new(file).finish(&mut frame.clone())?;
        Ok(())
    })
}

/// Writes a table that comes in parts as [`write_parquet`] writes the whole, each part a row group; `empty` is the table
/// without rows.
pub(crate) fn write_parquet_parts<E: From<TableError>>(
    empty: &DataFrame,
    parts: impl Iterator<Item = Result<DataFrame, E>>,
    path: &Path,
) -> Result<(), E> {
    write_parts(path, parts, |file, parts| {
        let mut writer = ParquetWriter::new(file).batched(empty.schema())?;
        for part in parts {
            writer.write_batch(&part)?;
        }
        writer.finish()?;
        Ok(())
    })
}

/// Writes parts until one is an error, which is given back, and no file is made.
fn write_parts<E: From<TableError>>(
    path: &Path,
    parts: impl Iterator<Item = Result<DataFrame, E>>,
    content: impl FnOnce(
        &mut BufWriter<&File>,
        &mut dyn Iterator<Item = DataFrame>,
    ) -> Result<(), Cause>,
) -> Result<(), E> {
    let mut failed = None;
    let written = write(path, |file| {
        let mut good = parts.map_while(|part| part.map_err(|error| failed = Some(error)).ok());
        content(file, &mut good)?;
        drop(good);
        match failed {
            Some(_) => Err("the table ended early".into()),
            None => Ok(()),
        }
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(written?),
    }
}

fn write(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<&File>) -> Result<(), Cause>,
) -> Result<(), TableError> {
    let written = replace(path, |file| {
        let mut buffered = BufWriter::new(file);
        content(&mut buffered)?;
        buffered.flush()?;
        Ok(())
    });
    written.map_err(|source| TableError::WriteFile {
        path: path.to_path_buf(),
        source,
    })
}

pub(super) fn unreadable(path: &Path, source: Cause) -> TableError {
    TableError::ReadFile {
        path: path.to_path_buf(),
        source,
    }
}
