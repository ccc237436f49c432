//! The figures of the probabilistic election, and ours of it: what they find, and that they find
//! it.

use crate::found::{looked_at, named};
use crate::known::{Table, assert_forgeries_count, assert_known, assert_runs_would_decide};
use bellwether_analysis::figures::Verdict::{Confirmed, Refuted, Undecided};
use bellwether_analysis::figures::{Budget, Finding, figure, probabilistic};
use std::sync::LazyLock;

/// Looked at once with 300 runs: what that leaves undecided, more runs may decide.
static FOUND: LazyLock<Vec<Finding>> = LazyLock::new(|| {
    let names = probabilistic::FIGURES.iter().map(|(name, _)| name);
    let figures = names.map(|name| figure(name).expect("it is listed")).collect();
    looked_at(figures, Budget { runs: 300, looks: 1, ..Budget::default() })
});

fn finding(id: &str) -> Finding {
    named(&FOUND, id)
}

const KNOWN: Table = &[
    (
        "probabilistic-4",
        &[
            ("The bounds on E1 and E2 are close", Confirmed, |f| set(f, "E2, printed", 0.9)),
            ("The bound peaks at 0.6", Confirmed, |f| set(f, "bound, printed", 0.7)),
            ("That is because the bound on E3", Confirmed, |f| set(f, "E4, printed", 0.3)),
            ("It is a lower bound", Confirmed, |f| set(f, "bound, corrected", 1.0)),
            ("Success is much higher", Confirmed, |f| set(f, "one round, simulated", 0.7)),
            ("From K = 20 on one round", Undecided, |f| set(f, "one round, simulated", 0.9)),
        ],
    ),
    (
        "probabilistic-5a",
        &[
            ("Strong success is very high up to a loss", Undecided, |f| set(f, STRONG, 0.8)),
            ("It is so with the re-initiation", Refuted, |f| set(f, "strong, hash", 0.96)),
            ("Weak success is close to 1", Confirmed, |f| set(f, "weak, hash", 0.9)),
            ("Weak success is higher", Confirmed, |f| set(f, "weak, hash", 0.1)),
        ],
    ),
    ("probabilistic-5b", &[("It takes little time", Confirmed, |f| set(f, "rounds, delay", 3.0))]),
    ("probabilistic-5c", &[("Messages are few", Confirmed, |f| set(f, "unicasts, delay", 3000.0))]),
    (
        "probabilistic-5d",
        &[
            ("Strong success is very high", Confirmed, |f| set(f, "strong", 0.9)),
            ("Weak success is close to 1", Confirmed, |f| set(f, "weak", 0.9)),
            ("Success does not depend", Undecided, |f| shrink(f, "strong")),
        ],
    ),
    (
        "probabilistic-5e",
        &[
            ("It ends within 1 expected round", Undecided, |f| set(f, "rounds", 1.2)),
            ("Rounds do not depend on N", Confirmed, |f| grow(f, "rounds")),
        ],
    ),
    (
        "probabilistic-5f",
        &[
            ("The number of messages does not vary", Undecided, |f| grow(f, "multicasts")),
            ("It is low", Confirmed, |f| set(f, "unicasts", 200.0)),
        ],
    ),
    (
        "probabilistic-5g",
        &[
            ("Strong success is very high", Confirmed, |f| set(f, "strong", 0.9)),
            ("Weak success is close to 1", Confirmed, |f| set(f, "weak", 0.9)),
        ],
    ),
    ("probabilistic-5h", &[("It takes little time", Confirmed, |f| set(f, "rounds", 3.0))]),
    ("probabilistic-5i", &[("Messages are few", Confirmed, |f| set(f, "unicasts", 6000.0))]),
    (
        "probabilistic-n",
        &[
            ("Success is very high up to 100,000", Undecided, |f| set(f, "weak, loss .001", 0.9)),
            ("Success is very high with a million", Undecided, |f| {
                set(f, "weak, loss .001", 0.9);
            }),
            ("One round is expected", Undecided, |f| set(f, "rounds, loss .001", 1.9)),
            ("The number of messages does not", Undecided, |f| grow(f, "multicasts, loss .001")),
            ("Success is very high with a loss", Undecided, |f| set(f, "weak, loss .2", 0.9)),
            ("Rounds do not depend on N with a loss", Refuted, |f| set(f, "rounds, loss .2", 2.0)),
            ("The number of messages does not", Refuted, |f| {
                set(f, "unicasts, loss .2", 100.0);
                set(f, "multicasts, loss .2", 10.0);
            }),
        ],
    ),
    (
        "probabilistic-fail",
        &[
            ("The graph of strong success is very", Refuted, |f| {
                set(f, "strong, by p_fail", 0.9);
                set(f, "strong, by loss", 0.9);
            }),
            ("The graphs of rounds and messages", Refuted, |f| {
                for what in ["rounds", "unicasts", "multicasts"] {
                    set(f, &format!("{what}, by p_fail"), 60.0);
                    set(f, &format!("{what}, by loss"), 60.0);
                }
            }),
            ("Strong success is 1 − p_fail", Undecided, |f| set(f, "strong, by p_fail", 0.9)),
            ("Weak success is close to 1", Confirmed, |f| set(f, "weak, by p_fail", 0.9)),
        ],
    ),
    (
        "probabilistic-rules",
        &[
            ("With `delay` strong success is higher", Confirmed, |f| set(f, "strong, hash", 1.0)),
            ("Without loss both rules", Undecided, |f| set(f, "strong, hash", 0.5)),
            ("The price of `delay`", Undecided, |f| set(f, "multicasts, hash", 500.0)),
        ],
    ),
    (
        "probabilistic-size",
        &[
            ("If N_i is the size of one's view", Refuted, |f| set(f, "relays, view", 7.2)),
            ("It is as many as computed", Undecided, |f| set(f, "relays, view", 10.0)),
            ("If the size is gossiped", Undecided, |f| set(f, "relays, gossip", 10.0)),
            ("If they are told the size", Undecided, |f| set(f, "relays, true", 9.0)),
            ("Taking one's view for the group", Confirmed, |f| set(f, "multicasts, view", 5.0)),
        ],
    ),
    (
        "probabilistic-round",
        &[
            ("K members relay", Undecided, |f| set(f, "relays, simulated", 7.0)),
            ("There are as many components", Undecided, |f| set(f, "components, simulated", 1.0)),
            ("There is one as often", Undecided, |f| set(f, "one component, simulated", 1.0)),
            ("What the text has for one", Confirmed, |f| set(f, "one component, printed", 0.9)),
        ],
    ),
];

