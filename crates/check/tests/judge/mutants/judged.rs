//! What the judge finds: the mutant breaks a promise within so many schedules, and the protocol
//! with all its rules gets through every one of them.

use super::mutant::{Judged, Mutant, Watched};
use super::table::MUTANTS;
use crate::first_breach;
use bellwether_check::{BrokenInvariant, FaultMix, Trial};
use bellwether_protocols::choice::{Choice, Promise};
use bellwether_protocols::local_leader::{Mode, Params, Rule};
use std::collections::BTreeMap;

const SEED: u64 = 1;

/// The first breach among the schedules.
fn breach(
    mutant: &Mutant,
    judged: &Judged,
    usual: &Params,
    params: Params,
    schedules: u64,
) -> Option<(u64, BrokenInvariant)> {
    let choice = Choice::from(params.clone());
    let mut trial = Trial::new(&choice, judged.nodes, None, SEED);
    trial.mix = FaultMix::only(judged.trouble);
    if judged.watched == Watched::Roles {
        trial.mix.roles = 1.0;
    }
    trial.validated = false; // that would see the cause first; see `validated.rs`
    if judged.watched == Watched::NeverTwo {
        (trial.own, trial.promise) = (false, Promise::NeverTwo);
    }
    let mut layered = params.layered();
    // Without lives a row may be of no use for ever, and would be answered for ever.
    if !layered.rules.keep(Rule::Lives) {
        layered.rules = layered.rules.without(Rule::Answer);
    }
    let usual = Choice::from(usual.clone());
    assert_eq!(trial.time_scales, usual.time_scales(judged.nodes), "the same trouble");
    first_breach(mutant.judge(trial, layered), schedules)
}

/// The protocol with all its rules. Where a bound is judged to the nanosecond clocks are exact but
/// for their drift: what is paid for their error would hide a smaller mistake.
fn all_rules(mutant: &Mutant, judged: &Judged, mode: Mode) -> Params {
    match judged.watched {
        Watched::BothModes => mutant.usual(mode).with_exact_clocks(),
        _ => mutant.usual(mode),
    }
}

fn is_killed(mutant: &Mutant, judged: &Judged, mode: Mode) {
    let Mutant { without, .. } = mutant;
    let without =
        |params: Params| without.iter().fold(params, |params, rule| params.without(*rule));
    let real = all_rules(mutant, judged, mode);
    let mutated = without(real.clone());
    let (number, breach_of) = breach(mutant, judged, &real, mutated, judged.schedules)
        .unwrap_or_else(|| panic!("{}: nothing broke, {mode:?}", mutant.changed));
    assert_eq!(breach_of.invariant, judged.invariant, "{}: {breach_of}", mutant.changed);
    println!("{} killed by schedule {number}, {mode:?}: {breach_of}", mutant.changed);
}

/// With all rules nothing breaks in the same schedules.
fn is_held(mutant: &Mutant, judged: &Judged, mode: Mode) {
    let real = all_rules(mutant, judged, mode);
    if let Some((number, breach)) = breach(mutant, judged, &real, real.clone(), judged.schedules) {
        panic!("{}: with all rules schedule {number} broke: {breach}", mutant.changed);
    }
}

fn kill(part: usize) {
    // Several mutants have the same schedules, and more of them contain fewer.
    let mut groups: BTreeMap<String, (&Mutant, &Judged, Mode)> = BTreeMap::new();
    for mutant in MUTANTS.iter().skip(part).step_by(2) {
        let Some(judged) = &mutant.judged else { continue };
        let modes = match judged.watched {
            Watched::BothModes => &[Mode::Majority, Mode::Local][..],
            _ => &[Mode::Majority],
        };
        for mode in modes {
            is_killed(mutant, judged, *mode);
            let Judged { nodes, trouble, watched, schedules, .. } = judged;
            let real = all_rules(mutant, judged, *mode);
            let misfit = mutant.misfit(&real);
            let group = format!("{nodes} {trouble:?} {watched:?} {misfit:?} {real:?}");
            let most = groups.entry(group).or_insert((mutant, judged, *mode));
            if most.1.schedules < *schedules {
                *most = (mutant, judged, *mode);
            }
        }
    }
    println!("{} groups with all rules", groups.len());
    groups.into_values().for_each(|(mutant, judged, mode)| is_held(mutant, judged, mode));
}

#[test]
fn the_judge_kills_what_the_table_says_it_does() {
    kill(0);
}

#[test]
fn the_judge_kills_the_other_half_too() {
    kill(1);
}
