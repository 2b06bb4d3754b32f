//! Context columns and sampling for given ones.

use crate::common::*;
use parsynth::SdType::{Categorical, Id, Numerical};
use parsynth::{ParSynthesizer, ParSynthesizerBuilder, SampleOptions, SdType};
use polars::prelude::*;

const COLUMNS: [(&str, SdType); 5] = [
    ("c2", Numerical),
    ("k", Id { regex_format: None }),
    ("v", Numerical),
    ("t", Numerical),
    ("c1", Categorical),
];

/// Twenty keys of three rows; c1 is one of four sectors, c2 a number that is missing for one key.
fn sectors() -> DataFrame {
    const SECTORS: [&str; 4] = ["Energy", "Health", "Retail", "Travel"];
    let per_key = |key: usize| (key != 3).then_some(key as f64 / 2.0);
    let rows = 0..60_usize;
    df!(
        "c2" => rows.clone().map(|row| per_key(row / 3)).collect::<Vec<_>>(),
        "k" => keys(&[3; 20]),
        "v" => noise(60),
        "t" => rows.clone().map(|row| (row % 3) as i64).collect::<Vec<_>>(),
        "c1" => rows.map(|row| SECTORS[row / 3 % 4]).collect::<Vec<_>>(),
    )
    .unwrap()
}

fn fitted(context: [&str; 2]) -> ParSynthesizer {
    untrained(&COLUMNS)
        .epochs(1)
        .context_columns(context)
        .fit(&sectors())
        .unwrap()
}

fn given(synthesizer: &ParSynthesizer, wanted: &DataFrame) -> DataFrame {
    let options = SampleOptions::per_context_row().seed(1).threads(1);
    synthesizer
        .sample_sequential_columns_with(wanted, &options)
        .unwrap()
}

fn refusal(synthesizer: &ParSynthesizer, wanted: &DataFrame) -> String {
    synthesizer
        .sample_sequential_columns(wanted)
        .unwrap_err()
        .to_string()
}

fn fit_refusal(builder: ParSynthesizerBuilder, data: &DataFrame) -> String {
    builder.fit(data).unwrap_err().to_string()
}

fn some_texts(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|text| Some((*text).to_owned())).collect()
}

/// The value of a number column in each sequence's first row.
fn first_reals(frame: &DataFrame, column: &str) -> Vec<Option<f64>> {
    let values = reals(frame, column);
    let starts = sequences(frame);
    starts.into_iter().map(|rows| values[rows.start]).collect()
}

#[test]
fn the_order_in_which_context_columns_are_named_or_given_does_not_matter() {
    let (one, other) = (fitted(["c2", "c1"]), fitted(["c1", "c2"]));
    let options = || SampleOptions::sequences(10);
    let sampled = sample(&one, options());
    assert_eq!(sampled.schema(), sectors().schema());
    assert!(sampled.equals_missing(&sample(&other, options())));
    let wanted = df!("c1" => ["Health", "Travel"], "c2" => [1.5, 4.0]).unwrap();
    let turned = wanted.select(["c2", "c1"]).unwrap();
    let sampled = given(&one, &wanted);
    assert_eq!(sampled.schema(), sectors().schema());
    assert!(sampled.equals_missing(&given(&one, &turned)));
    assert!(sampled.equals_missing(&given(&other, &wanted)));
}

#[test]
fn context_is_constant_in_each_sequence_and_of_values_seen() {
    let sampled = sample(&fitted(["c1", "c2"]), SampleOptions::sequences(100));
    assert!(is_constant_per_sequence(&sampled, "c1"));
    assert!(is_constant_per_sequence(&sampled, "c2"));
    let seen = texts(&sectors(), "c1");
    assert!(
        texts(&sampled, "c1")
            .iter()
            .all(|sector| seen.contains(sector))
    );
}

