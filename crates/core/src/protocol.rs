//! The one trait every election protocol implements.

use crate::candidacy::Candidacy;
use crate::cx::Cx;
use crate::fact::Fact;
use crate::id::NodeId;
use crate::leadership::Leadership;
use crate::rebase::Rebase;
use crate::refused::Refused;
use crate::time::{Duration, Instant};
use crate::timer::TimerKind;
use crate::wire::{Malformed, Reader};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt::Debug;
use core::hash::Hash;
use core::mem::needs_drop;

/// Plain data that can be compared, hashed and stored: a state, a message or a timer.
/// Floating-point numbers are not, so a state has none.
pub trait Value: Clone + Debug + Eq + Hash + Send + Sync + 'static {}

impl<T: Clone + Debug + Eq + Hash + Send + Sync + 'static> Value for T {}

/// An election protocol: a value with handlers.
///
/// The driver calls one handler at a time. A handler reads its context from [`Cx`] and writes its
/// effects there; it does nothing else. See the [crate page](crate) for the whole contract.
pub trait Protocol: Value {
    /// The name of the protocol, or of its family.
    const NAME: &'static str;
    /// Whether an election begins only when somebody calls it. A simulator need not even compile
    /// what such a protocol cannot do.
    const ON_DEMAND: bool = false;
    /// The parameters. They are valid, read through `cx.params()`, and never copied into the state.
    type Params: Clone + Debug + Send + Sync + 'static;
    /// The messages between its processes.
    type Message: Message;
    /// Its kinds of timers.
    type Timer: TimerKind;

    /// Starts a process, for the first time or again after a crash.
    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self;

    /// Handles a message. `into_owned` does not copy if this is the only receiver.
    fn on_message(&mut self, from: NodeId, message: Cow<'_, Self::Message>, cx: &mut Cx<'_, Self>);

    /// Handles a timer that is due; its slot is already empty.
    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Cx<'_, Self>);

