//! Sampled values, column by column, before they become a frame.

use crate::layout::{ContextKind, Layout, RowKind};

/// A column of decided values.
#[derive(Debug, Clone)]
pub(crate) enum Decided {
    Classes(Vec<u32>),
    Numbers(Vec<f64>),
}

impl Decided {
    pub(super) fn new(is_category: bool) -> Decided {
        if is_category {
            Decided::Classes(Vec::new())
        } else {
            Decided::Numbers(Vec::new())
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
        for pair in pairs {
            match pair {
                (Decided::Classes(all), Decided::Classes(own)) => all.extend(own),
                (Decided::Numbers(all), Decided::Numbers(own)) => all.extend(own),
                _ => {}
            }
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
