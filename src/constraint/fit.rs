//! From statements to rules: names to columns, what is learned from the data, what cannot be kept.

use super::allowed::Multiples;
use super::chain::Chain;
use super::formula::Formula;
use super::order::{Node, Order};
use super::rules::{Input, Kind, OneHotCells, Rule, Site};
use super::{
    Cell, Combinations, Constraint, ConstraintError, ConstraintValue, Learned, Place, Relation,
    Rules, Transitions,
};
use crate::layout::{
    CategoryCodec, ContextKind, ContextSource, Layout, ReferencePair, RowKind, RowSource,
};
use crate::metadata::nearest_name;
use crate::table::{Label, Measure, Role, Schema, SequenceTable, Storage, Values};
use std::collections::BTreeSet;
use std::sync::Arc;

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

    /// Constraints and what they learned, against a layout.
    /// # Errors
    /// As [`Rules::fit`], but for the data.
    pub(crate) fn compile(
        constraints: Vec<Constraint>,
        learned: Vec<Learned>,
        schema: &Schema,
        layout: &Layout,
    ) -> Result<Rules, ConstraintError> {
        let mut compiler = Compiler {
            schema,
            layout,
            constraints: &constraints,
            context: vec![None; layout.context.len()],
            rows: vec![None; layout.rows.len()],
            chains: Vec::new(),
            order: Order::default(),
            has_last_row: false,
        };
        for (statement, learned) in learned.iter().enumerate() {
            compiler.add(statement, learned)?;
        }
        compiler.refuse_bound_results()?;
        compiler.order.close(&constraints)?;
        compiler.add_bounds();
        compiler.refuse_early_ends()?;
        let references = compiler.references()?;
        for chain in &mut compiler.chains {
            chain.finish();
        }
        let Compiler {
            context,
            rows,
            chains,
            has_last_row,
            ..
        } = compiler;
        Ok(Rules {
            constraints,
            learned,
            context,
            rows,
            references,
            chains,
            has_last_row,
        })
    }
}

fn unfit(constraint: &Constraint, problem: impl Into<String>) -> ConstraintError {
    ConstraintError::Unfit {
        constraint: constraint.to_string(),
        problem: problem.into(),
    }
}

