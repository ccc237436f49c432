//! A small world in ticks, as a comparable state.

use super::draws::{Draws, Pending};
use super::history::History;
use super::timed::Timed;
use bellwether_core::{
    Boot, Change, Command, Dest, Duration, Effect, Env, Fact, Input, Instant, Members, Memory,
    Message, Node, NodeId, Protocol, Rebase, Stage,
};
use bellwether_protocols::time_scales::TimeScales;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The duration of a tick. Any value would do: only its multiples are compared.
pub const TICK: Duration = Duration::from_millis(1);

/// The faults that may happen. Each is tried at every moment, and also not tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Adversary {
    /// A message takes at least this many ticks.
    pub fastest: u64,
    /// A message takes at most this many ticks; otherwise it is lost. So any message may be lost.
    pub slowest: u64,
    /// The most crashes. A crashed process may restart at any tick.
    pub crashes: u8,
    /// The most disks that are lost with a crash.
    pub lost_disks: u8,
    /// The most releases of crashed processes, as by their guardians.
    pub releases: u8,
    /// The most duplicated messages.
    pub copies: u8,
    /// The most requests to resign.
    pub resignations: u8,
    /// The most requests to hand over to another process.
    pub transfers: u8,
    /// The most changes of the voters.
    pub changes: u8,
    /// The most requests to hold an election.
    pub campaigns: u8,
    /// Whether a process may sleep through its deadlines, for as long as it likes.
    pub sleep: bool,
    /// The bound on time. Without one, states that differ only by a shift in time are one, and all
    /// of time is explored.
    pub ticks: Option<u32>,
}

impl Adversary {
    /// Messages take one tick or are lost. Nothing else goes wrong, for ever.
    pub const LOSSES: Self = Self {
        fastest: 1,
        slowest: 1,
        crashes: 0,
        lost_disks: 0,
        releases: 0,
        copies: 0,
        resignations: 0,
        transfers: 0,
        changes: 0,
        campaigns: 0,
        sleep: false,
        ticks: None,
    };
}

/// A message with its sender and receiver.
type Said<P> = <Timed<P> as Protocol>::Message;

/// A message in transit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Packet<M> {
    pub(super) from: u8,
    to: u8,
    pub(super) sent: Instant,
    pub(super) message: Arc<M>,
}

/// One process, if it runs, and the number of its starts. A step changes one process; the states
/// before and after it share the others, as they share messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place<P: Protocol> {
    pub(super) life: u16,
    pub(super) node: Option<Arc<Node<Timed<P>>>>,
    /// What it stored.
    disk: Option<Arc<[u8]>>,
    /// Whether it stored something that is lost.
    lost: bool,
}

/// The state of the world.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State<P: Protocol> {
    pub(super) now: Instant,
    elapsed: u32,
    /// Whose turn it is within the tick. Steps of different processes in one tick commute, because
    /// no message is delivered in the tick it was sent in; so one order stands for all of them.
    pub(super) turn: u8,
    pub(super) places: Vec<Place<P>>,
    pub(super) packets: Vec<Packet<Said<P>>>,
    /// What may still go wrong.
    left: Adversary,
    /// A suspended move that needs a draw.
    pending: Option<Pending>,
    /// How it was reached, for the validation of the next step; no part of its identity.
    pub(super) history: History,
}

/// The next event, for the process whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    /// It receives this message.
    Deliver(usize),
    /// It receives this message, which will arrive again.
    Copy(usize),
    /// Its timer fires.
    Wake,
    /// It is asked for this.
    Command(Command),
    /// It crashes.
    Crash,
    /// It has crashed, and what it stored is lost.
    LoseDisk,
    /// It has crashed, and somebody sends its last will.
    Release,
    /// It restarts.
    Restart,
    /// It does nothing more in this tick.
    Pass,
    /// All have had their turn, but messages without delay may still arrive in the same tick.
    Again,
    /// It draws this number, in its suspended move.
    Draw(u64),
}

