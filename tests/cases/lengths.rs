//! How many sequences and rows: of every length, as many as asked for.

use crate::common::*;
use parsynth::SampleOptions;
use parsynth::SdType::{Categorical, Numerical};
use polars::prelude::*;

#[test]
fn keys_with_a_single_row_are_learned_from() {
    // The last two end on the table's last day, which must not make them longer than any that was seen.
    let data = df!(
        "k" => ["a", "b", "c", "c", "c"],
        "t" => dates(&[18_000, 18_009, 18_003, 18_005, 18_009]),
        "v" => [1.0, 2.0, 3.0, 4.0, 5.0],
    )
    .unwrap();
    let columns = [("k", id()), ("t", datetime()), ("v", Numerical)];
    for epochs in [0, 2] {
        let synthesizer = untrained(&columns).epochs(epochs).fit(&data).unwrap();
        let sampled = sample(&synthesizer, SampleOptions::sequences(200));
        let lengths = lengths(&sampled);
        assert_eq!(lengths.len(), 200);
        assert!(
            lengths.iter().all(|length| (1..=3).contains(length)),
            "{lengths:?}"
        );
        assert!(lengths.contains(&1));
        assert_eq!(nulls(&sampled, "t"), 0);
    }
}

#[test]
fn a_table_of_single_rows_gives_single_rows_and_longer_ones_when_asked() {
    let data = df!("k" => keys(&[1; 8]), "t" => dates(&[3, 1, 4, 1, 5, 9, 2, 6])).unwrap();
    let columns = [("k", id()), ("t", datetime())];
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    let sampled = sample(&synthesizer, SampleOptions::sequences(20));
    assert_eq!(lengths(&sampled), [1; 20]);
    let sampled = sample(&synthesizer, SampleOptions::sequences(3).length(4));
    assert_eq!(lengths(&sampled), [4; 3]);
    assert!(gaps(&sampled, "t").iter().all(|gap| *gap > 0));
}

#[test]
fn lengths_stay_within_those_seen_although_the_table_ends() {
    // Half of the keys end with the table: when they end is learned from that, but not without bounds.
    let lengths_seen = [3, 4, 5, 6, 3, 4, 5, 6];
    let days: Vec<i32> = lengths_seen
        .iter()
        .enumerate()
        .flat_map(|(key, &length)| {
            let first = if key < 4 {
                100 - length
            } else {
                10 * key as i32
            };
            first..first + length
        })
        .collect();
    let rows = lengths_seen.map(|length| length as usize);
    let data = df!("k" => keys(&rows), "t" => dates(&days)).unwrap();
    let columns = [("k", id()), ("t", datetime())];
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    let lengths = lengths(&sample(&synthesizer, SampleOptions::sequences(300)));
    assert!(
        lengths.iter().all(|length| (3..=6).contains(length)),
        "{lengths:?}"
    );
    assert!(lengths.contains(&3) && lengths.contains(&6));
}

fn ten_keys_of_five_rows() -> DataFrame {
    df!("k" => keys(&[5; 10]), "v" => noise(50), "c" => ["x", "y"].repeat(25)).unwrap()
}

fn ten_keys_fitted() -> parsynth::ParSynthesizer {
    untrained(&[("k", id()), ("v", Numerical), ("c", Categorical)])
        .fit(&ten_keys_of_five_rows())
        .unwrap()
}

#[test]
fn the_count_is_of_sequences_and_rows_are_asked_for_by_name() {
    let synthesizer = ten_keys_fitted();
    assert_eq!(lengths(&synthesizer.sample(50).unwrap()), [5; 50]);
    let rows = |rows| lengths(&sample(&synthesizer, SampleOptions::rows(rows)));
    assert_eq!(rows(50), [5; 10]);
    // Whole sequences until there are enough.
    assert_eq!(rows(46), [5; 10]);
    assert_eq!(rows(45), [5; 9]);
    assert_eq!(rows(1), [5; 1]);
    assert_eq!(rows(10_000), [5; 2_000]);
    let long = sample(&synthesizer, SampleOptions::rows(50).length(20));
    assert_eq!(lengths(&long), [20; 3]);
}

