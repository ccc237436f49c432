//! Builds the status of a member: its state, its group, and why it has its role.

use crate::beacon::{LATELY, QUESTION};
use crate::frame::{BODY_MAX, DropReason};
use crate::last_will::WILL_COPIES;
use crate::member::{Member, RecentDrop};
use crate::peers::Peers;
use crate::program::DRIFT_PPM_MIN;
use crate::setting::Setting;
use crate::snapshot::Snapshot;
use crate::status::{MemberStatus, NO_CANDIDATE, Refused, Role, Status, Voters};
use crate::voter_change::VoterChange;
use bellwether_core::{Duration, Fact, Instant, NodeId, Refused as Unwilling, Term};
use bellwether_protocols::choice::Leases;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// From so many other members on a group is large: an observer tells few voters at a time that it
/// is there.
const LARGE: usize = 16;
/// How many voters that is.
const AT_ONCE: usize = 2;

fn ms(length: Duration) -> f64 {
    length.as_nanos() as f64 / 1e6
}

/// What the protocol reports of itself, sorted.
#[derive(Default)]
struct Facts {
    locked: Option<(NodeId, Instant)>,
    bound: Option<Instant>,
    supporters: Vec<NodeId>,
    members: Vec<NodeId>,
    no_record: bool,
    /// The members that ask by another list of voters, and how often they did.
    other_lists: BTreeMap<u64, u32>,
    /// The list of voters that it holds.
    voters: Option<Voters>,
    /// The durations of its leases by that list, where it has any.
    leases: Option<Leases>,
}

impl Member {
    /// The status at this moment.
    pub(crate) fn status(&self, now: Instant) -> Status {
        let seen = self.shared.see();
        let standing = seen.standing;
        let facts = self.facts(now);
        let settings = &self.settings;
        let leases = facts.leases;
        let mut traffic = self.traffic.clone();
        // Multicast delivers our own frames to us; they are not worth showing. Otherwise somebody
        // sends them back.
        let usual = matches!(settings.peers, Peers::Multicast { .. }) || self.multicast.is_some();
        // So are copies of last wills, up to as many as are sent.
        let copies = self.wills * WILL_COPIES as u64;
        let counted = |(why, count): &(DropReason, u64)| match why {
            DropReason::Own => *count > 0 && !usual,
            DropReason::WillCopy => *count > copies,
            _ => *count > 0,
        };
        let mut counters = self.counters.clone();
        counters.set(DropReason::Unread, self.sockets.unread());
        let counts = counters.iter().filter(counted);
        traffic.refused = counts.map(|(why, count)| (why.name().to_owned(), count)).collect();
        Status {
            group: settings.group.clone(),
            id: settings.me.0,
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            incarnation: self.incarnation,
            protocol: settings.program.name.to_owned(),
            promise: settings.program.promise.clone(),
            role: standing.role(),
            leaders: standing.leaders.iter().map(|leader| leader.0).collect(),
            term: standing.term.map(Term::number),
            term_kept: settings.program.founding_record.is_some(),
            no_record: facts.no_record,
            remaining_ms: standing.remaining().map(ms),
            lease_ends_ms: self.lease_end(&standing).map(|end| ms(end.since(standing.at))),
            since_ms: ms(now.since(self.since)),
            changes: self.changes,
            lease_duration_ms: leases.map(|leases| ms(leases.lock)),
            renew_deadline_ms: leases.map(|leases| ms(leases.lease)),
            retry_period_ms: leases.map(|leases| ms(leases.renew)),
            scheduling_delay_ms: ms(self.scheduling.delay(now)),
            scheduling_allowed_ms: leases.map(|leases| ms(leases.scheduling)),
            round_trip: self.shared.delays.round_trips.told(),
            delay_bound: self.shared.delays.bounds.told(),
            security: if settings.keyring.is_insecure() { "insecure" } else { "keyed" }.to_owned(),
            keys: settings.keyring.ids(&settings.group),
            listen: self.sockets.listens().map_or_else(|_| String::new(), |at| at.to_string()),
            peers: settings.peers.to_string(),
            handing_over: None, // whoever runs a command knows
            name: None,
            priority: self.reads_candidacy().then_some(settings.candidacy.priority),
            checks: Vec::new(),
            addresses: Vec::new(),
            members: self.members(&standing, &facts, now),
            why: self.why(&standing, &facts, now),
            voters: facts.voters,
            partition: seen.partition.as_deref().cloned(),
            multicast: self
                .multicast
                .as_ref()
                .map(|it| it.status(self.directory.view().len(), now)),
            traffic,
            refusals: self.recent_drops.iter().map(|recent| told(recent, now)).collect(),
            warnings: self.warnings(&facts.other_lists, now),
            other_lists: facts.other_lists,
            unresolved: self.directory.unresolved(),
        }
    }

