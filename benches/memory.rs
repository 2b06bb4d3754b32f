//! Peak memory, each measurement in a process of its own:
//!
//! ```sh
//! cargo bench --bench memory
//! ```
//!
//! Fits 2,250,000 rows (50,000 sequences of 45 rows, 6 columns) of a frame and of a Parquet file, and 22,500,000 rows of
//! ten files, with the columns in memory and with the columns in files that are mapped; samples 1,000,000 and 10,000,000
//! rows into a Parquet file, which should take as much. Each network trains for one epoch or ten seconds.
//!
//! Told are the most memory that no file backs (`RssAnon`, looked at every few milliseconds), which the system cannot
//! take back, and the most in all (`VmHWM`), with libtorch's code and what was mapped while there was room for it.
//! Both are of the whole process, and known on Linux alone.

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
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const SEED: u64 = 7;
const LENGTH: usize = 45;
const FILES: usize = 10;
const TRAINING_TIME: Duration = Duration::from_secs(10);
/// What is fitted, in which file or folder, and up to how many bytes of columns are kept in memory.
const FITS: [(&str, &str, Option<u64>); 4] = [
    ("a frame", FILE, None),
    ("a Parquet file", FILE, None),
    ("ten files, in memory", FOLDER, Some(u64::MAX)),
    ("ten files, mapped", FOLDER, Some(0)),
];
const FILE: &str = "table.parquet";
const FOLDER: &str = "parts";
/// The measurement that a process of its own makes.
const MEASUREMENT: &str = "PARSYNTH_MEASUREMENT";

fn main() -> Result<(), Box<dyn Error>> {
    let is_test = std::env::args().any(|argument| argument == "--test");
    let scale = if is_test { 1_000 } else { 1 };
    let sequences = 50_000 / scale;
    if let Ok(measurement) = std::env::var(MEASUREMENT) {
        let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("a path is wanted")?);
        return match measurement.parse() {
            Ok(rows) => measure_sampling(rows, &folder),
            Err(_) => measure_fit(&measurement, &folder),
        };
    }
    let folder = tempfile::tempdir()?;
    write_parquet(&table(sequences, 0)?, folder.path().join(FILE))?;
    std::fs::create_dir(folder.path().join(FOLDER))?;
    for number in 0..FILES {
        let file = folder.path().join(FOLDER).join(format!("{number}.parquet"));
        write_parquet(&table(sequences, number * sequences)?, file)?;
    }
    let rows = sequences * LENGTH;
    println!("{rows} rows of {sequences} sequences a file, 6 columns");
    let sampled = [1_000_000, 10_000_000].map(|rows| (rows / scale).to_string());
    let fits = FITS.map(|(what, ..)| what.to_owned());
    for measurement in fits.into_iter().chain(sampled) {
        let mut arguments = vec![folder.path().as_os_str().to_owned()];
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

fn measure_fit(measurement: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    let fits = FITS.iter().find(|(what, ..)| *what == measurement);
    let (what, file, most_bytes) = fits.ok_or("no such measurement")?;
    let path = folder.join(file);
    let builder = || -> Result<ParSynthesizerBuilder, Box<dyn Error>> {
        let builder = builder()?.max_training_time(TRAINING_TIME);
        Ok(match most_bytes {
            // Beside the table, so on the same disk.
            Some(bytes) => builder.max_table_memory(*bytes).temporary_directory(folder),
            None => builder,
        })
    };
    let before = status("VmHWM:");
    let (started, watch) = (Instant::now(), Watch::start());
    let frame = match *what {
        "a frame" => Some(read_parquet(&path)?),
        _ => None,
    };
    let synthesizer = match &frame {
        Some(frame) => builder()?.fit(frame)?,
        None => builder()?.fit_parquet(&path)?,
    };
    assert!(synthesizer.report().epochs <= 1);
    let (seconds, anonymous, peak) = (started.elapsed(), watch.stop(), status("VmHWM:"));
    let estimate = match &frame {
        Some(frame) => builder()?.estimate(frame)?,
        None => builder()?.estimate_parquet(&path)?,
    };
    println!(
        "fit {what:<22} {:>5.0} MB that no file backs, {:>5.0} MB in all ({:.0} MB at the start), {:.0} s; estimated {} MB and {} MB mapped",
        megabytes(anonymous),
        megabytes(peak),
        megabytes(before),
        seconds.as_secs_f64(),
        estimate.memory_bytes / 1_000_000,
        estimate.mapped_bytes / 1_000_000,
    );
    Ok(())
}

fn measure_sampling(rows: usize, folder: &Path) -> Result<(), Box<dyn Error>> {
    let synthesizer = builder()?.fit(&table(200, 0)?)?;
    let before = status("VmHWM:");
    let options = SampleOptions::rows(rows).seed(SEED);
    let report = synthesizer.sample_to_parquet(folder.join("sampled.parquet"), &options)?;
    assert!(report.rows >= rows);
    println!(
        "sample {:>8} rows {:>20.0} MB in all ({:.0} MB at the start)",
        report.rows,
        megabytes(status("VmHWM:")),
        megabytes(before)
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

/// So many sequences, whose keys are numbered from one on.
fn table(sequences: usize, first: usize) -> Result<DataFrame, Box<dyn Error>> {
    let mut generator = ChaCha12Rng::seed_from_u64(SEED + first as u64);
    let rows = sequences * LENGTH;
    let level: Vec<f64> = (0..sequences)
        .map(|_| generator.random_range(20.0..80.0))
        .collect();
    let sequence = |row: usize| row / LENGTH;
    let stores: Vec<String> = (0..rows)
        .map(|row| format!("store-{:06}", first + sequence(row)))
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

/// Looks at the memory that no file backs, from a thread of its own.
struct Watch {
    is_done: Arc<AtomicBool>,
    most: JoinHandle<Option<u64>>,
}

impl Watch {
    fn start() -> Watch {
        let is_done = Arc::new(AtomicBool::new(false));
        let done = is_done.clone();
        let most = std::thread::spawn(move || {
            let mut most = None;
            while !done.load(Ordering::Relaxed) {
                most = status("RssAnon:").max(most);
                std::thread::sleep(Duration::from_millis(5));
            }
            most
        });
        Watch { is_done, most }
    }

    fn stop(self) -> Option<u64> {
        self.is_done.store(true, Ordering::Relaxed);
        self.most.join().ok().flatten()
    }
}

/// Bytes that the kernel states of this process; none but on Linux.
fn status(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

fn megabytes(bytes: Option<u64>) -> f64 {
    bytes.map_or(f64::NAN, |bytes| bytes as f64 / 1e6)
}
