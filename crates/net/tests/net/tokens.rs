//! Fencing tokens: they grow from leader to leader, and with records also across restarts, lost and
//! damaged files and full disks.

use crate::support::{Folder, eventually, leader, member, patient_leases, places};
use bellwether_core::{NodeId, Refused, Unfit};
use bellwether_net::{BadSettings, Builder, Election, NotNow, Role, Snapshot};
use bellwether_protocols::choice::Config;
use bellwether_protocols::local_leader::{self, Mode, Tokens};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

/// Much longer than a quarantine and several elections with preset `lan`.
const LONG: Duration = Duration::from_millis(1_500);

fn leases(mode: Mode, tokens: Tokens) -> Config {
    Config::LocalLeader(local_leader::Config { mode, tokens, ..local_leader::Config::default() })
}

/// A member with records in this directory.
fn durable(id: u64, all: &[String], dir: &Path) -> Builder {
    let config = leases(Mode::Majority, Tokens::Durable);
    member(id, all).protocol("local-leader", config).dir(dir)
}

fn group(all: &[String], dir: &Path) -> Vec<Election> {
    (1..=all.len() as u64).map(|id| durable(id, all, dir).join().expect("it joins")).collect()
}

/// The token of whoever leads, once somebody does.
fn token(members: &[Election]) -> u64 {
    eventually("a leader", || {
        let now = members.iter().map(Election::leadership).find(Snapshot::leads)?;
        Some(now.term.expect("a leader has a token").number())
    })
}

fn has_record(member: &Election) -> bool {
    !member.status().expect("it runs").no_record
}

#[test]
fn every_leader_has_a_higher_token_than_the_one_before() {
    let all = places(3);
    let members: Vec<Election> = (1..4).map(|id| member(id, &all).join().unwrap()).collect();
    let mut last = 0;
    for _ in 0..6 {
        let leader = eventually("a leader", || members.iter().find(|m| m.leadership().leads()));
        let Ok(Some(guard)) = leader.wait(Some(Duration::ZERO)) else { continue };
        let Some(term) = guard.term() else { continue }; // its lease has just run out
        assert!(term.number() > last, "{term} after {last}");
        assert!(!leader.leadership().term_kept, "nothing is stored");
        last = term.number();
        let _ = guard.resign(); // or it has just run out
    }
    assert!(last > 0, "somebody led");
}

#[test]
fn durable_tokens_without_a_directory_are_refused_and_so_is_a_word_about_votes_without_records() {
    let of = |config| member(1, &places(3)).protocol("local-leader", config);
    let refused = of(leases(Mode::Majority, Tokens::Durable)).check().unwrap_err();
    assert!(matches!(refused, BadSettings::NoDir), "{refused}");
    of(leases(Mode::Local, Tokens::Durable)).check().expect("local leases have no tokens");
    of(leases(Mode::Majority, Tokens::Volatile)).check().expect("nothing is stored");
    let folder = Folder::new();
    for without_records in [
        of(leases(Mode::Majority, Tokens::Volatile)),
        of(leases(Mode::Local, Tokens::Durable)),
        member(1, &places(3)),
    ] {
        let refused = without_records.dir(&folder.0).bootstrap(true).check().unwrap_err();
        assert!(matches!(refused, BadSettings::NoRecords), "{refused}");
    }
}

#[test]
fn a_group_of_one_waits_until_the_operator_says_that_it_never_voted() {
    let (all, folder) = (places(1), Folder::new());
    let waiting = durable(1, &all, &folder.0).join().unwrap();
    sleep(LONG);
    let status = waiting.status().unwrap();
    assert!(status.no_record && status.role == Role::Looking, "{status:?}");
    let why = status.why.join("; ");
    assert!(why.contains("has no record of its votes") && why.contains("`bootstrap`"), "{why}");
    waiting.leave();
    let begun = durable(1, &all, &folder.0).bootstrap(true).join().unwrap();
    let first = token(std::slice::from_ref(&begun));
    assert!(has_record(&begun) && begun.leadership().term_kept);
    begun.leave();
    let again = durable(1, &all, &folder.0).bootstrap(true).join().unwrap_err();
    assert!(matches!(again, BadSettings::HasVoted { .. }) && again.is_config(), "{again}");
    let later = durable(1, &all, &folder.0).join().unwrap();
    assert!(token(std::slice::from_ref(&later)) > first);
    later.leave();
}

