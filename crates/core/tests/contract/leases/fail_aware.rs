//! Fail-aware datagrams: a layer that bounds how long each message was under way.
//!
//! For each peer it keeps the stamps of one message, A on the peer's clock and B on its own, and
//! sends them back with its own stamp C; whoever reads D on receipt has, with drift `r`,
//! `(D-A)/(1-r) - (C-B)/(1+r)`, less the fastest way back, as an upper bound of the way here.

use super::MILLION;
use bellwether_core::*;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The stamps of one message from a peer: sent on its clock, received on ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stamps {
    pub(crate) sent: Instant,
    pub(crate) received: Instant,
}

impl Stamps {
    fn instants(&mut self, peer: NodeId, rebase: &Rebase<'_>) {
        rebase.foreign(peer, &mut self.sent);
        rebase.stamp(&mut self.received);
    }
}

/// A layer: it stamps every message, echoes the peers' stamps, and bounds every delay.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FailAware<P: Protocol> {
    me: NodeId,
    /// The last stamps of each peer, to be echoed.
    rows: BTreeMap<NodeId, Stamps>,
    inner: P,
    /// What the protocol inside asks for during a step; empty between steps.
    pub(crate) scratch: Vec<Effect<P>>,
}

#[derive(Clone, Debug)]
pub(crate) struct FailAwareParams<I> {
    /// How wrong a clock may go, in millionths.
    pub(crate) drift_ppm: u64,
    /// No message is faster.
    pub(crate) fastest: Duration,
    /// How often stamps are refreshed when there is nothing else to say.
    pub(crate) refresh: Duration,
    /// Stamps older than this bound nothing usefully and are dropped.
    pub(crate) keep: Duration,
    pub(crate) inner: I,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame<M> {
    pub(crate) sent: Instant,
    /// For each receiver, the stamps of a message it sent; one row in a unicast.
    pub(crate) echoes: Vec<(NodeId, Stamps)>,
    /// Nothing in a frame that is there for its stamps.
    pub(crate) body: Option<M>,
}

impl<M: Message> Message for Frame<M> {
    fn kind(&self) -> &'static str {
        self.body.as_ref().map_or("stamp", M::kind)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_instant(self.sent);
        out.put_list(&self.echoes, |out, (peer, stamps)| {
            out.put_node(*peer);
            out.put_instant(stamps.sent);
            out.put_instant(stamps.received);
        });
        out.put_flag(self.body.is_some());
        if let Some(body) = &self.body {
            body.encode(out);
        }
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        let sent = input.instant()?;
        let echoes = input.list(24, |row| {
            let peer = row.node()?;
            Ok((peer, Stamps { sent: row.instant()?, received: row.instant()? }))
        })?;
        let body = if input.flag()? { Some(M::decode(input)?) } else { None };
        Ok(Self { sent, echoes, body })
    }

