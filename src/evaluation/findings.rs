//! The worst things first, in words.
//! In: what was measured, and the same between two halves of the real table. Out: [`Finding`]s by severity: how far a
//! score lies below what real sequences reach, which is comparable across scores, as the scores themselves are not.

use serde::Serialize;

use super::columns::NumberColumn;
use super::fidelity::Scored;
use super::privacy::Outcome;
use super::text::{figure, share};
use super::{ColumnReport, DiagnosticReport, NextRowReport, PrivacyReport};

const MOST_FINDINGS: usize = 5;
/// Shortfalls up to this are the noise of samples.
const NOISE: f64 = 0.03;
/// What is taken for reachable where two halves say nothing.
const USUAL: f64 = 0.95;

/// Something that the synthetic table gets wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// How bad it is: by how much a score falls short of what one half of the real table scores against the other, or
    /// its like; above 0.03, and above 1 for what should never be.
    pub severity: f64,
    /// What it is about, such as a column.
    pub about: String,
    /// What was found, what the real table has, and perhaps what to do.
    pub what: String,
}

pub(super) struct Sections<'a> {
    pub(super) scored: &'a Scored,
    pub(super) of_halves: Option<&'a Scored>,
    pub(super) diagnostic: &'a DiagnosticReport,
    pub(super) columns: &'a ColumnReport,
    pub(super) next_row: &'a NextRowReport,
    pub(super) privacy: &'a PrivacyReport,
}

/// The worst, at most five.
pub(super) fn findings(sections: &Sections) -> Vec<Finding> {
    let mut all: Vec<Finding> = [
        columns(sections),
        pairs(sections),
        sequences(sections),
        along_time(sections),
        two_sample(sections).into_iter().collect(),
        next_row(sections.next_row),
        validity(sections.diagnostic),
        privacy(sections.privacy),
    ]
    .into_iter()
    .flatten()
    .filter(|finding| finding.severity > NOISE)
    .collect();
    all.sort_by(|left, right| right.severity.total_cmp(&left.severity));
    all.truncate(MOST_FINDINGS);
    all
}

/// By how much a score falls short of what the same score of two real halves is.
fn shortfall(score: Option<f64>, of_halves: Option<Option<f64>>) -> f64 {
    score.map_or(0.0, |score| of_halves.flatten().unwrap_or(USUAL) - score)
}

/// As `shortfall`, of one of many scores of a kind. Halves differ by chance too, and the worst of many by more: their
/// own score is moved half the way to the mean of its kind where that is lower.
fn shortfall_of_kind(
    score: Option<f64>,
    of_halves: Option<Option<f64>>,
    mean_of_halves: Option<Option<f64>>,
) -> f64 {
    let own = of_halves.flatten().unwrap_or(USUAL);
    let mean = mean_of_halves.flatten().unwrap_or(own);
    score.map_or(0.0, |score| own.min((own + mean) / 2.0) - score)
}

fn beside_halves(of_halves: Option<Option<f64>>) -> String {
    of_halves.flatten().map_or_else(String::new, |score| {
        format!(" ({score:.2} between real halves)")
    })
}

fn columns(sections: &Sections) -> Vec<Finding> {
    let halves = |at: usize| {
        sections
            .of_halves
            .map(|halves| halves.quality.shapes[at].shape_and_missing)
    };
    let shapes = sections.scored.quality.shapes.iter().enumerate();
    shapes
        .map(|(at, shape)| {
            let number = sections
                .columns
                .numbers
                .iter()
                .find(|number| number.column == shape.column);
            let detail =
                number.map_or_else(|| category_detail(sections, &shape.column), number_detail);
            Finding {
                severity: shortfall_of_kind(
                    shape.shape_and_missing,
                    halves(at),
                    sections
                        .of_halves
                        .map(|halves| halves.quality.shapes_and_missing),
                ),
                about: shape.column.clone(),
                what: format!(
                    "is distributed otherwise: similarity {:.2}{}{detail}",
                    shape.shape_and_missing.unwrap_or(0.0),
                    beside_halves(halves(at)),
                ),
            }
        })
        .collect()
}

