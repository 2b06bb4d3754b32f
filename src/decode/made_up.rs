//! Columns that are made up: ids and personal data.
//! In: how many values are wanted, and which must not come out. Out: one a sequence, or one a row.

use super::{Decoding, repeat, repeated};
use crate::codec::identifier::IdentifierError;
use crate::codec::personal::{PersonalCodec, PersonalDraws};
use crate::layout::ContextSource;
use crate::sample::{Decided, SampledSequences};
use crate::table::{Label, MISSING_CODE, Role, SequenceTable, Values};
use std::collections::HashSet;

/// Draws of a key until there counts as being no other.
const KEY_DRAWS: usize = 256;

impl Decoding<'_> {
    /// Made-up values of a column that is constant in each sequence, or the given ones.
    pub(super) fn per_sequence(
        &self,
        column: usize,
        sampled: &SampledSequences,
    ) -> Result<Values, IdentifierError> {
        if let Some((_, given)) = self.given.iter().find(|(given, _)| *given == column) {
            return Ok(repeated(given, &sampled.lengths));
        }
        let values = self.made_up(column, sampled.lengths.len(), &[])?;
        Ok(repeated(&values, &sampled.lengths))
    }

    /// Made-up values among the rows.
    pub(super) fn per_row(
        &self,
        column: usize,
        sampled: &SampledSequences,
    ) -> Result<Values, IdentifierError> {
        if self.spreads[column].is_constant {
            return self.per_sequence(column, sampled);
        }
        self.made_up(column, sampled.lengths.iter().sum(), &[])
    }

    /// Made-up values in the rows after those of `history`: a constant one goes on, others are new, and not among the
    /// given, which may have been made up by this very model.
    pub(super) fn made_up_after(
        &self,
        column: usize,
        sampled: &SampledSequences,
        history: &SequenceTable,
    ) -> Result<Values, IdentifierError> {
        let Values::Labels { codes, labels } = &history.columns[column] else {
            return Ok(Values::Numbers(Vec::new()));
        };
        if self.spreads[column].is_constant {
            let last = history.offsets.iter().skip(1).map(|end| codes[end - 1]);
            return Ok(Values::Labels {
                codes: repeat(last, &sampled.lengths),
                labels: labels.clone(),
            });
        }
        self.made_up(column, sampled.lengths.iter().sum(), labels)
    }

    /// So many made-up cells, some of them missing, without those of a sorted list.
    fn made_up(
        &self,
        column: usize,
        count: usize,
        besides: &[Label],
    ) -> Result<Values, IdentifierError> {
        let mut presence = self.spreads[column].presence(count, column, self.seed);
        let numbers: Vec<u64> = (0..)
            .zip(&presence)
            .filter_map(|(number, is_present)| is_present.then_some(number))
            .collect();
        let labels = match (&self.personal[column], &self.identifiers[column]) {
            (Some(codec), _) => {
                let storage = &self.schema.columns[column].storage;
                codec.values(&numbers, column, self.seed, storage, besides)?
            }
            (None, Some(_)) => self.identifiers(column, numbers.len() as u64, besides)?,
            (None, None) => {
                presence.fill(false);
                Vec::new()
            }
        };
        Ok(one_each(labels, &presence))
    }

    /// The key's columns where personal values alone tell sequences apart: made up together, so that no two keys are
    /// alike, and none is made of training values only. Empty where an id does it, or the keys are given.
    pub(super) fn personal_keys(
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
        let sequences = sampled.lengths.len();
        let mut seen: HashSet<(Vec<String>, Vec<u64>)> = HashSet::new();
        let mut labels: Vec<Vec<Label>> = vec![Vec::new(); codecs.len()];
        for sequence in 0..sequences {
            let beside: Vec<u64> = drawn
                .iter()
                .map(|&column| self.drawn_part(column, sampled, sequence))
                .collect();
            let is_new = |key: &[Label]| {
                let texts = key.iter().map(Label::to_string).collect();
                seen.insert((texts, beside.clone()))
            };
            let key = self
                .personal_key(&codecs, sequence, is_new)
                .ok_or_else(|| IdentifierError::Capacity {
                    origin: format!("sequence key `{}`", self.schema.key_names()),
                    available: sequence as u128,
                    wanted: sequences as u64,
                })?;
            for (labels, label) in labels.iter_mut().zip(key) {
                labels.push(label);
            }
        }
        let columns = codecs.iter().map(|(column, _)| *column);
        let values = labels
            .into_iter()
            .map(|labels| one_each(labels, &vec![true; sequences]));
        Ok(columns.zip(values).collect())
    }

    /// One key that is new, and not of training values only; none when there seems to be no other.
    fn personal_key(
        &self,
        codecs: &[(usize, &PersonalCodec)],
        sequence: usize,
        mut is_new: impl FnMut(&[Label]) -> bool,
    ) -> Option<Vec<Label>> {
        let mut draws: Vec<PersonalDraws<'_>> = codecs
            .iter()
            .map(|(column, codec)| {
                let storage = &self.schema.columns[*column].storage;
                codec.draws(sequence as u64, *column, self.seed, storage)
            })
            .collect();
        (0..KEY_DRAWS).find_map(|_| {
            let key: Vec<Label> = draws.iter_mut().map(PersonalDraws::next).collect();
            let mut parts = draws.iter().zip(&key);
            let is_of_training = parts.all(|(draws, label)| draws.is_of_training(label));
            (!is_of_training && is_new(&key)).then_some(key)
        })
    }

    /// What tells apart the values of a drawn key column.
    fn drawn_part(&self, column: usize, sampled: &SampledSequences, sequence: usize) -> u64 {
        let position = self.layout.context_position(ContextSource::Column(column));
        position.map_or(0, |position| match &sampled.context[position] {
            Decided::Classes(classes) => classes[sequence].into(),
            Decided::Numbers(numbers) => numbers[sequence].to_bits(),
        })
    }

    /// So many new identifiers that are not among those of a sorted list.
    fn identifiers(
        &self,
        column: usize,
        count: u64,
        besides: &[Label],
    ) -> Result<Vec<Label>, IdentifierError> {
        let wanted = usize::try_from(count).unwrap_or(usize::MAX);
        let is_free = |label: &Label| besides.binary_search(label).is_err();
        let mut labels = self.first_identifiers(column, count)?;
        labels.retain(is_free);
        if labels.len() < wanted {
            // Each given one can be met once at most.
            let most = count.saturating_add(besides.len() as u64);
            labels = match self.first_identifiers(column, most) {
                Err(IdentifierError::Capacity { available, .. }) => {
                    self.first_identifiers(column, u64::try_from(available).unwrap_or(most))?
                }
                made => made?,
            };
            labels.retain(is_free);
        }
        if labels.len() < wanted {
            return Err(IdentifierError::Capacity {
                origin: format!("column `{}`", self.schema.columns[column].name),
                available: labels.len() as u128,
                wanted: count,
            });
        }
        labels.truncate(wanted);
        Ok(labels)
    }

    fn first_identifiers(&self, column: usize, count: u64) -> Result<Vec<Label>, IdentifierError> {
        let Some(codec) = &self.identifiers[column] else {
            return Ok(Vec::new());
        };
        let storage = &self.schema.columns[column].storage;
        // Each column has numbers of its own under one seed.
        codec.generate(0..count, self.seed ^ ((column as u64) << 48), storage)
    }
}

/// A column of these labels, one for each cell that is present.
fn one_each(labels: Vec<Label>, presence: &[bool]) -> Values {
    let mut next = 0;
    let codes = presence.iter().map(|is_present| {
        if !is_present {
            return MISSING_CODE;
        }
        next += 1;
        next - 1
    });
    Values::Labels {
        codes: codes.collect(),
        labels,
    }
}
