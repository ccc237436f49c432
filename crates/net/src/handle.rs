//! The application's handle of its member.

use crate::builder::Builder;
use crate::control::Server;
use crate::frame::Keyring;
use crate::guard::{Campaign, Guard};
use crate::resignation::Answer;
use crate::shared::{Request, Shared};
use crate::snapshot::Snapshot;
use crate::status::Status;
use crate::watch::Watch;
use bellwether_core::{Command, Refused};
use std::fmt;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// A member of a group. It is a candidate from [`join`](Builder::join) until
/// [`leave`](Self::leave), or until the last clone of this handle and the last guard are dropped.
///
/// The member runs on a thread of its own. Every answer about leadership uses the time of the
/// question, so a stopped thread cannot prolong a lease.
#[derive(Clone)]
pub struct Election {
    member: Arc<Member>,
}

/// Stops the member when the last handle, guard or campaign is dropped.
pub(crate) struct Member {
    pub(crate) shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Answers other processes until the member has ended, if the settings say so.
    server: Mutex<Option<Server>>,
}

/// The member's thread has ended: it left, or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the member has left its group")
    }
}

impl std::error::Error for Gone {}

/// Why a request was not granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotNow {
    /// The protocol cannot do that now.
    Refused,
    /// There is no member any more.
    Gone,
}

impl fmt::Display for NotNow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused => Refused.fmt(f),
            Self::Gone => Gone.fmt(f),
        }
    }
}

impl std::error::Error for NotNow {}

impl From<Gone> for NotNow {
    fn from(_gone: Gone) -> Self {
        Self::Gone
    }
}

impl Election {
    /// Begins the settings of a member of this group.
    pub fn builder(group: &str) -> Builder {
        Builder::new(group)
    }

    pub(crate) fn new(shared: Arc<Shared>, thread: JoinHandle<()>, server: Option<Server>) -> Self {
        let (thread, server) = (Mutex::new(Some(thread)), Mutex::new(server));
        Self { member: Arc::new(Member { shared, thread, server }) }
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.member.shared
    }

    /// What the member believes now.
    pub fn leadership(&self) -> Snapshot {
        self.shared().see().standing
    }

    /// A stream of what the member believes, beginning with the present.
    pub fn watch(&self) -> Watch {
        Watch::new(Arc::clone(self.shared()))
    }

    /// Waits until the member leads. The member is always a candidate; this also asks the protocol
    /// to campaign at once, where it can. Dropping the future only stops the waiting.
    pub fn campaign(&self) -> Campaign {
        // A protocol may refuse; then it campaigns at a time of its own.
        self.shared().ask(Request::Command(Command::Campaign, None));
        Campaign::new(Arc::clone(&self.member))
    }

    /// Blocks until the member leads; `None` if the timeout passed first.
    ///
    /// # Errors
    /// [`Gone`] if there is no member any more.
    pub fn wait(&self, timeout: Option<Duration>) -> Result<Option<Guard>, Gone> {
        self.shared().ask(Request::Command(Command::Campaign, None));
        let limit = timeout.map(|timeout| self.shared().later(timeout));
        loop {
            let left = limit.map(|limit| self.shared().until(limit));
            let seen = self.shared().wait(left, |seen| seen.standing.leads());
            if seen.ended {
                return Err(Gone);
            }
            if !seen.standing.leads() {
                return Ok(None);
            }
            // The tenure may have ended since; then wait on.
            if let Some(guard) = Guard::new(&self.member, seen.standing.tenure) {
                return Ok(Some(guard));
            }
        }
    }

    /// Stops leading and stays in the group. Guards are lost at once; this waits until they are
    /// dropped or their deadline has passed (see [`Guard`]).
    ///
    /// Other members come first only until this member campaigns again. [`wait`](Self::wait) and
    /// [`campaign`](Self::campaign) campaign at once, and the first candidate usually wins. To let
    /// another member lead, wait until one does before calling them.
    ///
    /// # Errors
    /// [`NotNow`] if it does not lead.
    pub fn resign(&self) -> Result<(), NotNow> {
        self.member.ask_to_resign(None)?.wait()
    }

