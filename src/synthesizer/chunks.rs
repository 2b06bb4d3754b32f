//! Shares the chunks of a request out to worker threads.
//! In: how many chunks, and what is done for one. Out: the results, in order, so that the threads change nothing.

use super::ParSynthesizer;
use crate::error::{Error, Result};
use crate::report::SampleProgress;
use crate::sample::{Networks, SampleError};
use crate::sampling::OnSampleProgress;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

/// Tells a user how far the work is.
pub(super) struct Progress {
    tell: Option<OnSampleProgress>,
    pub(super) started: Instant,
}

impl Progress {
    pub(super) fn new(tell: Option<&OnSampleProgress>) -> Progress {
        Progress {
            tell: tell.cloned(),
            started: Instant::now(),
        }
    }

    pub(super) fn tell(
        &self,
        sequences: usize,
        sequences_wanted: usize,
        rows: usize,
        rows_wanted: Option<usize>,
    ) {
        if let Some(tell) = &self.tell {
            tell(&SampleProgress {
                sequences,
                sequences_wanted,
                rows,
                rows_wanted,
                elapsed: self.started.elapsed(),
            });
        }
    }
}

impl ParSynthesizer {
    /// Does chunk after chunk on worker threads, and takes the results in order.
    pub(super) fn in_chunks<T: Send>(
        &self,
        chunks: usize,
        threads: usize,
        work: impl Fn(&Networks, usize) -> std::result::Result<T, SampleError> + Sync,
        mut take: impl FnMut(T),
    ) -> Result<()> {
        let workers = threads.min(chunks).max(1);
        let next = AtomicUsize::new(0);
        let model = self.locked().share();
        std::thread::scope(|scope| {
            // A bounded channel: workers wait when chunks pile up, as when one of them is slow.
            let (sender, receiver) = mpsc::sync_channel(workers);
            for _ in 0..workers {
                let (sender, model, next, work) = (sender.clone(), model.share(), &next, &work);
                scope.spawn(move || {
                    tch::set_num_threads(1);
                    let networks = match model.networks() {
                        Ok(networks) => networks,
                        Err(error) => return drop(sender.send((0, Err(error.into())))),
                    };
                    loop {
                        let chunk = next.fetch_add(1, Ordering::Relaxed);
                        if chunk >= chunks {
                            return;
                        }
                        if sender.send((chunk, work(&networks, chunk))).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            let mut waiting = BTreeMap::new();
            let mut due = 0;
            let mut all_taken = || {
                while due < chunks {
                    let (chunk, done) = receiver.recv().map_err(|_| Error::Thread)?;
                    waiting.insert(chunk, done.map_err(|error| self.sample_error(error))?);
                    while let Some(done) = waiting.remove(&due) {
                        due += 1;
                        take(done);
                    }
                }
                Ok(())
            };
            let outcome = all_taken();
            // Whatever it was, no chunk is begun any more.
            next.store(chunks, Ordering::Relaxed);
            drop(receiver);
            outcome
        })
    }
}
