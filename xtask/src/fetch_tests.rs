//! A `python3` of our own (`tests/python3`) on `PATH` stands in for the user's: no test fetches anything.

use super::*;
use crate::platform;

struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let python = folder.path().join("bin/python3");
        fs::create_dir(folder.path().join("bin")).expect("a folder in it");
        // A link, not a copy: a file just written may be "busy" while another test starts a process.
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python3");
        std::os::unix::fs::symlink(script, python).expect("a link");
        Self { folder }
    }

    fn context(&self, fake: &str, more: &[(&str, &str)]) -> Context {
        let at = |name: &str| self.folder.path().join(name).into_os_string();
        let path = format!("{}:/usr/bin:/bin", self.folder.path().join("bin").display());
        let (log, cache) = (at("log"), at("cache"));
        let mut variables = vec![
            ("PATH", path.as_ref()),
            ("LOG", &*log),
            ("PARSYNTH_CACHE", &*cache),
            ("FAKE", fake.as_ref()),
        ];
        variables.push(("FREE", "9000000000".as_ref()));
        variables.extend(more.iter().map(|(name, value)| (*name, (*value).as_ref())));
        Context::for_test(self.folder.path(), &variables)
    }

    fn fetch(&self, fake: &str, more: &[(&str, &str)]) -> Result<PathBuf, String> {
        fetch(&self.context(fake, more), linux()).map_err(|problem| problem.to_string())
    }

    /// What a failure says: one line, and nothing left behind.
    fn failure(&self, fake: &str, more: &[(&str, &str)]) -> String {
        let problem = self.fetch(fake, more).expect_err("this cannot work");
        assert!(!problem.contains('\n'), "{problem}");
        assert_eq!(self.cache(), ["libtorch-2.13.0-linux-x86_64.lock"]);
        problem
    }

    fn cache(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path().join("cache")).expect("a cache");
        let mut names: Vec<_> = entries
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }

    fn installs(&self) -> usize {
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        log.lines()
            .filter(|line| line.starts_with("-m pip install"))
            .count()
    }
}

fn linux() -> &'static Platform {
    platform::find("linux", "x86_64", false).expect("the platform of most")
}

#[test]
fn what_was_fetched_is_a_cpu_libtorch_and_is_fetched_once() {
    let world = World::new();
    let home = world.fetch("", &[]).expect("all is there");
    assert_eq!(
        home,
        world
            .folder
            .path()
            .join("cache/libtorch-2.13.0-linux-x86_64/torch")
    );
    assert_eq!(
        world.cache(),
        [
            "libtorch-2.13.0-linux-x86_64",
            "libtorch-2.13.0-linux-x86_64.lock"
        ]
    );
    let lib = |name: &str| home.join("lib").join(name).exists();
    assert!(lib("libtorch_cpu.so") && lib("libc10.so"));
    assert!(
        !lib("libtorch_cuda.so") && !lib("libtorch_cuda_linalg.so") && !lib("libtorch_python.so")
    );
    assert!(
        home.join("lib/../../nvidia/cu13/lib/libcudart.so.13")
            .exists(),
        "libtorch_cpu's own rpath leads there"
    );
    assert_eq!(
        fs::read_to_string(home.join("build-version")).expect("what torch-sys reads"),
        "2.13.0\n"
    );

    assert_eq!(
        world.fetch("network", &[]).expect("no network is needed"),
        home
    );
    assert_eq!(world.installs(), 1);
}

#[test]
fn a_damaged_cache_is_fetched_again() {
    let world = World::new();
    let home = world.fetch("", &[]).expect("all is there");
    fs::write(home.join("lib/libc10.so"), "short").expect("a cut file");
    world.fetch("", &[]).expect("all is there");
    assert_eq!(world.installs(), 2);
    assert!(
        fs::metadata(home.join("lib/libc10.so"))
            .expect("whole again")
            .len()
            > 100
    );
}

#[test]
fn an_interrupted_run_leaves_nothing_to_the_next() {
    let world = World::new();
    let stale = world
        .folder
        .path()
        .join("cache/.staging-libtorch-2.13.0-linux-x86_64-1/site/torch/lib");
    fs::create_dir_all(&stale).expect("a half-made folder");
    fs::create_dir_all(
        world
            .folder
            .path()
            .join("cache/libtorch-2.13.0-linux-x86_64/torch/lib"),
    )
    .expect("no marker");
    world.fetch("", &[]).expect("all is there");
    assert_eq!(
        world.cache(),
        [
            "libtorch-2.13.0-linux-x86_64",
            "libtorch-2.13.0-linux-x86_64.lock"
        ]
    );
}

#[test]
fn two_runs_at_once_fetch_once() {
    let world = World::new();
    std::thread::scope(|scope| {
        let runs = [
            scope.spawn(|| world.fetch("slow", &[])),
            scope.spawn(|| world.fetch("slow", &[])),
        ];
        for run in runs {
            run.join().expect("no panic").expect("all is there");
        }
    });
    assert_eq!(world.installs(), 1);
}

#[test]
fn without_python_it_says_so() {
    let world = World::new();
    fs::remove_file(world.folder.path().join("bin/python3")).expect("it was there");
    let path = world.folder.path().join("bin");
    let problem = world.failure("", &[("PATH", path.to_str().expect("a plain name"))]);
    assert!(problem.starts_with("Python 3 is missing"), "{problem}");
}

#[test]
fn without_pip_it_says_so() {
    let problem = World::new().failure("no-pip", &[]);
    assert!(
        problem.starts_with("pip is missing") && problem.contains("apt install python3-pip"),
        "{problem}"
    );
}

#[test]
fn without_network_it_says_so() {
    assert!(
        World::new()
            .failure("network", &[])
            .starts_with("no network")
    );
}

#[test]
fn without_space_it_says_how_much_is_wanted() {
    let problem = World::new().failure("", &[("FREE", "1200000000")]);
    assert!(
        problem.starts_with("no space") && problem.contains("1200 MB, 1900 MB are wanted"),
        "{problem}"
    );
}

#[test]
fn a_wheel_of_another_content_is_refused() {
    assert!(
        World::new()
            .failure("hash", &[])
            .contains("damaged or changed")
    );
    let problem = World::new().failure("", &[("MINOR", "12")]);
    assert!(
        problem.contains("holds libtorch 2.12.0, exactly 2.13.0 is wanted"),
        "{problem}"
    );
}

#[test]
fn any_other_failure_is_quoted() {
    assert!(
        World::new()
            .failure("other", &[])
            .contains("ERROR: the moon is full")
    );
}
