//! `log_likelihood`: what it gives for real sequences, odd ones and impossible ones, and what it refuses.

use crate::common::{Generator, id, metadata};
use parsynth::{
    Error, LogLikelihood, Metadata, ParSynthesizer, SampleOptions, SdType, TableError, read_csv,
};
use polars::prelude::*;

fn nats(frame: &DataFrame, column: &str) -> Vec<f64> {
    let column = frame.column(column).unwrap().f64().unwrap();
    column.iter().map(Option::unwrap).collect()
}

fn impossible(frame: &DataFrame) -> Vec<Option<&str>> {
    let column = frame.column("impossible").unwrap().str().unwrap();
    column.iter().collect()
}

fn assert_finite(likelihood: &LogLikelihood) {
    for frame in [likelihood.sequences(), likelihood.rows()] {
        assert!(nats(frame, "nats").iter().all(|nats| nats.is_finite()));
        assert_eq!(impossible(frame), vec![None; frame.height()]);
    }
}

/// Machines of 2 to 9 hours that warm up: an hour counter, a heat of one decimal, a state that follows from it.
fn machines() -> DataFrame {
    let mut generator = Generator(5);
    let (mut machine, mut site, mut hour, mut heat, mut state) =
        (vec![], vec![], vec![], vec![], vec![]);
    for number in 0..60_i64 {
        let mut warmth = 20.0 + 5.0 * generator.uniform();
        for step in 0..2 + number % 8 {
            machine.push(1_000 - number); // so that keys sort against the order of appearance
            site.push(["north", "south"][usize::try_from(number % 2).unwrap()]);
            hour.push(number % 4 + step);
            warmth += 1.0 + 2.0 * generator.uniform();
            heat.push((warmth * 10.0).round() / 10.0);
            state.push(
                (warmth > 25.0)
                    .then_some("hot")
                    .or((step > 0).then_some("cold")),
            );
        }
    }
    df!("machine" => machine, "site" => site, "hour" => hour, "heat" => heat, "state" => state)
        .unwrap()
}

fn builder() -> parsynth::ParSynthesizerBuilder {
    let metadata = metadata(
        &[
            ("machine", id()),
            ("site", SdType::Categorical),
            ("hour", SdType::Numerical),
            ("heat", SdType::Numerical),
            ("state", SdType::Categorical),
        ],
        Some("machine"),
        Some("hour"),
    );
    ParSynthesizer::builder(metadata)
        .context_columns(["site"])
        .hidden_size(8)
        .epochs(1)
        .seed(2)
}

#[test]
fn what_was_fitted_is_possible_and_counts_whole_sequences() {
    let data = machines();
    let likelihood = builder().fit(&data).unwrap().log_likelihood(&data).unwrap();
    assert_finite(&likelihood);
    let sequences = likelihood.sequences();
    let names = [
        "machine",
        "rows",
        "context_nats",
        "row_nats",
        "nats",
        "nats_per_row",
        "impossible",
    ];
    assert_eq!(sequences.get_column_names(), names);
    let first_appearance = data.column("machine").unwrap().unique_stable().unwrap();
    assert!(
        sequences
            .column("machine")
            .unwrap()
            .equals(&first_appearance)
    );
    let rows: Vec<u64> = sequences
        .column("rows")
        .unwrap()
        .u64()
        .unwrap()
        .iter()
        .flatten()
        .collect();
    assert_eq!(
        rows,
        (0..60).map(|number| 2 + number % 8).collect::<Vec<_>>()
    );

    // The numbers of a sequence are those of its rows.
    let (all, per_row) = (
        nats(likelihood.rows(), "nats"),
        nats(sequences, "nats_per_row"),
    );
    let mut from = 0;
    for (rows, (sum, per_row)) in rows
        .iter()
        .zip(nats(sequences, "row_nats").iter().zip(per_row))
    {
        let to = from + usize::try_from(*rows).unwrap();
        assert!((all[from..to].iter().sum::<f64>() - sum).abs() < 1e-9); // f64
        assert_eq!(per_row, sum / *rows as f64);
        from = to;
    }
    assert!((likelihood.nats_per_row() - all.iter().sum::<f64>() / all.len() as f64).abs() < 1e-9);
}

