//! The checked settings of a member.

use crate::book::{Book, Founding};
use crate::clock::{Clock, CrossCheck};
use crate::frame::{ConfigDigest, Keyring};
use crate::last_will::LastWill;
use crate::peers::Peers;
use crate::program::Program;
use bellwether_core::{Candidacy, Duration, Instant, NodeId};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// The settings that a member's thread is started with. [`Builder`](crate::Builder) makes them, so
/// all rules hold.
pub(crate) struct Settings {
    pub(crate) group: String,
    pub(crate) me: NodeId,
    pub(crate) rank: u64,
    pub(crate) candidacy: Candidacy,
    /// Whether it never leads, whatever its application decides.
    pub(crate) witness: bool,
    pub(crate) peers: Peers,
    /// The book of a member that joined a running group.
    pub(crate) book: Option<Book>,
    /// The voters of the founding list, unless all members vote.
    pub(crate) voters: Option<Vec<NodeId>>,
    pub(crate) listen: SocketAddr,
    /// Where broadcasts of a listed group go once for all members that hear that.
    pub(crate) multicast: Option<SocketAddr>,
    pub(crate) keyring: Keyring,
    pub(crate) program: Program,
    pub(crate) dir: Option<PathBuf>,
    /// Whether the operator says that this member has never voted.
    pub(crate) bootstrap: bool,
    /// The shortest lease with which this member can work.
    pub(crate) least_lease: Duration,
    /// The directory of the control socket, if the member serves one itself.
    pub(crate) control: Option<PathBuf>,
    pub(crate) record: Option<PathBuf>,
    /// When the process began, if a guardian records its command.
    pub(crate) work: Option<Instant>,
    pub(crate) clock: Arc<dyn Clock>,
    /// The last will that its guardian keeps, if there is one.
    pub(crate) last_will: Option<LastWill>,
}

impl Settings {
    /// The digest of what all members must have in common.
    pub(crate) fn digest(&self) -> ConfigDigest {
        let terms = &self.terms();
        match &self.peers {
            Peers::Listed(list) => {
                ConfigDigest::listed(list.iter().map(|(id, place)| (*id, place.as_str())), terms)
            }
            Peers::Dns(_) | Peers::Multicast { .. } => ConfigDigest::open(terms),
        }
    }

    /// The text of what members must agree on besides the list: the protocol, its parameters, and
    /// who votes at first. Later lists of voters are the protocol's own.
    pub(crate) fn terms(&self) -> String {
        terms_with(&self.program.terms, self.voters.as_deref())
    }

    /// What a process that joins must know, in a group that takes up members while it runs: one
    /// with leases from a majority, whose members store what they grant.
    pub(crate) fn founding(&self) -> Option<Founding> {
        self.program.founding_record.as_ref()?;
        Some(Founding {
            list: self.peers.is_list().then(|| self.peers.to_string())?,
            voters: self.voters.as_ref().map(|ids| ids.iter().map(|id| id.0).collect()),
            params: self.program.params.clone(),
        })
    }

    /// The voters of the founding list, where the protocol must be told of them: since some members
    /// do not vote, or since some may join.
    pub(crate) fn founders(&self) -> Option<Vec<NodeId>> {
        let all = match &self.peers {
            Peers::Listed(list) => list.keys().copied().collect(),
            _ => return self.voters.clone(),
        };
        let joinable = self.program.founding_record.is_some();
        self.voters.clone().or(joinable.then_some(all))
    }

    /// The founding voters with their addresses, as they are written, where members keep a record.
    pub(crate) fn founding_places(&self) -> Vec<String> {
        let (Peers::Listed(list), Some(founders)) = (&self.peers, self.founders()) else {
            return Vec::new();
        };
        let place = |id: &NodeId| Some(format!("{id}={}", list.get(id)?));
        let keeps = self.program.founding_record.is_some();
        founders.iter().filter_map(place).filter(|_| keeps).collect()
    }

    /// How long a promise of this member may bind it.
    pub(crate) fn binds(&self) -> Duration {
        self.program.leases.map_or(Duration::ZERO, |leases| leases.lock)
    }

    /// How clocks are compared; `None` without leases.
    pub(crate) fn clock_check(&self) -> Option<CrossCheck> {
        self.program.leases.map(|leases| CrossCheck::new(leases.drift_ppm, leases.clock_error))
    }

    /// The name of its files in the state directory.
    pub(crate) fn name(&self) -> String {
        format!("{}.{}", self.group, self.me)
    }

    /// In an open group, a member silent for this long is forgotten.
    pub(crate) fn forget(&self) -> Duration {
        let trust = self.program.trust;
        if trust == Duration::MAX { LONGEST } else { (trust * 10).max(SHORTEST).min(LONGEST) }
    }
}

const SHORTEST: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(3600);

/// The text of what members must agree on besides the list: the terms of the protocol, and who
/// votes at first unless all do.
pub(crate) fn terms_with(terms: &str, voters: Option<&[NodeId]>) -> String {
    match voters {
        None => terms.to_owned(),
        Some(voters) => {
            let ids: Vec<String> = voters.iter().map(ToString::to_string).collect();
            format!("{terms} voters={}", ids.join("+"))
        }
    }
}

/// The same text for people: its times are in seconds, not in nanoseconds.
pub(crate) fn readable(terms: &str) -> String {
    let part = |part: &str| match part.split_once('=') {
        Some((name @ ("lock" | "error"), nanos)) => {
            let length = nanos.parse().map(Duration::from_nanos);
            length.map_or_else(|_| part.to_owned(), |length| format!("{name}={length}"))
        }
        _ => part.to_owned(),
    };
    terms.split(' ').map(part).collect::<Vec<String>>().join(" ")
}
