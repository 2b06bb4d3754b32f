use proptest::prelude::*;

use super::*;

fn frame_of(columns: Vec<Column>) -> DataFrame {
    DataFrame::new_infer_height(columns).unwrap()
}

/// The frame comes back as it was, dtypes and nulls alike.
fn assert_same(frame: &DataFrame, metadata: &Metadata) {
    let back = there_and_back(frame, metadata);
    assert_eq!(back.schema(), frame.schema());
    assert!(back.equals_missing(frame), "{back} is not {frame}");
}

#[test]
fn every_dtype_comes_back_as_numbers() {
    for dtype in [
        DataType::Int8,
        DataType::Int16,
        DataType::Int32,
        DataType::Int64,
        DataType::UInt8,
        DataType::UInt16,
        DataType::UInt32,
        DataType::UInt64,
        DataType::Float32,
        DataType::Float64,
    ] {
        let column = Column::new("x".into(), [Some(1_i64), None, Some(3), Some(100)]);
        assert_same(
            &frame_of(vec![column.cast(&dtype).unwrap()]),
            &only("x", SdType::Numerical),
        );
        assert_same(
            &frame_of(vec![column.cast(&dtype).unwrap()]),
            &only("x", SdType::Categorical),
        );
        assert_same(
            &frame_of(vec![column.cast(&dtype).unwrap()]),
            &only("x", id()),
        );
    }
}

#[test]
fn integers_past_the_reach_of_f64_keep_every_digit() {
    let big = [i64::MAX, i64::MAX - 1, i64::MAX - 1000];
    assert_same(&df!("x" => big).unwrap(), &only("x", SdType::Numerical));
    assert_same(&df!("x" => big).unwrap(), &only("x", SdType::Categorical));
    assert_same(
        &df!("x" => [u64::MAX, u64::MAX - 3]).unwrap(),
        &only("x", SdType::Numerical),
    );
    assert_same(&df!("x" => [u64::MAX, 0]).unwrap(), &only("x", id()));
    let schema = fit(
        &df!("x" => big).unwrap(),
        &only("x", SdType::Numerical),
        &[],
    )
    .unwrap();
    assert_eq!(schema.columns[0].base, i128::from(i64::MAX - 1000));
    let schema = fit(
        &df!("x" => [5_i64, 6]).unwrap(),
        &only("x", SdType::Numerical),
        &[],
    )
    .unwrap();
    assert_eq!(schema.columns[0].base, 0);
}

#[test]
fn a_float32_is_the_decimal_it_shows() {
    let frame = df!("x" => [0.1_f32, 1e30, -2.7, f32::MIN_POSITIVE]).unwrap();
    let table = table(&frame, &only("x", SdType::Numerical), &[]).unwrap();
    assert_eq!(numbers(&table.columns[0])[0], Some(0.1));
    assert_same(&frame, &only("x", SdType::Numerical));
    assert_same(&frame, &only("x", SdType::Categorical));
}

#[test]
fn nan_is_missing_and_comes_back_as_null() {
    let frame = df!("x" => [Some(1.0), Some(f64::NAN), None, Some(3.0)]).unwrap();
    for sdtype in [SdType::Numerical, SdType::Categorical] {
        let back = there_and_back(&frame, &only("x", sdtype));
        let cells: Vec<Option<f64>> = back.column("x").unwrap().f64().unwrap().iter().collect();
        assert_eq!(cells, [Some(1.0), None, None, Some(3.0)]);
    }
    let table = table(&frame, &only("x", SdType::Categorical), &[]).unwrap();
    assert_eq!(
        label_texts(&table.columns[0]),
        [Some("1.0".to_owned()), None, None, Some("3.0".to_owned())]
    );
}

#[test]
fn integers_with_nulls_stay_integers() {
    let frame = df!("n" => [Some(1_i64), None, Some(3), Some(4), None, Some(6)]).unwrap();
    assert_same(&frame, &only("n", SdType::Numerical));
}

