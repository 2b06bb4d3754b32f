//! What a fitted model says of itself: its origin, its options, how training went. Run it with
//! `cargo run --release --example inspect`. Writes only to a temporary folder.

use parsynth::{Metadata, NumericalDistribution, ParSynthesizer, read_csv};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let metadata = Metadata::from_json_file(folder.join("stores.metadata.json"))?;
    let stores = read_csv(folder.join("stores.csv"), &metadata)?;
    let fitted = ParSynthesizer::builder(metadata)
        .context_columns(["region"])
        .numerical_distribution("nb_customers", NumericalDistribution::Counts)
        .epochs(10)
        .seed(7)
        .verbose(true)
        .fit(&stores)?;
    let temporary = tempfile::tempdir()?;
    let path = temporary.path().join("stores.parsynth");
    fitted.save(&path)?;

    // All of it is in the file.
    let synthesizer = ParSynthesizer::load(&path)?;
    let (info, parameters) = (synthesizer.info(), synthesizer.parameters());
    println!("{info}\n{parameters}");
    assert_eq!(info.rows, stores.height());
    assert_eq!(info.file_bytes, Some(std::fs::metadata(&path)?.len()));
    assert_eq!(parameters, fitted.parameters());
    assert_eq!(parameters.epochs, Some(10));

    // Losses as a frame, by network and epoch, and as a page with their curves.
    let losses = synthesizer.loss_values()?;
    println!("The last losses, in nats a row (null where the held-out ones were not measured):");
    println!("{}", losses.tail(Some(3)));
    let training = losses.column("training_loss")?.f64()?;
    let (first, last) = (training.get(10), training.get(19));
    assert!(last < first, "the sequence network has learned something");
    let page = temporary.path().join("losses.html");
    synthesizer.write_loss_values_plot(&page)?;
    assert!(std::fs::read_to_string(&page)?.contains("<svg"));
    Ok(())
}
