//! The event loop of `bellwether run`: signals, changes, the guardian, requests and deadlines.
//!
//! **Assumptions.** The guardian ends a command whose permission is not extended.
//!
//! **Promise.** A command is gone before the leadership that it needs is given up: the member
//! resigns or ends only when the command is idle. Until then it leads, and the command has its own
//! time to end, unless the lease is lost meanwhile or a second signal asks for the end. Then hooks
//! are told, and it leads on until they have returned or their time is over, under the same two
//! conditions. The loop itself goes on meanwhile: it does not stand still for readers, hooks or the
//! member's thread. If a command was ended because its
//! permission was not extended, and the member still leads, it is permitted again at once; if the
//! loop is held up for longer than the permission lasts, the member resigns ([`Overdue`]).

use super::checks::Checks;
use super::complaints::Complaints;
use super::counts::Counts;
use super::errands::{self, Errands};
use super::handler::{HandOver, Resigning, UnderWay, Unended, WaitsFor, note_told};
use super::hooks::Hooks;
use super::log::Level;
use super::notify::Notifier;
use super::overdue::Overdue;
use super::permission::WITHOUT_LEASE;
use super::printer::Printer;
use super::reload::{Applied, Reloads};
use super::without_command::Keeper;
use super::worker::{Fate, Worker};
use crate::cli::output::TextOrJson;
use crate::cli::output::change;
use crate::cli::signals::{Asked, Signals};
use bellwether::core::{Candidacy, Duration, Instant, NodeId, Stage};
use bellwether::net::WakeFd;
use bellwether::net::clock::{BootTime, Clock};
use bellwether::net::control::Change;
use bellwether::net::{Election, LastWill, Next, Snapshot, Watch};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::sync::mpsc::Receiver;

/// Not elected in time.
pub(super) const NOT_ELECTED: u8 = 124;
/// Leadership was lost, with --once.
pub(super) const LOST: u8 = 75;
/// The command is there, but cannot be started; and: it is not there.
const NOT_STARTED: u8 = 126;
const NOT_FOUND: u8 = 127;
/// How long the end waits until the member has answered a request to resign.
const PATIENCE: Duration = Duration::from_millis(1_000);
/// How long the end waits, beyond any grace, for a command that SIGKILL does not end.
const UNKILLABLE: Duration = Duration::from_secs(5);

/// A leader that could not hand over to a better member tries again after this, if it has a command
/// or hooks: each attempt ends the command, and calls the hooks twice.
const HEED_AGAIN: Duration = Duration::from_secs(10);

/// The state of the loop.
pub(super) struct Supervisor {
    pub(super) group: String,
    pub(super) election: Election,
    pub(super) watch: Watch,
    pub(super) signals: Signals,
    /// Signals that came before the loop began.
    pub(super) early: Vec<Asked>,
    pub(super) waker: WakeFd,
    pub(super) resignations: Receiver<Resigning>,
    pub(super) errands: Errands,
    pub(super) hooks: Hooks,
    pub(super) printer: Option<(Printer, TextOrJson)>,
    pub(super) errors: Printer,
    /// Tells the service manager.
    pub(super) notifier: Notifier,
    pub(super) worker: Option<Worker>,
    /// Its guardian, if there is no command.
    pub(super) keeper: Option<Keeper>,
    /// The member's last will, if a guardian keeps it.
    pub(super) will: Option<LastWill>,
    /// Makes the member resign if the loop is held up, if there is a command.
    pub(super) overdue: Option<Overdue>,
    /// What happened to the command and its guardian.
    pub(super) counts: Counts,
    /// Reads the settings again, and what comes of it.
    pub(super) reloads: Reloads,
    pub(super) applied: Receiver<Applied>,
    pub(super) complaints: Complaints,
    /// The deadline by which it must lead, if there is one.
    pub(super) deadline: Option<(Instant, Duration)>,
    pub(super) once: bool,
    /// Whether it has led.
    pub(super) led: bool,
    /// The last change, if there was one.
    pub(super) last: Option<Snapshot>,
    /// The number of the list of voters, once it was known.
    pub(super) list: Option<u64>,
    /// The requests that wait until it has resigned.
    pub(super) resigning: Vec<Resigning>,
    /// What clients are told about a hand-over that waits for the command or hooks.
    pub(super) hand_over: HandOver,
    pub(super) checks: Checks,
    pub(super) willing: Willing,
    /// The reign in which it last began to hand over to a better member, until when it rests, and
    /// the end of its lease then: it tries again after a renewal.
    pub(super) heeded: Option<(u64, Instant, Instant)>,
    /// How many signals asked it to end.
    pub(super) asked_to_end: u32,
    /// The exit code, if it is to end once the command is gone.
    pub(super) ending: Option<u8>,
    /// Since when it is to end and nothing of the command is left.
    pub(super) free_since: Option<Instant>,
}

