//! A protocol's page names its own parameters, by the names they have now.
//!
//! The first cell of a table's row is a kind of message, which may have any name.

use bellwether_protocols::choice::{Family, PROTOCOLS};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The directory with the sources of a family, which has its name.
fn directory(family: Family) -> PathBuf {
    let debug = format!("{family:?}");
    let mut name = String::new();
    for letter in debug.chars().take_while(|letter| letter.is_alphabetic()) {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(name)
}

/// The module docs of all files there.
fn docs(directory: &Path) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(directory).expect("the family has a directory");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let mut all = Vec::new();
    for path in paths {
        if path.is_dir() {
            all.extend(docs(&path));
        } else {
            let text = fs::read_to_string(&path).expect("it is a source file");
            all.extend(
                text.lines()
                    .filter_map(|line| line.strip_prefix("//!"))
                    .map(|line| (path.clone(), line.trim().to_owned())),
            );
        }
    }
    all
}

#[test]
fn module_docs_name_no_parameter_of_another_protocol_and_no_former_name() {
    let known: BTreeSet<&str> = PROTOCOLS
        .iter()
        .flat_map(|entry| entry.family.params())
        .flat_map(|param| [param.name, param.formerly])
        .filter(|name| !name.is_empty())
        .collect();
    let mut seen = 0;
    for entry in PROTOCOLS {
        let own = |word: &str| entry.family.params().iter().any(|param| param.name == word);
        for (path, line) in docs(&directory(entry.family)) {
            let row = if line.starts_with("| `") { line.splitn(3, '|').nth(2) } else { None };
            let text = row.unwrap_or(&line);
            for word in text.split('`').skip(1).step_by(2).filter(|word| known.contains(word)) {
                assert!(
                    own(word),
                    "{}: `{word}` is no parameter of {}",
                    path.display(),
                    entry.name
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 20, "only {seen} words were compared");
}
