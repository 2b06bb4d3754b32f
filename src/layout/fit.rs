//! How the layout is learned from a table: one codec a column, and which columns are told by their changes.

use super::{
    CategoryCodec, ChangeCodec, ContextColumn, ContextKind, ContextSource, Layout, NumberColumn,
    RowColumn, RowKind, RowSource, gap, numbers, round_difference,
};
use crate::codec::calendar::{IndexCodec, TimeUnit};
use crate::codec::number::{
    KnotPlacement, NumberCodec, NumberOptions, NumberScale, Unit, mean_and_deviation,
};
use crate::distribution::NumericalDistribution;
use crate::protection::Protection;
use crate::table::{Label, MISSING_CODE, Schema, SequenceTable, Values};
use std::borrow::Cow;

/// Nats by which the change from row to row must be easier to tell than the value, for the change to be modelled.
const CHANGE_GAIN_NATS: f64 = 0.7;
/// Cells per interquartile range when entropies are compared.
const ENTROPY_CELLS: f64 = 32.0;

/// How one column of numbers is to be learned.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NumberChoice {
    pub(crate) distribution: NumericalDistribution,
    /// Whether values come back as drawn, and not on the grid that they were written on.
    pub(crate) is_unrounded: bool,
}

impl NumberChoice {
    /// Whether nothing was chosen.
    pub(crate) fn is_default(self) -> bool {
        self.distribution == NumericalDistribution::Learned && !self.is_unrounded
    }

    pub(super) fn options(
        self,
        same_share: f64,
        placement: KnotPlacement,
        protection: Protection,
    ) -> NumberOptions {
        NumberOptions {
            same_share,
            placement,
            protection,
            distribution: self.distribution,
            is_rounded: !self.is_unrounded || self.distribution == NumericalDistribution::Counts,
        }
    }
}

impl Layout {
    /// Fits every codec to a table; there is a choice for each column of the schema.
    pub(crate) fn fit(
        table: &SequenceTable,
        schema: &Schema,
        protection: Protection,
        choices: &[NumberChoice],
    ) -> Layout {
        let index = schema.sequence_index().map(|column| {
            let unit = schema
                .seconds_per_raw_unit(column)
                .map(|seconds_per_raw_unit| TimeUnit {
                    seconds_per_raw_unit,
                    base: schema.columns[column].base,
                    step: schema.columns[column].step,
                    least_gap: schema.columns[column].least_gap(),
                });
            IndexCodec::fit(
                numbers(&table.columns[column]),
                &table.offsets,
                &table.owners,
                unit,
                protection,
            )
        });
        let numbers_of_index = schema
            .sequence_index()
            .zip(index.as_ref())
            .map(|(column, codec)| codec.numbers(numbers(&table.columns[column])));
        let mut starts = Vec::new();
        let mut rows = Vec::new();
        if let (Some(codec), Some(values)) = (&index, numbers_of_index) {
            let values = &*values;
            starts.extend(fit_start(codec, values, table, protection));
            rows.push(RowColumn {
                source: RowSource::Gap,
                kind: RowKind::Number(Box::new(fit_gap(
                    values,
                    table,
                    codec.least_gap(),
                    protection,
                ))),
                reference: None,
            });
        }
        let sequence_of_row = table.sequence_of_row();
        let mut context: Vec<ContextColumn> = schema
            .context()
            .into_iter()
            .filter(|&column| !schema.columns[column].sdtype.is_made_up())
            .map(|column| {
                let choice = choices[column];
                fit_context_column(table, column, &sequence_of_row, protection, choice)
            })
            .collect();
        context.extend(starts);
        let lengths: Vec<f64> = table.lengths().iter().map(|&n| n as f64).collect();
        context.push(ContextColumn {
            source: ContextSource::Length,
            kind: fit_context_number(
                &lengths,
                &table.owners,
                KnotPlacement::Midpoints,
                protection,
                NumberChoice::default(),
            ),
        });
        rows.extend(
            schema
                .sequential()
                .into_iter()
                .filter(|&column| !schema.columns[column].sdtype.is_made_up())
                .map(|column| RowColumn {
                    source: RowSource::Column(column),
                    reference: None,
                    kind: match &table.columns[column] {
                        Values::Labels { codes, labels } => RowKind::Category(CategoryCodec::fit(
                            codes,
                            labels,
                            &sequence_of_row,
                            protection,
                        )),
                        Values::Numbers(values) => RowKind::Number(Box::new(fit_number_column(
                            values,
                            &table.offsets,
                            &sequence_of_row,
                            protection,
                            choices[column],
                        ))),
                    },
                }),
        );
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a length that was seen"
        )]
        let longest = protection
            .clip(&lengths, &table.owners)
            .iter()
            .fold(1.0_f64, |longest, &length| longest.max(length)) as usize;
        Layout {
            context,
            rows,
            index,
            longest,
        }
    }
}

