//! `bellwether run`: a live member of a group, and the command that runs while it leads.
//!
//! | file | what it holds |
//! |---|---|
//! | `options`, `layers`, `params`, `settings`, `programs` | the settings, from a file, the environment and flags |
//! | `sources`, `reload` | where they come from, and how they are read again |
//! | `joining`, `supervisor` | what comes before the event loop, and the loop |
//! | `errands`, `overdue` | what the loop does not wait for; what happens if it is held up |
//! | `upkeep` | gives memory back while the member runs |
//! | `worker`, `permission` | the command, and for how long it may run |
//! | `addresses` | the addresses of the leader, before the member starts |
//! | `checks` | health checks, each on a thread of its own |
//! | `embedded` | the settings of a member that is part of another program |
//! | `without_command` | the guardian of a member that has none |
//! | `hooks`, `hook_call`, `fifo` | how programs are told of changes |
//! | `printer`, `log`, `complaints` | how changes and trouble are reported |
//! | `notify` | what the service manager is told |
//! | `handler`, `counts` | answers requests at the control socket and by HTTP |
//!
//! **Promise.** Only the threads of `printer` write to the standard output or error, so a reader
//! that is slow, or reads nothing, holds up nobody and ends nobody.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod addresses;
mod checks;
mod complaints;
mod counts;
mod embedded;
mod errands;
mod fifo;
mod handler;
mod hook_call;
mod hooks;
mod joining;
mod layers;
mod log;
mod notify;
pub(in crate::cli) mod options;
mod overdue;
mod params;
mod permission;
mod printer;
mod programs;
mod reload;
mod settings;
mod sources;
mod supervisor;
mod upkeep;
mod without_command;
mod worker;

use crate::cli::Done;
use crate::cli::failure::{Failure, with_flags};
use crate::cli::output::{TextOrJson, change};
use crate::cli::runtime_dir;
use crate::cli::signals::Signals;
use bellwether::core::Candidacy;
use bellwether::net::WakeFd;
use bellwether::net::clock::{BootTime, Clock};
use bellwether::net::control::{ServeError, Server};
use bellwether::net::guardian::Plan;
use bellwether::net::keys::{KeyId, Keys};
use bellwether::net::leader_file;
use bellwether::net::memory;
use bellwether::net::priority::{self, Children, Class};
use bellwether::net::privileges;
use bellwether::net::secrecy;
use bellwether::net::{Builder, Election, LastWill, Prepared};
use checks::Checks;
use clap::Args;
use complaints::Complaints;
use counts::Counts;
use errands::Errands;
use handler::{Resigning, RunHandler};
use hooks::Hooks;
use joining::{Joined, Joining};
use log::Level;
use notify::Notifier;
use options::Options;
use overdue::Overdue;
use permission::Permission;
use printer::{Printer, Stream};
use reload::Reloading;
pub(in crate::cli) use settings::Settings;
pub(in crate::cli) use sources::Sources;
use std::ffi::OsString;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use supervisor::{Supervisor, Willing};
use upkeep::Upkeep;
use without_command::Keeper;
use worker::{Notes, Worker};

/// Be a member of a group; run a command only while it leads
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Run {
    #[command(flatten)]
    pub(in crate::cli) options: Options,
}

const EXAMPLES: &str = "\
Examples:
  bellwether keygen web.key           the same file for all members
  bellwether run web --key web.key --peers 1=10.0.0.1:7400,2=10.0.0.2:7400,3=10.0.0.3:7400
  bellwether run web --key web.key --id 7 --join 10.0.0.1:7400      join the group that runs there
  bellwether run web --config web.toml -- /usr/bin/backup --every 5min
  bellwether run web --config web.toml --on-change /etc/web/notify --format json
  bellwether run web --config web.toml --address 10.0.0.100/24@eth0     the leader has this address
  bellwether run web --config web.toml --check exec=/usr/bin/check,interval=2s,fall=3 -- CMD
  bellwether run trial --insecure --peers 1=127.0.0.1:7400 -- sleep 1000

