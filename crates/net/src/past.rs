//! The recent past of a member, in memory: what it believed, what it was told to do, and what
//! changed its mind.
//!
//! **Source.** Ours; the readers' protocol is that of sequence locks (H.-J. Boehm, "Can seqlocks
//! get along with programming language memory models?", 2012).
//!
//! **Promise.** The member's thread writes without allocating, locking or waiting, whoever reads:
//! the ring has its size, and its pages, before the member begins. A reader that is overtaken by
//! the writer skips what was overwritten, and counts it. A renewal changes the last belief in
//! place, so the ring holds *changes*: an hour of a calm group is one entry, and not 10,000.

use crate::clock::{CheckedClock, Clock as _, wall};
use crate::last_will::LastWill;
use crate::member::boot_id;
use bellwether_core::{
    Candidacy, Command, Duration, Event, Fact, Instant, LAST_NUMBER, Leadership, LifeHeader,
    NodeId, Record, SimTime, Stage, Term,
};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::sync::{Arc, OnceLock};

/// How much memory a member's past takes.
pub const BYTES: usize = 1 << 18;
/// An entry has so many words: its version, its time, its kind, and five more.
const WORDS: usize = 8;
/// How many entries there are.
const ENTRIES: u64 = (BYTES / size_of::<AtomicU64>() / WORDS) as u64;
/// How many kinds of messages and of withdrawals have a name; any other is unnamed.
const NAMES: usize = 32;
/// The most ids of members that are remembered: a report is about few.
const MEMBERS_MAX: usize = 60;
/// How many of them fit an entry.
const IDS: usize = WORDS - 3;

/// The kind of an entry, in the low byte of its third word.
mod kind {
    pub(super) const BEGIN: u64 = 1;
    pub(super) const MEMBERS: u64 = 2;
    pub(super) const BELIEF: u64 = 3;
    pub(super) const COMMAND: u64 = 4;
    pub(super) const RECEIPT: u64 = 5;
    pub(super) const LEAVE: u64 = 6;
    pub(super) const WITHDRAWAL: u64 = 7;
}

/// Flags of a part of a list of members.
const LAST_PART: u64 = 1 << 16;
const OF_BEGIN: u64 = 1 << 17;

/// The memory that the member's thread and all readers share.
pub(crate) struct Ring {
    words: Box<[AtomicU64]>,
    /// How many entries were written, ever.
    written: AtomicU64,
    /// The incarnation of the last overwritten `begin`, and when that was.
    former: [AtomicU64; 2],
    head: OnceLock<LifeHeader>,
    names: [OnceLock<&'static str>; NAMES],
}

/// What an entry holds, besides its version.
type Entry = [u64; WORDS - 1];

impl Ring {
    pub(crate) fn new() -> Self {
        // Each word is written, so that the member's thread never waits for a page.
        let words = (0..ENTRIES as usize * WORDS).map(|_| AtomicU64::new(0)).collect();
        let (written, former) = (AtomicU64::new(0), [AtomicU64::new(0), AtomicU64::new(0)]);
        Self { words, written, former, head: OnceLock::new(), names: Default::default() }
    }

    fn slot(&self, number: u64) -> &[AtomicU64] {
        let first = (number % ENTRIES) as usize * WORDS;
        &self.words[first..first + WORDS]
    }

    /// The entry with this number; `None` if it is overwritten.
    fn read(&self, number: u64) -> Option<Entry> {
        let slot = self.slot(number);
        // A renewal may change it at the same time, for a moment.
        for _ in 0..1_000 {
            let before = slot[0].load(Ordering::Acquire);
            if before >> 16 != number + 1 {
                return None;
            }
            let mut entry = [0; WORDS - 1];
            for (word, from) in entry.iter_mut().zip(&slot[1..]) {
                *word = from.load(Ordering::Relaxed);
            }
            fence(Ordering::Acquire);
            if before.is_multiple_of(2) && slot[0].load(Ordering::Relaxed) == before {
                return Some(entry);
            }
            std::hint::spin_loop();
        }
        None
    }

