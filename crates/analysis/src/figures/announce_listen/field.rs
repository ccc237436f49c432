//! A network whose links differ, what the processes in it measure, and the election that follows.
//!
//! Section 5.7 proposes to choose the leader by the sum of the losses or of the delays that each
//! process has observed. Both stages are the real protocols in the simulated world: for a while all
//! announce (AL), and each process takes note of what it hears; then LE-S elects, with what was
//! measured as ranks.

use crate::point::duration;
use bellwether_core::{Dest, Duration, Instant, Leadership, Node, NodeId, SimTime};
use bellwether_protocols::announce_listen::{
    AnnounceListen, Config, Criterion, Mapping, Message, Params, Variant,
};
use bellwether_sim::network::{Delay, Link, Network, Probability};
use bellwether_sim::{Cause, Observer, Plan, RunSeed, StreamPurpose, World};

/// How many processes there are.
pub(super) const N: u32 = 12;
/// No election takes longer, in seconds.
const PATIENCE: u64 = 500;
/// Elections are lucky or not whatever the measuring was.
const ANOTHER_SEED: u64 = 1 << 40;

/// What differs from link to link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ground {
    /// Losses, the same in both directions: each process loses some of what it sends and hears.
    Losses,
    /// Losses, where how well one hears has nothing to do with how well one is heard.
    OneWayLosses,
    /// Delays: processes lie in a square, messages take their way and some random time.
    Delays,
}

/// How the wake-up times of the election come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wake {
    /// At random.
    Random,
    /// By what was measured: who has lost nothing wakes at once, who has lost all at T_S.
    Measured,
}

/// One draw of all links.
pub(super) struct Field {
    ground: Ground,
    seed: u64,
    run: u64,
    /// Loss, or mean delay in seconds, from each to each: sender by sender.
    links: Vec<f64>,
}

/// How an election went.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elected {
    pub(super) leader: u32,
    /// Seconds until all agreed.
    pub(super) time: f64,
    pub(super) messages: f64,
}

/// The random part of a delay, on average, in seconds.
const JITTER: f64 = 0.1;
/// The most that one process loses of what it sends, and of what it hears.
const ACCESS_LOSS: f64 = 0.4;

impl Field {
    pub(super) fn draw(ground: Ground, seed: u64, run: u64) -> Self {
        let mut luck = RunSeed::new(seed, run).world(StreamPurpose::Caller(9));
        let traits: Vec<[f64; 2]> = (0..N).map(|_| [luck.unit(), luck.unit()]).collect();
        let kept = |unit: f64| 1.0 - ACCESS_LOSS * unit;
        let link = |from: [f64; 2], to: [f64; 2]| match ground {
            Ground::Losses => 1.0 - kept(from[0]) * kept(to[0]),
            Ground::OneWayLosses => 1.0 - kept(from[0]) * kept(to[1]),
            Ground::Delays => 0.02 + 0.3 * libm::hypot(from[0] - to[0], from[1] - to[1]) + JITTER,
        };
        let row = |from: &[f64; 2]| traits.iter().map(|to| link(*from, *to)).collect::<Vec<_>>();
        Self { ground, seed, run, links: traits.iter().flat_map(row).collect() }
    }

    fn link(&self, from: u32, to: u32) -> f64 {
        self.links[(from * N + to) as usize]
    }

    /// The mean loss, or delay, from a process to the others: how good a leader it is.
    pub(super) fn cost(&self, leader: u32) -> f64 {
        let others = (0..N).filter(|to| *to != leader);
        others.map(|to| self.link(leader, to)).sum::<f64>() / f64::from(N - 1)
    }

    /// The cost of the best leader there could be.
    pub(super) fn least_cost(&self) -> f64 {
        (0..N).map(|leader| self.cost(leader)).fold(f64::INFINITY, f64::min)
    }

    fn network(&self) -> Option<Network> {
        let mut network = Network::default();
        for (from, to) in (0..N).flat_map(|from| (0..N).map(move |to| (from, to))) {
            let value = self.link(from, to);
            let (delay, loss) = match self.ground {
                Ground::Delays => {
                    let (min, mean) = (duration(value - JITTER), duration(JITTER));
                    (Some(Delay::Exponential { min, mean }), None)
                }
                Ground::Losses | Ground::OneWayLosses => {
                    (None, Some(Probability::try_from(value).ok()?))
                }
            };
            if from != to {
                network.links.push(Link { from, to, delay, loss });
            }
        }
        Some(network)
    }

    fn plan(&self, horizon: Duration) -> Option<Plan> {
        Some(Plan { network: self.network()?, horizon, ..Plan::new(N) })
    }

    /// What each process has measured after so many announcements of all, as a rank.
    pub(super) fn measure(&self, announcements: u32) -> Option<Vec<u64>> {
        let params = Params::try_from(Config::new(Variant::Al)).ok()?;
        let plan = self.plan(Duration::from_secs(u64::from(announcements)))?;
        let mut ears = Ears { heard: vec![(0, 0); N as usize] };
        let mut world = World::<AnnounceListen>::new(params);
        world.run(&plan, RunSeed::new(self.seed, self.run), &mut ears);
        let rank = |(count, nanos): (u64, u64)| match (self.ground, nanos.checked_div(count)) {
            (Ground::Losses | Ground::OneWayLosses, _) => count,
            (Ground::Delays, mean) => mean.map_or(0, |mean| SLOWEST.saturating_sub(mean)),
        };
        Some(ears.heard.into_iter().map(rank).collect())
    }

