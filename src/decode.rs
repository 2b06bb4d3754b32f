//! Puts sampled sequences back into a table's columns.
//! In: [`SampledSequences`] in order and what was given. Out: [`Values`] of every schema column, row after row.

use crate::codec::identifier::{IdentifierCodec, IdentifierError};
use crate::layout::{ContextKind, ContextSource, Layout, RowKind, RowSource};
use crate::sample::{Decided, SampledSequences};
use crate::table::{MISSING_CODE, Role, Schema, Values};
use std::ops::Range;

/// Identifier values a user gave, one a sequence, by schema column.
pub(crate) type GivenIdentifiers = Vec<(usize, Values)>;

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

    fn identifiers_per_sequence(
        &self,
        column: usize,
        sampled: &SampledSequences,
    ) -> Result<Values, IdentifierError> {
        if let Some((_, Values::Labels { codes, labels })) =
            self.given.iter().find(|(given, _)| *given == column)
        {
            return Ok(Values::Labels {
                codes: repeat(codes.iter().copied(), &sampled.lengths),
                labels: labels.clone(),
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
        let codes = (0..u32::try_from(labels.len()).unwrap_or(MISSING_CODE)).collect();
        Ok(Values::Labels { codes, labels })
    }
}

fn repeat<T: Copy>(values: impl Iterator<Item = T>, lengths: &[usize]) -> Vec<T> {
    values
        .zip(lengths)
        .flat_map(|(value, &length)| std::iter::repeat_n(value, length))
        .collect()
}
