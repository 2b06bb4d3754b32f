//! Keys and ids: made up in the dtype and style of the real ones, never copied from them.

use crate::common::*;
use SdType::{Categorical, Numerical};
use parsynth::{Error, Metadata, MetadataError, ParSynthesizer, SdType, TableError, read_csv};
use polars::prelude::*;
use std::collections::BTreeSet;

#[test]
fn text_keys_come_back_as_text_whatever_sdtype_they_are_stated_with() {
    let data = df!(
        "k" => ["AAPL", "AAPL", "MSFT", "MSFT", "GOOG", "GOOG"],
        "t" => [0, 1, 0, 1, 0, 1],
        "v" => [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    )
    .unwrap();
    for sdtype in [id(), Categorical] {
        let metadata = metadata(
            &[("k", sdtype), ("t", Numerical), ("v", Numerical)],
            Some("k"),
            Some("t"),
        );
        let synthesizer = ParSynthesizer::builder(metadata)
            .seed(1)
            .epochs(1)
            .fit(&data)
            .unwrap();
        let synthetic = sampled(&synthesizer, 10);
        assert_eq!(shape(&synthetic), shape(&data));
        let keys: BTreeSet<String> = texts(&synthetic, "k").into_iter().flatten().collect();
        assert_eq!(keys.len(), 10);
        assert!(
            ["AAPL", "MSFT", "GOOG"]
                .iter()
                .all(|real| !keys.contains(*real))
        );
    }
}

#[test]
fn leading_zeros_of_codes_survive_a_csv_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("codes.csv");
    std::fs::write(
        &path,
        "k,code,v\n007,0870,1\n007,0123,2\n008,1111,3\n008,0870,4\n",
    )
    .unwrap();
    let pattern = SdType::Id {
        regex_format: Some("[0-9]{3}".to_owned()),
    };
    let metadata = metadata(
        &[
            ("k", pattern.clone()),
            ("code", Categorical),
            ("v", Numerical),
        ],
        Some("k"),
        None,
    );
    let data = read_csv(&path, &metadata).unwrap();
    assert_eq!(texts(&data, "code")[0].as_deref(), Some("0870"));
    assert_eq!(data.column("code").unwrap().dtype(), &DataType::String);
    let synthesizer = ParSynthesizer::builder(metadata.clone())
        .seed(1)
        .epochs(1)
        .fit(&data)
        .unwrap();
    let synthetic = sampled(&synthesizer, 50);
    for code in texts(&synthetic, "code") {
        assert!(["0870", "0123", "1111"].contains(&code.unwrap().as_str()));
    }
    for key in texts(&synthetic, "k").into_iter().flatten() {
        assert!(
            key.len() == 3 && key.bytes().all(|byte| byte.is_ascii_digit()),
            "{key}"
        );
    }
    // Elsewhere read as numbers, the key cannot match its pattern any more.
    let as_numbers = df!("k" => [7, 7, 8, 8], "code" => ["a"; 4], "v" => [1, 2, 3, 4]).unwrap();
    let error = ParSynthesizer::builder(metadata)
        .fit(&as_numbers)
        .unwrap_err();
    assert!(
        matches!(&error, Error::Table(TableError::PatternConflict { column, .. }) if column == "k"),
        "{error}"
    );
}

#[test]
fn a_key_of_two_columns_tells_sequences_apart_by_both() {
    let json = r#"{
        "METADATA_SPEC_VERSION": "SINGLE_TABLE_V1",
        "columns": {"first": {"sdtype": "id"}, "last": {"sdtype": "id"}, "v": {"sdtype": "numerical"}},
        "sequence_key": ["first", "last"]
    }"#;
    let metadata = Metadata::from_json(json).unwrap();
    let data = df!(
        "first" => ["Ada", "Ada", "Ada", "Ben"],
        "last" => ["Gray", "Gray", "Hill", "Gray"],
        "v" => [1.0, 2.0, 3.0, 4.0],
    )
    .unwrap();
    let synthesizer = ParSynthesizer::builder(metadata)
        .epochs(0)
        .fit(&data)
        .unwrap();
    let report = synthesizer.report();
    assert_eq!(report.training_sequences + report.validation_sequences, 3);
    let sampled = synthesizer.sample(20).unwrap();
    assert_eq!(sampled.schema(), data.schema());
    let keys = sampled.select(["first", "last"]).unwrap();
    let distinct = keys.unique_stable(None, UniqueKeepStrategy::First, None);
    assert_eq!(distinct.unwrap().height(), 20);
}

