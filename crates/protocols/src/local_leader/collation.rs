//! Collated replies: votes that reach a leader through a tree of its supporters.
//!
//! **Source.** Fetzer and Cristian, the section on large groups: an n-ary tree over the alive-set,
//! whose inner processes wait for their children and send one message for all of them.
//!
//! **Assumptions.** None for safety. Whoever has the key follows the protocol, as everywhere.
//!
//! **Promise.** With [`tree`](Params::tree) n a leader receives n replies to a renewal, however
//! many support it. A process that does not answer, or answers late, costs at most one attempt more
//! than without a tree: a retry is answered directly, and the tree of the next renewal has only
//! processes whose votes arrived. In majority mode that is one attempt. In local mode a leader
//! needs the votes of its whole alive-set, in which a dead process stays for `expires`, which is
//! longer than a lease. So there a death costs the leadership, with a tree or without.
//!
//! # Who answers to whom
//!
//! A renewal carries the supporters of its leader: those whose votes its lease rests on, which in
//! local mode is the alive-set. They are the tree, in the order in which the request names them,
//! from another place on each time, so that nobody relays more than others and a bad link between
//! two of them is met in few renewals. The leader is the root. Place i has the children n(i+1) to
//! n(i+1)+n−1. Everybody who is not among the supporters answers the leader itself. So does
//! everybody
//!
//! * if a candidate asks: nobody knows yet who is there;
//! * after a request that too few granted in time;
//! * if it refuses: that may matter to the leader at once.
//!
//! A process sends its vote to its parent as soon as its children have answered. It waits for them
//! for Δh/d at most, where h is the height of its subtree and d that of the whole tree, and then
//! sends what it has. What comes later is passed on at once. A child may be asked before its
//! parent: then its votes wait for the request, and go to the leader if that does not come.
//!
//! A vote that was relayed counts within 2Δ(1+ρ) of its request by the leader's own clock. A vote
//! that comes directly, in two fast messages, arrives within the same time. So its voter counts as
//! alive from no later an instant than without the tree, and no time constant changes.
//!
//! # Why the proof covers it
//!
//! In the model a process grants a request at some moment, and its candidate may count that vote at
//! any later one, until it gives the request up (`grant`, `adopt`, `renew` in `proofs/leases.py`).
//! Nothing is said of how the vote travels: the lease counts from the sending of the request, and
//! the lock from its receipt, which is later. A relay neither makes a vote nor changes one
//! ([`Rule::VotesAsGiven`]): it carries the voter's name, the request, the term and the list, as
//! the reply would. So to the model a relayed vote is a reply that took longer, and a relay that
//! fails is a reply that was lost. The validator (`crates/check/src/validation`) asks of each voter
//! that a lease names whether that process itself granted the request, in an earlier step of its
//! own; it needs to know nothing of trees.

use super::hall::{Hall, Timer};
use super::list::{ListId, ListTold};
use super::message::{Ids, Message, Request};
use super::params::Params;
use super::rules::Rule;
use super::supporter::Asked;
use alloc::vec::Vec;
use bellwether_core::{Cx, Duration, Instant, Malformed, NodeId, Reader, Rebase, WireWrite as _};

/// The tree by which a request is answered: over the supporters that the request names, without the
/// leader, from this place on and around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tree {
    /// How many children a process has at most; at least one.
    pub arity: u16,
    /// The place of the first child of the leader.
    pub first: u16,
}

/// The neighbours of a process in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Neighbours {
    pub(super) parent: NodeId,
    pub(super) children: Ids,
    /// The height of its subtree, and that of the whole tree.
    pub(super) height: u32,
    pub(super) depth: u32,
}

