//! Leases in traces: records say what the processes hold, and when. Also the counterexample to the
//! protocol as published, with and without the correction.

use crate::support::{at, fault, ms, node, p, plan, scenario, trace};
use bellwether_core::{Event, Fact, Instant, Leadership, Node, NodeId, Record, SimTime};
use bellwether_protocols::choice::Choice;
use bellwether_protocols::local_leader::{Config, LocalLeader, Mode, Params, Rule};
use bellwether_sim::network::{Delay, Loss, Network};
use bellwether_sim::{Fault, Observer, Plan, RunSeed, ScenarioFile, Scene, Timed, World, id};
use std::collections::BTreeMap;

/// What the records say of one process.
#[derive(Clone, Debug, Default)]
struct Recorded {
    until: Option<Instant>,
    lock: Option<Fact>,
    supporters: Vec<NodeId>,
    /// Whether the supporters that follow replace those before.
    anew: bool,
}

/// Reads the records of a run while it goes on, and compares them with the processes after every
/// step.
#[derive(Default)]
struct Reader {
    told: BTreeMap<u64, Recorded>,
    clock_apart: u32,
    renewed: u32,
    others: u32,
    cut_short: u32,
    bound: u32,
}

impl Reader {
    fn read(&mut self, record: &Record) {
        let told = self.told.entry(record.node.0).or_default();
        match record.event {
            Event::Leadership { until, .. } => {
                (told.until, told.anew) = (until, false);
                told.supporters.clear();
            }
            Event::Fact(Fact::Held { until }) => {
                self.renewed += u32::from(told.until != Some(until));
                (told.until, told.anew) = (Some(until), true);
            }
            Event::Fact(Fact::Supporter { peer }) => {
                if std::mem::take(&mut told.anew) {
                    told.supporters.clear();
                    self.others += 1;
                }
                told.supporters.push(peer);
            }
            Event::Fact(fact @ (Fact::Locked { until, .. } | Fact::Bound { until })) => {
                // A lock that ends early now, not one that expires.
                let ended = told.lock.and_then(end).is_some_and(|before| until < before);
                told.lock = (!ended).then_some(fact);
                self.cut_short += u32::from(ended);
                self.bound += u32::from(matches!(fact, Fact::Bound { .. }));
            }
            Event::Fact(Fact::Clock { reads }) => {
                assert_ne!(reads.as_nanos(), record.t.as_nanos(), "{record:?} is no news");
                self.clock_apart += 1;
            }
            Event::Crash | Event::Leave => *told = Recorded::default(),
            _ => {}
        }
    }
}

impl Observer<LocalLeader> for Reader {
    const TRACES: bool = true;
    const LOOKS: bool = true;

    fn on_record(&mut self, record: Record) {
        self.read(&record);
    }

    fn on_step(&mut self, number: u32, scene: &Scene<'_, LocalLeader>) {
        let Some(state) = scene.node(number) else { return };
        let now = scene.clock(number);
        let told = &self.told[&id(number).0];
        let until = state.leadership(now).until;
        assert_eq!(told.until, (until != Instant::NEVER).then_some(until), "{number} at {now}");
        let goes_on = |fact: &Fact| end(*fact).is_some_and(|end| end >= now);
        assert_eq!(told.lock.filter(goes_on), lock(state, now), "{number} at {now}");
        assert_eq!(told.supporters, supporters(state, now), "{number} at {now}");
    }
}

fn end(lock: Fact) -> Option<Instant> {
    match lock {
        Fact::Locked { until, .. } | Fact::Bound { until } => Some(until),
        _ => None,
    }
}

fn lock(state: &Node<LocalLeader>, now: Instant) -> Option<Fact> {
    let mut lock = None;
    state.facts(now, &mut |fact| {
        if matches!(fact, Fact::Locked { .. } | Fact::Bound { .. }) {
            lock = Some(fact);
        }
    });
    lock
}

fn supporters(state: &Node<LocalLeader>, now: Instant) -> Vec<NodeId> {
    let mut supporters = Vec::new();
    state.facts(now, &mut |fact| {
        if let Fact::Supporter { peer } = fact {
            supporters.push(peer);
        }
    });
    supporters
}

fn local_leader(config: Config) -> Params {
    config.try_into().expect("valid parameters")
}

/// Everything that may happen to a lock: loss, a paused leader, a reboot, a partition, resigning
/// and leaving.
fn eventful() -> Plan {
    let delay = Delay::Uniform { min: ms(1), max: ms(4) };
    let network = Network::uniform(delay, Loss::Uncorrelated(p(0.1)));
    let restart = Fault::Restart { node: node(3), disk: Default::default(), reboot: true };
    let faults: Vec<Timed> = vec![
        fault(300, Fault::Pause { node: node(0) }),
        fault(550, Fault::Crash { node: node(3) }),
        fault(600, restart),
        fault(650, Fault::Resume { node: node(0) }),
        fault(900, Fault::Cut { from: vec![0, 1], to: vec![2, 3, 4] }),
        fault(1_300, Fault::Heal),
        fault(1_600, Fault::Resign { node: bellwether_sim::Who::Leader }),
        fault(1_900, Fault::Leave { node: node(4) }),
    ];
    Plan { drift: 150_000, ..plan(5, network, ms(2_500), faults) }
}

