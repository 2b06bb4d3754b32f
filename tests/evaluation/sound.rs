//! What SDMetrics' scores do not see, ours do; and no table brings a report down.

use parsynth::{
    EvaluationError, EvaluationOptions, EvaluationReport, Metadata, SdType, evaluate_with,
};
use polars::prelude::*;

fn metadata(columns: &[(&str, SdType)]) -> Metadata {
    let id = SdType::Id { regex_format: None };
    let start = Metadata::builder().column("key", id).sequence_key("key");
    columns
        .iter()
        .fold(start, |builder, (name, sdtype)| {
            builder.column(*name, sdtype.clone())
        })
        .build()
        .unwrap()
}

fn numbers(names: &[&str]) -> Metadata {
    metadata(
        &names
            .iter()
            .map(|&name| (name, SdType::Numerical))
            .collect::<Vec<_>>(),
    )
}

fn report(real: &DataFrame, synthetic: &DataFrame, metadata: &Metadata) -> EvaluationReport {
    try_report(real, synthetic, metadata).unwrap()
}

fn try_report(
    real: &DataFrame,
    synthetic: &DataFrame,
    metadata: &Metadata,
) -> Result<EvaluationReport, EvaluationError> {
    let options = EvaluationOptions::new().seed(1);
    evaluate_with(real, synthetic, Some(real), metadata, &options)
}

/// Keys of sequences of equal length.
fn keys(sequences: usize, rows: usize) -> Vec<String> {
    (0..sequences * rows)
        .map(|row| format!("k{}", row / rows))
        .collect()
}

/// Whole numbers below `limit` without a pattern that matters (a multiplicative generator).
fn noise(count: usize, seed: u64, limit: u64) -> Vec<f64> {
    let mut state = seed * 2 + 1;
    let mut draw = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % limit
    };
    (0..count).map(|_| draw() as f64).collect()
}

#[test]
fn an_invented_relation_lowers_the_score_of_all_pairs_alone() {
    let x = noise(400, 1, 1000);
    let real = df!("key" => keys(40, 10), "x" => &x, "y" => noise(400, 2, 1000)).unwrap();
    let synthetic = df!("key" => keys(40, 10), "x" => &x, "y" => &x).unwrap();
    let quality = report(&real, &synthetic, &numbers(&["x", "y"])).quality;
    assert_eq!(quality.column_pair_trends, None);
    assert!(quality.all_pair_trends.unwrap() < 0.6, "{quality:?}");
}

#[test]
fn a_shifted_column_lowers_the_score_of_all_pairs_alone() {
    let kinds = [("x", SdType::Numerical), ("c", SdType::Categorical)];
    let x: Vec<f64> = (0..100).map(|row| f64::from(row % 20)).collect();
    let shifted: Vec<f64> = x.iter().map(|x| x + 100.0).collect();
    let c: Vec<&str> = x
        .iter()
        .map(|&x| if x < 10.0 { "low" } else { "high" })
        .collect();
    let real = df!("key" => keys(10, 10), "x" => &x, "c" => &c).unwrap();
    let synthetic = df!("key" => keys(10, 10), "x" => shifted, "c" => &c).unwrap();
    let quality = report(&real, &synthetic, &metadata(&kinds)).quality;
    assert_eq!(quality.column_pair_trends, Some(1.0));
    assert!(quality.all_pair_trends.unwrap() < 0.2, "{quality:?}");
}

#[test]
fn steps_that_cancel_are_seen() {
    let calm = vec![5.0; 200];
    let wild: Vec<f64> = (0..200)
        .map(|row| if row % 2 == 0 { 0.0 } else { 10.0 })
        .collect();
    let real = df!("key" => keys(20, 10), "x" => calm).unwrap();
    let synthetic = df!("key" => keys(20, 10), "x" => wild).unwrap();
    let steps = &report(&real, &synthetic, &numbers(&["x"]))
        .sequences
        .columns[0]
        .steps;
    assert_eq!(steps.spread_similarity, Some(0.0));
    assert!(steps.distribution_similarity.unwrap() < 0.5, "{steps:?}");
}

