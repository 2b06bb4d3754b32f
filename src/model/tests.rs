//! Claims about the networks: one buffer, no leaks between rows, columns or sequences, and one arithmetic for training
//! and sampling.

mod mixed;

use super::context::{ContextNetwork, ContextShape, visibility};
use super::decoder::{HeadOutput, TargetTensors};
use super::dropout::Mode;
use super::inputs::{ContextInputs, CurrentInputs, Padding, RowInputs, to_doubles};
use super::parameters::{Parameters, Plan};
use super::sequence::{LstmState, SequenceNetwork, SequenceShape, Slot, StepInputs};
use super::{Sizes, long};
use crate::encode::{EncodedContext, EncodedRows, Encoder};
use crate::layout::{CURRENT_FEATURES, Layout, NumberChoice};
use crate::metadata::SdType;
use crate::protection::Protection;
use crate::rng::{Purpose, Seed, below, uniform};
use crate::table::{ColumnSchema, Label, Role, Schema, SequenceTable, Storage, Values};
use crate::tasks::{SequenceTask, row_head_names};
use crate::train::Task;

use ndarray::Array2;
use std::ops::Range;
use tch::nn::{OptimizerConfig, VarStore};
use tch::{Device, Kind, Tensor};

const SIZES: Sizes = Sizes {
    hidden: 5,
    layers: 2,
    embedding: 3,
    head: 4,
    components: 2,
};

fn column(name: &str, sdtype: SdType, role: Role) -> ColumnSchema {
    let storage = if sdtype == SdType::Numerical {
        Storage::Float64
    } else {
        Storage::Text
    };
    ColumnSchema {
        name: name.to_owned(),
        sdtype,
        role,
        is_key: false,
        storage,
        base: 0,
        step: 1,
    }
}

/// A table with every kind of column: an index, a walk (modelled by its changes), a value, a category, and one with
/// more classes than fit the padded block.
fn table(lengths: &[usize]) -> (Schema, SequenceTable) {
    let schema = Schema {
        columns: vec![
            column("group", SdType::Categorical, Role::Context),
            column("time", SdType::Numerical, Role::SequenceIndex),
            column("walk", SdType::Numerical, Role::Sequential),
            column("kind", SdType::Categorical, Role::Sequential),
            column("value", SdType::Numerical, Role::Sequential),
            column("code", SdType::Categorical, Role::Sequential),
        ],
    };
    let mut generator = Seed::new(Some(11)).stream(Purpose::Sampling);
    let mut draw = || uniform(&mut generator);
    let labels = |count: u32| {
        (0..count)
            .map(|i| Label::Text(format!("{i:03}")))
            .collect::<Vec<_>>()
    };
    let (mut group, mut time, mut walk, mut value) = (vec![], vec![], vec![], vec![]);
    let (mut kind, mut code, mut offsets) = (vec![], vec![], vec![0]);
    for (sequence, &length) in lengths.iter().enumerate() {
        let (mut now, mut place) = (draw() * 10.0, draw() * 1000.0);
        for row in 0..length {
            (now, place) = (now + 1.0 + (draw() * 3.0).floor(), place + draw() - 0.5);
            group.push(u32::try_from(sequence % 2).expect("0 or 1"));
            time.push(now);
            walk.push(place);
            kind.push(if draw() < 0.5 { 0 } else { 1 });
            value.push(if draw() < 0.1 { f64::NAN } else { draw() });
            code.push(u32::try_from((row * 7 + sequence) % 90).expect("small"));
        }
        offsets.push(time.len());
    }
    code.truncate(time.len());
    let row_numbers = (0..).take(time.len()).collect();
    let columns = vec![
        Values::Labels {
            codes: group.into(),
            labels: labels(2).into(),
        },
        Values::Numbers(time.into()),
        Values::Numbers(walk.into()),
        Values::Labels {
            codes: kind.into(),
            labels: labels(2).into(),
        },
        Values::Numbers(value.into()),
        Values::Labels {
            codes: code.into(),
            labels: labels(90).into(),
        },
    ];
    (
        schema,
        SequenceTable {
            owners: (0..).take(lengths.len()).collect(),
            offsets,
            columns,
            row_numbers,
        },
    )
}