    /// LE-S among processes of these ranks, which were measured over so many announcements.
    pub(super) fn elect(&self, ranks: &[u64], wake: Wake, announcements: u32) -> Option<Elected> {
        let best = match self.ground {
            Ground::Losses | Ground::OneWayLosses => u64::from(announcements * (N - 1)),
            Ground::Delays => SLOWEST,
        };
        let mapping = match wake {
            Wake::Random => Mapping::Random,
            Wake::Measured => {
                Mapping::ByStanding { best: best.max(1), worst: 0, jitter: Duration::ZERO }
            }
        };
        let criterion = Some(Criterion::Rank);
        let config = Config { criterion, ..Config::new(Variant::LeS) }.mapped(mapping);
        let mut world = World::<AnnounceListen>::new(Params::try_from(config).ok()?);
        for (node, rank) in (0..N).zip(ranks) {
            world = world.with_rank_of(node, *rank);
        }
        let plan = self.plan(Duration::from_secs(PATIENCE))?;
        let mut watch = Watch { names: vec![None; N as usize], sent: 0 };
        let run_seed = RunSeed::new(self.seed + ANOTHER_SEED, self.run);
        let outcome = world.run(&plan, run_seed, &mut watch);
        let leader = watch.names[0].filter(|_| outcome.satisfied)?;
        let time = outcome.ended.since(SimTime::ZERO).as_secs_f64();
        let (leader, messages) = (u32::try_from(leader.0).ok()?, f64::from(watch.sent));
        Some(Elected { leader, time, messages })
    }
}

/// Delays are measured up to this, in nanoseconds.
const SLOWEST: u64 = 1_000_000_000;

/// Takes note of how much each process hears, and how old that is.
struct Ears {
    /// Of each process: how many messages, and the sum of their delays in nanoseconds.
    heard: Vec<(u64, u64)>,
}

impl Observer<AnnounceListen> for Ears {
    const HEARS: bool = true;

    fn on_receive(&mut self, at: SimTime, node: u32, cause: Cause) {
        let (count, nanos) = &mut self.heard[node as usize];
        *count += 1;
        *nanos += at.since(cause.sent).as_nanos();
    }
}

/// Waits until all name the same leader; what is better than it has then heard of it too.
struct Watch {
    names: Vec<Option<NodeId>>,
    sent: u32,
}

impl Watch {
    fn hear(&mut self, node: u32, leadership: &Leadership<'_>) {
        self.names[node as usize] = leadership.leaders.first().copied();
    }
}

impl Observer<AnnounceListen> for Watch {
    fn on_start(&mut self, _: SimTime, node: u32, now: Instant, state: &Node<AnnounceListen>) {
        self.hear(node, &state.leadership(now));
    }

    fn on_send(&mut self, _: SimTime, _: u32, _: Dest, _: &Message, _: u32) {
        self.sent += 1;
    }

    fn on_change(&mut self, _: SimTime, node: u32, now: &Leadership<'_>, _: Option<Cause>) {
        self.hear(node, now);
    }

    fn done(&self) -> bool {
        self.names[0].is_some() && self.names.iter().all(|name| *name == self.names[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_heard_the_most_is_elected_and_wakes_first_if_that_decides() {
        for run in 0..20 {
            let field = Field::draw(Ground::Losses, 1, run);
            let ranks = field.measure(8).unwrap();
            assert!(ranks.iter().all(|rank| *rank <= 8 * 11), "{ranks:?}");
            let best = (0..N).max_by_key(|node| (ranks[*node as usize], *node)).unwrap();
            let elected = [Wake::Random, Wake::Measured].map(|wake| field.elect(&ranks, wake, 8));
            assert_eq!(elected.map(|elected| elected.unwrap().leader), [best; 2]);
        }
    }

    #[test]
    fn long_measurements_find_what_the_links_are() {
        for ground in [Ground::Losses, Ground::Delays] {
            let field = Field::draw(ground, 2, 3);
            let ranks = field.measure(3000).unwrap();
            // Both grounds are the same in both directions: what one hears is how one is heard.
            for (node, rank) in (0..N).zip(ranks) {
                let measured = match ground {
                    Ground::Delays => (SLOWEST - rank) as f64 * 1e-9,
                    _ => 1.0 - rank as f64 / (3000.0 * 11.0),
                };
                let cost = field.cost(node);
                assert!((measured - cost).abs() < 0.01, "{ground:?} {node}: {measured} {cost}");
            }
        }
    }

    #[test]
    fn the_same_luck_makes_the_same_election() {
        let once = || {
            let field = Field::draw(Ground::Delays, 5, 6);
            let elected = field.elect(&field.measure(2).unwrap(), Wake::Random, 2).unwrap();
            (elected.leader, elected.time.to_bits(), elected.messages.to_bits())
        };
        assert_eq!(once(), once());
    }
}
