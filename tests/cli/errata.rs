//! `docs/errata.md` is what the program writes: no number in it is typed, none is out of date.

use crate::command::{json, stdout, unused};
use bellwether::analysis::errata::{Case, errata};
use bellwether::analysis::{Point, ValidInputs, quantity};
use bellwether::sim::Measure;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// On failure: `cargo run --release -- analyze --errata > docs/errata.md`, and read what changed.
#[test]
fn the_errata_are_what_the_formulas_and_the_simulations_say() {
    let written = stdout("analyze --errata");
    let kept = include_str!("../../docs/errata.md");
    for (line, (written, kept)) in (1..).zip(written.lines().zip(kept.lines())) {
        assert_eq!(written, kept, "docs/errata.md, line {line}");
    }
    assert_eq!(written.lines().count(), kept.lines().count(), "docs/errata.md");
    // Wherever both forms have a value and the right one is exact, the simulation says which.
    let judged: Vec<&str> = written.lines().filter(|line| line.ends_with("orrected |")).collect();
    assert!(judged.len() >= 15, "{} rows are decided", judged.len());
    assert!(!written.contains("| printed |\n") && !written.contains("| neither |"), "{written}");
}

/// Under each error stand the commands that decide it. All are run: those that compute, draw or
/// simulate here, with few runs, and tests, whose names must exist, with all other tests. The next
/// test makes as many runs as decide. The verdicts of figures are compared where those are made:
/// `assert_errata_know` in `crates/analysis/tests/analysis/known.rs`.
#[test]
fn every_erratum_names_the_command_that_decides_it() {
    let page = include_str!("../../docs/errata.md");
    let errata: Vec<&str> = page.split("\n## ").skip(1).collect();
    assert!(errata.len() >= 50, "{}", errata.len());
    for erratum in errata {
        let title = erratum.lines().next().unwrap_or_default();
        let (_, commands) = erratum.split_once("```sh\n").expect(title);
        let (commands, _) = commands.split_once("```").expect(title);
        assert!(commands.lines().count() > 0, "{title}");
        for command in commands.lines() {
            let words: Vec<&str> = command.split_whitespace().collect();
            match words[..2] {
                ["bellwether", "analyze"] => {
                    let name = words[2];
                    assert!(erratum.contains(&format!("| `{name}` |")), "{title}: {command}");
                    let result = json(&words[1..].join(" "));
                    assert!(result["corrected"].is_number(), "{command}: {result}");
                }
                ["bellwether", "sim"] => assert_prints_a_number(&words[1..]),
                ["bellwether", "reproduce"] => assert_claims(&words[1..], erratum),
                ["cargo", "test"] => assert_is_a_test(&words),
                _ => panic!("{title}: {command}"),
            }
        }
    }
}

/// The command of a simulation prints a mean, with two runs in place of many.
fn assert_prints_a_number(words: &[&str]) {
    let mut words = words.to_vec();
    let runs = words.iter().position(|word| *word == "--runs").expect("it says how many runs");
    words[runs + 1] = "2";
    let command = words.join(" ");
    let result = json(&command);
    let metrics = result["metrics"].as_object().expect(&command);
    assert!(metrics.values().any(|metric| metric["mean"].is_number()), "{command}: {result}");
}

/// Where no simulation tells the forms apart: an erratum, and what its row is about. Bounds may be
/// far from what they bound, and an approximation may be so bad that the wrong form is nearer by
/// chance. The errata say so.
const UNTOLD: [(&str, &str); 4] = [
    // Too high for many processes, which is what the erratum is about, too.
    ("The recurrence Q(i, n, r), S(n, r)", "N = 100"),
    // Both are lower bounds, far below.
    ("E3: a gap in the proof", "`probabilistic.success`"),
    // What is counted are the first ones; answers come on top.
    ("m³/2 unicasts are no upper bound", "`probabilistic.unicasts`"),
    // Both are upper bounds; the figure and the test have runs between them.
    ("(T) is short by σ", "`local-leader.kappa.timeliness`"),
];

