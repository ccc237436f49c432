//! Random faults, then none.

use super::support::{campaign, on_graph, params, run, verdict};
use crate::support::{fault, ms, p};
use bellwether_core::{Entropy, SimTime};
use bellwether_protocols::ad_hoc::{AdHoc, Config};
use bellwether_sim::coin::Stream;
use bellwether_sim::graph;
use bellwether_sim::network::{Delay, Loss};
use bellwether_sim::{Disk, Fault, Plan, Ranks, RunSeed, StreamPurpose, Timed, Who, World};

const SCHEDULES: u64 = 10_000;
/// Faults happen until then.
const STORM: u64 = 8_000;
/// The longest that trust, a failed election and the next one can last after that.
const CALM: u64 = 40_000;

fn pick(n: u32, luck: &mut Stream) -> u32 {
    luck.below(n.into()) as u32
}

/// One fault.
fn trouble(nodes: u32, luck: &mut Stream) -> Fault {
    let who = pick(nodes, luck);
    let node = if luck.below(6) == 0 { Who::Leader } else { Who::Node(who) };
    match luck.below(16) {
        0..=2 => Fault::Crash { node },
        3..=5 => {
            Fault::Restart { node: Who::Node(who), disk: Disk::Lost, reboot: luck.below(2) == 0 }
        }
        6 => Fault::Resign { node },
        7 => Fault::Campaign { node },
        8 => Fault::Pause { node },
        9 => Fault::Resume { node: Who::Node(who) },
        10 => Fault::Leave { node },
        _ => {
            let other = (who + 1 + pick(nodes - 1, luck)) % nodes;
            Fault::Link { ends: (who, other), up: luck.below(2) == 0 }
        }
    }
}

/// A schedule that follows from one number.
fn schedule(seed: u64) -> Plan {
    let mut luck = RunSeed::new(seed, 0).world(StreamPurpose::Caller(77));
    let nodes = 2 + pick(9, &mut luck);
    let links = graph::connected(nodes, pick(2 * nodes, &mut luck) as usize, &mut luck);
    let mut plan = on_graph(nodes, links);
    plan.ranks = if luck.below(2) == 0 { Ranks::ById } else { Ranks::Random };
    plan.detection = Some(ms(luck.below(60)));
    if luck.below(2) == 0 {
        plan.network.unicast.delay = Delay::Exponential { min: ms(1), mean: ms(10) };
    }
    let calm = plan.network.clone();
    if luck.below(2) == 0 {
        let loss = luck.unit() * 0.3;
        plan.network.unicast.loss = Loss::Uncorrelated(p(loss));
        plan.network.duplicate = p(luck.unit() * 0.3);
        plan.network.reorder = p(luck.unit() * 0.3);
    }
    let mut faults: Vec<Timed> =
        (0..luck.below(20)).map(|_| fault(luck.below(STORM), trouble(nodes, &mut luck))).collect();
    faults.sort_by_key(|timed| timed.at);
    faults.push(fault(STORM, Fault::Network { network: Box::new(calm) }));
    let resume = |node| fault(STORM, Fault::Resume { node: Who::Node(node) });
    faults.extend((0..nodes).map(resume));
    Plan { faults, horizon: ms(STORM + CALM), ..plan }
}

/// Replays the schedule of this number.
fn assert_ends_well(seed: u64) {
    let plan = schedule(seed);
    let (world, _) = run(Config::restless(), &plan, seed);
    if let Err(wrong) = verdict(&plan, &world) {
        panic!("replay with assert_ends_well({seed}): {wrong}\n{plan:#?}");
    }
}

#[test]
fn after_any_storm_every_component_has_its_best_for_a_leader() {
    (0..SCHEDULES).for_each(assert_ends_well);
}

/// Links flicker, processes die and return, leaders resign and stand again, messages overtake each
/// other and outlive their senders, and nothing is ever repeated: what neighbours tell each other
/// must be enough.
fn without_heartbeats(seed: u64) -> Plan {
    let mut luck = RunSeed::new(seed, 0).world(StreamPurpose::Caller(78));
    let nodes = 3 + pick(5, &mut luck);
    let links = graph::connected(nodes, pick(2 * nodes, &mut luck) as usize, &mut luck);
    let mut plan = on_graph(nodes, links.clone());
    plan.network.unicast.delay = Delay::Exponential { min: ms(1), mean: ms(30) };
    plan.ranks = Ranks::Random;
    let mut faults = vec![campaign(0)];
    plan.detection = Some(ms(luck.below(60)));
    for _ in 0..luck.below(12) {
        let (at, who) = (luck.below(600), Who::Node(pick(nodes, &mut luck)));
        match luck.below(6) {
            4 | 5 => {
                faults.push(fault(at, Fault::Crash { node: who }));
                let (disk, reboot) = (Disk::Lost, false);
                let back = at + luck.below(700);
                faults.push(fault(back, Fault::Restart { node: who, disk, reboot }));
            }
            0 => faults.push(fault(at, Fault::Campaign { node: who })),
            1 => faults.push(fault(at, Fault::Resign { node: who })),
            2 => faults.push(fault(at, Fault::Resign { node: Who::Leader })),
            _ => {
                let ends = links[luck.below(links.len() as u64) as usize];
                faults.push(fault(at, Fault::Link { ends, up: false }));
            }
        }
    }
    faults.sort_by_key(|timed| timed.at);
    let mut up =
        |ends: &(u32, u32)| fault(600 + luck.below(300), Fault::Link { ends: *ends, up: true });
    faults.extend(links.iter().map(&mut up));
    faults.sort_by_key(|timed| timed.at);
    Plan { faults, horizon: ms(CALM), ..plan }
}

#[test]
fn where_all_come_back_and_nothing_is_lost_neither_heartbeats_nor_time_outs_are_needed() {
    for seed in 0..SCHEDULES {
        let plan = without_heartbeats(seed);
        let mut world = World::<AdHoc>::new(params(Config::default()));
        let outcome = world.run(&plan, RunSeed::new(seed, 0), &mut ());
        assert_eq!(verdict(&plan, &world), Ok(()), "seed {seed}: {plan:#?}");
        assert!(outcome.ended < SimTime::ZERO + ms(CALM / 2), "seed {seed} never ends");
    }
}
