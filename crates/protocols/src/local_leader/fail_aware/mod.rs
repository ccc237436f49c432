//! Fail-aware datagrams: a layer that bounds the delay of each message.
//!
//! **Source.** Christof Fetzer and Flaviu Cristian, "A fail-aware datagram service", in
//! *Fault-Tolerant Parallel and Distributed Systems*, Kluwer, 1998, as used by the same authors' "A
//! highly available local leader election service", IEEE Transactions on Software Engineering
//! 25(5), 1999. The bound, the choice of stamps and the bootstrap are derived anew (`bound.rs`,
//! `heard.rs`, below).
//!
//! **Assumptions.** Clocks run at a rate within 1 ± ρ and never go back within an incarnation. No
//! message is faster than δmin. Incarnations grow. Messages may be lost, duplicated, reordered and
//! late without limit, processes may pause and crash, and clocks need not agree and may be set back
//! by a crash.
//!
//! **Promise.** The bound given to the inner protocol ([`Cx::delay_bound`]) is never below the time
//! from the step that sent the message to the step that handles it. There may be no bound: then
//! nothing is known, and the message counts as slow.
//!
//! | message | sender | meaning | receiver |
//! |---|---|---|---|
//! | a body's own kind | its sender | the body; the sender's stamp; rows | the inner protocol; the table |
//! | `stamp` | an answer, a refresh | the sender's stamp; rows | the table |
//!
//! A process remembers the stamps of one message n of each peer: A, read by the peer when it sent
//! n, and B, read by itself on receipt. Each message m that it sends carries its stamp C and, for
//! the receiver, the row (A, B). The receiver reads D and has a round trip. A replayed datagram is
//! slow by construction: its C is old, and D is not.
//!
//! # Where this departs from the paper
//!
//! 1. **Which n.** Neither the latest message nor the one with the best bound, but the one that
//!    makes every later bound smallest; the stamps alone decide (`heard.rs`).
//! 2. **Incarnations.** A frame carries the incarnation in which its stamp was read, and a row does
//!    so for A. A row whose A was read by a former incarnation of the receiver belongs to another
//!    clock and is not used. A frame of a former incarnation of its sender is ignored altogether.
//!    The inner protocol learns of a new incarnation by [`Reach::Up`]. A driver learns by
//!    [`Fact::Outlived`] that others know a later incarnation of this very process than the current
//!    one.
//! 3. **Answers.** A protocol may be silent towards processes whose messages it considers slow, and
//!    these stay slow because there is no round trip. So the layer answers each frame without a
//!    usable row for it by an empty unicast, and also each body that is not [fast](Params::fast):
//!    its row may be that of a message that was slow itself.
//!
//! Answers cannot go back and forth for ever: an empty frame that has a row for the incarnation of
//! its receiver is never answered, whatever its stamps say. An answer from p to q is sent in the
//! very step in which p received a frame of q, so it has a row for the incarnation in which q sent
//! that frame. It is answered only if q has restarted since. So a chain of answers is at most one
//! longer than the number of restarts that it meets.
//!
//! # Broadcasts
//!
//! A broadcast carries the rows of all known peers, and each receiver reads its own. Above
//! [`Params::rows_max`] rows it becomes a unicast to each member. A process broadcasts an empty
//! frame [`Params::refresh`] after its last broadcast of any kind, and one when it starts unless
//! the inner protocol broadcasts then. So stamps are exchanged before they are needed, and those of
//! silent processes do not grow old. An inner protocol that never [speaks](Inner::speaks) of its
//! own accord sends none of these: nobody needs to bound its delays. An inner protocol may name the
//! [audience](Inner::audience) of its broadcasts; then they are unicasts to these.

mod bound;
mod frame;
mod heard;
mod params;

#[cfg(test)]
mod tests;

pub use frame::{Echo, Echoes, Frame};
pub use params::Params;