/// How willing to lead the member is, as the loop last passed it on.
#[derive(Debug)]
pub(super) struct Willing {
    /// What the member was told.
    stands: Candidacy,
    /// Whether a check kept it from leading then.
    forbade: bool,
    /// What clients are told about what cannot be ended.
    unended: Unended,
    /// The reign in which it was last told to lead no longer for that.
    lapsed: Option<u64>,
}

impl Willing {
    /// As it begins: before the first run of any check, which may be over by now.
    pub(super) fn new(stands: Candidacy, unended: Unended) -> Self {
        Self { stands, forbade: false, unended, lapsed: None }
    }
}

impl Supervisor {
    /// Runs the loop until the end; the exit code.
    pub(super) fn run(mut self) -> io::Result<u8> {
        loop {
            let early = std::mem::take(&mut self.early);
            for asked in early.into_iter().chain(self.signals.pending()) {
                self.signalled(asked);
            }
            self.hear_changes();
            self.hear_worker();
            self.keeper.iter_mut().for_each(Keeper::look);
            self.waker.clear();
            self.take_over_settings();
            self.resigning.extend(self.resignations.try_iter());
            if self.printer.as_ref().is_some_and(|(printer, _)| printer.is_closed()) {
                self.end_with(0); // as any program does whose reader has gone
            }
            // Read before what it believes: then that shows what a resignation that is over did.
            let resigns = self.errands.is_resigning();
            let late = self.overdue.as_ref().map_or(0, Overdue::count);
            let snapshot = self.election.leadership();
            self.judge(&snapshot);
            self.look_at_list();
            self.heed_checks(&snapshot);
            self.heed_successor(&snapshot);
            if self.complaints.is_due(&snapshot) {
                self.errands.explain();
            }
            if !resigns {
                self.stay(&snapshot);
            }
            if let Some(code) = self.act(&snapshot, resigns, late) {
                return Ok(self.finish(code));
            }
            self.sleep(&snapshot)?;
        }
    }

    fn end_with(&mut self, code: u8) {
        if self.ending.is_none() {
            let own = self.worker.as_ref().map_or(Duration::ZERO, Worker::stop_timeout);
            self.notifier.stopping(own + self.hooks.longest());
        }
        self.ending.get_or_insert(code);
    }

    fn signalled(&mut self, asked: Asked) {
        match asked {
            Asked::End => {
                self.asked_to_end = self.asked_to_end.saturating_add(1);
                self.end_with(0);
            }
            Asked::Reload => self.reloads.begin(),
            Asked::Forward(signal) => {
                if let Some(worker) = &mut self.worker {
                    worker.signal(signal);
                }
            }
        }
    }