impl Tree {
    pub(super) fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (arity, first) = (input.u16()?, input.u16()?);
        if arity == 0 { Err(Malformed) } else { Ok(Self { arity, first }) }
    }

    /// The neighbours of this process, if it is one of the supporters.
    pub(super) fn neighbours(
        self,
        me: NodeId,
        leader: NodeId,
        supporters: &[NodeId],
    ) -> Option<Neighbours> {
        let root = supporters.iter().position(|id| *id == leader).unwrap_or(supporters.len());
        let size = supporters.len() - usize::from(root < supporters.len());
        let listed = supporters.iter().position(|id| *id == me).filter(|place| *place != root)?;
        let (arity, first) = (usize::from(self.arity.max(1)), usize::from(self.first) % size);
        let place = (listed - usize::from(listed > root) + size - first) % size;
        let at = |place: usize| {
            let listed = (place + first) % size;
            supporters[listed + usize::from(listed >= root)]
        };
        let first_child = |place: usize| (place + 1) * arity;
        let height = |mut place: usize| {
            let mut height = 0;
            while first_child(place) < size {
                (place, height) = (first_child(place), height + 1);
            }
            height
        };
        let parent = if place < arity { leader } else { at(place / arity - 1) };
        let children = first_child(place)..(first_child(place) + arity).min(size);
        Some(Neighbours {
            parent,
            children: children.map(at).collect(),
            height: height(place),
            depth: height(0) + 1,
        })
    }
}

/// The replies of several processes that grant one request, alike but for the voter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Collation {
    /// The process that asked.
    pub leader: NodeId,
    /// The request that they grant.
    pub request: Request,
    /// The term that they grant.
    pub highest: u64,
    /// The list that they were asked by.
    pub list: Option<ListTold>,
    /// Who they are.
    pub voters: Ids,
}

impl Collation {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_node(self.leader);
        out.put_u64(self.request.life);
        out.put_instant(self.request.sent);
        out.put_u64(self.highest);
        ListTold::encode(self.list.as_ref(), out);
        out.put_list(&self.voters, |out, id| out.put_node(*id));
    }

    pub(super) fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            leader: input.node()?,
            request: Request { life: input.u64()?, sent: input.instant()? },
            highest: input.u64()?,
            list: ListTold::decode(input)?,
            voters: input.few(8, Reader::node)?,
        })
    }

    /// Whether these are replies to the same request.
    fn answers(&self, leader: NodeId, request: Request) -> bool {
        (self.leader, self.request) == (leader, request)
    }

    /// Whether these replies differ in nothing but the voters.
    fn is_like(&self, other: &Self) -> bool {
        let same = (self.highest, &self.list) == (other.highest, &other.list);
        self.answers(other.leader, other.request) && same
    }
}

/// As a supporter: the replies that it collects.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Collecting {
    replies: Collation,
    /// Where they go; `None` before the request came.
    parent: Option<NodeId>,
    /// The children that have not answered; before the request came, those that have.
    children: Ids,
    /// Whether they were sent.
    sent: bool,
}

impl Collecting {
    pub(super) fn instants(&mut self, rebase: &Rebase<'_>) {
        rebase.foreign(self.replies.leader, &mut self.replies.request.sent);
    }
}

/// As a leader: how the next renewal is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Collated {
    /// The place of the first child next time.
    first: u16,
    /// Whether too few granted the last request in time.
    late: bool,
}

/// The leader.
impl Hall {
    /// The tree by which the request that is being made is answered, unless everybody answers
    /// itself. There is one tree at most for each instant, so that a request names its tree.
    pub(super) fn tree(&mut self, now: Instant, params: &Params) -> Option<Tree> {
        let arity = u16::try_from(params.tree).ok().filter(|arity| *arity > 0)?;
        let lease = self.lease.as_ref().filter(|lease| now < lease.until)?;
        let later = self.votes.last_request().is_some_and(|last| last < now);
        let others = u16::try_from(lease.supporters.len().saturating_sub(1)).ok()?;
        if !later || self.collated.late || others <= arity {
            return None;
        }
        let first = self.collated.first % others;
        self.collated.first = (first + 1) % others;
        Some(Tree { arity, first })
    }

    /// Notes whether the last request was granted in time.
    pub(super) fn note_collated(&mut self, in_time: bool, params: &Params) {
        self.collated.late = !in_time && params.tree > 0;
    }