#[test]
fn wild_and_calm_sequences_mixed_into_each_other_are_seen() {
    // In both tables half of the steps are 0 and half are 1 or -1: in the real one half of the sequences make them
    // all, in the synthetic one each makes its share.
    let wild = [0.0, 1.0, 0.0, 1.0, 0.0];
    let calm = [0.0; 5];
    let mixed = [0.0, 1.0, 0.0, 0.0, 0.0];
    let real: Vec<f64> = (0..20)
        .flat_map(|at| if at % 2 == 0 { wild } else { calm })
        .collect();
    let synthetic: Vec<f64> = (0..20).flat_map(|_| mixed).collect();
    let real = df!("key" => keys(20, 5), "x" => real).unwrap();
    let synthetic = df!("key" => keys(20, 5), "x" => synthetic).unwrap();
    let column = &report(&real, &synthetic, &numbers(&["x"]))
        .sequences
        .columns[0];
    assert_eq!(column.inter_row[0].score, Some(1.0));
    assert_eq!(column.steps.spread_similarity, Some(0.5));
}

#[test]
fn a_copy_under_a_new_key_is_a_copy() {
    let x = noise(60, 3, 1_000_000);
    let turned: Vec<f64> = x.iter().rev().copied().collect();
    let other: Vec<String> = keys(6, 10).iter().map(|key| format!("new {key}")).collect();
    let real = df!("key" => keys(6, 10), "x" => &x).unwrap();
    let synthetic = df!("key" => other, "x" => turned).unwrap();
    let novelty = report(&real, &synthetic, &numbers(&["x"])).novelty;
    assert_eq!(
        (novelty.new_rows, novelty.new_sequences),
        (Some(0.0), Some(0.0))
    );
    assert_eq!(novelty.new_row_synthesis, Some(0.0));
    assert_eq!(novelty.dcr_median_synthetic, Some(0.0));
}

#[test]
fn rows_of_real_sequences_in_new_company_are_new_sequences() {
    let real = df!("key" => keys(3, 2), "x" => [1, 2, 3, 4, 5, 6]).unwrap();
    let synthetic = df!("key" => keys(3, 2), "x" => [1, 3, 2, 1, 4, 6]).unwrap();
    let novelty = report(&real, &synthetic, &numbers(&["x"])).novelty;
    assert_eq!(novelty.new_rows, Some(0.0));
    assert_eq!(novelty.new_sequences, Some(2.0 / 3.0));
}

#[test]
fn lengths_do_not_depend_on_the_size_of_the_table() {
    let table = |lengths: &[usize]| {
        let sequence = |(key, &rows): (usize, &usize)| vec![key.to_string(); rows];
        let keys: Vec<String> = lengths.iter().enumerate().flat_map(sequence).collect();
        df!("x" => vec![0; keys.len()], "key" => keys).unwrap()
    };
    let similarity = |real: &[usize], synthetic: &[usize]| {
        let report = report(&table(real), &table(synthetic), &numbers(&["x"]));
        report.sequences.lengths.similarity.unwrap()
    };
    assert_eq!(similarity(&[2, 3, 1], &[2, 1, 3]), 1.0);
    assert!((similarity(&[4, 6, 2], &[2, 1, 3]) - 1.0 / 3.0).abs() < 1e-12); // 1 - 2/3
}

#[test]
fn one_single_sequence_is_compared_in_windows() {
    let metadata = Metadata::builder()
        .column("x", SdType::Numerical)
        .build()
        .unwrap();
    let x = noise(200, 4, 1000);
    let real = df!("x" => &x).unwrap();
    let sequences = report(&real, &real, &metadata).sequences;
    assert_eq!(sequences.window_rows, Some(10));
    assert_eq!(sequences.lengths.real.longest, 200);
    assert_eq!(sequences.columns[0].steps.score, Some(1.0));
}

#[test]
fn a_column_of_another_dtype_is_named() {
    let kinds = [("x", SdType::Numerical), ("y", SdType::Numerical)];
    let real = df!("key" => ["a", "a", "b"], "x" => [1, 2, 3], "y" => [1, 2, 3]).unwrap();
    let synthetic =
        df!("key" => ["a", "a", "b"], "x" => [1.0, 2.0, 3.0], "y" => [1, 2, 3]).unwrap();
    let diagnostic = report(&real, &synthetic, &metadata(&kinds)).diagnostic;
    assert_eq!(diagnostic.data_structure, Some(0.5)); // two of four pairs of name and dtype
    assert_eq!(diagnostic.dtype_differences.len(), 1);
    assert_eq!(diagnostic.dtype_differences[0].column, "x");
}

