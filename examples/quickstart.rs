//! The whole story on a real table: read, fit, sample, save, load, sample again, and look at what came out.
//! Run it with `cargo xtask demo`. Writes only to a temporary folder.

#[path = "shared/comparison.rs"]
mod comparison;
#[path = "shared/fit_bars.rs"]
mod fit_bars;
#[path = "shared/sample_bar.rs"]
mod sample_bar;

use clap::Parser;
use comparison::{Summary, side_by_side};
use fit_bars::FitBars;
use parsynth::{
    EvaluationOptions, Metadata, ParSynthesizer, SampleOptions, evaluate_with, read_csv,
};
use sample_bar::SampleBar;
use std::collections::HashSet;
use std::error::Error;
use std::path::{Path, PathBuf};

/// Learns the visits of 312 patients and makes up new patients.
#[derive(Parser)]
struct Arguments {
    /// Three epochs alone: a second, for samples that resemble the data less
    #[arg(long)]
    quick: bool,
    /// Writes the evaluation with its pictures as one HTML file
    #[arg(long, value_name = "HTML")]
    report: Option<PathBuf>,
}

const SEED: u64 = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();

    // 1. A table of many sequences, and what its columns mean.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let metadata = Metadata::from_json_file(folder.join("pbc_visits.metadata.json"))?;
    let real = read_csv(folder.join("pbc_visits.csv"), &metadata)?;
    println!(
        "read data/pbc_visits.csv: {} rows, {} columns",
        real.height(),
        real.width()
    );

    // 2. Learn it. `trt`, `age` and `sex` belong to the patient, the other columns to the visit.
    let context = ["trt", "age", "sex"];
    let bars = FitBars::new();
    let mut builder = ParSynthesizer::builder(metadata.clone())
        .context_columns(context)
        .seed(SEED)
        .on_progress(bars.callback());
    if arguments.quick {
        builder = builder.epochs(3);
    }
    let synthesizer = builder.fit(&real)?;
    bars.clear();
    let report = synthesizer.report();
    println!(
        "fitted {} weights to {} sequences in {:.0} s and {} epochs",
        report.weights,
        report.training_sequences + report.validation_sequences,
        report.fit_secs,
        report.epochs
    );

    // 3. As many new patients as there were.
    let patients = report.training_sequences + report.validation_sequences;
    let bar = SampleBar::new();
    let options = SampleOptions::sequences(patients)
        .seed(SEED)
        .on_progress(bar.callback());
    let synthetic = synthesizer.sample_with(&options)?;
    bar.clear();
    println!(
        "sampled {} rows of {patients} sequences",
        synthetic.height()
    );

    // 4. Save, load, and sample again: the same seed gives the same rows.
    let temporary = tempfile::tempdir()?;
    let path = temporary.path().join("pbc_visits.parsynth");
    synthesizer.save(&path)?;
    let loaded = ParSynthesizer::load(&path)?;
    let again = loaded.sample_with(&options)?;
    let same = synthetic.equals_missing(&again);
    println!(
        "saved and loaded the model; from the same seed it samples {}\n",
        if same {
            "the very same rows"
        } else {
            "other rows"
        }
    );

    // 5. Is it like the real table?
    let real_summary = Summary::of(&real, &metadata, &context)?;
    let summary = Summary::of(&synthetic, &metadata, &context)?;
    println!("{}", side_by_side(&real_summary, &summary, "day", "bili"));
    println!("the first synthetic visits, some columns:");
    println!(
        "{}",
        synthetic
            .select(["id", "age", "sex", "day", "bili", "albumin", "stage"])?
            .head(Some(8))
    );

    // 6. A report: how good is it, and is it safe? Held-out sequences would let it say more about privacy.
    let evaluation_options = EvaluationOptions::new().context_columns(context).seed(SEED);
    let evaluation =
        evaluate_with(&real, &synthetic, None, &metadata, &evaluation_options)?.with_losses(report);
    println!("\n{evaluation}");
    if let Some(path) = &arguments.report {
        evaluation.write_html(path)?;
    }

    assert!(same);
    let likelihood = loaded.log_likelihood(&real)?;
    assert!(
        likelihood.nats_per_sequence().is_finite(),
        "every real visit is possible under the model"
    );
    assert_eq!(synthetic.schema(), real.schema());
    assert_eq!(summary.sequences, patients);
    assert_eq!(
        summary.rising, patients,
        "every patient's visits are in order"
    );
    let ids = |frame: &polars::frame::DataFrame| -> Result<HashSet<String>, Box<dyn Error>> {
        Ok(frame
            .column("id")?
            .str()?
            .iter()
            .flatten()
            .map(str::to_owned)
            .collect())
    };
    assert!(
        ids(&real)?.is_disjoint(&ids(&synthetic)?),
        "no patient is a real one"
    );
    assert!(
        evaluation.privacy.copies.sequences == 0,
        "no patient is copied"
    );
    if !arguments.quick {
        // Twice what differs between fits of other seeds, so that only a broken model fails.
        let off = summary.mean_length() / real_summary.mean_length() - 1.0;
        assert!(off.abs() < 0.15, "lengths are learned");
        let off = summary.lag_1["bili"] - real_summary.lag_1["bili"];
        assert!(off.abs() < 0.2, "a visit follows from the one before");
    }
    Ok(())
}
