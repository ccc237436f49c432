//! One election after the other, and how often it succeeds.

use crate::sighted::{Sighted, Views};
use bellwether_core::{Dest, Duration, Entropy, Fact, NodeId, SimTime, Stage};
use bellwether_protocols::probabilistic::{Config, Message, Params};
use bellwether_sim::coin::Stream;
use bellwether_sim::network::{Channel, Delay, Loss, Network, Probability};
use bellwether_sim::{Coins, Fault, Observer, Plan, Timed, Who, World};

/// What is tried, again and again.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) nodes: u32,
    pub(crate) config: Config,
    /// How probable it is that one sees another.
    pub(crate) view: f64,
    pub(crate) unicast_loss: f64,
    pub(crate) multicast_loss: f64,
    /// How often a process crashes within the first round, at any moment of it.
    pub(crate) fail: f64,
}

impl Trial {
    /// Everyone sees everyone, nothing is lost and nobody fails.
    pub(crate) fn calm(nodes: u32, config: Config) -> Self {
        let (unicast_loss, multicast_loss, fail) = (0.0, 0.0, 0.0);
        Self { nodes, config, view: 1.0, unicast_loss, multicast_loss, fail }
    }
}

/// How one election ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    /// All who live follow the same one, who lives.
    pub(crate) strong: bool,
    /// The part of those who live that follows the one most follow.
    pub(crate) weak: f64,
    pub(crate) rounds: u32,
    pub(crate) unicasts: u64,
    pub(crate) multicasts: u64,
    pub(crate) aborted: bool,
    pub(crate) seconds: f64,
}

#[derive(Debug, Default)]
struct Counts {
    unicasts: u64,
    multicasts: u64,
    rounds: u32,
}

impl Observer<Sighted> for Counts {
    fn on_send(&mut self, _: SimTime, _from: u32, to: Dest, message: &Message, _: u32) {
        match to {
            Dest::Everyone => self.multicasts += 1,
            Dest::Node(_) => self.unicasts += 1,
        }
        if let Message::Initiate(round) = message {
            self.rounds = self.rounds.max(round.number);
        }
    }
}

pub(crate) fn chance(value: f64) -> Loss {
    Loss::Uncorrelated(Probability::try_from(value).expect("a probability"))
}

fn channel(loss: f64) -> Channel {
    Channel { delay: Delay::Constant(Duration::from_millis(100)), loss: chance(loss) }
}

/// Who crashes and when, and the election: anybody calls it.
fn faults(trial: &Trial, params: &Params, luck: &mut Stream) -> Vec<Timed> {
    let decide = params.time_outs(params.relays(1, 1).unwrap_or(1)).decide;
    let caller = luck.below(u64::from(trial.nodes)) as u32;
    let campaign = Fault::Campaign { node: Who::Node(caller) };
    let mut faults = vec![Timed { at: Duration::ZERO, fault: campaign }];
    for node in 0..trial.nodes {
        if luck.unit() < trial.fail {
            let at = Duration::from_nanos(luck.below(decide.as_nanos()));
            faults.push(Timed { at, fault: Fault::Crash { node: Who::Node(node) } });
        }
    }
    faults.sort_by_key(|timed| timed.at);
    faults
}

/// Holds one election.
pub(crate) fn elect(trial: &Trial, seed: u64) -> Outcome {
    let params = Params::try_from(trial.config.clone()).expect("the rules are kept");
    let params = params.with_salt(seed);
    let coins = Coins::new(seed, 1);
    let plan = Plan {
        network: Network {
            unicast: channel(trial.unicast_loss),
            multicast: channel(trial.multicast_loss),
            ..Network::default()
        },
        faults: faults(trial, &params, &mut coins.world(77)),
        ..Plan::new(trial.nodes)
    };
    let views = Views { chance: trial.view, nodes: u64::from(trial.nodes), seed };
    let mut world = World::<Sighted>::new((params, views));
    let mut counts = Counts::default();
    let outcome = world.run(&plan, coins, &mut counts);
    let mut result = judge(&world, trial.nodes);
    (result.unicasts, result.multicasts) = (counts.unicasts, counts.multicasts);
    result.rounds = result.rounds.max(counts.rounds);
    result.seconds = outcome.ended.as_secs_f64();
    result
}

/// How the group stands.
pub(crate) fn judge(world: &World<Sighted>, nodes: u32) -> Outcome {
    let mut followers = vec![0u32; nodes as usize];
    let (mut living, mut result) = (0, Outcome::default());
    for node in 0..nodes {
        let Some(state) = world.node(node) else { continue };
        let now = world.clock(node);
        living += 1;
        let leadership = state.leadership(now);
        result.aborted |= leadership.stage == Stage::Aborted;
        if let [NodeId(leader)] = leadership.leaders {
            followers[*leader as usize] += 1;
        }
        state.facts(now, &mut |fact| {
            if let Fact::Round { number } = fact {
                result.rounds = result.rounds.max(number);
            }
        });
    }
    let most = followers.iter().copied().max().unwrap_or(0);
    let lives = |leader: usize| world.node(leader as u32).is_some();
    let favourite = followers.iter().position(|count| *count == most);
    result.strong = living > 0 && most == living && favourite.is_some_and(lives);
    result.weak = f64::from(most) / f64::from(living.max(1));
    result
}

/// What many elections came to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Means {
    pub(crate) strong: f64,
    pub(crate) weak: f64,
    pub(crate) rounds: f64,
    pub(crate) unicasts: f64,
    pub(crate) multicasts: f64,
    pub(crate) aborted: f64,
    pub(crate) seconds: f64,
}

/// Not those of the table in the protocol's documentation, which begin at nought.
const FIRST_SEED: u64 = 1_000_000;

pub(crate) fn many(trial: &Trial, runs: u64) -> Means {
    let mut sum = Means::default();
    for seed in FIRST_SEED..FIRST_SEED + runs {
        let one = elect(trial, seed);
        sum.strong += f64::from(u8::from(one.strong));
        sum.weak += one.weak;
        sum.rounds += f64::from(one.rounds);
        sum.unicasts += one.unicasts as f64;
        sum.multicasts += one.multicasts as f64;
        sum.aborted += f64::from(u8::from(one.aborted));
        sum.seconds += one.seconds;
    }
    let part = |sum: f64| sum / runs as f64;
    Means {
        strong: part(sum.strong),
        weak: part(sum.weak),
        rounds: part(sum.rounds),
        unicasts: part(sum.unicasts),
        multicasts: part(sum.multicasts),
        aborted: part(sum.aborted),
        seconds: part(sum.seconds),
    }
}

/// Whether the part of successes is what it should be, within four standard deviations.
pub(crate) fn assert_near(measured: f64, expected: f64, runs: u64) {
    let sigma = (expected * (1.0 - expected) / runs as f64).sqrt();
    let off = (measured - expected) / sigma.max(1e-9);
    assert!(off.abs() < 4.0, "{measured} where {expected} is expected: {off:.1} deviations off");
}
