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
        "column `t`: 1 of 40 starts lie beyond what 3 sequences reach and are clipped",
        "column `t`: 11 of 206 gaps lie beyond what 3 sequences reach and are clipped",
        "1 of 40 sequences are longer or shorter than what 3 sequences reach; lengths are clipped",
        "column `grade`: 12 of 246 values lie beyond what 3 sequences reach and are clipped",
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
        "column `town`, row 1: `Nowhere` is protected as rare, or was not seen in training; value_protection(3) leaves `Bath`, `York`"
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

/// Bytes of a saved model.
fn saved(model: &ParSynthesizer) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.parsynth");
    model.save(&path).unwrap();
    std::fs::read(&path).unwrap()
}

fn holds(bytes: &[u8], number: f64) -> bool {
    bytes
        .windows(8)
        .any(|window| window == number.to_le_bytes())
}

/// Forty sequences of five rows by number: columns `k`, `i` (the index) and the given one, `x`.
fn numbered(index: impl Fn(i32, i32) -> i64, x: impl Fn(i32, i32) -> Option<f64>) -> DataFrame {
    let cells = || (0..SEQUENCES).flat_map(|sequence| (0..5).map(move |row| (sequence, row)));
    df! {
        "k" => cells().map(|(sequence, _)| sequence).collect::<Vec<i32>>(),
        "i" => cells().map(|(sequence, row)| index(sequence, row)).collect::<Vec<i64>>(),
        "x" => cells().map(|(sequence, row)| x(sequence, row)).collect::<Vec<Option<f64>>>(),
    }
    .unwrap()
}

fn numbered_builder(x: SdType, index: SdType) -> ParSynthesizerBuilder {
    let metadata = Metadata::builder()
        .column("k", SdType::Id { regex_format: None })
        .column("i", index)
        .column("x", x)
        .sequence_key("k")
        .sequence_index("i")
        .build()
        .unwrap();
    ParSynthesizer::builder(metadata)
        .hidden_size(8)
        .threads(1)
        .seed(1)
        .epochs(0)
        .value_protection(3)
}

#[test]
fn a_saved_model_does_not_hold_the_odd_times_of_a_sequence() {
    // Sequence 0 begins far before the others and sequence 39 ends far after them.
    let time = |sequence: i32, row: i32| match sequence {
        0 => 12_345 + i64::from(row) * 1_111,
        39 => 777_777 + i64::from(row) * 2_222,
        _ => 100_000 + i64::from(sequence % 5) * 10 + i64::from(row),
    };
    let frame = numbered(time, |sequence, row| Some(f64::from((sequence + row) % 4)));
    let model = numbered_builder(SdType::Numerical, SdType::Numerical)
        .fit(&frame)
        .unwrap();
    let bytes = saved(&model);
    for sequence in [0, 39] {
        for row in 0..5 {
            let (index, elapsed) = (time(sequence, row), time(sequence, row) - time(sequence, 0));
            assert!(!holds(&bytes, index as f64), "index {index}");
            assert!(
                elapsed == 0 || !holds(&bytes, elapsed as f64),
                "elapsed {elapsed}"
            );
        }
    }
}

#[test]
fn a_saved_model_does_not_hold_the_first_of_great_times() {
    let first = 1_500_000_000_123_456_789_i64;
    let time = |sequence: i32, row: i32| match sequence {
        0 => first + i64::from(row),
        _ => {
            1_700_000_000_000_000_000 + (i64::from(sequence) * 100 + i64::from(row)) * 1_000_000_000
        }
    };
    let mut frame = numbered(time, |sequence, row| Some(f64::from((sequence + row) % 4)));
    let nanoseconds = DataType::Datetime(TimeUnit::Nanoseconds, None);
    let times = frame.column("i").unwrap().cast(&nanoseconds).unwrap();
    frame.replace("i", times).unwrap();
    let model = numbered_builder(SdType::Numerical, SdType::Datetime { format: None })
        .fit(&frame)
        .unwrap();
    // An i128 above 2^32 is stored as its double in eight bytes.
    let bytes = saved(&model);
    let zigzag = (2 * first).to_le_bytes();
    assert!(!bytes.windows(8).any(|window| window == zigzag));
    let sampled = model
        .sample_with(&SampleOptions::sequences(200).seed(1))
        .unwrap();
    assert!(smallest(&sampled, "i") >= time(2, 0) as f64);
    assert!(largest(&sampled, "i") <= time(39, 4) as f64);
}

#[test]
fn a_rare_price_between_common_ones_is_neither_sampled_nor_saved() {
    // Prices without a grid, whose very floats a codec keeps.
    let seen: Vec<f64> = (0..23).map(|step| f64::from(step).sqrt()).collect();
    let (common, rare) = (seen.clone(), 4.321_f64.sqrt());
    let price = move |sequence: i32, row: i32| match (sequence, row) {
        (7, 2) => rare,
        _ => common[(sequence * 7 + row) as usize % 23],
    };
    let frame = numbered(
        |_, row| i64::from(row),
        |sequence, row| Some(price(sequence, row)),
    );
    let model = numbered_builder(SdType::Numerical, SdType::Numerical)
        .fit(&frame)
        .unwrap();
    assert!(!holds(&saved(&model), rare));
    assert_eq!(
        model.report().warnings,
        [
            "column `x`: 1 of 200 values are seen in fewer than 3 sequences and go to the nearest that more share"
        ]
    );
    let sampled = model
        .sample_with(&SampleOptions::sequences(400).seed(1))
        .unwrap();
    for value in sampled.column("x").unwrap().f64().unwrap().iter().flatten() {
        assert!(seen.contains(&value), "{value}");
    }
}

