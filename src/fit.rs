//! The builder of a [`ParSynthesizer`]: options in, a fitted model out. Nothing is ever half-fitted.

use crate::cancel::CancelToken;
use crate::codec::personal::Locale;
use crate::constraint::Constraint;
use crate::distribution::NumericalDistribution;
use crate::error::{Error, Result};
use crate::health::Versions;
use crate::info::{Provenance, now};
use crate::metadata::Metadata;
use crate::params::FitOptions;
use crate::report::{FitEstimate, FitProgress};
use crate::rng::SeedSeries;
use crate::synthesizer::ParSynthesizer;
use crate::table::{ParquetFiles, Source, validate};
use polars::frame::DataFrame;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tch::Device;

mod distributions;
mod estimate;
mod made_up;
mod prepared;
mod protected;
mod training;
mod verbose;

use made_up::{exhausted, fit_identifiers, fit_personal, fit_spreads};
use prepared::Prepared;
use training::Training;

/// 512 MiB: larger tables are kept in files.
const MAX_TABLE_MEMORY: u64 = 512 << 20;

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
    cancel: CancelToken,
    is_verbose: bool,
    max_table_memory: u64,
    temporary_directory: Option<PathBuf>,
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
            .field("max_table_memory", &self.max_table_memory)
            .field("temporary_directory", &self.temporary_directory)
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
            cancel: CancelToken::new(),
            is_verbose: false,
            max_table_memory: MAX_TABLE_MEMORY,
            temporary_directory: None,
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
    /// model either, but for the categories that belong to a polars `Enum`'s own dtype.
    /// [`FitReport::warnings`](crate::FitReport::warnings) tells how much was protected in which column.
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

    /// Trains with the matrix products of LSTM and heads in bfloat16, default false. Weights, losses, softmax and the
    /// optimizer's state stay in f32, and so does everything after training: validation, sampling and model files.
    ///
    /// It is meant for GPUs whose matrix units are faster in bfloat16, and for wide networks there. No GPU was measured;
    /// on the CPU of docs/speed.md it takes about as long. Losses differ by the three digits that bfloat16 has.
    pub fn mixed_precision(mut self, mixed: bool) -> Self {
        self.options.mixed_precision = mixed;
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

    /// Ends the fit with [`Error::Cancelled`](crate::Error::Cancelled) before its next optimizer step, once the token is
    /// cancelled, from another thread or from [`on_progress`](Self::on_progress).
    /// [`max_training_time`](Self::max_training_time) ends a training so that its model is kept.
    pub fn cancel_token(mut self, token: CancelToken) -> Self {
        self.cancel = token;
        self
    }

    /// Writes a line of progress for each network about once a second, and one of the whole fit, to stderr; default
    /// false. [`on_progress`](Self::on_progress) takes each epoch and works beside it.
    pub fn verbose(mut self, verbose: bool) -> Self {
        self.is_verbose = verbose;
        self
    }

    /// A table of more than so many bytes is kept in files while it is learned from, which are mapped into memory and read
    /// as they are looked at; default 536,870,912 (512 MiB), 0 for every table, `u64::MAX` for none. A row takes 8 bytes a
    /// number or date, 4 a category or id, and 4 of its own. The model is the same to the bit.
    ///
    /// The files lie in [`temporary_directory`](Self::temporary_directory), have no names on Unix, and are gone when the
    /// fit ends, fails, is cancelled or is killed.
    ///
    /// ```
    /// # use parsynth::{Metadata, ParSynthesizer, read_csv};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// let builder = ParSynthesizer::builder(metadata).max_table_memory(0);
    /// let estimate = builder.estimate(&data)?;
    /// assert!(estimate.mapped_bytes >= 4 * estimate.rows as u64);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn max_table_memory(mut self, bytes: u64) -> Self {
        self.max_table_memory = bytes;
        self
    }

    /// An existing folder for the files of a table larger than [`max_table_memory`](Self::max_table_memory); default the
    /// system's (`TMPDIR` on Unix, else `/tmp`). Where that one lies in memory itself, as a `tmpfs` does, give one on disk.
    pub fn temporary_directory(mut self, path: impl Into<PathBuf>) -> Self {
        self.temporary_directory = Some(path.into());
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
    /// be scattered over the files. Folders in the folder are not read.
    ///
    /// The files may be larger than memory. No frame is made of them: each column is read twice, about a million rows
    /// at a time, and kept as 8 bytes a number and 4 a category or id, in memory or, beyond
    /// [`max_table_memory`](Self::max_table_memory), in files that are mapped. Nothing is sampled or sketched: quantiles,
    /// categories and ids are those of all rows. What memory must hold of a row, however many columns there are, is its
    /// place in the order (about 20 bytes while rows are sorted) and what one column's codec is fitted from: about 20 bytes
    /// where values recur, up to 60 where every number is another. Dates that are text are read as whole columns, and each
    /// different id or text is kept, in some 40 bytes more than its letters. Rows that errors name are counted through all
    /// files, from 0.
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
        if self.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
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
        &'a self,
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
            cancel: &self.cancel,
        }
    }
}
