//! The event engine: processes, letters and faults, in order of time.
//!
//! One event's life: the earliest of the next fault, the next letter and the next wake-up is taken
//! (in this order where they fall on the same instant). The process's clock is read, its handler
//! runs, what it believes is compared with before, its letters are stamped and posted, and it is
//! queued for its next deadline.
//!
//! A multicast with one delay for all is *one* event: when it is due, the [sieve](crate::sieve)
//! tells whom it reaches and whom of those it concerns, and only those handlers run.

mod members;
mod post;

use crate::coin::Coins;
use crate::fault::{Disk, Fault, Who};
use crate::network::{Channel, Delay, Fate, Network};
use crate::observer::{Cause, Observer, id};
use crate::plan::Plan;
use crate::sieve::{LANES, Question, Sieved, sieve};
use bellwether_core::{
    Change, Command, Dest, Duration, Effect, Env, Event, Input, Instant, Leadership, Memory,
    Message, Node, Protocol, Record, SimTime,
};
use members::Members;
use post::{EVERYONE, Letter, Post};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A world for one protocol, used for run after run. Nothing is allocated once it is warm.
pub struct World<P: Protocol> {
    params: P::Params,
    members: Members<P>,
    post: Post<P::Message>,
    effects: Vec<Effect<P>>,
    sieved: Vec<Sieved>,
    network: Network,
    arch: pulp::Arch,
    now: SimTime,
    deliveries: u64,
    batch: bool,
}

/// How a run went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// When it ended.
    pub ended: SimTime,
    /// How many messages were received, those below a bar included.
    pub deliveries: u64,
    /// Whether the observer had seen enough; otherwise nothing more could happen, or time was up.
    pub satisfied: bool,
}

/// Timers that one process may run at one instant; past that the clock is made to move on, so that
/// a protocol that spins cannot stop the world.
const SPIN_MAX: u32 = 64;
const SPIN_STEP: Duration = Duration::from_micros(1);

impl<P: Protocol> World<P> {
    /// An empty world.
    pub fn new(params: P::Params) -> Self {
        Self {
            params,
            members: Members::new(),
            post: Post::new(),
            effects: Vec::new(),
            sieved: Vec::new(),
            network: Network::default(),
            arch: pulp::Arch::new(),
            now: SimTime::ZERO,
            deliveries: 0,
            batch: true,
        }
    }

    /// From now on every multicast is one event per receiver. The runs stay the same, which is what
    /// this is for: a test compares.
    pub fn without_batches(mut self) -> Self {
        self.batch = false;
        self
    }

    /// Runs the plan with this luck until the observer is done, nothing is left to happen, or the
    /// plan's horizon. The plan must be [valid](Plan::check).
    pub fn run<O: Observer<P>>(&mut self, plan: &Plan, coins: Coins, observer: &mut O) -> Outcome {
        self.reset(plan, coins);
        let mut absent = plan.absent.clone();
        absent.sort_unstable();
        for node in 0..plan.nodes {
            if absent.is_empty() || absent.binary_search(&node).is_err() {
                self.start(node, Disk::Kept, observer);
            }
        }
        self.members.seal();
        observer.on_ready();
        let mut faults = plan.faults.iter().peekable();
        let end = plan.end().as_nanos();
        while !observer.done() {
            let fault = faults.peek().map_or(u64::MAX, |timed| timed.at.as_nanos());
            let (letter, wake) = (self.post.next_at(), self.members.next_wake());
            let next = fault.min(letter).min(wake);
            if next == u64::MAX || next > end {
                break;
            }
            self.now = SimTime::from_nanos(next);
            if fault == next {
                if let Some(timed) = faults.next() {
                    self.strike(&timed.fault, observer);
                }
            } else if letter == next {
                self.deliver(observer);
            } else {
                self.wake(observer);
            }
        }
        Outcome { ended: self.now, deliveries: self.deliveries, satisfied: observer.done() }
    }

    /// The state of a process, if it is there, to look at after a run.
    pub fn node(&self, node: u32) -> Option<&Node<P>> {
        self.members.nodes.get(node as usize)?.as_ref()
    }

