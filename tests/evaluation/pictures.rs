//! The arrays that pictures are drawn from say what the tables hold.

use parsynth::evaluation::{HistogramSide, NumberSummary};
use parsynth::{EvaluationOptions, EvaluationReport, Metadata, SdType, evaluate_with};
use polars::prelude::*;

/// Sums of at most 200 shares.
const TOLERANCE: f64 = 1e-12;

fn report() -> EvaluationReport {
    let metadata = Metadata::builder()
        .column("key", SdType::Id { regex_format: None })
        .column("x", SdType::Numerical)
        .column("c", SdType::Categorical)
        .column("day", SdType::Datetime { format: None })
        .sequence_key("key")
        .build()
        .unwrap();
    let table = |x: [Option<f64>; 4], c: [Option<&str>; 4], first_day: i32| {
        let days: Vec<i32> = (first_day..first_day + 4).collect();
        let days = Column::new("day".into(), days)
            .cast(&DataType::Date)
            .unwrap();
        let mut table = df!("key" => ["a", "a", "b", "b"], "x" => x, "c" => c).unwrap();
        table.with_column(days).unwrap();
        table
    };
    let real = table(
        [Some(1.0), Some(2.0), Some(2.0), Some(4.0)],
        [Some("u"); 4],
        18_262,
    );
    let synthetic = table(
        [Some(2.0), None, None, Some(5000.0)],
        [Some("u"), Some("v"), Some("v"), None],
        18_262,
    );
    let options = EvaluationOptions::new().context_columns(["c"]).seed(1);
    evaluate_with(&real, &synthetic, Some(&real), &metadata, &options).unwrap()
}

fn total(side: &HistogramSide) -> f64 {
    side.shares.iter().sum::<f64>() + side.below + side.above
}

#[test]
fn a_number_column_is_summed_up_and_cut_for_the_real_bulk() {
    let columns = report().columns;
    let x = &columns.numbers[0];
    assert_eq!((x.column.as_str(), x.position, x.date), ("x", 1, false));
    assert_eq!(x.role, "sequential column");
    let NumberSummary {
        rows,
        missing,
        mean,
        ref quantiles,
        ..
    } = x.synthetic;
    assert_eq!((rows, missing, mean), (4, 2, Some(2501.0)));
    assert_eq!(
        (quantiles.len(), quantiles[0], quantiles[10], quantiles[20]),
        (21, 2.0, 2501.0, 5000.0)
    );
    assert_eq!(
        (x.missing_similarity, x.boundary_adherence),
        (Some(0.5), Some(0.25))
    );
    let histogram = x.histogram.as_ref().unwrap();
    assert!(*histogram.edges.last().unwrap() < 10.0, "{histogram:?}");
    assert_eq!(histogram.synthetic.above, 0.5);
    assert!((total(&histogram.synthetic) - 1.0).abs() < TOLERANCE);
    assert_eq!(histogram.holdout.as_ref(), Some(&histogram.real));
}

#[test]
fn dates_are_seconds_and_named_as_dates() {
    let columns = report().columns;
    let day = &columns.numbers[1];
    assert!(day.date);
    assert_eq!(day.real.quantiles[0], 18_262.0 * 86_400.0);
    let histogram = day.histogram.as_ref().unwrap();
    assert_eq!(histogram.real.shares, [0.25; 4]);
    let pair = columns
        .worst_pairs
        .iter()
        .find(|pair| pair.second.column == "day")
        .unwrap();
    assert!(pair.second.date);
    assert!(
        pair.second
            .labels
            .iter()
            .all(|label| label.contains("2020-01-0")),
        "{pair:?}"
    );
}

#[test]
fn a_category_column_names_its_categories_and_counts_the_unseen() {
    let columns = report().columns;
    let c = &columns.categories[0];
    assert_eq!(
        (c.column.as_str(), c.role.as_str()),
        ("c", "context column")
    );
    let shares: Vec<(&str, f64, f64)> = c
        .shares
        .iter()
        .map(|share| (share.label.as_str(), share.real, share.synthetic))
        .collect();
    assert_eq!(shares, [("u", 1.0, 1.0 / 3.0), ("v", 0.0, 2.0 / 3.0)]);
    assert_eq!(c.others, None);
    assert_eq!((c.synthetic.missing, c.synthetic.categories), (1, 2));
    assert_eq!(
        (c.synthetic.unseen_categories, c.synthetic.unseen_rows),
        (1, 2)
    );
    assert_eq!(
        (
            c.real.unseen_categories,
            c.holdout.as_ref().unwrap().unseen_rows
        ),
        (0, 0)
    );
    assert_eq!(
        (c.category_adherence, c.category_coverage),
        (Some(0.25), Some(1.0))
    );
}

#[test]
fn a_pair_table_counts_every_row_once_and_missing_ones_in_a_place_of_their_own() {
    let report = report();
    let pairs = &report.columns.worst_pairs;
    assert_eq!(pairs.len(), 3);
    let scores: Vec<f64> = pairs.iter().map(|pair| pair.score.unwrap()).collect();
    assert!(scores.is_sorted(), "{scores:?}");
    for pair in pairs {
        for shares in [&pair.real, &pair.synthetic] {
            assert_eq!(shares.len(), pair.first.labels.len());
            assert!(
                shares
                    .iter()
                    .all(|row| row.len() == pair.second.labels.len())
            );
            let total: f64 = shares.iter().flatten().sum();
            assert!((total - 1.0).abs() < TOLERANCE, "{pair:?}");
        }
    }
    let pair = pairs.iter().find(|pair| pair.second.column == "c").unwrap();
    assert_eq!(pair.first.labels.last().unwrap(), "missing");
    assert_eq!(pair.second.labels, ["u", "v", "missing"]);
    assert_eq!(pair.synthetic.last().unwrap(), &[0.0, 0.5, 0.0]);
}

#[test]
fn missing_values_lower_the_shape_that_counts_them() {
    let shapes = report().quality.shapes;
    // Numbers: 2 of {1, 2, 2, 4} and {2, 5000}, half of them missing.
    assert!((shapes[0].score.unwrap() - 0.5).abs() < TOLERANCE);
    assert!((shapes[0].shape_and_missing.unwrap() - 0.25).abs() < TOLERANCE);
    // Categories: u alone against u, v, v, missing.
    assert!((shapes[1].score.unwrap() - 1.0 / 3.0).abs() < 1e-5); // an unseen category counts 1e-6
    assert!((shapes[1].shape_and_missing.unwrap() - 0.25).abs() < 1e-5);
}

#[test]
fn context_columns_have_no_steps() {
    let sequences = report().sequences;
    let columns: Vec<&str> = sequences
        .columns
        .iter()
        .map(|column| column.column.as_str())
        .collect();
    assert_eq!(columns, ["x", "day"]);
    let day = &sequences.columns[1];
    let steps = day.steps.histogram.as_ref().unwrap();
    assert_eq!(steps.real.shares, [1.0]);
    assert_eq!(steps.edges, [43_200.0, 129_600.0]); // one day
    assert_eq!(sequences.lengths.real.mean, 2.0);
}
