//! Announce-listen elections: one state machine, ten protocols.
//!
//! **Source.** A thesis chapter on multicast leader election (chapter 5, "Leader Election"):
//! LE-A (Program 5.1), LE-S (Program 5.2), LE-M (section 5.4.3), its yardsticks SUP and AL, and its
//! future work (section 5.7): Query, Suppress-then-Query, Bye, several leaders, aging, SUP+AL.
//!
//! **Assumptions.** A message reaches everyone or, if lost, some or nobody. Clocks only measure
//! intervals. Processes come and go; nobody knows how many there are.
//!
//! **Promise.** *Eventually one*: when messages get through often enough, all live processes name
//! the best live one. Two may lead at once before that. SUP and SUP+AL used as a limiter elect
//! nobody; SUP+AL used as an election promises nothing, and a scenario shows it deadlock.
//!
//! | message | who | says | who cares |
//! |---|---|---|---|
//! | `Announce(weight)` | who believes it leads, every T_A | "I lead" | whoever knows nobody better |
//! | `Query(weight)` | who looks for a leader | "who leads?" | leaders answer by announcing |
//! | `Bye` | who leaves or resigns | "not me any more" | whoever follows it |
//!
//! # Where this departs from the printed programs
//!
//! Each is pinned by a test that fails without it (`tests/corrections.rs`).
//!
//! 1. An announcement of the *current* leader re-arms the listen timer. As printed only a greater
//!    address does, and every listener times out T_L after adopting, even without loss.
//! 2. The timer tests do not sit inside the receive branch.
//! 3. A smaller address is ignored, also while suppressing: a process first believes in itself.
//! 4. At equal times a message comes before a timer (the driver's part of the contract).
//!
//! # Where the text is silent, and what we chose
//!
//! * LE-M: the first wake-up drawn is the key for life, and later elections of the same process wait
//!   it out again, so that key and wake-up stay one thing. A leader is *established* once it has
//!   announced ⌈T_L/T_A⌉ times; established claims precede all others, so that a newcomer does not
//!   displace a leader by the luck of its draw.
//! * A Query is heard like an announcement, as the text says; a leader's answer is its next
//!   announcement brought forward, by a random part of the reply spread.
//! * Aging: a leader silent for longer than `aging` is still followed, but counts as the listener's
//!   own claim would, and so no longer keeps out a better one. Without it, listeners that still trust a departed leader
//!   ignore the new one.
//! * Resigning: the process says Bye and stands again with the lowest standing, so that it leads
//!   only if nobody else would, for however long. `Campaign` takes that back.

mod board;
mod bye;
mod message;
mod params;
mod wake;

#[cfg(test)]
mod tests;

pub use bye::{announcements_beyond_first, bye_copies};
pub use message::Message;
pub use params::{
    BadConfig, Config, Criterion, LEADERS_MAX, Opening, Params, Repeat, Variant, Yields,
};
pub use wake::{Mapping, Shape, WakeUp};

use alloc::borrow::Cow;
use bellwether_core::{
    Boot, Command, Cx, Duration, Entropy, Fact, Instant, Leadership, NodeId, Protocol, Rebase,
    Refused, Stage, TimerKind,
};
use board::{Board, Claim, Heard};

/// One process of the family. What it does follows from its [`Params`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AnnounceListen {
    me: NodeId,
    /// Its own claim to lead.
    weight: u64,
    /// Announcements lighter than this are none of its business.
    bar: u64,
    board: Board,
    /// Announcements in a row since it last took the lead.
    announced: u32,
    phase: Phase,
    /// When a periodic announcer speaks next; never, while it is none.
    next: Instant,
}

/// What a process is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// Waiting for its wake-up, ready to give way.
    Suppressing,
    /// Waiting for answers.
    Querying,
    /// Announcing: it leads, as far as it knows.
    Announcing,
    /// Quiet: another leads, or spoke first.
    Listening,
}

/// What a process can be woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The wait that opens an election is over (T_S, or the patience of a query).
    Wake,
    /// The next announcement is due (T_A).
    Announce,
    /// A leader was silent for too long (T_L, or its aging).
    Listen,
}

impl TimerKind for Timer {
    type Slots = [Instant; 3];

    #[inline]
    fn slot(self) -> usize {
        self as usize
    }

    fn at(slot: usize) -> Self {
        match slot {
            0 => Self::Wake,
            1 => Self::Announce,
            _ => Self::Listen,
        }
    }
}

/// What precedes the standing in a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Resigned: leads only if nobody else would.
    Retired = 0,
    /// Like most.
    Ordinary = 1,
    /// Has led for long enough not to be displaced by luck.
    Established = 2,
}

