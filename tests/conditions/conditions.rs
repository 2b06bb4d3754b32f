//! `sample_from_conditions` and `balanced_conditions`.

use crate::common::*;
use parsynth::SdType::{Boolean, Categorical, Id, Numerical};
use parsynth::{Condition, Error, ParSynthesizer, SampleOptions, SdType, TableError};
use polars::prelude::*;
use std::collections::BTreeSet;

const COLUMNS: [(&str, SdType); 5] = [
    ("size", Numerical),
    ("k", Id { regex_format: None }),
    ("v", Numerical),
    ("t", Numerical),
    ("sector", Categorical),
];
const SECTORS: [&str; 4] = ["Energy", "Health", "Retail", "Travel"];

/// Eighty keys of three rows; the size, which is missing for one key, tells the sector.
fn sectors() -> DataFrame {
    let size = |key: usize| (key != 3).then_some((10 * (key % 4)) as f64 + (key / 4) as f64 / 4.0);
    let rows = 0..240_usize;
    df!(
        "size" => rows.clone().map(|row| size(row / 3)).collect::<Vec<_>>(),
        "k" => keys(&[3; 80]),
        "v" => noise(240),
        "t" => rows.clone().map(|row| (row % 3) as i64).collect::<Vec<_>>(),
        "sector" => rows.map(|row| SECTORS[row / 3 % 4]).collect::<Vec<_>>(),
    )
    .unwrap()
}

fn fitted() -> ParSynthesizer {
    untrained(&COLUMNS)
        .epochs(1)
        .context_columns(["size", "sector"])
        .fit(&sectors())
        .unwrap()
}

fn sampled(synthesizer: &ParSynthesizer, conditions: &[Condition]) -> DataFrame {
    let options = SampleOptions::default().seed(1).threads(1);
    synthesizer
        .sample_from_conditions_with(conditions, &options)
        .unwrap()
}

fn refusal(synthesizer: &ParSynthesizer, conditions: &[Condition]) -> String {
    synthesizer
        .sample_from_conditions(conditions)
        .unwrap_err()
        .to_string()
}

fn first_reals(frame: &DataFrame, column: &str) -> Vec<Option<f64>> {
    let values = reals(frame, column);
    let starts = sequences(frame);
    starts.into_iter().map(|rows| values[rows.start]).collect()
}

fn is(text: &Option<String>, wanted: &str) -> bool {
    text.as_deref() == Some(wanted)
}

#[test]
fn each_condition_gets_its_sequences_in_the_order_of_the_conditions() {
    let synthesizer = fitted();
    let conditions = [
        Condition::sequences(30).with("sector", "Health"),
        Condition::sequences(2).with("size", 1.25),
        Condition::sequences(1),
        Condition::sequences(4)
            .with("size", 3)
            .with("sector", "Travel"),
    ];
    let frame = sampled(&synthesizer, &conditions);
    assert_eq!(frame.schema(), sectors().schema());
    let sector = first_texts(&frame, "sector");
    assert_eq!(sector.len(), 30 + 2 + 1 + 4);
    assert!(sector[..30].iter().all(|sector| is(sector, "Health")));
    assert!(sector[33..].iter().all(|sector| is(sector, "Travel")));
    let size = first_reals(&frame, "size");
    assert_eq!(size[30..32], [Some(1.25); 2]);
    assert_eq!(size[33..], [Some(3.0); 4]);
    assert!(is_constant_per_sequence(&frame, "size"));
    // What is left open differs from sequence to sequence.
    let open: BTreeSet<String> = size[..30].iter().map(|size| format!("{size:?}")).collect();
    assert!(open.len() > 5, "{open:?}");
}

#[test]
fn a_condition_is_a_row_of_given_context_as_often_as_it_says() {
    let synthesizer = fitted();
    let conditions = [
        Condition::sequences(2).with("sector", "Health"),
        Condition::sequences(1).with("sector", "Retail"),
    ];
    let rows = df!("sector" => ["Health", "Health", "Retail"]).unwrap();
    let options = SampleOptions::default().seed(1);
    let wanted = synthesizer
        .sample_sequential_columns_with(&rows, &options)
        .unwrap();
    assert!(sampled(&synthesizer, &conditions).equals_missing(&wanted));
}

