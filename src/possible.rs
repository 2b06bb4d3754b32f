//! What the model gives no probability to: cells that no sample could ever hold.
//! In: a [`SequenceTable`] and the fitted [`Layout`]. Out: for each sequence and each row the first such column.
//! Encoding lets a stand-in take the place of such a cell, so that what follows it can still be read.

use crate::codec::calendar::IndexCodec;
use crate::codec::number::NumberCodec;
use crate::layout::{
    CategoryCodec, ContextColumn, ContextKind, ContextSource, Layout, NumberColumn, RowKind,
    RowSource, gap, numbers, round_difference,
};
use crate::table::{Label, SequenceTable, Values};
use std::ops::Range;

/// The first column that cannot be, in the order of the layout.
#[derive(Debug)]
pub(crate) struct Impossible {
    /// By sequence, a position among the context columns.
    pub(crate) contexts: Vec<Option<usize>>,
    /// By row, a position among the row columns.
    pub(crate) rows: Vec<Option<usize>>,
}

/// Looks through a table. With `within_range` columns keep to their smallest and largest value; starts, lengths and
/// gaps always do, as they do in sampling.
pub(crate) fn impossible(
    table: &SequenceTable,
    layout: &Layout,
    index_column: Option<usize>,
    within_range: bool,
) -> Impossible {
    let search = Search {
        table,
        layout,
        index: index_column
            .zip(layout.index.as_ref())
            .map(|(column, codec)| Index {
                raw: numbers(&table.columns[column]),
                codec,
            }),
        within_range,
    };
    let sequences = || table.offsets.windows(2).map(|ends| ends[0]..ends[1]);
    let contexts = sequences().map(|rows| {
        layout
            .context
            .iter()
            .position(|column| !search.holds_context(column, &rows))
    });
    let known: Vec<Vec<bool>> = layout
        .rows
        .iter()
        .map(|column| match (column.source, &column.kind) {
            (RowSource::Column(source), RowKind::Category(codec)) => {
                known_cells(&table.columns[source], codec)
            }
            (RowSource::Gap, _) | (_, RowKind::Number(_)) => Vec::new(),
        })
        .collect();
    Impossible {
        contexts: contexts.collect(),
        rows: sequences()
            .flat_map(|rows| search.rows(&known, rows))
            .collect(),
    }
}

struct Search<'a> {
    table: &'a SequenceTable,
    layout: &'a Layout,
    index: Option<Index<'a>>,
    within_range: bool,
}

/// The raw values of the sequence index.
struct Index<'a> {
    raw: &'a [f64],
    codec: &'a IndexCodec,
}

impl Index<'_> {
    fn number(&self, row: usize) -> f64 {
        self.codec.number(self.raw[row])
    }

    /// Whether a date lies on the day of the month on which all were seen, where they are counted in months.
    fn is_on_grid(&self, row: usize) -> bool {
        is_near(self.codec.value(self.number(row)), self.raw[row], 0.0)
    }
}

