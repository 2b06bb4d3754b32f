use super::*;
use crate::rng::{Purpose, Seed, uniform};

mod distributions;

const PLAIN: NumberOptions = NumberOptions {
    same_share: 0.0,
    placement: KnotPlacement::Midpoints,
    protection: Protection::OFF,
    distribution: NumericalDistribution::Learned,
    is_rounded: true,
};

/// One sequence a value, so that evidence counts as it does in a table of many sequences.
fn fit(values: &[f64]) -> NumberCodec {
    let sequence: Vec<u32> = (0..).take(values.len()).collect();
    NumberCodec::fit(values, &sequence, PLAIN)
}

/// Draws that look like a measured quantity.
fn normal_draws(count: usize, seed: u64) -> Vec<f64> {
    let mut generator = Seed::new(Some(seed)).stream(Purpose::Sampling);
    (0..count)
        .map(|_| crate::codec::normal::quantile(uniform(&mut generator)))
        .collect()
}

/// The value that comes back when a target's own class and middle score are decoded.
fn round_trip(codec: &NumberCodec, value: f64) -> f64 {
    let target = codec.target(value, f64::NAN);
    let score = f64::midpoint(f64::from(target.low), f64::from(target.high));
    codec.restore(
        codec.decode(target.class as usize, score, f64::NAN, true),
        true,
    )
}

#[test]
fn a_missing_value_stays_missing_where_all_values_are_listed() {
    let mut values: Vec<f64> = (0..3_000)
        .map(|i| f64::from(i * i % 41).powi(2) * 10.0)
        .collect();
    values.extend([f64::NAN; 100]);
    let codec = fit(&values);
    assert!(!codec.support.is_empty() && codec.has_missing);
    for within_range in [true, false] {
        assert!(codec.restore(f64::NAN, within_range).is_nan());
    }
}

#[test]
fn decode_of_encode_is_identity() {
    for seed in 0..50 {
        let mut generator = Seed::new(Some(seed)).stream(Purpose::Sampling);
        let decimals = 10_f64.powi((seed % 4) as i32);
        let mut values: Vec<f64> = normal_draws(200, seed)
            .iter()
            .map(|v| (v * 100.0 * decimals).round() / decimals)
            .collect();
        if seed % 3 == 0 {
            values.extend([f64::NAN; 10]);
        }
        if seed % 5 == 0 {
            values.extend(vec![0.0; 200]);
        }
        let shift = (uniform(&mut generator) * 1000.0).round();
        let values: Vec<f64> = values
            .iter()
            .map(|v| ((v + shift) * decimals).round() / decimals)
            .collect();
        let codec = fit(&values);
        let width = codec.high - codec.low;
        for &value in &values {
            let back = round_trip(&codec, value);
            assert_eq!(
                back.is_nan(),
                value.is_nan(),
                "seed {seed}: {value} came back as {back}"
            );
            if !value.is_nan() {
                // The outermost hundredth of the values shares one score, so it may move within its tail.
                let inside = codec
                    .continuous
                    .as_ref()
                    .is_none_or(|map| map.score(value).abs() < 2.2);
                assert!(
                    !inside || (back - value).abs() <= 0.006 * width,
                    "seed {seed}: {value} came back as {back}"
                );
                assert_eq!(
                    codec.grid.as_ref().map(|grid| grid.round(back)),
                    Some(back),
                    "seed {seed}: off the grid"
                );
            }
        }
    }
}

#[test]
fn decimals_are_learned_and_whole_numbers_stay_whole() {
    let resolution = |values: &[f64]| {
        fit(values)
            .grid
            .map(|grid| (grid.decimals, grid.resolution()))
    };
    assert_eq!(resolution(&[1.25, 2.5, 3.01]), Some((2, 0.01)));
    assert_eq!(resolution(&[1.0, 2.0, 4.0]), Some((0, 1.0)));
    assert_eq!(resolution(&[25.0, 30.0, 45.0]), Some((0, 5.0)));
    assert_eq!(resolution(&[0.123_456_789_012_345_6, 0.5, 0.7]), None);
    // A float of the size of a quadrillion has no decimals left to see.
    assert_eq!(resolution(&[1e300, 2e300]), None);
}

#[test]
fn a_sum_of_decimals_is_on_their_grid() {
    let grid = fit(&[0.1 + 0.2, 0.5, 0.7]).grid.expect("a grid");
    assert_eq!(grid.round(0.1 + 0.2), 0.3);
}

