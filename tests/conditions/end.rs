//! `ContinueOptions::to_the_end`: given rows go on until their sequence ends.

use crate::common::*;
use parsynth::SdType::{Boolean, Categorical, Numerical};
use parsynth::{ContinueOptions, ParSynthesizer, ParSynthesizerBuilder, SdType};
use polars::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn trained(columns: &[(&str, SdType)]) -> ParSynthesizerBuilder {
    untrained(columns)
        .hidden_size(16)
        .learning_rate(0.01)
        .epochs(60)
}

fn to_the_end(synthesizer: &ParSynthesizer, history: &DataFrame, seed: u64) -> DataFrame {
    let options = ContinueOptions::to_the_end().seed(seed).threads(1);
    synthesizer
        .continue_sequences_with(history, &options)
        .unwrap()
}

/// The first rows of each sequence.
fn firsts(frame: &DataFrame, rows: usize) -> DataFrame {
    let kept: Vec<IdxSize> = sequences(frame)
        .into_iter()
        .flat_map(|own| own.take(rows))
        .map(|row| row as IdxSize)
        .collect();
    let columns = frame.columns().iter();
    let columns = columns.map(|column| column.take_slice(&kept).unwrap());
    DataFrame::new_infer_height(columns.collect()).unwrap()
}

/// Sequences of four rows and of nine, told apart by `kind`.
fn short_and_long(count: usize) -> DataFrame {
    let lengths: Vec<usize> = (0..count).map(|key| [4, 9][key % 2]).collect();
    let kinds = lengths.iter();
    let kinds = kinds.flat_map(|&rows| vec![if rows == 4 { "short" } else { "long" }; rows]);
    df!(
        "k" => keys(&lengths),
        "kind" => kinds.collect::<Vec<_>>(),
        "v" => noise(lengths.iter().sum()),
    )
    .unwrap()
}

#[test]
fn the_context_says_how_far_a_sequence_goes() {
    let data = short_and_long(60);
    let synthesizer = trained(&[("k", id()), ("kind", Categorical), ("v", Numerical)])
        .context_columns(["kind"])
        .fit(&data)
        .unwrap();
    let history = firsts(&data, 2);
    let whole = to_the_end(&synthesizer, &history, 1);
    assert_eq!(whole.schema(), data.schema());
    let right = lengths(&whole)
        .iter()
        .zip(lengths(&data))
        .filter(|(found, real)| **found == *real)
        .count();
    assert!(right >= 57, "{right} of 60 end where their kind does");
    assert!(firsts(&whole, 2).equals_missing(&history));
    assert!(is_constant_per_sequence(&whole, "kind"));
}

#[test]
fn the_given_rows_say_how_far_their_sequence_goes() {
    // The same, but the kind shows in the rows alone.
    let data = short_and_long(120);
    let synthesizer = trained(&[("k", id()), ("kind", Categorical), ("v", Numerical)])
        .fit(&data)
        .unwrap();
    let whole = to_the_end(&synthesizer, &firsts(&data, 2), 1);
    let right = lengths(&whole)
        .iter()
        .zip(lengths(&data))
        .filter(|(found, real)| **found == *real)
        .count();
    // Whose rows are not listened to has half of them right.
    assert!(right >= 108, "{right} of 120 end where their kind does");
}

#[test]
fn an_end_is_never_before_the_last_given_row_nor_past_the_longest_length() {
    let data = short_and_long(20);
    let synthesizer = untrained(&[("k", id()), ("kind", Categorical), ("v", Numerical)])
        .context_columns(["kind"])
        .fit(&data)
        .unwrap();
    for rows in [1, 3, 4, 5, 9] {
        let history = firsts(&data, rows);
        for seed in 0..5 {
            let whole = to_the_end(&synthesizer, &history, seed);
            for (whole, given) in lengths(&whole).into_iter().zip(lengths(&history)) {
                assert!(
                    whole >= given && (whole == 4 || whole == 9),
                    "{given} {whole}"
                );
            }
        }
    }
    // Longer than any that was seen: they end where they are.
    let long = df!("k" => keys(&[12, 9]), "kind" => ["long"; 21], "v" => noise(21)).unwrap();
    assert!(to_the_end(&synthesizer, &long, 1).equals_missing(&long));
}

#[test]
fn a_sequence_that_goes_on_until_the_table_ends_stops_at_its_last_day() {
    // Daily rows from any day; a third of the sequences leave after three rows, day 40 cuts off the others.
    let (mut lengths_seen, mut days, mut stays) = (Vec::new(), Vec::new(), Vec::new());
    for key in 0..120 {
        let start = key % 38;
        let end = if key % 3 == 0 { start + 3 } else { 41 };
        lengths_seen.push((end - start) as usize);
        days.extend(start..end);
        stays.extend((start..end).map(|_| key % 3 != 0));
    }
    let data = df!("k" => keys(&lengths_seen), "t" => dates(&days), "stays" => stays).unwrap();
    let synthesizer = trained(&[("k", id()), ("t", datetime()), ("stays", Boolean)])
        .context_columns(["stays"])
        .fit(&data)
        .unwrap();
    let whole = to_the_end(&synthesizer, &firsts(&data, 2), 1);
    let (days, stays) = (wholes(&whole, "t"), texts(&whole, "stays"));
    let ends = sequences(&whole).into_iter();
    let ends = ends.filter(|rows| stays[rows.start].as_deref() == Some("true"));
    let last: Vec<i64> = ends.map(|rows| days[rows.end - 1]).collect();
    let at_the_end = last.iter().filter(|&&day| day == 40).count();
    assert!(
        at_the_end >= 76,
        "{at_the_end} of 80 reach the last day: {last:?}"
    );
    assert!(gaps(&whole, "t").iter().all(|&gap| gap == 1));
}

#[test]
fn the_end_is_repeatable_whatever_the_threads_and_progress_is_told() {
    let data = short_and_long(100);
    let synthesizer = untrained(&[("k", id()), ("kind", Categorical), ("v", Numerical)])
        .fit(&data)
        .unwrap();
    let history = firsts(&data, 2);
    let told = Arc::new(AtomicUsize::new(0));
    let run = |threads, seed| {
        let told = Arc::clone(&told);
        let options = ContinueOptions::to_the_end()
            .seed(seed)
            .threads(threads)
            .on_progress(move |progress| {
                assert_eq!(progress.sequences_wanted, 100);
                told.store(progress.sequences, Ordering::Relaxed);
            });
        synthesizer
            .continue_sequences_with(&history, &options)
            .unwrap()
    };
    let one = run(1, 3);
    assert_eq!(told.load(Ordering::Relaxed), 100);
    assert!(one.equals_missing(&run(4, 3)));
    assert!(!one.equals_missing(&run(1, 4)));
}