#[test]
fn given_values_come_back_unchanged_and_the_rest_is_drawn() {
    let synthesizer = fitted(["c2", "c1"]);
    let wanted = ["Health", "Energy", "Health", "Travel", "Retail"];
    let sampled = given(&synthesizer, &df!("c1" => wanted).unwrap());
    assert_eq!(sampled.schema(), sectors().schema());
    assert_eq!(first_texts(&sampled, "c1"), some_texts(&wanted));
    assert!(is_constant_per_sequence(&sampled, "c1"));
    assert!(is_constant_per_sequence(&sampled, "c2"));
    let drawn = first_reals(&sampled, "c2");
    assert!(
        drawn
            .iter()
            .flatten()
            .all(|value| (0.0..=9.5).contains(value)),
        "{drawn:?}"
    );
    assert!(drawn.windows(2).any(|pair| pair[0] != pair[1]));
    // Keys are made up, and new.
    let seen = texts(&sectors(), "k");
    let made_up = first_texts(&sampled, "k");
    assert!(
        made_up
            .iter()
            .all(|key| key.is_some() && !seen.contains(key))
    );

    let numbers = [Some(0.123_456_789), Some(9.5), None];
    let sampled = given(&synthesizer, &df!("c2" => numbers).unwrap());
    assert_eq!(first_reals(&sampled, "c2"), numbers);
    assert_eq!(nulls(&sampled, "c1"), 0);
}

#[test]
fn what_is_drawn_follows_what_is_given() {
    // Each sector has a size of its own and, in its rows, a level of its own.
    let rows = 0..120_usize;
    let sector = |row: usize| row / 3 % 2;
    let data = df!(
        "k" => keys(&[3; 40]),
        "c1" => rows.clone().map(|row| ["Energy", "Health"][sector(row)]).collect::<Vec<_>>(),
        "c2" => rows.clone().map(|row| ["big", "small"][sector(row)]).collect::<Vec<_>>(),
        "v" => rows.map(|row| 100.0 * sector(row) as f64).zip(noise(120)).map(|(level, noise)| level + noise)
            .collect::<Vec<_>>(),
    )
    .unwrap();
    let columns = [
        ("k", id()),
        ("c1", Categorical),
        ("c2", Categorical),
        ("v", Numerical),
    ];
    let synthesizer = untrained(&columns)
        .context_columns(["c1", "c2"])
        .epochs(60)
        .fit(&data)
        .unwrap();
    let sampled = given(&synthesizer, &df!("c1" => ["Health"; 100]).unwrap());
    let share = |hits: usize| hits as f64 / sampled.height() as f64;
    let small = texts(&sampled, "c2");
    let small = small.iter().filter(|size| size.as_deref() == Some("small"));
    assert!(share(small.count()) > 0.9);
    let high = reals(&sampled, "v").into_iter().flatten();
    assert!(share(high.filter(|value| *value > 50.0).count()) > 0.9);
}

#[test]
fn given_keys_come_back_and_a_repeated_or_missing_one_is_refused() {
    let synthesizer = fitted(["c1", "c2"]);
    let wanted = df!("c1" => ["Health", "Energy"], "k" => ["mine", "K3"]).unwrap();
    let sampled = given(&synthesizer, &wanted);
    assert_eq!(first_texts(&sampled, "k"), some_texts(&["mine", "K3"]));
    assert_eq!(
        first_texts(&sampled, "c1"),
        some_texts(&["Health", "Energy"])
    );
    let only_keys = given(&synthesizer, &wanted.select(["k"]).unwrap());
    assert_eq!(first_texts(&only_keys, "k"), some_texts(&["mine", "K3"]));

    let repeated = df!("k" => ["a", "b", "a"]).unwrap();
    assert_eq!(
        refusal(&synthesizer, &repeated),
        "sequence key column `k`, row 2: `a` was given before; keys must differ"
    );
    let missing = df!("k" => [Some("a"), None]).unwrap();
    let error = refusal(&synthesizer, &missing);
    assert!(error.starts_with("column `k`, row 1: "), "{error}");
    assert!(error.contains("missing"), "{error}");
}

#[test]
fn an_unseen_category_is_an_error_that_names_column_row_and_value() {
    let synthesizer = fitted(["c1", "c2"]);
    let wanted = df!("c1" => ["Health", "Space"]).unwrap();
    assert_eq!(
        refusal(&synthesizer, &wanted),
        "column `c1`, row 1: `Space` was not seen in training; seen were `Energy`, `Health`, `Retail`, `Travel`"
    );
    let missing = df!("c1" => [Some("Health"), None]).unwrap();
    assert_eq!(
        refusal(&synthesizer, &missing),
        "column `c1`, row 1: missing was not seen in training; seen were `Energy`, `Health`, `Retail`, `Travel`"
    );
}

#[test]
fn a_missing_number_is_refused_where_training_never_missed_one() {
    let data = sectors()
        .filter(&sectors().column("c2").unwrap().is_not_null())
        .unwrap();
    let synthesizer = untrained(&COLUMNS)
        .context_columns(["c2", "c1"])
        .fit(&data)
        .unwrap();
    assert_eq!(
        refusal(&synthesizer, &df!("c2" => [Some(1.0), None]).unwrap()),
        "column `c2`, row 1: missing, but training had a value in every sequence; give one, or leave the column out to \
         have it drawn"
    );
}

