//! A process twice: as a simulator holds it, and behind bytes as a live runtime does.
//!
//! Both are given the same events and the same draws. After every step they must have asked for the
//! same, in the order that the contract says, and believe the same.

use bellwether_core::{
    Boot, Change, Command, Dest, Effect, Endpoint, Entropy, Env, Fact, Input, Instant, Message,
    Node, NodeId, Output, Peers, Protocol, Reach, Refused, Seeded, Stage, Term, endpoint,
};
use std::borrow::Cow;

/// Something that happens to a process.
pub(crate) enum Event<M> {
    Message(NodeId, M),
    Peer(NodeId, Reach),
    Command(Command),
    Timeout,
}

/// What was asked for in a step, and whether the belief changed.
pub(crate) struct Step<M> {
    pub(crate) sends: Vec<(Dest, M)>,
    pub(crate) stored: Option<Vec<u8>>,
    pub(crate) changed: bool,
}

/// What a process believes, without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Belief {
    pub(crate) leaders: Vec<NodeId>,
    pub(crate) term: Option<Term>,
    pub(crate) stage: Stage,
}

/// Draws, and sees to it that nobody draws among nothing.
struct Luck(Seeded);

impl Entropy for Luck {
    fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "a draw among nothing");
        self.0.below(n)
    }
}

/// The process.
pub(crate) struct Twin<P: Protocol> {
    node: Node<P>,
    node_luck: Luck,
    endpoint: Box<dyn Endpoint>,
    endpoint_luck: Luck,
    seen: Belief,
}

impl<P: Protocol> Twin<P> {
    /// Begins; what it asks for.
    pub(crate) fn start(
        boot: Boot<'_>,
        seed: u64,
        peers: &dyn Peers,
        now: Instant,
        params: &P::Params,
    ) -> (Self, Step<P::Message>) {
        let luck = || Luck(Seeded::new(seed));
        let (mut node_luck, mut endpoint_luck, mut effects) = (luck(), luck(), Vec::new());
        let mut env = Env { now, peers, entropy: &mut node_luck };
        let node = Node::start(boot, &mut env, params, &mut effects);
        let mut env = Env { now, peers, entropy: &mut endpoint_luck };
        let endpoint = endpoint::<P>(boot, &mut env, params.clone());
        let seen = belief(&node, now);
        let mut twin = Self { node, node_luck, endpoint, endpoint_luck, seen };
        let step = twin.compare(effects, Change::Changed, now);
        (twin, step)
    }

    pub(crate) fn node(&self) -> &Node<P> {
        &self.node
    }

    pub(crate) fn belief(&self, now: Instant) -> Belief {
        belief(&self.node, now)
    }

    /// Lets it happen to both.
    pub(crate) fn handle(
        &mut self,
        event: Event<P::Message>,
        peers: &dyn Peers,
        now: Instant,
        params: &P::Params,
    ) -> Step<P::Message> {
        self.is_not_woken_early(peers, now, params);
        let before = self.node.clone();
        let (mut effects, mut silent) = (Vec::new(), false);
        let mut env = Env { now, peers, entropy: &mut self.node_luck };
        let answer = match &event {
            Event::Message(from, message) => {
                silent =
                    message.weight() < before.min_weight() || before.is_redundant(message, params);
                let input = Input::Message(*from, Cow::Borrowed(message));
                Ok(self.node.handle(input, &mut env, params, &mut effects))
            }
            Event::Peer(peer, reach) => {
                Ok(self.node.handle(Input::Peer(*peer, *reach), &mut env, params, &mut effects))
            }
            Event::Timeout => Ok(self.node.handle(Input::Timeout, &mut env, params, &mut effects)),
            Event::Command(command) => self.node.command(*command, &mut env, params, &mut effects),
        };
        if silent || answer.is_err() {
            assert!(effects.is_empty(), "{}: asked for something all the same", P::NAME);
            assert_eq!(self.node, before, "{}: what was to change nothing did", P::NAME);
        }
        assert_eq!(self.tell_endpoint(event, peers, now), answer.map(|_| ()));
        self.compare(effects, answer.unwrap_or(Change::Same), now)
    }

