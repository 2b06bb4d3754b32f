//! Given sequences and what may follow them.
//! In: a frame as [`ParSynthesizerBuilder::fit`](crate::ParSynthesizerBuilder::fit) takes it. Out: its rows, unchanged,
//! and after each sequence the rows asked for, sampled from the state in which the given ones leave the network.

use super::ParSynthesizer;
use super::chunks::Progress;
use super::stream::{Amount, SequenceStream};
use crate::encode::index_class;
use crate::error::{Error, Result};
use crate::layout::{
    CategoryCodec, ContextColumn, ContextKind, ContextSource, RowKind, RowSource, gap, numbers,
};
use crate::params::{OptionError, checked_threads};
use crate::sample::{Decided, GivenColumn, GivenRows, Goal, Request, SampledSequences};
use crate::sampling::{ContinueOptions, Lengths};
use crate::table::{SequenceTable, Values};
use polars::prelude::{DataFrame, IdxSize};

/// Lengths that are tried on a sequence whose end is drawn.
const LENGTHS_TRIED: usize = 16;

impl ParSynthesizer {
    /// The given sequences, each with `steps` rows that may come next. Fresh randomness at each call.
    ///
    /// The frame has the columns that were fitted, in any order, rows in any order and chunking; its sequences may be
    /// new to the model, and longer than any it has seen. What comes back has the columns, order and dtypes of the data
    /// that was fitted. The given cells are unchanged, rows sorted by index within their sequence, and the sequences
    /// stand in the order in which they appear. Key and context columns go on with their value, ids and personal
    /// data among the rows get new values unless they are constant in each sequence, the index goes on from the last given one, past the table's last where that is asked for.
    ///
    /// New rows depend on all given rows and on their number: a sequence counts as `given + steps` rows long, and ends
    /// there. Given numbers may lie outside the smallest and largest seen, and may be missing where none was missing;
    /// new ones keep to what was seen, as in sampling. A frame of one sequence, without key, works the same.
    ///
    /// ```
    /// # use parsynth::{Metadata, ParSynthesizer, read_csv};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// # let synthesizer = ParSynthesizer::builder(metadata).context_columns(["region"]).epochs(0).fit(&data)?;
    /// let history = data.head(Some(20));
    /// let forecast = synthesizer.continue_sequences(&history, 7)?;
    /// let stores = history.column("store_id")?.n_unique()?;
    /// assert_eq!(forecast.height(), 20 + 7 * stores);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// # Errors
    /// [`Error::Table`] as for a fit: a column that is missing, unknown, or of a dtype that does not fit the fitted
    /// one, a missing key or index, a context column that varies within a sequence, no rows, or an index at the end of
    /// its dtype; [`Error::UnseenCategory`] for a category that training never saw; [`Error::Identifier`] when a column
    /// has room for fewer new ids; [`Error::Option`] for more than 10,000,000 steps, or more rows than a frame can have.
    pub fn continue_sequences(&self, history: &DataFrame, steps: usize) -> Result<DataFrame> {
        self.continue_sequences_with(history, &ContinueOptions::steps(steps))
    }

