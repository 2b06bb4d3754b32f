//! A real and a synthetic table side by side, in numbers a person can read.

use parsynth::{Metadata, SdType};
use polars::frame::DataFrame;
use polars::prelude::{DataType, PolarsResult};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What one table shows; both tables of a comparison have the same columns.
pub(crate) struct Summary {
    pub(crate) rows: usize,
    pub(crate) sequences: usize,
    pub(crate) share_missing: f64,
    /// Sequences in which the index grows from each row to the next.
    pub(crate) rising: usize,
    pub(crate) columns: Vec<(String, Typical)>,
    /// Correlation of a column's value with the value one row before, for columns that vary.
    pub(crate) lag_1: BTreeMap<String, f64>,
}

/// What is typical of a column.
pub(crate) enum Typical {
    Number { mean: f64, deviation: f64 },
    Category { counts: BTreeMap<String, usize> },
}

impl Summary {
    /// Of a table that has a sequence key of one column and a sequence index that is a number.
    pub(crate) fn of(
        frame: &DataFrame,
        metadata: &Metadata,
        context: &[&str],
    ) -> PolarsResult<Summary> {
        let key = metadata.sequence_key().first().map_or("", String::as_str);
        let index = metadata.sequence_index().unwrap_or_default();
        let mut sequences: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (row, key) in texts(frame, key)?.into_iter().enumerate() {
            sequences
                .entry(key.unwrap_or_default())
                .or_default()
                .push(row);
        }
        // `sample` gives rows in order; other tables may not have them so.
        let day = numbers(frame, index)?;
        for rows in sequences.values_mut() {
            rows.sort_by(|&left, &right| {
                day[left]
                    .partial_cmp(&day[right])
                    .expect("an index is never missing")
            });
        }
        let mut columns = Vec::new();
        let mut lag_1 = BTreeMap::new();
        let mut missing = 0;
        for (name, sdtype) in metadata.columns() {
            missing += frame.column(name)?.null_count();
            match sdtype {
                SdType::Numerical => {
                    let values = numbers(frame, name)?;
                    columns.push((name.to_owned(), mean_and_deviation(&values)));
                    if !context.contains(&name) && name != index {
                        lag_1.insert(name.to_owned(), lag_1_correlation(&values, &sequences));
                    }
                }
                SdType::Id { .. } => {}
                _ => {
                    let mut counts = BTreeMap::new();
                    for value in texts(frame, name)? {
                        *counts
                            .entry(value.unwrap_or("missing".to_owned()))
                            .or_insert(0) += 1;
                    }
                    columns.push((name.to_owned(), Typical::Category { counts }));
                }
            }
        }
        let cells = frame.height() * frame.width();
        Ok(Summary {
            rows: frame.height(),
            sequences: sequences.len(),
            share_missing: missing as f64 / cells as f64,
            rising: sequences
                .values()
                .filter(|rows| rows.windows(2).all(|pair| day[pair[0]] < day[pair[1]]))
                .count(),
            columns,
            lag_1,
        })
    }

    pub(crate) fn mean_length(&self) -> f64 {
        self.rows as f64 / self.sequences as f64
    }
}

