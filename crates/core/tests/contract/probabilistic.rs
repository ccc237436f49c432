//! Probabilistic election in a large group: a hash lets a few through, these agree among
//! themselves by unicasts, and each tells everyone the outcome.
//!
//! The case it makes: a group known only as a number and a rule, never as a list, and a protocol
//! that may give up.

use crate::world::{Setup, both, mix};
use bellwether_core::harness::{Harness, assert_survives_the_wire};
use bellwether_core::*;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A view that is computed, not kept: a member of `0..group` is in it if a hash says so.
pub(crate) struct Sparse {
    me: NodeId,
    group: u64,
}

impl Sparse {
    /// About half of the group.
    pub(crate) fn of(me: NodeId, group: u64) -> Self {
        Self { me, group }
    }
}

impl Peers for Sparse {
    fn len(&self) -> usize {
        let this: &dyn Peers = self;
        this.iter().count()
    }

    fn estimate(&self) -> usize {
        usize::try_from(self.group - 1).unwrap_or(usize::MAX)
    }

    fn contains(&self, id: NodeId) -> bool {
        let inside = id.0 < self.group && id != self.me;
        inside && mix(self.me.0.rotate_left(32) ^ id.0).is_multiple_of(2)
    }

    fn after(&self, id: Option<NodeId>) -> Option<NodeId> {
        let first = id.map_or(0, |id| id.0.saturating_add(1));
        (first..self.group).map(NodeId).find(|id| self.contains(*id))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Probabilistic {
    me: NodeId,
    /// The round, 0 before the first.
    round: u32,
    /// Whom this process would have, if the hash let it through.
    choice: Option<NodeId>,
    /// Whom others said to be elected in this round.
    finals: BTreeSet<NodeId>,
    stage: Stage,
}

#[derive(Clone, Debug)]
pub(crate) struct Params {
    /// How many pass the hash in the first round, on average; twice as many in every further one.
    pub(crate) relays: u64,
    /// How many rounds are held at most.
    pub(crate) rounds: u32,
    /// When a relay tells its choice to all.
    pub(crate) settle: Duration,
    /// When everyone looks at what was told.
    pub(crate) decide: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Said {
    Initiate { round: u32 },
    Relay { round: u32, choice: NodeId },
    Final { round: u32, leader: NodeId },
}

impl Message for Said {
    fn kind(&self) -> &'static str {
        match self {
            Self::Initiate { .. } => "initiate",
            Self::Relay { .. } => "relay",
            Self::Final { .. } => "final",
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let (tag, round, id) = match *self {
            Self::Initiate { round } => (0, round, None),
            Self::Relay { round, choice } => (1, round, Some(choice)),
            Self::Final { round, leader } => (2, round, Some(leader)),
        };
        out.push(tag);
        out.put_u32(round);
        id.into_iter().for_each(|id| out.put_node(id));
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (tag, round) = (input.u8()?, input.u32()?);
        match tag {
            0 => Ok(Self::Initiate { round }),
            1 => Ok(Self::Relay { round, choice: input.node()? }),
            2 => Ok(Self::Final { round, leader: input.node()? }),
            _ => Err(Malformed),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Timer {
    Settle,
    Decide,
    Again,
}

impl TimerKind for Timer {
    type Slots = [Instant; 3];

    fn slot(self) -> usize {
        self as usize
    }

    fn at(slot: usize) -> Self {
        [Self::Settle, Self::Decide, Self::Again][slot]
    }
}

impl Probabilistic {
    /// Whether the hash lets `id` through in this round: anyone can tell for anyone.
    fn passes(&self, id: NodeId, cx: &Cx<'_, Self>) -> bool {
        let group = cx.peers().estimate() as u64 + 1;
        let relays = cx.params().relays << (self.round.clamp(1, 32) - 1);
        let hash = mix(mix(u64::from(self.round)) ^ id.0);
        (u128::from(hash) * u128::from(group)) >> 64 < u128::from(relays)
    }

    fn begin(&mut self, round: u32, cx: &mut Cx<'_, Self>) {
        (self.round, self.choice, self.stage) = (round, None, Stage::Undecided);
        self.finals.clear();
        cx.disarm(Timer::Again);
        cx.arm(Timer::Decide, cx.now() + cx.params().decide);
        if self.passes(self.me, cx) {
            cx.arm(Timer::Settle, cx.now() + cx.params().settle);
            let known = cx.peers().iter().find(|id| self.passes(*id, cx));
            // Ring order is the order of ids here, so the first that passes is the lowest.
            self.choose(known.map_or(self.me, |id| id.min(self.me)), cx);
        } else {
            cx.disarm(Timer::Settle);
        }
    }

    /// Takes a choice and tells all relays in the view.
    fn choose(&mut self, choice: NodeId, cx: &mut Cx<'_, Self>) {
        self.choice = Some(choice);
        let round = self.round;
        for peer in cx.peers().iter() {
            if self.passes(peer, cx) {
                cx.send(peer, Said::Relay { round, choice });
            }
        }
    }

    fn decide(&mut self, cx: &mut Cx<'_, Self>) {
        if self.finals.len() == 1 {
            self.stage = Stage::Decided;
        } else if self.round >= cx.params().rounds {
            self.stage = Stage::Aborted;
        } else {
            // Whoever draws the shortest delay begins the next round for all.
            let longest = cx.params().settle.as_nanos().max(1);
            let delay = cx.entropy().below(longest);
            cx.arm(Timer::Again, cx.now() + Duration::from_nanos(delay));
        }
    }
}

impl Protocol for Probabilistic {
    const NAME: &'static str = "probabilistic";
    type Params = Params;
    type Message = Said;
    type Timer = Timer;

    fn start(boot: Boot<'_>, _cx: &mut Cx<'_, Self>) -> Self {
        let (me, finals) = (boot.me, BTreeSet::new());
        Self { me, round: 0, choice: None, finals, stage: Stage::Undecided }
    }

    fn on_message(&mut self, from: NodeId, said: Cow<'_, Said>, cx: &mut Cx<'_, Self>) {
        let (Said::Initiate { round } | Said::Relay { round, .. } | Said::Final { round, .. }) =
            *said;
        if round < self.round || round > cx.params().rounds {
            return;
        }
        // Any word of a round that is new here will do to begin it.
        if round > self.round {
            self.begin(round, cx);
        }
        match (*said, self.choice) {
            (Said::Relay { choice, .. }, Some(mine)) if choice < mine => self.choose(choice, cx),
            (Said::Relay { choice, .. }, Some(mine)) if choice > mine => {
                cx.send(from, Said::Relay { round, choice: mine });
            }
            (Said::Final { leader, .. }, _) if self.stage == Stage::Undecided => {
                self.finals.insert(leader);
            }
            _ => {}
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        let round = self.round;
        match (timer, self.choice) {
            (Timer::Settle, Some(leader)) => {
                self.finals.insert(leader);
                cx.broadcast(Said::Final { round, leader });
            }
            (Timer::Settle, None) => {}
            (Timer::Decide, _) => self.decide(cx),
            (Timer::Again, _) => {
                cx.broadcast(Said::Initiate { round: round + 1 });
                self.begin(round + 1, cx);
            }
        }
    }

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        if command != Command::Campaign || self.round > 0 {
            return Err(Refused);
        }
        cx.broadcast(Said::Initiate { round: 1 });
        self.begin(1, cx);
        Ok(())
    }

    fn leadership(&self, _now: Instant) -> Leadership<'_> {
        let elected = self.finals.first().filter(|_| self.stage == Stage::Decided);
        Leadership::of(elected.map_or(&[], std::slice::from_ref), self.stage)
    }

    fn facts(&self, _now: Instant, tell: &mut dyn FnMut(Fact)) {
        tell(Fact::Round { number: self.round });
    }

    fn instants(&mut self, _rebase: &Rebase<'_>) {} // it stores none
}

/// Seven relays at first, five rounds, 20 ms for the relays and 30 ms for all.
pub(crate) fn params() -> Params {
    let [settle, decide] = [20, 30].map(Duration::from_millis);
    Params { relays: 7, rounds: 5, settle, decide }
}

/// One message of each kind.
pub(crate) fn samples() -> Vec<Said> {
    let (round, id) = (2, NodeId(9));
    vec![
        Said::Initiate { round },
        Said::Relay { round, choice: id },
        Said::Final { round, leader: id },
    ]
}

/// Members `0..n` with sparse views.
fn crowd(n: u64) -> Setup {
    Setup {
        ids: (0..n).map(NodeId).collect(),
        view: |me, ids| Box::new(Sparse::of(me, ids.len() as u64)),
        ..Setup::clique(0)
    }
}

#[test]
fn rounds_and_choices_survive_the_wire() {
    samples().iter().for_each(assert_survives_the_wire);
}

#[test]
fn a_view_of_a_million_is_asked_without_being_walked() {
    let view = Sparse::of(NodeId(5), 1_000_000);
    let peers: &dyn Peers = &view;
    assert_eq!(peers.estimate(), 999_999);
    assert!(!peers.is_empty() && !peers.contains(NodeId(5)));
    let first: Vec<NodeId> = peers.iter().take(100).collect();
    assert!(first.iter().all(|id| peers.contains(*id)));
    assert!(first.is_sorted() && first[99].0 < 300, "about every other one is in the view");
}

#[test]
fn a_few_relays_elect_one_for_a_crowd() {
    both::<Probabilistic>(&crowd(200), params(), |world| {
        world.command(17, Command::Campaign).unwrap();
        assert_eq!(world.command(17, Command::Campaign), Err(Refused), "it has begun");
        world.run_for(Duration::from_millis(500));
        let elected = world.beliefs()[0].leaders[0];
        assert!(world.agreed_on(elected.0), "{:?}", world.beliefs());
        assert!(world.sent() < 200, "far fewer messages than members");
    });
}

#[test]
fn if_nobody_passes_the_hash_everybody_gives_up() {
    let params = Params { relays: 0, ..params() };
    both::<Probabilistic>(&crowd(20), params, |world| {
        world.command(3, Command::Campaign).unwrap();
        world.run_for(Duration::from_secs(1));
        for told in world.beliefs() {
            assert_eq!((told.stage, &told.leaders[..]), (Stage::Aborted, &[][..]));
        }
    });
}

#[test]
fn only_a_strictly_worse_choice_is_answered() {
    // Everyone passes, so member 4 is a relay and chooses member 1.
    let (params, peers) = (Params { relays: 9, ..params() }, [1, 6].map(NodeId));
    let mut node = Harness::<Probabilistic>::boot(Boot::first(NodeId(4)), params, &peers, &[]);
    node.message(6, Said::Initiate { round: 1 });
    let tell = |to, choice| {
        Effect::Send(Dest::Node(NodeId(to)), Said::Relay { round: 1, choice: NodeId(choice) })
    };
    assert_eq!(node.effects()[3..], [tell(1, 1), tell(6, 1)]);
    node.message(6, Said::Relay { round: 1, choice: NodeId(1) });
    assert_eq!(node.effects(), [], "or two that agree would answer each other for ever");
    node.message(6, Said::Relay { round: 1, choice: NodeId(4) });
    assert_eq!(node.effects(), [tell(6, 1)]);
    node.message(6, Said::Relay { round: 1, choice: NodeId(0) });
    assert_eq!(node.effects(), [tell(1, 0), tell(6, 0)]);
}
