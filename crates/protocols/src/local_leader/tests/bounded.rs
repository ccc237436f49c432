//! The simplest layer under the protocol: each message carries the bound on its delay.
//!
//! The founding list, by which almost all messages here are, is left out of messages and records:
//! a list is shown where it is another one.

use super::*;
use alloc::borrow::Cow;
use bellwether_core::{Effect as Wish, Malformed, Message as Wire, Protocol, Reader, Rebase};

/// The protocol over a network of [`Packet`]s.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Bounded(pub(super) Hall);

/// A message, and the bound on its delay that its receiver is to be told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Packet {
    pub(super) bound: Option<Duration>,
    pub(super) body: Message,
}

/// Forwards the effects of the inner protocol.
fn lift(me: NodeId, effects: Vec<Wish<Hall>>, cx: &mut Cx<'_, Bounded>) {
    let founding = founding(me, cx);
    for effect in effects {
        match effect {
            Wish::Arm(timer, at) => cx.arm(timer, at),
            Wish::Disarm(timer) => cx.disarm(timer),
            Wish::Store(bytes) => {
                let (stored, list) = Stored::decode(&bytes).expect("what it stored");
                cx.store(
                    stored.encode(list.filter(|list| Some(list) != founding.as_ref()).as_ref()),
                );
            }
            Wish::Send(to, mut body) => {
                let id = founding.as_ref().map(List::id);
                if let Message::Inquiry { founding, .. } = &mut body {
                    *founding = founding.filter(|digest| Some(*digest) != id.map(|id| id.digest));
                }
                let usual = |told: &ListTold| Some(told.id()) == id;
                if !cx.params().by_majority() {
                    without_number(&mut body);
                }
                list_of(&mut body)
                    .into_iter()
                    .for_each(|list| _ = list.take_if(|told| usual(told)));
                cx.dispatch(to, Packet { bound: None, body });
            }
        }
    }
}

/// Leaves out the number of a partition, which local processes tell; tests look at facts.
fn without_number(body: &mut Message) {
    match body {
        Message::Election { token, .. } => *token = None,
        Message::Reply { support: true, highest, .. } => *highest = 0,
        Message::Collation(replies) => replies.highest = 0,
        _ => {}
    }
}

/// The list that is left out.
fn founding(me: NodeId, cx: &Cx<'_, Bounded>) -> Option<List> {
    List::known(me, cx.peers()).filter(|_| cx.params().by_majority())
}

fn list_of(body: &mut Message) -> Option<&mut Option<ListTold>> {
    match body {
        Message::Election { list, .. } | Message::Reply { list, .. } => Some(list),
        Message::Record { list, .. } => Some(list),
        Message::Collation(replies) => Some(&mut replies.list),
        _ => None,
    }
}

/// The message with the founding list, if it is by none.
fn completed(mut body: Message, founding: Option<&List>) -> Message {
    if let Message::Inquiry { founding: known, .. } = &mut body {
        *known = known.or(founding.map(|list| list.id().digest));
    }
    if let Some(list) = list_of(&mut body) {
        *list = list.take().or(founding.map(|list| ListTold::Name(list.id(), true)));
    }
    body
}

impl Bounded {
    fn within<T>(
        &mut self,
        bound: Option<Duration>,
        cx: &mut Cx<'_, Self>,
        act: impl FnOnce(&mut Hall, &mut Cx<'_, Hall>) -> T,
    ) -> T {
        let (params, mut effects) = (cx.params(), Vec::new());
        let answer = act(&mut self.0, &mut cx.inner(params, bound, &mut effects));
        lift(self.0.me, effects, cx);
        answer
    }
}

impl Protocol for Bounded {
    const NAME: &'static str = "bounded";
    type Params = Params;
    type Message = Packet;
    type Timer = Timer;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        let (params, mut effects) = (cx.params(), Vec::new());
        let hall = Hall::start(boot, &mut cx.inner(params, None, &mut effects));
        lift(boot.me, effects, cx);
        Self(hall)
    }

    fn on_message(&mut self, from: NodeId, packet: Cow<'_, Packet>, cx: &mut Cx<'_, Self>) {
        let Packet { bound, body } = packet.into_owned();
        let body = completed(body, founding(self.0.me, cx).as_ref());
        self.within(bound, cx, |hall, cx| hall.on_message(from, Cow::Owned(body), cx));
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        self.within(None, cx, |hall, cx| hall.on_timer(timer, cx));
    }

    fn on_peer(&mut self, peer: NodeId, reach: Reach, cx: &mut Cx<'_, Self>) {
        self.within(None, cx, |hall, cx| hall.on_peer(peer, reach, cx));
    }

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        self.within(None, cx, |hall, cx| hall.on_command(command, cx))
    }

    fn successor(&self, now: Instant) -> Option<NodeId> {
        self.0.successor(now)
    }

    fn leadership(&self, now: Instant) -> Leadership<'_> {
        self.0.leadership(now)
    }

    fn facts(&self, now: Instant, tell: &mut dyn FnMut(Fact)) {
        self.0.facts(now, tell);
    }

    fn instants(&mut self, rebase: &Rebase<'_>) {
        self.0.instants(rebase);
    }
}

/// Only the message inside travels by wire; it was fast.
impl Wire for Packet {
    fn kind(&self) -> &'static str {
        self.body.kind()
    }

    fn latest(&self) -> u64 {
        self.body.latest()
    }

    fn encode(&self, out: &mut Vec<u8>) {
        self.body.encode(out);
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self { bound: Some(Duration::ZERO), body: Message::decode(input)? })
    }
}
