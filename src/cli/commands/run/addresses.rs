//! The addresses of the leader: the rules that are checked before the member starts, what an
//! earlier process left, and what clients are told about them.

use super::worker::Notes;
use crate::cli::failure::Failure;
use bellwether::core::{Duration, Instant};
use bellwether::net::Peers;
use bellwether::net::address::{self, Address, BadAddress};
use bellwether::net::clock::{BootTime, Clock};
use bellwether::net::status::{AddressState, AddressStatus};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// For so long clients are told why the member resigned.
const RECENT: Duration = Duration::from_secs(300);
/// A neighbour in the same network answers within this, whatever the delays of the group.
const PROBE_MAX: Duration = Duration::from_millis(20);

/// How long to wait for an answer of somebody who has an address: as long as a message and its
/// answer may take.
pub(super) fn probe(round_trip: Duration) -> Duration {
    if round_trip == Duration::ZERO { PROBE_MAX } else { round_trip.min(PROBE_MAX) }
}

/// For how long it is believed that a member gave an address up: if another one leads after it, its
/// lease is not over before.
pub(super) fn believed(probe: Duration, lease: Duration) -> Duration {
    (probe * 2).min(lease.saturating_sub(probe))
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
    let told =
        |address: &Address| [format!("{address} can be set")].into_iter().chain(remarks(address));
    Ok(addresses.iter().flat_map(told).collect())
}

/// What is no reason not to start, and probably a mistake.
fn remarks(address: &Address) -> Vec<String> {
    let Address { interface, .. } = address;
    let mut all = Vec::new();
    if address::is_up(interface).is_ok_and(|up| !up) {
        all.push(format!("{address}: note: {interface} is down, or has no carrier"));
    }
    if address::is_of_own_network(address).is_ok_and(|own| !own) {
        all.push(format!(
            "{address}: note: {interface} has no other address of that network: is the length of \
             the prefix right, and the interface?"
        ));
    }
    all
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

/// Whether the addresses are set on this machine, as clients are told. The loop notes it; others
/// read it.
#[derive(Clone, Debug)]
pub(super) struct Board {
    addresses: Arc<[Address]>,
    standing: Arc<Mutex<StateSince>>,
}

#[derive(Clone, Debug)]
struct StateSince {
    state: AddressState,
    since: Instant,
    why: Option<String>,
}

impl Board {
    /// They are not set.
    pub(super) fn new(addresses: &[Address]) -> Self {
        let standing = StateSince { state: AddressState::NotSet, since: BootTime.now(), why: None };
        Self { addresses: addresses.into(), standing: Arc::new(Mutex::new(standing)) }
    }

    fn lock(&self) -> MutexGuard<'_, StateSince> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on it is so; returns how it was before.
    pub(super) fn note(&self, state: AddressState, why: Option<String>) -> AddressState {
        let mut standing = self.lock();
        let former = standing.state;
        if former != state {
            standing.since = BootTime.now();
        }
        (standing.state, standing.why) = (state, why);
        former
    }

    /// All of them, as texts with commas between.
    pub(super) fn names(&self) -> String {
        self.addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }

    /// What clients are told.
    pub(super) fn all(&self) -> Vec<AddressStatus> {
        let StateSince { state, since, why } = self.lock().clone();
        let since_ms = BootTime.now().since(since).as_secs_f64() * 1e3;
        let told = |address: &Address| AddressStatus {
            ip: address.ip.to_string(),
            prefix: address.prefix,
            interface: address.interface.clone(),
            state,
            since_ms,
            why: why.clone(),
        };
        self.addresses.iter().map(told).collect()
    }

    /// Why a leader has no address, or resigned lately since it could not have one.
    pub(super) fn trouble(&self) -> Option<String> {
        let StateSince { state, since, why } = self.lock().clone();
        let why = why.filter(|_| !self.addresses.is_empty())?;
        match state {
            AddressState::InUse => Some(format!("it leads without its address: {why}")),
            AddressState::Failed if BootTime.now().since(since) < RECENT => {
                Some(format!("it resigned because it could not have its address: {why}"))
            }
            AddressState::Failed | AddressState::Set | AddressState::NotSet => None,
        }
    }
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
    fn clients_are_told_whether_addresses_are_set_and_who_else_has_them() {
        let board = Board::new(&["10.0.0.2/24@lo".parse().unwrap()]);
        let told = || (board.all()[0].to_string(), board.trouble());
        assert_eq!(told(), ("10.0.0.2/24@lo is not set".to_owned(), None));
        assert_eq!(board.note(AddressState::Set, None), AddressState::NotSet);
        assert_eq!(told(), ("10.0.0.2/24@lo is set".to_owned(), None));
        board.note(AddressState::InUse, Some("it is X's".to_owned()));
        let (text, trouble) = told();
        assert_eq!(text, "10.0.0.2/24@lo is not set: somebody else has it: it is X's");
        assert_eq!(trouble.unwrap(), "it leads without its address: it is X's");
        board.note(AddressState::Failed, Some("no such device".to_owned()));
        let (text, trouble) = told();
        assert_eq!(text, "10.0.0.2/24@lo was given up: no such device");
        assert!(trouble.unwrap().ends_with("could not have its address: no such device"));
        assert_eq!(board.note(AddressState::NotSet, None), AddressState::Failed);
        assert_eq!(told().1, None);
    }

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

    #[test]
    fn that_an_address_is_given_up_is_believed_for_less_than_a_lease() {
        let ms = Duration::from_millis;
        assert_eq!(
            [150, 60, 50, 20].map(|lease| believed(ms(20), ms(lease))),
            [40, 40, 30, 0].map(ms)
        );
    }
}
