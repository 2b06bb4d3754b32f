//! `value_protection`: what few sequences share never comes out, and what many share is as it was.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test's panic is its report"
)]

use parsynth::{Error, Metadata, ParSynthesizer, ParSynthesizerBuilder, SampleOptions, SdType};
use polars::prelude::*;

const SEQUENCES: i32 = 40;
const ROWS: i32 = 6;

fn metadata() -> Metadata {
    Metadata::builder()
        .column("k", SdType::Id { regex_format: None })
        .column("t", SdType::Datetime { format: None })
        .column("town", SdType::Categorical)
        .column("state", SdType::Categorical)
        .column("level", SdType::Numerical)
        .column("grade", SdType::Numerical)
        .column("price", SdType::Numerical)
        .sequence_key("k")
        .sequence_index("t")
        .build()
        .unwrap()
}

/// Sequence 0 is odd in everything: an early start, a long gap, a rare town (with sequence 1), a rare state in each
/// row, levels of a million, a grade of its own, a price of its own among prices that recur; and it is twice as long.
fn table() -> DataFrame {
    let (mut keys, mut days) = (Vec::new(), Vec::new());
    let (mut towns, mut states) = (Vec::new(), Vec::new());
    let (mut levels, mut grades, mut prices) = (Vec::new(), Vec::new(), Vec::new());
    for sequence in 0..SEQUENCES {
        let is_odd = sequence == 0;
        for row in 0..if is_odd { 2 * ROWS } else { ROWS } {
            keys.push(format!("K{sequence}"));
            days.push(if is_odd {
                row * 300
            } else {
                10_000 + sequence % 7 + row * (1 + sequence % 3)
            });
            towns.push(if sequence < 2 {
                "Nowhere"
            } else {
                ["Bath", "York"][sequence as usize % 2]
            });
            states.push(match (is_odd, (row + sequence) % 4) {
                (true, _) => Some("unheard-of"),
                (_, 0) => None,
                (_, 1) => Some("off"),
                _ => Some("on"),
            });
            let wave = f64::from((sequence * 31 + row * 17) % 997) / 7.0;
            levels.push(if is_odd { 1e6 } else { wave });
            grades.push(if is_odd {
                9
            } else {
                i64::from((row + sequence) % 4)
            });
            prices.push(if is_odd {
                77.77
            } else {
                1.150_78 * f64::from((sequence * 7 + row) % 23)
            });
        }
    }
    let days = Column::new("t".into(), days).cast(&DataType::Date).unwrap();
    let mut frame = df! {
        "k" => keys, "town" => towns, "state" => states,
        "level" => levels, "grade" => grades, "price" => prices,
    }
    .unwrap();
    frame.insert_column(1, days).unwrap();
    frame
}

fn builder() -> ParSynthesizerBuilder {
    ParSynthesizer::builder(metadata())
        .context_columns(["town"])
        .hidden_size(8)
        .threads(1)
        .seed(1)
        .epochs(0)
}

fn largest(frame: &DataFrame, column: &str) -> f64 {
    let column = frame
        .column(column)
        .unwrap()
        .cast(&DataType::Float64)
        .unwrap();
    column
        .f64()
        .unwrap()
        .iter()
        .flatten()
        .fold(f64::MIN, f64::max)
}

fn smallest(frame: &DataFrame, column: &str) -> f64 {
    let column = frame
        .column(column)
        .unwrap()
        .cast(&DataType::Float64)
        .unwrap();
    column
        .f64()
        .unwrap()
        .iter()
        .flatten()
        .fold(f64::MAX, f64::min)
}

fn texts(frame: &DataFrame, column: &str) -> Vec<Option<String>> {
    let column = frame.column(column).unwrap().str().unwrap();
    let mut texts: Vec<Option<String>> =
        column.iter().map(|text| text.map(str::to_owned)).collect();
    texts.sort();
    texts.dedup();
    texts
}

fn assert_protected(frame: &DataFrame) {
    let town: Vec<Option<String>> = ["Bath", "York"].map(|town| Some(town.to_owned())).into();
    assert_eq!(texts(frame, "town"), town);
    let state = vec![None, Some("off".to_owned()), Some("on".to_owned())];
    assert_eq!(texts(frame, "state"), state);
    assert!(largest(frame, "level") < 150.0);
    assert!(largest(frame, "grade") <= 3.0);
    assert!(largest(frame, "price") < 27.0);
    assert!(smallest(frame, "t") >= 10_000.0);
    let rows = frame.height() as f64 / frame.column("k").unwrap().n_unique().unwrap() as f64;
    assert!(
        (rows - f64::from(ROWS)).abs() < 1e-9,
        "{rows} rows a sequence"
    );
    // Gaps of 1 to 3 days: five of them from a start within a week.
    assert!(largest(frame, "t") <= 10_006.0 + 5.0 * 3.0);
}

#[test]
fn what_fewer_than_three_sequences_share_never_comes_out_trained_or_not() {
    for epochs in [0, 3] {
        let model = builder()
            .epochs(epochs)
            .value_protection(3)
            .fit(&table())
            .unwrap();
        for seed in 0..3 {
            let options = SampleOptions::sequences(300).seed(seed).threads(1);
            assert_protected(&model.sample_with(&options).unwrap());
        }
    }
}

