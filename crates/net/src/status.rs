//! The status of a member: for people, scripts and dashboards.

use crate::partition::Partition;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The role of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It leads.
    Leader,
    /// It follows somebody.
    Follower,
    /// It knows of no leader.
    Looking,
    /// It takes no part in the election, because something is wrong that could cause two leaders.
    Withdrawn,
}

impl Role {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Leader => "leader",
            Self::Follower => "follower",
            Self::Looking => "looking",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// How long something took since the member was started.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Took {
    /// How often it was measured.
    pub count: u64,
    /// The last time.
    pub last_ms: f64,
    /// In the mean.
    pub mean_ms: f64,
}

/// Everything that a member knows about itself and its group at one moment. Durations are in
/// milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Status {
    /// The group.
    pub group: String,
    /// Its own id.
    pub id: u64,
    /// Its name, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its process id.
    pub pid: u32,
    /// The version of the program.
    pub version: String,
    /// The number of this incarnation.
    pub incarnation: u64,
    /// The protocol.
    pub protocol: String,
    /// What the protocol promises.
    pub promise: String,
    /// Its role.
    pub role: Role,
    /// The leaders that it follows; itself, if it leads.
    pub leaders: Vec<u64>,
    /// The term, where the protocol counts terms: with leases from a majority the fencing token of
    /// that leader.
    #[serde(default)]
    pub term: Option<u64>,
    /// Whether terms grow across restarts of the members, too.
    #[serde(default)]
    pub term_kept: bool,
    /// Whether it has no record of its votes, and so takes part in none.
    #[serde(default)]
    pub no_record: bool,
    /// How long that holds unless it is renewed; absent if it does not end.
    pub remaining_ms: Option<f64>,
    /// Within how long the lease of its leader is over at the latest, unless that has renewed it
    /// and this member has not heard so; 0 if that time has passed. For an observer this is less
    /// than `remaining_ms`, for which it believes in the leader. Absent without a leader or leases.
    #[serde(default)]
    pub lease_ends_ms: Option<f64>,
    /// How long it has been so.
    pub since_ms: f64,
    /// How many times that has changed.
    pub changes: u64,
    /// How long a lease lasts.
    pub lease_duration_ms: Option<f64>,
    /// How long a leader tries to renew it.
    pub renew_deadline_ms: Option<f64>,
    /// How often it does.
    pub retry_period_ms: Option<f64>,
    /// The longest that the machine lately let it wait after a timer, of the last ten to twenty
    /// seconds.
    #[serde(default)]
    pub scheduling_delay_ms: f64,
    /// The longest that its leases allow for (σ).
    #[serde(default)]
    pub scheduling_allowed_ms: Option<f64>,
    /// While it led: from its request for a lease until so many had answered that it had it. Absent
    /// if it never led since it was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<Took>,
    /// The bounds on the delays of messages that it received, where their stamps gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_bound: Option<Took>,
    /// `keyed`, or `insecure` if frames are not protected by a secret.
    pub security: String,
    /// The keys it accepts by their short names; the first is used to send.
    pub keys: Vec<String>,
    /// Where it listens.
    pub listen: String,
    /// The members as the settings give them.
    pub peers: String,
    /// The list of voters that it holds, with leases from a majority; absent if it has none, since
    /// it has no record or takes no part.
    #[serde(default)]
    pub voters: Option<Voters>,
    /// The partition that it belongs to, where leaders are local; absent without a leader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<Partition>,
    /// The members that ask by another list of voters, and how many of their requests were refused
    /// for that since the last one that was not.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other_lists: BTreeMap<u64, u32>,
    /// The listed names that have no address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unresolved: Vec<String>,
    /// A hand-over that is under way: the leader is ending its command or waits for its hooks, and
    /// hands over then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handing_over: Option<HandingOver>,
    /// Its priority now, where the protocol asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u32>,
    /// Its health checks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckStatus>,
    /// The addresses that the leader has, as this member sees its own machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<AddressStatus>,
    /// The members it knows of, itself included.
    pub members: Vec<MemberStatus>,
    /// Why it has this role, one reason per line.
    pub why: Vec<String>,
    /// Who hears whom by multicast, if the group has an address for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multicast: Option<Hearing>,
    /// Counts of datagrams.
    pub traffic: Traffic,
    /// The datagrams dropped last, the latest first.
    pub refusals: Vec<Refused>,
    /// What is wrong, and what to do.
    pub warnings: Vec<String>,
}

/// What [`Status::why`] says of a member whose application does not let it lead. Whoever knows why
/// puts the reason in its place.
pub const NO_CANDIDATE: &str = "votes and does not lead for now";

/// A hand-over that waits for the end of the leader's command, and then for its hooks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HandingOver {
    /// The member that should lead next, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// After this the command is killed, or hooks are waited for no longer.
    pub within_ms: f64,
    /// Whether there is no command, but addresses or a file that are being removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub without_command: bool,
    /// Whether nothing is left of these, and hooks are waited for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hooks: bool,
}