struct Fixture {
    schema: Schema,
    table: SequenceTable,
    layout: Layout,
    shape: SequenceShape,
    parameters: Parameters,
}

fn fixture(lengths: &[usize]) -> Fixture {
    let (schema, table) = table(lengths);
    let layout = Layout::fit(
        &table,
        &schema,
        Protection::OFF,
        &vec![NumberChoice::default(); schema.columns.len()],
    );
    let shape = SequenceShape::new(&layout, SIZES);
    let parameters = parameters(&shape.plan());
    Fixture {
        schema,
        table,
        layout,
        shape,
        parameters,
    }
}

fn parameters(plan: &Plan) -> Parameters {
    let values = plan.draw(&mut Seed::new(Some(3)).stream(Purpose::SequenceWeights));
    Parameters::new(plan.clone(), &values, Device::Cpu).expect("weights")
}

impl Fixture {
    fn encoder(&self) -> Encoder<'_> {
        Encoder::new(&self.table, &self.layout, self.schema.sequence_index())
    }

    /// All rows of all sequences.
    fn rows(&self) -> EncodedRows {
        let encoder = self.encoder();
        let sequences: Vec<usize> = (0..encoder.sequences()).collect();
        let ranges: Vec<Range<usize>> = sequences.iter().map(|&at| encoder.range(at)).collect();
        encoder.rows(&sequences, &ranges, &mut encoder.histories(sequences.len()))
    }

    fn task<'a>(&self, encoder: &'a Encoder<'a>) -> SequenceTask<'a> {
        let columns = row_head_names(&self.layout, |column| format!("column {column}"));
        SequenceTask {
            encoder,
            shape: self.shape.clone(),
            columns,
            device: Device::Cpu,
            kind: Kind::Float,
        }
    }

    /// Losses by head of all parts of a batch.
    fn losses(&self, batch: &[usize]) -> Vec<f64> {
        let encoder = self.encoder();
        let task = self.task(&encoder);
        let mut carry = None;
        let mut sums = vec![0.0; self.shape.decoder.heads.len()];
        for step in 0..task.steps(batch) {
            let loss = task
                .loss(&self.parameters, batch, step, &mut carry, Mode::Use)
                .expect("a loss");
            for (sum, value) in sums.iter_mut().zip(to_doubles(&loss.sums).expect("host")) {
                *sum += value;
            }
        }
        sums
    }
}

fn assert_close(left: &[f64], right: &[f64], tolerance: f64) {
    assert_eq!(left.len(), right.len());
    for (left, right) in left.iter().zip(right) {
        assert!(
            (left - right).abs() <= tolerance * (1.0 + left.abs()),
            "{left} is not {right}"
        );
    }
}

#[test]
fn the_lstm_lies_in_cudnn_order_in_one_buffer_through_move_and_cast() {
    let mut plan = Plan::default();
    plan.add_lstm(16, 32, 1);
    plan.add("after", &[3, 5], super::parameters::Start::Normal);
    let original = parameters(&plan);
    for parameters in [
        original.share(),
        original.to(Device::Cpu, Kind::Float).expect("move"),
        original.to(Device::Cpu, Kind::Double).expect("cast"),
        original.to(Device::Cpu, Kind::BFloat16).expect("cast"),
    ] {
        let start = parameters.flat().data_ptr() as usize;
        let size = parameters.flat().kind().elt_size_in_bytes();
        let views = parameters.views().expect("views");
        let offsets: Vec<usize> = views
            .iter()
            .map(|view| (view.data_ptr() as usize - start) / size)
            .collect();
        // Input weights, hidden weights, then both biases: what cuDNN's packed buffer holds.
        assert_eq!(offsets, [0, 2048, 6144, 6272, 6400]);
        assert!(parameters.is_contiguous().expect("a check"));
    }
}

#[test]
fn layers_put_all_matrices_before_all_biases() {
    let mut plan = Plan::default();
    plan.add_lstm(3, 4, 2);
    let names: Vec<&str> = plan
        .entries
        .iter()
        .map(|entry| entry.name.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "lstm_input_weight_0",
            "lstm_hidden_weight_0",
            "lstm_input_weight_1",
            "lstm_hidden_weight_1",
            "lstm_input_bias_0",
            "lstm_hidden_bias_0",
            "lstm_input_bias_1",
            "lstm_hidden_bias_1",
        ]
    );
}

