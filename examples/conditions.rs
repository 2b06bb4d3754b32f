//! Patients to order: as many men as women, where one in eight is a man, and thirty men of a trial's arm with five visits
//! each. Run it with `cargo run --release --example conditions`.

use parsynth::{Condition, Metadata, ParSynthesizer, SampleOptions, read_csv};
use polars::prelude::*;
use std::error::Error;
use std::path::Path;

/// How many patients of a sex there are.
fn patients(frame: &DataFrame, sex: &str) -> PolarsResult<usize> {
    let is_of_sex = frame.column("sex")?.str()?.equal(sex);
    frame.filter(&is_of_sex)?.column("id")?.n_unique()
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let metadata = Metadata::from_json_file(folder.join("pbc_visits.metadata.json"))?;
    let visits = read_csv(folder.join("pbc_visits.csv"), &metadata)?;
    let synthesizer = ParSynthesizer::builder(metadata)
        .context_columns(["trt", "age", "sex"])
        .seed(7)
        .epochs(10)
        .fit(&visits)?;
    // The calls below differ from one another, and are the same in every run.
    synthesizer.seed_sampling(7);

    let balanced = synthesizer.balanced_conditions("sex", 100)?;
    let balanced = synthesizer.sample_from_conditions(&balanced)?;
    let share = |frame: &DataFrame| -> PolarsResult<f64> {
        let (men, women) = (patients(frame, "m")?, patients(frame, "f")?);
        Ok(men as f64 / (men + women) as f64)
    };
    println!(
        "balanced: {:.0} % of the real patients are men, and {:.0} % of the synthetic ones",
        100.0 * share(&visits)?,
        100.0 * share(&balanced)?
    );
    assert_eq!(
        (patients(&balanced, "m")?, patients(&balanced, "f")?),
        (100, 100)
    );

    let arm = [
        Condition::sequences(30).with("sex", "m").with("trt", "1"),
        Condition::sequences(1).with("age", 50.0),
    ];
    let five_visits = SampleOptions::default().lengths([5; 31]);
    let ordered = synthesizer.sample_from_conditions_with(&arm, &five_visits)?;
    assert_eq!(ordered.height(), 31 * 5);
    let columns = ["id", "trt", "age", "sex", "day", "bili", "stage"];
    let shown = ordered.select(columns)?;
    println!(
        "to order: thirty men with treatment 1, and somebody aged 50, with five visits each; the last two patients:\n{}",
        shown.tail(Some(10))
    );
    let (men_of_arm, aged_50) = (ordered.head(Some(150)), ordered.tail(Some(5)));
    assert!(men_of_arm.column("sex")?.str()?.equal("m").all());
    assert!(men_of_arm.column("trt")?.str()?.equal("1").all());
    assert_eq!(aged_50.column("age")?.f64()?.get(0), Some(50.0));
    Ok(())
}
