//! A saved model is the model, whoever loads it; a file that is not one is refused.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test's panic is its report; its numbers are small"
)]

use parsynth::{
    ArtifactError, Constraint, Device, Error, Metadata, ParSynthesizer, PersonalKind,
    SampleOptions, SdType, read_parquet, write_parquet,
};
use polars::prelude::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const HEADER_BYTES: usize = 22;

/// One model for all tests: ids, dates, a context column, numbers with gaps, categories.
fn model() -> &'static ParSynthesizer {
    static MODEL: OnceLock<ParSynthesizer> = OnceLock::new();
    MODEL.get_or_init(|| {
        let metadata = Metadata::builder()
            .column("key", SdType::Id { regex_format: None })
            .column(
                "day",
                SdType::Datetime {
                    format: Some("%Y-%m-%d".to_owned()),
                },
            )
            .column("town", SdType::Categorical)
            .column("size", SdType::Numerical)
            .column("well", SdType::Boolean)
            .sequence_key("key")
            .sequence_index("day")
            .build()
            .unwrap();
        let frame = df!(
            "key" => ["a", "a", "a", "a", "b", "b", "b", "c", "c", "d"],
            "day" => ["2024-01-01", "2024-01-02", "2024-01-04", "2024-01-08", "2024-02-01",
                "2024-02-02", "2024-02-03", "2024-02-05", "2024-02-07", "2024-02-08"],
            "town" => ["x", "x", "x", "x", "y", "y", "y", "x", "x", "y"],
            "size" => [Some(1.5), None, Some(2.25), Some(3.0), Some(9.5), Some(8.0), None,
                Some(4.5), Some(5.0), Some(7.75)],
            "well" => [true, true, false, true, false, false, true, true, true, false],
        )
        .unwrap();
        ParSynthesizer::builder(metadata)
            .context_columns(["town"])
            .hidden_size(2)
            .epochs(2)
            .threads(1)
            .seed(11)
            .fit(&frame)
            .unwrap()
    })
}

/// The model's file as bytes.
fn saved() -> &'static [u8] {
    static SAVED: OnceLock<Vec<u8>> = OnceLock::new();
    SAVED.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.parsynth");
        model().save(&path).unwrap();
        std::fs::read(path).unwrap()
    })
}

fn load_bytes(bytes: &[u8]) -> Result<ParSynthesizer, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.parsynth");
    std::fs::write(&path, bytes).unwrap();
    ParSynthesizer::load(&path)
}

/// A file around a payload, with the right length and checksum.
fn file_of(payload: &[u8]) -> Vec<u8> {
    let mut bytes = saved()[..10].to_vec();
    bytes.extend((payload.len() as u64).to_le_bytes());
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes);
    hasher.update(payload);
    bytes.extend(hasher.finalize().to_le_bytes());
    bytes.extend(payload);
    bytes
}

fn sample(model: &ParSynthesizer, seed: u64) -> DataFrame {
    model
        .sample_with(&SampleOptions::sequences(40).seed(seed))
        .unwrap()
}

/// Equal in names, dtypes and every value; missing equals missing.
fn assert_same(left: &DataFrame, right: &DataFrame) {
    assert!(left.equals_missing(right), "{left}\n{right}");
    assert_eq!(left.schema(), right.schema());
}

#[test]
fn a_loaded_model_samples_what_the_original_samples() {
    let loaded = load_bytes(saved()).unwrap();
    for seed in 0..3 {
        assert_same(&sample(model(), seed), &sample(&loaded, seed));
    }
    assert!(!sample(&loaded, 0).equals_missing(&sample(&loaded, 1)));
    let context = df!("town" => ["y", "x", "y"]).unwrap();
    let options = SampleOptions::per_context_row().seed(5);
    assert_same(
        &model()
            .sample_sequential_columns_with(&context, &options)
            .unwrap(),
        &loaded
            .sample_sequential_columns_with(&context, &options)
            .unwrap(),
    );
    assert_eq!(loaded.report(), model().report());
    assert_eq!(loaded.metadata(), model().metadata());
}

#[test]
fn the_seed_of_the_fit_does_not_make_sampling_repeat_itself() {
    let loaded = load_bytes(saved()).unwrap();
    let (first, second) = (loaded.sample(40).unwrap(), loaded.sample(40).unwrap());
    assert!(!first.equals_missing(&second));
    let again = load_bytes(saved()).unwrap().sample(40).unwrap();
    assert!(!first.equals_missing(&again));
}