    /// Handles the same event behind bytes.
    fn tell_endpoint(
        &mut self,
        event: Event<P::Message>,
        peers: &dyn Peers,
        now: Instant,
    ) -> Result<(), Refused> {
        let mut env = Env { now, peers, entropy: &mut self.endpoint_luck };
        match event {
            Event::Message(from, message) => {
                let mut bytes = Vec::new();
                message.encode(&mut bytes);
                let kind = self.endpoint.datagram(from, &bytes, &mut env);
                assert_eq!(kind, Ok(message.kind()), "what one wrote another reads");
            }
            Event::Peer(peer, reach) => self.endpoint.peer(peer, reach, &mut env),
            Event::Timeout => self.endpoint.timeout(&mut env),
            Event::Command(command) => return self.endpoint.command(command, &mut env),
        }
        Ok(())
    }

    /// Whoever is told that time passed before its deadline does nothing.
    fn is_not_woken_early(&self, peers: &dyn Peers, now: Instant, params: &P::Params) {
        if self.node.poll_timeout() <= now {
            return;
        }
        let (mut node, mut effects) = (self.node.clone(), Vec::new());
        let mut luck = Luck(Seeded::new(1));
        let mut env = Env { now, peers, entropy: &mut luck };
        let change = node.handle(Input::Timeout, &mut env, params, &mut effects);
        assert!(effects.is_empty() && change == Change::Same, "{} was woken early", P::NAME);
        assert_eq!(node, self.node, "{} was woken early", P::NAME);
    }

    /// Holds what both asked for and believe against each other.
    fn compare(
        &mut self,
        effects: Vec<Effect<P>>,
        change: Change,
        now: Instant,
    ) -> Step<P::Message> {
        let changed = change == Change::Changed;
        let mut step = Step { sends: Vec::new(), stored: None, changed };
        let (mut stores, mut sends) = (Vec::new(), Vec::new());
        for effect in effects {
            match effect {
                Effect::Store(bytes) => {
                    step.stored = Some(bytes.clone());
                    stores.push(Output::Store(bytes));
                }
                Effect::Send(to, message) => {
                    let mut bytes = Vec::new();
                    message.encode(&mut bytes);
                    sends.push(Output::Send { to, message: message.kind(), bytes });
                    step.sends.push((to, message));
                }
                Effect::Arm(..) | Effect::Disarm(_) => panic!("a node sees to its own timers"),
            }
        }
        let news = changed.then_some(Output::Leadership);
        let expected: Vec<Output> = stores.into_iter().chain(sends).chain(news).collect();
        let outputs: Vec<Output> = std::iter::from_fn(|| self.endpoint.poll_output()).collect();
        assert_eq!(outputs, expected, "{}: stores, then messages, then the news", P::NAME);
        let (node, other) = (&self.node, &self.endpoint);
        let believed = node.leadership(now);
        assert_eq!(other.leadership(now), believed, "{}", P::NAME);
        assert_eq!(other.poll_timeout(), node.poll_timeout(), "{}", P::NAME);
        assert!(node.poll_timeout() <= believed.until, "a belief ends by a deadline");
        assert_eq!(other.due(now), node.due(now).map(|timer| format!("{timer:?}")));
        let (mut told, mut also) = (Vec::new(), Vec::new());
        node.facts(now, &mut |fact: Fact| told.push(fact));
        other.facts(now, &mut |fact: Fact| also.push(fact));
        assert_eq!(told, also, "{}", P::NAME);
        let seen = self.belief(now);
        assert!(self.seen == seen || changed, "{}: a change was not told", P::NAME);
        self.seen = seen;
        step
    }
}

fn belief<P: Protocol>(node: &Node<P>, now: Instant) -> Belief {
    let believed = node.leadership(now);
    let (leaders, term, stage) = (believed.leaders.to_vec(), believed.term, believed.stage);
    Belief { leaders, term, stage }
}
