//! The event engine: processes, packets and faults, in order of time.
//!
//! The engine takes the earliest of the next fault, the next delivery and the next wake-up; at
//! equal times in this order. It reads the process's clock, runs its handler, compares its belief
//! with the one before, numbers and sends its packets, and queues the process for its next
//! deadline.
//!
//! A multicast with one delay for all receivers is *one* event. When it is due, a
//! [filter](crate::multicast_filter) finds which processes receive it and which of those it
//! concerns. Only their handlers run.

mod delivery;
mod faults;
mod in_flight;
mod members;
mod patience;
mod records;
mod scene;
mod sight;
mod views;

use crate::coin::RunSeed;
use crate::fault::Disk;
use crate::multicast_filter::Receivers;
use crate::network::Network;
use crate::observer::{Cause, Observer};
use crate::plan::Plan;
use bellwether_core::{
    BeliefTracer, Change, Duration, Effect, Event, Input, Instant, Memory, Node, Protocol, Reach,
    SimTime,
};
use in_flight::InFlight;
use members::Members;
use patience::Patience;
pub use scene::Scene;
use std::collections::{BTreeMap, VecDeque};

/// A world for one protocol, reused for many runs. A warm world allocates nothing. A copy of a
/// world goes on as the world itself would, until its draws are [others](World::branch).
#[derive(Clone)]
pub struct World<P: Protocol> {
    params: GroupParams<P>,
    members: Members<P>,
    in_flight: InFlight<P::Message>,
    effects: Vec<Effect<P>>,
    receivers: Vec<Receivers>,
    network: Network,
    arch: pulp::Arch,
    now: SimTime,
    deliveries: u64,
    batch: bool,
    /// Whether nobody can tell a first life from a lost memory.
    unknown_first_lives: bool,
    /// How long it takes until processes are told who can be reached; never if absent.
    detection: Option<Duration>,
    /// Starts and stops that will be told, and when.
    detections: VecDeque<(SimTime, u32, Reach)>,
    /// Last wills that will be sent: when, of which process, of which incarnation.
    wills: VecDeque<(SimTime, u32, u64)>,
    /// The belief last recorded for each process, in traced runs.
    told: BTreeMap<u32, BeliefTracer>,
    /// How many of the plan's faults are injected.
    injected: usize,
}

/// The parameters of the group, and of processes that have their own.
#[derive(Clone)]
struct GroupParams<P: Protocol> {
    all: P::Params,
    others: BTreeMap<u32, P::Params>,
}

impl<P: Protocol> GroupParams<P> {
    #[inline]
    fn of(&self, node: u32) -> &P::Params {
        if self.others.is_empty() {
            return &self.all;
        }
        self.others.get(&node).unwrap_or(&self.all)
    }
}

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// When it ended.
    pub ended: SimTime,
    /// The number of messages received, including those below a minimum weight.
    pub deliveries: u64,
    /// Whether the observer was done. Otherwise no event was left, or the horizon was reached.
    pub satisfied: bool,
}

/// The most timers that one process may run at one instant. After that the clock advances, so that
/// a protocol that rearms for ever cannot stop the world.
const SPIN_MAX: u32 = 64;
const SPIN_STEP: Duration = Duration::from_micros(1);

impl<P: Protocol> World<P> {
    /// An empty world.
    pub fn new(params: P::Params) -> Self {
        Self {
            params: GroupParams { all: params, others: BTreeMap::new() },
            members: Members::new(),
            in_flight: InFlight::new(),
            effects: Vec::new(),
            receivers: Vec::new(),
            network: Network::default(),
            arch: pulp::Arch::new(),
            now: SimTime::ZERO,
            deliveries: 0,
            batch: true,
            unknown_first_lives: false,
            detection: None,
            detections: VecDeque::new(),
            wills: VecDeque::new(),
            told: BTreeMap::new(),
            injected: 0,
        }
    }

    /// Makes every multicast one event per receiver. The runs stay the same; a test compares them.
    #[doc(hidden)] // for tests
    pub fn without_batches(mut self) -> Self {
        self.batch = false;
        self
    }

    /// Gives this process its own parameters: a misconfigured member.
    #[doc(hidden)] // for tests
    pub fn with_params_of(mut self, node: u32, params: P::Params) -> Self {
        self.params.others.insert(node, params);
        self
    }

    /// Gives this process its own rank, independent of the plan: a measured one, for example.
    pub fn with_rank_of(mut self, node: u32, rank: u64) -> Self {
        self.members.own_ranks.insert(node, rank);
        self
    }

    /// Runs the plan with these random draws until the observer is done, no event is left, or the
    /// horizon is reached. The plan must be [valid](Plan::check).
    pub fn run<O: Observer<P>>(
        &mut self,
        plan: &Plan,
        run_seed: RunSeed,
        observer: &mut O,
    ) -> Outcome {
        self.begin(plan, run_seed, observer);
        self.proceed(plan, observer)
    }

