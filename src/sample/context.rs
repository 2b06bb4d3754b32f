//! A chunk's contexts: what is given is taken in, the rest drawn column by column.

use super::sequences::{Cell, Decided};
use super::{Chunk, Goal, small};
use crate::history::context_features;
use crate::layout::{CONTEXT_FEATURES, ContextColumn, ContextKind, ContextSource, Layout};
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
    pub(super) fn draw_context(&mut self) -> Result<(), ModelError> {
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
            for row in drawn {
                let cell = self.draw_context_cell(column, row, &output);
                self.know(column, row, cell);
                known[row * columns + column] = true;
                self.is_drawn[row] = true;
            }
        }
        Ok(())
    }

    fn given_context(&self, column: usize, row: usize) -> Option<Cell> {
        let sequence = self.sequences[row];
        let length = match self.layout.context[column].source {
            ContextSource::Length => self.request.lengths.of(sequence),
            _ => None,
        };
        length
            .map(|length| Cell::Number(length as f64))
            .or_else(|| self.request.given_context(column, sequence))
    }

    fn draw_context_cell(&mut self, column: usize, row: usize, output: &HeadOutput) -> Cell {
        let request = self.request;
        let goal = request.given_rows.as_ref().map(|given| given.goal);
        // A cell that is filled must not be missing again.
        let is_filled = goal == Some(Goal::Fill);
        let ContextColumn { source, kind } = &self.layout.context[column];
        match kind {
            ContextKind::Category(codec) => {
                let banned = [
                    codec.hidden_class(),
                    codec.missing_class().filter(|_| is_filled),
                ];
                let generator = &mut self.generators[row];
                Cell::Class(small(output.class(
                    row,
                    banned,
                    request.temperature,
                    generator,
                )))
            }
            ContextKind::Number { codec, .. }
                if *source == ContextSource::Length && goal == Some(Goal::End) =>
            {
                // A sequence has at least the rows that are given.
                let least = self.given_rows(row).len() as f64;
                let generator = &mut self.generators[row];
                let (length, nats) =
                    output.number_from(row, codec, least, request.temperature, generator);
                self.context_nats[row] += nats;
                Cell::Number(length)
            }
            ContextKind::Number { codec, .. } => {
                // Lengths and starts stay within what was seen whatever the user says.
                let within_range =
                    request.within_range || !matches!(source, ContextSource::Column(_));
                let value = output.number(
                    row,
                    codec,
                    f64::NAN,
                    is_filled,
                    within_range,
                    request.temperature,
                    &mut self.generators[row],
                );
                Cell::Number(codec.restore(value, within_range))
            }
        }
    }

    /// Writes the features of a sequence's context column and keeps its value.
    fn know(&mut self, column: usize, row: usize, cell: Cell) {
        let slot = self.networks.context.shape.slots[column];
        let sequences = self.sequences();
        match (cell, slot, &self.layout.context[column].kind) {
            (Cell::Class(class), Slot::Category(slot), _) => {
                let width = self.categories.len() / sequences;
                self.categories[row * width + slot] = class;
            }
            (Cell::Number(value), Slot::Number(slot), ContextKind::Number { scale, .. }) => {
                let width = self.numbers.len() / sequences;
                let at = row * width + slot * CONTEXT_FEATURES;
                self.numbers[at..at + CONTEXT_FEATURES]
                    .copy_from_slice(&context_features(value, scale));
            }
            _ => {}
        }
        match (&mut self.context[column], cell) {
            (Decided::Classes(classes), Cell::Class(class)) => classes[row] = class,
            (Decided::Numbers(numbers), Cell::Number(number)) => numbers[row] = number,
            (Decided::Classes(_), Cell::Number(_)) | (Decided::Numbers(_), Cell::Class(_)) => {}
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