#[test]
fn a_column_that_is_no_context_column_is_refused_by_name() {
    let synthesizer = fitted(["c2", "c1"]);
    let refused = |column: &str| refusal(&synthesizer, &df!(column => [1.0]).unwrap());
    assert_eq!(
        refused("c3"),
        "column `c3` is not a context column; did you mean `c1`?; context columns are: c2, c1"
    );
    assert_eq!(
        refused("colour"),
        "column `colour` is not a context column; context columns are: c2, c1"
    );
    for sequential in ["v", "t"] {
        let error = refused(sequential);
        assert!(error.starts_with(&format!("column `{sequential}` is not a context column")));
    }
}

#[test]
fn a_dtype_that_loses_nothing_is_taken_and_one_that_does_is_refused() {
    let ages: Vec<i64> = (0..20).flat_map(|key| [20 + key; 2]).collect();
    let data = df!("k" => keys(&[2; 20]), "age" => ages, "v" => noise(40)).unwrap();
    let columns = [("k", id()), ("age", Numerical), ("v", Numerical)];
    let synthesizer = untrained(&columns)
        .context_columns(["age"])
        .fit(&data)
        .unwrap();
    for wanted in [
        df!("age" => [25_i32, 30]).unwrap(),
        df!("age" => [25_u8, 30]).unwrap(),
        df!("age" => [25.0_f64, 30.0]).unwrap(),
    ] {
        let sampled = given(&synthesizer, &wanted);
        assert_eq!(sampled.schema(), data.schema());
        assert_eq!(first_reals(&sampled, "age"), [Some(25.0), Some(30.0)]);
    }
    let error = refusal(&synthesizer, &df!("age" => [25.0, 30.5]).unwrap());
    assert!(error.starts_with("column `age`, row 1: "), "{error}");
    let error = refusal(&synthesizer, &df!("age" => ["25"]).unwrap());
    assert_eq!(error, "column `age` has dtype str; i64 was fitted");
}

#[test]
fn a_number_among_the_context_is_never_looked_up_as_a_category() {
    let ages: Vec<i64> = (0..20).flat_map(|key| [20 + 3 * key; 3]).collect();
    let data = df!("k" => keys(&[3; 20]), "anchor_age" => ages, "v" => noise(60)).unwrap();
    let columns = [("k", id()), ("anchor_age", Numerical), ("v", Numerical)];
    let synthesizer = untrained(&columns)
        .context_columns(["anchor_age"])
        .epochs(1)
        .fit(&data)
        .unwrap();
    let drawn = wholes(
        &sample(&synthesizer, SampleOptions::sequences(200)),
        "anchor_age",
    );
    assert!(drawn.iter().all(|age| (20..=77).contains(age)));
    // None of these was seen, the last two lie outside.
    let wanted = df!("anchor_age" => [21_i64, 40, 5, 150]).unwrap();
    let sampled = given(&synthesizer, &wanted);
    assert_eq!(
        first_reals(&sampled, "anchor_age"),
        [21.0, 40.0, 5.0, 150.0].map(Some)
    );
    assert!(reals(&sampled, "v").iter().all(|value| value.is_some()));
}

#[test]
fn a_birth_date_works_as_context() {
    let births: Vec<i32> = (0..15).flat_map(|key| [10_000 + 97 * key; 4]).collect();
    let visits: Vec<i32> = (0..60).map(|row| 18_000 + 11 * row).collect();
    let data = df!("k" => keys(&[4; 15]), "birth" => dates(&births), "t" => dates(&visits), "v" => noise(60)).unwrap();
    let columns = [
        ("k", id()),
        ("birth", datetime()),
        ("t", datetime()),
        ("v", Numerical),
    ];
    let synthesizer = untrained(&columns)
        .context_columns(["birth"])
        .epochs(1)
        .fit(&data)
        .unwrap();
    const NEW_YEAR_2006: i32 = 13_149;
    let wanted = df!("birth" => dates(&[NEW_YEAR_2006, 10_097])).unwrap();
    let sampled = given(&synthesizer, &wanted);
    assert_eq!(sampled.schema(), data.schema());
    let births = wholes(&sampled, "birth");
    assert_eq!(
        (births[0], births[births.len() - 1]),
        (NEW_YEAR_2006.into(), 10_097)
    );
    assert!(is_constant_per_sequence(&sampled, "birth"));
    // As text, too.
    let as_text = given(
        &synthesizer,
        &df!("birth" => ["2006-01-01", "1997-08-24"]).unwrap(),
    );
    assert!(as_text.equals_missing(&sampled));
}

