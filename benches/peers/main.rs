//! The same work done by parsynth, by SDV's PARSynthesizer and by MOSTLY AI's engine, in one run, as ratios:
//!
//! ```sh
//! cargo xtask bench-peers
//! ```
//!
//! In: `data/`. Out: one Markdown table on stdout, progress on stderr, all figures in `target/peers/results.json`. The
//! peers are installed in Python environments under `target/peers` at the first run: 10 GB, since PyTorch brings
//! its CUDA. A full run takes the peers half an hour; `--quick` shows within minutes that all works.
//!
//! With one thread a side, the default, seconds are those that the processor spent, so that other programs on the
//! machine count on neither side; with more threads, and for loading, they are those of the clock.

mod comparison;
#[path = "../fidelity/dataset.rs"]
mod dataset;
#[path = "../shared/environment.rs"]
mod environment;
#[path = "../fidelity/judge.rs"]
#[allow(dead_code, reason = "the fidelity bench uses the rest")]
mod judge;
mod ours;
mod peer;
#[path = "../fidelity/results.rs"]
#[allow(dead_code, reason = "the fidelity bench uses the rest")]
mod results;

use clap::Parser;
use comparison::{Answer, Comparison, Target, Time, Unit, median};
use dataset::{DATASETS, Dataset};
use judge::Judge;
use ours::median_time;
use parsynth::{ParSynthesizer, SampleOptions, write_csv};
use peer::{Installed, Peer};
use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Fits of ours behind each figure.
const SEEDS: u64 = 3;
/// Fits of ours that are tried in turn until they score as well as the peer; the last has no limit.
const EPOCHS: [Option<usize>; 7] = [Some(1), Some(2), Some(4), Some(8), Some(16), Some(32), None];
/// Rows of the sequences that are sampled.
const LENGTH: usize = 250;

