//! Who is where, as one member knows it.
//!
//! **Assumptions.** An address is that of one machine at a time, and a name is moved to another
//! address only after the process at the former one has ended. Nobody can check that across a cut:
//! a process that was started elsewhere under the same id, address and all, is to those who reach
//! only it what a restarted one would be.
//!
//! **Promise.** A listed member is its address: a frame that claims to be from it and comes from
//! elsewhere is refused, so an id that is used twice has one voice. In an open group members are
//! known by having been heard, and forgotten when they are silent.
//!
//! # One place, one address
//!
//! Majorities have a member in common, and it supports one leader at a time: so there must be one
//! process for each place of the list. If a name had two addresses, two processes could each be
//! taken for the member, by those who reach them, and be the members in common of two majorities.
//! To choose one of the addresses would not help: others choose another one, since the answers to
//! a name differ in order and in family from machine to machine. So a place that has several
//! addresses is refused: at the start as a mistake in the settings, later by taking no part until
//! that is over. It does not matter that they may belong to one host: nobody here can know that.
//!
//! A name may move. Locks are to a life, so nobody supports the former process and the new one
//! within a lockTime. But a vote of the former process may still bind while the new one, which
//! knows nothing of it, gives another. So after a move the member counts as absent for two
//! lockTimes.
//!
//! A name may lead members to different addresses, each to one. Then a process at each of them is
//! heard by some, and refused by others, who hear that it is there: who hears an id from where its
//! name does not lead counts the member as absent, at whatever address, for two lockTimes more. So
//! nobody who hears both has a part in what one of them does. (In a list of addresses all members
//! have the same, and nobody hears a process that is elsewhere.)

use crate::frame::Refusal;
use crate::peers::Peers;
use crate::resolver::{Resolver, lookup};
use bellwether_core::{Duration, Instant, Members, NodeId, Peers as View};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

/// The members this one knows of, and how to reach them.
#[derive(Debug)]
pub(crate) struct Directory {
    me: NodeId,
    places: Places,
    heard: BTreeMap<NodeId, Heard>,
    view: Members,
    times: Times,
    /// More than these are not heard in an open group.
    most: usize,
}

/// How long things are waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// In an open group, who is silent for longer is forgotten.
    pub(crate) forget: Duration,
    /// In a listed one, who moved is absent for so long.
    pub(crate) absent: Duration,
}

#[derive(Debug)]
enum Places {
    Listed { list: BTreeMap<NodeId, Listed>, resolver: Option<Resolver> },
    Dns { name: String, found: BTreeSet<SocketAddr>, resolver: Resolver },
    Multicast { group: SocketAddr },
}

/// The place of a member, this one's own included.
#[derive(Debug)]
struct Listed {
    place: String,
    /// What the place was last found to be. There must be no more than one.
    addresses: Vec<SocketAddr>,
    /// Until when it counts as absent, because it moved.
    absent: Option<Instant>,
}

impl Listed {
    fn new(place: &str) -> Self {
        let addresses = place.parse().map_or_else(|_| lookup(place), |address| vec![address]);
        Self { place: place.to_owned(), addresses, absent: None }
    }

    /// The one address, if there is one.
    fn address(&self) -> Option<SocketAddr> {
        match self.addresses.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }

    /// What a link or a flow adds to an IPv6 address is no part of a member's name.
    fn admits(&self, from: SocketAddr, now: Instant) -> Result<(), Refusal> {
        match self.address() {
            Some(at) if same(at, from) => match self.absent {
                Some(until) if now < until => Err(Refusal::Moved),
                _ => Ok(()),
            },
            _ if self.is_name() => Err(Refusal::Elsewhere),
            _ => Err(Refusal::Address),
        }
    }

    fn is_name(&self) -> bool {
        self.place.parse::<SocketAddr>().is_err()
    }

    /// The name was looked up.
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

/// What is wrong with a place that has these addresses, if there is something.
pub(crate) fn ambiguous(place: &str, addresses: &[SocketAddr]) -> Option<String> {
    if addresses.len() < 2 {
        return None;
    }
    let shown: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    Some(format!(
        "{place} has {} addresses, {}, but a member has one: a process at each of them could be \
         taken for it, and two of them lead; list the address, or a name that has one",
        addresses.len(),
        shown.join(" and ")
    ))
}

#[derive(Clone, Copy, Debug)]
struct Heard {
    from: SocketAddr,
    at: Instant,
}

impl Directory {
    /// The members that a text told of. `woken` is called when a name was found to be elsewhere.
    pub(crate) fn new(
        me: NodeId,
        peers: &Peers,
        times: Times,
        most: usize,
        woken: impl Fn() + Send + 'static,
    ) -> std::io::Result<Self> {
        let mut view = Members::default();
        let places = match peers {
            Peers::Listed(list) => {
                view = list.keys().copied().filter(|id| *id != me).collect();
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

    /// The others, for the protocol.
    pub(crate) fn view(&self) -> &dyn View {
        &self.view
    }

    /// The others by name.
    pub(crate) fn members(&self) -> Vec<NodeId> {
        self.view().iter().collect()
    }

    /// Whether a frame of this sender may come from there.
    pub(crate) fn admits(
        &self,
        sender: NodeId,
        from: SocketAddr,
        now: Instant,
    ) -> Result<(), Refusal> {
        match &self.places {
            Places::Listed { list, .. } => match list.get(&sender) {
                None => Err(Refusal::Stranger),
                Some(listed) => listed.admits(from, now),
            },
            _ if self.heard.len() >= self.most && !self.heard.contains_key(&sender) => {
                Err(Refusal::Stranger)
            }
            _ => Ok(()),
        }
    }

    /// A frame of this sender was accepted. Whether the group looks different now.
    pub(crate) fn hear(&mut self, sender: NodeId, from: SocketAddr, at: Instant) -> bool {
        let new = self.heard.insert(sender, Heard { from, at }).is_none();
        let open = !matches!(self.places, Places::Listed { .. });
        if open && new {
            self.view = self.heard.keys().copied().filter(|id| *id != self.me).collect();
        }
        open && new
    }

    /// Forgets the silent of an open group. Whether the group looks different now.
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

    /// A member spoke from where its name does not lead: the name may have moved, or there are two.
    pub(crate) fn doubt(&mut self, sender: NodeId, now: Instant) {
        if let Places::Listed { resolver: Some(resolver), list } = &mut self.places {
            resolver.look_again();
            if let Some(listed) = list.get_mut(&sender) {
                listed.absent = Some(now + self.times.absent);
            }
        }
    }

    /// Takes up what was found under names.
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
                // A name that cannot be found just now is still where it was.
                let now: BTreeSet<_> = resolver.found().values().flatten().copied().collect();
                if !now.is_empty() {
                    *found = now;
                }
            }
            _ => {}
        }
    }

