//! A length for each sequence.

use crate::common::*;
use parsynth::SdType::{Categorical, Numerical};
use parsynth::{Condition, ParSynthesizer, SampleOptions};
use polars::prelude::*;

fn fitted() -> ParSynthesizer {
    let data = df!(
        "k" => keys(&[2, 3, 4]),
        "t" => [0, 1, 0, 1, 2, 0, 1, 2, 3],
        "c" => ["x", "x", "y", "y", "y", "x", "x", "x", "x"],
        "v" => noise(9),
    )
    .unwrap();
    untrained(&[
        ("k", id()),
        ("t", Numerical),
        ("c", Categorical),
        ("v", Numerical),
    ])
    .context_columns(["c"])
    .fit(&data)
    .unwrap()
}

#[test]
fn each_sequence_has_the_length_given_for_it() {
    let synthesizer = fitted();
    let wanted = [5, 1, 40, 2];
    let frame = sample(&synthesizer, SampleOptions::sequences(4).lengths(wanted));
    assert_eq!(lengths(&frame), wanted);
    assert!(gaps(&frame, "t").iter().all(|&gap| gap == 1));
    let many: Vec<usize> = (0..1100).map(|sequence| 1 + sequence % 7).collect();
    let options = SampleOptions::sequences(1100).lengths(many.clone());
    assert_eq!(lengths(&sample(&synthesizer, options)), many);

    let context = df!("c" => ["x", "y"]).unwrap();
    let options = SampleOptions::per_context_row().lengths([3, 9]);
    let frame = synthesizer
        .sample_sequential_columns_with(&context, &options)
        .unwrap();
    assert_eq!(lengths(&frame), [3, 9]);

    let conditions = [
        Condition::sequences(2).with("c", "x"),
        Condition::sequences(1).with("c", "y"),
    ];
    let frame = synthesizer
        .sample_from_conditions_with(&conditions, &SampleOptions::default().lengths([1, 2, 3]))
        .unwrap();
    assert_eq!(lengths(&frame), [1, 2, 3]);
}

#[test]
fn lengths_all_alike_are_one_length() {
    let synthesizer = fitted();
    let same = sample(&synthesizer, SampleOptions::sequences(3).length(6));
    let each = sample(&synthesizer, SampleOptions::sequences(3).lengths([6; 3]));
    assert!(same.equals_missing(&each));
}

#[test]
fn a_wrong_number_of_lengths_and_lengths_out_of_range_are_refused() {
    let synthesizer = fitted();
    let refusal =
        |options: SampleOptions| synthesizer.sample_with(&options).unwrap_err().to_string();
    assert_eq!(
        refusal(SampleOptions::sequences(3).lengths([1, 2])),
        "option `lengths` is 2 numbers, expected 3, one for each sequence"
    );
    assert_eq!(
        refusal(SampleOptions::rows(3).lengths([1, 2])),
        "option `lengths` is 2 numbers, expected a number of sequences, not of rows, to go with it"
    );
    assert_eq!(
        refusal(SampleOptions::sequences(2).lengths([1, 0])),
        "option `lengths` is 0 for sequence 1, expected 1 to 10000000"
    );
    assert_eq!(
        refusal(SampleOptions::sequences(2).lengths([10_000_001, 1])),
        "option `lengths` is 10000001 for sequence 0, expected 1 to 10000000"
    );
    let context = df!("c" => ["x", "y"]).unwrap();
    let options = SampleOptions::per_context_row().lengths([3]);
    let error = synthesizer.sample_sequential_columns_with(&context, &options);
    assert_eq!(
        error.unwrap_err().to_string(),
        "option `lengths` is 1 numbers, expected 2, one for each sequence"
    );
}
