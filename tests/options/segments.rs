//! Long sequences learned in segments.

use crate::common::*;
use parsynth::{SampleOptions, SdType};
use polars::prelude::*;

#[test]
fn segments_are_learned_as_sequences_and_lose_no_row() {
    // Eleven rows, five rows, one row.
    let keys: Vec<i64> = [vec![0; 11], vec![1; 5], vec![2; 1]].concat();
    let towns: Vec<&str> = keys
        .iter()
        .map(|&key| ["a", "b", "c"][key as usize])
        .collect();
    let frame = df!("k" => &keys, "town" => towns, "v" => noise(17)).unwrap();
    let columns = [
        ("k", id()),
        ("town", SdType::Categorical),
        ("v", SdType::Numerical),
    ];
    let model = builder(&columns)
        .context_columns(["town"])
        .segment_size(4)
        .epochs(2)
        .fit(&frame)
        .unwrap();
    let report = model.report();
    assert_eq!(
        (report.rows, report.sequences, report.segments),
        (17, 3, Some(6))
    );
    assert_eq!(report.training_sequences + report.validation_sequences, 6);
    assert_eq!(model.info().segments, Some(6));
    let made = lengths(&sample(&model, 200));
    // 4, 4 and 3 rows, 4 and 1, and 1.
    assert!(made.iter().all(|rows| (1..=4).contains(rows)));
    assert!(made.contains(&4) && made.contains(&1));
    let likelihood = model.log_likelihood(&frame).unwrap();
    let rows = likelihood
        .sequences()
        .column("rows")
        .unwrap()
        .u64()
        .unwrap();
    assert_eq!(rows.iter().flatten().collect::<Vec<_>>(), [11, 5, 1]);
    assert!(likelihood.nats_per_sequence().is_finite());
    assert_eq!(
        model.continue_sequences(&frame, 2).unwrap().height(),
        17 + 6
    );
}

#[test]
fn segments_of_one_sequence_share_no_value_with_each_other() {
    // One person alone has the town `c`, over many segments.
    let towns: Vec<&str> = (0..60)
        .map(|row| if row < 30 { "c" } else { ["a", "b"][row % 2] })
        .collect();
    let keys: Vec<i64> = (0..60)
        .map(|row| if row < 30 { 0 } else { row / 5 })
        .collect();
    let frame = df!("k" => &keys, "town" => towns, "v" => noise(60)).unwrap();
    let columns = [
        ("k", id()),
        ("town", SdType::Categorical),
        ("v", SdType::Numerical),
    ];
    let fit = |protection: usize| {
        builder(&columns)
            .segment_size(3)
            .value_protection(protection)
            .epochs(0)
            .fit(&frame)
    };
    let made = sample(&fit(2).unwrap(), 200);
    let towns = made
        .column("town")
        .unwrap()
        .unique()
        .unwrap()
        .sort(SortOptions::default())
        .unwrap();
    let towns: Vec<&str> = towns.str().unwrap().iter().flatten().collect();
    assert_eq!(towns, ["a", "b"]);
    // Seven sequences, whatever the segments.
    let error = fit(8).unwrap_err();
    assert_eq!(
        error.to_string(),
        "option `value_protection` is 8, expected 1 to 7"
    );
}

#[test]
fn a_series_without_key_is_learned_in_windows_and_holds_some_out() {
    let values: Vec<f64> = noise(400)
        .iter()
        .enumerate()
        .map(|(row, v)| (row / 40 % 2) as f64 * 10.0 + v)
        .collect();
    let frame = df!("t" => (0..400_i64).collect::<Vec<_>>(), "v" => values).unwrap();
    let columns = [("t", SdType::Numerical), ("v", SdType::Numerical)];
    let model = builder(&columns)
        .segment_size(20)
        .epochs(20)
        .fit(&frame)
        .unwrap();
    let report = model.report();
    assert_eq!((report.sequences, report.segments), (1, Some(20)));
    assert_eq!(
        (report.validation_sequences, report.training_sequences),
        (2, 18)
    );
    let window = model
        .sample_with(&SampleOptions::sequences(1).seed(2))
        .unwrap();
    assert_eq!(window.height(), 20);
    // Windows begin all over the series, on both levels.
    let many = reals(
        &model
            .sample_with(&SampleOptions::sequences(200).seed(2))
            .unwrap(),
        "v",
    );
    let high = many.iter().filter(|&&v| v > 5.5).count() as f64 / many.len() as f64;
    assert!((0.3..0.7).contains(&high), "{high}");
}

#[test]
fn a_segment_of_no_rows_is_refused() {
    let error = builder(&numbers())
        .segment_size(0)
        .fit(&numbers_frame())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "option `segment_size` is 0, expected 1 to 10000000"
    );
}
