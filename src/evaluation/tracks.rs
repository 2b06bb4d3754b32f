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
    /// Whether the sequence index holds dates, so that places are in seconds, since 1970 or since the start.
    pub along_dates: bool,
    /// Whether places are counted from the start of each sequence: where sequences are short beside the time that all of
    /// them span, so that side by side they would be strokes.
    pub since_start: bool,
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
            let (mut real, mut synthetic) = (
                of(&comparison.real, &real),
                of(&comparison.synthetic, &synthetic),
            );
            let since_start = short_beside_all(&real, &synthetic);
            if since_start {
                for track in real.iter_mut().chain(&mut synthetic) {
                    let start = track.places.first().copied().unwrap_or(0.0);
                    track.places.iter_mut().for_each(|place| *place -= start);
                }
            }
            TrackColumn {
                column: comparison.columns[column].name.clone(),
                along: index.map_or_else(
                    || "row".to_owned(),
                    |index| comparison.columns[index].name.clone(),
                ),
                along_dates: index.is_some_and(|index| comparison.columns[index].is_date()),
                since_start,
                dates: comparison.columns[column].is_date(),
                real,
                synthetic,
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

/// Whether the longest sequence takes less than a third of what all span together.
fn short_beside_all(real: &[Track], synthetic: &[Track]) -> bool {
    let ends = real
        .iter()
        .chain(synthetic)
        .filter_map(|track| Some((*track.places.first()?, *track.places.last()?)));
    let (low, high, longest) = ends.fold(
        (f64::INFINITY, f64::NEG_INFINITY, 0.0_f64),
        |(low, high, longest), (first, last)| {
            (low.min(first), high.max(last), longest.max(last - first))
        },
    );
    longest > 0.0 && longest < (high - low) / 3.0
}
