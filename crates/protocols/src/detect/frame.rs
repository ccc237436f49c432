//! Frames: heartbeats, messages of the inner protocol, and their acknowledgements.

use alloc::vec::Vec;
use bellwether_core::{Malformed, Message, NodeId, Reader, Rebase, WireWrite};
use core::mem::replace;

/// One datagram of the layer. Each is a sign of life.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame<M> {
    /// The sender's incarnation.
    pub life: u64,
    /// The contents.
    pub body: Body<M>,
}

/// The contents of a frame.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Body<M> {
    /// A heartbeat.
    Beat,
    /// A message of the inner protocol to everyone.
    All(M),
    /// A message of the inner protocol to one process, which acknowledges it.
    One {
        /// The number of the message, counted per receiver and per incarnation of the sender.
        number: u64,
        /// The sender will not send any message below this number again.
        settled: u64,
        /// The message.
        message: M,
    },
    /// Acknowledges a message, which arrived now or before.
    Ack {
        /// The incarnation of its sender that sent it.
        life: u64,
        /// Its number.
        number: u64,
    },
}

impl<M: Message> Message for Frame<M> {
    fn take(&mut self) -> Self {
        replace(self, Self { life: self.life, body: Body::Beat })
    }

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

    fn latest(&self) -> u64 {
        self.life.max(match &self.body {
            Body::All(message) | Body::One { message, .. } => message.latest(),
            Body::Ack { life, .. } => *life,
            Body::Beat => 0,
        })
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