#[test]
fn the_buffer_stays_where_it_is_while_training() {
    let fixture = fixture(&[6, 4]);
    let plan = fixture.shape.plan();
    let store = VarStore::new(Device::Cpu);
    let flat = store.root().var_copy("weights", fixture.parameters.flat());
    let trained = Parameters::from_flat(plan, flat).expect("weights");
    let (before, first) = (
        trained.flat().data_ptr() as usize,
        trained.values().expect("host"),
    );
    let mut optimizer = tch::nn::AdamW::default()
        .build(&store, 1e-2)
        .expect("optimizer");
    for _ in 0..3 {
        let loss = fixture
            .task(&fixture.encoder())
            .loss(&trained, &[0, 1], 0, &mut None, Mode::Use)
            .expect("a loss");
        optimizer.backward_step(&loss.sums.sum(Kind::Float));
    }
    assert_eq!(trained.flat().data_ptr() as usize, before);
    assert!(trained.is_contiguous().expect("a check"));
    assert_ne!(trained.values().expect("host"), first);
}

#[test]
fn a_weight_that_is_not_finite_is_seen() {
    let mut plan = Plan::default();
    plan.add("weight", &[2], super::parameters::Start::Constant(0.0));
    let with =
        |value: f32| Parameters::new(plan.clone(), &[0.0, value], Device::Cpu).expect("weights");
    assert!(with(1.0).is_finite().expect("a check"));
    assert!(!with(f32::NAN).is_finite().expect("a check"));
    assert!(!with(f32::INFINITY).is_finite().expect("a check"));
}

/// Numbers from numpy, by the equations that PyTorch documents for `torch.nn.LSTM`:
/// ```python
/// I, H = 2, 2
/// flat = np.arange(1, 49) / 50 - 0.5                   # w_ih [8, 2], w_hh [8, 2], b_ih [8], b_hh [8], in this order
/// for x in [[0.5, -1.0], [1.5, 0.25]]:
///     i, f, g, o = np.split(w_ih @ x + b_ih + w_hh @ h + b_hh, 4)
///     c = sigmoid(f) * c + sigmoid(i) * np.tanh(g); h = sigmoid(o) * np.tanh(c)
/// ```
#[test]
fn lstm_steps_match_the_equations() {
    let values: Vec<f32> = (1_u8..49).map(|i| f32::from(i) / 50.0 - 0.5).collect();
    let mut plan = Plan::default();
    plan.add_lstm(2, 2, 1);
    let parameters = Parameters::new(plan, &values, Device::Cpu).expect("weights");
    let views = parameters.views().expect("views");
    let input = Tensor::from_slice(&[0.5_f32, -1.0, 1.5, 0.25]).view([2, 1, 2]);
    let zeros = || Tensor::zeros([1, 1, 2], (Kind::Float, Device::Cpu));
    let (output, _, _) = input.lstm(
        &[zeros(), zeros()],
        &views,
        true,
        1,
        0.0,
        false,
        false,
        false,
    );
    assert_close(&to_doubles(&output).expect("host"), &NUMPY_LSTM, 1e-6); // f32
}

const NUMPY_LSTM: [f64; 4] = [0.284_936_82, 0.292_747_52, 0.135_463_63, 0.187_382_14];

#[test]
fn a_sequence_alone_equals_itself_in_a_batch() {
    let fixture = fixture(&[9, 7, 1, 4]);
    let together = fixture.losses(&[0, 1, 3, 2]);
    let mut apart = vec![0.0; together.len()];
    for sequence in 0..4 {
        for (sum, value) in apart.iter_mut().zip(fixture.losses(&[sequence])) {
            *sum += value;
        }
    }
    assert_close(&together, &apart, 1e-5); // f32 sums of some hundred terms
}

