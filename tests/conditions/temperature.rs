//! How far draws stray from what is likely.

use crate::common::*;
use parsynth::SdType::{Categorical, Numerical};
use parsynth::{ContinueOptions, ImputeOptions, ParSynthesizer, SampleOptions};
use polars::prelude::*;

/// Three sequences of four are of the group `common`, and three events of four `usual`; numbers lie around zero, with
/// many decimals, so that they are learned as a density.
fn table() -> DataFrame {
    let noise = noise(400);
    let group = (0..400).map(|row| ["common", "common", "common", "rare"][row / 5 % 4]);
    let event = |chance: &f64| if *chance < 0.75 { "usual" } else { "odd" };
    let number = |chance: &f64| ((chance + 0.01) / (1.01 - chance)).ln();
    df!(
        "k" => keys(&[5; 80]),
        "group" => group.collect::<Vec<_>>(),
        "event" => noise.iter().map(event).collect::<Vec<_>>(),
        "v" => noise.iter().rev().map(number).collect::<Vec<_>>(),
    )
    .unwrap()
}

fn fitted() -> ParSynthesizer {
    let columns = [
        ("k", id()),
        ("group", Categorical),
        ("event", Categorical),
        ("v", Numerical),
    ];
    untrained(&columns)
        .context_columns(["group"])
        .enforce_min_max_values(false)
        .epochs(30)
        .fit(&table())
        .unwrap()
}

fn share(frame: &DataFrame, column: &str, category: &str) -> f64 {
    let cells = texts(frame, column);
    let count = cells
        .iter()
        .filter(|cell| cell.as_deref() == Some(category))
        .count();
    count as f64 / cells.len() as f64
}

/// Mean distance from the mean.
fn spread(values: &[Option<f64>]) -> f64 {
    let values: Vec<f64> = values.iter().flatten().copied().collect();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    values.iter().map(|value| (value - mean).abs()).sum::<f64>() / count
}

#[test]
fn a_low_temperature_keeps_to_what_is_likely_and_a_high_one_strays() {
    let synthesizer = fitted();
    let [cold, learned, hot] = [0.2, 1.0, 4.0].map(|temperature| {
        let options = SampleOptions::sequences(400).length(5);
        sample(&synthesizer, options.temperature(temperature))
    });
    // Numbers: the scales of the mixtures are multiplied.
    let spreads = [&cold, &learned, &hot].map(|frame| spread(&reals(frame, "v")));
    assert!(spreads[0] < 0.85 * spreads[1], "{spreads:?}");
    assert!(spreads[2] > 1.5 * spreads[1], "{spreads:?}");
    // Categories, of the rows and of the context: the common one rules in the cold, and they are evened out in the heat.
    for (column, common) in [("event", "usual"), ("group", "common")] {
        let shares = [&cold, &learned, &hot].map(|frame| share(frame, column, common));
        assert!(shares[0] > 0.95, "{column}: {shares:?}");
        assert!((0.6..0.9).contains(&shares[1]), "{column}: {shares:?}");
        assert!(
            shares[2] < shares[1] - 0.05 && shares[2] > 0.45,
            "{column}: {shares:?}"
        );
    }
}

#[test]
fn continued_rows_and_filled_cells_have_a_temperature_too() {
    let synthesizer = fitted();
    let history = table();
    let continued = [0.2, 4.0].map(|temperature| {
        let options = ContinueOptions::steps(5).seed(1).temperature(temperature);
        let frame = synthesizer.continue_sequences_with(&history, &options);
        let frame = frame.unwrap();
        // Five given rows of each sequence, five new ones.
        spread(
            &reals(&frame, "v")
                .chunks(5)
                .skip(1)
                .step_by(2)
                .flatten()
                .copied()
                .collect::<Vec<_>>(),
        )
    });
    assert!(continued[1] > 2.0 * continued[0], "{continued:?}");

    let mut holes = history.clone();
    let missing = Column::full_null("v".into(), holes.height(), &DataType::Float64);
    holes.with_column(missing).unwrap();
    let filled = [0.2, 4.0].map(|temperature| {
        let options = ImputeOptions::default().seed(1).temperature(temperature);
        spread(&reals(
            &synthesizer.impute_with(&holes, &options).unwrap(),
            "v",
        ))
    });
    assert!(filled[1] > 2.0 * filled[0], "{filled:?}");
}
