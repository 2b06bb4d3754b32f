//! The row decoder's heads: for each column a distribution over classes and, for the continuous class, a mixture of
//! logistics over normal scores.
//! In: one hidden vector a head. Out: the exact negative log-likelihood of targets, or the numbers to draw from.
//!
//! Means start at the column's last score, by a share that the hidden vector decides row by row: a random walk keeps all
//! of it, a drift over a shorter gap a part.
//!
//! A value that was rounded stands for an interval of scores, and a mixture of logistics gives an interval's
//! probability in closed form (Salimans et al. 2017, PixelCNN++, eq. 2), so nothing is lost to jitter.

mod tensors;

pub(crate) use tensors::{HeadTensors, MixtureTensors};

use super::parameters::{Plan, Start};
use super::{ModelError, long};
use crate::layout::Head;
use std::cell::OnceCell;
use tch::{Device, Kind, Tensor};

/// Heads with up to this many classes are padded to one block; wider ones have a matrix each.
const NARROW_CLASSES: usize = 64;
/// Log scales of the mixture are clamped here.
const LOG_SCALE: (f64, f64) = (-5.0, 3.0);
const FIRST_LOG_SCALE: f64 = -0.7;
/// Output weights start this much smaller than usual, so that training starts near the uniform distribution.
const OUTPUT_GAIN: f64 = 0.3;
/// The logit of a slot that is no class.
const NO_CLASS: f32 = -1e9;

/// Which heads there are and where their outputs lie.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DecoderShape {
    pub(crate) heads: Vec<Head>,
    width: i64,
    components: i64,
    /// How far from 0 the outermost means start, in scores.
    spread: f64,
    narrow: Vec<usize>,
    wide: Vec<usize>,
    mixed: Vec<usize>,
    narrow_classes: i64,
}

/// Views of a decoder's weights.
#[derive(Debug)]
pub(crate) struct Decoder {
    pub(crate) shape: DecoderShape,
    narrow_weight: Tensor,
    narrow_bias: Tensor,
    wide: Vec<(Tensor, Tensor)>,
    mixture_weight: Tensor,
    mixture_bias: Tensor,
    skip_gate_weight: Tensor,
    skip_gate_bias: Tensor,
    /// 0 where a slot is a class, a large negative number where it is none; `[narrow heads, 1, classes]`
    class_slots: Tensor,
    outputs: OnceCell<Vec<OutputWeights>>,
}

/// All that a head says in one product: logits, then mixture and skip gate where it has them.
#[derive(Debug)]
struct OutputWeights {
    /// `[width, outputs]`
    weight: Tensor,
    /// `[outputs]`
    bias: Tensor,
}

/// Targets of a batch on the device, one matrix row a head.
#[derive(Debug)]
pub(crate) struct TargetTensors {
    /// `[heads, rows]`, i64, 0 where inactive
    pub(crate) class: Tensor,
    /// `[heads, rows]`, 1 where the head has something to say
    pub(crate) active: Tensor,
    /// `[heads, rows]`
    pub(crate) low: Tensor,
    /// `[heads, rows]`
    pub(crate) high: Tensor,
    /// `[heads, rows]`
    pub(crate) skip: Tensor,
}

/// What a head says about a batch of rows, on the host.
#[derive(Debug, Clone)]
pub(crate) struct HeadOutput {
    pub(crate) classes: usize,
    /// Without a continuous class 0.
    pub(crate) components: usize,
    /// `[rows, outputs]`: logits, then of a mixture log weights, means, log scales and what the skip gate was made of
    pub(crate) said: Vec<f32>,
}

impl HeadOutput {
    fn width(&self) -> usize {
        self.classes + outputs_of_mixture(self.components)
    }

    pub(crate) fn rows(&self) -> usize {
        self.said.len() / self.width().max(1)
    }

    pub(crate) fn logits(&self, row: usize) -> &[f32] {
        &self.said[row * self.width()..][..self.classes]
    }

    /// Log weights, means and log scales of a row; empty without a continuous class.
    pub(crate) fn mixture(&self, row: usize) -> &[f32] {
        &self.said[row * self.width() + self.classes..][..3 * self.components]
    }
}

