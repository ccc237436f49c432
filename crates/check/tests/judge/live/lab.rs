//! A group in memory that records itself as live members do: real endpoints, one clock, a network
//! with delays and losses, and a driver that kills, stops and cuts.

use bellwether_check::live::Trace;
use bellwether_core::{
    BeliefTracer, Boot, Command, Dest, Duration, Endpoint, Entropy, Env, Event, Instant,
    LAST_NUMBER, LifeHeader, Members, Memory, NodeId, Output, Record, Seeded, SimTime, to_hex,
};
use bellwether_protocols::choice::{Choice, Config};
use bellwether_protocols::local_leader::{self, Mode};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The clock's reading at the start of a lab: no live clock begins at 0.
pub(crate) const START: u64 = 7_000_000_000_000;

/// Something on its way.
struct Packet {
    from: NodeId,
    message: &'static str,
    /// The sender's life.
    life: u64,
    number: u64,
    bytes: Vec<u8>,
}

/// One member.
struct Member {
    endpoint: Box<dyn Endpoint>,
    entropy: Seeded,
    told: BeliefTracer,
    life: u64,
    sent: u64,
    paused: bool,
}

/// The group, and all that was recorded.
pub(crate) struct Lab {
    pub(crate) now: u64,
    config: Config,
    protocol: &'static str,
    ids: Vec<NodeId>,
    boots: BTreeMap<NodeId, String>,
    members: BTreeMap<NodeId, Member>,
    lives: BTreeMap<NodeId, u64>,
    in_flight: BTreeMap<(u64, u64, NodeId), Packet>,
    sent_in_all: u64,
    luck: Seeded,
    /// One in so many messages is lost.
    pub(crate) loses: u64,
    severed: BTreeSet<(NodeId, NodeId)>,
    records: BTreeMap<NodeId, Vec<Record>>,
    faults: Vec<Record>,
}

impl Lab {
    /// So many members with leases, all started.
    pub(crate) fn leases(count: u64, mode: Mode, seed: u64) -> Self {
        let config = local_leader::Config { mode, ..local_leader::Config::default() };
        Self::new("local-leader", Config::LocalLeader(config), count, seed)
    }

    pub(crate) fn new(protocol: &'static str, config: Config, count: u64, seed: u64) -> Self {
        let ids: Vec<NodeId> = (1..=count).map(NodeId).collect();
        let mut lab = Self {
            now: START,
            config,
            protocol,
            boots: ids.iter().map(|id| (*id, "one machine".to_owned())).collect(),
            ids,
            members: BTreeMap::new(),
            lives: BTreeMap::new(),
            in_flight: BTreeMap::new(),
            sent_in_all: 0,
            luck: Seeded::new(seed),
            loses: 20,
            severed: BTreeSet::new(),
            records: BTreeMap::new(),
            faults: Vec::new(),
        };
        for id in lab.ids.clone() {
            lab.now += 1_000 + lab.luck.below(1_000_000);
            lab.start(id);
        }
        lab
    }

    /// Members on several machines.
    pub(crate) fn on_machines(&mut self, boots: &[&str]) {
        for (id, boot) in self.ids.iter().zip(boots) {
            self.boots.insert(*id, (*boot).to_owned());
        }
    }

    fn note(&mut self, node: NodeId, event: Event) {
        let t = SimTime::from_nanos(self.now);
        self.records.entry(node).or_default().push(Record { t, node, event });
    }

    fn fault(&mut self, node: NodeId, event: Event) {
        self.faults.push(Record { t: SimTime::from_nanos(self.now), node, event });
    }

    pub(crate) fn start(&mut self, id: NodeId) {
        self.start_with(id, Memory::Lost);
    }

    /// Starts a member with the record of one that never voted, by the operator's word.
    pub(crate) fn bootstrap(&mut self, id: NodeId) {
        let choice = Choice::try_from(self.config.clone()).expect("a valid configuration");
        let record = choice.founding_record().expect("its tokens are durable");
        self.start_with(id, Memory::Kept(&record));
    }

