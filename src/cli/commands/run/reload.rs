//! Reads the settings of a running member again, at SIGHUP and `bellwether reload`.
//!
//! **Assumptions.** Flags and environment are those of the start; the file, and the files that it
//! names, may have changed.
//!
//! **Promise.** Everything that differs changes, or nothing does. Files are read and checked on a
//! thread of its own, and what follows is handed to the loop as one message that cannot fail: the
//! loop and the election wait for neither. The member goes on leading. A setting is fixed unless it
//! is listed here, and a fixed one that differs is named.

use super::checks::{self, Checks};
use super::handler::RunHandler;
use super::hooks::{Programs, Tally};
use super::layers::{self, Layer};
use super::notify::Notifier;
use super::options::Options;
use super::printer::{Printer, Stream};
use super::settings::{Settings, read_keys};
use super::sources::Sources;
use super::supervisor::Supervisor;
use super::{around_checks, format_of_changes, open_http};
use crate::cli::failure::{Failure, with_flags};
use crate::cli::output::TextOrJson;
use bellwether::core::{Candidacy, Duration, NodeId};
use bellwether::net::control::{ChangedSetting, NotReloaded};
use bellwether::net::keys::Keys;
use bellwether::net::{BadSettings, Election, FoundingVoters, Keyring, WakeFd};
use bellwether::protocols::choice::Choice;
use bellwether_http::{Server, Token};
use signal_hook::low_level::signal_name;
use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The settings that can change while a member runs.
const IN_PLACE: [&str; 17] = [
    "check",
    "format",
    "hook-retry",
    "hook-timeout",
    "http",
    "http-token",
    KEY,
    "log",
    "log-level",
    "on-change",
    "once",
    "priority",
    "rank",
    "restart",
    "stop-signal",
    "stop-timeout",
    "witness",
];
/// The file with the keys.
const KEY: &str = "key";
/// The most characters of a value that are shown.
const SHOWN_MAX: usize = 200;
/// The most requests that wait.
const WAITING_MAX: usize = 8;

/// What somebody is told about a reload.
pub(super) type Outcome = Result<Vec<ChangedSetting>, NotReloaded>;

/// Where somebody waits for it, if anybody does.
type Asked = Option<SyncSender<Outcome>>;

/// Asks for reloads; clones ask the same thread.
#[derive(Clone, Debug)]
pub(super) struct Reloads(SyncSender<Asked>);

impl Reloads {
    /// Has the settings read again; nobody waits for that. If many wait already, one more changes
    /// nothing.
    pub(super) fn begin(&self) {
        let _ = self.0.try_send(None); // the thread lives as long as the loop
    }

    /// Has the settings read again, and waits until all or nothing changed.
    pub(super) fn wait(&self) -> Outcome {
        let (reply, replied) = sync_channel(1);
        match self.0.try_send(Some(reply)) {
            Ok(()) => replied.recv().unwrap_or_else(|_| Err(ending())),
            Err(TrySendError::Full(_)) => Err("it is being asked already".to_owned().into()),
            Err(TrySendError::Disconnected(_)) => Err(ending()),
        }
    }
}

fn ending() -> NotReloaded {
    "the member is ending; nothing changed".to_owned().into()
}

/// What the loop takes over in one step.
pub(super) struct Applied {
    keyring: Option<Keyring>,
    programs: Programs,
    stop_timeout: Duration,
    stop_signal: i32,
    restart: bool,
    once: bool,
    /// The printer of changes, if there is another one from now on.
    printer: Option<Option<(Printer, TextOrJson)>>,
    /// The checks, and how willing it is to lead without them, if that differs.
    checks: Option<Checks>,
    /// Where it is told when all of this is in force. The former checks end there.
    done: SyncSender<Option<Checks>>,
}

/// Not the keys.
impl fmt::Debug for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Applied").field("programs", &self.programs).finish_non_exhaustive()
    }
}

/// What a reload needs from before the member joined.
pub(super) struct Reloading {
    sources: Sources,
    http: HttpServer,
    /// The token that it asks for.
    token: Option<Token>,
    /// The parameters that were learnt from the group, if any were.
    pub(super) learnt: Option<String>,
}