/// Log weights, means, log scales and the skip gate; nothing without a mixture.
fn outputs_of_mixture(components: usize) -> usize {
    match components {
        0 => 0,
        components => 3 * components + 1,
    }
}

impl DecoderShape {
    pub(crate) fn new(heads: Vec<Head>, width: i64, components: i64, spread: f64) -> DecoderShape {
        let positions = |wanted: &dyn Fn(&Head) -> bool| {
            heads
                .iter()
                .enumerate()
                .filter(|(_, head)| wanted(head))
                .map(|(at, _)| at)
                .collect::<Vec<_>>()
        };
        let narrow = positions(&|head| head.classes <= NARROW_CLASSES);
        DecoderShape {
            width,
            components,
            spread,
            wide: positions(&|head| head.classes > NARROW_CLASSES),
            mixed: positions(&|head| head.continuous.is_some()),
            narrow_classes: narrow
                .iter()
                .map(|&at| long(heads[at].classes))
                .max()
                .unwrap_or(1),
            narrow,
            heads,
        }
    }

    /// Adds the weights that [`Decoder::new`] takes.
    pub(crate) fn plan(&self, plan: &mut Plan) {
        let output = Start::Uniform(OUTPUT_GAIN / (self.width as f64).sqrt());
        let bias = Start::Uniform(1.0 / (self.width as f64).sqrt());
        let (narrow, mixed) = (long(self.narrow.len()), long(self.mixed.len()));
        plan.add(
            "class_weight",
            &[narrow, self.width, self.narrow_classes],
            output,
        );
        plan.add("class_bias", &[narrow, 1, self.narrow_classes], bias);
        for &head in &self.wide {
            let classes = long(self.heads[head].classes);
            plan.add(
                &format!("class_weight_{head}"),
                &[self.width, classes],
                output,
            );
            plan.add(&format!("class_bias_{head}"), &[classes], bias);
        }
        let mixture = Start::Mixture {
            components: usize::try_from(self.components).unwrap_or(1),
            spread: self.spread,
            log_scale: FIRST_LOG_SCALE,
        };
        plan.add(
            "mixture_weight",
            &[mixed, self.width, 3 * self.components],
            output,
        );
        plan.add("mixture_bias", &[mixed, 1, 3 * self.components], mixture);
        plan.add(
            "skip_gate_weight",
            &[mixed, self.width, 1],
            Start::Constant(0.0),
        );
        plan.add("skip_gate_bias", &[mixed, 1, 1], Start::Constant(0.0));
    }

    /// Numbers that a head says of each row.
    pub(crate) fn outputs(&self, head: usize) -> i64 {
        let Head {
            classes,
            continuous,
            ..
        } = self.heads[head];
        let components = usize::try_from(self.components).unwrap_or(1);
        long(classes + outputs_of_mixture(continuous.map_or(0, |_| components)))
    }

    fn class_slots(&self, device: Device) -> Result<Tensor, ModelError> {
        let slots: Vec<f32> = self
            .narrow
            .iter()
            .flat_map(|&head| {
                let classes = long(self.heads[head].classes);
                (0..self.narrow_classes)
                    .map(move |slot| if slot < classes { 0.0 } else { NO_CLASS })
            })
            .collect();
        let shape = [long(self.narrow.len()), 1, self.narrow_classes];
        Ok(Tensor::f_from_slice(&slots)?
            .f_view(shape)?
            .f_to_device(device)?)
    }
}

impl Decoder {
    /// Takes its weights from `views`, in the order of [`DecoderShape::plan`].
    pub(crate) fn new(
        shape: &DecoderShape,
        views: &mut impl Iterator<Item = Tensor>,
    ) -> Result<Decoder, ModelError> {
        let mut next = || {
            views.next().ok_or(ModelError::Shape {
                what: "decoder weights",
                found: vec![],
                wanted: vec![1],
            })
        };
        let (narrow_weight, narrow_bias) = (next()?, next()?);
        let wide = shape
            .wide
            .iter()
            .map(|_| Ok((next()?, next()?)))
            .collect::<Result<_, ModelError>>()?;
        let (mixture_weight, mixture_bias) = (next()?, next()?);
        let (skip_gate_weight, skip_gate_bias) = (next()?, next()?);
        let class_slots = shape.class_slots(narrow_weight.device())?;
        Ok(Decoder {
            shape: shape.clone(),
            narrow_weight,
            narrow_bias,
            wide,
            mixture_weight,
            mixture_bias,
            skip_gate_weight,
            skip_gate_bias,
            class_slots,
            outputs: OnceCell::new(),
        })
    }