    /// Handles a report that a peer became reachable or unreachable. Messages from it may still
    /// arrive after [`Reach::Down`]: they were in transit, or the report was wrong.
    fn on_peer(&mut self, _peer: NodeId, _reach: Reach, _cx: &mut Cx<'_, Self>) {}

    /// Handles a command of the application.
    ///
    /// # Errors
    /// [`Refused`] if the protocol cannot do it (now). The state must then be unchanged; a refused
    /// command's effects are discarded.
    fn on_command(&mut self, _command: Command, _cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        Err(Refused::Unsupported)
    }

    /// Why it would refuse this command now, as far as it is known without trying. A driver that
    /// must first end what an application does asks this before. Pure.
    fn refusal(&self, _command: Command, _cx: &mut Cx<'_, Self>) -> Option<Refused> {
        None
    }

    /// The process that is asked whether it can vote, while that is not known.
    fn invited(&self, _now: Instant) -> Option<NodeId> {
        None
    }

    /// As a leader: the process that should lead instead of it. The application is asked to end
    /// what it does, and to hand over then; until it does, the process leads on. Pure.
    fn successor(&self, _now: Instant) -> Option<NodeId> {
        None
    }

    /// The number of the partition that it belongs to, where leaders are local: it changes with the
    /// partition. Pure.
    fn partition(&self, _now: Instant) -> Option<u64> {
        None
    }

    /// Until when, by its own clock, the lease of the leader that it names may last: by then it is
    /// over, unless that leader has renewed it and the process has not heard so. In the past if it
    /// names a leader of which it has heard nothing for longer. `None` without a leader or leases.
    fn lease_end(&self, _now: Instant) -> Option<Instant> {
        None
    }

    /// The least weight of messages that matter to the process. For lighter ones, from any sender,
    /// `on_message` changes nothing and has no effects, until another step changes the state.
    ///
    /// A driver may skip such calls, and a simulator compares the bars of a whole group with one
    /// message's [`weight`](Message::weight) at once. The default, zero, accepts every message.
    fn min_weight(&self) -> u64 {
        0
    }

    /// Whether a message is redundant: handling it changes nothing and has no effects, so a driver
    /// may skip it. For messages that many processes send alike.
    #[inline]
    fn is_redundant(&self, _message: &Self::Message, _params: &Self::Params) -> bool {
        false
    }

    /// What the process believes now. Pure.
    fn leadership(&self, now: Instant) -> Leadership<'_>;

    /// Reports other facts about its state. Pure.
    fn facts(&self, _now: Instant, _tell: &mut dyn FnMut(Fact)) {}

    /// The bound on the delay of the last handled message, for a layer that bounds delays and could
    /// bound that one. A checker compares it with the true delay. Pure.
    fn last_delay_bound(&self) -> Option<Duration> {
        None
    }

    /// The last will of an incarnation: a message that frees all others of what they promised it.
    /// It may be sent in the name of the process once that incarnation has ended for certain, by
    /// whoever knows that, and never by the process itself. `None` if others need no such message.
    /// Pure.
    fn last_will(_life: u64, _params: &Self::Params) -> Option<Self::Message> {
        None
    }

    /// Passes every stored time through `rebase`, so that a checker recognises two states that
    /// differ only by a shift in time. `rebase` has this process's present; a time of another
    /// process's clock goes through [`Rebase::foreign`]. There is no default, so that it is not
    /// forgotten.
    fn instants(&mut self, rebase: &Rebase<'_>);
}

/// A message between processes.
pub trait Message: Value {
    /// Whether handlers only read it and never keep it. Then a simulator lends it to them where it
    /// lies, instead of moving it out.
    const IS_ONLY_READ: bool = !needs_drop::<Self>();

    /// Takes the message out of its place, where nobody reads it any more. The default clones it;
    /// one that owns memory leaves something small behind instead.
    #[inline]
    fn take(&mut self) -> Self {
        self.clone()
    }

    /// Moves the message to another place; nobody reads it in this one any more. Whoever has room
    /// that is rarely used moves only what is.
    #[inline]
    fn move_into(&mut self, place: &mut Self) {
        *place = self.take();
    }

    /// A short name for counts (`messages_<kind>`) and traces.
    fn kind(&self) -> &'static str;

    /// The weight, compared with [`Protocol::min_weight`]. The default is the greatest: such a
    /// message is never skipped.
    fn weight(&self) -> u64 {
        u64::MAX
    }

    /// The election and the round that it belongs to, both from 1, for protocols whose elections
    /// have rounds. Later ones are greater.
    fn round(&self) -> Option<(u32, u32)> {
        None
    }

    /// The greatest number that it carries of those that only grow, and count at most from the wall
    /// clock in nanoseconds: incarnations, terms, versions. One with the largest possible value
    /// would use them up for good, so a live runtime drops a message that is far beyond the wall
    /// clock; see [`Endpoint::set_latest`](crate::Endpoint::set_latest).
    fn latest(&self) -> u64 {
        0
    }

    /// Appends its bytes.
    fn encode(&self, out: &mut Vec<u8>);

    /// Reads one message. The caller checks for trailing bytes.
    ///
    /// # Errors
    /// [`Malformed`] for anything [`encode`](Self::encode) did not write. Counts are checked
    /// against the bytes left before anything is allocated.
    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed>;

    /// Passes every time that it carries to `to` through `rebase`, which has the *sender's*
    /// present: the sender's own times as in a state, echoed times of the receiver's clock through
    /// [`Rebase::foreign`] with `to`, and likewise those of a third process. Most messages carry
    /// none.
    fn instants(&mut self, _to: NodeId, _rebase: &Rebase<'_>) {}
}

/// What a process knows at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boot<'a> {
    /// Its own id.
    pub me: NodeId,
    /// The number of its incarnation, larger than in any earlier one.
    pub incarnation: u64,
    /// Its rank, larger is better, for protocols that elect by rank: priority, battery, spare
    /// capacity. It is not a parameter, because all members of a group share those.
    pub rank: u64,
    /// How willing it is to lead, for protocols that have priorities and witnesses.
    pub candidacy: Candidacy,
    /// What is left of its stored state.
    pub memory: Memory<'a>,
}

impl Boot<'_> {
    /// The first start of `me`, an ordinary process ranked by its id.
    pub fn first(me: NodeId) -> Self {
        let candidacy = Candidacy::default();
        Boot { me, incarnation: 1, rank: me.0, candidacy, memory: Memory::First }
    }
}

/// What is left of the state that a process stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory<'a> {
    /// It never ran before.
    First,
    /// It ran, but its stored state is lost or damaged.
    Lost,
    /// The last bytes it stored.
    Kept(&'a [u8]),
}

/// Whether a peer is reachable: an event, unlike membership, which `cx.peers()` gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reach {
    /// It is reachable.
    Up,
    /// It is not reachable. Its messages may still arrive.
    Down,
}

/// A command of an application to its member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Command {
    /// Hold an election now.
    Campaign,
    /// Stop leading and stay in the group.
    Resign,
    /// Stop leading in favour of this process.
    Transfer(NodeId),
    /// Leave the group for good. The process ends after the step; the messages of the step are
    /// sent.
    Leave,
    /// Change its rank to this.
    Rank(u64),
    /// Be this willing to lead from now on. A leader leads on, also if it becomes a witness: it
    /// resigns when its application is done.
    Candidacy(Candidacy),
    /// Let this member vote, which does not yet.
    Add(NodeId),
    /// Let this member vote no longer.
    Remove(NodeId),
    /// Let the second member vote instead of the first.
    Replace(NodeId, NodeId),
    /// Let locks last this long, and let clocks drift by so many millionths; what is `None` stays
    /// as it is.
    Lengths(Option<Duration>, Option<u32>),
}
