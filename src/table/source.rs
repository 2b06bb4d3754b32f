//! Where the columns of a table come from: a frame, or Parquet files of which one part of one column at a time lies in
//! memory.

use super::TableError;
use super::files::{damaged_or, unreadable};
use super::read::is_text;
use super::sequences::find;
use crate::metadata::nearest_name;
use polars::prelude::{Column, DataFrame, DataType, ParallelStrategy, ParquetReader, SerReader};
use std::borrow::Cow;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A table that is read column by column.
pub(crate) trait Source {
    fn rows(&self) -> usize;
    /// In the table's order.
    fn names(&self) -> Vec<&str>;
    /// # Errors
    /// [`TableError::ColumnNotInFrame`] for a name that is none of the columns'.
    fn column(&self, name: &str) -> Result<Cow<'_, Column>, TableError>;
    /// A column in parts, one after the other.
    /// # Errors
    /// [`TableError::ColumnNotInFrame`] for a name that is none of the columns'.
    fn parts(&self, name: &str) -> Result<impl Iterator<Item = Part<'_>>, TableError>;
}

type Part<'s> = Result<Cow<'s, Column>, TableError>;

/// Rows of a column that are read at once, or as many as a row group has.
const ROWS_AT_ONCE: usize = 1 << 20;

impl Source for DataFrame {
    fn rows(&self) -> usize {
        self.height()
    }

    fn names(&self) -> Vec<&str> {
        let columns = self.columns().iter();
        columns.map(|column| column.name().as_str()).collect()
    }

    fn column(&self, name: &str) -> Result<Cow<'_, Column>, TableError> {
        find(self, name).map(Cow::Borrowed)
    }

    fn parts(&self, name: &str) -> Result<impl Iterator<Item = Part<'_>>, TableError> {
        let column = find(self, name)?;
        // Text lies in the frame already, and which of several date formats it has takes all of it to tell.
        let rows = match is_text(column.dtype()) {
            true => column.len().max(1),
            false => ROWS_AT_ONCE,
        };
        let part = move |first: usize| match column.len() <= rows {
            true => Ok(Cow::Borrowed(column)),
            false => Ok(Cow::Owned(column.slice(first as i64, rows))),
        };
        Ok((0..column.len().max(1)).step_by(rows).map(part))
    }
}

/// Parquet files that together are one table, the rows of one file after those of another.
#[derive(Debug)]
pub(crate) struct ParquetFiles {
    /// At least one.
    files: Vec<ParquetFile>,
    /// Those of the first file; the others have the same columns, in any order.
    columns: Vec<(String, DataType)>,
}

/// A file as it was when it was opened.
#[derive(Debug)]
struct ParquetFile {
    path: PathBuf,
    rows: usize,
    /// One or several row groups each.
    parts: Vec<Range<usize>>,
    bytes: u64,
    modified: Option<SystemTime>,
}

impl ParquetFiles {
    /// A file, or all files of a folder whose names end in `.parquet`, in the order of their names.
    ///
    /// # Errors
    /// [`TableError::ReadFile`] for a file that cannot be read or is not Parquet, and a folder without any;
    /// [`TableError::FilesDiffer`] for a file whose columns are not those of the first.
    pub(crate) fn open(path: &Path) -> Result<ParquetFiles, TableError> {
        let paths = if path.is_dir() {
            files_of(path)?
        } else {
            vec![path.to_path_buf()]
        };
        let mut paths = paths.into_iter();
        let Some(first) = paths.next() else {
            let cause =
                "the folder has no file whose name ends in .parquet; folders in it are not read";
            return Err(unreadable(path, cause.into()));
        };
        let (first, mut columns) = ParquetFile::open(first)?;
        let mut files = vec![first];
        for path in paths {
            let (file, own) = ParquetFile::open(path)?;
            if let Some(difference) = merge(&mut columns, &own) {
                return Err(TableError::FilesDiffer {
                    path: file.path,
                    first: files.swap_remove(0).path,
                    difference,
                });
            }
            files.push(file);
        }
        Ok(ParquetFiles { files, columns })
    }
}

impl ParquetFile {
    /// A file and its columns.
    fn open(path: PathBuf) -> Result<(ParquetFile, Vec<(String, DataType)>), TableError> {
        let io = |source: std::io::Error| unreadable(&path, source.into());
        let file = File::open(&path).map_err(io)?;
        let found = file.metadata().map_err(io)?;
        let (rows, parts, columns) = damaged_or(&path, || {
            let mut reader = ParquetReader::new(file);
            let rows = reader.num_rows()?;
            let groups = reader.get_metadata()?.row_groups.iter();
            let parts = parts(groups.map(|group| group.num_rows()));
            let empty = reader.with_slice(Some((0, 0))).finish()?;
            let columns = empty.columns().iter();
            let columns = columns.map(|column| (column.name().to_string(), column.dtype().clone()));
            Ok((rows, parts, columns.collect()))
        })?;
        if parts.last().map_or(0, |part| part.end) != rows {
            let cause = "its row groups do not have the rows that it says it has";
            return Err(unreadable(&path, cause.into()));
        }
        let file = ParquetFile {
            bytes: found.len(),
            modified: found.modified().ok(),
            rows,
            parts,
            path,
        };
        Ok((file, columns))
    }

