use super::*;
use crate::layout::RowKind;
use crate::model::dropout::Mode;
use crate::model::inputs::to_doubles;
use crate::rng::{Purpose, Seed, uniform};
use crate::train::{Split, Task};
use crate::{Metadata, SdType, Stage};
use polars::prelude::*;
use tch::Device;

const SEED: u64 = 11;
const SHARE: f64 = 0.3;
const SEQUENCES: usize = 40;

fn length(sequence: usize) -> usize {
    match sequence % 8 {
        3 => 300, // three segments
        6 => 1,
        other => 3 + other,
    }
}

/// Every kind of head: categories, atoms, rounded and unrounded numbers, changes, gaps, cells missing among them.
fn table() -> DataFrame {
    let mut generator = Seed::new(Some(1)).stream(Purpose::Sampling);
    let mut draw = || uniform(&mut generator);
    let (mut key, mut group, mut level, mut day) = (vec![], vec![], vec![], vec![]);
    let (mut word, mut rounded, mut walk, mut raw) = (vec![], vec![], vec![], vec![]);
    for sequence in 0..SEQUENCES {
        let sequence_level = draw();
        let (mut date, mut height) = ((draw() * 400.0).floor(), draw() * 1e3);
        for row in 0..length(sequence) {
            key.push(format!("s{sequence:02}"));
            group.push(if sequence % 3 == 0 { "a" } else { "b" });
            level.push(sequence_level);
            day.push(date);
            date += (draw() * 3.0).ceil();
            word.push((draw() > 0.2).then_some(if row % 2 == 0 { "even" } else { "odd" }));
            rounded.push((draw() > 0.1).then_some((draw() * 100.0).round() / 100.0));
            height += (draw() * 20.0 - 10.0).round() / 10.0;
            walk.push((height * 10.0).round() / 10.0);
            raw.push(draw() + sequence_level);
        }
    }
    df!(
        "key" => key, "group" => group, "level" => level, "day" => day,
        "word" => word, "rounded" => rounded, "walk" => walk, "raw" => raw,
    )
    .expect("a frame")
}

fn fitted(data: &DataFrame) -> ParSynthesizer {
    let metadata = Metadata::builder()
        .column("key", SdType::Id { regex_format: None })
        .column("group", SdType::Categorical)
        .column("level", SdType::Numerical)
        .column("day", SdType::Numerical)
        .column("word", SdType::Categorical)
        .column("rounded", SdType::Numerical)
        .column("walk", SdType::Numerical)
        .column("raw", SdType::Numerical)
        .sequence_key("key")
        .sequence_index("day")
        .build()
        .expect("valid");
    ParSynthesizer::builder(metadata)
        .context_columns(["group", "level"])
        .hidden_size(8)
        .epochs(3)
        .batch_size(1) // an epoch of twenty steps or more is validated
        .validation_share(SHARE)
        .seed(SEED)
        .fit(data)
        .expect("a fit")
}

fn column(frame: &DataFrame, name: &str) -> Vec<f64> {
    let numbers = frame.column(name).expect("a column").f64().expect("f64");
    numbers.iter().map(|cell| cell.expect("a number")).collect()
}

fn only(data: &DataFrame, keys: &[String]) -> DataFrame {
    let all = data.column("key").expect("keys").str().expect("text");
    let mask: BooleanChunked = all
        .iter()
        .map(|key| key.is_some_and(|key| keys.iter().any(|wanted| wanted == key)))
        .collect();
    data.filter(&mask).expect("rows")
}

/// The validation loss that a stage's kept weights had: the first of those within [`LEAST_GAIN`] of each other.
fn kept_validation_nats(synthesizer: &ParSynthesizer, stage: Stage) -> f64 {
    let losses = synthesizer.report.losses.iter();
    losses
        .filter(|loss| loss.stage == stage)
        .filter_map(|loss| loss.validation_nats)
        .reduce(|best, loss| if loss < best - 1e-4 { loss } else { best })
        .expect("a validated epoch")
}