/// A protocol in a small world.
#[derive(Clone, Debug)]
pub struct World<P: Protocol> {
    params: P::Params,
    adversary: Adversary,
    ids: Vec<NodeId>,
    /// Who votes at first, if not all do.
    founders: Option<Vec<NodeId>>,
    /// How many values of each draw are tried; none for a protocol without draws.
    values: u64,
    pub(super) asked: Asked,
    /// The time scales of the proved model, if steps are compared with it.
    pub(super) model: Option<TimeScales>,
    /// Set to end an exploration: no state has moves from then on.
    pub(super) stopped: Arc<AtomicBool>,
}

/// The properties that are checked in every state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The invariants of leases.
    Leases,
    /// The same, and whether every step is an action of the proved model.
    Proved,
    /// Whether a candidate exists, unless all may be waiting for a dead process.
    Candidate,
}

impl<P: Protocol> World<P> {
    /// A group of this many processes, which all start at once. For protocols with leases and
    /// without draws.
    pub fn new(nodes: u8, params: P::Params, adversary: Adversary) -> Self {
        let ids = (0..u64::from(nodes)).map(NodeId).collect();
        let stopped = Arc::new(AtomicBool::new(false));
        let (asked, founders) = (Asked::Leases, None);
        Self { params, adversary, ids, founders, values: 0, asked, model: None, stopped }
    }

    /// The same, in which only the first ones vote in the beginning.
    #[must_use]
    pub fn founded_by(mut self, founders: u8) -> Self {
        self.founders = Some(self.ids[..usize::from(founders).min(self.ids.len())].to_vec());
        self
    }

    /// The same, with each step compared with the proved model.
    #[must_use]
    pub fn validated(mut self, time_scales: &TimeScales) -> Self {
        (self.asked, self.model) = (Asked::Proved, Some(*time_scales));
        self
    }

    /// The same for a protocol with draws: each branches over all values, or over this many of
    /// them.
    #[must_use]
    pub fn with_draws(mut self, values: u64) -> Self {
        self.values = values;
        self
    }

    /// The same, with these properties.
    #[must_use]
    pub fn asking(mut self, asked: Asked) -> Self {
        self.asked = asked;
        self
    }

    pub(super) fn start(&self) -> State<P> {
        let place = |_: &NodeId| Place { life: 0, node: None, disk: None, lost: false };
        let mut state = State {
            now: Rebase::ORIGIN,
            elapsed: 0,
            turn: 0,
            places: self.ids.iter().map(place).collect(),
            packets: Vec::new(),
            left: self.adversary,
            pending: None,
            history: History::new(self.ids.len(), self.model.as_ref()),
        };
        // A process that draws at its start does so in its first turn.
        if self.values == 0 {
            for turn in 0..self.ids.len() as u8 {
                state.turn = turn;
                self.boot(&mut state, &mut Draws::none());
                state.note_step(turn);
            }
        }
        state.turn = 0;
        self.tidy(&mut state, None);
        state
    }

    pub(super) fn moves(&self, state: &State<P>, moves: &mut Vec<Move>) {
        if let Some(pending) = &state.pending {
            return moves.extend(pending.values(self.values).map(Move::Draw));
        }
        if state.places[usize::from(state.turn)].life == 0 {
            return moves.push(Move::Restart);
        }
        if self.is_last(state) && self.adversary.fastest == 0 {
            moves.push(Move::Again);
        }
        let place = &state.places[usize::from(state.turn)];
        let Some(node) = &place.node else {
            moves.extend([Move::Restart, Move::Pass]);
            let loses = state.left.lost_disks > 0 && place.disk.is_some();
            moves.extend(loses.then_some(Move::LoseDisk));
            moves.extend((state.left.releases > 0 && place.life > 0).then_some(Move::Release));
            return;
        };
        for (place, packet) in state.packets.iter().enumerate() {
            let ripe = state.now.since(packet.sent) >= TICK * self.adversary.fastest;
            let seen = place > 0 && state.packets[place - 1] == *packet;
            if packet.to == state.turn && ripe && !seen {
                moves.push(Move::Deliver(place));
                moves.extend((state.left.copies > 0).then_some(Move::Copy(place)));
            }
        }
        let due = node.poll_timeout() <= state.now;
        moves.extend(due.then_some(Move::Wake));
        moves.extend((!due || self.adversary.sleep).then_some(Move::Pass));
        moves.extend((state.left.crashes > 0).then_some(Move::Crash));
        let leads = node.leadership(state.now).names(self.ids[usize::from(state.turn)]);
        self.commands(&state.left, leads, &mut |command| moves.push(Move::Command(command)));
    }

