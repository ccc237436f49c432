//! Once faults stop there is a leader, soon, and it stays.

use super::never_two::{config, size};
use super::world::World;
use super::*;

/// Runs without faults until `done`, and returns how long that took, in steps of 5 ms.
fn time_until(world: &mut World, done: impl Fn(&World) -> bool) -> Duration {
    let mut length = Duration::ZERO;
    while !done(world) {
        assert!(length < Duration::from_secs(10), "it never is: {:?}", world.leaders());
        world.calm(ms(5));
        length = length + ms(5);
    }
    length
}

fn leader_of(world: &World) -> Option<NodeId> {
    world.leaders().first().map(|(leader, _)| *leader)
}

#[test]
fn in_majority_mode_there_is_a_leader_soon_and_it_stays() {
    for seed in 0..3_000 {
        let params = valid(Config { drift_ppm: Some(200), ..config(seed) });
        let mut world = World::new(seed, size(seed), |_| params.clone());
        (0..600).for_each(|_| world.storm(true));
        world.end_storm();
        let took = time_until(&mut world, |world| leader_of(world).is_some());
        // All may be in quarantine, and the last in line may be the first to ask.
        let limit = params.failover() + params.stagger() * 5;
        assert!(took <= limit, "seed {seed}: it took {took}");
        world.calm(ms(500));
        let (leader, mut known) = (leader_of(&world), 0);
        for _ in 0..20 {
            world.calm(ms(50));
            assert_eq!(leader_of(&world), leader, "seed {seed}");
            known = known.max(world.leaders()[0].1.len() as u64);
        }
        assert_eq!(known, size(seed), "seed {seed}: all are known to support it");
    }
}

#[test]
fn in_local_mode_the_first_leads_within_kappa_with_the_support_of_all() {
    for seed in 0..3_000 {
        let config = Config { drift_ppm: Some(200), mode: Mode::Local, ..config(seed) };
        let params = valid(config);
        let mut world = World::new(seed, size(seed), |_| params.clone());
        (0..600).for_each(|_| world.storm(false));
        world.end_storm();
        let took = time_until(&mut world, |world| leader_of(world) == Some(NodeId(1)));
        assert!(took <= params.kappa_timeliness(), "seed {seed}: it took {took}");
        world.calm(Duration::from_secs(1));
        for _ in 0..20 {
            world.calm(ms(50));
            let all = (1..=size(seed)).map(NodeId).collect();
            assert_eq!(world.leaders(), [(NodeId(1), all)], "seed {seed}");
        }
    }
}

#[test]
fn a_leader_that_dies_is_replaced_within_the_time_of_failover() {
    for seed in 0..1_000 {
        let params = valid(Config { drift_ppm: Some(200), ..Config::default() });
        let mut world = World::new(seed, 3 + seed % 3 * 2, |_| params.clone());
        world.calm(ms(1000 + seed % 50));
        let leader = leader_of(&world).expect("there was time enough");
        world.kill(leader);
        let took = time_until(&mut world, |world| leader_of(world).is_some());
        assert!(took <= params.failover(), "seed {seed}: it took {took}");
    }
}

/// Some voters heard its last request and some did not, so their locks end P apart: one whose turn
/// comes early asks while others are still locked, in vain, and may take a turn from the next.
#[test]
fn a_leader_that_dies_while_it_asks_is_replaced_some_turns_later_at_most() {
    let mut longest = Duration::ZERO;
    for seed in 0..3_000 {
        let params = valid(Config { drift_ppm: Some(200), ..Config::default() });
        let size = 3 + seed % 3 * 2;
        let mut world = World::new(seed, size, |_| params.clone());
        world.calm(ms(1000 + seed % 50));
        let leader = leader_of(&world).expect("there was time enough");
        while !world.is_sending(leader) {
            world.calm(ms(1));
        }
        world.kill_half_way(leader);
        let took = time_until(&mut world, |world| leader_of(world).is_some());
        let limit = params.failover_half_way(size as usize);
        assert!(took <= limit, "seed {seed}: it took {took}");
        longest = longest.max(took.saturating_sub(params.failover()));
    }
    assert!(longest > ms(100), "it is longer than for others, by {longest}");
}

#[test]
fn a_deaf_candidate_does_not_keep_the_others_from_leading() {
    for n in [3, 5, 7, 9, 11] {
        let mut world = World::new(n, n, |_| majority());
        world.deaf = Some(NodeId(1));
        // As many processes are dead as possible, the first in line.
        (2..=n / 2).for_each(|id| world.kill(NodeId(id)));
        let took = time_until(&mut world, |world| leader_of(world).is_some());
        assert!(took <= majority().stagger() * n, "{n}: it took {took}");
    }
}
