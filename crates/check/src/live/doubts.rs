//! Finds what was not recorded: members without a trace, incarnations without a beginning, and
//! incomplete ones. Records of other members show that something is missing.
//!
//! **Source.** A member records a message before it sends it, and a receiver records the sender,
//! its incarnation and the number of the message.
//!
//! **Promise.** For a time in which a member ran and did not record, nothing is concluded: neither
//! that an invariant was broken, nor that it held.

use super::lives::Life;
use crate::invariants::Invariant;
use crate::live::Outcome;
use bellwether_core::{Event, LAST_NUMBER, NodeId, SimTime};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A time in which a member ran and its actions are unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) node: NodeId,
    pub(super) lacks: Lacks,
    /// The clock of the receiver, which the times refer to.
    pub(super) boot: String,
    /// The start: earlier records are complete.
    pub(super) from: SimTime,
    /// The end: a recorded incarnation begins.
    pub(super) to: SimTime,
}

/// What is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lacks {
    /// The whole trace.
    Trace,
    /// One incarnation.
    Life(u64),
    /// A part of an incarnation, perhaps its end.
    Part,
}

impl Gap {
    /// Why something cannot be decided.
    pub(super) fn why(&self) -> String {
        let node = self.node;
        match self.lacks {
            Lacks::Trace => format!("needs the trace of process {node}, which was heard"),
            Lacks::Life(life) => {
                format!("life {life} of process {node} was not recorded, though others heard it")
            }
            Lacks::Part => format!(
                "the trace of process {node} lacks something: others heard more of it than it tells"
            ),
        }
    }

    /// Whether this moment is in the gap.
    pub(super) fn holds(&self, node: NodeId, at: SimTime) -> bool {
        self.node == node && self.from <= at && at < self.to
    }
}

/// A received message: its sender, incarnation and number, and when and on which clock it arrived.
struct Receipt<'a> {
    from: NodeId,
    life: Option<u64>,
    number: u64,
    at: SimTime,
    boot: &'a str,
}

/// The recorded incarnations and messages of all members.
struct Heard<'a> {
    lives: BTreeMap<NodeId, Vec<&'a Life<'a>>>,
    /// When each incarnation sent its messages, by number.
    sent: BTreeMap<(NodeId, u64), BTreeMap<u64, SimTime>>,
}

