//! Constraints outlive saving.

use crate::common::{fitted, id, numbers, sampled, texts};
use parsynth::{Constraint, Metadata, ParSynthesizer, SdType};
use polars::prelude::*;

#[test]
fn a_loaded_model_keeps_its_constraints_and_samples_the_same() {
    let keys: Vec<String> = (0..60).map(|row| format!("k{}", row / 6)).collect();
    let state: Vec<&str> = (0..60).map(|row| ["a", "b", "c"][row % 3]).collect();
    let kind: Vec<&str> = (0..60).map(|row| ["x", "y", "y"][row % 3]).collect();
    let low: Vec<f64> = (0..60).map(|row| f64::from(row * 7 % 11)).collect();
    let high: Vec<f64> = low.iter().map(|low| low + 0.5).collect();
    let total: Vec<f64> = low
        .chunks(6)
        .flat_map(|rows| {
            rows.iter().scan(0.0, |sum, low| {
                *sum += low;
                Some(*sum)
            })
        })
        .collect();
    let data = df!("k" => keys, "state" => state, "kind" => kind, "low" => low, "high" => high, "total" => total).unwrap();
    let columns = [
        ("state", SdType::Categorical),
        ("kind", SdType::Categorical),
        ("low", SdType::Numerical),
        ("high", SdType::Numerical),
        ("total", SdType::Numerical),
    ];
    let rules = vec![
        Constraint::inequality("low", "high").strict(),
        Constraint::seen_transitions("state"),
        Constraint::fixed_combinations(["state", "kind"]),
        Constraint::running_total("total", "low"),
    ];
    let model = fitted(&columns, None, &[], rules.clone(), &data).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.parsynth");
    model.save(&path).unwrap();
    let loaded = ParSynthesizer::load(&path).unwrap();
    assert_eq!(loaded.constraints(), rules);
    let synthetic = sampled(&loaded, 100);
    assert!(synthetic.equals_missing(&sampled(&model, 100)));
    let (low, high) = (numbers(&synthetic, "low"), numbers(&synthetic, "high"));
    assert!((0..low.len()).all(|row| low[row] < high[row]));
    let (state, kind) = (texts(&synthetic, "state"), texts(&synthetic, "kind"));
    assert!((0..state.len()).all(|row| (state[row] == "a") == (kind[row] == "x")));
}

#[test]
fn a_table_that_was_edited_is_checked_again_and_the_sampled_one_keeps_all_rules() {
    let keys: Vec<String> = (0..40).map(|row| format!("k{}", row / 4)).collect();
    let low: Vec<f64> = (0..40).map(|row| f64::from(row * 7 % 11)).collect();
    let high: Vec<f64> = low.iter().map(|low| low + 0.5).collect();
    let state: Vec<&str> = (0..40).map(|row| ["a", "b"][row % 2]).collect();
    let sign: Vec<&str> = (0..40).map(|row| ["x", "y"][row % 2]).collect();
    let data =
        df!("k" => keys, "low" => low, "high" => high, "state" => state, "sign" => sign).unwrap();
    let columns = [
        ("low", SdType::Numerical),
        ("high", SdType::Numerical),
        ("state", SdType::Categorical),
        ("sign", SdType::Categorical),
    ];
    let rules = vec![
        Constraint::inequality("low", "high"),
        Constraint::seen_transitions("state"),
        Constraint::fixed_combinations(["state", "sign"]),
    ];
    let fitted = fitted(&columns, None, &[], rules, &data).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.parsynth");
    fitted.save(&path).unwrap();
    let model = ParSynthesizer::load(&path).unwrap();
    let synthetic = sampled(&model, 50);
    model.validate_constraints(&synthetic).unwrap();
    model.validate_constraints(&data).unwrap();

    let edited = |column: &str, new: Column| {
        let mut edited = data.clone();
        edited.replace(column, new).unwrap();
        model
            .validate_constraints(&edited)
            .map_err(|error| error.to_string())
    };
    let mut high = numbers(&data, "high");
    high[2] = -1.0;
    high[38] = -1.0;
    let message = edited("high", Column::new("high".into(), high)).unwrap_err();
    assert!(
        message.starts_with(
            "constraint `low` <= `high`: 2 of the data's rows break it, first rows 2, 38;"
        ),
        "{message}"
    );
    let mut state = texts(&data, "state");
    "a".clone_into(&mut state[1]);
    let message = edited("state", Column::new("state".into(), &state)).unwrap_err();
    // Row 2 is another `a`.
    assert!(message.contains("first rows 1, 2;"), "{message}");
    "new".clone_into(&mut state[1]);
    assert_eq!(edited("state", Column::new("state".into(), state)), Ok(()));
    let mut sign = texts(&data, "sign");
    "x".clone_into(&mut sign[39]);
    let message = edited("sign", Column::new("sign".into(), sign)).unwrap_err();
    assert!(
        message.contains("combinations") && message.contains("first row 39;"),
        "{message}"
    );
    let message = model
        .validate_constraints(&data.drop("low").unwrap())
        .unwrap_err();
    assert!(message.to_string().contains("`low`"), "{message}");
}

#[test]
fn a_model_with_a_computed_column_before_its_inputs_can_be_saved_and_loaded() {
    let keys: Vec<String> = (0..30).map(|row| format!("k{}", row / 3)).collect();
    let price: Vec<f64> = (0..30).map(|row| f64::from(row / 3 * 7 % 11)).collect();
    let fee: Vec<f64> = (0..30).map(|row| f64::from(row / 3 % 4)).collect();
    let sum: Vec<f64> = price.iter().zip(&fee).map(|(a, b)| a + b).collect();
    let data = df!("sum" => sum, "k" => keys, "price" => price, "fee" => fee).unwrap();
    let metadata = Metadata::builder()
        .column("sum", SdType::Numerical)
        .column("k", id())
        .column("price", SdType::Numerical)
        .column("fee", SdType::Numerical)
        .sequence_key("k")
        .build()
        .unwrap();
    let rules = [Constraint::formula("sum", "price + fee")];
    for context in [&[][..], &["sum", "price", "fee"]] {
        let builder = ParSynthesizer::builder(metadata.clone()).constraints(rules.clone());
        let builder = builder.context_columns(context.iter().copied());
        let model = builder.epochs(0).seed(5).fit(&data).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.parsynth");
        model.save(&path).unwrap();
        let loaded = ParSynthesizer::load(&path).unwrap();
        let synthetic = sampled(&loaded, 20);
        assert!(synthetic.equals_missing(&sampled(&model, 20)));
        let [sum, price, fee] = ["sum", "price", "fee"].map(|name| numbers(&synthetic, name));
        assert!((0..sum.len()).all(|row| sum[row] == price[row] + fee[row]));
    }
}
