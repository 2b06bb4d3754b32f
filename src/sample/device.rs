//! Sampling on a device that is not the CPU: whole steps there, for all sequences of a chunk at once.
//! In: walks before their first row, and their contexts. Out: the walks at their ends, as the host would leave them; the
//! values are others, drawn from the same distributions.
//!
//! The uniform numbers of a block of rows are drawn on the host, from the sequences' own streams, and sent in one copy;
//! what was drawn comes back in one. In between nothing waits for the device. Each column takes the same number of
//! uniform numbers whatever is drawn, so that a sequence does not depend on how rows are put into blocks.

mod arithmetic;
mod draws;
mod exchange;
mod history;
mod index;
mod maps;
mod numbers;
mod step;

use super::sequences::DecidedValue;
use super::walk::Walk;
use super::{CHUNK, Chunk, Networks, Request, SampleError};
use crate::constraint::Rules;
use crate::layout::{Layout, RowKind};
use crate::model::{ModelError, long};
use crate::rng::uniform;
use exchange::Exchange;
use step::{Beginnings, State, Step, StepOptions};
use tch::{Device, Tensor};

/// Sequences in a chunk on a device: a step there costs much the same for some thousand sequences as for one, since
/// starting its operations takes longer than they do.
const DEVICE_CHUNK: usize = 4_096;
/// Fewer where a column has so many categories that their weights, by sequence and category, would be more than this.
const MOST_WEIGHTS: usize = 1 << 24;
/// Rows of a block: a sequence that ends in the middle of one is drawn to its end for nothing.
const BLOCK_ROWS: usize = 16;
/// Numbers in a block, uniform or drawn: 32 MiB.
const BLOCK_NUMBERS: usize = 1 << 22;

/// Sequences in work at once in a chunk, where a model is on this device.
pub(crate) fn sequences_at_once(device: Device, layout: &Layout) -> usize {
    if !holds_steps(device) {
        return CHUNK;
    }
    let heads = layout.row_heads();
    let widest = heads.iter().map(|head| head.classes).max().unwrap_or(1);
    (MOST_WEIGHTS / widest.max(1)).clamp(1, DEVICE_CHUNK)
}

/// Whether whole steps are drawn on a device. The CPU is the host itself, and Metal has no f64, which values need.
pub(crate) fn holds_steps(device: Device) -> bool {
    match device {
        Device::Cuda(_) => true,
        Device::Cpu | Device::Mps | Device::Vulkan => false,
    }
}

/// Whether the rows of a request are drawn in whole steps on the device. The host draws them where rules or distances
/// between columns decide what may be drawn, where rows are given, and where candidates are compared.
pub(super) fn serves(networks: &Networks, request: &Request, rules: &Rules) -> bool {
    networks.holds_steps && rules.is_empty() && request.given_rows.is_none() && !request.compares()
}

impl<'a> Chunk<'a> {
    /// All rows of new sequences, in whole steps on the device.
    pub(super) fn draw_on_device(
        &mut self,
        mut walks: Vec<Walk>,
        contexts: &Tensor,
    ) -> Result<Vec<Walk>, SampleError> {
        let exchange = Exchange::new(self.networks.device);
        let step = self.step(&exchange)?;
        let mut going: Vec<usize> = (0..walks.len())
            .filter(|&at| walks[at].most_rows > 0)
            .collect();
        let mut state = step.start(contexts.shallow_clone(), beginnings(&walks, &exchange)?)?;
        if going.len() < walks.len() {
            state = state.keep(&exchange.positions(&longs(&going))?)?;
        }
        let mut done = 0;
        while !going.is_empty() {
            if self.request.is_cancelled() {
                return Err(SampleError::Cancelled);
            }
            let rows = self.draw_block(&step, &mut state, &mut walks, &going, done, &exchange)?;
            done += rows;
            let kept: Vec<usize> = (0..going.len())
                .filter(|&at| !walks[going[at]].is_over)
                .collect();
            if kept.len() < going.len() {
                going = kept.iter().map(|&at| going[at]).collect();
                if !going.is_empty() {
                    state = state.keep(&exchange.positions(&longs(&kept))?)?;
                }
            }
        }
        Ok(walks)
    }