impl Reloading {
    pub(super) fn new(sources: Sources, http: Option<Server>, token: Option<Token>) -> Self {
        let http = HttpServer(Arc::new(Mutex::new(http)));
        Self { sources, http, token, learnt: None }
    }

    /// The server of HTTP, to close it at the end.
    pub(super) fn server(&self) -> HttpServer {
        self.http.clone()
    }
}

/// The server of HTTP, if there is one; clones are one.
#[derive(Clone, Debug)]
pub(super) struct HttpServer(Arc<Mutex<Option<Server>>>);

impl HttpServer {
    fn lock(&self) -> MutexGuard<'_, Option<Server>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it.
    pub(super) fn close(&self) {
        drop(self.lock().take());
    }
}

/// What a reload needs of a member that runs.
pub(super) struct Place {
    pub(super) reloading: Reloading,
    /// The settings in force.
    pub(super) settings: Settings,
    pub(super) election: Election,
    pub(super) handler: Arc<RunHandler>,
    pub(super) hooks: Tally,
    pub(super) printer: Option<Printer>,
    pub(super) notifier: Notifier,
    pub(super) errors: Printer,
    pub(super) waker: WakeFd,
    pub(super) keys: Keys,
}

/// The thread that reads files, and what it hands to the loop.
pub(super) fn start(place: Place) -> io::Result<(Reloads, Receiver<Applied>)> {
    let (wanted, asked) = sync_channel::<Asked>(WAITING_MAX);
    let (hand, applied) = sync_channel(1);
    let mut reloader = Reloader { place, hand };
    thread::Builder::new().name("reload".to_owned()).spawn(move || {
        for reply in asked {
            let outcome = reloader.reload_and_tell();
            if let Some(reply) = reply {
                let _ = reply.send(outcome); // or nobody waits any more
            }
        }
    })?;
    Ok((Reloads(wanted), applied))
}

struct Reloader {
    place: Place,
    hand: SyncSender<Applied>,
}

/// Checked new settings, and what was opened for them.
struct Ready {
    settings: Settings,
    changed: Vec<ChangedSetting>,
    applied: Applied,
    http: Http,
    token: Option<Token>,
    rank: Option<u64>,
}

/// What becomes of the server of HTTP.
enum Http {
    Stays,
    Becomes(Option<Server>),
}

impl Reloader {
    /// Reloads, and says what came of it: every reload begins and ends here.
    fn reload_and_tell(&mut self) -> Outcome {
        self.place.notifier.reloading();
        let outcome = self.reload();
        self.place.notifier.ready();
        let errors = &self.place.errors;
        match &outcome {
            Ok(changed) => {
                let (keys, others): (Vec<_>, Vec<_>) =
                    changed.iter().partition(|changed| changed.setting == KEY);
                let key = self.place.settings.options.key.as_deref();
                if let Some(key) = key.filter(|_| !keys.is_empty() || others.is_empty()) {
                    errors.say(&self.keys_again(key));
                } else if others.is_empty() {
                    errors.say("read the settings again: nothing changed");
                }
                if !others.is_empty() {
                    let others: Vec<String> = others.iter().map(ToString::to_string).collect();
                    errors.say(&format!("read the settings again: {}", others.join("; ")));
                }
            }
            Err(refused) => errors.say(&refused.to_string()),
        }
        outcome
    }

    fn keys_again(&self, file: &Path) -> String {
        let keys = self.place.election.status().map(|status| status.keys).unwrap_or_default();
        format!("read {} again: sends with {}", file.display(), keys.join(", accepts "))
    }

    fn reload(&mut self) -> Outcome {
        // From reading the key file until its keys are in force no other order changes them.
        let keys = self.place.keys.clone();
        let mut held = keys.hold();
        let (done, when_done) = sync_channel(1);
        let ready = self.prepare(done)?;
        let Ready { settings, changed, applied, http, token, rank } = ready;
        // The last step that can fail.
        if let Some(rank) = rank {
            self.place.election.set_rank(rank).map_err(|not_now| {
                NotReloaded::from(format!("rank cannot change now: {not_now}; nothing changed"))
            })?;
        }
        if let Some(Some((printer, _))) = &applied.printer {
            self.place.printer = Some(printer.clone());
        }
        self.hand.send(applied).map_err(|_| ending())?;
        self.place.waker.wake();
        drop(when_done.recv().map_err(|_| ending())?);
        held.set_file(settings.options.key.clone());
        drop(held);
        let mut server = self.place.reloading.http.lock();
        match http {
            Http::Becomes(new) => *server = new,
            Http::Stays => server.iter().for_each(|server| server.set_token(token.clone())),
        }
        drop(server);
        self.place.errors.set_logging(settings.options.logging);
        (self.place.reloading.token, self.place.settings) = (token, settings);
        Ok(changed)
    }

