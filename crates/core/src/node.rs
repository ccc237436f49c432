//! One process: a protocol, its timers, and its last known belief about leadership.

use crate::cx::{Cx, Env};
use crate::effect::Effect;
use crate::fact::Fact;
use crate::id::NodeId;
use crate::leadership::{Change, Leadership, LeadershipKey};
use crate::protocol::{Boot, Command, Protocol, Reach};
use crate::rebase::Rebase;
use crate::refused::Refused;
use crate::time::{Duration, Instant};
use crate::timer::{Slots, TimerKind};
use alloc::borrow::Cow;
use alloc::vec::Vec;

/// An input of a process. Commands are separate, because they have a result.
#[derive(Debug)]
pub enum Input<'a, P: Protocol> {
    /// A message from this process.
    Message(NodeId, Cow<'a, P::Message>),
    /// A change of this peer's reachability.
    Peer(NodeId, Reach),
    /// Time passed; [`Node::poll_timeout`] may have been reached. Early calls are harmless.
    Timeout,
}

/// A protocol with its timer slots: what a driver holds, one per process.
///
/// The driver owns the parameters and the effect buffer, so that a million nodes share one of each.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node<P: Protocol> {
    protocol: P,
    slots: <P::Timer as TimerKind>::Slots,
    seen: LeadershipKey,
    lapse: Instant,
}

impl<P: Protocol> Node<P> {
    /// Starts a process. Afterwards `effects` holds what to store and send.
    pub fn start(
        boot: Boot<'_>,
        env: &mut Env<'_>,
        params: &P::Params,
        effects: &mut Vec<Effect<P>>,
    ) -> Self {
        let mut node = Self::begin(boot, env, params, effects);
        node.absorb(effects);
        node
    }

    /// Handles one input. Afterwards `effects` holds what to store and send, in order.
    ///
    /// At most one timer fires per call: call again while [`poll_timeout`](Self::poll_timeout) is
    /// not later than now.
    #[inline(always)] // keeps the context in registers, which halves the time of a small step
    pub fn handle(
        &mut self,
        input: Input<'_, P>,
        env: &mut Env<'_>,
        params: &P::Params,
        effects: &mut Vec<Effect<P>>,
    ) -> Change {
        self.step(input, env, params, effects);
        self.absorb(effects);
        self.look(env.now)
    }

    /// Handles a command.
    ///
    /// # Errors
    /// [`Refused`] as the protocol says; nothing changed. A refused command's effects are
    /// discarded: `effects` holds what it held before.
    pub fn command(
        &mut self,
        command: Command,
        env: &mut Env<'_>,
        params: &P::Params,
        effects: &mut Vec<Effect<P>>,
    ) -> Result<Change, Refused> {
        let before = effects.len();
        let answer = self.protocol.on_command(command, &mut Cx::new(env, params, effects));
        if let Err(refused) = answer {
            effects.truncate(before);
            return Err(refused);
        }
        self.absorb(effects);
        Ok(self.look(env.now))
    }

    /// See [`Protocol::invited`].
    pub fn invited(&self, now: Instant) -> Option<NodeId> {
        self.protocol.invited(now)
    }

    /// See [`Protocol::successor`].
    pub fn successor(&self, now: Instant) -> Option<NodeId> {
        self.protocol.successor(now)
    }

    /// See [`Protocol::partition`].
    pub fn partition(&self, now: Instant) -> Option<u64> {
        self.protocol.partition(now)
    }

    /// See [`Protocol::lease_end`].
    pub fn lease_end(&self, now: Instant) -> Option<Instant> {
        self.protocol.lease_end(now)
    }

    /// See [`Protocol::refusal`].
    pub fn refusal(
        &self,
        command: Command,
        env: &mut Env<'_>,
        params: &P::Params,
    ) -> Option<Refused> {
        self.protocol.refusal(command, &mut Cx::new(env, params, &mut Vec::new()))
    }

    /// When to call with [`Input::Timeout`] at the latest: the first timer, or the end of the
    /// current belief. Every other call may change it.
    #[inline]
    pub fn poll_timeout(&self) -> Instant {
        self.slots.earliest().1.min(self.lapse)
    }

