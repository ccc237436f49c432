//! Three members whose leader has an address, a client of it, and somebody who watches.

use crate::lab::clock::{millis, now, sleep};
use crate::lab::group::{Group, PATIENCE, Shape};
use crate::lab::shell::must;
use crate::owners::Owners;
use crate::traffic::Traffic;
use bellwether::core::{Duration, Instant};
use std::net::IpAddr;

/// The address.
pub(crate) const V4: &str = "10.77.0.100";
pub(crate) const V6: &str = "fd00:77::100";

/// How long a neighbour may take to answer a probe: what taking an address adds to a failover, at
/// most.
const PROBE: Duration = Duration::from_millis(20);
/// How much longer clients wait than the group has no leader, if the leader hands over. Whoever
/// asked for the address first would take longer.
const HANDED_OVER: Duration = Duration::from_millis(8);
/// The client's own wake-ups are stalls, too.
const CLIENT: Duration = Duration::from_millis(5);

pub(crate) struct Scene {
    // What is declared first is dropped first: threads, then the networks that they are in.
    pub(crate) traffic: Traffic,
    pub(crate) owners: Owners,
    pub(crate) group: Group,
    /// A host that is no member.
    pub(crate) client: u64,
    /// How many hand-overs took so short a time that nobody was asked before the address was set.
    pub(crate) unasked: u32,
}

/// A group of three that has not been started, and a host that is no member.
pub(crate) fn group() -> (Group, u64) {
    group_of(3)
}

/// The same with so many members.
fn group_of(members: u64) -> (Group, u64) {
    let mut group = Group::new(Shape::lan(members));
    let client = group.add_guest();
    group.network().get_ready();
    (group, client)
}

impl Scene {
    /// A group that has not been started, whose leader will have this address alone.
    pub(crate) fn new(ip: &str, length: u8) -> Self {
        Self::of(3, ip, length)
    }

    /// The same with so many members.
    pub(crate) fn of(members: u64, ip: &str, length: u8) -> Self {
        let (mut group, client) = group_of(members);
        group.give_flags(&["--address", &format!("{ip}/{length}@eth0")]);
        Self::around(group, client, ip)
    }

    /// Watches a group's address.
    pub(crate) fn around(group: Group, client: u64, ip: &str) -> Self {
        let ip: IpAddr = ip.parse().expect("it is an address");
        let owners = Owners::watch(group.network(), &[&group.ids()[..], &[client]].concat(), ip);
        let traffic = Traffic::start(group.network(), client, &group.ids(), ip);
        Self { traffic, owners, group, client, unasked: 0 }
    }

    /// Waits until something is so.
    pub(crate) fn wait(&mut self, what: &str, mut is_so: impl FnMut(&mut Self) -> bool) {
        let end = now() + PATIENCE;
        while !is_so(self) {
            if now() > end {
                let owners = self.owners.now();
                self.group.give_up(&format!("never: {what}; owners: {owners:?}"));
            }
            sleep(Duration::from_millis(2));
        }
    }

    /// Waits until all follow one leader that has the address, and the client reaches it.
    pub(crate) fn settled(&mut self) -> u64 {
        self.settled_among(&self.group.ids())
    }

    /// The same among these.
    pub(crate) fn settled_among(&mut self, ids: &[u64]) -> u64 {
        let mut leader = 0;
        self.wait("the leader is reached", |scene| {
            // On a busy machine it may be another one than a moment ago.
            leader = scene.group.settled(ids);
            let since = now();
            sleep(Duration::from_millis(5));
            scene.owners.now() == [leader] && scene.traffic.answers(since) == Some(leader)
        });
        leader
    }

    /// Waits until this host alone has the address, and the client reaches it.
    pub(crate) fn reached(&mut self, host: u64) {
        let since = now();
        self.wait(&format!("{host} is reached"), |scene| {
            scene.owners.now() == [host] && scene.traffic.answers(since) == Some(host)
        });
    }

    /// Strikes the leader and waits until the client reaches the next one; says who it is. Prints
    /// what the client saw, and holds it against the bound: of a leader whose lease runs out, as it
    /// does after kill -9 where readers of the standard output were told its end.
    pub(crate) fn strike(
        &mut self,
        what: &str,
        leader: u64,
        strike: impl FnOnce(&mut Group, u64) -> Instant,
    ) -> u64 {
        let bound = self.group.failover(0) + PROBE;
        self.strike_within(|_| bound, what, leader, strike).0
    }

    /// The same with the bound of a leader that hands over. Counts those that nobody delayed by
    /// asking.
    pub(crate) fn hand_over(
        &mut self,
        what: &str,
        leader: u64,
        strike: impl FnOnce(&mut Group, u64) -> Instant,
    ) -> u64 {
        // Whoever is elected late asks all the same: it is not believed for longer.
        let asks = |took| if took < PROBE * 2 { Duration::ZERO } else { PROBE };
        let bound = |took: Duration| took + asks(took) + HANDED_OVER;
        let (next, took, gap) = self.strike_within(bound, what, leader, strike);
        self.unasked += u32::from(gap <= took + HANDED_OVER + CLIENT);
        next
    }

    /// The bound may depend on how long it took until another one leads. Returns that, too, and how
    /// long the client waited.
    fn strike_within(
        &mut self,
        bound: impl Fn(Duration) -> Duration,
        what: &str,
        leader: u64,
        strike: impl FnOnce(&mut Group, u64) -> Instant,
    ) -> (u64, Duration, Duration) {
        let begun = strike(&mut self.group, leader);
        let (_, took) = self.group.replaced(leader, begun);
        let mut next = leader;
        self.wait("another host is reached", |scene| {
            let owners = scene.owners.now();
            let since = now();
            sleep(Duration::from_millis(5));
            next = scene.traffic.answers(since).unwrap_or(leader);
            next != leader && owners == [next]
        });
        let (lost, gap) = self.traffic.outage(begun);
        println!("{what}: {lost} packets lost, {:.1} ms without an answer", millis(gap));
        self.group.assert_within(what, gap, bound(took) + CLIENT, begun);
        // Its lease began before that.
        let lease = self.group.params().lock();
        let lost = self.owners.lost(leader).map_or(Duration::MAX, |lost| lost.since(begun));
        self.group.assert_within(&format!("{what}: {leader} has it"), lost, lease, begun);
        let hosts = self.traffic.hosts(begun);
        // On a busy machine there may be another leader between the two.
        let back = hosts.iter().skip(1).any(|host| *host == leader);
        assert!(!back && hosts.last() == Some(&next), "{what}: {hosts:?} answered in turn");
        self.assert_one_owner(what);
        (next, took, gap)
    }

    pub(crate) fn assert_one_owner(&self, what: &str) {
        let overlap = self.owners.overlap();
        assert_eq!(overlap, Duration::ZERO, "{what}: two hosts had the address");
    }

    /// What `ip` does in the namespace of a host.
    pub(crate) fn ip(&self, host: u64, words: &str) -> String {
        let namespace = self.group.network().namespace(host);
        let words: Vec<&str> =
            ["ip", "-n", &namespace].into_iter().chain(words.split(' ')).collect();
        must(&words, "")
    }
}