    /// The place of a name among those that are known; `NAMES` if there is no room for it.
    fn place(&self, name: &'static str) -> u64 {
        let known = |own: &OnceLock<&'static str>| *own.get_or_init(|| name) == name;
        self.names.iter().position(known).unwrap_or(NAMES) as u64
    }

    fn name(&self, place: u64) -> &'static str {
        let name = usize::try_from(place).ok().and_then(|place| self.names.get(place));
        name.and_then(|name| name.get()).copied().unwrap_or("message")
    }
}

/// The belief that was written last.
#[derive(Clone, Copy)]
struct LastBelief {
    number: u64,
    key: [u64; 4],
    until: Instant,
}

/// The member's side of the ring: there is one.
pub(crate) struct PastWriter {
    ring: Arc<Ring>,
    me: NodeId,
    written: u64,
    last: Option<LastBelief>,
    /// The message of the present step.
    receipt: Option<Entry>,
}

impl std::fmt::Debug for PastWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PastWriter").field("written", &self.written).finish_non_exhaustive()
    }
}

impl PastWriter {
    pub(crate) fn new(ring: Arc<Ring>, me: NodeId) -> Self {
        Self { ring, me, written: 0, last: None, receipt: None }
    }

    fn write(&mut self, entry: Entry) -> u64 {
        let number = self.written;
        let slot = self.ring.slot(number);
        if slot[2].load(Ordering::Relaxed) & 0xff == kind::BEGIN {
            let began = [3, 1].map(|word: usize| slot[word].load(Ordering::Relaxed));
            for (word, began) in self.ring.former.iter().zip(began) {
                word.store(began, Ordering::Relaxed);
            }
        }
        let version = (number + 1) << 16;
        slot[0].store(version | 1, Ordering::Relaxed);
        fence(Ordering::Release);
        for (word, from) in slot[1..].iter().zip(entry) {
            word.store(from, Ordering::Relaxed);
        }
        slot[0].store(version, Ordering::Release);
        self.written += 1;
        self.ring.written.store(self.written, Ordering::Release);
        number
    }

    /// An incarnation begins.
    pub(crate) fn begin(&mut self, now: Instant, head: &LifeHeader) {
        self.ring.head.get_or_init(|| LifeHeader { memory: None, seed: 0, ..head.clone() });
        (self.last, self.receipt) = (None, None);
        self.list(now, &head.members, OF_BEGIN);
        self.write([now.as_nanos(), kind::BEGIN, head.incarnation, 0, 0, 0, 0]);
    }

    /// The members that it knows have changed.
    pub(crate) fn members(&mut self, now: Instant, members: &[NodeId]) {
        self.list(now, members, 0);
    }

    fn list(&mut self, now: Instant, members: &[NodeId], flags: u64) {
        let members = &members[..members.len().min(MEMBERS_MAX)];
        let parts = members.len().div_ceil(IDS).max(1);
        for part in 0..parts {
            let ids = &members[(part * IDS).min(members.len())..];
            let mut entry = [now.as_nanos(), kind::MEMBERS | flags, 0, 0, 0, 0, 0];
            let count = ids.len().min(IDS);
            entry[1] |= (count as u64) << 8 | if part + 1 == parts { LAST_PART } else { 0 };
            for (word, id) in entry[2..].iter_mut().zip(ids) {
                *word = id.0;
            }
            self.write(entry);
        }
    }

    /// A message arrived. It is written if it changes what the member believes, or is a last will.
    pub(crate) fn received(
        &mut self,
        now: Instant,
        from: NodeId,
        message: &'static str,
        (life, number): (u64, u64),
    ) {
        let place = self.ring.place(message) << 8;
        let entry = [now.as_nanos(), kind::RECEIPT | place, from.0, life, number, 0, 0];
        self.receipt = Some(entry);
        if number == LAST_NUMBER {
            self.cause();
        }
    }

