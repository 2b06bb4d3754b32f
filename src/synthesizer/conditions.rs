//! Sequences for given values of context columns, so many each.
//! In: [`Condition`]s. Out: their sequences, one condition after the other.

use super::{Given, ParSynthesizer, refuse_amount};
use crate::decode::GivenIdentifier;
use crate::error::{Error, Result};
use crate::layout::{ContextColumn, ContextKind, ContextSource};
use crate::params::OptionError;
use crate::sample::GivenColumn;
use crate::sampling::{Condition, SampleOptions};
use crate::table::{ContextRows, Label};
use polars::prelude::{DataFrame, IdxSize};

impl ParSynthesizer {
    /// New sequences for each condition, as many as it asks for, in the order of the conditions. What a condition leaves
    /// open is drawn given what it says.
    ///
    /// ```
    /// # use parsynth::{Condition, Metadata, ParSynthesizer, read_csv};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// # let synthesizer = ParSynthesizer::builder(metadata).context_columns(["region"]).epochs(0).fit(&data)?;
    /// let conditions = [
    ///     Condition::sequences(3).with("region", "New York"),
    ///     Condition::sequences(1).with("region", "California"),
    /// ];
    /// let synthetic = synthesizer.sample_from_conditions(&conditions)?;
    /// let regions = synthetic.column("region")?.str()?;
    /// // Every store has seven rows.
    /// assert_eq!((regions.get(20), regions.get(21)), (Some("New York"), Some("California")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// # Errors
    /// [`Error::Option`] for a condition of no sequences; [`Error::Table`] for a column that is no context column, or a
    /// value that its dtype cannot hold; [`Error::UnseenCategory`], [`Error::ProtectedCategory`] and
    /// [`Error::UnseenMissing`] for values that training never saw or hides: `row` is the condition's place, from 0.
    pub fn sample_from_conditions(&self, conditions: &[Condition]) -> Result<DataFrame> {
        self.sample_from_conditions_with(conditions, &SampleOptions::default())
    }

    /// New sequences for each condition, as the options say, which begin with `SampleOptions::default()`.
    ///
    /// ```
    /// # use parsynth::{Condition, Metadata, ParSynthesizer, SampleOptions, read_csv};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// # let synthesizer = ParSynthesizer::builder(metadata).context_columns(["region"]).epochs(0).fit(&data)?;
    /// let wanted = [Condition::sequences(3).with("region", "New York")];
    /// let months = SampleOptions::default().length(30).seed(7);
    /// assert_eq!(synthesizer.sample_from_conditions_with(&wanted, &months)?.height(), 3 * 30);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// # Errors
    /// As [`ParSynthesizer::sample_from_conditions`]; [`Error::Option`] also for any option outside its range, and when
    /// the options ask for a number of sequences or rows, which the conditions decide.
    pub fn sample_from_conditions_with(
        &self,
        conditions: &[Condition],
        options: &SampleOptions,
    ) -> Result<DataFrame> {
        let (given, sequences) = self.given_by_conditions(conditions, options)?;
        self.run(options, given, Some(sequences))
    }

    /// What conditions say of the sequences they ask for.
    pub(super) fn given_by_conditions(
        &self,
        conditions: &[Condition],
        options: &SampleOptions,
    ) -> Result<(Given, usize)> {
        refuse_amount(
            options,
            "SampleOptions::default(): the conditions decide how many",
        )?;
        let shared_ends = ends(conditions)?;
        let sequences = shared_ends.last().copied().unwrap_or(0);
        let given = Given {
            shared_ends,
            ..self.given_by(conditions)?
        };
        Ok((given, sequences))
    }

