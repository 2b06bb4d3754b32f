//! Saving, loading and moving a model, and its state of health.
//! In: a path or a device. Out: a file, or a model whose weights lie in one buffer on the device.

use super::{Model, ParSynthesizer, usable};
use crate::artifact::{self, Artifact};
use crate::constraint::Rules;
use crate::error::Result;
use crate::health::{Health, Versions};
use crate::layout::Layout;
use crate::rng::SeedSeries;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tch::{Device, Kind};

impl ParSynthesizer {
    /// Writes everything that was learned to one file: metadata, codecs, weights, report and options.
    ///
    /// The bytes go to a temporary file beside `path`, are synced, and are renamed into place, so `path` holds the whole
    /// new model or what it held before. Keys and ids of the training data are not in the file; categories and the
    /// exact values that recur in number columns are.
    ///
    /// ```
    /// # use parsynth::{Metadata, ParSynthesizer, SampleOptions, read_csv};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// # let synthesizer = ParSynthesizer::builder(metadata).context_columns(["region"]).epochs(0).fit(&data)?;
    /// # let path = std::env::temp_dir().join(format!("parsynth-save-{}.parsynth", std::process::id()));
    /// synthesizer.save(&path)?;
    /// let loaded = ParSynthesizer::load(&path)?;
    /// let options = SampleOptions::sequences(5).seed(7);
    /// assert!(loaded.sample_with(&options)?.equals_missing(&synthesizer.sample_with(&options)?));
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// # Errors
    /// [`Error::Artifact`](crate::Error::Artifact) when the folder is missing or cannot be written, or when a weight is
    /// not finite.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let (context, sequence, sizes) = {
            let model = self.locked();
            (
                model.context.values()?,
                model.sequence.values()?,
                model.sequence_shape.sizes,
            )
        };
        let artifact = Artifact {
            saved_by: Versions::running(),
            metadata: self.metadata.clone(),
            schema: self.schema.clone(),
            layout: Layout::clone(&self.layout),
            identifiers: self.identifiers.clone(),
            rules: Rules::clone(&self.rules),
            personal: self.personal.clone(),
            spreads: self.spreads.clone(),
            report: self.report.clone(),
            options: self.options.clone(),
            sizes,
            context,
            sequence,
            provenance: self.provenance.clone(),
        };
        Ok(artifact::write(path.as_ref(), &artifact)?)
    }

    /// Reads a model that [`ParSynthesizer::save`] wrote, onto the CPU.
    ///
    /// At equal seeds it samples what the saved model sampled on CPU, bit for bit on the same version and machine.
    ///
    /// ```
    /// # use parsynth::{Error, ParSynthesizer};
    /// let error = ParSynthesizer::load("data/stores.csv").unwrap_err();
    /// assert!(matches!(error, Error::Artifact(_)), "a table is no model");
    /// ```
    /// # Errors
    /// [`Error::Artifact`](crate::Error::Artifact) when the file is missing, is no model, is damaged, or was written in
    /// a later format.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Self::load_on(path, Device::Cpu)
    }

    /// Reads a model onto a device, whichever it was saved from.
    /// # Errors
    /// As [`ParSynthesizer::load`]; [`Error::Device`](crate::Error::Device) when the device cannot be used.
    pub fn load_on(path: impl AsRef<Path>, device: Device) -> Result<Self> {
        usable(device)?;
        let (artifact, file_bytes) = artifact::read(path.as_ref())?;
        let model = Model::new(
            &artifact.layout,
            artifact.sizes,
            &artifact.context,
            &artifact.sequence,
            device,
        )?;
        Ok(ParSynthesizer {
            metadata: artifact.metadata,
            schema: artifact.schema,
            layout: Arc::new(artifact.layout),
            identifiers: artifact.identifiers,
            rules: Arc::new(artifact.rules),
            personal: artifact.personal,
            spreads: artifact.spreads,
            report: artifact.report,
            options: artifact.options,
            saved_by: Some(artifact.saved_by),
            provenance: artifact.provenance,
            file_bytes: Some(file_bytes),
            model: Mutex::new(model),
            seeds: SeedSeries::fresh(),
        })
    }

    /// Moves the weights to a device, each network's as one buffer again. Sampling that runs meanwhile in other threads
    /// goes on where it began.
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) when the device cannot be used.
    pub fn to_device(&self, device: Device) -> Result<()> {
        usable(device)?;
        let mut model = self.locked();
        *model = model.on(device)?;
        Ok(())
    }

    /// Whether the weights lie in one buffer and are finite, where they are, and which versions saved and run them.
    /// # Errors
    /// [`Error::Model`](crate::Error::Model) when libtorch fails.
    pub fn health(&self) -> Result<Health> {
        let model = self.locked();
        Ok(Health {
            is_contiguous: model.context.is_contiguous()? && model.sequence.is_contiguous()?,
            is_finite: model.context.is_finite()? && model.sequence.is_finite()?,
            device: device_name(model.device()),
            saved_by: self.saved_by.clone(),
            running: Versions::running(),
        })
    }

    pub(super) fn locked(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Model {
    fn on(&self, device: Device) -> std::result::Result<Model, crate::model::ModelError> {
        Ok(Model {
            context: self.context.to(device, Kind::Float)?,
            sequence: self.sequence.to(device, Kind::Float)?,
            context_shape: self.context_shape.clone(),
            sequence_shape: self.sequence_shape.clone(),
        })
    }
}

pub(super) fn device_name(device: Device) -> String {
    match device {
        Device::Cpu => "cpu".to_owned(),
        Device::Cuda(number) => format!("cuda:{number}"),
        Device::Mps => "mps".to_owned(),
        Device::Vulkan => "vulkan".to_owned(),
    }
}

#[cfg(test)]
mod tests;