Exit codes: CMD's own (128+N if signal N ended it); 0 after SIGTERM or SIGINT, when CMD is gone and
the leadership handed over; 75 leadership lost (--once), 124 not elected in time, 126 and 127 CMD
cannot be started any more, 78 bad configuration (or no such CMD), 2 bad usage.
Signals: SIGTERM and SIGINT end CMD within --stop-timeout and hand over, a second one ends CMD at
once; SIGHUP reads the settings again, as `bellwether reload` does; SIGUSR1, SIGUSR2 and SIGWINCH
go to CMD.
CMD gets BELLWETHER_GROUP, _ID, _DIR, _TERM (its fencing token: higher than that of every leader
before; empty where the protocol counts none) and _TERM_KEPT (yes: also across restarts, or no).
Hooks get BELLWETHER_GROUP, _ID, _ROLE, _LEADER, _TERM, _TERM_KEPT, _REIGN (how often this member
has begun to lead) and _UNTIL_MS (when its lease ends, of CLOCK_BOOTTIME), and the change as JSON on
their standard input. A state that is over before its turn comes is skipped, and a hook that runs at
MASTER when leadership ends is killed.
A leader that hands over as planned calls them with BACKUP, FAULT or STOP when CMD has ended, and
releases its lease when they have returned or their time is over. Hooks are not exclusive all the
same: if the lease is lost nothing waits for them, so a former leader's hook may still run while the
next leader's MASTER hook runs. Use CMD for what must never run twice.";

impl Run {
    /// Runs until it is told to end; `written` are the flags that were given.
    pub(in crate::cli) fn run(self, written: &[(String, Vec<String>)]) -> Done {
        // Until signals are caught, any of them ends the process, whatever it waits for.
        let sources = Sources::of_process(self.options, written)?;
        let settings = sources.gather()?;
        runtime_dir::prepare(&settings.dir)?;
        settings.check_hooks()?;
        settings.check_record()?;
        settings.check_checks()?;
        settings.check_leader_file()?;
        if let Some(program) = settings.command.first() {
            programs::check_command(program)?;
        }
        settings.check_addresses()?;
        // Before there are other threads, which inherit what is left.
        let restricted = if settings.options.addresses.is_empty() {
            Ok(())
        } else {
            privileges::restrict(privileges::Extent::ForGood)
        };
        if settings.is_guarded() {
            settings.permission.check()?;
        }
        let begin = |error| cannot("begin", &error);
        let waker = WakeFd::new().map_err(begin)?;
        let logging = settings.options.logging;
        let errors = Printer::start_log(Stream::Error, logging, waker.clone()).map_err(begin)?;
        errors.take_panics();
        if let Err(error) = restricted {
            errors.say(&format!("the member keeps all its privileges: {error}"));
        }
        let code = match start(sources, settings, waker, &errors) {
            Ok(code) => code,
            Err(failure) => {
                let (line, code) = failure.into_line();
                line.into_iter().for_each(|line| errors.log(Level::Error, &line));
                code
            }
        };
        errors.end();
        if code == 0 { Ok(()) } else { Err(Failure::Code(code)) }
    }
}

/// Joins, leads if it is elected, and leaves; the exit code.
fn start(
    sources: Sources,
    mut settings: Settings,
    waker: WakeFd,
    errors: &Printer,
) -> Result<u8, Failure> {
    let begin = |error| cannot("begin", &error);
    if let Err(error) = secrecy::hide_memory() {
        errors.say(&format!("core dumps of this process may hold the keys of the group: {error}"));
    }
    let builder = settings.builder()?;
    let signals = Signals::new().map_err(|error| cannot("catch signals", &error))?;
    let deadline = settings.options.elected_within;
    let deadline = deadline.map(|within| (BootTime.now() + within, within));
    let printer = start_printer(&settings, &waker).map_err(begin)?;
    let notifier = Notifier::start(errors).map_err(begin)?;
    notifier.joining(&settings.group);
    let mut joining = Joining { signals, waker, deadline, early: Vec::new() };
    if !settings.command.is_empty() && !settings.is_exclusive() {
        errors.say(
            "this group does not promise never to have two leaders: the command may run in \
             several places at once",
        );
    }
    let printers = [errors].into_iter().chain(printer.as_ref().map(|(printer, _)| printer));
    let printers = printers.cloned().collect();
    let (handler, resignations) = RunHandler::new(&settings, joining.waker.clone(), printers);
    let handler = Arc::new(handler);
    // So that nobody waits for answers that never come, nor does one that cannot answer HTTP.
    let token = settings.token()?;
    let http = open_http(&settings, None, token.clone(), &handler)?;
    let mut reloading = Reloading::new(sources, http, token);
    // A member without a control socket does not join. From here on requests are answered.
    let serve = serving(&settings, builder, &handler, errors);
    let (mut prepared, server) = match joining.wait_for(serve).map_err(begin)? {
        Joined::Done(done) => done?,
        Joined::End(code, why) => return Ok(say_why(errors, code, why)),
    };
    if !settings.options.through.is_empty() {
        settings.learn(prepared.params())?;
        reloading.learnt = Some(prepared.params().to_owned());
    }
    let checks = start_checks(&settings, &mut prepared, &joining.waker, errors).map_err(begin)?;
    // The guardian is ready before the member may be elected.
    let will = last_will(&settings, &mut prepared, errors);
    let order = worker(&settings, &prepared, errors)?.map(|order| (order, will.clone()));
    let worker = match joining.wait_for(|| order.map(start_worker).transpose()).map_err(begin)? {
        Joined::Done(worker) => worker?,
        Joined::End(code, why) => return Ok(say_why(errors, code, why)),
    };
    let kept = will.clone().filter(|_| worker.is_none());
    let keeper = kept.map(|will| Keeper::start(will, errors.clone()));
    let tells = errors.clone();
    let join = move || prepared.join_and_tell(&mut |line| tells.say(&line));
    let election = match joining.wait_for(join).map_err(begin)? {
        Joined::Done(election) => election?,
        Joined::End(code, why) => return Ok(say_why(errors, code, why)),
    };
    if settings.options.insecure {
        errors.say("without a key, whoever reaches the port can lead the group");
    }
    worker.iter().for_each(|worker| handler.show_addresses(worker.board()));
    let _upkeep = Upkeep::start(election.clone()).map_err(begin)?;
    let guarded = Guarded { worker, keeper, will, checks };
    let http = reloading.server();
    let around = Around { joining, handler, resignations, printer, notifier };
    let supervisor = supervise(settings, election, guarded, around, reloading, errors)?;
    let code = supervisor.run().map_err(|error| cannot("wait", &error))?;
    drop(server);
    http.close();
    Ok(code)
}

