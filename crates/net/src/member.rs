//! The event loop: one thread that owns the sockets, the clock and the protocol.
//!
//! **What it owes.** What the contract says ([`bellwether_core`], "The run loop"), and one thing
//! more: the application is told what the member believes *before* the messages of the same step
//! are sent. So a leader that resigns knows it before another member can lead.
//!
//! **Promise.** No datagram makes it panic or wait. A datagram that is not from a known member of
//! this group changes a counter and nothing else. A member *withdraws* if it hears from a member
//! with another list or other parameters, or from another process with its own id, or if its clock
//! cannot be trusted: it takes no part, says so, and returns with a new incarnation once that is
//! over. So members with conflicting settings that hear of each other have no leader, rather than
//! two.

use crate::directory::Directory;
use crate::disputes::Disputes;
use crate::frame::{Counters, DropReason, FrameOpener, Kind, Opened, Sealer, Session};
use crate::life::Life;
use crate::randomness;
use crate::recorder::Recorder;
use crate::resignation::Resignation;
use crate::settings::Settings;
use crate::shared::{Request, Shared};
use crate::snapshot::Snapshot;
use crate::socket::{BATCH, Sockets};
use crate::state::State;
use crate::status::Traffic;
use crate::withdrawal::{Reason, Withdrawal};
use bellwether_core::{
    Boot, Command, Dest, Duration, Fact, Instant, LifeHeader, Memory, NodeId, Output, Refused,
    SimTime, to_hex,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
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
    recorder: Recorder,
    /// The running protocol, unless the member has withdrawn.
    pub(crate) life: Option<Life>,
    pub(crate) withdrawal: Option<Withdrawal>,
    pub(crate) incarnation: u64,
    next_check: Instant,
    pub(crate) next_beacon: Instant,
    pub(crate) next_question: Instant,
    /// The last clock reading: time does not go back.
    pub(crate) now: Instant,
    /// When the member's belief last changed, and how often it has.
    pub(crate) since: Instant,
    pub(crate) changes: u64,
    pub(crate) counters: Counters,
    pub(crate) traffic: Traffic,
    pub(crate) recent_drops: VecDeque<RecentDrop>,
    /// The addresses of conflicting members, and of processes that may have its id.
    pub(crate) opponents: BTreeSet<SocketAddr>,
    pub(crate) suspects: BTreeSet<SocketAddr>,
    pub(crate) disputes: Disputes,
    /// A resignation under way.
    pub(crate) resignation: Option<Resignation>,
    /// An error that does not stop the member.
    pub(crate) warning: Option<String>,
    pub(crate) body: Vec<u8>,
    outbox: VecDeque<(Dest, Vec<u8>)>,
}

/// The parts of a member.
pub(crate) struct Parts {
    pub(crate) settings: Settings,
    pub(crate) shared: Arc<Shared>,
    pub(crate) sockets: Sockets,
    pub(crate) directory: Directory,
    pub(crate) state: State,
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
        let Parts { settings, shared, sockets, directory, state, recorder } = parts;
        let (group, me, keyring) = (&settings.group, settings.me, &settings.keyring);
        let digest = settings.digest();
        let now = shared.now();
        let mut member = Self {
            sealer: Sealer::new(group, me, incarnation, session, digest, keyring),
            opener: FrameOpener::new(group, me, incarnation, session, digest, keyring),
            recorder,
            settings,
            shared,
            sockets,
            directory,
            state,
            life: None,
            withdrawal: None,
            incarnation,
            next_check: now,
            next_beacon: now,
            next_question: now,
            now,
            since: now,
            changes: 0,
            counters: Counters::default(),
            traffic: Traffic::default(),
            recent_drops: VecDeque::new(),
            opponents: BTreeSet::new(),
            suspects: BTreeSet::new(),
            disputes: Disputes::default(),
            resignation: None,
            warning: None,
            body: Vec::new(),
            outbox: VecDeque::new(),
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
        let whole = AssertUnwindSafe(|| {
            if self.withdrawal.is_none() {
                self.begin();
            }
            while self.turn() {}
        });
        let failure = catch_unwind(whole).err().map(|panic| broken_rule(&*panic));
        self.shared.end(failure);
    }

