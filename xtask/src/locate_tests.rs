use super::*;
use std::ffi::OsStr;

/// A folder that passes for the libtorch of `version`, built for the processor that ELF numbers `machine`.
fn libtorch_in(home: &Path, version: &str, machine: u8) {
    fs::create_dir_all(home.join("lib")).expect("a folder");
    let mut header = [0_u8; 64];
    header[..4].copy_from_slice(b"\x7fELF");
    header[18] = machine;
    fs::write(home.join("lib/libtorch_cpu.so"), header).expect("a library");
    fs::write(home.join("build-version"), format!("{version}+cpu\n")).expect("a version");
}

const X86_64: u8 = 62;
const AARCH64: u8 = 183;

struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("root")).expect("a repository");
        Self { folder }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// No python3 on `PATH`: whoever tries to fetch fails.
    fn run(&self, variables: &[(&str, &OsStr)]) -> Result<PathBuf, String> {
        let (bin, cache) = (self.at("bin"), self.at("cache"));
        let mut all = vec![
            ("PATH", bin.as_os_str()),
            ("PARSYNTH_CACHE", cache.as_os_str()),
        ];
        all.extend(variables);
        libtorch(&Context::for_test(&self.at("root"), &all)).map_err(|problem| problem.to_string())
    }
}

#[test]
fn libtorch_of_the_user_is_taken_and_later_shells_find_it() {
    let world = World::new();
    let home = world.at("mine");
    libtorch_in(&home, "2.13.0", X86_64);
    assert_eq!(
        world.run(&[("LIBTORCH", home.as_os_str())]),
        Ok(home.clone())
    );
    assert_eq!(
        fs::read_link(world.at("root/.libtorch")).expect("a link"),
        home
    );
    // Cargo's own configuration is what a bare shell sees.
    let link = world.at("root/.libtorch");
    assert_eq!(
        world.run(&[("LIBTORCH", link.as_os_str())]),
        Ok(link.clone())
    );
    assert_eq!(world.run(&[]), Ok(link));
}

#[test]
fn a_wrong_libtorch_of_the_user_is_one_line() {
    for (version, machine, wanted) in [
        (
            "2.12.1",
            X86_64,
            "holds libtorch 2.12.1, exactly 2.13.0 is wanted",
        ),
        (
            "2.13.0",
            AARCH64,
            "is built for linux aarch64, linux x86_64 is wanted",
        ),
    ] {
        let world = World::new();
        let home = world.at("mine");
        libtorch_in(&home, version, machine);
        let problem = world
            .run(&[("LIBTORCH", home.as_os_str())])
            .expect_err("it is wrong");
        assert!(
            problem.starts_with("LIBTORCH: ") && problem.contains(wanted),
            "{problem}"
        );
        assert!(!problem.contains('\n') && !world.at("root/.libtorch").exists());
    }
    let problem = World::new()
        .run(&[("LIBTORCH", "/nowhere".as_ref())])
        .expect_err("it is empty");
    assert!(problem.contains("no libtorch in /nowhere"), "{problem}");
    let problem = World::new()
        .run(&[("LIBTORCH", "mine".as_ref())])
        .expect_err("it is relative");
    assert!(
        problem.contains("`mine`: give an absolute path"),
        "{problem}"
    );
}

#[test]
fn another_version_passes_where_torch_sys_lets_it() {
    let world = World::new();
    let home = world.at("mine");
    libtorch_in(&home, "2.12.1", X86_64);
    let bypass = [
        ("LIBTORCH", home.as_os_str()),
        ("LIBTORCH_BYPASS_VERSION_CHECK", "1".as_ref()),
    ];
    assert_eq!(world.run(&bypass), Ok(home));
}

#[test]
fn pytorch_of_the_user_comes_first_and_its_version_counts() {
    let world = World::new();
    let home = world.at("site/torch");
    libtorch_in(&home, "2.13.0", X86_64);
    let missing = world
        .run(&[("LIBTORCH_USE_PYTORCH", "1".as_ref())])
        .expect_err("no python3");
    assert!(
        missing.starts_with("LIBTORCH_USE_PYTORCH: `python3` cannot be started"),
        "{missing}"
    );

    let python = world.at("bin/python3");
    fs::create_dir(world.at("bin")).expect("a folder");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/python3");
    std::os::unix::fs::symlink(script, python).expect("a link");
    let path = format!("{}:/usr/bin:/bin", world.at("bin").display());
    let with = |version: &str| {
        world.run(&[
            ("PATH", path.as_ref()),
            ("LIBTORCH_USE_PYTORCH", "1".as_ref()),
            ("LIBTORCH", "/nowhere".as_ref()),
            ("TORCH", version.as_ref()),
            ("TORCH_HOME", home.as_os_str()),
        ])
    };
    assert_eq!(with("2.13.0"), Ok(home.clone()));
    let problem = with("2.9.1").expect_err("another version");
    assert!(
        problem.contains("`python3` has PyTorch 2.9.1; PyTorch 2.13.0 is wanted"),
        "{problem}"
    );
}

#[test]
fn a_link_that_leads_nowhere_is_replaced_and_a_folder_is_not() {
    let world = World::new();
    let link = world.at("root/.libtorch");
    std::os::unix::fs::symlink("/nowhere", &link).expect("a link");
    let context = Context::for_test(&world.at("root"), &[]);
    lead_to(&context, &link, &world.at("mine")).expect("a link is replaced");
    assert_eq!(fs::read_link(&link).expect("a link"), world.at("mine"));

    fs::remove_file(&link).expect("a link");
    fs::create_dir(&link).expect("a folder");
    let problem = lead_to(&context, &link, &world.at("mine"))
        .expect_err("it may be the user's")
        .to_string();
    assert!(
        problem.contains("is a folder without libtorch 2.13.0"),
        "{problem}"
    );
}
