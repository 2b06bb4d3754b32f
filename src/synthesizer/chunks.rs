//! Shares the chunks of a request out to worker threads.
//! In: how many chunks, and what is done for one. Out: the results, in order, so that the threads change nothing.

use super::ParSynthesizer;
use crate::error::{Error, Result};
use crate::report::SampleProgress;
use crate::sample::{Networks, Request, SampleError, SampledSequences, sample_chunk};
use crate::sampling::OnSampleProgress;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

/// How much to sample.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Amount {
    /// Sequences, as many as it takes when none.
    pub(super) sequences: Option<usize>,
    /// Whole sequences until there are at least so many rows.
    pub(super) rows: Option<usize>,
    /// At most so many rows.
    pub(super) row_limit: Option<usize>,
}

/// Tells a user how far the work is.
pub(super) struct Progress<'a> {
    pub(super) tell: Option<&'a OnSampleProgress>,
    started: Instant,
}

impl<'a> Progress<'a> {
    pub(super) fn new(tell: Option<&'a OnSampleProgress>) -> Progress<'a> {
        Progress {
            tell,
            started: Instant::now(),
        }
    }

    pub(super) fn tell(&self, sequences: usize, sequences_wanted: usize, rows: usize) {
        if let Some(tell) = self.tell {
            tell(&SampleProgress {
                sequences,
                sequences_wanted,
                rows,
                elapsed: self.started.elapsed(),
            });
        }
    }
}

impl ParSynthesizer {
    /// Does chunk after chunk on worker threads, and takes the results in order until told to break.
    pub(super) fn in_chunks<T: Send>(
        &self,
        chunks: usize,
        threads: usize,
        work: impl Fn(&Networks, usize) -> std::result::Result<T, SampleError> + Sync,
        mut take: impl FnMut(T) -> ControlFlow<()>,
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
            'chunks: while due < chunks {
                let (chunk, done) = receiver.recv().map_err(|_| Error::Thread)?;
                waiting.insert(chunk, done.map_err(|error| self.sample_error(error))?);
                while let Some(done) = waiting.remove(&due) {
                    due += 1;
                    if take(done).is_break() {
                        break 'chunks;
                    }
                }
            }
            next.store(chunks, Ordering::Relaxed);
            drop(receiver);
            Ok(())
        })
    }

    /// The sequences of a request, put together in order.
    pub(super) fn sampled(
        &self,
        request: &Request,
        amount: Amount,
        threads: usize,
        progress: Option<&OnSampleProgress>,
    ) -> Result<SampledSequences> {
        let (progress, size) = (Progress::new(progress), request.chunk());
        let wanted = amount.sequences.unwrap_or(usize::MAX);
        let most_rows = amount
            .row_limit
            .unwrap_or(usize::MAX)
            .min(amount.rows.unwrap_or(usize::MAX));
        let mut all = SampledSequences::empty(&self.layout);
        let mut rows = 0;
        if most_rows > 0 {
            self.in_chunks(
                wanted.div_ceil(size),
                threads,
                |networks, chunk| {
                    let range = chunk * size..(chunk * size).saturating_add(size).min(wanted);
                    sample_chunk(networks, &self.layout, &self.rules, request, range)
                },
                |sampled| {
                    rows += sampled.lengths.iter().sum::<usize>();
                    all.append(sampled);
                    let sequences = all.lengths.len();
                    progress.tell(sequences, amount.sequences.unwrap_or(sequences), rows);
                    match rows < most_rows {
                        true => ControlFlow::Continue(()),
                        false => ControlFlow::Break(()),
                    }
                },
            )?;
        }
        if let Some(rows) = amount.rows {
            all.keep_until_rows(rows);
        }
        if let Some(rows) = amount.row_limit {
            all.keep_rows(rows);
        }
        Ok(all)
    }
}