/// Each simulation tells the forms apart: with so many runs that what it measures is not the form
/// that it refutes, at 99.9 %, and nearer to the other one. Of forms that are approximations, too.
#[test]
fn every_simulation_of_the_errata_decides() {
    let page = include_str!("../../docs/errata.md");
    let (mut decided, mut untold) = (0, BTreeSet::new());
    for (erratum, section) in errata().iter().zip(page.split("\n## ").skip(1)) {
        let rows = section.lines().filter(|line| line.starts_with("| `"));
        let cases = erratum.cases.iter();
        let with_rows =
            cases.filter(|case| matches!(case, Case::Forms { .. } | Case::Programs { .. }));
        for (case, row) in with_rows.zip(rows) {
            let cells: Vec<&str> = row.split(" | ").collect();
            let value = |place: usize| cells[place].parse::<f64>().ok();
            let (Some(printed), Some(corrected)) = (value(2), value(3)) else { continue };
            let Some((point, measure)) = simulated(case) else { continue };
            let is_of =
                |(title, what): &&(&str, &str)| erratum.title == *title && row.contains(what);
            if let Some(known) = UNTOLD.iter().find(is_of) {
                untold.insert(known);
                continue;
            }
            let (refuted, supported) = match case {
                Case::Programs { .. } => (corrected, printed),
                _ if row.ends_with("| both |") => continue,
                _ => (printed, corrected),
            };
            // Where both programs do about the same there is nothing to decide.
            if (printed - corrected).abs() > 0.02 * printed.abs().max(corrected.abs()) {
                assert_decides(&point, measure, refuted, supported);
                decided += 1;
            }
        }
    }
    assert!(decided >= 40, "{decided} simulations decide");
    assert_eq!(untold.len(), UNTOLD.len(), "an exception for nothing: {untold:?}");
}

/// The simulation of a case, if there is one.
fn simulated(case: &Case) -> Option<(Point, Measure)> {
    match case {
        Case::Forms { quantity: name, given, runs } => {
            let inputs = ValidInputs::try_from(*given).expect("in the domain");
            let (point, measure) = (quantity(name)?.simulation)(&inputs)?;
            let runs = (point.runs * runs / 1000).max(2);
            Some((point.runs(runs), measure))
        }
        Case::Programs { printed, measure, .. } => Some((printed.clone(), *measure)),
        _ => None,
    }
}

/// Runs the command, four times as often each time, until it decides or has all of its runs.
fn assert_decides(point: &Point, measure: Measure, refuted: f64, supported: f64) {
    let all = point.runs;
    let mut runs = (all / 64).max(30).min(all);
    loop {
        let command = point.clone().runs(runs).seed(1).command();
        let result = json(command.strip_prefix("bellwether ").expect("it is our command"));
        let measured = &result["metrics"][measure.name()];
        let of = |key: &str| measured[key].as_f64().unwrap_or_else(|| panic!("{key}: {command}"));
        let (mean, stderr) = (of("mean"), of("stderr"));
        let nearer = (mean - supported).abs() < (mean - refuted).abs();
        if nearer && (mean - refuted).abs() > 3.3 * stderr {
            return;
        }
        assert!(runs < all, "{command}: {mean} ± {stderr} is no reason to say {supported}");
        runs = (4 * runs).min(all);
    }
}

/// The figure that a command draws has the claims that the erratum names, and more besides. With so
/// few runs none is decided.
fn assert_claims(words: &[&str], erratum: &str) {
    let named = format!("* Figure `{}`: \"", words[1]);
    let told: Vec<&str> = erratum.lines().filter_map(|line| line.strip_prefix(&named)).collect();
    assert!(!told.is_empty(), "{erratum}");
    let folder = unused(words[1]);
    let few = format!("{} --runs 10 --out {}", words.join(" "), folder.display());
    let result = json(&few);
    let claims = result["figures"][0]["claims"].as_array().expect(&few);
    for told in told {
        let (says, _) = told.rsplit_once("\" is ").expect(told);
        assert!(claims.iter().any(|claim| claim["says"] == says), "{few}, {says}: {claims:?}");
    }
    assert!(claims.len() > 1, "{few}: {claims:?}");
    std::fs::remove_dir_all(folder).expect("it wrote a folder");
}

