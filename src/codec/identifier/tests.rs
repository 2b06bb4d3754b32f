use std::collections::HashSet;

use proptest::prelude::*;

use super::shuffle::Shuffle;
use super::*;
use crate::table::IntegerType;

fn texts(values: &[&str]) -> Vec<Label> {
    values
        .iter()
        .map(|value| Label::Text((*value).to_owned()))
        .collect()
}

fn integers(values: &[i128]) -> Vec<Label> {
    values.iter().copied().map(Label::Integer).collect()
}

fn made(labels: &[Label], count: u64, storage: &Storage) -> Vec<String> {
    let ids = IdentifierCodec::fit(labels, None, 1)
        .generate(0..count, 7, storage)
        .unwrap();
    ids.iter().map(Label::to_string).collect()
}

#[test]
fn text_keys_continue_their_numbering_with_prefix_and_padding() {
    assert_eq!(
        made(&texts(&["source-017", "source-003"]), 2, &Storage::Text),
        ["source-018", "source-019"]
    );
    assert_eq!(
        made(&texts(&["a9x", "a1x"]), 2, &Storage::Text),
        ["a10x", "a11x"]
    );
    assert_eq!(
        made(&texts(&["source-099"]), 2, &Storage::Text),
        ["source-100", "source-101"]
    );
}

#[test]
fn codes_of_one_width_keep_their_leading_zeros() {
    assert_eq!(
        made(&texts(&["0123", "0870"]), 2, &Storage::Text),
        ["0871", "0872"]
    );
    assert_eq!(
        made(&texts(&["08", "98"]), 3, &Storage::Text),
        ["99", "100", "101"]
    );
    assert_eq!(made(&texts(&["8", "98"]), 1, &Storage::Text), ["99"]);
}

#[test]
fn names_without_numbering_are_never_prefixes_of_made_up_ids() {
    assert_eq!(
        made(&texts(&["AAPL", "GOOG", "MSFT"]), 2, &Storage::Text),
        ["sequence-1", "sequence-2"]
    );
    let ids = made(
        &texts(&["AAPL", "sequence-2", "ssequence-"]),
        3,
        &Storage::Text,
    );
    assert_eq!(ids, ["sssequence-1", "sssequence-2", "sssequence-3"]);
}

#[test]
fn integer_keys_go_on_past_the_largest() {
    let storage = Storage::Integer(IntegerType::I64);
    let labels = integers(&[900_001, 900_009]);
    assert_eq!(made(&labels, 2, &storage), ["900010", "900011"]);
    assert_eq!(made(&integers(&[-9, -2]), 2, &storage), ["0", "1"]);
    assert_eq!(
        made(
            &[Label::Float(50.0), Label::Float(100.0)],
            1,
            &Storage::Float64
        ),
        ["101.0"]
    );
}

#[test]
fn a_full_integer_type_goes_on_downwards_and_then_says_how_many_there_were() {
    let storage = Storage::Integer(IntegerType::U8);
    let labels = integers(&[2, 254]);
    assert_eq!(made(&labels, 3, &storage), ["255", "1", "0"]);
    let error = IdentifierCodec::fit(&labels, None, 1)
        .generate(0..4, 7, &storage)
        .unwrap_err();
    assert!(
        matches!(
            error,
            IdentifierError::Capacity {
                available: 3,
                wanted: 4,
                ..
            }
        ),
        "{error}"
    );
    let full: Vec<i128> = (0..256).collect();
    let error = IdentifierCodec::fit(&integers(&full), None, 1)
        .generate(0..1, 7, &storage)
        .unwrap_err();
    assert!(error.to_string().contains("u8"), "{error}");
    assert!(error.to_string().contains("room for 0"), "{error}");
    for integer in [IntegerType::I64, IntegerType::U64] {
        let (low, high) = integer.range();
        let codec = IdentifierCodec::fit(&integers(&[high]), None, 1);
        let ids = codec.generate(0..2, 7, &Storage::Integer(integer)).unwrap();
        assert_eq!(ids, integers(&[high - 1, high - 2]));
        let codec = IdentifierCodec::fit(&integers(&[low, high]), None, 1);
        assert!(codec.generate(0..1, 7, &Storage::Integer(integer)).is_err());
    }
}

