//! The messages of the service.

use super::announcement::Announcement;
use super::answerers::Answerers;
use super::collation::{Collation, Tree};
use super::list::ListTold;
use alloc::vec::Vec;
use bellwether_core::{
    Candidacy, Duration, Few, Instant, Malformed, Message as Wire, NodeId, Reader, Rebase,
    WireWrite,
};

/// A request for support: unique, because it names the incarnation and the instant of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Request {
    /// The incarnation of the candidate.
    pub life: u64,
    /// When it was sent, on the candidate's clock. Its lease counts from here.
    pub sent: Instant,
}

/// Ids of supporters: those of a group of five need no allocation.
pub type Ids = Few<NodeId, 5>;

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
        /// For observers: the token of a leader that asks for a higher term, to raise it; `None` if
        /// they are the same. In local mode the number of a leader's partition (`membership.rs`).
        token: Option<u64>,
        /// The candidate's lockTime: a receiver whose list does not allow it refuses.
        lock: Duration,
        /// The current supporters of a candidate that leads, including itself: the members of the
        /// logical partition (section X).
        supporters: Ids,
        /// The last farewell, for processes that have not heard of it.
        farewell: Option<Farewell>,
        /// The list of voters it asks by, in majority mode.
        list: Option<ListTold>,
        /// The voters that are to answer if they grant it; all, if absent.
        answerers: Option<Answerers>,
        /// The tree through which the supporters answer if they grant it; directly, if absent.
        tree: Option<Tree>,
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
        /// does. In local mode, if it does: the greatest number of a partition that it was in.
        highest: u64,
        /// If it supports the request: the list that was asked by. If not: its own list, in full if
        /// that is another one; `None` without a record.
        list: Option<ListTold>,
    },
    /// "I need no support any longer."
    Release {
        /// The request up to which supporters are released.
        request: Request,
        /// Whether the sender steps back or leaves: others come first from now on.
        leaving: bool,
        /// The process that should lead next, if the sender names one.
        nominee: Option<NodeId>,
    },
    /// "What have you granted?", from a process without a record of its own.
    Inquiry {
        /// The incarnation of the sender.
        life: u64,
        /// The number of the question.
        round: u64,
        /// A hash of the founding list, if it knows one.
        founding: Option<u64>,
        /// Whether it needs the word of the receiver, even if that one is an observer.
        needs: bool,
    },
    /// "Can you vote?", from a leader to the process that it is to add to the voters. The answer is
    /// a record.
    Invite {
        /// The incarnation of the sender.
        life: u64,
    },
    /// The answer to an inquiry or an invitation.
    Record {
        /// The incarnation that asked.
        asker: u64,
        /// The number of its question.
        round: u64,
        /// The incarnation of the sender.
        life: u64,
        /// The highest term that the sender has granted or learnt of; `None` if it has no record.
        highest: Option<u64>,
        /// Its list, in full unless it is the founding list of the asker. Without a record: the
        /// founding list that it knows.
        list: Option<ListTold>,
    },
    /// "I am no ordinary process."
    Standing(Candidacy),
    /// "This process leads", to the members outside the list.
    Announcement(Announcement),
    /// "These do", from a supporter that collects the replies of others.
    Collation(Collation),
}

impl Wire for Message {
    const IS_ONLY_READ: bool = true;