#[test]
fn a_long_sequence_in_parts_equals_the_whole() {
    let fixture = fixture(&[300, 20]);
    let in_parts = fixture.losses(&[0, 1]);
    let network = SequenceNetwork::new(&fixture.shape, &fixture.parameters).expect("network");
    let ranges = [0..300, 300..320];
    let rows = &fixture.rows();
    let (hidden, _) = network
        .teacher_forced(
            &ContextInputs::new(&fixture.encoder().context, &[0, 1], Device::Cpu).expect("context"),
            &RowInputs::new(rows, &ranges, Device::Cpu).expect("rows"),
            &CurrentInputs::new(rows, &ranges, Device::Cpu).expect("rows"),
            &Padding::new(&[300, 20], Device::Cpu).expect("padding"),
            &LstmState::start(SIZES, 2, Device::Cpu).expect("state"),
            &mut Mode::Use,
        )
        .expect("a pass");
    let targets =
        TargetTensors::new(&rows.targets, Some(&rows.skip), &ranges, Device::Cpu).expect("targets");
    let losses = network
        .decoder
        .losses(&hidden, &targets)
        .expect("losses")
        .sum_dim_intlist(1, false, Kind::Float);
    assert!(fixture.task(&fixture.encoder()).steps(&[0, 1]) > 1);
    assert_close(&in_parts, &to_doubles(&losses).expect("host"), 1e-5); // f32 sums of some hundred terms
}

#[test]
fn sampling_computes_what_training_computed() {
    let lengths = [8, 5];
    let fixture = fixture(&lengths);
    let network = SequenceNetwork::new(&fixture.shape, &fixture.parameters).expect("network");
    let rows = &fixture.rows();
    let context =
        ContextInputs::new(&fixture.encoder().context, &[0, 1], Device::Cpu).expect("context");
    let ranges = [0..8, 8..13];
    let (forced, _) = network
        .teacher_forced(
            &context,
            &RowInputs::new(rows, &ranges, Device::Cpu).expect("rows"),
            &CurrentInputs::new(rows, &ranges, Device::Cpu).expect("rows"),
            &Padding::new(&lengths, Device::Cpu).expect("padding"),
            &LstmState::start(SIZES, 2, Device::Cpu).expect("state"),
            &mut Mode::Use,
        )
        .expect("a pass");
    let mut state = LstmState::start(SIZES, 2, Device::Cpu).expect("state");
    let contexts = network.context(&context).expect("contexts");
    let mut step = network.step(1, Device::Cpu).expect("room that grows");
    for at in 0..8 {
        // The second sequence ends first.
        let present: Vec<usize> = (0..2).filter(|&sequence| at < lengths[sequence]).collect();
        let rows_of_step: Vec<usize> = present.iter().map(|&s| ranges[s].start + at).collect();
        let places = Tensor::from_slice(&present.iter().copied().map(long).collect::<Vec<_>>());
        let floats = |matrix: &Array2<f32>| -> Vec<f32> {
            let of_row = |&row: &usize| matrix.row(row).to_vec();
            rows_of_step.iter().flat_map(of_row).collect()
        };
        let place = |&row: &usize| {
            let position = rows.position.row(row).to_vec();
            [position, rows.calendar_before.row(row).to_vec()].concat()
        };
        let classes = rows_of_step
            .iter()
            .map(|&row| rows.history_categories.row(row).to_vec());
        let inputs = StepInputs {
            history_numbers: floats(&rows.history_numbers),
            history_categories: classes.flatten().collect(),
            place: rows_of_step.iter().flat_map(place).collect(),
        };
        state = step
            .begin(
                &inputs,
                &contexts.index_select(0, &places),
                &state.keep(&places).expect("states"),
            )
            .expect("a row");
        for (column, slot) in fixture.shape.slots.iter().enumerate() {
            let heads = fixture.shape.decoder.heads.iter().enumerate();
            for (head, _) in heads.filter(|(_, head)| head.column == column) {
                let skip: Vec<f32> = rows_of_step
                    .iter()
                    .map(|&row| rows.skip[(row, head)])
                    .collect();
                let stepwise = step.output(head, &skip).expect("a head");
                let wanted: Vec<i64> = rows_of_step.iter().copied().map(long).collect();
                let hidden = forced
                    .select(0, long(head))
                    .index_select(0, &Tensor::from_slice(&wanted));
                let trained = network
                    .decoder
                    .output(head, &hidden, &skip)
                    .expect("a head");
                let doubles = |said: &[f32]| said.iter().map(|&v| f64::from(v)).collect::<Vec<_>>();
                assert_close(&doubles(&stepwise.said), &doubles(&trained.said), 1e-5); // f32, other summation order
            }
            match *slot {
                Slot::Number(slot) => {
                    let width = CURRENT_FEATURES;
                    let of_row = |&row: &usize| {
                        rows.current_numbers.row(row).to_vec()[slot * width..(slot + 1) * width]
                            .to_vec()
                    };
                    let features: Vec<f32> = rows_of_step.iter().flat_map(of_row).collect();
                    let calendar = floats(&rows.calendar);
                    step.know_number(column, &features, (column == 0).then_some(&calendar))
                        .expect("a number");
                }
                Slot::Category(slot) => {
                    let class = |&row: &usize| rows.current_categories[(row, slot)];
                    step.know_category(column, rows_of_step.iter().map(class).collect())
                        .expect("a class");
                }
            }
        }
    }
}

