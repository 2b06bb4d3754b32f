//! Format 1, frozen: what a file holds, whatever becomes of the types the crate works with.
//! In: an [`Artifact`] or a payload. Out: the other of the two; `thaw` is in `v1/thaw.rs`.

mod thaw;

use super::{Artifact, Flaw};
use crate::codec::calendar::{Cycle, IndexCodec, MonthGrid, TimeUnit};
use crate::codec::identifier::IdentifierCodec;
use crate::codec::number::{Grid, NumberCodec, NumberScale, QuantileMap};
use crate::health::Versions;
use crate::layout::{
    CategoryCodec, ContextColumn, ContextKind, ContextSource, Layout, NumberColumn, RowColumn,
    RowKind, RowSource,
};
use crate::model::Sizes;
use crate::model::context::ContextShape;
use crate::model::parameters::Plan;
use crate::model::sequence::SequenceShape;
use crate::params::ValidFitOptions;
use crate::report::{EpochLoss, FitReport, Stage};
use crate::table::{ColumnSchema, IntegerType, Label, Role, Storage, TimeUnitName};
use serde::{Deserialize, Deserializer, Serialize};

/// What decoding may claim in all, a bound on lengths that are read before their content: 64 GiB. A payload is at most
/// a quarter of that, and no list or text is allocated before its bytes are seen.
const DECODE_LIMIT: usize = 1 << 36;

/// Little-endian, variable-length integers.
fn configuration() -> impl bincode::config::Config {
    bincode::config::standard().with_limit::<DECODE_LIMIT>()
}

/// The bytes of a payload.
pub(super) fn encode(artifact: &ArtifactV1) -> Result<Vec<u8>, Flaw> {
    bincode::serde::encode_to_vec(artifact, configuration()).map_err(|error| Flaw::Undecodable {
        problem: error.to_string(),
    })
}

/// Decodes what a payload begins with, and says how many bytes that took.
pub(super) fn decode_start<'de, T: Deserialize<'de>>(
    payload: &'de [u8],
) -> Result<(T, usize), Flaw> {
    bincode::serde::borrow_decode_from_slice(payload, configuration()).map_err(|error| {
        Flaw::Undecodable {
            problem: error.to_string(),
        }
    })
}

/// Decodes a whole payload.
pub(super) fn decode(payload: &[u8]) -> Result<ArtifactV1, Flaw> {
    let (artifact, consumed) = decode_start(payload)?;
    if consumed != payload.len() {
        return Err(Flaw::Undecodable {
            problem: format!("{} bytes follow its end", payload.len() - consumed),
        });
    }
    Ok(artifact)
}

