//! Multicast: a broadcast is sent once for all members that hear it, and to each of the others.
//!
//! **Source.** Our own. What is acknowledged, and how a sender goes on without an acknowledgement,
//! is that of reliable multicast; nothing is sent again, because the protocols bear loss.
//!
//! **Assumptions.** None about the network. It may have no multicast, lose it and get it back, or
//! have it in one direction or for some members only.
//!
//! **Promise.** A broadcast goes by multicast alone only to members that acknowledged an earlier
//! one. If the network stops to carry multicasts, a voter misses one broadcast of a sender that it
//! answers: the next one is sent to it. That costs a leader no more than one lost message does. The
//! same if multicasts are carried, but too late to count.
//! Where not every voter answers (`spare`), one that alone hears no multicasts any more may miss
//! two. A member that answers nothing may miss what comes within three reports.
//!
//! # Who hears whom
//!
//! Each member sends a *report* to the multicast address every half second ([`Kind::Hearing`]): the
//! number of the last frame that it heard by multicast from each other member. A report is also how
//! others find out whether they hear its sender; it is never sent to a member as a copy. Whoever is
//! heard, and does not seem to hear, is told directly. A message to a member that is heard carries
//! the same number ([`Kind::Acknowledging`]), so a voter acknowledges a request with its answer.
//!
//! The numbers are those of frames, and are authenticated with them. A frame does not say by which
//! way it was sent: whoever relays frames between networks makes multicast work there, and ends it
//! as a network does.
//!
//! # Which members need a copy
//!
//! A member is *covered* if it acknowledged something at least as late as the third last report,
//! and if it votes, also the last broadcast that was multicast. Where not every voter answers every
//! request, the one before is enough if at least half of the other voters acknowledged the last. If
//! fewer than two members are covered, a multicast saves nothing, and the broadcast is sent to
//! each. Otherwise it is multicast, and then sent to those that are not covered. These may get it
//! twice; the second copy counts as `replayed`.
//!
//! What a command of the application causes (it resigns, it leaves) is always sent to each member:
//! nobody repeats it. So is a last will.

#[cfg(test)]
mod tests;

use crate::directory::Directory;
use crate::frame::{BODY_MAX, DropReason, Kind, Opened};
use crate::member::Member;
use crate::status::Hearing;
use crate::withdrawal::BEACON;
use bellwether_core::{Dest, Duration, Fact, Instant, NodeId, Reader, WireWrite};
use bellwether_protocols::profile::Leases;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The bytes of a number that precedes a message.
const NUMBER: usize = 8;
/// The bytes of a row of a report: a member, and a number.
const ROW: usize = 16;
/// The most rows of a report.
const ROWS_MAX: usize = BODY_MAX / ROW;
/// For every so many other members reports are rarer by half a second: everybody receives those of
/// all.
const SHARE: usize = 16;
/// So many reports in a row may be lost before a silent member counts as not hearing.
const REPORTS: usize = 3;
/// If fewer members are covered, a multicast saves nothing.
const WORTH: usize = 2;

/// What a member knows of who hears whom.
#[derive(Debug)]
pub(crate) struct Multicast {
    group: SocketAddr,
    /// Whether some voters answer only every second request.
    some_answer: bool,
    /// What is heard later than this after it was sent does not count for the protocol.
    in_time: Duration,
    /// The voters as of the last report; `None` if all members vote.
    voters: Option<Vec<NodeId>>,
    links: BTreeMap<NodeId, Link>,
    /// The numbers of the last broadcast that was multicast, and of the one before.
    last: Option<u64>,
    before: Option<u64>,
    /// When the last one was sent.
    last_at: Instant,
    /// The numbers of the last reports, the latest first.
    reports: [Option<u64>; REPORTS],
    /// When the next report is due.
    next: Instant,
    /// Where the next report begins, if not all rows fit one.
    after: Option<NodeId>,
    /// Whether broadcasts go to each member, whoever is covered.
    direct: bool,
    body: Vec<u8>,
    frame: Vec<u8>,
}

/// What is known of one other member.
#[derive(Clone, Copy, Debug, Default)]
struct Link {
    /// Its incarnation.
    life: u64,
    /// The number of its last frame that was heard by multicast, and when that was.
    heard: Option<(u64, Instant)>,
    /// The number of this member's last multicast that it acknowledged.
    acknowledged: Option<u64>,
    /// Whether the broadcast that is being sent reaches it by multicast.
    covered: bool,
}

impl Multicast {
    /// Nothing is known yet. With leases, what takes longer than a round trip may is too late.
    pub(crate) fn new(group: SocketAddr, leases: Option<Leases>) -> Self {
        Self {
            group,
            some_answer: leases.is_some_and(|leases| leases.some_answer),
            in_time: leases.map_or(Duration::MAX, |leases| leases.round_trip / 2),
            voters: None,
            links: BTreeMap::new(),
            last: None,
            before: None,
            last_at: Instant::ZERO,
            reports: [None; REPORTS],
            next: Instant::ZERO,
            after: None,
            direct: false,
            body: Vec::new(),
            frame: Vec::new(),
        }
    }