#[test]
fn the_log_likelihood_of_held_out_sequences_is_minus_their_validation_loss() {
    let data = table();
    let synthesizer = fitted(&data);
    let layout = &synthesizer.layout;
    let codecs = || {
        layout.rows.iter().filter_map(|column| match &column.kind {
            RowKind::Number(number) => Some(number),
            RowKind::Category(_) => None,
        })
    };
    assert!(codecs().any(|number| number.change.is_some()));
    assert!(codecs().any(|number| number.whole.grid.is_none()));

    let mut generator = Seed::new(Some(SEED)).stream(Purpose::ValidationSplit);
    let split = Split::new(SEQUENCES, SHARE, &mut generator);
    // Keys sort as they are numbered.
    let keys: Vec<String> = split
        .validation
        .iter()
        .map(|s| format!("s{s:02}"))
        .collect();
    assert_eq!(keys.len(), synthesizer.report.validation_sequences);
    assert!(split.validation.iter().any(|&s| length(s) == 300));
    let held_out = only(&data, &keys);
    let likelihood = synthesizer.log_likelihood(&held_out).expect("nats");

    let wanted = -kept_validation_nats(&synthesizer, Stage::Sequence);
    assert_eq!(-wanted, synthesizer.report.validation_nats().expect("one"));
    let found = likelihood.nats_per_row();
    assert!(
        (found - wanted).abs() < 1e-5 * wanted.abs(),
        "{found} {wanted}"
    ); // f32
    let contexts = column(likelihood.sequences(), "context_nats");
    let wanted = -kept_validation_nats(&synthesizer, Stage::Context);
    let found = contexts.iter().sum::<f64>() / contexts.len() as f64;
    assert!(
        (found - wanted).abs() < 1e-5 * wanted.abs(),
        "{found} {wanted}"
    ); // f32

    // Means, sums and sequences agree.
    let sequences = likelihood.sequences();
    let (rows, row_nats) = (
        column(likelihood.rows(), "nats"),
        column(sequences, "row_nats"),
    );
    assert!((rows.iter().sum::<f64>() - row_nats.iter().sum::<f64>()).abs() < 1e-9); // f64
    let nats = column(sequences, "nats");
    for (at, nats) in nats.iter().enumerate() {
        assert_eq!(*nats, contexts[at] + row_nats[at]);
    }
    let mean = nats.iter().sum::<f64>() / nats.len() as f64;
    assert_eq!(likelihood.nats_per_sequence(), mean);
}

#[test]
fn neither_threads_nor_the_size_of_blocks_change_what_comes_out() {
    let data = table();
    let synthesizer = fitted(&data);
    let by = |threads, rows| {
        synthesizer
            .log_likelihood_by(&data, threads, rows)
            .expect("nats")
    };
    let (one, three) = (by(1, 500), by(3, 500));
    assert!(one.sequences().equals_missing(three.sequences()));
    assert!(one.rows().equals_missing(three.rows()));
    let (alone, at_once) = (by(1, 1), by(1, 1_000_000));
    for (frames, name) in [
        ([alone.sequences(), at_once.sequences()], "context_nats"),
        ([alone.rows(), at_once.rows()], "nats"),
    ] {
        let [alone, at_once] = frames.map(|frame| column(frame, name));
        for (alone, at_once) in alone.iter().zip(&at_once) {
            assert!((alone - at_once).abs() < 1e-3, "{alone} {at_once}"); // f32, eight heads
        }
    }
}

#[test]
fn blocks_hold_every_sequence_once_and_end_when_they_are_full() {
    let offsets = [0, 3, 4, 9, 10];
    assert_eq!(blocks(&offsets, 4), [0..2, 2..3, 3..4]);
    assert_eq!(blocks(&offsets, 9), [0..3, 3..4]);
    assert_eq!(blocks(&offsets, 1).len(), 4);
}

#[test]
fn long_sequences_carry_their_state_from_part_to_part_as_in_training() {
    let data = table();
    let synthesizer = fitted(&data);
    // Weights this large make an LSTM remember, so that a lost state shows.
    let (context, sequence) = {
        let model = synthesizer.locked();
        let sequence = model.sequence.values().expect("weights");
        let large: Vec<f32> = sequence.iter().map(|weight| 4.0 * weight).collect();
        (model.context.values().expect("weights"), large)
    };
    let sizes = synthesizer.locked().sequence_shape.sizes;
    let model = Model::new(&synthesizer.layout, sizes, &context, &sequence, Device::Cpu);
    *synthesizer.locked() = model.expect("a model");
    let long = only(&data, &["s03".to_owned()]);
    let likelihood = synthesizer.log_likelihood(&long).expect("nats");

    let schema = &synthesizer.schema;
    let table = SequenceTable::from_source(&long, schema).expect("a table");
    let model = synthesizer.locked().share();
    let task = SequenceTask {
        encoder: &Encoder::new(&table, &synthesizer.layout, schema.sequence_index()),
        shape: model.sequence_shape.clone(),
        columns: Vec::new(),
        device: Device::Cpu,
        kind: tch::Kind::Float,
    };
    let mut carry = None;
    for (step, rows) in column(likelihood.rows(), "nats").chunks(128).enumerate() {
        let loss = task.loss(&model.sequence, &[0], step, &mut carry, Mode::Use);
        let loss = loss.expect("a loss");
        let sums = to_doubles(&loss.sums).expect("sums");
        let wanted: f64 = loss.log_densities.iter().sum::<f64>() - sums.iter().sum::<f64>();
        let found: f64 = rows.iter().sum();
        assert!(
            (found - wanted).abs() < 1e-4 * wanted.abs(),
            "{found} {wanted}"
        ); // f32
    }
}