    /// Reads and checks everything. What it opens is closed again if something is refused.
    fn prepare(&self, done: SyncSender<Option<Checks>>) -> Result<Ready, NotReloaded> {
        let old = &self.place.settings;
        let refused = |failure| bad(failure, NOTHING);
        let mut new = self.place.reloading.sources.gather().map_err(refused)?;
        if let Some(params) = &self.place.reloading.learnt {
            new.learn(params).map_err(refused)?;
        }
        let fixed = fixed(old, &new);
        if !fixed.is_empty() {
            return Err(restart(fixed));
        }
        let me = self.place.election.leadership().me.0;
        let base = candidacy(&new, me).map_err(refused)?;
        new.check_hooks().map_err(refused)?;
        new.check_checks().map_err(refused)?;
        if new.is_guarded() {
            new.permission.check().map_err(refused)?;
        }
        let keys = new.options.key.as_deref().map(read_keys).transpose();
        let keys = keys.map_err(|failure| bad(failure, KEYS_STAY))?;
        let token = new.token().map_err(refused)?;
        let in_force = self.place.election.status().map_err(|_| ending())?.keys;
        let ids = keys.as_ref().map(|keys| keys.ids(&new.group)).unwrap_or_default();
        let mut changed = differences(old, &new, me);
        if keys.is_some() && ids != in_force || old.options.key != new.options.key {
            changed.push(setting(KEY, ids.join(", and accepts ")));
        }
        if self.place.reloading.token != token {
            changed.push(setting("http-token", shown_token(&new)));
        }
        let has = |name: &str| changed.iter().any(|changed| changed.setting == name);
        let failed = |error: io::Error| {
            NotReloaded::from(format!("cannot start a thread: {error}; nothing changed"))
        };
        if !new.hooks.is_empty() {
            self.place.hooks.ready().map_err(failed)?;
        }
        let stands = ["check", "priority", "witness"].into_iter().any(has);
        let around = around_checks(&new, (me, base), &self.place.waker, &self.place.errors);
        let checks = || Checks::ready(new.options.checks.clone(), around);
        let checks = stands.then(checks).transpose().map_err(failed)?;
        let format = format_of_changes(&new);
        let printer = has("format").then(|| self.printer(format)).transpose().map_err(failed)?;
        let http = if has("http") {
            let present = old.options.serving.http.as_ref();
            let server = open_http(&new, present, token.clone(), &self.place.handler);
            Http::Becomes(server.map_err(refused)?)
        } else {
            Http::Stays
        };
        let elects = Choice::try_from(new.config.clone()).is_ok_and(|choice| choice.reads_rank());
        let (options, rank) = (&new.options, new.options.rank.unwrap_or(me));
        let (hooks, limit) = (new.hooks.clone(), options.hooking.hook_timeout);
        let applied = Applied {
            keyring: keys.filter(|_| has(KEY)),
            programs: Programs { hooks, limit, retries: options.hooking.hook_retry, rank },
            stop_timeout: new.permission.stop_timeout,
            stop_signal: options.commanding.stop_signal,
            restart: options.commanding.restart,
            once: options.once,
            printer,
            checks,
            done,
        };
        let rank = (has("rank") && elects).then_some(rank);
        Ok(Ready { settings: new, changed, applied, http, token, rank })
    }

    /// The printer of changes in this format: the present one, if there is one.
    fn printer(&self, format: Option<TextOrJson>) -> io::Result<Option<(Printer, TextOrJson)>> {
        let Some(format) = format else { return Ok(None) };
        let present = self.place.printer.clone();
        let start = || Printer::start(Stream::Output, self.place.waker.clone());
        Ok(Some((present.map_or_else(start, Ok)?, format)))
    }
}

