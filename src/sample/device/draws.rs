//! Draws by inverse distribution functions: uniform numbers in, classes and scores out, all sequences at once.
//! The same functions as `draw.rs` has on the host, from numbers that are at hand before the step begins.

use super::super::draw::TAIL;
use crate::model::ModelError;
use crate::model::decoder::MixtureTensors;
use tch::{Kind, Tensor};

/// A position drawn by softmax(logits / temperature) over those that are not banned; 0 where all are.
/// # Shapes
/// `logits` `[rows, positions]`, `banned` alike or `[1, positions]`, `uniform` `[rows]`; out `[rows]`, i64.
pub(super) fn position(
    logits: &Tensor,
    banned: Option<&Tensor>,
    temperature: f64,
    uniform: &Tensor,
) -> Result<Tensor, ModelError> {
    let [rows, positions] = logits.size()[..] else {
        return Err(ModelError::Shape {
            what: "logits",
            found: logits.size(),
            wanted: vec![uniform.size()[0], 1],
        });
    };
    if positions == 1 {
        return Ok(uniform.f_new_zeros([rows], (Kind::Int64, uniform.device()))?);
    }
    let logits = logits.f_to_kind(Kind::Double)?;
    let allowed = match banned {
        Some(banned) => logits.f_masked_fill(banned, f64::NEG_INFINITY)?,
        None => logits,
    };
    let most = allowed.f_amax([1], true)?;
    let mut weights = allowed.f_sub(&most)?.f_div_scalar(temperature)?.f_exp()?;
    if let Some(banned) = banned {
        // Where all are banned the weights are no numbers.
        weights = weights.f_masked_fill(banned, 0.0)?;
    }
    let up_to = weights.f_cumsum(1, Kind::Double)?;
    let left = up_to
        .f_narrow(1, positions - 1, 1)?
        .f_mul(&uniform.f_unsqueeze(1)?)?;
    Ok(up_to
        .f_lt_tensor(&left)?
        .f_sum_dim_intlist(1, false, Kind::Int64)?
        .f_clamp_max(positions - 1)?)
}

/// A score drawn from a mixture of logistics.
/// # Shapes
/// `component` and `share`, both uniform, `[rows]`; out `[rows]`, f64.
pub(super) fn score(
    mixture: &MixtureTensors,
    temperature: f64,
    component: &Tensor,
    share: &Tensor,
) -> Result<Tensor, ModelError> {
    let chosen = position(&mixture.log_weights, None, 1.0, component)?.f_unsqueeze(1)?;
    let of_chosen = |values: &Tensor| -> Result<Tensor, ModelError> {
        Ok(values
            .f_gather(1, &chosen, false)?
            .f_squeeze_dim(1)?
            .f_to_kind(Kind::Double)?)
    };
    let share = share.f_clamp(TAIL, 1.0 - TAIL)?;
    let odds = share.f_div(&share.f_neg()?.f_add_scalar(1.0)?)?;
    let scale = of_chosen(&mixture.log_scales)?
        .f_exp()?
        .f_mul_scalar(temperature)?;
    Ok(scale
        .f_mul(&odds.f_log()?)?
        .f_add(&of_chosen(&mixture.means)?)?)
}