#[test]
fn numbers_that_too_few_sequences_have_are_refused() {
    let frame = numbered(
        |_, row| i64::from(row),
        |sequence, row| (sequence < 2).then(|| f64::from(row)),
    );
    let fit = |k| {
        numbered_builder(SdType::Numerical, SdType::Numerical)
            .value_protection(k)
            .fit(&frame)
    };
    assert_eq!(
        fit(3).unwrap_err().to_string(),
        "column `x`: 2 sequences have a value, so value_protection(3) leaves none; lower it, or leave the column out"
    );
    assert!(fit(2).is_ok());
}

#[test]
fn changes_and_gaps_that_too_few_sequences_have_are_not_told() {
    // Only sequences 0 and 1 have a second row.
    let mut frame = numbered(
        |sequence, row| i64::from(row) * 7_919 + i64::from(sequence % 3),
        |sequence, row| Some(f64::from(sequence * 1_000) + f64::from(row) * 31.0),
    );
    let kept: BooleanChunked = (0..SEQUENCES)
        .flat_map(|sequence| (0..5).map(move |row| sequence < 2 || row == 0))
        .map(Some)
        .collect();
    frame = frame.filter(&kept).unwrap();
    let model = numbered_builder(SdType::Numerical, SdType::Numerical)
        .fit(&frame)
        .unwrap();
    assert!(!holds(&saved(&model), 7_919.0));
    let options = SampleOptions::sequences(100).length(4).seed(1);
    let sampled = model.sample_with(&options).unwrap();
    assert_eq!(sampled.column("x").unwrap().null_count(), 0);
    assert!(
        largest(&sampled, "i") <= 2.0 + 3.0,
        "{}",
        largest(&sampled, "i")
    );
    let free = model
        .sample_with(&SampleOptions::sequences(100).seed(1))
        .unwrap();
    assert_eq!(free.height(), 100);
}

#[test]
fn categories_of_any_type_are_protected() {
    let cells = |rare: f64| {
        numbered(
            |_, row| i64::from(row),
            move |sequence, row| {
                Some(if sequence == 5 {
                    rare
                } else {
                    f64::from((sequence + row) % 2)
                })
            },
        )
    };
    for dtype in [DataType::Int64, DataType::Float64, DataType::Boolean] {
        let is_boolean = dtype == DataType::Boolean;
        let mut frame = cells(9.0);
        if is_boolean {
            // True in one sequence only.
            let flags: Vec<bool> = (0..SEQUENCES * 5).map(|row| row / 5 == 5).collect();
            frame.replace("x", Column::new("x".into(), flags)).unwrap();
        } else {
            let cast = frame.column("x").unwrap().cast(&dtype).unwrap();
            frame.replace("x", cast).unwrap();
        }
        let model = numbered_builder(SdType::Categorical, SdType::Numerical)
            .fit(&frame)
            .unwrap();
        let sampled = model
            .sample_with(&SampleOptions::sequences(400).seed(1))
            .unwrap();
        assert_eq!(sampled.column("x").unwrap().dtype(), &dtype);
        let most = if is_boolean { 0.0 } else { 1.0 };
        assert_eq!(largest(&sampled, "x"), most, "{dtype}");
    }
}

#[test]
fn a_time_of_day_at_which_one_sequence_starts_is_protected() {
    let time = |sequence: i32, row: i32| {
        let hour = if sequence == 4 {
            3
        } else {
            [8, 20][sequence as usize % 2]
        };
        (i64::from(sequence % 11) * 24 + hour + i64::from(row) * 24) * 3_600_000
    };
    let mut frame = numbered(time, |sequence, row| Some(f64::from((sequence + row) % 4)));
    let milliseconds = DataType::Datetime(TimeUnit::Milliseconds, None);
    let times = frame.column("i").unwrap().cast(&milliseconds).unwrap();
    frame.replace("i", times).unwrap();
    let model = numbered_builder(SdType::Numerical, SdType::Datetime { format: None })
        .fit(&frame)
        .unwrap();
    let sampled = model
        .sample_with(&SampleOptions::sequences(400).seed(1))
        .unwrap();
    let raw = sampled.column("i").unwrap().cast(&DataType::Int64).unwrap();
    for time in raw.i64().unwrap().iter().flatten() {
        let hour = time / 3_600_000 % 24;
        assert!(hour == 8 || hour == 20, "{hour}");
    }
    let wanted = "column `i`: 1 of 40 sequences start at a time of day that fewer than 3 share, which never comes out";
    assert!(
        model
            .report()
            .warnings
            .iter()
            .any(|warning| warning == wanted),
        "{:?}",
        model.report().warnings
    );
}