    /// A step that no message causes.
    pub(crate) fn step(&mut self) {
        self.receipt = None;
    }

    fn cause(&mut self) {
        if let Some(entry) = self.receipt.take() {
            self.write(entry);
        }
    }

    /// The application gave a command.
    pub(crate) fn command(&mut self, now: Instant, command: Command, taken: bool) {
        self.step();
        let (code, one, other) = encoded(command);
        let kind = kind::COMMAND | code << 8 | u64::from(taken) << 16;
        self.write([now.as_nanos(), kind, one, other, 0, 0, 0]);
    }

    /// What the process believes after a step.
    pub(crate) fn belief(&mut self, now: Instant, leadership: &Leadership<'_>) {
        let Leadership { leaders, term, until, stage, .. } = leadership;
        let id = |place: usize| leaders.get(place).map_or(u64::MAX, |id| id.0);
        // Of several leaders the member itself comes first, so that it is not left out.
        let first = if leaders.contains(&self.me) { self.me.0 } else { id(0) };
        let count = leaders.len().min(0xff) as u64;
        let key = [(*stage as u64) << 8 | count << 16, term.map_or(0, Term::number), first, id(1)];
        if let Some(last) = &mut self.last
            && last.key == key
            && last.number + ENTRIES > self.written
        {
            let runs = now < last.until || leaders.is_empty() || *until <= now;
            if runs && last.until != *until && *until > now {
                last.until = *until;
                let slot = self.ring.slot(last.number);
                let version = slot[0].load(Ordering::Relaxed);
                let next = version & !0xffff | (version + 2) & 0xffff;
                slot[0].store(version | 1, Ordering::Relaxed);
                fence(Ordering::Release);
                slot[3].store(until.as_nanos(), Ordering::Relaxed);
                slot[4].store(now.as_nanos(), Ordering::Relaxed);
                slot[0].store(next, Ordering::Release);
            }
            if runs {
                return;
            }
        }
        self.cause();
        let [shape, term, first, second] = key;
        let (at, until_told) = (now.as_nanos(), until.as_nanos());
        let number = self.write([at, kind::BELIEF | shape, until_told, 0, term, first, second]);
        self.last = Some(LastBelief { number, key, until: *until });
    }

    /// The member leaves.
    pub(crate) fn leave(&mut self, now: Instant) {
        self.write([now.as_nanos(), kind::LEAVE, 0, 0, 0, 0, 0]);
    }

    /// The member withdraws, for this reason.
    pub(crate) fn withdraw(&mut self, now: Instant, why: &'static str) {
        self.last = None;
        let place = self.ring.place(why) << 8;
        self.write([now.as_nanos(), kind::WITHDRAWAL | place, 0, 0, 0, 0, 0]);
    }
}

/// A command as numbers: what it is, and its two parts.
fn encoded(command: Command) -> (u64, u64, u64) {
    match command {
        Command::Campaign => (0, 0, 0),
        Command::Resign => (1, 0, 0),
        Command::Transfer(to) => (2, to.0, 0),
        Command::Leave => (3, 0, 0),
        Command::Rank(rank) => (4, rank, 0),
        Command::Add(id) => (5, id.0, 0),
        Command::Remove(id) => (6, id.0, 0),
        Command::Replace(one, other) => (7, one.0, other.0),
        Command::Lengths(lock, drift) => {
            let lock = lock.map_or(u64::MAX, Duration::as_nanos);
            (8, lock, drift.map_or(u64::MAX, u64::from))
        }
        Command::Candidacy(Candidacy { priority, witness }) => (9, priority.into(), witness.into()),
        _ => (0xff, 0, 0),
    }
}

