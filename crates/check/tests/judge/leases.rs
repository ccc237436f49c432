//! Leases keep what they promise, and the judge sees it when they do not.

use crate::{
    first_breach, first_unsafe, follow_the_proof, hold, lan, looked, ms, newest_list, seen, valid,
};
use bellwether_check::{FaultKind, FaultKinds, FaultMix, FinalLinks, Fuzz, Judge, Report, Trial};
use bellwether_check::{Varied, vary};
use bellwether_core::{Dest, Protocol, SimTime};
use bellwether_protocols::choice::{self, Choice, Promise};
use bellwether_protocols::local_leader::message::Message;
use bellwether_protocols::local_leader::{Config, LocalLeader, Mode, Rule, Tokens};
use bellwether_sim::{Fault, Observer, Scene, World};

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

/// Old answers to a process without a record, and one that nobody could answer.
#[test]
fn what_was_found_by_chance_in_a_group_of_three_stays_mended() {
    let choice = Choice::from(lan(Mode::Majority));
    let trial = Trial::new(&choice, 3, None, 202_611_173);
    for number in [298_706, 444_868, 604_997] {
        let violation = crate::fuzz(&trial, &choice, number..number + 1, 1).violation;
        assert_eq!(violation, None, "bellwether check local-leader --nodes 3 --seed 202611173");
    }
}

/// All that have the newest list are witnesses: a new voter does not know that it votes, or one
/// that was restarted asks by an older list.
#[test]
fn what_was_found_by_chance_in_a_group_of_seven_stays_mended() {
    let choice = Choice::from(lan(Mode::Majority));
    let trial = Trial::new(&choice, 7, None, 202_611_177);
    for number in [92_938, 697_802] {
        let violation = crate::fuzz(&trial, &choice, number..number + 1, 1).violation;
        assert_eq!(violation, None, "bellwether check local-leader --nodes 7 --seed 202611177");
    }
}

/// Each group has priorities, some have witnesses, and leaders yield to better ones.
#[test]
fn leases_keep_their_promise_with_priorities_witnesses_and_leaders_that_yield() {
    let yielding = Config { preempt: true, preempt_delay: Some(ms(300)), ..Config::default() };
    for (config, seed) in [(Config::default(), 11), (yielding, 12)] {
        let choice = Choice::from(valid(config));
        for nodes in [3, 5] {
            let mut trial = Trial::new(&choice, nodes, None, seed);
            trial.mix.roles = 1.0;
            let violation = fuzz(&trial, &choice, 2_000).violation;
            assert_eq!(violation, None, "{nodes} processes, seed {seed}, all with roles");
        }
    }
}

/// Voters are added, removed and replaced in every schedule, beside all other faults.
#[test]
fn leases_keep_their_promise_while_voters_change() {
    let choice = Choice::from(lan(Mode::Majority));
    for (nodes, seed) in [(5, 1), (4, 2), (3, 3), (2, 4), (7, 5)] {
        let mut trial = Trial::new(&choice, nodes, None, seed);
        trial.mix.forced = FaultKinds::of(&[FaultKind::Members]);
        let report = hold(&trial, &choice, 2_000, "voters change");
        assert!(report.tally.trouble.of(FaultKind::Members) >= 2_000);
    }
}

/// Every schedule has this fault, alone and beside all others.
fn hold_with(kind: FaultKind, schedules: u64) {
    let choice = Choice::from(lan(Mode::Majority));
    for (nodes, seed) in [(3, 1), (5, 2), (4, 3)] {
        for only in [true, false] {
            let mut trial = Trial::new(&choice, nodes, None, seed);
            match only {
                true => trial.mix = FaultMix::only(&[kind]),
                false => trial.mix.forced = FaultKinds::of(&[kind]),
            }
            let what = format!("{}, nothing else: {only}", kind.name());
            let report = hold(&trial, &choice, schedules, &what);
            assert!(report.tally.trouble.of(kind) >= 1_000, "{what}");
        }
    }
}

