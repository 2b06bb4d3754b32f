//! Tables that are kept in files while they are learned from.

use crate::common::*;
use parsynth::{CancelToken, Constraint, Error, ParSynthesizer, ParSynthesizerBuilder, SdType};
use polars::prelude::*;
use std::path::Path;

const ROWS: usize = 240;

/// Ordered and delivered days of which one follows the other, rows out of order, cells missing.
fn table() -> DataFrame {
    let noise = noise(2 * ROWS);
    let day = |row: usize| 20_000 + (ROWS - row) as i32 % 12;
    let late = |row: usize| (noise[ROWS + row] * 400.0) as i32;
    let days = |day: &dyn Fn(usize) -> Option<i32>| {
        let days: Vec<Option<i32>> = (0..ROWS).map(day).collect();
        Column::new("".into(), days).cast(&DataType::Date).unwrap()
    };
    let ordered = days(&|row| Some(day(row) + late(row)));
    let delivered =
        days(&|row| (!row.is_multiple_of(9)).then(|| day(row) + late(row) + 2 + (row % 3) as i32));
    let value =
        |row: usize| (!row.is_multiple_of(11)).then_some((noise[row] * 100.0).round() / 100.0);
    let level = |row: usize| (!row.is_multiple_of(7)).then(|| ["low", "high"][row % 2]);
    let mut frame = df!(
        "k" => keys(20, 12),
        "town" => (0..ROWS).map(|row| ["here", "there"][row / 12 % 2]).collect::<Vec<_>>(),
        "level" => (0..ROWS).map(level).collect::<Vec<_>>(),
        "v" => (0..ROWS).map(value).collect::<Vec<_>>(),
        "w" => noise[..ROWS].to_vec(),
    )
    .unwrap();
    for (name, days) in [
        ("t", days(&|row| Some(day(row)))),
        ("ordered", ordered),
        ("delivered", delivered),
    ] {
        frame.with_column(days.with_name(name.into())).unwrap();
    }
    frame
}

fn fit_of(epochs: usize) -> ParSynthesizerBuilder {
    let date = || SdType::Datetime { format: None };
    builder(&[
        ("k", id()),
        ("town", SdType::Categorical),
        ("level", SdType::Categorical),
        ("v", SdType::Numerical),
        ("w", SdType::Numerical),
        ("t", date()),
        ("ordered", date()),
        ("delivered", date()),
    ])
    .context_columns(["town"])
    .epochs(epochs)
}

fn mapped_in(folder: &Path, epochs: usize) -> ParSynthesizerBuilder {
    fit_of(epochs)
        .max_table_memory(0)
        .temporary_directory(folder)
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn a_table_in_files_gives_the_model_of_one_in_memory_to_the_bit() {
    let frame = table();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.parquet");
    parsynth::write_parquet(&frame, &path).unwrap();
    type Change = fn(ParSynthesizerBuilder) -> ParSynthesizerBuilder;
    let changes: [(&str, Change); 4] = [
        ("plain", |fit| fit),
        ("segments", |fit| fit.segment_size(5)),
        ("protected", |fit| fit.value_protection(3)),
        ("rules", |fit| {
            fit.constraints([Constraint::fixed_combinations(["town", "level"])])
        }),
    ];
    let losses = |model: &ParSynthesizer| model.report().losses.clone();
    for (what, change) in changes {
        let held = change(fit_of(2)).fit(&frame).unwrap();
        let mapped = || change(mapped_in(folder.path(), 2));
        for model in [mapped().fit(&frame), mapped().fit_parquet(&path)] {
            let model = model.unwrap();
            assert_eq!(losses(&model), losses(&held), "{what}");
            assert_eq!(model.report().warnings, held.report().warnings, "{what}");
            assert!(
                sample(&model, 30).equals_missing(&sample(&held, 30)),
                "{what}"
            );
        }
    }
}

#[test]
#[cfg(target_os = "linux")] // where a process can read what it has mapped
fn columns_lie_mapped_while_the_networks_train_and_their_files_have_no_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let (sender, receiver) = std::sync::mpsc::channel();
    let fit = mapped_in(folder.path(), 1).on_progress(move |_| {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let name = path.to_string_lossy();
        let mapped = maps.lines().filter(|line| line.contains(&*name)).count();
        sender.send((mapped, is_empty(&path))).unwrap();
    });
    fit.fit(&table()).unwrap();
    let seen: Vec<(usize, bool)> = receiver.iter().collect();
    assert!(!seen.is_empty());
    for (mapped, has_no_names) in seen {
        // Eight columns, row numbers, and the dates that are told by distances.
        assert!(mapped > 9 && has_no_names, "{mapped}");
    }
}

#[test]
fn nothing_is_left_of_a_fit_that_ended_failed_or_was_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let frame = table();
    mapped_in(folder.path(), 1).fit(&frame).unwrap();
    assert!(is_empty(folder.path()));
    let varying = mapped_in(folder.path(), 1).context_columns(["level"]);
    varying.fit(&frame).unwrap_err();
    assert!(is_empty(folder.path()));
    let cancel = CancelToken::new();
    cancel.cancel();
    let cancelled = mapped_in(folder.path(), 1).cancel_token(cancel).fit(&frame);
    assert!(matches!(cancelled, Err(Error::Cancelled)));
    assert!(is_empty(folder.path()));
}

#[test]
fn a_folder_that_cannot_be_used_is_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("not there");
    let file = folder.path().join("a file");
    std::fs::write(&file, "").unwrap();
    for folder in [&missing, &file] {
        let error = mapped_in(folder, 0).fit(&table()).unwrap_err();
        let cause = std::error::Error::source(&error).map(|cause| cause.to_string());
        assert!(cause.is_some_and(|cause| !cause.is_empty()));
        let text = error.to_string();
        let name = folder.to_string_lossy();
        for part in [&*name, "temporary_directory", "max_table_memory"] {
            assert!(text.contains(part), "{part} is not in: {text}");
        }
    }
    // A table that memory holds needs none.
    let small = fit_of(0).temporary_directory(&missing);
    small.fit(&table()).unwrap();
}

#[test]
fn an_estimate_tells_what_lies_in_files_and_what_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let frame = table();
    let held = fit_of(0).estimate(&frame).unwrap();
    let mapped = mapped_in(folder.path(), 0).estimate(&frame).unwrap();
    assert_eq!(held.mapped_bytes, 0);
    // Key, two categories, row number; five numbers; the distances of one or both dates.
    let table = ROWS as u64 * (4 * 4 + 5 * 8);
    assert!(mapped.mapped_bytes > table, "{}", mapped.mapped_bytes);
    assert_eq!(held.memory_bytes, mapped.memory_bytes + mapped.mapped_bytes);
    assert!(mapped.to_string().ends_with("MB in files"), "{mapped}");
    assert!(is_empty(folder.path()));
    // A byte less than the table takes, and what it takes.
    let limit = |bytes: u64| {
        let fit = mapped_in(folder.path(), 0).max_table_memory(bytes);
        fit.estimate(&frame).unwrap().mapped_bytes > 0
    };
    assert!(limit(table - 1) && !limit(table));
}
