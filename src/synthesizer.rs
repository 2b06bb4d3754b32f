//! [`ParSynthesizer`] and its builder: the only module that knows the whole chain from a frame to a frame.

use crate::codec::identifier::IdentifierCodec;
use crate::codec::personal::PersonalCodec;
use crate::codec::spread::Spread;
use crate::decode::{Decoding, GivenIdentifiers};
use crate::error::{Error, Result};
use crate::fit::ParSynthesizerBuilder;
use crate::health::Versions;
use crate::layout::{CategoryCodec, ContextKind, ContextSource, Layout};
use crate::metadata::Metadata;
use crate::model::context::{ContextNetwork, ContextShape};
use crate::model::parameters::Parameters;
use crate::model::sequence::{SequenceNetwork, SequenceShape};
use crate::model::{ModelError, Sizes};
use crate::params::{OptionError, ValidFitOptions, checked_threads};
use crate::report::{FitReport, SampleProgress};
use crate::rng::Seed;
use crate::sample::{CHUNK, GivenColumn, Networks, Request, SampledSequences, sample_chunk};
use crate::sampling::SampleOptions;
use crate::table::{ContextRows, Label, Role, Schema, Values, validate};
use polars::frame::DataFrame;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::Instant;
use tch::Device;

mod continuation;
mod likelihood;
mod persistence;

