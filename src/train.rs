//! Training: minibatches of similar lengths, Adam, clipping, averaged weights, and a learning rate that stays until
//! held-out sequences no longer gain and then falls to 0.
//! In: a [`Task`] (a network, its encoded data, its loss). Out: the weights to keep and the losses on the way.
//!
//! Everything is counted in optimizer steps and not in epochs alone, so that one rule serves a table of eighty
//! sequences and one of fifty thousand.

use crate::cancel::CancelToken;
use crate::model::parameters::{Parameters, Plan};
use crate::model::{ModelError, dropout::Mode};
use crate::params::{SMALL_TABLE_ROWS, ValidFitOptions};
use crate::report::{EpochLoss, FitProgress, Stage};
use crate::rng::shuffle;
use rand::rngs::ChaCha12Rng;
use std::ops::Range;
use std::time::{Duration, Instant};
use tch::nn::{OptimizerConfig, VarStore};
use tch::{Device, Tensor};

/// Gradients are scaled down to this norm (Pascanu et al. 2013).
const CLIP_NORM: f64 = 1.0;
/// The weights that are validated and kept are a running average of the last fifty steps or so.
const AVERAGE: f64 = 0.98;
/// Validation comes about every this many steps.
const STEPS_PER_VALIDATION: usize = 20;
/// The learning rate begins to fall when there was no new best for so many epochs, so many steps (an option), or such
/// a share of the steps to the best, whichever is longest.
const PATIENCE_EPOCHS: usize = 3;
const PATIENCE_OF_BEST: f64 = 0.5;
/// On large tables epochs are long; patience in epochs goes up to this many steps.
const MOST_PATIENCE_STEPS: usize = 3_000;
/// It falls for as many steps as it took to the best, and for at least so many.
const LEAST_FALL_STEPS: usize = 100;
/// It begins to fall after this share of the most steps at the latest.
const STEADY_SHARE: f64 = 0.6;
/// Nor does it fall below this share, so that a run cut off by time has learned something.
const LEAST_RATE: f64 = 0.01;
/// Training takes at most so many steps or so many epochs, whichever is longer.
const MOST_STEPS: usize = 4_000;
const MOST_EPOCHS: usize = 300;
/// Where nothing is held out nothing can say when to stop: at least so many steps and so many epochs, and up to more
/// epochs while these take no more than [`MOST_STEPS`]. A long series needs them: what holds its level over weeks is
/// learned last, and with fewer its samples wander off.
const UNVALIDATED_STEPS: usize = 1_000;
const UNVALIDATED_EPOCHS: usize = 20;
const MOST_UNVALIDATED_EPOCHS: usize = 60;
/// A new best must be better by this, in nats per row.
const LEAST_GAIN: f64 = 1e-4;
const VALIDATION_BATCH: usize = 256;