/// The test that a command names, or a test of the module that it names, is in the package and the
/// target that it names: with a name that nothing has `cargo test` succeeds, too.
fn assert_is_a_test(words: &[&str]) {
    let (place, name) = match words {
        ["cargo", "test", "-p", package, "--lib", name] => (folder_of(package).join("src"), name),
        ["cargo", "test", "-p", package, "--test", target, name] => {
            (folder_of(package).join("tests").join(target), name)
        }
        _ => panic!("not a command that runs a test: {words:?}"),
    };
    let mut files = Vec::new();
    sources(&place, &mut files);
    assert!(files.iter().any(|(path, text)| has_test(path, text, name)), "no test: {words:?}");
}

/// Where the package of this name is.
fn folder_of(package: &str) -> PathBuf {
    let short = package.strip_prefix("bellwether-").expect("a package of this repository");
    let folder = Path::new("crates").join(short);
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("it has a manifest");
    assert!(manifest.contains(&format!("name = \"{package}\"")), "{package}");
    folder
}

/// All sources below a folder.
fn sources(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the repository").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            let text = std::fs::read_to_string(&path).expect("sources are text");
            found.push((path, text));
        }
    }
}

/// Whether this source has the test of this name, or is the module of tests of this name; what
/// stands before the name are the modules that it is in. A test that is ignored decides nothing.
fn has_test(path: &Path, text: &str, name: &str) -> bool {
    let (modules, last) = name.rsplit_once("::").unwrap_or(("", name));
    let is_in = |modules: &str| {
        let place = path.with_extension("");
        let place = if place.ends_with("mod") { place.parent().unwrap_or(&place) } else { &place };
        place.ends_with(modules.replace("::", "/"))
    };
    let function = format!("fn {last}()");
    let mut lines = text.lines().map(str::trim);
    let (mut tested, mut ignored) = (false, false);
    let named = lines.any(|line| match line {
        "#[test]" => {
            tested = true;
            false
        }
        line if line.starts_with("#[ignore") => {
            ignored = true;
            false
        }
        // Other attributes and comments may stand between.
        line if line.starts_with("#[") || line.starts_with("//") => false,
        line => {
            let found = tested && !ignored && line.starts_with(&function);
            (tested, ignored) = (false, false);
            found
        }
    });
    let is_module = !modules.is_empty()
        && is_in(name)
        && text.contains("#[test]\n")
        && !text.contains("#[ignore");
    named && is_in(modules) || is_module
}

#[test]
fn a_name_that_no_test_has_is_none() {
    let text = "/// Says.\n#[test]\n#[expect(x)]\nfn it_holds() {\n}\nfn it_holds_not() {\n}\n";
    let path = Path::new("crates/some/src/part/tests/holding.rs");
    let is_one = |name: &str| has_test(path, text, name);
    let names = ["it_holds", "tests::holding::it_holds", "part::tests::holding"];
    assert!(names.into_iter().all(is_one));
    let others = ["it", "it_hold", "it_holds_not", "other::it_holds", "tests::hold", "holding"];
    assert!(!others.into_iter().any(is_one));
    let attributes = ["#[test]\n#[ignore]", "#[test]\n#[ignore = \"slow\"]", "#[ignore]\n#[test]"];
    for ignored in attributes {
        let text = format!("{ignored}\nfn it_holds() {{\n}}\n");
        for name in ["it_holds", "part::tests::holding"] {
            assert!(!has_test(path, &text, name), "it is never run: {ignored}");
        }
    }
}
