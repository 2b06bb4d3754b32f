//! The shape of the sequence network: which columns lie where, and every weight it has.

use super::super::decoder::DecoderShape;
use super::super::parameters::{Plan, Start};
use super::super::{CONTEXT_WIDTH, ModelError, Sizes, long};
use crate::layout::{
    CONTEXT_FEATURES, CURRENT_FEATURES, ContextKind, HISTORY_FEATURES, Layout, POSITION_FEATURES,
    RowKind, RowSource,
};
use tch::{Device, Tensor};

/// How far from 0 the outermost mixture means start; the skip from the last value does most of the placing.
const SPREAD: f64 = 0.6;
/// Where a row column's features lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    Number(usize),
    Category(usize),
}

/// The network's shape, from the layout and the sizes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SequenceShape {
    pub(crate) sizes: Sizes,
    pub(super) context_numbers: i64,
    pub(super) context_classes: Vec<i64>,
    /// The slot of each row column.
    pub(crate) slots: Vec<Slot>,
    pub(super) numbers: i64,
    pub(super) classes: Vec<i64>,
    pub(super) calendar: i64,
    pub(super) has_gap: bool,
    pub(crate) decoder: DecoderShape,
}

impl SequenceShape {
    pub(crate) fn new(layout: &Layout, sizes: Sizes) -> SequenceShape {
        let mut context_numbers = 0;
        let mut context_classes = Vec::new();
        for column in &layout.context {
            match &column.kind {
                ContextKind::Category(codec) => context_classes.push(long(codec.classes())),
                ContextKind::Number { .. } => context_numbers += 1,
            }
        }
        let (mut numbers, mut classes) = (0, Vec::new());
        let slots = layout
            .rows
            .iter()
            .map(|column| match &column.kind {
                RowKind::Category(codec) => {
                    classes.push(long(codec.classes()));
                    Slot::Category(classes.len() - 1)
                }
                RowKind::Number(_) => {
                    numbers += 1;
                    Slot::Number(numbers - 1)
                }
            })
            .collect();
        SequenceShape {
            sizes,
            context_numbers,
            context_classes,
            slots,
            numbers: long(numbers),
            classes,
            calendar: long(layout.calendar_width()),
            has_gap: layout
                .rows
                .first()
                .is_some_and(|column| column.source == RowSource::Gap),
            decoder: DecoderShape::new(layout.row_heads(), sizes.head, sizes.components, SPREAD),
        }
    }

    pub(super) fn columns(&self) -> i64 {
        long(self.slots.len())
    }

    pub(super) fn heads(&self) -> i64 {
        long(self.decoder.heads.len())
    }

    pub(super) fn place(&self) -> i64 {
        long(POSITION_FEATURES) + self.calendar
    }

    pub(crate) fn lstm_input(&self) -> i64 {
        self.columns() * self.sizes.embedding + CONTEXT_WIDTH + self.place()
    }

    pub(super) fn base(&self) -> i64 {
        self.sizes.hidden + CONTEXT_WIDTH + self.place()
    }

    pub(super) fn own(&self) -> i64 {
        self.sizes.embedding + long(HISTORY_FEATURES)
    }

    /// The matrix products of one row of each of `rows` sequences, as `[matrices, rows, inner, columns]`.
    pub(crate) fn products(&self, rows: i64) -> Vec<[i64; 4]> {
        let Sizes {
            hidden,
            layers,
            embedding,
            head,
            components,
        } = self.sizes;
        let mut products = Vec::new();
        for layer in 0..layers {
            let input = if layer == 0 {
                self.lstm_input()
            } else {
                hidden
            };
            products.push([1, rows, input, 4 * hidden]);
            products.push([1, rows, hidden, 4 * hidden]);
        }
        products.push([self.numbers, rows, long(HISTORY_FEATURES), embedding]);
        for of_head in &self.decoder.heads {
            let outputs = match of_head.continuous {
                Some(_) => 3 * components + 1,
                None => 0,
            };
            let known = self.base() + 1 + long(of_head.column) * embedding;
            let own = match self.slots[of_head.column] {
                Slot::Number(_) => self.own(),
                Slot::Category(_) => embedding,
            };
            products.push([1, rows, known, head]);
            products.push([1, rows, own, head]);
            products.push([1, rows, head, long(of_head.classes) + outputs]);
        }
        products.push([self.numbers, rows, long(CURRENT_FEATURES), embedding]);
        if self.has_gap {
            products.push([1, rows, self.calendar, embedding]);
        }
        products.retain(|product| product.iter().all(|&size| size > 0));
        products
    }

