//! Dropout (Srivastava et al. 2014) with masks from our own stream, so that a seed decides them and threads cannot.

use super::ModelError;
use rand::Rng;
use rand::rngs::ChaCha12Rng;
use tch::{Kind, Tensor};

/// Whether a network is trained or used.
#[derive(Debug)]
pub(crate) enum Mode<'a> {
    /// Random masks at these rates.
    Train {
        dropout: f64,
        generator: &'a mut ChaCha12Rng,
    },
    /// No masks.
    Use,
}

impl Mode<'_> {
    /// Zeroes elements at the dropout rate and scales the others up.
    pub(crate) fn dropout(&mut self, input: &Tensor) -> Result<Tensor, ModelError> {
        let Mode::Train { dropout, generator } = self else {
            return Ok(input.shallow_clone());
        };
        match mask(&input.size(), *dropout, generator)? {
            Some((mask, kept)) => Ok(input
                .f_mul(&mask.f_to_device(input.device())?.f_to_kind(input.kind())?)?
                .f_mul_scalar(1.0 / kept)?),
            None => Ok(input.shallow_clone()),
        }
    }

    /// A column of ones and zeros `[rows, 1]` at a rate of zeros; none when not training.
    pub(crate) fn row_mask(&mut self, rows: i64, rate: f64) -> Result<Option<Tensor>, ModelError> {
        let Mode::Train { generator, .. } = self else {
            return Ok(None);
        };
        Ok(mask(&[rows, 1], rate, generator)?.map(|(mask, _)| mask))
    }
}

/// A mask of ones and zeros, and the share of ones; none at rate 0. The rate is met to within 1/512.
fn mask(
    shape: &[i64],
    rate: f64,
    generator: &mut ChaCha12Rng,
) -> Result<Option<(Tensor, f64)>, ModelError> {
    let dropped = (rate * 256.0).round();
    if dropped <= 0.0 {
        return Ok(None);
    }
    let count = usize::try_from(shape.iter().product::<i64>()).unwrap_or(0);
    let mut bytes = vec![0_u8; count];
    generator.fill_bytes(&mut bytes);
    let mask = Tensor::f_from_slice(&bytes)?
        .f_ge(dropped)?
        .f_to_kind(Kind::Float)?
        .f_view(shape)?;
    Ok(Some((mask, 1.0 - dropped / 256.0)))
}
