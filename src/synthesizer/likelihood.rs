//! Log-likelihood of a real table, on the code that training computes its losses with.
//! In: a frame as [`ParSynthesizerBuilder::fit`](crate::ParSynthesizerBuilder::fit) takes it. Out: [`LogLikelihood`].
//! The table is worked through in blocks of whole sequences, so that only those being computed lie encoded in memory;
//! which rows share a block depends on the table alone, and so do the numbers.

use super::{Model, ParSynthesizer};
use crate::encode::Encoder;
use crate::error::{Error, Result};
use crate::layout::{ContextSource, RowSource, subtract};
use crate::likelihood::{LogLikelihood, RowNats, SequenceNats};
use crate::model::ModelError;
use crate::params::checked_threads;
use crate::possible::{Impossible, impossible};
use crate::table::{SequenceTable, Store, TableError};
use crate::tasks::{ContextTask, SequenceTask, context_names, row_names};
use polars::prelude::{Column, DataFrame, IdxSize};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A block ends with the sequence that takes it past this many rows.
const ROWS_PER_BLOCK: usize = 16_384;

/// What is known of a block of sequences, in table order.
struct BlockNats {
    contexts: Vec<f64>,
    rows: Vec<f64>,
    impossible: Impossible,
}

impl ParSynthesizer {
    /// How likely real sequences are under this model: for choosing between models, and for finding odd sequences.
    ///
    /// The frame has the columns that were fitted, in any order, rows in any order and chunking; it may hold the
    /// sequences that were fitted or others. [`LogLikelihood`] says what the numbers mean and can be compared with.
    ///
    /// ```
    /// # use parsynth::{Metadata, ParSynthesizer, read_csv};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// # let synthesizer = ParSynthesizer::builder(metadata).context_columns(["region"]).epochs(1).fit(&data)?;
    /// let likelihood = synthesizer.log_likelihood(&data)?;
    /// assert_eq!(likelihood.rows().height(), data.height());
    /// let oddest_first = likelihood.sequences().sort(["nats_per_row"], Default::default())?;
    /// let nats = oddest_first.column("nats_per_row")?.f64()?;
    /// assert!(nats.get(0) <= nats.get(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// # Errors
    /// [`Error::Table`] as for a fit: a column that is missing, unknown, or of a dtype that does not fit the fitted
    /// one, a missing key or index, a context column that varies within a sequence, no rows. A value that the model
    /// gives no probability to is no error.
    pub fn log_likelihood(&self, frame: &DataFrame) -> Result<LogLikelihood> {
        self.log_likelihood_by(frame, checked_threads(None)?, ROWS_PER_BLOCK)
    }

