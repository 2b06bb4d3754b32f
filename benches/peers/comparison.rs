//! Two sides of one piece of work, and their table. No files, no clocks.

use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// How long a piece of work took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Time {
    pub(crate) wall_secs: f64,
    /// Of all threads together, where the platform tells it: other programs on the machine do not count in it.
    pub(crate) processor_secs: Option<f64>,
}

/// The last line that a peer's script printed.
#[derive(Debug, Deserialize)]
pub(crate) struct Answer {
    #[serde(flatten)]
    pub(crate) time: Time,
    /// Rows sampled, if that was asked for.
    pub(crate) rows: Option<f64>,
}

/// Reads a script's answer; what the peer itself printed before is passed over.
pub(crate) fn read_answer(stdout: &[u8]) -> Result<Answer, String> {
    let text = String::from_utf8_lossy(stdout);
    let line = text.lines().rfind(|line| !line.trim().is_empty());
    let line = line.ok_or("it printed nothing")?;
    serde_json::from_str(line).map_err(|error| format!("{error} in its answer `{line}`"))
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    /// The less, the better.
    Seconds,
    /// The more, the better.
    RowsPerSecond,
}

/// What we set out to reach.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Target {
    /// So many times as fast as the peer.
    Times(f64),
    /// Below so many seconds, whatever the peer takes.
    Below(f64),
}

/// One row of the table.
#[derive(Debug, Serialize)]
pub(crate) struct Comparison {
    pub(crate) work: String,
    pub(crate) peer: &'static str,
    pub(crate) unit: Unit,
    pub(crate) theirs: f64,
    pub(crate) ours: f64,
    pub(crate) target: Option<Target>,
    /// Seconds of both by the clock on the wall, theirs first.
    pub(crate) wall_secs: [f64; 2],
}

impl Comparison {
    /// How many times as fast as the peer we are.
    pub(crate) fn times(&self) -> f64 {
        match self.unit {
            Unit::Seconds => self.theirs / self.ours,
            Unit::RowsPerSecond => self.ours / self.theirs,
        }
    }

    fn is_reached(&self, target: Target) -> bool {
        match target {
            Target::Times(times) => self.times() >= times,
            Target::Below(secs) => self.ours < secs,
        }
    }

    fn target(&self) -> String {
        let Some(target) = self.target else {
            return "–".to_owned();
        };
        let wanted = match target {
            Target::Times(times) => format!("≥ {} ×", figure(times)),
            Target::Below(secs) => format!("< {}", duration(secs)),
        };
        if self.is_reached(target) {
            wanted
        } else {
            format!("{wanted}: missed")
        }
    }

    fn side(&self, value: f64) -> String {
        match self.unit {
            Unit::Seconds => duration(value),
            Unit::RowsPerSecond => format!("{} rows/s", figure(value)),
        }
    }
}

/// README's table.
pub(crate) fn table(comparisons: &[Comparison]) -> String {
    let mut text = String::from(
        "| work | peer | theirs | ours | times as fast | target |\n| --- | --- | ---: | ---: | ---: | --- |\n",
    );
    for comparison in comparisons {
        writeln!(
            text,
            "| {} | {} | {} | {} | **{}** | {} |",
            comparison.work,
            comparison.peer,
            comparison.side(comparison.theirs),
            comparison.side(comparison.ours),
            figure(comparison.times()),
            comparison.target(),
        )
        .expect("a string takes all");
    }
    text
}

fn duration(secs: f64) -> String {
    if secs < 1.0 {
        format!("{} ms", figure(secs * 1000.0))
    } else {
        format!("{} s", figure(secs))
    }
}

/// Two or three figures that count, thousands with commas.
fn figure(value: f64) -> String {
    if value < 10.0 {
        let text = format!("{value:.1}");
        return text.strip_suffix(".0").unwrap_or(&text).to_owned();
    }
    let unit = 10f64.powf(value.log10().floor() - 2.0).max(1.0);
    let digits = format!("{:.0}", (value / unit).round() * unit);
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The middle one, or the upper of the two in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
