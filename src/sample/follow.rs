//! Several candidates of each sequence on their way through given rows, some cells or a part of the context drawn.
//! In: a chunk whose contexts are drawn, candidates side by side. Out: one candidate a sequence, and what it drew.
//!
//! A particle filter (Gordon et al. 1993): each candidate draws what is missing given all that stands before it, and
//! weighs as much as it makes the known cells likely. Candidates of little weight give way to copies of others while
//! there is still something to draw; at the last row one is chosen by weight. So what is drawn depends on the known
//! cells after it too, to within what the number of candidates can tell apart.

use super::draw::draw_weighted;
use super::given::GivenRows;
use super::sequences::DecidedValue;
use super::walk::Walk;
use super::{Chunk, SampleError};
use crate::model::long;
use crate::model::sequence::LstmState;
use crate::rng::uniform;
use rand::rngs::ChaCha12Rng;
use tch::Tensor;

/// Candidates are thinned out when fewer than this share of them carry the weight.
const LEAST_EFFECTIVE_SHARE: f64 = 0.5;

/// A drawn value of a given row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FilledCell {
    /// Position in the layout's rows.
    pub(crate) column: usize,
    /// Of all given rows.
    pub(crate) row: usize,
    pub(crate) cell: DecidedValue,
}

/// The chosen candidate of each sequence of a chunk, after its last given row.
pub(super) struct Followed {
    /// One a sequence, in order.
    pub(super) walks: Vec<Walk>,
    /// `[sequences, CONTEXT_WIDTH]`
    pub(super) contexts: Tensor,
    pub(super) state: LstmState,
    /// What each drew.
    pub(super) filled: Vec<Vec<FilledCell>>,
}

/// What the candidates of a sequence drew, and which of them come from which.
#[derive(Default)]
struct Genealogy {
    events: Vec<Event>,
}

enum Event {
    /// Cells of a row, by candidate.
    Drawn(Vec<Vec<FilledCell>>),
    /// The candidate that each continues.
    Thinned(Vec<usize>),
}

impl Genealogy {
    /// What led to a candidate, in order.
    fn drawn_by(self, mut candidate: usize) -> Vec<FilledCell> {
        let mut cells = Vec::new();
        for event in self.events.into_iter().rev() {
            match event {
                Event::Drawn(mut of_candidates) => {
                    cells.extend(of_candidates.swap_remove(candidate).into_iter().rev());
                }
                Event::Thinned(parents) => candidate = parents[candidate],
            }
        }
        cells.reverse();
        cells
    }
}