    fn step(&self, exchange: &Exchange) -> Result<Step<'a>, ModelError> {
        let request = self.request;
        let options = StepOptions {
            temperature: request.temperature,
            within_range: request.within_range,
            last_index: request.last_index,
            decides_length: request.decides_length(),
        };
        Step::new(&self.networks.sequence, self.layout, options, exchange)
    }

    /// Draws a block of rows of the walks that go on, which have `done` rows, and says how many it was.
    fn draw_block(
        &mut self,
        step: &Step<'_>,
        state: &mut State,
        walks: &mut [Walk],
        going: &[usize],
        done: usize,
        exchange: &Exchange,
    ) -> Result<usize, ModelError> {
        let most = going
            .iter()
            .map(|&at| walks[at].most_rows.saturating_sub(done));
        let numbers = going.len() * step.width().max(step.uniforms());
        let rows = most.max().unwrap_or(0).min(BLOCK_ROWS);
        let rows = rows.min(BLOCK_NUMBERS / numbers).max(1);
        let uniforms = self.uniforms(walks, going, rows, step.uniforms());
        let shape = [long(rows), long(going.len()), long(step.uniforms())];
        let uniforms = exchange.doubles(&uniforms, &shape)?;
        let mut drawn = Vec::with_capacity(rows);
        for row in 0..rows {
            drawn.push(step.row(state, done + row, &uniforms.f_select(0, long(row))?)?);
        }
        let drawn = exchange.download(&Tensor::f_stack(&drawn, 0)?)?;
        let of_sequences = going.iter().cycle();
        for (&at, row) in of_sequences.zip(drawn.chunks_exact(step.width())) {
            walks[at].take_drawn(row, self.layout);
        }
        Ok(rows)
    }

    /// The uniform numbers of so many rows, row after row and sequence after sequence, each from its sequence's stream.
    fn uniforms(
        &mut self,
        walks: &[Walk],
        going: &[usize],
        rows: usize,
        of_a_row: usize,
    ) -> Vec<f64> {
        let mut numbers = vec![0.0; rows * going.len() * of_a_row];
        for (place, &at) in going.iter().enumerate() {
            let generator = &mut self.generators[walks[at].row];
            for row in 0..rows {
                let from = (row * going.len() + place) * of_a_row;
                for number in &mut numbers[from..from + of_a_row] {
                    *number = uniform(generator);
                }
            }
        }
        numbers
    }
}

impl Walk {
    /// Takes in what [`Step::row`] told of a row, unless it is over.
    fn take_drawn(&mut self, drawn: &[f64], layout: &Layout) {
        let (columns, rest) = drawn.split_at(layout.rows.len());
        if self.is_over {
            return;
        }
        if rest.last() != Some(&1.0) {
            self.is_over = true;
            return;
        }
        let decided = columns.iter().zip(&layout.rows);
        self.values
            .extend(decided.map(|(&value, column)| match column.kind {
                RowKind::Category(_) => DecidedValue::Class(class(value)),
                RowKind::Number(_) => DecidedValue::Number(value),
            }));
        if let [index, _] = rest {
            self.index.push(*index);
        }
        self.rows += 1;
        self.is_over = self.rows >= self.most_rows;
    }
}

fn class(value: f64) -> u32 {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "classes are counted in u32"
    )]
    let class = value as u32;
    class
}

fn longs(places: &[usize]) -> Vec<i64> {
    places.iter().copied().map(long).collect()
}

/// What the device is told of walks before their first row.
fn beginnings(walks: &[Walk], exchange: &Exchange) -> Result<Beginnings, ModelError> {
    let numbers = |of: fn(&Walk) -> f64| {
        let numbers: Vec<f64> = walks.iter().map(of).collect();
        exchange.doubles(&numbers, &[-1])
    };
    let stops: Vec<bool> = walks.iter().map(|walk| walk.stops_at_end).collect();
    Ok(Beginnings {
        lengths: numbers(|walk| walk.length as f64)?,
        most_rows: numbers(|walk| walk.most_rows as f64)?,
        stops_at_end: exchange.flags(&stops, &[-1])?,
        starts: numbers(|walk| walk.start)?,
    })
}

#[cfg(test)]
mod tests;
