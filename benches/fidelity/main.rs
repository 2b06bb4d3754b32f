//! How much synthetic tables are like the real ones: fits the tables in `data/`, samples, has `judge.py` score the
//! samples, and prints README's table.
//!
//! ```sh
//! cargo bench --bench fidelity -- --tables stores,pbc_visits --seeds 3
//! ```
//!
//! In: `data/`. Out: one Markdown table on stdout, progress on stderr; samples and what they scored
//! (`scores.json`, `halves.json`) under `target/fidelity/`. It takes minutes to hours, so neither `cargo test` nor a plain `cargo bench` runs it.
//! `README.md` beside this file says how to read the scores.

mod dataset;
#[path = "../shared/environment.rs"]
mod environment;
mod judge;
mod options;
mod results;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use dataset::{DATASETS, Dataset};
use judge::Judge;
use options::FitOptions;
use parsynth::{FitReport, Metadata, ParSynthesizer, SampleOptions, read_csv, write_csv};
use results::{Halves, Measured, Measures};
use serde::Serialize;
use std::error::Error;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Fits the tables in data/, samples as many sequences as were fitted, and scores the samples against the real tables.
#[derive(Parser)]
#[command(name = "fidelity", bin_name = "cargo bench --bench fidelity --")]
struct Arguments {
    /// Tables, with commas between [default: all]
    #[arg(long, value_delimiter = ',', value_parser = PossibleValuesParser::new(DATASETS.map(|dataset| dataset.name)))]
    tables: Vec<String>,
    /// Fits of each table
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Seed of the first fit; the others count on from it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(..1 << 32))]
    first_seed: u64,
    /// Fits random halves, and scores each against the half it saw and the half it did not see
    #[arg(long)]
    halves: bool,
    /// Where samples and their scores are written [default: target/fidelity]
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    #[command(flatten)]
    options: FitOptions,
    /// Cargo says this to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

impl Arguments {
    fn datasets(&self) -> impl Iterator<Item = &'static Dataset> {
        DATASETS.iter().filter(|dataset| {
            self.tables.is_empty() || self.tables.iter().any(|name| name == dataset.name)
        })
    }

    fn seeds(&self) -> RangeInclusive<u64> {
        self.first_seed..=self.first_seed + self.seeds - 1
    }
}

fn main() -> ExitCode {
    let Err(error) = run(&Arguments::parse()) else {
        return ExitCode::SUCCESS;
    };
    eprint!("error: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        eprint!(": {error}");
        cause = error.source();
    }
    eprintln!();
    ExitCode::FAILURE
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("fidelity");
    let judge = Judge::set_up(&target.join("venv"))?;
    let bench = Bench {
        judge,
        output: arguments.output.clone().unwrap_or(target),
        options: &arguments.options,
    };
    let seeds = arguments.seeds();
    println!(
        "Seeds {} to {}; {}.\n",
        seeds.start(),
        seeds.end(),
        arguments.options
    );
    let table = if arguments.halves {
        let measured = bench.each(arguments, "halves.json", |dataset| {
            bench.halves(dataset, arguments.seeds())
        })?;
        results::halves_table(&measured)
    } else {
        let measured = bench.each(arguments, "scores.json", |dataset| {
            bench.scores(dataset, arguments.seeds())
        })?;
        results::scores_table(&measured)
    };
    println!("{table}");
    Ok(())
}

/// What all fits of a run share.
struct Bench<'a> {
    judge: Judge,
    output: PathBuf,
    options: &'a FitOptions,
}

