//! The sampling engine: fixed chunks of sequences, each sequence with a random stream of its own, shared out to
//! worker threads.
//! In: the networks, the layout and a [`Request`]. Out: [`SampledSequences`], decided values in the columns' own
//! units, chunk by chunk in order.
//!
//! A chunk is computed by one thread with one libtorch thread, so its numbers do not depend on how many there are.

mod context;
mod draw;
mod given;
mod sequences;
mod walk;

pub(crate) use given::GivenRows;
pub(crate) use sequences::{Decided, SampledSequences};
use walk::{RowBuffer, Walk};

use crate::codec::number::NumberCodec;
use crate::constraint::{Allowed, Cell, Cells, NumberSet, Place, Rules};
use crate::encode::skip_score;
use crate::history::current_features;
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
use rand::rngs::ChaCha12Rng;
use std::ops::Range;
use tch::{Device, Kind, Tensor};
/// Sequences in a chunk. Larger chunks use the matrix units better, smaller ones the cache.
pub(crate) const CHUNK: usize = 512;
/// Draws of a gap before the usual ones are tried.
const MOST_GAP_DRAWS: usize = 64;

/// What to sample, for all chunks.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) seed: u64,
    /// Rows of every sequence; drawn from the model when none.
    pub(crate) length: Option<usize>,
    pub(crate) temperature: f64,
    pub(crate) within_range: bool,
    /// The greatest index value that can be written; sequences of drawn length end before it.
    pub(crate) last_index: f64,
    /// Context values given, by position in the layout's context, one a sequence.
    pub(crate) given: Vec<Option<GivenColumn>>,
    /// Rows that the sequences go on from, their contexts given in full; none for new sequences.
    pub(crate) given_rows: Option<GivenRows>,
}

impl Request {
    /// Whether a sequence has the rows asked for, whatever the model or the table's end says.
    fn decides_length(&self) -> bool {
        self.length.is_some() || self.given_rows.is_some()
    }
}

/// A context column's given values.
#[derive(Debug, Clone)]
pub(crate) enum GivenColumn {
    Classes(Vec<u32>),
    Numbers(Vec<f64>),
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
    /// The number of its first sequence in the request.
    first: usize,
    generators: Vec<ChaCha12Rng>,
    numbers: Vec<f32>,
    categories: Vec<u32>,
    context: Vec<Decided>,
    /// What rules see of each sequence; empty without rules.
    cells: Vec<Cells>,
}

/// Samples the sequences numbered `range` of a request.
pub(crate) fn sample_chunk(
    networks: &Networks,
    layout: &Layout,
    rules: &Rules,
    request: &Request,
    range: Range<u64>,
) -> Result<SampledSequences, SampleError> {
    tch::no_grad(|| {
        let mut chunk = Chunk::new(networks, layout, rules, request, &range);
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
        range: &Range<u64>,
    ) -> Chunk<'a> {
        let seed = Seed::new(Some(request.seed));
        let purpose = match request.given_rows {
            Some(_) => Purpose::Continuation,
            None => Purpose::Sampling,
        };
        let generators: Vec<ChaCha12Rng> = range
            .clone()
            .map(|number| seed.numbered_stream(purpose, number))
            .collect();
        let count = generators.len();
        let category_columns = context::category_columns(layout);
        let number_columns = layout.context.len() - category_columns;
        Chunk {
            networks,
            layout,
            rules,
            request,
            first: usize::try_from(range.start).unwrap_or(0),
            generators,
            numbers: vec![0.0; count * number_columns * CONTEXT_FEATURES],
            categories: vec![0; count * category_columns],
            context: Vec::new(),
            cells: if rules.is_empty() {
                Vec::new()
            } else {
                vec![Cells::new(layout); count]
            },
        }
    }
}

