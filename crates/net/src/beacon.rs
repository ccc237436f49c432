//! Beacons: what members tell each other outside the protocol. That they exist, whose frames they
//! drop, and their configuration.
//!
//! A withdrawn member sends a beacon twice a second to everyone and to the members that it
//! conflicts with. Any other member sends beacons only to senders whose frames it drops, and to its
//! own listed address if it listens elsewhere. An observer also sends one to each voter every two
//! seconds, or in a large group to two voters in turn: the protocol lets it say nothing, and voters
//! count the members that were heard when configurations differ. In a large group the beacons of a
//! withdrawn member that are for everyone go to the founding voters. Whoever agrees with a
//! withdrawn member answers it with a beacon, so that it knows who does.
//!
//! **Assumptions.** Only authentic frames are answered. Each is answered once, for three seconds,
//! at most twice a second per address, with one frame. An attacker without a key who replays a
//! frame gets no second answer.
//!
//! **Promise.** A member whose frames others drop shows that in its own status. Of two processes
//! with the same id that can reach each other, one withdraws:
//!
//! 1. A process that does not listen at its listed address sends a beacon there. So does a process
//!    that learns from another member that its id is also used at another address.
//! 2. A process that receives such a beacon under its own id answers with a beacon that rejects the
//!    sender's incarnation. It need not withdraw: no member with the list accepts frames of the
//!    sender.
//! 3. A process that receives such an answer withdraws, as long as answers come. An answer names
//!    one incarnation, so a replayed one has no effect.
//!
//! In a group without a list, a process that receives a *message* under its own id from a later
//! incarnation withdraws at once.
//!
//! # Members with another configuration
//!
//! A member drops frames of members with another list or other parameters, so it votes by one
//! configuration only, and each configuration has at most one leader at a time. But two may have
//! one each: majorities of different lists need not have a member in common. The members that have
//! one configuration are a *camp*. A member that hears of another camp goes on if one of these is
//! true, and withdraws otherwise:
//!
//! 1. The members heard lately that agree with it are more than all others that the other camp's
//!    list names. The other camp cannot find the same: each would be larger than the other.
//! 2. A majority of its own voters agrees with it, and it has a record if tokens are durable; and
//!    all of the other camp that it heard say that this is not so for them. Such a camp has no
//!    leader: without a majority nobody leads, and a group whose tokens are durable is founded by
//!    all founders together, of which none has another list.
//!
//! So one mistyped list, whatever it names, stops one member. Two camps that could both lead are
//! told from it, and of those never two go on: at most the larger one does. A camp is heard through
//! members that are in both lists. Those withdraw, ask who agrees with them, and learn of their own
//! camp within two beacons. For that long, as before they first hear of each other, there may be
//! one leader of each list.

use crate::clock::wall;
use crate::disputes::{BeaconBody, Rejection};
use crate::frame::{ConfigDigest, DropReason, DroppedFrame, Kind, Opened, latest_life};
use crate::member::{Member, RECENT_DROPS, RecentDrop};
use crate::peers::Peers;
use crate::snapshot::Snapshot;
use crate::withdrawal::{BEACON, Reason};
use bellwether_core::{Duration, Instant, NodeId};
use std::collections::BTreeSet;
use std::net::SocketAddr;

/// The most conflicting addresses that get beacons.
const OPPONENTS: usize = 64;
/// How often a process sends a beacon to its listed address if it listens elsewhere, and to the
/// voters if it is an observer.
pub(crate) const QUESTION: Duration = Duration::from_secs(2);
/// Members heard within this time count when lists are compared.
pub(crate) const LATELY: Duration = Duration::from_secs(5);

/// Dropped frames.
impl Member {
    /// Counts a dropped frame and reacts to it.
    pub(crate) fn on_drop(&mut self, dropped: DroppedFrame, from: SocketAddr, now: Instant) {
        let reason = dropped.reason;
        self.counters.count(reason);
        // Multicast delivers our own frames to us, and a last will is sent several times.
        if matches!(reason, DropReason::Own | DropReason::WillCopy) {
            return;
        }
        self.recent_drops.push_front(RecentDrop { at: now, from, reason });
        self.recent_drops.truncate(RECENT_DROPS);
        // Anybody can write a frame that is not authentic: do not react.
        if let Some(frame) = dropped.authentic {
            self.on_authentic_drop(reason, &frame, from, now);
        }
    }

