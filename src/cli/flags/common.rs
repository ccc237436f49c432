//! The flags of group, network and scenario that several commands have, each described once.
//!
//! A command flattens what it takes. If it has another default, it says only that, with `mut_arg`.

use crate::cli::Done;
use crate::cli::failure::Failure;
use crate::cli::flags::group::number;
use crate::cli::flags::one_of;
use bellwether::core::Duration;
use bellwether::protocols::choice::Entry;
use bellwether::sim::network::{DelayModel, LossModel, Probability};
use bellwether::sim::{Churn, Initiators, NODES_MAX};
use clap::{Arg, Args};

#[derive(Args, Clone, Copy, Debug)]
pub(in crate::cli) struct Nodes {
    /// How many processes there are
    #[arg(long, short, value_name = "N", value_parser = nodes)]
    pub(in crate::cli) nodes: Option<u32>,
}

#[derive(Args, Clone, Copy, Debug)]
pub(in crate::cli) struct Seed {
    /// The seed of all random draws: the same seed gives the same result [default: 1]
    #[arg(long, value_name = "S", value_parser = seed)]
    pub(in crate::cli) seed: Option<u64>,
}

#[derive(Args, Clone, Copy, Debug)]
pub(in crate::cli) struct Threads {
    /// How many threads; 0 for one per core. The result does not depend on it
    #[arg(long, value_name = "T", default_value = "0", value_parser = threads)]
    pub(in crate::cli) threads: usize,
}

/// Refuses a seed and a number of threads where nothing is simulated: `why` says why not, and what
/// to do.
pub(in crate::cli) fn refuse_effort(seed: Seed, threads: Threads, why: &str) -> Done {
    let written = match (seed.seed, threads.threads) {
        (Some(seed), _) => format!("--seed {seed}"),
        (None, 0) => return Ok(()),
        (None, threads) => format!("--threads {threads}"),
    };
    Err(Failure::usage(format!("{written} has no effect {why}")))
}

#[derive(Args, Clone, Copy, Debug)]
pub(in crate::cli) struct Losing {
    /// How often a message is lost [default: 0]
    #[arg(long, value_name = "P", help_heading = "Network")]
    loss: Option<Probability>,
    /// Who loses it: all receivers together, or each for itself [default: each for itself]
    #[arg(long, value_parser = one_of::<LossModel>(), help_heading = "Network")]
    loss_model: Option<LossModel>,
}

#[derive(Args, Clone, Copy, Debug)]
pub(in crate::cli) struct Delaying {
    /// How long a message takes, on average
    #[arg(long, value_name = "D", help_heading = "Network")]
    pub(in crate::cli) delay: Option<Duration>,
}

#[derive(Args, Clone, Copy, Debug)]
pub(in crate::cli) struct Spreading {
    /// The distribution of the delay
    #[arg(long, value_parser = one_of::<DelayModel>(), default_value_t, help_heading = "Network")]
    pub(in crate::cli) delay_model: DelayModel,
}

#[derive(Args, Clone, Copy, Debug)]
pub(in crate::cli) struct Churning {
    /// With churn: departures per second, of any process
    #[arg(long, value_name = "X", default_value = "0.01", help_heading = "Scenario")]
    #[arg(value_parser = rate)]
    pub(in crate::cli) departures: f64,
    /// With churn: arrivals per second
    #[arg(long, value_name = "X", default_value = "0.01", help_heading = "Scenario")]
    #[arg(value_parser = rate)]
    pub(in crate::cli) arrivals: f64,
}

/// The heading of the flags about elections that somebody calls.
pub(in crate::cli) const CALLED: &str = "Elections that are called";

#[derive(Args, Clone, Debug)]
pub(in crate::cli) struct Callers {
    /// Who calls the election: one (process 0; any where elections have rounds), all, so many of
    /// them or a random part, drawn for each run
    #[arg(long, value_name = "one|all|K|random", help_heading = CALLED)]
    #[arg(value_parser = initiators, conflicts_with = "initiator")]
    pub(in crate::cli) initiators: Option<Initiators>,
    /// This process calls it; in simulations, several may be given
    #[arg(long, value_name = "ID", help_heading = CALLED)]
    pub(in crate::cli) initiator: Vec<u32>,
}

