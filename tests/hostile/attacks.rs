//! The table of attacks on a group that runs. Each datagram is counted once, for the reason that is
//! expected, and changes nothing else.

use crate::attacker::Packet;
use crate::lab::clock::{now, sleep};
use crate::lab::group::NAME;
use crate::scene::{ABSENT, Scene};
use crate::stage;
use bellwether::core::{Duration, Few, Instant, Message as _};
use bellwether::net::Keyring;
use bellwether::net::frame::{FRAME_MAX, Kind, Sealer, WIDTH, latest_life};
use bellwether::protocols::local_leader::fail_aware::Frame;
use bellwether::protocols::local_leader::message::{Message, Request};
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;
use std::net::{SocketAddrV4, UdpSocket};

/// The datagrams of one attack.
const COUNT: usize = 200;

/// One attack on the follower.
struct Attack {
    name: &'static str,
    /// The reasons for which its datagrams may be dropped; most attacks have one.
    reasons: &'static [&'static str],
    make: fn(&Scene) -> Vec<Packet>,
}

/// A frame that the leader sent to the follower, and all others like it.
fn real(scene: &Scene) -> Packet {
    scene.frame(scene.leader, scene.follower)
}

fn many(packet: Packet) -> Vec<Packet> {
    vec![packet; COUNT]
}

/// A datagram of anybody.
fn plain(scene: &Scene, bytes: Vec<u8>) -> Packet {
    let from = SocketAddrV4::new([127, 66, 6, 6].into(), 6666);
    Packet { from, to: scene.places[&scene.follower], bytes }
}

/// The frame of a member of another group or with another key, from the leader's address.
fn foreign(scene: &Scene, group: &str, keyring: &Keyring) -> Packet {
    let frame = real(scene);
    let (sender, life, digest) = (frame.sender(), frame.incarnation(), frame.digest());
    let mut sealer = Sealer::new(group, sender, life, frame.session(), digest, keyring);
    let mut bytes = Vec::new();
    for _ in 0..2000 {
        sealer.seal(Kind::Message, None, b"anything", &mut bytes).expect("it fits");
    }
    Packet { bytes, ..frame }
}

fn wall() -> u64 {
    let read = clock_gettime(ClockId::Realtime);
    let part = |part: i64| u64::try_from(part).expect("it is after 1970");
    part(read.tv_sec) * 1_000_000_000 + part(read.tv_nsec)
}

/// Authentic messages of the absent member, whose life begins now.
fn of_absent(scene: &Scene, bodies: &[Vec<u8>]) -> Vec<Packet> {
    scene.sealed(ABSENT, wall(), scene.digest(), Kind::Message, bodies)
}

/// A request for a term that nobody can have reached, in a frame of this life.
fn greedy(term: u64, life: u64) -> Vec<u8> {
    let request = Request { life, sent: Instant::from_nanos(1) };
    let body = Message::Reply {
        request,
        support: false,
        remaining: Duration::ZERO,
        highest: term,
        list: None,
    };
    let frame = Frame { life, sent: Instant::from_nanos(1), echoes: Few::new(), body: Some(body) };
    let mut bytes = Vec::new();
    frame.encode(&mut bytes);
    bytes
}