    /// Changes the rank of the member, for protocols that elect by rank.
    ///
    /// # Errors
    /// [`NotNow`] if the protocol does not elect by rank.
    pub fn set_rank(&self, rank: u64) -> Result<(), NotNow> {
        self.command(Command::Rank(rank))
    }

    fn command(&self, command: Command) -> Result<(), NotNow> {
        let (answer, asked) = Asked::new();
        if self.shared().ask(Request::Command(command, Some(answer))) {
            asked.wait()
        } else {
            Err(NotNow::Gone)
        }
    }

    /// The status of the member.
    ///
    /// # Errors
    /// [`Gone`] if there is no member any more.
    pub fn status(&self) -> Result<Status, Gone> {
        ask_status(self.shared())
    }

    /// Uses these keys from now on.
    ///
    /// # Errors
    /// [`Gone`] if there is no member any more.
    pub fn set_keyring(&self, keyring: Keyring) -> Result<(), Gone> {
        if self.shared().ask(Request::Keyring(keyring)) { Ok(()) } else { Err(Gone) }
    }

    /// Why the member has ended, if it did not leave: which rule was broken, and what to do.
    ///
    /// Rules that safety rests on are checked in every step. A member that finds one broken stops
    /// leading at once, then ends; all later requests are answered with [`Gone`].
    pub fn failure(&self) -> Option<String> {
        self.shared().failure()
    }

    /// Leaves the group. A leader resigns first, and this waits until the others are told. Guards
    /// are lost at once; the member leaves when they are dropped or their deadline has passed (see
    /// [`Guard`]).
    pub fn leave(&self) {
        self.member.end();
    }
}

impl fmt::Debug for Election {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Election").field(&self.leadership()).finish()
    }
}

impl Member {
    /// Asks the member's thread to resign; only if this is the current tenure, where one is named.
    pub(crate) fn ask_to_resign(&self, tenure: Option<u64>) -> Result<Asked, NotNow> {
        ask_to_resign(&self.shared, tenure)
    }

    fn end(&self) {
        self.shared.ask(Request::Stop);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        match thread {
            // A waker that the member's thread calls may drop the last handle there.
            Some(thread) if thread.thread().id() == std::thread::current().id() => {}
            // A thread that panicked has ended too, and its end was reported.
            Some(thread) => drop(thread.join()),
            None => drop(self.shared.wait(None, |seen| seen.ended)),
        }
        drop(self.server.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// The status of the member.
pub(crate) fn ask_status(shared: &Shared) -> Result<Status, Gone> {
    let (answer, answered) = sync_channel(1);
    if !shared.ask(Request::Status(answer)) {
        return Err(Gone);
    }
    answered.recv().map(|status| *status).map_err(|_| Gone)
}

/// Asks the member's thread to resign; only if this is the current tenure, where one is named.
pub(crate) fn ask_to_resign(shared: &Shared, tenure: Option<u64>) -> Result<Asked, NotNow> {
    let (answer, asked) = Asked::new();
    let read = shared.ask(Request::Resign(tenure, Some(answer)));
    if read { Ok(asked) } else { Err(NotNow::Gone) }
}

/// An answer that will come.
pub(crate) struct Asked(Receiver<Result<(), Refused>>);

impl Asked {
    fn new() -> (Answer, Self) {
        let (answer, answered) = sync_channel(1);
        (answer, Self(answered))
    }

    /// Waits for it.
    pub(crate) fn wait(self) -> Result<(), NotNow> {
        match self.0.recv() {
            Ok(Ok(())) => Ok(()),
            Ok(Err(Refused)) => Err(NotNow::Refused),
            Err(_) => Err(NotNow::Gone),
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.end();
    }
}