    /// What a process may be asked for. It may refuse.
    fn commands(&self, left: &Adversary, leads: bool, ask: &mut dyn FnMut(Command)) {
        let ids = || self.ids.iter().copied();
        if !leads {
            if left.campaigns > 0 {
                ask(Command::Campaign);
            }
            return;
        }
        if left.resignations > 0 {
            ask(Command::Resign);
        }
        if left.transfers > 0 {
            ids().for_each(|id| ask(Command::Transfer(id)));
        }
        if left.changes > 0 {
            for id in ids() {
                ask(Command::Add(id));
                ask(Command::Remove(id));
                ids().for_each(|other| ask(Command::Replace(id, other)));
            }
        }
    }

    /// The state after a move; `None` beyond the bound on time. A move that needs an unknown draw
    /// is suspended: the state stays, and the next move is the draw.
    pub(super) fn after(&self, state: &State<P>, chosen: Move) -> Option<State<P>> {
        let mut next = state.clone();
        let (chosen, mut draws) = match (next.pending.take(), chosen) {
            (Some(pending), Move::Draw(value)) => pending.with(value),
            _ => (chosen, Draws::of(self.values)),
        };
        self.run(&mut next, chosen, &mut draws)?;
        match draws.suspended(chosen) {
            None => {
                if !matches!(chosen, Move::Pass | Move::Again) {
                    next.note_step(state.turn);
                    self.tidy(&mut next, Some(state.turn));
                } else if next.now != state.now {
                    self.tidy(&mut next, None);
                }
                Some(next)
            }
            pending => Some(State { pending, ..state.clone() }),
        }
    }

    fn run(&self, next: &mut State<P>, chosen: Move, draws: &mut Draws) -> Option<()> {
        match chosen {
            Move::Deliver(place) => {
                let packet = next.packets.remove(place);
                self.receive(next, packet, draws);
            }
            Move::Copy(place) => {
                next.left.copies -= 1;
                let packet = next.packets[place].clone();
                self.receive(next, packet, draws);
            }
            Move::Wake => self.act(next, draws, |node, env, params, effects| {
                node.handle(Input::Timeout, env, params, effects)
            }),
            Move::Command(command) => {
                *match command {
                    Command::Campaign => &mut next.left.campaigns,
                    Command::Transfer(_) => &mut next.left.transfers,
                    Command::Add(_)
                    | Command::Remove(_)
                    | Command::Replace(..)
                    | Command::Lengths(..) => &mut next.left.changes,
                    _ => &mut next.left.resignations,
                } -= 1;
                self.command(next, command, draws)?;
            }
            Move::Crash => {
                next.left.crashes -= 1;
                next.places[usize::from(next.turn)].node = None;
            }
            Move::LoseDisk => {
                next.left.lost_disks -= 1;
                let place = &mut next.places[usize::from(next.turn)];
                (place.disk, place.lost) = (None, true);
            }
            Move::Release => {
                next.left.releases -= 1;
                let life = u64::from(next.places[usize::from(next.turn)].life);
                let will = Timed::<P>::last_will(life, &self.params);
                let will = will.map(|will| Effect::Send(Dest::Everyone, will));
                next.note_will(next.turn, life);
                self.post(next, will.into_iter().collect());
            }
            Move::Restart => self.boot(next, draws),
            Move::Again => next.turn = 0,
            Move::Pass if self.is_last(next) => self.tick(next)?,
            Move::Pass => next.turn += 1,
            Move::Draw(_) => {} // there is nothing to draw for
        }
        Some(())
    }

    pub(super) fn is_last(&self, state: &State<P>) -> bool {
        usize::from(state.turn) + 1 == self.ids.len()
    }

