//! Which rows of a column hold the same value, whatever its dtype.
//! In: a column. Out: `Codes`, one number per row, equal where the values are; NaN is a missing value.

use std::collections::HashMap;
use std::hash::Hash;

use polars::prelude::{DataType, Series};

use super::cells::{MISSING_WHOLE, text, total_order, whole};
use super::{MISSING_CODE, TableError};

/// The values of a column as numbers in order of first use; `MISSING_CODE` where missing.
#[derive(Debug)]
pub(super) struct Codes {
    pub(super) rows: Vec<u32>,
    /// The row that each value is first met on.
    pub(super) first_rows: Vec<usize>,
}

impl Codes {
    /// The codes of a column; `None` for nested and other dtypes that we do not read.
    pub(super) fn of(series: &Series) -> Result<Option<Codes>, TableError> {
        Ok(Some(match series.dtype() {
            DataType::String => Codes::collect(series.str()?.iter()),
            DataType::Categorical(..) | DataType::Enum(..) => {
                Codes::collect(text(series)?.str()?.iter())
            }
            DataType::Boolean => Codes::collect(series.bool()?.iter()),
            DataType::Float32 => {
                let cells = series.f32()?.iter();
                Codes::collect(cells.map(|cell| cell.and_then(|cell| float(f64::from(cell)))))
            }
            DataType::Float64 => {
                Codes::collect(series.f64()?.iter().map(|cell| cell.and_then(float)))
            }
            DataType::Null => Codes {
                rows: vec![MISSING_CODE; series.len()],
                first_rows: Vec::new(),
            },
            DataType::Int128 | DataType::UInt128 => return Ok(None),
            dtype if dtype.is_integer() || is_time(dtype) => {
                let cells = whole(series)?;
                Codes::collect(
                    cells
                        .into_iter()
                        .map(|cell| (cell != MISSING_WHOLE).then_some(cell)),
                )
            }
            _ => return Ok(None),
        }))
    }

    /// The codes of pairs of values; missing where one of the two is.
    pub(super) fn pairs(left: &Codes, right: &Codes) -> Codes {
        Codes::collect(left.rows.iter().zip(&right.rows).map(|(&left, &right)| {
            (left != MISSING_CODE && right != MISSING_CODE).then_some((left, right))
        }))
    }

    fn collect<T: Hash + Eq>(cells: impl Iterator<Item = Option<T>>) -> Codes {
        let mut seen: HashMap<T, u32> = HashMap::new();
        let mut first_rows = Vec::new();
        let rows = cells
            .enumerate()
            .map(|(row, cell)| {
                let Some(cell) = cell else {
                    return MISSING_CODE;
                };
                // A frame has fewer than u32::MAX rows, hence fewer values.
                let next = u32::try_from(seen.len()).unwrap_or(MISSING_CODE);
                *seen.entry(cell).or_insert_with(|| {
                    first_rows.push(row);
                    next
                })
            })
            .collect();
        Codes { rows, first_rows }
    }

    pub(super) fn distinct(&self) -> usize {
        self.first_rows.len()
    }

    pub(super) fn missing(&self) -> usize {
        self.rows
            .iter()
            .filter(|&&code| code == MISSING_CODE)
            .count()
    }

    pub(super) fn first_missing(&self) -> Option<usize> {
        self.rows.iter().position(|&code| code == MISSING_CODE)
    }

    /// Rows whose value stood before, each with the row it first stood on.
    pub(super) fn later_rows(&self) -> Vec<(usize, usize)> {
        let first = |code: u32| self.first_rows.get(code as usize).copied();
        self.rows
            .iter()
            .enumerate()
            .filter_map(|(row, &code)| first(code).map(|first| (row, first)))
            .filter(|(row, first)| row != first)
            .collect()
    }

    /// Whether the rows of each value stand together, none of another between them.
    pub(super) fn stand_together(&self) -> bool {
        let changes = self.rows.windows(2).filter(|pair| pair[0] != pair[1]);
        changes.count() + 1 == self.distinct()
    }

    /// Whether every value of `self`, which has none missing, stands with one value of the other column only.
    pub(super) fn determine(&self, other: &Codes) -> bool {
        self.rows.iter().zip(&other.rows).all(|(&group, &code)| {
            self.first_rows
                .get(group as usize)
                .is_some_and(|&first| other.rows[first] == code)
        })
    }
}

fn float(cell: f64) -> Option<i64> {
    (!cell.is_nan()).then(|| total_order(cell + 0.0)) // -0.0 + 0.0 is 0.0
}

fn is_time(dtype: &DataType) -> bool {
    matches!(
        dtype,
        DataType::Date | DataType::Datetime(..) | DataType::Duration(_)
    )
}