const STRONG: &str = "strong, delay";

fn forge(finding: &mut Finding, name: &str, mut y: impl FnMut(f64) -> f64) {
    let mut curves = finding.panes.iter_mut().flat_map(|pane| &mut pane.curves);
    let curve = curves.find(|curve| curve.name == name);
    let curve = curve.unwrap_or_else(|| panic!("no curve is called {name}"));
    for dot in &mut curve.dots {
        let by = y(dot.y) - dot.y;
        (dot.y, dot.ci95) = (dot.y + by, dot.ci95.map(|end| end + by));
    }
}

/// The same value everywhere.
fn set(finding: &mut Finding, name: &str, y: f64) {
    forge(finding, name, |_| y);
}

/// Each point a fifth below the one before.
fn shrink(finding: &mut Finding, name: &str) {
    let mut factor = 1.0;
    forge(finding, name, |y| {
        factor *= 0.8;
        factor * y
    });
}

/// Each point half as much again above the one before.
fn grow(finding: &mut Finding, name: &str) {
    let mut factor = 1.0;
    forge(finding, name, |y| {
        factor *= 1.5;
        factor * y
    });
}

#[test]
fn every_verdict_that_is_known_comes_out() {
    assert_known(&FOUND, KNOWN);
}

#[test]
fn what_is_undecided_would_be_decided_by_more_runs() {
    assert_runs_would_decide(&FOUND, KNOWN);
}

#[test]
fn forgeries_turn_every_verdict_round() {
    assert_forgeries_count(&FOUND, KNOWN);
}

/// What the paper varies, and how far.
#[test]
fn the_papers_parameters_are_simulated_and_shared() {
    let across = |id: &str, name: &str| {
        let finding = finding(id);
        let dots = &finding.curve(name).dots;
        (dots[0].x, dots[dots.len() - 1].x, dots[0].command.clone().expect("it is simulated"))
    };
    let (least, most, command) = across("probabilistic-5a", STRONG);
    assert_eq!((least, most), (0.0, 0.5));
    assert!(command.starts_with("bellwether sim probabilistic --nodes 2000 --fail 0.001 --runs"));
    let (least, most, command) = across("probabilistic-5d", "strong");
    assert_eq!((least, most), (1000.0, 6000.0));
    assert!(command.contains(" --loss 0.001 --fail 0.001 "), "{command}");
    let (least, most, command) = across("probabilistic-5g", "strong");
    assert_eq!((least, most), (0.2, 0.5));
    assert!(command.contains(" --nodes 5000 --view 0.2 --loss 0.001 "), "{command}");
    let at = |id: &str, name: &str, x: f64| finding(id).curve(name).at(x).command.clone();
    assert_eq!(
        at("probabilistic-5d", "strong", 5000.0),
        at("probabilistic-5h", "rounds", 0.5),
        "the same elections"
    );
}
