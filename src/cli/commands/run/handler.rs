//! Answers requests at the control socket, and passes on what the loop has to do.
//!
//! **Promise.** It also answers before the member has joined, and then says so.

use super::addresses::Board;
use super::checks::Findings;
use super::counts::Counts;
use super::hooks::Tally;
use super::printer::Printer;
use super::reload::Reloads;
use super::settings::Settings;
use super::worker::Notes;
use bellwether::core::{Instant, NodeId, Refused};
use bellwether::net::WakeFd;
use bellwether::net::clock::{BootTime, Clock};
use bellwether::net::control::{Change, ChangeStream, ChangedSetting, ControlHandler};
use bellwether::net::control::{NotReloaded, WatchEvent};
use bellwether::net::keys::{BadKeyStep, KeyReport, KeyStep, Keys};
use bellwether::net::status::{HandingOver, NO_CANDIDATE, Status};
use bellwether::net::{Election, LastWill, Next, NotNow, Past, Snapshot, VoterChange, Watch};
use bellwether_http::{HttpHandler, Tallies};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// How long a client waits for the end of a command and for hooks before it is told that this is
/// under way.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most requests that wait for an answer.
const WAITING_MAX: usize = 32;
/// How often a watching client checks whether the member has joined.
const LOOK: Duration = Duration::from_millis(50);

/// A request to resign.
#[derive(Debug)]
pub(super) struct Resigning {
    /// The member that should lead next, if one is named.
    pub(super) nominee: Option<NodeId>,
    /// Where the answer goes, if somebody asked.
    pub(super) reply: Option<SyncSender<Result<(), String>>>,
}

/// A hand-over that waits for something while the member leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UnderWay {
    /// Who leads next, if a member is named.
    pub(super) nominee: Option<NodeId>,
    /// When the command is killed, or until when hooks are waited for.
    pub(super) by: Instant,
    pub(super) waits_for: WaitsFor,
}

/// What a hand-over waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitsFor {
    /// The end of the command.
    Command,
    /// There is no command, but addresses or a file that are being removed.
    Removal,
    /// What hooks do, which is last.
    Hooks,
}

/// What clients are told about a hand-over that is under way, if one is.
#[derive(Clone, Debug, Default)]
pub(super) struct HandOver(Arc<Mutex<Option<UnderWay>>>);

impl HandOver {
    /// From now on it is this, or nothing.
    pub(super) fn tell(&self, under_way: Option<UnderWay>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = under_way;
    }

    fn status(&self) -> Option<HandingOver> {
        let UnderWay { nominee, by, waits_for } =
            (*self.0.lock().unwrap_or_else(PoisonError::into_inner))?;
        Some(HandingOver {
            to: nominee.map(|id| id.0),
            within_ms: by.since(BootTime.now()).as_secs_f64() * 1e3,
            without_command: waits_for == WaitsFor::Removal,
            hooks: waits_for == WaitsFor::Hooks,
        })
    }
}

/// What clients are told about something of a former run that cannot be ended, if there is.
#[derive(Clone, Debug, Default)]
pub(super) struct Unended(Arc<Mutex<Option<String>>>);

impl Unended {
    /// From now on it is this, or nothing; returns whether that differs.
    pub(super) fn tell(&self, what: Option<&str>) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let differs = known.as_deref() != what;
        if differs {
            *known = what.map(str::to_owned);
        }
        differs
    }

    fn why_not(&self) -> Option<String> {
        let what = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        Some(format!("does not lead while something is left of when it led: {what}"))
    }
}

/// The state that the answering threads share.
#[derive(Debug)]
pub(super) struct RunHandler {
    group: String,
    /// The name of the member, if it has one.
    name: Option<String>,
    joined: Arc<OnceLock<Election>>,
    hooks: OnceLock<Tally>,
    guardian: OnceLock<Counts>,
    checks: OnceLock<Findings>,
    addresses: OnceLock<Board>,
    notes: OnceLock<Notes>,
    /// The member's last will, which is not sent before what was told is over.
    will: Arc<OnceLock<LastWill>>,
    resignations: SyncSender<Resigning>,
    waker: WakeFd,
    printers: Vec<Printer>,
    hand_over: HandOver,
    unended: Unended,
    reloads: OnceLock<Reloads>,
    keys: OnceLock<Keys>,
}

impl RunHandler {
    /// The handler of a member that is yet to join, and where requests to resign arrive; each wakes
    /// the loop.
    pub(super) fn new(
        settings: &Settings,
        waker: WakeFd,
        printers: Vec<Printer>,
    ) -> (Self, Receiver<Resigning>) {
        let (resignations, asked) = sync_channel(WAITING_MAX);
        let handler = Self {
            group: settings.group.clone(),
            name: settings.options.name.clone(),
            joined: Arc::default(),
            hooks: OnceLock::new(),
            guardian: OnceLock::new(),
            checks: OnceLock::new(),
            addresses: OnceLock::new(),
            notes: OnceLock::new(),
            will: Arc::default(),
            resignations,
            waker,
            printers,
            hand_over: HandOver::default(),
            unended: Unended::default(),
            reloads: OnceLock::new(),
            keys: OnceLock::new(),
        };
        (handler, asked)
    }