#[test]
fn real_tables_and_samples_are_possible_under_their_models() {
    for (name, context) in [
        ("stores", &["region"][..]),
        ("pbc_visits", &["trt", "age", "sex"]),
    ] {
        let metadata = Metadata::from_json_file(format!("data/{name}.metadata.json")).unwrap();
        let data = read_csv(format!("data/{name}.csv"), &metadata).unwrap();
        let synthesizer = ParSynthesizer::builder(metadata)
            .context_columns(context.to_vec())
            .hidden_size(8)
            .epochs(1)
            .seed(3)
            .fit(&data)
            .unwrap();
        let sampled = synthesizer
            .sample_with(&SampleOptions::sequences(200).seed(3))
            .unwrap();
        for frame in [&data, &sampled] {
            assert_finite(&synthesizer.log_likelihood(frame).unwrap());
        }
    }
}

#[test]
fn shuffled_rows_keep_their_numbers() {
    let data = machines();
    let synthesizer = builder().fit(&data).unwrap();
    let sorted = synthesizer.log_likelihood(&data).unwrap();
    // 11 shares no divisor with the number of rows, so every row is visited once.
    let count = u32::try_from(data.height()).unwrap();
    assert_ne!(count % 11, 0);
    let order: Vec<u32> = (0..count).map(|row| row * 11 % count).collect();
    let shuffled = data
        .take(&IdxCa::from_vec("".into(), order.clone()))
        .unwrap();
    let likelihood = synthesizer.log_likelihood(&shuffled).unwrap();
    let (before, after) = (nats(sorted.rows(), "nats"), nats(likelihood.rows(), "nats"));
    for (row, nats) in order.iter().zip(after) {
        assert_eq!(nats, before[*row as usize]);
    }
    let key = likelihood.sequences().column("machine").unwrap();
    assert!(key.equals(&shuffled.column("machine").unwrap().unique_stable().unwrap()));
    let by_key = |likelihood: &LogLikelihood| {
        likelihood
            .sequences()
            .sort(["machine"], SortMultipleOptions::default())
            .unwrap()
    };
    assert!(by_key(&likelihood).equals_missing(&by_key(&sorted)));
}

#[test]
fn a_sequence_told_backwards_is_less_likely() {
    let data = machines();
    let synthesizer = builder().epochs(30).fit(&data).unwrap();
    // Machine 977 runs for nine hours.
    let machine = data.column("machine").unwrap().i64().unwrap();
    let real = data
        .filter(&machine.iter().map(|machine| machine == Some(977)).collect())
        .unwrap();
    assert_eq!(real.height(), 9);
    let mut backwards = real.clone();
    for name in ["heat", "state"] {
        let reversed = real.column(name).unwrap().reverse();
        backwards.with_column(reversed).unwrap();
    }
    let of = |frame| {
        let likelihood = synthesizer.log_likelihood(frame).unwrap();
        assert_finite(&likelihood);
        nats(likelihood.sequences(), "row_nats")[0]
    };
    let (real, backwards) = (of(&real), of(&backwards));
    assert!(real > backwards + 10.0, "{real} {backwards}");
}

#[test]
fn a_loaded_model_gives_the_same_bits() {
    let data = machines();
    let synthesizer = builder().fit(&data).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("machines.parsynth");
    synthesizer.save(&path).unwrap();
    let loaded = ParSynthesizer::load(&path).unwrap();
    let [fresh, loaded] = [&synthesizer, &loaded].map(|model| model.log_likelihood(&data).unwrap());
    assert!(fresh.sequences().equals_missing(loaded.sequences()));
    assert!(fresh.rows().equals_missing(loaded.rows()));
}

/// One machine of three hours, with one thing changed.
fn three_hours(change: impl FnOnce(&mut DataFrame)) -> DataFrame {
    let mut frame = df!(
        "machine" => [1_i64, 1, 1],
        "site" => ["north", "north", "north"],
        "hour" => [1_i64, 2, 3],
        "heat" => [24.0, 26.0, 28.5],
        "state" => [Some("cold"), Some("hot"), Some("hot")],
    )
    .unwrap();
    change(&mut frame);
    frame
}

