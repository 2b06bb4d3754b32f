//! Durations are numbers: of any unit, as values and as sequence index.

use crate::common::{id, metadata, present, runs, sample, thrice, untrained};
use parsynth::{
    Error, EvaluationOptions, ParSynthesizer, SdType, TableError, evaluate_with, read_parquet,
    write_csv, write_parquet,
};
use polars::prelude::*;

const UNITS: [(TimeUnit, i64); 3] = [
    (TimeUnit::Milliseconds, 1_000),
    (TimeUnit::Microseconds, 1_000_000),
    (TimeUnit::Nanoseconds, 1_000_000_000),
];

fn durations(name: &str, raw: Vec<Option<i64>>, unit: TimeUnit) -> Column {
    Column::new(name.into(), raw)
        .cast(&DataType::Duration(unit))
        .unwrap()
}

/// Runs with a split time every 90 s and an effort of some minutes, sometimes missing.
fn laps(unit: TimeUnit, second: i64) -> DataFrame {
    let rows = thrice(20);
    let keys: Vec<String> = rows.iter().map(|s| format!("R{s}")).collect();
    let step = |row: usize| Some((row % 3 + 1) as i64 * 90 * second);
    let effort =
        |row: usize| (!row.is_multiple_of(7)).then(|| (row % 11) as i64 * 60 * second + second / 2);
    DataFrame::new_infer_height(vec![
        Column::new("k".into(), keys),
        durations("t", (0..60).map(step).collect(), unit),
        durations("effort", (0..60).map(effort).collect(), unit),
    ])
    .unwrap()
}

fn lap_metadata() -> parsynth::Metadata {
    metadata(
        &["k"],
        &[
            ("k", id()),
            ("t", SdType::Numerical),
            ("effort", SdType::Numerical),
        ],
    )
}

fn raw(frame: &DataFrame, column: &str) -> Vec<Option<i64>> {
    let column = frame.column(column).unwrap().to_physical_repr();
    column.i64().unwrap().iter().collect()
}

#[test]
fn every_unit_comes_back_with_its_steps() {
    for (unit, second) in UNITS {
        let data = laps(unit, second);
        let synthesizer = untrained(&lap_metadata()).fit(&data).unwrap();
        let sampled = sample(&synthesizer, 40);
        assert_eq!(sampled.schema(), data.schema());
        let times = raw(&sampled, "t");
        for (_, rows) in runs(&sampled, &["k"]) {
            let own: Vec<i64> = times[rows].iter().map(|time| time.unwrap()).collect();
            assert!(
                own.windows(2).all(|pair| pair[1] - pair[0] == 90 * second),
                "{own:?}"
            );
        }
        let efforts = raw(&sampled, "effort");
        assert!(efforts.iter().any(Option::is_none));
        // Half seconds survive, and nothing leaves the range.
        for effort in efforts.into_iter().flatten() {
            assert!(
                (second / 2..=600 * second + second / 2).contains(&effort),
                "{effort}"
            );
            assert_eq!(effort % second, second / 2);
        }
    }
}

#[test]
fn nanoseconds_beyond_what_a_float_counts_stay_exact() {
    // A year of nanoseconds needs 55 bits.
    let year = 31_536_000_000_000_000_i64;
    let raw_values: Vec<Option<i64>> = (0..30)
        .map(|row| Some(year + (row % 5) * 1_000_007))
        .collect();
    let data = DataFrame::new_infer_height(vec![
        Column::new(
            "k".into(),
            (0..30)
                .map(|row| format!("K{}", row / 3))
                .collect::<Vec<_>>(),
        ),
        durations("d", raw_values.clone(), TimeUnit::Nanoseconds),
    ])
    .unwrap();
    let stated = metadata(&["k"], &[("k", id()), ("d", SdType::Numerical)]);
    let synthesizer = untrained(&stated).fit(&data).unwrap();
    let sampled = raw(&sample(&synthesizer, 50), "d");
    assert!(
        sampled.iter().all(|value| raw_values.contains(value)),
        "{sampled:?}"
    );
}

#[test]
fn durations_are_saved_continued_and_scored() {
    let data = laps(TimeUnit::Milliseconds, 1_000);
    let synthesizer = untrained(&lap_metadata()).fit(&data).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.parsynth");
    synthesizer.save(&path).unwrap();
    let loaded = ParSynthesizer::load(&path).unwrap();
    assert!(sample(&loaded, 10).equals_missing(&sample(&synthesizer, 10)));
    let frame = synthesizer.continue_sequences(&data, 1).unwrap();
    assert_eq!(raw(&frame, "t")[3], Some(360_000));
    // Another unit holds the same times.
    let finer = laps(TimeUnit::Microseconds, 1_000_000);
    let nats = |frame: &DataFrame| synthesizer.log_likelihood(frame).unwrap().nats_per_row();
    assert_eq!(nats(&finer).to_bits(), nats(&data).to_bits());
    let report = evaluate_with(
        &data,
        &finer,
        None,
        &lap_metadata(),
        &EvaluationOptions::new(),
    )
    .unwrap();
    assert_eq!(report.privacy.copies.share, 1.0);
}

