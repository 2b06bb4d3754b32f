//! Rules from statements and what was learned for them: names to columns, what cannot be kept, who draws what.

mod statements;

use super::allowed::Multiples;
use super::chain::Chain;
use super::fit::{category, place, unfit};
use super::order::{Node, Order};
use super::rules::{Kind, Rule, Site};
use super::{Constraint, ConstraintError, Learned, Place, Rules};
use crate::layout::{CategoryCodec, ContextSource, Layout, RowSource};
use crate::table::{Measure, Role, Schema, Storage};
use std::sync::Arc;

impl Rules {
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
}
