//! A token that is passed on for ever: the smallest protocol that keeps the post busy.

use bellwether::core::{
    Boot, Cx, Instant, Leadership, Malformed, Message, NoTimer, NodeId, Protocol, Reader, Rebase,
};
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Token {
    next: NodeId,
}

#[derive(Clone, Debug)]
pub(crate) struct Params {
    /// How many processes start with a token.
    pub(crate) tokens: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pass;

impl Message for Pass {
    fn kind(&self) -> &'static str {
        "pass"
    }

    fn encode(&self, _out: &mut Vec<u8>) {}

    fn decode(_input: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self)
    }
}

impl Protocol for Token {
    const NAME: &'static str = "token";
    type Params = Params;
    type Message = Pass;
    type Timer = NoTimer;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        let next = cx.peers().successor(boot.me).unwrap_or(boot.me);
        if boot.me.0 < cx.params().tokens {
            cx.send(next, Pass);
        }
        Self { next }
    }

    fn on_message(&mut self, _from: NodeId, pass: Cow<'_, Pass>, cx: &mut Cx<'_, Self>) {
        cx.send(self.next, pass.into_owned());
    }

    fn on_timer(&mut self, timer: NoTimer, _cx: &mut Cx<'_, Self>) {
        match timer {}
    }

    fn leadership(&self, _now: Instant) -> Leadership<'_> {
        Leadership::NONE
    }

    fn instants(&mut self, _rebase: &Rebase<'_>) {}
}
