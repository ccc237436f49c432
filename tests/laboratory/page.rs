//! The page: how much of it a browser fetches.

use super::asking::Lab;
use std::collections::BTreeSet;

/// The names of files of the page that stand in this text, in quotes.
fn named(text: &str) -> impl Iterator<Item = String> {
    let ends = [".js", ".css", ".svg"];
    let parts = text.split('"').map(|part| part.trim_start_matches(['.', '/']));
    parts.filter(move |part| ends.iter().any(|end| part.ends_with(end))).map(str::to_owned)
}

#[test]
fn all_that_a_browser_fetches_to_show_the_page_is_under_300_kb() {
    let lab = Lab::start();
    let mut known = BTreeSet::from([String::new()]);
    let mut waiting = vec![String::new()];
    let mut files = 0;
    while let Some(name) = waiting.pop() {
        let body = lab.get(&format!("/{name}")).body;
        files += body.len();
        waiting.extend(named(&body).filter(|other| known.insert(other.clone())));
    }
    assert!(known.contains("measure.js") && known.contains("style.css"), "{known:?}");
    let table = lab.get("/api/protocols").body.len();
    println!("{} files: {files} bytes; protocols and flags: {table} bytes", known.len());
    assert!(files + table < 300_000, "{files} and {table} bytes");
}
