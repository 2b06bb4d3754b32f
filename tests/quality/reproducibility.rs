//! Seeds, threads, processes, losses, devices.

use crate::common::*;
use SdType::{Categorical, Numerical};
use parsynth::{
    Device, EpochLoss, Error, FitReport, Metadata, ParSynthesizer, ParSynthesizerBuilder,
    SampleOptions, SdType, Stage, read_parquet, write_parquet,
};
use polars::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

/// Set in the child process: where it writes its sample.
const CHILD_WRITES_TO: &str = "PARSYNTH_TEST_CHILD_WRITES_TO";

/// Every kind of column, some missing cells, lengths that differ.
fn visits() -> DataFrame {
    let mut generator = Generator(29);
    let (mut k, mut day, mut sex, mut value, mut event) = (vec![], vec![], vec![], vec![], vec![]);
    for patient in 0..12 {
        let mut at = 18_000 + (generator.uniform() * 900.0) as i32;
        for _ in 0..2 + patient % 4 {
            k.push(format!("patient {patient}"));
            day.push(at);
            sex.push(["f", "m"][patient % 2]);
            value.push((generator.uniform() > 0.2).then(|| generator.normal()));
            event.push(["admitted", "seen", "discharged"][(generator.uniform() * 3.0) as usize]);
            at += 1 + (generator.uniform() * 30.0) as i32;
        }
    }
    let day = Series::new("day".into(), day)
        .cast(&DataType::Date)
        .unwrap();
    df!("k" => k, "day" => day, "sex" => sex, "value" => value, "event" => event).unwrap()
}

fn visits_metadata() -> Metadata {
    metadata(
        &[
            ("k", id()),
            ("day", datetime()),
            ("sex", Categorical),
            ("value", Numerical),
            ("event", Categorical),
        ],
        Some("k"),
        Some("day"),
    )
}

fn builder() -> ParSynthesizerBuilder {
    ParSynthesizer::builder(visits_metadata())
        .context_columns(["sex"])
        .hidden_size(16)
        .epochs(25)
        .threads(2)
}

fn seeded(seed: u64) -> ParSynthesizer {
    builder().seed(seed).fit(&visits()).unwrap()
}

fn sample(synthesizer: &ParSynthesizer, seed: u64) -> DataFrame {
    synthesizer
        .sample_with(&SampleOptions::sequences(20).seed(seed))
        .unwrap()
}

/// Frames whose cells are the same, missing ones and keys included.
fn assert_same(left: &DataFrame, right: &DataFrame) {
    assert_eq!(shape(left), shape(right));
    assert!(left.equals_missing(right), "{left}\n{right}");
}

#[test]
fn equal_seeds_give_equal_fits_and_samples_in_this_process_and_another() {
    if let Some(path) = std::env::var_os(CHILD_WRITES_TO) {
        write_parquet(&sample(&seeded(7), 1), PathBuf::from(path)).unwrap();
        return;
    }
    let (first, second) = (seeded(7), seeded(7));
    assert_eq!(first.report().losses, second.report().losses);
    let wanted = sample(&first, 1);
    assert_same(&wanted, &sample(&second, 1));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("child.parquet");
    let test =
        "reproducibility::equal_seeds_give_equal_fits_and_samples_in_this_process_and_another";
    let output = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact"])
        .env(CHILD_WRITES_TO, &path)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    assert_same(&wanted, &read_parquet(&path).unwrap());

    // Another seed, of either, gives another result.
    assert!(!wanted.equals_missing(&sample(&first, 2)));
    assert!(!wanted.equals_missing(&sample(&seeded(8), 1)));
}

#[test]
fn without_a_seed_no_two_fits_and_no_two_samples_are_alike() {
    let fit = || builder().epochs(2).fit(&visits()).unwrap();
    let (first, second) = (fit(), fit());
    assert_ne!(first.report().losses, second.report().losses);
    let [one, two] = [first.sample(10).unwrap(), first.sample(10).unwrap()];
    assert!(!one.equals_missing(&two));
    // A seeded fit does not seed its samples.
    let seeded = seeded(7);
    assert!(
        !seeded
            .sample(10)
            .unwrap()
            .equals_missing(&seeded.sample(10).unwrap())
    );
}

#[test]
fn fits_and_samples_that_run_at_once_equal_those_that_run_alone() {
    const fn is_shared_between_threads<T: Send + Sync + 'static>() {}
    const { is_shared_between_threads::<ParSynthesizer>() };
    const { is_shared_between_threads::<ParSynthesizerBuilder>() };
    const { is_shared_between_threads::<SampleOptions>() };
    const { is_shared_between_threads::<Error>() };

    let alone = [3, 4].map(|seed| sample(&seeded(seed), seed));
    let at_once = std::thread::scope(|scope| {
        [3, 4]
            .map(|seed| scope.spawn(move || sample(&seeded(seed), seed)))
            .map(|handle| handle.join().unwrap())
    });
    for (alone, at_once) in alone.iter().zip(&at_once) {
        assert_same(alone, at_once);
    }

    let shared = seeded(5);
    let wanted = sample(&shared, 5);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert_same(&wanted, &sample(&shared, 5)));
        }
    });
}

