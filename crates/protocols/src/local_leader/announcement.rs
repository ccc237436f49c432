//! Announcements: how the members outside the list learn who leads, if they are many.
//!
//! **Source.** Beyond the paper.
//!
//! **Assumptions.** The members have almost the same address books: a process forwards to those
//! that are in its own. Nothing is assumed of time: announcements carry no stamps that matter.
//!
//! **Promise.** Each process receives an announcement at most twice, and forwards each of the two
//! to at most [`FANOUT`] others, whatever the size of the group. One dead process keeps nobody else
//! from hearing it. An announcement of a former leader, or one that a later one overtook, ends at
//! the first observer that knows better.
//!
//! A leader announces itself with its first requests, and then every
//! [`announce`](super::Params::announce); and at once that it leads no longer. Observers believe an
//! announcement for [`hold`](super::Params::hold), which is several times as long, so that one or
//! two that are lost cost nothing. Each announcement carries the list of voters in full, so that a
//! process that was removed learns it.
//!
//! # The two ways round the ring
//!
//! The leader sees the other members as a ring, in order of id, and cuts it at a place that it
//! draws for each announcement. It divides the resulting sequence into [`FANOUT`] parts, and sends
//! the announcement to the first process of each, which does the same with the rest of its part. A
//! message names the last process of the part; its receiver is the first. So processes whose
//! address books differ agree on who serves whom.
//!
//! In the same way it goes round in the opposite direction. Of two processes one comes before the
//! other in one direction and after it in the other, and a process depends only on some that come
//! before it. So no process depends on the same one both ways.

use super::hall::Hall;
use super::list::List;
use super::message::{Message, Request};
use alloc::vec::Vec;
use bellwether_core::{
    Cx, Duration, Instant, Malformed, NodeId, Peers, Reader, Rebase, WireWrite as _, mix,
};
use core::cmp::Ordering;

/// To how many others a process forwards an announcement in each direction. In a group with no
/// more observers than this the leader sends its requests to all, and announces nothing.
pub(super) const FANOUT: usize = 4;
/// How many requests in a row carry the news that a leader or a list is new.
const AT_FIRST: u8 = 3;
/// Nobody believes an announcement for longer than this.
const LONGEST: Duration = Duration::from_secs(86_400);

/// "This process leads", or "leads no longer".
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Announcement {
    /// The process that leads.
    pub leader: NodeId,
    /// Its last request.
    pub request: Request,
    /// Its fencing token.
    pub token: u64,
    /// For how long to believe it; zero if it leads no longer.
    pub hold: Duration,
    /// The list of voters.
    pub list: List,
    /// The last process that is to hear of it through the receiver.
    pub last: NodeId,
    /// Whether those are before the receiver on the ring, and not after it.
    pub backwards: bool,
}

impl Announcement {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_node(self.leader);
        out.put_u64(self.request.life);
        out.put_instant(self.request.sent);
        out.put_u64(self.token);
        out.put_u64(self.hold.as_nanos());
        self.list.encode(out);
        out.put_node(self.last);
        out.put_flag(self.backwards);
    }

    pub(super) fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            leader: input.node()?,
            request: Request { life: input.u64()?, sent: input.instant()? },
            token: input.u64()?,
            hold: Duration::from_nanos(input.u64()?),
            list: List::decode(input)?,
            last: input.node()?,
            backwards: input.flag()?,
        })
    }

    /// Sends it to the first process of each part of a sequence: that of so many peers that begins
    /// at this place of the ring, or ends before it.
    fn send(&self, from: usize, count: usize, cx: &mut Cx<'_, Hall>) {
        let (peers, size) = (cx.peers(), cx.peers().len());
        let peer = |place: usize| match self.backwards {
            false => peers.at((from + place) % size),
            true => peers.at((from + size - 1 - place) % size),
        };
        let parts = count.min(FANOUT);
        for part in 0..parts {
            let (begin, end) = (part * count / parts, (part + 1) * count / parts);
            // The leader knows, and would not forward it.
            let first = (begin..end).map(peer).find(|peer| *peer != Some(self.leader)).flatten();
            if let (Some(first), Some(last)) = (first, peer(end - 1)) {
                cx.send(first, Message::Announcement(Self { last, ..self.clone() }));
            }
        }
    }

    /// The place of a receiver on the ring, and how many after it are to hear of this through it.
    fn part_of(&self, me: NodeId, peers: &dyn Peers) -> (usize, usize) {
        let (from, size) = (peers.place(me), peers.len());
        if self.last == me || size == 0 {
            return (from, 0);
        }
        let (last, known) = (peers.place(self.last), peers.contains(self.last));
        let (from, known) = (from % size, usize::from(known));
        let count = match self.backwards {
            false => (last % size + size - from) % size + known,
            true => (from + size - (last + known) % size) % size + known,
        };
        (from, count.min(size))
    }
}

