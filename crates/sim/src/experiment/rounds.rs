//! Measures an election in rounds until nothing more happens: its outcome and its cost.
//!
//! | measure | what it is |
//! |---|---|
//! | `strong_success` | 1 if all live processes name the same live leader at the end, 0 if not |
//! | `weak_success` | the fraction of live processes that name the most frequently named one |
//! | `rounds` | the number of rounds, in all elections if several were called one after the other |
//! | `unicasts`, `multicasts` | sent, also to dead processes; gossip that estimates the group size is not counted |
//! | `relays` | processes that told everyone whom they chose, in the last round |
//! | `components` | the number of connected components of the relays, linked by who knows whom |
//! | `detected` | rounds without a clear outcome that some process knows of |
//! | `aborted` | 1 if some process gave up, 0 if not |
//! | `time` | from the call until the last process changed its belief |
//!
//! Failures belong to rounds (section 5 of the paper): when a round begins, it is drawn which
//! processes fail in it and at which moment. Dead processes stay in views.

use super::{Experiment, Measure, Sample};
use crate::coin::{RunSeed, StreamPurpose};
use crate::fault::{Fault, Who};
use crate::network::components;
use crate::observer::{Cause, Observer};
use crate::plan::Plan;
use crate::world::World;
use bellwether_core::{Dest, Entropy, Fact, Leadership, Message, NodeId, Protocol, SimTime, Stage};
use bellwether_protocols::choice::Choice;
use bellwether_protocols::simulated;
use std::collections::BTreeMap;

/// A round: its election, and its number in that election. Later rounds are greater.
type Round = (u32, u32);

/// Measures runs, and makes processes fail.
pub(super) struct Rounds<'a> {
    choice: &'a Choice,
    kinds: simulated::Rounds,
    nodes: u32,
    fail: f64,
    run_seed: RunSeed,
    /// The current round, and when the first one began.
    round: Round,
    called: Option<SimTime>,
    /// The number of rounds, and how many of them followed an unclear one.
    rounds: u32,
    detected: u32,
    last_change: SimTime,
    unicasts: u64,
    multicasts: u64,
    /// In the current round: whom each process told when it first told anybody, and when.
    words: Vec<(u32, u32)>,
    first_words: BTreeMap<u32, SimTime>,
    /// The process that just told somebody for the first time.
    speaker: Option<(u32, SimTime)>,
    /// In the current round: the processes that told everyone.
    finals: Vec<u32>,
    /// The processes that will fail and when; the next one is last.
    doomed: Vec<(u64, u32)>,
}

impl<'a> Rounds<'a> {
    pub(super) fn new(experiment: &'a Experiment, kinds: simulated::Rounds) -> Self {
        Self {
            choice: &experiment.choice,
            kinds,
            nodes: experiment.nodes,
            fail: experiment.initiation.fail.value(),
            run_seed: RunSeed::new(0, 0),
            round: (0, 0),
            called: None,
            rounds: 0,
            detected: 0,
            last_change: SimTime::ZERO,
            unicasts: 0,
            multicasts: 0,
            words: Vec::new(),
            first_words: BTreeMap::new(),
            speaker: None,
            finals: Vec::new(),
            doomed: Vec::new(),
        }
    }

    pub(super) fn reset(&mut self, run_seed: RunSeed) {
        (self.run_seed, self.round, self.called) = (run_seed, (0, 0), None);
        (self.rounds, self.detected) = (0, 0);
        (self.unicasts, self.multicasts, self.last_change) = (0, 0, SimTime::ZERO);
        self.doomed.clear();
        self.leave_behind();
    }

    fn leave_behind(&mut self) {
        self.words.clear();
        self.first_words.clear();
        self.speaker = None;
        self.finals.clear();
    }

    /// Begins a round.
    fn begin(&mut self, round: Round, at: SimTime) {
        let (election, number) = round;
        self.rounds += 1;
        self.detected += u32::from(election == self.round.0);
        (self.round, self.called) = (round, self.called.or(Some(at)));
        self.leave_behind();
        if self.fail > 0.0 {
            let lasts = self.choice.round_lasts(number, self.nodes).as_nanos().max(1);
            let mut luck = self.run_seed.world(StreamPurpose::Failures { election, round: number });
            let mut node = 0.0;
            loop {
                // Draws the distance to the next failing process directly.
                node += libm::floor(libm::log1p(-luck.unit()) / libm::log1p(-self.fail));
                if node >= f64::from(self.nodes) {
                    break;
                }
                self.doomed.push((at.as_nanos() + 1 + luck.below(lasts), node as u32));
                node += 1.0;
            }
            self.doomed.sort_unstable_by(|one, other| other.cmp(one));
        }
    }

    /// Notes that a process tells another whom it prefers. Its first such messages show whom it
    /// knows.
    fn note_word(&mut self, at: SimTime, from: u32, to: NodeId) {
        if self.speaker != Some((from, at)) {
            if *self.first_words.entry(from).or_insert(at) != at {
                return;
            }
            self.speaker = Some((from, at));
        }
        self.words.extend(u32::try_from(to.0).map(|to| (from, to)));
    }

