//! [`ParSynthesizer`] and its builder: the only module that knows the whole chain from a frame to a frame.

use crate::codec::identifier::IdentifierCodec;
use crate::codec::personal::PersonalCodec;
use crate::codec::spread::Spread;
use crate::constraint::{Constraint, ConstraintError, Place, Rules};
use crate::decode::{Decoding, GivenIdentifier, GivenIdentifiers, MadeUp};
use crate::error::{Error, Result};
use crate::fit::ParSynthesizerBuilder;
use crate::health::Versions;
use crate::info::Provenance;
use crate::layout::{CategoryCodec, ContextKind, ContextSource, Layout, RowSource};
use crate::metadata::Metadata;
use crate::model::context::{ContextNetwork, ContextShape};
use crate::model::parameters::Parameters;
use crate::model::sequence::{SequenceNetwork, SequenceShape};
use crate::model::{ModelError, Sizes};
use crate::params::{OptionError, ValidFitOptions, checked_threads};
use crate::report::FitReport;
use crate::rng::SeedSeries;
use crate::sample::{GivenColumn, Networks, Request, SampleError, holds_steps, sequences_at_once};
use crate::sampling::SampleOptions;
use crate::table::{ContextRows, Label, Role, Schema, Values};
use polars::frame::DataFrame;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use tch::Device;

use chunks::Progress;
use rejection::CustomConstraints;
use stream::{Amount, SequenceStream};

mod chunks;
mod conditions;
mod continuation;
mod imputation;
mod inspection;
mod likelihood;
mod parts;
mod persistence;
mod rejection;
mod shards;
mod stream;
mod validation;
mod workers;

pub use parts::SampledParts;

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
                holds_steps: holds_steps(self.device()),
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
    pub(crate) layout: Arc<Layout>,
    pub(crate) identifiers: Vec<Option<IdentifierCodec>>,
    pub(crate) rules: Arc<Rules>,
    pub(crate) personal: Vec<Option<PersonalCodec>>,
    pub(crate) spreads: Vec<Spread>,
    pub(crate) report: FitReport,
    pub(crate) options: ValidFitOptions,
    /// What saved it; none for one that was fitted here.
    pub(crate) saved_by: Option<Versions>,
    pub(crate) provenance: Provenance,
    /// Of the file it was loaded from.
    pub(crate) file_bytes: Option<u64>,
    pub(crate) model: Mutex<Model>,
    /// For calls that name no seed.
    pub(crate) seeds: SeedSeries,
}

