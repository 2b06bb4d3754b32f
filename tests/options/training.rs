//! How long a fit trains, and what decides the size of what it trains.

use crate::common::*;
use parsynth::{CancelToken, Device, Error, FitProgress, ParSynthesizer, Stage};
use polars::prelude::*;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[test]
fn a_time_limit_ends_training_early_and_still_gives_a_model() {
    let model = builder(&numbers())
        .context_columns(["region"])
        .epochs(100_000)
        .max_training_time(Duration::from_millis(1))
        .fit(&numbers_frame())
        .unwrap();
    let report = model.report();
    assert!((1..100).contains(&report.epochs), "{}", report.epochs);
    assert!(report.fit_secs < 30.0, "{}", report.fit_secs);
    assert_eq!(model.parameters().max_training_secs, Some(0.001));
    assert_eq!(
        sample(&model, 5).schema(),
        numbers_frame().schema(),
        "a model that samples"
    );
    assert!(
        model
            .log_likelihood(&numbers_frame())
            .unwrap()
            .nats_per_row()
            .is_finite()
    );
}

#[test]
fn epochs_are_at_most_so_many_and_held_out_sequences_end_training_before() {
    let fit = |epochs: usize, patience: usize| -> ParSynthesizer {
        let builder = builder(&numbers()).epochs(epochs).patience_steps(patience);
        builder.fit(&numbers_frame()).unwrap()
    };
    assert_eq!(fit(3, 100).report().epochs, 3);
    // Noise has little to teach: what is held out soon gains no more.
    let stopped = fit(2_000, 20).report().epochs;
    assert!((20..1_000).contains(&stopped), "{stopped}");
    let patient = fit(2_000, 200).report().epochs;
    assert!(patient > stopped, "{patient} {stopped}");
    // With none held out, epochs are as many as asked for.
    let builder = builder(&numbers()).validation_share(0.0).epochs(150);
    let all = builder.fit(&numbers_frame()).unwrap();
    assert_eq!(all.report().epochs, 150);
    assert_eq!(all.report().validation_nats(), None);
}

#[test]
fn a_network_is_as_large_as_asked_for_or_as_the_table_calls_for() {
    let weights = |hidden_size: usize, layers: usize| {
        let builder = builder(&numbers()).hidden_size(hidden_size).layers(layers);
        let model = builder.epochs(0).fit(&numbers_frame()).unwrap();
        model.report().weights
    };
    assert!(weights(16, 1) > weights(8, 1));
    // A second LSTM of the same width: four gates, each with input, state and a bias.
    assert!(weights(8, 2) >= weights(8, 1) + 4 * 8 * (8 + 8 + 1));

    let by_default = |sequences: usize| {
        let frame = df!("k" => keys(sequences, 10), "v" => noise(sequences * 10)).unwrap();
        let columns = metadata(&[("k", id()), ("v", parsynth::SdType::Numerical)]);
        let model = ParSynthesizer::builder(columns).epochs(0).fit(&frame);
        model.unwrap().parameters().hidden_size
    };
    assert_eq!((by_default(599), by_default(600)), (32, 128));
}

#[test]
fn batches_dropout_and_learning_rate_change_what_is_learned() {
    let plain = || builder(&numbers()).epochs(3);
    let losses = |builder: parsynth::ParSynthesizerBuilder| {
        let model = builder.fit(&numbers_frame()).unwrap();
        reals(&model.loss_values().unwrap(), "training_loss")
    };
    let usual = losses(plain());
    assert_eq!(usual, losses(plain()));
    assert_ne!(usual, losses(plain().batch_size(2)));
    assert_ne!(usual, losses(plain().dropout(0.0)));
    assert_ne!(usual, losses(plain().learning_rate(0.001)));
}

#[test]
fn mixed_precision_learns_what_f32_learns_and_is_as_repeatable() {
    // A wave whose phase is the sequence's own: there is something to learn.
    let steps = noise(60 * 12);
    let waves = steps.iter().enumerate().map(|(row, step)| {
        let phase = f64::from(u32::try_from(row / 12 * 7 % 12 + row % 12).unwrap());
        (phase / 2.0).sin() + step / 10.0
    });
    let frame = df!("k" => keys(60, 12), "v" => waves.collect::<Vec<_>>()).unwrap();
    let fit = |mixed: bool, epochs: usize| {
        let columns = [("k", id()), ("v", parsynth::SdType::Numerical)];
        let builder = builder(&columns).hidden_size(24).epochs(epochs);
        builder.mixed_precision(mixed).fit(&frame).unwrap()
    };
    let nats = |model: &ParSynthesizer| model.report().validation_nats().unwrap();
    let (untrained, single, mixed) = (fit(false, 1), fit(false, 60), fit(true, 60));
    // What two seeds differ by, and a small part of what is learned.
    let learned = nats(&untrained) - nats(&single);
    assert!(learned > 0.5, "{learned}");
    assert!((nats(&mixed) - nats(&single)).abs() < 0.1 * learned);
    assert!(!sample(&mixed, 9).equals_missing(&sample(&single, 9)));
    assert!(sample(&mixed, 9).equals_missing(&sample(&fit(true, 60), 9)));
    let (loaded, _) = reloaded(&mixed);
    assert!(sample(&mixed, 9).equals_missing(&sample(&loaded, 9)));
}

