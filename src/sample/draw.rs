//! Draws of classes and scores from what a head says, on the host and from a sequence's own stream.

use crate::codec::number::NumberCodec;
use crate::model::decoder::HeadOutput;
use crate::rng::uniform;
use rand::rngs::ChaCha12Rng;
use wide::f32x8;

/// Uniform draws stay this far from 0 and 1 when a logistic is drawn, which bounds its tails at 11.5 scales.
pub(super) const TAIL: f64 = 1e-5;

/// What a head says, ready to draw from.
#[derive(Debug)]
pub(super) struct Draws {
    pub(super) output: HeadOutput,
    temperature: f64,
    /// `[rows, classes + components]`: of each how much likelier than impossible it is, 1 the likeliest of its kind
    weights: Vec<f32>,
}

impl Draws {
    pub(super) fn new(output: HeadOutput, temperature: f64) -> Draws {
        let (classes, components) = (output.classes, output.components);
        let mut weights = Vec::with_capacity(output.rows() * (classes + components));
        #[allow(clippy::cast_possible_truncation, reason = "the network works in f32")]
        let warmth = (temperature as f32).max(f32::MIN_POSITIVE);
        for row in 0..output.rows() {
            let mut below_most = |logits: &[f32], warmth: f32| {
                let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                weights.extend(logits.iter().map(|&logit| (logit - most) / warmth));
            };
            below_most(output.logits(row), warmth);
            below_most(&output.mixture(row)[..components], 1.0);
        }
        exponentiate(&mut weights);
        Draws {
            output,
            temperature,
            weights,
        }
    }

    /// Weights of a row's classes, then of its mixture's parts.
    fn weights(&self, row: usize) -> (&[f32], &[f32]) {
        let (classes, components) = (self.output.classes, self.output.components);
        let width = classes + components;
        self.weights[row * width..(row + 1) * width].split_at(classes)
    }

    /// Draws a class of a row among the allowed ones; none when none is.
    pub(super) fn class(
        &self,
        row: usize,
        is_allowed: impl Fn(usize) -> bool,
        generator: &mut ChaCha12Rng,
    ) -> Option<usize> {
        if self.output.classes == 1 {
            return is_allowed(0).then_some(0);
        }
        let weights = self.weights(row).0;
        let allowed = || {
            let all = weights.iter().enumerate();
            all.filter(|&(class, _)| is_allowed(class))
        };
        let total: f64 = allowed().map(|(_, &weight)| f64::from(weight)).sum();
        if total > 0.0 {
            let mut left = uniform(generator) * total;
            let mut chosen = None;
            for (class, &weight) in allowed().filter(|(_, weight)| **weight > 0.0) {
                chosen = Some(class);
                left -= f64::from(weight);
                if left <= 0.0 {
                    break;
                }
            }
            return chosen;
        }
        // All that are allowed are too unlikely beside one that is not.
        let logits = self.output.logits(row);
        let allowed: Vec<usize> = (0..logits.len())
            .filter(|&class| is_allowed(class))
            .collect();
        let of_allowed: Vec<f32> = allowed.iter().map(|&class| logits[class]).collect();
        let weights: Vec<f64> = softmax(&of_allowed, self.temperature).collect();
        let drawn = draw_weighted(&weights, generator);
        allowed.get(drawn).copied()
    }