/// What can go wrong in training.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrainError {
    /// A loss became NaN or infinite.
    #[error(
        "the loss of column `{column}` is not finite in epoch {epoch} of the {stage} network; try a lower learning rate than {learning_rate}"
    )]
    NonFinite {
        /// The column with the first such loss.
        column: String,
        /// Counted from 1.
        epoch: usize,
        /// The network being trained.
        stage: Stage,
        /// The learning rate at that step.
        learning_rate: f64,
    },
    /// The network failed.
    #[error("training failed in the network")]
    Model(#[from] ModelError),
    /// libtorch refused an operation.
    #[error("libtorch failed in training")]
    Torch(#[from] tch::TchError),
    /// A [`CancelToken`](crate::CancelToken) ended it; [`Error`](crate::Error) tells it as
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    #[error("training was cancelled")]
    Cancelled,
    /// A training thread ended without a result.
    #[error("a training thread ended early")]
    Thread,
}

/// The loss of a batch.
#[derive(Debug)]
pub(crate) struct BatchLoss {
    /// Sums of negative log-likelihoods, one a head, in nats; gradients flow through it.
    pub(crate) sums: Tensor,
    /// What to subtract to make densities of the unrounded columns, one a head, in nats.
    pub(crate) log_densities: Vec<f64>,
    /// Rows (or sequences) in the batch.
    pub(crate) units: usize,
}

/// A network with its data.
pub(crate) trait Task {
    /// What a long batch carries from one step to the next.
    type Carry;
    fn stage(&self) -> Stage;
    fn plan(&self) -> Plan;
    /// Whether the last weights are kept and not those of the lowest validation loss.
    fn keeps_last(&self) -> bool;
    /// The name of the column of each head.
    fn head_columns(&self) -> Vec<String>;
    /// Rows of a sequence; 1 where sequences are the unit.
    fn units(&self, sequence: usize) -> usize;
    /// How many optimizer steps a batch takes.
    fn steps(&self, batch: &[usize]) -> usize;
    /// The loss of one step of a batch.
    fn loss(
        &self,
        parameters: &Parameters,
        batch: &[usize],
        step: usize,
        carry: &mut Option<Self::Carry>,
        mode: Mode<'_>,
    ) -> Result<BatchLoss, ModelError>;
}

/// How a training run went.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The weights to keep, in the plan's order.
    pub(crate) weights: Vec<f32>,
    pub(crate) epochs: Vec<EpochLoss>,
    /// The epoch whose weights were kept, counted from 1; 0 when no epoch was run.
    pub(crate) kept_epoch: usize,
}

/// Which sequences train and which are held out.
#[derive(Debug, Clone)]
pub(crate) struct Split {
    pub(crate) training: Vec<usize>,
    pub(crate) validation: Vec<usize>,
}

impl Split {
    /// Holds out a share of the sequences; none when the share is 0 or there is but one sequence.
    pub(crate) fn new(sequences: usize, share: f64, generator: &mut ChaCha12Rng) -> Split {
        let mut order: Vec<usize> = (0..sequences).collect();
        shuffle(&mut order, generator);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most half of the sequences"
        )]
        let wanted = (share * sequences as f64).round() as usize;
        let held = if share > 0.0 && sequences > 1 {
            wanted.max(1)
        } else {
            0
        };
        let training = order.split_off(held);
        Split {
            training,
            validation: order,
        }
    }

    /// The same for segments of sequences: those of one sequence are alike and stay together, unless there is but one.
    pub(crate) fn of_segments(owners: &[u32], share: f64, generator: &mut ChaCha12Rng) -> Split {
        let mut whole: Vec<Range<usize>> = Vec::new();
        for run in owners.chunk_by(|a, b| a == b) {
            let start = whole.last().map_or(0, |before| before.end);
            whole.push(start..start + run.len());
        }
        if whole.len() < 2 {
            return Split::new(owners.len(), share, generator);
        }
        let split = Split::new(whole.len(), share, generator);
        let segments = |sequences: Vec<usize>| {
            let ranges = sequences
                .into_iter()
                .map(|sequence| whole[sequence].clone());
            ranges.flatten().collect()
        };
        Split {
            training: segments(split.training),
            validation: segments(split.validation),
        }
    }
}

/// One training run.
pub(crate) struct Trainer<'a, T: Task> {
    pub(crate) task: &'a T,
    pub(crate) options: &'a ValidFitOptions,
    pub(crate) split: &'a Split,
    pub(crate) device: Device,
    pub(crate) generator: ChaCha12Rng,
    pub(crate) progress: Option<&'a (dyn Fn(&FitProgress) + Send + Sync)>,
    pub(crate) cancel: &'a CancelToken,
}

/// Losses of some batches, summed.
struct Sums {
    per_head: Vec<f64>,
    units: usize,
}

impl Sums {
    fn new(heads: usize) -> Sums {
        Sums {
            per_head: vec![0.0; heads],
            units: 0,
        }
    }