/// Prepares the member, and answers at its control socket.
fn serving(
    settings: &Settings,
    builder: Builder,
    handler: &Arc<RunHandler>,
    errors: &Printer,
) -> impl FnOnce() -> Result<(Prepared, Server), Failure> + Send + use<> {
    let place = (settings.dir.clone(), settings.group.clone(), Arc::clone(handler));
    let (tells, joins) =
        (errors.clone(), settings.options.through.first().and(settings.options.id));
    move || {
        let (dir, group, handler) = place;
        let serve = |id| Server::start(&dir, &group, id, Arc::clone(&handler) as _);
        // One that joins a running group may have to wait for it.
        let early = joins.map(serve).transpose()?;
        let prepared = builder.prepare_and_tell(&mut |line| tells.say(&line))?;
        let server = early.map_or_else(|| serve(prepared.id()), Ok)?;
        Ok((prepared, server))
    }
}

/// Answers HTTP, if that is wanted. The member may be yet to join. A server of this member may have
/// a place until then.
fn open_http(
    settings: &Settings,
    present: Option<&bellwether_http::Place>,
    token: Option<bellwether_http::Token>,
    handler: &Arc<RunHandler>,
) -> Result<Option<bellwether_http::Server>, Failure> {
    let Some(place) = &settings.options.serving.http else { return Ok(None) };
    let server = bellwether_http::Server::start(place, token, Arc::clone(handler) as _);
    server.map(Some).map_err(|error| {
        let line = match present {
            Some(present) if error.is_taken() && share_port(present, place) => format!(
                "--http {place}: this member itself has the port, at {present}, until the change \
                 is made; choose another port, or leave `http` out for one reload"
            ),
            _ => format!("--http: {error}"),
        };
        if error.is_config() { Failure::Config(line) } else { Failure::Io(line) }
    })
}

fn share_port(one: &bellwether_http::Place, other: &bellwether_http::Place) -> bool {
    use bellwether_http::Place::Tcp;
    matches!((one, other), (Tcp(one), Tcp(other)) if one.port() == other.port())
}

fn say_why(errors: &Printer, code: u8, why: Option<String>) -> u8 {
    why.into_iter().for_each(|why| errors.say(&why));
    code
}

/// How changes are written to the standard output, if they are. With a command that belongs to the
/// command, unless changes were asked for.
fn format_of_changes(settings: &Settings) -> Option<TextOrJson> {
    let format = settings.options.format;
    if settings.command.is_empty() { Some(settings.format()) } else { format }
}

/// The printer of changes, and its format.
fn start_printer(settings: &Settings, waker: &WakeFd) -> io::Result<Option<(Printer, TextOrJson)>> {
    let format = format_of_changes(settings);
    let start = |format| Printer::start(Stream::Output, waker.clone()).map(|own| (own, format));
    format.map(start).transpose()
}

