//! Each codec as tensors against the codec itself, and draws from given uniform numbers against the host's.

use super::super::super::draw::Draws;
use super::super::draws;
use super::super::maps::ScaleTensors;
use super::super::numbers::{CodecTensors, NumberTensors, Uniforms};
use super::{doubles, exchange, numbers};
use crate::codec::number::{KnotPlacement, NumberCodec, NumberOptions, NumberScale, Unit};
use crate::distribution::NumericalDistribution;
use crate::layout::NumberColumn;
use crate::model::decoder::{HeadOutput, HeadTensors, MixtureTensors};
use crate::protection::Protection;
use crate::rng::{Purpose, Seed, uniform};
use rand::rngs::ChaCha12Rng;
use tch::{Kind, Tensor};

const COMPONENTS: usize = 3;

fn generator(seed: u64) -> ChaCha12Rng {
    Seed::new(Some(seed)).stream(Purpose::Sampling)
}

/// The numbers that a row takes.
fn row_generator(row: usize) -> ChaCha12Rng {
    Seed::new(Some(3)).numbered_stream(Purpose::Sampling, row as u64)
}

/// Some values of a normal distribution.
fn normal(count: usize, mean: f64, deviation: f64) -> Vec<f64> {
    let mut generator = generator(1);
    let value = |share: f64| mean + deviation * (share / (1.0 - share)).ln();
    (0..count).map(|_| value(uniform(&mut generator))).collect()
}

fn rounded(values: Vec<f64>, scale: f64) -> Vec<f64> {
    values
        .into_iter()
        .map(|value| (value * scale).round() / scale)
        .collect()
}

/// A column of each kind that there is.
fn columns() -> Vec<(&'static str, Vec<f64>, NumberOptions)> {
    let learned = NumberOptions {
        same_share: 0.0,
        placement: KnotPlacement::Midpoints,
        protection: Protection::OFF,
        distribution: NumericalDistribution::Learned,
        is_rounded: true,
    };
    let of = |distribution| NumberOptions {
        distribution,
        ..learned
    };
    let with = |mut values: Vec<f64>, more: &[f64], times: usize| {
        values.extend(more.iter().flat_map(|&value| vec![value; times]));
        values
    };
    let few = |count: i32, step: f64| -> Vec<f64> {
        (0..count * 40)
            .map(|i| f64::from(i * i % count) * step)
            .collect()
    };
    let positive: Vec<f64> = normal(400, 1.0, 0.4).into_iter().map(f64::exp).collect();
    let gappy: Vec<f64> = (0..3_000)
        .map(|i| f64::from((i * i) % 41).powi(2) * 10.0)
        .collect();
    vec![
        ("measured", normal(500, 10.0, 3.0), learned),
        ("decimals", rounded(normal(500, 10.0, 3.0), 100.0), learned),
        (
            "five decimals",
            rounded(normal(300, 0.0, 0.1), 1e5),
            learned,
        ),
        (
            "seasons",
            rounded(normal(500, 10.0, 3.0), 1.0),
            NumberOptions {
                placement: KnotPlacement::Tight,
                ..learned
            },
        ),
        (
            "atom among decimals",
            with(rounded(normal(500, 10.0, 3.0), 10.0), &[0.3], 200),
            learned,
        ),
        (
            "missing",
            with(normal(300, 0.0, 1.0), &[f64::NAN], 50),
            learned,
        ),
        (
            "same as before",
            with(normal(300, 0.0, 1.0), &[f64::NAN], 50),
            NumberOptions {
                same_share: 0.3,
                ..learned
            },
        ),
        ("few values", with(few(7, 0.1), &[f64::NAN], 9), learned),
        ("list of values", gappy.clone(), learned),
        (
            "list of values, some missing",
            with(gappy, &[f64::NAN], 100),
            learned,
        ),
        (
            "as drawn",
            rounded(normal(300, 0.0, 1.0), 10.0),
            NumberOptions {
                is_rounded: false,
                ..learned
            },
        ),
        (
            "logarithms",
            with(positive.clone(), &[0.0], 50),
            of(NumericalDistribution::Logarithmic),
        ),
        (
            "counts",
            with(few(9, 1.0), &[f64::NAN, 31.0], 20),
            of(NumericalDistribution::Counts),
        ),
        (
            "bins",
            with(rounded(normal(500, 0.0, 9.0), 10.0), &[f64::NAN], 20),
            of(NumericalDistribution::Bins(12)),
        ),
        (
            "bins of floats",
            positive,
            of(NumericalDistribution::Bins(5)),
        ),
        ("one value", vec![4.5; 20], learned),
        ("nothing", vec![f64::NAN; 20], learned),
        (
            "all floats",
            vec![-1.7e308, 0.5, 1.0, 1.7e308, 1.6e308, 3.1],
            learned,
        ),
    ]
}

