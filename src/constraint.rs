//! Rules that every sampled row keeps: between columns, between rows, between a sequence and its context.
//! In: [`Constraint`]s as a user states them or SDV's JSON holds them, and the fitted layout. Out: [`Rules`], which say
//! of each value, before it is drawn, which values it may take.
//!
//! A rule is kept by drawing from what the network says *given* the rule, so nothing has to be thrown away, rules may
//! share columns, and what is drawn later sees values that already keep it.

mod allowed;
mod chain;
mod compile;
mod error;
mod fit;
mod formula;
mod given;
mod json;
mod order;
mod replay;
mod rules;

pub(crate) use allowed::{Allowed, Cell, NumberSet};
pub use error::ConstraintError;
pub(crate) use fit::{input_depths, reference_pairs};
pub(crate) use rules::{Cells, Combinations, Learned, Moment, Place, Rules, Transitions};

use serde::{Deserialize, Serialize};
use std::fmt;

/// A value that a rule names: a number, a text (also a date, in the column's format or as `2024-12-31`), true or false.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ConstraintValue {
    /// True or false.
    Boolean(bool),
    /// A number.
    Number(f64),
    /// A category or a date.
    Text(String),
}

impl fmt::Display for ConstraintValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConstraintValue::Boolean(value) => write!(formatter, "{value}"),
            ConstraintValue::Number(value) => write!(formatter, "{value}"),
            ConstraintValue::Text(value) => formatter.write_str(value),
        }
    }
}

impl From<bool> for ConstraintValue {
    fn from(value: bool) -> Self {
        ConstraintValue::Boolean(value)
    }
}

impl From<f64> for ConstraintValue {
    fn from(value: f64) -> Self {
        ConstraintValue::Number(value)
    }
}

impl From<i32> for ConstraintValue {
    fn from(value: i32) -> Self {
        ConstraintValue::Number(value.into())
    }
}

impl From<&str> for ConstraintValue {
    fn from(value: &str) -> Self {
        ConstraintValue::Text(value.to_owned())
    }
}

impl From<String> for ConstraintValue {
    fn from(value: String) -> Self {
        ConstraintValue::Text(value)
    }
}

/// How a column stands to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Relation {
    /// Above it.
    #[serde(rename = ">")]
    Above,
    /// At least it.
    #[serde(rename = ">=")]
    AtLeast,
    /// Below it.
    #[serde(rename = "<")]
    Below,
    /// At most it.
    #[serde(rename = "<=")]
    AtMost,
}

impl Relation {
    fn sign(self) -> &'static str {
        match self {
            Relation::Above => ">",
            Relation::AtLeast => ">=",
            Relation::Below => "<",
            Relation::AtMost => "<=",
        }
    }
}

