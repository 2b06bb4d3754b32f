//! Whether a table is one that a fitted model can read, and keeps its rules.

use super::ParSynthesizer;
use crate::error::Result;
use crate::table::{SequenceTable, validate};
use polars::frame::DataFrame;

impl ParSynthesizer {
    /// Looks for everything in a frame that keeps it from being read as the table that was fitted, for instance by
    /// [`log_likelihood`](Self::log_likelihood): what [`Metadata::validate_data`](crate::Metadata::validate_data) lists,
    /// dtypes that differ where that would lose something, and context columns that change within a sequence.
    /// # Errors
    /// [`Error::InvalidData`](crate::Error::InvalidData) with each problem.
    pub fn validate(&self, data: &DataFrame) -> Result<()> {
        let context: Vec<String> = self
            .schema
            .context()
            .into_iter()
            .filter(|&column| !self.schema.columns[column].is_key)
            .map(|column| self.schema.columns[column].name.clone())
            .collect();
        let fitted = Some(&self.schema);
        Ok(validate(data, &self.metadata, &context, fitted)?)
    }

    /// Looks for rows of a table that break a rule: sampled rows keep all of them, but a table that was edited since,
    /// or made elsewhere, may not. The frame is as [`log_likelihood`](Self::log_likelihood) takes it. Rules learn
    /// nothing new from it; a category that the model does not know breaks none.
    ///
    /// ```
    /// # use parsynth::{Constraint, Metadata, ParSynthesizer, Relation, read_csv};
    /// # use polars::df;
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// let builder = ParSynthesizer::builder(metadata).constraints([Constraint::positive("nb_customers")]);
    /// let synthesizer = builder.epochs(0).fit(&data)?;
    /// let mut synthetic = synthesizer.sample(1)?;
    /// synthesizer.validate_constraints(&synthetic)?;
    ///
    /// synthetic.replace("nb_customers", polars::prelude::Column::new("".into(), [5i64, 3, -1, 4, 2, 2, 9]))?;
    /// let error = synthesizer.validate_constraints(&synthetic).unwrap_err();
    /// let expected = "constraint `nb_customers` >= 0: 1 of the data's rows break it, first row 2";
    /// assert!(error.to_string().starts_with(expected));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// # Errors
    /// [`Error::Constraint`](crate::Error::Constraint) for the first constraint that rows break, with the rows;
    /// [`Error::Table`](crate::Error::Table) as [`log_likelihood`](Self::log_likelihood).
    pub fn validate_constraints(&self, data: &DataFrame) -> Result<()> {
        let mut table = SequenceTable::from_source(data, &self.schema)?;
        if let Some(rows) = self.options.segment_size {
            table = table.segmented(rows);
        }
        Ok(self.rules.check_data(&table, &self.layout)?)
    }
}
