//! The command that runs while the member leads, as the loop sees it.
//!
//! **Promise.** Once [`Worker::is_idle`] says so, nothing of the command is left, and nothing
//! starts it again but [`Worker::lead`].

use super::permission::Permission;
use super::printer::Printer;
use bellwether::core::{Duration, Instant};
use bellwether::net::guardian::{Guardian, Plan, Report};
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
    /// How often the member had begun to lead when the command was started.
    reign: u64,
    started: Instant,
    rest: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing runs.
    Idle,
    /// It was permitted to run, and its end was not reported.
    Running,
    /// It was told to end.
    Ending,
    /// It ended by itself, and is started again after this.
    Resting(Instant),
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
    Ended,
    /// It ended by itself in this way, and so does the member, with this code.
    Done(String, u8),
    /// It ended by itself in this way, and is started again after this time.
    Again(String, Duration),
    /// It cannot be started: why.
    NotStarted(String),
    /// The guardian was lost, and the command with it; there is a new one.
    Lost {
        /// Whether it did not answer in time, rather than ended.
        silent: bool,
    },
}

/// The command that becomes a guardian, under this name: the same program, even if it was replaced.
pub(super) fn guard(name: &str) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0(name).arg("guard");
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
            reign: 0,
            started: Instant::ZERO,
            rest: REST,
        })
    }

    /// The notes about the guardian.
    pub(super) fn notes(&self) -> Notes {
        self.notes.clone()
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
            return self.end();
        }
        let until = self.permission.until(snapshot, self.permitted);
        let due = match self.state {
            State::Running | State::Idle => true,
            State::Resting(over) => snapshot.at >= over,
            State::Ending => false,
        };
        // The same permission twice says nothing new; if it was too short to start with, it still
        // is.
        if !due || until == self.permitted {
            return;
        }
        if self.state != State::Running {
            self.started = snapshot.at;
            self.reign = snapshot.reign;
        }
        self.state = State::Running;
        self.permitted = until;
        let _ = self.guardian.permit(until, snapshot.term); // if it is lost, its report says so
    }

    /// The member leads no longer, or will not: ends the command.
    pub(super) fn end(&mut self) {
        match self.state {
            State::Running => {
                self.state = State::Ending;
                let _ = self.guardian.stop(); // if it is lost, its report says so
            }
            State::Resting(_) => self.state = State::Idle,
            State::Idle | State::Ending => {}
        }
    }

    /// Passes a signal on.
    pub(super) fn signal(&mut self, signal: i32) {
        if self.state == State::Running {
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
            if !matches!(report, Report::Started { .. } | Report::Ended) {
                self.permitted = Instant::ZERO; // there was time enough to run
            }
            if let Report::Started { pid } = report {
                self.reported = true;
                return Ok(Some(Fate::Started(pid)));
            }
            self.state = State::Idle;
            let was_reported = std::mem::take(&mut self.reported);
            let (how, code) = match report {
                Report::Started { .. } | Report::Ended => (String::new(), 0),
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
            };
            if !ended_by_itself || how.is_empty() {
                if was_reported {
                    return Ok(Some(Fate::Ended));
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
            State::Resting(_) | State::Running => self.permission.again(snapshot),
            State::Idle | State::Ending => Instant::NEVER,
        };
        self.guardian.poll_timeout().min(leading)
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
