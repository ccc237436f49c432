//! What is no trace is refused, and the page about traces names all that is in one. What live
//! members recorded is judged in `tests/traces.rs`.

use crate::command::{folder, refusal};
use std::path::Path;

#[test]
fn what_is_no_trace_is_refused_in_one_line() {
    let folder = folder("no-trace");
    let (file, none) = (folder.join("x.jsonl"), folder.join("none"));
    std::fs::write(&file, "nonsense\n").expect("it can be written");
    let (file, none) = (file.display(), none.display());
    for command in ["check --trace", "replay", "trace --from"] {
        let errors = refusal(&format!("{command} {file}"), 78);
        assert!(errors.contains("x.jsonl:1: no record"), "{errors}");
        refusal(&format!("{command} {none}"), 1);
    }
    for flags in ["check --nodes 3 --trace", "trace --seed 3 --from"] {
        let errors = refusal(&format!("{flags} {file}"), 2);
        assert!(errors.contains("has no effect with"), "{errors}");
    }
    refusal("check", 2);
    for (command, what) in [("replay", "replay"), ("trace --from", "show")] {
        let errors = refusal(&format!("{command} /dev/null"), 1);
        assert!(errors.contains(&format!("there is nothing to {what}")), "{errors}");
    }
    std::fs::remove_dir_all(&folder).expect("it was made by this test");
}

/// The variants of an enum in this source, each with its fields, and the fields of its structs: as
/// they are called in JSON. Names are found by how rustfmt indents them.
fn declared(source: &str, name: &str) -> Vec<(String, Vec<String>)> {
    let body = source.split(&format!("pub enum {name} {{\n")).nth(1);
    let body = body.and_then(|rest| rest.split("\n}\n").next()).expect("it is declared there");
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for line in body.lines() {
        let word = line.trim_start();
        let indent = line.len() - word.len();
        let end = word.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let word = &word[..end.unwrap_or(word.len())];
        match (indent, all.last_mut()) {
            _ if word.is_empty() => {}
            (4, _) => all.push((word.to_lowercase(), Vec::new())),
            (8, Some((_, fields))) => fields.push(word.to_owned()),
            _ => {}
        }
    }
    all
}

/// The fields of a struct in this source.
fn fields(source: &str, name: &str) -> Vec<String> {
    let body = source.split(&format!("pub struct {name} {{\n")).nth(1);
    let body = body.and_then(|rest| rest.split("\n}\n").next()).expect("it is declared there");
    let fields = body.lines().filter_map(|line| line.strip_prefix("    pub ")?.split_once(':'));
    fields.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn the_reference_of_traces_lists_every_record_and_every_field() {
    let read = |path: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        std::fs::read_to_string(path).expect("it is part of the project")
    };
    let page = read("docs/traces.md");
    let [record, fact, work] =
        ["record", "fact", "work"].map(|file| read(&format!("crates/core/src/{file}.rs")));
    let mut all = declared(&record, "Event");
    for (kind, structure) in
        [("begin", fields(&record, "LifeHeader")), ("guardian", fields(&work, "Watcher"))]
    {
        let event = all.iter_mut().find(|(name, _)| name == kind).expect("it is a kind of record");
        event.1.extend(structure);
    }
    // What is flattened into a record is no field of its own.
    all.iter_mut()
        .for_each(|(kind, fields)| fields.retain(|field| kind != "work" || field != "work"));
    all.extend(declared(&fact, "Fact"));
    all.extend(declared(&work, "Work"));
    assert!(all.len() > 35, "{all:?}");
    for (kind, fields) in all {
        let named = |row: &&str| {
            row.split('|').nth(1).is_some_and(|cell| cell.contains(&format!("`{kind}`")))
        };
        let rows: Vec<&str> = page.lines().filter(named).collect();
        assert!(!rows.is_empty(), "{kind} is not listed");
        for field in fields {
            let listed = |row: &&str| {
                let cell = row.split('|').nth(2).unwrap_or_default();
                cell.contains(&format!("`{field}`"))
            };
            assert!(rows.iter().any(listed), "{kind}: {field} is not listed");
        }
    }
}