/// A text that is borrowed from the payload before it is copied: bincode's own `String` is allocated at the length
/// that the bytes claim, before any is read.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub(super) struct Text(pub(super) String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&str>::deserialize(deserializer).map(|text| Text(text.to_owned()))
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        Text(text.clone())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ArtifactV1 {
    pub(super) versions: VersionsV1,
    pub(super) metadata: Text,
    pub(super) columns: Vec<ColumnV1>,
    pub(super) layout: LayoutV1,
    pub(super) identifiers: Vec<Option<IdentifierCodecV1>>,
    pub(super) report: FitReportV1,
    pub(super) options: FitOptionsV1,
    pub(super) sizes: SizesV1,
    pub(super) context: Vec<TensorV1>,
    pub(super) sequence: Vec<TensorV1>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct VersionsV1 {
    pub(super) parsynth: Text,
    pub(super) libtorch: Text,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ColumnV1 {
    pub(super) name: Text,
    pub(super) role: RoleV1,
    pub(super) storage: StorageV1,
    pub(super) base: i128,
    pub(super) step: i128,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum RoleV1 {
    SequenceKey,
    SequenceIndex,
    Context,
    Sequential,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum IntegerTypeV1 {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum TimeUnitNameV1 {
    Nanoseconds,
    Microseconds,
    Milliseconds,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum StorageV1 {
    Boolean,
    Integer(IntegerTypeV1),
    Float32,
    Float64,
    Text,
    Categorical,
    Enumeration(Vec<Text>),
    Date,
    Datetime {
        unit: TimeUnitNameV1,
        zone: Option<Text>,
    },
    TextDate {
        format: Text,
    },
    IntegerDate {
        format: Text,
        integer: IntegerTypeV1,
    },
    Null,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum LabelV1 {
    Boolean(bool),
    Integer(i128),
    Float(f64),
    Text(Text),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CategoryCodecV1 {
    pub(super) labels: Vec<LabelV1>,
    pub(super) has_missing: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct GridV1 {
    pub(super) decimals: u32,
    pub(super) first: f64,
    pub(super) step: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct QuantileMapV1 {
    pub(super) knots: Vec<f64>,
    pub(super) shares: Vec<f64>,
    pub(super) margin: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct NumberCodecV1 {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) grid: Option<GridV1>,
    pub(super) support: Vec<f64>,
    pub(super) has_missing: bool,
    pub(super) has_same: bool,
    pub(super) atoms: Vec<f64>,
    pub(super) continuous: Option<QuantileMapV1>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct NumberScaleV1 {
    pub(super) map: QuantileMapV1,
    pub(super) mean: f64,
    pub(super) deviation: f64,
    pub(super) change_deviation: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ChangeCodecV1 {
    pub(super) first: NumberCodecV1,
    pub(super) step: NumberCodecV1,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct NumberColumnV1 {
    pub(super) scale: NumberScaleV1,
    pub(super) whole: NumberCodecV1,
    pub(super) change: Option<ChangeCodecV1>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum RowKindV1 {
    Category(CategoryCodecV1),
    Number(Box<NumberColumnV1>),
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum RowSourceV1 {
    Gap,
    Column(u64),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RowColumnV1 {
    pub(super) source: RowSourceV1,
    pub(super) kind: RowKindV1,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum ContextSourceV1 {
    Column(u64),
    TimeOfDay,
    Start,
    EndsWithTable,
    Length,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ContextNumberV1 {
    pub(super) codec: NumberCodecV1,
    pub(super) scale: NumberScaleV1,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum ContextKindV1 {
    Category(CategoryCodecV1),
    Number(Box<ContextNumberV1>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ContextColumnV1 {
    pub(super) source: ContextSourceV1,
    pub(super) kind: ContextKindV1,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TimeUnitV1 {
    pub(super) seconds_per_raw_unit: f64,
    pub(super) base: i128,
    pub(super) step: i128,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct MonthGridV1 {
    pub(super) day: Option<u32>,
    pub(super) time_of_day: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CycleV1 {
    pub(super) period: f64,
    pub(super) origin: f64,
    pub(super) harmonics: Vec<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct IndexCodecV1 {
    pub(super) unit: Option<TimeUnitV1>,
    pub(super) months: Option<MonthGridV1>,
    pub(super) splits_time_of_day: bool,
    pub(super) cycles: Vec<CycleV1>,
    pub(super) scale: NumberScaleV1,
    pub(super) elapsed: NumberScaleV1,
    pub(super) longest_elapsed: f64,
    pub(super) last: f64,
    pub(super) median_gap: f64,
    pub(super) is_censored: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LayoutV1 {
    pub(super) context: Vec<ContextColumnV1>,
    pub(super) rows: Vec<RowColumnV1>,
    pub(super) index: Option<IndexCodecV1>,
    pub(super) longest: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum IdentifierCodecV1 {
    Counter {
        prefix: Text,
        digits: u64,
        next: u128,
        smallest: i128,
        suffix: Text,
    },
    Pattern {
        regex: Text,
        taken: Vec<u64>,
        hash_key: u64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum StageV1 {
    Context,
    Sequence,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct EpochLossV1 {
    pub(super) stage: StageV1,
    pub(super) epoch: u64,
    pub(super) training_nats: f64,
    pub(super) validation_nats: Option<f64>,
    pub(super) training_nats_per_column: Vec<(Text, f64)>,
    pub(super) validation_nats_per_column: Option<Vec<(Text, f64)>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct FitReportV1 {
    pub(super) losses: Vec<EpochLossV1>,
    pub(super) best_epoch: u64,
    pub(super) epochs: u64,
    pub(super) rows: u64,
    pub(super) training_sequences: u64,
    pub(super) validation_sequences: u64,
    pub(super) weights: u64,
    pub(super) fit_secs: f64,
    pub(super) warnings: Vec<Text>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct DurationV1 {
    pub(super) seconds: u64,
    pub(super) nanoseconds: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct FitOptionsV1 {
    pub(super) hidden_size: u64,
    pub(super) layers: u64,
    pub(super) epochs: Option<u64>,
    pub(super) batch_size: Option<u64>,
    pub(super) learning_rate: f64,
    pub(super) dropout: f64,
    pub(super) validation_share: f64,
    pub(super) patience_steps: u64,
    pub(super) max_training_time: Option<DurationV1>,
    pub(super) enforce_min_max: bool,
    pub(super) seed: Option<u64>,
    pub(super) threads: u64,
}

/// What the options do not say about the networks' sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SizesV1 {
    pub(super) embedding: u64,
    pub(super) head: u64,
    pub(super) components: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TensorV1 {
    pub(super) name: Text,
    pub(super) shape: Vec<u64>,
    pub(super) values: Vec<f32>,
}

impl ArtifactV1 {
    /// Turns the crate's types into the file's.
    pub(super) fn freeze(artifact: &Artifact) -> Result<ArtifactV1, Flaw> {
        let Artifact {
            saved_by,
            metadata,
            schema,
            layout,
            identifiers,
            report,
            options,
            sizes,
            context,
            sequence,
        } = artifact;
        let context_plan = ContextShape::new(layout, *sizes).plan();
        let sequence_plan = SequenceShape::new(layout, *sizes).plan();
        Ok(ArtifactV1 {
            versions: saved_by.into(),
            metadata: Text(metadata.to_json()),
            columns: schema.columns.iter().map(ColumnV1::from).collect(),
            layout: layout.into(),
            identifiers: identifiers
                .iter()
                .map(|codec| codec.as_ref().map(IdentifierCodecV1::from))
                .collect(),
            report: report.into(),
            options: options.into(),
            sizes: (*sizes).into(),
            context: tensors(&context_plan, context)?,
            sequence: tensors(&sequence_plan, sequence)?,
        })
    }
}

/// Cuts a buffer into the plan's tensors.
fn tensors(plan: &Plan, mut values: &[f32]) -> Result<Vec<TensorV1>, Flaw> {
    let mut tensors = Vec::with_capacity(plan.entries.len());
    for entry in &plan.entries {
        let count = usize::try_from(entry.numel()).unwrap_or(usize::MAX);
        let Some((own, rest)) = values.split_at_checked(count) else {
            return Err(Flaw::Invalid {
                place: format!("weight `{}`", entry.name),
                problem: "the buffer ends before it".to_owned(),
            });
        };
        values = rest;
        tensors.push(TensorV1 {
            name: (&entry.name).into(),
            shape: entry.shape.iter().map(|n| n.unsigned_abs()).collect(),
            values: own.to_vec(),
        });
    }
    Ok(tensors)
}

impl From<&Versions> for VersionsV1 {
    fn from(versions: &Versions) -> Self {
        VersionsV1 {
            parsynth: (&versions.parsynth).into(),
            libtorch: (&versions.libtorch).into(),
        }
    }
}

impl From<&ColumnSchema> for ColumnV1 {
    fn from(column: &ColumnSchema) -> Self {
        // The sdtype follows from metadata and role.
        let ColumnSchema {
            name,
            sdtype: _,
            role,
            storage,
            base,
            step,
        } = column;
        ColumnV1 {
            name: name.into(),
            role: match role {
                Role::SequenceKey => RoleV1::SequenceKey,
                Role::SequenceIndex => RoleV1::SequenceIndex,
                Role::Context => RoleV1::Context,
                Role::Sequential => RoleV1::Sequential,
            },
            storage: storage.into(),
            base: *base,
            step: *step,
        }
    }
}

impl From<IntegerType> for IntegerTypeV1 {
    fn from(integer: IntegerType) -> Self {
        match integer {
            IntegerType::I8 => IntegerTypeV1::I8,
            IntegerType::I16 => IntegerTypeV1::I16,
            IntegerType::I32 => IntegerTypeV1::I32,
            IntegerType::I64 => IntegerTypeV1::I64,
            IntegerType::U8 => IntegerTypeV1::U8,
            IntegerType::U16 => IntegerTypeV1::U16,
            IntegerType::U32 => IntegerTypeV1::U32,
            IntegerType::U64 => IntegerTypeV1::U64,
        }
    }
}

impl From<&Storage> for StorageV1 {
    fn from(storage: &Storage) -> Self {
        match storage {
            Storage::Boolean => StorageV1::Boolean,
            Storage::Integer(integer) => StorageV1::Integer((*integer).into()),
            Storage::Float32 => StorageV1::Float32,
            Storage::Float64 => StorageV1::Float64,
            Storage::Text => StorageV1::Text,
            Storage::Categorical => StorageV1::Categorical,
            Storage::Enumeration(categories) => {
                StorageV1::Enumeration(categories.iter().map(Text::from).collect())
            }
            Storage::Date => StorageV1::Date,
            Storage::Datetime { unit, zone } => StorageV1::Datetime {
                unit: match unit {
                    TimeUnitName::Nanoseconds => TimeUnitNameV1::Nanoseconds,
                    TimeUnitName::Microseconds => TimeUnitNameV1::Microseconds,
                    TimeUnitName::Milliseconds => TimeUnitNameV1::Milliseconds,
                },
                zone: zone.as_ref().map(Text::from),
            },
            Storage::TextDate { format } => StorageV1::TextDate {
                format: format.into(),
            },
            Storage::IntegerDate { format, integer } => StorageV1::IntegerDate {
                format: format.into(),
                integer: (*integer).into(),
            },
            Storage::Null => StorageV1::Null,
        }
    }
}

impl From<&Label> for LabelV1 {
    fn from(label: &Label) -> Self {
        match label {
            Label::Boolean(value) => LabelV1::Boolean(*value),
            Label::Integer(value) => LabelV1::Integer(*value),
            Label::Float(value) => LabelV1::Float(*value),
            Label::Text(value) => LabelV1::Text(value.into()),
        }
    }
}

impl From<&CategoryCodec> for CategoryCodecV1 {
    fn from(codec: &CategoryCodec) -> Self {
        let CategoryCodec {
            labels,
            has_missing,
        } = codec;
        CategoryCodecV1 {
            labels: labels.iter().map(LabelV1::from).collect(),
            has_missing: *has_missing,
        }
    }
}

impl From<&QuantileMap> for QuantileMapV1 {
    fn from(map: &QuantileMap) -> Self {
        let QuantileMap {
            knots,
            shares,
            margin,
        } = map;
        QuantileMapV1 {
            knots: knots.clone(),
            shares: shares.clone(),
            margin: *margin,
        }
    }
}

impl From<&NumberCodec> for NumberCodecV1 {
    fn from(codec: &NumberCodec) -> Self {
        let NumberCodec {
            low,
            high,
            grid,
            support,
            has_missing,
            has_same,
            atoms,
            continuous,
        } = codec;
        NumberCodecV1 {
            low: *low,
            high: *high,
            grid: grid.as_ref().map(|grid| {
                let Grid {
                    decimals,
                    first,
                    step,
                } = *grid;
                GridV1 {
                    decimals,
                    first,
                    step,
                }
            }),
            support: support.clone(),
            has_missing: *has_missing,
            has_same: *has_same,
            atoms: atoms.clone(),
            continuous: continuous.as_ref().map(QuantileMapV1::from),
        }
    }
}

impl From<&NumberScale> for NumberScaleV1 {
    fn from(scale: &NumberScale) -> Self {
        let NumberScale {
            map,
            mean,
            deviation,
            change_deviation,
        } = scale;
        NumberScaleV1 {
            map: map.into(),
            mean: *mean,
            deviation: *deviation,
            change_deviation: *change_deviation,
        }
    }
}

impl From<&NumberColumn> for NumberColumnV1 {
    fn from(column: &NumberColumn) -> Self {
        let NumberColumn {
            scale,
            whole,
            change,
        } = column;
        NumberColumnV1 {
            scale: scale.into(),
            whole: whole.into(),
            change: change.as_ref().map(|change| ChangeCodecV1 {
                first: (&change.first).into(),
                step: (&change.step).into(),
            }),
        }
    }
}

impl From<&RowColumn> for RowColumnV1 {
    fn from(column: &RowColumn) -> Self {
        RowColumnV1 {
            source: match column.source {
                RowSource::Gap => RowSourceV1::Gap,
                RowSource::Column(column) => RowSourceV1::Column(column as u64),
            },
            kind: match &column.kind {
                RowKind::Category(codec) => RowKindV1::Category(codec.into()),
                RowKind::Number(number) => RowKindV1::Number(Box::new(number.as_ref().into())),
            },
        }
    }
}

impl From<&ContextColumn> for ContextColumnV1 {
    fn from(column: &ContextColumn) -> Self {
        ContextColumnV1 {
            source: match column.source {
                ContextSource::Column(column) => ContextSourceV1::Column(column as u64),
                ContextSource::TimeOfDay => ContextSourceV1::TimeOfDay,
                ContextSource::Start => ContextSourceV1::Start,
                ContextSource::EndsWithTable => ContextSourceV1::EndsWithTable,
                ContextSource::Length => ContextSourceV1::Length,
            },
            kind: match &column.kind {
                ContextKind::Category(codec) => ContextKindV1::Category(codec.into()),
                ContextKind::Number { codec, scale } => {
                    ContextKindV1::Number(Box::new(ContextNumberV1 {
                        codec: codec.into(),
                        scale: scale.into(),
                    }))
                }
            },
        }
    }
}

impl From<&IndexCodec> for IndexCodecV1 {
    fn from(codec: &IndexCodec) -> Self {
        let IndexCodec {
            unit,
            months,
            splits_time_of_day,
            cycles,
            scale,
            elapsed,
            longest_elapsed,
            last,
            median_gap,
            is_censored,
        } = codec;
        IndexCodecV1 {
            unit: unit.map(|unit| {
                let TimeUnit {
                    seconds_per_raw_unit,
                    base,
                    step,
                } = unit;
                TimeUnitV1 {
                    seconds_per_raw_unit,
                    base,
                    step,
                }
            }),
            months: months.as_ref().map(|months| {
                let MonthGrid { day, time_of_day } = *months;
                MonthGridV1 { day, time_of_day }
            }),
            splits_time_of_day: *splits_time_of_day,
            cycles: cycles
                .iter()
                .map(|cycle| {
                    let Cycle {
                        period,
                        origin,
                        harmonics,
                    } = cycle;
                    CycleV1 {
                        period: *period,
                        origin: *origin,
                        harmonics: harmonics.clone(),
                    }
                })
                .collect(),
            scale: scale.into(),
            elapsed: elapsed.into(),
            longest_elapsed: *longest_elapsed,
            last: *last,
            median_gap: *median_gap,
            is_censored: *is_censored,
        }
    }
}

impl From<&Layout> for LayoutV1 {
    fn from(layout: &Layout) -> Self {
        let Layout {
            context,
            rows,
            index,
            longest,
        } = layout;
        LayoutV1 {
            context: context.iter().map(ContextColumnV1::from).collect(),
            rows: rows.iter().map(RowColumnV1::from).collect(),
            index: index.as_ref().map(IndexCodecV1::from),
            longest: *longest as u64,
        }
    }
}

impl From<&IdentifierCodec> for IdentifierCodecV1 {
    fn from(codec: &IdentifierCodec) -> Self {
        match codec {
            IdentifierCodec::Counter {
                prefix,
                digits,
                next,
                smallest,
                suffix,
            } => IdentifierCodecV1::Counter {
                prefix: prefix.into(),
                digits: *digits as u64,
                next: *next,
                smallest: *smallest,
                suffix: suffix.into(),
            },
            IdentifierCodec::Pattern {
                regex,
                taken,
                hash_key,
            } => IdentifierCodecV1::Pattern {
                regex: regex.into(),
                taken: taken.clone(),
                hash_key: *hash_key,
            },
        }
    }
}

impl From<&EpochLoss> for EpochLossV1 {
    fn from(loss: &EpochLoss) -> Self {
        let EpochLoss {
            stage,
            epoch,
            training_nats,
            validation_nats,
            training_nats_per_column,
            validation_nats_per_column,
        } = loss;
        let per_column = |losses: &Vec<(String, f64)>| {
            losses
                .iter()
                .map(|(column, nats)| (Text::from(column), *nats))
                .collect()
        };
        EpochLossV1 {
            stage: match stage {
                Stage::Context => StageV1::Context,
                Stage::Sequence => StageV1::Sequence,
            },
            epoch: *epoch as u64,
            training_nats: *training_nats,
            validation_nats: *validation_nats,
            training_nats_per_column: per_column(training_nats_per_column),
            validation_nats_per_column: validation_nats_per_column.as_ref().map(per_column),
        }
    }
}

impl From<&FitReport> for FitReportV1 {
    fn from(report: &FitReport) -> Self {
        let FitReport {
            losses,
            best_epoch,
            epochs,
            rows,
            training_sequences,
            validation_sequences,
            weights,
            fit_secs,
            warnings,
        } = report;
        FitReportV1 {
            losses: losses.iter().map(EpochLossV1::from).collect(),
            best_epoch: *best_epoch as u64,
            epochs: *epochs as u64,
            rows: *rows as u64,
            training_sequences: *training_sequences as u64,
            validation_sequences: *validation_sequences as u64,
            weights: *weights as u64,
            fit_secs: *fit_secs,
            warnings: warnings.iter().map(Text::from).collect(),
        }
    }
}

impl From<&ValidFitOptions> for FitOptionsV1 {
    fn from(options: &ValidFitOptions) -> Self {
        let ValidFitOptions {
            hidden_size,
            layers,
            epochs,
            batch_size,
            learning_rate,
            dropout,
            validation_share,
            patience_steps,
            max_training_time,
            enforce_min_max,
            seed,
            threads,
        } = options;
        FitOptionsV1 {
            hidden_size: *hidden_size as u64,
            layers: *layers as u64,
            epochs: epochs.map(|n| n as u64),
            batch_size: batch_size.map(|n| n as u64),
            learning_rate: *learning_rate,
            dropout: *dropout,
            validation_share: *validation_share,
            patience_steps: *patience_steps as u64,
            max_training_time: max_training_time.map(|time| DurationV1 {
                seconds: time.as_secs(),
                nanoseconds: time.subsec_nanos(),
            }),
            enforce_min_max: *enforce_min_max,
            seed: *seed,
            threads: *threads as u64,
        }
    }
}

impl From<Sizes> for SizesV1 {
    fn from(sizes: Sizes) -> Self {
        // Hidden size and layers are among the options.
        let Sizes {
            hidden: _,
            layers: _,
            embedding,
            head,
            components,
        } = sizes;
        SizesV1 {
            embedding: embedding.unsigned_abs(),
            head: head.unsigned_abs(),
            components: components.unsigned_abs(),
        }
    }
}
