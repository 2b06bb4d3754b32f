//! What is stated is checked, dates keep their format, files come back as they were, losses are told.

use super::common::*;
use parsynth::{
    Device, Error, Metadata, MetadataError, SdType, Stage, TableError, read_csv, read_parquet,
    write_csv, write_parquet,
};
use polars::prelude::*;

#[test]
fn each_misstatement_has_an_error_of_its_own() {
    assert!(matches!(
        Metadata::builder().build(),
        Err(MetadataError::NoColumns)
    ));
    let text = r#"{"METADATA_SPEC_VERSION": "SINGLE_TABLE_V1",
        "columns": {"k": {"sdtype": "id"}, "t": {"sdtype": "numerical"}}, "sequnce_index": "t"}"#;
    let error = Metadata::from_json(text).unwrap_err();
    assert!(matches!(error, MetadataError::UnknownField { .. }));
    assert!(
        error.to_string().contains("did you mean `sequence_index`"),
        "{error}"
    );
    let error = Metadata::builder()
        .column("day", SdType::Numerical)
        .sequence_index("dya")
        .build()
        .unwrap_err();
    assert!(error.to_string().contains("did you mean `day`"), "{error}");
    let error = Metadata::builder()
        .column("sex", SdType::Categorical)
        .sequence_index("sex")
        .build()
        .unwrap_err();
    assert!(
        error.to_string().contains("`sex`") && error.to_string().contains("categorical"),
        "{error}"
    );
}

#[test]
fn without_a_key_the_table_is_one_sequence() {
    let stated = Metadata::builder()
        .column("t", SdType::Numerical)
        .column("v", SdType::Numerical)
        .sequence_index("t")
        .build()
        .unwrap();
    let data = df!("t" => [0_i64, 1, 2, 3], "v" => [1.5, 2.5, 1.5, 0.5]).unwrap();
    let sampled = sample(&fit(&data, &stated, 1), 1);
    assert_eq!(shape(&sampled), shape(&data));
    assert_eq!(sampled.height(), 4);
}

#[test]
fn data_that_does_not_fit_the_statement_is_an_error_by_column_and_remedy() {
    let stated = metadata(&[("v", SdType::Numerical), ("d", datetime())]);
    let message = |data: DataFrame| tiny(&stated, 0).fit(&data).unwrap_err().to_string();
    let text = message(df!("k" => ["a"], "v" => ["1"], "d" => ["2020-01-01"]).unwrap());
    assert!(
        text.contains("`v`") && text.contains("cast the column to a number"),
        "{text}"
    );
    let number = message(df!("k" => ["a"], "v" => [1.0], "d" => [20_230_623_i64]).unwrap());
    assert!(
        number.contains("`d`") && number.contains("datetime_format"),
        "{number}"
    );
}

#[test]
fn dates_as_digits_and_as_text_come_back_in_their_format() {
    let data = df!(
        "k" => ["a", "a", "b", "b"],
        "d" => [20_230_623_i64, 20_210_405, 20_220_101, 20_211_231],
        "e" => ["Jun 26, 2021", "Jul 04, 2021", "Dec 31, 2020", "Jan 01, 2021"],
        "t" => [20_210_101_i32, 20_210_102, 20_210_105, 20_210_106],
    )
    .unwrap();
    let stated = metadata(&[
        ("d", dated("%Y%m%d")),
        ("e", dated("%b %d, %Y")),
        ("t", dated("%Y%m%d")),
    ]);
    let sampled = sample_of_length(&fit(&data, &stated, 1), 10, 6);
    assert_eq!(shape(&sampled), shape(&data));
    let year = |digits: &i64| digits / 10_000;
    assert!(
        wholes(&sampled, "d")
            .iter()
            .all(|d| (2021..=2023).contains(&year(d)))
    );
    assert!(wholes(&sampled, "t").iter().all(|t| year(t) == 2021));
    for e in texts(&sampled, "e").iter().flatten() {
        let date = chrono::NaiveDate::parse_from_str(e, "%b %d, %Y").unwrap();
        assert_eq!(date.format("%b %d, %Y").to_string(), *e);
    }
    assert!(gaps(&sampled).concat().iter().all(|&gap| gap > 0));
}

#[test]
fn a_date_that_misses_its_format_is_an_error_with_its_row() {
    let stated = metadata(&[("e", dated("%b %d, %Y"))]);
    let data =
        df!("k" => ["a", "a", "b"], "e" => ["Jun 26, 2021", "Jul 04, 2021", "2021-07-05"]).unwrap();
    let error = tiny(&stated, 0).fit(&data).unwrap_err();
    assert!(
        matches!(error, Error::Table(TableError::DateFormat { row: 2, .. })),
        "{error}"
    );
    assert!(error.to_string().contains("`e`"), "{error}");
}

