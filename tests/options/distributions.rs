//! How a column of numbers is learned.

use crate::common::*;
use parsynth::{DistributionError, Error, NumericalDistribution, SampleOptions, SdType};
use polars::prelude::*;

/// Counts of a geometric distribution with this mean: by inversion.
fn counts(number: usize, mean: f64) -> Vec<i64> {
    let stay = mean / (1.0 + mean);
    noise(number)
        .iter()
        .map(|v| (v.ln() / stay.ln()) as i64)
        .collect()
}

fn one_number() -> [(&'static str, SdType); 2] {
    [("k", id()), ("v", SdType::Numerical)]
}

#[test]
fn counts_are_whole_not_negative_and_as_many_and_as_varied_as_the_real_ones() {
    let real = counts(1_200, 6.0);
    let frame = df!("k" => keys(120, 10), "v" => &real).unwrap();
    let model = builder(&one_number())
        .numerical_distribution("v", NumericalDistribution::Counts)
        .epochs(30)
        .fit(&frame)
        .unwrap();
    let synthetic = sample(&model, 300);
    assert_eq!(synthetic.schema(), frame.schema());
    let (real, made) = (reals(&frame, "v"), reals(&synthetic, "v"));
    assert!(made.iter().all(|&v| v >= 0.0));
    let variance = |values: &[f64]| {
        let middle = mean(values);
        mean(
            &values
                .iter()
                .map(|v| (v - middle).powi(2))
                .collect::<Vec<_>>(),
        )
    };
    let zeros =
        |values: &[f64]| values.iter().filter(|&&v| v == 0.0).count() as f64 / values.len() as f64;
    // Three standard errors of 1,200 draws; the variance of a geometric one has a heavy tail.
    assert!(
        (mean(&made) / mean(&real) - 1.0).abs() < 0.12,
        "{} {}",
        mean(&made),
        mean(&real)
    );
    assert!(
        (variance(&made) / variance(&real) - 1.0).abs() < 0.35,
        "{} {}",
        variance(&made),
        variance(&real)
    );
    assert!(
        (zeros(&made) - zeros(&real)).abs() < 0.04,
        "{} {}",
        zeros(&made),
        zeros(&real)
    );
    let seen: std::collections::HashSet<u64> = real.iter().map(|v| *v as u64).collect();
    let gaps = (0..40).filter(|count| !seen.contains(count)).count();
    let unseen = made
        .iter()
        .filter(|v| !seen.contains(&(**v as u64)))
        .count();
    assert!(
        gaps == 0 || unseen > 0,
        "counts between those seen come out"
    );
}

/// Sequences of eight counts around a level of their own, mean 3: a negative binomial in all.
fn counts_of_levels(sequences: usize) -> DataFrame {
    let draws = noise(sequences * 8 * 60);
    let mut exponential = draws.iter().map(|v| -v.ln());
    let mut values: Vec<i64> = Vec::new();
    for _ in 0..sequences {
        let level = 1.5 * (exponential.next().unwrap() + exponential.next().unwrap());
        for _ in 0..8 {
            let mut passed = 0.0;
            let events = exponential.by_ref().take_while(|gap| {
                passed += gap;
                passed < level
            });
            values.push(events.count() as i64);
        }
    }
    df!("k" => keys(sequences, 8), "v" => values).unwrap()
}

#[test]
fn small_counts_that_vary_at_random_are_told_better_as_counts_than_by_default() {
    let frame = counts_of_levels(450);
    let (learned, held_out) = (frame.head(Some(200 * 8)), frame.slice(200 * 8, 250 * 8));
    let nats = |distribution| {
        let model = builder(&one_number())
            .numerical_distribution("v", distribution)
            .enforce_min_max_values(false)
            .fit(&learned)
            .unwrap();
        let likelihood = model.log_likelihood(&held_out).unwrap();
        let nats = likelihood.rows().column("nats").unwrap().f64().unwrap();
        // The default cannot say anything of counts that it never saw; those rows are in its favour left out.
        let possible: Vec<f64> = nats
            .iter()
            .flatten()
            .filter(|nats| nats.is_finite())
            .collect();
        (mean(&possible), possible.len())
    };
    let (as_counts, rows) = nats(NumericalDistribution::Counts);
    assert_eq!(rows, held_out.height());
    let (by_default, _) = nats(NumericalDistribution::Learned);
    assert!(as_counts > by_default + 0.01, "{as_counts} {by_default}");
}

#[test]
fn counts_go_on_past_the_largest_seen_where_the_range_is_lifted_and_never_below_zero() {
    let frame = df!("k" => keys(40, 5), "v" => counts(200, 2.0)).unwrap();
    let model = builder(&one_number())
        .numerical_distribution("v", NumericalDistribution::Counts)
        .enforce_min_max_values(false)
        .epochs(0)
        .fit(&frame)
        .unwrap();
    let options = SampleOptions::sequences(2_000).seed(3).temperature(3.0);
    let made = reals(&model.sample_with(&options).unwrap(), "v");
    let largest = reals(&frame, "v").into_iter().fold(0.0, f64::max);
    assert!(made.iter().all(|&v| v >= 0.0 && v == v.round()));
    assert!(made.iter().any(|&v| v > largest));
    let debts = df!("k" => [0_i64, 1], "v" => [-1_i64, 1]).unwrap();
    let likelihood = model.log_likelihood(&debts).unwrap();
    let nats = likelihood
        .rows()
        .column("nats")
        .unwrap()
        .f64()
        .unwrap()
        .clone();
    assert!(nats.get(0) == Some(f64::NEG_INFINITY) && nats.get(1).unwrap().is_finite());
}

/// Walks of ratios, each from a level of its own: median size of a step from small and from large values, in ratios.
fn ratios_of_steps() -> (f64, f64) {
    let draws = noise(1_000);
    let mut values = Vec::new();
    for sequence in 0..100 {
        let mut value = (draws[sequence * 10] * 4.0).exp();
        for row in 0..10 {
            values.push(value);
            value *= (0.04 * (draws[sequence * 10 + row] - 0.5)).exp();
        }
    }
    let frame = df!("k" => keys(100, 10), "v" => values).unwrap();
    let model = builder(&one_number())
        .numerical_distribution("v", NumericalDistribution::Logarithmic)
        .epochs(60)
        .fit(&frame)
        .unwrap();
    let made = sample(&model, 200);
    let (values, keys) = (reals(&made, "v"), reals(&made, "k"));
    let mut ratios: Vec<(f64, f64)> = (1..values.len())
        .filter(|&row| keys[row] == keys[row - 1])
        .map(|row| (values[row - 1], (values[row] / values[row - 1]).ln().abs()))
        .collect();
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let median = |part: &[(f64, f64)]| {
        let mut sizes: Vec<f64> = part.iter().map(|pair| pair.1).collect();
        sizes.sort_by(f64::total_cmp);
        sizes[sizes.len() / 2]
    };
    let third = ratios.len() / 3;
    (median(&ratios[..third]), median(&ratios[2 * third..]))
}

#[test]
fn steps_of_a_logarithmic_column_are_ratios_of_one_size_at_every_level() {
    let (small, large) = ratios_of_steps();
    // Half of the real ones lie below a quarter of 0.04.
    for size in [small, large] {
        assert!((0.006..0.016).contains(&size), "{small} {large}");
    }
}

#[test]
fn a_logarithmic_column_stays_positive_where_the_range_is_lifted() {
    let values: Vec<f64> = noise(300).iter().map(|v| 1.0 + 40.0 * v * v + v).collect();
    let frame = df!("k" => keys(60, 5), "v" => values).unwrap();
    let least = |distribution| {
        let model = builder(&one_number())
            .numerical_distribution("v", distribution)
            .enforce_min_max_values(false)
            .epochs(0)
            .fit(&frame)
            .unwrap();
        let options = SampleOptions::sequences(2_000).seed(3).temperature(8.0);
        let made = reals(&model.sample_with(&options).unwrap(), "v");
        made.into_iter().fold(f64::INFINITY, f64::min)
    };
    let least_of_logarithm = least(NumericalDistribution::Logarithmic);
    assert!(least_of_logarithm > 0.0 && least_of_logarithm < 0.9);
    // What the test would not tell otherwise.
    assert!(least(NumericalDistribution::Learned) < 0.0);
}

#[test]
fn bins_keep_the_shares_of_the_column_and_its_missing_cells() {
    let draws = noise(900);
    let values: Vec<Option<f64>> = draws
        .iter()
        .enumerate()
        .map(|(row, v)| (row % 5 != 0).then(|| if *v < 0.3 { 0.0 } else { v * v * 80.0 }))
        .collect();
    let frame = df!("k" => keys(90, 10), "v" => values).unwrap();
    let model = builder(&one_number())
        .numerical_distribution("v", NumericalDistribution::Bins(12))
        .epochs(30)
        .fit(&frame)
        .unwrap();
    let synthetic = sample(&model, 200);
    let missing =
        |frame: &DataFrame| frame.column("v").unwrap().null_count() as f64 / frame.height() as f64;
    assert!((missing(&synthetic) - missing(&frame)).abs() < 0.05);
    let (real, made) = (reals(&frame, "v"), reals(&synthetic, "v"));
    for bound in [0.0, 20.0, 40.0, 60.0] {
        let share = |values: &[f64]| {
            values.iter().filter(|&&v| v <= bound).count() as f64 / values.len() as f64
        };
        assert!((share(&real) - share(&made)).abs() < 0.06, "{bound}"); // three standard errors of 720
    }
    assert!(sample(&reloaded(&model).0, 200).equals_missing(&synthetic));
}

#[test]
fn every_distribution_works_for_a_context_column_and_comes_back_from_a_file() {
    let wealth: Vec<i64> = counts(20, 30.0);
    let values: Vec<i64> = (0..200).map(|row| wealth[row / 10]).collect();
    let frame = df!("k" => keys(20, 10), "v" => &values, "w" => noise(200)).unwrap();
    let columns = [
        ("k", id()),
        ("v", SdType::Numerical),
        ("w", SdType::Numerical),
    ];
    for distribution in [
        NumericalDistribution::Learned,
        NumericalDistribution::Bins(5),
        NumericalDistribution::Logarithmic,
        NumericalDistribution::Counts,
    ] {
        let model = builder(&columns)
            .context_columns(["v"])
            .numerical_distribution("v", distribution)
            .epochs(2)
            .fit(&frame)
            .unwrap();
        let synthetic = sample(&model, 30);
        assert_eq!(synthetic.schema(), frame.schema(), "{distribution}");
        assert!(
            sample(&reloaded(&model).0, 30).equals_missing(&synthetic),
            "{distribution}"
        );
        let nats = model.log_likelihood(&frame).unwrap().nats_per_sequence();
        assert!(nats.is_finite(), "{distribution}");
        let given = df!("v" => [4_i64, 25]).unwrap();
        let made = model.sample_sequential_columns(&given).unwrap();
        assert_eq!(
            made.column("v").unwrap().n_unique().unwrap(),
            2,
            "{distribution}"
        );
    }
}

fn refusal(column: &str, distribution: NumericalDistribution) -> String {
    let columns = [
        ("k", id()),
        ("t", SdType::Numerical),
        ("colour", SdType::Categorical),
        ("change", SdType::Numerical),
        ("price", SdType::Numerical),
    ];
    let frame = df!(
        "k" => ["a", "a", "b"], "t" => [1, 2, 1], "colour" => ["x", "y", "x"],
        "change" => [1.0, -2.0, -3.0], "price" => [Some(2.0), None, Some(1.5)],
    )
    .unwrap();
    let error = builder(&columns)
        .numerical_distribution(column, distribution)
        .fit(&frame)
        .unwrap_err();
    error.to_string()
}

#[test]
fn a_distribution_that_a_column_cannot_have_is_refused_by_name_and_row() {
    let counts = NumericalDistribution::Counts;
    assert_eq!(
        refusal("prise", counts),
        "numerical_distribution: column `prise` is not a column; did you mean `price`?"
    );
    for (column, found) in [
        ("k", "the sequence key"),
        ("t", "the sequence index"),
        ("colour", "of sdtype categorical"),
    ] {
        assert_eq!(
            refusal(column, counts),
            format!(
                "numerical_distribution: column `{column}` is {found}; wanted is a numerical column that is neither key nor index"
            )
        );
    }
    assert!(refusal("price", counts).starts_with(
        "column `price`, row 2: the value cannot come from counts, which has whole numbers from 0 to 1,000,000"
    ));
    assert!(
        refusal("change", NumericalDistribution::Logarithmic)
            .starts_with("column `change`, row 1: the value cannot come from logarithmic, which has numbers from 0 on")
    );
    assert_eq!(
        refusal("price", NumericalDistribution::Bins(1)),
        "option `numerical_distribution: bins` is 1, expected 2 to 1000"
    );
    assert!(
        !DistributionError::UnknownColumn {
            column: "x".to_owned(),
            nearest: None
        }
        .to_string()
        .contains("did you mean")
    );
}

/// Columns that codecs stumble over, none of them negative.
fn nasty_columns() -> Vec<(&'static str, Series)> {
    let name = || PlSmallStr::from("v");
    let draws = noise(24);
    let huge: Vec<f64> = draws.iter().map(|v| v * f64::MAX).collect();
    let tiny: Vec<f64> = (1..=24).map(|row| f64::from_bits(row * row)).collect();
    let wide: Vec<f64> = (0..24).map(|row| 10_f64.powi(row * 13)).collect();
    let large: Vec<i64> = (0..24).map(|row| i64::MAX - row * row).collect();
    vec![
        ("constant", Series::new(name(), [4_i64; 24])),
        ("zero", Series::new(name(), [0.0; 24])),
        ("missing", Series::full_null(name(), 24, &DataType::Float64)),
        (
            "one value",
            Series::new(
                name(),
                (0..24)
                    .map(|row| (row == 9).then_some(3_i64))
                    .collect::<Vec<_>>(),
            ),
        ),
        ("huge", Series::new(name(), huge)),
        ("tiny", Series::new(name(), tiny)),
        ("wide", Series::new(name(), wide)),
        ("large", Series::new(name(), large)),
        (
            "bytes",
            Series::new(
                name(),
                (0..24).map(|row| (row * 10) as u8).collect::<Vec<_>>(),
            ),
        ),
        (
            "singles",
            Series::new(name(), draws.iter().map(|v| *v as f32).collect::<Vec<_>>()),
        ),
    ]
}

#[test]
fn every_option_takes_every_column_or_says_why_not() {
    for (case, values) in nasty_columns() {
        let keys: Vec<i64> = (0..24).map(|row| row / 5).collect();
        let frame = df!("k" => keys, "v" => values).unwrap();
        for distribution in [
            NumericalDistribution::Learned,
            NumericalDistribution::Bins(3),
            NumericalDistribution::Logarithmic,
            NumericalDistribution::Counts,
        ] {
            for (rounds, segment, protection) in [(true, 100, 1), (false, 2, 1), (true, 2, 2)] {
                let place = format!("{case}, {distribution}, {rounds}, {segment}, {protection}");
                let fitted = builder(&one_number())
                    .numerical_distribution("v", distribution)
                    .enforce_rounding(rounds)
                    .enforce_min_max_values(rounds)
                    .segment_size(segment)
                    .value_protection(protection)
                    .epochs(2)
                    .fit(&frame);
                let model = match fitted {
                    Ok(model) => model,
                    Err(Error::Distribution(DistributionError::Value { .. })) => {
                        assert!(
                            ["huge", "tiny", "wide", "large", "singles"].contains(&case),
                            "{place}"
                        );
                        continue;
                    }
                    // One sequence alone has a value.
                    Err(Error::NumbersProtected { .. }) => {
                        assert!(case == "one value" && protection > 1, "{place}");
                        continue;
                    }
                    Err(error) => panic!("{place}: {error}"),
                };
                let made = sample(&model, 20);
                assert_eq!(made.schema(), frame.schema(), "{place}");
                assert!(reals(&made, "v").iter().all(|v| v.is_finite()), "{place}");
                assert!(
                    sample(&reloaded(&model).0, 20).equals_missing(&made),
                    "{place}"
                );
                let nats = model.log_likelihood(&frame).unwrap().nats_per_row();
                assert!(!nats.is_nan(), "{place}");
                assert!(nats.is_finite() || protection > 1, "{place}: {nats}");
            }
        }
    }
}
