use super::*;

fn text_frame(cells: &[&str]) -> DataFrame {
    df!("d" => cells).unwrap()
}

fn back(frame: &DataFrame, format: Option<&str>) -> DataFrame {
    there_and_back(frame, &only("d", datetime(format)))
}

fn assert_comes_back(cells: &[&str], format: Option<&str>) {
    let frame = text_frame(cells);
    let back = back(&frame, format);
    assert!(
        back.equals_missing(&frame),
        "{format:?}: {back} is not {frame}"
    );
}

#[test]
fn text_dates_come_back_byte_for_byte() {
    assert_comes_back(&["Jun 26, 2021", "Jan 03, 1999"], Some("%b %d, %Y"));
    assert_comes_back(&["Jun 26, 2021", "Jan 3, 1999"], Some("%b %d, %Y"));
    assert_comes_back(&["1/12/2021", "11/1/2021"], Some("%m/%d/%Y"));
    assert_comes_back(&["2021-06", "1999-12"], Some("%Y-%m"));
    assert_comes_back(&["2021", "1999"], Some("%Y"));
    assert_comes_back(&["09:05", "23:59"], Some("%H:%M"));
    assert_comes_back(&["9:05 AM", "12:00 PM"], Some("%I:%M %p"));
    assert_comes_back(&["09:05 am", "12:00 pm"], Some("%I:%M %p"));
    assert_comes_back(&["26JUN2021", "01JAN1999"], Some("%d%b%Y"));
    assert_comes_back(&["Saturday 26 June 2021"], Some("%A %d %B %Y"));
    assert_comes_back(
        &["2021-06-26 01:02:03.000100", "2021-06-26 01:02:03.999999"],
        Some("%Y-%m-%d %H:%M:%S.%f"),
    );
    assert_comes_back(&["2021-06-26 01:02:03.100"], Some("%Y-%m-%d %H:%M:%S.%f"));
    assert_comes_back(
        &["2021-06-26 01:02:03.123456789"],
        Some("%Y-%m-%d %H:%M:%S.%f"),
    );
    assert_comes_back(
        &["2021-06-26 01:02:03", "2021-06-26 01:02:03.500"],
        Some("%Y-%m-%d %H:%M:%S.%f"),
    );
    assert_comes_back(
        &["2021-06-26T01:02:03+02:00", "2021-07-26T01:02:03+02:00"],
        Some("%Y-%m-%dT%H:%M:%S%z"),
    );
    assert_comes_back(&["2021-06-26 01:02:03 CEST"], Some("%Y-%m-%d %H:%M:%S %Z"));
}

#[test]
fn the_common_formats_need_not_be_stated() {
    for cells in [
        ["2021-06-26", "1999-01-03"],
        ["2021-06-26 23:59:59", "1999-01-03 00:00:00"],
        ["2021-06-26T23:59:59", "1999-01-03T00:00:00"],
        ["2021-06-26 23:59:59.500000", "1999-01-03 00:00:00.000001"],
        ["2021-06-26T23:59:59.123", "1999-01-03T00:00:00.001"],
    ] {
        assert_comes_back(&cells, None);
    }
    let message = refusal(
        &text_frame(&["2021-06-26", "26.6.2021"]),
        &only("d", datetime(None)),
        &[],
    );
    assert!(
        message.contains("column `d`, row 1") && message.contains("%Y-%m-%d"),
        "{message}"
    );
}

#[test]
fn integer_dates_are_calendar_dates_and_no_seconds() {
    let frame = df!("d" => [20_230_623_i64, 20_210_405]).unwrap();
    let metadata = only("d", datetime(Some("%Y%m%d")));
    let schema = fit(&frame, &metadata, &[]).unwrap();
    let Values::Numbers(cells) = &SequenceTable::from_source(&frame, &schema).unwrap().columns[0]
    else {
        panic!()
    };
    let days = (cells[0] - cells[1]) * schema.seconds_per_raw_unit(0).unwrap() / 86_400.0;
    assert_eq!(days, 809.0); // 2021-04-05 to 2023-06-23
    assert!(back(&frame, Some("%Y%m%d")).equals(&frame));
    let short = df!("d" => [50_101_i32, 991_231]).unwrap(); // 05-01-01 has lost a zero
    assert!(back(&short, Some("%y%m%d")).equals(&short));
    let message = refusal(
        &df!("d" => [20_230_623_i64, 20_231_323]).unwrap(),
        &metadata,
        &[],
    );
    assert_eq!(
        message,
        "column `d`, row 1: the value does not fit the format %Y%m%d"
    );
    assert!(refusal(&df!("d" => [-5_i64]).unwrap(), &metadata, &[]).contains("row 0"));
}