    fn hear_changes(&mut self) {
        loop {
            match self.watch.try_next() {
                Next::Changed(snapshot) => self.tell(&snapshot),
                Next::Prolonged(_) => {}
                Next::Nothing => return,
                Next::Ended => {
                    if self.ending.is_none() {
                        let failure = self.election.failure();
                        self.errors.say(failure.as_deref().unwrap_or("the member has ended"));
                    }
                    return self.end_with(1);
                }
            }
        }
    }

    fn tell(&mut self, snapshot: &Snapshot) {
        note_told(self.will.as_ref(), snapshot);
        let seen = Change::of(&self.group, snapshot);
        let led = self.last.as_ref().is_some_and(Snapshot::leads);
        let lost = if led && !snapshot.leads() { "; it leads no longer" } else { "" };
        let text = change::text(&seen) + lost;
        match &self.printer {
            Some((printer, TextOrJson::Json)) => printer.print(&change::json(&seen)),
            Some((printer, TextOrJson::Text)) => printer.print(&text),
            None => self.errors.log(Level::Info, &text),
        }
        if self.printer.is_some() && self.errors.logs_changes() {
            self.errors.log(Level::Info, &text);
        }
        self.notifier.changed(&seen);
        self.hooks.tell(&seen, snapshot.reign, self.checks.forbid());
        self.last = Some(snapshot.clone());
    }

    fn hear_worker(&mut self) {
        while let Some(worker) = &mut self.worker {
            let news = worker.news(BootTime.now());
            let removed = worker.take_removed();
            let more = !matches!(news, Ok(None));
            match news {
                Ok(None) => {}
                Ok(Some(fate)) => self.tell_fate(fate),
                Err(error) => {
                    self.note(&format!("the guardian was lost, and no other starts: {error}"));
                    self.worker = None; // all that it guarded has ended
                    self.end_with(1);
                }
            }
            if let Some(which) = removed {
                self.counts.add("address-removed");
                self.note(&format!("{which}: removed"));
            }
            if !more {
                return;
            }
        }
    }

    /// Reports what happened to the command, and acts on it.
    fn tell_fate(&mut self, fate: Fate) {
        self.counts.add(fate.name());
        match fate {
            Fate::Started(pid) => self.note(&format!("the command runs as process {pid}")),
            Fate::Ended { killed: false } => self.note("the command was ended"),
            Fate::Ended { killed: true } => {
                self.note("the command did not end in time, and was killed");
            }
            Fate::Done(how, code) => {
                self.note(&format!("the command {how}; the member leaves"));
                self.end_with(code);
            }
            Fate::Again(how, rest) => {
                self.note(&format!("the command {how}; it is started again in {rest}"));
            }
            Fate::NotStarted(error) => {
                self.note(&format!("cannot start the command: {error}"));
                let missing = error.contains("No such file");
                self.end_with(if missing { NOT_FOUND } else { NOT_STARTED });
            }
            Fate::AddressTaken(which) => self.note(&format!("{which}: set and announced")),
            Fate::AddressRestored(which) => {
                self.note(&format!("{which}: somebody removed it; set again"));
            }
            Fate::AddressInUse { who, was_set } => {
                let removed = if was_set { "removed again, and " } else { "" };
                self.note(&format!(
                    "{who}: it is {removed}not set while somebody else has it; it is asked for \
                     again, and if it stays so the member resigns"
                ));
            }
            // Somebody else may be able to set it.
            Fate::AddressFailed(error) => {
                if let Some(error) = error {
                    self.note(&format!(
                        "the member has no address to lead with: {error}; it resigns"
                    ));
                }
                self.errands.resign(Vec::new());
            }
            // One line for each guardian that was killed. On a machine that stands still there
            // may be more: one that does not answer in time is killed, because it may be stopped.
            Fate::Lost { silent } => {
                let why = if silent { ": it did not answer in time, and was killed" } else { "" };
                let what = match self.worker.as_ref().is_some_and(Worker::has_command) {
                    true => "the command",
                    false => "what it guarded",
                };
                self.note(&format!("the guardian was lost{why}, and {what} with it; it resigns"));
                self.errands.resign(Vec::new()); // it may not lead any more
            }
        }
    }

