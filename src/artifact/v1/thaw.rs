//! Format 1 back into the types the crate works with, each part checked against the others.
//! In: an [`ArtifactV1`] of unknown origin. Out: an [`Artifact`] with which sampling cannot panic, hang or allocate
//! without bound, or the first thing that is wrong with it.

mod codecs;

use super::*;
use crate::constraint::ConstraintError;
use crate::info::LAST_SECOND;
use crate::layout::{ChangeCodec, Reference};
use crate::metadata::{Metadata, Pattern, PersonalKind, SdType};
use crate::params::{FitOptions, LENGTH};
use crate::table::{Schema, Values, can_hold, role_and_sdtype};
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

/// Columns of a table.
const MOST_COLUMNS: usize = 1 << 16;
/// Bytes of the metadata's JSON.
const MOST_METADATA_BYTES: usize = 1 << 22;
/// Rules between columns; what follows from them grows with the cube of their number.
const MOST_CONSTRAINTS: usize = 1_000;
/// Width of embeddings and heads, and components of a mixture.
const WIDEST: u64 = 4096;
/// Cycles of a calendar, and harmonics of a cycle.
const MOST_CYCLES: usize = 64;
/// Digits of a padded counter.
const MOST_DIGITS: u64 = u16::MAX as u64;
/// Digits of a whole number that is made up.
const MOST_NUMBER_DIGITS: u32 = 20;
/// Decimals of a grid.
const MOST_DECIMALS: u32 = 15;
/// Whole numbers of a grid: those that are exact in f64, and the step between the outermost.
const MOST_WHOLE: f64 = 18_014_398_509_481_984.0;
/// Bases lie closer to 0 than this: nanoseconds of all years that dates can have, with room to add days to them.
const MOST_BASE: i128 = 1 << 80;
const NANOSECONDS_PER_SECOND: u32 = 1_000_000_000;

fn invalid(place: &str, problem: impl Into<String>) -> Flaw {
    Flaw::Invalid {
        place: place.to_owned(),
        problem: problem.into(),
    }
}

fn ensure(holds: bool, place: &str, problem: &str) -> Result<(), Flaw> {
    if holds {
        Ok(())
    } else {
        Err(invalid(place, problem))
    }
}

/// A count that fits the machine.
fn count(n: u64, place: &str) -> Result<usize, Flaw> {
    usize::try_from(n).map_err(|_| invalid(place, format!("{n} is too large for this machine")))
}

impl ArtifactV1 {
    /// Turns the file's types into the crate's.
    pub(in crate::artifact) fn thaw(&self) -> Result<Artifact, Flaw> {
        let options = self.options.thaw()?;
        let sizes = self.sizes.thaw(&options)?;
        ensure(
            self.metadata.0.len() <= MOST_METADATA_BYTES,
            "metadata",
            "longer than 4 MiB",
        )?;
        ensure(
            self.columns.len() <= MOST_COLUMNS,
            "columns",
            "more than 65,536",
        )?;
        let metadata = Metadata::from_json(&self.metadata.0).map_err(Flaw::Metadata)?;
        let schema = thaw_schema(&self.columns, &metadata)?;
        let layout = self.layout.thaw(&schema)?;
        check_written(&layout, &schema)?;
        let identifiers = thaw_identifiers(&self.identifiers, &schema)?;
        let rules = self.thaw_rules(&schema, &layout)?;
        let personal = thaw_personal(&self.personal, &schema)?;
        let spreads = thaw_spreads(&self.spreads, &schema)?;
        // The shapes are known before a weight is looked at.
        let context_plan = ContextShape::new(&layout, sizes).plan();
        let sequence_plan = SequenceShape::new(&layout, sizes).plan();
        Ok(Artifact {
            saved_by: Versions::new(
                self.versions.parsynth.0.clone(),
                self.versions.libtorch.0.clone(),
            ),
            context: buffer("context network", &context_plan, &self.context)?,
            sequence: buffer("sequence network", &sequence_plan, &self.sequence)?,
            metadata,
            schema,
            layout,
            identifiers,
            rules,
            personal,
            spreads,
            report: self.report.thaw()?,
            options,
            sizes,
            provenance: self.provenance.thaw()?,
        })
    }
}

