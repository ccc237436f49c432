//! The command that runs while its member leads: how it starts, ends, and what is passed on.

use super::member::{Folder, Member, eventually, lives, peers, refusal};
use rustix::process::{Pid, Signal, kill_process};

/// A list of one with this command.
fn member(folder: &Folder, flags: &[&str], script: &str) -> Member {
    let rest: Vec<&str> = flags.iter().copied().chain(["--", "sh", "-c", script]).collect();
    Member::start(folder, &peers(1), 1, &rest)
}

#[test]
fn a_command_that_exits_ends_the_member_with_its_code() {
    let folder = Folder::new("code");
    let mut seven = member(&folder, &[], "echo $BELLWETHER_GROUP $BELLWETHER_ID; exit 7");
    assert_eq!(seven.next_line().as_deref(), Some("web 1"), "and nothing else is written");
    assert_eq!(seven.code(), Some(7));
    let folder = Folder::new("signalled");
    assert_eq!(member(&folder, &[], "kill -KILL $$").code(), Some(128 + 9));
    // One that was there when the member began, and then is not.
    let folder = Folder::new("missing");
    let vanishes = folder.script("vanishes", "rm \"$0\"; exit 1").display().to_string();
    let mut missing = Member::start(&folder, &peers(1), 1, &["--restart", "--", &vanishes]);
    missing.error("cannot start the command");
    assert_eq!(missing.code(), Some(127));
}

/// A follower may lead later: whoever started it must hear of the mistake now.
#[test]
fn a_command_that_is_not_there_is_refused_at_the_start_whoever_leads() {
    let folder = Folder::new("absent");
    let flags = format!("run web --peers {} --id 2 --dir {} --insecure", peers(3), folder.dir());
    std::fs::write(folder.file("text"), "no program").expect("there is room");
    for (program, why) in [
        ("/no/such/program", "command /no/such/program: No such file"),
        ("no-such-program", "command no-such-program: no program in the PATH has that name"),
        ("./work", "command ./work: No such file"),
        (&folder.file("text").display().to_string(), "is no program; chmod +x it?"),
        (&folder.0.display().to_string(), "is no program; chmod +x it?"),
    ] {
        let line = refusal(&super::member::bellwether(&format!("{flags} -- {program}")), 78);
        assert!(line.contains(why), "{line}");
    }
}

#[test]
fn a_command_is_looked_for_where_the_system_looks_for_it() {
    let folder = Folder::new("where");
    folder.script("work", "echo here; exit 5");
    for program in ["./work", "work"] {
        let mut run = super::member::command(&format!(
            "run web --peers {} --dir {} --insecure --preset wan -- {program}",
            peers(1),
            folder.dir()
        ));
        let path = format!("{}:{}", folder.0.display(), std::env::var("PATH").unwrap_or_default());
        run.current_dir(&folder.0).env("PATH", path);
        let mut member = Member::spawn(run, &folder.dir(), 1);
        assert_eq!(member.next_line().as_deref(), Some("here"), "{program}");
        assert_eq!(member.code(), Some(5), "{program}");
    }
}

/// For people who look at a terminal or a journal: what happens, and when.
#[test]
fn changes_and_the_fate_of_the_command_are_told_on_the_standard_error_with_the_time() {
    let folder = Folder::new("told");
    let script =
        format!("[ -e {0} ] && exec sleep 1000; touch {0}; exit 3", folder.0.join("x").display());
    let mut member = member(&folder, &["--restart"], &script);
    let stamped = |line: &str| {
        let (wall, rest) = line.strip_prefix("bellwether: ")?.split_once(" [")?;
        let since_boot = rest.split_once("] ")?.0.trim().parse::<f64>().ok()?;
        let is_wall = wall.len() == 24 && wall.starts_with("20") && wall.ends_with('Z');
        (is_wall && since_boot > 0.0).then_some(())
    };
    for said in [
        "member 1 leads web, for ",
        "the command runs as process ",
        "the command exited with code 3; it is started again in 0.1s",
        "the command runs as process ",
    ] {
        let line = member.error(said);
        assert!(stamped(&line).is_some(), "{line}");
    }
    assert!(member.ask("resign").status.success());
    member.error("the command was ended");
    member.error("member 1 of web looks for a leader; it leads no longer");
    member.error("the command runs as process ");
    assert_eq!(member.end().0, Some(0));
}

