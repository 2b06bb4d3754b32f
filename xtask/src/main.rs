//! Sets the repository up and runs it: `cargo xtask demo`, `cargo xtask test`, `cargo xtask libtorch`,
//! `cargo xtask bench-peers`. In: one word, and that bench's options. Out: libtorch where `.cargo/config.toml` looks
//! for it, then cargo's own output.
//! A set-up that cannot be made ends in one line that names what is missing, before cargo is started.

mod cargo;
mod context;
mod fetch;
mod locate;
mod platform;

#[path = "../../build/check.rs"]
mod check;

use crate::context::{Context, Problem};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

const HELP: &str = "\
usage: cargo xtask <command>

  demo         fetch libtorch where there is none, build, and run the quickstart on a real table
  test         the same set-up, then every test and doc-test and every example that needs nobody at the keyboard
  libtorch     the set-up alone; prints the folder of the libtorch in use
  bench-peers  the same set-up, then SDV, MOSTLY AI's engine and parsynth side by side; takes half an hour and,
               once, 10 GB of Python packages; `cargo xtask bench-peers --help` lists its options

LIBTORCH and LIBTORCH_USE_PYTORCH are honoured; PARSYNTH_CACHE names the folder fetched files are kept in.";

/// Every example, with the arguments that let `test` run it quickly and alone, in this order; `None` for one that wants
/// the user's files and is only compiled. `{temporary}` stands for a folder that is gone afterwards.
const EXAMPLES: &[(&str, Option<&[&str]>)] = &[
    ("quickstart", Some(&["--quick"])),
    ("forecast", Some(&[])),
    ("constraints", Some(&[])),
    ("inspect", Some(&[])),
    ("several_tables", Some(&[])),
    ("detect", Some(&[])),
    ("personal_data", Some(&[])),
    ("conditions", Some(&[])),
    ("impute", Some(&[])),
    (
        "synthesize",
        Some(&[
            "--data=data/stores.csv",
            "--metadata=data/stores.metadata.json",
            "--context=region",
            "--output={temporary}/stores.parquet",
            "--num-sequences=20",
            "--epochs=2",
            "--seed=7",
            "--save={temporary}/stores.parsynth",
        ]),
    ),
    (
        "sample",
        Some(&[
            "--model={temporary}/stores.parsynth",
            "--output={temporary}/more.csv",
            "--rows=50",
            "--seed=7",
        ]),
    ),
    (
        "evaluate",
        Some(&[
            "--real=data/stores.csv",
            "--synthetic={temporary}/more.csv",
            "--metadata=data/stores.metadata.json",
            "--context=region",
            "--report={temporary}/report.html",
            "--json={temporary}/report.json",
            "--seed=7",
        ]),
    ),
];

fn main() -> ExitCode {
    let mut arguments = pico_args::Arguments::from_env();
    let command = arguments.subcommand().ok().flatten();
    if command.as_deref() == Some("bench-peers") {
        return finish(bench_peers(&Context::from_process(), &arguments.finish()));
    }
    let help = arguments.contains(["-h", "--help"]);
    let rest = arguments.finish();
    if help || command.as_deref() == Some("help") {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    if let Some(extra) = rest.first() {
        eprintln!("error: unexpected argument `{}`\n\n{HELP}", extra.display());
        return ExitCode::from(2);
    }
    let context = Context::from_process();
    let outcome = match command.as_deref() {
        Some("demo") => demo(&context),
        Some("test") => test(&context),
        Some("libtorch") => locate::libtorch(&context).map(|folder| {
            println!("{}", folder.display());
            ExitCode::SUCCESS
        }),
        Some(other) => {
            eprintln!("error: no command `{other}`\n\n{HELP}");
            return ExitCode::from(2);
        }
        None => {
            eprintln!("{HELP}");
            return ExitCode::from(2);
        }
    };
    finish(outcome)
}

fn finish(outcome: Result<ExitCode, Problem>) -> ExitCode {
    outcome.unwrap_or_else(|problem| {
        eprintln!("error: {problem}");
        ExitCode::FAILURE
    })
}

fn demo(context: &Context) -> Result<ExitCode, Problem> {
    set_up(context)?;
    cargo::run(context, &["run", "--release", "--example", "quickstart"])
}

fn test(context: &Context) -> Result<ExitCode, Problem> {
    set_up(context)?;
    let code = cargo::run(context, &["test", "--release", "--workspace"])?;
    if code != ExitCode::SUCCESS {
        return Ok(code);
    }
    let temporary = std::env::temp_dir().join(format!("parsynth-examples-{}", std::process::id()));
    std::fs::create_dir_all(&temporary)
        .map_err(|error| Problem::new(format!("cannot make {}: {error}", temporary.display())))?;
    let code = run_examples(context, &temporary);
    let _ = std::fs::remove_dir_all(&temporary);
    code
}

/// The bench has the options, and checks them.
fn bench_peers(context: &Context, options: &[OsString]) -> Result<ExitCode, Problem> {
    set_up(context)?;
    let words = ["bench", "--quiet", "--bench", "peers", "--"].map(OsStr::new);
    let options = options.iter().map(OsString::as_os_str);
    cargo::run(
        context,
        &words.into_iter().chain(options).collect::<Vec<_>>(),
    )
}

/// Runs the examples in turn, up to the first that fails.
fn run_examples(context: &Context, temporary: &Path) -> Result<ExitCode, Problem> {
    let temporary = temporary.to_string_lossy();
    for (example, arguments) in EXAMPLES {
        let Some(arguments) = arguments else { continue };
        let filled = arguments
            .iter()
            .map(|argument| argument.replace("{temporary}", &temporary));
        let mut words: Vec<String> = ["run", "--release", "--example", example, "--"]
            .map(str::to_owned)
            .into();
        words.extend(filled);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let code = cargo::run(context, &words)?;
        if code != ExitCode::SUCCESS {
            return Ok(code);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Everything a build needs that cargo would complain about in C++ or in the linker's words.
fn set_up(context: &Context) -> Result<(), Problem> {
    cargo::check_compiler(context)?;
    locate::libtorch(context).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_is_run_or_said_to_need_a_user() {
        let examples = Context::from_process().root.join("examples");
        let Ok(entries) = std::fs::read_dir(examples) else {
            return;
        };
        for entry in entries {
            let path = entry.expect("the folder can be read").path();
            let Some(name) = path.file_stem().and_then(|stem| stem.to_str()) else {
                continue;
            };
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            assert!(
                EXAMPLES.iter().any(|(example, _)| *example == name),
                "list examples/{name}.rs in EXAMPLES of xtask/src/main.rs"
            );
        }
    }
}
