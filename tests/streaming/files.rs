//! What is sampled into a file is what is sampled and then written.

use crate::common::{SEQUENCES, assert_same, context, model, model_with_composite_key, options};
use parsynth::{
    CancelToken, Error, Metadata, ParSynthesizer, SampleOptions, SdType, TableError, read_parquet,
    write_csv,
};
use polars::prelude::*;
use std::path::Path;

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}

#[test]
fn a_parquet_file_holds_the_table_with_its_dtypes() {
    let (model, folder) = (model(), tempfile::tempdir().unwrap());
    let path = folder.path().join("t.parquet");
    let whole = model.sample_with(&options()).unwrap();
    let report = model.sample_to_parquet(&path, &options()).unwrap();
    assert_eq!((report.sequences, report.rows), (SEQUENCES, whole.height()));
    assert!(report.rows_per_second() > 0.0);
    assert_same(&read_parquet(&path).unwrap(), &whole, "one row group");
    // In many row groups.
    let parts = model.sample_in_parts(&options(), 100).unwrap();
    let report = parts.write_parquet(&path).unwrap();
    assert_eq!((report.sequences, report.rows), (SEQUENCES, whole.height()));
    assert_same(&read_parquet(&path).unwrap(), &whole, "many row groups");
    assert_eq!(files(folder.path()), ["t.parquet"]);
}

#[test]
fn a_csv_file_is_byte_for_byte_the_one_of_the_table() {
    let (model, folder) = (model(), tempfile::tempdir().unwrap());
    let (wanted, found) = (folder.path().join("w.csv"), folder.path().join("f.csv"));
    let bytes = |path: &Path| std::fs::read(path).unwrap();
    let whole = model.sample_with(&options()).unwrap();
    write_csv(&whole, &wanted).unwrap();
    let text = String::from_utf8(bytes(&wanted)).unwrap();
    // Quoted text, empty text, text dates and moments are among its cells.
    for part in ["\"class, 1\"", ",\"\",", ",2024-", ",1970-01-01T"] {
        assert!(text.contains(part), "{part}");
    }
    model.sample_to_csv(&found, &options()).unwrap();
    assert_eq!(bytes(&found), bytes(&wanted));
    let parts = model.sample_in_parts(&options(), 100).unwrap();
    let report = parts.write_csv(&found).unwrap();
    assert_eq!((report.sequences, report.rows), (SEQUENCES, whole.height()));
    assert_eq!(bytes(&found), bytes(&wanted));
}

#[test]
fn files_of_context_rows_and_of_ranges_hold_those() {
    let (model, folder) = (model(), tempfile::tempdir().unwrap());
    let path = folder.path().join("t.parquet");
    let options = SampleOptions::default().seed(7);
    let parts = model.sample_sequential_columns_in_parts(&context(), &options, 250);
    parts.unwrap().write_parquet(&path).unwrap();
    let whole = model.sample_sequential_columns_with(&context(), &options);
    assert_same(
        &read_parquet(&path).unwrap(),
        &whole.unwrap(),
        "context rows",
    );
    let range = crate::common::options().sequence_range(100..300);
    let report = model.sample_to_parquet(&path, &range).unwrap();
    assert_eq!(report.sequences, 200);
    let slice = model.sample_with(&range).unwrap();
    assert_same(&read_parquet(&path).unwrap(), &slice, "range");
}

#[test]
fn a_table_without_rows_has_its_columns_in_the_file() {
    let (model, folder) = (model(), tempfile::tempdir().unwrap());
    let path = folder.path().join("t.parquet");
    let none = SampleOptions::sequences(0);
    let report = model.sample_to_parquet(&path, &none).unwrap();
    assert_eq!((report.sequences, report.rows), (0, 0));
    let wanted = model.sample_with(&none).unwrap();
    assert_same(&read_parquet(&path).unwrap(), &wanted, "no sequences");
    let path = folder.path().join("t.csv");
    model.sample_to_csv(&path, &none).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(
        text.starts_with("k,day,") && text.lines().count() == 1,
        "{text}"
    );
}

#[test]
fn what_fails_or_is_cancelled_leaves_no_file_and_keeps_the_one_before() {
    let (model, folder) = (model_with_composite_key(), tempfile::tempdir().unwrap());
    let token = CancelToken::new();
    let cancelled = {
        let token = token.clone();
        options().on_progress(move |_| token.cancel())
    };
    let cancelled = cancelled.cancel_token(token);
    let failing = options().custom_constraint("never", |_| false).max_tries(1);
    let old = folder.path().join("old.csv");
    std::fs::write(&old, "old").unwrap();
    for options in [cancelled, failing] {
        for result in [
            model.sample_to_parquet(folder.path().join("new.parquet"), &options),
            model.sample_to_csv(folder.path().join("new.csv"), &options),
            model.sample_to_csv(&old, &options),
        ] {
            let error = result.unwrap_err();
            assert!(
                matches!(error, Error::Cancelled | Error::Constraint(_)),
                "{error}"
            );
        }
    }
    assert_eq!(files(folder.path()), ["old.csv"]);
    assert_eq!(std::fs::read_to_string(&old).unwrap(), "old");
}

#[test]
fn what_cannot_be_written_is_told_before_it_is_sampled() {
    let (model, folder) = (model(), tempfile::tempdir().unwrap());
    // More than could be sampled while a test waits.
    let endless = SampleOptions::sequences(90_000).length(1_000_000);
    let path = folder.path().join("no such folder").join("t.csv");
    let error = model.sample_to_csv(path, &endless).unwrap_err();
    assert!(
        matches!(error, Error::Table(TableError::WriteFile { .. })),
        "{error}"
    );

    let metadata = Metadata::builder()
        .column("k", crate::common::id())
        .column("effort", SdType::Numerical)
        .sequence_key("k");
    let effort = Series::new("effort".into(), [1_i64, 2, 3, 4]);
    let effort = effort
        .cast(&DataType::Duration(TimeUnit::Milliseconds))
        .unwrap();
    let data = df!("k" => [1, 1, 2, 2], "effort" => effort).unwrap();
    let model = ParSynthesizer::builder(metadata.build().unwrap());
    let model = model.hidden_size(8).epochs(0).fit(&data).unwrap();
    let error = model
        .sample_to_csv(folder.path().join("t.csv"), &endless)
        .unwrap_err();
    assert!(
        matches!(error, Error::Table(TableError::NoCsvForm { .. })),
        "{error}"
    );
    assert!(files(folder.path()).is_empty());
}
