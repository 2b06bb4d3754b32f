//! [`ParSynthesizer`] and its builder: the only module that knows the whole chain from a frame to a frame.

use crate::codec::identifier::IdentifierCodec;
use crate::decode::{Decoding, GivenIdentifiers};
use crate::encode::encode;
use crate::error::{Error, Result};
use crate::health::Versions;
use crate::layout::{ContextKind, ContextSource, Layout};
use crate::metadata::{Metadata, SdType};
use crate::model::context::{ContextNetwork, ContextShape};
use crate::model::parameters::Parameters;
use crate::model::sequence::{SequenceNetwork, SequenceShape};
use crate::model::{ModelError, Sizes};
use crate::params::{FitOptions, OptionError, ValidFitOptions, checked_threads};
use crate::report::{FitProgress, FitReport, SampleProgress};
use crate::rng::{Purpose, Seed};
use crate::sample::{CHUNK, GivenColumn, Networks, Request, SampledSequences, sample_chunk};
use crate::sampling::SampleOptions;
use crate::table::{ContextRows, Label, MISSING_CODE, Role, Schema, SequenceTable, Values};
use crate::tasks::{ContextTask, SequenceTask, context_names, row_head_names};
use crate::train::{Outcome, Split, TrainError, Trainer};
use polars::frame::DataFrame;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};
use tch::Device;

mod persistence;

/// Columns with more categories than this are named in the report's warnings.
const MANY_CATEGORIES: usize = 500;
/// Width of embeddings and number of logistics in a mixture.
const EMBEDDING: i64 = 8;
const COMPONENTS: i64 = 6;
const HEAD: i64 = 64;

type OnFitProgress = Arc<dyn Fn(&FitProgress) + Send + Sync>;

/// Collects the options of a fit; [`ParSynthesizerBuilder::fit`] checks them all.
#[must_use]
pub struct ParSynthesizerBuilder {
    metadata: Metadata,
    context_columns: Vec<String>,
    options: FitOptions,
    device: Device,
    progress: Option<OnFitProgress>,
}

impl std::fmt::Debug for ParSynthesizerBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParSynthesizerBuilder")
            .field("context_columns", &self.context_columns)
            .field("options", &self.options)
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}

impl ParSynthesizerBuilder {
    /// Columns that are constant within each sequence; none by default. Their order does not matter.
    pub fn context_columns<S: Into<String>>(
        mut self,
        columns: impl IntoIterator<Item = S>,
    ) -> Self {
        self.context_columns = columns.into_iter().map(Into::into).collect();
        self
    }

    /// Width of the LSTM: `1..=4096`, default 64.
    pub fn hidden_size(mut self, hidden_size: usize) -> Self {
        self.options.hidden_size = hidden_size;
        self
    }

    /// Layers of the LSTM: `1..=8`, default 1.
    pub fn layers(mut self, layers: usize) -> Self {
        self.options.layers = layers;
        self
    }

    /// At most this many passes over the data for each network; by default 300, or as many as make 4,000 optimizer
    /// steps if that is more. Training stops earlier when held-out sequences no longer gain. With 0 the network stays
    /// untrained over fitted codecs, and samples are valid rows without structure.
    pub fn epochs(mut self, epochs: usize) -> Self {
        self.options.epochs = Some(epochs);
        self
    }

    /// Sequences in a minibatch: `1..=65_536`; by default 16 below 6,000 training rows and 32 from there.
    pub fn batch_size(mut self, batch_size: usize) -> Self {
        self.options.batch_size = Some(batch_size);
        self
    }

    /// Adam's first learning rate: `1e-7..=1.0`, default 0.005. It halves when held-out sequences stop gaining.
    pub fn learning_rate(mut self, learning_rate: f64) -> Self {
        self.options.learning_rate = learning_rate;
        self
    }

    /// Share of inputs and hidden units dropped in training: `0.0..=0.9`, default 0.2, met to within 1/512.
    pub fn dropout(mut self, dropout: f64) -> Self {
        self.options.dropout = dropout;
        self
    }

