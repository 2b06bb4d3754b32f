//! Puts sampled sequences back into a table's columns.
//! In: [`SampledSequences`] in order and what was given. Out: [`Values`] of every schema column, row after row.

use crate::codec::identifier::{IdentifierCodec, IdentifierError};
use crate::codec::personal::{PersonalCodec, PersonalDraws};
use crate::layout::{ContextKind, ContextSource, Layout, RowKind, RowSource};
use crate::sample::{Decided, SampledSequences};
use crate::table::{Label, MISSING_CODE, Role, Schema, SequenceTable, Values};
use std::collections::HashSet;
use std::ops::Range;

/// Draws of a key until there counts as being no other.
const KEY_DRAWS: usize = 256;

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
                (Role::Sequential, None) => match &self.personal[column] {
                    Some(codec) => self.personal_besides(column, codec, sampled, history)?,
                    None => self.identifiers_besides(column, rows, &history.columns[column])?,
                },
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

    /// Made-up values of a column that is constant in each sequence, or the given ones.
    fn per_sequence(
        &self,
        column: usize,
        sampled: &SampledSequences,
    ) -> Result<Values, IdentifierError> {
        if let Some((_, given)) = self.given.iter().find(|(given, _)| *given == column) {
            return Ok(repeated(given, &sampled.lengths));
        }
        let values = self.made_up(column, sampled.lengths.len())?;
        Ok(repeated(&values, &sampled.lengths))
    }

    /// Made-up values among the rows.
    fn per_row(
        &self,
        column: usize,
        sampled: &SampledSequences,
    ) -> Result<Values, IdentifierError> {
        match &self.personal[column] {
            Some(codec) if codec.is_constant => self.per_sequence(column, sampled),
            Some(_) | None => self.made_up(column, sampled.lengths.iter().sum()),
        }
    }

    /// So many made-up values.
    fn made_up(&self, column: usize, count: usize) -> Result<Values, IdentifierError> {
        let numbers = 0..count as u64;
        match &self.personal[column] {
            Some(codec) => {
                let storage = &self.schema.columns[column].storage;
                codec.values(numbers, column, self.seed, storage, &[])
            }
            None => self.identifiers(column, numbers),
        }
    }

    /// Personal values in the rows after those of `history`: a constant one goes on, others are new.
    fn personal_besides(
        &self,
        column: usize,
        codec: &PersonalCodec,
        sampled: &SampledSequences,
        history: &SequenceTable,
    ) -> Result<Values, IdentifierError> {
        let Values::Labels { codes, labels } = &history.columns[column] else {
            return Ok(Values::Numbers(Vec::new()));
        };
        if codec.is_constant {
            let last = history.offsets.iter().skip(1).map(|end| codes[end - 1]);
            return Ok(Values::Labels {
                codes: repeat(last, &sampled.lengths),
                labels: labels.clone(),
            });
        }
        let rows = sampled.lengths.iter().sum::<usize>() as u64;
        let storage = &self.schema.columns[column].storage;
        codec.values(0..rows, column, self.seed, storage, labels)
    }

    /// The key's columns where personal values alone tell sequences apart: made up together, so that no two keys are
    /// alike, and none is made of training values only. Empty where an id does it, or the keys are given.
    fn personal_keys(
        &self,
        sampled: &SampledSequences,
    ) -> Result<Vec<(usize, Values)>, IdentifierError> {
        let is_given = |column: usize| self.given.iter().any(|(given, _)| *given == column);
        let (made_up, drawn): (Vec<usize>, Vec<usize>) = self
            .schema
            .sequence_key()
            .into_iter()
            .partition(|&column| self.schema.columns[column].role == Role::SequenceKey);
        let codecs: Option<Vec<(usize, &PersonalCodec)>> = made_up
            .iter()
            .filter(|&&column| !is_given(column))
            .map(|&column| Some((column, self.personal[column].as_ref()?)))
            .collect();
        let Some(codecs) = codecs.filter(|codecs| !codecs.is_empty()) else {
            return Ok(Vec::new());
        };
        let mut seen: HashSet<(Vec<String>, Vec<u64>)> = HashSet::new();
        let mut labels: Vec<Vec<Label>> = vec![Vec::new(); codecs.len()];
        for sequence in 0..sampled.lengths.len() {
            let mut draws: Vec<PersonalDraws<'_>> = codecs
                .iter()
                .map(|(column, codec)| {
                    let storage = &self.schema.columns[*column].storage;
                    codec.draws(sequence as u64, *column, self.seed, storage)
                })
                .collect();
            let beside: Vec<u64> = drawn
                .iter()
                .map(|&column| self.drawn_part(column, sampled, sequence))
                .collect();
            let key = (0..KEY_DRAWS).find_map(|_| {
                let key: Vec<Label> = draws.iter_mut().map(PersonalDraws::next).collect();
                let of_training =
                    |(draws, label): (&PersonalDraws<'_>, &Label)| draws.is_of_training(label);
                let is_new = !draws.iter().zip(&key).all(of_training);
                let texts = key.iter().map(Label::to_string).collect();
                (is_new && seen.insert((texts, beside.clone()))).then_some(key)
            });
            let Some(key) = key else {
                return Err(IdentifierError::Capacity {
                    origin: format!("sequence key `{}`", self.schema.key_names()),
                    available: sequence as u128,
                    wanted: sampled.lengths.len() as u64,
                });
            };
            for (labels, label) in labels.iter_mut().zip(key) {
                labels.push(label);
            }
        }
        let columns = codecs.iter().map(|(column, _)| *column);
        Ok(columns.zip(labels.into_iter().map(one_each)).collect())
    }

    /// What tells apart the values of a drawn key column.
    fn drawn_part(&self, column: usize, sampled: &SampledSequences, sequence: usize) -> u64 {
        let position = self.layout.context_position(ContextSource::Column(column));
        position.map_or(0, |position| match &sampled.context[position] {
            Decided::Classes(classes) => classes[sequence].into(),
            Decided::Numbers(numbers) => numbers[sequence].to_bits(),
        })
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
