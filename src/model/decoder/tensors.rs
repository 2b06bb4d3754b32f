//! What a head says, left on its device.
//! In: one hidden vector a row. Out: [`HeadTensors`], the same numbers as those of a [`HeadOutput`](super::HeadOutput).

use super::{Decoder, Head, LOG_SCALE, ModelError, long};
use tch::Tensor;

/// What a head says about a batch of rows, in f32 on the network's device.
#[derive(Debug)]
pub(crate) struct HeadTensors {
    /// `[rows, classes]`
    pub(crate) logits: Tensor,
    pub(crate) mixture: Option<MixtureTensors>,
}

/// The mixture of logistics of the continuous class; `[rows, components]` each.
#[derive(Debug)]
pub(crate) struct MixtureTensors {
    pub(crate) log_weights: Tensor,
    pub(crate) means: Tensor,
    pub(crate) log_scales: Tensor,
}

impl Decoder {
    /// What one head says, on the device.
    /// # Shapes
    /// `hidden` `[rows, width]`, `skip` `[rows]` in f32, or none where no row follows another.
    pub(crate) fn output_tensors(
        &self,
        head: usize,
        hidden: &Tensor,
        skip: Option<&Tensor>,
    ) -> Result<HeadTensors, ModelError> {
        let weights = self.weights_of(head)?;
        let said = weights.bias.f_addmm(hidden, &weights.weight)?;
        let Head {
            classes,
            continuous,
            ..
        } = self.shape.heads[head];
        let (classes, components) = (long(classes), self.shape.components);
        let mixture = match continuous {
            Some(_) => {
                let part = |at: i64| said.f_narrow(1, classes + at * components, components);
                let mut means = part(1)?;
                if let Some(skip) = skip {
                    let gate = said.f_narrow(1, classes + 3 * components, 1)?.f_sigmoid()?;
                    means = means.f_add(&gate.f_mul(&skip.f_unsqueeze(1)?)?)?;
                }
                Some(MixtureTensors {
                    log_weights: part(0)?,
                    means,
                    log_scales: part(2)?.f_clamp(LOG_SCALE.0, LOG_SCALE.1)?,
                })
            }
            None => None,
        };
        Ok(HeadTensors {
            logits: said.f_narrow(1, 0, classes)?,
            mixture,
        })
    }
}
