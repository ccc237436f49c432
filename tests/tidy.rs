//! The style as a test: what a reviewer should not have to say twice.

use bellwether::protocols::choice::{Entry, PROTOCOLS};
use std::path::{Path, PathBuf};
use std::process::Command;

const COLUMNS_MAX: usize = 100;
const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 72;

/// All Rust files of ours.
fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<PathBuf> = ["src", "crates", "tests", "benches", "examples"]
        .iter()
        .map(|name| root.join(name))
        .collect();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the tree can be read") {
            let path = entry.expect("the tree can be read").path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = std::fs::read_to_string(&path).expect("the tree can be read");
                files.push((
                    path.strip_prefix(root).expect("the tree can be read").to_owned(),
                    text,
                ));
            }
        }
    }
    assert!(files.len() > 50, "where have all the sources gone?");
    files
}

#[test]
fn lines_and_files_fit_a_reader() {
    for (path, text) in sources() {
        let lines = text.lines().count();
        assert!(lines <= FILE_LINES_MAX, "{}: {lines} lines", path.display());
        for (number, line) in text.lines().enumerate() {
            if line.starts_with("//! |") {
                continue; // a row of a table cannot be wrapped
            }
            let columns = line.chars().count();
            let place = format!("{}:{}", path.display(), number + 1);
            assert!(columns <= COLUMNS_MAX, "{place}: {columns} columns");
        }
    }
}

#[test]
fn functions_fit_a_screen() {
    for (path, text) in sources() {
        let mut open: Option<(usize, usize, &str)> = None;
        for (number, line) in text.lines().enumerate() {
            let indent = line.len() - line.trim_start().len();
            let begins = line.trim_start().split('(').next().is_some_and(|head| {
                head.split_whitespace().any(|word| word == "fn") && !head.starts_with("//")
            });
            if begins && open.is_none() && !line.trim_end().ends_with(';') {
                open = Some((number, indent, line.trim()));
            }
            if let Some((first, depth, head)) = open
                && indent == depth
                && line.trim() == "}"
            {
                let length = number - first + 1;
                let place = format!("{}:{}", path.display(), first + 1);
                assert!(length <= FUNCTION_LINES_MAX, "{place}: {length} lines: {head}");
                open = None;
            }
        }
    }
}

#[test]
fn every_file_begins_with_what_it_is() {
    for (path, text) in sources() {
        assert!(text.starts_with("//!"), "{} has no module documentation", path.display());
    }
}

/// The directories in which protocols answer for themselves, and what is about single protocols.
const OF_ONE_PROTOCOL: [&str; 11] = [
    "crates/protocols/src/ad_hoc",
    "crates/protocols/src/announce_listen",
    "crates/protocols/src/bully",
    "crates/protocols/src/local_leader",
    "crates/protocols/src/probabilistic",
    "crates/protocols/src/ring",
    "crates/analysis/src/announce_listen",
    "crates/analysis/src/classic",
    "crates/analysis/src/errata",
    "crates/analysis/src/figures",
    "crates/analysis/src/probabilistic",
];

/// Match arms that name a family of protocols, outside the protocols' own directories and tests;
/// "A new protocol" in CONTRIBUTING.md has the same count as a command.
#[test]
fn protocols_are_matched_in_few_places() {
    const ARMS_MAX: usize = 40;
    let family = |entry: &Entry| {
        let shown = format!("{:?}", entry.family);
        shown.split('(').next().unwrap_or_default().to_owned()
    };
    let families: Vec<String> = PROTOCOLS.iter().map(family).collect();
    let is_arm = |line: &&str| {
        let pattern = line.split_once("=>").map_or("", |(pattern, _)| pattern);
        ["Family", "Choice", "Config"].iter().any(|list| {
            families.iter().any(|family| pattern.contains(&format!("{list}::{family}")))
        })
    };
    let mut arms = Vec::new();
    for (path, text) in sources() {
        let ours = path.starts_with("src") || path.starts_with("crates");
        let of_one = OF_ONE_PROTOCOL.iter().any(|folder| path.starts_with(folder));
        let tests = path.components().any(|part| part.as_os_str() == "tests");
        if ours && !of_one && !tests {
            let code = text.split("\nmod tests {").next().unwrap_or_default();
            let found = code.lines().filter(is_arm);
            arms.extend(found.map(|line| format!("{}: {}", path.display(), line.trim())));
        }
    }
    assert!(arms.len() <= ARMS_MAX, "{} arms:\n{}", arms.len(), arms.join("\n"));
}

#[test]
fn every_dependency_may_be_used_by_everyone() {
    const GOOD: [&str; 9] = [
        "MIT",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "ISC",
        "Zlib",
        "Unicode-3.0",
        "Unlicense",
        "CC0-1.0",
    ];
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("the tree can be read");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    for package in metadata["packages"].as_array().expect("the tree can be read") {
        let licence = package["license"].as_str().unwrap_or("none");
        let words = licence.replace(['(', ')'], "").replace('/', " OR ");
        let good = words
            .split(" OR ")
            .any(|choice| choice.split(" AND ").all(|licence| GOOD.contains(&licence.trim())));
        assert!(good, "{}: {licence}", package["name"]);
    }
}