fn first_rows(values: &[f64], table: &SequenceTable) -> Vec<f64> {
    table.offsets[..table.sequences()]
        .iter()
        .map(|&row| values[row])
        .collect()
}

fn fit_context_number(
    values: &[f64],
    owners: &[u32],
    placement: KnotPlacement,
    protection: Protection,
    choice: NumberChoice,
) -> ContextKind {
    let values = &*protection.clip(values, owners);
    let codec = NumberCodec::fit(values, owners, choice.options(0.0, placement, protection));
    let unit = unit(values, choice);
    let scale = NumberScale::fit_in(&told(&codec, values, protection), 0.0, placement, unit);
    ContextKind::Number { codec, scale }
}

/// The unit of a column's scale.
fn unit(values: &[f64], choice: NumberChoice) -> Unit {
    let least = values
        .iter()
        .copied()
        .filter(|&v| v > 0.0)
        .fold(f64::NAN, f64::min);
    Unit::for_values(&[least], choice.distribution)
}

/// The values that the scale of a column may be made of: with protection, those that are listed where all are.
fn told<'v>(codec: &NumberCodec, values: &'v [f64], protection: Protection) -> Cow<'v, [f64]> {
    if protection.is_on() {
        Cow::Owned(values.iter().map(|&value| codec.listed(value)).collect())
    } else {
        Cow::Borrowed(values)
    }
}

fn fit_context_column(
    table: &SequenceTable,
    column: usize,
    sequence_of_row: &[u32],
    protection: Protection,
    choice: NumberChoice,
) -> ContextColumn {
    let kind = match &table.columns[column] {
        Values::Labels { codes, labels } => ContextKind::Category(CategoryCodec::fit(
            codes,
            labels,
            sequence_of_row,
            protection,
        )),
        Values::Numbers(values) => fit_context_number(
            &first_rows(values, table),
            &table.owners,
            KnotPlacement::Smoothed,
            protection,
            choice,
        ),
    };
    ContextColumn {
        source: ContextSource::Column(column),
        kind,
    }
}

fn fit_start(
    index: &IndexCodec,
    values: &[f64],
    table: &SequenceTable,
    protection: Protection,
) -> Vec<ContextColumn> {
    let (times, starts): (Vec<f64>, Vec<f64>) = first_rows(values, table)
        .iter()
        .map(|&v| index.split(v))
        .unzip();
    let mut columns = Vec::new();
    if index.splits_time_of_day {
        let mut labels: Vec<Label> = times.iter().copied().map(Label::Float).collect();
        labels.sort();
        labels.dedup();
        let code = |time: &f64| {
            let at = labels.binary_search(&Label::Float(*time)).ok();
            at.and_then(|at| u32::try_from(at).ok())
                .unwrap_or(MISSING_CODE)
        };
        let codes: Vec<u32> = times.iter().map(code).collect();
        let kind = ContextKind::Category(CategoryCodec::fit(
            &codes,
            &labels,
            &table.owners,
            protection,
        ));
        columns.push(ContextColumn {
            source: ContextSource::TimeOfDay,
            kind,
        });
    }
    // A start never falls into a season in which no sequence starts, unless it must not tell when single ones did.
    let placement = if protection.is_on() {
        KnotPlacement::Smoothed
    } else {
        KnotPlacement::Tight
    };
    columns.push(ContextColumn {
        source: ContextSource::Start,
        kind: fit_context_number(
            &starts,
            &table.owners,
            placement,
            protection,
            NumberChoice::default(),
        ),
    });
    if index.is_censored {
        let labels = vec![Label::Boolean(false), Label::Boolean(true)];
        let kind = ContextKind::Category(CategoryCodec {
            labels,
            has_missing: false,
            has_hidden: false,
        });
        columns.push(ContextColumn {
            source: ContextSource::EndsWithTable,
            kind,
        });
    }
    columns
}

