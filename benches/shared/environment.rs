//! A Python environment of a bench's own, made at its first run.
//! In: a file of requirements. Out: its Python. What is missing for that is said in one line.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A virtual environment that holds what a file of requirements lists.
pub(crate) struct Environment {
    python: PathBuf,
}

impl Environment {
    /// Makes the virtual environment in the folder `venv`, unless it holds what `requirements` says.
    /// # Errors
    /// Python, its venv module or pip is missing, or pip cannot install the requirements.
    pub(crate) fn set_up(venv: &Path, requirements: &Path) -> Result<Environment, String> {
        let environment = Environment {
            python: venv.join(if cfg!(windows) {
                "Scripts/python.exe"
            } else {
                "bin/python"
            }),
        };
        let wanted = std::fs::read_to_string(requirements)
            .map_err(|error| format!("cannot read {}: {error}", requirements.display()))?;
        // Written last, so it is there only when everything before went well.
        let installed = venv.join("requirements.txt");
        if environment.python.exists()
            && std::fs::read_to_string(&installed).is_ok_and(|text| text == wanted)
        {
            return Ok(environment);
        }
        eprintln!("making the virtual environment {}", venv.display());
        make(venv)?;
        environment.install(requirements)?;
        std::fs::write(&installed, wanted)
            .map_err(|error| format!("cannot write {}: {error}", installed.display()))?;
        Ok(environment)
    }

    /// Its Python, with nothing to read from.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.python);
        command.stdin(Stdio::null());
        command
    }

    /// What the Python said, if it went well.
    /// # Errors
    /// It cannot be started, or it failed: what it said, in one line.
    pub(crate) fn output(&self, command: &mut Command) -> Result<Vec<u8>, String> {
        let output = command
            .output()
            .map_err(|error| format!("cannot start {}: {error}", self.python.display()))?;
        succeeded(&output).map(|()| output.stdout)
    }

    fn install(&self, requirements: &Path) -> Result<(), String> {
        let pip = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--requirement",
        ];
        self.output(self.command().args(pip).arg(requirements))
            .map(drop)
            .map_err(|line| {
                format!(
                    "pip cannot install {} (Python 3.11 or later is needed): {line}",
                    requirements.display()
                )
            })
    }
}

fn make(venv: &Path) -> Result<(), String> {
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
