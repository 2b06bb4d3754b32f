use super::*;

fn fit_as(values: &[f64], distribution: NumericalDistribution) -> NumberCodec {
    let sequence: Vec<u32> = (0..).take(values.len()).collect();
    let options = NumberOptions {
        distribution,
        ..PLAIN
    };
    NumberCodec::fit(values, &sequence, options)
}

/// Counts of a negative binomial with this mean and number of failures: a Poisson whose mean is drawn from a gamma.
fn counts(number: usize, mean: f64, failures: u32) -> Vec<f64> {
    let mut generator = Seed::new(Some(3)).stream(Purpose::Sampling);
    let mut exponential = || -uniform(&mut generator).ln();
    (0..number)
        .map(|_| {
            let rate: f64 = (0..failures).map(|_| exponential()).sum();
            let mut left = rate * mean / f64::from(failures);
            let mut count = 0.0;
            loop {
                left -= exponential();
                if left < 0.0 {
                    return count;
                }
                count += 1.0;
            }
        })
        .collect()
}

/// Nats of a value under a standard normal score, without the network: what the map alone says.
fn nats(codec: &NumberCodec, value: f64) -> f64 {
    let map = codec.continuous.as_ref().expect("continuous");
    let share = |value: f64| interpolated(map, value);
    (share(value + 0.5) - share(value - 0.5)).ln()
}

fn interpolated(map: &QuantileMap, value: f64) -> f64 {
    let at = map.knots.partition_point(|&knot| knot <= value);
    map.shares[at.saturating_sub(1)]
}

#[test]
fn counts_have_the_probabilities_of_the_negative_binomial() {
    // Mean 2 and variance 6, hence one failure and a chance of 1/3: a geometric distribution.
    let values = [0.0, 0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 3.0, 3.0, 8.0];
    let (mean, deviation) = mean_and_deviation(&values);
    let codec = fit_as(&values, NumericalDistribution::Counts);
    let failures = mean * mean / (deviation * deviation - mean);
    let at_zero = (failures / (failures + mean)).powf(failures);
    let at_one = at_zero * failures * mean / (failures + mean);
    assert!((nats(&codec, 0.0).exp() - at_zero).abs() < 1e-5);
    assert!((nats(&codec, 1.0).exp() - at_one).abs() < 1e-5);
    assert!(codec.atoms.is_empty() && codec.support.is_empty());
}

#[test]
fn counts_that_vary_less_than_a_poisson_have_its_probabilities() {
    let codec = fit_as(&[2.0, 2.0, 2.0, 1.0, 3.0], NumericalDistribution::Counts);
    let poisson = [-2.0_f64, -2.0 + 2.0_f64.ln(), -2.0 + 2.0_f64.ln()];
    for (count, nats_of_poisson) in [0.0, 1.0, 2.0].into_iter().zip(poisson) {
        assert!((nats(&codec, count) - nats_of_poisson).abs() < 1e-4); // the cut-off tail is 1e-6
    }
}

#[test]
fn every_count_comes_back_and_none_is_negative_or_broken() {
    for values in [
        counts(400, 3.0, 2),
        counts(400, 300.0, 1),
        vec![0.0; 9],
        vec![7.0; 3],
    ] {
        let codec = fit_as(&values, NumericalDistribution::Counts);
        for &value in &values {
            // The outermost scores are shared by counts of a probability below 1e-6.
            assert_eq!(round_trip(&codec, value), value);
        }
        let class = codec.continuous_class().expect("continuous");
        for score in [-40.0, -6.0, -4.0, 0.0, 4.0, 6.0, 40.0] {
            for within_range in [true, false] {
                let drawn = codec.decode(class, score, f64::NAN, within_range);
                let value = codec.restore(drawn, within_range);
                assert!(value >= 0.0 && value == value.round(), "{value}");
                assert!(!within_range || (codec.low..=codec.high).contains(&value));
            }
        }
    }
}

#[test]
fn a_count_that_was_not_seen_is_likely_where_its_neighbours_were() {
    let mut values = counts(60, 40.0, 3);
    values.retain(|&value| value != 30.0);
    let likely = fit_as(&values, NumericalDistribution::Counts);
    assert!(nats(&likely, 30.0) > -6.0);
    // A million counts are as many knots as the map has room for.
    let wide = fit_as(&counts(50, 90_000.0, 1), NumericalDistribution::Counts);
    let map = wide.continuous.as_ref().expect("continuous");
    assert!(map.knots.len() <= 2_000 && map.knots.is_sorted() && map.shares.is_sorted());
    assert_eq!(map.shares.last(), Some(&1.0));
}

#[test]
fn bins_hold_about_as_many_rows_each_and_a_frequent_value_has_its_own() {
    let mut values = normal_draws(900, 4);
    values.extend(vec![0.25; 300]);
    let codec = fit_as(&values, NumericalDistribution::Bins(8));
    assert_eq!(codec.classes(), codec.bins.len());
    assert!(codec.bins.len() <= 8 && codec.bins.len() >= 6);
    let mut rows = vec![0; codec.classes()];
    for &value in &values {
        let class = codec.target(value, f64::NAN).class as usize;
        rows[class] += 1;
        let bin = codec.bin(class).expect("a bin");
        assert!((bin.low..=bin.high).contains(&value));
    }
    assert!(
        rows.iter().all(|&rows| (50..=300).contains(&rows)),
        "{rows:?}"
    );
    let own = codec.target(0.25, f64::NAN).class as usize;
    assert!(rows[own] >= 300);
}