    /// Negative log-likelihood, in nats, of each head's targets: `[heads, rows]`, 0 where inactive.
    /// # Shapes
    /// `hidden` `[heads, rows, width]`.
    pub(crate) fn losses(
        &self,
        hidden: &Tensor,
        targets: &TargetTensors,
    ) -> Result<Tensor, ModelError> {
        let classes = self.class_losses(hidden, targets)?; // [heads, rows]
        if self.shape.mixed.is_empty() {
            return Ok(classes);
        }
        Ok(classes.f_add(&self.mixture_losses(hidden, targets)?)?)
    }

    fn class_losses(&self, hidden: &Tensor, targets: &TargetTensors) -> Result<Tensor, ModelError> {
        let pick = |log_shares: &Tensor, class: &Tensor| -> Result<Tensor, ModelError> {
            Ok(log_shares
                .f_gather(-1, &class.f_unsqueeze(-1)?, false)?
                .f_squeeze_dim(-1)?)
        };
        let mut parts: Vec<Tensor> = Vec::with_capacity(1 + self.wide.len());
        if !self.shape.narrow.is_empty() {
            let logits = self.rows_of(hidden, &self.shape.narrow)?; // [narrow, rows, width]
            let logits = logits
                .f_matmul(&self.narrow_weight)?
                .f_add(&self.narrow_bias)?
                .f_add(&self.class_slots)?;
            let class = self.rows_of(&targets.class, &self.shape.narrow)?;
            parts.push(pick(&logits.f_log_softmax(-1, Kind::Float)?, &class)?);
        }
        for (&head, (weight, bias)) in self.shape.wide.iter().zip(&self.wide) {
            let logits = hidden
                .f_select(0, long(head))?
                .f_matmul(weight)?
                .f_add(bias)?; // [rows, classes]
            let class = targets.class.f_select(0, long(head))?;
            parts.push(pick(&logits.f_log_softmax(-1, Kind::Float)?, &class)?.f_unsqueeze(0)?);
        }
        let likelihoods = Tensor::f_cat(&parts, 0)?;
        let order = self.back_to_heads(&[&self.shape.narrow, &self.shape.wide]);
        let likelihoods = if self.shape.wide.is_empty() {
            likelihoods
        } else {
            self.rows_of(&likelihoods, &order)?
        };
        Ok(likelihoods.f_mul(&targets.active)?.f_neg()?)
    }

