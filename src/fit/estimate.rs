//! What a fit will take, from what is known before it trains.

use super::{Prepared, Training};
use crate::layout::{Layout, RowKind};
use crate::report::FitEstimate;
use crate::rng::Purpose;
use crate::table::{Buffer, SequenceTable, Values};
use crate::train::Task;
use bytemuck::Pod;

/// Floats that training keeps of a weight: itself, its gradient, Adam's two moments, the average.
const FLOATS_PER_WEIGHT: u64 = 5;
/// Floats that a step keeps of each number that a layer puts out: itself, what made it, its gradient, a mask.
const FLOATS_PER_OUTPUT: u64 = 4;
/// Bytes of a row while the table is put in order (key, index, the order) or a codec is fitted (whose it is, a step or
/// two), whichever comes at a time.
const ROW_BYTES: u64 = 24;
/// The same while a codec is fitted to a column where every number is another: itself, its counts, its knot.
const ROW_BYTES_OF_UNROUNDED: u64 = 60;
/// Bytes of a cell while the part of a column that it is in is read: as polars holds it, and as an exact whole number.
const CELL_BYTES: u64 = 40;
/// Cells of such a part, or as many as a row group has.
const PART_ROWS: u64 = 1 << 20;
/// Bytes of a sequence: where it begins, whose it is.
const SEQUENCE_BYTES: u64 = 12;
/// Bytes of a cell of a context column, encoded.
const CONTEXT_BYTES: u64 = 24;

impl Training<'_> {
    pub(super) fn estimate(&self, prepared: &Prepared) -> FitEstimate {
        let encoder = self.encoder();
        let split = self.split();
        let (context, sequence) = self.tasks(&encoder);
        let mut trainer = self.trainer(&sequence, &split, Purpose::SequenceTraining);
        let schedule = trainer.schedule();
        let (mut cells, mut rows, mut most_rows) = (0, 0, 0);
        for batch in trainer.epoch() {
            for step in 0..sequence.steps(&batch) {
                let lengths = sequence.lengths_of_step(&batch, step);
                cells += lengths.iter().max().unwrap_or(&0) * lengths.len();
                let rows_of_step = lengths.iter().sum::<usize>();
                rows += rows_of_step;
                most_rows = most_rows.max(rows_of_step);
            }
        }
        let weights = context.shape.plan().numel() + sequence.shape.plan().numel();
        let weights = u64::try_from(weights).unwrap_or(0);
        let outputs: i64 = sequence
            .shape
            .products(1)
            .iter()
            .map(|[matrices, _, _, columns]| matrices * columns)
            .sum();
        let outputs = u64::try_from(outputs).unwrap_or(0) * most_rows as u64;
        let tables = Bytes::of(prepared);
        let rows_at_work = prepared.table.rows() as u64;
        let work =
            row_bytes(&prepared.layout) * rows_at_work + CELL_BYTES * rows_at_work.min(PART_ROWS);
        let floats = weights * FLOATS_PER_WEIGHT + outputs * FLOATS_PER_OUTPUT;
        FitEstimate {
            rows: self.table.rows(),
            sequences: self.table.sequences(),
            weights: usize::try_from(weights).unwrap_or(0),
            steps_per_epoch: schedule.steps_per_epoch,
            most_epochs: schedule.most_epochs,
            padding: 1.0 - rows as f64 / cells.max(1) as f64,
            memory_bytes: tables.held + work + 4 * floats,
            mapped_bytes: tables.mapped,
        }
    }
}

/// What a row takes at most before it is trained on, besides the table.
fn row_bytes(layout: &Layout) -> u64 {
    let is_unrounded = layout.rows.iter().any(|column| match &column.kind {
        RowKind::Number(number) => {
            let codec = &number.whole;
            codec.continuous.is_some() && codec.grid.is_none() && codec.support.is_empty()
        }
        RowKind::Category(_) => false,
    });
    match is_unrounded {
        true => ROW_BYTES_OF_UNROUNDED,
        false => ROW_BYTES,
    }
}

/// What tables take, in memory and in files.
#[derive(Default)]
struct Bytes {
    held: u64,
    mapped: u64,
}

