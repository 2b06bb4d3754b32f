//! Puts sampled sequences back into a table's columns.
//! In: [`SampledSequences`] in order and what was given. Out: [`Values`] of every schema column, row after row.

use crate::codec::identifier::{IdentifierCodec, IdentifierError};
use crate::layout::{CategoryCodec, ContextKind, ContextSource, Layout, RowKind, RowSource};
use crate::sample::{Decided, SampledSequences};
use crate::table::{Label, MISSING_CODE, Role, Schema, SequenceTable, Values};
use std::ops::Range;

/// Identifier values that a user gave for one column.
#[derive(Debug, Clone)]
pub(crate) struct GivenIdentifier {
    /// Position in the schema.
    pub(crate) column: usize,
    /// One a sequence, `MISSING_CODE` for a missing one; none where it is to be made up.
    pub(crate) codes: Vec<Option<u32>>,
    /// Sorted and unique.
    pub(crate) labels: Vec<Label>,
}

impl GivenIdentifier {
    /// Labels in any order: none where the value is to be made up, none within where it is missing.
    pub(crate) fn of_labels(column: usize, given: Vec<Option<Option<Label>>>) -> GivenIdentifier {
        let mut labels: Vec<Label> = given.iter().flatten().flatten().cloned().collect();
        labels.sort();
        labels.dedup();
        let code = |label: Option<Label>| {
            let at = labels.binary_search(&label?).ok()?;
            u32::try_from(at).ok()
        };
        let codes = given
            .into_iter()
            .map(|given| given.map(|label| code(label).unwrap_or(MISSING_CODE)));
        GivenIdentifier {
            column,
            codes: codes.collect(),
            labels,
        }
    }

    /// The values at these positions, in their order.
    pub(crate) fn take(self, places: impl Iterator<Item = usize>) -> GivenIdentifier {
        GivenIdentifier {
            codes: places
                .map(|at| self.codes.get(at).copied().flatten())
                .collect(),
            ..self
        }
    }
}

/// All identifier values that a user gave.
pub(crate) type GivenIdentifiers = Vec<GivenIdentifier>;

/// What decoding needs besides the samples.
pub(crate) struct Decoding<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) layout: &'a Layout,
    /// By schema column; none for columns that are no identifiers or were missing in every row.
    pub(crate) identifiers: &'a [Option<IdentifierCodec>],
    pub(crate) given: &'a GivenIdentifiers,
    pub(crate) seed: u64,
}

