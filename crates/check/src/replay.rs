//! Replays a recorded incarnation in memory: the same protocol with the same parameters, stored
//! state, seed, clock readings, messages and commands must do the same. So the code that ran live
//! is the code that is simulated.
//!
//! **What is compared.** In every step: the timer that fired, the kind of the message, whether a
//! command was accepted, what was stored and sent to which process, the belief after it and the
//! facts recorded with it. Not the frame numbers, which the protocol does not choose.

use crate::live::{BadTrace, Life, Line, Trace, lives, opens};
use bellwether_core::{
    BeliefTracer, Boot, Candidacy, Command, Dest, Endpoint, Env, Event, Instant, Members, Memory,
    NodeId, Output, Seeded, from_hex,
};
use bellwether_protocols::choice::Choice;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::str::FromStr;

/// The result of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// How many steps were equal.
    pub steps: u64,
    /// How many incarnations they belong to.
    pub lives: u64,
    /// The first difference.
    pub divergence: Option<Divergence>,
}

/// A difference between a replay and the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The file and the line.
    pub place: String,
    /// What was recorded.
    pub recorded: String,
    /// What the replay did.
    pub replayed: String,
}

/// Replays all incarnations, up to the first divergence.
///
/// # Errors
/// [`BadTrace`] if the traces lack what a replay needs.
pub fn replay(traces: &[Trace]) -> Result<Replay, BadTrace> {
    let mut replay = Replay::default();
    for life in lives(traces)? {
        replay.lives += 1;
        let mut again = Again::begin(&life)?;
        for line in &life.lines {
            if let Err(stop) = again.read(line) {
                let place = format!("{}:{}", life.file, line.number);
                return match stop {
                    Stop::Bad(problem) => Err(BadTrace { place, problem }),
                    Stop::Other { recorded, replayed } => {
                        replay.steps += again.steps;
                        replay.divergence = Some(Divergence { place, recorded, replayed });
                        Ok(replay)
                    }
                };
            }
        }
        replay.steps += again.steps;
    }
    Ok(replay)
}

/// Why a replay stops.
enum Stop {
    /// The trace is incomplete or invalid.
    Bad(String),
    /// The replay differs from the record.
    Other { recorded: String, replayed: String },
}

impl Stop {
    fn other(recorded: &Event, replayed: Option<&Event>) -> Self {
        let replayed = replayed.map_or_else(|| "did nothing more".to_owned(), words);
        Self::Other { recorded: words(recorded), replayed }
    }
}

/// An event as a line of a trace.
fn words(event: &Event) -> String {
    serde_json::to_string(event).unwrap_or_else(|_| format!("{event:?}"))
}

/// An incarnation that is replayed.
struct Again {
    endpoint: Box<dyn Endpoint>,
    entropy: Seeded,
    members: Members,
    told: BeliefTracer,
    /// Events of the replay that are not compared yet.
    done: VecDeque<Event>,
    steps: u64,
}

impl Again {
    fn begin(life: &Life<'_>) -> Result<Self, BadTrace> {
        let line = life.lines.first().map_or(0, |line| line.number);
        let bad = |problem: String| BadTrace::at(life.file, line, problem);
        let head = life.head;
        let choice = Choice::from_json(&head.protocol, &head.params)
            .map_err(|error| bad(error.to_string()))?;
        let kept = head.memory.as_ref().map(|digits| {
            from_hex(digits).ok_or_else(|| bad("memory is not in hexadecimal digits".to_owned()))
        });
        let kept = kept.transpose()?;
        let memory = kept.as_deref().map_or(Memory::Lost, Memory::Kept);
        let (incarnation, rank, candidacy) = (head.incarnation, head.rank, head.candidacy);
        let boot = Boot { me: life.node, incarnation, rank, candidacy, memory };
        let mut entropy = Seeded::new(head.seed);
        let mut members: Members = head.members.iter().copied().collect();
        if let Some(founders) = &head.founders {
            members = members.founded_by(founders.clone());
        }
        let now = Instant::from_nanos(life.begins().as_nanos());
        let mut env = Env { now, peers: &members, entropy: &mut entropy };
        let endpoint = choice.endpoint(boot, &mut env);
        let done = VecDeque::from([Event::Start { incarnation }]);
        let mut again =
            Self { endpoint, entropy, members, told: BeliefTracer::default(), done, steps: 1 };
        again.finish(now);
        Ok(again)
    }

    /// Compares one record with the replay, or applies its input.
    fn read(&mut self, line: &Line) -> Result<(), Stop> {
        let (now, event) = (Instant::from_nanos(line.record.t.as_nanos()), &line.record.event);
        if matches!(event, Event::Begin(_)) {
            return Ok(());
        }
        if opens(event) {
            // An incarnation may end in the middle of a step, for example when a disk fails.
            if let Some(untold) = self.done.front().filter(|_| *event != Event::Leave) {
                return Err(Stop::other(event, Some(untold)));
            }
            self.act(now, event)?;
            self.steps += 1;
            return Ok(());
        }
        // The only reason to wake a process may be that its belief ends.
        if self.done.is_empty()
            && self.endpoint.poll_timeout() <= now
            && self.endpoint.due(now).is_none()
        {
            self.with_env(now, |endpoint, env| endpoint.timeout(env));
            self.finish(now);
        }
        match self.done.pop_front() {
            Some(did) if same(&did, event) => Ok(()),
            did => Err(Stop::other(event, did.as_ref())),
        }
    }

