#![doc = include_str!("../README.md")]

mod artifact;
mod codec;
mod decode;
mod encode;
mod error;
pub mod evaluation;
mod fit;
mod health;
mod history;
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
pub use codec::identifier::IdentifierError;
pub use error::{Error, Result};
pub use evaluation::{
    EvaluationError, EvaluationOptions, EvaluationReport, evaluate, evaluate_with,
};
pub use fit::ParSynthesizerBuilder;
pub use health::{Health, Versions};
pub use likelihood::LogLikelihood;
pub use metadata::{
    Metadata, MetadataBuilder, MetadataDiff, MetadataDifference, MetadataError, PersonalKind,
    SdType,
};
pub use model::ModelError;
pub use params::OptionError;
pub use report::{EpochLoss, FitProgress, FitReport, SampleProgress, Stage};
pub use sampling::{ContinueOptions, SampleOptions};
pub use synthesizer::ParSynthesizer;
pub use table::{
    DataProblem, DetectedColumn, DetectedMetadata, DetectionReport, IndexCandidate, InvalidData,
    KeyCandidate, LongSequences, SubsetOptions, TableError, read_csv, read_parquet, write_csv,
    write_parquet,
};
pub use tch::Device;
pub use train::TrainError;
