//! Custom constraints: sequences that a user's closure refuses are drawn again.
//! In: the sampled sequences of a chunk. Out: those that are to be drawn again, or an error after so many tries.

use super::stream::SequenceStream;
use crate::constraint::ConstraintError;
use crate::decode::MadeUp;
use crate::error::Result;
use crate::sample::SampledSequences;
use crate::sampling::CustomConstraint;
use polars::frame::DataFrame;

/// The rules of a user's own, and how often a sequence is drawn for their sake.
#[derive(Debug, Default)]
pub(super) struct CustomConstraints {
    pub(super) constraints: Vec<CustomConstraint>,
    pub(super) tries: usize,
}

impl CustomConstraints {
    pub(super) fn is_empty(&self) -> bool {
        self.constraints.is_empty()
    }
}

impl SequenceStream<'_> {
    /// Which sequences of a chunk are to be drawn again, by number, after so many refusals; only those at `places` can
    /// be. The chunk begins with sequence `first`.
    pub(super) fn refused_among(
        &self,
        sampled: &SampledSequences,
        places: &[usize],
        first: usize,
        refusals: u32,
    ) -> Result<Vec<usize>> {
        let (synthesizer, request) = (self.synthesizer, &self.request);
        // Ids and keys are placeholders: the final ones depend on what becomes of the chunks before.
        let mut made_up = MadeUp::new(&synthesizer.schema, &synthesizer.identifiers, request.seed);
        made_up.start_at(first);
        let decoding = synthesizer.decoding(&self.given, request);
        let columns = decoding.columns(sampled, &mut made_up)?;
        let frame = synthesizer.schema.to_frame(columns)?;
        let custom = &self.custom;
        let refused = refused(&frame, &sampled.lengths, places, &custom.constraints);
        match refused.first() {
            Some(&(place, constraint)) if refusals as usize + 1 >= custom.tries => {
                Err(ConstraintError::Refused {
                    constraint: constraint.to_owned(),
                    refused: refused.len(),
                    sequences: sampled.lengths.len(),
                    tries: custom.tries,
                    sequence: first + place,
                }
                .into())
            }
            _ => Ok(refused.iter().map(|(place, _)| first + place).collect()),
        }
    }
}

/// The sequences among `pending` that a constraint refuses, with its name.
fn refused<'c>(
    frame: &DataFrame,
    lengths: &[usize],
    pending: &[usize],
    constraints: &'c [CustomConstraint],
) -> Vec<(usize, &'c str)> {
    let mut starts = Vec::with_capacity(lengths.len());
    let mut start = 0_i64;
    for &length in lengths {
        starts.push(start);
        start = start.saturating_add(i64::try_from(length).unwrap_or(i64::MAX));
    }
    let refusing = |&sequence: &usize| {
        let rows = frame.slice(starts[sequence], lengths[sequence]);
        let constraint = constraints.iter().find(|custom| !(custom.keeps)(&rows))?;
        Some((sequence, constraint.name.as_str()))
    };
    pending.iter().filter_map(refusing).collect()
}
