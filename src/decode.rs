//! Puts sampled sequences back into a table's columns.
//! In: [`SampledSequences`] in order and what was given. Out: [`Values`] of every schema column, row after row.

mod made_up;

use crate::codec::identifier::{IdentifierCodec, IdentifierError};
use crate::codec::personal::PersonalCodec;
use crate::codec::spread::Spread;
use crate::layout::{ContextKind, ContextSource, Layout, RowKind, RowSource};
use crate::sample::{Decided, SampledSequences};
use crate::table::{Role, Schema, SequenceTable, Values};

/// Identifier values a user gave, one a sequence, by schema column.
pub(crate) type GivenIdentifiers = Vec<(usize, Values)>;

/// What decoding needs besides the samples.
pub(crate) struct Decoding<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) layout: &'a Layout,
    /// By schema column; none for columns that are no identifiers or were missing in every row.
    pub(crate) identifiers: &'a [Option<IdentifierCodec>],
    /// By schema column; none for columns that are not personal or were missing in every row.
    pub(crate) personal: &'a [Option<PersonalCodec>],
    /// By schema column, of those that are made up.
    pub(crate) spreads: &'a [Spread],
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
        let keys = self.personal_keys(sampled)?;
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
                        let mut keys = keys.iter();
                        match keys.find(|(key, _)| *key == column) {
                            Some((_, values)) => Ok(repeated(values, &sampled.lengths)),
                            None => self.per_sequence(column, sampled),
                        }
                    }
                    Role::Sequential => self.per_row(column, sampled),
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
                (Role::Sequential, None) => self.made_up_after(column, sampled, history)?,
            };
            columns.push((column, values));
        }
        Ok(columns)
    }

    fn row_values(&self, column: usize, decided: &Decided) -> Values {
        match (decided, &self.layout.rows[column].kind) {
            (Decided::Classes(classes), RowKind::Category(codec)) => Values::Labels {
                codes: classes
                    .iter()
                    .map(|&class| codec.code(class as usize))
                    .collect(),
                labels: codec.labels.clone(),
            },
            (Decided::Numbers(numbers), _) => Values::Numbers(numbers.clone()),
            (Decided::Classes(_), RowKind::Number(_)) => Values::Numbers(Vec::new()),
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
}

/// One value a sequence as one a row.
fn repeated(values: &Values, lengths: &[usize]) -> Values {
    match values {
        Values::Labels { codes, labels } => Values::Labels {
            codes: repeat(codes.iter().copied(), lengths),
            labels: labels.clone(),
        },
        Values::Numbers(numbers) => Values::Numbers(repeat(numbers.iter().copied(), lengths)),
    }
}

fn repeat<T: Copy>(values: impl Iterator<Item = T>, lengths: &[usize]) -> Vec<T> {
    values
        .zip(lengths)
        .flat_map(|(value, &length)| std::iter::repeat_n(value, length))
        .collect()
}
