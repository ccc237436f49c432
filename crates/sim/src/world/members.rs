//! The processes of a run, in arrays for speed.

use crate::clock::Clock;
use crate::coin::{Purpose, RunSeed, Stream, StreamPurpose};
use crate::fault::{Disk, Renumbered};
use crate::multicast_filter::LANES;
use crate::observer::{Cause, id};
use crate::plan::{Plan, Ranks};
use crate::queue::Queue;
use crate::world::views::Views;
use bellwether_core::{
    Boot, Candidacy, Command, Duration, Effect, Entropy, Env, Instant, Memory, Node, Protocol,
    Reach, SimTime,
};
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone)]
pub(super) struct Members<P: Protocol> {
    pub(super) nodes: Vec<Option<Node<P>>>,
    /// Each process's minimum weight, in one array so that one message can be compared with all.
    pub(super) min_weights: Vec<u64>,
    /// One bit for each process that handles messages at once.
    pub(super) open: Vec<u64>,
    /// Each process's random stream.
    pub(super) streams: Vec<Stream>,
    /// The clocks; empty if all show the world's time.
    pub(super) clocks: Vec<Clock>,
    /// State that only few processes have.
    pub(super) lives: BTreeMap<u32, Life<P>>,
    /// Whether any process was ever slow in this run.
    pub(super) slowed: bool,
    /// How many processes are paused.
    pub(super) paused: u32,
    timers: Queue<u32>,
    /// When each process is queued to wake; other entries of the queue are stale.
    due: Vec<u64>,
    /// Whether all processes that start at time zero have started.
    sealed: bool,
    /// What lasts for the whole run is drawn from this.
    run_seed: RunSeed,
    /// How late slow processes are is drawn from this.
    lateness: RunSeed,
    ranks: Ranks,
    /// How willing each process is to lead, up to the last one that is not ordinary.
    candidacies: Vec<Candidacy>,
    /// Ranks that override the plan's.
    pub(super) own_ranks: BTreeMap<u32, u64>,
    /// Whom each process sees.
    pub(super) views: Views,
    /// How long a process takes to handle a message.
    processing: Duration,
}

/// State of a process that was affected by a fault.
#[derive(Clone)]
pub(super) struct Life<P: Protocol> {
    /// Its current incarnation, or its next one if it is stopped.
    pub(super) incarnation: u64,
    /// The number of the previous incarnation, and the greatest of all.
    former: (u64, u64),
    pub(super) stored: Option<Vec<u8>>,
    /// Whether its stored bytes were lost and it has stored nothing since.
    pub(super) lost: bool,
    pub(super) paused: bool,
    pub(super) slow: Duration,
    /// The inbox of a paused or slow process: messages in order of arrival, each with the time at
    /// which it is handled. These times never decrease.
    pub(super) waiting: VecDeque<Waiting<P::Message>>,
    /// The process handles nothing that arrives now before this time.
    ready: SimTime,
    /// When it reacts to a deadline that has passed.
    called: Option<SimTime>,
    /// Commands that it received while paused.
    pub(super) asked: Vec<Command>,
    /// Reachability changes that it was told while paused.
    pub(super) heard: Vec<(u32, Reach)>,
}

/// A message in an inbox.
#[derive(Clone)]
pub(super) struct Waiting<M> {
    pub(super) until: SimTime,
    pub(super) cause: Cause,
    pub(super) message: M,
}

impl<P: Protocol> Life<P> {
    /// The number of the previous incarnation; zero if there was none.
    pub(super) fn former(&self) -> u64 {
        self.former.0
    }
}

impl<P: Protocol> Default for Life<P> {
    fn default() -> Self {
        Self {
            incarnation: 1,
            former: (0, 0),
            stored: None,
            lost: false,
            paused: false,
            slow: Duration::ZERO,
            waiting: VecDeque::new(),
            ready: SimTime::ZERO,
            called: None,
            asked: Vec::new(),
            heard: Vec::new(),
        }
    }
}

