//! Models of every kind of column, untrained: what is asked of them here holds without training.

use parsynth::{
    Condition, Constraint, Metadata, MetadataBuilder, ParSynthesizer, PersonalKind, SampleOptions,
    SdType,
};
use polars::prelude::*;

/// More than two chunks of 512, the last of fewer.
pub(crate) const SEQUENCES: usize = 1_300;

pub(crate) fn id() -> SdType {
    SdType::Id { regex_format: None }
}

fn id_like(regex: &str) -> SdType {
    SdType::Id {
        regex_format: Some(regex.to_owned()),
    }
}

/// The number of each row's sequence, of 40 sequences of one to five rows.
fn owners() -> Vec<usize> {
    (0..40)
        .flat_map(|sequence| std::iter::repeat_n(sequence, 1 + sequence * 7 % 5))
        .collect()
}

/// Texts of rows or sequences, every so many of them missing, none with 0.
fn texts(numbers: &[usize], prefix: &str, missing_every: usize) -> Vec<Option<String>> {
    let text = |&number: &usize| {
        (number.checked_rem(missing_every) != Some(1)).then(|| format!("{prefix}{number}"))
    };
    numbers.iter().map(text).collect()
}

fn statement(columns: &[(&str, SdType)]) -> MetadataBuilder {
    columns
        .iter()
        .fold(Metadata::builder(), |builder, (name, sdtype)| {
            builder.column(*name, sdtype.clone())
        })
}

fn untrained(metadata: Metadata, context: &[&str], data: &DataFrame) -> ParSynthesizer {
    ParSynthesizer::builder(metadata)
        .context_columns(context.iter().copied())
        .constraints([Constraint::fixed_combinations(["label", "grade"])])
        .hidden_size(8)
        .threads(1)
        .seed(1)
        .epochs(0)
        .fit(data)
        .unwrap()
}

/// A table of every sdtype and dtype: ids of sequences and rows, personal data of both, some of them missing.
fn table() -> DataFrame {
    let owners = owners();
    let rows: Vec<usize> = (0..owners.len()).collect();
    let place = |row: usize| {
        owners[..row]
            .iter()
            .filter(|at| **at == owners[row])
            .count()
    };
    let days: Vec<String> = rows
        .iter()
        .map(|&row| format!("2024-03-{:02}", 1 + place(row) * 2 + owners[row] % 9))
        .collect();
    let grades: Vec<&str> = rows
        .iter()
        .map(|row| ["low", "mid", "high"][row % 3])
        .collect();
    let labels: Vec<String> = rows
        .iter()
        .map(|row| format!("class, {}", row % 3))
        .collect();
    let enumeration = FrozenCategories::new(["low", "mid", "high"]).unwrap();
    let moments: Vec<i64> = rows.iter().map(|&row| row as i64 * 61_000).collect();
    let mut data = df!(
        "k" => texts(&owners, "S-", 0),
        "day" => days,
        "device" => texts(&owners, "D", 4),
        "meter" => texts(&owners, "M", 0),
        "owner" => texts(&owners, "Person ", 5),
        "visit" => texts(&rows, "v", 0),
        "ticket" => texts(&rows, "t", 3),
        "mail" => texts(&rows, "someone@example.", 6),
        "region" => owners.iter().map(|at| ["north", "south", ""][at % 3]).collect::<Vec<_>>(),
        "weight" => owners.iter().map(|&at| at as i64).collect::<Vec<_>>(),
        "heat" => rows.iter().map(|&row| (row % 7 != 2).then_some((row * 13 % 31) as f64 / 4.0)).collect::<Vec<_>>(),
        "label" => labels,
        "is_open" => rows.iter().map(|row| row % 5 == 0).collect::<Vec<_>>(),
        "nothing" => vec![None::<f64>; rows.len()],
    )
    .unwrap();
    let grades = Series::new("grade".into(), grades);
    for column in [
        grades
            .cast(&DataType::from_frozen_categories(enumeration))
            .unwrap(),
        Series::new("at".into(), moments)
            .cast(&DataType::Datetime(TimeUnit::Milliseconds, None))
            .unwrap(),
    ] {
        data.with_column(column.into()).unwrap();
    }
    let label = data.column("label").unwrap();
    let label = label.cast(&DataType::from_categories(Categories::global()));
    data.with_column(label.unwrap()).unwrap();
    data
}

/// A model of [`table`].
pub(crate) fn model() -> ParSynthesizer {
    let metadata = statement(&[
        ("k", id_like("S-[0-9]{5}")),
        (
            "day",
            SdType::Datetime {
                format: Some("%Y-%m-%d".to_owned()),
            },
        ),
        ("device", id()),
        ("meter", id()),
        ("owner", SdType::personal(PersonalKind::Name)),
        ("visit", id()),
        ("ticket", id_like("[A-Z]{2}[0-9]{8}")),
        ("mail", SdType::personal(PersonalKind::Email)),
        ("region", SdType::Categorical),
        ("weight", SdType::Numerical),
        ("heat", SdType::Numerical),
        ("label", SdType::Categorical),
        ("is_open", SdType::Boolean),
        ("nothing", SdType::Numerical),
        ("grade", SdType::Categorical),
        ("at", SdType::Datetime { format: None }),
    ]);
    let metadata = metadata.sequence_key("k").sequence_index("day");
    untrained(
        metadata.build().unwrap(),
        &["region", "weight", "device", "meter"],
        &table(),
    )
}

/// The same with another key: a first name, of which there are few enough to come up twice.
pub(crate) fn model_with_personal_key() -> ParSynthesizer {
    with_key(&["k"], ("k", SdType::personal(PersonalKind::FirstName)))
}

