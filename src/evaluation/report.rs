//! All that an evaluation found.

use std::path::Path;

use serde::Serialize;

use super::{
    AlongTimeReport, ColumnReport, Comparison, DiagnosticReport, EvaluationError, FidelityReport,
    Finding, NextRowReport, NoveltyReport, PrivacyReport, QualityReport, SequenceReport,
    TrackColumn, TwoSampleReport, html, terminal,
};
use crate::files::write_text;
use crate::report::{EpochLoss, FitReport};
use crate::table::ComparedTable;

/// All that an evaluation found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EvaluationReport {
    /// The worst things first, at most five; empty where nothing stands out.
    pub findings: Vec<Finding>,
    /// How large the tables are.
    pub tables: TableSizes,
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
    /// Whether rows and sequences are new, and how near to real ones rows lie.
    pub novelty: NoveltyReport,
    /// How values follow each other.
    pub along_time: AlongTimeReport,
    /// Whether a classifier can tell synthetic sequences from real ones.
    pub two_sample: TwoSampleReport,
    /// Train on synthetic, test on real.
    pub next_row: NextRowReport,
    /// Whether real sequences shine through.
    pub privacy: PrivacyReport,
    /// A few sequences as they are.
    pub tracks: Vec<TrackColumn>,
    /// Losses of the fit, where [`with_losses`](EvaluationReport::with_losses) has given them.
    pub losses: Vec<EpochLoss>,
}

/// How large the tables are that were compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TableSizes {
    /// The real table.
    pub real: TableSize,
    /// The synthetic table.
    pub synthetic: TableSize,
    /// The held-out sequences.
    pub holdout: Option<TableSize>,
    /// Columns, the same in each.
    pub columns: usize,
}

/// How large a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct TableSize {
    /// Rows of all sequences.
    pub rows: usize,
    /// Sequences.
    pub sequences: usize,
}

impl TableSizes {
    pub(super) fn of(comparison: &Comparison) -> TableSizes {
        let size = |table: &ComparedTable| TableSize {
            rows: table.rows(),
            sequences: table.sequences(),
        };
        TableSizes {
            real: size(&comparison.real),
            synthetic: size(&comparison.synthetic),
            holdout: comparison.holdout.as_ref().map(size),
            columns: comparison.columns.len(),
        }
    }
}

impl EvaluationReport {
    /// Adds the losses of the fit that the synthetic table comes from, for their curves.
    #[must_use]
    pub fn with_losses(mut self, fit: &FitReport) -> Self {
        self.losses.clone_from(&fit.losses);
        self
    }

    /// All numbers, as indented JSON; what is undefined is `null`.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self)
            .expect("a report holds text and numbers, under names that are text")
    }

    /// Writes [`to_json`](EvaluationReport::to_json) to a file; a sibling temporary file is renamed into place.
    ///
    /// # Errors
    /// [`EvaluationError::Write`] when the file cannot be made.
    pub fn write_json(&self, path: impl AsRef<Path>) -> Result<(), EvaluationError> {
        write(path.as_ref(), &self.to_json())
    }

    /// The report as one page of HTML that needs nothing but itself: no network, no scripts.
    #[must_use]
    pub fn to_html(&self) -> String {
        html::page(self)
    }

    /// Writes [`to_html`](EvaluationReport::to_html) to a file; a sibling temporary file is renamed into place.
    ///
    /// # Errors
    /// [`EvaluationError::Write`] when the file cannot be made.
    pub fn write_html(&self, path: impl AsRef<Path>) -> Result<(), EvaluationError> {
        write(path.as_ref(), &self.to_html())
    }
}

fn write(path: &Path, text: &str) -> Result<(), EvaluationError> {
    write_text(path, text).map_err(|source| EvaluationError::Write {
        path: path.to_path_buf(),
        source,
    })
}

impl std::fmt::Display for EvaluationReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        terminal::write(self, f)
    }
}
