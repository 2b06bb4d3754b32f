//! Columns that are made up: ids and personal data.
//! In: which cells are wanted, and which values must not come out. Out: one a sequence, or one a row.
//! A personal value follows from the number of its sequence and its row alone. Ids, and values that must differ, also
//! follow from those before: what [`MadeUp`] keeps of those is counts and hashes.

use super::{Decoding, GivenIdentifier, repeat, repeated};
use crate::codec::identifier::{IdentifierCodec, IdentifierError, IdentifierSeries};
use crate::codec::spread::Presence;
use crate::sample::SampledSequences;
use crate::sampling::Lengths;
use crate::table::{Label, MISSING_CODE, Role, Schema, SequenceTable, Values};
use std::collections::HashSet;
use std::ops::Range;

/// Rows of one sequence that have personal values of their own: more than a sequence may have.
const ROWS: u64 = 1 << 24;
/// Sequences that are skipped at once.
const SKIPPED: usize = 4_096;

/// How far a table's made-up columns have come.
#[derive(Debug)]
pub(crate) struct MadeUp<'a> {
    /// The number of the next sequence.
    pub(super) next_sequence: usize,
    /// By schema column.
    columns: Vec<MadeUpColumn<'a>>,
    /// Hashes of the personal keys.
    pub(super) keys: HashSet<u64>,
    /// Where ids of rows are numbered apart for each sequence, how many numbers each has.
    ids_per_sequence: Option<u64>,
}

#[derive(Debug)]
struct MadeUpColumn<'a> {
    /// None in columns without ids.
    ids: Option<IdentifierSeries<'a>>,
    next_id: u64,
    /// Hashes of the values that may not come out again.
    seen: HashSet<u64>,
}

impl<'a> MadeUp<'a> {
    /// At the first sequence of a table.
    pub(crate) fn new(
        schema: &'a Schema,
        identifiers: &'a [Option<IdentifierCodec>],
        seed: u64,
    ) -> MadeUp<'a> {
        let columns = schema.columns.iter().zip(identifiers).enumerate();
        let column = |(column, (schema, codec)): (usize, (&'a _, &'a Option<IdentifierCodec>))| {
            let schema: &'a crate::table::ColumnSchema = schema;
            // Each column has numbers of its own under one seed.
            let seed = seed ^ ((column as u64) << 48);
            MadeUpColumn {
                ids: codec
                    .as_ref()
                    .map(|codec| codec.series(seed, &schema.storage)),
                next_id: 0,
                seen: HashSet::new(),
            }
        };
        MadeUp {
            next_sequence: 0,
            columns: columns.map(column).collect(),
            keys: HashSet::new(),
            ids_per_sequence: None,
        }
    }

    /// Gives the ids of rows numbers that follow from sequence and row, whatever the lengths of the sequences before.
    pub(crate) fn number_rows_apart(&mut self, ids_per_sequence: u64) {
        self.ids_per_sequence = Some(ids_per_sequence);
    }

    /// Starts at a sequence, as if those before had no made-up values.
    pub(crate) fn start_at(&mut self, sequence: usize) {
        self.next_sequence = sequence;
    }

    /// Refuses more ids of a column than there is room for, as far as that can be told without making them.
    pub(crate) fn check_room(&mut self, column: usize, wanted: u64) -> Result<(), IdentifierError> {
        let ids = self
            .columns
            .get_mut(column)
            .and_then(|own| own.ids.as_mut());
        ids.map_or(Ok(()), |ids| ids.check_room(wanted))
    }
}

impl MadeUpColumn<'_> {
    /// So many new ids that are not among those of a sorted list.
    fn ids(
        &mut self,
        name: &str,
        wanted: u64,
        besides: &[Label],
    ) -> Result<Vec<Label>, IdentifierError> {
        let Some(ids) = &mut self.ids else {
            return Ok(Vec::new());
        };
        if besides.is_empty() {
            let end = self.next_id.saturating_add(wanted);
            let labels = ids.take(self.next_id..end)?;
            self.next_id = end;
            return Ok(labels);
        }
        let mut labels = Vec::new();
        let lacking = |labels: &[Label]| wanted - labels.len() as u64;
        while lacking(&labels) > 0 {
            let mut end = self.next_id.saturating_add(lacking(&labels));
            let mut made = ids.take(self.next_id..end);
            if let Err(IdentifierError::Capacity { available, .. }) = &made {
                end = u64::try_from(*available).unwrap_or(u64::MAX);
                if end <= self.next_id {
                    return Err(IdentifierError::Capacity {
                        origin: format!("column `{name}`"),
                        available: labels.len() as u128,
                        wanted,
                    });
                }
                made = ids.take(self.next_id..end);
            }
            let is_free = |label: &Label| besides.binary_search(label).is_err();
            labels.extend(made?.into_iter().filter(is_free));
            self.next_id = end;
        }
        Ok(labels)
    }

    /// The ids of these numbers, which rise.
    fn numbered_ids(&mut self, numbers: &[u64]) -> Result<Vec<Label>, IdentifierError> {
        let Some(ids) = &mut self.ids else {
            return Ok(Vec::new());
        };
        let mut labels = Vec::with_capacity(numbers.len());
        for run in numbers.chunk_by(|left, right| left + 1 == *right) {
            if let (Some(first), Some(last)) = (run.first(), run.last()) {
                labels.extend(ids.take(*first..last + 1)?);
            }
        }
        Ok(labels)
    }
}

