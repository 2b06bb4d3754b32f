//! The sequence index as tensors: its calendar features, the next index number, and where sequences end by it.

use super::arithmetic::{choose_where, round};
use super::exchange::Exchange;
use super::maps::ScaleTensors;
use crate::codec::calendar::{Cycle, IndexCodec, STANDARD_LIMIT};
use crate::history::{LARGEST_POSITION, LINEAR_ROWS};
use crate::layout::Layout;
use crate::model::{ModelError, long};
use std::f64::consts::TAU;
use tch::{Kind, Tensor};

/// Months that the calendar reaches, either way.
const MOST_MONTHS: i64 = 12 * 262_000;

/// An [`IndexCodec`].
#[derive(Debug)]
pub(super) struct IndexTensors {
    scale: ScaleTensors,
    elapsed: ScaleTensors,
    longest_elapsed: f64,
    cycles: Vec<CycleTensors>,
    /// 10 to the power of its decimals, one number, where index numbers lie on a decimal grid.
    decimals: Option<Tensor>,
    /// The greatest number within the table's time.
    table_end: f64,
    /// The greatest number that can be written.
    last_written: f64,
    counts_months: bool,
}

#[derive(Debug)]
struct CycleTensors {
    period: f64,
    origin: f64,
    /// `[1, harmonics]`
    harmonics: Tensor,
}

impl IndexTensors {
    /// `last_index` is the greatest index value that can be written.
    pub(super) fn new(
        index: &IndexCodec,
        layout: &Layout,
        last_index: f64,
        exchange: &Exchange,
    ) -> Result<IndexTensors, ModelError> {
        let cycle = |cycle: &Cycle| -> Result<CycleTensors, ModelError> {
            let shape = [1, long(cycle.harmonics.len())];
            Ok(CycleTensors {
                period: cycle.period,
                origin: cycle.origin,
                harmonics: exchange.doubles(&cycle.harmonics, &shape)?,
            })
        };
        let decimals = layout.index_decimals().and_then(|d| i32::try_from(d).ok());
        Ok(IndexTensors {
            scale: ScaleTensors::new(&index.scale, exchange)?,
            elapsed: ScaleTensors::new(&index.elapsed, exchange)?,
            longest_elapsed: index.longest_elapsed,
            cycles: index.cycles.iter().map(cycle).collect::<Result<_, _>>()?,
            decimals: decimals
                .map(|decimals| exchange.doubles(&[10_f64.powi(decimals)], &[1]))
                .transpose()?,
            table_end: index.table_end(),
            last_written: last_written(index, last_index),
            counts_months: counts_months(index),
        })
    }

    /// The calendar features of index numbers, `[sequences, calendar width]`.
    pub(super) fn features(&self, numbers: &Tensor) -> Result<Tensor, ModelError> {
        let column = |values: Tensor| values.f_unsqueeze(1);
        let standard = self.scale.standard(numbers)?;
        let mut features = vec![
            column(standard.f_clamp(-STANDARD_LIMIT, STANDARD_LIMIT)?)?,
            column(self.scale.score(numbers)?)?,
        ];
        for cycle in &self.cycles {
            let phase = numbers
                .f_sub_scalar(cycle.origin)?
                .f_remainder(cycle.period)?
                .f_div_scalar(cycle.period)?;
            let angles = column(phase.f_mul_scalar(TAU)?)?.f_mul(&cycle.harmonics)?;
            let both = Tensor::f_stack(&[angles.f_sin()?, angles.f_cos()?], 2)?;
            features.push(both.f_flatten(1, 2)?);
        }
        Ok(Tensor::f_cat(&features, 1)?.f_to_kind(Kind::Float)?)
    }

    /// `next_index` of `layout.rs`.
    pub(super) fn next(&self, numbers: &Tensor, gaps: &Tensor) -> Result<Tensor, ModelError> {
        let next = numbers.f_add(gaps)?;
        let Some(scale) = &self.decimals else {
            return Ok(next);
        };
        let rounded = round(&next.f_mul(scale)?)?.f_div(scale)?;
        choose_where(&rounded.f_isfinite()?, &rounded, &next)
    }