    /// Reports who votes if the list of voters has changed. Which one it begins with is no change.
    fn look_at_list(&mut self) {
        let list = self.election.list_of_voters();
        if list != self.list {
            if self.list.is_some() {
                self.errands.tell_voters();
            }
            self.list = list;
        }
    }

    /// Writes a line for the operator, with the time.
    fn note(&self, line: &str) {
        self.errors.say(&format!("{} {line}", change::stamp(BootTime.now())));
    }

    /// Decides whether it has to end.
    fn judge(&mut self, snapshot: &Snapshot) {
        if snapshot.leads() {
            self.led = true;
        } else if self.led && self.once && self.ending.is_none() {
            self.errors.say("it leads no longer");
            self.end_with(LOST);
        }
        if let Some((deadline, within)) = self.deadline
            && !self.led
            && snapshot.at >= deadline
            && self.ending.is_none()
        {
            self.errands.tell_not_elected(within);
            self.end_with(NOT_ELECTED);
        }
    }

    /// Passes on what the checks have found, and begins to hand over if one forbids it to lead.
    fn heed_checks(&mut self, snapshot: &Snapshot) {
        let (wanted, forbid) = (self.checks.candidacy(), self.checks.forbid());
        let stuck = self.heed_what_cannot_be_ended(snapshot);
        let stands = Candidacy { witness: wanted.witness || stuck.is_some(), ..wanted };
        if stands != self.willing.stands {
            self.errands.stand(stands);
            self.willing.stands = stands;
        }
        if let Some(what) = stuck.filter(|_| snapshot.leads())
            && self.willing.lapsed.replace(snapshot.reign) != Some(snapshot.reign)
        {
            self.errands.lapse(&what);
        }
        if forbid != self.willing.forbade {
            self.willing.forbade = forbid;
            if let Some(last) = self.last.as_ref().filter(|last| !last.leads()) {
                self.hooks.tell(&Change::of(&self.group, last), last.reign, forbid);
            }
        }
        // Also if the settings make it a witness.
        if wanted.witness && snapshot.leads() && self.is_idle() && self.ending.is_none() {
            self.resigning.push(Resigning { nominee: None, reply: None });
        }
    }

    /// What cannot be ended, if there is something. Told once, and when it is over.
    fn heed_what_cannot_be_ended(&self, snapshot: &Snapshot) -> Option<String> {
        let stuck = self.worker.as_ref().and_then(|worker| worker.stuck(snapshot.at));
        if self.willing.unended.tell(stuck) {
            self.note(&match stuck {
                Some(what) => format!(
                    "{what}; it is tried again. Until then the member does not lead, and if it \
                     does now, its lease runs out"
                ),
                None => "nothing is left of when the member led: it may lead again".to_owned(),
            });
        }
        stuck.map(str::to_owned)
    }

    /// Whether nobody has asked it to hand over.
    fn is_idle(&self) -> bool {
        self.resigning.is_empty() && !self.errands.is_resigning()
    }

    /// Begins to hand over to a better member that should lead instead of this one.
    fn heed_successor(&mut self, snapshot: &Snapshot) {
        let Snapshot { at, until, .. } = *snapshot;
        let renews = until != Instant::NEVER;
        let rests = |(reign, over, lease)| {
            reign == snapshot.reign && (at < over || renews && until == lease)
        };
        if self.is_idle() && self.ending.is_none() && !self.heeded.is_some_and(rests) {
            let Some(nominee) = self.election.successor() else { return };
            let disturbs = self.worker.is_some() || self.hooks.longest() > Duration::ZERO;
            let over = if disturbs || !renews { at + HEED_AGAIN } else { at };
            self.heeded = Some((snapshot.reign, over, until));
            self.resigning.push(Resigning { nominee: Some(nominee), reply: None });
        }
    }