    fn start_with(&mut self, id: NodeId, memory: Memory<'_>) {
        let life = self.lives.entry(id).or_insert(0);
        *life += 1;
        let incarnation = 100 + *life;
        let seed = self.luck.next_u64();
        let others: Vec<NodeId> = self.ids.iter().copied().filter(|other| *other != id).collect();
        let head = LifeHeader {
            boot: self.boots[&id].clone(),
            group: "lab".to_owned(),
            protocol: self.protocol.to_owned(),
            params: self.config.to_json(),
            incarnation,
            rank: id.0,
            candidacy: Default::default(),
            members: others.clone(),
            founders: None,
            seed,
            memory: None,
            work: None,
        };
        self.note(id, Event::Begin(head));
        self.note(id, Event::Start { incarnation });
        let boot = Boot { incarnation, memory, ..Boot::first(id) };
        let mut entropy = Seeded::new(seed);
        let peers: Members = others.into_iter().collect();
        let now = Instant::from_nanos(self.now);
        let choice = Choice::try_from(self.config.clone()).expect("a valid configuration");
        let mut env = Env { now, peers: &peers, entropy: &mut entropy };
        let endpoint = choice.endpoint(boot, &mut env);
        let told = BeliefTracer::default();
        let (life, sent, paused) = (incarnation, 0, false);
        self.members.insert(id, Member { endpoint, entropy, told, life, sent, paused });
        self.finish(id);
    }

    pub(crate) fn crash(&mut self, id: NodeId) {
        self.members.remove(&id);
        self.fault(id, Event::Crash);
    }

    /// Somebody says that the present or last life of this member is over.
    pub(crate) fn release(&mut self, id: NodeId) {
        let life = 100 + self.lives[&id];
        let choice = Choice::try_from(self.config.clone()).expect("a valid configuration");
        let bytes = choice.last_will(life).expect("leases have one");
        for to in self.ids.clone().into_iter().filter(|to| *to != id) {
            let (message, bytes) = ("release", bytes.clone());
            self.send(to, Packet { from: id, message, life, number: LAST_NUMBER, bytes });
        }
    }

    /// A member is started and killed before its first record; its guardian has its will.
    pub(crate) fn start_in_vain(&mut self, id: NodeId) {
        *self.lives.entry(id).or_insert(0) += 1;
        self.release(id);
    }

    pub(crate) fn restart(&mut self, id: NodeId) {
        let incarnation = 101 + self.lives[&id];
        self.fault(id, Event::Restart { incarnation });
        self.start(id);
    }

    pub(crate) fn pause(&mut self, id: NodeId) {
        self.members.get_mut(&id).expect("it is there").paused = true;
        self.fault(id, Event::Pause);
    }

    pub(crate) fn resume(&mut self, id: NodeId) {
        self.members.get_mut(&id).expect("it is there").paused = false;
        self.fault(id, Event::Resume);
    }

    pub(crate) fn cut(&mut self, one: &[u64], other: &[u64]) {
        let ids = |ids: &[u64]| ids.iter().copied().map(NodeId).collect::<Vec<_>>();
        for (from, to) in [(ids(one), ids(other)), (ids(other), ids(one))] {
            for (a, b) in from.iter().flat_map(|a| to.iter().map(move |b| (*a, *b))) {
                self.severed.insert((a, b));
            }
            self.fault(from[0], Event::Cut { from, to });
        }
    }

    pub(crate) fn heal(&mut self) {
        self.severed.clear();
        self.fault(NodeId(1), Event::Heal);
    }

    pub(crate) fn command(&mut self, id: NodeId, command: Command) {
        let answer = self.act(id, |endpoint, env| endpoint.command(command, env));
        let taken = answer.is_ok();
        self.note(id, Event::Command { command: format!("{command:?}"), taken });
        self.finish(id);
        if command == Command::Leave {
            self.members.remove(&id);
            self.note(id, Event::Leave);
        }
    }

    pub(crate) fn leader(&self) -> Option<NodeId> {
        let now = Instant::from_nanos(self.now);
        let leads = |(id, member): (&NodeId, &Member)| {
            member.endpoint.leadership(now).names(*id).then_some(*id)
        };
        self.members.iter().find_map(leads)
    }

