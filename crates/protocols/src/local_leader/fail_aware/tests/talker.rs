//! An inner protocol for tests: it does a little of everything a protocol can do.

use super::*;
use bellwether_core::{Malformed, Message, Reader, WireWrite};

/// Whether it broadcasts when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Temper {
    pub(super) speaks_first: bool,
}

/// A number. It is also an instant of the receiver's clock, for a rebase to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Word(pub(super) u64);

/// The message that must be answered.
pub(super) const QUESTION: Word = Word(7);
pub(super) const ANSWER: Word = Word(8);
/// What it sends on its own.
pub(super) const HELLO: Word = Word(1);

impl Message for Word {
    fn kind(&self) -> &'static str {
        "word"
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.0);
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        input.u64().map(Self)
    }

    fn instants(&mut self, to: NodeId, rebase: &Rebase<'_>) {
        let mut at = Instant::from_nanos(self.0);
        rebase.foreign(to, &mut at);
        self.0 = at.as_nanos();
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Alarm;

timer_kinds!(Alarm);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Talker {
    me: NodeId,
    pub(super) started: Instant,
    /// The sender of the last message, and its bound.
    pub(super) heard: Option<(NodeId, Option<Duration>)>,
    words: u32,
}

impl Protocol for Talker {
    const NAME: &'static str = "talker";
    type Params = Temper;
    type Message = Word;
    type Timer = Alarm;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        if cx.params().speaks_first {
            cx.broadcast(HELLO);
        }
        Self { me: boot.me, started: cx.now(), heard: None, words: 0 }
    }

    fn on_message(&mut self, from: NodeId, word: Cow<'_, Word>, cx: &mut Cx<'_, Self>) {
        self.heard = Some((from, cx.delay_bound()));
        self.words += 1;
        if *word == QUESTION {
            cx.send(from, ANSWER);
        }
    }

    fn on_timer(&mut self, _alarm: Alarm, cx: &mut Cx<'_, Self>) {
        cx.broadcast(HELLO);
    }

    /// Notes which processes are gone.
    fn on_peer(&mut self, peer: NodeId, reach: Reach, cx: &mut Cx<'_, Self>) {
        if reach == Reach::Down {
            cx.store(vec![peer.0 as u8]);
        }
    }

    /// Sends to all or to one, arms and disarms; refuses to resign, after a few messages.
    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        match command {
            Command::Campaign => cx.broadcast(HELLO),
            Command::Transfer(to) => cx.send(to, HELLO),
            Command::Rank(millis) => cx.arm(Alarm, at(millis)),
            Command::Leave => cx.disarm(Alarm),
            Command::Resign => {
                cx.broadcast(HELLO);
                return Err(Refused::NotNow);
            }
            _ => return Err(Refused::Unsupported),
        }
        Ok(())
    }

    fn min_weight(&self) -> u64 {
        9
    }

    fn last_will(life: u64, temper: &Temper) -> Option<Word> {
        (!temper.speaks_first).then_some(Word(life))
    }

    fn leadership(&self, _now: Instant) -> Leadership<'_> {
        Leadership::of(core::slice::from_ref(&self.me), bellwether_core::Stage::Decided)
    }

    fn facts(&self, _now: Instant, tell: &mut dyn FnMut(Fact)) {
        tell(Fact::Round { number: self.words });
    }

    fn instants(&mut self, rebase: &Rebase<'_>) {
        rebase.stamp(&mut self.started);
    }
}

impl Inner for Talker {}
