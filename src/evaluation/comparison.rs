//! The tables of an evaluation, read once and shared by all that is measured.

use polars::prelude::DataFrame;
use rand::Rng;
use rand::seq::SliceRandom;

use super::{ComparedRole, EvaluationError, EvaluationOptions};
use crate::metadata::Metadata;
use crate::rng::{Purpose, Seed};
use crate::table::{ComparedColumn, ComparedTable, ComparedTables, Role};

/// A single sequence is cut into about this many windows, for what is measured over sequences.
const WINDOWS: usize = 20;
/// Sequences of a half of the real table; more would take time and tell no more.
const MOST_OF_A_HALF: usize = 5_000;
/// Rows of the shortest window.
const SHORTEST_WINDOW: usize = 10;

/// Real, synthetic and perhaps held-out sequences, column by column.
#[derive(Debug, Clone)]
pub(super) struct Comparison {
    pub(super) columns: Vec<ComparedColumn>,
    pub(super) real: ComparedTable,
    pub(super) synthetic: ComparedTable,
    pub(super) holdout: Option<ComparedTable>,
    pub(super) seed: Seed,
    /// Rows of the windows that a single sequence was cut into.
    pub(super) window_rows: Option<usize>,
}

impl Comparison {
    /// Reads the frames.
    ///
    /// # Errors
    /// [`EvaluationError`] naming the table and the column.
    pub(super) fn read(
        real: &DataFrame,
        synthetic: &DataFrame,
        holdout: Option<&DataFrame>,
        metadata: &Metadata,
        options: &EvaluationOptions,
    ) -> Result<Comparison, EvaluationError> {
        let frames: Vec<&DataFrame> = [real, synthetic].into_iter().chain(holdout).collect();
        let ComparedTables { columns, tables } =
            ComparedTables::read(&frames, metadata, &options.context_columns).map_err(
                |(position, source)| EvaluationError::Table {
                    table: [
                        ComparedRole::Real,
                        ComparedRole::Synthetic,
                        ComparedRole::Holdout,
                    ][position],
                    source,
                },
            )?;
        if columns
            .iter()
            .all(|column| !column.is_number() && !column.is_category())
        {
            return Err(EvaluationError::NothingToCompare {
                columns: columns.len(),
            });
        }
        let mut tables = tables.into_iter();
        let (Some(real), Some(synthetic)) = (tables.next(), tables.next()) else {
            unreachable!("two frames or three were read");
        };
        Ok(Comparison {
            columns,
            real,
            synthetic,
            holdout: tables.next(),
            seed: Seed::new(options.seed),
            window_rows: None,
        })
    }

    /// The same rows as sequences of which there is more than one: a table that is a single sequence is cut into
    /// windows of equal length, and the others with it. `None` where that is not needed.
    pub(super) fn windows_if_single(&self) -> Option<Comparison> {
        if self.real.sequences() > 1 && self.synthetic.sequences() > 1 {
            return None;
        }
        let rows = (self.real.rows() / WINDOWS).max(SHORTEST_WINDOW);
        Some(Comparison {
            columns: self.columns.clone(),
            real: self.real.windows(rows),
            synthetic: self.synthetic.windows(rows),
            holdout: self.holdout.as_ref().map(|holdout| holdout.windows(rows)),
            seed: self.seed,
            window_rows: Some(rows),
        })
    }

    /// One random half of the real sequences against the other, of at most 5,000 sequences each: what a fresh real
    /// sample scores. `None` of fewer than four sequences.
    pub(super) fn halves(&self) -> Option<Comparison> {
        let sequences = self.real.sequences();
        if sequences < 4 {
            return None;
        }
        let mut order: Vec<usize> = (0..sequences).collect();
        order.shuffle(&mut self.seed.stream(Purpose::EvaluationHalves));
        order.truncate(2 * MOST_OF_A_HALF);
        let (one, other) = order.split_at(order.len() / 2);
        Some(Comparison {
            columns: self.columns.clone(),
            real: self.real.some_sequences(one),
            synthetic: self.real.some_sequences(other),
            holdout: None,
            seed: self.seed,
            window_rows: self.window_rows,
        })
    }

    /// At most so many sequences of each table, drawn at random; `None` where no table has more.
    pub(super) fn thinned(&self, most: usize, generator: &mut impl Rng) -> Option<Comparison> {
        if self.parts().iter().all(|table| table.sequences() <= most) {
            return None;
        }
        let mut thin = |table: &ComparedTable| {
            let mut order: Vec<usize> = (0..table.sequences()).collect();
            order.shuffle(generator);
            order.truncate(most);
            table.some_sequences(&order)
        };
        Some(Comparison {
            columns: self.columns.clone(),
            real: thin(&self.real),
            synthetic: thin(&self.synthetic),
            holdout: self.holdout.as_ref().map(thin),
            seed: self.seed,
            window_rows: self.window_rows,
        })
    }

    /// Real, synthetic, and held-out where there is one.
    pub(super) fn parts(&self) -> Vec<&ComparedTable> {
        [&self.real, &self.synthetic]
            .into_iter()
            .chain(self.holdout.as_ref())
            .collect()
    }

    /// Positions of the columns compared as numbers.
    pub(super) fn numbers(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        (0..self.columns.len()).filter(|&column| self.columns[column].is_number())
    }

    /// Positions of the columns compared as categories.
    pub(super) fn categories(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        (0..self.columns.len()).filter(|&column| self.columns[column].is_category())
    }

    /// Whether a column belongs to the rows, not to the sequence: the sequence index and the sequential columns.
    pub(super) fn varies(&self, column: usize) -> bool {
        matches!(
            self.columns[column].role,
            Role::SequenceIndex | Role::Sequential
        )
    }

    /// Position of the sequence index.
    pub(super) fn sequence_index(&self) -> Option<usize> {
        self.columns
            .iter()
            .position(|column| column.role == Role::SequenceIndex)
    }
}
