//! Progress of sampling, on stderr. Nothing is drawn where stderr is not a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use parsynth::SampleProgress;

/// A bar over the sequences being made.
pub(crate) struct SampleBar(ProgressBar);

impl SampleBar {
    pub(crate) fn new() -> Self {
        let style =
            ProgressStyle::with_template("sampling {wide_bar} sequence {pos} of {len} {msg}")
                .expect("the template is well formed");
        SampleBar(ProgressBar::new(0).with_style(style))
    }

    pub(crate) fn callback(&self) -> impl Fn(&SampleProgress) + Send + Sync + use<> {
        let bar = self.0.clone();
        move |progress| {
            bar.set_length(progress.sequences_wanted as u64);
            bar.set_position(progress.sequences as u64);
            let left = progress.time_left().unwrap_or_default().as_secs();
            bar.set_message(format!("({} rows, {left} s left)", progress.rows));
        }
    }

    pub(crate) fn clear(&self) {
        self.0.finish_and_clear();
    }
}