impl<P: Protocol> Members<P> {
    pub(super) fn new() -> Self {
        Self {
            nodes: Vec::new(),
            min_weights: Vec::new(),
            open: Vec::new(),
            streams: Vec::new(),
            clocks: Vec::new(),
            lives: BTreeMap::new(),
            slowed: false,
            paused: 0,
            timers: Queue::new(),
            due: Vec::new(),
            sealed: false,
            run_seed: RunSeed::new(0, 0),
            lateness: RunSeed::new(0, 0),
            ranks: Ranks::ById,
            candidacies: Vec::new(),
            own_ranks: BTreeMap::new(),
            views: Views::default(),
            processing: Duration::ZERO,
        }
    }

    /// Prepares for a run. Memory is reused from run to run.
    pub(super) fn reset(&mut self, plan: &Plan, run_seed: RunSeed) {
        let count = plan.nodes as usize;
        let words = count.div_ceil(LANES);
        self.nodes.clear();
        self.nodes.reserve_exact(count);
        self.nodes.extend((0..count).map(|_| None));
        self.min_weights.clear();
        self.min_weights.reserve_exact(words * LANES);
        self.min_weights.resize(words * LANES, u64::MAX);
        self.open.clear();
        self.open.resize(words, 0);
        self.due.clear();
        self.due.reserve_exact(count);
        self.due.resize(count, u64::MAX);
        self.streams.clear();
        self.streams.reserve_exact(count);
        self.streams.extend((0..plan.nodes).map(|node| run_seed.stream(node)));
        self.clocks.clear();
        if plan.has_clock_faults() {
            let spread = 2 * u64::from(plan.drift) + 1;
            let mut luck = run_seed.world(StreamPurpose::Drifts);
            let mut drift = || {
                let drawn = luck.below(spread);
                (drawn as i64 - i64::from(plan.drift)) as i32
            };
            let mut first = run_seed.world(StreamPurpose::Offsets);
            let mut offset = || Duration::from_nanos(first.below(plan.offset.as_nanos().max(1)));
            let clock = |drift, offset| {
                Clock::TRUE.drifting(SimTime::ZERO, drift).jumped(SimTime::ZERO, offset)
            };
            self.clocks.extend((0..count).map(|_| clock(drift(), offset())));
        }
        self.lives.clear();
        (self.slowed, self.paused) = (false, 0);
        self.timers.clear();
        self.timers.reserve(count);
        self.sealed = false;
        (self.run_seed, self.lateness) = (run_seed, run_seed);
        (self.ranks, self.processing) = (plan.ranks, plan.processing);
        let named = plan.witnesses.iter().map(|node| node + 1).max().unwrap_or_default();
        let named = named.max(plan.priorities.len() as u32);
        self.candidacies.clear();
        self.candidacies.extend((0..named).map(|node| plan.candidacy(node)));
        self.views.reset(plan, run_seed);
    }

    /// Draws what is not drawn yet from another seed; see [`World::branch`](super::World::branch).
    pub(super) fn branch(&mut self, run_seed: RunSeed) {
        self.lateness = run_seed;
        for (node, stream) in (0..).zip(&mut self.streams) {
            *stream = run_seed.stream(node);
        }
    }

    /// Starts a process; its effects are left in `effects`.
    pub(super) fn start(
        &mut self,
        node: u32,
        memory: Memory<'_>,
        at: SimTime,
        params: &P::Params,
        effects: &mut Vec<Effect<P>>,
    ) -> &Node<P> {
        let index = node as usize;
        let incarnation = self.lives.get(&node).map_or(1, |life| life.incarnation);
        let own = self.own_ranks.get(&node).copied();
        let rank = own.unwrap_or_else(|| self.ranks.of(self.run_seed, node));
        let candidacy = self.candidacies.get(index).copied().unwrap_or_default();
        let boot = Boot { me: id(node), incarnation, rank, candidacy, memory };
        let now = self.clock(node).read(at);
        let peers = self.views.of(node);
        let mut env = Env { now, peers: &peers, entropy: &mut self.streams[index] };
        let state = Node::start(boot, &mut env, params, effects);
        self.min_weights[index] = state.min_weight();
        self.open_if(node, true);
        self.nodes[index].insert(state)
    }

