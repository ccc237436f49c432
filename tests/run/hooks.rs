//! Programs that are told of changes.

use super::member::{Folder, Member, command, eventually, leader, lives, now, peers};
use rustix::process::Signal;
use serde_json::Value;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

#[test]
fn hooks_are_told_in_order_with_arguments_environment_and_the_change_on_stdin() {
    let folder = Folder::new("hooks");
    let log = folder.file("log").display().to_string();
    let first = folder.script(
        "first",
        &format!(
            "echo \"first $* $BELLWETHER_GROUP $BELLWETHER_ID $BELLWETHER_ROLE $BELLWETHER_LEADER \
         ${{BELLWETHER_UNTIL_MS:+timed}}\" >> {log}; cat >> {log}.json; echo chatter"
        ),
    );
    let second = folder.script("second", &format!("echo \"second $*\" >> {log}; exit 3"));
    let hooks = [first, second].map(|hook| hook.display().to_string());
    let flags =
        ["--on-change", &hooks[0], "--on-change", &hooks[1], "--rank", "9", "--format", "json"];
    let mut member = Member::start(&folder, &peers(1), 1, &flags);
    member.becomes("leader");
    eventually("the leader's hooks", || {
        folder.text("log").contains("second INSTANCE web MASTER 9").then_some(())
    });
    let warnings = member.becomes("leader")["warnings"].to_string();
    assert!(warnings.contains("calls of hooks failed, the last:"), "{warnings}");
    member.signal(Signal::TERM);
    assert_eq!(member.code(), Some(0));
    let log = folder.text("log");
    let lines: Vec<&str> = log.lines().collect();
    let expected = [
        "first INSTANCE web BACKUP 9 web 1 looking  ",
        "second INSTANCE web BACKUP 9",
        "first INSTANCE web MASTER 9 web 1 leader 1 timed",
        "second INSTANCE web MASTER 9",
    ];
    assert_eq!(lines[..4], expected);
    assert!(lines[lines.len() - 1].starts_with("second INSTANCE web STOP 9"), "{log}");
    let told: Vec<Value> = folder
        .text("log.json")
        .lines()
        .map(|line| serde_json::from_str(line).expect("it is JSON"))
        .collect();
    assert_eq!((&told[0]["role"], &told[1]["role"]), (&"looking".into(), &"leader".into()));
    while let Some(line) = member.next_line() {
        assert!(!line.contains("chatter"), "what hooks print is not for programs");
    }
    member.error("second: it failed at BACKUP: exit status: 3");
}

#[test]
fn a_hook_that_hangs_is_killed_with_all_it_started_and_holds_up_nothing() {
    let folder = Folder::new("hang");
    let pid = folder.file("pid").display().to_string();
    let hook = folder.script("hook", &format!("sleep 1000 & echo $! > {pid}; wait"));
    let hook = hook.display().to_string();
    let flags = ["--on-change", &hook, "--hook-timeout", "300ms"];
    let mut member = Member::start(&folder, &peers(1), 1, &flags);
    member.becomes("leader");
    member.error("it took longer than 0.3s at BACKUP, and was killed");
    member.signal(Signal::TERM);
    member.error("it took longer than 0.3s at STOP, and was killed");
    assert_eq!(member.code(), Some(0));
    let last: u32 = folder.text("pid").trim().parse().expect("it told");
    eventually("the end of what it started", || (!lives(last)).then_some(()));
}