#[test]
fn probabilities_of_all_values_on_the_grid_sum_to_one_at_most() {
    // The likelihood of a rounded value is an interval's: neighbours' intervals must not overlap beyond the floor.
    let values: Vec<f64> = normal_draws(400, 1)
        .iter()
        .map(|v| (v * 10.0).round())
        .collect();
    let codec = fit(&values);
    let map = codec.continuous.as_ref().expect("more than twenty values");
    let mut ends: Vec<(f64, f64)> = Vec::new();
    let mut value = codec.low;
    while value <= codec.high {
        let target = codec.target(value, f64::NAN);
        ends.push((f64::from(target.low), f64::from(target.high)));
        value += 1.0;
    }
    for pair in ends.windows(2) {
        assert!(
            pair[0].1 <= pair[1].0 + NARROWEST_INTERVAL + 1e-6,
            "{pair:?}"
        ); // the floor, and f32
    }
    assert!(map.score(codec.low) < -2.0 && map.score(codec.high) > 2.0);
}

#[test]
fn many_zeros_are_an_atom_and_a_smooth_column_has_none() {
    let mut values = normal_draws(300, 2);
    assert!(fit(&values).atoms.is_empty());
    values.extend(vec![0.0; 100]);
    assert_eq!(fit(&values).atoms, [0.0]);
}

#[test]
fn a_value_repeated_along_one_sequence_is_no_atom() {
    let mut values = normal_draws(300, 3);
    let mut sequence: Vec<u32> = (0..300).collect();
    values.extend(vec![0.5; 100]);
    sequence.extend(vec![1000; 100]);
    assert!(NumberCodec::fit(&values, &sequence, PLAIN).atoms.is_empty());
}

#[test]
fn a_lattice_that_is_not_decimal_comes_back_on_it() {
    // Knots in miles per hour: multiples of 1.15078, as a converted column holds them.
    let lattice: Vec<f64> = (10..90)
        .map(|knots| f64::from(knots) * 1.150_779_448)
        .collect();
    let mut generator = Seed::new(Some(4)).stream(Purpose::Sampling);
    let values: Vec<f64> = (0..2000)
        .map(|_| lattice[crate::rng::below(&mut generator, 80)])
        .collect();
    let codec = fit(&values);
    assert_eq!(codec.support.len(), 80);
    for at in 0..1000 {
        let value = codec.restore(codec.low + f64::from(at) * 0.09, true);
        assert!(lattice.contains(&value), "{value} is off the lattice");
    }
}

#[test]
fn a_smooth_column_may_take_unseen_values() {
    let values: Vec<f64> = normal_draws(300, 5)
        .iter()
        .map(|v| (v * 100.0).round())
        .collect();
    let codec = fit(&values);
    assert!(codec.support.is_empty());
    let map = codec.continuous.as_ref().expect("continuous");
    let unseen = (-200..200)
        .map(|i| codec.restore(map.value(f64::from(i) / 100.0), true))
        .filter(|v| !values.contains(v))
        .count();
    assert!(unseen > 50, "only {unseen} of 400 values are new");
}

#[test]
fn a_start_never_falls_where_none_was_seen() {
    // Two seasons, days 0 to 40 and 200 to 240.
    let values: Vec<f64> = (0..41).chain(200..241).map(f64::from).collect();
    let sequence: Vec<u32> = (0..).take(values.len()).collect();
    let tight = NumberOptions {
        placement: KnotPlacement::Tight,
        ..PLAIN
    };
    let codec = NumberCodec::fit(&values, &sequence, tight);
    let map = codec.continuous.as_ref().expect("continuous");
    for score in -300..=300 {
        let value = codec.restore(map.value(f64::from(score) / 100.0), true);
        assert!(values.contains(&value), "{value} lies between the seasons");
    }
}

#[test]
fn knots_never_go_down_where_two_floats_stand_for_one_grid_point() {
    let mut values: Vec<f64> = (0..30).map(|i| f64::from(i) / 10.0).collect();
    values.push(0.1 + 0.2);
    let sequence: Vec<u32> = (0..).take(values.len()).collect();
    let tight = NumberOptions {
        placement: KnotPlacement::Tight,
        ..PLAIN
    };
    let codec = NumberCodec::fit(&values, &sequence, tight);
    let map = codec.continuous.as_ref().expect("continuous");
    assert!(map.knots.is_sorted(), "{:?}", map.knots);
}

#[test]
fn a_constant_column_has_one_class_and_returns_its_value() {
    let codec = fit(&[7.25; 12]);
    assert_eq!(codec.classes(), 1);
    assert_eq!(
        codec.restore(codec.decode(0, 0.0, f64::NAN, true), true),
        7.25
    );
}

#[test]
fn a_column_without_values_is_missing_for_certain() {
    let codec = fit(&[f64::NAN; 5]);
    assert_eq!((codec.classes(), codec.missing_class()), (1, Some(0)));
    assert!(codec.decode(0, 1.0, f64::NAN, true).is_nan());
}

