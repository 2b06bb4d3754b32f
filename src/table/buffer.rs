//! The cells of a column as one slice, in memory or in a file mapped into it, and where which are kept.
//! In: cells in their final order. Out: a [`Buffer`] that derefs to them. What is kept in a file is read as it is looked
//! at, and given back as the system needs its memory; the file has no name, so nothing is left of it when the last buffer
//! goes, nor when the process is killed.

use std::fs::File;
use std::io::Write;
use std::marker::PhantomData;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::Pod;
use polars_utils::mmap::MMapSemaphore;

use super::{Schema, TableError};

/// Cells that are written at once.
const CELLS_AT_ONCE: usize = 1 << 17;

/// Cells that are never changed, cheap to clone.
#[derive(Debug, Clone)]
pub(crate) enum Buffer<T> {
    Held(Arc<Vec<T>>),
    Mapped {
        file: Arc<MMapSemaphore>,
        cells: PhantomData<T>,
    },
}

impl<T> Buffer<T> {
    pub(crate) fn is_mapped(&self) -> bool {
        matches!(self, Buffer::Mapped { .. })
    }
}

impl<T: Pod> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Buffer::Held(cells) => cells,
            // A map begins at a page, hence at a cell, and the file was written cell by cell.
            Buffer::Mapped { file, .. } => {
                bytemuck::try_cast_slice(file.as_ref().as_ref()).unwrap_or_default()
            }
        }
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(cells: Vec<T>) -> Self {
        Buffer::Held(Arc::new(cells))
    }
}

impl<T> FromIterator<T> for Buffer<T> {
    fn from_iter<I: IntoIterator<Item = T>>(cells: I) -> Self {
        Vec::from_iter(cells).into()
    }
}

/// Where the columns of a table are kept.
#[derive(Debug, Clone)]
pub(crate) enum Store {
    Memory,
    Files {
        /// An existing folder.
        folder: PathBuf,
        /// What all files together will take, for messages.
        bytes: u64,
    },
}

impl Store {
    /// Memory for a table of at most so many bytes, files in a folder for a larger one.
    pub(crate) fn for_table(
        rows: usize,
        schema: &Schema,
        most_bytes: u64,
        folder: PathBuf,
    ) -> Store {
        let bytes = schema.bytes_per_row().saturating_mul(rows as u64);
        if bytes <= most_bytes {
            return Store::Memory;
        }
        Store::Files { folder, bytes }
    }

    /// Keeps cells.
    /// # Errors
    /// [`TableError::TemporaryDirectory`] when a file cannot be made, written or mapped.
    pub(crate) fn keep<T: Pod>(
        &self,
        cells: impl Iterator<Item = T>,
    ) -> Result<Buffer<T>, TableError> {
        match self {
            Store::Memory => Ok(cells.collect()),
            Store::Files { folder, bytes } => {
                written(cells, folder).map_err(|source| TableError::TemporaryDirectory {
                    path: folder.clone(),
                    bytes: *bytes,
                    source,
                })
            }
        }
    }
}

fn written<T: Pod>(
    mut cells: impl Iterator<Item = T>,
    folder: &Path,
) -> Result<Buffer<T>, Box<dyn std::error::Error + Send + Sync>> {
    let mut file: File = tempfile::tempfile_in(folder)?;
    let mut some: Vec<T> = Vec::with_capacity(CELLS_AT_ONCE);
    loop {
        some.clear();
        some.extend(cells.by_ref().take(CELLS_AT_ONCE));
        if some.is_empty() {
            break;
        }
        file.write_all(bytemuck::cast_slice(&some))?;
    }
    Ok(Buffer::Mapped {
        file: Arc::new(MMapSemaphore::new_from_file(&file)?),
        cells: PhantomData,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_in_a_file_are_those_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let files = Store::Files {
            folder: folder.path().to_owned(),
            bytes: 0,
        };
        for rows in [0, 1, CELLS_AT_ONCE, 2 * CELLS_AT_ONCE + 3] {
            let numbers = || (0..rows).map(|row| row as f64 / 3.0);
            let codes = || (0..).take(rows).map(|row: u32| row.wrapping_mul(7_919));
            let mapped = files.keep(numbers()).unwrap();
            assert!(mapped.is_mapped());
            assert_eq!(*mapped, *Store::Memory.keep(numbers()).unwrap());
            assert_eq!(*files.keep(codes()).unwrap(), *Vec::from_iter(codes()));
            // The map outlives its file's only handle, and each clone.
            let clone = mapped.clone();
            drop(mapped);
            assert_eq!(clone.len(), rows);
        }
        assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
    }
}