#[derive(Args, Clone, Copy, Debug)]
pub(in crate::cli) struct Processing {
    /// How long a process takes to handle each message
    #[arg(long, value_name = "D", default_value = "0s", help_heading = CALLED)]
    pub(in crate::cli) processing: Duration,
}

#[derive(Args, Clone, Copy, Debug)]
pub(in crate::cli) struct Links {
    /// How many links a random network has [default: 2 for each process]
    #[arg(long, value_name = "E", help_heading = "Networks")]
    pub(in crate::cli) links: Option<usize>,
}

/// What clap knows `--view` by: to `trace`, a view is also what a picture shows.
pub(in crate::cli) const SIGHT: &str = "sight";
/// The heading of the flags about elections in rounds.
const ROUNDS: &str = "Elections in rounds";

#[derive(Args, Clone, Copy, Debug)]
pub(in crate::cli) struct Chances {
    /// The probability that a process knows another
    #[arg(id = SIGHT, long = "view", value_name = "P", default_value = "0.5")]
    #[arg(help_heading = ROUNDS)]
    pub(in crate::cli) view: Probability,
    /// How often a process crashes in a round, at any moment of it
    #[arg(long, value_name = "P", default_value = "0", help_heading = ROUNDS)]
    pub(in crate::cli) fail: Probability,
    /// How often a message to one process is lost
    #[arg(long, value_name = "P", help_heading = ROUNDS)]
    pub(in crate::cli) ucast_loss: Option<Probability>,
    /// How often a receiver misses a message to everyone
    #[arg(long, value_name = "P", help_heading = ROUNDS)]
    pub(in crate::cli) mcast_loss: Option<Probability>,
}

impl Churning {
    /// The rates.
    pub(in crate::cli) fn churn(self) -> Churn {
        let Self { departures, arrivals } = self;
        Churn { departures, arrivals }
    }
}

impl Seed {
    /// The seed, or its default.
    pub(in crate::cli) fn get(self) -> u64 {
        self.seed.unwrap_or(1)
    }
}

impl Threads {
    /// As many as asked for, one per core if that is 0, and no more than there is work for.
    pub(in crate::cli) fn start(self, work: u64) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let wanted = if self.threads == 0 { cores() } else { self.threads };
        usize::try_from(work).map_or(wanted, |work| wanted.min(work.max(1)))
    }
}

impl Losing {
    /// How often a message is lost.
    pub(in crate::cli) fn rate(self) -> Probability {
        self.loss.unwrap_or(Probability::ZERO)
    }

    /// Who loses it.
    pub(in crate::cli) fn model(self) -> LossModel {
        let lossless = self.rate() == Probability::ZERO;
        self.loss_model.unwrap_or(if lossless { LossModel::None } else { LossModel::Uncorrelated })
    }

    /// Refuses a loss and a model that do not go together.
    pub(in crate::cli) fn check(self) -> Result<(), Failure> {
        match (self.loss_model, self.loss) {
            (Some(LossModel::None), Some(loss)) if loss != Probability::ZERO => {
                Err(Failure::usage(format!(
                    "--loss {} with --loss-model none: choose one of them",
                    loss.value()
                )))
            }
            (None | Some(LossModel::None), _) | (_, Some(_)) => Ok(()),
            (Some(model), None) => Err(Failure::usage(format!(
                "--loss-model {} has no effect without loss; add --loss, or leave --loss-model out",
                model.name()
            ))),
        }
    }
}

/// The flag with this default, in words.
pub(in crate::cli) fn by_default(flag: Arg, words: &str) -> Arg {
    let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
    flag.help(format!("{help} [default: {words}]"))
}

/// The flag with the defaults that these protocols have: first what most of them have, then the
/// others with their names.
pub(in crate::cli) fn by_protocol(
    flag: Arg,
    protocols: &[Entry],
    default: &dyn Fn(&Entry) -> String,
) -> Arg {
    let mut all: Vec<(String, Vec<&str>)> = Vec::new();
    for entry in protocols {
        let text = default(entry);
        match all.iter_mut().find(|(known, _)| *known == text) {
            Some((_, owners)) => owners.push(entry.name),
            None => all.push((text, vec![entry.name])),
        }
    }
    let most = all.iter().map(|(_, owners)| owners.len()).max();
    // A stable sort: the others stay in the order of the table.
    all.sort_by_key(|(_, owners)| Some(owners.len()) != most);
    let words = all.iter().enumerate().map(|(place, (text, owners))| match place {
        0 => text.clone(),
        _ => format!("{}: {text}", super::help::among(owners)),
    });
    let words: Vec<String> = words.collect();
    by_default(flag, &words.join("; "))
}

