//! What sequences remember of one number column, as tensors: the same features as [`crate::history`] writes.

use super::arithmetic::{choose_where, round};
use super::maps::ScaleTensors;
use crate::layout::CURRENT_FEATURES;
use crate::model::{ModelError, long};
use tch::{Device, Kind, Tensor};

/// Where the parts of the memory lie.
const LAST: i64 = 0;
const PREVIOUS: i64 = 1;
/// The five features from here on are in the order in which the network reads them.
const SCORE: i64 = 2;
const FIRST_SCORE: i64 = 6;
const SCORE_SUM: i64 = 7;
const SEEN: i64 = 8;
const PARTS: i64 = 9;

/// Beyond this size a difference has no noise in its eighth decimal to be rounded away.
const LARGEST_ROUNDED: f64 = 1e7;
const ROUNDED_PARTS: f64 = 1e8;

/// The memory of one number column of all sequences.
#[derive(Debug)]
pub(super) struct NumberState {
    /// `[PARTS, sequences]`, f64: last value, the one before, score, standard value and both changes of the last, score
    /// of the first, sum of scores, values seen
    parts: Tensor,
    /// `[sequences]`, f64: 1 where the row before had none
    was_missing: Tensor,
}

impl NumberState {
    /// Before the first row.
    pub(super) fn start(sequences: i64, device: Device) -> Result<NumberState, ModelError> {
        let zeros = |shape: &[i64]| Tensor::f_zeros(shape, (Kind::Double, device));
        let values = Tensor::f_full([SCORE, sequences], f64::NAN, (Kind::Double, device))?;
        Ok(NumberState {
            parts: Tensor::f_cat(&[values, zeros(&[PARTS - SCORE, sequences])?], 0)?,
            was_missing: zeros(&[sequences])?,
        })
    }

    pub(super) fn keep(&self, positions: &Tensor) -> Result<NumberState, ModelError> {
        Ok(NumberState {
            parts: self.parts.f_index_select(1, positions)?,
            was_missing: self.was_missing.f_index_select(0, positions)?,
        })
    }

    fn part(&self, part: i64) -> Result<Tensor, ModelError> {
        Ok(self.parts.f_select(0, part)?)
    }

    /// The last observed values; NaN before the first.
    pub(super) fn last(&self) -> Result<Tensor, ModelError> {
        self.part(LAST)
    }

    /// The changes to the last observed values from those before; NaN without two.
    pub(super) fn last_change(&self) -> Result<Tensor, ModelError> {
        let (last, previous) = (self.part(LAST)?, self.part(PREVIOUS)?);
        let difference = last.f_sub(&previous)?;
        let size = last.f_abs()?.f_maximum(&previous.f_abs()?)?;
        rounded_difference(&difference, &size)
    }

    /// Takes in the values of a row, and tells their features as ones of the row at hand, `[sequences, features]`.
    pub(super) fn absorb(
        &mut self,
        values: &Tensor,
        scale: &ScaleTensors,
    ) -> Result<Tensor, ModelError> {
        let is_missing = values.f_isnan()?;
        let (last, seen) = (self.part(LAST)?, self.part(SEEN)?);
        let is_first = seen.f_eq(0.0)?;
        let (score, standard) = (scale.score(values)?, scale.standard(values)?);
        let score_change = score
            .f_sub(&self.part(SCORE)?)?
            .f_masked_fill(&is_first, 0.0)?;
        let change = scale.change(&last, values)?.f_masked_fill(&is_first, 0.0)?;
        let first_score = choose_where(&is_first, &score, &self.part(FIRST_SCORE)?)?;
        let parts = Tensor::f_stack(
            &[
                values,
                &last,
                &score,
                &standard,
                &score_change,
                &change,
                &first_score,
                &self.part(SCORE_SUM)?.f_add(&score)?,
                &seen.f_add_scalar(1.0)?,
            ],
            0,
        )?;
        self.parts = choose_where(&is_missing, &self.parts, &parts)?;
        self.was_missing = is_missing.f_to_kind(Kind::Double)?;
        let observed = Tensor::f_stack(&[&score, &standard, &self.was_missing, &change], 1)?;
        let none = no_number(values.size()[0], values.device())?;
        let observed = observed.f_to_kind(Kind::Float)?;
        choose_where(&is_missing.f_unsqueeze(1)?, &none, &observed)
    }

    /// The history features of the column, `[sequences, features]`.
    pub(super) fn features(&self) -> Result<Tensor, ModelError> {
        let seen = self.part(SEEN)?;
        let mean = self.part(SCORE_SUM)?.f_div(&seen.f_clamp_min(1.0)?)?;
        let is_first = seen.f_eq(0.0)?.f_to_kind(Kind::Double)?;
        let rest = Tensor::f_stack(&[&mean, &self.was_missing, &is_first], 0)?;
        let last = self.parts.f_narrow(0, SCORE, FIRST_SCORE + 1 - SCORE)?;
        let features = Tensor::f_cat(&[last, rest], 0)?.f_transpose(0, 1)?;
        Ok(features.f_to_kind(Kind::Float)?)
    }
}

/// `NO_NUMBER` of `history.rs` for each of some rows: all 0 but "missing".
pub(super) fn no_number(rows: i64, device: Device) -> Result<Tensor, ModelError> {
    let features = Tensor::f_zeros([rows, long(CURRENT_FEATURES)], (Kind::Float, device))?;
    let _ = features.f_select(1, 2)?.f_fill_(1.0)?;
    Ok(features)
}

/// `round_difference` of `layout.rs`.
fn rounded_difference(difference: &Tensor, size: &Tensor) -> Result<Tensor, ModelError> {
    // 1e8 is exact, and its quotient is a feature: the last bit that CUDA's division by a host number costs is lost in f32.
    let rounded = round(&difference.f_mul_scalar(ROUNDED_PARTS)?)?.f_div_scalar(ROUNDED_PARTS)?;
    let is_exact = difference
        .f_eq_tensor(&difference.f_trunc()?)?
        .f_logical_or(&size.f_gt(LARGEST_ROUNDED)?)?;
    let exact = difference.f_clamp(f64::MIN, f64::MAX)?;
    choose_where(&is_exact, &exact, &rounded)
}
