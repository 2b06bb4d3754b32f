//! Sequence keys of personal values, which are made up together.
//! In: sampled sequences, for what is drawn of a key. Out: the other columns of the key, so that no two keys are alike.

use super::Decoding;
use super::made_up::{MadeUp, one_each};
use crate::codec::identifier::{IdentifierError, hash_text};
use crate::codec::personal::{PersonalCodec, PersonalDraws};
use crate::layout::ContextSource;
use crate::sample::{Decided, SampledSequences};
use crate::table::{Label, Role, Values};

/// Draws of a key until there counts as being no other.
const KEY_DRAWS: usize = 256;

impl Decoding<'_> {
    /// The key's columns that are made up together, with their codecs; empty where an id tells sequences apart, or the
    /// keys are given.
    pub(super) fn personal_key_columns(&self) -> Vec<(usize, &PersonalCodec)> {
        let is_given = |column: usize| self.given.iter().any(|given| given.column == column);
        let makes_up = |column: usize| self.schema.columns[column].role == Role::SequenceKey;
        let key = self.schema.sequence_key().into_iter();
        let codecs: Option<Vec<(usize, &PersonalCodec)>> = key
            .filter(|&column| makes_up(column) && !is_given(column))
            .map(|column| Some((column, self.personal[column].as_ref()?)))
            .collect();
        codecs.unwrap_or_default()
    }

    /// The key's columns that are drawn, where those that are made up need them to differ.
    pub(crate) fn drawn_key_columns(&self) -> Vec<usize> {
        if self.personal_key_columns().is_empty() {
            return Vec::new();
        }
        let is_drawn = |column: &usize| self.schema.columns[*column].role != Role::SequenceKey;
        let key = self.schema.sequence_key().into_iter();
        key.filter(is_drawn).collect()
    }

    /// The key's columns where personal values alone tell sequences apart: made up together, so that no two keys are
    /// alike, and none is made of training values only. Empty where an id does it, or the keys are given.
    pub(super) fn personal_keys(
        &self,
        sampled: &SampledSequences,
        made_up: &mut MadeUp<'_>,
    ) -> Result<Vec<(usize, Values)>, IdentifierError> {
        let (codecs, drawn) = (self.personal_key_columns(), self.drawn_key_columns());
        if codecs.is_empty() {
            return Ok(Vec::new());
        }
        let (first, sequences) = (made_up.next_sequence, sampled.lengths.len());
        let mut labels: Vec<Vec<Label>> = vec![Vec::new(); codecs.len()];
        for sequence in 0..sequences {
            let beside = drawn
                .iter()
                .map(|&column| self.drawn_part(column, sampled, sequence));
            let beside: String = beside.map(|part| format!("{part} ")).collect();
            let is_new = |key: &[Label]| {
                let texts = key.iter().map(Label::to_string);
                let texts = texts.map(|text| format!("{} {text}", text.len()));
                let key: String = texts.chain([beside.clone()]).collect();
                made_up.keys.insert(hash_text(&key, self.request.seed))
            };
            let key = self
                .personal_key(&codecs, first + sequence, is_new)
                .ok_or_else(|| IdentifierError::Capacity {
                    origin: format!("sequence key `{}`", self.schema.key_names()),
                    available: (first + sequence) as u128,
                    wanted: (first + sequences) as u64,
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
                codec.draws(sequence as u64, *column, self.request.seed, storage)
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
            Decided::Classes(classes) => classes.get(sequence).map_or(0, |&class| class.into()),
            Decided::Numbers(numbers) => numbers.get(sequence).map_or(0, |number| number.to_bits()),
        })
    }
}
