//! The members that one member knows, and their addresses.
//!
//! **Assumptions.** An address belongs to one machine at a time, and a name moves to another
//! address only after the process at the former one has ended. No member can check that across a
//! network partition: members that reach only a second process with the same id and address take it
//! for a restarted one.
//!
//! **Promise.** A listed member is identified by its address: a frame with its id from another
//! address is dropped, so only one of two processes with the same id is heard. In an open group a
//! member is known once it was heard, and forgotten when it is silent.
//!
//! # One place has one address
//!
//! Two majorities share a member, which supports one leader at a time. So each place of the list
//! must be one process. If a name had two addresses, each of two processes could pass for the
//! member, and two majorities could share only these. Choosing one of the addresses does not help:
//! other members may choose another one, because the answers for a name differ in order and in
//! family from machine to machine. So a place with several addresses is refused: at the start as an
//! error in the settings, later by withdrawing until that is over. The addresses may belong to one
//! host, but no member can know that.
//!
//! A name may move. Locks name an incarnation, so no member supports the former process and the new
//! one within a lockTime. But a vote of the former process may still bind while the new one, which
//! does not know of it, gives another. So after a move the member counts as absent for two
//! lockTimes.
//!
//! A name may have different addresses for different members, one for each. Then some members
//! accept a process at one address, and others drop its frames. A member that receives an id from
//! an address that its name does not have counts that member as absent, at any address, for two
//! lockTimes more. So no member that hears both processes takes part in what one of them does. (In
//! a list of addresses all members have the same ones, and a process elsewhere is not heard.)
//!
//! # Members that joined
//!
//! Members that joined a listed group while it ran have one address each, as the book says (see
//! `book`). They are treated like listed ones.

use crate::frame::DropReason;
use crate::peers::Peers;
use crate::resolver::{Resolver, lookup};
use bellwether_core::{Duration, Instant, Members, NodeId, Peers as View};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

/// The known members and their addresses.
#[derive(Debug)]
pub(crate) struct Directory {
    me: NodeId,
    places: Places,
    heard: BTreeMap<NodeId, Heard>,
    view: Members,
    times: Times,
    /// The most members of an open group.
    most: usize,
}

/// The timeouts of a directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// In an open group, a member silent for this long is forgotten.
    pub(crate) forget: Duration,
    /// In a listed group, a member that moved is absent for this long.
    pub(crate) absent: Duration,
}

#[derive(Debug)]
enum Places {
    Listed { list: BTreeMap<NodeId, Listed>, resolver: Option<Resolver> },
    Dns { name: String, found: BTreeSet<SocketAddr>, resolver: Resolver },
    Multicast { group: SocketAddr },
}

/// The place of a member; this member has one too.
#[derive(Debug)]
struct Listed {
    place: String,
    /// The addresses of the place at the last lookup. There must be at most one.
    addresses: Vec<SocketAddr>,
    /// The end of its absence after a move.
    absent: Option<Instant>,
    /// Whether it joined later, and is not in the founding list.
    joined: bool,
}

impl Listed {
    fn new(place: &str) -> Self {
        let addresses = place.parse().map_or_else(|_| lookup(place), |address| vec![address]);
        Self { place: place.to_owned(), addresses, absent: None, joined: false }
    }

