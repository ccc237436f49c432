//! The laboratory itself: its cuts cut, its relay is bad weather, its detector detects.

use crate::lab::Folder;
use crate::lab::clock::{now, sleep};
use crate::lab::group::PATIENCE;
use crate::lab::marks::{Place, overlaps, runs};
use crate::lab::network::{Family, Network};
use crate::lab::overlap::{Detector, Entry};
use crate::lab::relay::{Relay, Weather};
use crate::lab::shell::must;
use crate::lab::stalls::{Stalls, stalls};
use crate::stage;
use bellwether::core::{Duration, Instant};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::process::{Child, Command, Stdio};

/// A socket in a member's namespace.
fn socket(network: &Network, id: u64, family: Family) -> UdpSocket {
    let address = SocketAddr::new(Network::address(id, family), Network::PORT);
    let socket = network.inside(id, move || UdpSocket::bind(address));
    let socket = socket.expect("the address is there");
    let wait = std::time::Duration::from_millis(200);
    socket.set_read_timeout(Some(wait)).expect("a socket can wait for so long");
    socket
}

/// Three members with a socket each.
struct Trio {
    sockets: Vec<UdpSocket>,
    addresses: Vec<SocketAddr>,
}

impl Trio {
    fn new(network: &Network, family: Family) -> Self {
        let sockets: Vec<UdpSocket> = (1..=3).map(|id| socket(network, id, family)).collect();
        let address = |socket: &UdpSocket| socket.local_addr().expect("it is bound");
        let addresses = sockets.iter().map(address).collect();
        Self { sockets, addresses }
    }

