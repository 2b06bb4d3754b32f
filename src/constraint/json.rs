//! SDV's constraint JSON, in and out.

use super::{Constraint, ConstraintError, ConstraintValue, Relation};
use crate::metadata::nearest_name;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// SDV's classes and what they take; ours carry the names of [`Constraint`]'s variants.
const SDV: [&str; 10] = [
    "Inequality",
    "Range",
    "ScalarInequality",
    "ScalarRange",
    "Positive",
    "Negative",
    "FixedCombinations",
    "FixedIncrements",
    "OneHotEncoding",
    "Unique",
];
const OURS: [&str; 10] = [
    "Ordered",
    "Scalar",
    "Formula",
    "Monotone",
    "NoRepeats",
    "SeenTransitions",
    "RunningTotal",
    "Constant",
    "FirstRow",
    "LastRow",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stated {
    #[serde(alias = "constraint_class")]
    class_name: String,
    #[serde(alias = "constraint_parameters", default)]
    parameters: Map<String, Value>,
}

pub(super) fn read(text: &str) -> Result<Vec<Constraint>, ConstraintError> {
    let broken = |error: serde_json::Error| ConstraintError::Json {
        reason: error.to_string(),
    };
    let value: Value = serde_json::from_str(text).map_err(broken)?;
    let list = match value {
        Value::Array(list) => list,
        one => vec![one],
    };
    let mut constraints = Vec::new();
    for (position, value) in list.into_iter().enumerate() {
        let stated: Stated =
            serde_json::from_value(value).map_err(|error| ConstraintError::Json {
                reason: format!("constraint {position}: {error}"),
            })?;
        constraints.extend(one(position, stated)?);
    }
    Ok(constraints)
}

/// The parameters of one constraint, taken out as they are read.
struct Parameters {
    place: String,
    left: Map<String, Value>,
}

impl Parameters {
    fn take<T: for<'de> Deserialize<'de>>(&mut self, name: &str) -> Result<T, ConstraintError> {
        let value = self.left.shift_remove(name).unwrap_or(Value::Null);
        serde_json::from_value(value).map_err(|error| ConstraintError::Json {
            reason: format!("{}: `{name}`: {error}", self.place),
        })
    }

    fn flag(&mut self, name: &str, default: bool) -> Result<bool, ConstraintError> {
        Ok(self.take::<Option<bool>>(name)?.unwrap_or(default))
    }

    fn end(mut self) -> Result<(), ConstraintError> {
        // A single table needs no name, and all strategies keep the rule alike.
        self.left.shift_remove("table_name");
        self.left.shift_remove("learning_strategy");
        match self.left.keys().next() {
            None => Ok(()),
            Some(field) => Err(ConstraintError::Json {
                reason: format!("{}: unknown parameter `{field}`", self.place),
            }),
        }
    }
}

fn one(position: usize, stated: Stated) -> Result<Vec<Constraint>, ConstraintError> {
    let class = stated.class_name;
    if OURS.contains(&class.as_str()) {
        let value = json!({ "class_name": class, "parameters": stated.parameters });
        let constraint = serde_json::from_value(value).map_err(|error| ConstraintError::Json {
            reason: format!("constraint {position}, {class}: {error}"),
        })?;
        return Ok(vec![constraint]);
    }
    let mut parameters = Parameters {
        place: format!("constraint {position}, {class}"),
        left: stated.parameters,
    };
    let constraints = match class.as_str() {
        "Inequality" => {
            let columns = vec![
                parameters.take("low_column_name")?,
                parameters.take("high_column_name")?,
            ];
            let strict = parameters.flag("strict_boundaries", false)?;
            vec![Constraint::Ordered { columns, strict }]
        }
        "Range" => {
            let columns = vec![
                parameters.take("low_column_name")?,
                parameters.take("middle_column_name")?,
                parameters.take("high_column_name")?,
            ];
            let strict = parameters.flag("strict_boundaries", true)?;
            vec![Constraint::Ordered { columns, strict }]
        }
        "ScalarInequality" => {
            let column: String = parameters.take("column_name")?;
            let relation: Relation = parameters.take("relation")?;
            let value: ConstraintValue = parameters.take("value")?;
            vec![Constraint::Scalar {
                column,
                relation,
                value,
            }]
        }
        "ScalarRange" => {
            let column: String = parameters.take("column_name")?;
            let low: ConstraintValue = parameters.take("low_value")?;
            let high: ConstraintValue = parameters.take("high_value")?;
            let (above, below) = if parameters.flag("strict_boundaries", true)? {
                (Relation::Above, Relation::Below)
            } else {
                (Relation::AtLeast, Relation::AtMost)
            };
            vec![
                Constraint::scalar(column.clone(), above, low),
                Constraint::scalar(column, below, high),
            ]
        }
        "Positive" | "Negative" => {
            let column: String = parameters.take("column_name")?;
            let constraint = if class == "Positive" {
                Constraint::positive(column)
            } else {
                Constraint::negative(column)
            };
            if parameters.flag("strict_boundaries", false)? {
                vec![constraint.strict()]
            } else {
                vec![constraint]
            }
        }
        "FixedCombinations" => vec![Constraint::FixedCombinations {
            columns: parameters.take("column_names")?,
        }],
        "FixedIncrements" => vec![Constraint::FixedIncrements {
            column: parameters.take("column_name")?,
            increment: parameters.take("increment_value")?,
        }],
        "OneHotEncoding" => vec![Constraint::OneHot {
            columns: parameters.take("column_names")?,
        }],
        "Unique" => {
            return Err(ConstraintError::Unfit {
                constraint: format!("{position}, Unique"),
                problem: "a column without repeats is an id: give it that sdtype; an index without repeats is Monotone with strict: true".to_owned(),
            });
        }
        _ => {
            let known = || SDV.iter().chain(&OURS).copied();
            return Err(ConstraintError::UnknownClass {
                nearest: nearest_name(&class, known()),
                class,
                known: known().collect::<Vec<_>>().join(", "),
            });
        }
    };
    parameters.end()?;
    Ok(constraints)
}

pub(super) fn write(constraints: &[Constraint]) -> String {
    let list: Vec<Value> = constraints.iter().map(value).collect();
    format!("{:#}", Value::Array(list))
}

fn value(constraint: &Constraint) -> Value {
    let (class, parameters) = match constraint {
        Constraint::Ordered { columns, strict } if columns.len() == 2 => (
            "Inequality",
            json!({ "low_column_name": columns[0], "high_column_name": columns[1], "strict_boundaries": strict }),
        ),
        Constraint::Ordered { columns, strict } if columns.len() == 3 => (
            "Range",
            json!({
                "low_column_name": columns[0], "middle_column_name": columns[1],
                "high_column_name": columns[2], "strict_boundaries": strict
            }),
        ),
        Constraint::Scalar {
            column,
            relation,
            value,
        } => (
            "ScalarInequality",
            json!({ "column_name": column, "relation": relation, "value": value }),
        ),
        Constraint::FixedCombinations { columns } => {
            ("FixedCombinations", json!({ "column_names": columns }))
        }
        Constraint::FixedIncrements { column, increment } => (
            "FixedIncrements",
            json!({ "column_name": column, "increment_value": increment }),
        ),
        Constraint::OneHot { columns } => ("OneHotEncoding", json!({ "column_names": columns })),
        Constraint::Ordered { .. }
        | Constraint::Formula { .. }
        | Constraint::Monotone { .. }
        | Constraint::NoRepeats { .. }
        | Constraint::SeenTransitions { .. }
        | Constraint::RunningTotal { .. }
        | Constraint::Constant { .. }
        | Constraint::FirstRow { .. }
        | Constraint::LastRow { .. } => {
            // A derived enum of texts and numbers has no value that JSON cannot hold.
            return serde_json::to_value(constraint).unwrap_or(Value::Null);
        }
    };
    json!({ "class_name": class, "parameters": parameters })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Constraint> {
        vec![
            Constraint::inequality("a", "b").strict(),
            Constraint::range("a", "b", "c"),
            Constraint::ordered(["a", "b", "c", "d"]),
            Constraint::scalar("d", Relation::Below, "2020-02-29"),
            Constraint::positive("a"),
            Constraint::fixed_combinations(["x", "y"]),
            Constraint::fixed_increments("a", 0.25),
            Constraint::one_hot(["p", "q", "r"]),
            Constraint::formula("t", "{a b} * c"),
            Constraint::decreasing("a").strict(),
            Constraint::no_repeats("x"),
            Constraint::seen_transitions("x"),
            Constraint::running_total("t", "a"),
            Constraint::constant("x"),
            Constraint::first_row("x", ["new"]),
            Constraint::last_row("n", [0, 1]),
        ]
    }

    #[test]
    fn what_is_written_reads_the_same() {
        let text = write(&all());
        assert_eq!(read(&text), Ok(all()));
    }

    #[test]
    fn both_of_sdvs_spellings_are_read() {
        let first = r#"{"constraint_class": "ScalarRange", "constraint_parameters":
            {"column_name": "x", "low_value": 0, "high_value": 9, "strict_boundaries": false}}"#;
        let wanted = vec![
            Constraint::scalar("x", Relation::AtLeast, 0.0),
            Constraint::scalar("x", Relation::AtMost, 9.0),
        ];
        assert_eq!(read(first), Ok(wanted));
        let second = r#"[{"class_name": "Range", "parameters": {"low_column_name": "a", "middle_column_name": "b",
            "high_column_name": "c", "table_name": null}}]"#;
        // SDV's Range is strict unless told otherwise.
        assert_eq!(
            read(second),
            Ok(vec![Constraint::range("a", "b", "c").strict()])
        );
    }

    #[test]
    fn a_mistake_is_named_with_the_nearest_class_or_field() {
        let error = |text: &str| read(text).unwrap_err().to_string();
        assert!(
            error(r#"[{"class_name": "Inequalty", "parameters": {}}]"#)
                .contains("did you mean `Inequality`?")
        );
        assert!(
            error(r#"[{"class_name": "Positive", "parameters": {"column": "x"}}]"#)
                .contains("constraint 0, Positive: `column_name`")
        );
        assert!(
            error(
                r#"[{"class_name": "Positive", "parameters": {"column_name": "x", "strct": true}}]"#
            )
            .contains("unknown parameter `strct`")
        );
        assert!(error("[{]").contains("not valid JSON"));
    }
}