#[test]
fn categories_held_as_numbers_stay_a_closed_set() {
    let frame = df!("c" => [50.0, 100.0, 50.0]).unwrap();
    let table = table(&frame, &only("c", SdType::Categorical), &[]).unwrap();
    let Values::Labels { codes, labels } = &table.columns[0] else {
        panic!()
    };
    assert_eq!(**codes, [0, 1, 0]);
    assert_eq!(**labels, [Label::Float(50.0), Label::Float(100.0)]);
    assert_same(&frame, &only("c", SdType::Categorical));
    assert_same(
        &df!("c" => [404_i64, 202]).unwrap(),
        &only("c", SdType::Categorical),
    );
    assert_same(
        &df!("c" => [Some(true), None, Some(false)]).unwrap(),
        &only("c", SdType::Boolean),
    );
    assert_same(
        &df!("c" => [Some("a"), None, Some("")]).unwrap(),
        &only("c", SdType::Categorical),
    );
}

#[test]
fn labels_are_sorted_and_the_order_of_rows_is_kept() {
    let table = table(
        &df!("c" => ["z", "a", "m", "a"]).unwrap(),
        &only("c", SdType::Categorical),
        &[],
    )
    .unwrap();
    let Values::Labels { codes, labels } = &table.columns[0] else {
        panic!()
    };
    assert_eq!(**codes, [2, 0, 1, 0]);
    assert!(labels.is_sorted());
}

#[test]
fn categorical_and_enum_come_back_with_their_categories() {
    let text = Column::new("c".into(), [Some("low"), None, Some("high"), Some("low")]);
    let categories = FrozenCategories::new(["low", "mid", "high"]).unwrap();
    for dtype in [
        DataType::from_categories(Categories::global()),
        DataType::from_frozen_categories(categories),
    ] {
        let frame = frame_of(vec![text.cast(&dtype).unwrap()]);
        assert_same(&frame, &only("c", SdType::Categorical));
    }
}

#[test]
fn dates_come_back_in_their_unit_and_zone() {
    let date = Column::new("d".into(), [Some(-1_i32), None, Some(20_000)])
        .cast(&DataType::Date)
        .unwrap();
    let stamps = Column::new(
        "d".into(),
        [
            Some(1_700_000_000_123_456_789_i64),
            None,
            Some(1_700_000_000_123_456_788),
        ],
    );
    let mut columns = vec![date];
    for unit in [
        TimeUnit::Nanoseconds,
        TimeUnit::Microseconds,
        TimeUnit::Milliseconds,
    ] {
        for zone in [None, Some("Europe/Berlin")] {
            let zone = TimeZone::opt_try_new(zone).unwrap();
            let scaled = if unit == TimeUnit::Milliseconds {
                Column::new("d".into(), [1_i64, 2])
            } else {
                stamps.clone()
            };
            columns.push(scaled.cast(&DataType::Datetime(unit, zone)).unwrap());
        }
    }
    for column in columns {
        let frame = frame_of(vec![column]);
        assert_same(&frame, &only("d", datetime(None)));
        assert_same(&frame, &only("d", SdType::Categorical));
    }
}

#[test]
fn a_column_without_any_value_comes_back_as_it_was() {
    let sdtypes = [
        SdType::Numerical,
        SdType::Categorical,
        SdType::Boolean,
        datetime(None),
        datetime(Some("%Y")),
        id(),
    ];
    let dtypes = [
        DataType::Null,
        DataType::Float64,
        DataType::Float32,
        DataType::Int16,
        DataType::String,
        DataType::Boolean,
        DataType::Date,
        DataType::Datetime(TimeUnit::Milliseconds, None),
        DataType::from_categories(Categories::global()),
        DataType::from_frozen_categories(FrozenCategories::new(["a"]).unwrap()),
    ];
    for sdtype in sdtypes {
        for dtype in &dtypes {
            let frame = frame_of(vec![Column::full_null("z".into(), 3, dtype)]);
            assert_same(&frame, &only("z", sdtype.clone()));
        }
    }
}

