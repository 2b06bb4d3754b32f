//! One sequence while it is sampled, and what the network reads of it before its next row.

use super::sequences::DecidedValue;
use super::{Chunk, GivenRows, Goal, Request, SampleError, single};
use crate::constraint::{Allowed, Cell, Cells, Moment, Place, Rules};
use crate::history::{History, position_features};
use crate::layout::{
    ContextSource, HISTORY_FEATURES, Layout, POSITION_FEATURES, RowKind, next_index,
};
use crate::model::inputs::{RowInputs, class_tensor, float_tensor};
use crate::model::sequence::StepInputs;
use crate::model::{ModelError, long};
use crate::table::Label;
use std::ops::Range;
use tch::Device;

/// Rows for which a walk makes room before it has them.
const MOST_ROOM: usize = 1_024;

/// One sequence while it is sampled.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    /// Its place in the chunk, which has the random stream.
    pub(super) row: usize,
    /// The place in the chunk whose context it has.
    pub(super) origin: usize,
    /// The rows it goes on from, of those given; empty for a new sequence.
    pub(super) given: Range<usize>,
    /// The length the network is told.
    pub(super) length: usize,
    pub(super) most_rows: usize,
    /// Rows before which the end of the table's time does not end it.
    pub(super) least_rows: usize,
    pub(super) stops_at_end: bool,
    pub(super) start: f64,
    /// Index number of the latest row.
    pub(super) number: f64,
    /// Given index numbers may lie between the decimals that new ones are rounded to.
    pub(super) is_on_grid: bool,
    pub(super) history: History,
    /// Row after row, since those of one row are kept soon after each other.
    pub(super) values: Vec<DecidedValue>,
    pub(super) index: Vec<f64>,
    /// Rows so far, the given ones among them; `values` and `index` hold the others.
    pub(super) rows: usize,
    pub(super) is_over: bool,
    /// How likely it is, where candidates are compared, in nats: of new rows all cells, of given ones those known.
    pub(super) nats: f64,
    /// The same of the row being drawn.
    pub(super) row_nats: f64,
    /// What was drawn for missing cells since it was last taken from here: column, given row, value.
    pub(super) filled: Vec<(usize, usize, DecidedValue)>,
    /// What rules see of it; none without rules.
    pub(super) cells: Option<Cells>,
    /// By column of the rows, where it was last found to be known after the row at hand.
    pub(super) ahead: Vec<usize>,
    /// The column for which the rules left no value in the row at hand.
    pub(super) stuck: Option<Place>,
}

impl Walk {
    /// Whether the next row is the first after given ones.
    pub(super) fn is_at_last_given(&self) -> bool {
        self.rows > 0 && self.rows == self.given.len()
    }

    /// The next row's place among those given, if it is one of them.
    pub(super) fn given_row(&self) -> Option<usize> {
        (self.rows < self.given.len()).then(|| self.given.start + self.rows)
    }

    fn given_cell(&self, request: &Request, column: usize) -> Option<DecidedValue> {
        let row = self.given_row()?;
        request.given_rows.as_ref()?.known(column, row)
    }

    /// The known class of the next row's category.
    pub(super) fn given_class(&self, request: &Request, column: usize) -> Option<u32> {
        match self.given_cell(request, column)? {
            DecidedValue::Class(class) => Some(class),
            DecidedValue::Number(_) => None,
        }
    }

    /// The known value of the next row's number.
    pub(super) fn given_number(&self, request: &Request, column: usize) -> Option<f64> {
        match self.given_cell(request, column)? {
            DecidedValue::Number(number) => Some(number),
            DecidedValue::Class(_) => None,
        }
    }

    /// The next row's index number, if it is given.
    pub(super) fn given_index(&self, request: &Request) -> Option<f64> {
        let row = self.given_row()?;
        request.given_rows.as_ref()?.index.get(row).copied()
    }

    /// Keeps the value of a new row, or of a missing cell of a given one.
    pub(super) fn keep(&mut self, column: usize, cell: DecidedValue, is_known: bool) {
        match self.given_row() {
            Some(row) if !is_known => self.filled.push((column, row, cell)),
            Some(_) => {}
            None => self.values.push(cell),
        }
    }