    /// The given sequences and what may come next, as the options say.
    ///
    /// ```
    /// # use parsynth::{ContinueOptions, Metadata, ParSynthesizer, read_csv};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// # let synthesizer = ParSynthesizer::builder(metadata).context_columns(["region"]).epochs(0).fit(&data)?;
    /// # let history = data.head(Some(20));
    /// let week = ContinueOptions::steps(7).seed(7);
    /// let forecast = synthesizer.continue_sequences_with(&history, &week)?;
    /// assert!(forecast.equals_missing(&synthesizer.continue_sequences_with(&history, &week)?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// # Errors
    /// As [`ParSynthesizer::continue_sequences`]; [`Error::Option`] for any option outside its range.
    pub fn continue_sequences_with(
        &self,
        history: &DataFrame,
        options: &ContinueOptions,
    ) -> Result<DataFrame> {
        let goal = match options.checked_steps()? {
            Some(steps) => Goal::Steps(steps),
            None => Goal::End,
        };
        let temperature = options.draws.temperature()?;
        let threads = checked_threads(options.draws.threads)?;
        let table = SequenceTable::from_source(history, &self.schema)?;
        check_rows(&table, options.steps.unwrap_or(0))?;
        let given_rows = self.given_rows(&table, goal, &[])?;
        let request = Request {
            seed: self.seed(options.draws.seed),
            lengths: Lengths::Drawn,
            candidates: if goal == Goal::End { LENGTHS_TRIED } else { 1 },
            temperature,
            within_range: self.options.enforce_min_max,
            last_index: self.schema.last_index(),
            given: self.given_contexts(&table, &given_rows, &[])?,
            shared_ends: Vec::new(),
            given_rows: (goal != Goal::Steps(0)).then_some(given_rows),
            cancel_tokens: vec![options.draws.cancel.clone()],
            at_once: self.sequences_at_once(),
        };
        let amount = Amount {
            sequences: Some(table.sequences()),
            ..Amount::default()
        };
        let progress = Progress::new(options.draws.progress.as_ref());
        let mut stream = SequenceStream::new(self, request, amount, threads, progress);
        let sampled = match goal {
            Goal::Steps(0) => SampledSequences {
                lengths: vec![0; table.sequences()],
                ..SampledSequences::empty(&self.layout)
            },
            _ => stream.collect()?,
        };
        let decoding = self.decoding(&stream.given, &stream.request);
        let new = decoding.row_columns(&sampled, &table)?;
        Ok(self
            .schema
            .continued(history, &table, &new, &sampled.lengths)?)
    }

    /// The modelled columns of the given rows; `unknown` tells by schema column which cells are to be drawn, and may be
    /// empty where none is.
    pub(crate) fn given_rows(
        &self,
        table: &SequenceTable,
        goal: Goal,
        unknown: &[Vec<bool>],
    ) -> Result<GivenRows> {
        let index: Vec<f64> = match (self.schema.sequence_index(), &self.layout.index) {
            (Some(column), Some(codec)) => numbers(&table.columns[column])
                .iter()
                .map(|&value| codec.number(value))
                .collect(),
            _ => Vec::new(),
        };
        let rows = self.layout.rows.iter().map(|column| {
            Ok(match (column.source, &column.kind) {
                (RowSource::Gap, _) => Decided::Numbers(gaps(table, &index)),
                (RowSource::Column(source), RowKind::Category(codec)) => {
                    let rows: Vec<usize> = (0..table.rows()).collect();
                    Decided::Classes(self.classes(table, source, codec, &rows, unknown)?)
                }
                (RowSource::Column(source), RowKind::Number(_)) => {
                    Decided::Numbers(numbers(&table.columns[source]).to_vec())
                }
            })
        });
        Ok(GivenRows {
            goal,
            offsets: table.offsets.clone(),
            rows: rows.collect::<Result<_>>()?,
            index,
            unknown: self
                .layout
                .rows
                .iter()
                .map(|column| match column.source {
                    RowSource::Column(source) => unknown.get(source).cloned().unwrap_or_default(),
                    RowSource::Gap => Vec::new(),
                })
                .collect(),
        })
    }

