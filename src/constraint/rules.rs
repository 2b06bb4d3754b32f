//! Constraints against a fitted layout: for each modelled column the rules that its draws keep.

use super::allowed::Multiples;
use super::chain::Chain;
use super::formula::Formula;
use super::order::Node;
use super::{Allowed, Cell, Constraint, NumberSet};
use crate::codec::number::Grid;
use crate::layout::Layout;
use crate::table::Measure;
use std::sync::Arc;

/// A modelled column: its position among the layout's context columns or rows; the gap stands for the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Context(usize),
    Row(usize),
}

/// What the values of one sequence are so far.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    context: Vec<Cell>,
    now: Vec<Cell>,
    previous: Vec<Cell>,
    /// Each column's last value that was not missing, of the rows before this one.
    observed: Vec<Cell>,
    /// Each column's next known value that is not missing, of given rows after this one, and how many rows on it is.
    after: Vec<Option<(Cell, usize)>>,
}

impl Cells {
    pub(crate) fn new(layout: &Layout) -> Cells {
        let rows = vec![Cell::Unknown; layout.rows.len()];
        Cells {
            context: vec![Cell::Unknown; layout.context.len()],
            now: rows.clone(),
            previous: rows.clone(),
            observed: rows,
            after: vec![None; layout.rows.len()],
        }
    }

    pub(crate) fn set(&mut self, place: Place, cell: Cell) {
        let (cells, at) = match place {
            Place::Context(at) => (&mut self.context, at),
            Place::Row(at) => (&mut self.now, at),
        };
        if let Some(known) = cells.get_mut(at) {
            *known = cell;
        }
    }

    pub(super) fn get(&self, place: Place) -> Cell {
        let cell = match place {
            Place::Context(at) => self.context.get(at),
            Place::Row(at) => self.now.get(at),
        };
        cell.copied().unwrap_or(Cell::Unknown)
    }

    pub(super) fn previous(&self, place: Place) -> Cell {
        match place {
            Place::Row(at) => self.previous.get(at).copied().unwrap_or(Cell::Unknown),
            Place::Context(_) => Cell::Unknown,
        }
    }

    /// Tells of a row column what is known of given rows after the one at hand.
    pub(crate) fn set_after(&mut self, column: usize, after: Option<(Cell, usize)>) {
        if let Some(known) = self.after.get_mut(column) {
            *known = after;
        }
    }

    fn after(&self, place: Place) -> Option<(Cell, usize)> {
        match place {
            Place::Row(at) => *self.after.get(at)?,
            Place::Context(_) => None,
        }
    }

    fn observed(&self, place: Place) -> Cell {
        match place {
            Place::Row(at) => self.observed.get(at).copied().unwrap_or(Cell::Unknown),
            Place::Context(_) => Cell::Unknown,
        }
    }

    /// Ends the row at hand.
    pub(crate) fn next_row(&mut self) {
        for (observed, now) in self.observed.iter_mut().zip(&self.now) {
            if !matches!(now, Cell::Missing | Cell::Unknown) {
                *observed = *now;
            }
        }
        std::mem::swap(&mut self.previous, &mut self.now);
        self.now.fill(Cell::Unknown);
        self.after.fill(None);
    }
}

/// Where in its sequence a row stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    /// From 0.
    pub(crate) row: usize,
    /// Rows that follow, where that is known.
    pub(crate) rows_after: Option<usize>,
}

/// What a constraint took from the data.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Learned {
    Nothing,
    Combinations(Combinations),
    Transitions(Transitions),
    /// Whether each first total is its row's amount.
    RunningTotal {
        begins_with_amount: bool,
    },
}

/// Classes that were seen together, sorted, in the order of the constraint's columns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Combinations(pub(crate) Vec<Vec<u32>>);

/// By class, the classes that were seen in the next row, sorted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Transitions(pub(crate) Vec<Vec<u32>>);

