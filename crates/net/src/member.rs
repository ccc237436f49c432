//! The event loop: one thread that owns the sockets, the clock and the protocol.
//!
//! **What it owes.** What the contract says ([`bellwether_core`], "The run loop"), and one thing
//! more: the application is told what the member believes *before* the messages of the same step
//! are sent. So a leader that resigns knows it before another member can lead.
//!
//! **Promise.** No datagram makes it panic or wait. A datagram without the group's key changes a
//! counter and nothing else; an unknown process that has it may ask to join (`joins`). A member
//! *withdraws* if it hears from a member with another list or other parameters, unless a majority
//! agrees with it and none with the other, or more do (`beacon`); or if it hears from another
//! process with its own id, or if its clock cannot be trusted: it takes no part, says so, and
//! returns with a new incarnation once that is over. So one mistyped list stops one member, and of
//! two lists that could each have a leader at most the one with more members goes on.

use crate::directory::Directory;
use crate::disputes::Disputes;
use crate::entrusting::Entrusted;
use crate::frame::{Counters, DropReason, FrameOpener, Kind, LAST, Opened, Sealer, Session};
use crate::joins::Joins;
use crate::life::Life;
use crate::multicast::Multicast;
use crate::outbox::Outbox;
use crate::randomness;
use crate::recorder::Recorder;
use crate::request::Request;
use crate::resignation::Resignation;
use crate::scheduling::Scheduling;
use crate::settings::Settings;
use crate::shared::Shared;
use crate::socket::{BATCH, Sockets};
use crate::state::State;
use crate::status::Traffic;
use crate::withdrawal::{Reason, Withdrawal};
use bellwether_core::{
    Boot, Command, Duration, Fact, Instant, LifeHeader, Memory, NodeId, Refused, SimTime, to_hex,
};
use std::any::Any;
use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A member of a group, on its own thread.
pub(crate) struct Member {
    pub(crate) settings: Settings,
    pub(crate) shared: Arc<Shared>,
    pub(crate) sockets: Sockets,
    pub(crate) directory: Directory,
    pub(crate) sealer: Sealer,
    pub(crate) opener: FrameOpener,
    pub(crate) state: State,
    pub(crate) joins: Joins,
    pub(crate) recorder: Recorder,
    pub(crate) entrusted: Entrusted,
    /// Who hears whom by multicast, if the group has an address for that.
    pub(crate) multicast: Option<Multicast>,
    /// The running protocol, unless the member has withdrawn.
    pub(crate) life: Option<Life>,
    pub(crate) withdrawal: Option<Withdrawal>,
    pub(crate) incarnation: u64,
    next_check: Instant,
    pub(crate) next_beacon: Instant,
    pub(crate) next_question: Instant,
    /// Where in the list of voters the next question of an observer goes.
    pub(crate) questions: usize,
    /// The last clock reading: time does not go back.
    pub(crate) now: Instant,
    /// When the member's belief last changed, and how often it has.
    pub(crate) since: Instant,
    pub(crate) changes: u64,
    pub(crate) counters: Counters,
    /// How many last wills were received, without their copies.
    pub(crate) wills: u64,
    pub(crate) traffic: Traffic,
    pub(crate) recent_drops: VecDeque<RecentDrop>,
    /// The addresses of conflicting members, and those that get one beacon each.
    pub(crate) opponents: BTreeSet<SocketAddr>,
    pub(crate) suspects: BTreeSet<SocketAddr>,
    pub(crate) disputes: Disputes,
    /// A resignation under way.
    pub(crate) resignation: Option<Resignation>,
    pub(crate) scheduling: Scheduling,
    /// An error that does not stop the member.
    pub(crate) warning: Option<String>,
    pub(crate) body: Vec<u8>,
    pub(crate) outbox: Outbox,
}

/// The parts of a member.
pub(crate) struct Parts {
    pub(crate) settings: Settings,
    pub(crate) shared: Arc<Shared>,
    pub(crate) sockets: Sockets,
    pub(crate) directory: Directory,
    pub(crate) state: State,
    pub(crate) joins: Joins,
    pub(crate) recorder: Recorder,
}