use super::rules::Rule;
use alloc::borrow::Cow;
use alloc::vec::Vec;
use bellwether_core::{
    Boot, Command, Cx, Dest, Duration, Effect, Fact, Instant, Layered, Leadership, NodeId, Peers,
    Protocol, Reach, Rebase, Refused, timer_kinds,
};
use bound::{Bound, RoundTrip};
use core::hash::{Hash, Hasher};
use heard::{Heard, Life, Table};

/// The longest list on the wire.
const ROWS_MAX: usize = u16::MAX as usize;

/// A protocol whose messages are stamped and whose delays are bounded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FailAware<P: Protocol> {
    me: NodeId,
    /// This process's incarnation.
    life: u64,
    heard: Table,
    /// The latest incarnation of this process that others know, if that is not the current one:
    /// then incarnations did not grow, and the others ignore this process.
    outlived: Option<u64>,
    /// What bounds the delay of the last frame, for checkers.
    bound: Observed,
    inner: P,
    /// Effects of the inner protocol during a step; empty between steps.
    scratch: Vec<Effect<P>>,
}

/// A value for observers that is not part of the state: nothing depends on it, and states that
/// differ only in it are equal.
#[derive(Clone, Copy, Debug)]
struct Observed(Option<Bound>);

impl PartialEq for Observed {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Observed {}

impl Hash for Observed {
    fn hash<H: Hasher>(&self, _state: &mut H) {}
}

/// The layer's own timer: the next empty broadcast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Refresh;

timer_kinds!(Refresh);

/// The protocol inside.
pub trait Inner: Protocol {
    /// Whether it sends messages of its own accord, so that their delays must be bounded. The layer
    /// sends no stamps for a silent one.
    fn speaks(&self) -> bool {
        true
    }

    /// Whether it needs bounds on the delays of messages between itself and this peer. The layer
    /// sends no rows to others.
    fn minds(&self, _peer: NodeId) -> bool {
        true
    }

    /// ρ, if it is not that of the parameters: then bounds are computed with it from now on.
    fn drift_ppm(&self) -> Option<u32> {
        None
    }

    /// The processes that its broadcasts and the layer's are for; `None` if that is everyone.
    fn audience(&self, _peers: &dyn Peers) -> Option<Vec<NodeId>> {
        None
    }

    /// Whether the delay of this message matters. If not, it is neither noted nor answered.
    fn is_timed(_message: &Self::Message) -> bool {
        true
    }
}

impl<P: Inner> FailAware<P> {
    /// The inner protocol.
    pub fn inner(&self) -> &P {
        &self.inner
    }

    /// The round trip that a frame sent at that instant completes, by its row for this process, if
    /// that is usable.
    fn round_trip(
        &self,
        row: &Echo,
        sent: Instant,
        params: &Params<P::Params>,
        now: Instant,
    ) -> Option<RoundTrip> {
        if params.rules.keep(Rule::Lives) && row.life != self.life {
            return None;
        }
        RoundTrip::new(row.sent, row.received, sent, now)
    }

    #[inline]
    fn dispatch(&self, to: Dest, echoes: Echoes, body: Option<&P::Message>, cx: &mut Cx<'_, Self>) {
        assert!(echoes.len() <= ROWS_MAX, "no list on the wire is truncated");
        let (life, sent) = (self.life, cx.now());
        cx.dispatch_with(to, || Frame { life, sent, echoes, body: body.cloned() });
    }

    #[inline]
    fn unicast(&self, to: NodeId, body: Option<&P::Message>, cx: &mut Cx<'_, Self>) {
        let (life, sent, row) = (self.life, cx.now(), self.heard.row(to));
        let make = || Frame { life, sent, echoes: Echoes::at_most_one(row), body: body.cloned() };
        cx.dispatch_with(Dest::Node(to), make);
    }