/// The largest standing that can be told apart from larger ones.
pub const STANDING_MAX: u64 = (1 << 62) - 1;

/// The weight of a claim: two bits of class, then the standing. Claims of equal weight are ordered
/// by id, so ids too large for 62 bits are still told apart.
pub fn weigh(class: Class, standing: u64) -> u64 {
    ((class as u64) << 62) | standing.min(STANDING_MAX)
}

/// The claim with which a process starts, from its id, its rank or the luck of its first draw.
pub fn first_claim(params: &Params, id: NodeId, rank: u64, entropy: &mut dyn Entropy) -> u64 {
    let standing = match params.criterion {
        Criterion::HighestId => id.0,
        Criterion::Rank => rank,
        Criterion::EarliestWakeUp => {
            STANDING_MAX.saturating_sub(params.wake.draw(rank, entropy).as_nanos())
        }
    };
    weigh(Class::Ordinary, standing)
}

/// How long a process with this claim suppresses itself: drawn afresh, unless it is the wake-up
/// that the claim stands for.
pub fn wake_up(params: &Params, weight: u64, entropy: &mut dyn Entropy) -> Duration {
    let standing = weight & STANDING_MAX;
    match params.criterion {
        Criterion::EarliestWakeUp => Duration::from_nanos(STANDING_MAX - standing),
        Criterion::HighestId | Criterion::Rank => params.wake.draw(standing, entropy),
    }
}

impl Protocol for AnnounceListen {
    const NAME: &'static str = "announce-listen";
    type Params = Params;
    type Message = Message;
    type Timer = Timer;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        let weight = first_claim(cx.params(), boot.me, boot.rank, cx.entropy());
        let mut node = Self {
            me: boot.me,
            weight,
            bar: 0,
            board: Board::default(),
            announced: 0,
            phase: Phase::Listening,
            next: Instant::NEVER,
        };
        node.stand(cx);
        node
    }

    #[inline]
    fn on_message(&mut self, from: NodeId, message: Cow<'_, Message>, cx: &mut Cx<'_, Self>) {
        if from == self.me {
            return; // another process under the same name; it cannot be told from an echo
        }
        match *message {
            Message::Announce(weight) => self.hear(Claim { weight, id: from }, cx),
            Message::Query(weight) => {
                self.hear(Claim { weight, id: from }, cx);
                self.answer(cx);
            }
            Message::Bye => self.part_with(from, cx),
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        match timer {
            Timer::Wake if self.phase == Phase::Suppressing && cx.params().opening.queries() => {
                self.query(cx);
            }
            Timer::Wake => self.announce(cx),
            Timer::Announce if cx.params().repeat == Repeat::Redrawn => self.open(cx),
            Timer::Announce => self.announce(cx),
            Timer::Listen => self.miss(cx),
        }
    }

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        match command {
            Command::Leave => self.leave(cx),
            Command::Resign => self.resign(cx)?,
            Command::Campaign => self.campaign(cx)?,
            Command::Rank(rank) => self.take_rank(rank, cx)?,
            Command::Transfer(_) => return Err(Refused),
        }
        Ok(())
    }

    #[inline]
    fn bar(&self) -> u64 {
        self.bar
    }

    #[inline]
    fn leadership(&self, _now: Instant) -> Leadership<'_> {
        let stage = match self.phase {
            Phase::Suppressing | Phase::Querying => Stage::Undecided,
            Phase::Listening if self.board.ids().is_empty() => Stage::Suppressed,
            Phase::Announcing | Phase::Listening => Stage::Decided,
        };
        Leadership::of(self.board.ids(), stage)
    }

    fn facts(&self, _now: Instant, tell: &mut dyn FnMut(Fact)) {
        tell(Fact::Claim { weight: self.weight });
        tell(Fact::Round { number: self.announced });
    }

    fn instants(&mut self, rebase: &Rebase) {
        self.board.instants(rebase);
        rebase.deadline(&mut self.next);
    }
}

/// Standing for election.
impl AnnounceListen {
    /// Puts itself on the board and opens an election.
    fn stand(&mut self, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        if params.names_leaders {
            self.board.enter(self.claim(), params.leaders);
        }
        self.announced = 0;
        self.open(cx);
    }

