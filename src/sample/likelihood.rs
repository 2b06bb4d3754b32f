//! How likely values are by what a head says, on the host: what candidates are compared by.
//! In: a head's output and a value. Out: nats, by the formulas that the loss is computed with.

use super::cells::NumberOutputs;
use super::draw::{Draws, banned_classes};
use crate::codec::number::{NumberCodec, Target};
use crate::layout::{NumberColumn, round_difference};
use crate::model::decoder::HeadOutput;

impl HeadOutput {
    /// Log-probability of a class of a row.
    pub(super) fn class_nats(&self, row: usize, class: usize) -> f64 {
        let logits = self.logits(row);
        let own = logits.get(class).map_or(0.0, |&logit| f64::from(logit));
        own - log_sum_exp(logits.iter().map(|&logit| f64::from(logit)))
    }

    /// Log-probability that a row has none of the banned classes; 0 where it can have no other.
    pub(super) fn allowed_nats(&self, row: usize, banned: [Option<usize>; 2]) -> f64 {
        let logits = self.logits(row);
        let allowed = logits
            .iter()
            .enumerate()
            .filter(|(class, _)| !banned.contains(&Some(*class)))
            .map(|(_, &logit)| f64::from(logit));
        let nats = log_sum_exp(allowed) - log_sum_exp(logits.iter().map(|&logit| f64::from(logit)));
        if nats.is_finite() { nats } else { 0.0 }
    }

    /// Log-likelihood of a number of a row.
    fn number_nats(&self, row: usize, codec: &NumberCodec, value: f64, last: f64) -> f64 {
        let target = codec.target(value, last);
        let class = target.class as usize;
        let mut nats = self.class_nats(row, class) + f64::from(target.log_density);
        if Some(class) == codec.continuous_class() {
            nats += self.interval_nats(row, target);
        }
        nats
    }

    /// Log-probability that a row's mixture gives to an interval of scores.
    fn interval_nats(&self, row: usize, target: Target) -> f64 {
        let mixture = self.mixture(row);
        let components = mixture.len() / 3;
        let weights = || {
            mixture[..components]
                .iter()
                .map(|&weight| f64::from(weight))
        };
        let inside = (0..components).map(|component| {
            let mean = f64::from(mixture[components + component]);
            let scale = f64::from(mixture[2 * components + component]).exp();
            let low = (f64::from(target.low) - mean) / scale;
            let high = (f64::from(target.high) - mean) / scale;
            // log(sigmoid(high) - sigmoid(low)) without cancellation.
            log_sigmoid(high) + log_sigmoid(-low) + (-(low - high).min(-1e-7).exp_m1()).ln()
        });
        log_sum_exp(weights().zip(inside).map(|(weight, nats)| weight + nats))
            - log_sum_exp(weights())
    }
}

impl NumberOutputs {
    /// Log-likelihood of a row's value, given the last observed.
    pub(super) fn nats(&self, row: usize, number: &NumberColumn, value: f64, last: f64) -> f64 {
        match (&number.change, &self.change, &self.value) {
            (Some(change), Some(output), _) if !last.is_nan() => {
                let difference = round_difference(value - last, value.abs().max(last.abs()));
                output
                    .output
                    .number_nats(row, &change.step, difference, f64::NAN)
            }
            (_, _, Some(output)) => output.output.number_nats(row, number.value(), value, last),
            _ => 0.0,
        }
    }

    /// Log-probability that a row's value is not missing.
    pub(super) fn present_nats(&self, row: usize, number: &NumberColumn, last: f64) -> f64 {
        let nats = |draws: &Draws, codec: &NumberCodec, last: f64| {
            draws
                .output
                .allowed_nats(row, banned_classes(codec, last, true))
        };
        match (&number.change, &self.change, &self.value) {
            (Some(change), Some(output), _) if !last.is_nan() => {
                nats(output, &change.step, f64::NAN)
            }
            (_, _, Some(output)) => nats(output, number.value(), last),
            _ => 0.0,
        }
    }
}

fn log_sigmoid(value: f64) -> f64 {
    value.min(0.0) - (-value.abs()).exp().ln_1p()
}

fn log_sum_exp(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = values.clone().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY {
        return most;
    }
    most + values.map(|value| (value - most).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests;