impl Bench<'_> {
    /// Measures the tables in turn, and writes all that is known to `file` after each.
    fn each<T: Serialize>(
        &self,
        arguments: &Arguments,
        file: &str,
        measure: impl Fn(&Dataset) -> Result<T, Box<dyn Error>>,
    ) -> Result<Vec<T>, Box<dyn Error>> {
        let mut measured = Vec::new();
        for dataset in arguments.datasets() {
            measured.push(measure(dataset)?);
            let known = serde_json::json!({
                "first_seed": arguments.first_seed,
                "options": self.options,
                "tables": measured,
            });
            let path = self.output.join(file);
            std::fs::write(&path, format!("{known:#}\n"))
                .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        }
        Ok(measured)
    }

    /// Fits four fifths of the sequences with each seed, and scores the samples against them.
    fn scores(
        &self,
        dataset: &Dataset,
        seeds: RangeInclusive<u64>,
    ) -> Result<Measured, Box<dyn Error>> {
        let folder = self.output.join(dataset.name);
        self.judge.split(dataset, &folder)?;
        let (train, holdout) = (folder.join("train.csv"), folder.join("holdout.csv"));
        let ceiling = self.judge.ceiling(dataset)?;
        eprintln!("{}: ceiling {}", dataset.name, results::brief(&ceiling));
        let mut fits = Vec::new();
        for seed in seeds {
            let synthetic = folder.join(format!("seed-{seed}.csv"));
            let report = self.fit_and_sample(dataset, &train, &synthetic, seed)?;
            let mut measures = self.judge.score(dataset, &train, &holdout, &synthetic)?;
            add_report(&mut measures, &report);
            eprintln!(
                "{}, seed {seed}: {}",
                dataset.name,
                results::brief(&measures)
            );
            fits.push(measures);
        }
        Ok(Measured {
            table: dataset.name,
            ceiling,
            fits,
        })
    }

    /// Fits another random half of the sequences with each seed, and scores the samples against either half.
    fn halves(
        &self,
        dataset: &Dataset,
        seeds: RangeInclusive<u64>,
    ) -> Result<Halves, Box<dyn Error>> {
        let mut halves = Halves {
            table: dataset.name,
            ceiling: self.judge.ceiling(dataset)?,
            seen: Vec::new(),
            unseen: Vec::new(),
        };
        for seed in seeds {
            let folder = self.output.join(dataset.name).join(format!("half-{seed}"));
            self.judge.halves(dataset, &folder, seed)?;
            let (seen, unseen) = (folder.join("seen.csv"), folder.join("unseen.csv"));
            let synthetic = folder.join("synthetic.csv");
            let report = self.fit_and_sample(dataset, &seen, &synthetic, seed)?;
            let mut near = self.judge.score(dataset, &seen, &unseen, &synthetic)?;
            add_report(&mut near, &report);
            let far = self.judge.score(dataset, &unseen, &seen, &synthetic)?;
            let name = dataset.name;
            eprintln!(
                "{name}, seed {seed}, against the half seen: {}",
                results::brief(&near)
            );
            eprintln!(
                "{name}, seed {seed}, against the other half: {}",
                results::brief(&far)
            );
            halves.seen.push(near);
            halves.unseen.push(far);
        }
        Ok(halves)
    }

    /// Fits `data`, and writes as many sequences as it has to `synthetic`.
    fn fit_and_sample(
        &self,
        dataset: &Dataset,
        data: &Path,
        synthetic: &Path,
        seed: u64,
    ) -> Result<FitReport, Box<dyn Error>> {
        let metadata = Metadata::from_json_file(dataset.metadata())?;
        let frame = read_csv(data, &metadata)?;
        let builder = ParSynthesizer::builder(metadata)
            .context_columns(dataset.context.iter().copied())
            .seed(seed);
        let synthesizer = self.options.apply(builder).fit(&frame)?;
        let report = synthesizer.report();
        let sequences = report.training_sequences + report.validation_sequences;
        let options = self
            .options
            .apply_to_sampling(SampleOptions::sequences(sequences).seed(seed));
        write_csv(&synthesizer.sample_with(&options)?, synthetic)?;
        Ok(report.clone())
    }
}

/// Puts what the fit itself knows beside the judge's scores.
fn add_report(measures: &mut Measures, report: &FitReport) {
    measures.insert(results::FIT_SECS.to_owned(), report.fit_secs);
    measures.insert(results::EPOCHS.to_owned(), report.epochs as f64);
    if let Some(nats) = report.validation_nats() {
        measures.insert(results::HELD_OUT_NATS.to_owned(), nats);
    }
}
