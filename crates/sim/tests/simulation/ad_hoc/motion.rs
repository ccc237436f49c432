//! Radios that move for a while, then stop.

use super::support::{campaign, on_graph, params, verdict};
use crate::support::{fault, ms};
use bellwether_core::{Duration, SimTime};
use bellwether_protocols::ad_hoc::{AdHoc, Config};
use bellwether_sim::motion::Motion;
use bellwether_sim::{Fault, Plan, Ranks, RunSeed, Wandering, Wanderings, World};

/// Radios that move for half a minute, and then stop.
fn moving(nodes: u32, motion: &Motion, seed: u64) -> Plan {
    let mut plan = on_graph(nodes, Vec::new());
    motion.draw(nodes, RunSeed::new(seed, 0)).expect("a good motion").enter(&mut plan);
    plan.ranks = Ranks::Random;
    plan.horizon = motion.lasts + Duration::from_secs(20);
    plan
}

fn watch(plan: &Plan, from: Duration, until: Duration, seed: u64) -> (World<AdHoc>, Wanderings) {
    let mut world = World::<AdHoc>::new(params(Config::restless()));
    let mut wandering = Wandering::new(plan, from);
    let plan = Plan { horizon: until, ..plan.clone() };
    assert_eq!(plan.check(), Ok(()));
    world.run(&plan, RunSeed::new(seed, 0), &mut wandering);
    (world, wandering.finish(SimTime::ZERO + until))
}

#[test]
fn when_the_radios_stand_still_every_component_has_its_best_for_a_leader() {
    for seed in 0..150 {
        let range = [150.0, 250.0, 400.0][seed as usize % 3];
        let lasts = Duration::from_secs(30);
        let motion = Motion { range, fastest: 60.0, lasts, ..Motion::default() };
        let plan = moving(4 + (seed % 16) as u32, &motion, seed);
        let (world, _) = watch(&plan, Duration::ZERO, plan.horizon, seed);
        assert_eq!(verdict(&plan, &world), Ok(()), "seed {seed}");
    }
}

#[test]
fn the_faster_they_move_the_more_elections_and_the_less_agreement() {
    let measure = |fastest: f64| {
        let lasts = Duration::from_secs(60);
        let motion =
            Motion { fastest, slowest: fastest / 2.0, lasts, rest: ms(0), ..Motion::default() };
        let mut sums = [0.0; 3];
        for seed in 0..10 {
            let plan = moving(20, &motion, seed);
            let (_, found) = watch(&plan, Duration::from_secs(5), lasts, seed);
            let Wanderings { inconsistent_fraction: wrong, elections_per_second, .. } = found;
            assert!((0.0..=1.0).contains(&wrong) && found.messages_per_second > 0.0);
            sums[0] += wrong / 10.0;
            sums[1] += elections_per_second / 10.0;
            sums[2] += found.messages_per_second / 10.0;
        }
        println!("up to {fastest} m/s: {sums:?}");
        sums
    };
    let [slow, fast] = [2.0, 30.0].map(measure);
    assert!(slow[0] < fast[0] && slow[1] < fast[1] && slow[2] < fast[2], "{slow:?} {fast:?}");
    assert!(fast[0] < 0.5, "most of the time it works all the same: {fast:?}");
}

/// A line 0 1 2 follows 2 until the link between 1 and 2 breaks. 1 knows at once and names nobody
/// for the 20 ms of an election; 0 names 2 until it is told, 30 ms after the cut.
#[test]
fn a_watch_counts_every_millisecond_of_error_and_every_message() {
    let mut plan = on_graph(3, vec![(0, 1), (1, 2)]);
    plan.faults = vec![campaign(0), fault(1_000, Fault::Link { ends: (2, 1), up: false })];
    let mut world = World::<AdHoc>::new(params(Config::default()));
    let mut wandering = Wandering::new(&plan, ms(500));
    world.run(&plan, RunSeed::new(1, 0), &mut wandering);
    let found = wandering.finish(SimTime::ZERO + ms(2_500));
    let close = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-9, "{found:?}");
    close(found.inconsistent_fraction, 0.05 / 6.0);
    close(found.elections_per_second, 2.0 / 6.0);
    close(found.messages_per_second, 3.0 / 2.0);
}
