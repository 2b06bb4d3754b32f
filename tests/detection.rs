//! What a table is taken for when nobody says what it is.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]
#![allow(
    clippy::cast_possible_truncation,
    reason = "generated numbers are small"
)]

use std::collections::BTreeSet;
use std::path::PathBuf;

use parsynth::{
    DetectedMetadata, Metadata, ParSynthesizer, PersonalKind, SdType, TableError, read_csv,
    write_csv, write_parquet,
};
use polars::prelude::*;

fn detect(frame: &DataFrame) -> DetectedMetadata {
    Metadata::detect_from_dataframe(frame).unwrap()
}

fn sdtype(detected: &DetectedMetadata, column: &str) -> SdType {
    detected.metadata.sdtype(column).unwrap().clone()
}

fn dated(format: &str) -> SdType {
    SdType::Datetime {
        format: Some(format.to_owned()),
    }
}

fn id() -> SdType {
    SdType::Id { regex_format: None }
}

fn doubts(detected: &DetectedMetadata, column: &str) -> String {
    let mut columns = detected.report.columns.iter();
    let column = columns.find(|found| found.name == column).unwrap();
    column.doubts.join("; ")
}

/// A CSV file that is gone when the folder is dropped.
fn csv(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

#[test]
fn real_tables_are_taken_for_what_their_metadata_says() {
    for (name, context) in [
        ("stores", vec!["region"]),
        ("pbc_visits", vec!["trt", "age", "sex"]),
        ("males_wage", vec!["school", "ethn"]),
        ("storms", vec![]),
    ] {
        let stated = Metadata::from_json_file(format!("data/{name}.metadata.json")).unwrap();
        let detected = Metadata::detect_from_csv(format!("data/{name}.csv")).unwrap();
        assert_eq!(
            detected.metadata.diff(&stated).to_string(),
            "",
            "{name}: {detected}"
        );
        assert_eq!(detected.context_columns, context, "{name}: {detected}");
    }
}

#[test]
fn a_shuffled_frame_has_the_same_roles() {
    let stated = Metadata::from_json_file("data/pbc_visits.metadata.json").unwrap();
    let visits = read_csv("data/pbc_visits.csv", &stated).unwrap();
    // 1,945 rows, taken in steps of a number prime to it.
    let rows: Vec<u32> = (0..1945).map(|row| row * 577 % 1945).collect();
    let shuffled = visits.take(&IdxCa::from_vec("".into(), rows)).unwrap();
    let detected = detect(&shuffled);
    assert_eq!(detected.metadata.sequence_key(), ["id"]);
    assert_eq!(detected.metadata.sequence_index(), Some("day"));
    assert_eq!(detected.context_columns, ["trt", "age", "sex"]);
}

#[test]
fn every_guess_has_a_reason_and_the_report_is_a_table() {
    let detected = Metadata::detect_from_csv("data/stores.csv").unwrap();
    for column in &detected.report.columns {
        assert!(!column.reason.is_empty(), "{}", column.name);
    }
    let text = detected.to_string();
    assert!(text.contains("sequence key:    store_id"), "{text}");
    // What else rises in every store is told, and why it was passed over.
    let passed = detected.report.sequence_indexes.iter();
    let passed: Vec<_> = passed.filter(|candidate| !candidate.taken).collect();
    assert_eq!(passed[0].column, "day_of_week");
    assert!(text.contains(&passed[0].reason[..20]), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
}

#[test]
fn leading_zeros_and_long_ids_stay_text() {
    let mut text = "key,code,big,small,half\n".to_owned();
    for row in 0..200 {
        let half = if row == 199 {
            "2.1".to_owned()
        } else {
            (row % 7 * 3).to_string()
        };
        text += &format!("a,0{:03},1234567890123456{row:04},{row},{half}\n", row % 50);
    }
    let (_folder, path) = csv(&text);
    let detected = Metadata::detect_from_csv(&path).unwrap();
    assert_eq!(sdtype(&detected, "code"), SdType::Categorical);
    assert_eq!(sdtype(&detected, "big"), id());
    assert_eq!(sdtype(&detected, "half"), SdType::Numerical);
    let read = read_csv(&path, &detected.metadata).unwrap();
    assert_eq!(
        read.column("code").unwrap().str().unwrap().get(7),
        Some("0007")
    );
    assert_eq!(
        read.column("big").unwrap().str().unwrap().get(7),
        Some("12345678901234560007")
    );
    assert_eq!(read.column("half").unwrap().dtype(), &DataType::Float64);
    // Null and the empty text come back as they were.
    let table = df!("k" => ["a", "a", "a"], "s" => [Some("x"), None, Some("")]).unwrap();
    write_csv(&table, &path).unwrap();
    let detected = Metadata::detect_from_csv(&path).unwrap();
    assert!(
        read_csv(&path, &detected.metadata)
            .unwrap()
            .equals_missing(&table)
    );
}

#[test]
fn dates_as_text_and_digits_are_found_with_their_format() {
    let frame = df!(
        "digits" => [20_230_623_i64, 20_210_405],
        "words" => ["Jun 26, 2021", "Jul 04, 2021"],
        "zoned" => [Some("2021-06-26T10:00:00.250Z"), None],
    )
    .unwrap();
    let detected = detect(&frame);
    assert_eq!(sdtype(&detected, "digits"), dated("%Y%m%d"));
    assert_eq!(sdtype(&detected, "words"), dated("%b %d, %Y"));
    assert_eq!(sdtype(&detected, "zoned"), dated("%Y-%m-%dT%H:%M:%S.%fZ"));
    detected.metadata.validate_data(&frame).unwrap();
}

#[test]
fn two_columns_that_say_the_same_are_no_key() {
    let rows = 60;
    let frame = df!(
        "country" => (0..rows).map(|row| ["CH", "US", "JP"][row * 7 % 3]).collect::<Vec<&str>>(),
        "currency" => (0..rows).map(|row| ["CHF", "USD", "JPY"][row * 7 % 3]).collect::<Vec<&str>>(),
        "price" => (0..rows).map(|row| (row * 31 % 59) as f64 + 0.5).collect::<Vec<f64>>(),
    )
    .unwrap();
    let detected = detect(&frame);
    assert!(detected.metadata.sequence_key().is_empty(), "{detected}");
    assert!(
        detected
            .report
            .notes
            .iter()
            .any(|note| note.contains("one sequence"))
    );
}

#[test]
fn personal_columns_are_called_so_and_numbers_are_not() {
    let frame = df!(
        "email" => ["ann@example.org", "bob@example.org", "ann@example.org"],
        "phone" => ["555-0100", "555-0101", "555-0100"],
        "first_name" => ["Ann", "Bob", "Ann"],
        "city" => ["Bern", "Rome", "Bern"],
        "emails_sent" => ["few", "many", "few"],
        "latitude" => [47.1, 46.2, 47.1],
        "zip" => [3000_i64, 4000, 3000],
    )
    .unwrap();
    let detected = detect(&frame);
    for (column, kind) in [
        ("email", PersonalKind::Email),
        ("phone", PersonalKind::PhoneNumber),
        ("first_name", PersonalKind::FirstName),
        ("city", PersonalKind::City),
    ] {
        assert_eq!(
            sdtype(&detected, column),
            SdType::personal(kind),
            "{column}"
        );
    }
    assert_eq!(sdtype(&detected, "emails_sent"), SdType::Categorical);
    assert_eq!(sdtype(&detected, "latitude"), SdType::Numerical);
    assert_eq!(sdtype(&detected, "zip"), SdType::Numerical);
    assert!(doubts(&detected, "zip").contains("postcode"));
}

#[test]
fn names_do_not_decide_alone() {
    // `ref` has no key's name, `order_id` has, but names single rows; `group_id` is one value per table half.
    let rows = 60;
    let frame = df!(
        "note" => (0..rows).map(|row| row * 7 % 11).collect::<Vec<i64>>(),
        "order_id" => (0..rows).map(|row| row * 17 % rows).collect::<Vec<i64>>(),
        "ref" => (0..rows).map(|row| format!("r{}", row / 6)).collect::<Vec<String>>(),
        "when" => (0..rows).map(|row| row % 6 * 3).collect::<Vec<i64>>(),
        "born" => (0..rows).map(|row| 1950 + row / 6 * 13 % 40).collect::<Vec<i64>>(),
    )
    .unwrap();
    let detected = detect(&frame);
    assert_eq!(detected.metadata.sequence_key(), ["ref"], "{detected}");
    assert_eq!(detected.metadata.sequence_index(), Some("when"));
    assert_eq!(detected.context_columns, ["born"]);
    let order = detected.report.sequence_keys.iter();
    let order = order
        .clone()
        .find(|candidate| candidate.column == "order_id");
    assert!(order.unwrap().reason.contains("names rows, not sequences"));
}

#[test]
fn two_columns_that_name_a_sequence_together_are_taken_as_a_pair() {
    let rows = 120;
    let frame = df!(
        "first" => (0..rows).map(|row| ["Ann", "Bob", "Cid", "Dee"][row / 5 % 4]).collect::<Vec<&str>>(),
        "last" => (0..rows).map(|row| ["Ek", "Fox", "Gil", "Hart", "Ives", "Jay"][row / 20]).collect::<Vec<&str>>(),
        "day" => (0..rows).map(|row| (row % 5) as i64 * 2).collect::<Vec<i64>>(),
        "size" => (0..rows).map(|row| (row / 5 * 37 % 50) as f64 + 0.5).collect::<Vec<f64>>(),
    )
    .unwrap();
    let detected = detect(&frame);
    assert_eq!(
        detected.metadata.sequence_key(),
        ["first", "last"],
        "{detected}"
    );
    assert_eq!(detected.metadata.sequence_index(), Some("day"));
    assert_eq!(detected.context_columns, ["size"]);
}

#[test]
fn a_name_with_one_value_per_sequence_is_not_learned() {
    let frame = df!(
        "unit" => (0..40).map(|row| row / 5).collect::<Vec<i64>>(),
        "step" => (0..40).map(|row| row % 5).collect::<Vec<i64>>(),
        "source" => (0..40).map(|row| format!("source-{}", row / 5)).collect::<Vec<String>>(),
    )
    .unwrap();
    let detected = detect(&frame);
    assert_eq!(detected.metadata.sequence_key(), ["unit"], "{detected}");
    assert_eq!(sdtype(&detected, "source"), id());
    assert_eq!(detected.context_columns, ["source"]);
}

#[test]
fn few_recurring_numbers_are_codes_and_the_report_says_the_doubt() {
    let frame = df!(
        "stage" => (0..60).map(|row| row * 7 % 4 + 1).collect::<Vec<i64>>(),
        "flag" => (0..60).map(|row| f64::from(row * 5 % 3 % 2)).collect::<Vec<f64>>(),
        "dose" => (0..60).map(|row| row * 7 % 4 * 50).collect::<Vec<i64>>(),
        "qty" => (0..60).map(|row| row * 7 % 3 + 1).collect::<Vec<i64>>(),
        "height" => (0..60).map(|row| row * 7 % 23).collect::<Vec<i64>>(),
    )
    .unwrap();
    let detected = detect(&frame);
    assert_eq!(sdtype(&detected, "stage"), SdType::Categorical);
    assert!(doubts(&detected, "stage").contains("state it as numerical"));
    assert_eq!(sdtype(&detected, "flag"), SdType::Categorical);
    assert_eq!(sdtype(&detected, "dose"), SdType::Numerical);
    assert!(doubts(&detected, "dose").contains("state it as categorical"));
    assert_eq!(sdtype(&detected, "qty"), SdType::Numerical);
    assert_eq!(sdtype(&detected, "height"), SdType::Numerical);
    assert_eq!(doubts(&detected, "height"), "");
}

#[test]
fn tables_without_rows_values_or_sequences_are_described_by_what_there_is() {
    assert!(matches!(
        Metadata::detect_from_dataframe(&DataFrame::empty()),
        Err(TableError::Empty { what: "columns" })
    ));
    let full = df!(
        "k" => ["a"], "n" => [1_i64], "b" => [true], "s" => [Some("x")],
    )
    .unwrap();
    for frame in [full.clone(), full.slice(0, 0)] {
        let detected = detect(&frame);
        assert_eq!(sdtype(&detected, "k"), SdType::Categorical);
        assert_eq!(sdtype(&detected, "n"), SdType::Numerical);
        assert_eq!(sdtype(&detected, "b"), SdType::Boolean);
        assert!(detected.metadata.sequence_key().is_empty());
    }
    let empty = df!(
        "x" => [None::<f64>, None, None],
        "y" => [None::<&str>, None, None],
        "z" => [Some(f64::NAN), None, Some(f64::NAN)],
    )
    .unwrap()
    .hstack(&[Series::new_null("w".into(), 3).into()])
    .unwrap();
    let detected = detect(&empty);
    assert_eq!(sdtype(&detected, "x"), SdType::Numerical);
    assert_eq!(sdtype(&detected, "z"), SdType::Numerical);
    assert_eq!(detected.context_columns, Vec::<String>::new());
    let (_folder, path) = csv("a;b\n1;2\n");
    let notes = Metadata::detect_from_csv(path).unwrap().report.notes;
    assert!(
        notes
            .iter()
            .any(|note| note.contains("separated by commas"))
    );
    let (_folder, path) = csv("a,b\n");
    assert_eq!(Metadata::detect_from_csv(path).unwrap().report.rows, 0);
}

#[test]
fn chunks_and_column_order_change_nothing() {
    let stated = Metadata::from_json_file("data/stores.metadata.json").unwrap();
    let stores = read_csv("data/stores.csv", &stated).unwrap();
    let whole = detect(&stores);
    let chunked = stores
        .slice(0, 333)
        .vstack(&stores.slice(333, 367))
        .unwrap();
    assert_eq!(detect(&chunked), whole);
    let backwards: Vec<&str> = [
        "nb_customers",
        "total_sales",
        "day_of_week",
        "date",
        "region",
        "store_id",
    ]
    .into();
    let turned = detect(&stores.select(backwards).unwrap());
    assert_eq!(turned.metadata.sequence_key(), ["store_id"]);
    assert_eq!(turned.metadata.sequence_index(), Some("date"));
    assert_eq!(turned.context_columns, whole.context_columns);
}

#[test]
fn parquet_keeps_its_dtypes_and_every_name_is_stated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tbl.parquet");
    let day = |day: i32| Some(18_000 + day);
    let dates = Series::new("ημέρα".into(), [day(0), day(1), day(0), day(1)]);
    let frame = DataFrame::new_infer_height(vec![
        Column::new("ключ".into(), ["ä", "ä", "ö", "ö"]),
        dates.cast(&DataType::Date).unwrap().into(),
        Column::new("".into(), [1.5, 2.5, 3.5, 4.0]),
    ])
    .unwrap();
    write_parquet(&frame, &path).unwrap();
    let detected = Metadata::detect_from_parquet(&path).unwrap();
    assert_eq!(detected.metadata.sequence_key(), ["ключ"], "{detected}");
    assert_eq!(detected.metadata.sequence_index(), Some("ημέρα"));
    let names: BTreeSet<&str> = detected.metadata.columns().map(|(name, _)| name).collect();
    assert_eq!(names, BTreeSet::from(["ключ", "ημέρα", ""]));
}

#[test]
fn a_million_rows_and_a_thousand_columns_take_seconds() {
    let rows = 1_000_000;
    let started = std::time::Instant::now();
    let long = df!(
        "k" => (0..rows).map(|row| row / 20).collect::<Vec<i64>>(),
        "t" => (0..rows).map(|row| row % 20 * 60).collect::<Vec<i64>>(),
        "v" => (0..rows).map(|row| (row * 7919 % 10_007) as f64).collect::<Vec<f64>>(),
        "c" => (0..rows).map(|row| ["x", "y", "z"][(row / 20 % 3) as usize]).collect::<Vec<&str>>(),
    )
    .unwrap();
    let detected = detect(&long);
    assert_eq!(detected.metadata.sequence_key(), ["k"]);
    assert_eq!(detected.metadata.sequence_index(), Some("t"));
    assert_eq!(detected.context_columns, ["c"]);
    let columns = (0..1_000).map(|column| {
        let values: Vec<i64> = (0..200).map(|row| row * (column + 3) % 37).collect();
        Column::new(format!("n{column}").into(), values)
    });
    assert_eq!(
        detect(&DataFrame::new(200, columns.collect()).unwrap())
            .report
            .columns
            .len(),
        1_000
    );
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed()); // 5 s on an idle core
}

