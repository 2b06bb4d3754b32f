//! The two training tasks: which losses the context network and the sequence network are trained on.
//! In: an [`Encoder`] and a network's shape. Out: [`BatchLoss`]es for the trainer, or the same losses unit by unit as
//! log-likelihoods.

use crate::encode::{EncodedRows, Encoder};
use crate::history::History;
use crate::layout::{ContextSource, Layout, RowSource};
use crate::model::context::{ContextNetwork, ContextShape, visibility};
use crate::model::decoder::TargetTensors;
use crate::model::dropout::Mode;
use crate::model::inputs::{
    ContextInputs, CurrentInputs, Padding, RowInputs, single_rows, to_doubles,
};
use crate::model::parameters::{Parameters, Plan};
use crate::model::sequence::{LstmState, SequenceNetwork, SequenceShape};
use crate::model::{ModelError, long};
use crate::report::Stage;
use crate::train::{BatchLoss, Task};
use ndarray::{Array2, Axis};
use std::ops::Range;
use tch::{Device, Kind, Tensor};

/// Longer sequences are trained in parts of this many rows, the LSTM's state carried over (truncated
/// back-propagation through time, Williams and Peng 1990), so that memory does not grow with their length.
const ROWS_PER_STEP: usize = 128;
/// Contexts and rows that log-likelihoods are computed for at once: as many rows as a large training batch has.
const CONTEXTS_AT_ONCE: usize = 256;
const ROWS_AT_ONCE: usize = 4_096;

/// The weights a network is made of: in the kind that training multiplies in while it trains, else as they are.
fn weights(parameters: &Parameters, mode: &Mode<'_>, kind: Kind) -> Result<Parameters, ModelError> {
    match mode {
        Mode::Train { .. } => parameters.cast(kind),
        Mode::Use => Ok(parameters.share()),
    }
}

/// The losses of one step of a batch, before they are summed.
struct UnitLosses {
    /// Negative log-likelihoods in nats, without log densities, `[heads, units]`
    losses: Tensor,
    /// `[units, heads]`
    log_densities: Array2<f32>,
    /// The rows (or sequences) of the table that the units are, in order.
    ranges: Vec<Range<usize>>,
}

impl UnitLosses {
    fn batch_loss(&self) -> Result<BatchLoss, ModelError> {
        let densities = self.log_densities.columns().into_iter();
        Ok(BatchLoss {
            sums: self.losses.f_sum_dim_intlist(1, false, Kind::Float)?,
            log_densities: densities
                .map(|head| head.iter().map(|&nats| f64::from(nats)).sum())
                .collect(),
            units: self.log_densities.nrows(),
        })
    }

    /// Writes the log-likelihood of each unit, in nats, to the unit's place.
    fn write_nats(&self, nats: &mut [f64]) -> Result<(), ModelError> {
        let losses = to_doubles(&self.losses.f_sum_dim_intlist(0, false, Kind::Double)?)?; // [units]
        let units = self.ranges.iter().cloned().flatten();
        for ((unit, loss), densities) in units.zip(losses).zip(self.log_densities.rows()) {
            nats[unit] = densities.iter().map(|&nats| f64::from(nats)).sum::<f64>() - loss;
        }
        Ok(())
    }
}

/// Training of the context network.
pub(crate) struct ContextTask<'a> {
    pub(crate) encoder: &'a Encoder<'a>,
    pub(crate) shape: ContextShape,
    pub(crate) columns: Vec<String>,
    pub(crate) device: Device,
    /// Of the matrix products in training.
    pub(crate) kind: Kind,
}

impl ContextTask<'_> {
    fn unit_losses(
        &self,
        parameters: &Parameters,
        batch: &[usize],
        mut mode: Mode<'_>,
    ) -> Result<UnitLosses, ModelError> {
        let parameters = weights(parameters, &mode, self.kind)?;
        let network = ContextNetwork::new(&self.shape, &parameters)?;
        let context = &self.encoder.context;
        let ranges = single_rows(batch);
        let inputs = ContextInputs::new(context, batch, self.device)?;
        let targets = TargetTensors::new(&context.targets, None, &ranges, self.device)?;
        let generator = match &mut mode {
            Mode::Train { generator, .. } => Some(&mut **generator),
            Mode::Use => None,
        };
        let visible = visibility(batch.len(), self.shape.slots.len(), generator, self.device)?;
        let hidden = network.hidden(&inputs, &visible, &mut mode)?;
        Ok(UnitLosses {
            losses: network.decoder.losses(&hidden, &targets)?,
            log_densities: context.targets.log_density.select(Axis(0), batch),
            ranges,
        })
    }

    /// The log-likelihood of each sequence's context, in nats.
    pub(crate) fn nats(&self, parameters: &Parameters) -> Result<Vec<f64>, ModelError> {
        let sequences: Vec<usize> = (0..self.encoder.sequences()).collect();
        let mut nats = vec![0.0; sequences.len()];
        for batch in sequences.chunks(CONTEXTS_AT_ONCE) {
            self.unit_losses(parameters, batch, Mode::Use)?
                .write_nats(&mut nats)?;
        }
        Ok(nats)
    }
}