/// The command of these numbers, as a trace names it.
fn decoded(code: u64, one: u64, other: u64) -> String {
    let command = match code {
        0 => Command::Campaign,
        1 => Command::Resign,
        2 => Command::Transfer(NodeId(one)),
        3 => Command::Leave,
        4 => Command::Rank(one),
        5 => Command::Add(NodeId(one)),
        6 => Command::Remove(NodeId(one)),
        7 => Command::Replace(NodeId(one), NodeId(other)),
        8 => {
            let lock = (one != u64::MAX).then(|| Duration::from_nanos(one));
            Command::Lengths(lock, u32::try_from(other).ok())
        }
        9 => {
            let priority = u32::try_from(one).unwrap_or(u32::MAX);
            Command::Candidacy(Candidacy { priority, witness: other != 0 })
        }
        _ => return "another command".to_owned(),
    };
    format!("{command:?}")
}

/// The recent past of a member as records of a trace, in order. The last one is
/// [`Event::Collected`].
pub struct Past {
    ring: Arc<Ring>,
    clock: Arc<CheckedClock>,
    me: NodeId,
    /// What is earlier than this is passed over, except for the belief that it begins with.
    since: u64,
    next: u64,
    end: u64,
    /// When the incarnation of the next entry began, and its number.
    life: Option<(u64, u64)>,
    members: Vec<NodeId>,
    /// Whether the list of members has all its parts.
    complete: bool,
    /// The last belief before `since`.
    before: Option<Entry>,
    started: bool,
    /// When the belief was renewed for the last time, and until when.
    held: Option<(u64, u64)>,
    lost: u64,
    ready: VecDeque<Record>,
    closed: bool,
    /// Where ends of the member's own leases are noted before they are told.
    will: Option<LastWill>,
}

impl std::fmt::Debug for Past {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Past").field("next", &self.next).finish_non_exhaustive()
    }
}

impl Past {
    /// What happened in the last time of this length, or all that is remembered.
    pub(crate) fn new(
        ring: &Arc<Ring>,
        clock: &Arc<CheckedClock>,
        me: NodeId,
        last: Option<Duration>,
    ) -> Self {
        let now = clock.now().as_nanos();
        let end = ring.written.load(Ordering::Acquire);
        let next = end.saturating_sub(ENTRIES);
        Self {
            ring: Arc::clone(ring),
            clock: Arc::clone(clock),
            me,
            since: last.map_or(0, |last| now.saturating_sub(last.as_nanos())),
            next,
            end,
            life: None,
            members: Vec::new(),
            complete: true,
            before: None,
            started: false,
            held: None,
            lost: next,
            ready: VecDeque::new(),
            closed: false,
            will: None,
        }
    }

    /// The same, for somebody outside: each end of a lease of its own is noted in the will before
    /// the record that tells it is returned ([`LastWill::told`]). A renewal changes the last record
    /// until it is read, so what was noted before is not enough.
    #[must_use]
    pub fn noting(self, will: Option<&LastWill>) -> Self {
        Self { will: will.cloned(), ..self }
    }

    fn put(&mut self, t: u64, event: Event) {
        let (t, node) = (SimTime::from_nanos(t), self.me);
        self.ready.push_back(Record { t, node, event });
    }

    /// Adds a record, after the renewal that came before it.
    fn tell(&mut self, t: u64, event: Event) {
        self.start(t);
        self.tell_held(t);
        self.put(t, event);
    }

    fn tell_held(&mut self, t: u64) {
        if let Some((at, until)) = self.held.take_if(|(at, _)| *at <= t) {
            let until = Instant::from_nanos(until);
            self.note(until);
            self.put(at, Event::Fact(Fact::Held { until }));
        }
    }

