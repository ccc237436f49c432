//! Frames: a message of the inner protocol with the stamps that bound its delay.

use alloc::vec::Vec;
use bellwether_core::{Few, Instant, Malformed, Message, NodeId, Reader, Rebase, WireWrite};
use core::mem::swap;

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame<M> {
    /// The sender's incarnation.
    pub life: u64,
    /// C: when it was sent, on the sender's clock.
    pub sent: Instant,
    /// The stamps that the sender last heard from its receivers: in a unicast the receiver's row,
    /// in a broadcast the rows of all known peers. A receiver reads the first row with its id.
    pub echoes: Echoes,
    /// The message of the inner protocol; `None` in a frame that only carries stamps.
    pub body: Option<M>,
}

/// The rows of a frame: those of a group of five need no allocation.
pub type Echoes = Few<Echo, 4>;

/// One row: the stamps of a message that the sender of the frame received from `node`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Echo {
    /// The sender of that message.
    pub node: NodeId,
    /// The incarnation of `node` that read `sent` from its clock.
    pub life: u64,
    /// A: when it was sent, on the clock of `node`.
    pub sent: Instant,
    /// B: when it was received, on the clock of the frame's sender.
    pub received: Instant,
}

/// What stands in the places of a list that hold no row.
impl Default for Echo {
    fn default() -> Self {
        Self { node: NodeId(0), life: 0, sent: Instant::ZERO, received: Instant::ZERO }
    }
}

impl Echo {
    /// The length on the wire, in bytes.
    const BYTES: usize = 32;

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (node, life) = (input.node()?, input.u64()?);
        Ok(Self { node, life, sent: input.instant()?, received: input.instant()? })
    }
}

impl<M: Message> Message for Frame<M> {
    const IS_ONLY_READ: bool = M::IS_ONLY_READ;

    #[inline]
    fn move_into(&mut self, place: &mut Self) {
        (place.life, place.sent) = (self.life, self.sent);
        place.echoes.clone_from(&self.echoes);
        match &mut self.body {
            None => place.body = None,
            body => swap(body, &mut place.body),
        }
    }

    fn kind(&self) -> &'static str {
        self.body.as_ref().map_or("stamp", M::kind)
    }

    fn round(&self) -> Option<(u32, u32)> {
        self.body.as_ref().and_then(M::round)
    }

    fn latest(&self) -> u64 {
        let echoed = self.echoes.iter().map(|echo| echo.life).max();
        let inner = self.body.as_ref().map_or(0, M::latest);
        self.life.max(inner).max(echoed.unwrap_or(0))
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.life);
        out.put_instant(self.sent);
        out.put_list(&self.echoes, |out, echo| {
            out.put_node(echo.node);
            out.put_u64(echo.life);
            out.put_instant(echo.sent);
            out.put_instant(echo.received);
        });
        out.put_flag(self.body.is_some());
        if let Some(body) = &self.body {
            body.encode(out);
        }
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (life, sent) = (input.u64()?, input.instant()?);
        let echoes = input.few(Echo::BYTES, Echo::decode)?;
        let body = if input.flag()? { Some(M::decode(input)?) } else { None };
        Ok(Self { life, sent, echoes, body })
    }

    fn instants(&mut self, to: NodeId, rebase: &Rebase<'_>) {
        rebase.stamp(&mut self.sent);
        for echo in self.echoes.iter_mut() {
            rebase.foreign(echo.node, &mut echo.sent);
            rebase.stamp(&mut echo.received);
        }
        if let Some(body) = &mut self.body {
            body.instants(to, rebase);
        }
    }
}