#[test]
fn values_of_a_bin_are_uniform_between_its_ends_and_on_the_grid() {
    let values: Vec<f64> = (0..1000).map(|i| f64::from(i) / 100.0).collect();
    let codec = fit_as(&values, NumericalDistribution::Bins(4));
    let target = codec.target(6.0, f64::NAN);
    let bin = *codec.bin(target.class as usize).expect("a bin");
    assert_eq!((bin.low, bin.high), (5.0, 7.49));
    assert!((f64::from(target.log_density) + 250_f64.ln()).abs() < 1e-5);
    let value = |share| codec.restore(codec.decode(target.class as usize, share, 0.0, true), true);
    assert_eq!((value(0.0), value(1.0)), (5.0, 7.49));
    assert_eq!(value(0.5), 6.25); // half way up, 6.245, is written as 6.25
}

#[test]
fn bins_of_one_value_are_exact_and_missing_cells_stay_missing() {
    let codec = fit_as(
        &[1.5, 1.5, f64::NAN, 4.0, 9.0],
        NumericalDistribution::Bins(1000),
    );
    assert_eq!(codec.classes(), 4);
    for value in [1.5, 4.0, 9.0] {
        let target = codec.target(value, f64::NAN);
        assert_eq!(target.log_density, 0.0);
        assert_eq!(codec.decode(target.class as usize, 0.7, 0.0, true), value);
    }
    assert_eq!(codec.target(f64::NAN, 1.5).class, 0);
    // What lies between or beyond goes to the nearest.
    assert_eq!(codec.target(2.0, 0.0).class, codec.target(1.5, 0.0).class);
    assert_eq!(codec.target(99.0, 0.0).class, codec.target(9.0, 0.0).class);
}

#[test]
fn a_protected_value_is_no_end_of_a_bin() {
    let values = [1.0, 1.0, 2.0, 2.0, 3.7, 5.0, 5.0, 6.0, 6.0];
    let sequence = [0, 1, 0, 1, 0, 0, 1, 0, 1];
    let options = NumberOptions {
        distribution: NumericalDistribution::Bins(100),
        protection: Protection::new(2),
        ..PLAIN
    };
    let codec = NumberCodec::fit(&values, &sequence, options);
    let ends: Vec<f64> = codec
        .bins
        .iter()
        .flat_map(|bin| [bin.low, bin.high])
        .collect();
    assert!(!ends.contains(&3.7), "{ends:?}");
    assert!(ends.contains(&5.0) && ends.is_sorted());
}

#[test]
fn a_logarithmic_column_is_positive_whatever_is_drawn_and_its_zero_exact() {
    let mut values: Vec<f64> = normal_draws(300, 8)
        .iter()
        .map(|v| (3.0 * v).exp())
        .collect();
    values.extend([0.0, 0.0, 0.0, f64::NAN]);
    let codec = fit_as(&values, NumericalDistribution::Logarithmic);
    assert_eq!(codec.atoms, [0.0]);
    let class = codec.continuous_class().expect("continuous");
    for score in -400..=400 {
        let drawn = codec.decode(class, f64::from(score) / 10.0, f64::NAN, false);
        assert!(drawn > 0.0 && drawn.is_finite(), "{drawn}");
    }
    // Past the largest seen, three units of score are nine of the logarithm, as within.
    let ratio = codec.decode(class, 5.5, 0.0, false) / codec.decode(class, 4.5, 0.0, false);
    assert!((1.5..5.0).contains(&ratio.ln()), "{ratio}");
}

#[test]
fn a_step_of_a_logarithmic_scale_is_a_ratio() {
    let values: Vec<f64> = (0..200).map(|i| 1.1_f64.powi(i)).collect();
    let unit = Unit::for_values(&values, NumericalDistribution::Logarithmic);
    let scale = NumberScale::fit_in(&values, 0.1, KnotPlacement::Midpoints, unit);
    let (small, large) = (scale.change(2.0, 2.2), scale.change(5e6, 5.5e6));
    assert!((small - large).abs() < 1e-6, "{small} {large}");
    assert!((small - 1.1_f64.ln() / 0.1).abs() < 1e-9);
    assert!(scale.change(0.0, 0.0) == 0.0 && scale.standard(0.0).is_finite());
}

#[test]
fn without_rounding_few_decimals_are_not_all_there_are() {
    let values: Vec<f64> = (0..60).map(|i| f64::from(i % 12) / 10.0).collect();
    let sequence: Vec<u32> = (0..).take(values.len()).collect();
    let rounded = NumberCodec::fit(&values, &sequence, PLAIN);
    assert!(rounded.continuous.is_none());
    let options = NumberOptions {
        is_rounded: false,
        ..PLAIN
    };
    let codec = NumberCodec::fit(&values, &sequence, options);
    let class = codec.continuous_class().expect("continuous");
    let value = codec.restore(codec.decode(class, 0.123, f64::NAN, true), true);
    assert_ne!(value, (value * 10.0).round() / 10.0);
    assert!((0.0..=1.1).contains(&value));
}
