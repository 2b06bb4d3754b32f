//! A chunk's contexts: what is given is taken in, the rest drawn column by column.

use super::sequences::Decided;
use super::{Chunk, GivenColumn, small};
use crate::history::context_features;
use crate::layout::{CONTEXT_FEATURES, ContextKind, ContextSource, Layout};
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
        for column in 0..layout.context.len() {
            if known[column] {
                continue;
            }
            let inputs = self.context_inputs()?;
            let hidden = self.networks.context.head(column, &inputs, &known)?;
            let output = self.networks.context.decoder.output(column, &hidden, &[])?;
            let drawn = self.draw_context_column(column, &output);
            self.know(column, drawn);
            known[column] = true;
        }
        Ok(())
    }

    fn draw_context_column(&mut self, column: usize, output: &HeadOutput) -> Decided {
        let request = self.request;
        let draws = self.generators.iter_mut().enumerate();
        match &self.layout.context[column].kind {
            ContextKind::Category(codec) => Decided::Classes(
                draws
                    .map(|(row, generator)| {
                        small(output.class(
                            row,
                            codec.hidden_class(),
                            request.temperature,
                            generator,
                        ))
                    })
                    .collect(),
            ),
            ContextKind::Number { codec, .. } => Decided::Numbers(
                draws
                    .map(|(row, generator)| {
                        // Lengths and starts stay within what was seen whatever the user says.
                        let within_range = request.within_range
                            || !matches!(
                                self.layout.context[column].source,
                                ContextSource::Column(_)
                            );
                        let value = output.number(
                            row,
                            codec,
                            f64::NAN,
                            within_range,
                            request.temperature,
                            generator,
                        );
                        codec.restore(value, within_range)
                    })
                    .collect(),
            ),
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