impl ProvenanceV1 {
    fn thaw(&self) -> Result<Provenance, Flaw> {
        ensure(
            [self.created, self.fitted]
                .iter()
                .all(|moment| (0..=LAST_SECOND).contains(moment)),
            "dates",
            "one lies before 1970 or after 9999",
        )?;
        Ok(Provenance {
            created: self.created,
            fitted: self.fitted,
            fitted_by: Versions::new(
                self.fitted_by.parsynth.0.clone(),
                self.fitted_by.libtorch.0.clone(),
            ),
        })
    }
}

impl NumericalDistributionV1 {
    fn thaw(self, place: &str) -> Result<NumericalDistribution, Flaw> {
        Ok(match self {
            NumericalDistributionV1::Learned => NumericalDistribution::Learned,
            NumericalDistributionV1::Bins(bins) => NumericalDistribution::Bins(count(bins, place)?),
            NumericalDistributionV1::Logarithmic => NumericalDistribution::Logarithmic,
            NumericalDistributionV1::Counts => NumericalDistribution::Counts,
        })
    }
}

impl ArtifactV1 {
    fn thaw_rules(&self, schema: &Schema, layout: &Layout) -> Result<Rules, Flaw> {
        let place = "constraints";
        let refused = |error: ConstraintError| invalid(place, error.to_string());
        ensure(
            self.constraints.0.len() <= MOST_METADATA_BYTES,
            place,
            "longer than 4 MiB",
        )?;
        let constraints = Constraint::list_from_json(&self.constraints.0).map_err(refused)?;
        ensure(
            constraints.len() <= MOST_CONSTRAINTS && constraints.len() == self.learned.len(),
            place,
            "too many, or not as many as what they learned",
        )?;
        let learned = self.learned.iter().map(|learned| match learned {
            LearnedV1::Nothing => Learned::Nothing,
            LearnedV1::Combinations(seen) => Learned::Combinations(Combinations(seen.clone())),
            LearnedV1::Transitions(seen) => Learned::Transitions(Transitions(seen.clone())),
            LearnedV1::RunningTotal { begins_with_amount } => Learned::RunningTotal {
                begins_with_amount: *begins_with_amount,
            },
        });
        Rules::compile(constraints, learned.collect(), schema, layout).map_err(refused)
    }
}

/// Puts tensors into one buffer, if they are the plan's, all of them and no more.
fn buffer(network: &str, plan: &Plan, tensors: &[TensorV1]) -> Result<Vec<f32>, Flaw> {
    let place = |name: &str| format!("{network}, weight `{name}`");
    let mut values = Vec::with_capacity(tensors.iter().map(|tensor| tensor.values.len()).sum());
    for (at, entry) in plan.entries.iter().enumerate() {
        let place = place(&entry.name);
        let tensor = tensors
            .get(at)
            .filter(|tensor| tensor.name.0 == entry.name)
            .ok_or_else(|| invalid(&place, "missing, or not in its place"))?;
        let wanted: Vec<u64> = entry.shape.iter().map(|n| n.unsigned_abs()).collect();
        if tensor.shape != wanted {
            return Err(invalid(
                &place,
                format!("shape {:?}, expected {wanted:?}", tensor.shape),
            ));
        }
        let numbers = wanted.iter().try_fold(1_u64, |all, &n| all.checked_mul(n));
        ensure(
            numbers == Some(tensor.values.len() as u64),
            &place,
            "its shape does not fit how many numbers it has",
        )?;
        ensure(
            tensor.values.iter().all(|value| value.is_finite()),
            &place,
            "a number is NaN or infinite",
        )?;
        values.extend_from_slice(&tensor.values);
    }
    match tensors.get(plan.entries.len()) {
        None => Ok(values),
        Some(extra) => Err(invalid(&place(&extra.name.0), "no part of the network")),
    }
}

