//! Fits a table and writes a synthetic one:
//!
//! ```sh
//! cargo run --release --example synthesize -- --data data/stores.csv --metadata data/stores.metadata.json \
//!     --context region --output /tmp/stores.csv --seed 7
//! ```
//!
//! One JSON line on stdout says how it went; progress and errors go to stderr.

#[path = "shared/command.rs"]
mod command;
#[path = "shared/fit_bars.rs"]
mod fit_bars;
#[path = "shared/memory.rs"]
mod memory;
#[path = "shared/sample_bar.rs"]
mod sample_bar;

use clap::Parser;
use fit_bars::FitBars;
use memory::peak_rss_mib;
use parsynth::{Metadata, ParSynthesizer, SampleOptions};
use sample_bar::SampleBar;
use std::error::Error;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Learns from a table of sequences and writes a synthetic one.
#[derive(Parser)]
struct Arguments {
    /// The table to learn from, .csv, .parquet, or a folder of .parquet files
    #[arg(long)]
    data: PathBuf,
    /// What its columns are: SDV's metadata JSON
    #[arg(long)]
    metadata: PathBuf,
    /// Columns that are constant within a sequence, with commas between
    #[arg(long, value_delimiter = ',', value_name = "COLUMNS")]
    context: Vec<String>,
    /// The synthetic table, .csv or .parquet
    #[arg(long)]
    output: PathBuf,
    /// Sequences to make [default: as many as the data has]
    #[arg(long)]
    num_sequences: Option<usize>,
    /// Rows of every sequence [default: drawn from the model]
    #[arg(long)]
    sequence_length: Option<NonZeroUsize>,
    /// Makes the run repeatable
    #[arg(long)]
    seed: Option<u64>,
    /// At most this many passes over the data [default: see ParSynthesizerBuilder::epochs]
    #[arg(long)]
    epochs: Option<usize>,
    /// Keeps the model in this file, for the example `sample`
    #[arg(long, value_name = "MODEL")]
    save: Option<PathBuf>,
}

fn main() -> ExitCode {
    command::finish(synthesize(&Arguments::parse()))
}

fn synthesize(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    command::Format::of(&arguments.output)?;
    for path in [Some(&arguments.output), arguments.save.as_ref()]
        .into_iter()
        .flatten()
    {
        command::check_folder(path)?;
    }
    let metadata = Metadata::from_json_file(&arguments.metadata)?;
    let bars = FitBars::new();
    let mut builder = ParSynthesizer::builder(metadata.clone())
        .context_columns(&arguments.context)
        .on_progress(bars.callback());
    if let Some(seed) = arguments.seed {
        builder = builder.seed(seed);
    }
    if let Some(epochs) = arguments.epochs {
        builder = builder.epochs(epochs);
    }
    let synthesizer = if command::Format::of(&arguments.data)? == command::Format::Parquet {
        // Column by column, so that the table is never in memory as a frame.
        builder.fit_parquet(&arguments.data)
    } else {
        builder.fit(&command::read(&arguments.data, &metadata)?)
    };
    bars.clear();
    let synthesizer = synthesizer?;
    let report = synthesizer.report();
    for warning in &report.warnings {
        eprintln!("warning: {warning}");
    }
    // Before sampling, so that the time spent on fitting is not lost if that fails.
    if let Some(path) = &arguments.save {
        synthesizer.save(path)?;
    }

    let in_data = report.training_sequences + report.validation_sequences;
    let sequences = arguments.num_sequences.unwrap_or(in_data);
    let bar = SampleBar::new();
    let mut options = SampleOptions::sequences(sequences).on_progress(bar.callback());
    if let Some(seed) = arguments.seed {
        options = options.seed(seed);
    }
    if let Some(length) = arguments.sequence_length {
        options = options.length(length.get());
    }
    // Straight into the file, however many sequences were asked for.
    let written = match command::Format::of(&arguments.output)? {
        command::Format::Csv => synthesizer.sample_to_csv(&arguments.output, &options),
        command::Format::Parquet => synthesizer.sample_to_parquet(&arguments.output, &options),
    };
    bar.clear();
    let written = written?;

    let line = serde_json::json!({
        "fit_s": report.fit_secs,
        "sample_s": written.elapsed.as_secs_f64(),
        "rows": written.rows,
        "sequences": written.sequences,
        "epochs": report.epochs,
        "peak_rss_mb": peak_rss_mib(),
    });
    println!("{line}");
    Ok(())
}
