//! Sampled values, column by column, before they become a frame.

use crate::constraint;
use crate::layout::{ContextKind, Layout, RowColumn, RowKind};
use std::ops::Range;

/// One decided value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum DecidedValue {
    Class(u32),
    Number(f64),
}

impl From<DecidedValue> for constraint::Cell {
    fn from(cell: DecidedValue) -> Self {
        match cell {
            DecidedValue::Class(class) => constraint::Cell::Class(class),
            DecidedValue::Number(number) => constraint::Cell::number(number),
        }
    }
}

/// A column of decided values.
#[derive(Debug, Clone)]
pub(crate) enum Decided {
    Classes(Vec<u32>),
    Numbers(Vec<f64>),
}

impl Decided {
    /// An empty column of the rows.
    pub(crate) fn of_kind(kind: &RowKind) -> Decided {
        Decided::new(matches!(kind, RowKind::Category(_)))
    }

    /// An empty column of the same kind.
    pub(crate) fn emptied(&self) -> Decided {
        Decided::new(matches!(self, Decided::Classes(_)))
    }

    pub(super) fn new(is_category: bool) -> Decided {
        Decided::with_room(is_category, 0)
    }

    /// An empty column with room for so many values.
    pub(super) fn with_room(is_category: bool, values: usize) -> Decided {
        if is_category {
            Decided::Classes(Vec::with_capacity(values))
        } else {
            Decided::Numbers(Vec::with_capacity(values))
        }
    }

    /// The value at a position, if there is one.
    pub(crate) fn get(&self, at: usize) -> Option<DecidedValue> {
        match self {
            Decided::Classes(classes) => classes.get(at).copied().map(DecidedValue::Class),
            Decided::Numbers(numbers) => numbers.get(at).copied().map(DecidedValue::Number),
        }
    }

    /// Appends a value of the column's kind.
    pub(crate) fn push(&mut self, cell: DecidedValue) {
        match (self, cell) {
            (Decided::Classes(classes), DecidedValue::Class(class)) => classes.push(class),
            (Decided::Numbers(numbers), DecidedValue::Number(number)) => numbers.push(number),
            (Decided::Classes(_), DecidedValue::Number(_))
            | (Decided::Numbers(_), DecidedValue::Class(_)) => {}
        }
    }

    /// Appends another column of the same kind.
    pub(super) fn append(&mut self, later: Decided) {
        match (self, later) {
            (Decided::Classes(all), Decided::Classes(own)) => all.extend(own),
            (Decided::Numbers(all), Decided::Numbers(own)) => all.extend(own),
            (Decided::Classes(_), Decided::Numbers(_))
            | (Decided::Numbers(_), Decided::Classes(_)) => {}
        }
    }

    /// Drops all but the first values.
    pub(super) fn truncate(&mut self, count: usize) {
        match self {
            Decided::Classes(classes) => classes.truncate(count),
            Decided::Numbers(numbers) => numbers.truncate(count),
        }
    }

    /// Takes the first values out.
    fn take_first(&mut self, count: usize) -> Decided {
        match self {
            Decided::Classes(classes) => {
                Decided::Classes(classes.drain(..count.min(classes.len())).collect())
            }
            Decided::Numbers(numbers) => {
                Decided::Numbers(numbers.drain(..count.min(numbers.len())).collect())
            }
        }
    }

    /// The values at these positions, in their order.
    pub(super) fn take(&self, rows: &[usize]) -> Decided {
        match self {
            Decided::Classes(classes) => {
                Decided::Classes(rows.iter().map(|&row| classes[row]).collect())
            }
            Decided::Numbers(numbers) => {
                Decided::Numbers(rows.iter().map(|&row| numbers[row]).collect())
            }
        }
    }
}

/// The sequences of one chunk.
#[derive(Debug, Clone)]
pub(crate) struct SampledSequences {
    /// Rows of each sequence.
    pub(crate) lengths: Vec<usize>,
    /// One value a sequence, by position in the layout's context.
    pub(crate) context: Vec<Decided>,
    /// One value a row, sequence after sequence, by position in the layout's rows.
    pub(crate) rows: Vec<Decided>,
    /// The index number of each row; empty without an index.
    pub(crate) index: Vec<f64>,
}

impl SampledSequences {
    /// No sequences, of all columns.
    pub(crate) fn empty(layout: &Layout) -> SampledSequences {
        SampledSequences {
            lengths: Vec::new(),
            context: layout
                .context
                .iter()
                .map(|column| Decided::new(matches!(column.kind, ContextKind::Category(_))))
                .collect(),
            rows: layout
                .rows
                .iter()
                .map(|column| Decided::new(matches!(column.kind, RowKind::Category(_))))
                .collect(),
            index: Vec::new(),
        }
    }

    /// No sequences, of all columns, with room for so many rows.
    pub(super) fn with_room(layout: &Layout, rows: usize) -> SampledSequences {
        let column = |column: &RowColumn| {
            Decided::with_room(matches!(column.kind, RowKind::Category(_)), rows)
        };
        SampledSequences {
            rows: layout.rows.iter().map(column).collect(),
            index: Vec::with_capacity(if layout.index.is_some() { rows } else { 0 }),
            ..SampledSequences::empty(layout)
        }
    }

