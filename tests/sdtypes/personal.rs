//! Personal data is made up of its kind, none of it is the user's own, and the dtype comes back.

use crate::common::{
    distinct, id, metadata, personal, present, runs, sample, texts, thrice, untrained,
};
use parsynth::{
    ContinueOptions, Error, Metadata, ParSynthesizer, PersonalKind, SampleOptions, SdType,
    TableError, read_csv,
};
use polars::prelude::*;

/// Patients with a name and an email address of their own, and a nurse in each row.
fn visits(sequences: usize) -> DataFrame {
    let rows = thrice(sequences);
    let text = |make: &dyn Fn(usize) -> String| -> Vec<String> {
        rows.iter().map(|&sequence| make(sequence)).collect()
    };
    df!(
        "k" => text(&|s| format!("P{s}")),
        "name" => text(&|s| format!("Zebulon Quux{s}")),
        "email" => text(&|s| format!("quux{s}@hospital.test")),
        "nurse" => (0..rows.len()).map(|row| format!("Nurse{row}")).collect::<Vec<_>>(),
        "country" => text(&|s| ["DE", "FR", "IT"][s % 3].to_owned()),
        "v" => (0..rows.len()).map(|row| row as f64).collect::<Vec<_>>(),
    )
    .unwrap()
}

fn visit_metadata() -> Metadata {
    metadata(
        &["k"],
        &[
            ("k", id()),
            ("name", personal(PersonalKind::Name)),
            ("email", personal(PersonalKind::Email)),
            ("nurse", personal(PersonalKind::FirstName)),
            ("country", personal(PersonalKind::CountryCode)),
            ("v", SdType::Numerical),
        ],
    )
}

fn one(kind: PersonalKind, cells: Column) -> (DataFrame, Metadata) {
    let mut cells = cells;
    cells.rename("x".into());
    let height = cells.len();
    let keys = Column::new(
        "k".into(),
        (0..height).map(|row| format!("K{row}")).collect::<Vec<_>>(),
    );
    let values = Column::new("v".into(), vec![1.0; height]);
    let frame = DataFrame::new_infer_height(vec![keys, cells, values]).unwrap();
    let metadata = metadata(
        &["k"],
        &[("k", id()), ("x", personal(kind)), ("v", SdType::Numerical)],
    );
    (frame, metadata)
}

#[test]
fn no_name_or_address_of_training_comes_out_and_rows_of_a_sequence_agree() {
    let data = visits(30);
    let synthesizer = untrained(&visit_metadata())
        .context_columns(["email"])
        .fit(&data)
        .unwrap();
    let sampled = sample(&synthesizer, 200);
    assert_eq!(sampled.schema(), data.schema());
    for column in ["name", "email", "nurse", "country"] {
        let (real, made) = (present(&data, column), present(&sampled, column));
        assert!(distinct(&real).is_disjoint(&distinct(&made)), "{column}");
    }
    for (_, rows) in runs(&sampled, &["k"]) {
        for column in ["name", "email", "country"] {
            let own = &present(&sampled, column)[rows.clone()];
            assert_eq!(distinct(own).len(), 1, "{column}");
        }
    }
    // A column that changed within sequences changes.
    let nurses = present(&sampled, "nurse");
    let changes = runs(&sampled, &["k"])
        .into_iter()
        .filter(|(_, rows)| distinct(&nurses[rows.clone()]).len() > 1)
        .count();
    assert!(changes > 150, "{changes}");
    assert!(distinct(&present(&sampled, "name")).len() > 190);
    for email in present(&sampled, "email") {
        assert!(email.contains("@example."), "{email}");
    }
}

