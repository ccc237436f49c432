//! What travels: signs of life, messages of the protocol inside, and their acknowledgements.

use alloc::vec::Vec;
use bellwether_core::{Malformed, Message, NodeId, Reader, Rebase, Write};

/// One datagram of the layer. Every one of them is a sign of life.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame<M> {
    /// The sender's incarnation.
    pub life: u64,
    /// What it is there for.
    pub body: Body<M>,
}

/// What a frame is there for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Body<M> {
    /// To say that the sender lives.
    Beat,
    /// What the protocol inside says to everyone.
    All(M),
    /// What it says to one process, which acknowledges it.
    One {
        /// The how-manieth message of the sender's life to this receiver it is.
        number: u64,
        /// The sender will not send any message below this number again.
        settled: u64,
        /// The message.
        message: M,
    },
    /// A message arrived, now or before.
    Ack {
        /// In which life its sender sent it.
        life: u64,
        /// Its number.
        number: u64,
    },
}

impl<M: Message> Message for Frame<M> {
    fn kind(&self) -> &'static str {
        match &self.body {
            Body::Beat => "heartbeat",
            Body::All(message) | Body::One { message, .. } => message.kind(),
            Body::Ack { .. } => "ack",
        }
    }

    fn round(&self) -> Option<(u32, u32)> {
        match &self.body {
            Body::All(message) | Body::One { message, .. } => message.round(),
            Body::Beat | Body::Ack { .. } => None,
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.life);
        match &self.body {
            Body::Beat => out.put_u8(0),
            Body::All(message) => {
                out.put_u8(1);
                message.encode(out);
            }
            Body::One { number, settled, message } => {
                out.put_u8(2);
                out.put_u64(*number);
                out.put_u64(*settled);
                message.encode(out);
            }
            Body::Ack { life, number } => {
                out.put_u8(3);
                out.put_u64(*life);
                out.put_u64(*number);
            }
        }
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        let life = input.u64()?;
        let body = match input.u8()? {
            0 => Body::Beat,
            1 => Body::All(M::decode(input)?),
            2 => {
                let (number, settled) = (input.u64()?, input.u64()?);
                if settled > number {
                    return Err(Malformed);
                }
                Body::One { number, settled, message: M::decode(input)? }
            }
            3 => Body::Ack { life: input.u64()?, number: input.u64()? },
            _ => return Err(Malformed),
        };
        Ok(Self { life, body })
    }

    fn instants(&mut self, to: NodeId, rebase: &Rebase<'_>) {
        match &mut self.body {
            Body::All(message) | Body::One { message, .. } => message.instants(to, rebase),
            Body::Beat | Body::Ack { .. } => {}
        }
    }
}