    /// Begins with a life, and with what it believed before the first record.
    fn start(&mut self, t: u64) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        let former = || {
            let [life, at] = [0, 1].map(|word| self.ring.former[word].load(Ordering::Relaxed));
            (life != 0).then_some((at, life))
        };
        let Some((began, life)) = self.life.or_else(former) else { return };
        let before = self.before.take();
        self.begin(began.min(before.map_or(t, |entry| entry[0])).min(t), life);
        if let Some(entry) = before {
            self.belief(entry);
        }
    }

    fn begin(&mut self, t: u64, incarnation: u64) {
        if let Some(head) = self.ring.head.get() {
            let members = self.members.clone();
            let head = LifeHeader { incarnation, members, ..head.clone() };
            self.put(t, Event::Begin(head));
        }
    }

    fn belief(&mut self, [t, kind, until, held, term, first, second]: Entry) {
        let stage = match kind >> 8 & 0xff {
            0 => Stage::Undecided,
            1 => Stage::Decided,
            2 => Stage::Suppressed,
            _ => Stage::Aborted,
        };
        let named = [first, second].into_iter().take((kind >> 16 & 0xff) as usize);
        let leaders = named.map(NodeId).collect();
        let until_told = Instant::from_nanos(until);
        self.note(until_told);
        let until_told = (until_told != Instant::NEVER).then_some(until_told);
        self.put(t, Event::Leadership { leaders, term: Term::new(term), until: until_told, stage });
        self.held = (held != 0).then_some((held, until));
    }

    /// Notes the end of a lease. If that is what another member promised, it does no harm.
    fn note(&self, until: Instant) {
        self.will.iter().for_each(|will| will.told(until));
    }

    fn list(&mut self, entry: Entry, early: bool) {
        let [t, kind, ..] = entry;
        if std::mem::replace(&mut self.complete, kind & LAST_PART != 0) {
            self.members.clear();
        }
        let ids = entry[2..].iter().take((kind >> 8 & 0xff) as usize);
        self.members.extend(ids.map(|id| NodeId(*id)));
        if self.complete && kind & OF_BEGIN == 0 && !early {
            let members = self.members.clone();
            self.tell(t, Event::Peers { members });
        }
    }

    fn take(&mut self, entry: Entry) {
        let [t, kind, one, other, third, ..] = entry;
        let early = t < self.since && !self.started;
        match kind & 0xff {
            kind::MEMBERS => self.list(entry, early),
            kind::BEGIN => {
                (self.life, self.before) = (Some((t, one)), None);
                if !early {
                    self.started = true;
                    self.tell_held(t);
                    self.begin(t, one);
                }
            }
            kind::BELIEF if early => self.before = Some(entry),
            kind::BELIEF => {
                self.start(t);
                self.tell_held(t);
                self.belief(entry);
            }
            kind::LEAVE | kind::WITHDRAWAL if early => self.before = None,
            _ if early => {}
            kind::COMMAND => {
                let command = decoded(kind >> 8 & 0xff, one, other);
                self.tell(t, Event::Command { command, taken: kind >> 16 & 1 == 1 });
            }
            kind::RECEIPT => {
                let (from, message) = (NodeId(one), Cow::Borrowed(self.ring.name(kind >> 8)));
                let (sent, life, body) = (SimTime::from_nanos(t), Some(other), None);
                self.tell(t, Event::Recv { from, message, number: third, sent, life, body });
            }
            kind::LEAVE => self.tell(t, Event::Leave),
            kind::WITHDRAWAL => {
                let why = Cow::Borrowed(self.ring.name(kind >> 8));
                self.tell(t, Event::Withdraw { why });
            }
            _ => {}
        }
    }

    /// Ends with the moment at which the member was asked: it was alive.
    fn close(&mut self) {
        self.closed = true;
        let now = self.clock.now().as_nanos();
        let (boot, wall, lost) = (boot_id(), wall(), self.lost);
        self.tell(now, Event::Collected { boot, wall, lost });
    }
}

impl Iterator for Past {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        while self.ready.is_empty() && !self.closed {
            if self.next >= self.end {
                self.close();
                break;
            }
            match self.ring.read(self.next) {
                Some(entry) => self.take(entry),
                None => self.lost += 1,
            }
            self.next += 1;
        }
        self.ready.pop_front()
    }
}

#[cfg(test)]
mod tests;
