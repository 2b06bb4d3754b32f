//! Starts cargo, after making sure of the C++ compiler that torch-sys needs.

use crate::context::{Context, Problem};
use std::ffi::OsStr;
use std::io::Write;
use std::process::{ExitCode, Stdio};

/// Runs cargo in the repository's root, its output shown as it comes; gives cargo's own exit code.
pub(crate) fn run(context: &Context, arguments: &[impl AsRef<OsStr>]) -> Result<ExitCode, Problem> {
    let cargo = context.variable("CARGO").unwrap_or("cargo".as_ref());
    let status = context
        .command(cargo)
        .args(arguments)
        .current_dir(&context.root)
        .status();
    let status = status.map_err(|error| Problem::new(format!("cannot start cargo: {error}")))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Compiles and links an empty C++17 program the way torch-sys will.
pub(crate) fn check_compiler(context: &Context) -> Result<(), Problem> {
    // MSVC is found through the registry, and without it xtask itself could not have been linked.
    if context.os == "windows" {
        return Ok(());
    }
    let compiler = context
        .variable("CXX")
        .filter(|name| !name.is_empty())
        .unwrap_or("c++".as_ref());
    let folder = std::env::temp_dir().join(format!("parsynth-compiler-{}", std::process::id()));
    let mut command = context.command(compiler);
    command
        .args(["-std=c++17", "-x", "c++", "-", "-o"])
        .arg(&folder);
    if context.os == "linux" {
        command.arg("-lgomp"); // torch-sys links it
    }
    let child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.map_err(|_| {
        Problem::new(format!(
            "the C++ compiler `{}` is missing: install g++ (Debian, Ubuntu: `apt install g++`) or name one in CXX",
            compiler.display()
        ))
    })?;
    if let Some(mut input) = child.stdin.take() {
        // A compiler that died already says why itself.
        let _ = input.write_all(
            b"#include <memory>\nint main() { return std::make_unique<int>(0) ? 0 : 1; }\n",
        );
    }
    let output = child
        .wait_with_output()
        .map_err(|error| Problem::new(format!("cannot run the C++ compiler: {error}")))?;
    let _ = std::fs::remove_file(&folder);
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said
        .lines()
        .find(|line| line.contains("error") || line.contains("cannot find"));
    let line = line
        .or(said.lines().next())
        .unwrap_or("it says nothing")
        .trim();
    Err(Problem::new(format!(
        "the C++ compiler `{}` cannot build a C++17 program with OpenMP: {line}",
        compiler.display()
    )))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_missing_compiler_is_named_with_the_package_that_brings_it() {
        let empty = tempfile::tempdir().expect("a folder");
        let context = Context::for_test(empty.path(), &[("PATH", empty.path().as_os_str())]);
        let problem = check_compiler(&context)
            .expect_err("there is no compiler")
            .to_string();
        assert!(
            problem.contains("`c++` is missing") && problem.contains("apt install g++"),
            "{problem}"
        );
        assert!(!problem.contains('\n'));
    }

    #[test]
    fn a_compiler_that_fails_is_quoted_in_one_line() {
        let context = Context::for_test(
            "/".as_ref(),
            &[
                ("PATH", "/bin:/usr/bin".as_ref()),
                ("CXX", "false".as_ref()),
            ],
        );
        let problem = check_compiler(&context)
            .expect_err("false builds nothing")
            .to_string();
        assert!(
            problem.starts_with("the C++ compiler `false` cannot build") && !problem.contains('\n'),
            "{problem}"
        );
    }
}