#[test]
fn the_number_of_sampling_threads_does_not_change_the_sample() {
    // Three chunks of 512 sequences, the last of them short.
    const SEQUENCES: usize = 1_300;
    let synthesizer = seeded(7);
    let sample = |threads: usize| {
        let options = SampleOptions::sequences(SEQUENCES).seed(1).threads(threads);
        synthesizer.sample_with(&options).unwrap()
    };
    let one = sample(1);
    assert_eq!(sequences(&one, "k").len(), SEQUENCES);
    for threads in [2, 3] {
        assert_same(&one, &sample(threads));
    }
    // Nor do later chunks change an earlier one. (Within a chunk libtorch's sums may differ in their last bit with the
    // number of sequences.)
    let fewer = synthesizer
        .sample_with(&SampleOptions::sequences(512).seed(1))
        .unwrap();
    assert_same(&fewer, &one.head(Some(fewer.height())));
    // Nor does a request in rows.
    let rows = synthesizer
        .sample_with(&SampleOptions::rows(2_000).seed(1))
        .unwrap();
    assert!(rows.height() >= 2_000);
    assert_same(&rows, &one.head(Some(rows.height())));
}

/// The losses of one network, in order.
fn losses(report: &FitReport, stage: Stage) -> Vec<&EpochLoss> {
    report
        .losses
        .iter()
        .filter(|loss| loss.stage == stage)
        .collect()
}

#[test]
fn the_loss_curve_is_told_by_epoch_and_column_with_a_held_out_value() {
    let synthesizer = builder()
        .seed(1)
        .epochs(30)
        .validation_share(0.25)
        .fit(&visits())
        .unwrap();
    let report = synthesizer.report();
    assert_eq!(
        (report.training_sequences, report.validation_sequences),
        (9, 3)
    );
    assert_eq!(report.rows, visits().height());
    assert_eq!(report.epochs, losses(report, Stage::Sequence).len());
    for (stage, columns) in [
        (Stage::Context, ["sex", "(length)", "(start)"]),
        (Stage::Sequence, ["(gap)", "value", "event"]),
    ] {
        let losses = losses(report, stage);
        let epochs: Vec<usize> = losses.iter().map(|loss| loss.epoch).collect();
        assert_eq!(epochs, (1..=losses.len()).collect::<Vec<_>>());
        assert!(losses.iter().any(|loss| loss.validation_nats.is_some()));
        for loss in &losses {
            let of: BTreeMap<&str, f64> = loss
                .training_nats_per_column
                .iter()
                .map(|(column, nats)| (column.as_str(), *nats))
                .collect();
            assert!(
                columns.iter().all(|column| of.contains_key(column)),
                "{stage}: {of:?}"
            );
            // Sums of a few f64: far below 1e-9.
            assert!((of.values().sum::<f64>() - loss.training_nats).abs() < 1e-9);
            assert_eq!(
                loss.validation_nats.is_some(),
                loss.validation_nats_per_column.is_some()
            );
        }
        let (first, last) = (
            losses[0].training_nats,
            losses[losses.len() - 1].training_nats,
        );
        assert!(last < first, "{stage}: {first} to {last}");
    }
    let best = losses(report, Stage::Sequence)[report.kept_epoch - 1];
    assert_eq!(report.validation_nats(), best.validation_nats);
    assert!(best.validation_nats.is_some());

    let all = builder()
        .seed(1)
        .epochs(3)
        .validation_share(0.0)
        .fit(&visits())
        .unwrap();
    assert_eq!(all.report().validation_sequences, 0);
    assert!(
        all.report()
            .losses
            .iter()
            .all(|loss| loss.validation_nats.is_none())
    );
}

#[test]
fn a_cuda_device_that_cannot_be_used_is_an_error_that_names_the_cause() {
    for number in [0, 99] {
        if number == 0 && tch::Cuda::is_available() {
            continue;
        }
        let error = builder()
            .device(Device::Cuda(number))
            .fit(&visits())
            .unwrap_err();
        assert!(matches!(error, Error::Device { .. }), "{error}");
        let told = error.to_string();
        assert!(told.contains(&format!("Cuda({number})")), "{told}");
        let causes = ["CPU-only libtorch", "finds no GPU or driver", "fewer GPUs"];
        assert!(causes.iter().any(|cause| told.contains(cause)), "{told}");
    }
}