    /// Conditions under which every category of a context column comes as often as any other: for giving rare ones more
    /// weight than they have in the data. Missing is no category, and categories that value protection hides are left
    /// out, since they never come out.
    ///
    /// ```
    /// # use parsynth::{Metadata, ParSynthesizer, read_csv};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// # let synthesizer = ParSynthesizer::builder(metadata).context_columns(["region"]).epochs(0).fit(&data)?;
    /// let conditions = synthesizer.balanced_conditions("region", 20)?;
    /// assert_eq!(conditions.len(), 2);
    /// assert_eq!(synthesizer.sample_from_conditions(&conditions)?.height(), 2 * 20 * 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// # Errors
    /// [`Error::Table`] for a column that is no context column; [`Error::Option`] for one without categories, and for 0
    /// sequences.
    pub fn balanced_conditions(
        &self,
        column: &str,
        sequences_per_category: usize,
    ) -> Result<Vec<Condition>> {
        let position = self.schema.context_column(column)?;
        let at = ContextSource::Column(position);
        let codec = self
            .layout
            .context
            .iter()
            .find_map(|context| match context {
                ContextColumn {
                    source,
                    kind: ContextKind::Category(codec),
                } if *source == at => Some(codec),
                _ => None,
            });
        let Some(codec) = codec else {
            let sdtype = self.schema.columns[position].sdtype.name();
            return Err(Error::Option(OptionError {
                option: "column",
                found: format!("`{column}` of sdtype {sdtype}"),
                wanted: "a context column of categories".to_owned(),
            }));
        };
        let values = self.schema.polars_values(position, &codec.labels)?;
        let conditions: Vec<Condition> = values
            .into_iter()
            .map(|value| Condition::sequences(sequences_per_category).with(column, value))
            .collect();
        ends(&conditions)?;
        Ok(conditions)
    }

    /// What conditions say of the context, one value a condition.
    fn given_by(&self, conditions: &[Condition]) -> Result<Given> {
        let mut given = Given {
            context: vec![None; self.layout.context.len()],
            ..Given::default()
        };
        // Of identifiers, the labels before they are sorted.
        let mut identifiers: Vec<(usize, Vec<Option<Option<Label>>>)> = Vec::new();
        for (place, condition) in conditions.iter().enumerate() {
            for (column, value) in &condition.values {
                let row = ContextRows::from_value(column, value, &self.schema)?;
                let (context, own_identifiers) = self.given(&row, place)?;
                for (all, own) in given.context.iter_mut().zip(context) {
                    match own {
                        Some(GivenColumn::Classes(own)) => {
                            let all = all.get_or_insert_with(|| {
                                GivenColumn::Classes(vec![None; conditions.len()])
                            });
                            if let GivenColumn::Classes(all) = all {
                                all[place] = own.first().copied().flatten();
                            }
                        }
                        Some(GivenColumn::Numbers(own)) => {
                            let all = all.get_or_insert_with(|| {
                                GivenColumn::Numbers(vec![None; conditions.len()])
                            });
                            if let GivenColumn::Numbers(all) = all {
                                all[place] = own.first().copied().flatten();
                            }
                        }
                        None => {}
                    }
                }
                for own in own_identifiers {
                    let at = identifiers
                        .iter()
                        .position(|(column, _)| *column == own.column);
                    let at = at.unwrap_or_else(|| {
                        identifiers.push((own.column, vec![None; conditions.len()]));
                        identifiers.len() - 1
                    });
                    identifiers[at].1[place] = Some(own.labels.into_iter().next());
                }
            }
        }
        given.identifiers = identifiers
            .into_iter()
            .map(|(column, labels)| GivenIdentifier::of_labels(column, labels))
            .collect();
        Ok(given)
    }
}

/// Where the sequences of each condition end among all.
fn ends(conditions: &[Condition]) -> Result<Vec<usize>> {
    let most = IdxSize::MAX as usize;
    let mut ends = Vec::with_capacity(conditions.len());
    let mut end = 0_usize;
    for (place, condition) in conditions.iter().enumerate() {
        let sequences = condition.sequences;
        end = end.saturating_add(sequences);
        let wanted = match sequences {
            0 => "1 or more".to_owned(),
            _ if end >= most => format!("fewer than {most} in all"),
            _ => {
                ends.push(end);
                continue;
            }
        };
        return Err(Error::Option(OptionError {
            option: "sequences",
            found: format!("{sequences} in condition {place}"),
            wanted,
        }));
    }
    Ok(ends)
}
