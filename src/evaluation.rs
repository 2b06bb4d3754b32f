//! Is a synthetic table good and safe? Compares it with the real one, blind to the model that made it.
//! In: a real, a synthetic and perhaps a held-out frame, with their metadata. Out: [`EvaluationReport`], as numbers, as
//! JSON, as a table in a terminal and as one HTML file.

mod along_time;
mod columns;
mod comparison;
mod diagnostic;
mod error;
mod features;
pub mod metrics;
mod next_row;
mod options;
mod privacy;
mod quality;
mod report;
mod sequences;
mod two_sample;

use polars::prelude::DataFrame;

use crate::metadata::Metadata;
use comparison::Comparison;

pub use along_time::AlongTimeReport;
pub use columns::{
    CategoryColumn, CategoryShare, CategorySummary, ColumnReport, Histogram, HistogramSide,
    NumberColumn, NumberSummary, PairAxis, PairTable,
};
pub use diagnostic::{ColumnValidity, DiagnosticReport, DtypeDifference};
pub use error::{ComparedRole, EvaluationError};
pub use next_row::NextRowReport;
pub use options::EvaluationOptions;
pub use privacy::PrivacyReport;
pub use quality::{ColumnPairTrend, ColumnShape, QualityReport};
pub use report::EvaluationReport;
pub use sequences::{
    InterRowScore, LengthReport, LengthSummary, NoveltyReport, SequenceColumn, SequenceReport,
    StatisticScores, StepReport,
};
pub use two_sample::TwoSampleReport;

/// Compares a synthetic table with the real one it was learned from, and both with real sequences held out, if there
/// are any; see [`evaluate_with`] for context columns and a seed.
///
/// # Errors
/// [`EvaluationError`] naming the table and the column: a table without rows, columns that a table and the metadata
/// do not share, a dtype that does not fit, a missing sequence key or index.
pub fn evaluate(
    real: &DataFrame,
    synthetic: &DataFrame,
    holdout: Option<&DataFrame>,
    metadata: &Metadata,
) -> Result<EvaluationReport, EvaluationError> {
    evaluate_with(
        real,
        synthetic,
        holdout,
        metadata,
        &EvaluationOptions::new(),
    )
}

/// As [`evaluate`], with options.
///
/// # Errors
/// As [`evaluate`], and for a context column that the metadata does not state or that has another role.
pub fn evaluate_with(
    real: &DataFrame,
    synthetic: &DataFrame,
    holdout: Option<&DataFrame>,
    metadata: &Metadata,
    options: &EvaluationOptions,
) -> Result<EvaluationReport, EvaluationError> {
    let rows = Comparison::read(real, synthetic, holdout, metadata, options)?;
    let sequences = rows.in_windows_if_single();
    let quality = quality::quality(&rows);
    Ok(EvaluationReport {
        diagnostic: diagnostic::diagnostic(&rows, metadata),
        columns: columns::columns(&rows, &quality),
        quality,
        sequences: sequences::sequences(&rows, &sequences),
        along_time: along_time::along_time(&sequences),
        two_sample: two_sample::two_sample(&sequences),
        next_row: next_row::next_row(&sequences),
        privacy: privacy::privacy(&sequences),
    })
}
