//! Sampled values, column by column, before they become a frame.

use crate::layout::{ContextKind, Layout, RowKind};

/// One decided value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cell {
    Class(u32),
    Number(f64),
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
        if is_category {
            Decided::Classes(Vec::new())
        } else {
            Decided::Numbers(Vec::new())
        }
    }

    /// The value at a position, if there is one.
    pub(crate) fn get(&self, at: usize) -> Option<Cell> {
        match self {
            Decided::Classes(classes) => classes.get(at).copied().map(Cell::Class),
            Decided::Numbers(numbers) => numbers.get(at).copied().map(Cell::Number),
        }
    }

    /// Appends a value of the column's kind.
    pub(crate) fn push(&mut self, cell: Cell) {
        match (self, cell) {
            (Decided::Classes(classes), Cell::Class(class)) => classes.push(class),
            (Decided::Numbers(numbers), Cell::Number(number)) => numbers.push(number),
            (Decided::Classes(_), Cell::Number(_)) | (Decided::Numbers(_), Cell::Class(_)) => {}
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

    /// Keeps whole sequences until there are at least `rows` rows.
    pub(crate) fn keep_until_rows(&mut self, rows: usize) {
        let (mut sequences, mut kept) = (0, 0);
        while kept < rows && sequences < self.lengths.len() {
            kept += self.lengths[sequences];
            sequences += 1;
        }
        self.cut(sequences, kept);
    }

    /// Keeps whole sequences of at most `rows` rows in all; of a first sequence that is longer, its first rows.
    pub(crate) fn keep_rows(&mut self, rows: usize) {
        let mut kept = 0;
        let mut sequences = 0;
        while sequences < self.lengths.len() && kept + self.lengths[sequences] <= rows {
            kept += self.lengths[sequences];
            sequences += 1;
        }
        if sequences == 0 && rows > 0 && !self.lengths.is_empty() {
            (sequences, kept) = (1, rows);
            self.lengths[0] = rows;
        }
        self.cut(sequences, kept);
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
            match column {
                Decided::Classes(classes) => classes.truncate(count),
                Decided::Numbers(numbers) => numbers.truncate(count),
            }
        }
    }
}
