//! A perfect datagram service for explored groups: every delay is known exactly.
//!
//! All clocks of an explored group agree, so a message with its send time tells its delay. The
//! inner state machine is the real one. The layer that bounds delays with real clocks has a
//! property test of its own; here its memory would only multiply states.

use bellwether_core::{
    Boot, Command, Cx, Dest, Effect, Fact, Instant, Layered, Leadership, Malformed, Message,
    NoTimer, NodeId, Protocol, Reader, Rebase, Refused, WireWrite,
};
use std::borrow::Cow;

/// A protocol whose messages say when they were sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Timed<P: Protocol> {
    inner: P,
    scratch: Vec<Effect<P>>,
}

/// A message and when it was sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dated<M> {
    sent: Instant,
    body: M,
}

impl<M: Message> Message for Dated<M> {
    fn kind(&self) -> &'static str {
        self.body.kind()
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_instant(self.sent);
        self.body.encode(out);
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self { sent: input.instant()?, body: M::decode(input)? })
    }

    fn instants(&mut self, to: NodeId, rebase: &Rebase<'_>) {
        rebase.stamp(&mut self.sent);
        self.body.instants(to, rebase);
    }
}

impl<P: Protocol> Timed<P> {
    fn lift(&mut self, cx: &mut Cx<'_, Self>) {
        let mut effects = std::mem::take(&mut self.scratch);
        for effect in effects.drain(..) {
            if let Some((to, body)) = cx.lift(effect) {
                let sent = cx.now();
                let dated = Dated { sent, body };
                match to {
                    Dest::Everyone => cx.broadcast(dated),
                    Dest::Node(node) => cx.send(node, dated),
                }
            }
        }
        self.scratch = effects;
    }
}

impl<P: Protocol> Protocol for Timed<P> {
    const NAME: &'static str = P::NAME;
    const ON_DEMAND: bool = P::ON_DEMAND;
    type Params = P::Params;
    type Message = Dated<P::Message>;
    type Timer = Layered<NoTimer, P::Timer>;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        let mut scratch = Vec::new();
        let inner = P::start(boot, &mut cx.inner(cx.params(), None, &mut scratch));
        let mut timed = Self { inner, scratch };
        timed.lift(cx);
        timed
    }

    fn on_message(&mut self, from: NodeId, dated: Cow<'_, Self::Message>, cx: &mut Cx<'_, Self>) {
        let Dated { sent, body } = dated.into_owned();
        let took = Some(cx.now().since(sent));
        let mut within = cx.inner(cx.params(), took, &mut self.scratch);
        self.inner.on_message(from, Cow::Owned(body), &mut within);
        self.lift(cx);
    }

    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Cx<'_, Self>) {
        let Layered::Inner(timer) = timer;
        self.inner.on_timer(timer, &mut cx.inner(cx.params(), None, &mut self.scratch));
        self.lift(cx);
    }

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        let mut within = cx.inner(cx.params(), None, &mut self.scratch);
        let answer = self.inner.on_command(command, &mut within);
        if answer.is_err() {
            self.scratch.clear();
        }
        self.lift(cx);
        answer
    }

    fn last_will(life: u64, params: &P::Params) -> Option<Dated<P::Message>> {
        Some(Dated { sent: Instant::ZERO, body: P::last_will(life, params)? })
    }

    fn leadership(&self, now: Instant) -> Leadership<'_> {
        self.inner.leadership(now)
    }

    fn facts(&self, now: Instant, tell: &mut dyn FnMut(Fact)) {
        self.inner.facts(now, tell);
    }

    fn instants(&mut self, rebase: &Rebase<'_>) {
        self.inner.instants(rebase);
    }
}
