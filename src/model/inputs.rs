//! Brings encoded rows to the device, a batch at a time.
//! In: [`Encoded`] and the sequences of a batch. Out: tensors whose shapes the networks state.

use super::decoder::TargetTensors;
use super::{ModelError, long};
use crate::encode::{EncodedContext, EncodedRows, INACTIVE, Targets};
use ndarray::{Array2, Axis};
use std::borrow::Cow;
use std::ops::Range;
use tch::{Device, Kind, Tensor};

/// A batch of contexts.
#[derive(Debug)]
pub(crate) struct ContextInputs {
    /// `[sequences, number columns × features]`
    pub(crate) numbers: Tensor,
    /// `[sequences, category columns]`, i64
    pub(crate) categories: Tensor,
}

/// A batch of rows, one after the other.
#[derive(Debug)]
pub(crate) struct RowInputs {
    /// `[rows, number columns × features]`
    pub(crate) history_numbers: Tensor,
    /// `[rows, category columns]`, i64
    pub(crate) history_categories: Tensor,
    /// `[rows, position features]`
    pub(crate) position: Tensor,
    /// `[rows, calendar width]`
    pub(crate) calendar_before: Tensor,
}

/// What is known of the rows themselves when a network is trained.
#[derive(Debug)]
pub(crate) struct CurrentInputs {
    /// `[rows, number columns × features]`
    pub(crate) numbers: Tensor,
    /// `[rows, category columns]`, i64
    pub(crate) categories: Tensor,
    /// `[rows, calendar width]`
    pub(crate) calendar: Tensor,
}

/// Where each row of a batch lies in a padded block of steps and sequences, and back.
#[derive(Debug)]
pub(crate) struct Padding {
    pub(crate) steps: i64,
    pub(crate) sequences: i64,
    /// `[steps × sequences]`: the row of each cell; the number of rows where there is none
    pub(crate) row_of_cell: Tensor,
    /// `[rows]`: the cell of each row
    pub(crate) cell_of_row: Tensor,
    /// `[rows]`: the sequence of each row, in batch order
    pub(crate) sequence_of_row: Tensor,
}

impl Padding {
    /// For a batch whose sequences have these many rows.
    pub(crate) fn new(lengths: &[usize], device: Device) -> Result<Padding, ModelError> {
        let (steps, rows) = (
            lengths.iter().copied().max().unwrap_or(0),
            lengths.iter().sum::<usize>(),
        );
        let mut row_of_cell = vec![long(rows); steps * lengths.len()];
        let mut cell_of_row = Vec::with_capacity(rows);
        let mut sequence_of_row = Vec::with_capacity(rows);
        for (sequence, &length) in lengths.iter().enumerate() {
            for step in 0..length {
                let cell = step * lengths.len() + sequence;
                row_of_cell[cell] = long(cell_of_row.len());
                cell_of_row.push(long(cell));
                sequence_of_row.push(long(sequence));
            }
        }
        Ok(Padding {
            steps: long(steps),
            sequences: long(lengths.len()),
            row_of_cell: Tensor::f_from_slice(&row_of_cell)?.f_to_device(device)?,
            cell_of_row: Tensor::f_from_slice(&cell_of_row)?.f_to_device(device)?,
            sequence_of_row: Tensor::f_from_slice(&sequence_of_row)?.f_to_device(device)?,
        })
    }
}

/// Matrix rows of several ranges, one after the other; a part of the matrix itself where there is one range.
fn gather<'m, T: Copy>(matrix: &'m Array2<T>, ranges: &[Range<usize>]) -> (Cow<'m, [T]>, [i64; 2]) {
    let width = matrix.len_of(Axis(1));
    let rows: usize = ranges.iter().map(ExactSizeIterator::len).sum();
    let all = matrix.as_slice().unwrap_or_default();
    let values = match ranges {
        [range] => Cow::Borrowed(&all[range.start * width..range.end * width]),
        _ => {
            let mut values = Vec::with_capacity(rows * width);
            for range in ranges {
                values.extend_from_slice(&all[range.start * width..range.end * width]);
            }
            Cow::Owned(values)
        }
    };
    (values, [long(rows), long(width)])
}

fn floats(
    matrix: &Array2<f32>,
    ranges: &[Range<usize>],
    device: Device,
) -> Result<Tensor, ModelError> {
    let (values, shape) = gather(matrix, ranges);
    float_tensor(&values, &shape, device)
}

