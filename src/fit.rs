//! The builder of a [`ParSynthesizer`]: options in, a fitted model out. Nothing is ever half-fitted.

use crate::codec::identifier::IdentifierCodec;
use crate::codec::personal::{Locale, PersonalCodec};
use crate::codec::spread::Spread;
use crate::constraint::{Constraint, Rules, input_depths, reference_pairs};
use crate::distribution::NumericalDistribution;
use crate::encode::Encoder;
use crate::error::Result;
use crate::health::Versions;
use crate::info::{Provenance, now};
use crate::layout::{Layout, NumberChoice, ReferencePair, subtract};
use crate::metadata::{Metadata, SdType, did_you_mean, nearest_name};
use crate::model::Sizes;
use crate::model::context::ContextShape;
use crate::model::sequence::SequenceShape;
use crate::params::{
    FitOptions, LARGE_HIDDEN_SIZE, OptionError, SMALL_TABLE_ROWS, ValidFitOptions,
};
use crate::report::{FitEstimate, FitProgress, FitReport};
use crate::rng::{Purpose, Seed, SeedSeries};
use crate::synthesizer::{Model, ParSynthesizer, usable};
use crate::table::{ParquetFiles, Schema, SequenceTable, Source, Values, validate};
use crate::tasks::{ContextTask, SequenceTask, context_names, row_head_names};
use crate::train::{Outcome, Split, Task, TrainError, Trainer};
use polars::frame::DataFrame;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tch::Device;

mod distributions;
mod estimate;
mod protected;
mod verbose;

/// Columns with more categories than this are named in the report's warnings.
const MANY_CATEGORIES: usize = 500;
/// Width of embeddings and number of logistics in a mixture.
const EMBEDDING: i64 = 8;
const COMPONENTS: i64 = 6;
const HEAD: i64 = 64;

type FitProgressFn = dyn Fn(&FitProgress) + Send + Sync;
type OnFitProgress = Arc<FitProgressFn>;

/// Collects the options of a fit; [`ParSynthesizerBuilder::fit`] checks them all.
#[must_use]
pub struct ParSynthesizerBuilder {
    metadata: Metadata,
    context_columns: Vec<String>,
    constraints: Vec<Constraint>,
    locales: Vec<String>,
    options: FitOptions,
    device: Device,
    progress: Option<OnFitProgress>,
    is_verbose: bool,
    created: i64,
}

impl std::fmt::Debug for ParSynthesizerBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParSynthesizerBuilder")
            .field("context_columns", &self.context_columns)
            .field("constraints", &self.constraints)
            .field("locales", &self.locales)
            .field("options", &self.options)
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}

impl ParSynthesizerBuilder {
    /// All defaults.
    pub(crate) fn new(metadata: Metadata) -> Self {
        ParSynthesizerBuilder {
            metadata,
            context_columns: Vec::new(),
            constraints: Vec::new(),
            locales: vec![Locale::EnUs.name().to_owned()],
            options: FitOptions::default(),
            device: Device::Cpu,
            progress: None,
            is_verbose: false,
            created: now(),
        }
    }

    /// Columns that are constant within each sequence; none by default. Their order does not matter.
    pub fn context_columns<S: Into<String>>(
        mut self,
        columns: impl IntoIterator<Item = S>,
    ) -> Self {
        self.context_columns = columns.into_iter().map(Into::into).collect();
        self
    }

    /// Rules that the data keeps and every sampled row is to keep, added to those already there; none by default. They
    /// are saved with the model.
    pub fn constraints(mut self, constraints: impl IntoIterator<Item = Constraint>) -> Self {
        self.constraints.extend(constraints);
        self
    }

    /// Languages and countries of made-up names, addresses and the like, at least one of `ar_SA`, `cy_GB`, `de_DE`,
    /// `en_US`, `fa_IR`, `fr_FR`, `it_IT`, `ja_JP`, `nl_NL`, `pt_BR`, `pt_PT`, `tr_TR`, `zh_CN`, `zh_TW`; default
    /// `en_US`. Of several each sequence (or row, where values change within sequences) draws one, for all its
    /// columns. What the crate `fake` does not know of a locale is American.
    pub fn locales<S: Into<String>>(mut self, locales: impl IntoIterator<Item = S>) -> Self {
        self.locales = locales.into_iter().map(Into::into).collect();
        self
    }