/// Finds all gaps.
pub(super) fn gaps(lives: &[Life<'_>]) -> Vec<Gap> {
    let heard = Heard::of(lives);
    let mut found: BTreeMap<(NodeId, Lacks, &str), Gap> = BTreeMap::new();
    for life in lives {
        for line in &life.lines {
            let Event::Recv { from, number, life: of, .. } = line.record.event else { continue };
            let (at, boot) = (line.record.t, life.head.boot.as_str());
            let receipt = Receipt { from, life: of, number, at, boot };
            let Some(gap) = heard.missing(&receipt) else { continue };
            let known = found.entry((gap.node, gap.lacks, boot)).or_insert_with(|| gap.clone());
            (known.from, known.to) = (known.from.min(gap.from), known.to.max(gap.to));
        }
    }
    let mut gaps: Vec<Gap> = found.into_values().collect();
    gaps.sort_by_key(|gap| (gap.lacks, gap.node));
    gaps
}

impl<'a> Heard<'a> {
    fn of(all: &'a [Life<'a>]) -> Self {
        let mut lives: BTreeMap<NodeId, Vec<&Life<'_>>> = BTreeMap::new();
        let mut sent: BTreeMap<(NodeId, u64), BTreeMap<u64, SimTime>> = BTreeMap::new();
        for life in all {
            lives.entry(life.node).or_default().push(life);
            let sendings = sent.entry((life.node, life.head.incarnation)).or_default();
            for line in &life.lines {
                if let Event::Send { number, .. } = line.record.event {
                    sendings.insert(number, line.record.t);
                }
            }
        }
        Self { lives, sent }
    }

    /// The gap that a received message shows, if any.
    fn missing(&self, receipt: &Receipt<'_>) -> Option<Gap> {
        let (node, always) = (receipt.from, (SimTime::ZERO, SimTime::NEVER));
        let sent = receipt.life.and_then(|life| self.sent.get(&(node, life)));
        if sent.is_some_and(|sent| sent.contains_key(&receipt.number)) {
            return None;
        }
        // Somebody else sends the last will of a life, when that can record nothing more. A life
        // that was killed before its first record has one too; had it sent anything itself, and so
        // taken part, then that would show the gap.
        if receipt.number == LAST_NUMBER && self.lives.contains_key(&node) {
            return None;
        }
        let boot = receipt.boot.to_owned();
        let gap = |lacks, (from, to)| Some(Gap { node, lacks, boot, from, to });
        let Some(lives) = self.lives.get(&node) else { return gap(Lacks::Trace, always) };
        let Some(life) = receipt.life else { return self.missing_of_some_life(receipt, lives) };
        let here = || lives.iter().filter(|other| other.head.boot == receipt.boot);
        let later = here().filter(|other| other.head.incarnation > life).map(|it| it.begins());
        let to = later.min().unwrap_or(SimTime::NEVER);
        let Some(sent) = sent else {
            let before = here().filter(|other| other.head.incarnation < life).map(|it| it.ends());
            return gap(Lacks::Life(life), (before.max().unwrap_or(SimTime::ZERO), to));
        };
        let begins = here().find(|other| other.head.incarnation == life).map(|it| it.begins());
        let before = sent.range(..receipt.number).next_back().map(|(_, at)| *at);
        gap(Lacks::Part, (before.or(begins).unwrap_or(SimTime::ZERO), to))
    }

    /// The same if the receiver did not record the incarnation. Numbers begin anew with each
    /// incarnation: a message is of the current or the last one.
    fn missing_of_some_life(&self, receipt: &Receipt<'_>, lives: &[&Life<'_>]) -> Option<Gap> {
        let here = lives.iter().filter(|life| life.head.boot == receipt.boot);
        let mut before: Vec<_> = here.filter(|life| life.begins() <= receipt.at).collect();
        before.sort_by_key(|life| life.begins());
        let knows = |life: &&Life<'_>| {
            let sent = self.sent.get(&(life.node, life.head.incarnation));
            sent.is_some_and(|sent| sent.contains_key(&receipt.number))
        };
        let last = before.last()?; // none on this clock: it cannot be checked
        if before.iter().rev().take(2).any(|life| knows(life)) {
            return None;
        }
        let (node, boot) = (receipt.from, receipt.boot.to_owned());
        let (from, to) = (last.begins(), SimTime::NEVER);
        Some(Gap { node, lacks: Lacks::Part, boot, from, to })
    }
}

/// Why it cannot be decided whether an invariant held.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doubt {
    /// The invariant applies to times without faults, and the fault schedule is not given.
    NoFaultSchedule,
    /// The traces do not tell, for this reason.
    Because(String),
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFaultSchedule => f.write_str("needs the fault schedule"),
            Self::Because(why) => f.write_str(why),
        }
    }
}

/// The reasons that prevent a decision.
pub(super) struct Doubts {
    pub(super) boots: usize,
    pub(super) faults: bool,
    pub(super) gaps: Vec<Gap>,
}

impl Doubts {
    /// The outcome of an invariant that was not seen broken.
    pub(super) fn about(&self, invariant: &dyn Invariant, looks: u64) -> Outcome {
        let undecidable = |why: String| Outcome::Undecidable(Doubt::Because(why));
        if invariant.compares() && self.boots > 1 {
            return undecidable(clocks(self.boots));
        }
        if let Some(gap) = self.gaps.first().filter(|_| invariant.compares()) {
            return undecidable(gap.why());
        }
        match (invariant.needs_calm(), looks) {
            (true, _) if !self.faults => Outcome::Undecidable(Doubt::NoFaultSchedule),
            (true, 0) => undecidable("it was never calm for long enough".to_owned()),
            (false, 0) => undecidable("there was nothing to look at".to_owned()),
            _ => Outcome::Holds,
        }
    }

    /// Notes for the reader, beyond the first gap.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        self.gaps.iter().filter(|gap| matches!(gap.lacks, Lacks::Life(_))).map(Gap::why)
    }

    /// Whether a process without a trace was heard.
    pub(super) fn was_heard(&self, id: NodeId) -> bool {
        self.gaps.iter().any(|gap| gap.node == id && gap.lacks == Lacks::Trace)
    }
}

/// Why records of several clocks cannot be compared.
pub(super) fn clocks(boots: usize) -> String {
    format!("needs one boot id: these {boots} clocks do not agree")
}

/// The clocks of these incarnations.
pub(super) fn boots<'a>(lives: &'a [Life<'_>]) -> BTreeSet<&'a str> {
    lives.iter().map(|life| life.head.boot.as_str()).collect()
}
