//! Rows sampled per second, at two sizes, by a model and by the same model saved and loaded. The last line is the
//! ratio of the two: it is 1 when loading leaves the weights in one buffer, in the order that the LSTM wants.

#[path = "shared/tables.rs"]
mod tables;

use criterion::{Criterion, Throughput};
use parsynth::{ParSynthesizer, SampleOptions};
use polars::frame::DataFrame;
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};
use tables::{SEED, TABLES, Table};

const SIZES: [usize; 2] = [300, 5_000];
/// Rounds behind the ratio; a test needs one.
const ROUNDS: usize = 31;

fn main() -> Result<(), Box<dyn Error>> {
    let fresh = {
        let (name, context) = TABLES[1];
        let table = Table::read(name, context)?;
        table.builder().epochs(10).fit(&table.frame)?
    };
    let loaded = {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("model.parsynth");
        fresh.save(&path)?;
        ParSynthesizer::load(&path)?
    };

    let mut criterion = Criterion::default().configure_from_args();
    for sequences in SIZES {
        let frame = sample(&fresh, sequences);
        assert!(frame.equals_missing(&sample(&loaded, sequences)));
        let mut group = criterion.benchmark_group(format!("{sequences} sequences"));
        group.throughput(Throughput::Elements(frame.height() as u64));
        group.sample_size(20);
        for (name, synthesizer) in [("fresh", &fresh), ("loaded", &loaded)] {
            group.bench_function(name, |bencher| {
                bencher.iter(|| {
                    let rows = sample(black_box(synthesizer), sequences);
                    assert_eq!(rows.height(), frame.height());
                    rows
                });
            });
        }
        group.finish();
    }
    criterion.final_summary();

    let is_test = std::env::args().any(|argument| argument == "--test");
    let rounds = if is_test { 1 } else { ROUNDS };
    println!(
        "loaded / fresh: {:.3} of the rows per second, median of {rounds} rounds in turn",
        1.0 / ratio_of_times(&fresh, &loaded, rounds)
    );
    Ok(())
}

fn sample(synthesizer: &ParSynthesizer, sequences: usize) -> DataFrame {
    let options = SampleOptions::sequences(sequences).seed(SEED).threads(1);
    synthesizer
        .sample_with(&options)
        .expect("the options are in range")
}

/// Median of the loaded model's time over the fresh one's. Each round runs both, and they take turns at going first, so
/// that whatever else the machine does falls on both.
fn ratio_of_times(fresh: &ParSynthesizer, loaded: &ParSynthesizer, rounds: usize) -> f64 {
    let time = |synthesizer: &ParSynthesizer| -> Duration {
        let started = Instant::now();
        black_box(sample(black_box(synthesizer), SIZES[0]));
        started.elapsed()
    };
    let mut ratios: Vec<f64> = (0..rounds)
        .map(|round| {
            let (of_fresh, of_loaded) = if round % 2 == 0 {
                let first = time(fresh);
                (first, time(loaded))
            } else {
                let first = time(loaded);
                (time(fresh), first)
            };
            of_loaded.as_secs_f64() / of_fresh.as_secs_f64()
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    ratios[rounds / 2]
}
