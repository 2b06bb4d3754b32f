//! Tables side by side: the same columns in each, numbers in one unit, labels in one vocabulary.
//! In: frames that share a metadata, whoever made them. Out: `ComparedTables`, free of dtypes.
//! Each frame is read by its own dtypes, since another generator may write whole numbers as floats or dates as text.

use std::cmp::Ordering;
use std::collections::HashMap;

use polars::prelude::DataFrame;
use rayon::prelude::*;

use super::{ColumnSchema, Label, MISSING_CODE, Role, Schema, SequenceTable, TableError, Values};
use crate::metadata::{Metadata, SdType};

/// What is the same in all tables.
#[derive(Debug, Clone)]
pub(crate) struct ComparedColumn {
    pub(crate) name: String,
    /// As the metadata states it, or id for the sequence key.
    pub(crate) sdtype: SdType,
    pub(crate) role: Role,
    /// Whether it is part of the sequence key.
    pub(crate) is_key: bool,
    /// Sorted and unique, over all tables; empty for numbers and dates.
    pub(crate) labels: Vec<String>,
}

/// The cells of one column of one table.
#[derive(Debug, Clone)]
pub(crate) enum ComparedCells {
    /// Numbers as they are, dates in seconds since 1970; NaN where missing.
    Numbers(Vec<f64>),
    /// Positions in the column's labels; `MISSING_CODE` where missing.
    Codes(Vec<u32>),
}

/// One table: rows grouped into sequences by key, ordered by index in each.
#[derive(Debug, Clone)]
pub(crate) struct ComparedTable {
    /// Rows of sequence `i` are `offsets[i]..offsets[i + 1]`.
    pub(crate) offsets: Vec<usize>,
    /// Parallel to `ComparedTables::columns`.
    pub(crate) columns: Vec<ComparedCells>,
    /// polars' name of each column's dtype.
    pub(crate) dtypes: Vec<String>,
}

/// Tables of the same columns, the first of which gives their order.
#[derive(Debug, Clone)]
pub(crate) struct ComparedTables {
    pub(crate) columns: Vec<ComparedColumn>,
    pub(crate) tables: Vec<ComparedTable>,
}

impl ComparedTables {
    /// Reads frames, of which the first gives the order of columns. A context column may vary within a sequence here:
    /// that is for an evaluation to find.
    ///
    /// # Errors
    /// The position of the frame, and [`TableError`] naming the column: a column that is not in frame and metadata
    /// both, no rows, a dtype that cannot hold the sdtype, a missing key or index, a date that fits no format.
    pub(crate) fn read(
        frames: &[&DataFrame],
        metadata: &Metadata,
        context_columns: &[String],
    ) -> Result<ComparedTables, (usize, TableError)> {
        let read: Vec<(Schema, SequenceTable)> = frames
            .par_iter()
            .enumerate()
            .map(|(position, frame)| {
                read_one(frame, metadata, context_columns).map_err(|error| (position, error))
            })
            .collect::<Result<_, _>>()?;
        let Some((first, _)) = read.first() else {
            return Ok(ComparedTables {
                columns: Vec::new(),
                tables: Vec::new(),
            });
        };
        let (columns, cells): (Vec<ComparedColumn>, Vec<Vec<(ComparedCells, String)>>) = first
            .columns
            .par_iter()
            .map(|column| {
                let parts: Vec<(&ColumnSchema, &Values)> = read
                    .iter()
                    .filter_map(|(schema, table)| {
                        let at = schema.columns.iter().position(|c| c.name == column.name)?;
                        Some((&schema.columns[at], &table.columns[at]))
                    })
                    .collect();
                let (labels, cells) = shared_cells(&parts);
                let dtypes = frames.iter().map(|frame| {
                    frame
                        .column(&column.name)
                        .map_or_else(|_| String::new(), |column| column.dtype().to_string())
                });
                let compared = ComparedColumn {
                    name: column.name.clone(),
                    sdtype: column.sdtype.clone(),
                    role: role(column, context_columns),
                    is_key: column.is_key,
                    labels,
                };
                (compared, cells.into_iter().zip(dtypes).collect())
            })
            .unzip();
        let mut tables: Vec<ComparedTable> = read
            .into_iter()
            .map(|(_, table)| ComparedTable {
                offsets: table.offsets,
                columns: Vec::new(),
                dtypes: Vec::new(),
            })
            .collect();
        for column in cells {
            for (table, (cells, dtype)) in tables.iter_mut().zip(column) {
                table.columns.push(cells);
                table.dtypes.push(dtype);
            }
        }
        Ok(ComparedTables { columns, tables })
    }
}