    fn mixture_losses(
        &self,
        hidden: &Tensor,
        targets: &TargetTensors,
    ) -> Result<Tensor, ModelError> {
        let shape = &self.shape;
        let hidden = self.rows_of(hidden, &shape.mixed)?;
        let outputs = hidden
            .f_matmul(&self.mixture_weight)?
            .f_add(&self.mixture_bias)?
            .f_to_kind(Kind::Float)?;
        let components = shape.components;
        let log_weights = outputs
            .f_narrow(-1, 0, components)?
            .f_log_softmax(-1, Kind::Float)?;
        let skip = self.rows_of(&targets.skip, &shape.mixed)?.f_unsqueeze(-1)?;
        let gate = hidden
            .f_matmul(&self.skip_gate_weight)?
            .f_add(&self.skip_gate_bias)?
            .f_to_kind(Kind::Float)?
            .f_sigmoid()?; // [mixed, rows, 1]
        let means = outputs
            .f_narrow(-1, components, components)?
            .f_add(&skip.f_mul(&gate)?)?;
        let log_scales = outputs
            .f_narrow(-1, 2 * components, components)?
            .f_clamp(LOG_SCALE.0, LOG_SCALE.1)?;
        let inverse = log_scales.f_neg()?.f_exp()?; // [mixed, rows, components]
        let end = |ends: &Tensor| -> Result<Tensor, ModelError> {
            Ok(self
                .rows_of(ends, &shape.mixed)?
                .f_unsqueeze(-1)?
                .f_sub(&means)?
                .f_mul(&inverse)?)
        };
        let (low, high) = (end(&targets.low)?, end(&targets.high)?);
        // log(sigmoid(high) - sigmoid(low)) without cancellation; the clamp keeps an inactive row's gradient finite.
        let difference = low
            .f_sub(&high)?
            .f_clamp_max(-1e-7)?
            .f_expm1()?
            .f_neg()?
            .f_log()?;
        let inside = high
            .f_log_sigmoid()?
            .f_add(&low.f_neg()?.f_log_sigmoid()?)?
            .f_add(&difference)?;
        let likelihoods = log_weights.f_add(&inside)?.f_logsumexp([-1], false)?; // [mixed, rows]
        let wanted: Vec<i64> = shape
            .mixed
            .iter()
            .filter_map(|&head| shape.heads[head].continuous.map(long))
            .collect();
        let wanted = Tensor::f_from_slice(&wanted)?
            .f_view([-1, 1])?
            .f_to_device(hidden.device())?;
        let applies = self
            .rows_of(&targets.class, &shape.mixed)?
            .f_eq_tensor(&wanted)?
            .f_to_kind(Kind::Float)?;
        let applies = applies.f_mul(&self.rows_of(&targets.active, &shape.mixed)?)?;
        let losses = likelihoods.f_mul(&applies)?.f_neg()?;
        if shape.mixed.len() == shape.heads.len() {
            return Ok(losses);
        }
        let rest: Vec<usize> = (0..shape.heads.len())
            .filter(|head| !shape.mixed.contains(head))
            .collect();
        let zeros = losses.f_new_zeros(
            [long(rest.len()), losses.size()[1]],
            (Kind::Float, losses.device()),
        )?;
        let order = self.back_to_heads(&[&shape.mixed, &rest]);
        self.rows_of(&Tensor::f_cat(&[losses, zeros], 0)?, &order)
    }

    /// Rows of `matrix` along its first dimension; the matrix itself when they are all of them in order.
    fn rows_of(&self, matrix: &Tensor, rows: &[usize]) -> Result<Tensor, ModelError> {
        if long(rows.len()) == matrix.size()[0]
            && rows.iter().enumerate().all(|(at, &row)| at == row)
        {
            return Ok(matrix.shallow_clone());
        }
        let rows: Vec<i64> = rows.iter().map(|&row| long(row)).collect();
        let rows = Tensor::f_from_slice(&rows)?.f_to_device(matrix.device())?;
        Ok(matrix.f_index_select(0, &rows)?)
    }

    /// Where each head lies in the concatenation of groups of heads.
    fn back_to_heads(&self, groups: &[&Vec<usize>]) -> Vec<usize> {
        let mut order = vec![0; self.shape.heads.len()];
        for (at, &head) in groups.iter().flat_map(|group| group.iter()).enumerate() {
            order[head] = at;
        }
        order
    }

    /// What one head says, brought to the host.
    /// # Shapes
    /// `hidden` `[rows, width]`, `skip` one score a row, or none where no row follows another.
    pub(crate) fn output(
        &self,
        head: usize,
        hidden: &Tensor,
        skip: &[f32],
    ) -> Result<HeadOutput, ModelError> {
        let OutputWeights { weight, bias } = self.weights_of(head)?;
        let said = to_host(&bias.f_addmm(hidden, weight)?)?;
        Ok(self.finish(head, said, skip))
    }

    /// As [`Decoder::output`], by way of a tensor `[rows, outputs]` that is there.
    pub(crate) fn output_into(
        &self,
        head: usize,
        hidden: &Tensor,
        skip: &[f32],
        said: &Tensor,
    ) -> Result<HeadOutput, ModelError> {
        let OutputWeights { weight, bias } = self.weights_of(head)?;
        let _ = bias.f_addmm_out(said, hidden, weight)?;
        Ok(self.finish(head, to_host(said)?, skip))
    }

