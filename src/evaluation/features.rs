//! What a sequence looks like as one row of numbers, for classifiers and distances.
//! In: tables side by side. Out: `Features`, one row a sequence, NaN where something does not apply.
//! Keys and the order of sequences leave no trace, so a copy under a new key has the features of its original.

use rayon::prelude::*;

use super::Comparison;
use crate::table::{ComparedCells, ComparedColumn, ComparedTable, MISSING_CODE};

/// Categories of a column that get a feature of their own, by how often they are seen in the real table.
const MOST_LEVELS: usize = 12;

/// Sequences as rows of numbers.
#[derive(Debug, Clone)]
pub(super) struct Features {
    pub(super) names: Vec<String>,
    /// Column by column, `[names.len()]` vectors of one number a sequence.
    pub(super) columns: Vec<Vec<f64>>,
}

impl Features {
    /// Number of sequences.
    pub(super) fn sequences(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }
}

/// Features of real, synthetic and held-out sequences: the length; of each number mean, standard deviation, smallest,
/// largest, first, last, share missing, mean and standard deviation of its steps and the mean product of two steps in
/// a row; of each category the share of its most frequent values and its runs (of equal values) per row.
pub(super) fn features(comparison: &Comparison) -> Vec<Features> {
    let tables = comparison.parts();
    let mut all: Vec<Features> = tables
        .iter()
        .map(|table| Features {
            names: vec!["length".to_owned()],
            columns: vec![table.lengths().iter().map(|&rows| rows as f64).collect()],
        })
        .collect();
    let parts: Vec<Vec<Features>> = (0..comparison.columns.len())
        .into_par_iter()
        .map(|column| column_features(&comparison.columns[column], column, &tables))
        .collect();
    for part in parts {
        for (features, part) in all.iter_mut().zip(part) {
            features.names.extend(part.names);
            features.columns.extend(part.columns);
        }
    }
    all
}

fn column_features(
    column: &ComparedColumn,
    position: usize,
    tables: &[&ComparedTable],
) -> Vec<Features> {
    if column.is_number() {
        return tables
            .iter()
            .map(|table| number_features(column, position, table))
            .collect();
    }
    if !column.is_category() {
        return tables
            .iter()
            .map(|_| Features {
                names: Vec::new(),
                columns: Vec::new(),
            })
            .collect();
    }
    let levels = frequent_levels(column, &tables[0].columns[position]);
    tables
        .iter()
        .map(|table| category_features(column, position, &levels, table))
        .collect()
}

const NUMBER_FEATURES: [&str; 10] = [
    "mean",
    "standard deviation",
    "smallest",
    "largest",
    "first",
    "last",
    "share missing",
    "mean step",
    "standard deviation of steps",
    "mean product of steps",
];

fn number_features(column: &ComparedColumn, position: usize, table: &ComparedTable) -> Features {
    let ComparedCells::Numbers(numbers) = &table.columns[position] else {
        unreachable!("a number column holds numbers in every table");
    };
    let rows: Vec<[f64; 10]> = table
        .ranges()
        .map(|range| sequence_numbers(&numbers[range]))
        .collect();
    Features {
        names: NUMBER_FEATURES
            .iter()
            .map(|feature| format!("{feature} of {}", column.name))
            .collect(),
        columns: (0..NUMBER_FEATURES.len())
            .map(|feature| rows.iter().map(|row| seven_digits(row[feature])).collect())
            .collect(),
    }
}

