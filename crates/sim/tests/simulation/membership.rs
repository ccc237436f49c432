//! Local leaders as a membership service: what the two sides of a cut believe, and both after it.

use crate::support::{fault, ms};
use bellwether_core::{Fact, NodeId, SimTime};
use bellwether_protocols::local_leader::{Config, LocalLeader, Mode, Params};
use bellwether_sim::network::{Delay, Loss, Network};
use bellwether_sim::{Fault, Observer, Plan, RunSeed, Scene, World};

/// The number of a process's partition, and its members.
type View = Option<(u64, Vec<u64>)>;

/// What each process last believed of its partition before these moments.
struct Views {
    moments: Vec<SimTime>,
    now: Vec<View>,
    at: Vec<Vec<View>>,
}

impl Observer<LocalLeader> for Views {
    const LOOKS: bool = true;

    fn on_step(&mut self, node: u32, scene: &Scene<'_, LocalLeader>) {
        while self.moments.first().is_some_and(|moment| *moment <= scene.at()) {
            self.moments.remove(0);
            self.at.push(self.now.clone());
        }
        let (mut version, mut members) = (None, Vec::new());
        let Some(state) = scene.node(node) else { return };
        state.facts(scene.clock(node), &mut |fact| match fact {
            Fact::Partition { version: number } => version = Some(number),
            Fact::Supporter { peer: NodeId(peer) } | Fact::Member { peer: NodeId(peer) } => {
                members.push(peer);
            }
            _ => {}
        });
        self.now[node as usize] = version.map(|version| (version, members));
    }
}

#[test]
fn two_sides_of_a_cut_count_on_and_agree_again_when_it_heals() {
    let cut = |from: &[u32], to: &[u32]| {
        fault(2_000, Fault::Cut { from: from.to_vec(), to: to.to_vec() })
    };
    let (some, rest) = ([0, 1], [2, 3, 4]);
    let faults = vec![cut(&some, &rest), cut(&rest, &some), fault(4_000, Fault::Heal)];
    let delay = Delay::Uniform { min: ms(0), max: ms(2) };
    let network = Network::uniform(delay, Loss::None);
    let plan = Plan { network, faults, horizon: ms(6_000), ..Plan::new(5) };
    let config = Config { mode: Mode::Local, ..Config::default() };
    let params = Params::try_from(config).expect("they are valid");
    for seed in 1..=10 {
        let moments = [1_900, 3_900, 5_900].map(|at| SimTime::ZERO + ms(at)).to_vec();
        let mut views = Views { moments, now: vec![None; 5], at: Vec::new() };
        let mut world = World::<LocalLeader>::new(params.clone().layered());
        world.run(&plan, RunSeed::new(seed, 0), &mut views);
        let [before, during, after] = &views.at[..] else { panic!("three moments") };
        let view = |views: &[View], nodes: &[usize], members: &[u64]| {
            let first = views[nodes[0]].clone().expect("it belongs to a partition");
            assert_eq!(first.1, members, "seed {seed}");
            nodes.iter().for_each(|node| assert_eq!(views[*node], Some(first.clone()), "{seed}"));
            first.0
        };
        let together = view(before, &[0, 1, 2, 3, 4], &[0, 1, 2, 3, 4]);
        let one = view(during, &[0, 1], &[0, 1]);
        let other = view(during, &[2, 3, 4], &[2, 3, 4]);
        let again = view(after, &[0, 1, 2, 3, 4], &[0, 1, 2, 3, 4]);
        println!("seed {seed}: {together}; {one} and {other}; {again}");
        assert!(together < one.min(other) && one.max(other) < again, "seed {seed}");
    }
}
