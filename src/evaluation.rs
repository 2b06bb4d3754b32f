//! Is a synthetic table good and safe? Compares it with the real one, blind to the model that made it.
//! In: a real, a synthetic and perhaps a held-out frame, with their metadata. Out: [`EvaluationReport`], as numbers, as
//! JSON, as a table in a terminal and as one HTML file.

mod along_time;
mod boosting;
mod columns;
mod comparison;
mod diagnostic;
mod error;
mod features;
mod fidelity;
mod findings;
mod html;
pub mod metrics;
mod next_row;
mod options;
mod privacy;
mod quality;
mod report;
mod sequences;
mod terminal;
mod text;
mod tracks;
mod two_sample;

use polars::prelude::DataFrame;

use crate::metadata::Metadata;
use comparison::Comparison;

pub use along_time::{
    AlongTimeReport, Autocorrelation, ContextChange, CrossCorrelation, EndRow, IndexRise, Spectrum,
    Transitions,
};
pub use columns::{
    CategoryColumn, CategoryShare, CategorySummary, ColumnReport, Histogram, HistogramSide,
    NumberColumn, NumberSummary, PairAxis, PairTable,
};
pub use diagnostic::{ColumnValidity, DiagnosticReport, DtypeDifference};
pub use error::{ComparedRole, EvaluationError};
pub use fidelity::{FidelityReport, FidelityScore};
pub use findings::Finding;
pub use next_row::{NextRowColumn, NextRowReport};
pub use options::EvaluationOptions;
pub use privacy::{
    ClosenessReport, Copy, CopyReport, DistanceQuantiles, MembershipReport, Outcome, PrivacyReport,
    RareValues, Verdict,
};
pub use quality::{ColumnPairTrend, ColumnShape, QualityReport};
pub use report::{EvaluationReport, TableSize, TableSizes};
pub use sequences::{
    InterRowScore, LengthReport, LengthSummary, NoveltyReport, SequenceColumn, SequenceReport,
    StatisticScores, StepReport,
};
pub use tracks::{Track, TrackColumn};
pub use two_sample::{Giveaway, TwoSampleReport};

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
    let windows = rows.windows_if_single();
    let sequences = windows.as_ref().unwrap_or(&rows);
    let scored = fidelity::Scored::of(&rows, sequences);
    let of_halves = sequences
        .halves()
        .map(|halves| fidelity::Scored::of(&halves, &halves));
    let fidelity = fidelity::fidelity(&scored, of_halves.as_ref());
    let diagnostic = diagnostic::diagnostic(&rows, metadata);
    let columns = columns::columns(&rows, &scored.quality);
    let next_row = next_row::next_row(sequences);
    let privacy = privacy::privacy(sequences);
    let findings = findings::findings(&findings::Sections {
        scored: &scored,
        of_halves: of_halves.as_ref(),
        diagnostic: &diagnostic,
        columns: &columns,
        next_row: &next_row,
        privacy: &privacy,
    });
    Ok(EvaluationReport {
        findings,
        fidelity,
        diagnostic,
        columns,
        quality: scored.quality,
        sequences: scored.sequences,
        novelty: sequences::novelty(&rows, sequences),
        along_time: scored.along_time,
        two_sample: scored.two_sample,
        next_row,
        privacy,
        tracks: tracks::tracks(&rows),
        tables: report::TableSizes::of(&rows),
        losses: Vec::new(),
    })
}