    fn add(&mut self, values: &[f64], loss: &BatchLoss) {
        for ((sum, value), density) in self
            .per_head
            .iter_mut()
            .zip(values)
            .zip(&loss.log_densities)
        {
            *sum += value - density;
        }
        self.units += loss.units;
    }

    fn mean(&self) -> f64 {
        self.per_head.iter().sum::<f64>() / self.units.max(1) as f64
    }
}

/// When to validate, slow down and stop.
pub(crate) struct Schedule {
    pub(crate) steps_per_epoch: usize,
    validate_every: usize,
    patience: usize,
    pub(crate) most_epochs: usize,
    started: Instant,
    most_time: Option<Duration>,
}

impl Schedule {
    fn new(options: &ValidFitOptions, steps_per_epoch: usize, validates: bool) -> Schedule {
        let steps_per_epoch = steps_per_epoch.max(1);
        let in_epochs = |steps: usize| steps.div_ceil(steps_per_epoch);
        let most_epochs = if validates {
            MOST_EPOCHS.max(in_epochs(MOST_STEPS))
        } else {
            UNVALIDATED_EPOCHS
                .max(in_epochs(UNVALIDATED_STEPS))
                .max(MOST_UNVALIDATED_EPOCHS.min(in_epochs(MOST_STEPS)))
        };
        Schedule {
            steps_per_epoch,
            validate_every: STEPS_PER_VALIDATION.div_ceil(steps_per_epoch),
            patience: options
                .patience_steps
                .max((PATIENCE_EPOCHS * steps_per_epoch).min(MOST_PATIENCE_STEPS)),
            most_epochs: options.epochs.unwrap_or(most_epochs),
            started: Instant::now(),
            most_time: options.max_training_time,
        }
    }

    fn most_steps(&self) -> usize {
        self.most_epochs.saturating_mul(self.steps_per_epoch)
    }

    /// The share of the most time that has passed; 0 where time is not limited.
    fn time_spent(&self) -> f64 {
        self.most_time.map_or(0.0, |most| {
            self.started.elapsed().as_secs_f64() / most.as_secs_f64().max(f64::MIN_POSITIVE)
        })
    }

    /// What the learning rate is multiplied by at a step.
    fn rate(&self, step: usize, fall: Option<&Range<usize>>) -> f64 {
        let of_steps = fall.map_or(1.0, |fall| {
            fall.end.saturating_sub(step) as f64 / fall.len().max(1) as f64
        });
        let of_time = (1.0 - self.time_spent()) / (1.0 - STEADY_SHARE);
        of_steps.min(of_time).clamp(LEAST_RATE, 1.0)
    }

    /// The steps over which the rate falls to 0, if it is time to begin.
    fn fall(&self, step: usize, best_step: Option<usize>) -> Option<Range<usize>> {
        let most = self.most_steps();
        if step >= share_of(most, STEADY_SHARE) {
            return Some(step..most);
        }
        let best_step = best_step?;
        let patience = self.patience.max(share_of(best_step, PATIENCE_OF_BEST));
        (step - best_step >= patience)
            .then(|| step..(step + best_step.max(LEAST_FALL_STEPS)).min(most))
    }
}

fn share_of(steps: usize, share: f64) -> usize {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a count"
    )]
    let part = (steps as f64 * share) as usize;
    part
}