    /// The number of connected components of the processes that told everyone.
    fn components(&self) -> usize {
        let mut place = vec![NOBODY; self.nodes as usize];
        (0..).zip(&self.finals).for_each(|(at, relay)| place[*relay as usize] = at);
        let place = |node: &u32| place.get(*node as usize).copied().filter(|at| *at != NOBODY);
        let joined = self.words.iter().filter_map(|(from, to)| Some((place(from)?, place(to)?)));
        let parts = components(self.finals.len() as u32, joined);
        // Each component has one process whose number is the component's.
        (0..).zip(parts).filter(|(relay, shared)| relay == shared).count()
    }

    /// The results of the run.
    pub(super) fn sample<P: Protocol>(
        &self,
        plan: &Plan,
        world: &World<P>,
        deliveries: u64,
    ) -> Sample {
        let mut sample = Sample::new(deliveries);
        let ended = Ended::of(plan, world);
        let yes = |holds: bool| f64::from(u8::from(holds));
        let most = ended.followers.iter().max_by_key(|(_, count)| **count);
        let (leader, most) =
            most.map_or((NodeId(u64::MAX), 0), |(leader, count)| (*leader, *count));
        let lives = u32::try_from(leader.0).is_ok_and(|leader| world.node(leader).is_some());
        sample.set(Measure::StrongSuccess, yes(lives && most == ended.living));
        sample.set(Measure::WeakSuccess, f64::from(most) / f64::from(ended.living.max(1)));
        sample.set(Measure::Rounds, f64::from(self.rounds));
        sample.set(Measure::Unicasts, self.unicasts as f64);
        sample.set(Measure::Multicasts, self.multicasts as f64);
        sample.set(Measure::Relays, self.finals.len() as f64);
        sample.set(Measure::Components, self.components() as f64);
        sample.set(Measure::Detected, f64::from(self.detected) + yes(ended.unclear));
        sample.set(Measure::Aborted, yes(ended.aborted));
        let called = self.called.unwrap_or(SimTime::ZERO);
        sample.set(Measure::Time, self.last_change.max(called).since(called).as_secs_f64());
        sample
    }
}

/// Marks a process that told nobody.
const NOBODY: u32 = u32::MAX;

/// The state of the group at the end.
#[derive(Default)]
struct Ended {
    living: u32,
    followers: BTreeMap<NodeId, u32>,
    /// Whether some process saw that the last round has no clear outcome.
    unclear: bool,
    aborted: bool,
}

impl Ended {
    fn of<P: Protocol>(plan: &Plan, world: &World<P>) -> Self {
        let mut ended = Self::default();
        // Most processes follow the same leader as the one before them.
        let (mut leader, mut followers) = (None, 0);
        for node in 0..plan.nodes {
            let Some(state) = world.node(node) else { continue };
            let now = world.clock(node);
            ended.living += 1;
            let belief = state.leadership(now);
            if let [named, ..] = belief.leaders {
                if leader != Some(*named) {
                    ended.count(leader, followers);
                    (leader, followers) = (Some(*named), 0);
                }
                followers += 1;
                continue;
            }
            ended.aborted |= belief.stage == Stage::Aborted;
            if !ended.unclear {
                let unclear = &mut ended.unclear;
                state.facts(now, &mut |fact| *unclear |= matches!(fact, Fact::Unclear { .. }));
            }
        }
        ended.count(leader, followers);
        ended
    }

    fn count(&mut self, leader: Option<NodeId>, followers: u32) {
        if let Some(leader) = leader {
            *self.followers.entry(leader).or_default() += followers;
        }
    }
}

/// Whether two kinds are the same; usually they are one string, and need not be compared.
#[inline]
fn same(one: &'static str, other: &'static str) -> bool {
    std::ptr::eq(one, other) || one == other
}

impl<P: Protocol> Observer<P> for Rounds<'_> {
    fn on_send(&mut self, at: SimTime, from: u32, to: Dest, message: &P::Message, _number: u32) {
        let kind = message.kind();
        match to {
            Dest::Everyone => self.multicasts += 1,
            Dest::Node(_) => self.unicasts += u64::from(!same(kind, self.kinds.gauges)),
        }
        let Some(round) = message.round() else { return };
        if round > self.round && same(kind, self.kinds.begins) {
            self.begin(round, at);
        }
        if round != self.round {
            return;
        }
        match to {
            Dest::Node(to) if same(kind, self.kinds.prefers) => self.note_word(at, from, to),
            _ if same(kind, self.kinds.decides) => self.finals.push(from),
            _ => {}
        }
    }

    #[inline]
    fn on_change(&mut self, at: SimTime, _node: u32, _: &Leadership<'_>, _: Option<Cause>) {
        self.last_change = at;
    }

    #[inline]
    fn injects_at(&self) -> u64 {
        self.doomed.last().map_or(u64::MAX, |(at, _)| *at)
    }

    fn inject(&mut self) -> Option<Fault> {
        self.doomed.pop().map(|(_, node)| Fault::Crash { node: Who::Node(node) })
    }
}