    /// Where the loop notes what clients are told about a hand-over.
    pub(super) fn told_of_hand_over(&self) -> HandOver {
        self.hand_over.clone()
    }

    /// Where the loop notes what cannot be ended.
    pub(super) fn told_of_unended(&self) -> Unended {
        self.unended.clone()
    }

    /// The member has joined.
    pub(super) fn open(
        &self,
        election: Election,
        (hooks, guardian, checks): (Tally, Counts, Findings),
        notes: Notes,
        will: Option<LastWill>,
    ) {
        let _ = self.hooks.set(hooks); // it joins only once
        let _ = self.guardian.set(guardian);
        let _ = self.checks.set(checks);
        let _ = self.notes.set(notes);
        let _ = will.map(|will| self.will.set(will));
        let _ = self.joined.set(election);
    }

    /// The member looks after addresses.
    pub(super) fn show_addresses(&self, board: Board) {
        let _ = self.addresses.set(board); // there is one
    }

    /// From now on these read the settings again, and look after keys.
    pub(super) fn reload_by(&self, reloads: Reloads, keys: Keys) {
        let _ = self.reloads.set(reloads); // there is one
        let _ = self.keys.set(keys);
    }

    fn election(&self) -> Result<&Election, String> {
        self.joined.get().ok_or_else(|| {
            format!("the member is joining {}: it takes no part yet; ask again soon", self.group)
        })
    }
}

impl ControlHandler for RunHandler {
    fn status(&self) -> Result<Status, String> {
        let election = self.election()?;
        let mut status = election.status().map_err(|gone| gone.to_string())?;
        // Its lease may be longer by now, but not shorter than what the status says.
        note_told(self.will.get(), &election.leadership());
        status.warnings.extend(self.hooks.get().into_iter().flat_map(Tally::warnings));
        let notes: Vec<String> = self.notes.get().into_iter().flat_map(Notes::all).collect();
        let new = notes.into_iter().filter(|note| !status.warnings.contains(note));
        let new: Vec<String> = new.collect();
        status.warnings.extend(new);
        status.warnings.extend(self.printers.iter().filter_map(Printer::warning));
        status.name.clone_from(&self.name);
        status.checks = self.checks.get().map(Findings::all).unwrap_or_default();
        let failing = status.checks.iter().filter(|check| !check.up);
        let failing: Vec<String> = failing.map(|check| format!("check {check}")).collect();
        status.warnings.extend(failing);
        let unended = self.unended.why_not();
        self.explain_candidacy(&mut status.why, unended.clone());
        status.warnings.extend(unended);
        if let Some(board) = self.addresses.get() {
            status.addresses = board.all();
            let trouble = board.trouble();
            status.why.extend(trouble.clone());
            status.warnings.extend(trouble);
        }
        status.handing_over = self.hand_over.status();
        if let Some(handing_over) = &status.handing_over {
            status.why.push(handing_over.to_string());
        }
        Ok(status)
    }

    fn resign(&self) -> Result<(), String> {
        self.election()?;
        self.ask_to_hand_over(None)
    }

    /// A nominee that cannot lead is refused before the command is ended.
    fn transfer(&self, to: NodeId) -> Result<(), String> {
        let election = self.election()?;
        refused(election, election.can_transfer(to))?;
        self.ask_to_hand_over(Some(to))
    }

    fn change_voters(&self, change: VoterChange, list: Option<u64>) -> Result<(), String> {
        let election = self.election()?;
        let changed = match list {
            Some(list) => election.change_voters_of(list, change),
            None => election.change_voters(change),
        };
        refused(election, changed)
    }

    fn forget(&self, id: NodeId) -> Result<(), String> {
        self.election()?.forget_member(id).map_err(|not_now| not_now.to_string())
    }

    fn reload(&self) -> Result<Vec<ChangedSetting>, NotReloaded> {
        self.election()?;
        let reloads = self.reloads.get().ok_or_else(|| "the member is starting".to_owned())?;
        reloads.wait()
    }

    fn keys(&self, step: KeyStep, force: bool) -> Result<KeyReport, BadKeyStep> {
        self.election()?;
        self.keys.get().ok_or_else(|| "the member is starting".to_owned())?.take(step, force)
    }

    fn past(&self, last: Option<bellwether::core::Duration>) -> Result<Past, String> {
        Ok(self.election()?.past(last).noting(self.will.get()))
    }

    fn watch(&self) -> Box<dyn ChangeStream> {
        let (joined, will) = (Arc::clone(&self.joined), Arc::clone(&self.will));
        Box::new(Window { group: self.group.clone(), joined, will, watch: None })
    }
}

/// What HTTP answers besides. The last will is not sent before what was told is over.
impl HttpHandler for RunHandler {
    fn group(&self) -> &str {
        &self.group
    }

