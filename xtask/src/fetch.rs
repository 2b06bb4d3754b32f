//! Assembles a CPU libtorch from the package index and keeps it in the cache.
//! In: the platform's pinned wheels. Out: `<cache>/<name>/torch` with `include/` and `lib/`, or nothing at all: files
//! are put together in a folder beside it, which is renamed into place once checked and thrown away otherwise.

use crate::check::{LIBTORCH_VERSION, check, main_library};
use crate::context::{Context, Problem};
use crate::platform::{PYTHON_TAG, Platform};
use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Written last; lists the wheels and every library's size.
const MARKER: &str = "complete";

/// Libraries for CUDA devices and for Python: 550 MB that a CPU build in Rust never loads.
const LEFT_OUT: &[&str] = &[
    "libtorch_cuda",
    "libc10_cuda",
    "libtorch_nvshmem",
    "libcaffe2_nvrtc",
    "libtorch_python",
    "torch_python",
];

/// Where the fetched libtorch lies, or will lie.
pub(crate) fn home(cache: &Path, platform: &Platform) -> PathBuf {
    cache.join(platform.name()).join("torch")
}

/// Fetches libtorch unless that was done before; gives its folder.
///
/// # Errors
/// What is missing: Python, pip, network, space, or a wheel that is what it should be.
pub(crate) fn fetch(context: &Context, platform: &Platform) -> Result<PathBuf, Problem> {
    let cache = context.cache()?;
    let place = cache.join(platform.name());
    let home = home(&cache, platform);
    if is_complete(&place, platform) {
        return Ok(home);
    }
    check_system(context, platform)?;
    let unwritable = |error: io::Error| {
        Problem::new(format!(
            "cannot write to the cache folder {}: {error}; set PARSYNTH_CACHE to a folder that can be written",
            cache.display()
        ))
    };
    fs::create_dir_all(&cache).map_err(unwritable)?;
    // Held until this function ends, however it ends: a killed process loses its lock.
    let lock = File::create(cache.join(format!("{}.lock", platform.name()))).map_err(unwritable)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            eprintln!("another run is fetching libtorch {LIBTORCH_VERSION}; waiting for it");
            lock.lock().map_err(unwritable)?;
        }
        Err(TryLockError::Error(error)) => return Err(unwritable(error)),
    }
    if is_complete(&place, platform) {
        return Ok(home);
    }
    let prefix = format!(".staging-{}-", platform.name());
    remove_leftovers(&cache, &prefix);
    let staging = Staging(cache.join(format!("{prefix}{}", std::process::id())));
    fs::create_dir_all(staging.0.join("tmp")).map_err(unwritable)?;

    let python = python(context, &staging.0, platform)?;
    eprintln!(
        "fetching libtorch {LIBTORCH_VERSION} for {} {} ({} MB, once) into {}",
        platform.os,
        platform.arch,
        platform.download_mb,
        place.display()
    );
    install(context, &python, &staging.0, platform)?;
    let ready = staging.0.join("ready");
    let broken = |error: io::Error| {
        Problem::new(format!(
            "cannot put libtorch together in {}: {error}",
            cache.display()
        ))
    };
    assemble(&staging.0.join("site"), &ready).map_err(broken)?;
    let torch = ready.join("torch");
    check(
        &torch,
        &torch.join("lib"),
        platform.os,
        platform.arch,
        false,
    )
    .map_err(|problem| {
        Problem::new(format!(
            "the wheels fetched are not what they should be: {problem}"
        ))
    })?;
    fs::write(torch.join("build-version"), format!("{LIBTORCH_VERSION}\n")).map_err(broken)?;
    fs::write(
        ready.join(MARKER),
        marker(&ready, platform).map_err(broken)?,
    )
    .map_err(broken)?;
    if fs::symlink_metadata(&place).is_ok() {
        fs::rename(&place, staging.0.join("old")).map_err(broken)?;
    }
    fs::rename(&ready, &place).map_err(broken)?;
    Ok(home)
}

/// A folder that goes when the run ends. A run that is killed leaves it to the next.
struct Staging(PathBuf);