#[test]
fn a_command_that_is_to_be_restarted_runs_again_and_again() {
    let folder = Folder::new("restart");
    let mut member = member(&folder, &["--restart"], "echo run; exit 1");
    for _ in 0..3 {
        assert_eq!(member.next_line().as_deref(), Some("run"));
    }
    member.signal(Signal::TERM);
    assert_eq!(member.code(), Some(0));
}

#[test]
fn whoever_is_not_elected_in_time_ends_with_124() {
    let folder = Folder::new("late");
    let mut alone =
        Member::start(&folder, &peers(2), 1, &["--elected-within", "500ms", "--", "echo", "no"]);
    alone.error("it was not elected within 0.5s");
    assert_eq!(alone.code(), Some(124));
    assert_eq!(alone.next_line(), None, "its command never ran");
}

#[test]
fn whoever_is_not_elected_in_time_is_told_which_names_are_not_found() {
    let folder = Folder::new("nameless");
    let list = format!("{},2=nobody.invalid:7400", peers(1));
    // Longer than the look-up takes, and than it takes until it says that nobody leads.
    let mut alone = Member::start(&folder, &list, 1, &["--elected-within", "15s"]);
    let line = alone.error("knows of no leader");
    assert!(line.starts_with("bellwether: 20") && line.contains("Z ["), "{line}");
    let line = alone.error("it was not elected within 15s");
    assert!(line.ends_with("15s: nobody.invalid:7400 cannot be found by name"), "{line}");
    assert_eq!(alone.code(), Some(124));
}

#[test]
fn leadership_that_is_lost_ends_a_member_with_75_if_it_is_to_lead_but_once() {
    let folder = Folder::new("once");
    let mut member = member(&folder, &["--once"], "echo $$; exec sleep 1000");
    let pid: u32 = member.next_line().and_then(|pid| pid.parse().ok()).expect("it tells");
    assert!(member.ask("resign").status.success());
    assert!(!lives(pid), "it was gone before the leadership was");
    assert_eq!(member.code(), Some(75));
}

#[test]
fn a_leader_that_resigns_ends_its_command_and_starts_it_when_it_leads_again() {
    let folder = Folder::new("again");
    let mut member = member(&folder, &[], "echo $$; exec sleep 1000");
    let pid = |member: &Member| -> u32 {
        member.next_line().and_then(|pid| pid.parse().ok()).expect("it tells")
    };
    let first = pid(&member);
    assert!(member.ask("resign").status.success());
    assert!(!lives(first), "it was gone before the leadership was");
    let second = pid(&member);
    assert_ne!(first, second);
    member.signal(Signal::TERM);
    assert_eq!(member.code(), Some(0));
    assert!(!lives(second));
}

#[test]
fn at_sigterm_the_command_is_gone_before_the_member_leaves() {
    let folder = Folder::new("order");
    let (trace, done) = (folder.file("trace"), folder.file("done"));
    let script = format!(
        "trap 'sleep .1; cut -d\" \" -f1 /proc/uptime > {}; exit 0' TERM; echo up; \
         while :; do sleep .01; done",
        done.display()
    );
    let trace = trace.display().to_string();
    let flags = ["--record", &trace, "--grace", "250ms", "--margin", "90ms"];
    let mut member = member(&folder, &flags, &script);
    assert_eq!(member.next_line().as_deref(), Some("up"));
    member.signal(Signal::TERM);
    assert_eq!(member.code(), Some(0));
    let done: f64 = folder.text("done").trim().parse().expect("the command had its grace");
    let records = folder.text("trace");
    let left = records
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .find(|record| record["kind"] == "leave");
    let left = left.unwrap_or_else(|| panic!("no farewell in {records}"));
    let left = left["t"].as_f64().expect("records have times") / 1e9;
    assert!(done <= left, "the command ended at {done}, the member left at {left}");
}

#[test]
fn signals_that_are_not_ours_go_to_the_command() {
    let folder = Folder::new("forward");
    let script = "trap 'echo one' USR1; trap 'echo two' USR2; echo up; \
                  while :; do sleep .01; done";
    let member = member(&folder, &[], script);
    assert_eq!(member.next_line().as_deref(), Some("up"));
    member.signal(Signal::USR1);
    assert_eq!(member.next_line().as_deref(), Some("one"));
    member.signal(Signal::USR2);
    assert_eq!(member.next_line().as_deref(), Some("two"));
}

