//! A column that is read part by part, so that no more than a part of it lies in memory as polars holds it.
//! In: a source, and a column's name or the way it was fitted. Out: how it is to be read, or its cells, the same as if it
//! were read at once.

use polars::prelude::{Column, DataFrame, DataType};

use super::cells::{Cells, MISSING_WHOLE, Steps};
use super::read::read;
use super::schema::{fit_storage, role_and_sdtype};
use super::{ColumnSchema, Label, MISSING_CODE, Source, Storage, TableError};
use crate::metadata::{Metadata, PersonalKind, SdType};

/// Fits a column that stands alone.
pub(super) fn fit_column(
    column: &Column,
    metadata: &Metadata,
    context_columns: &[String],
) -> Result<ColumnSchema, TableError> {
    let alone = DataFrame::new_infer_height(vec![column.clone()])?;
    fit_parts(&alone, column.name(), metadata, context_columns)
}

/// Fits a column, reading no more than a part of it at a time where a part can tell.
pub(super) fn fit_parts(
    source: &impl Source,
    name: &str,
    metadata: &Metadata,
    context_columns: &[String],
) -> Result<ColumnSchema, TableError> {
    let is_context = context_columns.iter().any(|context| context == name);
    let (role, sdtype) = role_and_sdtype(metadata, name, is_context);
    let mut schema = ColumnSchema {
        name: name.to_owned(),
        storage: storage_of_parts(source, name, &sdtype)?,
        sdtype,
        role,
        is_key: metadata.is_key(name),
        base: 0,
        step: 1,
    };
    let mut steps = Steps::default();
    each_part(source, &schema, |cells| steps.add(&cells))?;
    (schema.base, schema.step) = steps.base_and_step();
    Ok(schema)
}

fn storage_of_parts(
    source: &impl Source,
    name: &str,
    sdtype: &SdType,
) -> Result<Storage, TableError> {
    let is_date = |dtype: &DataType| matches!(dtype, DataType::Date | DataType::Datetime(..));
    let is_of_dates = match sdtype {
        SdType::Datetime { .. } => true,
        SdType::Personal { kind, .. } => *kind == PersonalKind::DateOfBirth,
        _ => false,
    };
    let mut without_values = None;
    for part in source.parts(name)? {
        let part = part?;
        // The format of dates as text or digits is learned from all of them.
        if is_of_dates && !is_date(part.dtype()) {
            break;
        }
        if part.null_count() < part.len() {
            return fit_storage(&part, name, sdtype);
        }
        without_values.get_or_insert(part);
    }
    match without_values {
        Some(part) if !is_of_dates => fit_storage(&part, name, sdtype),
        _ => fit_storage(source.column(name)?.as_ref(), name, sdtype),
    }
}

/// Reads a column; whole numbers that are `settled` come in steps from the column's base.
pub(super) fn read_parts(
    source: &impl Source,
    column: &ColumnSchema,
    settled: impl Fn(Cells) -> Cells,
) -> Result<Cells, TableError> {
    let mut joined: Option<Joined> = None;
    each_part(source, column, |cells| {
        let cells = settled(cells);
        match &mut joined {
            None => joined = Some(Joined::new(cells)),
            Some(joined) => joined.push(cells, source.rows()),
        }
    })?;
    Ok(joined.map_or(Cells::Real(Vec::new()), Joined::cells))
}

/// Hands on the cells of each part in turn.
pub(super) fn each_part(
    source: &impl Source,
    column: &ColumnSchema,
    mut take: impl FnMut(Cells),
) -> Result<(), TableError> {
    let mut first_row = 0;
    for part in source.parts(&column.name)? {
        let part = part?;
        let cells = read(&part, column).map_err(|error| error.counted_from(first_row))?;
        first_row += part.len();
        take(cells);
    }
    Ok(())
}

/// The parts read so far.
struct Joined {
    cells: Cells,
    /// By part, its last row and its labels; none for numbers.
    labels: Vec<(usize, Vec<Label>)>,
}

impl Joined {
    fn new(mut cells: Cells) -> Joined {
        let labels = match &mut cells {
            Cells::Labels { codes, labels } => vec![(codes.len(), std::mem::take(labels))],
            Cells::Whole(_) | Cells::Real(_) => Vec::new(),
        };
        Joined { cells, labels }
    }

