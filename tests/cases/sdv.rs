//! What SDV's own tests of its sequence synthesizer hold, here.

use crate::common::*;
use parsynth::SdType::{Boolean, Categorical, Id, Numerical};
use parsynth::{SampleOptions, SdType};
use polars::prelude::*;

#[test]
fn dates_stay_unique_and_rising_at_fifty_rows_when_trained_on_five() {
    let days: Vec<i32> = (0..3)
        .flat_map(|key| [0, 1, 4, 6, 11].map(|day| 18_262 + 30 * key + day))
        .collect();
    let data = df!("k" => keys(&[5; 3]), "t" => dates(&days), "v" => noise(15)).unwrap();
    let columns = [("k", id()), ("t", datetime()), ("v", Numerical)];
    for epochs in [0, 3] {
        let synthesizer = untrained(&columns).epochs(epochs).fit(&data).unwrap();
        let sampled = sample(&synthesizer, SampleOptions::sequences(3).length(50));
        assert_eq!(lengths(&sampled), [50; 3]);
        assert!(gaps(&sampled, "t").iter().all(|gap| (1..=5).contains(gap)));
    }
}

#[test]
fn a_numeric_index_keeps_its_dtype_and_rises() {
    let steps: Vec<i32> = (0..6)
        .flat_map(|key| [0, 2, 3, 7].map(|step| 10 * key + step))
        .collect();
    let data = df!("k" => keys(&[4; 6]), "t" => steps, "v" => noise(24)).unwrap();
    let columns = [("k", id()), ("t", Numerical), ("v", Numerical)];
    let synthesizer = untrained(&columns).epochs(1).fit(&data).unwrap();
    let sampled = sample(&synthesizer, SampleOptions::sequences(20));
    assert_eq!(sampled.schema(), data.schema());
    assert!(
        gaps(&sampled, "t")
            .iter()
            .all(|gap| [1, 2, 4].contains(gap))
    );
}

#[test]
fn no_index_no_key_and_neither_are_fine() {
    let data = df!("v" => noise(20), "c" => ["x", "y"].repeat(10)).unwrap();
    let columns = [("v", Numerical), ("c", Categorical)];
    let synthesizer = untrained(&columns).epochs(1).fit(&data).unwrap();
    let sampled = sample(&synthesizer, SampleOptions::sequences(1));
    assert_eq!((sampled.height(), sampled.schema()), (20, data.schema()));
    // Without a key the table is one sequence, and three are three such tables in a row.
    assert_eq!(
        sample(&synthesizer, SampleOptions::sequences(3)).height(),
        60
    );

    let columns = [("k", id()), ("v", Numerical), ("c", Categorical)];
    let keyed = df!("k" => keys(&[4; 5]), "v" => noise(20), "c" => ["x", "y"].repeat(10)).unwrap();
    let synthesizer = untrained(&columns).epochs(1).fit(&keyed).unwrap();
    let sampled = sample(&synthesizer, SampleOptions::sequences(3));
    assert_eq!(lengths(&sampled), [4; 3]);
    assert_eq!(sampled.schema(), keyed.schema());
}

#[test]
fn columns_may_stand_before_or_after_the_index() {
    let rows = 0..40_i32;
    let data = df!(
        "k" => keys(&[4; 10]),
        "t" => dates(&rows.clone().map(|row| 18_000 + 2 * row).collect::<Vec<_>>()),
        "c" => [50.0, 100.0].repeat(20),
        "v" => rows.map(i64::from).collect::<Vec<_>>(),
    )
    .unwrap();
    let columns = [
        ("k", id()),
        ("t", datetime()),
        ("c", Categorical),
        ("v", Numerical),
    ];
    for order in [
        ["k", "t", "c", "v"],
        ["t", "c", "v", "k"],
        ["v", "c", "k", "t"],
        ["c", "t", "k", "v"],
    ] {
        let data = data.select(order).unwrap();
        let synthesizer = untrained(&columns).fit(&data).unwrap();
        let sampled = sample(&synthesizer, SampleOptions::sequences(20));
        assert_eq!(sampled.schema(), data.schema());
        assert_eq!(gaps(&sampled, "t"), [2; 60], "{order:?}");
        let classes = reals(&sampled, "c");
        assert!(
            classes
                .iter()
                .all(|c| [Some(50.0), Some(100.0)].contains(c))
        );
        assert!(wholes(&sampled, "v").iter().all(|v| (0..40).contains(v)));
    }
}

