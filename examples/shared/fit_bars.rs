//! Progress of a fit, on stderr. Nothing is drawn where stderr is not a terminal.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use parsynth::{FitProgress, Stage};

/// A bar for each of the two networks, which train at once.
pub(crate) struct FitBars {
    context: ProgressBar,
    sequence: ProgressBar,
}

impl FitBars {
    pub(crate) fn new() -> Self {
        let style = ProgressStyle::with_template(
            "{prefix:>8} {wide_bar} epoch {pos} of at most {len} {msg}",
        )
        .expect("the template is well formed");
        let both = MultiProgress::new();
        let bar = |name: &'static str| {
            both.add(ProgressBar::new(0))
                .with_style(style.clone())
                .with_prefix(name)
        };
        FitBars {
            context: bar("context"),
            sequence: bar("sequence"),
        }
    }

    pub(crate) fn callback(&self) -> impl Fn(&FitProgress) + Send + Sync + use<> {
        let (context, sequence) = (self.context.clone(), self.sequence.clone());
        move |progress| {
            let (bar, unit) = match progress.stage {
                Stage::Context => (&context, "sequence"),
                Stage::Sequence => (&sequence, "row"),
            };
            bar.set_length(progress.most_epochs as u64);
            bar.set_position(progress.epoch as u64);
            // Epochs that do not validate keep the last validated loss on show.
            if let Some(nats) = progress.validation_nats {
                bar.set_message(format!("({nats:.3} nats per {unit})"));
            }
        }
    }

    pub(crate) fn clear(&self) {
        self.context.finish_and_clear();
        self.sequence.finish_and_clear();
    }
}
