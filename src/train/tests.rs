use super::*;
use crate::model::parameters::Start;
use crate::params::FitOptions;
use crate::rng::{Purpose, Seed};
use std::cell::Cell;
use tch::Kind;

/// A task with a known best: every sequence pulls the one weight towards its target.
struct Pull {
    targets: Vec<f32>,
    lengths: Vec<usize>,
    /// The loss becomes NaN after this many batches.
    breaks_after: usize,
    keeps_last: bool,
    batches: Cell<usize>,
    cancel: CancelToken,
}

impl Pull {
    fn new(targets: Vec<f32>) -> Pull {
        let lengths = vec![1; targets.len()];
        Pull {
            targets,
            lengths,
            breaks_after: usize::MAX,
            keeps_last: false,
            batches: Cell::new(0),
            cancel: CancelToken::new(),
        }
    }

    fn train(&self, options: FitOptions, split: &Split) -> Result<Outcome, TrainError> {
        let options = options.check().expect("valid options");
        self.trainer(&options, split).run(&[0.0])
    }

    fn trainer<'a>(&'a self, options: &'a ValidFitOptions, split: &'a Split) -> Trainer<'a, Pull> {
        let generator = Seed::new(Some(1)).stream(Purpose::SequenceTraining);
        Trainer {
            task: self,
            options,
            split,
            device: Device::Cpu,
            generator,
            progress: None,
            cancel: &self.cancel,
        }
    }
}

impl Task for Pull {
    type Carry = ();

    fn stage(&self) -> Stage {
        Stage::Sequence
    }

    fn plan(&self) -> Plan {
        let mut plan = Plan::default();
        plan.add("weight", &[1], Start::Constant(0.0));
        plan
    }

    fn keeps_last(&self) -> bool {
        self.keeps_last
    }

    fn head_columns(&self) -> Vec<String> {
        vec!["steady".to_owned(), "pulled".to_owned()]
    }

    fn units(&self, sequence: usize) -> usize {
        self.lengths[sequence]
    }

    fn steps(&self, _batch: &[usize]) -> usize {
        1
    }

    fn loss(
        &self,
        parameters: &Parameters,
        batch: &[usize],
        _step: usize,
        _carry: &mut Option<()>,
        _mode: Mode<'_>,
    ) -> Result<BatchLoss, ModelError> {
        self.batches.set(self.batches.get() + 1);
        let targets: Vec<f32> = batch
            .iter()
            .map(|&sequence| self.targets[sequence])
            .collect();
        let mut loss = parameters
            .flat()
            .f_sub(&Tensor::f_from_slice(&targets)?)?
            .f_square()?
            .f_sum(Kind::Float)?;
        if self.batches.get() > self.breaks_after {
            loss = loss.f_mul_scalar(f64::NAN)?;
        }
        let steady = loss.f_zeros_like()?;
        Ok(BatchLoss {
            sums: Tensor::f_stack(&[steady, loss], 0)?,
            log_densities: vec![0.0, 0.0],
            units: batch.iter().map(|&sequence| self.lengths[sequence]).sum(),
        })
    }
}

fn split(training: std::ops::Range<usize>, validation: std::ops::Range<usize>) -> Split {
    Split {
        training: training.collect(),
        validation: validation.collect(),
    }
}

#[test]
fn a_loss_that_is_not_finite_stops_with_column_and_epoch() {
    let mut task = Pull::new(vec![1.0; 64]);
    // Sixteen a batch: four batches an epoch, and the third epoch's second batch breaks.
    task.breaks_after = 9;
    let options = FitOptions {
        learning_rate: 1e-3,
        ..FitOptions::default()
    };
    let error = task.train(options, &split(0..64, 0..0)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the loss of column `pulled` is not finite in epoch 3 of the sequence network; try a lower learning rate than 0.001"
    );
}

