//! Every scenario gives the transcript that is stored next to this file; a change is reviewed as a
//! diff.

use bellwether_sim::{ScenarioFile, trace};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const BLESS: &str = "BELLWETHER_BLESS";

fn scenarios() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts")
}

/// The names of the files in `folder` with this ending, sorted.
fn names(folder: &Path, extension: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|bad| panic!("{}: {bad}", folder.display()));
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    let files = paths.filter(|path| path.extension().is_some_and(|end| end == extension));
    files.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect()
}

fn transcript(name: &str) -> String {
    let path = scenarios().join(name).with_extension("toml");
    let text = fs::read_to_string(&path).expect("the scenario was listed");
    let scenario = ScenarioFile::parse(&text).unwrap_or_else(|bad| panic!("{name}: {bad}"));
    trace::transcript(&scenario.trace(scenario.seed))
}

/// Where two texts begin to differ, with a few lines of context; `None` if they are equal.
fn difference(kept: &str, told: &str) -> Option<String> {
    const AROUND: usize = 3;
    if kept == told {
        return None;
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (kept.lines().collect(), told.lines().collect());
    let same = old.iter().zip(&new).take_while(|(one, two)| one == two).count();
    let part = |sign: &str, lines: &[&str]| -> String {
        let shown = lines.iter().skip(same).take(AROUND);
        shown.map(|line| format!("{sign} {line}\n")).collect()
    };
    let before: String = new[..same]
        .iter()
        .skip(same.saturating_sub(AROUND))
        .fold(String::new(), |text, line| text + "  " + line + "\n");
    let (was, is) = (part("-", &old), part("+", &new));
    Some(format!(
        "from line {} on ({} lines, were {}):\n{before}{was}{is}",
        same + 1,
        new.len(),
        old.len()
    ))
}

#[test]
fn every_scenario_tells_its_story_as_it_did() {
    let bless = std::env::var_os(BLESS).is_some();
    let mut changed = Vec::new();
    for name in names(&scenarios(), "toml") {
        let path = scripts().join(&name).with_extension("txt");
        let told = transcript(&name);
        if bless {
            fs::write(&path, &told).expect("scripts can be written");
        }
        let kept = fs::read_to_string(&path).unwrap_or_default().replace('\r', "");
        changed.extend(difference(&kept, &told).map(|difference| format!("{name}: {difference}")));
    }
    assert!(
        changed.is_empty(),
        "{}\nLook at them with: bellwether trace scenarios/NAME.toml\nIf you understand why they \
         changed: {BLESS}=1 cargo test -p bellwether-sim --test scripts, and say it in the commit",
        changed.join("\n")
    );
    assert_eq!(names(&scripts(), "txt"), names(&scenarios(), "toml"), "a script has its scenario");
}

#[test]
fn a_difference_is_shown_where_it_begins() {
    assert_eq!(difference("a\nb\n", "a\nb\n"), None);
    let shown = difference("1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\nx\n").unwrap();
    assert_eq!(shown, "from line 5 on (5 lines, were 6):\n  2\n  3\n  4\n- 5\n- 6\n+ x\n");
    let longer = difference("1\n", "1\n2\n").unwrap();
    assert_eq!(longer, "from line 2 on (2 lines, were 1):\n  1\n+ 2\n");
}
