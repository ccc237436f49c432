//! The table in `docs/checking.md` is the table of the tests, and its rules are kept: at least
//! thirty mutants, and whatever is unsafe dies by two of unit test, judge and explorer.

use super::mutant::{Explored, Harm, Judged, Mutant, Ticks, Validated, Watched};
use super::table::MUTANTS;
use bellwether_check::FaultKind;
use bellwether_protocols::local_leader::{Mode, Rule};
use std::fs::read_to_string;
use std::path::Path;

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// What is special about its group.
fn misfit(mutant: &Mutant) -> &'static str {
    match mutant.misfit(&mutant.usual(Mode::Majority)) {
        Some(_) => ", one lockTime a third of the others",
        None => "",
    }
}

fn told_by_judge(judged: &Judged, misfit: &str) -> String {
    let Judged { nodes, trouble, schedules, invariant, watched } = judged;
    let trouble: Vec<&str> = trouble.iter().map(|kind| kind.name()).collect();
    let how = match watched {
        Watched::BothModes => ", both modes",
        Watched::Roles => ", roles",
        Watched::NeverTwo | Watched::All => misfit,
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

fn told_by_validation(validated: &Validated, misfit: &str) -> String {
    match validated {
        Validated::InSchedules { action, nodes, trouble, schedules } => {
            let trouble: Vec<&str> = trouble.iter().map(|kind| kind.name()).collect();
            format!("{action}: {nodes} processes, {}{misfit}; {schedules}", trouble.join(", "))
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
        Harm::Work => "two commands",
        Harm::Bound => "wrong bounds",
        Harm::Late => "time only",
        Harm::Order => "who leads",
        Harm::Covered => "none alone",
    };
    let special = misfit(mutant);
    let judged = judged.as_ref().map_or("-".to_owned(), |it| told_by_judge(it, special));
    let explored = explored.as_ref().map_or("-".to_owned(), told_by_explorer);
    let validated = told_by_validation(validated, special);
    let rules = rules.join(", ");
    format!("| {rules} | {changed} | {harm} | `{unit}` | {judged} | {explored} | {validated} |")
}

fn table() -> String {
    let head = "| without | what is changed | harm | unit test | judge | explorer | validation |\n\
                |---|---|---|---|---|---|---|\n";
    let rows: Vec<String> = MUTANTS.iter().map(row).collect();
    format!("{head}{}\n", rows.join("\n"))
}

fn document() -> String {
    let path = repository().join("docs/checking.md");
    read_to_string(path).expect("the document is there").replace("\r\n", "\n")
}

#[test]
fn the_document_has_this_table() {
    assert!(document().contains(&table()), "docs/checking.md should have:\n{}", table());
}

/// Whether two may lead, or a token may be used twice.
fn is_harmful(mutant: &Mutant) -> bool {
    match mutant.harm {
        Harm::Unsafe | Harm::UnsafeRarely | Harm::Reused | Harm::ReusedRarely => true,
        Harm::Work | Harm::Bound | Harm::Late | Harm::Order | Harm::Covered => false,
    }
}

/// The harmful mutants of which this holds.
fn harmful(such: impl Fn(&Mutant) -> bool) -> Vec<&'static Mutant> {
    MUTANTS.iter().filter(|mutant| is_harmful(mutant) && such(mutant)).collect()
}

/// What validation needs to see it: changes of the voters, of lockTime, or neither.
fn needs(mutant: &Mutant) -> Option<FaultKind> {
    let trouble = match mutant.validated {
        Validated::InSchedules { trouble, .. } => trouble,
        Validated::InScript { .. } => &[FaultKind::Members],
        Validated::InWorld { .. } | Validated::Not(_) => &[],
    };
    let changes = [FaultKind::Members, FaultKind::Lengths];
    changes.into_iter().find(|change| trouble.contains(change))
}

/// The names of the rules that these lack, as the document writes them.
fn rules(mutants: &[&Mutant]) -> Vec<String> {
    let all = mutants.iter().flat_map(|mutant| mutant.without);
    all.map(|rule| format!("`{rule:?}`")).collect()
}

/// A number in words.
fn word(number: usize) -> &'static str {
    const WORDS: [&str; 21] = [
        "no",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
        "twenty",
    ];
    WORDS.get(number).expect("the text has no greater number")
}

/// The same at the beginning of a sentence.
fn capital(number: usize) -> String {
    let (first, rest) = word(number).split_at(1);
    first.to_uppercase() + rest
}

/// What the text above the table says of it in words.
#[test]
fn the_text_counts_what_the_table_has() {
    let document = document();
    let text = document.split("## Every rule is needed").nth(1).expect("a chapter of its own");
    let text = text.split("\n\n").nth(1).expect("the text comes first");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let unseen = harmful(|mutant| matches!(mutant.validated, Validated::Not(_)));
    let missed = harmful(|mutant| mutant.judged.is_none() && mutant.explored.is_none());
    let kind = |wanted| missed.iter().copied().filter(|it| needs(it) == wanted).collect::<Vec<_>>();
    let [lengths, lists, rest] =
        [Some(FaultKind::Lengths), Some(FaultKind::Members), None].map(kind);
    assert_eq!(rules(&unseen).join(", "), "");
    for said in [
        "Validation and at least one other method find each of these.".to_owned(),
        format!("Judge and explorer miss {} of them.", word(missed.len())),
        format!("{} concern changes of lockTime", capital(lengths.len())),
        format!("{} concern lists", capital(lists.len())),
        format!("The other {} are {}", word(rest.len()), rules(&rest).join(", ")),
        format!("{} mutants, of which {} make two", MUTANTS.len(), harmful(|_| true).len()),
    ] {
        assert!(text.contains(&said), "docs/checking.md should say: {said}\nIt says: {text}");
    }
    // Those that validation sees in a script alone, which no random schedule had.
    let scripted = harmful(|mutant| matches!(mutant.validated, Validated::InScript { .. }));
    let told = format!("{} is found in a schedule that is written by hand", rules(&scripted)[0]);
    assert!(scripted.len() == 1 && text.contains(&told), "{told}\nIt says: {text}");
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
        let harmless = !is_harmful(mutant);
        assert!(seen || harmless, "{}: validation does not see it", mutant.changed);
        let rare = matches!(mutant.harm, Harm::UnsafeRarely | Harm::ReusedRarely);
        let once = rare || matches!(mutant.harm, Harm::Covered | Harm::Work);
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