fn codecs() -> Vec<(&'static str, NumberCodec)> {
    columns()
        .into_iter()
        .map(|(name, values, options)| {
            let sequence: Vec<u32> = (0..).take(values.len()).collect();
            (name, NumberCodec::fit(&values, &sequence, options))
        })
        .collect()
}

#[test]
fn the_columns_are_of_every_kind() {
    let codecs = codecs();
    let any = |is: &dyn Fn(&NumberCodec) -> bool| codecs.iter().any(|(_, codec)| is(codec));
    assert!(any(&|codec| !codec.support.is_empty() && codec.has_missing));
    assert!(any(
        &|codec| codec.continuous.is_some() && !codec.atoms.is_empty()
    ));
    assert!(any(&|codec| codec
        .grid
        .as_ref()
        .is_some_and(|grid| grid.decimals == 5)));
    assert!(any(&|codec| codec.has_same && codec.has_missing));
    assert!(any(&|codec| codec.bins.len() > 1 && codec.grid.is_none()));
    assert!(any(&|codec| codec.bins.len() > 1 && codec.grid.is_some()));
    let is_in = |codec: &NumberCodec, unit: fn(Unit) -> bool| {
        codec.continuous.as_ref().is_some_and(|map| unit(map.unit))
    };
    assert!(any(&|codec| is_in(codec, |unit| unit == Unit::Count)));
    assert!(any(&|codec| is_in(codec, |unit| matches!(
        unit,
        Unit::Logarithm { .. }
    ))));
    assert!(any(&|codec| codec.classes() == 1 && codec.has_missing));
}

/// Whether both are missing or equal, to so much of the column's range.
fn assert_close(what: &str, own: f64, host: f64, tolerance: f64) {
    assert_eq!(own.is_nan(), host.is_nan(), "{what}: {own} and not {host}");
    assert!(
        host.is_nan() || own == host || (own - host).abs() <= tolerance,
        "{what}: {own} and not {host}"
    );
}

/// statrs' normal distribution function is good to 1e-10, which the slope of a map of 500 knots makes this of its range.
const OF_RANGE: f64 = 1e-7;

#[test]
fn classes_and_scores_decode_as_on_the_host() {
    let scores: Vec<f64> = (-80..=80).map(|at| f64::from(at) / 13.0).collect();
    for (name, codec) in codecs() {
        let tensors = CodecTensors::new(&codec, &exchange()).unwrap();
        let range = (codec.high - codec.low).min(f64::MAX);
        for class in 0..codec.classes() {
            for (last, within_range) in [(f64::NAN, true), (2.5, false)] {
                let all = |value: f64| doubles(&vec![value; scores.len()]);
                let parts: Vec<f64> = (0..scores.len()).map(|at| at as f64 / 160.0).collect();
                let classes = all(class as f64).to_kind(Kind::Int64);
                let values = tensors.decode(
                    &classes,
                    &doubles(&scores),
                    &doubles(&parts),
                    Some(&all(last)),
                    within_range,
                );
                for (at, own) in numbers(&values.unwrap()).into_iter().enumerate() {
                    let score = match codec.bin(class) {
                        Some(_) => parts[at],
                        None => scores[at],
                    };
                    let host = codec.decode(class, score, last, within_range);
                    let what = format!("{name}, class {class}, score {score}");
                    // Beyond the range of logarithms a small difference is one of ratios.
                    let tolerance = OF_RANGE * range.max(host.abs());
                    assert_close(&what, own, host, tolerance);
                }
            }
        }
    }
}

/// Values inside, outside and half way between those of a column.
fn probes(codec: &NumberCodec) -> Vec<f64> {
    let (low, high) = (codec.low, codec.high);
    let width = (high - low).clamp(1.0, 1e300);
    let mut probes: Vec<f64> = (-50..=350)
        .map(|at| low + width * f64::from(at) / 300.0)
        .collect();
    let resolution = codec.resolution();
    let halves = (-9..=9).map(|at| low + (f64::from(at) + 0.5) * resolution);
    probes.extend(halves);
    probes.extend((-9..=9).map(|at| f64::from(at) / 2.0));
    probes.extend(codec.atoms.iter().flat_map(|&atom| {
        [
            atom,
            atom.next_up(),
            atom + resolution * 1e-7,
            atom + resolution / 2.0,
        ]
    }));
    let support = codec.support.windows(2);
    probes.extend(support.map(|pair| f64::midpoint(pair[0], pair[1])));
    probes.extend([f64::NAN, 0.0, 1e300, -1e300, f64::MAX, f64::MIN]);
    probes
}

