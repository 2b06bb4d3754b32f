//! A chunk's contexts: what is given is taken in, the rest drawn column by column.

use super::cells::open_draw;
use super::draw::Draws;
use super::sequences::{Decided, DecidedValue};
use super::{Chunk, Goal, SampleError, small};
use crate::codec::number::NumberCodec;
use crate::constraint::{Allowed, Moment, Place};
use crate::history::context_features;
use crate::layout::{
    CONTEXT_FEATURES, CategoryCodec, ContextColumn, ContextKind, ContextSource, Layout,
};
use crate::model::inputs::{ContextInputs, class_tensor, float_tensor};
use crate::model::sequence::Slot;
use crate::model::{ModelError, long};
use crate::table::Label;

/// How many context columns are categories.
pub(super) fn category_columns(layout: &Layout) -> usize {
    layout
        .context
        .iter()
        .filter(|column| matches!(column.kind, ContextKind::Category(_)))
        .count()
}

/// Draws of a start before the nearest allowed one is taken.
const MOST_DRAWS: usize = 64;
/// The moment of a context, and of a first row before the length is known.
const BEGINNING: Moment = Moment {
    row: 0,
    rows_after: None,
};

impl Chunk<'_> {
    pub(super) fn context_inputs(&self) -> Result<ContextInputs, ModelError> {
        let (sequences, device) = (self.sequences(), self.networks.device);
        let categories = category_columns(self.layout);
        let number_width = (self.layout.context.len() - categories) * CONTEXT_FEATURES;
        Ok(ContextInputs {
            numbers: float_tensor(
                &self.numbers,
                &[long(sequences), long(number_width)],
                device,
            )?,
            categories: class_tensor(
                self.categories.iter().copied(),
                &[long(sequences), long(categories)],
                device,
            )?,
        })
    }

    /// Takes in what is given, then draws the other context columns in order.
    pub(super) fn draw_context(&mut self) -> Result<(), SampleError> {
        let layout = self.layout;
        let sequences = self.sequences();
        let columns = layout.context.len();
        self.context = layout
            .context
            .iter()
            .map(|column| match column.kind {
                ContextKind::Category(_) => Decided::Classes(vec![0; sequences]),
                ContextKind::Number { .. } => Decided::Numbers(vec![f64::NAN; sequences]),
            })
            .collect();
        let mut known = vec![false; sequences * columns];
        for row in 0..sequences {
            for column in 0..columns {
                if let Some(given) = self.given_context(column, row) {
                    self.know(column, row, given);
                    known[row * columns + column] = true;
                }
            }
        }
        let is_given = known.clone();
        for column in 0..columns {
            let drawn: Vec<usize> = (0..sequences)
                .filter(|row| !known[row * columns + column])
                .collect();
            if drawn.is_empty() {
                continue;
            }
            let inputs = self.context_inputs()?;
            let hidden = self.networks.context.head(column, &inputs, &known)?;
            let output = self.networks.context.decoder.output(column, &hidden, &[])?;
            let output = Draws::new(output, self.request.temperature);
            for row in drawn {
                let cell = self.draw_context_cell(column, row, &output)?;
                self.know(column, row, cell);
                known[row * columns + column] = true;
                self.is_drawn[row] = true;
            }
        }
        self.check_given(&is_given)
    }

    /// Given contexts may contradict each other, or what was drawn to them. Those of given rows are as they are.
    fn check_given(&mut self, is_given: &[bool]) -> Result<(), SampleError> {
        if self.request.given_rows.is_some() {
            return Ok(());
        }
        let columns = self.layout.context.len();
        for row in 0..self.cells.len() {
            for column in (0..columns).filter(|&column| is_given[row * columns + column]) {
                if !self.rules.keeps_context(column, &mut self.cells[row]) {
                    return Err(self.stuck(Place::Context(column), row));
                }
            }
        }
        Ok(())
    }

    pub(super) fn stuck(&self, place: Place, row: usize) -> SampleError {
        SampleError::Stuck {
            place,
            sequence: self.sequences[row],
        }
    }

    pub(super) fn time_of_day(&self, row: usize) -> f64 {
        match self.context_label(ContextSource::TimeOfDay, row) {
            Some(Label::Float(time)) => *time,
            _ => 0.0,
        }
    }

    /// The values that the rules leave a context column.
    fn allowed_context(&self, place: Option<Place>, row: usize) -> Allowed {
        match (self.cells.get(row), place) {
            (Some(cells), Some(place)) => match (&self.request.given_rows, place) {
                (Some(given), Place::Context(_)) if !self.given_rows(row).is_empty() => {
                    let rows = self.given_rows(row);
                    let beside = rows.map(|at| given.beside(at, cells, self.layout));
                    self.rules.allowed_beside(place, beside, BEGINNING)
                }
                _ => self.rules.allowed(place, cells, BEGINNING),
            },
            _ => Allowed::Anything,
        }
    }

    fn given_context(&self, column: usize, row: usize) -> Option<DecidedValue> {
        let sequence = self.sequences[row];
        let length = match self.layout.context[column].source {
            ContextSource::Length => self.request.lengths.of(sequence),
            _ => None,
        };
        length
            .map(|length| DecidedValue::Number(length as f64))
            .or_else(|| self.request.given_context(column, sequence))
    }

    fn draw_context_cell(
        &mut self,
        column: usize,
        row: usize,
        output: &Draws,
    ) -> Result<DecidedValue, SampleError> {
        let goal = self.request.given_rows.as_ref().map(|given| given.goal);
        // A cell that is filled must not be missing again.
        let is_filled = goal == Some(Goal::Fill);
        let ContextColumn { source, kind } = &self.layout.context[column];
        match (kind, source) {
            (ContextKind::Category(codec), _) => {
                self.draw_context_class(column, row, codec, is_filled, output)
            }
            (ContextKind::Number { codec, .. }, ContextSource::Length)
                if goal == Some(Goal::End) =>
            {
                // A sequence has at least the rows that are given.
                let least = self.given_rows(row).len() as f64;
                let generator = &mut self.generators[row];
                let (length, nats) = output.number_from(row, codec, least, generator);
                self.context_nats[row] += nats;
                Ok(DecidedValue::Number(length))
            }
            (ContextKind::Number { codec, .. }, ContextSource::Start) => {
                self.draw_start(row, codec, output)
            }
            (ContextKind::Number { codec, .. }, _) => {
                self.draw_context_number(column, row, codec, is_filled, output)
            }
        }
    }

    fn draw_context_class(
        &mut self,
        column: usize,
        row: usize,
        codec: &CategoryCodec,
        is_filled: bool,
        output: &Draws,
    ) -> Result<DecidedValue, SampleError> {
        let place = Place::Context(column);
        let allowed = self.allowed_context(Some(place), row);
        let banned = [
            codec.hidden_class(),
            codec.missing_class().filter(|_| is_filled),
        ];
        let is_allowed = |class: usize| allowed.has_class(class) && !banned.contains(&Some(class));
        let generator = &mut self.generators[row];
        match output.class(row, is_allowed, generator) {
            Some(class) => Ok(DecidedValue::Class(small(class))),
            // The only class there is stands for all that are banned.
            None if allowed == Allowed::Anything => Ok(DecidedValue::Class(0)),
            None => Err(self.stuck(place, row)),
        }
    }

    fn draw_context_number(
        &mut self,
        column: usize,
        row: usize,
        codec: &NumberCodec,
        is_filled: bool,
        output: &Draws,
    ) -> Result<DecidedValue, SampleError> {
        let (request, place) = (self.request, Place::Context(column));
        let source = self.layout.context[column].source;
        // Lengths stay within what was seen whatever the user says.
        let within_range = request.within_range || !matches!(source, ContextSource::Column(_));
        let allowed = self.allowed_context(Some(place), row);
        let generator = &mut self.generators[row];
        let mut draw = || {
            let value = output.number(row, codec, f64::NAN, is_filled, within_range, generator);
            codec.restore(value, within_range)
        };
        let written = |value: f64| self.rules.written(place, value);
        let draw_among = || match &allowed {
            Allowed::Anything | Allowed::Classes(_) => Some(written(draw())),
            Allowed::Exactly(value) => Some(*value),
            Allowed::Numbers(set) => {
                let snap = |value: f64| written(codec.restore(value, false));
                set.draw(|| written(draw()), snap, codec.resolution())
            }
        };
        let is_open = |value: f64| {
            self.cells.get(row).is_none_or(|cells| {
                let rules = self.rules;
                rules.leaves_inputs_free(place, value, cells, BEGINNING)
            })
        };
        open_draw(draw_among, is_open, &allowed, codec)
            .map(DecidedValue::Number)
            .ok_or_else(|| self.stuck(place, row))
    }

    /// A start, from which the index has a value that the rules allow.
    fn draw_start(
        &mut self,
        row: usize,
        codec: &NumberCodec,
        output: &Draws,
    ) -> Result<DecidedValue, SampleError> {
        let place = self.index_place();
        let allowed = self.allowed_context(place, row);
        let time = self.time_of_day(row);
        let generator = &mut self.generators[row];
        let mut draw = || {
            // Starts stay within what was seen whatever the user says.
            let value = output.number(row, codec, f64::NAN, false, true, generator);
            codec.restore(value, true)
        };
        let (Allowed::Numbers(set), Some(place), Some(index)) =
            (allowed, place, &self.layout.index)
        else {
            return Ok(DecidedValue::Number(draw()));
        };
        let value = |start: f64| index.value(start + time);
        let mut last = f64::NAN;
        for _ in 0..MOST_DRAWS {
            last = draw();
            if set.contains(value(last)) {
                return Ok(DecidedValue::Number(last));
            }
        }
        let snap = |value: f64| {
            let start = index.number(value) - time;
            index.value(codec.restore(start, false) + time)
        };
        match set.draw(|| value(last), snap, codec.resolution()) {
            Some(value) => Ok(DecidedValue::Number(index.number(value) - time)),
            None => Err(self.stuck(place, row)),
        }
    }

    /// Writes the features of a sequence's context column and keeps its value.
    fn know(&mut self, column: usize, row: usize, cell: DecidedValue) {
        let slot = self.networks.context.shape.slots[column];
        let sequences = self.sequences();
        match (cell, slot, &self.layout.context[column].kind) {
            (DecidedValue::Class(class), Slot::Category(slot), _) => {
                let width = self.categories.len() / sequences;
                self.categories[row * width + slot] = class;
            }
            (
                DecidedValue::Number(value),
                Slot::Number(slot),
                ContextKind::Number { scale, .. },
            ) => {
                let width = self.numbers.len() / sequences;
                let at = row * width + slot * CONTEXT_FEATURES;
                self.numbers[at..at + CONTEXT_FEATURES]
                    .copy_from_slice(&context_features(value, scale));
            }
            _ => {}
        }
        match (&mut self.context[column], cell) {
            (Decided::Classes(classes), DecidedValue::Class(class)) => classes[row] = class,
            (Decided::Numbers(numbers), DecidedValue::Number(number)) => numbers[row] = number,
            (Decided::Classes(_), DecidedValue::Number(_))
            | (Decided::Numbers(_), DecidedValue::Class(_)) => {}
        }
        if let Some(cells) = self.cells.get_mut(row) {
            cells.set(Place::Context(column), cell.into());
        }
    }

    pub(super) fn context_number(&self, source: ContextSource, row: usize) -> Option<f64> {
        match &self.context[self.layout.context_position(source)?] {
            Decided::Numbers(numbers) => numbers.get(row).copied(),
            Decided::Classes(_) => None,
        }
    }

    pub(super) fn context_label(&self, source: ContextSource, row: usize) -> Option<&Label> {
        let column = self.layout.context_position(source)?;
        match (&self.context[column], &self.layout.context[column].kind) {
            (Decided::Classes(classes), ContextKind::Category(codec)) => {
                codec.labels.get(*classes.get(row)? as usize)
            }
            _ => None,
        }
    }
}
