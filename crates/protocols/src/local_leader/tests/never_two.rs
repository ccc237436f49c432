//! Majority mode: never two leaders at once, under any faults.

use super::world::World;
use super::*;
use bellwether_core::Seeded;

/// Groups of all sizes, most often three, with perfect, good or terrible clocks; half of them
/// forget their terms when they restart.
pub(super) fn size(seed: u64) -> u64 {
    [1, 2, 3, 3, 3, 4, 5][(seed % 7) as usize]
}

pub(super) fn config(seed: u64) -> Config {
    let drift_ppm = Some([0, 0, 200, 100_000][(seed / 7 % 4) as usize]);
    let tokens = [Tokens::Durable, Tokens::Volatile][(seed / 28 % 2) as usize];
    Config { drift_ppm, tokens, unchecked: true, ..Config::default() }
}

/// Random faults until two processes lead at once; then the world is returned.
fn two_lead(seed: u64, params: impl Fn(u64) -> Params) -> (World, bool) {
    let mut world = World::new(seed, size(seed), params);
    let two = (0..600).any(|_| {
        world.storm(true);
        world.leaders().len() > 1
    });
    (world, two)
}

#[test]
fn no_storm_makes_two_lead() {
    let mut reigns = 0;
    for seed in 0..10_000 {
        let (world, two) = two_lead(seed, |_| valid(config(seed)));
        assert!(!two, "seed {seed}: {:?}", world.leaders());
        reigns += world.reigns;
    }
    assert!(reigns > 20_000, "there was something to see: {reigns}");
}

/// Random faults find what is wrong without a rule. Rules that are not here: two only delay (C4
/// and, over the datagrams, C5), one belongs to local mode (C1), and one (the lives) needs two
/// incarnations to say the same at the same reading of two clocks, and is left to its handler test.
#[test]
fn without_a_rule_some_storm_makes_two_lead() {
    for rules in [
        &[Rule::Quarantine][..],
        &[Rule::Retry, Rule::StepDown],
        &[Rule::LeaseFromSending],
        &[Rule::ReleaseNamesRequest],
        &[Rule::DistinctVoters],
        &[Rule::StrictExpiry],
        &[Rule::SelfSupport],
        &[Rule::NoReleaseWhileLeading],
        &[Rule::EqualLocks],
        &[Rule::DriftMargin],
    ] {
        let found = (0..100_000).find(|seed| {
            let params = |id| {
                // One member is misconfigured, which matters only without that rule.
                let lock = if rules == [Rule::EqualLocks] && id == 1 { 100 } else { 150 };
                let params = valid(config(*seed)).with_lock(ms(lock));
                rules.iter().fold(params, |params, rule| params.without(*rule))
            };
            two_lead(*seed, params).1
        });
        assert!(found.is_some(), "{rules:?} seem to be of no use");
    }
}

/// Random faults and changes of the voters, and of lockTime by this luck, until two processes lead
/// at once or a token is used that did not grow.
fn goes_wrong(seed: u64, params: &Params, lengths: Option<Seeded>) -> (World, bool) {
    let (n, founders) = [(3, 1), (4, 2), (5, 3), (5, 3), (5, 4)][(seed % 5) as usize];
    let mut world = World::founded(seed, n, Some(founders), |_| params.clone());
    world.forgetful = seed.is_multiple_of(3);
    world.lengths = lengths;
    let wrong = (0..1_000).any(|_| {
        world.storm(true);
        world.two || world.reused.is_some()
    });
    (world, wrong)
}

fn durable(seed: u64) -> Params {
    valid(Config { tokens: Tokens::Durable, ..config(seed) })
}

/// What goes wrong without the rules of lists, the judge finds: there cuts last long enough.
#[test]
fn no_storm_makes_two_lead_while_voters_change() {
    let (mut reigns, mut changes) = (0, 0);
    for seed in 0..4_200 {
        let (world, wrong) = goes_wrong(seed, &durable(seed), None);
        assert!(!wrong, "seed {seed}: {:?}, {:?}", world.leaders(), world.reused);
        reigns += world.reigns;
        changes += world.changes;
    }
    assert!(reigns > 5_000 && changes > 10_000, "{reigns} leaders, {changes} lists");
}

/// The same while lockTime changes as often.
#[test]
fn no_storm_makes_two_lead_while_locks_become_longer_and_shorter() {
    let (mut reigns, mut changes) = (0, 0);
    for seed in 0..4_000 {
        let (world, wrong) = goes_wrong(seed, &durable(seed), Some(Seeded::new(!seed)));
        assert!(!wrong, "seed {seed}: {:?}, {:?}", world.leaders(), world.reused);
        reigns += world.reigns;
        changes += world.changes;
    }
    assert!(reigns > 5_000 && changes > 10_000, "{reigns} leaders, {changes} lists");
}
