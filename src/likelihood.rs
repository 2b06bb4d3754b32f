//! How likely a real table is under a model: [`LogLikelihood`].
//! In: nats by sequence and by row, in the order of the user's frame. Out: two frames and their means.

use polars::prelude::{Column, DataFrame, PolarsResult};

/// What the numbers of one sequence are, and whose they are.
#[derive(Debug)]
pub(crate) struct SequenceNats<'a> {
    pub(crate) rows: usize,
    pub(crate) context: f64,
    /// Sum over its rows.
    pub(crate) all_rows: f64,
    pub(crate) impossible: Option<&'a str>,
}

/// One row's number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowNats<'a> {
    pub(crate) nats: f64,
    pub(crate) impossible: Option<&'a str>,
}

/// Log-likelihoods of real sequences under a model, in nats (natural logarithms): the higher, the likelier.
///
/// They are the negative of the losses that training lowers. A sequence is its context (context columns, start and
/// length) and its rows, each given all that came before; keys and ids are made up and do not count.
///
/// *What they can be compared with.* Categories, missing cells, and numbers and dates that lie on a grid count with
/// probabilities, which are at most 0 nats. A column of numbers without a grid (of more than six decimals) counts
/// with its density in the column's own unit, which may lie above 0 nats. So nats compare sequences of one table, and
/// models that were fitted with the same table, metadata and context columns, whatever their sizes, seeds and
/// options; nats of other tables, other units, or a table rounded otherwise say nothing about each other.
///
/// *The impossible.* What no sample could ever hold has [`f64::NEG_INFINITY`], never NaN, and the column `impossible`
/// names it: a category never seen, a missing cell where none was missing, a number off the column's grid, or outside
/// the smallest and largest seen unless the fit had
/// [`enforce_min_max_values(false)`](crate::ParSynthesizerBuilder::enforce_min_max_values), and a start, gap or
/// length outside those seen. With `false`, numbers beyond the outermost seen count as the outermost. One impossible
/// cell makes its row, its sequence and the means infinite; rows after it are read with a stand-in in its place and
/// have finite nats of their own. To compare models on sequences that they were not fitted with, leave out those that
/// are impossible for one of them.
#[derive(Debug, Clone)]
pub struct LogLikelihood {
    sequences: DataFrame,
    rows: DataFrame,
    nats_per_sequence: f64,
    nats_per_row: f64,
}

impl LogLikelihood {
    /// `key` holds the keys of `sequences`, in their order, a column for each of the key's.
    pub(crate) fn new(
        key: Vec<Column>,
        sequences: &[SequenceNats<'_>],
        rows: &[RowNats<'_>],
    ) -> PolarsResult<LogLikelihood> {
        let whole = |s: &SequenceNats<'_>| s.context + s.all_rows;
        let numbers = |number: &dyn Fn(&SequenceNats<'_>) -> f64| -> Vec<f64> {
            sequences.iter().map(number).collect()
        };
        let key_names: Vec<String> = key.iter().map(|key| key.name().to_string()).collect();
        let name = |name: &str| {
            let mut name = name.to_owned();
            while key_names.contains(&name) {
                name.push('_');
            }
            name.into()
        };
        let lengths: Vec<u64> = sequences.iter().map(|s| s.rows as u64).collect();
        let impossible: Vec<Option<&str>> = sequences.iter().map(|s| s.impossible).collect();
        let columns = [
            Column::new(name("rows"), lengths),
            Column::new(name("context_nats"), numbers(&|s| s.context)),
            Column::new(name("row_nats"), numbers(&|s| s.all_rows)),
            Column::new(name("nats"), numbers(&whole)),
            Column::new(
                name("nats_per_row"),
                numbers(&|s| s.all_rows / s.rows.max(1) as f64),
            ),
            Column::new(name("impossible"), impossible),
        ];
        let row_nats: Vec<f64> = rows.iter().map(|row| row.nats).collect();
        let impossible: Vec<Option<&str>> = rows.iter().map(|row| row.impossible).collect();
        Ok(LogLikelihood {
            nats_per_sequence: numbers(&whole).iter().sum::<f64>() / sequences.len().max(1) as f64,
            nats_per_row: row_nats.iter().sum::<f64>() / rows.len().max(1) as f64,
            sequences: DataFrame::new_infer_height(key.into_iter().chain(columns).collect())?,
            rows: DataFrame::new_infer_height(vec![
                Column::new("nats".into(), row_nats),
                Column::new("impossible".into(), impossible),
            ])?,
        })
    }

    /// One row a sequence, in the order in which the sequences first appear in the frame that was given.
    ///
    /// | column | dtype | what |
    /// |---|---|---|
    /// | the sequence key's columns, by their own names | their own | none for a table of one sequence without key |
    /// | `rows` | `UInt64` | rows of the sequence |
    /// | `context_nats` | `Float64` | context columns, start and length |
    /// | `row_nats` | `Float64` | sum over the rows |
    /// | `nats` | `Float64` | the whole sequence: both of these |
    /// | `nats_per_row` | `Float64` | `row_nats` / `rows`, to compare sequences of different lengths |
    /// | `impossible` | `String` | the first column that makes it impossible; null where none does |
    ///
    /// `impossible` names a column, or `(start)`, `(time of day)`, `(length)` or `(gap)`, the parts of length and
    /// index, as [`EpochLoss`](crate::EpochLoss) does. A column that would have the name of one of the key's
    /// ends in `_`.
    #[must_use]
    pub fn sequences(&self) -> &DataFrame {
        &self.sequences
    }

    /// One row for each row of the frame that was given, in the frame's own order: `nats` (`Float64`), of the row given
    /// its context and the rows before it, and `impossible` (`String`), the row's first impossible column or null.
    #[must_use]
    pub fn rows(&self) -> &DataFrame {
        &self.rows
    }

    /// Mean of the column `nats` of [`sequences`](LogLikelihood::sequences): whole sequences, contexts included.
    #[must_use]
    pub fn nats_per_sequence(&self) -> f64 {
        self.nats_per_sequence
    }

    /// Mean over all [`rows`](LogLikelihood::rows), without contexts: of held-out sequences what
    /// [`FitReport::validation_nats`](crate::FitReport::validation_nats) is the negative of.
    #[must_use]
    pub fn nats_per_row(&self) -> f64 {
        self.nats_per_row
    }
}
