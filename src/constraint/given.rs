//! What known cells say of missing ones that are drawn before them, or beside them.
//! In: the cells of a sequence, some of them known. Out: the inputs, amounts and totals that follow, and what a context
//! may be beside given rows.

use super::rules::{Draft, Input, Kind, Site};
use super::{Allowed, Cell, Cells, Moment, NumberSet, Place, Rules};
use crate::table::Measure;

impl Rules {
    /// The number of a formula's input, on the column's decimals where that gives the result too.
    pub(super) fn solved(&self, input: &Input, site: &Site, cells: &Cells) -> Option<f64> {
        let result = self.site(input.result)?;
        let Cell::Number(wanted) = cells.get(input.result) else {
            return None;
        };
        let wanted = result.measure.convert(wanted, Measure::PLAIN);
        let number = |(at, (place, measure)): (usize, &(Place, Measure))| match cells.get(*place) {
            Cell::Number(number) => Some(measure.convert(number, Measure::PLAIN)),
            _ if at == input.own => Some(f64::NAN),
            Cell::Unknown | Cell::Missing | Cell::Class(_) => None,
        };
        let inputs = input.inputs.iter().enumerate().map(number);
        let mut inputs = inputs.collect::<Option<Vec<f64>>>()?;
        let exact = input.formula.solved(input.own, &inputs, wanted)?;
        let exact = Measure::PLAIN.convert(exact, site.measure);
        let rounded = site.on_grid(exact);
        *inputs.get_mut(input.own)? = site.measure.convert(rounded, Measure::PLAIN);
        let value = input.formula.value(&inputs);
        let is_met = (value - wanted).abs() <= 1e-9 * wanted.abs().max(value.abs());
        Some(if is_met { rounded } else { exact })
    }

    /// What known totals say of missing ones before them, where the amounts between are known: position of the row
    /// column, row, value. `cell` tells what is known by column and row; `offsets` where the sequences end.
    pub(crate) fn earlier_totals(
        &self,
        offsets: &[usize],
        cell: impl Fn(usize, usize) -> Cell,
    ) -> Vec<(usize, usize, f64)> {
        let mut totals = Vec::new();
        for (column, site) in (0..).zip(&self.rows) {
            let Some(site) = site else {
                continue;
            };
            let amount = site.rules.iter().find_map(|rule| match rule.kind {
                Kind::RunningTotal {
                    amount: Place::Row(amount),
                    from,
                    ..
                } => Some((amount, from)),
                _ => None,
            });
            let Some((amount, from)) = amount else {
                continue;
            };
            for ends in offsets.windows(2) {
                // What the total must be before the rows gone through.
                let mut before = None;
                for row in (ends[0]..ends[1]).rev() {
                    let total = match (cell(column, row), before) {
                        (Cell::Number(number), _) => number,
                        (Cell::Unknown, Some(before)) => {
                            let total = site.on_grid(Measure::PLAIN.convert(before, site.measure));
                            totals.push((column, row, total));
                            total
                        }
                        (Cell::Unknown, None) => continue,
                        (Cell::Missing | Cell::Class(_), _) => continue,
                    };
                    let total = site.measure.convert(total, Measure::PLAIN);
                    before = match cell(amount, row) {
                        Cell::Number(number) => Some(total - from.convert(number, Measure::PLAIN)),
                        Cell::Missing => Some(total),
                        Cell::Unknown | Cell::Class(_) => None,
                    };
                }
            }
        }
        totals
    }

    /// Whether a number leaves the other missing input of a formula, whose result is known, a value.
    pub(crate) fn leaves_inputs_free(
        &self,
        place: Place,
        number: f64,
        cells: &Cells,
        moment: Moment,
    ) -> bool {
        let rules = self.site(place).into_iter().flat_map(|site| &site.rules);
        let mut inputs = rules.filter_map(|rule| match &rule.kind {
            Kind::Input(input) => Some(input),
            _ => None,
        });
        inputs.all(|input| {
            let is_open = |(other, _): &&(Place, Measure)| {
                *other != place && cells.get(*other) == Cell::Unknown
            };
            let mut open = input.inputs.iter().filter(is_open);
            let (Some((other, _)), None) = (open.next(), open.next()) else {
                return true;
            };
            let mut cells = cells.clone();
            cells.set(place, Cell::number(number));
            self.allowed(*other, &cells, moment) != Allowed::Numbers(NumberSet::none())
        })
    }

    /// The values that a context column may take beside given rows: `rows` are the cells of each.
    pub(crate) fn allowed_beside(
        &self,
        place: Place,
        rows: impl Iterator<Item = Cells>,
        moment: Moment,
    ) -> Allowed {
        let Some(site) = self.site(place) else {
            return Allowed::Anything;
        };
        let mut all: Option<Draft> = None;
        for cells in rows {
            let draft = all.get_or_insert_with(|| Draft::new(site));
            for rule in &site.rules {
                self.restrict(&rule.kind, site, place, &cells, moment, draft);
            }
        }
        match all {
            Some(draft) => {
                draft.allowed(site, site.rules.iter().any(|rule| !rule.kind.is_inverse()))
            }
            None => Allowed::Anything,
        }
    }
}