#[test]
fn a_number_outside_the_dtype_is_brought_to_its_edge() {
    let write = |frame: &DataFrame, sdtype: SdType, numbers: Vec<f64>| {
        let schema = fit(frame, &only("x", sdtype), &[]).unwrap();
        schema
            .to_frame(vec![Values::Numbers(numbers.into())])
            .unwrap()
            .column("x")
            .unwrap()
            .clone()
    };
    let cells = write(
        &df!("x" => [1_u8]).unwrap(),
        SdType::Numerical,
        vec![-3.0, 1.4, 1.6, 1e9, f64::INFINITY, f64::NAN],
    );
    let cells: Vec<Option<u8>> = cells.u8().unwrap().iter().collect();
    assert_eq!(
        cells,
        [Some(0), Some(1), Some(2), Some(255), Some(255), None]
    );
    let cells = write(
        &df!("x" => [1_u64]).unwrap(),
        SdType::Numerical,
        vec![-1.0, 1e30],
    );
    assert_eq!(
        cells.u64().unwrap().iter().collect::<Vec<_>>(),
        [Some(0), Some(u64::MAX)]
    );
    for dtype in [
        DataType::Date,
        DataType::Datetime(TimeUnit::Nanoseconds, None),
        DataType::Datetime(TimeUnit::Milliseconds, None),
    ] {
        let frame = frame_of(vec![Column::new("x".into(), [1_i32]).cast(&dtype).unwrap()]);
        let cells = write(&frame, datetime(None), vec![f64::NEG_INFINITY, 1e300]);
        assert_eq!(cells.null_count(), 0);
        assert!(!format!("{cells:?}").is_empty()); // polars can still show them
    }
}

#[test]
fn labels_that_the_dtype_cannot_hold_are_an_error() {
    let schema = fit(&df!("x" => [1_i64]).unwrap(), &only("x", id()), &[]).unwrap();
    for values in [
        Values::Labels {
            codes: vec![0].into(),
            labels: [Label::Text("a".to_owned())].into(),
        },
        Values::Labels {
            codes: vec![7].into(),
            labels: [Label::Integer(1)].into(),
        },
    ] {
        assert!(matches!(
            schema.to_frame(vec![values]),
            Err(TableError::LabelDoesNotFit { .. })
        ));
    }
}

#[test]
fn another_frame_is_read_by_the_fitted_schema() {
    let schema = fit(&visits(), &visits_metadata(), &["sex"]).unwrap();
    let mut other = visits();
    other
        .apply("t", |column| column.cast(&DataType::Int32).unwrap())
        .unwrap();
    assert!(SequenceTable::from_source(&other, &schema).is_ok());
    other
        .apply("t", |column| column.cast(&DataType::String).unwrap())
        .unwrap();
    assert!(matches!(
        SequenceTable::from_source(&other, &schema),
        Err(TableError::DtypeChanged { .. })
    ));
    assert!(SequenceTable::from_source(&visits().drop("v").unwrap(), &schema).is_err());
}

proptest! {
    #[test]
    fn a_generated_table_comes_back(
        rows in prop::collection::vec((any::<i64>(), any::<Option<i64>>(), prop::option::of("\\PC{0,4}"), prop::option::of(-1e300..1e300_f64), any::<Option<bool>>()), 1..40),
    ) {
        // The first column orders the rows beforehand, so that they come back in place.
        let mut rows = rows;
        rows.sort_by_key(|row| row.0);
        let frame = df!(
            "t" => rows.iter().map(|row| row.0).collect::<Vec<_>>(),
            "c" => rows.iter().map(|row| row.1).collect::<Vec<_>>(),
            "s" => rows.iter().map(|row| row.2.clone()).collect::<Vec<_>>(),
            "v" => rows.iter().map(|row| row.3).collect::<Vec<_>>(),
            "b" => rows.iter().map(|row| row.4).collect::<Vec<_>>(),
        ).unwrap();
        let metadata = Metadata::builder()
            .column("t", SdType::Categorical)
            .column("c", SdType::Categorical)
            .column("s", SdType::Categorical)
            .column("v", SdType::Numerical)
            .column("b", SdType::Boolean)
            .build()
            .unwrap();
        let back = there_and_back(&frame, &metadata);
        prop_assert_eq!(back.schema(), frame.schema());
        prop_assert!(back.equals_missing(&frame));
    }
}
