//! A sequence key of several columns, end to end.

use crate::common::{
    distinct, id, id_like, metadata, personal, present, runs, sample, texts, thrice, untrained,
};
use parsynth::{
    Error, EvaluationOptions, Metadata, MetadataError, ParSynthesizer, PersonalKind, SampleOptions,
    SdType, TableError, evaluate_with, read_csv,
};
use polars::prelude::*;
use std::collections::HashSet;

/// Clinics number their patients from 1 each; rows come mixed up.
fn patients() -> DataFrame {
    let rows: Vec<usize> = (0..3).flat_map(|_| 0..24).collect();
    df!(
        "clinic" => rows.iter().map(|s| ["north", "south", "west"][s % 3]).collect::<Vec<_>>(),
        "v" => (0..rows.len()).map(|row| row as f64).collect::<Vec<_>>(),
        "patient" => rows.iter().map(|s| (s / 3 + 1) as i64).collect::<Vec<_>>(),
    )
    .unwrap()
}

fn patient_metadata() -> Metadata {
    metadata(
        &["clinic", "patient"],
        &[
            ("clinic", SdType::Categorical),
            ("v", SdType::Numerical),
            ("patient", id()),
        ],
    )
}

fn keys(frame: &DataFrame, columns: &[&str]) -> Vec<Vec<String>> {
    runs(frame, columns)
        .into_iter()
        .map(|(key, _)| key)
        .collect()
}

fn assert_all_differ(keys: &[Vec<String>]) {
    let different: HashSet<&Vec<String>> = keys.iter().collect();
    assert_eq!(different.len(), keys.len());
}

#[test]
fn rows_that_agree_in_all_key_columns_are_one_sequence() {
    let synthesizer = untrained(&patient_metadata()).fit(&patients()).unwrap();
    let report = synthesizer.report();
    assert_eq!(report.training_sequences + report.validation_sequences, 24);
    let sampled = sample(&synthesizer, 50);
    assert_eq!(sampled.schema(), patients().schema());
    let sampled_keys = keys(&sampled, &["clinic", "patient"]);
    assert_eq!(sampled_keys.len(), 50);
    assert_all_differ(&sampled_keys);
    let clinics = present(&sampled, "clinic");
    assert_eq!(
        distinct(&clinics),
        HashSet::from(["north", "south", "west"])
    );
    // Every sequence of training has three rows.
    assert!(
        runs(&sampled, &["clinic", "patient"])
            .iter()
            .all(|(_, rows)| rows.len() == 3)
    );
    let real: HashSet<Vec<String>> = keys(&patients(), &["clinic", "patient"])
        .into_iter()
        .collect();
    assert!(sampled_keys.iter().all(|key| !real.contains(key)));
}

#[test]
fn first_and_last_name_together_tell_sequences_apart() {
    let rows = thrice(40);
    let data = df!(
        "first" => rows.iter().map(|s| ["Ada", "Ben", "Cleo", "Dan"][s % 4]).collect::<Vec<_>>(),
        "last" => rows.iter().map(|s| format!("Last{}", s / 4)).collect::<Vec<_>>(),
        "v" => vec![1.5; 120],
    )
    .unwrap();
    let stated = metadata(
        &["first", "last"],
        &[
            ("first", personal(PersonalKind::FirstName)),
            ("last", personal(PersonalKind::LastName)),
            ("v", SdType::Numerical),
        ],
    );
    let synthesizer = untrained(&stated).fit(&data).unwrap();
    let report = synthesizer.report();
    assert_eq!(report.training_sequences + report.validation_sequences, 40);
    let sampled = sample(&synthesizer, 600);
    let sampled_keys = keys(&sampled, &["first", "last"]);
    assert_eq!(sampled_keys.len(), 600);
    assert_all_differ(&sampled_keys);
    let firsts = present(&sampled, "first");
    assert!(!distinct(&firsts).contains("Ada"));
    // One first name may be many people's.
    assert!(distinct(&firsts).len() < 600);
}

