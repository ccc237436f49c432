//! Members that join while the group runs, with its key and one address.

use crate::support::{Folder, eventually, leader, member, patient_leases, places};
use bellwether_core::{NodeId, Refused};
use bellwether_net::{Builder, Election, Keyring, NotNow};
use bellwether_protocols::choice::Config;
use bellwether_protocols::local_leader::{self, Mode, Tokens};
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::time::Duration;

/// The address in an entry of a list.
fn at(place: &str) -> &str {
    place.split_once('=').expect("an id and a place").1
}

fn found(id: u64, places: &[String], dir: &Path, keyring: &Keyring) -> Election {
    let config = patient_leases(Mode::Majority, Tokens::Durable);
    let founder = member(id, places).protocol("local-leader", config).dir(dir);
    founder.keyring(keyring.clone()).join().expect("it begins")
}

/// A member that joins through that place, and listens at this one.
fn joins(id: u64, through: &str, here: &str, dir: &Path, keyring: &Keyring) -> Builder {
    Election::builder("test")
        .join_through([at(through).to_owned()])
        .id(id)
        .listen(at(here).parse().expect("an address"))
        .keyring(keyring.clone())
        .dir(dir)
}

/// The members that one knows to have joined.
fn joined(election: &Election) -> Vec<u64> {
    let status = election.status().expect("it runs");
    status.members.iter().filter(|member| member.joined).map(|member| member.id).collect()
}

/// Waits until all know that these have joined.
fn know(members: &[Election], ids: &[u64]) {
    let all = || members.iter().all(|election| joined(election) == ids).then_some(());
    eventually("all know who joined", all);
}

#[test]
fn a_key_and_one_address_suffice_and_all_learn_of_it_and_remember() {
    let (folder, keyring) = (Folder::new(), Keyring::generate().unwrap());
    let all = places(4);
    let (dir, founders) = (folder.0.as_path(), &all[..2]);
    let start = |id| found(id, founders, dir, &keyring);
    let mut members: Vec<Election> = [1, 2].map(start).into();
    leader(&members);
    let join = |id: u64| joins(id, &all[0], &all[id as usize - 1], dir, &keyring).join();
    for id in [3, 4] {
        members.push(join(id).expect("it is taken up"));
    }
    know(&members, &[3, 4]);
    let leads = leader(&members);
    assert!(leads.0 <= 2, "those that join observe");
    let committed = |members: &[Election], ids: &[u64]| {
        eventually("the list", || {
            let holds = |election: &Election| {
                let list = election.status().ok().and_then(|status| status.voters);
                list.is_some_and(|list| list.committed && list.ids == ids)
            };
            members.iter().all(holds).then_some(())
        });
    };
    committed(&members, &[1, 2]);
    // Votes of a member that joined count, and it can lead.
    eventually("3 votes", || {
        members[leader(&members).0 as usize - 1].add_voter(NodeId(3)).ok().or_else(|| {
            let list = members[2].status().ok()?.voters?;
            list.ids.contains(&3).then_some(())
        })
    });
    committed(&members, &[1, 2, 3]);
    // All restart, and nobody is there to be asked: those that joined know the group.
    drop(members);
    let dead = places(1);
    let again = |id: u64| {
        joins(id, &dead[0], &all[id as usize - 1], dir, &keyring).join().expect("it knows all")
    };
    let mut members = vec![again(3), again(4)];
    members.push(start(2));
    know(&members, &[3, 4]);
    leader(&members);
    committed(&members, &[1, 2, 3]);
    // A founder that lost its book is told again.
    members.pop();
    let book = dir.join("test.2.book");
    assert!(std::fs::read_to_string(&book).unwrap().starts_with("bellwether-book 1 "));
    std::fs::write(&book, "bellwether-book 1 torn").unwrap();
    members.push(start(2));
    know(&members, &[3, 4]);
    let warned = members[2].status().unwrap().warnings;
    assert!(warned.iter().any(|text| text.contains("learnt again")), "{warned:?}");
}

/// Leases for clocks that drift more than those of the group may.
fn drifting() -> Config {
    let (tokens, drift_ppm) = (Tokens::Durable, Some(300));
    Config::LocalLeader(local_leader::Config { tokens, drift_ppm, ..Default::default() })
}

