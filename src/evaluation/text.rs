//! Figures as people read them.

use crate::charts;
use chrono::DateTime;

/// Four digits that say something; dates, given in seconds, as dates.
pub(super) fn figure(value: f64, date: bool) -> String {
    if date {
        return date_text(value);
    }
    charts::figure(value)
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "what no date reaches is written as a number"
)]
fn date_text(seconds: f64) -> String {
    let date = (seconds.abs() < 1e12)
        .then(|| DateTime::from_timestamp(seconds.round() as i64, 0))
        .flatten();
    date.map_or_else(
        || format!("{seconds:.2e} s"),
        |date| date.format("%Y-%m-%d").to_string(),
    )
}

/// A length of time, given in seconds, in the unit that suits it.
pub(super) fn duration(seconds: f64) -> String {
    let (size, unit) = match seconds.abs() {
        size if size >= 2.0 * 86_400.0 => (86_400.0, "d"),
        size if size >= 2.0 * 3_600.0 => (3_600.0, "h"),
        size if size >= 120.0 => (60.0, "min"),
        _ => (1.0, "s"),
    };
    format!("{} {unit}", figure(seconds / size, false))
}

/// A share as per cent.
pub(super) fn share(share: f64) -> String {
    let percent = 100.0 * share;
    if percent > 0.0 && percent < 0.1 {
        "<0.1%".to_owned()
    } else if percent == percent.round() {
        format!("{percent:.0}%")
    } else {
        format!("{percent:.1}%")
    }
}

/// A score, or a dash where there is none.
pub(super) fn score(score: Option<f64>) -> String {
    score.map_or_else(|| "–".to_owned(), |score| format!("{score:.3}"))
}