impl<T: Task> Trainer<'_, T> {
    /// Trains from the given starting weights.
    /// # Errors
    /// [`TrainError::NonFinite`] before the optimizer takes in a loss that is not finite.
    pub(crate) fn run(mut self, start: &[f32]) -> Result<Outcome, TrainError> {
        let plan = self.task.plan();
        let store = VarStore::new(self.device);
        let flat = store
            .root()
            .f_var_copy("weights", &Tensor::f_from_slice(start)?)?;
        let parameters = Parameters::from_flat(plan, flat)?;
        let mut optimizer = tch::nn::AdamW {
            wd: 0.0,
            ..Default::default()
        }
        .build(&store, self.options.learning_rate)?;
        let mut average = parameters.flat().f_detach_copy()?;
        let batch_size = self.batch_size();
        let lengths_vary = self.lengths_vary();
        let usual_rows = self.usual_rows(batch_size, lengths_vary);
        let schedule = self.schedule();
        let most_epochs = schedule.most_epochs;
        let mut outcome = Outcome {
            weights: start.to_vec(),
            epochs: Vec::new(),
            kept_epoch: 0,
        };
        let (mut step, mut best_step, mut best) = (0, None, f64::INFINITY);
        let mut fall: Option<Range<usize>> = None;
        for epoch in 1..=most_epochs {
            let mut sums = Sums::new(self.task.head_columns().len());
            let mut rate = self.options.learning_rate;
            let mut is_last = epoch == most_epochs;
            'epoch: for batch in self.batches(batch_size, lengths_vary) {
                let mut carry = None;
                for part in 0..self.task.steps(&batch) {
                    self.check_cancelled()?;
                    fall = fall.or_else(|| schedule.fall(step, best_step));
                    let learning_rate =
                        self.options.learning_rate * schedule.rate(step, fall.as_ref());
                    optimizer.set_lr(learning_rate);
                    rate = learning_rate;
                    let mode = Mode::Train {
                        dropout: self.options.dropout,
                        generator: &mut self.generator,
                    };
                    let loss = self
                        .task
                        .loss(&parameters, &batch, part, &mut carry, mode)?;
                    let values = self.finite(&loss, epoch, learning_rate)?;
                    let units = usual_rows.unwrap_or(loss.units.max(1) as f64);
                    optimizer.zero_grad();
                    loss.sums
                        .f_sum(tch::Kind::Float)?
                        .f_div_scalar(units)?
                        .f_backward()?;
                    clip(parameters.flat()).map_err(|error| {
                        self.gradient_error(error, &values, epoch, learning_rate)
                    })?;
                    optimizer.step();
                    step += 1;
                    follow(&mut average, parameters.flat(), step)?;
                    sums.add(&values, &loss);
                    if schedule.time_spent() >= 1.0
                        || fall.as_ref().is_some_and(|fall| step >= fall.end)
                    {
                        is_last = true;
                        break 'epoch;
                    }
                }
            }
            let validates = !self.split.validation.is_empty()
                && (epoch % schedule.validate_every == 0 || is_last);
            let validation = if validates {
                Some(self.validate(&parameters, &average)?)
            } else {
                None
            };
            outcome
                .epochs
                .push(self.epoch_loss(epoch, rate, &sums, validation.as_ref()));
            self.report(&outcome, &schedule, step, fall.as_ref());
            let loss = validation.map(|sums| sums.mean());
            let is_best = loss.is_some_and(|loss| loss < best - LEAST_GAIN);
            // Without a finite loss so far, as on a held-out rarity, there is no better choice.
            let is_first = loss.is_some() && best_step.is_none();
            if is_best || is_first {
                (best, best_step) = (loss.unwrap_or(best), Some(step));
            }
            let keeps_last = self.task.keeps_last() || self.split.validation.is_empty();
            if is_best || is_first || (is_last && keeps_last) {
                outcome.kept_epoch = epoch;
                outcome.weights = Vec::<f32>::try_from(average.f_to_device(Device::Cpu)?)?;
            }
            if is_last {
                break;
            }
        }
        Ok(outcome)
    }

    fn check_cancelled(&self) -> Result<(), TrainError> {
        match self.cancel.is_cancelled() {
            true => Err(TrainError::Cancelled),
            false => Ok(()),
        }
    }

    /// How long it will take at most.
    pub(crate) fn schedule(&mut self) -> Schedule {
        let batches = self.epoch();
        let steps_per_epoch = batches.iter().map(|batch| self.task.steps(batch)).sum();
        let validates = !self.split.validation.is_empty();
        let mut schedule = Schedule::new(self.options, steps_per_epoch, validates);
        // Without a head, as when rows hold nothing but ids, there is nothing to learn.
        if self.task.head_columns().is_empty() {
            schedule.most_epochs = 0;
        }
        schedule
    }

    /// The batches of one epoch, which differ from those of the next.
    pub(crate) fn epoch(&mut self) -> Vec<Vec<usize>> {
        let (batch_size, lengths_vary) = (self.batch_size(), self.lengths_vary());
        self.batches(batch_size, lengths_vary)
    }

    fn batch_size(&self) -> usize {
        self.options.batch_size.unwrap_or_else(|| {
            let rows: usize = self
                .split
                .training
                .iter()
                .map(|&sequence| self.task.units(sequence))
                .sum();
            if rows < SMALL_TABLE_ROWS { 16 } else { 32 }
        })
    }

    /// The training sequences in batches of similar lengths, each batch longest first, the batches in random order.
    fn batches(&mut self, size: usize, lengths_vary: bool) -> Vec<Vec<usize>> {
        let mut order = self.split.training.clone();
        shuffle(&mut order, &mut self.generator);
        if lengths_vary {
            // Lengths are blurred by up to 15 %, so that batches differ from epoch to epoch.
            let mut keyed: Vec<(f64, usize)> = order
                .iter()
                .map(|&sequence| {
                    let blur = 1.0 + 0.15 * crate::rng::uniform(&mut self.generator);
                    (self.task.units(sequence) as f64 * blur, sequence)
                })
                .collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            order = keyed.into_iter().map(|(_, sequence)| sequence).collect();
        }
        let mut batches: Vec<Vec<usize>> = order.chunks(size).map(<[usize]>::to_vec).collect();
        for batch in &mut batches {
            batch.sort_by_key(|&sequence| std::cmp::Reverse(self.task.units(sequence)));
        }
        shuffle(&mut batches, &mut self.generator);
        batches
    }

    fn lengths_vary(&self) -> bool {
        self.split
            .training
            .windows(2)
            .any(|pair| self.task.units(pair[0]) != self.task.units(pair[1]))
    }

    /// What the summed loss of each batch is divided by where batches hold similar lengths: with their own numbers of
    /// rows those of short sequences would weigh more.
    fn usual_rows(&self, batch_size: usize, lengths_vary: bool) -> Option<f64> {
        let sequences = &self.split.training;
        let is_one_step = |&sequence: &usize| self.task.steps(&[sequence]) == 1;
        if !lengths_vary || !sequences.iter().all(is_one_step) {
            return None;
        }
        let rows: usize = sequences
            .iter()
            .map(|&sequence| self.task.units(sequence))
            .sum();
        let count = sequences.len();
        Some(batch_size.min(count) as f64 * rows as f64 / count as f64)
    }

    fn finite(
        &self,
        loss: &BatchLoss,
        epoch: usize,
        learning_rate: f64,
    ) -> Result<Vec<f64>, TrainError> {
        let values = crate::model::inputs::to_doubles(&loss.sums)?;
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(values),
            Some(head) => Err(TrainError::NonFinite {
                column: self.task.head_columns().swap_remove(head),
                epoch,
                stage: self.task.stage(),
                learning_rate,
            }),
        }
    }

    /// A gradient that is not finite is laid to the column with the largest loss.
    fn gradient_error(
        &self,
        error: ClipError,
        values: &[f64],
        epoch: usize,
        learning_rate: f64,
    ) -> TrainError {
        match error {
            ClipError::Torch(error) => error.into(),
            ClipError::NonFinite => {
                let largest = (0..values.len())
                    .max_by(|&a, &b| values[a].total_cmp(&values[b]))
                    .unwrap_or(0);
                let column = self
                    .task
                    .head_columns()
                    .get(largest)
                    .cloned()
                    .unwrap_or_default();
                TrainError::NonFinite {
                    column,
                    epoch,
                    stage: self.task.stage(),
                    learning_rate,
                }
            }
        }
    }

    fn validate(&self, parameters: &Parameters, average: &Tensor) -> Result<Sums, TrainError> {
        let averaged = Parameters::from_flat(parameters.plan().clone(), average.shallow_clone())?;
        tch::no_grad(|| self.evaluate(&averaged, &self.split.validation))
    }

    fn evaluate(&self, parameters: &Parameters, sequences: &[usize]) -> Result<Sums, TrainError> {
        let mut order = sequences.to_vec();
        order.sort_by_key(|&sequence| (std::cmp::Reverse(self.task.units(sequence)), sequence));
        let mut sums = Sums::new(self.task.head_columns().len());
        for batch in order.chunks(VALIDATION_BATCH) {
            let mut carry = None;
            for step in 0..self.task.steps(batch) {
                self.check_cancelled()?;
                let loss = self
                    .task
                    .loss(parameters, batch, step, &mut carry, Mode::Use)?;
                sums.add(&crate::model::inputs::to_doubles(&loss.sums)?, &loss);
            }
        }
        Ok(sums)
    }

    fn epoch_loss(
        &self,
        epoch: usize,
        learning_rate: f64,
        training: &Sums,
        validation: Option<&Sums>,
    ) -> EpochLoss {
        let per_column = |sums: &Sums| {
            let mut columns: Vec<(String, f64)> = Vec::new();
            for (name, sum) in self.task.head_columns().into_iter().zip(&sums.per_head) {
                let loss = sum / sums.units.max(1) as f64;
                match columns.last_mut() {
                    // A column modelled by its changes has two heads, side by side.
                    Some((last, total)) if *last == name => *total += loss,
                    _ => columns.push((name, loss)),
                }
            }
            columns
        };
        EpochLoss {
            stage: self.task.stage(),
            epoch,
            training_nats: training.mean(),
            validation_nats: validation.map(Sums::mean),
            training_nats_per_column: per_column(training),
            validation_nats_per_column: validation.map(per_column),
            learning_rate,
        }
    }

    fn report(
        &self,
        outcome: &Outcome,
        schedule: &Schedule,
        step: usize,
        fall: Option<&Range<usize>>,
    ) {
        if let (Some(progress), Some(loss)) = (self.progress, outcome.epochs.last()) {
            progress(&FitProgress {
                stage: loss.stage,
                epoch: loss.epoch,
                most_epochs: schedule.most_epochs,
                steps_per_epoch: schedule.steps_per_epoch,
                steps: step,
                most_steps: fall
                    .map_or(schedule.most_steps(), |fall| fall.end)
                    .max(step),
                training_nats: loss.training_nats,
                validation_nats: loss.validation_nats,
                elapsed: schedule.started.elapsed(),
            });
        }
    }
}