/// The modelled column of a name.
fn place(
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

fn category(layout: &Layout, place: Place) -> Option<&CategoryCodec> {
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

/// The class of each row of a category column.
fn classes(table: &SequenceTable, column: usize, codec: &CategoryCodec) -> Vec<Option<u32>> {
    let Values::Labels { codes, labels } = &table.columns[column] else {
        return Vec::new();
    };
    let of_code: Vec<Option<u32>> = (0..)
        .take(labels.len() + 1)
        .map(|code| u32::try_from(codec.class(code, labels)?).ok())
        .collect();
    codes
        .iter()
        .map(|&code| of_code[(code as usize).min(labels.len())])
        .collect()
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
                    columns.iter().map(|classes| classes[row]).collect();
                seen.extend(combination);
            }
            Learned::Combinations(Combinations(seen.into_iter().collect()))
        }
        Constraint::SeenTransitions { column } => {
            let (classes, count) = classes_of(column)?;
            let mut next = vec![BTreeSet::new(); count];
            for ends in table.offsets.windows(2) {
                for pair in classes[ends[0]..ends[1]].windows(2) {
                    if let (Some(before), Some(after)) = (pair[0], pair[1]) {
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

struct Compiler<'a> {
    schema: &'a Schema,
    layout: &'a Layout,
    constraints: &'a [Constraint],
    context: Vec<Option<Site>>,
    rows: Vec<Option<Site>>,
    chains: Vec<Chain>,
    order: Order,
    has_last_row: bool,
}

impl Compiler<'_> {
    fn add(&mut self, statement: usize, learned: &Learned) -> Result<(), ConstraintError> {
        let constraint = &self.constraints[statement];
        self.check_names(constraint)?;
        match (constraint, learned) {
            (Constraint::Ordered { columns, strict }, _) => {
                for pair in columns.windows(2) {
                    let (low, high) = (&pair[0], &pair[1]);
                    let (low, low_measure) = self.number(constraint, low)?;
                    let (high, high_measure) = self.number(constraint, high)?;
                    if low_measure.is_time() != high_measure.is_time() {
                        let problem = "one column holds dates, the other numbers";
                        return Err(unfit(constraint, problem));
                    }
                    self.order
                        .at_most(Node::Now(low), Node::Now(high), *strict, statement);
                }
            }
            (
                Constraint::Scalar {
                    column,
                    relation,
                    value,
                },
                _,
            ) => self.add_scalar(statement, column, *relation, value)?,
            (Constraint::FixedCombinations { columns }, Learned::Combinations(seen)) => {
                self.add_combinations(statement, columns, seen)?;
            }
            (Constraint::FixedIncrements { column, increment }, _) => {
                let (place, measure) = self.plain_number(constraint, column)?;
                if !(increment.is_finite() && *increment > 0.0) {
                    let problem =
                        format!("the increment is {increment}, wanted is a number above 0");
                    return Err(unfit(constraint, problem));
                }
                let origin = Measure::PLAIN.convert(0.0, measure);
                let increment = Measure::PLAIN.convert(*increment, measure) - origin;
                let multiples = Multiples { origin, increment };
                self.push(statement, place, Kind::Multiples(multiples));
            }
            (Constraint::OneHot { columns }, _) => self.add_one_hot(statement, columns)?,
            (Constraint::Formula { column, formula }, _) => {
                self.add_formula(statement, column, formula)?;
            }
            (
                Constraint::Monotone {
                    column,
                    falling,
                    strict,
                },
                _,
            ) => {
                let (place, _) = self.number(constraint, column)?;
                self.check_varies(constraint, place, column)?;
                let (low, high) = if *falling {
                    (Node::Now(place), Node::Before(place))
                } else {
                    (Node::Before(place), Node::Now(place))
                };
                self.order.at_most(low, high, *strict, statement);
                // Of given rows with missing cells, what is known further on.
                let (low, high) = if *falling {
                    (Node::After(place), Node::Now(place))
                } else {
                    (Node::Now(place), Node::After(place))
                };
                self.order.at_most(low, high, *strict, statement);
            }
            (Constraint::NoRepeats { column }, _) => {
                self.add_between_rows(statement, column, Chain::never_repeat, || {
                    Kind::DiffersFromBefore
                })?;
            }
            (Constraint::Constant { column }, _) => {
                self.add_between_rows(statement, column, Chain::stay, || Kind::EqualsBefore)?;
            }
            (Constraint::SeenTransitions { column }, Learned::Transitions(seen)) => {
                let place = self.place(constraint, column)?;
                self.check_varies(constraint, place, column)?;
                let chain = self.chain(constraint, place, column)?;
                self.chains[chain].follow(Arc::new(seen.clone()));
                self.push(statement, place, Kind::Chain(chain));
            }
            (
                Constraint::RunningTotal { total, amount },
                Learned::RunningTotal { begins_with_amount },
            ) => {
                let (place, total_measure) = self.plain_number(constraint, total)?;
                let (amount_place, from) = self.plain_number(constraint, amount)?;
                self.check_varies(constraint, place, total)?;
                self.check_varies(constraint, amount_place, amount)?;
                self.site(amount_place);
                let kind = Kind::RunningTotal {
                    amount: amount_place,
                    from,
                    begins_with_amount: *begins_with_amount,
                };
                self.push(statement, place, kind);
                let codec = self.column(amount_place);
                let codec = codec.and_then(|column| self.layout.number_codec(column));
                let kind = Kind::Amount {
                    is_ever_negative: codec
                        .is_some_and(|codec| from.convert(codec.low, Measure::PLAIN) < 0.0),
                    total: place,
                    from: total_measure,
                    begins_with_amount: *begins_with_amount,
                };
                self.push_inverse(statement, amount_place, kind);
            }
            (Constraint::FirstRow { column, values }, _) => {
                self.add_end(statement, column, values, Chain::begin_as, Kind::FirstRow)?;
            }
            (Constraint::LastRow { column, values }, _) => {
                self.has_last_row = true;
                self.add_end(statement, column, values, Chain::end_as, Kind::LastRow)?;
            }
            (
                Constraint::FixedCombinations { .. }
                | Constraint::SeenTransitions { .. }
                | Constraint::RunningTotal { .. },
                _,
            ) => {
                let problem = "what it learned from the data is missing";
                return Err(unfit(constraint, problem));
            }
        }
        Ok(())
    }

    fn check_names(&self, constraint: &Constraint) -> Result<(), ConstraintError> {
        let names = constraint.columns();
        let wants_several = matches!(
            constraint,
            Constraint::Ordered { .. }
                | Constraint::FixedCombinations { .. }
                | Constraint::OneHot { .. }
                | Constraint::RunningTotal { .. }
        );
        if wants_several && names.len() < 2 {
            return Err(unfit(constraint, "it needs at least two columns"));
        }
        for (position, name) in names.iter().enumerate() {
            self.place(constraint, name)?;
            if names[..position].contains(name) {
                return Err(unfit(constraint, format!("it names column `{name}` twice")));
            }
        }
        Ok(())
    }

    fn place(&self, constraint: &Constraint, name: &str) -> Result<Place, ConstraintError> {
        Ok(place(constraint, name, self.schema, self.layout)?.0)
    }

    fn column(&self, place: Place) -> Option<usize> {
        match place {
            Place::Context(at) => match self.layout.context.get(at)?.source {
                ContextSource::Column(column) => Some(column),
                _ => None,
            },
            Place::Row(at) => match self.layout.rows.get(at)?.source {
                RowSource::Column(column) => Some(column),
                RowSource::Gap => self.schema.sequence_index(),
            },
        }
    }

    fn measure(&self, place: Place) -> Option<Measure> {
        self.schema.columns.get(self.column(place)?)?.measure()
    }

    fn number(
        &self,
        constraint: &Constraint,
        name: &str,
    ) -> Result<(Place, Measure), ConstraintError> {
        let place = self.place(constraint, name)?;
        match self.measure(place) {
            Some(measure) => Ok((place, measure)),
            None => Err(unfit(
                constraint,
                format!("column `{name}` must be numerical or datetime"),
            )),
        }
    }

    fn plain_number(
        &self,
        constraint: &Constraint,
        name: &str,
    ) -> Result<(Place, Measure), ConstraintError> {
        let (place, measure) = self.number(constraint, name)?;
        let is_index = self.column(place) == self.schema.sequence_index();
        if measure.is_time() || is_index && self.schema.sequence_index().is_some() {
            return Err(unfit(
                constraint,
                format!("column `{name}` must be numerical, and not the sequence index"),
            ));
        }
        Ok((place, measure))
    }

    fn check_varies(
        &self,
        constraint: &Constraint,
        place: Place,
        name: &str,
    ) -> Result<(), ConstraintError> {
        match place {
            Place::Row(_) => Ok(()),
            Place::Context(_) => Err(unfit(
                constraint,
                format!("column `{name}` is a context column, one value a sequence"),
            )),
        }
    }

    fn push(&mut self, statement: usize, place: Place, kind: Kind) {
        self.push_rule(
            place,
            Rule {
                statement,
                is_direct: true,
                kind,
            },
        );
    }

    /// A rule that helps another to be kept, and says nothing new of data.
    fn push_inverse(&mut self, statement: usize, place: Place, kind: Kind) {
        let rule = Rule {
            statement,
            is_direct: false,
            kind,
        };
        self.push_rule(place, rule);
    }

    fn push_rule(&mut self, place: Place, rule: Rule) {
        if let Some(site) = self.site(place) {
            site.rules.push(rule);
        }
    }

    /// The column as rules see it; made for columns that rules look at, too.
    fn site(&mut self, place: Place) -> Option<&mut Site> {
        let column = self.column(place)?;
        let classes = category(self.layout, place).map(CategoryCodec::classes);
        let reference = match place {
            Place::Row(at) => self.layout.rows.get(at)?.reference.as_ref(),
            Place::Context(_) => None,
        };
        let grid = match reference {
            Some(reference) => reference.grid.clone(),
            None => self
                .layout
                .number_codec(column)
                .and_then(|codec| codec.grid.clone()),
        };
        let is_rounded = self
            .layout
            .number_codec(column)
            .is_none_or(|codec| codec.is_rounded);
        let schema = self.schema.columns.get(column)?;
        let measure = schema.measure();
        let is_single = schema.storage == Storage::Float32;
        let whole = match &schema.storage {
            Storage::Integer(integer) => {
                let (low, high) = integer.range();
                Some((low as f64, high as f64))
            }
            _ => None,
        };
        let site = match place {
            Place::Context(at) => self.context.get_mut(at)?,
            Place::Row(at) => self.rows.get_mut(at)?,
        };
        Some(site.get_or_insert_with(|| Site {
            column,
            classes,
            measure: measure.unwrap_or(Measure::PLAIN),
            grid,
            is_rounded,
            is_single,
            whole,
            rules: Vec::new(),
        }))
    }

    /// By row column, the place and measure of what its distances are measured from.
    fn references(&mut self) -> Result<Vec<Option<(Place, Measure)>>, ConstraintError> {
        let layout = self.layout;
        let mut references = Vec::with_capacity(layout.rows.len());
        for (at, row) in layout.rows.iter().enumerate() {
            let Some(reference) = &row.reference else {
                references.push(None);
                continue;
            };
            let strange = || ConstraintError::Unfit {
                constraint: format!("of column {at}"),
                problem: "what its distances are measured from is not drawn before it".to_owned(),
            };
            let from = self.position(reference.column).ok_or_else(strange)?;
            let is_before = match from {
                Place::Row(from) => from < at,
                Place::Context(_) => true,
            };
            let measure = self.measure(from).filter(|_| is_before);
            let measure = measure.ok_or_else(strange)?;
            self.site(Place::Row(at));
            self.site(from);
            references.push(Some((from, measure)));
        }
        Ok(references)
    }

    /// Where a column of the schema is drawn.
    fn position(&self, column: usize) -> Option<Place> {
        let row = |source: RowSource| self.layout.rows.iter().position(|row| row.source == source);
        match self.schema.columns.get(column)?.role {
            Role::SequenceKey => None,
            Role::SequenceIndex => row(RowSource::Gap).map(Place::Row),
            Role::Context => self
                .layout
                .context_position(ContextSource::Column(column))
                .map(Place::Context),
            Role::Sequential => row(RowSource::Column(column)).map(Place::Row),
        }
    }

    fn add_scalar(
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

    fn add_combinations(
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

    fn add_one_hot(&mut self, statement: usize, columns: &[String]) -> Result<(), ConstraintError> {
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

    fn add_formula(
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

    fn add_between_rows(
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

    fn refuse_index(
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

    fn add_end(
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
    fn chain(
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
    fn add_bounds(&mut self) {
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
    fn refuse_bound_results(&self) -> Result<(), ConstraintError> {
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
    fn refuse_early_ends(&self) -> Result<(), ConstraintError> {
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
