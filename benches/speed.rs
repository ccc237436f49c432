//! What the numbers in the README come from: `cargo bench --locked`.
//!
//! Every row is the best of several repetitions, since a shared machine only ever makes a program
//! slower. Rows that compare (two threads with one) are
//! ratios of the same run of this program. `cargo bench --locked -- NAME` runs one part: elections,
//! leases, unicasts, rings, rounds, lazy, schedules, threads or memory.

#[path = "speed/token.rs"]
mod token;

use bellwether::analysis::Point;
use bellwether::analysis::probabilistic::{one_round, point};
use bellwether::check::{Fuzz, Trial};
use bellwether::core::Duration;
use bellwether::protocols::announce_listen::{self, AnnounceListen, Config, Params};
use bellwether::protocols::choice::{self, Choice};
use bellwether::protocols::ring::{self, Variant};
use bellwether::sim::network::{Delay, Loss, Network};
use bellwether::sim::{
    Engine, Experiment, Initiation, Initiators, Order, Plan, Ranks, RunSeed, Scenario, World,
};
use std::process::{Command, Stdio};
use std::time::Instant;
use token::Token;

const REPETITIONS: usize = 7;

fn main() {
    // Cargo adds flags of its own, such as --bench.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let only = arguments.iter().find(|argument| !argument.starts_with('-'));
    let repetitions = if quick { 1 } else { REPETITIONS };
    println!("one core unless said otherwise; best of {repetitions}\n");
    let parts = [
        ("elections", elections as fn(usize)),
        ("leases", leases),
        ("unicasts", unicasts),
        ("rings", rings),
        ("rounds", rounds),
        ("lazy", lazy),
        ("schedules", schedules),
        ("threads", threads),
        ("memory", memory),
    ];
    for (name, part) in parts {
        // A single cold repetition says nothing about a ratio.
        let telling = !(quick && name == "threads");
        if telling && only.is_none_or(|only| only == name) {
            part(repetitions);
        }
    }
}

/// The event engine on real LE-S processes.
fn elections(repetitions: usize) {
    for (nodes, runs) in [(50, 5000), (500, 2000), (5000, 100), (100_000, 2)] {
        let experiment = le_s(nodes, runs, 1, Engine::Event);
        let (deliveries, seconds) = best(repetitions, || {
            experiment.run(&|| ()).map_or(0, |answer| answer.deliveries.unwrap_or(0))
        });
        row(
            &format!("event engine, LE-S, N = {nodes}, l = .4"),
            deliveries as f64 / seconds,
            "deliveries/s",
        );
    }
}

/// The event engine on leases. In the larger group every message carries a row of its own.
fn leases(repetitions: usize) {
    for (nodes, runs) in [(5, 100), (100, 1)] {
        let point = Point::new("local-leader", nodes).runs(runs);
        let experiment = point.experiment(1).expect("the defaults are valid");
        let (deliveries, seconds) = best(repetitions, || {
            experiment.run(&|| ()).map_or(0, |answer| answer.deliveries.unwrap_or(0))
        });
        let rate = deliveries as f64 / seconds;
        row(&format!("event engine, leases, N = {nodes}"), rate, "deliveries/s");
    }
}

/// Single messages: a token round a ring, and a thousand at once with random delays.
fn unicasts(repetitions: usize) {
    let constant = Delay::Constant(Duration::from_millis(1));
    let random = Delay::Exponential { min: Duration::ZERO, mean: Duration::from_millis(1) };
    for (what, delay, tokens) in [
        ("token round a ring of 1000, constant delay", constant, 1),
        ("1000 tokens, exponential delays", random, 1000),
    ] {
        let mut world = World::<Token>::new(token::Params { tokens });
        let mut plan = Plan::new(1000);
        plan.network = Network::uniform(delay, Loss::None);
        plan.horizon = Duration::from_millis(1_000_000 / tokens);
        let (events, seconds) =
            best(repetitions, || world.run(&plan, RunSeed::new(1, 0), &mut ()).deliveries);
        row(what, events as f64 / seconds, "events/s");
    }
}

/// Elections on a ring: many short messages, and one that carries everybody's id.
fn rings(repetitions: usize) {
    let ring = |variant, nodes, initiators, runs| {
        let config = ring::Config { variant, ..ring::Config::default() };
        let initiation =
            Initiation { initiators, order: Order::Descending, ..Initiation::default() };
        let choice =
            Choice::try_from(choice::Config::Ring(config)).expect("the defaults are valid");
        Experiment { choice, initiation, ..le_s(nodes, runs, 1, Engine::Event) }
    };
    let quiet = Network::uniform(Delay::Constant(Duration::from_millis(100)), Loss::None);
    let all = ring(Variant::ChangRoberts, 1000, Initiators::All, 20);
    let all = Experiment { network: quiet.clone(), ..all };
    let (messages, seconds) =
        best(repetitions, || all.run(&|| ()).map_or(0, |answer| answer.deliveries.unwrap_or(0)));
    row("Chang-Roberts, N = 1000, all call", messages as f64 / seconds, "messages/s");
    let one = ring(Variant::Ring, 1_000_000, Initiators::One, 1);
    let one = Experiment { network: quiet, ..one };
    let (_, seconds) = best(repetitions, || one.run(&|| ()).is_ok().into());
    row("ring, N = 1,000,000, one calls", seconds, "s a run");
}

