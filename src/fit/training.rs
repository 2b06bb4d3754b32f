//! The training of both networks.
//! In: a table with its layout. Out: the model and how its training went.

use super::{FitProgressFn, protected};
use crate::cancel::CancelToken;
use crate::encode::Encoder;
use crate::error::Result;
use crate::layout::Layout;
use crate::model::Sizes;
use crate::model::context::ContextShape;
use crate::model::sequence::SequenceShape;
use crate::params::ValidFitOptions;
use crate::report::FitReport;
use crate::rng::{Purpose, Seed};
use crate::synthesizer::Model;
use crate::table::{Schema, SequenceTable, Values};
use crate::tasks::{ContextTask, SequenceTask, context_names, row_head_names};
use crate::train::{Outcome, Split, Task, TrainError, Trainer};
use tch::{Device, Kind};

/// Columns with more categories than this are named in the report's warnings.
const MANY_CATEGORIES: usize = 500;
/// Width of embeddings and number of logistics in a mixture.
const EMBEDDING: i64 = 8;
const COMPONENTS: i64 = 6;
const HEAD: i64 = 64;

/// One fit's data and options.
pub(super) struct Training<'a> {
    pub(super) table: &'a SequenceTable,
    pub(super) schema: &'a Schema,
    pub(super) layout: &'a Layout,
    pub(super) options: &'a ValidFitOptions,
    pub(super) seed: Seed,
    pub(super) device: Device,
    pub(super) progress: Option<&'a FitProgressFn>,
    pub(super) cancel: &'a CancelToken,
}

impl Training<'_> {
    pub(super) fn run(&self) -> Result<(Model, FitReport)> {
        let encoder = self.encoder();
        let split = self.split();
        let (context_task, sequence_task) = self.tasks(&encoder);
        let (weights, training) = (Purpose::ContextWeights, Purpose::ContextTraining);
        let train_context = || self.train(&context_task, &split, weights, training);
        let (weights, training) = (Purpose::SequenceWeights, Purpose::SequenceTraining);
        let train_sequence = || self.train(&sequence_task, &split, weights, training);
        let (context, sequence) = run_both(self.options.threads, train_context, train_sequence)?;
        let model = Model::new(
            self.layout,
            sizes(self.options),
            &context.weights,
            &sequence.weights,
            self.device,
        )?;
        let report = self.report(&context, &sequence, &split);
        Ok((model, report))
    }

    pub(super) fn encoder(&self) -> Encoder<'_> {
        Encoder::new(self.table, self.layout, self.schema.sequence_index())
    }

    pub(super) fn split(&self) -> Split {
        let mut generator = self.seed.stream(Purpose::ValidationSplit);
        let share = self.options.validation_share;
        Split::of_segments(&self.table.owners, share, &mut generator)
    }

    /// The training of the context network and that of the sequence network.
    pub(super) fn tasks<'t>(
        &self,
        encoder: &'t Encoder<'t>,
    ) -> (ContextTask<'t>, SequenceTask<'t>) {
        let (sizes, device) = (sizes(self.options), self.device);
        let kind = match self.options.mixed_precision {
            true => Kind::BFloat16,
            false => Kind::Float,
        };
        let name = |column: usize| self.schema.columns[column].name.clone();
        let context = ContextTask {
            encoder,
            shape: ContextShape::new(self.layout, sizes),
            columns: context_names(self.layout, name),
            device,
            kind,
        };
        let sequence = SequenceTask {
            encoder,
            shape: SequenceShape::new(self.layout, sizes),
            columns: row_head_names(self.layout, name),
            device,
            kind,
        };
        (context, sequence)
    }

    /// Trains one network from random weights.
    fn train<T: Task>(
        &self,
        task: &T,
        split: &Split,
        weights: Purpose,
        training: Purpose,
    ) -> std::result::Result<Outcome, TrainError> {
        let start = task.plan().draw(&mut self.seed.stream(weights));
        self.trainer(task, split, training).run(&start)
    }

    pub(super) fn trainer<'t, T: Task>(
        &'t self,
        task: &'t T,
        split: &'t Split,
        purpose: Purpose,
    ) -> Trainer<'t, T> {
        Trainer {
            task,
            options: self.options,
            split,
            device: self.device,
            generator: self.seed.stream(purpose),
            progress: self.progress,
            cancel: self.cancel,
        }
    }

    fn report(&self, context: &Outcome, sequence: &Outcome, split: &Split) -> FitReport {
        FitReport {
            losses: context
                .epochs
                .iter()
                .chain(&sequence.epochs)
                .cloned()
                .collect(),
            kept_epoch: sequence.kept_epoch,
            epochs: sequence.epochs.len(),
            rows: self.table.rows(),
            training_sequences: split.training.len(),
            validation_sequences: split.validation.len(),
            weights: context.weights.len() + sequence.weights.len(),
            fit_secs: 0.0,
            warnings: warnings(
                self.schema,
                self.table,
                self.layout,
                self.options.value_protection,
            ),
            sequences: self.table.whole_sequences(),
            segments: self.options.segment_size.map(|_| self.table.sequences()),
        }
    }
}

/// Runs both trainings on threads of their own, at once where there are two threads to use. Each has one libtorch
/// thread: the products are small, and the result must not depend on the machine.
fn run_both<A: Send, B: Send>(
    threads: usize,
    first: impl FnOnce() -> std::result::Result<A, TrainError> + Send,
    second: impl FnOnce() -> std::result::Result<B, TrainError> + Send,
) -> std::result::Result<(A, B), TrainError> {
    std::thread::scope(|scope| {
        let first = scope.spawn(|| {
            tch::set_num_threads(1);
            first()
        });
        let first = if threads < 2 {
            Err(first.join())
        } else {
            Ok(first)
        };
        let second = scope.spawn(|| {
            tch::set_num_threads(1);
            second()
        });
        let first = match first {
            Ok(handle) => handle.join(),
            Err(joined) => joined,
        };
        let second = second.join();
        Ok((
            first.map_err(|_| TrainError::Thread)??,
            second.map_err(|_| TrainError::Thread)??,
        ))
    })
}

pub(crate) fn sizes(options: &ValidFitOptions) -> Sizes {
    Sizes {
        hidden: crate::model::long(options.hidden_size),
        layers: crate::model::long(options.layers),
        embedding: EMBEDDING,
        head: HEAD,
        components: COMPONENTS,
    }
}

fn warnings(
    schema: &Schema,
    table: &SequenceTable,
    layout: &Layout,
    value_protection: usize,
) -> Vec<String> {
    let mut warnings: Vec<String> = schema
        .columns
        .iter()
        .zip(&table.columns)
        .filter_map(|(column, values)| match values {
            Values::Labels { labels, .. } if !column.sdtype.is_made_up() && labels.len() > MANY_CATEGORIES => Some(format!(
                "column `{}` has {} categories; each is learned apart, so rare ones are learned poorly: declare it numerical or id, or merge rare values, if that fits",
                column.name,
                labels.len()
            )),
            _ => None,
        })
        .collect();
    warnings.extend(protected::warnings(schema, table, layout, value_protection));
    warnings
}