/// A dropped datagram.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecentDrop {
    pub(crate) at: Instant,
    pub(crate) from: SocketAddr,
    pub(crate) reason: DropReason,
}

/// How many dropped datagrams are remembered.
pub(crate) const RECENT_DROPS: usize = 8;
/// How often silent members are forgotten, and the protocol is asked for later incarnations.
const CHECK: Duration = Duration::from_millis(100);
/// The most timers that fire in a row before other inputs are served.
const TIMERS: usize = 64;

/// Beginning and ending.
impl Member {
    /// A member in this incarnation. It withdraws first if a promise of a `former` one may still
    /// bind.
    pub(crate) fn new(
        parts: Parts,
        (incarnation, session): (u64, Session),
        former: Option<Duration>,
    ) -> Self {
        let Parts { settings, shared, sockets, directory, state, joins, recorder } = parts;
        let (group, me, keyring) = (&settings.group, settings.me, &settings.keyring);
        let digest = settings.digest();
        let now = shared.now();
        let scheduling = Scheduling::new(settings.program.leases.map(|leases| leases.scheduling));
        let mut member = Self {
            sealer: Sealer::new(group, me, incarnation, session, digest, keyring),
            opener: FrameOpener::new(group, me, incarnation, session, digest, keyring),
            recorder,
            entrusted: settings.last_will.clone().into(),
            multicast: settings
                .multicast
                .map(|group| Multicast::new(group, settings.program.leases)),
            settings,
            shared,
            sockets,
            directory,
            state,
            joins,
            life: None,
            withdrawal: None,
            incarnation,
            next_check: now,
            next_beacon: now,
            next_question: now,
            questions: 0,
            now,
            since: now,
            changes: 0,
            counters: Counters::default(),
            wills: 0,
            traffic: Traffic::default(),
            recent_drops: VecDeque::new(),
            opponents: BTreeSet::new(),
            suspects: BTreeSet::new(),
            disputes: Disputes::default(),
            resignation: None,
            scheduling,
            warning: None,
            body: Vec::new(),
            outbox: Outbox::default(),
        };
        if let Some(length) = former {
            member.withdraw(Reason::Promise(length));
        } else if let Some(problem) = member.directory.unclear() {
            member.withdraw(Reason::Names(problem));
        }
        member
    }

    /// Runs until it is asked to stop, or a rule that safety rests on is broken.
    ///
    /// Such a rule is asserted in release builds too. The step that breaks it ends there: nothing
    /// of it is stored, told or sent. Leadership ends first, then the member, and the application
    /// is told which rule it was. Until then it relies on what earlier steps told, which was true.
    pub(crate) fn run(mut self) {
        self.scheduling.raise();
        let whole = AssertUnwindSafe(|| {
            if self.withdrawal.is_none() {
                self.begin();
            }
            while self.turn() {}
        });
        let failure = catch_unwind(whole).err().map(|panic| broken_rule(&*panic));
        self.shared.end(failure);
    }

    pub(crate) fn begin(&mut self) {
        let now = self.read();
        self.entrust(now);
        let memory = self.state.memory();
        let seed = randomness::number().unwrap_or_else(|_| now.as_nanos());
        let boot = Boot {
            me: self.settings.me,
            incarnation: self.incarnation,
            rank: self.settings.rank,
            candidacy: self.settings.candidacy,
            // A first incarnation cannot be told from one whose state was lost.
            memory: memory.as_deref().map_or(Memory::Lost, Memory::Kept),
        };
        let head = LifeHeader {
            boot: boot_id(),
            group: self.settings.group.clone(),
            protocol: self.settings.program.name.to_owned(),
            params: self.settings.program.params.clone(),
            incarnation: self.incarnation,
            rank: self.settings.rank,
            candidacy: self.settings.candidacy,
            members: self.directory.members(),
            founders: self.directory.founders().map(<[NodeId]>::to_vec),
            seed,
            memory: memory.as_deref().map(to_hex),
            work: self.settings.work.map(|since| SimTime::from_nanos(since.as_nanos())),
        };
        self.recorder.begin(now, head);
        let (program, peers) = (&self.settings.program, self.directory.view());
        self.life = Some(Life::begin(program, boot, seed, peers, now));
        self.finish(now);
    }

