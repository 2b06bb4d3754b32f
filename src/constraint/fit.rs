//! From statements to rules: names to columns, what is learned from the data, what cannot be kept.

use super::formula::Formula;
use super::{Combinations, Constraint, ConstraintError, Learned, Place, Rules, Transitions};
use crate::layout::{
    CategoryCodec, ContextKind, ContextSource, Layout, ReferencePair, RowKind, RowSource,
};
use crate::metadata::nearest_name;
use crate::table::{Label, Measure, Role, Schema, SequenceTable, Values};
use std::collections::BTreeSet;

/// The pairs of columns that constraints put in order, the higher of which may be told as its distance from the lower.
pub(crate) fn reference_pairs(constraints: &[Constraint], schema: &Schema) -> Vec<ReferencePair> {
    let position = |name: &str| schema.columns.iter().position(|column| column.name == name);
    let is_computed = |name: &str| {
        constraints.iter().any(|constraint| match constraint {
            Constraint::Formula { column, .. } => column == name,
            Constraint::RunningTotal { total, .. } => total == name,
            _ => false,
        })
    };
    let mut pairs = Vec::new();
    for constraint in constraints {
        let Constraint::Ordered { columns, .. } = constraint else {
            continue;
        };
        for (at, high) in columns.iter().enumerate() {
            let varies = |column: &usize| schema.columns[*column].role == Role::Sequential;
            let Some(column) = position(high).filter(varies) else {
                continue;
            };
            let lows = columns[..at].iter().filter_map(|low| position(low));
            let lows = lows.filter(|&from| from != column && !is_computed(high));
            pairs.extend(lows.map(|from| ReferencePair { column, from }));
        }
    }
    pairs
}

/// By schema column, 0, or more for a column that must be drawn after others: one that is computed, after its inputs,
/// and one that is told as a distance, after what it is measured from.
/// # Errors
/// [`ConstraintError::Contradiction`] for columns computed from each other; [`ConstraintError::Unfit`] for a formula
/// that cannot be read.
pub(crate) fn input_depths(
    constraints: &[Constraint],
    references: &[ReferencePair],
    schema: &Schema,
) -> Result<Vec<usize>, ConstraintError> {
    let position = |name: &str| schema.columns.iter().position(|column| column.name == name);
    let mut depths = vec![0; schema.columns.len()];
    // Without a circle, as many rounds as columns settle every depth.
    for round in 0..=schema.columns.len() {
        let before = depths.clone();
        for &ReferencePair { column, from } in references {
            if schema.columns[from].role == Role::Sequential {
                depths[column] = depths[column].max(depths[from] + usize::from(from > column));
            }
        }
        for constraint in constraints {
            let (result, inputs) = match constraint {
                Constraint::Formula { column, formula } => {
                    let formula =
                        Formula::parse(formula).map_err(|problem| unfit(constraint, problem))?;
                    (column, formula.inputs)
                }
                Constraint::RunningTotal { total, amount } => (total, vec![amount.clone()]),
                _ => continue,
            };
            let inputs = inputs.iter().filter_map(|input| position(input));
            let deepest = inputs.map(|input| depths[input]).max().unwrap_or(0);
            if let Some(result) = position(result) {
                depths[result] = depths[result].max(deepest + 1);
            }
            if round == schema.columns.len() && depths != before {
                return Err(ConstraintError::Contradiction {
                    constraint: constraint.to_string(),
                    problem: "its column is computed, by way of others, from itself".to_owned(),
                });
            }
        }
    }
    Ok(depths)
}

impl Rules {
    /// Learns what constraints take from the data, and checks that the data keeps them.
    /// # Errors
    /// [`ConstraintError`] naming the rule: an unknown or unfit column, rules that contradict each other, rows that
    /// break one.
    pub(crate) fn fit(
        constraints: Vec<Constraint>,
        schema: &Schema,
        table: &SequenceTable,
        layout: &Layout,
    ) -> Result<Rules, ConstraintError> {
        let learned = constraints
            .iter()
            .map(|constraint| learn(constraint, schema, table, layout))
            .collect::<Result<Vec<_>, _>>()?;
        let rules = Rules::compile(constraints, learned, schema, layout)?;
        rules.check_data(table, layout)?;
        Ok(rules)
    }
}

pub(super) fn unfit(constraint: &Constraint, problem: impl Into<String>) -> ConstraintError {
    ConstraintError::Unfit {
        constraint: constraint.to_string(),
        problem: problem.into(),
    }
}

