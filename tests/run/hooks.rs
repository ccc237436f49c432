//! Programs that are told of changes.

use super::member::{Folder, Member, eventually, leader, lives, peers};
use rustix::process::Signal;
use serde_json::Value;

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

/// How often a member's state has changed.
fn changes(member: &Member) -> u64 {
    member.status().and_then(|status| status["changes"].as_u64()).unwrap_or_default()
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
    let before = changes(&member);
    assert!(member.ask("resign").status.success());
    eventually("another reign", || (changes(&member) >= before + 2).then_some(()));
    let warnings = member.becomes("leader")["warnings"].to_string();
    assert!(warnings.contains("skipped: the state was over before their turn came"), "{warnings}");
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
    std::thread::sleep(std::time::Duration::from_millis(1500));
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
    assert!(took < std::time::Duration::from_secs(7), "{took:?}, of which 4 s are for hooks");
    let log = folder.text("log");
    assert!(log.ends_with("one STOP\ntwo STOP\nthree STOP\n"), "{log}");
}

/// Nothing waits for hooks, so those of two leaders overlap. The help and the guide say so.
#[test]
fn a_former_leaders_hook_may_still_run_while_the_next_leaders_does() {
    let folder = Folder::new("overlap");
    let (log, go) = (folder.file("log").display().to_string(), folder.file("go"));
    // At BACKUP, after it has led, it goes on until the test has seen the next leader's hook.
    let script = format!(
        "echo \"$BELLWETHER_ID $3 begins\" >> {log}
         if [ $3 = BACKUP ] && [ $BELLWETHER_REIGN -gt 0 ]; then
             until [ -e {} ]; do sleep .02; done
         fi
         echo \"$BELLWETHER_ID $3 ends\" >> {log}",
        go.display()
    );
    let hook = folder.script("hook", &script).display().to_string();
    let list = peers(3);
    let flags = ["--on-change", &hook, "--hook-timeout", "500s"];
    let mut members: Vec<Member> =
        (1..=3).map(|id| Member::start(&folder, &list, id, &flags)).collect();
    let old = leader(&members);
    let told = |line: &str| folder.text("log").lines().any(|it| it == line);
    eventually("its hook", || told(&format!("{old} MASTER ends")).then_some(()));
    // It was called at the start, too.
    let backups = || {
        let begins = format!("{old} BACKUP begins");
        folder.text("log").lines().filter(|it| **it == begins).count()
    };
    let earlier = backups();
    assert!(members[old as usize - 1].ask("resign").status.success());
    eventually("the former leader's hook", || (backups() > earlier).then_some(()));
    let new = eventually("the next leader's hook", || {
        let others = (1..=3).filter(|id| *id != old);
        others.into_iter().find(|id| told(&format!("{id} MASTER begins")))
    });
    eventually("its end", || told(&format!("{new} MASTER ends")).then_some(()));
    let before = folder.text("log");
    let begun = |line: &&str| **line == format!("{old} BACKUP begins");
    let ended = |line: &&str| **line == format!("{old} BACKUP ends");
    let count = |like: &dyn Fn(&&str) -> bool| before.lines().filter(|it| like(it)).count();
    assert!(count(&begun) > count(&ended), "it still runs: {before}");
    std::fs::write(&go, "").expect("there is room");
    members.iter_mut().for_each(|member| assert_eq!(member.end().0, Some(0)));
    let help = super::member::bellwether("run --help");
    let help =
        String::from_utf8_lossy(&help.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    let said = "Hooks are not exclusive: nothing waits for them, so a former leader's BACKUP hook \
                may still run while the next leader's MASTER hook runs.";
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
