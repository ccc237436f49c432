//! The command that runs while the member leads, as the loop sees it.
//!
//! **Assumptions.** The loop calls [`Worker::lead`], [`Worker::hand_over`] or [`Worker::end`]
//! whenever the lease was renewed.
//!
//! **Promise.** Once [`Worker::is_idle`] says so, nothing of the command is left, and nothing
//! starts it again but [`Worker::lead`]. A command that is to end while its member leads on has its
//! own time for that; if the lease is lost meanwhile, it has no more than any other then.

use super::addresses::Board;
use super::notify::hide;
use super::permission::Permission;
use super::printer::Printer;
use bellwether::core::{Duration, Instant};
use bellwether::net::guardian::{Guardian, Plan, Report};
use bellwether::net::status::AddressState;
use bellwether::net::{LastWill, Snapshot};
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A command that failed is started again after this, then after twice this, and so on.
const REST: Duration = Duration::from_millis(100);
/// No longer than this.
const REST_MAX: Duration = Duration::from_secs(10);

/// How much earlier than needed neighbours are asked, since the loop may be late.
const EARLIER: Duration = Duration::from_millis(1);

/// What a lost guardian left is given so long to end before it counts as what cannot be ended.
const STUCK: Duration = Duration::from_secs(3);

/// Notes for the operator about the command's guardian and about scheduling, for `status`.
#[derive(Clone, Debug)]
pub(super) struct Notes {
    known: Arc<Mutex<Vec<String>>>,
    errors: Printer,
}

impl Notes {
    /// None yet; each is reported to `errors` once.
    pub(super) fn new(errors: Printer) -> Self {
        Self { known: Arc::default(), errors }
    }

    /// All notes.
    pub(super) fn all(&self) -> Vec<String> {
        self.lock().clone()
    }

    /// Writes a line to the standard error.
    pub(super) fn mention(&self, line: &str) {
        self.errors.say(line);
    }

    /// Reports a note on the standard error, if it is new.
    pub(super) fn add(&self, note: &str) {
        let mut notes = self.lock();
        if !notes.iter().any(|known| known == note) {
            notes.push(note.to_owned());
            drop(notes);
            self.errors.say(note);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The command and its guardian.
#[derive(Debug)]
pub(super) struct Worker {
    guardian: Guardian,
    /// The last will of the member, for the next guardian.
    will: Option<LastWill>,
    notes: Notes,
    plan: Plan,
    permission: Permission,
    restart: bool,
    /// Whether it was reported that the guardian is late.
    late: bool,
    /// Whether it was reported that the command runs.
    reported: bool,
    state: State,
    /// Until when the command was last permitted to run.
    permitted: Instant,
    /// The end of another leader's lease before which neighbours were last asked.
    looked: Instant,
    /// How often the member had begun to lead when the command was started.
    reign: u64,
    /// When it is killed, if it is ending: at the latest.
    kill_by: Instant,
    started: Instant,
    rest: Duration,
    /// Why the addresses could not be had, and when.
    failed: Option<(String, Instant)>,
    /// Whether the addresses are set.
    board: Board,
    /// Whether they were set, and are removed, and nobody was told.
    removed: bool,
    /// What the guardian cannot end, if there is something.
    unended: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing runs.
    Idle,
    /// It was permitted to run, and its end was not reported.
    Running,
    /// It was told to end.
    Ending(TimeToEnd),
    /// It ended by itself, and is started again after this.
    Resting(Instant),
}

/// How long a command has that was told to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TimeToEnd {
    /// Its own time, `--stop-timeout`: its member leads meanwhile.
    Own,
    /// `--grace`: its member leads no longer.
    Grace,
    /// None at all.
    Kill,
}

impl State {
    /// Whether a command runs that was started when the member led before: its token may be refused
    /// by now.
    fn is_of_another_reign(self, started_in: u64, snapshot: &Snapshot) -> bool {
        self == Self::Running && snapshot.reign != started_in
    }
}

/// What happened to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It runs, as this process.
    Started(u32),
    /// It was told to end, and nothing of it is left.
    Ended {
        /// Whether it took all the time that it had, so that it was killed.
        killed: bool,
    },
    /// It ended by itself in this way, and so does the member, with this code.
    Done(String, u8),
    /// It ended by itself in this way, and is started again after this time.
    Again(String, Duration),
    /// It cannot be started: why.
    NotStarted(String),
    /// The addresses are set: which.
    AddressTaken(String),
    /// Somebody had removed addresses, and they are set again: which.
    AddressRestored(String),
    /// Somebody else has an address: who.
    AddressInUse { who: String, was_set: bool },
    /// The addresses cannot be had, and none is set: why, if it was not said lately.
    AddressFailed(Option<String>),
    /// The guardian was lost, and the command with it; there is a new one.
    Lost {
        /// Whether it did not answer in time, rather than ended.
        silent: bool,
    },
}

impl Fate {
    /// Its name, for metrics.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Started(_) => "started",
            Self::Ended { killed: false } => "ended",
            Self::Ended { killed: true } => "killed",
            Self::Done(..) => "exited",
            Self::Again(..) => "restarting",
            Self::NotStarted(_) => "not-started",
            Self::AddressTaken(_) => "address-taken",
            Self::AddressRestored(_) => "address-set-again",
            Self::AddressInUse { .. } => "address-in-use",
            Self::AddressFailed(_) => "address-failed",
            Self::Lost { .. } => "lost",
        }
    }
}

