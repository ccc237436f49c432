//! The lazy engine: computes the outcome of a start from only those draws that decide it.
//!
//! **What it is.** When everyone starts at once, the delay is constant and no process forgets, two
//! questions about each process decide a run: which of the leader's announcements reaches it first,
//! and which announcement of any better process does? A message matters only to worse processes. So
//! the engine goes through the processes from the best to the worst. Each reads draws until its
//! first success, and its own announcements are added for those that follow. This takes a few draws
//! per process, where the event engine reads one per message and process.
//!
//! **Why it may exist.** It is the one exception to "what is simulated is the protocol's own code".
//! Draws are pure functions, so both engines read the same ones, and every measure must be equal to
//! the last bit for every seed; `tests/simulation/lazy.rs` compares them. The protocol's own
//! functions still draw claims and wake-ups. If the engines differ, the event engine is right.
//!
//! | protocols | order of processing | in |
//! |---|---|---|
//! | le-a, le-s, le-m | from the best claim to the worst | `elect` |
//! | al | the same, but no process falls silent | `elect` |
//! | sup | from the earliest wake-up to the latest | `suppress` |

mod air;
mod calendar;
mod elect;
mod order;
mod suppress;

use crate::coin::RunSeed;
use crate::experiment::{Experiment, Measure, Sample, Scenario};
use crate::network::{Delay, Loss};
use crate::plan::Ranks;
use air::{Own, Shared};
use bellwether_core::{Duration, SimTime};
use bellwether_protocols::announce_listen::{Params, Repeat, Yields};
use bellwether_protocols::answers::Answers as _;
use elect::Election;
use order::Order;
use suppress::Suppression;

/// State that one thread reuses from run to run; a warm one allocates nothing.
pub(crate) struct Lazy<'a> {
    setting: StartConditions<'a>,
    order: Order,
    air: Air,
    suppression: Suppression,
    /// The times of messages that may have been sent after the converging one.
    later: Vec<u64>,
    arch: pulp::Arch,
}

/// The parts of the experiment that matter here; times in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct StartConditions<'a> {
    params: &'a Params,
    nodes: u32,
    ranks: Ranks,
    loss: Loss,
    delay: u64,
    announce: u64,
    /// The longest wait that opens an election.
    opening: u64,
    /// Nothing happens after this.
    end: u64,
}

/// How messages are lost: for all listeners together, or for each independently.
enum Air {
    Shared(Shared),
    Own(Own),
}