    /// Share of the sequences held out to tell when to stop: `0.0..=0.5`, default 0.1. At 0, and for a single
    /// sequence, training runs 1,000 optimizer steps, or as many epochs as [`epochs`](Self::epochs) says.
    pub fn validation_share(mut self, validation_share: f64) -> Self {
        self.options.validation_share = validation_share;
        self
    }

    /// Optimizer steps without a gain after which training stops, default 300. On tables where it is longer, 15
    /// epochs (up to 3,000 steps) or half the steps to the best weights so far are waited for.
    pub fn patience_steps(mut self, steps: usize) -> Self {
        self.options.patience_steps = steps;
        self
    }

    /// Stops each network's training after this time, keeping the best weights so far; no limit by default. A fit that
    /// was cut off by time is not repeatable by its seed.
    pub fn max_training_time(mut self, time: Duration) -> Self {
        self.options.max_training_time = Some(time);
        self
    }

    /// Keeps sampled values within the smallest and largest seen, default true; the sequence index is never clipped.
    pub fn enforce_min_max_values(mut self, enforce: bool) -> Self {
        self.options.enforce_min_max = enforce;
        self
    }

    /// Makes the fit repeatable on CPU for one number of threads; fresh randomness by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = Some(seed);
        self
    }

    /// Where training and sampling run, default the CPU. Asking for CUDA where it cannot be used is an error.
    pub fn device(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// Threads: `1..=1024`, default one a core. With two or more both networks train at once.
    pub fn threads(mut self, threads: usize) -> Self {
        self.options.threads = Some(threads);
        self
    }

    /// Called after each epoch, from the training threads.
    pub fn on_progress(mut self, progress: impl Fn(&FitProgress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }

    /// Learns from a table of sequences, in any row order and chunking.
    /// # Errors
    /// [`Error::Option`] for an option outside its range, [`Error::Table`] when the data does not fit the metadata,
    /// [`Error::Train`] when a loss is not finite, [`Error::Device`] when the device cannot be used.
    pub fn fit(self, data: &DataFrame) -> Result<ParSynthesizer> {
        let started = Instant::now();
        let options = self.options.check()?;
        usable(self.device)?;
        let schema = Schema::fit(data, &self.metadata, &self.context_columns)?;
        let table = SequenceTable::from_frame(data, &schema)?;
        let seed = Seed::new(options.seed);
        let layout = Layout::fit(&table, &schema);
        let training = Training {
            table: &table,
            schema: &schema,
            layout: &layout,
            options: &options,
            seed,
            device: self.device,
            progress: self.progress.as_deref(),
        };
        let (model, mut report) = training.run()?;
        report.fit_secs = started.elapsed().as_secs_f64();
        Ok(ParSynthesizer {
            identifiers: fit_identifiers(&schema, &table, seed),
            metadata: self.metadata,
            schema,
            layout,
            report,
            options,
            saved_by: None,
            model: Mutex::new(model),
        })
    }
}

/// One fit's data and options.
struct Training<'a> {
    table: &'a SequenceTable,
    schema: &'a Schema,
    layout: &'a Layout,
    options: &'a ValidFitOptions,
    seed: Seed,
    device: Device,
    progress: Option<&'a (dyn Fn(&FitProgress) + Send + Sync)>,
}