#[test]
fn a_csv_file_cannot_hold_durations_and_parquet_can() {
    let data = laps(TimeUnit::Microseconds, 1_000_000);
    let folder = tempfile::tempdir().unwrap();
    let error = write_csv(&data, folder.path().join("d.csv")).unwrap_err();
    assert!(
        matches!(&error, TableError::NoCsvForm { column, .. } if column == "t"),
        "{error}"
    );
    assert!(error.to_string().contains("Int64"), "{error}");
    let path = folder.path().join("d.parquet");
    write_parquet(&data, &path).unwrap();
    assert!(read_parquet(&path).unwrap().equals_missing(&data));
}

#[test]
fn a_dtype_that_is_not_read_names_the_nearest_cast() {
    let stated = metadata(&["k"], &[("k", id()), ("x", SdType::Numerical)]);
    let with = |mut cells: Column| {
        cells.rename("x".into());
        let keys = Column::new("k".into(), vec!["a"; cells.len()]);
        let frame = DataFrame::new_infer_height(vec![keys, cells]).unwrap();
        let error = untrained(&stated).fit(&frame).unwrap_err();
        assert!(
            matches!(error, Error::Table(TableError::DtypeForSdType { .. })),
            "{error}"
        );
        error.to_string()
    };
    let message = with(
        Column::new("x".into(), [1_i64, 2])
            .cast(&DataType::Time)
            .unwrap(),
    );
    assert!(
        message.contains("column `x`")
            && message.contains("dtype time")
            && message.contains("Int64"),
        "{message}"
    );
    let lists = Series::new("x".into(), [Series::new("".into(), [1_i64])]);
    assert!(with(lists.into()).contains("apart"), "no remedy");
    let stated_as = |sdtype| {
        let stated = metadata(&["k"], &[("k", id()), ("x", sdtype)]);
        let cells = durations("x", vec![Some(1)], TimeUnit::Milliseconds);
        let keys = Column::new("k".into(), ["a"]);
        let frame = DataFrame::new_infer_height(vec![keys, cells]).unwrap();
        untrained(&stated).fit(&frame).unwrap_err().to_string()
    };
    let message = stated_as(SdType::Datetime { format: None });
    assert!(
        message.contains("state the column as numerical"),
        "{message}"
    );
    assert!(stated_as(id()).contains("cast the column to String"));
}

#[test]
fn nanoseconds_of_a_moment_survive_as_index() {
    let first = 1_700_000_000_123_456_789_i64;
    let moments: Vec<i64> = (0..12).map(|row| first + row * 1_000_003).collect();
    let t = Column::new("t".into(), moments)
        .cast(&DataType::Datetime(TimeUnit::Nanoseconds, None))
        .unwrap();
    let v = Column::new("v".into(), (0..12).map(f64::from).collect::<Vec<_>>());
    let data = DataFrame::new_infer_height(vec![t, v]).unwrap();
    let stated = metadata(
        &[],
        &[
            ("t", SdType::Datetime { format: None }),
            ("v", SdType::Numerical),
        ],
    );
    let synthesizer = untrained(&stated).fit(&data).unwrap();
    let sampled = sample(&synthesizer, 1);
    let times = raw(&sampled, "t");
    assert_eq!(times[0], Some(first));
    let steps = times
        .windows(2)
        .map(|pair| pair[1].unwrap() - pair[0].unwrap());
    assert!(steps.into_iter().all(|step| step == 1_000_003), "{times:?}");
    assert_eq!(present(&sampled, "v").len(), sampled.height());
}

#[test]
fn a_duration_may_be_context_given_or_a_category() {
    let rows = thrice(12);
    let raw_values = |scale: i64| -> Vec<Option<i64>> {
        let shift = |s: &usize| (!s.is_multiple_of(4)).then_some((*s % 4) as i64 * scale);
        rows.iter().map(shift).collect()
    };
    let data = DataFrame::new_infer_height(vec![
        Column::new(
            "k".into(),
            rows.iter().map(|s| format!("K{s}")).collect::<Vec<_>>(),
        ),
        durations("shift", raw_values(3_600_000), TimeUnit::Milliseconds),
        durations("pause", raw_values(60), TimeUnit::Nanoseconds),
    ])
    .unwrap();
    let stated = metadata(
        &["k"],
        &[
            ("k", id()),
            ("shift", SdType::Numerical),
            ("pause", SdType::Categorical),
        ],
    );
    let synthesizer = untrained(&stated)
        .context_columns(["shift"])
        .fit(&data)
        .unwrap();
    let hours = vec![Some(7_200_000_000), None]; // two of them, in microseconds
    let wanted = durations("shift", hours, TimeUnit::Microseconds);
    let wanted = DataFrame::new_infer_height(vec![wanted]).unwrap();
    let sampled = synthesizer.sample_sequential_columns(&wanted).unwrap();
    assert_eq!(sampled.schema(), data.schema());
    assert_eq!(
        raw(&sampled, "shift"),
        [vec![Some(7_200_000); 3], vec![None; 3]].concat()
    );
    let pauses = raw(&sample(&synthesizer, 50), "pause");
    assert!(pauses.iter().all(|pause| raw_values(60).contains(pause)));
    let finer = durations("shift", vec![Some(1)], TimeUnit::Nanoseconds);
    let finer = DataFrame::new_infer_height(vec![finer]).unwrap();
    let error = synthesizer.sample_sequential_columns(&finer).unwrap_err();
    assert!(
        error.to_string().contains("no exact counterpart"),
        "{error}"
    );
}
