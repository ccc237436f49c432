//! One run, watched by the invariants of a promise.

use crate::invariants::{Breach, DelayBounds, Invariant, of_promise};
use crate::nodes::Nodes;
use crate::regime::Regime;
use crate::schedule::Schedule;
use crate::swarm;
use crate::tally::Tally;
use crate::view::{Arrival, Course, Lock, Row};
use crate::watch::{Watch, named};
use bellwether_core::{Duration, Fact, Instant, Leadership, Node, NodeId, Protocol, SimTime};
use bellwether_protocols::answers::Answers;
use bellwether_protocols::choice::Choice;
use bellwether_protocols::pace::Pace;
use bellwether_protocols::promise::Promise;
use bellwether_sim::{Cause, Fault, Observer, Ranks, Scene, Timed, World};
use std::fmt;

/// What is judged, and how: all but the protocol itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// How many processes there are, from 1 to [`Nodes::MAX`].
    pub nodes: u32,
    /// The protocol's time scales.
    pub pace: Pace,
    /// By what it is judged.
    pub promise: Promise,
    /// Whether that is the protocol's own promise, so that all of it can be asked.
    pub own: bool,
    /// Which trouble there may be.
    pub regime: Regime,
    /// Where the ranks of processes come from.
    pub ranks: Ranks,
    /// Where all luck comes from.
    pub seed: u64,
}

impl Trial {
    /// A trial of a protocol by its own promise with all that belongs to it, or by the headline of
    /// the promise that is named; everything may happen.
    pub fn new(choice: &Choice, nodes: u32, promise: Option<Promise>, seed: u64) -> Self {
        Self::of(&**choice, nodes, promise, seed)
    }

    /// The same for a protocol that need not be one of the table.
    pub fn of(params: &dyn Answers, nodes: u32, promise: Option<Promise>, seed: u64) -> Self {
        Self {
            nodes,
            pace: params.pace(nodes),
            promise: promise.unwrap_or(params.promise_to(nodes)),
            own: promise.is_none(),
            regime: Regime::default(),
            ranks: Ranks::ById,
            seed,
        }
    }

    /// Checks what the types cannot say.
    ///
    /// # Errors
    /// [`BadTrial`], naming the value and the rule.
    pub fn check(&self) -> Result<(), BadTrial> {
        if !(1..=Nodes::MAX).contains(&self.nodes) {
            return Err(BadTrial::Nodes(self.nodes));
        }
        let Pace { timely, fastest, .. } = self.pace;
        if timely < fastest {
            return Err(BadTrial::NothingTimely { timely, fastest });
        }
        let longest = swarm::longest(&self.pace, &self.regime);
        if longest > Duration::LONGEST_WRITTEN {
            return Err(BadTrial::Endless { lease: self.pace.lease });
        }
        Ok(())
    }

    /// The schedule with this number.
    pub fn schedule(&self, number: u64) -> Schedule {
        let mut drawn = swarm::draw(self.seed, number, self.nodes, &self.pace, &self.regime);
        drawn.plan.ranks = self.ranks;
        drawn
    }

    /// The names of the invariants that watch, in the order of a tally's counts.
    pub fn invariants(&self) -> Vec<&'static str> {
        self.watching().iter().map(|invariant| invariant.name()).collect()
    }

    /// The invariants of the promise, and what only a simulated world can know: the true delays.
    fn watching(&self) -> Vec<Box<dyn Invariant>> {
        let mut invariants = of_promise(self.promise, self.own, self.pace.best);
        // Where clocks drift by more than is allowed no bound on a delay means anything.
        if self.own && self.pace.leases && self.regime.drift <= 1.0 {
            invariants.push(Box::new(DelayBounds));
        }
        invariants
    }
}

/// Which rule a trial breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadTrial {
    /// Too few or too many processes.
    Nodes(u32),
    /// No network is both as slow as it can be and timely.
    NothingTimely {
        /// The slowest delay that is certain to count as timely.
        timely: Duration,
        /// The fastest there is.
        fastest: Duration,
    },
    /// Nobody could wait for the end of a schedule.
    Endless {
        /// The protocol's lease, or trust, in whose length all others are counted.
        lease: Duration,
    },
}

impl fmt::Display for BadTrial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nodes(nodes) => {
                write!(
                    f,
                    "nodes = {nodes}, but the judge watches from 1 to {} processes",
                    Nodes::MAX
                )
            }
            Self::NothingTimely { timely, fastest } => write!(
                f,
                "no delay is timely: {timely} is the slowest that is certain to be, {fastest} the \
                 fastest there is; choose a larger delta or a shorter refresh"
            ),
            Self::Endless { lease } => write!(
                f,
                "a leader is trusted for {lease}, and a schedule lasts for many times that: it \
                 would take longer than {}; choose shorter timers",
                Duration::LONGEST_WRITTEN
            ),
        }
    }
}

impl std::error::Error for BadTrial {}

/// How a run went.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The first invariant that was broken, if one was. The run ended there.
    pub breach: Option<Breach>,
    /// What happened in it.
    pub tally: Tally,
}

/// Judges one run after the other, in a world that is used again.
pub struct Judge<P: Protocol> {
    trial: Trial,
    world: World<P>,
    watch: Watch,
}

impl<P: Protocol> Judge<P> {
    /// A judge of the protocol with these parameters.
    pub fn new(trial: &Trial, params: P::Params) -> Self {
        Self::in_world(trial, World::new(params))
    }