impl Search<'_> {
    fn holds_context(&self, column: &ContextColumn, rows: &Range<usize>) -> bool {
        let first = rows.start;
        let split = || {
            self.index
                .as_ref()
                .map(|index| index.codec.split(index.number(first)))
        };
        match (&column.kind, column.source) {
            (ContextKind::Category(codec), ContextSource::Column(source)) => {
                match &self.table.columns[source] {
                    Values::Labels { codes, labels } => codec.class(codes[first], labels).is_some(),
                    Values::Numbers(_) => true,
                }
            }
            (ContextKind::Category(codec), ContextSource::TimeOfDay) => split()
                .is_none_or(|(time, _)| codec.labels.binary_search(&Label::Float(time)).is_ok()),
            (ContextKind::Number { codec, .. }, ContextSource::Column(source)) => holds(
                codec,
                numbers(&self.table.columns[source])[first],
                self.within_range,
            ),
            (ContextKind::Number { codec, .. }, ContextSource::Start) => {
                split().is_none_or(|(_, start)| holds(codec, start, true))
                    && self
                        .index
                        .as_ref()
                        .is_none_or(|index| index.is_on_grid(first))
            }
            (ContextKind::Number { codec, .. }, ContextSource::Length) => {
                holds(codec, rows.len() as f64, true)
            }
            // Two classes hold every sequence; the other pairs do not occur.
            (_, ContextSource::EndsWithTable)
            | (ContextKind::Number { .. }, ContextSource::TimeOfDay)
            | (ContextKind::Category(_), ContextSource::Start | ContextSource::Length) => true,
        }
    }

    /// The first impossible column of each row of a sequence.
    fn rows(&self, known: &[Vec<bool>], rows: Range<usize>) -> Vec<Option<usize>> {
        let mut last = vec![f64::NAN; self.layout.rows.len()];
        let first = rows.start;
        rows.map(|row| {
            let mut impossible = None;
            for (position, column) in self.layout.rows.iter().enumerate() {
                let is_possible = match (&column.kind, column.source) {
                    (RowKind::Category(_), RowSource::Column(source)) => {
                        match &self.table.columns[source] {
                            Values::Labels { codes, .. } => {
                                let known = &known[position];
                                known[(codes[row] as usize).min(known.len() - 1)]
                            }
                            Values::Numbers(_) => true,
                        }
                    }
                    (RowKind::Number(number), RowSource::Column(source)) => {
                        let value = numbers(&self.table.columns[source])[row];
                        holds_next(number, value, &mut last[position], self.within_range)
                    }
                    (RowKind::Number(number), RowSource::Gap) => match &self.index {
                        Some(index) if row > first => {
                            let step = gap(index.number(row - 1), index.number(row));
                            // Both are needed: the second is not to be skipped.
                            let is_held = holds_next(number, step, &mut last[position], true);
                            is_held && index.is_on_grid(row)
                        }
                        _ => true,
                    },
                    (RowKind::Category(_), RowSource::Gap) => true,
                };
                if !is_possible {
                    impossible = impossible.or(Some(position));
                }
            }
            impossible
        })
        .collect()
    }
}

/// Whether each code of a category column is known, and after them whether a missing cell is.
fn known_cells(values: &Values, codec: &CategoryCodec) -> Vec<bool> {
    match values {
        Values::Labels { labels, .. } => (0..)
            .take(labels.len() + 1)
            .map(|code| codec.class(code, labels).is_some())
            .collect(),
        Values::Numbers(_) => Vec::new(),
    }
}

/// Whether a number column can go on with a value from the last that was observed, which is then this value.
fn holds_next(number: &NumberColumn, value: f64, last: &mut f64, within_range: bool) -> bool {
    let before = if value.is_nan() {
        *last
    } else {
        std::mem::replace(last, value)
    };
    let has_class = match number.change.as_ref().filter(|_| !before.is_nan()) {
        Some(change) => {
            let difference = round_difference(value - before, value.abs().max(before.abs()));
            has_class(&change.step, difference, f64::NAN)
        }
        None => has_class(number.value(), value, before),
    };
    has_class && can_write(&number.whole, value, within_range)
}

fn holds(codec: &NumberCodec, value: f64, within_range: bool) -> bool {
    has_class(codec, value, f64::NAN) && can_write(codec, value, within_range)
}

/// Whether one of the classes stands for the value, and not only for its nearest neighbour.
fn has_class(codec: &NumberCodec, value: f64, last: f64) -> bool {
    if value.is_nan() {
        return codec.has_missing;
    }
    let class = codec.target(value, last).class as usize;
    let continuous = codec.continuous.as_ref();
    match (continuous, codec.bin(class)) {
        (Some(map), _) if Some(class) == codec.continuous_class() => map.holds(value),
        (_, Some(bin)) => (bin.low..=bin.high).contains(&value),
        _ => is_near(
            codec.decode(class, 0.0, last, true),
            value,
            largest_of(codec),
        ),
    }
}

/// Whether the value lies on the column's grid, among its values where those are few and, if asked, within its range.
fn can_write(codec: &NumberCodec, value: f64, within_range: bool) -> bool {
    if value.is_nan() {
        return codec.has_missing;
    }
    is_near(codec.restore(value, within_range), value, largest_of(codec))
}

fn largest_of(codec: &NumberCodec) -> f64 {
    codec.low.abs().max(codec.high.abs())
}

/// Equal but for eight units in the last place of the largest number around, which is what grids tolerate.
fn is_near(left: f64, right: f64, largest: f64) -> bool {
    (left - right).abs() <= 8.0 * f64::EPSILON * left.abs().max(right.abs()).max(largest)
}
