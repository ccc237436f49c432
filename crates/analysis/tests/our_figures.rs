//! The figures that the announce-listen chapter lacks: what they find, and that they find it.
//!
//! Verdicts must come out of numbers. So known ones are asked for with a moderate number of runs
//! and the default seed, and forged numbers must turn them round.

mod found;
mod known;

use bellwether_analysis::figures::Verdict::{Confirmed, NotReproducible, Refuted};
use bellwether_analysis::figures::{Budget, Finding, figure};
use known::{Known, assert_known, change, copy};
use std::sync::LazyLock;

/// Those that have a claim below; the continuations to a million are tested with their figures.
fn found(runs: u64) -> Vec<Finding> {
    let ours = KNOWN.iter().map(|(id, _)| figure(id).expect("one of our figures")).collect();
    found::found(ours, Budget { runs, ..Budget::default() })
}

/// With enough runs to be sure of their verdicts.
static OURS: LazyLock<Vec<Finding>> = LazyLock::new(|| found(400));

fn finding(id: &str) -> Finding {
    OURS.iter().find(|finding| finding.id == id).expect("one of our figures").clone()
}

const KNOWN: &[Known] = &[
    (
        "reestablishment-delay",
        &[
            ("After a departure correlated loss costs nothing", Confirmed),
            ("After a departure uncorrelated loss costs nothing", Refuted),
            ("A joiner that is to lead needs as long as", Confirmed),
            ("The delay of a joiner that is not to lead is the same", Confirmed),
            ("With uncorrelated loss a joiner that is to lead needs", Refuted),
            ("With uncorrelated loss a joiner that is not to lead waits until all", Refuted),
            ("With correlated loss a false departure lasts for", Refuted),
        ],
    ),
    (
        "inconsistent-fraction",
        &[
            ("Without loss T_L ≥ T_A avoids false departures", Confirmed),
            ("With loss T_L > T_A·E[# lost in a row] avoids them", Refuted),
            ("With correlated loss the inconsistent fraction is", Refuted),
        ],
    ),
    (
        "timers",
        &[
            ("Exponential timers lead to fewer messages under certain conditions", Confirmed),
            ("Exponential timers lead to fewer messages, whatever N", Refuted),
            ("T_A ≥ T_S + Δ", Confirmed),
        ],
    ),
    (
        "mappings",
        &[
            ("Making the wake-up time a function of what governs leadership", Confirmed),
            ("It also needs fewer messages", Confirmed),
            ("Choosing the earliest wake-up is an improvement", Confirmed),
            ("A rank that decides on the wake-up is as good", Confirmed),
            ("Probabilistically smaller wake-up times", Confirmed),
        ],
    ),
    (
        "measured-criteria",
        &[
            ("The sum of observed losses chooses a better leader", Confirmed),
            ("It does so too where how well one hears has nothing to do", Refuted),
            ("The sum of observed delays chooses a leader that is nearer", Confirmed),
            ("Linking the wake-up time with the measured criterion", Confirmed),
        ],
    ),
    (
        "churn",
        &[
            ("The inconsistent fraction is the re-establishment delay times the rate", Refuted),
            ("The inconsistent fraction grows with the rates", Confirmed),
            ("Explicit Byes decrease the time without agreement", Confirmed),
        ],
    ),
    (
        "query",
        &[
            ("A Query is answered sooner than the next announcement", Confirmed),
            ("Suppress-then-Query helps a joiner too", Confirmed),
            ("When all begin at once Suppress-then-Query generates fewer", Confirmed),
            ("It takes longer than Query", Confirmed),
            ("At a start with loss Query is an improvement on LE-A", Confirmed),
            ("At a start neither spares messages", Confirmed),
            ("Byes decrease the delay after a departure", Confirmed),
            ("The mean number of announcements that reaches all", Refuted),
        ],
    ),
];

#[test]
fn every_verdict_that_is_known_comes_out() {
    assert_known(&OURS, KNOWN);
}

/// With hardly any runs nothing is judged, but everything has an answer.
#[test]
fn a_tiny_budget_is_enough_to_build_every_figure() {
    for finding in found(2) {
        assert!(!finding.claims.is_empty(), "{}", finding.id);
        assert!(!finding.choices.is_empty(), "{}", finding.id);
        for claim in &finding.claims {
            assert_eq!(claim.verdict, NotReproducible, "{}: {}", finding.id, claim.says);
            let why = "too few runs to tell (2; at least 300 are needed): ";
            let numbers = claim.because.strip_prefix(why);
            assert!(numbers.is_some_and(|numbers| !numbers.is_empty()), "{}", claim.because);
            assert!(!claim.because.contains("NaN"), "{}: {}", finding.id, claim.because);
        }
        for pane in &finding.panes {
            let mut names: Vec<&str> = pane.curves.iter().map(|c| c.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), pane.curves.len(), "{}: {names:?}", finding.id);
            for curve in &pane.curves {
                assert!(!curve.dots.is_empty(), "{}: {} is empty", finding.id, curve.name);
            }
        }
    }
}

