//! From a frame to model input, at two sizes.
//! Encoding is private, so this times a fit of no epochs: reading the frame, fitting the codecs, encoding, and the
//! untrained networks' weights, which hardly count.

#[path = "shared/tables.rs"]
mod tables;

use criterion::{Criterion, Throughput};
use std::error::Error;
use std::hint::black_box;
use tables::{TABLES, Table};

fn main() -> Result<(), Box<dyn Error>> {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("encode");
    for (name, context) in TABLES {
        let table = Table::read(name, context)?;
        group.throughput(Throughput::Elements(table.frame.height() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let builder = table.builder().epochs(0);
                let synthesizer = builder
                    .fit(black_box(&table.frame))
                    .expect("the table fits");
                assert_eq!(synthesizer.report().rows, table.frame.height());
                synthesizer
            });
        });
    }
    group.finish();
    criterion.final_summary();
    Ok(())
}