    fn log_likelihood_by(
        &self,
        frame: &DataFrame,
        threads: usize,
        rows_per_block: usize,
    ) -> Result<LogLikelihood> {
        let mut table = SequenceTable::from_source(frame, &self.schema)?;
        if let Some(rows) = self.options.segment_size {
            table = table.segmented(rows);
        }
        let pairs = self.layout.reference_pairs();
        subtract(pairs, &self.schema, &mut table, &Store::Memory)?;
        let blocks = blocks(&table.offsets, rows_per_block);
        let nats = self.nats(&table, &blocks, threads)?;
        let name = |column: usize| self.schema.columns[column].name.clone();
        let contexts = context_names(&self.layout, name);
        let columns = row_names(&self.layout, name);
        let mut rows = vec![
            RowNats {
                nats: 0.0,
                impossible: None
            };
            table.rows()
        ];
        // The first row of each sequence in the frame, and its numbers.
        let mut sequences: Vec<(usize, SequenceNats<'_>)> = Vec::with_capacity(table.sequences());
        let mut owner = None;
        for (block, nats) in blocks.iter().zip(&nats) {
            let first_row = table.offsets[block.start];
            for (at, sequence) in block.clone().enumerate() {
                let range = table.offsets[sequence]..table.offsets[sequence + 1];
                let context = nats.impossible.contexts[at].map(|at| contexts[at].as_str());
                let mut own = SequenceNats {
                    rows: range.len(),
                    context: possible_nats(nats.contexts[at], context),
                    all_rows: 0.0,
                    impossible: context,
                };
                for row in range.clone() {
                    let impossible =
                        nats.impossible.rows[row - first_row].map(|at| columns[at].as_str());
                    let nats = possible_nats(nats.rows[row - first_row], impossible);
                    rows[table.row_number(row)] = RowNats { nats, impossible };
                    own.all_rows += nats;
                    own.impossible = own.impossible.or(impossible);
                }
                let appears = range.map(|row| table.row_number(row)).min().unwrap_or(0);
                // Segments of one sequence follow each other, and add up.
                match sequences.last_mut() {
                    Some((first, whole)) if owner == Some(table.owners[sequence]) => {
                        *first = appears.min(*first);
                        whole.append(own);
                    }
                    _ => sequences.push((appears, own)),
                }
                owner = Some(table.owners[sequence]);
            }
        }
        sequences.sort_by_key(|(appears, _)| *appears);
        let key = self.keys(frame, sequences.iter().map(|(appears, _)| *appears))?;
        let sequences: Vec<SequenceNats<'_>> =
            sequences.into_iter().map(|(_, nats)| nats).collect();
        Ok(LogLikelihood::new(key, &sequences, &rows).map_err(TableError::from)?)
    }

    /// The sequence key's columns in some rows of a frame; none for a table without key.
    fn keys(&self, frame: &DataFrame, rows: impl Iterator<Item = usize>) -> Result<Vec<Column>> {
        let rows: Vec<IdxSize> = rows
            .map(|row| IdxSize::try_from(row).unwrap_or(IdxSize::MAX))
            .collect();
        let column = |key: usize| {
            let column = frame
                .column(&self.schema.columns[key].name)
                .and_then(|column| column.take_slice(&rows));
            Ok(column.map_err(TableError::from)?)
        };
        self.schema.sequence_key().into_iter().map(column).collect()
    }

    /// Shares the blocks out to worker threads; each has one libtorch thread, so their number changes no result.
    fn nats(
        &self,
        table: &SequenceTable,
        blocks: &[Range<usize>],
        threads: usize,
    ) -> Result<Vec<BlockNats>> {
        let model = self.locked().share();
        let next = AtomicUsize::new(0);
        let mut done: Vec<(usize, BlockNats)> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads.min(blocks.len()).max(1))
                .map(|_| {
                    let (model, next) = (model.share(), &next);
                    scope.spawn(move || {
                        tch::set_num_threads(1);
                        let mut done = Vec::new();
                        loop {
                            let at = next.fetch_add(1, Ordering::Relaxed);
                            let Some(block) = blocks.get(at) else {
                                return Ok(done);
                            };
                            done.push((at, self.nats_of_block(&model, table, block.clone())?));
                        }
                    })
                })
                .collect();
            let mut all = Vec::with_capacity(blocks.len());
            for worker in workers {
                let done: std::result::Result<Vec<_>, ModelError> =
                    worker.join().map_err(|_| Error::Thread)?;
                all.extend(done?);
            }
            Ok::<_, Error>(all)
        })?;
        done.sort_by_key(|(at, _)| *at);
        Ok(done.into_iter().map(|(_, nats)| nats).collect())
    }

    fn nats_of_block(
        &self,
        model: &Model,
        table: &SequenceTable,
        block: Range<usize>,
    ) -> std::result::Result<BlockNats, ModelError> {
        let index = self.schema.sequence_index();
        let part = table.part(block, |column| {
            index == Some(column)
                || self
                    .layout
                    .context_position(ContextSource::Column(column))
                    .is_some()
                || self
                    .layout
                    .rows
                    .iter()
                    .any(|row| row.source == RowSource::Column(column))
        });
        let encoder = Encoder::new(&part, &self.layout, index);
        let context = ContextTask {
            encoder: &encoder,
            shape: model.context_shape.clone(),
            columns: Vec::new(),
            device: model.device(),
            kind: tch::Kind::Float,
        };
        let sequence = SequenceTask {
            encoder: &encoder,
            shape: model.sequence_shape.clone(),
            columns: Vec::new(),
            device: model.device(),
            kind: tch::Kind::Float,
        };
        tch::no_grad(|| {
            Ok(BlockNats {
                contexts: context.nats(&model.context)?,
                rows: sequence.nats(&model.sequence)?,
                impossible: impossible(&part, &self.layout, index, self.options.enforce_min_max),
            })
        })
    }
}

fn possible_nats(nats: f64, impossible: Option<&str>) -> f64 {
    match impossible {
        Some(_) => f64::NEG_INFINITY,
        None => nats,
    }
}

/// Sequences in blocks of about so many rows.
fn blocks(offsets: &[usize], rows_per_block: usize) -> Vec<Range<usize>> {
    let sequences = offsets.len().saturating_sub(1);
    let mut blocks = Vec::new();
    let mut start = 0;
    for end in 1..=sequences {
        if end == sequences || offsets[end] - offsets[start] >= rows_per_block {
            blocks.push(start..end);
            start = end;
        }
    }
    blocks
}

#[cfg(test)]
mod tests;
