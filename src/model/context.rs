//! The context network: the row decoder without history, over context columns, start and length.
//! In: any subset of the context columns. Out: hidden vectors for the heads of the others.
//!
//! Trained under random orders of the columns (Uria et al. 2014), so that any subset can be given and the rest
//! drawn: each head sees the embedded values of the columns marked visible, and which those are.

use super::decoder::{Decoder, DecoderShape};
use super::dropout::Mode;
use super::inputs::ContextInputs;
use super::parameters::{Parameters, Plan, Start};
use super::{CONTEXT_HEAD, ModelError, Sizes, long, starts};
use crate::layout::{CONTEXT_FEATURES, ContextKind, Layout};
use crate::model::sequence::Slot;
use crate::rng::{shuffle, uniform};
use rand::rngs::ChaCha12Rng;
use tch::{Device, Kind, Tensor};

/// How far from 0 the outermost mixture means start, in scores: no last value places them.
const SPREAD: f64 = 1.5;

/// The network's shape.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ContextShape {
    embedding: i64,
    pub(crate) slots: Vec<Slot>,
    numbers: i64,
    classes: Vec<i64>,
    pub(crate) decoder: DecoderShape,
}

impl ContextShape {
    pub(crate) fn new(layout: &Layout, sizes: Sizes) -> ContextShape {
        let (mut numbers, mut classes) = (0, Vec::new());
        let slots = layout
            .context
            .iter()
            .map(|column| match &column.kind {
                ContextKind::Category(codec) => {
                    classes.push(long(codec.classes()));
                    Slot::Category(classes.len() - 1)
                }
                ContextKind::Number { .. } => {
                    numbers += 1;
                    Slot::Number(numbers - 1)
                }
            })
            .collect();
        ContextShape {
            embedding: sizes.embedding,
            slots,
            numbers: long(numbers),
            classes,
            decoder: DecoderShape::new(
                layout.context_heads(),
                CONTEXT_HEAD,
                sizes.components,
                SPREAD,
            ),
        }
    }

    fn columns(&self) -> i64 {
        long(self.slots.len())
    }

    /// Every weight.
    pub(crate) fn plan(&self) -> Plan {
        let uniform = |fan_in: i64| Start::Uniform(1.0 / (fan_in.max(1) as f64).sqrt());
        let features = long(CONTEXT_FEATURES);
        let mut plan = Plan::default();
        plan.add(
            "number_weight",
            &[self.numbers, features, self.embedding],
            uniform(features),
        );
        plan.add(
            "number_bias",
            &[self.numbers, 1, self.embedding],
            uniform(features),
        );
        plan.add(
            "category_table",
            &[self.classes.iter().sum(), self.embedding],
            Start::Normal,
        );
        let seen = self.columns() * (self.embedding + 1);
        plan.add(
            "seen_weight",
            &[self.columns(), seen, CONTEXT_HEAD],
            uniform(seen / 2),
        );
        plan.add(
            "seen_bias",
            &[self.columns(), 1, CONTEXT_HEAD],
            uniform(seen / 2),
        );
        self.decoder.plan(&mut plan);
        plan
    }
}

/// The network, as views of its one weight buffer.
#[derive(Debug)]
pub(crate) struct ContextNetwork {
    pub(crate) shape: ContextShape,
    number_weight: Tensor,
    number_bias: Tensor,
    category_table: Tensor,
    seen_weight: Tensor,
    seen_bias: Tensor,
    pub(crate) decoder: Decoder,
    offsets: Tensor,
    column_order: Tensor,
}

impl ContextNetwork {
    /// Views of a parameter buffer.
    pub(crate) fn new(
        shape: &ContextShape,
        parameters: &Parameters,
    ) -> Result<ContextNetwork, ModelError> {
        let mut views = parameters.views()?.into_iter();
        let device = parameters.flat().device();
        let mut next = || {
            views.next().ok_or(ModelError::Shape {
                what: "context network weights",
                found: vec![],
                wanted: vec![1],
            })
        };
        let offsets = starts(&shape.classes, 0);
        let order: Vec<i64> = shape
            .slots
            .iter()
            .map(|slot| match slot {
                Slot::Number(at) => long(*at),
                Slot::Category(at) => shape.numbers + long(*at),
            })
            .collect();
        Ok(ContextNetwork {
            shape: shape.clone(),
            number_weight: next()?,
            number_bias: next()?,
            category_table: next()?,
            seen_weight: next()?,
            seen_bias: next()?,
            decoder: Decoder::new(&shape.decoder, &mut views)?,
            offsets: Tensor::f_from_slice(&offsets)?.f_to_device(device)?,
            column_order: Tensor::f_from_slice(&order)?.f_to_device(device)?,
        })
    }