    /// Applies a recorded input.
    fn act(&mut self, now: Instant, event: &Event) -> Result<(), Stop> {
        let mut also = event.clone();
        match &mut also {
            Event::Recv { from, message, body, .. } => {
                let Some(body) = body.as_deref().and_then(from_hex) else {
                    return Err(Stop::Bad("the message's body is not recorded".to_owned()));
                };
                let from = *from;
                *message = self
                    .with_env(now, |endpoint, env| endpoint.datagram(from, &body, env))
                    .map_or(Cow::Borrowed("malformed"), Cow::Borrowed);
            }
            Event::Timer { timer } => {
                *timer = self.endpoint.due(now).unwrap_or_else(|| "none is due".to_owned());
                self.with_env(now, |endpoint, env| endpoint.timeout(env));
            }
            Event::Command { command, taken } => {
                let Some(command) = to_command(command) else {
                    return Err(Stop::Bad(format!("'{command}' is no command")));
                };
                let answer = self.with_env(now, |endpoint, env| endpoint.command(command, env));
                *taken = answer.is_ok();
            }
            Event::Peers { members } => {
                self.members = self.members.with(members.iter().copied());
                return Ok(());
            }
            _ => return Ok(()),
        }
        self.finish(now);
        if also == *event { Ok(()) } else { Err(Stop::other(event, Some(&also))) }
    }

    fn with_env<T>(
        &mut self,
        now: Instant,
        act: impl FnOnce(&mut dyn Endpoint, &mut Env<'_>) -> T,
    ) -> T {
        let mut env = Env { now, peers: &self.members, entropy: &mut self.entropy };
        act(&mut *self.endpoint, &mut env)
    }

    /// Collects the outputs of a step and the belief after it, as a recorder does.
    fn finish(&mut self, now: Instant) {
        let mut changed = false;
        while let Some(output) = self.endpoint.poll_output() {
            match output {
                Output::Store(bytes) => self.done.push_back(Event::Store { bytes: bytes.len() }),
                Output::Send { to, message, .. } => {
                    let to = match to {
                        Dest::Everyone => None,
                        Dest::Node(to) => Some(to),
                    };
                    let message = Cow::Borrowed(message);
                    self.done.push_back(Event::Send { to, message, number: 0 });
                }
                Output::Leadership => changed = true,
            }
        }
        let mut facts = Vec::new();
        self.endpoint.facts(now, &mut |fact| facts.push(fact));
        let Self { endpoint, told, done, .. } = self;
        let leadership = endpoint.leadership(now);
        told.tell(now, &leadership, &facts, changed, &mut |event| done.push_back(event));
    }
}

/// Whether two events are equal except for the frame number.
fn same(one: &Event, other: &Event) -> bool {
    match (one, other) {
        (Event::Send { to, message, .. }, Event::Send { to: there, message: said, .. }) => {
            to == there && message == said
        }
        _ => one == other,
    }
}

/// Parses `None` or `Some(…)`.
fn optional<T: FromStr>(text: &str) -> Option<Option<T>> {
    let within = |text: &str| text.strip_prefix("Some(")?.strip_suffix(')')?.parse().ok();
    if text == "None" { Some(None) } else { within(text).map(Some) }
}

/// Parses `Candidacy { priority: 5, witness: false }`.
fn to_candidacy(text: &str) -> Option<Candidacy> {
    let fields = text.strip_prefix("Candidacy { priority: ")?.strip_suffix(" }")?;
    let (priority, witness) = fields.split_once(", witness: ")?;
    Some(Candidacy { priority: priority.parse().ok()?, witness: witness.parse().ok()? })
}

/// Parses a recorded command: `Resign`, `Rank(5)`, `Transfer(NodeId(3))`.
fn to_command(text: &str) -> Option<Command> {
    let within = |name: &str| text.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')');
    match text {
        "Campaign" => Some(Command::Campaign),
        "Resign" => Some(Command::Resign),
        "Leave" => Some(Command::Leave),
        _ => {
            let id = |text: &str| {
                let id = text.strip_prefix("NodeId(")?.strip_suffix(')')?.parse();
                id.ok().map(NodeId)
            };
            let of = |name: &str| within(name).and_then(id);
            let replaced = within("Replace").and_then(|pair| pair.split_once(", "));
            let replace =
                replaced.and_then(|(old, new)| Some(Command::Replace(id(old)?, id(new)?)));
            let rank = within("Rank").and_then(|rank| rank.parse().ok()).map(Command::Rank);
            let to = of("Transfer").map(Command::Transfer).or(of("Add").map(Command::Add));
            let lengths = || {
                let (lock, drift) = within("Lengths")?.split_once(", ")?;
                Some(Command::Lengths(optional(lock)?, optional(drift)?))
            };
            let candidacy = || within("Candidacy").and_then(to_candidacy).map(Command::Candidacy);
            let known = to.or(of("Remove").map(Command::Remove)).or(replace).or(rank);
            known.or_else(lengths).or_else(candidacy)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether_core::Duration;

    #[test]
    fn every_command_is_read_as_it_is_recorded() {
        let all = [
            Command::Campaign,
            Command::Resign,
            Command::Transfer(NodeId(3)),
            Command::Leave,
            Command::Rank(5),
            Command::Add(NodeId(4)),
            Command::Remove(NodeId(1)),
            Command::Replace(NodeId(1), NodeId(4)),
            Command::Lengths(Some(Duration::from_micros(150_500)), None),
            Command::Lengths(None, Some(100)),
            Command::Candidacy(Candidacy { priority: 7, witness: true }),
        ];
        for command in all {
            assert_eq!(to_command(&format!("{command:?}")), Some(command));
        }
        for text in ["", "Rank", "Rank()", "Rank(x)", "Transfer(3)", "resign"] {
            assert_eq!(to_command(text), None, "{text}");
        }
    }
}