/// Refuses a device that libtorch cannot use, and says which of the two reasons it is.
pub(crate) fn usable(device: Device) -> Result<()> {
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

    pub(crate) fn networks(&self) -> std::result::Result<Networks, ModelError> {
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
    pub(crate) personal: Vec<Option<PersonalCodec>>,
    pub(crate) spreads: Vec<Spread>,
    pub(crate) report: FitReport,
    pub(crate) options: ValidFitOptions,
    /// What saved it; none for one that was fitted here.
    pub(crate) saved_by: Option<Versions>,
    pub(crate) model: Mutex<Model>,
}

impl ParSynthesizer {
    /// Starts a fit: everything has a default but the metadata.
    ///
    /// ```
    /// use parsynth::{Metadata, ParSynthesizer, SdType};
    /// use polars::df;
    ///
    /// let metadata = Metadata::builder()
    ///     .column("machine", SdType::Id { regex_format: None })
    ///     .column("hour", SdType::Numerical)
    ///     .column("heat", SdType::Numerical)
    ///     .sequence_key("machine")
    ///     .sequence_index("hour")
    ///     .build()?;
    /// let readings = df!(
    ///     "machine" => ["a", "a", "a", "b", "b"],
    ///     "hour" => [0, 1, 2, 0, 1],
    ///     "heat" => [20.5, 21.0, 23.5, 19.0, 19.5],
    /// )?;
    /// let synthesizer = ParSynthesizer::builder(metadata).hidden_size(8).epochs(2).fit(&readings)?;
    /// assert_eq!(synthesizer.report().epochs, 2);
    /// assert_eq!(synthesizer.sample(3)?.schema(), readings.schema());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn builder(metadata: Metadata) -> ParSynthesizerBuilder {
        ParSynthesizerBuilder::new(metadata)
    }

    /// New sequences, as many as asked for, each with a length of its own: a frame of the columns, order and dtypes of
    /// the data that was fitted. Fresh randomness at each call.
    /// # Errors
    /// [`Error::Identifier`] when a column has room for fewer new identifiers, or a key for fewer that differ.
    pub fn sample(&self, sequences: usize) -> Result<DataFrame> {
        self.sample_with(&SampleOptions::sequences(sequences))
    }

    /// New sequences as the options say.
    ///
    /// ```
    /// # use parsynth::{Metadata, ParSynthesizer, SampleOptions, read_csv};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// # let synthesizer = ParSynthesizer::builder(metadata).context_columns(["region"]).epochs(0).fit(&data)?;
    /// let fortnight = SampleOptions::sequences(3).length(14).seed(7);
    /// let synthetic = synthesizer.sample_with(&fortnight)?;
    /// assert_eq!(synthetic.height(), 3 * 14);
    /// assert!(synthetic.equals_missing(&synthesizer.sample_with(&fortnight)?));
    ///
    /// let whole_weeks = synthesizer.sample_with(&SampleOptions::rows(100))?;
    /// assert_eq!(whole_weeks.height(), 105);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
    /// the rest, keys are made up unless given, and given values come back unchanged. To give a key is the only way to
    /// get one of the training data back. Of a key of several columns all are given, or none of those that are made up.
    ///
    /// ```
    /// # use parsynth::{Metadata, ParSynthesizer, read_csv};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// # let synthesizer = ParSynthesizer::builder(metadata).context_columns(["region"]).epochs(0).fit(&data)?;
    /// let wanted = polars::df!("region" => ["New York", "California"])?;
    /// let synthetic = synthesizer.sample_sequential_columns(&wanted)?;
    /// assert_eq!(synthetic.column("region")?.str()?.get(0), Some("New York"));
    ///
    /// let unknown = polars::df!("region" => ["Atlantis"])?;
    /// let error = synthesizer.sample_sequential_columns(&unknown).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "column `region`, row 0: `Atlantis` was not seen in training; seen were `California`, `New York`"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// # Errors
    /// [`Error::Table`] for a column that is no context column, [`Error::UnseenCategory`],
    /// [`Error::ProtectedCategory`] and [`Error::UnseenMissing`] for values that training never saw or hides,
    /// [`Error::RepeatedKey`] and [`Error::IncompleteKey`] for keys.
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
        self.check_given_keys(rows)?;
        for (column, values) in &rows.columns {
            let name = &self.schema.columns[*column].name;
            let Some(position) = self.layout.context_position(ContextSource::Column(*column))
            else {
                identifiers.push((*column, values.clone()));
                continue;
            };
            given[position] = Some(match (values, &self.layout.context[position].kind) {
                (Values::Labels { codes, labels }, ContextKind::Category(codec)) => {
                    let class = |(row, &code): (usize, &u32)| {
                        codec
                            .class(code, labels)
                            .and_then(|class| u32::try_from(class).ok())
                            .ok_or_else(|| self.unseen_category(name, row, code, labels, codec))
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

    /// Given keys must be whole, and no two alike; columns of a key that are drawn may be given alone.
    fn check_given_keys(&self, rows: &ContextRows) -> Result<()> {
        let values = |column: usize| {
            let given = rows.columns.iter().find(|(given, _)| *given == column);
            given.map(|(_, values)| values)
        };
        let is_given = |column: &usize| values(*column).is_some();
        let key = self.schema.sequence_key();
        let makes_up = |column: &usize| self.schema.columns[*column].role == Role::SequenceKey;
        if !key
            .iter()
            .any(|column| makes_up(column) && is_given(column))
        {
            return Ok(());
        }
        if let Some(missing) = key.iter().find(|column| !is_given(column)) {
            return Err(Error::IncompleteKey {
                columns: self.schema.key_names(),
                missing: self.schema.columns[*missing].name.clone(),
            });
        }
        let mut seen = HashSet::new();
        for row in 0..rows.rows {
            let (mut parts, mut texts) = (Vec::new(), Vec::new());
            for values in key.iter().filter_map(|&column| values(column)) {
                let (part, text) = match values {
                    Values::Labels { codes, labels } => (
                        u64::from(codes[row]),
                        labels
                            .get(codes[row] as usize)
                            .map_or_else(String::new, Label::to_string),
                    ),
                    Values::Numbers(numbers) => (numbers[row].to_bits(), numbers[row].to_string()),
                };
                parts.push(part);
                texts.push(format!("`{text}`"));
            }
            if !seen.insert(parts) {
                return Err(Error::RepeatedKey {
                    column: self.schema.key_names(),
                    row,
                    found: texts.join(", "),
                });
            }
        }
        Ok(())
    }

    /// Why a given category cannot be taken.
    fn unseen_category(
        &self,
        column: &str,
        row: usize,
        code: u32,
        labels: &[Label],
        codec: &CategoryCodec,
    ) -> Error {
        let (column, known) = (column.to_owned(), listed(codec));
        match labels.get(code as usize) {
            Some(label) if codec.has_hidden => Error::ProtectedCategory {
                column,
                row,
                found: format!("`{label}`"),
                protection: self.options.value_protection,
                known,
            },
            label => Error::UnseenCategory {
                column,
                row,
                found: label.map_or("missing".to_owned(), |label| format!("`{label}`")),
                known,
            },
        }
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
            last_index: self.schema.last_index(),
            given,
            given_rows: None,
        };
        let sampled = self.sample_chunks(&request, options, sequences, threads)?;
        let decoding = Decoding {
            schema: &self.schema,
            layout: &self.layout,
            identifiers: &self.identifiers,
            personal: &self.personal,
            spreads: &self.spreads,
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
            let mut all = all.unwrap_or_else(|| SampledSequences::empty(&self.layout));
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

    /// Looks for everything in a frame that keeps it from being read as the table that was fitted, for instance by
    /// [`log_likelihood`](Self::log_likelihood): what [`Metadata::validate_data`] lists, dtypes that differ where that
    /// would lose something, and context columns that change within a sequence.
    /// # Errors
    /// [`Error::InvalidData`] with each problem.
    pub fn validate(&self, data: &DataFrame) -> Result<()> {
        let context: Vec<String> = self
            .schema
            .context()
            .into_iter()
            .filter(|&column| !self.schema.columns[column].is_key)
            .map(|column| self.schema.columns[column].name.clone())
            .collect();
        let fitted = Some(&self.schema);
        Ok(validate(data, &self.metadata, &context, fitted)?)
    }

    /// The metadata that was fitted with.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }
}

fn listed(codec: &CategoryCodec) -> String {
    const MOST_LISTED: usize = 10;
    let labels = &codec.labels;
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
