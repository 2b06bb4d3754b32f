//! Puts sampled sequences back into a table's columns.
//! In: [`SampledSequences`] in order and what was given. Out: [`Values`] of every schema column, row after row.
//! A table may come in parts, one after the other: what is made up goes on from part to part, and is the same wherever
//! a part begins.

mod keys;
mod made_up;

use crate::codec::identifier::{IdentifierCodec, IdentifierError};
use crate::codec::personal::PersonalCodec;
use crate::codec::spread::Spread;
use crate::layout::{CategoryCodec, ContextKind, ContextSource, Layout, RowKind, RowSource};
use crate::sample::{Decided, Request, SampledSequences};
use crate::table::{Buffer, Label, MISSING_CODE, Role, Schema, SequenceTable, Values};
pub(crate) use made_up::MadeUp;

/// Identifier values that a user gave for one column.
#[derive(Debug, Clone)]
pub(crate) struct GivenIdentifier {
    /// Position in the schema.
    pub(crate) column: usize,
    /// One for each place of given values, `MISSING_CODE` for a missing one; none where it is to be made up.
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

    /// The values at these positions, in their order, with the labels among them.
    fn take(&self, places: impl Iterator<Item = usize>) -> GivenIdentifier {
        let codes: Vec<Option<u32>> = places
            .map(|at| self.codes.get(at).copied().flatten())
            .collect();
        let mut used: Vec<u32> = codes.iter().copied().flatten().collect();
        used.retain(|&code| code != MISSING_CODE);
        used.sort_unstable();
        used.dedup();
        let among_used = |code: u32| {
            let at = used.binary_search(&code).ok();
            at.and_then(|at| u32::try_from(at).ok())
                .unwrap_or(MISSING_CODE)
        };
        GivenIdentifier {
            column: self.column,
            codes: codes.iter().map(|code| code.map(among_used)).collect(),
            labels: used
                .iter()
                .filter_map(|&code| self.labels.get(code as usize).cloned())
                .collect(),
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
    /// By schema column; none for columns that are not personal or were missing in every row.
    pub(crate) personal: &'a [Option<PersonalCodec>],
    /// By schema column, of those that are made up.
    pub(crate) spreads: &'a [Spread],
    pub(crate) given: &'a GivenIdentifiers,
    /// What was sampled: its seed, and which given values are whose.
    pub(crate) request: &'a Request,
}

impl Decoding<'_> {
    /// All columns of the next part of a table, one value a row.
    /// # Errors
    /// [`IdentifierError`] when a column has room for fewer new identifiers than there are sequences or rows.
    pub(crate) fn columns(
        &self,
        sampled: &SampledSequences,
        made_up: &mut MadeUp<'_>,
    ) -> Result<Vec<Values>, IdentifierError> {
        let keys = self.personal_keys(sampled, made_up)?;
        let columns: Result<Vec<Values>, IdentifierError> = self
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
                            None => self.per_sequence(column, sampled, made_up),
                        }
                    }
                    Role::Sequential => self.per_row(column, sampled, made_up),
                }
            })
            .collect();
        made_up.next_sequence += sampled.lengths.len();
        columns
    }

    /// The columns that are not constant in a sequence, by schema column, for sequences that go on from `history`.
    /// # Errors
    /// [`IdentifierError`] when a column has room for fewer identifiers that are new and not in the history.
    pub(crate) fn row_columns(
        &self,
        sampled: &SampledSequences,
        history: &SequenceTable,
    ) -> Result<Vec<(usize, Values)>, IdentifierError> {
        let mut made_up = MadeUp::new(self.schema, self.identifiers, self.request.seed);
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
                    self.made_up_after(column, sampled, history, &mut made_up)?
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
                labels: codec.labels.as_slice().into(),
            },
            (Decided::Numbers(numbers), _) => {
                Values::Numbers(repeat(numbers.iter().copied(), &sampled.lengths))
            }
            (Decided::Classes(_), ContextKind::Number { .. }) => Values::Numbers(Vec::new().into()),
        }
    }

    fn index_values(&self, index: &[f64]) -> Values {
        Values::Numbers(match &self.layout.index {
            Some(codec) => index.iter().map(|&number| codec.value(number)).collect(),
            None => index.to_vec().into(),
        })
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
            labels: codec.labels.as_slice().into(),
        },
        (Decided::Numbers(numbers), _) => Values::Numbers(numbers.clone().into()),
        (Decided::Classes(_), None) => Values::Numbers(Vec::new().into()),
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

fn repeat<T: Copy>(values: impl Iterator<Item = T>, lengths: &[usize]) -> Buffer<T> {
    values
        .zip(lengths)
        .flat_map(|(value, &length)| std::iter::repeat_n(value, length))
        .collect()
}
