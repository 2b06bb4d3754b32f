//! Sampling that someone ends, and what it tells on the way.

use crate::common::{SEQUENCES, model, model_with_endless_personal_key, options};
use parsynth::{CancelToken, ContinueOptions, Error, ImputeOptions, SampleOptions, SampleProgress};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// So long that no test could wait for it.
const ENDLESS: usize = 10_000_000;

fn cancelled_soon() -> (CancelToken, std::thread::JoinHandle<()>) {
    let token = CancelToken::new();
    let own = token.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        own.cancel();
    });
    (token, thread)
}

#[test]
fn another_thread_ends_sampling_within_a_sequence() {
    let model = model();
    let (token, thread) = cancelled_soon();
    let options = SampleOptions::sequences(2)
        .length(ENDLESS)
        .cancel_token(token);
    let error = model.sample_with(&options).unwrap_err();
    assert!(matches!(error, Error::Cancelled), "{error}");
    assert_eq!(error.to_string(), "cancelled");
    thread.join().unwrap();
}

#[test]
fn another_thread_ends_continuing_and_filling() {
    let model = model();
    let history = model
        .sample_with(&SampleOptions::sequences(3).seed(1))
        .unwrap();
    let (token, thread) = cancelled_soon();
    let options = ContinueOptions::steps(ENDLESS).cancel_token(token);
    let error = model
        .continue_sequences_with(&history, &options)
        .unwrap_err();
    assert!(matches!(error, Error::Cancelled), "{error}");
    thread.join().unwrap();

    let token = CancelToken::new();
    token.cancel();
    let options = ImputeOptions::default().cancel_token(token);
    let error = model.impute_with(&history, &options).unwrap_err();
    assert!(matches!(error, Error::Cancelled), "{error}");
}

#[test]
fn the_way_to_a_far_range_of_personal_keys_can_be_cancelled() {
    let model = model_with_endless_personal_key();
    let (token, thread) = cancelled_soon();
    // As far as this, the keys before would fill the memory.
    let far = 1_000_000_000_000;
    let options = SampleOptions::sequences(far)
        .length(1)
        .seed(1)
        .sequence_range(far - 1..far)
        .cancel_token(token);
    let error = model.sample_with(&options).unwrap_err();
    assert!(matches!(error, Error::Cancelled), "{error}");
    thread.join().unwrap();
}

#[test]
fn the_callback_ends_sampling() {
    let (model, token) = (model(), CancelToken::new());
    let own = token.clone();
    let told = Arc::new(Mutex::new(0));
    let count = Arc::clone(&told);
    let options = options()
        .on_progress(move |_| {
            *count.lock().unwrap() += 1;
            own.cancel();
        })
        .cancel_token(token.clone());
    assert!(matches!(model.sample_with(&options), Err(Error::Cancelled)));
    assert_eq!(*told.lock().unwrap(), 1);
    // Parts that were cancelled end with the error, once.
    let mut parts = model.sample_in_parts(&options, 10).unwrap();
    assert!(matches!(parts.next(), Some(Err(Error::Cancelled))));
    assert!(parts.next().is_none());
}

#[test]
fn parts_that_are_dropped_end_their_threads() {
    let model = model();
    let endless = SampleOptions::sequences(90_000).seed(1);
    let mut parts = model.sample_in_parts(&endless, 1).unwrap();
    assert!(parts.next().unwrap().is_ok());
    drop(parts);
    // In the middle of sequences too.
    let lengths = (0..1_024).map(|sequence| if sequence < 512 { 1 } else { ENDLESS });
    let endless = SampleOptions::sequences(1_024).lengths(lengths);
    let mut parts = model.sample_in_parts(&endless, 1).unwrap();
    assert!(parts.next().unwrap().is_ok());
}

#[test]
fn progress_tells_rows_and_what_is_wanted() {
    let model = model();
    let told: Arc<Mutex<Vec<SampleProgress>>> = Arc::default();
    let tell = Arc::clone(&told);
    let watched = |options: SampleOptions| {
        let tell = Arc::clone(&tell);
        options.on_progress(move |progress| tell.lock().unwrap().push(*progress))
    };
    let frame = model.sample_with(&watched(options())).unwrap();
    let progress = std::mem::take(&mut *told.lock().unwrap());
    let sequences: Vec<usize> = progress.iter().map(|progress| progress.sequences).collect();
    assert_eq!(sequences, [512, 1_024, SEQUENCES]);
    let last = progress[2];
    assert_eq!((last.rows, last.rows_wanted), (frame.height(), None));
    assert!(last.rows_per_second() > 0.0);
    assert!(progress[0].time_left() > Some(Duration::ZERO));
    assert_eq!(last.time_left(), Some(Duration::ZERO));

    let frame = model
        .sample_with(&watched(SampleOptions::rows(2_000).seed(1)))
        .unwrap();
    let last = *told.lock().unwrap().last().unwrap();
    assert_eq!((last.rows, last.rows_wanted), (frame.height(), Some(2_000)));
}
