//! A check without a weight: while it fails the member does not lead.

use super::member::{Folder, Member, bellwether, command, eventually, leader, now, peers, refusal};
use super::{check, set_well, while_well};
use serde_json::Value;
use std::time::Duration;

/// What happened to the commands, in order: `begin 1`, `end 1`, `begin 2`.
fn log(folder: &Folder) -> Vec<String> {
    folder.text("log").lines().map(str::to_owned).collect()
}

/// A command that takes half a second to end.
fn worker(folder: &Folder) -> String {
    let log = folder.file("log").display().to_string();
    let script = format!(
        "say() {{ echo \"$1 $BELLWETHER_ID\" >> {log}; }}\n\
         trap 'sleep .5; say end; exit 0' TERM\nsay begin\nwhile :; do sleep .05; done"
    );
    folder.script("worker", &script).display().to_string()
}

#[test]
fn a_leader_whose_check_fails_ends_its_command_and_hands_over_and_leads_again_after_rise() {
    let folder = Folder::new("forbid");
    let (list, worker) = (peers(3), worker(&folder));
    let flag = format!("exec={},interval=200ms,rise=3,fall=2", while_well(&folder));
    (1..=3).for_each(|id| set_well(&folder, id, true));
    let start = |id| Member::start(&folder, &list, id, &["--check", &flag, "--", &worker]);
    let members: Vec<Member> = (1..=3).map(start).collect();
    let first = leader(&members);
    let begun = format!("begin {first}");
    eventually("its command", || log(&folder).contains(&begun).then_some(()));
    let begin = now();
    set_well(&folder, first, false);
    let (former, others): (Vec<Member>, Vec<Member>) =
        members.into_iter().partition(|member| member.id() == first);
    let former = &former[0];
    former.error("check probe fails: exit status: 1; the member does not lead");
    let second = leader(&others);
    let took = now() - begin;
    // Two runs, each after its interval and no longer than its time limit, and the hand-over: half
    // a second of the command and a round trip. The rest is for a machine that stalls.
    assert!(
        took < Duration::from_millis(2 * 200 + 200 + 500) + Duration::from_secs(10),
        "{took:?}"
    );
    let next = format!("begin {second}");
    eventually("the next command", || log(&folder).contains(&next).then_some(()));
    let seen = log(&folder);
    let place = |what: &str| seen.iter().position(|line| line == what);
    assert!(place(&format!("end {first}")) < place(&next), "one after the other: {seen:?}");
    assert!(place(&format!("end {first}")).is_some(), "it had its time to end: {seen:?}");

    let report = bellwether(&format!("report web --format json --dir {}", folder.dir())).stdout;
    let report: Value = serde_json::from_slice(&report).expect("it is JSON");
    let reigns = report["reigns"].as_array().expect("a list");
    let unfit = |reign: &Value| reign["leader"] == first && reign["end"] == "unfit";
    assert!(reigns.iter().any(unfit), "{report:#}");

    // If nobody is well, nobody leads; and it takes three good runs to lead again.
    others.iter().for_each(|member| set_well(&folder, member.id(), false));
    others.iter().for_each(|member| drop(member.becomes("looking")));
    let failing = former.becomes("looking");
    let why = failing["why"].to_string();
    assert!(why.contains("does not lead while check probe fails: exit status: 1"), "{why}");
    assert!(!why.contains("for now"), "the reason, and nothing else: {why}");
    let before = failing["checks"][0]["succeeded"].as_u64().expect("it is counted");
    set_well(&folder, first, true);
    eventually("its return", || {
        let status = former.status()?;
        let (check, leads) = (&status["checks"][0], status["role"] == "leader");
        let runs = check["succeeded"].as_u64()? - before;
        assert!(check["up"] == false || runs >= 3, "{check}");
        assert!(!leads || check["up"] == true, "{status}");
        leads.then_some(())
    });
    former.error("check probe is well; the member may lead");
}