    /// Begins a new incarnation, with its own number and session.
    fn begin_again(&mut self) {
        self.opponents.clear();
        let begun = self.state.begin_again(self.settings.binds());
        let (incarnation, session) = match (begun, Session::draw()) {
            (Ok(incarnation), Ok(session)) => (incarnation, session),
            (Err(error), _) => return self.withdraw(Reason::Disk(error.to_string())),
            (_, Err(error)) => return self.withdraw(Reason::Disk(error.to_string())),
        };
        let Settings { group, me, keyring, .. } = &self.settings;
        let digest = self.settings.digest();
        self.sealer = Sealer::new(group, *me, incarnation, session, digest, keyring);
        self.opener.set_life(incarnation, session);
        if let Some(multicast) = &mut self.multicast {
            multicast.begin_again();
        }
        self.incarnation = incarnation;
        self.withdrawal = None;
        self.begin();
    }

    /// Withdraws: the member takes no part for a while.
    ///
    /// It sends nothing: its promises and those of its supporters expire by themselves. If it
    /// released its supporters, another member could lead while the application's work as a leader
    /// is still being ended.
    pub(crate) fn withdraw(&mut self, why: Reason) {
        let now = self.read();
        let until = now + why.lasts();
        self.life = None;
        let before = self.withdrawal.take();
        let until = before.as_ref().map_or(until, |before| before.until.max(until));
        let (why, told) = match before.filter(|before| before.why.is_like(&why)) {
            Some(before) => (before.why, before.told),
            None => {
                self.recorder.withdraw(now, why.word());
                let text = self.reason(&why, now);
                self.tell_withdrawn(&text, now);
                self.changed(now);
                (why, text)
            }
        };
        self.withdrawal = Some(Withdrawal { why, until, told });
    }

    /// Ends this incarnation, if it runs. The protocol may send a last message.
    pub(crate) fn leave(&mut self, now: Instant) {
        if self.life.is_none() {
            return;
        }
        self.command(Command::Leave, now).unwrap_or_default();
        self.recorder.leave(now);
        self.recorder.flush();
        self.life = None;
        self.revoke_will();
    }

    pub(crate) fn changed(&mut self, now: Instant) {
        self.since = now;
        self.changes += 1;
    }
}

/// The event loop.
impl Member {
    fn read(&mut self) -> Instant {
        self.now = self.now.max(self.shared.now());
        self.now
    }

    /// Withdraws if the last reading showed that the clock cannot be trusted. Nothing may rely on
    /// that reading or a later one.
    fn check_clock(&mut self) {
        if let Some(fault) = self.shared.clock.fault() {
            self.withdraw(Reason::Clock(fault));
            self.shared.clock.trust_again();
        }
    }

    /// One turn of the event loop; false when the member has left.
    pub(crate) fn turn(&mut self) -> bool {
        let now = self.read();
        self.check_clock();
        self.run_timers(now);
        if now >= self.next_check {
            self.check_periodically(now);
        }
        if self.withdrawal.is_some() {
            self.return_if_due(now);
        }
        if now >= self.next_beacon {
            self.beacon(now);
        }
        self.wait();
        self.receive();
        let served = (0..BATCH).map_while(|_| self.shared.take().map(|next| self.serve(next)));
        if served.count() == BATCH {
            self.shared.wake(); // there may be more requests, after the timers
        }
        let now = self.read();
        !self.resign_if_free(now)
    }

    fn run_timers(&mut self, now: Instant) {
        for _ in 0..TIMERS {
            let Some(life) = self.life.as_mut().filter(|life| life.deadline() <= now) else {
                return;
            };
            self.recorder.timer(now, life.endpoint());
            life.timeout(self.directory.view(), now);
            self.finish(now);
        }
    }