/// The command that becomes a guardian, under this name: the same program, even if it was replaced.
pub(super) fn guard(name: &str) -> Command {
    let mut command = Command::new("/proc/self/exe");
    hide(&mut command).arg0(name).arg("guard");
    command
}

/// Starts a guardian; it is ready when this returns.
fn guardian(plan: &Plan, notes: &Notes, will: Option<&LastWill>) -> io::Result<Guardian> {
    let guardian = Guardian::spawn(guard("bellwether-watchdog"), plan, will)?;
    guardian.notes().iter().for_each(|note| notes.add(note));
    Ok(guardian)
}

impl Worker {
    /// Starts the guardian, but not the command.
    pub(super) fn new(
        plan: Plan,
        permission: Permission,
        restart: bool,
        notes: Notes,
        will: Option<LastWill>,
    ) -> io::Result<Self> {
        let guardian = guardian(&plan, &notes, will.as_ref())?;
        let board = Board::new(&plan.addresses);
        Ok(Self {
            guardian,
            will,
            notes,
            plan,
            permission,
            restart,
            late: false,
            reported: false,
            state: State::Idle,
            permitted: Instant::ZERO,
            looked: Instant::ZERO,
            reign: 0,
            kill_by: Instant::NEVER,
            started: Instant::ZERO,
            rest: REST,
            failed: None,
            board,
            removed: false,
            unended: None,
        })
    }

    /// Changes how the command is ended, and whether it is started again. What is ending already
    /// ends as it began to.
    pub(super) fn set(&mut self, stop_timeout: Duration, stop_signal: i32, restart: bool) {
        (self.permission.stop_timeout, self.restart) = (stop_timeout, restart);
        if std::mem::replace(&mut self.plan.stop_signal, stop_signal) != stop_signal {
            // If it is lost, its report says so, and the next one has the plan.
            let _ = self.guardian.set_stop_signal(stop_signal);
        }
    }

    /// The notes about the guardian.
    pub(super) fn notes(&self) -> Notes {
        self.notes.clone()
    }

    /// Whether there is a command, and not only addresses or a file.
    pub(super) fn has_command(&self) -> bool {
        !self.plan.program.is_empty()
    }

    /// Whether the addresses are set, for clients.
    pub(super) fn board(&self) -> Board {
        self.board.clone()
    }

    /// What cannot be ended although it must be, if there is something.
    pub(super) fn stuck(&self, now: Instant) -> Option<&str> {
        let losing = self.guardian.losing().filter(|since| now.since(*since) >= STUCK);
        let unknown = || losing.map(|_| "something that its guardian left cannot be ended");
        self.unended.as_deref().or_else(unknown)
    }

    /// The addresses that were set and are removed, once.
    pub(super) fn take_removed(&mut self) -> Option<String> {
        std::mem::take(&mut self.removed).then(|| self.board.names())
    }

