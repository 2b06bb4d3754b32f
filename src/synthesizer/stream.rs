//! New sequences, chunk after chunk.
//! In: a request, and how much of it. Out: whole sequences that custom constraints accept, in order, until there are
//! enough. A few chunks more than were taken are in memory at a time.
//!
//! A chunk is the same whichever chunks are asked for, and whatever the number of threads: it is always sampled whole,
//! and so are those of its sequences that are refused.

use super::ParSynthesizer;
use super::chunks::Progress;
use super::rejection::CustomConstraints;
use super::workers::{Job, Sampled, Work, Workers};
use crate::cancel::CancelToken;
use crate::decode::GivenIdentifiers;
use crate::error::{Error, Result};
use crate::sample::{Request, SampledSequences};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// How much to sample.
#[derive(Debug, Clone, Default)]
pub(super) struct Amount {
    /// Sequences of the whole table, as many as it takes when none.
    pub(super) sequences: Option<usize>,
    /// Whole sequences until there are at least so many rows.
    pub(super) rows: Option<usize>,
    /// At most so many rows.
    pub(super) row_limit: Option<usize>,
    /// These sequences of the whole table only.
    pub(super) range: Option<Range<usize>>,
}

impl Amount {
    /// Which sequences there will be at most.
    pub(super) fn range(&self) -> Range<usize> {
        let all = 0..self.sequences.unwrap_or(usize::MAX);
        self.range.clone().unwrap_or(all)
    }
}

/// Sequences that are still being sampled.
pub(super) struct SequenceStream<'a> {
    pub(super) synthesizer: &'a ParSynthesizer,
    pub(super) request: Arc<Request>,
    pub(super) given: GivenIdentifiers,
    pub(super) custom: CustomConstraints,
    amount: Amount,
    progress: Progress,
    /// None before the first chunk, and once it is over.
    workers: Option<Workers>,
    threads: usize,
    stop: CancelToken,
    /// The next chunk for the workers, the next to be handed on, and the one after the last.
    next: usize,
    due: usize,
    end: usize,
    /// Chunks with sequences that are drawn again.
    refused: BTreeMap<usize, SampledSequences>,
    /// Chunks that wait for those before.
    done: BTreeMap<usize, Result<SampledSequences>>,
    sequences: usize,
    rows: usize,
    is_over: bool,
}