/// One rule of one column.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    /// Which of the constraints says so.
    pub(super) statement: usize,
    /// Whether a constraint says it in so many words; implied rules need no check of their own.
    pub(super) is_direct: bool,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// At least, or at most, another value.
    Bound {
        other: Node,
        from: Measure,
        is_low: bool,
        is_strict: bool,
    },
    Multiples(Multiples),
    Combination {
        seen: Arc<Combinations>,
        places: Arc<Vec<Place>>,
        own: usize,
    },
    OneHot {
        others: Vec<(Place, OneHotCells)>,
        own: OneHotCells,
    },
    Formula {
        formula: Arc<Formula>,
        inputs: Arc<Vec<(Place, Measure)>>,
    },
    RunningTotal {
        amount: Place,
        from: Measure,
        begins_with_amount: bool,
    },
    /// An input of a formula, which follows where the result and all other inputs are known.
    Input(Input),
    /// What a running total adds up, which follows where the total is known.
    Amount {
        total: Place,
        from: Measure,
        begins_with_amount: bool,
        /// Whether training saw an amount below 0, so that totals may fall.
        is_ever_negative: bool,
    },
    DiffersFromBefore,
    EqualsBefore,
    FirstRow(Vec<f64>),
    LastRow(Vec<f64>),
    Chain(usize),
}

/// One input of a formula.
#[derive(Debug, Clone)]
pub(super) struct Input {
    pub(super) formula: Arc<Formula>,
    pub(super) inputs: Arc<Vec<(Place, Measure)>>,
    pub(super) own: usize,
    pub(super) result: Place,
}

impl Kind {
    /// Whether the value follows from a result that is known before it.
    pub(super) fn is_inverse(&self) -> bool {
        matches!(self, Kind::Input(_) | Kind::Amount { .. })
    }
}

/// What stands for 0 and for 1 in a column of a one-hot code; none where it was never seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct OneHotCells {
    pub(super) zero: Option<Cell>,
    pub(super) one: Option<Cell>,
}

/// A modelled column, as rules see it.
#[derive(Debug, Clone)]
pub(super) struct Site {
    /// Position in the schema.
    pub(super) column: usize,
    /// How many classes a category has; none for numbers.
    pub(super) classes: Option<usize>,
    pub(super) measure: Measure,
    pub(super) grid: Option<Grid>,
    /// Whether what is computed gets the decimals of the data.
    pub(super) is_rounded: bool,
    /// Whether the column holds f32, which rounds.
    pub(super) is_single: bool,
    /// Smallest and largest number that the column can hold, where it holds whole ones alone.
    pub(super) whole: Option<(f64, f64)>,
    pub(super) rules: Vec<Rule>,
}

impl Site {
    /// How far a computed value may be from the one in the data: half of the last decimal, and what a few sums of
    /// floats leave.
    pub(super) fn tolerance(&self, value: f64) -> f64 {
        let half = self.grid.as_ref().map_or(0.0, Grid::last_decimal) / 2.0;
        half + 1e-9 * value.abs() // some 4 million units in the last place, for totals over long sequences
    }

    /// Whether the column can hold a number of its own.
    fn holds(&self, value: f64) -> bool {
        self.whole.is_none_or(|(low, high)| {
            let plain = self.measure.convert(value, Measure::PLAIN);
            plain.fract() == 0.0 && (low..=high).contains(&plain)
        })
    }

    pub(super) fn on_grid(&self, value: f64) -> f64 {
        match &self.grid {
            Some(grid) if self.is_rounded => grid.round_decimals(value),
            _ => value,
        }
    }
}

/// All constraints of a model.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    pub(crate) constraints: Vec<Constraint>,
    /// By constraint.
    pub(crate) learned: Vec<Learned>,
    pub(super) context: Vec<Option<Site>>,
    pub(super) rows: Vec<Option<Site>>,
    /// By row column, what its distances are measured from.
    pub(super) references: Vec<Option<(Place, Measure)>>,
    pub(super) chains: Vec<Chain>,
    pub(super) has_last_row: bool,
}

impl PartialEq for Rules {
    /// The rest follows from these and the layout.
    fn eq(&self, other: &Self) -> bool {
        self.constraints == other.constraints && self.learned == other.learned
    }
}

/// Restrictions while rules are gathered.
pub(super) struct Draft {
    numbers: NumberSet,
    classes: Vec<bool>,
    exactly: Option<f64>,
    /// What follows from a known result, where no other rule forbids it.
    solved: Option<f64>,
    /// Whether a total known further on bounds an amount.
    is_bounded_amount: bool,
}

impl Draft {
    pub(super) fn new(site: &Site) -> Draft {
        let mut numbers = NumberSet::all();
        if site.is_single {
            numbers.of_single();
        }
        Draft {
            numbers,
            classes: vec![true; site.classes.unwrap_or(0)],
            exactly: None,
            solved: None,
            is_bounded_amount: false,
        }
    }