impl FitOptionsV1 {
    fn thaw(&self) -> Result<ValidFitOptions, Flaw> {
        let place = "options";
        let optional = |n: Option<u64>| n.map(|n| count(n, place)).transpose();
        let max_training_time = match &self.max_training_time {
            None => None,
            Some(time) => {
                ensure(
                    time.nanoseconds < NANOSECONDS_PER_SECOND,
                    place,
                    "max_training_time has a second or more of nanoseconds",
                )?;
                Some(Duration::new(time.seconds, time.nanoseconds))
            }
        };
        let distributions = self.numerical_distributions.iter();
        let numerical_distributions = distributions
            .map(|(column, distribution)| Ok((column.0.clone(), distribution.thaw(place)?)))
            .collect::<Result<BTreeMap<_, _>, Flaw>>()?;
        ensure(
            numerical_distributions.len() == self.numerical_distributions.len(),
            place,
            "a column has two distributions",
        )?;
        FitOptions {
            hidden_size: Some(count(self.hidden_size, place)?),
            layers: count(self.layers, place)?,
            epochs: optional(self.epochs)?,
            batch_size: optional(self.batch_size)?,
            learning_rate: self.learning_rate,
            dropout: self.dropout,
            validation_share: self.validation_share,
            patience_steps: count(self.patience_steps, place)?,
            max_training_time,
            enforce_min_max: self.enforce_min_max,
            value_protection: count(self.value_protection, place)?,
            seed: self.seed,
            threads: Some(count(self.threads, place)?),
            enforce_rounding: self.enforce_rounding,
            segment_size: optional(self.segment_size)?,
            numerical_distributions,
            mixed_precision: self.mixed_precision,
        }
        .check()
        .map_err(Flaw::Option)
    }
}

impl SizesV1 {
    fn thaw(&self, options: &ValidFitOptions) -> Result<Sizes, Flaw> {
        let size = |n: u64| {
            i64::try_from(n)
                .ok()
                .filter(|_| (1..=WIDEST).contains(&n))
                .ok_or_else(|| invalid("sizes", format!("{n}, expected 1 to {WIDEST}")))
        };
        Ok(Sizes {
            hidden: crate::model::long(options.hidden_size),
            layers: crate::model::long(options.layers),
            embedding: size(self.embedding)?,
            head: size(self.head)?,
            components: size(self.components)?,
        })
    }
}

impl FitReportV1 {
    fn thaw(&self) -> Result<FitReport, Flaw> {
        let count = |n: u64| count(n, "report");
        let per_column = |losses: &Vec<(Text, f64)>| {
            losses
                .iter()
                .map(|(column, nats)| (column.0.clone(), *nats))
                .collect()
        };
        let losses = self.losses.iter().map(|loss| {
            Ok(EpochLoss {
                stage: match loss.stage {
                    StageV1::Context => Stage::Context,
                    StageV1::Sequence => Stage::Sequence,
                },
                epoch: count(loss.epoch)?,
                training_nats: loss.training_nats,
                validation_nats: loss.validation_nats,
                training_nats_per_column: per_column(&loss.training_nats_per_column),
                validation_nats_per_column: loss
                    .validation_nats_per_column
                    .as_ref()
                    .map(per_column),
                learning_rate: loss.learning_rate,
            })
        });
        Ok(FitReport {
            losses: losses.collect::<Result<_, Flaw>>()?,
            kept_epoch: count(self.kept_epoch)?,
            epochs: count(self.epochs)?,
            rows: count(self.rows)?,
            training_sequences: count(self.training_sequences)?,
            validation_sequences: count(self.validation_sequences)?,
            weights: count(self.weights)?,
            fit_secs: self.fit_secs,
            warnings: self.warnings.iter().map(|text| text.0.clone()).collect(),
            sequences: count(self.sequences)?,
            segments: self.segments.map(count).transpose()?,
        })
    }
}