impl Decoding<'_> {
    /// All columns, one value a row.
    /// # Errors
    /// [`IdentifierError`] when a column has room for fewer new identifiers than there are sequences or rows.
    pub(crate) fn columns(
        &self,
        sampled: &SampledSequences,
    ) -> Result<Vec<Values>, IdentifierError> {
        let rows = sampled.lengths.iter().sum::<usize>() as u64;
        let columns = self
            .schema
            .columns
            .iter()
            .enumerate()
            .map(|(column, column_schema)| {
                if let Some(layout_column) = self
                    .layout
                    .rows
                    .iter()
                    .position(|c| c.source == RowSource::Column(column))
                {
                    return Ok(self.row_values(layout_column, &sampled.rows[layout_column]));
                }
                if let Some(position) = self.layout.context_position(ContextSource::Column(column))
                {
                    return Ok(self.context_values(position, sampled));
                }
                match column_schema.role {
                    Role::SequenceIndex => Ok(self.index_values(&sampled.index)),
                    Role::SequenceKey | Role::Context => {
                        self.identifiers_per_sequence(column, sampled)
                    }
                    Role::Sequential => self.identifiers(column, 0..rows),
                }
            });
        columns.collect()
    }

    /// The columns that are not constant in a sequence, by schema column, for sequences that go on from `history`.
    /// # Errors
    /// [`IdentifierError`] when a column has room for fewer identifiers that are new and not in the history.
    pub(crate) fn row_columns(
        &self,
        sampled: &SampledSequences,
        history: &SequenceTable,
    ) -> Result<Vec<(usize, Values)>, IdentifierError> {
        let rows = sampled.lengths.iter().sum::<usize>() as u64;
        let mut columns = Vec::new();
        for (column, column_schema) in self.schema.columns.iter().enumerate() {
            let layout_column = self
                .layout
                .rows
                .iter()
                .position(|c| c.source == RowSource::Column(column));
            let values = match (column_schema.role, layout_column) {
                (Role::SequenceKey | Role::Context, _) => continue,
                (Role::SequenceIndex, _) => self.index_values(&sampled.index),
                (Role::Sequential, Some(position)) => {
                    self.row_values(position, &sampled.rows[position])
                }
                (Role::Sequential, None) => {
                    self.identifiers_besides(column, rows, &history.columns[column])?
                }
            };
            columns.push((column, values));
        }
        Ok(columns)
    }

    fn row_values(&self, column: usize, decided: &Decided) -> Values {
        match &self.layout.rows[column].kind {
            RowKind::Category(codec) => decoded(decided, Some(codec)),
            RowKind::Number(_) => decoded(decided, None),
        }
    }

    fn context_values(&self, position: usize, sampled: &SampledSequences) -> Values {
        match (
            &sampled.context[position],
            &self.layout.context[position].kind,
        ) {
            (Decided::Classes(classes), ContextKind::Category(codec)) => Values::Labels {
                codes: repeat(
                    classes.iter().map(|&class| codec.code(class as usize)),
                    &sampled.lengths,
                ),
                labels: codec.labels.clone(),
            },
            (Decided::Numbers(numbers), _) => {
                Values::Numbers(repeat(numbers.iter().copied(), &sampled.lengths))
            }
            (Decided::Classes(_), ContextKind::Number { .. }) => Values::Numbers(Vec::new()),
        }
    }

    fn index_values(&self, index: &[f64]) -> Values {
        Values::Numbers(match &self.layout.index {
            Some(codec) => index.iter().map(|&number| codec.value(number)).collect(),
            None => index.to_vec(),
        })
    }

    fn identifiers_per_sequence(
        &self,
        column: usize,
        sampled: &SampledSequences,
    ) -> Result<Values, IdentifierError> {
        if let Some(given) = self.given.iter().find(|given| given.column == column) {
            let (codes, labels) = self.completed(given)?;
            return Ok(Values::Labels {
                codes: repeat(codes.into_iter(), &sampled.lengths),
                labels,
            });
        }
        match self.identifiers(column, 0..sampled.lengths.len() as u64)? {
            Values::Labels { codes, labels } => Ok(Values::Labels {
                codes: repeat(codes.into_iter(), &sampled.lengths),
                labels,
            }),
            Values::Numbers(numbers) => Ok(Values::Numbers(repeat(
                numbers.into_iter(),
                &sampled.lengths,
            ))),
        }
    }

    /// Given identifiers and made-up ones for the sequences that have none.
    fn completed(
        &self,
        given: &GivenIdentifier,
    ) -> Result<(Vec<u32>, Vec<Label>), IdentifierError> {
        let mut labels = given.labels.clone();
        let first_new = labels.len();
        let wanted = given.codes.iter().filter(|code| code.is_none()).count();
        if wanted > 0 {
            let besides = Values::Labels {
                codes: Vec::new(),
                labels: labels.clone(),
            };
            if let Values::Labels { labels: new, .. } =
                self.identifiers_besides(given.column, wanted as u64, &besides)?
            {
                labels.extend(new);
            }
        }
        let has_new = labels.len() > first_new;
        let mut new = (0..).map(|at| first_new + at);
        let codes = given.codes.iter().map(|code| match code {
            Some(code) => *code,
            None if has_new => new
                .next()
                .and_then(|at| u32::try_from(at).ok())
                .unwrap_or(MISSING_CODE),
            None => MISSING_CODE,
        });
        Ok((codes.collect(), labels))
    }

    fn identifiers(&self, column: usize, numbers: Range<u64>) -> Result<Values, IdentifierError> {
        let count = usize::try_from(numbers.end - numbers.start).unwrap_or(0);
        let Some(codec) = &self.identifiers[column] else {
            return Ok(Values::Labels {
                codes: vec![MISSING_CODE; count],
                labels: Vec::new(),
            });
        };
        let storage = &self.schema.columns[column].storage;
        // Each column has numbers of its own under one seed.
        let labels = codec.generate(numbers, self.seed ^ ((column as u64) << 48), storage)?;
        Ok(one_each(labels))
    }

    /// New identifiers that are not among given ones, which may have been made up by this very model.
    fn identifiers_besides(
        &self,
        column: usize,
        count: u64,
        given: &Values,
    ) -> Result<Values, IdentifierError> {
        let (Values::Labels { labels: given, .. }, Some(_)) = (given, &self.identifiers[column])
        else {
            return self.identifiers(column, 0..count);
        };
        let wanted = usize::try_from(count).unwrap_or(usize::MAX);
        let mut labels = without(self.identifiers(column, 0..count)?, given);
        if labels.len() < wanted {
            // Each given one can be met once at most.
            let most = count.saturating_add(given.len() as u64);
            let made = match self.identifiers(column, 0..most) {
                Err(IdentifierError::Capacity { available, .. }) => {
                    self.identifiers(column, 0..u64::try_from(available).unwrap_or(most))?
                }
                made => made?,
            };
            labels = without(made, given);
        }
        if labels.len() < wanted {
            return Err(IdentifierError::Capacity {
                origin: format!("column `{}`", self.schema.columns[column].name),
                available: labels.len() as u128,
                wanted: count,
            });
        }
        labels.truncate(wanted);
        Ok(one_each(labels))
    }
}

/// Decided values of a column, with the codec of its categories if it has any.
pub(crate) fn decoded(decided: &Decided, codec: Option<&CategoryCodec>) -> Values {
    match (decided, codec) {
        (Decided::Classes(classes), Some(codec)) => Values::Labels {
            codes: classes
                .iter()
                .map(|&class| codec.code(class as usize))
                .collect(),
            labels: codec.labels.clone(),
        },
        (Decided::Numbers(numbers), _) => Values::Numbers(numbers.clone()),
        (Decided::Classes(_), None) => Values::Numbers(Vec::new()),
    }
}

/// A column of these labels, one a row.
fn one_each(labels: Vec<Label>) -> Values {
    let codes = (0..u32::try_from(labels.len()).unwrap_or(MISSING_CODE)).collect();
    Values::Labels { codes, labels }
}

/// The labels without those of a sorted list.
fn without(values: Values, given: &[Label]) -> Vec<Label> {
    match values {
        Values::Labels { mut labels, .. } => {
            labels.retain(|label| given.binary_search(label).is_err());
            labels
        }
        Values::Numbers(_) => Vec::new(),
    }
}

fn repeat<T: Copy>(values: impl Iterator<Item = T>, lengths: &[usize]) -> Vec<T> {
    values
        .zip(lengths)
        .flat_map(|(value, &length)| std::iter::repeat_n(value, length))
        .collect()
}
