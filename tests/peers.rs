//! What of the peers bench can be checked without the peers: the answers it reads, and its table.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]
#![allow(dead_code, reason = "the bench uses the rest")]

#[path = "../benches/peers/comparison.rs"]
mod comparison;

use comparison::{Comparison, Target, Unit, median, read_answer, table};

#[test]
fn what_a_peer_prints_before_the_answer_is_passed_over() {
    let said = b"Epoch 1: {loss}\n{\"wall_secs\": 2.5, \"processor_secs\": 2.0, \"rows\": 250}\n\n";
    let answer = read_answer(said).unwrap();
    assert_eq!(answer.time.wall_secs, 2.5);
    assert_eq!(answer.time.processor_secs, Some(2.0));
    assert_eq!(answer.rows, Some(250.0));
    let without_rows = read_answer(b"{\"wall_secs\": 1, \"processor_secs\": null}").unwrap();
    assert_eq!(without_rows.rows, None);
}

#[test]
fn an_answer_that_is_none_is_quoted() {
    assert!(read_answer(b"\n").unwrap_err().contains("nothing"));
    let problem = read_answer(b"Killed").unwrap_err();
    assert!(problem.contains("`Killed`"), "{problem}");
}

#[test]
fn faster_is_less_time_but_more_rows() {
    let comparison = |unit, theirs, ours| Comparison {
        work: "work".into(),
        peer: "SDV",
        unit,
        theirs,
        ours,
        target: None,
        wall_secs: [theirs, ours],
    };
    assert_eq!(comparison(Unit::Seconds, 300.0, 2.0).times(), 150.0);
    assert_eq!(
        comparison(Unit::RowsPerSecond, 20.0, 5_000.0).times(),
        250.0
    );
}

#[test]
fn the_table_says_which_targets_are_missed() {
    let row = |work: &str, unit, theirs, ours, target| Comparison {
        work: work.into(),
        peer: "SDV",
        unit,
        theirs,
        ours,
        target: Some(target),
        wall_secs: [theirs, ours],
    };
    let text = table(&[
        row("fit", Unit::Seconds, 300.0, 0.5, Target::Times(100.0)),
        row("slow fit", Unit::Seconds, 300.0, 10.0, Target::Times(100.0)),
        row(
            "sample",
            Unit::RowsPerSecond,
            20.0,
            123_456.0,
            Target::Times(5_000.0),
        ),
        row("load", Unit::Seconds, 0.5, 0.02, Target::Below(0.1)),
        row("slow load", Unit::Seconds, 0.5, 0.1, Target::Below(0.1)),
    ]);
    let lines: Vec<&str> = text.lines().skip(2).collect();
    assert_eq!(
        lines[0],
        "| fit | SDV | 300 s | 500 ms | **600** | ≥ 100 × |"
    );
    assert_eq!(
        lines[1],
        "| slow fit | SDV | 300 s | 10 s | **30** | ≥ 100 ×: missed |"
    );
    assert_eq!(
        lines[2],
        "| sample | SDV | 20 rows/s | 123,000 rows/s | **6,170** | ≥ 5,000 × |"
    );
    assert_eq!(
        lines[3],
        "| load | SDV | 500 ms | 20 ms | **25** | < 100 ms |"
    );
    assert!(lines[4].ends_with("< 100 ms: missed |"));
}

#[test]
fn a_median_does_not_follow_the_odd_one_out() {
    assert_eq!(median(vec![900.0, 1.0, 2.0]), 2.0);
    assert!(median(Vec::new()).is_nan());
}
