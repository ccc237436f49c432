//! The multicast address of a listed group: which ones make sense, and the interface it is for.

use super::{Builder, Checked, is_here};
use crate::bad_settings::BadSettings;
use crate::peers::Peers;
use crate::resolver::lookup;
use crate::settings::Settings;
use crate::socket::Sockets;
use std::net::SocketAddr;

impl Builder {
    /// Checks that broadcasts can be sent to the multicast address, if there is one.
    pub(super) fn check_multicast(
        &self,
        peers: &Peers,
        listen: SocketAddr,
    ) -> Checked<Option<String>> {
        let Some(group) = self.multicast else { return Ok(None) };
        if !group.ip().is_multicast() || group.port() == 0 {
            return Err(BadSettings::NotMulticast { group });
        }
        if !peers.is_list() {
            return Err(BadSettings::MulticastOfOpenGroup { group, peers: peers.clone() });
        }
        if group.is_ipv4() != listen.is_ipv4() {
            return Err(BadSettings::MulticastOtherFamily { group, listen });
        }
        if listen.ip().is_unspecified() && listen.port() == group.port() {
            return Err(BadSettings::MulticastSamePort { group, listen });
        }
        if group.is_ipv6() && listen.ip().is_unspecified() {
            return Err(BadSettings::MulticastEverywhere { group, listen });
        }
        Ok(Some(format!("what is for all goes to {group}, once for those that hear it")))
    }
}

/// The sockets of a member.
pub(super) fn sockets(settings: &Settings) -> Checked<Sockets> {
    let listen = settings.listen;
    let failed = |error| BadSettings::Listen(listen, error);
    let list = match &settings.peers {
        Peers::Multicast { group, interface } => {
            return Sockets::join(listen, *group, interface.as_deref()).map_err(failed);
        }
        Peers::Dns(_) => return Sockets::bind(listen).map_err(failed),
        Peers::Listed(list) => list,
    };
    let sockets = Sockets::bind(listen).map_err(failed)?;
    let Some(group) = settings.multicast else { return Ok(sockets) };
    // A member that listens everywhere uses the interface of its listed address.
    let place = list.get(&settings.me).filter(|_| listen.ip().is_unspecified());
    let at = place.and_then(|place| lookup(place).first().copied()).unwrap_or(listen);
    let mut others = list.iter().filter(|(id, _)| **id != settings.me);
    let here = others.any(|(_, place)| lookup(place).into_iter().any(is_here));
    sockets.hearing(group, at, here).map_err(|error| BadSettings::Multicast { group, at, error })
}
