#![doc = include_str!("../README.md")]

mod artifact;
mod cancel;
mod charts;
mod codec;
mod constraint;
mod decode;
mod distribution;
mod encode;
mod error;
pub mod evaluation;
mod files;
mod fit;
mod health;
mod history;
mod info;
mod layout;
mod likelihood;
mod metadata;
mod model;
mod params;
mod possible;
mod protection;
mod report;
mod rng;
mod sample;
mod sampling;
mod synthesizer;
mod table;
mod tasks;
mod train;

pub use artifact::ArtifactError;
pub use cancel::CancelToken;
pub use codec::identifier::IdentifierError;
pub use constraint::{Constraint, ConstraintError, ConstraintValue, Relation};
pub use distribution::{DistributionError, NumericalDistribution};
pub use error::{Error, Result};
pub use evaluation::{
    EvaluationError, EvaluationOptions, EvaluationReport, evaluate, evaluate_with,
};
pub use fit::ParSynthesizerBuilder;
pub use health::{Health, Versions};
pub use info::{FitParameters, SynthesizerInfo};
pub use likelihood::LogLikelihood;
pub use metadata::{
    Metadata, MetadataBuilder, MetadataDiff, MetadataDifference, MetadataError, PersonalKind,
    SdType,
};
pub use model::ModelError;
pub use params::OptionError;
pub use report::{
    EpochLoss, FitEstimate, FitProgress, FitReport, SampleProgress, SampleReport, Stage,
};
pub use sampling::{Condition, ContinueOptions, ImputeOptions, SampleOptions};
pub use synthesizer::{ParSynthesizer, SampledParts};
pub use table::{
    DataProblem, DetectedColumn, DetectedMetadata, DetectionReport, IndexCandidate, InvalidData,
    JoinedTables, KeyCandidate, LongSequences, RelatedTable, RelatedTablesError, SubsetOptions,
    TableError, join_parent, read_csv, read_parquet, split_parent, write_csv, write_parquet,
};
pub use tch::Device;
pub use train::TrainError;
