//! The two training tasks: which losses the context network and the sequence network are trained on.
//! In: [`Encoded`] and a network's shape. Out: [`BatchLoss`]es for the trainer.

use crate::encode::Encoded;
use crate::layout::{ContextSource, Layout, RowSource};
use crate::model::ModelError;
use crate::model::context::{ContextNetwork, ContextShape, visibility};
use crate::model::decoder::TargetTensors;
use crate::model::dropout::Mode;
use crate::model::inputs::{
    ContextInputs, CurrentInputs, Padding, RowInputs, log_density_sums, single_rows,
};
use crate::model::parameters::{Parameters, Plan};
use crate::model::sequence::{LstmState, SequenceNetwork, SequenceShape};
use crate::report::Stage;
use crate::train::{BatchLoss, Task};
use std::ops::Range;
use tch::{Device, Kind};

/// Longer sequences are trained in parts of this many rows, the LSTM's state carried over (truncated
/// back-propagation through time, Williams and Peng 1990), so that memory does not grow with their length.
const ROWS_PER_STEP: usize = 128;

/// Training of the context network.
pub(crate) struct ContextTask<'a> {
    pub(crate) encoded: &'a Encoded,
    pub(crate) shape: ContextShape,
    pub(crate) columns: Vec<String>,
    pub(crate) device: Device,
}

impl Task for ContextTask<'_> {
    type Carry = ();

    fn stage(&self) -> Stage {
        Stage::Context
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
        mut mode: Mode<'_>,
    ) -> Result<BatchLoss, ModelError> {
        let network = ContextNetwork::new(&self.shape, parameters)?;
        let context = &self.encoded.context;
        let ranges = single_rows(batch);
        let inputs = ContextInputs::new(context, batch, self.device)?;
        let targets = TargetTensors::new(&context.targets, None, &ranges, self.device)?;
        let generator = match &mut mode {
            Mode::Train { generator, .. } => Some(&mut **generator),
            Mode::Use => None,
        };
        let visible = visibility(batch.len(), self.shape.slots.len(), generator, self.device)?;
        let hidden = network.hidden(&inputs, &visible, &mut mode)?;
        let losses = network.decoder.losses(&hidden, &targets)?;
        Ok(BatchLoss {
            sums: losses.f_sum_dim_intlist(1, false, Kind::Float)?,
            log_densities: log_density_sums(&context.targets, &ranges),
            units: batch.len(),
        })
    }
}

/// Training of the sequence network.
pub(crate) struct SequenceTask<'a> {
    pub(crate) encoded: &'a Encoded,
    pub(crate) shape: SequenceShape,
    pub(crate) columns: Vec<String>,
    pub(crate) device: Device,
}

impl SequenceTask<'_> {
    /// The sequences that still have rows in a step, which are the first of a batch sorted by length, and those rows.
    fn part(&self, batch: &[usize], step: usize) -> Vec<Range<usize>> {
        batch
            .iter()
            .map(|&sequence| {
                let (start, end) = (
                    self.encoded.offsets[sequence],
                    self.encoded.offsets[sequence + 1],
                );
                let from = (start + step * ROWS_PER_STEP).min(end);
                from..(from + ROWS_PER_STEP).min(end)
            })
            .take_while(|rows| !rows.is_empty())
            .collect()
    }
}

impl Task for SequenceTask<'_> {
    type Carry = LstmState;

    fn stage(&self) -> Stage {
        Stage::Sequence
    }

    fn plan(&self) -> Plan {
        self.shape.plan()
    }

    fn head_columns(&self) -> Vec<String> {
        self.columns.clone()
    }

    fn units(&self, sequence: usize) -> usize {
        self.encoded.length(sequence)
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
        carry: &mut Option<LstmState>,
        mut mode: Mode<'_>,
    ) -> Result<BatchLoss, ModelError> {
        let network = SequenceNetwork::new(&self.shape, parameters)?;
        let ranges = self.part(batch, step);
        let lengths: Vec<usize> = ranges.iter().map(ExactSizeIterator::len).collect();
        let encoded = &self.encoded.rows;
        let padding = Padding::new(&lengths, self.device)?;
        let state = match carry.take() {
            Some(state) => state.detach_first(padding.sequences)?,
            None => LstmState::start(self.shape.sizes, padding.sequences, self.device)?,
        };
        let (hidden, state) = network.teacher_forced(
            &ContextInputs::new(&self.encoded.context, &batch[..ranges.len()], self.device)?,
            &RowInputs::new(encoded, &ranges, self.device)?,
            &CurrentInputs::new(encoded, &ranges, self.device)?,
            &padding,
            &state,
            &mut mode,
        )?;
        *carry = Some(state);
        let targets =
            TargetTensors::new(&encoded.targets, Some(&encoded.skip), &ranges, self.device)?;
        let losses = network.decoder.losses(&hidden, &targets)?;
        Ok(BatchLoss {
            sums: losses.f_sum_dim_intlist(1, false, Kind::Float)?,
            log_densities: log_density_sums(&encoded.targets, &ranges),
            units: lengths.iter().sum(),
        })
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

/// The column name of each row head, as losses are reported.
pub(crate) fn row_head_names(layout: &Layout, name: impl Fn(usize) -> String) -> Vec<String> {
    let of = |source| match source {
        RowSource::Gap => "(gap)".to_owned(),
        RowSource::Column(column) => name(column),
    };
    layout
        .row_heads()
        .iter()
        .map(|head| of(layout.rows[head.column].source))
        .collect()
}