/// A rule that the data keeps and every sampled row is to keep.
///
/// A comparison with a missing value is kept. Columns may be sequential columns, context columns and the sequence
/// index, in any mixture, unless a variant says less; keys and ids are made up and cannot be bound. Rules may share
/// columns.
///
/// ```
/// use parsynth::{Constraint, ParSynthesizer, Metadata, SdType};
/// use polars::df;
///
/// let metadata = Metadata::builder()
///     .column("share", SdType::Id { regex_format: None })
///     .column("low", SdType::Numerical)
///     .column("close", SdType::Numerical)
///     .column("high", SdType::Numerical)
///     .sequence_key("share")
///     .build()?;
/// let prices = df!(
///     "share" => ["A", "A", "A", "B", "B"],
///     "low" => [9.5, 9.0, 9.25, 20.0, 19.5],
///     "close" => [10.0, 9.5, 9.25, 20.5, 20.0],
///     "high" => [10.5, 10.0, 9.75, 21.0, 20.5],
/// )?;
/// let synthesizer = ParSynthesizer::builder(metadata)
///     .constraints([Constraint::range("low", "close", "high")])
///     .epochs(0)
///     .fit(&prices)?;
/// let synthetic = synthesizer.sample(50)?;
/// let column = |name: &str| -> Result<Vec<f64>, polars::error::PolarsError> {
///     Ok(synthetic.column(name)?.f64()?.iter().flatten().collect())
/// };
/// let (low, close, high) = (column("low")?, column("close")?, column("high")?);
/// assert!((0..low.len()).all(|row| low[row] <= close[row] && close[row] <= high[row]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "class_name", content = "parameters")]
#[non_exhaustive]
pub enum Constraint {
    /// In every row each of the columns is at most the next: [`Constraint::inequality`], [`Constraint::range`].
    Ordered {
        /// Two or more columns of numbers, or of dates, from the lowest to the highest.
        columns: Vec<String>,
        /// Whether equal values break the rule.
        strict: bool,
    },
    /// A column stays on one side of a value.
    Scalar {
        /// A column of numbers or dates.
        column: String,
        /// The side.
        relation: Relation,
        /// The value.
        value: ConstraintValue,
    },
    /// Only combinations that were seen: [`Constraint::fixed_combinations`].
    FixedCombinations {
        /// Two or more categorical or boolean columns.
        columns: Vec<String>,
    },
    /// Values are whole multiples: [`Constraint::fixed_increments`].
    FixedIncrements {
        /// A column of numbers.
        column: String,
        /// What values are multiples of, above 0.
        increment: f64,
    },
    /// Exactly one of the columns is 1 or true, the others 0 or false: [`Constraint::one_hot`].
    OneHot {
        /// Two or more columns of 0 and 1, or true and false, whatever their sdtype.
        columns: Vec<String>,
    },
    /// A column follows from others: [`Constraint::formula`].
    Formula {
        /// The column that is computed.
        column: String,
        /// How.
        formula: String,
    },
    /// Each row's value is at least, or at most, the last one before it: [`Constraint::increasing`].
    Monotone {
        /// A sequential column of numbers or dates, or the sequence index.
        column: String,
        /// Whether values fall rather than rise.
        falling: bool,
        /// Whether equal values break the rule.
        strict: bool,
    },
    /// No row repeats the value of the row before: [`Constraint::no_repeats`].
    NoRepeats {
        /// A sequential column.
        column: String,
    },
    /// A category is followed only by those that were seen to follow it: [`Constraint::seen_transitions`].
    SeenTransitions {
        /// A sequential categorical or boolean column.
        column: String,
    },
    /// A column adds up another, row after row: [`Constraint::running_total`].
    RunningTotal {
        /// The sum, a sequential column of numbers.
        total: String,
        /// What is added in each row, a sequential column of numbers.
        amount: String,
    },
    /// One value a sequence: [`Constraint::constant`].
    Constant {
        /// A sequential column.
        column: String,
    },
    /// What the first row of each sequence may hold: [`Constraint::first_row`].
    FirstRow {
        /// A sequential column.
        column: String,
        /// Its values; none may be missing.
        values: Vec<ConstraintValue>,
    },
    /// What the last row of each sequence may hold: [`Constraint::last_row`].
    LastRow {
        /// A sequential column.
        column: String,
        /// Its values; none may be missing.
        values: Vec<ConstraintValue>,
    },
}

fn names<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Vec<String> {
    columns.into_iter().map(Into::into).collect()
}

impl Constraint {
    /// `low <= high` in every row; SDV's `Inequality`.
    pub fn inequality(low: impl Into<String>, high: impl Into<String>) -> Constraint {
        Constraint::ordered([low.into(), high.into()])
    }

    /// `low <= middle <= high` in every row; SDV's `Range`, which is strict unless told otherwise.
    pub fn range(
        low: impl Into<String>,
        middle: impl Into<String>,
        high: impl Into<String>,
    ) -> Constraint {
        Constraint::ordered([low.into(), middle.into(), high.into()])
    }

    /// Each column at most the next, in every row.
    pub fn ordered<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Constraint {
        Constraint::Ordered {
            columns: names(columns),
            strict: false,
        }
    }

    /// A column stays on one side of a value; SDV's `ScalarInequality`.
    ///
    /// ```
    /// use parsynth::{Constraint, Relation};
    /// let newer = Constraint::scalar("visit", Relation::AtLeast, "2015-01-01");
    /// assert_eq!(newer.to_string(), "`visit` >= 2015-01-01");
    /// ```
    pub fn scalar(
        column: impl Into<String>,
        relation: Relation,
        value: impl Into<ConstraintValue>,
    ) -> Constraint {
        Constraint::Scalar {
            column: column.into(),
            relation,
            value: value.into(),
        }
    }

    /// Never below 0; with [`strict`](Self::strict) above 0. SDV's `Positive`.
    pub fn positive(column: impl Into<String>) -> Constraint {
        Constraint::scalar(column, Relation::AtLeast, 0.0)
    }

