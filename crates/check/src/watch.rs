//! The common part of checking simulated and live runs: it holds the rows of the processes,
//! advances time, and calls every invariant.

use crate::invariants::{BrokenInvariant, Finding, Invariant};
use crate::judge::GiveUp;
use crate::links::Part;
use crate::nodes::Nodes;
use crate::tally::Tally;
use crate::view::{Arrival, Course, Row, View};
use bellwether_core::{SimTime, Stage};

/// Checks the invariants after every step of a run.
pub(crate) struct Watch {
    pub(crate) invariants: Vec<Box<dyn Invariant>>,
    pub(crate) course: Option<Course>,
    pub(crate) rows: Vec<Row>,
    pub(crate) members: Nodes,
    pub(crate) alive: Nodes,
    pub(crate) leaders: Nodes,
    pub(crate) tally: Tally,
    /// The message of the last step, if it was one and the true delay is known.
    pub(crate) arrival: Option<Arrival>,
    /// The process that made the last step; `None` if only time passed.
    pub(crate) stepped: Option<u32>,
    /// The lives that others were told are over, by number, since the last look.
    pub(crate) farewells: Vec<(u32, u64)>,
    /// Whether the records of that step may be incomplete: a trace ends there.
    pub(crate) torn: bool,
    /// The broken invariants. They are not checked again.
    pub(crate) breaches: Vec<BrokenInvariant>,
    /// Whether a run goes on after a broken invariant, so that others can be seen to break.
    pub(crate) goes_on: bool,
    /// Ends a run that nobody waits for.
    pub(crate) give_up: Option<GiveUp>,
    /// The paused processes, which are in no connected set.
    still: Nodes,
    parts: Vec<Part>,
    /// The running processes when the connected sets were computed.
    parted: Nodes,
    before: SimTime,
}

impl Watch {
    pub(crate) fn new(invariants: Vec<Box<dyn Invariant>>) -> Self {
        Self {
            invariants,
            course: None,
            rows: Vec::new(),
            members: Nodes::NONE,
            alive: Nodes::NONE,
            leaders: Nodes::NONE,
            tally: Tally::default(),
            arrival: None,
            stepped: None,
            farewells: Vec::new(),
            torn: false,
            breaches: Vec::new(),
            goes_on: false,
            give_up: None,
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
        self.members = Nodes::first(nodes);
        (self.alive, self.leaders, self.parted) = (Nodes::NONE, Nodes::NONE, Nodes::NONE);
        (self.still, self.arrival, self.stepped) = (Nodes::NONE, None, None);
        self.parts.clear();
        self.farewells.clear();
        self.before = SimTime::ZERO;
        self.tally = Tally::new(self.invariants.len());
        self.breaches.clear();
        self.invariants.iter_mut().for_each(|invariant| invariant.begin());
    }

    /// Sets new knowledge of the calm in the middle of a run; the time κ for liveness begins again.
    pub(crate) fn disturb(&mut self, course: Course, still: Nodes) {
        self.course = Some(course);
        (self.still, self.parted) = (still, Nodes::NONE);
        self.parts.clear();
        for invariant in self.invariants.iter_mut().filter(|invariant| invariant.needs_calm()) {
            invariant.begin();
        }
    }

    /// Whether there is nothing more to be seen.
    pub(crate) fn is_over(&self) -> bool {
        !self.goes_on && !self.breaches.is_empty()
    }

    /// Ends the run with one last check.
    pub(crate) fn end(&mut self, at: SimTime) {
        if !self.is_over() {
            self.pass(at);
            self.look(at);
        }
        self.tally.simulated += u128::from(at.as_nanos());
    }

    /// Advances time.
    pub(crate) fn pass(&mut self, at: SimTime) {
        let Some(course) = &self.course else { return };
        if self.leaders.is_empty() && at > course.calm {
            let since = self.before.max(course.calm);
            self.tally.leaderless += u128::from(at.since(since).as_nanos());
        }
        self.before = at;
    }

    /// Checks after the rows have changed.
    pub(crate) fn count(&mut self) {
        (self.alive, self.leaders) = (Nodes::NONE, Nodes::NONE);
        for (node, row) in (0u32..).zip(&self.rows).filter(|(_, row)| row.alive) {
            self.alive.set(node, true);
            self.leaders.set(node, row.leads);
        }
    }

    /// Checks every invariant.
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
            members: self.members,
            alive: self.alive,
            leaders: self.leaders,
            course,
            parts: &self.parts,
            arrival: self.arrival,
            stepped: self.stepped,
            farewells: &self.farewells,
            torn: self.torn,
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
                    self.breaches.push(BrokenInvariant { invariant: invariant.name(), at, text });
                    if !self.goes_on {
                        return;
                    }
                }
            }
        }
        self.farewells.clear();
    }
}

/// The leaders that a process names, and whether it leads: it names itself, and is decided.
#[inline]
pub(crate) fn named(leaders: impl Iterator<Item = u32>, stage: Stage, node: u32) -> (Nodes, bool) {
    let names: Nodes = leaders.collect();
    (names, names.contains(node) && stage == Stage::Decided)
}
