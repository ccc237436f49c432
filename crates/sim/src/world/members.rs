//! The processes of a run, in arrays a simulator can be quick with.

use crate::clock::Clock;
use crate::coin::{Coins, For, Purpose, Stream};
use crate::fault::{Disk, Renumbered};
use crate::multicast_filter::LANES;
use crate::observer::{Cause, id};
use crate::plan::{Plan, Ranks};
use crate::queue::Queue;
use crate::world::views::Views;
use bellwether_core::{
    Boot, Command, Duration, Effect, Entropy, Env, Instant, Memory, Node, Protocol, Reach, SimTime,
};
use std::collections::{BTreeMap, VecDeque};

pub(super) struct Members<P: Protocol> {
    pub(super) nodes: Vec<Option<Node<P>>>,
    /// Each node's bar, beside each other so that one message can be compared with all.
    pub(super) min_weights: Vec<u64>,
    /// A bit for each node that takes messages at once.
    pub(super) open: Vec<u64>,
    /// Each node's own luck.
    pub(super) streams: Vec<Stream>,
    /// Clocks, if any of them is not true.
    pub(super) clocks: Vec<Clock>,
    /// What only few nodes have.
    pub(super) lives: BTreeMap<u32, Life<P>>,
    /// Whether any process was ever slow in this run.
    pub(super) slowed: bool,
    /// How many processes stand still.
    pub(super) paused: u32,
    timers: Queue<u32>,
    /// When each node is queued to be woken; other entries of the queue are void.
    due: Vec<u64>,
    /// Whether the processes that begin at time zero have begun.
    sealed: bool,
    coins: Coins,
    ranks: Ranks,
    /// Of those that have a rank of their own.
    pub(super) own_ranks: BTreeMap<u32, u64>,
    /// Whom each process sees.
    pub(super) views: Views,
    /// How long a process takes over a message before it acts on it.
    processing: Duration,
}

/// What a process that something happened to has beside its state.
pub(super) struct Life<P: Protocol> {
    /// Its present life, or its next one if it is gone.
    pub(super) incarnation: u64,
    /// The number of the life before it, and the greatest that any had.
    former: (u64, u64),
    pub(super) stored: Option<Vec<u8>>,
    /// Whether it lost what it stored, if it has not stored anything since.
    pub(super) lost: bool,
    pub(super) paused: bool,
    pub(super) slow: Duration,
    /// Its inbox, if it stands still or is slow: what arrived, in that order, and when each is to
    /// be handled, which never goes back.
    pub(super) waiting: VecDeque<Waiting<P::Message>>,
    /// Before this it handles nothing that comes now: earlier things wait until then.
    ready: SimTime,
    /// When it reacts to a deadline that has passed.
    called: Option<SimTime>,
    /// What it was asked while it stood still.
    pub(super) asked: Vec<Command>,
    /// Of whom it was told while it stood still.
    pub(super) heard: Vec<(u32, Reach)>,
}

/// A message in an inbox.
pub(super) struct Waiting<M> {
    pub(super) until: SimTime,
    pub(super) cause: Cause,
    pub(super) message: M,
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
            coins: Coins::new(0, 0),
            ranks: Ranks::ById,
            own_ranks: BTreeMap::new(),
            views: Views::default(),
            processing: Duration::ZERO,
        }
    }

    /// Makes room for a run. Keeps its memory from run to run.
    pub(super) fn reset(&mut self, plan: &Plan, coins: Coins) {
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
        self.streams.extend((0..plan.nodes).map(|node| coins.stream(node)));
        self.clocks.clear();
        if plan.has_clock_faults() {
            let spread = 2 * u64::from(plan.drift) + 1;
            let mut luck = coins.world(For::Drifts);
            let mut drift = || {
                let drawn = luck.below(spread);
                (drawn as i64 - i64::from(plan.drift)) as i32
            };
            let mut first = coins.world(For::Offsets);
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
        (self.coins, self.ranks, self.processing) = (coins, plan.ranks, plan.processing);
        self.views.reset(plan, coins);
    }

    /// Starts a process; the effects of that are left in `effects`.
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
        let rank = own.unwrap_or_else(|| self.ranks.of(self.coins, node));
        let boot = Boot { me: id(node), incarnation, rank, memory };
        let now = self.clock(node).read(at);
        let peers = self.views.of(node);
        let mut env = Env { now, peers: &peers, entropy: &mut self.streams[index] };
        let state = Node::start(boot, &mut env, params, effects);
        self.min_weights[index] = state.bar();
        self.open_if(node, true);
        self.nodes[index].insert(state)
    }

    /// Runs one step of a process, if it is there, with all that a step is given.
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
        self.min_weights[index] = state.bar();
        Some(result)
    }

    /// Which life of a process begins, what the disk leaves of what it stored, and whether that
    /// was lost. What is damaged stays so until the process stores again.
    pub(super) fn recall(&mut self, node: u32, disk: Disk) -> (u64, Option<Vec<u8>>, bool) {
        let Some(life) = self.lives.get_mut(&node) else { return (1, None, false) };
        match (disk, &mut life.stored) {
            (Disk::Torn, Some(bytes)) => bytes.truncate(bytes.len() / 2),
            (Disk::Lost, _) if life.incarnation > 1 => (life.stored, life.lost) = (None, true),
            _ => {}
        }
        (life.incarnation, life.stored.take(), life.lost)
    }

    /// A process is no more. If it comes back, that is another life.
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

    /// The next life of a process that is gone has the number of a former one. It knows that it
    /// ran before, but nothing of what it stored.
    pub(super) fn renumber(&mut self, node: u32, number: Renumbered) {
        let life = self.life(node);
        let (last, _) = life.former;
        life.incarnation = match number {
            Renumbered::Same => last.max(1),
            Renumbered::Lower => 0,
        };
        (life.stored, life.lost) = (None, true);
    }

    /// Something changed that may decide whether a process takes messages at once.
    pub(super) fn update_open(&mut self, node: u32) {
        self.open_if(node, self.nodes[node as usize].is_some());
    }

    /// A process takes messages at once if it is there, goes on, is not slow and has none waiting.
    fn open_if(&mut self, node: u32, there: bool) {
        let index = node as usize;
        let there = there && self.processing == Duration::ZERO;
        let at_once =
            |life: &Life<P>| !life.paused && life.slow == Duration::ZERO && life.waiting.is_empty();
        let open = there && self.lives.get(&node).is_none_or(at_once);
        let (word, bit) = (&mut self.open[index / LANES], 1 << (index % LANES));
        if open { *word |= bit } else { *word &= !bit }
    }

    /// Whether a message waits for its turn at every process.
    #[inline]
    pub(super) fn need_processing(&self) -> bool {
        self.processing > Duration::ZERO
    }

    #[inline]
    pub(super) fn is_open(&self, node: u32) -> bool {
        self.open[node as usize / LANES] >> (node as usize % LANES) & 1 == 1
    }

    /// A process stands still.
    pub(super) fn pause(&mut self, node: u32) {
        if !std::mem::replace(&mut self.life(node).paused, true) {
            self.paused += 1;
            self.update_open(node);
        }
    }

    /// It goes on. False if it did not stand still.
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

