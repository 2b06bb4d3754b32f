//! `continue_sequences`: given rows come back as they are, and what follows depends on them.

mod time;

use crate::common::{id, keys, noise, texts, untrained, wholes};
use parsynth::SdType::{Boolean, Categorical, Numerical};
use parsynth::{ContinueOptions, Error, ParSynthesizer, SampleOptions, SdType};
use polars::prelude::*;
use std::collections::HashSet;

fn datetime(format: Option<&str>) -> SdType {
    SdType::Datetime {
        format: format.map(str::to_owned),
    }
}

fn continued(synthesizer: &ParSynthesizer, history: &DataFrame, steps: usize) -> DataFrame {
    let options = ContinueOptions::steps(steps).seed(1).threads(1);
    synthesizer
        .continue_sequences_with(history, &options)
        .unwrap()
}

fn refusal(synthesizer: &ParSynthesizer, history: &DataFrame) -> String {
    synthesizer
        .continue_sequences(history, 2)
        .unwrap_err()
        .to_string()
}

fn rows(frame: &DataFrame, rows: impl IntoIterator<Item = usize>) -> DataFrame {
    let rows = rows.into_iter().map(|row| IdxSize::try_from(row).unwrap());
    let rows: Vec<IdxSize> = rows.collect();
    let columns = frame.columns().iter();
    let columns = columns.map(|column| column.take_slice(&rows).unwrap());
    DataFrame::new_infer_height(columns.collect()).unwrap()
}

/// A column with one value replaced.
fn with_text(frame: &DataFrame, column: &str, row: usize, value: &str) -> DataFrame {
    let cells = frame.column(column).unwrap().str().unwrap();
    let cells: Vec<Option<&str>> = cells
        .iter()
        .enumerate()
        .map(|(at, cell)| if at == row { Some(value) } else { cell })
        .collect();
    let mut changed = frame.clone();
    changed
        .with_column(Column::new(column.into(), cells))
        .unwrap();
    changed
}

fn with_reals(frame: &DataFrame, column: &str, values: &[Option<f64>]) -> DataFrame {
    let mut changed = frame.clone();
    changed
        .with_column(Column::new(column.into(), values))
        .unwrap();
    changed
}

/// Numbers of a column without a missing one.
fn reals(frame: &DataFrame, column: &str) -> Vec<f64> {
    let column = frame.column(column).unwrap();
    let column = column.cast(&DataType::Float64).unwrap();
    column.f64().unwrap().iter().map(Option::unwrap).collect()
}

fn moments(raw: Vec<i64>, unit: TimeUnit, zone: Option<&str>) -> Series {
    let zone = TimeZone::opt_try_new(zone).unwrap();
    Series::new("".into(), raw)
        .cast(&DataType::Datetime(unit, zone))
        .unwrap()
}

/// Every cell equal, floats in every bit, NaN and null told apart.
fn assert_same_cells(left: &DataFrame, right: &DataFrame) {
    assert_eq!(left.schema(), right.schema());
    for (left, right) in left.columns().iter().zip(right.columns()) {
        let name = left.name();
        if left.dtype().is_float() {
            let bits = |column: &Column| -> Vec<Option<u64>> {
                let column = column.cast(&DataType::Float64).unwrap();
                let cells = column.f64().unwrap();
                cells.iter().map(|cell| cell.map(f64::to_bits)).collect()
            };
            assert_eq!(bits(left), bits(right), "{name}");
        } else {
            assert!(left.equals_missing(right), "{name}: {left:?} {right:?}");
        }
    }
}