/// Parses a number of processes.
fn nodes(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(nodes) if (1..=NODES_MAX).contains(&nodes) => Ok(nodes),
        _ => Err(format!("a group has from 1 to {NODES_MAX} processes")),
    }
}

/// Parses a seed.
fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a seed is a whole number, from 0 to {}", u64::MAX))
}

/// Parses a number of threads.
fn threads(text: &str) -> Result<usize, String> {
    /// More threads than any machine has cores for.
    const THREADS_MAX: usize = 1024;
    match text.parse::<usize>() {
        Ok(threads) if threads <= THREADS_MAX => Ok(threads),
        _ => Err(format!("threads are a whole number, from 0 to {THREADS_MAX}")),
    }
}

/// Parses a rate.
fn rate(text: &str) -> Result<f64, String> {
    match number(text) {
        Ok(rate) if (0.0..=1e6).contains(&rate) => Ok(rate),
        _ => Err("a rate is a number per second, from 0 to 1000000".to_owned()),
    }
}

/// Parses who calls an election.
fn initiators(text: &str) -> Result<Initiators, String> {
    Ok(match text {
        "one" => Initiators::One,
        "all" => Initiators::All,
        "random" => Initiators::Random,
        number => Initiators::Some(number.parse().map_err(|_| {
            "initiators are one, all, random or a number; for certain ones use --initiator"
                .to_owned()
        })?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Command;

    /// What clap knows these flags by.
    fn ids<A: Args>() -> Vec<String> {
        let command = A::augment_args(Command::new("flags"));
        command.get_arguments().map(|flag| flag.get_id().to_string()).collect()
    }

    #[test]
    fn a_flag_says_the_same_in_every_command() {
        let shared = [
            ids::<Nodes>(),
            ids::<Seed>(),
            ids::<Threads>(),
            ids::<Losing>(),
            ids::<Delaying>(),
            ids::<Spreading>(),
            ids::<Churning>(),
            ids::<Callers>(),
            ids::<Processing>(),
            ids::<Links>(),
            ids::<Chances>(),
        ];
        let whole = crate::cli::command();
        let inner = whole.get_subcommands().flat_map(Command::get_subcommands);
        // In `demo` a seed decides only when the faults come: its processes are real.
        let simulating = |command: &&Command| command.get_name() != "demo";
        let all = whole.get_subcommands().chain(inner).filter(simulating);
        let commands: Vec<&Command> = all.collect();
        for id in shared.into_iter().flatten() {
            let flags = commands.iter().flat_map(|command| command.get_arguments());
            let described = flags.filter(|flag| *flag.get_id() == *id).map(|flag| {
                let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
                let purpose = help.split(" [default: ").next().unwrap_or_default().to_owned();
                (purpose, format!("{:?}", flag.get_value_names()))
            });
            let mut described: Vec<_> = described.collect();
            assert!(described.len() > 1, "--{id} is in one command only");
            described.dedup();
            assert_eq!(described.len(), 1, "--{id}: {described:?}");
        }
    }

    #[test]
    fn the_default_of_most_protocols_comes_first_and_without_names() {
        let named = |name: &str| {
            *bellwether::protocols::choice::find(name).expect("a protocol of the table")
        };
        let flag = || Arg::new("nodes").help("How many");
        let text = |flag: Arg| flag.get_help().map(ToString::to_string).unwrap_or_default();
        let few = [named("local-leader"), named("le-s"), named("le-a")];
        let nodes = |entry: &Entry| entry.family.usual().nodes.to_string();
        let help = text(by_protocol(flag(), &few, &nodes));
        assert_eq!(help, "How many [default: 100; local-leader: 5]");
        let help = text(by_protocol(flag(), &few[..1], &nodes));
        assert_eq!(help, "How many [default: 5]");
    }
}
