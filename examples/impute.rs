//! Fills gaps in a real table: hides every ninth albumin value of patients that the model has not seen, fills the gaps,
//! and compares with what was there. Run it with `cargo run --release --example impute`.

use parsynth::{ImputeOptions, Metadata, ParSynthesizer, read_csv};
use polars::prelude::*;
use std::error::Error;
use std::path::Path;

const IMPUTATIONS: u64 = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let metadata = Metadata::from_json_file(folder.join("pbc_visits.metadata.json"))?;
    let visits = read_csv(folder.join("pbc_visits.csv"), &metadata)?;
    // The visits stand patient by patient; the 250th begins at a row of its own.
    let ids = visits.column("id")?.str()?;
    let others_from = (0..visits.height())
        .find(|&row| ids.get(row) == Some("250"))
        .ok_or("no patient 250")?;
    let learned = visits.head(Some(others_from));
    let others = visits.slice(others_from as i64, visits.height() - others_from);
    let synthesizer = ParSynthesizer::builder(metadata)
        .context_columns(["trt", "age", "sex"])
        .seed(7)
        .epochs(20)
        .fit(&learned)?;

    let real: Vec<Option<f64>> = others.column("albumin")?.f64()?.iter().collect();
    let is_hidden = |row: usize| row % 9 == 4;
    let hidden: Float64Chunked = (0..others.height())
        .map(|row| real[row].filter(|_| !is_hidden(row)))
        .collect();
    let mut given = others.clone();
    given.with_column(hidden.with_name("albumin".into()).into_column())?;

    // Each result is one possible table; their mean is the best guess.
    let mut guesses = vec![0.0; others.height()];
    for seed in 0..IMPUTATIONS {
        let options = ImputeOptions::default().columns(["albumin"]).seed(seed);
        let filled = synthesizer.impute_with(&given, &options)?;
        assert_eq!(filled.column("albumin")?.null_count(), 0);
        assert!(
            filled
                .drop("albumin")?
                .equals_missing(&given.drop("albumin")?)
        );
        let cells = filled.column("albumin")?.f64()?.into_no_null_iter();
        for (guess, cell) in guesses.iter_mut().zip(cells) {
            *guess += cell / IMPUTATIONS as f64;
        }
    }

    let mean = learned.column("albumin")?.as_materialized_series().mean();
    let mean = mean.ok_or("no albumin")?;
    let (mut error, mut error_of_mean, mut hidden_cells) = (0.0, 0.0, 0);
    for row in (0..others.height()).filter(|&row| is_hidden(row)) {
        if let Some(real) = real[row] {
            error += (guesses[row] - real).abs();
            error_of_mean += (mean - real).abs();
            hidden_cells += 1;
        }
    }
    println!(
        "Hidden and filled again: {hidden_cells} albumin values of patients that the model has not seen.\n\
         They are {:.2} off on average, {:.2} where the column's mean fills every gap.",
        error / hidden_cells as f64,
        error_of_mean / hidden_cells as f64
    );
    assert!(error < 0.9 * error_of_mean);
    Ok(())
}