#[test]
fn a_state_that_is_over_before_its_turn_is_skipped_and_the_last_one_is_told() {
    let folder = Folder::new("stale");
    let (log, go) = (folder.file("log").display().to_string(), folder.file("go"));
    let script = format!(
        "echo \"$3 $BELLWETHER_REIGN [$BELLWETHER_TERM] $BELLWETHER_UNTIL_MS $(cut -d' ' -f1 \
         /proc/uptime)\" >> {log}; until [ -e {} ]; do sleep .02; done",
        go.display()
    );
    let hook = folder.script("hook", &script).display().to_string();
    let mut member = Member::start(&folder, &peers(1), 1, &["--on-change", &hook]);
    member.becomes("leader");
    let first = member.becomes("leader");
    // A hand-over would wait for the hook; a lease that is lost does not.
    let lease = first["renew_deadline_ms"].as_f64().expect("it has a lease");
    member.signal(Signal::STOP);
    thread::sleep(Duration::from_secs_f64(lease / 1e3 * 2.0));
    member.signal(Signal::CONT);
    eventually("another reign", || {
        let status = member.status()?;
        (status["role"] == "leader" && status["term"] != first["term"]).then_some(())
    });
    let warnings = member.becomes("leader")["warnings"].to_string();
    assert!(warnings.contains("skipped: the state was over before"), "{warnings}");
    assert!(!warnings.contains("failed"), "{warnings}");
    std::fs::write(&go, "").expect("there is room");
    let told = eventually("the last state", || {
        folder.text("log").lines().find(|line| line.starts_with("MASTER")).map(str::to_owned)
    });
    let words: Vec<&str> = told.split(' ').collect();
    assert_eq!(words[1], "2", "the first reign was over: {told}");
    let token = words[2].trim_matches(['[', ']']).parse::<u64>();
    assert_eq!(token.ok(), member.becomes("leader")["term"].as_u64(), "{told}");
    let until: f64 = words[3].parse().expect("it has a deadline");
    let now: f64 = words[4].parse().expect("it tells the time");
    assert!(until / 1e3 >= now, "a lease that was over when the hook was called: {told}");
    assert_eq!(member.end().0, Some(0));
    assert!(folder.text("log").lines().last().is_some_and(|line| line.starts_with("STOP 2")));
}

#[test]
fn a_hook_that_runs_as_master_is_killed_when_leadership_ends() {
    let folder = Folder::new("cut");
    let (log, pid) = (folder.file("log").display().to_string(), folder.file("pid"));
    let script = format!(
        "echo \"$3 $BELLWETHER_REIGN\" >> {log}; [ \"$3 $BELLWETHER_REIGN\" = 'MASTER 1' ] || exit 0
         sleep 1000 & echo $! > {}; wait",
        pid.display()
    );
    let hook = folder.script("hook", &script).display().to_string();
    let flags = ["--on-change", &hook, "--hook-timeout", "500s"];
    let mut member = Member::start(&folder, &peers(1), 1, &flags);
    let sleeper = eventually("the hook", || folder.text("pid").trim().parse::<u32>().ok());
    thread::sleep(Duration::from_millis(1500));
    assert!(lives(sleeper), "the lease is renewed, and the hook runs on");
    assert!(member.ask("resign").status.success());
    eventually("the end of the hook", || (!lives(sleeper)).then_some(()));
    member.error("it was killed at MASTER: the member leads no longer");
    eventually("the next reign", || folder.text("log").contains("MASTER 2").then_some(()));
    let warnings = member.becomes("leader")["warnings"].to_string();
    assert!(warnings.contains("1 call of hooks was cut short"), "{warnings}");
    assert_eq!(member.end().0, Some(0));
}

#[test]
fn the_end_waits_for_hooks_no_longer_than_one_and_each_may_take() {
    let folder = Folder::new("bound");
    let hooks = ["one", "two", "three"].map(|name| {
        let script = format!("echo {name} $3 >> {}; sleep 1000", folder.file("log").display());
        folder.script(name, &script).display().to_string()
    });
    let mut flags = vec!["--hook-timeout", "1s"];
    hooks.iter().for_each(|hook| flags.extend(["--on-change", hook]));
    let mut member = Member::start(&folder, &peers(1), 1, &flags);
    member.becomes("leader");
    let (code, took) = member.end();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(7), "{took:?}, of which 4 s are for hooks");
    let log = folder.text("log");
    assert!(log.ends_with("one STOP\ntwo STOP\nthree STOP\n"), "{log}");
}

/// Three members with a hook that writes into one log when it begins and when it ends. A hook of a
/// member that has led goes on until there is a file of the member's number, but at MASTER.
struct Trio {
    folder: Folder,
    list: String,
    hook: String,
}

