mod compared;
mod dates;
mod files;
mod parts;
mod round_trip;

use polars::prelude::*;

use super::{
    ContextRows, Label, MISSING_CODE, Schema, SdType, SequenceTable, TableError, Values, read_csv,
    read_parquet, write_csv, write_parquet,
};
use crate::metadata::Metadata;

fn id() -> SdType {
    SdType::Id { regex_format: None }
}

fn datetime(format: Option<&str>) -> SdType {
    SdType::Datetime {
        format: format.map(str::to_owned),
    }
}

/// A key `k`, an index `t`, and further columns.
fn metadata(columns: &[(&str, SdType)]) -> Metadata {
    let mut builder = Metadata::builder()
        .column("k", id())
        .column("t", SdType::Numerical)
        .sequence_key("k")
        .sequence_index("t");
    for (name, sdtype) in columns {
        builder = builder.column(*name, sdtype.clone());
    }
    builder.build().unwrap()
}

fn only(name: &str, sdtype: SdType) -> Metadata {
    Metadata::builder().column(name, sdtype).build().unwrap()
}

fn visits() -> DataFrame {
    df!(
        "k" => ["b", "a", "b", "a", "c"],
        "t" => [2_i64, 1, 1, 0, 5],
        "sex" => ["f", "m", "f", "m", "f"],
        "v" => [Some(1.5), None, Some(f64::NAN), Some(-0.0), Some(4.0)],
    )
    .unwrap()
}

fn visits_metadata() -> Metadata {
    metadata(&[("sex", SdType::Categorical), ("v", SdType::Numerical)])
}

fn fit(frame: &DataFrame, metadata: &Metadata, context: &[&str]) -> Result<Schema, TableError> {
    let context: Vec<String> = context.iter().map(|name| (*name).to_owned()).collect();
    Schema::fit(frame, metadata, &context)
}

fn table(
    frame: &DataFrame,
    metadata: &Metadata,
    context: &[&str],
) -> Result<SequenceTable, TableError> {
    SequenceTable::from_source(frame, &fit(frame, metadata, context)?)
}

fn refusal(frame: &DataFrame, metadata: &Metadata, context: &[&str]) -> String {
    table(frame, metadata, context).unwrap_err().to_string()
}

/// Frame to table and back, rows in the table's order.
fn there_and_back(frame: &DataFrame, metadata: &Metadata) -> DataFrame {
    let schema = fit(frame, metadata, &[]).unwrap();
    let table = SequenceTable::from_source(frame, &schema).unwrap();
    schema.to_frame(table.columns).unwrap()
}

fn numbers(values: &Values) -> Vec<Option<f64>> {
    match values {
        Values::Numbers(numbers) => numbers
            .iter()
            .map(|number| (!number.is_nan()).then_some(*number))
            .collect(),
        Values::Labels { .. } => panic!("labels"),
    }
}

fn label_texts(values: &Values) -> Vec<Option<String>> {
    match values {
        Values::Numbers(_) => panic!("numbers"),
        Values::Labels { codes, labels } => codes
            .iter()
            .map(|&code| (code != MISSING_CODE).then(|| labels[code as usize].to_string()))
            .collect(),
    }
}

fn described(table: &SequenceTable) -> String {
    format!("{:?} {:?}", table.offsets, table.columns)
}

#[test]
fn rows_are_grouped_by_key_and_ordered_by_index_whatever_the_input_order() {
    let table = table(&visits(), &visits_metadata(), &["sex"]).unwrap();
    assert_eq!(table.offsets, [0, 2, 4, 5]);
    assert_eq!(*table.row_numbers, [3, 1, 2, 0, 4]);
    assert_eq!(table.lengths(), [2, 2, 1]);
    assert_eq!((table.sequences(), table.rows()), (3, 5));
    assert_eq!(
        numbers(&table.columns[1]),
        [Some(0.0), Some(1.0), Some(1.0), Some(2.0), Some(5.0)]
    );
    // NaN is a missing value like null, and negative zero is zero.
    assert_eq!(
        numbers(&table.columns[3]),
        [Some(0.0), None, None, Some(1.5), Some(4.0)]
    );
    let Values::Numbers(cells) = &table.columns[3] else {
        panic!()
    };
    assert!(cells[0].is_sign_positive());
}

