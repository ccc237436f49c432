//! Estimates whether a simulation fits into the memory of this machine, before anything is built.
//!
//! The estimates are upper bounds of what was measured. They catch what is far too large: a refusal
//! in one line is better than being killed after a minute.

use crate::cli::commands::sim::count;
use bellwether::core::Duration;
use bellwether::protocols::choice::Choice;
use bellwether::protocols::simulated::{Extent, UnderWay, Volume};
use bellwether::sim::network::{Delay, Network, Probability, Topology};
use bellwether::sim::{Experiment, Fault, Initiators, Plan, Scenario, Timed};
use std::fs::read_to_string;

/// What one process takes, at most, in the event engine and in the lazy one.
const BYTES_PER_PROCESS_EVENT: f64 = 200.0;
const BYTES_PER_PROCESS_LAZY: f64 = 64.0;
/// What a process with leases stores about each other one, and sends in a message.
const BYTES_PER_ROW: f64 = 256.0;
/// What one run's sample takes, with the columns that are made of it.
const BYTES_PER_RUN: f64 = 512.0;
/// What a message under way takes: a letter and its event, and each further event of its.
const BYTES_PER_LETTER: f64 = 64.0;
const BYTES_PER_RECEPTION: f64 = 32.0;
/// What one id takes in a message that lists them.
const BYTES_PER_ID: f64 = 16.0;
/// What one record of a trace takes.
const BYTES_PER_RECORD: f64 = 160.0;
/// The assumed length of an election in announce intervals, where it is unknown.
const INTERVALS_TO_SETTLE: f64 = 20.0;

/// Everything that takes memory at the same time.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Load<'a> {
    choice: &'a Choice,
    network: &'a Network,
    /// Ids, of processes that are there or may come.
    ids: u64,
    /// Worlds that run at the same time.
    worlds: u64,
    runs: u64,
    lazy: bool,
    /// Whether a multicast is one event, not one for each receiver.
    at_once: bool,
    /// For how many announce intervals it goes on, where that is known.
    intervals: Option<f64>,
    /// Whether everything that happens is kept.
    kept: bool,
    /// How many processes call an election, where somebody does.
    calls: u64,
}

impl<'a> Load<'a> {
    /// All runs of an experiment.
    pub(in crate::cli) fn of_runs(experiment: &'a Experiment, lazy: bool) -> Self {
        let Experiment { choice, network, runs, .. } = experiment;
        Self {
            choice,
            network,
            ids: experiment.ids(),
            worlds: experiment.threads as u64,
            runs: *runs,
            lazy,
            at_once: network.is_plain(),
            intervals: None,
            kept: false,
            calls: match &experiment.initiation.initiators {
                Initiators::One => 1,
                Initiators::All | Initiators::Random => u64::from(experiment.nodes),
                Initiators::Some(count) => u64::from(*count),
                Initiators::Named(named) => named.len() as u64,
            },
        }
    }

    /// The first run of an experiment, kept whole.
    pub(in crate::cli) fn of_first_run(experiment: &'a Experiment) -> Self {
        let leases = experiment.choice.profile().leases.is_some();
        let watched = if experiment.scenario == Scenario::Start && !leases {
            0.0
        } else {
            in_intervals(experiment.window, &experiment.choice)
        };
        Self {
            worlds: 1,
            runs: 1,
            intervals: Some(INTERVALS_TO_SETTLE + watched),
            kept: true,
            ..Self::of_runs(experiment, false)
        }
    }

    /// One run of an experiment up to this time, kept whole.
    pub(in crate::cli) fn of_trace(experiment: &'a Experiment, horizon: Duration) -> Self {
        let intervals = Some(in_intervals(horizon, &experiment.choice));
        Self { worlds: 1, runs: 1, intervals, kept: true, ..Self::of_runs(experiment, false) }
    }

