//! `bellwether reproduce` as scripts and people meet it: files, verdicts, refusals.

use crate::command::{json, program, refusal, unused};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead as _, Read as _};
use std::path::{Path, PathBuf};

/// Makes these figures in a folder.
fn make(figures: &str, out: &Path) -> Value {
    json(&format!("reproduce {figures} --out {}", out.display()))
}

/// The files of a folder and what is in them.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("the folder was made");
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let read = |path: PathBuf| {
        let name = path.file_name().expect("files have names").to_string_lossy().into_owned();
        (name, std::fs::read(path).expect("files can be read"))
    };
    // Until all figures are made, a folder in it keeps their points.
    paths.filter(|path| path.is_file()).map(read).collect()
}

#[test]
fn same_seed_same_bytes_whatever_the_threads() {
    let (one, two) = (unused("reproduce-one"), unused("reproduce-two"));
    let made = |out: &Path, threads: u32, seed: u32| {
        make(&format!("5.6 5.8 --runs 4 --seed {seed} --threads {threads}"), out);
        contents(out)
    };
    let first = made(&one, 1, 7);
    let names: Vec<&str> = first.keys().map(String::as_str).collect();
    let files = ["5.6.csv", "5.6.json", "5.6.svg", "5.8.csv", "5.8.json", "5.8.svg", "index.html"];
    assert_eq!(names, files);
    assert_eq!(made(&two, 2, 7), first);
    assert_ne!(made(&two, 2, 8), first, "another seed, other random draws");
    for folder in [one, two] {
        std::fs::remove_dir_all(folder).expect("what was made can be removed");
    }
}

#[test]
fn a_figure_alone_is_the_same_as_among_others() {
    let (alone, among) = (unused("reproduce-alone"), unused("reproduce-among"));
    make("5.8 --runs 3", &alone);
    make("5.8 5.6 --runs 3", &among);
    let (alone_files, among_files) = (contents(&alone), contents(&among));
    for kind in ["svg", "csv", "json"] {
        let name = format!("5.8.{kind}");
        assert_eq!(alone_files[&name], among_files[&name], "{name}");
    }
    for folder in [alone, among] {
        std::fs::remove_dir_all(folder).expect("what was made can be removed");
    }
}

#[test]
fn the_verdicts_have_the_keys_that_scripts_rely_on() {
    let out = unused("reproduce-keys");
    let result = make("5.6 --runs 3", &out);
    let counts = ["confirmed", "refuted", "undecided", "not_reproducible"];
    for key in ["figures", "runs", "seed", "page"].into_iter().chain(counts) {
        assert!(!result[key].is_null(), "{key}: {result}");
    }
    assert!(result["wall_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0));
    let figure = &result["figures"][0];
    assert_eq!(figure["figure"], "5.6");
    for file in figure["files"].as_array().expect("files are listed") {
        let path = Path::new(file.as_str().expect("files have names"));
        assert!(path.is_file(), "{}", path.display());
    }
    for claim in figure["claims"].as_array().expect("claims are listed") {
        for key in ["says", "section", "verdict", "because", "rule"] {
            assert!(claim[key].is_string(), "{key}: {claim}");
        }
    }
    let written = std::fs::read(out.join("5.6.json")).expect("it was written");
    let written: Value = serde_json::from_slice(&written).expect("it is JSON");
    assert_eq!(written["claims"], figure["claims"]);
    std::fs::remove_dir_all(out).expect("what was made can be removed");
}

/// Whoever looks at them with other programs says where they are kept.
#[test]
fn every_figure_can_be_made() {
    let kept = std::env::var_os("BELLWETHER_FIGURES").map(PathBuf::from);
    let out = kept.clone().unwrap_or_else(|| unused("reproduce-all"));
    let result = make("all --runs 2", &out);
    let figures = result["figures"].as_array().expect("figures are listed");
    assert_eq!(figures.len(), json("reproduce --list").as_array().map_or(0, Vec::len));
    let files = contents(&out);
    assert_eq!(files.len(), 3 * figures.len() + 1, "three files a figure, and the page");
    let page = String::from_utf8_lossy(&files["index.html"]);
    for figure in figures {
        let id = figure["figure"].as_str().expect("figures have names");
        assert!(page.contains(&format!("id=\"figure-{id}\"")), "{id} is on the page");
        let picture = String::from_utf8_lossy(&files[&format!("{id}.svg")]);
        let written: Value = serde_json::from_slice(&files[&format!("{id}.json")]).expect("JSON");
        let is_run = written["run"].is_object();
        let drawn = picture.contains("<polyline") || picture.contains("<title>LE-");
        assert!(drawn || is_run && picture.contains("follows"), "{id}: there is something to see");
        for claim in figure["claims"].as_array().expect("claims are listed") {
            let open = claim["verdict"] == "not-reproducible" || claim["verdict"] == "undecided";
            assert_eq!(open, !is_run, "two runs tell nothing, and one that is shown all: {claim}");
        }
    }
    if kept.is_none() {
        std::fs::remove_dir_all(out).expect("what was made can be removed");
    }
}

#[test]
fn the_list_names_every_figure_once() {
    let list = json("reproduce --list");
    let figures = list.as_array().expect("it is a list");
    let mut names: Vec<&str> =
        figures.iter().filter_map(|entry| entry["figure"].as_str()).collect();
    assert_eq!(names.len(), figures.len());
    assert!(names.contains(&"5.6"), "{names:?}");
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), figures.len(), "{names:?}");
    for figure in figures {
        assert!(figure["title"].is_string() && figure["source"].is_string(), "{figure}");
    }
}

