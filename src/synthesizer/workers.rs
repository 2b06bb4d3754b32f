//! Threads that sample sequences for as long as someone takes them.
//! In: jobs, each some sequences of a request. Out: their values, in the order in which they are done.
//! Dropping the workers ends them in the middle of what they do.

use super::Model;
use crate::cancel::CancelToken;
use crate::constraint::Rules;
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::sample::{Networks, Request, SampleError, SampledSequences, sample_chunk};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// Some sequences to sample together.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) chunk: usize,
    /// How often they were refused before.
    pub(super) refusals: u32,
    pub(super) sequences: Vec<usize>,
}

/// A job and what came of it.
pub(super) struct Sampled {
    pub(super) job: Job,
    pub(super) outcome: std::result::Result<SampledSequences, SampleError>,
}

/// What all jobs share.
#[derive(Clone)]
pub(super) struct Work {
    pub(super) layout: Arc<Layout>,
    pub(super) rules: Arc<Rules>,
    pub(super) request: Arc<Request>,
}

/// Threads that wait for jobs.
pub(super) struct Workers {
    /// None once they are to end.
    jobs: Option<Sender<Job>>,
    sampled: Receiver<Sampled>,
    threads: Vec<JoinHandle<()>>,
    stop: CancelToken,
}

impl Workers {
    /// So many threads; `stop` is among the request's tokens, and is cancelled when the workers are dropped.
    pub(super) fn start(
        model: &Model,
        work: &Work,
        threads: usize,
        stop: CancelToken,
    ) -> Result<Workers> {
        let (jobs, waiting) = mpsc::channel();
        let waiting = Arc::new(Mutex::new(waiting));
        let (sender, sampled) = mpsc::channel();
        let mut workers = Workers {
            jobs: Some(jobs),
            sampled,
            threads: Vec::with_capacity(threads),
            stop,
        };
        for _ in 0..threads {
            let (model, work) = (model.share(), work.clone());
            let (waiting, sender) = (Arc::clone(&waiting), sender.clone());
            let thread = Builder::new().spawn(move || work.until_no_job(&model, &waiting, &sender));
            workers.threads.push(thread.map_err(|_| Error::Thread)?);
        }
        Ok(workers)
    }

    pub(super) fn give(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            // No thread takes it only where all have ended, which whoever waits for results is told.
            let _ = jobs.send(job);
        }
    }

    /// The next job that is done.
    pub(super) fn wait(&self) -> Result<Sampled> {
        self.sampled.recv().map_err(|_| Error::Thread)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.stop.cancel();
        self.jobs = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Work {
    fn until_no_job(&self, model: &Model, jobs: &Mutex<Receiver<Job>>, sampled: &Sender<Sampled>) {
        tch::set_num_threads(1);
        let mut networks: Option<Networks> = None;
        loop {
            let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(job) = job else {
                return;
            };
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                let networks = match &mut networks {
                    Some(networks) => networks,
                    none => none.insert(model.networks()?),
                };
                self.sample(networks, &job)
            }));
            let outcome = outcome.unwrap_or(Err(SampleError::Thread));
            if sampled.send(Sampled { job, outcome }).is_err() {
                return;
            }
        }
    }

    fn sample(
        &self,
        networks: &Networks,
        job: &Job,
    ) -> std::result::Result<SampledSequences, SampleError> {
        if self.request.is_cancelled() {
            return Err(SampleError::Cancelled);
        }
        let (sequences, refusals) = (&job.sequences, job.refusals);
        sample_chunk(
            networks,
            &self.layout,
            &self.rules,
            &self.request,
            sequences,
            refusals,
        )
    }
}