    /// Until when the lease of the leader that it names may last.
    fn lease_end(&self, standing: &Snapshot) -> Option<Instant> {
        let end = self.life.as_ref().and_then(|life| life.endpoint().lease_end(standing.at));
        end.filter(|_| self.settings.program.leases.is_some() && !standing.leaders.is_empty())
    }

    fn facts(&self, now: Instant) -> Facts {
        let mut facts = Facts::default();
        let (mut list, mut voters) = (None, Vec::new());
        let mut leases = self.settings.program.leases;
        if let Some(life) = &self.life {
            life.endpoint().facts(now, &mut |fact| match fact {
                Fact::Locked { to, until } => facts.locked = Some((to, until)),
                Fact::Bound { until } => facts.bound = Some(until),
                Fact::Supporter { peer } => facts.supporters.push(peer),
                Fact::Member { peer } => facts.members.push(peer),
                Fact::NoRecord => facts.no_record = true,
                Fact::OtherList { peer, requests } => {
                    facts.other_lists.insert(peer.0, requests);
                }
                Fact::List { version, committed } => list = Some((version, committed)),
                Fact::Lengths { lock, drift_ppm, .. } => {
                    leases = leases.map(|leases| leases.with(lock, drift_ppm));
                }
                Fact::Voter { peer } => voters.push(peer.0),
                _ => {}
            });
            // The protocol says nothing of its list if all members vote and always did.
            if list.is_none() && self.settings.program.has_tokens() && !facts.no_record {
                list = Some((0, true));
                voters = self.founders().iter().map(|id| id.0).collect();
            }
        }
        let invited = self.life.as_ref().and_then(|life| life.endpoint().invited(now));
        let invited = invited.map(|id| id.0);
        let lock_ms = leases.map(|leases| ms(leases.lock));
        let drift_ppm = leases.map(|leases| leases.drift_ppm);
        let told = |(version, committed)| {
            let ids = voters;
            Voters { version, committed, ids, invited, lock_ms, drift_ppm }
        };
        facts.voters = list.map(told);
        facts.leases = leases;
        facts
    }

    /// The addresses of the voters, if this member is an observer; in a large group of the next
    /// two of them.
    pub(crate) fn observed(&mut self, now: Instant) -> Vec<SocketAddr> {
        if self.is_voter(now) {
            return Vec::new();
        }
        let voters = self.present_voters(now);
        if voters.is_empty() {
            return Vec::new();
        }
        let few = if self.directory.view().len() < LARGE { voters.len() } else { AT_ONCE };
        let from = self.questions % voters.len();
        self.questions = from + few;
        let next = voters.iter().cycle().skip(from).take(few.min(voters.len()));
        next.filter_map(|id| self.directory.address(*id)).collect()
    }

    /// Whether this member votes, as far as is known. Asked while elections go on, so it allocates
    /// nothing.
    fn is_voter(&self, now: Instant) -> bool {
        let me = self.settings.me;
        let (mut listed, mut named) = (false, false);
        if let Some(life) = &self.life {
            life.endpoint().facts(now, &mut |fact| match fact {
                Fact::List { .. } => listed = true,
                Fact::Voter { peer } => named |= peer == me,
                _ => {}
            });
        }
        let founders = self.directory.founders().or(self.settings.voters.as_deref());
        if listed { named } else { founders.is_none_or(|founders| founders.contains(&me)) }
    }

    /// The voters that were named at first, if the group is so large that only they hear of a
    /// withdrawal.
    pub(crate) fn those_to_tell(&self) -> Option<&[NodeId]> {
        let founders = self.directory.founders().or(self.settings.voters.as_deref());
        founders.filter(|_| self.directory.view().len() >= LARGE)
    }

    /// Whether a member was heard lately. An observer of a large group sends to two voters at a
    /// time, and is heard by each of them less often.
    pub(crate) fn heard_lately(&self, id: NodeId, now: Instant) -> bool {
        let voters = self.those_to_tell().filter(|voters| !voters.contains(&id));
        let rounds = voters.map_or(0, |voters| voters.len().div_ceil(AT_ONCE));
        let lately = LATELY + QUESTION * rounds as u64;
        self.directory.heard(id).is_some_and(|at| now.since(at) <= lately)
    }

