//! What SDMetrics 0.32 says of small columns and tables is what our metrics and reports say; `golden/make.py` made the
//! numbers.

use std::path::{Path, PathBuf};

use parsynth::evaluation::metrics::{
    Coefficient, Statistic, TableColumn, boundary_adherence, category_adherence, category_coverage,
    contingency_similarity, correlation_similarity, cramers_v, dcr_baseline_protection,
    dcr_overfitting_protection, discretize, distance_to_closest_record, inter_row_msas,
    ks_complement, missing_value_similarity, new_row_synthesis, range_coverage,
    sequence_length_similarity, statistic_msas, statistic_similarity, tv_complement,
};
use parsynth::{EvaluationOptions, EvaluationReport, Metadata, evaluate_with, read_csv};
use serde_json::Value;

/// Of scores around 1 from sums of up to 400 terms: ours are added in another order. A row counted wrongly would show
/// as 1e-3.
const TOLERANCE: f64 = 1e-9;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/evaluation/golden")
}

fn golden(file: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(folder().join(file)).unwrap()).unwrap()
}

/// The cases of a section; there are some.
fn cases<'a>(golden: &'a Value, section: &str) -> &'a [Value] {
    let cases = golden[section].as_array().unwrap();
    assert!(cases.len() > 5, "{section}");
    cases
}

#[track_caller]
fn assert_is(found: Option<f64>, wanted: &Value, what: &str) {
    let near = match (found, wanted.as_f64()) {
        (None, None) => wanted.is_null(),
        (Some(found), Some(wanted)) => (found - wanted).abs() <= TOLERANCE,
        _ => false,
    };
    assert!(near, "{what}: found {found:?}, SDMetrics says {wanted}");
}

fn numbers(texts: &Value) -> Vec<f64> {
    let cells = texts.as_array().unwrap().iter();
    cells
        .map(|cell| cell.as_str().map_or(f64::NAN, |text| text.parse().unwrap()))
        .collect()
}

fn categories(texts: &Value) -> Vec<Option<&str>> {
    texts
        .as_array()
        .unwrap()
        .iter()
        .map(Value::as_str)
        .collect()
}

#[test]
fn columns_of_numbers_score_as_in_sdmetrics() {
    for case in cases(&golden("columns.json"), "numbers") {
        let (real, synthetic) = (numbers(&case["real"]), numbers(&case["synthetic"]));
        let check = |found: Option<f64>, metric: &str| {
            assert_is(
                found,
                &case[metric],
                &format!("{metric} of {}", case["name"]),
            );
        };
        let statistic = |statistic| statistic_similarity(&real, &synthetic, statistic);
        check(ks_complement(&real, &synthetic), "ks_complement");
        check(range_coverage(&real, &synthetic), "range_coverage");
        check(boundary_adherence(&real, &synthetic), "boundary_adherence");
        check(
            missing_value_similarity(&real, &synthetic),
            "missing_value_similarity",
        );
        check(statistic(Statistic::Mean), "mean");
        check(
            statistic(Statistic::StandardDeviation),
            "standard_deviation",
        );
        check(statistic(Statistic::Median), "median");
    }
}

#[test]
fn columns_of_categories_score_as_in_sdmetrics() {
    for case in cases(&golden("columns.json"), "categories") {
        let (real, synthetic) = (categories(&case["real"]), categories(&case["synthetic"]));
        let check = |found: Option<f64>, metric: &str| {
            assert_is(
                found,
                &case[metric],
                &format!("{metric} of {}", case["name"]),
            );
        };
        check(tv_complement(&real, &synthetic), "tv_complement");
        check(category_coverage(&real, &synthetic), "category_coverage");
        check(category_adherence(&real, &synthetic), "category_adherence");
        check(
            missing_value_similarity(&real, &synthetic),
            "missing_value_similarity",
        );
    }
}

#[test]
fn pairs_of_numbers_score_as_in_sdmetrics() {
    for case in cases(&golden("columns.json"), "number pairs") {
        let [real, synthetic] =
            ["real", "synthetic"].map(|side| [numbers(&case[side][0]), numbers(&case[side][1])]);
        let check = |found: Option<f64>, metric: &str| {
            assert_is(
                found,
                &case[metric],
                &format!("{metric} of {}", case["name"]),
            );
        };
        let similarity = |coefficient, threshold| {
            let sides = [&real, &synthetic].map(|side| (side[0].as_slice(), side[1].as_slice()));
            correlation_similarity(sides[0], sides[1], coefficient, threshold)
        };
        check(similarity(Coefficient::Pearson, 0.0), "pearson");
        check(similarity(Coefficient::Spearman, 0.0), "spearman");
        check(
            similarity(Coefficient::Pearson, 0.5),
            "pearson above a half",
        );
        check(
            similarity(Coefficient::Spearman, 0.5),
            "spearman above a half",
        );
        for (bins, metric) in [(10, "cut"), (4, "cut in four")] {
            let first = discretize(&real[0], &synthetic[0], bins);
            let second = discretize(&real[1], &synthetic[1], bins);
            let found = contingency_similarity((&first.0, &second.0), (&first.1, &second.1), 0.0);
            check(found, metric);
        }
    }
}

