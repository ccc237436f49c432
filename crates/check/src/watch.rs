//! What all judging has in common, whether the rows come from a simulated world or from what live
//! members recorded: rows are filled in, time passes, and every invariant looks.

use crate::invariants::{Breach, Finding, Invariant};
use crate::links::Part;
use crate::nodes::Nodes;
use crate::tally::Tally;
use crate::view::{Arrival, Course, Row, View};
use bellwether_core::{SimTime, Stage};

/// Sees every step of a run and asks the invariants.
pub(crate) struct Watch {
    pub(crate) invariants: Vec<Box<dyn Invariant>>,
    pub(crate) course: Option<Course>,
    pub(crate) rows: Vec<Row>,
    pub(crate) alive: Nodes,
    pub(crate) leaders: Nodes,
    pub(crate) tally: Tally,
    /// The message of the last step, if it was one and the true delay is known.
    pub(crate) arrival: Option<Arrival>,
    /// What was broken. An invariant that was is not asked again.
    pub(crate) breaches: Vec<Breach>,
    /// Those that stand still: they are in no part.
    still: Nodes,
    parts: Vec<Part>,
    /// Who was there when the parts were made.
    parted: Nodes,
    before: SimTime,
}

impl Watch {
    pub(crate) fn new(invariants: Vec<Box<dyn Invariant>>) -> Self {
        Self {
            invariants,
            course: None,
            rows: Vec::new(),
            alive: Nodes::NONE,
            leaders: Nodes::NONE,
            tally: Tally::default(),
            arrival: None,
            breaches: Vec::new(),
            still: Nodes::NONE,
            parts: Vec::new(),
            parted: Nodes::NONE,
            before: SimTime::ZERO,
        }
    }

    pub(crate) fn begin(&mut self, course: Course, nodes: u32) {
        self.course = Some(course);
        self.rows.clear();
        self.rows.resize(nodes as usize, Row::ABSENT);
        (self.alive, self.leaders, self.parted) = (Nodes::NONE, Nodes::NONE, Nodes::NONE);
        (self.still, self.arrival) = (Nodes::NONE, None);
        self.parts.clear();
        self.before = SimTime::ZERO;
        self.tally = Tally::new(self.invariants.len());
        self.breaches.clear();
        self.invariants.iter_mut().for_each(|invariant| invariant.begin());
    }

    /// Something happened in the middle of a run: what is known of the calm is known anew, and
    /// whatever was to come within κ has as long again.
    pub(crate) fn disturb(&mut self, course: Course, still: Nodes) {
        self.course = Some(course);
        (self.still, self.parted) = (still, Nodes::NONE);
        self.parts.clear();
        for invariant in self.invariants.iter_mut().filter(|invariant| invariant.needs_calm()) {
            invariant.begin();
        }
    }

    /// Time is up: one last look.
    pub(crate) fn end(&mut self, at: SimTime) {
        if self.breaches.is_empty() {
            self.pass(at);
            self.look(at);
        }
        self.tally.simulated += u128::from(at.as_nanos());
    }

    /// Time passes, with or without a leader.
    pub(crate) fn pass(&mut self, at: SimTime) {
        let Some(course) = &self.course else { return };
        if self.leaders.is_empty() && at > course.calm {
            let since = self.before.max(course.calm);
            self.tally.leaderless += u128::from(at.since(since).as_nanos());
        }
        self.before = at;
    }

    /// The rows have changed.
    pub(crate) fn count(&mut self) {
        (self.alive, self.leaders) = (Nodes::NONE, Nodes::NONE);
        for (node, row) in (0u32..).zip(&self.rows).filter(|(_, row)| row.alive) {
            self.alive.set(node, true);
            self.leaders.set(node, row.leads);
        }
    }

    /// Asks every invariant.
    pub(crate) fn look(&mut self, at: SimTime) {
        let Some(course) = &self.course else { return };
        let there = self.alive.without(self.still);
        if at >= course.calm && self.parted != there {
            self.parts = course.links.parts(there);
            self.parted = there;
        }
        let view = View {
            at,
            rows: &self.rows,
            alive: self.alive,
            leaders: self.leaders,
            course,
            parts: &self.parts,
            arrival: self.arrival,
        };
        for (invariant, counts) in self.invariants.iter_mut().zip(&mut self.tally.checks) {
            if counts.breaches > 0 {
                continue;
            }
            match invariant.look(&view) {
                Finding::Nothing => {}
                Finding::Kept => counts.checks += 1,
                Finding::Broken(text) => {
                    counts.checks += 1;
                    counts.breaches += 1;
                    self.breaches.push(Breach { invariant: invariant.name(), at, text });
                    return;
                }
            }
        }
    }
}

/// Whom a process names, and whether it leads: it names itself, and not only for the time being.
#[inline]
pub(crate) fn named(leaders: impl Iterator<Item = u32>, stage: Stage, node: u32) -> (Nodes, bool) {
    let names: Nodes = leaders.collect();
    (names, names.contains(node) && stage == Stage::Decided)
}
