//! Everything that is wrong with a table is told at once; parts of a table keep sequences whole.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

use std::collections::BTreeSet;

use parsynth::{
    DataProblem, Error, LongSequences, Metadata, ParSynthesizer, ParSynthesizerBuilder, SdType,
    SubsetOptions, TableError, read_csv,
};
use polars::prelude::*;

fn stores() -> (Metadata, DataFrame) {
    let metadata = Metadata::from_json_file("data/stores.metadata.json").unwrap();
    let frame = read_csv("data/stores.csv", &metadata).unwrap();
    (metadata, frame)
}

fn dated(format: &str) -> SdType {
    SdType::Datetime {
        format: Some(format.to_owned()),
    }
}

fn id(regex: Option<&str>) -> SdType {
    SdType::Id {
        regex_format: regex.map(str::to_owned),
    }
}

fn visits() -> Metadata {
    Metadata::builder()
        .column("patient", id(Some("p[0-9]")))
        .column("day", SdType::Numerical)
        .column("seen", dated("%Y-%m-%d"))
        .column("weight", SdType::Numerical)
        .column("sex", SdType::Categorical)
        .sequence_key("patient")
        .sequence_index("day")
        .build()
        .unwrap()
}

fn builder(metadata: &Metadata) -> ParSynthesizerBuilder {
    ParSynthesizer::builder(metadata.clone())
        .context_columns(["sex"])
        .hidden_size(8)
        .epochs(0)
}

fn problems(result: Result<(), Error>) -> Vec<DataProblem> {
    match result {
        Ok(()) => Vec::new(),
        Err(Error::InvalidData(invalid)) => invalid.problems,
        Err(other) => panic!("{other}"),
    }
}

fn told(problems: &[DataProblem], column: &str) -> Vec<(Option<usize>, usize)> {
    problems
        .iter()
        .filter(|problem| problem.column.as_deref() == Some(column))
        .map(|problem| (problem.first_row, problem.rows))
        .collect()
}

#[test]
fn every_problem_of_a_table_is_told_at_once() {
    let metadata = visits();
    let frame = df!(
        "patient" => [Some("p1"), Some("p1"), Some("p1"), None, Some("q2"), Some("q2"), Some("p3")],
        "day" => [Some(0), Some(1), Some(2), Some(0), Some(0), Some(1), None],
        "seen" => ["2021-04-05", "April", "2021-04-07", "2021-04-08", "May", "2021-13-01", "2021-04-09"],
        "weight" => [70.0, f64::INFINITY, f64::NAN, f64::NEG_INFINITY, 71.0, 72.0, 73.0],
        "sex" => ["f", "m", "m", "f", "m", "m", "f"],
        "hieght" => [1, 2, 3, 4, 5, 6, 7],
    )
    .unwrap();
    let found = problems(builder(&metadata).validate(&frame));
    assert_eq!(told(&found, "patient"), [(Some(3), 1), (Some(4), 2)]);
    assert_eq!(told(&found, "day"), [(Some(6), 1)]);
    assert_eq!(told(&found, "seen"), [(Some(1), 3)]);
    assert_eq!(told(&found, "weight"), [(Some(1), 2)]);
    assert_eq!(told(&found, "sex"), [(Some(1), 2)]);
    assert_eq!(told(&found, "hieght"), [(None, 0)]);
    assert_eq!(found.len(), 7);
    let error = builder(&metadata).validate(&frame).unwrap_err().to_string();
    assert_eq!(error.lines().count(), 8, "{error}");
    let seen = "column `seen`, row 1: the value does not fit the format %Y-%m-%d (3 rows in all); correct it";
    assert!(error.contains(seen), "{error}");
}

#[test]
fn a_fit_stops_at_one_of_the_listed_problems_in_the_same_words() {
    let metadata = visits();
    let good = df!(
        "patient" => ["p1", "p1", "p2"], "day" => [0, 1, 0],
        "seen" => ["2021-04-05", "2021-04-06", "2021-04-07"],
        "weight" => [70.0, 71.0, 72.0], "sex" => ["f", "f", "m"],
    )
    .unwrap();
    builder(&metadata).validate(&good).unwrap();
    builder(&metadata).fit(&good).unwrap();
    let with = |column: Column| {
        let mut frame = good.clone();
        frame.with_column(column).unwrap();
        frame
    };
    for bad in [
        with(Column::new(
            "seen".into(),
            ["2021-04-05", "x", "2021-04-07"],
        )),
        with(Column::new("weight".into(), ["a", "b", "c"])),
        with(Column::new("sex".into(), ["f", "m", "m"])),
        with(Column::new("day".into(), [Some(0), None, Some(0)])),
        with(Column::new("age".into(), [1, 2, 3])),
        good.drop("weight").unwrap(),
        good.slice(0, 0),
    ] {
        let fitted = builder(&metadata).fit(&bad).unwrap_err().to_string();
        let listed: Vec<String> = problems(builder(&metadata).validate(&bad))
            .iter()
            .map(|problem| problem.error.to_string())
            .collect();
        assert_eq!(listed, [fitted]);
    }
}

