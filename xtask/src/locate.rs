//! Finds the libtorch in use: the user's, else the one the repository's `.libtorch` leads to, else a fetched one.
//! In: the environment. Out: its folder, checked, and `.libtorch` leading to it, where `.cargo/config.toml` looks.

use crate::check::{LIBTORCH_VERSION, check};
use crate::context::{Context, Problem};
use crate::{fetch, platform};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folder (`include/`, `lib/`) of the libtorch that cargo will use.
///
/// # Errors
/// The user named one that cannot be used, or none can be fetched.
pub(crate) fn libtorch(context: &Context) -> Result<PathBuf, Problem> {
    let link = context.root.join(".libtorch");
    if let Some(home) = chosen_by_user(context, &link)? {
        // The next command may run in a shell that does not name it.
        if fs::symlink_metadata(&link).is_err() {
            lead_to(context, &link, &home)?;
        }
        return Ok(home);
    }
    let platform = platform::find(context.os, context.arch, cfg!(target_env = "musl"));
    let fetched = platform
        .as_ref()
        .ok()
        .and_then(|platform| Some(fetch::home(&context.cache().ok()?, platform)));
    let led_to = link.canonicalize().ok();
    if led_to.is_some() && led_to != fetched.as_ref().and_then(|home| home.canonicalize().ok()) {
        // A link of the user's own is as good a choice as a variable.
        if check(
            &link,
            &link.join("lib"),
            context.os,
            context.arch,
            any_version(context),
        )
        .is_ok()
        {
            return Ok(link);
        }
    }
    let home = fetch::fetch(context, platform?)?;
    lead_to(context, &link, &home)?;
    Ok(home)
}

fn any_version(context: &Context) -> bool {
    context.variable("LIBTORCH_BYPASS_VERSION_CHECK").is_some()
}

/// Looks where torch-sys looks, in its order.
fn chosen_by_user(context: &Context, link: &Path) -> Result<Option<PathBuf>, Problem> {
    // torch-sys asks whether it is set, whatever its value.
    if context.variable("LIBTORCH_USE_PYTORCH").is_some() {
        return pytorch(context).map(Some);
    }
    // Cargo sets LIBTORCH from the repository's configuration for xtask, too: that is not the user's word.
    let named = context
        .variable("LIBTORCH")
        .map(Path::new)
        .filter(|home| !same_entry(home, link));
    let libraries = context.variable("LIBTORCH_LIB").map(Path::new);
    let (name, home) = match (named, libraries) {
        (Some(home), _) => ("LIBTORCH", home),
        (None, Some(home)) => ("LIBTORCH_LIB", home),
        (None, None) => return Ok(None),
    };
    let lib = libraries.unwrap_or(home).join("lib");
    if home.as_os_str().is_empty() || !home.is_absolute() || !lib.is_absolute() {
        return Err(Problem::new(format!(
            "{name} is `{}`: give an absolute path (build scripts run in folders of their own), or unset it and libtorch \
             {LIBTORCH_VERSION} is fetched",
            home.display()
        )));
    }
    let wrong = check(home, &lib, context.os, context.arch, any_version(context));
    wrong.map_err(|problem| {
        Problem::new(format!(
            "{name}: {problem}; correct it, or unset it and the right one is fetched"
        ))
    })?;
    Ok(Some(home.to_path_buf()))
}

/// The libtorch of the Python package that LIBTORCH_USE_PYTORCH stands for.
fn pytorch(context: &Context) -> Result<PathBuf, Problem> {
    let python = match (context.os, context.variable("VIRTUAL_ENV")) {
        ("windows", _) => "python.exe",
        (_, Some(_)) => "python",
        (_, None) => "python3",
    };
    let program = "import os, torch; print(torch.__version__.split('+')[0]); print(os.path.dirname(torch.__file__))";
    let problem = |text: String| {
        Problem::new(format!(
            "LIBTORCH_USE_PYTORCH: {text}; PyTorch {LIBTORCH_VERSION} is wanted, or unset the variable"
        ))
    };
    let output = context
        .command(python)
        .args(["-c", program])
        .current_dir(&context.root)
        .output();
    let output =
        output.map_err(|error| problem(format!("`{python}` cannot be started ({error})")))?;
    let (out, said) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    let mut lines = out.lines().map(str::trim);
    let (Some(version), Some(home), true) = (lines.next(), lines.next(), output.status.success())
    else {
        let reason = said.lines().last().unwrap_or("it says nothing").trim();
        return Err(problem(format!(
            "`{python}` cannot import torch ({reason})"
        )));
    };
    if version != LIBTORCH_VERSION && !any_version(context) {
        return Err(problem(format!("`{python}` has PyTorch {version}")));
    }
    let home = PathBuf::from(home);
    check(&home, &home.join("lib"), context.os, context.arch, true).map_err(problem)?;
    Ok(home)
}

/// Whether both paths name one directory entry, links not followed in its last part.
fn same_entry(one: &Path, other: &Path) -> bool {
    let folder = |path: &Path| path.parent().and_then(|parent| parent.canonicalize().ok());
    one == other
        || (one.file_name() == other.file_name()
            && folder(one).is_some()
            && folder(one) == folder(other))
}

/// Makes `link` lead to `home`.
fn lead_to(context: &Context, link: &Path, home: &Path) -> Result<(), Problem> {
    if fs::read_link(link).is_ok_and(|old| old == home) {
        return Ok(());
    }
    let problem = |error: io::Error| {
        Problem::new(format!(
            "cannot make {} lead to {}: {error}",
            link.display(),
            home.display()
        ))
    };
    match fs::symlink_metadata(link) {
        Err(_) => {}
        Ok(found) if found.is_dir() && fs::read_link(link).is_err() => {
            return Err(Problem::new(format!(
                "{} is a folder without libtorch {LIBTORCH_VERSION} for {} {}; remove it and run this again",
                link.display(),
                context.os,
                context.arch
            )));
        }
        // A junction is removed as a folder, a link as a file.
        Ok(_) => fs::remove_file(link)
            .or_else(|_| fs::remove_dir(link))
            .map_err(problem)?,
    }
    match make_link(context, link, home) {
        // A second run was faster.
        Err(_) if fs::read_link(link).is_ok_and(|now| now == home) => Ok(()),
        outcome => outcome.map_err(problem),
    }
}

#[cfg(unix)]
fn make_link(_: &Context, link: &Path, home: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(home, link)
}

/// A junction: unlike a symbolic link it needs no privilege on Windows.
#[cfg(not(unix))]
fn make_link(context: &Context, link: &Path, home: &Path) -> io::Result<()> {
    let made = context
        .command("cmd")
        .args(["/C", "mklink", "/J"])
        .arg(link)
        .arg(home)
        .output()?;
    if made.status.success() {
        Ok(())
    } else {
        Err(io::Error::other(
            String::from_utf8_lossy(&made.stderr).trim().to_owned(),
        ))
    }
}

#[cfg(all(test, unix))]
#[path = "locate_tests.rs"]
mod tests;