    /// A judge of what happens in this world: one with a misconfigured member, for example.
    pub fn in_world(trial: &Trial, world: World<P>) -> Self {
        let watch = Watch::new(trial.watching());
        Self { trial: trial.clone(), world, watch }
    }

    /// Runs the schedule with this number.
    pub fn run(&mut self, number: u64) -> Verdict {
        self.run_schedule(&self.trial.schedule(number))
    }

    /// Runs a schedule.
    pub fn run_schedule(&mut self, schedule: &Schedule) -> Verdict {
        let Schedule { plan, calm, links, .. } = schedule;
        let resigns = |timed: &Timed| matches!(timed.fault, Fault::Resign { .. });
        let course = Course {
            resigned: plan.faults.iter().any(resigns),
            ..Course::new(*calm, links.clone(), self.trial.pace)
        };
        self.watch.begin(course, plan.nodes);
        let outcome = self.world.run(plan, schedule.coins(), &mut self.watch);
        let end = SimTime::ZERO + plan.horizon;
        self.watch.end(if self.watch.breaches.is_empty() { end } else { outcome.ended });
        let mut tally = std::mem::take(&mut self.watch.tally);
        tally.schedules = 1;
        tally.deliveries = outcome.deliveries;
        tally.trouble = schedule.trouble;
        Verdict { breach: self.watch.breaches.pop(), tally }
    }

    /// Whether this invariant speaks of calm times.
    pub fn needs_calm(&self, name: &str) -> bool {
        let mut known = self.watch.invariants.iter();
        known.any(|invariant| invariant.name() == name && invariant.needs_calm())
    }
}

/// A [`Judge`] of whatever protocol: what is written against this is compiled once, and not once
/// for each protocol.
pub(crate) trait Judging {
    /// [`Judge::run`].
    fn run(&mut self, number: u64) -> Verdict;

    /// [`Judge::run_schedule`].
    fn run_schedule(&mut self, schedule: &Schedule) -> Verdict;

    /// [`Judge::needs_calm`].
    fn needs_calm(&self, name: &str) -> bool;
}

impl<P: Protocol> Judging for Judge<P> {
    fn run(&mut self, number: u64) -> Verdict {
        self.run(number)
    }

    fn run_schedule(&mut self, schedule: &Schedule) -> Verdict {
        self.run_schedule(schedule)
    }

    fn needs_calm(&self, name: &str) -> bool {
        self.needs_calm(name)
    }
}

/// What the rows hold is what processes say.
impl Watch {
    /// A process that just made a step, or is gone.
    fn ask<P: Protocol>(&mut self, node: u32, scene: &Scene<'_, P>) {
        let asked = |course: &Course| course.pace.leases || course.pace.best;
        let asked = self.course.as_ref().is_some_and(asked);
        let row = &mut self.rows[node as usize];
        let Some(state) = scene.node(node) else {
            *row = Row { gone: Some(scene.at()), ..Row::ABSENT };
            return;
        };
        let reading = scene.clock(node);
        let leadership = state.leadership(reading);
        (row.alive, row.reading, row.told) = (true, reading, leadership.until);
        (row.names, row.leads) = told_by(&leadership, node);
        (row.supporters, row.lock) = (Nodes::NONE, None);
        if row.leads {
            row.ends = scene.when(node, row.told);
        }
        if asked {
            state.facts(reading, &mut |fact| match fact {
                Fact::Supporter { peer } => row.supporters.set(number(peer), true),
                Fact::Locked { to, until } => row.lock = Some(Lock { to: number(to), until }),
                Fact::Claim { weight } => row.claim = weight,
                _ => {}
            });
        }
    }

    /// A process that did nothing: only its clock went on, and what it believes may have ended.
    fn ask_again<P: Protocol>(row: &mut Row, node: u32, scene: &Scene<'_, P>) {
        row.reading = scene.clock(node);
        if row.reading >= row.told
            && let Some(state) = scene.node(node)
        {
            (row.names, row.leads) = told_by(&state.leadership(row.reading), node);
        }
    }
}

#[inline]
fn told_by(leadership: &Leadership<'_>, node: u32) -> (Nodes, bool) {
    named(leadership.leaders.iter().map(|leader| number(*leader)), leadership.stage, node)
}

/// The number of a process; of one that cannot be, a number that no set holds.
fn number(id: NodeId) -> u32 {
    u32::try_from(id.0).unwrap_or(u32::MAX)
}

impl<P: Protocol> Observer<P> for Watch {
    const LOOKS: bool = true;
    const HEARS: bool = true;

    fn on_receive(&mut self, at: SimTime, node: u32, cause: Cause) {
        let took = at.since(cause.sent);
        self.arrival = Some(Arrival { node, from: cause.from, took, bound: None });
    }

    fn on_step(&mut self, node: u32, scene: &Scene<'_, P>) {
        if !self.breaches.is_empty() {
            return;
        }
        let at = scene.at();
        self.pass(at);
        if let Some(arrival) = &mut self.arrival {
            let state = scene.node(node).filter(|_| arrival.node == node);
            arrival.bound = state.and_then(Node::last_delay_bound);
        }
        let led = self.rows[node as usize].leads;
        self.ask(node, scene);
        for (other, row) in (0u32..).zip(&mut self.rows) {
            if row.alive && other != node && (row.told != Instant::NEVER || row.lock.is_some()) {
                Self::ask_again(row, other, scene);
            }
        }
        self.count();
        self.tally.elections += u64::from(!led && self.rows[node as usize].leads);
        self.look(at);
        self.arrival = None;
    }

    fn done(&self) -> bool {
        !self.breaches.is_empty()
    }
}
