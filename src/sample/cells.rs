//! One column of a row, for all sequences in work at once.
//! In: what the column's heads say, and what rules and given rows leave. Out: a value for each walk, which takes it in.

use super::draw::Draws;
use super::walk::Walk;
use super::{Chunk, DecidedValue, given, small};
use crate::codec::calendar::IndexCodec;
use crate::codec::number::NumberCodec;
use crate::constraint::{self, Allowed, NumberSet, Place};
use crate::encode::skip_score;
use crate::history::NO_NUMBER;
use crate::layout::{CURRENT_FEATURES, NumberColumn, Reference, RowKind, next_index};
use crate::model::ModelError;
use crate::model::sequence::Step;
use rand::rngs::ChaCha12Rng;

/// Draws of a number before those seen in training are gone through, from the smallest to the largest.
const MOST_OPEN_DRAWS: usize = 64;
/// Draws of a gap before the usual ones are tried.
const MOST_GAP_DRAWS: usize = 64;

impl Chunk<'_> {
    pub(super) fn draw_category(
        &mut self,
        walks: &mut [Walk],
        column: usize,
        slot: usize,
        output: &Draws,
    ) -> Vec<u32> {
        let (hidden, missing) = match &self.layout.rows[column].kind {
            RowKind::Category(codec) => (codec.hidden_class(), codec.missing_class()),
            RowKind::Number(_) => (None, None),
        };
        let request = self.request;
        let mut classes = Vec::with_capacity(walks.len());
        for (at, walk) in walks.iter_mut().enumerate() {
            let generator = &mut self.generators[walk.row];
            // A cell that is filled must not be missing again.
            let banned = [hidden, missing.filter(|_| walk.given_row().is_some())];
            let known = walk.given_class(request, column);
            let class = known.unwrap_or_else(|| {
                let allowed = walk.allowed(self.rules, column);
                let is_possible = |class: usize| !banned.contains(&Some(class));
                let is_allowed = |class: usize| allowed.has_class(class) && is_possible(class);
                let drawn = output.class(at, is_allowed, generator);
                small(drawn.unwrap_or_else(|| {
                    if allowed != Allowed::Anything {
                        walk.stop(Place::Row(column));
                    }
                    // The only class there is stands for all that are banned.
                    let drawn = output.class(at, is_possible, generator);
                    drawn.unwrap_or(0)
                }))
            });
            walk.show(column, DecidedValue::Class(class));
            classes.push(class);
            if walk.is_over {
                continue;
            }
            if request.compares() {
                walk.row_nats += match known.is_some() || walk.given_row().is_none() {
                    true => output.output.class_nats(at, class as usize),
                    false => output.output.allowed_nats(at, banned),
                };
            }
            walk.history.absorb_category(slot, class);
            walk.keep(column, DecidedValue::Class(class), known.is_some());
        }
        classes
    }

    /// Draws a number column and returns its current-row features, row after row.
    #[allow(
        clippy::too_many_arguments,
        reason = "one column's parts, used in one place"
    )]
    pub(super) fn draw_number(
        &mut self,
        walks: &mut [Walk],
        column: usize,
        slot: usize,
        number: &NumberColumn,
        outputs: &NumberOutputs,
        is_gap: bool,
    ) -> Vec<f32> {
        let index_decimals = if is_gap {
            self.layout.index_decimals()
        } else {
            None
        };
        let index = self.layout.index.as_ref();
        let median_gap = index.map_or(0.0, |index| index.median_gap);
        let least_gap = index.map_or(1.0, IndexCodec::least_gap);
        // Gaps stay within what was seen whatever the user says, or time would run backwards.
        let within_range = is_gap || self.request.within_range;
        let request = self.request;
        let mut features = Vec::with_capacity(walks.len() * CURRENT_FEATURES);
        for (at, walk) in walks.iter_mut().enumerate() {
            let last = walk.history.last(slot);
            let generator = &mut self.generators[walk.row];
            // A cell that is filled must not be missing again.
            let is_filled = walk.given_row().is_some();
            let known = walk.given_number(request, column);
            let mut draw = || {
                let drawn = outputs.draw(at, number, last, is_filled, within_range, generator);
                // A step from a given value near the largest float would leave all floats.
                let restored = number.whole.restore(drawn, within_range);
                restored.clamp(f64::MIN, f64::MAX)
            };
            // The first row has no gap.
            let is_absent = is_gap && walk.rows == 0;
            let decimals = index_decimals.filter(|_| walk.is_on_grid);
            let from = walk.reference(self.rules, column);
            let told = self.layout.rows[column].reference.as_ref().zip(from);
            let drawn = if is_absent {
                Some(f64::NAN)
            } else if known.is_some() {
                known
            } else if is_gap {
                let allowed = walk.allowed(self.rules, column);
                let index = self.layout.index.as_ref();
                let is_allowed = |gap: f64| match (&allowed, index) {
                    (Allowed::Numbers(set), Some(index)) => {
                        set.contains(index.value(next_index(walk.number, gap, decimals)))
                    }
                    _ => true,
                };
                let draw = || {
                    if walk.is_at_last_given() {
                        given::rising_gap(walk.number, decimals, [median_gap, least_gap], &mut draw)
                    } else {
                        draw()
                    }
                };
                gap_among(draw, is_allowed, &[number.whole.low, median_gap, least_gap])
            } else {
                let (rules, codec) = (self.rules, &number.whole);
                let written = |value: f64| rules.written(Place::Row(column), value);
                let allowed = walk.allowed(rules, column);
                let draw_among =
                    || drawn_among(&mut draw, &allowed, told, codec, within_range, written);
                let cells = walk.cells.as_ref().filter(|_| is_filled);
                let is_open = |value: f64| {
                    cells.is_none_or(|cells| {
                        let (place, moment) = (Place::Row(column), walk.moment());
                        rules.leaves_inputs_free(place, value, cells, moment)
                    })
                };
                let among = open_draw(draw_among, is_open, &allowed, codec);
                if among.is_none() && walk.given_row().is_some() {
                    walk.stop(Place::Row(column));
                    let anything = &Allowed::Anything;
                    drawn_among(draw, anything, told, codec, within_range, written)
                } else {
                    among
                }
            };
            if drawn.is_none() {
                walk.stop(Place::Row(column));
            }
            let written_value = drawn.unwrap_or(f64::NAN);
            let value = match told {
                Some((_, from)) => Reference::distance(from, written_value),
                None => written_value,
            };
            features.extend_from_slice(&match is_absent {
                true => NO_NUMBER,
                false => walk.history.absorb_number(slot, value, &number.scale),
            });
            if request.compares() && !is_absent {
                walk.row_nats += match known.is_some() || !is_filled {
                    true => outputs.nats(at, number, value, last),
                    false => outputs.present_nats(at, number, last),
                };
            }
            if let Some(index) = walk.given_index(request).filter(|_| is_gap) {
                walk.number = index;
            } else if is_gap && !is_absent && !walk.is_over {
                let next = next_index(walk.number, value, decimals);
                walk.is_over = self.layout.index.as_ref().is_some_and(|index| {
                    let past_table = walk.stops_at_end
                        && walk.rows >= walk.least_rows
                        && index.is_past_end(next);
                    past_table
                        || (!request.decides_length()
                            && index.value(next) > self.request.last_index)
                });
                if !walk.is_over {
                    walk.number = next;
                }
            }
            let cell = match (is_gap, &self.layout.index) {
                (true, Some(index)) => constraint::Cell::Number(index.value(walk.number)),
                _ => constraint::Cell::number(written_value),
            };
            walk.show(column, cell);
            if !walk.is_over {
                walk.keep(column, DecidedValue::Number(written_value), known.is_some());
            }
        }
        features
    }
}

