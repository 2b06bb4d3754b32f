//! Rules of a user's own.

use crate::common::{fitted, numbers, sampled, sequences, texts};
use parsynth::{SampleOptions, SdType};
use polars::prelude::*;

fn data() -> DataFrame {
    let keys: Vec<String> = (0..40).map(|row| format!("k{}", row / 4)).collect();
    let values: Vec<f64> = (0..40).map(|row| f64::from(row * 7 % 23)).collect();
    let groups: Vec<&str> = (0..40).map(|row| ["x", "y"][(row / 4) % 2]).collect();
    df!("k" => keys, "v" => values, "g" => groups).unwrap()
}

const COLUMNS: [(&str, SdType); 2] = [("v", SdType::Numerical), ("g", SdType::Categorical)];

fn total(rows: &DataFrame) -> f64 {
    numbers(rows, "v").iter().sum()
}

#[test]
fn refused_sequences_are_drawn_again_until_all_are_accepted() {
    let model = fitted(&COLUMNS, None, &["g"], vec![], &data()).unwrap();
    let options = SampleOptions::sequences(60)
        .seed(2)
        .custom_constraint("total over 40", |rows| total(rows) > 40.0);
    let synthetic = model.sample_with(&options).unwrap();
    let ranges = sequences(&synthetic);
    assert_eq!(ranges.len(), 60, "keys stay unique");
    for rows in ranges {
        let rows = synthetic.slice(rows.start as i64, rows.len());
        assert!(total(&rows) > 40.0);
    }
    assert!(synthetic.equals_missing(&model.sample_with(&options).unwrap()));
    // Without the rule some are below.
    let free = sampled(&model, 60);
    let below =
        |rows: &std::ops::Range<usize>| total(&free.slice(rows.start as i64, rows.len())) <= 40.0;
    assert!(sequences(&free).iter().any(below));
}

#[test]
fn each_sequence_keeps_its_own_given_context_when_it_is_drawn_again() {
    let model = fitted(&COLUMNS, None, &["g"], vec![], &data()).unwrap();
    let wanted: Vec<&str> = (0..40)
        .map(|row| ["x", "y"][usize::from(row % 3 == 0)])
        .collect();
    let options = SampleOptions::per_context_row()
        .seed(2)
        .custom_constraint("total over 40", |rows| total(rows) > 40.0);
    let context = df!("g" => wanted.clone()).unwrap();
    let synthetic = model
        .sample_sequential_columns_with(&context, &options)
        .unwrap();
    let groups = texts(&synthetic, "g");
    let firsts: Vec<&str> = sequences(&synthetic)
        .iter()
        .map(|rows| groups[rows.start].as_str())
        .collect();
    assert_eq!(firsts, wanted);
}

#[test]
fn a_rule_that_nothing_keeps_ends_in_an_error_after_the_tries() {
    let model = fitted(&COLUMNS, None, &["g"], vec![], &data()).unwrap();
    let options = SampleOptions::sequences(3)
        .custom_constraint("never", |_| false)
        .max_tries(4);
    let error = model.sample_with(&options).unwrap_err().to_string();
    assert_eq!(
        error,
        "custom constraint `never` refused 3 of 3 sequences 4 times each, the first being sequence 0; loosen it, or allow more tries with max_tries"
    );
    let rows = SampleOptions::rows(10).custom_constraint("any", |_| true);
    assert!(
        model
            .sample_with(&rows)
            .unwrap_err()
            .to_string()
            .contains("custom constraint")
    );
}
