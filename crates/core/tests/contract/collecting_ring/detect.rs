//! A failure detector: a layer that turns missing heartbeats into `on_peer` for what it wraps.

use bellwether_core::*;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A layer: heartbeats outside, reachability inside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Detect<P: Protocol> {
    /// When each peer that is up will be held to be down; one sweep serves them all.
    overdue: BTreeMap<NodeId, Instant>,
    pub(crate) inner: P,
    /// What the protocol inside asks for during a step; empty between steps.
    scratch: Vec<Effect<P>>,
}

#[derive(Clone, Debug)]
pub(crate) struct DetectParams<I> {
    /// A heartbeat this often.
    pub(crate) every: Duration,
    /// Down after so long a silence.
    pub(crate) patience: Duration,
    pub(crate) inner: I,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Frame<M> {
    Beat,
    Inner(M),
}

impl<M: Message> Message for Frame<M> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Beat => "beat",
            Self::Inner(message) => message.kind(),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Beat => out.put_flag(false),
            Self::Inner(message) => {
                out.put_flag(true);
                message.encode(out);
            }
        }
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        if input.flag()? { M::decode(input).map(Self::Inner) } else { Ok(Self::Beat) }
    }

    fn instants(&mut self, to: NodeId, rebase: &Rebase<'_>) {
        if let Self::Inner(message) = self {
            message.instants(to, rebase);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Pulse {
    Beat,
    Sweep,
}

impl TimerKind for Pulse {
    type Slots = [Instant; 2];

    fn slot(self) -> usize {
        self as usize
    }

    fn at(slot: usize) -> Self {
        [Self::Beat, Self::Sweep][slot]
    }
}

impl<P: Protocol> Detect<P> {
    /// Runs a handler of the protocol inside and sends what it sends.
    fn within<R>(
        &mut self,
        cx: &mut Cx<'_, Self>,
        act: impl FnOnce(&mut P, &mut Cx<'_, P>) -> R,
    ) -> R {
        let (params, bound) = (cx.params(), cx.delay_bound());
        let effects = &mut self.scratch;
        let answer = act(&mut self.inner, &mut cx.inner(&params.inner, bound, effects));
        self.lift(cx);
        answer
    }

    /// Empties the scratch list, but keeps its room.
    fn lift(&mut self, cx: &mut Cx<'_, Self>) {
        for effect in self.scratch.drain(..) {
            if let Some((to, message)) = cx.lift(effect) {
                cx.dispatch(to, Frame::Inner(message));
            }
        }
    }

    /// Any message is a sign of life.
    fn hear(&mut self, from: NodeId, cx: &mut Cx<'_, Self>) {
        let due = cx.now() + cx.params().patience;
        if cx.peers().contains(from) && self.overdue.insert(from, due).is_none() {
            self.within(cx, |inner, cx| inner.on_peer(from, Reach::Up, cx));
            self.await_next(cx);
        }
    }

    fn beat(&self, cx: &mut Cx<'_, Self>) {
        cx.broadcast(Frame::Beat);
        cx.arm(Layered::Own(Pulse::Beat), cx.now() + cx.params().every);
    }

    fn sweep(&mut self, cx: &mut Cx<'_, Self>) {
        let now = cx.now();
        while let Some(peer) = self.overdue.iter().find(|(_, due)| **due <= now).map(|(id, _)| *id)
        {
            self.overdue.remove(&peer);
            self.within(cx, |inner, cx| inner.on_peer(peer, Reach::Down, cx));
        }
        self.await_next(cx);
    }

    fn await_next(&self, cx: &mut Cx<'_, Self>) {
        let first = self.overdue.values().min().copied();
        cx.arm(Layered::Own(Pulse::Sweep), first.unwrap_or(Instant::NEVER));
    }
}

impl<P: Protocol> Protocol for Detect<P> {
    const NAME: &'static str = P::NAME;
    type Params = DetectParams<P::Params>;
    type Message = Frame<P::Message>;
    type Timer = Layered<Pulse, P::Timer>;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        let params = cx.params();
        let mut scratch = Vec::new();
        let inner = P::start(boot, &mut cx.inner(&params.inner, None, &mut scratch));
        // Everyone is held to be up until silence says otherwise.
        let due = cx.now() + params.patience;
        let overdue = cx.peers().iter().map(|peer| (peer, due)).collect();
        let mut layer = Self { overdue, inner, scratch };
        layer.lift(cx);
        layer.beat(cx);
        layer.await_next(cx);
        layer
    }

    fn on_message(&mut self, from: NodeId, frame: Cow<'_, Self::Message>, cx: &mut Cx<'_, Self>) {
        self.hear(from, cx);
        let message = match frame {
            Cow::Owned(Frame::Inner(message)) => Cow::Owned(message),
            Cow::Borrowed(Frame::Inner(message)) => Cow::Borrowed(message),
            Cow::Owned(Frame::Beat) | Cow::Borrowed(Frame::Beat) => return,
        };
        self.within(cx, |inner, cx| inner.on_message(from, message, cx));
    }

    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Cx<'_, Self>) {
        match timer {
            Layered::Own(Pulse::Beat) => self.beat(cx),
            Layered::Own(Pulse::Sweep) => self.sweep(cx),
            Layered::Inner(timer) => self.within(cx, |inner, cx| inner.on_timer(timer, cx)),
        }
    }

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        self.within(cx, |inner, cx| inner.on_command(command, cx))
    }

    fn leadership(&self, now: Instant) -> Leadership<'_> {
        self.inner.leadership(now)
    }

    fn facts(&self, now: Instant, tell: &mut dyn FnMut(Fact)) {
        self.overdue.keys().for_each(|&peer| tell(Fact::Alive { peer }));
        self.inner.facts(now, tell);
    }

    fn instants(&mut self, rebase: &Rebase<'_>) {
        for due in self.overdue.values_mut() {
            rebase.deadline(due);
        }
        self.inner.instants(rebase);
    }
}