fn thaw_schema(columns: &[ColumnV1], metadata: &Metadata) -> Result<Schema, Flaw> {
    ensure(
        columns.len() == metadata.columns().count(),
        "columns",
        "not as many as the metadata states",
    )?;
    let mut names = HashSet::new();
    let columns = columns.iter().map(|column| {
        let place = format!("column `{}`", column.name.0);
        ensure(
            names.insert(column.name.0.as_str()),
            &place,
            "it is there twice",
        )?;
        ensure(
            metadata.sdtype(&column.name.0).is_some(),
            &place,
            "the metadata does not state it",
        )?;
        let found = match column.role {
            RoleV1::SequenceKey => Role::SequenceKey,
            RoleV1::SequenceIndex => Role::SequenceIndex,
            RoleV1::Context => Role::Context,
            RoleV1::Sequential => Role::Sequential,
        };
        let (role, sdtype) = role_and_sdtype(metadata, &column.name.0, found == Role::Context);
        ensure(
            role == found,
            &place,
            "its role is not the one in the metadata",
        )?;
        ensure(
            column.base.unsigned_abs() <= MOST_BASE.unsigned_abs(),
            &place,
            "its base lies too far from 0",
        )?;
        ensure(
            (1..=MOST_BASE).contains(&column.step),
            &place,
            "its step is not a whole number above 0",
        )?;
        Ok(ColumnSchema {
            name: column.name.0.clone(),
            sdtype,
            role,
            is_key: metadata.is_key(&column.name.0),
            storage: column.storage.thaw(&place)?,
            base: column.base,
            step: column.step,
        })
    });
    Ok(Schema {
        columns: columns.collect::<Result<_, Flaw>>()?,
    })
}

impl From<IntegerTypeV1> for IntegerType {
    fn from(integer: IntegerTypeV1) -> Self {
        match integer {
            IntegerTypeV1::I8 => IntegerType::I8,
            IntegerTypeV1::I16 => IntegerType::I16,
            IntegerTypeV1::I32 => IntegerType::I32,
            IntegerTypeV1::I64 => IntegerType::I64,
            IntegerTypeV1::U8 => IntegerType::U8,
            IntegerTypeV1::U16 => IntegerType::U16,
            IntegerTypeV1::U32 => IntegerType::U32,
            IntegerTypeV1::U64 => IntegerType::U64,
        }
    }
}

impl From<TimeUnitNameV1> for TimeUnitName {
    fn from(unit: TimeUnitNameV1) -> Self {
        match unit {
            TimeUnitNameV1::Nanoseconds => TimeUnitName::Nanoseconds,
            TimeUnitNameV1::Microseconds => TimeUnitName::Microseconds,
            TimeUnitNameV1::Milliseconds => TimeUnitName::Milliseconds,
        }
    }
}

impl StorageV1 {
    fn thaw(&self, place: &str) -> Result<Storage, Flaw> {
        Ok(match self {
            StorageV1::Boolean => Storage::Boolean,
            StorageV1::Integer(integer) => Storage::Integer((*integer).into()),
            StorageV1::Float32 => Storage::Float32,
            StorageV1::Float64 => Storage::Float64,
            StorageV1::Text => Storage::Text,
            StorageV1::Categorical => Storage::Categorical,
            StorageV1::Enumeration(categories) => {
                let mut seen = HashSet::new();
                ensure(
                    categories
                        .iter()
                        .all(|category| seen.insert(category.0.as_str())),
                    place,
                    "one of its dtype's categories is there twice",
                )?;
                Storage::Enumeration(categories.iter().map(|text| text.0.clone()).collect())
            }
            StorageV1::Date => Storage::Date,
            StorageV1::Duration { unit } => Storage::Duration {
                unit: (*unit).into(),
            },
            StorageV1::Datetime { unit, zone } => Storage::Datetime {
                unit: (*unit).into(),
                zone: zone.as_ref().map(|zone| zone.0.clone()),
            },
            StorageV1::TextDate { format } => Storage::TextDate {
                format: format.0.clone(),
            },
            StorageV1::IntegerDate { format, integer } => Storage::IntegerDate {
                format: format.0.clone(),
                integer: (*integer).into(),
            },
            StorageV1::Null => Storage::Null,
        })
    }
}