/// The file may have had a record, however often the member is started after that: by the same
/// command again, as a supervisor does, or without the word of the operator in between.
#[test]
fn a_member_whose_state_file_was_lost_is_not_founded_again() {
    let (all, folder) = (places(1), Folder::new());
    let file = |end: &str| folder.0.join(format!("test.1.{end}"));
    let found = || durable(1, &all, &folder.0).bootstrap(true).join();
    let refused = || {
        for again in [false, true] {
            let refused = found().unwrap_err();
            assert!(matches!(refused, BadSettings::HasVoted { .. }), "{refused}");
            for end in ["state.damaged", "lock"] {
                let name = file(end).display().to_string();
                assert!(refused.to_string().contains(&name), "{again}: {refused}");
            }
        }
    };
    // One that ran without a record, and lost nothing, has never voted.
    durable(1, &all, &folder.0).join().unwrap().leave();
    let first = found().unwrap();
    token(std::slice::from_ref(&first));
    first.leave();
    let whole = fs::read(file("state")).unwrap();
    let flipped = [&whole[..whole.len() - 2], b"x\n"].concat();
    for damage in [Some(flipped), None] {
        match damage {
            Some(bytes) => fs::write(file("state"), bytes).unwrap(),
            None => fs::remove_file(file("state")).unwrap(),
        }
        refused();
        durable(1, &all, &folder.0).join().unwrap().leave();
        refused();
    }
    for end in ["state", "state.damaged", "lock"] {
        fs::remove_file(file(end)).unwrap();
    }
    found().unwrap().leave();
}

#[test]
fn a_new_group_founds_itself_when_all_are_there_and_not_before() {
    let (all, folder) = (places(3), Folder::new());
    let mut members: Vec<Election> =
        (1..3).map(|id| durable(id, &all, &folder.0).join().unwrap()).collect();
    sleep(LONG);
    for member in &members {
        assert!(!has_record(member) && !member.leadership().leads(), "a majority is not all");
        let why = member.status().unwrap().why.join("; ");
        assert!(why.contains("reads those of 2 others, or founds the group when all 3"), "{why}");
    }
    members.push(durable(3, &all, &folder.0).join().unwrap());
    token(&members);
    eventually("records of all", || members.iter().all(has_record).then_some(()));
}

#[test]
fn tokens_count_on_from_the_records_when_all_members_restart() {
    let (all, folder) = (places(3), Folder::new());
    let mut last = None;
    for _ in 0..3 {
        let members = group(&all, &folder.0);
        let term = token(&members);
        // A group without records would begin at the milliseconds of the wall clock.
        let follows = |last: u64| last < term && term < last + 200;
        assert!(last.is_none_or(follows), "{term} after {last:?}");
        members.iter().for_each(Election::leave);
        sleep(Duration::from_millis(500));
        last = Some(term);
    }
}

/// Each way in which a record is lost, and what `status` says of it.
#[test]
fn a_member_whose_record_is_lost_reads_those_of_others_and_votes_again() {
    type Lose<'a> = (&'a dyn Fn(&Path), &'a str);
    let (all, folder) = (places(3), Folder::new());
    let foreign = folder.0.join("test.2.state");
    let ways: [Lose<'_>; 4] = [
        (&|file| fs::remove_file(file).unwrap(), ""),
        (&|file| fs::write(file, &fs::read(file).unwrap()[..100]).unwrap(), "damaged"),
        (&|file| assert!(fs::copy(&foreign, file).unwrap() > 0), "member test.2, not of test.1"),
        (&|file| fs::write(file, "").unwrap(), "damaged"),
    ];
    let mut members = group(&all, &folder.0);
    let mut last = token(&members);
    eventually("records of all", || members.iter().all(has_record).then_some(()));
    for (lose, said) in ways {
        members.remove(0).leave();
        lose(&folder.0.join("test.1.state"));
        members.insert(0, durable(1, &all, &folder.0).join().unwrap());
        let warnings = members[0].status().unwrap().warnings.join("; ");
        assert!(warnings.contains(said), "{warnings}");
        eventually("its record", || has_record(&members[0]).then_some(()));
        // Of two, both must vote.
        members.pop().unwrap().leave();
        let term = eventually("a higher token", || Some(token(&members)).filter(|now| *now > last));
        members.push(durable(3, &all, &folder.0).join().unwrap());
        last = term;
    }
}

