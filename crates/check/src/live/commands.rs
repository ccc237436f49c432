//! Checks that no two commands run at once, and none without a lease.
//!
//! **Source.** The runs that [guardians recorded](super::works), and the leases that members
//! recorded.
//!
//! **Assumptions.** As in [the module above](super).
//!
//! **Promise.** *Violated*: two commands, or a command without a lease, certainly ran. *Holds*:
//! even with the longest possible runs this did not happen. In between, and where a run, an end or
//! a lease was not recorded, it is *undecidable*.

use super::doubts::{Doubt, Gap, Lacks, clocks};
use super::lives::Life;
use super::works::{Guardian, Run};
use super::{Outcome, Ruling};
use bellwether_core::{Event, Fact, Instant, NodeId, SimTime, Stage};
use std::collections::BTreeSet;

/// A run and the guardian that recorded it.
type GuardedRun<'a> = (&'a Guardian<'a>, &'a Run);

/// What is known of commands.
pub(super) struct Commands<'a> {
    pub(super) guardians: &'a [Guardian<'a>],
    pub(super) lives: &'a [Life<'a>],
    pub(super) gaps: &'a [Gap],
}

impl Commands<'_> {
    /// Whether a member has a command that should be recorded.
    pub(super) fn are_there(&self) -> bool {
        !self.guardians.is_empty() || self.lives.iter().any(|life| life.head.work.is_some())
    }

    /// Checks that no two commands run at the same time.
    pub(super) fn one_command(&self) -> Ruling {
        let runs = self.runs();
        let mut doubt = None;
        let mut outcome = None;
        for (index, later) in runs.iter().enumerate() {
            for former in &runs[..index] {
                match meeting(*former, *later) {
                    Meeting::Never => {}
                    Meeting::Perhaps(why) => doubt = doubt.or(Some(why)),
                    Meeting::Certain(at, text) => {
                        let place = later.0.place(later.1);
                        outcome = outcome.or(Some(Outcome::Violated { at, text, place }));
                    }
                }
            }
        }
        let outcome = outcome.unwrap_or_else(|| {
            self.decide(self.other_clocks().or_else(|| self.lacks_runs()).or(doubt), &runs)
        });
        Ruling { invariant: "one-command", looks: runs.len() as u64, outcome }
    }

    /// Checks that a command runs only while its member has a lease.
    pub(super) fn command_within_lease(&self) -> Ruling {
        let runs = self.runs();
        let mut doubt = None;
        let mut outcome = None;
        for (guardian, run) in &runs {
            let leases = leases(self.lives, guardian.node, &guardian.head.boot, None);
            match without_lease(&leases, guardian.node, run) {
                Meeting::Never => {}
                Meeting::Perhaps(why) => doubt = doubt.or(Some(why)),
                Meeting::Certain(at, text) => {
                    let place = guardian.place(run);
                    // There may have been a lease that was not recorded.
                    match self.gaps.iter().find(|gap| gap.holds(guardian.node, at)) {
                        Some(gap) => doubt = doubt.or(Some(gap.why())),
                        None => outcome = outcome.or(Some(Outcome::Violated { at, text, place })),
                    }
                }
            }
        }
        let outcome = outcome.unwrap_or_else(|| self.decide(self.lacks_runs().or(doubt), &runs));
        Ruling { invariant: "command-within-lease", looks: runs.len() as u64, outcome }
    }

    /// All runs, in the order of their starts.
    fn runs(&self) -> Vec<GuardedRun<'_>> {
        let told = self.guardians.iter();
        let told = told.flat_map(|one| one.runs.iter().map(move |run| (one, run)));
        let mut runs: Vec<GuardedRun<'_>> = told.collect();
        runs.sort_by_key(|(_, run)| run.starts);
        runs
    }

    fn decide(&self, doubt: Option<String>, runs: &[GuardedRun<'_>]) -> Outcome {
        match doubt {
            Some(why) => Outcome::Undecidable(Doubt::Because(why)),
            None if runs.is_empty() => {
                Outcome::Undecidable(Doubt::Because("no command ever ran".to_owned()))
            }
            None => Outcome::Holds,
        }
    }

    /// Why runs cannot be compared, if they were recorded with several clocks.
    fn other_clocks(&self) -> Option<String> {
        let boots: BTreeSet<&str> =
            self.runs().iter().map(|(guardian, _)| guardian.head.boot.as_str()).collect();
        (boots.len() > 1).then(|| clocks(boots.len()))
    }

    /// Why there may have been runs that were not recorded.
    fn lacks_runs(&self) -> Option<String> {
        let unknown = |gap: &&Gap| gap.lacks != Lacks::Part;
        if let Some(gap) = self.gaps.iter().find(unknown) {
            return Some(gap.why());
        }
        let alone = |life: &&Life<'_>| {
            let Some(since) = life.head.work else { return false };
            !self.guardians.iter().any(|guardian| {
                let same = (guardian.node, &guardian.head.boot) == (life.node, &life.head.boot);
                same && guardian.head.since == since
            })
        };
        if let Some(life) = self.lives.iter().find(alone) {
            return Some(format!(
                "process {} has a command, but what its guardian recorded is not here: it lies \
                 beside {}",
                life.node, life.file
            ));
        }
        self.guardians.iter().find_map(|guardian| self.stops_early(guardian))
    }

    /// Why a guardian's trace may lack runs: it has no last record, no open run and no successor,
    /// although its member led after it.
    fn stops_early(&self, guardian: &Guardian<'_>) -> Option<String> {
        let Guardian { node, head, last, .. } = guardian;
        let follows = |other: &Guardian<'_>| {
            (other.node, &other.head.boot) == (*node, &head.boot) && other.last > *last
        };
        let runs = guardian.runs.last().is_some_and(|run| run.ended.is_none());
        if runs || self.guardians.iter().any(follows) {
            return None;
        }
        let led = leases(self.lives, *node, &head.boot, Some(head.since));
        let led = led.into_iter().find(|(from, _)| from > last);
        led.map(|(from, _)| {
            format!(
                "{}: it stops at {last} without a last word, but process {node} led from {from} on",
                guardian.file
            )
        })
    }
}