    /// What the process believes now.
    #[inline]
    pub fn leadership(&self, now: Instant) -> Leadership<'_> {
        let leadership = self.protocol.leadership(now);
        assert!(leadership.until > now, "a belief that is over is never told");
        leadership
    }

    /// Other facts about its state.
    pub fn facts(&self, now: Instant, tell: &mut dyn FnMut(Fact)) {
        self.protocol.facts(now, tell);
    }

    /// See [`Protocol::last_delay_bound`].
    pub fn last_delay_bound(&self) -> Option<Duration> {
        self.protocol.last_delay_bound()
    }

    /// See [`Protocol::min_weight`].
    #[inline]
    pub fn min_weight(&self) -> u64 {
        self.protocol.min_weight()
    }

    /// See [`Protocol::is_redundant`].
    #[inline(always)]
    pub fn is_redundant(&self, message: &P::Message, params: &P::Params) -> bool {
        self.protocol.is_redundant(message, params)
    }

    /// The timer that is due by `now`, which the next [`Input::Timeout`] fires.
    pub fn due(&self, now: Instant) -> Option<P::Timer> {
        let (slot, at) = self.slots.earliest();
        (at <= now && at != Instant::NEVER).then(|| P::Timer::at(slot))
    }

    /// When this kind of timer is due; [`Instant::NEVER`] if it is not armed.
    pub fn deadline(&self, timer: P::Timer) -> Instant {
        self.slots.deadline(timer.slot())
    }

    /// The protocol's state.
    pub fn protocol(&self) -> &P {
        &self.protocol
    }

    /// Shifts all stored times; see [`Rebase`], whose present must be this node's.
    pub fn instants(&mut self, rebase: &Rebase<'_>) {
        self.protocol.instants(rebase);
        self.slots.for_each(&mut |at| {
            rebase.deadline(at);
        });
        rebase.deadline(&mut self.lapse);
    }

    /// Replaces the state.
    pub(crate) fn replace(&mut self, protocol: P) {
        self.protocol = protocol;
    }

    /// Starts the protocol and leaves all effects in the list.
    pub(crate) fn begin(
        boot: Boot<'_>,
        env: &mut Env<'_>,
        params: &P::Params,
        effects: &mut Vec<Effect<P>>,
    ) -> Self {
        let protocol = P::start(boot, &mut Cx::new(env, params, effects));
        let leadership = protocol.leadership(env.now);
        let (seen, lapse) = (LeadershipKey::of(&leadership), leadership.until);
        Self { protocol, slots: Slots::EMPTY, seen, lapse }
    }

    /// Runs the handler and leaves all effects in the list.
    #[inline(always)]
    pub(crate) fn step(
        &mut self,
        input: Input<'_, P>,
        env: &mut Env<'_>,
        params: &P::Params,
        effects: &mut Vec<Effect<P>>,
    ) {
        let due = match input {
            Input::Timeout => match self.due(env.now) {
                Some(timer) => Some(timer),
                None => return,
            },
            _ => None,
        };
        let mut cx = Cx::new(env, params, effects);
        match input {
            // Wrapped anew: otherwise the room for an owned message is copied, too.
            Input::Message(from, Cow::Borrowed(message)) => {
                self.protocol.on_message(from, Cow::Borrowed(message), &mut cx);
            }
            Input::Message(from, message) => self.protocol.on_message(from, message, &mut cx),
            Input::Peer(peer, reach) => self.protocol.on_peer(peer, reach, &mut cx),
            Input::Timeout => {
                if let Some(timer) = due {
                    // Cleared first: the handler may arm the same kind again.
                    self.slots.set(timer.slot(), Instant::NEVER);
                    self.protocol.on_timer(timer, &mut cx);
                }
            }
        }
    }

    /// Applies the timer effects and leaves the others in the list.
    #[inline(always)]
    pub(crate) fn absorb(&mut self, effects: &mut Vec<Effect<P>>) {
        let mut timers = 0;
        for effect in effects.iter() {
            match effect {
                Effect::Arm(timer, at) => self.slots.set(timer.slot(), *at),
                Effect::Disarm(timer) => self.slots.set(timer.slot(), Instant::NEVER),
                Effect::Send(..) | Effect::Store(_) => continue,
            }
            timers += 1;
        }
        if timers == effects.len() {
            effects.clear(); // most steps have no effect or set a timer
        } else if timers > 0 {
            effects.retain(|effect| matches!(effect, Effect::Send(..) | Effect::Store(_)));
        }
    }

    /// Compares the present belief with the last known one.
    #[inline(always)]
    pub(crate) fn look(&mut self, now: Instant) -> Change {
        let leadership = self.leadership(now);
        let mut seen = LeadershipKey::of(&leadership);
        self.lapse = leadership.until;
        if !seen.differs_from(&self.seen) {
            return Change::Same;
        }
        // The last term stays noted while no leader is known: the next one must not be lower.
        seen.term = seen.term.or(self.seen.term);
        assert!(self.seen.term <= seen.term, "a term never falls within a life");
        self.seen = seen;
        Change::Changed
    }
}