/// Tables that may bring a report down, by name.
fn odd_tables() -> Vec<(&'static str, DataFrame)> {
    let table = |key: Vec<&str>, x: Vec<Option<f64>>, c: Vec<Option<&str>>| {
        df!("key" => key, "x" => x, "c" => c).unwrap()
    };
    let some = |numbers: &[f64]| numbers.iter().copied().map(Some).collect::<Vec<_>>();
    vec![
        ("one row", table(vec!["a"], some(&[1.0]), vec![Some("u")])),
        (
            "one sequence",
            table(
                vec!["a"; 3],
                some(&[1.0, 2.0, 4.0]),
                vec![Some("u"), None, Some("v")],
            ),
        ),
        (
            "sequences of one row",
            table(
                vec!["a", "b", "c"],
                some(&[5.0, 5.0, 6.0]),
                vec![Some("w"); 3],
            ),
        ),
        (
            "all missing",
            table(vec!["a", "a", "b"], vec![None; 3], vec![None; 3]),
        ),
        (
            "constant",
            table(
                vec!["a", "a", "b", "b"],
                vec![Some(7.0); 4],
                vec![Some("u"); 4],
            ),
        ),
        (
            "huge",
            table(
                vec!["a", "a", "a", "b", "b"],
                some(&[1e300, -1e300, 1e300, f64::MAX, f64::MIN]),
                vec![Some("u"), Some("v"), Some("u"), Some(""), None],
            ),
        ),
        (
            "not a number",
            table(
                vec!["a", "a", "b", "b"],
                some(&[f64::NAN, 1.0, 2.0, f64::NAN]),
                vec![None; 4],
            ),
        ),
    ]
}

#[test]
fn no_table_brings_a_report_down_and_every_number_in_it_is_finite() {
    let kinds = [("x", SdType::Numerical), ("c", SdType::Categorical)];
    let metadata = metadata(&kinds);
    for (real_name, real) in odd_tables() {
        for (synthetic_name, synthetic) in odd_tables() {
            let what = format!("{real_name} and {synthetic_name}");
            let report = report(&real, &synthetic, &metadata);
            let shown = format!(
                "{:?} {:?} {:?} {:?}",
                report.quality, report.diagnostic, report.columns, report.sequences
            );
            assert!(
                !shown.contains("NaN") && !shown.contains("inf"),
                "{what}: {shown}"
            );
        }
    }
}

#[test]
fn infinity_is_refused_or_leaves_every_number_finite() {
    let real = df!("key" => ["a", "a", "b"], "x" => [1.0, 2.0, f64::INFINITY]).unwrap();
    if let Ok(report) = try_report(&real, &real, &numbers(&["x"])) {
        let shown = format!(
            "{:?} {:?} {:?}",
            report.quality, report.columns, report.sequences
        );
        assert!(!shown.contains("NaN") && !shown.contains("inf"), "{shown}");
    }
}

#[test]
fn a_report_is_small_however_many_categories_and_sequences_there_are() {
    let rows = 200_000;
    let kinds = [("x", SdType::Numerical), ("c", SdType::Categorical)];
    let metadata = metadata(&kinds);
    let table = |from: usize| {
        let labels: Vec<String> = (from..from + rows)
            .map(|row| (row / 2).to_string())
            .collect();
        df!("key" => keys(rows, 1), "x" => noise(rows, 5, 1 << 30), "c" => labels).unwrap()
    };
    let report = report(&table(0), &table(50_000), &metadata);
    let json = serde_json::to_string(&(&report.quality, &report.columns, &report.sequences));
    let bytes = json.unwrap().len();
    assert!(bytes < 50_000, "{bytes} bytes");
    assert_eq!(report.columns.categories[0].shares.len(), 20);
    let pair = &report.columns.worst_pairs[0];
    assert!(
        pair.first.labels.len() <= 14 && pair.second.labels.len() <= 14,
        "{pair:?}"
    );
}

#[test]
fn a_seeded_report_does_not_depend_on_the_number_of_threads() {
    let rows = 12_000; // more than are looked up, and than are held against each other
    let kinds = [
        ("x", SdType::Numerical),
        ("y", SdType::Numerical),
        ("c", SdType::Categorical),
    ];
    let metadata = metadata(&kinds);
    let table = |seed: u64| {
        let labels: Vec<String> = noise(rows, seed, 9).iter().map(f64::to_string).collect();
        df!("key" => keys(rows / 10, 10), "x" => noise(rows, seed + 1, 1000),
            "y" => noise(rows, seed + 2, 77), "c" => labels)
        .unwrap()
    };
    let (real, synthetic) = (table(1), table(20));
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let report = pool.install(|| report(&real, &synthetic, &metadata));
        (
            report.quality,
            report.diagnostic,
            report.columns,
            report.sequences,
        )
    };
    assert_eq!(with(1), with(3));
}
