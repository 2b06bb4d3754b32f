//! The tables in `data/`, ready to fit.

use parsynth::{Metadata, ParSynthesizer, ParSynthesizerBuilder, read_csv};
use polars::frame::DataFrame;
use std::error::Error;
use std::path::Path;

pub(crate) const SEED: u64 = 7;

/// A table and what to tell the builder about it.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) frame: DataFrame,
    metadata: Metadata,
    context: &'static [&'static str],
}

impl Table {
    /// 700 rows of 6 columns.
    pub(crate) fn stores() -> Result<Table, Box<dyn Error>> {
        Table::read("stores", &["region"])
    }

    /// 1,945 rows of 17 columns.
    pub(crate) fn pbc_visits() -> Result<Table, Box<dyn Error>> {
        Table::read("pbc_visits", &["trt", "age", "sex"])
    }

    fn read(name: &'static str, context: &'static [&'static str]) -> Result<Table, Box<dyn Error>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
        let metadata = Metadata::from_json_file(folder.join(format!("{name}.metadata.json")))?;
        let frame = read_csv(folder.join(format!("{name}.csv")), &metadata)?;
        Ok(Table {
            name,
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