    /// The address, if there is exactly one.
    fn address(&self) -> Option<SocketAddr> {
        match self.addresses.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// Whether two addresses are equal, without the scope and flow of IPv6.
    fn admits(&self, from: SocketAddr, now: Instant) -> Result<(), DropReason> {
        match self.address() {
            Some(at) if same(at, from) => match self.absent {
                Some(until) if now < until => Err(DropReason::Moved),
                _ => Ok(()),
            },
            _ if self.is_name() => Err(DropReason::Elsewhere),
            _ => Err(DropReason::Address),
        }
    }

    /// A member that joined.
    fn joined(at: SocketAddr) -> Self {
        Self { place: at.to_string(), addresses: vec![at], absent: None, joined: true }
    }

    fn is_name(&self) -> bool {
        self.place.parse::<SocketAddr>().is_err()
    }

    /// Takes the result of a lookup.
    fn find(&mut self, addresses: &[SocketAddr], absent: Instant) {
        if self.addresses != addresses {
            if !self.addresses.is_empty() {
                self.absent = Some(absent);
            }
            self.addresses = addresses.to_vec();
        }
    }
}

fn same(one: SocketAddr, other: SocketAddr) -> bool {
    (one.ip(), one.port()) == (other.ip(), other.port())
}

/// The error text for a place with several addresses, if it has several.
fn ambiguous(place: &str, addresses: &[SocketAddr]) -> Option<String> {
    (addresses.len() > 1).then(|| several_addresses(place, addresses))
}

/// The error text for a place with several addresses.
pub(crate) fn several_addresses(place: &str, addresses: &[SocketAddr]) -> String {
    let shown: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    format!(
        "{place} has {} addresses, {}, but a member has one: two processes at two of them could \
         both lead as this member; list its address, or a name that has one",
        addresses.len(),
        shown.join(" and ")
    )
}

#[derive(Clone, Copy, Debug)]
struct Heard {
    from: SocketAddr,
    at: Instant,
}

impl Directory {
    /// The members of the settings, and which of them vote at first, if the protocol is to be told.
    /// `woken` is called when the address of a name has changed.
    pub(crate) fn new(
        me: NodeId,
        peers: &Peers,
        voters: Option<&[NodeId]>,
        times: Times,
        most: usize,
        woken: impl Fn() + Send + 'static,
    ) -> std::io::Result<Self> {
        let mut view = Members::default();
        let places = match peers {
            Peers::Listed(list) => {
                view = list.keys().copied().filter(|id| *id != me).collect();
                if let Some(voters) = voters {
                    view = view.founded_by(voters.to_vec());
                }
                let list: BTreeMap<NodeId, Listed> =
                    list.iter().map(|(id, place)| (*id, Listed::new(place))).collect();
                let names = list.values().filter(|listed| listed.is_name());
                let names = names.map(|listed| listed.place.clone());
                let resolver = Resolver::start(names.collect(), woken)?;
                Places::Listed { list, resolver }
            }
            Peers::Dns(name) => {
                let found = lookup(name).into_iter().collect();
                let resolver = Resolver::start(vec![name.clone()], woken)?;
                let resolver =
                    resolver.ok_or_else(|| std::io::Error::other("no name to resolve"))?;
                Places::Dns { name: name.clone(), found, resolver }
            }
            Peers::Multicast { group, .. } => Places::Multicast { group: *group },
        };
        Ok(Self { me, places, heard: BTreeMap::new(), view, times, most })
    }

    /// The other members, for the protocol.
    pub(crate) fn view(&self) -> &dyn View {
        &self.view
    }

    /// The other members by id.
    pub(crate) fn members(&self) -> Vec<NodeId> {
        self.view().iter().collect()
    }

    /// The voters of the founding list, if the protocol is told of them.
    pub(crate) fn founders(&self) -> Option<&[NodeId]> {
        self.view.founders()
    }

    /// Sets the members of a listed group that joined later; returns whether the set of known
    /// members changed. One that is elsewhere now is absent for a while, as if its name had moved.
    pub(crate) fn set_joined(&mut self, all: &BTreeMap<NodeId, SocketAddr>, now: Instant) -> bool {
        let Places::Listed { list, .. } = &mut self.places else { return false };
        list.retain(|id, listed| !listed.joined || all.contains_key(id));
        for (id, at) in all {
            let listed = list.entry(*id).or_insert_with(|| Listed::joined(*at));
            if listed.joined {
                listed.find(&[*at], now + self.times.absent);
                listed.place = at.to_string();
            }
        }
        let others = list.keys().copied().filter(|id| *id != self.me);
        let before = std::mem::take(&mut self.view);
        self.view = before.with(others);
        self.heard.retain(|id, _| list.contains_key(id));
        self.view != before
    }

