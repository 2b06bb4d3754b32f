//! Where the columns of a table come from: a frame, or Parquet files of which one column at a time lies in memory.

use super::TableError;
use super::files::{damaged_or, unreadable};
use super::sequences::find;
use crate::metadata::nearest_name;
use polars::prelude::{Column, DataFrame, DataType, ParquetReader, SerReader};
use std::borrow::Cow;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A table that is read column by column.
pub(crate) trait Source {
    fn rows(&self) -> usize;
    /// In the table's order.
    fn names(&self) -> Vec<&str>;
    /// # Errors
    /// [`TableError::ColumnNotInFrame`] for a name that is none of the columns'.
    fn column(&self, name: &str) -> Result<Cow<'_, Column>, TableError>;
}

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
}

/// Parquet files that together are one table, the rows of one file after those of another.
#[derive(Debug)]
pub(crate) struct ParquetFiles {
    /// At least one.
    paths: Vec<PathBuf>,
    /// Those of the first file; the others have the same columns, in any order.
    columns: Vec<(String, DataType)>,
    rows: usize,
}

impl ParquetFiles {
    /// A file, or all files of a folder whose names end in `.parquet`, in the order of their names.
    ///
    /// # Errors
    /// [`TableError::ReadFile`] for a file that cannot be read or is not Parquet, a folder without any, and a file whose
    /// columns are not those of the first.
    pub(crate) fn open(path: &Path) -> Result<ParquetFiles, TableError> {
        let paths = if path.is_dir() {
            files_of(path)?
        } else {
            vec![path.to_path_buf()]
        };
        let Some((first, others)) = paths.split_first() else {
            let cause = "the folder has no file whose name ends in .parquet";
            return Err(unreadable(path, cause.into()));
        };
        let (mut rows, columns) = header(first)?;
        for other in others {
            let (own_rows, own) = header(other)?;
            rows += own_rows;
            if let Some(difference) = difference(&columns, &own) {
                let cause = format!("{difference} in {}; write both alike", first.display());
                return Err(unreadable(other, cause.into()));
            }
        }
        Ok(ParquetFiles {
            rows,
            columns,
            paths,
        })
    }
}

impl Source for ParquetFiles {
    fn rows(&self) -> usize {
        self.rows
    }

    fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|(name, _)| name.as_str()).collect()
    }

    fn column(&self, name: &str) -> Result<Cow<'_, Column>, TableError> {
        if !self.columns.iter().any(|(own, _)| own == name) {
            return Err(TableError::ColumnNotInFrame {
                column: name.to_owned(),
                nearest: nearest_name(name, self.names().into_iter()),
            });
        }
        let mut whole: Option<Column> = None;
        for path in &self.paths {
            let file = File::open(path).map_err(|source| unreadable(path, source.into()))?;
            let wanted = Some(vec![name.to_owned()]);
            let frame = damaged_or(path, || {
                ParquetReader::new(file).with_columns(wanted).finish()
            })?;
            let own = find(&frame, name)?.clone();
            match &mut whole {
                None => whole = Some(own),
                Some(whole) => {
                    whole
                        .append(&own)
                        .map_err(|source| unreadable(path, source.into()))?;
                }
            }
        }
        whole
            .map(Cow::Owned)
            .ok_or(TableError::Empty { what: "rows" })
    }
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

/// Rows and columns of a file.
fn header(path: &Path) -> Result<(usize, Vec<(String, DataType)>), TableError> {
    let file = File::open(path).map_err(|source| unreadable(path, source.into()))?;
    damaged_or(path, || {
        let mut reader = ParquetReader::new(file);
        let rows = reader.num_rows()?;
        let empty = reader.with_slice(Some((0, 0))).finish()?;
        let columns = empty.columns().iter();
        let columns = columns.map(|column| (column.name().to_string(), column.dtype().clone()));
        Ok((rows, columns.collect()))
    })
}

/// What the columns of another file have that those of the first have not.
fn difference(first: &[(String, DataType)], other: &[(String, DataType)]) -> Option<String> {
    let of = |columns: &[(String, DataType)], name: &str| {
        let column = columns.iter().find(|(own, _)| own == name)?;
        Some(column.1.clone())
    };
    let missing = first
        .iter()
        .find(|(name, _)| of(other, name).is_none())
        .map(|(name, _)| format!("column `{name}` is not there, though it is"));
    missing.or_else(|| {
        other.iter().find_map(|(name, own)| match of(first, name) {
            None => Some(format!("column `{name}` is there, though it is not")),
            Some(dtype) if dtype != *own => {
                Some(format!("column `{name}` has dtype {own}, and {dtype}"))
            }
            Some(_) => None,
        })
    })
}
