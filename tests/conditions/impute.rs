//! `impute`: missing cells filled by draws, all others as they are.

use crate::common::*;
use parsynth::SdType::{Categorical, Numerical};
use parsynth::{ImputeOptions, ParSynthesizer, ParSynthesizerBuilder, SdType};
use polars::prelude::*;

fn trained(columns: &[(&str, SdType)]) -> ParSynthesizerBuilder {
    untrained(columns)
        .hidden_size(16)
        .learning_rate(0.01)
        .epochs(60)
}

fn filled(synthesizer: &ParSynthesizer, frame: &DataFrame) -> DataFrame {
    let options = ImputeOptions::default().seed(1).threads(1);
    synthesizer.impute_with(frame, &options).unwrap()
}

fn refusal(synthesizer: &ParSynthesizer, frame: &DataFrame, options: &ImputeOptions) -> String {
    let error = synthesizer.impute_with(frame, options);
    error.unwrap_err().to_string()
}

fn rows(frame: &DataFrame, rows: impl IntoIterator<Item = usize>) -> DataFrame {
    let rows: Vec<IdxSize> = rows.into_iter().map(|row| row as IdxSize).collect();
    let columns = frame.columns().iter();
    let columns = columns.map(|column| column.take_slice(&rows).unwrap());
    DataFrame::new_infer_height(columns.collect()).unwrap()
}

/// A frame with some cells of a column taken out.
fn without(frame: &DataFrame, column: &str, is_out: impl Fn(usize) -> bool) -> DataFrame {
    let kept = frame.column(column).unwrap();
    let out: BooleanChunked = (0..frame.height()).map(is_out).collect();
    let none = Series::full_null(column.into(), frame.height(), kept.dtype());
    let cells = none.zip_with(&out, kept.as_materialized_series()).unwrap();
    let mut changed = frame.clone();
    changed.with_column(cells.into()).unwrap();
    changed
}

/// How many cells of a column are the same in two frames, of those that are missing in a third.
fn right(filled: &DataFrame, real: &DataFrame, given: &DataFrame, column: &str) -> (usize, usize) {
    let (filled, real) = (texts(filled, column), texts(real, column));
    let given = texts(given, column);
    let missing = (0..given.len()).filter(|&row| given[row].is_none());
    let (right, wrong): (Vec<_>, Vec<_>) = missing.partition(|&row| filled[row] == real[row]);
    (right.len(), right.len() + wrong.len())
}

