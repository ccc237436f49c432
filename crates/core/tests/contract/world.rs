//! A small deterministic world: one event queue, typed processes or processes behind bytes.
//!
//! One world drives both kinds through [`Process`], so that whatever a skeleton does as a
//! `Node<P>` can be held against what it does as a `Box<dyn Endpoint>`; see [`both`].

use bellwether_core::*;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A step takes at most this many events; more is a protocol that talks to itself for ever.
const EVENTS_MAX: usize = 200_000;

/// What the world needs of a process.
pub(crate) trait Process {
    /// What travels.
    type Packet;

    fn receive(&mut self, from: NodeId, packet: Cow<'_, Self::Packet>, env: &mut Env<'_>)
    where
        Self::Packet: Clone;
    fn reach(&mut self, peer: NodeId, reach: Reach, env: &mut Env<'_>);
    fn command(&mut self, command: Command, env: &mut Env<'_>) -> Result<(), Refused>;
    fn timeout(&mut self, env: &mut Env<'_>);
    fn poll_timeout(&self) -> Instant;
    fn leadership(&self, now: Instant) -> Leadership<'_>;
    /// What the last step asked for.
    fn take(&mut self) -> Wishes<Self::Packet>;
}

/// What a step asked for, in the order in which it is to be done.
pub(crate) struct Wishes<M> {
    pub(crate) stored: Option<Vec<u8>>,
    pub(crate) sends: Vec<(Dest, M)>,
    pub(crate) changed: bool,
}

/// A process as a simulator holds it.
pub(crate) struct Typed<P: Protocol> {
    pub(crate) node: Node<P>,
    params: P::Params,
    effects: Vec<Effect<P>>,
    changed: bool,
}

impl<P: Protocol> Typed<P> {
    fn start(boot: Boot<'_>, env: &mut Env<'_>, params: P::Params) -> Self {
        let mut effects = Vec::new();
        let node = Node::start(boot, env, &params, &mut effects);
        // To begin is a change: before it the process believed nothing at all.
        Self { node, params, effects, changed: true }
    }

    fn step(&mut self, input: Input<'_, P>, env: &mut Env<'_>) {
        let change = self.node.handle(input, env, &self.params, &mut self.effects);
        self.changed = change == Change::Changed;
    }
}

impl<P: Protocol> Process for Typed<P> {
    type Packet = P::Message;

    fn receive(&mut self, from: NodeId, packet: Cow<'_, P::Message>, env: &mut Env<'_>) {
        self.step(Input::Message(from, packet), env);
    }

    fn reach(&mut self, peer: NodeId, reach: Reach, env: &mut Env<'_>) {
        self.step(Input::Peer(peer, reach), env);
    }

    fn command(&mut self, command: Command, env: &mut Env<'_>) -> Result<(), Refused> {
        let change = self.node.command(command, env, &self.params, &mut self.effects)?;
        self.changed = change == Change::Changed;
        Ok(())
    }

    fn timeout(&mut self, env: &mut Env<'_>) {
        self.step(Input::Timeout, env);
    }

    fn poll_timeout(&self) -> Instant {
        self.node.poll_timeout()
    }

    fn leadership(&self, now: Instant) -> Leadership<'_> {
        self.node.leadership(now)
    }

    fn take(&mut self) -> Wishes<P::Message> {
        let changed = std::mem::take(&mut self.changed);
        let mut wishes = Wishes { stored: None, sends: Vec::new(), changed };
        for effect in self.effects.drain(..) {
            match effect {
                Effect::Store(bytes) => wishes.stored = Some(bytes),
                Effect::Send(to, message) => wishes.sends.push((to, message)),
                Effect::Arm(..) | Effect::Disarm(_) => panic!("the node sees to its timers"),
            }
        }
        wishes
    }
}

impl Process for Box<dyn Endpoint> {
    type Packet = Vec<u8>;

    fn receive(&mut self, from: NodeId, packet: Cow<'_, Vec<u8>>, env: &mut Env<'_>) {
        self.datagram(from, &packet, env).expect("what an endpoint wrote another one reads");
    }

    fn reach(&mut self, peer: NodeId, reach: Reach, env: &mut Env<'_>) {
        self.peer(peer, reach, env);
    }

    fn command(&mut self, command: Command, env: &mut Env<'_>) -> Result<(), Refused> {
        self.as_mut().command(command, env)
    }

    fn timeout(&mut self, env: &mut Env<'_>) {
        self.as_mut().timeout(env);
    }

    fn poll_timeout(&self) -> Instant {
        self.as_ref().poll_timeout()
    }

    fn leadership(&self, now: Instant) -> Leadership<'_> {
        self.as_ref().leadership(now)
    }

    fn take(&mut self) -> Wishes<Vec<u8>> {
        let mut wishes = Wishes { stored: None, sends: Vec::new(), changed: false };
        while let Some(output) = self.poll_output() {
            assert!(!wishes.changed, "the news comes last");
            match output {
                Output::Store(bytes) => {
                    assert!(wishes.sends.is_empty(), "what is stored comes before what is sent");
                    wishes.stored = Some(bytes);
                }
                Output::Send { to, bytes, .. } => wishes.sends.push((to, bytes)),
                Output::Leadership => wishes.changed = true,
            }
        }
        wishes
    }
}

/// Who is in a world, what each sees, and how wrong the clocks are.
#[derive(Clone)]
pub(crate) struct Setup {
    /// The members, in order.
    pub(crate) ids: Vec<NodeId>,
    /// The view of one of them.
    pub(crate) view: fn(NodeId, &[NodeId]) -> Box<dyn Peers>,
    /// How far a member's clock is ahead of the world.
    pub(crate) ahead: fn(NodeId) -> Duration,
    /// Whether all links exist at the start; otherwise none does.
    pub(crate) linked: bool,
}

impl Setup {
    /// `1..=n`, fully linked, who all know each other and whose clocks agree in nothing.
    pub(crate) fn clique(n: u64) -> Self {
        Self {
            ids: (1..=n).map(NodeId).collect(),
            view: |me, ids| Box::new(without(me, ids)),
            ahead: |id| Duration::from_secs(1000) * id.0,
            linked: true,
        }
    }
}

/// All but one.
pub(crate) fn without(me: NodeId, ids: &[NodeId]) -> Members {
    ids.iter().copied().filter(|id| *id != me).collect()
}

/// What a member was seen to believe, by an observer who has the world's time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) at: SimTime,
    pub(crate) node: NodeId,
    pub(crate) leaders: Vec<NodeId>,
    pub(crate) term: Option<Term>,
    pub(crate) stage: Stage,
}

