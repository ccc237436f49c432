//! A protocol that counts its starts on disk, and tells what it found there.

use bellwether_core::{
    Boot, Cx, Dest, Instant, Leadership, Malformed, Memory, Message, NoTimer, NodeId, Protocol,
    Reader, Rebase, SimTime,
};
use bellwether_sim::Observer;
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Keeper;

/// What a process found when it started.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Found {
    First,
    Lost,
    /// It had started this many times before.
    Boots(u64),
    /// This many bytes that are not a count.
    Torn(usize),
}

/// "I am up": the incarnation, and what was found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Woke(pub(crate) u64, pub(crate) Found);

impl Message for Woke {
    fn kind(&self) -> &'static str {
        "woke"
    }

    fn encode(&self, _out: &mut Vec<u8>) {}

    fn decode(_input: &mut Reader<'_>) -> Result<Self, Malformed> {
        Err(Malformed)
    }
}

impl Protocol for Keeper {
    const NAME: &'static str = "keeper";
    type Params = ();
    type Message = Woke;
    type Timer = NoTimer;

    /// It stores its count, except after a loss or a torn write: so a test sees what a damaged disk
    /// still holds.
    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        let found = match boot.memory {
            Memory::First => Found::First,
            Memory::Lost => Found::Lost,
            Memory::Kept(bytes) => match <[u8; 8]>::try_from(bytes) {
                Ok(boots) => Found::Boots(u64::from_le_bytes(boots)),
                Err(_) => Found::Torn(bytes.len()),
            },
        };
        match found {
            Found::First => cx.store(1u64.to_le_bytes().to_vec()),
            Found::Boots(boots) => cx.store((boots + 1).to_le_bytes().to_vec()),
            Found::Lost | Found::Torn(_) => {}
        }
        cx.broadcast(Woke(boot.incarnation, found));
        Self
    }

    fn on_message(&mut self, _from: NodeId, _woke: Cow<'_, Woke>, _cx: &mut Cx<'_, Self>) {}

    fn on_timer(&mut self, timer: NoTimer, _cx: &mut Cx<'_, Self>) {
        match timer {}
    }

    fn leadership(&self, _now: Instant) -> Leadership<'_> {
        Leadership::NONE
    }

    fn instants(&mut self, _rebase: &Rebase<'_>) {}
}

/// Hears what process 0 says of its starts.
#[derive(Debug, Default)]
pub(crate) struct Starts(pub(crate) Vec<Woke>);

impl Observer<Keeper> for Starts {
    fn on_send(&mut self, _at: SimTime, from: u32, _to: Dest, message: &Woke, _number: u32) {
        if from == 0 {
            self.0.push(message.clone());
        }
    }
}