#[test]
fn pairs_of_categories_score_as_in_sdmetrics() {
    for case in cases(&golden("columns.json"), "category pairs") {
        let side = |side: &str| {
            let columns = case[side].as_array().unwrap();
            (categories(&columns[0]), categories(&columns[1]))
        };
        let (real, synthetic) = (side("real"), side("synthetic"));
        let check = |found: Option<f64>, metric: &str| {
            assert_is(
                found,
                &case[metric],
                &format!("{metric} of {}", case["name"]),
            );
        };
        let similarity = |threshold| {
            contingency_similarity((&real.0, &real.1), (&synthetic.0, &synthetic.1), threshold)
        };
        check(similarity(0.0), "contingency");
        check(similarity(0.3), "above a third");
        check(cramers_v(&real.0, &real.1), "association");
    }
}

#[test]
fn sequences_score_as_in_sdmetrics() {
    for case in cases(&golden("columns.json"), "sequences") {
        let (real_keys, real) = (categories(&case["real keys"]), numbers(&case["real"]));
        let (keys, values) = (
            categories(&case["synthetic keys"]),
            numbers(&case["synthetic"]),
        );
        let lengths = sequence_length_similarity(&real_keys, &keys);
        assert_is(
            lengths,
            &case["lengths"],
            &format!("lengths of {}", case["name"]),
        );
        for (name, statistic) in [
            ("mean", Statistic::Mean),
            ("median", Statistic::Median),
            ("standard_deviation", Statistic::StandardDeviation),
            ("smallest", Statistic::Smallest),
            ("largest", Statistic::Largest),
        ] {
            let found = statistic_msas((&real_keys, &real), (&keys, &values), statistic);
            let what = format!("{name} of {}", case["name"]);
            assert_is(found, &case["statistics"][name], &what);
        }
        for (section, logarithms) in [("steps", false), ("steps of logarithms", true)] {
            for (apart, wanted) in case[section].as_object().unwrap() {
                let rows_apart = apart.parse().unwrap();
                let sides = ((&real_keys[..], &real[..]), (&keys[..], &values[..]));
                let found = inter_row_msas(sides.0, sides.1, rows_apart, logarithms);
                assert_is(
                    found,
                    wanted,
                    &format!("{section} {apart} apart of {}", case["name"]),
                );
            }
        }
    }
}

/// Columns x, y, c, d of a table; categories as numbers that mean the same in all tables.
struct Table {
    numbers: [Vec<f64>; 2],
    categories: [Vec<Option<u32>>; 2],
}

impl Table {
    fn of(table: &Value) -> Table {
        let code = |cell: Option<&str>| cell.map(|text| u32::from(text.as_bytes()[0]));
        Table {
            numbers: ["x", "y"].map(|column| numbers(&table[column])),
            categories: ["c", "d"]
                .map(|column| categories(&table[column]).into_iter().map(code).collect()),
        }
    }

    fn columns(&self) -> [TableColumn<'_>; 4] {
        [
            TableColumn::Numbers(&self.numbers[0]),
            TableColumn::Numbers(&self.numbers[1]),
            TableColumn::Categories(&self.categories[0]),
            TableColumn::Categories(&self.categories[1]),
        ]
    }
}

#[test]
fn rows_score_as_in_sdmetrics() {
    for case in cases(&golden("columns.json"), "rows") {
        let [real, synthetic, holdout, random] =
            ["real", "synthetic", "holdout", "random"].map(|table| Table::of(&case[table]));
        let check = |found: Option<f64>, metric: &str| {
            assert_is(
                found,
                &case[metric],
                &format!("{metric} of {}", case["name"]),
            );
        };
        let (real, synthetic) = (real.columns(), synthetic.columns());
        check(new_row_synthesis(&real, &synthetic, 0.01), "new");
        check(new_row_synthesis(&real, &synthetic, 0.1), "new at a tenth");
        check(new_row_synthesis(&real, &synthetic, 0.5), "new at a half");
        let distances = distance_to_closest_record(&synthetic, &real).unwrap();
        let wanted = case["distances"].as_array().unwrap();
        assert_eq!(distances.len(), wanted.len());
        for (distance, wanted) in distances.iter().zip(wanted) {
            assert_is(
                Some(*distance),
                wanted,
                &format!("a distance of {}", case["name"]),
            );
        }
        let baseline = dcr_baseline_protection(&real, &synthetic, &random.columns()).unwrap();
        check(baseline.score, "baseline");
        check(Some(baseline.synthetic_median), "synthetic median");
        check(Some(baseline.random_median), "random median");
        let overfitting =
            dcr_overfitting_protection(&real, &synthetic, &holdout.columns()).unwrap();
        check(Some(overfitting.score), "overfitting");
        check(Some(overfitting.closer_to_training), "closer to training");
    }
}

