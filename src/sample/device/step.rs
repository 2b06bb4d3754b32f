//! One row of all sequences of a chunk, on the device.
//! In: the [`State`] before it and uniform numbers. Out: the state after it, and what was drawn, as one tensor. Nothing
//! of it is sent to the device or waited for.

use super::arithmetic::choose_where;
use super::draws;
use super::exchange::Exchange;
use super::history::{NumberState, no_number};
use super::index::{IndexTensors, position_features};
use super::numbers::{NumberTensors, UNIFORMS, Uniforms};
use crate::layout::{CategoryCodec, HISTORY_FEATURES, Layout, RowKind, RowSource};
use crate::model::decoder::HeadTensors;
use crate::model::dropout::Mode;
use crate::model::inputs::RowInputs;
use crate::model::sequence::{LstmState, SequenceNetwork};
use crate::model::{ModelError, long};
use tch::{Kind, Tensor};

/// What rows are drawn by, whichever the sequences.
pub(super) struct Step<'a> {
    network: &'a SequenceNetwork,
    layout: &'a Layout,
    columns: Vec<ColumnTensors>,
    index: Option<IndexTensors>,
    options: StepOptions,
    uniforms: usize,
}

/// What a request says of every row.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepOptions {
    pub(super) temperature: f64,
    pub(super) within_range: bool,
    /// The greatest index value that can be written.
    pub(super) last_index: f64,
    /// Whether sequences have the rows asked for, whatever the index says.
    pub(super) decides_length: bool,
}

/// One column of the rows, its first head, and the first of its uniform numbers.
struct ColumnTensors {
    head: usize,
    uniform: usize,
    kind: KindTensors,
}

enum KindTensors {
    Category {
        slot: usize,
        /// The class that is never drawn, `[1, classes]`
        banned: Option<Tensor>,
    },
    Number {
        slot: usize,
        is_gap: bool,
        number: Box<NumberTensors>,
    },
}

/// All sequences of a chunk that go on, between two rows. The first dimension is theirs.
#[derive(Debug)]
pub(super) struct State {
    pub(super) lstm: LstmState,
    /// `[sequences, CONTEXT_WIDTH]`
    pub(super) context: Tensor,
    pub(super) beginnings: Beginnings,
    /// Index number of the latest row, f64.
    pub(super) number: Tensor,
    /// Its calendar features; none without an index.
    calendar: Option<Tensor>,
    pub(super) is_over: Tensor,
    pub(super) numbers: Vec<NumberState>,
    /// Class of the row before by category, i64.
    pub(super) classes: Vec<Tensor>,
}

/// What is known of sequences before their first row, `[sequences]` each.
#[derive(Debug)]
pub(super) struct Beginnings {
    /// The length the network is told, f64.
    pub(super) lengths: Tensor,
    /// f64
    pub(super) most_rows: Tensor,
    /// Whether the end of the table's time ends them.
    pub(super) stops_at_end: Tensor,
    /// Index number, f64.
    pub(super) starts: Tensor,
}

impl Beginnings {
    fn keep(&self, positions: &Tensor) -> Result<Beginnings, ModelError> {
        let keep = |tensor: &Tensor| tensor.f_index_select(0, positions);
        Ok(Beginnings {
            lengths: keep(&self.lengths)?,
            most_rows: keep(&self.most_rows)?,
            stops_at_end: keep(&self.stops_at_end)?,
            starts: keep(&self.starts)?,
        })
    }
}

impl State {
    /// The sequences at some positions.
    pub(super) fn keep(&self, positions: &Tensor) -> Result<State, ModelError> {
        let keep = |tensor: &Tensor| tensor.f_index_select(0, positions);
        Ok(State {
            lstm: self.lstm.keep(positions)?,
            context: keep(&self.context)?,
            beginnings: self.beginnings.keep(positions)?,
            number: keep(&self.number)?,
            calendar: self.calendar.as_ref().map(keep).transpose()?,
            is_over: keep(&self.is_over)?,
            numbers: self
                .numbers
                .iter()
                .map(|number| number.keep(positions))
                .collect::<Result<_, _>>()?,
            classes: self.classes.iter().map(keep).collect::<Result<_, _>>()?,
        })
    }

    fn sequences(&self) -> i64 {
        self.number.size()[0]
    }
}