#[test]
fn what_cannot_be_made_is_refused_in_one_line() {
    let refusal = |arguments: &str| refusal(&format!("reproduce {arguments}"), 2);
    assert!(refusal("5.66").contains("did you mean '5.6'"));
    assert!(refusal("nonsense").contains("--list"));
    assert!(refusal("").contains("FIGURE"));
    assert!(refusal("5.6 --runs 1").contains("at least 2"));
    assert!(refusal("all --list").contains("--list"));
    let file = unused("reproduce-file");
    std::fs::write(&file, "in the way").expect("there is room for a file");
    let line = refusal(&format!("5.6 --runs 2 --out {}", file.display()));
    assert!(line.contains(&file.display().to_string()), "{line}");
    std::fs::remove_file(file).expect("what was made can be removed");
}

#[test]
fn a_figure_that_is_made_later_joins_the_others_on_the_page() {
    let (grown, whole) = (unused("reproduce-grown"), unused("reproduce-whole"));
    for figure in ["5.8", "5.6", "5.8"] {
        make(&format!("{figure} --runs 3"), &grown);
    }
    make("5.6 5.8 --runs 3", &whole);
    assert_eq!(contents(&grown), contents(&whole));
    for folder in [grown, whole] {
        std::fs::remove_dir_all(folder).expect("what was made can be removed");
    }
}

#[test]
fn whoever_interrupts_it_keeps_what_was_made() {
    let out = unused("reproduce-interrupted");
    let mut child = program()
        .args(["reproduce", "all", "--runs", "40", "--out"])
        .arg(&out)
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("the command starts");
    let shown = || {
        let page = std::fs::read_to_string(out.join("index.html")).unwrap_or_default();
        page.matches("<section class=\"finding\"").count()
    };
    let patience = 6_000;
    let made = (0..patience).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        Some(shown()).filter(|made| *made > 0)
    });
    let pid = rustix::process::Pid::from_child(&child);
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT); // it may be done
    child.wait().expect("it ends");
    let made = made.expect("a figure is shown before all are made");
    assert!(shown() >= made);
    let pictures = contents(&out).into_keys().filter(|name| name.ends_with(".json")).count();
    assert!(pictures >= made, "{pictures} of {made}");
    std::fs::remove_dir_all(out).expect("what was made can be removed");
}

#[test]
fn verdicts_are_printed_as_soon_as_they_are_known() {
    let out = unused("reproduce-told");
    let mut child = program()
        .args(["reproduce", "all", "--runs", "40", "--out"])
        .arg(&out)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the command starts");
    // The pipe stays open until it has been asked whether it goes on.
    let mut told = std::io::BufReader::new(child.stdout.take().expect("it is piped"));
    let lines = told.by_ref().lines().take(3).map(|line| line.expect("text"));
    let lines: Vec<String> = lines.collect();
    let goes_on = child.try_wait().expect("it can be asked").is_none();
    child.kill().expect("it is still there");
    child.wait().expect("it ends");
    let list = json("reproduce --list");
    let first = list[0]["figure"].as_str().expect("figures have names");
    assert!(lines[0].starts_with(first), "{lines:?}");
    assert!(lines[1].starts_with("  undecided") && lines[1].ends_with(')'), "{lines:?}");
    assert!(goes_on, "all other figures are still to be made");
    std::fs::remove_dir_all(out).expect("what was made can be removed");
}
