//! One row of all sequences at work, column after column, as it is sampled: the network of [`SequenceNetwork`] with
//! the weights that a head needs below each other, in buffers that every row uses again.
//! In: what the network reads before the row, and the row's values as they are drawn. Out: what each head says.
//!
//! ```text
//! known    = [LSTM output, context, position, calendar, 1, values of the columns before j]
//! hidden_j = SiLU(known W_j + own history V_j)
//! ```
//! `W_j` is made of `base_weight`, `base_bias` and `earlier_weight`, so that one product does the work of three.

use super::{LstmState, SequenceNetwork, Slot};
use crate::layout::{CURRENT_FEATURES, HISTORY_FEATURES, Head};
use crate::model::decoder::{HeadOutput, to_host};
use crate::model::inputs::{class_tensor, float_tensor};
use crate::model::{CONTEXT_WIDTH, ModelError, long};
use tch::{Device, Kind, Tensor};

/// Weights as a row needs them, copied once from the network's.
#[derive(Debug)]
pub(super) struct StepWeights {
    heads: Vec<HeadWeights>,
    /// By number column, `[HISTORY_FEATURES, embedding]`, then the bias.
    history_numbers: Vec<Vec<f32>>,
    /// By category column, `[classes + 1, embedding]`
    history_categories: Vec<Vec<f32>>,
}

#[derive(Debug)]
struct HeadWeights {
    /// `[base + 1 + columns before × embedding, head width]`
    known: Tensor,
    /// `[features of the column's history, head width]`
    own: Tensor,
}

/// What the network reads before a row, on the host, sequence after sequence.
#[derive(Debug, Default)]
pub(crate) struct StepInputs {
    /// `[sequences, number columns × HISTORY_FEATURES]`
    pub(crate) history_numbers: Vec<f32>,
    /// `[sequences, category columns]`
    pub(crate) history_categories: Vec<u32>,
    /// `[sequences, position and calendar features]`
    pub(crate) place: Vec<f32>,
}

/// The row of the sequences at work.
#[derive(Debug)]
pub(crate) struct Step<'n> {
    network: &'n SequenceNetwork,
    weights: &'n StepWeights,
    device: Device,
    buffers: Buffers,
    views: Views,
    /// `[sequences, LSTM input]`
    input: Vec<f32>,
    /// By column `[sequences, features of its history]`, one after the other.
    own: Vec<f32>,
    own_tensor: Tensor,
}

/// For as many sequences as were ever at work at once.
#[derive(Debug)]
struct Buffers {
    sequences: i64,
    /// `[sequences, base + 1 + columns × embedding]`
    known: Tensor,
    /// `[sequences, head width]`
    hidden: Tensor,
    /// `[sequences × outputs of the head with most]`
    said: Tensor,
}

/// The parts of the buffers that are of the sequences at work.
#[derive(Debug)]
struct Views {
    sequences: i64,
    /// `[sequences, hidden]`
    lstm_output: Tensor,
    /// `[sequences, context, position and calendar]`
    context_and_place: Tensor,
    /// By column, all that is known before it.
    before: Vec<Tensor>,
    /// By column, `[sequences, embedding]`
    value: Vec<Tensor>,
    /// `[sequences, head width]`
    hidden: Tensor,
    /// By head, `[sequences, outputs]`
    said: Vec<Tensor>,
}

impl SequenceNetwork {
    /// Room for a row of so many sequences.
    pub(crate) fn step(&self, sequences: usize, device: Device) -> Result<Step<'_>, ModelError> {
        let weights = match self.step_weights.get() {
            Some(weights) => weights,
            None => {
                let weights = StepWeights::new(self)?;
                self.step_weights.get_or_init(|| weights)
            }
        };
        let buffers = Buffers::new(self, long(sequences), device)?;
        Ok(Step {
            network: self,
            weights,
            device,
            views: Views::new(self, &buffers, long(sequences))?,
            buffers,
            input: Vec::new(),
            own: Vec::new(),
            own_tensor: Tensor::f_zeros([0], (Kind::Float, device))?,
        })
    }

    /// Features that are known of a column's history, and of which its heads make something.
    fn own_width(&self, column: usize) -> usize {
        let embedding = usize::try_from(self.shape.sizes.embedding).unwrap_or(0);
        match self.shape.slots[column] {
            Slot::Number(_) => embedding + HISTORY_FEATURES,
            Slot::Category(_) => embedding,
        }
    }
}

