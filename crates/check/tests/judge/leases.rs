//! Leases keep what they promise, and the judge sees it when they do not.

use crate::{lan, ms};
use bellwether_check::{FaultKind, FaultMix, FinalLinks, Judge, Report, Trial};
use bellwether_protocols::choice::Choice;
use bellwether_protocols::local_leader::{Config, LocalLeader, Mode, Params};
use bellwether_sim::World;

fn params(config: Config) -> Params {
    Params::try_from(config).expect("the preset is valid")
}

fn fuzz(trial: &Trial, choice: &Choice, schedules: u64) -> Report {
    crate::fuzz(trial, choice, 0..schedules, 2)
}

#[test]
fn leases_keep_their_promise_in_both_modes() {
    for mode in [Mode::Majority, Mode::Local] {
        let choice = Choice::from(lan(mode));
        let trial = Trial::new(&choice, 5, None, 1);
        let report = fuzz(&trial, &choice, 10_000);
        let replay = format!("bellwether check local-leader --mode {}", mode.name());
        let number = report.violation.as_ref().map_or(0, |violation| violation.number);
        let replay = format!("{replay} --seed 1 --schedule {number}");
        assert_eq!(report.violation, None, "REPLAY WITH: {replay}");
        for (name, counts) in trial.invariants().iter().zip(&report.tally.checks) {
            assert!(counts.checks > 100_000, "{replay}: {name} looked {counts:?}");
        }
        assert!(report.tally.elections > 10_000, "{}", report.tally.elections);
    }
}

/// Groups of other sizes, even ones too, on other seeds.
#[test]
fn leases_keep_their_promise_in_groups_of_every_size() {
    for mode in [Mode::Majority, Mode::Local] {
        let choice = Choice::from(lan(mode));
        for (nodes, seed) in [(1, 2), (2, 3), (3, 4), (4, 5), (7, 6), (5, 771_000)] {
            let trial = Trial::new(&choice, nodes, None, seed);
            let violation = fuzz(&trial, &choice, 1_000).violation;
            let replay = format!("--mode {} --nodes {nodes} --seed {seed}", mode.name());
            let number = violation.as_ref().map_or(0, |violation| violation.number);
            let replay = format!("bellwether check local-leader {replay} --schedule {number}");
            assert_eq!(violation, None, "REPLAY WITH: {replay}");
        }
    }
}

/// On clocks that run on, and by processes that know that they ran before: more is not asked of
/// whoever has lost count of its lives.
#[test]
fn lives_that_repeat_or_fall_never_make_two() {
    let choice = Choice::from(lan(Mode::Majority));
    for kind in [FaultKind::RepeatedLife, FaultKind::LowerLife] {
        let mut trial = Trial::new(&choice, 3, None, 1);
        let trouble = [kind, FaultKind::Stragglers, FaultKind::Partition, FaultKind::Campaign];
        trial.mix = FaultMix::only(&trouble);
        assert_eq!(fuzz(&trial, &choice, 3_000).violation, None, "{}", kind.name());
    }
}

/// Clocks that drift sixty times as much as they are trusted to.
#[test]
fn clocks_beyond_their_bound_break_leases() {
    let config = Config { drift_ppm: Some(2_000), ..Config::default() };
    let choice = Choice::from(params(config));
    let mut trial = Trial::new(&choice, 5, None, 1);
    trial.mix =
        FaultMix { drift: 60.0, ..FaultMix::only(&[FaultKind::Drift, FaultKind::LongPause]) };
    let violation = fuzz(&trial, &choice, 3_000).violation.expect("locks end before the lease");
    assert!(
        ["locked-supporters", "never-two", "support-at-most-one"]
            .contains(&violation.breach.invariant),
        "{}",
        violation.breach
    );
    trial.mix.drift = 1.0;
    assert_eq!(fuzz(&trial, &choice, 3_000).violation, None, "and within it they do not");
}

/// The judge can watch a world in which one member differs from the rest.
#[test]
fn a_member_with_other_parameters_is_a_world_of_its_own() {
    let common = lan(Mode::Majority);
    let (lock, period) = (Some(ms(160)), Some(ms(191)));
    let other = params(Config { lock, period, ..Config::default() });
    let trial = Trial::new(&Choice::from(common.clone()), 3, None, 1);
    let world = World::<LocalLeader>::new(common.layered()).with_params_of(2, other.layered());
    let mut judge = Judge::in_world(&trial, world);
    for number in 0..300 {
        let breach = judge.run(number).breach;
        let safe = breach.as_ref().is_none_or(|breach| breach.invariant == "timeliness");
        assert!(safe, "schedule {number}: a mismatch is refused, and costs time only: {breach:?}");
    }
}

/// κ allows for all that may have gone wrong. If nothing did but crashes, a leader is there within
/// the bound on failover, and 2Δ+σ more for each member that is dead.
#[test]
fn after_crashes_alone_a_leader_is_there_within_the_bound_on_failover() {
    let params = lan(Mode::Majority);
    let choice = Choice::from(params.clone());
    let mut trial = Trial::new(&choice, 5, None, 1);
    trial.mix = FaultMix { finale: Some(FinalLinks::Whole), ..FaultMix::only(&[FaultKind::Crash]) };
    trial.time_scales.settles = params.failover() + params.stagger() * 2;
    assert_eq!(fuzz(&trial, &choice, 5_000).violation, None);
}
