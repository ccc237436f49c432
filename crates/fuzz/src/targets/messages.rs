//! The messages of every protocol, given to a process that runs.
//!
//! An input is a byte that chooses the [group](Plot), and messages to its process 3.

use super::story::{Plot, Story, reads};
use crate::Target;
use bellwether::core::{Duration, Env, Instant, NodeId, Protocol, Seeded, Visitor, endpoint};
use bellwether::protocols::choice::{Choice, PROTOCOLS};

/// Settings beside the defaults that make other handlers run.
const MORE: &[(&str, &str, &str)] = &[
    ("local-leader", "local", r#"{"mode":"local"}"#),
    ("local-leader", "volatile", r#"{"tokens":"volatile"}"#),
    ("local-leader", "tree", r#"{"tree":1}"#),
    ("bully", "heartbeats", r#"{"detector":"heartbeats"}"#),
    ("ring", "heartbeats", r#"{"detector":"heartbeats"}"#),
    ("bully", "ask", r#"{"recovery":"ask"}"#),
    ("ad-hoc", "heartbeats", r#"{"detector":"heartbeats","leader-beat":"200ms"}"#),
    ("probabilistic", "gossip", r#"{"size":"gossip"}"#),
];

/// A protocol with settings, and the name of its target.
fn choices() -> impl Iterator<Item = (String, Choice)> {
    let usual = PROTOCOLS.iter().map(|entry| (entry.name, "", "{}"));
    usual.chain(MORE.iter().copied()).map(|(protocol, setting, json)| {
        let choice = Choice::from_json(protocol, json).expect("the settings are valid");
        let dash = if setting.is_empty() { "" } else { "-" };
        (format!("message-{protocol}{dash}{setting}"), choice)
    })
}

/// One target for each.
pub(super) fn targets() -> Vec<Target> {
    let target = |(name, choice): (String, Choice)| {
        let seeds = seeds(&choice);
        let read = move |bytes: &[u8]| choice.clone().visit(Hears { bytes });
        Target::new(name, "messages to a process that runs", read, seeds)
    };
    choices().map(target).collect()
}

/// Before each message: who sends it, how long after the one before, and its length.
const HEAD: usize = 5;
/// The most messages of one input.
const MESSAGES: usize = 12;

/// The messages of all stories: each alone, and four in a row.
fn seeds(choice: &Choice) -> Vec<Vec<u8>> {
    // The process hears them from who sent them, each some microseconds after the one before; what
    // it sent itself in the story it hears from the process before it.
    let framed = |(place, (from, bytes)): (usize, &(NodeId, Vec<u8>))| {
        let from = if from.0 == Plot::HEARER { Plot::HEARER - 1 } else { from.0 };
        let (who, wait) = (from as u8 - 1, (place % 32) as u8 * 7);
        [&[who, wait, 0][..], &(bytes.len() as u16).to_le_bytes(), bytes].concat()
    };
    let mut seeds = Vec::new();
    for (plot, number) in Plot::ALL.into_iter().zip(0_u8..) {
        let messages = choice.clone().visit(Story(plot));
        let each: Vec<Vec<u8>> = messages.iter().enumerate().map(framed).collect();
        let some = each.chunks(4).map(<[Vec<u8>]>::concat);
        let input = |messages: Vec<u8>| [&[number][..], &messages].concat();
        seeds.extend(each.iter().cloned().chain(some).map(input));
    }
    seeds
}

/// The messages in an input: sender, time since the one before, bytes. A sender may be a stranger.
fn messages(plot: Plot, mut bytes: &[u8]) -> impl Iterator<Item = (NodeId, Duration, &[u8])> {
    let next = move || {
        let (head, rest) = bytes.split_first_chunk::<HEAD>()?;
        let [who, wait, unit, low, high] = *head;
        let length = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
        let (message, after) = rest.split_at(length);
        bytes = after;
        let unit = [1_000, 1_000_000, 100_000_000, 10_000_000_000][usize::from(unit % 4)];
        let sender = NodeId(1 + u64::from(who) % (plot.size() + 1));
        Some((sender, Duration::from_nanos(u64::from(wait) * unit), message))
    };
    std::iter::from_fn(next).take(MESSAGES)
}

struct Hears<'a> {
    bytes: &'a [u8],
}

impl Visitor for Hears<'_> {
    type Output = bool;

    /// A process hears them; whether one could be read.
    fn visit<P: Protocol>(self, params: P::Params) -> bool {
        let Some((plot, bytes)) = self.bytes.split_first() else { return false };
        let plot = Plot::of(*plot);
        let peers = plot.others(Plot::HEARER);
        let (mut now, mut luck) = (Instant::ZERO + Duration::from_secs(1), Seeded::new(3));
        let mut env = Env { now, peers: &peers, entropy: &mut luck };
        let mut process = endpoint::<P>(plot.boot(Plot::HEARER, 9), &mut env, params);
        let mut any = false;
        for (sender, after, bytes) in messages(plot, bytes) {
            now += after;
            env.now = now;
            let readable = reads::<P>(bytes).is_some();
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;

    /// The kinds of the messages in an input.
    struct Kinds<'a>(&'a [u8]);

    impl Visitor for Kinds<'_> {
        type Output = Vec<&'static str>;

        fn visit<P: Protocol>(self, _: P::Params) -> Vec<&'static str> {
            let Some((plot, bytes)) = self.0.split_first() else { return Vec::new() };
            messages(Plot::of(*plot), bytes).filter_map(|told| reads::<P>(told.2)).collect()
        }
    }

    /// The kinds that a protocol can send with the settings of its target, by its code, if these
    /// are not simply all of its family: another setting or another member of its family sends
    /// the rest, or a layer below sends more.
    const SENT: &[(&[&str], &[&str])] = &[
        (&["le-a", "le-s", "le-m"], &["announce", "bye"]),
        (&["sup", "al", "sup-al-elect", "sup-al-limit", "sup-al-spread"], &["announce"]),
        (&["query", "suppress-query"], &["announce", "bye", "query"]),
        (
            &["local-leader"],
            &[
                "announcement",
                "election",
                "inquiry",
                "invite",
                "record",
                "release",
                "reply",
                "stamp",
                "standing",
            ],
        ),
        (
            &["local-leader-tree"],
            &[
                "announcement",
                "collation",
                "election",
                "inquiry",
                "invite",
                "record",
                "release",
                "reply",
                "stamp",
                "standing",
            ],
        ),
        // Its list of voters never changes.
        (
            &["local-leader-volatile"],
            &[
                "announcement",
                "election",
                "inquiry",
                "record",
                "release",
                "reply",
                "stamp",
                "standing",
            ],
        ),
        // It has neither lists nor records, and no order of processes.
        (&["local-leader-local"], &["election", "release", "reply", "stamp"]),
        (&["bully"], &["coordinator", "election", "ok", "resign"]),
        (&["bully-heartbeats"], &["ack", "coordinator", "election", "heartbeat", "ok", "resign"]),
        (&["bully-ask"], &["coordinator", "election", "leader", "ok", "query", "resign"]),
        (&["ring", "merea"], &["coordinator", "election"]),
        (&["ring-heartbeats"], &["ack", "coordinator", "election", "heartbeat"]),
        (&["chang-roberts"], &["announcement", "election"]),
        (&["hirschberg-sinclair"], &["announcement", "probe", "reply"]),
        (&["ad-hoc"], &["ack", "election", "leader"]),
        (&["ad-hoc-heartbeats"], &["ack", "election", "heartbeat", "leader"]),
        (&["probabilistic"], &["final", "initiate", "join", "prefer", "welcome", "withdraw"]),
        (
            &["probabilistic-gossip"],
            &["final", "gossip", "initiate", "join", "prefer", "welcome", "withdraw"],
        ),
    ];

    fn sent(name: &str) -> BTreeSet<&'static str> {
        let name = name.trim_start_matches("message-");
        if let Some((_, kinds)) = SENT.iter().find(|(names, _)| names.contains(&name)) {
            return kinds.iter().copied().collect();
        }
        let entry = PROTOCOLS.iter().find(|entry| entry.name == name);
        let entry = entry.unwrap_or_else(|| panic!("{name} has no row in SENT"));
        entry.family.messages().iter().map(|kind| kind.name).collect()
    }

    #[test]
    fn every_kind_of_message_that_a_protocol_sends_is_among_its_seeds() {
        for (name, choice) in choices() {
            let seeds = seeds(&choice);
            let kinds: BTreeSet<&str> =
                seeds.iter().flat_map(|seed| choice.clone().visit(Kinds(seed))).collect();
            println!("{name}: {} seeds, {kinds:?}", seeds.len());
            assert_eq!(kinds, sent(&name), "{name}");
        }
    }

    /// The names in the bodies of `fn kind` in these directories, tests left out.
    fn named(directories: &[&str]) -> BTreeSet<String> {
        let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../protocols/src"));
        let mut folders: Vec<_> = directories.iter().map(|name| source.join(name)).collect();
        let mut kinds = BTreeSet::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("the sources are there") {
                let path = entry.expect("the sources are there").path();
                if path.is_dir() && !path.ends_with("tests") {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "rs") {
                    let text = std::fs::read_to_string(&path).expect("the sources are there");
                    let bodies = text.split("fn kind(&self) -> &'static str {").skip(1);
                    let bodies = bodies.filter_map(|rest| rest.split("\n    }").next());
                    let quoted = bodies.flat_map(|body| body.split('"').skip(1).step_by(2));
                    kinds.extend(quoted.map(str::to_owned));
                }
            }
        }
        kinds
    }

    /// The directory of the family that a target is of, which is called like the family.
    fn directory(name: &str) -> String {
        let name = name.trim_start_matches("message-");
        let entries = PROTOCOLS.iter().filter(|entry| name.starts_with(entry.name));
        let entry = entries.max_by_key(|entry| entry.name.len()).expect("a target is of a row");
        let family = format!("{:?}", entry.family);
        let words = family.split('(').next().unwrap_or_default().char_indices();
        let snake = words.flat_map(|(at, letter)| {
            let between = (at > 0 && letter.is_uppercase()).then_some('_');
            between.into_iter().chain(letter.to_lowercase())
        });
        snake.collect()
    }

    #[test]
    fn the_table_has_every_kind_that_the_sources_name() {
        let mut families: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (name, _) in choices() {
            let kinds = families.entry(directory(&name)).or_default();
            kinds.extend(sent(&name).into_iter().map(str::to_owned));
        }
        for (family, kinds) in families {
            let layered = kinds.contains("heartbeat").then_some("detect");
            let directories: Vec<&str> = [family.as_str()].into_iter().chain(layered).collect();
            assert_eq!(kinds, named(&directories), "{directories:?}");
        }
    }
}
