//! Format 1, frozen: what a file holds, whatever becomes of the types the crate works with.
//! In: an [`Artifact`] or a payload. Out: the other of the two; `thaw` is in `v1/thaw.rs`.

mod freeze;
mod thaw;

use super::{Artifact, Flaw};
use crate::codec::calendar::{Cycle, IndexCodec, MonthGrid, TimeUnit};
use crate::codec::identifier::IdentifierCodec;
use crate::codec::number::{Bin, Grid, NumberCodec, NumberScale, QuantileMap, Unit};
use crate::codec::personal::{Locale, PersonalCodec};
use crate::codec::spread::Spread;
use crate::constraint::{Combinations, Constraint, Learned, Rules, Transitions};
use crate::distribution::NumericalDistribution;
use crate::health::Versions;
use crate::info::Provenance;
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
    pub(super) personal: Vec<Option<PersonalCodecV1>>,
    pub(super) spreads: Vec<SpreadV1>,
    pub(super) provenance: ProvenanceV1,
    pub(super) constraints: Text,
    pub(super) learned: Vec<LearnedV1>,
}

/// What a constraint took from the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum LearnedV1 {
    Nothing,
    Combinations(Vec<Vec<u32>>),
    Transitions(Vec<Vec<u32>>),
    RunningTotal { begins_with_amount: bool },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ProvenanceV1 {
    pub(super) created: i64,
    pub(super) fitted: i64,
    pub(super) fitted_by: VersionsV1,
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
    Duration {
        unit: TimeUnitNameV1,
    },
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
    pub(super) has_hidden: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct GridV1 {
    pub(super) decimals: u32,
    pub(super) first: f64,
    pub(super) step: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum UnitV1 {
    Plain,
    Logarithm { floor: f64 },
    Count,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct BinV1 {
    pub(super) low: f64,
    pub(super) high: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct QuantileMapV1 {
    pub(super) knots: Vec<f64>,
    pub(super) shares: Vec<f64>,
    pub(super) margin: f64,
    pub(super) unit: UnitV1,
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
    pub(super) bins: Vec<BinV1>,
    pub(super) is_rounded: bool,
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
    pub(super) reference: Option<ReferenceV1>,
}

/// Where a column's distances are measured from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ReferenceV1 {
    pub(super) column: u64,
    pub(super) range: Option<(f64, f64)>,
    pub(super) grid: Option<GridV1>,
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

/// Its kind is in the metadata.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PersonalCodecV1 {
    pub(super) locales: Vec<Text>,
    pub(super) taken: Vec<u64>,
    pub(super) hash_key: u64,
    pub(super) is_exhausted: bool,
    pub(super) is_unique: bool,
    pub(super) digits: (u32, u32),
    pub(super) decimals: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SpreadV1 {
    pub(super) is_constant: bool,
    pub(super) missing_share: f64,
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
    pub(super) learning_rate: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct FitReportV1 {
    pub(super) losses: Vec<EpochLossV1>,
    pub(super) kept_epoch: u64,
    pub(super) epochs: u64,
    pub(super) rows: u64,
    pub(super) training_sequences: u64,
    pub(super) validation_sequences: u64,
    pub(super) weights: u64,
    pub(super) fit_secs: f64,
    pub(super) warnings: Vec<Text>,
    pub(super) sequences: u64,
    pub(super) segments: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct DurationV1 {
    pub(super) seconds: u64,
    pub(super) nanoseconds: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum NumericalDistributionV1 {
    Learned,
    Bins(u64),
    Logarithmic,
    Counts,
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
    pub(super) value_protection: u64,
    pub(super) seed: Option<u64>,
    pub(super) threads: u64,
    pub(super) enforce_rounding: bool,
    pub(super) segment_size: Option<u64>,
    pub(super) numerical_distributions: Vec<(Text, NumericalDistributionV1)>,
    pub(super) mixed_precision: bool,
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