    /// Runs one step of a process, if it is running, with its environment.
    #[inline]
    pub(super) fn act<R>(
        &mut self,
        node: u32,
        at: SimTime,
        step: impl FnOnce(&mut Node<P>, &mut Env<'_>) -> R,
    ) -> Option<R> {
        let now = self.clock(node).read(at);
        let peers = self.views.of(node);
        let index = node as usize;
        let state = self.nodes[index].as_mut()?;
        let mut env = Env { now, peers: &peers, entropy: &mut self.streams[index] };
        let result = step(state, &mut env);
        self.min_weights[index] = state.min_weight();
        Some(result)
    }

    /// The incarnation that starts, the stored bytes that the disk kept, and whether they were
    /// lost. Damage persists until the process stores again.
    pub(super) fn recall(&mut self, node: u32, disk: Disk) -> (u64, Option<Vec<u8>>, bool) {
        let Some(life) = self.lives.get_mut(&node) else { return (1, None, false) };
        match (disk, &mut life.stored) {
            (Disk::Torn, Some(bytes)) => bytes.truncate(bytes.len() / 2),
            (Disk::Lost, _) if life.incarnation > 1 => (life.stored, life.lost) = (None, true),
            _ => {}
        }
        (life.incarnation, life.stored.take(), life.lost)
    }

    /// Stops a process. Its next start is a new incarnation.
    pub(super) fn remove(&mut self, node: u32) {
        let index = node as usize;
        self.nodes[index] = None;
        self.due[index] = u64::MAX;
        self.unpause(node);
        let life = self.life(node);
        life.former = (life.incarnation, life.former.1.max(life.incarnation));
        life.incarnation = life.former.1 + 1;
        life.waiting.clear();
        life.asked.clear();
        life.heard.clear();
        (life.ready, life.called) = (SimTime::ZERO, None);
        self.update_open(node);
    }

    /// Gives the next incarnation of a stopped process the number of an earlier one. The process
    /// knows that it ran before, but its stored bytes are lost.
    pub(super) fn renumber(&mut self, node: u32, number: Renumbered) {
        let life = self.life(node);
        let (last, _) = life.former;
        life.incarnation = match number {
            Renumbered::Same => last.max(1),
            Renumbered::Lower => 0,
        };
        (life.stored, life.lost) = (None, true);
    }

    /// Updates whether a process handles messages at once.
    pub(super) fn update_open(&mut self, node: u32) {
        self.open_if(node, self.nodes[node as usize].is_some());
    }

    /// A process handles messages at once if it runs, is not paused or slow, and has an empty
    /// inbox.
    fn open_if(&mut self, node: u32, there: bool) {
        let index = node as usize;
        let there = there && self.processing == Duration::ZERO;
        let at_once =
            |life: &Life<P>| !life.paused && life.slow == Duration::ZERO && life.waiting.is_empty();
        let open = there && self.lives.get(&node).is_none_or(at_once);
        let (word, bit) = (&mut self.open[index / LANES], 1 << (index % LANES));
        if open { *word |= bit } else { *word &= !bit }
    }

    /// Whether every process needs time to handle a message.
    #[inline]
    pub(super) fn need_processing(&self) -> bool {
        self.processing > Duration::ZERO
    }

    #[inline]
    pub(super) fn is_open(&self, node: u32) -> bool {
        self.open[node as usize / LANES] >> (node as usize % LANES) & 1 == 1
    }

    /// Pauses a process.
    pub(super) fn pause(&mut self, node: u32) {
        if !std::mem::replace(&mut self.life(node).paused, true) {
            self.paused += 1;
            self.update_open(node);
        }
    }

    /// Resumes a process. False if it was not paused.
    pub(super) fn unpause(&mut self, node: u32) -> bool {
        let stood = self.lives.get_mut(&node).is_some_and(|life| std::mem::take(&mut life.paused));
        self.paused -= u32::from(stood);
        stood
    }

    pub(super) fn is_paused(&self, node: u32) -> bool {
        self.lives.get(&node).is_some_and(|life| life.paused)
    }

    pub(super) fn life(&mut self, node: u32) -> &mut Life<P> {
        self.lives.entry(node).or_default()
    }

    #[inline]
    pub(super) fn clock(&self, node: u32) -> Clock {
        self.clocks.get(node as usize).copied().unwrap_or(Clock::TRUE)
    }
}

/// Wake-ups.
impl<P: Protocol> Members<P> {
    #[inline]
    pub(super) fn next_wake(&self) -> u64 {
        self.timers.next_at()
    }