#[test]
fn the_impossible_is_minus_infinity_where_it_stands_and_named() {
    let data = machines();
    let strict = builder().fit(&data).unwrap();
    let free = builder().enforce_min_max_values(false).fit(&data).unwrap();
    assert_finite(&strict.log_likelihood(&three_hours(|_| {})).unwrap());

    let set = |column: Column| {
        three_hours(|frame| {
            frame.with_column(column).unwrap();
        })
    };
    let state = |cell: Option<&str>| {
        set(Column::new(
            "state".into(),
            [Some("cold"), cell, Some("hot")],
        ))
    };
    let heat = |cell: Option<f64>| set(Column::new("heat".into(), [Some(24.0), cell, Some(28.5)]));
    let hour =
        |first: i64, second: i64| set(Column::new("hour".into(), [first, second, second + 1]));
    let site = set(Column::new("site".into(), ["east", "east", "east"]));
    for (frame, column, row, is_possible_when_free) in [
        (state(Some("molten")), "state", Some(1), false),
        (heat(None), "heat", Some(1), false),
        (heat(Some(26.05)), "heat", Some(1), false),
        (heat(Some(1e300)), "heat", Some(1), true),
        (heat(Some(-1.0)), "heat", Some(1), true),
        (hour(1, 9), "(gap)", Some(1), false),
        (hour(40, 41), "(start)", None, false),
        (hour(i64::MIN, i64::MAX - 1), "(start)", None, false),
        (site, "site", None, false),
    ] {
        let likelihood = strict.log_likelihood(&frame).unwrap();
        assert_eq!(impossible(likelihood.sequences()), [Some(column)]);
        assert_eq!(nats(likelihood.sequences(), "nats"), [f64::NEG_INFINITY]);
        assert_eq!(likelihood.nats_per_sequence(), f64::NEG_INFINITY);
        let named = impossible(likelihood.rows());
        for (at, nats) in nats(likelihood.rows(), "nats").iter().enumerate() {
            assert!(!nats.is_nan());
            assert_eq!(
                *nats == f64::NEG_INFINITY,
                named[at].is_some(),
                "{column} {at}"
            );
        }
        match row {
            Some(row) => {
                assert_eq!(named[row], Some(column));
                assert_eq!(named[0], None);
                let finite = nats(likelihood.sequences(), "context_nats")[0];
                assert!(finite.is_finite());
            }
            None => {
                let context = nats(likelihood.sequences(), "context_nats");
                assert_eq!(context, [f64::NEG_INFINITY], "{column}");
            }
        }
        let free = free.log_likelihood(&frame).unwrap();
        let is_possible = impossible(free.sequences()) == [None];
        assert_eq!(is_possible, is_possible_when_free, "{column}");
        assert_eq!(nats(free.sequences(), "nats")[0].is_finite(), is_possible);
    }
    // A cell that was missing in training is possible where one is missing.
    assert_finite(&strict.log_likelihood(&state(None)).unwrap());
}

#[test]
fn one_sequence_that_cannot_be_leaves_the_others_alone() {
    let data = machines();
    let synthesizer = builder().fit(&data).unwrap();
    let before = synthesizer.log_likelihood(&data).unwrap();
    let mut strange = three_hours(|_| {});
    let site = Column::new("site".into(), ["east", "east", "east"]);
    strange.with_column(site).unwrap();
    let both = strange.vstack(&data).unwrap();
    let after = synthesizer.log_likelihood(&both).unwrap();
    let found = nats(after.sequences(), "nats");
    assert_eq!(found[0], f64::NEG_INFINITY);
    for (found, wanted) in found[1..].iter().zip(nats(before.sequences(), "nats")) {
        assert!((found - wanted).abs() < 1e-3, "{found} {wanted}"); // f32 in a batch of one more
    }
    assert_eq!(
        impossible(after.sequences())[1..],
        impossible(before.sequences())[..]
    );
}

/// Sequences of one number column, as long as told.
fn plain(lengths: &[usize], value: impl Fn(usize) -> f64) -> DataFrame {
    let keys: Vec<String> = lengths
        .iter()
        .enumerate()
        .flat_map(|(key, &length)| std::iter::repeat_n(format!("k{key}"), length))
        .collect();
    let values: Vec<f64> = (0..keys.len()).map(value).collect();
    df!("rows" => keys, "v" => values).unwrap()
}

fn plain_builder() -> parsynth::ParSynthesizerBuilder {
    let columns = [("rows", id()), ("v", SdType::Numerical)];
    ParSynthesizer::builder(metadata(&columns, Some("rows"), None))
        .hidden_size(4)
        .epochs(1)
        .seed(1)
}