    /// What a process's clock reads now.
    pub fn clock(&self, node: u32) -> Instant {
        self.members.clock(node).read(self.now)
    }

    fn reset(&mut self, plan: &Plan, coins: Coins) {
        debug_assert_eq!(plan.check(), Ok(()));
        if self.network != plan.network {
            self.network = plan.network.clone();
        }
        self.members.reset(plan, coins);
        self.post.reset(plan, coins, self.batch);
        self.effects.clear();
        (self.now, self.deliveries) = (SimTime::ZERO, 0);
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
            None if lost => Memory::Lost,
            None => Memory::First,
        };
        let state = self.members.start(node, memory, self.now, &self.params, &mut effects);
        let wake = state.poll_timeout();
        observer.on_start(self.now, node, state);
        self.effects = effects;
        if O::TRACES {
            let event = match incarnation {
                1 => Event::Start { incarnation },
                _ => Event::Restart { incarnation },
            };
            self.record(node, event, observer);
            self.record_leadership(node, observer);
        }
        if let Some(bytes) = stored {
            self.members.life(node).stored = Some(bytes);
        }
        self.settle(node, wake, observer);
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
        let peers = self.members.group(node);
        let now = self.members.clock(node).read(self.now);
        let Members { nodes, bars, streams, .. } = &mut self.members;
        let index = node as usize;
        let Some(state) = nodes[index].as_mut() else { return };
        let mut env = Env { now, peers: &peers, entropy: &mut streams[index] };
        let change = state.handle(input, &mut env, &self.params, &mut self.effects);
        bars[index] = state.bar();
        let wake = state.poll_timeout();
        if change == Change::Changed {
            observer.on_change(self.now, node, &state.leadership(now), cause);
            if O::TRACES {
                self.record_leadership(node, observer);
            }
        }
        self.settle(node, wake, observer);
    }

    /// Does what the last step asked for.
    #[inline]
    fn settle<O: Observer<P>>(&mut self, node: u32, wake: Instant, observer: &mut O) {
        if !self.effects.is_empty() {
            let mut effects = std::mem::take(&mut self.effects);
            for effect in effects.drain(..) {
                match effect {
                    Effect::Send(to, message) => self.send(node, to, message, observer),
                    Effect::Store(bytes) => {
                        if O::TRACES {
                            self.record(node, Event::Store { bytes: bytes.len() }, observer);
                        }
                        self.members.life(node).stored = Some(bytes);
                    }
                    Effect::Arm(..) | Effect::Disarm(_) => {}
                }
            }
            self.effects = effects;
        }
        self.members.wake_at(node, wake, self.now);
    }

    fn wake<O: Observer<P>>(&mut self, observer: &mut O) {
        let Some(node) = self.members.pop_wake() else { return };
        if !self.members.is_open(node) {
            return;
        }
        let now = self.members.clock(node).read(self.now);
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

/// Letters.
impl<P: Protocol> World<P> {
    fn send<O: Observer<P>>(&mut self, from: u32, to: Dest, message: P::Message, observer: &mut O) {
        let cause = self.post.stamp(from, self.now);
        observer.on_send(self.now, from, to, &message, cause.number);
        if O::TRACES {
            let (kind, number) = (Cow::Borrowed(message.kind()), u64::from(cause.number));
            let to = if let Dest::Node(node) = to { Some(node) } else { None };
            self.record(from, Event::Send { to, message: kind, number }, observer);
        }
        match to {
            Dest::Everyone if self.is_one_event() => self.post_to_all(message, cause, observer),
            Dest::Everyone => {
                let count = self.members.nodes.len() as u32;
                self.post_to_each(0..count, message, cause, true, observer);
            }
            Dest::Node(node) => match u32::try_from(node.0) {
                Ok(to) if (to as usize) < self.members.nodes.len() => {
                    self.post_to_each(to..to + 1, message, cause, false, observer);
                }
                _ => {} // nobody has that name
            },
        }
    }

    fn is_one_event(&self) -> bool {
        self.post.plain && self.post.cuts.is_empty() && !self.members.slowed
    }

    /// Posts a multicast as one event.
    fn post_to_all<O: Observer<P>>(&mut self, message: P::Message, cause: Cause, observer: &mut O) {
        let Delay::Constant(delay) = self.network.multicast.delay else { return };
        if O::TRACES {
            let (packet, loss) = (self.post.coins(cause), self.network.multicast.loss);
            for to in 0..self.members.nodes.len() as u32 {
                if to != cause.from && loss.strikes(packet, to, &mut false) {
                    self.record_loss(to, &message, cause, "loss", observer);
                }
            }
        }
        let letter = self.post.letters.insert(Letter { message, cause, left: 1 });
        self.post.push(self.now + delay, letter, EVERYONE);
    }

    /// Posts a message receiver by receiver.
    fn post_to_each<O: Observer<P>>(
        &mut self,
        receivers: std::ops::Range<u32>,
        message: P::Message,
        cause: Cause,
        multicast: bool,
        observer: &mut O,
    ) {
        let from = cause.from;
        let packet = self.post.coins(cause);
        let letter = self.post.letters.insert(Letter { message, cause, left: 0 });
        for to in receivers {
            if to == from && !multicast {
                self.post_copy(letter, to, Duration::ZERO); // to oneself: over no network
                continue;
            }
            if !self.network.topology.reaches(from, to) {
                continue;
            }
            let channel: &Channel =
                if multicast { &self.network.multicast } else { &self.network.unicast };
            let why = if self.post.cuts.severs(from, to) {
                Some("cut")
            } else {
                let bad = self.post.bad.get_mut(to as usize);
                match self.network.fate(channel, packet, from, to, bad.unwrap_or(&mut false)) {
                    Fate::Lost => Some("loss"),
                    Fate::Arrives(takes, again) => {
                        self.post_copy(letter, to, takes);
                        again.into_iter().for_each(|takes| self.post_copy(letter, to, takes));
                        None
                    }
                }
            };
            if O::TRACES
                && let Some(why) = why
            {
                let message = self.post.letters[letter].message.clone();
                self.record_loss(to, &message, cause, why, observer);
            }
        }
        if self.post.letters[letter].left == 0 {
            self.post.letters.remove(letter);
        }
    }

    fn post_copy(&mut self, letter: usize, to: u32, takes: Duration) {
        self.post.letters[letter].left += 1;
        let arrives = self.now + takes;
        let late = self.members.lateness(to, Instant::from_nanos(arrives.as_nanos()));
        self.post.push(arrives + late, letter, to);
    }

    fn deliver<O: Observer<P>>(&mut self, observer: &mut O) {
        let Some(parcel) = self.post.pop() else { return };
        let key = parcel.letter as usize;
        if parcel.to == EVERYONE {
            let letter = self.post.letters.remove(key);
            self.deliver_to_all(&letter, observer);
            return;
        }
        let letter = &mut self.post.letters[key];
        letter.left -= 1;
        let cause = letter.cause;
        let message = if letter.left == 0 {
            self.post.letters.remove(key).message
        } else {
            letter.message.clone()
        };
        self.deliver_to_one(parcel.to, message, cause, observer);
    }

    fn deliver_to_one<O: Observer<P>>(
        &mut self,
        to: u32,
        message: P::Message,
        cause: Cause,
        observer: &mut O,
    ) {
        if self.members.is_paused(to) {
            self.members.life(to).waiting.push((cause, message));
            return;
        }
        if !self.members.is_open(to) {
            return;
        }
        self.deliveries += 1;
        if O::TRACES {
            self.record_receipt(to, &message, cause, observer);
        }
        if message.weight() >= self.members.bars[to as usize] {
            let input = Input::Message(id(cause.from), Cow::Owned(message));
            self.step(to, input, Some(cause), observer);
        }
    }

    fn deliver_to_all<O: Observer<P>>(&mut self, letter: &Letter<P::Message>, observer: &mut O) {
        let Letter { message, cause, .. } = letter;
        let packet = self.post.coins(*cause);
        let Some(threshold) = self.network.multicast.loss.of_all(packet) else { return };
        let mut sieved = std::mem::take(&mut self.sieved);
        let question = Question {
            packet,
            threshold,
            weight: message.weight(),
            bars: &self.members.bars,
            open: &self.members.open,
        };
        sieve(self.arch, question, &mut sieved);
        let (word, lane) = (cause.from as usize / LANES, cause.from as usize % LANES);
        sieved[word].reached &= !(1 << lane);
        sieved[word].concerned &= !(1 << lane);
        for (word, &Sieved { reached, concerned }) in sieved.iter().enumerate() {
            self.deliveries += u64::from(reached.count_ones());
            let mut rest = if O::TRACES { reached } else { concerned };
            while rest != 0 {
                let lane = rest.trailing_zeros();
                rest &= rest - 1;
                let to = (word * LANES) as u32 + lane;
                if O::TRACES {
                    self.record_receipt(to, message, *cause, observer);
                }
                if concerned >> lane & 1 == 1 {
                    let input = Input::Message(id(cause.from), Cow::Borrowed(message));
                    self.step(to, input, Some(*cause), observer);
                }
            }
        }
        self.sieved = sieved;
        self.hand_to_paused(letter, threshold);
    }

    /// What arrives at a process that stands still waits for it.
    fn hand_to_paused(&mut self, letter: &Letter<P::Message>, threshold: u32) {
        let packet = self.post.coins(letter.cause);
        for (&node, life) in &mut self.members.lives {
            if life.paused && node != letter.cause.from && packet.loss(node) >= threshold {
                life.waiting.push((letter.cause, letter.message.clone()));
            }
        }
    }
}

/// What comes from outside.
impl<P: Protocol> World<P> {
    fn strike<O: Observer<P>>(&mut self, fault: &Fault, observer: &mut O) {
        match fault {
            Fault::Cut { from, to } => return self.post.cuts.add(from, to),
            Fault::Heal => return self.post.cuts.heal(),
            _ => {}
        }
        let Some(node) = fault.node().and_then(|who| self.find(who)) else { return };
        match (fault, self.node(node).is_some()) {
            (Fault::Join { .. }, false) => self.start(node, Disk::Kept, observer),
            (Fault::Restart { disk, .. }, false) => self.start(node, *disk, observer),
            (Fault::Join { .. } | Fault::Restart { .. }, true) | (_, false) => {}
            (_, true) => self.strike_one(node, fault, observer),
        }
    }

    /// The process that is meant. The leader is whoever most processes name first; the greatest of
    /// them if there are several.
    fn find(&self, who: Who) -> Option<u32> {
        if let Who::Node(node) = who {
            return Some(node);
        }
        let mut votes = BTreeMap::<u64, u32>::new();
        for (node, state) in self.members.nodes.iter().enumerate() {
            if let Some(state) = state
                && let [first, ..] = state.leadership(self.clock(node as u32)).leaders
            {
                *votes.entry(first.0).or_default() += 1;
            }
        }
        let most = votes.into_iter().max_by_key(|(id, votes)| (*votes, *id));
        most.and_then(|(id, _)| u32::try_from(id).ok())
    }

    fn strike_one<O: Observer<P>>(&mut self, node: u32, fault: &Fault, observer: &mut O) {
        match fault {
            Fault::Crash { .. } => self.remove(node, Event::Crash, observer),
            Fault::Pause { .. } => {
                self.members.life(node).paused = true;
                self.members.shut(node);
                self.record(node, Event::Pause, observer);
            }
            Fault::Resume { .. } => self.resume(node, observer),
            Fault::Slow { by, .. } => {
                self.members.life(node).slow = *by;
                self.members.slowed = true;
            }
            Fault::Drift { parts_per_billion, .. } => {
                let clock = self.members.clock(node).drifting(self.now, *parts_per_billion);
                self.set_clock(node, clock);
            }
            Fault::Jump { by, .. } => {
                let clock = self.members.clock(node).jumped(self.now, *by);
                self.set_clock(node, clock);
                self.record(node, Event::Jump { reads: clock.read(self.now) }, observer);
            }
            _ => {
                let Some(command) = fault.command() else { return };
                if self.members.is_paused(node) {
                    self.members.life(node).asked.push(command);
                } else {
                    self.command(node, command, observer);
                }
            }
        }
    }

    fn command<O: Observer<P>>(&mut self, node: u32, command: Command, observer: &mut O) {
        let peers = self.members.group(node);
        let now = self.members.clock(node).read(self.now);
        let Members { nodes, bars, streams, .. } = &mut self.members;
        let index = node as usize;
        let Some(state) = nodes[index].as_mut() else { return };
        let mut env = Env { now, peers: &peers, entropy: &mut streams[index] };
        let answer = state.command(command, &mut env, &self.params, &mut self.effects);
        bars[index] = state.bar();
        let wake = state.poll_timeout();
        let taken = answer.is_ok();
        if answer == Ok(Change::Changed) && command != Command::Leave {
            observer.on_change(self.now, node, &state.leadership(now), None);
        }
        if O::TRACES {
            self.record(node, Event::Command { command: format!("{command:?}"), taken }, observer);
        }
        self.settle(node, wake, observer);
        if command == Command::Leave {
            self.remove(node, Event::Leave, observer);
        } else if O::TRACES && answer == Ok(Change::Changed) {
            self.record_leadership(node, observer);
        }
    }

    fn remove<O: Observer<P>>(&mut self, node: u32, event: Event, observer: &mut O) {
        self.members.remove(node);
        observer.on_gone(self.now, node);
        self.record(node, event, observer);
    }

    fn resume<O: Observer<P>>(&mut self, node: u32, observer: &mut O) {
        let life = self.members.life(node);
        if !std::mem::take(&mut life.paused) {
            return;
        }
        let (waiting, asked) = (std::mem::take(&mut life.waiting), std::mem::take(&mut life.asked));
        self.members.reopen(node);
        self.record(node, Event::Resume, observer);
        for (cause, message) in waiting {
            self.deliver_to_one(node, message, cause, observer);
        }
        for command in asked {
            self.command(node, command, observer);
        }
        self.queue_again(node);
    }

    fn set_clock(&mut self, node: u32, clock: crate::clock::Clock) {
        self.members.clocks[node as usize] = clock;
        self.queue_again(node);
    }

    /// Its clock or its freedom changed: look at its deadline anew.
    fn queue_again(&mut self, node: u32) {
        if let Some(wake) = self.node(node).map(Node::poll_timeout) {
            let when = self.members.clock(node).when(wake).max(self.now);
            if wake != Instant::NEVER {
                self.members.queue(node, when);
            }
        }
    }
}

/// Records, for observers that want them.
impl<P: Protocol> World<P> {
    fn record<O: Observer<P>>(&self, node: u32, event: Event, observer: &mut O) {
        if O::TRACES {
            observer.on_record(Record { t: self.now, node: id(node), event });
        }
    }

    fn record_leadership<O: Observer<P>>(&self, node: u32, observer: &mut O) {
        let Some(state) = self.node(node) else { return };
        let Leadership { leaders, term, until, stage } = state.leadership(self.clock(node));
        let until = (until != Instant::NEVER).then_some(until);
        let event = Event::Leadership { leaders: leaders.to_vec(), term, until, stage };
        self.record(node, event, observer);
    }

    fn record_receipt<O: Observer<P>>(
        &self,
        to: u32,
        message: &P::Message,
        cause: Cause,
        observer: &mut O,
    ) {
        let (from, number, sent) = (id(cause.from), u64::from(cause.number), cause.sent);
        let message = Cow::Borrowed(message.kind());
        self.record(to, Event::Recv { from, message, number, sent }, observer);
    }

    fn record_loss<O: Observer<P>>(
        &self,
        to: u32,
        message: &P::Message,
        cause: Cause,
        why: &'static str,
        observer: &mut O,
    ) {
        if self.node(to).is_none() {
            return; // who is not there loses nothing
        }
        let (from, number, sent) = (id(cause.from), u64::from(cause.number), cause.sent);
        let message = Cow::Borrowed(message.kind());
        let why = Cow::Borrowed(why);
        self.record(to, Event::Drop { from, message, number, sent, why }, observer);
    }
}
