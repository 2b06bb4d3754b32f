//! What a fit's options do, and what a fitted model says of itself.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test's panic is its report; its numbers are small"
)]

use parsynth::{
    DistributionError, Error, Metadata, NumericalDistribution, ParSynthesizer,
    ParSynthesizerBuilder, SampleOptions, SdType,
};
use polars::prelude::*;
use std::sync::{Arc, Mutex};

fn id() -> SdType {
    SdType::Id { regex_format: None }
}

/// Columns in order; `k` is the sequence key and `t` the index, where they occur.
fn metadata(columns: &[(&str, SdType)]) -> Metadata {
    let mut builder = Metadata::builder();
    for (name, sdtype) in columns {
        builder = builder.column(*name, sdtype.clone());
        builder = match *name {
            "k" => builder.sequence_key("k"),
            "t" => builder.sequence_index("t"),
            _ => builder,
        };
    }
    builder.build().unwrap()
}

fn builder(columns: &[(&str, SdType)]) -> ParSynthesizerBuilder {
    ParSynthesizer::builder(metadata(columns))
        .hidden_size(8)
        .threads(1)
        .seed(1)
}

fn sample(model: &ParSynthesizer, sequences: usize) -> DataFrame {
    let options = SampleOptions::sequences(sequences).seed(1).threads(1);
    model.sample_with(&options).unwrap()
}

/// Numbers without a pattern, in 0..1, the same in every run.
fn noise(count: usize) -> Vec<f64> {
    let mut state = 7_u64;
    (0..count)
        .map(|_| {
            // Knuth's linear congruential generator; the upper bits are good enough here.
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        })
        .collect()
}

/// Keys of `sequences` sequences of `rows` rows each.
fn keys(sequences: usize, rows: usize) -> Vec<i64> {
    (0..sequences * rows)
        .map(|row| (row / rows) as i64)
        .collect()
}

fn reals(frame: &DataFrame, column: &str) -> Vec<f64> {
    let column = frame.column(column).unwrap();
    let column = column.cast(&DataType::Float64).unwrap();
    column.f64().unwrap().iter().flatten().collect()
}

