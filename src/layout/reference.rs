//! Columns that are told as their distance from another column of the same row.
//! In: pairs of columns that may be so related, dates and those that constraints put in order, and the table. Out: which
//! are, and the table with distances in their place. A delivery three days after its order is then learned as three days, whatever the date.

use super::changes::{entropy, interquartile_range};
use super::fit::NumberChoice;
use super::{Layout, RowSource, numbers, round_difference};
use crate::codec::number::{Grid, KnotPlacement, NumberCodec};
use crate::protection::Protection;
use crate::table::{Measure, Schema, SequenceTable, Store, TableError, Values};

/// Nats by which the distance must be easier to tell than the value, as for changes from row to row.
const GAIN_NATS: f64 = 0.7;
/// Pairs of dates that are looked at, beyond which a table has more dates than rows are worth sorting for.
const MOST_PAIRS: usize = 1_000;
/// Cells per interquartile range when entropies are compared.
const CELLS: f64 = 32.0;

/// Where a column's distances are measured from, and what its own values are like.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reference {
    /// Position in the schema of the column that is taken off.
    pub(crate) column: usize,
    /// The column's own smallest and largest value; none where it follows the sequence index, which goes on past the
    /// last moment seen.
    pub(crate) range: Option<(f64, f64)>,
    /// The column's own decimals.
    pub(crate) grid: Option<Grid>,
}

impl Reference {
    /// The column's value at a distance from the reference, both in the column's units.
    pub(crate) fn value(&self, from: f64, distance: f64) -> f64 {
        self.round(from + distance)
    }

    /// The distance of a value from the reference.
    pub(crate) fn distance(from: f64, value: f64) -> f64 {
        round_difference(value - from, value.abs().max(from.abs()))
    }

    /// A value on the column's decimals.
    pub(crate) fn round(&self, value: f64) -> f64 {
        match &self.grid {
            Some(grid) => grid.round_decimals(value),
            None => value,
        }
    }

    /// Distance between neighbouring values; 0 where there is no grid.
    pub(crate) fn resolution(&self) -> f64 {
        self.grid.as_ref().map_or(0.0, Grid::last_decimal)
    }
}

/// A column, and the one its distances are measured from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReferencePair {
    pub(crate) column: usize,
    pub(crate) from: usize,
}

impl ReferencePair {
    /// Every sequential column of dates with the sequence index and the date columns before it.
    pub(crate) fn of_dates(schema: &Schema) -> Vec<ReferencePair> {
        let is_date = |column: &usize| {
            let measure = schema.columns[*column].measure();
            measure.is_some_and(Measure::is_time)
        };
        let dates: Vec<usize> = schema.sequential().into_iter().filter(is_date).collect();
        let index = schema.sequence_index().filter(is_date);
        let before = |at: usize| index.into_iter().chain(dates[..at].iter().copied());
        let pairs = dates.iter().enumerate().flat_map(|(at, &column)| {
            before(at)
                .map(move |from| ReferencePair { column, from })
                .collect::<Vec<_>>()
        });
        pairs.take(MOST_PAIRS).collect()
    }

    /// Of the pairs, for each column the one whose distance is told most easily, where that is a gain.
    pub(crate) fn choose(
        pairs: &[ReferencePair],
        schema: &Schema,
        table: &SequenceTable,
    ) -> Vec<ReferencePair> {
        let gain = |pair: &ReferencePair| gain_nats(*pair, schema, table);
        let mut gains: Vec<(f64, ReferencePair)> = pairs
            .iter()
            .filter_map(|pair| Some((gain(pair)?, *pair)))
            .filter(|(gain, _)| *gain > GAIN_NATS)
            .collect();
        // Of equal gains the first pair: the sort is stable.
        gains.sort_by(|left, right| right.0.total_cmp(&left.0));
        let mut chosen: Vec<ReferencePair> = Vec::new();
        for (_, pair) in gains {
            let is_told = chosen.iter().any(|known| known.column == pair.column);
            if !is_told && pair.root(&chosen) != pair.column {
                chosen.push(pair);
            }
        }
        chosen
    }

