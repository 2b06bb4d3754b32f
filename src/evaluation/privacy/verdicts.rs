//! What the figures come to, in words.

use serde::Serialize;

use super::PrivacyReport;
use crate::evaluation::Comparison;

/// Standard errors beyond which a figure is no noise.
const SURE: f64 = 2.0;
/// Where closeness or membership is no matter of degree any more.
const ALARM: f64 = 0.75;

/// What a check comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Nothing was found.
    Passed,
    /// Something to look at before the table is given away.
    Attention,
    /// Real sequences shine through.
    Failed,
    /// Held-out sequences are needed to say anything.
    Unknown,
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Outcome::Passed => "passed",
            Outcome::Attention => "attention",
            Outcome::Failed => "failed",
            Outcome::Unknown => "unknown",
        })
    }
}

/// One check, what came out, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Verdict {
    /// What was checked.
    pub check: String,
    /// What it comes to.
    pub outcome: Outcome,
    /// The figures that it rests on, in a sentence.
    pub reason: String,
}

pub(super) fn verdicts(report: &PrivacyReport, comparison: &Comparison) -> Vec<Verdict> {
    vec![
        copies(report, comparison),
        closeness(report),
        membership(report),
        rare_values(report),
        keys(report),
    ]
}

fn verdict(check: &str, outcome: Outcome, reason: String) -> Verdict {
    Verdict {
        check: check.to_owned(),
        outcome,
        reason,
    }
}

const NO_HOLDOUT: &str = "give at least 20 held-out sequences to compare with";

fn copies(report: &PrivacyReport, comparison: &Comparison) -> Verdict {
    let copies = &report.copies;
    let shifted = copies.shifted_share.unwrap_or(0.0).max(copies.share);
    let by_chance = copies
        .share_of_holdout
        .map(|share| copies.shifted_share_of_holdout.unwrap_or(0.0).max(share));
    let sequences = comparison.synthetic.sequences() as f64;
    let outcome = match by_chance {
        _ if shifted == 0.0 => Outcome::Passed,
        None => Outcome::Attention,
        Some(chance) => {
            let held_out = comparison
                .holdout
                .as_ref()
                .map_or(1, |holdout| holdout.sequences()) as f64;
            // A share of 0 of a small holdout may be as much as one in it.
            let noise = ((chance + 1.0 / held_out) / held_out).sqrt();
            if shifted > chance + SURE * noise {
                Outcome::Failed
            } else {
                Outcome::Passed
            }
        }
    };
    let chance = by_chance.map_or_else(
        || "what chance does, a holdout would tell".to_owned(),
        |chance| format!("of the held-out ones {:.1}% are, by chance", 100.0 * chance),
    );
    verdict(
        "copies",
        outcome,
        format!(
            "{} of {sequences} synthetic sequences are copies of real ones, {:.1}% if moved in time; {chance}",
            copies.sequences,
            100.0 * shifted,
        ),
    )
}

/// How far a share or area that should be one half is above it.
fn above_half(value: f64, standard_error: f64) -> Outcome {
    if value > ALARM {
        Outcome::Failed
    } else if value > 0.5 + SURE * standard_error.max(1e-9) {
        Outcome::Attention
    } else {
        Outcome::Passed
    }
}

fn closeness(report: &PrivacyReport) -> Verdict {
    let closeness = &report.closeness;
    let Some((share, error)) = closeness.closer_to_real.zip(closeness.standard_error) else {
        return verdict("closeness", Outcome::Unknown, NO_HOLDOUT.to_owned());
    };
    verdict(
        "closeness",
        above_half(share, error),
        format!(
            "{:.0}% ± {:.0}% of the synthetic sequences lie nearer to a real one than to a held-out one; 50% is private",
            100.0 * share,
            100.0 * error
        ),
    )
}

fn membership(report: &PrivacyReport) -> Verdict {
    let Some(membership) = &report.membership else {
        return verdict("membership", Outcome::Unknown, NO_HOLDOUT.to_owned());
    };
    verdict(
        "membership",
        above_half(membership.auc, membership.standard_error),
        format!(
            "who was in the real table is guessed with an area under the curve of {:.2} ± {:.2}; 0.50 is guessing",
            membership.auc, membership.standard_error
        ),
    )
}

fn rare_values(report: &PrivacyReport) -> Verdict {
    // Beyond chance: two standard errors of the holdout's own share.
    let excess = |values: &super::RareValues| {
        let chance = values.in_holdout?;
        let count = values.rare as f64;
        let noise = ((chance * (1.0 - chance)).max(1.0 / count) / count).sqrt();
        Some(values.leaked - chance - SURE * noise)
    };
    if report.rare_values.is_empty() {
        return verdict(
            "rare values",
            Outcome::Passed,
            "no value belongs to one real sequence alone".to_owned(),
        );
    }
    if report
        .rare_values
        .iter()
        .all(|values| values.in_holdout.is_none())
    {
        return verdict("rare values", Outcome::Unknown, NO_HOLDOUT.to_owned());
    }
    let mut leaking: Vec<(f64, &super::RareValues)> = report
        .rare_values
        .iter()
        .filter_map(|values| Some((excess(values)?, values)))
        .filter(|(excess, _)| *excess > 0.0)
        .collect();
    leaking.sort_by(|left, right| right.0.total_cmp(&left.0));
    match leaking.first() {
        None => verdict(
            "rare values",
            Outcome::Passed,
            "values that one real sequence alone has come out no more often than chance has it"
                .to_owned(),
        ),
        Some((_, worst)) => verdict(
            "rare values",
            Outcome::Attention,
            format!(
                "of {} values of `{}` that one real sequence alone has {:.1}% come out, {:.1}% by chance{}; \
                 `value_protection` hides such values",
                worst.rare,
                worst.column,
                100.0 * worst.leaked,
                100.0 * worst.in_holdout.unwrap_or(0.0),
                match leaking.len() {
                    1 => String::new(),
                    columns => format!(
                        ", and more than chance has it in {} other columns",
                        columns - 1
                    ),
                }
            ),
        ),
    }
}

fn keys(report: &PrivacyReport) -> Verdict {
    match report.reused_keys {
        None => verdict(
            "keys",
            Outcome::Passed,
            "there is no sequence key".to_owned(),
        ),
        Some(0.0) => verdict(
            "keys",
            Outcome::Passed,
            "no sequence key is a real one".to_owned(),
        ),
        Some(share) => verdict(
            "keys",
            Outcome::Attention,
            format!(
                "{:.1}% of the sequence keys are those of real sequences",
                100.0 * share
            ),
        ),
    }
}
