//! Who is where, as one member knows it.
//!
//! **Promise.** A listed member is its address: a frame that claims to be from it and comes from
//! elsewhere is refused, so an id that is used twice has one voice. In an open group members are
//! known by having been heard, and forgotten when they are silent.

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
    /// In an open group, who is silent for longer is forgotten.
    forget: Duration,
    /// More than these are not heard there.
    most: usize,
}

#[derive(Debug)]
enum Places {
    Listed { list: BTreeMap<NodeId, Listed>, resolver: Option<Resolver> },
    Dns { name: String, found: BTreeSet<SocketAddr>, resolver: Resolver },
    Multicast { group: SocketAddr },
}

#[derive(Debug)]
struct Listed {
    place: String,
    /// What the place was last found to be; one of them is used to send.
    addresses: Vec<SocketAddr>,
}

impl Listed {
    /// What a link or a flow adds to an IPv6 address is no part of a member's name.
    fn is_at(&self, from: SocketAddr) -> bool {
        let same = |at: &SocketAddr| (at.ip(), at.port()) == (from.ip(), from.port());
        self.addresses.iter().any(same)
    }
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
        forget: Duration,
        most: usize,
        woken: impl Fn() + Send + 'static,
    ) -> std::io::Result<Self> {
        let mut view = Members::default();
        let places = match peers {
            Peers::Listed(list) => {
                view = list.keys().copied().filter(|id| *id != me).collect();
                let others = list.iter().filter(|(id, _)| **id != me);
                let list: BTreeMap<NodeId, Listed> = others
                    .map(|(id, place)| {
                        let addresses = place.parse().map_or_else(|_| lookup(place), |a| vec![a]);
                        (*id, Listed { place: place.clone(), addresses })
                    })
                    .collect();
                let is_name = |listed: &&Listed| listed.place.parse::<SocketAddr>().is_err();
                let names = list.values().filter(is_name).map(|listed| listed.place.clone());
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
        Ok(Self { me, places, heard: BTreeMap::new(), view, forget, most })
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
    pub(crate) fn admits(&self, sender: NodeId, from: SocketAddr) -> Result<(), Refusal> {
        match &self.places {
            Places::Listed { list, .. } => match list.get(&sender) {
                None => Err(Refusal::Stranger),
                Some(listed) if listed.is_at(from) => Ok(()),
                Some(_) => Err(Refusal::Address),
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
        self.heard.retain(|_, heard| now.since(heard.at) <= self.forget);
        if self.heard.len() == before {
            return false;
        }
        self.view = self.heard.keys().copied().collect();
        true
    }

    /// A member spoke from elsewhere: its name may have moved.
    pub(crate) fn look_again(&self) {
        if let Places::Listed { resolver: Some(resolver), .. } = &self.places {
            resolver.look_again();
        }
    }

    /// Takes up what was found under names.
    pub(crate) fn refresh(&mut self) {
        match &mut self.places {
            Places::Listed { list, resolver: Some(resolver) } => {
                let found = resolver.found();
                for listed in list.values_mut() {
                    if let Some(addresses) = found.get(&listed.place) {
                        listed.addresses.clone_from(addresses);
                    }
                }
            }
            Places::Dns { found, resolver, .. } => {
                *found = resolver.found().values().flatten().copied().collect();
            }
            _ => {}
        }
    }

    /// The name under which members are to be found, if nothing is. Whoever does not know who the
    /// others are must not think that there are none.
    pub(crate) fn unfound(&self) -> Option<String> {
        match &self.places {
            Places::Dns { name, found, .. } if found.is_empty() => Some(name.clone()),
            _ => None,
        }
    }

    /// Where to reach a member.
    pub(crate) fn address(&self, id: NodeId) -> Option<SocketAddr> {
        match &self.places {
            // Of several addresses the one that answers.
            Places::Listed { list, .. } => {
                let listed = list.get(&id)?;
                let heard = self.heard.get(&id).map(|heard| heard.from);
                heard.filter(|from| listed.is_at(*from)).or(listed.addresses.first().copied())
            }
            _ => self.heard.get(&id).map(|heard| heard.from),
        }
    }

    /// Where to send what is for everyone.
    pub(crate) fn everyone(&self, send: &mut dyn FnMut(SocketAddr)) {
        match &self.places {
            Places::Listed { list, .. } => {
                list.keys().filter_map(|id| self.address(*id)).for_each(send);
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