    /// Sequences of these lengths, of which nothing else is known.
    pub(crate) fn without_values(lengths: Vec<usize>) -> SampledSequences {
        SampledSequences {
            lengths,
            context: Vec::new(),
            rows: Vec::new(),
            index: Vec::new(),
        }
    }

    /// Appends the sequences of a later chunk.
    pub(crate) fn append(&mut self, later: SampledSequences) {
        self.lengths.extend(later.lengths);
        self.index.extend(later.index);
        let pairs = self
            .context
            .iter_mut()
            .zip(later.context)
            .chain(self.rows.iter_mut().zip(later.rows));
        for (all, own) in pairs {
            all.append(own);
        }
    }

    /// The same with some sequences replaced by others, in order.
    pub(crate) fn replaced(
        &self,
        positions: &[usize],
        others: SampledSequences,
    ) -> SampledSequences {
        let starts = |lengths: &[usize]| {
            let mut start = 0;
            let next = lengths.iter().map(|length| {
                start += length;
                start - length
            });
            next.collect::<Vec<usize>>()
        };
        let (own_starts, other_starts) = (starts(&self.lengths), starts(&others.lengths));
        // By sequence, which of the two it comes from and where it lies.
        let mut sources: Vec<(bool, usize)> =
            (0..self.lengths.len()).map(|at| (false, at)).collect();
        for (at, &position) in positions.iter().enumerate().take(others.lengths.len()) {
            sources[position] = (true, at);
        }
        let rows = |&(is_other, at): &(bool, usize)| {
            if is_other {
                (
                    is_other,
                    other_starts[at]..other_starts[at] + others.lengths[at],
                )
            } else {
                (is_other, own_starts[at]..own_starts[at] + self.lengths[at])
            }
        };
        let by_row: Vec<_> = sources.iter().map(rows).collect();
        let by_sequence: Vec<_> = sources
            .iter()
            .map(|&(is_other, at)| (is_other, at..at + 1))
            .collect();
        SampledSequences {
            lengths: merged(&self.lengths, &others.lengths, &by_sequence),
            context: merged_columns(&self.context, &others.context, &by_sequence),
            rows: merged_columns(&self.rows, &others.rows, &by_row),
            index: if self.index.is_empty() {
                Vec::new()
            } else {
                merged(&self.index, &others.index, &by_row)
            },
        }
    }

    /// Rows of all sequences.
    pub(crate) fn row_count(&self) -> usize {
        self.lengths.iter().sum()
    }

    /// Keeps the first sequences.
    pub(crate) fn keep(&mut self, sequences: usize) {
        let rows = self.lengths.iter().take(sequences).sum();
        self.cut(sequences, rows);
    }

    /// Keeps the first rows of the first sequence.
    pub(crate) fn keep_rows_of_first(&mut self, rows: usize) {
        if let Some(length) = self.lengths.first_mut() {
            *length = rows.min(*length);
            self.cut(1, rows);
        }
    }

    /// Takes the first sequences out.
    pub(crate) fn take_first(&mut self, sequences: usize) -> SampledSequences {
        let sequences = sequences.min(self.lengths.len());
        let rows: usize = self.lengths.iter().take(sequences).sum();
        SampledSequences {
            lengths: self.lengths.drain(..sequences).collect(),
            context: self
                .context
                .iter_mut()
                .map(|c| c.take_first(sequences))
                .collect(),
            rows: self.rows.iter_mut().map(|c| c.take_first(rows)).collect(),
            index: self.index.drain(..rows.min(self.index.len())).collect(),
        }
    }

    fn cut(&mut self, sequences: usize, rows: usize) {
        self.lengths.truncate(sequences);
        self.index.truncate(rows);
        let columns = self
            .context
            .iter_mut()
            .map(|c| (c, sequences))
            .chain(self.rows.iter_mut().map(|c| (c, rows)));
        for (column, count) in columns {
            column.truncate(count);
        }
    }
}

/// Parts of two lists, in order.
fn merged<T: Copy>(own: &[T], other: &[T], parts: &[(bool, Range<usize>)]) -> Vec<T> {
    let part = |(is_other, range): &(bool, Range<usize>)| {
        let from = if *is_other { other } else { own };
        from[range.clone()].to_vec()
    };
    parts.iter().flat_map(part).collect()
}

fn merged_columns(
    own: &[Decided],
    other: &[Decided],
    parts: &[(bool, Range<usize>)],
) -> Vec<Decided> {
    own.iter()
        .zip(other)
        .map(|pair| match pair {
            (Decided::Classes(own), Decided::Classes(other)) => {
                Decided::Classes(merged(own, other, parts))
            }
            (Decided::Numbers(own), Decided::Numbers(other)) => {
                Decided::Numbers(merged(own, other, parts))
            }
            (own, _) => own.clone(),
        })
        .collect()
}
