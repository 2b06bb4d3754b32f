//! The values of a column, each once.

use crate::protection::Protection;

/// Distinct values in order, how many rows hold each, and in how many sequences each is seen.
pub(super) struct Distinct {
    pub(super) values: Vec<f64>,
    pub(super) rows: Vec<usize>,
    pub(super) sequences: Vec<usize>,
}

impl Distinct {
    pub(super) fn count(values: &[f64], sequence: &[u32]) -> Distinct {
        let mut cells: Vec<(f64, u32)> = values
            .iter()
            .zip(sequence)
            .filter(|(v, _)| !v.is_nan())
            .map(|(&v, &s)| (v, s))
            .collect();
        cells.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut distinct = Distinct {
            values: Vec::new(),
            rows: Vec::new(),
            sequences: Vec::new(),
        };
        for run in cells.chunk_by(|a, b| a.0 == b.0) {
            distinct.values.push(run[0].0);
            distinct.rows.push(run.len());
            distinct
                .sequences
                .push(run.chunk_by(|a, b| a.1 == b.1).count());
        }
        distinct
    }

    /// The values that enough sequences share.
    pub(super) fn shared(&self, protection: Protection) -> Distinct {
        let kept: Vec<usize> = (0..self.values.len())
            .filter(|&at| !protection.hides(self.sequences[at]))
            .collect();
        Distinct {
            values: kept.iter().map(|&at| self.values[at]).collect(),
            rows: kept.iter().map(|&at| self.rows[at]).collect(),
            sequences: kept.iter().map(|&at| self.sequences[at]).collect(),
        }
    }
}
