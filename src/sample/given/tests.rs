#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

use super::*;
use crate::encode::Encoder;
use crate::model::inputs::{ContextInputs, CurrentInputs, Padding, RowInputs};
use crate::rng::Purpose;
use crate::sample::Request;
use crate::sampling::Lengths;
use crate::table::SequenceTable;
use crate::{Metadata, ParSynthesizer, SdType};
use polars::prelude::*;
use tch::Kind;

/// Rows by key: shorter and longer than a segment, at its edges, two alike.
const LENGTHS: [usize; 8] = [1, 5, 127, 128, 129, 300, 5, 260];

/// Every kind of column that a network reads, with missing cells.
fn data() -> DataFrame {
    let rows: usize = LENGTHS.iter().sum();
    let keys: Vec<usize> = LENGTHS
        .iter()
        .enumerate()
        .flat_map(|(key, &length)| vec![key; length])
        .collect();
    let numbers = (0..rows).map(|row| (row * row % 97) as f64 / 4.0);
    let hours: Vec<i64> = (0..rows as i64)
        .map(|row| row * 3_600_000 * (1 + row % 3))
        .collect();
    let moments = Series::new("t".into(), hours)
        .sort(Default::default())
        .unwrap()
        .cast(&DataType::Datetime(TimeUnit::Milliseconds, None))
        .unwrap();
    df!(
        "k" => keys.iter().map(|&key| key as i64).collect::<Vec<_>>(),
        "t" => moments,
        "group" => keys.iter().map(|key| ["a", "b", "c"][key % 3]).collect::<Vec<_>>(),
        "size" => keys.iter().map(|&key| (key != 2).then_some(key as f64)).collect::<Vec<_>>(),
        "state" => (0..rows).map(|row| (row % 7 != 0).then_some(["on", "off"][row % 2])).collect::<Vec<_>>(),
        "level" => numbers.enumerate().map(|(row, v)| (row % 11 != 0).then_some(v)).collect::<Vec<_>>(),
    )
    .unwrap()
}

fn fitted(data: &DataFrame) -> ParSynthesizer {
    let metadata = Metadata::builder()
        .column("k", SdType::Id { regex_format: None })
        .column("t", SdType::Datetime { format: None })
        .column("group", SdType::Categorical)
        .column("size", SdType::Numerical)
        .column("state", SdType::Categorical)
        .column("level", SdType::Numerical)
        .sequence_key("k")
        .sequence_index("t")
        .build()
        .unwrap();
    ParSynthesizer::builder(metadata)
        .context_columns(["group", "size"])
        .hidden_size(6)
        .layers(2)
        .epochs(1)
        .seed(3)
        .threads(1)
        .fit(data)
        .unwrap()
}

#[test]
fn given_rows_leave_the_state_that_training_computes_for_them() {
    let data = data();
    let synthesizer = fitted(&data);
    let table = SequenceTable::from_source(&data, &synthesizer.schema).unwrap();
    // Without new rows the lengths are those that training encodes.
    let given_rows = synthesizer.given_rows(&table, Goal::Steps(0), &[]).unwrap();
    let request = Request {
        seed: 1,
        lengths: Lengths::Drawn,
        candidates: 1,
        temperature: 1.0,
        within_range: true,
        last_index: f64::INFINITY,
        given: synthesizer
            .given_contexts(&table, &given_rows, &[])
            .unwrap(),
        shared_ends: Vec::new(),
        given_rows: Some(given_rows),
        cancel_tokens: Vec::new(),
        at_once: 512,
    };
    let networks = synthesizer.model.lock().unwrap().networks().unwrap();
    let network = &networks.sequence;
    let layout = &synthesizer.layout;
    let encoder = Encoder::new(&table, layout, synthesizer.schema.sequence_index());
    let range = 0..LENGTHS.len();
    tch::no_grad(|| {
        let mut chunk = Chunk::new(
            &networks,
            layout,
            &synthesizer.rules,
            &request,
            Purpose::Continuation,
            range.clone(),
        );
        chunk.draw_context().unwrap();
        let contexts = network.context(&chunk.context_inputs().unwrap()).unwrap();
        let mut walks = chunk.walks().unwrap();
        let given = request.given_rows.as_ref().unwrap();
        let states = chunk.read(given, &mut walks, &contexts).unwrap();
        for (sequence, (walk, &length)) in walks.iter().zip(&LENGTHS).enumerate() {
            assert_eq!((walk.rows, walk.given.len()), (length, length));
            let mut histories = encoder.histories(1);
            let encoded = encoder.rows(&[sequence], &[encoder.range(sequence)], &mut histories);
            let range = 0..length;
            let rows = std::slice::from_ref(&range);
            let start = LstmState::start(network.shape.sizes, 1, networks.device).unwrap();
            let (_, expected) = network
                .teacher_forced(
                    &ContextInputs::new(&encoder.context, &[sequence], networks.device).unwrap(),
                    &RowInputs::new(&encoded, rows, networks.device).unwrap(),
                    &CurrentInputs::new(&encoded, rows, networks.device).unwrap(),
                    &Padding::new(&[length], networks.device).unwrap(),
                    &start,
                    &mut Mode::Use,
                )
                .unwrap();
            let place = Tensor::from_slice(&[long(sequence)]);
            let found = states.keep(&place).unwrap();
            // A state is known by what the next step makes of it.
            let width = network.shape.lstm_input();
            let input = Tensor::zeros([1, 1, width], (Kind::Float, networks.device));
            let output = |state: &LstmState| network.lstm(&input, state, false).unwrap().0;
            let difference: f64 = (output(&found) - output(&expected))
                .abs()
                .max()
                .try_into()
                .unwrap();
            assert!(difference < 1e-5, "sequence {sequence}: {difference}"); // f32, products in another order
        }
    });
}

#[test]
fn a_gap_that_leads_nowhere_is_drawn_again_and_at_last_replaced() {
    let mut gaps = [0.0, 0.0, 2.0].into_iter();
    let drawn = rising_gap(5.0, Some(0), [1.0, 1.0], || gaps.next().unwrap());
    assert_eq!(drawn, 2.0);
    assert_eq!(rising_gap(5.0, Some(0), [7.0, 1.0], || 0.0), 7.0);
    // A table of ties alone has no usual gap.
    assert_eq!(rising_gap(5.0, Some(0), [0.0, 1.0], || 0.0), 1.0);
    let far = 1e300;
    assert!(far + rising_gap(far, None, [0.0, 1.0], || 0.0) > far);
}
