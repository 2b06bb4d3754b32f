//! The networks, on libtorch: the context network and the sequence network share one row decoder.

pub(crate) mod context;
pub(crate) mod decoder;
pub(crate) mod dropout;
pub(crate) mod inputs;
pub(crate) mod parameters;
pub(crate) mod sequence;

/// What can go wrong inside a network.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A tensor has another shape than its place needs.
    #[error("{what} has shape {found:?}, expected {wanted:?}")]
    Shape {
        /// The tensor.
        what: &'static str,
        /// Its shape.
        found: Vec<i64>,
        /// The shape expected.
        wanted: Vec<i64>,
    },
    /// libtorch refused an operation.
    #[error("libtorch failed")]
    Torch(#[from] tch::TchError),
}

/// Sizes of the networks that the data does not decide.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sizes {
    pub(crate) hidden: i64,
    pub(crate) layers: i64,
    pub(crate) embedding: i64,
    /// Width of each head's hidden layer in the row decoder.
    pub(crate) head: i64,
    /// Logistics in each mixture.
    pub(crate) components: i64,
}

/// Width of the context as the sequence network sees it.
pub(crate) const CONTEXT_WIDTH: i64 = 16;
/// Width of each head's hidden layer in the context network.
pub(crate) const CONTEXT_HEAD: i64 = 32;

/// Where each column's rows start in a table shared by several, with `extra` rows after each.
pub(crate) fn starts(classes: &[i64], extra: i64) -> Vec<i64> {
    classes
        .iter()
        .scan(0, |next, n| {
            let start = *next;
            *next += n + extra;
            Some(start)
        })
        .collect()
}

/// A host index or size as libtorch counts.
pub(crate) fn long(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
