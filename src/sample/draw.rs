//! Draws of classes and scores from what a head says, on the host and from a sequence's own stream.

use crate::codec::number::NumberCodec;
use crate::model::decoder::HeadOutput;
use crate::rng::uniform;
use rand::rngs::ChaCha12Rng;

/// Uniform draws stay this far from 0 and 1 when a logistic is drawn, which bounds its tails at 11.5 scales.
const TAIL: f64 = 1e-5;

impl HeadOutput {
    /// Draws a class of a row among the allowed ones; none when none is.
    pub(super) fn class(
        &self,
        row: usize,
        is_allowed: impl Fn(usize) -> bool,
        temperature: f64,
        generator: &mut ChaCha12Rng,
    ) -> Option<usize> {
        let logits = &self.logits[row * self.classes..(row + 1) * self.classes];
        draw_from_logits(logits, is_allowed, temperature, generator)
    }

    /// Draws a number of a row: its class, and its score where that is continuous.
    pub(super) fn number(
        &self,
        row: usize,
        codec: &NumberCodec,
        last: f64,
        within_range: bool,
        temperature: f64,
        generator: &mut ChaCha12Rng,
    ) -> f64 {
        // "Same as before" means nothing where nothing was before.
        let banned = codec.same_class().filter(|_| last.is_nan());
        let is_allowed = |class| Some(class) != banned;
        // "Same" is never the only class.
        let class = self
            .class(row, is_allowed, temperature, generator)
            .unwrap_or(0);
        let score = if Some(class) == codec.continuous_class() {
            self.score(row, temperature, generator)
        } else if codec.bin(class).is_some() {
            uniform(generator)
        } else {
            0.0
        };
        codec.decode(class, score, last, within_range)
    }

    /// Draws from a row's mixture of logistics.
    fn score(&self, row: usize, temperature: f64, generator: &mut ChaCha12Rng) -> f64 {
        let width = self.mixture.len() * self.classes / self.logits.len().max(1);
        let (mixture, components) = (&self.mixture[row * width..(row + 1) * width], width / 3);
        let chosen =
            draw_from_logits(&mixture[..components], |_| true, 1.0, generator).unwrap_or(0);
        let (mean, log_scale) = (
            f64::from(mixture[components + chosen]),
            f64::from(mixture[2 * components + chosen]),
        );
        let share = uniform(generator).clamp(TAIL, 1.0 - TAIL);
        mean + temperature * log_scale.exp() * (share / (1.0 - share)).ln()
    }
}

/// Draws a position by inverting the distribution function of softmax(logits / temperature) over the allowed ones.
fn draw_from_logits(
    logits: &[f32],
    is_allowed: impl Fn(usize) -> bool,
    temperature: f64,
    generator: &mut ChaCha12Rng,
) -> Option<usize> {
    if logits.len() == 1 {
        return is_allowed(0).then_some(0);
    }
    let allowed = |&(at, _): &(usize, &f32)| is_allowed(at);
    let most = logits
        .iter()
        .enumerate()
        .filter(allowed)
        .fold(f32::NEG_INFINITY, |most, (_, &logit)| most.max(logit));
    let weight = |logit: f32| ((f64::from(logit) - f64::from(most)) / temperature).exp();
    let total: f64 = logits
        .iter()
        .enumerate()
        .filter(allowed)
        .map(|(_, &logit)| weight(logit))
        .sum();
    let mut left = uniform(generator) * total;
    let mut chosen = None;
    for (at, &logit) in logits.iter().enumerate().filter(allowed) {
        chosen = Some(at);
        left -= weight(logit);
        if left <= 0.0 {
            break;
        }
    }
    chosen
}