#[test]
fn what_a_condition_leaves_open_follows_what_it_says() {
    let synthesizer = untrained(&COLUMNS)
        .hidden_size(16)
        .learning_rate(0.01)
        .batch_size(8)
        .epochs(60)
        .context_columns(["size", "sector"])
        .fit(&sectors())
        .unwrap();
    // One request in which other columns are open for each condition.
    let conditions = [
        Condition::sequences(100).with("sector", "Health"),
        Condition::sequences(100).with("size", 32.0),
    ];
    let frame = sampled(&synthesizer, &conditions);
    let sizes = first_reals(&frame, "size");
    let near = sizes[..100]
        .iter()
        .filter(|size| size.is_some_and(|size| (8.0..=17.0).contains(&size)));
    let near = near.count();
    assert!(
        near >= 45,
        "{near} of 100 have the size of their sector, a quarter by chance"
    );
    let sectors = first_texts(&frame, "sector");
    let travel = sectors[100..]
        .iter()
        .filter(|sector| is(sector, "Travel"))
        .count();
    assert!(
        travel >= 45,
        "{travel} of 100 have the sector of their size, a quarter by chance"
    );
}

#[test]
fn the_result_depends_on_neither_threads_nor_chunks() {
    let synthesizer = fitted();
    let conditions = [
        Condition::sequences(700).with("sector", "Health"),
        Condition::sequences(500).with("size", 2.0),
    ];
    let run = |conditions: &[Condition], threads| {
        let options = SampleOptions::default().seed(5).threads(threads);
        synthesizer
            .sample_from_conditions_with(conditions, &options)
            .unwrap()
    };
    let one = run(&conditions, 1);
    assert_eq!(lengths(&one).len(), 1200);
    assert!(one.equals_missing(&run(&conditions, 4)));
    // The first condition said in two parts.
    let parts = [
        Condition::sequences(513).with("sector", "Health"),
        Condition::sequences(187).with("sector", "Health"),
        Condition::sequences(500).with("size", 2.0),
    ];
    assert!(one.equals_missing(&run(&parts, 2)));
}

#[test]
fn values_may_be_of_any_type_that_holds_them() {
    let names = ["ids", "fixed", "named", "born", "flag", "code", "big"];
    let rows = 0..24_usize;
    let labels: Vec<&str> = rows.clone().map(|row| ["ä", "b"][row / 2 % 2]).collect();
    let fixed = DataType::from_frozen_categories(FrozenCategories::new(["b", "ä"]).unwrap());
    let named = DataType::from_categories(Categories::global());
    let cast = |dtype: &DataType| Series::new("".into(), &labels).cast(dtype).unwrap();
    let days: Vec<i32> = rows.clone().map(|row| 13_000 + row as i32 / 2).collect();
    let data = df!(
        "k" => keys(&[2; 12]),
        "ids" => rows.clone().map(|row| format!("P{:02}", row / 2)).collect::<Vec<_>>(),
        "fixed" => cast(&fixed),
        "named" => cast(&named),
        "born" => dates(&days),
        "flag" => rows.clone().map(|row| (row / 2 != 5).then_some(row / 2 % 2 == 0)).collect::<Vec<_>>(),
        "code" => rows.clone().map(|row| 100 + (row / 2 % 3) as i64).collect::<Vec<_>>(),
        "big" => rows.map(|row| i64::MAX - row as i64 / 2).collect::<Vec<_>>(),
    )
    .unwrap();
    let synthesizer = untrained(&[
        ("k", id()),
        ("ids", id()),
        ("fixed", Categorical),
        ("named", Categorical),
        ("born", datetime()),
        ("flag", Boolean),
        ("code", Categorical),
        ("big", Numerical),
    ])
    .context_columns(names)
    .fit(&data)
    .unwrap();
    // 2006-01-01 is day 13,149, which nobody was born on.
    let conditions = [
        Condition::sequences(2)
            .with("born", "2006-01-01")
            .with("fixed", "ä")
            .with("flag", false),
        Condition::sequences(1)
            .with("born", AnyValue::Date(13_149))
            .with("named", String::from("b").as_str())
            .with("flag", None::<bool>),
        Condition::sequences(1)
            .with("code", 101_u8)
            .with("big", i64::MAX - 3),
        Condition::sequences(1)
            .with("code", Scalar::from(102_i64).into_value())
            .with("ids", "mine"),
    ];
    let frame = sampled(&synthesizer, &conditions);
    assert_eq!(frame.schema(), data.schema());
    let per_sequence = |column: &str| first_texts(&frame, column);
    assert!(
        per_sequence("born")[..3]
            .iter()
            .all(|day| is(day, "2006-01-01"))
    );
    assert!(
        per_sequence("fixed")[..2]
            .iter()
            .all(|label| is(label, "ä"))
    );
    assert!(is(&per_sequence("named")[2], "b"));
    let flags = per_sequence("flag");
    assert_eq!(
        flags[..3],
        [Some("false".to_owned()), Some("false".to_owned()), None]
    );
    assert!(is(&per_sequence("code")[3], "101") && is(&per_sequence("code")[4], "102"));
    assert!(is(&per_sequence("big")[3], &(i64::MAX - 3).to_string()));
    // A given id stands beside made-up ones, of which none is it or a real one.
    let ids = per_sequence("ids");
    assert!(is(&ids[4], "mine"));
    let distinct: BTreeSet<&Option<String>> = ids.iter().collect();
    assert_eq!(distinct.len(), 5);
    let real = first_texts(&data, "ids");
    assert!(ids.iter().all(|id| !real.contains(id)));
}