    /// What its column is told from in the end, when these pairs are followed.
    fn root(self, pairs: &[ReferencePair]) -> usize {
        let mut from = self.from;
        // No way is longer than there are pairs.
        for _ in pairs {
            match pairs.iter().find(|pair| pair.column == from) {
                Some(pair) => from = pair.from,
                None => break,
            }
        }
        from
    }

    /// What its column's own values are like.
    pub(crate) fn reference(
        self,
        pairs: &[ReferencePair],
        schema: &Schema,
        table: &SequenceTable,
    ) -> Reference {
        let values = numbers(&table.columns[self.column]);
        let choice = NumberChoice::default();
        let options = choice.options(0.0, KnotPlacement::Midpoints, Protection::OFF);
        let codec = NumberCodec::fit(values, &vec![0; values.len()], options);
        Reference {
            column: self.from,
            range: (Some(self.root(pairs)) != schema.sequence_index())
                .then_some((codec.low, codec.high)),
            grid: codec.grid,
        }
    }
}

/// By how much the distance is easier to tell than the value.
fn gain_nats(pair: ReferencePair, schema: &Schema, table: &SequenceTable) -> Option<f64> {
    let mut distances = distances(pair, schema, table)?;
    distances.retain(|distance| !distance.is_nan());
    let mut values = numbers(&table.columns[pair.column]).to_vec();
    values.retain(|value| !value.is_nan());
    // A column of few values has an interquartile range of none, and nothing to gain.
    let width = interquartile_range(&mut values) / CELLS;
    let is_varied = values.len() > 20 && width > 0.0;
    is_varied.then(|| entropy(values, width) - entropy(distances, width))
}

/// Each row's distance from the reference; none where the reference has missing cells or is of another kind.
fn distances(pair: ReferencePair, schema: &Schema, table: &SequenceTable) -> Option<Vec<f64>> {
    let measure = |column: usize| schema.columns.get(column)?.measure();
    let (to, from) = (measure(pair.column)?, measure(pair.from)?);
    if to.is_time() != from.is_time() {
        return None;
    }
    let values = numbers(&table.columns[pair.column]);
    let references = numbers(&table.columns[pair.from]);
    if references.iter().any(|reference| reference.is_nan()) {
        return None;
    }
    Some(between(values, references, from, to).collect())
}

fn between(
    values: &[f64],
    references: &[f64],
    from: Measure,
    to: Measure,
) -> impl Iterator<Item = f64> {
    values
        .iter()
        .zip(references)
        .map(move |(&value, &reference)| Reference::distance(from.convert(reference, to), value))
}

/// Puts distances in the place of the values of these columns.
pub(crate) fn subtract(
    pairs: impl IntoIterator<Item = ReferencePair>,
    schema: &Schema,
    table: &mut SequenceTable,
    store: &Store,
) -> Result<(), TableError> {
    let measure = |column: usize| schema.columns[column].measure().unwrap_or(Measure::PLAIN);
    // All at once: a reference may itself be told by a distance.
    let distances = pairs
        .into_iter()
        .map(|ReferencePair { column, from }| {
            let values = numbers(&table.columns[column]);
            let references = numbers(&table.columns[from]);
            let distances = between(values, references, measure(from), measure(column));
            Ok((column, Values::Numbers(store.keep(distances)?)))
        })
        .collect::<Result<Vec<_>, TableError>>()?;
    for (column, values) in distances {
        table.columns[column] = values;
    }
    Ok(())
}

impl Layout {
    /// The columns that are told as distances.
    pub(crate) fn reference_pairs(&self) -> impl Iterator<Item = ReferencePair> {
        self.rows
            .iter()
            .filter_map(|row| match (row.source, &row.reference) {
                (RowSource::Column(column), Some(reference)) => Some(ReferencePair {
                    column,
                    from: reference.column,
                }),
                _ => None,
            })
    }

    /// Says of columns that they are told as distances.
    pub(crate) fn refer(&mut self, references: Vec<(usize, Reference)>) {
        for (column, reference) in references {
            let is_it = |source: RowSource| source == RowSource::Column(column);
            if let Some(row) = self.rows.iter_mut().find(|row| is_it(row.source)) {
                row.reference = Some(reference);
            }
        }
    }
}
