//! Where the made-up columns of a table begin that is sampled whole or in a range of its sequences.
//! In: a request and how much of it. Out: their state before the first sequence, or why a range cannot be made apart.

use super::ParSynthesizer;
use super::stream::Amount;
use crate::decode::{Decoding, GivenIdentifiers, MadeUp};
use crate::error::{Error, Result};
use crate::params::OptionError;
use crate::sample::Request;
use crate::sampling::Lengths;
use std::ops::Range;

impl ParSynthesizer {
    /// The made-up columns before the first sequence asked for.
    pub(super) fn made_up(
        &self,
        request: &Request,
        given: &GivenIdentifiers,
        amount: &Amount,
    ) -> Result<MadeUp<'_>> {
        let mut made_up = MadeUp::new(&self.schema, &self.identifiers, request.seed);
        let decoding = self.decoding(given, request);
        let (sequences, rows) = (amount.sequences, amount.rows.or(amount.row_limit));
        if let (Some(sequences), None) = (sequences, rows) {
            self.check_room(&decoding, sequences, &mut made_up)?;
        }
        if let Some(range) = &amount.range {
            self.check_key(range, &decoding)?;
            if request.lengths == Lengths::Drawn {
                let sequences = sequences.unwrap_or(range.end);
                self.number_rows_apart(range, sequences, &decoding, &mut made_up)?;
            }
            while !decoding.skip_towards(range.start, &request.lengths, &mut made_up)? {
                if request.is_cancelled() {
                    return Err(Error::Cancelled);
                }
            }
        }
        Ok(made_up)
    }

    /// Refuses more ids than there is room for before any is made, where each sequence has one.
    fn check_room(
        &self,
        decoding: &Decoding<'_>,
        sequences: usize,
        made_up: &mut MadeUp<'_>,
    ) -> Result<()> {
        let is_given = |column: usize| decoding.given.iter().any(|given| given.column == column);
        for column in 0..self.schema.columns.len() {
            let is_full = self.spreads[column].missing_share == 0.0;
            if is_full && !decoding.is_by_row(column) && !is_given(column) {
                made_up.check_room(column, sequences as u64)?;
            }
        }
        Ok(())
    }

    /// Refuses a key that hangs on the values drawn for all sequences before.
    fn check_key(&self, range: &Range<usize>, decoding: &Decoding<'_>) -> Result<()> {
        match decoding.drawn_key_columns().first() {
            Some(&column) if range.start > 0 => Err(refusal(
                range,
                format!(
                    "of key `{}`, whose personal values differ where `{}` is the same",
                    self.schema.key_names(),
                    self.schema.columns[column].name
                ),
                "a start of 0, or a key that holds an id".to_owned(),
            )
            .into()),
            Some(_) | None => Ok(()),
        }
    }

    /// Numbers the ids of rows by sequence and row, since no one knows how many rows come before a sequence.
    fn number_rows_apart(
        &self,
        range: &Range<usize>,
        sequences: usize,
        decoding: &Decoding<'_>,
        made_up: &mut MadeUp<'_>,
    ) -> Result<()> {
        let longest = self.layout.longest.max(1) as u64;
        made_up.number_rows_apart(longest);
        let by_row = (0..self.schema.columns.len()).filter(|&column| decoding.is_by_row(column));
        for column in by_row {
            let name = &self.schema.columns[column].name;
            if let Some(codec) = &self.personal[column] {
                if codec.is_unique {
                    let found = format!(
                        "with drawn lengths and `{name}`, which must differ from row to row"
                    );
                    let wanted = "SampleOptions::length(n) or lengths(..) beside it: which values are used up hangs on all rows before";
                    return Err(refusal(range, found, wanted.to_owned()).into());
                }
                continue;
            }
            let wanted = (sequences as u64).saturating_mul(longest);
            if let Err(error) = made_up.check_room(column, wanted) {
                let found = format!(
                    "with drawn lengths and ids `{name}` in each row, of which {sequences} sequences need {longest} numbers each"
                );
                let wanted = format!(
                    "SampleOptions::length(n) or lengths(..) beside it, or an id with more room: {error}"
                );
                return Err(refusal(range, found, wanted).into());
            }
        }
        Ok(())
    }
}

fn refusal(range: &Range<usize>, found: String, wanted: String) -> OptionError {
    OptionError {
        option: "sequence_range",
        found: format!("{}..{} {found}", range.start, range.end),
        wanted,
    }
}