#[test]
fn a_column_sees_earlier_columns_and_never_later_ones() {
    let fixture = fixture(&[5]);
    let encoder = fixture.encoder();
    let mut rows = fixture.rows();
    let losses = |rows: &EncodedRows| {
        let start = LstmState::start(SIZES, 1, Device::Cpu).expect("state");
        let task = fixture.task(&encoder);
        let (losses, _) = task
            .losses(&fixture.parameters, &[0], &[5], rows, &start, Mode::Use)
            .expect("losses");
        to_doubles(&losses.sum_dim_intlist(1, false, Kind::Float)).expect("host")
    };
    let before = losses(&rows);
    // `kind` is the second category slot's neighbour: change it in the last row, where no later row can see it.
    let class = &mut rows.current_categories[(4, 0)];
    *class = 1 - *class;
    let after = losses(&rows);
    let of_kind = fixture
        .layout
        .rows
        .iter()
        .position(|column| matches!(&column.kind, crate::layout::RowKind::Category(_)));
    for (head, (before, after)) in fixture
        .shape
        .decoder
        .heads
        .iter()
        .zip(before.iter().zip(&after))
    {
        if Some(head.column) <= of_kind {
            assert_eq!(before, after, "column {} sees a later one", head.column);
        } else {
            assert_ne!(
                before, after,
                "column {} does not see an earlier one",
                head.column
            );
        }
    }
}

/// Negative log-likelihood of one target, from what a head says for sampling, in f64.
fn loss_on_host(
    output: &HeadOutput,
    row: usize,
    class: usize,
    continuous: bool,
    ends: (f64, f64),
) -> f64 {
    let log_softmax = |logits: &[f32], at: usize| {
        let total: f64 = logits.iter().map(|&v| f64::from(v).exp()).sum();
        f64::from(logits[at]) - total.ln()
    };
    let mut loss = -log_softmax(output.logits(row), class);
    if continuous {
        let components = 2;
        let mixture = output.mixture(row);
        let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
        let probability: f64 = (0..components)
            .map(|k| {
                let (mean, scale) = (
                    f64::from(mixture[components + k]),
                    f64::from(mixture[2 * components + k]).exp(),
                );
                let inside = sigmoid((ends.1 - mean) / scale) - sigmoid((ends.0 - mean) / scale);
                log_softmax(&mixture[..components], k).exp() * inside
            })
            .sum();
        loss -= probability.ln();
    }
    loss
}

