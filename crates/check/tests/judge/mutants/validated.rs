//! What validation finds: a step of the mutant that no action of the model allows. With all rules
//! there is none in the same schedules; that there is none in the small worlds is what `explore.rs`
//! shows.

use super::mutant::{Mutant, Ticks, Validated};
use super::table::MUTANTS;
use crate::{first_breach, first_unsafe, lan};
use bellwether_check::explore::{World, explore};
use bellwether_check::{BrokenInvariant, FaultKind, FaultMix, Judge, Schedule, Trial};
use bellwether_core::{Duration, SimTime};
use bellwether_protocols::answers::Answers as _;
use bellwether_protocols::choice::Choice;
use bellwether_protocols::local_leader::{Hall, LocalLeader, Mode, Params, Rules, fail_aware};
use bellwether_sim::{Plan, Timed};
use std::collections::BTreeSet;

const SEED: u64 = 1;
const MOST: usize = 1_000_000;

fn breach(
    mutant: &Mutant,
    params: &Params,
    nodes: u32,
    trouble: &[FaultKind],
    schedules: u64,
) -> Option<(u64, BrokenInvariant)> {
    let mut trial = Trial::new(&Choice::from(params.clone()), nodes, None, SEED);
    trial.mix = FaultMix::only(trouble);
    // The layer below keeps its rules: its wrong bounds on delays would be seen first.
    let layered = fail_aware::Params { rules: Rules::ALL, ..params.layered() };
    let judge = mutant.judge(trial, layered);
    match mutant.misfit(params) {
        Some(_) => first_unsafe(judge, schedules),
        None => first_breach(judge, schedules),
    }
}

fn without(mutant: &Mutant, params: Params) -> Params {
    mutant.without.iter().fold(params, |params, rule| params.without(*rule))
}

fn is_refused(mutant: &Mutant, told: &str, action: &str) {
    let nearest = format!("is no action of the model, the nearest is {action}: ");
    assert!(told.contains(&nearest), "{}: {told}", mutant.changed);
}

#[test]
fn validation_kills_what_the_table_says_it_does() {
    let mut seen = BTreeSet::new();
    for mutant in MUTANTS {
        let Validated::InSchedules { action, nodes, trouble, schedules } = mutant.validated else {
            continue;
        };
        let usual = mutant.usual(Mode::Majority);
        let mutated = without(mutant, usual.clone());
        let (number, found) = breach(mutant, &mutated, nodes, trouble, schedules)
            .unwrap_or_else(|| panic!("{}: nothing broke", mutant.changed));
        assert_eq!(found.invariant, "follows-the-proof", "{}: {found}", mutant.changed);
        is_refused(mutant, &found.text, action);
        println!("{} refused in schedule {number}: {found}", mutant.changed);
        let names: Vec<&str> = trouble.iter().map(|kind| kind.name()).collect();
        if seen.insert((nodes, names, schedules, usual.tree(), mutant.misfit(&usual))) {
            let real = breach(mutant, &usual, nodes, trouble, schedules);
            assert_eq!(real, None, "with all rules, {trouble:?}");
        }
    }
}

/// What comes of these faults, in a group of three without any others.
fn scripted(params: &Params, faults: Vec<Timed>) -> Option<BrokenInvariant> {
    let mut trial = Trial::new(&Choice::from(params.clone()), 3, None, SEED);
    trial.mix = FaultMix::only(&[]);
    let drawn = trial.schedule(0);
    let horizon = Duration::from_secs(4);
    let plan = Plan { faults, horizon, ..drawn.plan };
    let schedule = Schedule { plan, calm: SimTime::ZERO + horizon, ..drawn };
    Judge::<LocalLeader>::new(&trial, params.layered()).run_schedule(&schedule).breach
}

#[test]
fn validation_kills_in_scripts_what_the_table_says_it_does() {
    for mutant in MUTANTS {
        let Validated::InScript { action, faults, .. } = mutant.validated else { continue };
        let real = lan(Mode::Majority);
        assert_eq!(scripted(&real, faults()), None, "with all rules");
        let found = scripted(&without(mutant, real), faults());
        let found = found.unwrap_or_else(|| panic!("{}: nothing broke", mutant.changed));
        assert_eq!(found.invariant, "follows-the-proof", "{}: {found}", mutant.changed);
        is_refused(mutant, &found.text, action);
        println!("{} refused: {found}", mutant.changed);
    }
}

#[test]
fn validation_in_small_worlds_kills_what_the_table_says_it_does() {
    for mutant in MUTANTS {
        let Validated::InWorld { action, adversary } = mutant.validated else { continue };
        let params = without(mutant, Ticks::Usual.params());
        let world = World::<Hall>::new(3, params.clone(), adversary);
        let answer = explore(world.validated(&params.time_scales(3)), MOST, 1);
        let told = answer.refused.unwrap_or_else(|| panic!("{}: {adversary:?}", mutant.changed));
        is_refused(mutant, &told, action);
        println!("{} refused after {} states: {told}", mutant.changed, answer.states);
    }
}
