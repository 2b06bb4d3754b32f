//! What shines through, on tables in which something was made to.

use parsynth::evaluation::Outcome;
use parsynth::{EvaluationReport, Metadata, SdType, evaluate};
use polars::prelude::*;

use crate::common::{Rows, evaluated, id, sequences};

fn outcome(report: &EvaluationReport, check: &str) -> Outcome {
    let verdicts = &report.privacy.verdicts;
    verdicts
        .iter()
        .find(|verdict| verdict.check == check)
        .unwrap()
        .outcome
}

/// Under new keys, some of the rows of each sequence changing places in the table.
fn renamed(rows: &Rows) -> Rows {
    let mut copy = rows.clone();
    copy.keys
        .iter_mut()
        .for_each(|key| *key = format!("new {key}"));
    let count = copy.keys.len();
    for row in 0..count / 2 {
        let other = count - 1 - row;
        copy.keys.swap(row, other);
        copy.times.swap(row, other);
        copy.groups.swap(row, other);
        copy.numbers.swap(row, other);
        copy.states.swap(row, other);
    }
    copy
}

#[test]
fn a_copy_under_new_keys_is_a_copy() {
    let real = sequences(60, 0.7, 1);
    let report = evaluated(&real, &renamed(&real), Some(&sequences(60, 0.7, 2)));
    let privacy = &report.privacy;
    assert_eq!((privacy.copies.sequences, privacy.copies.share), (60, 1.0));
    assert_eq!(privacy.copies.share_of_holdout, Some(0.0));
    assert_eq!(privacy.copies.row_share, 1.0);
    assert_eq!(privacy.closeness.closer_to_real, Some(1.0));
    assert_eq!(
        privacy.closeness.synthetic_to_real.as_ref().unwrap().zero,
        1.0
    );
    assert_eq!(privacy.closeness.neighbour_ratio, Some(0.0));
    assert_eq!(privacy.membership.as_ref().unwrap().auc, 1.0);
    assert_eq!(privacy.membership.as_ref().unwrap().advantage, 1.0);
    assert_eq!(privacy.reused_keys, Some(0.0));
    for check in ["copies", "closeness", "membership"] {
        assert_eq!(outcome(&report, check), Outcome::Failed, "{check}");
    }
    assert!(
        report.findings[0].about.starts_with("privacy"),
        "{:?}",
        report.findings
    );
}

#[test]
fn a_fresh_sample_of_the_same_source_passes() {
    let report = evaluated(
        &sequences(80, 0.7, 1),
        &sequences(80, 0.7, 2),
        Some(&sequences(80, 0.7, 3)),
    );
    for verdict in &report.privacy.verdicts {
        assert_eq!(verdict.outcome, Outcome::Passed, "{verdict:?}");
    }
}

#[test]
fn half_copied_is_about_half_and_each_copy_is_named() {
    let real = sequences(40, 0.7, 1);
    let copied = real.keys.iter().position(|key| key == "1-8").unwrap();
    let mut synthetic = sequences(8, 0.7, 2);
    synthetic
        .keys
        .extend(real.keys[..copied].iter().map(|key| format!("a {key}")));
    synthetic.times.extend(&real.times[..copied]);
    synthetic.groups.extend_from_slice(&real.groups[..copied]);
    synthetic.numbers.extend(&real.numbers[..copied]);
    synthetic.states.extend_from_slice(&real.states[..copied]);
    let report = evaluated(&real, &synthetic, None);
    let copies = &report.privacy.copies;
    assert_eq!((copies.sequences, copies.share), (8, 0.5));
    assert_eq!(copies.named.len(), 8);
    // Keys in the order of their text: `2-0` to `2-7` come before `a 1-0` and on, `1-0`, `1-1`, `1-10`, ... in the real one.
    assert!(
        copies
            .named
            .iter()
            .all(|copy| copy.rows >= 8 && copy.real_sequence < 40)
    );
    assert_eq!(copies.named[0].real_sequence, 0);
    assert_eq!(outcome(&report, "copies"), Outcome::Attention);
    assert_eq!(outcome(&report, "closeness"), Outcome::Unknown);
}

#[test]
fn a_copy_that_is_moved_in_time_is_found() {
    let real = sequences(30, 0.7, 1);
    let mut moved = renamed(&real);
    moved.times.iter_mut().for_each(|time| *time += 1_000);
    let report = evaluated(&real, &moved, Some(&sequences(30, 0.7, 2)));
    assert_eq!(report.privacy.copies.share, 0.0);
    assert_eq!(report.privacy.copies.shifted_share, Some(1.0));
    assert_eq!(outcome(&report, "copies"), Outcome::Failed);
}

