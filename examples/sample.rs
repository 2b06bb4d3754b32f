//! Samples from a model that the example `synthesize` saved:
//!
//! ```sh
//! cargo run --release --example sample -- --model stores.parsynth --output more.csv --num-sequences 1000
//! ```
//!
//! The table may be larger than memory: it is written as it is made, and `--sequences` makes a part of it. One JSON line
//! on stdout says how it went; progress and errors go to stderr.

#[path = "shared/command.rs"]
#[allow(dead_code, reason = "other examples write whole tables")]
mod command;
#[path = "shared/memory.rs"]
mod memory;
#[path = "shared/sample_bar.rs"]
mod sample_bar;

use clap::{ArgGroup, Parser};
use parsynth::{Metadata, ParSynthesizer, SampleOptions, SampleReport, SdType};
use polars::frame::DataFrame;
use polars::io::SerReader;
use polars::prelude::CsvReadOptions;
use sample_bar::SampleBar;
use std::error::Error;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Sequences that are made of context rows before they are written.
const SEQUENCES_PER_PART: usize = 8_192;

/// Samples new sequences from a saved model.
#[derive(Parser)]
#[command(group = ArgGroup::new("how much").required(true))]
struct Arguments {
    /// A file that ParSynthesizer::save wrote
    #[arg(long)]
    model: PathBuf,
    /// The synthetic table, .csv or .parquet
    #[arg(long)]
    output: PathBuf,
    /// Sequences to make
    #[arg(long, group = "how much")]
    num_sequences: Option<usize>,
    /// Rows to make, in whole sequences: at least this many
    #[arg(long, group = "how much")]
    rows: Option<usize>,
    /// A table, .csv or .parquet, of context columns and perhaps the key: one sequence is made for each row
    #[arg(long, group = "how much", value_name = "TABLE")]
    context: Option<PathBuf>,
    /// Only these sequences of the table that the seed makes, such as 1000..2000; the second number is not among them
    #[arg(long, requires = "seed", value_name = "RANGE", value_parser = range)]
    sequences: Option<Range<usize>>,
    /// Rows of every sequence [default: drawn from the model]
    #[arg(long)]
    sequence_length: Option<NonZeroUsize>,
    /// Makes the result repeatable
    #[arg(long)]
    seed: Option<u64>,
    /// Below 1 keeps to what is likely, above 1 strays from it [default: 1]
    #[arg(long)]
    temperature: Option<f64>,
}

fn main() -> ExitCode {
    command::finish(sample(&Arguments::parse()))
}

fn sample(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    command::Format::of(&arguments.output)?;
    command::check_folder(&arguments.output)?;
    let synthesizer = ParSynthesizer::load(&arguments.model)?;

    let bar = SampleBar::new();
    let mut options = match (arguments.num_sequences, arguments.rows) {
        (Some(sequences), _) => SampleOptions::sequences(sequences),
        (None, Some(rows)) => SampleOptions::rows(rows),
        (None, None) => SampleOptions::per_context_row(),
    }
    .on_progress(bar.callback());
    if let Some(length) = arguments.sequence_length {
        options = options.length(length.get());
    }
    if let Some(seed) = arguments.seed {
        options = options.seed(seed);
    }
    if let Some(temperature) = arguments.temperature {
        options = options.temperature(temperature);
    }
    if let Some(range) = &arguments.sequences {
        options = options.sequence_range(range.clone());
    }
    let written = write(&synthesizer, arguments, &options);
    bar.clear();
    let report = written?;
    let line = serde_json::json!({
        "sample_s": report.elapsed.as_secs_f64(),
        "rows": report.rows,
        "sequences": report.sequences,
        "rows_per_s": report.rows_per_second(),
        "peak_rss_mb": memory::peak_rss_mib(),
    });
    println!("{line}");
    Ok(())
}

/// Samples into the file, part by part.
fn write(
    synthesizer: &ParSynthesizer,
    arguments: &Arguments,
    options: &SampleOptions,
) -> Result<SampleReport, Box<dyn Error>> {
    let (path, format) = (&arguments.output, command::Format::of(&arguments.output)?);
    let Some(context) = &arguments.context else {
        return Ok(match format {
            command::Format::Csv => synthesizer.sample_to_csv(path, options)?,
            command::Format::Parquet => synthesizer.sample_to_parquet(path, options)?,
        });
    };
    let context = read_context(context, synthesizer.metadata())?;
    let size = SEQUENCES_PER_PART;
    let parts = synthesizer.sample_sequential_columns_in_parts(&context, options, size)?;
    Ok(match format {
        command::Format::Csv => parts.write_csv(path)?,
        command::Format::Parquet => parts.write_parquet(path)?,
    })
}

/// Two numbers with two dots between.
fn range(text: &str) -> Result<Range<usize>, String> {
    let number = |text: &str| text.trim().parse().ok();
    text.split_once("..")
        .and_then(|(start, end)| Some(number(start)?..number(end)?))
        .ok_or_else(|| format!("`{text}` is no range such as 1000..2000"))
}

/// Reads a table of some of the model's columns.
fn read_context(path: &Path, metadata: &Metadata) -> Result<DataFrame, Box<dyn Error>> {
    if command::Format::of(path)? == command::Format::Parquet {
        return command::read(path, metadata);
    }
    // The reader wants every column that the metadata states, so it is given a statement of this file's columns alone.
    let header = CsvReadOptions::default()
        .with_n_rows(Some(0))
        .try_into_reader_with_file_path(Some(path.to_path_buf()))
        .and_then(SerReader::finish)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let mut part = Metadata::builder();
    for name in header.get_column_names() {
        // A column the model does not know is left to the sampler, whose error lists those that may be given.
        let sdtype = metadata
            .sdtype(name)
            .cloned()
            .unwrap_or(SdType::Categorical);
        part = part.column(name.as_str(), sdtype);
    }
    let key = metadata.sequence_key();
    let is_here = |column: &String| header.column(column).is_ok();
    if key.iter().all(is_here) {
        part = part.sequence_key_columns(key);
    }
    command::read(path, &part.build()?)
}