impl Training<'_> {
    fn run(&self) -> Result<(Model, FitReport)> {
        let encoded = encode(self.table, self.layout, self.schema.sequence_index());
        let mut generator = self.seed.stream(Purpose::ValidationSplit);
        let split = Split::new(
            self.table.sequences(),
            self.options.validation_share,
            &mut generator,
        );
        let sizes = sizes(self.options);
        let name = |column: usize| self.schema.columns[column].name.clone();
        let context_task = ContextTask {
            encoded: &encoded,
            shape: ContextShape::new(self.layout, sizes),
            columns: context_names(self.layout, name),
            device: self.device,
        };
        let sequence_task = SequenceTask {
            encoded: &encoded,
            shape: SequenceShape::new(self.layout, sizes),
            columns: row_head_names(self.layout, name),
            device: self.device,
        };
        let train_context = || {
            let start = context_task
                .shape
                .plan()
                .draw(&mut self.seed.stream(Purpose::ContextWeights));
            let generator = self.seed.stream(Purpose::ContextTraining);
            let (options, device, progress) = (self.options, self.device, self.progress);
            Trainer {
                task: &context_task,
                options,
                split: &split,
                device,
                generator,
                progress,
            }
            .run(&start)
        };
        let train_sequence = || {
            let start = sequence_task
                .shape
                .plan()
                .draw(&mut self.seed.stream(Purpose::SequenceWeights));
            let generator = self.seed.stream(Purpose::SequenceTraining);
            let (options, device, progress) = (self.options, self.device, self.progress);
            Trainer {
                task: &sequence_task,
                options,
                split: &split,
                device,
                generator,
                progress,
            }
            .run(&start)
        };
        let (context, sequence) = run_both(self.options.threads, train_context, train_sequence)?;
        let model = Model::new(
            self.layout,
            sizes,
            &context.weights,
            &sequence.weights,
            self.device,
        )?;
        let report = self.report(&context, &sequence, &split);
        Ok((model, report))
    }

    fn report(&self, context: &Outcome, sequence: &Outcome, split: &Split) -> FitReport {
        FitReport {
            losses: context
                .epochs
                .iter()
                .chain(&sequence.epochs)
                .cloned()
                .collect(),
            best_epoch: sequence.best_epoch,
            epochs: sequence.epochs.len(),
            rows: self.table.rows(),
            training_sequences: split.training.len(),
            validation_sequences: split.validation.len(),
            weights: context.weights.len() + sequence.weights.len(),
            fit_secs: 0.0,
            warnings: warnings(self.schema, self.table),
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

fn sizes(options: &ValidFitOptions) -> Sizes {
    Sizes {
        hidden: crate::model::long(options.hidden_size),
        layers: crate::model::long(options.layers),
        embedding: EMBEDDING,
        head: HEAD,
        components: COMPONENTS,
    }
}

fn warnings(schema: &Schema, table: &SequenceTable) -> Vec<String> {
    let modelled = |sdtype: &SdType| !matches!(sdtype, SdType::Id { .. });
    schema
        .columns
        .iter()
        .zip(&table.columns)
        .filter_map(|(column, values)| match values {
            Values::Labels { labels, .. } if modelled(&column.sdtype) && labels.len() > MANY_CATEGORIES => Some(format!(
                "column `{}` has {} categories; each is learned apart, so rare ones are learned poorly: declare it numerical or id, or merge rare values, if that fits",
                column.name,
                labels.len()
            )),
            _ => None,
        })
        .collect()
}

fn fit_identifiers(
    schema: &Schema,
    table: &SequenceTable,
    seed: Seed,
) -> Vec<Option<IdentifierCodec>> {
    schema
        .columns
        .iter()
        .zip(&table.columns)
        .map(|(column, values)| match (values, &column.sdtype) {
            // The sequence key may be declared with any sdtype and is made up like an id.
            (Values::Labels { labels, .. }, sdtype)
                if column.role == Role::SequenceKey || matches!(sdtype, SdType::Id { .. }) =>
            {
                let regex_format = match sdtype {
                    SdType::Id { regex_format } => regex_format.as_deref(),
                    _ => None,
                };
                let hash_key = seed.hash_key();
                (!labels.is_empty()).then(|| IdentifierCodec::fit(labels, regex_format, hash_key))
            }
            _ => None,
        })
        .collect()
}

/// Refuses a device that libtorch cannot use, and says which of the two reasons it is.
fn usable(device: Device) -> Result<()> {
    let refuse = |reason| {
        Err(Error::Device {
            device: format!("{device:?}"),
            reason,
        })
    };
    match device {
        Device::Cuda(number) if !tch::Cuda::is_available() => {
            refuse(if option_env!("PARSYNTH_LIBTORCH_HAS_CUDA") == Some("1") {
                let _ = number;
                "libtorch was built for CUDA but finds no GPU or driver, or its CUDA part was not linked into this program; see docs/libtorch.md"
            } else {
                "this program was built with a CPU-only libtorch; point LIBTORCH at a CUDA build and build again, see docs/libtorch.md"
            })
        }
        Device::Cuda(number)
            if i64::try_from(number).is_ok_and(|number| number >= tch::Cuda::device_count()) =>
        {
            refuse("there are fewer GPUs than that")
        }
        Device::Mps if !tch::utils::has_mps() => refuse("libtorch finds no Metal device"),
        Device::Vulkan => refuse("LSTMs do not run on Vulkan"),
        _ => Ok(()),
    }
}

/// Both networks' weights on one device.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) context: Parameters,
    pub(crate) sequence: Parameters,
    context_shape: ContextShape,
    sequence_shape: SequenceShape,
}

impl Model {
    pub(crate) fn new(
        layout: &Layout,
        sizes: Sizes,
        context: &[f32],
        sequence: &[f32],
        device: Device,
    ) -> std::result::Result<Model, ModelError> {
        let (context_shape, sequence_shape) = (
            ContextShape::new(layout, sizes),
            SequenceShape::new(layout, sizes),
        );
        Ok(Model {
            context: Parameters::new(context_shape.plan(), context, device)?,
            sequence: Parameters::new(sequence_shape.plan(), sequence, device)?,
            context_shape,
            sequence_shape,
        })
    }

    fn device(&self) -> Device {
        self.sequence.flat().device()
    }

    /// A handle on the same weights, for another thread.
    fn share(&self) -> Model {
        Model {
            context: self.context.share(),
            sequence: self.sequence.share(),
            context_shape: self.context_shape.clone(),
            sequence_shape: self.sequence_shape.clone(),
        }
    }

    fn networks(&self) -> std::result::Result<Networks, ModelError> {
        tch::no_grad(|| {
            Ok(Networks {
                context: ContextNetwork::new(&self.context_shape, &self.context)?,
                sequence: SequenceNetwork::new(&self.sequence_shape, &self.sequence)?,
                device: self.device(),
            })
        })
    }
}

/// A model of a table of sequences, and a source of new ones.
///
/// It is `Send + Sync`; sampling takes `&self`, so threads can share one model.
#[derive(Debug)]
pub struct ParSynthesizer {
    pub(crate) metadata: Metadata,
    pub(crate) schema: Schema,
    pub(crate) layout: Layout,
    pub(crate) identifiers: Vec<Option<IdentifierCodec>>,
    pub(crate) report: FitReport,
    pub(crate) options: ValidFitOptions,
    /// What saved it; none for one that was fitted here.
    pub(crate) saved_by: Option<Versions>,
    pub(crate) model: Mutex<Model>,
}

impl ParSynthesizer {
    /// Starts a fit: everything has a default but the metadata.
    pub fn builder(metadata: Metadata) -> ParSynthesizerBuilder {
        ParSynthesizerBuilder {
            metadata,
            context_columns: Vec::new(),
            options: FitOptions::default(),
            device: Device::Cpu,
            progress: None,
        }
    }

    /// New sequences, as many as asked for, each with a length of its own: a frame of the columns, order and dtypes of
    /// the data that was fitted. Fresh randomness at each call.
    /// # Errors
    /// [`Error::Identifier`] when a column has room for fewer new identifiers.
    pub fn sample(&self, sequences: usize) -> Result<DataFrame> {
        self.sample_with(&SampleOptions::sequences(sequences))
    }

    /// New sequences as the options say.
    /// # Errors
    /// [`Error::Option`] for an option outside its range, or when the options say not how much; others as
    /// [`ParSynthesizer::sample`].
    pub fn sample_with(&self, options: &SampleOptions) -> Result<DataFrame> {
        if options.sequences.is_none() && options.rows.is_none() {
            return Err(OptionError {
                option: "sequences",
                found: "not set".to_owned(),
                wanted: "SampleOptions::sequences(n) or SampleOptions::rows(n)".to_owned(),
            }
            .into());
        }
        self.run(options, Vec::new(), &Vec::new(), options.sequences)
    }

    /// One new sequence for each row of a frame of context columns.
    ///
    /// The frame may hold any of the context columns, in any order, and the sequence key; what is missing is drawn given
    /// the rest, keys are made up unless given, and given values come back unchanged.
    /// # Errors
    /// [`Error::Table`] for a column that is no context column, [`Error::UnseenCategory`] and
    /// [`Error::UnseenMissing`] for values that training never saw, [`Error::RepeatedKey`].
    pub fn sample_sequential_columns(&self, context: &DataFrame) -> Result<DataFrame> {
        self.sample_sequential_columns_with(context, &SampleOptions::per_context_row())
    }

    /// One new sequence for each row of a frame of context columns, as the options say.
    /// # Errors
    /// As [`ParSynthesizer::sample_sequential_columns`]; [`Error::Option`] also when the options ask for a number of
    /// sequences or rows, which the frame decides.
    pub fn sample_sequential_columns_with(
        &self,
        context: &DataFrame,
        options: &SampleOptions,
    ) -> Result<DataFrame> {
        for (option, value) in [("sequences", options.sequences), ("rows", options.rows)] {
            if let Some(value) = value {
                let wanted =
                    "SampleOptions::per_context_row(): the frame decides how many".to_owned();
                return Err(OptionError {
                    option,
                    found: value.to_string(),
                    wanted,
                }
                .into());
            }
        }
        let rows = ContextRows::from_frame(context, &self.schema)?;
        let (given, identifiers) = self.given(&rows)?;
        self.run(options, given, &identifiers, Some(rows.rows))
    }

    /// The given columns by their place in the layout, and the given identifiers.
    fn given(&self, rows: &ContextRows) -> Result<(Vec<Option<GivenColumn>>, GivenIdentifiers)> {
        let mut given = vec![None; self.layout.context.len()];
        let mut identifiers = Vec::new();
        for (column, values) in &rows.columns {
            let name = &self.schema.columns[*column].name;
            let Some(position) = self.layout.context_position(ContextSource::Column(*column))
            else {
                if self.schema.columns[*column].role == Role::SequenceKey {
                    refuse_repeated_keys(name, values)?;
                }
                identifiers.push((*column, values.clone()));
                continue;
            };
            given[position] = Some(match (values, &self.layout.context[position].kind) {
                (Values::Labels { codes, labels }, ContextKind::Category(codec)) => {
                    let class = |(row, &code): (usize, &u32)| {
                        codec
                            .class(code, labels)
                            .and_then(|class| u32::try_from(class).ok())
                            .ok_or_else(|| Error::UnseenCategory {
                                column: name.clone(),
                                row,
                                found: labels
                                    .get(code as usize)
                                    .map_or("missing".to_owned(), |label| format!("`{label}`")),
                                known: listed(&codec.labels),
                            })
                    };
                    GivenColumn::Classes(
                        codes.iter().enumerate().map(class).collect::<Result<_>>()?,
                    )
                }
                (Values::Numbers(numbers), ContextKind::Number { codec, .. }) => {
                    if let Some(row) = numbers
                        .iter()
                        .position(|number| number.is_nan())
                        .filter(|_| !codec.has_missing)
                    {
                        return Err(Error::UnseenMissing {
                            column: name.clone(),
                            row,
                        });
                    }
                    GivenColumn::Numbers(numbers.clone())
                }
                _ => continue,
            });
        }
        Ok((given, identifiers))
    }

    fn run(
        &self,
        options: &SampleOptions,
        given: Vec<Option<GivenColumn>>,
        identifiers: &GivenIdentifiers,
        sequences: Option<usize>,
    ) -> Result<DataFrame> {
        options.check()?;
        let threads = checked_threads(options.threads)?;
        let request = Request {
            seed: Seed::new(options.seed).get(),
            length: options.length,
            temperature: options.temperature.unwrap_or(1.0),
            within_range: self.options.enforce_min_max,
            given,
        };
        let sampled = self.sample_chunks(&request, options, sequences, threads)?;
        let decoding = Decoding {
            schema: &self.schema,
            layout: &self.layout,
            identifiers: &self.identifiers,
            given: identifiers,
            seed: request.seed,
        };
        Ok(self.schema.to_frame(decoding.columns(&sampled)?)?)
    }

    /// Shares the chunks out to worker threads and puts them together in order.
    fn sample_chunks(
        &self,
        request: &Request,
        options: &SampleOptions,
        sequences: Option<usize>,
        threads: usize,
    ) -> Result<SampledSequences> {
        let wanted = sequences.map_or(u64::MAX, |n| n as u64);
        let most_rows = options
            .row_limit
            .unwrap_or(usize::MAX)
            .min(options.rows.map_or(usize::MAX, |rows| rows));
        let chunks = wanted.div_ceil(CHUNK as u64);
        let workers = threads
            .min(usize::try_from(chunks).unwrap_or(threads))
            .max(1);
        let next = AtomicU64::new(0);
        let model = self
            .model
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .share();
        let started = Instant::now();
        std::thread::scope(|scope| {
            // A bounded channel: workers wait when chunks pile up, as when one of them is slow.
            let (sender, receiver) = mpsc::sync_channel(workers);
            for _ in 0..workers {
                let (sender, model, next, layout) =
                    (sender.clone(), model.share(), &next, &self.layout);
                scope.spawn(move || {
                    tch::set_num_threads(1);
                    let networks = match model.networks() {
                        Ok(networks) => networks,
                        Err(error) => return drop(sender.send((0, Err(error)))),
                    };
                    loop {
                        let chunk = next.fetch_add(1, Ordering::Relaxed);
                        if chunk >= chunks {
                            return;
                        }
                        let range = chunk * CHUNK as u64..((chunk + 1) * CHUNK as u64).min(wanted);
                        let sampled = sample_chunk(&networks, layout, request, range);
                        if sender.send((chunk, sampled)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            let mut waiting = std::collections::BTreeMap::new();
            let mut all: Option<SampledSequences> = None;
            let (mut due, mut rows) = (0_u64, 0_usize);
            while due < chunks && rows < most_rows {
                let (chunk, sampled) = receiver.recv().map_err(|_| Error::Thread)?;
                waiting.insert(chunk, sampled?);
                while let Some(sampled) = waiting.remove(&due) {
                    due += 1;
                    rows += sampled.lengths.iter().sum::<usize>();
                    match &mut all {
                        None => all = Some(sampled),
                        Some(all) => all.append(sampled),
                    }
                    if let (Some(progress), Some(all)) = (&options.progress, &all) {
                        progress(&SampleProgress {
                            sequences: all.lengths.len(),
                            sequences_wanted: sequences.unwrap_or(all.lengths.len()),
                            rows,
                            elapsed: started.elapsed(),
                        });
                    }
                }
            }
            next.store(chunks, Ordering::Relaxed);
            drop(receiver);
            let mut all = match all {
                Some(all) => all,
                None => sample_chunk(&model.networks()?, &self.layout, request, 0..0)?,
            };
            if let Some(rows) = options.rows {
                all.keep_until_rows(rows);
            }
            if let Some(rows) = options.row_limit {
                all.keep_rows(rows);
            }
            Ok(all)
        })
    }

    /// How the fit went: losses, epochs, sizes, warnings.
    #[must_use]
    pub fn report(&self) -> &FitReport {
        &self.report
    }

    /// The metadata that was fitted with.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }
}

fn refuse_repeated_keys(name: &str, values: &Values) -> Result<()> {
    let Values::Labels { codes, labels } = values else {
        return Ok(());
    };
    let mut seen = vec![false; labels.len()];
    for (row, &code) in codes.iter().enumerate() {
        if code == MISSING_CODE {
            return Err(Error::UnseenMissing {
                column: name.to_owned(),
                row,
            });
        }
        if std::mem::replace(&mut seen[code as usize], true) {
            return Err(Error::RepeatedKey {
                column: name.to_owned(),
                row,
                found: format!("`{}`", labels[code as usize]),
            });
        }
    }
    Ok(())
}

fn listed(labels: &[Label]) -> String {
    const MOST_LISTED: usize = 10;
    let mut names: Vec<String> = labels
        .iter()
        .take(MOST_LISTED)
        .map(|label| format!("`{label}`"))
        .collect();
    if labels.len() > MOST_LISTED {
        names.push(format!("and {} more", labels.len() - MOST_LISTED));
    }
    names.join(", ")
}