#[test]
fn copies_with_a_little_noise_are_near_copies() {
    let real = sequences(80, 0.7, 1);
    let mut near = renamed(&real);
    for (row, number) in near.numbers.iter_mut().enumerate() {
        *number += [0.001, -0.001, 0.0005][row % 3];
    }
    let report = evaluated(&real, &near, Some(&sequences(80, 0.7, 2)));
    assert_eq!(report.privacy.copies.share, 0.0);
    assert!(report.privacy.closeness.near_copies.unwrap() > 0.9);
    assert!(report.privacy.membership.as_ref().unwrap().auc > 0.95);
}

/// Fifty keys and fifty held out; the synthetic table is one real sequence; one column is constant, or misses all cells.
#[test]
fn one_copied_key_beside_a_constant_column() {
    let metadata = Metadata::builder()
        .column("k", id())
        .column("v", SdType::Numerical)
        .column("one", SdType::Numerical)
        .column("none", SdType::Numerical)
        .sequence_key("k")
        .build()
        .unwrap();
    let frame = |first: i64, keys: i64, scale: f64| {
        let keys: Vec<i64> = (first..first + keys).flat_map(|key| [key; 4]).collect();
        let values: Vec<f64> = keys
            .iter()
            .enumerate()
            .map(|(row, key)| scale * *key as f64 + (row % 4) as f64)
            .collect();
        let (one, none) = (vec![5.0; keys.len()], vec![None::<f64>; keys.len()]);
        df!("k" => keys, "v" => values, "one" => one, "none" => none).unwrap()
    };
    let real = frame(0, 50, 1.1);
    let copy = df!("k" => [900; 4], "v" => &[1.1 * 7.0, 8.7, 9.7, 10.7], "one" => [5.0; 4], "none" => [None::<f64>; 4]).unwrap();
    let report = evaluate(&real, &copy, Some(&frame(100, 50, 1.3)), &metadata).unwrap();
    assert_eq!(report.privacy.copies.share, 1.0);
    assert_eq!(report.privacy.copies.named[0].real_sequence, 7);
    assert_eq!(report.privacy.closeness.closer_to_real, Some(1.0));
    let two = copy.vstack(&df!("k" => [901; 4], "v" => &[1.1 * 9.0, 10.9, 11.9, 12.9], "one" => [6.0; 4], "none" => [None::<f64>; 4]).unwrap()).unwrap();
    let report = evaluate(&real, &two, Some(&frame(100, 50, 1.3)), &metadata).unwrap();
    let copies = &report.privacy.copies;
    assert_eq!((copies.sequences, copies.named[0].real_sequence), (1, 7));
    // The other is as near but for the constant column, in which it is unequal.
    let distances = report.privacy.closeness.synthetic_to_real.as_ref().unwrap();
    assert_eq!((distances.quantiles[0], distances.zero), (0.0, 0.5));
    assert!(distances.quantiles[20] >= 1.0);
    assert_eq!(report.privacy.closeness.closer_to_real, Some(1.0));
}

#[test]
fn copies_by_chance_in_a_table_of_few_sequences_are_no_alarm() {
    let metadata = Metadata::builder()
        .column("k", id())
        .column("c", SdType::Categorical)
        .sequence_key("k")
        .build()
        .unwrap();
    let frame = |first: i64| {
        let keys: Vec<i64> = (first..first + 100).flat_map(|key| [key; 2]).collect();
        let states: Vec<&str> = (0..200_usize)
            .map(|row| ["a", "b"][(row * 7 + row / 3) % 2])
            .collect();
        df!("k" => keys, "c" => states).unwrap()
    };
    let report = evaluate(&frame(0), &frame(1_000), Some(&frame(2_000)), &metadata).unwrap();
    assert_eq!(report.privacy.copies.share, 1.0);
    assert_eq!(outcome(&report, "copies"), Outcome::Passed);
}

#[test]
fn keys_of_real_sequences_are_found() {
    let (real, mut synthetic) = (sequences(30, 0.7, 1), sequences(30, 0.7, 2));
    synthetic
        .keys
        .iter_mut()
        .filter(|key| *key == "2-3")
        .for_each(|key| *key = "1-3".to_owned());
    let report = evaluated(&real, &synthetic, None);
    assert_eq!(report.privacy.reused_keys, Some(1.0 / 30.0));
    assert_eq!(outcome(&report, "keys"), Outcome::Attention);
}

#[test]
fn a_rare_value_that_comes_out_is_found() {
    let (mut real, mut synthetic) = (sequences(100, 0.7, 1), sequences(100, 0.7, 2));
    for rare in 0..12 {
        real.states[rare * 40] = format!("rare {rare}");
        synthetic.states[rare * 40] = format!("rare {rare}");
    }
    let report = evaluated(&real, &synthetic, Some(&sequences(100, 0.7, 3)));
    let values = report
        .privacy
        .rare_values
        .iter()
        .find(|values| values.column == "c")
        .unwrap();
    assert_eq!(
        (values.rare, values.leaked, values.in_holdout),
        (12, 1.0, Some(0.0))
    );
    assert_eq!(outcome(&report, "rare values"), Outcome::Attention);
}
