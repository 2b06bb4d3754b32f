//! The sequence network: an LSTM over rows and a row decoder that fills a row column by column.
//! In: a sequence's context, the history of each row and, in training, the row itself. Out: hidden vectors for the
//! [`Decoder`]'s heads.
//!
//! ```text
//! x_t = [dropout(histories, context), position, calendar]      h_t = LSTM(x_t)
//! base = [dropout(h_t), context, position, calendar]
//! hidden_j = dropout(SiLU(base W + own history W_j + Σ_{i<j} current_i W_ij))
//! ```
//! In training all columns are computed at once, the sum over earlier columns by a block-triangular matrix; in
//! sampling the same weights are used column by column.

mod shape;
mod step;

use shape::earlier_mask;
pub(crate) use shape::{SequenceShape, Slot};
pub(crate) use step::{Step, StepInputs};

use super::decoder::Decoder;
use super::dropout::Mode;
use super::inputs::{ContextInputs, CurrentInputs, Padding, RowInputs};
use super::parameters::Parameters;
use super::{ModelError, Sizes, long, starts};
use crate::layout::{CURRENT_FEATURES, HISTORY_FEATURES};
use std::cell::OnceCell;
use step::StepWeights;
use tch::{Device, Kind, Tensor};

/// In training, rows whose calendar features are hidden, so that the network does not lean on single dates.
const CALENDAR_DROPOUT: f64 = 0.5;

/// The network, as views of its one weight buffer.
#[derive(Debug)]
pub(crate) struct SequenceNetwork {
    pub(crate) shape: SequenceShape,
    /// Of the weights, and of all that is multiplied with them.
    kind: Kind,
    lstm: Vec<Tensor>,
    context_number_weight: Tensor,
    context_category_table: Tensor,
    context_bias: Tensor,
    history_number_weight: Tensor,
    history_number_bias: Tensor,
    history_category_table: Tensor,
    current_number_weight: Tensor,
    current_number_bias: Tensor,
    current_category_table: Tensor,
    current_calendar_weight: Tensor,
    base_weight: Tensor,
    base_bias: Tensor,
    own_weight: Tensor,
    earlier_weight: Tensor,
    pub(crate) decoder: Decoder,
    indices: Indices,
    step_weights: OnceCell<StepWeights>,
}

/// Constant index tensors.
#[derive(Debug)]
struct Indices {
    context_offsets: Tensor,
    history_offsets: Tensor,
    current_offsets: Tensor,
    /// Row columns among numbers then categories.
    column_order: Tensor,
    /// The column of each head.
    column_of_head: Tensor,
}

/// The LSTM's memory: hidden and cell state, `[layers, sequences, hidden]` each.
#[derive(Debug)]
pub(crate) struct LstmState {
    hidden: Tensor,
    cell: Tensor,
}

impl LstmState {
    /// The state before any row.
    pub(crate) fn start(
        sizes: Sizes,
        sequences: i64,
        device: Device,
    ) -> Result<LstmState, ModelError> {
        let zeros = || {
            Tensor::f_zeros(
                [sizes.layers, sequences, sizes.hidden],
                (Kind::Float, device),
            )
        };
        Ok(LstmState {
            hidden: zeros()?,
            cell: zeros()?,
        })
    }

    /// The same with more sequences after those there are, `sequences` in all; they are before any row.
    pub(crate) fn join(&self, sequences: i64) -> Result<LstmState, ModelError> {
        let more = |state: &Tensor| -> Result<Tensor, ModelError> {
            let [layers, present, hidden] = state.size()[..] else {
                return Ok(state.shallow_clone());
            };
            let new = state.f_new_zeros(
                [layers, (sequences - present).max(0), hidden],
                (Kind::Float, state.device()),
            )?;
            Ok(Tensor::f_cat(&[state, &new], 1)?)
        };
        Ok(LstmState {
            hidden: more(&self.hidden)?,
            cell: more(&self.cell)?,
        })
    }

