//! Small groups of processes behind bytes, to get messages that processes really send.
//!
//! **Assumptions.** A message arrives after one step, within every bound on delays. Nothing is
//! lost but what is sent to a process that is silent or gone.
//!
//! **Promise.** The stories of a protocol together have every kind of message that it can send; a
//! test in `messages.rs` says which those are.

use bellwether::core::{
    Boot, Candidacy, Command, Dest, Duration, Endpoint, Env, Instant, Members, Memory,
    Message as _, NodeId, Output, Protocol, Reach, Seeded, Visitor, endpoint,
};
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// How long a story is.
const LENGTH: Duration = Duration::from_secs(6);
/// The time between two steps, and between the sending of a message and its arrival. Leases are
/// given only if messages arrive within Δ, which is 10 ms by default.
const STEP: Duration = Duration::from_millis(1);
/// How many messages of each kind and length are kept. Those of one kind differ in length by what
/// they carry: lists of voters, supporters, a farewell.
const KEPT: usize = 2;
/// The most timers of a process in one step.
const TIMERS_MAX: usize = 16;

/// A group, and what befalls it beside the [commands](Group::command) that all groups are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plot {
    /// Three processes, the last of which falls silent.
    Usual,
    /// Three processes. One has a priority, and one is a witness that loses its disk.
    LostDisk,
    /// Eight processes, two of which vote. A third is added, and one is removed.
    Large,
}

impl Plot {
    pub(super) const ALL: [Self; 3] = [Self::Usual, Self::LostDisk, Self::Large];
    /// The process that hears the inputs.
    pub(super) const HEARER: u64 = 3;

    /// The one that a byte of an input chooses.
    pub(super) fn of(byte: u8) -> Self {
        Self::ALL[usize::from(byte) % Self::ALL.len()]
    }

    /// The processes of the group.
    pub(super) fn size(self) -> u64 {
        match self {
            Self::Usual | Self::LostDisk => 3,
            Self::Large => 8,
        }
    }

    /// The group as one process sees it.
    pub(super) fn others(self, me: u64) -> Members {
        let others = Members::from_iter((1..=self.size()).filter(|id| *id != me).map(NodeId));
        match self {
            Self::Usual | Self::LostDisk => others,
            Self::Large => others.founded_by(vec![NodeId(1), NodeId(2)]),
        }
    }

    /// A life of a process.
    pub(super) fn boot(self, id: u64, incarnation: u64) -> Boot<'static> {
        let first = Boot { incarnation, ..Boot::first(NodeId(id)) };
        if self != Self::LostDisk {
            return first;
        }
        let candidacy = match id {
            1 => Candidacy { priority: 7, witness: false },
            2 => Candidacy { priority: 0, witness: true },
            _ => Candidacy::default(),
        };
        let memory = if incarnation > 1 { Memory::Lost } else { Memory::First };
        Boot { candidacy, memory, ..first }
    }
}

/// The messages of a story, with their senders: of each kind and length a few.
pub(super) struct Story(pub(super) Plot);

impl Visitor for Story {
    type Output = Sent;

    fn visit<P: Protocol>(self, params: P::Params) -> Sent {
        let mut group = Group::<P>::start(self.0, params);
        let mut now = Instant::ZERO;
        let end = Instant::ZERO + LENGTH;
        while now < end {
            now += STEP;
            group.turn(now);
        }
        group.kept.into_values().flatten().collect()
    }
}

/// Messages, each with its sender.
type Sent = Vec<(NodeId, Vec<u8>)>;

/// A message on its way.
struct Packet {
    from: NodeId,
    to: NodeId,
    bytes: Vec<u8>,
}

struct Process {
    id: u64,
    endpoint: Box<dyn Endpoint>,
    luck: Seeded,
}

struct Group<P: Protocol> {
    plot: Plot,
    params: P::Params,
    processes: Vec<Process>,
    /// What arrives in the next step.
    packets: Vec<Packet>,
    /// By kind and length.
    kept: BTreeMap<(&'static str, usize), Sent>,
    protocol: PhantomData<P>,
}

impl<P: Protocol> Group<P> {
    fn start(plot: Plot, params: P::Params) -> Self {
        let (packets, kept) = (Vec::new(), BTreeMap::new());
        let processes = Vec::new();
        let mut group = Self { plot, params, processes, packets, kept, protocol: PhantomData };
        for id in 1..=plot.size() {
            let process = group.process(id, 1, Instant::ZERO);
            group.processes.push(process);
        }
        group
    }

