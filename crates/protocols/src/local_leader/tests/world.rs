//! A group in a world with every fault of a network, a scheduler and clocks.
//!
//! Clocks have their own rates, within ρ, and start anew with every incarnation. In the *storm* a
//! message comes at any time, in any order, several times or never, and is called fast or slow at
//! random: safety must not depend on that. Timers fire at any time after they are due, processes
//! crash and restart, applications give any command. In the *calm* all of that is over: every
//! message takes less than Δ, and is known to, and every timer fires when it is due.

use super::*;
use crate::testing::others;
use bellwether_core::harness::Scripted;
use bellwether_core::{Entropy, Members, Seeded, Term};

/// The clock of one incarnation.
#[derive(Clone, Copy, Debug)]
struct Clock {
    /// What it read when that incarnation began, and when that was.
    offset: u64,
    start: u64,
    /// How much it advances in a million nanoseconds.
    rate: u64,
}

impl Clock {
    fn read(self, time: u64) -> Instant {
        let advanced = u128::from(time - self.start) * u128::from(self.rate) / 1_000_000;
        Instant::from_nanos(self.offset + advanced as u64)
    }

    /// The first time at which it reads this or more.
    fn when(self, at: Instant) -> u64 {
        let ahead = u128::from(at.as_nanos().saturating_sub(self.offset));
        self.start + (ahead * 1_000_000).div_ceil(u128::from(self.rate)) as u64
    }
}

/// A process, dead or alive.
struct Member {
    id: NodeId,
    clock: Clock,
    params: Params,
    lives: u64,
    process: Option<Process>,
    /// What it stored, and whether that was lost since.
    disk: Option<Vec<u8>>,
    lost: bool,
}

impl Member {
    /// When its next timer is due.
    fn due(&self) -> Option<u64> {
        let node = self.process.as_ref()?.node();
        let at = node.deadline(Timer::Ask).min(node.deadline(Timer::Count));
        (at != Instant::NEVER).then(|| self.clock.when(at))
    }

    /// When its current belief ends.
    fn lapse(&self, time: u64) -> Option<u64> {
        let until = self.process.as_ref()?.node().leadership(self.clock.read(time)).until;
        (until != Instant::NEVER).then(|| self.clock.when(until))
    }
}

/// A message in flight. When it is due matters only in the calm.
#[derive(Clone)]
struct UnderWay {
    due: u64,
    from: NodeId,
    to: NodeId,
    packet: Packet,
}

/// The whole world.
pub(super) struct World {
    luck: Seeded,
    time: u64,
    members: Vec<Member>,
    post: Vec<UnderWay>,
    /// How often a process began to lead.
    pub(super) reigns: u64,
    /// Time moves by multiples of this in the storm. If it is coarse, much happens at one instant.
    grain: u64,
    stormy: bool,
    /// The processes that no message reaches.
    pub(super) deaf: Option<NodeId>,
    /// Whether records are lost, of fewer processes at a time than could keep a majority from
    /// having theirs.
    pub(super) forgetful: bool,
    /// If voters change: how many of the first members vote at first.
    founders: Option<u64>,
    /// If voters change: whether two processes led at once.
    pub(super) two: bool,
    /// If lockTime changes, too: the luck by which it does.
    pub(super) lengths: Option<Seeded>,
    /// How often a new list was stored.
    pub(super) changes: u64,
    /// The last leader, its incarnation and its token.
    last: Option<(NodeId, u64, u64)>,
    /// The first token that did not grow.
    pub(super) reused: Option<u64>,
}

const MS: u64 = 1_000_000;
/// In the storm the oldest messages beyond this many are forgotten.
const POST_MAX: usize = 60;
/// In the calm a message takes less.
const DELAY: u64 = 9 * MS;

impl World {
    /// A group of `n`, each with the parameters that `params` gives it.
    pub(super) fn new(seed: u64, n: u64, params: impl Fn(u64) -> Params) -> Self {
        Self::founded(seed, n, None, params)
    }