/// Waking processes.
impl<P: Protocol> Members<P> {
    pub(super) fn next_wake(&self) -> u64 {
        self.timers.next_at()
    }

    /// The next process to be woken, unless the entry is void.
    pub(super) fn pop_wake(&mut self) -> Option<u32> {
        let (at, node) = self.timers.pop()?;
        if self.due[node as usize] != at {
            return None;
        }
        self.due[node as usize] = u64::MAX;
        Some(node)
    }

    /// Queues a process to be woken at this instant of its clock, or now if that is past. An entry
    /// that would wake it too early stays: when it is reached, the process is queued again.
    #[inline]
    pub(super) fn wake_at(&mut self, node: u32, instant: Instant, now: SimTime) {
        if instant == Instant::NEVER {
            return;
        }
        let when = self.when(node, instant, now);
        if when.as_nanos() < self.due[node as usize] {
            self.queue(node, when);
        }
    }

    /// When to look at a deadline: when it passes, but not again before the process reacts to one
    /// that has.
    pub(super) fn when(&self, node: u32, instant: Instant, now: SimTime) -> SimTime {
        let when = self.clock(node).when(instant).max(now);
        if !self.slowed {
            return when;
        }
        let called = self.lives.get(&node).and_then(|life| life.called);
        called.map_or(when, |called| when.max(called))
    }

    pub(super) fn queue(&mut self, node: u32, when: SimTime) {
        self.due[node as usize] = when.as_nanos();
        if self.sealed {
            self.timers.push_bucket(when.as_nanos(), node);
        } else {
            self.timers.gather(when.as_nanos(), node);
        }
    }

    /// All that begin at time zero have begun.
    pub(super) fn seal(&mut self) {
        self.timers.seal();
        self.sealed = true;
    }
}

/// Processes that react late.
impl<P: Protocol> Members<P> {
    /// A message arrives at a process that does not take it at once. Gives the time when it will,
    /// unless it stands still then: not before what arrived earlier.
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

    /// The first message in a process's inbox, if it is time for it.
    pub(super) fn take(&mut self, node: u32, now: SimTime) -> Option<(Cause, P::Message)> {
        let life = self.lives.get_mut(&node)?;
        if life.paused || life.waiting.front()?.until > now {
            return None;
        }
        let Waiting { cause, message, .. } = life.waiting.pop_front()?;
        self.update_open(node);
        Some((cause, message))
    }

    /// A deadline of a process has passed. Gives the time when it reacts, if that is not now.
    pub(super) fn call(&mut self, node: u32, now: SimTime) -> Option<SimTime> {
        let called = self.lives.get_mut(&node)?.called.take();
        let when = called.unwrap_or_else(|| self.reserve(node, now));
        if when <= now {
            return None;
        }
        self.life(node).called = Some(when);
        Some(when)
    }

    /// When a process reacts to what happens to it now, and so to nothing that comes later before.
    /// It is late by something between nought and its slowness, as is all that is before it.
    fn reserve(&mut self, node: u32, now: SimTime) -> SimTime {
        let slow = self.lives.get(&node).map_or(0, |life| life.slow.as_nanos());
        let late = if slow == 0 {
            Duration::ZERO
        } else {
            let coin = self.coins.packet(node, now.as_nanos() as u32);
            Duration::from_nanos((coin.unit(Purpose::Scheduling, node) * slow as f64) as u64)
        };
        let life = self.life(node);
        life.ready = life.ready.max(now + late);
        life.ready
    }
}