    /// Never above 0; with [`strict`](Self::strict) below 0. SDV's `Negative`.
    pub fn negative(column: impl Into<String>) -> Constraint {
        Constraint::scalar(column, Relation::AtMost, 0.0)
    }

    /// Only combinations of categories that were seen together; SDV's `FixedCombinations`.
    pub fn fixed_combinations<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Constraint {
        Constraint::FixedCombinations {
            columns: names(columns),
        }
    }

    /// Whole multiples of a number; SDV's `FixedIncrements`.
    pub fn fixed_increments(column: impl Into<String>, increment: f64) -> Constraint {
        Constraint::FixedIncrements {
            column: column.into(),
            increment,
        }
    }

    /// One of the columns is 1 or true, the others are 0 or false; SDV's `OneHotEncoding`.
    pub fn one_hot<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Constraint {
        Constraint::OneHot {
            columns: names(columns),
        }
    }

    /// A number that follows from others of its row: `formula("total", "price * quantity")`.
    ///
    /// The formula has `+ - * / ^`, brackets, numbers and functions as `sqrt`, `exp`, `log`, `abs`, `floor`, `round`; a
    /// column whose name is no word stands in braces, `{unit price}`. The result is rounded as the column is, and is
    /// missing where an input is or where it is no finite number. No other rule may bind the column.
    pub fn formula(column: impl Into<String>, formula: impl Into<String>) -> Constraint {
        Constraint::Formula {
            column: column.into(),
            formula: formula.into(),
        }
    }

    /// Values never fall within a sequence; with [`strict`](Self::strict) they rise.
    pub fn increasing(column: impl Into<String>) -> Constraint {
        Constraint::Monotone {
            column: column.into(),
            falling: false,
            strict: false,
        }
    }

    /// Values never rise within a sequence; with [`strict`](Self::strict) they fall.
    pub fn decreasing(column: impl Into<String>) -> Constraint {
        Constraint::Monotone {
            column: column.into(),
            falling: true,
            strict: false,
        }
    }

    /// No moment of the sequence index comes twice in a sequence.
    pub fn unique_index(index: impl Into<String>) -> Constraint {
        Constraint::increasing(index).strict()
    }

    /// No row repeats the value of the row before.
    pub fn no_repeats(column: impl Into<String>) -> Constraint {
        Constraint::NoRepeats {
            column: column.into(),
        }
    }

    /// A category is followed only by categories that were seen to follow it; a sequence ends where nothing was.
    pub fn seen_transitions(column: impl Into<String>) -> Constraint {
        Constraint::SeenTransitions {
            column: column.into(),
        }
    }

    /// `total` grows by `amount` in each row. Where the data's first totals are their rows' amounts, so are the sampled
    /// ones; else the first total, an opening balance, is drawn. A missing amount adds nothing. No other rule may bind
    /// the total.
    pub fn running_total(total: impl Into<String>, amount: impl Into<String>) -> Constraint {
        Constraint::RunningTotal {
            total: total.into(),
            amount: amount.into(),
        }
    }

    /// One value for all rows of a sequence; a context column says the same and is learned better.
    pub fn constant(column: impl Into<String>) -> Constraint {
        Constraint::Constant {
            column: column.into(),
        }
    }