/// A column of every dtype; three sequences of four rows, shuffled, keys against their order.
fn every_dtype() -> (DataFrame, Vec<(&'static str, SdType)>) {
    let sequences = [2_usize, 0, 1, 0, 2, 1, 1, 0, 2, 0, 1, 2];
    let order = [3_i64, 1, 0, 3, 0, 2, 3, 0, 1, 2, 1, 2];
    let rows = 0..sequences.len();
    let day = |row: usize| 19_000 + order[row] * 3 + sequences[row] as i64;
    let text_day = |row: usize| format!("{:02}/{:02}/2021", 1 + order[row] * 3, 1 + sequences[row]);
    let per_row = |f: &dyn Fn(usize) -> Option<i64>| rows.clone().map(f).collect::<Vec<_>>();
    let levels = ["low", "mid", "high"];
    let level = |row: usize| (row != 4).then_some(levels[row % 3]);
    let levels_of_rows: Vec<Option<&str>> = rows.clone().map(level).collect();
    let fixed = DataType::from_frozen_categories(FrozenCategories::new(levels).unwrap());
    let named = DataType::from_categories(Categories::global());
    let cast = |name: &str, dtype: &DataType| {
        Series::new(name.into(), &levels_of_rows)
            .cast(dtype)
            .unwrap()
    };
    let frame = df!(
        "k" => rows.clone().map(|row| ["Ähre", "b", "a"][sequences[row]]).collect::<Vec<_>>(),
        "t" => rows.clone().map(text_day).collect::<Vec<_>>(),
        "flag" => rows.clone().map(|row| (row != 5).then_some(row % 2 == 0)).collect::<Vec<_>>(),
        "small" => rows.clone().map(|row| (row != 2).then_some(row as i8 - 3)).collect::<Vec<_>>(),
        "count" => rows.clone().map(|row| row as u16).collect::<Vec<_>>(),
        "huge" => per_row(&|row| (row != 7).then_some(i64::MAX - 1_001 * row as i64)),
        "unsigned" => rows.clone().map(|row| u64::MAX - row as u64).collect::<Vec<_>>(),
        "single" => rows.clone().map(|row| row as f32 * 0.1).collect::<Vec<_>>(),
        "double" => rows.clone().map(|row| match row {
            1 => Some(f64::NAN),
            2 => Some(-0.0),
            3 => None,
            _ => Some(row as f64 / 3.0),
        }).collect::<Vec<_>>(),
        "fixed" => cast("fixed", &fixed),
        "named" => cast("named", &named),
        "code" => per_row(&|row| (row != 9).then_some(100 + row as i64 % 4)),
        "day" => Series::new("day".into(), per_row(&|row| (row != 1).then_some(day(row))))
            .cast(&DataType::Int32).unwrap().cast(&DataType::Date).unwrap(),
        "moment" => moments(rows.clone().map(|row| day(row) * 86_400_000_000_000 + row as i64).collect(),
            TimeUnit::Nanoseconds, Some("Europe/Berlin")),
        "whole_day" => rows.clone().map(|row| 20_210_101 + order[row]).collect::<Vec<_>>(),
        "visit" => rows.clone().map(|row| format!("V{:03}", 11 - row)).collect::<Vec<_>>(),
        "person" => rows.clone().map(|row| (sequences[row] != 1).then_some(70 + sequences[row] as i32)).collect::<Vec<_>>(),
        "born" => moments(rows.clone().map(|row| [1, i64::MAX / 4, 77_777_777_777][sequences[row]]).collect(),
            TimeUnit::Nanoseconds, None),
        "nothing" => vec![None::<f64>; sequences.len()],
    )
    .unwrap();
    let columns = vec![
        ("k", id()),
        ("t", datetime(Some("%d/%m/%Y"))),
        ("flag", Boolean),
        ("small", Numerical),
        ("count", Numerical),
        ("huge", Numerical),
        ("unsigned", Numerical),
        ("single", Numerical),
        ("double", Numerical),
        ("fixed", Categorical),
        ("named", Categorical),
        ("code", Categorical),
        ("day", datetime(None)),
        ("moment", datetime(None)),
        ("whole_day", datetime(Some("%Y%m%d"))),
        ("visit", id()),
        ("person", id()),
        ("born", datetime(None)),
        ("nothing", Numerical),
    ];
    (frame, columns)
}

/// The rows of [`every_dtype`], by key in order of appearance and by index.
const SORTED: [usize; 12] = [4, 8, 11, 0, 7, 1, 9, 3, 2, 10, 5, 6];

#[test]
fn given_cells_come_back_bit_for_bit_in_all_dtypes() {
    let (data, columns) = every_dtype();
    let synthesizer = untrained(&columns)
        .context_columns(["person", "born"])
        .fit(&data)
        .unwrap();
    let sorted = rows(&data, SORTED);
    for steps in [0, 1, 5] {
        let frame = continued(&synthesizer, &data, steps);
        assert_eq!(frame.schema(), data.schema());
        assert_eq!(frame.height(), 3 * (4 + steps));
        let given = (0..3).flat_map(|s| s * (4 + steps)..s * (4 + steps) + 4);
        assert_same_cells(&rows(&frame, given), &sorted);
        // What belongs to a sequence goes on in its new rows.
        for sequence in 0..3 {
            let own = frame.slice((sequence * (4 + steps)) as i64, 4 + steps);
            for column in ["k", "person", "born"] {
                let cells = own.select([column]).unwrap();
                assert_same_cells(&cells, &rows(&cells, vec![0; 4 + steps]));
            }
        }
    }
    // A frame in chunks and with its columns turned around gives the same.
    let mut chunked = data.slice(0, 5);
    chunked.vstack_mut(&data.slice(5, 7)).unwrap();
    let mut names: Vec<String> = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
    names.reverse();
    let turned = chunked.select(names).unwrap();
    assert_same_cells(
        &continued(&synthesizer, &data, 3),
        &continued(&synthesizer, &turned, 3),
    );
}

#[test]
fn the_order_of_the_rows_changes_nothing_but_the_order_of_the_sequences() {
    let (data, columns) = every_dtype();
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    let frame = continued(&synthesizer, &data, 3);
    let turned = continued(&synthesizer, &rows(&data, (0..12).rev()), 3);
    // Keys appear as a, Ähre, b from the start, and as a, b, Ähre from the end.
    let swapped = rows(&turned, (0..7).chain(14..21).chain(7..14));
    assert_same_cells(&frame, &swapped);
}

#[test]
fn values_of_another_dtype_are_taken_where_nothing_is_lost() {
    let columns = [
        ("k", id()),
        ("t", Numerical),
        ("d", datetime(None)),
        ("v", Numerical),
    ];
    let days = Series::new("".into(), [1, 2, 3, 4])
        .cast(&DataType::Date)
        .unwrap();
    let data = df!("k" => ["a", "a", "b", "b"], "t" => [1_i8, 2, 1, 2], "d" => days, "v" => [0.5_f32, 1.5, 2.5, 3.5])
        .unwrap();
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    let texts = ["1970-01-05", "1970-01-09"];
    let history =
        df!("k" => ["c", "c"], "t" => [5_i64, 6], "d" => texts, "v" => [1_i32, 2]).unwrap();
    let frame = continued(&synthesizer, &history, 1);
    assert_eq!(frame.schema(), data.schema());
    assert_eq!(wholes(&frame, "d")[..2], [4, 8]);
    assert_eq!(reals(&frame, "v")[..2], [1.0, 2.0]);
    let history =
        df!("k" => ["c", "c"], "t" => [5_i64, 600], "d" => texts, "v" => [1_i32, 2]).unwrap();
    assert_eq!(
        refusal(&synthesizer, &history),
        "column `t`, row 1: the value has no exact counterpart in i8, the fitted dtype"
    );
    let history =
        df!("k" => ["c"], "t" => [5], "d" => ["1970-01-05"], "v" => [16_777_217_i64]).unwrap();
    assert_eq!(
        refusal(&synthesizer, &history),
        "column `v`, row 0: the value has no exact counterpart in f32, the fitted dtype"
    );
}

/// Sequences that rise or fall by one in every row, from starts that tell nothing; the kind shows in the second row.
fn risers_and_fallers(count: usize, length: usize) -> DataFrame {
    let starts = noise(count);
    let (mut key, mut value) = (Vec::new(), Vec::new());
    for (sequence, start) in starts.iter().enumerate() {
        let step = if sequence % 2 == 0 { 1.0 } else { -1.0 };
        for row in 0..length {
            key.push(sequence as i64);
            value.push((start * 20.0).round() + step * row as f64);
        }
    }
    df!("k" => key, "v" => value).unwrap()
}

#[test]
fn new_rows_follow_the_kind_of_sequence_that_is_given() {
    let columns = [("k", id()), ("v", Numerical)];
    let data = risers_and_fallers(120, 10);
    let synthesizer = untrained(&columns)
        .hidden_size(16)
        .learning_rate(0.01)
        .epochs(40)
        .fit(&data)
        .unwrap();
    // Starts at 10 and 11 rise and fall alike; only the second row tells.
    let history = df!("k" => [1_i64, 1, 2, 2], "v" => [10.0, 11.0, 11.0, 10.0]).unwrap();
    let steps = |frame: &DataFrame, rows: std::ops::Range<usize>| -> Vec<f64> {
        let values = &reals(frame, "v")[rows];
        values.windows(2).map(|pair| pair[1] - pair[0]).collect()
    };
    let (mut rises, mut falls) = (0, 0);
    for seed in 0..20 {
        let options = ContinueOptions::steps(5).seed(seed);
        let frame = synthesizer
            .continue_sequences_with(&history, &options)
            .unwrap();
        rises += steps(&frame, 1..7)
            .iter()
            .filter(|step| **step == 1.0)
            .count();
        falls += steps(&frame, 8..14)
            .iter()
            .filter(|step| **step == -1.0)
            .count();
    }
    // 100 new rows of each; without the given rows the kinds would come half and half.
    assert!(rises >= 90, "{rises} of 100 rise");
    assert!(falls >= 90, "{falls} of 100 fall");
}

#[test]
fn what_the_first_row_alone_says_is_known_rows_later() {
    // A mark in the first row alone tells which state its sequence is in at its end.
    let length = 12;
    let (mut key, mut state, mut mark) = (Vec::new(), Vec::new(), Vec::new());
    for sequence in 0..60_i64 {
        let kind = ["a", "b"][(sequence % 2) as usize];
        for row in 0..length {
            key.push(sequence);
            mark.push(if row == 0 { kind } else { "none" });
            state.push(if row < 3 { "start" } else { kind });
        }
    }
    let data = df!("k" => key, "mark" => mark, "state" => state).unwrap();
    let columns = [("k", id()), ("mark", Categorical), ("state", Categorical)];
    let synthesizer = untrained(&columns)
        .hidden_size(16)
        .learning_rate(0.01)
        .epochs(40)
        .fit(&data)
        .unwrap();
    let history = rows(&data, (0..3).chain(length..length + 3));
    let frame = continued(&synthesizer, &history, 4);
    let states = texts(&frame, "state");
    let is = |state: &Option<String>, wanted: &str| state.as_deref() == Some(wanted);
    assert!(
        states[3..7].iter().all(|state| is(state, "a")),
        "{states:?}"
    );
    assert!(
        states[10..14].iter().all(|state| is(state, "b")),
        "{states:?}"
    );
}

#[test]
fn a_sequence_ends_with_its_last_new_row_and_not_before() {
    // The last row of each sequence is marked, and nothing but its length tells when it comes.
    let lengths: Vec<usize> = (0..80).map(|sequence| 3 + sequence % 6).collect();
    let states: Vec<&str> = lengths
        .iter()
        .flat_map(|&length| (1..=length).map(move |row| if row == length { "last" } else { "on" }))
        .collect();
    let data = df!("k" => keys(&lengths), "state" => states).unwrap();
    let synthesizer = untrained(&[("k", id()), ("state", Categorical)])
        .learning_rate(0.01)
        .epochs(30)
        .fit(&data)
        .unwrap();
    let history = df!("k" => keys(&[1, 2]), "state" => ["on"; 3]).unwrap();
    for steps in [2, 5] {
        let frame = continued(&synthesizer, &history, steps);
        let states = texts(&frame, "state");
        let last = |row: usize| states[row].as_deref() == Some("last");
        let marked: Vec<usize> = (0..frame.height()).filter(|&row| last(row)).collect();
        assert_eq!(marked, [steps, steps + 1 + steps + 1], "{states:?}");
    }
}

#[test]
fn histories_of_one_row_and_of_many_segments_are_continued_together() {
    let lengths = [300, 1, 129, 700, 1, 128];
    let count: usize = lengths.iter().sum();
    let index: Vec<i64> = lengths
        .iter()
        .flat_map(|&length| 0..length as i64)
        .collect();
    let values = noise(count);
    let data =
        df!("k" => keys(&[4; 5]), "t" => [0_i64, 1, 2, 3].repeat(5), "v" => &values[..20]).unwrap();
    let synthesizer = untrained(&[("k", id()), ("t", Numerical), ("v", Numerical)])
        .epochs(1)
        .fit(&data)
        .unwrap();
    let history = df!("k" => keys(&lengths), "t" => index, "v" => &values).unwrap();
    let frame = continued(&synthesizer, &history, 7);
    let expected: Vec<i64> = lengths
        .iter()
        .flat_map(|&length| 0..length as i64 + 7)
        .collect();
    assert_eq!(wholes(&frame, "t"), expected);
    assert_eq!(
        texts(&frame, "k"),
        texts(&df!("k" => keys(&lengths.map(|l| l + 7))).unwrap(), "k")
    );
    // A row at the very start of a long history bears on what follows it.
    let mut other = values.clone();
    other[0] = 0.999;
    let changed =
        df!("k" => keys(&[40]), "t" => (0..40_i64).collect::<Vec<_>>(), "v" => &other[..40])
            .unwrap();
    let same =
        df!("k" => keys(&[40]), "t" => (0..40_i64).collect::<Vec<_>>(), "v" => &values[..40])
            .unwrap();
    let new = |history| reals(&continued(&synthesizer, history, 50), "v")[40..].to_vec();
    assert_eq!(new(&same), new(&same));
    assert_ne!(new(&same), new(&changed));
}

#[test]
fn one_seed_gives_one_result_whatever_the_threads_and_none_a_fresh_one() {
    // More sequences than a chunk of 512.
    let data = df!("k" => keys(&[2; 600]), "v" => noise(1_200)).unwrap();
    let columns = [("k", id()), ("v", Numerical)];
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    let with = |threads| {
        let options = ContinueOptions::steps(3).seed(5).threads(threads);
        synthesizer
            .continue_sequences_with(&data, &options)
            .unwrap()
    };
    let one = with(1);
    assert_eq!(one.height(), 600 * 5);
    assert_same_cells(&one, &with(2));
    assert_same_cells(&one, &with(8));
    let fresh = || reals(&synthesizer.continue_sequences(&data, 3).unwrap(), "v");
    assert_ne!(fresh(), fresh());
    // Each sequence has draws of its own.
    let twins = df!("k" => keys(&[1, 1]), "v" => [0.5, 0.5]).unwrap();
    let values = reals(&continued(&synthesizer, &twins, 5), "v");
    assert_ne!(values[1..6], values[7..12]);
}

#[test]
fn a_loaded_model_continues_as_the_fitted_one() {
    let (data, columns) = every_dtype();
    let synthesizer = untrained(&columns).epochs(1).fit(&data).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.parsynth");
    synthesizer.save(&path).unwrap();
    let loaded = ParSynthesizer::load(&path).unwrap();
    assert_same_cells(
        &continued(&synthesizer, &data, 4),
        &continued(&loaded, &data, 4),
    );
}

#[test]
fn a_table_without_key_or_index_is_continued_by_row_order() {
    let data =
        df!("v" => noise(200), "c" => (0..200).map(|row| ["x", "y"][row % 2]).collect::<Vec<_>>())
            .unwrap();
    let columns = [("v", Numerical), ("c", Categorical)];
    let synthesizer = untrained(&columns).epochs(1).fit(&data).unwrap();
    let frame = continued(&synthesizer, &data, 150);
    assert_eq!(frame.height(), 350);
    assert_same_cells(&frame.head(Some(200)), &data);
    // With a key and no index, rows of a key keep their order and are brought together.
    let data = df!("k" => ["b", "a", "b", "a", "b"], "v" => [5.0, 1.0, 4.0, 2.0, 3.0]).unwrap();
    let synthesizer = untrained(&[("k", id()), ("v", Numerical)])
        .fit(&data)
        .unwrap();
    let frame = continued(&synthesizer, &data, 1);
    assert_same_cells(
        &rows(&frame, [0, 1, 2, 4, 5]),
        &rows(&data, [0, 2, 4, 1, 3]),
    );
    assert_eq!(
        texts(&frame, "k"),
        ["b", "b", "b", "b", "a", "a", "a"].map(|k| Some(k.to_owned()))
    );
}

#[test]
fn ids_of_new_rows_are_new_and_those_of_a_sequence_stay() {
    let columns = [
        ("k", id()),
        ("person", id()),
        ("visit", id()),
        (
            "code",
            SdType::Id {
                regex_format: Some("[A-Z]{2}".to_owned()),
            },
        ),
    ];
    let codes: Vec<String> = (0..8_u8)
        .map(|row| format!("A{}", char::from(b'A' + row)))
        .collect();
    let data = df!(
        "k" => ["a", "a", "a", "a", "b", "b", "b", "b"],
        "person" => [7, 7, 7, 7, 9, 9, 9, 9],
        "visit" => ["v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8"],
        "code" => codes,
    )
    .unwrap();
    let synthesizer = untrained(&columns)
        .context_columns(["person"])
        .fit(&data)
        .unwrap();
    let once = continued(&synthesizer, &data, 3);
    // The same seed makes the same ids again, which are given by now.
    let twice = continued(&synthesizer, &once, 3);
    assert_eq!(twice.height(), 2 * 10);
    for column in ["visit", "code"] {
        let ids = texts(&twice, column);
        let different: HashSet<_> = ids.iter().flatten().collect();
        assert_eq!(different.len(), 20, "{column}: {ids:?}");
    }
    assert_eq!(
        wholes(&twice, "person"),
        [vec![7; 10], vec![9; 10]].concat()
    );
    // 676 codes, 8 of them given.
    assert_eq!(continued(&synthesizer, &data, 334).height(), 676);
    let error = synthesizer.continue_sequences(&data, 335).unwrap_err();
    assert!(matches!(error, Error::Identifier(_)), "{error}");
    let rest = continued(&synthesizer, &data, 300);
    let error = synthesizer.continue_sequences(&rest, 35).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column `code` has room for 68 new ids; 70 are wanted"
    );
}

