//! Saving and loading.

/// Why a model file was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactError {}
