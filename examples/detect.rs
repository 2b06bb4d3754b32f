//! Says what a table seems to be, and writes the metadata that says so:
//!
//! ```sh
//! cargo run --release --example detect -- --data data/stores.csv --output stores.metadata.json
//! ```

#[path = "shared/command.rs"]
#[allow(dead_code, reason = "other examples use the rest")]
mod command;

use clap::Parser;
use parsynth::{Metadata, SdType, SubsetOptions, read_csv, read_parquet};
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Detects the metadata of a table.
#[derive(Parser)]
struct Arguments {
    /// The table, .csv or .parquet
    #[arg(long, default_value = "data/stores.csv")]
    data: PathBuf,
    /// Where to write the metadata [default: nowhere]
    #[arg(long)]
    output: Option<PathBuf>,
}

fn main() -> ExitCode {
    command::finish(detect(&Arguments::parse()))
}

fn detect(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let path = &arguments.data;
    let (detected, table) = match command::Format::of(path)? {
        command::Format::Csv => {
            let detected = Metadata::detect_from_csv(path)?;
            let table = read_csv(path, &detected.metadata)?;
            (detected, table)
        }
        command::Format::Parquet => {
            let table = read_parquet(path)?;
            (Metadata::detect_from_dataframe(&table)?, table)
        }
    };
    println!("{detected}");
    detected.metadata.validate_data(&table)?;
    if let Some(output) = &arguments.output {
        detected.metadata.to_json_file(output)?;
    }
    if path.ends_with("data/stores.csv") {
        assert_eq!(detected.metadata.sequence_key(), ["store_id"]);
        assert_eq!(detected.context_columns, ["region"]);

        // A guess is a start: what is to be otherwise is changed, and the change can be seen.
        let metadata = detected
            .metadata
            .update_column("day_of_week", SdType::Numerical)?;
        let change = detected.metadata.diff(&metadata);
        println!("Changed by hand, the guess and then what it is now: {change}");
        assert_eq!(change.differences().len(), 1);

        // A small part to try things on: 20 whole stores, three days of each.
        let part = metadata.subset(&table, &SubsetOptions::sequences(20).max_length(3).seed(7))?;
        assert_eq!(part.height(), 20 * 3);
    }
    Ok(())
}