fn lengths(frame: &DataFrame) -> Vec<usize> {
    let keys = reals(frame, "k");
    keys.chunk_by(|a, b| a == b).map(<[f64]>::len).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn reloaded(model: &ParSynthesizer) -> (ParSynthesizer, u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.parsynth");
    model.save(&path).unwrap();
    let bytes = std::fs::metadata(&path).unwrap().len();
    (ParSynthesizer::load(&path).unwrap(), bytes)
}

fn numbers() -> [(&'static str, SdType); 3] {
    [
        ("k", id()),
        ("region", SdType::Categorical),
        ("v", SdType::Numerical),
    ]
}

fn numbers_frame() -> DataFrame {
    let regions: Vec<&str> = (0..60).map(|row| ["n", "s"][(row / 6) % 2]).collect();
    df!("k" => keys(10, 6), "region" => regions, "v" => noise(60)).unwrap()
}

#[test]
fn a_model_tells_when_by_what_and_from_how_much_it_was_fitted() {
    let model = builder(&numbers())
        .context_columns(["region"])
        .epochs(1)
        .fit(&numbers_frame())
        .unwrap();
    let info = model.info();
    assert_eq!((info.rows, info.columns, info.sequences), (60, 3, 10));
    assert_eq!((info.segments, info.file_bytes), (None, None));
    assert_eq!(info.weights, model.report().weights);
    assert_eq!(info.device, "cpu");
    assert_eq!(info.fitted_by, info.running);
    assert!(
        info.fitted.len() == 20 && info.fitted.ends_with('Z'),
        "{}",
        info.fitted
    );
    assert!(info.created <= info.fitted && info.created.as_str() > "2024");

    let (loaded, bytes) = reloaded(&model);
    let of_loaded = loaded.info();
    assert_eq!(of_loaded.file_bytes, Some(bytes));
    assert_eq!(
        (&of_loaded.created, &of_loaded.fitted, &of_loaded.fitted_by),
        (&info.created, &info.fitted, &info.fitted_by)
    );
    let json: serde_json::Value = serde_json::from_str(&of_loaded.to_json()).unwrap();
    assert_eq!(json["file_bytes"], bytes);
    assert_eq!(json["fitted_by"]["parsynth"], env!("CARGO_PKG_VERSION"));
    assert!(format!("{info}").contains(&format!("fitted     {}", info.fitted)));
}

#[test]
fn parameters_hold_every_option_and_survive_the_file() {
    let model = builder(&numbers())
        .context_columns(["region"])
        .epochs(0)
        .dropout(0.25)
        .enforce_rounding(false)
        .segment_size(4)
        .numerical_distribution("v", NumericalDistribution::Bins(7))
        .fit(&numbers_frame())
        .unwrap();
    let parameters = model.parameters();
    assert_eq!(parameters.context_columns, ["region"]);
    assert_eq!((parameters.hidden_size, parameters.epochs), (8, Some(0)));
    assert_eq!((parameters.dropout, parameters.seed), (0.25, Some(1)));
    assert!(parameters.enforce_min_max_values && !parameters.enforce_rounding);
    assert_eq!(parameters.segment_size, Some(4));
    let json: serde_json::Value = serde_json::from_str(&parameters.to_json()).unwrap();
    assert_eq!(json["batch_size"], serde_json::Value::Null);
    assert_eq!(json["numerical_distributions"]["v"]["bins"], 7);
    let setters = json.as_object().unwrap().len();
    assert_eq!(parameters.to_string().lines().count(), setters);
    assert_eq!(reloaded(&model).0.parameters(), parameters);
}

#[test]
fn loss_values_are_the_losses_of_the_report_and_their_columns_add_up() {
    let model = builder(&numbers())
        .context_columns(["region"])
        .epochs(3)
        .fit(&numbers_frame())
        .unwrap();
    let losses = model.loss_values().unwrap();
    let names = [
        "network",
        "epoch",
        "training_loss",
        "validation_loss",
        "learning_rate",
    ];
    assert_eq!(losses.get_column_names(), names);
    assert_eq!(losses.height(), model.report().losses.len());
    let networks = losses.column("network").unwrap().str().unwrap();
    assert_eq!(
        (networks.get(0), networks.get(5)),
        (Some("context"), Some("sequence"))
    );
    let rates = reals(&losses, "learning_rate");
    assert!(
        rates.iter().all(|&rate| rate > 0.0 && rate <= 0.005),
        "{rates:?}"
    );
    let held_out: Vec<Option<f64>> = model
        .report()
        .losses
        .iter()
        .map(|loss| loss.validation_nats)
        .collect();
    let validation = losses.column("validation_loss").unwrap().f64().unwrap();
    assert_eq!(validation.iter().collect::<Vec<_>>(), held_out);

    let by_column = model.loss_values_by_column().unwrap();
    // region and length, then v alone.
    assert_eq!(by_column.height(), 3 * 2 + 3);
    let last = reals(&by_column, "training_loss")[8];
    assert_eq!(last, reals(&losses, "training_loss")[5]);
    let of_context = reals(&by_column, "training_loss");
    let sum = of_context[0] + of_context[1];
    assert!((sum - reals(&losses, "training_loss")[0]).abs() < 1e-9); // two sums in another order
    assert_eq!(reloaded(&model).0.loss_values().unwrap(), losses);
}

#[test]
fn the_plot_of_the_losses_has_a_curve_for_each_network_and_needs_no_network() {
    let frame = numbers_frame();
    let model = builder(&numbers()).epochs(3).fit(&frame).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("losses.html");
    model.write_loss_values_plot(&path).unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    assert_eq!(page, model.loss_values_plot());
    assert_eq!(page.matches("<svg").count(), 2);
    assert!(page.contains("Losses of the sequence network"));
    assert!(!page.contains("http") && !page.contains("<script"));
    let error = model
        .write_loss_values_plot(folder.path().join("none/x.html"))
        .unwrap_err();
    assert!(matches!(error, Error::WritePlot { .. }), "{error}");
    let untrained = builder(&numbers()).epochs(0).fit(&frame).unwrap();
    assert!(untrained.loss_values_plot().contains("No epoch was run"));
    assert_eq!(untrained.loss_values().unwrap().height(), 0);
}

#[test]
fn progress_is_one_line_to_print() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::clone(&lines);
    builder(&numbers())
        .epochs(1)
        .verbose(true)
        .on_progress(move |progress| written.lock().unwrap().push(progress.to_string()))
        .fit(&numbers_frame())
        .unwrap();
    let lines = lines.lock().unwrap();
    let start = "sequence network, epoch 1 of at most 1: ";
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with(start) && line.contains("held out")),
        "{lines:?}"
    );
    assert!(lines.iter().all(|line| !line.contains('\n')));
}