#[test]
fn a_filtered_sliced_chunked_frame_gives_the_table_of_its_plain_twin() {
    let mut chunked = visits().slice(2, 3);
    chunked.vstack_mut(&visits().slice(0, 2)).unwrap();
    assert!(
        chunked
            .column("v")
            .unwrap()
            .as_materialized_series()
            .n_chunks()
            > 1
    );
    let mask: BooleanChunked = [true, true, true, true, false].into_iter().collect();
    // Rows b2 a1 b1 a0 c5 in another order, through a filter of a longer frame.
    let mut longer = chunked.clone();
    longer.vstack_mut(&visits().slice(4, 1)).unwrap();
    let longer_mask: BooleanChunked = [true, true, true, true, true, false].into_iter().collect();
    let filtered = longer.filter(&longer_mask).unwrap();
    let plain = table(&visits(), &visits_metadata(), &["sex"]).unwrap();
    for frame in [chunked, filtered] {
        let same = table(&frame, &visits_metadata(), &["sex"]).unwrap();
        assert_eq!(described(&same), described(&plain));
    }
    let cut = visits().filter(&mask).unwrap();
    let cut = table(&cut, &visits_metadata(), &["sex"]).unwrap();
    assert_eq!(
        numbers(&cut.columns[1])
            .iter()
            .filter(|cell| cell.is_none())
            .count(),
        0
    );
}

#[test]
fn without_an_index_the_input_order_is_the_order() {
    let metadata = Metadata::builder()
        .column("k", SdType::Categorical) // a key of text need not be called id
        .column("v", SdType::Numerical)
        .sequence_key("k")
        .build()
        .unwrap();
    let frame = df!("v" => [3_i64, 1, 2, 9], "k" => ["b", "a", "b", "a"]).unwrap();
    let schema = fit(&frame, &metadata, &[]).unwrap();
    assert_eq!(schema.sequence_index(), None);
    assert_eq!(schema.columns[1].sdtype, id());
    let table = SequenceTable::from_source(&frame, &schema).unwrap();
    assert_eq!(
        numbers(&table.columns[0]),
        [Some(1.0), Some(9.0), Some(3.0), Some(2.0)]
    );
}

#[test]
fn without_a_key_the_table_is_one_sequence() {
    let metadata = Metadata::builder()
        .column("t", SdType::Numerical)
        .sequence_index("t")
        .build()
        .unwrap();
    let table = table(&df!("t" => [2.5, 0.5, 1.5]).unwrap(), &metadata, &[]).unwrap();
    assert_eq!(table.offsets, [0, 3]);
    assert_eq!(
        numbers(&table.columns[0]),
        [Some(0.5), Some(1.5), Some(2.5)]
    );
}

#[test]
fn number_keys_are_ordered_by_value_and_text_keys_by_bytes() {
    let metadata = Metadata::builder()
        .column("k", id())
        .sequence_key("k")
        .build()
        .unwrap();
    let order = |frame: DataFrame| label_texts(&table(&frame, &metadata, &[]).unwrap().columns[0]);
    let some = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| Some((*text).to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        order(df!("k" => [10_u8, 9, 100]).unwrap()),
        some(&["9", "10", "100"])
    );
    assert_eq!(
        order(df!("k" => [-1.5, -2.5, 0.5]).unwrap()),
        some(&["-2.5", "-1.5", "0.5"])
    );
    assert_eq!(
        order(df!("k" => ["é", "b", "Z", "10", "9"]).unwrap()),
        some(&["10", "9", "Z", "b", "é"])
    );
}