    /// The state of the first `sequences`, cut off from the steps that made it.
    pub(crate) fn detach_first(&self, sequences: i64) -> Result<LstmState, ModelError> {
        let cut = |state: &Tensor| state.f_detach()?.f_narrow(1, 0, sequences)?.f_contiguous();
        Ok(LstmState {
            hidden: cut(&self.hidden)?,
            cell: cut(&self.cell)?,
        })
    }

    /// The states of several groups of sequences, one after the other.
    pub(crate) fn side_by_side(states: &[LstmState]) -> Result<LstmState, ModelError> {
        let all = |part: fn(&LstmState) -> &Tensor| {
            Tensor::f_cat(&states.iter().map(part).collect::<Vec<_>>(), 1)
        };
        Ok(LstmState {
            hidden: all(|state| &state.hidden)?,
            cell: all(|state| &state.cell)?,
        })
    }

    /// The state of the sequences at some positions.
    pub(crate) fn keep(&self, positions: &Tensor) -> Result<LstmState, ModelError> {
        Ok(LstmState {
            hidden: self.hidden.f_index_select(1, positions)?,
            cell: self.cell.f_index_select(1, positions)?,
        })
    }
}

/// Features of a batch of rows that the LSTM and the heads share.
#[derive(Debug)]
pub(crate) struct RowFeatures {
    /// `[rows, columns, embedding]`
    histories: Tensor,
    /// `[rows, columns, embedding + history features]`
    own: Tensor,
    /// `[rows, CONTEXT_WIDTH]`
    context: Tensor,
    /// `[rows, place]`
    place: Tensor,
}

impl SequenceNetwork {
    /// Views of a parameter buffer.
    pub(crate) fn new(
        shape: &SequenceShape,
        parameters: &Parameters,
    ) -> Result<SequenceNetwork, ModelError> {
        let mut views = parameters.views()?.into_iter();
        let layers = usize::try_from(shape.sizes.layers).unwrap_or(0);
        let lstm: Vec<Tensor> = views.by_ref().take(4 * layers).collect();
        // The buffer holds all matrices, then all biases; the operator wants them layer by layer.
        let lstm = (0..layers)
            .flat_map(|layer| {
                [
                    2 * layer,
                    2 * layer + 1,
                    2 * layers + 2 * layer,
                    2 * layers + 2 * layer + 1,
                ]
            })
            .map(|at| lstm[at].shallow_clone())
            .collect();
        let mut next = || {
            views.next().ok_or(ModelError::Shape {
                what: "sequence network weights",
                found: vec![],
                wanted: vec![1],
            })
        };
        Ok(SequenceNetwork {
            shape: shape.clone(),
            kind: parameters.flat().kind(),
            lstm,
            context_number_weight: next()?,
            context_category_table: next()?,
            context_bias: next()?,
            history_number_weight: next()?,
            history_number_bias: next()?,
            history_category_table: next()?,
            current_number_weight: next()?,
            current_number_bias: next()?,
            current_category_table: next()?,
            current_calendar_weight: next()?,
            base_weight: next()?,
            base_bias: next()?,
            own_weight: next()?,
            earlier_weight: {
                let mask = earlier_mask(shape, parameters.flat().device())?;
                next()?.f_mul(&mask.f_to_kind(parameters.flat().kind())?)?
            },
            decoder: Decoder::new(&shape.decoder, &mut views)?,
            indices: Indices::new(shape, parameters.flat().device())?,
            step_weights: OnceCell::new(),
        })
    }

    /// The context as one vector a sequence, `[sequences, CONTEXT_WIDTH]`.
    pub(crate) fn context(&self, inputs: &ContextInputs) -> Result<Tensor, ModelError> {
        let numbers = inputs
            .numbers
            .f_to_kind(self.kind)?
            .f_matmul(&self.context_number_weight)?
            .f_add(&self.context_bias)?;
        if self.shape.context_classes.is_empty() {
            return Ok(numbers);
        }
        let classes = lookup(
            &self.context_category_table,
            &inputs.categories,
            &self.indices.context_offsets,
        )?;
        Ok(numbers.f_add(&classes.f_sum_dim_intlist(1, false, self.kind)?)?)
    }

