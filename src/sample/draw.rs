//! Draws of classes and scores from what a head says, on the host and from a sequence's own stream.

use crate::codec::number::NumberCodec;
use crate::model::decoder::HeadOutput;
use crate::rng::uniform;
use rand::rngs::ChaCha12Rng;

/// Uniform draws stay this far from 0 and 1 when a logistic is drawn, which bounds its tails at 11.5 scales.
pub(super) const TAIL: f64 = 1e-5;
/// Weights of up to so many classes are held on the stack.
const FEW_CLASSES: usize = 16;

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

    /// Draws a number of a row: its class, and its score where that is continuous. With `is_filled` it is not missing,
    /// if any value was seen.
    #[allow(clippy::too_many_arguments, reason = "one draw's parts")]
    pub(super) fn number(
        &self,
        row: usize,
        codec: &NumberCodec,
        last: f64,
        is_filled: bool,
        within_range: bool,
        temperature: f64,
        generator: &mut ChaCha12Rng,
    ) -> f64 {
        let banned = banned_classes(codec, last, is_filled);
        let is_allowed = |class| !banned.contains(&Some(class));
        // Where all are banned, the first stands for them.
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

    /// Draws a number that is at least so large, and says in nats how likely the column's numbers are to be: minus
    /// infinity where none is, and then the number itself.
    pub(super) fn number_from(
        &self,
        row: usize,
        codec: &NumberCodec,
        least: f64,
        temperature: f64,
        generator: &mut ChaCha12Rng,
    ) -> (f64, f64) {
        let width = codec.resolution();
        let parts = match &codec.continuous {
            Some(map) => self.parts_from(row, map.score(least - width / 2.0), temperature),
            None => Vec::new(),
        };
        let is_large = |class: usize| {
            let value = codec.decode(class, 0.0, f64::NAN, true);
            f64::from(u8::from(value >= least)) // a missing one is not
        };
        let logits = &self.logits[row * self.classes..(row + 1) * self.classes];
        let weights: Vec<f64> = softmax(logits, temperature)
            .enumerate()
            .map(
                |(class, share)| match Some(class) == codec.continuous_class() {
                    true => share * parts.iter().map(|part| part.weight).sum::<f64>(),
                    false => share * is_large(class),
                },
            )
            .collect();
        let total: f64 = weights.iter().sum();
        if total <= 0.0 || total.is_nan() {
            return (least, f64::NEG_INFINITY);
        }
        let class = draw_weighted(&weights, generator);
        let value = if Some(class) == codec.continuous_class() {
            let weights: Vec<f64> = parts.iter().map(|part| part.weight).collect();
            let part = &parts[draw_weighted(&weights, generator)];
            // The share above, which keeps its digits far out.
            let above = (part.above * uniform(generator)).clamp(TAIL * part.above, 1.0 - TAIL);
            let score = part.mean + part.scale * ((1.0 - above) / above).ln();
            codec.decode(class, score, f64::NAN, true)
        } else {
            codec.decode(class, 0.0, f64::NAN, true)
        };
        (codec.restore(value, true).max(least), total.ln())
    }

    /// The parts of a row's mixture above a score.
    fn parts_from(&self, row: usize, score: f64, temperature: f64) -> Vec<Part> {
        let mixture = self.row_mixture(row);
        let components = mixture.len() / 3;
        softmax(&mixture[..components], 1.0)
            .enumerate()
            .map(|(component, share)| {
                let mean = f64::from(mixture[components + component]);
                let scale = temperature * f64::from(mixture[2 * components + component]).exp();
                let above = 1.0 / (1.0 + ((score - mean) / scale).exp());
                Part {
                    mean,
                    scale,
                    above,
                    weight: share * above,
                }
            })
            .collect()
    }

    /// Log weights, means and log scales of a row; empty without a continuous class.
    pub(super) fn row_mixture(&self, row: usize) -> &[f32] {
        let width = self.mixture.len() * self.classes / self.logits.len().max(1);
        &self.mixture[row * width..(row + 1) * width]
    }

    /// Draws from a row's mixture of logistics.
    fn score(&self, row: usize, temperature: f64, generator: &mut ChaCha12Rng) -> f64 {
        let mixture = self.row_mixture(row);
        let components = mixture.len() / 3;
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

/// One logistic of a mixture, above some score.
struct Part {
    mean: f64,
    scale: f64,
    /// The share of the logistic that lies above.
    above: f64,
    /// That share times the logistic's own.
    weight: f64,
}

/// Classes that cannot be drawn: "same as before" means nothing where nothing was before.
pub(super) fn banned_classes(
    codec: &NumberCodec,
    last: f64,
    is_filled: bool,
) -> [Option<usize>; 2] {
    [
        codec.same_class().filter(|_| last.is_nan()),
        codec.missing_class().filter(|_| is_filled),
    ]
}

/// Shares of softmax(logits / temperature).
fn softmax(logits: &[f32], temperature: f64) -> impl Iterator<Item = f64> {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weight = move |&logit: &f32| ((f64::from(logit) - f64::from(most)) / temperature).exp();
    let total: f64 = logits.iter().map(weight).sum();
    logits.iter().map(move |logit| weight(logit) / total)
}

/// Draws a position by weight; the last with a weight where rounding leaves none.
pub(super) fn draw_weighted(weights: &[f64], generator: &mut ChaCha12Rng) -> usize {
    let mut left = uniform(generator) * weights.iter().sum::<f64>();
    let mut chosen = 0;
    for (at, &weight) in weights
        .iter()
        .enumerate()
        .filter(|(_, weight)| **weight > 0.0)
    {
        chosen = at;
        left -= weight;
        if left <= 0.0 {
            break;
        }
    }
    chosen
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
    // On the stack where they fit, as they mostly do.
    let (mut few, mut many) = ([0.0; FEW_CLASSES], Vec::new());
    let weights = match few.get_mut(..logits.len()) {
        Some(few) => few,
        None => {
            many.resize(logits.len(), 0.0);
            &mut many[..]
        }
    };
    let allowed = |&(at, _): &(usize, &f32)| is_allowed(at);
    let most = logits
        .iter()
        .enumerate()
        .filter(allowed)
        .fold(f32::NEG_INFINITY, |most, (_, &logit)| most.max(logit));
    let mut total = 0.0;
    for (at, &logit) in logits.iter().enumerate().filter(allowed) {
        weights[at] = ((f64::from(logit) - f64::from(most)) / temperature).exp();
        total += weights[at];
    }
    let mut left = uniform(generator) * total;
    let mut chosen = None;
    for (at, _) in logits.iter().enumerate().filter(allowed) {
        chosen = Some(at);
        left -= weights[at];
        if left <= 0.0 {
            break;
        }
    }
    chosen
}
