//! Calls without a seed of their own: fresh, or a series that can be started again.

use crate::common::*;
use parsynth::SdType::Numerical;
use parsynth::{Condition, ContinueOptions, ImputeOptions, ParSynthesizer, SampleOptions};
use polars::prelude::*;

fn data() -> DataFrame {
    let cells = noise(12).into_iter().enumerate();
    df!(
        "k" => keys(&[3; 4]),
        "v" => cells.map(|(row, v)| (row != 4).then_some(v)).collect::<Vec<_>>(),
    )
    .unwrap()
}

fn fitted() -> ParSynthesizer {
    untrained(&[("k", id()), ("v", Numerical)])
        .fit(&data())
        .unwrap()
}

/// One call of each kind, none with a seed.
fn calls(synthesizer: &ParSynthesizer) -> Vec<DataFrame> {
    let end = ContinueOptions::to_the_end();
    vec![
        synthesizer.sample(3).unwrap(),
        synthesizer.sample(3).unwrap(),
        synthesizer
            .sample_from_conditions(&[Condition::sequences(3)])
            .unwrap(),
        synthesizer.continue_sequences(&data(), 2).unwrap(),
        synthesizer.continue_sequences_with(&data(), &end).unwrap(),
        synthesizer.impute(&data()).unwrap(),
    ]
}

fn are_same(left: &[DataFrame], right: &[DataFrame]) -> bool {
    left.iter().zip(right).all(|(l, r)| l.equals_missing(r))
}

#[test]
fn a_loaded_model_gives_other_samples_in_each_load_and_call() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.parsynth");
    let synthesizer = fitted();
    synthesizer.seed_sampling(7);
    synthesizer.save(&path).unwrap();
    let load = || ParSynthesizer::load(&path).unwrap();
    // The series is not saved: each load is as fresh as another.
    let samples = [load(), load(), synthesizer].map(|model| model.sample(3).unwrap());
    for (at, sample) in samples.iter().enumerate() {
        for other in &samples[at + 1..] {
            assert!(!sample.equals_missing(other));
        }
    }
}

#[test]
fn seeded_calls_differ_from_one_another_and_come_again_with_the_seed() {
    let synthesizer = fitted();
    synthesizer.seed_sampling(7);
    let first = calls(&synthesizer);
    assert!(!first[0].equals_missing(&first[1]));
    let goes_on = calls(&synthesizer);
    assert!(!are_same(&first, &goes_on));
    synthesizer.seed_sampling(7);
    assert!(are_same(&first, &calls(&synthesizer)));
    synthesizer.seed_sampling(8);
    assert!(!are_same(&first, &calls(&synthesizer)));
    // Another fit to the same data is the same model, and gives the same series.
    let twin = fitted();
    twin.seed_sampling(7);
    assert!(are_same(&first, &calls(&twin)));
}

#[test]
fn reset_sampling_starts_the_series_again_seeded_or_not() {
    let synthesizer = fitted();
    let fresh = calls(&synthesizer);
    synthesizer.reset_sampling();
    assert!(are_same(&fresh, &calls(&synthesizer)));
    synthesizer.seed_sampling(7);
    let seeded = calls(&synthesizer);
    synthesizer.reset_sampling();
    assert!(are_same(&seeded, &calls(&synthesizer)));
    // The series of another fit is another.
    assert!(!are_same(&fresh, &calls(&fitted())));
}

#[test]
fn a_call_with_a_seed_of_its_own_leaves_the_series_alone() {
    let synthesizer = fitted();
    synthesizer.seed_sampling(7);
    let series = [
        synthesizer.sample(3).unwrap(),
        synthesizer.sample(3).unwrap(),
    ];
    synthesizer.reset_sampling();
    let first = synthesizer.sample(3).unwrap();
    let seeded = SampleOptions::sequences(3).seed(1);
    let own = synthesizer.sample_with(&seeded).unwrap();
    // A call that is refused takes no place in it either.
    assert!(
        synthesizer
            .sample_with(&SampleOptions::sequences(3).length(0))
            .is_err()
    );
    let refused = ImputeOptions::default().candidates(0);
    assert!(synthesizer.impute_with(&data(), &refused).is_err());
    assert!(are_same(&series, &[first, synthesizer.sample(3).unwrap()]));
    assert!(own.equals_missing(&synthesizer.sample_with(&seeded).unwrap()));
}

#[test]
fn threads_that_sample_at_once_share_the_series_out() {
    let synthesizer = fitted();
    let texts_of = |frames: Vec<DataFrame>| {
        let mut texts: Vec<String> = frames.iter().map(|frame| format!("{frame:?}")).collect();
        texts.sort();
        texts
    };
    synthesizer.seed_sampling(7);
    let alone = texts_of((0..8).map(|_| synthesizer.sample(2).unwrap()).collect());
    synthesizer.reset_sampling();
    let together = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| synthesizer.sample(2).unwrap()))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(alone, texts_of(together));
}
