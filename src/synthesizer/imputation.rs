//! Missing cells of given sequences, drawn from the model.
//! In: a frame as [`ParSynthesizerBuilder::fit`](crate::ParSynthesizerBuilder::fit) takes it, with missing cells. Out: the
//! same frame with these cells filled; every other cell is the user's own.

use super::ParSynthesizer;
use super::chunks::Progress;
use crate::decode::decoded;
use crate::error::{Error, Result};
use crate::layout::{CategoryCodec, ContextSource, RowSource};
use crate::params::{OptionError, checked_threads};
use crate::sample::{Decided, FilledSequences, GivenRows, Goal, Request, fill_chunk};
use crate::sampling::{ImputeOptions, Lengths};
use crate::table::{Fill, Role, SequenceTable};
use polars::prelude::DataFrame;
use std::ops::Range;

/// A table with missing cells, and which of them are drawn.
struct Gaps {
    table: SequenceTable,
    /// Which cells were missing in the frame, by schema column.
    missing: Vec<Vec<bool>>,
    /// Whether a column is to be filled, by schema column.
    is_wanted: Vec<bool>,
    /// Which cells are drawn, by schema column: those to be filled, and those whose absence the model never saw. Empty
    /// for columns that are not modelled.
    unknown: Vec<Vec<bool>>,
}

impl Gaps {
    /// Whether a cell of a sequence is drawn and wanted.
    fn has_wanted(&self, rows: Range<usize>) -> bool {
        let columns = self.unknown.iter().zip(&self.is_wanted);
        columns
            .filter(|(_, is_wanted)| **is_wanted)
            .any(|(unknown, _)| {
                unknown
                    .get(rows.clone())
                    .is_some_and(|own| own.contains(&true))
            })
    }
}

impl ParSynthesizer {
    /// The frame with its missing cells filled by draws from the model. Fresh randomness at each call: several results
    /// are several possible tables, as multiple imputation wants them.
    ///
    /// The frame has the columns that were fitted, rows in any order and chunking; its sequences may be new to the model.
    /// What comes back has the frame's own columns and rows in their order, and the fitted dtypes. Known cells are
    /// unchanged. A missing cell of a context column takes the value that other rows of its sequence have, and is
    /// otherwise drawn, one value a sequence. A drawn cell is never missing; where a column never had a value in
    /// training, its cells stay missing. So do cells of id columns, which are made up and not learned. NaN counts as
    /// missing.
    ///
    /// A cell is drawn given its sequence's number of rows, index and known context, all rows before it, and the columns
    /// of its own row that stand before it in the fitted table. What stands after it counts too: 16 ways to fill a
    /// sequence are followed side by side, and those that make known cells further on unlikely give way to those that
    /// make them likely ([`ImputeOptions::candidates`]). What far later rows say of early cells is thereby told only as
    /// well as 16 tries can. Constraints hold in drawn cells, as far as the known ones leave them a value: an input that
    /// alone is missing follows from the result of its formula.
    ///
    /// ```
    /// # use parsynth::{Metadata, ParSynthesizer, read_csv};
    /// # use polars::prelude::*;
    /// # let metadata = Metadata::from_json_file("data/pbc_visits.metadata.json")?;
    /// # let visits = read_csv("data/pbc_visits.csv", &metadata)?;
    /// # let synthesizer = ParSynthesizer::builder(metadata).context_columns(["trt", "age", "sex"]).epochs(0).fit(&visits)?;
    /// let visits = visits.head(Some(20));
    /// assert!(visits.column("chol")?.null_count() > 0);
    /// let filled = synthesizer.impute(&visits)?;
    /// assert_eq!(filled.column("chol")?.null_count(), 0);
    /// assert_eq!(filled.column("bili")?, visits.column("bili")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// # Errors
    /// [`Error::Table`] as for a fit: a column that is missing, unknown, or of a dtype that does not fit the fitted
    /// one, a missing key or index, a context column with two values in a sequence, no rows;
    /// [`Error::UnseenCategory`] for a category that training never saw.
    pub fn impute(&self, frame: &DataFrame) -> Result<DataFrame> {
        self.impute_with(frame, &ImputeOptions::default())
    }

