//! A table with every kind of column, row by row: what the network reads, and how often anything is copied.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small whole numbers"
)]

use super::super::step::{Step, StepOptions};
use super::super::{BLOCK_ROWS, beginnings};
use super::{exchange, numbers};
use crate::history::{History, position_features};
use crate::layout::{Layout, RowKind, RowSource};
use crate::model::decoder::to_host;
use crate::rng::Purpose;
use crate::sample::walk::RowBuffer;
use crate::sample::{Chunk, Networks, Request};
use crate::sampling::Lengths;
use crate::{Metadata, NumericalDistribution, ParSynthesizer, SdType};
use polars::prelude::*;
use std::sync::OnceLock;
use tch::Device;

/// Sequences of days that begin at any time of half a year; those that begin late end with the table's time.
fn data() -> DataFrame {
    let mut state = 17_u64;
    let mut share = move || {
        // Knuth's generator; a table has no need of a better one.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let (mut keys, mut days, mut groups) = (Vec::new(), Vec::new(), Vec::new());
    let (mut moods, mut levels, mut heats) = (Vec::new(), Vec::new(), Vec::new());
    let (mut visits, mut prices, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
    for key in 0..120_i64 {
        let group = ["north", "south"][usize::from(share() < 0.3)];
        let rows = 8 + (share() * 20.0) as i64;
        let (mut day, mut level, mut is_up) = ((share() * 180.0) as i64, share() * 4.0, true);
        for _ in 0..rows {
            if day > 180 {
                break;
            }
            is_up = is_up == (share() < 0.8);
            level += share() - 0.5;
            keys.push(key);
            groups.push(group);
            days.push(day as i32);
            moods.push((share() > 0.1).then_some(if is_up { "up" } else { "down" }));
            levels.push((share() > 0.15).then_some((level * 1e4).round() / 1e4));
            let heat = if is_up { 20.0 } else { 12.0 } + 4.0 * (share() + share() + share());
            heats.push(if share() < 0.2 {
                0.0
            } else {
                (heat * 10.0).round() / 10.0
            });
            visits.push((share() * share() * 9.0) as i64);
            prices.push((1.0 + 2.0 * share()).exp());
            sizes.push(share() * 100.0);
            day += 1 + i64::from(share() < 0.3);
        }
    }
    df!(
        "key" => keys,
        "day" => Series::new("day".into(), days).cast(&DataType::Date).unwrap(),
        "group" => groups,
        "mood" => moods,
        "level" => levels,
        "heat" => heats,
        "visits" => visits,
        "price" => prices,
        "size" => sizes,
    )
    .unwrap()
}

pub(super) fn fitted() -> &'static ParSynthesizer {
    static FITTED: OnceLock<ParSynthesizer> = OnceLock::new();
    FITTED.get_or_init(|| {
        let metadata = Metadata::builder()
            .column("key", SdType::Id { regex_format: None })
            .column("day", SdType::Datetime { format: None })
            .column("group", SdType::Categorical)
            .column("mood", SdType::Categorical)
            .column("level", SdType::Numerical)
            .column("heat", SdType::Numerical)
            .column("visits", SdType::Numerical)
            .column("price", SdType::Numerical)
            .column("size", SdType::Numerical)
            .sequence_key("key")
            .sequence_index("day")
            .build()
            .unwrap();
        ParSynthesizer::builder(metadata)
            .context_columns(["group"])
            .numerical_distribution("visits", NumericalDistribution::Counts)
            .numerical_distribution("price", NumericalDistribution::Logarithmic)
            .numerical_distribution("size", NumericalDistribution::Bins(6))
            .hidden_size(16)
            .epochs(12)
            .seed(5)
            .fit(&data())
            .unwrap()
    })
}

pub(super) fn request(seed: u64) -> Request {
    Request {
        seed,
        lengths: Lengths::Drawn,
        candidates: 1,
        temperature: 1.0,
        within_range: true,
        last_index: f64::INFINITY,
        given: Vec::new(),
        shared_ends: Vec::new(),
        given_rows: None,
        cancel_tokens: Vec::new(),
        at_once: 512,
    }
}

/// The networks, with whole steps on the CPU or without.
pub(super) fn networks(holds_steps: bool) -> Networks {
    let networks = fitted().model.lock().unwrap().networks().unwrap();
    Networks {
        holds_steps,
        ..networks
    }
}

fn options(request: &Request) -> StepOptions {
    StepOptions {
        temperature: request.temperature,
        within_range: request.within_range,
        last_index: request.last_index,
        decides_length: request.decides_length(),
    }
}

#[test]
fn the_table_has_every_kind_of_column() {
    let layout = &fitted().layout;
    let numbers = || {
        layout.rows.iter().filter_map(|column| match &column.kind {
            RowKind::Number(number) => Some(number),
            RowKind::Category(_) => None,
        })
    };
    assert!(numbers().any(|number| number.change.is_some() && number.whole.has_missing));
    assert!(numbers().any(|number| !number.whole.bins.is_empty()));
    assert!(numbers().any(|number| number.whole.atoms.contains(&0.0)));
    let index = layout.index.as_ref().unwrap();
    assert!(index.is_censored && !index.cycles.is_empty());
    let is_category = |kind: &RowKind| match kind {
        RowKind::Category(codec) => codec.has_missing,
        RowKind::Number(_) => false,
    };
    assert!(layout.rows.iter().any(|column| is_category(&column.kind)));
}

/// Takes a drawn row in as the host does.
fn take_in(history: &mut History, number: &mut f64, row: &[f64], step: usize, layout: &Layout) {
    let (mut numbers, mut categories) = (0, 0);
    for (column, &value) in layout.rows.iter().zip(row) {
        match &column.kind {
            RowKind::Category(_) => {
                history.absorb_category(categories, value as u32);
                categories += 1;
            }
            RowKind::Number(own) => {
                if column.source != RowSource::Gap || step > 0 {
                    history.absorb_number(numbers, value, &own.scale);
                }
                numbers += 1;
            }
        }
    }
    *number = row[layout.rows.len()];
}

#[test]
fn before_each_row_the_network_reads_what_the_host_tells_it() {
    let (layout, networks, request) = (&fitted().layout, networks(true), request(3));
    let rules = &fitted().rules;
    tch::no_grad(|| {
        let mut chunk = Chunk::new(&networks, layout, rules, &request, Purpose::Sampling, 0..40);
        chunk.draw_context().unwrap();
        let contexts = networks
            .sequence
            .context(&chunk.context_inputs().unwrap())
            .unwrap();
        let mut walks = chunk.walks().unwrap();
        let exchange = exchange();
        let step = Step::new(&networks.sequence, layout, options(&request), &exchange).unwrap();
        let beginnings = beginnings(&walks, &exchange).unwrap();
        let mut state = step.start(contexts, beginnings).unwrap();
        let all: Vec<usize> = (0..walks.len()).collect();
        for done in 0..12 {
            let mut buffer = RowBuffer::new(layout);
            for walk in &walks {
                buffer.push(walk);
            }
            let host = buffer.tensors(Device::Cpu).unwrap();
            let own = step.inputs(&state, done).unwrap();
            for (what, own, host) in [
                ("histories", own.history_numbers, host.history_numbers),
                ("positions", own.position, host.position),
                ("calendar", own.calendar_before, host.calendar_before),
            ] {
                assert_eq!(own.size(), host.size(), "{what}");
                let pairs = to_host(&own)
                    .unwrap()
                    .into_iter()
                    .zip(to_host(&host).unwrap());
                for (at, (own, host)) in pairs.enumerate() {
                    // f32, and statrs' normal distribution function.
                    let close = (own - host).abs() <= 1e-6 * host.abs().max(1.0);
                    assert!(
                        close,
                        "{what} before row {done}, {at}: {own} and not {host}"
                    );
                }
            }
            assert_eq!(own.history_categories, host.history_categories);
            let uniforms = chunk.uniforms(&walks, &all, 1, step.uniforms());
            let shape = [walks.len() as i64, step.uniforms() as i64];
            let uniforms = exchange.doubles(&uniforms, &shape).unwrap();
            let drawn = numbers(&step.row(&mut state, done, &uniforms).unwrap());
            for (walk, row) in walks.iter_mut().zip(drawn.chunks_exact(step.width())) {
                take_in(&mut walk.history, &mut walk.number, row, done, layout);
                walk.rows += 1;
            }
        }
    });
}

#[test]
fn places_beyond_the_longest_sequence_look_as_on_the_host() {
    let layout = &fitted().layout;
    let lengths = [1, 2, 7, layout.longest, layout.longest + 1, 5_000];
    let index = super::super::index::IndexTensors::new(
        layout.index.as_ref().unwrap(),
        layout,
        f64::INFINITY,
        &exchange(),
    )
    .unwrap();
    let told = super::doubles(&lengths.map(|length| length as f64));
    for step in [0, 1, 6, layout.longest - 1, layout.longest, 4_999] {
        for elapsed in [0.0, 3.0, 1e4] {
            let elapsed_of_all = super::doubles(&[elapsed; 6]);
            let own = super::super::index::position_features(
                step,
                &told,
                layout,
                Some((&index, &elapsed_of_all)),
            );
            let own = to_host(&own.unwrap()).unwrap();
            for (own, length) in own.chunks_exact(8).zip(lengths) {
                let host = position_features(step, length, layout, elapsed);
                for (own, host) in own.iter().zip(host) {
                    // f32, and statrs' normal distribution function.
                    assert!(
                        (own - host).abs() <= 1e-6 * host.abs().max(1.0),
                        "{step} of {length}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_block_of_rows_is_one_copy_to_the_device_and_one_back() {
    let (layout, networks) = (&fitted().layout, networks(true));
    let request = Request {
        lengths: Lengths::Same(40),
        ..request(3)
    };
    tch::no_grad(|| {
        let rules = &fitted().rules;
        let mut chunk = Chunk::new(&networks, layout, rules, &request, Purpose::Sampling, 0..9);
        chunk.draw_context().unwrap();
        let contexts = networks
            .sequence
            .context(&chunk.context_inputs().unwrap())
            .unwrap();
        let mut walks = chunk.walks().unwrap();
        let exchange = exchange();
        let step = chunk.step(&exchange).unwrap();
        let beginnings = beginnings(&walks, &exchange).unwrap();
        let mut state = step.start(contexts, beginnings).unwrap();
        let going: Vec<usize> = (0..9).collect();
        let (uploads, downloads) = exchange.copies();
        let mut done = 0;
        for block in 1..=2 {
            let block_rows =
                chunk.draw_block(&step, &mut state, &mut walks, &going, done, &exchange);
            assert_eq!(block_rows.unwrap(), BLOCK_ROWS);
            assert_eq!(exchange.copies(), (uploads + block, downloads + block));
            done += BLOCK_ROWS;
        }
        assert!(walks.iter().all(|walk| walk.rows == done && !walk.is_over));
    });
}
