//! The report as one page of HTML: no network, no scripts, pictures as SVG in the page's own colours.
//! Everything that comes from a table goes through maud, which escapes it.

mod charts;
mod sections;

use maud::{Markup, html};

use super::EvaluationReport;
use super::report::TableSize;
use super::text::score;

const TITLE: &str = "How good is the synthetic table?";

pub(super) fn page(report: &EvaluationReport) -> String {
    let sections: Vec<(&str, &str, Markup)> = vec![
        ("scores", "Scores", sections::scores(report)),
        ("columns", "Columns", sections::columns(report)),
        ("pairs", "Pairs of columns", sections::pairs(report)),
        ("sequences", "Sequences", sections::sequences(report)),
        ("time", "Along time", sections::along_time(report)),
        (
            "classifier",
            "Can a classifier tell?",
            sections::two_sample(report),
        ),
        (
            "next-row",
            "What is learned from it",
            sections::next_row(report),
        ),
        ("privacy", "Privacy", sections::privacy(report)),
        ("training", "Training", sections::losses(report)),
    ];
    let shown = || {
        sections
            .iter()
            .filter(|(_, _, content)| !content.0.is_empty())
    };
    let body = html! {
        header {
            h1 { (TITLE) }
            (sizes(report))
            (headline(report))
            nav aria-label="Sections" {
                @for (id, title, _) in shown() { a href=(format!("#{id}")) { (title) } " " }
            }
        }
        main {
            (findings(report))
            @for (id, title, content) in shown() {
                section id=(id) { h2 { (title) } (content) }
            }
        }
        footer { "Made by parsynth " (env!("CARGO_PKG_VERSION")) ". Some pictures show real rows: mind who sees them." }
    };
    crate::charts::page(&format!("{TITLE} parsynth report"), &body)
}

fn sizes(report: &EvaluationReport) -> Markup {
    let tables = &report.tables;
    let size = |size: &TableSize| {
        html! { strong { (size.rows) } " rows of " strong { (size.sequences) } " sequences" }
    };
    html! {
        p.sizes {
            span.real-key { "real" } " " (size(&tables.real)) " · "
            span.synthetic-key { "synthetic" } " " (size(&tables.synthetic))
            @if let Some(holdout) = &tables.holdout { " · held out " (size(holdout)) }
            " · " (tables.columns) " columns"
        }
        @if let Some(rows) = report.sequences.window_rows {
            p.note { "The table is one single sequence: it was cut into windows of about " (rows) " rows, which stand for sequences below." }
        }
    }
}

fn headline(report: &EvaluationReport) -> Markup {
    let next = |label: &str, value: String, note: &str| {
        html! { div.tile { div.value { (value) } div.label { (label) } div.note { (note) } } }
    };
    let halves = score(report.fidelity.overall_of_real_halves);
    let worst = report.privacy.verdicts.iter().filter(|verdict| {
        matches!(
            verdict.outcome,
            super::Outcome::Attention | super::Outcome::Failed
        )
    });
    let privacy = match worst.count() {
        0 if report.tables.holdout.is_none() => "no alarm".to_owned(),
        0 => "passed".to_owned(),
        1 => "1 alarm".to_owned(),
        alarms => format!("{alarms} alarms"),
    };
    html! {
        div.tiles {
            (next("overall fidelity", score(report.fidelity.overall), &format!("1 is best; {halves} between two halves of the real table")))
            (next("indistinct", score(report.two_sample.indistinct), "1 where a classifier cannot tell real from synthetic"))
            (next("next row", score(report.next_row.score), "1 where synthetic rows teach as much as real ones"))
            (next("privacy", privacy, "five checks; no promise"))
        }
    }
}

fn findings(report: &EvaluationReport) -> Markup {
    html! {
        section id="findings" {
            h2 { "Worst first" }
            @if report.findings.is_empty() {
                p { "Nothing stands out: every score is about what real sequences reach." }
            } @else {
                ol.findings {
                    @for finding in &report.findings {
                        li { strong { (finding.about) } " " (finding.what) "." }
                    }
                }
            }
        }
    }
}
