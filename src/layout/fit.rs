//! How the layout is learned from a table: one codec a column, and which columns are told by their changes.

use super::changes::{fit_gap, fit_number_column, told, unit};
use super::{
    CategoryCodec, ContextColumn, ContextKind, ContextSource, Layout, RowColumn, RowKind,
    RowSource, numbers,
};
use crate::codec::calendar::{IndexCodec, TimeUnit};
use crate::codec::number::{KnotPlacement, NumberCodec, NumberOptions, NumberScale};
use crate::distribution::NumericalDistribution;
use crate::protection::Protection;
use crate::table::{Label, MISSING_CODE, Schema, SequenceTable, Values};

/// How one column of numbers is to be learned.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NumberChoice {
    pub(crate) distribution: NumericalDistribution,
    /// Whether values come back as drawn, and not on the grid that they were written on.
    pub(crate) is_unrounded: bool,
}

impl NumberChoice {
    /// Whether nothing was chosen.
    pub(crate) fn is_default(self) -> bool {
        self.distribution == NumericalDistribution::Learned && !self.is_unrounded
    }

    pub(super) fn options(
        self,
        same_share: f64,
        placement: KnotPlacement,
        protection: Protection,
    ) -> NumberOptions {
        NumberOptions {
            same_share,
            placement,
            protection,
            distribution: self.distribution,
            is_rounded: !self.is_unrounded || self.distribution == NumericalDistribution::Counts,
        }
    }
}

impl Layout {
    /// Fits every codec to a table; there is a choice for each column of the schema.
    pub(crate) fn fit(
        table: &SequenceTable,
        schema: &Schema,
        protection: Protection,
        choices: &[NumberChoice],
    ) -> Layout {
        let index = schema.sequence_index().map(|column| {
            let unit = schema
                .seconds_per_raw_unit(column)
                .map(|seconds_per_raw_unit| TimeUnit {
                    seconds_per_raw_unit,
                    base: schema.columns[column].base,
                    step: schema.columns[column].step,
                    least_gap: schema.columns[column].least_gap(),
                });
            IndexCodec::fit(
                numbers(&table.columns[column]),
                &table.offsets,
                &table.owners,
                unit,
                protection,
            )
        });
        let numbers_of_index = schema
            .sequence_index()
            .zip(index.as_ref())
            .map(|(column, codec)| codec.numbers(numbers(&table.columns[column])));
        let mut starts = Vec::new();
        let mut rows = Vec::new();
        if let (Some(codec), Some(values)) = (&index, numbers_of_index) {
            let values = &*values;
            starts.extend(fit_start(codec, values, table, protection));
            rows.push(RowColumn {
                source: RowSource::Gap,
                kind: RowKind::Number(Box::new(fit_gap(
                    values,
                    table,
                    codec.least_gap(),
                    protection,
                ))),
                reference: None,
            });
        }
        let sequence_of_row = table.sequence_of_row();
        let mut context: Vec<ContextColumn> = schema
            .context()
            .into_iter()
            .filter(|&column| !schema.columns[column].sdtype.is_made_up())
            .map(|column| {
                let choice = choices[column];
                fit_context_column(table, column, &sequence_of_row, protection, choice)
            })
            .collect();
        context.extend(starts);
        let lengths: Vec<f64> = table.lengths().iter().map(|&n| n as f64).collect();
        context.push(ContextColumn {
            source: ContextSource::Length,
            kind: fit_context_number(
                &lengths,
                &table.owners,
                KnotPlacement::Midpoints,
                protection,
                NumberChoice::default(),
            ),
        });
        rows.extend(
            schema
                .sequential()
                .into_iter()
                .filter(|&column| !schema.columns[column].sdtype.is_made_up())
                .map(|column| RowColumn {
                    source: RowSource::Column(column),
                    reference: None,
                    kind: match &table.columns[column] {
                        Values::Labels { codes, labels } => RowKind::Category(CategoryCodec::fit(
                            codes,
                            labels,
                            &sequence_of_row,
                            protection,
                        )),
                        Values::Numbers(values) => RowKind::Number(Box::new(fit_number_column(
                            values,
                            &table.offsets,
                            &sequence_of_row,
                            protection,
                            choices[column],
                        ))),
                    },
                }),
        );
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a length that was seen"
        )]
        let longest = protection
            .clip(&lengths, &table.owners)
            .iter()
            .fold(1.0_f64, |longest, &length| longest.max(length)) as usize;
        Layout {
            context,
            rows,
            index,
            longest,
        }
    }
}

fn first_rows(values: &[f64], table: &SequenceTable) -> Vec<f64> {
    table.offsets[..table.sequences()]
        .iter()
        .map(|&row| values[row])
        .collect()
}

fn fit_context_number(
    values: &[f64],
    owners: &[u32],
    placement: KnotPlacement,
    protection: Protection,
    choice: NumberChoice,
) -> ContextKind {
    let values = &*protection.clip(values, owners);
    let codec = NumberCodec::fit(values, owners, choice.options(0.0, placement, protection));
    let unit = unit(values, choice);
    let scale = NumberScale::fit_in(&told(&codec, values, protection), 0.0, placement, unit);
    ContextKind::Number { codec, scale }
}

fn fit_context_column(
    table: &SequenceTable,
    column: usize,
    sequence_of_row: &[u32],
    protection: Protection,
    choice: NumberChoice,
) -> ContextColumn {
    let kind = match &table.columns[column] {
        Values::Labels { codes, labels } => ContextKind::Category(CategoryCodec::fit(
            codes,
            labels,
            sequence_of_row,
            protection,
        )),
        Values::Numbers(values) => fit_context_number(
            &first_rows(values, table),
            &table.owners,
            KnotPlacement::Smoothed,
            protection,
            choice,
        ),
    };
    ContextColumn {
        source: ContextSource::Column(column),
        kind,
    }
}

fn fit_start(
    index: &IndexCodec,
    values: &[f64],
    table: &SequenceTable,
    protection: Protection,
) -> Vec<ContextColumn> {
    let (times, starts): (Vec<f64>, Vec<f64>) = first_rows(values, table)
        .iter()
        .map(|&v| index.split(v))
        .unzip();
    let mut columns = Vec::new();
    if index.splits_time_of_day {
        let mut labels: Vec<Label> = times.iter().copied().map(Label::Float).collect();
        labels.sort();
        labels.dedup();
        let code = |time: &f64| {
            let at = labels.binary_search(&Label::Float(*time)).ok();
            at.and_then(|at| u32::try_from(at).ok())
                .unwrap_or(MISSING_CODE)
        };
        let codes: Vec<u32> = times.iter().map(code).collect();
        let kind = ContextKind::Category(CategoryCodec::fit(
            &codes,
            &labels,
            &table.owners,
            protection,
        ));
        columns.push(ContextColumn {
            source: ContextSource::TimeOfDay,
            kind,
        });
    }
    // A start never falls into a season in which no sequence starts, unless it must not tell when single ones did.
    let placement = if protection.is_on() {
        KnotPlacement::Smoothed
    } else {
        KnotPlacement::Tight
    };
    columns.push(ContextColumn {
        source: ContextSource::Start,
        kind: fit_context_number(
            &starts,
            &table.owners,
            placement,
            protection,
            NumberChoice::default(),
        ),
    });
    if index.is_censored {
        let labels = vec![Label::Boolean(false), Label::Boolean(true)];
        let kind = ContextKind::Category(CategoryCodec {
            labels,
            has_missing: false,
            has_hidden: false,
        });
        columns.push(ContextColumn {
            source: ContextSource::EndsWithTable,
            kind,
        });
    }
    columns
}