#[test]
fn the_loss_is_that_of_the_distribution_that_is_sampled() {
    let fixture = fixture(&[40, 30]);
    let network = SequenceNetwork::new(&fixture.shape, &fixture.parameters).expect("network");
    let rows = &fixture.rows();
    let targets = TargetTensors::new(
        &rows.targets,
        Some(&rows.skip),
        std::slice::from_ref(&(0..70)),
        Device::Cpu,
    )
    .expect("targets");
    let heads = long(fixture.shape.decoder.heads.len());
    let hidden = Tensor::linspace(
        -1.0,
        1.0,
        heads * 70 * SIZES.head,
        (Kind::Float, Device::Cpu),
    );
    let hidden = (hidden * 9.0).sin().view([heads, 70, SIZES.head]);
    let losses = network.decoder.losses(&hidden, &targets).expect("losses");
    let mut kinds = (0, 0, 0);
    for (head, shape) in fixture.shape.decoder.heads.iter().enumerate() {
        let skip: Vec<f32> = rows.skip.column(head).to_vec();
        let output = |skip: &[f32]| {
            let hidden = hidden.select(0, long(head));
            network.decoder.output(head, &hidden, skip).expect("output")
        };
        // A context has no row before, and so nothing to skip from.
        let (without, from_zero) = (output(&[]), output(&[0.0; 70]));
        assert_eq!(without.rows(), 70);
        assert_eq!(without.said, from_zero.said);
        let output = output(&skip);
        for row in 0..70 {
            let found = f64::try_from(losses.get(long(head)).get(long(row))).expect("a number");
            let class = rows.targets.class[(row, head)];
            if class == crate::encode::INACTIVE {
                assert_eq!(found, 0.0);
                kinds.0 += 1;
                continue;
            }
            let is_continuous = shape.continuous == Some(class as usize);
            kinds.1 += usize::from(is_continuous);
            kinds.2 += usize::from(shape.classes > 64);
            let ends = (
                f64::from(rows.targets.low[(row, head)]),
                f64::from(rows.targets.high[(row, head)]),
            );
            let wanted = loss_on_host(&output, row, class as usize, is_continuous, ends);
            assert!(
                (found - wanted).abs() < 2e-3 * (1.0 + wanted.abs()),
                "head {head}: {found} is not {wanted}"
            ); // f32 against f64, narrow intervals
        }
    }
    assert!(
        kinds.0 > 0 && kinds.1 > 0 && kinds.2 > 0,
        "a kind was not met: {kinds:?}"
    );
}

#[test]
fn the_context_network_sees_only_what_is_visible() {
    let fixture = fixture(&[3, 5, 4, 6, 2, 3]);
    let shape = ContextShape::new(&fixture.layout, SIZES);
    let parameters = parameters(&shape.plan());
    let network = ContextNetwork::new(&shape, &parameters).expect("network");
    let columns = shape.slots.len();
    let visible = visibility(6, columns, None, Device::Cpu).expect("flags");
    let hidden = |context: &EncodedContext| {
        let inputs = ContextInputs::new(context, &[0, 1, 2, 3, 4, 5], Device::Cpu).expect("inputs");
        network
            .hidden(&inputs, &visible, &mut Mode::Use)
            .expect("hidden")
    };
    let context = fixture.encoder().context;
    let before = hidden(&context);
    let mut changed = context.clone();
    // The first context column is the group: every later head sees it, its own does not.
    changed
        .categories
        .column_mut(0)
        .mapv_inplace(|class| 1 - class);
    let after = hidden(&changed);
    assert!(columns >= 3);
    for head in 0..long(columns) {
        let moved =
            f64::try_from((before.get(head) - after.get(head)).abs().max()).expect("a number");
        assert_eq!(moved > 0.0, head > 0, "head {head} moved by {moved}");
    }
    let single = ContextInputs::new(&fixture.encoder().context, &[2], Device::Cpu).expect("inputs");
    let known: Vec<bool> = (0..columns).map(|column| column < 2).collect();
    let stepwise = to_doubles(&network.head(2, &single, &known).expect("a head")).expect("host");
    assert_close(
        &stepwise,
        &to_doubles(&before.get(2).get(2)).expect("host"),
        1e-5,
    ); // f32
}

#[test]
fn random_orders_show_each_column_before_and_after_each_other() {
    let mut generator = Seed::new(Some(1)).stream(Purpose::ContextTraining);
    let flags = to_doubles(&visibility(200, 3, Some(&mut generator), Device::Cpu).expect("flags"))
        .expect("host");
    for head in 0..3 {
        for column in 0..3 {
            let seen: f64 = (0..200)
                .map(|sequence| flags[sequence * 9 + head * 3 + column])
                .sum();
            assert_eq!(
                head == column,
                seen == 0.0,
                "head {head}, column {column}: {seen}"
            );
        }
    }
    assert!(below(&mut generator, 3) < 3);
}