/// Two regions and three states, none of which is ever missing.
fn regions() -> (ParSynthesizer, DataFrame) {
    let data = df!(
        "k" => keys(&[3; 6]),
        "region" => (0..18).map(|row| ["north", "south"][row / 3 % 2]).collect::<Vec<_>>(),
        "size" => (0..18).map(|row| (row / 3) as f64).collect::<Vec<_>>(),
        "state" => (0..18).map(|row| ["on", "off", "idle"][row % 3]).collect::<Vec<_>>(),
        "v" => noise(18),
    )
    .unwrap();
    let columns = [
        ("k", id()),
        ("region", Categorical),
        ("size", Numerical),
        ("state", Categorical),
        ("v", Numerical),
    ];
    let synthesizer = untrained(&columns)
        .context_columns(["region", "size"])
        .epochs(1)
        .fit(&data)
        .unwrap();
    (synthesizer, data)
}

#[test]
fn what_the_model_cannot_read_is_refused_by_column_row_and_value() {
    let (synthesizer, data) = regions();
    assert_eq!(
        refusal(&synthesizer, &with_text(&data, "state", 7, "broken")),
        "column `state`, row 7: `broken` was not seen in training; seen were `idle`, `off`, `on`"
    );
    let mut west = with_text(&data, "region", 3, "west");
    for row in [4, 5] {
        west = with_text(&west, "region", row, "west");
    }
    assert_eq!(
        refusal(&synthesizer, &west),
        "column `region`, row 3: `west` was not seen in training; seen were `north`, `south`"
    );
    let mut gone = data.clone();
    gone.with_column(Column::new("state".into(), vec![None::<&str>; 18]))
        .unwrap();
    assert!(
        refusal(&synthesizer, &gone)
            .starts_with("column `state`, row 0: missing was not seen in training")
    );
    assert_eq!(
        refusal(&synthesizer, &with_text(&data, "region", 4, "north")),
        "context column `region` is not constant in the sequence `K1`: rows 3 and 4 differ"
    );
    assert_eq!(
        refusal(&synthesizer, &data.drop("region").unwrap()),
        "column `region` of the metadata is not in the data"
    );
    assert_eq!(
        refusal(&synthesizer, &data.drop("k").unwrap()),
        "column `k` of the metadata is not in the data"
    );
    assert_eq!(
        refusal(&synthesizer, &data.head(Some(0))),
        "the frame has no rows; at least one is wanted"
    );
}

