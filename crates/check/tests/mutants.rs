//! Every rule of the lease protocol is needed: without it, a named property breaks in a named
//! regime; with it, nothing does in the same schedules.
//!
//! | rule | without it | regime |
//! |---|---|---|
//! | C1 room for scheduling | a lock outlasts the next request, and timeliness needs another EP | by hand: `room_for_scheduling` |
//! | C2 quarantine | never two | partitions, restarts before the lock has lapsed |
//! | C3 step down | never two | one-way cuts and partitions, one request per lease |
//! | C4 own vote decides | nothing breaks, but a lone leader is later | golden transcript |
//! | C5 answer | timeliness: who cannot be bounded is never heard | newcomers, no refreshing |
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
use bellwether_core::Duration;
use bellwether_protocols::choice::{Choice, Promise};
use bellwether_protocols::local_leader::{Config, LocalLeader, Mode, Params, Rule};
use bellwether_sim::World;

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
