//! Categorical columns: codes held as numbers, very many values, and order of events.

use crate::common::*;
use SdType::{Categorical, Numerical};
use parsynth::{ParSynthesizer, SdType};
use polars::prelude::*;
use std::collections::BTreeSet;

#[test]
fn categories_held_as_numbers_are_never_averaged() {
    let k: Vec<i32> = (0..10).flat_map(|sequence| [sequence; 4]).collect();
    let t: Vec<i64> = (0..40).map(|row| row % 4).collect();
    let c: Vec<f64> = (0..40)
        .map(|row| if row % 3 == 0 { 50.0 } else { 100.0 })
        .collect();
    let n: Vec<i64> = (0..40)
        .map(|row| if row % 2 == 0 { 202 } else { 404 })
        .collect();
    let data = df!("k" => k, "t" => t, "c" => c, "n" => n).unwrap();
    // Right after the time column, before it, and first of all.
    for order in [
        ["k", "t", "c", "n"],
        ["c", "n", "k", "t"],
        ["n", "k", "t", "c"],
    ] {
        let data = data.select(order).unwrap();
        let metadata = metadata(
            &[
                ("k", id()),
                ("t", Numerical),
                ("c", Categorical),
                ("n", Categorical),
            ],
            Some("k"),
            Some("t"),
        );
        let synthesizer = ParSynthesizer::builder(metadata)
            .seed(1)
            .epochs(2)
            .fit(&data)
            .unwrap();
        let synthetic = sampled(&synthesizer, 100);
        assert_eq!(shape(&synthetic), shape(&data));
        for (column, seen) in [("c", [50.0, 100.0]), ("n", [202.0, 404.0])] {
            let found = numbers(&synthetic, column);
            assert_eq!(found.len(), synthetic.height());
            assert!(
                found.iter().all(|value| seen.contains(value)),
                "{order:?}: {column}"
            );
            // 400 draws of a model hardly trained: both values occur.
            assert!(
                seen.iter().all(|value| found.contains(value)),
                "{order:?}: {column}"
            );
        }
    }
}

#[test]
fn thousands_of_categories_fit_and_are_warned_about_by_name_and_count() {
    let k: Vec<i32> = (0..100).flat_map(|sequence| [sequence; 50]).collect();
    let c: Vec<String> = (0..5_000)
        .map(|row| format!("value {}", row * 7 % 2_000))
        .collect();
    let data = df!("k" => k, "c" => &c).unwrap();
    let fit = |column: SdType| {
        keyed(&[("c", column)])
            .epochs(1)
            .hidden_size(16)
            .fit(&data)
            .unwrap()
    };
    let synthesizer = fit(Categorical);
    let warnings = &synthesizer.report().warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].contains("`c`") && warnings[0].contains("2000"),
        "{warnings:?}"
    );
    // Linear in the categories: an embedding of 8 in and a row of 64 out each, never 2,000 times 2,000.
    let weights = synthesizer.report().weights;
    assert!(weights < 2_000 * 200, "{weights} weights");
    let seen: BTreeSet<String> = c.iter().cloned().collect();
    let synthetic = sampled(&synthesizer, 20);
    assert!(
        texts(&synthetic, "c")
            .into_iter()
            .all(|text| seen.contains(&text.unwrap()))
    );
    // Made up, the same column needs no warning.
    assert!(fit(id()).report().warnings.is_empty());
}

#[test]
fn events_that_always_come_in_one_order_are_sampled_in_it() {
    let k: Vec<i32> = (0..50).flat_map(|sequence| [sequence; 3]).collect();
    let c: Vec<&str> = (0..50)
        .flat_map(|_| ["signup", "onboarding", "payment"])
        .collect();
    let data = df!("k" => k, "c" => c).unwrap();
    let in_order = |epochs: usize| {
        let synthesizer = keyed(&[("c", Categorical)])
            .epochs(epochs)
            .fit(&data)
            .unwrap();
        let synthetic = sampled(&synthesizer, 200);
        let events = texts(&synthetic, "c");
        let ranges = sequences(&synthetic, "k");
        assert_eq!(ranges.len(), 200);
        let right = ranges
            .into_iter()
            .filter(|rows| {
                let events: Vec<_> = events[rows.clone()].iter().flatten().collect();
                events == ["signup", "onboarding", "payment"]
            })
            .count();
        right as f64 / 200.0
    };
    // 196 of 200: what the model leaves to chance at all is a few in a thousand.
    let trained = in_order(300);
    assert!(trained >= 0.98, "{trained}");
    // Untrained it is luck: 1 in 27.
    let untrained = in_order(0);
    assert!(untrained < 0.3, "{untrained}");
}

#[test]
fn a_category_held_as_floats_keeps_the_very_floats() {
    let seen = [-0.5, 5e-324, 0.1 + 0.2, 1e300];
    let k: Vec<i32> = (0..40).map(|row| row / 10).collect();
    let c: Vec<f64> = (0..40).map(|row| seen[row % 4]).collect();
    let data = df!("k" => k, "c" => c).unwrap();
    let synthesizer = keyed(&[("c", Categorical)]).epochs(0).fit(&data).unwrap();
    let mut found = numbers(&sampled(&synthesizer, 40), "c");
    found.sort_by(f64::total_cmp);
    found.dedup();
    assert_eq!(found, seen);
}
