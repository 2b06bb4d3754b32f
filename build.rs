//! Lets this package's binaries, tests, doc-tests, examples and benches find libtorch when they start, and see CUDA.
//! In: torch-sys's word on where its libtorch lies. Out: a linker argument, the same for dependents
//! (`DEP_PARSYNTH_LINK_ARG`), and `PARSYNTH_LIBTORCH_HAS_CUDA` and `PARSYNTH_LIBTORCH_VERSION` for the crate.

use std::env;
use std::path::{Path, PathBuf};

#[path = "build/check.rs"]
mod check;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build/check.rs");
    let documentation_only = env::var_os("CARGO_FEATURE_DOC_ONLY").is_some();
    let has_cuda = match library_folder() {
        Some(lib) if !documentation_only => link(&lib),
        Some(_) | None => false,
    };
    println!(
        "cargo::rustc-env=PARSYNTH_LIBTORCH_HAS_CUDA={}",
        u8::from(has_cuda)
    );
    println!(
        "cargo::rustc-env=PARSYNTH_LIBTORCH_VERSION={}",
        check::LIBTORCH_VERSION
    );
}

/// Where torch-sys links from. It says so except on Windows, where we look where it looks.
fn library_folder() -> Option<PathBuf> {
    for name in ["LIBTORCH", "LIBTORCH_LIB"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    let told = env::var_os("DEP_TCH_LIBTORCH_LIB").map(PathBuf::from);
    told.or_else(|| {
        let home = env::var_os("LIBTORCH_LIB").or_else(|| env::var_os("LIBTORCH"))?;
        Some(Path::new(&home).join("lib"))
    })
}

/// Checks the libtorch in `lib` and links it; true when it is a CUDA build.
fn link(lib: &Path) -> bool {
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let (os, arch) = (target("OS"), target("ARCH"));
    println!("cargo::rerun-if-env-changed=LIBTORCH_STATIC");
    println!("cargo::rerun-if-env-changed=LIBTORCH_BYPASS_VERSION_CHECK");
    println!(
        "cargo::rerun-if-changed={}",
        lib.join(check::main_library(&os)).display()
    );
    let any_version = env::var_os("LIBTORCH_BYPASS_VERSION_CHECK").is_some();
    if env::var_os("LIBTORCH_STATIC").is_none()
        && let Err(problem) =
            check::check(lib.parent().unwrap_or(lib), lib, &os, &arch, any_version)
    {
        // Cargo fails the build for this line alone; an exit code would print this script's whole output, too.
        println!(
            "cargo::error={problem}; point LIBTORCH at libtorch {} or, in this crate's repository, run `cargo xtask libtorch`",
            check::LIBTORCH_VERSION
        );
        return false;
    }
    let cuda = lib.join(if os == "windows" {
        "torch_cuda.dll"
    } else {
        "libtorch_cuda.so"
    });
    let has_cuda = cuda.is_file();
    let argument = match os.as_str() {
        // The linker drops a library no symbol of which is used; libtorch_cuda registers its devices when it is loaded.
        "linux" if has_cuda => format!(
            "{},--push-state,--no-as-needed,{},--pop-state",
            rpath(lib),
            cuda.display()
        ),
        "linux" | "macos" => rpath(lib),
        // PyTorch's own remedy for the same; Windows has no rpath, so PATH must name `lib`.
        "windows" if has_cuda => "/INCLUDE:?warp_size@cuda@at@@YAHXZ".to_owned(),
        _ => return has_cuda,
    };
    println!("cargo::rustc-link-arg={argument}");
    println!("cargo::metadata=LINK_ARG={argument}");
    has_cuda
}

/// `lib` as named, which a link may lead elsewhere later, and the folder it leads to now, which outlives the link.
fn rpath(lib: &Path) -> String {
    let mut argument = format!("-Wl,-rpath,{}", lib.display());
    if let Ok(real) = lib.canonicalize()
        && real != lib
    {
        argument += &format!(",-rpath,{}", real.display());
    }
    argument
}
