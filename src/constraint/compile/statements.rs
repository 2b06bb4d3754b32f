//! The rules of each kind of statement.

use super::Compiler;
use crate::constraint::chain::Chain;
use crate::constraint::fit::{category, unfit};
use crate::constraint::formula::Formula;
use crate::constraint::order::Node;
use crate::constraint::rules::{Input, Kind, OneHotCells, Rule};
use crate::constraint::{
    Cell, Combinations, Constraint, ConstraintError, ConstraintValue, Place, Relation,
};
use crate::layout::{CategoryCodec, RowSource};
use crate::table::{Label, Measure};
use std::sync::Arc;

impl Compiler<'_> {
    pub(super) fn add_scalar(
        &mut self,
        statement: usize,
        name: &str,
        relation: Relation,
        value: &ConstraintValue,
    ) -> Result<(), ConstraintError> {
        let constraint = &self.constraints[statement];
        let (place, measure) = self.number(constraint, name)?;
        let (number, measure) = match value {
            ConstraintValue::Number(number) if number.is_finite() && !measure.is_time() => {
                (*number, Measure::PLAIN)
            }
            ConstraintValue::Text(text) => {
                let column = self
                    .column(place)
                    .and_then(|at| self.schema.columns.get(at));
                column.and_then(|column| column.date(text)).ok_or_else(|| {
                    let problem =
                        format!("`{text}` is no value of column `{name}`; wanted is a number, or for a date column a date in its format");
                    unfit(constraint, problem)
                })?
            }
            ConstraintValue::Number(_) | ConstraintValue::Boolean(_) => {
                let problem = format!("`{value}` is no value of column `{name}`");
                return Err(unfit(constraint, problem));
            }
        };
        let (value, here) = (Node::Constant { number, measure }, Node::Now(place));
        let order = &mut self.order;
        match relation {
            Relation::Above => order.at_most(value, here, true, statement),
            Relation::AtLeast => order.at_most(value, here, false, statement),
            Relation::Below => order.at_most(here, value, true, statement),
            Relation::AtMost => order.at_most(here, value, false, statement),
        }
        Ok(())
    }

    pub(super) fn add_combinations(
        &mut self,
        statement: usize,
        columns: &[String],
        seen: &Combinations,
    ) -> Result<(), ConstraintError> {
        let constraint = &self.constraints[statement];
        let places = columns
            .iter()
            .map(|name| self.place(constraint, name))
            .collect::<Result<Vec<_>, _>>()?;
        if seen.0.iter().any(|seen| seen.len() != places.len()) {
            return Err(unfit(constraint, "what it learned is not of its columns"));
        }
        let (seen, places) = (Arc::new(seen.clone()), Arc::new(places));
        for (own, place) in places.iter().enumerate() {
            if category(self.layout, *place).is_none() {
                let problem = format!("column `{}` must be categorical or boolean", columns[own]);
                return Err(unfit(constraint, problem));
            }
            let kind = Kind::Combination {
                seen: Arc::clone(&seen),
                places: Arc::clone(&places),
                own,
            };
            self.push(statement, *place, kind);
        }
        Ok(())
    }

    pub(super) fn add_one_hot(
        &mut self,
        statement: usize,
        columns: &[String],
    ) -> Result<(), ConstraintError> {
        let constraint = &self.constraints[statement];
        let mut codes = Vec::new();
        for name in columns {
            let place = self.place(constraint, name)?;
            let code = match category(self.layout, place) {
                Some(codec) => OneHotCells {
                    zero: class_of(codec, 0.0, false),
                    one: class_of(codec, 1.0, true),
                },
                None => {
                    let (_, measure) = self.plain_number(constraint, name)?;
                    let cell = |number| Some(Cell::Number(Measure::PLAIN.convert(number, measure)));
                    OneHotCells {
                        zero: cell(0.0),
                        one: cell(1.0),
                    }
                }
            };
            codes.push((place, code));
        }
        for (at, (place, own)) in codes.iter().enumerate() {
            let others = codes.iter().enumerate().filter(|(other, _)| *other != at);
            let kind = Kind::OneHot {
                others: others.map(|(_, other)| *other).collect(),
                own: *own,
            };
            self.push(statement, *place, kind);
        }
        Ok(())
    }

    pub(super) fn add_formula(
        &mut self,
        statement: usize,
        name: &str,
        text: &str,
    ) -> Result<(), ConstraintError> {
        let constraint = &self.constraints[statement];
        let (place, _) = self.plain_number(constraint, name)?;
        let formula = Formula::parse(text).map_err(|problem| unfit(constraint, problem))?;
        let mut inputs = Vec::new();
        for input in &formula.inputs {
            let (input_place, measure) = self.plain_number(constraint, input)?;
            let is_before = match (input_place, place) {
                (Place::Context(input), Place::Context(result))
                | (Place::Row(input), Place::Row(result)) => input < result,
                (Place::Context(_), Place::Row(_)) => true,
                (Place::Row(_), Place::Context(_)) => {
                    let problem = format!(
                        "column `{name}` is constant in a sequence, but its input `{input}` changes"
                    );
                    return Err(unfit(constraint, problem));
                }
            };
            if !is_before {
                let problem = format!("column `{input}` is drawn after column `{name}`");
                return Err(unfit(constraint, problem));
            }
            self.site(input_place);
            inputs.push((input_place, measure));
        }
        let (formula, inputs) = (Arc::new(formula), Arc::new(inputs));
        for (own, (input, _)) in inputs.iter().enumerate() {
            let kind = Kind::Input(Input {
                formula: Arc::clone(&formula),
                inputs: Arc::clone(&inputs),
                own,
                result: place,
            });
            self.push_inverse(statement, *input, kind);
        }
        self.push(statement, place, Kind::Formula { formula, inputs });
        Ok(())
    }

    pub(super) fn add_between_rows(
        &mut self,
        statement: usize,
        name: &str,
        of_category: fn(&mut Chain),
        of_number: fn() -> Kind,
    ) -> Result<(), ConstraintError> {
        let constraint = &self.constraints[statement];
        let place = self.place(constraint, name)?;
        self.check_varies(constraint, place, name)?;
        if category(self.layout, place).is_some() {
            let chain = self.chain(constraint, place, name)?;
            of_category(&mut self.chains[chain]);
            self.push(statement, place, Kind::Chain(chain));
        } else {
            self.refuse_index(constraint, place, name)?;
            self.push(statement, place, of_number());
        }
        Ok(())
    }

    pub(super) fn refuse_index(
        &self,
        constraint: &Constraint,
        place: Place,
        name: &str,
    ) -> Result<(), ConstraintError> {
        if self.schema.sequence_index().is_some()
            && self.column(place) == self.schema.sequence_index()
        {
            let problem = format!(
                "column `{name}` is the sequence index; it takes unique_index, inequalities and bounds"
            );
            return Err(unfit(constraint, problem));
        }
        Ok(())
    }

    pub(super) fn add_end(
        &mut self,
        statement: usize,
        name: &str,
        values: &[ConstraintValue],
        of_category: fn(&mut Chain, &[u32]),
        of_number: fn(Vec<f64>) -> Kind,
    ) -> Result<(), ConstraintError> {
        let constraint = &self.constraints[statement];
        let place = self.place(constraint, name)?;
        self.check_varies(constraint, place, name)?;
        self.refuse_index(constraint, place, name)?;
        if values.is_empty() {
            return Err(unfit(constraint, "it lists no value"));
        }
        let strange = |value: &ConstraintValue| {
            unfit(
                constraint,
                format!("`{value}` is no value of column `{name}` that was seen"),
            )
        };
        if let Some(codec) = category(self.layout, place) {
            let class = |value: &ConstraintValue| {
                class_of_value(codec, value).ok_or_else(|| strange(value))
            };
            let classes = values.iter().map(class).collect::<Result<Vec<_>, _>>()?;
            let chain = self.chain(constraint, place, name)?;
            of_category(&mut self.chains[chain], &classes);
            self.push(statement, place, Kind::Chain(chain));
            return Ok(());
        }
        let measure = self.measure(place).unwrap_or(Measure::PLAIN);
        let number = |value: &ConstraintValue| match value {
            ConstraintValue::Number(number) if number.is_finite() && !measure.is_time() => {
                Ok(Measure::PLAIN.convert(*number, measure))
            }
            ConstraintValue::Text(text) => {
                let column = self
                    .column(place)
                    .and_then(|at| self.schema.columns.get(at));
                let date = column.and_then(|column| column.date(text));
                let (number, from) = date.ok_or_else(|| strange(value))?;
                Ok(from.convert(number, measure))
            }
            ConstraintValue::Number(_) | ConstraintValue::Boolean(_) => Err(strange(value)),
        };
        let numbers = values.iter().map(number).collect::<Result<Vec<_>, _>>()?;
        self.push(statement, place, of_number(numbers));
        Ok(())
    }

    /// The chain of a category column, made when there is none.
    pub(super) fn chain(
        &mut self,
        constraint: &Constraint,
        place: Place,
        name: &str,
    ) -> Result<usize, ConstraintError> {
        let Some(codec) = category(self.layout, place) else {
            let problem = format!("column `{name}` must be categorical or boolean");
            return Err(unfit(constraint, problem));
        };
        let known = match place {
            Place::Row(at) => self.rows[at].as_ref(),
            Place::Context(at) => self.context[at].as_ref(),
        };
        let known = known.and_then(|site| {
            site.rules.iter().find_map(|rule| match rule.kind {
                Kind::Chain(chain) => Some(chain),
                _ => None,
            })
        });
        Ok(known.unwrap_or_else(|| {
            let missing = codec.has_missing.then_some(codec.labels.len());
            self.chains.push(Chain::new(codec.classes(), missing));
            self.chains.len() - 1
        }))
    }

    /// Each link bounds the value at its upper end from below, and that at its lower end from above.
    pub(super) fn add_bounds(&mut self) {
        let order = self.order.clone();
        let measure_of = |node: Node| match node {
            Node::Constant { measure, .. } => measure,
            Node::Now(place) | Node::Before(place) | Node::After(place) => {
                self.measure(place).unwrap_or(Measure::PLAIN)
            }
        };
        let mut rules = Vec::new();
        for link in &order.links {
            let (low, high) = (order.nodes[link.low], order.nodes[link.high]);
            let rule = |other: Node, is_low: bool| Rule {
                statement: link.statement,
                is_direct: link.is_direct,
                kind: Kind::Bound {
                    other,
                    from: measure_of(other),
                    is_low,
                    is_strict: link.is_strict,
                },
            };
            if let Node::Now(place) = high {
                rules.push((place, rule(low, true)));
            }
            if let Node::Now(place) = low {
                rules.push((place, rule(high, false)));
            }
        }
        for (place, rule) in rules {
            self.push_rule(place, rule);
        }
    }

    /// A computed column takes no other rule: the value that follows from its inputs may break it.
    pub(super) fn refuse_bound_results(&self) -> Result<(), ConstraintError> {
        for (statement, constraint) in self.constraints.iter().enumerate() {
            let result = match constraint {
                Constraint::Formula { column, .. } => column,
                Constraint::RunningTotal { total, .. } => total,
                _ => continue,
            };
            let other = self
                .constraints
                .iter()
                .enumerate()
                .find(|(other, constraint)| {
                    *other != statement
                        && match constraint {
                            // An amount may itself be computed.
                            Constraint::RunningTotal { total, .. } => total == result,
                            _ => constraint.columns().contains(&result.as_str()),
                        }
                });
            if let Some((_, other)) = other {
                return Err(ConstraintError::Contradiction {
                    constraint: constraint.to_string(),
                    problem: format!(
                        "column `{result}` follows from its inputs, so {other} cannot bind it; bind the inputs, or check it with a custom constraint"
                    ),
                });
            }
        }
        Ok(())
    }

    /// An upper bound on the index ends sequences early, which a rule on last rows cannot know beforehand.
    pub(super) fn refuse_early_ends(&self) -> Result<(), ConstraintError> {
        let index = self
            .layout
            .rows
            .iter()
            .position(|row| row.source == RowSource::Gap);
        let is_upper = |rule: &&Rule| match &rule.kind {
            // Where rows are given, none is new.
            Kind::Bound { other, is_low, .. } => !is_low && !matches!(other, Node::After(_)),
            _ => false,
        };
        let bound = index
            .and_then(|at| self.rows[at].as_ref())
            .and_then(|site| site.rules.iter().find(is_upper));
        match bound {
            Some(bound) if self.has_last_row => {
                let last = self
                    .constraints
                    .iter()
                    .find(|constraint| matches!(constraint, Constraint::LastRow { .. }));
                Err(ConstraintError::Contradiction {
                    constraint: self.constraints[bound.statement].to_string(),
                    problem: format!(
                        "it ends sequences where the index would pass the bound, and {} has to know the last row before",
                        last.map_or_else(String::new, ToString::to_string)
                    ),
                })
            }
            _ => Ok(()),
        }
    }
}

/// The class of 0 or 1, however the column writes it.
fn class_of(codec: &CategoryCodec, number: f64, flag: bool) -> Option<Cell> {
    let is_it = |label: &Label| match label {
        Label::Boolean(value) => *value == flag,
        Label::Integer(value) => *value == i128::from(flag),
        Label::Float(value) => *value == number,
        Label::Text(text) => text.parse() == Ok(number),
    };
    let class = codec.labels.iter().position(is_it)?;
    u32::try_from(class).ok().map(Cell::Class)
}

fn class_of_value(codec: &CategoryCodec, value: &ConstraintValue) -> Option<u32> {
    let is_it = |label: &Label| match (label, value) {
        (Label::Boolean(label), ConstraintValue::Boolean(value)) => label == value,
        (Label::Integer(label), ConstraintValue::Number(value)) => *label as f64 == *value,
        (Label::Float(label), ConstraintValue::Number(value)) => label == value,
        (Label::Text(label), ConstraintValue::Text(value)) => label == value,
        _ => false,
    };
    let class = codec.labels.iter().position(is_it)?;
    u32::try_from(class).ok()
}
