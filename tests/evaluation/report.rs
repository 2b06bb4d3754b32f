//! The report as text, JSON and HTML.

use parsynth::{EvaluationError, EvaluationOptions, Metadata, SdType, evaluate, evaluate_with};
use polars::prelude::*;

use crate::common::{evaluated, id, sequences};

const HOSTILE: &str = "<script>alert('1')</script>\" onload=\"x";

fn hostile() -> (Metadata, DataFrame) {
    let metadata = Metadata::builder()
        .column("k", id())
        .column(HOSTILE, SdType::Categorical)
        .column("x", SdType::Numerical)
        .sequence_key("k")
        .build()
        .unwrap();
    let labels = [HOSTILE, "שלום", "🦀", "&amp;"];
    let keys: Vec<i64> = (0..80).flat_map(|key| [key; 3]).collect();
    let categories: Vec<&str> = (0..240_usize).map(|row| labels[row % 4]).collect();
    let numbers: Vec<f64> = (0..240).map(|row| f64::from(row % 17)).collect();
    (
        metadata,
        df!("k" => keys, HOSTILE => categories, "x" => numbers).unwrap(),
    )
}

#[test]
fn what_a_table_holds_is_never_markup() {
    let (metadata, frame) = hostile();
    let html = evaluate(&frame, &frame, None, &metadata).unwrap().to_html();
    assert!(
        !html.contains("<script") && !html.contains("\" onload=\""),
        "escaped"
    );
    assert!(html.contains("&lt;script&gt;") && html.contains("שלום") && html.contains("&amp;amp;"));
}

