//! A group under attack: two of three members run, and the attacker is at the place of the third.

use crate::attacker::{Ear, Mouth, Packet};
use crate::lab::clock::{now, sleep};
use crate::lab::group::{Ground, Group, NAME, PATIENCE, Shape};
use crate::lab::log::Said;
use bellwether::core::{Duration, NodeId};
use bellwether::net::Keyring;
use bellwether::net::frame::{ConfigDigest, Kind, Sealer, Session};
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::SocketAddrV4;

/// What a member shows of itself that no attack may change, and what it counts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sight {
    pub(crate) leaders: Value,
    pub(crate) role: Value,
    pub(crate) term: Value,
    pub(crate) incarnation: Value,
    pub(crate) state: Vec<u8>,
    pub(crate) log: String,
}

/// A group with leases on the loopback.
pub(crate) struct Scene {
    pub(crate) group: Group,
    pub(crate) places: BTreeMap<u64, SocketAddrV4>,
    pub(crate) leader: u64,
    pub(crate) follower: u64,
    pub(crate) ear: Ear,
    pub(crate) mouth: Mouth,
}

/// The member that does not run.
pub(crate) const ABSENT: u64 = 3;

pub(crate) fn shape() -> Shape {
    let ground = Ground::Loopback;
    Shape { ground, ..Shape::lan(3) }
}

/// The status of a member, for programs.
pub(crate) fn status(group: &Group, id: u64) -> Value {
    let text = group.ask("status", id, &["--format", "json"]).expect("it answers");
    serde_json::from_str(&text).expect("it is JSON")
}

/// Where all members are, as a member tells it.
pub(crate) fn places(group: &Group, id: u64) -> BTreeMap<u64, SocketAddrV4> {
    let peers = status(group, id)["peers"].as_str().expect("it has a list").to_owned();
    let place = |row: &str| {
        let (id, place) = row.split_once('=').expect("a row has an id");
        (id.parse().expect("an id is a number"), place.parse().expect("a place is an address"))
    };
    peers.split(',').map(place).collect()
}

impl Scene {
    /// Two of the members run.
    pub(crate) fn new() -> Self {
        Self::of(&[1, 2])
    }

    /// All of them run.
    pub(crate) fn whole() -> Self {
        Self::of(&[1, 2, ABSENT])
    }

    fn of(running: &[u64]) -> Self {
        let mut group = Group::new(shape());
        running.iter().for_each(|id| group.start(*id));
        let leader = group.settled(running);
        let places = places(&group, leader);
        let (ear, mouth) = (Ear::new(), Mouth::new());
        let follower = if leader == 1 { 2 } else { 1 };
        Self { group, places, leader, follower, ear, mouth }
    }

    /// Kills the follower and does something; starts it again, and waits until it follows again.
    pub(crate) fn restart_follower(&mut self, meanwhile: impl FnOnce()) {
        let (follower, leader) = (self.follower, self.leader);
        self.group.crash(follower);
        meanwhile();
        let begun = self.group.restart(follower);
        let follows =
            |said: &Said| said.t > begun && said.id == follower && said.leaders == [leader];
        let back = self.group.log.wait(PATIENCE, |said| said.iter().any(follows).then_some(()));
        assert!(back.is_some(), "{follower} follows {leader} again: {}", self.group.log.tail(9));
    }

    pub(crate) fn keyring(&self) -> Keyring {
        Keyring::read(self.group.folder().file("key").as_ref()).expect("the group has a key")
    }

    /// What the members say to each other and to the absent one.
    pub(crate) fn hear(&self, length: Duration) -> Vec<Packet> {
        let all: Vec<SocketAddrV4> = self.places.values().copied().collect();
        let mut heard = self.ear.listen(length, &all);
        heard.retain(|packet| packet.bytes.len() > 96);
        heard
    }

    /// A frame that this member sent to that one, heard just now.
    pub(crate) fn frame(&self, from: u64, to: u64) -> Packet {
        let end = now() + PATIENCE;
        while now() < end {
            let (from, to) = (self.places[&from], self.places[&to]);
            let mut heard = self.hear(Duration::from_millis(300)).into_iter().rev();
            if let Some(found) = heard.find(|packet| packet.from == from && packet.to == to) {
                return found;
            }
        }
        panic!("member {from} sends nothing to {to}");
    }

    /// The config digest of the group.
    pub(crate) fn digest(&self) -> ConfigDigest {
        self.frame(self.leader, self.follower).digest()
    }

    /// Authentic frames of a process with the key, which says that it is this one: to all.
    pub(crate) fn sealed(
        &self,
        id: u64,
        life: u64,
        digest: ConfigDigest,
        kind: Kind,
        bodies: &[Vec<u8>],
    ) -> Vec<Packet> {
        let session = Session::draw().expect("the machine has randomness");
        let mut sealer = Sealer::new(NAME, NodeId(id), life, session, digest, &self.keyring());
        let (from, to) = (self.places[&ABSENT], self.places[&self.follower]);
        let mut seal = |body: &Vec<u8>| {
            let mut bytes = Vec::new();
            sealer.seal(kind, None, body, &mut bytes).expect("it fits");
            Packet { from, to, bytes }
        };
        bodies.iter().map(&mut seal).collect()
    }

    pub(crate) fn see(&self, id: u64) -> Sight {
        let status = status(&self.group, id);
        let folder = self.group.folder();
        let file = folder.file(&format!("state-{id}/{NAME}.{id}.state"));
        let log = folder.file(&format!("errors-{id}"));
        Sight {
            leaders: status["leaders"].clone(),
            role: status["role"].clone(),
            term: status["term"].clone(),
            incarnation: status["incarnation"].clone(),
            state: std::fs::read(file).expect("it has a state file"),
            log: std::fs::read_to_string(log).expect("it has a log"),
        }
    }

    /// How many datagrams a member has sent, and refused by reason.
    pub(crate) fn counts(&self, id: u64) -> (u64, BTreeMap<String, u64>) {
        let traffic = &status(&self.group, id)["traffic"];
        let refused = traffic["refused"].as_object().expect("it counts");
        let count =
            |(reason, count): (&String, &Value)| (reason.clone(), count.as_u64().unwrap_or(0));
        (traffic["sent"].as_u64().expect("it counts"), refused.iter().map(count).collect())
    }

    /// How much each counter has risen, once so many more were refused in all.
    pub(crate) fn risen(
        &self,
        id: u64,
        before: &BTreeMap<String, u64>,
        by: u64,
    ) -> BTreeMap<String, u64> {
        let end = now() + PATIENCE;
        loop {
            let (_, mut after) = self.counts(id);
            for (reason, count) in &mut after {
                *count -= before.get(reason).copied().unwrap_or(0);
            }
            after.retain(|_, count| *count > 0);
            let total: u64 = after.values().sum();
            if total >= by || now() > end {
                return after;
            }
            sleep(Duration::from_millis(5));
        }
    }
}

/// The memory of a process that is in use, in KiB.
pub(crate) fn memory(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it has memory");
    line.trim().trim_end_matches(" kB").parse().expect("it is a number")
}