    /// Counts replies that others collated. They may be of any age, so the clock decides.
    fn count_collated(&mut self, replies: &Collation, cx: &mut Cx<'_, Self>) {
        let (now, params) = (cx.now(), cx.params());
        let Collation { request, highest, list, voters, .. } = replies;
        self.learn(list.as_ref(), cx);
        let mine = request.life == self.life || !params.keep(Rule::Lives);
        let in_time = request.sent <= now && now <= request.sent + self.times.round;
        let counts = self.votes.count(request.sent) || !params.keep(Rule::CampaignVotesOnly);
        if !(mine && in_time) {
            return;
        }
        let vote: (u64, Option<ListId>) = (*highest, list.as_ref().map(ListTold::id));
        let peers = cx.peers();
        for voter in voters.iter().filter(|voter| peers.contains(**voter)) {
            self.alive.hear(*voter, now + self.times.expires);
            if counts {
                let distinct = params.keep(Rule::DistinctVoters);
                self.votes.put(*voter, request.sent, vote, distinct);
            }
        }
        if counts && (params.by_majority() || self.leads(now)) {
            self.decide(cx);
        }
    }
}

/// The supporter.
impl Hall {
    /// Sends its vote for a request that is answered by a tree, or waits for its children.
    pub(super) fn collate(
        &mut self,
        leader: NodeId,
        asked: &Asked<'_>,
        list: Option<ListTold>,
        cx: &mut Cx<'_, Self>,
    ) {
        let Asked { request, term, tree, supporters, .. } = *asked;
        let highest = if cx.params().by_majority() { term } else { self.partition_number };
        let here = tree.and_then(|tree| tree.neighbours(self.me, leader, supporters));
        // A copy of a request that it has answered is answered directly.
        let again = self.knows_parent(leader, request);
        let relays = |here: &Neighbours| here.parent != leader || !here.children.is_empty();
        let relays = |here: &Neighbours| relays(here) && self.can_reach(here, leader, cx);
        let Some(here) = here.filter(|here| relays(here) && !again) else {
            let (support, remaining) = (true, Duration::ZERO);
            return cx.send(leader, Message::Reply { request, support, remaining, highest, list });
        };
        let voters = core::iter::once(self.me).collect();
        let replies = Collation { leader, request, highest, list, voters };
        let children = here.children;
        let (parent, sent) = (Some(here.parent), false);
        let mut own = Collecting { replies, parent, children, sent };
        if let Some(early) = self.take_early(leader, request, cx) {
            own.children.retain(|child| !early.children.contains(child));
            match own.replies.is_like(&early.replies) {
                true => early.replies.voters.iter().for_each(|id| own.replies.voters.push(*id)),
                false => send_on(here.parent, early.replies, cx),
            }
        }
        if own.children.is_empty() {
            own.sent = true;
            send_on(here.parent, own.replies.clone(), cx);
            own.replies.voters.clear();
        } else {
            let wait = cx.params().delta.as_nanos() * u64::from(here.height);
            let wait = Duration::from_nanos(wait / u64::from(here.depth));
            cx.arm(Timer::Collate, cx.now() + wait);
        }
        self.collecting = Some(own);
    }

    /// A request came that it does not grant, or not in time: what its children answer is passed on
    /// as it comes.
    pub(super) fn relay(&mut self, leader: NodeId, asked: &Asked<'_>, cx: &mut Cx<'_, Self>) {
        let (request, supporters) = (asked.request, asked.supporters);
        if self.knows_parent(leader, request) {
            return;
        }
        let here = asked.tree.and_then(|tree| tree.neighbours(self.me, leader, supporters));
        let Some(here) = here.filter(|here| self.can_reach(here, leader, cx)) else { return };
        if let Some(early) = self.take_early(leader, request, cx) {
            send_on(here.parent, early.replies, cx);
        }
        if !here.children.is_empty() {
            let (highest, list, voters) = (0, None, Ids::new());
            let replies = Collation { leader, request, highest, list, voters };
            let (parent, children, sent) = (Some(here.parent), Ids::new(), true);
            self.collecting = Some(Collecting { replies, parent, children, sent });
        }
    }

    /// Whether it has received this request, with its place in the tree.
    fn knows_parent(&self, leader: NodeId, request: Request) -> bool {
        let known = |collecting: &Collecting| {
            collecting.replies.answers(leader, request) && collecting.parent.is_some()
        };
        self.collecting.as_ref().is_some_and(known)
    }

