//! Plain cells: what a column of a frame holds, free of dtypes.
//! In: a column of one known family of dtypes. Out: `Cells`, one per row, with the missing ones marked.

use std::collections::HashMap;
use std::hash::Hash;

use polars::prelude::{DataType, Series};

use super::{Label, MISSING_CODE, TableError, Values};
use crate::metadata::DateFormat;

/// Stands for a missing whole number; no dtype we read reaches it.
pub(super) const MISSING_WHOLE: i128 = i128::MIN;

/// Below this, f64 holds every whole number.
pub(super) const EXACT: i128 = 1 << 53;

/// The cells of a column before its base is taken off.
#[derive(Debug)]
pub(super) enum Cells {
    /// Whole numbers and dates, `MISSING_WHOLE` where missing.
    Whole(Vec<i128>),
    /// Numbers with a fraction, NaN where missing.
    Real(Vec<f64>),
    /// Codes into sorted labels.
    Labels { codes: Vec<u32>, labels: Vec<Label> },
}

fn greatest_common_divisor(mut left: i128, mut right: i128) -> i128 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

/// A distance in steps, as exact as f64 is; a value given later need not lie on a step.
/// What f64 cannot hold is rounded towards the base, or the largest value seen would come back larger.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a distance between 64-bit numbers fits i128 by far"
)]
pub(super) fn in_steps(distance: i128, step: i128) -> f64 {
    let whole = distance / step;
    let nearest = whole as f64;
    let towards_base = if (nearest as i128).abs() <= whole.abs() {
        nearest
    } else if nearest > 0.0 {
        nearest.next_down()
    } else {
        nearest.next_up()
    };
    towards_base + (distance % step) as f64 / step as f64
}

fn all_in_steps(cells: &[i128], base: i128, step: i128) -> Vec<f64> {
    let number = |&cell: &i128| match cell {
        MISSING_WHOLE => f64::NAN,
        cell => in_steps(cell - base, step),
    };
    cells.iter().map(number).collect()
}

/// Base and step of a column's whole numbers, learned part by part.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// The first number and the smallest.
    first_and_least: Option<(i128, i128)>,
    /// What divides all distances from the first; 0 while there is none.
    divisor: i128,
    is_large: bool,
}

impl Steps {
    pub(super) fn add(&mut self, cells: &Cells) {
        let Cells::Whole(cells) = cells else {
            return;
        };
        for &cell in cells.iter().filter(|&&cell| cell != MISSING_WHOLE) {
            let (first, least) = self.first_and_least.get_or_insert((cell, cell));
            *least = cell.min(*least);
            // Most columns step by one, and are known to soon.
            if self.divisor != 1 {
                self.divisor = greatest_common_divisor(self.divisor, (cell - *first).abs());
            }
            self.is_large |= cell.abs() >= EXACT;
        }
    }

    /// Base and step: 0 and 1 while f64 holds every raw value, else the smallest of them and what divides the
    /// distances of the others from it.
    pub(super) fn base_and_step(&self) -> (i128, i128) {
        match self.first_and_least {
            Some((_, least)) if self.is_large => (least, self.divisor.max(1)),
            _ => (0, 1),
        }
    }
}

impl Cells {
    /// Whole numbers as later stages see them, which is in half the memory and not always in their exact order.
    pub(super) fn in_steps(self, base: i128, step: i128) -> Cells {
        match self {
            Cells::Whole(cells) => Cells::Real(all_in_steps(&cells, base, step)),
            cells => cells,
        }
    }

    /// Cells as later stages see them.
    pub(super) fn into_values(self, base: i128, step: i128) -> Values {
        match self {
            Cells::Whole(cells) => Values::Numbers(all_in_steps(&cells, base, step).into()),
            Cells::Real(cells) => Values::Numbers(cells.into()),
            Cells::Labels { codes, labels } => Values::Labels {
                codes: codes.into(),
                labels: labels.into(),
            },
        }
    }

    /// The same cells, whole numbers in half the memory where that loses nothing under this base and step.
    pub(super) fn compact(self, base: i128, step: i128) -> Cells {
        let is_exact = |cell: &i128| *cell == MISSING_WHOLE || cell.abs() < EXACT;
        match &self {
            Cells::Whole(cells) if (base, step) == (0, 1) && cells.iter().all(is_exact) => {
                self.in_steps(base, step)
            }
            _ => self,
        }
    }

    /// The first row without a value.
    pub(super) fn first_missing(&self) -> Option<usize> {
        match self {
            Cells::Whole(cells) => cells.iter().position(|&cell| cell == MISSING_WHOLE),
            Cells::Real(cells) => cells.iter().position(|cell| cell.is_nan()),
            Cells::Labels { codes, .. } => codes.iter().position(|&code| code == MISSING_CODE),
        }
    }