#[test]
fn the_weights_that_held_out_sequences_liked_best_are_kept() {
    // Training pulls to 3, the held-out sequences want 1: the best weights lie on the way.
    let mut targets = vec![3.0; 60];
    targets.extend([1.0; 4]);
    let task = Pull::new(targets);
    let options = FitOptions {
        learning_rate: 1e-2,
        patience_steps: 100,
        ..FitOptions::default()
    };
    let outcome = task.train(options, &split(0..60, 60..64)).expect("a run");
    assert!(
        (outcome.weights[0] - 1.0).abs() < 0.15,
        "kept {}",
        outcome.weights[0]
    ); // twenty steps of 0.01 lie between validations
    assert!(outcome.kept_epoch < outcome.epochs.len());
    let losses: Vec<f64> = outcome
        .epochs
        .iter()
        .filter_map(|epoch| epoch.validation_nats)
        .collect();
    let best = outcome.epochs[outcome.kept_epoch - 1]
        .validation_nats
        .expect("a validated epoch");
    assert!(losses.iter().all(|&loss| loss >= best - LEAST_GAIN));
}

#[test]
fn without_held_out_sequences_training_ends_and_keeps_the_last_weights() {
    let task = Pull::new(vec![3.0; 16]);
    let outcome = task
        .train(FitOptions::default(), &split(0..16, 0..0))
        .expect("a run");
    assert!(
        (outcome.weights[0] - 3.0).abs() < 0.05,
        "kept {}",
        outcome.weights[0]
    ); // Adam settles within its rate
    assert_eq!(outcome.epochs.len(), UNVALIDATED_STEPS); // one batch an epoch
}

#[test]
fn training_goes_on_past_the_lowest_loss_and_then_ends() {
    let mut targets = vec![3.0; 60];
    targets.extend([1.0; 4]);
    let mut task = Pull::new(targets);
    task.keeps_last = true;
    let options = FitOptions {
        learning_rate: 1e-2,
        patience_steps: 100,
        ..FitOptions::default()
    };
    let outcome = task.train(options, &split(0..60, 60..64)).expect("a run");
    assert_eq!(outcome.kept_epoch, outcome.epochs.len());
    // Adam moves by about its rate a step: to the lowest loss 100 steps or somewhat more for the average to follow,
    // as many until patience ends, and as many at half the rate on average. Four batches are an epoch.
    let steps = 4 * outcome.epochs.len();
    assert!((300..500).contains(&steps), "{steps} steps");
    assert!(
        (2.0..3.0).contains(&outcome.weights[0]),
        "kept {}",
        outcome.weights[0]
    );
}

#[test]
fn the_learning_rate_stays_and_then_falls_to_nothing() {
    let options = FitOptions {
        epochs: Some(10),
        ..FitOptions::default()
    };
    let schedule = Schedule::new(&options.check().expect("valid options"), 100, true);
    assert_eq!(schedule.fall(599, None), None);
    assert_eq!(schedule.fall(599, Some(400)), None); // patience is three epochs
    assert_eq!(schedule.fall(599, Some(200)), Some(599..799));
    assert_eq!(schedule.fall(600, None), Some(600..1000)); // epochs are running out
    assert_eq!(schedule.rate(599, None), 1.0);
    assert_eq!(schedule.rate(800, Some(&(600..1000))), 0.5);
    assert_eq!(schedule.rate(1000, Some(&(600..1000))), LEAST_RATE);
}

#[test]
fn without_held_out_sequences_epochs_follow_from_the_steps_they_take() {
    let options = FitOptions::default().check().expect("valid options");
    let most = |steps_per_epoch| Schedule::new(&options, steps_per_epoch, false).most_epochs;
    assert_eq!(most(1), 1_000);
    assert_eq!(most(30), 60);
    assert_eq!(most(80), 50); // 4,000 steps
    assert_eq!(most(1_500), 20);
}

#[test]
fn zero_epochs_keep_the_starting_weights() {
    let task = Pull::new(vec![3.0; 16]);
    let options = FitOptions {
        epochs: Some(0),
        ..FitOptions::default()
    };
    let outcome = task.train(options, &split(0..12, 12..16)).expect("a run");
    assert_eq!(
        (outcome.weights, outcome.kept_epoch, outcome.epochs.len()),
        (vec![0.0], 0, 0)
    );
}