/// The same with a key of which there are as many as anyone wants.
pub(crate) fn model_with_endless_personal_key() -> ParSynthesizer {
    with_key(&["k"], ("k", SdType::personal(PersonalKind::Email)))
}

/// The same with a key of a first name and the region, which is drawn.
pub(crate) fn model_with_mixed_key() -> ParSynthesizer {
    with_key(
        &["k", "region"],
        ("k", SdType::personal(PersonalKind::FirstName)),
    )
}

/// The same with a key of an id and the region.
pub(crate) fn model_with_composite_key() -> ParSynthesizer {
    with_key(&["region", "k"], ("k", id()))
}

fn with_key(key: &[&str], column: (&str, SdType)) -> ParSynthesizer {
    let metadata = statement(&[
        column,
        ("region", SdType::Categorical),
        ("heat", SdType::Numerical),
        ("label", SdType::Categorical),
        ("grade", SdType::Categorical),
    ]);
    let metadata = metadata
        .sequence_key_columns(key.iter().copied())
        .build()
        .unwrap();
    let names = ["k", "region", "heat", "label", "grade"];
    untrained(metadata, &[], &table().select(names).unwrap())
}

/// A model whose rows have a personal value that must not come twice.
pub(crate) fn model_with_unique_rows() -> ParSynthesizer {
    let metadata = statement(&[
        ("k", id()),
        ("mail", SdType::personal(PersonalKind::LastName)),
        ("label", SdType::Categorical),
        ("grade", SdType::Categorical),
    ]);
    let metadata = metadata.sequence_key("k").build().unwrap();
    let metadata = metadata.add_alternate_keys(["mail"]).unwrap();
    let rows: Vec<usize> = (0..table().height()).collect();
    let mut data = table().select(["k", "label", "grade"]).unwrap();
    let mails = Series::new("mail".into(), texts(&rows, "Last", 0));
    data.with_column(mails.into()).unwrap();
    untrained(metadata, &[], &data)
}

/// A network of common size, whose numbers are as drawn: not rounded to anything.
pub(crate) fn model_of_many_digits() -> ParSynthesizer {
    let metadata = statement(&[
        ("k", id()),
        ("heat", SdType::Numerical),
        ("wind", SdType::Numerical),
    ]);
    let metadata = metadata.sequence_key("k").build().unwrap();
    let rows: Vec<f64> = (0..table().height()).map(|row| row as f64).collect();
    let mut data = table().select(["k"]).unwrap();
    for (name, factor) in [("heat", 0.37), ("wind", 1.91)] {
        let values: Vec<f64> = rows.iter().map(|row| (row * factor).sin()).collect();
        data.with_column(Series::new(name.into(), values).into())
            .unwrap();
    }
    ParSynthesizer::builder(metadata)
        .hidden_size(128)
        .enforce_rounding(false)
        .threads(1)
        .seed(1)
        .epochs(2)
        .fit(&data)
        .unwrap()
}

/// A small model whose rows have ids of a pattern.
pub(crate) fn model_with_row_ids_like(regex: &str, ids: &[&str]) -> ParSynthesizer {
    let metadata = statement(&[
        ("k", id()),
        ("visit", id_like(regex)),
        ("label", SdType::Categorical),
        ("grade", SdType::Categorical),
    ]);
    let metadata = metadata.sequence_key("k").build().unwrap();
    let data = df!(
        "k" => ["a", "a", "b", "b"],
        "visit" => ids,
        "label" => ["x", "y", "x", "y"],
        "grade" => ["1", "2", "1", "2"],
    );
    untrained(metadata, &[], &data.unwrap())
}

pub(crate) fn options() -> SampleOptions {
    SampleOptions::sequences(SEQUENCES).seed(7)
}

/// Conditions whose sequences cross the chunks.
pub(crate) fn conditions() -> Vec<Condition> {
    vec![
        Condition::sequences(600).with("region", "north"),
        // The first number of those that are made up.
        Condition::sequences(1)
            .with("device", "D40")
            .with("meter", "M41")
            .with("weight", 3),
        Condition::sequences(SEQUENCES - 601).with("weight", 12),
    ]
}

/// Context rows, some with a key.
pub(crate) fn context() -> DataFrame {
    let rows = 0..SEQUENCES;
    df!(
        "region" => rows.clone().map(|row| ["south", ""][row % 2]).collect::<Vec<_>>(),
        "k" => rows.map(|row| format!("S-{:05}", row * 3)).collect::<Vec<_>>(),
    )
    .unwrap()
}

/// One frame of several, in one chunk as if it were made at once.
pub(crate) fn together(parts: impl IntoIterator<Item = DataFrame>) -> DataFrame {
    let all = parts.into_iter().reduce(|mut all, part| {
        all.vstack_mut(&part).unwrap();
        all
    });
    let mut all = all.unwrap();
    all.rechunk_mut();
    all
}

/// Same columns, dtypes and cells.
pub(crate) fn assert_same(found: &DataFrame, wanted: &DataFrame, what: &str) {
    assert_eq!(found.schema(), wanted.schema(), "{what}");
    assert_eq!(found.height(), wanted.height(), "{what}");
    for column in wanted.columns() {
        let own = found.column(column.name()).unwrap();
        assert!(
            own.equals_missing(column),
            "{what}: column {} differs",
            column.name()
        );
    }
}

/// Cells as text, missing ones as none.
pub(crate) fn cells(frame: &DataFrame, column: &str) -> Vec<Option<String>> {
    let text = frame
        .column(column)
        .unwrap()
        .cast(&DataType::String)
        .unwrap();
    let cells = text.str().unwrap().iter();
    cells.map(|cell| cell.map(str::to_owned)).collect()
}
