//! Turns a table into what the network is trained on: features and targets of every context and every row.
//! In: [`SequenceTable`] and [`Layout`]. Out: [`Encoded`], f32 features and class numbers, all finite; row `r` of a
//! matrix is row `r` of the table.

use crate::codec::calendar::IndexCodec;
use crate::codec::number::{NumberCodec, Target};
use crate::history::{History, NO_NUMBER, context_features, position_features};
use crate::layout::{
    CONTEXT_FEATURES, CURRENT_FEATURES, CategoryCodec, ContextKind, ContextSource,
    HISTORY_FEATURES, Layout, POSITION_FEATURES, RowKind, RowSource, gap, numbers,
    round_difference,
};
use crate::table::{Label, SequenceTable, Values};
use ndarray::Array2;

/// The class of a head that has nothing to say about a row.
pub(crate) const INACTIVE: u32 = u32::MAX;

/// Targets of a set of heads, one matrix row a table row (or a sequence), one column a head.
#[derive(Debug, Clone, Default)]
pub(crate) struct Targets {
    pub(crate) class: Array2<u32>,
    pub(crate) low: Array2<f32>,
    pub(crate) high: Array2<f32>,
    pub(crate) log_density: Array2<f32>,
}

impl Targets {
    fn new(rows: usize, heads: usize) -> Targets {
        let zeros = || Array2::zeros((rows, heads));
        Targets {
            class: Array2::from_elem((rows, heads), INACTIVE),
            low: zeros(),
            high: zeros(),
            log_density: zeros(),
        }
    }

    fn set(&mut self, at: (usize, usize), target: Target) {
        self.class[at] = target.class;
        self.low[at] = target.low;
        self.high[at] = target.high;
        self.log_density[at] = target.log_density;
    }
}

/// Contexts, one matrix row a sequence.
#[derive(Debug, Clone, Default)]
pub(crate) struct EncodedContext {
    /// `[sequences, number columns × CONTEXT_FEATURES]`
    pub(crate) numbers: Array2<f32>,
    /// `[sequences, category columns]`
    pub(crate) categories: Array2<u32>,
    pub(crate) targets: Targets,
}

/// Rows, one matrix row a table row.
#[derive(Debug, Clone, Default)]
pub(crate) struct EncodedRows {
    /// `[rows, number columns × HISTORY_FEATURES]`
    pub(crate) history_numbers: Array2<f32>,
    /// `[rows, category columns]`
    pub(crate) history_categories: Array2<u32>,
    /// `[rows, POSITION_FEATURES]`
    pub(crate) position: Array2<f32>,
    /// `[rows, calendar width]`, of the index of the row before (of the first row itself at the start)
    pub(crate) calendar_before: Array2<f32>,
    /// `[rows, calendar width]`, of the row's own index
    pub(crate) calendar: Array2<f32>,
    /// `[rows, number columns × CURRENT_FEATURES]`
    pub(crate) current_numbers: Array2<f32>,
    /// `[rows, category columns]`
    pub(crate) current_categories: Array2<u32>,
    /// `[rows, heads]`, the score of the last observed value or change, from which the head's mixture starts
    pub(crate) skip: Array2<f32>,
    pub(crate) targets: Targets,
}

/// A table as the network sees it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Encoded {
    /// Rows of sequence `i` are `offsets[i]..offsets[i + 1]`.
    pub(crate) offsets: Vec<usize>,
    pub(crate) context: EncodedContext,
    pub(crate) rows: EncodedRows,
}