impl<'a> Step<'a> {
    pub(super) fn new(
        network: &'a SequenceNetwork,
        layout: &'a Layout,
        options: StepOptions,
        exchange: &Exchange,
    ) -> Result<Step<'a>, ModelError> {
        let (mut columns, mut head, mut uniform) = (Vec::new(), 0, 0);
        let (mut numbers, mut categories) = (0, 0);
        for column in &layout.rows {
            let (kind, heads, uniforms) = match &column.kind {
                RowKind::Category(codec) => {
                    categories += 1;
                    let kind = KindTensors::Category {
                        slot: categories - 1,
                        banned: hidden_class(codec, exchange)?,
                    };
                    (kind, 1, 1)
                }
                RowKind::Number(number) => {
                    numbers += 1;
                    let kind = KindTensors::Number {
                        slot: numbers - 1,
                        is_gap: column.source == RowSource::Gap,
                        number: Box::new(NumberTensors::new(number, exchange)?),
                    };
                    (kind, 1 + usize::from(number.change.is_some()), UNIFORMS)
                }
            };
            columns.push(ColumnTensors {
                head,
                uniform,
                kind,
            });
            head += heads;
            uniform += uniforms;
        }
        let index = match &layout.index {
            Some(index) => Some(IndexTensors::new(
                index,
                layout,
                options.last_index,
                exchange,
            )?),
            None => None,
        };
        Ok(Step {
            network,
            layout,
            columns,
            index,
            options,
            uniforms: uniform,
        })
    }

    /// How many uniform numbers a row of one sequence takes.
    pub(super) fn uniforms(&self) -> usize {
        self.uniforms
    }

    /// How many numbers [`Step::row`] tells of a row: its columns, its index number if there is one, and 1 where it is
    /// one, 0 where the sequence was over before.
    pub(super) fn width(&self) -> usize {
        self.columns.len() + usize::from(self.index.is_some()) + 1
    }

    /// Sequences before their first row.
    pub(super) fn start(
        &self,
        context: Tensor,
        beginnings: Beginnings,
    ) -> Result<State, ModelError> {
        let (sequences, device) = (context.size()[0], context.device());
        let (mut numbers, mut classes) = (Vec::new(), Vec::new());
        for column in &self.layout.rows {
            match &column.kind {
                RowKind::Category(codec) => classes.push(Tensor::f_full(
                    [sequences],
                    long(codec.classes()),
                    (Kind::Int64, device),
                )?),
                RowKind::Number(_) => numbers.push(NumberState::start(sequences, device)?),
            }
        }
        let number = beginnings.starts.shallow_clone();
        let calendar = match &self.index {
            Some(index) => Some(index.features(&number)?),
            None => None,
        };
        Ok(State {
            lstm: LstmState::start(self.network.shape.sizes, sequences, device)?,
            context,
            beginnings,
            number,
            calendar,
            is_over: Tensor::f_zeros([sequences], (Kind::Bool, device))?,
            numbers,
            classes,
        })
    }

    /// What the network reads before a row that `step` others precede.
    pub(super) fn inputs(&self, state: &State, step: usize) -> Result<RowInputs, ModelError> {
        let (rows, device) = (state.sequences(), state.number.device());
        let histories = state.numbers.iter().map(NumberState::features);
        let mut histories: Vec<Tensor> = histories.collect::<Result<_, _>>()?;
        // Without a number there is nothing to join.
        histories.push(Tensor::f_zeros([rows, 0], (Kind::Float, device))?);
        let elapsed = state.number.f_sub(&state.beginnings.starts)?;
        let elapsed = self.index.as_ref().map(|index| (index, &elapsed));
        let nothing = |kind| Tensor::f_zeros([rows, 0], (kind, device));
        Ok(RowInputs {
            history_numbers: Tensor::f_cat(&histories, 1)?
                .f_view([rows, long(state.numbers.len() * HISTORY_FEATURES)])?,
            history_categories: match state.classes.is_empty() {
                true => nothing(Kind::Int64)?,
                false => Tensor::f_stack(&state.classes, 1)?,
            },
            position: position_features(step, &state.beginnings.lengths, self.layout, elapsed)?,
            calendar_before: match &state.calendar {
                Some(calendar) => calendar.shallow_clone(),
                None => nothing(Kind::Float)?,
            },
        })
    }

    /// Draws the row of every sequence that `step` others precede.
    /// # Shapes
    /// `uniforms` `[sequences, uniforms]`, f64; out `[sequences, width]`, f64.
    pub(super) fn row(
        &self,
        state: &mut State,
        step: usize,
        uniforms: &Tensor,
    ) -> Result<Tensor, ModelError> {
        let network = self.network;
        let rows = state.sequences();
        let inputs = self.inputs(state, step)?;
        let features = network.features(&inputs, state.context.shallow_clone(), None)?;
        let input = network
            .lstm_input(&features, &mut Mode::Use)?
            .f_unsqueeze(0)?;
        let (output, lstm) = network.lstm(&input, &state.lstm, false)?;
        state.lstm = lstm;
        let embedding = network.shape.sizes.embedding;
        let row = Row {
            before: network.before_row(&output.f_squeeze_dim(0)?, &features)?,
            current: Tensor::f_zeros(
                [rows, long(self.columns.len()) * embedding],
                (Kind::Float, uniforms.device()),
            )?,
            uniforms,
            step,
        };
        let mut drawn = Vec::with_capacity(self.width());
        for (at, column) in self.columns.iter().enumerate() {
            let (value, embedded) = self.column(column, state, &row)?;
            row.current
                .f_narrow(1, long(at) * embedding, embedding)?
                .f_copy_(&embedded)?;
            drawn.push(value);
        }
        if self.index.is_some() {
            drawn.push(state.number.shallow_clone());
        }
        drawn.push(state.is_over.f_logical_not()?.f_to_kind(Kind::Double)?);
        let is_last = state.beginnings.most_rows.f_le((step + 1) as f64)?;
        state.is_over = state.is_over.f_logical_or(&is_last)?;
        Ok(Tensor::f_stack(&drawn, 1)?)
    }

    /// A column's values in f64, and what the columns after it see of them.
    fn column(
        &self,
        column: &ColumnTensors,
        state: &mut State,
        row: &Row<'_>,
    ) -> Result<(Tensor, Tensor), ModelError> {
        match &column.kind {
            KindTensors::Category { slot, banned } => {
                let said = self.said(column.head, row, None)?;
                let uniform = row.uniforms.f_select(1, long(column.uniform))?;
                let temperature = self.options.temperature;
                let classes =
                    draws::position(&said.logits, banned.as_ref(), temperature, &uniform)?;
                let embedded = self.network.embed_category(*slot, &classes)?;
                let values = classes.f_to_kind(Kind::Double)?;
                state.classes[*slot] = classes;
                Ok((values, embedded))
            }
            KindTensors::Number {
                slot,
                is_gap,
                number,
            } => {
                // The first row has no gap.
                let is_absent = *is_gap && row.step == 0;
                let (values, features) = if is_absent {
                    let sequences = state.sequences();
                    let none = no_number(sequences, row.uniforms.device())?;
                    (state.number.f_full_like(f64::NAN)?, none)
                } else {
                    let values =
                        self.number(column, number, &state.numbers[*slot], *is_gap, row)?;
                    let features = state.numbers[*slot].absorb(&values, &number.scale)?;
                    (values, features)
                };
                if *is_gap && !is_absent {
                    self.advance(state, &values, row.step)?;
                }
                let calendar = state.calendar.as_ref().filter(|_| *is_gap);
                let embedded = self.network.embed_number(*slot, &features, calendar)?;
                Ok((values, embedded))
            }
        }
    }

    /// Draws a number column.
    fn number(
        &self,
        column: &ColumnTensors,
        number: &NumberTensors,
        history: &NumberState,
        is_gap: bool,
        row: &Row<'_>,
    ) -> Result<Tensor, ModelError> {
        // Gaps stay within what was seen whatever the user says, or time would run backwards.
        let within_range = is_gap || self.options.within_range;
        let temperature = self.options.temperature;
        let uniforms = Uniforms::from(row.uniforms, long(column.uniform))?;
        let last = history.last()?;
        let skip = match &number.change {
            Some(_) => None,
            None => Some(number.value.skip(&last)?),
        };
        let said = self.said(column.head, row, skip.as_ref())?;
        let mut drawn =
            number
                .value
                .draw(&said, Some(&last), within_range, temperature, &uniforms)?;
        if let Some(change) = &number.change {
            let skip = change.skip(&history.last_change()?)?;
            let said = self.said(column.head + 1, row, Some(&skip))?;
            let step = change.draw(&said, None, true, temperature, &uniforms)?;
            drawn = choose_where(&last.f_isnan()?, &drawn, &last.f_add(&step)?)?;
        }
        number.restore(&drawn, within_range)
    }

    fn said(
        &self,
        head: usize,
        row: &Row<'_>,
        skip: Option<&Tensor>,
    ) -> Result<HeadTensors, ModelError> {
        let hidden = self.network.head(head, &row.before, &row.current)?;
        self.network.decoder.output_tensors(head, &hidden, skip)
    }

    /// Moves the index on by gaps, where that leads past no end.
    fn advance(&self, state: &mut State, gaps: &Tensor, step: usize) -> Result<(), ModelError> {
        let Some(index) = &self.index else {
            return Ok(());
        };
        let next = index.next(&state.number, gaps)?;
        if step >= self.layout.shortest() {
            let is_past = index.is_past_table(&next)?;
            let ends = state.beginnings.stops_at_end.f_logical_and(&is_past)?;
            state.is_over = state.is_over.f_logical_or(&ends)?;
        }
        if !self.options.decides_length {
            let ends = index.is_past_written(&next)?;
            state.is_over = state.is_over.f_logical_or(&ends)?;
        }
        state.number = choose_where(&state.is_over, &state.number, &next)?;
        state.calendar = Some(index.features(&state.number)?);
        Ok(())
    }
}

/// A row while its columns are drawn.
struct Row<'a> {
    /// `[heads, sequences, head width]`
    before: Tensor,
    /// `[sequences, columns × embedding]`, filled up to the column at hand
    current: Tensor,
    uniforms: &'a Tensor,
    step: usize,
}

/// The class of all protected labels, which is never drawn.
fn hidden_class(codec: &CategoryCodec, exchange: &Exchange) -> Result<Option<Tensor>, ModelError> {
    let Some(hidden) = codec.hidden_class() else {
        return Ok(None);
    };
    let classes = codec.classes();
    let is_hidden: Vec<bool> = (0..classes).map(|class| class == hidden).collect();
    Ok(Some(exchange.flags(&is_hidden, &[1, long(classes)])?))
}
