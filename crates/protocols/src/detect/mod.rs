//! A failure detector: a layer for protocols that assume that failures are detectable.
//!
//! **Source.** Our own combination of two old techniques: heartbeats, and acknowledgements hop by
//! hop. Bully, the rings and the ad hoc election of the literature assume that a failed process is
//! always noticed. This layer makes it noticed in a network that only loses and delays messages.
//!
//! **Assumptions.** Incarnations grow. Messages may be lost, duplicated, reordered and late; clocks
//! only measure intervals. Reports are true only if the network is fast and reliable enough: a
//! round trip within `resend`, and fewer losses in a row than `tries`, or than heartbeats fit into
//! `suspect`.
//!
//! **Promise.** A process that is gone for good is reported [`Reach::Down`] to the inner protocol,
//! at the latest `suspect` after it was last heard. A process that can be heard is reported
//! [`Reach::Up`] if it was reported down before. A message to a process that is considered up is
//! delivered exactly once, or that process is reported down, or the sender is gone. Reports may be
//! wrong: a slow or disconnected peer looks like one that is gone.
//!
//! | message | sender | meaning | receiver |
//! |---|---|---|---|
//! | `heartbeat` | everyone, every `beat` | "I live", in which incarnation | everyone in reach |
//! | a message's own kind | its sender | the message; to one process: its number | the inner protocol |
//! | `ack` | the receiver of a numbered message | its number | its sender |
//!
//! # What the inner protocol is told
//!
//! * At first nothing: every process in `peers()` is considered up. One that was never heard is
//!   reported down `suspect` after the start, and nothing is stored for it.
//! * A peer that restarted is reported down and up again, if it was up: its state is gone, even if
//!   no heartbeat was missed. Messages of its former incarnations are ignored.
//! * A receiver that has not acknowledged a message after `tries` is reported down, and all
//!   messages waiting for it are dropped. A message to a process that is considered down is sent
//!   once and not resent: if it arrives, the answer is a sign of life.
//! * A driver's report is passed on, and believed until there is evidence to the contrary: in a
//!   graph the driver knows of link changes before any silence shows them.

mod frame;
mod params;
mod peer;
mod table;

#[cfg(test)]
mod tests;

pub use frame::{Body, Frame};
pub use params::{BadConfig, Config, Params};
pub(crate) use table::detected;
pub use table::{Detected, Detector};

use crate::purpose::{MessageKind, Purpose};
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use bellwether_core::{
    Boot, Command, Cx, Dest, Effect, Fact, Instant, Layered, Leadership, NodeId, Protocol, Reach,
    Rebase, Refused, timer_kinds,
};
use core::ops::Bound;
use peer::Peer;

/// A protocol that is told who can be reached, and whose unicasts arrive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Detect<P: Protocol> {
    /// This process's incarnation.
    life: u64,
    /// All processes that it has heard or addressed.
    known: BTreeMap<NodeId, Peer<P::Message>>,
    /// Whether unheard processes have been reported; unknown ones are down from then on.
    waited: bool,
    /// Whether the timer for messages that were not acknowledged is armed.
    resending: bool,
    inner: P,
    /// Effects of the inner protocol during a step; empty between steps.
    scratch: Vec<Effect<P>>,
}

/// The layer's own timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pulse {
    /// The next heartbeat is due.
    Beat,
    /// A peer may have been silent for too long.
    Silence,
    /// A message may have to be resent.
    Resend,
}

timer_kinds!(Pulse: Beat, Silence, Resend);

impl<P: Protocol> Detect<P> {
    /// The inner protocol.
    pub fn inner(&self) -> &P {
        &self.inner
    }

    /// Runs a handler of the inner protocol and sends its messages.
    fn within(&mut self, cx: &mut Cx<'_, Self>, act: impl FnOnce(&mut P, &mut Cx<'_, P>)) {
        let (params, bound) = (cx.params(), cx.delay_bound());
        assert!(self.scratch.is_empty(), "no effect of an earlier step is left in the layer");
        act(&mut self.inner, &mut cx.inner(params.inner(), bound, &mut self.scratch));
        self.lift(cx);
    }

    /// Moves the effects out, because sending needs the rest of the layer, and puts the empty list
    /// back.
    fn lift(&mut self, cx: &mut Cx<'_, Self>) {
        let mut effects = core::mem::take(&mut self.scratch);
        for effect in effects.drain(..) {
            match cx.lift(effect) {
                Some((Dest::Everyone, message)) => {
                    cx.broadcast(Frame { life: self.life, body: Body::All(message) });
                }
                Some((Dest::Node(to), message)) => self.post(to, message, cx),
                None => {}
            }
        }
        self.scratch = effects;
    }

    fn report(&mut self, peer: NodeId, reach: Reach, cx: &mut Cx<'_, Self>) {
        self.within(cx, |inner, cx| inner.on_peer(peer, reach, cx));
    }

    /// The state of a peer, created if it is missing.
    fn peer(&mut self, id: NodeId, cx: &Cx<'_, Self>) -> &mut Peer<P::Message> {
        let overdue = (!self.waited).then(|| cx.now() + cx.params().layer().suspect);
        self.known.entry(id).or_insert_with(|| Peer::new(overdue))
    }

    /// The first known peer after `last` that satisfies the condition.
    fn next(
        &self,
        last: Option<NodeId>,
        holds: impl Fn(&Peer<P::Message>) -> bool,
    ) -> Option<NodeId> {
        let from = last.map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = self.known.range((from, Bound::Unbounded));
        rest.find(|(_, peer)| holds(peer)).map(|(id, _)| *id)
    }

    /// Considers a peer down.
    fn lose(&mut self, id: NodeId, cx: &mut Cx<'_, Self>) {
        if let Some(peer) = self.known.get_mut(&id) {
            peer.overdue = None;
            peer.give_up();
        }
        self.report(id, Reach::Down, cx);
    }
}