    fn broadcast(&mut self, body: Option<&P::Message>, cx: &mut Cx<'_, Self>) {
        let (peers, params) = (cx.peers(), cx.params());
        if let Some(audience) = self.inner.audience(peers) {
            // Many may have asked it something once; it keeps the stamps of those it minds.
            self.heard.keep(|peer| peers.contains(peer) && self.inner.minds(peer));
            let others = audience.into_iter().filter(|peer| peers.contains(*peer));
            others.for_each(|peer| self.unicast(peer, body, cx));
        } else {
            self.heard.keep(|peer| peers.contains(peer));
            match self.heard.rows(params.rows_max.min(ROWS_MAX), |peer| self.inner.minds(peer)) {
                Some(rows) => self.dispatch(Dest::Everyone, rows, body, cx),
                None => peers.iter().for_each(|peer| self.unicast(peer, body, cx)),
            }
        }
        if params.refresh != Duration::MAX {
            cx.arm(Layered::Own(Refresh), cx.now() + params.refresh);
        }
    }

    /// Runs a handler of the inner protocol and stamps its messages.
    fn within(
        &mut self,
        bound: Option<Duration>,
        cx: &mut Cx<'_, Self>,
        act: impl FnOnce(&mut P, &mut Cx<'_, P>),
    ) {
        let params = cx.params();
        assert!(self.scratch.is_empty(), "no effect of an earlier step is left in the layer");
        let spoke = self.inner.speaks();
        act(&mut self.inner, &mut cx.inner(&params.inner, bound, &mut self.scratch));
        self.lift(cx);
        if !spoke && self.inner.speaks() {
            self.broadcast(None, cx);
        }
    }

    /// Moves the effects out, because stamping needs the rest of the layer, and puts the empty list
    /// back.
    fn lift(&mut self, cx: &mut Cx<'_, Self>) {
        let mut effects = core::mem::take(&mut self.scratch);
        for effect in &mut effects {
            match effect {
                // Cloned where they go: a message has room for the longest, and is usually short.
                Effect::Send(Dest::Everyone, body) => self.broadcast(Some(body), cx),
                Effect::Send(Dest::Node(to), body) => self.unicast(*to, Some(body), cx),
                Effect::Arm(timer, at) => cx.arm(Layered::Inner(*timer), *at),
                Effect::Disarm(timer) => cx.disarm(Layered::Inner(*timer)),
                Effect::Store(bytes) => cx.store(core::mem::take(bytes)),
            }
        }
        effects.clear();
        self.scratch = effects;
    }
}

impl<P: Inner> Protocol for FailAware<P> {
    const NAME: &'static str = P::NAME;
    const ON_DEMAND: bool = P::ON_DEMAND;
    type Params = Params<P::Params>;
    type Message = Frame<P::Message>;
    type Timer = Layered<Refresh, P::Timer>;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        let params = cx.params();
        let mut scratch = Vec::new();
        let inner = P::start(boot, &mut cx.inner(&params.inner, None, &mut scratch));
        let spoke = scratch.iter().any(|wish| matches!(wish, Effect::Send(Dest::Everyone, _)));
        let (me, life) = (boot.me, boot.incarnation);
        let heard = Table::default();
        let mut layer =
            Self { me, life, heard, outlived: None, bound: Observed(None), inner, scratch };
        layer.lift(cx);
        if !spoke && layer.inner.speaks() {
            layer.broadcast(None, cx);
        }
        layer
    }