    /// Embeds histories and places; `context` `[rows, CONTEXT_WIDTH]` is repeated for the rows of a sequence.
    pub(crate) fn features(
        &self,
        inputs: &RowInputs,
        context: Tensor,
        calendar_mask: Option<&Tensor>,
    ) -> Result<RowFeatures, ModelError> {
        let rows = inputs.position.size()[0];
        let numbers = inputs.history_numbers.f_to_kind(self.kind)?.f_view([
            rows,
            self.shape.numbers,
            long(HISTORY_FEATURES),
        ])?;
        let embedded = by_column(
            &numbers,
            &self.history_number_weight,
            &self.history_number_bias,
        )?;
        let categories = lookup(
            &self.history_category_table,
            &inputs.history_categories,
            &self.indices.history_offsets,
        )?;
        let histories = self.in_column_order(&embedded, &categories)?;
        let padding = categories.f_new_zeros(
            [rows, long(self.shape.classes.len()), long(HISTORY_FEATURES)],
            (self.kind, categories.device()),
        )?;
        let own = Tensor::f_cat(&[&histories, &self.in_column_order(&numbers, &padding)?], 2)?;
        let calendar = match calendar_mask {
            Some(mask) => inputs.calendar_before.f_mul(mask)?,
            None => inputs.calendar_before.shallow_clone(),
        };
        let place = Tensor::f_cat(&[&inputs.position, &calendar], 1)?.f_to_kind(self.kind)?;
        Ok(RowFeatures {
            histories,
            own,
            context,
            place,
        })
    }

    fn in_column_order(&self, numbers: &Tensor, categories: &Tensor) -> Result<Tensor, ModelError> {
        Ok(Tensor::f_cat(&[numbers, categories], 1)?
            .f_index_select(1, &self.indices.column_order)?)
    }

    /// What the LSTM reads, `[rows, input]`.
    pub(crate) fn lstm_input(
        &self,
        features: &RowFeatures,
        mode: &mut Mode<'_>,
    ) -> Result<Tensor, ModelError> {
        let histories = features.histories.f_flatten(1, 2)?;
        let dropped = mode.dropout(&Tensor::f_cat(&[&histories, &features.context], 1)?)?;
        Ok(Tensor::f_cat(&[&dropped, &features.place], 1)?)
    }

    /// Runs the LSTM over padded steps: `[steps, sequences, input]` to `[steps, sequences, hidden]`.
    /// cuDNN keeps what a backward pass needs only when told that the network `trains`; the numbers are the same.
    pub(crate) fn lstm(
        &self,
        input: &Tensor,
        state: &LstmState,
        trains: bool,
    ) -> Result<(Tensor, LstmState), ModelError> {
        let layers = self.shape.sizes.layers;
        let (output, hidden, cell) = input.f_lstm(
            &[
                &state.hidden.f_to_kind(self.kind)?,
                &state.cell.f_to_kind(self.kind)?,
            ],
            &self.lstm.iter().collect::<Vec<_>>(),
            true,
            layers,
            0.0,
            trains,
            false,
            false,
        )?;
        Ok((output, LstmState { hidden, cell }))
    }

    /// What all heads share and what each knows of its own column's past, before the row's values:
    /// `[heads, rows, head width]`.
    pub(crate) fn before_row(
        &self,
        lstm_output: &Tensor,
        features: &RowFeatures,
    ) -> Result<Tensor, ModelError> {
        let base = Tensor::f_cat(&[lstm_output, &features.context, &features.place], 1)?;
        let shared = self.base_bias.f_addmm(&base, &self.base_weight)?; // [rows, heads × width]
        let own = features
            .own
            .f_transpose(0, 1)?
            .f_index_select(0, &self.indices.column_of_head)?; // [heads, rows, own]
        Ok(self
            .by_head(&shared)?
            .f_baddbmm(&own, &self.own_weight, 1.0, 1.0)?)
    }

