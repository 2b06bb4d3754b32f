//! The sampling engine: fixed chunks of sequences, each sequence with a random stream of its own, shared out to
//! worker threads.
//! In: the networks, the layout and a [`Request`]. Out: [`SampledSequences`] or [`FilledSequences`], decided values in
//! the columns' own units, chunk by chunk in order.
//!
//! A chunk is computed by one thread with one libtorch thread, so its numbers do not depend on how many there are.

mod cells;
mod context;
mod device;
mod draw;
mod fill;
mod follow;
mod given;
mod likelihood;
mod sequences;
mod walk;

use cells::NumberOutputs;
pub(crate) use device::{holds_steps, sequences_at_once};
use draw::Draws;
pub(crate) use fill::{FilledSequences, fill_chunk};
pub(crate) use given::{GivenRows, Goal};
pub(crate) use sequences::{Decided, DecidedValue, SampledSequences};
use walk::{RowBuffer, Walk};

use crate::cancel::CancelToken;
use crate::constraint::{Cells, Place, Rules};
use crate::layout::{CONTEXT_FEATURES, Layout, RowColumn, RowKind, RowSource};
use crate::model::context::ContextNetwork;
use crate::model::sequence::{LstmState, SequenceNetwork, Slot, Step};
use crate::model::{ModelError, long};
use crate::rng::{Purpose, Seed};
use crate::sampling::Lengths;
use rand::rngs::ChaCha12Rng;
use tch::{Device, Tensor};

/// Sequences in work at once in a chunk on the host, candidates among them.
const CHUNK: usize = 512;
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
    /// Sequences in work at once in a chunk, as [`sequences_at_once`] says.
    pub(crate) at_once: usize,
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
        (self.at_once / self.followed()).max(1)
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
    /// Whether whole steps may be drawn on the device.
    pub(crate) holds_steps: bool,
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
    /// By row column, whether its mixture starts from the very score that the history keeps.
    skips_of_scale: Vec<bool>,
    /// The room for a row, from the first on.
    step: Option<(Step<'a>, RowBuffer<'a>)>,
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
            skips_of_scale: layout
                .rows
                .iter()
                .map(|column| match &column.kind {
                    RowKind::Number(number) => number.is_skip_of_scale(),
                    RowKind::Category(_) => false,
                })
                .collect(),
            step: None,
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
        if device::serves(self.networks, self.request, self.rules) {
            return self.draw_on_device(walks, contexts);
        }
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
        let (mut step, mut buffer) = match self.step.take() {
            Some(step) => step,
            None => (
                network.step(walks.len(), networks.device)?,
                RowBuffer::new(layout),
            ),
        };
        buffer.clear();
        for walk in walks.iter_mut() {
            walk.row_nats = 0.0;
            buffer.push(walk);
            if let Some(given) = &self.request.given_rows {
                walk.show_known(given);
            }
        }
        let state = step.begin(&buffer.inputs, context, state)?;
        let mut head = 0;
        for (column, row_column) in layout.rows.iter().enumerate() {
            let slot = network.shape.slots[column];
            match (&row_column.kind, slot) {
                (RowKind::Category(_), Slot::Category(slot)) => {
                    let output = Draws::new(step.output(head, &[])?, self.request.temperature);
                    head += 1;
                    let classes = self.draw_category(walks, column, slot, &output);
                    step.know_category(column, classes)?;
                }
                (RowKind::Number(number), Slot::Number(slot)) => {
                    let is_gap = row_column.source == RowSource::Gap;
                    let outputs = NumberOutputs::new(
                        &mut step,
                        head,
                        walks,
                        slot,
                        number,
                        self.skips_of_scale[column],
                        self.request.temperature,
                    )?;
                    head += 1 + usize::from(number.change.is_some());
                    let features = self.draw_number(walks, column, slot, number, &outputs, is_gap);
                    let calendar = is_gap.then(|| self.calendar(walks));
                    step.know_number(column, &features, calendar.as_deref())?;
                }
                _ => {}
            }
        }
        self.step = Some((step, buffer));
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
    fn calendar(&self, walks: &[Walk]) -> Vec<f32> {
        let mut features = Vec::with_capacity(walks.len() * self.layout.calendar_width());
        if let Some(index) = &self.layout.index {
            for walk in walks {
                index.features(walk.number, |value| features.push(single(value)));
            }
        }
        features
    }

    fn gather(self, walks: Vec<Walk>) -> SampledSequences {
        let rows = walks.iter().map(|walk| walk.rows - walk.given.len()).sum();
        let mut sampled = SampledSequences::with_room(self.layout, rows);
        let origins: Vec<usize> = walks.iter().map(|walk| walk.origin).collect();
        sampled.context = self.context.iter().map(|c| c.take(&origins)).collect();
        for walk in walks {
            sampled.lengths.push(walk.rows - walk.given.len());
            sampled.index.extend(walk.index);
            for row in walk.values.chunks_exact(self.layout.rows.len().max(1)) {
                for (all, &own) in sampled.rows.iter_mut().zip(row) {
                    all.push(own);
                }
            }
        }
        sampled
    }
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
