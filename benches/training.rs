//! One epoch of the sequence network on one thread, validation included, at two sizes. The time is the one that the
//! fit reports, so reading, codecs and encoding do not count.

#[path = "shared/tables.rs"]
mod tables;

use criterion::{Criterion, Throughput};
use parsynth::Stage;
use std::error::Error;
use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tables::{TABLES, Table};

fn main() -> Result<(), Box<dyn Error>> {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("epoch");
    group.sample_size(10);
    for (name, context) in TABLES {
        let table = Table::read(name, context)?;
        group.throughput(Throughput::Elements(table.frame.height() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|epochs| (0..epochs).map(|_| one_epoch(&table)).sum());
        });
    }
    group.finish();
    criterion.final_summary();
    Ok(())
}

fn one_epoch(table: &Table) -> Duration {
    let elapsed = Arc::new(Mutex::new(Duration::ZERO));
    let told = Arc::clone(&elapsed);
    let builder = table.builder().epochs(1).on_progress(move |progress| {
        if progress.stage == Stage::Sequence {
            *told.lock().expect("nobody panics with it") = progress.elapsed;
        }
    });
    let synthesizer = builder
        .fit(black_box(&table.frame))
        .expect("the table fits");
    assert_eq!(synthesizer.report().epochs, 1);
    let elapsed = *elapsed.lock().expect("nobody panics with it");
    assert!(elapsed > Duration::ZERO);
    elapsed
}
