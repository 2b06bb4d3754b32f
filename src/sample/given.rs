//! Given rows: sequences are taken through them as in training, so that sampling goes on where they end.
//! In: [`GivenRows`] and walks before their first row. Out: the walks after their last given row, and the LSTM's state.

use super::Chunk;
use super::sequences::{Decided, DecidedValue};
use super::walk::{RowBuffer, Walk};
use crate::constraint::{Cell, Cells, Place, Rules};
use crate::layout::{Layout, Reference, RowKind, RowSource, next_index};
use crate::model::dropout::Mode;
use crate::model::sequence::LstmState;
use crate::model::{ModelError, long};
use std::cmp::Reverse;
use std::ops::Range;
use tch::Tensor;

/// Rows of all sequences that lie encoded in memory at once, and of one sequence.
const SEGMENT_CELLS: usize = 16_384;
const SEGMENT_STEPS: usize = 128;
/// Draws of a gap before the usual one is taken.
const MOST_DRAWS: usize = 100;

/// What given rows are given for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goal {
    /// So many new rows of each sequence.
    Steps(usize),
    /// New rows up to an end that is drawn.
    End,
    /// Their own missing cells.
    Fill,
}

/// Rows that sequences go on from, or have missing cells in.
#[derive(Debug, Clone)]
pub(crate) struct GivenRows {
    pub(crate) goal: Goal,
    /// Rows of sequence `i` are `offsets[i]..offsets[i + 1]`.
    pub(crate) offsets: Vec<usize>,
    /// One value a row, by position in the layout's rows; the gap of a first row means nothing.
    pub(crate) rows: Vec<Decided>,
    /// The index number of each row; empty without an index.
    pub(crate) index: Vec<f64>,
    /// Whether the value of each row is to be drawn, by position in the layout's rows; empty for columns that are known.
    pub(crate) unknown: Vec<Vec<bool>>,
}

impl GivenRows {
    /// A value, unless it is to be drawn.
    pub(super) fn known(&self, column: usize, row: usize) -> Option<DecidedValue> {
        match self.is_unknown(column, row) {
            true => None,
            false => self.rows.get(column)?.get(row),
        }
    }

    /// A value, as rules see it; the gap stands for itself.
    pub(crate) fn cell(&self, column: usize, row: usize) -> Cell {
        self.known(column, row).map_or(Cell::Unknown, Cell::from)
    }

    /// Whether any value of a column is to be drawn.
    pub(super) fn has_unknown(&self, column: usize) -> bool {
        self.unknown
            .get(column)
            .is_some_and(|rows| !rows.is_empty())
    }

    /// Takes in a number that follows from others, so that it is not drawn.
    pub(crate) fn know(&mut self, column: usize, row: usize, number: f64) {
        if let Some(Decided::Numbers(numbers)) = self.rows.get_mut(column)
            && let Some(known) = numbers.get_mut(row)
        {
            *known = number;
            if let Some(unknown) = self
                .unknown
                .get_mut(column)
                .and_then(|rows| rows.get_mut(row))
            {
                *unknown = false;
            }
        }
    }

    /// What rules see of a row beside a context.
    pub(super) fn beside(&self, row: usize, context: &Cells, layout: &Layout) -> Cells {
        let mut cells = context.clone();
        for (column, source) in layout.rows.iter().map(|column| column.source).enumerate() {
            let cell = match (source, &layout.index, self.index.get(row)) {
                (RowSource::Gap, Some(index), Some(&number)) => Cell::Number(index.value(number)),
                _ => self.cell(column, row),
            };
            cells.set(Place::Row(column), cell);
        }
        cells
    }

    fn is_unknown(&self, column: usize, row: usize) -> bool {
        let unknown = self.unknown.get(column).and_then(|rows| rows.get(row));
        unknown.copied().unwrap_or(false)
    }

    /// The rows of a range in which something is to be drawn.
    pub(super) fn unknown_rows(
        &self,
        mut rows: Range<usize>,
    ) -> impl DoubleEndedIterator<Item = usize> {
        if self.unknown.iter().all(Vec::is_empty) {
            rows.end = rows.start;
        }
        rows.filter(|&row| (0..self.unknown.len()).any(|column| self.is_unknown(column, row)))
    }
}

