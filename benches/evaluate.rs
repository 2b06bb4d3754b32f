//! A whole evaluation of tables of ten columns, at two sizes: a hundred thousand rows each of real and synthetic, and
//! a million. Held-out sequences, a tenth as many, come on top. The time per row must not grow with the rows.

use criterion::{Criterion, SamplingMode, Throughput};
use parsynth::{EvaluationOptions, Metadata, SdType, evaluate_with};
use polars::prelude::*;
use rand::rngs::ChaCha12Rng;
use rand::{RngExt, SeedableRng};
use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

const SIZES: [usize; 2] = [100_000, 1_000_000];
const SEED: u64 = 7;
/// Rows of a sequence, at most; the mean is half of it.
const LONGEST: usize = 80;

fn main() -> Result<(), Box<dyn Error>> {
    let metadata = metadata()?;
    let options = EvaluationOptions::new()
        .context_columns(["region"])
        .seed(SEED);
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("evaluate");
    group.sampling_mode(SamplingMode::Flat);
    group.sample_size(10);
    group.warm_up_time(Duration::from_millis(1));
    for rows in SIZES {
        let real = table(rows, 1)?;
        let synthetic = table(rows, 2)?;
        let holdout = table(rows / 10, 3)?;
        group.throughput(Throughput::Elements(rows as u64));
        group.bench_function(format!("{rows} rows"), |bencher| {
            bencher.iter(|| {
                let report = evaluate_with(
                    black_box(&real),
                    black_box(&synthetic),
                    Some(&holdout),
                    &metadata,
                    &options,
                );
                report.expect("the tables fit the metadata")
            });
        });
    }
    group.finish();
    criterion.final_summary();
    Ok(())
}

fn metadata() -> Result<Metadata, Box<dyn Error>> {
    let mut builder = Metadata::builder()
        .column("key", SdType::Id { regex_format: None })
        .column("time", SdType::Datetime { format: None })
        .column("region", SdType::Categorical)
        .column("state", SdType::Categorical)
        .column("alarm", SdType::Boolean)
        .sequence_key("key")
        .sequence_index("time");
    for name in NUMBERS {
        builder = builder.column(name, SdType::Numerical);
    }
    Ok(builder.build()?)
}

const NUMBERS: [&str; 5] = ["load", "heat", "count", "price", "level"];
const REGIONS: [&str; 4] = ["north", "east", "south", "west"];
const STATES: [&str; 12] = [
    "off", "idle", "warm", "run", "peak", "cool", "wash", "test", "hold", "fail", "mend", "new",
];

/// Random walks and Markov chains with an hour or two between rows and some cells missing.
fn table(rows: usize, seed: u64) -> PolarsResult<DataFrame> {
    let mut generator = ChaCha12Rng::seed_from_u64(seed);
    let (mut keys, mut times, mut regions, mut states, mut alarms) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut numbers: [Vec<Option<f64>>; 5] = Default::default();
    let mut key = 0_i64;
    while keys.len() < rows {
        let length = generator.random_range(1..LONGEST).min(rows - keys.len());
        let region = REGIONS[generator.random_range(0..REGIONS.len())];
        let mut time = generator.random_range(0..1_000_000_i64) * 3_600_000;
        let mut state = generator.random_range(0..STATES.len());
        let mut levels = [0.0; 5];
        for _ in 0..length {
            keys.push(key);
            times.push(time);
            regions.push(region);
            states.push(STATES[state]);
            alarms.push(generator.random_bool(0.1));
            for (level, column) in levels.iter_mut().zip(&mut numbers) {
                *level += generator.random_range(-1.0..1.0_f64);
                column.push((!generator.random_bool(0.02)).then_some((*level * 1e3).round() / 1e3));
            }
            time += 3_600_000 * generator.random_range(1..3);
            state = (state + usize::from(generator.random_bool(0.3))) % STATES.len();
        }
        key += 1;
    }
    let mut frame = df!(
        "key" => keys, "time" => times, "region" => regions, "state" => states, "alarm" => alarms
    )?;
    let time = frame
        .column("time")?
        .cast(&DataType::Datetime(TimeUnit::Milliseconds, None))?;
    frame.with_column(time)?;
    for (name, numbers) in NUMBERS.iter().zip(numbers) {
        frame.with_column(Column::new((*name).into(), numbers))?;
    }
    Ok(frame)
}
