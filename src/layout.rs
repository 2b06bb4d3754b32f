//! What the network models, in which order, and in which slots.
//! In: a table and its schema. Out: [`Layout`], the fitted codecs of every modelled column.
//!
//! A sequence is its context (context columns, start, whether the table's time ends it, length) and its rows (the gap
//! to the row before, then the sequential columns in table order). Identifiers are made up and not modelled.

mod changes;
mod fit;
mod reference;

pub(crate) use reference::{Reference, ReferencePair, subtract};

pub(crate) use fit::NumberChoice;

use crate::codec::calendar::IndexCodec;
use crate::codec::number::{NumberCodec, NumberScale};
use crate::protection::Protection;
use crate::table::{Label, MISSING_CODE, Values};

/// History features of a number column: see `history.rs`.
pub(crate) const HISTORY_FEATURES: usize = 8;
/// Current-row features of a number column: score, standard value, missing, change.
pub(crate) const CURRENT_FEATURES: usize = 4;
/// Features of a number among the context: score, standard value, missing.
pub(crate) const CONTEXT_FEATURES: usize = 3;
/// Features of a row's place in its sequence.
pub(crate) const POSITION_FEATURES: usize = 8;

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

    /// The class "missing", if missing cells were seen.
    pub(crate) fn missing_class(&self) -> Option<usize> {
        self.has_missing.then_some(self.labels.len())
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

    /// Whether the value head maps values to scores as the history does.
    pub(crate) fn is_skip_of_scale(&self) -> bool {
        self.value().continuous.as_ref() == Some(&self.scale.map)
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
    /// Set when the distance from another column is modelled in place of the value.
    pub(crate) reference: Option<Reference>,
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

    /// Puts computed columns after what they are computed from: `depths` says by schema column how deep they lie.
    pub(crate) fn place_after_inputs(&mut self, depths: &[usize]) {
        let depth = |column: usize| depths.get(column).copied().unwrap_or(0);
        // The gap stays first, and what follows from the context's columns stays last.
        self.rows.sort_by_key(|row| match row.source {
            RowSource::Gap => 0,
            RowSource::Column(column) => 1 + depth(column),
        });
        self.context.sort_by_key(|context| match context.source {
            ContextSource::Column(column) => depth(column),
            _ => usize::MAX,
        });
    }

    /// Position of a context column.
    pub(crate) fn context_position(&self, source: ContextSource) -> Option<usize> {
        self.context
            .iter()
            .position(|column| column.source == source)
    }
}

/// The numbers of a number column.
pub(crate) fn numbers(values: &Values) -> &[f64] {
    match values {
        Values::Numbers(values) => values,
        Values::Labels { .. } => &[],
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

/// A difference rounded to what floats of this size can tell apart, at most eight decimals. From one end of the floats to
/// the other is further than they reach, and counts as the furthest they do.
pub(crate) fn round_difference(difference: f64, size: f64) -> f64 {
    if difference == difference.round() || size > 1e7 {
        return difference.clamp(f64::MIN, f64::MAX);
    }
    (difference * 1e8).round() / 1e8
}
