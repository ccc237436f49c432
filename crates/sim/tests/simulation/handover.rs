//! Leaders that resign while their application wants to lead again at once, as `drop(guard)` and
//! `wait` in a loop do: another one leads next, as long as another one runs.

use crate::support::{fault, ms, p};
use bellwether_core::{Duration, Leadership, SimTime};
use bellwether_protocols::local_leader::{Config, LocalLeader, Params, Rule};
use bellwether_sim::network::{Delay, Loss, Network};
use bellwether_sim::{Fault, Observer, Plan, RunSeed, Timed, Who, World, id};

/// Asks every leader to resign after a while, and to campaign in the same moment.
#[derive(Default)]
struct Asks {
    /// Who led, one after the other, and since when.
    led: Vec<u32>,
    begins: Vec<SimTime>,
    leads: Option<u32>,
    /// Whether leaders are left in peace.
    without_commands: bool,
    /// When the leader resigns, and whether it did and campaigns next.
    next: Option<(u64, bool)>,
}

const REIGN: Duration = Duration::from_millis(100);

impl Observer<LocalLeader> for Asks {
    fn on_change(
        &mut self,
        at: SimTime,
        node: u32,
        leadership: &Leadership<'_>,
        _cause: Option<bellwether_sim::Cause>,
    ) {
        if !leadership.names(id(node)) {
            self.leads = self.leads.filter(|leader| *leader != node);
        } else if self.leads != Some(node) {
            self.leads = Some(node);
            self.led.push(node);
            self.begins.push(at);
            let resigns = Some(((at + REIGN).as_nanos(), false));
            self.next = resigns.filter(|_| !self.without_commands);
        }
    }

    fn injects_at(&self) -> u64 {
        self.next.map_or(u64::MAX, |(at, _)| at)
    }

    fn inject(&mut self) -> Option<Fault> {
        let (at, resigned) = self.next?;
        let node = Who::Node(*self.led.last()?);
        // The command after it comes a nanosecond later, when a new request differs from the last.
        self.next = (!resigned).then_some((at + 1, true));
        Some(if resigned { Fault::Campaign { node } } else { Fault::Resign { node } })
    }

    fn done(&self) -> bool {
        self.led.len() > RESIGNATIONS
    }
}

const RESIGNATIONS: usize = 25;

fn run(params: &Params, plan: &Plan, seed: u64) -> Asks {
    let mut asks = Asks::default();
    let mut world = World::<LocalLeader>::new(params.clone().layered());
    world.run(plan, RunSeed::new(seed, 0), &mut asks);
    asks
}

fn majority() -> Params {
    Params::try_from(Config::default()).expect("the defaults are valid")
}

fn in_network(nodes: u32, loss: Loss) -> Plan {
    let network = Network::uniform(Delay::Uniform { min: ms(0), max: ms(2) }, loss);
    Plan { network, horizon: ms(60_000), drift: 200_000, ..Plan::new(nodes) }
}

