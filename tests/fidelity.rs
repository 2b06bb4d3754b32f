//! What of the fidelity bench can be checked without Python and hours: its statistics, its table, its list of tables.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]
#![allow(dead_code, reason = "the bench uses the rest")]

#[path = "../benches/fidelity/dataset.rs"]
mod dataset;
#[path = "../benches/fidelity/results.rs"]
mod results;

use dataset::DATASETS;
use parsynth::{Metadata, ParSynthesizer, read_csv};
use results::{Halves, Measured, Measures, halves_table, scores_table};

fn measures(values: &[(&str, f64)]) -> Measures {
    values
        .iter()
        .map(|&(name, value)| (name.to_owned(), value))
        .collect()
}

/// The cells of a Markdown line, without the bars.
fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(str::trim).collect()
}

#[test]
fn a_score_is_the_mean_of_its_seeds_beside_its_ceiling() {
    let table = |name, overall: [f64; 3], ceiling| Measured {
        table: name,
        ceiling: measures(&[("overall", ceiling)]),
        fits: overall.map(|score| measures(&[("overall", score)])).into(),
    };
    let text = scores_table(&[
        table("one", [0.9, 0.92, 0.94], 0.95),
        table("two", [0.5, 0.5, 0.5], 0.75),
    ]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        cells(lines[0]),
        ["score", "`one`", "ceiling", "`two`", "ceiling"]
    );
    // The standard deviation of 0.90, 0.92 and 0.94 is 0.02, by root 3 0.0115.
    assert_eq!(
        cells(lines[2]),
        [
            "**`overall`**",
            "0.920 ± 0.012",
            "0.950",
            "0.500 ± 0.000",
            "0.750"
        ]
    );
    assert!(lines.iter().all(|line| cells(line).len() == 5));
}

#[test]
fn one_seed_has_no_standard_error_and_what_was_not_measured_is_empty() {
    let table = Measured {
        table: "one",
        ceiling: Measures::new(),
        fits: vec![measures(&[("lengths", 1.0)])],
    };
    let text = scores_table(&[table]);
    let line = |name: &str| cells(text.lines().find(|line| line.contains(name)).unwrap());
    assert_eq!(line("`lengths`"), ["`lengths`", "1.000", ""]);
    assert_eq!(line("`pairs`"), ["`pairs`", "", ""]);
}

#[test]
fn the_gap_of_halves_is_that_of_the_pairs() {
    let overall = |scores: [f64; 2]| scores.map(|score| measures(&[("overall", score)])).into();
    // The seeds differ by 0.2, the gaps not at all: unpaired, their standard error would be 0.14.
    let text = halves_table(&[Halves {
        table: "one",
        ceiling: measures(&[("overall", 0.99)]),
        seen: overall([0.9, 0.7]),
        unseen: overall([0.85, 0.65]),
    }]);
    assert_eq!(
        cells(text.lines().last().unwrap()),
        [
            "`one`",
            "0.800 ± 0.100",
            "0.750 ± 0.100",
            "0.050 ± 0.000",
            "0.990",
            ""
        ]
    );
}

#[test]
fn every_table_that_is_measured_can_be_fitted_with_its_context_columns() {
    for dataset in DATASETS {
        let metadata = Metadata::from_json_file(dataset.metadata()).unwrap();
        let frame = read_csv(dataset.data(), &metadata).unwrap();
        ParSynthesizer::builder(metadata)
            .context_columns(dataset.context.iter().copied())
            .epochs(0)
            .fit(&frame)
            .unwrap();
    }
}