/// Each tag that opens is closed, in order.
fn assert_well_formed(html: &str) {
    const ALONE: [&str; 2] = ["meta", "!DOCTYPE"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        let end = rest[start..].find('>').unwrap() + start;
        let tag = &rest[start + 1..end];
        let name = tag
            .trim_start_matches('/')
            .split([' ', '\n'])
            .next()
            .unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !ALONE.contains(&name) {
            open.push(name);
        }
        rest = &rest[end + 1..];
        if name == "style" && !tag.starts_with('/') {
            rest = &rest[rest.find("</style>").unwrap()..];
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn the_page_is_well_formed_needs_no_network_and_names_every_column() {
    let report = evaluated(
        &sequences(60, 0.7, 1),
        &sequences(60, 0.7, 2),
        Some(&sequences(60, 0.7, 3)),
    );
    let html = report.to_html();
    assert_well_formed(&html);
    for outside in ["http", "src=", "@import", "url(", "<script", "<link"] {
        assert!(!html.contains(outside), "{outside}");
    }
    for section in [
        "findings",
        "scores",
        "columns",
        "pairs",
        "sequences",
        "time",
        "classifier",
        "next-row",
        "privacy",
    ] {
        assert!(html.contains(&format!("id=\"{section}\"")), "{section}");
    }
    for column in ["g", "t", "x", "c"] {
        assert!(html.contains(&format!("<span>{column}</span>")), "{column}");
    }
    assert!(!html.contains("NaN") && !html.contains("inf\""));
}

#[test]
fn a_table_of_many_columns_makes_a_page_of_bounded_size() {
    let mut metadata = Metadata::builder().column("k", id()).sequence_key("k");
    let keys: Vec<i64> = (0..40).flat_map(|key| [key; 5]).collect();
    let mut columns = vec![Column::new("k".into(), keys)];
    for number in 0..120 {
        let name = format!("{}{number}", "a long name ".repeat(20));
        metadata = metadata.column(name.clone(), SdType::Numerical);
        let cells: Vec<f64> = (0..200)
            .map(|row| f64::from((row * (number + 3)) % 101))
            .collect();
        columns.push(Column::new(name.into(), cells));
    }
    let frame = DataFrame::new_infer_height(columns).unwrap();
    let report = evaluate(&frame, &frame, None, &metadata.build().unwrap()).unwrap();
    let html = report.to_html();
    assert_well_formed(&html);
    assert!(html.len() < 3_000_000, "{}", html.len());
}

#[test]
fn json_holds_the_same_numbers() {
    let report = evaluated(&sequences(60, 0.7, 1), &sequences(60, 0.7, 2), None);
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    assert_eq!(
        json["fidelity"]["overall"].as_f64(),
        report.fidelity.overall
    );
    assert_eq!(json["privacy"]["membership"], serde_json::Value::Null);
    assert_eq!(json["tables"]["real"]["sequences"], 60);
}

#[test]
fn the_terminal_table_keeps_to_its_width() {
    let report = evaluated(&sequences(60, 0.9, 1), &sequences(60, 0.1, 2), None);
    let text = report.to_string();
    assert!(
        text.lines().all(|line| line.chars().count() <= 101),
        "{text}"
    );
    assert!(text.contains("Worst first") && text.contains("OVERALL") && text.contains("closeness"));
    assert!(!text.contains('\u{1b}'), "no colours");
}

#[test]
fn files_are_written_and_a_folder_that_is_not_there_is_named() {
    let report = evaluated(&sequences(10, 0.7, 1), &sequences(10, 0.7, 2), None);
    let folder = tempfile::tempdir().unwrap();
    report
        .write_html(folder.path().join("report.html"))
        .unwrap();
    report
        .write_json(folder.path().join("report.json"))
        .unwrap();
    assert_eq!(
        std::fs::read_to_string(folder.path().join("report.html")).unwrap(),
        report.to_html()
    );
    let error = report
        .write_html(folder.path().join("none/report.html"))
        .unwrap_err();
    assert!(error.to_string().contains("none/report.html"), "{error}");
}

#[test]
fn the_wrong_table_and_its_column_are_named() {
    let metadata = Metadata::builder()
        .column("x", SdType::Numerical)
        .build()
        .unwrap();
    let (good, bad) = (df!("x" => [1.0]).unwrap(), df!("y" => [1.0]).unwrap());
    let error = evaluate(&good, &bad, None, &metadata).unwrap_err();
    assert!(
        error.to_string().starts_with("synthetic table: ") && error.to_string().contains("`y`"),
        "{error}"
    );
    let error = evaluate(&good, &good, Some(&bad), &metadata).unwrap_err();
    assert!(error.to_string().starts_with("holdout table: "), "{error}");
    let options = EvaluationOptions::new().context_columns(["z"]);
    let error = evaluate_with(&good, &good, None, &metadata, &options).unwrap_err();
    assert!(error.to_string().contains("`z`"), "{error}");
    let ids = Metadata::builder().column("x", id()).build().unwrap();
    let error = evaluate(
        &df!("x" => ["a"]).unwrap(),
        &df!("x" => ["b"]).unwrap(),
        None,
        &ids,
    )
    .unwrap_err();
    assert!(
        matches!(error, EvaluationError::NothingToCompare { columns: 1 }),
        "{error}"
    );
}

/// Two context columns of categories, dates as text, unequal lengths; and one single sequence.
#[test]
fn tiny_tables_give_a_number_or_none() {
    let date = SdType::Datetime {
        format: Some("%Y-%m-%d".to_owned()),
    };
    let metadata = Metadata::builder()
        .column("k", id())
        .column("d", date.clone())
        .column("a", SdType::Categorical)
        .column("b", SdType::Categorical)
        .sequence_key("k")
        .sequence_index("d")
        .build()
        .unwrap();
    let days = [
        "2020-01-01",
        "2020-01-02",
        "2020-01-01",
        "2020-01-05",
        "2020-01-09",
    ];
    let frame = df!("k" => [1, 1, 2, 2, 2], "d" => days, "a" => ["m", "m", "f", "f", "f"], "b" => ["x", "x", "y", "y", "y"]).unwrap();
    let options = EvaluationOptions::new().context_columns(["a", "b"]);
    let report = evaluate_with(&frame, &frame, Some(&frame), &metadata, &options).unwrap();
    assert_eq!(report.two_sample.auc, None);
    assert_eq!(report.quality.overall, Some(1.0));

    let many: Vec<DataFrame> = (0..60)
        .map(|copy| {
            let mut frame = frame.clone();
            let keys: Vec<i64> = [1, 1, 2, 2, 2].iter().map(|key| key + 10 * copy).collect();
            frame.with_column(Column::new("k".into(), keys)).unwrap();
            frame
        })
        .collect();
    let many = many
        .into_iter()
        .reduce(|all, next| all.vstack(&next).unwrap())
        .unwrap();
    let report = evaluate_with(&many, &many, None, &metadata, &options).unwrap();
    assert!((0.0..=1.0).contains(&report.two_sample.auc.unwrap()));

    let single = Metadata::builder()
        .column("t", SdType::Numerical)
        .column("v", SdType::Numerical)
        .sequence_index("t")
        .build()
        .unwrap();
    let wave = |phase: f64| {
        let values: Vec<f64> = (0..200)
            .map(|row| (f64::from(row) / 9.0 + phase).sin())
            .collect();
        df!("t" => (0..200).collect::<Vec<i64>>(), "v" => values).unwrap()
    };
    let report = evaluate(&wave(0.0), &wave(1.0), None, &single).unwrap();
    assert_eq!(report.sequences.window_rows, Some(10));
    assert!(report.along_time.autocorrelation_score.is_some());
}
