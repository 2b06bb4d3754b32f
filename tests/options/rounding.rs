//! Decimals of sampled numbers.

use crate::common::*;
use parsynth::SdType;
use polars::prelude::*;

/// Two decimals, whole floats, sixteen digits, tens as whole numbers.
fn decimals_frame(scale: f64) -> DataFrame {
    let draws = noise(200);
    let rounded: Vec<Option<f64>> = draws
        .iter()
        .enumerate()
        .map(|(row, v)| (row != 3).then(|| (v * 50.0 * scale).round() / scale))
        .collect();
    let whole: Vec<f64> = draws.iter().map(|v| (v * 400.0).round()).collect();
    let digits: Vec<f64> = draws.iter().map(|v| v * 1000.0 / 7.0).collect();
    let tens: Vec<i64> = draws.iter().map(|v| (v * 90.0) as i64 * 10).collect();
    df!("k" => keys(20, 10), "rounded" => rounded, "whole" => whole, "digits" => digits, "tens" => tens)
        .unwrap()
}

fn decimals_columns() -> [(&'static str, SdType); 5] {
    [
        ("k", id()),
        ("rounded", SdType::Numerical),
        ("whole", SdType::Numerical),
        ("digits", SdType::Numerical),
        ("tens", SdType::Numerical),
    ]
}

/// Cells that are not what rounding to so many decimals makes of them.
fn unrounded(frame: &DataFrame, column: &str, decimals: i32) -> usize {
    let scale = 10_f64.powi(decimals);
    let values = reals(frame, column);
    values
        .iter()
        .filter(|&&v| (v * scale).round() / scale != v)
        .count()
}

#[test]
fn decimals_are_those_seen_and_a_second_fit_learns_its_own() {
    for decimals in [2, 4] {
        let frame = decimals_frame(10_f64.powi(decimals));
        let model = builder(&decimals_columns()).epochs(0).fit(&frame).unwrap();
        let synthetic = sample(&model, 40);
        assert_eq!(unrounded(&synthetic, "rounded", decimals), 0);
        assert!(unrounded(&synthetic, "rounded", decimals - 1) > 0);
        assert_eq!(unrounded(&synthetic, "whole", 0), 0);
        assert!(reals(&synthetic, "whole").iter().any(|v| v % 10.0 != 0.0));
        assert!(unrounded(&synthetic, "digits", 8) > 300);
        assert!(reals(&synthetic, "tens").iter().all(|v| v % 10.0 == 0.0));
    }
}

#[test]
fn without_enforced_rounding_floats_come_back_as_drawn_and_whole_numbers_whole() {
    let frame = decimals_frame(100.0);
    let model = builder(&decimals_columns())
        .enforce_rounding(false)
        .epochs(0)
        .fit(&frame)
        .unwrap();
    let synthetic = sample(&model, 40);
    assert_eq!(synthetic.schema(), frame.schema());
    let present = reals(&synthetic, "rounded").len();
    assert!(unrounded(&synthetic, "rounded", 2) > present * 9 / 10);
    assert!(unrounded(&synthetic, "whole", 0) > 300);
    assert!(reals(&synthetic, "tens").iter().all(|v| v % 10.0 == 0.0));
    let (values, real) = (reals(&synthetic, "rounded"), reals(&frame, "rounded"));
    let (low, high) = real
        .iter()
        .fold((f64::MAX, f64::MIN), |(l, h), &v| (l.min(v), h.max(v)));
    assert!(values.iter().all(|v| (low..=high).contains(v)));
    let likelihood = model.log_likelihood(&frame).unwrap();
    assert!(likelihood.nats_per_row().is_finite());
    assert!(sample(&reloaded(&model).0, 40).equals_missing(&synthetic));
}