    /// Readable when the guardian may have reported something.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.guardian.fd()
    }

    /// Whether nothing of the command is left.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.state, State::Idle | State::Resting(_))
    }

    /// The member leads: permits the command to run as long as its lease allows.
    pub(super) fn lead(&mut self, snapshot: &Snapshot) {
        if self.state.is_of_another_reign(self.reign, snapshot) {
            return self.end(snapshot.at);
        }
        let due = match self.state {
            State::Running | State::Idle => true,
            State::Resting(over) => snapshot.at >= over,
            State::Ending(_) => false,
        };
        if !due || !self.permit(snapshot) {
            return;
        }
        if self.state != State::Running {
            self.started = snapshot.at;
            self.reign = snapshot.reign;
        }
        self.state = State::Running;
    }

    /// Permits the command to run, or to end, as long as the lease allows; whether that is longer
    /// than before.
    fn permit(&mut self, snapshot: &Snapshot) -> bool {
        let until = self.permission.until(snapshot, self.permitted);
        // The same permission twice says nothing new; if it was too short to start with, it still
        // is.
        if until == self.permitted {
            return false;
        }
        self.permitted = until;
        let _ = self.guardian.permit(until, snapshot.term); // if it is lost, its report says so
        true
    }

    /// The member follows, or looks for a leader: has the neighbours asked for the addresses if the
    /// leader is not heard any more, so that less of that is left if this member leads next.
    pub(super) fn follow(&mut self, snapshot: &Snapshot) {
        if snapshot.at >= self.looks_at(snapshot) {
            self.looked = snapshot.until;
            let within = snapshot.until.since(snapshot.at) + self.plan.probe * 2;
            let _ = self.guardian.look(within); // if it is lost, its report says so
        }
    }

    /// When to ask, if the leader is not heard before. It removes the addresses when the margin is
    /// left of its lease, and answers until then; asking takes a while from then on.
    fn looks_at(&self, snapshot: &Snapshot) -> Instant {
        let until = snapshot.until;
        let needs_none = snapshot.leads() || self.plan.addresses.is_empty();
        if needs_none || until == Instant::NEVER || until == self.looked {
            return Instant::NEVER;
        }
        until - (self.plan.probe + self.permission.margin + EARLIER)
    }

    /// The member leads, and is to hand over once nothing of the command is left: asks the command
    /// to end in its own time, which it has as long as the lease is renewed. Returns whether this
    /// was the first time.
    pub(super) fn hand_over(&mut self, snapshot: &Snapshot) -> bool {
        let begins = self.state == State::Running;
        if begins && snapshot.reign != self.reign {
            self.end(snapshot.at);
            return false;
        }
        self.stop(TimeToEnd::Own, snapshot.at);
        if self.state == State::Ending(TimeToEnd::Own) {
            if snapshot.reign == self.reign {
                self.permit(snapshot);
            } else {
                self.end(snapshot.at); // that lease was lost
            }
        }
        begins
    }

    /// The member leads no longer: ends the command before its lease is over.
    pub(super) fn end(&mut self, now: Instant) {
        self.stop(TimeToEnd::Grace, now);
    }

    /// Ends the command at once.
    pub(super) fn kill(&mut self, now: Instant) {
        self.stop(TimeToEnd::Kill, now);
    }

    /// Tells the command to end, unless it has no more time than that already.
    fn stop(&mut self, time: TimeToEnd, now: Instant) {
        match self.state {
            State::Running => self.kill_by = Instant::NEVER,
            State::Ending(former) if former < time => {}
            State::Resting(_) => {
                self.state = State::Idle;
                return;
            }
            State::Idle | State::Ending(_) => return,
        }
        let within = match time {
            TimeToEnd::Own => self.permission.stop_timeout,
            TimeToEnd::Grace => self.permission.grace,
            TimeToEnd::Kill => Duration::ZERO,
        };
        self.state = State::Ending(time);
        self.kill_by = self.kill_by.min(now + within);
        let _ = self.guardian.stop(within); // if it is lost, its report says so
    }

    /// When a command that is ending is killed at the latest; never, if none is ending.
    pub(super) fn kill_by(&self) -> Instant {
        if matches!(self.state, State::Ending(_)) { self.kill_by } else { Instant::NEVER }
    }

    /// How long the command has to end while the member leads.
    pub(super) fn stop_timeout(&self) -> Duration {
        self.permission.stop_timeout
    }

    /// Whether a command is ending in its own time.
    pub(super) fn takes_its_time(&self) -> bool {
        self.state == State::Ending(TimeToEnd::Own)
    }

    /// Passes a signal on.
    pub(super) fn signal(&mut self, signal: i32) {
        if matches!(self.state, State::Running | State::Ending(_)) {
            let _ = self.guardian.signal(signal); // if it is lost, its report says so
        }
    }

    /// What happened to the command, if anything. To be called until it returns nothing.
    ///
    /// # Errors
    /// If the guardian is lost and no other can be started.
    pub(super) fn news(&mut self, now: Instant) -> io::Result<Option<Fate>> {
        while let Some(report) = self.guardian.poll(now) {
            let ended_by_itself = self.state == State::Running;
            if let Some(fate) = self.begun(&report) {
                return Ok(Some(fate));
            }
            if let Report::Unended { what } = report {
                self.unended = Some(what);
                continue;
            }
            if report != Report::Ended {
                self.permitted = Instant::ZERO; // there was time enough to run
            }
            let killed = now >= self.kill_by();
            self.state = State::Idle;
            self.note_removal(&report);
            self.unended = None;
            let was_reported = std::mem::take(&mut self.reported);
            let (how, code) = match report {
                Report::AddressFailed { error } => {
                    return Ok(Some(Fate::AddressFailed(self.news_of(error, now))));
                }
                Report::Lost => {
                    let silent = self.guardian.fell_silent();
                    self.guardian = guardian(&self.plan, &self.notes, self.will.as_ref())?;
                    return Ok(Some(Fate::Lost { silent }));
                }
                Report::NotStarted { error } => return Ok(Some(Fate::NotStarted(error))),
                Report::Exited { code } => (format!("exited with code {code}"), code),
                Report::Signalled { signal } => {
                    (format!("was ended by signal {signal}"), 128 + signal)
                }
                _ => (String::new(), 0), // it was ended
            };
            if !ended_by_itself || how.is_empty() {
                if was_reported {
                    return Ok(Some(Fate::Ended { killed }));
                }
                continue; // it was ended before it began
            }
            let code = u8::try_from(code).unwrap_or(u8::MAX);
            let fate =
                if self.restart { Fate::Again(how, self.rest(now)) } else { Fate::Done(how, code) };
            return Ok(Some(fate));
        }
        self.note_delay();
        Ok(None)
    }

    /// A report on a run that goes on.
    fn begun(&mut self, report: &Report) -> Option<Fate> {
        match report {
            Report::Started { pid } => {
                self.reported = true;
                Some(Fate::Started(*pid))
            }
            Report::AddressTaken => {
                self.board.note(AddressState::Set, None);
                Some(Fate::AddressTaken(self.board.names()))
            }
            Report::AddressRestored { which } => Some(Fate::AddressRestored(which.clone())),
            Report::AddressInUse { who } => {
                let former = self.board.note(AddressState::InUse, Some(who.clone()));
                Some(Fate::AddressInUse { who: who.clone(), was_set: former == AddressState::Set })
            }
            _ => None,
        }
    }

    /// A run is over, and with it the addresses are gone.
    fn note_removal(&mut self, report: &Report) {
        let former = match report {
            Report::AddressFailed { error } => {
                self.board.note(AddressState::Failed, Some(error.clone()))
            }
            _ => self.board.note(AddressState::NotSet, None),
        };
        self.removed |= former == AddressState::Set;
    }

    /// An error, unless it was the last one and that is not long ago: a member that is elected
    /// again and again would say it each time.
    fn news_of(&mut self, error: String, now: Instant) -> Option<String> {
        let last = self.failed.replace((error.clone(), now));
        let again = last.is_some_and(|(last, at)| last == error && now.since(at) < REST_MAX);
        (!again).then_some(error)
    }

    /// Reports once if the guardian is later than the margin allows for.
    fn note_delay(&mut self) {
        if !self.late && self.guardian.delay() > Duration::ZERO {
            self.late = true;
            self.notes.add(&format!(
                "the guardian was {} late, more than half of --margin {}: the command is ended \
                 earlier from now on, but may outlive its lease if the delay grows; take load off \
                 this machine, or choose a longer lease and --margin",
                self.guardian.delay(),
                self.plan.margin
            ));
        }
    }

    /// Waits before the next start: the longer, the more often it failed in a row.
    fn rest(&mut self, now: Instant) -> Duration {
        if now.since(self.started) >= REST_MAX {
            self.rest = REST;
        }
        let rest = self.rest;
        self.rest = (rest * 2).min(REST_MAX);
        self.state = State::Resting(now + rest);
        rest
    }

    /// When to look again, if nothing happens before.
    pub(super) fn poll_timeout(&self, snapshot: &Snapshot) -> Instant {
        let leading = match self.state {
            State::Resting(over) if over > snapshot.at => over,
            State::Resting(_) | State::Running | State::Ending(TimeToEnd::Own) => {
                self.permission.again(snapshot)
            }
            State::Idle | State::Ending(_) => Instant::NEVER,
        };
        self.guardian.poll_timeout().min(leading).min(self.looks_at(snapshot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether::core::{NodeId, Stage, Term};

    #[test]
    fn a_command_runs_in_one_reign_in_which_the_token_may_rise() {
        let leads = |reign, term| Snapshot {
            me: NodeId(1),
            leaders: vec![NodeId(1)],
            term: Term::new(term),
            term_kept: true,
            reign,
            until: Instant::NEVER,
            stage: Stage::Decided,
            withdrawn: None,
            at: Instant::ZERO,
        };
        assert!(!State::Running.is_of_another_reign(3, &leads(3, 8)));
        assert!(!State::Running.is_of_another_reign(3, &leads(3, 9)), "the token rose");
        assert!(State::Running.is_of_another_reign(3, &leads(4, 9)), "it leads again");
        assert!(!State::Idle.is_of_another_reign(3, &leads(4, 9)), "nothing runs");
    }
}