    pub(super) fn allowed(self, site: &Site, is_bound: bool) -> Allowed {
        let is_bound = is_bound || self.is_bounded_amount;
        match (self.exactly, self.solved, site.classes) {
            (Some(value), _, None) => Allowed::Exactly(value),
            (None, Some(value), None) if self.numbers.contains(value) && site.holds(value) => {
                Allowed::Exactly(value)
            }
            (None, Some(_), None) => Allowed::Numbers(NumberSet::none()),
            (_, _, Some(_)) if is_bound => Allowed::Classes(self.classes),
            (None, None, None) if is_bound => Allowed::Numbers(self.numbers),
            _ => Allowed::Anything,
        }
    }
}

impl Rules {
    /// A number as its column will write it.
    pub(crate) fn written(&self, place: Place, number: f64) -> f64 {
        match self.site(place) {
            Some(site) if site.is_single => single(number),
            Some(site) => match site.whole {
                Some((low, high)) => {
                    let plain = site.measure.convert(number, Measure::PLAIN);
                    let plain = plain.round().clamp(low, high);
                    Measure::PLAIN.convert(plain, site.measure)
                }
                None => number,
            },
            None => number,
        }
    }

    /// Whether a context column's value keeps the rules, given the rest of the context.
    pub(crate) fn keeps_context(&self, column: usize, cells: &mut Cells) -> bool {
        let place = Place::Context(column);
        let moment = Moment {
            row: 0,
            rows_after: None,
        };
        let cell = cells.get(place);
        cells.set(place, Cell::Unknown);
        let site = self.site(place);
        // The result is looked at in its own place, with its own decimals.
        let allowed = site.map_or(Allowed::Anything, |site| {
            let rules = site.rules.iter().filter(|rule| !rule.kind.is_inverse());
            self.allowed_by(rules, site, place, cells, moment)
        });
        cells.set(place, cell);
        match (site, allowed, cell) {
            (Some(site), Allowed::Exactly(wanted), Cell::Number(value)) => {
                (wanted - value).abs() <= site.tolerance(wanted.abs().max(value.abs()))
            }
            (_, allowed, cell) => allowed.contains(cell),
        }
    }

    /// Whether there is anything to keep.
    pub(crate) fn is_empty(&self) -> bool {
        self.constraints.is_empty() && self.references.iter().all(Option::is_none)
    }

    /// The value from which a row column's distances are measured, in the column's own units, NaN where it is missing;
    /// none for a column that is told by itself.
    pub(crate) fn reference(&self, column: usize, cells: &Cells) -> Option<f64> {
        let (from, measure) = (*self.references.get(column)?)?;
        let to = self.site(Place::Row(column))?.measure;
        Some(match cells.get(from) {
            Cell::Number(number) => measure.convert(number, to),
            Cell::Unknown | Cell::Missing | Cell::Class(_) => f64::NAN,
        })
    }

    /// Whether the last row is bound, so that it must be known which row that is.
    pub(crate) fn has_last_row(&self) -> bool {
        self.has_last_row
    }

    pub(super) fn site(&self, place: Place) -> Option<&Site> {
        match place {
            Place::Context(at) => self.context.get(at)?.as_ref(),
            Place::Row(at) => self.rows.get(at)?.as_ref(),
        }
    }

    /// The constraints that bind a column, in words.
    pub(crate) fn statements(&self, place: Place) -> String {
        let mut statements: Vec<usize> = self
            .site(place)
            .into_iter()
            .flat_map(|site| site.rules.iter().map(|rule| rule.statement))
            .collect();
        statements.sort_unstable();
        statements.dedup();
        self.in_words(statements)
    }

    /// The constraints between rows of a category column, in words.
    pub(crate) fn statements_between_rows(&self) -> String {
        let rules = self.rows.iter().flatten().flat_map(|site| &site.rules);
        let mut statements: Vec<usize> = rules
            .filter(|rule| matches!(rule.kind, Kind::Chain(_)))
            .map(|rule| rule.statement)
            .collect();
        statements.sort_unstable();
        statements.dedup();
        self.in_words(statements)
    }

    fn in_words(&self, statements: Vec<usize>) -> String {
        let words: Vec<String> = statements
            .into_iter()
            .filter_map(|statement| self.constraints.get(statement))
            .map(ToString::to_string)
            .collect();
        words.join(" and ")
    }

