//! Peak memory, each measurement in a process of its own:
//!
//! ```sh
//! cargo bench --bench memory
//! ```
//!
//! Fits 2,250,000 rows (50,000 sequences of 45 rows, 6 columns), of a frame and of a Parquet file, for one epoch, and
//! samples 1,000,000 and 10,000,000 rows into a Parquet file, which should take as much.
//! Peaks are the kernel's (`VmHWM`), of the whole process with libtorch's code, and known on Linux alone.

use parsynth::{
    Metadata, ParSynthesizer, ParSynthesizerBuilder, SampleOptions, SdType, read_parquet,
    write_parquet,
};
use polars::frame::DataFrame;
use polars::prelude::Column;
use rand::rngs::ChaCha12Rng;
use rand::{RngExt, SeedableRng};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const SEED: u64 = 7;
const LENGTH: usize = 45;
/// The measurement that a process of its own makes.
const MEASUREMENT: &str = "PARSYNTH_MEASUREMENT";

fn main() -> Result<(), Box<dyn Error>> {
    let is_test = std::env::args().any(|argument| argument == "--test");
    let scale = if is_test { 1_000 } else { 1 };
    let sequences = 50_000 / scale;
    if let Ok(measurement) = std::env::var(MEASUREMENT) {
        let path = PathBuf::from(std::env::args_os().nth(1).ok_or("a path is wanted")?);
        return match measurement.parse() {
            Ok(rows) => measure_sampling(rows, &path),
            Err(_) => measure_fit(&measurement, &path),
        };
    }
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("table.parquet");
    write_parquet(&table(sequences)?, &path)?;
    let rows = sequences * LENGTH;
    println!("{rows} rows of {sequences} sequences, 6 columns, one epoch");
    let sampled = [1_000_000, 10_000_000].map(|rows| (rows / scale).to_string());
    let fits = ["fit a frame", "fit a Parquet file"].map(str::to_owned);
    for measurement in fits.into_iter().chain(sampled) {
        let mut arguments = vec![path.clone().into_os_string()];
        if is_test {
            arguments.push("--test".into());
        }
        let status = Command::new(std::env::current_exe()?)
            .args(arguments)
            .env(MEASUREMENT, &measurement)
            .status()?;
        if !status.success() {
            return Err(format!("{measurement}: {status}").into());
        }
    }
    Ok(())
}

fn measure_fit(measurement: &str, path: &Path) -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let before = peak_mb();
    let (synthesizer, estimate) = match measurement {
        "fit a frame" => {
            let frame = read_parquet(path)?;
            let estimate = builder()?.estimate(&frame)?;
            (builder()?.fit(&frame)?, estimate)
        }
        _ => {
            let estimate = builder()?.estimate_parquet(path)?;
            (builder()?.fit_parquet(path)?, estimate)
        }
    };
    assert_eq!(synthesizer.report().epochs, 1);
    println!(
        "{measurement:<20} peak {} (at the start {}), estimated beside it {} MB, {:.0} s",
        peak_mb(),
        before,
        estimate.memory_bytes / 1_000_000,
        started.elapsed().as_secs_f64()
    );
    Ok(())
}

fn measure_sampling(rows: usize, path: &Path) -> Result<(), Box<dyn Error>> {
    let synthesizer = builder()?.fit(&table(200)?)?;
    let before = peak_mb();
    let options = SampleOptions::rows(rows).seed(SEED);
    let report = synthesizer.sample_to_parquet(path.with_extension("sampled"), &options)?;
    assert!(report.rows >= rows);
    println!(
        "sample {:>10} rows  peak {} (at the start {before})",
        report.rows,
        peak_mb()
    );
    Ok(())
}

fn builder() -> Result<ParSynthesizerBuilder, Box<dyn Error>> {
    let metadata = Metadata::builder()
        .column("store", SdType::Id { regex_format: None })
        .column("day", SdType::Numerical)
        .column("region", SdType::Categorical)
        .column("sales", SdType::Numerical)
        .column("heat", SdType::Numerical)
        .column("state", SdType::Categorical)
        .sequence_key("store")
        .sequence_index("day")
        .build()?;
    let builder = ParSynthesizer::builder(metadata).context_columns(["region"]);
    Ok(builder.seed(SEED).epochs(1))
}

fn table(sequences: usize) -> Result<DataFrame, Box<dyn Error>> {
    let mut generator = ChaCha12Rng::seed_from_u64(SEED);
    let rows = sequences * LENGTH;
    let level: Vec<f64> = (0..sequences)
        .map(|_| generator.random_range(20.0..80.0))
        .collect();
    let sequence = |row: usize| row / LENGTH;
    let stores: Vec<String> = (0..rows)
        .map(|row| format!("store-{:06}", sequence(row)))
        .collect();
    let days: Vec<i64> = (0..rows).map(|row| (row % LENGTH) as i64).collect();
    let regions: Vec<&str> = (0..rows)
        .map(|row| ["north", "south"][sequence(row) % 2])
        .collect();
    let mut cents = |spread: f64| -> Vec<f64> {
        let value = |row: usize| level[sequence(row)] + generator.random_range(-spread..spread);
        (0..rows)
            .map(value)
            .map(|value| (value * 100.0).round() / 100.0)
            .collect()
    };
    let (sales, heat) = (cents(20.0), cents(3.0));
    let states: Vec<&str> = (0..rows)
        .map(|_| ["open", "full", "shut"][generator.random_range(0..3)])
        .collect();
    Ok(DataFrame::new_infer_height(vec![
        Column::new("store".into(), stores),
        Column::new("day".into(), days),
        Column::new("region".into(), regions),
        Column::new("sales".into(), sales),
        Column::new("heat".into(), heat),
        Column::new("state".into(), states),
    ])?)
}

/// The most memory that this process ever held.
fn peak_mb() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.map_or("unknown".to_owned(), |kib| {
        format!("{} MB", kib * 1024 / 1_000_000)
    })
}
