//! Which distribution each column of numbers is learned with, and whether its data can come from it.

use crate::distribution::{DistributionError, LARGEST_COUNT, NumericalDistribution};
use crate::layout::{NumberChoice, numbers};
use crate::metadata::{SdType, nearest_name};
use crate::params::ValidFitOptions;
use crate::table::{ColumnSchema, Role, Schema, SequenceTable, Storage};

/// Above this, f64 does not hold every whole number.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A choice for each column of the schema.
/// # Errors
/// [`DistributionError`] for a column that is none, is not numerical or has another role, and for the first row of the
/// frame with a value that the distribution does not have.
pub(super) fn choices(
    table: &SequenceTable,
    schema: &Schema,
    options: &ValidFitOptions,
) -> Result<Vec<NumberChoice>, DistributionError> {
    let is_float = |column: &ColumnSchema| {
        matches!(column.storage, Storage::Float32 | Storage::Float64)
            && column.sdtype == SdType::Numerical
    };
    let mut choices: Vec<NumberChoice> = schema
        .columns
        .iter()
        .map(|column| NumberChoice {
            distribution: NumericalDistribution::Learned,
            is_unrounded: !options.enforce_rounding && is_float(column),
        })
        .collect();
    for (name, &distribution) in &options.numerical_distributions {
        let names = || schema.columns.iter().map(|column| column.name.as_str());
        let position = names().position(|column| column == name).ok_or_else(|| {
            DistributionError::UnknownColumn {
                column: name.clone(),
                nearest: nearest_name(name, names()),
            }
        })?;
        check_column(&schema.columns[position])?;
        check_values(table, schema, position, distribution)?;
        choices[position].distribution = distribution;
    }
    Ok(choices)
}

fn check_column(column: &ColumnSchema) -> Result<(), DistributionError> {
    let found = match (column.role, &column.sdtype) {
        (Role::SequenceKey, _) => "the sequence key".to_owned(),
        _ if column.is_key => "a part of the sequence key".to_owned(),
        (Role::SequenceIndex, _) => "the sequence index".to_owned(),
        (Role::Context | Role::Sequential, SdType::Numerical) => return Ok(()),
        (Role::Context | Role::Sequential, sdtype) => format!("of sdtype {}", sdtype.name()),
    };
    Err(DistributionError::NotNumerical {
        column: column.name.clone(),
        found,
    })
}

fn check_values(
    table: &SequenceTable,
    schema: &Schema,
    position: usize,
    distribution: NumericalDistribution,
) -> Result<(), DistributionError> {
    let column = &schema.columns[position];
    #[allow(
        clippy::cast_precision_loss,
        reason = "a base is taken off large numbers only, whose sign stays the same"
    )]
    let value = |raw: f64| raw * column.step as f64 + column.base as f64;
    let wanted = match distribution {
        NumericalDistribution::Learned | NumericalDistribution::Bins(_) => return Ok(()),
        NumericalDistribution::Logarithmic if column.base != 0 => {
            "numbers from 0 on, whole ones up to 2^53"
        }
        NumericalDistribution::Logarithmic => "numbers from 0 on",
        NumericalDistribution::Counts => "whole numbers from 0 to 1,000,000",
    };
    let holds = |value: f64| match distribution {
        // What is left of large whole numbers without their base has no logarithm of its own.
        NumericalDistribution::Logarithmic => {
            (0.0..EXACT).contains(&value) || (value >= 0.0 && column.base == 0)
        }
        _ => (0.0..=LARGEST_COUNT).contains(&value) && value == value.round(),
    };
    let rows = numbers(&table.columns[position])
        .iter()
        .zip(table.row_numbers.iter());
    let misfit = rows
        .filter(|(raw, _)| !raw.is_nan() && !holds(value(**raw)))
        .map(|(_, row)| *row as usize)
        .min();
    match misfit {
        None => Ok(()),
        Some(row) => Err(DistributionError::Value {
            column: column.name.clone(),
            row,
            distribution,
            wanted,
        }),
    }
}