fn classes(
    matrix: &Array2<u32>,
    ranges: &[Range<usize>],
    device: Device,
) -> Result<Tensor, ModelError> {
    let (values, shape) = gather(matrix, ranges);
    class_tensor(values.iter().copied(), &shape, device)
}

/// Host numbers on the device.
pub(crate) fn float_tensor(
    values: &[f32],
    shape: &[i64],
    device: Device,
) -> Result<Tensor, ModelError> {
    Ok(Tensor::f_from_slice(values)?
        .f_view(shape)?
        .f_to_device(device)?)
}

/// Host class numbers on the device, as i64.
pub(crate) fn class_tensor(
    values: impl Iterator<Item = u32>,
    shape: &[i64],
    device: Device,
) -> Result<Tensor, ModelError> {
    let values: Vec<i64> = values.map(i64::from).collect();
    Ok(Tensor::f_from_slice(&values)?
        .f_view(shape)?
        .f_to_device(device)?)
}

impl ContextInputs {
    pub(crate) fn new(
        encoded: &EncodedContext,
        sequences: &[usize],
        device: Device,
    ) -> Result<Self, ModelError> {
        let ranges = single_rows(sequences);
        Ok(ContextInputs {
            numbers: floats(&encoded.numbers, &ranges, device)?,
            categories: classes(&encoded.categories, &ranges, device)?,
        })
    }
}

/// Each of some rows as a range of its own.
pub(crate) fn single_rows(rows: &[usize]) -> Vec<Range<usize>> {
    rows.iter().map(|&row| row..row + 1).collect()
}

impl RowInputs {
    pub(crate) fn new(
        encoded: &EncodedRows,
        ranges: &[Range<usize>],
        device: Device,
    ) -> Result<Self, ModelError> {
        Ok(RowInputs {
            history_numbers: floats(&encoded.history_numbers, ranges, device)?,
            history_categories: classes(&encoded.history_categories, ranges, device)?,
            position: floats(&encoded.position, ranges, device)?,
            calendar_before: floats(&encoded.calendar_before, ranges, device)?,
        })
    }
}

impl CurrentInputs {
    pub(crate) fn new(
        encoded: &EncodedRows,
        ranges: &[Range<usize>],
        device: Device,
    ) -> Result<Self, ModelError> {
        Ok(CurrentInputs {
            numbers: floats(&encoded.current_numbers, ranges, device)?,
            categories: classes(&encoded.current_categories, ranges, device)?,
            calendar: floats(&encoded.calendar, ranges, device)?,
        })
    }
}

impl TargetTensors {
    /// Targets of some rows; `skip` is none for a network without history.
    pub(crate) fn new(
        targets: &Targets,
        skip: Option<&Array2<f32>>,
        ranges: &[Range<usize>],
        device: Device,
    ) -> Result<TargetTensors, ModelError> {
        let by_head = |tensor: Tensor| -> Result<Tensor, ModelError> {
            Ok(tensor.f_transpose(0, 1)?.f_contiguous()?)
        };
        let (class, shape) = gather(&targets.class, ranges);
        let active: Vec<f32> = class
            .iter()
            .map(|&class| f32::from(class != INACTIVE))
            .collect();
        let class = class.iter().copied();
        let class = class.map(|class| if class == INACTIVE { 0 } else { class });
        let low = by_head(floats(&targets.low, ranges, device)?)?;
        let skip = match skip {
            Some(skip) => by_head(floats(skip, ranges, device)?)?,
            None => low.f_zeros_like()?,
        };
        Ok(TargetTensors {
            class: by_head(class_tensor(class, &shape, device)?)?,
            active: by_head(float_tensor(&active, &shape, device)?)?,
            high: by_head(floats(&targets.high, ranges, device)?)?,
            low,
            skip,
        })
    }
}

/// A tensor of one number a row of a batch, as f64 on the host.
pub(crate) fn to_doubles(tensor: &Tensor) -> Result<Vec<f64>, ModelError> {
    let tensor = tensor
        .f_detach()?
        .f_to_device(Device::Cpu)?
        .f_to_kind(Kind::Double)?
        .f_contiguous()?;
    Ok(Vec::<f64>::try_from(tensor.f_view([-1])?)?)
}
