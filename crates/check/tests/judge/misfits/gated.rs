//! A model of what the runtime does with frames before a protocol sees them.
//!
//! Each process of the world is a *place*: an address. A member claims an id and has a list of the
//! group, which says at which place each id is. Every message carries the claimed id and a charter:
//! the ids of the list. The gate lets in what has the receiver's charter and comes from the place
//! at which the receiver lists its sender.

use bellwether_core::{
    Boot, Command, Cx, Dest, Effect, Env, Fact, Instant, Layered, Leadership, Malformed, Members,
    Message, NoTimer, NodeId, Protocol, Reader, Rebase, Refused, WireWrite,
};
use std::borrow::Cow;

/// A member as its configuration has it.
#[derive(Clone, Debug)]
pub(crate) struct Member<I> {
    /// The id it claims.
    pub(crate) id: u64,
    /// The ids of the group, and the place of each.
    pub(crate) list: Vec<(u64, u64)>,
    /// Whether there is a gate.
    pub(crate) gate: bool,
    /// The parameters of the protocol.
    pub(crate) inner: I,
}

impl<I> Member<I> {
    fn peers(&self) -> Members {
        let others = self.list.iter().map(|(id, _)| *id).filter(|id| *id != self.id);
        others.map(NodeId).collect()
    }

    fn charter(&self) -> Vec<u64> {
        self.list.iter().map(|(id, _)| *id).collect()
    }

    fn admits<M>(&self, from: NodeId, frame: &Frame<M>) -> bool {
        let listed = self.list.contains(&(frame.id.0, from.0));
        !self.gate || listed && frame.charter == self.charter()
    }
}

/// A message, who says it and to which group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame<M> {
    id: NodeId,
    charter: Vec<u64>,
    body: M,
}

impl<M: Message> Message for Frame<M> {
    fn kind(&self) -> &'static str {
        self.body.kind()
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_node(self.id);
        out.put_list(&self.charter, |out, id| out.put_u64(*id));
        self.body.encode(out);
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (id, charter) = (input.node()?, input.list(8, Reader::u64)?);
        Ok(Self { id, charter, body: M::decode(input)? })
    }
}

/// A protocol behind a gate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Gated<P: Protocol> {
    place: NodeId,
    id: NodeId,
    inner: P,
    scratch: Vec<Effect<P>>,
}

impl<P: Protocol> Gated<P> {
    /// A step of the protocol inside, which knows the group by its own list.
    fn within<R>(
        &mut self,
        cx: &mut Cx<'_, Self>,
        act: impl FnOnce(&mut P, &mut Cx<'_, P>) -> R,
    ) -> R {
        let (now, member) = (cx.now(), cx.params());
        let peers = member.peers();
        let mut env = Env { now, peers: &peers, entropy: cx.entropy() };
        let mut within = Cx::new(&mut env, &member.inner, &mut self.scratch);
        let result = act(&mut self.inner, &mut within);
        self.lift(cx);
        result
    }

    fn lift(&mut self, cx: &mut Cx<'_, Self>) {
        let (member, mut effects) = (cx.params(), std::mem::take(&mut self.scratch));
        for effect in effects.drain(..) {
            let Some((to, body)) = cx.lift(effect) else { continue };
            let meant = |id: u64| to == Dest::Everyone || to == Dest::Node(NodeId(id));
            for (id, place) in &member.list {
                if *id != member.id && meant(*id) {
                    let (id, charter) = (self.id, member.charter());
                    cx.send(NodeId(*place), Frame { id, charter, body: body.clone() });
                }
            }
        }
        self.scratch = effects;
    }
}

impl<P: Protocol> Protocol for Gated<P> {
    const NAME: &'static str = P::NAME;
    const ON_DEMAND: bool = P::ON_DEMAND;
    type Params = Member<P::Params>;
    type Message = Frame<P::Message>;
    type Timer = Layered<NoTimer, P::Timer>;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        let (now, member) = (cx.now(), cx.params());
        let (place, id) = (boot.me, NodeId(member.id));
        let (mut scratch, peers) = (Vec::new(), member.peers());
        let mut env = Env { now, peers: &peers, entropy: cx.entropy() };
        let boot = Boot { me: id, rank: id.0, ..boot };
        let inner = P::start(boot, &mut Cx::new(&mut env, &member.inner, &mut scratch));
        let mut gated = Self { place, id, inner, scratch };
        gated.lift(cx);
        gated
    }

    fn on_message(&mut self, from: NodeId, frame: Cow<'_, Self::Message>, cx: &mut Cx<'_, Self>) {
        let frame = frame.into_owned();
        if cx.params().admits(from, &frame) {
            let Frame { id, body, .. } = frame;
            self.within(cx, |inner, cx| inner.on_message(id, Cow::Owned(body), cx));
        }
    }

    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Cx<'_, Self>) {
        let Layered::Inner(timer) = timer;
        self.within(cx, |inner, cx| inner.on_timer(timer, cx));
    }

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        self.within(cx, |inner, cx| inner.on_command(command, cx))
    }

    /// Who leads does so at its place, whatever id it claims.
    fn leadership(&self, now: Instant) -> Leadership<'_> {
        let belief = self.inner.leadership(now);
        if belief.names(self.id) {
            return Leadership { leaders: std::slice::from_ref(&self.place), ..belief };
        }
        belief
    }

    fn facts(&self, now: Instant, tell: &mut dyn FnMut(Fact)) {
        self.inner.facts(now, tell);
    }

    fn instants(&mut self, rebase: &Rebase<'_>) {
        self.inner.instants(rebase);
    }
}