    fn kind(&self) -> &'static str {
        match self {
            Self::Election { .. } => "election",
            Self::Reply { .. } => "reply",
            Self::Release { .. } => "release",
            Self::Inquiry { .. } => "inquiry",
            Self::Invite { .. } => "invite",
            Self::Record { .. } => "record",
            Self::Standing(_) => "standing",
            Self::Announcement(_) => "announcement",
            Self::Collation(_) => "collation",
        }
    }

    fn latest(&self) -> u64 {
        let version = |list: &Option<ListTold>| list.as_ref().map_or(0, |list| list.id().version);
        let numbers = match self {
            Self::Election { request, term, token, farewell, list, .. } => {
                let gave_up = farewell.map_or(0, |farewell| farewell.request.life);
                [request.life.max(gave_up), *term, token.unwrap_or(0), version(list)]
            }
            Self::Reply { request, highest, list, .. } => {
                [request.life, *highest, 0, version(list)]
            }
            Self::Release { request, .. } => [request.life, 0, 0, 0],
            Self::Inquiry { life, .. } | Self::Invite { life } => [*life, 0, 0, 0],
            Self::Record { asker, life, highest, list, .. } => {
                [*asker.max(life), highest.unwrap_or(0), 0, version(list)]
            }
            Self::Standing(_) => [0; 4],
            Self::Announcement(said) => [said.request.life, said.token, 0, said.list.id().version],
            Self::Collation(Collation { request, highest, list, .. }) => {
                [request.life, *highest, 0, version(list)]
            }
        };
        numbers.into_iter().fold(0, u64::max)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Election {
                request,
                term,
                token,
                lock,
                supporters,
                farewell,
                list,
                answerers,
                tree,
            } => {
                out.put_u8(election_kind(answerers.is_some(), tree.is_some()));
                put_request(out, *request);
                out.put_u64(*term);
                out.put_u64(lock.as_nanos());
                out.put_list(supporters, |out, id| out.put_node(*id));
                put_farewell(out, *farewell);
                put_number(out, *token);
                ListTold::encode(list.as_ref(), out);
                put_answerers_and_tree(out, *answerers, *tree);
            }
            Self::Reply { request, support, remaining, highest, list } => {
                out.put_u8(1);
                put_request(out, *request);
                out.put_flag(*support);
                out.put_u64(remaining.as_nanos());
                out.put_u64(*highest);
                ListTold::encode(list.as_ref(), out);
            }
            Self::Release { request, leaving, nominee } => {
                out.put_u8(2);
                put_request(out, *request);
                out.put_u8(u8::from(*leaving) | u8::from(nominee.is_some()) << 1);
                nominee.iter().for_each(|nominee| out.put_node(*nominee));
            }
            Self::Inquiry { life, round, founding, needs } => {
                out.put_u8(3);
                out.put_u64(*life);
                out.put_u64(*round);
                put_number(out, *founding);
                out.put_flag(*needs);
            }
            Self::Record { asker, round, life, highest, list } => {
                out.put_u8(4);
                [*asker, *round, *life].into_iter().for_each(|number| out.put_u64(number));
                put_number(out, *highest);
                ListTold::encode(list.as_ref(), out);
            }
            Self::Invite { life } => {
                out.put_u8(5);
                out.put_u64(*life);
            }
            Self::Standing(Candidacy { priority, witness }) => {
                out.put_u8(6);
                out.put_u32(*priority);
                out.put_flag(*witness);
            }
            Self::Announcement(news) => {
                out.put_u8(7);
                news.encode(out);
            }
            Self::Collation(replies) => {
                out.put_u8(9);
                replies.encode(out);
            }
        }
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        match input.u8()? {
            kind @ (0 | 8 | 10 | 11) => {
                // The fields are read in this order.
                Ok(Self::Election {
                    request: get_request(input)?,
                    term: input.u64()?,
                    lock: Duration::from_nanos(input.u64()?),
                    supporters: input.few(8, Reader::node)?,
                    farewell: match input.flag()? {
                        true => {
                            Some(Farewell { node: input.node()?, request: get_request(input)? })
                        }
                        false => None,
                    },
                    token: get_number(input)?,
                    list: ListTold::decode(input)?,
                    answerers: match kind {
                        8 | 11 => Some(Answerers { first: input.u16()?, count: input.u16()? }),
                        _ => None,
                    },
                    tree: match kind {
                        10 | 11 => Some(Tree::decode(input)?),
                        _ => None,
                    },
                })
            }
            1 => {
                let (request, support) = (get_request(input)?, input.flag()?);
                let remaining = Duration::from_nanos(input.u64()?);
                let (highest, list) = (input.u64()?, ListTold::decode(input)?);
                Ok(Self::Reply { request, support, remaining, highest, list })
            }
            2 => {
                let (request, flags) = (get_request(input)?, input.u8()?);
                if flags > 3 {
                    return Err(Malformed);
                }
                let nominee = if flags & 2 != 0 { Some(input.node()?) } else { None };
                Ok(Self::Release { request, leaving: flags & 1 != 0, nominee })
            }
            3 => {
                let (life, round) = (input.u64()?, input.u64()?);
                let (founding, needs) = (get_number(input)?, input.flag()?);
                Ok(Self::Inquiry { life, round, founding, needs })
            }
            4 => {
                let (asker, round, life) = (input.u64()?, input.u64()?, input.u64()?);
                let (highest, list) = (get_number(input)?, ListTold::decode(input)?);
                Ok(Self::Record { asker, round, life, highest, list })
            }
            5 => Ok(Self::Invite { life: input.u64()? }),
            6 => Ok(Self::Standing(Candidacy { priority: input.u32()?, witness: input.flag()? })),
            7 => Ok(Self::Announcement(Announcement::decode(input)?)),
            9 => Ok(Self::Collation(Collation::decode(input)?)),
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
            Self::Announcement(news) => rebase.foreign(news.leader, &mut news.request.sent),
            Self::Collation(replies) => {
                rebase.foreign(replies.leader, &mut replies.request.sent);
            }
            Self::Inquiry { .. }
            | Self::Invite { .. }
            | Self::Record { .. }
            | Self::Standing(_) => {}
        }
    }
}

/// The first byte of a request that names who is to answer, or a tree.
fn election_kind(answerers: bool, tree: bool) -> u8 {
    match (answerers, tree) {
        (false, false) => 0,
        (true, false) => 8,
        (false, true) => 10,
        (true, true) => 11,
    }
}

fn put_answerers_and_tree(out: &mut Vec<u8>, answerers: Option<Answerers>, tree: Option<Tree>) {
    let answerers = answerers.map(|Answerers { first, count }| [first, count]);
    let tree = tree.map(|Tree { arity, first }| [arity, first]);
    let numbers = answerers.into_iter().chain(tree).flatten();
    numbers.for_each(|number| out.put_u16(number));
}

fn put_farewell(out: &mut Vec<u8>, farewell: Option<Farewell>) {
    out.put_flag(farewell.is_some());
    if let Some(Farewell { node, request }) = farewell {
        out.put_node(node);
        put_request(out, request);
    }
}

fn put_request(out: &mut Vec<u8>, Request { life, sent }: Request) {
    out.put_u64(life);
    out.put_instant(sent);
}

fn get_request(input: &mut Reader<'_>) -> Result<Request, Malformed> {
    Ok(Request { life: input.u64()?, sent: input.instant()? })
}

fn put_number(out: &mut Vec<u8>, number: Option<u64>) {
    out.put_flag(number.is_some());
    number.into_iter().for_each(|number| out.put_u64(number));
}

fn get_number(input: &mut Reader<'_>) -> Result<Option<u64>, Malformed> {
    if input.flag()? { input.u64().map(Some) } else { Ok(None) }
}