    /// The values that a column may take in a row, given what is known of its sequence.
    pub(crate) fn allowed(&self, place: Place, cells: &Cells, moment: Moment) -> Allowed {
        match self.site(place) {
            Some(site) => self.allowed_by(site.rules.iter(), site, place, cells, moment),
            None => Allowed::Anything,
        }
    }

    /// What some of a column's rules leave.
    pub(super) fn allowed_by<'r>(
        &self,
        rules: impl Iterator<Item = &'r Rule>,
        site: &Site,
        place: Place,
        cells: &Cells,
        moment: Moment,
    ) -> Allowed {
        let mut draft = Draft::new(site);
        let mut is_bound = false;
        for rule in rules {
            is_bound |= !rule.kind.is_inverse();
            self.restrict(&rule.kind, site, place, cells, moment, &mut draft);
        }
        draft.allowed(site, is_bound)
    }

    pub(super) fn restrict(
        &self,
        kind: &Kind,
        site: &Site,
        place: Place,
        cells: &Cells,
        moment: Moment,
        draft: &mut Draft,
    ) {
        match kind {
            Kind::Bound {
                other,
                from,
                is_low,
                is_strict,
            } => {
                let number = match other {
                    Node::Constant { number, .. } => Cell::Number(*number),
                    Node::Now(place) => cells.get(*place),
                    Node::Before(place) => cells.observed(*place),
                    Node::After(place) => {
                        cells.after(*place).map_or(Cell::Unknown, |(cell, _)| cell)
                    }
                };
                let Cell::Number(number) = number else {
                    return;
                };
                let bound = from.convert(number, site.measure);
                if *is_low {
                    draft.numbers.at_least(bound, *is_strict);
                } else {
                    draft.numbers.at_most(bound, *is_strict);
                }
            }
            Kind::Multiples(multiples) => draft.numbers.multiples(*multiples),
            Kind::Combination { seen, places, own } => {
                let known: Vec<Option<u32>> = places
                    .iter()
                    .enumerate()
                    .map(|(at, place)| match cells.get(*place) {
                        Cell::Class(class) if at != *own => Some(class),
                        _ => None,
                    })
                    .collect();
                let mut may = vec![false; draft.classes.len()];
                let fits = |combination: &&Vec<u32>| {
                    let mut pairs = combination.iter().zip(&known);
                    pairs.all(|(class, known)| known.is_none_or(|known| known == *class))
                };
                for combination in seen.0.iter().filter(fits) {
                    if let Some(may) = may.get_mut(combination[*own] as usize) {
                        *may = true;
                    }
                }
                keep(&mut draft.classes, |class| may[class]);
            }
            Kind::OneHot { others, own } => {
                let is_one = |(place, code): &&(Place, OneHotCells)| {
                    code.one.is_some_and(|one| cells.get(*place) == one)
                };
                let has_one = others.iter().any(|other| is_one(&other));
                let is_last = others
                    .iter()
                    .all(|(place, _)| cells.get(*place) != Cell::Unknown);
                let mut wanted = Vec::new();
                if has_one || !is_last {
                    wanted.extend(own.zero);
                }
                if !has_one {
                    wanted.extend(own.one);
                }
                one_of(draft, &wanted);
            }
            Kind::Formula { formula, inputs } => {
                let mut numbers = Vec::with_capacity(inputs.len());
                for (place, measure) in inputs.iter() {
                    match cells.get(*place) {
                        Cell::Number(number) => {
                            numbers.push(measure.convert(number, Measure::PLAIN));
                        }
                        Cell::Missing => numbers.push(f64::NAN),
                        // A given context may leave an input to be drawn after its result.
                        Cell::Unknown | Cell::Class(_) => return,
                    }
                }
                let value = if numbers.iter().any(|number| number.is_nan()) {
                    f64::NAN
                } else {
                    formula.value(&numbers)
                };
                let value = Measure::PLAIN.convert(value, site.measure);
                draft.exactly = Some(site.on_grid(value));
            }
            Kind::RunningTotal {
                amount,
                from,
                begins_with_amount,
            } => {
                let amount = match cells.get(*amount) {
                    Cell::Number(number) => from.convert(number, Measure::PLAIN),
                    _ => 0.0,
                };
                let before = match cells.observed(place) {
                    Cell::Number(number) => site.measure.convert(number, Measure::PLAIN),
                    _ if *begins_with_amount => 0.0,
                    _ => return,
                };
                let total = Measure::PLAIN.convert(before + amount, site.measure);
                draft.exactly = Some(site.on_grid(total));
            }
            Kind::Input(input) => {
                if let Some(solved) = self.solved(input, site, cells) {
                    draft.solved = Some(solved);
                }
            }
            Kind::Amount {
                total: total_place,
                from,
                begins_with_amount,
                is_ever_negative,
            } => {
                let before = match cells.observed(*total_place) {
                    Cell::Number(number) => from.convert(number, Measure::PLAIN),
                    _ if *begins_with_amount => 0.0,
                    _ => return,
                };
                let up_to = |total: f64| {
                    let amount = from.convert(total, Measure::PLAIN) - before;
                    site.on_grid(Measure::PLAIN.convert(amount, site.measure))
                };
                match (cells.get(*total_place), cells.after(*total_place)) {
                    (Cell::Number(total), _) => draft.solved = Some(up_to(total)),
                    (Cell::Unknown, Some((Cell::Number(total), _))) if !is_ever_negative => {
                        draft.numbers.at_most(up_to(total), false);
                        draft.is_bounded_amount = true;
                    }
                    _ => {}
                }
            }
            Kind::DiffersFromBefore => {
                if let Cell::Number(number) = cells.previous(place) {
                    draft.numbers.without(number);
                }
                if let Some((Cell::Number(number), 1)) = cells.after(place) {
                    draft.numbers.without(number);
                }
            }
            Kind::EqualsBefore => match cells.previous(place) {
                Cell::Number(number) => draft.exactly = Some(number),
                Cell::Missing => draft.exactly = Some(f64::NAN),
                Cell::Unknown | Cell::Class(_) => {
                    if let Some((Cell::Number(number), _)) = cells.after(place) {
                        draft.exactly = Some(number);
                    }
                }
            },
            Kind::FirstRow(values) if moment.row == 0 => draft.numbers.one_of(values),
            Kind::LastRow(values) if moment.rows_after == Some(0) => draft.numbers.one_of(values),
            Kind::FirstRow(_) | Kind::LastRow(_) => {}
            Kind::Chain(chain) => {
                let chain = &self.chains[*chain];
                let before = match cells.previous(place) {
                    Cell::Class(class) if moment.row > 0 => Some(class),
                    _ => None,
                };
                keep(&mut draft.classes, |class| {
                    chain.allows(before, class, moment)
                });
                if let Some((Cell::Class(next), rows)) = cells.after(place)
                    && let Some(leading) = chain.leading_to(next, rows)
                {
                    keep(&mut draft.classes, |class| leading[class]);
                }
            }
        }
    }

    /// The length nearest to a wished one that every rule on first rows, last rows and transitions can meet; none when
    /// no length up to `longest` does.
    pub(crate) fn feasible_length(&self, length: usize, longest: usize) -> Option<usize> {
        let is_feasible = |length: &usize| self.chains.iter().all(|chain| chain.can_last(*length));
        let shorter = (1..=length).rev().find(is_feasible);
        shorter.or_else(|| (length + 1..=longest).find(is_feasible))
    }

    /// Whether every rule on first rows, last rows and transitions can meet a length.
    pub(crate) fn is_feasible_length(&self, length: usize) -> bool {
        self.chains.iter().all(|chain| chain.can_last(length))
    }
}

#[allow(clippy::cast_possible_truncation, reason = "the column's own dtype")]
fn single(number: f64) -> f64 {
    f64::from(number as f32)
}

fn keep(classes: &mut [bool], mut is_kept: impl FnMut(usize) -> bool) {
    for (class, allowed) in classes.iter_mut().enumerate() {
        *allowed = *allowed && is_kept(class);
    }
}

fn one_of(draft: &mut Draft, wanted: &[Cell]) {
    let numbers: Vec<f64> = wanted
        .iter()
        .filter_map(|cell| match cell {
            Cell::Number(number) => Some(*number),
            Cell::Unknown | Cell::Missing | Cell::Class(_) => None,
        })
        .collect();
    draft.numbers.one_of(&numbers);
    keep(&mut draft.classes, |class| {
        wanted
            .iter()
            .any(|cell| matches!(cell, Cell::Class(wanted) if *wanted as usize == class))
    });
}
