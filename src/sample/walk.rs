//! One sequence while it is sampled.

use super::Chunk;
use super::sequences::Decided;
use crate::history::History;
use crate::layout::{ContextSource, RowKind};
use crate::table::Label;

/// One sequence while it is sampled.
pub(super) struct Walk {
    /// Its place in the chunk.
    pub(super) row: usize,
    /// The length the network is told.
    pub(super) length: usize,
    pub(super) most_rows: usize,
    /// Rows before which the end of the table's time does not end it.
    pub(super) least_rows: usize,
    pub(super) stops_at_end: bool,
    pub(super) start: f64,
    /// Index number of the latest row.
    pub(super) number: f64,
    pub(super) history: History,
    pub(super) columns: Vec<Decided>,
    pub(super) index: Vec<f64>,
    pub(super) rows: usize,
    pub(super) is_over: bool,
}

impl Chunk<'_> {
    /// How a sequence begins and how far it may go.
    pub(super) fn walk(&self, row: usize) -> Walk {
        let length = self
            .context_number(ContextSource::Length, row)
            .unwrap_or(1.0)
            .max(1.0);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "lengths lie within LENGTH"
        )]
        let length = length as usize;
        let start = self
            .context_number(ContextSource::Start, row)
            .unwrap_or(0.0);
        let time = match self.context_label(ContextSource::TimeOfDay, row) {
            Some(Label::Float(time)) => *time,
            _ => 0.0,
        };
        let ends_with_table =
            self.context_label(ContextSource::EndsWithTable, row) == Some(&Label::Boolean(true));
        let is_censored = self
            .layout
            .index
            .as_ref()
            .is_some_and(|index| index.is_censored);
        Walk {
            row,
            length,
            most_rows: match self.request.length {
                Some(length) => length,
                // Goes on until the table's time is over, within the lengths that were seen.
                None if ends_with_table => self.layout.longest,
                None => length,
            },
            least_rows: self.layout.shortest(),
            stops_at_end: is_censored && self.request.length.is_none(),
            start: start + time,
            number: start + time,
            history: History::new(self.layout),
            columns: self
                .layout
                .rows
                .iter()
                .map(|column| Decided::new(matches!(column.kind, RowKind::Category(_))))
                .collect(),
            index: Vec::new(),
            rows: 0,
            is_over: false,
        }
    }
}
