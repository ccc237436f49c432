//! A small group of processes behind bytes, to get messages that processes really send.

use bellwether::core::{
    Boot, Command, Dest, Duration, Endpoint, Env, Instant, Members, Message as _, NodeId, Output,
    Protocol, Reach, Seeded, Visitor, endpoint,
};
use std::collections::BTreeMap;

/// The processes of a group.
pub(super) const SIZE: u64 = 3;
/// How long the story is.
const LENGTH: Duration = Duration::from_secs(6);
/// How many messages of each kind are kept.
const KEPT: usize = 3;

pub(super) fn others(me: u64) -> Members {
    Members::from_iter((1..=SIZE).filter(|id| *id != me).map(NodeId))
}

/// The messages of a story, by kind.
pub(super) struct Story;

impl Visitor for Story {
    type Output = Vec<Vec<u8>>;

    fn visit<P: Protocol>(self, params: P::Params) -> Vec<Vec<u8>> {
        let mut group = Group::<P>::start(&params);
        let mut now = Instant::ZERO;
        let end = Instant::ZERO + LENGTH;
        while now < end {
            now += Duration::from_millis(5);
            group.turn(now);
        }
        group.kept.into_values().flatten().collect()
    }
}

struct Group<P: Protocol> {
    processes: Vec<(NodeId, Box<dyn Endpoint>, Seeded)>,
    /// What is under way: when it arrives, from whom, to whom.
    letters: Vec<(Instant, NodeId, NodeId, Vec<u8>)>,
    kept: BTreeMap<&'static str, Vec<Vec<u8>>>,
    protocol: std::marker::PhantomData<P>,
}

impl<P: Protocol> Group<P> {
    fn start(params: &P::Params) -> Self {
        let process = |id: u64| {
            let mut luck = Seeded::new(id);
            let peers = others(id);
            let mut env = Env { now: Instant::ZERO, peers: &peers, entropy: &mut luck };
            let endpoint = endpoint::<P>(Boot::first(NodeId(id)), &mut env, params.clone());
            (NodeId(id), endpoint, luck)
        };
        let processes = (1..=SIZE).map(process).collect();
        let protocol = std::marker::PhantomData;
        Self { processes, letters: Vec::new(), kept: BTreeMap::new(), protocol }
    }

    /// Commands at two moments, a process that falls silent, and all that follows from them.
    fn turn(&mut self, now: Instant) {
        let at = |ms| now == Instant::ZERO + Duration::from_millis(ms);
        let due = |letter: &(Instant, NodeId, NodeId, Vec<u8>)| letter.0 <= now;
        let (arrived, on_way) = std::mem::take(&mut self.letters).into_iter().partition(due);
        self.letters = on_way;
        let arrived: Vec<(Instant, NodeId, NodeId, Vec<u8>)> = arrived;
        let silent = now > Instant::ZERO + Duration::from_secs(3);
        for (id, process, luck) in &mut self.processes {
            if silent && id.0 == SIZE {
                continue;
            }
            let peers = others(id.0);
            let mut env = Env { now, peers: &peers, entropy: luck };
            for (_, from, _, bytes) in arrived.iter().filter(|(_, _, to, _)| to == id) {
                process.datagram(*from, bytes, &mut env).expect("it was written by a process");
            }
            if at(500) && id.0 == 1 {
                let _ = process.command(Command::Campaign, &mut env);
            }
            if at(2000) || at(5000) {
                let _ = process.command(Command::Resign, &mut env);
            }
            if at(3100) {
                process.peer(NodeId(SIZE), Reach::Down, &mut env);
            }
            process.timeout(&mut env);
            while let Some(output) = process.poll_output() {
                let Output::Send { to, message, bytes } = output else { continue };
                let kept = self.kept.entry(message).or_default();
                if kept.len() < KEPT && !kept.contains(&bytes) {
                    kept.push(bytes.clone());
                }
                let arrives = now + Duration::from_millis(1);
                let receivers: Vec<NodeId> = match to {
                    Dest::Node(id) => vec![id],
                    Dest::Everyone => (1..=SIZE).map(NodeId).filter(|to| to != id).collect(),
                };
                let letter = |to| (arrives, *id, to, bytes.clone());
                self.letters.extend(receivers.into_iter().map(letter));
            }
        }
    }
}

/// Whether these bytes are a message, which must then be written in the same way.
pub(super) fn reads<P: Protocol>(bytes: &[u8]) -> bool {
    let mut reader = bellwether::core::Reader::new(bytes);
    let Ok(message) = P::Message::decode(&mut reader) else { return false };
    if reader.finish().is_err() {
        return false;
    }
    let mut again = Vec::new();
    message.encode(&mut again);
    assert_eq!(again, bytes, "{message:?} is written in one way");
    message.latest();
    true
}
