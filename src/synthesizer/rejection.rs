//! Custom constraints: sequences that a user's closure refuses are drawn again.
//! In: sampled sequences. Out: a frame of as many that are all accepted, or an error after so many tries.

use super::ParSynthesizer;
use super::chunks::Amount;
use crate::constraint::ConstraintError;
use crate::decode::Decoding;
use crate::error::Result;
use crate::rng::Seed;
use crate::sample::{Request, SampledSequences};
use crate::sampling::CustomConstraint;
use polars::frame::DataFrame;

impl ParSynthesizer {
    /// Draws refused sequences again, each with its own given context, until all are accepted.
    pub(super) fn until_accepted(
        &self,
        mut sampled: SampledSequences,
        request: &Request,
        constraints: &[CustomConstraint],
        tries: usize,
        decoding: &Decoding,
        threads: usize,
    ) -> Result<DataFrame> {
        let mut pending: Vec<usize> = (0..sampled.lengths.len()).collect();
        let seed = Seed::new(Some(request.seed));
        for attempt in 1_u32.. {
            let frame = self.schema.to_frame(decoding.columns(&sampled)?)?;
            let refused = refused(&frame, &sampled.lengths, &pending, constraints);
            let Some(&(sequence, constraint)) = refused.first() else {
                return Ok(frame);
            };
            if attempt as usize >= tries {
                return Err(ConstraintError::Refused {
                    constraint: constraint.to_owned(),
                    refused: refused.len(),
                    sequences: sampled.lengths.len(),
                    tries,
                    sequence,
                }
                .into());
            }
            pending = refused.into_iter().map(|(sequence, _)| sequence).collect();
            let again = Request {
                seed: seed.after_refusals(attempt.into()),
                ..request.of_sequences(&pending)
            };
            let amount = Amount {
                sequences: Some(pending.len()),
                ..Amount::default()
            };
            let drawn = self.sampled(&again, amount, threads, None)?;
            sampled = sampled.replaced(&pending, drawn);
        }
        Ok(self.schema.to_frame(decoding.columns(&sampled)?)?)
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
