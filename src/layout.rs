//! What the network models, in which order, and in which slots.
//! In: a [`SequenceTable`] and its [`Schema`]. Out: [`Layout`], the fitted codecs of every modelled column.
//!
//! A sequence is its context (context columns, start, whether the table's time ends it, length) and its rows (the gap
//! to the row before, then the sequential columns in table order). Identifiers are made up and not modelled.

use crate::codec::calendar::{IndexCodec, TimeUnit};
use crate::codec::number::{
    KnotPlacement, NumberCodec, NumberOptions, NumberScale, mean_and_deviation,
};
use crate::metadata::SdType;
use crate::protection::Protection;
use crate::table::{Label, MISSING_CODE, Schema, SequenceTable, Values};
use std::borrow::Cow;

/// History features of a number column: see `history.rs`.
pub(crate) const HISTORY_FEATURES: usize = 8;
/// Current-row features of a number column: score, standard value, missing, change.
pub(crate) const CURRENT_FEATURES: usize = 4;
/// Features of a number among the context: score, standard value, missing.
pub(crate) const CONTEXT_FEATURES: usize = 3;
/// Features of a row's place in its sequence.
pub(crate) const POSITION_FEATURES: usize = 8;
/// Nats by which the change from row to row must be easier to tell than the value, for the change to be modelled.
const CHANGE_GAIN_NATS: f64 = 0.7;
/// Cells per interquartile range when entropies are compared.
const ENTROPY_CELLS: f64 = 32.0;

/// A categorical column's vocabulary. After the labels come the class "missing", when it was seen, and the class
/// "hidden", when some labels are protected: it stands for all of them, is learned and is never drawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CategoryCodec {
    pub(crate) labels: Vec<Label>,
    pub(crate) has_missing: bool,
    pub(crate) has_hidden: bool,
}

impl CategoryCodec {
    fn fit(
        codes: &[u32],
        labels: &[Label],
        sequence: &[u32],
        protection: Protection,
    ) -> CategoryCodec {
        let hidden = protection.hidden(codes, labels.len(), sequence);
        let kept = labels.iter().zip(&hidden).filter(|(_, hidden)| !**hidden);
        CategoryCodec {
            labels: kept.map(|(label, _)| label.clone()).collect(),
            has_missing: codes.contains(&MISSING_CODE),
            has_hidden: hidden.contains(&true),
        }
    }

    /// How many classes: the labels, missing and hidden.
    pub(crate) fn classes(&self) -> usize {
        self.labels.len() + usize::from(self.has_missing) + usize::from(self.has_hidden)
    }

    /// The class of all protected labels, which is never drawn.
    pub(crate) fn hidden_class(&self) -> Option<usize> {
        self.has_hidden.then(|| self.classes() - 1)
    }

    /// The class of a code among `labels`, if both the label and its absence are known.
    pub(crate) fn class(&self, code: u32, labels: &[Label]) -> Option<usize> {
        match labels.get(code as usize) {
            Some(label) => self.labels.binary_search(label).ok(),
            None => self.has_missing.then_some(self.labels.len()),
        }
    }

    /// The code of a class.
    pub(crate) fn code(&self, class: usize) -> u32 {
        if class < self.labels.len() {
            u32::try_from(class).unwrap_or(MISSING_CODE)
        } else {
            MISSING_CODE
        }
    }
}

/// A number column among the rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NumberColumn {
    pub(crate) scale: NumberScale,
    /// Grid, range and classes of all values.
    pub(crate) whole: NumberCodec,
    /// Set when the change from the last observed value is modelled in place of the value.
    pub(crate) change: Option<ChangeCodec>,
}

/// How a column is modelled by its changes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChangeCodec {
    /// Values with no observed value before them.
    pub(crate) first: NumberCodec,
    /// Differences from the last observed value.
    pub(crate) step: NumberCodec,
}