    fn standing(&self) -> Result<Snapshot, String> {
        let standing = self.election()?.leadership();
        self.note(&standing);
        Ok(standing)
    }

    fn note(&self, standing: &Snapshot) {
        note_told(self.will.get(), standing);
    }

    fn changes(&self) -> Option<Watch> {
        self.joined.get().map(Election::watch)
    }

    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn unready(&self) -> Option<String> {
        self.checks.get().and_then(Findings::why_not).or_else(|| self.unended.why_not())
    }

    fn tallies(&self) -> Tallies {
        let mut tallies = Tallies::default();
        if let Some(election) = self.joined.get() {
            tallies.clock_trusted = election.trusts_clock();
            tallies.clock_faults = election.clock_faults();
            tallies.measured = election.measured();
        }
        tallies.hooks = self.hooks.get().map(Tally::counts).unwrap_or_default();
        tallies.notify = self.hooks.get().map(Tally::lines).unwrap_or_default();
        tallies.guardian = self.guardian.get().map(Counts::all).unwrap_or_default();
        tallies
    }
}

impl RunHandler {
    /// Puts the reasons why it does not lead in the place of what the library can say.
    fn explain_candidacy(&self, why: &mut Vec<String>, unended: Option<String>) {
        let reasons: Vec<String> =
            self.checks.get().and_then(Findings::why_not).into_iter().chain(unended).collect();
        if let Some(place) = why.iter().position(|why| why == NO_CANDIDATE) {
            why.remove(place);
            if reasons.is_empty() {
                // Its settings were read again.
                why.push("is a witness, which votes and never leads".to_owned());
            }
        }
        why.extend(reasons);
    }

    /// Has the loop end the command and call hooks, and the member resign.
    fn ask_to_hand_over(&self, nominee: Option<NodeId>) -> Result<(), String> {
        let (reply, replied) = sync_channel(1);
        match self.resignations.try_send(Resigning { nominee, reply: Some(reply) }) {
            Ok(()) => self.waker.wake(),
            Err(TrySendError::Full(_)) => return Err("it is being asked already".to_owned()),
            Err(TrySendError::Disconnected(_)) => return Err("it ends".to_owned()),
        }
        match replied.recv_timeout(PATIENCE) {
            Ok(done) => done,
            Err(RecvTimeoutError::Disconnected) => Err("it ends".to_owned()),
            Err(RecvTimeoutError::Timeout) => {
                Err("it is under way: the command is still ending, or hooks have yet to return, \
                     and the member hands over after that; `bellwether status` tells more"
                    .to_owned())
            }
        }
    }
}

/// The reason of a refusal in a sentence; whom to ask, if another one leads.
pub(super) fn refused(election: &Election, answer: Result<(), NotNow>) -> Result<(), String> {
    answer.map_err(|not_now| {
        let belief = election.leadership();
        let leader = belief.leaders.first().filter(|leader| **leader != belief.me);
        match (not_now, leader) {
            (NotNow::Refused(Refused::NotLeading), Some(leader)) => {
                format!("it follows {leader}: ask that one")
            }
            (not_now, _) => not_now.to_string(),
        }
    })
}

/// A watching client.
#[derive(Debug)]
struct Window {
    group: String,
    joined: Arc<OnceLock<Election>>,
    will: Arc<OnceLock<LastWill>>,
    watch: Option<Watch>,
}

/// Notes that somebody outside is about to be told this: if it leads, until when.
pub(super) fn note_told(will: Option<&LastWill>, snapshot: &Snapshot) {
    if let Some(will) = will.filter(|_| snapshot.leads()) {
        will.told(snapshot.until);
    }
}

impl ChangeStream for Window {
    fn next(&mut self, within: Duration) -> WatchEvent {
        if self.watch.is_none() {
            self.watch = self.joined.get().map(Election::watch);
        }
        let Some(watch) = &mut self.watch else {
            std::thread::sleep(within.min(LOOK));
            return WatchEvent::Nothing;
        };
        match watch.next_within(Some(within)) {
            Next::Changed(snapshot) => {
                note_told(self.will.get(), &snapshot);
                WatchEvent::Change(Change::of(&self.group, &snapshot))
            }
            Next::Prolonged(_) | Next::Nothing => WatchEvent::Nothing,
            Next::Ended => WatchEvent::Ended,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_that_has_not_joined_says_so() {
        let settings = Settings::of_text("group = \"web\"").unwrap();
        let waker = WakeFd::new().unwrap();
        let (handler, _resignations) = RunHandler::new(&settings, waker, Vec::new());
        let joining = "the member is joining web: it takes no part yet; ask again soon";
        assert_eq!(handler.status().unwrap_err(), joining);
        assert_eq!(handler.resign().unwrap_err(), joining);
        assert_eq!(handler.transfer(NodeId(2)).unwrap_err(), joining);
        let change = VoterChange::Add(NodeId(2));
        assert_eq!(handler.change_voters(change, None).unwrap_err(), joining);
        assert_eq!(handler.watch().next(Duration::ZERO), WatchEvent::Nothing);
    }
}
