//! How many packages the library brings.

use std::collections::BTreeSet;
use std::process::Command;

/// Without features; `bellwether` itself is one of them.
const PACKAGES_MAX: usize = 40;

/// The packages of a normal build with these features.
fn packages(features: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args("tree --package bellwether --edges normal --prefix none --no-dedupe".split(' '))
        .args(["--locked", "--offline", "--features", features])
        .output()
        .expect("cargo starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn the_live_election_has_few_packages() {
    let few = packages("");
    assert!(few.len() <= PACKAGES_MAX, "{} packages: {few:#?}", few.len());
    assert!(packages("cli").len() > few.len(), "the command has more");
}

#[test]
fn what_only_the_laboratory_needs_comes_with_its_features() {
    let heavy = ["rayon ", "statrs ", "toml ", "clap ", "signal-hook "];
    let has = |packages: &BTreeSet<String>, name| packages.iter().any(|own| own.starts_with(name));
    let (few, all) = (packages(""), packages("cli"));
    for name in heavy {
        assert!(has(&all, name) && !has(&few, name), "{name}");
    }
}