#[test]
fn categories_alone_are_made_up_as_ids() {
    let data =
        df!("a" => ["x", "x", "y", "y"], "b" => [1_i64, 2, 1, 2], "v" => [1.0, 2.0, 3.0, 4.0])
            .unwrap();
    let stated = metadata(
        &["a", "b"],
        &[
            ("a", SdType::Categorical),
            ("b", SdType::Categorical),
            ("v", SdType::Numerical),
        ],
    );
    let synthesizer = untrained(&stated).fit(&data).unwrap();
    let sampled = sample(&synthesizer, 20);
    assert_all_differ(&keys(&sampled, &["a", "b"]));
    assert_eq!(sampled.schema(), data.schema());
    for column in ["a", "b"] {
        let (real, made) = (present(&data, column), present(&sampled, column));
        assert!(distinct(&real).is_disjoint(&distinct(&made)), "{column}");
    }
}

#[test]
fn personal_keys_that_run_out_are_an_error_beside_drawn_ones_they_last_longer() {
    let rows = thrice(12);
    let data = df!(
        "site" => rows.iter().map(|s| ["a", "b", "c"][s % 3]).collect::<Vec<_>>(),
        "state" => rows.iter().map(|s| ["AL", "AK", "AZ", "AR"][s / 3]).collect::<Vec<_>>(),
        "v" => vec![1.5; 36],
    )
    .unwrap();
    let stated = |keys: &[&str]| {
        metadata(
            keys,
            &[
                ("site", SdType::Categorical),
                ("state", personal(PersonalKind::StateAbbr)),
                ("v", SdType::Numerical),
            ],
        )
    };
    let both = untrained(&stated(&["state", "site"])).fit(&data).unwrap();
    assert_all_differ(&keys(&sample(&both, 70), &["site", "state"]));
    let alone = untrained(&stated(&["state"])).fit(&data).unwrap();
    assert_all_differ(&keys(&sample(&alone, 30), &["state"]));
    // Where training has every value there is, a key could only be one of training.
    let all: Vec<String> = keys(&sample(&alone, 45), &["state"])
        .into_iter()
        .flatten()
        .chain(["AL", "AK", "AZ", "AR"].map(str::to_owned))
        .collect();
    let values = vec![1.5; all.len()];
    let sites = vec!["a"; all.len()];
    let every = df!("site" => sites, "state" => all, "v" => values).unwrap();
    let full = untrained(&stated(&["state"])).fit(&every).unwrap();
    let made = full.sample_with(&SampleOptions::sequences(3).seed(1));
    if let Ok(frame) = made {
        let real = present(&every, "state");
        assert!(distinct(&real).is_disjoint(&distinct(&present(&frame, "state"))));
    }
    let error = alone
        .sample_with(&SampleOptions::sequences(70).seed(1))
        .unwrap_err();
    assert!(matches!(error, Error::Identifier(_)), "{error}");
    assert!(
        error.to_string().contains("sequence key `state`")
            && error.to_string().contains("70 are wanted"),
        "{error}"
    );
}

#[test]
fn given_keys_come_back_and_half_a_key_is_an_error() {
    let synthesizer = untrained(&patient_metadata()).fit(&patients()).unwrap();
    let wanted = df!("patient" => [5_i64, 5, 7], "clinic" => ["west", "north", "west"]).unwrap();
    let sampled = synthesizer.sample_sequential_columns(&wanted).unwrap();
    assert_eq!(
        keys(&sampled, &["clinic", "patient"]),
        [["west", "5"], ["north", "5"], ["west", "7"]]
    );
    let alone = df!("clinic" => ["west", "west"]).unwrap();
    let sampled = synthesizer.sample_sequential_columns(&alone).unwrap();
    assert_all_differ(&keys(&sampled, &["clinic", "patient"]));
    assert_eq!(
        distinct(&present(&sampled, "clinic")),
        HashSet::from(["west"])
    );
    let half = df!("patient" => [5_i64]).unwrap();
    let error = synthesizer.sample_sequential_columns(&half).unwrap_err();
    assert!(
        matches!(&error, Error::IncompleteKey { missing, .. } if missing == "clinic"),
        "{error}"
    );
    let twice = df!("patient" => [5_i64, 6, 5], "clinic" => ["west", "west", "west"]).unwrap();
    let error = synthesizer.sample_sequential_columns(&twice).unwrap_err();
    assert_eq!(
        error.to_string(),
        "sequence key column `clinic`, `patient`, row 2: `west`, `5` was given before; keys must differ"
    );
    let none = df!("patient" => [5_i64, 6], "clinic" => [Some("west"), None]).unwrap();
    let error = synthesizer.sample_sequential_columns(&none).unwrap_err();
    assert!(
        matches!(&error, Error::Table(TableError::MissingRole { column, row: 1, .. }) if column == "clinic"),
        "{error}"
    );
}

