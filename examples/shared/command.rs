//! What the command line examples share: tables by their file's extension, and errors as one line.

use parsynth::{Metadata, read_csv, read_parquet};
use polars::frame::DataFrame;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

/// A kind of table file.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Format {
    Csv,
    Parquet,
}

impl Format {
    /// By extension, in any capitals; a folder is one of Parquet files.
    pub(crate) fn of(path: &Path) -> Result<Format, String> {
        if path.is_dir() {
            return Ok(Format::Parquet);
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("csv") => Ok(Format::Csv),
            Some("parquet") => Ok(Format::Parquet),
            _ => Err(format!(
                "{} is neither a .csv nor a .parquet file",
                path.display()
            )),
        }
    }
}

pub(crate) fn read(path: &Path, metadata: &Metadata) -> Result<DataFrame, Box<dyn Error>> {
    Ok(match Format::of(path)? {
        Format::Csv => read_csv(path, metadata)?,
        Format::Parquet => read_parquet(path)?,
    })
}

/// Refuses a file that could not be written in the end, before the work begins.
pub(crate) fn check_folder(path: &Path) -> Result<(), String> {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => Err(format!(
            "cannot write {}: there is no folder {}",
            path.display(),
            folder.display()
        )),
        _ => Ok(()),
    }
}

/// The exit code of a command; an error is told in one line, with all its causes.
pub(crate) fn finish(outcome: Result<(), Box<dyn Error>>) -> ExitCode {
    let Err(error) = outcome else {
        return ExitCode::SUCCESS;
    };
    let mut line = format!("error: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        line += &format!(": {error}");
        cause = error.source();
    }
    eprintln!("{}", line.split_whitespace().collect::<Vec<_>>().join(" "));
    ExitCode::FAILURE
}