#[test]
fn a_date_of_any_storage_works_as_context() {
    let born = |key: i32| 9_000 + 31 * key;
    let days: Vec<i32> = (0..30).map(|row| born(row / 3)).collect();
    let milliseconds: Vec<i64> = days
        .iter()
        .map(|d| i64::from(*d) * DAY_MILLISECONDS)
        .collect();
    let as_text: Vec<String> = texts(&df!("d" => dates(&days)).unwrap(), "d")
        .into_iter()
        .map(Option::unwrap)
        .collect();
    let as_number: Vec<i64> = as_text
        .iter()
        .map(|text| text.replace('-', "").parse().unwrap())
        .collect();
    for (born, sdtype) in [
        (dates(&days), datetime()),
        (
            moments(&milliseconds, TimeUnit::Milliseconds, Some("UTC")),
            datetime(),
        ),
        (Series::new("".into(), as_text), datetime_as("%Y-%m-%d")),
        (Series::new("".into(), as_number), datetime_as("%Y%m%d")),
    ] {
        let data = df!("born" => born, "k" => keys(&[3; 10]), "v" => noise(30)).unwrap();
        let columns = [("k", id()), ("born", sdtype), ("v", Numerical)];
        let synthesizer = untrained(&columns)
            .context_columns(["born"])
            .epochs(1)
            .fit(&data)
            .unwrap();
        let sampled = sample(&synthesizer, SampleOptions::sequences(40));
        assert_eq!(sampled.schema(), data.schema());
        assert!(is_constant_per_sequence(&sampled, "born"));
        // As text, numbers and text alike sort by date; sampled dates stay within the real ones.
        let (real, made) = (texts(&data, "born"), texts(&sampled, "born"));
        let (low, high) = (real.iter().min().unwrap(), real.iter().max().unwrap());
        assert!(made.iter().all(|date| low <= date && date <= high));

        let wanted = data.select(["born"]).unwrap().slice(4, 1);
        let options = SampleOptions::per_context_row().threads(1);
        let sampled = synthesizer
            .sample_sequential_columns_with(&wanted, &options)
            .unwrap();
        assert_eq!(first_texts(&sampled, "born"), real[4..5]);
    }
}

#[test]
fn an_id_among_the_context_is_made_up_constant_and_never_a_training_value() {
    for (regex_format, badges) in [
        (
            None,
            (0..8).map(|n| format!("badge-{n:03}")).collect::<Vec<_>>(),
        ),
        (
            Some("[0-9]{3}-[0-9]{2}".to_owned()),
            (0..8).map(|n| format!("{n:03}-{:02}", n * 7)).collect(),
        ),
    ] {
        let per_row: Vec<&String> = badges.iter().flat_map(|badge| [badge; 3]).collect();
        let per_row: Vec<&str> = per_row.into_iter().map(String::as_str).collect();
        let data = df!("k" => keys(&[3; 8]), "badge" => per_row, "v" => noise(24)).unwrap();
        let columns = [
            ("k", id()),
            ("badge", Id { regex_format }),
            ("v", Numerical),
        ];
        let synthesizer = untrained(&columns)
            .context_columns(["badge"])
            .fit(&data)
            .unwrap();
        let sampled = sample(&synthesizer, SampleOptions::sequences(100));
        assert!(is_constant_per_sequence(&sampled, "badge"));
        let made_up = first_texts(&sampled, "badge");
        assert_eq!(made_up.len(), 100);
        assert!(
            made_up
                .iter()
                .flatten()
                .all(|badge| !badges.contains(badge))
        );
        assert_eq!(nulls(&sampled, "badge"), 0);
    }
}

#[test]
fn an_id_of_whole_numbers_is_made_up_and_keeps_its_dtype() {
    let codes: Vec<u32> = (0..24).map(|row| 900_001 + row / 3).collect();
    let data = df!("k" => &codes, "code" => &codes, "v" => noise(24)).unwrap();
    let columns = [("k", id()), ("code", id()), ("v", Numerical)];
    let synthesizer = untrained(&columns)
        .context_columns(["code"])
        .fit(&data)
        .unwrap();
    let sampled = sample(&synthesizer, SampleOptions::sequences(9));
    assert_eq!(sampled.schema(), data.schema());
    for column in ["k", "code"] {
        let made_up = wholes(&sampled, column);
        assert!(
            made_up
                .iter()
                .all(|code| !(900_001..900_009).contains(code))
        );
    }
}

#[test]
fn a_category_held_as_floats_stays_in_the_set_seen() {
    for (dtype, classes) in [
        (DataType::Float64, [50.0, 100.0, 404.0]),
        (DataType::Float32, [0.1, 0.2, 0.3]),
        (DataType::Int64, [202.0, 404.0, 500.0]),
    ] {
        let cells = Series::new("".into(), classes.repeat(8))
            .cast(&dtype)
            .unwrap();
        let data = df!("k" => keys(&[4; 6]), "c" => cells, "v" => noise(24)).unwrap();
        let columns = [("k", id()), ("c", Categorical), ("v", Numerical)];
        let synthesizer = untrained(&columns).epochs(1).fit(&data).unwrap();
        let sampled = sample(&synthesizer, SampleOptions::sequences(30));
        assert_eq!(sampled.schema(), data.schema());
        let (seen, mut made) = (reals(&data, "c")[..3].to_vec(), reals(&sampled, "c"));
        assert!(made.iter().all(|class| seen.contains(class)));
        made.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap());
        made.dedup();
        assert_eq!(made, seen);
    }
}

