//! Some sequences as they are, for looking at them side by side.

use rand::seq::SliceRandom;
use serde::Serialize;

use super::Comparison;
use crate::rng::Purpose;
use crate::table::ComparedTable;

/// Columns of which sequences are shown: the first of the table that vary, the sequence index left out.
const MOST_COLUMNS: usize = 4;
/// Sequences of each table.
const TRACKS: usize = 8;
/// Rows of a sequence, evenly spread where it has more.
const MOST_POINTS: usize = 150;

/// One column along a few real and a few synthetic sequences, drawn at random. The figures are rows of the tables: do
/// not give the report away where the real table must not be.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TrackColumn {
    /// Name of the column.
    pub column: String,
    /// Name of the sequence index, or `row` where places count rows from 1.
    pub along: String,
    /// Whether places are dates, in seconds since 1970.
    pub along_dates: bool,
    /// Whether values are dates, in seconds since 1970.
    pub dates: bool,
    /// At most eight real sequences.
    pub real: Vec<Track>,
    /// At most eight synthetic sequences.
    pub synthetic: Vec<Track>,
}

/// One sequence: its rows that are not missing, at most 150.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Track {
    /// Sequence index, or number of the row.
    pub places: Vec<f64>,
    /// The column's values there.
    pub values: Vec<f64>,
}

pub(super) fn tracks(comparison: &Comparison) -> Vec<TrackColumn> {
    let index = comparison.sequence_index();
    let mut generator = comparison
        .seed
        .numbered_stream(Purpose::EvaluationSubsample, 2);
    let mut drawn = |table: &ComparedTable| -> Vec<usize> {
        let mut order: Vec<usize> = (0..table.sequences()).collect();
        order.shuffle(&mut generator);
        // Longer than one row where there are any; otherwise dots are all there is to see.
        order.sort_by_key(|&at| table.offsets[at + 1] - table.offsets[at] < 2);
        order.truncate(TRACKS);
        order
    };
    let (real, synthetic) = (drawn(&comparison.real), drawn(&comparison.synthetic));
    comparison
        .numbers()
        .filter(|&column| comparison.varies(column) && Some(column) != index)
        .take(MOST_COLUMNS)
        .map(|column| {
            let of = |table: &ComparedTable, sequences: &[usize]| -> Vec<Track> {
                sequences
                    .iter()
                    .map(|&at| track(table, at, column, index))
                    .collect()
            };
            TrackColumn {
                column: comparison.columns[column].name.clone(),
                along: index.map_or_else(
                    || "row".to_owned(),
                    |index| comparison.columns[index].name.clone(),
                ),
                along_dates: index.is_some_and(|index| comparison.columns[index].is_date()),
                dates: comparison.columns[column].is_date(),
                real: of(&comparison.real, &real),
                synthetic: of(&comparison.synthetic, &synthetic),
            }
        })
        .collect()
}

fn track(table: &ComparedTable, sequence: usize, column: usize, index: Option<usize>) -> Track {
    let values = table.columns[column].numbers().unwrap_or_default();
    let index = index.and_then(|index| table.columns[index].numbers());
    let range = table.offsets[sequence]..table.offsets[sequence + 1];
    let start = range.start;
    let every = range.len().div_ceil(MOST_POINTS).max(1);
    let (places, values) = range
        .step_by(every)
        .map(|row| {
            (
                index.map_or((row - start + 1) as f64, |index| index[row]),
                values[row],
            )
        })
        .filter(|(place, value)| place.is_finite() && value.is_finite())
        .unzip();
    Track { places, values }
}