/// A story told to a world, whatever its processes are made of.
pub(crate) trait Drive {
    /// Lets time pass and everything happen that happens in it.
    fn run_for(&mut self, length: Duration);
    /// Stops a member without a word.
    fn crash(&mut self, id: u64);
    /// Starts it again, with what it stored.
    fn restart(&mut self, id: u64);
    /// Makes or cuts a link and tells both ends.
    fn link(&mut self, a: u64, b: u64, reach: Reach);
    /// Asks a member for something.
    fn command(&mut self, id: u64, command: Command) -> Result<(), Refused>;
    /// What the living believe now.
    fn beliefs(&self) -> Vec<Told>;
    /// Every change of belief so far.
    fn log(&self) -> &[Told];
    /// How many messages were sent; one for a multicast.
    fn sent(&self) -> usize;

    /// Who, among the living, believes to lead.
    fn leading(&self) -> Vec<NodeId> {
        let leads = |told: &Told| told.leaders.contains(&told.node);
        self.beliefs().into_iter().filter(leads).map(|told| told.node).collect()
    }

    /// Whether all the living have decided on `id`.
    fn agreed_on(&self, id: u64) -> bool {
        let follows = |t: &Told| t.leaders == [NodeId(id)] && t.stage == Stage::Decided;
        self.beliefs().iter().all(follows)
    }
}

/// Tells one story twice, to nodes and to endpoints, and demands that it ends alike.
pub(crate) fn both<P: Protocol>(setup: &Setup, params: P::Params, story: impl Fn(&mut dyn Drive)) {
    let mut typed = typed::<P>(setup, params.clone());
    story(&mut typed);
    let start =
        Box::new(move |boot: Boot<'_>, env: &mut Env<'_>| endpoint::<P>(boot, env, params.clone()));
    let mut bytes: World<Box<dyn Endpoint>> = World::new(setup, start);
    story(&mut bytes);
    assert_eq!(typed.log(), bytes.log(), "nodes and endpoints believed different things");
    assert_eq!(typed.sent(), bytes.sent());
}

/// A world of typed processes.
pub(crate) fn typed<P: Protocol>(setup: &Setup, params: P::Params) -> World<Typed<P>> {
    World::new(setup, Box::new(move |boot, env| Typed::start(boot, env, params.clone())))
}

/// A number generator of a few lines; each member has its own, so that none disturbs another.
struct Luck(u64);

impl Entropy for Luck {
    fn below(&mut self, n: u64) -> u64 {
        choose_below(n, || {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mix(self.0)
        })
    }
}