#[test]
fn a_guardian_that_dies_takes_the_command_along_and_another_guards_the_next() {
    let folder = Folder::new("guardian");
    let mut member = member(&folder, &[], "echo $PPID $$; exec sleep 1000");
    let pids = |member: &Member| -> [u32; 2] {
        let line = member.next_line().expect("it tells");
        let mut pids = line.split(' ').map(|pid| pid.parse().expect("it is a number"));
        [pids.next().expect("its guardian"), pids.next().expect("itself")]
    };
    let [guardian, first] = pids(&member);
    assert_ne!(guardian, member.pid());
    let proc = |pid: u32, file: &str| {
        std::fs::read_to_string(format!("/proc/{pid}/{file}")).expect("it is there")
    };
    let parent = |pid: u32| -> u32 {
        let status = proc(pid, "status");
        let line = status.lines().find_map(|line| line.strip_prefix("PPid:")).expect("it tells");
        line.trim().parse().expect("it is a number")
    };
    for (pid, name) in [(guardian, "guardian"), (parent(guardian), "watchdog")] {
        assert_eq!(proc(pid, "comm"), format!("bw-{name}\n"));
        assert!(proc(pid, "cmdline").starts_with(&format!("bellwether-{name}\0guard")));
    }
    let pid = i32::try_from(guardian).ok().and_then(Pid::from_raw).expect("it is a process");
    kill_process(pid, Signal::KILL).expect("it is there");
    member.error("the guardian was lost");
    assert!(!lives(first));
    let [other, second] = pids(&member);
    assert!(other != guardian && second != first);
    member.signal(Signal::TERM);
    assert_eq!(member.code(), Some(0));
    eventually("the end of the command", || (!lives(second)).then_some(()));
}

/// How often a member said so, until its end.
fn losses(member: &Member) -> usize {
    let errors = member.last_errors();
    let lost = errors.iter().filter(|line| line.contains("the guardian was lost")).count();
    assert_eq!(lost, errors.iter().filter(|line| line.contains("lost")).count(), "{errors:?}");
    lost
}

/// The guardian of a command that tells it, as `echo $PPID`.
fn guardian(member: &Member) -> Pid {
    let line = member.next_line().expect("it tells");
    line.parse().ok().and_then(Pid::from_raw).expect("it is a number")
}

#[test]
fn a_guardian_is_lost_once_for_each_kill_and_never_by_a_sigterm_to_the_member() {
    let folder = Folder::new("kills");
    let mut killed = member(&folder, &[], "echo $PPID; exec sleep 1000");
    for _ in 0..3 {
        kill_process(guardian(&killed), Signal::KILL).expect("it is there");
    }
    guardian(&killed);
    assert_eq!(killed.end().0, Some(0));
    assert_eq!(losses(&killed), 3);
    for turn in 0..10 {
        let folder = Folder::new("terms");
        let mut ended = member(&folder, &[], "echo $PPID; exec sleep 1000");
        guardian(&ended);
        assert_eq!(ended.end().0, Some(0));
        assert_eq!(losses(&ended), 0, "turn {turn}");
    }
}

/// Not killed by anybody but its member, which says so.
#[test]
fn a_guardian_that_stands_still_with_its_watchdog_is_lost_because_it_does_not_answer() {
    let folder = Folder::new("still");
    let mut member = member(&folder, &[], "echo $PPID; exec sleep 1000");
    let guardian = guardian(&member);
    let status = std::fs::read_to_string(format!("/proc/{guardian}/status")).expect("it is there");
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).expect("it tells");
    let watchdog = parent.trim().parse().ok().and_then(Pid::from_raw).expect("it is a number");
    for pid in [watchdog, guardian] {
        kill_process(pid, Signal::STOP).expect("it is there");
    }
    let line = member.error("the guardian was lost");
    assert!(line.contains(": it did not answer in time, and was killed"), "{line}");
    assert_eq!(member.end().0, Some(0));
}

#[test]
fn a_grace_that_does_not_fit_the_lease_is_refused_with_the_inequality() {
    let folder = Folder::new("fits");
    let flags = format!(
        "run web --peers {} --dir {} --insecure --grace 80ms -- true",
        peers(1),
        folder.dir()
    );
    let line = refusal(&super::member::bellwether(&flags), 78);
    assert!(line.contains("grace 0.08s") && line.contains("> lease 0.14974s"), "{line}");
}