impl fmt::Display for HandingOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let to = self.to.map(|id| format!(" to {id}")).unwrap_or_default();
        let left = self.within_ms / 1e3;
        if self.hooks {
            return write!(f, "waits for its hooks, hands over{to} then; {left:.1} s at most");
        }
        if self.without_command {
            return write!(f, "removing what a leader has, hands over{to} then");
        }
        write!(f, "ending its command, hands over{to} then; the command has {left:.1} s left")
    }
}

/// A health check of a member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckStatus {
    /// Its name.
    pub name: String,
    /// What it looks at.
    pub what: String,
    /// Whether it is well.
    pub up: bool,
    /// For how long it has been so.
    pub since_ms: f64,
    /// What it adds to the priority; with 0 the member does not lead while it fails.
    pub weight: i32,
    /// Its runs since the member was started, by how they ended.
    pub succeeded: u64,
    /// Those that failed.
    pub failed: u64,
    /// Those that took too long.
    pub too_long: u64,
    /// Why the last one that failed did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<String>,
}

impl fmt::Display for CheckStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, what, up, last_failure, .. } = self;
        let why = last_failure.as_deref().unwrap_or("it was not well yet");
        match up {
            true => write!(f, "{name} is well ({what})"),
            false => write!(f, "{name} fails ({what}): {why}"),
        }
    }
}

/// An address of the leader, on the machine of one member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AddressStatus {
    /// The address.
    pub ip: String,
    /// The length of its prefix.
    pub prefix: u8,
    /// The interface that gets it.
    pub interface: String,
    /// Whether it is set here, or why not.
    pub state: AddressState,
    /// For how long it has been so.
    pub since_ms: f64,
    /// Who else has one of the addresses, or why they cannot be set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Whether an address is set on the machine of a member. All of its addresses are, or none is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AddressState {
    /// It is set.
    Set,
    /// It is not set: the member does not lead, or has just begun to.
    NotSet,
    /// The member leads, and does not set it because somebody else answers for one of them.
    InUse,
    /// The member led, and could not set it. It has resigned for that.
    Failed,
}

impl AddressState {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Set, Self::NotSet, Self::InUse, Self::Failed];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Set => "set",
            Self::NotSet => "not-set",
            Self::InUse => "in-use",
            Self::Failed => "failed",
        }
    }
}

impl fmt::Display for AddressStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ip, prefix, interface, state, why, .. } = self;
        let state = match state {
            AddressState::Set => "is set",
            AddressState::NotSet => "is not set",
            AddressState::InUse => "is not set: somebody else has it",
            AddressState::Failed => "was given up",
        };
        write!(f, "{ip}/{prefix}@{interface} {state}")?;
        why.iter().try_for_each(|why| write!(f, ": {why}"))
    }
}

/// A list of voters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Voters {
    /// The number of changes since the founding.
    pub version: u64,
    /// Whether it is known to be committed, so that the change that made it is durable.
    pub committed: bool,
    /// The members that vote, in order. All others are observers.
    pub ids: Vec<u64>,
    /// The member that is asked whether it can vote; absent if none is, or if that was given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invited: Option<u64>,
    /// lockTime by this list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock_ms: Option<f64>,
    /// How much clocks may drift by this list, in parts per 10⁶.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift_ppm: Option<u32>,
}

/// One member as another sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemberStatus {
    /// Its id.
    pub id: u64,
    /// Its address, if that is known.
    pub address: Option<String>,
    /// Whether it is the member that reports this.
    pub me: bool,
    /// Whether it leads, as far as is known.
    pub leads: bool,
    /// Whether it supports the leader, as far as is known.
    pub supports: bool,
    /// Whether it is an observer, as far as is known: it follows and does not vote.
    #[serde(default)]
    pub observes: bool,
    /// Whether it joined while the group ran, and is not in the founding list.
    #[serde(default)]
    pub joined: bool,
    /// The time since it was last heard.
    pub heard_ms: Option<f64>,
}

/// Who hears whom by multicast, as one member knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hearing {
    /// The multicast address.
    pub group: String,
    /// The members that hear this one's multicasts. To any other its broadcasts are sent directly.
    pub heard_by: Vec<u64>,
    /// The members whose multicasts this one hears.
    pub hears: Vec<u64>,
}

/// Counts since the member was started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Datagrams sent.
    pub sent: u64,
    /// How many of them went to a multicast address.
    #[serde(default)]
    pub multicast: u64,
    /// The bytes of those that were sent.
    pub sent_bytes: u64,
    /// Datagrams that could not be sent.
    pub send_failures: u64,
    /// Datagrams received and accepted.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Datagrams dropped, by reason.
    pub refused: BTreeMap<String, u64>,
}

/// A dropped datagram.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Refused {
    /// The reason, as in the counts.
    pub reason: String,
    /// The reason in words, with what to do.
    pub text: String,
    /// Its source address.
    pub from: String,
    /// The time since it came.
    pub ago_ms: f64,
}
