//! The addresses of the leader: the rules that are checked before the member starts, and what an
//! earlier process left.

use super::worker::Notes;
use crate::cli::failure::Failure;
use bellwether::core::Duration;
use bellwether::net::Peers;
use bellwether::net::address::{self, Address, BadAddress};
use std::net::SocketAddr;

/// A neighbour in the same network answers within this, whatever the delays of the group.
const PROBE_MAX: Duration = Duration::from_millis(20);

/// How long to wait for an answer of somebody who has an address: as long as a message and its
/// answer may take.
pub(super) fn probe(round_trip: Duration) -> Duration {
    if round_trip == Duration::ZERO { PROBE_MAX } else { round_trip.min(PROBE_MAX) }
}

/// Why these addresses can be set by the leader, or why one of them cannot.
pub(super) fn check(
    addresses: &[Address],
    peers: Option<&Peers>,
    listen: Option<SocketAddr>,
    exclusive: bool,
) -> Result<Vec<String>, Failure> {
    let Some(first) = addresses.first() else { return Ok(Vec::new()) };
    if !exclusive {
        return Err(Failure::Config(format!(
            "address {first}: this group does not promise never to have two leaders, and two hosts \
             would have it; use leases from a majority (--peers with a list), or leave it out"
        )));
    }
    for address in addresses {
        if let Some(id) = peers.and_then(|peers| member_at(peers, address)) {
            return Err(Failure::Config(format!(
                "address {address}: it is the address of member {id} in --peers, which stays; \
                 choose one that no host has"
            )));
        }
        if listen.is_some_and(|listen| listen.ip() == address.ip) {
            return Err(Failure::Config(format!(
                "address {address}: the member listens there (--listen), also while it follows; \
                 choose one that no host has"
            )));
        }
    }
    address::check(addresses)?;
    Ok(addresses.iter().map(|address| format!("{address} can be set")).collect())
}

/// The listed member that has this address.
fn member_at(peers: &Peers, address: &Address) -> Option<u64> {
    let Peers::Listed(members) = peers else { return None };
    let is_there =
        |place: &String| place.parse::<SocketAddr>().is_ok_and(|place| place.ip() == address.ip);
    members.iter().find(|(_, place)| is_there(place)).map(|(id, _)| id.0)
}

/// Removes what an earlier process of this member left, and says so.
pub(super) fn clean_up(addresses: &[Address], notes: &Notes) -> Result<(), Failure> {
    for left in address::clean_up(addresses)? {
        notes.mention(&format!("{left} was there before this member leads; it was removed"));
    }
    Ok(())
}

impl From<BadAddress> for Failure {
    fn from(bad: BadAddress) -> Self {
        Self::Config(bad.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_stays_cannot_move() {
        let peers = "1=10.0.0.1:7400,2=10.0.0.2:7400,3=host:7400".parse::<Peers>().unwrap();
        let addresses = ["10.0.0.2/24@lo".parse().unwrap()];
        let refused = |peers, listen, exclusive| match check(&addresses, peers, listen, exclusive) {
            Err(Failure::Config(text)) => text,
            other => panic!("{other:?}"),
        };
        assert!(refused(Some(&peers), None, true).contains("the address of member 2 in --peers"));
        let listen = "10.0.0.2:7400".parse().ok();
        assert!(refused(None, listen, true).contains("the member listens there (--listen)"));
        assert!(refused(None, None, false).contains("two hosts would have it"));
        assert!(matches!(check(&[], Some(&peers), listen, false), Ok(none) if none.is_empty()));
    }

    #[test]
    fn neighbours_are_asked_for_no_longer_than_a_message_may_take() {
        let ms = Duration::from_millis;
        assert_eq!([0, 6, 20, 200].map(|trip| probe(ms(trip))), [20, 6, 20, 20].map(ms));
    }
}