    /// Begins as the parameters say. The process believes in itself meanwhile.
    fn open(&mut self, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        match params.opening {
            Opening::Announce => self.announce(cx),
            Opening::Query => self.query(cx),
            Opening::Suppress | Opening::SuppressQuery => {
                self.phase = Phase::Suppressing;
                let wait = wake_up(params, self.weight, cx.entropy());
                cx.arm(Timer::Wake, cx.now() + wait);
                if params.repeat == Repeat::Redrawn {
                    cx.arm(Timer::Announce, cx.now() + params.announce);
                }
            }
        }
        self.raise_bar(params);
    }

    fn query(&mut self, cx: &mut Cx<'_, Self>) {
        self.phase = Phase::Querying;
        cx.broadcast(Message::Query(self.weight));
        cx.arm(Timer::Wake, cx.now() + cx.params().patience);
    }

    fn announce(&mut self, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        self.phase = Phase::Announcing;
        self.announced = self.announced.saturating_add(1);
        if self.announced == params.established_after {
            self.establish(cx);
        }
        cx.broadcast(Message::Announce(self.weight));
        if params.repeat == Repeat::Periodic {
            self.next = cx.now() + params.announce;
            cx.arm(Timer::Announce, self.next);
        }
        self.raise_bar(params);
    }

    /// It has led for long enough. Not who resigned: anyone may still take its place.
    fn establish(&mut self, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        if self.weight <= weigh(Class::Retired, STANDING_MAX) {
            return;
        }
        self.weight = weigh(Class::Established, self.weight & STANDING_MAX);
        if params.names_leaders {
            self.board.hear(self.claim(), Instant::NEVER, params.leaders);
            self.listen(cx);
        }
    }

    fn claim(&self) -> Claim {
        Claim { weight: self.weight, id: self.me }
    }
}

/// Hearing others.
impl AnnounceListen {
    #[inline]
    fn hear(&mut self, claim: Claim, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        if params.yields == Yields::ToAnyone {
            self.give_way(claim, cx);
            return;
        }
        match self.board.hear(claim, cx.now() + params.listen, params.leaders) {
            Heard::Refused => return,
            Heard::Refreshed => {}
            Heard::Admitted => {
                if params.yields == Yields::ToBetter && !self.board.holds(self.me) {
                    self.fall_silent(cx);
                }
            }
        }
        self.listen(cx);
        self.raise_bar(params);
    }

    /// The rule of suppression: whoever speaks first is right.
    fn give_way(&mut self, claim: Claim, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        let until = cx.now() + params.listen;
        match self.phase {
            Phase::Listening if !self.board.holds(claim.id) => return,
            Phase::Listening => self.board.refresh(claim.id, until),
            Phase::Announcing if params.repeat != Repeat::Periodic => return,
            Phase::Announcing | Phase::Suppressing | Phase::Querying => {
                self.fall_silent(cx);
                self.board.clear();
                if params.names_leaders {
                    self.board.hear(claim, until, params.leaders);
                }
            }
        }
        self.listen(cx);
        self.raise_bar(params);
    }

    fn fall_silent(&mut self, cx: &mut Cx<'_, Self>) {
        match self.phase {
            Phase::Suppressing | Phase::Querying => cx.disarm(Timer::Wake),
            Phase::Announcing => cx.disarm(Timer::Announce),
            Phase::Listening => {}
        }
        self.phase = Phase::Listening;
        self.announced = 0;
        self.next = Instant::NEVER;
        if self.weight > weigh(Class::Ordinary, STANDING_MAX) {
            self.weight = weigh(Class::Ordinary, self.weight & STANDING_MAX);
        }
    }

    /// A leader that is asked brings its next announcement forward, unless it is near enough. So
    /// several questions at once are answered once, no question puts the answer to another off, and
    /// a leader that gives way meanwhile does not answer at all.
    fn answer(&mut self, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        if self.phase == Phase::Announcing && params.repeat == Repeat::Periodic {
            if self.next.since(cx.now()) <= params.reply_spread {
                return;
            }
            let spread = params.reply_spread.as_nanos();
            let wait = if spread == 0 { 0 } else { cx.entropy().below(spread) };
            self.next = cx.now() + Duration::from_nanos(wait);
            cx.arm(Timer::Announce, self.next);
        }
    }

    fn part_with(&mut self, peer: NodeId, cx: &mut Cx<'_, Self>) {
        if self.board.remove(peer) {
            self.fill_gap(cx);
        }
    }

    /// Somebody on the board was silent for too long: gave way to age, or is given up.
    fn miss(&mut self, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        if let Some(aging) = params.aging {
            self.board.sink(cx.now() + params.listen.saturating_sub(aging), self.claim());
        }
        self.board.expire(cx.now());
        self.fill_gap(cx);
    }

