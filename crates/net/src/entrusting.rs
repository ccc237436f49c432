//! How a member keeps its last will up to date.
//!
//! **Assumptions.** The group has leases from a majority and a list of members: then a member has
//! an address of its own, from which its guardian can send. In an open group nothing is entrusted,
//! and a leader that is killed is replaced when its lease ends.
//!
//! **Promise.** The will of a life is in the guardian's hands before the first frame of that life
//! is sent. It is sealed with the present key, and names the present voters. It is taken back once
//! the member has left.

use crate::frame::Keyring;
use crate::last_will::{LastWill, PLACES_MAX, Will};
use crate::member::Member;
use bellwether_core::{Instant, NodeId};
use std::net::SocketAddr;

/// The will that a guardian keeps, and to whom it goes.
#[derive(Debug, Default)]
pub(crate) struct Entrusted {
    pub(crate) will: Option<LastWill>,
    places: Vec<SocketAddr>,
    /// The lists of the last look, which the next one uses again.
    heirs: Heirs,
}

/// Those to tell.
#[derive(Debug, Default)]
struct Heirs {
    voters: Vec<NodeId>,
    places: Vec<SocketAddr>,
}

impl From<Option<LastWill>> for Entrusted {
    fn from(will: Option<LastWill>) -> Self {
        Self { will, ..Self::default() }
    }
}

impl Member {
    /// Entrusts the will of the present life. If that fails, its lease must run out.
    pub(crate) fn entrust(&mut self, now: Instant) {
        let Some(kept) = self.entrusted.will.clone() else { return };
        let sealed = self.settings.program.last_will(self.incarnation).and_then(|body| {
            let mut frame = Vec::new();
            self.sealer.seal_last(&body, &mut frame).ok()?;
            Some(frame)
        });
        let (Some(frame), Ok(listen)) = (sealed, self.sockets.listens()) else { return };
        self.find_heirs(now);
        let Entrusted { places: told, heirs, .. } = &mut self.entrusted;
        told.clone_from(&heirs.places);
        let places = told.clone();
        if let Err(error) = kept.entrust(&Will { frame, listen, places }) {
            self.warning = Some(format!(
                "the guardian cannot be given the last will of this member ({error}): if it is \
                 killed, its lease must run out"
            ));
        }
    }

    /// Uses these keys from now on, also for the will.
    pub(crate) fn set_keyring(&mut self, keyring: Keyring, now: Instant) {
        self.sealer.set_keyring(&keyring);
        self.opener.set_keyring(&keyring);
        self.settings.keyring = keyring;
        self.entrust(now);
    }

    /// Entrusts it again if it should go to others by now. Asked ten times a second, so it
    /// allocates nothing.
    pub(crate) fn entrust_if_moved(&mut self, now: Instant) {
        if self.entrusted.will.is_none() {
            return;
        }
        self.find_heirs(now);
        if self.entrusted.heirs.places != self.entrusted.places {
            self.entrust(now);
        }
    }

    /// Takes the will back.
    pub(crate) fn revoke_will(&mut self) {
        if let Some(kept) = &self.entrusted.will {
            // If it stays, the guardian says what the member has said itself.
            let _ = kept.revoke();
        }
    }

    /// Finds the addresses of those to tell: the voters first.
    fn find_heirs(&mut self, now: Instant) {
        let mut heirs = std::mem::take(&mut self.entrusted.heirs);
        self.list_present_voters(now, &mut heirs.voters);
        let Heirs { voters, places } = &mut heirs;
        let others = self.directory.view().iter().filter(|id| !voters.contains(id));
        let me = self.settings.me;
        let all = voters.iter().copied().chain(others).filter(|id: &NodeId| *id != me);
        places.clear();
        places.extend(all.filter_map(|id| self.directory.address(id)).take(PLACES_MAX));
        self.entrusted.heirs = heirs;
    }
}
