//! SDMetrics' diagnostic report: data validity and data structure.
//! In: tables side by side. Out: [`DiagnosticReport`], equal to `sdmetrics.reports.DiagnosticReport` 0.32 on what both
//! can see.

use serde::Serialize;

use super::Comparison;

/// SDMetrics' diagnostic report: is the synthetic table a possible one? Anything below 1 needs a look.
///
/// Three differences: dtypes are those of polars, not of pandas (which makes floats of whole numbers as soon as one is
/// missing); ids are not matched against their `regex_format`; ranges stated in the metadata are not read.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DiagnosticReport {
    /// Mean of the two properties below that have a score; in [0, 1], 1 best.
    pub overall: Option<f64>,
    /// SDMetrics' Data Validity: mean score of `validity`. `None` where no column has a score.
    pub data_validity: Option<f64>,
    /// SDMetrics' Data Structure: of all pairs of a column's name and dtype in either table, the share that both have.
    pub data_structure: Option<f64>,
    /// One a column, sometimes two, in the table's order; the sequence index, and ids that are no primary key are
    /// left out.
    pub validity: Vec<ColumnValidity>,
    /// Columns whose dtype differs.
    pub dtype_differences: Vec<DtypeDifference>,
}

/// Whether the values of a synthetic column are possible.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ColumnValidity {
    /// Name of the column.
    pub column: String,
    /// SDMetrics' name of the score: `BoundaryAdherence`, `CategoryAdherence`, `DatetimeFormatAdherence` or
    /// `KeyUniqueness`.
    pub metric: String,
    /// Share of the synthetic rows that are possible, in [0, 1], 1 best. `None` where nothing can be said.
    pub score: Option<f64>,
}

/// A column that the synthetic table holds in another dtype.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DtypeDifference {
    /// Name of the column.
    pub column: String,
    /// polars' name of the dtype in the real table.
    pub real: String,
    /// polars' name of the dtype in the synthetic table.
    pub synthetic: String,
}

pub(super) fn diagnostic(_comparison: &Comparison) -> DiagnosticReport {
    DiagnosticReport {
        overall: None,
        data_validity: None,
        data_structure: None,
        validity: Vec::new(),
        dtype_differences: Vec::new(),
    }
}
