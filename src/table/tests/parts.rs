//! Columns that are longer than what is read at once.

use super::*;
use crate::table::{ParquetFiles, Source};

const ROWS: usize = 3 << 19;
const LENGTH: usize = 1_000;
const BASE: i64 = 1 << 60;

/// Keys fall from row to row, so that later parts have the labels that come first; times rise in tens.
fn long_table() -> DataFrame {
    let rows = 0..ROWS;
    let keys: Vec<String> = rows
        .clone()
        .map(|row| format!("key {:05}", (ROWS - 1 - row) / LENGTH))
        .collect();
    let times: Vec<i64> = rows.clone().map(|row| BASE + 10 * row as i64).collect();
    let kinds: Vec<&str> = rows
        .clone()
        .map(|row| if row > ROWS - 5 { "a" } else { "b" })
        .collect();
    let values: Vec<f64> = rows.map(|row| row as f64 / 4.0).collect();
    df!("key" => keys, "time" => times, "kind" => kinds, "value" => values).unwrap()
}

fn long_metadata() -> Metadata {
    let builder = Metadata::builder()
        .column("key", id())
        .column("time", SdType::Numerical)
        .column("kind", SdType::Categorical)
        .column("value", SdType::Numerical)
        .sequence_key("key")
        .sequence_index("time");
    builder.build().unwrap()
}

fn assert_is_the_long_table(source: &impl Source) {
    let schema = Schema::fit(source, &long_metadata(), &[]).unwrap();
    let time = &schema.columns[1];
    assert_eq!((time.base, time.step), (BASE.into(), 10));
    let table = SequenceTable::from_source(source, &schema).unwrap();
    assert_eq!(table.sequences(), ROWS.div_ceil(LENGTH));
    let Values::Labels { codes, labels } = &table.columns[2] else {
        panic!("labels")
    };
    let texts: Vec<String> = labels.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["a", "b"]);
    let Values::Labels { codes: keys, .. } = &table.columns[0] else {
        panic!("labels")
    };
    let (Values::Numbers(times), Values::Numbers(values)) = (&table.columns[1], &table.columns[3])
    else {
        panic!("numbers")
    };
    for at in 0..ROWS {
        let row = table.row_number(at);
        let key = (ROWS - 1 - row) / LENGTH;
        assert_eq!(keys[at] as usize, key);
        assert_eq!((times[at], values[at]), (row as f64, row as f64 / 4.0));
        assert_eq!(codes[at], u32::from(row <= ROWS - 5));
    }
}

#[test]
fn a_column_that_is_read_in_parts_is_the_whole_column() {
    let frame = long_table();
    assert!(frame.parts("value").unwrap().count() > 1);
    assert_is_the_long_table(&frame);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.parquet");
    write_parquet(&frame, &path).unwrap();
    let files = ParquetFiles::open(&path).unwrap();
    assert!(files.parts("key").unwrap().count() > 1);
    assert_eq!(files.column("key").unwrap().len(), ROWS);
    assert_is_the_long_table(&files);
}

#[test]
fn a_fault_in_a_later_part_is_told_by_its_row_of_the_table() {
    let mut frame = long_table();
    let values: Vec<f64> = (0..ROWS)
        .map(|row| if row == ROWS - 3 { f64::INFINITY } else { 0.5 })
        .collect();
    let values = Column::new("value".into(), values);
    frame.with_column(values).unwrap();
    let error = Schema::fit(&frame, &long_metadata(), &[]).unwrap_err();
    assert!(
        matches!(&error, TableError::Infinite { column, row } if column == "value" && *row == ROWS - 3),
        "{error}"
    );
}
