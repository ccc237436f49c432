//! Builds the status of a member: its state, its group, and why it has its role.

use crate::frame::DropReason;
use crate::member::{Member, RecentDrop};
use crate::setting::Setting;
use crate::snapshot::Snapshot;
use crate::status::{MemberStatus, Refused, Role, Status};
use bellwether_core::{Duration, Fact, Instant, NodeId, Term};
use std::collections::BTreeMap;

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
}

impl Member {
    /// The status at this moment.
    pub(crate) fn status(&self, now: Instant) -> Status {
        let standing = self.shared.see().standing;
        let facts = self.facts(now);
        let settings = &self.settings;
        let leases = settings.program.leases;
        let mut traffic = self.traffic.clone();
        // Multicast delivers our own frames to us; they are not worth showing.
        let counted = |(why, count): &(DropReason, u64)| *count > 0 && *why != DropReason::Own;
        let counts = self.counters.iter().filter(counted);
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
            since_ms: ms(now.since(self.since)),
            changes: self.changes,
            lease_duration_ms: leases.map(|leases| ms(leases.lock)),
            renew_deadline_ms: leases.map(|leases| ms(leases.lease)),
            retry_period_ms: leases.map(|leases| ms(leases.renew)),
            security: if settings.keyring.is_insecure() { "insecure" } else { "keyed" }.to_owned(),
            keys: settings.keyring.ids(&settings.group),
            listen: self.sockets.listens().map_or_else(|_| String::new(), |at| at.to_string()),
            peers: settings.peers.to_string(),
            members: self.members(&standing, &facts, now),
            why: self.why(&standing, &facts, now),
            traffic,
            refusals: self.recent_drops.iter().map(|recent| told(recent, now)).collect(),
            warnings: self.warnings(now),
        }
    }

    fn facts(&self, now: Instant) -> Facts {
        let mut facts = Facts::default();
        if let Some(life) = &self.life {
            life.endpoint().facts(now, &mut |fact| match fact {
                Fact::Locked { to, until } => facts.locked = Some((to, until)),
                Fact::Bound { until } => facts.bound = Some(until),
                Fact::Supporter { peer } => facts.supporters.push(peer),
                Fact::Member { peer } => facts.members.push(peer),
                Fact::NoRecord => facts.no_record = true,
                _ => {}
            });
        }
        facts
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
                        "supports nobody for {} more, since its last life may have promised to",
                        round(until.since(now))
                    ));
                }
                why.extend(self.refusing(now));
            }
        }
        why.extend(self.disputes.refusing(now));
        why.extend(self.silent(now));
        why.extend(self.lacks_majority(now));
        why
    }

    /// What it waits for while it has no record of its votes.
    fn lacks_record(&self) -> String {
        let members = self.directory.members().len() + 1;
        let others = match members {
            1 => "it is alone, so nobody can tell it".to_owned(),
            _ => format!(
                "it reads those of {} others, or founds the group when all {members} members are \
                 there and none has voted",
                members + 1 - self.settings.program.quorum(members)
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

    /// Which members are silent.
    fn silent(&self, now: Instant) -> Vec<String> {
        let tolerated = SILENCE.max(self.settings.binds());
        let silent =
            self.directory.members().into_iter().filter_map(|id| match self.directory.heard(id) {
                None => Some(format!("{id} was never heard")),
                Some(at) if now.since(at) > tolerated => {
                    Some(format!("{id} silent for {}", round(now.since(at))))
                }
                Some(_) => None,
            });
        silent.collect()
    }

    fn lacks_majority(&self, now: Instant) -> Option<String> {
        let members = self.directory.members();
        let (group, tolerated) = (members.len() + 1, SILENCE.max(self.settings.binds()));
        let there =
            |id: &&NodeId| self.directory.heard(**id).is_some_and(|at| now.since(at) <= tolerated);
        let present = members.iter().filter(there).count() + 1;
        let quorum = self.settings.program.quorum(group);
        (present < quorum)
            .then(|| format!("{present} of {group} members are there, a leader needs {quorum}"))
    }

    fn warnings(&self, now: Instant) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(withdrawal) = &self.withdrawal {
            warnings.push(format!("withdrawn: {}", withdrawal.told));
        }
        warnings.extend(self.disputes.refusing(now));
        if self.settings.keyring.is_insecure() {
            warnings
                .push("insecure: everybody who reaches this port can lead this group".to_owned());
        }
        warnings.extend(self.warning.clone());
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

fn list(ids: &[NodeId]) -> String {
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    ids.join(", ")
}