#[test]
fn csv_columns_are_read_by_all_their_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wide.csv");
    let write = |last: &str| {
        let mut text = "k,b,name\n".to_owned();
        for row in 0..150 {
            text.push_str(&format!("a,{row},12345678901234567890\n"));
        }
        text.push_str(&format!("b,{last},00000000000000000001\n"));
        std::fs::write(&path, text).unwrap();
    };
    let stated = metadata(&[("b", SdType::Numerical), ("name", id())]);
    write("2.1");
    let data = read_csv(&path, &stated).unwrap();
    assert_eq!(data.column("b").unwrap().dtype(), &DataType::Float64);
    assert_eq!(present(&data, "b")[150], 2.1);
    assert_eq!(
        texts(&data, "name")[0].as_deref(),
        Some("12345678901234567890")
    );
    assert_eq!(
        texts(&data, "name")[150].as_deref(),
        Some("00000000000000000001")
    );
    write("much");
    let error = read_csv(&path, &stated).unwrap_err();
    assert!(
        matches!(&error, TableError::CsvCell { line: 152, column, .. } if column == "b"),
        "{error}"
    );
}

#[test]
fn null_and_the_empty_text_stay_apart_in_files() {
    let folder = tempfile::tempdir().unwrap();
    let stated = metadata(&[("s", SdType::Categorical)]);
    let data = df!("k" => ["x", "x", "y"], "s" => [Some("a"), None, Some("")]).unwrap();
    let path = folder.path().join("s.csv");
    write_csv(&data, &path).unwrap();
    assert_same(&read_csv(&path, &stated).unwrap(), &data);
    let path = folder.path().join("s.parquet");
    write_parquet(&data, &path).unwrap();
    assert_same(&read_parquet(&path).unwrap(), &data);
    // And in a model.
    let sampled = sample(&fit(&data, &stated, 0), 60);
    assert_eq!(distinct(&sampled, "s"), distinct(&data, "s"));
}

#[test]
fn losses_come_back_by_epoch_and_column_with_held_out_ones() {
    let mut random = Random::new(64);
    let v: Vec<f64> = (0..120).map(|_| random.normal()).collect();
    let c: Vec<&str> = (0..120).map(|row| ["a", "b"][row % 2]).collect();
    let t: Vec<i64> = (0..120).map(|row| row % 6).collect();
    let data = frame(vec![
        keys(&[6; 20]),
        Column::new("t".into(), t),
        Column::new("v".into(), v),
        Column::new("c".into(), c),
    ]);
    let stated = metadata(&[
        ("t", SdType::Numerical),
        ("v", SdType::Numerical),
        ("c", SdType::Categorical),
    ]);
    let synthesizer = fit(&data, &stated, 10);
    let report = synthesizer.report();
    assert_eq!(
        (report.training_sequences, report.validation_sequences),
        (18, 2)
    );
    for stage in [Stage::Context, Stage::Sequence] {
        let losses: Vec<_> = report
            .losses
            .iter()
            .filter(|loss| loss.stage == stage)
            .collect();
        let epochs: Vec<usize> = losses.iter().map(|loss| loss.epoch).collect();
        assert_eq!(epochs, (1..=10).collect::<Vec<_>>());
        assert!(losses.last().unwrap().validation_nats.is_some());
        for loss in losses {
            let total: f64 = loss
                .training_nats_per_column
                .iter()
                .map(|(_, nats)| nats)
                .sum();
            assert!((total - loss.training_nats).abs() < 1e-9); // f64 sums of a few columns
            if let (Some(total), Some(columns)) =
                (loss.validation_nats, &loss.validation_nats_per_column)
            {
                let sum: f64 = columns.iter().map(|(_, nats)| nats).sum();
                assert!((sum - total).abs() < 1e-9);
            }
        }
    }
    let last = report
        .losses
        .iter()
        .rfind(|loss| loss.stage == Stage::Sequence)
        .unwrap();
    let names: Vec<&str> = last
        .training_nats_per_column
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, ["(gap)", "v", "c"]);
    // The loss says something: two categories cost at most a coin's nats, and the gap is certain.
    let first = report
        .losses
        .iter()
        .find(|loss| loss.stage == Stage::Sequence)
        .unwrap();
    assert!(last.training_nats < first.training_nats);
    assert!(report.kept_epoch >= 1 && report.kept_epoch <= 10);
}

#[test]
fn a_gpu_that_cannot_be_used_is_an_error_with_the_cause() {
    let data = df!("k" => ["a"], "v" => [1.0]).unwrap();
    let error = tiny(&metadata(&[("v", SdType::Numerical)]), 0)
        .device(Device::Cuda(99)) // no machine has so many, wherever this runs
        .fit(&data)
        .unwrap_err();
    let Error::Device { reason, .. } = &error else {
        panic!("{error}");
    };
    let causes = ["CPU-only libtorch", "finds no GPU", "fewer GPUs"];
    assert!(causes.iter().any(|cause| reason.contains(cause)), "{error}");
}