    /// Which pairs a datagram gets through, as `from·10 + to`.
    fn reach(&self) -> Vec<usize> {
        let mut reached = Vec::new();
        for (from, to) in [(1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (3, 2)] {
            let mark = [from as u8, to as u8];
            // Where the link is down, sending fails: that is a datagram that does not arrive.
            let _ = self.sockets[from - 1].send_to(&mark, self.addresses[to - 1]);
            let mut bytes = [0; 2];
            // Something sent before a cut may still have been on its way.
            while let Ok(2) = self.sockets[to - 1].recv(&mut bytes) {
                if bytes == mark {
                    reached.push(from * 10 + to);
                    break;
                }
            }
        }
        reached
    }
}

const ALL: [usize; 6] = [12, 13, 21, 23, 31, 32];

#[test]
fn every_cut_cuts_what_it_says_and_heals() {
    let _stage = stage();
    let network = Network::new(3);
    for family in [Family::V4, Family::V6] {
        let trio = Trio::new(&network, family);
        assert_eq!(trio.reach(), ALL, "{family:?}");
        network.cut_silently(1);
        assert_eq!(trio.reach(), [23, 32], "{family:?}: silent cut");
        network.join(1);
        assert_eq!(trio.reach(), ALL, "{family:?}: healed");
        network.link_down(2);
        assert_eq!(trio.reach(), [13, 31], "{family:?}: link down");
        network.link_up(2);
        assert_eq!(trio.reach(), ALL, "{family:?}: link up");
        network.cut_one_way(1, 2);
        assert_eq!(trio.reach(), [13, 21, 23, 31, 32], "{family:?}: one way");
        network.mend(2);
        network.cut_one_way(1, 3);
        network.cut_one_way(3, 1);
        assert_eq!(trio.reach(), [12, 21, 23, 32], "{family:?}: not transitive");
        network.mend(1);
        network.mend(3);
        assert_eq!(trio.reach(), ALL, "{family:?}: mended");
    }
}

#[test]
fn a_silent_cut_leaves_the_carrier_and_a_link_that_is_down_does_not() {
    let _stage = stage();
    let network = Network::new(2);
    let carrier = |id| {
        let words = ["ip", "-n", &network.namespace(id), "link", "show", "dev", "eth0"];
        must(&words, "").contains("LOWER_UP")
    };
    network.cut_silently(1);
    network.link_down(2);
    assert_eq!((carrier(1), carrier(2)), (true, false));
}

#[test]
fn datagrams_are_counted_where_they_are_sent() {
    let _stage = stage();
    let network = Network::new(3);
    let trio = Trio::new(&network, Family::V4);
    assert_eq!(trio.reach(), ALL);
    assert_eq!((1..=3).map(|id| network.datagrams(id)).collect::<Vec<_>>(), [2, 2, 2]);
}

#[test]
fn a_network_leaves_nothing_behind_not_even_in_a_panic() {
    let _stage = stage();
    let names = || must(&["ip", "netns", "list"], "");
    let network = Network::new(2);
    let name = network.namespace(1);
    assert!(names().contains(&name));
    let ended = std::thread::spawn(move || {
        let _network = network;
        panic!("on purpose");
    });
    assert!(ended.join().is_err());
    assert!(!names().contains(&name), "{}", names());
    // What a process left behind that was killed: no process has a number this large.
    must(&["ip", "netns", "add", "bellwether-4999999x0-1"], "");
    drop(Network::new(1));
    assert!(!names().contains("bellwether-4999999"), "{}", names());
}

/// So many that no queue of the kernel's overflows.
const COUNT: u8 = 200;

/// What arrives of [`COUNT`] datagrams through a relay: numbers in order of arrival.
fn through(weather: Weather) -> Vec<u8> {
    let open = || UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    let (sender, receiver) = (open(), open());
    let address = |socket: &UdpSocket| socket.local_addr().expect("it is bound");
    let relay = Relay::start(&[address(&sender), address(&receiver)], weather);
    let wait = std::time::Duration::from_millis(300);
    receiver.set_read_timeout(Some(wait)).expect("a socket can wait for so long");
    for number in 0..COUNT {
        sender.send_to(&[number], relay.listed()[1]).expect("it can be sent");
    }
    let (mut byte, mut arrived) = ([0], Vec::new());
    while let Ok((1, from)) = receiver.recv_from(&mut byte) {
        assert_eq!(from, relay.listed()[0], "it comes from where the sender is listed");
        arrived.extend(byte);
    }
    arrived
}

const FAIR: Weather =
    Weather { seed: 7, delay: Duration::ZERO, jitter: Duration::ZERO, lost: 0, doubled: 0 };

#[test]
fn a_relay_loses_doubles_and_reorders_as_often_as_it_is_told() {
    let _stage = stage();
    let all: Vec<u8> = (0..COUNT).collect();
    assert_eq!(through(FAIR), all, "fair weather");
    let lossy = through(Weather { lost: 300, ..FAIR });
    assert!((110..170).contains(&lossy.len()), "{} of 200 at a loss of .3", lossy.len());
    assert!(lossy.is_sorted_by(|a, b| a < b));
    assert_eq!(lossy, through(Weather { lost: 300, ..FAIR }), "the seed decides");
    assert_ne!(lossy, through(Weather { lost: 300, seed: 8, ..FAIR }), "and nothing else");
    let doubled = through(Weather { doubled: 200, ..FAIR });
    assert!((210..270).contains(&doubled.len()), "{} with .2 doubled", doubled.len());
    let mut wild = through(Weather { jitter: Duration::from_millis(50), ..FAIR });
    assert!(!wild.is_sorted(), "some overtake");
    wild.sort_unstable();
    assert_eq!(wild, all, "and none is lost");
}

#[test]
fn a_relay_delays() {
    let _stage = stage();
    let delay = Duration::from_millis(40);
    let begun = now();
    let (open, wait) = (|| UdpSocket::bind("127.0.0.1:0"), std::time::Duration::from_secs(5));
    let (sender, receiver) = (open().unwrap(), open().unwrap());
    let places = [sender.local_addr().unwrap(), receiver.local_addr().unwrap()];
    let relay = Relay::start(&places, Weather { delay, ..FAIR });
    receiver.set_read_timeout(Some(wait)).unwrap();
    sender.send_to(b"x", relay.listed()[1]).unwrap();
    receiver.recv(&mut [0]).unwrap();
    assert!(now().since(begun) >= delay);
    assert_eq!(relay.listed()[0].ip(), IpAddr::from([127, 0, 0, 1]));
}

/// The detector's command, outside of any group.
fn detect(detector: &Detector, id: u64, stubborn: u32) -> Child {
    let words = detector.command(id, stubborn);
    let known = detector.entries().len();
    let child = Command::new(&words[0]).args(&words[1..]).stdin(Stdio::null()).spawn();
    let child = child.expect("a shell can be started");
    detector.wait_beyond(known, PATIENCE).expect("it writes a line when it begins");
    child
}

fn end(mut child: Child) {
    child.kill().expect("a child that was not waited for can be killed");
    child.wait().expect("a child can be waited for");
}

#[test]
fn the_detector_sees_two_at_once_and_only_those() {
    let _stage = stage();
    let folder = Folder::new();
    let detector = Detector::new(&folder);
    let first = detect(&detector, 1, 0);
    assert!(!detector.free());
    end(first);
    assert!(detector.free(), "a kill leaves no lock behind");
    let second = detect(&detector, 2, 0);
    let third = detect(&detector, 3, 0);
    end(second);
    end(third);
    let overlaps: Vec<Entry> = detector.entries();
    let seen: Vec<(u64, bool)> = overlaps.iter().map(|entry| (entry.id, entry.overlap)).collect();
    assert_eq!(seen, [(1, false), (2, false), (3, true)]);
}

#[test]
fn the_detector_sees_what_a_command_left_behind() {
    let _stage = stage();
    let folder = Folder::new();
    let detector = Detector::new(&folder);
    end(detect(&detector, 1, 8));
    // The command is gone, its stubborn company is not.
    end(detect(&detector, 2, 0));
    let overlaps: Vec<bool> = detector.entries().iter().map(|entry| entry.overlap).collect();
    assert_eq!(overlaps, [false, true]);
    let limit = now() + PATIENCE;
    while !detector.free() {
        assert!(now() < limit, "the company goes by itself after eight seconds");
        sleep(Duration::from_millis(50));
    }
    end(detect(&detector, 3, 0));
    assert_eq!(detector.entries().last(), Some(&Entry { overlap: false, id: 3 }));
}

#[test]
fn marks_show_two_members_at_once_and_only_those() {
    let _stage = stage();
    let folder = Folder::new();
    let files = [1, 2].map(|id| folder.file(&format!("marks-{id}")));
    files.iter().for_each(|file| std::fs::write(file, "").unwrap());
    let take = |id: usize| Place::take(&files[id - 1], Duration::ZERO).unwrap();
    let all = || (1..).zip(&files).flat_map(|(id, file)| runs(id, file)).collect::<Vec<_>>();
    // Two processes of one member at once, then one of the other.
    let (first, second) = (take(1), take(1));
    first.mark().unwrap();
    second.mark().unwrap();
    let third = take(2);
    assert!(overlaps(&all()).is_empty(), "{:?}", all());
    // One that goes on, however late.
    sleep(Duration::from_millis(20));
    second.mark().unwrap();
    third.mark().unwrap();
    let found = overlaps(&all());
    assert_eq!(found.iter().map(|it| (it.one.id, it.other.id)).collect::<Vec<_>>(), [(1, 2)]);
    let length = found[0].to.since(found[0].from);
    assert!(length >= Duration::from_millis(20), "{length}");
    // A clock that is ahead tells the same time.
    let ahead = Duration::from_nanos(now().as_nanos() / 2); // the clock may have begun just now
    let file = folder.file("marks-1");
    assert!(Place::take(&file, ahead).is_ok());
    assert!(now().since(runs(1, &file)[2].first) >= ahead);
}

#[test]
fn a_stall_is_seen_where_the_machine_is_kept_busy() {
    let _stage = stage();
    let stalls = stalls();
    assert_eq!(stalls.longest(now()), Duration::ZERO, "none after now");
    // Many more threads than cores that never sleep: somebody is woken late.
    let busy = now();
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| while now().since(busy) < Duration::from_millis(500) {});
        }
    });
    assert!(stalls.longest(busy) > Duration::ZERO);
    assert!(stalls.longest(busy) <= stalls.total(busy));
    assert_eq!(stalls.total_between(busy, busy), Duration::ZERO);
}

#[test]
fn of_the_stalls_only_what_was_lost_in_between_is_counted() {
    let (at, ms) = (|ms: u64| Instant::from_nanos(ms * 1_000_000), Duration::from_millis);
    let stalls = Stalls::default();
    // Before, into, within on two cores, out of, and after the time from 100 to 200.
    for (ended, length) in [(99, 50), (110, 30), (140, 8), (141, 8), (205, 20), (300, 90)] {
        stalls.note(at(ended), ms(length));
    }
    assert_eq!(stalls.total_between(at(100), at(200)), ms(10 + 8 + 8 + 15));
    assert_eq!(stalls.total_between(at(100), at(100)), Duration::ZERO);
    let long = Stalls::default();
    long.note(at(500), ms(450));
    assert_eq!(long.total_between(at(100), at(200)), ms(100), "no more than the time itself");
}