fn fit_gap(
    values: &[f64],
    table: &SequenceTable,
    least_gap: f64,
    protection: Protection,
) -> NumberColumn {
    let mut gaps = Vec::with_capacity(values.len());
    let mut sequence = Vec::with_capacity(values.len());
    let mut owners = Vec::with_capacity(values.len());
    for ((number, owner), ends) in (0_u32..).zip(&table.owners).zip(table.offsets.windows(2)) {
        for pair in values[ends[0]..ends[1]].windows(2) {
            gaps.push(gap(pair[0], pair[1]));
            sequence.push(number);
            owners.push(*owner);
        }
    }
    if protection.is_on() {
        gaps = protection.clip(&gaps, &owners).into_owned();
    }
    let mut protection = protection;
    if gaps.iter().all(|gap| gap.is_nan()) {
        // Every sequence that may be told of has one row; one that is asked to be longer goes on by one unit a row.
        (gaps, sequence, owners) = (vec![least_gap], vec![0], vec![0]);
        protection = Protection::OFF;
    }
    let repeats = gaps
        .windows(2)
        .zip(sequence.windows(2))
        .filter(|(_, s)| s[0] == s[1]);
    let (same, pairs) = repeats.fold((0, 0), |(same, pairs), (g, _)| {
        (same + usize::from(g[0] == g[1]), pairs + 1)
    });
    let options = NumberChoice::default().options(
        same as f64 / f64::from(pairs.max(1)),
        KnotPlacement::Midpoints,
        protection,
    );
    let changes: Vec<f64> = gaps
        .windows(2)
        .zip(sequence.windows(2))
        .filter(|(_, s)| s[0] == s[1])
        .map(|(g, _)| g[1] - g[0])
        .collect();
    let (_, deviation) = mean_and_deviation(&changes);
    drop((changes, sequence));
    let whole = NumberCodec::fit(&gaps, &owners, options);
    NumberColumn {
        scale: NumberScale::fit(
            &told(&whole, &gaps, protection),
            deviation,
            KnotPlacement::Midpoints,
        ),
        whole,
        change: None,
    }
}

fn fit_number_column(
    values: &[f64],
    offsets: &[usize],
    sequence: &[u32],
    protection: Protection,
    choice: NumberChoice,
) -> NumberColumn {
    let values = &*protection.clip(values, sequence);
    // Each list takes as much as the column, so only one lives at a time.
    let steps = || Steps::of(values, offsets, sequence, protection);
    let changes = || steps().present();
    let plain_changes = changes();
    let same = plain_changes.iter().filter(|&&d| d == 0.0).count();
    let same_share = same as f64 / plain_changes.len().max(1) as f64;
    drop(plain_changes);
    let options = choice.options(same_share, KnotPlacement::Midpoints, protection);
    let whole = NumberCodec::fit(values, sequence, options);
    let is_learned = choice.distribution == NumericalDistribution::Learned;
    let resolution = whole.grid.as_ref().map_or(0.0, |grid| grid.resolution());
    let gains = is_learned && {
        let mut observed = observed(values, offsets);
        let width = resolution.max(interquartile_range(&mut observed) / ENTROPY_CELLS);
        let nats = (width > 0.0).then(|| entropy(observed, width));
        let changes = changes();
        changes.len() > 20
            && nats.is_some_and(|nats| nats - entropy(changes, width) > CHANGE_GAIN_NATS)
    };
    let plain = NumberOptions {
        same_share: 0.0,
        ..options
    };
    let unit = unit(values, choice);
    let changes_in_unit = match unit {
        Unit::Plain | Unit::Count => changes(),
        Unit::Logarithm { .. } => changes_in(unit, values, offsets),
    };
    let (_, deviation) = mean_and_deviation(&changes_in_unit);
    drop(changes_in_unit);
    NumberColumn {
        scale: NumberScale::fit_in(
            &told(&whole, values, protection),
            deviation,
            KnotPlacement::Midpoints,
            unit,
        ),
        whole,
        change: gains.then(|| {
            let steps = steps();
            ChangeCodec {
                first: NumberCodec::fit(&steps.firsts, &steps.first_owners, plain),
                step: NumberCodec::fit(&steps.steps, &steps.step_owners, plain),
            }
        }),
    }
}

