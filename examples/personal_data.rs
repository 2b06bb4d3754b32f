//! Synthesizes the visits of patients without telling who they are: names, birthdays and addresses are made up, the
//! clinic is kept, and clinic and patient together are the key. Run it with
//! `cargo run --release --example personal_data`.

use parsynth::{Metadata, ParSynthesizer, PersonalKind, SdType};
use polars::prelude::*;
use std::collections::HashSet;
use std::error::Error;

fn texts(frame: &DataFrame, column: &str) -> PolarsResult<Vec<String>> {
    let column = frame.column(column)?.str()?;
    Ok(column.iter().flatten().map(str::to_owned).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let rows: Vec<usize> = (0..60).flat_map(|patient| [patient; 4]).collect();
    let visits = df!(
        "clinic" => rows.iter().map(|patient| ["Basel", "Lyon"][patient % 2]).collect::<Vec<_>>(),
        "patient" => rows.iter().map(|patient| format!("P{:03}", patient / 2)).collect::<Vec<_>>(),
        "name" => rows.iter().map(|patient| format!("Real Person {patient}")).collect::<Vec<_>>(),
        "email" => rows.iter().map(|patient| format!("real{patient}@clinic.test")).collect::<Vec<_>>(),
        "born" => rows.iter().map(|patient| format!("{}-07-14", 1930 + patient)).collect::<Vec<_>>(),
        "weight" => (0..rows.len()).map(|row| 60.0 + (row % 17) as f64).collect::<Vec<_>>(),
    )?;
    let metadata = Metadata::builder()
        .column("clinic", SdType::Categorical)
        .column("patient", SdType::Id { regex_format: None })
        .column("name", SdType::personal(PersonalKind::Name))
        .column("email", SdType::personal(PersonalKind::Email))
        .column("born", SdType::personal(PersonalKind::DateOfBirth))
        .column("weight", SdType::Numerical)
        .sequence_key_columns(["clinic", "patient"])
        .build()?;
    let synthesizer = ParSynthesizer::builder(metadata)
        .locales(["de_DE", "fr_FR"])
        .epochs(3)
        .seed(7)
        .fit(&visits)?;

    let synthetic = synthesizer.sample(100)?;
    println!(
        "Two new patients. Patient, name, email and birthday are made up, the clinic is a real one:\n{}",
        synthetic.head(Some(8))
    );
    assert_eq!(synthetic.schema(), visits.schema());
    for column in ["patient", "name", "email", "born"] {
        let real: HashSet<String> = texts(&visits, column)?.into_iter().collect();
        assert!(
            texts(&synthetic, column)?
                .iter()
                .all(|value| !real.contains(value))
        );
    }
    let addresses = texts(&synthetic, "email")?;
    assert!(
        addresses
            .iter()
            .all(|address| address.contains("@example."))
    );

    // Who wants a real key, a name or a clinic back says so.
    let wanted = df!("clinic" => ["Lyon"], "patient" => ["P007"])?;
    let given = synthesizer.sample_sequential_columns(&wanted)?;
    assert!(
        texts(&given, "patient")?
            .iter()
            .all(|patient| patient == "P007")
    );
    Ok(())
}
