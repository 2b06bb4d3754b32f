//! What is measured along time, on tables with planted faults, and beside an outside judge.

use parsynth::{EvaluationOptions, Metadata, evaluate_with, read_csv};
use rand::rngs::ChaCha12Rng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;
use std::path::Path;

use crate::common::{Rows, evaluated, sequences};

#[test]
fn the_outside_judge_says_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/evaluation/golden");
    let judge: Value =
        serde_json::from_str(&std::fs::read_to_string(folder.join("judge.json")).unwrap()).unwrap();
    for (table, context) in [
        ("stores", vec!["region"]),
        ("pbc_visits", vec!["trt", "age", "sex"]),
        ("males_wage", vec!["school", "ethn"]),
        ("storms", vec![]),
    ] {
        let metadata =
            Metadata::from_json_file(folder.join(format!("{table}.metadata.json"))).unwrap();
        let read = |side| read_csv(folder.join(format!("{table}.{side}.csv")), &metadata).unwrap();
        let options = EvaluationOptions::new().context_columns(context).seed(1);
        let report =
            evaluate_with(&read("real"), &read("synthetic"), None, &metadata, &options).unwrap();
        for (name, theirs) in [
            ("marginals", "marginals"),
            ("pairs", "pairs"),
            ("sequence statistics", "seq_stats"),
            ("row changes", "inter_row"),
            ("lengths", "lengths"),
            ("transitions", "transitions"),
            ("autocorrelation", "autocorr"),
        ] {
            let score = report
                .fidelity
                .scores
                .iter()
                .find(|score| score.name == name)
                .unwrap();
            let mut score = score.score.unwrap();
            if name == "pairs" {
                // The judge's library gives no score to a pair whose real correlation is exactly 0, as a balanced design
                // has it, whatever the synthetic one is; ours scores it like any other.
                let pairs = &report.quality.pairs;
                let counted = pairs
                    .iter()
                    .filter(|pair| pair.real_correlation.is_none_or(|real| real.abs() > 1e-12));
                let counted: Vec<f64> = counted.filter_map(|pair| pair.plain_score).collect();
                score = counted.iter().sum::<f64>() / counted.len() as f64;
            }
            let wanted = judge[table][theirs].as_f64().unwrap();
            // Sums of a few hundred terms around 1, in another order.
            let off = (score - wanted).abs();
            assert!(
                off < 1e-9,
                "{table}, {name}: {score}, the judge says {wanted}"
            );
        }
    }
}

#[test]
fn a_fresh_sample_of_the_same_source_stands_out_in_nothing() {
    let report = evaluated(
        &sequences(150, 0.8, 1),
        &sequences(150, 0.8, 2),
        Some(&sequences(150, 0.8, 3)),
    );
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    let (overall, halves) = (
        report.fidelity.overall.unwrap(),
        report.fidelity.overall_of_real_halves.unwrap(),
    );
    assert!((overall - halves).abs() < 0.05, "{overall} {halves}");
    // Four standard errors of an area of 150 sequences a side.
    assert!((report.two_sample.auc.unwrap() - 0.5).abs() < 0.14);
    assert!(report.next_row.score.unwrap() > 0.9);
}

/// The same values in the same sequences, but in another order: all that looks at single rows is content.
#[test]
fn rows_that_are_shuffled_in_time_are_seen() {
    let real = sequences(200, 0.9, 1);
    let report = evaluated(
        &real,
        &real.shuffled_in_time(5),
        Some(&sequences(200, 0.9, 3)),
    );
    assert_eq!(report.quality.column_shapes, Some(1.0));
    let time = &report.along_time;
    let curve = time
        .autocorrelations
        .iter()
        .find(|curve| curve.column == "x")
        .unwrap();
    assert!(
        curve.real[0].unwrap() > curve.synthetic[0].unwrap() + 0.3,
        "{curve:?}"
    );
    assert!(
        time.transition_score.unwrap() < 0.9,
        "{:?}",
        time.transition_score
    );
    let spectrum = time
        .spectra
        .iter()
        .find(|spectrum| spectrum.column == "x")
        .unwrap();
    assert!(spectrum.score < 0.8, "{spectrum:?}");
    assert!(report.two_sample.indistinct.unwrap() < 0.3);
    let next = report
        .next_row
        .columns
        .iter()
        .find(|column| column.column == "x")
        .unwrap();
    assert!(
        next.real_skill.unwrap() > next.synthetic_skill.unwrap() + 0.1,
        "{next:?}"
    );
    assert!(report.sequences.step_similarity.unwrap() < 0.9);
    let first = &report.findings[0];
    assert!(
        ["whole sequences", "x", "c"].contains(&first.about.as_str()),
        "{first:?}"
    );
}