#[test]
fn same_as_before_is_a_class_of_its_own() {
    let mut values = normal_draws(300, 6);
    values[5] = f64::NAN;
    let sequence: Vec<u32> = (0..300).collect();
    let codec = NumberCodec::fit(
        &values,
        &sequence,
        NumberOptions {
            same_share: 0.5,
            ..PLAIN
        },
    );
    assert_eq!(codec.same_class(), Some(1));
    assert_eq!(codec.target(values[0], values[0]).class, 1);
    assert_ne!(codec.target(values[0], values[1]).class, 1);
    assert_eq!(codec.decode(1, 0.0, 3.5, true), 3.5);
}

#[test]
fn mean_and_deviation_of_huge_values_stay_finite() {
    let (mean, deviation) = mean_and_deviation(&[1e308, -1e308, f64::NAN, 1e308]);
    assert!(mean.is_finite() && deviation.is_finite());
    assert_eq!(mean_and_deviation(&[1.0, f64::NAN, 3.0]), (2.0, 1.0));
}

#[test]
fn knots_of_a_long_column_are_thinned_and_keep_the_ends() {
    let values: Vec<f64> = normal_draws(20_000, 7);
    let codec = fit(&values);
    let map = codec.continuous.as_ref().expect("continuous");
    assert!(map.knots.len() <= quantile::MOST_KNOTS);
    assert_eq!(
        (map.knots[0], map.knots[map.knots.len() - 1]),
        (codec.low, codec.high)
    );
}

#[test]
fn values_of_a_handful_of_rows_are_not_copied_as_atoms() {
    // Twenty sequences, each with an age of its own.
    let ages: Vec<f64> = (0..20).map(|i| 20.0 + 2.0 * f64::from(i)).collect();
    assert!(fit(&ages).atoms.is_empty());
    let repeated: Vec<f64> = ages.iter().chain(&ages).copied().collect();
    assert_eq!(fit(&repeated).atoms, ages);
    assert_eq!(fit(&[5.0]).atoms, [5.0]);
}

#[test]
fn a_range_that_is_not_enforced_goes_on_as_the_column_did() {
    let codec = fit(&normal_draws(1_000, 8));
    for score in [-5.0, -4.0, 4.0, 5.0] {
        assert_eq!(
            codec.decode(0, score, f64::NAN, true),
            if score < 0.0 { codec.low } else { codec.high }
        );
        let value = codec.decode(0, score, f64::NAN, false);
        // A standard normal column maps each score to itself; the ends of 1,000 draws are known to within 0.5 or so,
        // and the slope of the last unit of score to a third.
        assert!((value - score).abs() < 1.0, "{score}: {value}");
    }
    for score in [-3.0, 0.0, 2.5] {
        assert_eq!(
            codec.decode(0, score, f64::NAN, true),
            codec.decode(0, score, f64::NAN, false)
        );
    }
}

#[test]
fn a_constant_column_has_no_deviation_however_its_mean_is_rounded() {
    assert_eq!(mean_and_deviation(&[86_400_000_000.0; 7]).1, 0.0);
    assert_eq!(mean_and_deviation(&[0.1; 13]).1, 0.0);
    assert!(mean_and_deviation(&[1e9, 1e9 + 1.0]).1 > 0.4);
}

#[test]
fn a_smoothed_map_drops_what_chance_put_there_and_keeps_steps_and_gaps() {
    let fit = |values: &[f64], placement| {
        let distinct = Distinct::count(values, &vec![0; values.len()]);
        QuantileMap::fit(
            &distinct.values,
            &distinct.rows,
            0.0,
            false,
            placement,
            Unit::Plain,
        )
    };
    // Two clouds far apart: a low-discrepancy sequence within each.
    let values: Vec<f64> = (1..=500)
        .map(|i| {
            let share = (f64::from(i) * 0.618_033_988_75).fract();
            if share < 0.3 { share } else { 10.0 + share }
        })
        .collect();
    let exact = fit(&values, KnotPlacement::Midpoints);
    let smoothed = fit(&values, KnotPlacement::Smoothed);
    assert_eq!(exact.knots.len(), 500);
    assert!(smoothed.knots.len() < 10, "{} knots", smoothed.knots.len());
    // Nothing falls between the clouds but what lies in one step of the distribution function.
    let between = |map: &QuantileMap| {
        let share = |value| crate::codec::normal::distribution(map.score(value));
        share(9.9) - share(0.4)
    };
    assert!(between(&smoothed) < 1.5 / 500.0, "{}", between(&smoothed));
    let ends = |map: &QuantileMap| (map.knots[0], *map.knots.last().expect("knots"));
    assert_eq!(ends(&smoothed), ends(&exact));
    // Half a standard error of the share is at most 0.5 × 0.5 / √500.
    for &value in &values {
        let share = |map: &QuantileMap| crate::codec::normal::distribution(map.score(value));
        let error = (share(&smoothed) - share(&exact)).abs();
        assert!(error < 0.25 / 500_f64.sqrt() + 1e-6, "{error} at {value}");
    }
}