/// Writes one value of every column, and every label: a format, zone or label that the dtype cannot take is found
/// here and not when the model samples.
fn check_written(layout: &Layout, schema: &Schema) -> Result<(), Flaw> {
    let mut labels: Vec<Option<&[Label]>> = vec![None; schema.columns.len()];
    for column in &layout.context {
        if let (ContextSource::Column(at), ContextKind::Category(codec)) =
            (column.source, &column.kind)
        {
            labels[at] = Some(&codec.labels);
        }
    }
    for column in &layout.rows {
        if let (RowSource::Column(at), RowKind::Category(codec)) = (column.source, &column.kind) {
            labels[at] = Some(&codec.labels);
        }
    }
    for (column, labels) in schema.columns.iter().zip(labels) {
        let values = match (labels, &column.sdtype) {
            (Some(labels), _) => Values::Labels {
                codes: (0..).take(labels.len()).collect(),
                labels: (*labels).into(),
            },
            (None, sdtype) if sdtype.is_made_up() => Values::Labels {
                codes: Vec::new().into(),
                labels: [].into(),
            },
            (None, _) => Values::Numbers(vec![0.0].into()),
        };
        let alone = Schema {
            columns: vec![column.clone()],
        };
        alone.to_frame(vec![values]).map_err(|error| {
            invalid(
                &format!("column `{}`", column.name),
                format!("it cannot be written: {error}"),
            )
        })?;
    }
    Ok(())
}

fn thaw_identifiers(
    identifiers: &[Option<IdentifierCodecV1>],
    schema: &Schema,
) -> Result<Vec<Option<IdentifierCodec>>, Flaw> {
    ensure(
        identifiers.len() == schema.columns.len(),
        "identifiers",
        "not one for each column",
    )?;
    identifiers
        .iter()
        .zip(&schema.columns)
        .map(|(codec, column)| {
            let Some(codec) = codec else { return Ok(None) };
            let place = format!("column `{}`", column.name);
            ensure(
                matches!(column.sdtype, SdType::Id { .. }),
                &place,
                "it has made-up values and is no id",
            )?;
            codec.thaw(&place).map(Some)
        })
        .collect()
}

fn thaw_personal(
    personal: &[Option<PersonalCodecV1>],
    schema: &Schema,
) -> Result<Vec<Option<PersonalCodec>>, Flaw> {
    ensure(
        personal.len() == schema.columns.len(),
        "personal columns",
        "not one codec for each column",
    )?;
    personal
        .iter()
        .zip(&schema.columns)
        .map(|(codec, column)| {
            let Some(codec) = codec else { return Ok(None) };
            let place = format!("column `{}`", column.name);
            let SdType::Personal { kind, .. } = column.sdtype else {
                return Err(invalid(
                    &place,
                    "it has personal values and is not personal",
                ));
            };
            ensure(
                can_hold(kind, &column.storage),
                &place,
                "its dtype cannot hold values of its sdtype",
            )?;
            codec.thaw(kind, &place).map(Some)
        })
        .collect()
}