    fn process(&self, id: u64, incarnation: u64, now: Instant) -> Process {
        let (mut luck, peers) = (Seeded::new(id), self.plot.others(id));
        let mut env = Env { now, peers: &peers, entropy: &mut luck };
        let boot = self.plot.boot(id, incarnation);
        let endpoint = endpoint::<P>(boot, &mut env, self.params.clone());
        Process { id, endpoint, luck }
    }

    /// All that happens in one step.
    fn turn(&mut self, now: Instant) {
        let after = now.since(Instant::ZERO).as_nanos() / 1_000_000;
        if self.plot == Plot::LostDisk && after == 2500 {
            self.processes[1] = self.process(2, 2, now);
        }
        let arrived = std::mem::take(&mut self.packets);
        let plot = self.plot;
        let is_gone = |id: u64| match id {
            1 => after > 5800, // it has left
            id => plot == Plot::Usual && id == plot.size() && after > 3000,
        };
        for Process { id, endpoint, luck } in &mut self.processes {
            if is_gone(*id) {
                continue;
            }
            let peers = plot.others(*id);
            let mut env = Env { now, peers: &peers, entropy: luck };
            for packet in arrived.iter().filter(|packet| packet.to.0 == *id) {
                let heard = endpoint.datagram(packet.from, &packet.bytes, &mut env);
                heard.expect("it was written by a process");
            }
            for command in commands(plot, *id, after) {
                let _ = endpoint.command(command, &mut env); // which most protocols do not know
            }
            if plot == Plot::Usual && after == 3100 {
                endpoint.peer(NodeId(plot.size()), Reach::Down, &mut env);
            }
            for _ in 0..TIMERS_MAX {
                if endpoint.poll_timeout() <= now {
                    endpoint.timeout(&mut env);
                }
            }
            while let Some(output) = endpoint.poll_output() {
                let Output::Send { to, message, bytes } = output else { continue };
                let kept = self.kept.entry((message, bytes.len())).or_default();
                let (from, all) = (NodeId(*id), (1..=plot.size()).map(NodeId));
                let is_new = kept.iter().all(|(_, other)| *other != bytes);
                if kept.len() < KEPT && is_new {
                    kept.push((from, bytes.clone()));
                }
                let meant = |to_one: &NodeId| match to {
                    Dest::Node(one) => *to_one == one,
                    Dest::Everyone => *to_one != from,
                };
                let packet = |to| Packet { from, to, bytes: bytes.clone() };
                self.packets.extend(all.filter(meant).map(packet));
            }
        }
    }
}

/// What a process is told to do so many milliseconds after the beginning.
fn commands(plot: Plot, id: u64, after: u64) -> Vec<Command> {
    let large = plot == Plot::Large;
    match after {
        500 if id == 1 => vec![Command::Campaign],
        1500 if id == 2 => vec![Command::Rank(9)],
        2000 | 5000 => vec![Command::Resign],
        2500 if large => vec![Command::Add(NodeId(3))],
        4000 if large => vec![Command::Remove(NodeId(2))],
        4500 => vec![Command::Transfer(NodeId(1)), Command::Transfer(NodeId(3))],
        5800 if id == 1 => vec![Command::Leave],
        _ => Vec::new(),
    }
}

/// The kind of the message that these bytes are, if they are one. It must then be written in the
/// same way.
pub(super) fn reads<P: Protocol>(bytes: &[u8]) -> Option<&'static str> {
    let mut reader = bellwether::core::Reader::new(bytes);
    let message = P::Message::decode(&mut reader).ok()?;
    reader.finish().ok()?;
    let mut again = Vec::new();
    message.encode(&mut again);
    assert_eq!(again, bytes, "{message:?} is written in one way");
    message.latest();
    Some(message.kind())
}