impl Decoding<'_> {
    /// Made-up values of a column that is constant in each sequence, or the given ones.
    pub(super) fn per_sequence(
        &self,
        column: usize,
        sampled: &SampledSequences,
        made_up: &mut MadeUp<'_>,
    ) -> Result<Values, IdentifierError> {
        let first = made_up.next_sequence;
        let sequences = first..first + sampled.lengths.len();
        if let Some(given) = self.given.iter().find(|given| given.column == column) {
            let values = self.completed(given, sequences, made_up)?;
            return Ok(repeated(&values, &sampled.lengths));
        }
        let values = self.made_up(column, Cells::Sequences(sequences.collect()), &[], made_up)?;
        Ok(repeated(&values, &sampled.lengths))
    }

    /// Given values, and made-up ones for the sequences that have none.
    fn completed(
        &self,
        given: &GivenIdentifier,
        sequences: Range<usize>,
        made_up: &mut MadeUp<'_>,
    ) -> Result<Values, IdentifierError> {
        let places = sequences.clone().map(|at| self.request.place_of_given(at));
        let own = given.take(places);
        let (codes, mut labels) = (own.codes, own.labels);
        let first_new = u32::try_from(labels.len()).unwrap_or(MISSING_CODE);
        let open = sequences.zip(&codes).filter(|(_, code)| code.is_none());
        let open: Vec<usize> = open.map(|(sequence, _)| sequence).collect();
        let mut new = Vec::new();
        if !open.is_empty()
            && let Values::Labels {
                codes,
                labels: new_labels,
            } = self.made_up(given.column, Cells::Sequences(open), &given.labels, made_up)?
        {
            labels.extend(new_labels.iter().cloned());
            new = codes.to_vec();
        }
        let mut new = new.into_iter().map(|code| match code {
            MISSING_CODE => MISSING_CODE,
            code => first_new.saturating_add(code),
        });
        let codes = codes
            .into_iter()
            .map(|code| code.unwrap_or_else(|| new.next().unwrap_or(MISSING_CODE)));
        Ok(Values::Labels {
            codes: codes.collect(),
            labels: labels.into(),
        })
    }

    /// Made-up values among the rows.
    pub(super) fn per_row(
        &self,
        column: usize,
        sampled: &SampledSequences,
        made_up: &mut MadeUp<'_>,
    ) -> Result<Values, IdentifierError> {
        if self.spreads[column].is_constant {
            return self.per_sequence(column, sampled, made_up);
        }
        self.made_up(column, Cells::Rows(&sampled.lengths), &[], made_up)
    }

    /// Made-up values in the rows after those of `history`: a constant one goes on, others are new, and not among the
    /// given, which may have been made up by this very model.
    pub(super) fn made_up_after(
        &self,
        column: usize,
        sampled: &SampledSequences,
        history: &SequenceTable,
        made_up: &mut MadeUp<'_>,
    ) -> Result<Values, IdentifierError> {
        let Values::Labels { codes, labels } = &history.columns[column] else {
            return Ok(Values::Numbers(Vec::new().into()));
        };
        if self.spreads[column].is_constant {
            let last = history.offsets.iter().skip(1).map(|end| codes[end - 1]);
            return Ok(Values::Labels {
                codes: repeat(last, &sampled.lengths),
                labels: labels.clone(),
            });
        }
        self.made_up(column, Cells::Rows(&sampled.lengths), labels, made_up)
    }

    /// Made-up cells, some of them missing, without the values of a sorted list.
    fn made_up(
        &self,
        column: usize,
        cells: Cells<'_>,
        besides: &[Label],
        made_up: &mut MadeUp<'_>,
    ) -> Result<Values, IdentifierError> {
        let seed = self.request.seed;
        let (first, ids_per_sequence) = (made_up.next_sequence, made_up.ids_per_sequence);
        let own = &mut made_up.columns[column];
        let mut presence = cells.presence(self.spreads[column].presence(column, seed), first);
        let column_schema = &self.schema.columns[column];
        let labels = match (&self.personal[column], &self.identifiers[column]) {
            (Some(codec), _) => {
                let numbers = cells.numbers(first, ROWS, &presence);
                let storage = &column_schema.storage;
                codec.values(&numbers, column, seed, storage, besides, &mut own.seen)?
            }
            (None, Some(_)) => match (&cells, ids_per_sequence) {
                (Cells::Rows(lengths), Some(most)) => {
                    check_lengths(lengths, most, &column_schema.name)?;
                    own.numbered_ids(&cells.numbers(first, most, &presence))?
                }
                _ => {
                    let wanted = presence.iter().filter(|is_present| **is_present).count();
                    own.ids(&column_schema.name, wanted as u64, besides)?
                }
            },
            (None, None) => {
                presence.fill(false);
                Vec::new()
            }
        };
        Ok(one_each(labels, &presence))
    }

    /// Goes on towards a sequence as if those before had been made up, which are of the given lengths: past some of them
    /// at a call, and tells whether it is there.
    /// # Errors
    /// [`IdentifierError`] when there is no room for those before.
    pub(crate) fn skip_towards(
        &self,
        sequence: usize,
        lengths: &Lengths,
        made_up: &mut MadeUp<'_>,
    ) -> Result<bool, IdentifierError> {
        let makes_up = |column: &usize| self.schema.columns[*column].role == Role::SequenceKey;
        let has_personal_key = !self.personal_key_columns().is_empty();
        let columns: Vec<usize> = (0..self.schema.columns.len())
            .filter(|column| {
                self.personal[*column].is_some() || self.identifiers[*column].is_some()
            })
            .filter(|column| !(has_personal_key && makes_up(column)))
            .collect();
        let first = made_up.next_sequence;
        let end = sequence.min(first + SKIPPED).max(first);
        let of_one_row = SampledSequences::without_values(vec![1; end - first]);
        let own = (first..end).map(|sequence| lengths.of(sequence).unwrap_or(1));
        let of_own_rows = SampledSequences::without_values(own.collect());
        self.personal_keys(&of_one_row, made_up)?;
        for &column in &columns {
            self.skip(column, &of_one_row, &of_own_rows, made_up)?;
        }
        made_up.next_sequence = end;
        Ok(end >= sequence)
    }

    /// Goes on past some sequences in one column.
    fn skip(
        &self,
        column: usize,
        of_one_row: &SampledSequences,
        of_own_rows: &SampledSequences,
        made_up: &mut MadeUp<'_>,
    ) -> Result<(), IdentifierError> {
        let is_by_row = self.is_by_row(column);
        let is_given = self.given.iter().any(|given| given.column == column);
        match &self.personal[column] {
            Some(codec) if !codec.is_unique => return Ok(()),
            None if is_by_row && made_up.ids_per_sequence.is_some() => return Ok(()),
            None if self.spreads[column].missing_share == 0.0 && !is_given => {
                let skipped: usize = match is_by_row {
                    true => of_own_rows.lengths.iter().sum(),
                    false => of_own_rows.lengths.len(),
                };
                made_up.columns[column].next_id += skipped as u64;
                return Ok(());
            }
            Some(_) | None => {}
        }
        match is_by_row {
            true => self.per_row(column, of_own_rows, made_up)?,
            false => self.per_sequence(column, of_one_row, made_up)?,
        };
        Ok(())
    }

    /// Whether a made-up column has a value for each row.
    pub(crate) fn is_by_row(&self, column: usize) -> bool {
        self.schema.columns[column].role == Role::Sequential && !self.spreads[column].is_constant
    }
}