/// Run by `a_model_samples_alike_in_another_process`, in that process: samples where the variable says.
#[test]
fn child_process() {
    if let Some(folder) = std::env::var_os("PARSYNTH_TEST_CHILD") {
        let folder = PathBuf::from(folder);
        let loaded = ParSynthesizer::load(folder.join("m.parsynth")).unwrap();
        write_parquet(&sample(&loaded, 4), folder.join("child.parquet")).unwrap();
    }
}

#[test]
fn a_model_samples_alike_in_another_process() {
    let folder = tempfile::tempdir().unwrap();
    model().save(folder.path().join("m.parsynth")).unwrap();
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_process"])
        .env("PARSYNTH_TEST_CHILD", folder.path())
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let theirs = read_parquet(folder.path().join("child.parquet")).unwrap();
    assert_same(&sample(model(), 4), &theirs);
}

#[test]
fn a_saved_loaded_model_saves_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("again.parsynth");
    load_bytes(saved()).unwrap().save(&path).unwrap();
    assert_eq!(std::fs::read(path).unwrap(), saved());
}

#[test]
fn health_says_what_saved_and_what_runs() {
    let fresh = model().health().unwrap();
    assert!(fresh.is_contiguous && fresh.is_finite);
    assert_eq!((fresh.device.as_str(), &fresh.saved_by), ("cpu", &None));
    assert_eq!(fresh.running.parsynth, env!("CARGO_PKG_VERSION"));
    assert_eq!(fresh.running.libtorch, "2.13.0");
    let loaded = load_bytes(saved()).unwrap();
    loaded.to_device(Device::Cpu).unwrap();
    let health = loaded.health().unwrap();
    assert!(health.is_contiguous && health.is_finite);
    assert_eq!(health.saved_by, Some(fresh.running));
}

#[test]
fn a_device_that_is_not_there_is_refused_and_the_model_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.parsynth");
    std::fs::write(&path, saved()).unwrap();
    // No machine has that many GPUs.
    let device = Device::Cuda(4000);
    assert!(matches!(
        ParSynthesizer::load_on(&path, device),
        Err(Error::Device { .. })
    ));
    let loaded = ParSynthesizer::load_on(&path, Device::Cpu).unwrap();
    assert!(matches!(
        loaded.to_device(device),
        Err(Error::Device { .. })
    ));
    assert_same(&sample(model(), 1), &sample(&loaded, 1));
}

#[test]
fn threads_sample_from_one_model_what_one_thread_does() {
    let loaded = load_bytes(saved()).unwrap();
    let alone: Vec<DataFrame> = (0..4).map(|seed| sample(&loaded, seed)).collect();
    let at_once: Vec<DataFrame> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|seed| {
                let loaded = &loaded;
                scope.spawn(move || sample(loaded, seed))
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    for (left, right) in alone.iter().zip(&at_once) {
        assert_same(left, right);
    }
}

#[test]
fn every_flipped_bit_of_the_header_is_refused() {
    for at in 0..HEADER_BYTES {
        for bit in 0..8 {
            let mut bytes = saved().to_vec();
            bytes[at] ^= 1 << bit;
            let error = load_bytes(&bytes).expect_err("accepted a changed header");
            assert!(matches!(error, Error::Artifact(_)), "{error}");
        }
    }
}

#[test]
fn a_file_that_was_cut_or_has_grown_is_refused() {
    for part in 0..50 {
        let cut = saved().len() * part / 50;
        assert!(
            load_bytes(&saved()[..cut]).is_err(),
            "accepted {cut} of {} bytes",
            saved().len()
        );
    }
    let mut grown = saved().to_vec();
    grown.push(0);
    let error = load_bytes(&grown).unwrap_err();
    assert!(
        matches!(error, Error::Artifact(ArtifactError::Length { found, wanted, .. }) if found == wanted + 1),
        "{error}"
    );
}

#[test]
fn a_damaged_byte_of_the_content_is_refused() {
    for at in (HEADER_BYTES..saved().len()).step_by(997) {
        let mut bytes = saved().to_vec();
        bytes[at] ^= 4;
        let error = load_bytes(&bytes).unwrap_err();
        assert!(
            matches!(error, Error::Artifact(ArtifactError::Checksum { .. })),
            "{error}"
        );
    }
}

#[test]
fn damage_under_a_right_checksum_is_refused_or_samples_without_panic() {
    let payload = &saved()[HEADER_BYTES..];
    // Weights are most of a file and the least of its structure: half of the damage goes before them.
    let structure = payload.len() - 4 * model().report().weights;
    let place = prop_oneof![0..structure, 0..payload.len()];
    let damages = proptest::collection::vec((place, proptest::num::u8::ANY), 1..3);
    let mut runner = TestRunner::new(Config {
        failure_persistence: None,
        ..Config::with_cases(400)
    });
    let accepted = std::cell::Cell::new(0);
    runner
        .run(&damages, |damages| {
            let mut bytes = payload.to_vec();
            for (at, byte) in damages {
                bytes[at] = byte;
            }
            if let Ok(model) = load_bytes(&file_of(&bytes)) {
                accepted.set(accepted.get() + 1);
                let options = SampleOptions::sequences(3).length(2).seed(1).threads(1);
                // An error, such as no room for ids, is an answer.
                if let Ok(frame) = model.sample_with(&options) {
                    prop_assert_eq!(frame.height(), 6);
                }
            }
            Ok(())
        })
        .unwrap();
    assert!(
        accepted.get() > 20,
        "only {} damaged models were sampled",
        accepted.get()
    );
}

/// The largest address space this process has had, in bytes.
#[cfg(target_os = "linux")]
fn peak_address_space() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmPeak:"))
        .unwrap();
    line.trim()
        .strip_suffix(" kB")
        .unwrap()
        .parse::<u64>()
        .unwrap()
        * 1024
}

