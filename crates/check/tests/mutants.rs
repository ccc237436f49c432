//! Every rule of the lease protocol is needed: without it, a named property breaks in a named
//! regime; with it, nothing does in the same schedules.
//!
//! | rule | without it | regime |
//! |---|---|---|
//! | C1 room for scheduling | nothing breaks, but the least process takes over later | golden times after a cut has healed |
//! | C2 quarantine | never two | partitions, restarts before the lock has lapsed |
//! | C3 step down | never two | one-way cuts and partitions; without C6, which never releases while it leads |
//! | C4 own vote decides | nothing breaks, but a lone leader renews later | golden times |
//! | C5 answer | bounded inconsistency: who cannot be bounded is never heard | newcomers, local mode, no refreshing |
//! | C6 retry | a lost reply deposes | losses per hour, in the simulator's tests |
//! | lease from sending | never two | slow messages, partitions |
//! | release names its request | never two | lost and late messages, partitions |
//! | distinct voters | never two | doubled messages, partitions |
//! | lives | never two | leaving and coming back with another clock, late messages |
//! | strict expiry | never two | the explorer, without delay and drift |
//! | self-support | never two | one-way cuts and partitions |
//! | no release while leading | never two | losses, one-way and non-transitive cuts |
//! | equal locks | never two | a misconfigured member, partitions |
//! | drift margin | never two | clocks at ±ρ, partitions |

use bellwether_check::{Breach, Judge, Regime, Trial, Trouble};
use bellwether_core::{Duration, Event, Fact, Record, SimTime};
use bellwether_protocols::choice::{Choice, Promise};
use bellwether_protocols::local_leader::{Config, LocalLeader, Mode, Params, Rule};
use bellwether_sim::network::{self, Delay};
use bellwether_sim::{Coins, Fault, Network, Observer, Plan, Scene, Timed, Tracer, World};

/// A protocol without some of its rules, and how it is caught.
struct Mutant {
    without: &'static [Rule],
    nodes: u32,
    regime: Regime,
    /// A member whose lockTime is a third of the others'.
    misconfigured: bool,
    /// The schedules among which it is caught; the real protocol gets through all of them.
    schedules: u64,
}

const SEED: u64 = 1;

fn lan(mode: Mode) -> Params {
    Params::try_from(Config { mode, ..Config::default() }).expect("a preset is valid")
}

impl Mutant {
    fn new(without: &'static [Rule], nodes: u32, kinds: &[Trouble], schedules: u64) -> Self {
        let regime = Regime::only(kinds);
        Self { without, nodes, regime, misconfigured: false, schedules }
    }

    /// The first breach among the schedules, by never two alone.
    fn breach(&self, params: Params) -> Option<(u64, Breach)> {
        let choice = Choice::from(params.clone());
        let trial = Trial {
            own: false,
            promise: Promise::NeverTwo,
            regime: self.regime.clone(),
            ..Trial::new(&choice, self.nodes, None, SEED)
        };
        let mut layered = params.layered();
        // Without lives a row may be of no use for ever, and would be answered for ever.
        layered.answers &= layered.lives;
        let mut world = World::<LocalLeader>::new(layered);
        if self.misconfigured {
            let third = Duration::from_nanos(params.lock().as_nanos() / 3);
            world = world.with_params_of(0, params.with_lock(third).layered());
        }
        let mut judge = Judge::in_world(&trial, world);
        (0..self.schedules).find_map(|number| Some((number, judge.run(number).breach?)))
    }

    fn is_killed_by_never_two(&self) {
        let real = lan(Mode::Majority);
        let mutant = self.without.iter().fold(real.clone(), |params, rule| params.without(*rule));
        let (number, breach) = self.breach(mutant).unwrap_or_else(|| {
            panic!("without {:?} nothing broke in {} schedules", self.without, self.schedules)
        });
        assert_eq!(breach.invariant, "never-two", "schedule {number}: {breach}");
        if let Some((number, breach)) = self.breach(real) {
            panic!("with all rules schedule {number} of seed {SEED} broke: {breach}");
        }
        println!("{:?} killed by schedule {number}: {breach}", self.without);
    }
}

