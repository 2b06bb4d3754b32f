//! Whether data keeps the rules: each row is taken as if it had been drawn, and looked up among the values it might be.

use super::rules::{Kind, Rule, Site};
use super::{Allowed, Cell, Cells, ConstraintError, Moment, Place, Rules};
use crate::layout::{CategoryCodec, ContextKind, Layout, RowKind};
use crate::table::{SequenceTable, Values};

/// Rows that an error lists.
const MOST_LISTED: usize = 10;

/// A bound column and its cells.
struct Column<'r> {
    place: Place,
    site: &'r Site,
    cells: ColumnCells<'r>,
}

/// The cells of a column, made as they are looked at.
enum ColumnCells<'t> {
    Numbers(&'t [f64]),
    Labels {
        codes: &'t [u32],
        /// By code and, last, of a missing one.
        of_code: Vec<Cell>,
    },
}

impl ColumnCells<'_> {
    fn at(&self, row: usize) -> Cell {
        match self {
            ColumnCells::Numbers(numbers) => Cell::number(numbers[row]),
            ColumnCells::Labels { codes, of_code } => {
                of_code[(codes[row] as usize).min(of_code.len() - 1)]
            }
        }
    }
}

impl Rules {
    /// Every bound column.
    fn sites(&self) -> impl Iterator<Item = (Place, &Site)> {
        let context = self.context.iter().enumerate();
        let rows = self.rows.iter().enumerate();
        context
            .filter_map(|(at, site)| Some((Place::Context(at), site.as_ref()?)))
            .chain(rows.filter_map(|(at, site)| Some((Place::Row(at), site.as_ref()?))))
    }

    /// Whether every row of a table keeps every rule.
    /// # Errors
    /// [`ConstraintError::Broken`] for the first constraint that rows of the data break, with the rows.
    pub(crate) fn check_data(
        &self,
        table: &SequenceTable,
        layout: &Layout,
    ) -> Result<(), ConstraintError> {
        let inputs = self.columns(table, layout);
        let mut broken: Vec<Vec<usize>> = vec![Vec::new(); self.constraints.len()];
        for ends in table.offsets.windows(2) {
            let mut cells = Cells::new(layout);
            for row in ends[0]..ends[1] {
                for column in &inputs {
                    cells.set(column.place, column.cells.at(row));
                }
                let moment = Moment {
                    row: row - ends[0],
                    rows_after: Some(ends[1] - 1 - row),
                };
                for column in &inputs {
                    // What stands in the cell itself must not decide what may stand there.
                    cells.set(column.place, Cell::Unknown);
                    for rule in &column.site.rules {
                        let rows = &mut broken[rule.statement];
                        let is_new = rows.last() != Some(&row);
                        let cell = column.cells.at(row);
                        if rule.is_direct
                            && is_new
                            && !self.keeps(rule, column, cell, &cells, moment)
                        {
                            rows.push(row);
                        }
                    }
                    cells.set(column.place, column.cells.at(row));
                }
                cells.next_row();
            }
        }
        let first = broken.iter().position(|rows| !rows.is_empty());
        let Some(statement) = first else {
            return Ok(());
        };
        let mut rows: Vec<usize> = broken[statement]
            .iter()
            .map(|&row| table.row_number(row))
            .collect();
        rows.sort_unstable();
        Err(ConstraintError::Broken {
            constraint: self.constraints[statement].to_string(),
            count: rows.len(),
            rows: rows.into_iter().take(MOST_LISTED).collect(),
        })
    }

    fn keeps(
        &self,
        rule: &Rule,
        column: &Column,
        cell: Cell,
        cells: &Cells,
        moment: Moment,
    ) -> bool {
        let (place, site) = (column.place, column.site);
        if let Kind::Chain(chain) = rule.kind {
            let constraint = &self.constraints[rule.statement];
            return self.chains[chain].keeps(constraint, cells.previous(place), cell, moment);
        }
        let allowed = self.allowed_by(std::iter::once(rule), site, place, cells, moment);
        match (allowed, cell) {
            (Allowed::Exactly(wanted), Cell::Number(value)) => {
                let size = wanted.abs().max(value.abs());
                wanted.is_nan() || (wanted - value).abs() <= site.tolerance(size)
            }
            (Allowed::Exactly(_), Cell::Missing) => true,
            (allowed, cell) => allowed.contains(cell),
        }
    }

    /// The columns of a table that rules bind or look at.
    fn columns<'r>(&'r self, table: &'r SequenceTable, layout: &Layout) -> Vec<Column<'r>> {
        self.sites()
            .map(|(place, site)| Column {
                place,
                site,
                cells: column_cells(&table.columns[site.column], category(layout, place)),
            })
            .collect()
    }
}

fn category(layout: &Layout, place: Place) -> Option<&CategoryCodec> {
    match place {
        Place::Context(at) => match &layout.context.get(at)?.kind {
            ContextKind::Category(codec) => Some(codec),
            ContextKind::Number { .. } => None,
        },
        Place::Row(at) => match &layout.rows.get(at)?.kind {
            RowKind::Category(codec) => Some(codec),
            RowKind::Number(_) => None,
        },
    }
}

fn column_cells<'t>(values: &'t Values, codec: Option<&CategoryCodec>) -> ColumnCells<'t> {
    let (codes, labels) = match values {
        Values::Numbers(numbers) => return ColumnCells::Numbers(numbers),
        Values::Labels { codes, labels } => (codes, labels),
    };
    let class = |code: u32| u32::try_from(codec?.class(code, labels)?).ok();
    ColumnCells::Labels {
        codes,
        of_code: (0..)
            .take(labels.len() + 1)
            // A protected category is never drawn, so no rule need know it.
            .map(|code| class(code).map_or(Cell::Unknown, Cell::Class))
            .collect(),
    }
}