impl StepWeights {
    fn new(network: &SequenceNetwork) -> Result<StepWeights, ModelError> {
        let shape = &network.shape;
        let (width, embedding) = (shape.sizes.head, shape.sizes.embedding);
        let of_head = |(at, head): (usize, &Head)| {
            let columns = |weight: &Tensor| weight.f_narrow(1, long(at) * width, width);
            let earlier = network
                .earlier_weight
                .f_narrow(0, 0, long(head.column) * embedding)?;
            let parts = [
                columns(&network.base_weight)?,
                columns(&network.base_bias.f_unsqueeze(0)?)?,
                columns(&earlier)?,
            ];
            let own = network.own_weight.f_select(0, long(at))?;
            Ok(HeadWeights {
                known: Tensor::f_cat(&parts, 0)?,
                own: own.f_narrow(0, 0, long(network.own_width(head.column)))?,
            })
        };
        let heads = shape.decoder.heads.iter().enumerate().map(of_head);
        let numbers = (0..shape.numbers).map(|slot| {
            let mut weight = to_host(&network.history_number_weight.f_select(0, slot)?)?;
            weight.extend(to_host(&network.history_number_bias.f_select(0, slot)?)?);
            Ok(weight)
        });
        let mut first = 0;
        let categories = shape.classes.iter().map(|&classes| {
            let table = network
                .history_category_table
                .f_narrow(0, first, classes + 1)?;
            first += classes + 1;
            to_host(&table)
        });
        Ok(StepWeights {
            heads: heads.collect::<Result<_, ModelError>>()?,
            history_numbers: numbers.collect::<Result<_, ModelError>>()?,
            history_categories: categories.collect::<Result<_, ModelError>>()?,
        })
    }
}

impl Buffers {
    fn new(
        network: &SequenceNetwork,
        sequences: i64,
        device: Device,
    ) -> Result<Buffers, ModelError> {
        let shape = &network.shape;
        let zeros = |shape: &[i64]| Tensor::f_zeros(shape, (Kind::Float, device));
        let known = shape.base() + 1 + shape.columns() * shape.sizes.embedding;
        let most = (0..shape.decoder.heads.len()).map(|head| shape.decoder.outputs(head));
        let buffers = Buffers {
            sequences,
            known: zeros(&[sequences, known])?,
            hidden: zeros(&[sequences, shape.sizes.head])?,
            said: zeros(&[sequences * most.max().unwrap_or(0)])?,
        };
        // What the bias is multiplied by.
        let _ = buffers.known.f_narrow(1, shape.base(), 1)?.f_fill_(1.0)?;
        Ok(buffers)
    }
}

impl Views {
    fn new(
        network: &SequenceNetwork,
        buffers: &Buffers,
        sequences: i64,
    ) -> Result<Views, ModelError> {
        let shape = &network.shape;
        let (embedding, first) = (shape.sizes.embedding, shape.base() + 1);
        let known = buffers.known.f_narrow(0, 0, sequences)?;
        let columns = || (0..shape.columns()).map(|column| first + column * embedding);
        let said = (0..shape.decoder.heads.len()).map(|head| {
            let outputs = shape.decoder.outputs(head);
            let said = buffers.said.f_narrow(0, 0, sequences * outputs)?;
            Ok(said.f_view([sequences, outputs])?)
        });
        Ok(Views {
            sequences,
            lstm_output: known.f_narrow(1, 0, shape.sizes.hidden)?,
            context_and_place: known.f_narrow(
                1,
                shape.sizes.hidden,
                CONTEXT_WIDTH + shape.place(),
            )?,
            before: columns()
                .map(|end| known.f_narrow(1, 0, end))
                .collect::<Result<_, _>>()?,
            value: columns()
                .map(|start| known.f_narrow(1, start, embedding))
                .collect::<Result<_, _>>()?,
            hidden: buffers.hidden.f_narrow(0, 0, sequences)?,
            said: said.collect::<Result<_, ModelError>>()?,
        })
    }
}