    /// Width of the LSTM: `1..=4096`; by default 32, and 128 from 6,000 rows on.
    pub fn hidden_size(mut self, hidden_size: usize) -> Self {
        self.options.hidden_size = Some(hidden_size);
        self
    }

    /// Layers of the LSTM: `1..=8`, default 1.
    pub fn layers(mut self, layers: usize) -> Self {
        self.options.layers = layers;
        self
    }

    /// At most this many passes over the data for each network; by default 300, or as many as make 4,000 optimizer
    /// steps if that is more. Training ends earlier when held-out sequences no longer gain. With 0 the network stays
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

    /// Adam's first learning rate: `1e-7..=1.0`, default 0.005. It falls to 0 once held-out
    /// sequences stop gaining, see [`patience_steps`](Self::patience_steps).
    pub fn learning_rate(mut self, learning_rate: f64) -> Self {
        self.options.learning_rate = learning_rate;
        self
    }

    /// Share of inputs and hidden units dropped in training: `0.0..=0.9`, default 0.3, met to within 1/512.
    pub fn dropout(mut self, dropout: f64) -> Self {
        self.options.dropout = dropout;
        self
    }

    /// Share of the sequences held out to tell when to stop: `0.0..=0.5`, default 0.1. At 0, and for a single
    /// sequence, training runs 60 epochs, but at least 1,000 optimizer steps and (beyond 20 epochs) at most 4,000,
    /// or as many epochs as [`epochs`](Self::epochs) says.
    pub fn validation_share(mut self, validation_share: f64) -> Self {
        self.options.validation_share = validation_share;
        self
    }

    /// Optimizer steps without a gain on the held-out sequences after which training begins to end, default 100. On
    /// tables where it is longer, 3 epochs (up to 3,000 steps) or half the steps to the lowest loss are waited for. The
    /// learning rate then falls to 0 over as many steps as it took to the lowest loss.
    pub fn patience_steps(mut self, steps: usize) -> Self {
        self.options.patience_steps = steps;
        self
    }

    /// Ends each network's training after this time, the learning rate falling over its last 40 %; no limit by default.
    /// A fit that was cut off by time is not repeatable by its seed.
    pub fn max_training_time(mut self, time: Duration) -> Self {
        self.options.max_training_time = Some(time);
        self
    }

    /// Keeps sampled values within the smallest and largest seen, default true; the sequence index is never clipped.
    pub fn enforce_min_max_values(mut self, enforce: bool) -> Self {
        self.options.enforce_min_max = enforce;
        self
    }

    /// Keeps the decimals seen in sampled numbers, default true: a column of prices has two, one of whole or even numbers
    /// has those. With false a column of floats is taken for a quantity that was rounded when it was written down:
    /// its values come back as drawn, between those seen too, and only single values that stand out, such as zero, are
    /// still told exactly. Columns of whole-number dtypes, dates and
    /// [`NumericalDistribution::Counts`] stay whole.
    pub fn enforce_rounding(mut self, enforce: bool) -> Self {
        self.options.enforce_rounding = enforce;
        self
    }