    fn tick(&self, state: &mut State<P>) -> Option<()> {
        state.turn = 0;
        state.now += TICK;
        if let Some(ticks) = self.adversary.ticks {
            state.elapsed += 1;
            if state.elapsed > ticks {
                return None;
            }
        }
        let oldest = state.now - TICK * self.adversary.slowest;
        state.packets.retain(|packet| packet.sent >= oldest);
        Some(())
    }

    /// Starts the process whose turn it is, for the first time or again.
    fn boot(&self, state: &mut State<P>, draws: &mut Draws) {
        let turn = usize::from(state.turn);
        state.places[turn].life += 1;
        let incarnation = u64::from(state.places[turn].life);
        let disk = state.places[turn].disk.take();
        let nothing = if state.places[turn].lost { Memory::Lost } else { Memory::First };
        let (me, memory) = (self.ids[turn], disk.as_deref().map_or(nothing, Memory::Kept));
        let boot = Boot { incarnation, memory, ..Boot::first(me) };
        let (mut effects, peers) = (Vec::new(), self.peers(turn));
        let mut env = Env { now: state.now, peers: &peers, entropy: draws };
        let node = Node::start(boot, &mut env, &self.params, &mut effects);
        (state.places[turn].node, state.places[turn].disk) = (Some(Arc::new(node)), disk);
        self.post(state, effects);
    }

    fn receive(&self, state: &mut State<P>, packet: Packet<Said<P>>, draws: &mut Draws) {
        let from = self.ids[usize::from(packet.from)];
        self.act(state, draws, |node, env, params, effects| {
            let input = Input::Message(from, Cow::Borrowed(&*packet.message));
            node.handle(input, env, params, effects)
        });
    }

    /// Gives a command to the process whose turn it is; `None` if it refuses.
    fn command(&self, state: &mut State<P>, command: Command, draws: &mut Draws) -> Option<()> {
        let mut taken = false;
        self.act(state, draws, |node, env, params, effects| {
            let change = node.command(command, env, params, effects);
            taken = change.is_ok();
            change.unwrap_or(Change::Same)
        });
        taken.then_some(())
    }

    /// Runs a step of the process whose turn it is.
    fn act(
        &self,
        state: &mut State<P>,
        draws: &mut Draws,
        step: impl FnOnce(
            &mut Node<Timed<P>>,
            &mut Env<'_>,
            &P::Params,
            &mut Vec<Effect<Timed<P>>>,
        ) -> Change,
    ) {
        let turn = usize::from(state.turn);
        let (mut effects, peers) = (Vec::new(), self.peers(turn));
        let mut env = Env { now: state.now, peers: &peers, entropy: draws };
        let Some(node) = &mut state.places[turn].node else { return };
        // A change of the belief is visible in the state itself.
        let _ = step(Arc::make_mut(node), &mut env, &self.params, &mut effects);
        self.post(state, effects);
    }

    fn post(&self, state: &mut State<P>, effects: Vec<Effect<Timed<P>>>) {
        let (from, sent) = (state.turn, state.now);
        for effect in effects {
            let (dest, message) = match effect {
                Effect::Send(dest, message) => (dest, Arc::new(message)),
                Effect::Store(bytes) => {
                    let place = &mut state.places[usize::from(from)];
                    (place.disk, place.lost) = (Some(bytes.into()), false);
                    continue;
                }
                Effect::Arm(..) | Effect::Disarm(_) => continue,
            };
            for (to, id) in (0..).zip(&self.ids) {
                let meant = dest == Dest::Everyone || dest == Dest::Node(*id);
                if to != from && meant {
                    state.packets.push(Packet { from, to, sent, message: Arc::clone(&message) });
                }
            }
        }
    }

    fn peers(&self, node: usize) -> Members {
        let others = self.ids.iter().copied().filter(|id| *id != self.ids[node]);
        let peers: Members = others.collect();
        match &self.founders {
            Some(founders) => peers.founded_by(founders.clone()),
            None => peers,
        }
    }

