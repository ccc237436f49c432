//! Random faults that overlap, against members that run for real: `cargo bench --locked --bench
//! chaos -- --faults 2000 --seed 7`.
//!
//! **What is done.** Groups of three or five members, each with a worker, are struck by a plan that
//! follows from the seed: kinds, targets, durations and overlaps. Each group is struck 25 times;
//! after each batch all is healed, and somebody must lead within κ. In the end its traces are
//! judged.
//!
//! **What is measured from outside.** When each process of a worker ran, by marks that it makes
//! itself. Two workers of different members at once are an overlap, which fails the run. So does a
//! broken invariant, and, without `--load` and `--quick`, a failover beyond its bound by more than
//! the machine stalled. A failed run keeps the traces, names their folder, and ends with the
//! command that repeats its plan.
//!
//! **What is not drawn.** The exceptions of docs/running.md, "What can outlive a lease": all three
//! watching processes killed or stopped while the command lives, a virtual machine that its host
//! pauses, work that is handed to a daemon. An overlap beside a standstill of the whole machine is
//! counted by itself. A time namespace gives a member's clock an offset; it cannot give it a rate.
//!
//! `--exceptions` draws nothing but these: then the detector must see overlaps, or it is blind.
//!
//! `--load` gives every worker more processes that never sleep than there are processors, and the
//! machine as many others.

#[path = "chaos/disk.rs"]
mod disk;
#[path = "chaos/drive.rs"]
mod drive;
#[path = "chaos/flood.rs"]
mod flood;
#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/live/lab/mod.rs"]
mod lab;
#[path = "chaos/options.rs"]
mod options;
#[path = "chaos/plan.rs"]
mod plan;
#[path = "chaos/report.rs"]
mod report;
#[path = "chaos/scene.rs"]
mod scene;
#[path = "chaos/strike.rs"]
mod strike;
#[path = "chaos/worker.rs"]
mod worker;

use bellwether::core::Instant;
use bellwether::protocols::local_leader::{Config, Params};
use lab::clock::{millis, now};
use options::Options;
use report::Report;
use scene::{INTERRUPTED, many};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::atomic::Ordering;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == worker::WORD) {
        return worker::run(&words[1..]);
    }
    match Options::read(&words) {
        Ok(options) => run(&options),
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(2)
        }
    }
}

/// Ends in good order when it is interrupted: all that was made is removed by its owners.
fn heed_signals() {
    let mut signals = Signals::new([SIGINT, SIGTERM]).expect("signals can be handled");
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            INTERRUPTED.store(true, Ordering::Relaxed);
        }
    });
}

fn run(options: &Options) -> ExitCode {
    heed_signals();
    let config = Config { preset: options.preset, ..Config::default() };
    let params = Params::try_from(config).expect("a preset keeps its own rules");
    let plans = plan::draw(options, params.lock());
    println!("{}", options.command(None));
    println!("a silent leader is replaced within {:.1} ms", millis(params.failover()));
    let _turn = if options.load { lab::machine::load() } else { lab::machine::quiet() };
    let begun = now();
    let mut report = Report::default();
    let _busy = Busy::start(options.load);
    for (number, plan) in (0..).zip(&plans) {
        if options.group.is_some_and(|only| only != number) {
            continue;
        }
        println!("group {number} of {}: {}", plans.len(), described(plan));
        let driven = catch_unwind(AssertUnwindSafe(|| drive::drive(options, plan, &mut report)));
        if driven.is_err() {
            summary(&report, begun);
            if INTERRUPTED.load(Ordering::Relaxed) {
                lab::Folder::remove_all();
                println!("interrupted; nothing is kept");
                return ExitCode::from(130);
            }
            println!("FAILED in group {number}; the same plan again:");
            println!("{}", options.command(Some(number)));
            return ExitCode::FAILURE;
        }
    }
    summary(&report, begun);
    if options.exceptions {
        println!("the detector must see these overlaps; it saw {}", report.excepted);
        return if report.excepted > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    if report.unexplained() == 0 {
        return ExitCode::SUCCESS;
    }
    println!("beyond a bound by more than the machine stalled; the same plan again:");
    println!("{}", options.command(None));
    match options.load || options.quick {
        true => ExitCode::SUCCESS, // other work makes leaders late
        false => ExitCode::FAILURE,
    }
}

fn summary(report: &Report, begun: Instant) {
    report.print();
    let (stalls, stills) = (lab::stalls::stalls(), lab::stalls::standstills());
    println!(
        "{:.0} s; the longest that a thread was woken late: {:.1} ms, in real time {:.1} ms; the \
         longest step of a plan took {:.0} ms",
        now().since(begun).as_secs_f64(),
        millis(stalls.longest(begun)),
        millis(stills.longest(begun)),
        millis(report.latest)
    );
}

fn described(plan: &plan::GroupPlan) -> String {
    let ground = if plan.relayed { "a relay on the loopback" } else { "namespaces" };
    let tokens = if plan.durable { "durable tokens" } else { "volatile tokens" };
    let clocks = match plan.clocks.is_empty() {
        true => "one clock".to_owned(),
        false => format!("clocks ahead by {:?} s", plan.clocks),
    };
    format!("{ground}, {tokens}, {clocks}, {} batches", plan.batches.len())
}

/// Other work of the machine; it ends with it.
struct Busy(Vec<Child>);

impl Busy {
    fn start(load: bool) -> Self {
        let spin = |_| {
            let words = ["--pdeathsig", "KILL", "sh", "-c", "while :; do :; done"];
            let mut command = Command::new("setpriv");
            command.args(words).stdin(Stdio::null()).spawn().expect("a shell can be started")
        };
        Self((0..if load { many() } else { 0 }).map(spin).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
