//! An inner protocol for tests: it sends what it is told to send and remembers what it hears.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use bellwether_core::{
    Boot, Command, Cx, Instant, Leadership, Malformed, Message, NoTimer, NodeId, Protocol, Reach,
    Reader, Rebase, Refused, WireWrite,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Word(pub(super) u64);

/// What it sends on its own.
pub(super) const HELLO: u64 = 1;

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
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Teller {
    pub(super) heard: Vec<(u64, u64)>,
    pub(super) reports: Vec<(u64, Reach)>,
}

impl Protocol for Teller {
    const NAME: &'static str = "teller";
    type Params = ();
    type Message = Word;
    type Timer = NoTimer;

    fn start(_boot: Boot<'_>, _cx: &mut Cx<'_, Self>) -> Self {
        Self { heard: Vec::new(), reports: Vec::new() }
    }

    fn on_message(&mut self, from: NodeId, word: Cow<'_, Word>, _cx: &mut Cx<'_, Self>) {
        self.heard.push((from.0, word.0));
    }

    fn on_timer(&mut self, timer: NoTimer, _cx: &mut Cx<'_, Self>) {
        match timer {}
    }

    fn on_peer(&mut self, peer: NodeId, reach: Reach, _cx: &mut Cx<'_, Self>) {
        self.reports.push((peer.0, reach));
    }

    /// Sends to all or to one; refuses to resign, after a few messages.
    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        match command {
            Command::Campaign => cx.broadcast(Word(HELLO)),
            Command::Transfer(to) => cx.send(to, Word(HELLO)),
            _ => {
                cx.send(NodeId(2), Word(HELLO));
                return Err(Refused::Unsupported);
            }
        }
        Ok(())
    }

    fn leadership(&self, _now: Instant) -> Leadership<'_> {
        Leadership::NONE
    }

    fn instants(&mut self, _rebase: &Rebase<'_>) {}
}