/// Measures parsynth beside SDV and MOSTLY AI's engine, on the tables in data/.
#[derive(Parser)]
#[command(name = "bench-peers", bin_name = "cargo xtask bench-peers")]
struct Arguments {
    /// Peers, with commas between [default: all]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PEERS")]
    only: Vec<Peer>,
    /// A few epochs of one table: shows that all works, its figures say nothing
    #[arg(long)]
    quick: bool,
    /// Threads of each side
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Where the figures are written [default: target/peers/results.json]
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Loads a model and samples a row
    #[arg(long, value_name = "MODEL", hide = true)]
    load: Option<PathBuf>,
    /// Cargo says this to every bench
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    if let Some(model) = &arguments.load {
        ours::load_here(model)?;
        return Ok(ExitCode::SUCCESS);
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("peers");
    std::fs::create_dir_all(&target)?;
    let mut bench = Bench {
        judge: Judge::set_up(&target.with_file_name("fidelity").join("venv"))?,
        json: arguments
            .json
            .clone()
            .unwrap_or_else(|| target.join("results.json")),
        folder: target,
        threads: arguments.threads.into(),
        quick: arguments.quick,
        reached: BTreeMap::new(),
        comparisons: Vec::new(),
        failures: Vec::new(),
    };
    for peer in [Peer::Sdv, Peer::Mostly] {
        if !arguments.only.is_empty() && !arguments.only.contains(&peer) {
            continue;
        }
        // What was measured before something failed stays.
        if let Err(error) = bench.compare_with(peer) {
            eprintln!("{}: {error}", peer.name());
            bench.failures.push(format!("{}: {error}", peer.name()));
            bench.write()?;
        }
    }
    println!("{}", comparison::table(&bench.comparisons));
    println!(
        "Threads a side: {}; {}.{}",
        bench.threads,
        if bench.by_processor() {
            "seconds of the processor, of the clock for loading"
        } else {
            "seconds of the clock"
        },
        if bench.quick {
            " A quick run: the figures say nothing."
        } else {
            ""
        }
    );
    for failure in &bench.failures {
        println!("Failed: {failure}");
    }
    Ok(if bench.failures.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What all comparisons share.
struct Bench {
    judge: Judge,
    folder: PathBuf,
    json: PathBuf,
    threads: usize,
    quick: bool,
    /// Time and score of our fits, by table and place in [`EPOCHS`], so that no fit is done twice.
    reached: BTreeMap<(&'static str, usize), (Time, f64)>,
    comparisons: Vec<Comparison>,
    failures: Vec<String>,
}

impl Bench {
    fn compare_with(&mut self, peer: Peer) -> Result<(), Box<dyn Error>> {
        let installed = Installed::set_up(peer, &self.folder, self.threads)?;
        let tables: &[&str] = if self.quick {
            &["pbc_visits"]
        } else {
            &["pbc_visits", "males_wage"]
        };
        for dataset in DATASETS
            .iter()
            .filter(|dataset| tables.contains(&dataset.name))
        {
            self.compare_fits(peer, &installed, dataset)?;
        }
        let dataset = DATASETS
            .iter()
            .find(|dataset| dataset.name == "pbc_visits")
            .expect("a table in data/");
        match peer {
            Peer::Sdv => self.compare_sampling_and_loading(&installed, dataset),
            Peer::Mostly => self.compare_sampling(&installed, dataset),
        }
    }

    /// The time of the peer's default fit beside that of ours which first scores as well, and of our default fit.
    fn compare_fits(
        &mut self,
        peer: Peer,
        installed: &Installed,
        dataset: &'static Dataset,
    ) -> Result<(), Box<dyn Error>> {
        let folder = self.folder.join(dataset.name);
        self.judge.split(dataset, &folder)?;
        let train = folder.join("train.csv");
        let synthetic = folder.join(format!("{}.csv", peer.word()));
        // Their own defaults.
        let epochs = match (self.quick, peer) {
            (true, _) => 2,
            (false, Peer::Sdv) => 128,
            (false, Peer::Mostly) => 100,
        };
        let model = self.model(peer, dataset);
        let theirs = installed.fit(dataset, [&train, &model, &synthetic], epochs)?;
        let their_score = self.score(dataset, &synthetic)?;
        eprintln!(
            "{}, {}: {:?}, score {their_score:.3}",
            peer.name(),
            dataset.name,
            theirs.time
        );
        let mut place = 0;
        let (ours, our_score) = loop {
            let (time, score) = self.reach(dataset, place)?;
            if score >= their_score || place + 1 == EPOCHS.len() {
                break (time, score);
            }
            place += 1;
        };
        let target = match peer {
            Peer::Sdv => 100.0,
            Peer::Mostly => 3.0,
        };
        let name = dataset.name;
        let work = format!(
            "fit `{name}` to the peer's score: theirs {their_score:.3}, ours {our_score:.3}"
        );
        self.add(peer, work, theirs.time, ours, Some(Target::Times(target)))?;
        let (ours, our_score) = self.reach(dataset, EPOCHS.len() - 1)?;
        let work = format!("fit `{name}` with all defaults: {their_score:.3} and {our_score:.3}");
        self.add(peer, work, theirs.time, ours, None)
    }

    /// Median time and score of our fits with so many epochs.
    fn reach(
        &mut self,
        dataset: &'static Dataset,
        place: usize,
    ) -> Result<(Time, f64), Box<dyn Error>> {
        if let Some(known) = self.reached.get(&(dataset.name, place)) {
            return Ok(*known);
        }
        let folder = self.folder.join(dataset.name);
        let (mut times, mut scores) = (Vec::new(), Vec::new());
        for seed in 1..=if self.quick { 1 } else { SEEDS } {
            let train = folder.join("train.csv");
            let (synthesizer, time) =
                ours::fit(dataset, &train, EPOCHS[place], seed, self.threads)?;
            let report = synthesizer.report();
            let options =
                SampleOptions::sequences(report.training_sequences + report.validation_sequences)
                    .seed(seed);
            let synthetic = folder.join("ours.csv");
            write_csv(&synthesizer.sample_with(&options)?, &synthetic)?;
            if EPOCHS[place].is_none() {
                synthesizer.save(folder.join("ours.parsynth"))?;
            }
            times.push(time);
            scores.push(self.score(dataset, &synthetic)?);
        }
        let found = (median_time(&times), median(scores));
        eprintln!(
            "ours, {}, epochs {:?}: {:?}, score {:.3}",
            dataset.name, EPOCHS[place], found.0, found.1
        );
        self.reached.insert((dataset.name, place), found);
        Ok(found)
    }

    /// Of the models that the default fits of the table gave.
    fn compare_sampling_and_loading(
        &mut self,
        installed: &Installed,
        dataset: &Dataset,
    ) -> Result<(), Box<dyn Error>> {
        let model = self.model(Peer::Sdv, dataset);
        let words = ["sample".as_ref(), model.as_os_str()];
        let length = LENGTH.to_string();
        let options = ["--sequences", "1", "--length", &length].map(OsStr::new);
        let theirs = installed.ask(&[&words[..], &options[..]].concat())?;
        let our_model = self.folder.join(dataset.name).join("ours.parsynth");
        let ours = ours::sample(&ParSynthesizer::load(&our_model)?, LENGTH, self.threads)?;
        self.add_rates(Peer::Sdv, theirs, ours, 1, 5_000.0)?;

        let theirs = (0..3)
            .map(|_| Ok(installed.ask(&["load".as_ref(), model.as_os_str()])?.time))
            .collect::<Result<Vec<Time>, String>>()?;
        let by_clock = |time: Time| Time {
            processor_secs: None,
            ..time
        };
        let (theirs, ours) = (median_time(&theirs), ours::load(&our_model)?);
        let work = "load a saved model and sample a row".to_owned();
        let (theirs, ours) = (by_clock(theirs), by_clock(ours));
        self.add(Peer::Sdv, work, theirs, ours, Some(Target::Below(0.1)))
    }

    /// The engine makes no sequence longer than the longest it learned from, so both learn a table of long ones. The
    /// work of a row does not depend on how well it was learned.
    fn compare_sampling(
        &mut self,
        installed: &Installed,
        dataset: &Dataset,
    ) -> Result<(), Box<dyn Error>> {
        let (learned, sampled, epochs) = if self.quick {
            (32, 16, "1")
        } else {
            (64, 512, "5")
        };
        let (learned, sampled_word) = (learned.to_string(), sampled.to_string());
        let long = self.folder.join("long.csv");
        let (metadata, data, workspace) =
            (dataset.metadata(), dataset.data(), self.folder.join("long"));
        let length = LENGTH.to_string();
        let ask = |files: [&OsStr; 4], options: &[&str]| {
            let mut words = files.to_vec();
            words.extend(options.iter().map(OsStr::new));
            words.push("--context".as_ref());
            words.extend(dataset.context.iter().map(OsStr::new));
            installed.ask(&words)
        };
        ask(
            [
                "lengthen".as_ref(),
                metadata.as_ref(),
                data.as_ref(),
                long.as_ref(),
            ],
            &["--sequences", &learned, "--length", &length],
        )?;
        let theirs = ask(
            [
                "sample".as_ref(),
                metadata.as_ref(),
                long.as_ref(),
                workspace.as_ref(),
            ],
            &["--epochs", epochs, "--sequences", &sampled_word],
        )?;
        let (synthesizer, _) = ours::fit(dataset, &long, Some(1), 1, self.threads)?;
        let ours = ours::sample(&synthesizer, LENGTH, self.threads)?;
        self.add_rates(Peer::Mostly, theirs, ours, sampled, 20.0)
    }

    fn model(&self, peer: Peer, dataset: &Dataset) -> PathBuf {
        self.folder
            .join(dataset.name)
            .join(format!("{}.model", peer.word()))
    }

    fn score(&self, dataset: &Dataset, synthetic: &Path) -> Result<f64, Box<dyn Error>> {
        let folder = self.folder.join(dataset.name);
        let (train, holdout) = (folder.join("train.csv"), folder.join("holdout.csv"));
        let measures = self.judge.score(dataset, &train, &holdout, synthetic)?;
        let overall = measures.get("overall").copied();
        Ok(overall.ok_or("the judge gives no overall score")?)
    }

    fn by_processor(&self) -> bool {
        self.threads == 1
    }

    /// The seconds that count of both sides.
    fn secs(&self, theirs: Time, ours: Time) -> [f64; 2] {
        match (theirs.processor_secs, ours.processor_secs) {
            (Some(theirs), Some(ours)) if self.by_processor() => [theirs, ours],
            _ => [theirs.wall_secs, ours.wall_secs],
        }
    }

    fn add(
        &mut self,
        peer: Peer,
        work: String,
        their_time: Time,
        our_time: Time,
        target: Option<Target>,
    ) -> Result<(), Box<dyn Error>> {
        let [theirs, ours] = self.secs(their_time, our_time);
        self.push(Comparison {
            work,
            peer: peer.name(),
            unit: Unit::Seconds,
            theirs,
            ours,
            target,
            wall_secs: [their_time.wall_secs, our_time.wall_secs],
        })
    }

    fn add_rates(
        &mut self,
        peer: Peer,
        theirs: Answer,
        ours: Answer,
        their_sequences: usize,
        times: f64,
    ) -> Result<(), Box<dyn Error>> {
        let rows = |answer: &Answer| answer.rows.ok_or("no rows were sampled");
        let (their_rows, our_rows) = (rows(&theirs)?, rows(&ours)?);
        let [their_secs, our_secs] = self.secs(theirs.time, ours.time);
        let their_length = their_rows / their_sequences as f64;
        self.push(Comparison {
            work: format!("sample sequences of {their_length:.0} rows"),
            peer: peer.name(),
            unit: Unit::RowsPerSecond,
            theirs: their_rows / their_secs,
            ours: our_rows / our_secs,
            target: Some(Target::Times(times)),
            wall_secs: [theirs.time.wall_secs, ours.time.wall_secs],
        })
    }

    /// Keeps a comparison, in the file, too.
    fn push(&mut self, comparison: Comparison) -> Result<(), Box<dyn Error>> {
        eprintln!(
            "{}, {}: {:.1} times as fast",
            comparison.peer,
            comparison.work,
            comparison.times()
        );
        self.comparisons.push(comparison);
        self.write()
    }

    fn write(&self) -> Result<(), Box<dyn Error>> {
        let known = serde_json::json!({
            "quick": self.quick,
            "threads": self.threads,
            "processor_time": self.by_processor(),
            "comparisons": self.comparisons,
            "failures": self.failures,
        });
        std::fs::write(&self.json, format!("{known:#}\n"))
            .map_err(|error| format!("cannot write {}: {error}", self.json.display()))?;
        Ok(())
    }
}
