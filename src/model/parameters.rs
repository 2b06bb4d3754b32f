//! All weights of a network in ONE contiguous buffer.
//! In: a [`Plan`] of named shapes. Out: [`Parameters`], one flat leaf tensor; the weights that operators receive are
//! views of it, so they stay contiguous through creation, training, loading, device moves and casts.
//!
//! The recurrent weights come first and lie in cuDNN's own order (all matrices layer by layer, then all biases), so
//! that cuDNN finds its packed buffer in place and compacts nothing.

use super::ModelError;
use crate::rng::uniform;
use rand::rngs::ChaCha12Rng;
use tch::{Device, Kind, Tensor};

/// How a weight starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Start {
    /// Uniform within plus or minus the bound.
    Uniform(f64),
    /// Standard normal.
    Normal,
    /// The same number everywhere.
    Constant(f64),
    /// Rows that repeat an even spread of `count` numbers from `-bound` to `bound` between zeros and a constant:
    /// mixture weights 0, means spread, log scales constant.
    Mixture {
        components: usize,
        spread: f64,
        log_scale: f64,
    },
}

/// One named weight.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) shape: Vec<i64>,
    pub(crate) start: Start,
}

impl Entry {
    pub(crate) fn numel(&self) -> i64 {
        self.shape.iter().product()
    }
}

/// The names, shapes and order of a network's weights.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Plan {
    pub(crate) entries: Vec<Entry>,
}

impl Plan {
    /// Adds a weight at the end of the buffer.
    pub(crate) fn add(&mut self, name: &str, shape: &[i64], start: Start) {
        self.entries.push(Entry {
            name: name.to_owned(),
            shape: shape.to_vec(),
            start,
        });
    }

    /// Adds an LSTM's weights, to be added first: PyTorch's U(-1/sqrt(hidden), 1/sqrt(hidden)).
    pub(crate) fn add_lstm(&mut self, input: i64, hidden: i64, layers: i64) {
        let start = Start::Uniform(1.0 / (hidden as f64).sqrt());
        for layer in 0..layers {
            let width = if layer == 0 { input } else { hidden };
            self.add(
                &format!("lstm_input_weight_{layer}"),
                &[4 * hidden, width],
                start,
            );
            self.add(
                &format!("lstm_hidden_weight_{layer}"),
                &[4 * hidden, hidden],
                start,
            );
        }
        for layer in 0..layers {
            self.add(&format!("lstm_input_bias_{layer}"), &[4 * hidden], start);
            self.add(&format!("lstm_hidden_bias_{layer}"), &[4 * hidden], start);
        }
    }

    /// Length of the buffer.
    pub(crate) fn numel(&self) -> i64 {
        self.entries.iter().map(Entry::numel).sum()
    }

    /// Starting weights, drawn from our own stream in the buffer's order.
    pub(crate) fn draw(&self, generator: &mut ChaCha12Rng) -> Vec<f32> {
        let mut values = Vec::new();
        for entry in &self.entries {
            let count = usize::try_from(entry.numel()).unwrap_or(0);
            let columns = entry
                .shape
                .last()
                .and_then(|&n| usize::try_from(n).ok())
                .unwrap_or(1)
                .max(1);
            values.extend((0..count).map(|i| {
                #[allow(clippy::cast_possible_truncation, reason = "weights are f32")]
                let start = entry.start.draw(i % columns, generator) as f32;
                start
            }));
        }
        values
    }
}