    /// The frame with missing cells filled, as the options say. Missing cells of columns that are not to be filled stay,
    /// and count as the state that they are; where the model never saw it, they count as nothing. A column that a
    /// constraint binds to one before it, as an end to its start, stays missing where that one does.
    ///
    /// ```
    /// # use parsynth::{ImputeOptions, Metadata, ParSynthesizer, read_csv};
    /// # let metadata = Metadata::from_json_file("data/pbc_visits.metadata.json")?;
    /// # let visits = read_csv("data/pbc_visits.csv", &metadata)?;
    /// # let synthesizer = ParSynthesizer::builder(metadata).context_columns(["trt", "age", "sex"]).epochs(0).fit(&visits)?;
    /// # let visits = visits.head(Some(30));
    /// let options = ImputeOptions::default().columns(["chol"]).seed(7);
    /// let filled = synthesizer.impute_with(&visits, &options)?;
    /// assert_eq!(filled.column("chol")?.null_count(), 0);
    /// assert_eq!(filled.column("platelet")?, visits.column("platelet")?);
    /// assert!(filled.equals_missing(&synthesizer.impute_with(&visits, &options)?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// # Errors
    /// As [`ParSynthesizer::impute`]; [`Error::Option`] for any option outside its range, and for columns that cannot be
    /// filled: the key, the index and ids; [`Error::Table`] for a column that does not exist.
    pub fn impute_with(&self, frame: &DataFrame, options: &ImputeOptions) -> Result<DataFrame> {
        let threads = checked_threads(options.draws.threads)?;
        let (candidates, temperature) =
            (options.checked_candidates()?, options.draws.temperature()?);
        let is_wanted = self.columns_to_fill(options.columns.as_deref())?;
        let (table, missing) = SequenceTable::with_gaps(frame, &self.schema)?;
        let gaps = Gaps {
            unknown: self.unknown_cells(&table, &is_wanted),
            table,
            missing,
            is_wanted,
        };
        let mut given_rows = self.given_rows(&gaps.table, Goal::Fill, &gaps.unknown)?;
        let totals = self.know_earlier_totals(&mut given_rows, &gaps);
        let request = Request {
            seed: self.seed(options.draws.seed),
            lengths: Lengths::Drawn,
            candidates,
            temperature,
            within_range: self.options.enforce_min_max,
            last_index: self.schema.last_index(),
            given: self.given_contexts(&gaps.table, &given_rows, &gaps.unknown)?,
            shared_ends: Vec::new(),
            given_rows: Some(given_rows),
            cancel_tokens: vec![options.draws.cancel.clone()],
            at_once: self.sequences_at_once(),
        };
        let offsets = &gaps.table.offsets;
        let sequences: Vec<usize> = (0..gaps.table.sequences())
            .filter(|&sequence| gaps.has_wanted(offsets[sequence]..offsets[sequence + 1]))
            .collect();
        let chunks: Vec<&[usize]> = sequences.chunks(request.chunk()).collect();
        let progress = Progress::new(options.draws.progress.as_ref());
        let mut fills = gaps.repeated_context(&self.schema.context());
        fills.extend(totals);
        let (mut done, mut rows) = (0, 0);
        self.in_chunks(
            chunks.len(),
            threads,
            |networks, chunk| {
                fill_chunk(networks, &self.layout, &self.rules, &request, chunks[chunk])
            },
            |filled| {
                let own = filled.sequences.iter();
                rows += own.map(|&at| offsets[at + 1] - offsets[at]).sum::<usize>();
                done += filled.sequences.len();
                fills.extend(self.fills_of(&filled, &gaps));
                progress.tell(done, sequences.len(), rows, None);
            },
        )?;
        Ok(self.schema.filled(frame, &fills)?)
    }

    /// Which columns to fill, by schema column.
    fn columns_to_fill(&self, columns: Option<&[String]>) -> Result<Vec<bool>> {
        let mut is_wanted = vec![columns.is_none(); self.schema.columns.len()];
        for name in columns.unwrap_or_default() {
            let position = self.schema.column(name)?;
            let column = &self.schema.columns[position];
            let is_modelled = match column.role {
                Role::SequenceKey | Role::SequenceIndex => false,
                Role::Context | Role::Sequential => self.missing_is_seen(position).is_some(),
            };
            if !is_modelled {
                return Err(Error::Option(OptionError {
                    option: "columns",
                    found: format!(
                        "`{name}`, a {} of sdtype {}",
                        column.role.name(),
                        column.sdtype.name()
                    ),
                    wanted: "context or sequential columns that are learned".to_owned(),
                }));
            }
            is_wanted[position] = true;
        }
        Ok(is_wanted)
    }

    /// Whether training saw missing cells in a column; none for columns that are not modelled.
    fn missing_is_seen(&self, column: usize) -> Option<bool> {
        let number = self.layout.number_codec(column);
        let number = number.map(|codec| codec.has_missing);
        number.or_else(|| self.category_codec(column).map(|codec| codec.has_missing))
    }