    /// Begins a run: everything that happens before time passes.
    pub fn begin<O: Observer<P>>(&mut self, plan: &Plan, run_seed: RunSeed, observer: &mut O) {
        self.begin_unless(plan, run_seed, observer, &mut Patience::new(plan.nodes, None));
    }

    /// Begins a run, or gives it up on the way; whether it has begun.
    fn begin_unless<O: Observer<P>>(
        &mut self,
        plan: &Plan,
        run_seed: RunSeed,
        observer: &mut O,
        patience: &mut Patience<'_>,
    ) -> bool {
        self.reset(plan, run_seed);
        let mut absent = plan.absent.clone();
        absent.sort_unstable();
        for node in 0..plan.nodes {
            if patience.is_over() {
                return false;
            }
            if absent.is_empty() || absent.binary_search(&node).is_err() {
                self.start(node, Disk::Kept, observer);
            }
        }
        self.members.seal();
        observer.on_ready();
        for node in absent {
            self.schedule_detection(node, Reach::Down);
            self.spread_detection(observer); // absent from the start, and known to be
        }
        true
    }

    /// Goes on with a run of this plan until the observer is done, no event is left, or the horizon
    /// is reached.
    pub fn proceed<O: Observer<P>>(&mut self, plan: &Plan, observer: &mut O) -> Outcome {
        self.go_on(plan, observer, &mut Patience::new(plan.nodes, None));
        self.outcome(observer)
    }

    /// Runs the plan as [`run`](Self::run) does, or until `over` says to give it up; there is no
    /// outcome then. `over` is asked several times a second, and never if the run is short.
    pub fn run_unless<O: Observer<P>>(
        &mut self,
        plan: &Plan,
        run_seed: RunSeed,
        observer: &mut O,
        over: &dyn Fn() -> bool,
    ) -> Option<Outcome> {
        let patience = &mut Patience::new(plan.nodes, Some(over));
        let ended = self.begin_unless(plan, run_seed, observer, patience)
            && self.go_on(plan, observer, patience);
        ended.then(|| self.outcome(observer))
    }

    fn outcome<O: Observer<P>>(&self, observer: &O) -> Outcome {
        Outcome { ended: self.now, deliveries: self.deliveries, satisfied: observer.done() }
    }

    /// Goes on until the run ends, or gives it up on the way; whether it has ended.
    fn go_on<O: Observer<P>>(
        &mut self,
        plan: &Plan,
        observer: &mut O,
        patience: &mut Patience<'_>,
    ) -> bool {
        let end = plan.end().as_nanos();
        while !observer.done() {
            if patience.is_over() {
                return false;
            }
            let coming = plan.faults.get(self.injected);
            let planned = coming.map_or(u64::MAX, |timed| timed.at.as_nanos());
            let fault = planned.min(observer.injects_at());
            let (packet, wake) = (self.in_flight.next_at(), self.members.next_wake());
            let news = self.detections.front().map_or(u64::MAX, |(at, ..)| at.as_nanos());
            let will = self.wills.front().map_or(u64::MAX, |(at, ..)| at.as_nanos());
            let next = fault.min(packet).min(wake).min(news).min(will);
            if next == u64::MAX || next > end {
                break;
            }
            self.now = SimTime::from_nanos(next);
            if planned == next {
                if let Some(timed) = coming {
                    self.injected += 1;
                    self.inject(&timed.fault, observer);
                }
            } else if fault == next {
                if let Some(fault) = observer.inject() {
                    self.inject(&fault, observer);
                }
            } else if news == next {
                self.spread_detection(observer);
            } else if will == next {
                self.send_will(observer);
            } else if packet == next {
                // All deliveries of one instant come before anything else.
                loop {
                    self.deliver(observer);
                    if self.in_flight.next_at() != next || observer.done() {
                        break;
                    }
                    if patience.is_over() {
                        return false;
                    }
                }
            } else {
                self.wake(observer);
            }
        }
        true
    }

    /// Makes all random draws from now on those of `run_seed`: what has been drawn stays, what has
    /// not is drawn anew. See "Splitting" in ARCHITECTURE.md for why this is all that a copy needs.
    ///
    /// What lasts for a whole run is not drawn again: ranks, views, the order of a ring, clocks.
    pub fn branch(&mut self, run_seed: RunSeed) {
        self.members.branch(run_seed);
        self.in_flight.branch(run_seed);
    }

    /// The state of a process, if it is running, to inspect after a run.
    pub fn node(&self, node: u32) -> Option<&Node<P>> {
        self.members.nodes.get(node as usize)?.as_ref()
    }

    /// What a process's clock reads now.
    pub fn clock(&self, node: u32) -> Instant {
        self.members.clock(node).read(self.now)
    }

    fn reset(&mut self, plan: &Plan, run_seed: RunSeed) {
        debug_assert_eq!(plan.check(), Ok(()));
        if self.network != plan.network {
            self.network = plan.network.clone();
        }
        self.members.reset(plan, run_seed);
        self.in_flight.reset(plan, run_seed, self.batch);
        self.effects.clear();
        self.told.clear();
        self.detections.clear();
        self.wills.clear();
        self.detection = plan.detection;
        self.unknown_first_lives = plan.unknown_first_lives;
        (self.now, self.deliveries, self.injected) = (SimTime::ZERO, 0, 0);
    }
}