#[test]
fn a_pattern_gives_its_texts_and_never_a_training_one() {
    let seen = texts(&["source-AAA", "source-AAB"]);
    let codec = IdentifierCodec::fit(&seen, Some("source-[A-Z]{3}"), 99);
    let ids = codec.generate(0..17_574, 7, &Storage::Text).unwrap(); // all that there are
    let distinct: HashSet<String> = ids.iter().map(Label::to_string).collect();
    assert_eq!(distinct.len(), ids.len());
    assert!(
        distinct
            .iter()
            .all(|id| id.len() == 10 && id.starts_with("source-"))
    );
    assert!(
        seen.iter()
            .all(|label| !distinct.contains(&label.to_string()))
    );
    let error = codec.generate(0..17_575, 7, &Storage::Text).unwrap_err();
    assert!(
        matches!(
            error,
            IdentifierError::Capacity {
                available: 17_574,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn ids_of_a_number_do_not_depend_on_the_range_asked_for() {
    for regex in ["[A-Z]{3}", "\\d{9}", "[a-z0-9]{30}", "a*b*"] {
        let codec = IdentifierCodec::fit(&texts(&["000000001"]), Some(regex), 5);
        let all = codec.generate(0..100, 3, &Storage::Text).unwrap();
        let part = codec.generate(40..60, 3, &Storage::Text).unwrap();
        assert_eq!(all[40..60], part, "{regex}");
        let mut series = codec.series(3, &Storage::Text);
        for range in [0..10, 10..11, 40..100, 30..50] {
            let part = series.take(range.start as u64..range.end as u64).unwrap();
            assert_eq!(all[range], part, "{regex}");
        }
        assert_eq!(
            all.iter()
                .map(Label::to_string)
                .collect::<HashSet<_>>()
                .len(),
            100,
            "{regex}"
        );
        if regex != "a*b*" {
            assert_ne!(
                all,
                codec.generate(0..100, 4, &Storage::Text).unwrap(),
                "{regex}"
            );
        }
    }
}

#[test]
fn a_number_column_takes_only_patterns_that_it_can_hold() {
    let storage = Storage::Integer(IntegerType::I32);
    let codec = IdentifierCodec::fit(&integers(&[123_456]), Some("[1-9]\\d{5}"), 1);
    let ids = codec.generate(0..5, 1, &storage).unwrap();
    assert!(
        ids.iter()
            .all(|id| matches!(id, Label::Integer(100_000..=999_999)))
    );
    let codec = IdentifierCodec::fit(&integers(&[1]), Some("[A-Z]\\d{3}"), 1);
    assert!(matches!(
        codec.generate(0..1, 1, &storage),
        Err(IdentifierError::PatternDoesNotFit { .. })
    ));
    // 50.0 in a float column is the pattern's text 50
    let codec = IdentifierCodec::fit(&[Label::Float(3.0)], Some("[1-4]"), 1);
    let ids = codec.generate(0..3, 1, &Storage::Float64).unwrap();
    assert!(!ids.contains(&Label::Float(3.0)));
}

#[test]
fn the_shuffle_is_one_to_one() {
    for size in [1, 2, 3, 7, 64, 1000, 4097] {
        let shuffle = Shuffle::new(size, 11);
        let places: HashSet<u128> = (0..size).map(|number| shuffle.place(number)).collect();
        assert_eq!(places.len() as u128, size);
        assert!(places.iter().all(|place| *place < size));
    }
}

fn label_set() -> impl Strategy<Value = Vec<Label>> {
    prop_oneof![
        prop::collection::vec("[a-z]{0,3}[0-9]{0,4}[a-z0-9]{0,2}", 0..30)
            .prop_map(|values| values.into_iter().map(Label::Text).collect()),
        prop::collection::vec("(sequence-|s|)[0-9]{0,3}", 0..30)
            .prop_map(|values| values.into_iter().map(Label::Text).collect()),
        prop::collection::vec("\\PC{0,6}", 0..30)
            .prop_map(|values| values.into_iter().map(Label::Text).collect()),
        prop::collection::vec(any::<i16>(), 0..30).prop_map(|values| values
            .into_iter()
            .map(|value| Label::Integer(value.into()))
            .collect()),
        prop::collection::vec(-1e6..1e6_f64, 0..30)
            .prop_map(|values| values.into_iter().map(Label::Float).collect()),
    ]
}

proptest! {
    #[test]
    fn a_training_value_never_comes_out_and_ids_never_repeat(labels in label_set(), seed: u64) {
        let storage = match labels.first() {
            Some(Label::Integer(_)) => Storage::Integer(IntegerType::I64),
            Some(Label::Float(_)) => Storage::Float64,
            _ => Storage::Text,
        };
        for regex in [None, Some("[a-z]{0,2}[0-9]{2}")] {
            if regex.is_some() && storage != Storage::Text {
                continue;
            }
            let ids = IdentifierCodec::fit(&labels, regex, seed).generate(0..200, seed, &storage).unwrap();
            let distinct: std::collections::BTreeSet<&Label> = ids.iter().collect();
            prop_assert_eq!(distinct.len(), 200);
            prop_assert!(labels.iter().all(|label| !distinct.contains(label)), "{:?}", labels);
        }
    }
}

#[test]
fn a_pattern_of_few_texts_in_very_many_ways_ends_in_an_error() {
    let codec = IdentifierCodec::fit(&[], Some("(a?){60}"), 1);
    let error = codec.generate(0..100, 1, &Storage::Text).unwrap_err();
    // There are 61 texts; the longest and the shortest have few places, so not all of them are come by.
    assert!(
        matches!(error, IdentifierError::Capacity { available, wanted: 100, .. } if available <= 61),
        "{error}"
    );
}

#[test]
fn a_very_wide_number_is_a_name_and_not_a_width() {
    let wide = format!("{}7", "0".repeat(70_000));
    let codec = IdentifierCodec::fit(&[Label::Text(wide)], None, 1);
    assert!(codec.generate(0..3, 1, &Storage::Text).is_ok());
}
