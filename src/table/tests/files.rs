use std::path::PathBuf;

use super::*;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("table.csv")
    }

    fn with(text: impl AsRef<[u8]>) -> Folder {
        let folder = Folder::new();
        std::fs::write(folder.path(), text).unwrap();
        folder
    }
}

fn read(text: impl AsRef<[u8]>, metadata: &Metadata) -> DataFrame {
    read_csv(Folder::with(text).path(), metadata).unwrap()
}

fn csv_refusal(text: impl AsRef<[u8]>, metadata: &Metadata) -> String {
    read_csv(Folder::with(text).path(), metadata)
        .unwrap_err()
        .to_string()
}

fn two(first: SdType, second: SdType) -> Metadata {
    Metadata::builder()
        .column("a", first)
        .column("b", second)
        .build()
        .unwrap()
}

#[test]
fn codes_keep_their_leading_zeros_and_ids_all_their_digits() {
    let metadata = two(SdType::Categorical, id());
    let frame = read(
        "a,b\n0870,12345678901234567890\n0123,007\n1111,1\n",
        &metadata,
    );
    let cells: Vec<&str> = frame
        .column("a")
        .unwrap()
        .str()
        .unwrap()
        .iter()
        .flatten()
        .collect();
    assert_eq!(cells, ["0870", "0123", "1111"]);
    let ids: Vec<&str> = frame
        .column("b")
        .unwrap()
        .str()
        .unwrap()
        .iter()
        .flatten()
        .collect();
    assert_eq!(ids, ["12345678901234567890", "007", "1"]);
}

#[test]
fn a_fraction_after_150_whole_numbers_is_no_surprise() {
    let text = format!("b\n{}2.1\n", "7\n".repeat(150));
    let frame = read(text, &only("b", SdType::Numerical));
    assert_eq!(frame.column("b").unwrap().dtype(), &DataType::Float64);
    assert_eq!(
        frame.column("b").unwrap().f64().unwrap().get(150),
        Some(2.1)
    );
}

#[test]
fn numbers_take_the_narrowest_kind_that_holds_all() {
    let dtype = |text: &str| {
        read(text, &only("b", SdType::Numerical))
            .column("b")
            .unwrap()
            .dtype()
            .clone()
    };
    assert_eq!(dtype("b\n1\n\n-3\n"), DataType::Int64);
    assert_eq!(dtype("b\n18446744073709551615\n0\n"), DataType::UInt64);
    assert_eq!(dtype("b\n99999999999999999999\n"), DataType::Float64);
    assert_eq!(dtype("b\n1e3\n"), DataType::Float64);
    assert_eq!(dtype("b\nNaN\n1.0\n"), DataType::Float64);
}

#[test]
fn a_cell_that_is_no_number_names_column_and_line() {
    let metadata = two(SdType::Categorical, SdType::Numerical);
    // Row 2 starts on line 4, because the cell before has a line break in it.
    let message = csv_refusal("a,b\n\"x\ny\",1\nz,two\n", &metadata);
    assert!(
        message.contains("line 4, column `b`: expected a finite number"),
        "{message}"
    );
    assert!(csv_refusal("a,b\nx,inf\n", &metadata).contains("line 2"));
    let metadata = two(SdType::Boolean, datetime(Some("%Y-%m-%d")));
    assert!(
        csv_refusal("a,b\nmaybe,2021-01-01\n", &metadata)
            .contains("line 2, column `a`: expected true or false")
    );
    assert!(
        csv_refusal("a,b\nTrue,2021-01-01\n0,1.1.2021\n", &metadata)
            .contains("line 3, column `b`: expected a date of format %Y-%m-%d")
    );
}

#[test]
fn null_and_empty_text_survive_the_round_trip() {
    let frame =
        df!("a" => [Some("a"), None, Some("")], "b" => [Some(1.5), None, Some(2.0)]).unwrap();
    let folder = Folder::new();
    write_csv(&frame, folder.path()).unwrap();
    let back = read_csv(folder.path(), &two(SdType::Categorical, SdType::Numerical)).unwrap();
    assert!(back.equals_missing(&frame), "{back}");
    // A file of one column has blank lines for its nulls.
    let single = frame.select(["a"]).unwrap();
    write_csv(&single, folder.path()).unwrap();
    assert!(
        read_csv(folder.path(), &only("a", SdType::Categorical))
            .unwrap()
            .equals_missing(&single)
    );
}

#[test]
fn what_is_written_is_read_back() {
    let frame = df!(
        "text" => ["plain", "com,ma", "quo\"te", "line\nbreak", "\r\n", " blank ", "ümläut", "\"\""],
        "x" => [0.1, 1e300, -2.5e-300, 123456789.12345679, 1e21, f64::MIN_POSITIVE, 5.0, 3.4523399999999995],
        "n" => [i64::MIN, i64::MAX, 0, 1, 2, 3, 4, 5],
        "b" => [true, false, true, true, true, true, true, true],
        "com,ma" => ["2021-01-01", "2021-01-02", "2021-01-03", "2021-01-04", "2021-01-05", "2021-01-06", "2021-01-07", "2021-01-08"],
    )
    .unwrap();
    let metadata = Metadata::builder()
        .column("text", SdType::Categorical)
        .column("x", SdType::Numerical)
        .column("n", SdType::Numerical)
        .column("b", SdType::Boolean)
        .column("com,ma", datetime(None))
        .build()
        .unwrap();
    let folder = Folder::new();
    write_csv(&frame, folder.path()).unwrap();
    let back = read_csv(folder.path(), &metadata).unwrap();
    assert!(back.equals_missing(&frame), "{back} is not {frame}");
    write_parquet(&frame, folder.path()).unwrap();
    assert!(read_parquet(folder.path()).unwrap().equals_missing(&frame));
}

