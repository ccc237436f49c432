//! The claims of all figures together: how many they are, and what `docs/mathematics.md` says of
//! the criteria by which they are judged.

use crate::figures::up_to;
use crate::found::looked_at;
use bellwether_analysis::figures::{Budget, CLAIMS, Claim, Finding, figure, figures};
use std::sync::LazyLock;

const PAGE: &str = include_str!("../../../../docs/mathematics.md");

/// All figures, with so few runs that nothing is judged, and without what takes long.
static ALL: LazyLock<Vec<Finding>> = LazyLock::new(|| {
    let small = figures().into_iter().map(|figure| up_to(1024.0, figure)).collect();
    looked_at(small, Budget { runs: 2, ..Budget::default() })
});

/// The levels of all verdicts are for so many.
#[test]
fn no_page_has_more_claims_than_its_levels_allow_for() {
    let claims = ALL.iter().flat_map(|finding| &finding.claims);
    let heavy = claims.clone().filter(|claim| claim.weight == 2).count();
    assert_eq!(heavy, 4, "what rests on the adjusted loss is looked at in two loss models");
    let claims: usize = claims.map(|claim| claim.weight).sum();
    assert!(claims > 100 && claims <= CLAIMS, "{claims} claims");
}

/// On failure: `benches/seeds target/release/bellwether`, and write what it prints.
#[test]
fn the_comparison_of_seeds_has_as_many_claims_as_there_are() {
    let now = ALL.iter().map(|finding| finding.claims.len()).sum::<usize>();
    let told = |line: &&str| line.ends_with(" changed other than to or from undecided");
    let told = PAGE.lines().find(told).expect("what `benches/seeds` prints");
    let (count, _) = told.split_once(" claims; ").expect("how many it compared");
    assert_eq!(count, now.to_string(), "`benches/seeds` compared other claims: run it again");
    let (_, table) = PAGE.split_once("| verdict | seed 1 |").expect("the table above it");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let of = |row: &str| row.split('|').nth(2).and_then(|cell| cell.trim().parse::<usize>().ok());
    let sum: usize = rows.filter_map(of).sum();
    assert_eq!(sum, now, "the verdicts of the first seed");
}

/// What margins that follow from an axis, and comparisons without a margin, are called in a rule.
const OF_AN_AXIS: [&str; 9] = [
    "as a linear axis is read",
    "as a logarithmic axis is read",
    "less than a marker on an axis from 0 to 1",
    "to the letter, since nothing is random",
    "as their axes are read",
    "more, all points together, and nowhere less by more than 5 % of the greater",
    "nowhere less by more than 5 % of the greater",
    "no less than that",
    "nothing compared is random",
];

/// The claims of a figure, with their rules.
fn judged(finding: &Finding) -> Vec<Claim> {
    (figure(finding.id).expect("it is listed").claims)(finding)
}

/// The rows of the table of criteria that are about a figure: they name it, or its paper.
fn rows_about(id: &str) -> String {
    let (_, table) = PAGE.split_once("| figure | word or claim | criterion |").expect("a table");
    let is_about = |row: &&str| {
        let names = row.split('|').nth(1).unwrap_or_default().split([',', ';']).map(str::trim);
        let full = |name: &str| match name.strip_prefix('-') {
            Some(rest) => format!("local-leader-{rest}"),
            None => name.to_owned(),
        };
        names.map(|name| full(name.trim_matches('`'))).any(|name| match name.strip_suffix("-*") {
            Some(family) => id.starts_with(family),
            None => id == name || name == "probabilistic" && id.starts_with("probabilistic"),
        })
    };
    table.lines().skip(2).take_while(|row| row.starts_with('|')).filter(is_about).collect()
}

/// The numbers in a text, as they are written there.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_ascii_digit() && letter != '.');
    words.map(|word| word.trim_end_matches('.')).filter(|word| word.contains(char::is_numeric))
}

/// A claim whose rule is about no axis has its criterion in the table, with the same numbers.
#[test]
fn every_criterion_of_its_own_is_in_the_table() {
    let (mut own, mut missing) = (0, Vec::new());
    for finding in ALL.iter() {
        for Claim { rule, says, .. } in judged(finding) {
            let is_open = rule.starts_with("the text leaves open");
            if is_open || OF_AN_AXIS.iter().any(|words| rule.contains(words)) {
                continue;
            }
            own += 1;
            let asked = rule.split_once(": ").map_or(&rule[..], |(asked, _)| asked);
            let rows = rows_about(finding.id);
            if rows.is_empty() || !numbers(asked).all(|number| rows.contains(number)) {
                missing.push((finding.id, says, asked.to_owned()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
    assert!(own > 30, "{own} criteria");
}