#[test]
fn roles_are_found_by_position() {
    let schema = fit(&visits(), &visits_metadata(), &["sex"]).unwrap();
    assert_eq!(
        (schema.sequence_key(), schema.sequence_index()),
        (vec![0], Some(1))
    );
    assert_eq!((schema.context(), schema.sequential()), (vec![2], vec![3]));
}

#[test]
fn a_context_column_that_varies_names_column_and_key() {
    let frame = df!("k" => ["ID_004", "ID_004", "x"], "t" => [1_i64, 2, 1], "address" => [Some("a"), None, None]).unwrap();
    let metadata = metadata(&[("address", SdType::Categorical)]);
    let message = refusal(&frame, &metadata, &["address"]);
    assert!(
        message.contains("`address`") && message.contains("`ID_004`"),
        "{message}"
    );
    assert!(message.contains("rows 0 and 1"), "{message}");
    assert!(table(&frame, &metadata, &[]).is_ok());
}

#[test]
fn a_missing_key_or_index_names_its_row() {
    let metadata = metadata(&[]);
    let frame = df!("k" => [Some("a"), None], "t" => [1_i64, 2]).unwrap();
    assert_eq!(
        refusal(&frame, &metadata, &[]),
        "column `k`, row 1: the sequence key is missing; every row needs one"
    );
    let frame = df!("k" => ["a", "b"], "t" => [f64::NAN, 2.0]).unwrap();
    assert!(refusal(&frame, &metadata, &[]).contains("row 0: the sequence index is missing"));
}

#[test]
fn an_empty_frame_is_refused() {
    let frame = visits().slice(0, 0);
    assert!(matches!(
        fit(&frame, &visits_metadata(), &[]),
        Err(TableError::Empty { what: "rows" })
    ));
    let schema = fit(&visits(), &visits_metadata(), &[]).unwrap();
    assert!(SequenceTable::from_source(&frame, &schema).is_err());
    let none = DataFrame::empty();
    assert!(matches!(
        fit(&none, &visits_metadata(), &[]),
        Err(TableError::Empty { what: "columns" })
    ));
}

#[test]
fn columns_that_frame_and_metadata_do_not_share_name_the_nearest() {
    let mut frame = visits();
    frame.rename("sex", "gender".into()).unwrap();
    assert!(
        refusal(&frame, &visits_metadata(), &[]).contains("column `gender` is not in the metadata")
    );
    frame.rename("gender", "Sex".into()).unwrap();
    assert!(refusal(&frame, &visits_metadata(), &[]).contains("did you mean `sex`?"));
    let frame = visits().drop("sex").unwrap();
    let message = refusal(&frame, &visits_metadata(), &[]);
    assert!(
        message.contains("column `sex` of the metadata is not in the data"),
        "{message}"
    );
}

#[test]
fn a_context_column_with_another_role_is_refused_with_both_named() {
    let message = |context: &[&str]| refusal(&visits(), &visits_metadata(), context);
    assert_eq!(
        message(&["k"]),
        "column `k` cannot be both sequence key and context column"
    );
    assert_eq!(
        message(&["t"]),
        "column `t` cannot be both sequence index and context column"
    );
    assert!(message(&["sex", "sex"]).contains("`sex` is named as context column twice"));
    assert!(message(&["sx"]).contains("`sx` is not a column; did you mean `sex`?"));
}

