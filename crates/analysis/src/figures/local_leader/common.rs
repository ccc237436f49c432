//! What the figures of local leaders have in common: groups whose messages take processors' time,
//! and how long their elections take.
//!
//! Section XI measures the time from a request to the leadership that it gives, "based on 100000
//! successful elections": nearly all of them are renewals. So the real protocol is watched in the
//! event engine, and each renewal of process 0 counts, which leads as it has the least id.

use bellwether_core::{Dest, Duration, Instant, Message as _, Protocol, SimTime, Stage};
use bellwether_protocols::local_leader::{Config, LocalLeader, Mode, Params, Preset};
use bellwether_sim::network::{Delay, Loss, Network};
use bellwether_sim::{Observer, Plan, RunSeed, Scene, World, id};

pub(super) const HARDWARE: &str = "The paper measured eight SUN IPX workstations on an Ethernet of \
    10 Mbit/s. Its numbers are in the pictures, which our copy lacks, and are those of that \
    hardware: no time can be compared, but shapes and ratios can.";
pub(super) const MODEL: &str = "Messages take from .5 to 1.5 ms, evenly, and a process .5 ms over \
    each that it receives, one after the other. Nothing is lost, and clocks are exact.";
pub(super) const NEIGHBOUR: &str = "The paper's EP and expires break its own constraints (figure \
    `local-leader-presence`); here EP is 200 ms and expires 400 ms, and the rest as in the paper: \
    Δ = 15 ms, σ = 30 ms. A leader asks every 50 ms.";

/// How long a process takes over each message that it receives.
pub(super) const PROCESSING: Duration = Duration::from_micros(500);

/// The first renewals of a run do not count: processes still get to know each other.
const SKIPPED: usize = 3;

/// That a message takes as long for all makes it one event, and large groups affordable.
const EVEN: Delay = Delay::Constant(Duration::from_millis(1));

/// The paper's constants with an EP and an expires that its constraints allow, in local mode.
pub(super) fn neighbour() -> Config {
    let ms = Duration::from_millis;
    Config {
        mode: Mode::Local,
        preset: Preset::Paper,
        period: Some(ms(200)),
        expires: Some(ms(400)),
        drift_ppm: Some(0),
        ..Config::default()
    }
}

/// A group that renews the leases of its leader.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) config: Config,
    pub(super) nodes: u32,
    /// How long a process takes over each message.
    pub(super) processing: Duration,
}

impl Group {
    /// How long each of so many renewals takes, in seconds, in one run.
    pub(super) fn renewals(&self, count: usize, seed: u64, run: u64) -> Option<Vec<f64>> {
        let us = Duration::from_micros;
        let delay = Delay::Uniform { min: us(500), max: us(1500) };
        self.renewals_with(delay, count, seed, run)
    }

    /// The same where each message takes a millisecond.
    pub(super) fn even_renewals(&self, count: usize, seed: u64, run: u64) -> Option<Vec<f64>> {
        self.renewals_with(EVEN, count, seed, run)
    }

    fn renewals_with(&self, delay: Delay, count: usize, seed: u64, run: u64) -> Option<Vec<f64>> {
        let params = Params::try_from(self.config.clone()).ok()?;
        let wanted = count + SKIPPED;
        let mut watch =
            Renewals { lease: params.lease(), until: Instant::ZERO, took: Vec::new(), wanted };
        self.run(params, delay, count, RunSeed::new(seed, run), &mut watch);
        let took = watch.took.split_off(SKIPPED.min(watch.took.len()));
        (took.len() == count).then_some(took)
    }

    /// How many messages are sent to the leader as answers to a request, on average over so many
    /// requests.
    pub(super) fn answers(&self, count: usize, seed: u64, run: u64) -> Option<f64> {
        let params = Params::try_from(self.config.clone()).ok()?;
        let wanted = count + SKIPPED;
        let mut watch = Answers { asked: None, answers: Vec::new(), wanted };
        self.run(params, EVEN, count, RunSeed::new(seed, run), &mut watch);
        // When the next request is made, all answers to the one before are there.
        let whole = watch.answers.get(SKIPPED..wanted)?;
        Some(whole.iter().sum::<u64>() as f64 / count as f64)
    }

