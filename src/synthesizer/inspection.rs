//! What a fitted model says of itself: where it comes from, its options, its losses.
//! In: a model. Out: plain structs, frames, and a page with the curves of the losses.

use super::ParSynthesizer;
use super::persistence::device_name;
use crate::charts::loss_page;
use crate::error::{Error, Result};
use crate::files::write_text;
use crate::health::Versions;
use crate::info::{FitParameters, SynthesizerInfo, rfc_3339};
use crate::report::EpochLoss;
use crate::table::{Role, TableError};
use polars::prelude::{Column, DataFrame};
use std::path::Path;

impl ParSynthesizer {
    /// When and by which versions the model was fitted, how much it was fitted to, and where it is now.
    ///
    /// ```
    /// # use parsynth::{Metadata, ParSynthesizer, read_csv};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// # let synthesizer = ParSynthesizer::builder(metadata).context_columns(["region"]).epochs(0).fit(&data)?;
    /// let info = synthesizer.info();
    /// assert_eq!((info.rows, info.columns), (data.height(), data.width()));
    /// println!("{info}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn info(&self) -> SynthesizerInfo {
        SynthesizerInfo {
            created: rfc_3339(self.provenance.created),
            fitted: rfc_3339(self.provenance.fitted),
            fitted_by: self.provenance.fitted_by.clone(),
            running: Versions::running(),
            sequences: self.report.sequences,
            segments: self.report.segments,
            rows: self.report.rows,
            columns: self.schema.columns.len(),
            weights: self.report.weights,
            device: device_name(self.locked().device()),
            file_bytes: self.file_bytes,
            warnings: self.report.warnings.clone(),
        }
    }

    /// The matrix products that one row of each of `rows` sequences takes, as `[matrices, rows, inner, columns]`: what
    /// the bench `limits` measures the floor of sampling by.
    #[doc(hidden)]
    #[must_use]
    pub fn products_of_a_step(&self, rows: usize) -> Vec<[i64; 4]> {
        self.locked()
            .sequence_shape
            .products(crate::model::long(rows))
    }

    /// Every option of the fit with the value that it had.
    ///
    /// ```
    /// # use parsynth::{Metadata, ParSynthesizer, read_csv};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// let synthesizer = ParSynthesizer::builder(metadata).context_columns(["region"]).epochs(0).fit(&data)?;
    /// let parameters = synthesizer.parameters();
    /// assert_eq!(parameters.context_columns, ["region"]);
    /// assert_eq!(parameters.epochs, Some(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn parameters(&self) -> FitParameters {
        let is_context = |role: Role| role == Role::Context;
        let columns = self.schema.columns.iter();
        let context = columns.filter(|column| is_context(column.role));
        FitParameters::new(
            context.map(|column| column.name.clone()).collect(),
            &self.options,
        )
    }

    /// The losses of the fit, a row for each network and epoch: mean negative log-likelihoods in nats, as
    /// [`EpochLoss`] says.
    ///
    /// | column | dtype | what |
    /// |---|---|---|
    /// | `network` | `String` | `context`, whose losses are per sequence, or `sequence`, per row |
    /// | `epoch` | `UInt64` | from 1 |
    /// | `training_loss` | `Float64` | on the sequences learned from, with dropout |
    /// | `validation_loss` | `Float64` | on those held out; null in epochs that do not validate |
    /// | `learning_rate` | `Float64` | at the epoch's last step |
    ///
    /// ```
    /// # use parsynth::{Metadata, ParSynthesizer, read_csv};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// # let synthesizer = ParSynthesizer::builder(metadata).context_columns(["region"]).epochs(2).fit(&data)?;
    /// assert_eq!(synthesizer.loss_values()?.height(), 2 * 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// # Errors
    /// [`Error::Table`] when polars refuses the frame.
    pub fn loss_values(&self) -> Result<DataFrame> {
        let losses = &self.report.losses;
        let rate: Vec<f64> = losses.iter().map(|loss| loss.learning_rate).collect();
        let mut columns = Self::networks_and_epochs(losses.iter());
        let training: Vec<f64> = losses.iter().map(|loss| loss.training_nats).collect();
        let validation: Vec<Option<f64>> = losses.iter().map(|loss| loss.validation_nats).collect();
        columns.extend([
            Column::new("training_loss".into(), training),
            Column::new("validation_loss".into(), validation),
            Column::new("learning_rate".into(), rate),
        ]);
        Ok(DataFrame::new_infer_height(columns).map_err(TableError::from)?)
    }

    /// The losses of the fit by column, a row for each network, epoch and column of the table: `network`, `epoch`,
    /// `column`, `training_loss`, `validation_loss`, as in [`loss_values`](ParSynthesizer::loss_values). `(length)`,
    /// `(start)`, `(time of day)`, `(ends with table)` and `(gap)` are the parts of length and sequence index.
    /// # Errors
    /// [`Error::Table`] when polars refuses the frame.
    pub fn loss_values_by_column(&self) -> Result<DataFrame> {
        let losses = &self.report.losses;
        let repeated = losses
            .iter()
            .flat_map(|loss| std::iter::repeat_n(loss, loss.training_nats_per_column.len()));
        let mut columns = Self::networks_and_epochs(repeated);
        let training = || {
            losses
                .iter()
                .flat_map(|loss| &loss.training_nats_per_column)
        };
        let names: Vec<&str> = training().map(|(name, _)| name.as_str()).collect();
        let validation: Vec<Option<f64>> = losses
            .iter()
            .flat_map(|loss| {
                let held_out = loss.validation_nats_per_column.as_deref();
                (0..loss.training_nats_per_column.len())
                    .map(move |at| held_out.and_then(|nats| Some(nats.get(at)?.1)))
            })
            .collect();
        columns.extend([
            Column::new("column".into(), names),
            Column::new(
                "training_loss".into(),
                training().map(|(_, nats)| *nats).collect::<Vec<f64>>(),
            ),
            Column::new("validation_loss".into(), validation),
        ]);
        Ok(DataFrame::new_infer_height(columns).map_err(TableError::from)?)
    }

    fn networks_and_epochs<'l>(losses: impl Iterator<Item = &'l EpochLoss>) -> Vec<Column> {
        let (networks, epochs): (Vec<String>, Vec<u64>) = losses
            .map(|loss| (loss.stage.to_string(), loss.epoch as u64))
            .unzip();
        vec![
            Column::new("network".into(), networks),
            Column::new("epoch".into(), epochs),
        ]
    }

    /// The curves of [`loss_values`](ParSynthesizer::loss_values) as one page of HTML, with the pictures as SVG in it:
    /// no network, no scripts.
    #[must_use]
    pub fn loss_values_plot(&self) -> String {
        loss_page(&self.report.losses)
    }

    /// Writes [`loss_values_plot`](ParSynthesizer::loss_values_plot) to a file; a sibling temporary file is renamed into
    /// place.
    /// # Errors
    /// [`Error::WritePlot`] when the file cannot be made.
    pub fn write_loss_values_plot(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        write_text(path, &self.loss_values_plot()).map_err(|source| Error::WritePlot {
            path: path.to_path_buf(),
            source,
        })
    }
}