    /// Whether index numbers lie past the table's last.
    pub(super) fn is_past_table(&self, numbers: &Tensor) -> Result<Tensor, ModelError> {
        Ok(numbers.f_gt(self.table_end)?)
    }

    /// Whether index numbers are too great to be written.
    pub(super) fn is_past_written(&self, numbers: &Tensor) -> Result<Tensor, ModelError> {
        let numbers = match self.counts_months {
            true => round(numbers)?,
            false => numbers.shallow_clone(),
        };
        Ok(numbers.f_gt(self.last_written)?)
    }

    /// [`IndexCodec::elapsed_feature`], in f32.
    fn elapsed_feature(&self, elapsed: &Tensor) -> Result<Tensor, ModelError> {
        let score = self.elapsed.score(elapsed)?.f_mul_scalar(0.5)?;
        let share = match self.longest_elapsed > 0.0 {
            true => elapsed
                .f_div_scalar(self.longest_elapsed)?
                .f_clamp_max(1.0)?,
            false => elapsed.f_zeros_like()?,
        };
        Ok(score.f_add(&share)?.f_to_kind(Kind::Float)?)
    }
}

/// Whether index numbers are months and not values.
fn counts_months(index: &IndexCodec) -> bool {
    index.months.is_some() && index.unit.is_some()
}

/// The greatest index number whose value can be written: dates rise with their months.
fn last_written(index: &IndexCodec, last_index: f64) -> f64 {
    if !counts_months(index) {
        return last_index;
    }
    let is_written = |month: i64| index.value(month as f64) <= last_index;
    if is_written(MOST_MONTHS) {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (-MOST_MONTHS - 1, MOST_MONTHS);
    while high - low > 1 {
        let middle = i64::midpoint(low, high);
        match is_written(middle) {
            true => low = middle,
            false => high = middle,
        }
    }
    low as f64
}

/// `position_features` of `history.rs`, `[sequences, features]`: of the row after `step` others, in sequences that the
/// network is told have `lengths` rows, `elapsed` after their start.
/// # Shapes
/// `lengths` and `elapsed` `[sequences]`, f64.
pub(super) fn position_features(
    step: usize,
    lengths: &Tensor,
    layout: &Layout,
    elapsed: Option<(&IndexTensors, &Tensor)>,
) -> Result<Tensor, ModelError> {
    let most = layout.longest.saturating_sub(1) as f64;
    #[allow(clippy::cast_possible_truncation, reason = "features are f32")]
    let done = (step as f64).min(most) as f32;
    let others = lengths.f_sub_scalar(1.0)?.f_clamp_min(0.0)?;
    let left = others.f_sub_scalar(step as f64)?.f_clamp_min(0.0)?;
    let remaining = left.f_clamp_max(most)?.f_to_kind(Kind::Float)?;
    let single = others.f_to_kind(Kind::Float)?;
    let same = |value: f32| single.f_full_like(f64::from(value));
    let share = others
        .f_clamp_max(step as f64)?
        .f_to_kind(Kind::Float)?
        .f_div(&single.f_clamp_min(1.0)?)?;
    let elapsed = match elapsed {
        Some((index, elapsed)) => index.elapsed_feature(elapsed)?,
        None => same(0.0)?,
    };
    let logarithm = remaining.f_log1p()?.f_div_scalar(2.0)?;
    Ok(Tensor::f_stack(
        &[
            same((done / LINEAR_ROWS).min(LARGEST_POSITION))?,
            same(done.ln_1p() / 2.0)?,
            same(f32::from(u8::from(step == 0)))?,
            logarithm,
            share,
            left.f_eq(0.0)?.f_to_kind(Kind::Float)?,
            remaining
                .f_div_scalar(f64::from(LINEAR_ROWS))?
                .f_clamp_max(f64::from(LARGEST_POSITION))?,
            elapsed,
        ],
        1,
    )?)
}