#[test]
fn impossible_roles_are_refused_with_the_column_and_both_roles() {
    let stated = |key: &str, index: &str| {
        Metadata::builder()
            .column("A", id())
            .column("B", datetime())
            .column("C", Numerical)
            .sequence_key(key)
            .sequence_index(index)
            .build()
    };
    let error = stated("B", "B").unwrap_err();
    assert!(
        matches!(
            &error,
            MetadataError::TwoRoles { column, first: "sequence_key", second: "sequence_index" } if column == "B"
        ),
        "{error}"
    );
    let error = stated("A", "A").unwrap_err();
    assert!(error.to_string().contains("`A`"), "{error}");
    let error = stated("D", "B").unwrap_err();
    assert!(error.to_string().contains("`D`"), "{error}");

    let json = r#"{
        "METADATA_SPEC_VERSION": "SINGLE_TABLE_V1",
        "columns": {"A": {"sdtype": "id"}, "B": {"sdtype": "datetime"}, "C": {"sdtype": "numerical"}},
        "sequence_key": "A", "sequence_index": "B", "primary_key": "A"
    }"#;
    let told = told(&Metadata::from_json(json).unwrap_err());
    assert!(
        ["`A`", "sequence_key", "primary_key"]
            .iter()
            .all(|word| told.contains(word)),
        "{told}"
    );

    // Context columns are stated at the fit, before any training.
    let dates = Series::new("B".into(), [1_i32, 2])
        .cast(&DataType::Date)
        .unwrap();
    let data = df!("A" => ["a", "b"], "B" => dates, "C" => [1.0, 2.0]).unwrap();
    for (column, role) in [("A", "sequence key"), ("B", "sequence index")] {
        let error = ParSynthesizer::builder(stated("A", "B").unwrap())
            .context_columns([column])
            .fit(&data)
            .unwrap_err();
        let told = error.to_string();
        assert!(
            [column, role, "context"]
                .iter()
                .all(|word| told.contains(word)),
            "{told}"
        );
    }
}

#[test]
fn no_key_of_the_training_data_appears_in_a_sample() {
    let k: Vec<i64> = (900_001..=900_009).flat_map(|key| [key; 2]).collect();
    let data = df!("k" => &k, "v" => (0..18).map(f64::from).collect::<Vec<_>>()).unwrap();
    let synthesizer = keyed(&[("v", Numerical)]).epochs(1).fit(&data).unwrap();
    for sequences in [9, 2_000] {
        let synthetic = sampled(&synthesizer, sequences);
        assert_eq!(shape(&synthetic), shape(&data));
        let keys: BTreeSet<i64> = numbers(&synthetic, "k")
            .into_iter()
            .map(|key| key as i64)
            .collect();
        assert_eq!(keys.len(), sequences, "keys differ from each other");
        assert!(keys.iter().all(|key| !k.contains(key)));
    }
}

#[test]
fn a_table_of_nothing_but_ids_fits_and_samples() {
    let data =
        df!("k" => ["a1", "a1", "b2", "c3"], "name" => ["x-1", "x-2", "x-3", "x-4"]).unwrap();
    let synthesizer = keyed(&[("name", id())]).epochs(3).fit(&data).unwrap();
    assert_eq!(
        synthesizer.report().epochs,
        0,
        "the rows hold nothing to learn"
    );
    let synthetic = sampled(&synthesizer, 10);
    assert_eq!(shape(&synthetic), shape(&data));
    let names: BTreeSet<String> = texts(&synthetic, "name").into_iter().flatten().collect();
    assert_eq!(names.len(), synthetic.height());
    assert!(
        ["x-1", "x-2", "x-3", "x-4"]
            .iter()
            .all(|real| !names.contains(*real))
    );
    // Lengths are learned all the same.
    assert!(
        sequences(&synthetic, "k")
            .iter()
            .all(|rows| (1..=2).contains(&rows.len()))
    );
}