#[test]
fn leadership_is_not_transferred_to_a_member_whose_check_fails() {
    let folder = Folder::new("nominee");
    let (list, dir) = (peers(3), folder.dir());
    // A run may take long on a busy machine, and counts for nothing but its result.
    let flag = format!("exec={},interval=200ms,timeout=10s", while_well(&folder));
    (1..=3).for_each(|id| set_well(&folder, id, true));
    let start = |id| {
        let run = format!("run web --peers {list} --id {id} --dir {dir} --insecure --lease 6s");
        let mut run = command(&run);
        run.args(["--check", &flag]);
        Member::spawn(run, &dir, id)
    };
    let members: Vec<Member> = (1..=3).map(start).collect();
    let first = leader(&members);
    let (leads, sick) = (&members[first as usize - 1], first % 3 + 1);
    let term = leads.status().expect("it answers")["term"].clone();
    set_well(&folder, sick, false);
    let fails = "does not lead while check probe fails: exit status: 1";
    eventually("its failing check", || {
        let status = members[sick as usize - 1].status()?;
        (status["checks"][0]["up"] == false && status["why"].to_string().contains(fails))
            .then_some(())
    });
    // By then it has told the others. Messages on the loopback come in order: once the leader has
    // heard a later one, it knows.
    let told = now();
    eventually("the leader hears it", || {
        let asked = now();
        let status = leads.status()?;
        let known = status["members"].as_array()?.iter().find(|it| it["id"] == sick)?.clone();
        let heard = Duration::from_secs_f64(known["heard_ms"].as_f64()? / 1e3);
        (asked > told + heard).then_some(())
    });
    let transfer = |to: u64| bellwether(&format!("transfer web {to} --id {first} --dir {dir}"));
    let line = refusal(&transfer(sick), 1);
    let why = format!(
        "member {sick} cannot be the next leader: it is a witness, or a health check of it fails"
    );
    assert!(line.contains(&why) && line.contains("nothing changed"), "{line}");
    let status = leads.status().expect("it answers");
    assert_eq!((&status["role"], &status["term"]), (&"leader".into(), &term), "{status}");
    assert_eq!(leader(&members), first, "all follow the same leader");
    let well = 6 - first - sick;
    let done = transfer(well);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    eventually("the one that is well", || (leader(&members) == well).then_some(()));
}

#[test]
fn with_init_fail_a_member_does_not_lead_before_its_check_was_well() {
    let folder = Folder::new("init");
    let file = folder.file("there").display().to_string();
    let flag = format!("file={file},name=flag,interval=100ms,init_fail=yes");
    let member = Member::start(&folder, &peers(1), 1, &["--check", &flag]);
    eventually("some runs", || check(&member).filter(|it| it["failed"].as_u64() >= Some(5)));
    let status = member.status().expect("it answers");
    assert_eq!((&status["role"], &status["term"]), (&"looking".into(), &Value::Null), "{status}");
    std::fs::write(file, "").expect("there is room");
    member.error("check flag is well; the member may lead");
    member.becomes("leader");
}

#[test]
fn a_member_leads_while_a_process_of_that_name_runs() {
    let folder = Folder::new("process");
    let name = format!("bw-p{}", std::process::id());
    let program = folder.file(&name);
    std::fs::copy("/bin/sleep", &program).expect("there is a sleep");
    let mut process = std::process::Command::new(&program).arg("1000").spawn().expect("it starts");
    let flag = format!("process={name},interval=100ms");
    let member = Member::start(&folder, &peers(1), 1, &["--check", &flag]);
    member.becomes("leader");
    process.kill().expect("it is ours");
    member.error(&format!("check {name} fails: no process has that name"));
    member.becomes("looking");
    process.wait().expect("it is ours");
}

#[test]
fn hooks_are_told_of_the_fault_and_of_its_end() {
    let folder = Folder::new("fault");
    let log = folder.file("states").display().to_string();
    let hook = folder.script("hook", &format!("echo $3 >> {log}")).display().to_string();
    let flag = format!("exec={},interval=100ms", while_well(&folder));
    set_well(&folder, 1, true);
    let flags = ["--check", &flag, "--on-change", &hook];
    let mut member = Member::start(&folder, &peers(1), 1, &flags);
    let told = |state: &str| {
        eventually(state, || (folder.text("states").lines().last() == Some(state)).then_some(()));
    };
    told("MASTER");
    set_well(&folder, 1, false);
    told("FAULT");
    set_well(&folder, 1, true);
    told("MASTER");
    assert_eq!(member.end().0, Some(0));
    told("STOP");
}