impl Chunk<'_> {
    /// Takes all candidates through the given rows and keeps one of each sequence.
    /// # Shapes
    /// `contexts` `[candidates of all sequences, CONTEXT_WIDTH]`
    pub(super) fn follow(
        &mut self,
        given: &GivenRows,
        contexts: &Tensor,
    ) -> Result<Followed, SampleError> {
        let device = self.networks.device;
        let candidates = self.request.followed();
        let sequences = self.sequences() / candidates;
        let (mut walks, mut state) = self.set_out(given, contexts)?;
        let mut context = contexts.shallow_clone();
        let last_unknown: Vec<Option<usize>> = (0..sequences)
            .map(|sequence| {
                let rows = self.given_rows(sequence * candidates);
                given.unknown_rows(rows).next_back()
            })
            .collect();
        let mut histories: Vec<Genealogy> = Vec::new();
        histories.resize_with(sequences, Genealogy::default);
        let mut ended: Vec<(usize, Walk)> = Vec::new();
        let mut ended_states: Vec<(LstmState, Tensor)> = Vec::new();
        let mut filled: Vec<Vec<FilledCell>> = vec![Vec::new(); sequences];
        loop {
            if self.request.is_cancelled() {
                return Err(SampleError::Cancelled);
            }
            let (mut going, mut kept, mut chosen) = (Vec::new(), Vec::new(), Vec::new());
            let before = walks.len();
            let mut rest = walks.into_iter();
            for first in (0..before).step_by(candidates) {
                let mut own: Vec<Walk> = rest.by_ref().take(candidates).collect();
                let sequence = own[0].row / candidates;
                let generator = &mut self.generators[sequence * candidates];
                let history = &mut histories[sequence];
                let drawn = own.iter_mut().map(take_filled).collect::<Vec<_>>();
                if drawn.iter().any(|cells| !cells.is_empty()) {
                    history.events.push(Event::Drawn(drawn));
                }
                if own[0].given_row().is_none() {
                    let candidate = draw_weighted(&weights(&own), generator);
                    filled[sequence] = std::mem::take(history).drawn_by(candidate);
                    chosen.push(long(first + candidate));
                    ended.push((sequence, own.swap_remove(candidate)));
                    continue;
                }
                let place = own[0].given.start + own[0].rows;
                let has_more = last_unknown[sequence].is_some_and(|last| place <= last);
                match thinned(&weights(&own), generator).filter(|_| has_more) {
                    Some(parents) => {
                        kept.extend(parents.iter().map(|&parent| long(first + parent)));
                        going.extend(parents.iter().zip(&own).map(|(&parent, slot)| Walk {
                            row: slot.row,
                            nats: 0.0,
                            ..own[parent].clone()
                        }));
                        history.events.push(Event::Thinned(parents));
                    }
                    None => {
                        // Of a row that none can fill by the rules, nothing speaks for one of them.
                        if own.iter().all(|walk| walk.nats == f64::NEG_INFINITY) {
                            own.iter_mut().for_each(|walk| walk.nats = 0.0);
                        }
                        kept.extend((first..first + candidates).map(long));
                        going.extend(own);
                    }
                }
            }
            walks = going;
            if !chosen.is_empty() {
                let chosen = Tensor::f_from_slice(&chosen)?.f_to_device(device)?;
                ended_states.push((state.keep(&chosen)?, context.f_index_select(0, &chosen)?));
            }
            if walks.is_empty() {
                break;
            }
            if kept.iter().copied().ne((0..before).map(long)) {
                let kept = Tensor::f_from_slice(&kept)?.f_to_device(device)?;
                state = state.keep(&kept)?;
                context = context.f_index_select(0, &kept)?;
            }
            state = self.draw_row(&mut walks, &context, &state)?;
        }
        let mut order: Vec<usize> = (0..ended.len()).collect();
        order.sort_by_key(|&at| ended[at].0);
        let order: Vec<i64> = order.into_iter().map(long).collect();
        let order = Tensor::f_from_slice(&order)?.f_to_device(device)?;
        ended.sort_by_key(|(sequence, _)| *sequence);
        let (states, contexts): (Vec<_>, Vec<_>) = ended_states.into_iter().unzip();
        Ok(Followed {
            walks: ended.into_iter().map(|(_, walk)| walk).collect(),
            contexts: Tensor::f_cat(&contexts, 0)?.f_index_select(0, &order)?,
            state: LstmState::side_by_side(&states)?.keep(&order)?,
            filled,
        })
    }

    /// All candidates where something is first drawn of their sequence: up to there they are one, and read as one.
    fn set_out(
        &self,
        given: &GivenRows,
        contexts: &Tensor,
    ) -> Result<(Vec<Walk>, LstmState), SampleError> {
        let device = self.networks.device;
        let candidates = self.request.followed();
        let firsts: Vec<usize> = (0..self.sequences()).step_by(candidates).collect();
        let mut readers: Vec<Walk> = firsts
            .iter()
            .map(|&row| {
                let mut walk = self.walk(row)?;
                walk.given.end = match self.is_drawn[row] {
                    true => walk.given.start,
                    false => {
                        let first_unknown = given.unknown_rows(walk.given.clone()).next();
                        first_unknown.unwrap_or(walk.given.end)
                    }
                };
                Ok(walk)
            })
            .collect::<Result<_, SampleError>>()?;
        let places: Vec<i64> = firsts.iter().copied().map(long).collect();
        let places = Tensor::f_from_slice(&places)?.f_to_device(device)?;
        let state = self.read(given, &mut readers, &contexts.f_index_select(0, &places)?)?;
        let repeated: Vec<i64> = (0..self.sequences())
            .map(|row| long(row / candidates))
            .collect();
        let state = state.keep(&Tensor::f_from_slice(&repeated)?.f_to_device(device)?)?;
        let walks = (0..self.sequences()).map(|row| {
            let walk = self.walk(row)?;
            let reader = &readers[row / candidates];
            Ok(Walk {
                history: reader.history.clone(),
                number: if reader.rows > 0 {
                    reader.number
                } else {
                    walk.number
                },
                rows: reader.rows,
                // Where rows were read, nothing of the context was drawn.
                cells: if reader.rows > 0 {
                    reader.cells.clone()
                } else {
                    walk.cells.clone()
                },
                ..walk
            })
        });
        Ok((walks.collect::<Result<_, SampleError>>()?, state))
    }
}

fn take_filled(walk: &mut Walk) -> Vec<FilledCell> {
    let cells = std::mem::take(&mut walk.filled).into_iter();
    cells
        .map(|(column, row, cell)| FilledCell { column, row, cell })
        .collect()
}

/// The weight of each candidate, 1 for the heaviest; of those that are no more likely than others, 1 for all.
fn weights(candidates: &[Walk]) -> Vec<f64> {
    let nats = || candidates.iter().map(|walk| walk.nats);
    let most = nats().fold(f64::NEG_INFINITY, f64::max);
    if !most.is_finite() {
        return vec![1.0; candidates.len()];
    }
    nats().map(|nats| (nats - most).exp()).collect()
}

/// Which candidates to go on with, in place of all, where few of them carry the weight: systematic resampling
/// (Kitagawa 1996).
fn thinned(weights: &[f64], generator: &mut ChaCha12Rng) -> Option<Vec<usize>> {
    let count = weights.len() as f64;
    let total: f64 = weights.iter().sum();
    let squares: f64 = weights.iter().map(|weight| weight * weight).sum();
    if total * total >= LEAST_EFFECTIVE_SHARE * count * squares {
        return None;
    }
    let step = total / count;
    let mut mark = uniform(generator) * step;
    let (mut parents, mut below, mut parent) = (Vec::with_capacity(weights.len()), weights[0], 0);
    for _ in 0..weights.len() {
        while below < mark && parent + 1 < weights.len() {
            parent += 1;
            below += weights[parent];
        }
        parents.push(parent);
        mark += step;
    }
    Some(parents)
}

#[cfg(test)]
mod tests;