    /// Does what can be done now; the exit code, if that was the last.
    fn act(&mut self, snapshot: &Snapshot, resigns: bool, late: u64) -> Option<u8> {
        let ending = self.tend_command(snapshot, resigns, late);
        let is_busy = self.worker.as_ref().is_some_and(|worker| !worker.is_idle());
        let hooks = if is_busy { None } else { self.waits_for_hooks(snapshot) };
        let waits = is_busy || hooks.is_some();
        let (nominee, waits_for) = (self.nominee(), WaitsFor::Hooks);
        self.hand_over.tell(hooks.map(|by| UnderWay { nominee, by, waits_for }).or(ending));
        if is_busy {
            self.abandon_what_cannot_be_ended(snapshot);
        }
        if waits {
            return None;
        }
        if !self.resigning.is_empty() {
            self.errands.resign(std::mem::take(&mut self.resigning));
        }
        let code = self.ending?;
        let since = *self.free_since.get_or_insert(snapshot.at);
        // A request to resign is answered first, if the member's thread can answer.
        let asks = self.errands.is_resigning() || self.errands.is_ending();
        let answers = asks && snapshot.at < since + PATIENCE;
        (!answers).then_some(code)
    }

    /// Tells the hooks of a leader that is to hand over, and of whose command nothing is left;
    /// until when it waits for them. Not if it leads no longer, or is asked a second time to end.
    fn waits_for_hooks(&self, snapshot: &Snapshot) -> Option<Instant> {
        let ends = self.ending.is_some();
        let hands_over = ends || !self.resigning.is_empty();
        if !hands_over || !snapshot.leads() || self.asked_to_end > 1 {
            return None;
        }
        let gone = || Snapshot {
            leaders: Vec::new(),
            term: None,
            until: Instant::NEVER,
            stage: Stage::Undecided,
            ..snapshot.clone()
        };
        let change = || Change::of(&self.group, &gone());
        self.hooks.take_leave(change, snapshot.reign, (ends, self.checks.forbid()))
    }

    /// Tells the hooks of a member that was to hand over and leads on, because it was refused.
    fn stay(&self, snapshot: &Snapshot) {
        if snapshot.leads() && self.is_idle() && self.ending.is_none() {
            self.hooks.stay(|| Change::of(&self.group, snapshot), snapshot.reign);
        }
    }

    /// Who leads next, if a member is named.
    fn nominee(&self) -> Option<NodeId> {
        self.resigning.iter().rev().find_map(|asked| asked.nominee)
    }

    /// Permits the command to run, or has it end: in its own time as long as the member leads; what
    /// clients are told of that. `resigns` and `late` are from before the snapshot: whether the
    /// member was resigning, and how often the loop had been late.
    fn tend_command(&mut self, snapshot: &Snapshot, resigns: bool, late: u64) -> Option<UnderWay> {
        let nominee = self.nominee();
        let worker = self.worker.as_mut()?;
        let resigns = resigns || !self.resigning.is_empty() || self.errands.is_resigning();
        let wanted = self.ending.is_none() && !resigns;
        let until = match snapshot.until {
            _ if !snapshot.leads() || !wanted && worker.is_idle() => Instant::NEVER,
            Instant::NEVER => snapshot.at + WITHOUT_LEASE,
            until => until,
        };
        let in_time = self.overdue.as_ref().is_none_or(|overdue| overdue.expect(until, late));
        let mut begins = false;
        if !snapshot.leads() || !in_time {
            worker.end(snapshot.at);
            if !self.willing.stands.witness {
                worker.follow(snapshot); // a witness does not lead next
            }
        } else if wanted {
            worker.lead(snapshot);
        } else {
            begins = worker.hand_over(snapshot);
        }
        if self.asked_to_end > 1 {
            worker.kill(snapshot.at);
        }
        let (by, has_command) = (worker.kill_by(), worker.has_command());
        let waits_for = if has_command { WaitsFor::Command } else { WaitsFor::Removal };
        let under_way = UnderWay { nominee, by, waits_for };
        let under_way = worker.takes_its_time().then_some(under_way);
        if begins && has_command {
            let left = by.since(snapshot.at);
            self.note(&format!("the command has {left} to end; then the member hands over"));
        }
        under_way
    }