impl Walk {
    /// Takes in the next of the given rows.
    fn read(&mut self, given: &GivenRows, layout: &Layout, rules: &Rules) {
        let row = self.given.start + self.rows;
        if let Some(&number) = given.index.get(row) {
            self.number = number;
        }
        let (mut number_slot, mut category_slot) = (0, 0);
        for (at, (column, values)) in layout.rows.iter().zip(&given.rows).enumerate() {
            match (&column.kind, values) {
                (RowKind::Category(_), Decided::Classes(classes)) => {
                    self.history.absorb_category(category_slot, classes[row]);
                    self.show(at, DecidedValue::Class(classes[row]));
                    category_slot += 1;
                }
                (RowKind::Number(number), Decided::Numbers(values)) => {
                    let value = match self.reference(rules, at) {
                        Some(from) => Reference::distance(from, values[row]),
                        None => values[row],
                    };
                    if column.source != RowSource::Gap || self.rows > 0 {
                        self.history
                            .absorb_number(number_slot, value, &number.scale);
                    }
                    match (column.source, &layout.index) {
                        (RowSource::Gap, Some(index)) => {
                            self.show(at, DecidedValue::Number(index.value(self.number)));
                        }
                        _ => self.show(at, DecidedValue::Number(values[row])),
                    }
                    number_slot += 1;
                }
                _ => {}
            }
        }
        self.rows += 1;
        if let Some(cells) = &mut self.cells {
            cells.next_row();
        }
    }
}

impl Chunk<'_> {
    /// The given rows of a sequence of this chunk; an empty range where there are none.
    pub(super) fn given_rows(&self, row: usize) -> Range<usize> {
        match &self.request.given_rows {
            Some(given) => {
                let sequence = self.sequences[row];
                given.offsets[sequence]..given.offsets[sequence + 1]
            }
            None => 0..0,
        }
    }

    /// Takes the walks through their given rows, a segment at a time, and returns the state after them, in the order
    /// of the walks. Longer sequences begin earlier, so that all reach their last given row together.
    /// # Shapes
    /// `contexts` `[walks, CONTEXT_WIDTH]`
    pub(super) fn read(
        &self,
        given: &GivenRows,
        walks: &mut [Walk],
        contexts: &Tensor,
    ) -> Result<LstmState, ModelError> {
        let (network, device) = (&self.networks.sequence, self.networks.device);
        let mut order: Vec<usize> = (0..walks.len()).collect();
        order.sort_by_key(|&at| Reverse(walks[at].given.len()));
        let places: Vec<i64> = order.iter().copied().map(long).collect();
        let contexts = contexts.f_index_select(0, &Tensor::f_from_slice(&places)?.f_to(device)?)?;
        let longest = order.first().map_or(0, |&at| walks[at].given.len());
        let mut state = LstmState::start(network.shape.sizes, 0, device)?;
        let mut done = 0;
        while done < longest {
            let begins = |&at: &usize| longest - walks[at].given.len();
            let present = order.partition_point(|at| begins(at) <= done);
            let until = order.get(present).map_or(longest, begins);
            let steps = (until - done)
                .min(SEGMENT_STEPS)
                .min((SEGMENT_CELLS / present).max(1));
            let mut buffer = RowBuffer::new(self.layout);
            for _ in 0..steps {
                for &at in &order[..present] {
                    buffer.push(&walks[at]);
                    walks[at].read(given, self.layout, self.rules);
                }
            }
            let context = contexts
                .f_narrow(0, 0, long(present))?
                .f_repeat([long(steps), 1])?;
            let features = network.features(&buffer.tensors(device)?, context, None)?;
            let input = network.lstm_input(&features, &mut Mode::Use)?;
            let input = input.f_view([long(steps), long(present), -1])?;
            state = network.lstm(&input, &state.join(long(present))?, false)?.1;
            done += steps;
        }
        let mut back = vec![0; order.len()];
        for (place, &at) in order.iter().enumerate() {
            back[at] = long(place);
        }
        // Sequences without a given row are still before any.
        let state = state.join(long(order.len()))?;
        state.keep(&Tensor::f_from_slice(&back)?.f_to(device)?)
    }
}

/// A gap that leads past the last given index, where ties may be all that the model knows: drawn until one does, else
/// the first usual one that does, or the smallest there is.
pub(super) fn rising_gap(
    number: f64,
    decimals: Option<u32>,
    usual: [f64; 2],
    mut draw: impl FnMut() -> f64,
) -> f64 {
    let rises = |gap: &f64| next_index(number, *gap, decimals) > number;
    (0..MOST_DRAWS)
        .map(|_| draw())
        .find(rises)
        .or_else(|| usual.into_iter().find(rises))
        .unwrap_or_else(|| number.next_up() - number)
}

#[cfg(test)]
mod tests;