fn sequence_numbers(cells: &[f64]) -> [f64; 10] {
    let present: Vec<f64> = cells
        .iter()
        .copied()
        .filter(|cell| !cell.is_nan())
        .collect();
    let steps: Vec<f64> = cells.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let products = steps.windows(2).map(|pair| pair[0] * pair[1]);
    let products: Vec<f64> = products.filter(|product| !product.is_nan()).collect();
    let steps: Vec<f64> = steps.into_iter().filter(|step| !step.is_nan()).collect();
    // Below this a figure is the noise of floats, of which a classifier or a distance would make much.
    let noise = 1e-10
        * present
            .iter()
            .fold(0.0, |size: f64, cell| size.max(cell.abs()));
    let quiet_below =
        |noise: f64| move |figure: f64| if figure.abs() < noise { 0.0 } else { figure };
    let (quiet, quiet_product) = (quiet_below(noise), quiet_below(noise * noise));
    let extreme = |choose: fn(f64, f64) -> f64| present.iter().copied().reduce(choose);
    [
        mean(&present),
        quiet(standard_deviation(&present)),
        extreme(f64::min).unwrap_or(f64::NAN),
        extreme(f64::max).unwrap_or(f64::NAN),
        present.first().copied().unwrap_or(f64::NAN),
        present.last().copied().unwrap_or(f64::NAN),
        1.0 - present.len() as f64 / cells.len() as f64,
        quiet(mean(&steps)),
        quiet(standard_deviation(&steps)),
        quiet_product(mean(&products)),
    ]
}

/// NaN of nothing.
pub(super) fn mean(numbers: &[f64]) -> f64 {
    if numbers.is_empty() {
        return f64::NAN;
    }
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// With `n - 1` below the line; NaN of less than two.
pub(super) fn standard_deviation(numbers: &[f64]) -> f64 {
    if numbers.len() < 2 {
        return f64::NAN;
    }
    let mean = mean(numbers);
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    (squares / (numbers.len() - 1) as f64).sqrt()
}

/// Rounded, so that the noise of floats tells no classifier which table a sequence is from.
fn seven_digits(number: f64) -> f64 {
    if number == 0.0 || !number.is_finite() {
        return number;
    }
    format!("{number:.6e}").parse().unwrap_or(number)
}

/// The labels seen most often, a missing cell counted as one of them.
fn frequent_levels(column: &ComparedColumn, real: &ComparedCells) -> Vec<u32> {
    let mut counts = vec![0_usize; column.labels.len() + 1];
    for &code in real.codes().unwrap_or_default() {
        counts[(code as usize).min(column.labels.len())] += 1;
    }
    let mut levels: Vec<(usize, u32)> = counts
        .into_iter()
        .zip((0..).map(|code| {
            if code as usize == column.labels.len() {
                MISSING_CODE
            } else {
                code
            }
        }))
        .filter(|(count, _)| *count > 0)
        .collect();
    levels.sort_by_key(|(count, code)| (std::cmp::Reverse(*count), *code));
    levels
        .into_iter()
        .take(MOST_LEVELS)
        .map(|(_, code)| code)
        .collect()
}

fn category_features(
    column: &ComparedColumn,
    position: usize,
    levels: &[u32],
    table: &ComparedTable,
) -> Features {
    let codes = table.columns[position].codes().unwrap_or_default();
    let share = |range: std::ops::Range<usize>, level: u32| {
        let length = range.len();
        codes[range].iter().filter(|&&code| code == level).count() as f64 / length as f64
    };
    let mut names: Vec<String> = levels
        .iter()
        .map(|&level| {
            let label = column
                .labels
                .get(level as usize)
                .map_or("missing", String::as_str);
            format!("share of `{label}` in {}", column.name)
        })
        .collect();
    let mut columns: Vec<Vec<f64>> = levels
        .iter()
        .map(|&level| {
            table
                .ranges()
                .map(|range| seven_digits(share(range, level)))
                .collect()
        })
        .collect();
    names.push(format!("runs per row of {}", column.name));
    columns.push(
        table
            .ranges()
            .map(|range| {
                let changes = codes[range.clone()]
                    .windows(2)
                    .filter(|pair| pair[0] != pair[1]);
                seven_digits((changes.count() + 1) as f64 / range.len() as f64)
            })
            .collect(),
    );
    Features { names, columns }
}
