//! The report of a detection as a table in a terminal, at most 100 columns wide.

use std::fmt::{Display, Formatter, Result};

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{ContentArrangement, Table, TableComponent};

use super::{DetectedMetadata, DetectionReport};

const WIDTH: u16 = 100;

impl Display for DetectedMetadata {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let named = |names: &[String]| match names {
            [] => "none".to_owned(),
            names => names.join(", "),
        };
        let key = self.metadata.sequence_key();
        writeln!(f, "sequence key:    {}", named(key))?;
        let index = self.metadata.sequence_index().map(str::to_owned);
        writeln!(f, "sequence index:  {}", named(&Vec::from_iter(index)))?;
        writeln!(f, "context columns: {}\n", named(&self.context_columns))?;
        self.report.fmt(f)
    }
}

impl Display for DetectionReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut columns = table(["column", "sdtype", "why, and what else it may be"]);
        for column in &self.columns {
            let mut why = vec![column.reason.clone()];
            why.extend(column.doubts.iter().map(|doubt| format!("? {doubt}")));
            columns.add_row([column.name.as_str(), column.sdtype.name(), &why.join("\n")]);
        }
        writeln!(f, "{}", columns.trim_fmt())?;
        let mut roles = table(["role", "column", "why it was taken, or passed over"]);
        for key in &self.sequence_keys {
            let role = if key.taken { "sequence key" } else { "no key" };
            roles.add_row([role, key.column.as_str(), key.reason.as_str()]);
        }
        for index in &self.sequence_indexes {
            let role = if index.taken {
                "sequence index"
            } else {
                "no index"
            };
            roles.add_row([role, index.column.as_str(), index.reason.as_str()]);
        }
        if !self.sequence_keys.is_empty() || !self.sequence_indexes.is_empty() {
            writeln!(f, "\n{}", roles.trim_fmt())?;
        }
        for note in &self.notes {
            writeln!(f, "\n{note}")?;
        }
        Ok(())
    }
}

fn table(header: [&str; 3]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(UTF8_HORIZONTAL_ONLY)
        .remove_style(TableComponent::HorizontalLines)
        .remove_style(TableComponent::LeftBorderIntersections)
        .remove_style(TableComponent::MiddleIntersections)
        .remove_style(TableComponent::RightBorderIntersections)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .set_header(header);
    table
}