impl Step<'_> {
    /// Begins the next row of all sequences that `context` `[sequences, CONTEXT_WIDTH]` is of, and returns the LSTM's
    /// state after it has read what is known before the row.
    pub(crate) fn begin(
        &mut self,
        inputs: &StepInputs,
        context: &Tensor,
        state: &LstmState,
    ) -> Result<LstmState, ModelError> {
        let (network, shape) = (self.network, &self.network.shape);
        let sequences = context.size()[0];
        if sequences > self.buffers.sequences {
            self.buffers = Buffers::new(network, sequences, self.device)?;
            self.views = Views::new(network, &self.buffers, sequences)?;
        } else if sequences != self.views.sequences {
            self.views = Views::new(network, &self.buffers, sequences)?;
        }
        self.embed_histories(inputs);
        self.own_tensor = float_tensor(&self.own, &[long(self.own.len())], self.device)?;
        let input = float_tensor(&self.input, &[sequences, shape.lstm_input()], self.device)?;
        let histories = shape.columns() * shape.sizes.embedding;
        let mut own_context = input.f_narrow(1, histories, CONTEXT_WIDTH)?;
        own_context.f_copy_(context)?;
        let (output, state) = network.lstm(&input.f_unsqueeze(0)?, state, false)?;
        let views = &mut self.views;
        views.lstm_output.f_copy_(&output.f_squeeze_dim(0)?)?;
        let width = CONTEXT_WIDTH + shape.place();
        views
            .context_and_place
            .f_copy_(&input.f_narrow(1, histories, width)?)?;
        Ok(state)
    }

    /// Writes what the LSTM reads, but for the context, and what each head reads of its column's history.
    fn embed_histories(&mut self, inputs: &StepInputs) {
        let shape = &self.network.shape;
        let sequences = usize::try_from(self.views.sequences).unwrap_or(0);
        let [embedding, width, place] = [shape.sizes.embedding, shape.lstm_input(), shape.place()]
            .map(|size| usize::try_from(size).unwrap_or(0));
        self.input.clear();
        self.input.resize(sequences * width, 0.0);
        let own_width: usize = (0..shape.slots.len())
            .map(|column| self.network.own_width(column))
            .sum();
        self.own.clear();
        self.own.resize(sequences * own_width, 0.0);
        let mut own = &mut self.own[..];
        for (column, slot) in shape.slots.iter().enumerate() {
            let own_width = self.network.own_width(column);
            let (block, rest) = own.split_at_mut(sequences * own_width);
            own = rest;
            let into = self
                .input
                .chunks_exact_mut(width)
                .map(|row| &mut row[column * embedding..(column + 1) * embedding]);
            let into = into.zip(block.chunks_exact_mut(own_width));
            match *slot {
                Slot::Number(slot) => {
                    let (weight, bias) =
                        self.weights.history_numbers[slot].split_at(HISTORY_FEATURES * embedding);
                    let all = inputs.history_numbers.chunks_exact(HISTORY_FEATURES);
                    let numbers = usize::try_from(shape.numbers).unwrap_or(1);
                    for ((into, own), features) in into.zip(all.skip(slot).step_by(numbers)) {
                        into.copy_from_slice(bias);
                        for (&feature, weights) in features.iter().zip(weight.chunks(embedding)) {
                            for (value, weight) in into.iter_mut().zip(weights) {
                                *value += feature * weight;
                            }
                        }
                        own[..embedding].copy_from_slice(into);
                        own[embedding..].copy_from_slice(features);
                    }
                }
                Slot::Category(slot) => {
                    let table = &self.weights.history_categories[slot];
                    let all = inputs.history_categories.iter().skip(slot);
                    for ((into, own), &class) in into.zip(all.step_by(shape.classes.len())) {
                        let embedded = &table[class as usize * embedding..][..embedding];
                        into.copy_from_slice(embedded);
                        own.copy_from_slice(embedded);
                    }
                }
            }
        }
        for (row, own) in self
            .input
            .chunks_exact_mut(width)
            .zip(inputs.place.chunks_exact(place))
        {
            row[width - place..].copy_from_slice(own);
        }
    }

    /// What a head says, once the columns before its own are known; `skip` as of [`Decoder::output`].
    ///
    /// [`Decoder::output`]: crate::model::decoder::Decoder::output
    pub(crate) fn output(&mut self, head: usize, skip: &[f32]) -> Result<HeadOutput, ModelError> {
        let Head { column, .. } = self.network.shape.decoder.heads[head];
        let HeadWeights { known, own } = &self.weights.heads[head];
        let Views {
            sequences,
            before,
            hidden,
            said,
            ..
        } = &mut self.views;
        let start: usize = (0..column)
            .map(|column| self.network.own_width(column))
            .sum();
        let width = long(self.network.own_width(column));
        let own_history = self.own_tensor.f_as_strided(
            [*sequences, width],
            [width, 1],
            *sequences * long(start),
        )?;
        let _ = before[column].f_mm_out(hidden, known)?;
        let _ = hidden.f_addmm_(&own_history, own)?.f_silu_()?;
        self.network
            .decoder
            .output_into(head, hidden, skip, &said[head])
    }

    /// Takes in the drawn numbers of a column, by `features` `[sequences, CURRENT_FEATURES]`; `calendar` is the row's own
    /// date for the gap.
    pub(crate) fn know_number(
        &mut self,
        column: usize,
        features: &[f32],
        calendar: Option<&[f32]>,
    ) -> Result<(), ModelError> {
        let Slot::Number(slot) = self.network.shape.slots[column] else {
            return Ok(());
        };
        let sequences = self.views.sequences;
        let tensor =
            |values: &[f32], width: i64| float_tensor(values, &[sequences, width], self.device);
        let features = tensor(features, long(CURRENT_FEATURES))?;
        let calendar = calendar
            .map(|calendar| tensor(calendar, self.network.shape.calendar))
            .transpose()?;
        let embedded = self
            .network
            .embed_number(slot, &features, calendar.as_ref())?;
        self.views.value[column].f_copy_(&embedded)?;
        Ok(())
    }

    /// Takes in the drawn classes of a column.
    pub(crate) fn know_category(
        &mut self,
        column: usize,
        classes: Vec<u32>,
    ) -> Result<(), ModelError> {
        let Slot::Category(slot) = self.network.shape.slots[column] else {
            return Ok(());
        };
        let classes = class_tensor(classes.into_iter(), &[self.views.sequences], self.device)?;
        let embedded = self.network.embed_category(slot, &classes)?;
        self.views.value[column].f_copy_(&embedded)?;
        Ok(())
    }
}