    /// Why nobody can know by these names who the others are, if that is so: nothing is found
    /// under one, and whoever finds nobody must not think to be alone; or too much.
    pub(crate) fn unclear(&self) -> Option<String> {
        match &self.places {
            Places::Dns { name, found, .. } if found.is_empty() => Some(format!(
                "nothing is found under the name {name}: who the others are is unknown"
            )),
            Places::Listed { list, .. } => {
                list.values().find_map(|listed| ambiguous(&listed.place, &listed.addresses))
            }
            _ => None,
        }
    }

    /// Where to reach a member.
    pub(crate) fn address(&self, id: NodeId) -> Option<SocketAddr> {
        match &self.places {
            // As it was heard: that says which link it is on, where that matters.
            Places::Listed { list, .. } => {
                let at = list.get(&id)?.address()?;
                let heard = self.heard.get(&id).map(|heard| heard.from);
                heard.filter(|from| same(*from, at)).or(Some(at))
            }
            _ => self.heard.get(&id).map(|heard| heard.from),
        }
    }

    /// Where this member is listed, if it is.
    pub(crate) fn own_place(&self) -> Option<SocketAddr> {
        match &self.places {
            Places::Listed { list, .. } => list.get(&self.me)?.address(),
            _ => None,
        }
    }

    /// Where to send what is for everyone.
    pub(crate) fn everyone(&self, send: &mut dyn FnMut(SocketAddr)) {
        match &self.places {
            Places::Listed { list, .. } => {
                let others = list.keys().filter(|id| **id != self.me);
                others.filter_map(|id| self.address(*id)).for_each(send);
            }
            Places::Dns { found, .. } => found.iter().copied().for_each(send),
            Places::Multicast { group } => send(*group),
        }
    }

    /// When a member was last heard.
    pub(crate) fn heard(&self, id: NodeId) -> Option<Instant> {
        self.heard.get(&id).map(|heard| heard.at)
    }

    /// The place of a member as it was written, if it was.
    pub(crate) fn place(&self, id: NodeId) -> Option<String> {
        match &self.places {
            Places::Listed { list, .. } => list.get(&id).map(|listed| listed.place.clone()),
            _ => self.address(id).map(|address| address.to_string()),
        }
    }

    /// Listed members whose place could not be found.
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
        Directory::new(NodeId(1), &peers.parse().unwrap(), times, 8, || {}).unwrap()
    }

    /// As if the name of this member had been looked up.
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
            assert_eq!(admitted, Err(Refusal::Address));
        }
        assert_eq!(directory.address(NodeId(2)), None);
    }

    #[test]
    fn a_member_that_moved_is_absent_until_its_votes_are_over() {
        let mut directory = directory("1=10.0.0.1:7,2=10.0.0.2:7");
        let (old, new) = ("10.0.0.2:7".parse().unwrap(), "10.0.0.8:7".parse().unwrap());
        assert_eq!(directory.admits(NodeId(2), old, at(0)), Ok(()));
        find(&mut directory, 2, &["10.0.0.8:7"], at(1000));
        assert_eq!(directory.admits(NodeId(2), old, at(1000)), Err(Refusal::Address));
        assert_eq!(directory.admits(NodeId(2), new, at(1199)), Err(Refusal::Moved));
        find(&mut directory, 2, &["10.0.0.8:7"], at(1199));
        assert_eq!(directory.admits(NodeId(2), new, at(1200)), Ok(()), "once, not for ever");
    }

    #[test]
    fn an_id_that_is_heard_from_two_addresses_is_heard_from_neither() {
        let mut directory = directory("1=10.0.0.1:7,2=nowhere.invalid:7");
        find(&mut directory, 2, &["10.0.0.2:7"], at(0));
        let (here, there) = ("10.0.0.2:7".parse().unwrap(), "10.0.0.8:7".parse().unwrap());
        assert_eq!(directory.admits(NodeId(2), here, at(0)), Ok(()));
        assert_eq!(directory.admits(NodeId(2), there, at(0)), Err(Refusal::Elsewhere));
        directory.doubt(NodeId(2), at(0));
        assert_eq!(directory.admits(NodeId(2), here, at(199)), Err(Refusal::Moved));
        assert_eq!(directory.admits(NodeId(2), here, at(200)), Ok(()));
        // Where an address is listed nobody hears the other one, and there is nothing to doubt.
        assert_eq!(directory.admits(NodeId(1), there, at(0)), Err(Refusal::Address));
        directory.doubt(NodeId(1), at(0));
    }
}
