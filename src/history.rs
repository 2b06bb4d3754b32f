//! What a sequence remembers of its rows so far, as features; the same for teacher forcing and for sampling.
//! In: values as they are decided, column by column. Out: history, current-row and position features.

#![allow(
    clippy::cast_possible_truncation,
    reason = "features are handed to the network in f32"
)]

use crate::codec::number::NumberScale;
use crate::layout::{
    CONTEXT_FEATURES, CURRENT_FEATURES, HISTORY_FEATURES, Layout, POSITION_FEATURES, RowKind,
    round_difference,
};

/// The last value of one number column, and what came before it.
#[derive(Debug, Clone, Copy)]
struct NumberHistory {
    last: f64,
    previous: f64,
    score_last: f64,
    score_previous: f64,
    score_first: f64,
    score_sum: f64,
    seen: u32,
    was_missing: bool,
}

impl NumberHistory {
    const EMPTY: NumberHistory = NumberHistory {
        last: f64::NAN,
        previous: f64::NAN,
        score_last: 0.0,
        score_previous: 0.0,
        score_first: 0.0,
        score_sum: 0.0,
        seen: 0,
        was_missing: false,
    };

    fn absorb(&mut self, value: f64, scale: &NumberScale) -> [f32; CURRENT_FEATURES] {
        self.was_missing = value.is_nan();
        if self.was_missing {
            return NO_NUMBER;
        }
        let score = scale.score(value);
        (self.previous, self.score_previous) = (self.last, self.score_last);
        (self.last, self.score_last) = (value, score);
        if self.seen == 0 {
            self.score_first = score;
        }
        self.score_sum += score;
        self.seen = self.seen.saturating_add(1);
        let change = if self.previous.is_nan() {
            0.0
        } else {
            scale.change(self.previous, value)
        };
        [
            score as f32,
            scale.standard(value) as f32,
            0.0,
            change as f32,
        ]
    }

    /// Score and standard value of the last, both changes from the one before, score of the first, mean score,
    /// whether the row before was missing, whether nothing was seen yet.
    fn features(&self, scale: &NumberScale) -> [f32; HISTORY_FEATURES] {
        if self.seen == 0 {
            return [
                0.0,
                0.0,
                0.0,
                0.0,
                0.0,
                0.0,
                f32::from(self.was_missing),
                1.0,
            ];
        }
        let (score_change, change) = if self.seen > 1 {
            (
                self.score_last - self.score_previous,
                scale.change(self.previous, self.last),
            )
        } else {
            (0.0, 0.0)
        };
        [
            self.score_last as f32,
            scale.standard(self.last) as f32,
            score_change as f32,
            change as f32,
            self.score_first as f32,
            (self.score_sum / f64::from(self.seen)) as f32,
            f32::from(self.was_missing),
            0.0,
        ]
    }
}

/// The memory of one sequence.
#[derive(Debug, Clone)]
pub(crate) struct History {
    numbers: Vec<NumberHistory>,
    /// Class in the row before; the number of classes before the first row.
    categories: Vec<u32>,
}

impl History {
    /// A sequence before its first row.
    pub(crate) fn new(layout: &Layout) -> History {
        let mut history = History {
            numbers: Vec::new(),
            categories: Vec::new(),
        };
        for column in &layout.rows {
            match &column.kind {
                RowKind::Category(codec) => history.categories.push(codec.classes() as u32),
                RowKind::Number(_) => history.numbers.push(NumberHistory::EMPTY),
            }
        }
        history
    }

    /// Writes the features of all number columns, [`HISTORY_FEATURES`] each, and the classes of all categories.
    pub(crate) fn write(&self, layout: &Layout, numbers: &mut [f32], categories: &mut [u32]) {
        let columns = layout.rows.iter().filter_map(|column| match &column.kind {
            RowKind::Number(number) => Some(number),
            RowKind::Category(_) => None,
        });
        for ((column, history), slots) in columns
            .zip(&self.numbers)
            .zip(numbers.chunks_exact_mut(HISTORY_FEATURES))
        {
            slots.copy_from_slice(&history.features(&column.scale));
        }
        categories.copy_from_slice(&self.categories);
    }

    /// The last observed value of a number slot; NaN before the first.
    pub(crate) fn last(&self, slot: usize) -> f64 {
        self.numbers[slot].last
    }

    /// The score of the last observed value of a number slot; 0 before the first.
    pub(crate) fn score_of_last(&self, slot: usize) -> f32 {
        self.numbers[slot].score_last as f32
    }

    /// The change to the last observed value of a number slot from the one observed before; NaN without two.
    pub(crate) fn last_change(&self, slot: usize) -> f64 {
        let NumberHistory { last, previous, .. } = self.numbers[slot];
        round_difference(last - previous, last.abs().max(previous.abs()))
    }

    /// Takes in the value of a number slot, and tells its features as one of the row at hand: score, standard value,
    /// missing, change from the last observed.
    pub(crate) fn absorb_number(
        &mut self,
        slot: usize,
        value: f64,
        scale: &NumberScale,
    ) -> [f32; CURRENT_FEATURES] {
        self.numbers[slot].absorb(value, scale)
    }

    /// Takes in the class of a category slot.
    pub(crate) fn absorb_category(&mut self, slot: usize, class: u32) {
        self.categories[slot] = class;
    }
}

/// Features of a number of the row at hand that is missing, or that the row does not have.
pub(crate) const NO_NUMBER: [f32; CURRENT_FEATURES] = [0.0, 0.0, 1.0, 0.0];

/// Features of a number among the context: score, standard value, missing.
pub(crate) fn context_features(value: f64, scale: &NumberScale) -> [f32; CONTEXT_FEATURES] {
    if value.is_nan() {
        return [0.0, 0.0, 1.0];
    }
    [scale.score(value) as f32, scale.standard(value) as f32, 0.0]
}

/// Features of a row's place: rows before it, rows after it, share done, and time since the start.
/// Beyond the longest sequence seen they stay at its values, which the network knows.
pub(crate) fn position_features(
    step: usize,
    length: usize,
    layout: &Layout,
    elapsed: f64,
) -> [f32; POSITION_FEATURES] {
    let most = layout.longest.saturating_sub(1);
    let done = step.min(most) as f32;
    let left = length.saturating_sub(1).saturating_sub(step);
    let remaining = left.min(most) as f32;
    let share = step.min(length.saturating_sub(1)) as f32 / length.saturating_sub(1).max(1) as f32;
    let elapsed = layout
        .index
        .as_ref()
        .map_or(0.0, |index| index.elapsed_feature(elapsed));
    [
        (done / LINEAR_ROWS).min(LARGEST_POSITION),
        done.ln_1p() / 2.0,
        f32::from(step == 0),
        remaining.ln_1p() / 2.0,
        share,
        f32::from(left == 0),
        (remaining / LINEAR_ROWS).min(LARGEST_POSITION),
        elapsed as f32,
    ]
}

/// Positions are counted in so many rows, up to so many of these; beyond they are told apart by their logarithms.
pub(crate) const LINEAR_ROWS: f32 = 20.0;
pub(crate) const LARGEST_POSITION: f32 = 10.0;
