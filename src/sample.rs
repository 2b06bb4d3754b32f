//! The sampling engine: fixed chunks of sequences, each sequence with a random stream of its own, shared out to
//! worker threads.
//! In: the networks, the layout and a [`Request`]. Out: [`SampledSequences`] or [`FilledSequences`], decided values in
//! the columns' own units, chunk by chunk in order.
//!
//! A chunk is computed by one thread with one libtorch thread, so its numbers do not depend on how many there are.

mod context;
mod draw;
mod fill;
mod follow;
mod given;
mod likelihood;
mod sequences;
mod walk;

pub(crate) use fill::{FilledSequences, fill_chunk};
pub(crate) use given::{GivenRows, Goal};
pub(crate) use sequences::{Decided, DecidedValue, SampledSequences};
use walk::{RowBuffer, Walk};

use crate::cancel::CancelToken;
use crate::codec::calendar::IndexCodec;
use crate::codec::number::NumberCodec;
use crate::constraint::{self, Allowed, Cells, NumberSet, Place, Rules};
use crate::encode::skip_score;
use crate::history::NO_NUMBER;
use crate::layout::{
    CONTEXT_FEATURES, CURRENT_FEATURES, Layout, NumberColumn, Reference, RowColumn, RowKind,
    RowSource, next_index,
};
use crate::model::context::ContextNetwork;
use crate::model::decoder::HeadOutput;
use crate::model::dropout::Mode;
use crate::model::inputs::{class_tensor, float_tensor};
use crate::model::sequence::{LstmState, SequenceNetwork, Slot};
use crate::model::{ModelError, long};
use crate::rng::{Purpose, Seed};
use crate::sampling::Lengths;
use rand::rngs::ChaCha12Rng;
use tch::{Device, Kind, Tensor};

/// Sequences in work at once in a chunk, candidates among them.
const CHUNK: usize = 512;
/// Draws of a number before those seen in training are gone through, from the smallest to the largest.
const MOST_OPEN_DRAWS: usize = 64;
/// Draws of a gap before the usual ones are tried.
const MOST_GAP_DRAWS: usize = 64;

/// What to sample, for all chunks.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) seed: u64,
    pub(crate) lengths: Lengths,
    /// Sequences drawn for each that is kept, or ways to go through given rows that are followed at once.
    pub(crate) candidates: usize,
    pub(crate) temperature: f64,
    pub(crate) within_range: bool,
    /// The greatest index value that can be written; sequences of drawn length end before it.
    pub(crate) last_index: f64,
    /// Context values given, by position in the layout's context; values of one sequence each, or of several.
    pub(crate) given: Vec<Option<GivenColumn>>,
    /// Where the sequences end that share the first given values, the second, and so on; empty when each has its own.
    pub(crate) shared_ends: Vec<usize>,
    /// Rows that the sequences go on from, or have missing cells in; none for new sequences.
    pub(crate) given_rows: Option<GivenRows>,
    /// Any of them ends it.
    pub(crate) cancel_tokens: Vec<CancelToken>,
}

impl Request {
    /// Whether a sequence has the rows asked for, whatever the model or the table's end says.
    fn decides_length(&self) -> bool {
        match &self.given_rows {
            Some(given) => given.goal != Goal::End,
            None => self.lengths != Lengths::Drawn,
        }
    }

    /// Whether candidates are compared, so that likelihoods are wanted.
    fn compares(&self) -> bool {
        self.candidates > 1
    }

    /// How many candidates of one sequence are in work at once.
    fn followed(&self) -> usize {
        match self.given_rows.as_ref().map(|given| given.goal) {
            Some(Goal::End | Goal::Fill) => self.candidates,
            Some(Goal::Steps(_)) | None => 1,
        }
    }

    /// Sequences in a chunk. Larger chunks use the matrix units better, smaller ones the cache.
    pub(crate) fn chunk(&self) -> usize {
        (CHUNK / self.followed()).max(1)
    }

