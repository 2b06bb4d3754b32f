//! Starts `judge.py`, in a virtual environment that is made at the first run.
//! In: files of tables. Out: their scores by name. What is missing for that is said in one line.

use crate::dataset::Dataset;
use crate::environment::Environment;
use crate::results::Measures;
use std::path::{Path, PathBuf};

/// `judge.py` and the Python that can run it.
pub(crate) struct Judge {
    environment: Environment,
    script: PathBuf,
}

impl Judge {
    /// Makes the virtual environment in the folder `venv`, unless it holds what requirements.txt says.
    /// # Errors
    /// Python, its venv module or pip is missing, or pip cannot install the requirements.
    pub(crate) fn set_up(venv: &Path) -> Result<Judge, String> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/fidelity");
        Ok(Judge {
            environment: Environment::set_up(venv, &here.join("requirements.txt"))?,
            script: here.join("judge.py"),
        })
    }

    /// Writes a fifth of the sequences to `holdout.csv` and the others to `train.csv`, always the same ones.
    pub(crate) fn split(&self, dataset: &Dataset, folder: &Path) -> Result<(), String> {
        self.ask(dataset, "split", &[&dataset.data(), folder], &[])
            .map(drop)
    }

    /// Writes a random half of the sequences to `seen.csv` and the other to `unseen.csv`; a number's halves are always
    /// the same.
    pub(crate) fn halves(
        &self,
        dataset: &Dataset,
        folder: &Path,
        number: u64,
    ) -> Result<(), String> {
        let number = number.to_string();
        self.ask(
            dataset,
            "halves",
            &[&dataset.data(), folder],
            &["--number", &number],
        )
        .map(drop)
    }

    /// What halves of the real table score against each other.
    pub(crate) fn ceiling(&self, dataset: &Dataset) -> Result<Measures, String> {
        self.ask(dataset, "ceiling", &[&dataset.data()], &[])
    }

    /// The scores of a synthetic table.
    pub(crate) fn score(
        &self,
        dataset: &Dataset,
        real: &Path,
        holdout: &Path,
        synthetic: &Path,
    ) -> Result<Measures, String> {
        self.ask(dataset, "score", &[real, holdout, synthetic], &[])
    }

    /// Runs one command of the judge, which answers with a JSON object of numbers.
    fn ask(
        &self,
        dataset: &Dataset,
        command: &str,
        paths: &[&Path],
        more: &[&str],
    ) -> Result<Measures, String> {
        let mut judge = self.environment.command();
        judge
            .arg(&self.script)
            .arg(command)
            .arg(dataset.metadata())
            .args(paths)
            .args(more)
            .arg("--context")
            .args(dataset.context)
            // Threads that wait in loops would take the cores from everything else.
            .env("OMP_NUM_THREADS", "1");
        let failed =
            |line: String| format!("{}: `judge.py {command}` failed: {line}", dataset.name);
        let answer = self.environment.output(&mut judge).map_err(failed)?;
        serde_json::from_slice(&answer).map_err(|error| failed(error.to_string()))
    }
}