fn twice_in_a_row(led: &[u32]) -> usize {
    led.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

#[test]
fn who_resigned_is_not_the_next_leader_while_another_one_runs() {
    for nodes in [3, 5] {
        for seed in 1..=20 {
            let asks = run(&majority(), &in_network(nodes, Loss::None), seed);
            assert_eq!(asks.led.len(), RESIGNATIONS + 1, "{nodes} processes, seed {seed}");
            assert_eq!(twice_in_a_row(&asks.led), 0, "seed {seed}: {:?}", asks.led);
            // One way and a round trip, and at most one turn of somebody who was not there.
            let longest = asks.begins.windows(2).map(|pair| pair[1].since(pair[0])).max();
            let most = REIGN + ms(6) + majority().stagger();
            assert!(longest.is_some_and(|longest| longest <= most), "seed {seed}: {longest:?}");
        }
    }
}

#[test]
fn also_where_messages_are_lost_and_while_only_one_other_runs() {
    for seed in 1..=20 {
        let plan = in_network(5, Loss::Uncorrelated(p(0.01)));
        let asks = run(&majority(), &plan, seed);
        assert_eq!(twice_in_a_row(&asks.led), 0, "seed {seed}: {:?}", asks.led);
        let crash = fault(30, Fault::Crash { node: Who::Node(1) });
        let plan = Plan { faults: vec![crash], ..in_network(3, Loss::None) };
        let asks = run(&majority(), &plan, seed);
        assert_eq!(asks.led.len(), RESIGNATIONS + 1, "seed {seed}");
        assert_eq!(twice_in_a_row(&asks.led), 0, "seed {seed}: {:?}", asks.led);
    }
}

/// What was measured before there was a cool-down: the same one, nearly every time.
#[test]
fn without_a_cool_down_the_same_one_leads_again_and_again() {
    let asks = run(&majority().without(Rule::CoolDown), &in_network(3, Loss::None), 1);
    let again = twice_in_a_row(&asks.led);
    assert!(again > RESIGNATIONS / 2, "{again}: {:?}", asks.led);
}

/// The leader hands over to a process at this time; who leads next, and how long nobody did.
fn hand_over(params: &Params, nodes: u32, nominee: u32, seed: u64) -> (u32, Duration) {
    let transfer = fault(500, Fault::Transfer { node: Who::Leader, nominee });
    let plan = Plan { faults: vec![transfer], ..in_network(nodes, Loss::None) };
    let mut asks = Asks { without_commands: true, ..Asks::default() };
    let mut world = World::<LocalLeader>::new(params.clone().layered());
    world.run(&Plan { horizon: ms(2_000), ..plan }, RunSeed::new(seed, 0), &mut asks);
    assert_eq!(asks.led.len(), 2, "seed {seed}: {:?}", asks.led);
    (asks.led[1], asks.begins[1].since(SimTime::ZERO + ms(500)))
}

/// A message takes at most two milliseconds.
#[test]
fn whoever_is_named_leads_after_one_way_and_a_round_trip() {
    for (nodes, nominee) in [(3, 2), (5, 4), (5, 2)] {
        for seed in 1..=20 {
            let (next, took) = hand_over(&majority(), nodes, nominee, seed);
            assert_eq!(next, nominee, "seed {seed}");
            assert!(took <= ms(6), "seed {seed}: {took}");
        }
    }
}

#[test]
fn without_putting_the_nominee_first_another_one_leads() {
    let params = majority().without(Rule::NomineeFirst);
    let others = (1..=20).filter(|seed| hand_over(&params, 5, 4, *seed).0 != 4).count();
    assert!(others > 10, "{others} of 20");
}

#[test]
fn a_nominee_that_is_gone_is_refused_and_the_leader_leads_on() {
    let faults = vec![
        fault(100, Fault::Crash { node: Who::Node(2) }),
        fault(900, Fault::Transfer { node: Who::Leader, nominee: 2 }),
    ];
    let plan = Plan { faults, horizon: ms(2_000), ..in_network(3, Loss::None) };
    let mut asks = Asks { without_commands: true, ..Asks::default() };
    World::<LocalLeader>::new(majority().layered()).run(&plan, RunSeed::new(1, 0), &mut asks);
    assert_eq!(asks.led, [0]);
}

/// What happens to the leader at 500 ms; who leads next, and how long that took.
fn lose_leader(faults: Vec<Timed>, nodes: u32, loss: Loss, seed: u64) -> (u32, Duration) {
    let plan = Plan { faults, ..in_network(nodes, loss) };
    let mut asks = Asks { without_commands: true, ..Asks::default() };
    let mut world = World::<LocalLeader>::new(majority().layered());
    world.run(&Plan { horizon: ms(2_000), ..plan }, RunSeed::new(seed, 0), &mut asks);
    assert!(asks.led.len() >= 2, "seed {seed}: {:?}", asks.led);
    (asks.led[1], asks.begins[1].since(SimTime::ZERO + ms(500)))
}

#[test]
fn a_killed_leader_that_is_released_is_replaced_after_one_way_and_a_round_trip() {
    for (nodes, release) in [(3, 0), (3, 1), (5, 1), (5, 40)] {
        for seed in 1..=20 {
            let kill = Fault::Kill { node: Who::Leader, release: ms(release) };
            let (next, took) = lose_leader(vec![fault(500, kill)], nodes, Loss::None, seed);
            assert_ne!(next, 0, "seed {seed}");
            assert!(took <= ms(release + 6), "seed {seed}: {took}");
        }
    }
    let crash = fault(500, Fault::Crash { node: Who::Leader });
    let (_, took) = lose_leader(vec![crash], 3, Loss::None, 1);
    assert!(took > ms(90), "without a release the lease runs out: {took}");
}

#[test]
fn a_release_that_is_lost_or_late_costs_a_lease_and_no_more() {
    for seed in 1..=20 {
        let kill = fault(500, Fault::Kill { node: Who::Leader, release: ms(1) });
        let (_, took) = lose_leader(vec![kill], 5, Loss::Uncorrelated(p(0.05)), seed);
        assert!(took <= ms(450), "seed {seed}: {took}");
        let late = Fault::Kill { node: Who::Leader, release: ms(700) };
        let (_, took) = lose_leader(vec![fault(500, late)], 3, Loss::None, seed);
        assert!(took <= ms(250), "seed {seed}: {took}");
    }
}
