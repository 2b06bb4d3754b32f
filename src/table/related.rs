//! A table of parents and one of children as one table of sequences, and back.
//! In: frames. Out: children with their parent's columns, which are constant for each key and so can be context; from
//! such a table, real or sampled, parents with one row a key, and their children.

mod error;

use std::collections::HashMap;

use polars::prelude::{Column, DataFrame, IdxSize, PlSmallStr};

use super::read::read;
use super::schema::fit_storage;
use super::{ColumnSchema, MISSING_CODE, Role, TableError, Values};
use crate::metadata::{SdType, nearest_name};
pub use error::{RelatedTable, RelatedTablesError};

type Result<T> = std::result::Result<T, RelatedTablesError>;

/// The key of each row: a code for each of its columns.
type Keys = Vec<Vec<u32>>;

/// What [`join_parent`] gives.
#[derive(Debug, Clone)]
pub struct JoinedTables {
    /// The children, in their order and with their columns, and after these the parent's columns without the key.
    pub joined: DataFrame,
    /// The parents, with their columns, that no child belongs to; a sequence needs a row, so they are not in `joined`,
    /// and a model of it does not know their keys.
    pub childless: DataFrame,
}

/// Joins to each child the columns of its parent, which every row of a key then shares: name them as
/// [`context_columns`](crate::ParSynthesizerBuilder::context_columns), and the key as the sequence key.
/// [`Metadata::join_parent`](crate::Metadata::join_parent) does the same for the metadata, [`split_parent`] undoes it.
///
/// The key is one column or several, of one dtype in both tables. Rows and columns keep their order and dtypes.
///
/// ```
/// use parsynth::{join_parent, split_parent};
/// use polars::df;
///
/// let patients = df!("sex" => ["f", "m", "f"], "patient" => [7, 8, 9])?;
/// let visits = df!("patient" => [8, 7, 8], "day" => [0, 0, 30])?;
/// let tables = join_parent(&visits, &patients, &["patient"])?;
/// assert!(tables.joined.equals(&df!("patient" => [8, 7, 8], "day" => [0, 0, 30], "sex" => ["m", "f", "m"])?));
/// assert!(tables.childless.equals(&patients.slice(2, 1)));
///
/// let (parents, children) = split_parent(&tables.joined, &["patient"], &["sex", "patient"])?;
/// assert!(parents.equals(&df!("sex" => ["m", "f"], "patient" => [8, 7])?));
/// assert!(children.equals(&visits));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
/// # Errors
/// [`RelatedTablesError`] naming table, column and row: no key, a key column that a table lacks or that has two dtypes, a
/// key that is missing, that two parents have or that is no parent's, and a column besides the key in both tables.
pub fn join_parent(
    children: &DataFrame,
    parents: &DataFrame,
    key: &[&str],
) -> Result<JoinedTables> {
    check_named_once(key)?;
    if key.is_empty() {
        return Err(RelatedTablesError::NoKey);
    }
    let (of_children, of_parents) = shared_keys(children, parents, key)?;
    if let Some(column) = names(parents)
        .find(|name| !key.contains(&name.as_str()) && names(children).any(|other| other == *name))
    {
        return Err(RelatedTablesError::InBoth {
            column: column.to_string(),
        });
    }
    let key_name = quoted(key);
    let mut parent_of: HashMap<&[u32], usize> = HashMap::with_capacity(of_parents.len());
    for (row, codes) in of_parents.iter().enumerate() {
        if let Some(first_row) = parent_of.insert(codes, row) {
            return Err(RelatedTablesError::RepeatedParent {
                key: key_name,
                first_row,
                row,
            });
        }
    }
    let found: Vec<Option<usize>> = of_children
        .iter()
        .map(|codes| parent_of.get(codes.as_slice()).copied())
        .collect();
    if let Some(row) = found.iter().position(Option::is_none) {
        return Err(RelatedTablesError::NoParent {
            key: key_name,
            row,
            rows: found.iter().filter(|parent| parent.is_none()).count(),
        });
    }
    let found: Vec<usize> = found.into_iter().flatten().collect();
    let mut has_child = vec![false; of_parents.len()];
    for &parent in &found {
        has_child[parent] = true;
    }
    let alone: Vec<usize> = (0..has_child.len())
        .filter(|&row| !has_child[row])
        .collect();
    let taken = places(&found);
    let mut columns = children.columns().to_vec();
    for column in parents.columns() {
        if !key.contains(&column.name().as_str()) {
            columns.push(column.take_slice(&taken).map_err(TableError::from)?);
        }
    }
    Ok(JoinedTables {
        joined: DataFrame::new(children.height(), columns).map_err(TableError::from)?,
        childless: rows_of(parents, &alone)?,
    })
}