#[test]
fn a_fit_begins_anew_whatever_was_fitted_before() {
    let frame = numbers_frame();
    let fit = |frame: &DataFrame| builder(&numbers()).epochs(2).fit(frame).unwrap();
    let first = fit(&frame);
    let twice = frame.vstack(&frame).unwrap();
    fit(&twice.head(Some(30)));
    assert!(sample(&first, 20).equals_missing(&sample(&fit(&frame), 20)));
    assert_eq!(first.report().losses, fit(&frame).report().losses);
}

#[test]
fn a_fit_runs_on_the_cpu_unless_told_otherwise_and_a_model_says_where_it_is() {
    let by_default = builder(&numbers()).epochs(0).fit(&numbers_frame()).unwrap();
    let told = builder(&numbers()).device(Device::Cpu).epochs(0);
    let told = told.fit(&numbers_frame()).unwrap();
    assert_eq!(
        (by_default.info().device, told.info().device),
        ("cpu".to_owned(), "cpu".to_owned())
    );
    assert!(sample(&by_default, 9).equals_missing(&sample(&told, 9)));
}

#[test]
fn a_fit_ends_soon_after_another_thread_or_its_own_callback_cancels_it() {
    let endless = || {
        builder(&numbers())
            .epochs(1_000_000)
            .patience_steps(1_000_000_000)
    };
    let (token, from_thread) = (CancelToken::new(), CancelToken::new());
    let own = from_thread.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        own.cancel();
    });
    let fit = endless().cancel_token(from_thread).fit(&numbers_frame());
    assert!(matches!(fit, Err(Error::Cancelled)), "{fit:?}");
    thread.join().unwrap();

    let (own, epochs) = (token.clone(), Arc::new(Mutex::new(0)));
    let told = Arc::clone(&epochs);
    let fit = endless()
        .threads(2)
        .cancel_token(token.clone())
        .on_progress(move |progress| {
            let mut epochs = told.lock().unwrap();
            *epochs = progress.epoch.max(*epochs);
            if *epochs == 3 {
                own.cancel();
            }
        })
        .fit(&numbers_frame());
    assert!(matches!(fit, Err(Error::Cancelled)), "{fit:?}");
    // The other network may have been telling its next epoch.
    assert!((3..=4).contains(&*epochs.lock().unwrap()));

    let fit = endless().cancel_token(token).fit(&numbers_frame());
    assert!(matches!(fit, Err(Error::Cancelled)), "{fit:?}");
}

#[test]
fn progress_counts_steps_to_the_last_and_knows_when_fewer_are_left() {
    let told: Arc<Mutex<Vec<FitProgress>>> = Arc::default();
    let own = Arc::clone(&told);
    let model = builder(&numbers())
        .epochs(2_000)
        .patience_steps(1)
        .on_progress(move |progress| own.lock().unwrap().push(progress.clone()))
        .fit(&numbers_frame())
        .unwrap();
    let told = told.lock().unwrap();
    let of_rows: Vec<&FitProgress> = told.iter().filter(|p| p.stage == Stage::Sequence).collect();
    assert_eq!(of_rows.len(), model.report().epochs);
    for (epoch, progress) in of_rows.iter().enumerate() {
        assert_eq!(progress.steps, (epoch + 1) * progress.steps_per_epoch);
        assert!(progress.steps <= progress.most_steps && progress.steps_per_second() > 0.0);
    }
    let (first, last) = (of_rows[0], of_rows[of_rows.len() - 1]);
    assert_eq!(first.most_steps, 2_000 * first.steps_per_epoch);
    assert!(last.most_steps < first.most_steps, "{last:?}");
    assert_eq!(
        (last.steps, last.most_time_left()),
        (last.most_steps, Duration::ZERO)
    );
    assert!(first.most_time_left() > Duration::ZERO);
}
