//! The table in `docs/checking.md` is the table of the tests, and its rules are kept: at least
//! thirty mutants, and whatever is unsafe dies by two of unit test, judge and explorer.

use super::mutant::{Explored, Harm, Judged, Mutant, Ticks, Validated, Watched};
use super::table::MUTANTS;
use bellwether_protocols::local_leader::Rule;
use std::fs::read_to_string;
use std::path::Path;

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn told_by_judge(judged: &Judged) -> String {
    let Judged { nodes, trouble, schedules, invariant, watched } = judged;
    let trouble: Vec<&str> = trouble.iter().map(|kind| kind.name()).collect();
    let how = match watched {
        Watched::BothModes => ", both modes",
        Watched::Misconfigured => ", one lockTime a third of the others",
        Watched::NeverTwo | Watched::All => "",
    };
    format!("{invariant}: {nodes} processes, {}{how}; {schedules}", trouble.join(", "))
}

fn told_by_explorer(explored: &Explored) -> String {
    let Explored { nodes, ticks, adversary: a, property } = explored;
    let mut flags = format!("{property}: {nodes} processes, delay {} to {}", a.fastest, a.slowest);
    for (count, what) in [
        (a.crashes, "crash"),
        (a.lost_disks, "lost disk"),
        (a.releases, "release"),
        (a.copies, "copy"),
        (a.resignations, "resignation"),
        (a.transfers, "transfer"),
        (a.changes, "change"),
        (a.campaigns, "campaign"),
    ] {
        if count > 0 {
            flags += &format!(", {count} {what}");
        }
    }
    let ends = a.ticks.map_or("for ever".to_owned(), |ticks| format!("{ticks} ticks"));
    format!("{flags}; lockTime {}, {ends}", ticks.lock())
}

fn told_by_validation(validated: &Validated) -> String {
    match validated {
        Validated::InSchedules { action, nodes, trouble, schedules } => {
            let trouble: Vec<&str> = trouble.iter().map(|kind| kind.name()).collect();
            format!("{action}: {nodes} processes, {}; {schedules}", trouble.join(", "))
        }
        Validated::InWorld { action, adversary } => {
            let (ticks, property) = (Ticks::Usual, action);
            told_by_explorer(&Explored { nodes: 3, ticks, adversary: *adversary, property })
        }
        Validated::InScript { action, story, .. } => format!("{action}: a script: {story}"),
        Validated::Not(why) => format!("no: {why}"),
    }
}

fn row(mutant: &Mutant) -> String {
    let Mutant { without, changed, harm, unit, judged, explored, validated } = mutant;
    let rules: Vec<String> = without.iter().map(|rule| format!("`{rule:?}`")).collect();
    let harm = match harm {
        Harm::Unsafe => "two leaders",
        Harm::UnsafeRarely => "two leaders, rarely",
        Harm::Reused => "a token twice",
        Harm::ReusedRarely => "a token twice, rarely",
        Harm::Bound => "wrong bounds",
        Harm::Late => "time only",
        Harm::Order => "who leads",
        Harm::Covered => "none alone",
    };
    let judged = judged.as_ref().map_or("-".to_owned(), told_by_judge);
    let explored = explored.as_ref().map_or("-".to_owned(), told_by_explorer);
    let validated = told_by_validation(validated);
    let rules = rules.join(", ");
    format!("| {rules} | {changed} | {harm} | `{unit}` | {judged} | {explored} | {validated} |")
}

fn table() -> String {
    let head = "| without | what is changed | harm | unit test | judge | explorer | validation |\n\
                |---|---|---|---|---|---|---|\n";
    let rows: Vec<String> = MUTANTS.iter().map(row).collect();
    format!("{head}{}\n", rows.join("\n"))
}

#[test]
fn the_document_has_this_table() {
    let path = repository().join("docs/checking.md");
    let document = read_to_string(path).expect("the document is there").replace("\r\n", "\n");
    assert!(document.contains(&table()), "docs/checking.md should have:\n{}", table());
}

#[test]
fn every_rule_has_a_mutant_and_every_unsafe_one_dies_twice() {
    assert!(MUTANTS.len() >= 30, "{}", MUTANTS.len());
    for rule in Rule::ALL {
        assert!(MUTANTS.iter().any(|mutant| mutant.without.contains(&rule)), "{rule:?}");
    }
    for mutant in MUTANTS {
        let judged = mutant.judged.is_some() || matches!(mutant.harm, Harm::Late | Harm::Order);
        let deaths = 1 + usize::from(judged) + usize::from(mutant.explored.is_some());
        let seen = !matches!(mutant.validated, Validated::Not(_));
        let harmful = matches!(mutant.harm, Harm::Unsafe | Harm::Reused | Harm::UnsafeRarely);
        let excused = mutant.without.contains(&Rule::EqualLocks);
        assert!(seen || excused || !harmful, "{}: validation does not see it", mutant.changed);
        let rare = matches!(mutant.harm, Harm::UnsafeRarely | Harm::ReusedRarely);
        let once = rare || mutant.harm == Harm::Covered;
        let needed = if once { 1 } else { 2 };
        assert!(deaths >= needed, "{}: {deaths}", mutant.changed);
    }
}

/// The unit tests are in another crate; here it is seen that they are there.
#[test]
fn every_unit_test_of_the_table_exists() {
    let folder = repository().join("crates/protocols/src/local_leader");
    let files = [
        "rules",
        "needed",
        "tokens",
        "newcomer",
        "lists",
        "changes",
        "lengths",
        "standing",
        "collating",
    ]
    .map(|file| format!("tests/{file}.rs"));
    let files = files.into_iter().chain(["fail_aware/tests/bound.rs".to_owned()]);
    let files: Vec<String> =
        files.map(|file| read_to_string(folder.join(file)).expect("the tests are there")).collect();
    for mutant in MUTANTS {
        let test = format!("#[test]\nfn {}()", mutant.unit);
        assert!(files.iter().any(|file| file.contains(&test)), "{}", mutant.unit);
    }
}
