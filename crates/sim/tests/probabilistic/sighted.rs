//! Weak views: the protocol, of whose processes each sees a part of the group, as a hash of the two
//! ids says. Nothing is kept; a view is computed.

use bellwether_core::{
    Boot, Command, Cx, Effect, Env, Fact, Instant, Leadership, NodeId, Peers, Protocol, Reach,
    Rebase, Refused,
};
use bellwether_protocols::probabilistic::{Message, Params, Probabilistic, Timer};
use bellwether_sim::Coins;
use std::borrow::Cow;

/// Who sees whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Views {
    /// How probable it is that one sees another.
    pub(crate) chance: f64,
    pub(crate) nodes: u64,
    pub(crate) seed: u64,
}

impl Views {
    pub(crate) fn sees(&self, me: NodeId, other: NodeId) -> bool {
        me != other && Coins::new(self.seed, me.0).stream(other.0 as u32).unit() < self.chance
    }
}

struct View(Views, NodeId);

impl Peers for View {
    fn len(&self) -> usize {
        let this: &dyn Peers = self;
        this.iter().count()
    }

    fn estimate(&self) -> usize {
        self.0.nodes as usize - 1
    }

    fn contains(&self, id: NodeId) -> bool {
        id.0 < self.0.nodes && self.0.sees(self.1, id)
    }

    fn after(&self, id: Option<NodeId>) -> Option<NodeId> {
        let first = id.map_or(0, |id| id.0.saturating_add(1));
        (first..self.0.nodes).map(NodeId).find(|id| self.contains(*id))
    }
}

/// A process with a view of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sighted {
    me: NodeId,
    inner: Probabilistic,
}

type Context<'a> = Cx<'a, Sighted>;

/// One step of the process inside, with its own view.
fn step<R>(
    me: NodeId,
    cx: &mut Context<'_>,
    act: impl FnOnce(&mut Cx<'_, Probabilistic>) -> R,
) -> R {
    let (params, views) = cx.params();
    let (view, mut effects) = (View(*views, me), Vec::new());
    let now = cx.now();
    let mut env = Env { now, peers: &view, entropy: cx.entropy() };
    let result = act(&mut Cx::new(&mut env, params, &mut effects));
    for effect in effects {
        match effect {
            Effect::Arm(timer, at) => cx.arm(timer, at),
            Effect::Disarm(timer) => cx.disarm(timer),
            Effect::Send(to, message) => cx.dispatch(to, message),
            Effect::Store(bytes) => cx.store(bytes),
        }
    }
    result
}

impl Protocol for Sighted {
    const NAME: &'static str = "sighted";
    type Params = (Params, Views);
    type Message = Message;
    type Timer = Timer;

    fn start(boot: Boot<'_>, cx: &mut Context<'_>) -> Self {
        let me = boot.me;
        Self { me, inner: step(me, cx, |cx| Probabilistic::start(boot, cx)) }
    }

    fn on_message(&mut self, from: NodeId, message: Cow<'_, Message>, cx: &mut Context<'_>) {
        step(self.me, cx, |cx| self.inner.on_message(from, message, cx));
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Context<'_>) {
        step(self.me, cx, |cx| self.inner.on_timer(timer, cx));
    }

    fn on_peer(&mut self, peer: NodeId, reach: Reach, cx: &mut Context<'_>) {
        step(self.me, cx, |cx| self.inner.on_peer(peer, reach, cx));
    }

    fn on_command(&mut self, command: Command, cx: &mut Context<'_>) -> Result<(), Refused> {
        step(self.me, cx, |cx| self.inner.on_command(command, cx))
    }

    fn bar(&self) -> u64 {
        self.inner.bar()
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
