//! How near sampling comes to what the machine can do, as ratios measured side by side in one run:
//!
//! ```sh
//! cargo bench --bench limits
//! ```
//!
//! The *floor* is the time that the model's matrix products take, in f32, in their own shapes, one set on each thread,
//! with nothing in between: no codec, no random number, no frame.

use parsynth::{Metadata, ParSynthesizer, ParSynthesizerBuilder, SampleOptions, SdType, Stage};
use polars::frame::DataFrame;
use polars::prelude::Column;
use rand::rngs::ChaCha12Rng;
use rand::{RngExt, SeedableRng};
use std::error::Error;
use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tch::{Device, Kind, Tensor};

const SEED: u64 = 7;
/// Sequences that the engine has in work at once in a thread.
const CHUNK: usize = 512;
/// Rows of a training batch: 32 sequences of 60 rows.
const TRAINING_ROWS: usize = 32 * 60;
const TRAINING_EPOCHS: usize = 5;
/// Forward, and backward to inputs and to weights.
const PRODUCTS_OF_TRAINING: f64 = 3.0;
/// Every comparison is the median of this many rounds, the sides in turn.
const ROUNDS: usize = 3;

/// What one measurement is of.
struct Size {
    sequences: usize,
    length: usize,
    threads: usize,
}

impl Size {
    fn rows(&self) -> usize {
        self.sequences * self.length
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // As a test it shows that the bench runs, and measures nothing.
    let is_test = std::env::args().any(|argument| argument == "--test");
    let (scale, rounds) = if is_test { (100, 1) } else { (1, ROUNDS) };
    let threads = std::thread::available_parallelism()?.get();
    let (metadata, table) = table()?;
    // The work of a row does not depend on what was learned.
    let synthesizer = builder(&metadata).epochs(1).fit(&table)?;
    let loaded = {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("model.parsynth");
        synthesizer.save(&path)?;
        ParSynthesizer::load(&path)?
    };
    let size = |sequences: usize, length: usize, threads: usize| Size {
        sequences: (sequences / scale).max(1),
        length,
        threads,
    };
    let sampling = |size: Size, synthesizer| {
        move || -> f64 { size.rows() as f64 / time(|| sample(synthesizer, &size)).as_secs_f64() }
    };

    let whole = size(10_000, 100, threads);
    let rows = whole.rows();
    let products = synthesizer.products_of_a_step(CHUNK);
    let multiply_adds: i64 = products.iter().map(|p| p.iter().product::<i64>()).sum();
    println!(
        "{} sequences x {} rows x 10 columns, {threads} threads, {} multiply-adds a row",
        whole.sequences,
        whole.length,
        multiply_adds / i64::try_from(CHUNK)?
    );
    let steps = rows.div_ceil(CHUNK * threads);
    let floor = || rows as f64 / products_time(&products, steps, threads).as_secs_f64();
    let [sampled, of_floor] = compared(rounds, [&sampling(whole, &synthesizer), &floor]);
    println!("rows per second                          {sampled:>12.0}");
    println!("rows per second of the products alone    {of_floor:>12.0}");
    println!(
        "share of the floor                       {:>12.3}",
        sampled / of_floor
    );

    let epochs = if is_test { 1 } else { TRAINING_EPOCHS };
    let trained_rows = epochs * table.height();
    let trained = || trained_rows as f64 / training_time(&metadata, &table, epochs).as_secs_f64();
    let of_products = || {
        let products = synthesizer.products_of_a_step(TRAINING_ROWS);
        let steps = trained_rows.div_ceil(TRAINING_ROWS);
        let time = PRODUCTS_OF_TRAINING * products_time(&products, steps, 1).as_secs_f64();
        (steps * TRAINING_ROWS) as f64 / time
    };
    let [trained, of_products] = compared(rounds, [&trained, &of_products]);
    println!("training, one thread: rows per second    {trained:>12.0}");
    println!("three times the products alone           {of_products:>12.0}");
    println!(
        "share of the floor                       {:>12.3}",
        trained / of_products
    );

    let ratio = |name: &str, first: &dyn Fn() -> f64, second: &dyn Fn() -> f64| {
        let [first, second] = compared(rounds, [first, second]);
        println!("{name:<40} {:>12.3}", first / second);
    };
    ratio(
        "all threads / one thread",
        &sampling(size(10_000, 100, threads), &synthesizer),
        &sampling(size(10_000, 100, 1), &synthesizer),
    );
    ratio(
        "length 2,500 / length 250",
        &sampling(size(1_024, 2_500, threads), &synthesizer),
        &sampling(size(1_024, 250, threads), &synthesizer),
    );
    ratio(
        "40,960 sequences / 4,096 sequences",
        &sampling(size(40_960, 25, threads), &synthesizer),
        &sampling(size(4_096, 25, threads), &synthesizer),
    );
    ratio(
        "loaded / never saved",
        &sampling(size(10_000, 100, threads), &loaded),
        &sampling(size(10_000, 100, threads), &synthesizer),
    );
    Ok(())
}

/// Medians of what each side gives, one round after the other, the sides taking turns at going first.
fn compared(rounds: usize, sides: [&dyn Fn() -> f64; 2]) -> [f64; 2] {
    let mut found = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        for side in [round % 2, 1 - round % 2] {
            found[side].push(sides[side]());
        }
    }
    found.map(|mut values| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    })
}

fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let started = Instant::now();
    black_box(work());
    started.elapsed()
}

fn sample(synthesizer: &ParSynthesizer, size: &Size) -> DataFrame {
    let options = SampleOptions::sequences(size.sequences)
        .length(size.length)
        .seed(SEED)
        .threads(size.threads);
    let frame = synthesizer
        .sample_with(&options)
        .expect("the options are in range");
    assert_eq!(frame.height(), size.rows());
    frame
}

/// The time that the sequence network trains.
fn training_time(metadata: &Metadata, table: &DataFrame, epochs: usize) -> Duration {
    let elapsed = Arc::new(Mutex::new(Duration::ZERO));
    let told = Arc::clone(&elapsed);
    let fit = builder(metadata)
        .threads(1)
        .validation_share(0.0)
        .epochs(epochs)
        .on_progress(move |progress| {
            if progress.stage == Stage::Sequence {
                *told.lock().expect("nobody panics with it") = progress.elapsed;
            }
        })
        .fit(table);
    assert_eq!(fit.expect("the table fits").report().epochs, epochs);
    *elapsed.lock().expect("nobody panics with it")
}

/// The time that products take so many times on each of so many threads.
fn products_time(products: &[[i64; 4]], steps: usize, threads: usize) -> Duration {
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    tch::set_num_threads(1);
                    let most =
                        |of: fn(&[i64; 4]) -> i64| products.iter().map(of).max().unwrap_or(1);
                    let ones = |shape: &[i64]| Tensor::ones(shape, (Kind::Float, Device::Cpu));
                    // What is multiplied lies where the product before it lay, so that the cache has it.
                    let left = ones(&[most(|p| p[0]), most(|p| p[1]), most(|p| p[2])]);
                    let product = ones(&[most(|p| p[0] * p[1] * p[3])]);
                    let tensors: Vec<[Tensor; 3]> = products
                        .iter()
                        .map(|&[matrices, rows, inner, columns]| {
                            let left = left.narrow(0, 0, matrices).narrow(1, 0, rows);
                            let product = product.narrow(0, 0, matrices * rows * columns);
                            [
                                left.narrow(2, 0, inner),
                                ones(&[matrices, inner, columns]),
                                product.view([matrices, rows, columns]),
                            ]
                            .map(|tensor| {
                                if matrices == 1 {
                                    tensor.squeeze_dim(0)
                                } else {
                                    tensor
                                }
                            })
                        })
                        .collect();
                    time(|| {
                        for _ in 0..steps {
                            for [left, right, product] in &tensors {
                                let _ = match left.dim() {
                                    2 => left.mm_out(product, right),
                                    _ => left.bmm_out(product, right),
                                };
                            }
                        }
                    })
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().expect("products of ones"))
            .max()
            .unwrap_or_default()
    })
}

/// As large as asks for the large default network, of 10 columns: a key, an index, a context column, and seven that change
/// from row to row.
fn table() -> Result<(Metadata, DataFrame), Box<dyn Error>> {
    const SEQUENCES: usize = 128;
    const LENGTH: usize = 60;
    let mut generator = ChaCha12Rng::seed_from_u64(SEED);
    let names = ["price", "heat", "load", "flow", "speed"];
    let (mut keys, mut days, mut regions) = (Vec::new(), Vec::new(), Vec::new());
    let mut states = [Vec::new(), Vec::new()];
    let mut numbers: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
    for sequence in 0..SEQUENCES {
        let mut levels: Vec<f64> = names
            .iter()
            .map(|_| generator.random_range(20.0..80.0))
            .collect();
        for day in 0..LENGTH {
            keys.push(format!("machine-{sequence:03}"));
            days.push(i64::try_from(day)?);
            regions.push(["north", "south", "west"][sequence % 3]);
            for state in &mut states {
                state.push(["idle", "slow", "fast", "broken"][generator.random_range(0..4)]);
            }
            for (level, column) in levels.iter_mut().zip(&mut numbers) {
                *level += generator.random_range(-1.0..1.0);
                column.push((*level * 100.0).round() / 100.0);
            }
        }
    }
    let [state, mode] = states;
    let mut columns = vec![
        Column::new("machine".into(), keys),
        Column::new("day".into(), days),
        Column::new("region".into(), regions),
        Column::new("state".into(), state),
        Column::new("mode".into(), mode),
    ];
    let mut metadata = Metadata::builder()
        .column("machine", SdType::Id { regex_format: None })
        .column("day", SdType::Numerical)
        .column("region", SdType::Categorical)
        .column("state", SdType::Categorical)
        .column("mode", SdType::Categorical);
    for (name, values) in names.into_iter().zip(numbers) {
        metadata = metadata.column(name, SdType::Numerical);
        columns.push(Column::new(name.into(), values));
    }
    let metadata = metadata
        .sequence_key("machine")
        .sequence_index("day")
        .build()?;
    Ok((metadata, DataFrame::new_infer_height(columns)?))
}

fn builder(metadata: &Metadata) -> ParSynthesizerBuilder {
    let builder = ParSynthesizer::builder(metadata.clone()).context_columns(["region"]);
    builder.seed(SEED)
}
