//! A failure detector: a layer for protocols that assume that failures are detectable.
//!
//! **Source.** Our own arrangement of two old means: signs of life at regular intervals, and
//! acknowledgements hop by hop. Bully, the rings and the ad hoc election of the literature assume
//! that a failed process is always noticed; this is how it comes to be noticed in a network that
//! only loses and delays.
//!
//! **Assumptions.** Incarnations grow. Messages may be lost, doubled, overtaken and late; clocks
//! only measure intervals. For its reports to be true the network must be quick and true enough:
//! a round trip within `resend`, and fewer losses in a row than `tries`, or than signs of life fit
//! into `suspect`.
//!
//! **Promise.** A process that is gone for good is reported [`Reach::Down`] to the protocol inside,
//! `suspect` after it was last heard at the latest, and one that can be heard is reported
//! [`Reach::Up`] if it was reported down before. A message to one process that is held to be up is
//! handed over there exactly once, or that process is reported down, or the sender is gone. Reports
//! may be wrong: a peer that is slow or cut off looks like one that is gone.
//!
//! | message | who | says | who cares |
//! |---|---|---|---|
//! | `heartbeat` | everyone, every `beat` | "I live", in which incarnation | everyone in reach |
//! | a message's own kind | whoever sends it | the message; to one process: its number | the protocol inside |
//! | `ack` | who got a numbered message | which | its sender |
//!
//! # What the protocol inside is told
//!
//! * At first nothing: everyone in `peers()` is taken to be up. Who was never heard is reported
//!   down `suspect` after the start, and nothing is kept of it.
//! * A peer that began a new life is reported down and up again, if it was up: whatever it knew is
//!   gone, though nobody missed a heartbeat. What its former lives said is ignored.
//! * A message that was not acknowledged after `tries` has its receiver reported down, and with it
//!   all that was meant for it is dropped. To a process that is held to be down a message is sent
//!   once, and nothing is waited for: if it does get there, the answer is a sign of life.
//! * What a driver reports is passed on and believed until there is something to the contrary: in
//!   a graph it knows of links that come and go before any silence tells.

mod frame;
mod params;
mod peer;
mod table;

#[cfg(test)]
mod tests;

pub use frame::{Body, Frame};
pub use params::{BadConfig, Config, Params};
pub(crate) use table::detected;
pub use table::{BEAT, DETECTOR, Detected, Detector, RESEND, SUSPECT, TRIES};

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use bellwether_core::{
    Boot, Command, Cx, Dest, Effect, Fact, Instant, Layered, Leadership, NodeId, Protocol, Reach,
    Rebase, Refused, TimerKind,
};
use core::ops::Bound;
use peer::Peer;

/// A protocol that is told who can be reached, and whose unicasts arrive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Detect<P: Protocol> {
    /// This process's incarnation.
    life: u64,
    /// Everyone it has heard or addressed.
    known: BTreeMap<NodeId, Peer<P::Message>>,
    /// Whether those it never heard have been reported, so that the unknown are down.
    waited: bool,
    /// Whether the timer for messages that were not acknowledged is armed.
    resending: bool,
    inner: P,
    /// What the protocol inside asks for during a step; empty between steps.
    scratch: Vec<Effect<P>>,
}

/// The layer's own timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pulse {
    /// The next sign of life is due.
    Beat,
    /// Somebody may have been silent for too long.
    Silence,
    /// Something may have to be sent again.
    Resend,
}

impl TimerKind for Pulse {
    type Slots = [Instant; 3];

    fn slot(self) -> usize {
        self as usize
    }

    fn at(slot: usize) -> Self {
        match slot {
            0 => Self::Beat,
            1 => Self::Silence,
            _ => Self::Resend,
        }
    }
}

impl<P: Protocol> Detect<P> {
    /// The protocol inside.
    pub fn inner(&self) -> &P {
        &self.inner
    }

    /// Runs a handler of the protocol inside and sends what it sends.
    fn within(&mut self, cx: &mut Cx<'_, Self>, act: impl FnOnce(&mut P, &mut Cx<'_, P>)) {
        let (params, bound) = (cx.params(), cx.delay_bound());
        assert!(self.scratch.is_empty(), "no effect of an earlier step is left in the layer");
        act(&mut self.inner, &mut cx.inner(params.inner(), bound, &mut self.scratch));
        self.lift(cx);
    }

    /// Takes the list out, since sending needs the rest of the layer, and puts it back empty.
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

    /// What is kept of a peer, from now on at the latest.
    fn peer(&mut self, id: NodeId, cx: &Cx<'_, Self>) -> &mut Peer<P::Message> {
        let overdue = (!self.waited).then(|| cx.now() + cx.params().layer().suspect);
        self.known.entry(id).or_insert_with(|| Peer::new(overdue))
    }

    /// The first known peer after `last` for which that holds.
    fn next(
        &self,
        last: Option<NodeId>,
        holds: impl Fn(&Peer<P::Message>) -> bool,
    ) -> Option<NodeId> {
        let from = last.map_or(Bound::Unbounded, Bound::Excluded);
        let mut rest = self.known.range((from, Bound::Unbounded));
        rest.find(|(_, peer)| holds(peer)).map(|(id, _)| *id)
    }

    /// A peer is held to be down.
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

    /// A peer said something in this life. False if that is none of our business.
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

    /// Reports whoever was silent for too long, and forgets who is no longer in sight.
    fn listen(&mut self, cx: &mut Cx<'_, Self>) {
        if !core::mem::replace(&mut self.waited, true) {
            let peers = cx.peers();
            for id in peers.iter() {
                // Whoever is addressed by what the first reports lead to has not been heard either.
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
            if !peers.contains(id) && self.known[&id].overdue.is_some() {
                self.lose(id, cx);
            }
        }
        self.known.retain(|id, _| peers.contains(*id));
        let first = self.known.values().filter_map(|peer| peer.overdue).min();
        let again = first.unwrap_or(now + cx.params().layer().suspect);
        cx.arm(Layered::Own(Pulse::Silence), again);
    }
}

/// Messages that must arrive.
impl<P: Protocol> Detect<P> {
    /// Sends a message to one process and keeps it until it is acknowledged.
    fn post(&mut self, to: NodeId, message: P::Message, cx: &mut Cx<'_, Self>) {
        let life = self.life;
        if !cx.peers().contains(to) {
            cx.send(to, Frame { life, body: Body::All(message) }); // out of sight, out of mind
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

    /// Sends again what is due; whoever has not acknowledged in so many tries is down.
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
                assert!(sent.tries < layer.tries, "no message is sent more often than it may be");
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

    /// A numbered message came: says so, and whether it is new.
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

impl<P: Protocol> Protocol for Detect<P> {
    const NAME: &'static str = P::NAME;
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
            self.scratch.clear(); // before sending could number them
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