/// Splits a table that [`join_parent`] made, or one that was sampled by a model of it, into parents and children:
/// `(parents, children)`. Parents have one row a key, in order of appearance, and the columns `parent_columns` in that
/// order (the key first, where it is not among them); children have the other columns, the key among them, in the
/// table's order. With the columns of the two tables that were joined, both come back with their order and dtypes, and
/// every child's key is a parent's.
/// # Errors
/// [`RelatedTablesError`] for a column that the table lacks or that is named twice, a missing key, and a parent's column
/// that is not the same in all rows of a key.
pub fn split_parent<S: AsRef<str>>(
    table: &DataFrame,
    key: &[&str],
    parent_columns: &[S],
) -> Result<(DataFrame, DataFrame)> {
    let mut of_parents: Vec<&str> = parent_columns.iter().map(AsRef::as_ref).collect();
    check_named_once(key)?;
    check_named_once(&of_parents)?;
    if key.is_empty() {
        return Err(RelatedTablesError::NoKey);
    }
    let lacking: Vec<&str> = key
        .iter()
        .copied()
        .filter(|key| !of_parents.contains(key))
        .collect();
    of_parents.splice(0..0, lacking);
    let keys = codes_of_key(table, RelatedTable::Joined, key)?;
    let mut first_of: HashMap<&[u32], usize> = HashMap::new();
    let mut first_rows = Vec::new();
    let firsts: Vec<usize> = keys
        .iter()
        .enumerate()
        .map(|(row, codes)| {
            *first_of.entry(codes).or_insert_with(|| {
                first_rows.push(row);
                row
            })
        })
        .collect();
    let mut columns = Vec::with_capacity(of_parents.len());
    for name in &of_parents {
        let column = find(table, RelatedTable::Joined, name)?;
        let codes = codes(column)?;
        if let Some(row) = (0..codes.len()).find(|&row| codes[row] != codes[firsts[row]]) {
            return Err(RelatedTablesError::ParentVaries {
                column: (*name).to_owned(),
                first_row: firsts[row],
                row,
            });
        }
        let column = column.take_slice(&places(&first_rows));
        columns.push(column.map_err(TableError::from)?);
    }
    let parents = DataFrame::new(first_rows.len(), columns).map_err(TableError::from)?;
    let of_children = |column: &&Column| {
        let name = column.name().as_str();
        key.contains(&name) || !of_parents.contains(&name)
    };
    let columns = table
        .columns()
        .iter()
        .filter(of_children)
        .cloned()
        .collect();
    let children = DataFrame::new(table.height(), columns).map_err(TableError::from)?;
    Ok((parents, children))
}

fn names(frame: &DataFrame) -> impl Iterator<Item = &PlSmallStr> {
    frame.columns().iter().map(|column| column.name())
}