fn cannot(what: &str, error: &io::Error) -> Failure {
    Failure::Io(format!("cannot {what}: {error}"))
}

/// The plan of a worker: what to run, for how long, whether to restart it, and where to report.
type Order = (Plan, Permission, bool, Notes);

fn worker(
    settings: &Settings,
    prepared: &Prepared,
    errors: &Printer,
) -> Result<Option<Order>, Failure> {
    let (program, args) = match settings.command.split_first() {
        Some((program, args)) => (program.clone(), args.to_vec()),
        None if settings.is_guarded() => (OsString::new(), Vec::new()),
        None => return Ok(None),
    };
    if !settings.options.addresses.is_empty() || settings.leader_file().is_some() {
        prepared.check_listen()?; // before what an earlier process left is removed
    }
    let id = prepared.id();
    let env = [
        ("BELLWETHER_GROUP", OsString::from(&settings.group)),
        ("BELLWETHER_ID", OsString::from(id.to_string())),
        ("BELLWETHER_DIR", settings.dir.clone().into_os_string()),
        ("BELLWETHER_TERM_KEPT", if settings.keeps_terms() { "yes" } else { "no" }.into()),
    ];
    let name = settings.options.name.clone().map(|name| ("BELLWETHER_NAME", name.into()));
    let permission = settings.permission;
    let probe = addresses::probe(permission.round_trip());
    let plan = Plan {
        program,
        args,
        margin: permission.margin,
        grace: permission.grace,
        stop_signal: settings.options.commanding.stop_signal,
        nice: priority::nice(),
        env: env.into_iter().chain(name).map(|(name, value)| (name.into(), value)).collect(),
        addresses: settings.options.addresses.clone(),
        probe,
        believed: addresses::believed(probe, permission.lease()),
        leader_file: settings.leader_file(),
        pass_stdin: settings.options.commanding.pass_stdin == options::Choice::Yes,
        recording: settings.recording(id),
    };
    let restart = settings.options.commanding.restart;
    Ok(Some((plan, permission, restart, Notes::new(errors.clone()))))
}

/// The last will of the member, unless it has none or none is wanted.
fn last_will(settings: &Settings, prepared: &mut Prepared, errors: &Printer) -> Option<LastWill> {
    if settings.options.guardian == options::Choice::No {
        return None;
    }
    prepared.last_will().unwrap_or_else(|error| {
        errors.say(&without_command::no_guardian(&error));
        None
    })
}

/// Starts the health checks. A member whose checks are not well at first begins so.
fn start_checks(
    settings: &Settings,
    prepared: &mut Prepared,
    waker: &WakeFd,
    errors: &Printer,
) -> io::Result<Checks> {
    let (id, base) = (prepared.id(), prepared.candidacy());
    let around = around_checks(settings, (id, base), waker, errors);
    let checks = Checks::start(settings.options.checks.clone(), around)?;
    prepared.set_candidacy(checks.first());
    Ok(checks)
}

/// What the checks of this member need.
fn around_checks(
    settings: &Settings,
    (id, base): (u64, Candidacy),
    waker: &WakeFd,
    errors: &Printer,
) -> checks::Around {
    let environment =
        vec![("BELLWETHER_GROUP", settings.group.clone()), ("BELLWETHER_ID", id.to_string())];
    checks::Around { base, environment, waker: waker.clone(), errors: errors.clone() }
}

/// What a guardian looks after, and whether the member may lead.
struct Guarded {
    worker: Option<Worker>,
    keeper: Option<Keeper>,
    will: Option<LastWill>,
    checks: Checks,
}

/// Starts its guardian. A disk that hangs may block this.
fn start_worker((order, will): (Order, Option<LastWill>)) -> Result<Worker, Failure> {
    let (plan, permission, restart, notes) = order;
    if let Some(recording) = &plan.recording {
        let opened = recording.open();
        opened.map_err(|error| Failure::io("write", &recording.file, &error))?;
    }
    addresses::clean_up(&plan.addresses, &notes)?;
    if let Some(file) = &plan.leader_file
        && leader_file::clean_up(file).map_err(|bad| Failure::Io(bad.to_string()))?
    {
        notes
            .mention(&format!("{} was left by an earlier process; it was removed", file.display()));
    }
    let worker = Worker::new(plan, permission, restart, notes, will);
    worker.map_err(|error| cannot("start the guardian", &error))
}