impl NumberColumn {
    /// The codec of the value head.
    pub(crate) fn value(&self) -> &NumberCodec {
        self.change
            .as_ref()
            .map_or(&self.whole, |change| &change.first)
    }
}

/// How a row column is coded.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RowKind {
    Category(CategoryCodec),
    Number(Box<NumberColumn>),
}

/// Where a row column's values come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowSource {
    /// The index, as the gap from the row before.
    Gap,
    /// A column of the schema.
    Column(usize),
}

/// One modelled column of the rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowColumn {
    pub(crate) source: RowSource,
    pub(crate) kind: RowKind,
}

/// Where a context column's value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContextSource {
    Column(usize),
    /// Time of day of the first row, in index units.
    TimeOfDay,
    /// Index number of the first row, without its time of day where that is drawn apart.
    Start,
    /// Whether the sequence ends because the table's time ends.
    EndsWithTable,
    /// Number of rows.
    Length,
}

/// How a context column is coded.
#[derive(Debug, Clone, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "a table has a handful of context columns"
)]
pub(crate) enum ContextKind {
    Category(CategoryCodec),
    Number {
        codec: NumberCodec,
        scale: NumberScale,
    },
}

/// One modelled column of the context.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ContextColumn {
    pub(crate) source: ContextSource,
    pub(crate) kind: ContextKind,
}

/// One output of the row decoder: the classes of a column's value, or of its change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// Position among the row (or context) columns.
    pub(crate) column: usize,
    pub(crate) classes: usize,
    /// The class whose score comes from the mixture.
    pub(crate) continuous: Option<usize>,
}

/// Everything learned about the table outside the network.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layout {
    pub(crate) context: Vec<ContextColumn>,
    pub(crate) rows: Vec<RowColumn>,
    pub(crate) index: Option<IndexCodec>,
    pub(crate) longest: usize,
}