/// Leaders are killed in every schedule, and released soon or late, beside all other faults.
#[test]
fn leases_keep_their_promise_while_killed_processes_are_released() {
    hold_with(FaultKind::Release, 2_000);
}

/// All crash at once in every schedule, and some lose their disks, alone and beside all other
/// faults.
#[test]
fn leases_keep_their_promise_when_all_restart_at_once() {
    hold_with(FaultKind::AllRestart, 1_000);
}

/// The rule that keeps a release safe is not the protocol's but that of whoever sends it.
#[test]
fn a_release_of_a_life_that_runs_makes_two_leaders() {
    let choice = Choice::from(lan(Mode::Majority));
    // All invariants, of which one sees the unlock that is no action of the model; or the main
    // ones.
    for (promise, wrong) in [(None, "follows-the-proof"), (Some(Promise::NeverTwo), "never-two")] {
        let mut trial = Trial::new(&choice, 3, promise, 1);
        trial.mix = FaultMix::only(&[FaultKind::Release]);
        let mut judge = Judge::<LocalLeader>::new(&trial, lan(Mode::Majority).layered());
        let mut broken = |wrongly: bool| {
            let found = (0..100).filter_map(|number| {
                let mut schedule = trial.schedule(number);
                for timed in schedule.plan.faults.iter_mut().filter(|_| wrongly) {
                    if let Fault::Kill { node, .. } = timed.fault {
                        timed.fault = Fault::Release { node };
                    }
                }
                judge.run_schedule(&schedule).breach.map(|breach| breach.invariant)
            });
            found.collect::<Vec<_>>()
        };
        assert_eq!(broken(false), [""; 0]);
        let found = broken(true);
        assert!(found.contains(&wrong), "{found:?}");
    }
}

/// How often leaders stepped back and named the next one.
#[derive(Default)]
struct HandedOver(u64);

impl Observer<LocalLeader> for HandedOver {
    fn on_send(
        &mut self,
        _at: SimTime,
        _from: u32,
        _to: Dest,
        message: &<LocalLeader as Protocol>::Message,
        _number: u32,
    ) {
        let names = matches!(&message.body, Some(Message::Release { nominee: Some(_), .. }));
        self.0 += u64::from(names);
    }
}

/// Without a command that asks for it, only a leader that yields to a better one names the next.
#[test]
fn leaders_really_step_back_for_better_ones() {
    let handed_over = |preempt: bool| {
        let preempt_delay = preempt.then(|| ms(300));
        let params = valid(Config { preempt, preempt_delay, ..Config::default() });
        let mut trial = Trial::new(&Choice::from(params.clone()), 5, None, 12);
        trial.mix.roles = 1.0;
        trial.mix.allowed = trial.mix.allowed.without(&[FaultKind::Resign, FaultKind::Transfer]);
        let counts = seen::<HandedOver>(&trial, &params, 300);
        let schedules = counts.iter().filter(|count| count.0 > 0).count();
        (schedules, counts.iter().map(|count| count.0).sum::<u64>())
    };
    assert_eq!(handed_over(false), (0, 0));
    let (schedules, times) = handed_over(true);
    assert!(schedules > 60 && times > 90, "{times} times in {schedules} of 300 schedules");
}

/// Every schedule draws parameters, beside all faults.
#[test]
fn leases_keep_their_promise_with_parameters_that_schedules_draw() {
    let config = choice::Config::LocalLeader(Config::default());
    for (nodes, seed, members) in [(5, 71, 0.25), (9, 72, 1.0)] {
        let mut trial = Trial::new(&Choice::from(lan(Mode::Majority)), nodes, None, seed);
        trial.mix.members = members;
        let varied = Varied::new(&trial, &config).expect("leases have these parameters");
        let fuzz = Fuzz { trial: &trial, numbers: 0..1_500, threads: 2, progress: &|| () };
        let report = fuzz.run_varied_until(&varied, &|| false).expect("threads can be started");
        let again = format!("bellwether check local-leader --vary --nodes {nodes} --seed {seed}");
        assert_eq!(report.violation, None, "{again}");
        for name in vary::NAMES {
            let count = report.tally.parameters.get(name).copied().unwrap_or_default();
            assert!(count > 300, "{name} in {count} schedules");
        }
    }
}

