//! All that an evaluation found.

use serde::Serialize;

use super::{
    AlongTimeReport, ColumnReport, DiagnosticReport, FidelityReport, NextRowReport, PrivacyReport,
    QualityReport, SequenceReport, TwoSampleReport,
};

/// All that an evaluation found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EvaluationReport {
    /// The scores in which all that follows is summed up, beside what real sequences reach.
    pub fidelity: FidelityReport,
    /// SDMetrics' quality report.
    pub quality: QualityReport,
    /// SDMetrics' diagnostic report.
    pub diagnostic: DiagnosticReport,
    /// One column at a time.
    pub columns: ColumnReport,
    /// Lengths, summaries and steps of sequences.
    pub sequences: SequenceReport,
    /// How values follow each other.
    pub along_time: AlongTimeReport,
    /// Whether a classifier can tell synthetic sequences from real ones.
    pub two_sample: TwoSampleReport,
    /// Train on synthetic, test on real.
    pub next_row: NextRowReport,
    /// Whether real sequences shine through.
    pub privacy: PrivacyReport,
}