    /// If there is room on the board now, the process stands for it.
    fn fill_gap(&mut self, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        if self.board.ids().len() < params.leaders && !self.board.holds(self.me) {
            if params.yields == Yields::Never {
                self.board.enter(self.claim(), params.leaders);
            } else {
                self.stand(cx);
            }
        }
        self.listen(cx);
        self.raise_bar(params);
    }

    /// Arms the listen timer for the first of the others to lose trust.
    #[inline]
    fn listen(&mut self, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        if params.listen == Duration::MAX {
            return;
        }
        let mut at = self.board.first_end();
        if let Some(aging) = params.aging {
            let fresh = self.board.first_end_above(self.claim());
            if fresh != Instant::NEVER {
                at = at.min(fresh - params.listen.saturating_sub(aging));
            }
        }
        if at == Instant::NEVER { cx.disarm(Timer::Listen) } else { cx.arm(Timer::Listen, at) }
    }

    #[inline]
    fn raise_bar(&mut self, params: &Params) {
        self.bar = match (params.yields, self.phase) {
            (Yields::ToBetter | Yields::Never, _) => match self.board.worst() {
                Some(worst) if self.board.ids().len() >= params.leaders => {
                    worst.weight + u64::from(params.knows_enough(worst.weight))
                }
                _ => 0,
            },
            (Yields::ToAnyone, Phase::Suppressing | Phase::Querying) => 0,
            (Yields::ToAnyone, Phase::Announcing) if params.repeat == Repeat::Periodic => 0,
            (Yields::ToAnyone, Phase::Announcing) => u64::MAX,
            (Yields::ToAnyone, Phase::Listening) => {
                let trust_ends = params.names_leaders && params.listen != Duration::MAX;
                if trust_ends { 0 } else { u64::MAX }
            }
        };
    }
}

/// Commands.
impl AnnounceListen {
    fn leave(&mut self, cx: &mut Cx<'_, Self>) {
        let params = cx.params();
        if self.may_be_followed() || params.bye_from_all {
            (0..params.bye_copies).for_each(|_| cx.broadcast(Message::Bye));
        }
        [Timer::Wake, Timer::Announce, Timer::Listen]
            .into_iter()
            .for_each(|timer| cx.disarm(timer));
        self.phase = Phase::Listening;
        self.next = Instant::NEVER;
        self.board.clear();
        self.raise_bar(params);
    }

    /// Whether it leads, as far as it knows, and has said so: a query counts as saying so.
    fn may_be_followed(&self) -> bool {
        matches!(self.phase, Phase::Announcing | Phase::Querying) && self.board.holds(self.me)
    }

    fn resign(&mut self, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        if cx.params().yields != Yields::ToBetter || self.phase != Phase::Announcing {
            return Err(Refused);
        }
        self.stand_lower(weigh(Class::Retired, self.weight & STANDING_MAX), cx);
        Ok(())
    }

    fn campaign(&mut self, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        if cx.params().yields != Yields::ToBetter {
            return Err(Refused);
        }
        let weight = weigh(Class::Ordinary, self.weight & STANDING_MAX);
        self.board.clear();
        if weight < self.weight {
            self.stand_lower(weight, cx);
        } else {
            self.fall_silent(cx);
            self.weight = weight;
            self.stand(cx);
            self.listen(cx);
        }
        Ok(())
    }

    fn take_rank(&mut self, rank: u64, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        let params = cx.params();
        if params.criterion != Criterion::Rank {
            return Err(Refused);
        }
        let weight = (self.weight & !STANDING_MAX) | rank.min(STANDING_MAX);
        let ordered = params.yields != Yields::ToAnyone;
        if ordered && weight < self.weight && self.may_be_followed() {
            self.stand_lower(weight, cx);
            return Ok(());
        }
        self.weight = weight;
        if self.board.holds(self.me) {
            self.board.enter(self.claim(), params.leaders);
        } else if ordered && self.board.worst().is_some_and(|worst| self.claim() > worst) {
            match params.yields {
                Yields::Never => self.board.enter(self.claim(), params.leaders),
                _ => self.stand(cx),
            }
        }
        self.listen(cx);
        self.raise_bar(params);
        Ok(())
    }

    /// A lighter claim from the same process would be taken for an old one, so the former claim is
    /// taken back first.
    fn stand_lower(&mut self, weight: u64, cx: &mut Cx<'_, Self>) {
        (0..cx.params().bye_copies.max(1)).for_each(|_| cx.broadcast(Message::Bye));
        self.fall_silent(cx);
        self.board.remove(self.me);
        self.weight = weight;
        self.stand(cx);
        self.listen(cx);
    }
}
