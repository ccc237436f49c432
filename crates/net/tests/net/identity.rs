//! One id, one life: what members make of ids that are used twice, of lists that differ, and of
//! state files that are not what they were.

use crate::support::{Folder, eventually, member, patient_leases, places};
use bellwether_core::{NodeId, to_hex};
use bellwether_net::frame::{ConfigDigest, Keyring, Kind, Sealer, Session};
use bellwether_net::{Election, Role, Status};
use bellwether_protocols::local_leader::{Config, Mode, Params, Tokens};
use sha2::{Digest, Sha256};
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{fs, thread};

fn elsewhere() -> SocketAddr {
    "127.0.0.1:0".parse().expect("an address")
}

/// Waits until the status is as wanted: longer than a stalled machine takes.
fn until(member: &Election, what: &str, wanted: impl Fn(&Status) -> bool) -> Status {
    for _ in 0..1_500 {
        let status = member.status().expect("it runs");
        if wanted(&status) {
            return status;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("not {what}: {:#?}", member.status());
}

fn takes_part(status: &Status) -> bool {
    matches!(status.role, Role::Leader | Role::Follower)
}

fn withdrawn(status: &Status) -> bool {
    status.role == Role::Withdrawn
}

/// A whole state file of this member.
fn write_state(dir: &Path, id: u64, incarnation: u64) {
    let body = format!("{{\"member\":\"test.{id}\",\"incarnation\":{incarnation},\"binds\":0}}\n");
    let text = format!("bellwether-state 1 {}\n{body}", to_hex(&Sha256::digest(&body)));
    fs::write(dir.join(format!("test.{id}.state")), text).expect("a file");
}

fn wall() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

const YEAR: u64 = 31_557_600_000_000_000;

#[test]
fn a_second_process_with_an_id_takes_no_part_and_the_listed_one_leads_on() {
    let all = places(3);
    let good = [member(1, &all).join().unwrap(), member(2, &all).join().unwrap()];
    for one in &good {
        until(one, "part of a group", takes_part);
    }
    let lives: Vec<u64> = good.iter().map(|one| one.status().unwrap().incarnation).collect();
    // It is a later life, so it is not its number that decides.
    let double = member(1, &all).listen(elsewhere()).join().unwrap();
    let status = until(&double, "withdrawn", withdrawn);
    let why = status.why.join("; ");
    assert!(why.contains("another process uses our id"), "{why}");
    thread::sleep(Duration::from_secs(3));
    assert!(withdrawn(&double.status().unwrap()), "and it stays so");
    for (one, life) in good.iter().zip(lives) {
        let status = one.status().unwrap();
        assert_eq!(status.incarnation, life, "nobody else withdrew");
        assert!(takes_part(&status), "{status:?}");
    }
    // Once the listed one is gone nobody contradicts, and nobody else hears it either.
    good[0].leave();
    until(&double, "back", |status| status.role == Role::Looking);
    let refusing = |status: &Status| {
        let why = status.why.join("; ");
        why.contains("member 2 refuses us") && why.contains("from another address")
    };
    let status = until(&double, "told that it is refused", refusing);
    assert!(status.warnings.join("; ").contains("member 2 refuses us"), "{:?}", status.warnings);
}

/// Before there is a leader all wait for a moment, since the odd one could lead too. Those that
/// agree are more, so they take part after that, while the odd one is still there.
#[test]
fn every_member_names_the_one_with_another_list_and_the_others_elect_a_leader_beside_it() {
    let all = places(4);
    let place = |id: usize| all[id - 1].split_once('=').unwrap().1;
    let wrong = format!("4={}", place(4).replace(":7400", ":7401"));
    let typo = [&all[..3], std::slice::from_ref(&wrong)].concat();
    let config = || patient_leases(Mode::Majority, Tokens::Volatile);
    let join = |id: u64| {
        let list = if id == 3 { &typo } else { &all };
        member(id, list).protocol("local-leader", config()).join().unwrap()
    };
    let members: Vec<Election> = (1..=4).map(join).collect();
    let difference = format!("(it has {wrong}, they have {}): correct its list", all[3]);
    for (id, one) in (1..).zip(&members) {
        let named = match id {
            3 => "this member, 3, has another member list than 1, 2, 4".to_owned(),
            _ => format!("member 3 at {} has another member list than 1, 2, 4", place(3)),
        };
        let names = |text: &str| text.contains(&named) && text.contains(&difference);
        let warned = |status: &Status| names(&status.warnings.join("; "));
        let status = until(one, &named, warned);
        // The same as its application is told, which writes it to the log.
        assert!(!withdrawn(&status) || names(&status.why.join("; ")), "{:?}", status.why);
    }
    let odd = &members[2];
    let good = [&members[0], &members[1], &members[3]];
    for one in good {
        until(one, "part of a group beside the odd one", takes_part);
    }
    eventually("one leader", || {
        let leaders = good.map(|one| one.leadership().leaders);
        (leaders[0].len() == 1 && leaders.iter().all(|named| *named == leaders[0])).then_some(())
    });
    let told = odd.leadership().withdrawn.expect("it takes no part");
    assert!(told.contains("this member, 3,") && told.contains(&difference), "{told}");
    // They hear of it again and again, and go on.
    let dropped = |status: &Status| status.traffic.refused.get("list").copied().unwrap_or(0);
    let before = good.map(|one| one.status().unwrap());
    for (one, before) in good.iter().zip(&before) {
        let often = |status: &Status| dropped(status) >= dropped(before) + 6;
        let status = until(one, "hearing of it", often);
        assert_eq!(status.incarnation, before.incarnation, "it withdrew: {status:?}");
        until(one, "part of a group beside the odd one", takes_part);
    }
    assert!(withdrawn(&odd.status().unwrap()), "{:?}", odd.leadership());
    // What members tell each other of it they tell once: nobody replays anything.
    for one in &members {
        let refused = one.status().unwrap().traffic.refused;
        assert!(!refused.contains_key("replayed"), "{refused:?}");
    }
    odd.leave();
    for one in good {
        let warns = |status: &Status| status.warnings.join("; ").contains("member list");
        until(one, "part of a group without a warning", |it| takes_part(it) && !warns(it));
    }
}

#[test]
fn whatever_number_a_state_file_has_its_member_is_heard() {
    let all = places(3);
    let first = member(1, &all).join().unwrap();
    for incarnation in [u64::MAX, u64::MAX - 1, wall() + YEAR] {
        let folder = Folder::new();
        write_state(&folder.0, 2, incarnation);
        let second = member(2, &all).dir(&folder.0).join().unwrap();
        let status = until(&second, "heard", takes_part);
        until(&first, "part of a group", takes_part);
        let damaged = incarnation > wall() + 100 * YEAR;
        let warning = status.warnings.join("; ");
        assert_eq!(warning.contains("test.2.state.damaged"), damaged, "{warning}");
        assert_eq!(status.incarnation > incarnation, !damaged, "{status:?}");
        second.leave();
    }
    // Its number is lost, and others know of a life that is a year ahead.
    let second = member(2, &all).join().unwrap();
    let status = until(&second, "heard again", takes_part);
    assert!(status.incarnation > wall() + YEAR / 2, "{status:?}");
}

/// The members of a list, and a sealer with which somebody who has the key speaks for one of them.
fn impostor(all: &[String], id: u64, incarnation: u64) -> (Vec<(NodeId, String)>, Sealer) {
    let member = |text: &String| {
        let (id, place) = text.split_once('=').expect("tests write id=place");
        (NodeId(id.parse().expect("tests write id=place")), place.to_owned())
    };
    let list: Vec<(NodeId, String)> = all.iter().map(member).collect();
    let params = Params::try_from(Config::default()).expect("the default keeps its rules");
    let (lock, drift) = (params.lock().as_nanos(), params.drift_ppm());
    let error = params.clock_error().as_nanos();
    let terms = format!(
        "local-leader 3 mode=majority tokens=volatile lock={lock} drift={drift} error={error}"
    );
    let digest = ConfigDigest::listed(list.iter().map(|(id, place)| (*id, place.as_str())), &terms);
    let (session, ring) = (Session([9; 8]), Keyring::insecure());
    let sealer = Sealer::new("test", NodeId(id), incarnation, session, digest, &ring);
    (list, sealer)
}

#[test]
fn a_frame_of_an_impossible_life_does_not_bar_its_member() {
    let all = places(3);
    let first = member(1, &all).join().unwrap();
    // Somebody with the key speaks for 2, from its address, before it is there.
    let (list, mut sealer) = impostor(&all, 2, u64::MAX);
    let socket = UdpSocket::bind(&list[1].1).unwrap();
    let mut frame = Vec::new();
    sealer.seal(Kind::Beacon, None, b"", &mut frame).unwrap();
    socket.send_to(&frame, &list[0].1).unwrap();
    let refused = |status: &Status| status.traffic.refused.contains_key("future-life");
    until(&first, "refusing", refused);
    drop(socket);
    let second = member(2, &all).join().unwrap();
    until(&second, "heard", takes_part);
    until(&first, "part of a group", takes_part);
}

#[test]
fn only_messages_under_its_own_id_stop_a_member() {
    let all = places(1);
    let only = member(1, &all).join().unwrap();
    let life = until(&only, "the leader", takes_part).incarnation;
    let (list, mut sealer) = impostor(&all, 1, wall());
    let socket = UdpSocket::bind(elsewhere()).unwrap();
    let mut frame = Vec::new();
    let mut send = |kind: Kind| {
        sealer.seal(kind, None, &[], &mut frame).unwrap();
        socket.send_to(&frame, &list[0].1).unwrap();
    };
    let refused = |status: &Status| status.traffic.refused.get("own-id").copied();
    for (count, kind) in (1..).zip([Kind::Book, Kind::Hearing]) {
        send(kind);
        let status = until(&only, "refusing", |status| refused(status) == Some(count));
        assert!(takes_part(&status) && status.incarnation == life, "{kind:?}: {status:?}");
    }
    send(Kind::Acknowledging);
    until(&only, "withdrawn", withdrawn);
}

#[test]
fn the_copies_of_a_last_will_are_not_shown_as_refused_and_a_flood_of_them_is() {
    let all = places(2);
    let first = member(1, &all).join().unwrap();
    let (list, sealer) = impostor(&all, 2, wall());
    let socket = UdpSocket::bind(&list[1].1).unwrap();
    let mut will = Vec::new();
    sealer.seal_last(b"", &mut will).unwrap();
    let send = |times: usize| {
        for _ in 0..times {
            socket.send_to(&will, &list[0].1).unwrap();
        }
    };
    send(3);
    // What comes after them was received after them.
    let mut after = Vec::new();
    let (_, mut late) = impostor(&all, 2, 1);
    late.seal(Kind::Beacon, None, b"", &mut after).unwrap();
    socket.send_to(&after, &list[0].1).unwrap();
    let old = |status: &Status| status.traffic.refused.contains_key("former-life");
    let refused = until(&first, "refusing", old).traffic.refused;
    assert!(!refused.contains_key("will-copy") && !refused.contains_key("replayed"), "{refused:?}");
    send(9);
    let flood = |status: &Status| status.traffic.refused.get("will-copy") == Some(&11);
    until(&first, "showing a flood", flood);
}

#[test]
fn a_flood_from_elsewhere_is_counted_and_hardly_answered() {
    let all = places(3);
    let members = [member(1, &all).join().unwrap(), member(2, &all).join().unwrap()];
    for one in &members {
        until(one, "part of a group", takes_part);
    }
    let lives = members.each_ref().map(|one| one.status().unwrap().incarnation);
    // Somebody with the key speaks for 3, from another address: each frame is new.
    let (list, mut sealer) = impostor(&all, 3, wall());
    let socket = UdpSocket::bind(elsewhere()).unwrap();
    let (begun, mut frame) = (wall(), Vec::new());
    for _ in 0..50_000 {
        sealer.seal(Kind::Message, Some(NodeId(1)), b"noise", &mut frame).unwrap();
        socket.send_to(&frame, &list[0].1).unwrap();
    }
    let seconds = (wall() - begun) / 1_000_000_000;
    let refused = until(&members[0], "part of a group after that", takes_part).traffic.refused;
    assert!(refused.get("address").is_some_and(|count| *count > 1_000), "{refused:?}");
    assert!(!refused.contains_key("terms") && !refused.contains_key("malformed"), "{refused:?}");
    let after = members.each_ref().map(|one| one.status().unwrap().incarnation);
    assert_eq!(after, lives, "nobody withdrew");
    socket.set_nonblocking(true).unwrap();
    let answers = (0..1_000).take_while(|_| socket.recv_from(&mut [0; 2048]).is_ok()).count();
    assert!(answers as u64 <= 2 * (seconds + 4), "{answers} answers in {seconds} s");
}

/// A disk of this many bytes, in memory.
struct Disk(PathBuf);

impl Disk {
    fn new(at: &Path, bytes: u32) -> Self {
        let size = format!("size={bytes}");
        let words = ["-t", "tmpfs", "-o", &size, "bellwether-test"];
        let made = Command::new("mount").args(words).arg(at).status().expect("mount is there");
        assert!(made.success(), "mounting a small disk takes root");
        Self(at.to_owned())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_costs_the_vote_until_there_is_room() {
    let folder = Folder::new();
    let disk = Disk::new(&folder.0, 1 << 16);
    let all = places(2);
    let alone = member(1, &all[..1]).dir(&folder.0).join().unwrap();
    until(&alone, "leading", |status| status.role == Role::Leader);
    // Whoever disagrees makes it begin again, with a new number to store.
    let rogue = member(2, &all).join().unwrap();
    until(&alone, "withdrawn", withdrawn);
    let filler = folder.0.join("filler");
    assert!(fs::write(&filler, vec![0; 1 << 17]).is_err(), "the disk is small");
    rogue.leave();
    let full = |status: &Status| status.why.join("; ").contains("its state cannot be stored");
    until(&alone, "without room", full);
    thread::sleep(Duration::from_secs(2));
    assert!(withdrawn(&alone.status().unwrap()), "and it stays so");
    fs::remove_file(filler).unwrap();
    until(&alone, "leading again", |status| status.role == Role::Leader);
    drop(alone);
    drop(disk);
}