impl Start {
    fn draw(self, column: usize, generator: &mut ChaCha12Rng) -> f64 {
        match self {
            Start::Uniform(bound) => (2.0 * uniform(generator) - 1.0) * bound,
            // Box and Muller (1958).
            Start::Normal => {
                let (radius, angle) = (uniform(generator), uniform(generator));
                (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
            }
            Start::Constant(value) => value,
            Start::Mixture {
                components,
                spread,
                log_scale,
            } => match column / components {
                0 => 0.0,
                1 if components > 1 => {
                    let place = (column - components) as f64 / (components - 1) as f64;
                    (2.0 * place - 1.0) * spread
                }
                1 => 0.0,
                _ => log_scale,
            },
        }
    }
}

/// A network's weights: a plan and the one buffer that holds them.
#[derive(Debug)]
pub(crate) struct Parameters {
    plan: Plan,
    flat: Tensor,
}

impl Parameters {
    /// Takes values in the plan's order onto a device.
    pub(crate) fn new(
        plan: Plan,
        values: &[f32],
        device: Device,
    ) -> Result<Parameters, ModelError> {
        let flat = Tensor::f_from_slice(values)?.f_to_device(device)?;
        Parameters::from_flat(plan, flat)
    }

    /// Takes a flat tensor that already holds the weights.
    pub(crate) fn from_flat(plan: Plan, flat: Tensor) -> Result<Parameters, ModelError> {
        if flat.size() != [plan.numel()] {
            return Err(ModelError::Shape {
                what: "weight buffer",
                found: flat.size(),
                wanted: vec![plan.numel()],
            });
        }
        Ok(Parameters { plan, flat })
    }

    /// The buffer.
    pub(crate) fn flat(&self) -> &Tensor {
        &self.flat
    }

    /// The plan.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// A handle on the same buffer.
    pub(crate) fn share(&self) -> Parameters {
        Parameters {
            plan: self.plan.clone(),
            flat: self.flat.shallow_clone(),
        }
    }

    /// A copy of the whole buffer on another device or in another kind; one buffer again.
    pub(crate) fn to(&self, device: Device, kind: Kind) -> Result<Parameters, ModelError> {
        let flat = self.flat.f_detach()?.f_to_device(device)?.f_to_kind(kind)?;
        Ok(Parameters {
            plan: self.plan.clone(),
            flat,
        })
    }

    /// The same weights in another kind, one buffer again; gradients of these come back to the buffer they were cast from.
    pub(crate) fn cast(&self, kind: Kind) -> Result<Parameters, ModelError> {
        Ok(Parameters {
            plan: self.plan.clone(),
            flat: self.flat.f_to_kind(kind)?,
        })
    }

    /// Views of all weights, in the plan's order. Their gradients come back to the buffer in one piece.
    pub(crate) fn views(&self) -> Result<Vec<Tensor>, ModelError> {
        let sizes: Vec<i64> = self.plan.entries.iter().map(Entry::numel).collect();
        let parts = self.flat.f_split_with_sizes(&sizes, 0)?;
        parts
            .iter()
            .zip(&self.plan.entries)
            .map(|(part, entry)| Ok(part.f_view(entry.shape.as_slice())?))
            .collect()
    }

    /// Whether every view lies where the plan says in one buffer: nothing for cuDNN to compact.
    pub(crate) fn is_contiguous(&self) -> Result<bool, ModelError> {
        let views = self.views()?;
        let bytes = self.flat.kind().elt_size_in_bytes();
        let start = self.flat.data_ptr() as usize;
        let mut offset = 0;
        for (view, entry) in views.iter().zip(&self.plan.entries) {
            // A view of nothing has no address.
            let is_in_place = entry.numel() == 0 || view.data_ptr() as usize == start + offset;
            if !is_in_place || !view.is_contiguous() {
                return Ok(false);
            }
            offset += usize::try_from(entry.numel()).unwrap_or(0) * bytes;
        }
        Ok(self.flat.is_contiguous())
    }

    /// Whether no weight is NaN or infinite.
    pub(crate) fn is_finite(&self) -> Result<bool, ModelError> {
        let finite = self.flat.f_isfinite()?.f_all()?;
        Ok(bool::try_from(finite)?)
    }

    /// All weights as plain numbers, in the plan's order.
    pub(crate) fn values(&self) -> Result<Vec<f32>, ModelError> {
        let flat = self
            .flat
            .f_detach()?
            .f_to_device(Device::Cpu)?
            .f_to_kind(Kind::Float)?;
        Ok(Vec::<f32>::try_from(flat)?)
    }
}
