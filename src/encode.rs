//! Turns a table into what the network is trained on: features and targets of every context and every row.
//! In: [`SequenceTable`] and [`Layout`]. Out: f32 features and class numbers, all finite: of contexts at once, of rows
//! batch by batch, since a row takes many times the memory encoded that it takes in the table.

use crate::codec::calendar::IndexCodec;
use crate::codec::number::{NumberCodec, Target};
use crate::history::{History, NO_NUMBER, context_features, position_features};
use crate::layout::{
    CONTEXT_FEATURES, CURRENT_FEATURES, CategoryCodec, ContextKind, ContextSource,
    HISTORY_FEATURES, Layout, NumberColumn, POSITION_FEATURES, RowColumn, RowKind, RowSource, gap,
    numbers, round_difference,
};
use crate::table::{Label, SequenceTable, Values};
use ndarray::Array2;
use std::ops::Range;

/// The class of a head that has nothing to say about a row.
pub(crate) const INACTIVE: u32 = u32::MAX;

/// Targets of a set of heads, one matrix row a row (or a sequence), one column a head.
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

/// Rows, one matrix row each.
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

/// Encodes a table: its contexts at once, its rows as they are asked for.
#[derive(Debug)]
pub(crate) struct Encoder<'a> {
    table: &'a SequenceTable,
    layout: &'a Layout,
    index_column: Option<usize>,
    /// By row column, the class of each label and, last, of a missing one; empty for numbers.
    classes: Vec<Vec<u32>>,
    pub(crate) context: EncodedContext,
}

impl<'a> Encoder<'a> {
    pub(crate) fn new(
        table: &'a SequenceTable,
        layout: &'a Layout,
        index_column: Option<usize>,
    ) -> Encoder<'a> {
        let mut encoder = Encoder {
            table,
            layout,
            index_column,
            classes: layout
                .rows
                .iter()
                .map(|column| classes_of_labels(table, &column.source, &column.kind))
                .collect(),
            context: EncodedContext::default(),
        };
        encoder.context = encode_context(table, layout, |row| encoder.index(row));
        encoder
    }

    pub(crate) fn sequences(&self) -> usize {
        self.table.sequences()
    }

    /// Where a sequence lies among the rows.
    pub(crate) fn range(&self, sequence: usize) -> Range<usize> {
        self.table.offsets[sequence]..self.table.offsets[sequence + 1]
    }

    /// Rows of all sequences.
    pub(crate) fn all_rows(&self) -> usize {
        self.table.rows()
    }

    /// The index number of a row.
    fn index(&self, row: usize) -> Option<f64> {
        let (column, codec) = self.index_column.zip(self.layout.index.as_ref())?;
        Some(codec.number(numbers(&self.table.columns[column])[row]))
    }

    /// The memory of so many sequences before their first rows.
    pub(crate) fn histories(&self, sequences: usize) -> Vec<History> {
        vec![History::new(self.layout); sequences]
    }

    /// Encodes a part of each of some sequences, one after the other; `histories` are of the rows before, and take in
    /// those of the parts.
    pub(crate) fn rows(
        &self,
        sequences: &[usize],
        parts: &[Range<usize>],
        histories: &mut [History],
    ) -> EncodedRows {
        let mut encoded = EncodedRows::new(self.layout, parts.iter().map(Range::len).sum());
        let mut at = 0;
        for ((&sequence, part), history) in sequences.iter().zip(parts).zip(histories) {
            let whole = self.range(sequence);
            for row in part.clone() {
                self.encode_row(row, &whole, history, at, &mut encoded);
                at += 1;
            }
        }
        encoded
    }
}

impl EncodedRows {
    fn new(layout: &Layout, rows: usize) -> EncodedRows {
        let heads = layout.row_heads().len();
        let is_category = |column: &&RowColumn| matches!(column.kind, RowKind::Category(_));
        let categories = layout.rows.iter().filter(is_category).count();
        let number_columns = layout.rows.len() - categories;
        let calendar = layout.calendar_width();
        EncodedRows {
            history_numbers: Array2::zeros((rows, number_columns * HISTORY_FEATURES)),
            history_categories: Array2::zeros((rows, categories)),
            position: Array2::zeros((rows, POSITION_FEATURES)),
            calendar_before: Array2::zeros((rows, calendar)),
            calendar: Array2::zeros((rows, calendar)),
            current_numbers: Array2::zeros((rows, number_columns * CURRENT_FEATURES)),
            current_categories: Array2::zeros((rows, categories)),
            skip: Array2::zeros((rows, heads)),
            targets: Targets::new(rows, heads),
        }
    }
}