#[test]
fn without_protection_they_do_come_out() {
    let model = builder().fit(&table()).unwrap();
    let frame = model
        .sample_with(&SampleOptions::sequences(300).seed(1).threads(1))
        .unwrap();
    assert!(texts(&frame, "town").contains(&Some("Nowhere".to_owned())));
    assert!(texts(&frame, "state").contains(&Some("unheard-of".to_owned())));
    assert!(largest(&frame, "grade") == 9.0);
}

#[test]
fn where_all_is_shared_protection_changes_nothing() {
    // Each sequence twice, under another key.
    let mut frame = table().drop("t").unwrap();
    let mut twin = frame.clone();
    let keys = frame.column("k").unwrap().str().unwrap().iter();
    let keys: Vec<String> = keys
        .map(|key| format!("twin of {}", key.unwrap()))
        .collect();
    twin.replace("k", Column::new("k".into(), keys)).unwrap();
    frame.vstack_mut(&twin).unwrap();
    let metadata = Metadata::builder()
        .column("k", SdType::Id { regex_format: None })
        .column("town", SdType::Categorical)
        .column("state", SdType::Categorical)
        .column("level", SdType::Numerical)
        .column("grade", SdType::Numerical)
        .column("price", SdType::Numerical)
        .sequence_key("k")
        .build()
        .unwrap();
    let sample = |protection| {
        let model = ParSynthesizer::builder(metadata.clone())
            .context_columns(["town"])
            .hidden_size(8)
            .threads(1)
            .seed(1)
            .epochs(1)
            .value_protection(protection)
            .fit(&frame)
            .unwrap();
        assert!(
            model.report().warnings.is_empty(),
            "{:?}",
            model.report().warnings
        );
        model
            .sample_with(&SampleOptions::sequences(50).seed(1).threads(1))
            .unwrap()
    };
    assert!(sample(1).equals_missing(&sample(2)));
}

#[test]
fn a_saved_model_does_not_hold_what_is_protected_and_samples_as_before() {
    let model = builder().value_protection(3).fit(&table()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.parsynth");
    model.save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    for rare in ["Nowhere", "unheard-of"] {
        let mut windows = bytes.windows(rare.len());
        assert!(!windows.any(|window| window == rare.as_bytes()), "{rare}");
    }
    for rare in [1e6_f64, 77.77] {
        let mut windows = bytes.windows(8);
        assert!(
            !windows.any(|window| window == rare.to_le_bytes()),
            "{rare}"
        );
    }
    let options = || SampleOptions::sequences(20).seed(1).threads(1);
    let loaded = ParSynthesizer::load(&path).unwrap();
    let (before, after) = (
        model.sample_with(&options()),
        loaded.sample_with(&options()),
    );
    assert!(before.unwrap().equals_missing(&after.unwrap()));
}

#[test]
fn the_report_says_how_much_was_protected() {
    let model = builder().value_protection(3).fit(&table()).unwrap();
    let warnings = &model.report().warnings;
    for wanted in [
        "column `town`: 1 of 3 categories are seen in fewer than 3 sequences and never come out",
        "column `state`: 1 of 3 categories are seen in fewer than 3 sequences and never come out",
        "column `level`:",
        "column `grade`: 12 of 246 values lie beyond the 3 most extreme sequences and are clipped",
    ] {
        assert!(
            warnings.iter().any(|warning| warning.starts_with(wanted)),
            "{warnings:?}"
        );
    }
}

#[test]
fn a_protected_category_cannot_be_given() {
    let model = builder().value_protection(3).fit(&table()).unwrap();
    let given = df! { "town" => ["York", "Nowhere"] }.unwrap();
    let error = model.sample_sequential_columns(&given).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column `town`, row 1: `Nowhere` was not seen in training; seen were `Bath`, `York`, and some protected as rare"
    );
}

#[test]
fn a_column_of_nothing_but_rare_categories_and_more_sequences_than_there_are_are_refused() {
    let mut frame = table();
    let own: Vec<String> = frame
        .column("k")
        .unwrap()
        .str()
        .unwrap()
        .iter()
        .map(|k| format!("of {}", k.unwrap()))
        .collect();
    frame
        .replace("town", Column::new("town".into(), own))
        .unwrap();
    let error = builder().value_protection(2).fit(&frame).unwrap_err();
    assert!(
        matches!(
            error,
            Error::AllProtected {
                categories: 40,
                protection: 2,
                ..
            }
        ),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .starts_with("column `town`: each of its 40 categories")
    );
    let error = builder().value_protection(41).fit(&table()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "option `value_protection` is 41, expected 1 to 40"
    );
}

#[test]
fn a_history_with_protected_values_is_continued_by_common_ones() {
    let model = builder().value_protection(3).fit(&table()).unwrap();
    let history = table();
    let forecast = model.continue_sequences(&history, 4).unwrap();
    assert_eq!(forecast.height(), history.height() + 4 * SEQUENCES as usize);
    let keys = forecast.column("k").unwrap().str().unwrap().equal("K0");
    let odd = forecast.filter(&keys).unwrap();
    assert_eq!(odd.height(), (2 * ROWS + 4) as usize);
    let given = odd.head(Some((2 * ROWS) as usize));
    assert_eq!(texts(&given, "state"), [Some("unheard-of".to_owned())]);
    let new = odd.tail(Some(4));
    assert!(!texts(&new, "state").contains(&Some("unheard-of".to_owned())));
    assert_eq!(texts(&new, "town"), [Some("Nowhere".to_owned())]);
}