#[test]
fn an_id_given_to_several_sequences_is_never_made_up_for_others() {
    let data = df!("k" => keys(&[1; 9]), "ward" => ["W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8", "W9"], "v" => noise(9))
        .unwrap();
    let synthesizer = untrained(&[("k", id()), ("ward", id()), ("v", Numerical)])
        .context_columns(["ward"])
        .fit(&data)
        .unwrap();
    let made_up = first_texts(&sampled(&synthesizer, &[Condition::sequences(3)]), "ward");
    let taken = made_up[1].clone().unwrap();
    let conditions = [
        Condition::sequences(3),
        Condition::sequences(3).with("ward", taken.as_str()),
    ];
    let wards = first_texts(&sampled(&synthesizer, &conditions), "ward");
    assert!(wards[3..].iter().all(|ward| is(ward, &taken)));
    assert!(wards[..3].iter().all(|ward| !is(ward, &taken)), "{wards:?}");
}

#[test]
fn what_cannot_be_given_is_refused_by_column_and_value() {
    let synthesizer = fitted();
    let one =
        |column: &str, value: AnyValue<'static>| [Condition::sequences(1).with(column, value)];
    let text = |text: &'static str| AnyValue::String(text);
    let cases = [
        (
            one("sctor", text("Health")),
            "column `sctor` is not a context column; did you mean `sector`?; context columns are: size, sector",
        ),
        (
            one("v", AnyValue::Float64(0.5)),
            "column `v` is not a context column; context columns are: size, sector",
        ),
        (
            one("k", text("K1")),
            "column `k` is not a context column; context columns are: size, sector",
        ),
        (
            one("sector", text("Atlantis")),
            "column `sector`, row 0: `Atlantis` was not seen in training; seen were `Energy`, `Health`, `Retail`, `Travel`",
        ),
        (
            one("sector", AnyValue::Int32(3)),
            "column `sector`: 3 of dtype i32 cannot be given; str was fitted",
        ),
        (
            one("size", text("big")),
            "column `size`: \"big\" of dtype str cannot be given; f64 was fitted",
        ),
        (
            one("size", AnyValue::Float64(f64::INFINITY)),
            "column `size`: inf of dtype f64 cannot be given; f64 was fitted",
        ),
        (
            one("sector", AnyValue::Null),
            "column `sector`, row 0: missing was not seen in training; seen were `Energy`, `Health`, `Retail`, `Travel`",
        ),
    ];
    for (conditions, told) in &cases {
        assert_eq!(refusal(&synthesizer, conditions), *told);
    }
    // The place of the condition is told.
    let second = [
        Condition::sequences(1).with("sector", "Health"),
        Condition::sequences(1).with("sector", "Helth"),
    ];
    let error = synthesizer.sample_from_conditions(&second).unwrap_err();
    assert!(
        matches!(error, Error::UnseenCategory { row: 1, .. }),
        "{error}"
    );
    let error = synthesizer
        .sample_from_conditions(&one("size", text("big")))
        .unwrap_err();
    assert!(matches!(
        error,
        Error::Table(TableError::ValueDoesNotFit { .. })
    ));
    // A missing size was seen, so it may be given.
    let missing = [Condition::sequences(2).with("size", None::<f64>)];
    assert_eq!(nulls(&sampled(&synthesizer, &missing), "size"), 2 * 3);
}

