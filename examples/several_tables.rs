//! Two tables, patients and their visits: join, learn, sample, and split again. Run it with
//! `cargo run --release --example several_tables`; docs/several_tables.md says more.

use parsynth::{
    Metadata, ParSynthesizer, SampleOptions, SdType, join_parent, read_csv, split_parent,
};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    // The visits of 312 patients, taken apart into the two tables that a hospital would have.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let stated = Metadata::from_json_file(folder.join("pbc_visits.metadata.json"))?;
    let flat = read_csv(folder.join("pbc_visits.csv"), &stated)?;
    let of_patient = ["id", "trt", "age", "sex"];
    let (patients, visits) = split_parent(&flat, &["id"], &of_patient)?;

    // What each table means.
    let mut of_visits = Metadata::builder().sequence_key("id").sequence_index("day");
    let mut of_patients = Metadata::builder();
    for (name, sdtype) in stated.columns() {
        if name == "id" || !of_patient.contains(&name) {
            of_visits = of_visits.column(name, sdtype.clone());
        }
        if of_patient.contains(&name) {
            of_patients = of_patients.column(name, sdtype.clone());
        }
    }
    let (of_visits, of_patients) = (of_visits.build()?, of_patients.build()?);
    assert!(matches!(of_patients.sdtype("id"), Some(SdType::Id { .. })));

    // Join, learn with the patient's columns as context, sample, split.
    let tables = join_parent(&visits, &patients, &["id"])?;
    let metadata = of_visits.join_parent(&of_patients, &["id"])?;
    assert_eq!(tables.childless.height(), 0);
    let synthesizer = ParSynthesizer::builder(metadata)
        .context_columns(["trt", "age", "sex"])
        .epochs(3)
        .seed(7)
        .fit(&tables.joined)?;
    let synthetic = synthesizer.sample_with(&SampleOptions::sequences(100).seed(7))?;
    let (new_patients, new_visits) = split_parent(&synthetic, &["id"], &of_patient)?;
    println!(
        "100 new patients, the first of them:\n{}\nand their visits:\n{}",
        new_patients.head(Some(4)),
        new_visits.head(Some(4))
    );

    assert_eq!(new_patients.height(), 100);
    assert_eq!(new_patients.schema(), patients.schema());
    assert_eq!(new_visits.schema(), visits.schema());
    // Every visit has its patient, and every patient a visit.
    let again = join_parent(&new_visits, &new_patients, &["id"])?;
    assert_eq!(again.joined.height(), synthetic.height());
    assert_eq!(again.childless.height(), 0);
    Ok(())
}