    /// Whether someone wants it to end.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel_tokens.iter().any(CancelToken::is_cancelled)
    }

    /// Which of the given values are those of a sequence.
    pub(crate) fn place_of_given(&self, sequence: usize) -> usize {
        match self.shared_ends.is_empty() {
            true => sequence,
            false => self.shared_ends.partition_point(|&end| end <= sequence),
        }
    }

    /// The given value of a sequence's context column.
    fn given_context(&self, column: usize, sequence: usize) -> Option<DecidedValue> {
        let at = self.place_of_given(sequence);
        match self.given.get(column)?.as_ref()? {
            GivenColumn::Classes(classes) => {
                classes.get(at).copied().flatten().map(DecidedValue::Class)
            }
            GivenColumn::Numbers(numbers) => {
                numbers.get(at).copied().flatten().map(DecidedValue::Number)
            }
        }
    }
}

/// A context column's given values; none where it is to be drawn.
#[derive(Debug, Clone)]
pub(crate) enum GivenColumn {
    Classes(Vec<Option<u32>>),
    Numbers(Vec<Option<f64>>),
}

/// The networks a worker samples with.
#[derive(Debug)]
pub(crate) struct Networks {
    pub(crate) context: ContextNetwork,
    pub(crate) sequence: SequenceNetwork,
    pub(crate) device: Device,
}

/// Why a chunk could not be sampled.
#[derive(Debug)]
pub(crate) enum SampleError {
    Model(ModelError),
    /// Rules leave a column of a sequence no value.
    Stuck {
        place: Place,
        sequence: usize,
    },
    /// Rules on first rows, last rows and transitions cannot be kept at this length.
    Length {
        length: usize,
        sequence: usize,
    },
    Cancelled,
    /// A worker thread panicked.
    Thread,
}

impl From<ModelError> for SampleError {
    fn from(error: ModelError) -> Self {
        SampleError::Model(error)
    }
}

impl From<tch::TchError> for SampleError {
    fn from(error: tch::TchError) -> Self {
        SampleError::Model(error.into())
    }
}

/// The state of a chunk while it is sampled.
struct Chunk<'a> {
    networks: &'a Networks,
    layout: &'a Layout,
    rules: &'a Rules,
    request: &'a Request,
    purpose: Purpose,
    seed: Seed,
    /// The number of each sequence in the request; candidates of one sequence have the same and stand together.
    sequences: Vec<usize>,
    generators: Vec<ChaCha12Rng>,
    numbers: Vec<f32>,
    categories: Vec<u32>,
    context: Vec<Decided>,
    /// Whether a part of a sequence's context was drawn.
    is_drawn: Vec<bool>,
    /// How likely a drawn context made what is known of it, in nats.
    context_nats: Vec<f64>,
    /// What rules see of each sequence's context; empty without rules.
    cells: Vec<Cells>,
}

/// Samples some sequences of a request, which were refused so many times before. Which sequences share a call may
/// change the last bits of their numbers.
pub(crate) fn sample_chunk(
    networks: &Networks,
    layout: &Layout,
    rules: &Rules,
    request: &Request,
    sequences: &[usize],
    refusals: u32,
) -> Result<SampledSequences, SampleError> {
    tch::no_grad(|| {
        let purpose = match request.given_rows {
            Some(_) => Purpose::Continuation,
            None => Purpose::Sampling,
        };
        let own = sequences.iter().copied();
        let mut chunk = Chunk::new(networks, layout, rules, request, purpose, own);
        chunk.seed_again(refusals);
        chunk.draw_context()?;
        chunk.draw_rows()
    })
}

impl<'a> Chunk<'a> {
    fn new(
        networks: &'a Networks,
        layout: &'a Layout,
        rules: &'a Rules,
        request: &'a Request,
        purpose: Purpose,
        sequences: impl IntoIterator<Item = usize>,
    ) -> Chunk<'a> {
        let followed = request.followed();
        let sequences: Vec<usize> = sequences
            .into_iter()
            .flat_map(|sequence| std::iter::repeat_n(sequence, followed))
            .collect();
        let count = sequences.len();
        let category_columns = context::category_columns(layout);
        let number_columns = layout.context.len() - category_columns;
        let mut chunk = Chunk {
            networks,
            layout,
            rules,
            request,
            purpose,
            seed: Seed::new(Some(request.seed)),
            sequences,
            generators: Vec::new(),
            numbers: vec![0.0; count * number_columns * CONTEXT_FEATURES],
            categories: vec![0; count * category_columns],
            context: Vec::new(),
            is_drawn: vec![false; count],
            context_nats: vec![0.0; count],
            cells: if rules.is_empty() {
                Vec::new()
            } else {
                vec![Cells::new(layout); count]
            },
        };
        chunk.generators = chunk.streams(0);
        chunk
    }
}

