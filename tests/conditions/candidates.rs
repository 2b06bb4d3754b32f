//! Several candidates of a sequence, of which the likeliest is kept.

use crate::common::*;
use parsynth::SdType::{Categorical, Numerical};
use parsynth::{ParSynthesizer, SampleOptions};
use polars::prelude::*;

/// Walks with rare events, by group.
fn fitted() -> ParSynthesizer {
    let lengths: Vec<usize> = (0..60).map(|key| 3 + key % 5).collect();
    let rows: usize = lengths.iter().sum();
    let noise = noise(rows);
    let group = lengths.iter().enumerate();
    let group = group.flat_map(|(key, &rows)| vec![["x", "y"][key % 2]; rows]);
    let data = df!(
        "k" => keys(&lengths),
        "group" => group.collect::<Vec<_>>(),
        "event" => noise.iter().map(|n| if *n < 0.1 { "rare" } else { "usual" }).collect::<Vec<_>>(),
        "v" => noise.iter().map(|n| (n > &0.05).then_some((n * 50.0).round() / 10.0)).collect::<Vec<_>>(),
        "w" => noise.iter().map(|n| (n * 10.0).ln()).collect::<Vec<_>>(),
    )
    .unwrap();
    untrained(&[
        ("k", id()),
        ("group", Categorical),
        ("event", Categorical),
        ("v", Numerical),
        ("w", Numerical),
    ])
    .context_columns(["group"])
    .hidden_size(16)
    .epochs(20)
    .fit(&data)
    .unwrap()
}

#[test]
fn candidates_make_rows_likelier_and_leave_context_and_length_as_they_are() {
    let synthesizer = fitted();
    let one = sample(&synthesizer, SampleOptions::sequences(100));
    let best = sample(&synthesizer, SampleOptions::sequences(100).candidates(8));
    assert_eq!(lengths(&one), lengths(&best));
    assert_eq!(first_texts(&one, "group"), first_texts(&best, "group"));
    let nats = |frame: &DataFrame| synthesizer.log_likelihood(frame).unwrap();
    let (one_nats, best_nats) = (nats(&one), nats(&best));
    let (one_mean, best_mean) = (one_nats.nats_per_row(), best_nats.nats_per_row());
    assert!(best_mean > one_mean + 0.2, "{one_mean} {best_mean}");
    // Each sequence is as likely as the one that would have come alone, or likelier, by the model's own account.
    let rows = |nats: &parsynth::LogLikelihood| -> Vec<f64> {
        let cells = nats.sequences().column("nats_per_row").unwrap().clone();
        cells.f64().unwrap().iter().flatten().collect()
    };
    for (one, best) in rows(&one_nats).iter().zip(rows(&best_nats)) {
        assert!(best >= one - 1e-3, "{one} {best}"); // f32, another order of sums
    }
    let rare = |frame: &DataFrame| {
        let events = texts(frame, "event");
        events
            .iter()
            .filter(|event| event.as_deref() == Some("rare"))
            .count()
    };
    assert!(rare(&best) < rare(&one));
}

#[test]
fn one_candidate_is_what_comes_by_default_and_threads_change_nothing() {
    let synthesizer = fitted();
    let run = |options: SampleOptions| synthesizer.sample_with(&options.seed(3)).unwrap();
    let plain = run(SampleOptions::sequences(30));
    assert!(plain.equals_missing(&run(SampleOptions::sequences(30).candidates(1))));
    let several = |threads| run(SampleOptions::sequences(600).candidates(3).threads(threads));
    assert!(several(1).equals_missing(&several(4)));
    let rows = run(SampleOptions::rows(50).candidates(2));
    assert!(rows.height() >= 50);
}

#[test]
fn none_and_too_many_candidates_are_refused() {
    let synthesizer = fitted();
    for count in [0, 1_001] {
        let options = SampleOptions::sequences(1).candidates(count);
        assert_eq!(
            synthesizer.sample_with(&options).unwrap_err().to_string(),
            format!("option `candidates` is {count}, expected 1 to 1000")
        );
    }
}
