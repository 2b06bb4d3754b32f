//! The report as a table in a terminal: the worst things first, then the scores. No colours, at most 100 columns.

use std::fmt::{Formatter, Result};

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{CellAlignment, ContentArrangement, Table, TableComponent};

use super::EvaluationReport;
use super::report::TableSize;
use super::text::score;

const WIDTH: u16 = 100;

pub(super) fn write(report: &EvaluationReport, f: &mut Formatter<'_>) -> Result {
    let size = |size: &TableSize| format!("{} rows of {} sequences", size.rows, size.sequences);
    let tables = &report.tables;
    write!(
        f,
        "real {}; synthetic {}",
        size(&tables.real),
        size(&tables.synthetic)
    )?;
    if let Some(holdout) = &tables.holdout {
        write!(f, "; held out {}", size(holdout))?;
    }
    writeln!(f, "\n")?;
    if report.findings.is_empty() {
        writeln!(
            f,
            "Nothing stands out: every score is about what real sequences reach."
        )?;
    } else {
        writeln!(f, "Worst first:")?;
    }
    for (at, finding) in report.findings.iter().enumerate() {
        let text = format!("{}. {}: {}", at + 1, finding.about, finding.what);
        writeln!(f, "{}", wrapped(&text))?;
    }
    let mut scores = table(&["score", "synthetic", "real halves", "what is compared"]);
    scores.add_row([
        "OVERALL".to_owned(),
        score(report.fidelity.overall),
        score(report.fidelity.overall_of_real_halves),
        "mean of the first eight; 1 is best".to_owned(),
    ]);
    for line in &report.fidelity.scores {
        scores.add_row([
            line.name.clone(),
            score(line.score),
            score(line.of_real_halves),
            line.meaning.clone(),
        ]);
    }
    scores.add_row([
        "next row".to_owned(),
        score(report.next_row.score),
        "–".to_owned(),
        "whether what synthetic rows teach about the next row holds in real ones".to_owned(),
    ]);
    for (name, value) in [
        ("SDMetrics quality", report.quality.overall),
        ("SDMetrics diagnostic", report.diagnostic.overall),
    ] {
        scores.add_row([
            name.to_owned(),
            score(value),
            "–".to_owned(),
            "as SDMetrics 0.32 computes it".to_owned(),
        ]);
    }
    right_align(&mut scores);
    writeln!(f, "\n{}\n", scores.trim_fmt())?;
    let mut privacy = table(&["privacy", "outcome", "why"]);
    for verdict in &report.privacy.verdicts {
        privacy.add_row([
            verdict.check.clone(),
            verdict.outcome.to_string(),
            verdict.reason.clone(),
        ]);
    }
    write!(f, "{}", privacy.trim_fmt())
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_preset(UTF8_HORIZONTAL_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .set_header(header.to_vec())
        .remove_style(TableComponent::HorizontalLines)
        .remove_style(TableComponent::LeftBorderIntersections)
        .remove_style(TableComponent::MiddleIntersections)
        .remove_style(TableComponent::RightBorderIntersections);
    table
}

fn right_align(table: &mut Table) {
    for column in [1, 2] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// Lines of at most the width, the later ones indented.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.len() - 1;
        if lines[last].chars().count() + word.chars().count() >= usize::from(WIDTH) {
            lines.push(format!("   {word}"));
        } else {
            if !lines[last].is_empty() {
                lines[last].push(' ');
            }
            lines[last].push_str(word);
        }
    }
    lines.join("\n")
}