fn quoted(key: &[&str]) -> String {
    let names: Vec<String> = key.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

fn check_named_once(columns: &[&str]) -> Result<()> {
    let repeated = (1..columns.len()).find(|&at| columns[..at].contains(&columns[at]));
    match repeated {
        None => Ok(()),
        Some(at) => Err(RelatedTablesError::NamedTwice {
            column: columns[at].to_owned(),
        }),
    }
}

fn find<'f>(frame: &'f DataFrame, table: RelatedTable, name: &str) -> Result<&'f Column> {
    frame
        .column(name)
        .map_err(|_| RelatedTablesError::UnknownColumn {
            table,
            column: name.to_owned(),
            nearest: nearest_name(name, names(frame).map(PlSmallStr::as_str)),
        })
}

/// The keys of both tables, row by row, in codes that are the same for the same key.
fn shared_keys(children: &DataFrame, parents: &DataFrame, key: &[&str]) -> Result<(Keys, Keys)> {
    let mut of_children = vec![Vec::with_capacity(key.len()); children.height()];
    let mut of_parents = vec![Vec::with_capacity(key.len()); parents.height()];
    for name in key {
        let (child, parent) = (
            find(children, RelatedTable::Children, name)?,
            find(parents, RelatedTable::Parents, name)?,
        );
        if child.dtype() != parent.dtype() {
            return Err(RelatedTablesError::KeyDtype {
                column: (*name).to_owned(),
                children: child.dtype().to_string(),
                parents: parent.dtype().to_string(),
            });
        }
        let mut both = child.clone();
        both.append(parent).map_err(TableError::from)?;
        let codes = codes(&both)?;
        let (child, parent) = codes.split_at(children.height());
        for (table, codes, rows) in [
            (RelatedTable::Children, child, &mut of_children),
            (RelatedTable::Parents, parent, &mut of_parents),
        ] {
            add_codes(table, name, codes, rows)?;
        }
    }
    Ok((of_children, of_parents))
}

fn codes_of_key(frame: &DataFrame, table: RelatedTable, key: &[&str]) -> Result<Keys> {
    let mut rows = vec![Vec::with_capacity(key.len()); frame.height()];
    for name in key {
        add_codes(table, name, &codes(find(frame, table, name)?)?, &mut rows)?;
    }
    Ok(rows)
}

fn add_codes(table: RelatedTable, name: &str, codes: &[u32], rows: &mut [Vec<u32>]) -> Result<()> {
    let missing = || codes.iter().filter(|&&code| code == MISSING_CODE).count();
    if let Some(row) = codes.iter().position(|&code| code == MISSING_CODE) {
        return Err(RelatedTablesError::MissingKey {
            table,
            column: name.to_owned(),
            row,
            rows: missing(),
        });
    }
    for (row, &code) in rows.iter_mut().zip(codes) {
        row.push(code);
    }
    Ok(())
}

/// A number for each row of a column that tells its values apart; missing cells have [`MISSING_CODE`].
fn codes(column: &Column) -> Result<Vec<u32>> {
    let name = column.name().as_str();
    let sdtype = SdType::Categorical;
    let schema = ColumnSchema {
        name: name.to_owned(),
        storage: fit_storage(column, name, &sdtype)?,
        sdtype,
        role: Role::Sequential,
        is_key: false,
        base: 0,
        step: 1,
    };
    Ok(match read(column, &schema)?.into_values(0, 1) {
        Values::Labels { codes, .. } => codes.to_vec(),
        Values::Numbers(_) => Vec::new(),
    })
}

fn places(rows: &[usize]) -> Vec<IdxSize> {
    // A frame has no more rows than IdxSize counts.
    rows.iter()
        .map(|&row| IdxSize::try_from(row).unwrap_or(IdxSize::MAX))
        .collect()
}

fn rows_of(frame: &DataFrame, rows: &[usize]) -> Result<DataFrame> {
    let places = places(rows);
    let columns = frame
        .columns()
        .iter()
        .map(|column| column.take_slice(&places))
        .collect::<polars::prelude::PolarsResult<Vec<Column>>>()
        .map_err(TableError::from)?;
    Ok(DataFrame::new(rows.len(), columns).map_err(TableError::from)?)
}