/// What the value head and the change head of a number column say; a head that no row needs is not computed.
pub(super) struct NumberOutputs {
    pub(super) value: Option<Draws>,
    pub(super) change: Option<Draws>,
}

impl NumberOutputs {
    pub(super) fn new(
        step: &mut Step<'_>,
        head: usize,
        walks: &[Walk],
        slot: usize,
        number: &NumberColumn,
        is_skip_of_scale: bool,
        temperature: f64,
    ) -> Result<NumberOutputs, ModelError> {
        let by_change = |walk: &Walk| number.change.is_some() && !walk.history.last(slot).is_nan();
        let mut outputs = NumberOutputs {
            value: None,
            change: None,
        };
        if walks.iter().any(|walk| !by_change(walk)) {
            let skip: Vec<f32> = match &number.change {
                Some(_) => vec![0.0; walks.len()],
                None if is_skip_of_scale => {
                    let score = |walk: &Walk| walk.history.score_of_last(slot);
                    walks.iter().map(score).collect()
                }
                None => {
                    let score = |walk: &Walk| skip_score(number.value(), walk.history.last(slot));
                    walks.iter().map(score).collect()
                }
            };
            outputs.value = Some(Draws::new(step.output(head, &skip)?, temperature));
        }
        if let Some(change) = &number.change
            && walks.iter().any(by_change)
        {
            let skip: Vec<f32> = walks
                .iter()
                .map(|walk| skip_score(&change.step, walk.history.last_change(slot)))
                .collect();
            outputs.change = Some(Draws::new(step.output(head + 1, &skip)?, temperature));
        }
        Ok(outputs)
    }

