//! Constraints outlive saving.

use crate::common::{fitted, numbers, sampled, texts};
use parsynth::{Constraint, ParSynthesizer, SdType};
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
