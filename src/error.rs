//! One error for the whole chain: a variant a stage.

use crate::artifact::ArtifactError;
use crate::codec::identifier::IdentifierError;
use crate::constraint::ConstraintError;
use crate::distribution::DistributionError;
use crate::evaluation::EvaluationError;
use crate::metadata::MetadataError;
use crate::model::ModelError;
use crate::params::OptionError;
use crate::table::{InvalidData, RelatedTablesError, TableError};
use crate::train::TrainError;

/// Anything that can go wrong, by the stage in which it did.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The metadata contradicts itself or cannot be read.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    /// The data cannot be read, or does not fit the metadata.
    #[error(transparent)]
    Table(#[from] TableError),
    /// An option is outside its range.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// Training failed.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// The network failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A model file cannot be read or written.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// A constraint does not fit, contradicts another, is broken by the data, or leaves what was asked for no value.
    #[error(transparent)]
    Constraint(#[from] ConstraintError),
    /// Identifiers cannot be made.
    #[error(transparent)]
    Identifier(#[from] IdentifierError),
    /// Tables cannot be compared.
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    /// A given category was never seen in training.
    #[error("column `{column}`, row {row}: {found} was not seen in training; seen were {known}")]
    UnseenCategory {
        /// The column.
        column: String,
        /// Row of the given frame, from 0.
        row: usize,
        /// The value given.
        found: String,
        /// The values seen, or the first of them.
        known: String,
    },
    /// A given category was never seen in training, or is one that value protection hides: which of the two, a model
    /// does not know.
    #[error(
        "column `{column}`, row {row}: {found} is protected as rare, or was not seen in training; value_protection({protection}) leaves {known}"
    )]
    ProtectedCategory {
        /// The context column.
        column: String,
        /// Row of the given frame, from 0.
        row: usize,
        /// The value given.
        found: String,
        /// The sequences that must share a value.
        protection: usize,
        /// The values that may come out, or the first of them.
        known: String,
    },
    /// Value protection leaves a column of numbers without any.
    #[error(
        "column `{column}`: {sequences} sequences have a value, so value_protection({protection}) leaves none; lower it, or leave the column out"
    )]
    NumbersProtected {
        /// The column.
        column: String,
        /// How many sequences have a value in it.
        sequences: usize,
        /// The sequences that must share a value.
        protection: usize,
    },
    /// Value protection leaves a column without a category.
    #[error(
        "column `{column}`: each of its {categories} categories is seen in fewer than {protection} sequences, so value_protection({protection}) leaves none; lower it, merge categories, or leave the column out"
    )]
    AllProtected {
        /// The column.
        column: String,
        /// How many categories it has.
        categories: usize,
        /// The sequences that must share a value.
        protection: usize,
    },
    /// A given number is missing, though the column never was in training.
    #[error(
        "column `{column}`, row {row}: missing, but training had a value in every sequence; give one, or leave the column out to have it drawn"
    )]
    UnseenMissing {
        /// The context column.
        column: String,
        /// Row of the given frame, from 0.
        row: usize,
    },
    /// A given sequence key occurs twice.
    #[error(
        "sequence key column `{column}`, row {row}: {found} was given before; keys must differ"
    )]
    RepeatedKey {
        /// The key column.
        column: String,
        /// Row of the given frame, from 0.
        row: usize,
        /// The key.
        found: String,
    },
    /// A column cannot have the distribution that was asked for.
    #[error(transparent)]
    Distribution(#[from] DistributionError),
    /// Two tables cannot be joined, or one cannot be split.
    #[error(transparent)]
    RelatedTables(#[from] RelatedTablesError),
    /// A picture of the losses could not be written.
    #[error("cannot write {}", .path.display())]
    WritePlot {
        /// The file.
        path: std::path::PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// Some columns of a sequence key are given, others are not.
    #[error(
        "sequence key `{columns}`: column `{missing}` is not given; give all its columns, or leave out those that are made up"
    )]
    IncompleteKey {
        /// The key's columns.
        columns: String,
        /// The first that is not given.
        missing: String,
    },
    /// The device asked for cannot be used.
    #[error("device {device} cannot be used: {reason}")]
    Device {
        /// The device asked for.
        device: String,
        /// Why, and what to do.
        reason: &'static str,
    },
    /// The data does not fit, in each of the listed ways.
    #[error(transparent)]
    InvalidData(#[from] InvalidData),
    /// A [`CancelToken`](crate::CancelToken) ended the work.
    #[error("cancelled")]
    Cancelled,
    /// A thread that samples or computes likelihoods ended without a result.
    #[error("a worker thread ended early")]
    Thread,
}

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;
