//! The tables that are measured, and where they lie.

use std::path::{Path, PathBuf};

/// A real table in `data/`, which says where it comes from.
pub(crate) struct Dataset {
    pub(crate) name: &'static str,
    /// Columns that are constant within a sequence.
    pub(crate) context: &'static [&'static str],
}

pub(crate) const DATASETS: [Dataset; 4] = [
    Dataset {
        name: "stores",
        context: &["region"],
    },
    Dataset {
        name: "pbc_visits",
        context: &["trt", "age", "sex"],
    },
    Dataset {
        name: "males_wage",
        context: &["school", "ethn"],
    },
    Dataset {
        name: "storms",
        context: &[],
    },
];

impl Dataset {
    pub(crate) fn data(&self) -> PathBuf {
        self.file("csv")
    }

    pub(crate) fn metadata(&self) -> PathBuf {
        self.file("metadata.json")
    }

    fn file(&self, extension: &str) -> PathBuf {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
        folder.join(format!("{}.{extension}", self.name))
    }
}