impl Task for ContextTask<'_> {
    type Carry = ();

    fn stage(&self) -> Stage {
        Stage::Context
    }

    fn keeps_last(&self) -> bool {
        false
    }

    fn plan(&self) -> Plan {
        self.shape.plan()
    }

    fn head_columns(&self) -> Vec<String> {
        self.columns.clone()
    }

    fn units(&self, _sequence: usize) -> usize {
        1
    }

    fn steps(&self, _batch: &[usize]) -> usize {
        1
    }

    fn loss(
        &self,
        parameters: &Parameters,
        batch: &[usize],
        _step: usize,
        _carry: &mut Option<()>,
        mode: Mode<'_>,
    ) -> Result<BatchLoss, ModelError> {
        self.unit_losses(parameters, batch, mode)?.batch_loss()
    }
}

/// What a part of long sequences hands on to the next.
pub(crate) struct Carry {
    state: LstmState,
    /// By sequence of the batch.
    histories: Vec<History>,
}

/// Training of the sequence network.
pub(crate) struct SequenceTask<'a> {
    pub(crate) encoder: &'a Encoder<'a>,
    pub(crate) shape: SequenceShape,
    pub(crate) columns: Vec<String>,
    pub(crate) device: Device,
    /// Of the matrix products in training.
    pub(crate) kind: Kind,
}

impl SequenceTask<'_> {
    /// Rows of each sequence that has any in a step of a batch.
    pub(crate) fn lengths_of_step(&self, batch: &[usize], step: usize) -> Vec<usize> {
        let parts = self.part(batch, step);
        parts.iter().map(ExactSizeIterator::len).collect()
    }

    /// The sequences that still have rows in a step, which are the first of a batch sorted by length, and those rows.
    fn part(&self, batch: &[usize], step: usize) -> Vec<Range<usize>> {
        batch
            .iter()
            .map(|&sequence| {
                let Range { start, end } = self.encoder.range(sequence);
                let from = (start + step * ROWS_PER_STEP).min(end);
                from..(from + ROWS_PER_STEP).min(end)
            })
            .take_while(|rows| !rows.is_empty())
            .collect()
    }

    fn unit_losses(
        &self,
        parameters: &Parameters,
        batch: &[usize],
        step: usize,
        carry: &mut Option<Carry>,
        mode: Mode<'_>,
    ) -> Result<UnitLosses, ModelError> {
        let ranges = self.part(batch, step);
        let batch = &batch[..ranges.len()];
        let (state, mut histories) = match carry.take() {
            Some(Carry { state, histories }) => (state.detach_first(long(batch.len()))?, histories),
            None => (
                LstmState::start(self.shape.sizes, long(batch.len()), self.device)?,
                self.encoder.histories(batch.len()),
            ),
        };
        histories.truncate(batch.len());
        let rows = self.encoder.rows(batch, &ranges, &mut histories);
        let lengths: Vec<usize> = ranges.iter().map(ExactSizeIterator::len).collect();
        let (losses, state) = self.losses(parameters, batch, &lengths, &rows, &state, mode)?;
        *carry = Some(Carry { state, histories });
        Ok(UnitLosses {
            losses,
            log_densities: rows.targets.log_density,
            ranges,
        })
    }

    /// Negative log-likelihoods of encoded rows, so many of each sequence, `[heads, rows]`, and the state after them.
    pub(crate) fn losses(
        &self,
        parameters: &Parameters,
        sequences: &[usize],
        lengths: &[usize],
        rows: &EncodedRows,
        state: &LstmState,
        mut mode: Mode<'_>,
    ) -> Result<(Tensor, LstmState), ModelError> {
        let parameters = weights(parameters, &mode, self.kind)?;
        let network = SequenceNetwork::new(&self.shape, &parameters)?;
        let all = 0..lengths.iter().sum();
        let all = std::slice::from_ref(&all);
        let (hidden, state) = network.teacher_forced(
            &ContextInputs::new(&self.encoder.context, sequences, self.device)?,
            &RowInputs::new(rows, all, self.device)?,
            &CurrentInputs::new(rows, all, self.device)?,
            &Padding::new(lengths, self.device)?,
            state,
            &mut mode,
        )?;
        let targets = TargetTensors::new(&rows.targets, Some(&rows.skip), all, self.device)?;
        Ok((network.decoder.losses(&hidden, &targets)?, state))
    }

    /// The log-likelihood of each row given its context and the rows before it, in nats.
    pub(crate) fn nats(&self, parameters: &Parameters) -> Result<Vec<f64>, ModelError> {
        let mut nats = vec![0.0; self.encoder.all_rows()];
        // Rows of nothing but ids have no head, and nothing to tell.
        if self.shape.decoder.heads.is_empty() {
            return Ok(nats);
        }
        for batch in self.batches() {
            let mut carry = None;
            for step in 0..self.steps(&batch) {
                self.unit_losses(parameters, &batch, step, &mut carry, Mode::Use)?
                    .write_nats(&mut nats)?;
            }
        }
        Ok(nats)
    }

    /// All sequences, longest first, in batches of which no step has more than [`ROWS_AT_ONCE`] rows.
    fn batches(&self) -> Vec<Vec<usize>> {
        let mut order: Vec<usize> = (0..self.encoder.sequences()).collect();
        order.sort_by_key(|&sequence| (std::cmp::Reverse(self.units(sequence)), sequence));
        let mut batches: Vec<Vec<usize>> = Vec::new();
        let mut room = 0;
        for sequence in order {
            let rows = self.units(sequence).min(ROWS_PER_STEP);
            if rows > room {
                batches.push(Vec::new());
                room = ROWS_AT_ONCE;
            }
            room -= rows;
            if let Some(batch) = batches.last_mut() {
                batch.push(sequence);
            }
        }
        batches
    }
}