/// Which cells of a made-up column are wanted.
enum Cells<'s> {
    /// One of each of these sequences.
    Sequences(Vec<usize>),
    /// Every row of the next sequences, which have so many.
    Rows(&'s [usize]),
}

impl Cells<'_> {
    /// Which of them have a value; the first row is of sequence `first`.
    fn presence(&self, mut presence: Presence, first: usize) -> Vec<bool> {
        match self {
            Cells::Sequences(sequences) => sequences.iter().map(|&at| presence.next(at)).collect(),
            Cells::Rows(lengths) => {
                let rows = (first..).zip(*lengths);
                let rows = rows.flat_map(|(at, &length)| std::iter::repeat_n(at, length));
                rows.map(|at| presence.next(at)).collect()
            }
        }
    }

    /// The numbers of those that have one; each sequence has so many for its rows.
    fn numbers(&self, first: usize, rows_per_sequence: u64, presence: &[bool]) -> Vec<u64> {
        let present = |numbers: &mut dyn Iterator<Item = u64>| {
            let cells = numbers.zip(presence);
            let present = cells.filter(|(_, is_present)| **is_present);
            present.map(|(number, _)| number).collect()
        };
        match self {
            Cells::Sequences(sequences) => present(&mut sequences.iter().map(|&at| at as u64)),
            Cells::Rows(lengths) => {
                let rows = (first as u64..).zip(*lengths);
                present(&mut rows.flat_map(|(at, &length)| {
                    let start = at.wrapping_mul(rows_per_sequence);
                    (0..length as u64).map(move |row| start.wrapping_add(row))
                }))
            }
        }
    }
}

/// Refuses sequences with more rows than there are numbers for each.
fn check_lengths(lengths: &[usize], most: u64, column: &str) -> Result<(), IdentifierError> {
    let longest = lengths.iter().copied().max().unwrap_or(0) as u64;
    match longest > most {
        true => Err(IdentifierError::Capacity {
            origin: format!("a sequence's rows in column `{column}`"),
            available: most.into(),
            wanted: longest,
        }),
        false => Ok(()),
    }
}

/// A column of these labels, one for each cell that is present.
pub(super) fn one_each(labels: Vec<Label>, presence: &[bool]) -> Values {
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
        labels: labels.into(),
    }
}