    /// The list of voters, if it is known and committed: its version, and who votes.
    pub(crate) fn settled_voters(&self, now: Instant) -> Option<(u64, Vec<u64>)> {
        let list = self.facts(now).voters.filter(|list| list.committed)?;
        Some((list.version, list.ids))
    }

    /// The committed list by which this member votes, if it does.
    pub(crate) fn votes_by(&self, now: Instant) -> Option<u64> {
        let (version, voters) = self.settled_voters(now)?;
        voters.contains(&self.settings.me.0).then_some(version)
    }

    /// Who votes now, as far as is known.
    pub(crate) fn present_voters(&self, now: Instant) -> Vec<NodeId> {
        let mut voters = Vec::new();
        self.list_present_voters(now, &mut voters);
        voters
    }

    /// The same, into a list that was used before: the member asks again and again.
    pub(crate) fn list_present_voters(&self, now: Instant, voters: &mut Vec<NodeId>) {
        voters.clear();
        let mut has_list = false;
        if let Some(life) = &self.life {
            life.endpoint().facts(now, &mut |fact| match fact {
                Fact::List { .. } => has_list = true,
                Fact::Voter { peer } => voters.push(peer),
                _ => {}
            });
        }
        if !has_list {
            self.list_founders(voters);
        }
    }

    /// Changes the voters, if the list that it holds has this number. Only a leader does, and its
    /// list is the present one: whoever has a newer one supports nobody by an older one.
    pub(crate) fn change_voters(
        &mut self,
        change: VoterChange,
        list: Option<u64>,
        now: Instant,
    ) -> Result<(), Unwilling> {
        let held = self.facts(now).voters.map(|held| held.version);
        match (list, held) {
            (Some(list), Some(held)) if list != held && self.leads(now) => {
                Err(Unwilling::Outdated(held))
            }
            _ => self.command(change.command(), now),
        }
    }

    /// Whether messages still fit a datagram while the voters change, and with one more. Requests
    /// then name the one that is added and the one that is removed.
    pub(crate) fn fits_one_more(&self, now: Instant) -> bool {
        let founding = self.settings.program.leases.map(|leases| (leases.lock, leases.drift_ppm));
        let present = self.facts(now).leases.map(|leases| (leases.lock, leases.drift_ppm));
        // The lengths of two lists take less room than two voters.
        let lengths = if present == founding { 0 } else { 2 };
        self.settings.program.fits(self.present_voters(now).len() + 2 + lengths, BODY_MAX)
    }

    /// Whether messages still fit a datagram while lockTime or drift change. Requests then name
    /// those of two lists, which takes less room than two voters.
    fn fits_lengths(&self, now: Instant) -> bool {
        self.settings.program.fits(self.present_voters(now).len() + 2, BODY_MAX)
    }

    /// Why this change of lockTime and drift is not possible here, if it is not.
    pub(crate) fn refused_lengths(
        &self,
        lock: Option<Duration>,
        drift_ppm: Option<u32>,
        now: Instant,
    ) -> Option<Unwilling> {
        if !self.fits_lengths(now) {
            return Some(Unwilling::TooManyVoters);
        }
        let present = self.facts(now).leases?;
        if drift_ppm.is_some_and(|drift_ppm| drift_ppm < DRIFT_PPM_MIN) {
            let rule = "drift-ppm >= 2, so that clocks can be compared";
            let (lock, drift_ppm) = (present.lock, DRIFT_PPM_MIN);
            return Some(Unwilling::Lengths { rule, lock, drift_ppm });
        }
        let drift_ppm = drift_ppm.unwrap_or(present.drift_ppm);
        let lease = |lock| present.with(lock, drift_ppm).lease;
        let least = self.settings.least_lease;
        if lease(lock.unwrap_or(present.lock)) >= least {
            return None;
        }
        let rule = "renewal + round trip + scheduling + grace + margin <= lease, so that the \
                    command can be ended in time";
        // 2ρ and 2ε less is the lease; the rest of a millisecond makes the value one to write.
        let missing = least.saturating_sub(lease(least));
        let nanos = (least + missing * 2).as_nanos().div_ceil(1_000_000) * 1_000_000;
        Some(Unwilling::Lengths { rule, lock: Duration::from_nanos(nanos), drift_ppm })
    }