/// Elections in rounds: the paper's strategy, and a round in which everyone is a relay.
fn rounds(repetitions: usize) {
    let timed = |point: Point, repetitions: usize| {
        let runs = point.runs as f64;
        let experiment = point.experiment(1).expect("the defaults are valid");
        best(repetitions, || experiment.run(&|| ()).is_ok().into()).1 / runs
    };
    let thousand = timed(point(6000), repetitions) * 1000.0;
    row("probabilistic, N = 6000, 1000 runs", thousand, "s");
    let million = timed(point(1_000_000).runs(3), repetitions);
    row("probabilistic, N = 1,000,000", million, "s a run");
    let all = timed(one_round(2000, 2000).runs(1), repetitions);
    row("probabilistic, N = 2000, a round with K = N", all, "s a run");
}

/// The lazy engine on the same elections.
fn lazy(repetitions: usize) {
    let runs = 20_000;
    let experiment = le_s(500, runs, 1, Engine::Lazy);
    let (_, seconds) = best(repetitions, || experiment.run(&|| ()).is_ok().into());
    let rate = runs as f64 / seconds;
    row("lazy engine, LE-S, N = 500, l = .4", rate, "runs/s");
    let runs = 10;
    let experiment = le_s(1_000_000, runs, 1, Engine::Lazy);
    let (_, seconds) = best(repetitions, || experiment.run(&|| ()).is_ok().into());
    row("lazy engine, LE-S, N = 1,000,000, l = .4", seconds / runs as f64, "s a run");
}

/// The judge of leases: schedules of faults, each step compared with the proved model.
fn schedules(repetitions: usize) {
    for nodes in [3, 5, 7] {
        let config = Point::new("local-leader", nodes).config().expect("the defaults are valid");
        let choice = Choice::try_from(config).expect("the defaults are valid");
        let trial = Trial::new(&choice, nodes, None, 1);
        let fuzz = Fuzz { trial: &trial, numbers: 0..500, threads: 1, progress: &|| () };
        let (schedules, seconds) = best(repetitions, || {
            fuzz.run_choice(choice.clone()).map_or(0, |report| report.tally.schedules)
        });
        row(&format!("check, leases, N = {nodes}"), schedules as f64 / seconds, "schedules/s");
    }
}

/// The event engine on two threads.
fn threads(repetitions: usize) {
    let time = |threads| {
        let experiment = le_s(500, 4000, threads, Engine::Event);
        best(repetitions, || experiment.run(&|| ()).is_ok().into()).1
    };
    row("two threads, times as fast as one", time(1) / time(2), "");
}

/// What a process costs in the event engine, and what a million cost in the lazy one.
fn memory(_repetitions: usize) {
    let nodes = 100_000;
    let experiment = le_s(nodes, 1, 1, Engine::Event);
    let plan = Plan { network: experiment.network, ..Plan::new(nodes) };
    let mut world = World::<AnnounceListen>::new(params());
    // Long enough for everyone to have woken up and for every message of the crowd to be heard.
    let plan = Plan { horizon: Duration::from_secs(3), ..plan };
    let used = allocation_counter::measure(|| {
        world.run(&plan, RunSeed::new(1, 0), &mut ());
    });
    let bytes = used.bytes_max as f64 / f64::from(nodes);
    row("event engine, LE-S, N = 100000, at the peak", bytes, "bytes/process");
    let again = allocation_counter::measure(|| {
        world.run(&plan, RunSeed::new(1, 0), &mut ());
    });
    row("  the same run again", again.count_total as f64, "allocations");
    let command = "sim le-s --nodes 1000000 --loss .4 --runs 3 --threads 1 --engine lazy";
    if let Some(kibibytes) = peak_of(command) {
        row("lazy engine, N = 1,000,000, whole process", kibibytes as f64 / 1024.0, "MiB");
    }
}

/// The most memory the command ever had, in KiB, as far as the system tells.
fn peak_of(arguments: &str) -> Option<u64> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_bellwether"))
        .args(arguments.split_whitespace())
        .stdout(Stdio::null())
        .spawn()
        .ok()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    while let Ok(None) = child.try_wait() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let read = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok());
        peak = peak.max(read);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    peak
}

fn params() -> Params {
    Config::new(announce_listen::Variant::LeS).try_into().expect("the defaults are valid")
}

fn le_s(nodes: u32, runs: u64, threads: usize, engine: Engine) -> Experiment {
    let loss = Loss::Uncorrelated(0.4.try_into().expect(".4 is a probability"));
    Experiment {
        choice: params().into(),
        nodes,
        network: Network::uniform(Delay::Constant(Duration::from_millis(100)), loss),
        ranks: Ranks::ById,
        drift: 0,
        initiation: Initiation::default(),
        scenario: Scenario::Start,
        window: Duration::from_secs(100),
        runs,
        seed: 1,
        threads,
        engine,
    }
}

/// The result of `work`, and its shortest time in seconds.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn best(repetitions: usize, mut work: impl FnMut() -> u64) -> (u64, f64) {
    let mut best = (0, f64::INFINITY);
    for _ in 0..repetitions {
        let started = Instant::now();
        let result = work();
        let seconds = started.elapsed().as_secs_f64();
        if seconds < best.1 {
            best = (result, seconds);
        }
    }
    best
}

fn row(what: &str, value: f64, unit: &str) {
    let digits = match value {
        value if value >= 1e6 => format!("{value:.2e}"),
        value if value >= 100.0 || value == 0.0 => format!("{value:.0}"),
        _ => format!("{value:.3}"),
    };
    println!("{what:<46} {digits:>9} {unit}");
}
