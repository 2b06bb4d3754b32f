//! Whole tables by the tensor path against those of the host, from one fitted model.

use super::rows::{fitted, networks, request};
use crate::constraint::Rules;
use crate::layout::{ContextSource, RowKind, RowSource};
use crate::sample::sequences::DecidedValue;
use crate::sample::{Decided, GivenColumn, Networks, Request, SampledSequences, sample_chunk};
use crate::sampling::Lengths;

/// Standard errors by which two tables may differ: of some hundred figures none lies further out by chance.
const STANDARD_ERRORS: f64 = 4.5;
const SEQUENCES: usize = 1_500;

fn sampled(networks: &Networks, request: &Request, sequences: usize) -> SampledSequences {
    let all: Vec<usize> = (0..sequences).collect();
    let mut table = SampledSequences::empty(&fitted().layout);
    for chunk in all.chunks(500) {
        let chunk = sample_chunk(
            networks,
            &fitted().layout,
            &fitted().rules,
            request,
            chunk,
            0,
        );
        table.append(chunk.unwrap());
    }
    table
}

/// Figures of each sequence, by name.
fn figures(table: &SampledSequences) -> Vec<(String, Vec<f64>)> {
    let layout = &fitted().layout;
    let mut figures: Vec<(String, Vec<f64>)> = Vec::new();
    let lengths = &table.lengths;
    let ends: Vec<usize> = lengths
        .iter()
        .scan(0, |end, length| {
            *end += length;
            Some(*end)
        })
        .collect();
    let mut add = |name: String, figure: &dyn Fn(std::ops::Range<usize>) -> f64| {
        let ranges = ends
            .iter()
            .zip(lengths)
            .map(|(&end, &length)| end - length..end);
        figures.push((name, ranges.map(figure).collect()));
    };
    add("length".to_owned(), &|rows| rows.len() as f64);
    add("length squared".to_owned(), &|rows| {
        (rows.len() as f64).powi(2)
    });
    for length in [9, 15, 21] {
        add(format!("at most {length} rows"), &|rows| {
            f64::from(rows.len() <= length)
        });
    }
    add("first index".to_owned(), &|rows| table.index[rows.start]);
    add("last index".to_owned(), &|rows| table.index[rows.end - 1]);
    let end = layout.index.as_ref().unwrap().last;
    add("ends with the table".to_owned(), &|rows| {
        f64::from(table.index[rows.end - 1] >= end - 1.0)
    });
    for (at, (column, values)) in layout.rows.iter().zip(&table.rows).enumerate() {
        match (&column.kind, values) {
            (RowKind::Category(codec), Decided::Classes(classes)) => {
                for class in 0..codec.classes() {
                    add(format!("column {at}, class {class}"), &|rows| {
                        let found = classes[rows.clone()]
                            .iter()
                            .filter(|&&c| c as usize == class);
                        found.count() as f64 / rows.len() as f64
                    });
                }
                add(format!("column {at}, same as before"), &|rows| {
                    let same = classes[rows.clone()]
                        .windows(2)
                        .filter(|pair| pair[0] == pair[1]);
                    same.count() as f64 / rows.len() as f64
                });
            }
            (RowKind::Number(number), Decided::Numbers(values)) => {
                // Gaps of first rows are none.
                let skipped = usize::from(column.source == RowSource::Gap);
                let present = |rows: std::ops::Range<usize>| -> Vec<f64> {
                    let values = &values[(rows.start + skipped).min(rows.end)..rows.end];
                    values
                        .iter()
                        .copied()
                        .filter(|value| !value.is_nan())
                        .collect()
                };
                let mean = |values: &[f64], of: &dyn Fn(f64) -> f64| {
                    values.iter().map(|&value| of(value)).sum::<f64>() / values.len().max(1) as f64
                };
                add(format!("column {at}, missing"), &|rows| {
                    1.0 - present(rows.clone()).len() as f64 / rows.len() as f64
                });
                add(format!("column {at}, mean"), &|rows| {
                    mean(&present(rows), &|value| value)
                });
                add(format!("column {at}, square"), &|rows| {
                    mean(&present(rows), &|value| value * value)
                });
                add(format!("column {at}, zero"), &|rows| {
                    mean(&present(rows), &|value| f64::from(value == 0.0))
                });
                for share in [0.1, 0.5, 0.9] {
                    let (low, high) = (number.whole.low, number.whole.high);
                    let bound = low + share * (high - low);
                    add(format!("column {at}, below {bound}"), &|rows| {
                        mean(&present(rows), &|value| f64::from(value < bound))
                    });
                }
                add(format!("column {at}, change"), &|rows| {
                    let present = present(rows);
                    let changes: Vec<f64> = present
                        .windows(2)
                        .map(|pair| (pair[1] - pair[0]).abs())
                        .collect();
                    mean(&changes, &|change| change)
                });
            }
            _ => unreachable!("a column's values are of its kind"),
        }
    }
    figures
}

fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>();
    (mean, squares / (n - 1.0) / n)
}

/// Sequences are independent, so that their means have these standard errors.
fn assert_alike(own: &SampledSequences, host: &SampledSequences) {
    for ((name, own), (_, host)) in figures(own).into_iter().zip(figures(host)) {
        let ((own, own_variance), (host, host_variance)) =
            (mean_and_variance(&own), mean_and_variance(&host));
        let error = (own_variance + host_variance).sqrt();
        assert!(
            (own - host).abs() <= STANDARD_ERRORS * error + 1e-12,
            "{name}: {own} and not {host}, standard error {error}"
        );
    }
}

#[test]
fn tables_by_whole_steps_are_distributed_as_those_of_the_host() {
    let own = sampled(&networks(true), &request(1), SEQUENCES);
    let host = sampled(&networks(false), &request(2), SEQUENCES);
    assert_alike(&own, &host);
    // The sharp sight of the comparison: the same model at another temperature is found out.
    let hot = Request {
        temperature: 1.3,
        ..request(3)
    };
    let hot = sampled(&networks(true), &hot, SEQUENCES);
    let found = std::panic::catch_unwind(|| assert_alike(&hot, &host));
    assert!(found.is_err());
}

#[test]
fn options_of_sampling_act_on_whole_steps_as_on_the_host() {
    let top = request(0).last_index;
    assert!(top.is_infinite());
    let layout = &fitted().layout;
    let end = layout.index.as_ref().unwrap().last;
    let given = |value: u32| {
        let context = layout.context.iter();
        let given = context.map(|column| match column.source {
            ContextSource::Column(_) => Some(GivenColumn::Classes(vec![Some(value); SEQUENCES])),
            _ => None,
        });
        given.collect::<Vec<_>>()
    };
    let requests = [
        Request {
            temperature: 0.5,
            ..request(11)
        },
        Request {
            within_range: false,
            ..request(12)
        },
        Request {
            last_index: end - 60.0,
            ..request(13)
        },
        Request {
            lengths: Lengths::Same(12),
            ..request(14)
        },
        Request {
            given: given(1),
            ..request(15)
        },
    ];
    for own in requests {
        let host = Request {
            seed: own.seed + 100,
            ..own.clone()
        };
        let own_table = sampled(&networks(true), &own, SEQUENCES);
        let host_table = sampled(&networks(false), &host, SEQUENCES);
        assert_alike(&own_table, &host_table);
        if own.lengths == Lengths::Same(12) {
            assert!(own_table.lengths.iter().all(|&length| length == 12));
        }
        let latest = own_table
            .index
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max);
        if own.last_index.is_finite() {
            // A first row stands where the context says.
            let rows_after_first = own_table.lengths.iter().scan(0, |start, &length| {
                let own = *start + 1..*start + length;
                *start += length;
                Some(own)
            });
            for row in rows_after_first.flatten() {
                assert!(own_table.index[row] <= own.last_index);
            }
        } else {
            assert!(latest > end - 60.0);
        }
    }
}

/// The values of some sequences, one after the other.
fn values(table: &SampledSequences, rows: usize) -> Vec<f64> {
    let columns = table.rows.iter();
    let mut values: Vec<f64> = columns
        .flat_map(|column| {
            (0..rows).filter_map(|row| match column.get(row)? {
                DecidedValue::Class(class) => Some(f64::from(class)),
                DecidedValue::Number(number) => Some(number),
            })
        })
        .collect();
    values.extend(&table.index[..rows]);
    values
}

#[test]
fn a_seed_gives_one_table_whoever_shares_the_chunk() {
    let networks = networks(true);
    let part = |sequences: &[usize]| {
        let rules: &Rules = &fitted().rules;
        sample_chunk(
            &networks,
            &fitted().layout,
            rules,
            &request(7),
            sequences,
            0,
        )
        .unwrap()
    };
    let all: Vec<usize> = (0..60).collect();
    let (whole, again, some) = (part(&all), part(&all), part(&all[..20]));
    let rows = whole.row_count();
    assert_eq!(whole.lengths, again.lengths);
    let same = |own: &[f64], other: &[f64], tolerance: f64| {
        own.len() == other.len()
            && own.iter().zip(other).all(|(own, other)| {
                own.is_nan() && other.is_nan() || (own - other).abs() <= tolerance * own.abs()
            })
    };
    assert!(same(&values(&whole, rows), &values(&again, rows), 0.0));
    assert_eq!(some.lengths, whole.lengths[..20]);
    let rows = some.row_count();
    // Products of other shapes add up in another order; most values are rounded and do not tell.
    assert!(same(&values(&some, rows), &values(&whole, rows), 1e-3));
    let other = Request {
        seed: 8,
        ..request(8)
    };
    let other = sample_chunk(
        &networks,
        &fitted().layout,
        &fitted().rules,
        &other,
        &all,
        0,
    )
    .unwrap();
    assert_ne!(other.lengths, whole.lengths);
}
