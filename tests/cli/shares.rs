//! Figures in shares: points that survive a `kill -9`, and shares that join.

use crate::command::{folder, pieces, program, refusal, stdout};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

/// The figures of a folder: all files but descriptions and logs.
fn figures(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("the folder was made");
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let is_figure = |path: &std::path::PathBuf| {
        path.extension()
            .is_some_and(|end| ["svg", "csv", "json", "html"].iter().any(|it| end == *it))
    };
    let read = |path: std::path::PathBuf| {
        let name = path.file_name().expect("files have names").to_string_lossy().into_owned();
        (name, std::fs::read(path).expect("files can be read"))
    };
    paths.filter(is_figure).map(read).collect()
}

/// With 300 runs claims are judged, and points of undecided ones get more runs.
#[test]
fn shares_of_figures_join_to_the_bytes_of_one_machine() {
    let folder = folder("shares-join");
    let at = |name: &str| folder.join(name).display().to_string();
    let flags = "5.6 5.8 merea-messages --runs 300 --seed 3";
    stdout(&format!("reproduce {flags} --out {}", at("whole")));
    assert!(!folder.join("whole/pieces").exists(), "points are kept only until all is made");
    for part in 1..=2 {
        let text =
            stdout(&format!("reproduce {flags} --shard {part}/2 --out {}{part}", at("part")));
        let count = if part == 1 { "2 figures" } else { "1 figure" };
        assert_eq!(text, format!("share {part}/2: {count}\n"));
        assert!(figures(&folder.join(format!("part{part}"))).is_empty(), "only points are kept");
    }
    let line = refusal(&format!("merge {}1 --out {}", at("part"), at("joined")), 2);
    assert!(line.contains("1 figure is not complete; the first is 5.8"), "{line}");
    assert!(line.contains("bellwether reproduce 5.8 --runs 300 --seed 3 --out"), "{line}");
    let text = stdout(&format!("merge {0}1 {0}2 --out {1}", at("part"), at("joined")));
    assert!(text.contains(&format!("written: {}/index.html", at("joined"))), "{text}");
    assert_eq!(figures(&folder.join("joined")), figures(&folder.join("whole")));
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}

#[test]
fn what_cannot_be_joined_is_refused() {
    let folder = folder("shares-refused");
    let at = |name: &str| folder.join(name).display().to_string();
    for (out, seed) in [("one", 1), ("two", 2)] {
        let flags = format!("5.8 --runs 2 --seed {seed} --shard 1/1");
        stdout(&format!("reproduce {flags} --out {}", at(out)));
    }
    let line = refusal(&format!("merge {} {}", at("one"), at("two")), 2);
    assert!(line.contains("different figures"), "{line}");
    let line = refusal(&format!("merge {} --plot x=loss,y=messages", at("one")), 2);
    assert!(line.contains("these are figures"), "{line}");
    let line = refusal(&format!("merge {} --format csv", at("one")), 2);
    assert!(line.contains("choose table or json"), "{line}");
    let line = refusal("reproduce 5.8 --shard 3/2", 2);
    assert!(line.contains("a share is I/N"), "{line}");
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}

/// Whoever makes the figures is killed by a signal that it cannot catch, again and again.
#[test]
fn figures_that_are_killed_again_and_again_end_with_the_same_bytes() {
    let folder = folder("shares-killed");
    let (whole, killed) = (folder.join("whole"), folder.join("killed"));
    let flags = "reproduce 5.6 5.7 5.8 --runs 200 --threads 1 --out";
    stdout(&format!("{flags} {}", whole.display()));
    let mut kills = 0;
    'again: loop {
        let before = pieces(&killed);
        let mut command = program();
        command.args(flags.split_whitespace()).arg(&killed);
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        loop {
            if child.try_wait().expect("it is ours").is_some() {
                break 'again;
            }
            if kills < 3 && pieces(&killed) > before + 3 {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().expect("it is ours"); // SIGKILL
        child.wait().expect("it is ours");
        assert!(pieces(&killed) > before, "what was made is kept");
        kills += 1;
    }
    assert!(kills > 0, "it was ready before it could be killed");
    assert_eq!(figures(&killed), figures(&whole));
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}