#[test]
fn a_time_limit_ends_training_with_the_weights_so_far() {
    let task = Pull::new(vec![3.0; 64]);
    let options = FitOptions {
        max_training_time: Some(std::time::Duration::ZERO),
        ..FitOptions::default()
    };
    let outcome = task.train(options, &split(0..60, 60..64)).expect("a run");
    assert_eq!(outcome.epochs.len(), 1);
    assert!(outcome.epochs[0].validation_nats.is_some() && outcome.weights[0] > 0.0);
}

#[test]
fn batches_hold_every_sequence_once_and_similar_lengths() {
    let mut task = Pull::new(vec![0.0; 320]);
    task.lengths = (0..320).map(|i| 1 + i % 100).collect();
    let options = FitOptions::default().check().expect("valid options");
    let all = split(0..320, 0..0);
    let mut trainer = task.trainer(&options, &all);
    let batches = trainer.batches(32, true);
    let mut seen: Vec<usize> = batches.iter().flatten().copied().collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..320).collect::<Vec<_>>());
    let longest: usize = batches
        .iter()
        .map(|batch| task.lengths[batch[0]] * batch.len())
        .sum();
    let rows: usize = task.lengths.iter().sum();
    // Lengths blurred by 15 % pad by about as much at most; unsorted batches of 1 to 100 rows would pad by 90 %.
    assert!(longest * 4 < rows * 5, "{longest} padded rows for {rows}");
    for batch in &batches {
        assert!(
            batch
                .windows(2)
                .all(|pair| task.lengths[pair[0]] >= task.lengths[pair[1]])
        );
    }
    assert_ne!(batches, trainer.batches(32, true));
}

#[test]
fn a_split_holds_out_whole_sequences_and_at_least_one() {
    let mut generator = Seed::new(Some(1)).stream(Purpose::ValidationSplit);
    let mut sizes = |sequences, share| {
        let split = Split::new(sequences, share, &mut generator);
        let mut all = [split.training.clone(), split.validation.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..sequences).collect::<Vec<_>>());
        (split.training.len(), split.validation.len())
    };
    assert_eq!(sizes(100, 0.1), (90, 10));
    assert_eq!(sizes(3, 0.1), (2, 1));
    assert_eq!(sizes(100, 0.0), (100, 0));
    assert_eq!(sizes(1, 0.5), (1, 0));
}

#[test]
fn an_average_starts_at_the_weights_and_then_follows_slowly() {
    let flat = Tensor::from_slice(&[1.0_f32]);
    let mut average = Tensor::from_slice(&[0.0_f32]);
    follow(&mut average, &flat, 1).expect("a step");
    let after_one = f64::try_from(average.get(0)).expect("a number");
    assert!((after_one - 9.0 / 11.0).abs() < 1e-6); // (1 + step) / (10 + step) of the old is kept; f32
    for step in 1000..1050 {
        follow(&mut average, &flat.zeros_like(), step).expect("a step");
    }
    let after_fifty = f64::try_from(average.get(0)).expect("a number");
    assert!((after_fifty - after_one * AVERAGE.powi(50)).abs() < 1e-5); // f32
}

#[test]
fn segments_of_one_sequence_are_all_learned_from_or_all_held_out() {
    let owners = [4, 4, 4, 5, 6, 6, 7, 7, 7, 7, 8];
    for seed in 0..20 {
        let mut generator = Seed::new(Some(seed)).stream(Purpose::ValidationSplit);
        let split = Split::of_segments(&owners, 0.4, &mut generator);
        let whose = |segments: &[usize]| -> Vec<u32> {
            let mut whose: Vec<u32> = segments.iter().map(|&at| owners[at]).collect();
            whose.sort_unstable();
            whose.dedup();
            whose
        };
        let (training, validation) = (whose(&split.training), whose(&split.validation));
        assert_eq!((training.len(), validation.len()), (3, 2));
        assert!(validation.iter().all(|owner| !training.contains(owner)));
        let mut all = [split.training, split.validation].concat();
        all.sort_unstable();
        assert_eq!(all, (0..owners.len()).collect::<Vec<_>>());
    }
}