    fn act<T>(&mut self, id: NodeId, act: impl FnOnce(&mut dyn Endpoint, &mut Env<'_>) -> T) -> T {
        let peers: Members = self.ids.iter().copied().filter(|other| *other != id).collect();
        let member = self.members.get_mut(&id).expect("it is there");
        let now = Instant::from_nanos(self.now);
        let mut env = Env { now, peers: &peers, entropy: &mut member.entropy };
        act(&mut *member.endpoint, &mut env)
    }

    /// Sends what is to be sent and records the step, as a live member does.
    fn finish(&mut self, id: NodeId) {
        let mut member = self.members.remove(&id).expect("it is there");
        let now = Instant::from_nanos(self.now);
        let mut changed = false;
        while let Some(output) = member.endpoint.poll_output() {
            match output {
                Output::Store(bytes) => self.note(id, Event::Store { bytes: bytes.len() }),
                Output::Send { to, message, bytes } => {
                    let (life, number, all) = (member.life, member.sent, self.ids.clone());
                    member.sent += 1;
                    let to = match to {
                        Dest::Everyone => None,
                        Dest::Node(to) => Some(to),
                    };
                    let kind = Cow::Borrowed(message);
                    self.note(id, Event::Send { to, message: kind, number });
                    let there = |peer: &NodeId| *peer != id && to.is_none_or(|to| to == *peer);
                    for to in all.into_iter().filter(there) {
                        let bytes = bytes.clone();
                        self.send(to, Packet { from: id, message, life, number, bytes });
                    }
                }
                Output::Leadership => changed = true,
            }
        }
        let mut facts = Vec::new();
        member.endpoint.facts(now, &mut |fact| facts.push(fact));
        let leadership = member.endpoint.leadership(now);
        let mut news = Vec::new();
        member.told.tell(now, &leadership, &facts, changed, &mut |event| news.push(event));
        news.into_iter().for_each(|event| self.note(id, event));
        self.members.insert(id, member);
    }

    fn send(&mut self, to: NodeId, packet: Packet) {
        let lost = self.loses > 0 && self.luck.below(self.loses) == 0;
        let at = self.now + 50_000 + self.luck.below(1_500_000);
        if !lost && !self.severed.contains(&(packet.from, to)) {
            self.sent_in_all += 1;
            self.in_flight.insert((at, self.sent_in_all, to), packet);
        }
    }

    /// Lets so much time pass.
    pub(crate) fn run(&mut self, length: Duration) {
        let end = self.now + length.as_nanos();
        loop {
            let packet = self.in_flight.keys().copied().find(|(_, _, to)| !self.is_paused(*to));
            let awake = self.members.iter().filter(|(_, member)| !member.paused);
            let timers = awake.map(|(id, one)| (one.endpoint.poll_timeout().as_nanos(), *id));
            let timer = timers.min().unwrap_or((u64::MAX, NodeId(0)));
            let arrives = packet.map_or(u64::MAX, |(at, ..)| at);
            let next = arrives.min(timer.0);
            if next > end {
                self.now = end;
                return;
            }
            self.now = self.now.max(next) + 1; // nobody reacts at once
            match packet.filter(|_| arrives <= timer.0) {
                Some(key) => self.deliver(key),
                None => self.wake(timer.1),
            }
        }
    }

    fn is_paused(&self, id: NodeId) -> bool {
        self.members.get(&id).is_some_and(|member| member.paused)
    }

    fn deliver(&mut self, key: (u64, u64, NodeId)) {
        let to = key.2;
        let Some(packet) = self.in_flight.remove(&key) else { return };
        let Packet { from, message, life, number, bytes } = packet;
        if !self.members.contains_key(&to) {
            return;
        }
        let (sent, message) = (SimTime::from_nanos(self.now), Cow::Borrowed(message));
        let (life, body) = (Some(life), Some(to_hex(&bytes)));
        self.note(to, Event::Recv { from, message, number, sent, life, body });
        self.act(to, |endpoint, env| endpoint.datagram(from, &bytes, env)).expect("it is whole");
        self.finish(to);
    }

    fn wake(&mut self, id: NodeId) {
        let now = Instant::from_nanos(self.now);
        if let Some(timer) = self.members[&id].endpoint.due(now) {
            self.note(id, Event::Timer { timer });
        }
        self.act(id, |endpoint, env| endpoint.timeout(env));
        self.finish(id);
    }

    /// What each member recorded.
    pub(crate) fn traces(&self) -> Vec<Trace> {
        self.records.iter().map(|(id, records)| parsed(&format!("{id}.jsonl"), records)).collect()
    }

    /// What the driver did.
    pub(crate) fn faults(&self) -> Trace {
        parsed("faults.jsonl", &self.faults)
    }
}

/// Records as text.
pub(crate) fn text(records: &[Record]) -> String {
    let mut text = String::new();
    bellwether_sim::trace::to_json_lines(records, &mut text);
    text
}

/// Through a file's text and back, as in life.
pub(crate) fn parsed(name: &str, records: &[Record]) -> Trace {
    Trace::parse(name, text(records).as_bytes()).expect("what is recorded can be read")
}

pub(crate) fn records(trace: &Trace) -> Vec<Record> {
    trace.lines.iter().map(|line| line.record.clone()).collect()
}

/// The trace with its records changed.
pub(crate) fn changed(trace: &Trace, change: impl FnOnce(&mut Vec<Record>)) -> Trace {
    let mut records = records(trace);
    change(&mut records);
    parsed(&trace.name, &records)
}
