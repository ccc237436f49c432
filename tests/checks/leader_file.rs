//! The file that is there only while a member leads.

use super::member::{Folder, Member, bellwether, eventually, leader, now, peers};
use rustix::process::Signal;

/// A group of three with a file each.
fn group(folder: &Folder) -> Vec<Member> {
    let list = peers(3);
    let start = |id| {
        let file = folder.file(&format!("leader.{id}")).display().to_string();
        Member::start(folder, &list, id, &["--leader-file", &file])
    };
    (1..=3).map(start).collect()
}

/// The file of a member, if it is there.
fn text(folder: &Folder, id: u64) -> Option<String> {
    std::fs::read_to_string(folder.file(&format!("leader.{id}"))).ok()
}

/// The number after this word.
fn number(text: &str, word: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(word)).expect("it is whole");
    line.parse().unwrap_or_else(|_| panic!("{text}"))
}

#[test]
fn the_file_is_there_only_while_the_member_leads_and_tells_until_when() {
    let folder = Folder::new("file");
    // A crash left one.
    std::fs::write(folder.file("leader.2"), "term=1\n").expect("there is room");
    let members = group(&folder);
    members[1].error("was left by an earlier process; it was removed");
    let first = leader(&members);
    let said = eventually("its file", || text(&folder, first));
    let leads = members.iter().find(|member| member.id() == first).expect("it is one of them");
    let term = leads.status().expect("it answers")["term"].as_u64();
    assert_eq!(Some(number(&said, "term=")), term);
    assert!(u128::from(number(&said, "until_ms=")) > now().as_millis() - 10_000, "{said}");
    // It is renewed with the lease.
    let until = number(&said, "until_ms=");
    eventually("a renewal", || {
        text(&folder, first).filter(|said| number(said, "until_ms=") > until)
    });
    for id in (1..=3).filter(|id| *id != first) {
        assert_eq!(text(&folder, id), None, "{id} follows");
    }
    assert!(leads.ask("resign").status.success());
    assert_eq!(text(&folder, first), None, "it has handed over");
    let second = leader(&members);
    eventually("the file of the next", || text(&folder, second));
}

#[test]
fn a_leader_that_cannot_end_what_it_guards_gives_way_and_says_why_until_it_can() {
    let folder = Folder::new("file-stuck");
    let members = group(&folder);
    let first = leader(&members);
    eventually("its file", || text(&folder, first));
    let stuck = members.iter().find(|member| member.id() == first).expect("it is one of them");
    // A folder with something in it cannot be replaced, nor removed as a file is.
    let file = folder.file(&format!("leader.{first}"));
    let (full, former) = (folder.file("full"), folder.file("former"));
    std::fs::create_dir(&full).expect("there is room");
    std::fs::write(full.join("x"), "").expect("there is room");
    eventually("a folder in its place", || {
        let _ = std::fs::rename(&file, &former); // it may be written anew
        std::fs::rename(&full, &file).ok()
    });
    stuck.error("cannot remove the leader file");
    let why = eventually("a reason", || {
        let status = stuck.status()?;
        let why = status["why"].to_string();
        let leads = status["role"] == "leader";
        (!leads && why.contains("does not lead while something is left of when it led"))
            .then_some(why)
    });
    assert!(why.contains("cannot remove the leader file"), "{why}");
    eventually("another leader", || {
        let others = members.iter().filter(|member| member.id() != first);
        let mut roles = others.filter_map(Member::status).map(|status| status["role"].clone());
        roles.any(|role| role == "leader").then_some(())
    });
    // It votes, and does not lead; once it can remove the file, it may again.
    stuck.becomes("follower");
    std::fs::remove_dir_all(&file).expect("it is there");
    stuck.error("nothing is left of when the member led: it may lead again");
    eventually("no reason", || {
        let status = stuck.status()?;
        (!status["why"].to_string().contains("something is left")).then_some(())
    });
    eventually("its turn", || {
        for id in (1..=3).filter(|id| *id != first) {
            // Whoever leads does so.
            bellwether(&format!("transfer web {first} --id {id} --dir {}", folder.dir()));
        }
        (stuck.status()?["role"] == "leader").then_some(())
    });
}

/// Waits until another one leads; the former leader's file must be gone by then.
fn gone_before_the_next(folder: &Folder, members: &[Member], first: u64) {
    let others = || members.iter().filter(|member| member.id() != first);
    eventually("the next leader", || {
        let leads =
            others().any(|member| member.status().is_some_and(|status| status["role"] == "leader"));
        leads.then(|| assert_eq!(text(folder, first), None, "the next one leads"))
    });
    eventually("the file of the next", || others().find_map(|member| text(folder, member.id())));
}

#[test]
fn the_guardian_removes_the_file_of_a_leader_that_is_killed() {
    let folder = Folder::new("file-killed");
    let members = group(&folder);
    let first = leader(&members);
    eventually("its file", || text(&folder, first));
    let leads = members.iter().find(|member| member.id() == first).expect("it is one of them");
    leads.signal(Signal::KILL);
    gone_before_the_next(&folder, &members, first);
}

#[test]
fn the_guardian_removes_the_file_of_a_leader_that_is_stopped() {
    let folder = Folder::new("file-stopped");
    let members = group(&folder);
    let first = leader(&members);
    eventually("its file", || text(&folder, first));
    let leads = members.iter().find(|member| member.id() == first).expect("it is one of them");
    leads.signal(Signal::STOP);
    gone_before_the_next(&folder, &members, first);
    leads.signal(Signal::CONT);
    leader(&members);
    assert_eq!(text(&folder, first), None, "it leads no longer");
}