/// Spreads the bits of a word (the finaliser of splitmix64).
pub(crate) fn mix(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

type Starter<S> = Box<dyn Fn(Boot<'_>, &mut Env<'_>) -> S>;

struct Member<S> {
    id: NodeId,
    process: Option<S>,
    view: Box<dyn Peers>,
    luck: Luck,
    ahead: Duration,
    stored: Option<Vec<u8>>,
    lives: u64,
}

impl<S> Member<S> {
    /// The member's clock when the world's shows `at`.
    fn clock(&self, at: SimTime) -> Instant {
        Instant::from_nanos(at.as_nanos()) + self.ahead
    }
}

/// A message on its way. Only one with a single receiver can be handed over whole.
enum Cargo<M> {
    Single(M),
    Shared(Rc<M>),
}

struct Letter<M> {
    from: NodeId,
    to: usize,
    cargo: Cargo<M>,
}

/// Members, links and letters.
pub(crate) struct World<S: Process> {
    now: SimTime,
    members: Vec<Member<S>>,
    start: Starter<S>,
    cut: BTreeSet<(NodeId, NodeId)>,
    letters: BTreeMap<(SimTime, usize), Letter<S::Packet>>,
    posted: usize,
    sent: usize,
    log: Vec<Told>,
}

impl<S: Process<Packet: Clone>> World<S> {
    fn new(setup: &Setup, start: Starter<S>) -> Self {
        let member = |&id: &NodeId| Member {
            id,
            process: None,
            view: (setup.view)(id, &setup.ids),
            luck: Luck(mix(id.0)),
            ahead: (setup.ahead)(id),
            stored: None,
            lives: 0,
        };
        let all = || setup.ids.iter().flat_map(|&a| setup.ids.iter().map(move |&b| (a, b)));
        let mut world = Self {
            now: SimTime::ZERO,
            members: setup.ids.iter().map(member).collect(),
            start,
            cut: if setup.linked { BTreeSet::new() } else { all().collect() },
            letters: BTreeMap::new(),
            posted: 0,
            sent: 0,
            log: Vec::new(),
        };
        for id in &setup.ids {
            world.restart(id.0);
        }
        world
    }

    /// Runs the first thing that happens until `end`, a message before a timer. False if none does.
    fn step(&mut self, end: SimTime) -> bool {
        let letter = self.letters.first_key_value().map_or(SimTime::NEVER, |(key, _)| key.0);
        let alarm = (0..self.members.len())
            .map(|index| (self.alarm(index), index))
            .min()
            .unwrap_or((SimTime::NEVER, 0));
        if letter.min(alarm.0) > end {
            return false;
        }
        if letter <= alarm.0 {
            self.now = letter;
            self.deliver();
        } else {
            self.now = self.now.max(alarm.0);
            self.act(alarm.1, S::timeout);
        }
        true
    }

    /// When a member wants to be woken, in the world's time.
    fn alarm(&self, index: usize) -> SimTime {
        let member = &self.members[index];
        match member.process.as_ref().map(S::poll_timeout) {
            None | Some(Instant::NEVER) => SimTime::NEVER,
            Some(at) => SimTime::from_nanos(at.as_nanos()) - member.ahead,
        }
    }

    fn deliver(&mut self) {
        let (_, letter) = self.letters.pop_first().expect("there is a first letter");
        self.act(letter.to, |process, env| match letter.cargo {
            Cargo::Single(packet) => process.receive(letter.from, Cow::Owned(packet), env),
            Cargo::Shared(packet) => process.receive(letter.from, Cow::Borrowed(&*packet), env),
        });
    }

    /// Lets a living member do something, and does what it asks for.
    fn act<R>(&mut self, index: usize, act: impl FnOnce(&mut S, &mut Env<'_>) -> R) -> Option<R> {
        let member = &mut self.members[index];
        let now = member.clock(self.now);
        let process = member.process.as_mut()?;
        let mut env = Env { now, peers: &*member.view, entropy: &mut member.luck };
        let answer = act(process, &mut env);
        let wishes = process.take();
        if wishes.stored.is_some() {
            member.stored = wishes.stored;
        }
        if wishes.changed {
            self.log.extend(self.belief(index));
        }
        for (to, packet) in wishes.sends {
            self.post(index, to, packet);
        }
        Some(answer)
    }

    fn post(&mut self, from: usize, to: Dest, packet: S::Packet) {
        self.sent += 1;
        let from = self.members[from].id;
        match to {
            Dest::Node(id) => {
                if let Some(to) = self.members.iter().position(|member| member.id == id) {
                    self.put(from, to, Cargo::Single(packet));
                }
            }
            Dest::Everyone => {
                let packet = Rc::new(packet);
                for to in 0..self.members.len() {
                    if self.members[to].id != from {
                        self.put(from, to, Cargo::Shared(Rc::clone(&packet)));
                    }
                }
            }
        }
    }

    fn put(&mut self, from: NodeId, to: usize, cargo: Cargo<S::Packet>) {
        let id = self.members[to].id;
        if self.cut.contains(&(from, id)) {
            return;
        }
        // A little different on each link and way, so that no order is a matter of luck.
        let way = mix(from.0 << 32 | id.0) % 1000;
        let at = self.now + Duration::from_micros(1000 + way);
        self.letters.insert((at, self.posted), Letter { from, to, cargo });
        self.posted += 1;
    }

    fn belief(&self, index: usize) -> Option<Told> {
        let member = &self.members[index];
        let believed = member.process.as_ref()?.leadership(member.clock(self.now));
        Some(Told {
            at: self.now,
            node: member.id,
            leaders: believed.leaders.to_vec(),
            term: believed.term,
            stage: believed.stage,
        })
    }

    fn index(&self, id: u64) -> usize {
        let found = self.members.iter().position(|member| member.id == NodeId(id));
        found.expect("a story names members only")
    }
}

/// A message under way: from whom, to whom, how long it has still to go, and what it says.
pub(crate) type UnderWay<M> = (NodeId, NodeId, Duration, M);

impl<P: Protocol> World<Typed<P>> {
    /// Everything that lives and everything under way, without the date and the clocks' offsets.
    pub(crate) fn rebased(&self) -> (Vec<Node<P>>, Vec<UnderWay<P::Message>>) {
        let clocks = |id: NodeId| self.members[self.index(id.0)].clock(self.now);
        let rebase = |id: NodeId| Rebase::with_clocks(clocks(id), &clocks);
        let node = |member: &Member<Typed<P>>| {
            let mut node = member.process.as_ref()?.node.clone();
            node.instants(&rebase(member.id));
            Some(node)
        };
        let letter = |(&(at, _), letter): (&(SimTime, usize), &Letter<P::Message>)| {
            let to = self.members[letter.to].id;
            let mut message = match &letter.cargo {
                Cargo::Single(message) => message.clone(),
                Cargo::Shared(message) => P::Message::clone(message),
            };
            message.instants(to, &rebase(letter.from));
            (letter.from, to, at.since(self.now), message)
        };
        (self.members.iter().filter_map(node).collect(), self.letters.iter().map(letter).collect())
    }
}

impl<S: Process<Packet: Clone>> Drive for World<S> {
    fn run_for(&mut self, length: Duration) {
        let end = self.now + length;
        let mut events = 0;
        while self.step(end) {
            events += 1;
            assert!(events < EVENTS_MAX, "the world does not come to rest");
        }
        self.now = end;
    }

    fn crash(&mut self, id: u64) {
        let index = self.index(id);
        self.members[index].process = None;
    }

    fn restart(&mut self, id: u64) {
        let index = self.index(id);
        let member = &mut self.members[index];
        member.lives += 1;
        let memory = match &member.stored {
            Some(bytes) => Memory::Kept(bytes),
            None if member.lives == 1 => Memory::First,
            None => Memory::Lost,
        };
        let boot = Boot { incarnation: member.lives, memory, ..Boot::first(member.id) };
        let now = member.clock(self.now);
        let mut env = Env { now, peers: &*member.view, entropy: &mut member.luck };
        member.process = Some((self.start)(boot, &mut env));
        self.act(index, |_, _| ());
    }

    fn link(&mut self, a: u64, b: u64, reach: Reach) {
        for (a, b) in [(a, b), (b, a)] {
            match reach {
                Reach::Up => self.cut.remove(&(NodeId(a), NodeId(b))),
                Reach::Down => self.cut.insert((NodeId(a), NodeId(b))),
            };
        }
        for (a, b) in [(a, b), (b, a)] {
            self.act(self.index(a), |process, env| process.reach(NodeId(b), reach, env));
        }
    }

    fn command(&mut self, id: u64, command: Command) -> Result<(), Refused> {
        self.act(self.index(id), |process, env| process.command(command, env))
            .unwrap_or(Err(Refused))
    }

    fn beliefs(&self) -> Vec<Told> {
        (0..self.members.len()).filter_map(|index| self.belief(index)).collect()
    }

    fn log(&self) -> &[Told] {
        &self.log
    }

    fn sent(&self) -> usize {
        self.sent
    }
}