    /// Whether its parent in the tree is another member.
    fn can_reach(&self, here: &Neighbours, leader: NodeId, cx: &Cx<'_, Self>) -> bool {
        let (parent, peers) = (here.parent, cx.peers());
        parent != self.me && (parent == leader || peers.contains(parent))
    }

    /// Ends what it collects. If that is for this request, which had not come, returns it;
    /// otherwise sends it.
    fn take_early(
        &mut self,
        leader: NodeId,
        request: Request,
        cx: &mut Cx<'_, Self>,
    ) -> Option<Collecting> {
        let early = |collecting: &Collecting| {
            collecting.replies.answers(leader, request) && collecting.parent.is_none()
        };
        if !self.collecting.as_ref().is_some_and(early) {
            self.send_collected(cx);
            self.collecting = None;
            return None;
        }
        cx.disarm(Timer::Collate);
        self.collecting.take()
    }

    /// Sends what it has collected, to the leader if it does not know where else.
    pub(super) fn send_collected(&mut self, cx: &mut Cx<'_, Self>) {
        let Some(collecting) = self.collecting.as_mut().filter(|collecting| !collecting.sent)
        else {
            return;
        };
        collecting.sent = true;
        let (leader, mut replies) = (collecting.replies.leader, collecting.replies.clone());
        if !cx.params().keep(Rule::VotesAsGiven) {
            collecting.children.iter().for_each(|child| replies.voters.push(*child));
        }
        collecting.children.clear();
        collecting.replies.voters.clear();
        cx.disarm(Timer::Collate);
        send_on(collecting.parent.unwrap_or(leader), replies, cx);
    }

    /// Handles replies that another process collated: counts them, adds them to what it collects,
    /// or passes them on.
    pub(super) fn on_collation(
        &mut self,
        from: NodeId,
        replies: &Collation,
        cx: &mut Cx<'_, Self>,
    ) {
        let Collation { leader, request, .. } = *replies;
        // In local mode it supports the first in line of those that it hears, and whoever stepped
        // back says so to candidates alone. So supporters are silent among themselves, and what
        // one of them relays is no news of another.
        let hears = leader == self.me || cx.params().by_majority();
        let fast = Self::is_fast(cx);
        self.hear(from, fast && hears, cx);
        if leader == self.me {
            return self.count_collated(replies, cx);
        }
        if !cx.peers().contains(leader) {
            return;
        }
        let Some(collecting) = &mut self.collecting else {
            return self.collect_early(from, replies, cx);
        };
        if !collecting.replies.answers(leader, request) {
            let Collation { leader: other, request: known, .. } = collecting.replies;
            let later = if leader == other { known < request } else { collecting.sent };
            if later {
                return self.collect_early(from, replies, cx);
            }
            return send_on(leader, replies.clone(), cx);
        }
        let asked = collecting.parent.is_some();
        let first = collecting.children.contains(&from) == asked;
        let like = collecting.replies.is_like(replies);
        if asked {
            collecting.children.retain(|child| *child != from);
        } else if first {
            collecting.children.push(from);
        }
        if first && like && !collecting.sent {
            replies.voters.iter().for_each(|voter| collecting.replies.voters.push(*voter));
        } else {
            send_on(collecting.parent.unwrap_or(leader), replies.clone(), cx);
        }
        if asked && collecting.children.is_empty() {
            self.send_collected(cx);
        }
    }

    /// Keeps replies to a request that has not come yet, for as long as it may take.
    fn collect_early(&mut self, from: NodeId, replies: &Collation, cx: &mut Cx<'_, Self>) {
        self.send_collected(cx);
        let (replies, children) = (replies.clone(), core::iter::once(from).collect());
        self.collecting = Some(Collecting { replies, parent: None, children, sent: false });
        cx.arm(Timer::Collate, cx.now() + cx.params().delta);
    }
}

/// Sends replies to the next process, if there are any.
fn send_on(to: NodeId, replies: Collation, cx: &mut Cx<'_, Hall>) {
    if !replies.voters.is_empty() {
        cx.send(to, Message::Collation(replies));
    }
}