/// Two decimals, whole floats, sixteen digits, tens as whole numbers.
fn decimals_frame(scale: f64) -> DataFrame {
    let draws = noise(200);
    let rounded: Vec<Option<f64>> = draws
        .iter()
        .enumerate()
        .map(|(row, v)| (row != 3).then(|| (v * 50.0 * scale).round() / scale))
        .collect();
    let whole: Vec<f64> = draws.iter().map(|v| (v * 400.0).round()).collect();
    let digits: Vec<f64> = draws.iter().map(|v| v * 1000.0 / 7.0).collect();
    let tens: Vec<i64> = draws.iter().map(|v| (v * 90.0) as i64 * 10).collect();
    df!("k" => keys(20, 10), "rounded" => rounded, "whole" => whole, "digits" => digits, "tens" => tens)
        .unwrap()
}

fn decimals_columns() -> [(&'static str, SdType); 5] {
    [
        ("k", id()),
        ("rounded", SdType::Numerical),
        ("whole", SdType::Numerical),
        ("digits", SdType::Numerical),
        ("tens", SdType::Numerical),
    ]
}

/// Cells that are not what rounding to so many decimals makes of them.
fn unrounded(frame: &DataFrame, column: &str, decimals: i32) -> usize {
    let scale = 10_f64.powi(decimals);
    let values = reals(frame, column);
    values
        .iter()
        .filter(|&&v| (v * scale).round() / scale != v)
        .count()
}

#[test]
fn decimals_are_those_seen_and_a_second_fit_learns_its_own() {
    for decimals in [2, 4] {
        let frame = decimals_frame(10_f64.powi(decimals));
        let model = builder(&decimals_columns()).epochs(0).fit(&frame).unwrap();
        let synthetic = sample(&model, 40);
        assert_eq!(unrounded(&synthetic, "rounded", decimals), 0);
        assert!(unrounded(&synthetic, "rounded", decimals - 1) > 0);
        assert_eq!(unrounded(&synthetic, "whole", 0), 0);
        assert!(unrounded(&synthetic, "digits", 8) > 300);
        assert!(reals(&synthetic, "tens").iter().all(|v| v % 10.0 == 0.0));
    }
}

#[test]
fn without_enforced_rounding_floats_come_back_as_drawn_and_whole_numbers_whole() {
    let frame = decimals_frame(100.0);
    let model = builder(&decimals_columns())
        .enforce_rounding(false)
        .epochs(0)
        .fit(&frame)
        .unwrap();
    let synthetic = sample(&model, 40);
    assert_eq!(synthetic.schema(), frame.schema());
    let present = reals(&synthetic, "rounded").len();
    assert!(unrounded(&synthetic, "rounded", 2) > present * 9 / 10);
    assert!(unrounded(&synthetic, "whole", 0) > 300);
    assert!(reals(&synthetic, "tens").iter().all(|v| v % 10.0 == 0.0));
    let (values, real) = (reals(&synthetic, "rounded"), reals(&frame, "rounded"));
    let (low, high) = real
        .iter()
        .fold((f64::MAX, f64::MIN), |(l, h), &v| (l.min(v), h.max(v)));
    assert!(values.iter().all(|v| (low..=high).contains(v)));
    let likelihood = model.log_likelihood(&frame).unwrap();
    assert!(likelihood.nats_per_row().is_finite());
    assert!(sample(&reloaded(&model).0, 40).equals_missing(&synthetic));
}

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

#[test]
fn segments_are_learned_as_sequences_and_lose_no_row() {
    // Eleven rows, five rows, one row.
    let keys: Vec<i64> = [vec![0; 11], vec![1; 5], vec![2; 1]].concat();
    let towns: Vec<&str> = keys
        .iter()
        .map(|&key| ["a", "b", "c"][key as usize])
        .collect();
    let frame = df!("k" => &keys, "town" => towns, "v" => noise(17)).unwrap();
    let columns = [
        ("k", id()),
        ("town", SdType::Categorical),
        ("v", SdType::Numerical),
    ];
    let model = builder(&columns)
        .context_columns(["town"])
        .segment_size(4)
        .epochs(2)
        .fit(&frame)
        .unwrap();
    let report = model.report();
    assert_eq!(
        (report.rows, report.sequences, report.segments),
        (17, 3, Some(6))
    );
    assert_eq!(report.training_sequences + report.validation_sequences, 6);
    assert_eq!(model.info().segments, Some(6));
    let made = lengths(&sample(&model, 200));
    // 4, 4 and 3 rows, 4 and 1, and 1.
    assert!(made.iter().all(|rows| (1..=4).contains(rows)));
    assert!(made.contains(&4) && made.contains(&1));
    let likelihood = model.log_likelihood(&frame).unwrap();
    let rows = likelihood
        .sequences()
        .column("rows")
        .unwrap()
        .u64()
        .unwrap();
    assert_eq!(rows.iter().flatten().collect::<Vec<_>>(), [11, 5, 1]);
    assert!(likelihood.nats_per_sequence().is_finite());
    assert_eq!(
        model.continue_sequences(&frame, 2).unwrap().height(),
        17 + 6
    );
}

#[test]
fn segments_of_one_sequence_share_no_value_with_each_other() {
    // One person alone has the town `c`, over many segments.
    let towns: Vec<&str> = (0..60)
        .map(|row| if row < 30 { "c" } else { ["a", "b"][row % 2] })
        .collect();
    let keys: Vec<i64> = (0..60)
        .map(|row| if row < 30 { 0 } else { row / 5 })
        .collect();
    let frame = df!("k" => &keys, "town" => towns, "v" => noise(60)).unwrap();
    let columns = [
        ("k", id()),
        ("town", SdType::Categorical),
        ("v", SdType::Numerical),
    ];
    let fit = |protection: usize| {
        builder(&columns)
            .segment_size(3)
            .value_protection(protection)
            .epochs(0)
            .fit(&frame)
    };
    let made = sample(&fit(2).unwrap(), 200);
    let towns = made
        .column("town")
        .unwrap()
        .unique()
        .unwrap()
        .sort(SortOptions::default())
        .unwrap();
    let towns: Vec<&str> = towns.str().unwrap().iter().flatten().collect();
    assert_eq!(towns, ["a", "b"]);
    // Seven sequences, whatever the segments.
    let error = fit(8).unwrap_err();
    assert_eq!(
        error.to_string(),
        "option `value_protection` is 8, expected 1 to 7"
    );
}

#[test]
fn a_series_without_key_is_learned_in_windows_and_holds_some_out() {
    let values: Vec<f64> = noise(400)
        .iter()
        .enumerate()
        .map(|(row, v)| (row / 40 % 2) as f64 * 10.0 + v)
        .collect();
    let frame = df!("t" => (0..400_i64).collect::<Vec<_>>(), "v" => values).unwrap();
    let columns = [("t", SdType::Numerical), ("v", SdType::Numerical)];
    let model = builder(&columns)
        .segment_size(20)
        .epochs(20)
        .fit(&frame)
        .unwrap();
    let report = model.report();
    assert_eq!((report.sequences, report.segments), (1, Some(20)));
    assert_eq!(
        (report.validation_sequences, report.training_sequences),
        (2, 18)
    );
    let window = model
        .sample_with(&SampleOptions::sequences(1).seed(2))
        .unwrap();
    assert_eq!(window.height(), 20);
    // Windows begin all over the series, on both levels.
    let many = reals(
        &model
            .sample_with(&SampleOptions::sequences(200).seed(2))
            .unwrap(),
        "v",
    );
    let high = many.iter().filter(|&&v| v > 5.5).count() as f64 / many.len() as f64;
    assert!((0.3..0.7).contains(&high), "{high}");
}

#[test]
fn a_segment_of_no_rows_is_refused() {
    let error = builder(&numbers())
        .segment_size(0)
        .fit(&numbers_frame())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "option `segment_size` is 0, expected 1 to 10000000"
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
