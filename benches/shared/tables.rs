//! The tables in `data/`, ready to fit.

use parsynth::{Metadata, ParSynthesizer, ParSynthesizerBuilder, read_csv};
use polars::frame::DataFrame;
use std::error::Error;
use std::path::Path;

pub(crate) const SEED: u64 = 7;

/// Names and context columns: 700 rows of 6 columns, and 1,945 rows of 17.
pub(crate) const TABLES: [(&str, &[&str]); 2] = [
    ("stores", &["region"]),
    ("pbc_visits", &["trt", "age", "sex"]),
];

/// A table and what to tell the builder about it.
pub(crate) struct Table {
    pub(crate) frame: DataFrame,
    metadata: Metadata,
    context: &'static [&'static str],
}

impl Table {
    pub(crate) fn read(
        name: &str,
        context: &'static [&'static str],
    ) -> Result<Table, Box<dyn Error>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
        let metadata = Metadata::from_json_file(folder.join(format!("{name}.metadata.json")))?;
        let frame = read_csv(folder.join(format!("{name}.csv")), &metadata)?;
        Ok(Table {
            frame,
            metadata,
            context,
        })
    }

    /// One thread, so that numbers of different machines can be compared.
    pub(crate) fn builder(&self) -> ParSynthesizerBuilder {
        ParSynthesizer::builder(self.metadata.clone())
            .context_columns(self.context.iter().copied())
            .seed(SEED)
            .threads(1)
    }
}