    /// Where the next row stands, and how many follow it, unless the table's end decides that.
    pub(super) fn moment(&self) -> Moment {
        let rows_after = self.most_rows.saturating_sub(self.rows + 1);
        Moment {
            row: self.rows,
            rows_after: (!self.stops_at_end).then_some(rows_after),
        }
    }

    /// The values that the rules leave a column of the next row.
    pub(super) fn allowed(&self, rules: &Rules, column: usize) -> Allowed {
        match &self.cells {
            Some(cells) => rules.allowed(Place::Row(column), cells, self.moment()),
            None => Allowed::Anything,
        }
    }

    /// What the distances of a column are measured from in the next row.
    pub(super) fn reference(&self, rules: &Rules, column: usize) -> Option<f64> {
        rules.reference(column, self.cells.as_ref()?)
    }

    /// Shows the rules a value of the next row.
    pub(super) fn show(&mut self, column: usize, cell: impl Into<Cell>) {
        if let Some(cells) = &mut self.cells {
            cells.set(Place::Row(column), cell.into());
        }
    }

    /// Shows the rules what is known of the next row, if it is given, and of those after it, so that what is drawn for
    /// its missing cells keeps them with both.
    pub(super) fn show_known(&mut self, given: &GivenRows) {
        let Some(row) = self.given_row() else {
            return;
        };
        for column in 0..self.ahead.len() {
            if let Some(cell) = given.known(column, row) {
                self.show(column, cell);
            }
            let is_known = |&row: &usize| {
                let cell = given.cell(column, row);
                !matches!(cell, Cell::Unknown | Cell::Missing)
            };
            if given.has_unknown(column)
                && let Some(cells) = &mut self.cells
            {
                let ahead = &mut self.ahead[column];
                let next = ((*ahead).max(row + 1)..self.given.end).find(is_known);
                *ahead = next.unwrap_or(self.given.end);
                cells.set_after(column, next.map(|at| (given.cell(column, at), at - row)));
            }
        }
    }

    /// Leaves the row at hand, for a column of which the rules have no value. Of a given row that is filled some value
    /// is taken all the same: known cells may break the rules, and another candidate may keep them.
    pub(super) fn stop(&mut self, place: Place) {
        if self.given_row().is_some() {
            self.row_nats = f64::NEG_INFINITY;
            return;
        }
        self.stuck = self.stuck.or(Some(place));
        self.is_over = true;
        let rows = self.rows - self.given.len();
        self.values.truncate(rows * self.ahead.len());
    }

    /// How likely its new rows are, in nats per row.
    pub(super) fn nats_per_row(&self) -> f64 {
        self.nats / self.rows.max(1) as f64
    }
}

/// What the network reads before a row, of as many walks as are pushed.
pub(super) struct RowBuffer<'a> {
    layout: &'a Layout,
    categories: usize,
    rows: usize,
    pub(super) inputs: StepInputs,
}