    /// Ends this process without leaving the group if something of the command cannot be killed:
    /// then nobody else leads before the lease has run out.
    fn abandon_what_cannot_be_ended(&mut self, snapshot: &Snapshot) {
        let hands_over = self.ending.is_some() || !self.resigning.is_empty();
        if hands_over && snapshot.at >= self.gives_up_at() {
            self.errors.say(
                "a process of the command cannot be killed, or an address cannot be removed: the \
                 member ends without handing over, and its lease runs out",
            );
            self.errors.clone().end();
            std::process::exit(1);
        }
    }

    /// Until when the end waits for a command that was killed; for ever, if none was.
    fn gives_up_at(&self) -> Instant {
        match self.worker.as_ref().map_or(Instant::NEVER, Worker::kill_by) {
            Instant::NEVER => Instant::NEVER,
            by => by + UNKILLABLE,
        }
    }

    /// Waits until there is something to do.
    fn sleep(&mut self, snapshot: &Snapshot) -> io::Result<()> {
        let worker = self.worker.as_ref();
        let mut wake = worker.map_or(Instant::NEVER, |worker| worker.poll_timeout(snapshot));
        if let Some((deadline, _)) = self.deadline.filter(|_| !self.led) {
            wake = wake.min(deadline);
        }
        if snapshot.leads() {
            wake = wake.min(snapshot.until);
        }
        wake = wake.min(self.complaints.next());
        wake = wake.min(self.hooks.waited_for_until());
        if self.ending.is_some() {
            let answered = self.free_since.map_or(Instant::NEVER, |since| since + PATIENCE);
            wake = wake.min(answered);
        }
        if self.ending.is_some() || !self.resigning.is_empty() {
            wake = wake.min(self.gives_up_at());
        }
        let left = std::time::Duration::from_nanos(wake.since(BootTime.now()).as_nanos());
        let timeout = (wake != Instant::NEVER).then(|| Timespec::try_from(left).ok()).flatten();
        let watch = self.watch.fd()?;
        let mut fds = vec![
            PollFd::new(&self.signals, PollFlags::IN),
            PollFd::new(&self.waker, PollFlags::IN),
            PollFd::from_borrowed_fd(watch, PollFlags::IN),
        ];
        fds.extend(worker.map(|worker| PollFd::from_borrowed_fd(worker.fd(), PollFlags::IN)));
        let keeper = self.keeper.as_ref().and_then(Keeper::fd);
        fds.extend(keeper.map(|keeper| PollFd::from_borrowed_fd(keeper, PollFlags::IN)));
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Hands over and says goodbye; nothing of the command is left by now.
    fn finish(self, code: u8) -> u8 {
        if let Some((_, within)) = self.deadline.filter(|_| self.errands.is_ending()) {
            // The member's thread did not say why in time.
            self.errors.say(&errands::not_elected(within, None));
        }
        let leads = self.election.leadership().leads();
        drop(self.overdue);
        self.errands.leave();
        let snapshot = self.election.leadership();
        let last = Change::of(&self.group, &snapshot);
        let left = if leads { "handed over and left" } else { "left" };
        let line = format!("member {} {left} {}", snapshot.me, self.group);
        self.errors.log(Level::Info, &format!("{} {line}", change::stamp(BootTime.now())));
        drop((self.worker, self.keeper, self.checks));
        self.hooks.end(last, snapshot.reign);
        if let Some((printer, _)) = self.printer {
            printer.end();
        }
        self.notifier.end();
        code
    }
}