/// Without a key.
const OUTSIDE: &[Attack] = &[
    Attack {
        name: "plain text to a group with a key",
        reasons: &["magic"],
        make: |scene| many(plain(scene, b"GET / HTTP/1.1\r\n".repeat(8))),
    },
    Attack {
        name: "a few bytes",
        reasons: &["short"],
        make: |s| many(plain(s, b"hello".to_vec())),
    },
    Attack { name: "nothing", reasons: &["short"], make: |scene| many(plain(scene, Vec::new())) },
    Attack {
        name: "more than a frame holds",
        reasons: &["long"],
        make: |scene| {
            many(plain(scene, real(scene).bytes.into_iter().cycle().take(FRAME_MAX + 1).collect()))
        },
    },
    Attack {
        name: "a frame of a group without a key",
        reasons: &["key"],
        make: |scene| many(foreign(scene, NAME, &Keyring::insecure())),
    },
    Attack {
        name: "another version",
        reasons: &["version"],
        make: |scene| many(real(scene).with(2, &[99])),
    },
    Attack {
        name: "another group with the same key",
        reasons: &["group"],
        make: |scene| many(foreign(scene, "others", &scene.keyring())),
    },
    Attack {
        name: "another key",
        reasons: &["key"],
        make: |s| many(foreign(s, NAME, &Keyring::generate().expect("there is randomness"))),
    },
    Attack {
        name: "another key under the name of ours",
        reasons: &["forged"],
        make: |scene| {
            let forged = foreign(scene, NAME, &Keyring::generate().expect("there is randomness"));
            let name = real(scene).bytes[4..8].to_vec();
            many(forged.with(4, &name))
        },
    },
    Attack {
        name: "another key id",
        reasons: &["key"],
        make: |scene| many(real(scene).with(4, &[1, 2, 3, 4])),
    },
    Attack {
        name: "another sender",
        reasons: &["stranger", "forged"],
        make: |scene| {
            many(real(scene).with(16, &99_u64.to_le_bytes()).with(24, &99_u64.to_le_bytes()))
        },
    },
    Attack {
        name: "another receiver",
        reasons: &["receiver"],
        make: |scene| many(real(scene).with(24, &77_u64.to_le_bytes())),
    },
    Attack {
        name: "the counter jumps to its end",
        reasons: &["forged"],
        make: |scene| many(real(scene).with(48, &u64::MAX.to_le_bytes())),
    },
    Attack {
        name: "the next incarnation of the leader",
        reasons: &["forged"],
        make: |scene| {
            let frame = real(scene);
            let next = frame.incarnation() + 1;
            many(frame.with(32, &next.to_le_bytes()))
        },
    },
    Attack {
        name: "the last incarnation there is",
        reasons: &["future-life", "forged"],
        make: |scene| many(real(scene).with(32, &u64::MAX.to_le_bytes())),
    },
    Attack {
        name: "another list",
        reasons: &["forged"],
        make: |scene| {
            many(real(scene).with(48, &9_999_999_u64.to_le_bytes()).with(56, &[1, 2, 3, 4]))
        },
    },
    Attack { name: "a replay at once", reasons: &["replayed"], make: |scene| many(real(scene)) },
    Attack {
        name: "a replay from elsewhere",
        reasons: &["replayed"],
        make: |scene| {
            let from = SocketAddrV4::new([127, 66, 6, 7].into(), 6667);
            many(Packet { from, ..real(scene) })
        },
    },
    Attack {
        name: "a reflection, of a frame for one or for all",
        reasons: &["receiver", "own"],
        make: |scene| {
            let (leader, follower) = (scene.places[&scene.leader], scene.places[&scene.follower]);
            let own = scene.frame(scene.follower, scene.leader);
            many(Packet { from: leader, to: follower, ..own })
        },
    },
];

/// With the key, and bad intentions.
const INSIDE: &[Attack] = &[
    Attack {
        name: "a member that is not in the list",
        reasons: &["stranger"],
        make: |s| s.sealed(99, wall(), s.digest(), Kind::Message, &vec![vec![1]; COUNT]),
    },
    Attack {
        name: "a member in another place",
        reasons: &["address"],
        make: |scene| {
            let from = SocketAddrV4::new([127, 66, 6, 8].into(), 6668);
            let sealed = of_absent(scene, &vec![vec![1]; COUNT]);
            sealed.into_iter().map(|packet| Packet { from, ..packet }).collect()
        },
    },
    Attack {
        name: "an incarnation beyond the limit",
        reasons: &["future-life"],
        make: |scene| {
            let life = latest_life(wall()) + 3_600_000_000_000;
            scene.sealed(ABSENT, life, scene.digest(), Kind::Message, &vec![vec![1]; COUNT])
        },
    },
    Attack {
        name: "a message that nobody can read",
        reasons: &["malformed"],
        make: |scene| of_absent(scene, &vec![vec![0xee; 30]; COUNT]),
    },
    Attack {
        name: "the last term there is",
        reasons: &["future-term"],
        make: |scene| of_absent(scene, &vec![greedy(u64::MAX, wall()); COUNT]),
    },
    Attack {
        name: "a term beyond the limit",
        reasons: &["future-term"],
        make: |scene| {
            let term = latest_life(wall()) + 3_600_000_000_000;
            of_absent(scene, &vec![greedy(term, wall()); COUNT])
        },
    },
];