/// Why a gradient could not be clipped.
enum ClipError {
    NonFinite,
    Torch(tch::TchError),
}

impl From<tch::TchError> for ClipError {
    fn from(error: tch::TchError) -> Self {
        ClipError::Torch(error)
    }
}

/// Scales the gradient down to [`CLIP_NORM`]; torch's own clipping lets NaN pass.
fn clip(flat: &Tensor) -> Result<(), ClipError> {
    tch::no_grad(|| {
        let mut gradient = flat.f_grad()?;
        let norm = f64::try_from(gradient.f_norm()?)?;
        if !norm.is_finite() {
            return Err(ClipError::NonFinite);
        }
        if norm > CLIP_NORM {
            let _ = gradient.f_mul_scalar_(CLIP_NORM / norm)?;
        }
        Ok(())
    })
}

/// Moves the running average towards the weights; early on faster, so that the start is forgotten.
fn follow(average: &mut Tensor, flat: &Tensor, step: usize) -> Result<(), TrainError> {
    let keep = AVERAGE.min((1.0 + step as f64) / (10.0 + step as f64));
    tch::no_grad(|| {
        let _ = average.f_lerp_(&flat.f_detach()?, 1.0 - keep)?;
        Ok(())
    })
}

#[cfg(test)]
mod tests;
