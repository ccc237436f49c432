//! Announce-listen elections: one state machine, ten protocols.
//!
//! **Source.** Eve M. Schooler, "Why multicast protocols (don't) scale: an analysis of multipoint
//! algorithms for scalable group communication", Ph.D. thesis, California Institute of Technology,
//! 2001 (doi:10.7907/44QZ-R465), chapter 5, "Leader Election"; "the thesis" in what follows. LE-A
//! (Program 5.1), LE-S (Program 5.2), LE-M (section 5.4.3), its yardsticks SUP and AL, and its
//! future work (section 5.7): Query, Suppress-then-Query, Bye, several leaders, aging, SUP+AL.
//!
//! **Assumptions.** A message reaches all processes or, if lost, some or none. Clocks only measure
//! intervals. Processes come and go; no process knows how many there are.
//!
//! **Promise.** *Eventually one*: when messages arrive often enough, all live processes name the
//! best live one. Before that two may lead at once. SUP and SUP+AL used as a limiter elect nobody.
//! SUP+AL used as an election promises nothing, and a scenario shows its deadlock.
//!
//! | message | sender | meaning | receiver |
//! |---|---|---|---|
//! | `Announce(weight)` | a process that believes it leads, every T_A | "I lead" | processes that know nobody better |
//! | `Query(weight)` | a process that looks for a leader | "who leads?" | leaders answer by announcing |
//! | `Bye` | a process that leaves or resigns | "not me any more" | its followers |
//!
//! # Where this departs from the printed programs
//!
//! A test fails without each of them (`tests/corrections.rs`).
//!
//! 1. An announcement of the *current* leader re-arms the listen timer. As printed only a greater
//!    address does, and every listener times out T_L after adopting, even without loss.
//! 2. The timer tests do not sit inside the receive branch.
//! 3. A smaller address is ignored, also while suppressing: at first a process believes in itself.
//! 4. At equal times a message comes before a timer (the driver's part of the contract).
//!
//! # Where the text is silent, and what we chose
//!
//! * LE-M: the first wake-up drawn is the key for life. Later elections of the same process wait it
//!   out again, so that key and wake-up stay the same. A leader is *established* once it has
//!   announced ⌈T_L/T_A⌉ times. Established claims precede all others, so that a newcomer does not
//!   displace a leader by a lucky draw.
//! * A Query is heard like an announcement, as the text says. A leader answers by bringing its next
//!   announcement forward, by a random part of the reply spread.
//! * Aging: a leader silent for longer than `aging` is still followed, but counts no more than the
//!   listener's own claim. It therefore no longer keeps out a better one. Without aging, listeners
//!   that still trust a departed leader ignore the new one.
//! * Resigning: the process says Bye and stands again with the lowest standing, so that it leads
//!   only if nobody else would. `Campaign` takes that back.

mod board;
mod bye;
mod commands;
mod error;
mod hearing;
mod message;
mod params;
mod row;
mod standing;
mod table;
mod wake;

#[cfg(test)]
mod tests;

pub use bye::{announcements_beyond_first, bye_copies};
pub use error::BadConfig;
pub use message::Message;
pub use params::{BYES_MAX, Criterion, LEADERS_MAX, Opening, Params, Repeat, Variant, Yields};
pub use table::Config;
pub use wake::{Distribution, Mapping, Shape, WakeBy, WakeUp};

use alloc::borrow::Cow;
use bellwether_core::{
    Boot, Command, Cx, Duration, Entropy, Fact, Instant, Leadership, NodeId, Protocol, Rebase,
    Refused, Stage, timer_kinds,
};
use board::{Board, Claim};

/// One process of the family. Its [`Params`] decide what it does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AnnounceListen {
    me: NodeId,
    /// Its own claim to lead.
    weight: u64,
    /// Announcements below this weight do not concern it.
    min_weight: u64,
    board: Board,
    /// Announcements in a row since it last took the lead.
    announced: u32,
    phase: Phase,
    /// When a periodic announcer speaks next; never if it is not one.
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

/// The timers of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The wait that opens an election is over (T_S, or the patience of a query).
    Wake,
    /// The next announcement is due (T_A).
    Announce,
    /// A leader was silent for too long (T_L, or its aging).
    Listen,
}

timer_kinds!(Timer: Wake, Announce, Listen);

/// The class of a claim, which comes before the standing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Resigned: it leads only if nobody else would.
    Retired = 0,
    /// The usual class.
    Ordinary = 1,
    /// It has led for long enough that a lucky draw does not displace it.
    Established = 2,
}

/// The largest standing that can be told apart from larger ones.
pub const STANDING_MAX: u64 = (1 << 62) - 1;

/// The weight of a claim: two bits of class, then the standing. Claims of equal weight are ordered
/// by id, so ids too large for 62 bits are still told apart.
#[inline]
pub fn weigh(class: Class, standing: u64) -> u64 {
    ((class as u64) << 62) | standing.min(STANDING_MAX)
}

/// The claim with which a process starts, from its id, its rank or its first random draw.
#[inline]
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

/// How long a process with this claim suppresses itself: drawn anew, unless the claim itself stands
/// for a wake-up.
#[inline]
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
            min_weight: 0,
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
            return; // another process with the same id, or an echo
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
            Timer::Listen => self.on_silence(cx),
        }
    }

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        match command {
            Command::Leave => self.leave(cx),
            Command::Resign => self.resign(cx)?,
            Command::Campaign => self.campaign(cx)?,
            Command::Rank(rank) => self.take_rank(rank, cx)?,
            _ => return Err(Refused::Unsupported),
        }
        Ok(())
    }

    #[inline]
    fn min_weight(&self) -> u64 {
        self.min_weight
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

    #[inline]
    fn facts(&self, _now: Instant, tell: &mut dyn FnMut(Fact)) {
        tell(Fact::Claim { weight: self.weight });
        tell(Fact::Round { number: self.announced });
    }

    fn instants(&mut self, rebase: &Rebase) {
        self.board.instants(rebase);
        rebase.deadline(&mut self.next);
    }
}
