//! Value protection around the layout: what it refuses, and what it tells the user.
//! In: a table, its schema and how many sequences must share a value. Out: the codecs, fitted to shared values, and
//! one line a column that says how much was protected, in counts.

use crate::error::{Error, Result};
use crate::layout::{ContextKind, ContextSource, Layout, NumberChoice, gap, numbers};
use crate::params::within;
use crate::protection::Protection;
use crate::table::{Label, Schema, SequenceTable, Values};

/// Moves each base, which is saved, from the smallest value seen to the smallest that may be told. Says whether one
/// was moved, after which the table has to be read again.
pub(super) fn move_bases(schema: &mut Schema, table: &SequenceTable, sequences: usize) -> bool {
    let protection = Protection::new(sequences);
    if !protection.is_on() {
        return false;
    }
    let owners = table.sequence_of_row();
    let mut is_moved = false;
    for (column, values) in schema.columns.iter_mut().zip(&table.columns) {
        let told = protection.clip(numbers(values), &owners);
        let smallest = told.iter().copied().fold(f64::INFINITY, f64::min);
        if column.base != 0 && smallest.is_finite() && smallest > 0.0 {
            #[allow(
                clippy::cast_possible_truncation,
                reason = "a whole number of steps within the dtype"
            )]
            let steps = smallest as i128;
            column.base += steps * column.step;
            is_moved = true;
        }
    }
    is_moved
}

/// Fits the codecs, to values that enough sequences share; there is a choice for each column.
/// # Errors
/// [`Error::Option`] when there are fewer sequences than that; [`Error::AllProtected`] and [`Error::NumbersProtected`]
/// for a column of which nothing may be told.
pub(super) fn layout(
    table: &SequenceTable,
    schema: &Schema,
    sequences: usize,
    choices: &[NumberChoice],
) -> Result<Layout> {
    // More sequences than there are share nothing.
    within(
        "value_protection",
        sequences,
        &(1..=table.whole_sequences().max(1)),
    )?;
    let protection = Protection::new(sequences);
    let owners = match protection.is_on() {
        true => table.sequence_of_row(),
        false => Vec::new(), // nothing is hidden
    };
    for (column, values) in schema.columns.iter().zip(&table.columns) {
        let holders = Protection::holders(numbers(values), &owners);
        if holders > 0 && protection.hides(holders) {
            return Err(Error::NumbersProtected {
                column: column.name.clone(),
                sequences: holders,
                protection: sequences,
            });
        }
    }
    drop(owners);
    let layout = Layout::fit(table, schema, protection, choices);
    for (column, codec) in layout.categories() {
        if let (Values::Labels { labels, .. }, true, true) = (
            &table.columns[column],
            codec.labels.is_empty(),
            codec.has_hidden,
        ) {
            return Err(Error::AllProtected {
                column: schema.columns[column].name.clone(),
                categories: labels.len(),
                protection: sequences,
            });
        }
    }
    Ok(layout)
}

/// How much was protected, a line a column and kind.
pub(super) fn warnings(
    schema: &Schema,
    table: &SequenceTable,
    layout: &Layout,
    sequences: usize,
) -> Vec<String> {
    let protection = Protection::new(sequences);
    if !protection.is_on() {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    for (column, codec) in layout.categories() {
        if let (Values::Labels { labels, .. }, true) = (&table.columns[column], codec.has_hidden) {
            warnings.push(format!(
                "column `{}`: {} of {} categories are seen in fewer than {sequences} sequences and never come out",
                schema.columns[column].name,
                labels.len() - codec.labels.len(),
                labels.len()
            ));
        }
    }
    let owners = table.sequence_of_row();
    for (position, column) in schema.columns.iter().enumerate() {
        let values = numbers(&table.columns[position]);
        let Some(codec) = layout.number_codec(position) else {
            continue;
        };
        let told = protection.clip(values, &owners);
        let clipped = changed(values, &told);
        let merged = told
            .iter()
            .filter(|&&value| !value.is_nan() && codec.listed(value) != value)
            .count();
        if clipped > 0 {
            warnings.push(format!(
                "column `{}`: {clipped} of {} values lie beyond what {sequences} sequences reach and are clipped",
                column.name,
                values.len()
            ));
        }
        if merged > 0 {
            warnings.push(format!(
                "column `{}`: {merged} of {} values are seen in fewer than {sequences} sequences and go to the nearest that more share",
                column.name,
                values.len()
            ));
        }
    }
    if let Some(column) = schema.sequence_index() {
        let name = &schema.columns[column].name;
        warnings.extend(index_warnings(name, column, table, layout, sequences));
    }
    let lengths: Vec<f64> = table
        .lengths()
        .iter()
        .map(|&length| length as f64)
        .collect();
    match changed(&lengths, &protection.clip(&lengths, &table.owners)) {
        0 => {}
        clipped => warnings.push(format!(
            "{clipped} of {} sequences are longer or shorter than what {sequences} sequences reach; lengths are clipped",
            lengths.len()
        )),
    }
    warnings
}

fn index_warnings(
    name: &str,
    column: usize,
    table: &SequenceTable,
    layout: &Layout,
    sequences: usize,
) -> Vec<String> {
    let protection = Protection::new(sequences);
    let Some(codec) = &layout.index else {
        return Vec::new();
    };
    let (mut starts, mut times) = (Vec::new(), Vec::new());
    let (mut gaps, mut owners) = (Vec::new(), Vec::new());
    for (&owner, ends) in table.owners.iter().zip(table.offsets.windows(2)) {
        let raw = &numbers(&table.columns[column])[ends[0]..ends[1]];
        let rows: Vec<f64> = raw.iter().map(|&value| codec.number(value)).collect();
        let (time, start) = codec.split(rows[0]);
        times.push(time);
        starts.push(start);
        gaps.extend(rows.windows(2).map(|pair| gap(pair[0], pair[1])));
        owners.extend(std::iter::repeat_n(owner, rows.len() - 1));
    }
    let mut warnings = Vec::new();
    for (what, values, owners) in [("starts", &starts, &table.owners), ("gaps", &gaps, &owners)] {
        match changed(values, &protection.clip(values, owners)) {
            0 => {}
            clipped => warnings.push(format!(
                "column `{name}`: {clipped} of {} {what} lie beyond what {sequences} sequences reach and are clipped",
                values.len()
            )),
        }
    }
    if let Some(position) = layout.context_position(ContextSource::TimeOfDay)
        && let ContextKind::Category(codec) = &layout.context[position].kind
        && codec.has_hidden
    {
        let is_hidden = |time: &&f64| codec.labels.binary_search(&Label::Float(**time)).is_err();
        warnings.push(format!(
            "column `{name}`: {} of {} sequences start at a time of day that fewer than {sequences} share, which never comes out",
            times.iter().filter(is_hidden).count(),
            times.len()
        ));
    }
    warnings
}

/// How many values were moved.
fn changed(values: &[f64], told: &[f64]) -> usize {
    values
        .iter()
        .zip(told)
        .filter(|(value, told)| !value.is_nan() && told != value)
        .count()
}