/// Signs of life.
impl<P: Protocol> Detect<P> {
    fn beat(&self, cx: &mut Cx<'_, Self>) {
        cx.broadcast(Frame { life: self.life, body: Body::Beat });
        cx.arm(Layered::Own(Pulse::Beat), cx.now() + cx.params().layer().beat);
    }

    /// A message of this incarnation of a peer arrived. False if it is to be ignored.
    fn hear(&mut self, from: NodeId, life: u64, cx: &mut Cx<'_, Self>) -> bool {
        if !cx.peers().contains(from) {
            return false;
        }
        let overdue = cx.now() + cx.params().layer().suspect;
        let peer = self.peer(from, cx);
        if peer.life.is_some_and(|known| life < known) {
            return false;
        }
        let reborn = peer.life.is_some_and(|known| life > known);
        if reborn || peer.life.is_none() {
            peer.begin_life(life);
        }
        let was_up = peer.overdue.replace(overdue).is_some();
        if reborn && was_up {
            peer.give_up();
            self.report(from, Reach::Down, cx);
        }
        if reborn || !was_up {
            self.report(from, Reach::Up, cx);
        }
        true
    }

    /// Reports peers that were silent for too long, and forgets those no longer in view.
    fn listen(&mut self, cx: &mut Cx<'_, Self>) {
        if !core::mem::replace(&mut self.waited, true) {
            let peers = cx.peers();
            for id in peers.iter() {
                // Processes that are addressed because of the first reports have not been heard
                // either.
                let unheard = |peer: &Peer<_>| peer.life.is_none() && peer.overdue.is_none();
                if self.known.get(&id).is_none_or(unheard) {
                    self.report(id, Reach::Down, cx);
                }
            }
        }
        let (now, peers) = (cx.now(), cx.peers());
        let mut last = None;
        let late = |peer: &Peer<_>| peer.overdue.is_some_and(|overdue| overdue <= now);
        while let Some(id) = self.next(last, late) {
            self.lose(id, cx);
            last = Some(id);
        }
        last = None;
        while let Some(id) = self.next(last, |_| true) {
            last = Some(id);
            let alive = self.known.get(&id).is_some_and(|peer| peer.overdue.is_some());
            if alive && !peers.contains(id) {
                self.lose(id, cx);
            }
        }
        self.known.retain(|id, _| peers.contains(*id));
        let first = self.known.values().filter_map(|peer| peer.overdue).min();
        let again = first.unwrap_or(now + cx.params().layer().suspect);
        cx.arm(Layered::Own(Pulse::Silence), again);
    }
}

/// Reliable messages.
impl<P: Protocol> Detect<P> {
    /// Sends a message to one process and keeps it until it is acknowledged.
    fn post(&mut self, to: NodeId, message: P::Message, cx: &mut Cx<'_, Self>) {
        let life = self.life;
        if !cx.peers().contains(to) {
            cx.send(to, Frame { life, body: Body::All(message) }); // not in view: not resent
            return;
        }
        let due = cx.now() + cx.params().layer().resend;
        let peer = self.peer(to, cx);
        let number = peer.number();
        let settled = peer.settled(number);
        if peer.overdue.is_some() {
            peer.keep(number, due, message.clone());
            if !core::mem::replace(&mut self.resending, true) {
                cx.arm(Layered::Own(Pulse::Resend), due);
            }
        }
        cx.send(to, Frame { life, body: Body::One { number, settled, message } });
    }

