//! Our side: fits, samples, and loads a model in a fresh process; each timed.

use crate::comparison::{Answer, Time, median, read_answer};
use crate::dataset::Dataset;
use parsynth::{Metadata, ParSynthesizer, SampleOptions, read_csv};
use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Samples that are shorter are noise.
const LEAST_SAMPLING: Duration = Duration::from_secs(1);
const RUNS: usize = 3;
/// Of a load, which takes milliseconds.
const LOADS: usize = 9;

/// Fits the file `data`, for at most so many epochs or as many as it takes.
pub(crate) fn fit(
    dataset: &Dataset,
    data: &Path,
    epochs: Option<usize>,
    seed: u64,
    threads: usize,
) -> Result<(ParSynthesizer, Time), Box<dyn Error>> {
    let metadata = Metadata::from_json_file(dataset.metadata())?;
    let frame = read_csv(data, &metadata)?;
    let mut builder = ParSynthesizer::builder(metadata)
        .context_columns(dataset.context.iter().copied())
        .seed(seed)
        .threads(threads);
    if let Some(epochs) = epochs {
        builder = builder.epochs(epochs);
    }
    let (fitted, time) = timed(|| builder.fit(&frame));
    Ok((fitted?, time))
}

/// Samples sequences of so many rows, enough of them to take a second; the median of three times.
pub(crate) fn sample(
    synthesizer: &ParSynthesizer,
    length: usize,
    threads: usize,
) -> Result<Answer, Box<dyn Error>> {
    let mut sequences = 16;
    let once = |sequences| -> Result<Time, Box<dyn Error>> {
        let options = SampleOptions::sequences(sequences)
            .length(length)
            .seed(7)
            .threads(threads);
        let (frame, time) = timed(|| synthesizer.sample_with(&options));
        assert_eq!(frame?.height(), sequences * length);
        Ok(time)
    };
    while once(sequences)?.wall_secs < LEAST_SAMPLING.as_secs_f64() {
        sequences *= 4;
    }
    let times = (0..RUNS)
        .map(|_| once(sequences))
        .collect::<Result<Vec<Time>, _>>()?;
    Ok(Answer {
        time: median_time(&times),
        rows: Some((sequences * length) as f64),
    })
}

/// Has fresh processes of this program load the model and sample a row; their median.
pub(crate) fn load(model: &Path) -> Result<Time, Box<dyn Error>> {
    let times = (0..LOADS)
        .map(|_| -> Result<Time, Box<dyn Error>> {
            let output = Command::new(std::env::current_exe()?)
                .arg("--load")
                .arg(model)
                .output()?;
            Ok(read_answer(&output.stdout)?.time)
        })
        .collect::<Result<Vec<Time>, _>>()?;
    Ok(median_time(&times))
}

/// What such a process does.
pub(crate) fn load_here(model: &Path) -> Result<(), Box<dyn Error>> {
    let (sampled, time) = timed(|| -> Result<_, Box<dyn Error>> {
        let options = SampleOptions::sequences(1).length(1);
        Ok(ParSynthesizer::load(model)?.sample_with(&options)?)
    });
    assert_eq!(sampled?.height(), 1);
    println!("{}", serde_json::to_string(&time)?);
    Ok(())
}

/// The median of each clock.
pub(crate) fn median_time(times: &[Time]) -> Time {
    let processor: Option<Vec<f64>> = times.iter().map(|time| time.processor_secs).collect();
    Time {
        wall_secs: median(times.iter().map(|time| time.wall_secs).collect()),
        processor_secs: processor.map(median),
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Time) {
    let (started, processor) = (Instant::now(), processor_secs());
    let done = work();
    let time = Time {
        wall_secs: started.elapsed().as_secs_f64(),
        processor_secs: processor_secs()
            .zip(processor)
            .map(|(after, before)| after - before),
    };
    (done, time)
}

/// Of all threads of this process so far; known on Linux alone, to the hundredth.
fn processor_secs() -> Option<f64> {
    const TICKS_PER_SEC: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The program's name, in brackets, may hold spaces; user and system time are the 14th and 15th fields.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / TICKS_PER_SEC)
}
