//! A table of new sequences in parts: as an iterator of frames, or into a file.
//! In: what [`ParSynthesizer::sample_with`] and its like take. Out: the same table, of which some sequences are in memory
//! at a time.

use super::stream::SequenceStream;
use super::{Given, ParSynthesizer, check_amount};
use crate::decode::MadeUp;
use crate::error::Result;
use crate::params::{SEQUENCES_PER_PART, within};
use crate::report::SampleReport;
use crate::sample::SampledSequences;
use crate::sampling::{Condition, SampleOptions};
use crate::table::{write_csv_parts, write_parquet_parts};
use polars::frame::DataFrame;
use std::path::Path;
use std::time::Instant;

/// A part of a file has at least so many rows, but for the last.
const ROWS_PER_FILE_PART: usize = 1 << 17;

/// How large a part is.
#[derive(Debug, Clone, Copy)]
enum PartSize {
    Sequences(usize),
    /// Whole sequences until there are at least so many.
    Rows(usize),
}

/// The parts of a table of new sequences, one frame after the other: see [`ParSynthesizer::sample_in_parts`].
///
/// Threads sample ahead, a few chunks of 512 sequences at most, and end when it is dropped. After an error there are no
/// more parts.
pub struct SampledParts<'a> {
    stream: SequenceStream<'a>,
    made_up: MadeUp<'a>,
    size: PartSize,
    /// Sampled, and not yet in a part.
    waiting: SampledSequences,
    sequences: usize,
    rows: usize,
    started: Instant,
    is_over: bool,
}

impl std::fmt::Debug for SampledParts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SampledParts")
            .field("size", &self.size)
            .field("sequences", &self.sequences)
            .field("rows", &self.rows)
            .field("is_over", &self.is_over)
            .finish_non_exhaustive()
    }
}