#[test]
fn values_are_written_as_on_the_host() {
    for (name, codec) in codecs() {
        let probes = probes(&codec);
        let column = NumberColumn {
            scale: NumberScale::fit(&[1.0, 2.0], 1.0, KnotPlacement::Midpoints),
            whole: codec,
            change: None,
        };
        let tensors = NumberTensors::new(&column, &exchange()).unwrap();
        for within_range in [true, false] {
            let own = tensors.restore(&doubles(&probes), within_range).unwrap();
            for (&probe, own) in probes.iter().zip(numbers(&own)) {
                let host = column.whole.restore(probe, within_range);
                let host = host.clamp(f64::MIN, f64::MAX);
                // The same operations on the same floats.
                assert_close(&format!("{name}, {probe}"), own, host, 0.0);
            }
        }
    }
}

#[test]
fn scores_and_standard_values_are_those_of_the_host() {
    for (name, values, options) in columns() {
        let unit = Unit::for_values(&[0.5], options.distribution);
        let scale = NumberScale::fit_in(&values, 0.7, options.placement, unit);
        let tensors = ScaleTensors::new(&scale, &exchange()).unwrap();
        let present: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
        let mut probes = probes(&NumberCodec::fit(&values, &vec![0; values.len()], options));
        probes.retain(|probe| !probe.is_nan());
        probes.extend(present);
        let before: Vec<f64> = probes.iter().rev().copied().collect();
        let own = [
            tensors.score(&doubles(&probes)),
            tensors.standard(&doubles(&probes)),
            tensors.change(&doubles(&before), &doubles(&probes)),
        ]
        .map(|own| numbers(&own.unwrap()));
        for (at, &probe) in probes.iter().enumerate() {
            let what = format!("{name}, {probe}");
            // statrs' inverse is good to 1e-8 or so.
            assert_close(&what, own[0][at], scale.score(probe), 1e-7);
            assert_close(&what, own[1][at], scale.standard(probe), 1e-12);
            assert_close(&what, own[2][at], scale.change(before[at], probe), 1e-12);
        }
    }
}

fn floats(count: usize, size: f64, generator: &mut ChaCha12Rng) -> Vec<f32> {
    #[allow(clippy::cast_possible_truncation, reason = "outputs are f32")]
    let float = |share: f64| ((2.0 * share - 1.0) * size) as f32;
    (0..count).map(|_| float(uniform(generator))).collect()
}

/// What a head might say of some rows, for the host and as tensors.
fn said(
    codec: &NumberCodec,
    rows: usize,
    generator: &mut ChaCha12Rng,
) -> (HeadOutput, HeadTensors) {
    let classes = codec.classes();
    let components = match codec.continuous {
        Some(_) => COMPONENTS,
        None => 0,
    };
    let logits = floats(rows * classes, 2.0, generator);
    let mixture = floats(rows * 3 * components, 1.5, generator);
    let tensor = |values: &[f32], width: usize| Tensor::from_slice(values).view([-1, width as i64]);
    let parts = (components > 0).then(|| {
        let all = tensor(&mixture, 3 * components);
        let part = |at: i64| all.narrow(1, at * COMPONENTS as i64, COMPONENTS as i64);
        MixtureTensors {
            log_weights: part(0),
            means: part(1),
            log_scales: part(2),
        }
    });
    let tensors = HeadTensors {
        logits: tensor(&logits, classes),
        mixture: parts,
    };
    let said = |row: usize| {
        let width = 3 * components;
        let mut said = logits[row * classes..(row + 1) * classes].to_vec();
        said.extend(&mixture[row * width..(row + 1) * width]);
        // What a skip would have been weighed by.
        said.extend((components > 0).then_some(0.0));
        said
    };
    let host = HeadOutput {
        classes,
        components,
        said: (0..rows).flat_map(said).collect(),
    };
    (host, tensors)
}