#[test]
fn options_outside_their_range_are_refused_before_any_work() {
    let (synthesizer, data) = regions();
    let refusal = |options: ContinueOptions| {
        synthesizer
            .continue_sequences_with(&data, &options)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refusal(ContinueOptions::steps(usize::MAX)),
        format!("option `steps` is {}, expected 0 to 10000000", usize::MAX)
    );
    assert_eq!(
        refusal(ContinueOptions::steps(1).temperature(0.0)),
        "option `temperature` is 0, expected 0.01 to 10"
    );
    assert_eq!(
        refusal(ContinueOptions::steps(1).threads(0)),
        "option `threads` is 0, expected 1 to 1024"
    );
    let many = df!("k" => (0..500).map(|key| format!("K{key}")).collect::<Vec<_>>(), "region" => vec!["north"; 500],
        "size" => vec![1.0; 500], "state" => vec!["on"; 500], "v" => vec![0.5; 500]).unwrap();
    assert_eq!(
        synthesizer
            .continue_sequences(&many, 10_000_000)
            .unwrap_err()
            .to_string(),
        "option `steps` is 10000000 for 500 sequences, expected fewer than 4294967295 rows in all"
    );
}

#[test]
fn given_numbers_may_be_missing_or_lie_anywhere() {
    let (synthesizer, data) = regions();
    let history = data.head(Some(6));
    let size = [1e300, f64::MIN].map(Some);
    let history = with_reals(
        &history,
        "size",
        &[size[0], size[0], size[0], size[1], size[1], size[1]],
    );
    let history = with_reals(
        &history,
        "v",
        &[
            None,
            Some(f64::MAX),
            Some(f64::MIN),
            Some(1e-300),
            None,
            Some(1e9),
        ],
    );
    let frame = continued(&synthesizer, &history, 20);
    assert_same_cells(&rows(&frame, (0..3).chain(23..26)), &history);
    let new = rows(&frame, (3..23).chain(26..46));
    assert!(reals(&new, "v").iter().all(|v| (0.0..1.0).contains(v)));
    assert!(
        reals(&new, "size")
            .iter()
            .all(|size| *size == 1e300 || *size == f64::MIN)
    );
    // The same where new numbers are free to follow.
    let (data, columns) = (
        df!("k" => keys(&[9; 9]), "v" => (0..81).map(|row| f64::from(row % 9)).collect::<Vec<_>>())
            .unwrap(),
        [("k", id()), ("v", Numerical)],
    );
    let synthesizer = untrained(&columns)
        .enforce_min_max_values(false)
        .fit(&data)
        .unwrap();
    let history = df!("k" => ["x", "x", "y"], "v" => [f64::MIN, f64::MAX, 1e308]).unwrap();
    let frame = continued(&synthesizer, &history, 20);
    assert!(reals(&frame, "v").iter().all(|v| v.is_finite()));
}