#[test]
fn dates_as_digits_and_ids_as_numbers_are_counted_by_their_digits() {
    let metadata = Metadata::builder()
        .column("d", dated("%Y%m%d"))
        .column("whole", id(Some("[1-9]{2}")))
        .column("real", id(Some("[1-9]{2}")))
        .column("zoned", dated("%Y-%m-%dT%H:%M:%S%z"))
        .build()
        .unwrap();
    let frame = df!(
        "d" => [Some(20_230_623), Some(20_231_405), None, Some(0)],
        "whole" => [Some(11), Some(10), Some(99), None],
        "real" => [11.0, 12.0, 13.5, 100.0],
        "zoned" => ["2021-04-05T10:00:00+0200", "2021-04-05T10:00:00+0100", "x", "2021-04-05T11:00:00+0200"],
    )
    .unwrap();
    let found = metadata.validate_data(&frame).unwrap_err().problems;
    assert_eq!(told(&found, "d"), [(Some(1), 2)]);
    assert_eq!(told(&found, "whole"), [(Some(1), 1)]);
    assert_eq!(told(&found, "real"), [(Some(2), 2)]);
    assert_eq!(told(&found, "zoned"), [(Some(2), 1)]);
    assert_eq!(found.len(), 4);
}

#[test]
fn context_columns_are_checked_with_their_roles() {
    let (metadata, frame) = stores();
    let builder = ParSynthesizer::builder(metadata).context_columns(["regoin", "date", "store_id"]);
    let found = problems(builder.validate(&frame));
    assert_eq!(found.len(), 3);
    assert!(found[0].to_string().contains("did you mean `region`"));
    assert!(
        found[1]
            .to_string()
            .contains("`date` cannot be both sequence index")
    );
}

#[test]
fn keys_that_must_differ_are_checked_alone_and_together() {
    let metadata = Metadata::from_json(
        r#"{"METADATA_SPEC_VERSION": "SINGLE_TABLE_V1", "columns": {
            "row": {"sdtype": "id"}, "a": {"sdtype": "id"}, "b": {"sdtype": "categorical"}
        }, "primary_key": "row", "alternate_keys": [["a", "b"]]}"#,
    )
    .unwrap();
    let frame = df!(
        "row" => [Some(1), Some(1), Some(1), None],
        "a" => ["x", "x", "x", "y"],
        "b" => ["u", "v", "u", "u"],
    )
    .unwrap();
    let found = metadata.validate_data(&frame).unwrap_err().problems;
    assert_eq!(told(&found, "row"), [(Some(3), 1), (Some(1), 2)]);
    assert_eq!(told(&found, "a`, `b"), [(Some(2), 1)]);
    assert_eq!(found.len(), 3);
    assert!(
        found[2]
            .to_string()
            .contains("alternate key has the value of row 0")
    );
}

#[test]
fn a_fitted_model_says_what_it_cannot_read_and_keeps_its_metadata() {
    let (metadata, frame) = stores();
    let synthesizer = ParSynthesizer::builder(metadata.clone())
        .context_columns(["region"])
        .hidden_size(8)
        .epochs(0)
        .fit(&frame)
        .unwrap();
    synthesizer.validate(&frame).unwrap();
    // Each change gives a new statement; what was fitted cannot be reached.
    let changed = metadata
        .update_column("nb_customers", SdType::Categorical)
        .unwrap();
    assert_eq!(synthesizer.metadata(), &metadata);
    assert_ne!(synthesizer.metadata(), &changed);
    let mut other = frame.clone();
    let customers = frame.column("nb_customers").unwrap();
    let halves = customers.cast(&DataType::Float64).unwrap() + Column::new("".into(), [0.5]);
    other.with_column(halves.unwrap()).unwrap();
    let region = Column::new("region".into(), vec![1_i64; frame.height()]);
    other.with_column(region).unwrap();
    let found = problems(synthesizer.validate(&other));
    assert!(
        matches!(found[0].error, TableError::DtypeChanged { .. }),
        "{}",
        found[0]
    );
    assert!(
        matches!(found[1].error, TableError::ValueChanges { row: 0, .. }),
        "{}",
        found[1]
    );
    assert_eq!(found.len(), 2);
}