impl Trio {
    fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        let (log, go) = (folder.file("log").display().to_string(), folder.file("go"));
        let script = format!(
            "echo \"$BELLWETHER_ID $3 $BELLWETHER_REIGN begins\" >> {log}
             if [ $3 != MASTER ] && [ $BELLWETHER_REIGN -gt 0 ]; then
                 until [ -e {}.$BELLWETHER_ID ]; do sleep .02; done
             fi
             echo \"$BELLWETHER_ID $3 $BELLWETHER_REIGN ends\" >> {log}",
            go.display()
        );
        let hook = folder.script("hook", &script).display().to_string();
        Self { list: peers(3), hook, folder }
    }

    fn start(&self, id: u64, flags: &[&str], timeout: &str) -> Member {
        let own = ["--on-change", &self.hook, "--hook-timeout", timeout];
        Member::start(&self.folder, &self.list, id, &[&own, flags].concat())
    }

    /// Lets the hook of this member go on.
    fn go(&self, id: u64) {
        std::fs::write(self.folder.file(&format!("go.{id}")), "").expect("there is room");
    }

    /// The first line of the log that is one of these, and its place.
    fn place(&self, like: impl Fn(&str) -> bool) -> Option<usize> {
        self.folder.text("log").lines().position(like)
    }

    fn wait_for(&self, line: &str) -> usize {
        eventually(line, || self.place(|it| it == line))
    }

    /// Waits until a member other than this one is called at MASTER; who it is.
    fn next_master(&self, former: u64) -> u64 {
        eventually("the next leader's hook", || {
            let mut others = (1..=3).filter(|id| *id != former);
            others.find(|id| self.place(|it| it == format!("{id} MASTER 1 begins")).is_some())
        })
    }

    /// The hooks of a leader were called in this state, and have not returned: waits until its
    /// lease was renewed again and again, and sees that nobody else leads.
    fn leads_on(&self, leader: &Member, state: &str) {
        let id = leader.id();
        self.wait_for(&format!("{id} {state} 1 begins"));
        let first = leader.becomes("leader");
        let lease = first["renew_deadline_ms"].as_f64().expect("it has a lease");
        let begun = now();
        while (now() - begun).as_secs_f64() * 1e3 < 3.0 * lease {
            let status = leader.status().expect("it answers");
            let same = status["role"] == "leader" && status["term"] == first["term"];
            assert!(same, "it leads on: {status}");
            thread::sleep(Duration::from_millis(100));
        }
        let other = self.place(|it| !it.starts_with(&id.to_string()) && it.contains("MASTER"));
        assert_eq!(other, None, "{}", self.folder.text("log"));
    }

    /// The hook of the former leader returns; sees that the next one leads after that.
    fn returns(&self, former: u64, state: &str) {
        self.go(former);
        let next = self.next_master(former);
        let ends = self.wait_for(&format!("{former} {state} 1 ends"));
        let begins = self.wait_for(&format!("{next} MASTER 1 begins"));
        assert!(ends < begins, "{}", self.folder.text("log"));
    }
}

/// Whoever asked for a hand-over is answered when it is done, and the command has ended before the
/// hooks are called.
#[test]
fn a_leader_that_is_asked_to_hand_over_leads_on_until_its_hooks_have_returned() {
    for what in ["resign web", "transfer web"] {
        let trio = Trio::new(&format!("farewell-{}", what.len()));
        let log = trio.folder.file("log").display().to_string();
        let worker = format!(
            "trap 'echo \"$BELLWETHER_ID command ends\" >> {log}; exit 0' TERM
             while :; do sleep .05; done"
        );
        let worker = trio.folder.script("worker", &worker).display().to_string();
        let members: Vec<Member> =
            (1..=3).map(|id| trio.start(id, &["--", &worker], "500s")).collect();
        let first = leader(&members);
        trio.wait_for(&format!("{first} MASTER 1 ends"));
        let leads = &members[first as usize - 1];
        leads.error("the command runs as process");
        let to = if what.starts_with("transfer") { first % 3 + 1 } else { 0 };
        let words = if to > 0 { format!("{what} {to}") } else { what.to_owned() };
        let mut asking = command(&format!("{words} --id {first} --dir {}", trio.folder.dir()));
        let mut asking = asking.stdout(Stdio::null()).spawn().expect("it starts");
        trio.leads_on(leads, "BACKUP");
        assert!(asking.try_wait().expect("it is ours").is_none(), "it is not done");
        trio.returns(first, "BACKUP");
        assert!(asking.wait().expect("it is ours").success(), "{words}");
        let ended = trio.wait_for(&format!("{first} command ends"));
        let told = trio.wait_for(&format!("{first} BACKUP 1 begins"));
        assert!(ended < told, "{}", trio.folder.text("log"));
        if to > 0 {
            assert_eq!(trio.next_master(first), to);
        }
        (1..=3).for_each(|id| trio.go(id));
    }
}