/// Whether something happened.
#[derive(Debug, PartialEq, Eq)]
enum Meeting {
    Never,
    Perhaps(String),
    Certain(SimTime, String),
}

/// Whether two runs overlapped.
fn meeting(former: GuardedRun<'_>, later: GuardedRun<'_>) -> Meeting {
    let ((one, first), (two, second)) = (former, later);
    if one.head.boot != two.head.boot || second.starts >= first.over() {
        return Meeting::Never;
    }
    let (first_words, second_words) = (first.words(one.node), second.words(two.node));
    if let (Some(a), Some(b)) = (first.seen, second.seen)
        && a.0.max(b.0) <= a.1.min(b.1)
    {
        let (at, both) = (a.0.max(b.0), a.1.min(b.1));
        let text = format!("{first_words} and {second_words} ran at once, at least until {both}");
        return Meeting::Certain(at, text);
    }
    Meeting::Perhaps(match first.ended {
        None => format!("the end of {first_words} was not recorded, and {second_words} followed"),
        Some(ended) => format!(
            "{first_words} was not known to be over before {ended}, and {second_words} started \
             at {}",
            second.starts
        ),
    })
}

/// Whether a run lasted while its member had no lease.
fn without_lease(leases: &[(SimTime, SimTime)], node: NodeId, run: &Run) -> Meeting {
    let words = run.words(node);
    if let Some((from, to)) = run.seen
        && let Some(at) = uncovered(leases, from, to)
    {
        let text = format!("{words} was there until {to}, but its member had no lease at {at}");
        return Meeting::Certain(at, text);
    }
    let Some(ended) = run.ended else {
        return Meeting::Perhaps(format!("the end of {words} was not recorded"));
    };
    let at = uncovered(leases, run.starts, ended);
    at.map_or(Meeting::Never, |at| {
        Meeting::Perhaps(format!(
            "{words} was not known to be over before {ended}, and its member had no lease at {at}"
        ))
    })
}

/// The first moment from `from` through `to` without a lease.
fn uncovered(leases: &[(SimTime, SimTime)], from: SimTime, to: SimTime) -> Option<SimTime> {
    let mut at = from;
    for (begins, ends) in leases {
        if *begins > at {
            break;
        }
        at = at.max(*ends);
        if at > to {
            return None;
        }
    }
    Some(at)
}

/// The leases of this member, as it recorded them, sorted by their start. An incarnation without a
/// last record leads until its lease ends: no other member leads before.
fn leases(
    lives: &[Life<'_>],
    node: NodeId,
    boot: &str,
    process: Option<SimTime>,
) -> Vec<(SimTime, SimTime)> {
    let mut leases = Vec::new();
    let wanted = |life: &&Life<'_>| {
        (life.node, life.head.boot.as_str()) == (node, boot)
            && process.is_none_or(|began| life.head.work == Some(began))
    };
    for life in lives.iter().filter(wanted) {
        let mut present: Option<(SimTime, Instant)> = None;
        let mut close = |present: Option<(SimTime, Instant)>, at: SimTime| {
            if let Some((from, until)) = present {
                leases.push((from, SimTime::from_nanos(until.as_nanos()).min(at)));
            }
        };
        for line in &life.lines {
            let t = line.record.t;
            let next = match &line.record.event {
                Event::Leadership { leaders, until, stage, .. } => {
                    let leads = leaders.contains(&node) && *stage == Stage::Decided;
                    leads.then_some((t, until.unwrap_or(Instant::NEVER)))
                }
                Event::Fact(Fact::Held { until }) => present.map(|_| (t, *until)),
                Event::Leave => None,
                _ => continue,
            };
            close(std::mem::replace(&mut present, next), t);
        }
        close(present, SimTime::NEVER);
    }
    leases.sort();
    leases
}