#[test]
fn a_missing_part_of_a_key_is_an_error_with_its_row() {
    let data =
        df!("clinic" => ["a", "a"], "v" => [1.0, 2.0], "patient" => [Some(1_i64), None]).unwrap();
    let error = untrained(&patient_metadata()).fit(&data).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column `patient`, row 1: the sequence key is missing; every row needs one"
    );
}

#[test]
fn impossible_parts_of_a_key_are_refused_by_column() {
    let base = || {
        Metadata::builder()
            .column("a", id())
            .column("b", SdType::Numerical)
            .column("c", SdType::Categorical)
    };
    let error = base().sequence_key_columns(["a", "a"]).build().unwrap_err();
    assert!(matches!(&error, MetadataError::RepeatedKeyColumn { column } if column == "a"));
    let error = base()
        .sequence_key_columns(["a", "b"])
        .sequence_index("b")
        .build()
        .unwrap_err();
    assert!(
        matches!(&error, MetadataError::TwoRoles { column, .. } if column == "b"),
        "{error}"
    );
    let error = base().sequence_key_columns(["a", "d"]).build().unwrap_err();
    assert!(error.to_string().contains("`d`"), "{error}");
    let stated = base().sequence_key_columns(["a", "c"]).build().unwrap();
    let data = df!("a" => [1_i64], "b" => [1.0], "c" => ["x"]).unwrap();
    let error = untrained(&stated)
        .context_columns(["c"])
        .fit(&data)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "column `c` cannot be both sequence key and context column"
    );
}

#[test]
fn continuation_and_likelihood_go_by_the_whole_key() {
    let data = patients();
    let synthesizer = untrained(&patient_metadata()).fit(&data).unwrap();
    let frame = synthesizer.continue_sequences(&data, 2).unwrap();
    assert_eq!(frame.height(), 72 + 48);
    let found = runs(&frame, &["clinic", "patient"]);
    assert_eq!(found.len(), 24);
    assert!(found.iter().all(|(_, rows)| rows.len() == 5));
    assert_eq!(found[0].0, ["north", "1"]);
    assert_eq!(found[1].0, ["south", "1"]);
    let likelihood = synthesizer.log_likelihood(&data).unwrap();
    let sequences = likelihood.sequences();
    assert_eq!(sequences.height(), 24);
    assert_eq!(
        present(sequences, "clinic")[..4],
        ["north", "south", "west", "north"]
    );
    assert_eq!(present(sequences, "patient")[..4], ["1", "1", "1", "2"]);
}

#[test]
fn a_report_counts_keys_by_all_their_columns() {
    let data = patients();
    let options = EvaluationOptions::new();
    let same = evaluate_with(&data, &data, None, &patient_metadata(), &options).unwrap();
    assert_eq!(same.privacy.reused_keys, Some(1.0));
    // The same numbers in another clinic are other patients.
    let mut moved = data.clone();
    let clinics = data.column("clinic").unwrap().str().unwrap().iter();
    let clinics: Vec<String> = clinics
        .map(|clinic| format!("{}2", clinic.unwrap()))
        .collect();
    moved
        .with_column(Column::new("clinic".into(), clinics))
        .unwrap();
    let other = evaluate_with(&data, &moved, None, &patient_metadata(), &options).unwrap();
    assert_eq!(other.privacy.reused_keys, Some(0.0));
    let synthesizer = untrained(&patient_metadata()).fit(&data).unwrap();
    let sampled = sample(&synthesizer, 24);
    let report = evaluate_with(&data, &sampled, None, &patient_metadata(), &options).unwrap();
    assert_eq!(report.privacy.reused_keys, Some(0.0));
}