impl<'a> RowBuffer<'a> {
    pub(super) fn new(layout: &'a Layout) -> RowBuffer<'a> {
        let is_category = |kind: &RowKind| matches!(kind, RowKind::Category(_));
        RowBuffer {
            layout,
            categories: layout.rows.iter().filter(|c| is_category(&c.kind)).count(),
            rows: 0,
            inputs: StepInputs::default(),
        }
    }

    /// Forgets the walks that were pushed.
    pub(super) fn clear(&mut self) {
        self.rows = 0;
        self.inputs.history_numbers.clear();
        self.inputs.history_categories.clear();
        self.inputs.place.clear();
    }

    fn number_width(&self) -> usize {
        (self.layout.rows.len() - self.categories) * HISTORY_FEATURES
    }

    /// Appends what is to be read of a walk before its next row.
    pub(super) fn push(&mut self, walk: &Walk) {
        let number_width = self.number_width();
        let StepInputs {
            history_numbers,
            history_categories,
            place,
        } = &mut self.inputs;
        let (numbers, categories) = (history_numbers.len(), history_categories.len());
        history_numbers.resize(numbers + number_width, 0.0);
        history_categories.resize(categories + self.categories, 0);
        walk.history.write(
            self.layout,
            &mut history_numbers[numbers..],
            &mut history_categories[categories..],
        );
        place.extend_from_slice(&position_features(
            walk.rows,
            walk.length,
            self.layout,
            walk.number - walk.start,
        ));
        if let Some(index) = &self.layout.index {
            index.features(walk.number, |value| place.push(single(value)));
        }
        self.rows += 1;
    }

    /// The rows in the order in which they were pushed.
    pub(super) fn tensors(self, device: Device) -> Result<RowInputs, ModelError> {
        let rows = long(self.rows);
        let number_width = long(self.number_width());
        let position_width = long(POSITION_FEATURES);
        let calendar_width = long(self.layout.calendar_width());
        let StepInputs {
            history_numbers,
            history_categories,
            place,
        } = self.inputs;
        let place = float_tensor(&place, &[rows, position_width + calendar_width], device)?;
        Ok(RowInputs {
            history_numbers: float_tensor(&history_numbers, &[rows, number_width], device)?,
            history_categories: class_tensor(
                history_categories.into_iter(),
                &[rows, long(self.categories)],
                device,
            )?,
            position: place.f_narrow(1, 0, position_width)?,
            calendar_before: place.f_narrow(1, position_width, calendar_width)?,
        })
    }
}

impl Chunk<'_> {
    /// How a sequence begins and how far it may go.
    pub(super) fn walk(&self, row: usize) -> Result<Walk, SampleError> {
        let length = self
            .context_number(ContextSource::Length, row)
            .unwrap_or(1.0)
            .max(1.0);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "lengths lie within LENGTH"
        )]
        let length = self.feasible_length(length as usize, row)?;
        let start = self
            .context_number(ContextSource::Start, row)
            .unwrap_or(0.0);
        let time = self.time_of_day(row);
        // A rule on last rows wants to know which row that is.
        let may_end_early = !self.request.decides_length() && !self.rules.has_last_row();
        let ends_with_table =
            self.context_label(ContextSource::EndsWithTable, row) == Some(&Label::Boolean(true));
        let is_censored = self
            .layout
            .index
            .as_ref()
            .is_some_and(|index| index.is_censored);
        let given = self.given_rows(row);
        let given_index = |row: usize| self.request.given_rows.as_ref()?.index.get(row).copied();
        let start = given_index(given.start).unwrap_or(start + time);
        let is_on_grid = given.is_empty()
            || given_index(given.end - 1)
                .is_none_or(|last| next_index(last, 0.0, self.layout.index_decimals()) == last);
        let room = length.min(MOST_ROOM);
        Ok(Walk {
            row,
            origin: row,
            length,
            most_rows: match self.request.given_rows.as_ref().map(|rows| rows.goal) {
                Some(Goal::Steps(steps)) => given.len() + steps,
                Some(Goal::Fill) => given.len(),
                // Goes on until the table's time is over, within the lengths that were seen.
                Some(Goal::End) | None if ends_with_table && may_end_early => self.layout.longest,
                Some(Goal::End) | None => length,
            },
            given,
            least_rows: self.layout.shortest(),
            stops_at_end: is_censored && may_end_early,
            start,
            number: start,
            is_on_grid,
            history: History::new(self.layout),
            values: Vec::with_capacity(room * self.layout.rows.len()),
            index: Vec::with_capacity(room),
            rows: 0,
            is_over: false,
            nats: self.context_nats[row],
            row_nats: 0.0,
            filled: Vec::new(),
            cells: self.cells.get(row).cloned(),
            ahead: vec![0; self.layout.rows.len()],
            stuck: None,
        })
    }

    /// The length, or where rules on first rows, last rows and transitions cannot meet it, the nearest that they can.
    fn feasible_length(&self, length: usize, row: usize) -> Result<usize, SampleError> {
        let goal = self.request.given_rows.as_ref().map(|given| given.goal);
        let is_free = self.cells.is_empty() || !matches!(goal, None | Some(Goal::End));
        if is_free || self.rules.is_feasible_length(length) {
            return Ok(length);
        }
        let sequence = self.sequences[row];
        let infeasible = SampleError::Length { length, sequence };
        if self.request.lengths.of(sequence).is_some() {
            return Err(infeasible);
        }
        let given = self.given_rows(row).len();
        let longest = self.layout.longest.max(length);
        self.rules
            .feasible_length(length, longest)
            .filter(|&feasible| feasible >= given)
            .ok_or(infeasible)
    }
}
