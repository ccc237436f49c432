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
        /// The term it asks for in majority mode; zero in a probe, which asks for nothing but an
        /// answer.
        term: u64,
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
        /// The highest term that the sender has granted or learnt of: the one it grants, if it
        /// does.
        highest: u64,
    },
    /// "I need no support any longer."
    Release {
        /// The request up to which supporters are released.
        request: Request,
        /// Whether the sender steps back or leaves: others come first from now on.
        leaving: bool,
    },
    /// "What have you granted?", from a process without a record of its own.
    Inquiry {
        /// The incarnation of the sender.
        life: u64,
        /// The number of the question.
        round: u64,
    },
    /// The answer to an inquiry.
    Record {
        /// The incarnation that asked.
        asker: u64,
        /// The number of its question.
        round: u64,
        /// The incarnation of the sender.
        life: u64,
        /// The highest term that the sender has granted or learnt of; `None` if it has no record.
        highest: Option<u64>,
    },
}

impl Wire for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Election { .. } => "election",
            Self::Reply { .. } => "reply",
            Self::Release { .. } => "release",
            Self::Inquiry { .. } => "inquiry",
            Self::Record { .. } => "record",
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Election { request, term, lock, supporters, farewell } => {
                out.put_u8(0);
                put_request(out, *request);
                out.put_u64(*term);
                out.put_u64(lock.as_nanos());
                out.put_list(supporters, |out, id| out.put_node(*id));
                out.put_flag(farewell.is_some());
                if let Some(Farewell { node, request }) = farewell {
                    out.put_node(*node);
                    put_request(out, *request);
                }
            }
            Self::Reply { request, support, remaining, highest } => {
                out.put_u8(1);
                put_request(out, *request);
                out.put_flag(*support);
                out.put_u64(remaining.as_nanos());
                out.put_u64(*highest);
            }
            Self::Release { request, leaving } => {
                out.put_u8(2);
                put_request(out, *request);
                out.put_flag(*leaving);
            }
            Self::Inquiry { life, round } => {
                out.put_u8(3);
                out.put_u64(*life);
                out.put_u64(*round);
            }
            Self::Record { asker, round, life, highest } => {
                out.put_u8(4);
                [*asker, *round, *life].into_iter().for_each(|number| out.put_u64(number));
                out.put_flag(highest.is_some());
                if let Some(highest) = highest {
                    out.put_u64(*highest);
                }
            }
        }
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        match input.u8()? {
            0 => {
                let (request, term) = (get_request(input)?, input.u64()?);
                let lock = Duration::from_nanos(input.u64()?);
                let supporters = input.list(8, Reader::node)?;
                let farewell = if input.flag()? {
                    Some(Farewell { node: input.node()?, request: get_request(input)? })
                } else {
                    None
                };
                Ok(Self::Election { request, term, lock, supporters, farewell })
            }
            1 => {
                let (request, support) = (get_request(input)?, input.flag()?);
                let remaining = Duration::from_nanos(input.u64()?);
                Ok(Self::Reply { request, support, remaining, highest: input.u64()? })
            }
            2 => Ok(Self::Release { request: get_request(input)?, leaving: input.flag()? }),
            3 => Ok(Self::Inquiry { life: input.u64()?, round: input.u64()? }),
            4 => {
                let (asker, round, life) = (input.u64()?, input.u64()?, input.u64()?);
                let highest = if input.flag()? { Some(input.u64()?) } else { None };
                Ok(Self::Record { asker, round, life, highest })
            }
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
            Self::Inquiry { .. } | Self::Record { .. } => {}
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