    /// How a numerical column, context or sequential, is learned; [`NumericalDistribution::Learned`] by default. A
    /// second call for a column replaces the first.
    ///
    /// ```
    /// # use parsynth::{Metadata, NumericalDistribution, ParSynthesizer, read_csv};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// let synthesizer = ParSynthesizer::builder(metadata)
    ///     .numerical_distribution("nb_customers", NumericalDistribution::Counts)
    ///     .numerical_distribution("total_sales", NumericalDistribution::Logarithmic)
    ///     .epochs(0)
    ///     .fit(&data)?;
    /// let customers = synthesizer.sample(20)?.column("nb_customers")?.i64()?.clone();
    /// assert!(customers.iter().flatten().all(|count| count >= 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn numerical_distribution(
        mut self,
        column: impl Into<String>,
        distribution: NumericalDistribution,
    ) -> Self {
        let distributions = &mut self.options.numerical_distributions;
        distributions.insert(column.into(), distribution);
        self
    }

    /// Cuts each training sequence into segments of so many rows, `1..=10_000_000`, and learns each as a sequence of its
    /// own with the same context; by default sequences are learned whole. The last segment of a sequence is as long as
    /// what is left, and short sequences stay whole: no row is lost. SDV and DeepEcho drop both.
    ///
    /// Sampled sequences are as long as segments then, unless a length is asked for, and begin anywhere in a sequence.
    /// It makes one long series without key a table of many windows, so that some can be held out and their starts and
    /// levels are learned; and it lets sequences of very different lengths weigh by their rows. What spans more
    /// rows than a segment is not learned. Value protection still counts whole sequences, validation holds out whole
    /// sequences where there are several, and log-likelihoods add up a sequence's segments.
    pub fn segment_size(mut self, rows: usize) -> Self {
        self.options.segment_size = Some(rows);
        self
    }

    /// Protects values that fewer than so many sequences share: `1..=1_000_000_000`, default 1, which protects none.
    ///
    /// A category seen in fewer sequences is learned as "one of the rare" together with the others and never comes out.
    /// Numbers, and so starts, gaps and lengths, are clipped to the extreme of the sequence whose extreme ranks at this
    /// place, so that at least so many sequences reach each bound; of numbers that are told exactly, because the column
    /// takes few values, those seen in fewer sequences go to the nearest that more share. A fit is refused when there
    /// are fewer sequences than that, or when nothing of a column may be told. What is protected is not in a saved
    /// model either, but for the categories that belong to a polars `Enum`'s own dtype. [`FitReport::warnings`] tells
    /// how much was protected in which column.
    ///
    /// This hides rare single values, as MOSTLY AI's value protection does. It is not differential privacy: a rare
    /// combination of common values may still come out, and so may numbers between the bounds that one sequence alone
    /// had. Ids and personal data are made up and need none. The bounds are values of the data. A missing cell is no category: it comes out however few sequences have
    /// one. With [`enforce_min_max_values(false)`](Self::enforce_min_max_values) sampled values go on past the bounds,
    /// and gap after gap an index may pass the last it may tell; what lies there is made up, not learned.
    pub fn value_protection(mut self, sequences: usize) -> Self {
        self.options.value_protection = sequences;
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

    /// Writes a line of progress for each network about once a second, and one of the whole fit, to stderr; default
    /// false. [`on_progress`](Self::on_progress) takes each epoch and works beside it.
    pub fn verbose(mut self, verbose: bool) -> Self {
        self.is_verbose = verbose;
        self
    }

    /// Looks for everything in a frame that [`fit`](Self::fit) would refuse, where that stops at the first: what
    /// [`Metadata::validate_data`] lists, context columns that are none, and context columns that change within a
    /// sequence.
    /// # Errors
    /// [`Error::InvalidData`](crate::Error::InvalidData) with each problem.
    pub fn validate(&self, data: &DataFrame) -> Result<()> {
        Ok(validate(data, &self.metadata, &self.context_columns, None)?)
    }

    /// Learns from a table of sequences, in any row order and chunking.
    /// # Errors
    /// [`Error::Option`](crate::Error::Option) for an option outside its range,
    /// [`Error::Distribution`](crate::Error::Distribution) for a column that cannot have the distribution chosen,
    /// [`Error::AllProtected`](crate::Error::AllProtected) and [`Error::NumbersProtected`](crate::Error::NumbersProtected)
    /// for a column of which value protection leaves nothing,
    /// [`Error::Table`](crate::Error::Table) when the data does not fit the metadata,
    /// [`Error::Constraint`](crate::Error::Constraint) for a constraint that does not fit the columns, contradicts
    /// another, or that rows of the data break,
    /// [`Error::Train`](crate::Error::Train) when a loss is not finite, [`Error::Device`](crate::Error::Device) when the device cannot be used.
    pub fn fit(self, data: &DataFrame) -> Result<ParSynthesizer> {
        self.fit_source(data)
    }

    /// Learns from a table in a Parquet file, or in all files of a folder whose names end in `.parquet`, which are one
    /// table in the order of their names: the same model as [`fit`](Self::fit) makes of the whole frame. Sequences may
    /// be scattered over the files.
    ///
    /// The table is never in memory as a frame: it is read column by column, each twice, and kept as 8 bytes a number
    /// and 4 a label. Quantiles, categories and ids are those of all rows, not of a sample. Rows that errors name are
    /// counted through all files, from 0.
    ///
    /// ```
    /// # use parsynth::{Metadata, ParSynthesizer, read_csv, write_parquet};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// # let folder = std::env::temp_dir().join(format!("parsynth-parts-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// let half = data.height() / 2;
    /// write_parquet(&data.head(Some(half)), folder.join("part-1.parquet"))?;
    /// write_parquet(&data.slice(half as i64, half), folder.join("part-2.parquet"))?;
    /// let synthesizer = ParSynthesizer::builder(metadata).epochs(1).fit_parquet(&folder)?;
    /// assert_eq!(synthesizer.report().rows, data.height());
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// # Errors
    /// As [`fit`](Self::fit); [`Error::Table`](crate::Error::Table) also for a file that cannot be read, a folder
    /// without Parquet files, and files whose columns differ in name or dtype.
    pub fn fit_parquet(self, path: impl AsRef<Path>) -> Result<ParSynthesizer> {
        let files = ParquetFiles::open(path.as_ref())?;
        self.fit_source(&files)
    }

    /// What a fit of this frame with these options will take, without training: reading the table and fitting its codecs
    /// takes some seconds a million rows.
    ///
    /// ```
    /// # use parsynth::{Metadata, ParSynthesizer, read_csv};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// let builder = ParSynthesizer::builder(metadata).context_columns(["region"]).epochs(3);
    /// let estimate = builder.estimate(&data)?;
    /// println!("{estimate}");
    /// assert_eq!((estimate.rows, estimate.most_epochs), (700, 3));
    /// assert_eq!(estimate.weights, builder.fit(&data)?.report().weights);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// # Errors
    /// As [`fit`](Self::fit), but for those of training.
    pub fn estimate(&self, data: &DataFrame) -> Result<FitEstimate> {
        self.estimate_source(data)
    }

    /// What [`fit_parquet`](Self::fit_parquet) will take, as [`estimate`](Self::estimate) says it of a frame.
    /// # Errors
    /// As [`fit_parquet`](Self::fit_parquet), but for those of training.
    pub fn estimate_parquet(&self, path: impl AsRef<Path>) -> Result<FitEstimate> {
        let files = ParquetFiles::open(path.as_ref())?;
        self.estimate_source(&files)
    }

    fn estimate_source(&self, data: &impl Source) -> Result<FitEstimate> {
        let prepared = self.prepare(data)?;
        Ok(self.training(&prepared, None).estimate(&prepared))
    }

    fn fit_source(self, data: &impl Source) -> Result<ParSynthesizer> {
        let started = Instant::now();
        let prepared = self.prepare(data)?;
        let progress = verbose::with_lines(self.progress.clone(), self.is_verbose);
        let (model, mut report) = self.training(&prepared, progress.as_deref()).run()?;
        let Prepared {
            options,
            locales,
            seed,
            schema,
            table,
            learned: _,
            layout,
            rules,
        } = prepared;
        let personal = fit_personal(&self.metadata, &schema, &table, &locales, seed);
        report.warnings.extend(exhausted(&schema, &personal));
        report.fit_secs = started.elapsed().as_secs_f64();
        if self.is_verbose {
            verbose::summary(&report);
        }
        Ok(ParSynthesizer {
            identifiers: fit_identifiers(&schema, &table, seed),
            personal,
            spreads: fit_spreads(&self.metadata, &schema, &table),
            metadata: self.metadata,
            schema,
            layout: Arc::new(layout),
            rules: Arc::new(rules),
            report,
            options,
            saved_by: None,
            provenance: Provenance {
                created: self.created,
                fitted: now(),
                fitted_by: Versions::running(),
            },
            file_bytes: None,
            model: Mutex::new(model),
            seeds: SeedSeries::fresh(),
        })
    }

    fn training<'a>(
        &self,
        prepared: &'a Prepared,
        progress: Option<&'a FitProgressFn>,
    ) -> Training<'a> {
        Training {
            table: prepared.learned(),
            schema: &prepared.schema,
            layout: &prepared.layout,
            options: &prepared.options,
            seed: prepared.seed,
            device: self.device,
            progress,
        }
    }

    /// Everything that a fit does before it trains.
    fn prepare(&self, data: &impl Source) -> Result<Prepared> {
        let is_size_given = self.options.hidden_size.is_some();
        let mut options = self.options.clone().check()?;
        let locales = checked_locales(&self.locales)?;
        usable(self.device)?;
        let mut schema = Schema::fit(data, &self.metadata, &self.context_columns)?;
        let mut table = SequenceTable::from_source(data, &schema)?;
        if !is_size_given && table.rows() >= SMALL_TABLE_ROWS {
            options.hidden_size = LARGE_HIDDEN_SIZE;
        }
        if protected::move_bases(&mut schema, &table, options.value_protection) {
            table = SequenceTable::from_source(data, &schema)?;
        }
        let choices = distributions::choices(&table, &schema, &options)?;
        let segments = options
            .segment_size
            .map(|rows| table.clone().segmented(rows));
        let cut = segments.as_ref().unwrap_or(&table);
        let constraints = self.constraints.clone();
        let (layout, rules, told) = codecs(constraints, &schema, cut, &options, &choices)?;
        Ok(Prepared {
            seed: Seed::new(options.seed),
            options,
            locales,
            schema,
            learned: told.or(segments),
            table,
            layout,
            rules,
        })
    }
}

