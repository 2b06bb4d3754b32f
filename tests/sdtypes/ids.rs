//! Ids: room, uniqueness, and the one way to get a given key back.

use crate::common::{
    distinct, id, id_like, metadata, present, runs, sample, texts, thrice, untrained,
};
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

#[test]
fn missing_ids_keep_their_share_and_a_constant_id_stays_constant() {
    let rows = thrice(100);
    let data = df!(
        "k" => rows.iter().map(|s| format!("K{s:03}")).collect::<Vec<_>>(),
        "device" => rows.iter().map(|s| (s % 5 != 0).then_some(*s as i64)).collect::<Vec<_>>(),
        "ticket" => (0..300).map(|row| (row % 4 != 0).then(|| format!("T{row:03}"))).collect::<Vec<_>>(),
    )
    .unwrap();
    let stated = metadata(&["k"], &[("k", id()), ("device", id()), ("ticket", id())]);
    let synthesizer = untrained(&stated).fit(&data).unwrap();
    let sampled = sample(&synthesizer, 1000);
    let devices = texts(&sampled, "device");
    let mut without = 0;
    for (_, rows) in runs(&sampled, &["k"]) {
        assert!(
            devices[rows.clone()]
                .iter()
                .all(|device| *device == devices[rows.start])
        );
        without += usize::from(devices[rows.start].is_none());
    }
    assert!((150..250).contains(&without), "{without}"); // 4 deviations of 13 around 200
    let tickets = texts(&sampled, "ticket");
    let missing = tickets.iter().filter(|ticket| ticket.is_none()).count();
    assert!((630..870).contains(&missing), "{missing}"); // 5 deviations of 24 around 750
    let present: Vec<String> = tickets.into_iter().flatten().collect();
    assert_eq!(distinct(&present).len(), present.len());
    // What is given goes on.
    let frame = synthesizer
        .continue_sequences(&data.head(Some(9)), 2)
        .unwrap();
    let devices = texts(&frame, "device");
    let wanted = [None, Some("1"), Some("2")].map(|device| device.map(str::to_owned));
    for (number, device) in wanted.into_iter().enumerate() {
        assert!(
            devices[number * 5..number * 5 + 5]
                .iter()
                .all(|found| *found == device)
        );
    }
}

#[test]
fn ids_of_sequences_of_one_row_are_ids_of_rows() {
    let data = df!("k" => ["a", "b", "c"], "ticket" => ["T1", "T2", "T3"], "v" => [1.0, 2.0, 3.0])
        .unwrap();
    let stated = metadata(
        &["k"],
        &[("k", id()), ("ticket", id()), ("v", SdType::Numerical)],
    );
    let synthesizer = untrained(&stated).fit(&data).unwrap();
    let options = SampleOptions::sequences(4).length(3).seed(1);
    let tickets = present(&synthesizer.sample_with(&options).unwrap(), "ticket");
    assert_eq!(distinct(&tickets).len(), 12);
}
