//! Groups the records into steps: an input to a process, and what it sends in reply.
//!
//! Only elections matter here: calls to take part, and answers to them. A step begins with an input
//! and ends before the next input to the same process.

use bellwether_core::{Event, Fact, NodeId, Record, SimTime, Stage};
use bellwether_protocols::choice::message_kind;
use bellwether_protocols::purpose::Purpose;
use std::collections::BTreeMap;

/// A message: its sender, when it was sent, and the sender's number for it.
pub(super) type MessageKey = (NodeId, SimTime, u64);

/// What a process did in reply to one input.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) node: NodeId,
    pub(super) cause: Cause,
    /// Which processes it called to take part, and by which message.
    pub(super) calls: Vec<(NodeId, MessageKey)>,
    /// Which processes it answered, and by which message.
    pub(super) answers: Vec<(NodeId, MessageKey)>,
    /// Its claim, if it states one.
    pub(super) claim: Option<u64>,
    /// Whether it now believes in a leader.
    pub(super) settles: bool,
}

/// The input of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// A call to take part.
    Call(MessageKey),
    /// An answer.
    Answer(MessageKey),
    /// Another message.
    Message,
    /// News whether this process can be reached.
    Reach(NodeId, bool),
    /// A start or a stop.
    Life,
    /// A command of the application.
    Command,
    /// A timer, or an unknown cause.
    Itself,
}

/// All steps, in order of their beginnings.
pub(super) fn steps(records: &[&Record]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut open: BTreeMap<NodeId, usize> = BTreeMap::new();
    for record in records {
        let node = record.node;
        if let Some(cause) = cause(&record.event) {
            open.insert(node, steps.len());
            steps.push(Step::new(node, cause));
            continue;
        }
        let place = *open.entry(node).or_insert_with(|| {
            steps.push(Step::new(node, Cause::Itself));
            steps.len() - 1
        });
        steps[place].add(record);
    }
    steps
}

fn cause(event: &Event) -> Option<Cause> {
    match event {
        Event::Recv { from, message, number, sent, .. } => {
            let key = (*from, *sent, *number);
            Some(match purpose(message) {
                Some(Purpose::Call) => Cause::Call(key),
                Some(Purpose::Report) => Cause::Answer(key),
                _ => Cause::Message,
            })
        }
        Event::Reach { peer, up } => Some(Cause::Reach(*peer, *up)),
        Event::Start { .. } | Event::Restart { .. } | Event::Crash | Event::Leave => {
            Some(Cause::Life)
        }
        Event::Command { .. } => Some(Cause::Command),
        Event::Timer { .. } => Some(Cause::Itself),
        _ => None,
    }
}

/// What a message is for, as far as is known.
fn purpose(message: &str) -> Option<Purpose> {
    message_kind(message).map(|kind| kind.purpose)
}

impl Step {
    fn new(node: NodeId, cause: Cause) -> Self {
        let (calls, answers) = (Vec::new(), Vec::new());
        Self { node, cause, calls, answers, claim: None, settles: false }
    }

    fn add(&mut self, record: &Record) {
        match &record.event {
            Event::Send { to: Some(to), message, number } => {
                let key = (record.node, record.t, *number);
                match purpose(message) {
                    Some(Purpose::Call) => self.calls.push((*to, key)),
                    Some(Purpose::Report) => self.answers.push((*to, key)),
                    _ => {}
                }
            }
            Event::Fact(Fact::Claim { weight }) => self.claim = Some(*weight),
            Event::Leadership { leaders, stage, .. } => {
                self.settles = *stage == Stage::Decided && !leaders.is_empty();
            }
            _ => {}
        }
    }
}
