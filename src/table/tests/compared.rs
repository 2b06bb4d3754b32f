use super::*;
use crate::table::{ComparedCells, ComparedTables, Role};

fn read(frames: &[&DataFrame], metadata: &Metadata) -> ComparedTables {
    ComparedTables::read(frames, metadata, &[]).unwrap()
}

fn labels_and_codes(frames: &[&DataFrame]) -> (Vec<String>, Vec<Vec<u32>>) {
    let tables = read(frames, &only("x", SdType::Categorical));
    let codes = tables
        .tables
        .iter()
        .map(|table| table.columns[0].codes().unwrap().to_vec())
        .collect();
    (tables.columns[0].labels.clone(), codes)
}

#[test]
fn whole_numbers_written_as_floats_are_the_same_numbers() {
    let tables = read(
        &[
            &df!("x" => [3_i64, 1]).unwrap(),
            &df!("x" => [3.0, 1.5]).unwrap(),
        ],
        &only("x", SdType::Numerical),
    );
    assert_eq!(tables.tables[0].columns[0].numbers().unwrap(), [3.0, 1.0]);
    assert_eq!(tables.tables[1].columns[0].numbers().unwrap(), [3.0, 1.5]);
    assert_eq!(tables.tables[0].dtypes, ["i64"]);
    assert_eq!(tables.tables[1].dtypes, ["f64"]);
}

#[test]
fn large_whole_numbers_lose_no_more_than_a_float_does() {
    let big = [9_007_199_254_740_993_i64, -5, 1_700_000_000_000_000_000];
    let tables = read(&[&df!("x" => big).unwrap()], &only("x", SdType::Numerical));
    let read = tables.tables[0].columns[0].numbers().unwrap();
    for (read, big) in read.iter().zip(big) {
        assert!((read - big as f64).abs() <= (big as f64).abs() * f64::EPSILON);
    }
}

#[test]
fn dates_are_seconds_whatever_holds_them() {
    let text = df!("x" => ["2020-01-02", "1969-12-31"]).unwrap();
    let days = df!("x" => [18_263, -1])
        .unwrap()
        .with_dtype(&DataType::Date);
    let fine =
        df!("x" => [18_263_i64 * 86_400 * 1_000_000_000 + 1_500_000_000, -86_400_000_000_000])
            .unwrap()
            .with_dtype(&DataType::Datetime(TimeUnit::Nanoseconds, None));
    let tables = read(
        &[&text, &days, &fine],
        &only("x", datetime(Some("%Y-%m-%d"))),
    );
    let day = 18_263.0 * 86_400.0;
    assert_eq!(
        tables.tables[0].columns[0].numbers().unwrap(),
        [day, -86_400.0]
    );
    assert_eq!(
        tables.tables[1].columns[0].numbers().unwrap(),
        [day, -86_400.0]
    );
    assert_eq!(
        tables.tables[2].columns[0].numbers().unwrap(),
        [day + 1.5, -86_400.0]
    );
}

trait Cast {
    fn with_dtype(&self, dtype: &DataType) -> DataFrame;
}

impl Cast for DataFrame {
    /// Column `x` in another dtype.
    fn with_dtype(&self, dtype: &DataType) -> DataFrame {
        let column = self.column("x").unwrap().cast(dtype).unwrap();
        DataFrame::new_infer_height(vec![column]).unwrap()
    }
}

#[test]
fn one_and_one_point_nought_are_one_category() {
    let whole = df!("x" => [1_i64, 10, 2]).unwrap();
    let float = df!("x" => [Some(2.0), None, Some(0.5)]).unwrap();
    let text = df!("x" => ["1.0", "0.5", "10"]).unwrap();
    let (labels, codes) = labels_and_codes(&[&whole, &float, &text]);
    assert_eq!(labels, ["0.5", "1", "2", "10"]);
    assert_eq!(
        codes,
        [vec![1, 3, 2], vec![2, MISSING_CODE, 0], vec![1, 0, 3]]
    );
}

