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
    let mut folders: Vec<PathBuf> = ["src", "crates", "python", "tests", "benches", "examples"]
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
            if begins && open.is_none() && !line.trim_end().ends_with([';', ',']) {
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

/// The families of protocols, as the code names them.
fn families() -> Vec<String> {
    let family = |entry: &Entry| {
        let shown = format!("{:?}", entry.family);
        shown.split('(').next().unwrap_or_default().to_owned()
    };
    let mut families: Vec<String> = PROTOCOLS.iter().map(family).collect();
    families.dedup();
    families
}

/// The directory of a family: `AnnounceListen` is in `announce_listen`.
fn directory(family: &str) -> String {
    let word = |letter: char| match letter.is_uppercase() {
        true => format!("_{}", letter.to_lowercase()),
        false => letter.to_string(),
    };
    family.chars().map(word).collect::<String>().trim_start_matches('_').to_owned()
}

/// Whether a line names one of these families: in a match arm, a `let else`, a `matches!`, or to
/// make one.
fn names_family(line: &str, families: &[String]) -> bool {
    let is_named = |path: String| {
        let mut after = line.match_indices(&path).map(|(at, _)| &line[at + path.len()..]);
        after.any(|rest| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_'))
    };
    families.iter().any(|family| {
        ["Family", "Choice", "Config"].iter().any(|list| is_named(format!("{list}::{family}")))
    })
}

/// Lines that name a family of protocols, outside the families' own directories and tests. "A new
/// protocol" in CONTRIBUTING.md says how to list them.
#[test]
fn protocols_are_named_in_few_places() {
    const LINES_MAX: usize = 10;
    let families = families();
    let directories: Vec<String> = families.iter().map(|family| directory(family)).collect();
    let mut lines = Vec::new();
    for (path, text) in sources() {
        let ours = path.starts_with("src") || path.starts_with("crates");
        let own = path.components().any(|part| {
            let part = part.as_os_str();
            part == "tests" || directories.iter().any(|directory| part == directory.as_str())
        });
        if ours && !own {
            let code = text.split("\nmod tests {").next().unwrap_or_default();
            let found = code.lines().enumerate().filter(|(_, line)| names_family(line, &families));
            let place = |number: usize| format!("{}:{}", path.display(), number + 1);
            lines.extend(found.map(|(at, line)| format!("{}: {}", place(at), line.trim())));
        }
    }
    println!("{} lines:\n{}", lines.len(), lines.join("\n"));
    assert!(lines.len() <= LINES_MAX, "{} lines:\n{}", lines.len(), lines.join("\n"));
}

/// Errors and reports of the libraries say what is wrong and which rule holds. The command adds
/// what its user can type; an embedding program has other ways.
#[test]
fn libraries_name_no_command_in_what_they_say() {
    let quotes = |line: &str| line.contains("`bellwether ") && !line.trim().starts_with("//");
    for (path, text) in sources().iter().filter(|(path, _)| path.starts_with("crates")) {
        // The errata are a page of this repository, which names the command that writes it.
        if !path.starts_with("crates/analysis/src/errata") {
            let found = text.lines().position(quotes);
            assert_eq!(found.map(|line| line + 1), None, "a line of {}", path.display());
        }
    }
}

/// The lines that name a flag of a command. Code has none outside of string literals.
fn flags_named(code: &str) -> Vec<String> {
    let names_flag = |line: &&str| {
        let code = line.split(" // ").next().unwrap_or_default();
        code.match_indices("--").any(|(at, _)| {
            let begins =
                code[..at].chars().next_back().is_none_or(|before| " `\"".contains(before));
            begins && code[at + 2..].starts_with(|letter: char| letter.is_ascii_lowercase())
        })
    };
    let code = code.lines().filter(|line| !line.trim().starts_with("//"));
    code.filter(names_flag).map(|line| line.trim().to_owned()).collect()
}

/// An error of a library names a parameter or a setting. Programs have flags, and not all programs
/// are this command.
#[test]
fn libraries_name_no_flags_in_what_they_say() {
    let libraries = ["core", "protocols", "sim", "check", "net", "http"];
    for (path, text) in sources() {
        let own = |name: &&str| path.starts_with(Path::new("crates").join(name).join("src"));
        let is_test = path.iter().any(|part| part == "tests" || part == "tests.rs");
        if libraries.iter().any(own) && !is_test {
            let code = text.split("\nmod tests {").next().unwrap_or_default();
            assert_eq!(flags_named(code), [""; 0], "in {}", path.display());
        }
    }
}

#[test]
fn every_way_to_name_a_flag_is_found() {
    for line in [
        "Err(\"start all members with --key\".to_owned())",
        "         start {them}, or --force to leave {them} out\",",
        "f(\"--key\")",
        "\"`--key` is missing\"",
    ] {
        assert_eq!(flags_named(line).len(), 1, "{line}");
    }
    for line in ["/// with `--key`", "x -= 1; // a --flag", "format!(\"--{}\", name)", "\"a--b\""] {
        assert_eq!(flags_named(line), [""; 0], "{line}");
    }
}

#[test]
fn every_way_to_name_a_family_is_counted() {
    let families = families();
    assert_eq!(families[0], "AnnounceListen");
    assert_eq!(directory("AnnounceListen"), "announce_listen");
    for line in [
        "Family::Bully => 1,",
        "let Choice::Probabilistic(params) = choice else { return };",
        "matches!(family, Family::Ring(_) | Family::AdHoc)",
        "Config::LocalLeader(config)",
    ] {
        assert!(names_family(line, &families), "{line}");
    }
    for line in ["Config::Ringing(1)", "use crate::choice::Family;", "family.usual()"] {
        assert!(!names_family(line, &families), "{line}");
    }
}

#[test]
fn the_readme_has_a_row_for_every_protocol_with_its_promise() {
    let readme = include_str!("../README.md");
    let (_, table) = readme.split_once("| protocol | what it does | promise |").expect("a table");
    let rows: Vec<&str> = table.trim_start().lines().take_while(|it| it.starts_with('|')).collect();
    for entry in PROTOCOLS {
        let name = format!("`{}`", entry.name);
        let named = |row: &&&str| row.split('|').nth(1).is_some_and(|cell| cell.contains(&name));
        let row = rows.iter().find(named).unwrap_or_else(|| panic!("no row for {name}"));
        let promise = row.split('|').nth(3).unwrap_or_default().trim();
        let own = entry.promise().name().replace('-', " ");
        assert!(promise.starts_with(&own), "{name}: {promise}, and not {own}");
    }
}

#[test]
fn every_dependency_may_be_used_by_everyone() {
    const GOOD: [&str; 10] = [
        "MIT",
        "Apache-2.0",
        "Apache-2.0 WITH LLVM-exception", // which permits more
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

/// The archive of a crate has the files of its folder, and what links in it lead to.
#[test]
fn no_published_crate_includes_a_file_from_outside_its_folder() {
    let unpublished = ["fuzz", "c", "whole"];
    let mut seen = 0;
    for (path, text) in sources() {
        let mut parts = path.iter().filter_map(|part| part.to_str());
        let (Some("crates"), Some(name), Some("src")) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        if unpublished.contains(&name) {
            continue;
        }
        let depth = path.components().count() - "crates/NAME/FILE".split('/').count();
        let includes = ["include_str!(", "include_bytes!("];
        for (at, include) in includes.iter().flat_map(|it| text.match_indices(it)) {
            let (_, after) = text[at + include.len()..].split_once('"').expect("a path follows");
            let up = after.split('/').take_while(|part| *part == "..").count();
            assert!(up <= depth, "{}: `{include}` leads out of the crate", path.display());
            seen += 1;
        }
    }
    assert!(seen > 5, "where have all the includes gone?");
}

/// Commits up to this one are older than the rule, and not asked.
const OLD: &str = "90027e6296711330e02380f43b2ad360fac7e52e";

#[test]
fn subjects_of_commits_name_an_area_and_fit_a_line() {
    let mut git = Command::new("git");
    let log = ["log", "--no-merges", "--format=%s", &format!("{OLD}..HEAD")];
    let output = git.args(log).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    // An archive of the sources has no history, and a shallow clone not all of it.
    let Some(output) = output.ok().filter(|output| output.status.success()) else { return };
    for subject in String::from_utf8_lossy(&output.stdout).lines() {
        let area = subject.split_once(": ").map_or("", |(area, _)| area);
        let plain = |letter: char| letter.is_ascii_lowercase() || " ,/_-".contains(letter);
        assert!(!area.is_empty() && area.chars().all(plain), "no area: {subject}");
        assert!(subject.chars().count() <= 72, "{} characters: {subject}", subject.len());
    }
}

/// The script runs the programs in two lists, so that one may compute while the other waits.
#[test]
fn the_script_runs_every_test_program_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = std::fs::read_to_string(root.join("test")).expect("the script is there");
    let (_, whole) = script.split_once("building the tests").expect("after the quick checks");
    let words: Vec<&str> = whole.split_whitespace().collect();
    let program = |(path, _): &(PathBuf, String)| {
        if path.iter().any(|part| part == "src") {
            return None;
        }
        let within = path.iter().position(|part| part == "tests")?;
        let parts: Vec<_> = path.iter().skip(within + 1).collect();
        match parts[..] {
            [file] => Some(Path::new(file).file_stem()?.to_str()?.to_owned()),
            [folder, main] if main == "main.rs" => Some(folder.to_str()?.to_owned()),
            _ => None,
        }
    };
    for name in sources().iter().filter_map(program) {
        let named = words.windows(2).filter(|pair| *pair == ["--test", &name]).count();
        assert_eq!(named, 1, "`./test` runs the program `{name}` so many times");
    }
}