#[test]
fn dtypes_that_contradict_the_sdtype_are_refused_with_a_remedy() {
    let message = |column: Column, sdtype: SdType| {
        let metadata = only("x", sdtype);
        let frame = DataFrame::new_infer_height(vec![column]).unwrap();
        refusal(&frame, &metadata, &[])
    };
    let text = || Column::new("x".into(), ["1", "two"]);
    assert!(message(text(), SdType::Numerical).contains("cast the column to a number"));
    let days = Column::new("x".into(), [1_i64, 2]);
    let time = days.cast(&DataType::Time).unwrap();
    let time = message(time, SdType::Numerical);
    assert!(
        time.contains("cast the column to Int64") && time.contains("supported dtypes are"),
        "{time}"
    );
    let list = Column::new("x".into(), [Series::new("".into(), [1_i64])]);
    assert!(message(list, SdType::Categorical).contains("list[i64]"));
    let date = days
        .cast(&DataType::Int32)
        .unwrap()
        .cast(&DataType::Date)
        .unwrap();
    assert!(message(date.clone(), SdType::Numerical).contains("state the column as datetime"));
    assert!(message(date, id()).contains("cast the column to String"));
    assert!(message(days.clone(), datetime(None)).contains("datetime_format"));
    assert!(message(Column::new("x".into(), [1.5]), datetime(Some("%Y"))).contains("datetime"));
    let infinite = Column::new("x".into(), [1.0, f64::NEG_INFINITY]);
    assert!(
        message(infinite, SdType::Numerical).contains("column `x`, row 1: the value is infinite")
    );
}

#[test]
fn an_enum_key_is_refused_because_it_takes_no_new_value() {
    let categories = FrozenCategories::new(["a", "b"]).unwrap();
    let key = Column::new("k".into(), ["a", "b"])
        .cast(&DataType::from_frozen_categories(categories))
        .unwrap();
    let frame = DataFrame::new_infer_height(vec![key]).unwrap();
    let metadata = Metadata::builder()
        .column("k", SdType::Categorical)
        .sequence_key("k")
        .build()
        .unwrap();
    assert!(refusal(&frame, &metadata, &[]).contains("Enum cannot take"));
}

#[test]
fn a_pattern_that_the_dtype_cannot_hold_is_refused_at_once() {
    let metadata = only(
        "code",
        SdType::Id {
            regex_format: Some("\\d{4}".to_owned()),
        },
    );
    let message = refusal(&df!("code" => [870_i64, 123]).unwrap(), &metadata, &[]);
    assert!(
        message.contains("`code`") && message.contains("read it as text"),
        "{message}"
    );
    assert!(table(&df!("code" => ["0870", "0123"]).unwrap(), &metadata, &[]).is_ok());
}