#[test]
fn every_prefix_of_a_sampled_table_can_be_continued() {
    let (data, columns) = every_dtype();
    let (regional, _) = regions();
    let single = df!("t" => (0..40_i64).collect::<Vec<_>>(), "v" => noise(40)).unwrap();
    let models = [
        untrained(&columns)
            .context_columns(["person"])
            .fit(&data)
            .unwrap(),
        regional,
        untrained(&[("t", Numerical), ("v", Numerical)])
            .fit(&single)
            .unwrap(),
    ];
    for synthesizer in &models {
        for seed in 0..4 {
            let sampled = synthesizer
                .sample_with(&SampleOptions::sequences(3).seed(seed))
                .unwrap();
            for given in 1..=sampled.height() {
                let history = sampled.head(Some(given));
                let sequences = match synthesizer.metadata().sequence_key() {
                    [key] => history.column(key).unwrap().n_unique().unwrap(),
                    _ => 1,
                };
                let frame = synthesizer.continue_sequences(&history, 2).unwrap();
                assert_eq!(frame.height(), given + 2 * sequences);
                assert_eq!(frame.schema(), sampled.schema());
            }
        }
    }
}

#[test]
fn no_steps_give_the_history_sorted() {
    let (data, columns) = every_dtype();
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    let frame = synthesizer.continue_sequences(&data, 0).unwrap();
    assert_same_cells(&frame, &rows(&data, SORTED));
}
