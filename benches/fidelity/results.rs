//! Means, standard errors and Markdown of what was measured. No files, no tables of data.

use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// What one sample scored, by the judge's names and those below.
pub(crate) type Measures = BTreeMap<String, f64>;

/// Wall-clock seconds of a fit.
pub(crate) const FIT_SECS: &str = "fit_secs";
/// Passes over the rows.
pub(crate) const EPOCHS: &str = "epochs";
/// Loss of the sequences that the fit itself held out, nats per row.
pub(crate) const HELD_OUT_NATS: &str = "held_out_nats";

const OVERALL: &str = "overall";
const DCR_SHARE: &str = "dcr_share";

/// The rows of the table: a measure, what it is called, its decimals.
const ROWS: [(&str, &str, usize); 13] = [
    (OVERALL, "**`overall`**", 3),
    ("marginals", "`marginals`", 3),
    ("pairs", "`pairs`", 3),
    ("seq_stats", "`seq_stats`", 3),
    ("inter_row", "`inter_row`", 3),
    ("lengths", "`lengths`", 3),
    ("transitions", "`transitions`", 3),
    ("autocorr", "`autocorr`", 3),
    ("indistinct", "`indistinct`", 3),
    (DCR_SHARE, "`dcr_share` (0.5 is private)", 3),
    (HELD_OUT_NATS, "held-out nats a row", 2),
    (EPOCHS, "epochs", 0),
    (FIT_SECS, "fit, seconds", 1),
];

/// The fits of a table, one a seed.
#[derive(Serialize)]
pub(crate) struct Measured {
    pub(crate) table: &'static str,
    /// What real data scores.
    pub(crate) ceiling: Measures,
    pub(crate) fits: Vec<Measures>,
}

/// The fits of halves of a table, one a seed, scored against the half seen and the half not seen.
#[derive(Serialize)]
pub(crate) struct Halves {
    pub(crate) table: &'static str,
    /// What a half of the real table scores against the other.
    pub(crate) ceiling: Measures,
    pub(crate) seen: Vec<Measures>,
    pub(crate) unseen: Vec<Measures>,
}

/// A mean and, of two values or more, its standard error.
struct Estimate {
    mean: f64,
    standard_error: Option<f64>,
}

impl Estimate {
    /// None of no values.
    fn of(values: &[f64]) -> Option<Estimate> {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        (!values.is_empty()).then(|| Estimate {
            mean,
            standard_error: (values.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt()),
        })
    }

    fn of_measure(fits: &[Measures], measure: &str) -> Option<Estimate> {
        let values: Vec<f64> = fits
            .iter()
            .filter_map(|fit| fit.get(measure))
            .copied()
            .collect();
        Estimate::of(&values)
    }
}

/// `0.948 ± 0.004`, with as many decimals as the formatter's precision.
impl fmt::Display for Estimate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = formatter.precision().unwrap_or(3);
        write!(formatter, "{:.decimals$}", self.mean)?;
        match self.standard_error {
            Some(error) => write!(formatter, " ± {error:.decimals$}"),
            None => Ok(()),
        }
    }
}

/// A few measures in a line, for progress.
pub(crate) fn brief(measures: &Measures) -> String {
    let shown: Vec<String> = [OVERALL, "indistinct", DCR_SHARE, HELD_OUT_NATS, FIT_SECS]
        .iter()
        .filter_map(|name| Some(format!("{name} {:.3}", measures.get(*name)?)))
        .collect();
    shown.join(", ")
}

/// Two columns a table, the means over its fits and the ceiling; one row a measure.
pub(crate) fn scores_table(measured: &[Measured]) -> String {
    let mut text = heading(
        "score",
        measured
            .iter()
            .flat_map(|table| [format!("`{}`", table.table), "ceiling".to_owned()]),
    );
    for (measure, name, decimals) in ROWS {
        let cells = measured.iter().flat_map(|table| {
            [
                cell(Estimate::of_measure(&table.fits, measure), decimals),
                cell(table.ceiling.get(measure), decimals),
            ]
        });
        text += &row(name, cells);
    }
    text
}

/// One row a table: `overall` against the half seen, the other half, and what is lost between them.
pub(crate) fn halves_table(measured: &[Halves]) -> String {
    let columns = [
        "half seen",
        "half not seen",
        "gap",
        "ceiling",
        "`dcr_share`",
    ];
    let mut text = heading("`overall`", columns.map(str::to_owned));
    for table in measured {
        let gaps: Vec<f64> = table
            .seen
            .iter()
            .zip(&table.unseen)
            .filter_map(|(seen, unseen)| Some(seen.get(OVERALL)? - unseen.get(OVERALL)?))
            .collect();
        let cells = [
            cell(Estimate::of_measure(&table.seen, OVERALL), 3),
            cell(Estimate::of_measure(&table.unseen, OVERALL), 3),
            cell(Estimate::of(&gaps), 3),
            cell(table.ceiling.get(OVERALL), 3),
            cell(Estimate::of_measure(&table.seen, DCR_SHARE), 3),
        ];
        text += &row(&format!("`{}`", table.table), cells);
    }
    text
}

fn heading(first: &str, columns: impl IntoIterator<Item = String>) -> String {
    let columns: Vec<String> = columns.into_iter().collect();
    let rule = columns.iter().map(|_| "---:".to_owned());
    row(first, columns.clone()) + &row("---", rule)
}

fn row(first: &str, cells: impl IntoIterator<Item = String>) -> String {
    let mut text = format!("| {first} |");
    for cell in cells {
        write!(text, " {cell} |").expect("a String takes all text");
    }
    text + "\n"
}

/// Empty for what was not measured.
fn cell(value: Option<impl fmt::Display>, decimals: usize) -> String {
    value
        .map(|value| format!("{value:.decimals$}"))
        .unwrap_or_default()
}
