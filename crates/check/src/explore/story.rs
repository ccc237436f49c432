//! Converts a path through the explored states to a trace.

use super::world::{Move, State, TICK, World};
use bellwether_core::{Event, Instant, Message, NodeId, Protocol, Record, SimTime};
use std::borrow::Cow;

impl<P: Protocol> World<P> {
    /// The events of this path; one tick is a millisecond.
    pub fn tell(&self, path: &[Move]) -> Vec<Record> {
        let mut state = self.start();
        let mut story = Story { now: SimTime::ZERO, records: Vec::new() };
        for (id, place) in (0..).map(NodeId).zip(&state.places) {
            if place.node.is_some() {
                story.add(id, Event::Start { incarnation: 1 });
            }
        }
        for &chosen in path {
            let id = NodeId(u64::from(state.turn));
            story.before(id, chosen, &state);
            let last = self.is_last(&state);
            let Some(next) = self.after(&state, chosen) else { break };
            if chosen == Move::Pass && last {
                story.now += TICK;
            }
            story.after(id, &state, &next);
            state = next;
        }
        story.records
    }
}

struct Story {
    now: SimTime,
    records: Vec<Record>,
}

impl Story {
    fn add(&mut self, node: NodeId, event: Event) {
        self.records.push(Record { t: self.now, node, event });
    }

    /// The events of a move.
    fn before<P: Protocol>(&mut self, id: NodeId, chosen: Move, state: &State<P>) {
        let event = match chosen {
            Move::Deliver(place) | Move::Copy(place) => {
                let packet = &state.packets[place];
                Event::Recv {
                    from: NodeId(u64::from(packet.from)),
                    message: Cow::Borrowed(packet.message.kind()),
                    number: 0,
                    sent: self.now - state.now.since(packet.sent),
                    life: None,
                    body: None,
                }
            }
            Move::Wake => Event::Timer { timer: "deadline".to_owned() },
            Move::Command(command) => {
                Event::Command { command: format!("{command:?}"), taken: true }
            }
            Move::Crash => Event::Crash,
            Move::LoseDisk => Event::Store { bytes: 0 }, // nothing is left
            Move::Restart => match state.places[usize::from(state.turn)].life {
                0 => Event::Start { incarnation: 1 },
                life => Event::Restart { incarnation: u64::from(life) + 1 },
            },
            Move::Release | Move::Pass | Move::Again | Move::Draw(_) => return,
        };
        self.add(id, event);
    }

    /// The changes of beliefs by a move, including the passing of time.
    fn after<P: Protocol>(&mut self, id: NodeId, before: &State<P>, after: &State<P>) {
        for sent in after.packets.iter().filter(|packet| packet.sent == after.now) {
            if !before.packets.contains(sent) && u64::from(sent.from) == id.0 {
                let message = Cow::Borrowed(sent.message.kind());
                self.add(id, Event::Send { to: None, message, number: 0 });
            }
        }
        for (node, (old, new)) in (0..).map(NodeId).zip(before.places.iter().zip(&after.places)) {
            let Some(process) = &new.node else { continue };
            let belief = process.leadership(after.now);
            let known = old.node.as_ref().map(|process| process.leadership(before.now));
            if known.is_none_or(|known| known.leaders != belief.leaders) {
                let leaders = belief.leaders.to_vec();
                let left = belief.until.since(after.now);
                let until = (belief.until != Instant::NEVER)
                    .then(|| Instant::from_nanos(self.now.as_nanos()) + left);
                let (term, stage) = (belief.term, belief.stage);
                self.add(node, Event::Leadership { leaders, term, until, stage });
            }
        }
    }
}