impl Bytes {
    fn of(prepared: &Prepared) -> Bytes {
        let mut bytes = Bytes::default();
        bytes.add_table(&prepared.table, |_| true);
        bytes.add(&prepared.table.row_numbers);
        let of_sequence = SEQUENCE_BYTES + CONTEXT_BYTES * prepared.layout.context.len() as u64;
        bytes.held += of_sequence * prepared.learned().sequences() as u64;
        if let Some(learned) = &prepared.learned {
            // Only distances are columns of their own.
            let pairs: Vec<_> = prepared.layout.reference_pairs().collect();
            bytes.add_table(learned, |at| pairs.iter().any(|pair| pair.column == at));
        }
        bytes
    }

    fn add_table(&mut self, table: &SequenceTable, is_counted: impl Fn(usize) -> bool) {
        for (_, values) in table
            .columns
            .iter()
            .enumerate()
            .filter(|(at, _)| is_counted(*at))
        {
            match values {
                Values::Numbers(numbers) => self.add(numbers),
                Values::Labels { codes, labels } => {
                    self.add(codes);
                    let texts = labels.iter().map(|label| size_of_val(label) + 16);
                    self.held += texts.sum::<usize>() as u64;
                }
            }
        }
    }

    fn add<T: Pod>(&mut self, cells: &Buffer<T>) {
        let bytes = size_of_val::<[T]>(cells) as u64;
        match cells.is_mapped() {
            true => self.mapped += bytes,
            false => self.held += bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::metadata::{Metadata, SdType};
    use crate::synthesizer::ParSynthesizer;
    use polars::df;

    fn estimate(lengths: &[usize]) -> crate::report::FitEstimate {
        let metadata = Metadata::builder()
            .column("key", SdType::Id { regex_format: None })
            .column("value", SdType::Numerical)
            .sequence_key("key")
            .build()
            .expect("metadata");
        let lengths = lengths.iter().enumerate();
        let keys: Vec<u64> = lengths
            .flat_map(|(key, &length)| std::iter::repeat_n(key as u64, length))
            .collect();
        let values: Vec<f64> = keys.iter().map(|&key| key as f64 / 3.0).collect();
        let table = df!("key" => keys, "value" => values).expect("a frame");
        let builder = ParSynthesizer::builder(metadata)
            .hidden_size(8)
            .validation_share(0.0);
        builder
            .seed(1)
            .batch_size(4)
            .estimate(&table)
            .expect("an estimate")
    }

    #[test]
    fn batches_hold_sequences_of_similar_lengths_so_that_little_is_padded() {
        // Batches of four alike have nothing to pad.
        assert_eq!(estimate(&[7; 40]).padding, 0.0);
        // The default batches of a real table, whose sequences have 1 to 71 rows.
        let metadata = Metadata::from_json_file("data/storms.metadata.json").expect("metadata");
        let storms = crate::read_csv("data/storms.csv", &metadata).expect("storms");
        let storms = ParSynthesizer::builder(metadata).seed(1).estimate(&storms);
        let padding = storms.expect("an estimate").padding;
        assert!(padding < 0.1, "{padding}");
        // In random order, a batch of four out of 1..=200 would be padded by about 40 %.
        let mixed: Vec<usize> = (1..=200).rev().collect();
        let padding = estimate(&mixed).padding;
        assert!(padding > 0.0 && padding < 0.1, "{padding}");
    }

    #[test]
    fn long_sequences_take_more_steps_and_no_more_memory_a_step() {
        let (short, long) = (estimate(&[128; 8]), estimate(&[1_280; 8]));
        assert_eq!((short.steps_per_epoch, long.steps_per_epoch), (2, 20));
        // A label, a number, its own number; and a part of a column.
        let of_rows = |rows: u64| rows * (4 + 8 + 4 + super::ROW_BYTES + super::CELL_BYTES);
        let more = long.memory_bytes - short.memory_bytes;
        // The labels of the keys, and what of the network follows from the lengths, are the same.
        assert_eq!(more, of_rows(8 * (1_280 - 128)));
    }
}