fn encode_context(
    table: &SequenceTable,
    layout: &Layout,
    index: impl Fn(usize) -> Option<f64>,
) -> EncodedContext {
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
        let split = layout
            .index
            .as_ref()
            .zip(index(first))
            .map(|(codec, value)| codec.split(value));
        for (position, column) in layout.context.iter().enumerate() {
            match &column.kind {
                ContextKind::Category(codec) => {
                    let class = match (column.source, &layout.index) {
                        (ContextSource::Column(source), _) => match &table.columns[source] {
                            Values::Labels { codes, labels } => codec.class(codes[first], labels),
                            Values::Numbers(_) => None,
                        },
                        (source, Some(index_codec)) => {
                            index(first).zip(index(end - 1)).and_then(|(first, last)| {
                                index_class(source, codec, index_codec, first, last)
                            })
                        }
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

impl Encoder<'_> {
    /// Writes one row of the sequence that lies at `whole` to row `at` of the matrices.
    fn encode_row(
        &self,
        row: usize,
        whole: &Range<usize>,
        history: &mut History,
        at: usize,
        encoded: &mut EncodedRows,
    ) {
        let (table, layout) = (self.table, self.layout);
        let step = row - whole.start;
        let before = if step == 0 { row } else { row - 1 };
        let (own_index, index_before) = (self.index(row), self.index(before));
        let mut elapsed = 0.0;
        if let (Some(codec), Some(own), Some(before)) = (&layout.index, own_index, index_before) {
            write_features(&mut encoded.calendar_before, at, |write| {
                codec.features(before, write)
            });
            write_features(&mut encoded.calendar, at, |write| {
                codec.features(own, write)
            });
            elapsed = before - self.index(whole.start).unwrap_or(before);
        }
        let position = position_features(step, whole.len(), layout, elapsed);
        encoded
            .position
            .row_mut(at)
            .assign(&ndarray::aview1(&position));
        history.write(
            layout,
            encoded
                .history_numbers
                .row_mut(at)
                .into_slice()
                .unwrap_or_default(),
            encoded
                .history_categories
                .row_mut(at)
                .into_slice()
                .unwrap_or_default(),
        );
        let (mut number_slot, mut category_slot, mut head) = (0, 0, 0);
        for (column, classes) in layout.rows.iter().zip(&self.classes) {
            match &column.kind {
                RowKind::Category(_) => {
                    let class = match column.source {
                        RowSource::Column(source) => class_of(&table.columns[source], row, classes),
                        RowSource::Gap => 0,
                    };
                    encoded.current_categories[(at, category_slot)] = class;
                    encoded.targets.class[(at, head)] = class;
                    history.absorb_category(category_slot, class);
                    category_slot += 1;
                    head += 1;
                }
                RowKind::Number(number) => {
                    // The first row has no gap to tell.
                    let value = match (column.source, index_before, own_index) {
                        (RowSource::Column(source), _, _) => numbers(&table.columns[source])[row],
                        (RowSource::Gap, Some(before), Some(own)) if step > 0 => gap(before, own),
                        (RowSource::Gap, _, _) => f64::NAN,
                    };
                    let has_value = column.source != RowSource::Gap || step > 0;
                    let features = if has_value {
                        encoded.set_number((at, head), number, value, number_slot, history)
                    } else {
                        NO_NUMBER
                    };
                    for (slot, feature) in features.into_iter().enumerate() {
                        encoded.current_numbers[(at, number_slot * CURRENT_FEATURES + slot)] =
                            feature;
                    }
                    number_slot += 1;
                    head += 1 + usize::from(number.change.is_some());
                }
            }
        }
    }
}

impl EncodedRows {
    /// Writes what a number's heads are to tell, of which the first is at `at`; gives the number's features and keeps it
    /// in the history.
    fn set_number(
        &mut self,
        at: (usize, usize),
        number: &NumberColumn,
        value: f64,
        slot: usize,
        history: &mut History,
    ) -> [f32; CURRENT_FEATURES] {
        let last = history.last(slot);
        let (row, head) = at;
        match number.change.as_ref().filter(|_| !last.is_nan()) {
            Some(change) => {
                let difference = round_difference(value - last, value.abs().max(last.abs()));
                let target = change.step.target(difference, f64::NAN);
                self.targets.set((row, head + 1), target);
                self.skip[(row, head + 1)] = skip_score(&change.step, history.last_change(slot));
            }
            None => {
                self.targets.set(at, number.value().target(value, last));
                self.skip[at] = skip_score(number.value(), last);
            }
        }
        history.absorb_number(slot, value, &number.scale)
    }
}

/// The class of a row, given those of the labels and of a missing one.
fn class_of(values: &Values, row: usize, classes: &[u32]) -> u32 {
    let Values::Labels { codes, .. } = values else {
        return 0;
    };
    let missing = classes.len().saturating_sub(1);
    classes
        .get((codes[row] as usize).min(missing))
        .copied()
        .unwrap_or(0)
}

/// The class of each label of a category column and, last, of a missing one; empty for a number column.
fn classes_of_labels(table: &SequenceTable, source: &RowSource, kind: &RowKind) -> Vec<u32> {
    let (RowSource::Column(column), RowKind::Category(codec)) = (source, kind) else {
        return Vec::new();
    };
    let Values::Labels { labels, .. } = &table.columns[*column] else {
        return Vec::new();
    };
    let class = |code: u32| {
        codec
            .class(code, labels)
            .or_else(|| codec.hidden_class())
            .and_then(|class| u32::try_from(class).ok())
            .unwrap_or(0)
    };
    let codes = 0..=u32::try_from(labels.len()).unwrap_or(u32::MAX);
    codes.map(class).collect()
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