    /// Every weight, the LSTM's first.
    pub(crate) fn plan(&self) -> Plan {
        let uniform = |fan_in: i64| Start::Uniform(1.0 / (fan_in.max(1) as f64).sqrt());
        let Sizes {
            hidden,
            layers,
            embedding,
            head,
            ..
        } = self.sizes;
        let mut plan = Plan::default();
        plan.add_lstm(self.lstm_input(), hidden, layers);
        let context = self.context_numbers * long(CONTEXT_FEATURES);
        let context_fan_in = context + long(self.context_classes.len());
        plan.add(
            "context_number_weight",
            &[context, CONTEXT_WIDTH],
            uniform(context_fan_in),
        );
        plan.add(
            "context_category_table",
            &[self.context_classes.iter().sum(), CONTEXT_WIDTH],
            uniform(context_fan_in),
        );
        plan.add("context_bias", &[CONTEXT_WIDTH], uniform(context_fan_in));
        let history = long(HISTORY_FEATURES);
        plan.add(
            "history_number_weight",
            &[self.numbers, history, embedding],
            uniform(history),
        );
        plan.add(
            "history_number_bias",
            &[self.numbers, 1, embedding],
            uniform(history),
        );
        plan.add(
            "history_category_table",
            &[self.classes.iter().map(|n| n + 1).sum(), embedding],
            Start::Normal,
        );
        let current = long(CURRENT_FEATURES);
        plan.add(
            "current_number_weight",
            &[self.numbers, current, embedding],
            uniform(current),
        );
        plan.add(
            "current_number_bias",
            &[self.numbers, 1, embedding],
            uniform(current),
        );
        plan.add(
            "current_category_table",
            &[self.classes.iter().sum(), embedding],
            Start::Normal,
        );
        plan.add(
            "current_calendar_weight",
            &[self.calendar, embedding],
            uniform(current + self.calendar),
        );
        let fan_in = uniform(self.base() + self.own() + self.columns() * embedding / 2);
        plan.add("base_weight", &[self.base(), self.heads() * head], fan_in);
        plan.add("base_bias", &[self.heads() * head], fan_in);
        plan.add("own_weight", &[self.heads(), self.own(), head], fan_in);
        plan.add(
            "earlier_weight",
            &[self.columns() * embedding, self.heads() * head],
            fan_in,
        );
        self.decoder.plan(&mut plan);
        plan
    }
}

/// 1 where a head may look at an earlier column, 0 elsewhere: `[columns × embedding, heads × head width]`.
pub(super) fn earlier_mask(shape: &SequenceShape, device: Device) -> Result<Tensor, ModelError> {
    let mut mask: Vec<f32> = Vec::new();
    for column in 0..shape.slots.len() {
        mask.extend(
            shape
                .decoder
                .heads
                .iter()
                .map(|head| f32::from(column < head.column)),
        );
    }
    let (columns, heads) = (shape.columns(), shape.heads());
    let blocks = Tensor::f_from_slice(&mask)?.f_view([columns, 1, heads, 1])?;
    let blocks = blocks.f_expand(
        [columns, shape.sizes.embedding, heads, shape.sizes.head],
        false,
    )?;
    Ok(blocks
        .f_reshape([columns * shape.sizes.embedding, heads * shape.sizes.head])?
        .f_to_device(device)?)
}