#[test]
fn a_leader_that_ends_leads_on_until_its_hooks_have_returned_and_tells_them_once() {
    let trio = Trio::new("farewell-end");
    let mut members: Vec<Member> = (1..=3).map(|id| trio.start(id, &[], "500s")).collect();
    let first = leader(&members);
    trio.wait_for(&format!("{first} MASTER 1 ends"));
    let leads = &mut members[first as usize - 1];
    leads.signal(Signal::TERM);
    trio.leads_on(leads, "STOP");
    trio.returns(first, "STOP");
    assert_eq!(leads.code(), Some(0));
    let stops = format!("{first} STOP 1 begins");
    let log = trio.folder.text("log");
    assert_eq!(log.lines().filter(|line| *line == stops).count(), 1, "{log}");
    let last = log.lines().rfind(|line| line.starts_with(&first.to_string()));
    assert_eq!(last, Some(format!("{first} STOP 1 ends").as_str()), "nothing after it: {log}");
    (1..=3).for_each(|id| trio.go(id));
}

#[test]
fn a_second_signal_does_not_wait_for_hooks_before_the_hand_over() {
    let trio = Trio::new("farewell-second");
    let mut members: Vec<Member> = (1..=3).map(|id| trio.start(id, &[], "500s")).collect();
    let first = leader(&members);
    members[first as usize - 1].signal(Signal::TERM);
    trio.wait_for(&format!("{first} STOP 1 begins"));
    members[first as usize - 1].signal(Signal::INT);
    trio.next_master(first);
    assert_eq!(trio.place(|it| it == format!("{first} STOP 1 ends")), None);
    (1..=3).for_each(|id| trio.go(id));
    assert_eq!(members[first as usize - 1].code(), Some(0));
}

#[test]
fn a_leader_whose_check_fails_or_that_yields_leads_on_until_its_hooks_have_returned() {
    let trio = Trio::new("farewell-check");
    let well = trio.folder.file("well").display().to_string();
    let probe = trio.folder.script("probe", &format!("[ -e {well}.$BELLWETHER_ID ]"));
    let set_well = |id: u64| std::fs::write(format!("{well}.{id}"), "").expect("there is room");
    (1..=3).for_each(set_well);
    let check = format!("exec={},interval=200ms,timeout=20s", probe.display());
    let members: Vec<Member> =
        (1..=3).map(|id| trio.start(id, &["--check", &check], "500s")).collect();
    let first = leader(&members);
    trio.wait_for(&format!("{first} MASTER 1 ends"));
    std::fs::remove_file(format!("{well}.{first}")).expect("it was well");
    trio.leads_on(&members[first as usize - 1], "FAULT");
    trio.returns(first, "FAULT");
    drop(members);

    let trio = Trio::new("farewell-better");
    let flags = ["--preempt", "--preempt-delay", "500ms"];
    let mut members: Vec<Member> = [1, 2].map(|id| trio.start(id, &flags, "500s")).into();
    let first = leader(&members);
    trio.wait_for(&format!("{first} MASTER 1 ends"));
    members.push(trio.start(3, &[&flags[..], &["--priority", "5"]].concat(), "500s"));
    trio.leads_on(&members[first as usize - 1], "BACKUP");
    trio.returns(first, "BACKUP");
    assert_eq!(trio.next_master(first), 3);
    (1..=3).for_each(|id| trio.go(id));
}

#[test]
fn a_hook_whose_time_is_over_does_not_keep_a_leader_from_handing_over() {
    let trio = Trio::new("farewell-long");
    let members: Vec<Member> = (1..=3).map(|id| trio.start(id, &[], "2s")).collect();
    let first = leader(&members);
    assert!(members[first as usize - 1].ask("resign").status.success());
    members[first as usize - 1].error("it took longer than 2s at BACKUP, and was killed");
    trio.next_master(first);
    (1..=3).for_each(|id| trio.go(id));
}

