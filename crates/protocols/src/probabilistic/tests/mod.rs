//! The probabilistic election, input by input.

mod commands;
mod counting;
mod detection;
mod filter;
mod joining;
mod odds;
mod params;
mod relay;
mod touch;
mod wire;

use super::*;
use alloc::vec;
use alloc::vec::Vec;
use bellwether_core::harness::Harness;
use bellwether_core::{Dest, Effect};

type Process = Harness<Probabilistic>;
type Asked = Effect<Probabilistic>;

/// The first round of the first election.
const FIRST: RoundId = RoundId::first_of(1);
const SECOND: RoundId = RoundId { election: 1, number: 2 };

const UNICAST: Duration = Duration::from_millis(200);
const MULTICAST: Duration = Duration::from_millis(200);

/// The defaults without a last round of everyone.
fn config() -> Config {
    Config { last_round_all: false, ..Config::default() }
}

fn params(config: Config) -> Params {
    Params::try_from(config).expect("the rules are kept")
}

/// A process that sees these.
fn start_with(me: u64, peers: &[u64], config: Config) -> Process {
    boot(Boot::first(NodeId(me)), peers, config, &[])
}

fn boot(boot: Boot<'_>, peers: &[u64], config: Config, draws: &[u64]) -> Process {
    let peers: Vec<NodeId> = peers.iter().copied().map(NodeId).collect();
    Process::boot(boot, params(config), &peers, draws)
}

/// A process of 1 to 5 that sees these, where everyone is a relay.
fn relay(me: u64, peers: &[u64]) -> Process {
    start_with(me, peers, Config { size: Size::Given(5), ..config() })
}

/// A process that is no relay in the first round, in a group of 1000.
fn bystander() -> Process {
    let config = Config { size: Size::Given(1000), ..config() };
    let filter = Filter::new(0, Name::Initiate(FIRST), 7, 1000);
    let me = (10..).find(|id| !filter.passes(NodeId(*id))).expect("most do not pass");
    start_with(me, &[1, 2, 3], config)
}

fn someone(id: u64) -> Candidate {
    Candidate { id: NodeId(id), rank: 0 }
}

fn itself(id: u64) -> Candidate {
    Candidate { id: NodeId(id), rank: id }
}

fn prefer(choice: u64) -> Message {
    Message::Prefer(FIRST, someone(choice))
}

fn named(leader: u64) -> Message {
    Message::Final(FIRST, NodeId(leader))
}

fn to(receiver: u64, message: Message) -> Asked {
    Effect::Send(Dest::Node(NodeId(receiver)), message)
}

fn to_all(message: Message) -> Asked {
    Effect::Send(Dest::Everyone, message)
}

fn stage(process: &Process) -> Stage {
    process.leadership().stage
}

fn round(process: &Process) -> Fact {
    process.facts()[0]
}

/// The fact of being in this round.
fn in_round(number: u32) -> Fact {
    Fact::Round { number }
}
