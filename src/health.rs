//! What a model says about itself: where its weights lie, and which versions made and run it.

use serde::Serialize;

/// Versions of the crate and of the libtorch it was built on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Versions {
    /// Version of this crate.
    pub parsynth: String,
    /// Version of libtorch.
    pub libtorch: String,
}

impl Versions {
    /// Those of this build.
    pub(crate) fn running() -> Versions {
        Versions {
            parsynth: env!("CARGO_PKG_VERSION").to_owned(),
            libtorch: env!("PARSYNTH_LIBTORCH_VERSION").to_owned(),
        }
    }

    pub(crate) fn new(parsynth: String, libtorch: String) -> Versions {
        Versions { parsynth, libtorch }
    }
}

impl std::fmt::Display for Versions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "parsynth {}, libtorch {}", self.parsynth, self.libtorch)
    }
}

/// The state of a model, from [`ParSynthesizer::health`](crate::ParSynthesizer::health).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Health {
    /// All weights of each network lie in one buffer in their order, so that cuDNN has nothing to compact.
    pub is_contiguous: bool,
    /// No weight is NaN or infinite.
    pub is_finite: bool,
    /// Where the weights lie: `cpu`, `cuda:0`, `mps`.
    pub device: String,
    /// What saved the file that the model was loaded from; none for a model that was fitted in this process.
    pub saved_by: Option<Versions>,
    /// What runs the model now.
    pub running: Versions,
}