#[test]
fn given_context_comes_in_any_order_and_in_wider_or_narrower_dtypes() {
    let frame = df!("k" => [1_i64, 2], "t" => [1_i64, 1], "c1" => ["a", "b"], "c2" => [Some(1.5), None], "n" => [3_i64, 4]).unwrap();
    let birth = Column::new("birth".into(), [0_i32, 1])
        .cast(&DataType::Date)
        .unwrap();
    let frame = frame.hstack(&[birth]).unwrap();
    let metadata = metadata(&[
        ("c1", SdType::Categorical),
        ("c2", SdType::Numerical),
        ("n", SdType::Numerical),
        ("birth", datetime(None)),
    ]);
    let schema = fit(&frame, &metadata, &["c2", "c1", "n", "birth"]).unwrap();
    let given = df!("birth" => ["2006-01-01", "1970-01-03"], "n" => [7_i32, 8], "c2" => [1_i64, 2], "k" => [9_u8, 8]).unwrap();
    let rows = ContextRows::from_frame(&given, &schema).unwrap();
    assert_eq!(rows.rows, 2);
    let positions: Vec<usize> = rows.columns.iter().map(|(position, _)| *position).collect();
    assert_eq!(positions, [5, 4, 3, 0]);
    assert_eq!(numbers(&rows.columns[0].1), [Some(13149.0), Some(2.0)]);
    assert_eq!(numbers(&rows.columns[1].1), [Some(7.0), Some(8.0)]);
    assert_eq!(
        label_texts(&rows.columns[3].1),
        [Some("9".to_owned()), Some("8".to_owned())]
    );
    let error = |frame: DataFrame| {
        ContextRows::from_frame(&frame, &schema)
            .unwrap_err()
            .to_string()
    };
    assert!(error(df!("n" => [1.5]).unwrap()).contains("column `n`, row 0"));
    assert!(error(df!("n" => ["1"]).unwrap()).contains("dtype str; i64 was fitted"));
    let message = error(df!("t" => [1_i64]).unwrap());
    assert!(
        message.contains("`t` is not a context column") && message.contains("c1, c2, n, birth"),
        "{message}"
    );
    assert!(
        error(df!("c3" => [1_i64]).unwrap()).contains("did you mean `c1`?")
            || error(df!("c3" => [1_i64]).unwrap()).contains("did you mean `c2`?")
    );
    assert!(error(df!("birth" => ["June"]).unwrap()).contains("column `birth`, row 0"));
    assert!(error(df!("k" => [None::<i64>]).unwrap()).contains("sequence key is missing"));
    assert!(error(given.slice(0, 0)).contains("no rows"));
    let missing = ContextRows::from_frame(&df!("c2" => [None::<f64>]).unwrap(), &schema).unwrap();
    assert_eq!(numbers(&missing.columns[0].1), [None]);
    // c1 was text when fitted; a Categorical of the same texts is as good
    let c1 = Column::new("c1".into(), ["b"])
        .cast(&DataType::from_categories(Categories::global()))
        .unwrap();
    let rows =
        ContextRows::from_frame(&DataFrame::new_infer_height(vec![c1]).unwrap(), &schema).unwrap();
    assert_eq!(label_texts(&rows.columns[0].1), [Some("b".to_owned())]);
}

#[test]
fn a_number_that_the_fitted_dtype_cannot_hold_is_refused_and_not_clamped() {
    let days = |days: &[i64], unit: TimeUnit| {
        let nanoseconds = match unit {
            TimeUnit::Milliseconds => 86_400_000,
            _ => 86_400_000_000_000,
        };
        let days = days
            .iter()
            .map(|day| day * nanoseconds)
            .collect::<Vec<i64>>();
        Column::new("when".into(), days)
            .cast(&DataType::Datetime(unit, None))
            .unwrap()
    };
    let mut frame = df!(
        "size" => [1_i32, 2],
        "count" => [1_u8, 2],
        "share" => [0.5_f32, 1.5],
    )
    .unwrap();
    frame
        .with_column(days(&[0, 1], TimeUnit::Nanoseconds))
        .unwrap();
    let metadata = Metadata::builder()
        .column("size", SdType::Numerical)
        .column("count", SdType::Numerical)
        .column("share", SdType::Numerical)
        .column("when", SdType::Datetime { format: None })
        .build()
        .unwrap();
    let schema = fit(&frame, &metadata, &["size", "count", "share", "when"]).unwrap();
    let refused = |given: Column| {
        let given = DataFrame::new_infer_height(vec![given]).unwrap();
        match ContextRows::from_frame(&given, &schema) {
            Err(TableError::ValueChanges { row, .. }) => row == 1,
            _ => false,
        }
    };
    assert!(refused(Column::new("size".into(), [1_i64, 3_000_000_000])));
    assert!(refused(Column::new("size".into(), [1.0, 3e9])));
    assert!(refused(Column::new("count".into(), [1_i32, -1])));
    assert!(refused(Column::new("share".into(), [0.5_f64, 1e300])));
    assert!(refused(Column::new("share".into(), [1_i64, (1 << 24) + 1])));
    // The year 2500 is beyond nanoseconds.
    assert!(refused(days(&[0, 193_600], TimeUnit::Milliseconds)));
    // What fits is taken.
    let fits = df!("size" => [1_i64, -2_147_483_648], "share" => [0.1_f64, 3e38]).unwrap();
    assert!(ContextRows::from_frame(&fits, &schema).is_ok());
}
