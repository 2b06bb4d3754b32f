//! What training and sampling tell the user: progress while they run, losses afterwards.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Which of the two networks a loss belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Stage {
    /// The context network: context columns, start and length of a sequence. Losses are per sequence.
    Context,
    /// The sequence network: the rows. Losses are per row.
    Sequence,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Stage::Context => "context",
            Stage::Sequence => "sequence",
        })
    }
}

/// Losses of one epoch: mean negative log-likelihood in nats, per sequence for [`Stage::Context`] and per row for
/// [`Stage::Sequence`]. Rounded values count with their probability; a column whose values are not on a grid counts
/// with its density, which may exceed 1, so its loss may be negative.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpochLoss {
    /// The network.
    pub stage: Stage,
    /// Counted from 1.
    pub epoch: usize,
    /// Mean over the epoch's minibatches, with dropout.
    pub training_nats: f64,
    /// Mean over the held-out sequences, of the averaged weights without dropout; none in epochs that do not validate.
    pub validation_nats: Option<f64>,
    /// `training_nats` by column, in the order in which a row is filled. `(length)`, `(start)`, `(time of day)`,
    /// `(ends with table)` and `(gap)` are the parts of length and sequence index.
    pub training_nats_per_column: Vec<(String, f64)>,
    /// `validation_nats` by column.
    pub validation_nats_per_column: Option<Vec<(String, f64)>>,
    /// Adam's learning rate at the epoch's last step.
    pub learning_rate: f64,
}

/// How a fit went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitReport {
    /// Losses of both networks, each in the order of its epochs.
    pub losses: Vec<EpochLoss>,
    /// The epoch of the sequence network whose weights were kept, counted from 1: its last; 0 when none was run.
    pub kept_epoch: usize,
    /// Epochs of the sequence network that were run.
    pub epochs: usize,
    /// Rows trained on and held out: all of the table.
    pub rows: usize,
    /// Sequences trained on; segments, where sequences were cut into them.
    pub training_sequences: usize,
    /// Sequences held out for validation; segments, where sequences were cut into them.
    pub validation_sequences: usize,
    /// Numbers in both networks.
    pub weights: usize,
    /// Wall-clock time of the whole fit.
    pub fit_secs: f64,
    /// What the fit did that a user should know, such as columns with very many categories.
    pub warnings: Vec<String>,
    /// Sequences in the table: all were used.
    pub sequences: usize,
    /// Segments that [`segment_size`](crate::ParSynthesizerBuilder::segment_size) cut them into; none where it was not
    /// set.
    pub segments: Option<usize>,
}

impl FitReport {
    /// The validation loss of the weights that were kept, in nats per row; none without validation. It lies above the
    /// lowest of `losses`: training goes on past it, for the sake of what whole sequences look like.
    #[must_use]
    pub fn validation_nats(&self) -> Option<f64> {
        self.losses
            .iter()
            .find(|loss| loss.stage == Stage::Sequence && loss.epoch == self.kept_epoch)
            .and_then(|loss| loss.validation_nats)
    }
}

/// Where a fit stands, after each epoch.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FitProgress {
    /// The network being trained; with two threads or more both train at once.
    pub stage: Stage,
    /// Counted from 1.
    pub epoch: usize,
    /// Training ends here at the latest, mostly earlier.
    pub most_epochs: usize,
    /// Optimizer steps in an epoch.
    pub steps_per_epoch: usize,
    /// Optimizer steps so far.
    pub steps: usize,
    /// Optimizer steps at the latest; known to be fewer than `most_epochs` have once the learning rate falls.
    pub most_steps: usize,
    /// See [`EpochLoss::training_nats`].
    pub training_nats: f64,
    /// See [`EpochLoss::validation_nats`].
    pub validation_nats: Option<f64>,
    /// Since this network's training began.
    pub elapsed: Duration,
}

impl FitProgress {
    /// Optimizer steps in a second, validation included.
    #[must_use]
    pub fn steps_per_second(&self) -> f64 {
        self.steps as f64 / self.elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// The time that the steps left take at most, at the rate so far.
    #[must_use]
    pub fn most_time_left(&self) -> Duration {
        let left = self.most_steps.saturating_sub(self.steps) as f64;
        let share = left / self.steps.max(1) as f64;
        Duration::try_from_secs_f64(self.elapsed.as_secs_f64() * share).unwrap_or(Duration::MAX)
    }
}

/// One line, such as `sequence network, epoch 40 of at most 300: 12.345 nats, held out 12.501, 8 s, at most 52 s left`.
impl std::fmt::Display for FitProgress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} network, epoch {} of at most {}: {:.3} nats",
            self.stage, self.epoch, self.most_epochs, self.training_nats
        )?;
        if let Some(nats) = self.validation_nats {
            write!(f, ", held out {nats:.3}")?;
        }
        let left = self.most_time_left().as_secs_f64();
        let elapsed = self.elapsed.as_secs_f64();
        write!(f, ", {elapsed:.0} s, at most {left:.0} s left")
    }
}