/// A level far above its steps, which go up when the state is `calm` and down when it is not, or by chance alone.
fn levels(seed: u64, by_state: bool) -> Rows {
    let mut generator = ChaCha12Rng::seed_from_u64(seed);
    let mut rows = sequences(200, 0.2, seed);
    let mut number = 0.0;
    for row in 0..rows.keys.len() {
        if rows.times[row] == 0 {
            number = f64::round(generator.random_range(0.0..1e4));
        }
        rows.numbers[row] = number;
        let up = if by_state {
            rows.states[row] == "calm"
        } else {
            generator.random_bool(0.5)
        };
        number += if up { 1.0 } else { -1.0 };
    }
    rows
}

/// Against the mean either is foretold nearly perfectly, by the row before.
#[test]
fn steps_that_follow_nothing_are_seen_under_levels_that_last() {
    let (real, holdout) = (levels(1, true), levels(3, true));
    let score = |synthetic: &Rows| {
        let report = evaluated(&real, synthetic, Some(&holdout));
        let columns = &report.next_row.columns;
        columns
            .iter()
            .find(|column| column.column == "x")
            .unwrap()
            .clone()
    };
    let (fresh, faulty) = (score(&levels(2, true)), score(&levels(2, false)));
    assert!(
        fresh.real_skill.unwrap() > 0.8 && fresh.score.unwrap() > 0.9,
        "{fresh:?}"
    );
    assert!(
        faulty.synthetic_skill.unwrap() < 0.2 && faulty.score.unwrap() < 0.4,
        "{faulty:?}"
    );
}

/// Same pairs of states: runs of one and of three rows, or all of two.
#[test]
fn runs_are_measured_beside_pairs() {
    let states = |runs: &[&str]| {
        let mut rows = sequences(1, 0.5, 1);
        for column in [&mut rows.keys, &mut rows.groups] {
            let first = column[0].clone();
            column.resize(8, first);
        }
        rows.times = (0..8).collect();
        rows.numbers = vec![0.5; 8];
        rows.states = runs.iter().map(|state| (*state).to_owned()).collect();
        rows
    };
    let real = states(&["a", "a", "b", "b", "a", "a", "b", "b"]);
    let synthetic = states(&["a", "a", "a", "b", "b", "b", "a", "b"]);
    let rows = |from: &Rows, copies: usize| {
        let mut all = Rows::default();
        for copy in 0..copies {
            all.keys
                .extend(from.keys.iter().map(|key| format!("{key}-{copy}")));
            all.times.extend(&from.times);
            all.groups.extend(from.groups.clone());
            all.numbers.extend(&from.numbers);
            all.states.extend(from.states.clone());
        }
        all
    };
    let report = evaluated(&rows(&real, 5), &rows(&synthetic, 5), None);
    let states = &report.along_time.transitions[0];
    // Real (a a) 2, (a b) 2, (b b) 2, (b a) 1; synthetic the same.
    assert_eq!(states.score, Some(1.0));
    // Lengths 2 2 2 2 and 3 3 1 1: distribution functions differ by 1/2 at most.
    assert_eq!(states.run_score, Some(0.5));
    assert_eq!(
        (states.real_run_rows, states.synthetic_run_rows),
        (Some(2.0), Some(2.0))
    );
}

