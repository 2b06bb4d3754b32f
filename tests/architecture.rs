//! The drawing of the crate cannot rot: which modules a module may import is stated here and read off the sources.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Each module, what it may import from the crate, and which of the heavy packages it may name.
/// Data flows down this list; nothing imports what stands below it but the two at the end.
const MODULES: &[(&str, &[&str], &[&str])] = &[
    ("rng", &[], &[]),
    ("files", &[], &[]),
    ("cancel", &[], &[]),
    ("metadata", &["files"], &[]),
    ("distribution", &["metadata"], &[]),
    ("params", &["distribution"], &[]),
    ("report", &[], &[]),
    ("charts", &["report"], &[]),
    ("health", &[], &[]),
    ("info", &["distribution", "health", "params"], &[]),
    ("sampling", &["cancel", "params", "report"], &["polars"]),
    ("table", &["files", "metadata", "rng"], &["polars"]),
    ("protection", &[], &[]),
    (
        "codec",
        &["distribution", "metadata", "protection", "rng", "table"],
        &[],
    ),
    (
        "layout",
        &["codec", "distribution", "metadata", "protection", "table"],
        &[],
    ),
    ("constraint", &["codec", "layout", "metadata", "table"], &[]),
    ("history", &["codec", "layout"], &[]),
    (
        "encode",
        &["codec", "history", "layout", "table"],
        &["ndarray"],
    ),
    ("possible", &["codec", "layout", "table"], &[]),
    ("likelihood", &[], &["polars"]),
    ("model", &["encode", "layout", "rng"], &["ndarray", "tch"]),
    (
        "train",
        &["cancel", "model", "params", "report", "rng"],
        &["tch"],
    ),
    (
        "tasks",
        &["encode", "history", "layout", "model", "report", "train"],
        &["ndarray", "tch"],
    ),
    (
        "sample",
        &[
            "cancel",
            "codec",
            "constraint",
            "encode",
            "history",
            "layout",
            "model",
            "rng",
            "sampling",
            "table",
        ],
        &["tch"],
    ),
    (
        "decode",
        &["codec", "layout", "sample", "sampling", "table"],
        &[],
    ),
    // Blind to the model, so that any generator's tables are judged by the same code.
    (
        "evaluation",
        &["charts", "files", "metadata", "report", "rng", "table"],
        &["polars"],
    ),
    // At the side: only the top knows it.
    (
        "artifact",
        &[
            "codec",
            "constraint",
            "distribution",
            "files",
            "health",
            "info",
            "layout",
            "metadata",
            "model",
            "params",
            "report",
            "table",
        ],
        &["bincode"],
    ),
    (
        "error",
        &[
            "artifact",
            "codec",
            "constraint",
            "distribution",
            "evaluation",
            "metadata",
            "model",
            "params",
            "table",
            "train",
        ],
        &[],
    ),
    // The only two that know the whole chain: its way in, and what comes of it.
    (
        "fit",
        &[
            "cancel",
            "codec",
            "constraint",
            "distribution",
            "encode",
            "error",
            "health",
            "info",
            "layout",
            "metadata",
            "model",
            "params",
            "protection",
            "report",
            "rng",
            "synthesizer",
            "table",
            "tasks",
            "train",
        ],
        &["polars", "tch"],
    ),
    (
        "synthesizer",
        &[
            "artifact",
            "cancel",
            "charts",
            "codec",
            "constraint",
            "decode",
            "encode",
            "error",
            "files",
            "fit",
            "health",
            "info",
            "layout",
            "likelihood",
            "metadata",
            "model",
            "params",
            "possible",
            "report",
            "rng",
            "sample",
            "sampling",
            "table",
            "tasks",
        ],
        &["polars", "tch"],
    ),
];

const HEAVY: &[&str] = &["polars", "tch", "ndarray", "bincode"];

/// The sources of a module, tests left out.
fn sources(module: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = vec![root.join(format!("{module}.rs"))];
    let mut folders = vec![root.join(module)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let is_of_tests = path
                .file_stem()
                .unwrap()
                .to_string_lossy()
                .ends_with("tests");
            match path.is_dir() {
                _ if is_of_tests => {}
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files
}

/// Names that follow `prefix` in code, up to a file's own tests.
fn names_after(text: &str, prefix: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]").next().unwrap();
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let mut names = BTreeSet::new();
    for line in lines {
        for (at, _) in line.match_indices(prefix) {
            let rest = &line[at + prefix.len()..];
            let name: String = rest
                .chars()
                .take_while(|c| c.is_ascii_lowercase() || *c == '_')
                .collect();
            if !name.is_empty() {
                names.insert(name);
            }
        }
    }
    names
}

#[test]
fn modules_import_what_the_drawing_says_and_nothing_else() {
    for (module, may_import, may_name) in MODULES {
        for file in sources(module) {
            let text = std::fs::read_to_string(&file).unwrap();
            for import in names_after(&text, "crate::") {
                let allowed = import == *module || may_import.contains(&import.as_str());
                assert!(
                    allowed,
                    "{} imports `{import}`, which the drawing does not allow",
                    file.display()
                );
            }
            for package in HEAVY {
                let named = text
                    .split("#[cfg(test)]")
                    .next()
                    .unwrap()
                    .lines()
                    .any(|line| {
                        !line.trim_start().starts_with("//")
                            && line.contains(&format!("{package}::"))
                    });
                assert!(
                    !named || may_name.contains(package),
                    "{} names `{package}`, which the drawing does not allow",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn every_module_is_in_the_drawing() {
    let lib =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let declared: BTreeSet<String> = lib
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod "))
        .map(|rest| rest.trim_end_matches(';').to_owned())
        .collect();
    let drawn: BTreeSet<String> = MODULES
        .iter()
        .map(|(module, _, _)| (*module).to_owned())
        .collect();
    assert_eq!(declared, drawn);
}