impl Chunk<'_> {
    fn sequences(&self) -> usize {
        self.sequences.len()
    }

    /// Other random streams for sequences that were refused.
    fn seed_again(&mut self, refusals: u32) {
        if refusals > 0 {
            self.seed = Seed::new(Some(self.seed.after_refusals(refusals.into())));
            self.generators = self.streams(0);
        }
    }

    /// The random streams of all sequences, from this candidate on where several are in work at once.
    fn streams(&self, candidate: usize) -> Vec<ChaCha12Rng> {
        let (seed, followed) = (self.seed, self.request.followed());
        let stream = |(row, &sequence): (usize, &usize)| {
            let candidate = small(candidate + row % followed);
            seed.candidate_stream(self.purpose, sequence as u64, candidate)
        };
        self.sequences.iter().enumerate().map(stream).collect()
    }

    fn draw_rows(mut self) -> Result<SampledSequences, SampleError> {
        let contexts = self.networks.sequence.context(&self.context_inputs()?)?;
        let Some(given) = &self.request.given_rows else {
            let mut best = self.draw_new(&contexts)?;
            for candidate in 1..self.request.candidates {
                self.generators = self.streams(candidate);
                for (best, other) in best.iter_mut().zip(self.draw_new(&contexts)?) {
                    if other.nats_per_row() > best.nats_per_row() {
                        *best = other;
                    }
                }
            }
            return Ok(self.gather(best));
        };
        if given.goal == Goal::End {
            let followed = self.follow(given, &contexts)?;
            let walks = self.draw_on(followed.walks, followed.contexts, followed.state)?;
            return Ok(self.gather(walks));
        }
        let mut walks = self.walks()?;
        let state = self.read(given, &mut walks, &contexts)?;
        let walks = self.draw_on(walks, contexts, state)?;
        Ok(self.gather(walks))
    }

    /// All rows of new sequences.
    fn draw_new(&mut self, contexts: &Tensor) -> Result<Vec<Walk>, SampleError> {
        let walks = self.walks()?;
        let (sizes, device) = (self.networks.sequence.shape.sizes, self.networks.device);
        let state = LstmState::start(sizes, long(walks.len()), device)?;
        self.draw_on(walks, contexts.shallow_clone(), state)
    }

    /// The rows from where the walks and the state are to the end of each, in the order of the walks.
    fn draw_on(
        &mut self,
        mut walks: Vec<Walk>,
        mut context: Tensor,
        mut state: LstmState,
    ) -> Result<Vec<Walk>, SampleError> {
        let mut finished: Vec<Option<Walk>> = (0..walks.len()).map(|_| None).collect();
        let mut places: Vec<usize> = (0..walks.len()).collect();
        loop {
            if self.request.is_cancelled() {
                return Err(SampleError::Cancelled);
            }
            for walk in &mut walks {
                if let Some(place) = walk.stuck
                    && !self.may_end_at(walk)
                {
                    return Err(self.stuck(place, walk.row));
                }
                walk.is_over |= walk.rows >= walk.most_rows;
            }
            if walks.iter().any(|walk| walk.is_over) {
                let kept: Vec<i64> = (0..walks.len())
                    .filter(|&at| !walks[at].is_over)
                    .map(long)
                    .collect();
                let kept = Tensor::f_from_slice(&kept)?.f_to_device(self.networks.device)?;
                state = state.keep(&kept)?;
                context = context.f_index_select(0, &kept)?;
                let (over, going): (Vec<_>, Vec<_>) = walks
                    .into_iter()
                    .zip(places)
                    .partition(|(walk, _)| walk.is_over);
                (walks, places) = going.into_iter().unzip();
                for (walk, place) in over {
                    finished[place] = Some(walk);
                }
            }
            if walks.is_empty() {
                return Ok(finished.into_iter().flatten().collect());
            }
            state = self.draw_row(&mut walks, &context, &state)?;
        }
    }

    /// One row of every sequence that goes on.
    fn draw_row(
        &mut self,
        walks: &mut [Walk],
        context: &Tensor,
        state: &LstmState,
    ) -> Result<LstmState, ModelError> {
        let (networks, layout) = (self.networks, self.layout);
        let network = &networks.sequence;
        let rows = long(walks.len());
        let mut buffer = RowBuffer::new(layout);
        for walk in walks.iter_mut() {
            walk.row_nats = 0.0;
            buffer.push(walk);
            if let Some(given) = &self.request.given_rows {
                walk.show_known(given);
            }
        }
        let features = network.features(
            &buffer.inputs(networks.device)?,
            context.shallow_clone(),
            None,
        )?;
        let input = network
            .lstm_input(&features, &mut Mode::Use)?
            .f_unsqueeze(0)?;
        let (output, state) = network.lstm(&input, state, false)?;
        let before = network.before_row(&output.f_squeeze_dim(0)?, &features)?;
        let embedding = network.shape.sizes.embedding;
        let current = Tensor::f_zeros(
            [rows, long(layout.rows.len()) * embedding],
            (Kind::Float, networks.device),
        )?;
        let mut head = 0;
        for (column, row_column) in layout.rows.iter().enumerate() {
            let slot = network.shape.slots[column];
            let embedded = match (&row_column.kind, slot) {
                (RowKind::Category(_), Slot::Category(slot)) => {
                    let output = network.decoder.output(
                        head,
                        &network.head(head, &before, &current)?,
                        &[],
                    )?;
                    head += 1;
                    let classes = self.draw_category(walks, column, slot, &output);
                    network.embed_category(
                        slot,
                        &class_tensor(classes.into_iter(), &[rows], networks.device)?,
                    )?
                }
                (RowKind::Number(number), Slot::Number(slot)) => {
                    let is_gap = row_column.source == RowSource::Gap;
                    let outputs =
                        NumberOutputs::new(network, head, &before, &current, walks, slot, number)?;
                    head += 1 + usize::from(number.change.is_some());
                    let features = self.draw_number(walks, column, slot, number, &outputs, is_gap);
                    let features =
                        float_tensor(&features, &[rows, long(CURRENT_FEATURES)], networks.device)?;
                    let calendar = if is_gap {
                        Some(self.calendar(walks)?)
                    } else {
                        None
                    };
                    network.embed_number(slot, &features, calendar.as_ref())?
                }
                _ => continue,
            };
            current
                .f_narrow(1, long(column) * embedding, embedding)?
                .f_copy_(&embedded)?;
        }
        for walk in walks.iter_mut().filter(|walk| !walk.is_over) {
            if walk.given_row().is_none() && layout.index.is_some() {
                walk.index.push(walk.number);
            }
            walk.rows += 1;
            walk.nats += walk.row_nats;
            if let Some(cells) = &mut walk.cells {
                cells.next_row();
            }
        }
        Ok(state)
    }

    fn walks(&self) -> Result<Vec<Walk>, SampleError> {
        (0..self.sequences()).map(|row| self.walk(row)).collect()
    }

    /// Whether a sequence for whose next row the rules leave nothing may end before it.
    fn may_end_at(&self, walk: &Walk) -> bool {
        walk.rows > 0 && !self.request.decides_length() && !self.rules.has_last_row()
    }

    /// The index, as rules name it.
    fn index_place(&self) -> Option<Place> {
        let is_gap = |column: &RowColumn| column.source == RowSource::Gap;
        self.layout.rows.iter().position(is_gap).map(Place::Row)
    }

    /// Calendar features of each sequence's latest index.
    fn calendar(&self, walks: &[Walk]) -> Result<Tensor, ModelError> {
        let width = self.layout.calendar_width();
        let mut features = Vec::with_capacity(walks.len() * width);
        if let Some(index) = &self.layout.index {
            for walk in walks {
                index.features(walk.number, |value| features.push(single(value)));
            }
        }
        float_tensor(
            &features,
            &[long(walks.len()), long(width)],
            self.networks.device,
        )
    }

    fn draw_category(
        &mut self,
        walks: &mut [Walk],
        column: usize,
        slot: usize,
        output: &HeadOutput,
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
                let temperature = request.temperature;
                let drawn = output.class(at, is_allowed, temperature, generator);
                small(drawn.unwrap_or_else(|| {
                    if allowed != Allowed::Anything {
                        walk.stop(Place::Row(column));
                    }
                    // The only class there is stands for all that are banned.
                    let drawn = output.class(at, is_possible, temperature, generator);
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
                    true => output.class_nats(at, class as usize),
                    false => output.allowed_nats(at, banned),
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
    fn draw_number(
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
        let temperature = request.temperature;
        let mut features = Vec::with_capacity(walks.len() * CURRENT_FEATURES);
        for (at, walk) in walks.iter_mut().enumerate() {
            let last = walk.history.last(slot);
            let generator = &mut self.generators[walk.row];
            // A cell that is filled must not be missing again.
            let is_filled = walk.given_row().is_some();
            let known = walk.given_number(request, column);
            let mut draw = || {
                let drawn = outputs.draw(
                    at,
                    number,
                    last,
                    is_filled,
                    within_range,
                    temperature,
                    generator,
                );
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

    fn gather(self, walks: Vec<Walk>) -> SampledSequences {
        let mut sampled = SampledSequences::empty(self.layout);
        let origins: Vec<usize> = walks.iter().map(|walk| walk.origin).collect();
        sampled.context = self.context.iter().map(|c| c.take(&origins)).collect();
        for walk in walks {
            sampled.lengths.push(walk.rows - walk.given.len());
            sampled.index.extend(walk.index);
            for (all, own) in sampled.rows.iter_mut().zip(walk.columns) {
                all.append(own);
            }
        }
        sampled
    }
}

/// What the value head and the change head of a number column say; a head that no row needs is not computed.
struct NumberOutputs {
    value: Option<HeadOutput>,
    change: Option<HeadOutput>,
}

impl NumberOutputs {
    fn new(
        network: &SequenceNetwork,
        head: usize,
        before: &Tensor,
        current: &Tensor,
        walks: &[Walk],
        slot: usize,
        number: &NumberColumn,
    ) -> Result<NumberOutputs, ModelError> {
        let by_change = |walk: &Walk| number.change.is_some() && !walk.history.last(slot).is_nan();
        let mut outputs = NumberOutputs {
            value: None,
            change: None,
        };
        if walks.iter().any(|walk| !by_change(walk)) {
            let skip: Vec<f32> = match &number.change {
                Some(_) => vec![0.0; walks.len()],
                None => walks
                    .iter()
                    .map(|walk| skip_score(number.value(), walk.history.last(slot)))
                    .collect(),
            };
            outputs.value = Some(network.decoder.output(
                head,
                &network.head(head, before, current)?,
                &skip,
            )?);
        }
        if let Some(change) = &number.change
            && walks.iter().any(by_change)
        {
            let skip: Vec<f32> = walks
                .iter()
                .map(|walk| skip_score(&change.step, walk.history.last_change(slot)))
                .collect();
            outputs.change = Some(network.decoder.output(
                head + 1,
                &network.head(head + 1, before, current)?,
                &skip,
            )?);
        }
        Ok(outputs)
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "one draw's parts, used in one place"
    )]
    fn draw(
        &self,
        row: usize,
        number: &NumberColumn,
        last: f64,
        is_filled: bool,
        within_range: bool,
        temperature: f64,
        generator: &mut ChaCha12Rng,
    ) -> f64 {
        match (&number.change, &self.change, &self.value) {
            (Some(change), Some(output), _) if !last.is_nan() => {
                last + output.number(
                    row,
                    &change.step,
                    f64::NAN,
                    is_filled,
                    true,
                    temperature,
                    generator,
                )
            }
            (_, _, Some(output)) => output.number(
                row,
                number.value(),
                last,
                is_filled,
                within_range,
                temperature,
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
fn open_draw(
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

fn small(class: usize) -> u32 {
    u32::try_from(class).unwrap_or(0)
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "features are handed to the network in f32"
)]
fn single(value: f64) -> f32 {
    value as f32
}
