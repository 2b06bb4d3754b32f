//! A chunk's contexts: what is given is taken in, the rest drawn column by column.

use super::sequences::Decided;
use super::{Chunk, GivenColumn, SampleError, small};
use crate::codec::number::NumberCodec;
use crate::constraint::{Allowed, Cell, Moment, Place};
use crate::history::context_features;
use crate::layout::{
    CONTEXT_FEATURES, CategoryCodec, ContextColumn, ContextKind, ContextSource, Layout,
};
use crate::model::decoder::HeadOutput;
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
        let first = self.first;
        let mut known = vec![false; layout.context.len()];
        self.context = layout
            .context
            .iter()
            .map(|c| Decided::new(matches!(c.kind, ContextKind::Category(_))))
            .collect();
        for (column, known) in known.iter_mut().enumerate() {
            let given = match (&layout.context[column].source, self.request.length) {
                (ContextSource::Length, Some(length)) => {
                    Some(Decided::Numbers(vec![length as f64; sequences]))
                }
                _ => {
                    self.request
                        .given
                        .get(column)
                        .and_then(Option::as_ref)
                        .map(|given| match given {
                            GivenColumn::Classes(classes) => {
                                Decided::Classes(classes[first..first + sequences].to_vec())
                            }
                            GivenColumn::Numbers(numbers) => {
                                Decided::Numbers(numbers[first..first + sequences].to_vec())
                            }
                        })
                }
            };
            if let Some(given) = given {
                self.know(column, given);
                *known = true;
            }
        }
        let is_given = known.clone();
        for column in 0..layout.context.len() {
            if known[column] {
                continue;
            }
            let inputs = self.context_inputs()?;
            let hidden = self.networks.context.head(column, &inputs, &known)?;
            let output = self.networks.context.decoder.output(column, &hidden, &[])?;
            let drawn = self.draw_context_column(column, &output)?;
            self.know(column, drawn);
            known[column] = true;
        }
        self.check_given(&is_given)
    }

    fn draw_context_column(
        &mut self,
        column: usize,
        output: &HeadOutput,
    ) -> Result<Decided, SampleError> {
        let ContextColumn { source, kind } = &self.layout.context[column];
        let rows = 0..self.sequences();
        Ok(match kind {
            ContextKind::Category(codec) => Decided::Classes(
                rows.map(|row| self.draw_context_class(column, row, codec, output))
                    .collect::<Result<_, _>>()?,
            ),
            ContextKind::Number { codec, .. } => Decided::Numbers(
                rows.map(|row| match source {
                    ContextSource::Start => self.draw_start(row, codec, output),
                    _ => self.draw_context_number(column, row, codec, output),
                })
                .collect::<Result<_, _>>()?,
            ),
        })
    }

    fn draw_context_class(
        &mut self,
        column: usize,
        row: usize,
        codec: &CategoryCodec,
        output: &HeadOutput,
    ) -> Result<u32, SampleError> {
        let allowed = self.allowed_context(column, row);
        let hidden = codec.hidden_class();
        let is_allowed = |class: usize| {
            let keeps = match &allowed {
                Allowed::Classes(classes) => classes.get(class) == Some(&true),
                _ => true,
            };
            keeps && Some(class) != hidden
        };
        let temperature = self.request.temperature;
        let generator = &mut self.generators[row];
        match output.class(row, is_allowed, temperature, generator) {
            Some(class) => Ok(small(class)),
            None => Err(self.stuck(Place::Context(column), row)),
        }
    }

    fn draw_context_number(
        &mut self,
        column: usize,
        row: usize,
        codec: &NumberCodec,
        output: &HeadOutput,
    ) -> Result<f64, SampleError> {
        let request = self.request;
        let source = self.layout.context[column].source;
        // Lengths stay within what was seen whatever the user says.
        let within_range = request.within_range || !matches!(source, ContextSource::Column(_));
        let allowed = self.allowed_context(column, row);
        let generator = &mut self.generators[row];
        let mut draw = || {
            let temperature = request.temperature;
            let value = output.number(row, codec, f64::NAN, within_range, temperature, generator);
            codec.restore(value, within_range)
        };
        let written = |value: f64| self.rules.written(Place::Context(column), value);
        match allowed {
            Allowed::Anything | Allowed::Classes(_) => Ok(draw()),
            Allowed::Exactly(value) => Ok(value),
            Allowed::Numbers(set) => {
                let snap = |value: f64| written(codec.restore(value, false));
                set.draw(|| written(draw()), snap, codec.resolution())
                    .ok_or_else(|| self.stuck(Place::Context(column), row))
            }
        }
    }

    /// A start, from which the index has a value that the rules allow.
    fn draw_start(
        &mut self,
        row: usize,
        codec: &NumberCodec,
        output: &HeadOutput,
    ) -> Result<f64, SampleError> {
        let temperature = self.request.temperature;
        let place = self.index_place();
        let allowed = match (place, self.cells.get(row)) {
            (Some(place), Some(cells)) => {
                let moment = Moment {
                    row: 0,
                    rows_after: None,
                };
                self.rules.allowed(place, cells, moment)
            }
            _ => Allowed::Anything,
        };
        let time = self.time_of_day(row);
        let generator = &mut self.generators[row];
        let mut draw = || {
            // Starts stay within what was seen whatever the user says.
            let value = output.number(row, codec, f64::NAN, true, temperature, generator);
            codec.restore(value, true)
        };
        let (Allowed::Numbers(set), Some(place), Some(index)) =
            (allowed, place, &self.layout.index)
        else {
            return Ok(draw());
        };
        let value = |start: f64| index.value(start + time);
        // Between the bounds of a time of day, the nearest date may fall a day short.
        let snap = |value: f64| {
            let start = index.number(value) - time;
            index.value(codec.restore(start, false) + time)
        };
        let mut last = f64::NAN;
        for _ in 0..MOST_DRAWS {
            last = draw();
            if set.contains(value(last)) {
                return Ok(last);
            }
        }
        match set.draw(|| value(last), snap, codec.resolution()) {
            Some(value) => Ok(index.number(value) - time),
            None => Err(self.stuck(place, row)),
        }
    }

    fn allowed_context(&self, column: usize, row: usize) -> Allowed {
        let moment = Moment {
            row: 0,
            rows_after: None,
        };
        match self.cells.get(row) {
            Some(cells) => self.rules.allowed(Place::Context(column), cells, moment),
            None => Allowed::Anything,
        }
    }

    /// Given contexts may contradict each other, or what was drawn to them.
    fn check_given(&mut self, is_given: &[bool]) -> Result<(), SampleError> {
        if self.request.given_rows.is_some() {
            return Ok(());
        }
        for row in 0..self.cells.len() {
            for column in (0..is_given.len()).filter(|&column| is_given[column]) {
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
            sequence: self.first + row,
        }
    }

    pub(super) fn time_of_day(&self, row: usize) -> f64 {
        match self.context_label(ContextSource::TimeOfDay, row) {
            Some(Label::Float(time)) => *time,
            _ => 0.0,
        }
    }

    /// Writes a context column's features and keeps its values.
    fn know(&mut self, column: usize, values: Decided) {
        let slot = self.networks.context.shape.slots[column];
        let sequences = self.sequences().max(1);
        match (&values, slot, &self.layout.context[column].kind) {
            (Decided::Classes(classes), Slot::Category(slot), _) => {
                let width = self.categories.len() / sequences;
                for (row, &class) in classes.iter().enumerate() {
                    self.categories[row * width + slot] = class;
                }
            }
            (Decided::Numbers(numbers), Slot::Number(slot), ContextKind::Number { scale, .. }) => {
                let width = self.numbers.len() / sequences;
                for (row, &value) in numbers.iter().enumerate() {
                    let at = row * width + slot * CONTEXT_FEATURES;
                    self.numbers[at..at + CONTEXT_FEATURES]
                        .copy_from_slice(&context_features(value, scale));
                }
            }
            _ => {}
        }
        for (row, cells) in self.cells.iter_mut().enumerate() {
            let cell = match &values {
                Decided::Classes(classes) => classes.get(row).map(|&class| Cell::Class(class)),
                Decided::Numbers(numbers) => numbers.get(row).map(|&number| Cell::number(number)),
            };
            cells.set(Place::Context(column), cell.unwrap_or(Cell::Unknown));
        }
        self.context[column] = values;
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