#[cfg(target_os = "linux")]
#[test]
fn a_huge_length_is_refused_without_allocating_it() {
    let payload = &saved()[HEADER_BYTES..];
    // The content begins with the crate's version: one byte of length and the text.
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(payload[0] as usize, version.len());
    assert_eq!(&payload[1..=version.len()], version.as_bytes());
    let before = peak_address_space();
    for length in [1_u64 << 33, 1 << 35, 1 << 40, u64::MAX] {
        let mut hostile = vec![253]; // a u64 follows
        hostile.extend(length.to_le_bytes());
        hostile.extend(&payload[1..]);
        let error = load_bytes(&file_of(&hostile)).unwrap_err();
        assert!(
            matches!(error, Error::Artifact(ArtifactError::Undecodable { .. })),
            "{error}"
        );
    }
    // 2^33 bytes are 8 GiB; other tests of this process need far less.
    assert!(peak_address_space() - before < 1 << 32);
}

#[test]
fn each_kind_of_wrong_file_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.parsynth");
    let message = |result: Result<ParSynthesizer, Error>| result.unwrap_err().to_string();
    assert_eq!(
        message(ParSynthesizer::load(&path)),
        format!("model file {} is missing", path.display())
    );
    assert_eq!(
        message(ParSynthesizer::load(folder.path())),
        format!("{} is not a file", folder.path().display())
    );
    for other in [&b"PK\x03\x04 a zip"[..], b"", b"key,day\n1,2\n"] {
        std::fs::write(&path, other).unwrap();
        assert_eq!(
            message(ParSynthesizer::load(&path)),
            format!(
                "{} is no parsynth model: it does not begin with PARSYNTH",
                path.display()
            )
        );
    }
}

#[test]
fn a_later_format_is_refused_by_name() {
    let mut bytes = saved()[..HEADER_BYTES].to_vec();
    bytes[8] = 2;
    let payload = &saved()[HEADER_BYTES..];
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..18]);
    hasher.update(payload);
    bytes[18..].copy_from_slice(&hasher.finalize().to_le_bytes());
    bytes.extend(payload);
    let message = load_bytes(&bytes).unwrap_err().to_string();
    let wanted = format!(
        "was written by parsynth {} with format 2; this build reads up to 1",
        env!("CARGO_PKG_VERSION")
    );
    assert!(message.contains(&wanted), "{message}");
}