#[test]
fn personal_data_among_the_context_is_made_up_per_sequence() {
    let letters = |key: usize| char::from(b'A' + key as u8);
    let sources: Vec<String> = (0..24_usize)
        .map(|row| format!("source-AA{}", letters(row / 3)))
        .collect();
    let sectors: Vec<&str> = (0..24).map(|row| ["x", "y"][row / 3 % 2]).collect();
    let data =
        df!("k" => keys(&[3; 8]), "source" => &sources, "c" => sectors, "v" => noise(24)).unwrap();
    let pattern = Id {
        regex_format: Some("source-[A-Z]{3}".to_owned()),
    };
    let columns = [
        ("k", id()),
        ("source", pattern),
        ("c", Categorical),
        ("v", Numerical),
    ];
    let synthesizer = untrained(&columns)
        .context_columns(["source", "c"])
        .fit(&data)
        .unwrap();
    let wanted = df!("c" => ["y"; 300]).unwrap();
    for sampled in [
        sample(&synthesizer, SampleOptions::sequences(300)),
        given(&synthesizer, &wanted),
    ] {
        assert!(is_constant_per_sequence(&sampled, "source"));
        let made_up = first_texts(&sampled, "source");
        assert_eq!(made_up.len(), 300);
        for source in made_up {
            let source = source.unwrap();
            let tail = source.strip_prefix("source-").unwrap();
            assert!(tail.len() == 3 && tail.bytes().all(|b| b.is_ascii_uppercase()));
            assert!(!sources.contains(&source), "{source} was copied");
        }
    }
    // Given ones come back.
    let wanted = df!("source" => ["source-QQQ", "source-QQQ"]).unwrap();
    let sampled = given(&synthesizer, &wanted);
    assert_eq!(
        first_texts(&sampled, "source"),
        some_texts(&["source-QQQ"; 2])
    );
}

#[test]
fn a_context_that_varies_within_a_sequence_is_refused_naming_column_and_key() {
    let data = df!(
        "k" => ["ID_003", "ID_004", "ID_003", "ID_004"],
        "address" => ["here", "there", "here", "elsewhere"],
    )
    .unwrap();
    let columns = [("k", id()), ("address", Categorical)];
    let builder = untrained(&columns).context_columns(["address"]);
    assert_eq!(
        fit_refusal(builder, &data),
        "context column `address` is not constant in the sequence `ID_004`: rows 1 and 3 differ"
    );
    let numbers = df!("k" => ["a", "a"], "address" => [Some(1.0), None]).unwrap();
    let columns = [("k", id()), ("address", Numerical)];
    let builder = untrained(&columns).context_columns(["address"]);
    assert_eq!(
        fit_refusal(builder, &numbers),
        "context column `address` is not constant in the sequence `a`: rows 0 and 1 differ"
    );
}

#[test]
fn impossible_context_columns_are_refused_by_name() {
    let refused =
        |column: &str| fit_refusal(untrained(&COLUMNS).context_columns([column]), &sectors());
    assert_eq!(
        refused("c11"),
        "context column `c11` is not a column; did you mean `c1`?"
    );
    for (column, role) in [("k", "sequence key"), ("t", "sequence index")] {
        let error = refused(column);
        assert!(
            error.contains(&format!("`{column}`")) && error.contains(role),
            "{error}"
        );
    }
}

#[test]
fn a_context_frame_without_rows_is_refused() {
    let synthesizer = fitted(["c1", "c2"]);
    let wanted = df!("c1" => ["Health"]).unwrap().slice(0, 0);
    assert_eq!(
        refusal(&synthesizer, &wanted),
        "the frame has no rows; at least one is wanted"
    );
}

#[test]
fn more_given_rows_than_are_sampled_at_once_keep_their_order() {
    // Sequences are sampled 512 at a time.
    let wanted: Vec<f64> = (0..1_100).map(|row| f64::from(row % 997) / 8.0).collect();
    let sampled = given(&fitted(["c1", "c2"]), &df!("c2" => wanted.clone()).unwrap());
    let wanted: Vec<Option<f64>> = wanted.into_iter().map(Some).collect();
    assert_eq!(first_reals(&sampled, "c2"), wanted);
}
