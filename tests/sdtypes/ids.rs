//! Ids: room, uniqueness, and the one way to get a given key back.

use crate::common::{distinct, id, id_like, metadata, present, runs, sample, thrice, untrained};
use parsynth::{Error, IdentifierError, SampleOptions, SdType};
use polars::prelude::*;

/// Keys, a source per key, a ticket per row.
fn events() -> DataFrame {
    let rows = thrice(8);
    df!(
        "k" => rows.iter().map(|s| format!("K{s:02}")).collect::<Vec<_>>(),
        "source" => rows.iter().map(|s| format!("source-{}", ["AAA", "AAB", "ABA", "BAA"][s % 4])).collect::<Vec<_>>(),
        "ticket" => (0..24).map(|row| format!("T{row:02}")).collect::<Vec<_>>(),
        "v" => (0..24).map(f64::from).collect::<Vec<_>>(),
    )
    .unwrap()
}

fn fitted(key: SdType, ticket: SdType) -> parsynth::ParSynthesizer {
    let stated = metadata(
        &["k"],
        &[
            ("k", key),
            ("source", id_like("source-[A-Z]{3}")),
            ("ticket", ticket),
            ("v", SdType::Numerical),
        ],
    );
    untrained(&stated)
        .context_columns(["source"])
        .fit(&events())
        .unwrap()
}

#[test]
fn a_context_id_is_made_from_its_pattern_once_a_sequence() {
    let sampled = sample(&fitted(id(), id()), 60);
    let sources = present(&sampled, "source");
    let real = present(&events(), "source");
    assert!(distinct(&real).is_disjoint(&distinct(&sources)));
    for (_, rows) in runs(&sampled, &["k"]) {
        assert_eq!(distinct(&sources[rows]).len(), 1);
    }
    assert_eq!(distinct(&sources).len(), 60);
    assert!(sources.iter().all(|source| {
        source
            .strip_prefix("source-")
            .is_some_and(|tail| tail.len() == 3 && tail.chars().all(|c| c.is_ascii_uppercase()))
    }));
}

#[test]
fn row_ids_never_repeat_and_are_new() {
    let sampled = sample(&fitted(id(), id_like("T[0-9]{3}")), 100);
    let tickets = present(&sampled, "ticket");
    assert_eq!(distinct(&tickets).len(), sampled.height());
    let real = present(&events(), "ticket");
    assert!(distinct(&real).is_disjoint(&distinct(&tickets)));
}

#[test]
fn a_pattern_without_room_is_an_error_with_the_count() {
    // A hundred texts, eight of them taken.
    let synthesizer = fitted(id_like("K[0-9]{2}"), id());
    let keys = present(&sample(&synthesizer, 92), "k");
    assert_eq!(distinct(&keys).len(), 92);
    let error = synthesizer
        .sample_with(&SampleOptions::sequences(93).seed(1))
        .unwrap_err();
    assert!(
        matches!(
            &error,
            Error::Identifier(IdentifierError::Capacity {
                available: 92,
                wanted: 93,
                ..
            })
        ),
        "{error}"
    );
    assert!(
        error.to_string().contains("regex_format `K[0-9]{2}`"),
        "{error}"
    );
}

#[test]
fn keys_of_training_come_out_only_when_they_are_given() {
    let synthesizer = fitted(id(), id());
    let real = present(&events(), "k");
    let sampled = present(&sample(&synthesizer, 300), "k");
    assert!(distinct(&real).is_disjoint(&distinct(&sampled)));
    let wanted = events()
        .select(["k"])
        .unwrap()
        .unique_stable(None, UniqueKeepStrategy::First, None)
        .unwrap();
    let reused = synthesizer.sample_sequential_columns(&wanted).unwrap();
    let reused: Vec<String> = runs(&reused, &["k"])
        .into_iter()
        .map(|(key, _)| key[0].clone())
        .collect();
    assert_eq!(reused, present(&wanted, "k"));
}

#[test]
fn another_seed_makes_other_ids_of_a_pattern() {
    let synthesizer = fitted(id_like("[A-Z]{8}"), id());
    let keys = |seed| {
        let options = SampleOptions::sequences(50).seed(seed);
        present(&synthesizer.sample_with(&options).unwrap(), "k")
    };
    let (one, other) = (keys(1), keys(2));
    assert!(distinct(&one).is_disjoint(&distinct(&other)));
    assert_eq!(one, keys(1));
}