    /// Whether this member joined later, and is not in the founding list.
    pub(crate) fn has_joined(&self, id: NodeId) -> bool {
        let Places::Listed { list, .. } = &self.places else { return false };
        list.get(&id).is_some_and(|listed| listed.joined)
    }

    /// The listed or joined member at this address, if there is one.
    pub(crate) fn at(&self, address: SocketAddr) -> Option<NodeId> {
        let Places::Listed { list, .. } = &self.places else { return None };
        let is = |listed: &Listed| listed.addresses.iter().any(|at| same(*at, address));
        list.iter().find(|(_, listed)| is(listed)).map(|(id, _)| *id)
    }

    /// Whether frames of this sender are accepted from this address.
    pub(crate) fn admits(
        &self,
        sender: NodeId,
        from: SocketAddr,
        now: Instant,
    ) -> Result<(), DropReason> {
        match &self.places {
            Places::Listed { list, .. } => match list.get(&sender) {
                None => Err(DropReason::Stranger),
                Some(listed) => listed.admits(from, now),
            },
            _ if self.heard.len() >= self.most && !self.heard.contains_key(&sender) => {
                Err(DropReason::Stranger)
            }
            _ => Ok(()),
        }
    }

    /// Notes that a frame of this sender was accepted; returns whether the set of known members
    /// changed.
    pub(crate) fn hear(&mut self, sender: NodeId, from: SocketAddr, at: Instant) -> bool {
        let new = self.heard.insert(sender, Heard { from, at }).is_none();
        let open = !matches!(self.places, Places::Listed { .. });
        if open && new {
            self.view = self.heard.keys().copied().filter(|id| *id != self.me).collect();
        }
        open && new
    }

    /// Forgets silent members of an open group; returns whether the set of known members changed.
    pub(crate) fn forget(&mut self, now: Instant) -> bool {
        if matches!(self.places, Places::Listed { .. }) {
            return false;
        }
        let before = self.heard.len();
        self.heard.retain(|_, heard| now.since(heard.at) <= self.times.forget);
        if self.heard.len() == before {
            return false;
        }
        self.view = self.heard.keys().copied().collect();
        true
    }

    /// From now on a member that moves is absent for this long.
    pub(crate) fn set_absent(&mut self, absent: Duration) {
        self.times.absent = absent;
    }

    /// Notes that a member sent from an address that its name does not have: the name may have
    /// moved, or there are two processes.
    pub(crate) fn doubt(&mut self, sender: NodeId, now: Instant) {
        if let Places::Listed { resolver: Some(resolver), list } = &mut self.places {
            resolver.look_again();
            if let Some(listed) = list.get_mut(&sender) {
                listed.absent = Some(now + self.times.absent);
            }
        }
    }

    /// Takes the results of the last lookups.
    pub(crate) fn refresh(&mut self, now: Instant) {
        match &mut self.places {
            Places::Listed { list, resolver: Some(resolver) } => {
                let (found, absent) = (resolver.found(), now + self.times.absent);
                for listed in list.values_mut() {
                    if let Some(addresses) = found.get(&listed.place) {
                        listed.find(addresses, absent);
                    }
                }
            }
            Places::Dns { found, resolver, .. } => {
                // A name that is not found now keeps its address.
                let now: BTreeSet<_> = resolver.found().values().flatten().copied().collect();
                if !now.is_empty() {
                    *found = now;
                }
            }
            _ => {}
        }
    }

    /// Why the names do not identify the members, if so: a place has several addresses, or an open
    /// group's name is not found. A member that finds no others must not assume that it is alone.
    pub(crate) fn unclear(&self) -> Option<String> {
        match &self.places {
            Places::Dns { name, found, .. } if found.is_empty() => {
                Some(format!("the name {name} is not found, so the other members are unknown"))
            }
            Places::Listed { list, .. } => {
                list.values().find_map(|listed| ambiguous(&listed.place, &listed.addresses))
            }
            _ => None,
        }
    }

