//! Runs one schedule and checks the invariants of a promise.

use crate::fault_mix::FaultMix;
use crate::invariants::{
    BrokenInvariant, DelayBounds, EveryoneLeads, FollowsTheProof, Invariant, MinimumLeads,
    of_promise,
};
use crate::nodes::Nodes;
use crate::schedule::Schedule;
use crate::swarm;
use crate::tally::Tally;
use crate::view::{Account, Arrival, Course, Lock, Row, VoterList};
use crate::watch::{Watch, named};
use bellwether_core::{
    Duration, Fact, Instant, Leadership, Node, NodeId, Protocol, SimTime, Term, Visitor,
};
use bellwether_protocols::answers::Answers;
use bellwether_protocols::choice::Choice;
use bellwether_protocols::promise::Promise;
use bellwether_protocols::time_scales::TimeScales;
use bellwether_sim::{Cause, Fault, Observer, Plan, Ranks, Scene, Timed, World};
use std::fmt;
use std::sync::Arc;

/// The settings of a check, except the protocol itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The number of processes, from 1 to [`Nodes::MAX`].
    pub nodes: u32,
    /// The protocol's time scales.
    pub time_scales: TimeScales,
    /// The promise to check.
    pub promise: Promise,
    /// Whether that is the protocol's own promise, so that all its invariants apply.
    pub own: bool,
    /// Whether each step is compared with the proved model, where there is one.
    pub validated: bool,
    /// The faults that may happen.
    pub mix: FaultMix,
    /// The source of the processes' ranks.
    pub ranks: Ranks,
    /// The seed of all random choices.
    pub seed: u64,
    /// The lockTime of processes that were given another one than the group. This tells validation
    /// of them; the world has their parameters.
    pub locks: Vec<(u32, Duration)>,
}

impl Trial {
    /// A trial with all faults. Without a promise it checks the protocol's own with all its
    /// invariants; otherwise the main invariants of the given one.
    pub fn new(choice: &Choice, nodes: u32, promise: Option<Promise>, seed: u64) -> Self {
        Self::of(&**choice, nodes, promise, seed)
    }

    /// The same for a protocol that need not be one of the table.
    pub fn of(params: &dyn Answers, nodes: u32, promise: Option<Promise>, seed: u64) -> Self {
        Self {
            nodes,
            time_scales: params.time_scales(nodes),
            promise: promise.unwrap_or(params.promise_to(nodes)),
            own: promise.is_none(),
            validated: true,
            mix: FaultMix::default(),
            ranks: Ranks::ById,
            seed,
            locks: Vec::new(),
        }
    }

    /// Checks the rules that the types cannot express.
    ///
    /// # Errors
    /// [`BadTrial`], naming the value and the rule.
    pub fn check(&self) -> Result<(), BadTrial> {
        if !(1..=Nodes::MAX).contains(&self.nodes) {
            return Err(BadTrial::Nodes(self.nodes));
        }
        let TimeScales { timely, fastest, .. } = self.time_scales;
        if timely < fastest {
            return Err(BadTrial::NothingTimely { timely, fastest });
        }
        let longest = swarm::longest(&self.time_scales, &self.mix, self.nodes);
        if longest > Duration::LONGEST_WRITTEN {
            return Err(BadTrial::Endless { lease: self.time_scales.lease });
        }
        Ok(())
    }

    /// The schedule with this number.
    pub fn schedule(&self, number: u64) -> Schedule {
        let mut drawn = swarm::draw(self.seed, number, self.nodes, &self.time_scales, &self.mix);
        drawn.plan.ranks = self.ranks;
        drawn
    }

    /// The names of the invariants, in the order of a tally's counts.
    pub fn invariants(&self) -> Vec<&'static str> {
        self.watching().iter().map(|invariant| invariant.name()).collect()
    }

    /// The invariants of the promise, and one about true delays, which only a simulation knows.
    fn watching(&self) -> Vec<Box<dyn Invariant>> {
        let mut invariants = of_promise(self.promise, self.own, self.time_scales.best);
        // If clocks drift by more than is allowed, bounds on delays mean nothing, nor does the
        // model.
        let trusted = self.mix.drift <= 1.0;
        if !(self.validated && trusted && self.time_scales.proved) {
            invariants.retain(|invariant| invariant.name() != FollowsTheProof::NAME);
        }
        let turns = self.time_scales.rotates.is_some();
        let other = if turns { MinimumLeads::NAME } else { EveryoneLeads::NAME };
        invariants.retain(|invariant| invariant.name() != other);
        if self.own && self.time_scales.leases && trusted {
            invariants.push(Box::new(DelayBounds));
        }
        invariants
    }
}