    /// Adds a part of a column of so many rows.
    fn push(&mut self, part: Cells, rows: usize) {
        match (&mut self.cells, part) {
            (Cells::Whole(all), Cells::Whole(part)) => extend(all, part, rows),
            (Cells::Real(all), Cells::Real(part)) => extend(all, part, rows),
            (Cells::Labels { codes, .. }, Cells::Labels { codes: own, labels }) => {
                extend(codes, own, rows);
                self.labels.push((codes.len(), labels));
            }
            // Some parts have whole numbers that only fit in full.
            (Cells::Whole(all), Cells::Real(part)) => extend(all, whole(&part), rows),
            (Cells::Real(all), Cells::Whole(part)) => {
                let mut whole = whole(all);
                extend(&mut whole, part, rows);
                self.cells = Cells::Whole(whole);
            }
            // One way of reading gives one kind of cells.
            (Cells::Labels { .. }, _) | (_, Cells::Labels { .. }) => {}
        }
    }

    fn cells(mut self) -> Cells {
        let Cells::Labels { codes, labels } = &mut self.cells else {
            return self.cells;
        };
        if let [(_, own)] = self.labels.as_mut_slice() {
            *labels = std::mem::take(own);
            return self.cells;
        }
        let mut known: Vec<&Label> = self.labels.iter().flat_map(|(_, own)| own).collect();
        known.sort_unstable();
        known.dedup();
        let mut first = 0;
        for (end, own) in &self.labels {
            let place = |label: &Label| {
                let place = known.binary_search(&label).ok();
                place.and_then(|place| u32::try_from(place).ok())
            };
            let places: Vec<Option<u32>> = own.iter().map(place).collect();
            for code in &mut codes[first..*end] {
                let place = places.get(*code as usize).copied().flatten();
                *code = place.unwrap_or(MISSING_CODE);
            }
            first = *end;
        }
        *labels = self.labels.into_iter().flat_map(|(_, own)| own).collect();
        labels.sort_unstable();
        labels.dedup();
        self.cells
    }
}

fn extend<T>(all: &mut Vec<T>, part: Vec<T>, rows: usize) {
    // All at once, or the list would be moved as it grows.
    all.reserve_exact(rows.saturating_sub(all.len()).max(part.len()));
    all.extend(part);
}

fn whole(reals: &[f64]) -> Vec<i128> {
    #[allow(clippy::cast_possible_truncation, reason = "they were whole numbers")]
    let whole = |&real: &f64| match real.is_nan() {
        true => MISSING_WHOLE,
        false => real as i128,
    };
    reals.iter().map(whole).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(parts: Vec<Cells>) -> Cells {
        let mut parts = parts.into_iter();
        let mut joined = Joined::new(parts.next().unwrap());
        parts.for_each(|part| joined.push(part, 9));
        joined.cells()
    }

    #[test]
    fn labels_of_parts_are_numbered_as_those_of_the_whole() {
        let text = |texts: &[&str]| -> Vec<Label> {
            let labels = texts.iter().map(|text| Label::Text((*text).to_owned()));
            labels.collect()
        };
        let part = |codes: &[u32], texts: &[&str]| Cells::Labels {
            codes: codes.to_vec(),
            labels: text(texts),
        };
        let parts = vec![
            part(&[1, 0, MISSING_CODE], &["b", "d"]),
            part(&[], &[]),
            part(&[0, 1, 2], &["a", "b", "c"]),
        ];
        let Cells::Labels { codes, labels } = joined(parts) else {
            panic!("labels were put in")
        };
        assert_eq!(labels, text(&["a", "b", "c", "d"]));
        assert_eq!(codes, [3, 1, MISSING_CODE, 0, 1, 2]);
    }

    #[test]
    fn whole_numbers_too_large_for_floats_in_one_part_keep_every_digit_of_all() {
        let large = (1 << 60) + 1;
        for parts in [
            vec![Cells::Real(vec![7.0, f64::NAN]), Cells::Whole(vec![large])],
            vec![Cells::Whole(vec![large]), Cells::Real(vec![7.0, f64::NAN])],
        ] {
            let Cells::Whole(mut cells) = joined(parts) else {
                panic!("whole numbers were put in")
            };
            cells.sort_unstable();
            assert_eq!(cells, [MISSING_WHOLE, 7, large]);
        }
    }
}