/// The values of a column before which none was observed in their sequence, the others as steps from the last observed,
/// and whose each is; NaN where missing.
struct Steps {
    firsts: Vec<f64>,
    first_owners: Vec<u32>,
    steps: Vec<f64>,
    step_owners: Vec<u32>,
}

impl Steps {
    fn of(values: &[f64], offsets: &[usize], sequence: &[u32], protection: Protection) -> Steps {
        let mut all = Steps {
            firsts: Vec::new(),
            first_owners: Vec::new(),
            steps: Vec::new(),
            step_owners: Vec::new(),
        };
        for (row, value, last) in with_last(values, offsets) {
            if last.is_nan() {
                all.firsts.push(value);
                all.first_owners.push(sequence[row]);
            } else {
                let step = round_difference(value - last, value.abs().max(last.abs()));
                all.steps.push(step);
                all.step_owners.push(sequence[row]);
            }
        }
        if protection.is_on() {
            all.steps = protection.clip(&all.steps, &all.step_owners).into_owned();
        }
        all
    }

    /// The steps that are not missing.
    fn present(self) -> Vec<f64> {
        let mut steps = self.steps;
        steps.retain(|step| !step.is_nan());
        steps
    }
}

/// The values before which one was observed in their sequence.
fn observed(values: &[f64], offsets: &[usize]) -> Vec<f64> {
    with_last(values, offsets)
        .filter(|(_, value, last)| !value.is_nan() && !last.is_nan())
        .map(|(_, value, _)| value)
        .collect()
}

/// Each row, its value, and the last value observed before it in its sequence; NaN where there is none.
fn with_last(values: &[f64], offsets: &[usize]) -> impl Iterator<Item = (usize, f64, f64)> {
    offsets.windows(2).flat_map(move |ends| {
        (ends[0]..ends[1]).scan(f64::NAN, move |last, row| {
            let (value, before) = (values[row], *last);
            if !value.is_nan() {
                *last = value;
            }
            Some((row, value, before))
        })
    })
}

/// Differences of a unit's places from the last observed value to the next.
fn changes_in(unit: Unit, values: &[f64], offsets: &[usize]) -> Vec<f64> {
    let mut changes = Vec::with_capacity(values.len());
    for ends in offsets.windows(2) {
        let observed: Vec<f64> = values[ends[0]..ends[1]]
            .iter()
            .filter(|value| !value.is_nan())
            .map(|&value| unit.of(value))
            .collect();
        // From one end of the floats to the other is further than they reach.
        let change = |pair: &[f64]| (pair[1] - pair[0]).clamp(f64::MIN, f64::MAX);
        changes.extend(observed.windows(2).map(change));
    }
    changes
}

/// Puts the values in order.
pub(super) fn interquartile_range(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n => values[n * 3 / 4] - values[n / 4],
    }
}

/// Entropy in nats of values cut into cells of one width, with the correction of Miller (1955) for few values.
pub(super) fn entropy(values: Vec<f64>, width: f64) -> f64 {
    let n = values.len() as f64;
    let mut cells: Vec<f64> = values.into_iter().map(|v| (v / width).round()).collect();
    cells.sort_unstable_by(f64::total_cmp);
    let (mut sum, mut occupied) = (0.0, 0.0);
    for run in cells.chunk_by(|a, b| a == b) {
        let share = run.len() as f64 / n;
        sum -= share * share.ln();
        occupied += 1.0;
    }
    sum + (occupied - 1.0) / (2.0 * n)
}
