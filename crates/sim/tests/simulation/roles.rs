//! Priorities and witnesses in simulated groups: who leads.

use crate::support::{crash, fault, ms, restart};
use bellwether_core::{Duration, Leadership, SimTime};
use bellwether_protocols::local_leader::{Config, LocalLeader, Params, Rule};
use bellwether_sim::network::{Delay, Loss, Network};
use bellwether_sim::{Cause, Fault, Observer, Plan, RunSeed, Timed, Who, World, id};

/// Who led, since when, and until when the one before did.
struct Reigns {
    led: Vec<u32>,
    gaps: Vec<Duration>,
    leads: Option<u32>,
    ended: SimTime,
}

impl Observer<LocalLeader> for Reigns {
    fn on_change(
        &mut self,
        at: SimTime,
        node: u32,
        leadership: &Leadership<'_>,
        _cause: Option<Cause>,
    ) {
        if leadership.names(id(node)) && self.leads != Some(node) {
            self.leads = Some(node);
            self.led.push(node);
            self.gaps.push(at.since(self.ended));
        } else if !leadership.names(id(node)) && self.leads == Some(node) {
            (self.leads, self.ended) = (None, at);
        }
    }

    fn on_gone(&mut self, at: SimTime, node: u32) {
        if self.leads == Some(node) {
            (self.leads, self.ended) = (None, at);
        }
    }
}

fn params(config: Config) -> Params {
    Params::try_from(config).expect("they are valid")
}

fn run(params: &Params, plan: &Plan, seed: u64) -> Reigns {
    let mut reigns = Reigns { led: vec![], gaps: vec![], leads: None, ended: SimTime::ZERO };
    let mut world = World::<LocalLeader>::new(params.clone().layered());
    world.run(plan, RunSeed::new(seed, 0), &mut reigns);
    reigns
}

fn group(nodes: u32, faults: Vec<Timed>) -> Plan {
    let delay = Delay::Uniform { min: ms(0), max: ms(2) };
    let network = Network::uniform(delay, Loss::None);
    Plan { network, faults, horizon: ms(8_000), drift: 200_000, ..Plan::new(nodes) }
}

/// The leader crashes and comes back, again and again.
fn crashes() -> Vec<Timed> {
    let mut faults = Vec::new();
    for round in 0..6 {
        let at = 1_000 + round * 1_000;
        faults.push(fault(at, Fault::Crash { node: Who::Leader }));
        faults.extend((0..5).map(|node| restart(at + 500, node)));
    }
    faults
}

#[test]
fn a_witness_never_leads_and_the_others_do() {
    let plan = Plan { witnesses: vec![0, 1], ..group(5, crashes()) };
    let (mut leaders, mut without) = ([0; 5], [0; 5]);
    for seed in 1..=20 {
        let usual = params(Config::default());
        let count = |led: &mut [u32; 5], params: &Params| {
            run(params, &plan, seed).led.iter().for_each(|node| led[*node as usize] += 1);
        };
        count(&mut leaders, &usual);
        count(&mut without, &usual.without(Rule::WitnessNeverAsks));
    }
    assert_eq!(leaders[..2], [0, 0]);
    assert!(leaders.iter().sum::<u32>() >= 20 * 7, "{leaders:?}");
    assert!(without[0] > 0, "without the rule a witness leads: {without:?}");
}

#[test]
fn the_greatest_priority_leads_first_and_takes_over_next() {
    let usual = params(Config::default());
    let plan = Plan { priorities: vec![0, 1, 0, 0, 2], ..group(5, vec![crash(2_000, 4)]) };
    for seed in 1..=20 {
        assert_eq!(run(&usual, &plan, seed).led, [4, 1], "seed {seed}");
        let without = usual.clone().without(Rule::PriorityFirst);
        assert_eq!(run(&without, &plan, seed).led, [0], "seed {seed}");
    }
}

#[test]
fn a_better_one_that_comes_displaces_nobody_unless_leaders_yield() {
    let faults = vec![fault(2_000, Fault::Join { node: Who::Node(2) })];
    let plan = Plan { priorities: vec![0, 0, 1], absent: vec![2], ..group(3, faults) };
    let delay = Some(ms(500));
    let yielding = Config { preempt: true, preempt_delay: delay, ..Config::default() };
    for seed in 1..=20 {
        assert_eq!(run(&params(Config::default()), &plan, seed).led, [0], "seed {seed}");
        let reigns = run(&params(yielding.clone()), &plan, seed);
        assert_eq!(reigns.led, [0, 2], "seed {seed}");
        // One way and a round trip, and once more if a lock ended a moment later.
        assert!(reigns.gaps[1] <= ms(20), "seed {seed}: {:?}", reigns.gaps);
    }
}