    fn instants(&mut self, to: NodeId, rebase: &Rebase<'_>) {
        rebase.stamp(&mut self.sent);
        self.echoes.iter_mut().for_each(|(peer, stamps)| stamps.instants(*peer, rebase));
        if let Some(body) = &mut self.body {
            body.instants(to, rebase);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Refresh;

impl TimerKind for Refresh {
    type Slots = [Instant; 1];

    fn slot(self) -> usize {
        0
    }

    fn at(_slot: usize) -> Self {
        Self
    }
}

impl<P: Protocol> FailAware<P> {
    /// Stamps a message and sends it.
    fn frame(&self, to: Dest, body: Option<P::Message>, cx: &mut Cx<'_, Self>) {
        let row = |(peer, stamps): (&NodeId, &Stamps)| (*peer, *stamps);
        let echoes = match to {
            Dest::Everyone => self.rows.iter().map(row).collect(),
            Dest::Node(to) => self.rows.get_key_value(&to).map(row).into_iter().collect(),
        };
        cx.dispatch(to, Frame { sent: cx.now(), echoes, body });
    }

    /// How long `frame` was under way at most: the round trip less the peer's share, both rounded
    /// outward. None without a round trip, or if its stamps contradict each other.
    pub(crate) fn bound(&self, frame: &Frame<P::Message>, cx: &Cx<'_, Self>) -> Option<Duration> {
        let (_, echo) = frame.echoes.iter().find(|(peer, _)| *peer == self.me)?;
        if echo.sent > cx.now() || echo.received > frame.sent {
            return None;
        }
        let drift = u128::from(cx.params().drift_ppm);
        let trip = u128::from(cx.now().since(echo.sent).as_nanos());
        let held = u128::from(frame.sent.since(echo.received).as_nanos());
        let longest = (trip * MILLION).div_ceil(MILLION - drift);
        let surely_held = held * MILLION / (MILLION + drift);
        let bound = u64::try_from(longest.saturating_sub(surely_held)).ok()?;
        Some(Duration::from_nanos(bound).saturating_sub(cx.params().fastest))
    }

    /// Runs a handler of the protocol inside and stamps what it sends.
    fn within<R>(
        &mut self,
        bound: Option<Duration>,
        cx: &mut Cx<'_, Self>,
        act: impl FnOnce(&mut P, &mut Cx<'_, P>) -> R,
    ) -> R {
        let params = cx.params();
        let effects = &mut self.scratch;
        let answer = act(&mut self.inner, &mut cx.inner(&params.inner, bound, effects));
        self.lift(cx);
        answer
    }

    /// Takes the scratch list, since framing needs the rest of the layer, and puts it back empty.
    fn lift(&mut self, cx: &mut Cx<'_, Self>) {
        let mut effects = std::mem::take(&mut self.scratch);
        for effect in effects.drain(..) {
            if let Some((to, message)) = cx.lift(effect) {
                self.frame(to, Some(message), cx);
            }
        }
        self.scratch = effects;
    }
}

impl<P: Protocol> Protocol for FailAware<P> {
    const NAME: &'static str = P::NAME;
    type Params = FailAwareParams<P::Params>;
    type Message = Frame<P::Message>;
    type Timer = Layered<Refresh, P::Timer>;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        let params = cx.params();
        let mut scratch = Vec::new();
        let inner = P::start(boot, &mut cx.inner(&params.inner, None, &mut scratch));
        let mut layer = Self { me: boot.me, rows: BTreeMap::new(), inner, scratch };
        layer.lift(cx);
        cx.arm(Layered::Own(Refresh), cx.now() + params.refresh);
        layer
    }

    fn on_message(&mut self, from: NodeId, frame: Cow<'_, Self::Message>, cx: &mut Cx<'_, Self>) {
        let bound = self.bound(&frame, cx);
        self.rows.insert(from, Stamps { sent: frame.sent, received: cx.now() });
        let body = match frame {
            Cow::Owned(frame) => frame.body.map(Cow::Owned),
            Cow::Borrowed(frame) => frame.body.as_ref().map(Cow::Borrowed),
        };
        let Some(body) = body else { return };
        if bound.is_none() {
            // The sender shall have a round trip with us; empty frames are not answered.
            self.frame(Dest::Node(from), None, cx);
        }
        self.within(bound, cx, |inner, cx| inner.on_message(from, body, cx));
    }

    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Cx<'_, Self>) {
        match timer {
            Layered::Own(Refresh) => {
                let (now, params) = (cx.now(), cx.params());
                self.rows.retain(|_, stamps| now.since(stamps.received) <= params.keep);
                self.frame(Dest::Everyone, None, cx);
                cx.arm(timer, now + params.refresh);
            }
            Layered::Inner(timer) => self.within(None, cx, |inner, cx| inner.on_timer(timer, cx)),
        }
    }

    fn on_peer(&mut self, peer: NodeId, reach: Reach, cx: &mut Cx<'_, Self>) {
        self.within(None, cx, |inner, cx| inner.on_peer(peer, reach, cx));
    }

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        self.within(None, cx, |inner, cx| inner.on_command(command, cx))
    }

    fn leadership(&self, now: Instant) -> Leadership<'_> {
        self.inner.leadership(now)
    }

    fn facts(&self, now: Instant, tell: &mut dyn FnMut(Fact)) {
        self.inner.facts(now, tell);
    }

    fn instants(&mut self, rebase: &Rebase<'_>) {
        self.rows.iter_mut().for_each(|(peer, stamps)| stamps.instants(*peer, rebase));
        self.inner.instants(rebase);
    }
}