    /// Periodic work.
    fn check_periodically(&mut self, now: Instant) {
        self.next_check = now + CHECK;
        self.follow_list(now);
        self.entrust_if_moved(now);
        if self.directory.forget(now) && self.life.is_some() {
            self.recorder.peers(now, self.directory.members());
        }
        if let Some(life) = self.outlived(now) {
            self.state.outlive(life);
            self.life = None;
            self.begin_again();
        }
    }

    /// A later incarnation of this member that others know of, if any: its number was lost, and the
    /// wall clock was set back.
    fn outlived(&self, now: Instant) -> Option<u64> {
        let mut outlived = None;
        self.life.as_ref()?.endpoint().facts(now, &mut |fact| {
            if let Fact::Outlived { life } = fact {
                outlived = Some(life);
            }
        });
        outlived
    }

    /// Returns to the election when the withdrawal is over.
    fn return_if_due(&mut self, now: Instant) {
        if self.withdrawal.as_ref().is_some_and(|withdrawal| now >= withdrawal.until) {
            match self.directory.unclear() {
                Some(problem) => self.withdraw(Reason::Names(problem)),
                None => self.begin_again(),
            }
        }
    }

    /// When to look again at the latest.
    pub(crate) fn deadline(&self) -> Instant {
        let mut deadline = self.next_check.min(self.next_beacon);
        if let Some(life) = &self.life {
            deadline = deadline.min(life.deadline());
        }
        if let Some(withdrawal) = &self.withdrawal {
            deadline = deadline.min(withdrawal.until);
        }
        if let Some(resignation) = &self.resignation {
            deadline = deadline.min(resignation.due());
        }
        deadline
    }

    /// Handles the datagrams that have arrived.
    fn receive(&mut self) {
        for _ in 0..BATCH {
            let clock = Arc::clone(&self.shared.clock);
            let Some(datagram) = self.sockets.receive(&*clock) else { return };
            let (at, from, length) = (datagram.at, datagram.from, datagram.bytes.len());
            let by_multicast = datagram.by_multicast;
            self.now = self.now.max(at);
            let now = self.now;
            let directory = &self.directory;
            let admits = |sender| directory.admits(sender, from, now);
            match self.opener.open(datagram.bytes, &admits, &mut self.body) {
                Ok(opened) => {
                    self.traffic.received += 1;
                    self.traffic.received_bytes += length as u64;
                    self.wills += u64::from(opened.sequence == LAST);
                    if opened.kind == Kind::Join {
                        self.on_join(&opened, from, now); // its sender is no member yet
                        continue;
                    }
                    if self.directory.hear(opened.sender, from, now) && self.life.is_some() {
                        self.recorder.peers(now, self.directory.members());
                    }
                    if let Some(multicast) = &mut self.multicast {
                        multicast.hear(&opened, by_multicast, now);
                    }
                    match opened.kind {
                        Kind::Message => self.hear(&opened, from, now),
                        Kind::Acknowledging => self.hear_behind_number(&opened, from, now),
                        Kind::Hearing => self.on_hearing(opened.sender, from, now),
                        Kind::Beacon => self.on_beacon(opened.sender, now),
                        Kind::Book => self.on_book(now),
                        Kind::Keys => self.on_keys(&opened),
                        Kind::Join => {}
                    }
                }
                Err(dropped) => self.on_drop(dropped, from, now),
            }
        }
    }

    /// Handles a protocol message of a member.
    pub(crate) fn hear(&mut self, opened: &Opened, from: SocketAddr, now: Instant) {
        let Opened { sender, incarnation, sequence, .. } = *opened;
        self.check_clock();
        let Some(life) = &mut self.life else { return };
        let limits = (now, self.opener.latest());
        let held = life.lease(self.settings.me, now);
        match life.datagram(sender, &self.body, self.directory.view(), limits) {
            Ok(message) => {
                let delays = &self.shared.delays;
                life.endpoint().last_delay_bound().iter().for_each(|it| delays.bounds.add(*it));
                if life.lease(self.settings.me, now) > held {
                    life.asked(now).iter().for_each(|it| delays.round_trips.add(now.since(*it)));
                }
                let place = (incarnation, sequence);
                self.recorder.received(now, sender, message, place, &self.body);
                self.finish(now);
            }
            Err(unheard) => self.on_drop(DropReason::from(unheard).into(), from, now),
        }
    }