fn keys(frame: &DataFrame) -> BTreeSet<String> {
    let keys = frame.column("store_id").unwrap();
    keys.str()
        .unwrap()
        .iter()
        .flatten()
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_subset_is_whole_sequences_in_the_rows_order() {
    let (metadata, frame) = stores();
    let options = SubsetOptions::sequences(10).seed(3);
    let part = metadata.subset(&frame, &options).unwrap();
    assert_eq!((part.height(), keys(&part).len()), (70, 10));
    assert_eq!(part.schema(), frame.schema());
    assert_eq!(metadata.subset(&frame, &options).unwrap(), part);
    assert_ne!(
        keys(&metadata.subset(&frame, &options.seed(4)).unwrap()),
        keys(&part)
    );
    // The rows are those of the frame, in its order, whatever that is.
    let rows: Vec<u32> = (0..700).rev().collect();
    let backwards = frame.take(&IdxCa::from_vec("".into(), rows)).unwrap();
    let turned = metadata.subset(&backwards, &options).unwrap();
    let rows: Vec<u32> = (0..70).rev().collect();
    assert_eq!(
        turned,
        part.take(&IdxCa::from_vec("".into(), rows)).unwrap()
    );
    assert!(matches!(
        metadata.subset(&frame, &SubsetOptions::sequences(101)),
        Err(TableError::TooFewSequences {
            wanted: 101,
            found: 100
        })
    ));
    assert_eq!(
        metadata
            .subset(&frame, &SubsetOptions::sequences(100))
            .unwrap(),
        frame
    );
}

#[test]
fn long_sequences_keep_their_first_last_or_random_rows() {
    let (metadata, frame) = stores();
    let kept = |which| {
        let options = SubsetOptions::all_sequences()
            .max_length(2)
            .long_sequences(which)
            .seed(1);
        let part = metadata.subset(&frame, &options).unwrap();
        assert_eq!((part.height(), keys(&part).len()), (200, 100));
        let dates = part.column("date").unwrap().str().unwrap().clone();
        dates
            .iter()
            .flatten()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let first = kept(LongSequences::FirstRows);
    assert!(
        first
            .chunks(2)
            .all(|dates| dates == ["2020-06-01", "2020-06-02"])
    );
    let last = kept(LongSequences::LastRows);
    assert!(
        last.chunks(2)
            .all(|dates| dates == ["2020-06-06", "2020-06-07"])
    );
    let random = kept(LongSequences::Random);
    assert!(random.chunks(2).all(|dates| dates[0] < dates[1]));
    assert_eq!(random.iter().collect::<BTreeSet<_>>().len(), 7);
    let none = metadata
        .subset(&frame, &SubsetOptions::all_sequences().max_length(0))
        .unwrap();
    assert_eq!(none.height(), 0);
}

#[test]
fn a_split_leaves_every_sequence_whole_on_one_side() {
    let (metadata, frame) = stores();
    let (training, held_out) = metadata.split(&frame, 0.25, Some(5)).unwrap();
    assert_eq!((training.height(), held_out.height()), (525, 175));
    assert!(keys(&training).is_disjoint(&keys(&held_out)));
    let (smallest, _) = metadata.split(&frame, 0.999, Some(5)).unwrap();
    assert_eq!(keys(&smallest).len(), 1);
    for share in [0.0, 1.0, -0.5, f64::NAN] {
        assert!(matches!(
            metadata.split(&frame, share, None),
            Err(TableError::Share { .. })
        ));
    }
    let one = frame.slice(0, 7);
    assert!(metadata.split(&one, 0.5, None).is_err());
}

#[test]
fn parts_of_tables_without_key_or_rows_are_what_is_left() {
    let metadata = Metadata::builder()
        .column("v", SdType::Numerical)
        .build()
        .unwrap();
    let frame = df!("v" => [1, 2, 3]).unwrap();
    let part = metadata
        .subset(&frame, &SubsetOptions::sequences(1).max_length(2))
        .unwrap();
    assert_eq!(part, frame.slice(0, 2));
    let nothing = frame.slice(0, 0);
    assert_eq!(
        metadata
            .subset(&nothing, &SubsetOptions::all_sequences())
            .unwrap(),
        nothing
    );
    assert!(
        metadata
            .subset(&nothing, &SubsetOptions::sequences(1))
            .is_err()
    );
}