impl Layout {
    /// Fits every codec to a table.
    pub(crate) fn fit(table: &SequenceTable, schema: &Schema, protection: Protection) -> Layout {
        let sequence_of_row = table.sequence_of_row();
        let index = schema.sequence_index().map(|column| {
            let unit = schema
                .seconds_per_raw_unit(column)
                .map(|seconds_per_raw_unit| TimeUnit {
                    seconds_per_raw_unit,
                    base: schema.columns[column].base,
                    step: schema.columns[column].step,
                });
            IndexCodec::fit(
                numbers(&table.columns[column]),
                &table.offsets,
                unit,
                protection,
            )
        });
        let numbers_of_index =
            schema
                .sequence_index()
                .zip(index.as_ref())
                .map(|(column, codec)| {
                    numbers(&table.columns[column])
                        .iter()
                        .map(|&v| codec.number(v))
                        .collect::<Vec<f64>>()
                });
        let mut context: Vec<ContextColumn> = schema
            .context()
            .into_iter()
            .filter(|&column| !is_identifier(schema, column))
            .map(|column| fit_context_column(table, column, protection))
            .collect();
        let mut rows = Vec::new();
        if let (Some(codec), Some(values)) = (&index, &numbers_of_index) {
            context.extend(fit_start(codec, values, table, protection));
            rows.push(RowColumn {
                source: RowSource::Gap,
                kind: RowKind::Number(Box::new(fit_gap(values, table, protection))),
            });
        }
        let lengths: Vec<f64> = table.lengths().iter().map(|&n| n as f64).collect();
        context.push(ContextColumn {
            source: ContextSource::Length,
            kind: fit_context_number(&lengths, KnotPlacement::Midpoints, protection),
        });
        rows.extend(
            schema
                .sequential()
                .into_iter()
                .filter(|&column| !is_identifier(schema, column))
                .map(|column| RowColumn {
                    source: RowSource::Column(column),
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
            .clip(&lengths, &numbered(&lengths))
            .iter()
            .fold(1.0_f64, |longest, &length| longest.max(length)) as usize;
        Layout {
            context,
            rows,
            index,
            longest,
        }
    }

    /// The heads of the row decoder, in column order; a change head follows its column's value head.
    pub(crate) fn row_heads(&self) -> Vec<Head> {
        let mut heads = Vec::new();
        for (column, RowColumn { kind, .. }) in self.rows.iter().enumerate() {
            match kind {
                RowKind::Category(codec) => {
                    heads.push(Head {
                        column,
                        classes: codec.classes(),
                        continuous: None,
                    });
                }
                RowKind::Number(number) => {
                    let head = |codec: &NumberCodec| Head {
                        column,
                        classes: codec.classes(),
                        continuous: codec.continuous_class(),
                    };
                    heads.push(head(number.value()));
                    heads.extend(number.change.iter().map(|change| head(&change.step)));
                }
            }
        }
        heads
    }

    /// The heads of the context network, one a column.
    pub(crate) fn context_heads(&self) -> Vec<Head> {
        let head = |(column, ContextColumn { kind, .. }): (usize, &ContextColumn)| match kind {
            ContextKind::Category(codec) => Head {
                column,
                classes: codec.classes(),
                continuous: None,
            },
            ContextKind::Number { codec, .. } => Head {
                column,
                classes: codec.classes(),
                continuous: codec.continuous_class(),
            },
        };
        self.context.iter().enumerate().map(head).collect()
    }

    /// The category columns of the table with their codecs.
    pub(crate) fn categories(&self) -> impl Iterator<Item = (usize, &CategoryCodec)> {
        let context =
            self.context
                .iter()
                .filter_map(|column| match (column.source, &column.kind) {
                    (ContextSource::Column(source), ContextKind::Category(codec)) => {
                        Some((source, codec))
                    }
                    _ => None,
                });
        let rows = self
            .rows
            .iter()
            .filter_map(|column| match (column.source, &column.kind) {
                (RowSource::Column(source), RowKind::Category(codec)) => Some((source, codec)),
                _ => None,
            });
        context.chain(rows)
    }

    /// The codec of all values of a column of the table, if it is one of numbers.
    pub(crate) fn number_codec(&self, column: usize) -> Option<&NumberCodec> {
        let context = self.context.iter().find_map(|context| match &context.kind {
            ContextKind::Number { codec, .. } => {
                (context.source == ContextSource::Column(column)).then_some(codec)
            }
            ContextKind::Category(_) => None,
        });
        context.or_else(|| {
            self.rows.iter().find_map(|row| match &row.kind {
                RowKind::Number(number) => {
                    (row.source == RowSource::Column(column)).then_some(&number.whole)
                }
                RowKind::Category(_) => None,
            })
        })
    }

    /// How many calendar features an index number has; 0 without an index.
    pub(crate) fn calendar_width(&self) -> usize {
        self.index.as_ref().map_or(0, IndexCodec::width)
    }

    /// Rows of the shortest sequence.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a length that was seen"
    )]
    pub(crate) fn shortest(&self) -> usize {
        let length = self
            .context_position(ContextSource::Length)
            .map(|position| &self.context[position].kind);
        match length {
            Some(ContextKind::Number { codec, .. }) => codec.low as usize,
            Some(ContextKind::Category(_)) | None => 1,
        }
    }

    /// Decimals of the index numbers, where starts and gaps lie on decimal grids.
    pub(crate) fn index_decimals(&self) -> Option<u32> {
        let start = self.context_position(ContextSource::Start)?;
        let ContextKind::Number { codec: start, .. } = &self.context[start].kind else {
            return None;
        };
        let gap = self.rows.iter().find_map(|column| match &column.kind {
            RowKind::Number(number) if column.source == RowSource::Gap => Some(&number.whole),
            RowKind::Number(_) | RowKind::Category(_) => None,
        })?;
        // Without its time of day a start is no index number; dates are whole anyway.
        let is_split = self.index.as_ref()?.splits_time_of_day;
        let decimals = start
            .grid
            .as_ref()?
            .decimals
            .max(gap.grid.as_ref()?.decimals);
        (!is_split).then_some(decimals)
    }

    /// Position of a context column.
    pub(crate) fn context_position(&self, source: ContextSource) -> Option<usize> {
        self.context
            .iter()
            .position(|column| column.source == source)
    }
}

fn is_identifier(schema: &Schema, column: usize) -> bool {
    matches!(schema.columns[column].sdtype, SdType::Id { .. })
}

/// The numbers of a number column.
pub(crate) fn numbers(values: &Values) -> &[f64] {
    match values {
        Values::Numbers(values) => values,
        Values::Labels { .. } => &[],
    }
}

fn first_rows(values: &[f64], table: &SequenceTable) -> Vec<f64> {
    table.offsets[..table.sequences()]
        .iter()
        .map(|&row| values[row])
        .collect()
}

/// Each value a sequence of its own.
fn numbered(values: &[f64]) -> Vec<u32> {
    (0_u32..).take(values.len()).collect()
}

fn fit_context_number(
    values: &[f64],
    placement: KnotPlacement,
    protection: Protection,
) -> ContextKind {
    let sequence = numbered(values);
    let values = &*protection.clip(values, &sequence);
    let options = NumberOptions {
        same_share: 0.0,
        placement,
        protection,
    };
    let codec = NumberCodec::fit(values, &sequence, options);
    let scale = NumberScale::fit(&told(&codec, values, protection), 0.0, placement);
    ContextKind::Number { codec, scale }
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
    protection: Protection,
) -> ContextColumn {
    let kind = match &table.columns[column] {
        Values::Labels { codes, labels } => {
            let sequence = table.sequence_of_row();
            ContextKind::Category(CategoryCodec::fit(codes, labels, &sequence, protection))
        }
        Values::Numbers(values) => fit_context_number(
            &first_rows(values, table),
            KnotPlacement::Smoothed,
            protection,
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
            &numbered(&times),
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
        kind: fit_context_number(&starts, placement, protection),
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

fn fit_gap(values: &[f64], table: &SequenceTable, protection: Protection) -> NumberColumn {
    let mut gaps = Vec::with_capacity(values.len());
    let mut sequence = Vec::with_capacity(values.len());
    for (number, ends) in (0_u32..).zip(table.offsets.windows(2)) {
        for pair in values[ends[0]..ends[1]].windows(2) {
            gaps.push(gap(pair[0], pair[1]));
            sequence.push(number);
        }
    }
    let mut gaps = protection.clip(&gaps, &sequence).into_owned();
    let mut protection = protection;
    if gaps.iter().all(|gap| gap.is_nan()) {
        // Every sequence that may be told of has one row; one that is asked to be longer goes on by one unit a row.
        (gaps, sequence, protection) = (vec![1.0], vec![0], Protection::OFF);
    }
    let repeats = gaps
        .windows(2)
        .zip(sequence.windows(2))
        .filter(|(_, s)| s[0] == s[1]);
    let (same, pairs) = repeats.fold((0, 0), |(same, pairs), (g, _)| {
        (same + usize::from(g[0] == g[1]), pairs + 1)
    });
    let options = NumberOptions {
        same_share: same as f64 / f64::from(pairs.max(1)),
        placement: KnotPlacement::Midpoints,
        protection,
    };
    let changes: Vec<f64> = gaps
        .windows(2)
        .zip(sequence.windows(2))
        .filter(|(_, s)| s[0] == s[1])
        .map(|(g, _)| g[1] - g[0])
        .collect();
    let whole = NumberCodec::fit(&gaps, &sequence, options);
    NumberColumn {
        scale: NumberScale::fit(
            &told(&whole, &gaps, protection),
            mean_and_deviation(&changes).1,
            KnotPlacement::Midpoints,
        ),
        whole,
        change: None,
    }
}

/// The step between two index numbers, free of the noise that subtracting decimals leaves.
pub(crate) fn gap(before: f64, after: f64) -> f64 {
    round_difference(after - before, before.abs().max(after.abs()))
}

/// The index number a gap further on, free of the noise that adding decimals piles up.
pub(crate) fn next_index(number: f64, gap: f64, decimals: Option<u32>) -> f64 {
    let next = number + gap;
    let Some(scale) = decimals.and_then(|d| Some(10_f64.powi(i32::try_from(d).ok()?))) else {
        return next;
    };
    let rounded = (next * scale).round() / scale;
    if rounded.is_finite() { rounded } else { next }
}

/// A difference rounded to what floats of this size can tell apart, at most eight decimals.
pub(crate) fn round_difference(difference: f64, size: f64) -> f64 {
    if difference == difference.round() || size > 1e7 {
        return difference;
    }
    (difference * 1e8).round() / 1e8
}

fn fit_number_column(
    values: &[f64],
    offsets: &[usize],
    sequence: &[u32],
    protection: Protection,
) -> NumberColumn {
    let values = &*protection.clip(values, sequence);
    let mut firsts = (Vec::new(), Vec::new());
    let mut steps = (Vec::new(), Vec::new());
    let mut observed = Vec::new();
    for ends in offsets.windows(2) {
        let mut last = f64::NAN;
        for row in ends[0]..ends[1] {
            let value = values[row];
            let (kept, step) = if last.is_nan() {
                (&mut firsts, value)
            } else {
                (
                    &mut steps,
                    round_difference(value - last, value.abs().max(last.abs())),
                )
            };
            kept.0.push(step);
            kept.1.push(sequence[row]);
            if !value.is_nan() {
                if !last.is_nan() {
                    observed.push(value);
                }
                last = value;
            }
        }
    }
    let steps = (protection.clip(&steps.0, &steps.1), steps.1);
    let changes: Vec<f64> = steps.0.iter().copied().filter(|v| !v.is_nan()).collect();
    let same = changes.iter().filter(|&&d| d == 0.0).count();
    let options = NumberOptions {
        same_share: same as f64 / changes.len().max(1) as f64,
        placement: KnotPlacement::Midpoints,
        protection,
    };
    let whole = NumberCodec::fit(values, sequence, options);
    let width = whole
        .grid
        .as_ref()
        .map_or(0.0, |grid| grid.resolution())
        .max(interquartile_range(&observed) / ENTROPY_CELLS);
    let gains = changes.len() > 20
        && width > 0.0
        && entropy(&observed, width) - entropy(&changes, width) > CHANGE_GAIN_NATS;
    let plain = NumberOptions {
        same_share: 0.0,
        ..options
    };
    NumberColumn {
        scale: NumberScale::fit(
            &told(&whole, values, protection),
            mean_and_deviation(&changes).1,
            KnotPlacement::Midpoints,
        ),
        whole,
        change: gains.then(|| ChangeCodec {
            first: NumberCodec::fit(&firsts.0, &firsts.1, plain),
            step: NumberCodec::fit(&steps.0, &steps.1, plain),
        }),
    }
}

fn interquartile_range(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n => sorted[n * 3 / 4] - sorted[n / 4],
    }
}

/// Entropy in nats of values cut into cells of one width, with the correction of Miller (1955) for few values.
fn entropy(values: &[f64], width: f64) -> f64 {
    let mut cells: Vec<f64> = values.iter().map(|v| (v / width).round()).collect();
    cells.sort_unstable_by(f64::total_cmp);
    let n = values.len() as f64;
    let (mut sum, mut occupied) = (0.0, 0.0);
    for run in cells.chunk_by(|a, b| a == b) {
        let share = run.len() as f64 / n;
        sum -= share * share.ln();
        occupied += 1.0;
    }
    sum + (occupied - 1.0) / (2.0 * n)
}