impl Drop for Staging {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Only called under the lock, so nobody is at work in them.
fn remove_leftovers(cache: &Path, prefix: &str) {
    for entry in fs::read_dir(cache).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether the cache holds these very wheels, every library in its full size.
fn is_complete(place: &Path, platform: &Platform) -> bool {
    let Ok(text) = fs::read_to_string(place.join(MARKER)) else {
        return false;
    };
    let Some(files) = text.strip_prefix(&platform.requirements()) else {
        return false;
    };
    let whole = |line: &str| {
        let Some((size, file)) = line.split_once(' ') else {
            return false;
        };
        fs::metadata(place.join(file)).is_ok_and(|found| size.parse() == Ok(found.len()))
    };
    files.contains(main_library(platform.os)) && files.lines().all(whole)
}

fn marker(ready: &Path, platform: &Platform) -> io::Result<String> {
    let mut text = platform.requirements();
    for folder in ["torch/lib", "nvidia/cu13/lib"] {
        let Ok(entries) = fs::read_dir(ready.join(folder)) else {
            continue;
        };
        for entry in entries {
            let entry = entry?;
            let size = entry.metadata()?;
            if size.is_file() {
                text += &format!("{} {folder}/{}\n", size.len(), entry.file_name().display());
            }
        }
    }
    Ok(text)
}

/// The wheels are for glibc 2.28 and newer; an older one would be the linker's or the loader's complaint.
fn check_system(context: &Context, platform: &Platform) -> Result<(), Problem> {
    if platform.os != "linux" {
        return Ok(());
    }
    let Ok(output) = context.command("getconf").arg("GNU_LIBC_VERSION").output() else {
        return Ok(());
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text
        .trim()
        .strip_prefix("glibc 2.")
        .and_then(|minor| minor.split('.').next()?.parse::<u32>().ok());
    match version {
        Some(minor) if minor < 28 => Err(Problem::new(format!(
            "this system has glibc 2.{minor}, libtorch {LIBTORCH_VERSION} is published for 2.28 and newer; set LIBTORCH to one you built"
        ))),
        Some(_) | None => Ok(()),
    }
}

/// A Python that has pip, after a look at the space on the cache's disk.
fn python(context: &Context, staging: &Path, platform: &Platform) -> Result<OsString, Problem> {
    let names = if platform.os == "windows" {
        ["python", "py"]
    } else {
        ["python3", "python"]
    };
    let program = "import shutil, sys; print(shutil.disk_usage(sys.argv[1]).free if sys.version_info >= (3, 7) else '')";
    let found = names.iter().find_map(|name| {
        let output = context
            .command(name)
            .args(["-c", program])
            .arg(staging)
            .output()
            .ok()?;
        Some((
            *name,
            String::from_utf8_lossy(&output.stdout)
                .trim()
                .parse::<u64>()
                .ok()?,
        ))
    });
    let (name, free) = found.ok_or_else(|| {
        Problem::new(format!(
            "Python 3 is missing, its pip fetches libtorch: install python3 and python3-pip, or set LIBTORCH to a libtorch {LIBTORCH_VERSION}"
        ))
    })?;
    let free_mb = free / 1_000_000;
    if free_mb < platform.space_mb {
        return Err(no_space(
            staging,
            platform,
            &format!("there are {free_mb} MB"),
        ));
    }
    let has_pip = |python: &OsString| {
        let quiet = context
            .command(python)
            .args(["-m", "pip", "--version"])
            .output();
        quiet.is_ok_and(|output| output.status.success())
    };
    let python = OsString::from(name);
    if has_pip(&python) {
        return Ok(python);
    }
    // A virtual environment brings a pip of its own, where the system's Python lets it.
    let environment = staging.join("venv");
    let _ = context
        .command(name)
        .args(["-m", "venv"])
        .arg(&environment)
        .output();
    let inner = if platform.os == "windows" {
        "Scripts/python.exe"
    } else {
        "bin/python"
    };
    let inner = environment.join(inner).into_os_string();
    if has_pip(&inner) {
        return Ok(inner);
    }
    Err(Problem::new(format!(
        "pip is missing (`{name} -m pip`), it fetches libtorch: install it (Debian, Ubuntu: `apt install python3-pip`), or set LIBTORCH to a libtorch {LIBTORCH_VERSION}"
    )))
}

fn no_space(staging: &Path, platform: &Platform, found: &str) -> Problem {
    Problem::new(format!(
        "no space to unpack libtorch in {}: {found}, {} MB are wanted; free some or set PARSYNTH_CACHE to a folder elsewhere",
        staging.parent().unwrap_or(staging).display(),
        platform.space_mb
    ))
}

/// Lets pip fetch, verify and unpack the wheels into `staging/site`, its progress shown as it comes.
fn install(
    context: &Context,
    python: &OsString,
    staging: &Path,
    platform: &Platform,
) -> Result<(), Problem> {
    let requirements = staging.join("requirements.txt");
    let written = fs::write(&requirements, platform.requirements());
    written.map_err(|error| {
        Problem::new(format!("cannot write {}: {error}", requirements.display()))
    })?;
    let mut command = context.command(python);
    command.args([
        "-m",
        "pip",
        "install",
        "--no-deps",
        "--no-compile",
        "--no-cache-dir",
        "--only-binary=:all:",
    ]);
    command.args(["--implementation", "cp", "--python-version", PYTHON_TAG]);
    for tag in platform.tags {
        command.args(["--platform", tag]);
    }
    command
        .arg("--require-hashes")
        .arg("-r")
        .arg(&requirements)
        .arg("--target")
        .arg(staging.join("site"));
    // Half-fetched files go with the staging folder, and no setting of the user's sends pip elsewhere.
    for name in ["TMPDIR", "TEMP", "TMP"] {
        command.env(name, staging.join("tmp"));
    }
    command
        .env("PIP_USER", "0")
        .env("PIP_REQUIRE_VIRTUALENV", "0")
        .env_remove("PIP_CONSTRAINT");
    command
        .env("PIP_DISABLE_PIP_VERSION_CHECK", "1")
        .env("PIP_ROOT_USER_ACTION", "ignore");
    command
        .current_dir(staging)
        .stdin(Stdio::null())
        .stdout(Stdio::from(io::stderr()))
        .stderr(Stdio::piped());
    let output = command
        .spawn()
        .and_then(std::process::Child::wait_with_output);
    let output = output.map_err(|error| Problem::new(format!("cannot start pip: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(explain(&said, staging, platform))
}

/// pip's failure in one line.
fn explain(said: &str, staging: &Path, platform: &Platform) -> Problem {
    let any = |signs: &[&str]| signs.iter().any(|sign| said.contains(sign));
    let instead = format!("or set LIBTORCH to a libtorch {LIBTORCH_VERSION}");
    if any(&["DO NOT MATCH THE HASHES"]) {
        return Problem::new(format!(
            "a wheel of libtorch {LIBTORCH_VERSION} arrived damaged or changed (its SHA-256 is another): try again, {instead}"
        ));
    }
    if any(&["No space left", "not enough space", "Errno 28"]) {
        return no_space(staging, platform, "it ran full");
    }
    let network = [
        "connection broken",
        "ConnectionError",
        "NewConnection",
        "Timeout",
        "timed out",
        "ProxyError",
    ];
    if any(&network)
        || any(&[
            "SSLError",
            "IncompleteRead",
            "Max retries",
            "ConnectionReset",
            "resolution",
        ])
    {
        return Problem::new(format!(
            "no network: pip cannot reach the package index to fetch libtorch {LIBTORCH_VERSION}; try again with a connection, {instead}"
        ));
    }
    if any(&["No matching distribution"]) {
        return Problem::new(format!(
            "the package index that pip is set to has no torch {LIBTORCH_VERSION} for {} {}; set another index, {instead}",
            platform.os, platform.arch
        ));
    }
    let mut lines = said
        .lines()
        .rev()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let last = lines
        .clone()
        .find(|line| line.starts_with("ERROR"))
        .or_else(|| lines.next())
        .unwrap_or("it says nothing");
    Problem::new(format!(
        "pip cannot fetch libtorch {LIBTORCH_VERSION}: {last}; {instead}"
    ))
}

/// Moves what a Rust build needs out of `site` into `ready`: `torch/{include,lib,share}`, the `nvidia` folder that
/// libtorch_cpu's own rpath points at, and the licences.
fn assemble(site: &Path, ready: &Path) -> io::Result<()> {
    fs::create_dir_all(ready.join("torch"))?;
    for part in ["torch/include", "torch/lib", "torch/share", "nvidia"] {
        if site.join(part).exists() {
            fs::rename(site.join(part), ready.join(part))?;
        }
    }
    for entry in fs::read_dir(site)? {
        let entry = entry?;
        if entry
            .path()
            .extension()
            .is_some_and(|extension| extension == "dist-info")
        {
            fs::rename(entry.path(), ready.join(entry.file_name()))?;
        }
    }
    for entry in fs::read_dir(ready.join("torch/lib"))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if LEFT_OUT.iter().any(|start| name.starts_with(start)) {
            fs::remove_file(entry.path())?;
        }
    }
    // An empty library that pulls in libtorch_cpu and libtorch_cuda. GNU ld (the default on aarch64) keeps it in
    // spite of --as-needed, and a program would then die at start for want of libtorch_cuda.
    #[cfg(unix)]
    {
        let umbrella = ready.join("torch/lib/libtorch.so");
        if umbrella.exists() {
            fs::remove_file(&umbrella)?;
            std::os::unix::fs::symlink("libtorch_cpu.so", &umbrella)?;
        }
    }
    Ok(())
}

#[cfg(all(test, unix))]
#[path = "fetch_tests.rs"]
mod tests;