    /// Resends messages that are due; a receiver that has used up its tries is down.
    fn resend(&mut self, cx: &mut Cx<'_, Self>) {
        let (now, layer) = (cx.now(), *cx.params().layer());
        let mut last = None;
        while let Some(id) = self.next(last, |peer| peer.waits_since(now)) {
            last = Some(id);
            let Some(peer) = self.known.get_mut(&id) else { continue };
            if peer.unacknowledged().iter().any(|sent| sent.due <= now && sent.tries >= layer.tries)
            {
                self.lose(id, cx);
                continue;
            }
            let life = self.life;
            let settled = peer.settled(u64::MAX);
            for sent in peer.unacknowledged().iter_mut().filter(|sent| sent.due <= now) {
                assert!(sent.tries < layer.tries, "no message is sent more often than allowed");
                sent.tries += 1;
                sent.due = now + layer.resend;
                let (number, message) = (sent.number, sent.message.clone());
                cx.send(id, Frame { life, body: Body::One { number, settled, message } });
            }
        }
        let first = self.known.values().filter_map(Peer::first_due).min();
        self.resending = first.is_some();
        cx.arm(Layered::Own(Pulse::Resend), first.unwrap_or(Instant::NEVER));
    }

    /// Acknowledges a numbered message; returns whether it is new.
    fn receive(
        &mut self,
        from: NodeId,
        of: u64,
        (number, settled): (u64, u64),
        cx: &mut Cx<'_, Self>,
    ) -> bool {
        cx.send(from, Frame { life: self.life, body: Body::Ack { life: of, number } });
        self.peer(from, cx).receive(number, settled)
    }
}

/// Its kinds of messages, beside those of the protocol within. An acknowledgement has the name of
/// the ad hoc election's reports, and so its purpose.
pub const MESSAGES: &[MessageKind] =
    &[Purpose::SignOfLife.of("heartbeat"), Purpose::Report.of("ack")];

impl<P: Protocol> Protocol for Detect<P> {
    const NAME: &'static str = P::NAME;
    const ON_DEMAND: bool = P::ON_DEMAND;
    type Params = Params<P::Params>;
    type Message = Frame<P::Message>;
    type Timer = Layered<Pulse, P::Timer>;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        let params = cx.params();
        let mut scratch = Vec::new();
        let inner = P::start(boot, &mut cx.inner(params.inner(), None, &mut scratch));
        let (life, known) = (boot.incarnation, BTreeMap::new());
        let mut layer = Self { life, known, waited: false, resending: false, inner, scratch };
        layer.beat(cx);
        layer.lift(cx);
        cx.arm(Layered::Own(Pulse::Silence), cx.now() + params.layer().suspect);
        layer
    }

    fn on_message(&mut self, from: NodeId, frame: Cow<'_, Self::Message>, cx: &mut Cx<'_, Self>) {
        let of = frame.life;
        if !self.hear(from, of, cx) {
            return;
        }
        match frame.body {
            Body::Beat => return,
            Body::Ack { life, number } => {
                if life == self.life {
                    self.peer(from, cx).acknowledged(number);
                }
                return;
            }
            Body::All(_) => {}
            Body::One { number, settled, .. } => {
                if !self.receive(from, of, (number, settled), cx) {
                    return;
                }
            }
        }
        let message = match frame {
            Cow::Owned(frame) => match frame.body {
                Body::All(message) | Body::One { message, .. } => Cow::Owned(message),
                Body::Beat | Body::Ack { .. } => return,
            },
            Cow::Borrowed(frame) => match &frame.body {
                Body::All(message) | Body::One { message, .. } => Cow::Borrowed(message),
                Body::Beat | Body::Ack { .. } => return,
            },
        };
        self.within(cx, |inner, cx| inner.on_message(from, message, cx));
    }

    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Cx<'_, Self>) {
        match timer {
            Layered::Own(Pulse::Beat) => self.beat(cx),
            Layered::Own(Pulse::Silence) => self.listen(cx),
            Layered::Own(Pulse::Resend) => self.resend(cx),
            Layered::Inner(timer) => self.within(cx, |inner, cx| inner.on_timer(timer, cx)),
        }
    }

    fn on_peer(&mut self, id: NodeId, reach: Reach, cx: &mut Cx<'_, Self>) {
        let overdue = cx.now() + cx.params().layer().suspect;
        let peer = self.peer(id, cx);
        match reach {
            Reach::Up => peer.overdue = Some(overdue),
            Reach::Down => {
                peer.overdue = None;
                peer.give_up();
            }
        }
        self.report(id, reach, cx);
    }

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        let (params, bound) = (cx.params(), cx.delay_bound());
        let mut within = cx.inner(params.inner(), bound, &mut self.scratch);
        let answer = self.inner.on_command(command, &mut within);
        if answer.is_err() {
            self.scratch.clear(); // before sending would number them
        }
        self.lift(cx);
        answer
    }

    fn leadership(&self, now: Instant) -> Leadership<'_> {
        self.inner.leadership(now)
    }

    fn facts(&self, now: Instant, tell: &mut dyn FnMut(Fact)) {
        for (&id, peer) in &self.known {
            tell(match peer.overdue {
                Some(_) => Fact::Alive { peer: id },
                None => Fact::Suspect { peer: id },
            });
        }
        self.inner.facts(now, tell);
    }

    fn instants(&mut self, rebase: &Rebase<'_>) {
        for (id, peer) in &mut self.known {
            peer.instants(*id, rebase);
        }
        self.inner.instants(rebase);
    }
}
