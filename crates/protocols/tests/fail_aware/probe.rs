//! The tiniest protocol: it speaks when told to and remembers how its last message was bounded.

use bellwether_core::{
    Boot, Command, Cx, Duration, Instant, Leadership, Malformed, Message, NoTimer, NodeId,
    Protocol, Reader, Rebase, Refused,
};
use std::borrow::Cow;

/// What it says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Word;

impl Message for Word {
    fn kind(&self) -> &'static str {
        "word"
    }

    fn encode(&self, _out: &mut Vec<u8>) {}

    fn decode(_input: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self)
    }
}

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Probe {
    /// How many words it has heard.
    pub(crate) words: u32,
    /// What the layer said of the last one.
    pub(crate) bound: Option<Duration>,
}

impl Protocol for Probe {
    const NAME: &'static str = "probe";
    type Params = ();
    type Message = Word;
    type Timer = NoTimer;

    fn start(_boot: Boot<'_>, _cx: &mut Cx<'_, Self>) -> Self {
        Self { words: 0, bound: None }
    }

    fn on_message(&mut self, _from: NodeId, _word: Cow<'_, Word>, cx: &mut Cx<'_, Self>) {
        self.words += 1;
        self.bound = cx.delay_bound();
    }

    fn on_timer(&mut self, timer: NoTimer, _cx: &mut Cx<'_, Self>) {
        match timer {}
    }

    /// `Campaign` speaks to all, `Transfer` to one.
    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        match command {
            Command::Campaign => cx.broadcast(Word),
            Command::Transfer(to) => cx.send(to, Word),
            _ => return Err(Refused::Unsupported),
        }
        Ok(())
    }

    fn leadership(&self, _now: Instant) -> Leadership<'_> {
        Leadership::NONE
    }

    fn instants(&mut self, _rebase: &Rebase<'_>) {}
}

impl bellwether_protocols::local_leader::fail_aware::Inner for Probe {}