/// A small disk of the test's own.
struct Disk(PathBuf);

impl Disk {
    /// `None` if this machine does not permit it.
    fn mount(at: &Path) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(at);
        let mounted = mount.output().is_ok_and(|done| done.status.success());
        if !mounted {
            eprintln!("not tested: this machine does not permit `mount -t tmpfs`");
        }
        mounted.then(|| Self(at.to_owned()))
    }

    fn fill(&self) {
        let mut bytes = vec![0; 1 << 16];
        while !bytes.is_empty() && fs::write(self.0.join("filler"), &bytes).is_err() {
            bytes.truncate(bytes.len().saturating_sub(512));
        }
    }

    fn clear(&self) {
        fs::remove_file(self.0.join("filler")).expect("it is there");
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).output();
    }
}

/// Alone it votes and begins to lead in one step. If that vote cannot be stored, nobody may hear of
/// the leadership.
#[test]
fn nobody_hears_of_a_step_that_was_not_stored_and_no_token_is_used_twice() {
    let (all, folder) = (places(1), Folder::new());
    let Some(disk) = Disk::mount(&folder.0) else { return };
    let member = durable(1, &all, &folder.0).bootstrap(true).join().unwrap();
    let first = token(std::slice::from_ref(&member));
    let warnings = member.status().unwrap().warnings.join("; ");
    assert!(warnings.contains("is in memory, and lost when the machine restarts"), "{warnings}");
    disk.fill();
    member.resign().expect("it leads");
    let before = member.leadership().reign;
    let withdrawn = || Some(member.leadership()).filter(|now| now.role() == Role::Withdrawn);
    let why = eventually("its withdrawal", withdrawn).withdrawn.unwrap_or_default();
    assert!(why.contains("its state cannot be stored"), "{why}");
    sleep(LONG * 2);
    assert_eq!(withdrawn().map(|now| now.reign), Some(before), "it never began to lead");
    disk.clear();
    assert!(token(std::slice::from_ref(&member)) > first);
    assert_eq!(member.leadership().reign, before + 1);
    drop(member);
}

/// Of three, one cannot store its votes: the other two elect the next leader without it, and nobody
/// hands over to it.
#[test]
fn a_member_with_a_full_disk_withdraws_and_the_others_elect_without_it() {
    const FULL: NodeId = NodeId(3);
    let (all, folders) = (places(3), [Folder::new(), Folder::new(), Folder::new()]);
    let Some(disk) = Disk::mount(&folders[2].0) else { return };
    let join = |(id, folder): (u64, &Folder)| {
        let config = patient_leases(Mode::Majority, Tokens::Durable);
        member(id, &all).protocol("local-leader", config).dir(&folder.0).join().expect("it joins")
    };
    let members: Vec<Election> = (1..).zip(&folders).map(join).collect();
    let of = |id: NodeId| &members[id.0 as usize - 1];
    let mut first = leader(&members);
    if first == FULL {
        of(FULL).transfer(NodeId(1)).expect("it can lead");
        first = eventually("1 leads", || Some(leader(&members)).filter(|id| *id != FULL));
    }
    eventually("records of all", || members.iter().all(has_record).then_some(()));
    let nominee = |id: NodeId| eventually("it votes", || of(id).can_transfer(FULL).ok());
    nominee(first);
    let before = token(&members);

    disk.fill();
    of(first).resign().expect("it leads");
    let next = eventually("another leader", || {
        members.iter().map(Election::leadership).find(Snapshot::leads).map(|now| now.me)
    });
    assert!(next != first && next != FULL, "{next} leads after {first}");
    assert!(token(&members) > before);
    let withdrawn = || Some(of(FULL).leadership()).filter(|now| now.role() == Role::Withdrawn);
    let why = eventually("its withdrawal", withdrawn).withdrawn.unwrap_or_default();
    assert!(why.contains("its state cannot be stored"), "{why}");
    let refused = eventually("a reason", || of(next).can_transfer(FULL).err());
    let NotNow::Refused(Refused::Nominee(FULL, reason)) = refused else { panic!("{refused}") };
    assert!(matches!(reason, Unfit::Silent | Unfit::Behind), "{refused}");
    assert_eq!(of(next).transfer(FULL).unwrap_err().to_string(), refused.to_string());
    assert!(of(next).leadership().leads(), "nothing changed");

    disk.clear();
    nominee(leader(&members));
}