use Trouble::{
    Drift, Duplicates, Leave, Loss, NonTransitive, OneWay, Partition, QuickRestart, Reboot,
    Reordering, Tails,
};

#[test]
fn quarantine() {
    Mutant::new(&[Rule::Quarantine], 3, &[QuickRestart, Partition], 5_000).is_killed_by_never_two();
}

#[test]
fn step_down() {
    let rules = &[Rule::StepDown, Rule::Retry];
    Mutant::new(rules, 3, &[Loss, OneWay, Partition], 5_000).is_killed_by_never_two();
}

#[test]
fn lease_from_sending() {
    let rules = &[Rule::LeaseFromSending];
    Mutant::new(rules, 3, &[OneWay, Partition, Tails], 5_000).is_killed_by_never_two();
}

#[test]
fn release_names_its_request() {
    let rules = &[Rule::ReleaseNamesRequest];
    Mutant::new(rules, 3, &[Loss, Reordering, Partition], 5_000).is_killed_by_never_two();
}

#[test]
fn distinct_voters() {
    Mutant::new(&[Rule::DistinctVoters], 5, &[Duplicates, Partition], 5_000)
        .is_killed_by_never_two();
}

#[test]
fn lives() {
    Mutant::new(&[Rule::Lives], 3, &[Leave, Reboot, Reordering, Duplicates], 20_000)
        .is_killed_by_never_two();
}

#[test]
fn self_support() {
    Mutant::new(&[Rule::SelfSupport], 3, &[OneWay, Partition], 5_000).is_killed_by_never_two();
}

#[test]
fn no_release_while_leading() {
    let rules = &[Rule::NoReleaseWhileLeading];
    Mutant::new(rules, 3, &[Loss, OneWay, NonTransitive], 5_000).is_killed_by_never_two();
}

#[test]
fn equal_locks() {
    let mutant = Mutant::new(&[Rule::EqualLocks], 3, &[Partition], 5_000);
    Mutant { misconfigured: true, ..mutant }.is_killed_by_never_two();
}

#[test]
fn drift_margin() {
    Mutant::new(&[Rule::DriftMargin], 3, &[Drift, Partition], 20_000).is_killed_by_never_two();
}

/// C5: silent supporters have no round trip with a newcomer, and answer nothing that is not fast.
/// The service's own signs of life would hide that; here they come too late to matter.
#[test]
fn answer() {
    let breach = |params: Params| {
        let choice = Choice::from(params.clone());
        let regime = Regime::only(&[Trouble::Join, Trouble::Crash]);
        let trial = Trial { regime, ..Trial::new(&choice, 5, None, SEED) };
        let mut judge = Judge::<LocalLeader>::new(&trial, params.layered());
        (0..1_000).find_map(|number| Some((number, judge.run(number).breach?)))
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
        World::<LocalLeader>::new(params.layered()).run(&plan, Coins::new(1, 0), &mut watch);
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
        World::<LocalLeader>::new(params.layered()).run(&plan, Coins::new(1, 0), &mut tracer);
        let held = |record: &Record| match record.event {
            Event::Fact(Fact::Held { until }) => Some(format!("{} until {until}", record.t)),
            _ => None,
        };
        tracer.records.iter().filter_map(held).take(3).collect::<Vec<_>>()
    };
    let params = lan(Mode::Local);
    let at_once =
        ["0.231004s until 0.380944s", "0.281004s until 0.430944s", "0.331004s until 0.480944s"];
    assert_eq!(renewals(&params), at_once);
    let a_round_later =
        ["0.201008s until 0.330944s", "0.251008s until 0.380944s", "0.301008s until 0.430944s"];
    assert_eq!(renewals(&params.without(Rule::OwnVoteDecides)), a_round_later);
}
