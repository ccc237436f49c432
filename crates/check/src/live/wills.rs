//! Lives that others were told are over: by a last will, which somebody else sends for the dead.
//!
//! **Source.** A receiver records the last will of an incarnation with the number
//! [`LAST_NUMBER`], which no other message has.
//!
//! **Assumptions.** Whoever sends a last will knows that the incarnation is over. That is checked
//! as far as traces tell: [`will_of_the_dead`].
//!
//! **Promise.** An incarnation with a last will counts as ended when that was first received, or
//! with its own last record if that is later. A record that was made after the will is never
//! hidden: the process counts as alive until then.

use super::lives::Life;
use super::ruling::{Outcome, Ruling};
use bellwether_core::{Event, LAST_NUMBER, NodeId, SimTime};
use std::collections::BTreeMap;

/// When the last will of each incarnation was first received, by process, number and clock.
#[derive(Debug, Default)]
pub(super) struct Wills<'a>(BTreeMap<(NodeId, u64, &'a str), Received<'a>>);

#[derive(Clone, Copy, Debug)]
struct Received<'a> {
    at: SimTime,
    file: &'a str,
    line: usize,
}

impl<'a> Wills<'a> {
    /// All that these incarnations received.
    pub(super) fn of(lives: impl Iterator<Item = &'a Life<'a>>) -> Self {
        let mut first: BTreeMap<_, Received<'_>> = BTreeMap::new();
        for receiver in lives {
            for line in &receiver.lines {
                let Event::Recv { from, number: LAST_NUMBER, life: Some(life), .. } =
                    line.record.event
                else {
                    continue;
                };
                let new = Received { at: line.record.t, file: receiver.file, line: line.number };
                let boot = receiver.head.boot.as_str();
                let known = first.entry((from, life, boot)).or_insert(new);
                if new.at < known.at {
                    *known = new;
                }
            }
        }
        Self(first)
    }

    fn about(&self, life: &Life<'_>) -> Option<Received<'a>> {
        self.0.get(&(life.node, life.head.incarnation, life.head.boot.as_str())).copied()
    }

    /// From when on this incarnation is known to be over.
    pub(super) fn over(&self, life: &Life<'_>) -> Option<SimTime> {
        self.about(life).map(|received| received.at.max(life.ends()))
    }

    /// Whether every incarnation with a last will had ended; nothing if there is none.
    pub(super) fn will_of_the_dead(&self, lives: &[Life<'_>]) -> Option<Ruling> {
        let ended = lives.iter().filter_map(|life| Some((life, self.about(life)?)));
        let ended: Vec<_> = ended.collect();
        let wrong = ended.iter().find(|(life, received)| life.ends() > received.at);
        let outcome = match wrong {
            None => Outcome::Holds,
            Some((life, received)) => Outcome::Violated {
                at: received.at,
                text: format!(
                    "the last will of process {} was received, but it recorded until {}",
                    life.node,
                    life.ends()
                ),
                place: format!("{}:{}", received.file, received.line),
            },
        };
        let looks = ended.len() as u64;
        (looks > 0).then_some(Ruling { invariant: "will-of-the-dead", looks, outcome })
    }
}
