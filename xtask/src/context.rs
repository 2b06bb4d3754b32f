//! Where xtask runs: the repository, the environment, the platform.
//! Everything else asks here instead of the process, so that tests can each bring their own environment.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What keeps the set-up from being made, in one line for the user.
#[derive(Debug)]
pub(crate) struct Problem(String);

impl Problem {
    pub(crate) fn new(line: impl Into<String>) -> Self {
        Self(line.into())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The surroundings of one run.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// The repository's root.
    pub(crate) root: PathBuf,
    /// `linux`, `macos`, `windows`, as Rust calls them.
    pub(crate) os: &'static str,
    /// `x86_64`, `aarch64`, as Rust calls them.
    pub(crate) arch: &'static str,
    variables: BTreeMap<OsString, OsString>,
}

impl Context {
    /// The surroundings of this very process, without what `cargo run` put there for xtask's own package: some
    /// build scripts watch those variables and would run anew.
    pub(crate) fn from_process() -> Self {
        let manifest =
            env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let own = |name: &OsStr| {
            let name = name.to_string_lossy();
            name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
        };
        Self {
            root: Path::new(&manifest)
                .parent()
                .map_or_else(PathBuf::new, Path::to_path_buf),
            os: env::consts::OS,
            arch: env::consts::ARCH,
            variables: env::vars_os().filter(|(name, _)| !own(name)).collect(),
        }
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
    }

    /// A program of this environment's `PATH`, with this environment.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(&self.variables);
        command
    }

    /// The folder fetched files are kept in, shared by all clones.
    pub(crate) fn cache(&self) -> Result<PathBuf, Problem> {
        let given = |name: &str| {
            self.variable(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let cache = given("PARSYNTH_CACHE").or_else(|| {
            let platform = match self.os {
                "windows" => given("LOCALAPPDATA"),
                "macos" => given("HOME").map(|home| home.join("Library/Caches")),
                _ => given("XDG_CACHE_HOME")
                    .or_else(|| given("HOME").map(|home| home.join(".cache"))),
            };
            platform.map(|folder| folder.join("parsynth"))
        });
        let cache = cache.ok_or_else(|| {
            Problem::new("no folder to keep libtorch in: neither PARSYNTH_CACHE nor HOME is set")
        })?;
        std::path::absolute(&cache)
            .map_err(|error| Problem::new(format!("{}: {error}", cache.display())))
    }

    #[cfg(test)]
    pub(crate) fn for_test(root: &Path, variables: &[(&str, &OsStr)]) -> Self {
        Self {
            root: root.to_path_buf(),
            os: "linux",
            arch: "x86_64",
            variables: variables
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect(),
        }
    }
}
