//! What is made up and not learned: ids and personal data, from all values seen.

use crate::codec::identifier::IdentifierCodec;
use crate::codec::personal::{Locale, PersonalCodec};
use crate::codec::spread::Spread;
use crate::metadata::{Metadata, SdType};
use crate::rng::Seed;
use crate::table::{Schema, SequenceTable, Values};

pub(super) fn fit_identifiers(
    schema: &Schema,
    table: &SequenceTable,
    seed: Seed,
) -> Vec<Option<IdentifierCodec>> {
    schema
        .columns
        .iter()
        .zip(&table.columns)
        .map(|(column, values)| match (values, &column.sdtype) {
            (Values::Labels { labels, .. }, SdType::Id { regex_format }) => {
                let regex_format = regex_format.as_deref();
                let hash_key = seed.hash_key();
                (!labels.is_empty()).then(|| IdentifierCodec::fit(labels, regex_format, hash_key))
            }
            _ => None,
        })
        .collect()
}

pub(super) fn fit_personal(
    metadata: &Metadata,
    schema: &Schema,
    table: &SequenceTable,
    locales: &[Locale],
    seed: Seed,
) -> Vec<Option<PersonalCodec>> {
    let unique = metadata.unique_columns();
    schema
        .columns
        .iter()
        .zip(&table.columns)
        .map(|(column, values)| match (values, &column.sdtype) {
            (Values::Labels { labels, .. }, SdType::Personal { kind, .. }) => {
                let is_unique = unique.contains(&column.name.as_str());
                let hash_key = seed.hash_key();
                (!labels.is_empty()).then(|| {
                    let storage = &column.storage;
                    PersonalCodec::fit(*kind, labels, storage, is_unique, locales, hash_key)
                })
            }
            _ => None,
        })
        .collect()
}

pub(super) fn fit_spreads(
    metadata: &Metadata,
    schema: &Schema,
    table: &SequenceTable,
) -> Vec<Spread> {
    let unique = metadata.unique_columns();
    let has_long = table.lengths().iter().any(|&length| length > 1);
    schema
        .columns
        .iter()
        .zip(&table.columns)
        .map(|(column, values)| match (values, &column.sdtype) {
            (Values::Labels { codes, .. }, SdType::Id { .. } | SdType::Personal { .. }) => {
                let is_id = matches!(column.sdtype, SdType::Id { .. });
                let may_be_constant = !unique.contains(&column.name.as_str())
                    // Sequences of one row do not tell; ids of rows are the rule, names of rows are not.
                    && (has_long || !is_id);
                Spread::fit(codes, &table.offsets, may_be_constant)
            }
            _ => Spread::FULL,
        })
        .collect()
}

/// A line for each personal column of which the data has every value, so that they come out.
pub(super) fn exhausted(schema: &Schema, personal: &[Option<PersonalCodec>]) -> Vec<String> {
    let columns = schema.columns.iter().zip(personal);
    columns
        .filter(|(_, codec)| codec.as_ref().is_some_and(|codec| codec.is_exhausted))
        .map(|(column, _)| {
            format!(
                "column `{}` has every {} that can be made up in these locales, so they come out again: add a locale, or state it as unknown, if that is not wanted",
                column.name,
                column.sdtype.name()
            )
        })
        .collect()
}