    /// Embeds contexts: `[sequences, columns, embedding]`.
    fn embed(&self, inputs: &ContextInputs) -> Result<Tensor, ModelError> {
        let rows = inputs.numbers.size()[0];
        let numbers = inputs
            .numbers
            .f_to_kind(self.number_weight.kind())?
            .f_view([rows, self.shape.numbers, long(CONTEXT_FEATURES)])?;
        let numbers = numbers
            .f_transpose(0, 1)?
            .f_matmul(&self.number_weight)?
            .f_add(&self.number_bias)?
            .f_transpose(0, 1)?;
        let classes = inputs.categories.f_add(&self.offsets)?.f_view([-1])?;
        let categories = self.category_table.f_index_select(0, &classes)?.f_view([
            rows,
            long(self.shape.classes.len()),
            self.shape.embedding,
        ])?;
        Ok(Tensor::f_cat(&[numbers, categories], 1)?.f_index_select(1, &self.column_order)?)
    }

    /// Hidden vectors of all heads: `[columns, sequences, width]`.
    /// # Shapes
    /// `visible` `[sequences, columns, columns]`: 1 where the head of the second index sees the column of the third.
    pub(crate) fn hidden(
        &self,
        inputs: &ContextInputs,
        visible: &Tensor,
        mode: &mut Mode<'_>,
    ) -> Result<Tensor, ModelError> {
        let embedded = self.embed(inputs)?;
        let (rows, columns) = (embedded.size()[0], self.shape.columns());
        let visible = visible.f_unsqueeze(-1)?.f_to_kind(embedded.kind())?; // [sequences, columns, columns, 1]
        let seen = Tensor::f_cat(&[&embedded.f_unsqueeze(1)?.f_mul(&visible)?, &visible], 3)?;
        let seen = seen
            .f_reshape([rows, columns, columns * (self.shape.embedding + 1)])?
            .f_transpose(0, 1)?;
        let hidden = seen
            .f_matmul(&self.seen_weight)?
            .f_add(&self.seen_bias)?
            .f_silu()?;
        mode.dropout(&hidden)
    }

    /// The hidden vector of one head, `[sequences, width]`, given which columns are known of each sequence.
    /// # Shapes
    /// `known` `[sequences, columns]`, sequence after sequence
    pub(crate) fn head(
        &self,
        head: usize,
        inputs: &ContextInputs,
        known: &[bool],
    ) -> Result<Tensor, ModelError> {
        let flags: Vec<f32> = known.iter().map(|&known| f32::from(known)).collect();
        let columns = self.shape.columns();
        let visible = Tensor::f_from_slice(&flags)?
            .f_to_device(inputs.numbers.device())?
            .f_view([-1, 1, columns])?;
        let rows = inputs.numbers.size()[0];
        let visible = visible.f_expand([rows, columns, columns], false)?;
        Ok(self
            .hidden(inputs, &visible, &mut Mode::Use)?
            .f_select(0, long(head))?)
    }
}

/// Which columns each head sees in training, `[sequences, columns, columns]`: half the sequences in the order of
/// sampling, half in a random order; the order of sampling for all without a generator.
pub(crate) fn visibility(
    sequences: usize,
    columns: usize,
    generator: Option<&mut ChaCha12Rng>,
    device: Device,
) -> Result<Tensor, ModelError> {
    let mut flags = vec![0.0_f32; sequences * columns * columns];
    let mut generator = generator;
    for block in flags.chunks_exact_mut((columns * columns).max(1)) {
        let mut place: Vec<usize> = (0..columns).collect();
        if let Some(generator) = generator.as_deref_mut()
            && uniform(generator) < 0.5
        {
            shuffle(&mut place, generator);
        }
        for head in 0..columns {
            for column in 0..columns {
                block[head * columns + column] = f32::from(place[column] < place[head]);
            }
        }
    }
    let shape = [long(sequences), long(columns), long(columns)];
    Ok(Tensor::f_from_slice(&flags)?
        .f_view(shape)?
        .f_to_kind(Kind::Float)?
        .f_to_device(device)?)
}