    /// The same, in which the first so many vote at first, and then others.
    pub(super) fn founded(
        seed: u64,
        n: u64,
        founders: Option<u64>,
        params: impl Fn(u64) -> Params,
    ) -> Self {
        let mut luck = Seeded::new(seed);
        let grain = if luck.below(2) == 0 { 1 } else { 10 * MS };
        let member = |id| {
            let params = params(id);
            let drift = u64::from(params.drift_ppm());
            let rate = match luck.below(3) {
                0 => 1_000_000 - drift,
                1 => 1_000_000 + drift,
                _ => 1_000_000 - drift + luck.below(2 * drift + 1),
            };
            let clock = Clock { offset: 0, start: 0, rate };
            let (process, disk) = (None, None);
            Member { id: NodeId(id), clock, params, lives: 0, process, disk, lost: false }
        };
        let members = (1..=n).map(member).collect();
        let mut world = Self {
            luck,
            time: 0,
            members,
            post: Vec::new(),
            reigns: 0,
            grain,
            stormy: true,
            deaf: None,
            forgetful: false,
            founders,
            two: false,
            lengths: None,
            changes: 0,
            last: None,
            reused: None,
        };
        (0..n as usize).for_each(|index| world.begin(index));
        world
    }

    /// Starts a process, for the first time or again, with a clock that is often behind the last.
    fn begin(&mut self, index: usize) {
        let (offset, n) = (self.luck.below(10) * self.grain, self.members.len() as u64);
        if self.forgetful && self.one_in(2) {
            self.lose(index);
        }
        let member = &mut self.members[index];
        (member.clock.offset, member.clock.start) = (offset, self.time);
        member.lives += 1;
        let memory = match &member.disk {
            Some(bytes) => Memory::Kept(bytes),
            None if member.lost => Memory::Lost,
            None => Memory::First,
        };
        let boot = Boot { incarnation: member.lives, memory, ..Boot::first(member.id) };
        let (now, peers) = (member.clock.read(self.time), others(member.id.0, n));
        let mut peers: Members = peers.into_iter().collect();
        if let Some(founders) = self.founders {
            peers = peers.founded_by((1..=founders).map(NodeId).collect());
        }
        let process = Process::begin(boot, member.params.clone(), peers, now, Scripted::default());
        member.process = Some(process);
        self.send(index);
    }

    /// Loses what a process stored, or half of it.
    fn lose(&mut self, index: usize) {
        let keeps = |member: &Member| match &member.process {
            Some(process) => process.state().0.stored.is_some(),
            None => !member.lost,
        };
        let others = || self.members.iter().enumerate().filter(|(at, _)| *at != index);
        let kept = others().filter(|(_, member)| keeps(member)).count();
        // Whoever founds again would do so beside a majority of the founders that has records.
        let founders = self.founders.unwrap_or(0) as usize;
        let founding = others().filter(|(at, member)| *at < founders && keeps(member)).count();
        let safe = index >= founders || founding * 2 > founders;
        if kept * 2 > self.members.len() && safe {
            let torn = self.one_in(2);
            let member = &mut self.members[index];
            let half = |bytes: Vec<u8>| bytes[..bytes.len() / 2].to_vec();
            member.disk = member.disk.take().filter(|_| torn).map(half);
            member.lost = true;
        }
    }

    /// Stops a process.
    pub(super) fn kill(&mut self, id: NodeId) {
        self.members[index_of(id)].process = None;
    }

    /// Stops a process while it sends: each of its messages that has not arrived is lost with even
    /// odds.
    pub(super) fn kill_half_way(&mut self, id: NodeId) {
        self.kill(id);
        for at in (0..self.post.len()).rev() {
            if self.post[at].from == id && self.one_in(2) {
                self.post.remove(at);
            }
        }
    }

    /// Whether a message of this process is under way.
    pub(super) fn is_sending(&self, id: NodeId) -> bool {
        self.post.iter().any(|message| message.from == id)
    }