/// The rule that a trial breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadTrial {
    /// Too few or too many processes.
    Nodes(u32),
    /// No network is timely: its fastest delay is too slow.
    NothingTimely {
        /// The slowest delay that is certainly timely.
        timely: Duration,
        /// The fastest delay.
        fastest: Duration,
    },
    /// A schedule would take too long.
    Endless {
        /// The protocol's lease, or trust, which is the unit of all durations.
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
                "no message is certain to be fast: a fast message takes at most {timely}, but the \
                 minimum delay is {fastest}; raise delta or lower refresh"
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

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The first broken invariant, if any. The run ended there.
    pub breach: Option<BrokenInvariant>,
    /// Counts of what happened.
    pub tally: Tally,
}

/// Judges one run of a plan that somebody wrote, to its end and by the protocol's own promise.
/// Elections that somebody must call are judged by what must hold at all times, because nobody may
/// have called one since the last fault.
///
/// # Errors
/// [`BadTrial::Nodes`]. The other rules are about schedules that are drawn.
pub fn judge_plan(choice: &Choice, plan: &Plan, seed: u64) -> Result<Judged, BadTrial> {
    judge_plan_by(choice, plan, None, seed)
}

/// The same by this promise, or by the protocol's own.
///
/// # Errors
/// As [`judge_plan`].
pub fn judge_plan_by(
    choice: &Choice,
    plan: &Plan,
    promise: Option<Promise>,
    seed: u64,
) -> Result<Judged, BadTrial> {
    judge_plan_until(choice, plan, promise, seed, Arc::new(|| false))
}

/// The same; `over` is asked during the run, and ends it with what was seen so far.
///
/// # Errors
/// As [`judge_plan`].
pub fn judge_plan_until(
    choice: &Choice,
    plan: &Plan,
    promise: Option<Promise>,
    seed: u64,
    over: GiveUp,
) -> Result<Judged, BadTrial> {
    struct Once<'a>(&'a Trial, &'a Schedule, GiveUp);

    impl Visitor for Once<'_> {
        type Output = Vec<BrokenInvariant>;

        fn visit<P: Protocol>(self, params: P::Params) -> Vec<BrokenInvariant> {
            let mut judge = Judge::<P>::new(self.0, params);
            judge.watch.give_up = Some(self.2);
            judge.all_breaches(self.1)
        }
    }

    let mut trial = Trial::new(choice, plan.nodes, promise, seed);
    if let Err(bad @ BadTrial::Nodes(_)) = trial.check() {
        return Err(bad);
    }
    trial.ranks = plan.ranks;
    let allowed = trial.time_scales.drift;
    let drifts = |timed: &Timed| match timed.fault {
        Fault::Drift { parts_per_billion, .. } => parts_per_billion.unsigned_abs() > allowed,
        Fault::Jump { .. } => true,
        _ => false,
    };
    if plan.drift > allowed || plan.faults.iter().any(drifts) {
        trial.mix.drift = f64::MAX;
    }
    let mut schedule = Schedule::of_plan(plan, seed, &trial.time_scales);
    if choice.profile().on_demand || choice.rounds().is_some() {
        schedule.calm = SimTime::NEVER;
    }
    let invariants = trial.invariants();
    let breaches = choice.clone().visit(Once(&trial, &schedule, over));
    Ok(Judged { promise: trial.promise, invariants, breaches })
}

/// Whether nobody waits for a result any more.
pub type GiveUp = Arc<dyn Fn() -> bool + Send + Sync>;

/// What a judge says of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The promise.
    pub promise: Promise,
    /// The invariants that were checked.
    pub invariants: Vec<&'static str>,
    /// Those that were broken, in the order of their times; each when it was first seen broken.
    pub breaches: Vec<BrokenInvariant>,
}

/// Checks runs one after the other, in a world that is reused.
pub struct Judge<P: Protocol> {
    trial: Trial,
    world: World<P>,
    watch: Watch,
}

impl<P: Protocol> Judge<P> {
    /// A judge for the protocol with these parameters.
    pub fn new(trial: &Trial, params: P::Params) -> Self {
        Self::in_world(trial, World::new(params))
    }