    /// Some rows of a column, of this dtype where all its cells are missing and so have none.
    fn column(
        &self,
        name: &str,
        dtype: &DataType,
        rows: &Range<usize>,
    ) -> Result<Column, TableError> {
        let io = |source: std::io::Error| unreadable(&self.path, source.into());
        let changed = || {
            let cause = "it changed while it was read; fit a copy, or once it is whole";
            Err(unreadable(&self.path, cause.into()))
        };
        let file = File::open(&self.path).map_err(io)?;
        let found = file.metadata().map_err(io)?;
        if (found.len(), found.modified().ok()) != (self.bytes, self.modified) {
            return changed();
        }
        let wanted = Some(vec![name.to_owned()]);
        let frame = damaged_or(&self.path, || {
            // What worker threads give back stays with the process for long.
            ParquetReader::new(file)
                .with_columns(wanted)
                .with_slice(Some((rows.start, rows.len())))
                .read_parallel(ParallelStrategy::None)
                .finish()
        })?;
        let column = find(&frame, name)?;
        // The reader takes the header's word for neither.
        if column.len() != rows.len() {
            return changed();
        }
        if column.dtype() == &DataType::Null {
            return Ok(Column::full_null(name.into(), rows.len(), dtype));
        }
        Ok(column.clone())
    }
}

impl Source for ParquetFiles {
    fn rows(&self) -> usize {
        self.files.iter().map(|file| file.rows).sum()
    }

    fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|(name, _)| name.as_str()).collect()
    }

    fn column(&self, name: &str) -> Result<Cow<'_, Column>, TableError> {
        let mut parts = self.parts(name)?;
        let mut whole = match parts.next() {
            Some(part) => part?.into_owned(),
            None => Column::new_empty(name.into(), self.dtype(name)?),
        };
        for part in parts {
            whole.append(part?.as_ref())?;
        }
        Ok(Cow::Owned(whole))
    }

    fn parts(&self, name: &str) -> Result<impl Iterator<Item = Part<'_>>, TableError> {
        let dtype = self.dtype(name)?;
        let name = name.to_owned();
        let parts = self.files.iter().flat_map(|file| {
            let parts = file.parts.iter();
            parts.map(move |rows| (file, rows))
        });
        Ok(parts.map(move |(file, rows)| file.column(&name, dtype, rows).map(Cow::Owned)))
    }
}

impl ParquetFiles {
    fn dtype(&self, name: &str) -> Result<&DataType, TableError> {
        let column = self.columns.iter().find(|(own, _)| own == name);
        let dtype = column.map(|(_, dtype)| dtype);
        dtype.ok_or_else(|| TableError::ColumnNotInFrame {
            column: name.to_owned(),
            nearest: nearest_name(name, self.names().into_iter()),
        })
    }
}

/// Row groups put together until they are [`ROWS_AT_ONCE`] or more.
fn parts(groups: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for rows in groups.filter(|rows| *rows > 0) {
        match parts.last_mut() {
            Some(last) if last.len() < ROWS_AT_ONCE => last.end = last.end.saturating_add(rows),
            last => {
                let start = last.map_or(0, |last| last.end);
                parts.push(start..start.saturating_add(rows));
            }
        }
    }
    parts
}

fn files_of(folder: &Path) -> Result<Vec<PathBuf>, TableError> {
    let read = || -> std::io::Result<Vec<PathBuf>> {
        std::fs::read_dir(folder)?
            .map(|entry| Ok(entry?.path()))
            .collect()
    };
    let mut paths = read().map_err(|source| unreadable(folder, source.into()))?;
    paths.retain(|path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        path.is_file()
            && extension.is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
    });
    paths.sort();
    Ok(paths)
}

/// Gives columns without a dtype, since all their cells are missing, that of another file; or says what the columns of
/// that file have that those of the first have not.
fn merge(columns: &mut [(String, DataType)], other: &[(String, DataType)]) -> Option<String> {
    let added = other
        .iter()
        .find(|(name, _)| !columns.iter().any(|(own, _)| own == name));
    if let Some((name, _)) = added {
        return Some(format!("column `{name}` is there, though it is not"));
    }
    for (name, dtype) in columns {
        let own = other.iter().find(|(own, _)| own == name);
        match own.map(|(_, own)| own) {
            None => return Some(format!("column `{name}` is not there, though it is")),
            Some(DataType::Null) => {}
            Some(own) if *dtype == DataType::Null => *dtype = own.clone(),
            Some(own) if own != dtype && own.to_string() == dtype.to_string() => {
                return Some(format!(
                    "column `{name}` has an {dtype} of other categories than it has"
                ));
            }
            Some(own) if own != dtype => {
                return Some(format!("column `{name}` has dtype {own}, and {dtype}"));
            }
            Some(_) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use polars::prelude::FrozenCategories;

    #[test]
    fn files_that_are_no_one_table_are_told_by_what_differs() {
        let of = |name: &str, dtype: DataType| (name.to_owned(), dtype);
        let categories = |names: &[&str]| {
            let frozen = FrozenCategories::new(names.iter().copied()).unwrap();
            DataType::from_frozen_categories(frozen)
        };
        let differ = |first: DataType, other: DataType| {
            merge(&mut [of("a", first)], &[of("a", other)]).unwrap()
        };
        assert_eq!(
            differ(DataType::Int64, DataType::String),
            "column `a` has dtype str, and i64"
        );
        assert_eq!(
            differ(categories(&["x", "y"]), categories(&["x", "z"])),
            "column `a` has an enum of other categories than it has"
        );
        let mut columns = [of("a", DataType::Null)];
        assert_eq!(merge(&mut columns, &[of("a", DataType::Int64)]), None);
        assert_eq!(columns[0].1, DataType::Int64);
    }
}