impl Encoded {
    pub(crate) fn sequences(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Rows of one sequence.
    pub(crate) fn length(&self, sequence: usize) -> usize {
        self.offsets[sequence + 1] - self.offsets[sequence]
    }
}

/// Encodes a whole table.
pub(crate) fn encode(
    table: &SequenceTable,
    layout: &Layout,
    index_column: Option<usize>,
) -> Encoded {
    let index: Option<Vec<f64>> = index_column
        .zip(layout.index.as_ref())
        .map(|(column, codec)| {
            numbers(&table.columns[column])
                .iter()
                .map(|&value| codec.number(value))
                .collect()
        });
    Encoded {
        offsets: table.offsets.clone(),
        context: encode_context(table, layout, index.as_deref()),
        rows: encode_rows(table, layout, index.as_deref()),
    }
}

fn encode_context(table: &SequenceTable, layout: &Layout, index: Option<&[f64]>) -> EncodedContext {
    let sequences = table.sequences();
    let categories = layout
        .context
        .iter()
        .filter(|c| matches!(c.kind, ContextKind::Category(_)))
        .count();
    let mut encoded = EncodedContext {
        numbers: Array2::zeros((
            sequences,
            (layout.context.len() - categories) * CONTEXT_FEATURES,
        )),
        categories: Array2::zeros((sequences, categories)),
        targets: Targets::new(sequences, layout.context.len()),
    };
    for sequence in 0..sequences {
        let (first, end) = (table.offsets[sequence], table.offsets[sequence + 1]);
        let (mut number_slot, mut category_slot) = (0, 0);
        for (position, column) in layout.context.iter().enumerate() {
            let split = layout
                .index
                .as_ref()
                .zip(index)
                .map(|(codec, values)| codec.split(values[first]));
            match &column.kind {
                ContextKind::Category(codec) => {
                    let class = match (column.source, &layout.index) {
                        (ContextSource::Column(source), _) => match &table.columns[source] {
                            Values::Labels { codes, labels } => codec.class(codes[first], labels),
                            Values::Numbers(_) => None,
                        },
                        (source, Some(index_codec)) => index.and_then(|values| {
                            index_class(source, codec, index_codec, values[first], values[end - 1])
                        }),
                        (_, None) => None,
                    };
                    let class = class.or_else(|| codec.hidden_class()).unwrap_or(0);
                    let class = u32::try_from(class).unwrap_or(0);
                    encoded.categories[(sequence, category_slot)] = class;
                    encoded.targets.class[(sequence, position)] = class;
                    category_slot += 1;
                }
                ContextKind::Number { codec, scale } => {
                    let value = match column.source {
                        ContextSource::Column(source) => numbers(&table.columns[source])[first],
                        ContextSource::Start => split.map_or(0.0, |(_, start)| start),
                        ContextSource::Length => (end - first) as f64,
                        ContextSource::TimeOfDay | ContextSource::EndsWithTable => 0.0,
                    };
                    for (slot, feature) in context_features(value, scale).into_iter().enumerate() {
                        encoded.numbers[(sequence, number_slot * CONTEXT_FEATURES + slot)] =
                            feature;
                    }
                    encoded
                        .targets
                        .set((sequence, position), codec.target(value, f64::NAN));
                    number_slot += 1;
                }
            }
        }
    }
    encoded
}

/// The class of a context category that the index numbers of a sequence's first and last row decide; none for others
/// and for a time of day that was never seen.
pub(crate) fn index_class(
    source: ContextSource,
    codec: &CategoryCodec,
    index: &IndexCodec,
    first: f64,
    last: f64,
) -> Option<usize> {
    match source {
        ContextSource::TimeOfDay => {
            let (time, _) = index.split(first);
            codec.labels.binary_search(&Label::Float(time)).ok()
        }
        ContextSource::EndsWithTable => Some(usize::from(index.is_at_end(last))),
        ContextSource::Column(_) | ContextSource::Start | ContextSource::Length => None,
    }
}

fn encode_rows(table: &SequenceTable, layout: &Layout, index: Option<&[f64]>) -> EncodedRows {
    let rows = table.rows();
    let heads = layout.row_heads().len();
    let categories = layout
        .rows
        .iter()
        .filter(|c| matches!(c.kind, RowKind::Category(_)))
        .count();
    let number_columns = layout.rows.len() - categories;
    let calendar = layout.calendar_width();
    let mut encoded = EncodedRows {
        history_numbers: Array2::zeros((rows, number_columns * HISTORY_FEATURES)),
        history_categories: Array2::zeros((rows, categories)),
        position: Array2::zeros((rows, POSITION_FEATURES)),
        calendar_before: Array2::zeros((rows, calendar)),
        calendar: Array2::zeros((rows, calendar)),
        current_numbers: Array2::zeros((rows, number_columns * CURRENT_FEATURES)),
        current_categories: Array2::zeros((rows, categories)),
        skip: Array2::zeros((rows, heads)),
        targets: Targets::new(rows, heads),
    };
    let classes: Vec<Vec<u32>> = layout
        .rows
        .iter()
        .map(|column| classes_of_labels(table, &column.source, &column.kind))
        .collect();
    for ends in table.offsets.windows(2) {
        encode_sequence(
            table,
            layout,
            index,
            &classes,
            ends[0]..ends[1],
            &mut encoded,
        );
    }
    encoded
}

/// The class of each row of a category column; empty for a number column.
fn classes_of_labels(table: &SequenceTable, source: &RowSource, kind: &RowKind) -> Vec<u32> {
    match (source, kind) {
        (RowSource::Column(column), RowKind::Category(codec)) => match &table.columns[*column] {
            Values::Labels { codes, labels } => {
                // Labels are looked up once each, not once a row.
                let of_code: Vec<u32> = (0..=u32::try_from(labels.len()).unwrap_or(u32::MAX))
                    .map(|code| {
                        codec
                            .class(code, labels)
                            .or_else(|| codec.hidden_class())
                            .and_then(|class| u32::try_from(class).ok())
                            .unwrap_or(0)
                    })
                    .collect();
                codes
                    .iter()
                    .map(|&code| of_code[(code as usize).min(labels.len())])
                    .collect()
            }
            Values::Numbers(_) => Vec::new(),
        },
        _ => Vec::new(),
    }
}

fn encode_sequence(
    table: &SequenceTable,
    layout: &Layout,
    index: Option<&[f64]>,
    classes: &[Vec<u32>],
    range: std::ops::Range<usize>,
    encoded: &mut EncodedRows,
) {
    let mut history = History::new(layout);
    let (first, length) = (range.start, range.len());
    for row in range {
        let step = row - first;
        let before = if step == 0 { row } else { row - 1 };
        if let (Some(codec), Some(values)) = (&layout.index, index) {
            write_features(&mut encoded.calendar_before, row, |write| {
                codec.features(values[before], write)
            });
            write_features(&mut encoded.calendar, row, |write| {
                codec.features(values[row], write)
            });
        }
        let elapsed = index.map_or(0.0, |values| values[before] - values[first]);
        let position = position_features(step, length, layout, elapsed);
        encoded
            .position
            .row_mut(row)
            .assign(&ndarray::aview1(&position));
        history.write(
            layout,
            encoded
                .history_numbers
                .row_mut(row)
                .into_slice()
                .unwrap_or_default(),
            encoded
                .history_categories
                .row_mut(row)
                .into_slice()
                .unwrap_or_default(),
        );
        let (mut number_slot, mut category_slot, mut head) = (0, 0, 0);
        for (column, classes) in layout.rows.iter().zip(classes) {
            match &column.kind {
                RowKind::Category(_) => {
                    let class = classes[row];
                    encoded.current_categories[(row, category_slot)] = class;
                    encoded.targets.class[(row, head)] = class;
                    history.absorb_category(category_slot, class);
                    category_slot += 1;
                    head += 1;
                }
                RowKind::Number(number) => {
                    let value = match (column.source, index) {
                        (RowSource::Column(source), _) => numbers(&table.columns[source])[row],
                        (RowSource::Gap, Some(values)) if step > 0 => {
                            gap(values[row - 1], values[row])
                        }
                        (RowSource::Gap, _) => f64::NAN,
                    };
                    let last = history.last(number_slot);
                    // The first row has no gap to tell.
                    let has_value = column.source != RowSource::Gap || step > 0;
                    let by_change = number.change.as_ref().filter(|_| !last.is_nan());
                    let mut features = NO_NUMBER;
                    if has_value {
                        match by_change {
                            Some(change) => {
                                let difference =
                                    round_difference(value - last, value.abs().max(last.abs()));
                                encoded
                                    .targets
                                    .set((row, head + 1), change.step.target(difference, f64::NAN));
                                encoded.skip[(row, head + 1)] =
                                    skip_score(&change.step, history.last_change(number_slot));
                            }
                            None => {
                                encoded
                                    .targets
                                    .set((row, head), number.value().target(value, last));
                                encoded.skip[(row, head)] = skip_score(number.value(), last);
                            }
                        }
                        features = history.absorb_number(number_slot, value, &number.scale);
                    }
                    for (slot, feature) in features.into_iter().enumerate() {
                        encoded.current_numbers[(row, number_slot * CURRENT_FEATURES + slot)] =
                            feature;
                    }
                    number_slot += 1;
                    head += 1 + usize::from(number.change.is_some());
                }
            }
        }
    }
}

/// The score from which a mixture starts: that of the last observed value, or of the last change where changes are
/// modelled; 0 without one.
pub(crate) fn skip_score(codec: &NumberCodec, last: f64) -> f32 {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "features are handed to the network in f32"
    )]
    match &codec.continuous {
        Some(map) if !last.is_nan() => map.score(last) as f32,
        _ => 0.0,
    }
}

fn write_features(
    matrix: &mut Array2<f32>,
    row: usize,
    features: impl FnOnce(&mut dyn FnMut(f64)),
) {
    let mut slots = matrix.row_mut(row).into_iter();
    features(&mut |value| {
        if let Some(slot) = slots.next() {
            #[allow(
                clippy::cast_possible_truncation,
                reason = "features are handed to the network in f32"
            )]
            let single = value as f32;
            *slot = single;
        }
    });
}