    fn begin(&mut self) {
        let now = self.read();
        let memory = self.state.memory();
        let seed = randomness::number().unwrap_or_else(|_| now.as_nanos());
        let boot = Boot {
            me: self.settings.me,
            incarnation: self.incarnation,
            rank: self.settings.rank,
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
            members: self.directory.members(),
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
    }

    fn changed(&mut self, now: Instant) {
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
    fn turn(&mut self) -> bool {
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

    fn wait(&mut self) {
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
        let left = deadline.since(self.shared.now()).as_nanos();
        let (seconds, nanos) = (left / 1_000_000_000, left % 1_000_000_000);
        let timeout = Timespec { tv_sec: seconds as i64, tv_nsec: nanos as i64 };
        let mut fds: Vec<PollFd<'_>> = self.sockets.poll_fds().collect();
        fds.push(PollFd::from_borrowed_fd(self.shared.wake_fd(), PollFlags::IN));
        // An interruption is harmless: the next turn looks for work.
        let _ = poll(&mut fds, Some(&timeout));
        self.shared.clear_wake();
    }

    /// Handles the datagrams that have arrived.
    fn receive(&mut self) {
        for _ in 0..BATCH {
            let clock = Arc::clone(&self.shared.clock);
            let Some(datagram) = self.sockets.receive(&*clock) else { return };
            let (at, from, length) = (datagram.at, datagram.from, datagram.bytes.len());
            self.now = self.now.max(at);
            let now = self.now;
            let directory = &self.directory;
            let admits = |sender| directory.admits(sender, from, now);
            match self.opener.open(datagram.bytes, &admits, &mut self.body) {
                Ok(opened) => {
                    self.traffic.received += 1;
                    self.traffic.received_bytes += length as u64;
                    if self.directory.hear(opened.sender, from, now) && self.life.is_some() {
                        self.recorder.peers(now, self.directory.members());
                    }
                    match opened.kind {
                        Kind::Message => self.hear(&opened, from, now),
                        Kind::Beacon => self.on_beacon(opened.sender, now),
                    }
                }
                Err(dropped) => self.on_drop(dropped, from, now),
            }
        }
    }

    /// Handles a protocol message of a member.
    fn hear(&mut self, opened: &Opened, from: SocketAddr, now: Instant) {
        let Opened { sender, incarnation, sequence, .. } = *opened;
        self.check_clock();
        let Some(life) = &mut self.life else { return };
        match life.datagram(sender, &self.body, self.directory.view(), now) {
            Ok(message) => {
                let place = (incarnation, sequence);
                self.recorder.received(now, sender, message, place, &self.body);
                self.finish(now);
            }
            Err(_) => self.on_drop(DropReason::Malformed.into(), from, now),
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
            Request::Resign(tenure, answer) => self.give_up(tenure, answer),
            Request::Status(answer) => {
                let _ = answer.try_send(Box::new(self.status(now)));
            }
            Request::Keyring(keyring) => {
                self.sealer.set_keyring(&keyring);
                self.opener.set_keyring(&keyring);
                self.settings.keyring = keyring;
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

    pub(crate) fn command(&mut self, command: Command, now: Instant) -> Result<(), Refused> {
        self.check_clock();
        let Some(life) = &mut self.life else { return Err(Refused) };
        let taken = life.command(command, self.directory.view(), now);
        self.recorder.command(now, command, taken.is_ok());
        self.finish(now);
        taken
    }
}

/// The outputs of a step.
impl Member {
    /// Executes the outputs of a step in this order: store, record, tell, send.
    fn finish(&mut self, now: Instant) {
        let Some(life) = &mut self.life else { return };
        let mut changed = false;
        let mut problem = None;
        while let Some(output) = life.output() {
            let mut number = 0;
            match &output {
                Output::Store(bytes) => {
                    problem = self.state.store(bytes).err();
                    if problem.is_some() {
                        break;
                    }
                }
                Output::Send { to, bytes, .. } => {
                    let mut frame = Vec::new();
                    match self.sealer.seal(Kind::Message, receiver(*to), bytes, &mut frame) {
                        Ok(sequence) => {
                            number = sequence;
                            self.outbox.push_back((*to, frame));
                        }
                        Err(not_sealed) => {
                            self.traffic.send_failures += 1;
                            self.warning = Some(not_sealed.to_string());
                        }
                    }
                }
                Output::Leadership => changed = true,
            }
            self.recorder.output(now, &output, number);
        }
        if let Some(error) = problem {
            // The step's state is not durable: nothing of this step may be sent, and nobody may act
            // on what the protocol believes since.
            self.outbox.clear();
            self.recorder.discard();
            return self.withdraw(Reason::Disk(error.to_string()));
        }
        self.recorder.belief(now, life.endpoint(), changed);
        self.recorder.flush();
        self.tell(now, changed);
        while let Some((to, frame)) = self.outbox.pop_front() {
            self.transmit(to, &frame);
        }
    }

    fn tell(&mut self, now: Instant, changed: bool) {
        let Some(life) = &self.life else { return };
        let leadership = life.leadership(now);
        self.shared.tell(Snapshot {
            me: self.settings.me,
            leaders: leadership.leaders.to_vec(),
            term: leadership.term,
            term_kept: leadership.term.is_some() && self.settings.program.founding_record.is_some(),
            tenure: 0, // counted where it is told
            until: leadership.until,
            stage: leadership.stage,
            withdrawn: None,
            at: now,
        });
        if changed {
            self.changed(now);
        }
    }

    pub(crate) fn transmit(&mut self, to: Dest, frame: &[u8]) {
        let mut places = Vec::new();
        match to {
            Dest::Everyone => self.directory.everyone(&mut |address| places.push(address)),
            Dest::Node(id) => match self.directory.address(id) {
                Some(address) => places.push(address),
                None => self.traffic.send_failures += 1,
            },
        }
        places.into_iter().for_each(|address| self.send(address, frame));
    }

    pub(crate) fn send(&mut self, address: SocketAddr, frame: &[u8]) {
        match self.sockets.send(address, frame) {
            Ok(()) => {
                self.traffic.sent += 1;
                self.traffic.sent_bytes += frame.len() as u64;
            }
            Err(_) => self.traffic.send_failures += 1,
        }
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

/// The receiver that a frame names.
fn receiver(to: Dest) -> Option<NodeId> {
    match to {
        Dest::Everyone => None,
        Dest::Node(id) => Some(id),
    }
}

/// Identifies the boot of the machine and the time namespace that the clock counts in.
pub(crate) fn boot_id() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = std::fs::read_link("/proc/self/ns/time").unwrap_or_default();
    format!("{} {}", boot.trim(), namespace.display()).trim().to_owned()
}