#[test]
fn protection_hides_a_rare_part_of_a_key_that_is_drawn() {
    let mut rows = thrice(12);
    rows.extend([12; 3]);
    let data = df!(
        "clinic" => rows.iter().map(|&s| if s == 12 { "rare" } else { ["a", "b"][s % 2] }).collect::<Vec<_>>(),
        "v" => rows.iter().map(|&s| s as f64).collect::<Vec<_>>(),
        "patient" => rows.iter().map(|&s| s as i64).collect::<Vec<_>>(),
    )
    .unwrap();
    let synthesizer = untrained(&patient_metadata())
        .value_protection(2)
        .fit(&data)
        .unwrap();
    let clinics = present(&sample(&synthesizer, 200), "clinic");
    assert_eq!(distinct(&clinics), HashSet::from(["a", "b"]));
}

#[test]
fn a_loaded_model_keeps_its_key() {
    let synthesizer = untrained(&patient_metadata()).fit(&patients()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.parsynth");
    synthesizer.save(&path).unwrap();
    let loaded = ParSynthesizer::load(&path).unwrap();
    assert!(sample(&loaded, 20).equals_missing(&sample(&synthesizer, 20)));
    assert_eq!(loaded.metadata().sequence_key(), ["clinic", "patient"]);
}

#[test]
fn numbers_and_dates_may_be_parts_of_a_key() {
    let rows = thrice(15);
    let data = df!(
        "ward" => rows.iter().map(|s| (s % 5) as f64 / 2.0).collect::<Vec<_>>(),
        "code" => rows.iter().map(|s| format!("C{s:03}")).collect::<Vec<_>>(),
        "v" => vec![1.5; 45],
    )
    .unwrap();
    let admitted = rows.iter().map(|s| 19_000 + *s as i32).collect::<Vec<_>>();
    let admitted = Column::new("admitted".into(), admitted)
        .cast(&DataType::Date)
        .unwrap();
    let mut data = data;
    data.with_column(admitted).unwrap();
    let stated = metadata(
        &["ward", "admitted", "code"],
        &[
            ("ward", SdType::Numerical),
            ("code", id_like("C[0-9]{3}")),
            ("v", SdType::Numerical),
            ("admitted", SdType::Datetime { format: None }),
        ],
    );
    let synthesizer = untrained(&stated).fit(&data).unwrap();
    let report = synthesizer.report();
    assert_eq!(report.training_sequences + report.validation_sequences, 15);
    let sampled = sample(&synthesizer, 100);
    assert_eq!(sampled.schema(), data.schema());
    assert_all_differ(&keys(&sampled, &["code"]));
    let wards = texts(&sampled, "ward");
    assert!(
        wards
            .iter()
            .all(|ward| ["0.0", "0.5", "1.0", "1.5", "2.0"].contains(&ward.as_deref().unwrap()))
    );
}

#[test]
fn a_context_column_that_varies_names_the_whole_key() {
    let stated = metadata(
        &["clinic", "patient"],
        &[
            ("clinic", SdType::Categorical),
            ("patient", id()),
            ("sex", SdType::Categorical),
        ],
    );
    let data = df!(
        "clinic" => ["a", "a", "b", "b"],
        "patient" => [1_i64, 2, 1, 1],
        "sex" => ["f", "m", "f", "m"],
    )
    .unwrap();
    let error = untrained(&stated)
        .context_columns(["sex"])
        .fit(&data)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "context column `sex` is not constant in the sequence `b`, `1`: rows 2 and 3 differ"
    );
}

#[test]
fn a_csv_file_keeps_the_zeros_of_made_up_keys_and_reads_drawn_ones_as_stated() {
    let stated = metadata(
        &["ward", "code"],
        &[
            ("ward", SdType::Numerical),
            ("code", id()),
            ("v", SdType::Numerical),
        ],
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.csv");
    std::fs::write(&path, "ward,code,v\n1,007,1\n2,007,2\n2,008,3\n").unwrap();
    let data = read_csv(&path, &stated).unwrap();
    assert_eq!(data.column("ward").unwrap().dtype(), &DataType::Int64);
    assert_eq!(present(&data, "code"), ["007", "007", "008"]);
    let synthesizer = untrained(&stated).fit(&data).unwrap();
    let report = synthesizer.report();
    assert_eq!(report.training_sequences + report.validation_sequences, 3);
    assert_eq!(sample(&synthesizer, 5).schema(), data.schema());
}
