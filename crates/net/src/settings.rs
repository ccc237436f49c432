//! The checked settings of a member.

use crate::clock::{Clock, CrossCheck};
use crate::frame::{ConfigDigest, Keyring};
use crate::peers::Peers;
use crate::program::Program;
use bellwether_core::{Duration, Instant, NodeId};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// The settings that a member's thread is started with. [`Builder`](crate::Builder) makes them, so
/// all rules hold.
pub(crate) struct Settings {
    pub(crate) group: String,
    pub(crate) me: NodeId,
    pub(crate) rank: u64,
    pub(crate) peers: Peers,
    pub(crate) listen: SocketAddr,
    pub(crate) keyring: Keyring,
    pub(crate) program: Program,
    pub(crate) dir: Option<PathBuf>,
    /// Whether the operator says that this member has never voted.
    pub(crate) bootstrap: bool,
    /// The directory of the control socket, if the member serves one itself.
    pub(crate) control: Option<PathBuf>,
    pub(crate) record: Option<PathBuf>,
    /// When the process began, if a guardian records its command.
    pub(crate) work: Option<Instant>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Settings {
    /// The digest of what all members must have in common.
    pub(crate) fn digest(&self) -> ConfigDigest {
        let terms = &self.program.terms;
        match &self.peers {
            Peers::Listed(list) => {
                ConfigDigest::listed(list.iter().map(|(id, place)| (*id, place.as_str())), terms)
            }
            Peers::Dns(_) | Peers::Multicast { .. } => ConfigDigest::open(terms),
        }
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