    /// What came of the product, on the host, with means moved by the gated skip and log scales clamped, as the loss does.
    fn finish(&self, head: usize, said: Vec<f32>, skip: &[f32]) -> HeadOutput {
        let shape = self.shape.heads[head];
        let mut output = HeadOutput {
            classes: shape.classes,
            components: shape.continuous.map_or(0, |_| self.components()),
            said,
        };
        let (width, components) = (output.width(), output.components);
        if components == 0 {
            return output;
        }
        #[allow(clippy::cast_possible_truncation, reason = "the network works in f32")]
        let (lowest, highest) = (LOG_SCALE.0 as f32, LOG_SCALE.1 as f32);
        for (at, row) in output.said.chunks_exact_mut(width).enumerate() {
            let (mixture, gate) = row[shape.classes..].split_at_mut(3 * components);
            match skip.get(at) {
                Some(&skip) if skip != 0.0 => {
                    let skip = skip / (1.0 + (-gate[0]).exp());
                    for mean in &mut mixture[components..2 * components] {
                        *mean += skip;
                    }
                }
                _ => {}
            }
            for log_scale in &mut mixture[2 * components..] {
                *log_scale = log_scale.clamp(lowest, highest);
            }
        }
        output
    }

    /// A head's weights side by side, put together at the first call for any head.
    fn weights_of(&self, head: usize) -> Result<&OutputWeights, ModelError> {
        let outputs = match self.outputs.get() {
            Some(outputs) => outputs,
            None => {
                let made = (0..self.shape.heads.len()).map(|head| self.output_weights(head));
                let made = made.collect::<Result<_, ModelError>>()?;
                self.outputs.get_or_init(|| made)
            }
        };
        Ok(&outputs[head])
    }

    /// A head's weights side by side.
    fn output_weights(&self, head: usize) -> Result<OutputWeights, ModelError> {
        let classes = long(self.shape.heads[head].classes);
        let position = |group: &[usize]| group.iter().position(|&at| at == head).map(long);
        let of_head = |tensor: &Tensor, at: i64| tensor.f_select(0, at);
        let (mut weights, mut biases) = (Vec::new(), Vec::new());
        if let Some(at) = position(&self.shape.narrow) {
            weights.push(of_head(&self.narrow_weight, at)?.f_narrow(1, 0, classes)?);
            biases.push(of_head(&self.narrow_bias, at)?.f_narrow(1, 0, classes)?);
        } else if let Some(at) = self.shape.wide.iter().position(|&wide| wide == head) {
            let (weight, bias) = &self.wide[at];
            weights.push(weight.shallow_clone());
            biases.push(bias.f_unsqueeze(0)?);
        }
        if let Some(at) = position(&self.shape.mixed) {
            weights.push(of_head(&self.mixture_weight, at)?);
            biases.push(of_head(&self.mixture_bias, at)?);
            weights.push(of_head(&self.skip_gate_weight, at)?);
            biases.push(of_head(&self.skip_gate_bias, at)?);
        }
        Ok(OutputWeights {
            weight: Tensor::f_cat(&weights, 1)?,
            bias: Tensor::f_cat(&biases, 1)?.f_squeeze_dim(0)?,
        })
    }

    fn components(&self) -> usize {
        usize::try_from(self.shape.components).unwrap_or(1)
    }
}

/// A tensor's numbers, row after row.
pub(crate) fn to_host(tensor: &Tensor) -> Result<Vec<f32>, ModelError> {
    let is_there = (tensor.device(), tensor.kind()) == (Device::Cpu, Kind::Float);
    let tensor = match is_there && tensor.is_contiguous() {
        true => tensor.shallow_clone(),
        false => tensor
            .f_to_device(Device::Cpu)?
            .f_to_kind(Kind::Float)?
            .f_contiguous()?,
    };
    let mut numbers = vec![0.0; tensor.numel()];
    tensor.f_copy_data(&mut numbers, tensor.numel())?;
    Ok(numbers)
}