/// A table that was read and understood, ready to train on.
struct Prepared {
    options: ValidFitOptions,
    locales: Vec<Locale>,
    seed: Seed,
    schema: Schema,
    table: SequenceTable,
    /// What is learned from, where it is not the table itself: segments, distances.
    learned: Option<SequenceTable>,
    layout: Layout,
    rules: Rules,
}

impl Prepared {
    fn learned(&self) -> &SequenceTable {
        self.learned.as_ref().unwrap_or(&self.table)
    }
}

/// The layout and the rules of a table, and the table with distances where some of its columns are told by them.
fn codecs(
    constraints: Vec<Constraint>,
    schema: &Schema,
    table: &SequenceTable,
    options: &ValidFitOptions,
    choices: &[NumberChoice],
) -> Result<(Layout, Rules, Option<SequenceTable>)> {
    let pairs = if options.value_protection > 1 {
        // The bounds of a distance would not bound the value.
        Vec::new()
    } else {
        let mut pairs = reference_pairs(&constraints, schema);
        pairs.extend(ReferencePair::of_dates(schema));
        // What was chosen for a column is about its values.
        pairs.retain(|pair| choices[pair.column].is_default());
        ReferencePair::choose(&pairs, schema, table)
    };
    let references = pairs
        .iter()
        .map(|pair| (pair.column, pair.reference(&pairs, schema, table)))
        .collect();
    let told = (!pairs.is_empty()).then(|| {
        let mut told = table.clone();
        subtract(pairs.iter().copied(), schema, &mut told);
        told
    });
    let modelled = told.as_ref().unwrap_or(table);
    let mut layout = protected::layout(modelled, schema, options.value_protection, choices)?;
    layout.refer(references);
    layout.place_after_inputs(&input_depths(&constraints, &pairs, schema)?);
    // Rules are about the values themselves.
    let rules = Rules::fit(constraints, schema, table, &layout)?;
    Ok((layout, rules, told))
}

