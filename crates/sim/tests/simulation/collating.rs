//! Replies that are collated: a leader receives as many as its tree is wide, however large the
//! group; elections take as long as without; and a dead relay costs no leadership.
//!
//! The seed is fixed. Messages take half a millisecond, so that the tree of 256 processes, which
//! is seven deep, has its answer within Δ.

use crate::support::{crash, experiment, ms, p};
use bellwether_core::Duration;
use bellwether_protocols::local_leader::{Config, LocalLeader, Mode, Params};
use bellwether_sim::network::{Delay, Loss, Network};
use bellwether_sim::{Experiment, Measure, Plan, RunSeed, World, id};
use std::collections::BTreeSet;

fn params(mode: Mode, tree: u32) -> Params {
    // Stamps are as good for five seconds, and would be most of the messages of a large group.
    let refresh = Some(Duration::from_secs(5));
    Params::try_from(Config { mode, tree, refresh, ..Config::default() }).expect("valid")
}

fn network(loss: Loss) -> Network {
    Network::uniform(Delay::Constant(Duration::from_micros(500)), loss)
}

/// Answers to a request, and the time of an election in milliseconds.
fn measured(nodes: u32, mode: Mode, tree: u32) -> (f64, f64) {
    let params = params(mode, tree);
    let usual = experiment(params, nodes, network(Loss::None));
    let window = Duration::from_secs(2);
    let experiment = Experiment { window, runs: 1, seed: 1, threads: 1, ..usual };
    let answer = experiment.run(&|| ()).expect("it can be run");
    assert_eq!(answer.unsettled, 0, "{nodes} {mode:?} {tree}: it has a leader");
    let mean = |measure| answer.measure(measure).expect("it is measured").mean;
    assert_eq!(mean(Measure::LeadershipLossesPerHour), 0.0, "{nodes} {mode:?} {tree}");
    (mean(Measure::AnswersPerRequest), mean(Measure::ElectionTime) * 1e3)
}

#[test]
fn a_leader_receives_as_many_answers_as_its_tree_is_wide() {
    for mode in [Mode::Majority, Mode::Local] {
        for nodes in [16, 64, 256] {
            let (all, direct) = measured(nodes, mode, 0);
            assert!((all / f64::from(nodes - 1) - 1.0).abs() < 0.05, "{nodes}: {all}");
            for tree in [2, 8] {
                let (some, by_tree) = measured(nodes, mode, tree);
                println!("{mode:?}, {nodes}: {all:.1} answers, {some:.1} with tree {tree}");
                // The first request of a reign is answered by all, one of about forty.
                let most = f64::from(tree) + 0.1 * f64::from(nodes);
                assert!(some >= f64::from(tree) && some <= most, "{mode:?} {nodes} {tree}: {some}");
                assert_eq!(by_tree, direct, "an election takes as long: {mode:?} {nodes}");
            }
        }
    }
}

/// A process that relays the answers of half of the group crashes, one after the other.
#[test]
fn a_dead_relay_costs_no_majority_its_leader() {
    let params = params(Mode::Majority, 2);
    for seed in 1..=10 {
        let faults = vec![crash(1_000, 3), crash(2_000, 5), crash(3_000, 2)];
        let network = network(Loss::Uncorrelated(p(0.005)));
        let plan = Plan { network, faults, horizon: ms(5_000), ..Plan::new(9) };
        let mut leaders = BTreeSet::new();
        let mut world = World::<LocalLeader>::new(params.clone().layered());
        world.run(&plan, RunSeed::new(seed, 0), &mut Leaders(&mut leaders));
        assert_eq!(leaders.len(), 1, "seed {seed}: {leaders:?} led, one after the other");
    }
}

struct Leaders<'a>(&'a mut BTreeSet<u32>);

impl bellwether_sim::Observer<LocalLeader> for Leaders<'_> {
    fn on_change(
        &mut self,
        _at: bellwether_core::SimTime,
        node: u32,
        leadership: &bellwether_core::Leadership<'_>,
        _cause: Option<bellwether_sim::Cause>,
    ) {
        if leadership.names(id(node)) {
            self.0.insert(node);
        }
    }
}
