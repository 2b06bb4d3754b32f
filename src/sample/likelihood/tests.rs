#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

use super::*;
use crate::codec::number::{KnotPlacement, NumberOptions};
use crate::distribution::NumericalDistribution;
use crate::protection::Protection;
use crate::rng::{Purpose, Seed};

/// Whole numbers from 1 to 401, few of each, so that most are told by their score.
fn codec() -> NumberCodec {
    let values: Vec<f64> = (0..4_000).map(|i| f64::from(1 + (i * 167) % 401)).collect();
    let sequence: Vec<u32> = (0..4_000).collect();
    let options = NumberOptions {
        same_share: 0.0,
        placement: KnotPlacement::Midpoints,
        protection: Protection::OFF,
        distribution: NumericalDistribution::Learned,
        is_rounded: true,
    };
    let codec = NumberCodec::fit(&values, &sequence, options);
    assert!(codec.continuous.is_some());
    codec
}

fn output(codec: &NumberCodec) -> HeadOutput {
    let logits = std::iter::repeat_n(0.3, codec.classes());
    let mixture = [0.5, -0.2, -0.7, 0.6, -1.0, -0.3, 0.0];
    HeadOutput {
        classes: codec.classes(),
        components: 2,
        said: logits.chain(mixture).collect(),
    }
}

#[test]
fn the_shares_of_all_values_sum_to_one() {
    let codec = codec();
    let output = output(&codec);
    let values = (1..=401).map(f64::from);
    let sum: f64 = values
        .map(|value| output.number_nats(0, &codec, value, f64::NAN).exp())
        .sum();
    // Scores beyond the outermost values count with none of them.
    assert!((0.97..=1.0 + 1e-6).contains(&sum), "{sum}");
}

#[test]
fn a_number_from_some_value_on_is_drawn_as_among_all_that_are_as_large() {
    let codec = codec();
    let draws = Draws::new(output(&codec), 1.0);
    let mut generator = Seed::new(Some(7)).stream(Purpose::Sampling);
    let (mut plain, mut count) = (0.0, 0);
    for _ in 0..20_000 {
        let value = draws.number(0, &codec, f64::NAN, false, true, &mut generator);
        if codec.restore(value, true) >= 300.0 {
            plain += codec.restore(value, true);
            count += 1;
        }
    }
    let (mut truncated, mut nats) = (0.0, 0.0);
    for _ in 0..2_000 {
        let (value, own) = draws.number_from(0, &codec, 300.0, &mut generator);
        assert!((300.0..=401.0).contains(&value));
        (truncated, nats) = (truncated + value, own);
    }
    let share = f64::from(count) / 20_000.0;
    // 20,000 draws: a standard deviation is 0.003 at most.
    assert!((nats.exp() - share).abs() < 0.015, "{} {share}", nats.exp());
    let (plain, truncated) = (plain / f64::from(count), truncated / 2_000.0);
    // Values above 300 spread by 30.
    assert!((plain - truncated).abs() < 4.0, "{plain} {truncated}");
    // None is so large.
    let (value, nats) = draws.number_from(0, &codec, 10_000.0, &mut generator);
    assert!(value == 10_000.0 && nats < -5.0, "{value} {nats}");
}

#[test]
fn sigmoids_and_sums_keep_their_digits_far_out() {
    assert!((log_sigmoid(-800.0) + 800.0).abs() < 1e-9);
    assert!(log_sigmoid(800.0).abs() < 1e-9);
    let sum = log_sum_exp([-1000.0, -1000.0].into_iter());
    assert!((sum + 1000.0 - 2_f64.ln()).abs() < 1e-9);
    assert_eq!(log_sum_exp([].into_iter()), f64::NEG_INFINITY);
}
