//! Runs the peers' scripts, each in a process and a Python environment of its own.

use crate::comparison::{Answer, read_answer};
use crate::dataset::Dataset;
use crate::environment::Environment;
use clap::ValueEnum;
use std::ffi::OsStr;
use std::path::Path;

/// Whom we are compared with.
#[derive(Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Peer {
    /// SDV's PARSynthesizer
    Sdv,
    /// MOSTLY AI's engine
    Mostly,
}

impl Peer {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Peer::Sdv => "SDV",
            Peer::Mostly => "MOSTLY AI",
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Peer::Sdv => "sdv",
            Peer::Mostly => "mostly",
        }
    }
}

/// A peer that is installed.
pub(crate) struct Installed {
    peer: Peer,
    environment: Environment,
    threads: usize,
}

impl Installed {
    /// # Errors
    /// It cannot be installed.
    pub(crate) fn set_up(peer: Peer, folder: &Path, threads: usize) -> Result<Installed, String> {
        let word = peer.word();
        let requirements =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("benches/peers/{word}.txt"));
        Ok(Installed {
            peer,
            environment: Environment::set_up(&folder.join(word), &requirements)?,
            threads,
        })
    }

    /// Fits the file `data` for so many epochs, keeps the model at `model`, and writes as many sequences as were
    /// fitted.
    pub(crate) fn fit(
        &self,
        dataset: &Dataset,
        [data, model, synthetic]: [&Path; 3],
        epochs: usize,
    ) -> Result<Answer, String> {
        let metadata = dataset.metadata();
        let mut words = vec!["fit".as_ref(), metadata.as_os_str()];
        words.extend([data, model, synthetic].map(Path::as_os_str));
        let epochs = epochs.to_string();
        words.extend(["--epochs", &epochs, "--context"].map(OsStr::new));
        words.extend(dataset.context.iter().map(OsStr::new));
        self.ask(&words)
    }

    /// Runs one command of the script.
    pub(crate) fn ask(&self, words: &[&OsStr]) -> Result<Answer, String> {
        let script = format!("benches/peers/with_{}.py", self.peer.word());
        let threads = self.threads.to_string();
        let mut command = self.environment.command();
        command
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(script))
            .args(["--threads", &threads])
            .args(words);
        for name in ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"] {
            command.env(name, &threads);
        }
        let answer = self.environment.output(&mut command);
        let task = words.first().unwrap_or(&OsStr::new("")).display();
        answer
            .and_then(|stdout| read_answer(&stdout))
            .map_err(|line| format!("{} could not {task}: {line}", self.peer.name()))
    }
}