    /// Forgets what was acknowledged: a new incarnation numbers its frames anew.
    pub(crate) fn begin_again(&mut self) {
        (self.last, self.before, self.reports) = (None, None, [None; REPORTS]);
        self.links.values_mut().for_each(|link| link.acknowledged = None);
    }

    /// Notes an accepted frame of another member.
    pub(crate) fn hear(&mut self, opened: &Opened, by_multicast: bool, now: Instant) {
        let life = opened.incarnation;
        let link = self.links.entry(opened.sender).or_default();
        if link.life != life {
            *link = Link { life, ..Link::default() };
        }
        // A last will has the greatest number, and is never multicast. Nor is what is for one
        // member, but somebody may send it there.
        let by_multicast = by_multicast && opened.for_all;
        if by_multicast && link.heard.is_none_or(|(number, _)| opened.sequence > number) {
            link.heard = Some((opened.sequence, now));
        }
    }

    /// What precedes a message of so many bytes: the number to acknowledge, if its one receiver was
    /// ever heard by multicast, and there is room for it.
    pub(crate) fn front(&self, to: Dest, length: usize) -> Option<[u8; NUMBER]> {
        let Dest::Node(to) = to else { return None };
        let (number, _) = self.links.get(&to)?.heard?;
        (length + NUMBER <= BODY_MAX).then(|| number.to_le_bytes())
    }

    /// Notes that a member heard the multicast with this number. If that comes late, perhaps it
    /// heard it too late: the next broadcast is sent to it.
    pub(crate) fn acknowledged(&mut self, by: NodeId, number: u64, now: Instant) {
        // What was never sent is of a former incarnation.
        if Some(number) > self.last.max(self.reports[0]) {
            return;
        }
        if Some(number) == self.last && now.since(self.last_at) > self.in_time {
            return;
        }
        if let Some(link) = self.links.get_mut(&by) {
            link.acknowledged = link.acknowledged.max(Some(number));
        }
    }

    /// Handles a report; false if it cannot be read.
    pub(crate) fn on_report(&mut self, by: NodeId, me: NodeId, body: &[u8], now: Instant) -> bool {
        let Some(rows) = rows(body) else { return false };
        for (id, number) in rows {
            if id == me {
                self.acknowledged(by, number, now);
            }
        }
        true
    }

    /// The address to which a broadcast with this number is multicast, if it is. Then
    /// [`covers`](Self::covers) says who needs no copy.
    pub(crate) fn choose(
        &mut self,
        number: u64,
        directory: &Directory,
        now: Instant,
    ) -> Option<SocketAddr> {
        if self.direct {
            return None;
        }
        let all = self.voters.as_deref();
        let votes = |id: NodeId| all.is_none_or(|all| all.contains(&id));
        let (mut voters, mut prompt, mut covered) = (0, 0, 0);
        directory.listed(&mut |id, _| {
            let acknowledged = self.links.get(&id).and_then(|link| link.acknowledged);
            voters += usize::from(votes(id));
            prompt += usize::from(votes(id) && acknowledged >= self.last);
        });
        let trusted = self.some_answer && prompt * 2 >= voters;
        let enough = if trusted { self.before } else { self.last };
        let oldest = self.reports[REPORTS - 1];
        directory.listed(&mut |id, _| {
            if let Some(link) = self.links.get_mut(&id) {
                let needed = if votes(id) { oldest.max(enough) } else { oldest };
                link.covered = link.acknowledged.is_some() && link.acknowledged >= needed;
                covered += usize::from(link.covered);
            }
        });
        if covered < WORTH {
            return None;
        }
        (self.before, self.last, self.last_at) = (self.last, Some(number), now);
        Some(self.group)
    }

    /// Whether the last broadcast that was multicast reaches this member by that.
    pub(crate) fn covers(&self, id: NodeId) -> bool {
        self.links.get(&id).is_some_and(|link| link.covered)
    }

    /// Notes the number of a report.
    fn reported(&mut self, number: u64) {
        self.reports.rotate_right(1);
        self.reports[0] = Some(number);
    }

    /// How often this member reports, among so many others.
    fn pace(others: usize) -> Duration {
        BEACON * (1 + others / SHARE) as u64
    }

    /// Writes a report: those that were heard lately, in turns if they do not fit.
    fn write(&mut self, lately: Duration, now: Instant) {
        self.body.clear();
        let after = self.after.take();
        let later = |id: &&NodeId| after.is_none_or(|after| **id > after);
        let next = self.links.iter().filter(|(id, link)| later(id) && link.hears(lately, now));
        for (count, (id, link)) in next.enumerate() {
            if count == ROWS_MAX {
                break;
            }
            link.put(*id, &mut self.body);
            self.after = (count + 1 == ROWS_MAX).then_some(*id);
        }
    }

