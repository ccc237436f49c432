//! `bellwether run`: a member of a group, for real, and the command that runs while it leads.
//!
//! | file | what it holds |
//! |---|---|
//! | `options`, `layers`, `params`, `settings` | what was asked for, by a file, the environment and flags |
//! | `supervisor` | the loop |
//! | `worker`, `permission` | the command, and for how long it may run |
//! | `hooks`, `printer`, `complaints` | who is told of changes, and of trouble |
//! | `office` | who may ask |

mod bell;
mod complaints;
mod hooks;
mod layers;
mod office;
pub(super) mod options;
mod params;
mod permission;
mod printer;
mod settings;
mod supervisor;
mod worker;

use super::Done;
use super::failure::Failure;
use super::runtime_dir;
use super::signals::Signals;
use bell::Bell;
use bellwether::net::Election;
use bellwether::net::clock::{BootTime, Clock};
use bellwether::net::control::Server;
use bellwether::net::guardian::Plan;
use bellwether::net::priority;
use clap::Args;
use complaints::Complaints;
use hooks::Hooks;
use office::Office;
use options::Options;
use printer::Printer;
pub(super) use settings::Settings;
use std::ffi::OsString;
use std::io;
use std::sync::Arc;
use supervisor::Supervisor;
use worker::Worker;

/// Be a member of a group; run a command only while it leads
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Run {
    #[command(flatten)]
    pub(super) options: Options,
}

const EXAMPLES: &str = "\
Examples:
  bellwether keygen web.key           the same file for all members
  bellwether run web --key web.key --peers 1=10.0.0.1:7400,2=10.0.0.2:7400,3=10.0.0.3:7400
  bellwether run web --config web.toml -- /usr/bin/backup --every 5min
  bellwether run web --config web.toml --on-change /etc/web/notify --format json
  bellwether run trial --insecure --peers 1=127.0.0.1:7400 -- sleep 1000

Exit codes: CMD's own (128+N if signal N ended it); 0 after SIGTERM or SIGINT, when CMD is gone and
the leadership handed over; 75 leadership lost (--once), 124 not elected in time, 126 and 127 CMD
cannot be started, 78 bad configuration, 2 bad usage.
Signals: SIGHUP reads the keys again; SIGUSR1, SIGUSR2 and SIGWINCH go to CMD.
Hooks get BELLWETHER_GROUP, _ID, _ROLE, _LEADER and _UNTIL_MS (of CLOCK_BOOTTIME), and the change
as JSON on their standard input.";

impl Run {
    /// Runs until it is told to end; `written` are the flags that were written.
    pub(super) fn run(self, written: &[(String, Vec<String>)]) -> Done {
        let settings = Settings::gather(self.options, written)?;
        runtime_dir::prepare(&settings.dir)?;
        settings.check_hooks()?;
        let builder = settings.builder()?;
        let signals = Signals::new().map_err(|error| cannot("catch signals", &error))?;
        let bell = Bell::new().map_err(|error| cannot("begin", &error))?;
        if !settings.command.is_empty() {
            settings.permission.check()?;
        }
        if !settings.command.is_empty() && !settings.is_exclusive() {
            eprintln!(
                "bellwether: this group does not promise never to have two leaders: the command \
                 may run in several places at once"
            );
        }
        // Ready before this member may lead: the command starts as soon as it is permitted.
        let mut worker = start_worker(&settings)?;
        let election = builder.join()?;
        if settings.options.insecure {
            eprintln!("bellwether: without a key, whoever reaches the port can lead the group");
        }
        let id = election.leadership().me.0;
        settings.check_socket(id)?;
        if let Some(worker) = &mut worker {
            worker.identify(id);
        }
        match supervise(settings, election, worker, signals, bell)? {
            0 => Ok(()),
            code => Err(Failure::Code(code)),
        }
    }
}

fn cannot(what: &str, error: &io::Error) -> Failure {
    Failure::Io(format!("cannot {what}: {error}"))
}

fn start_worker(settings: &Settings) -> Result<Option<Worker>, Failure> {
    let Some((program, args)) = settings.command.split_first() else { return Ok(None) };
    let env = [
        ("BELLWETHER_GROUP", OsString::from(&settings.group)),
        ("BELLWETHER_DIR", settings.dir.clone().into_os_string()),
    ];
    let permission = settings.permission;
    let plan = Plan {
        program: program.clone(),
        args: args.to_vec(),
        margin: permission.margin,
        grace: permission.grace,
        nice: priority::nice(),
        env: env.into_iter().map(|(name, value)| (name.into(), value)).collect(),
    };
    let worker = Worker::new(plan, permission, settings.options.commanding.restart);
    worker.map(Some).map_err(|error| cannot("start the guardian", &error))
}

fn supervise(
    settings: Settings,
    election: Election,
    worker: Option<Worker>,
    signals: Signals,
    bell: Bell,
) -> Result<u8, Failure> {
    let Settings { group, options, dir, hooks, command, .. } = settings;
    let me = election.leadership().me.0;
    let begin = |error| cannot("begin", &error);
    let rank = options.rank.unwrap_or(me);
    let hooks = Hooks::start(hooks, options.hooking.hook_timeout, rank).map_err(begin)?;
    // With a command the standard output is its own, unless changes were asked for.
    let format =
        if command.is_empty() { Some(options.format.unwrap_or_default()) } else { options.format };
    let start = |format| Printer::start(bell.clone()).map(|printer| (printer, format));
    let printer = format.map(start).transpose().map_err(begin)?;
    let notes = worker.as_ref().map(Worker::notes).unwrap_or_default();
    let told = (hooks.tally(), notes);
    let (office, resignations) = Office::new(&group, election.clone(), bell.clone(), told);
    let server = Server::start(&dir, &group, me, Arc::new(office)).map_err(|error| {
        let line = error.to_string();
        if error.is_config() { Failure::Config(line) } else { Failure::Io(line) }
    })?;
    let deadline = options.elected_within.map(|within| (BootTime.now() + within, within));
    let supervisor = Supervisor {
        group,
        watch: election.watch(),
        election,
        signals,
        bell,
        resignations,
        hooks,
        printer,
        worker,
        keys: options.key,
        complaints: Complaints::new(),
        deadline,
        once: options.once,
        led: false,
        resigning: Vec::new(),
        ending: None,
    };
    let code = supervisor.run().map_err(|error| cannot("wait", &error))?;
    drop(server);
    Ok(code)
}