    fn draw(
        &self,
        row: usize,
        number: &NumberColumn,
        last: f64,
        is_filled: bool,
        within_range: bool,
        generator: &mut ChaCha12Rng,
    ) -> f64 {
        match (&number.change, &self.change, &self.value) {
            (Some(change), Some(output), _) if !last.is_nan() => {
                last + output.number(row, &change.step, f64::NAN, is_filled, true, generator)
            }
            (_, _, Some(output)) => output.number(
                row,
                number.value(),
                last,
                is_filled,
                within_range,
                generator,
            ),
            _ => f64::NAN,
        }
    }
}

/// A value that the rules allow. `draw` gives values, or distances where the column is `told` by its distance from a
/// reference.
fn drawn_among(
    mut draw: impl FnMut() -> f64,
    allowed: &Allowed,
    told: Option<(&Reference, f64)>,
    codec: &NumberCodec,
    within_range: bool,
    written: impl Fn(f64) -> f64,
) -> Option<f64> {
    match (allowed, told) {
        (Allowed::Exactly(value), _) => Some(*value),
        (Allowed::Anything | Allowed::Classes(_), None) => Some(written(draw())),
        (Allowed::Numbers(set), None) => {
            let snap = |value: f64| written(codec.restore(value, false));
            set.draw(|| written(draw()), snap, codec.resolution())
        }
        (allowed, Some((reference, from))) => {
            let mut set = match allowed {
                Allowed::Numbers(set) => set.clone(),
                _ => NumberSet::all(),
            };
            if let Some((low, high)) = reference.range.filter(|_| within_range) {
                set = set.within(low, high);
            }
            let value = || written(reference.value(from, draw()));
            let snap = |value: f64| written(reference.round(value));
            set.draw(value, snap, reference.resolution())
        }
    }
}

/// A drawn value that leaves the inputs drawn after it a value; of those seen in training, where no draw does.
pub(super) fn open_draw(
    mut draw: impl FnMut() -> Option<f64>,
    is_open: impl Fn(f64) -> bool,
    allowed: &Allowed,
    codec: &NumberCodec,
) -> Option<f64> {
    let first = draw()?;
    if is_open(first) {
        return Some(first);
    }
    let shares = (0..=MOST_OPEN_DRAWS).map(|at| at as f64 / MOST_OPEN_DRAWS as f64);
    let seen =
        shares.map(|share| codec.restore(codec.low + share * (codec.high - codec.low), true));
    let seen = seen.filter(|&value| allowed.contains(constraint::Cell::number(value)));
    let drawn = (0..MOST_OPEN_DRAWS).map_while(|_| draw());
    drawn
        .chain(seen)
        .find(|&value| is_open(value))
        .or(Some(first))
}

/// A gap that the rules allow: drawn until one is, else the first allowed of the usual ones.
fn gap_among(
    mut draw: impl FnMut() -> f64,
    is_allowed: impl Fn(f64) -> bool,
    usual: &[f64],
) -> Option<f64> {
    (0..MOST_GAP_DRAWS)
        .map(|_| draw())
        .find(|&gap| is_allowed(gap))
        .or_else(|| usual.iter().copied().find(|&gap| is_allowed(gap)))
}