#[test]
fn leading_zeros_keep_categories_apart() {
    let real = df!("x" => ["007", "7"]).unwrap();
    let synthetic = df!("x" => ["7", "07"]).unwrap();
    let (labels, codes) = labels_and_codes(&[&real, &synthetic]);
    assert_eq!(labels, ["007", "07", "7"]);
    assert_eq!(codes, [vec![0, 2], vec![2, 1]]);
}

#[test]
fn truth_values_are_the_same_in_any_spelling() {
    let real = df!("x" => [true, false]).unwrap();
    let synthetic = df!("x" => ["False", "True"]).unwrap();
    let (labels, codes) = labels_and_codes(&[&real, &synthetic]);
    assert_eq!(labels, ["false", "true"]);
    assert_eq!(codes, [vec![1, 0], vec![0, 1]]);
}

#[test]
fn columns_may_stand_in_another_order_and_rows_in_none() {
    let metadata = metadata(&[("x", SdType::Numerical)]);
    let real = df!("k" => ["b", "a", "a"], "t" => [1, 2, 1], "x" => [3.0, 2.0, 1.0]).unwrap();
    let synthetic = df!("x" => [5.0], "t" => [0], "k" => ["z"]).unwrap();
    let tables = read(&[&real, &synthetic], &metadata);
    assert_eq!(tables.tables[0].offsets, [0, 2, 3]);
    assert_eq!(
        tables.tables[0].columns[2].numbers().unwrap(),
        [1.0, 2.0, 3.0]
    );
    assert_eq!(tables.tables[1].columns[2].numbers().unwrap(), [5.0]);
    assert!(matches!(
        tables.tables[1].columns[0],
        ComparedCells::Codes(_)
    ));
}

#[test]
fn a_context_column_that_varies_is_read_as_one() {
    let metadata = metadata(&[("x", SdType::Categorical)]);
    let frame = df!("k" => ["a", "a"], "t" => [1, 2], "x" => ["m", "f"]).unwrap();
    let tables = ComparedTables::read(&[&frame], &metadata, &["x".to_owned()]).unwrap();
    assert_eq!(tables.columns[2].role, Role::Context);
    assert_eq!(tables.tables[0].columns[2].codes().unwrap(), [1, 0]);
}

#[test]
fn the_table_that_is_wrong_is_named_by_its_position() {
    let metadata = only("x", SdType::Numerical);
    let good = df!("x" => [1.0]).unwrap();
    for bad in [
        df!("y" => [1.0]).unwrap(),
        df!("x" => ["one"]).unwrap(),
        df!("x" => [f64::INFINITY]).unwrap(),
        good.slice(0, 0),
    ] {
        let (position, _) = ComparedTables::read(&[&good, &bad], &metadata, &[]).unwrap_err();
        assert_eq!(position, 1);
    }
}

#[test]
fn windows_cover_every_row_once_and_none_is_short() {
    for rows in [1_i64, 9, 10, 14, 15, 16, 20, 99, 200] {
        let frame = df!("x" => (0..rows).collect::<Vec<_>>()).unwrap();
        let tables = read(&[&frame], &only("x", SdType::Numerical));
        let windows = tables.tables[0].windows(10);
        assert_eq!(*windows.offsets.last().unwrap() as i64, rows);
        for (at, length) in windows.lengths().into_iter().enumerate() {
            assert!(
                (6..=15).contains(&length) || windows.sequences() == 1,
                "{rows}: {at} {length}"
            );
        }
    }
}

#[test]
fn chosen_sequences_bring_their_rows() {
    let metadata = metadata(&[("x", SdType::Numerical)]);
    let frame =
        df!("k" => [1, 1, 2, 3, 3], "t" => [1, 2, 1, 1, 2], "x" => [1.0, 2.0, 3.0, 4.0, 5.0])
            .unwrap();
    let tables = read(&[&frame], &metadata);
    let some = tables.tables[0].some_sequences(&[2, 0]);
    assert_eq!(some.offsets, [0, 2, 4]);
    assert_eq!(some.columns[2].numbers().unwrap(), [4.0, 5.0, 1.0, 2.0]);
}