#[test]
fn records_tell_what_is_held_and_until_when_after_every_step() {
    for (mode, as_published) in
        [(Mode::Majority, false), (Mode::Local, false), (Mode::Majority, true)]
    {
        let params = local_leader(Config { mode, as_published, ..Config::default() });
        let mut sum = Reader::default();
        for seed in 0..20 {
            let mut reader = Reader::default();
            let mut world = World::<LocalLeader>::new(params.layered());
            world.run(&eventful(), RunSeed::new(seed, 0), &mut reader);
            sum.clock_apart += reader.clock_apart;
            sum.renewed += reader.renewed;
            sum.others += reader.others;
            sum.cut_short += reader.cut_short;
            sum.bound += reader.bound;
        }
        let Reader { clock_apart, renewed, others, cut_short, bound, .. } = sum;
        assert!(clock_apart > 0 && renewed > 0 && others > 0 && cut_short > 0, "{mode:?}");
        assert_eq!(bound > 0, !as_published, "quarantine is a correction");
    }
}

#[test]
fn a_lease_that_is_renewed_adds_nothing_to_a_transcript() {
    let params = local_leader(Config::default());
    let network = Network::uniform(Delay::Constant(ms(1)), Loss::None);
    let plan = plan(3, network, ms(2_000), vec![]);
    let records = trace::<LocalLeader>(&params.layered(), &plan, 1);
    let renewals =
        records.iter().filter(|record| matches!(record.event, Event::Fact(Fact::Held { .. })));
    assert!(renewals.count() > 50, "three processes, every 50 ms");
    let beliefs = bellwether_sim::trace::transcript(&records);
    let beliefs = beliefs.lines().filter(|line| line.contains("until"));
    assert_eq!(beliefs.count(), 3, "each finds its leader once");
}

/// Who led, from when to when: a new row for each change.
#[derive(Default)]
struct Reigns(Vec<(SimTime, Vec<u32>)>);

impl Observer<LocalLeader> for Reigns {
    const LOOKS: bool = true;

    fn on_step(&mut self, _number: u32, scene: &Scene<'_, LocalLeader>) {
        let leads = |number: &u32| {
            let belief = scene.node(*number).map(|state| state.leadership(scene.clock(*number)));
            belief.is_some_and(|belief: Leadership<'_>| belief.names(id(*number)))
        };
        let leaders: Vec<u32> = (0..scene.len()).filter(leads).collect();
        if self.0.last().is_none_or(|(_, before)| *before != leaders) {
            self.0.push((scene.at(), leaders));
        }
    }
}

const BUG: &str = include_str!("../../../../scenarios/hall-release-bug.toml");

/// The events of the counterexample, with other parameters.
fn reigns(text: &str, change: impl FnOnce(Params) -> Params) -> Vec<(SimTime, Vec<u32>)> {
    let ScenarioFile { choice, plan, seed, .. } = scenario(text);
    let Choice::LocalLeader(params) = choice else { panic!("the counterexample is of leases") };
    let mut reigns = Reigns::default();
    let mut world = World::<LocalLeader>::new(change(params).layered());
    world.run(&plan, RunSeed::new(seed, 0), &mut reigns);
    reigns.0
}

#[test]
fn as_published_two_lead_at_once_after_a_renewal_failed() {
    assert_eq!(
        reigns(BUG, |params| params),
        [
            (at(0), vec![]),
            (at(430), vec![1]),
            (at(530), vec![0, 1]), // two, each by a majority of three
            (at(570), vec![0]),
        ]
    );
}

#[test]
fn with_the_third_correction_alone_the_same_events_have_one_leader_at_a_time() {
    assert_eq!(
        reigns(BUG, |params| params.with(Rule::StepDown)),
        [(at(0), vec![]), (at(430), vec![1]), (at(500), vec![]), (at(530), vec![0])]
    );
}

#[test]
fn as_corrected_the_same_events_have_one_leader_throughout() {
    let corrected = BUG.replace("as-published = true", "as-published = false");
    assert_ne!(corrected, BUG);
    let reigns = reigns(&corrected, |params| params);
    let [(_, none), (elected, first)] = &reigns[..] else { panic!("{reigns:?}") };
    assert!(none.is_empty() && *first == [1] && *elected < at(200), "{reigns:?}");
}
