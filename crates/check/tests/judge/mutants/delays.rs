//! Rules whose absence endangers nobody, and costs time: shown by pinned times, or by who is never
//! heard.

use crate::{first_breach, lan};
use bellwether_check::{FaultKind, FaultMix, Judge, Trial};
use bellwether_core::{Duration, Event, Fact, Record, SimTime};
use bellwether_protocols::choice::Choice;
use bellwether_protocols::local_leader::{LocalLeader, Mode, Params, Rule};
use bellwether_sim::network::{self, Delay};
use bellwether_sim::{Fault, Network, Observer, Plan, RunSeed, Scene, Timed, Tracer, World};

const SEED: u64 = 1;

/// C5: silent supporters have no round trip with a newcomer, and answer nothing that is not fast.
/// The service's own signs of life would hide that; here they come too late to matter.
#[test]
fn answer() {
    let breach = |params: Params| {
        let choice = Choice::from(params.clone());
        let mix = FaultMix::only(&[FaultKind::Join, FaultKind::Crash]);
        let trial = Trial { mix, ..Trial::new(&choice, 5, None, SEED) };
        first_breach(Judge::<LocalLeader>::new(&trial, params.layered()), 1_000)
    };
    let real = lan(Mode::Local).with_refresh(Duration::from_secs(3600));
    assert_eq!(breach(real.clone()), None);
    let (number, breach) = breach(real.without(Rule::Answer)).expect("some are never heard");
    assert_eq!(breach.invariant, "bounded-inconsistency", "schedule {number}: {breach}");
}

/// C1 only delays too: the printed lockTime does not leave room for σ, so whoever locked to another
/// just before the least process's request may still be locked at its next one.
#[test]
fn room_for_scheduling() {
    let printed = lan(Mode::Local).without(Rule::RoomForScheduling);
    let [with, without] = [lan(Mode::Local), printed].map(|params| slowest_takeover(&params));
    assert_eq!(with.to_string(), "0.310024s");
    assert_eq!(without.to_string(), "0.350032s", "two more requests");
}

/// How long it takes the least process to lead all three after a cut has healed, at most, whatever
/// the moment of healing.
fn slowest_takeover(params: &Params) -> Duration {
    let takeover = |phase: u64| {
        let healed = Duration::from_millis(1_500 + phase);
        let cut = |from: &[u32], to: &[u32]| Fault::Cut { from: from.into(), to: to.into() };
        let faults = [
            (Duration::ZERO, cut(&[0], &[1, 2])),
            (Duration::ZERO, cut(&[1, 2], &[0])),
            (healed, Fault::Heal),
        ];
        let delay = Delay::Constant(Duration::from_millis(1));
        let plan = Plan {
            network: Network::uniform(delay, network::Loss::None),
            faults: faults.map(|(at, fault)| Timed { at, fault }).into(),
            horizon: Duration::from_secs(4),
            ..Plan::new(3)
        };
        let mut watch = Takeover(None);
        World::<LocalLeader>::new(params.layered()).run(&plan, RunSeed::new(1, 0), &mut watch);
        watch.0.expect("it leads all three").since(SimTime::ZERO + healed)
    };
    (0..200).map(takeover).max().expect("some")
}

/// When process 0 first led all three.
struct Takeover(Option<SimTime>);

impl Observer<LocalLeader> for Takeover {
    const LOOKS: bool = true;

    fn on_step(&mut self, node: u32, scene: &Scene<'_, LocalLeader>) {
        let Some(process) = scene.node(0).filter(|_| node == 0) else { return };
        let mut supporters = 0;
        process.facts(scene.clock(0), &mut |fact| {
            supporters += u32::from(matches!(fact, Fact::Supporter { .. }));
        });
        if supporters == 3 {
            self.0 = Some(scene.at());
        }
    }

    fn done(&self) -> bool {
        self.0.is_some()
    }
}

/// C4 only delays: a leader that is alone renews at once, because its own vote is the one that was
/// missing; without the rule, when the replies that nobody sends could have come.
#[test]
fn own_vote_decides() {
    let renewals = |params: &Params| {
        let plan = Plan { horizon: Duration::from_millis(600), ..Plan::new(1) };
        let mut tracer = Tracer::default();
        World::<LocalLeader>::new(params.layered()).run(&plan, RunSeed::new(1, 0), &mut tracer);
        let held = |record: &Record| match record.event {
            Event::Fact(Fact::Held { until }) => Some(format!("{} until {until}", record.t)),
            _ => None,
        };
        tracer.records.iter().filter_map(held).take(3).collect::<Vec<_>>()
    };
    let params = lan(Mode::Local);
    let at_once =
        ["0.231004s until 0.380744s", "0.281004s until 0.430744s", "0.331004s until 0.480744s"];
    assert_eq!(renewals(&params), at_once);
    let a_round_later =
        ["0.201008s until 0.330744s", "0.251008s until 0.380744s", "0.301008s until 0.430744s"];
    assert_eq!(renewals(&params.without(Rule::OwnVoteDecides)), a_round_later);
}