fn read_one(
    frame: &DataFrame,
    metadata: &Metadata,
    context_columns: &[String],
) -> Result<(Schema, SequenceTable), TableError> {
    let mut schema = Schema::fit(frame, metadata, context_columns)?;
    for column in &mut schema.columns {
        if column.role == Role::Context {
            column.role = Role::Sequential; // so that one that varies is no error
        }
    }
    let table = SequenceTable::from_source(frame, &schema)?;
    Ok((schema, table))
}

fn role(column: &ColumnSchema, context_columns: &[String]) -> Role {
    let is_drawn_key = column.is_key && column.role != Role::SequenceKey;
    if is_drawn_key || context_columns.contains(&column.name) {
        Role::Context
    } else {
        column.role
    }
}

/// One column of all tables, in one unit or one vocabulary.
fn shared_cells(parts: &[(&ColumnSchema, &Values)]) -> (Vec<String>, Vec<ComparedCells>) {
    let all_labels: Vec<&Label> = parts
        .iter()
        .flat_map(|(_, values)| match values {
            Values::Numbers(_) => [].iter(),
            Values::Labels { labels, .. } => labels.iter(),
        })
        .collect();
    let spelling = Spelling::of(&all_labels);
    let mut names: Vec<String> = all_labels
        .iter()
        .map(|label| spelling.write(label))
        .collect();
    names.sort_unstable_by(|left, right| spelling.compare(left, right));
    names.dedup();
    let places: HashMap<&str, u32> = names.iter().map(String::as_str).zip(0..).collect();
    let cells = parts
        .iter()
        .map(|(schema, values)| match values {
            Values::Numbers(numbers) => ComparedCells::Numbers(raw_numbers(schema, numbers)),
            Values::Labels { codes, labels } => {
                let shared: Vec<u32> = labels
                    .iter()
                    .map(|label| places[spelling.write(label).as_str()])
                    .collect();
                let code = |&code: &u32| shared.get(code as usize).copied();
                ComparedCells::Codes(
                    codes
                        .iter()
                        .map(|cell| code(cell).unwrap_or(MISSING_CODE))
                        .collect(),
                )
            }
        })
        .collect();
    drop(places);
    (names, cells)
}

/// Numbers without base and step; dates in seconds.
fn raw_numbers(schema: &ColumnSchema, numbers: &[f64]) -> Vec<f64> {
    let (base, step) = (schema.base as f64, schema.step as f64);
    match schema.storage.unit_nanoseconds() {
        None if schema.base == 0 && schema.step == 1 => numbers.to_vec(),
        None => numbers.iter().map(|cell| base + cell * step).collect(),
        Some(unit) => {
            let unit = unit as f64;
            // Whole multiples are multiplied, fractions divided, so that whole seconds stay whole.
            if unit >= 1e9 {
                numbers
                    .iter()
                    .map(|cell| (base + cell * step) * (unit / 1e9))
                    .collect()
            } else {
                numbers
                    .iter()
                    .map(|cell| (base + cell * step) / (1e9 / unit))
                    .collect()
            }
        }
    }
}

/// How labels of different dtypes are told to be the same: one table's `1` may be another's `1.0`, whether it is held
/// as text or as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// Every label is a number, or the text of one.
    Numbers,
    /// Every label is a truth value, or the text of one.
    TruthValues,
    Text,
}

impl Spelling {
    fn of(labels: &[&Label]) -> Spelling {
        if labels.iter().all(|label| number(label).is_some()) {
            Spelling::Numbers
        } else if labels.iter().all(|label| truth_value(label).is_some()) {
            Spelling::TruthValues
        } else {
            Spelling::Text
        }
    }

    fn write(self, label: &Label) -> String {
        match self {
            Spelling::Numbers => number(label).map(|number| (number + 0.0).to_string()),
            Spelling::TruthValues => truth_value(label).map(|value| value.to_string()),
            Spelling::Text => None,
        }
        .unwrap_or_else(|| label.to_string())
    }

    fn compare(self, left: &str, right: &str) -> Ordering {
        let number = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
        match self {
            Spelling::Numbers => number(left).total_cmp(&number(right)),
            Spelling::TruthValues | Spelling::Text => left.cmp(right),
        }
    }
}

