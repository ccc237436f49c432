//! Support for the tests of the world: plans with random faults, queries of traces, and the
//! smallest protocol that sends anything.

pub(crate) mod count;
pub(crate) mod keeper;
pub(crate) mod ping;
pub(crate) mod rough;
pub(crate) mod schedules;
pub(crate) mod spinner;

use bellwether_core::{Duration, Event, NodeId, Protocol, Record, SimTime};
use bellwether_protocols::announce_listen::{Config, Params, Variant};
use bellwether_protocols::choice::Choice;
use bellwether_sim::network::{Delay, Loss, Network, Probability};
use bellwether_sim::{
    Disk, Engine, Experiment, Fault, Initiation, Plan, Ranks, RunSeed, Scenario, ScenarioFile,
    Timed, Tracer, Who, World,
};

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// This many milliseconds into a run.
pub(crate) fn at(millis: u64) -> SimTime {
    SimTime::ZERO + ms(millis)
}

pub(crate) fn p(value: f64) -> Probability {
    Probability::try_from(value).expect("a probability")
}

/// The defaults, with this T_L.
pub(crate) fn params(variant: Variant, listen: Duration) -> Params {
    Config { listen, ..Config::new(variant) }.try_into().expect("valid parameters")
}

pub(crate) fn scenario(text: &str) -> ScenarioFile {
    ScenarioFile::parse(text).unwrap_or_else(|bad| panic!("{bad}\n{text}"))
}

/// A network with a constant delay for multicasts and unicasts.
pub(crate) fn constant(millis: u64, loss: Loss) -> Network {
    Network::uniform(Delay::Constant(ms(millis)), loss)
}

pub(crate) fn plan(nodes: u32, network: Network, until: Duration, faults: Vec<Timed>) -> Plan {
    Plan { network, faults, horizon: until, ..Plan::new(nodes) }
}

pub(crate) fn fault(millis: u64, fault: Fault) -> Timed {
    Timed { at: ms(millis), fault }
}

pub(crate) fn node(number: u32) -> Who {
    Who::Node(number)
}

/// This process calls an election.
pub(crate) fn campaign(millis: u64, number: u32) -> Timed {
    fault(millis, Fault::Campaign { node: node(number) })
}

pub(crate) fn crash(millis: u64, number: u32) -> Timed {
    fault(millis, Fault::Crash { node: node(number) })
}

/// This process restarts with what it had stored, on a machine that did not reboot.
pub(crate) fn restart(millis: u64, number: u32) -> Timed {
    let (node, disk) = (node(number), Disk::Kept);
    fault(millis, Fault::Restart { node, disk, reboot: false })
}

/// One run of a group that starts, watched for 100 s.
pub(crate) fn experiment(choice: impl Into<Choice>, nodes: u32, network: Network) -> Experiment {
    Experiment {
        choice: choice.into(),
        nodes,
        network,
        ranks: Ranks::ById,
        drift: 0,
        initiation: Initiation::default(),
        scenario: Scenario::Start,
        window: Duration::from_secs(100),
        runs: 1,
        seed: 1,
        threads: 1,
        engine: Engine::Auto,
    }
}

/// All records of one run.
pub(crate) fn trace<P: Protocol>(params: &P::Params, plan: &Plan, seed: u64) -> Vec<Record> {
    let mut tracer = Tracer::default();
    World::<P>::new(params.clone()).run(plan, RunSeed::new(seed, 0), &mut tracer);
    tracer.records
}

/// When events of this kind happened to a process.
pub(crate) fn times(records: &[Record], who: u32, is: impl Fn(&Event) -> bool) -> Vec<SimTime> {
    let mine = records.iter().filter(|record| record.node == NodeId(u64::from(who)));
    mine.filter(|record| is(&record.event)).map(|record| record.t).collect()
}

pub(crate) fn sends(event: &Event) -> bool {
    matches!(event, Event::Send { .. })
}

pub(crate) fn receives(event: &Event) -> bool {
    matches!(event, Event::Recv { .. })
}

pub(crate) fn hears_from(sender: u32) -> impl Fn(&Event) -> bool {
    move |event| matches!(event, Event::Recv { from, .. } if from.0 == u64::from(sender))
}

pub(crate) fn hears_kind(kind: &str) -> impl Fn(&Event) -> bool {
    move |event| matches!(event, Event::Recv { message, .. } if message == kind)
}

/// The leader that a process followed last.
pub(crate) fn followed(records: &[Record], who: u32) -> Vec<u64> {
    let mine = records.iter().rev().filter(|record| record.node.0 == u64::from(who));
    let beliefs = mine.filter_map(|record| match &record.event {
        Event::Leadership { leaders, .. } => Some(leaders.iter().map(|id| id.0).collect()),
        _ => None,
    });
    { beliefs }.next().unwrap_or_default()
}