/// What the numbers of a curve are replaced by, in the pane of this number.
type Forgery = (&'static str, usize, usize, fn(&mut Finding, usize));

fn raise(finding: &mut Finding, pane: usize, name: &str, factor: f64) {
    known::raise(finding, pane, name, |_| factor);
}

/// Figure, claim, pane, and a forgery that must turn the verdict round.
const FORGERIES: &[Forgery] = &[
    ("reestablishment-delay", 0, 0, |f, p| copy(f, p, "uncorrelated", "correlated")),
    ("reestablishment-delay", 1, 0, |f, p| copy(f, p, "correlated", "uncorrelated")),
    ("reestablishment-delay", 2, 1, |f, p| raise(f, p, "uncorrelated", 1.5)),
    ("reestablishment-delay", 3, 2, |f, p| raise(f, p, "correlated, LE-A", 1.5)),
    ("reestablishment-delay", 4, 1, |f, p| copy(f, p, "uncorrelated, printed", "uncorrelated")),
    ("reestablishment-delay", 5, 2, |f, p| copy(f, p, "uncorrelated, printed", "uncorrelated")),
    ("reestablishment-delay", 6, 3, |f, p| copy(f, p, "correlated, printed", "correlated")),
    ("inconsistent-fraction", 0, 1, |f, p| copy(f, p, "correlated", "no loss")),
    ("inconsistent-fraction", 1, 1, |f, p| {
        raise(f, p, "correlated", 0.0);
        raise(f, p, "uncorrelated", 0.0);
    }),
    ("inconsistent-fraction", 2, 1, |f, p| copy(f, p, "correlated, printed", "correlated")),
    ("timers", 0, 0, |f, p| copy(f, p, "falling, rate 10", "rising, rate 10")),
    ("timers", 1, 0, |f, p| raise(f, p, "uniform", 100.0)),
    ("timers", 2, 2, |f, p| {
        change(f, p, "N = 50", |curve| {
            curve.dots.iter_mut().for_each(|dot| dot.y = 9.0);
        });
    }),
    ("mappings", 0, 2, |f, p| copy(f, p, "LE-S: at random", "LE-S: by a random rank")),
    ("mappings", 1, 3, |f, p| raise(f, p, "LE-S: by id", 2.0)),
    ("mappings", 2, 0, |f, p| copy(f, p, "LE-S: at random", "LE-M: the earliest leads")),
    ("mappings", 3, 0, |f, p| raise(f, p, "LE-M: the earliest leads", 0.5)),
    ("mappings", 4, 1, |f, p| raise(f, p, "LE-S: by id, jitter .5 s", 3.0)),
    ("measured-criteria", 0, 0, |f, p| copy(f, p, "greatest id", "by what was heard")),
    ("measured-criteria", 1, 0, |f, p| {
        copy(f, p, "by what was heard", "by what was heard, one-way losses");
    }),
    ("measured-criteria", 2, 1, |f, p| raise(f, p, "by what was heard", 2.0)),
    ("measured-criteria", 3, 3, |f, p| raise(f, p, "by what was heard, timers too", 2.0)),
    ("churn", 0, 0, |f, p| copy(f, p, "LE-S, printed", "LE-S")),
    ("churn", 1, 0, |f, p| {
        change(f, p, "LE-A", |curve| {
            curve.dots.iter_mut().for_each(|dot| dot.y = 0.01);
        });
    }),
    ("churn", 2, 0, |f, p| copy(f, p, "LE-S", "LE-S with Bye")),
    ("query", 0, 0, |f, p| copy(f, p, "LE-A", "Query")),
    ("query", 1, 0, |f, p| raise(f, p, "Suppress-then-Query", 3.0)),
    ("query", 2, 3, |f, p| copy(f, p, "Query", "Suppress-then-Query")),
    ("query", 3, 2, |f, p| copy(f, p, "Query", "Suppress-then-Query")),
    ("query", 4, 2, |f, p| copy(f, p, "LE-A", "Query")),
    ("query", 5, 3, |f, p| raise(f, p, "Query", 0.5)),
    ("query", 6, 1, |f, p| copy(f, p, "no Bye", "1 + X(N − 1) Byes")),
    ("query", 7, 1, |f, p| copy(f, p, "three times as many", "1 + X(N − 1) Byes")),
];

#[test]
fn forged_numbers_turn_every_verdict_round() {
    let claims: usize = KNOWN.iter().map(|(_, claims)| claims.len()).sum();
    assert_eq!(FORGERIES.len(), claims, "each claim has its forgery");
    let mut unmoved = Vec::new();
    for (id, claim, pane, forge) in FORGERIES {
        let mut forged = finding(id);
        forge(&mut forged, *pane);
        let verdict = (figure(id).expect("one of our figures").claims)(&forged)[*claim].verdict;
        if verdict == forged.claims[*claim].verdict {
            unmoved.push((id, forged.claims[*claim].says));
        }
    }
    assert!(unmoved.is_empty(), "{unmoved:#?}");
}

#[test]
fn what_was_simulated_agrees_with_the_corrected_forms() {
    for (id, pane) in [
        ("reestablishment-delay", 0),
        ("reestablishment-delay", 1),
        ("reestablishment-delay", 2),
        ("reestablishment-delay", 3),
        ("inconsistent-fraction", 0),
        ("inconsistent-fraction", 1),
    ] {
        let finding = finding(id);
        for name in ["correlated", "uncorrelated"] {
            let pane = &finding.panes[pane];
            let (measured, line) = (pane.curve(name), pane.curve(&format!("{name}, corrected")));
            let worst = measured.worst(line);
            assert!(measured.agrees(line), "{id}, {}: {name}: {worst:?}", pane.title);
        }
    }
    let finding = finding("timers");
    for pane in &finding.panes[..2] {
        for shape in ["uniform", "rising, rate 3", "rising, rate 10", "falling, rate 10"] {
            let (measured, line) = (pane.curve(shape), pane.curve(&format!("{shape}, corrected")));
            let worst = measured.worst(line);
            assert!(measured.agrees(line), "{}: {shape}: {worst:?}", pane.title);
        }
    }
}
