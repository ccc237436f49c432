//! The application's handle of its member.

use crate::builder::Builder;
use crate::control::Server;
use crate::delays::Measured;
use crate::frame::Keyring;
use crate::guard::{Campaign, Guard};
use crate::partition::Partition;
use crate::past::Past;
use crate::request::Request;
use crate::resignation::{Answer, Resigning};
use crate::shared::Shared;
use crate::snapshot::Snapshot;
use crate::status::Status;
use crate::voter_change::VoterChange;
use crate::watch::Watch;
use bellwether_core::{Candidacy, Command, NodeId, Refused};
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
    /// The protocol refused, for this reason.
    Refused(Refused),
    /// There is no member any more.
    Gone,
}

impl fmt::Display for NotNow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(why) => why.fmt(f),
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

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.member.shared
    }

    /// What the member believes now.
    pub fn leadership(&self) -> Snapshot {
        self.shared().see().standing
    }

    /// Whether the member trusts its clock. With a clock that is not trusted it does not lead.
    pub fn trusts_clock(&self) -> bool {
        !self.shared().clock.is_suspect()
    }

    /// How often its clock was found not to be trusted since it was started.
    pub fn clock_faults(&self) -> u64 {
        self.shared().clock.faults()
    }

    /// How long messages have taken since it was started.
    pub fn measured(&self) -> Measured {
        self.shared().delays.read()
    }

    /// What happened to the member in the last time of this length, as far as it remembers, or all
    /// that it remembers: the records of a trace.
    pub fn past(&self, last: Option<bellwether_core::Duration>) -> Past {
        self.shared().past(last)
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
            // The reign may have ended since; then wait on.
            if let Some(guard) = Guard::new(&self.member, seen.standing.reign) {
                return Ok(Some(guard));
            }
        }
    }

    /// Stops leading and stays in the group. Guards are lost at once; this waits until they are
    /// dropped or their deadline has passed (see [`Guard`]).
    ///
    /// With leases other members come first from then on, for the time of the parameter `cooldown`
    /// or until this member's turn comes while nobody leads. So [`wait`](Self::wait) and
    /// [`campaign`](Self::campaign) do not make it lead again before another one has, if another
    /// one can. With other protocols it may lead again at once.
    ///
    /// # Errors
    /// [`NotNow`] if it does not lead.
    pub fn resign(&self) -> Result<(), NotNow> {
        ask_to_resign(self.shared(), None, None)?.wait()
    }

    /// Stops leading in favour of this member, and stays in the group. Guards are lost at once;
    /// this waits until they are dropped or their deadline has passed, and then the other member
    /// leads after one message and a round trip.
    ///
    /// # Errors
    /// [`NotNow`] with the reason if it does not lead, or if that member cannot lead: no guard is
    /// lost then. If it could lead at first and cannot when the guards are gone, this member leads
    /// on, in another reign.
    pub fn transfer(&self, to: NodeId) -> Result<(), NotNow> {
        ask_to_resign(self.shared(), None, Some(to))?.wait()
    }

    /// Whether [`transfer`](Self::transfer) to this member would be refused now. Changes nothing.
    ///
    /// # Errors
    /// [`NotNow`] with the reason.
    pub fn can_transfer(&self, to: NodeId) -> Result<(), NotNow> {
        let (answer, asked) = Asked::new();
        if self.shared().ask(Request::Refusal(Command::Transfer(to), answer)) {
            asked.wait()
        } else {
            Err(NotNow::Gone)
        }
    }

    /// The member with a greater priority that should lead instead of this one, if it leads and
    /// there is such a one: with leases from a majority and the parameters `preempt` and
    /// `preempt-asks`. This member leads on. End what only a leader may do, then
    /// [`transfer`](Self::transfer). Every renewal of the lease may change it; a [`Watch`] wakes
    /// then ([`Watch::fd`]).
    pub fn successor(&self) -> Option<NodeId> {
        self.shared().successor().filter(|_| self.leadership().leads())
    }

    /// The partition that this member belongs to, with local leaders: the members that support its
    /// leader. `None` without a leader, or if its leader has not counted it yet. Every renewal of
    /// the lease may change it; a [`Watch`] wakes then ([`Watch::fd`]).
    pub fn partition(&self) -> Option<Partition> {
        self.shared().see().partition.as_deref().cloned()
    }

    /// Blocks until the partition is another one than this, at most for this time, if one is given;
    /// the partition then.
    pub fn next_partition(
        &self,
        known: Option<&Partition>,
        timeout: Option<Duration>,
    ) -> Option<Partition> {
        let seen = self.shared().wait(timeout, |seen| seen.partition.as_deref() != known);
        seen.partition.as_deref().cloned()
    }

    /// Changes the rank of the member, for protocols that elect by rank.
    ///
    /// # Errors
    /// [`NotNow`] if the protocol does not elect by rank.
    pub fn set_rank(&self, rank: u64) -> Result<(), NotNow> {
        self.command(Command::Rank(rank))
    }

    /// Changes how willing the member is to lead, with leases from a majority: its priority, and
    /// whether it leads at all. A leader leads on, also if it must not lead any more: end what only
    /// a leader may do, then [`resign`](Self::resign). It also holds if this returns
    /// [`Refused::Withdrawn`]: the member takes no part now, and will be as willing as this when it
    /// does again.
    ///
    /// # Errors
    /// [`NotNow`] with the reason; [`Refused::Unsupported`] if the protocol does not ask for it.
    pub fn set_candidacy(&self, candidacy: Candidacy) -> Result<(), NotNow> {
        self.command(Command::Candidacy(candidacy))
    }

    /// Lets this member vote, which follows so far: see [`change_voters`](Self::change_voters).
    ///
    /// # Errors
    /// [`NotNow`] with the reason.
    pub fn add_voter(&self, id: NodeId) -> Result<(), NotNow> {
        self.change_voters(VoterChange::Add(id))
    }

    /// Lets this member vote no longer; it goes on following: see
    /// [`change_voters`](Self::change_voters).
    ///
    /// # Errors
    /// [`NotNow`] with the reason.
    pub fn remove_voter(&self, id: NodeId) -> Result<(), NotNow> {
        self.change_voters(VoterChange::Remove(id))
    }

    /// Lets a member vote instead of another: see [`change_voters`](Self::change_voters).
    ///
    /// # Errors
    /// [`NotNow`] with the reason.
    pub fn replace_voter(&self, old: NodeId, new: NodeId) -> Result<(), NotNow> {
        self.change_voters(VoterChange::Replace { old, new })
    }

    /// Lets locks last for another time, or clocks drift by more or less, in parts per 10⁶; what is
    /// `None` stays as it is: see [`change_voters`](Self::change_voters). The settings of a member
    /// are only the founding values: whoever has a record of a newer list goes by that.
    ///
    /// # Errors
    /// [`NotNow`] with the reason; [`Refused::Lengths`] if a constraint of the parameters would not
    /// hold, with the nearest values that keep all.
    pub fn set_lengths(
        &self,
        lock: Option<bellwether_core::Duration>,
        drift_ppm: Option<u32>,
    ) -> Result<(), NotNow> {
        self.change_voters(VoterChange::Lengths { lock, drift_ppm })
    }

    /// Changes the voters of the group. Only the leader of a group with durable tokens can, one
    /// change at a time.
    ///
    /// It returns once the change has begun. [`Status::voters`] says when the new list is
    /// committed: then the change is durable. A change whose new voter does not answer within four
    /// periods is given up, and so is one whose leader loses its lease before it made the list; the
    /// list stays the same then.
    ///
    /// # Errors
    /// [`NotNow`] with the reason. Nothing has changed.
    pub fn change_voters(&self, change: VoterChange) -> Result<(), NotNow> {
        ask_to_change(self.shared(), change, None)
    }

    /// The same if the present list has this number, which [`Status::voters`] tells: whoever looked
    /// at a list does not change another one.
    ///
    /// # Errors
    /// [`NotNow`] with the reason; [`Refused::Outdated`] with the present number. Nothing has
    /// changed.
    pub fn change_voters_of(&self, list: u64, change: VoterChange) -> Result<(), NotNow> {
        ask_to_change(self.shared(), change, Some(list))
    }

    /// The number of the list of voters that is in force, once it is known: it grows with every
    /// change of the voters, of lockTime and of the drift. [`Status::voters`] has the list.
    pub fn list_of_voters(&self) -> Option<u64> {
        self.shared().list()
    }

    /// Forgets a member that joined while the group ran, and has ended for good: no member of the
    /// group listens to it any more, and another process may join with its id. A member that votes
    /// must be removed from the voters first; founding members are not forgotten.
    ///
    /// # Errors
    /// [`NotNow`] with the reason. Nothing has changed.
    pub fn forget_member(&self, id: NodeId) -> Result<(), NotNow> {
        ask_to_forget(self.shared(), id)
    }

    fn command(&self, command: Command) -> Result<(), NotNow> {
        ask_command(self.shared(), command)
    }

    /// The status of the member.
    ///
    /// # Errors
    /// [`Gone`] if there is no member any more.
    pub fn status(&self) -> Result<Status, Gone> {
        ask_status(self.shared())
    }

    /// Asks the member's thread to show that it runs: it answers as soon as it reads its requests,
    /// which it does in every turn of its event loop. This does not wait.
    ///
    /// # Errors
    /// [`Gone`] if there is no member any more.
    pub fn pulse(&self) -> Result<Receiver<()>, Gone> {
        let (answer, answered) = sync_channel(1);
        if self.shared().ask(Request::Pulse(answer)) { Ok(answered) } else { Err(Gone) }
    }

    /// Uses these keys from now on.
    ///
    /// # Errors
    /// [`Gone`] if there is no member any more.
    pub fn set_keyring(&self, keyring: Keyring) -> Result<(), Gone> {
        if self.shared().ask(Request::Keyring(keyring)) { Ok(()) } else { Err(Gone) }
    }

    /// Leads no longer, and does not tell the others: nobody else leads before the lease has run
    /// out. For an application that cannot end what only a leader may do, so that it must not
    /// [`resign`](Self::resign); `why` is shown to whoever asks. The member takes no part for a
    /// second. To keep it from being elected again, [change its
    /// candidacy](Self::set_candidacy) first. Nothing happens if it does not lead by a lease.
    ///
    /// # Errors
    /// [`Gone`] if there is no member any more.
    pub fn lapse(&self, why: &str) -> Result<(), Gone> {
        if self.shared().ask(Request::Lapse(why.to_owned())) { Ok(()) } else { Err(Gone) }
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
    /// Asks the member's thread to resign; only if this is the current reign, where one is named.
    pub(crate) fn ask_to_resign(&self, reign: Option<u64>) -> Result<Asked, NotNow> {
        ask_to_resign(&self.shared, reign, None)
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

/// Passes a command on to the protocol, and waits for its answer.
pub(crate) fn ask_command(shared: &Shared, command: Command) -> Result<(), NotNow> {
    let (answer, asked) = Asked::new();
    if shared.ask(Request::Command(command, Some(answer))) {
        asked.wait()
    } else {
        Err(NotNow::Gone)
    }
}

/// Asks the member's thread to change the voters, if its list has this number.
pub(crate) fn ask_to_change(
    shared: &Shared,
    change: VoterChange,
    list: Option<u64>,
) -> Result<(), NotNow> {
    let (answer, asked) = Asked::new();
    if shared.ask(Request::Change(change, list, answer)) { asked.wait() } else { Err(NotNow::Gone) }
}

/// Asks the member's thread to forget a member.
pub(crate) fn ask_to_forget(shared: &Shared, id: NodeId) -> Result<(), NotNow> {
    let (answer, asked) = Asked::new();
    if shared.ask(Request::Forget(id, answer)) { asked.wait() } else { Err(NotNow::Gone) }
}

/// Asks the member's thread to resign, in favour of a nominee if one is named; only if this is the
/// current reign, where one is named.
pub(crate) fn ask_to_resign(
    shared: &Shared,
    reign: Option<u64>,
    nominee: Option<NodeId>,
) -> Result<Asked, NotNow> {
    let (answer, asked) = Asked::new();
    let read = shared.ask(Request::Resign(Resigning { reign, nominee, answer: Some(answer) }));
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
            Ok(Err(why)) => Err(NotNow::Refused(why)),
            Err(_) => Err(NotNow::Gone),
        }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.end();
    }
}