#[test]
fn personal_data_that_may_be_told_is_learned() {
    let (data, _) = one(
        PersonalKind::City,
        Column::new("x".into(), ["Ulm", "Bonn", "Ulm", "Bonn", "Jena"]),
    );
    let told = |kind| SdType::Personal { kind, pii: false };
    let stated = |kind| {
        metadata(
            &["k"],
            &[("k", id()), ("x", told(kind)), ("v", SdType::Numerical)],
        )
    };
    let synthesizer = untrained(&stated(PersonalKind::City)).fit(&data).unwrap();
    let sampled = present(&sample(&synthesizer, 100), "x");
    let cities = distinct(&sampled);
    assert!(
        cities
            .iter()
            .all(|city| ["Ulm", "Bonn", "Jena"].contains(city))
            && cities.len() > 1,
        "{cities:?}"
    );
    let seen: Vec<f64> = (0..60)
        .map(|row| 48.0 + f64::from(row * row % 997) / 1000.0)
        .collect();
    let points = df!(
        "k" => (0..60).map(|row| format!("K{row}")).collect::<Vec<_>>(),
        "x" => &seen,
        "v" => vec![1.0; 60],
    )
    .unwrap();
    let synthesizer = untrained(&stated(PersonalKind::Latitude))
        .fit(&points)
        .unwrap();
    let sampled = sample(&synthesizer, 50);
    let degrees = sampled.column("x").unwrap().f64().unwrap();
    assert!(degrees.min().unwrap() >= 48.0 && degrees.max().unwrap() < 49.0);
    // As a number, not as one of the numbers seen.
    assert!(degrees.iter().flatten().any(|value| !seen.contains(&value)));
}

#[test]
fn one_seed_makes_the_same_values_whatever_the_threads() {
    let synthesizer = untrained(&visit_metadata())
        .locales(["en_US", "fr_FR", "ja_JP"])
        .fit(&visits(20))
        .unwrap();
    let with = |threads, seed| {
        let options = SampleOptions::sequences(1100).seed(seed).threads(threads);
        synthesizer.sample_with(&options).unwrap()
    };
    assert!(with(1, 3).equals_missing(&with(2, 3)));
    assert_ne!(present(&with(1, 3), "name"), present(&with(1, 4), "name"));
    // A longer sample begins as a shorter one does.
    let short = synthesizer
        .sample_with(&SampleOptions::sequences(10).seed(3))
        .unwrap();
    let long = with(1, 3).head(Some(short.height()));
    assert_eq!(present(&short, "name"), present(&long, "name"));
}