    /// Does what the application wants.
    fn serve(&mut self, request: Request) {
        let now = self.read();
        match request {
            Request::Command(command, answer) => {
                let taken = self.command(command, now);
                // The asking thread may have ended.
                answer.map(|answer| answer.try_send(taken));
            }
            Request::Change(change, list, answer) => {
                let _ = answer.try_send(self.change_voters(change, list, now)); // as below
            }
            Request::Resign(resigning) => self.give_up(resigning, now),
            Request::Refusal(command, answer) => {
                let refused = self.refusal(command, now);
                let _ = answer.try_send(refused.map_or(Ok(()), Err)); // or nobody waits any more
            }
            Request::Forget(id, answer) => {
                let _ = answer.try_send(self.forget(id, now)); // or nobody waits any more
            }
            Request::Status(answer) => {
                let _ = answer.try_send(Box::new(self.status(now)));
            }
            Request::Pulse(answer) => drop(answer.try_send(())), // or nobody waits any more
            Request::Keyring(keyring) => self.set_keyring(keyring, now),
            Request::SendKeys(to, body) => self.send_keys(to, &body),
            Request::Lapse(why) => {
                if self
                    .life
                    .as_ref()
                    .is_some_and(|life| life.lease(self.settings.me, now).is_some())
                {
                    self.withdraw(Reason::Application(why));
                }
            }
            Request::Resolved => {
                self.directory.refresh(now);
                if let Some(problem) = self.directory.unclear() {
                    self.withdraw(Reason::Names(problem));
                }
            }
            Request::Stop => self.leave_when_free(),
        }
    }

    /// Why recording has stopped, if it has.
    pub(crate) fn recording_failed(&self) -> Option<String> {
        self.recorder.failed.clone()
    }

    /// Why the protocol would refuse this command now, as far as it knows.
    pub(crate) fn refusal(&mut self, command: Command, now: Instant) -> Option<Refused> {
        match &mut self.life {
            Some(life) => life.refusal(command, self.directory.view(), now),
            None => Some(Refused::Withdrawn),
        }
    }

    /// Whether the protocol asks how willing members are to lead.
    pub(crate) fn reads_candidacy(&self) -> bool {
        self.settings.program.choice.as_ref().is_none_or(|choice| choice.reads_candidacy())
    }

    pub(crate) fn command(&mut self, command: Command, now: Instant) -> Result<(), Refused> {
        self.check_clock();
        let grows = matches!(command, Command::Add(_) | Command::Replace(..));
        if grows && !self.fits_one_more(now) {
            return Err(Refused::TooManyVoters);
        }
        if let Command::Lengths(lock, drift_ppm) = command
            && let Some(refused) = self.refused_lengths(lock, drift_ppm, now)
        {
            return Err(refused);
        }
        if let Command::Candidacy(candidacy) = command
            && self.reads_candidacy()
        {
            self.settings.candidacy = candidacy; // also of its next life
        }
        let Some(life) = &mut self.life else { return Err(Refused::Withdrawn) };
        let taken = life.command(command, self.directory.view(), now);
        if let (Command::Rank(rank), Ok(())) = (command, &taken) {
            self.settings.rank = rank; // the next life begins with it
        }
        self.recorder.command(now, command, taken.is_ok());
        // Nobody repeats it: it does not depend on who hears multicasts.
        self.send_directly(true);
        self.finish(now);
        self.send_directly(false);
        taken
    }
}

/// The text for a failed assertion.
fn broken_rule(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    let text = text.unwrap_or_else(|| "the rule is unknown".to_owned());
    format!(
        "a rule that safety rests on was broken, and the member has ended: {text}; this is a \
         mistake in the program: report it, and start the member again"
    )
}

/// Identifies the boot of the machine and the time namespace that the clock counts in.
pub(crate) fn boot_id() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = std::fs::read_link("/proc/self/ns/time").unwrap_or_default();
    format!("{} {}", boot.trim(), namespace.display()).trim().to_owned()
}