#[test]
fn a_row_limit_keeps_whole_sequences_and_cuts_only_a_first_that_is_longer() {
    let synthesizer = ten_keys_fitted();
    let limited = |limit| {
        let options = SampleOptions::sequences(10).row_limit(limit);
        lengths(&sample(&synthesizer, options))
    };
    assert_eq!(limited(1_000), [5; 10]);
    assert_eq!(limited(12), [5; 2]);
    assert_eq!(limited(10), [5; 2]);
    assert_eq!(limited(3), [3]);
    assert_eq!(limited(0), [0; 0]);
}

#[test]
fn nothing_asked_for_is_an_empty_frame_of_the_right_columns() {
    let synthesizer = ten_keys_fitted();
    for options in [SampleOptions::sequences(0), SampleOptions::rows(0)] {
        let sampled = sample(&synthesizer, options);
        assert_eq!(sampled.height(), 0);
        assert_eq!(sampled.schema(), ten_keys_of_five_rows().schema());
    }
}

#[test]
fn a_size_that_would_be_ignored_is_an_error() {
    let data = ten_keys_of_five_rows();
    let constant = df!("k" => keys(&[5; 10]), "c" => ["x", "y"].repeat(5).iter().flat_map(|c| [*c; 5]).collect::<Vec<_>>());
    let data = data
        .drop("c")
        .unwrap()
        .hstack(&constant.unwrap().columns()[1..])
        .unwrap();
    let synthesizer = untrained(&[("k", id()), ("v", Numerical), ("c", Categorical)])
        .context_columns(["c"])
        .fit(&data)
        .unwrap();
    let wanted = df!("c" => ["x", "y"]).unwrap();
    for (options, named) in [
        (SampleOptions::sequences(7), "sequences"),
        (SampleOptions::rows(7), "rows"),
    ] {
        let error = synthesizer
            .sample_sequential_columns_with(&wanted, &options)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "option `{named}` is 7, expected SampleOptions::per_context_row(): the frame decides how many"
            )
        );
    }
    let error = synthesizer
        .sample_with(&SampleOptions::per_context_row())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "option `sequences` is not set, expected SampleOptions::sequences(n) or SampleOptions::rows(n)"
    );
    // What does apply is heeded.
    let options = SampleOptions::per_context_row().length(3).seed(1);
    let sampled = synthesizer
        .sample_sequential_columns_with(&wanted, &options)
        .unwrap();
    assert_eq!(lengths(&sampled), [3, 3]);
}

#[test]
fn all_rows_of_all_lengths_are_used() {
    let (lengths_seen, rows) = ([3, 7, 50], 60);
    // The last row of each key, and no other, says which key it ends.
    let mut marks = vec!["-"; rows];
    for (row, mark) in [(2, "short"), (9, "middle"), (59, "long")] {
        marks[row] = mark;
    }
    let days: Vec<i32> = (0..60).map(|row| 18_000 + row * 3).collect();
    let data = df!(
        "k" => keys(&lengths_seen),
        "t" => dates(&days),
        "c" => marks,
    )
    .unwrap();
    let columns = [("k", id()), ("t", datetime()), ("c", Categorical)];
    let synthesizer = untrained(&columns).epochs(1).fit(&data).unwrap();
    let report = synthesizer.report();
    assert_eq!(report.rows, rows);
    assert_eq!(report.training_sequences + report.validation_sequences, 3);
    assert_eq!(report.warnings, Vec::<String>::new());
    let sampled = sample(&synthesizer, SampleOptions::sequences(30));
    assert!(
        lengths(&sampled)
            .iter()
            .all(|length| (3..=50).contains(length))
    );
    let marks = texts(&sampled, "c");
    for mark in ["-", "short", "middle", "long"] {
        assert!(marks.contains(&Some(mark.to_owned())), "{mark}");
    }
    // No windows whose dates start anew.
    let long = sample(&synthesizer, SampleOptions::sequences(2).length(777));
    assert_eq!(lengths(&long), [777, 777]);
    assert_eq!(gaps(&long, "t"), [3; 2 * 776]);
}

#[test]
fn every_key_has_a_row_whatever_the_seed() {
    let data = df!("k" => keys(&[1, 2]), "v" => [1.0, 2.0, 3.0]).unwrap();
    let columns = [("k", id()), ("v", Numerical)];
    let synthesizer = untrained(&columns).epochs(1).fit(&data).unwrap();
    for seed in 0..100 {
        let options = SampleOptions::sequences(1).seed(seed).threads(1);
        let sampled = synthesizer.sample_with(&options).unwrap();
        assert!((1..=2).contains(&sampled.height()), "seed {seed}");
        assert_eq!(sampled.width(), 2);
    }
}