    /// Draws a number of a row: its class, and its score where that is continuous. With `is_filled` it is not missing,
    /// if any value was seen.
    pub(super) fn number(
        &self,
        row: usize,
        codec: &NumberCodec,
        last: f64,
        is_filled: bool,
        within_range: bool,
        generator: &mut ChaCha12Rng,
    ) -> f64 {
        let banned = banned_classes(codec, last, is_filled);
        let is_allowed = |class| !banned.contains(&Some(class));
        // Where all are banned, the first stands for them.
        let class = self.class(row, is_allowed, generator).unwrap_or(0);
        let score = if Some(class) == codec.continuous_class() {
            self.score(row, generator)
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
        generator: &mut ChaCha12Rng,
    ) -> (f64, f64) {
        let width = codec.resolution();
        let parts = match &codec.continuous {
            Some(map) => self.parts_from(row, map.score(least - width / 2.0)),
            None => Vec::new(),
        };
        let is_large = |class: usize| {
            let value = codec.decode(class, 0.0, f64::NAN, true);
            f64::from(u8::from(value >= least)) // a missing one is not
        };
        let weights: Vec<f64> = softmax(self.output.logits(row), self.temperature)
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
    fn parts_from(&self, row: usize, score: f64) -> Vec<Part> {
        let mixture = self.output.mixture(row);
        let components = mixture.len() / 3;
        softmax(&mixture[..components], 1.0)
            .enumerate()
            .map(|(component, share)| {
                let mean = f64::from(mixture[components + component]);
                let scale = self.temperature * f64::from(mixture[2 * components + component]).exp();
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

    /// Draws from a row's mixture of logistics.
    fn score(&self, row: usize, generator: &mut ChaCha12Rng) -> f64 {
        let (mixture, weights) = (self.output.mixture(row), self.weights(row).1);
        let components = weights.len();
        let mut left = uniform(generator) * weights.iter().map(|&w| f64::from(w)).sum::<f64>();
        let chosen = weights.iter().position(|&weight| {
            left -= f64::from(weight);
            left <= 0.0
        });
        let chosen = chosen.unwrap_or(components - 1);
        let (mean, log_scale) = (
            f64::from(mixture[components + chosen]),
            f64::from(mixture[2 * components + chosen]),
        );
        let share = uniform(generator).clamp(TAIL, 1.0 - TAIL);
        mean + self.temperature * log_scale.exp() * (share / (1.0 - share)).ln()
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

/// Raises e to each of them, eight at a time.
fn exponentiate(values: &mut [f32]) {
    let mut eights = values.chunks_exact_mut(8);
    for eight in &mut eights {
        let lanes: [f32; 8] = std::array::from_fn(|at| eight[at]);
        eight.copy_from_slice(&f32x8::from(lanes).exp().to_array());
    }
    for value in eights.into_remainder() {
        // As among seven others, so that no value depends on where it stands.
        *value = f32x8::splat(*value).exp().to_array()[0];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Seed};

    fn draws(logits: &[f32], temperature: f64) -> Draws {
        let output = HeadOutput {
            classes: logits.len(),
            components: 0,
            said: logits.to_vec(),
        };
        Draws::new(output, temperature)
    }

    #[test]
    fn classes_come_up_by_the_softmax_of_their_logits_and_of_the_allowed_alone() {
        let mut generator = Seed::new(Some(3)).stream(Purpose::Sampling);
        let draws = draws(&[2.0, -1.0, 0.5, 1.0], 2.0);
        let mut shares = [0.0; 4];
        for _ in 0..20_000 {
            let class = draws.class(0, |class| class != 2, &mut generator);
            shares[class.expect("three are allowed")] += 1.0 / 20_000.0;
        }
        let weights = [1.0, (-1.5_f64).exp(), 0.0, (-0.5_f64).exp()];
        for (share, weight) in shares.iter().zip(weights) {
            let wanted = weight / weights.iter().sum::<f64>();
            // 20,000 draws: a standard deviation is 0.0035 at most.
            assert!((share - wanted).abs() < 0.015, "{shares:?}");
        }
        assert_eq!(draws.class(0, |_| false, &mut generator), None);
    }

    #[test]
    fn classes_far_below_a_banned_one_are_drawn_by_their_own_logits() {
        let mut generator = Seed::new(Some(3)).stream(Purpose::Sampling);
        let draws = draws(&[400.0, 1.0, 1.0], 1.0);
        let drawn: Vec<_> = (0..200)
            .map(|_| draws.class(0, |class| class > 0, &mut generator))
            .collect();
        assert!(drawn.contains(&Some(1)) && drawn.contains(&Some(2)));
        assert!(!drawn.contains(&Some(0)) && !drawn.contains(&None));
    }

    #[test]
    fn exponentials_are_those_of_each_number_wherever_it_stands() {
        let values: Vec<f32> = (0..77).map(|i| 3.0 - 1.7 * i as f32).collect();
        let mut together = values.clone();
        exponentiate(&mut together);
        for (at, (&found, &value)) in together.iter().zip(&values).enumerate() {
            let mut alone = [value];
            exponentiate(&mut alone);
            assert_eq!(found.to_bits(), alone[0].to_bits(), "number {at}");
            let wanted = f64::from(value).exp();
            // Two units in the last place; below the smallest normal float digits are fewer.
            let tolerance = (wanted * 2.4e-7).max(2e-45);
            assert!(
                (f64::from(found) - wanted).abs() <= tolerance,
                "e to {value} is {found}"
            );
        }
    }
}