#[test]
fn what_was_detected_can_be_fitted() {
    for name in ["stores", "pbc_visits"] {
        let detected = Metadata::detect_from_csv(format!("data/{name}.csv")).unwrap();
        let table = read_csv(format!("data/{name}.csv"), &detected.metadata).unwrap();
        let synthesizer = ParSynthesizer::builder(detected.metadata)
            .context_columns(detected.context_columns)
            .hidden_size(8)
            .epochs(0)
            .fit(&table)
            .unwrap();
        assert_eq!(synthesizer.sample(3).unwrap().schema(), table.schema());
    }
}

/// Generated cells: few or many values, some missing, some odd.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn cells<T>(&mut self, rows: usize, mut cell: impl FnMut(u64) -> T) -> Vec<Option<T>> {
        let distinct = [1, 2, 5, 40, 100_000][self.below(5) as usize];
        let missing = [0, 0, 3, 10][self.below(4) as usize];
        (0..rows)
            .map(|_| {
                let value = self.below(distinct);
                (self.below(10) >= missing).then(|| cell(value))
            })
            .collect()
    }

    fn column(&mut self, number: usize, rows: usize) -> Column {
        let names = [
            "id",
            "date",
            "email",
            "x",
            "ключ",
            "day_of_week",
            "zip code",
            "name",
            "",
        ];
        let name = format!("{}{number}", names[self.below(9) as usize]);
        let name = PlSmallStr::from(name);
        let texts = self.cells(rows, |value| value);
        let texts = |write: fn(u64) -> String| -> Vec<Option<String>> {
            texts.iter().map(|value| value.map(write)).collect()
        };
        match self.below(13) {
            12 => Column::new(name, texts(|value| format!("c{}", value % 3)))
                .cast(&DataType::from_frozen_categories(
                    FrozenCategories::new(["c0", "c1", "c2"]).unwrap(),
                ))
                .unwrap(),
            0 => Column::new(
                name,
                texts(|value| format!("2020-{:02}-{:02}", value % 14, value % 30)),
            ),
            1 => Column::new(
                name,
                texts(|value| {
                    format!(
                        "{:02}/{:02}/20{:02}",
                        value % 12 + 1,
                        value % 12 + 1,
                        value % 50
                    )
                }),
            ),
            2 => Column::new(name, texts(|value| format!("{value:04}"))),
            3 => Column::new(name, texts(|value| "ö ".repeat((value % 9) as usize))),
            4 => Column::new(name, texts(|value| format!("{value:x}-A{}", value % 7))),
            5 => Column::new(name, self.cells(rows, |value| value % 2 == 0)),
            6 => Column::new(name, self.cells(rows, |value| value as i64 - 3)),
            7 => Column::new(name, self.cells(rows, |value| u64::MAX - value)),
            8 => Column::new(
                name,
                self.cells(rows, |value| {
                    if value == 4 {
                        f64::NAN
                    } else {
                        value as f64 / 8.0
                    }
                }),
            ),
            9 => Column::new(name, self.cells(rows, |value| value as i32))
                .cast(&DataType::Date)
                .unwrap(),
            10 => Column::new(
                name,
                self.cells(rows, |value| 20_200_101 + value as i64 % 28),
            ),
            _ => Column::new(name, texts(|value| format!("c{value}")))
                .cast(&DataType::from_categories(Categories::global()))
                .unwrap(),
        }
    }
}