/// One fit's data and options.
struct Training<'a> {
    table: &'a SequenceTable,
    schema: &'a Schema,
    layout: &'a Layout,
    options: &'a ValidFitOptions,
    seed: Seed,
    device: Device,
    progress: Option<&'a FitProgressFn>,
}

impl Training<'_> {
    fn run(&self) -> Result<(Model, FitReport)> {
        let encoder = self.encoder();
        let split = self.split();
        let (context_task, sequence_task) = self.tasks(&encoder);
        let train_context = || {
            let start = context_task
                .shape
                .plan()
                .draw(&mut self.seed.stream(Purpose::ContextWeights));
            self.trainer(&context_task, &split, Purpose::ContextTraining)
                .run(&start)
        };
        let train_sequence = || {
            let start = sequence_task
                .shape
                .plan()
                .draw(&mut self.seed.stream(Purpose::SequenceWeights));
            self.trainer(&sequence_task, &split, Purpose::SequenceTraining)
                .run(&start)
        };
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

    fn encoder(&self) -> Encoder<'_> {
        Encoder::new(self.table, self.layout, self.schema.sequence_index())
    }

    fn split(&self) -> Split {
        let mut generator = self.seed.stream(Purpose::ValidationSplit);
        let share = self.options.validation_share;
        Split::of_segments(&self.table.owners, share, &mut generator)
    }

    /// The training of the context network and that of the sequence network.
    fn tasks<'t>(&self, encoder: &'t Encoder<'t>) -> (ContextTask<'t>, SequenceTask<'t>) {
        let (sizes, device) = (sizes(self.options), self.device);
        let name = |column: usize| self.schema.columns[column].name.clone();
        let context = ContextTask {
            encoder,
            shape: ContextShape::new(self.layout, sizes),
            columns: context_names(self.layout, name),
            device,
        };
        let sequence = SequenceTask {
            encoder,
            shape: SequenceShape::new(self.layout, sizes),
            columns: row_head_names(self.layout, name),
            device,
        };
        (context, sequence)
    }

    fn trainer<'t, T: Task>(
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
            (Values::Labels { labels, .. }, SdType::Id { regex_format }) => {
                let regex_format = regex_format.as_deref();
                let hash_key = seed.hash_key();
                (!labels.is_empty()).then(|| IdentifierCodec::fit(labels, regex_format, hash_key))
            }
            _ => None,
        })
        .collect()
}