    /// The context of each sequence: its context columns, and what its rows say of it. Unknown cells are none, and so are
    /// length and end where they are to be drawn.
    pub(crate) fn given_contexts(
        &self,
        table: &SequenceTable,
        rows: &GivenRows,
        unknown: &[Vec<bool>],
    ) -> Result<Vec<Option<GivenColumn>>> {
        let firsts = &table.offsets[..table.sequences()];
        let steps = match rows.goal {
            Goal::Steps(steps) => steps,
            Goal::End | Goal::Fill => 0,
        };
        let column = |ContextColumn { source, kind }: &ContextColumn| {
            Ok(Some(match (kind, *source) {
                (_, ContextSource::Length | ContextSource::EndsWithTable)
                    if rows.goal == Goal::End =>
                {
                    return Ok(None);
                }
                (ContextKind::Category(codec), ContextSource::Column(source)) => {
                    let classes = self.classes(table, source, codec, firsts, unknown)?;
                    let known = |(class, &row): (u32, &usize)| {
                        (!is_unknown(unknown, source, row)).then_some(class)
                    };
                    GivenColumn::Classes(classes.into_iter().zip(firsts).map(known).collect())
                }
                (ContextKind::Category(codec), source) => {
                    let class = |ends: &[usize]| {
                        let (first, last) = (*rows.index.get(ends[0])?, rows.index[ends[1] - 1]);
                        let index = self.layout.index.as_ref()?;
                        let class = index_class(source, codec, index, first, last)
                            .or_else(|| codec.hidden_class())?;
                        u32::try_from(class).ok()
                    };
                    let ends = table.offsets.windows(2);
                    GivenColumn::Classes(ends.map(|ends| class(ends).or(Some(0))).collect())
                }
                (ContextKind::Number { .. }, source) => GivenColumn::Numbers(
                    table
                        .offsets
                        .windows(2)
                        .map(|ends| match source {
                            ContextSource::Column(source) => {
                                let value = numbers(&table.columns[source])[ends[0]];
                                (!is_unknown(unknown, source, ends[0])).then_some(value)
                            }
                            ContextSource::Start => {
                                Some(self.layout.index.as_ref().map_or(0.0, |codec| {
                                    let (_, start) = codec.split(rows.index[ends[0]]);
                                    start
                                }))
                            }
                            ContextSource::Length => Some((ends[1] - ends[0] + steps) as f64),
                            ContextSource::TimeOfDay | ContextSource::EndsWithTable => Some(0.0),
                        })
                        .collect(),
                ),
            }))
        };
        self.layout.context.iter().map(column).collect()
    }

    /// The class of a category column in some rows of a table; any where it is unknown.
    fn classes(
        &self,
        table: &SequenceTable,
        column: usize,
        codec: &CategoryCodec,
        rows: &[usize],
        unknown: &[Vec<bool>],
    ) -> Result<Vec<u32>> {
        let Values::Labels { codes, labels } = &table.columns[column] else {
            return Ok(Vec::new());
        };
        // Labels are looked up once each, not once a row; after them comes a missing cell.
        let of_code: Vec<Option<u32>> = (0..)
            .take(labels.len() + 1)
            .map(|code| {
                let class = codec.class(code, labels).or_else(|| codec.hidden_class());
                u32::try_from(class?).ok()
            })
            .collect();
        let class = |row: usize| {
            let class = of_code[(codes[row] as usize).min(labels.len())];
            class.or_else(|| is_unknown(unknown, column, row).then_some(0))
        };
        let unseen = rows.iter().filter(|&&row| class(row).is_none());
        if let Some(&row) = unseen.min_by_key(|&&row| table.row_number(row)) {
            let name = &self.schema.columns[column].name;
            let number = table.row_number(row);
            return Err(self.unseen_category(name, number, codes[row], labels, codec));
        }
        Ok(rows.iter().filter_map(|&row| class(row)).collect())
    }
}

fn is_unknown(unknown: &[Vec<bool>], column: usize, row: usize) -> bool {
    let cell = unknown.get(column).and_then(|rows| rows.get(row));
    cell.copied().unwrap_or(false)
}

/// The step of each row from the one before; NaN in the first row of a sequence.
fn gaps(table: &SequenceTable, index: &[f64]) -> Vec<f64> {
    let mut gaps = vec![f64::NAN; index.len()];
    for ends in table.offsets.windows(2) {
        for row in ends[0] + 1..ends[1] {
            gaps[row] = gap(index[row - 1], index[row]);
        }
    }
    gaps
}

/// Refuses what a frame could not hold, before it is sampled.
fn check_rows(table: &SequenceTable, steps: usize) -> Result<()> {
    let most = IdxSize::MAX as usize;
    let rows = steps
        .checked_mul(table.sequences())
        .and_then(|new| new.checked_add(table.rows()))
        .filter(|&rows| rows < most);
    match rows {
        Some(_) => Ok(()),
        None => Err(Error::Option(OptionError {
            option: "steps",
            found: format!("{steps} for {} sequences", table.sequences()),
            wanted: format!("fewer than {most} rows in all"),
        })),
    }
}