impl Task for SequenceTask<'_> {
    type Carry = Carry;

    fn stage(&self) -> Stage {
        Stage::Sequence
    }

    /// What whole sequences look like goes on being learned when single held-out rows no longer gain from it
    /// (benches/fidelity/README.md measures both).
    fn keeps_last(&self) -> bool {
        true
    }

    fn plan(&self) -> Plan {
        self.shape.plan()
    }

    fn head_columns(&self) -> Vec<String> {
        self.columns.clone()
    }

    fn units(&self, sequence: usize) -> usize {
        self.encoder.range(sequence).len()
    }

    fn steps(&self, batch: &[usize]) -> usize {
        batch
            .iter()
            .map(|&sequence| self.units(sequence).div_ceil(ROWS_PER_STEP))
            .max()
            .unwrap_or(0)
    }

    fn loss(
        &self,
        parameters: &Parameters,
        batch: &[usize],
        step: usize,
        carry: &mut Option<Carry>,
        mode: Mode<'_>,
    ) -> Result<BatchLoss, ModelError> {
        self.unit_losses(parameters, batch, step, carry, mode)?
            .batch_loss()
    }
}

/// The name of each context column, as losses are reported.
pub(crate) fn context_names(layout: &Layout, name: impl Fn(usize) -> String) -> Vec<String> {
    let of = |source| match source {
        ContextSource::Column(column) => name(column),
        ContextSource::TimeOfDay => "(time of day)".to_owned(),
        ContextSource::Start => "(start)".to_owned(),
        ContextSource::EndsWithTable => "(ends with table)".to_owned(),
        ContextSource::Length => "(length)".to_owned(),
    };
    layout
        .context
        .iter()
        .map(|column| of(column.source))
        .collect()
}

/// The name of each row column, as losses are reported.
pub(crate) fn row_names(layout: &Layout, name: impl Fn(usize) -> String) -> Vec<String> {
    let of = |source| match source {
        RowSource::Gap => "(gap)".to_owned(),
        RowSource::Column(column) => name(column),
    };
    layout.rows.iter().map(|column| of(column.source)).collect()
}

/// The column name of each row head.
pub(crate) fn row_head_names(layout: &Layout, name: impl Fn(usize) -> String) -> Vec<String> {
    let names = row_names(layout, name);
    layout
        .row_heads()
        .iter()
        .map(|head| names[head.column].clone())
        .collect()
}