    /// What is known, for people to read.
    pub(crate) fn status(&self, others: usize, now: Instant) -> Hearing {
        let lately = Self::pace(others) * REPORTS as u64;
        let oldest = self.reports[REPORTS - 1];
        let hears = |link: &Link| link.acknowledged.is_some() && link.acknowledged >= oldest;
        let all = self.links.iter();
        let named = |(id, _): (&NodeId, &Link)| id.0;
        Hearing {
            group: self.group.to_string(),
            hears: all.clone().filter(|(_, link)| link.hears(lately, now)).map(named).collect(),
            heard_by: all.filter(|(_, link)| hears(link)).map(named).collect(),
        }
    }
}

impl Link {
    /// Whether it was heard by multicast lately.
    fn hears(&self, lately: Duration, now: Instant) -> bool {
        self.heard.is_some_and(|(_, at)| now.since(at) <= lately)
    }

    /// Its row of a report.
    fn put(&self, id: NodeId, out: &mut Vec<u8>) {
        if let Some((number, _)) = self.heard {
            out.put_node(id);
            out.put_u64(number);
        }
    }
}

/// The rows of a report, unless it is malformed.
pub(crate) fn rows(body: &[u8]) -> Option<impl Iterator<Item = (NodeId, u64)>> {
    let row = |row: &[u8]| {
        let mut input = Reader::new(row);
        Some((input.node().ok()?, input.u64().ok()?))
    };
    let whole = body.len().is_multiple_of(ROW) && body.len() <= BODY_MAX;
    whole.then(|| body.chunks_exact(ROW).filter_map(row))
}

/// Takes the number off the front of a message; `None` if there is none.
fn take_number(body: &mut Vec<u8>) -> Option<u64> {
    let number = u64::from_le_bytes(*body.first_chunk::<NUMBER>()?);
    body.drain(..NUMBER);
    Some(number)
}

impl Member {
    /// Handles a report of a member.
    pub(crate) fn on_hearing(&mut self, by: NodeId, from: SocketAddr, now: Instant) {
        let me = self.settings.me;
        let read = match &mut self.multicast {
            Some(multicast) => multicast.on_report(by, me, &self.body, now),
            None => rows(&self.body).is_some(),
        };
        if !read {
            self.on_drop(DropReason::Malformed.into(), from, now);
        }
    }

    /// Handles a protocol message behind the number of a multicast that its sender heard.
    pub(crate) fn hear_behind_number(&mut self, opened: &Opened, from: SocketAddr, now: Instant) {
        let Some(number) = take_number(&mut self.body) else {
            return self.on_drop(DropReason::Malformed.into(), from, now);
        };
        if let Some(multicast) = &mut self.multicast {
            multicast.acknowledged(opened.sender, number, now);
        }
        self.hear(opened, from, now);
    }

    /// Sends broadcasts to each member from now on, whoever hears multicasts; or no longer.
    pub(crate) fn send_directly(&mut self, direct: bool) {
        if let Some(multicast) = &mut self.multicast {
            multicast.direct = direct;
        }
    }

    /// Sends a report if it is due.
    pub(crate) fn report_hearing(&mut self, now: Instant) {
        let Some(mut multicast) = self.multicast.take() else { return };
        if self.life.is_some() && now >= multicast.next {
            self.send_report(&mut multicast, now);
        }
        self.multicast = Some(multicast);
    }

    /// Notes who votes by now, without allocating if that is as before.
    fn note_voters(&self, multicast: &mut Multicast, now: Instant) {
        let (mut voters, mut listed) = (multicast.voters.take().unwrap_or_default(), false);
        voters.clear();
        if let Some(life) = &self.life {
            life.endpoint().facts(now, &mut |fact| match fact {
                Fact::List { .. } => listed = true,
                // The vote of one that is being removed still counts.
                Fact::Voter { peer } | Fact::Removed { peer } => voters.push(peer),
                _ => {}
            });
        }
        // The protocol says nothing of its list if it is the one that it began with.
        let founders = self.directory.founders().filter(|_| !listed);
        founders.into_iter().for_each(|founders| voters.extend_from_slice(founders));
        multicast.voters = (listed || founders.is_some()).then_some(voters);
    }

    fn send_report(&mut self, multicast: &mut Multicast, now: Instant) {
        self.note_voters(multicast, now);
        let pace = Multicast::pace(self.directory.view().len());
        let lately = pace * REPORTS as u64;
        multicast.next = now + pace;
        multicast.write(lately, now);
        let Multicast { group, body, frame, .. } = multicast;
        if let Ok(number) = self.sealer.seal(Kind::Hearing, None, body, frame) {
            self.send(*group, frame);
            multicast.reported(number);
        }
        // Those that are heard and do not hear are told directly.
        let oldest = multicast.reports[REPORTS - 1];
        let deaf = |link: &Link| link.acknowledged.is_none() || link.acknowledged < oldest;
        let Multicast { links, body, frame, .. } = multicast;
        for (id, link) in links.iter().filter(|(_, link)| link.hears(lately, now) && deaf(link)) {
            let Some(address) = self.directory.address(*id) else { continue };
            body.clear();
            link.put(*id, body);
            if self.sealer.seal(Kind::Hearing, Some(*id), body, frame).is_ok() {
                self.send(address, frame);
            }
        }
    }
}
