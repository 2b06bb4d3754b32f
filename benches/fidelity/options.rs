//! Options of fit and sampling that an ablation may change; what is not given keeps the crate's default.

use clap::Args;
use parsynth::{ParSynthesizerBuilder, SampleOptions};
use serde::Serialize;
use std::fmt;

/// The builder's options of these names, which say range and default; the crate refuses values outside.
#[derive(Args, Serialize)]
#[command(next_help_heading = "Options of the fit, by default the crate's")]
pub(crate) struct FitOptions {
    /// Width of the LSTM
    #[arg(long)]
    hidden_size: Option<usize>,
    /// Layers of the LSTM
    #[arg(long)]
    layers: Option<usize>,
    /// At most this many passes over the data
    #[arg(long)]
    epochs: Option<usize>,
    /// Sequences in a minibatch
    #[arg(long)]
    batch_size: Option<usize>,
    /// Adam's first learning rate
    #[arg(long)]
    learning_rate: Option<f64>,
    /// Share of inputs and hidden units dropped in training
    #[arg(long)]
    dropout: Option<f64>,
    /// Share of the sequences held out to tell when to stop
    #[arg(long)]
    validation_share: Option<f64>,
    /// Optimizer steps without a gain after which training stops
    #[arg(long)]
    patience_steps: Option<usize>,
    /// Threads of fit and sampling
    #[arg(long)]
    threads: Option<usize>,
    /// Of sampling: below 1 keeps to what is likely
    #[arg(long)]
    temperature: Option<f64>,
}

impl FitOptions {
    pub(crate) fn apply(&self, mut builder: ParSynthesizerBuilder) -> ParSynthesizerBuilder {
        macro_rules! set {
            ($($option:ident),*) => {
                $(if let Some(value) = self.$option {
                    builder = builder.$option(value);
                })*
            };
        }
        set!(
            hidden_size,
            layers,
            epochs,
            batch_size,
            learning_rate,
            dropout,
            validation_share,
            patience_steps,
            threads
        );
        builder
    }

    pub(crate) fn apply_to_sampling(&self, mut options: SampleOptions) -> SampleOptions {
        if let Some(temperature) = self.temperature {
            options = options.temperature(temperature);
        }
        if let Some(threads) = self.threads {
            options = options.threads(threads);
        }
        options
    }
}

/// `default options`, or those that were given.
impl fmt::Display for FitOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = serde_json::to_value(self).map_err(|_| fmt::Error)?;
        let given: Vec<String> = all
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(_, value)| !value.is_null())
            .map(|(option, value)| format!("{option} {value}"))
            .collect();
        if given.is_empty() {
            return formatter.write_str("default options");
        }
        write!(formatter, "default options but {}", given.join(", "))
    }
}