impl ParSynthesizer {
    /// New sequences as the options say, in frames of so many sequences each, the last of fewer: put together, they are
    /// what [`sample_with`](Self::sample_with) gives for the same seed, bit for bit. For tables that memory cannot hold.
    ///
    /// `sequences_per_part`: `1..=1_000_000_000`.
    ///
    /// ```
    /// # use parsynth::{Metadata, ParSynthesizer, SampleOptions, read_csv};
    /// # use polars::prelude::ChunkAgg;
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// # let synthesizer = ParSynthesizer::builder(metadata).context_columns(["region"]).epochs(0).fit(&data)?;
    /// let options = SampleOptions::sequences(1_000).seed(7);
    /// let (mut rows, mut customers) = (0, 0);
    /// for part in synthesizer.sample_in_parts(&options, 300)? {
    ///     let part = part?; // 300 whole sequences, the last time 100
    ///     rows += part.height();
    ///     customers += part.column("nb_customers")?.i64()?.sum().unwrap_or(0);
    /// }
    /// let whole = synthesizer.sample_with(&options)?;
    /// assert_eq!(rows, whole.height());
    /// assert_eq!(customers, whole.column("nb_customers")?.i64()?.sum().unwrap_or(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// # Errors
    /// As [`sample_with`](Self::sample_with): options are checked at once, what goes wrong later is the last item.
    /// [`Error::Option`](crate::Error::Option) also for a part of 0 sequences.
    pub fn sample_in_parts(
        &self,
        options: &SampleOptions,
        sequences_per_part: usize,
    ) -> Result<SampledParts<'_>> {
        check_amount(options)?;
        let size = checked_size(sequences_per_part)?;
        self.parts(options, Given::default(), options.sequences, size)
    }

    /// One new sequence for each row of a frame of context columns, in parts as those of
    /// [`sample_in_parts`](Self::sample_in_parts).
    /// # Errors
    /// As [`sample_sequential_columns_with`](Self::sample_sequential_columns_with) and
    /// [`sample_in_parts`](Self::sample_in_parts).
    pub fn sample_sequential_columns_in_parts(
        &self,
        context: &DataFrame,
        options: &SampleOptions,
        sequences_per_part: usize,
    ) -> Result<SampledParts<'_>> {
        let size = checked_size(sequences_per_part)?;
        let (given, sequences) = self.given_by_rows(context, options)?;
        self.parts(options, given, Some(sequences), size)
    }

    /// New sequences for each condition, in parts as those of [`sample_in_parts`](Self::sample_in_parts); a part may
    /// hold the end of one condition and the beginning of the next.
    /// # Errors
    /// As [`sample_from_conditions_with`](Self::sample_from_conditions_with) and
    /// [`sample_in_parts`](Self::sample_in_parts).
    pub fn sample_from_conditions_in_parts(
        &self,
        conditions: &[Condition],
        options: &SampleOptions,
        sequences_per_part: usize,
    ) -> Result<SampledParts<'_>> {
        let size = checked_size(sequences_per_part)?;
        let (given, sequences) = self.given_by_conditions(conditions, options)?;
        self.parts(options, given, Some(sequences), size)
    }

    /// Samples straight into a Parquet file, which holds what [`write_parquet`](crate::write_parquet) would write of
    /// [`sample_with`](Self::sample_with), in row groups of at least 131,072 rows. No more than that is in memory at a
    /// time, but for the threads' look-ahead, and for some 40 bytes of each value of a personal column whose values must
    /// differ. The file gets its name when it is whole: an error or a
    /// [`cancel_token`](SampleOptions::cancel_token) leaves what was there before.
    ///
    /// ```
    /// # use parsynth::{Metadata, ParSynthesizer, SampleOptions, read_csv, read_parquet};
    /// # let metadata = Metadata::from_json_file("data/stores.metadata.json")?;
    /// # let data = read_csv("data/stores.csv", &metadata)?;
    /// # let synthesizer = ParSynthesizer::builder(metadata).context_columns(["region"]).epochs(0).fit(&data)?;
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("stores.parquet");
    /// let options = SampleOptions::sequences(1_000).seed(7);
    /// let report = synthesizer.sample_to_parquet(&path, &options)?;
    /// assert_eq!((report.sequences, report.rows), (1_000, 7_000));
    /// assert!(read_parquet(&path)?.equals_missing(&synthesizer.sample_with(&options)?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    /// # Errors
    /// As [`sample_with`](Self::sample_with) and [`write_parquet`](crate::write_parquet).
    pub fn sample_to_parquet(
        &self,
        path: impl AsRef<Path>,
        options: &SampleOptions,
    ) -> Result<SampleReport> {
        self.file_parts(options)?.write_parquet(path)
    }

    /// Samples straight into a CSV file, which is the one that [`write_csv`](crate::write_csv) would write of
    /// [`sample_with`](Self::sample_with), as [`sample_to_parquet`](Self::sample_to_parquet) does.
    /// # Errors
    /// As [`sample_with`](Self::sample_with) and [`write_csv`](crate::write_csv).
    pub fn sample_to_csv(
        &self,
        path: impl AsRef<Path>,
        options: &SampleOptions,
    ) -> Result<SampleReport> {
        self.file_parts(options)?.write_csv(path)
    }

    fn file_parts(&self, options: &SampleOptions) -> Result<SampledParts<'_>> {
        check_amount(options)?;
        let size = PartSize::Rows(ROWS_PER_FILE_PART);
        self.parts(options, Given::default(), options.sequences, size)
    }

    fn parts(
        &self,
        options: &SampleOptions,
        given: Given,
        sequences: Option<usize>,
        size: PartSize,
    ) -> Result<SampledParts<'_>> {
        let (stream, made_up) = self.stream(options, given, sequences)?;
        Ok(SampledParts {
            stream,
            made_up,
            size,
            waiting: SampledSequences::empty(&self.layout),
            sequences: 0,
            rows: 0,
            started: Instant::now(),
            is_over: false,
        })
    }
}