fn fit_personal(
    metadata: &Metadata,
    schema: &Schema,
    table: &SequenceTable,
    locales: &[Locale],
    seed: Seed,
) -> Vec<Option<PersonalCodec>> {
    let unique = metadata.unique_columns();
    schema
        .columns
        .iter()
        .zip(&table.columns)
        .map(|(column, values)| match (values, &column.sdtype) {
            (Values::Labels { labels, .. }, SdType::Personal { kind, .. }) => {
                let is_unique = unique.contains(&column.name.as_str());
                let hash_key = seed.hash_key();
                (!labels.is_empty()).then(|| {
                    let storage = &column.storage;
                    PersonalCodec::fit(*kind, labels, storage, is_unique, locales, hash_key)
                })
            }
            _ => None,
        })
        .collect()
}

fn fit_spreads(metadata: &Metadata, schema: &Schema, table: &SequenceTable) -> Vec<Spread> {
    let unique = metadata.unique_columns();
    let has_long = table.lengths().iter().any(|&length| length > 1);
    schema
        .columns
        .iter()
        .zip(&table.columns)
        .map(|(column, values)| match (values, &column.sdtype) {
            (Values::Labels { codes, .. }, SdType::Id { .. } | SdType::Personal { .. }) => {
                let is_id = matches!(column.sdtype, SdType::Id { .. });
                let may_be_constant = !unique.contains(&column.name.as_str())
                    // Sequences of one row do not tell; ids of rows are the rule, names of rows are not.
                    && (has_long || !is_id);
                Spread::fit(codes, &table.offsets, may_be_constant)
            }
            _ => Spread::FULL,
        })
        .collect()
}

/// A line for each personal column of which the data has every value, so that they come out.
fn exhausted(schema: &Schema, personal: &[Option<PersonalCodec>]) -> Vec<String> {
    let columns = schema.columns.iter().zip(personal);
    columns
        .filter(|(_, codec)| codec.as_ref().is_some_and(|codec| codec.is_exhausted))
        .map(|(column, _)| {
            format!(
                "column `{}` has every {} that can be made up in these locales, so they come out again: add a locale, or state it as unknown, if that is not wanted",
                column.name,
                column.sdtype.name()
            )
        })
        .collect()
}

fn checked_locales(names: &[String]) -> std::result::Result<Vec<Locale>, OptionError> {
    let known = || Locale::ALL.iter().map(|locale| locale.name());
    let wrong = |found: String, nearest: Option<String>| OptionError {
        option: "locales",
        found,
        wanted: format!(
            "one or more of {}{}",
            known().collect::<Vec<_>>().join(", "),
            did_you_mean(nearest.as_deref())
        ),
    };
    if names.is_empty() {
        return Err(wrong("empty".to_owned(), None));
    }
    let check = |name: &String| {
        Locale::from_name(name)
            .ok_or_else(|| wrong(format!("`{name}`"), nearest_name(name, known())))
    };
    let mut locales = Vec::new();
    for locale in names.iter().map(check) {
        let locale = locale?;
        if !locales.contains(&locale) {
            locales.push(locale);
        }
    }
    Ok(locales)
}