/// What a user gave of the sequences to sample.
#[derive(Debug, Default)]
struct Given {
    /// By position in the layout's context.
    context: Vec<Option<GivenColumn>>,
    identifiers: GivenIdentifiers,
    /// Where the sequences end that share the first given values, and so on; empty when each has its own.
    shared_ends: Vec<usize>,
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
    /// the data that was fitted. Fresh randomness at each call. SDV 2.0 calls it `sample_sequences`.
    /// # Errors
    /// [`Error::Identifier`] when a column has room for fewer new identifiers, or a key for fewer that differ.
    #[doc(alias = "sample_sequences")]
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
        check_amount(options)?;
        self.run(options, Given::default(), options.sequences)
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
        let (given, sequences) = self.given_by_rows(context, options)?;
        self.run(options, given, Some(sequences))
    }

    /// What context rows say of as many sequences.
    fn given_by_rows(
        &self,
        context: &DataFrame,
        options: &SampleOptions,
    ) -> Result<(Given, usize)> {
        refuse_amount(
            options,
            "SampleOptions::per_context_row(): the frame decides how many",
        )?;
        let rows = ContextRows::from_frame(context, &self.schema)?;
        let (context, identifiers) = self.given(&rows, 0)?;
        let given = Given {
            context,
            identifiers,
            shared_ends: Vec::new(),
        };
        Ok((given, rows.rows))
    }

    /// The given columns by their place in the layout, and the given identifiers; errors count rows from `first_row`.
    fn given(
        &self,
        rows: &ContextRows,
        first_row: usize,
    ) -> Result<(Vec<Option<GivenColumn>>, GivenIdentifiers)> {
        let mut given = vec![None; self.layout.context.len()];
        let mut identifiers = Vec::new();
        self.check_given_keys(rows)?;
        for (column, values) in &rows.columns {
            let name = &self.schema.columns[*column].name;
            let Some(position) = self.layout.context_position(ContextSource::Column(*column))
            else {
                if let Values::Labels { codes, labels } = values {
                    identifiers.push(GivenIdentifier {
                        column: *column,
                        codes: codes.iter().copied().map(Some).collect(),
                        labels: labels.to_vec(),
                    });
                }
                continue;
            };
            given[position] = Some(match (values, &self.layout.context[position].kind) {
                (Values::Labels { codes, labels }, ContextKind::Category(codec)) => {
                    let class = |(row, &code): (usize, &u32)| {
                        codec
                            .class(code, labels)
                            .and_then(|class| u32::try_from(class).ok())
                            .map(Some)
                            .ok_or_else(|| {
                                self.unseen_category(name, first_row + row, code, labels, codec)
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
                            row: first_row + row,
                        });
                    }
                    GivenColumn::Numbers(numbers.iter().copied().map(Some).collect())
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
        given: Given,
        sequences: Option<usize>,
    ) -> Result<DataFrame> {
        let (mut stream, mut made_up) = self.stream(options, given, sequences)?;
        let sampled = stream.collect()?;
        let decoding = self.decoding(&stream.given, &stream.request);
        let frame = self
            .schema
            .to_frame(decoding.columns(&sampled, &mut made_up)?)?;
        Ok(frame)
    }

    /// What the options ask for, checked and about to be sampled.
    fn stream(
        &self,
        options: &SampleOptions,
        given: Given,
        sequences: Option<usize>,
    ) -> Result<(SequenceStream<'_>, MadeUp<'_>)> {
        let threads = checked_threads(options.draws.threads)?;
        let tries = options.checked_tries()?;
        let amount = Amount {
            sequences,
            rows: options.rows,
            row_limit: options.row_limit,
            range: options.checked_range(sequences)?,
        };
        let request = Request {
            lengths: options.checked_lengths(sequences)?,
            candidates: options.checked_candidates()?,
            temperature: options.draws.temperature()?,
            within_range: self.options.enforce_min_max,
            last_index: self.schema.last_index(),
            given: given.context,
            shared_ends: given.shared_ends,
            given_rows: None,
            cancel_tokens: vec![options.draws.cancel.clone()],
            seed: self.seed(options.draws.seed),
            at_once: self.sequences_at_once(),
        };
        let made_up = self.made_up(&request, &given.identifiers, &amount)?;
        let progress = Progress::new(options.draws.progress.as_ref());
        let mut stream = SequenceStream::new(self, request, amount, threads, progress);
        stream.given = given.identifiers;
        stream.custom = CustomConstraints {
            constraints: options.custom_constraints.clone(),
            tries,
        };
        Ok((stream, made_up))
    }

    fn decoding<'b>(&'b self, given: &'b GivenIdentifiers, request: &'b Request) -> Decoding<'b> {
        Decoding {
            schema: &self.schema,
            layout: &self.layout,
            identifiers: &self.identifiers,
            personal: &self.personal,
            spreads: &self.spreads,
            given,
            request,
        }
    }

    /// Sequences in work at once in a chunk.
    fn sequences_at_once(&self) -> usize {
        sequences_at_once(self.locked().device(), &self.layout)
    }

    /// The seed of a call: the one asked for, or the next of this model's series.
    fn seed(&self, seed: Option<u64>) -> u64 {
        seed.unwrap_or_else(|| self.seeds.next().get())
    }

    /// Makes the calls that follow repeatable, those that name no seed: they differ from one another, and come again
    /// after [`reset_sampling`](ParSynthesizer::reset_sampling) or the same seed. Each call takes one place in the series,
    /// in the order in which threads make them.
    ///
    /// ```
    /// # use parsynth::{Metadata, ParSynthesizer, read_csv};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// # let synthesizer = ParSynthesizer::builder(metadata).context_columns(["region"]).epochs(0).fit(&data)?;
    /// synthesizer.seed_sampling(7);
    /// let (first, second) = (synthesizer.sample(5)?, synthesizer.sample(5)?);
    /// assert!(!first.equals_missing(&second));
    /// synthesizer.reset_sampling();
    /// assert!(first.equals_missing(&synthesizer.sample(5)?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn seed_sampling(&self, seed: u64) {
        self.seeds.start(seed);
    }

    /// Starts the series of calls again that [`seed_sampling`](ParSynthesizer::seed_sampling) began. Where it was not
    /// called, the series is that of the fit or the load, which no other repeats: so calls come again within a program,
    /// and differ from program to program.
    pub fn reset_sampling(&self) {
        self.seeds.start_again();
    }

    /// A failure of sampling in the user's words.
    fn sample_error(&self, error: SampleError) -> Error {
        match error {
            SampleError::Model(error) => error.into(),
            SampleError::Stuck { place, sequence } => {
                let column = match place {
                    Place::Context(at) => match self.layout.context[at].source {
                        ContextSource::Column(column) => Some(column),
                        _ => None,
                    },
                    Place::Row(at) => match self.layout.rows[at].source {
                        RowSource::Column(column) => Some(column),
                        RowSource::Gap => self.schema.sequence_index(),
                    },
                };
                Error::Constraint(ConstraintError::Unsatisfiable {
                    column: column
                        .map_or_else(String::new, |at| self.schema.columns[at].name.clone()),
                    constraints: self.rules.statements(place),
                    sequence,
                })
            }
            SampleError::Cancelled => Error::Cancelled,
            SampleError::Thread => Error::Thread,
            SampleError::Length { length, sequence } => {
                Error::Constraint(ConstraintError::Length {
                    length,
                    constraints: self.rules.statements_between_rows(),
                    sequence,
                })
            }
        }
    }

    /// The rules that every sampled row keeps.
    #[must_use]
    pub fn constraints(&self) -> &[Constraint] {
        &self.rules.constraints
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

/// Refuses options that do not say how much.
fn check_amount(options: &SampleOptions) -> Result<()> {
    match (options.sequences, options.rows) {
        (None, None) => Err(OptionError {
            option: "sequences",
            found: "not set".to_owned(),
            wanted: "SampleOptions::sequences(n) or SampleOptions::rows(n)".to_owned(),
        }
        .into()),
        (Some(_), _) | (_, Some(_)) => Ok(()),
    }
}

/// Refuses a number of sequences or rows where something else decides it.
fn refuse_amount(options: &SampleOptions, wanted: &str) -> Result<()> {
    for (option, value) in [("sequences", options.sequences), ("rows", options.rows)] {
        if let Some(value) = value {
            return Err(OptionError {
                option,
                found: value.to_string(),
                wanted: wanted.to_owned(),
            }
            .into());
        }
    }
    Ok(())
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
