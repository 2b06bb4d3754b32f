//! Lines of progress on stderr, for who asks for them.

use super::OnFitProgress;
use crate::report::{FitProgress, FitReport, Stage};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Between two lines of one network.
const PAUSE: Duration = Duration::from_secs(1);

/// The user's own function, and the lines if they are wanted.
pub(super) fn with_lines(own: Option<OnFitProgress>, is_verbose: bool) -> Option<OnFitProgress> {
    if !is_verbose {
        return own;
    }
    let written: Mutex<[Option<Instant>; 2]> = Mutex::new([None; 2]);
    Some(Arc::new(move |progress: &FitProgress| {
        {
            let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
            let last = &mut written[usize::from(progress.stage == Stage::Sequence)];
            if last.is_none_or(|last| last.elapsed() >= PAUSE) {
                *last = Some(Instant::now());
                eprintln!("{progress}");
            }
        }
        if let Some(own) = &own {
            own(progress);
        }
    }))
}

/// What came of it.
pub(super) fn summary(report: &FitReport) {
    eprintln!(
        "fitted {} rows of {} sequences in {} epochs, {:.0} s",
        report.rows, report.sequences, report.epochs, report.fit_secs
    );
}