#[test]
fn given_uniform_numbers_draw_what_they_draw_on_the_host() {
    const ROWS: usize = 400;
    for (name, codec) in codecs() {
        let tensors = CodecTensors::new(&codec, &exchange()).unwrap();
        let mut outputs = generator(2);
        let (host, said) = said(&codec, ROWS, &mut outputs);
        let lasts: Vec<f64> = (0..ROWS)
            .map(|row| if row % 3 == 0 { f64::NAN } else { row as f64 })
            .collect();
        for (temperature, within_range) in [(1.0, true), (0.4, false)] {
            let host = Draws::new(host.clone(), temperature);
            let (mut class, mut part, mut share) = (Vec::new(), Vec::new(), Vec::new());
            let mut drawn = Vec::new();
            for (row, &last) in lasts.iter().enumerate() {
                // The host takes as many numbers as it needs, and none for the only class.
                let mut ahead = row_generator(row);
                class.push(match codec.classes() {
                    1 => 0.5,
                    _ => uniform(&mut ahead),
                });
                part.push(uniform(&mut ahead));
                share.push(uniform(&mut ahead));
                let stream = &mut row_generator(row);
                drawn.push(host.number(row, &codec, last, false, within_range, stream));
            }
            let uniforms = Uniforms {
                class: doubles(&class),
                part: doubles(&part),
                share: doubles(&share),
            };
            let lasts = doubles(&lasts);
            let own = tensors
                .draw(&said, Some(&lasts), within_range, temperature, &uniforms)
                .unwrap();
            let range = (codec.high - codec.low).min(f64::MAX);
            for (row, (own, host)) in numbers(&own).into_iter().zip(drawn).enumerate() {
                let tolerance = OF_RANGE * range.max(host.abs());
                assert_close(&format!("{name}, row {row}"), own, host, tolerance);
            }
        }
    }
}

#[test]
fn the_same_as_before_is_not_drawn_where_nothing_was_before() {
    let codecs = codecs();
    let (_, codec) = codecs.iter().find(|(_, codec)| codec.has_same).unwrap();
    let tensors = CodecTensors::new(codec, &exchange()).unwrap();
    let same = codec.same_class().unwrap();
    // Logits that leave hardly any other class.
    let mut logits = vec![0.0_f32; codec.classes()];
    logits[same] = 20.0;
    let said = |rows: i64| HeadTensors {
        logits: Tensor::from_slice(&logits).view([1, -1]).repeat([rows, 1]),
        mixture: Some(MixtureTensors {
            log_weights: Tensor::zeros([rows, 2], (Kind::Float, tch::Device::Cpu)),
            means: Tensor::zeros([rows, 2], (Kind::Float, tch::Device::Cpu)),
            log_scales: Tensor::zeros([rows, 2], (Kind::Float, tch::Device::Cpu)),
        }),
    };
    let mut stream = generator(4);
    let mut all = || doubles(&(0..300).map(|_| uniform(&mut stream)).collect::<Vec<_>>());
    let uniforms = Uniforms {
        class: all(),
        part: all(),
        share: all(),
    };
    let before = doubles(&[7.25; 300]);
    let drawn = tensors.draw(&said(300), Some(&before), true, 1.0, &uniforms);
    assert!(numbers(&drawn.unwrap()).iter().all(|&value| value == 7.25));
    let nothing = doubles(&[f64::NAN; 300]);
    for last in [Some(&nothing), None] {
        let drawn = numbers(
            &tensors
                .draw(&said(300), last, true, 1.0, &uniforms)
                .unwrap(),
        );
        let missing = drawn.iter().filter(|value| value.is_nan()).count();
        assert!((90..210).contains(&missing), "{missing}"); // half of 300, 7 deviations
    }
}

#[test]
fn banned_positions_are_never_drawn_and_the_first_stands_for_all() {
    let uniforms: Vec<f64> = (0..1_000)
        .map(|at| (f64::from(at) + 0.5) / 1_000.0)
        .collect();
    let logits = Tensor::from_slice(&[0.0_f32, 5.0, 1.0, f32::NEG_INFINITY]);
    let logits = logits.view([1, 4]).repeat([1_000, 1]);
    let draw = |banned: [bool; 4]| {
        let banned = Tensor::from_slice(&banned).view([1, 4]);
        let drawn = draws::position(&logits, Some(&banned), 1.0, &doubles(&uniforms));
        numbers(&drawn.unwrap())
    };
    let drawn = draw([false, true, false, false]);
    let zeros = drawn.iter().filter(|&&at| at == 0.0).count();
    assert_eq!(zeros, 269); // 1000 / (1 + e) = 268.9, and what lies at its edge
    assert!(drawn.iter().all(|&at| at == 0.0 || at == 2.0));
    assert!(draw([true, true, true, true]).iter().all(|&at| at == 0.0));
    assert!(draw([true, true, false, true]).iter().all(|&at| at == 2.0));
}