    /// Lets something happen to a process; nothing if it is dead.
    fn step(&mut self, index: usize, act: impl FnOnce(&mut Process)) {
        let member = &mut self.members[index];
        let Some(process) = &mut member.process else { return };
        process.set_clock(member.clock.read(self.time));
        let led = process.leadership().names(member.id);
        act(process);
        let Leadership { term, .. } = process.leadership();
        let leads = process.leadership().names(member.id);
        self.reigns += u64::from(!led && leads);
        if let Some(token) = term.map(Term::number).filter(|_| leads) {
            let reign = (member.id, member.lives);
            let grows = self.last.is_none_or(|(node, life, last)| {
                token > last || (led && reign == (node, life) && token == last)
            });
            self.last = Some((reign.0, reign.1, token));
            self.reused = self.reused.or((!grows).then_some(token));
        }
        self.send(index);
        self.two |= self.founders.is_some() && self.leaders().len() > 1;
    }

    fn wake(&mut self, index: usize) {
        self.step(index, |process| _ = process.timeout());
    }

    fn command(&mut self, index: usize, command: Command) {
        self.step(index, |process| _ = process.command(command)); // which may be refused
        if command == Command::Leave {
            self.members[index].process = None;
        }
    }

    fn arrive(&mut self, UnderWay { from, to, packet, .. }: UnderWay) {
        self.step(index_of(to), |process| _ = process.message(from.0, packet));
    }

    /// Sends what the last step of a process asked for.
    fn send(&mut self, index: usize) {
        let member = &mut self.members[index];
        for effect in member.process.iter().flat_map(Process::effects) {
            if let Effect::Store(bytes) = effect {
                let list = Stored::decode(&bytes).and_then(|(_, list)| list);
                self.changes += u64::from(list.is_some_and(|list| list.committed));
                (member.disk, member.lost) = (Some(bytes), false);
            }
        }
        let member = &self.members[index];
        let (from, Some(process)) = (member.id, &member.process) else { return };
        for (to, packet) in process.sends() {
            for peer in self.members.iter().map(|member| member.id) {
                let reached = to == Dest::Everyone || to == Dest::Node(peer);
                if reached && peer != from && Some(peer) != self.deaf {
                    let due = self.time + self.luck.below(DELAY);
                    let packet = Packet { bound: Some(ms(9)), ..packet.clone() };
                    self.post.push(UnderWay { due, from, to: peer, packet });
                }
            }
        }
        if self.stormy && self.post.len() > POST_MAX {
            self.post.drain(..self.post.len() - POST_MAX);
        }
    }
}

/// The storm.
impl World {
    /// One random event. Without laws there are commands too.
    pub(super) fn storm(&mut self, lawless: bool) {
        let index = self.luck.below(self.members.len() as u64) as usize;
        match self.luck.below(64) {
            0..8 => self.pass(3),
            8..14 => self.pass(8 * MS),
            14..16 => self.pass(100 * MS),
            16..36 => self.ring(index),
            36..56 => self.deliver(),
            56..62 if self.founders.is_some() && self.one_in(2) => self.change(),
            56..58 if lawless => self.command(index, Command::Campaign),
            58 if lawless => {
                let (priority, witness) = (self.luck.below(3) as u32, self.one_in(2));
                self.command(index, Command::Candidacy(Candidacy { priority, witness }));
            }
            59 if lawless => {
                let nominee = NodeId(1 + self.luck.below(self.members.len() as u64));
                self.command(index, Command::Transfer(nominee));
            }
            60..62 if lawless => self.command(index, Command::Resign),
            62 if lawless && self.one_in(4) => self.command(index, Command::Leave),
            63 if self.one_in(4) => {
                if self.members[index].process.is_none() || self.one_in(2) {
                    self.begin(index);
                } else {
                    self.members[index].process = None;
                }
            }
            _ => {}
        }
    }

    /// A random change of the voters, which may be refused; and often a short calm, in which it
    /// may be made.
    fn change(&mut self) {
        let Some((leader, _)) = self.leaders().pop() else { return };
        let count = self.members.len() as u64;
        let mut any = || NodeId(1 + self.luck.below(count));
        let (one, other) = (any(), any());
        let command = match self.luck.below(3) {
            0 => Command::Add(one),
            1 => Command::Remove(one),
            _ => Command::Replace(one, other),
        };
        let lock = self.lengths.as_mut().and_then(|luck| {
            let lock = ms(100 + 10 * luck.below(30));
            (luck.below(2) == 0).then_some(lock)
        });
        let command = lock.map_or(command, |lock| Command::Lengths(Some(lock), None));
        self.command(index_of(leader), command);
        if !self.one_in(3) {
            let length = Duration::from_nanos(self.luck.below(80 * MS));
            self.calm(length);
            self.stormy = true;
        }
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.luck.below(n) == 0
    }