impl SampledParts<'_> {
    /// Writes the parts that are left into a Parquet file, each a row group. The file gets its name when it is whole.
    /// # Errors
    /// As [`sample_to_parquet`](ParSynthesizer::sample_to_parquet).
    pub fn write_parquet(mut self, path: impl AsRef<Path>) -> Result<SampleReport> {
        let empty = self.empty()?;
        write_parquet_parts(&empty, &mut self, path.as_ref())?;
        Ok(self.report())
    }

    /// Writes the parts that are left into a CSV file with a header line. The file gets its name when it is whole.
    /// # Errors
    /// As [`sample_to_csv`](ParSynthesizer::sample_to_csv).
    pub fn write_csv(mut self, path: impl AsRef<Path>) -> Result<SampleReport> {
        let empty = self.empty()?;
        write_csv_parts(&empty, &mut self, path.as_ref())?;
        Ok(self.report())
    }

    fn report(&self) -> SampleReport {
        SampleReport {
            sequences: self.sequences,
            rows: self.rows,
            elapsed: self.started.elapsed(),
        }
    }

    /// The table without rows.
    fn empty(&self) -> Result<DataFrame> {
        let synthesizer = self.stream.synthesizer;
        let seed = self.stream.request.seed;
        let mut made_up = MadeUp::new(&synthesizer.schema, &synthesizer.identifiers, seed);
        let decoding = synthesizer.decoding(&self.stream.given, &self.stream.request);
        let columns =
            decoding.columns(&SampledSequences::empty(&synthesizer.layout), &mut made_up)?;
        Ok(synthesizer.schema.to_frame(columns)?)
    }

    /// The sequences of the next part; none when that was all.
    fn next_sequences(&mut self) -> Result<Option<SampledSequences>> {
        self.stream.check_cancelled()?;
        loop {
            if let Some(sequences) = self.size.sequences_of(&self.waiting) {
                return Ok(Some(self.waiting.take_first(sequences)));
            }
            match self.stream.next()? {
                Some(sampled) => self.waiting.append(sampled),
                None if self.waiting.lengths.is_empty() => return Ok(None),
                None => return Ok(Some(self.waiting.take_first(usize::MAX))),
            }
        }
    }

    fn next_part(&mut self) -> Result<Option<DataFrame>> {
        let Some(sampled) = self.next_sequences()? else {
            return Ok(None);
        };
        let synthesizer = self.stream.synthesizer;
        let decoding = synthesizer.decoding(&self.stream.given, &self.stream.request);
        let columns = decoding.columns(&sampled, &mut self.made_up)?;
        let part = synthesizer.schema.to_frame(columns)?;
        self.sequences += sampled.lengths.len();
        self.rows += part.height();
        Ok(Some(part))
    }
}

impl Iterator for SampledParts<'_> {
    type Item = Result<DataFrame>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let part = self.next_part();
        self.is_over = !matches!(part, Ok(Some(_)));
        part.transpose()
    }
}

impl std::iter::FusedIterator for SampledParts<'_> {}

impl PartSize {
    /// How many of these sequences make a part; none where it takes more.
    fn sequences_of(self, waiting: &SampledSequences) -> Option<usize> {
        match self {
            PartSize::Sequences(sequences) => {
                (waiting.lengths.len() >= sequences).then_some(sequences)
            }
            PartSize::Rows(rows) => {
                let mut until = 0;
                let last = waiting.lengths.iter().position(|length| {
                    until += length;
                    until >= rows
                });
                last.map(|last| last + 1)
            }
        }
    }
}

fn checked_size(sequences_per_part: usize) -> Result<PartSize> {
    within(
        "sequences_per_part",
        sequences_per_part,
        &SEQUENCES_PER_PART,
    )?;
    Ok(PartSize::Sequences(sequences_per_part))
}