    /// A judge for this world: one with a misconfigured member, for example.
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
        let resigns =
            |timed: &Timed| matches!(timed.fault, Fault::Resign { .. } | Fault::Transfer { .. });
        let course = Course {
            resigned: plan.faults.iter().any(resigns),
            founders: (!plan.founders.is_empty()).then(|| plan.founders.iter().copied().collect()),
            witnesses: plan.witnesses.iter().copied().collect(),
            locks: self.trial.locks.clone(),
            ..Course::new(*calm, links.clone(), self.trial.time_scales)
        };
        self.watch.begin(course, plan.nodes);
        let outcome = self.world.run(plan, schedule.run_seed(), &mut self.watch);
        let end = SimTime::ZERO + plan.horizon;
        self.watch.end(if self.watch.is_over() { outcome.ended } else { end });
        let mut tally = std::mem::take(&mut self.watch.tally);
        tally.schedules = 1;
        tally.deliveries = outcome.deliveries;
        tally.trouble = schedule.trouble;
        Verdict { breach: self.watch.breaches.first().cloned(), tally }
    }

    /// Runs a schedule to its end; every broken invariant, each when it was first seen broken.
    fn all_breaches(&mut self, schedule: &Schedule) -> Vec<BrokenInvariant> {
        self.watch.goes_on = true;
        self.run_schedule(schedule);
        self.watch.goes_on = false;
        std::mem::take(&mut self.watch.breaches)
    }

    /// Whether this invariant applies only after the faults end.
    pub fn needs_calm(&self, name: &str) -> bool {
        let mut known = self.watch.invariants.iter();
        known.any(|invariant| invariant.name() == name && invariant.needs_calm())
    }
}

/// A [`Judge`] of any protocol. Code that uses this is compiled once, not once per protocol.
pub(crate) trait Judging {
    /// [`Judge::run_schedule`].
    fn run_schedule(&mut self, schedule: &Schedule) -> Verdict;

    /// [`Judge::needs_calm`].
    fn needs_calm(&self, name: &str) -> bool;
}

impl<P: Protocol> Judging for Judge<P> {
    fn run_schedule(&mut self, schedule: &Schedule) -> Verdict {
        self.run_schedule(schedule)
    }

    fn needs_calm(&self, name: &str) -> bool {
        self.needs_calm(name)
    }
}

/// Fills the rows from what processes report.
impl Watch {
    /// Updates a process that just made a step or ended.
    fn ask<P: Protocol>(&mut self, node: u32, scene: &Scene<'_, P>) {
        let asked = |course: &Course| course.time_scales.leases || course.time_scales.best;
        let asked = self.course.as_ref().is_some_and(asked);
        let row = &mut self.rows[node as usize];
        let Some(state) = scene.node(node) else {
            *row = Row { gone: Some(scene.at()), ..Row::ABSENT };
            return;
        };
        fill(row, node, state, scene.clock(node), asked);
        if row.leads {
            row.ends = scene.when(node, row.told);
        }
    }

    /// Updates a process that made no step: only its clock advanced, and its belief may have ended.
    fn ask_again<P: Protocol>(row: &mut Row, node: u32, scene: &Scene<'_, P>) {
        row.reading = scene.clock(node);
        if row.reading >= row.told
            && let Some(state) = scene.node(node)
        {
            (row.names, row.leads) = told_by(&state.leadership(row.reading), node);
        }
    }
}

/// Fills the row of a process that runs from what it reports; its facts only if they are asked for.
pub(crate) fn fill<P: Protocol>(
    row: &mut Row,
    node: u32,
    state: &Node<P>,
    reading: Instant,
    asked: bool,
) {
    let leadership = state.leadership(reading);
    (row.alive, row.reading, row.told) = (true, reading, leadership.until);
    (row.names, row.leads) = told_by(&leadership, node);
    (row.supporters, row.lock) = (Nodes::NONE, None);
    row.term = leadership.term.map_or(0, Term::number);
    (row.highest, row.no_record) = (0, false);
    (row.list, row.account) = (None, Account::NONE);
    if asked {
        state.facts(reading, &mut |fact| match fact {
            Fact::Supporter { peer } => row.supporters.set(number(peer), true),
            Fact::Locked { to, until } => row.lock = Some(Lock { to: number(to), until }),
            Fact::Claim { weight } => row.claim = weight,
            Fact::Highest { term } => row.highest = term.number(),
            Fact::NoRecord => row.no_record = true,
            Fact::Alive { .. } | Fact::Member { .. } => {} // nothing is asked of these
            fact => {
                VoterList::hear(&mut row.list, &fact, |peer| Some(number(*peer)));
                row.account.note(fact, number);
            }
        });
    }
}

#[inline]
fn told_by(leadership: &Leadership<'_>, node: u32) -> (Nodes, bool) {
    named(leadership.leaders.iter().map(|leader| number(*leader)), leadership.stage, node)
}

/// The number of a process; for an invalid one, a number that no set holds.
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

    fn on_farewell(&mut self, _at: SimTime, node: u32, life: u64) {
        self.farewells.push((node, life));
    }

    fn on_step(&mut self, node: u32, scene: &Scene<'_, P>) {
        if self.is_over() {
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
        self.stepped = Some(node);
        self.look(at);
        (self.arrival, self.stepped) = (None, None);
    }

    fn done(&self) -> bool {
        self.is_over() || self.give_up.as_ref().is_some_and(|over| over())
    }
}
