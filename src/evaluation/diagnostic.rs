//! SDMetrics' diagnostic report: data validity and data structure.
//! In: tables side by side. Out: [`DiagnosticReport`], equal to `sdmetrics.reports.DiagnosticReport` 0.32 on what both
//! can see.

use rayon::prelude::*;
use serde::Serialize;

use super::Comparison;
use super::metrics::{Tally, adherence_of, boundary_adherence, finite};
use super::quality::mean_of;
use crate::metadata::{Metadata, SdType};
use crate::table::Role;

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

pub(super) fn diagnostic(comparison: &Comparison, metadata: &Metadata) -> DiagnosticReport {
    let unique = metadata.unique_columns();
    let validity: Vec<ColumnValidity> = (0..comparison.columns.len())
        .into_par_iter()
        .flat_map_iter(|column| column_validity(comparison, column, &unique))
        .collect();
    let dtype_differences: Vec<DtypeDifference> = comparison
        .columns
        .iter()
        .zip(&comparison.real.dtypes)
        .zip(&comparison.synthetic.dtypes)
        .filter(|((_, real), synthetic)| real != synthetic)
        .map(|((column, real), synthetic)| DtypeDifference {
            column: column.name.clone(),
            real: real.clone(),
            synthetic: synthetic.clone(),
        })
        .collect();
    // A column of another dtype is one pair in each table that the other has not.
    let (columns, differences) = (comparison.columns.len(), dtype_differences.len());
    let data_structure = finite((columns - differences) as f64 / (columns + differences) as f64);
    let data_validity = mean_of(validity.iter().map(|column| column.score));
    DiagnosticReport {
        overall: mean_of([data_validity, data_structure].into_iter()),
        data_validity,
        data_structure,
        validity,
        dtype_differences,
    }
}

fn column_validity(
    comparison: &Comparison,
    position: usize,
    unique: &[&str],
) -> Vec<ColumnValidity> {
    let column = &comparison.columns[position];
    let (real, synthetic) = (
        &comparison.real.columns[position],
        &comparison.synthetic.columns[position],
    );
    let validity = |metric: &str, score: Option<f64>| ColumnValidity {
        column: column.name.clone(),
        metric: metric.to_owned(),
        score,
    };
    let tally = || {
        let (real, synthetic) = (real.codes()?, synthetic.codes()?);
        Some(Tally::of_codes(real, synthetic, column.labels.len()))
    };
    match &column.sdtype {
        _ if column.role == Role::SequenceIndex => Vec::new(),
        SdType::Numerical | SdType::Datetime { .. } => {
            let both = real.numbers().zip(synthetic.numbers());
            let score = both.and_then(|(real, synthetic)| boundary_adherence(real, synthetic));
            let mut found = vec![validity("BoundaryAdherence", score)];
            if let SdType::Datetime { format: Some(_) } = column.sdtype {
                // Text that does not fit the format has not been read; where dates are dates, there is no format.
                let dates = comparison.synthetic.dtypes[position].starts_with("date");
                found.push(validity("DatetimeFormatAdherence", (!dates).then_some(1.0)));
            }
            found
        }
        SdType::Categorical | SdType::Boolean => {
            let score = tally().and_then(|tally| adherence_of(&tally));
            vec![validity("CategoryAdherence", score)]
        }
        SdType::Id { .. } | SdType::Personal { .. } if unique.contains(&column.name.as_str()) => {
            vec![validity(
                "KeyUniqueness",
                tally().and_then(|tally| uniqueness(&tally)),
            )]
        }
        SdType::Id { .. } | SdType::Personal { .. } => Vec::new(),
    }
}

/// SDMetrics' `KeyUniqueness`: the share of synthetic rows that are the first of their key.
fn uniqueness(tally: &Tally) -> Option<f64> {
    let keys = tally.counts.iter().filter(|counts| counts[1] > 0).count();
    finite(keys as f64 / (tally.present(1) + tally.missing[1]) as f64)
}