    /// The first row of each sequence holds one of these values.
    pub fn first_row<V: Into<ConstraintValue>>(
        column: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> Constraint {
        Constraint::FirstRow {
            column: column.into(),
            values: values.into_iter().map(Into::into).collect(),
        }
    }

    /// The last row of each sequence holds one of these values.
    pub fn last_row<V: Into<ConstraintValue>>(
        column: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> Constraint {
        Constraint::LastRow {
            column: column.into(),
            values: values.into_iter().map(Into::into).collect(),
        }
    }

    /// The same rule without equality, where it has one; other rules stay as they are.
    #[must_use]
    pub fn strict(mut self) -> Constraint {
        match &mut self {
            Constraint::Ordered { strict, .. } | Constraint::Monotone { strict, .. } => {
                *strict = true;
            }
            Constraint::Scalar { relation, .. } => {
                *relation = match relation {
                    Relation::AtLeast | Relation::Above => Relation::Above,
                    Relation::AtMost | Relation::Below => Relation::Below,
                };
            }
            Constraint::FixedCombinations { .. }
            | Constraint::FixedIncrements { .. }
            | Constraint::OneHot { .. }
            | Constraint::Formula { .. }
            | Constraint::NoRepeats { .. }
            | Constraint::SeenTransitions { .. }
            | Constraint::RunningTotal { .. }
            | Constraint::Constant { .. }
            | Constraint::FirstRow { .. }
            | Constraint::LastRow { .. } => {}
        }
        self
    }

    /// Reads a list of constraints, or one: SDV 2's `class_name` and `parameters`, SDV 1's `constraint_class` and
    /// `constraint_parameters`, and what [`Constraint::list_to_json`] writes.
    ///
    /// ```
    /// use parsynth::Constraint;
    /// let text = r#"[{"class_name": "Inequality",
    ///                 "parameters": {"low_column_name": "birth", "high_column_name": "visit"}}]"#;
    /// assert_eq!(Constraint::list_from_json(text)?, [Constraint::inequality("birth", "visit")]);
    /// # Ok::<(), parsynth::ConstraintError>(())
    /// ```
    /// # Errors
    /// [`ConstraintError::Json`] for what is no JSON or lacks a field, [`ConstraintError::UnknownClass`] with the nearest
    /// name.
    pub fn list_from_json(text: &str) -> Result<Vec<Constraint>, ConstraintError> {
        json::read(text)
    }

    /// The constraints as JSON that [`Constraint::list_from_json`] reads, in SDV's words where SDV has them.
    #[must_use]
    pub fn list_to_json(constraints: &[Constraint]) -> String {
        json::write(constraints)
    }

    /// The columns it binds.
    pub(crate) fn columns(&self) -> Vec<&str> {
        match self {
            Constraint::Ordered { columns, .. }
            | Constraint::FixedCombinations { columns }
            | Constraint::OneHot { columns } => columns.iter().map(String::as_str).collect(),
            Constraint::Scalar { column, .. }
            | Constraint::FixedIncrements { column, .. }
            | Constraint::Formula { column, .. }
            | Constraint::Monotone { column, .. }
            | Constraint::NoRepeats { column }
            | Constraint::SeenTransitions { column }
            | Constraint::Constant { column }
            | Constraint::FirstRow { column, .. }
            | Constraint::LastRow { column, .. } => vec![column],
            Constraint::RunningTotal { total, amount } => vec![total, amount],
        }
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |columns: &[String]| {
            let quoted: Vec<String> = columns.iter().map(|column| format!("`{column}`")).collect();
            quoted
        };
        let listed = |values: &[ConstraintValue]| {
            let listed: Vec<String> = values.iter().map(ToString::to_string).collect();
            listed.join(", ")
        };
        match self {
            Constraint::Ordered { columns, strict } => {
                let sign = if *strict { " < " } else { " <= " };
                formatter.write_str(&quoted(columns).join(sign))
            }
            Constraint::Scalar {
                column,
                relation,
                value,
            } => write!(formatter, "`{column}` {} {value}", relation.sign()),
            Constraint::FixedCombinations { columns } => {
                write!(
                    formatter,
                    "only seen combinations of {}",
                    quoted(columns).join(", ")
                )
            }
            Constraint::FixedIncrements { column, increment } => {
                write!(formatter, "`{column}` in multiples of {increment}")
            }
            Constraint::OneHot { columns } => {
                write!(formatter, "exactly one of {}", quoted(columns).join(", "))
            }
            Constraint::Formula { column, formula } => write!(formatter, "`{column}` = {formula}"),
            Constraint::Monotone {
                column,
                falling,
                strict,
            } => {
                let way = match (falling, strict) {
                    (false, false) => "never falls",
                    (false, true) => "rises",
                    (true, false) => "never rises",
                    (true, true) => "falls",
                };
                write!(formatter, "`{column}` {way} from row to row")
            }
            Constraint::NoRepeats { column } => {
                write!(formatter, "`{column}` differs from the row before")
            }
            Constraint::SeenTransitions { column } => {
                write!(formatter, "only seen transitions of `{column}`")
            }
            Constraint::RunningTotal { total, amount } => {
                write!(formatter, "`{total}` is the running total of `{amount}`")
            }
            Constraint::Constant { column } => {
                write!(formatter, "`{column}` is constant in a sequence")
            }
            Constraint::FirstRow { column, values } => {
                write!(formatter, "`{column}` starts as {}", listed(values))
            }
            Constraint::LastRow { column, values } => {
                write!(formatter, "`{column}` ends as {}", listed(values))
            }
        }
    }
}