/// The report of a table, and what SDMetrics says of it.
fn table(name: &str) -> (EvaluationReport, Value) {
    let metadata =
        Metadata::from_json_file(folder().join(format!("{name}.metadata.json"))).unwrap();
    let [real, synthetic] = ["real", "synthetic"]
        .map(|part| read_csv(folder().join(format!("{name}.{part}.csv")), &metadata).unwrap());
    let golden = golden("tables.json")[name].clone();
    let context = golden["context"].as_array().unwrap().iter();
    let context: Vec<&str> = context.map(|column| column.as_str().unwrap()).collect();
    let options = EvaluationOptions::new().context_columns(context).seed(1);
    let report = evaluate_with(&real, &synthetic, None, &metadata, &options).unwrap();
    (report, golden)
}

const TABLES: [&str; 5] = ["stores", "pbc_visits", "males_wage", "storms", "nasty"];

#[test]
fn the_quality_report_is_that_of_sdmetrics() {
    for name in TABLES {
        let (report, golden) = table(name);
        let quality = report.quality;
        assert_is(quality.overall, &golden["quality"], name);
        let properties = &golden["properties"];
        assert_is(quality.column_shapes, &properties["Column Shapes"], name);
        assert_is(
            quality.column_pair_trends,
            &properties["Column Pair Trends"],
            name,
        );
        let wanted = golden["shapes"].as_array().unwrap();
        assert_eq!(quality.shapes.len(), wanted.len());
        for (shape, wanted) in quality.shapes.iter().zip(wanted) {
            assert_eq!(
                (shape.column.as_str(), shape.metric.as_str()),
                (wanted[0].as_str().unwrap(), wanted[1].as_str().unwrap())
            );
            assert_is(shape.score, &wanted[2], &format!("{name} {}", shape.column));
        }
        let wanted = golden["pairs"].as_array().unwrap();
        assert_eq!(quality.pairs.len(), wanted.len());
        for (pair, wanted) in quality.pairs.iter().zip(wanted) {
            let what = format!("{name} {} and {}", pair.first, pair.second);
            assert_eq!(wanted[0], pair.first.as_str(), "{what}");
            assert_eq!(wanted[1], pair.second.as_str(), "{what}");
            assert_eq!(wanted[2], pair.metric.as_str(), "{what}");
            assert_is(pair.score, &wanted[3], &what);
            assert_is(pair.real_correlation, &wanted[4], &what);
            assert_is(pair.real_association, &wanted[5], &what);
            assert_eq!(wanted[6], pair.meets_threshold, "{what}");
        }
    }
}

#[test]
fn every_pair_has_a_plain_score() {
    for name in TABLES {
        let (report, golden) = table(name);
        let wanted = golden["all pairs"].as_array().unwrap();
        assert_eq!(report.quality.pairs.len(), wanted.len());
        for (pair, wanted) in report.quality.pairs.iter().zip(wanted) {
            let what = format!("{name} {} and {}", pair.first, pair.second);
            assert_is(pair.plain_score, &wanted[2], &what);
        }
    }
}

#[test]
fn the_diagnostic_report_is_that_of_sdmetrics() {
    for name in TABLES {
        let (report, golden) = table(name);
        let diagnostic = report.diagnostic;
        let wanted = golden["validity"].as_array().unwrap();
        let found: Vec<(&str, &str)> = diagnostic
            .validity
            .iter()
            .map(|column| (column.column.as_str(), column.metric.as_str()))
            .collect();
        let names: Vec<(&str, &str)> = wanted
            .iter()
            .map(|row| (row[0].as_str().unwrap(), row[1].as_str().unwrap()))
            .collect();
        assert_eq!(found, names, "{name}");
        for (column, wanted) in diagnostic.validity.iter().zip(wanted) {
            assert_is(
                column.score,
                &wanted[2],
                &format!("{name} {}", column.column),
            );
        }
        assert_is(
            diagnostic.data_validity,
            &golden["properties"]["Data Validity"],
            name,
        );
        assert_is(
            diagnostic.data_structure,
            &golden["properties"]["Data Structure"],
            name,
        );
        assert_is(diagnostic.overall, &golden["diagnostic"], name);
    }
}

#[test]
fn columns_along_their_sequences_score_as_in_sdmetrics() {
    for name in TABLES {
        let (report, golden) = table(name);
        let sequences = report.sequences;
        assert_is(sequences.lengths.similarity, &golden["lengths"], name);
        let wanted = golden["along"].as_object().unwrap();
        assert_eq!(sequences.columns.len(), wanted.len(), "{name}");
        for column in &sequences.columns {
            let wanted = &wanted[&column.column];
            let statistics = &wanted["statistics"];
            let check = |found, statistic: &str| {
                let what = format!("{name} {} {statistic}", column.column);
                assert_is(found, &statistics[statistic], &what);
            };
            check(column.statistics.mean, "mean");
            check(column.statistics.median, "median");
            check(column.statistics.standard_deviation, "standard_deviation");
            check(column.statistics.smallest, "smallest");
            check(column.statistics.largest, "largest");
            for (steps, wanted) in column
                .inter_row
                .iter()
                .zip(wanted["steps"].as_array().unwrap())
            {
                let what = format!("{name} {} {} apart", column.column, steps.rows_apart);
                assert_is(steps.score, wanted, &what);
            }
        }
    }
}