impl Chunk<'_> {
    fn sequences(&self) -> usize {
        self.generators.len()
    }
    fn draw_rows(mut self) -> Result<SampledSequences, SampleError> {
        let network = &self.networks.sequence;
        let all_contexts = network.context(&self.context_inputs()?)?;
        let mut walks = (0..self.sequences())
            .map(|row| self.walk(row))
            .collect::<Result<Vec<Walk>, _>>()?;
        let mut finished: Vec<Option<Walk>> = (0..walks.len()).map(|_| None).collect();
        let mut state = match &self.request.given_rows {
            Some(given) => self.read(given, &mut walks, &all_contexts)?,
            None => LstmState::start(network.shape.sizes, long(walks.len()), self.networks.device)?,
        };
        let mut context = all_contexts.shallow_clone();
        while !walks.is_empty() {
            state = self.draw_row(&mut walks, &context, &state)?;
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
                let (over, going): (Vec<Walk>, Vec<Walk>) =
                    walks.into_iter().partition(|walk| walk.is_over);
                walks = going;
                for walk in over {
                    let row = walk.row;
                    finished[row] = Some(walk);
                }
            }
        }
        Ok(self.gather(finished.into_iter().flatten().collect()))
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
        for walk in walks.iter() {
            buffer.push(walk);
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
            walk.rows += 1;
            if let Some(cells) = self.cells.get_mut(walk.row) {
                cells.next_row();
            }
            if layout.index.is_some() {
                walk.index.push(walk.number);
            }
        }
        Ok(state)
    }

    /// Whether a sequence for whose next row the rules leave nothing may end before it.
    fn may_end_at(&self, walk: &Walk) -> bool {
        let has_rows = walk.rows > walk.given.len();
        has_rows && !self.request.decides_length() && !self.rules.has_last_row()
    }

    /// The index, as rules name it.
    fn index_place(&self) -> Option<Place> {
        let is_gap = |column: &RowColumn| column.source == RowSource::Gap;
        self.layout.rows.iter().position(is_gap).map(Place::Row)
    }

    fn allowed(&self, walk: &Walk, column: usize) -> Allowed {
        match self.cells.get(walk.row) {
            Some(cells) => self.rules.allowed(Place::Row(column), cells, walk.moment()),
            None => Allowed::Anything,
        }
    }

    fn note(&mut self, walk: &Walk, column: usize, cell: Cell) {
        if let Some(cells) = self.cells.get_mut(walk.row) {
            cells.set(Place::Row(column), cell);
        }
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
        let hidden = match &self.layout.rows[column].kind {
            RowKind::Category(codec) => codec.hidden_class(),
            RowKind::Number(_) => None,
        };
        let mut classes = Vec::with_capacity(walks.len());
        for (at, walk) in walks.iter_mut().enumerate() {
            let allowed = self.allowed(walk, column);
            let is_allowed = |class: usize| {
                let keeps = match &allowed {
                    Allowed::Classes(classes) => classes.get(class) == Some(&true),
                    _ => true,
                };
                keeps && Some(class) != hidden
            };
            let generator = &mut self.generators[walk.row];
            let drawn = output.class(at, is_allowed, self.request.temperature, generator);
            if drawn.is_none() {
                walk.stop(Place::Row(column));
            }
            let class = small(drawn.unwrap_or(0));
            self.note(walk, column, Cell::Class(class));
            classes.push(class);
            if walk.is_over {
                continue;
            }
            walk.history.absorb_category(slot, class);
            if let Decided::Classes(decided) = &mut walk.columns[column] {
                decided.push(class);
            }
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
        let median_gap = self.layout.index.as_ref().map_or(0.0, |i| i.median_gap);
        // Gaps stay within what was seen whatever the user says, or time would run backwards.
        let within_range = is_gap || self.request.within_range;
        let temperature = self.request.temperature;
        let mut features = Vec::with_capacity(walks.len() * CURRENT_FEATURES);
        for (at, walk) in walks.iter_mut().enumerate() {
            let last = walk.history.last(slot);
            // The first row has no gap.
            let is_absent = is_gap && walk.rows == 0;
            let decimals = index_decimals.filter(|_| walk.is_on_grid);
            let allowed = self.allowed(walk, column);
            let rules = self.rules;
            let from = self.cells.get(walk.row);
            let from = from.and_then(|cells| rules.reference(column, cells));
            let told = self.layout.rows[column].reference.as_ref().zip(from);
            let generator = &mut self.generators[walk.row];
            let mut draw = || {
                let drawn = outputs.draw(at, number, last, within_range, temperature, generator);
                // A step from a given value near the largest float would leave all floats.
                let restored = number.whole.restore(drawn, within_range);
                restored.clamp(f64::MIN, f64::MAX)
            };
            let written = |value: f64| rules.written(Place::Row(column), value);
            let drawn = if is_absent {
                Some(f64::NAN)
            } else if is_gap {
                let index = self.layout.index.as_ref();
                let is_allowed = |gap: f64| match (&allowed, index) {
                    (Allowed::Numbers(set), Some(index)) => {
                        set.contains(index.value(next_index(walk.number, gap, decimals)))
                    }
                    _ => true,
                };
                let draw = || {
                    if walk.is_at_last_given() {
                        given::rising_gap(walk.number, decimals, median_gap, &mut draw)
                    } else {
                        draw()
                    }
                };
                gap_among(draw, is_allowed, &[number.whole.low, median_gap, 1.0])
            } else {
                let codec = &number.whole;
                drawn_among(draw, &allowed, told, codec, within_range, written)
            };
            if drawn.is_none() {
                walk.stop(Place::Row(column));
            }
            let written_value = drawn.unwrap_or(f64::NAN);
            let value = match told {
                Some((_, from)) => Reference::distance(from, written_value),
                None => written_value,
            };
            features.extend_from_slice(&current_features(value, last, &number.scale));
            if !is_absent {
                walk.history.absorb_number(slot, value, &number.scale);
            }
            if is_gap && !is_absent && !walk.is_over {
                let next = next_index(walk.number, value, decimals);
                walk.is_over = self.layout.index.as_ref().is_some_and(|index| {
                    let past_table = walk.stops_at_end
                        && walk.rows >= walk.least_rows
                        && index.is_past_end(next);
                    past_table
                        || (!self.request.decides_length()
                            && index.value(next) > self.request.last_index)
                });
                if !walk.is_over {
                    walk.number = next;
                }
            }
            let cell = match (is_gap, &self.layout.index) {
                (true, Some(index)) => Cell::Number(index.value(walk.number)),
                _ => Cell::number(written_value),
            };
            self.note(walk, column, cell);
            if let Decided::Numbers(decided) = &mut walk.columns[column]
                && !walk.is_over
            {
                decided.push(written_value);
            }
        }
        features
    }

    fn gather(self, walks: Vec<Walk>) -> SampledSequences {
        let mut sampled = SampledSequences::empty(self.layout);
        for walk in walks {
            sampled.lengths.push(walk.rows - walk.given.len());
            sampled.index.extend(walk.index);
            for (all, own) in sampled.rows.iter_mut().zip(walk.columns) {
                match (all, own) {
                    (Decided::Classes(all), Decided::Classes(own)) => all.extend(own),
                    (Decided::Numbers(all), Decided::Numbers(own)) => all.extend(own),
                    _ => {}
                }
            }
        }
        sampled.context = self.context;
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

    fn draw(
        &self,
        row: usize,
        number: &NumberColumn,
        last: f64,
        within_range: bool,
        temperature: f64,
        generator: &mut ChaCha12Rng,
    ) -> f64 {
        match (&number.change, &self.change, &self.value) {
            (Some(change), Some(output), _) if !last.is_nan() => {
                last + output.number(row, &change.step, f64::NAN, true, temperature, generator)
            }
            (_, _, Some(output)) => output.number(
                row,
                number.value(),
                last,
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
        (Allowed::Anything | Allowed::Classes(_), None) => Some(draw()),
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