    /// One run by plan, kept whole.
    pub(in crate::cli) fn of_plan(choice: &'a Choice, plan: &'a Plan) -> Self {
        let called = |timed: &&Timed| matches!(timed.fault, Fault::Campaign { .. });
        let calls = plan.faults.iter().filter(called);
        let scatters = |fault: &Fault| matches!(fault, Fault::Cut { .. } | Fault::Network { .. });
        Self {
            choice,
            network: &plan.network,
            ids: u64::from(plan.nodes),
            worlds: 1,
            runs: 1,
            lazy: false,
            at_once: plan.network.is_plain()
                && !plan.faults.iter().any(|timed| scatters(&timed.fault)),
            intervals: Some(in_intervals(plan.horizon, choice)),
            kept: true,
            calls: calls.count() as u64,
        }
    }

    /// What takes how many bytes, and the way out.
    fn parts(&self) -> [(f64, String, &'static str); 5] {
        let (ids, worlds) = (self.ids as f64, self.worlds as f64);
        let each = if self.lazy { BYTES_PER_PROCESS_LAZY } else { BYTES_PER_PROCESS_EVENT };
        let profile = self.choice.profile();
        let rows = if profile.leases.is_some() { ids * BYTES_PER_ROW } else { 0.0 };
        let byes = f64::from(profile.byes);
        let records = match self.volume().records {
            _ if !self.kept => 0.0,
            Some(records) => records,
            None => ids * ids * (self.intervals.unwrap_or(0.0) + 1.0),
        };
        [
            (
                ids * (each + rows) * worlds,
                format!("{} processes on {} threads", self.ids, self.worlds),
                "fewer processes or threads",
            ),
            (self.runs as f64 * BYTES_PER_RUN, format!("{} runs", self.runs), "fewer runs"),
            (
                self.letters() * worlds,
                format!("the messages under way between {} processes", self.ids),
                "fewer processes, a shorter delay or a longer announce interval",
            ),
            (
                byes * (BYTES_PER_LETTER + self.receptions()) * worlds,
                format!("{} at once", count(u64::from(profile.byes), "goodbye", "goodbyes")),
                "fewer copies of them",
            ),
            (
                records * BYTES_PER_RECORD,
                format!("a trace of {} processes", self.ids),
                "fewer processes, a shorter time or a longer announce interval",
            ),
        ]
    }

    /// How many messages it takes, as far as the protocol knows.
    fn volume(&self) -> Volume {
        let links = match &self.network.topology {
            Topology::Graph { links } => Some(links.len() as u64),
            Topology::Group => None,
        };
        self.choice.volume(&Extent { ids: self.ids, calls: self.calls, links })
    }

    /// The bytes of all messages under way: as many as the protocol says, or one of every process
    /// in every interval.
    fn letters(&self) -> f64 {
        if let Some(UnderWay { messages, receptions, broadcasts, ids }) = self.volume().under_way {
            let single = messages * BYTES_PER_LETTER + receptions * BYTES_PER_RECEPTION;
            return single + broadcasts * self.receptions() + ids * BYTES_PER_ID;
        }
        let aloft = in_intervals(longest_mean(self.network), self.choice).ceil().max(1.0);
        let aloft = self.intervals.map_or(aloft, |intervals| aloft.min(intervals + 1.0));
        // The lazy engine's process has room for its first announcement.
        let aloft = if self.lazy { aloft - 1.0 } else { aloft };
        let each = if self.at_once { BYTES_PER_LETTER } else { self.receptions() };
        self.ids as f64 * aloft * each
    }

    /// The bytes of one message's receptions, beyond those of the message itself.
    fn receptions(&self) -> f64 {
        let copies = if self.network.duplicate == Probability::ZERO { 1.0 } else { 2.0 };
        if self.at_once { 0.0 } else { self.ids as f64 * copies * BYTES_PER_RECEPTION }
    }
}

/// Refuses in one line what would not fit.
pub(in crate::cli) fn check(load: &Load<'_>) -> Result<(), String> {
    let Some(free) = available() else { return Ok(()) };
    let parts = load.parts();
    let needed: f64 = parts.iter().map(|(bytes, ..)| bytes).sum();
    let greatest = parts.iter().max_by(|(a, ..), (b, ..)| a.total_cmp(b));
    match greatest {
        Some((_, what, way_out)) if needed > free as f64 => Err(format!(
            "{what} would take about {}, but {} are free; choose {way_out}",
            gibibytes(needed),
            gibibytes(free as f64)
        )),
        _ => Ok(()),
    }
}

/// The mean time under way on the slowest way to send: it says how many messages are.
fn longest_mean(network: &Network) -> Duration {
    let links = network.links.iter().filter_map(|link| link.delay.as_ref());
    let ways = [&network.multicast.delay, &network.unicast.delay].into_iter().chain(links);
    let mean = ways.map(Delay::mean).max().unwrap_or(Duration::ZERO);
    let punctual = network.duplicate == Probability::ZERO && network.reorder == Probability::ZERO;
    if punctual { mean } else { mean + network.straggle }
}

fn in_intervals(length: Duration, choice: &Choice) -> f64 {
    length.as_nanos() as f64 / choice.profile().interval.as_nanos().max(1) as f64
}

/// The memory this process may still have, where that can be known: what the machine has to spare,
/// less where a container or the shell allows less.
fn available() -> Option<u64> {
    let spare = || {
        let info = read_to_string("/proc/meminfo").ok()?;
        let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kibibytes.saturating_mul(1024))
    };
    let container = || read_to_string("/sys/fs/cgroup/memory.max").ok()?.trim().parse::<u64>().ok();
    let shell = || {
        let limits = read_to_string("/proc/self/limits").ok()?;
        let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
        line.split_whitespace().next()?.parse().ok()
    };
    [spare(), container(), shell()].into_iter().flatten().min()
}

