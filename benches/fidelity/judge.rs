//! Starts `judge.py`, in a virtual environment that is made at the first run.
//! In: files of tables. Out: their scores by name. What is missing for that is said in one line.

use crate::dataset::Dataset;
use crate::results::Measures;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// `judge.py` and the Python that can run it.
pub(crate) struct Judge {
    python: PathBuf,
    script: PathBuf,
}

impl Judge {
    /// Makes the virtual environment in the folder `venv`, unless it holds what requirements.txt says.
    /// # Errors
    /// Python, its venv module or pip is missing, or pip cannot install the requirements.
    pub(crate) fn set_up(venv: &Path) -> Result<Judge, String> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/fidelity");
        let judge = Judge {
            python: venv.join(if cfg!(windows) {
                "Scripts/python.exe"
            } else {
                "bin/python"
            }),
            script: here.join("judge.py"),
        };
        let requirements = here.join("requirements.txt");
        let wanted = std::fs::read_to_string(&requirements)
            .map_err(|error| format!("cannot read {}: {error}", requirements.display()))?;
        // Written last, so it is there only when everything before went well.
        let installed = venv.join("requirements.txt");
        if judge.python.exists()
            && std::fs::read_to_string(&installed).is_ok_and(|text| text == wanted)
        {
            return Ok(judge);
        }
        eprintln!(
            "making the judge's virtual environment in {}",
            venv.display()
        );
        make_environment(venv)?;
        judge.install(&requirements)?;
        std::fs::write(&installed, wanted)
            .map_err(|error| format!("cannot write {}: {error}", installed.display()))?;
        Ok(judge)
    }

    fn install(&self, requirements: &Path) -> Result<(), String> {
        let output = Command::new(&self.python)
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--requirement",
            ])
            .arg(requirements)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("cannot start {}: {error}", self.python.display()))?;
        succeeded(&output).map_err(|line| {
            format!("pip cannot install the judge's packages (benches/fidelity/requirements.txt; Python 3.11 or later is needed): {line}")
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
        let output = Command::new(&self.python)
            .arg(&self.script)
            .arg(command)
            .arg(dataset.metadata())
            .args(paths)
            .args(more)
            .arg("--context")
            .args(dataset.context)
            // Threads that wait in loops would take the cores from everything else.
            .env("OMP_NUM_THREADS", "1")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("cannot start {}: {error}", self.python.display()))?;
        let failed =
            |line: String| format!("{}: `judge.py {command}` failed: {line}", dataset.name);
        succeeded(&output).map_err(failed)?;
        serde_json::from_slice(&output.stdout).map_err(|error| failed(error.to_string()))
    }
}

fn make_environment(venv: &Path) -> Result<(), String> {
    const INSTALL: &str =
        "Python 3.11 or later with venv and pip (Debian, Ubuntu: `apt install python3-venv`)";
    let python = OsStr::new(if cfg!(windows) { "python" } else { "python3" });
    let output = Command::new(python)
        .args(["-m", "venv", "--clear"])
        .arg(venv)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            format!(
                "`{}` cannot be started ({error}): install {INSTALL}",
                python.display()
            )
        })?;
    succeeded(&output).map_err(|line| {
        format!(
            "`{}` cannot make a virtual environment ({line}): install {INSTALL}",
            python.display()
        )
    })
}

/// What a failed program said, in one line: its last error, or else the beginning of its output.
fn succeeded(output: &Output) -> Result<(), String> {
    if output.status.success() {
        return Ok(());
    }
    let (errors, said) = (
        String::from_utf8_lossy(&output.stderr),
        String::from_utf8_lossy(&output.stdout),
    );
    let spoken = |line: &&str| !line.trim().is_empty();
    let line = errors.lines().rfind(spoken).or(said.lines().find(spoken));
    Err(line.map_or_else(|| output.status.to_string(), |line| line.trim().to_owned()))
}