    /// Less time than this passes.
    fn pass(&mut self, limit: u64) {
        self.time += self.luck.below(limit.div_ceil(self.grain).max(2)) * self.grain;
    }

    /// Time may advance to a process's next timer, or to the very end of a belief, or a nanosecond
    /// to either side. Then one process handles what is due.
    fn ring(&mut self, index: usize) {
        let next = if self.one_in(2) {
            self.members.iter().filter_map(Member::due).min().map(|due| due + self.luck.below(2))
        } else if self.one_in(4) {
            let lapse = self.members[index].lapse(self.time);
            lapse.map(|lapse| lapse + self.luck.below(3) - 1)
        } else {
            None
        };
        if let Some(next) = next.filter(|next| *next < self.time + 200 * MS) {
            self.time = self.time.max(next);
        }
        self.wake(index);
    }

    /// Some message arrives, usually one of the last few; perhaps not for the last time.
    fn deliver(&mut self) {
        let Some(last) = self.post.len().checked_sub(1) else { return };
        let any = self.luck.below(self.post.len() as u64) as usize;
        let choice = if self.one_in(2) { last - any.min(4) } else { any };
        let again = self.one_in(4);
        let mut message = if again { self.post[choice].clone() } else { self.post.remove(choice) };
        message.packet.bound = (!self.one_in(12)).then_some(Duration::ZERO);
        self.arrive(message);
    }
}

/// The calm.
impl World {
    /// Ends the storm: messages in flight become slow, dead processes restart, and all are ordinary
    /// ones.
    pub(super) fn end_storm(&mut self) {
        self.stormy = false;
        for index in 0..self.members.len() {
            self.command(index, Command::Candidacy(Candidacy::default()));
        }
        for under_way in &mut self.post {
            under_way.due = self.time + self.luck.below(50 * MS);
            under_way.packet.bound = None;
        }
        for index in 0..self.members.len() {
            if self.members[index].process.is_none() {
                self.begin(index);
            }
        }
    }

    /// Everything happens in time for this long.
    pub(super) fn calm(&mut self, length: Duration) {
        self.stormy = false;
        let end = self.time + length.as_nanos();
        loop {
            let post = self.post.iter().enumerate().map(|(at, message)| (message.due, 1, at));
            let timers = self.members.iter().enumerate();
            let timers = timers.filter_map(|(at, member)| Some((member.due()?, 0, at)));
            let Some((due, kind, at)) = timers.chain(post).min().filter(|next| next.0 <= end)
            else {
                break;
            };
            self.time = self.time.max(due);
            if kind == 0 {
                self.wake(at);
            } else {
                let message = self.post.remove(at);
                self.arrive(message);
            }
        }
        self.time = end;
    }
}

/// What is visible from outside.
impl World {
    /// All leaders, each with its supporters.
    pub(super) fn leaders(&self) -> Vec<(NodeId, Vec<NodeId>)> {
        let leaders = self.members.iter().filter_map(|member| {
            let (now, node) = (member.clock.read(self.time), member.process.as_ref()?.node());
            let mut supporters = Vec::new();
            node.facts(now, &mut |fact| {
                if let Fact::Supporter { peer } = fact {
                    supporters.push(peer);
                }
            });
            node.leadership(now).names(member.id).then_some((member.id, supporters))
        });
        leaders.collect()
    }

    /// The process that a process is locked to; none if it is dead.
    pub(super) fn locked(&self, id: NodeId) -> Option<NodeId> {
        let member = &self.members[index_of(id)];
        let mut locked = None;
        member.process.as_ref()?.node().facts(member.clock.read(self.time), &mut |fact| {
            if let Fact::Locked { to, .. } = fact {
                locked = Some(to);
            }
        });
        locked
    }
}

fn index_of(id: NodeId) -> usize {
    id.0 as usize - 1
}