/// The number of a label; `None` where it would lose something: digits beyond the 15th, or the zeros of `007`.
fn number(label: &Label) -> Option<f64> {
    let exact = |number: f64| (number.abs() < 1e15).then_some(number);
    match label {
        Label::Boolean(_) => None,
        Label::Integer(value) => exact(*value as f64),
        Label::Float(value) => exact(*value),
        Label::Text(text) => {
            let number = exact(text.parse().ok()?)?;
            let plain = text.strip_suffix(".0").unwrap_or(text);
            (number.to_string() == plain).then_some(number)
        }
    }
}

fn truth_value(label: &Label) -> Option<bool> {
    match label {
        Label::Boolean(value) => Some(*value),
        Label::Integer(0) => Some(false),
        Label::Integer(1) => Some(true),
        Label::Integer(_) | Label::Float(_) => None,
        Label::Text(text) => match text.to_ascii_lowercase().as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        },
    }
}

impl ComparedTable {
    /// Number of sequences.
    pub(crate) fn sequences(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// Rows of each sequence.
    pub(crate) fn lengths(&self) -> Vec<usize> {
        self.offsets
            .windows(2)
            .map(|pair| pair[1] - pair[0])
            .collect()
    }

    /// The row ranges of the sequences.
    pub(crate) fn ranges(
        &self,
    ) -> impl ExactSizeIterator<Item = std::ops::Range<usize>> + Clone + '_ {
        self.offsets.windows(2).map(|pair| pair[0]..pair[1])
    }

    /// The same rows, with every sequence cut into windows of this many rows; a last window of less than half as many
    /// joins the one before.
    pub(crate) fn windows(&self, rows: usize) -> ComparedTable {
        let mut offsets = vec![0];
        for range in self.ranges() {
            let whole = (range.len() / rows).max(1);
            let parts = whole + usize::from(range.len() > whole * rows + rows / 2);
            offsets.extend((1..parts).map(|part| range.start + part * rows));
            offsets.push(range.end);
        }
        ComparedTable {
            offsets,
            ..self.clone()
        }
    }

    /// Some of the sequences, in the order given.
    pub(crate) fn some_sequences(&self, sequences: &[usize]) -> ComparedTable {
        let rows: Vec<usize> = sequences
            .iter()
            .flat_map(|&sequence| self.offsets[sequence]..self.offsets[sequence + 1])
            .collect();
        let mut offsets = vec![0];
        for &sequence in sequences {
            let length = self.offsets[sequence + 1] - self.offsets[sequence];
            offsets.push(offsets.last().copied().unwrap_or(0) + length);
        }
        ComparedTable {
            offsets,
            columns: self
                .columns
                .iter()
                .map(|column| column.take(&rows))
                .collect(),
            dtypes: self.dtypes.clone(),
        }
    }
}

impl ComparedCells {
    /// The numbers of a numerical or datetime column.
    pub(crate) fn numbers(&self) -> Option<&[f64]> {
        match self {
            ComparedCells::Numbers(numbers) => Some(numbers),
            ComparedCells::Codes(_) => None,
        }
    }

    /// The codes of a categorical, boolean or id column.
    pub(crate) fn codes(&self) -> Option<&[u32]> {
        match self {
            ComparedCells::Numbers(_) => None,
            ComparedCells::Codes(codes) => Some(codes),
        }
    }

    fn take(&self, rows: &[usize]) -> ComparedCells {
        match self {
            ComparedCells::Numbers(numbers) => {
                ComparedCells::Numbers(rows.iter().map(|&row| numbers[row]).collect())
            }
            ComparedCells::Codes(codes) => {
                ComparedCells::Codes(rows.iter().map(|&row| codes[row]).collect())
            }
        }
    }
}

impl ComparedColumn {
    /// Whether its cells are compared as numbers: numerical and datetime columns but the key.
    pub(crate) fn is_number(&self) -> bool {
        super::read::is_number(&self.sdtype, self.role)
    }

    /// Whether its cells are compared as categories: categorical and boolean columns but the key.
    pub(crate) fn is_category(&self) -> bool {
        matches!(self.sdtype, SdType::Categorical | SdType::Boolean)
            && self.role != Role::SequenceKey
    }

    /// Whether it holds dates.
    pub(crate) fn is_date(&self) -> bool {
        matches!(self.sdtype, SdType::Datetime { .. }) && self.role != Role::SequenceKey
    }
}