    /// Compares clocks by the drift of the present list once that is committed; before, leases by
    /// the former drift may run. Tells the application the number of that list. And lets a member
    /// that moved be absent for as long as its votes may bind it.
    pub(crate) fn follow_list(&mut self, now: Instant) {
        let (Some(life), Some(leases)) = (&self.life, self.settings.program.leases) else { return };
        let (mut drift, mut binds, mut is_sure) = (leases.drift_ppm, leases.lock, true);
        let (mut list, mut is_known) = (0, true);
        life.endpoint().facts(now, &mut |fact| match fact {
            Fact::List { version, committed } => (list, is_sure) = (version, committed),
            Fact::NoRecord => is_known = false,
            Fact::Lengths { drift_ppm, longest, .. } => {
                (drift, binds) = (drift_ppm, binds.max(longest));
            }
            _ => {}
        });
        if is_sure {
            self.shared.clock.allow(drift);
        }
        if is_sure && is_known {
            self.shared.note_list(list);
        }
        self.directory.set_absent(binds * 2);
    }

    /// The voters of the founding list, in order.
    fn founders(&self) -> Vec<NodeId> {
        let mut all = Vec::new();
        self.list_founders(&mut all);
        all
    }

    fn list_founders(&self, all: &mut Vec<NodeId>) {
        all.clear();
        let named = self.directory.founders().or(self.settings.voters.as_deref());
        if let Some(named) = named {
            return all.extend_from_slice(named);
        }
        all.extend(self.directory.view().iter());
        all.push(self.settings.me);
        all.sort_unstable();
    }

    fn members(&self, standing: &Snapshot, facts: &Facts, now: Instant) -> Vec<MemberStatus> {
        let me = self.settings.me;
        let mut all: BTreeMap<NodeId, MemberStatus> = BTreeMap::new();
        for id in self.directory.members().into_iter().chain([me]) {
            let place = if id == me {
                self.sockets.listens().ok().map(|at| at.to_string())
            } else {
                self.directory.place(id)
            };
            let heard = self.directory.heard(id).map(|at| ms(now.since(at)));
            let status = MemberStatus {
                id: id.0,
                address: place,
                me: id == me,
                leads: standing.leaders.contains(&id),
                supports: facts.supporters.contains(&id) || facts.members.contains(&id),
                observes: facts.voters.as_ref().is_some_and(|list| !list.ids.contains(&id.0)),
                joined: self.directory.has_joined(id),
                heard_ms: heard,
            };
            all.insert(id, status);
        }
        all.into_values().collect()
    }

    /// The reasons for its role, one per line.
    fn why(&self, standing: &Snapshot, facts: &Facts, now: Instant) -> Vec<String> {
        let mut why = Vec::new();
        match standing.role() {
            Role::Withdrawn => {
                why.push(format!("takes no part: {}", standing.withdrawn.as_deref().unwrap_or("")));
                why.extend(self.disputes.refusing(now));
                return why;
            }
            Role::Leader if facts.supporters.is_empty() => why.push("leads".to_owned()),
            Role::Leader => why.push(format!(
                "leads for {} more unless that is renewed, supported by {}",
                round(standing.remaining().unwrap_or(Duration::MAX)),
                list(&facts.supporters)
            )),
            Role::Follower => {
                let leaders = list(&standing.leaders);
                why.push(match standing.remaining() {
                    Some(left) => format!("follows {leaders}, locked for {} more", round(left)),
                    None => format!("follows {leaders}"),
                });
            }
            Role::Looking => {
                why.push("knows of no leader".to_owned());
                why.extend(facts.no_record.then(|| self.lacks_record()));
                if let Some((to, until)) = facts.locked {
                    why.push(format!("locked to {to} for {} more", round(until.since(now))));
                }
                if let Some(until) = facts.bound {
                    why.push(format!(
                        "supports nobody for {} more: promises of its last life may still bind it",
                        round(until.since(now))
                    ));
                }
                why.extend(self.refusing(now));
            }
        }
        if self.settings.witness {
            why.push("is a witness, which votes and never leads".to_owned());
        } else if self.settings.candidacy.witness {
            why.push(NO_CANDIDATE.to_owned());
        }
        let voters = self.present_voters(now);
        if !voters.contains(&self.settings.me) {
            why.push("is an observer, which follows and does not vote".to_owned());
        }
        why.extend(self.disputes.refusing(now));
        why.extend(self.silent(&voters, now));
        why.extend(self.lacks_majority(&voters, now));
        why
    }

