//! Says whether a folder holds a libtorch that this crate can be built on.
//! In: the folder with `include/` and `lib/`, and the platform built for. Out: nothing, or one line that names what
//! was found and what is wanted. Shared by the build script and by xtask, hence std only.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The one libtorch that tch 0.26.0 speaks to.
pub(crate) const LIBTORCH_VERSION: &str = "2.13.0";

/// The library every libtorch has, by its file name on `os` (Rust's names: `linux`, `macos`, `windows`).
pub(crate) fn main_library(os: &str) -> &'static str {
    match os {
        "windows" => "torch_cpu.dll",
        "macos" => "libtorch_cpu.dylib",
        _ => "libtorch_cpu.so",
    }
}

/// Checks that `home` holds [`LIBTORCH_VERSION`], with its libraries in `lib`, for `os` on `arch`.
///
/// The version is not looked at with `any_version`, torch-sys's own way out.
///
/// # Errors
/// One line, without a remedy: the library is missing, its version is another, or it was built for another machine.
pub(crate) fn check(
    home: &Path,
    lib: &Path,
    os: &str,
    arch: &str,
    any_version: bool,
) -> Result<(), String> {
    let library = lib.join(main_library(os));
    if !library.is_file() {
        return Err(format!(
            "no libtorch in {}: {} is missing, libtorch {LIBTORCH_VERSION} is wanted",
            home.display(),
            library.display()
        ));
    }
    match version(home) {
        Some(found) if found != LIBTORCH_VERSION && !any_version => {
            return Err(format!(
                "{} holds libtorch {found}, exactly {LIBTORCH_VERSION} is wanted",
                home.display()
            ));
        }
        // A system-wide installation may say no version; the compiler will.
        Some(_) | None => {}
    }
    match built_for(&library) {
        Some((found_os, found_arch)) if (found_os, found_arch) != (os, arch) => Err(format!(
            "{} is built for {found_os} {found_arch}, {os} {arch} is wanted",
            library.display()
        )),
        Some(_) | None => Ok(()),
    }
}

/// `2.13.0` out of `build-version` (the zip from PyTorch), else out of the headers (a wheel).
fn version(home: &Path) -> Option<String> {
    if let Ok(text) = fs::read_to_string(home.join("build-version")) {
        return text.trim().split('+').next().map(str::to_owned);
    }
    let headers = [
        "include/torch/headeronly/version.h",
        "include/torch/csrc/api/include/torch/version.h",
    ];
    headers.iter().find_map(|header| {
        let text = fs::read_to_string(home.join(header)).ok()?;
        let number = |name: &str| {
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix("#define ")?.strip_prefix(name));
            line.and_then(|rest| rest.trim().parse::<u32>().ok())
        };
        let major = number("TORCH_VERSION_MAJOR ")?;
        let minor = number("TORCH_VERSION_MINOR ")?;
        let patch = number("TORCH_VERSION_PATCH ")?;
        Some(format!("{major}.{minor}.{patch}"))
    })
}

/// System and processor out of the header of an ELF, Mach-O or PE library; `None` for any other file or processor.
fn built_for(library: &Path) -> Option<(&'static str, &'static str)> {
    let mut file = File::open(library).ok()?;
    let mut head = [0_u8; 64];
    file.read_exact(&mut head).ok()?;
    let word = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
    let long = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    if head.starts_with(b"\x7fELF") {
        return match word(18) {
            62 => Some(("linux", "x86_64")),
            183 => Some(("linux", "aarch64")),
            _ => None,
        };
    }
    if long(0) == 0xfeed_facf {
        return match long(4) {
            0x0100_0007 => Some(("macos", "x86_64")),
            0x0100_000c => Some(("macos", "aarch64")),
            _ => None,
        };
    }
    if head.starts_with(b"MZ") {
        let mut signature = [0_u8; 6];
        file.seek(SeekFrom::Start(u64::from(long(60)))).ok()?;
        file.read_exact(&mut signature).ok()?;
        return match signature {
            [b'P', b'E', 0, 0, 0x64, 0x86] => Some(("windows", "x86_64")),
            [b'P', b'E', 0, 0, 0x64, 0xaa] => Some(("windows", "aarch64")),
            _ => None,
        };
    }
    None
}