#[test]
fn a_written_float32_is_short() {
    let folder = Folder::new();
    write_csv(&df!("x" => [0.1_f32, 2.7]).unwrap(), folder.path()).unwrap();
    assert_eq!(
        std::fs::read_to_string(folder.path()).unwrap(),
        "x\n0.1\n2.7\n"
    );
}

#[test]
fn dates_written_as_csv_are_read_without_a_stated_format() {
    let zone = TimeZone::opt_try_new(Some("UTC")).unwrap();
    let folder = Folder::new();
    for (dtype, stamps) in [
        (
            DataType::Datetime(TimeUnit::Microseconds, None),
            [1, 1_700_000_000_123_456],
        ),
        (
            DataType::Datetime(TimeUnit::Nanoseconds, None),
            [1_700_000_000_000_000_001, 1_700_000_000_123_456_789],
        ),
        (
            DataType::Datetime(TimeUnit::Milliseconds, zone),
            [1_i64, 1_700_000_000_123],
        ),
        (DataType::Date, [1, 20_000]),
    ] {
        let stamps = Column::new("a".into(), stamps);
        let frame = DataFrame::new_infer_height(vec![stamps.cast(&dtype).unwrap()]).unwrap();
        write_csv(&frame, folder.path()).unwrap();
        let back = read_csv(folder.path(), &only("a", datetime(None))).unwrap();
        assert!(
            there_and_back(&back, &only("a", datetime(None))).equals(&back),
            "{back}"
        );
    }
}

#[test]
fn broken_files_are_errors_with_their_line() {
    let metadata = two(SdType::Categorical, SdType::Categorical);
    for (text, line, word) in [
        (&b""[..], 1, "empty"),
        (b"a,b\n1,2\n3\n", 3, "1 cells"),
        (b"a,b\n1,2,3\n", 2, "3 cells"),
        (b"a,b\n1,2\n\"x\ny,3\n", 3, "never closed"),
        (b"a,b\n\"x\"y,3\n", 2, "after a closing quote"),
        (b"a,b\n1,2\n\xff,3\n", 3, "UTF-8"),
        (b"a,a\n1,2\n", 1, "twice"),
    ] {
        let message = csv_refusal(text, &metadata);
        assert!(
            message.contains(&format!("line {line}:")) && message.contains(word),
            "{message}"
        );
    }
    assert!(csv_refusal("a,bb\n1,2\n", &metadata).contains("`bb` is not in the metadata"));
    assert!(csv_refusal("a\n1\n", &metadata).contains("`b` of the metadata is not in the data"));
}

#[test]
fn byte_order_mark_carriage_returns_blank_lines_and_a_missing_last_newline_are_harmless() {
    let metadata = two(SdType::Categorical, SdType::Numerical);
    let plain = read("a,b\nx,1\n,2\n", &metadata);
    for text in [
        "\u{feff}a,b\r\nx,1\r\n,2\r\n",
        "a,b\n\nx,1\n,2\n\n\n",
        "a,b\nx,1\n,2",
        "\"a\",\"b\"\n\"x\",\"1\"\n,2",
    ] {
        assert!(read(text, &metadata).equals_missing(&plain), "{text:?}");
    }
}

#[test]
fn a_file_with_other_separators_is_told_from_one_with_other_columns() {
    let metadata = two(SdType::Categorical, SdType::Numerical);
    let error = |text: &str| {
        let error = csv_refusal(text, &metadata);
        error.split_once(", ").unwrap().1.to_owned()
    };
    assert_eq!(
        error("a;b\nx;1\n"),
        "line 1: there is one column, `a;b`, with ';' in its name; columns are separated by commas here"
    );
    assert!(error("a\tb\nx\t1\n").contains("with '\\t' in its name"));
    let of_one = read("a;b\nx\n", &only("a;b", SdType::Categorical));
    assert_eq!(of_one.get_column_names(), ["a;b"]);
}

#[test]
fn files_that_cannot_be_had_are_errors() {
    let folder = Folder::new();
    let metadata = only("a", SdType::Numerical);
    let error = read_csv(folder.0.path().join("none.csv"), &metadata).unwrap_err();
    assert!(matches!(error, TableError::ReadFile { .. }) && error.to_string().contains("none.csv"));
    assert!(read_csv(folder.0.path(), &metadata).is_err());
    assert!(read_parquet(folder.0.path().join("none")).is_err());
    assert!(
        write_csv(
            &df!("a" => [1]).unwrap(),
            folder.0.path().join("no/folder.csv")
        )
        .is_err()
    );
    for damaged in [
        &b""[..],
        b"PAR1",
        b"PAR1\xff\xff\xff\xff\xff\xff\xff\xffPAR1",
        b"a,b\n1,2\n",
    ] {
        assert!(read_parquet(Folder::with(damaged).path()).is_err());
    }
}

#[test]
fn a_failed_write_leaves_the_old_file_and_nothing_else() {
    let folder = Folder::with("old");
    let nested = Column::new("x".into(), [Series::new("".into(), [1_i64])]);
    let frame = DataFrame::new_infer_height(vec![nested]).unwrap();
    assert!(matches!(
        write_csv(&frame, folder.path()),
        Err(TableError::WriteFile { .. })
    ));
    assert_eq!(std::fs::read_to_string(folder.path()).unwrap(), "old");
    assert_eq!(std::fs::read_dir(folder.0.path()).unwrap().count(), 1);
}