    /// The next process to wake, unless the queue entry is stale.
    #[inline]
    pub(super) fn pop_wake(&mut self) -> Option<u32> {
        let (at, node) = self.timers.pop()?;
        if self.due[node as usize] != at {
            return None;
        }
        self.due[node as usize] = u64::MAX;
        Some(node)
    }

    /// Queues a process to wake at this instant of its clock, or now if that has passed. An entry
    /// that is too early stays: when it is reached, the process is queued again.
    #[inline(always)] // most steps of some protocols have no deadline
    pub(super) fn wake_at(&mut self, node: u32, instant: Instant, now: SimTime) {
        if instant != Instant::NEVER {
            self.wake_for(node, instant, now);
        }
    }

    #[inline(always)]
    fn wake_for(&mut self, node: u32, instant: Instant, now: SimTime) {
        let due = self.due[node as usize];
        // Most deadlines are later than the one it is queued for, and to read a clock takes less
        // time than to find out when it will show something.
        let later =
            |clock: &Clock| clock.read(SimTime::from_nanos(due.saturating_sub(1))) < instant;
        if self.clocks.get(node as usize).is_some_and(later) {
            return;
        }
        let when = self.when(node, instant, now);
        if when.as_nanos() < due {
            self.queue(node, when);
        }
    }

    /// When to check a deadline: when it passes, but not before a slow process reacts to an earlier
    /// one.
    #[inline]
    pub(super) fn when(&self, node: u32, instant: Instant, now: SimTime) -> SimTime {
        let when = self.clock(node).when(instant).max(now);
        if !self.slowed {
            return when;
        }
        let called = self.lives.get(&node).and_then(|life| life.called);
        called.map_or(when, |called| when.max(called))
    }

    #[inline]
    pub(super) fn queue(&mut self, node: u32, when: SimTime) {
        self.due[node as usize] = when.as_nanos();
        if self.sealed {
            self.timers.push_bucket(when.as_nanos(), node);
        } else {
            self.timers.gather(when.as_nanos(), node);
        }
    }

    /// Ends the phase in which the processes of time zero start.
    pub(super) fn seal(&mut self) {
        self.timers.seal();
        self.sealed = true;
    }
}

/// Processes that react late.
impl<P: Protocol> Members<P> {
    /// Puts a message into a process's inbox. Returns when the process handles it, unless it is
    /// paused then; never before a message that arrived earlier.
    pub(super) fn enqueue(
        &mut self,
        node: u32,
        cause: Cause,
        message: P::Message,
        now: SimTime,
    ) -> SimTime {
        let until = self.reserve(node, now) + self.processing;
        self.life(node).ready = until; // one message after the other
        self.life(node).waiting.push_back(Waiting { until, cause, message });
        until
    }

    /// Takes the first message out of a process's inbox, if it is due.
    pub(super) fn take(&mut self, node: u32, now: SimTime) -> Option<(Cause, P::Message)> {
        let life = self.lives.get_mut(&node)?;
        if life.paused || life.waiting.front()?.until > now {
            return None;
        }
        let Waiting { cause, message, .. } = life.waiting.pop_front()?;
        self.update_open(node);
        Some((cause, message))
    }

    /// A deadline of a process has passed: returns when the process reacts, if that is not now.
    pub(super) fn call(&mut self, node: u32, now: SimTime) -> Option<SimTime> {
        let called = self.lives.get_mut(&node)?.called.take();
        let when = called.unwrap_or_else(|| self.reserve(node, now));
        if when <= now {
            return None;
        }
        self.life(node).called = Some(when);
        Some(when)
    }

    /// When a process reacts to what happens now. The delay is random, between zero and its
    /// slowness, and never before its reaction to an earlier event.
    fn reserve(&mut self, node: u32, now: SimTime) -> SimTime {
        let slow = self.lives.get(&node).map_or(0, |life| life.slow.as_nanos());
        let late = if slow == 0 {
            Duration::ZERO
        } else {
            let coin = self.lateness.packet(node, now.as_nanos() as u32);
            Duration::from_nanos((coin.unit(Purpose::Scheduling, node) * slow as f64) as u64)
        };
        let life = self.life(node);
        life.ready = life.ready.max(now + late);
        life.ready
    }
}