fn thaw_spreads(spreads: &[SpreadV1], schema: &Schema) -> Result<Vec<Spread>, Flaw> {
    ensure(
        spreads.len() == schema.columns.len(),
        "spreads",
        "not one for each column",
    )?;
    let thaw = |(spread, column): (&SpreadV1, &ColumnSchema)| {
        let place = format!("column `{}`", column.name);
        ensure(
            (0.0..=1.0).contains(&spread.missing_share),
            &place,
            "its share of missing cells is not 0 to 1",
        )?;
        ensure(
            spread.missing_share == 0.0 || !column.is_key,
            &place,
            "it is part of the key, and cells of it are missing",
        )?;
        Ok(Spread {
            is_constant: spread.is_constant,
            missing_share: spread.missing_share,
        })
    };
    spreads.iter().zip(&schema.columns).map(thaw).collect()
}

impl PersonalCodecV1 {
    fn thaw(&self, kind: PersonalKind, place: &str) -> Result<PersonalCodec, Flaw> {
        ensure(
            (1..=Locale::ALL.len()).contains(&self.locales.len()),
            place,
            "it has no locale, or more than there are",
        )?;
        let locale = |name: &Text| {
            Locale::from_name(&name.0)
                .ok_or_else(|| invalid(place, format!("locale `{}` is unknown", name.0)))
        };
        ensure(
            self.taken.windows(2).all(|pair| pair[0] < pair[1]),
            place,
            "hashes of its values are not in order",
        )?;
        let (fewest, most) = self.digits;
        ensure(
            1 <= fewest && fewest <= most && most <= MOST_NUMBER_DIGITS,
            place,
            "its numbers have no digits, or more than 20",
        )?;
        Ok(PersonalCodec {
            kind,
            locales: self
                .locales
                .iter()
                .map(locale)
                .collect::<Result<_, Flaw>>()?,
            taken: self.taken.clone(),
            hash_key: self.hash_key,
            is_exhausted: self.is_exhausted,
            is_unique: self.is_unique,
            digits: self.digits,
            decimals: self.decimals,
        })
    }
}

impl IdentifierCodecV1 {
    fn thaw(&self, place: &str) -> Result<IdentifierCodec, Flaw> {
        match self {
            IdentifierCodecV1::Counter {
                prefix,
                digits,
                next,
                smallest,
                suffix,
            } => {
                ensure(
                    *digits <= MOST_DIGITS,
                    place,
                    "its ids have more than 65,535 digits",
                )?;
                Ok(IdentifierCodec::Counter {
                    prefix: prefix.0.clone(),
                    digits: count(*digits, place)?,
                    next: *next,
                    smallest: *smallest,
                    suffix: suffix.0.clone(),
                })
            }
            IdentifierCodecV1::Pattern {
                regex,
                taken,
                hash_key,
            } => {
                Pattern::compile(&regex.0).map_err(|reason| {
                    invalid(
                        place,
                        format!("regex_format `{}` is not valid: {reason}", regex.0),
                    )
                })?;
                ensure(
                    taken.windows(2).all(|pair| pair[0] < pair[1]),
                    place,
                    "hashes of its ids are not in order",
                )?;
                Ok(IdentifierCodec::Pattern {
                    regex: regex.0.clone(),
                    taken: taken.clone(),
                    hash_key: *hash_key,
                })
            }
        }
    }
}

impl LayoutV1 {
    fn thaw(&self, schema: &Schema) -> Result<Layout, Flaw> {
        let longest = count(self.longest, "longest sequence")?;
        ensure(
            LENGTH.contains(&longest),
            "longest sequence",
            "not 1 to 10,000,000 rows",
        )?;
        let index = self
            .index
            .as_ref()
            .map(|index| index.thaw(schema))
            .transpose()?;
        ensure(
            index.is_some() == schema.sequence_index().is_some(),
            "sequence index",
            "there is a codec without a column, or a column without a codec",
        )?;
        let context: Vec<ContextColumn> = self
            .context
            .iter()
            .map(|column| column.thaw(schema, longest))
            .collect::<Result<_, Flaw>>()?;
        let rows: Vec<RowColumn> = self
            .rows
            .iter()
            .map(|column| column.thaw(schema))
            .collect::<Result<_, Flaw>>()?;
        let layout = Layout {
            context,
            rows,
            index,
            longest,
        };
        check_sources(&layout, schema)?;
        Ok(layout)
    }
}