    /// A number that sorts as the row's cell does, exactly; missing cells come first.
    pub(super) fn rank(&self, row: usize) -> i128 {
        match self {
            Cells::Whole(cells) => cells[row],
            Cells::Real(cells) if cells[row].is_nan() => MISSING_WHOLE,
            Cells::Real(cells) => total_order(cells[row]).into(),
            Cells::Labels { codes, .. } if codes[row] == MISSING_CODE => MISSING_WHOLE,
            Cells::Labels { codes, .. } => codes[row].into(),
        }
    }

    /// The rank of each row.
    pub(super) fn ranks(&self) -> Vec<i128> {
        let rows = match self {
            Cells::Whole(cells) => cells.len(),
            Cells::Real(cells) => cells.len(),
            Cells::Labels { codes, .. } => codes.len(),
        };
        (0..rows).map(|row| self.rank(row)).collect()
    }
}

/// Integers of any width, days of a date, units of a date-time.
pub(super) fn whole(series: &Series) -> Result<Vec<i128>, TableError> {
    let physical = series.to_physical_repr();
    if *physical.dtype() == DataType::UInt64 {
        let cells = physical.u64()?;
        return Ok(cells
            .iter()
            .map(|cell| cell.map_or(MISSING_WHOLE, i128::from))
            .collect());
    }
    let wide = physical.strict_cast(&DataType::Int64)?;
    Ok(wide
        .i64()?
        .iter()
        .map(|cell| cell.map_or(MISSING_WHOLE, i128::from))
        .collect())
}

/// Floats with missing as NaN and no negative zero; f32 through its shortest decimal text, so that 0.1
/// stays 0.1 and its decimals can be counted.
pub(super) fn real(series: &Series, column: &str) -> Result<Vec<f64>, TableError> {
    let cells: Vec<f64> = match series.dtype() {
        DataType::Float32 => series
            .f32()?
            .iter()
            .map(|cell| {
                cell.map_or(f64::NAN, |cell| {
                    format!("{cell:e}")
                        .parse()
                        .unwrap_or_else(|_| f64::from(cell))
                })
            })
            .collect(),
        _ => series
            .f64()?
            .iter()
            .map(|cell| cell.unwrap_or(f64::NAN))
            .collect(),
    };
    match cells.iter().position(|cell| cell.is_infinite()) {
        Some(row) => Err(TableError::Infinite {
            column: column.to_owned(),
            row,
        }),
        None => Ok(cells.into_iter().map(|cell| cell + 0.0).collect()), // -0.0 + 0.0 is 0.0
    }
}

/// Text of a String, Categorical or Enum column.
pub(super) fn text(series: &Series) -> Result<Series, TableError> {
    Ok(series.strict_cast(&DataType::String)?)
}

/// Whole numbers as the digits of a format; a number has lost the zeros that its text began with.
pub(super) fn digits(cells: &[i128], format: &str) -> Vec<Option<String>> {
    let width = DateFormat::new(format).map_or(0, |format| format.width());
    cells
        .iter()
        .map(|&cell| (cell != MISSING_WHOLE).then(|| format!("{cell:0width$}")))
        .collect()
}

pub(super) fn whole_labels(cells: &[i128]) -> Cells {
    labels(
        cells
            .iter()
            .map(|&cell| (cell != MISSING_WHOLE).then_some(cell)),
        Label::Integer,
    )
}

pub(super) fn real_labels(cells: &[f64]) -> Cells {
    // Floats are told apart by their bits in total order, since f64 itself has no hash.
    labels(
        cells
            .iter()
            .map(|&cell| (!cell.is_nan()).then(|| total_order(cell))),
        |order| Label::Float(from_total_order(order)),
    )
}

pub(super) fn labels<T: Hash + Eq + Ord + Copy>(
    cells: impl Iterator<Item = Option<T>>,
    label: impl Fn(T) -> Label,
) -> Cells {
    let mut seen: HashMap<T, u32> = HashMap::new();
    let mut codes: Vec<u32> = cells
        .map(|cell| match cell {
            None => MISSING_CODE,
            Some(cell) => {
                // A frame has fewer than u32::MAX rows, hence fewer labels.
                let next = u32::try_from(seen.len()).unwrap_or(MISSING_CODE);
                *seen.entry(cell).or_insert(next)
            }
        })
        .collect();
    let mut sorted: Vec<(T, u32)> = seen.into_iter().collect();
    sorted.sort_unstable();
    let mut places = vec![MISSING_CODE; sorted.len()];
    for (place, (_, code)) in (0..).zip(&sorted) {
        places[*code as usize] = place;
    }
    for code in codes.iter_mut().filter(|code| **code != MISSING_CODE) {
        *code = places[*code as usize];
    }
    let labels = sorted.into_iter().map(|(cell, _)| label(cell)).collect();
    Cells::Labels { codes, labels }
}

/// A whole number that sorts as `f64::total_cmp` does.
pub(super) fn total_order(value: f64) -> i64 {
    let bits = value.to_bits().cast_signed();
    bits ^ ((bits >> 63) & i64::MAX)
}

fn from_total_order(order: i64) -> f64 {
    f64::from_bits((order ^ ((order >> 63) & i64::MAX)).cast_unsigned())
}