/// The comparison as a text table.
pub(crate) fn side_by_side(
    real: &Summary,
    synthetic: &Summary,
    index: &str,
    follow: &str,
) -> String {
    let mut lines = vec![[
        String::new(),
        String::new(),
        "real".to_owned(),
        "synthetic".to_owned(),
    ]];
    let mut line = |name: &str, what: &str, show: &dyn Fn(&Summary) -> String| {
        lines.push([
            name.to_owned(),
            what.to_owned(),
            show(real),
            show(synthetic),
        ]);
    };
    line("rows", "", &|table| table.rows.to_string());
    line("sequences", "", &|table| table.sequences.to_string());
    line("rows per sequence", "mean", &|table| {
        format!("{:.2}", table.mean_length())
    });
    line("cells missing", "share", &|table| {
        percent(table.share_missing)
    });
    line(index, "sequences in which it rises", &|table| {
        percent(table.rising as f64 / table.sequences as f64)
    });
    line(follow, "correlation with the row before", &|table| {
        format!("{:.2}", table.lag_1[follow])
    });
    for (position, (name, typical)) in real.columns.iter().enumerate() {
        match typical {
            Typical::Number { .. } => line(
                name,
                "mean ± standard deviation",
                &|table| match &table.columns[position].1 {
                    Typical::Number { mean, deviation } => format!("{mean:.2} ± {deviation:.2}"),
                    Typical::Category { .. } => String::new(),
                },
            ),
            Typical::Category { counts } => {
                let Some(top) = counts
                    .iter()
                    .max_by_key(|(_, count)| **count)
                    .map(|(value, _)| value)
                else {
                    continue;
                };
                line(name, &format!("share of `{top}`"), &|table| {
                    percent(table.share(position, top))
                });
            }
        }
    }
    let width = |place: usize| {
        lines
            .iter()
            .map(|line| line[place].chars().count())
            .max()
            .unwrap_or(0)
    };
    let (names, whats, values) = (width(0), width(1), width(2).max(width(3)));
    lines
        .iter()
        .fold(String::new(), |mut text, [name, what, real, synthetic]| {
            let _ = writeln!(
                text,
                "{name:names$}  {what:whats$}  {real:>values$}  {synthetic:>values$}"
            );
            text
        })
}

impl Summary {
    /// Share of the rows that hold `value` in the column at `position`.
    pub(crate) fn share(&self, position: usize, value: &str) -> f64 {
        match &self.columns[position].1 {
            Typical::Category { counts } => counts
                .get(value)
                .map_or(0.0, |&count| count as f64 / self.rows as f64),
            Typical::Number { .. } => 0.0,
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn texts(frame: &DataFrame, name: &str) -> PolarsResult<Vec<Option<String>>> {
    let text = frame.column(name)?.cast(&DataType::String)?;
    Ok(text
        .str()?
        .iter()
        .map(|value| value.map(str::to_owned))
        .collect())
}

/// Missing values are NaN.
fn numbers(frame: &DataFrame, name: &str) -> PolarsResult<Vec<f64>> {
    let numbers = frame.column(name)?.cast(&DataType::Float64)?;
    Ok(numbers
        .f64()?
        .iter()
        .map(|value| value.unwrap_or(f64::NAN))
        .collect())
}

fn mean_and_deviation(values: &[f64]) -> Typical {
    let present = || values.iter().filter(|value| !value.is_nan());
    let count = present().count() as f64;
    let mean = present().sum::<f64>() / count;
    let variance = present().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    Typical::Number {
        mean,
        deviation: variance.sqrt(),
    }
}

/// Over all pairs of neighbouring rows in which both values are there.
fn lag_1_correlation(values: &[f64], sequences: &BTreeMap<String, Vec<usize>>) -> f64 {
    let pairs: Vec<(f64, f64)> = sequences
        .values()
        .flat_map(|rows| {
            rows.windows(2)
                .map(|pair| (values[pair[0]], values[pair[1]]))
        })
        .filter(|(before, after)| !before.is_nan() && !after.is_nan())
        .collect();
    let count = pairs.len() as f64;
    let mean_before = pairs.iter().map(|pair| pair.0).sum::<f64>() / count;
    let mean_after = pairs.iter().map(|pair| pair.1).sum::<f64>() / count;
    let (mut both, mut before, mut after) = (0.0, 0.0, 0.0);
    for pair in &pairs {
        both += (pair.0 - mean_before) * (pair.1 - mean_after);
        before += (pair.0 - mean_before).powi(2);
        after += (pair.1 - mean_after).powi(2);
    }
    both / (before * after).sqrt()
}