#[test]
fn whatever_the_table_its_own_metadata_suits_it() {
    for seed in 0..400 {
        let mut random = Random(seed);
        let rows = [0, 1, 2, 3, 10, 60][random.below(6) as usize];
        let columns = 1 + random.below(7) as usize;
        let columns = (0..columns)
            .map(|number| random.column(number, rows))
            .collect();
        let frame = DataFrame::new(rows, columns).unwrap();
        let detected = detect(&frame);
        let builder = ParSynthesizer::builder(detected.metadata.clone())
            .context_columns(detected.context_columns.clone());
        if rows > 0 {
            let result = builder.validate(&frame);
            assert!(
                result.is_ok(),
                "seed {seed}: {}\n{detected}\n{frame}",
                result.unwrap_err()
            );
        }
        assert!(!detected.to_string().is_empty());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        let is_written = !frame
            .columns()
            .iter()
            .any(|column| column.name().is_empty());
        if is_written && write_csv(&frame, &path).is_ok() {
            let detected = Metadata::detect_from_csv(&path).unwrap();
            let read = read_csv(&path, &detected.metadata);
            assert!(
                read.is_ok(),
                "seed {seed}: {}\n{detected}\n{frame}",
                read.unwrap_err()
            );
        }
    }
}

#[test]
fn a_key_of_personal_data_or_of_two_columns_can_be_fitted_as_detected() {
    let rows = 60;
    let personal = df!(
        "email" => (0..rows).map(|row| format!("user{}@example.org", row / 6)).collect::<Vec<String>>(),
        "day" => (0..rows).map(|row| (row % 6) as i64).collect::<Vec<i64>>(),
        "mood" => (0..rows).map(|row| ["low", "high"][row * 5 % 7 % 2]).collect::<Vec<&str>>(),
    )
    .unwrap();
    let pair = df!(
        "clinic" => (0..rows).map(|row| ["north", "south", "west"][row / 20]).collect::<Vec<&str>>(),
        "number" => (0..rows).map(|row| (row / 4 % 5) as i64).collect::<Vec<i64>>(),
        "day" => (0..rows).map(|row| (row % 4) as i64).collect::<Vec<i64>>(),
        "heat" => (0..rows).map(|row| 36.0 + (row * 7 % 11) as f64 / 10.0).collect::<Vec<f64>>(),
    )
    .unwrap();
    for (frame, key) in [(personal, vec!["email"]), (pair, vec!["clinic", "number"])] {
        let detected = detect(&frame);
        assert_eq!(detected.metadata.sequence_key(), key, "{detected}");
        assert_eq!(detected.metadata.sequence_index(), Some("day"));
        let synthesizer = ParSynthesizer::builder(detected.metadata)
            .context_columns(detected.context_columns)
            .hidden_size(8)
            .epochs(0)
            .fit(&frame)
            .unwrap();
        assert_eq!(synthesizer.sample(5).unwrap().schema(), frame.schema());
    }
}