    fn by_head(&self, matrix: &Tensor) -> Result<Tensor, ModelError> {
        let rows = matrix.size()[0];
        Ok(matrix
            .f_view([rows, self.shape.heads(), self.shape.sizes.head])?
            .f_transpose(0, 1)?)
    }

    /// Embeds the values of whole rows, `[rows, columns × embedding]`.
    fn current(
        &self,
        inputs: &CurrentInputs,
        calendar_mask: Option<&Tensor>,
    ) -> Result<Tensor, ModelError> {
        let rows = inputs.numbers.size()[0];
        let numbers = inputs.numbers.f_to_kind(self.kind)?.f_view([
            rows,
            self.shape.numbers,
            long(CURRENT_FEATURES),
        ])?;
        let numbers = by_column(
            &numbers,
            &self.current_number_weight,
            &self.current_number_bias,
        )?;
        let categories = lookup(
            &self.current_category_table,
            &inputs.categories,
            &self.indices.current_offsets,
        )?;
        let all = self
            .in_column_order(&numbers, &categories)?
            .f_flatten(1, 2)?;
        if !self.shape.has_gap {
            return Ok(all);
        }
        // The row's own date joins the gap, which is the first column.
        let calendar = match calendar_mask {
            Some(mask) => inputs.calendar.f_mul(mask)?,
            None => inputs.calendar.shallow_clone(),
        };
        let embedding = self.shape.sizes.embedding;
        let date = calendar
            .f_to_kind(self.kind)?
            .f_matmul(&self.current_calendar_weight)?;
        let others = all.f_narrow(1, embedding, all.size()[1] - embedding)?;
        Ok(Tensor::f_cat(
            &[&all.f_narrow(1, 0, embedding)?.f_add(&date)?, &others],
            1,
        )?)
    }

    /// Hidden vectors of all heads with the row known: `[heads, rows, head width]`, and the LSTM's state after it.
    pub(crate) fn teacher_forced(
        &self,
        context: &ContextInputs,
        rows: &RowInputs,
        current: &CurrentInputs,
        padding: &Padding,
        state: &LstmState,
        mode: &mut Mode<'_>,
    ) -> Result<(Tensor, LstmState), ModelError> {
        let count = rows.position.size()[0];
        let calendar_mask = if self.shape.calendar > 0 {
            mode.row_mask(count, CALENDAR_DROPOUT)?
        } else {
            None
        };
        let calendar_mask = calendar_mask
            .map(|mask| mask.f_to_device(rows.position.device()))
            .transpose()?;
        let context = self
            .context(context)?
            .f_index_select(0, &padding.sequence_of_row)?;
        let features = self.features(rows, context, calendar_mask.as_ref())?;
        let input = self.lstm_input(&features, mode)?;
        let empty = input.f_new_zeros([1, input.size()[1]], (self.kind, input.device()))?;
        let padded = Tensor::f_cat(&[input, empty], 0)?
            .f_index_select(0, &padding.row_of_cell)?
            .f_view([padding.steps, padding.sequences, self.shape.lstm_input()])?;
        let (output, state) = self.lstm(&padded, state, matches!(mode, Mode::Train { .. }))?;
        let output = output
            .f_view([-1, self.shape.sizes.hidden])?
            .f_index_select(0, &padding.cell_of_row)?;
        let before = self.before_row(&mode.dropout(&output)?, &features)?;
        let earlier = self
            .current(current, calendar_mask.as_ref())?
            .f_matmul(&self.earlier_weight)?;
        let hidden = before.f_add(&self.by_head(&earlier)?)?.f_silu()?;
        Ok((mode.dropout(&hidden)?, state))
    }