fn number_detail(column: &NumberColumn) -> String {
    let missing = |side: &super::NumberSummary| side.missing as f64 / side.rows.max(1) as f64;
    let (real, synthetic) = (missing(&column.real), missing(&column.synthetic));
    if (real - synthetic).abs() > 0.05 {
        return format!(
            "; {} of its cells are missing, of the real ones {}",
            share(synthetic),
            share(real)
        );
    }
    let median = |side: &super::NumberSummary| side.quantiles.get(10).copied();
    match (median(&column.real), median(&column.synthetic)) {
        (Some(real), Some(synthetic)) => format!(
            "; its median is {}, the real one {}",
            figure(synthetic, column.date),
            figure(real, column.date)
        ),
        _ => String::new(),
    }
}

fn category_detail(sections: &Sections, column: &str) -> String {
    let Some(column) = sections
        .columns
        .categories
        .iter()
        .find(|category| category.column == column)
    else {
        return String::new();
    };
    let worst = column.shares.iter().max_by(|left, right| {
        (left.real - left.synthetic)
            .abs()
            .total_cmp(&(right.real - right.synthetic).abs())
    });
    worst.map_or_else(String::new, |worst| {
        format!(
            "; `{}` makes up {} of it, really {}",
            worst.label,
            share(worst.synthetic),
            share(worst.real)
        )
    })
}

fn pairs(sections: &Sections) -> Vec<Finding> {
    let halves = |at: usize| {
        sections
            .of_halves
            .map(|halves| halves.quality.pairs[at].plain_score)
    };
    let pairs = sections.scored.quality.pairs.iter().enumerate();
    pairs
        .map(|(at, pair)| {
            let detail = match (pair.real_correlation, pair.synthetic_correlation) {
                (Some(real), Some(synthetic)) => {
                    format!("; their correlation is {synthetic:.2}, the real one {real:.2}")
                }
                _ => String::new(),
            };
            Finding {
                severity: shortfall_of_kind(
                    pair.plain_score,
                    halves(at),
                    sections
                        .of_halves
                        .map(|halves| halves.quality.all_pair_trends),
                ),
                about: format!("{} and {}", pair.first, pair.second),
                what: format!(
                    "go together otherwise: similarity {:.2}{}{detail}",
                    pair.plain_score.unwrap_or(0.0),
                    beside_halves(halves(at)),
                ),
            }
        })
        .collect()
}

fn sequences(sections: &Sections) -> Vec<Finding> {
    let lengths = &sections.scored.sequences.lengths;
    let of_halves = sections
        .of_halves
        .map(|halves| halves.sequences.lengths.similarity);
    let mut findings = vec![Finding {
        severity: shortfall(lengths.similarity, of_halves),
        about: "lengths of sequences".to_owned(),
        what: format!(
            "are distributed otherwise: {} rows on average, really {}",
            figure(lengths.synthetic.mean, false),
            figure(lengths.real.mean, false)
        ),
    }];
    for (at, column) in sections.scored.sequences.columns.iter().enumerate() {
        let of_halves = sections
            .of_halves
            .map(|halves| halves.sequences.columns[at].steps.score);
        findings.push(Finding {
            severity: shortfall_of_kind(
                column.steps.score,
                of_halves,
                sections
                    .of_halves
                    .map(|halves| halves.sequences.step_similarity),
            ),
            about: column.column.clone(),
            what: format!(
                "moves otherwise from row to row: similarity of its steps {:.2}{}",
                column.steps.score.unwrap_or(0.0),
                beside_halves(of_halves),
            ),
        });
    }
    findings
}