/// What a leader has announced.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Announced {
    /// How often, since something was new.
    times: u8,
    /// When it does so again; `None` if nobody heard anything yet.
    next: Option<Instant>,
}

impl Announced {
    pub(super) const NOTHING: Self = Self { times: 0, next: None };

    /// Something is new; what was announced before is still believed.
    pub(super) fn renew(&mut self) {
        self.times = 0;
    }

    pub(super) fn instants(&mut self, rebase: &Rebase<'_>) {
        if let Some(next) = &mut self.next {
            rebase.deadline(next);
        }
    }
}

impl Hall {
    /// Whether the members outside its list are so many that they hear of the leader through each
    /// other.
    pub(super) fn is_large(&self, peers: &dyn Peers) -> bool {
        let voters = || match &self.list {
            Some(list) => list.needed().count(),
            None => peers.founders().map_or(0, <[NodeId]>::len),
        };
        self.is_partial() && peers.len() + 1 > voters() + FANOUT
    }

    /// As a leader: announces the request that it sends now, if that is due.
    pub(super) fn announce_request(&mut self, request: Request, cx: &mut Cx<'_, Self>) {
        let (now, params) = (cx.now(), cx.params());
        let due =
            self.announced.times < AT_FIRST || self.announced.next.is_none_or(|next| now >= next);
        if !due || !self.is_large(cx.peers()) {
            return;
        }
        let times = self.announced.times.saturating_add(1).min(AT_FIRST);
        self.announced = Announced { times, next: Some(now + params.announce) };
        self.announce_leader(request, params.hold, cx);
    }

    /// Announces that it leads no longer, if observers may believe that.
    pub(super) fn announce_end(&mut self, cx: &mut Cx<'_, Self>) {
        if self.announced.next.is_some() {
            let sent = self.votes.last_request().unwrap_or(cx.now());
            self.announce_leader(Request { life: self.life, sent }, Duration::ZERO, cx);
            self.announced = Announced::NOTHING;
        }
    }

    fn announce_leader(&self, request: Request, hold: Duration, cx: &mut Cx<'_, Self>) {
        let (token, size) = (self.led, cx.peers().len());
        let Some(list) = self.list.clone().filter(|_| size > 0) else { return };
        let (leader, last) = (self.me, self.me);
        let cut = mix(request.sent.as_nanos() ^ u64::from(hold == Duration::ZERO));
        let from = (cut % size as u64) as usize;
        let mut news = Announcement { leader, request, token, hold, list, last, backwards: false };
        news.send(from, size, cx);
        news.backwards = true;
        news.send(from, size, cx);
    }

    /// Handles an announcement: takes it over, and forwards it.
    pub(super) fn on_announcement(&mut self, news: &Announcement, cx: &mut Cx<'_, Self>) {
        let stranger = news.leader == self.me || !cx.peers().contains(news.leader);
        if stranger || !cx.params().by_majority() {
            return;
        }
        let same =
            |list: &List| (list.id(), list.committed) == (news.list.id(), news.list.committed);
        if !self.list.as_ref().is_some_and(same) {
            self.learn(Some(&news.list.clone().into()), cx);
        }
        if !self.is_voter() {
            let age = self.age_of(news.leader, news.request, news.token);
            if age == Ordering::Less {
                return; // it is old
            }
            let hold = news.hold.min(LONGEST);
            if age == Ordering::Greater {
                self.partition.clear();
                let lock = news.list.binds_for(cx.params());
                self.set_followed((news.leader, news.request, news.token), (hold, lock), cx);
            } else if hold == Duration::ZERO {
                self.unfollow(cx.now());
            }
        }
        let (from, count) = news.part_of(self.me, cx.peers());
        news.send(from, count, cx);
    }
}