    /// The hidden vector of one head, `[rows, head width]`, given the embedded values of the columns before its own.
    /// # Shapes
    /// `before` as of [`SequenceNetwork::before_row`], `current` `[rows, columns × embedding]`, filled up to the column.
    pub(crate) fn head(
        &self,
        head: usize,
        before: &Tensor,
        current: &Tensor,
    ) -> Result<Tensor, ModelError> {
        let before = before.f_select(0, long(head))?;
        let filled = long(self.shape.decoder.heads[head].column) * self.shape.sizes.embedding;
        if filled == 0 {
            return Ok(before.f_silu()?);
        }
        let width = self.shape.sizes.head;
        let weight =
            self.earlier_weight
                .f_narrow(0, 0, filled)?
                .f_narrow(1, long(head) * width, width)?;
        Ok(before
            .f_addmm(&current.f_narrow(1, 0, filled)?, &weight)?
            .f_silu_()?)
    }

    /// Embeds the numbers of one column, `[rows, embedding]`; `calendar` is the row's own date for the gap.
    pub(crate) fn embed_number(
        &self,
        slot: usize,
        features: &Tensor,
        calendar: Option<&Tensor>,
    ) -> Result<Tensor, ModelError> {
        let weight = self.current_number_weight.f_select(0, long(slot))?;
        let bias = self.current_number_bias.f_select(0, long(slot))?;
        let embedded = bias.f_addmm(features, &weight)?;
        match calendar {
            Some(calendar) => Ok(embedded.f_addmm(calendar, &self.current_calendar_weight)?),
            None => Ok(embedded),
        }
    }

    /// Embeds the classes of one category column, `[rows, embedding]`.
    pub(crate) fn embed_category(
        &self,
        slot: usize,
        classes: &Tensor,
    ) -> Result<Tensor, ModelError> {
        let offset: i64 = self.shape.classes[..slot].iter().sum();
        Ok(self
            .current_category_table
            .f_index_select(0, &classes.f_add_scalar(offset)?)?)
    }
}

/// A linear map a column: `[rows, columns, in]` to `[rows, columns, out]`.
fn by_column(features: &Tensor, weight: &Tensor, bias: &Tensor) -> Result<Tensor, ModelError> {
    Ok(features
        .f_transpose(0, 1)?
        .f_matmul(weight)?
        .f_add(bias)?
        .f_transpose(0, 1)?)
}

/// Rows of a table shared by several category columns: `[rows, columns]` to `[rows, columns, width]`.
fn lookup(table: &Tensor, classes: &Tensor, offsets: &Tensor) -> Result<Tensor, ModelError> {
    let shape = classes.size();
    let flat = classes.f_add(offsets)?.f_view([-1])?;
    Ok(table
        .f_index_select(0, &flat)?
        .f_view([shape[0], shape[1], table.size()[1]])?)
}

impl Indices {
    fn new(shape: &SequenceShape, device: Device) -> Result<Indices, ModelError> {
        let tensor = |values: &[i64]| -> Result<Tensor, ModelError> {
            Ok(Tensor::f_from_slice(values)?.f_to_device(device)?)
        };
        let order: Vec<i64> = shape
            .slots
            .iter()
            .map(|slot| match slot {
                Slot::Number(at) => long(*at),
                Slot::Category(at) => shape.numbers + long(*at),
            })
            .collect();
        let columns: Vec<i64> = shape
            .decoder
            .heads
            .iter()
            .map(|head| long(head.column))
            .collect();
        Ok(Indices {
            context_offsets: tensor(&starts(&shape.context_classes, 0))?,
            history_offsets: tensor(&starts(&shape.classes, 1))?,
            current_offsets: tensor(&starts(&shape.classes, 0))?,
            column_order: tensor(&order)?,
            column_of_head: tensor(&columns)?,
        })
    }
}