/// What a step needs of the world besides the processes.
struct Handling<'a, P: Protocol> {
    now: SimTime,
    params: &'a P::Params,
    effects: &'a mut Vec<Effect<P>>,
}

impl<P: Protocol> Handling<'_, P> {
    /// Lets a process handle an input. Returns whether its belief changed, and its next deadline.
    #[inline(always)]
    fn run<O: Observer<P>>(
        self,
        members: &mut Members<P>,
        node: u32,
        input: Input<'_, P>,
        cause: Option<Cause>,
        observer: &mut O,
    ) -> Option<(Change, Instant)> {
        let Self { now, params, effects } = self;
        members.act(node, now, |state, env| {
            let change = state.handle(input, env, params, effects);
            if change == Change::Changed {
                observer.on_change(now, node, &state.leadership(env.now), cause);
            }
            (change, state.poll_timeout())
        })
    }
}

/// Processes and their steps.
impl<P: Protocol> World<P> {
    /// Starts a process, for the first time or again.
    fn start<O: Observer<P>>(&mut self, node: u32, disk: Disk, observer: &mut O) {
        let mut effects = std::mem::take(&mut self.effects);
        let (incarnation, stored, lost) = self.members.recall(node, disk);
        let memory = match &stored {
            Some(bytes) => Memory::Kept(bytes),
            None if lost || self.unknown_first_lives => Memory::Lost,
            None => Memory::First,
        };
        let now = self.clock(node);
        let params = self.params.of(node);
        let state = self.members.start(node, memory, self.now, params, &mut effects);
        let wake = state.poll_timeout();
        observer.on_start(self.now, node, now, state);
        self.effects = effects;
        if O::TRACES {
            let event = match incarnation {
                1 => Event::Start { incarnation },
                _ => Event::Restart { incarnation },
            };
            self.record(node, event, observer);
            self.record_belief(node, true, observer);
        }
        if let Some(bytes) = stored {
            self.members.life(node).stored = Some(bytes);
        }
        self.settle(node, wake, observer);
        self.show(node, observer);
    }

    /// One step of one process.
    #[inline]
    fn step<O: Observer<P>>(
        &mut self,
        node: u32,
        input: Input<'_, P>,
        cause: Option<Cause>,
        observer: &mut O,
    ) {
        let (params, effects) = (self.params.of(node), &mut self.effects);
        let handling = Handling { now: self.now, params, effects };
        let stepped = handling.run(&mut self.members, node, input, cause, observer);
        self.conclude(node, stepped, observer);
    }

    /// Applies the effects of a step, and reports its results.
    #[inline]
    fn conclude<O: Observer<P>>(
        &mut self,
        node: u32,
        stepped: Option<(Change, Instant)>,
        observer: &mut O,
    ) {
        let Some((change, wake)) = stepped else { return };
        if O::TRACES {
            self.record_belief(node, change == Change::Changed, observer);
        }
        self.settle(node, wake, observer);
        self.show(node, observer);
    }

    /// Applies the effects of the last step.
    #[inline]
    fn settle<O: Observer<P>>(&mut self, node: u32, wake: Instant, observer: &mut O) {
        if !self.effects.is_empty() {
            self.in_flight.begin_step();
            // Taken out and put back, because sending needs the rest of the world.
            let mut effects = std::mem::take(&mut self.effects);
            for effect in &mut effects {
                match effect {
                    Effect::Send(to, message) => self.send(node, *to, message, observer),
                    Effect::Store(bytes) => {
                        if O::TRACES {
                            self.record(node, Event::Store { bytes: bytes.len() }, observer);
                        }
                        self.members.life(node).stored = Some(std::mem::take(bytes));
                    }
                    Effect::Arm(..) | Effect::Disarm(_) => {}
                }
            }
            effects.clear();
            self.effects = effects;
        }
        self.members.wake_at(node, wake, self.now);
    }

    fn wake<O: Observer<P>>(&mut self, observer: &mut O) {
        let Some(node) = self.members.pop_wake() else { return };
        if !self.members.is_open(node) && self.members.is_paused(node) {
            return;
        }
        let now = self.members.clock(node).read(self.now);
        if self.members.slowed
            && self.node(node).is_some_and(|state| state.poll_timeout() <= now)
            && let Some(later) = self.members.call(node, self.now)
        {
            self.members.queue(node, later);
            return;
        }
        for _ in 0..SPIN_MAX {
            let Some(state) = self.node(node) else { return };
            if state.poll_timeout() > now {
                let wake = state.poll_timeout();
                self.members.wake_at(node, wake, self.now);
                return;
            }
            if O::TRACES
                && let Some(timer) = state.due(now)
            {
                self.record(node, Event::Timer { timer: format!("{timer:?}") }, observer);
            }
            self.step(node, Input::Timeout, None, observer);
        }
        self.members.queue(node, self.now + SPIN_STEP);
    }
}
