//! Fits from Parquet files of which no frame is ever in memory.

use crate::common::*;
use parsynth::{ParSynthesizerBuilder, SdType, write_parquet};
use polars::prelude::*;
use std::path::Path;

const ROWS: usize = 60;

fn table() -> DataFrame {
    let noise = noise(ROWS);
    let text = |row: usize| (!row.is_multiple_of(7)).then(|| ["low", "high"][row % 2].to_owned());
    let level: Vec<Option<String>> = (0..ROWS).map(text).collect();
    let days: Vec<i32> = (0..ROWS).map(|row| 20_000 + (row % 6) as i32).collect();
    let rounded: Vec<Option<f64>> = noise
        .iter()
        .enumerate()
        .map(|(row, v)| (row % 11 > 0).then_some((v * 100.0).round() / 100.0))
        .collect();
    let mut frame = df!(
        "k" => keys(10, 6),
        "t" => days,
        "town" => (0..ROWS).map(|row| ["here", "there"][row / 6 % 2]).collect::<Vec<_>>(),
        "level" => level,
        "v" => rounded,
    )
    .unwrap();
    let days = frame.column("t").unwrap().cast(&DataType::Date).unwrap();
    frame.with_column(days).unwrap();
    let categories = DataType::from_categories(Categories::global());
    let levels = frame.column("level").unwrap().cast(&categories).unwrap();
    frame.with_column(levels).unwrap();
    frame
}

fn fit_of(epochs: usize) -> ParSynthesizerBuilder {
    builder(&[
        ("k", id()),
        ("t", SdType::Datetime { format: None }),
        ("town", SdType::Categorical),
        ("level", SdType::Categorical),
        ("v", SdType::Numerical),
    ])
    .context_columns(["town"])
    .epochs(epochs)
}

/// Writes every third row to a file of its own, so that each sequence is scattered over all of them.
fn write_parts(frame: &DataFrame, folder: &Path) {
    for part in 0..3 {
        let rows: Vec<IdxSize> = (part..ROWS as IdxSize).step_by(3).collect();
        let rows = frame.take(&IdxCa::from_vec("".into(), rows)).unwrap();
        write_parquet(&rows, folder.join(format!("part-{part}.parquet"))).unwrap();
    }
}

#[test]
fn a_folder_of_files_gives_the_model_of_the_whole_frame() {
    let frame = table();
    let folder = tempfile::tempdir().unwrap();
    write_parts(&frame, folder.path());
    std::fs::write(folder.path().join("read me.txt"), "not a table").unwrap();
    let whole = fit_of(2).fit(&frame).unwrap();
    let in_parts = fit_of(2).fit_parquet(folder.path()).unwrap();
    assert_eq!(in_parts.report().rows, ROWS);
    assert_eq!(in_parts.report().losses, whole.report().losses);
    let (made, wanted) = (sample(&in_parts, 20), sample(&whole, 20));
    assert_eq!(made.schema(), frame.schema());
    assert!(made.equals_missing(&wanted));

    let file = folder.path().join("whole.parquet");
    write_parquet(&frame, &file).unwrap();
    let of_file = fit_of(2).fit_parquet(&file).unwrap();
    assert!(sample(&of_file, 20).equals_missing(&wanted));
}

#[test]
fn files_that_are_no_one_table_are_named_with_the_column() {
    let error = |path: &Path| {
        let error = fit_of(0).fit_parquet(path).unwrap_err();
        let cause = std::error::Error::source(&error).map_or(String::new(), |e| e.to_string());
        format!("{error}: {cause}")
    };
    let folder = tempfile::tempdir().unwrap();
    assert!(error(folder.path()).contains("no file whose name ends in .parquet"));
    assert!(error(&folder.path().join("not there.parquet")).contains("not there.parquet"));

    let frame = table();
    write_parts(&frame, folder.path());
    let mut other = frame.clone();
    let narrow = other.column("v").unwrap().cast(&DataType::Float32).unwrap();
    other.with_column(narrow).unwrap();
    write_parquet(&other, folder.path().join("part-3.parquet")).unwrap();
    let text = error(folder.path());
    for part in ["part-3.parquet", "`v`", "f32", "f64", "part-0.parquet"] {
        assert!(text.contains(part), "{part} is not in: {text}");
    }
    write_parquet(
        &frame.drop("v").unwrap(),
        folder.path().join("part-3.parquet"),
    )
    .unwrap();
    assert!(error(folder.path()).contains("column `v` is not there"));
    std::fs::write(
        folder.path().join("part-3.parquet"),
        b"PAR1 and no more PAR1",
    )
    .unwrap();
    assert!(error(folder.path()).contains("part-3.parquet"));

    let folder = tempfile::tempdir().unwrap();
    write_parts(&frame.drop("level").unwrap(), folder.path());
    assert!(error(folder.path()).contains("`level`"));
}

#[test]
fn rows_of_errors_are_counted_through_all_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut frame = table();
    write_parquet(&frame, folder.path().join("a.parquet")).unwrap();
    let towns: Vec<&str> = (0..ROWS)
        .map(|row| if row == 1 { "elsewhere" } else { "here" })
        .collect();
    frame
        .with_column(Column::new("town".into(), towns))
        .unwrap();
    let keys: Vec<i64> = keys(10, 6).iter().map(|key| key + 100).collect();
    frame.with_column(Column::new("k".into(), keys)).unwrap();
    write_parquet(&frame, folder.path().join("b.parquet")).unwrap();
    let error = fit_of(0)
        .fit_parquet(folder.path())
        .unwrap_err()
        .to_string();
    assert!(error.contains("`town`") && error.contains("61"), "{error}");
}

#[test]
fn a_file_whose_cells_of_a_column_are_all_missing_may_have_no_dtype_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut frame = table();
    write_parquet(&frame, folder.path().join("b.parquet")).unwrap();
    let nothing = Column::full_null("v".into(), ROWS, &DataType::Null);
    frame.with_column(nothing).unwrap();
    write_parquet(&frame, folder.path().join("a.parquet")).unwrap();
    let model = fit_of(0).fit_parquet(folder.path()).unwrap();
    let synthetic = model.sample(3).unwrap();
    assert_eq!(synthetic.column("v").unwrap().dtype(), &DataType::Float64);
}