#[test]
fn lengths_from_one_row_to_300_and_none_above_the_longest() {
    let wave = |row: usize| (row % 17) as f64 + (row % 5) as f64 / 10.0;
    let data = plain(&[1, 1, 2, 300, 129, 128, 5, 40, 300, 17, 3, 1], wave);
    let synthesizer = plain_builder().fit(&data).unwrap();
    let likelihood = synthesizer.log_likelihood(&data).unwrap();
    let sequences = likelihood.sequences();
    // The key's name is taken, so the count's ends in an underscore.
    let names = sequences.get_column_names();
    assert_eq!(names[..3], ["rows", "rows_", "context_nats"]);
    assert!(nats(sequences, "nats").iter().all(|nats| nats.is_finite()));

    let longer = plain(&[301], wave);
    let likelihood = synthesizer.log_likelihood(&longer).unwrap();
    assert_eq!(impossible(likelihood.sequences()), [Some("(length)")]);
    assert!(
        nats(likelihood.rows(), "nats")
            .iter()
            .all(|nats| nats.is_finite())
    );
}

#[test]
fn what_cannot_be_otherwise_costs_nothing() {
    let mut data = plain(&[3, 3, 3, 3], |_| 2.5);
    let rows = data.height();
    for column in [
        Column::new("word".into(), vec!["same"; rows]),
        Column::full_null("nothing".into(), rows, &DataType::Float64),
        Column::full_null("no_word".into(), rows, &DataType::String),
    ] {
        data.with_column(column).unwrap();
    }
    let data = data.drop("v").unwrap();
    let columns = [
        ("rows", id()),
        ("word", SdType::Categorical),
        ("nothing", SdType::Numerical),
        ("no_word", SdType::Categorical),
    ];
    let synthesizer = ParSynthesizer::builder(metadata(&columns, Some("rows"), None))
        .hidden_size(4)
        .epochs(1)
        .fit(&data)
        .unwrap();
    let likelihood = synthesizer.log_likelihood(&data).unwrap();
    assert_finite(&likelihood);
    assert_eq!(nats(likelihood.sequences(), "nats"), [0.0; 4]);
    assert_eq!(nats(likelihood.rows(), "nats"), [0.0; 12]);
    for (name, values) in [
        ("word", Column::new("word".into(), vec!["other"; rows])),
        ("nothing", Column::new("nothing".into(), vec![1.0; rows])),
        ("no_word", Column::new("no_word".into(), vec!["one"; rows])),
    ] {
        let mut changed = data.clone();
        changed.with_column(values).unwrap();
        let likelihood = synthesizer.log_likelihood(&changed).unwrap();
        assert_eq!(impossible(likelihood.rows()), vec![Some(name); rows]);
    }
}

#[test]
fn a_constant_number_is_sure_and_any_other_impossible() {
    let data = plain(&[3, 3, 3, 3], |_| 2.5);
    let synthesizer = plain_builder().epochs(150).fit(&data).unwrap();
    let likelihood = synthesizer.log_likelihood(&data).unwrap();
    assert_finite(&likelihood);
    // "As before" and "2.5" are two classes, of which training learns which one it is.
    assert!(likelihood.nats_per_row() > -0.1, "{likelihood:?}");
    let likelihood = synthesizer.log_likelihood(&plain(&[3], |_| 3.5)).unwrap();
    assert_eq!(impossible(likelihood.rows())[0], Some("v"));
    assert_eq!(nats(likelihood.rows(), "nats")[0], f64::NEG_INFINITY);
}

#[test]
fn a_number_between_the_few_that_were_seen_is_impossible() {
    let values = [1.0, 2.0, 4.0, 4.0, 2.0, 4.0, 1.0];
    let data = plain(&[5; 12], |row| values[row * row % 7]);
    let synthesizer = plain_builder().fit(&data).unwrap();
    let mut changed = data.head(Some(5));
    let cells = [1.0, 2.0, 3.0, 4.0, 1.0];
    changed.with_column(Column::new("v".into(), cells)).unwrap();
    let likelihood = synthesizer.log_likelihood(&changed).unwrap();
    let named = impossible(likelihood.rows());
    assert_eq!(named, [None, None, Some("v"), None, None]);
}