/// Names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_save_that_fails_says_so_and_leaves_everything_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("old.parsynth");
    std::fs::write(&old, b"old").unwrap();
    std::fs::create_dir(folder.path().join("full")).unwrap();
    std::fs::write(folder.path().join("full/kept"), b"kept").unwrap();
    let impossible = [
        folder.path().join("missing/m.parsynth"),
        // The file beside can be written, the rename cannot be done.
        folder.path().join("full"),
        folder.path().join("n".repeat(300)),
        // A file is no folder.
        old.join("m.parsynth"),
        PathBuf::new(),
    ];
    for path in impossible {
        let error = model().save(&path).unwrap_err();
        assert!(
            matches!(&error, Error::Artifact(ArtifactError::Write { path: named, .. }) if *named == path),
            "{error}"
        );
        assert_eq!(names(folder.path()), ["full", "old.parsynth"]);
    }
    assert_eq!(std::fs::read(&old).unwrap(), b"old");
    assert_eq!(
        std::fs::read(folder.path().join("full/kept")).unwrap(),
        b"kept"
    );
    model().save(&old).unwrap();
    assert_eq!(std::fs::read(&old).unwrap(), saved());
    assert_eq!(names(folder.path()), ["full", "old.parsynth"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_files_is_an_error() {
    // Read-only for everyone, root too.
    let error = model().save("/proc/m.parsynth").unwrap_err();
    assert!(
        matches!(error, Error::Artifact(ArtifactError::Write { .. })),
        "{error}"
    );
}

/// The smallest model with an index, a context column, a number with gaps, ids, personal data and rules.
fn golden_model() -> ParSynthesizer {
    let metadata = Metadata::builder()
        .column("key", SdType::Id { regex_format: None })
        .column("day", SdType::Datetime { format: None })
        .column("town", SdType::Categorical)
        .column("size", SdType::Numerical)
        .column("state", SdType::Categorical)
        .column("mail", SdType::personal(PersonalKind::Email))
        .sequence_key("key")
        .sequence_index("day")
        .build()
        .unwrap();
    let frame = df!(
        "key" => ["a", "a", "a", "a", "b", "b", "b", "c", "c", "c"],
        "day" => ["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04", "2024-01-01",
            "2024-01-02", "2024-01-03", "2024-01-01", "2024-01-02", "2024-01-03"],
        "town" => ["x", "x", "x", "x", "y", "y", "y", "x", "x", "x"],
        "size" => [Some(1.5), None, Some(1.5), Some(3.0), Some(3.0), Some(1.5), None,
            Some(1.5), Some(3.0), Some(1.5)],
        "state" => ["on", "off", "on", "off", "on", "off", "on", "on", "off", "on"],
        "mail" => ["a@b.cd"; 10],
    )
    .unwrap();
    ParSynthesizer::builder(metadata)
        .context_columns(["town"])
        .constraints([
            Constraint::positive("size").strict(),
            Constraint::seen_transitions("state"),
        ])
        .hidden_size(2)
        .epochs(1)
        .threads(1)
        .seed(11)
        .fit(&frame)
        .unwrap()
}

/// `tests/golden/v1.parsynth` was written by version 0.1.0 and must be read by every later one. Should format 1 have to
/// change before it was ever released, `PARSYNTH_WRITE_GOLDEN=1 cargo test --release --test artifact reads_v1`, and then
/// the same with `--lib golden`, write it and its text anew.
#[test]
fn reads_v1_written_by_0_1_0() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1.parsynth");
    if std::env::var_os("PARSYNTH_WRITE_GOLDEN").is_some() {
        golden_model().save(&path).unwrap();
    }
    assert!(std::fs::metadata(&path).unwrap().len() < 131_072);
    let golden = ParSynthesizer::load(&path).unwrap();
    let health = golden.health().unwrap();
    assert!(health.is_contiguous && health.is_finite);
    assert_eq!(health.saved_by.unwrap().parsynth, "0.1.0");
    assert_eq!(golden.report().rows, 10);
    assert_eq!(golden.metadata().sequence_index(), Some("day"));
    let frame = sample(&golden, 1);
    let dtypes: Vec<(&str, DataType)> = frame
        .columns()
        .iter()
        .map(|column| (column.name().as_str(), column.dtype().clone()))
        .collect();
    let text = DataType::String;
    assert_eq!(
        dtypes,
        [
            ("key", text.clone()),
            ("day", text.clone()),
            ("town", text.clone()),
            ("size", DataType::Float64),
            ("state", text.clone()),
            ("mail", text)
        ]
    );
    // Few values were seen, and nothing else comes back.
    let column = |name: &str| frame.column(name).unwrap().clone();
    let is_town = |town: Option<&str>| matches!(town, Some("x" | "y"));
    assert!(column("town").str().unwrap().iter().all(is_town));
    let sizes = column("size");
    assert!(sizes.null_count() > 0);
    let seen = [1.5, 3.0];
    let mut found = sizes.f64().unwrap().iter().flatten();
    assert!(found.all(|size| seen.contains(&size)));
    let states = column("state");
    let states: Vec<Option<&str>> = states.str().unwrap().iter().collect();
    let keys = column("key");
    let keys = keys.str().unwrap();
    let is_alternating = |row: usize| states[row] != states[row - 1];
    let goes_on = |row: &usize| keys.get(*row) == keys.get(*row - 1);
    assert!((1..states.len()).filter(goes_on).all(is_alternating));
    assert!(golden.constraints().len() == 2);
    let is_mail =
        |mail: Option<&str>| mail.is_some_and(|mail| mail.contains('@') && mail != "a@b.cd");
    assert!(column("mail").str().unwrap().iter().all(is_mail));
    let is_day = |day: Option<&str>| day.is_some_and(|day| day.starts_with("2024-0"));
    assert!(column("day").str().unwrap().iter().all(is_day));
}
