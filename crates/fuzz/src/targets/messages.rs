//! The messages of every protocol, given to a process that runs.

use super::story::{SIZE, Story, others, reads};
use crate::Target;
use bellwether::core::{
    Boot, Duration, Env, Instant, Memory, NodeId, Protocol, Seeded, Visitor, endpoint,
};
use bellwether::protocols::choice::{Choice, PROTOCOLS};

/// Settings beside the defaults that make other handlers run.
const MORE: &[(&str, &str, &str)] = &[
    ("local-leader", "local", r#"{"mode":"local"}"#),
    ("local-leader", "volatile", r#"{"tokens":"volatile"}"#),
    ("bully", "heartbeats", r#"{"detector":"heartbeats"}"#),
    ("ring", "heartbeats", r#"{"detector":"heartbeats"}"#),
    ("probabilistic", "gossip", r#"{"size":"gossip"}"#),
];

/// One target for each.
pub(super) fn targets() -> Vec<Target> {
    let usual = PROTOCOLS.iter().map(|entry| (entry.name, "", "{}"));
    let all = usual.chain(MORE.iter().copied());
    let target = |(protocol, setting, json): (&'static str, &'static str, &'static str)| {
        let choice = Choice::from_json(protocol, json).ok()?;
        let name =
            format!("message-{protocol}{}{setting}", if setting.is_empty() { "" } else { "-" });
        let seeds = seeds(&choice.clone().visit(Story));
        let read = move |bytes: &[u8]| choice.clone().visit(Hears { bytes });
        Some(Target::new(name, "messages to a process that runs", read, seeds))
    };
    all.filter_map(target).collect()
}

/// Before each message: who sends it, how long after the one before, and its length.
const HEAD: usize = 5;
/// The most messages of one input.
const MESSAGES: usize = 12;

fn seeds(messages: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let framed = |(place, bytes): (usize, &Vec<u8>)| {
        let length = bytes.len() as u16;
        let head = [1 + place as u8 % 2, place as u8 * 7, 0];
        [&head[..], &length.to_le_bytes(), bytes].concat()
    };
    let each: Vec<Vec<u8>> = messages.iter().enumerate().map(framed).collect();
    let some = each.chunks(4).map(<[Vec<u8>]>::concat);
    each.iter().cloned().chain(some).collect()
}

/// The messages in an input: sender, time since the one before, bytes.
fn messages(mut bytes: &[u8]) -> impl Iterator<Item = (NodeId, Duration, &[u8])> {
    let next = move || {
        let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
        let [who, wait, unit, low, high] = *head;
        let length = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
        let (message, after) = rest.split_at(length);
        bytes = after;
        let unit = [1_000, 1_000_000, 100_000_000, 10_000_000_000][usize::from(unit % 4)];
        let sender = NodeId(1 + u64::from(who) % (SIZE + 1)); // one of them is a stranger
        Some((sender, Duration::from_nanos(u64::from(wait) * unit), message))
    };
    std::iter::from_fn(next).take(MESSAGES)
}

struct Hears<'a> {
    bytes: &'a [u8],
}

impl Visitor for Hears<'_> {
    type Output = bool;

    /// Process 3 hears them; whether one could be read.
    fn visit<P: Protocol>(self, params: P::Params) -> bool {
        let peers = others(SIZE);
        let (mut now, mut luck) = (Instant::ZERO + Duration::from_secs(1), Seeded::new(3));
        let mut env = Env { now, peers: &peers, entropy: &mut luck };
        let boot = Boot { incarnation: 9, memory: Memory::First, ..Boot::first(NodeId(SIZE)) };
        let mut process = endpoint::<P>(boot, &mut env, params);
        let mut any = false;
        for (sender, after, bytes) in messages(self.bytes) {
            now += after;
            env.now = now;
            let readable = reads::<P>(bytes);
            let heard = process.datagram(sender, bytes, &mut env).is_ok();
            assert_eq!(readable, heard, "what can be read is heard");
            any |= heard;
            process.timeout(&mut env);
            let outputs = std::iter::from_fn(|| process.poll_output()).count();
            assert!(outputs <= 64, "{outputs} answers to one message");
            assert!(process.leadership(now).until > now, "a belief that is over is not told");
        }
        any
    }
}
