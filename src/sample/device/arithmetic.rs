//! Arithmetic of the host that libtorch does otherwise.

use crate::model::ModelError;
use tch::Tensor;

/// The nearest whole number, halves away from 0 as `f64::round` does; libtorch rounds them to even.
pub(super) fn round(values: &Tensor) -> Result<Tensor, ModelError> {
    let whole = values.f_trunc()?;
    // An infinity less itself is no number; it has no part to round.
    let part = values.f_sub(&whole)?.f_nan_to_num(0.0, None, None)?;
    Ok(part.f_mul_scalar(2.0)?.f_trunc()?.f_add(&whole)?)
}

/// `values` where a condition holds, `others` elsewhere.
pub(super) fn choose_where(
    condition: &Tensor,
    values: &Tensor,
    others: &Tensor,
) -> Result<Tensor, ModelError> {
    Ok(values.f_where_self(condition, others)?)
}