#[test]
fn an_all_null_column_comes_back_all_null_in_any_role_and_dtype() {
    let kinds: [(DataType, SdType); 7] = [
        (DataType::Float64, Numerical),
        (DataType::Int16, Numerical),
        (DataType::String, Categorical),
        (DataType::Boolean, Boolean),
        (DataType::Date, datetime()),
        (DataType::Datetime(TimeUnit::Nanoseconds, None), datetime()),
        (DataType::String, id()),
    ];
    for (dtype, sdtype) in kinds {
        let empty = Series::full_null("".into(), 20, &dtype);
        let data = df!("k" => keys(&[4; 5]), "z" => empty, "v" => noise(20)).unwrap();
        let columns = [("k", id()), ("z", sdtype), ("v", Numerical)];
        for context in [&[][..], &["z"]] {
            let synthesizer = untrained(&columns)
                .context_columns(context.iter().copied())
                .epochs(1)
                .fit(&data)
                .unwrap();
            let sampled = sample(&synthesizer, SampleOptions::sequences(6));
            assert_eq!(sampled.schema(), data.schema());
            assert_eq!(lengths(&sampled), [4; 6]);
            assert_eq!(
                (nulls(&sampled, "z"), nulls(&sampled, "v")),
                (24, 0),
                "{dtype}"
            );
        }
    }
}

#[test]
fn without_training_samples_are_valid_rows() {
    let rows = 0..60_usize;
    let data = df!(
        "k" => keys(&[6; 10]),
        "t" => dates(&rows.clone().map(|row| 18_000 + row as i32 * 3).collect::<Vec<_>>()),
        "price" => noise(60).iter().map(|share| (share * 1e4).round() / 100.0).collect::<Vec<_>>(),
        "count" => rows.clone().map(|row| (row % 7 != 0).then_some((row % 5) as i64)).collect::<Vec<_>>(),
        "open" => rows.clone().map(|row| row % 2 == 0).collect::<Vec<_>>(),
        "kind" => rows.clone().map(|row| ["x", "y", "z"][row % 3]).collect::<Vec<_>>(),
        "region" => rows.map(|row| ["north", "south"][row / 6 % 2]).collect::<Vec<_>>(),
    )
    .unwrap();
    let columns = [
        ("k", id()),
        ("t", datetime()),
        ("price", Numerical),
        ("count", Numerical),
        ("open", Boolean),
        ("kind", Categorical),
        ("region", Categorical),
    ];
    let synthesizer = untrained(&columns)
        .context_columns(["region"])
        .epochs(0)
        .fit(&data)
        .unwrap();
    assert_eq!(synthesizer.report().epochs, 0);
    let sampled = sample(&synthesizer, SampleOptions::sequences(50));
    assert_eq!(sampled.schema(), data.schema());
    assert_eq!(lengths(&sampled), [6; 50]);
    assert_eq!(gaps(&sampled, "t"), [3; 250]);
    for column in ["k", "t", "price", "open", "kind", "region"] {
        assert_eq!(nulls(&sampled, column), 0, "{column}");
    }
    for price in reals(&sampled, "price").into_iter().flatten() {
        assert!((0.0..=100.0).contains(&price));
        assert_eq!((price * 100.0).round() / 100.0, price);
    }
    let counts = reals(&sampled, "count");
    assert!(
        counts
            .iter()
            .flatten()
            .all(|count| (0.0..=4.0).contains(count))
    );
    for column in ["kind", "region", "open"] {
        let seen = texts(&data, column);
        assert!(
            texts(&sampled, column)
                .iter()
                .all(|value| seen.contains(value))
        );
    }
    assert!(is_constant_per_sequence(&sampled, "region"));
}

#[test]
fn a_subset_of_the_rows_of_each_sequence_is_learned_from() {
    // As when a user keeps the first rows of each key: the lengths are those of the subset.
    let days: Vec<i32> = (0..80).map(|row| 18_000 + row).collect();
    let data = df!("k" => keys(&[8; 10]), "t" => dates(&days), "v" => noise(80)).unwrap();
    let columns = [("k", id()), ("t", datetime()), ("v", Numerical)];
    let first_three: BooleanChunked = (0..80).map(|row| row % 8 < 3).collect();
    let every_other: BooleanChunked = (0..80).map(|row| row % 2 == 0).collect();
    for (kept, length, gap) in [(first_three, 3, 1), (every_other, 4, 2)] {
        let subset = data.filter(&kept).unwrap();
        let synthesizer = untrained(&columns).epochs(1).fit(&subset).unwrap();
        assert_eq!(synthesizer.report().rows, 10 * length);
        let sampled = sample(&synthesizer, SampleOptions::sequences(10));
        assert_eq!(lengths(&sampled), [length; 10]);
        assert_eq!(gaps(&sampled, "t"), vec![gap; 10 * (length - 1)]);
        assert_eq!(nulls(&sampled, "v"), 0);
    }
}