/// The modelled columns are the schema's, with what index and length add: in any order after the gap and before what
/// follows the context's columns, as computed columns are drawn after their inputs.
fn check_sources(layout: &Layout, schema: &Schema) -> Result<(), Flaw> {
    let modelled = |column: &usize| !schema.columns[*column].sdtype.is_made_up();
    let columns = |all: Vec<usize>| all.into_iter().filter(modelled);
    let mut context: Vec<ContextSource> = columns(schema.context())
        .map(ContextSource::Column)
        .collect();
    let mut rows = Vec::new();
    if let Some(index) = &layout.index {
        if index.splits_time_of_day {
            context.push(ContextSource::TimeOfDay);
        }
        context.push(ContextSource::Start);
        if index.is_censored {
            context.push(ContextSource::EndsWithTable);
        }
        rows.push(RowSource::Gap);
    }
    context.push(ContextSource::Length);
    rows.extend(columns(schema.sequential()).map(RowSource::Column));
    let mut found: Vec<ContextSource> = layout.context.iter().map(|column| column.source).collect();
    let is_column = |source: &ContextSource| matches!(source, ContextSource::Column(_));
    let columns_end = found.iter().take_while(|source| is_column(source)).count();
    found[..columns_end].sort_by_key(|source| match source {
        ContextSource::Column(column) => Some(*column),
        _ => None,
    });
    ensure(
        found == context,
        "context",
        "its columns are not those of the metadata",
    )?;
    let mut found: Vec<RowSource> = layout.rows.iter().map(|column| column.source).collect();
    found.sort_by_key(|source| match source {
        RowSource::Gap => None,
        RowSource::Column(column) => Some(*column),
    });
    let gap_is_first = layout
        .rows
        .iter()
        .skip(1)
        .all(|column| column.source != RowSource::Gap);
    ensure(
        gap_is_first && found == rows,
        "rows",
        "their columns are not those of the metadata",
    )
}

/// What a modelled column must be.
fn is_number(schema: &Schema, column: usize) -> bool {
    match schema.columns[column].sdtype {
        SdType::Numerical | SdType::Datetime { .. } => true,
        SdType::Categorical | SdType::Boolean | SdType::Id { .. } | SdType::Personal { .. } => {
            false
        }
    }
}

fn thaw_column(column: u64, schema: &Schema) -> Result<(usize, String), Flaw> {
    let at = count(column, "columns")?;
    match schema.columns.get(at) {
        Some(column) => Ok((at, format!("column `{}`", column.name))),
        None => Err(invalid("columns", format!("there is no column {column}"))),
    }
}

const WRONG_KIND: &str = "numbers where categories belong, or the other way round";

