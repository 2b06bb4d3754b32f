//! What docs/parity.md says is shown by a test is shown by one.

#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

use std::path::Path;

#[test]
fn every_test_that_the_parity_table_names_is_there_and_no_cell_is_empty() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/parity.md")).unwrap();
    let mut named = 0;
    for line in page.lines().filter(|line| line.starts_with('|')) {
        // A bar inside a cell is written with a backslash.
        let cells: Vec<String> = line
            .replace("\\|", "¦")
            .trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect();
        assert_eq!(cells.len(), 3, "{line}");
        assert!(cells.iter().all(|cell| !cell.is_empty()), "{line}");
        let Some((file, test)) = cells[2].split_once(": ") else {
            let is_other = ["shown by", "---", "none, as said"].contains(&cells[2].as_str());
            assert!(is_other, "{line}");
            continue;
        };
        let source = std::fs::read_to_string(root.join(file));
        let source = source.unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(
            source.contains(&format!("fn {test}(")),
            "{file} has no `{test}`"
        );
        named += 1;
    }
    assert!(named > 120, "{named}");
}