    /// What it waits for while it has no record of its votes.
    fn lacks_record(&self) -> String {
        let founders = self.founders();
        let (voters, founds) = (founders.len(), founders.contains(&self.settings.me));
        let reads = voters + 1 - self.settings.program.quorum(voters);
        let kind = if self.settings.voters.is_none() { "members" } else { "founding voters" };
        let others = match voters {
            1 if founds => "it is alone, so nobody can tell it".to_owned(),
            _ if !founds => format!("it reads those of {reads} voters"),
            _ => format!(
                "it reads those of {reads} others, or founds the group when all {voters} {kind} \
                 are there and none has voted"
            ),
        };
        format!(
            "has no record of its votes, and does not vote: {others}; if it has certainly never \
             voted, start it once with {}",
            Setting::Bootstrap
        )
    }

    /// Which datagrams were dropped lately, by source.
    fn refusing(&self, now: Instant) -> Vec<String> {
        let late = |recent: &&RecentDrop| now.since(recent.at) <= SILENCE;
        let mut seen = BTreeMap::new();
        for recent in self.recent_drops.iter().filter(late) {
            seen.entry(recent.from).or_insert(recent.reason);
        }
        seen.iter().map(|(from, why)| format!("refuses what comes from {from}: {why}")).collect()
    }

    /// Which of the voters are silent. Observers say nothing.
    fn silent(&self, voters: &[NodeId], now: Instant) -> Vec<String> {
        let tolerated = SILENCE.max(self.settings.binds());
        let others = voters.iter().filter(|id| **id != self.settings.me);
        let silent = others.filter_map(|id| match self.directory.heard(*id) {
            None => Some(format!("{id} was never heard")),
            Some(at) if now.since(at) > tolerated => {
                Some(format!("{id} silent for {}", round(now.since(at))))
            }
            Some(_) => None,
        });
        silent.collect()
    }

    fn lacks_majority(&self, voters: &[NodeId], now: Instant) -> Option<String> {
        let (me, tolerated) = (self.settings.me, SILENCE.max(self.settings.binds()));
        let lately = |id| self.directory.heard(id).is_some_and(|at| now.since(at) <= tolerated);
        let present = voters.iter().filter(|id| **id == me || lately(**id)).count();
        let (group, quorum) = (voters.len(), self.settings.program.quorum(voters.len()));
        let kind = if group > self.directory.members().len() { "members" } else { "voters" };
        (present < quorum)
            .then(|| format!("{present} of {group} {kind} are there, a leader needs {quorum}"))
    }

    fn warnings(&self, other_lists: &BTreeMap<u64, u32>, now: Instant) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(withdrawal) = &self.withdrawal {
            warnings.push(format!("withdrawn: {}", withdrawal.told));
        } else {
            warnings.extend(self.odd(now));
        }
        warnings.extend(other_lists.iter().map(|(id, requests)| {
            format!(
                "member {id} asks by another list of voters, and was refused {requests} times: \
                 compare `voters` in its status"
            )
        }));
        warnings.extend(self.disputes.refusing(now));
        if self.settings.keyring.is_insecure() {
            warnings
                .push("insecure: everybody who reaches this port can lead this group".to_owned());
        }
        warnings.extend(self.warning.clone());
        warnings.extend(self.joins.warnings());
        warnings.extend(self.state.damage().map(str::to_owned));
        let in_memory = self.settings.program.founding_record.as_ref().and(self.state.in_memory());
        warnings.extend(in_memory.map(|dir| {
            format!(
                "tokens are durable, but {} is in memory, and lost when the machine restarts: set \
                 {} to a directory on a disk",
                dir.display(),
                Setting::Dir
            )
        }));
        warnings.extend(self.recording_failed());
        warnings.extend(self.scheduling.warnings(now));
        let lost = self.directory.unresolved();
        warnings.extend(lost.iter().map(|place| format!("{place} cannot be found by name")));
        warnings
    }
}

/// How long a drop counts as recent: withdrawn members send beacons twice a second.
const SILENCE: Duration = Duration::from_millis(2_000);

fn told(recent: &RecentDrop, now: Instant) -> Refused {
    Refused {
        reason: recent.reason.name().to_owned(),
        text: recent.reason.to_string(),
        from: recent.from.to_string(),
        ago_ms: ms(now.since(recent.at)),
    }
}

/// A duration in milliseconds or seconds.
fn round(length: Duration) -> String {
    let ms = length.as_nanos() / 1_000_000;
    if ms < 1_000 { format!("{ms} ms") } else { format!("{:.1} s", ms as f64 / 1e3) }
}

/// Ids, for people to read.
pub(crate) fn list(ids: &[NodeId]) -> String {
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    ids.join(", ")
}