#[test]
fn counts_are_at_least_one_and_fit_a_frame() {
    let synthesizer = fitted();
    let conditions = [Condition::sequences(3), Condition::sequences(0)];
    assert_eq!(
        refusal(&synthesizer, &conditions),
        "option `sequences` is 0 in condition 1, expected 1 or more"
    );
    for count in [usize::MAX, u32::MAX as usize] {
        let conditions = [Condition::sequences(count), Condition::sequences(count)];
        let told = refusal(&synthesizer, &conditions);
        assert!(told.contains("expected fewer than"), "{told}");
    }
    let none = synthesizer.sample_from_conditions(&[]).unwrap();
    assert_eq!((none.height(), none.schema()), (0, sectors().schema()));
    let counted = SampleOptions::sequences(3);
    let error = synthesizer.sample_from_conditions_with(&[Condition::sequences(1)], &counted);
    assert_eq!(
        error.unwrap_err().to_string(),
        "option `sequences` is 3, expected SampleOptions::default(): the conditions decide how many"
    );
    // A value given again takes the place of the first.
    let twice = Condition::sequences(1)
        .with("sector", "Health")
        .with("sector", "Travel");
    assert_eq!(twice.value("sector"), Some(&AnyValue::from("Travel")));
    assert!(is(
        &first_texts(&sampled(&synthesizer, &[twice]), "sector")[0],
        "Travel"
    ));
}

/// Keys of one row whose group is rare: one `c`, three `b`, and `a`.
fn groups(protection: usize) -> ParSynthesizer {
    let group = |key: usize| match key {
        0 => Some("c"),
        1..4 => Some("b"),
        4 => None,
        _ => Some("a"),
    };
    let data = df!(
        "k" => keys(&[1; 40]),
        "group" => (0..40).map(group).collect::<Vec<_>>(),
        "day" => dates(&(0..40).map(|key| key / 20).collect::<Vec<_>>()),
        "size" => noise(40),
    )
    .unwrap();
    let columns = [
        ("k", id()),
        ("group", Categorical),
        ("day", Categorical),
        ("size", Numerical),
    ];
    untrained(&columns)
        .context_columns(["group", "day", "size"])
        .value_protection(protection)
        .fit(&data)
        .unwrap()
}

#[test]
fn balanced_conditions_give_rare_categories_as_many_sequences_as_common_ones() {
    let synthesizer = groups(1);
    let conditions = synthesizer.balanced_conditions("group", 25).unwrap();
    assert_eq!(conditions.len(), 3);
    let frame = sampled(&synthesizer, &conditions);
    let group = first_texts(&frame, "group");
    for wanted in ["a", "b", "c"] {
        assert_eq!(group.iter().filter(|group| is(group, wanted)).count(), 25);
    }
    // Categories of any dtype come back as they were.
    let days = synthesizer.balanced_conditions("day", 2).unwrap();
    let frame = sampled(&synthesizer, &days);
    assert_eq!(wholes(&frame, "day"), [0, 0, 1, 1]);
}

#[test]
fn categories_that_protection_hides_get_no_condition() {
    let conditions = groups(3).balanced_conditions("group", 2).unwrap();
    let values: Vec<_> = conditions.iter().map(|c| c.value("group")).collect();
    let [a, b] = ["a", "b"].map(AnyValue::from);
    assert_eq!(values, [Some(&a), Some(&b)]);
}

#[test]
fn only_categories_of_the_context_can_be_balanced() {
    let synthesizer = groups(1);
    let refusal = |column: &str, count| {
        let error = synthesizer.balanced_conditions(column, count);
        error.unwrap_err().to_string()
    };
    assert_eq!(
        refusal("size", 3),
        "option `column` is `size` of sdtype numerical, expected a context column of categories"
    );
    assert_eq!(
        refusal("grop", 3),
        "column `grop` is not a context column; did you mean `group`?; context columns are: group, day, size"
    );
    assert_eq!(
        refusal("group", 0),
        "option `sequences` is 0 in condition 0, expected 1 or more"
    );
}