#[test]
fn a_table_without_key_is_one_sequence_and_one_of_ids_has_nothing_to_tell() {
    let values: Vec<f64> = (0..40).map(|row| f64::from(row % 7) / 3.0).collect();
    let data = df!("v" => values).unwrap();
    let columns = [("v", SdType::Numerical)];
    let synthesizer = ParSynthesizer::builder(metadata(&columns, None, None))
        .hidden_size(4)
        .epochs(1)
        .fit(&data)
        .unwrap();
    let likelihood = synthesizer.log_likelihood(&data).unwrap();
    assert_finite(&likelihood);
    let sequences = likelihood.sequences();
    assert_eq!(sequences.get_column_names()[0], "rows");
    assert_eq!((sequences.height(), likelihood.rows().height()), (1, 40));

    let data = df!("k" => ["a", "a", "b"], "ticket" => ["t1", "t2", "t3"]).unwrap();
    let columns = [("k", id()), ("ticket", id())];
    let synthesizer = ParSynthesizer::builder(metadata(&columns, Some("k"), None))
        .hidden_size(4)
        .epochs(1)
        .fit(&data)
        .unwrap();
    let renamed = df!("k" => ["x", "y", "y"], "ticket" => ["u1", "u2", "u3"]).unwrap();
    let likelihood = synthesizer.log_likelihood(&renamed).unwrap();
    assert_eq!(nats(likelihood.rows(), "nats"), [0.0; 3]);
    assert!(likelihood.nats_per_sequence() < 0.0); // the lengths
}

#[test]
fn months_count_on_their_own_day_alone() {
    let dates = |day: u32| -> Vec<String> {
        (0..36)
            .map(|month| format!("20{:02}-{:02}-{day:02}", 10 + month / 12, month % 12 + 1))
            .collect()
    };
    let keys: Vec<&str> = (0..36).map(|row| ["a", "b", "c"][row / 12]).collect();
    let values: Vec<i64> = (0..36).map(|row| row % 3).collect();
    let frame = |day| df!("k" => &keys, "month" => dates(day), "v" => &values).unwrap();
    let columns = [
        ("k", id()),
        (
            "month",
            SdType::Datetime {
                format: Some("%Y-%m-%d".to_owned()),
            },
        ),
        ("v", SdType::Numerical),
    ];
    let synthesizer = ParSynthesizer::builder(metadata(&columns, Some("k"), Some("month")))
        .hidden_size(4)
        .epochs(1)
        .fit(&frame(1))
        .unwrap();
    assert_finite(&synthesizer.log_likelihood(&frame(1)).unwrap());
    let likelihood = synthesizer.log_likelihood(&frame(2)).unwrap();
    assert_eq!(impossible(likelihood.sequences()), [Some("(start)"); 3]);
    assert_eq!(impossible(likelihood.rows())[..2], [None, Some("(gap)")]);
}

#[test]
fn a_frame_that_does_not_fit_is_refused_by_name() {
    let data = machines();
    let synthesizer = builder().fit(&data).unwrap();
    let refusal = |frame: DataFrame| match synthesizer.log_likelihood(&frame) {
        Err(Error::Table(error)) => error,
        other => panic!("{other:?}"),
    };
    let set = |column: Column| {
        three_hours(|frame| {
            frame.with_column(column).unwrap();
        })
    };
    assert!(matches!(
        refusal(data.drop("heat").unwrap()),
        TableError::ColumnNotInFrame { column, .. } if column == "heat"
    ));
    assert!(matches!(
        refusal(set(Column::new("height".into(), [1, 2, 3]))),
        TableError::ColumnNotInMetadata { column, nearest, .. }
            if column == "height" && nearest.as_deref() == Some("heat")
    ));
    assert!(matches!(
        refusal(set(Column::new("heat".into(), ["a", "b", "c"]))),
        TableError::DtypeChanged { column, .. } if column == "heat"
    ));
    assert!(matches!(
        refusal(set(Column::new("heat".into(), [1.0, f64::INFINITY, 2.0]))),
        TableError::Infinite { column, row: 1 } if column == "heat"
    ));
    assert!(matches!(
        refusal(set(Column::new("machine".into(), [Some(1_i64), None, Some(1)]))),
        TableError::MissingRole { column, row: 1, .. } if column == "machine"
    ));
    assert!(matches!(
        refusal(set(Column::new("hour".into(), [Some(1_i64), Some(2), None]))),
        TableError::MissingRole { column, row: 2, .. } if column == "hour"
    ));
    assert!(matches!(
        refusal(set(Column::new("site".into(), ["north", "north", "south"]))),
        TableError::ContextVaries { column, row: 2, .. } if column == "site"
    ));
    assert!(matches!(
        refusal(data.head(Some(0))),
        TableError::Empty { .. }
    ));
    // Other dtypes are taken where nothing is lost by them; the key keeps the dtype that was given.
    let narrow = set(Column::new("machine".into(), [7_i16, 7, 7]));
    let likelihood = synthesizer.log_likelihood(&narrow).unwrap();
    let key = likelihood.sequences().column("machine").unwrap();
    assert_eq!((key.dtype(), key.len()), (&DataType::Int16, 1));
}