impl ContextColumnV1 {
    fn thaw(&self, schema: &Schema, longest: usize) -> Result<ContextColumn, Flaw> {
        let (source, place, wants_number) = match self.source {
            ContextSourceV1::Column(column) => {
                let (at, place) = thaw_column(column, schema)?;
                (ContextSource::Column(at), place, is_number(schema, at))
            }
            ContextSourceV1::TimeOfDay => {
                (ContextSource::TimeOfDay, "time of day".to_owned(), false)
            }
            ContextSourceV1::Start => (ContextSource::Start, "start".to_owned(), true),
            ContextSourceV1::EndsWithTable => (
                ContextSource::EndsWithTable,
                "end with the table".to_owned(),
                false,
            ),
            ContextSourceV1::Length => (ContextSource::Length, "length".to_owned(), true),
        };
        let kind = match &self.kind {
            ContextKindV1::Category(codec) => {
                ensure(!wants_number, &place, WRONG_KIND)?;
                ContextKind::Category(codec.thaw(&place)?)
            }
            ContextKindV1::Number(number) => {
                ensure(wants_number, &place, WRONG_KIND)?;
                ContextKind::Number {
                    codec: number.codec.thaw(&place)?,
                    scale: number.scale.thaw(&place)?,
                }
            }
        };
        match (source, &kind) {
            (ContextSource::TimeOfDay, ContextKind::Category(codec)) => ensure(
                codec
                    .labels
                    .iter()
                    .all(|label| matches!(label, Label::Float(time) if time.is_finite())),
                &place,
                "a label is no time",
            )?,
            (ContextSource::EndsWithTable, ContextKind::Category(codec)) => ensure(
                codec.labels == [Label::Boolean(false), Label::Boolean(true)],
                &place,
                "its labels are not false and true",
            )?,
            (ContextSource::Length, ContextKind::Number { codec, .. }) => {
                check_length(codec, longest, &place)?;
            }
            _ => {}
        }
        Ok(ContextColumn { source, kind })
    }
}

/// A drawn length is at least 1 and hardly longer than the longest.
fn check_length(codec: &NumberCodec, longest: usize, place: &str) -> Result<(), Flaw> {
    let most = longest as f64;
    let is_length = |value: &f64| (1.0..=most).contains(value);
    let values = [codec.low, codec.high];
    ensure(
        values
            .iter()
            .chain(&codec.support)
            .chain(&codec.atoms)
            .all(is_length)
            && codec
                .grid
                .as_ref()
                .is_none_or(|grid| grid.decimals == 0 && grid.step <= most),
        place,
        "it goes beyond the longest sequence, or below one row",
    )
}

impl RowColumnV1 {
    fn thaw(&self, schema: &Schema) -> Result<RowColumn, Flaw> {
        let (source, place, wants_number) = match self.source {
            RowSourceV1::Gap => (RowSource::Gap, "gap".to_owned(), true),
            RowSourceV1::Column(column) => {
                let (at, place) = thaw_column(column, schema)?;
                (RowSource::Column(at), place, is_number(schema, at))
            }
        };
        let kind = match &self.kind {
            RowKindV1::Category(codec) => {
                ensure(!wants_number, &place, WRONG_KIND)?;
                RowKind::Category(codec.thaw(&place)?)
            }
            RowKindV1::Number(number) => {
                ensure(wants_number, &place, WRONG_KIND)?;
                ensure(
                    source != RowSource::Gap || number.change.is_none(),
                    &place,
                    "its changes are modelled",
                )?;
                let change = match &number.change {
                    None => None,
                    Some(change) => Some(ChangeCodec {
                        first: change.first.thaw(&place)?,
                        step: change.step.thaw(&place)?,
                    }),
                };
                RowKind::Number(Box::new(NumberColumn {
                    scale: number.scale.thaw(&place)?,
                    whole: number.whole.thaw(&place)?,
                    change,
                }))
            }
        };
        let reference = match &self.reference {
            None => None,
            Some(reference) => {
                let is_number = matches!(kind, RowKind::Number(_)) && source != RowSource::Gap;
                ensure(is_number, &place, "what is no number column has a distance")?;
                Some(reference.thaw(schema, &place)?)
            }
        };
        Ok(RowColumn {
            source,
            kind,
            reference,
        })
    }
}

impl ReferenceV1 {
    fn thaw(&self, schema: &Schema, place: &str) -> Result<Reference, Flaw> {
        let (column, _) = thaw_column(self.column, schema)?;
        ensure(
            self.range
                .is_none_or(|(low, high)| low.is_finite() && high.is_finite() && low <= high),
            place,
            "the range of a column told by distances is none",
        )?;
        Ok(Reference {
            column,
            range: self.range,
            grid: self
                .grid
                .as_ref()
                .map(|grid| grid.thaw(place))
                .transpose()?,
        })
    }
}