/// What a fit will take, from [`ParSynthesizerBuilder::estimate`](crate::ParSynthesizerBuilder::estimate).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FitEstimate {
    /// Rows of the table.
    pub rows: usize,
    /// Sequences of the table; segments, where sequences are cut into them.
    pub sequences: usize,
    /// Numbers in both networks.
    pub weights: usize,
    /// Optimizer steps that the sequence network takes in an epoch.
    pub steps_per_epoch: usize,
    /// Epochs of the sequence network at the latest; held-out sequences mostly end training earlier.
    pub most_epochs: usize,
    /// Share of the sequence network's computed steps that fall on no row, because a batch's sequences differ in length:
    /// batches hold sequences of similar lengths. `0.0..1.0`
    pub padding: f64,
    /// Bytes that the fit will hold at its peak: the table where it is kept in memory, one column while it is read and its
    /// codec fitted, the networks with what their training keeps of each weight, and a step's work. Beside it come the
    /// frame, where one is given, and libtorch's code, some 120 MB.
    pub memory_bytes: u64,
    /// Bytes of the temporary files that a table larger than
    /// [`max_table_memory`](crate::ParSynthesizerBuilder::max_table_memory) is kept in, 0 for others. What is mapped of them
    /// counts as resident while there is room for it, and no longer once other work needs the memory.
    pub mapped_bytes: u64,
}

/// One line, such as `2250000 rows of 50000 sequences: 81920 weights, 1407 steps an epoch, 300 epochs at most, 230 MB`.
impl std::fmt::Display for FitEstimate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} rows of {} sequences: {} weights, {} steps an epoch, {} epochs at most, {} MB",
            self.rows,
            self.sequences,
            self.weights,
            self.steps_per_epoch,
            self.most_epochs,
            self.memory_bytes / 1_000_000
        )?;
        match self.mapped_bytes {
            0 => Ok(()),
            bytes => write!(f, " beside {} MB in files", bytes / 1_000_000),
        }
    }
}

/// Where sampling stands, after each chunk of sequences.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SampleProgress {
    /// Sequences made so far.
    pub sequences: usize,
    /// Sequences asked for; for a request in rows the number made so far.
    pub sequences_wanted: usize,
    /// Rows made so far.
    pub rows: usize,
    /// Rows asked for; none for a request in sequences.
    pub rows_wanted: Option<usize>,
    /// Since sampling began.
    pub elapsed: Duration,
}

impl SampleProgress {
    /// Rows made in a second, on average since sampling began; 0 before the first.
    #[must_use]
    pub fn rows_per_second(&self) -> f64 {
        rate(self.rows, self.elapsed)
    }

    /// How long the rest takes at the rate so far: by rows where rows were asked for, else by sequences. None before
    /// the first rows.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        let (made, wanted) = match self.rows_wanted {
            Some(wanted) => (self.rows, wanted),
            None => (self.sequences, self.sequences_wanted),
        };
        if made == 0 {
            return None;
        }
        let share_left = wanted.saturating_sub(made) as f64 / made as f64;
        Duration::try_from_secs_f64(self.elapsed.as_secs_f64() * share_left).ok()
    }
}

/// A number in a second; 0 where there is no number.
fn rate(count: usize, elapsed: Duration) -> f64 {
    match count {
        0 => 0.0,
        _ => count as f64 / elapsed.as_secs_f64().max(1e-9),
    }
}

/// What was sampled into a file.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SampleReport {
    /// Sequences written.
    pub sequences: usize,
    /// Rows written.
    pub rows: usize,
    /// From the start of sampling to the finished file.
    pub elapsed: Duration,
}

impl SampleReport {
    /// Rows sampled and written in a second, on average.
    #[must_use]
    pub fn rows_per_second(&self) -> f64 {
        rate(self.rows, self.elapsed)
    }
}

/// One line, such as `1000 sequences, 6144 rows, 2 s`.
impl std::fmt::Display for SampleReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} sequences, {} rows, {:.0} s",
            self.sequences,
            self.rows,
            self.elapsed.as_secs_f64()
        )
    }
}

/// One line, such as `512 of 1000 sequences, 6144 rows, 2 s, 2 s left`.
impl std::fmt::Display for SampleProgress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} of {} sequences, {} rows, {:.0} s",
            self.sequences,
            self.sequences_wanted,
            self.rows,
            self.elapsed.as_secs_f64()
        )?;
        match self.time_left().filter(|left| !left.is_zero()) {
            Some(left) => write!(f, ", {:.0} s left", left.as_secs_f64()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_tells_the_rate_and_the_time_left_by_what_was_asked_for() {
        let mut progress = SampleProgress {
            sequences: 512,
            sequences_wanted: 2_048,
            rows: 5_000,
            rows_wanted: None,
            elapsed: Duration::from_secs(2),
        };
        assert!((progress.rows_per_second() - 2_500.0).abs() < 1e-9);
        assert_eq!(progress.time_left(), Some(Duration::from_secs(6)));
        assert_eq!(
            progress.to_string(),
            "512 of 2048 sequences, 5000 rows, 2 s, 6 s left"
        );
        progress.rows_wanted = Some(7_500);
        assert_eq!(progress.time_left(), Some(Duration::from_secs(1)));
        progress.rows = 8_000; // whole sequences may go past it
        assert_eq!(progress.time_left(), Some(Duration::ZERO));
        progress.rows = 0;
        assert_eq!(progress.time_left(), None);
        assert!(progress.rows_per_second() == 0.0);
    }
}