/// The hooks of a member that leads on know that, and those of one that leads no longer are not
/// told twice.
#[test]
fn hooks_are_told_once_of_a_hand_over_and_again_if_it_is_refused() {
    let folder = Folder::new("farewell-once");
    let log = folder.file("log").display().to_string();
    let hook = folder.script("hook", &format!("echo \"$3 $BELLWETHER_REIGN\" >> {log}"));
    let flags = ["--on-change", &hook.display().to_string()];
    let member = Member::start(&folder, &peers(1), 1, &flags);
    let told = |lines: &[&str]| {
        let lines = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        eventually(&lines, || (folder.text("log") == lines).then_some(()));
    };
    told(&["BACKUP 0", "MASTER 1"]);
    assert!(member.ask("resign").status.success());
    told(&["BACKUP 0", "MASTER 1", "BACKUP 1", "MASTER 2"]);
    drop(member);

    let trio = Trio::new("farewell-refused");
    let mut members: Vec<Member> = (1..=3).map(|id| trio.start(id, &[], "500s")).collect();
    let first = leader(&members);
    trio.wait_for(&format!("{first} MASTER 1 ends"));
    let second = first % 3 + 1;
    let words = format!("transfer web {second} --id {first} --dir {}", trio.folder.dir());
    let mut asking = command(&words).stderr(Stdio::null()).spawn().expect("it starts");
    trio.wait_for(&format!("{first} BACKUP 1 begins"));
    members.retain(|member| member.id() != second); // by SIGKILL
    let of = |id: u64| members.iter().find(|member| member.id() == id).expect("it runs");
    eventually("nobody hears the nominee", || {
        let status = of(first).status()?;
        let found = status["members"].as_array()?.iter().find(|it| it["id"] == second)?.clone();
        found["heard_ms"].as_f64().filter(|heard| *heard > 2_500.0)
    });
    trio.go(first);
    assert!(!asking.wait().expect("it is ours").success(), "the nominee has gone");
    let begins = format!("{first} MASTER 1 begins");
    eventually("it leads on", || {
        let log = trio.folder.text("log");
        (log.lines().filter(|line| **line == begins).count() == 2).then_some(())
    });
    assert_eq!(of(first).becomes("leader")["role"], "leader");
    (1..=3).for_each(|id| trio.go(id));
}

/// A lease that is lost does not wait for hooks, so those of two leaders overlap. The help and the
/// guide say so.
#[test]
fn a_former_leaders_hook_may_still_run_while_the_next_leaders_does_if_the_lease_was_lost() {
    let trio = Trio::new("overlap");
    let mut members: Vec<Member> = (1..=3).map(|id| trio.start(id, &[], "500s")).collect();
    let old = leader(&members);
    trio.wait_for(&format!("{old} MASTER 1 ends"));
    let words = format!("resign web --id {old} --dir {}", trio.folder.dir());
    let mut asking = command(&words).stderr(Stdio::null()).spawn().expect("it starts");
    trio.wait_for(&format!("{old} BACKUP 1 begins"));
    members[old as usize - 1].signal(Signal::STOP);
    let new = trio.next_master(old);
    trio.wait_for(&format!("{new} MASTER 1 ends"));
    let ended = trio.place(|it| it == format!("{old} BACKUP 1 ends"));
    assert_eq!(ended, None, "it still runs: {}", trio.folder.text("log"));
    members[old as usize - 1].signal(Signal::CONT);
    asking.wait().expect("it is ours"); // refused: that lease ended by itself
    (1..=3).for_each(|id| trio.go(id));
    members.iter_mut().for_each(|member| assert_eq!(member.end().0, Some(0)));
    let help = super::member::bellwether("run --help");
    let help =
        String::from_utf8_lossy(&help.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "Hooks are not exclusive all the same: if the lease is lost nothing waits for them, \
                so a former leader's hook may still run while the next leader's MASTER hook runs.";
    assert!(help.contains(said), "{help}");
}

/// The children of a process that have ended and were not reaped.
fn zombies(parent: u32) -> usize {
    let processes = std::fs::read_dir("/proc").expect("there is /proc").flatten();
    let stats = processes.filter_map(|it| std::fs::read_to_string(it.path().join("stat")).ok());
    let is_one = |stat: &String| {
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        fields.next() == Some("Z") && fields.next() == Some(&parent.to_string())
    };
    stats.filter(is_one).count()
}

/// Beside a command a member is the parent of every orphan that descends from it.
#[test]
fn what_a_hook_leaves_behind_is_reaped_when_it_ends() {
    let folder = Folder::new("orphans");
    let (left, go) = (folder.file("left"), folder.file("go"));
    let script = format!(
        "[ -e {0} ] || {{ touch {0}; (until [ -e {1} ]; do sleep .05; done) & }}",
        left.display(),
        go.display()
    );
    let hook = folder.script("hook", &script).display().to_string();
    let flags = ["--on-change", &hook, "--", "sleep", "1000"];
    let mut member = Member::start(&folder, &peers(1), 1, &flags);
    member.becomes("leader");
    eventually("the hook", || left.exists().then_some(()));
    std::fs::write(&go, "").expect("there is room");
    eventually("the end of what it left", || (zombies(member.pid()) > 0).then_some(()));
    assert!(member.ask("resign").status.success());
    eventually("nobody unreaped", || (zombies(member.pid()) == 0).then_some(()));
    assert_eq!(member.end().0, Some(0));
}
