//! What can be wrong with a constraint.

use crate::metadata::did_you_mean;

/// Why a constraint was refused; each message names the rule and the column.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ConstraintError {
    /// The text is no JSON, or not the JSON of constraints.
    #[error("constraints are not valid JSON: {reason}")]
    Json {
        /// What is wrong with it.
        reason: String,
    },
    /// A class of constraints that we do not know.
    #[error("constraint class `{class}` is unknown{}; known are {known}", did_you_mean(.nearest.as_deref()))]
    UnknownClass {
        /// The class found.
        class: String,
        /// A known one of nearly that name.
        nearest: Option<String>,
        /// All known ones.
        known: String,
    },
    /// A column that the data does not have.
    #[error("constraint {constraint}: there is no column `{column}`{}", did_you_mean(.nearest.as_deref()))]
    UnknownColumn {
        /// The rule.
        constraint: String,
        /// The name given.
        column: String,
        /// A column of nearly that name.
        nearest: Option<String>,
    },
    /// A column that the rule cannot bind, or a parameter it cannot have.
    #[error("constraint {constraint}: {problem}")]
    Unfit {
        /// The rule.
        constraint: String,
        /// What is wrong, and what is wanted.
        problem: String,
    },
    /// Rules that no row can keep together.
    #[error("constraint {constraint} contradicts another: {problem}")]
    Contradiction {
        /// One of the rules.
        constraint: String,
        /// Why they cannot hold together.
        problem: String,
    },
    /// Training data that breaks the rule.
    #[error(
        "constraint {constraint}: {count} of the data's rows break it, first {}; correct or drop them, or leave the constraint out",
        rows_listed(.rows)
    )]
    Broken {
        /// The rule.
        constraint: String,
        /// How many rows break it.
        count: usize,
        /// The first ten of them, by their place in the frame.
        rows: Vec<usize>,
    },
    /// What was asked for leaves a rule no value.
    #[error(
        "column `{column}`: no value keeps {constraints} together with what was given for sequence {sequence}; give other values, or another length"
    )]
    Unsatisfiable {
        /// The column without a value.
        column: String,
        /// The rules that bind it.
        constraints: String,
        /// The number of the sequence, from 0.
        sequence: usize,
    },
    /// A length at which rules on first rows, last rows and transitions cannot be kept.
    #[error("sequence {sequence}: no {length} rows keep {constraints}; ask for another length")]
    Length {
        /// The rows asked for, or drawn where no length will do.
        length: usize,
        /// The rules.
        constraints: String,
        /// The number of the sequence, from 0.
        sequence: usize,
    },
    /// Sequences that a rule of the user's own kept refusing.
    #[error(
        "custom constraint `{constraint}` refused {refused} of {sequences} sequences {tries} times each, the first being sequence {sequence}; loosen it, or allow more tries with max_tries"
    )]
    Refused {
        /// The rule's name.
        constraint: String,
        /// How many sequences were refused to the end.
        refused: usize,
        /// Among how many: all that were wanted, or those drawn together with them.
        sequences: usize,
        /// How often each was drawn.
        tries: usize,
        /// The number of the first, from 0.
        sequence: usize,
    },
}

fn rows_listed(rows: &[usize]) -> String {
    let rows: Vec<String> = rows.iter().map(usize::to_string).collect();
    format!(
        "row{} {}",
        if rows.len() == 1 { "" } else { "s" },
        rows.join(", ")
    )
}