fn gibibytes(bytes: f64) -> String {
    let gibibytes = bytes / (1u64 << 30) as f64;
    if gibibytes < 1e6 { format!("{gibibytes:.1} GiB") } else { format!("{gibibytes:.0e} GiB") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether::protocols::announce_listen::{self, Config, Variant};

    fn needed(load: &Load<'_>) -> f64 {
        load.parts().iter().map(|(bytes, ..)| bytes).sum()
    }

    #[test]
    fn a_reception_of_its_own_for_everybody_costs_a_square() {
        let choice =
            Choice::from(announce_listen::Params::try_from(Config::new(Variant::LeA)).unwrap());
        let mut plan = Plan::new(60_000);
        plan.horizon = Duration::from_secs(1);
        let load = |plan: &Plan| needed(&Load { kept: false, ..Load::of_plan(&choice, plan) });
        assert!(load(&plan) < 1e8, "one event for each multicast");
        let (min, mean) = (Duration::ZERO, Duration::from_millis(100));
        plan.network.multicast.delay = Delay::Exponential { min, mean };
        assert!(load(&plan) > 1e11, "one for each receiver");
    }

    #[test]
    fn one_goodbye_is_one_and_two_are_several() {
        let said = |copies| {
            let mut config = Config::new(Variant::LeA);
            (config.bye, config.bye_copies) = (true, copies);
            let choice = Choice::from(announce_listen::Params::try_from(config).unwrap());
            let plan = Plan::new(10);
            let parts = Load::of_plan(&choice, &plan).parts();
            parts.into_iter().map(|(_, what, _)| what).find(|what| what.contains("goodbye"))
        };
        assert_eq!(said(1).as_deref(), Some("1 goodbye at once"));
        assert_eq!(said(2).as_deref(), Some("2 goodbyes at once"));
    }

    #[test]
    fn no_more_is_under_way_than_can_have_been_sent() {
        let choice =
            Choice::from(announce_listen::Params::try_from(Config::new(Variant::LeA)).unwrap());
        let mut plan = Plan::new(100);
        plan.horizon = Duration::from_secs(5);
        plan.network.multicast.delay = Delay::Constant(Duration::from_secs(1_000_000_000));
        assert!(needed(&Load::of_plan(&choice, &plan)) < 1e8);
    }
}