#[test]
fn a_loaded_model_makes_the_same_values() {
    let synthesizer = untrained(&visit_metadata())
        .locales(["de_DE", "it_IT"])
        .fit(&visits(12))
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.parsynth");
    synthesizer.save(&path).unwrap();
    let loaded = ParSynthesizer::load(&path).unwrap();
    assert!(sample(&loaded, 40).equals_missing(&sample(&synthesizer, 40)));
    // The file does not hold a name that was fitted.
    let bytes = std::fs::read(&path).unwrap();
    let is_inside = |text: &str| {
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    assert!(!is_inside("Zebulon") && !is_inside("quux3@hospital") && !is_inside("Nurse5"));
}

#[test]
fn each_locale_is_drawn_and_an_unknown_one_is_named_with_the_list() {
    let data = visits(12);
    let synthesizer = untrained(&visit_metadata())
        .locales(["en_US", "ja_JP"])
        .fit(&data)
        .unwrap();
    let names = present(&sample(&synthesizer, 200), "name");
    let latin = distinct(&names)
        .iter()
        .filter(|name| name.is_ascii())
        .count();
    assert!((70..130).contains(&latin), "{latin}"); // 4 deviations of 7 around 100
    let refused = |locales: &[&str]| {
        let builder = untrained(&visit_metadata()).locales(locales.iter().copied());
        builder.fit(&data).unwrap_err().to_string()
    };
    let message = refused(&["en_US", "fr_fr"]);
    assert!(
        message.contains("option `locales` is `fr_fr`")
            && message.contains("de_DE, en_US")
            && message.contains("did you mean `fr_FR`?"),
        "{message}"
    );
    assert!(refused(&[]).contains("option `locales` is empty"));
}

#[test]
fn missing_cells_keep_their_share_by_row_and_by_sequence() {
    let rows = thrice(200);
    let data = df!(
        "k" => rows.iter().map(|s| format!("K{s}")).collect::<Vec<_>>(),
        // By sequence: a quarter.
        "phone" => rows.iter().map(|s| (s % 4 > 0).then(|| format!("{s}"))).collect::<Vec<_>>(),
        // By row: a third.
        "job" => (0..600).map(|row| (row % 3 > 0).then(|| format!("{row}"))).collect::<Vec<_>>(),
        // Everywhere.
        "city" => vec![None::<&str>; 600],
    )
    .unwrap();
    let stated = metadata(
        &["k"],
        &[
            ("k", id()),
            ("phone", personal(PersonalKind::PhoneNumber)),
            ("job", personal(PersonalKind::Job)),
            ("city", personal(PersonalKind::City)),
        ],
    );
    let synthesizer = untrained(&stated).fit(&data).unwrap();
    let sampled = sample(&synthesizer, 1000);
    let phones = texts(&sampled, "phone");
    let mut missing = 0;
    for (_, rows) in runs(&sampled, &["k"]) {
        let own = &phones[rows];
        assert!(own.iter().all(|cell| *cell == own[0]));
        missing += usize::from(own[0].is_none());
    }
    assert!((195..305).contains(&missing), "{missing}"); // 4 deviations of 14 around 250
    let jobs = texts(&sampled, "job")
        .iter()
        .filter(|job| job.is_none())
        .count();
    let share = jobs as f64 / sampled.height() as f64;
    assert!((share - 1.0 / 3.0).abs() < 0.04, "{share}"); // 4 deviations of about 3000 rows
    assert_eq!(
        sampled.column("city").unwrap().null_count(),
        sampled.height()
    );
    assert_eq!(sampled.schema(), data.schema());
}

#[test]
fn every_dtype_that_can_hold_the_values_comes_back() {
    let text = |cells: [&str; 3]| Column::new("x".into(), cells);
    let categories = || DataType::from_categories(Categories::global());
    let cases = [
        (PersonalKind::Email, text(["a@b.de", "c@d.de", "e@f.de"])),
        (
            PersonalKind::City,
            text(["Ulm", "Bonn", "Jena"]).cast(&categories()).unwrap(),
        ),
        (
            PersonalKind::PhoneNumber,
            Column::new(
                "x".into(),
                [4_915_112_345_678_i64, 49_301_234_567, 491_234_567],
            ),
        ),
        (
            PersonalKind::Postcode,
            Column::new("x".into(), [1067_i32, 89073, 12345]),
        ),
        (
            PersonalKind::CreditCardNumber,
            Column::new(
                "x".into(),
                [
                    4_111_111_111_111_111_u64,
                    5_500_000_000_000_004,
                    4_012_888_888_881_881,
                ],
            ),
        ),
        (
            PersonalKind::PhoneNumber,
            Column::new("x".into(), [491_512_345.0, 493_012_345.0, 49_123.0]),
        ),
        (
            PersonalKind::Latitude,
            Column::new("x".into(), [48.1_f32, 52.5, 50.9]),
        ),
        (
            PersonalKind::Longitude,
            Column::new("x".into(), [9.9_f64, 13.4, 11.6]),
        ),
        (
            PersonalKind::DateOfBirth,
            text(["03.02.1980", "24.12.1975", "30.06.2001"]),
        ),
        (
            PersonalKind::DateOfBirth,
            Column::new("x".into(), [3653, 5000, 11000])
                .cast(&DataType::Date)
                .unwrap(),
        ),
        (
            PersonalKind::DateOfBirth,
            Column::new("x".into(), [86_400_000_i64, 172_800_000, 0])
                .cast(&DataType::Datetime(TimeUnit::Milliseconds, None))
                .unwrap(),
        ),
        (
            PersonalKind::Unknown,
            Column::new("x".into(), [1_i8, 22, 3]),
        ),
    ];
    for (kind, cells) in cases {
        let (data, stated) = one(kind, cells);
        let synthesizer = untrained(&stated).fit(&data).unwrap();
        let sampled = sample(&synthesizer, 30);
        assert_eq!(sampled.schema(), data.schema(), "{kind:?}");
        assert_eq!(sampled.column("x").unwrap().null_count(), 0, "{kind:?}");
        let made = present(&sampled, "x");
        assert!(distinct(&made).len() > 15, "{kind:?}: {made:?}");
        let real = present(&data, "x");
        assert!(
            kind == PersonalKind::Unknown || distinct(&real).is_disjoint(&distinct(&made)),
            "{kind:?}: {made:?}"
        );
        if real[0] == "03.02.1980" {
            assert!(
                made.iter()
                    .all(|date| date.len() == 10 && &date[2..3] == "."),
                "{made:?}"
            );
        }
    }
}

#[test]
fn a_dtype_that_cannot_hold_the_values_is_an_error_with_column_and_dtype() {
    let frozen = DataType::from_frozen_categories(FrozenCategories::new(["DE", "FR"]).unwrap());
    let cases = [
        (
            PersonalKind::CountryCode,
            Column::new("x".into(), ["DE", "FR"]).cast(&frozen).unwrap(),
            "enum",
        ),
        (
            PersonalKind::Name,
            Column::new("x".into(), [1_i64, 2]),
            "i64",
        ),
        (
            PersonalKind::Email,
            Column::new("x".into(), [1.5, 2.5]),
            "f64",
        ),
        (
            PersonalKind::Unknown,
            Column::new("x".into(), [true, false]),
            "bool",
        ),
        (
            PersonalKind::Name,
            Column::new("x".into(), [1, 2])
                .cast(&DataType::Date)
                .unwrap(),
            "date",
        ),
    ];
    for (kind, cells, dtype) in cases {
        let (data, stated) = one(kind, cells);
        let error = untrained(&stated).fit(&data).unwrap_err();
        assert!(
            matches!(error, Error::Table(TableError::DtypeForSdType { .. })),
            "{error}"
        );
        let message = error.to_string();
        assert!(
            message.contains("column `x`")
                && message.contains(kind.name())
                && message.contains(dtype)
                && message.contains("cast the column to String"),
            "{message}"
        );
    }
}

#[test]
fn given_personal_context_comes_back_unchanged() {
    let synthesizer = untrained(&visit_metadata())
        .context_columns(["name", "country"])
        .fit(&visits(9))
        .unwrap();
    let wanted =
        df!("name" => [Some("Ada Lovelace"), None, Some("Żółć")], "k" => ["x", "y", "z"]).unwrap();
    let sampled = synthesizer.sample_sequential_columns(&wanted).unwrap();
    let names = texts(&sampled, "name");
    let found: Vec<Option<String>> = runs(&sampled, &["k"])
        .into_iter()
        .map(|(_, rows)| {
            assert!(
                names[rows.clone()]
                    .iter()
                    .all(|name| *name == names[rows.start])
            );
            names[rows.start].clone()
        })
        .collect();
    let wanted = [Some("Ada Lovelace"), None, Some("Żółć")];
    assert_eq!(found, wanted.map(|name| name.map(str::to_owned)));
}

#[test]
fn a_continued_sequence_keeps_its_name_and_gets_new_nurses() {
    let data = visits(10);
    let synthesizer = untrained(&visit_metadata()).fit(&data).unwrap();
    let frame = synthesizer.continue_sequences(&data, 4).unwrap();
    assert_eq!(frame.height(), 30 + 40);
    let (names, nurses) = (present(&frame, "name"), present(&frame, "nurse"));
    let given = present(&data, "nurse");
    for (number, (key, rows)) in runs(&frame, &["k"]).into_iter().enumerate() {
        assert_eq!(key, [format!("P{number}")]);
        assert!(
            names[rows.clone()]
                .iter()
                .all(|name| *name == format!("Zebulon Quux{number}"))
        );
        assert_eq!(
            nurses[rows.start..rows.start + 3],
            given[number * 3..number * 3 + 3]
        );
        assert!(
            nurses[rows.start + 3..rows.end]
                .iter()
                .all(|nurse| !nurse.starts_with("Nurse"))
        );
    }
}

#[test]
fn value_protection_leaves_made_up_columns_alone() {
    let synthesizer = untrained(&visit_metadata())
        .value_protection(3)
        .fit(&visits(12))
        .unwrap();
    let sampled = sample(&synthesizer, 20);
    assert_eq!(sampled.column("name").unwrap().null_count(), 0);
    let warnings = &synthesizer.report().warnings;
    assert!(
        warnings
            .iter()
            .all(|line| !line.contains("name") && !line.contains("email")),
        "{warnings:?}"
    );
}

#[test]
fn personal_columns_of_a_csv_file_keep_their_digits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.csv");
    std::fs::write(
        &path,
        "k,phone,lat,born\na,0049301,1.5,2001-02-03\nb,,2,1999-12-31\n",
    )
    .unwrap();
    let stated = metadata(
        &["k"],
        &[
            ("k", id()),
            ("phone", personal(PersonalKind::PhoneNumber)),
            ("lat", personal(PersonalKind::Latitude)),
            ("born", personal(PersonalKind::DateOfBirth)),
        ],
    );
    let data = read_csv(&path, &stated).unwrap();
    assert_eq!(texts(&data, "phone"), [Some("0049301".to_owned()), None]);
    assert_eq!(data.column("lat").unwrap().dtype(), &DataType::Float64);
    let synthesizer = untrained(&stated).fit(&data).unwrap();
    assert_eq!(sample(&synthesizer, 5).schema(), data.schema());
}