    /// The address of a member.
    pub(crate) fn address(&self, id: NodeId) -> Option<SocketAddr> {
        match &self.places {
            // The address that it was heard from names the link, where that matters.
            Places::Listed { list, .. } => {
                let at = list.get(&id)?.address()?;
                let heard = self.heard.get(&id).map(|heard| heard.from);
                heard.filter(|from| same(*from, at)).or(Some(at))
            }
            _ => self.heard.get(&id).map(|heard| heard.from),
        }
    }

    /// The listed address of this member, if it has one.
    pub(crate) fn own_place(&self) -> Option<SocketAddr> {
        match &self.places {
            Places::Listed { list, .. } => list.get(&self.me)?.address(),
            _ => None,
        }
    }

    /// Calls `tell` with the other members of a list that have an address.
    pub(crate) fn listed(&self, tell: &mut dyn FnMut(NodeId, SocketAddr)) {
        let Places::Listed { list, .. } = &self.places else { return };
        for id in list.keys().copied().filter(|id| *id != self.me) {
            if let Some(address) = self.address(id) {
                tell(id, address);
            }
        }
    }

    /// Calls `send` with the addresses for messages to everyone.
    pub(crate) fn everyone(&self, send: &mut dyn FnMut(SocketAddr)) {
        match &self.places {
            Places::Listed { .. } => self.listed(&mut |_, address| send(address)),
            Places::Dns { found, .. } => found.iter().copied().for_each(send),
            Places::Multicast { group } => send(*group),
        }
    }

    /// When a member was last heard.
    pub(crate) fn heard(&self, id: NodeId) -> Option<Instant> {
        self.heard.get(&id).map(|heard| heard.at)
    }

    /// The place of a member as the settings give it, if they do.
    pub(crate) fn place(&self, id: NodeId) -> Option<String> {
        match &self.places {
            Places::Listed { list, .. } => list.get(&id).map(|listed| listed.place.clone()),
            _ => self.address(id).map(|address| address.to_string()),
        }
    }

