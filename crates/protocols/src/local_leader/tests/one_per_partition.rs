//! Local mode: no process supports two, and a leader supports itself, under any faults.

use super::never_two::{config, size};
use super::world::World;
use super::*;

/// The promise that is broken.
fn broken(world: &World) -> Option<&'static str> {
    let leaders = world.leaders();
    let mut supporters: Vec<NodeId> = leaders.iter().flat_map(|(_, all)| all.clone()).collect();
    let count = supporters.len();
    supporters.sort_unstable();
    supporters.dedup();
    if supporters.len() < count {
        return Some("SO: a process supports at most one process at a time");
    }
    let supports_itself = |(leader, supporters): &(NodeId, Vec<NodeId>)| {
        supporters.contains(leader) && world.locked(*leader) == Some(*leader)
    };
    (!leaders.iter().all(supports_itself)).then_some("LS: a leader supports itself")
}

fn storm(seed: u64, params: impl Fn(u64) -> Params) -> (World, Option<&'static str>) {
    let mut world = World::new(seed, size(seed), params);
    let broken = (0..600).find_map(|_| {
        world.storm(true);
        broken(&world)
    });
    (world, broken)
}

#[test]
fn no_storm_makes_a_process_support_two_or_lead_without_its_own_support() {
    let mut reigns = 0;
    for seed in 0..10_000 {
        let config = Config { mode: Mode::Local, ..config(seed) };
        let (world, broken) = storm(seed, |_| valid(config.clone()));
        assert_eq!(broken, None, "seed {seed}: {:?}", world.leaders());
        reigns += world.reigns;
    }
    assert!(reigns > 20_000, "there was something to see: {reigns}");
}

#[test]
fn without_a_rule_some_storm_breaks_a_promise() {
    for rules in [
        &[Rule::Retry, Rule::StepDown][..],
        &[Rule::LeaseFromSending],
        &[Rule::StrictExpiry],
        &[Rule::SelfSupport],
    ] {
        let found = (0..20_000).find(|seed| {
            let config = Config { mode: Mode::Local, ..config(*seed) };
            let params = |_| {
                let params = valid(config.clone());
                rules.iter().fold(params, |params, rule| params.without(*rule))
            };
            storm(*seed, params).1.is_some()
        });
        assert!(found.is_some(), "{rules:?} seem to be of no use");
    }
}
