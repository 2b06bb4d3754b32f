//! What a fit will take, from what is known before it trains.

use super::{Prepared, Training, sizes};
use crate::model::sequence::SequenceShape;
use crate::report::FitEstimate;
use crate::rng::Purpose;
use crate::table::{SequenceTable, Values};

/// Floats that training keeps of a weight: itself, its gradient, Adam's two moments, the average.
const FLOATS_PER_WEIGHT: u64 = 5;
/// Floats that a step keeps of each number that a layer puts out: itself, what made it, its gradient, a mask.
const FLOATS_PER_OUTPUT: u64 = 4;
/// Bytes of a row while the table is put in order: ranks of key and index, room to sort, the order.
const ORDER_BYTES: u64 = 56;
/// Bytes of a cell while its column is read: as polars holds it, and as an exact whole number.
const CELL_BYTES: u64 = 40;

impl Training<'_> {
    pub(super) fn estimate(&self, prepared: &Prepared) -> FitEstimate {
        let encoder = self.encoder();
        let split = self.split();
        let (context, sequence) = self.tasks(&encoder);
        let mut trainer = self.trainer(&sequence, &split, Purpose::SequenceTraining);
        let (schedule, batch_size) = (trainer.schedule(), trainer.batch_size());
        let weights = context.shape.plan().numel() + sequence.shape.plan().numel();
        let weights = u64::try_from(weights).unwrap_or(0);
        let rows_of_step = sequence.most_rows_of_step(batch_size);
        let shape = SequenceShape::new(self.layout, sizes(self.options));
        let outputs: i64 = shape
            .products(1)
            .iter()
            .map(|[matrices, _, _, columns]| matrices * columns)
            .sum();
        let outputs = u64::try_from(outputs).unwrap_or(0) * rows_of_step as u64;
        let tables = bytes(&prepared.table) + prepared.learned.as_ref().map_or(0, bytes);
        let order = (ORDER_BYTES + CELL_BYTES) * prepared.table.rows() as u64;
        let floats = weights * FLOATS_PER_WEIGHT + outputs * FLOATS_PER_OUTPUT;
        FitEstimate {
            rows: self.table.rows(),
            sequences: self.table.sequences(),
            weights: usize::try_from(weights).unwrap_or(0),
            steps_per_epoch: schedule.steps_per_epoch,
            most_epochs: schedule.most_epochs,
            memory_bytes: tables + order + 4 * floats,
        }
    }
}

/// What a table holds.
fn bytes(table: &SequenceTable) -> u64 {
    let of_columns = table.columns.iter().map(|values| match values {
        Values::Numbers(numbers) => 8 * numbers.len(),
        Values::Labels { codes, labels } => {
            let texts = labels.iter().map(|label| std::mem::size_of_val(label) + 16);
            4 * codes.len() + texts.sum::<usize>()
        }
    });
    let of_rows = 8 * table.rows() + 12 * table.sequences();
    (of_columns.sum::<usize>() + of_rows) as u64
}
