//! Is a synthetic table good, and safe? Compares two files, and a third with sequences that the generator never saw:
//!
//! ```sh
//! cargo run --release --example evaluate -- --real data/stores.csv --synthetic /tmp/stores.csv \
//!     --metadata data/stores.metadata.json --context region --report /tmp/report.html --json /tmp/report.json
//! ```
//!
//! The report's table goes to stdout, errors to stderr.

#[path = "shared/command.rs"]
#[allow(dead_code, reason = "the examples that write tables use the rest")]
mod command;

use clap::Parser;
use parsynth::{EvaluationOptions, Metadata, evaluate_with};
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Compares a synthetic table of sequences with the real one.
#[derive(Parser)]
struct Arguments {
    /// The real table, which the generator learned from, .csv or .parquet
    #[arg(long)]
    real: PathBuf,
    /// The synthetic table, .csv or .parquet
    #[arg(long)]
    synthetic: PathBuf,
    /// What their columns are: SDV's metadata JSON
    #[arg(long)]
    metadata: PathBuf,
    /// Columns that are constant within a sequence, with commas between
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    context: Vec<String>,
    /// Real sequences that the generator never saw, .csv or .parquet
    #[arg(long)]
    holdout: Option<PathBuf>,
    /// Writes the report with its pictures as one HTML file
    #[arg(long, value_name = "HTML")]
    report: Option<PathBuf>,
    /// Writes all numbers of the report
    #[arg(long, value_name = "JSON")]
    json: Option<PathBuf>,
    /// Makes the report repeatable
    #[arg(long)]
    seed: Option<u64>,
}

fn main() -> ExitCode {
    command::finish(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    for path in [&arguments.report, &arguments.json].into_iter().flatten() {
        command::check_folder(path)?;
    }
    let metadata = Metadata::from_json_file(&arguments.metadata)?;
    let real = command::read(&arguments.real, &metadata)?;
    let synthetic = command::read(&arguments.synthetic, &metadata)?;
    let holdout = arguments
        .holdout
        .as_ref()
        .map(|path| command::read(path, &metadata))
        .transpose()?;

    let mut options = EvaluationOptions::new().context_columns(&arguments.context);
    if let Some(seed) = arguments.seed {
        options = options.seed(seed);
    }
    let report = evaluate_with(&real, &synthetic, holdout.as_ref(), &metadata, &options)?;
    println!("{report}");
    if let Some(path) = &arguments.report {
        report.write_html(path)?;
    }
    if let Some(path) = &arguments.json {
        report.write_json(path)?;
    }
    Ok(())
}