    /// One run, long enough for so many renewals.
    fn run(
        &self,
        params: Params,
        delay: Delay,
        count: usize,
        run_seed: RunSeed,
        watch: &mut impl Observer<LocalLeader>,
    ) {
        let plan = Plan {
            network: Network::uniform(delay, Loss::None),
            processing: self.processing,
            horizon: (params.renew() + params.lock()) * (count + 20) as u64,
            ..Plan::new(self.nodes)
        };
        World::<LocalLeader>::new(params.layered()).run(&plan, run_seed, watch);
    }
}

/// Takes note of how long each renewal of process 0 took.
struct Renewals {
    lease: Duration,
    /// The end of its lease, as far as it was seen.
    until: Instant,
    took: Vec<f64>,
    wanted: usize,
}

impl Observer<LocalLeader> for Renewals {
    const LOOKS: bool = true;

    fn on_step(&mut self, node: u32, scene: &Scene<'_, LocalLeader>) {
        if node != 0 {
            return;
        }
        let Some(state) = scene.node(node) else { return };
        let now = scene.clock(node);
        let leadership = state.leadership(now);
        let leads = leadership.stage == Stage::Decided && leadership.names(id(node));
        if !leads || leadership.until <= self.until {
            return;
        }
        if self.until > Instant::ZERO {
            // A lease counts from the sending of its request.
            let asked = leadership.until - self.lease;
            self.took.push(now.since(asked).as_secs_f64());
        }
        self.until = leadership.until;
    }

    fn done(&self) -> bool {
        self.took.len() >= self.wanted
    }
}

/// Counts what is sent to process 0 as answers to each of its requests.
struct Answers {
    /// When it last asked.
    asked: Option<SimTime>,
    answers: Vec<u64>,
    wanted: usize,
}

impl Observer<LocalLeader> for Answers {
    fn on_send(
        &mut self,
        at: SimTime,
        from: u32,
        to: Dest,
        message: &<LocalLeader as Protocol>::Message,
        _number: u32,
    ) {
        match message.kind() {
            // In a large group it is sent to each member alone, all at one moment.
            "election" if from == 0 && self.asked.replace(at) != Some(at) => self.answers.push(0),
            "reply" | "collation" if from != 0 && to == Dest::Node(id(0)) => {
                self.answers.last_mut().into_iter().for_each(|answers| *answers += 1);
            }
            _ => {}
        }
    }

    fn done(&self) -> bool {
        self.answers.len() > self.wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request, and the answers of seven, one after the other.
    #[test]
    fn an_election_takes_a_round_trip_and_the_handling_of_all_answers() {
        let group = Group { config: neighbour(), nodes: 8, processing: PROCESSING };
        let took = group.renewals(50, 1, 0).expect("it leads");
        let mean = took.iter().sum::<f64>() / 50.0;
        // At least .5 ms each way, and eight times .5 ms; at most 1.5 ms each way.
        assert!(took.iter().all(|took| (0.005..=0.0085).contains(took)), "{took:?}");
        assert!((0.0052..0.006).contains(&mean), "{mean}");
        let alone = Group { nodes: 1, ..group }.renewals(5, 1, 0).expect("it leads");
        assert_eq!(alone, [0.0; 5], "it asks nobody");
    }

    #[test]
    fn a_tree_answers_with_as_many_messages_as_it_is_wide() {
        let of = |tree, nodes| {
            let config = Config { tree, ..neighbour() };
            let group = Group { config, nodes, processing: Duration::ZERO };
            group.answers(5, 1, 0).expect("it leads")
        };
        assert_eq!([of(0, 8), of(0, 40)], [7.0, 39.0]);
        assert_eq!([of(3, 3), of(3, 8), of(3, 40)], [2.0, 3.0, 3.0]);
    }
}
