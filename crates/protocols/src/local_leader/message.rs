//! The messages of the service.

use alloc::vec::Vec;
use bellwether_core::{
    Duration, Instant, Malformed, Message as Wire, NodeId, Reader, Rebase, WireWrite,
};

/// A request for support: unique, because it names the incarnation and the instant of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Request {
    /// The incarnation of the candidate.
    pub life: u64,
    /// When it was sent, on the candidate's clock. Its lease counts from here.
    pub sent: Instant,
}

/// "This process has given up every request up to that one": a release, forwarded by others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Farewell {
    /// The process that gave up.
    pub node: NodeId,
    /// Its last request.
    pub request: Request,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// "Support me."
    Election {
        /// The request.
        request: Request,
        /// The candidate's lockTime: a receiver with another one refuses.
        lock: Duration,
        /// The current supporters of a candidate that leads, including itself: the members of the
        /// logical partition (section X).
        supporters: Vec<NodeId>,
        /// The last farewell, for processes that have not heard of it.
        farewell: Option<Farewell>,
    },
    /// "I do" or "I do not".
    Reply {
        /// The request it answers.
        request: Request,
        /// Whether the sender supports it.
        support: bool,
        /// If not: for how long the sender is locked to another.
        remaining: Duration,
    },
    /// "I need no support any longer."
    Release {
        /// The request up to which supporters are released.
        request: Request,
        /// Whether the sender steps back or leaves: others come first from now on.
        leaving: bool,
    },
}

impl Wire for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Election { .. } => "election",
            Self::Reply { .. } => "reply",
            Self::Release { .. } => "release",
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Election { request, lock, supporters, farewell } => {
                out.put_u8(0);
                put_request(out, *request);
                out.put_u64(lock.as_nanos());
                out.put_list(supporters, |out, id| out.put_node(*id));
                out.put_flag(farewell.is_some());
                if let Some(Farewell { node, request }) = farewell {
                    out.put_node(*node);
                    put_request(out, *request);
                }
            }
            Self::Reply { request, support, remaining } => {
                out.put_u8(1);
                put_request(out, *request);
                out.put_flag(*support);
                out.put_u64(remaining.as_nanos());
            }
            Self::Release { request, leaving } => {
                out.put_u8(2);
                put_request(out, *request);
                out.put_flag(*leaving);
            }
        }
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        let tag = input.u8()?;
        let request = get_request(input)?;
        match tag {
            0 => {
                let lock = Duration::from_nanos(input.u64()?);
                let supporters = input.list(8, Reader::node)?;
                let farewell = if input.flag()? {
                    Some(Farewell { node: input.node()?, request: get_request(input)? })
                } else {
                    None
                };
                Ok(Self::Election { request, lock, supporters, farewell })
            }
            1 => {
                let (support, remaining) = (input.flag()?, Duration::from_nanos(input.u64()?));
                Ok(Self::Reply { request, support, remaining })
            }
            2 => Ok(Self::Release { request, leaving: input.flag()? }),
            _ => Err(Malformed),
        }
    }

    fn instants(&mut self, to: NodeId, rebase: &Rebase<'_>) {
        match self {
            Self::Election { request, farewell, .. } => {
                rebase.stamp(&mut request.sent);
                if let Some(Farewell { node, request }) = farewell {
                    rebase.foreign(*node, &mut request.sent);
                }
            }
            Self::Reply { request, .. } => rebase.foreign(to, &mut request.sent),
            Self::Release { request, .. } => rebase.stamp(&mut request.sent),
        }
    }
}

fn put_request(out: &mut Vec<u8>, Request { life, sent }: Request) {
    out.put_u64(life);
    out.put_instant(sent);
}

fn get_request(input: &mut Reader<'_>) -> Result<Request, Malformed> {
    Ok(Request { life: input.u64()?, sent: input.instant()? })
}
