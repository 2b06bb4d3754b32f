//! Forecasts a weekend: learn the week of 80 stores, give the model Monday to Friday of 20 others, and compare the
//! middle of several futures with the weekend that came. Run it with `cargo run --release --example forecast`.

use parsynth::{ContinueOptions, Metadata, ParSynthesizer, read_csv};
use polars::prelude::*;
use std::error::Error;
use std::path::Path;

fn sales(frame: &DataFrame) -> PolarsResult<Vec<f64>> {
    let column = frame.column("total_sales")?.f64()?;
    Ok(column.iter().flatten().collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let metadata = Metadata::from_json_file(folder.join("stores.metadata.json"))?;
    let stores = read_csv(folder.join("stores.csv"), &metadata)?;
    // Seven rows a store, one after the other.
    let (learned, others) = (stores.slice(0, 80 * 7), stores.slice(80 * 7, 20 * 7));
    let synthesizer = ParSynthesizer::builder(metadata)
        .context_columns(["region"])
        .seed(7)
        .epochs(60)
        .fit(&learned)?;

    let is_weekend: BooleanChunked = (0..others.height()).map(|row| row % 7 >= 5).collect();
    let (weekend, given) = (others.filter(&is_weekend)?, others.filter(&!&is_weekend)?);
    let mut futures: Vec<Vec<f64>> = vec![Vec::new(); weekend.height()];
    for seed in 0..25 {
        let options = ContinueOptions::steps(2).seed(seed);
        let week = synthesizer.continue_sequences_with(&given, &options)?;
        assert!(week.filter(&!&is_weekend)?.equals_missing(&given));
        let new = week.filter(&is_weekend)?;
        assert_eq!(new.column("date")?, weekend.column("date")?);
        for (future, sales) in futures.iter_mut().zip(sales(&new)?) {
            future.push(sales);
        }
    }

    // To beat: what the learned stores sell on a weekend, whatever a store's own week was like.
    let every_weekend: BooleanChunked = (0..learned.height()).map(|row| row % 7 >= 5).collect();
    let mean = learned
        .filter(&every_weekend)?
        .column("total_sales")?
        .as_materialized_series()
        .mean();
    let (mean, mut error, mut error_of_mean) = (mean.ok_or("no sales")?, 0.0, 0.0);
    for (future, real) in futures.iter_mut().zip(sales(&weekend)?) {
        future.sort_unstable_by(f64::total_cmp);
        error += (future[future.len() / 2] - real).abs() / weekend.height() as f64;
        error_of_mean += (mean - real).abs() / weekend.height() as f64;
    }
    let first = &futures[0];
    println!(
        "The first store's Saturday: {:.0} by the middle of 25 futures, {:.0} to {:.0} by most of them; it was {:.0}.",
        first[12],
        first[2],
        first[22],
        sales(&weekend)?[0]
    );
    println!(
        "The weekend of 20 stores that the model has not seen, forecast from their Monday to Friday:\n\
         a day's sales are {error:.0} off on average, \
         {error_of_mean:.0} where the other stores' mean weekend is the forecast."
    );
    assert!(error < error_of_mean / 2.0);
    Ok(())
}