    /// Normalises a state: times are shifted to a fixed origin, messages are sorted. If only one
    /// process has made a step since the last time, the others are as they should be.
    fn tidy(&self, state: &mut State<P>, stepped: Option<u8>) {
        let rebase = Rebase::new(state.now);
        for (turn, place) in (0..).zip(&mut state.places) {
            if let Some(node) = &mut place.node
                && stepped.is_none_or(|stepped| stepped == turn)
            {
                Arc::make_mut(node).instants(&rebase);
            }
        }
        for packet in &mut state.packets {
            if stepped.is_some_and(|stepped| packet.from != stepped || packet.sent != state.now) {
                continue;
            }
            Arc::make_mut(&mut packet.message).instants(self.ids[usize::from(packet.to)], &rebase);
            rebase.stamp(&mut packet.sent);
        }
        state.history.pass(state.now.since(Rebase::ORIGIN));
        state.now = Rebase::ORIGIN;
        let encoded = |packet: &Packet<Said<P>>| {
            let mut bytes = Vec::new();
            packet.message.encode(&mut bytes);
            bytes
        };
        let address = |packet: &Packet<Said<P>>| (packet.to, packet.from, packet.sent);
        state.packets.sort_by(|one, other| {
            // Few have one sender, receiver and instant; only those are compared by what they say.
            let addresses = address(one).cmp(&address(other));
            addresses.then_with(|| encoded(one).cmp(&encoded(other)))
        });
    }

    /// Whether a disk was lost, and a process that began again has a record and has voted. This is
    /// the one that lost it, unless there was another crash.
    pub(super) fn somebody_recovers(&self, state: &State<P>) -> bool {
        let voted = |node: &Node<Timed<P>>| {
            let mut locked = false;
            node.facts(state.now, &mut |fact| locked |= matches!(fact, Fact::Locked { .. }));
            locked
        };
        state.left.lost_disks < self.adversary.lost_disks
            && state.places.iter().any(|place| {
                place.life > 1 && place.disk.is_some() && place.node.as_deref().is_some_and(voted)
            })
    }
}

/// Questions about a state.
impl<P: Protocol> State<P> {
    /// The leaders.
    pub fn leaders(&self) -> impl Iterator<Item = NodeId> + '_ {
        let leads = |id: &NodeId, node: &Node<Timed<P>>| {
            let believed = node.leadership(self.now);
            believed.stage == Stage::Decided && believed.names(*id)
        };
        self.running().filter(move |(id, node)| leads(id, node)).map(|(id, _)| id)
    }

    /// Whether a process knows that a list of voters is committed which is not the founding one.
    pub fn somebody_commits(&self) -> bool {
        let mut commits = false;
        for (_, node) in self.running() {
            node.facts(self.now, &mut |fact| {
                commits |= matches!(fact, Fact::List { version: 1.., committed: true });
            });
        }
        commits
    }

    /// Whether all processes run and each follows another, so that no process will ever send.
    pub fn everybody_follows(&self) -> bool {
        let follows = |(id, node): (NodeId, &Node<Timed<P>>)| {
            let believed = node.leadership(self.now);
            believed.stage == Stage::Decided
                && !believed.leaders.is_empty()
                && !believed.names(id)
                && node.poll_timeout() == Instant::NEVER
        };
        self.places.iter().all(|place| place.node.is_some()) && self.running().all(follows)
    }

    /// The pairs of supporter and leader, sorted.
    pub fn supports(&self) -> Vec<(NodeId, NodeId)> {
        let mut supports = Vec::new();
        for (id, node) in self.running().filter(|(id, node)| node.leadership(self.now).names(*id)) {
            node.facts(self.now, &mut |fact| {
                if let Fact::Supporter { peer } = fact {
                    supports.push((peer, id));
                }
            });
        }
        supports.sort_unstable();
        supports
    }

    fn running(&self) -> impl Iterator<Item = (NodeId, &Node<Timed<P>>)> {
        (0..)
            .map(NodeId)
            .zip(&self.places)
            .filter_map(|(id, place)| Some((id, place.node.as_deref()?)))
    }
}