    /// Whether training saw a value in a column.
    fn value_is_seen(&self, column: usize) -> bool {
        match (
            self.layout.number_codec(column),
            self.category_codec(column),
        ) {
            (Some(codec), _) => {
                codec.classes() > usize::from(codec.has_missing) + usize::from(codec.has_same)
            }
            (None, Some(codec)) => !codec.labels.is_empty(),
            (None, None) => false,
        }
    }

    fn category_codec(&self, column: usize) -> Option<&CategoryCodec> {
        let mut categories = self.layout.categories();
        categories.find_map(|(own, codec)| (own == column).then_some(codec))
    }

    /// Which cells are drawn, by schema column.
    fn unknown_cells(&self, table: &SequenceTable, is_wanted: &[bool]) -> Vec<Vec<bool>> {
        let column = |(column, is_wanted): (usize, &bool)| match self.missing_is_seen(column) {
            Some(is_seen) if (*is_wanted || !is_seen) && self.value_is_seen(column) => {
                table.columns[column].missing()
            }
            Some(_) | None => Vec::new(),
        };
        is_wanted.iter().enumerate().map(column).collect()
    }

    /// Takes in the missing totals that follow from later ones, and gives the wanted of them back.
    fn know_earlier_totals(&self, given: &mut GivenRows, gaps: &Gaps) -> Vec<Fill> {
        let cell = |column: usize, row: usize| given.cell(column, row);
        let totals = self.rules.earlier_totals(&gaps.table.offsets, cell);
        let mut fills = Vec::new();
        for own in totals.chunk_by(|(left, ..), (right, ..)| left == right) {
            let (mut rows, mut numbers) = (Vec::new(), Vec::new());
            for &(column, row, total) in own {
                given.know(column, row, total);
                rows.push(gaps.table.row_number(row));
                numbers.push(total);
            }
            let column = own
                .first()
                .and_then(|&(column, ..)| self.layout.rows.get(column));
            if let Some(RowSource::Column(source)) = column.map(|column| column.source)
                && gaps.is_wanted[source]
            {
                fills.push(self.fill(source, rows, &Decided::Numbers(numbers)));
            }
        }
        fills
    }

    /// The wanted cells of a chunk, column by column.
    fn fills_of(&self, filled: &FilledSequences, gaps: &Gaps) -> Vec<Fill> {
        let mut fills = Vec::new();
        for (position, column) in self.layout.context.iter().enumerate() {
            let ContextSource::Column(source) = column.source else {
                continue;
            };
            if !gaps.is_wanted[source] {
                continue;
            }
            let (mut rows, mut cells) = (Vec::new(), filled.context[position].emptied());
            for (at, &sequence) in filled.sequences.iter().enumerate() {
                let offsets = &gaps.table.offsets;
                for row in offsets[sequence]..offsets[sequence + 1] {
                    let is_unknown = gaps.unknown[source].get(row).copied().unwrap_or(false);
                    if let Some(cell) = filled.context[position].get(at).filter(|_| is_unknown) {
                        rows.push(gaps.table.row_number(row));
                        cells.push(cell);
                    }
                }
            }
            fills.push(self.fill(source, rows, &cells));
        }
        for (position, column) in self.layout.rows.iter().enumerate() {
            let RowSource::Column(source) = column.source else {
                continue;
            };
            if !gaps.is_wanted[source] {
                continue;
            }
            let mut rows = Vec::new();
            let mut cells = Decided::of_kind(&column.kind);
            for drawn in filled.cells.iter().filter(|drawn| drawn.column == position) {
                rows.push(gaps.table.row_number(drawn.row));
                cells.push(drawn.cell);
            }
            fills.push(self.fill(source, rows, &cells));
        }
        fills
    }

    fn fill(&self, column: usize, rows: Vec<usize>, cells: &Decided) -> Fill {
        Fill {
            column,
            rows,
            values: decoded(cells, self.category_codec(column)),
        }
    }
}

impl Gaps {
    /// Missing context cells of sequences that have the value in other rows.
    fn repeated_context(&self, context: &[usize]) -> Vec<Fill> {
        let fill = |&column: &usize| {
            let is_missing = self.table.columns[column].missing();
            let rows: Vec<usize> = (0..self.table.rows())
                .filter(|&row| self.missing[column][row] && !is_missing[row])
                .collect();
            Fill {
                column,
                values: self.table.columns[column].take(&rows),
                rows: rows.iter().map(|&row| self.table.row_number(row)).collect(),
            }
        };
        let context = context.iter().filter(|&&column| self.is_wanted[column]);
        context.map(fill).collect()
    }
}