fn along_time(sections: &Sections) -> Vec<Finding> {
    let time = &sections.scored.along_time;
    let halves = sections.of_halves.map(|halves| &halves.along_time);
    let first = |curve: &[Option<f64>]| curve.first().copied().flatten();
    let mut findings = Vec::new();
    for (at, curve) in time.autocorrelations.iter().enumerate() {
        let gap = |curve: &super::Autocorrelation| {
            Some((first(&curve.real)? - first(&curve.synthetic).unwrap_or(0.0)).abs())
        };
        let own = halves
            .and_then(|halves| gap(&halves.autocorrelations[at]))
            .unwrap_or(1.0 - USUAL);
        let mean = halves
            .and_then(|halves| halves.autocorrelation_score)
            .map_or(own, |score| 1.0 - score);
        let usual = own.max((own + mean) / 2.0);
        if let Some(off) = gap(curve) {
            findings.push(Finding {
                severity: off - usual,
                about: curve.column.clone(),
                what: format!(
                    "follows the row before {}: autocorrelation {:.2}, really {:.2}",
                    if first(&curve.synthetic).unwrap_or(0.0) < first(&curve.real).unwrap_or(0.0) {
                        "too little"
                    } else {
                        "too much"
                    },
                    first(&curve.synthetic).unwrap_or(0.0),
                    first(&curve.real).unwrap_or(0.0)
                ),
            });
        }
    }
    for (at, table) in time.transitions.iter().enumerate() {
        let of_halves = halves.map(|halves| halves.transitions[at].score);
        findings.push(Finding {
            severity: shortfall_of_kind(
                table.score,
                of_halves,
                halves.map(|halves| halves.transition_score),
            ),
            about: table.column.clone(),
            what: format!(
                "changes otherwise from row to row: similarity of its transitions {:.2}{}",
                table.score.unwrap_or(0.0),
                beside_halves(of_halves),
            ),
        });
    }
    if let Some(rise) = &time.index_rise {
        findings.push(Finding {
            severity: 2.0 * (rise.real - rise.synthetic),
            about: rise.column.clone(),
            what: format!(
                "stands still in {} of its steps, really in {}",
                share(1.0 - rise.synthetic),
                share(1.0 - rise.real)
            ),
        });
    }
    findings.extend(time.context_changes.iter().map(|change| Finding {
        severity: 2.0 * (change.synthetic - change.real),
        about: change.column.clone(),
        what: format!(
            "is a context column, but varies in {} of the synthetic sequences, really in {}",
            share(change.synthetic),
            share(change.real)
        ),
    }));
    findings
}

fn two_sample(sections: &Sections) -> Option<Finding> {
    let report = &sections.scored.two_sample;
    let of_halves = sections
        .of_halves
        .map(|halves| halves.two_sample.indistinct);
    let giveaways: Vec<String> = report
        .giveaways
        .iter()
        .take(3)
        .map(|giveaway| giveaway.feature.clone())
        .collect();
    Some(Finding {
        // An area between one half and one is half as wide as the score; two standard errors of guesses are noise.
        severity: shortfall(report.indistinct, of_halves) / 2.0
            - 2.0 * guessing_error(report.sequences),
        about: "whole sequences".to_owned(),
        what: format!(
            "can be told from real ones: a classifier is right with an area under the curve of {:.2}, 0.50 being \
             guesses; what tells most by itself: {}",
            report.auc?,
            giveaways.join(", ")
        ),
    })
}

/// Standard error of the area under the curve of guesses, of as many sequences a side (Mann and Whitney).
fn guessing_error(sequences: usize) -> f64 {
    let sequences = sequences.max(1) as f64;
    ((2.0 * sequences + 1.0) / (12.0 * sequences * sequences)).sqrt()
}

fn next_row(report: &NextRowReport) -> Vec<Finding> {
    report
        .columns
        .iter()
        .filter_map(|column| {
            let (real, synthetic) = (column.real_skill?, column.synthetic_skill?);
            Some(Finding {
                severity: USUAL - column.score? - 2.0 * column.score_error.unwrap_or(0.0),
                about: column.column.clone(),
                what: format!(
                    "of the next row is foretold with skill {synthetic:.2} by who has learned from synthetic rows, \
                     with {real:.2} by who has learned from real ones"
                ),
            })
        })
        .collect()
}

fn validity(report: &DiagnosticReport) -> Vec<Finding> {
    let values = report.validity.iter().filter_map(|column| {
        let score = column.score?;
        Some(Finding {
            severity: 2.0 * (1.0 - score),
            about: column.column.clone(),
            what: format!(
                "holds impossible values in {} of its rows ({})",
                share(1.0 - score),
                column.metric
            ),
        })
    });
    let dtypes = report.dtype_differences.iter().map(|difference| Finding {
        severity: 0.05,
        about: difference.column.clone(),
        what: format!(
            "has dtype {}, really {}",
            difference.synthetic, difference.real
        ),
    });
    values.chain(dtypes).collect()
}

fn privacy(report: &PrivacyReport) -> Vec<Finding> {
    report
        .verdicts
        .iter()
        .filter_map(|verdict| {
            let severity = match verdict.outcome {
                Outcome::Failed => 2.0,
                Outcome::Attention => 0.1,
                Outcome::Passed | Outcome::Unknown => return None,
            };
            Some(Finding {
                severity,
                about: format!("privacy, {}", verdict.check),
                what: verdict.reason.clone(),
            })
        })
        .collect()
}