/// The loop's part.
impl Supervisor {
    /// Takes over new settings, if there are any.
    pub(super) fn take_over_settings(&mut self) {
        let Ok(applied) = self.applied.try_recv() else { return };
        let Applied { keyring, programs, stop_timeout, stop_signal, .. } = applied;
        if let Some(keyring) = keyring {
            let _ = self.election.set_keyring(keyring); // a member that has ended needs none
        }
        self.hooks.set(programs);
        if let Some(worker) = &mut self.worker {
            worker.set(stop_timeout, stop_signal, applied.restart);
        }
        self.once = applied.once;
        if let Some(printer) = applied.printer {
            self.printer = printer;
        }
        let former = applied.checks.map(|checks| self.checks.give_way_to(checks));
        let _ = applied.done.try_send(former); // it waits, and has room
    }
}

/// How willing this member is to lead if its checks are well, as when a member is built.
fn candidacy(settings: &Settings, me: u64) -> Result<Candidacy, Failure> {
    let Options { priority, priorities, witness, voters, .. } = &settings.options;
    let (own, id) = (priority.unwrap_or_default(), NodeId(me));
    let bad = |bad: BadSettings| Err(Failure::Config(with_flags(&bad)));
    let listed = priorities.iter().find(|(of, _)| *of == me).map(|(_, priority)| *priority);
    let priority = match listed {
        Some(listed) if own == 0 || own == listed => listed,
        Some(listed) => return bad(BadSettings::TwoPriorities { id, own, listed }),
        None if own > 0 && matches!(voters, Some(FoundingVoters::Best(_))) => {
            return bad(BadSettings::OwnPriority { id, own });
        }
        None => own,
    };
    Ok(Candidacy { priority, witness: *witness })
}

/// What follows the reason of a refusal.
const NOTHING: &str = "nothing changed";
const KEYS_STAY: &str = "nothing changed, and the keys stay as they were";

/// The refusal of bad settings.
fn bad(failure: Failure, rest: &str) -> NotReloaded {
    let is_bad = matches!(failure, Failure::Config(_) | Failure::Usage(_));
    NotReloaded { why: format!("{failure}; {rest}"), fixed: Vec::new(), bad: is_bad }
}

/// The refusal of settings that are good, and cannot change while the member runs.
fn restart(fixed: Vec<Fixed>) -> NotReloaded {
    let names: Vec<String> = fixed.iter().map(ToString::to_string).collect();
    let (names, fixed) = (names.join(", "), fixed.into_iter().map(|one| one.name).collect());
    let why = format!(
        "{names} cannot change while the member runs, and nothing changed: restart the member, or \
         take that back and reload"
    );
    NotReloaded { why, fixed, bad: false }
}