#[test]
fn sequences_that_all_look_alike_are_not_told_apart() {
    let mut alike = sequences(0, 0.5, 1);
    for key in 0..50 {
        for time in 0..3 {
            alike.keys.push(format!("{key}"));
            alike.times.push(time);
            alike.groups.push("north".to_owned());
            alike.numbers.push(1.0);
            alike.states.push("calm".to_owned());
        }
    }
    let report = evaluated(&alike, &alike, None);
    assert_eq!(
        (report.two_sample.auc, report.two_sample.indistinct),
        (Some(0.5), Some(1.0))
    );
}

#[test]
fn too_little_memory_is_named_with_its_figures() {
    let report = evaluated(&sequences(300, 0.9, 1), &sequences(300, 0.3, 2), None);
    let curve = report
        .along_time
        .autocorrelations
        .iter()
        .find(|curve| curve.column == "x")
        .unwrap();
    assert!(curve.real[0].unwrap() > curve.synthetic[0].unwrap() + 0.2);
    let named = report
        .findings
        .iter()
        .any(|finding| finding.about == "x" && finding.what.contains("too little"));
    assert!(named, "{:?}", report.findings);
}

/// numpy: for each key x -= x.mean(); np.corrcoef of x[1:], x[:-1] joined over the keys.
#[test]
fn autocorrelation_is_that_of_numpy() {
    let mut real = sequences(2, 0.5, 1);
    for column in [&mut real.keys, &mut real.groups, &mut real.states] {
        column.truncate(7);
    }
    real.keys = ["a", "a", "a", "a", "b", "b", "b"]
        .map(str::to_owned)
        .into();
    real.groups = vec!["north".to_owned(); 7];
    real.times = vec![1, 2, 3, 4, 1, 2, 3];
    real.numbers = vec![1.0, 2.0, 4.0, 3.0, 5.0, 1.0, 0.0];
    // a - 2.5: -1.5 -0.5 1.5 0.5; b - 2: 3 -1 -2. Pairs (-1.5, -0.5), (-0.5, 1.5), (1.5, 0.5), (3, -1), (-1, -2).
    // np.corrcoef([-1.5, -0.5, 1.5, 3, -1], [-0.5, 1.5, 0.5, -1, -2])[0, 1]
    let report = evaluated(&real, &real, None);
    let curve = report
        .along_time
        .autocorrelations
        .iter()
        .find(|curve| curve.column == "x")
        .unwrap();
    let wanted = 0.019_574_944_836_965_577;
    assert!((curve.real[0].unwrap() - wanted).abs() < 1e-12, "{curve:?}");
}

#[test]
fn a_context_column_that_varies_and_an_index_that_stands_still_are_found() {
    let real = sequences(60, 0.5, 1);
    let mut synthetic = sequences(60, 0.5, 2);
    for (row, group) in synthetic.groups.iter_mut().enumerate() {
        *group = ["north", "south"][row % 2].to_owned();
    }
    synthetic.times.iter_mut().for_each(|time| *time = 7);
    let report = evaluated(&real, &synthetic, None);
    assert_eq!(report.along_time.context_changes[0].real, 0.0);
    assert_eq!(report.along_time.context_changes[0].synthetic, 1.0);
    let rise = report.along_time.index_rise.as_ref().unwrap();
    assert_eq!((rise.real, rise.synthetic), (1.0, 0.0));
    for about in ["g", "t"] {
        assert!(
            report.findings.iter().any(|finding| finding.about == about),
            "{:?}",
            report.findings
        );
    }
}

#[test]
fn one_seed_measures_the_same_along_time_whatever_the_number_of_threads() {
    let (real, synthetic) = (sequences(120, 0.8, 1), sequences(120, 0.6, 2));
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let report = pool
            .build()
            .unwrap()
            .install(|| evaluated(&real, &synthetic, None));
        (
            report.along_time,
            report.two_sample,
            report.next_row,
            report.fidelity,
        )
    };
    assert_eq!(with(1), with(4));
}
