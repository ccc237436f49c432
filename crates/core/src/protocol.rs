//! The one trait every election protocol implements.

use crate::cx::Cx;
use crate::fact::Fact;
use crate::id::NodeId;
use crate::leadership::Leadership;
use crate::rebase::Rebase;
use crate::time::{Duration, Instant};
use crate::timer::TimerKind;
use crate::wire::{Malformed, Reader};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt::{self, Debug};
use core::hash::Hash;

/// What a state, a message or a timer is: plain data that can be compared, hashed and kept.
/// Floating point is not, so none can hide in a state.
pub trait Value: Clone + Debug + Eq + Hash + Send + Sync + 'static {}

impl<T: Clone + Debug + Eq + Hash + Send + Sync + 'static> Value for T {}

/// An election protocol: a value with handlers.
///
/// The driver calls one handler at a time. A handler reads its surroundings from [`Cx`] and writes
/// its wishes there; it does nothing else. See the [crate page](crate) for the whole bargain.
pub trait Protocol: Value {
    /// The name of the protocol, or of its family.
    const NAME: &'static str;
    /// Already valid; read through `cx.params()`, never copied into the state.
    type Params: Clone + Debug + Send + Sync + 'static;
    /// What its processes say to each other.
    type Message: Message;
    /// What it can be woken for.
    type Timer: TimerKind;

    /// A process begins, for the first time or again after a crash.
    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self;

    /// A message arrived. `into_owned` is free when this is the only receiver.
    fn on_message(&mut self, from: NodeId, message: Cow<'_, Self::Message>, cx: &mut Cx<'_, Self>);

    /// A timer is due; its slot is already empty.
    fn on_timer(&mut self, timer: Self::Timer, cx: &mut Cx<'_, Self>);

    /// A peer became reachable or unreachable, as far as the driver can tell. Messages from it may
    /// still arrive after [`Reach::Down`]: they were under way, or the driver was wrong.
    fn on_peer(&mut self, _peer: NodeId, _reach: Reach, _cx: &mut Cx<'_, Self>) {}

    /// The application asks for something.
    ///
    /// # Errors
    /// [`Refused`] if the protocol cannot do it (now). The state must then be unchanged; a refused
    /// command's effects are discarded.
    fn on_command(&mut self, _command: Command, _cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        Err(Refused)
    }

    /// Messages that weigh less than this do not concern the process: for them `on_message` would
    /// change nothing and ask for nothing, whoever sent them, until the next step that does.
    ///
    /// A driver may then leave the call out, and a simulator compares a whole group's bars with one
    /// message's [`weight`](Message::weight) at once. The default, nought, lets every message in.
    fn bar(&self) -> u64 {
        0
    }

    /// Whether it knows already all that a message says: to handle it would change nothing and ask
    /// for nothing, so a driver may leave it out. For words that many say alike.
    #[inline]
    fn knows(&self, _message: &Self::Message, _params: &Self::Params) -> bool {
        false
    }

    /// What the process believes now. Pure.
    fn leadership(&self, now: Instant) -> Leadership<'_>;

    /// What else it holds true. Pure.
    fn facts(&self, _now: Instant, _tell: &mut dyn FnMut(Fact)) {}

    /// The bound on the delay of the message that it handled last, if it is a layer that bounds
    /// delays and could bound that one. For a checker, which knows the true delay. Pure.
    fn last_delay_bound(&self) -> Option<Duration> {
        None
    }

    /// Passes every stored instant through `rebase`, so that a checker can recognise two states
    /// that differ in nothing but the date. `rebase` has this process's present; an instant of
    /// another process's clock goes through [`Rebase::foreign`]. No default, so that none is
    /// forgotten.
    fn instants(&mut self, rebase: &Rebase<'_>);
}

/// What processes say to each other.
pub trait Message: Value {
    /// A short name for counts (`messages_<kind>`) and traces.
    fn kind(&self) -> &'static str;

    /// Compared with [`Protocol::bar`]. The default, the greatest, gets past every bar.
    fn weight(&self) -> u64 {
        u64::MAX
    }

    /// Which round of which election it begins or belongs to, from 1 each, for protocols whose
    /// elections have rounds: (election, round). Later ones are greater.
    fn round(&self) -> Option<(u32, u32)> {
        None
    }

    /// Appends its bytes.
    fn encode(&self, out: &mut Vec<u8>);

    /// Reads one message. Trailing bytes are the caller's business.
    ///
    /// # Errors
    /// [`Malformed`] for anything [`encode`](Self::encode) did not write. Counts are checked
    /// against the bytes left before anything is allocated.
    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed>;

    /// Passes every instant it carries on its way to `to` through `rebase`, which has the
    /// *sender's* present: the sender's instants as in a state, what it echoes of the receiver's
    /// clock through [`Rebase::foreign`] with `to`, and likewise those of any third process. Most
    /// messages carry none.
    fn instants(&mut self, _to: NodeId, _rebase: &Rebase<'_>) {}
}

/// What a process knows when it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Boot<'a> {
    /// Its own name.
    pub me: NodeId,
    /// Counts its starts; larger than in any former life.
    pub incarnation: u64,
    /// How fit it is to lead, larger is better, for protocols that choose by fitness: priority,
    /// battery, spare capacity. Given here and not in the parameters, which a group has in common.
    pub rank: u64,
    /// What is left of its former life.
    pub memory: Memory<'a>,
}

impl Boot<'_> {
    /// The first start ever of `me`, ranked by its id.
    pub fn first(me: NodeId) -> Self {
        Boot { me, incarnation: 1, rank: me.0, memory: Memory::First }
    }
}

/// What is left of what a process stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory<'a> {
    /// It never ran before.
    First,
    /// It ran, but what it stored is gone or damaged.
    Lost,
    /// The last bytes it stored.
    Kept(&'a [u8]),
}

/// Whether a peer can be reached: an event, unlike membership, which `cx.peers()` tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reach {
    /// It can.
    Up,
    /// It cannot. What it said before, or says all the same, may still arrive.
    Down,
}

/// What an application may ask of its member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Command {
    /// Hold an election now.
    Campaign,
    /// Stop leading, stay in the group.
    Resign,
    /// Stop leading in favour of this process.
    Transfer(NodeId),
    /// Leave the group for good. The process ends after the step; its messages still go out.
    Leave,
    /// Its fitness to lead is now this.
    Rank(u64),
}

/// The protocol does not do what the command asked; nothing changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the protocol does not take this command now; nothing changed")
    }
}

impl core::error::Error for Refused {}
