//! The one way between host and device.
//! A step is given no [`Exchange`], so that it can neither send numbers to the device nor wait for any.

use crate::model::ModelError;
use std::cell::Cell;
use tch::{Device, Kind, Tensor};

/// Copies numbers to a device and back, and counts how often.
#[derive(Debug)]
pub(super) struct Exchange {
    device: Device,
    uploads: Cell<usize>,
    downloads: Cell<usize>,
}

impl Exchange {
    pub(super) fn new(device: Device) -> Exchange {
        Exchange {
            device,
            uploads: Cell::new(0),
            downloads: Cell::new(0),
        }
    }

    fn upload(&self, tensor: &Tensor, shape: &[i64]) -> Result<Tensor, ModelError> {
        self.uploads.set(self.uploads.get() + 1);
        Ok(tensor.f_view(shape)?.f_to_device(self.device)?)
    }

    pub(super) fn doubles(&self, values: &[f64], shape: &[i64]) -> Result<Tensor, ModelError> {
        self.upload(&Tensor::f_from_slice(values)?, shape)
    }

    pub(super) fn positions(&self, values: &[i64]) -> Result<Tensor, ModelError> {
        self.upload(&Tensor::f_from_slice(values)?, &[-1])
    }

    pub(super) fn flags(&self, values: &[bool], shape: &[i64]) -> Result<Tensor, ModelError> {
        self.upload(&Tensor::f_from_slice(values)?, shape)
    }

    /// A tensor's numbers on the host, row after row.
    pub(super) fn download(&self, tensor: &Tensor) -> Result<Vec<f64>, ModelError> {
        self.downloads.set(self.downloads.get() + 1);
        let tensor = tensor
            .f_to_device(Device::Cpu)?
            .f_to_kind(Kind::Double)?
            .f_contiguous()?;
        Ok(Vec::<f64>::try_from(tensor.f_view([-1])?)?)
    }

    /// How many copies went to the device, and how many came back.
    #[cfg(test)]
    pub(super) fn copies(&self) -> (usize, usize) {
        (self.uploads.get(), self.downloads.get())
    }
}