/// The newest list of voters in a run.
#[derive(Default)]
struct Newest(u64);

impl Observer<LocalLeader> for Newest {
    const LOOKS: bool = true;

    fn on_step(&mut self, node: u32, scene: &Scene<'_, LocalLeader>) {
        self.0 = self.0.max(newest_list(node, scene));
    }
}

/// Random changes are not in vain: many groups get other lists in spite of all faults.
#[test]
fn voters_really_change() {
    let params = lan(Mode::Majority);
    let mut trial = Trial::new(&Choice::from(params.clone()), 5, None, 1);
    trial.mix.forced = FaultKinds::of(&[FaultKind::Members]);
    let newest = seen::<Newest>(&trial, &params, 300);
    let changed = newest.iter().filter(|newest| newest.0 > 0).count();
    let all: u64 = newest.iter().map(|newest| newest.0).sum();
    assert!(changed > 100 && all > 250, "{changed} of 300 groups, {all} lists");
}

/// With tokens that last all of the model is compared; with others its locks, votes and leases.
#[test]
fn every_step_is_an_action_of_the_proved_model() {
    for (tokens, nodes, schedules) in [
        (Tokens::Durable, 3, 2_000),
        (Tokens::Durable, 5, 2_000),
        (Tokens::Volatile, 3, 1_000),
        (Tokens::Volatile, 5, 1_000),
    ] {
        let choice = Choice::from(valid(Config { tokens, ..Config::default() }));
        let trial = Trial::new(&choice, nodes, None, 17);
        follow_the_proof(&trial, &choice, (schedules, 400), &format!("{tokens:?}"));
    }
}

/// Tokens in memory grow while nobody begins again; a lease that ran out is not had again with the
/// token it had.
#[test]
fn volatile_tokens_grow_while_nobody_begins_again() {
    let volatile = valid(Config { tokens: Tokens::Volatile, ..Config::default() });
    let choice = Choice::from(volatile.clone());
    let mut trial = Trial::new(&choice, 3, None, 1);
    trial.mix = FaultMix::only(&[FaultKind::Loss, FaultKind::OneWay, FaultKind::Partition]);
    trial.validated = false; // it would see the cause first
    let report = hold(&trial, &choice, 1_000, "volatile tokens");
    let checks = looked(&trial, &report, "tokens-grow");
    assert!(checks > 100 * 1_000, "{checks} moments with a leader");
    let mutant = volatile.without(Rule::NewReignNewTerm);
    let found = first_breach(Judge::<LocalLeader>::new(&trial, mutant.layered()), 1_000);
    assert_eq!(found.map(|(_, breach)| breach.invariant), Some("tokens-grow"));
    // With restarts nothing is promised, and nothing is asked from then on.
    let trial = Trial::new(&choice, 3, None, 2);
    assert_eq!(fuzz(&trial, &choice, 1_000).violation, None);
}

/// While voters change in every schedule, too.
#[test]
fn every_step_is_an_action_of_the_proved_model_while_voters_change() {
    let choice = Choice::from(lan(Mode::Majority));
    for nodes in [3, 5] {
        let mut trial = Trial::new(&choice, nodes, None, 18);
        trial.mix.forced = FaultKinds::of(&[FaultKind::Members]);
        follow_the_proof(&trial, &choice, (2_000, 400), "voters change");
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
    let choice = Choice::from(valid(config));
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
    let other = valid(Config { lock, period, ..Config::default() });
    let trial = Trial {
        locks: vec![(2, ms(160))],
        ..Trial::new(&Choice::from(common.clone()), 3, None, 1)
    };
    let world = World::<LocalLeader>::new(common.layered()).with_params_of(2, other.layered());
    let unsafe_in = first_unsafe(Judge::in_world(&trial, world), 300);
    assert_eq!(unsafe_in, None, "a mismatch is refused, and costs time only");
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