    /// Listed members whose name is not found.
    pub(crate) fn unresolved(&self) -> Vec<String> {
        let Places::Listed { list, .. } = &self.places else { return Vec::new() };
        let lost = list.values().filter(|listed| listed.addresses.is_empty());
        lost.map(|listed| listed.place.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: Duration = Duration::from_millis(100);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn directory(peers: &str) -> Directory {
        let times = Times { forget: LOCK, absent: LOCK * 2 };
        Directory::new(NodeId(1), &peers.parse().unwrap(), None, times, 8, || {}).unwrap()
    }

    /// Sets the result of a lookup of this member's name.
    fn find(directory: &mut Directory, id: u64, addresses: &[&str], now: Instant) {
        let Places::Listed { list, .. } = &mut directory.places else { panic!("a list") };
        let addresses: Vec<SocketAddr> = addresses.iter().map(|at| at.parse().unwrap()).collect();
        list.get_mut(&NodeId(id)).unwrap().find(&addresses, now + directory.times.absent);
    }

    #[test]
    fn a_place_with_two_addresses_is_nowhere_and_says_so() {
        let mut directory = directory("1=10.0.0.1:7,2=10.0.0.2:7");
        assert_eq!(directory.unclear(), None);
        for id in [1, 2] {
            find(&mut directory, id, &["10.0.0.8:7", "[fd00::8]:7"], at(0));
            let text = directory.unclear().unwrap();
            assert!(text.contains("10.0.0.8:7 and [fd00::8]:7"), "{text}");
            find(&mut directory, id, &["10.0.0.8:7"], at(0));
        }
        find(&mut directory, 2, &["10.0.0.8:7", "10.0.0.9:7"], at(0));
        for from in ["10.0.0.8:7", "10.0.0.9:7"] {
            let admitted = directory.admits(NodeId(2), from.parse().unwrap(), at(900));
            assert_eq!(admitted, Err(DropReason::Address));
        }
        assert_eq!(directory.address(NodeId(2)), None);
    }

    #[test]
    fn members_that_joined_are_admitted_at_their_address_and_not_when_they_are_forgotten() {
        let mut directory = directory("1=10.0.0.1:7,2=10.0.0.2:7");
        let [here, there] = ["10.0.0.4:7", "10.0.0.5:7"].map(|at| at.parse().unwrap());
        assert_eq!(directory.admits(NodeId(4), here, at(0)), Err(DropReason::Stranger));
        assert!(directory.set_joined(&[(NodeId(4), here)].into(), at(0)));
        assert!(!directory.set_joined(&[(NodeId(4), here)].into(), at(0)));
        assert_eq!(directory.members(), [2, 4].map(NodeId));
        assert_eq!(directory.at(here), Some(NodeId(4)));
        assert!(directory.has_joined(NodeId(4)) && !directory.has_joined(NodeId(2)));
        assert_eq!(directory.admits(NodeId(4), here, at(0)), Ok(()));
        assert_eq!(directory.admits(NodeId(4), there, at(0)), Err(DropReason::Address));
        // A founder is where the list says, whatever a book says.
        directory.set_joined(&[(NodeId(2), here), (NodeId(4), there)].into(), at(0));
        assert_eq!(directory.admits(NodeId(2), here, at(900)), Err(DropReason::Address));
        assert_eq!(directory.admits(NodeId(4), there, at(199)), Err(DropReason::Moved));
        assert_eq!(directory.admits(NodeId(4), there, at(200)), Ok(()));
        assert!(directory.set_joined(&BTreeMap::new(), at(0)));
        assert_eq!(directory.members(), [NodeId(2)]);
        assert_eq!(directory.admits(NodeId(4), there, at(900)), Err(DropReason::Stranger));
    }

    #[test]
    fn a_member_that_moves_is_absent_for_as_long_as_votes_bind_now() {
        let mut directory = directory("1=10.0.0.1:7,2=10.0.0.2:7");
        let new = "10.0.0.8:7".parse().unwrap();
        directory.set_absent(LOCK * 20);
        find(&mut directory, 2, &["10.0.0.8:7"], at(1000));
        assert_eq!(directory.admits(NodeId(2), new, at(2999)), Err(DropReason::Moved));
        assert_eq!(directory.admits(NodeId(2), new, at(3000)), Ok(()));
    }

    #[test]
    fn a_member_that_moved_is_absent_until_its_votes_are_over() {
        let mut directory = directory("1=10.0.0.1:7,2=10.0.0.2:7");
        let (old, new) = ("10.0.0.2:7".parse().unwrap(), "10.0.0.8:7".parse().unwrap());
        assert_eq!(directory.admits(NodeId(2), old, at(0)), Ok(()));
        find(&mut directory, 2, &["10.0.0.8:7"], at(1000));
        assert_eq!(directory.admits(NodeId(2), old, at(1000)), Err(DropReason::Address));
        assert_eq!(directory.admits(NodeId(2), new, at(1199)), Err(DropReason::Moved));
        find(&mut directory, 2, &["10.0.0.8:7"], at(1199));
        assert_eq!(directory.admits(NodeId(2), new, at(1200)), Ok(()), "once, not for ever");
    }

    #[test]
    fn an_id_that_is_heard_from_two_addresses_is_heard_from_neither() {
        let mut directory = directory("1=10.0.0.1:7,2=nowhere.invalid:7");
        find(&mut directory, 2, &["10.0.0.2:7"], at(0));
        let (here, there) = ("10.0.0.2:7".parse().unwrap(), "10.0.0.8:7".parse().unwrap());
        assert_eq!(directory.admits(NodeId(2), here, at(0)), Ok(()));
        assert_eq!(directory.admits(NodeId(2), there, at(0)), Err(DropReason::Elsewhere));
        directory.doubt(NodeId(2), at(0));
        assert_eq!(directory.admits(NodeId(2), here, at(199)), Err(DropReason::Moved));
        assert_eq!(directory.admits(NodeId(2), here, at(200)), Ok(()));
        // With a listed address the other one is not heard, and there is nothing to doubt.
        assert_eq!(directory.admits(NodeId(1), there, at(0)), Err(DropReason::Address));
        directory.doubt(NodeId(1), at(0));
    }
}