impl<'a> SequenceStream<'a> {
    pub(super) fn new(
        synthesizer: &'a ParSynthesizer,
        mut request: Request,
        amount: Amount,
        threads: usize,
        progress: Progress,
    ) -> SequenceStream<'a> {
        let stop = CancelToken::new();
        request.cancel_tokens.push(stop.clone());
        let (range, size) = (amount.range(), request.chunk());
        let first = range.start / size;
        let end = match range.is_empty() || amount.most_rows() == 0 {
            true => first,
            false => range.end.div_ceil(size),
        };
        SequenceStream {
            synthesizer,
            request: Arc::new(request),
            given: GivenIdentifiers::new(),
            custom: CustomConstraints::default(),
            amount,
            progress,
            workers: None,
            threads: threads.min(end - first).max(1),
            stop,
            next: first,
            due: first,
            end,
            refused: BTreeMap::new(),
            done: BTreeMap::new(),
            sequences: 0,
            rows: 0,
            is_over: false,
        }
    }

    /// The next sequences; none when that was all. An error ends it.
    pub(super) fn next(&mut self) -> Result<Option<SampledSequences>> {
        if self.is_over {
            return Ok(None);
        }
        let next = self.next_kept();
        if !matches!(next, Ok(Some(_))) {
            self.end();
        }
        next
    }

    /// All sequences.
    pub(super) fn collect(&mut self) -> Result<SampledSequences> {
        let mut all = SampledSequences::empty(&self.synthesizer.layout);
        while let Some(sampled) = self.next()? {
            all.append(sampled);
        }
        Ok(all)
    }

    /// Ends it, if someone cancelled it.
    pub(super) fn check_cancelled(&mut self) -> Result<()> {
        if self.is_over || !self.request.is_cancelled() {
            return Ok(());
        }
        self.end();
        Err(Error::Cancelled)
    }

    fn end(&mut self) {
        self.is_over = true;
        self.workers = None;
        self.done.clear();
        self.refused.clear();
    }

    fn next_kept(&mut self) -> Result<Option<SampledSequences>> {
        self.check_cancelled()?;
        let chunk = self.due;
        if chunk >= self.end || self.rows >= self.amount.most_rows() {
            return Ok(None);
        }
        let mut sampled = self.due_chunk()?;
        self.due += 1;
        self.cut_to_range(&mut sampled, chunk * self.request.chunk());
        if self.cut_to_rows(&mut sampled) {
            self.end = self.due;
        }
        self.sequences += sampled.lengths.len();
        self.rows += sampled.row_count();
        let wanted = self.amount.sequences.map(|_| self.amount.range().len());
        let rows_wanted = self.amount.rows;
        let (sequences, rows) = (self.sequences, self.rows);
        self.progress
            .tell(sequences, wanted.unwrap_or(sequences), rows, rows_wanted);
        Ok(Some(sampled))
    }

    /// Drops the sequences of a chunk that were not asked for.
    fn cut_to_range(&self, sampled: &mut SampledSequences, first: usize) {
        let range = self.amount.range();
        sampled.keep(range.end.saturating_sub(first));
        sampled.take_first(range.start.saturating_sub(first));
    }

    /// Drops the sequences that are too many for the rows asked for, and says whether there were any.
    fn cut_to_rows(&self, sampled: &mut SampledSequences) -> bool {
        let (mut rows, mut kept) = (self.rows, 0);
        let until = self.amount.rows.unwrap_or(usize::MAX);
        let limit = self.amount.row_limit.unwrap_or(usize::MAX);
        for &length in &sampled.lengths {
            if rows >= until || rows.saturating_add(length) > limit {
                break;
            }
            rows += length;
            kept += 1;
        }
        if kept == sampled.lengths.len() {
            return false;
        }
        match self.sequences + kept == 0 && limit > 0 {
            true => sampled.keep_rows_of_first(limit),
            false => sampled.keep(kept),
        }
        true
    }

    /// The chunk that is due, accepted in all its sequences.
    fn due_chunk(&mut self) -> Result<SampledSequences> {
        loop {
            if let Some(done) = self.done.remove(&self.due) {
                return done;
            }
            let sampled = self.busy_workers()?.wait()?;
            let (chunk, error) = (sampled.job.chunk, self.judge(sampled).err());
            if let Some(error) = error {
                self.done.insert(chunk, Err(error));
            }
        }
    }

    /// The workers, with enough to do.
    fn busy_workers(&mut self) -> Result<&Workers> {
        if self.workers.is_none() {
            let work = Work {
                layout: Arc::clone(&self.synthesizer.layout),
                rules: Arc::clone(&self.synthesizer.rules),
                request: Arc::clone(&self.request),
            };
            let model = self.synthesizer.locked().share();
            let workers = Workers::start(&model, &work, self.threads, self.stop.clone())?;
            self.workers = Some(workers);
        }
        let workers = self.workers.as_ref().ok_or(Error::Thread)?;
        // One for each worker to do, and one that is done or waits.
        while self.next < self.end && self.next - self.due < 2 * self.threads {
            workers.give(Job {
                chunk: self.next,
                refusals: 0,
                sequences: self.sequences_of(self.next).collect(),
            });
            self.next += 1;
        }
        Ok(workers)
    }

    /// All sequences of a chunk, whichever of them were asked for.
    fn sequences_of(&self, chunk: usize) -> Range<usize> {
        let size = self.request.chunk();
        let end = self.amount.sequences.unwrap_or(usize::MAX);
        chunk * size..(chunk * size).saturating_add(size).min(end)
    }

    /// Keeps a chunk whose sequences are all accepted, and has the others drawn again.
    fn judge(&mut self, sampled: Sampled) -> Result<()> {
        let Job {
            chunk,
            refusals,
            sequences,
        } = sampled.job;
        let drawn = sampled
            .outcome
            .map_err(|error| self.synthesizer.sample_error(error))?;
        if self.custom.is_empty() {
            self.done.insert(chunk, Ok(drawn));
            return Ok(());
        }
        let all = self.sequences_of(chunk);
        let places: Vec<usize> = sequences.iter().map(|at| at - all.start).collect();
        let whole = match self.refused.remove(&chunk) {
            Some(before) => before.replaced(&places, drawn),
            None => drawn,
        };
        let again = self.refused_among(&whole, &places, all.start, refusals)?;
        if again.is_empty() {
            self.done.insert(chunk, Ok(whole));
            return Ok(());
        }
        self.refused.insert(chunk, whole);
        if let Some(workers) = &self.workers {
            workers.give(Job {
                chunk,
                refusals: refusals.saturating_add(1),
                sequences: again,
            });
        }
        Ok(())
    }
}

impl Amount {
    /// Rows after which no more are wanted.
    fn most_rows(&self) -> usize {
        let most = |rows: Option<usize>| rows.unwrap_or(usize::MAX);
        most(self.rows).min(most(self.row_limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::Metadata;
    use crate::sampling::SampleOptions;
    use crate::synthesizer::Given;
    use crate::table::read_csv;

    #[test]
    fn no_more_is_sampled_ahead_than_two_chunks_for_each_thread() {
        let metadata = Metadata::from_json_file("data/stores.metadata.json").unwrap();
        let stores = read_csv("data/stores.csv", &metadata).unwrap();
        let builder = ParSynthesizer::builder(metadata).epochs(0).seed(1);
        let synthesizer = builder.hidden_size(4).fit(&stores).unwrap();
        let options = SampleOptions::sequences(1_000_000).threads(3);
        let given = Given::default();
        let (mut stream, _) = synthesizer
            .stream(&options, given, Some(1_000_000))
            .unwrap();
        for taken in 0..5 {
            assert!(stream.next - taken <= 6, "{} before {taken}", stream.next);
            assert!(stream.next().unwrap().is_some());
            assert!(stream.done.len() <= 6);
        }
    }
}