/// Every dtype, with missing cells in each learned column; three sequences of four rows, shuffled.
fn every_dtype() -> (DataFrame, Vec<(&'static str, SdType)>) {
    let sequences = [2_usize, 0, 1, 0, 2, 1, 1, 0, 2, 0, 1, 2];
    let order = [3_i64, 1, 0, 3, 0, 2, 3, 0, 1, 2, 1, 2];
    let all = 0..sequences.len();
    let levels = ["low", "mid", "high"];
    let level: Vec<Option<&str>> = all
        .clone()
        .map(|row| (row % 4 != 1).then_some(levels[row % 3]))
        .collect();
    let cast = |dtype: &DataType| Series::new("".into(), &level).cast(dtype).unwrap();
    let fixed = DataType::from_frozen_categories(FrozenCategories::new(levels).unwrap());
    let named = DataType::from_categories(Categories::global());
    let raw = |scale: i64, gap: usize| -> Vec<Option<i64>> {
        all.clone()
            .map(|row| (row % 5 != gap).then_some(scale * (row as i64 + 1)))
            .collect()
    };
    let cast_raw = |cells: Vec<Option<i64>>, dtype: DataType| {
        Series::new("".into(), cells).cast(&dtype).unwrap()
    };
    let date = cast_raw(raw(300, 2), DataType::Int32).cast(&DataType::Date);
    let zone = TimeZone::opt_try_new(Some("Europe/Berlin")).unwrap();
    let frame = df!(
        "text" => &level,
        "k" => sequences.map(|s| ["Ähre", "b", "a"][s]),
        "t" => order,
        "flag" => all.clone().map(|row| (row != 5).then_some(row % 2 == 0)).collect::<Vec<_>>(),
        "small" => cast_raw(raw(3, 1), DataType::Int8),
        "huge" => raw(i64::MAX / 13, 3),
        "single" => cast_raw(raw(7, 4), DataType::Float32),
        "double" => all.clone().map(|row| match row {
            1 => Some(f64::NAN),
            2 => Some(-0.0),
            3 => None,
            _ => Some(row as f64 / 3.0),
        }).collect::<Vec<_>>(),
        "fixed" => cast(&fixed),
        "named" => cast(&named),
        "day" => date.unwrap(),
        "moment" => cast_raw(raw(86_400_000_000_123, 0), DataType::Datetime(TimeUnit::Nanoseconds, zone)),
        "text_day" => all.clone().map(|row| (row % 3 != 0).then(|| format!("{:02}/01/2021", row + 1))).collect::<Vec<_>>(),
        "whole_day" => all.clone().map(|row| (row != 8).then_some(20_210_101 + order[row])).collect::<Vec<_>>(),
        "visit" => all.clone().map(|row| (row != 6).then(|| format!("V{row:02}"))).collect::<Vec<_>>(),
        "born" => sequences.map(|s| (s != 1).then_some(1950.5 + s as f64)),
        "nothing" => vec![None::<f64>; sequences.len()],
    )
    .unwrap();
    let columns = vec![
        ("text", Categorical),
        ("k", id()),
        ("t", Numerical),
        ("flag", SdType::Boolean),
        ("small", Numerical),
        ("huge", Numerical),
        ("single", Numerical),
        ("double", Numerical),
        ("fixed", Categorical),
        ("named", Categorical),
        ("day", datetime()),
        ("moment", datetime()),
        ("text_day", datetime_as("%d/%m/%Y")),
        ("whole_day", datetime_as("%Y%m%d")),
        ("visit", id()),
        ("born", Numerical),
        ("nothing", Numerical),
    ];
    (frame, columns)
}

/// Cells as text, floats by their bits; none where missing.
fn cells(frame: &DataFrame, column: &str) -> Vec<Option<String>> {
    let cells = frame.column(column).unwrap();
    if !cells.dtype().is_float() {
        return texts(frame, column);
    }
    let cells = cells.cast(&DataType::Float64).unwrap();
    let cells = cells.f64().unwrap().iter();
    cells
        .map(|cell| {
            let cell = cell.filter(|cell| !cell.is_nan());
            cell.map(|cell| cell.to_bits().to_string())
        })
        .collect()
}

#[test]
fn known_cells_and_row_order_are_unchanged_in_all_dtypes_and_nothing_seen_stays_missing() {
    let (data, columns) = every_dtype();
    let synthesizer = untrained(&columns)
        .context_columns(["born"])
        .fit(&data)
        .unwrap();
    let frame = filled(&synthesizer, &data);
    assert_eq!(frame.schema(), data.schema());
    for (name, _) in &columns {
        let (before, after) = (cells(&data, name), cells(&frame, name));
        for (row, (before, after)) in before.iter().zip(&after).enumerate() {
            match (before, *name) {
                // Ids are not learned, and of `nothing` no value was ever seen.
                (None, "visit" | "nothing") => assert_eq!(after, before, "{name}, {row}"),
                (None, _) => assert!(after.is_some(), "{name}, {row}"),
                (Some(_), _) => assert_eq!(after, before, "{name}, {row}"),
            }
        }
    }
    assert!(is_constant_per_sequence(
        &frame.sort(["k"], Default::default()).unwrap(),
        "born"
    ));
    // A frame in chunks, with rows and columns turned around, is filled with the same.
    let turned = rows(&data, (0..12).rev());
    let mut chunked = turned.slice(0, 5);
    chunked.vstack_mut(&turned.slice(5, 7)).unwrap();
    let names: Vec<&str> = columns.iter().rev().map(|(name, _)| *name).collect();
    let chunked = chunked.select(names.clone()).unwrap();
    let again = filled(&synthesizer, &chunked);
    assert_eq!(again.get_column_names(), names);
    for (name, _) in &columns {
        let mut turned = cells(&again, name);
        turned.reverse();
        assert_eq!(cells(&frame, name), turned, "{name}");
    }
}

#[test]
fn a_frame_without_missing_cells_comes_back_as_it_is() {
    let data = df!("k" => keys(&[2, 1]), "v" => noise(3)).unwrap();
    let synthesizer = untrained(&[("k", id()), ("v", Numerical)])
        .fit(&data)
        .unwrap();
    assert!(filled(&synthesizer, &data).equals(&data));
}

/// Sequences that rise or fall by one in every row.
fn risers_and_fallers(count: usize, length: usize) -> DataFrame {
    let starts = noise(count);
    let values = (0..count * length).map(|row| {
        let step = if (row / length).is_multiple_of(2) {
            1
        } else {
            -1
        };
        (starts[row / length] * 20.0).round() as i64 + step * (row % length) as i64
    });
    df!("k" => keys(&vec![length; count]), "v" => values.collect::<Vec<_>>()).unwrap()
}

#[test]
fn a_cell_follows_from_the_rows_before_it() {
    let data = risers_and_fallers(120, 8);
    let synthesizer = trained(&[("k", id()), ("v", Numerical)])
        .fit(&data)
        .unwrap();
    // The last row, so that nothing after it helps.
    let given = without(&data, "v", |row| row % 8 == 7);
    let (right, missing) = right(&filled(&synthesizer, &given), &data, &given, "v");
    assert_eq!(missing, 120);
    assert!(right >= 108, "{right} of 120");
}

/// Sequences in one of four states, which `other` repeats, and a mark that says nothing.
fn states(count: usize) -> DataFrame {
    let lengths: Vec<usize> = (0..count).map(|key| 3 + key % 4).collect();
    let noise = noise(lengths.iter().sum());
    let states = lengths.iter().enumerate();
    let states: Vec<&str> = states
        .flat_map(|(key, &rows)| vec![["a", "b", "c", "d"][(key * 7 / 5) % 4]; rows])
        .collect();
    df!(
        "k" => keys(&lengths),
        "state" => &states,
        "mark" => noise.iter().map(|n| if *n < 0.8 { "x" } else { "y" }).collect::<Vec<_>>(),
        "other" => &states,
    )
    .unwrap()
}

const STATES: [(&str, SdType); 4] = [
    ("k", SdType::Id { regex_format: None }),
    ("state", Categorical),
    ("mark", Categorical),
    ("other", Categorical),
];

#[test]
fn a_cell_follows_from_later_columns_of_its_row_and_from_later_rows() {
    let data = states(160);
    let synthesizer = trained(&STATES).fit(&data).unwrap();
    let first = |row: usize| row == 0 || cells(&data, "k")[row] != cells(&data, "k")[row - 1];
    let given_row = without(&data, "state", first);
    let given_rows = without(&given_row, "other", first);
    for given in [&given_row, &given_rows] {
        let (found, missing) = right(&filled(&synthesizer, given), &data, given, "state");
        assert_eq!(missing, 160);
        assert!(found >= 140, "{found} of 160");
        // Without candidates only what stands before counts: a first cell is anything.
        let blind = ImputeOptions::default().candidates(1).seed(1);
        let blind = synthesizer.impute_with(given, &blind).unwrap();
        let (found, _) = right(&blind, &data, given, "state");
        assert!(found < 70, "{found} of 160 by chance");
    }
}

#[test]
fn missing_context_follows_from_the_rows_and_from_other_context() {
    let data = states(160);
    let synthesizer = trained(&STATES)
        .context_columns(["state"])
        .fit(&data)
        .unwrap();
    let given = without(&data, "state", |_| true);
    let frame = filled(&synthesizer, &given);
    assert!(is_constant_per_sequence(&frame, "state"));
    let (right, missing) = right(&frame, &data, &given, "state");
    assert!(10 * right >= 9 * missing, "{right} of {missing}");
}

#[test]
fn context_that_is_missing_in_some_rows_takes_the_value_of_the_others() {
    let data = df!("k" => keys(&[3, 2, 1]), "c" => ["x", "x", "x", "y", "y", "x"], "s" => [1, 1, 1, 2, 2, 3], "v" => noise(6))
        .unwrap();
    let synthesizer = untrained(&[
        ("k", id()),
        ("c", Categorical),
        ("s", Numerical),
        ("v", Numerical),
    ])
    .context_columns(["c", "s"])
    .fit(&data)
    .unwrap();
    let given = without(&data, "c", |row| [0, 2, 3].contains(&row));
    let given = without(&given, "s", |row| row == 1 || row == 4);
    assert!(filled(&synthesizer, &given).equals(&data));
    let error =
        df!("k" => keys(&[3]), "c" => [Some("x"), None, Some("y")], "s" => [1; 3], "v" => [0.5; 3]);
    let told = refusal(&synthesizer, &error.unwrap(), &ImputeOptions::default());
    assert_eq!(
        told,
        "context column `c` is not constant in the sequence `K0`: rows 0 and 2 differ"
    );
}

#[test]
fn what_is_filled_is_spread_as_what_was_seen() {
    let data = states(160);
    let synthesizer = trained(&STATES).fit(&data).unwrap();
    let given = without(&data, "mark", |row| row % 2 == 0);
    let marks = texts(&filled(&synthesizer, &given), "mark");
    let drawn: Vec<_> = marks.iter().step_by(2).collect();
    let share = drawn
        .iter()
        .filter(|mark| mark.as_deref() == Some("x"))
        .count() as f64;
    let share = share / drawn.len() as f64;
    // 360 draws of 0.8: two standard deviations are 0.042, and the network is not exact.
    assert!((share - 0.8).abs() < 0.1, "{share}");
}

#[test]
fn named_columns_alone_are_filled() {
    let values = noise(40);
    let missing = |every: usize| -> Vec<Option<f64>> {
        let cells = values.iter().enumerate();
        cells
            .map(|(row, v)| (row % every != 1).then_some(*v))
            .collect()
    };
    let data =
        df!("k" => keys(&[4; 10]), "v" => missing(3), "w" => missing(5), "c" => vec!["x"; 40])
            .unwrap();
    let synthesizer = untrained(&[
        ("k", id()),
        ("v", Numerical),
        ("w", Numerical),
        ("c", Categorical),
    ])
    .fit(&data)
    .unwrap();
    let only = |columns: &[&str], frame: &DataFrame| {
        let options = ImputeOptions::default().columns(columns.iter().copied());
        synthesizer.impute_with(frame, &options).unwrap()
    };
    let frame = only(&["w"], &data);
    assert_eq!(nulls(&frame, "w"), 0);
    assert!(
        frame
            .drop("w")
            .unwrap()
            .equals_missing(&data.drop("w").unwrap())
    );
    assert!(only(&[], &data).equals_missing(&data));
    // A column that was never missing in training can be all the same, and counts as nothing where it is not to be filled.
    let given = without(&data, "c", |row| row % 7 == 0);
    let frame = only(&["w"], &given);
    assert_eq!((nulls(&frame, "w"), nulls(&frame, "c")), (0, 6));
    assert_eq!(nulls(&only(&["c"], &given), "c"), 0);
}

#[test]
fn columns_that_cannot_be_filled_are_refused_by_name() {
    let (data, columns) = every_dtype();
    let synthesizer = untrained(&columns).fit(&data).unwrap();
    let told = |column: &str| {
        let options = ImputeOptions::default().columns([column]);
        refusal(&synthesizer, &data, &options)
    };
    assert_eq!(
        told("smal"),
        "column `smal` is not in the metadata; did you mean `small`?"
    );
    assert_eq!(
        told("visit"),
        "option `columns` is `visit`, a sequential column of sdtype id, expected context or sequential columns that are learned"
    );
    assert!(told("k").starts_with("option `columns` is `k`, a sequence key of sdtype id"));
    assert!(told("t").starts_with("option `columns` is `t`, a sequence index of sdtype numerical"));
    for count in [0, 1_001] {
        let options = ImputeOptions::default().candidates(count);
        assert_eq!(
            refusal(&synthesizer, &data, &options),
            format!("option `candidates` is {count}, expected 1 to 1000")
        );
    }
    let options = ImputeOptions::default();
    assert_eq!(
        refusal(&synthesizer, &without(&data, "k", |row| row == 7), &options),
        "column `k`, row 7: the sequence key is missing; every row needs one"
    );
    assert_eq!(
        refusal(&synthesizer, &without(&data, "t", |row| row == 3), &options),
        "column `t`, row 3: the sequence index is missing; every row needs one"
    );
    let unseen = df!("fixed" => vec!["unheard of"; 12]).unwrap();
    let mut given = data.clone();
    given
        .with_column(unseen.column("fixed").unwrap().clone())
        .unwrap();
    let told = refusal(&synthesizer, &given, &options);
    assert!(
        told.starts_with("column `fixed`, row 0: `unheard of` was not seen"),
        "{told}"
    );
}

#[test]
fn one_seed_fills_alike_whatever_the_threads_and_another_otherwise() {
    let lengths: Vec<usize> = (0..150).map(|key| 1 + key % 9).collect();
    let rows: usize = lengths.iter().sum();
    let data = df!(
        "k" => keys(&lengths),
        "v" => noise(rows),
        "c" => (0..rows).map(|row| ["x", "y", "z"][row % 3]).collect::<Vec<_>>(),
    )
    .unwrap();
    let synthesizer = untrained(&[("k", id()), ("v", Numerical), ("c", Categorical)])
        .fit(&data)
        .unwrap();
    let given = without(&data, "v", |row| row % 4 == 0);
    let given = without(&given, "c", |row| row % 5 == 0);
    let run = |seed, threads| {
        let options = ImputeOptions::default().seed(seed).threads(threads);
        synthesizer.impute_with(&given, &options).unwrap()
    };
    let one = run(1, 1);
    assert_eq!((nulls(&one, "v"), nulls(&one, "c")), (0, 0));
    assert!(one.equals(&run(1, 4)));
    assert!(!one.equals(&run(2, 1)));
    let [fresh, other] = [(); 2].map(|()| synthesizer.impute(&given).unwrap());
    assert!(!fresh.equals(&other));
}

#[test]
fn a_table_that_is_one_sequence_without_key_is_filled_too() {
    let data = df!("v" => (0..60).map(|row| row % 3).collect::<Vec<_>>()).unwrap();
    let synthesizer = trained(&[("v", Numerical)]).fit(&data).unwrap();
    let given = without(&data, "v", |row| row % 10 == 5);
    let (right, missing) = right(&filled(&synthesizer, &given), &data, &given, "v");
    assert!(missing == 6 && right >= 5, "{right} of {missing}");
}

#[test]
fn cells_of_another_dtype_and_columns_of_nulls_are_taken_where_nothing_is_lost() {
    let data =
        df!("k" => keys(&[2, 2]), "v" => [1_i64, 2, 3, 4], "c" => ["x", "y", "x", "y"]).unwrap();
    let synthesizer = untrained(&[("k", id()), ("v", Numerical), ("c", Categorical)])
        .fit(&data)
        .unwrap();
    let given = df!("c" => [None::<bool>; 3], "v" => [Some(2.0_f64), None, Some(f64::NAN)], "k" => keys(&[3])).unwrap();
    let nothing = given.column("c").unwrap().cast(&DataType::Null).unwrap();
    let mut given = given;
    given.with_column(nothing).unwrap();
    let frame = filled(&synthesizer, &given);
    let dtypes: Vec<DataType> = frame.dtypes();
    assert_eq!(
        dtypes,
        [DataType::String, DataType::Int64, DataType::String]
    );
    assert_eq!(wholes(&frame, "v")[0], 2);
    assert_eq!((nulls(&frame, "v"), nulls(&frame, "c")), (0, 0));
    let halves = df!("k" => keys(&[1]), "v" => [0.5], "c" => ["x"]).unwrap();
    assert_eq!(
        refusal(&synthesizer, &halves, &ImputeOptions::default()),
        "column `v`, row 0: the value has no exact counterpart in i64, the fitted dtype"
    );
}