/// What a member has from before it joined: its signals, who asks it, and who is told of changes.
struct Around {
    joining: Joining,
    handler: Arc<RunHandler>,
    resignations: Receiver<Resigning>,
    printer: Option<(Printer, TextOrJson)>,
    notifier: Notifier,
}

fn start_hooks(
    settings: &Settings,
    election: &Election,
    will: Option<LastWill>,
    joining: &Joining,
    errors: &Printer,
) -> io::Result<Hooks> {
    let leads = election.clone();
    let options = &settings.options;
    Hooks::start(hooks::Plan {
        programs: hooks::Programs {
            hooks: settings.hooks.clone(),
            limit: options.hooking.hook_timeout,
            retries: options.hooking.hook_retry,
            rank: options.rank.unwrap_or(election.leadership().me.0),
        },
        name: options.name.clone(),
        fifo: options.hooking.notify_fifo.clone(),
        lease: Box::new(move || {
            let now = leads.leadership();
            now.leads().then_some(now.until)
        }),
        will,
        looper: joining.waker.clone(),
        errors: errors.clone(),
    })
}

/// Looks after the keys, and says which it got.
fn start_keys(settings: &Settings, election: &Election, errors: &Printer) -> io::Result<Keys> {
    let errors = errors.clone();
    let tell = move |keys: &[KeyId]| {
        let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
        let keys = keys.join(", accepts ");
        errors.say(&format!("{} new keys: sends with {keys}", change::stamp(BootTime.now())));
    };
    Keys::start_and_tell(election, &settings.group, settings.options.key.clone(), tell)
}

fn supervise(
    settings: Settings,
    election: Election,
    Guarded { worker, keeper, will, checks }: Guarded,
    Around { joining, handler, resignations, printer, notifier }: Around,
    reloading: Reloading,
    errors: &Printer,
) -> Result<Supervisor, Failure> {
    let begin = |error| cannot("begin", &error);
    let hooks = start_hooks(&settings, &election, will.clone(), &joining, errors).map_err(begin)?;
    let notes = worker.as_ref().map_or_else(|| Notes::new(errors.clone()), Worker::notes);
    let counts = Counts::default();
    let tallies = (hooks.tally(), counts.clone(), checks.findings());
    handler.open(election.clone(), tallies, notes.clone(), will.clone());
    let Joining { signals, waker, deadline, early } = joining;
    let errands = Errands::start(election.clone(), errors.clone(), waker.clone()).map_err(begin)?;
    let watch_over = |_: &Worker| Overdue::start(election.clone(), errors.clone(), waker.clone());
    let overdue = worker.as_ref().map(watch_over).transpose().map_err(begin)?;
    let (group, once) = (settings.group.clone(), settings.options.once);
    let keys = start_keys(&settings, &election, errors).map_err(begin)?;
    let (reloads, applied) = reload::start(reload::Place {
        reloading,
        settings,
        election: election.clone(),
        handler: Arc::clone(&handler),
        hooks: hooks.tally(),
        printer: printer.as_ref().map(|(printer, _)| printer.clone()),
        notifier: notifier.clone(),
        errors: errors.clone(),
        waker: waker.clone(),
        keys: keys.clone(),
    })
    .map_err(begin)?;
    handler.reload_by(reloads.clone(), keys);
    notifier.joined(&election);
    be_prompt(&notes);
    Ok(Supervisor {
        group,
        watch: election.watch(),
        election,
        signals,
        early,
        waker,
        resignations,
        errands,
        hooks,
        printer,
        errors: errors.clone(),
        notifier,
        worker,
        keeper,
        will,
        overdue,
        counts,
        reloads,
        applied,
        complaints: Complaints::new(),
        deadline,
        once,
        led: false,
        last: None,
        list: None,
        resigning: Vec::new(),
        hand_over: handler.told_of_hand_over(),
        willing: Willing::new(checks.first(), handler.told_of_unended()),
        checks,
        heeded: None,
        asked_to_end: 0,
        ending: None,
        free_since: None,
    })
}

/// Raises this thread and locks the memory of the process, or notes what is refused. All other
/// threads were started before, so that they inherit nothing of it.
fn be_prompt(notes: &Notes) {
    let raised = priority::raise(Class::Nice, Children::Normal);
    // What the start needed is given back, heap and pages; later see `upkeep`.
    memory::give_back();
    let refused = raised.note.into_iter().chain(priority::lock_memory());
    refused.for_each(|note| notes.add(&priority::of_member(&note)));
}

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Self {
        let line = with_flags(&error);
        if error.is_config() { Self::Config(line) } else { Self::Io(line) }
    }
}