    /// Reacts to an authentic frame that was dropped.
    fn on_authentic_drop(
        &mut self,
        reason: DropReason,
        frame: &Opened,
        from: SocketAddr,
        now: Instant,
    ) {
        match reason {
            DropReason::List | DropReason::Terms => {
                let known = self.disputes.differ(frame, from, now);
                if frame.kind == Kind::Beacon {
                    self.disputes.explain(frame.sender, BeaconBody::decode(&self.body));
                }
                // Before there is a leader, all wait for a moment: the other may lead.
                if (known || self.names_leader(now)) && self.goes_on(frame.digest, now) {
                    self.disputes.refuse(reason, frame, from, now);
                } else {
                    self.conflict(reason, from);
                }
            }
            // By multicast this member hears processes that do not send to it.
            DropReason::OwnId if frame.kind.is_message() && !self.is_double(from) => {
                self.conflict(reason, from);
            }
            _ if frame.sender == self.settings.me && frame.kind == Kind::Beacon => {
                self.on_beacon_with_own_id(frame, from, now);
            }
            _ => {
                // A report of who hears whom may leave from another address of the same machine.
                if reason == DropReason::Elsewhere && frame.kind != Kind::Hearing {
                    self.directory.doubt(frame.sender, now);
                }
                self.disputes.refuse(reason, frame, from, now);
            }
        }
    }

    /// Whether a process with this member's id at that address is not the listed one, so that no
    /// other member hears it. It is told, and withdraws.
    fn is_double(&self, at: SocketAddr) -> bool {
        let elsewhere = |own: SocketAddr| (own.ip(), own.port()) != (at.ip(), at.port());
        self.multicast.is_some() && self.directory.own_place().is_some_and(elsewhere)
    }

    /// Whether it leads.
    pub(crate) fn leads(&self, now: Instant) -> bool {
        let leadership = self.life.as_ref().map(|life| life.leadership(now));
        leadership.is_some_and(|leadership| leadership.names(self.settings.me))
    }

    /// Whether it leads, or knows who does.
    fn names_leader(&self, now: Instant) -> bool {
        let leadership = self.life.as_ref().map(|life| life.leadership(now));
        leadership.is_some_and(|leadership| !leadership.leaders.is_empty())
    }

    /// Whether it takes part although it hears of members with this other configuration.
    fn goes_on(&self, other: ConfigDigest, now: Instant) -> bool {
        let mut all: BTreeSet<NodeId> = self.directory.members().into_iter().collect();
        all.insert(self.settings.me);
        let agree: BTreeSet<NodeId> = all.into_iter().filter(|id| self.agrees(*id, now)).collect();
        let voters = self.present_voters(now);
        // No configuration names those that joined.
        let named = |id: &&NodeId| !self.directory.has_joined(**id) || voters.contains(id);
        let rest = self.disputes.camp(other).difference(&agree).count();
        agree.iter().filter(named).count() > rest
            || (self.stands(now) && self.disputes.falls_short(other))
    }

    /// Whether this member has its configuration, and was heard lately.
    fn agrees(&self, id: NodeId, now: Instant) -> bool {
        let heard = id == self.settings.me || self.heard_lately(id, now);
        heard && !self.disputes.has_other(id)
    }

    /// Whether the members that agree with it could have a leader: they are a majority of those
    /// that vote, if that is needed, and it has a record, if records are kept.
    fn stands(&self, now: Instant) -> bool {
        let voters = self.present_voters(now);
        let agree = voters.iter().filter(|id| self.agrees(**id, now)).count();
        let keeps = self.settings.program.founding_record.is_some();
        agree >= self.settings.program.quorum(voters.len())
            && (!keeps || self.state.memory().is_some())
    }

    fn conflict(&mut self, reason: DropReason, from: SocketAddr) {
        if self.opponents.len() < OPPONENTS {
            self.opponents.insert(from);
        }
        self.withdraw(Reason::Conflict(reason, from));
    }

    /// Handles a beacon from another process with this id: a question, or an answer.
    fn on_beacon_with_own_id(&mut self, frame: &Opened, from: SocketAddr, now: Instant) {
        let body = BeaconBody::decode(&self.body);
        let answers = body.refuses.iter().any(|rejection| self.is_me(rejection));
        if answers {
            self.conflict(DropReason::OwnId, from);
        } else {
            self.disputes.refuse(DropReason::OwnId, frame, from, now);
        }
    }

