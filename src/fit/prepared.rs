//! Everything that a fit does before it trains.
//! In: the builder's options and a table. Out: the table in sequences, its codecs and its rules.

use super::{ParSynthesizerBuilder, distributions, protected};
use crate::codec::personal::Locale;
use crate::constraint::{Constraint, Rules, input_depths, reference_pairs};
use crate::error::Result;
use crate::layout::{Layout, NumberChoice, ReferencePair, subtract};
use crate::metadata::{did_you_mean, nearest_name};
use crate::params::{LARGE_HIDDEN_SIZE, OptionError, SMALL_TABLE_ROWS, ValidFitOptions};
use crate::rng::Seed;
use crate::synthesizer::usable;
use crate::table::{Schema, SequenceTable, Source, Store};

/// A table that was read and understood, ready to train on.
pub(super) struct Prepared {
    pub(super) options: ValidFitOptions,
    pub(super) locales: Vec<Locale>,
    pub(super) seed: Seed,
    pub(super) schema: Schema,
    pub(super) table: SequenceTable,
    /// What is learned from, where it is not the table itself: segments, distances.
    pub(super) learned: Option<SequenceTable>,
    pub(super) layout: Layout,
    pub(super) rules: Rules,
}

impl Prepared {
    pub(super) fn learned(&self) -> &SequenceTable {
        self.learned.as_ref().unwrap_or(&self.table)
    }
}

impl ParSynthesizerBuilder {
    /// Everything that a fit does before it trains.
    pub(super) fn prepare(&self, data: &impl Source) -> Result<Prepared> {
        let is_size_given = self.options.hidden_size.is_some();
        let mut options = self.options.clone().check()?;
        let locales = checked_locales(&self.locales)?;
        usable(self.device)?;
        let mut schema = Schema::fit(data, &self.metadata, &self.context_columns)?;
        let store = self.store(data.rows(), &schema);
        let mut table = SequenceTable::kept(data, &schema, &store)?;
        if !is_size_given && table.rows() >= SMALL_TABLE_ROWS {
            options.hidden_size = LARGE_HIDDEN_SIZE;
        }
        if protected::move_bases(&mut schema, &table, options.value_protection) {
            table = SequenceTable::kept(data, &schema, &store)?;
        }
        let choices = distributions::choices(&table, &schema, &options)?;
        let segments = options
            .segment_size
            .map(|rows| table.clone().segmented(rows));
        let cut = segments.as_ref().unwrap_or(&table);
        let constraints = self.constraints.clone();
        let (layout, rules, told) =
            codecs(constraints, &schema, (cut, &store), &options, &choices)?;
        Ok(Prepared {
            seed: Seed::new(options.seed),
            options,
            locales,
            schema,
            learned: told.or(segments),
            table,
            layout,
            rules,
        })
    }

    /// Where a table of so many rows is kept.
    fn store(&self, rows: usize, schema: &Schema) -> Store {
        let folder = self.temporary_directory.clone();
        let folder = folder.unwrap_or_else(std::env::temp_dir);
        Store::for_table(rows, schema, self.max_table_memory, folder)
    }
}

/// The layout and the rules of a table, and the table with distances where some of its columns are told by them.
fn codecs(
    constraints: Vec<Constraint>,
    schema: &Schema,
    (table, store): (&SequenceTable, &Store),
    options: &ValidFitOptions,
    choices: &[NumberChoice],
) -> Result<(Layout, Rules, Option<SequenceTable>)> {
    let pairs = if options.value_protection > 1 {
        // The bounds of a distance would not bound the value.
        Vec::new()
    } else {
        let mut pairs = reference_pairs(&constraints, schema);
        pairs.extend(ReferencePair::of_dates(schema));
        // What was chosen for a column is about its values.
        pairs.retain(|pair| choices[pair.column].is_default());
        ReferencePair::choose(&pairs, schema, table)
    };
    let references = pairs
        .iter()
        .map(|pair| (pair.column, pair.reference(&pairs, schema, table)))
        .collect();
    let mut told = None;
    if !pairs.is_empty() {
        let told = told.insert(table.clone());
        subtract(pairs.iter().copied(), schema, told, store)?;
    }
    let modelled = told.as_ref().unwrap_or(table);
    let mut layout = protected::layout(modelled, schema, options.value_protection, choices)?;
    layout.refer(references);
    layout.place_after_inputs(&input_depths(&constraints, &pairs, schema)?);
    // Rules are about the values themselves.
    let rules = Rules::fit(constraints, schema, table, &layout)?;
    Ok((layout, rules, told))
}

fn checked_locales(names: &[String]) -> std::result::Result<Vec<Locale>, OptionError> {
    let known = || Locale::ALL.iter().map(|locale| locale.name());
    let wrong = |found: String, nearest: Option<String>| OptionError {
        option: "locales",
        found,
        wanted: format!(
            "one or more of {}{}",
            known().collect::<Vec<_>>().join(", "),
            did_you_mean(nearest.as_deref())
        ),
    };
    if names.is_empty() {
        return Err(wrong("empty".to_owned(), None));
    }
    let check = |name: &String| {
        Locale::from_name(name)
            .ok_or_else(|| wrong(format!("`{name}`"), nearest_name(name, known())))
    };
    let mut locales = Vec::new();
    for locale in names.iter().map(check) {
        let locale = locale?;
        if !locales.contains(&locale) {
            locales.push(locale);
        }
    }
    Ok(locales)
}
