//! Fencing tokens, as `run` tells them to commands, hooks and whoever asks.

use super::member::{Folder, Member, bellwether, eventually, peers, refusal};
use serde_json::Value;

const PRINTS: [&str; 4] =
    ["--", "sh", "-c", "echo \"$BELLWETHER_TERM $BELLWETHER_TERM_KEPT\"; exec sleep 1000"];

/// The status of whoever leads, and which one that is.
fn leader(members: &[Member]) -> (usize, Value) {
    eventually("a leader", || {
        let all = members.iter().enumerate();
        let mut all = all.filter_map(|(index, member)| Some((index, member.status()?)));
        all.find(|(_, status)| status["role"] == "leader")
    })
}

fn term(status: &Value) -> u64 {
    status["term"].as_u64().unwrap_or_else(|| panic!("it has a token: {status}"))
}

#[test]
fn a_command_has_the_token_with_which_it_was_started_and_status_says_whether_it_is_kept() {
    let folder = Folder::new("term");
    let list = peers(1);
    let mut member = Member::start(&folder, &list, 1, &PRINTS);
    let line = member.line(|_| true);
    let status = member.becomes("leader");
    assert_eq!(line, format!("{} no", term(&status)));
    assert_eq!(status["term_kept"], false);
    let text = String::from_utf8(member.ask("status").stdout).expect("it is text");
    assert!(text.contains(&format!("{}, not across restarts", term(&status))), "{text}");
    member.end();
    let first = ["--tokens", "durable", "--bootstrap"];
    let mut member = Member::start(&folder, &list, 1, &[&first[..], &PRINTS].concat());
    let line = member.line(|_| true);
    let status = member.becomes("leader");
    assert_eq!(line, format!("{} yes", term(&status)));
    member.end();
    let mut member = Member::start(&folder, &list, 1, &[&first[..2], &PRINTS].concat());
    assert_eq!(member.line(|_| true), format!("{} yes", term(&status) + 1));
    member.end();
}

#[test]
fn the_word_that_a_member_never_voted_is_refused_if_it_has_or_stores_no_votes() {
    let folder = Folder::new("bootstrap");
    let list = peers(1);
    let run =
        format!("run web --peers {list} --id 1 --dir {} --insecure --bootstrap", folder.dir());
    let line = refusal(&bellwether(&run), 78);
    assert!(line.contains("--bootstrap says") && line.contains("--tokens to durable"), "{line}");
    let durable = ["--tokens", "durable", "--bootstrap"];
    let mut member = Member::start(&folder, &list, 1, &durable);
    member.becomes("leader");
    member.end();
    let line = refusal(&bellwether(&format!("{run} --tokens durable --preset wan")), 78);
    assert!(line.contains("members/web.1.state has its record: leave --bootstrap out"), "{line}");
    // A supervisor starts it again by the same command.
    let state = folder.file("members").join("web.1.state");
    let mut bytes = std::fs::read(&state).expect("it is there");
    *bytes.last_mut().expect("it is not empty") ^= 1;
    std::fs::write(&state, bytes).expect("there is room");
    for lines in [2, 1] {
        let output = bellwether(&format!("{run} --tokens durable"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), errors.lines().count()), (Some(78), lines), "{errors}");
        let last = errors.lines().last().expect("it says why");
        assert!(last.contains("is not used or missing: leave --bootstrap out; or, if "), "{last}");
        assert!(last.contains("members/web.1.state.damaged and "), "{last}");
        assert!(last.ends_with("members/web.1.lock and start again"), "{last}");
        assert!(!state.exists(), "it is put aside");
    }
    std::fs::remove_file(state.with_extension("state.damaged")).expect("it was put aside");
    let line = refusal(&bellwether(&format!("{run} --tokens durable")), 78);
    assert!(line.contains("a state file that may have had its record"), "{line}");
}

#[test]
fn a_group_whose_members_are_all_killed_goes_on_with_higher_tokens() {
    let folder = Folder::new("killed-all");
    let list = peers(3);
    let start = |id: u64| Member::start(&folder, &list, id, &["--tokens", "durable"]);
    let two: Vec<Member> = (1..3).map(start).collect();
    let why = eventually("what it waits for", || {
        let why = String::from_utf8(two[0].ask("why").stdout).ok()?;
        why.contains("no record of its votes").then_some(why)
    });
    assert!(why.contains("founds the group when all 3 members are there"), "{why}");
    let mut members: Vec<Member> = two.into_iter().chain([start(3)]).collect();
    let mut last = term(&leader(&members).1);
    for _ in 0..2 {
        drop(members); // by SIGKILL
        members = (1..4).map(start).collect();
        let now = term(&leader(&members).1);
        // A group without records would begin at the milliseconds of the wall clock.
        assert!(last < now && now < last + 200, "{now} after {last}");
        last = now;
    }
}

/// The state file of a group with the same name elsewhere, and one that was copied earlier: the
/// member says so, takes its votes from the others, and no token comes twice.
#[test]
fn a_state_file_of_another_group_or_an_older_one_counts_as_lost_with_one_line() {
    let (folder, elsewhere) = (Folder::new("put-back"), Folder::new("elsewhere"));
    let durable = ["--tokens", "durable"];
    let (list, other) = (peers(3), peers(1));
    let foreign = elsewhere.file("members").join("web.1.state");
    let first = [&durable[..], &["--bootstrap"]].concat();
    let mut stranger = Member::start(&elsewhere, &other, 1, &first);
    stranger.becomes("leader");
    stranger.end();
    let start = |id: u64| Member::start(&folder, &list, id, &durable);
    let mut members: Vec<Member> = (1..4).map(start).collect();
    let mut last = term(&leader(&members).1);
    let records = |members: &[Member]| {
        let kept = |status: Value| status["no_record"] == false;
        eventually("records of all", || {
            members.iter().all(|member| member.status().is_some_and(kept)).then_some(())
        });
    };
    records(&members);
    let own = folder.file("members").join("web.1.state");
    let aside = folder.file("aside");
    members[0].end();
    std::fs::copy(&own, &aside).expect("it is there");
    for (file, why) in [
        (&foreign, "of another group of this name, founded by 1=127."),
        (&aside, "it is older than the one last written here, by "),
    ] {
        // Let terms grow, and the file with them.
        members[0] = start(1);
        for _ in 0..2 {
            let (index, status) = leader(&members);
            last = last.max(term(&status));
            let resigned = members[index].ask("resign");
            assert!(resigned.status.success(), "{resigned:?}");
            records(&members);
        }
        last = last.max(term(&leader(&members).1));
        members[0].end();
        std::fs::copy(file, &own).expect("there is room");
        members[0] = start(1);
        let line = members[0].error("its state file is not used");
        assert!(line.contains(why) && line.contains("counts as lost"), "{line}");
        records(&members);
        // Of two, both must vote.
        members[2].end();
        let now = eventually("a higher token", || {
            Some(term(&leader(&members[..2]).1)).filter(|now| *now > last)
        });
        last = now;
        members[2] = start(3);
    }
}