impl<'a> Lazy<'a> {
    /// Why the engine does not apply to an experiment, if it does not.
    pub(crate) fn refuses(experiment: &Experiment) -> Option<&'static str> {
        let Some(params) = experiment.choice.announcing() else {
            return Some("only announce-listen protocols are lazy");
        };
        if experiment.scenario != Scenario::Start {
            return Some("only the start scenario is lazy");
        }
        if params.listen() != Duration::MAX {
            return Some("listen must be infinite");
        }
        if params.opening().queries() {
            return Some("queries depend on who hears them");
        }
        if params.leaders() > 1 {
            return Some("there must be one leader");
        }
        if params.repeat() == Repeat::Redrawn
            || (params.yields() == Yields::ToAnyone && params.repeat() != Repeat::Once)
        {
            return Some("this variant has no order of claims to follow");
        }
        if params.yields() == Yields::Never && params.opening().suppresses() {
            return Some("announcements that nobody silences are too many to follow");
        }
        if experiment.drift > 0 {
            return Some("clocks must not drift");
        }
        if !experiment.network.is_plain() {
            return Some("the delay must be constant and losses without memory");
        }
        if experiment.network.constant_delay() == Some(Duration::ZERO) {
            return Some("the delay must be above zero, or messages race with timers");
        }
        None
    }

    /// An engine for an experiment that [is lazy](Experiment::not_lazy); `None` for other
    /// protocols.
    pub(crate) fn new(experiment: &'a Experiment) -> Option<Self> {
        let Experiment { choice, nodes, network, ranks, .. } = experiment;
        let params = choice.announcing()?;
        let delay = network.constant_delay().unwrap_or(Duration::ZERO).as_nanos();
        debug_assert!(matches!(network.multicast.delay, Delay::Constant(_)) && delay > 0);
        let loss = network.loss();
        let air = match loss {
            Loss::Uncorrelated(p) if !p.is_certain() && p.threshold() > 0 => Air::Own(Own::new(p)),
            _ => Air::Shared(Shared::new(loss)),
        };
        let setting = StartConditions {
            params,
            nodes: *nodes,
            ranks: *ranks,
            loss,
            delay,
            announce: params.announce().as_nanos(),
            opening: params.profile().opening.as_nanos(),
            end: Duration::LONGEST_WRITTEN.as_nanos(),
        };
        let order = Order::new(setting);
        let suppression = Suppression::default();
        let (later, arch) = (Vec::new(), pulp::Arch::new());
        Some(Self { setting, order, air, suppression, later, arch })
    }

    /// Computes one run; the sample is empty if the group does not converge.
    pub(crate) fn run(&mut self, run_seed: RunSeed) -> Sample {
        let Self { setting, order, air, suppression, later, arch } = self;
        let mut sample = Sample::new(0);
        if setting.params.yields() == Yields::ToAnyone {
            let quiet = suppression.run(*setting, run_seed);
            sample.unsettled = quiet.is_none();
            sample.cut = quiet.is_none().then(|| seconds(setting.end));
            if let Some(quiet) = quiet {
                sample.set(Measure::ConvergenceTime, seconds(quiet.converged));
                sample.set(Measure::LeadershipDelay, seconds(quiet.received));
                sample.set(Measure::Messages, quiet.messages as f64);
                sample.set(Measure::FirstMessageTime, seconds(quiet.first));
                // Each message is the first of its process.
                sample.set(Measure::FirstRoundEnd, seconds(quiet.converged));
                if setting.opening > 0 {
                    // Each process announces itself at most once, when it wakes.
                    sample.set(Measure::MessagesInOpening, quiet.messages as f64);
                }
            }
            return sample;
        }
        let setting = *setting;
        order.prepare(setting, run_seed);
        let tally = match air {
            Air::Own(air) => arch.dispatch(Election { setting, order, run_seed, air, later }),
            Air::Shared(air) => arch.dispatch(Election { setting, order, run_seed, air, later }),
        };
        sample.unsettled = tally.is_none();
        sample.cut = tally.is_none().then(|| seconds(setting.end));
        if let Some(tally) = tally {
            tally.write(setting, &mut sample);
        }
        sample
    }
}

/// The outcome of an election; times in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    converged: u64,
    received: u64,
    messages: u64,
    /// Those sent by the time of the converging one.
    at_convergence: u64,
    /// Those sent before the opening waits are over.
    early: u64,
    /// First and second messages of processes.
    firsts: u64,
    seconds: u64,
    /// When the first of the first ones was sent, and the last.
    first_first: u64,
    last_first: u64,
    rounds: u32,
    rounds_sum: u64,
    /// Leaders times nanoseconds.
    area: u128,
}

impl Tally {
    /// Computes the measures as the event engine's observer of a start does, operation for
    /// operation.
    fn write(self, setting: StartConditions<'_>, sample: &mut Sample) {
        let messages = self.messages as f64;
        sample.set(Measure::ConvergenceTime, seconds(self.converged));
        sample.set(Measure::LeadershipDelay, seconds(self.received));
        sample.set(Measure::Messages, messages);
        if setting.opening > 0 {
            sample.set(Measure::MessagesInOpening, self.early as f64);
        }
        if self.firsts > 0 {
            sample.set(Measure::FirstMessageTime, seconds(self.first_first));
            sample.set(Measure::FirstRoundEnd, seconds(self.last_first));
        }
        sample.set(Measure::MessagesAtConvergence, self.at_convergence as f64);
        sample.set(Measure::MessagesInFirstRound, self.firsts as f64);
        sample.set(Measure::MessagesInSecondRound, self.seconds as f64);
        sample.set(Measure::Rounds, f64::from(self.rounds));
        let others = f64::from((setting.nodes - 1).max(1));
        sample.set(Measure::AverageRounds, self.rounds_sum as f64 / others);
        let time = self.received;
        let average = if time == 0 { 1.0 } else { self.area as f64 / time as f64 };
        sample.set(Measure::SimultaneousLeaders, average);
        let intervals = seconds(self.received) / setting.params.announce().as_secs_f64();
        sample.set(Measure::AnnouncersPerInterval, messages / intervals.max(1.0));
    }
}

fn seconds(nanos: u64) -> f64 {
    SimTime::from_nanos(nanos).as_secs_f64()
}