#[test]
fn a_text_that_does_not_fit_the_format_names_its_row() {
    let metadata = only("d", datetime(Some("%Y-%m-%d")));
    for (cells, row) in [
        (["2021-06-26", "2021-02-30"], 1),
        (["26.06.2021", "2021-02-03"], 0),
        (["2021-06-26", ""], 1),
        (["2021-06-26", "2021-06-26 10:00"], 1),
    ] {
        let message = refusal(&text_frame(&cells), &metadata, &[]);
        assert!(
            message.contains(&format!("column `d`, row {row}:")),
            "{message}"
        );
    }
    let message = refusal(
        &text_frame(&["June 1 2021", "Jul 1 2021"]),
        &only("d", datetime(Some("%b %d %Y"))),
        &[],
    );
    assert!(message.contains("row 0"), "{message}");
}

#[test]
fn mixed_padding_is_read_and_one_padding_written() {
    let frame = text_frame(&["1/2/2021", "01/02/2021"]);
    let back = back(&frame, Some("%m/%d/%Y"));
    let cells: Vec<&str> = back
        .column("d")
        .unwrap()
        .str()
        .unwrap()
        .iter()
        .flatten()
        .collect();
    assert_eq!(cells[0], cells[1]);
}

#[test]
fn missing_dates_stay_missing() {
    let frame = df!("d" => [Some("2021-06-26"), None]).unwrap();
    assert!(back(&frame, Some("%Y-%m-%d")).equals_missing(&frame));
    let frame = df!("d" => [None, Some(20_210_626_i64)]).unwrap();
    assert!(back(&frame, Some("%Y%m%d")).equals_missing(&frame));
}

#[test]
fn text_dates_as_index_are_ordered_in_time_and_not_by_letters() {
    let metadata = Metadata::builder()
        .column("d", datetime(Some("%d.%m.%Y")))
        .sequence_index("d")
        .build()
        .unwrap();
    let frame = text_frame(&["03.01.2021", "01.12.2020", "02.02.2020"]);
    let table = table(&frame, &metadata, &[]).unwrap();
    assert_eq!(*table.row_numbers, [2, 1, 0]);
}

#[test]
fn a_date_past_what_the_format_can_write_stops_at_its_edge() {
    let frame = text_frame(&["2021-06-26"]);
    let schema = fit(&frame, &only("d", datetime(Some("%Y-%m-%d"))), &[]).unwrap();
    let made = schema
        .to_frame(vec![Values::Numbers(vec![1e300, -1e300, f64::NAN].into())])
        .unwrap();
    let cells: Vec<Option<&str>> = made.column("d").unwrap().str().unwrap().iter().collect();
    assert_eq!(cells, [Some("9999-12-31"), Some("0001-01-01"), None]);
}

#[test]
fn seconds_per_unit_follow_the_storage() {
    let seconds = |dtype: DataType| {
        let column = Column::new("d".into(), [1_i32]).cast(&dtype).unwrap();
        let frame = DataFrame::new_infer_height(vec![column]).unwrap();
        fit(&frame, &only("d", datetime(None)), &[])
            .unwrap()
            .seconds_per_raw_unit(0)
    };
    assert_eq!(seconds(DataType::Date), Some(86_400.0));
    assert_eq!(
        seconds(DataType::Datetime(TimeUnit::Nanoseconds, None)),
        Some(1e-9)
    );
    assert_eq!(
        seconds(DataType::Datetime(TimeUnit::Microseconds, None)),
        Some(1e-6)
    );
    assert_eq!(
        seconds(DataType::Datetime(TimeUnit::Milliseconds, None)),
        Some(1e-3)
    );
    let text = fit(
        &text_frame(&["2021-06-26"]),
        &only("d", datetime(None)),
        &[],
    )
    .unwrap();
    assert_eq!(text.seconds_per_raw_unit(0), Some(1e-6));
    let number = fit(
        &df!("d" => [1]).unwrap(),
        &only("d", SdType::Numerical),
        &[],
    )
    .unwrap();
    assert_eq!(number.seconds_per_raw_unit(0), None);
}