#[test]
fn who_cannot_join_is_told_why_and_nothing_changes() {
    let (folder, keyring) = (Folder::new(), Keyring::generate().unwrap());
    let all = places(5);
    let (dir, founders) = (folder.0.as_path(), &all[..2]);
    let mut members: Vec<Election> = [1, 2].map(|id| found(id, founders, dir, &keyring)).into();
    leader(&members);
    members.push(joins(3, &all[0], &all[2], dir, &keyring).join().expect("it is taken up"));
    know(&members, &[3]);
    let other = folder.0.join("other");
    let book = || std::fs::read(dir.join("test.1.book")).unwrap();
    let (before, refused) = (book(), |builder: Builder| builder.join().unwrap_err().to_string());
    for (builder, why) in [
        (joins(2, &all[0], &all[3], &other, &keyring), "2 is the id of a founding member"),
        (joins(3, &all[0], &all[3], &other, &keyring), "3 is the id of a member at"),
        (joins(3, &all[2], &all[3], &other, &keyring), "3 is the id of a member at"),
        (joins(4, &all[0], &all[3], &other, &keyring).voters([1]), "leave out `voters`"),
        (
            joins(4, &all[0], &all[3], &other, &keyring)
                .protocol("local-leader", patient_leases(Mode::Majority, Tokens::Volatile)),
            "only groups with leases from a majority and durable tokens",
        ),
        (
            joins(4, &all[0], &all[3], &other, &keyring)
                .protocol("local-leader", patient_leases(Mode::Local, Tokens::Durable)),
            "only groups with leases from a majority and durable tokens",
        ),
        (
            joins(4, &all[0], &all[3], &other, &keyring).protocol("local-leader", drifting()),
            "leave the parameters out",
        ),
        (
            joins(4, &all[0], &all[3], &other, &keyring).peers(member_list(&all)),
            "leave one of them out",
        ),
    ] {
        let line = refused(builder);
        assert!(line.contains(why) && line.lines().count() == 1, "{why}: {line}");
    }
    assert_eq!(book(), before, "nothing changed");
    assert_eq!(joined(&members[0]), [3]);
    let moved = joins(3, &all[0], &all[4], dir, &keyring);
    let line = refused(moved);
    assert!(line.contains("member 3 joined at") && line.contains("join again"), "{line}");
    // A member that runs, votes or founded the group is not forgotten; one that has ended is.
    let chief = leader(&members).0 as usize - 1;
    let forget = |id| members[chief].forget_member(NodeId(id));
    let refused = members[1 - chief].forget_member(NodeId(3));
    assert_eq!(refused, Err(NotNow::Refused(Refused::NotLeading)), "it may not know who votes");
    assert_eq!(forget(2), Err(NotNow::Refused(Refused::Founder(NodeId(2)))));
    assert_eq!(forget(9), Err(NotNow::Refused(Refused::UnknownMember(NodeId(9)))));
    eventually("3 is heard", || {
        let heard =
            |id| members[chief].status().ok()?.members.iter().find(|it| it.id == id)?.heard_ms;
        heard(3)
    });
    assert_eq!(forget(3), Err(NotNow::Refused(Refused::Runs(NodeId(3)))));
    let gone = members.remove(2);
    drop(gone);
    eventually("3 is forgotten", || members[chief].forget_member(NodeId(3)).ok());
    know(&members, &[]);
    // Its former process is not taken up again; another one is.
    let back = joins(3, &all[0], &all[3], &other, &keyring).join().expect("the id is free");
    members.push(back);
    know(&members, &[3]);
}

fn member_list(places: &[String]) -> bellwether_net::Peers {
    places.join(",").parse().expect("a list")
}

#[test]
fn a_group_without_durable_tokens_takes_nobody_up() {
    let (folder, keyring) = (Folder::new(), Keyring::generate().unwrap());
    let all = places(2);
    let founder = member(1, &all[..1]).keyring(keyring.clone()).join().expect("it begins");
    let line = joins(2, &all[0], &all[1], &folder.0, &keyring).join().unwrap_err().to_string();
    assert!(line.contains("accepts nobody while it runs"), "{line}");
    assert_eq!(joined(&founder), [0; 0]);
}

#[test]
fn who_lacks_the_key_changes_nothing_and_is_told_that_nobody_answers() {
    let (folder, keyring) = (Folder::new(), Keyring::generate().unwrap());
    let all = places(2);
    let founder = found(1, &all[..1], &folder.0, &keyring);
    let other = Keyring::generate().unwrap();
    let (told, lines) = std::sync::mpsc::channel();
    let stranger = joins(2, &all[0], &all[1], &folder.0.join("other"), &other);
    std::thread::spawn(move || stranger.prepare_and_tell(&mut |line| drop(told.send(line))));
    let line = lines.recv_timeout(Duration::from_secs(20)).expect("it says something");
    assert!(line.starts_with("no answer from ") && line.contains("another key"), "{line}");
    let status = eventually("it is counted", || {
        let status = founder.status().ok()?;
        status.traffic.refused.contains_key("key").then_some(status)
    });
    assert!(status.members.iter().all(|member| !member.joined));
    assert!(!folder.0.join("test.1.book").exists());
    // Noise that looks like a question changes nothing either.
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let founder_at: SocketAddr = at(&all[0]).parse().unwrap();
    for kind in [3, 4] {
        let mut noise = vec![0; 200];
        noise[..4].copy_from_slice(&[b'B', b'w', 2, kind]);
        socket.send_to(&noise, founder_at).unwrap();
    }
    let dropped = |name: &str| founder.status().ok()?.traffic.refused.get(name).copied();
    eventually("noise is counted", || dropped("group").filter(|count| *count == 2));
    assert_eq!(joined(&founder), [0; 0]);
}
