//! How many packages the library brings, and whether each of its crates can be published.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Without features; `bellwether` itself is one of them.
const PACKAGES_MAX: usize = 40;

/// The packages of a normal build with these features.
fn packages(features: &str) -> BTreeSet<String> {
    let tree = "tree --package bellwether --edges normal --prefix none --no-dedupe --locked";
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(tree.split(' ')).args(["--offline", "--features", features]);
    output(&mut cargo).lines().map(str::to_owned).collect()
}

/// What it writes; it must succeed.
fn output(command: &mut Command) -> String {
    let command = command.current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.output().expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_live_election_has_few_packages() {
    let (few, all) = (packages(""), packages("cli"));
    println!("{} packages; with the command {}", few.len(), all.len());
    assert!(few.len() <= PACKAGES_MAX, "{} packages: {few:#?}", few.len());
    assert!(all.len() > few.len(), "the command has more");
}

#[test]
fn what_only_the_laboratory_needs_comes_with_its_features() {
    let heavy = ["rayon ", "statrs ", "toml ", "clap ", "signal-hook ", "tokio ", "axum "];
    let has = |packages: &BTreeSet<String>, name| packages.iter().any(|own| own.starts_with(name));
    let (few, all) = (packages(""), packages("cli"));
    for name in heavy {
        assert!(has(&all, name) && !has(&few, name), "{name}");
    }
}

/// Cargo keeps what it unpacked from a local archive by its version alone. Without this the test
/// would build against the sources of an earlier run.
fn forget_unpacked(name: &str) {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let unpacked = home.and_then(|home| std::fs::read_dir(home.join("registry/src")).ok());
    for registry in unpacked.into_iter().flatten().flatten() {
        // Registries of files have no host, by which the folders of others begin.
        if registry.file_name().to_string_lossy().starts_with('-') {
            let folder = format!("{name}-{}", env!("CARGO_PKG_VERSION"));
            let _ = std::fs::remove_dir_all(registry.path().join(folder));
        }
    }
}

/// Cargo unpacks both archives and builds the second against the first, as whoever adds them does.
/// The other crates are packaged without that: with it the test would build all dependencies of the
/// command once more, which takes minutes. `tests/tidy.rs` asks that no crate includes a file from
/// outside of its folder, which an archive would not have.
#[test]
fn the_contract_and_the_protocols_build_from_their_archives() {
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join("verified");
    let _ = std::fs::remove_dir_all(&made); // of an earlier test
    forget_unpacked("bellwether-core");
    let package = "package --package bellwether-core --package bellwether-protocols --allow-dirty";
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(package.split(' ')).args(["--locked", "--offline", "--target-dir"]).arg(&made);
    output(&mut cargo);
}

#[test]
fn every_crate_is_packaged_with_its_readme_and_licences() {
    let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages");
    let _ = std::fs::remove_dir_all(&made); // of an earlier test
    // What is never published has no version for others.
    let package = "package --workspace --exclude bellwether-whole --exclude bellwether-fuzz \
                   --exclude bellwether-c --exclude bellwether-python --no-verify --allow-dirty";
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(package.split(' ')).args(["--locked", "--offline", "--target-dir"]).arg(&made);
    output(&mut cargo);
    for name in ["", "-core", "-protocols", "-sim", "-check", "-analysis", "-net", "-http", "-lab"]
    {
        let folder = format!("bellwether{name}-{}", env!("CARGO_PKG_VERSION"));
        let archive = made.join(format!("package/{folder}.crate"));
        let files = output(Command::new("tar").arg("-tzf").arg(&archive));
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            let file = format!("{folder}/{file}");
            assert!(files.lines().any(|own| own == file), "no {file}");
        }
        // A link of the tree must be in the archive as what it leads to.
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let mut tar = Command::new("tar");
            tar.arg("-xzOf").arg(&archive).arg(format!("{folder}/{licence}"));
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(licence);
            let own = std::fs::read_to_string(root).expect("the licence is there");
            assert_eq!(output(&mut tar), own, "{licence} in the archive of {folder}");
        }
    }
}