/// The modelled column of a name.
pub(super) fn place(
    constraint: &Constraint,
    name: &str,
    schema: &Schema,
    layout: &Layout,
) -> Result<(Place, usize), ConstraintError> {
    let names = || schema.columns.iter().map(|column| column.name.as_str());
    let Some(column) = names().position(|known| known == name) else {
        return Err(ConstraintError::UnknownColumn {
            constraint: constraint.to_string(),
            column: name.to_owned(),
            nearest: nearest_name(name, names()),
        });
    };
    let row = |source: RowSource| layout.rows.iter().position(|row| row.source == source);
    let found = match schema.columns[column].role {
        Role::SequenceKey => None,
        Role::SequenceIndex => row(RowSource::Gap).map(Place::Row),
        Role::Context => layout
            .context_position(ContextSource::Column(column))
            .map(Place::Context),
        Role::Sequential => row(RowSource::Column(column)).map(Place::Row),
    };
    match found {
        Some(place) => Ok((place, column)),
        None => Err(unfit(
            constraint,
            format!("column `{name}` is made up, not learned, so no rule can bind it"),
        )),
    }
}

pub(super) fn category(layout: &Layout, place: Place) -> Option<&CategoryCodec> {
    match place {
        Place::Context(at) => match &layout.context.get(at)?.kind {
            ContextKind::Category(codec) => Some(codec),
            ContextKind::Number { .. } => None,
        },
        Place::Row(at) => match &layout.rows.get(at)?.kind {
            RowKind::Category(codec) => Some(codec),
            RowKind::Number(_) => None,
        },
    }
}

/// The class of a row of a category column.
fn classes<'t>(
    table: &'t SequenceTable,
    column: usize,
    codec: &CategoryCodec,
) -> impl Fn(usize) -> Option<u32> + use<'t> {
    let (codes, labels): (&[u32], &[Label]) = match &table.columns[column] {
        Values::Labels { codes, labels } => (codes, labels),
        Values::Numbers(_) => (&[], &[]),
    };
    let of_code: Vec<Option<u32>> = (0..)
        .take(labels.len() + 1)
        .map(|code| u32::try_from(codec.class(code, labels)?).ok())
        .collect();
    move |row| of_code[(*codes.get(row)? as usize).min(labels.len())]
}

fn learn(
    constraint: &Constraint,
    schema: &Schema,
    table: &SequenceTable,
    layout: &Layout,
) -> Result<Learned, ConstraintError> {
    let classes_of = |name: &str| {
        let (place, column) = place(constraint, name, schema, layout)?;
        match category(layout, place) {
            Some(codec) => Ok((classes(table, column, codec), codec.classes())),
            None => Err(unfit(
                constraint,
                format!("column `{name}` must be categorical or boolean"),
            )),
        }
    };
    Ok(match constraint {
        Constraint::FixedCombinations { columns } => {
            let columns = columns
                .iter()
                .map(|name| Ok(classes_of(name)?.0))
                .collect::<Result<Vec<_>, ConstraintError>>()?;
            let mut seen = BTreeSet::new();
            for row in 0..table.rows() {
                // A protected category is never drawn, so what it was seen with need not be known.
                let combination: Option<Vec<u32>> =
                    columns.iter().map(|class| class(row)).collect();
                seen.extend(combination);
            }
            Learned::Combinations(Combinations(seen.into_iter().collect()))
        }
        Constraint::SeenTransitions { column } => {
            let (class, count) = classes_of(column)?;
            let mut next = vec![BTreeSet::new(); count];
            for ends in table.offsets.windows(2) {
                for row in ends[0] + 1..ends[1] {
                    if let (Some(before), Some(after)) = (class(row - 1), class(row)) {
                        next[before as usize].insert(after);
                    }
                }
            }
            let next = next.into_iter().map(|next| next.into_iter().collect());
            Learned::Transitions(Transitions(next.collect()))
        }
        Constraint::RunningTotal { total, amount } => {
            let numbers = |name: &str| {
                let (_, column) = place(constraint, name, schema, layout)?;
                let measure = schema.columns[column].measure().unwrap_or(Measure::PLAIN);
                match &table.columns[column] {
                    Values::Numbers(numbers) => Ok((numbers, measure)),
                    Values::Labels { .. } => Err(unfit(
                        constraint,
                        format!("column `{name}` must be numerical"),
                    )),
                }
            };
            let (totals, total_measure) = numbers(total)?;
            let (amounts, amount_measure) = numbers(amount)?;
            let firsts = &table.offsets[..table.sequences()];
            let begins_with_amount = firsts.iter().all(|&row| {
                let total = total_measure.convert(totals[row], Measure::PLAIN);
                let amount = amount_measure.convert(amounts[row], Measure::PLAIN);
                let amount = if amount.is_nan() { 0.0 } else { amount };
                total.is_nan() || (total - amount).abs() <= 1e-9 * total.abs().max(amount.abs())
            });
            Learned::RunningTotal { begins_with_amount }
        }
        Constraint::Ordered { .. }
        | Constraint::Scalar { .. }
        | Constraint::FixedIncrements { .. }
        | Constraint::OneHot { .. }
        | Constraint::Formula { .. }
        | Constraint::Monotone { .. }
        | Constraint::NoRepeats { .. }
        | Constraint::Constant { .. }
        | Constraint::FirstRow { .. }
        | Constraint::LastRow { .. } => Learned::Nothing,
    })
}
