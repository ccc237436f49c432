//! The figures of local leaders: what they find, and that they find it.

use crate::found::looked_at;
use crate::known::{Table, assert_errata_know, assert_forgeries_count, assert_known, level, raise};
use bellwether_analysis::figures::Verdict::{Confirmed, Refuted};
use bellwether_analysis::figures::{Budget, Finding, figure, local_leader};
use std::sync::LazyLock;

/// Looked at twice: what a thousand runs leave undecided gets more of them once.
static FOUND: LazyLock<Vec<Finding>> = LazyLock::new(|| {
    let names = local_leader::FIGURES.iter().map(|(name, _)| name);
    let figures = names.map(|name| figure(name).expect("it is listed")).collect();
    looked_at(figures, Budget { runs: 1000, looks: 2, ..Budget::default() })
});

/// Claims whose verdict no number changes have a forgery that does nothing, and are left out.
const KNOWN: Table = &[
    (
        "local-leader-24",
        &[
            ("The least process", Confirmed, |f| level(f, 0, "the least of each set leads", 0.5)),
            (
                "The algorithm computes exactly the leaders, the neighbours of leaders",
                Refuted,
                |f| {
                    level(f, 0, "by the text, the neighbours of leaders marked", 1.0);
                },
            ),
            ("The algorithm computes exactly the leaders, the neighbours of all", Refuted, |f| {
                level(f, 0, "by the text, the neighbours of all marked", 1.0);
            }),
            ("Our rule tells", Confirmed, |f| level(f, 0, "by our rule", 0.9)),
        ],
    ),
    (
        "local-leader-26",
        &[
            ("The average election time increases", Confirmed, |f| {
                raise(f, 0, "mean", |nodes| nodes);
            }),
            ("The 99 % election time increases", Confirmed, |f| raise(f, 0, "99 %", |nodes| nodes)),
            ("That is mainly due to the replies", Confirmed, |f| level(f, 0, "mean", 3.0)),
        ],
    ),
    (
        "local-leader-27",
        &[
            ("It takes up to expires", Confirmed, |f| level(f, 0, "forgotten within expires", 0.5)),
            ("The first attempt typically fails", Confirmed, |f| {
                level(f, 0, "elected by its second request", 0.5);
            }),
            ("From the first attempt on", Confirmed, |f| {
                level(f, 0, "until it leads, mean", 900.0);
            }),
            ("There is a leader within κ = ", Refuted, |f| {
                level(f, 0, "elected within the printed bound, alarms late by σ", 1.0);
            }),
            ("There is one if all processes react at once", Confirmed, |f| {
                level(f, 0, "elected within the printed bound, alarms in time", 0.5);
            }),
            ("There is a leader within κ + σ", Confirmed, |f| {
                level(f, 0, "elected within the corrected bound, alarms late by σ", 0.5);
            }),
        ],
    ),
    (
        "local-leader-29",
        &[
            ("For eight processes", Confirmed, |f| level(f, 0, "a tree of width 3", 1.0)),
            ("With more processes", Confirmed, |f| level(f, 0, "a tree of width 3", 500.0)),
            ("Directly, N − 1", Confirmed, |f| level(f, 1, "answers, direct replies", 7.0)),
            ("With a tree, as many", Confirmed, |f| {
                raise(f, 1, "answers, a tree of width 3", |nodes| nodes / 1024.0);
            }),
            ("If processors take no time", Confirmed, |f| {
                level(f, 2, "renewal time, a tree of width 3", 8.0);
            }),
        ],
    ),
    (
        "local-leader-losses",
        &[
            ("One renewal in a lease loses", Confirmed, |f| {
                level(f, 0, "one request in a lease, simulated", 1.0);
            }),
            ("It follows from the chance", Confirmed, |f| {
                level(f, 0, "one request in a lease, simulated", 1.0);
            }),
        ],
    ),
];

/// The figures of the table, with the claims that it has.
fn of_the_table() -> Vec<Finding> {
    let of = |(id, known): &(&str, &[crate::known::Known])| {
        let mut finding = crate::found::named(&FOUND, id);
        finding.claims.truncate(known.len());
        finding
    };
    KNOWN.iter().map(of).collect()
}

#[test]
fn the_figures_of_local_leaders_are_judged_as_known() {
    assert_known(&of_the_table(), KNOWN);
}

#[test]
fn what_errata_say_of_the_figures_of_local_leaders_is_their_verdict() {
    assert_eq!(assert_errata_know(&FOUND), 4);
}

#[test]
fn other_numbers_give_other_verdicts() {
    assert_forgeries_count(&of_the_table(), KNOWN);
}

/// What no curve decides, and what two curves of one figure decide together.
#[test]
fn the_other_claims_are_judged_as_known() {
    let verdicts = |id: &str| -> Vec<_> {
        let finding = crate::found::named(&FOUND, id);
        finding.claims.iter().map(|claim| claim.verdict).collect()
    };
    assert_eq!(verdicts("local-leader-25"), [Confirmed]);
    let presence = [Refuted, Refuted, Confirmed, Refuted, Confirmed];
    assert_eq!(verdicts("local-leader-presence"), presence);
    assert_eq!(verdicts("local-leader-losses"), [Confirmed; 5]);
    let all: Vec<_> = FOUND.iter().map(|finding| finding.id).collect();
    assert_eq!(all, local_leader::FIGURES.iter().map(|(name, _)| *name).collect::<Vec<_>>());
}