/// A setting that differs and is fixed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fixed {
    name: String,
    /// What it is, and what it would be; nothing if that may be a secret.
    values: Option<[String; 2]>,
}

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.values {
            Some([old, new]) => write!(f, "{} (from {old} to {new})", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// The settings that differ and are fixed.
fn fixed(old: &Settings, new: &Settings) -> Vec<Fixed> {
    let (before, now) = (&old.given, &new.given);
    let mut all = BTreeSet::new();
    let mut add = |name: &str, values: Option<[String; 2]>| {
        all.insert(Fixed { name: name.to_owned(), values });
    };
    let names: BTreeSet<&String> = before.layer.keys().chain(now.layer.keys()).collect();
    for name in names.into_iter().filter(|name| !IN_PLACE.contains(&name.as_str())) {
        let values = [before.layer.get(name), now.layer.get(name)];
        if !is_same(name, values[0], values[1]) {
            // The line of a shell may have secrets in it.
            let shown = values.map(|values| shown(values.map(|values| values.join(","))));
            add(name, (name != "shell").then_some(shown));
        }
    }
    if old.group != new.group {
        add("group", Some([old.group.clone(), new.group.clone()]));
    }
    if old.command != new.command {
        let program = |all: &Settings| all.command.first().map(|it| it.display().to_string());
        let programs = [program(old), program(new)];
        add("command", (programs[0] != programs[1]).then(|| programs.map(shown)));
    }
    // A group that has a key does not lose it, nor the other way round.
    if old.options.key.is_some() != new.options.key.is_some() {
        let file =
            |all: &Settings| shown(all.options.key.as_ref().map(|it| it.display().to_string()));
        add(KEY, Some([file(old), file(new)]));
    }
    if before.config != now.config {
        let names: BTreeSet<&String> = before.params.keys().chain(now.params.keys()).collect();
        let differ =
            names.into_iter().filter(|name| before.params.get(*name) != now.params.get(*name));
        let differ: Vec<&String> = differ.collect();
        for name in &differ {
            let values = [&before.params, &now.params].map(|all| all.get(*name));
            add(
                &format!("[params] {name}"),
                Some(values.map(|it| shown(it.map(ToString::to_string)))),
            );
        }
        if differ.is_empty() && all.is_empty() {
            all.insert(Fixed { name: "[params]".to_owned(), values: None });
        }
    }
    all.into_iter().collect()
}

/// A value for people, in a few characters.
fn shown(value: Option<String>) -> String {
    let Some(value) = value else { return "nothing".to_owned() };
    match value.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value,
    }
}

/// Whether two texts of a setting mean the same; `None` is its default.
fn is_same(name: &str, one: Option<&Vec<String>>, other: Option<&Vec<String>>) -> bool {
    let meaning = |values: Option<&Vec<String>>| {
        let given = values.map(|values| (name.to_owned(), values.clone()));
        layers::parse(&given.into_iter().collect::<Layer>()).map(|all| format!("{all:?}"))
    };
    one == other || matches!((meaning(one), meaning(other)), (Ok(one), Ok(other)) if one == other)
}

fn setting(name: &str, now: String) -> ChangedSetting {
    ChangedSetting { setting: name.to_owned(), now }
}

/// What differs in these settings themselves; files that they name may differ as well.
fn differences(old: &Settings, new: &Settings, me: u64) -> Vec<ChangedSetting> {
    let texts = |all: &Settings| {
        let Settings { options, permission, .. } = all;
        let commanding = &options.commanding;
        let place = options.serving.http.as_ref();
        [
            ("on-change", shown_hooks(all)),
            ("hook-timeout", options.hooking.hook_timeout.to_string()),
            ("hook-retry", options.hooking.hook_retry.to_string()),
            ("rank", options.rank.unwrap_or(me).to_string()),
            ("priority", options.priority.unwrap_or_default().to_string()),
            ("witness", options.witness.to_string()),
            ("stop-timeout", permission.stop_timeout.to_string()),
            ("stop-signal", shown_signal(commanding.stop_signal)),
            ("restart", commanding.restart.to_string()),
            ("once", options.once.to_string()),
            ("format", shown_format(format_of_changes(all)).to_owned()),
            ("http", place.map_or_else(|| "off".to_owned(), ToString::to_string)),
            ("log", options.logging.form().to_owned()),
            ("log-level", options.logging.level().to_owned()),
        ]
    };
    let both = texts(old).into_iter().zip(texts(new));
    let differ = both.filter(|((_, before), (_, now))| before != now);
    let checks = (old.options.checks != new.options.checks)
        .then(|| setting("check", checks::names(&new.options.checks)));
    differ.map(|(_, (name, now))| setting(name, now)).chain(checks).collect()
}

fn shown_signal(signal: i32) -> String {
    signal_name(signal).map_or_else(|| signal.to_string(), str::to_owned)
}

fn shown_hooks(settings: &Settings) -> String {
    match settings.hooks.as_slice() {
        [] => "nothing".to_owned(),
        hooks => {
            let hooks = hooks.iter().map(|hook| hook.display().to_string());
            hooks.collect::<Vec<_>>().join(", ")
        }
    }
}

fn shown_format(format: Option<TextOrJson>) -> &'static str {
    match format {
        Some(TextOrJson::Text) => "text",
        Some(TextOrJson::Json) => "json",
        None => "text, on the standard error",
    }
}

fn shown_token(settings: &Settings) -> String {
    let file = settings.options.serving.http_token.as_deref();
    file.map_or_else(|| "none".to_owned(), |file| format!("what {} holds", file.display()))
}