/// Makes an attack, and compares its outcome with the one that is allowed.
fn try_attack(scene: &mut Scene, attack: &Attack, has_key: bool) {
    let packets = (attack.make)(scene);
    let (leader, follower) = (scene.leader, scene.follower);
    let sources: Vec<UdpSocket> =
        packets.first().iter().filter_map(|p| UdpSocket::bind(p.from).ok()).collect();
    let (begun, before) = (now(), (scene.see(leader), scene.see(follower)));
    let (sent, refused) = scene.counts(follower);
    packets.iter().for_each(|packet| scene.mouth.say(packet));
    let risen = scene.risen(follower, &refused, packets.len() as u64);
    let total: u64 = risen.values().sum();
    assert_eq!(total, packets.len() as u64, "{}: each is counted once: {risen:?}", attack.name);
    let expected = |reason: &String| attack.reasons.contains(&reason.as_str());
    assert!(risen.keys().all(expected), "{}: {risen:?}", attack.name);
    let after = (scene.see(leader), scene.see(follower));
    assert_eq!(before, after, "{}: leader, state and log are as before", attack.name);
    scene.group.assert_unchanged(attack.name, begun);
    // What the members say to each other goes on meanwhile.
    let answers = scene.counts(follower).0 - sent;
    assert!(answers < packets.len() as u64 / 2, "{}: {answers} were sent", attack.name);
    // Whoever has the key is told why nobody listens to it, a few times a second.
    for source in sources.iter().filter(|_| !has_key) {
        source.set_nonblocking(true).expect("a socket can be set");
        let answer = source.recv_from(&mut [0; 2048]);
        assert!(answer.is_err(), "{}: the attacker is answered: {answer:?}", attack.name);
    }
    println!("{}: {risen:?}", attack.name);
}

#[test]
fn whoever_has_no_key_moves_one_counter_and_nothing_else() {
    let _stage = stage();
    let mut scene = Scene::new();
    for attack in OUTSIDE {
        try_attack(&mut scene, attack, false);
    }
    scene.group.judge();
}

#[test]
fn whoever_has_the_key_uses_up_neither_terms_nor_incarnations() {
    let _stage = stage();
    let mut scene = Scene::new();
    for attack in INSIDE {
        try_attack(&mut scene, attack, true);
    }
    // The group still has terms: another member can lead, with the next one.
    let term = scene.see(scene.leader).term.as_u64().expect("leases have terms");
    let begun = scene.group.stop(scene.leader);
    let _ = scene.group.member(scene.leader).wait();
    scene.group.start(scene.leader);
    let leader = scene.group.settled(&[1, 2]);
    let next = scene.see(leader).term.as_u64().expect("leases have terms");
    assert!(next > term && next < latest_life(wall()), "{next} after {term}");
    assert!(scene.group.log.reigns(begun) > 0);
    scene.group.judge();
}

/// Frames of a member that the window has left behind are replays, too.
#[test]
fn a_frame_that_the_window_has_left_behind_is_a_replay() {
    let _stage = stage();
    let mut scene = Scene::new();
    let far = WIDTH as usize + 200;
    let bodies = vec![Vec::new(); far];
    let beacons = scene.sealed(ABSENT, wall(), scene.digest(), Kind::Beacon, &bodies);
    let before = scene.see(scene.follower);
    let (_, refused) = scene.counts(scene.follower);
    // The first half of the window is new, and then the window moves on.
    for part in beacons[150..].chunks(100) {
        part.iter().for_each(|beacon| scene.mouth.say(beacon));
        sleep(Duration::from_millis(20));
    }
    assert_eq!(scene.risen(scene.follower, &refused, 0), BTreeMap::new(), "all were new");
    beacons[..150].iter().for_each(|beacon| scene.mouth.say(beacon));
    let risen = scene.risen(scene.follower, &refused, 150);
    assert_eq!(risen, BTreeMap::from([("replayed".to_owned(), 150)]), "none was ever heard");
    assert_eq!(scene.see(scene.follower), before);
    scene.group.judge();
}