    fn on_message(&mut self, from: NodeId, frame: Cow<'_, Self::Message>, cx: &mut Cx<'_, Self>) {
        self.bound = Observed(None); // of this frame, or of none
        let (now, params) = (cx.now(), cx.params());
        if !cx.peers().contains(from) {
            return;
        }
        if let Some(body) = frame.body.as_ref().filter(|body| !P::is_timed(body)) {
            return self.within(None, cx, |inner, cx| {
                inner.on_message(from, Cow::Borrowed(body), cx);
            });
        }
        let heard = Heard { life: frame.life, sent: frame.sent, received: now };
        let drift_ppm = self.inner.drift_ppm().unwrap_or(params.drift_ppm);
        match self.heard.note(from, heard, drift_ppm, params.rules) {
            Life::Former => return,
            Life::Present => {}
            Life::New => self.on_peer(from, Reach::Up, cx),
        }
        let row = frame.echoes.iter().find(|row| row.node == self.me);
        let known = row.map(|row| row.life);
        self.outlived = self.outlived.max(known.filter(|known| *known > self.life));
        let trip = row.and_then(|row| self.round_trip(row, frame.sent, params, now));
        self.bound = Observed(trip.map(|trip| params.bound(trip, drift_ppm)));
        let bound = frame.body.is_some().then(|| self.last_delay_bound()).flatten();
        let slow = frame.body.is_some() && bound.is_none_or(|bound| bound > params.fast);
        // An empty frame with a row for this incarnation is an answer: it is not answered again.
        let answer = || frame.echoes.iter().any(|row| row.node == self.me && row.life == self.life);
        let asks = slow || trip.is_none() && !answer();
        if asks && params.rules.keep(Rule::Answer) && self.inner.speaks() {
            self.unicast(from, None, cx);
        }
        if let Some(body) = &frame.body {
            self.within(bound, cx, |inner, cx| inner.on_message(from, Cow::Borrowed(body), cx));
        }
    }

    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Cx<'_, Self>) {
        match timer {
            Layered::Own(Refresh) if !self.inner.speaks() => {}
            Layered::Own(Refresh) => self.broadcast(None, cx),
            Layered::Inner(timer) => self.within(None, cx, |inner, cx| inner.on_timer(timer, cx)),
        }
    }

    fn on_peer(&mut self, peer: NodeId, reach: Reach, cx: &mut Cx<'_, Self>) {
        self.within(None, cx, |inner, cx| inner.on_peer(peer, reach, cx));
    }

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        let params = cx.params();
        let mut within = cx.inner(&params.inner, None, &mut self.scratch);
        let answer = self.inner.on_command(command, &mut within);
        if answer.is_err() {
            self.scratch.clear(); // before broadcasting them could change the table
        }
        self.lift(cx);
        answer
    }

    fn invited(&self, now: Instant) -> Option<NodeId> {
        self.inner.invited(now)
    }

    fn successor(&self, now: Instant) -> Option<NodeId> {
        self.inner.successor(now)
    }

    fn partition(&self, now: Instant) -> Option<u64> {
        self.inner.partition(now)
    }

    fn lease_end(&self, now: Instant) -> Option<Instant> {
        self.inner.lease_end(now)
    }

    fn refusal(&self, command: Command, cx: &mut Cx<'_, Self>) -> Option<Refused> {
        let params = cx.params();
        self.inner.refusal(command, &mut cx.inner(&params.inner, None, &mut Vec::new()))
    }

    fn leadership(&self, now: Instant) -> Leadership<'_> {
        self.inner.leadership(now)
    }

    fn last_delay_bound(&self) -> Option<Duration> {
        self.bound.0.map(|bound| bound.longest())
    }

    /// Nobody read a clock for it, so its stamp is the earliest there is: it bounds no delay, and
    /// every other stamp of that incarnation serves better.
    fn last_will(life: u64, params: &Self::Params) -> Option<Self::Message> {
        let body = Some(P::last_will(life, &params.inner)?);
        Some(Frame { life, sent: Instant::ZERO, echoes: Echoes::new(), body })
    }

    fn facts(&self, now: Instant, tell: &mut dyn FnMut(Fact)) {
        if let Some(life) = self.outlived {
            tell(Fact::Outlived { life });
        }
        self.inner.facts(now, tell);
    }

    fn instants(&mut self, rebase: &Rebase<'_>) {
        self.heard.instants(rebase);
        self.inner.instants(rebase);
    }
}
