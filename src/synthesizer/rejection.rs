//! Custom constraints: sequences that a user's closure refuses are drawn again.
//! In: sampled sequences. Out: a frame of as many that are all accepted, or an error after so many tries.

use super::ParSynthesizer;
use crate::constraint::ConstraintError;
use crate::decode::Decoding;
use crate::error::Result;
use crate::rng::Seed;
use crate::sample::{GivenColumn, Request, SampledSequences};
use crate::sampling::{CustomConstraint, SampleOptions};
use polars::frame::DataFrame;

/// Draws of each sequence unless the options say otherwise.
const MAX_TRIES: usize = 100;

impl ParSynthesizer {
    /// Draws refused sequences again, each with its own given context, until all are accepted.
    pub(super) fn until_accepted(
        &self,
        mut sampled: SampledSequences,
        request: &Request,
        options: &SampleOptions,
        decoding: &Decoding,
        threads: usize,
    ) -> Result<DataFrame> {
        let tries = options.max_tries.unwrap_or(MAX_TRIES);
        let mut pending: Vec<usize> = (0..sampled.lengths.len()).collect();
        let seed = Seed::new(Some(request.seed));
        for attempt in 1_u32.. {
            let frame = self.schema.to_frame(decoding.columns(&sampled)?)?;
            let refused = refused(
                &frame,
                &sampled.lengths,
                &pending,
                &options.custom_constraints,
            );
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
                given: request
                    .given
                    .iter()
                    .map(|given| given.as_ref().map(|given| picked(given, &pending)))
                    .collect(),
                ..request.clone()
            };
            let counted = SampleOptions::sequences(pending.len());
            let drawn = self.sample_chunks(&again, &counted, Some(pending.len()), threads)?;
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

fn picked(given: &GivenColumn, sequences: &[usize]) -> GivenColumn {
    match given {
        GivenColumn::Classes(classes) => {
            GivenColumn::Classes(sequences.iter().map(|&at| classes[at]).collect())
        }
        GivenColumn::Numbers(numbers) => {
            GivenColumn::Numbers(sequences.iter().map(|&at| numbers[at]).collect())
        }
    }
}