    /// Handles a beacon of another member: whose frames it drops.
    pub(crate) fn on_beacon(&mut self, sender: NodeId, now: Instant) {
        let body = BeaconBody::decode(&self.body);
        if body.withdrawn && self.suspects.len() < OPPONENTS {
            self.suspects.extend(self.directory.address(sender));
        }
        for rejection in &body.refuses {
            let why = DropReason::named(&rejection.why);
            if let Some(why) = why.filter(|_| self.is_me(rejection)) {
                self.disputes.be_refused(sender, why, now);
                if why == DropReason::Stranger {
                    self.introduce(sender);
                }
            }
            let elsewhere = matches!(why, Some(DropReason::Address | DropReason::Elsewhere));
            let ours = rejection.id == self.settings.me.0 && !self.is_here(rejection.from);
            if ours && elsewhere && self.suspects.len() < OPPONENTS {
                self.suspects.insert(rejection.from);
            }
        }
    }

    fn is_me(&self, rejection: &Rejection) -> bool {
        (rejection.id, rejection.life) == (self.settings.me.0, self.incarnation)
    }

    fn is_here(&self, address: SocketAddr) -> bool {
        self.sockets.listens().is_ok_and(|at| at == address)
    }
}

/// Sending beacons.
impl Member {
    /// Sends a beacon to the addresses that need one.
    pub(crate) fn beacon(&mut self, now: Instant) {
        self.next_beacon = now + BEACON;
        self.opener.refresh(latest_life(wall()));
        self.refresh_joins();
        self.report_hearing(now);
        self.disputes.forget(now);
        self.update_reason(now);
        let mut places = std::mem::take(&mut self.suspects);
        for Rejection { id, from, .. } in self.disputes.refused() {
            places.insert(from);
            let at = self.directory.address(NodeId(id)).filter(|_| id != self.settings.me.0);
            places.extend(at);
        }
        if now >= self.next_question {
            self.next_question = now + QUESTION;
            places.extend(self.directory.own_place().filter(|at| !self.is_here(*at)));
            let observed = self.observed(now);
            places.extend(observed);
            self.share_book();
        }
        if self.withdrawal.is_some() {
            // Conflicting members may not be among everyone.
            places.extend(&self.opponents);
            // Each address once: a second copy of a frame counts as a replay there.
            match self.those_to_tell() {
                Some(ids) => places.extend(ids.iter().filter_map(|id| self.directory.address(*id))),
                None => self.directory.everyone(&mut |address| {
                    places.insert(address);
                }),
            }
        }
        if places.is_empty() {
            return;
        }
        let body = BeaconBody { refuses: self.disputes.refused(), ..self.beacon_body(now) };
        let mut frame = Vec::new();
        if self.sealer.seal(Kind::Beacon, None, &body.encode(), &mut frame).is_ok() {
            self.send_to_all(&places, &frame);
        }
    }

    fn send_to_all(&mut self, places: &BTreeSet<SocketAddr>, frame: &[u8]) {
        places.iter().for_each(|address| self.send(*address, frame));
    }

    /// The configuration of this member, for a beacon.
    fn beacon_body(&self, now: Instant) -> BeaconBody {
        let peers = &self.settings.peers;
        BeaconBody {
            refuses: Vec::new(),
            list: matches!(peers, Peers::Listed(_)).then(|| peers.to_string()),
            terms: Some(self.settings.terms()),
            stands: Some(self.stands(now)),
            withdrawn: self.withdrawal.is_some(),
        }
    }

    /// Why the member has withdrawn, as far as it is known by now.
    pub(crate) fn reason(&self, why: &Reason, now: Instant) -> String {
        let other = matches!(why, Reason::Conflict(DropReason::List | DropReason::Terms, _));
        self.odd(now).filter(|_| other).unwrap_or_else(|| why.to_string())
    }

    /// Which members have another configuration than the rest, if any.
    pub(crate) fn odd(&self, now: Instant) -> Option<String> {
        let lately = |id: &NodeId| self.heard_lately(*id, now);
        let agree: Vec<NodeId> = self.directory.members().into_iter().filter(lately).collect();
        let mine = (self.settings.digest(), &self.beacon_body(now));
        self.disputes.odd(self.settings.me, mine, &agree)
    }

    /// Updates the reason of the withdrawal once more is known.
    fn update_reason(&mut self, now: Instant) {
        let Some(withdrawal) = &self.withdrawal else { return };
        let text = self.reason(&withdrawal.why, now);
        if text != withdrawal.told {
            self.tell_withdrawn(&text, now);
            if let Some(withdrawal) = &mut self.withdrawal {
                withdrawal.told = text;
            }
        }
    }

    /// Tells the application that the member has withdrawn.
    pub(crate) fn tell_withdrawn(&self, text: &str, now: Instant) {
        let withdrawn = Some(text.to_owned());
        self.shared.tell(Snapshot { withdrawn, ..Snapshot::none(self.settings.me, now) });
    }
}