#[test]
fn a_table_of_one_sequence_without_key_works() {
    let stated = metadata(
        &[],
        &[
            ("name", personal(PersonalKind::Name)),
            ("v", SdType::Numerical),
        ],
    );
    let data = df!("name" => ["Ann Onym"; 6], "v" => [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let synthesizer = untrained(&stated).fit(&data).unwrap();
    let sampled = sample(&synthesizer, 1);
    let names = present(&sampled, "name");
    assert_eq!(distinct(&names).len(), 1);
    assert_ne!(names[0], "Ann Onym");
}

#[test]
fn a_primary_key_of_personal_data_never_repeats() {
    let metadata = Metadata::from_json(
        r#"{"METADATA_SPEC_VERSION": "V1", "tables": {"t": {"columns": {
            "k": {"sdtype": "id"},
            "seat": {"sdtype": "state_abbr", "pii": true},
            "v": {"sdtype": "numerical"}
        }, "sequence_key": "k", "primary_key": "seat"}}}"#,
    )
    .unwrap();
    let data = df!(
        "k" => ["a", "a", "b", "b"],
        "seat" => ["AL", "AK", "AZ", "AR"],
        "v" => [1.0, 2.0, 3.0, 4.0],
    )
    .unwrap();
    let synthesizer = untrained(&metadata).fit(&data).unwrap();
    let seats = present(&sample(&synthesizer, 18), "seat");
    assert_eq!(seats.len(), 36);
    assert_eq!(distinct(&seats).len(), 36);
    let error = synthesizer
        .sample_with(&SampleOptions::sequences(50))
        .unwrap_err();
    assert!(
        error.to_string().contains("sdtype state_abbr has room for"),
        "{error}"
    );
    // Nor after what the model itself has made up.
    let options = SampleOptions::sequences(8).seed(2).length(2);
    let history = synthesizer.sample_with(&options).unwrap();
    let going_on = ContinueOptions::steps(2).seed(2);
    let frame = synthesizer
        .continue_sequences_with(&history, &going_on)
        .unwrap();
    let seats = present(&frame, "seat");
    assert_eq!(seats.len(), 32);
    assert_eq!(distinct(&seats).len(), 32);
}

#[test]
fn a_column_that_has_every_value_of_its_kind_is_told_in_the_report() {
    let stated = metadata(
        &["k"],
        &[("k", id()), ("x", personal(PersonalKind::StateAbbr))],
    );
    let first = df!("k" => ["a"], "x" => ["AL"]).unwrap();
    let few = untrained(&stated).fit(&first).unwrap();
    assert!(few.report().warnings.is_empty());
    // All there are, found by asking for many.
    let sampled = present(&sample(&few, 3000), "x");
    let mut all: Vec<&str> = distinct(&sampled).into_iter().chain(["AL"]).collect();
    all.sort_unstable();
    let keys: Vec<String> = (0..all.len()).map(|row| format!("K{row}")).collect();
    let data = df!("k" => keys, "x" => all).unwrap();
    let synthesizer = untrained(&stated).fit(&data).unwrap();
    let warnings = &synthesizer.report().warnings;
    assert!(
        warnings.len() == 1
            && warnings[0].contains("column `x`")
            && warnings[0].contains("state_abbr"),
        "{warnings:?}"
    );
    let other = untrained(&stated).locales(["en_US", "de_DE"]);
    assert!(other.fit(&data).unwrap().report().warnings.is_empty());
}
