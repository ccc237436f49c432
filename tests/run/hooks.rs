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
         /proc/uptime)\" >> {log}; while [ -d {} ] && ! [ -e {} ]; do sleep .02; done",
        folder.0.display(),
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
        let term = member.status()?["term"].as_u64()?;
        let of_term =
            |line: &&str| line.starts_with("MASTER") && line.contains(&format!("[{term}]"));
        folder.text("log").lines().find(of_term).map(str::to_owned)
    });
    assert!(!folder.text("log").contains("MASTER 1 "), "the first reign was over: {told}");
    let words: Vec<&str> = told.split(' ').collect();
    let until: f64 = words[3].parse().expect("it has a deadline");
    let now: f64 = words[4].parse().expect("it tells the time");
    assert!(until / 1e3 >= now, "a lease that was over when the hook was called: {told}");
    assert_eq!(member.end().0, Some(0));
    assert!(folder.text("log").lines().last().is_some_and(|line| line.starts_with("STOP")));
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
    member.error("it was killed at MASTER: the member is about to hand over");
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

/// Leases of a second and a half, and some that outlast every stall of a busy machine.
const WAN: [&str; 2] = ["--preset", "wan"];
const STEADY: [&str; 2] = ["--lease", "6s"];

fn start(folder: &Folder, list: &str, id: u64, flags: &[&[&str]]) -> Member {
    let dir = folder.dir();
    let mut run = command(&format!("run web --peers {list} --id {id} --dir {dir} --insecure"));
    run.args(flags.concat());
    Member::spawn(run, &dir, id)
}

/// Three members with a hook that writes into one log when it begins and when it ends. Unless at
/// MASTER it goes on while there is a file of the member's number.
struct Trio {
    folder: Folder,
    list: String,
    hook: String,
    pace: [&'static str; 2],
}

/// A leader that is to hand over: in this reign, and after so many lines of the log. Whoever led
/// before while the members started does not matter.
#[derive(Clone, Copy)]
struct Former {
    id: u64,
    reign: u64,
    from: usize,
}

impl Former {
    fn index(self) -> usize {
        self.id as usize - 1
    }
}

impl Trio {
    fn new(name: &str, pace: [&'static str; 2]) -> Self {
        let folder = Folder::new(name);
        let (log, held) = (folder.file("log").display().to_string(), folder.file("held"));
        let script = format!(
            "echo \"$BELLWETHER_ID $3 $BELLWETHER_REIGN begins\" >> {log}
             while [ $3 != MASTER ] && [ -e {}.$BELLWETHER_ID ]; do sleep .02; done
             echo \"$BELLWETHER_ID $3 $BELLWETHER_REIGN ends\" >> {log}",
            held.display()
        );
        let hook = folder.script("hook", &script).display().to_string();
        Self { list: peers(3), hook, folder, pace }
    }

    fn start(&self, id: u64, flags: &[&str], timeout: &str) -> Member {
        let own = ["--on-change", &self.hook, "--hook-timeout", timeout];
        start(&self.folder, &self.list, id, &[&self.pace, &own, flags])
    }

    fn all(&self, flags: &[&str], timeout: &str) -> Vec<Member> {
        (1..=3).map(|id| self.start(id, flags, timeout)).collect()
    }

    /// Waits for a leader that all follow and whose hook has returned. Its next call goes on.
    fn hold(&self, members: &[Member]) -> Former {
        eventually("a leader whose hook has returned", || {
            let id = leader(members);
            let log = self.folder.text("log");
            let last = log.lines().rfind(|line| line.starts_with(&format!("{id} ")))?;
            let reign = last.strip_prefix(&format!("{id} MASTER "))?.strip_suffix(" ends")?;
            std::fs::write(self.folder.file(&format!("held.{id}")), "").expect("there is room");
            Some(Former { id, reign: reign.parse().ok()?, from: log.lines().count() })
        })
    }

    /// Lets the hook of this member return.
    fn go(&self, former: Former) {
        std::fs::remove_file(self.folder.file(&format!("held.{}", former.id))).expect("it is held");
    }

    /// The first line of the log from then on that is one of these, and its place.
    fn place(&self, from: usize, like: impl Fn(&str) -> bool) -> Option<usize> {
        self.folder.text("log").lines().skip(from).position(like).map(|place| from + place)
    }

    /// Whether the hook of the former leader has come so far in this state.
    fn place_of(&self, former: Former, state: &str, what: &str) -> Option<usize> {
        let Former { id, reign, from } = former;
        self.place(from, |line| line == format!("{id} {state} {reign} {what}"))
    }

    fn wait_for(&self, former: Former, state: &str, what: &str) -> usize {
        eventually(&format!("{state} {what}"), || self.place_of(former, state, what))
    }

    /// The place of the line that another member is called at MASTER, and who it is.
    fn other_master(&self, former: Former) -> Option<(usize, u64)> {
        let mut others = (1..=3).filter(|id| *id != former.id);
        others.find_map(|id| {
            let begins = format!("{id} MASTER ");
            let like = |it: &str| it.starts_with(&begins) && it.ends_with("begins");
            Some((self.place(former.from, like)?, id))
        })
    }

    fn next_master(&self, former: Former) -> (usize, u64) {
        eventually("the next leader's hook", || self.other_master(former))
    }

    /// The hooks of a leader were called in this state, and have not returned: waits until its
    /// lease was renewed, and sees that nobody else leads and what clients are told.
    fn leads_on(&self, leader: &Member, former: Former, state: &str) {
        self.wait_for(former, state, "begins");
        let waits = |status: &Value| status["handing_over"]["hooks"] == true;
        let first = eventually("it is told", || leader.status().filter(waits));
        let lease = first["lease_duration_ms"].as_f64().expect("it has a lease");
        let begun = now();
        while (now() - begun).as_secs_f64() * 1e3 <= lease {
            let status = leader.status().expect("it answers");
            let same = status["role"] == "leader" && status["term"] == first["term"];
            assert!(same && waits(&status), "it leads on: {status}");
            thread::sleep(Duration::from_millis(100));
        }
        let why = String::from_utf8(leader.ask("why").stdout).expect("it is text");
        assert!(why.contains("waits for its hooks, hands over"), "{why}");
        assert_eq!(self.other_master(former), None, "{}", self.folder.text("log"));
    }

    /// The hook of the former leader returns; sees that the next one, whose number it returns,
    /// leads after that.
    fn returns(&self, former: Former, state: &str) -> u64 {
        self.go(former);
        let (begins, next) = self.next_master(former);
        let ends = self.wait_for(former, state, "ends");
        assert!(ends < begins, "{}", self.folder.text("log"));
        next
    }
}

/// Whoever asked for a hand-over is answered when it is done, and the command has ended before the
/// hooks are called.
#[test]
fn a_leader_that_is_asked_to_hand_over_leads_on_until_its_hooks_have_returned() {
    for what in ["resign web", "transfer web"] {
        let trio = Trio::new(&format!("farewell-{}", what.len()), STEADY);
        let log = trio.folder.file("log").display().to_string();
        let worker = format!(
            "trap 'echo \"$BELLWETHER_ID command ends\" >> {log}; exit 0' TERM
             while :; do sleep .05; done"
        );
        let worker = trio.folder.script("worker", &worker).display().to_string();
        let members = trio.all(&["--", &worker], "500s");
        let first = trio.hold(&members);
        let leads = &members[first.index()];
        leads.error("the command runs as process");
        let to = if what.starts_with("transfer") { first.id % 3 + 1 } else { 0 };
        let words = if to > 0 { format!("{what} {to}") } else { what.to_owned() };
        let mut asking = command(&format!("{words} --id {} --dir {}", first.id, trio.folder.dir()));
        let mut asking = asking.stdout(Stdio::null()).spawn().expect("it starts");
        trio.leads_on(leads, first, "BACKUP");
        assert!(asking.try_wait().expect("it is ours").is_none(), "it is not done");
        let next = trio.returns(first, "BACKUP");
        assert!(asking.wait().expect("it is ours").success(), "{words}");
        let ended = trio.place(first.from, |it| it == format!("{} command ends", first.id));
        let told = trio.place_of(first, "BACKUP", "begins");
        assert!(ended.is_some() && ended < told, "{}", trio.folder.text("log"));
        assert!(to == 0 || to == next, "{to} was named, and {next} leads");
    }
}

#[test]
fn a_leader_that_ends_leads_on_until_its_hooks_have_returned_and_tells_them_once() {
    let trio = Trio::new("farewell-end", STEADY);
    let mut members = trio.all(&[], "500s");
    let first = trio.hold(&members);
    let leads = &mut members[first.index()];
    leads.signal(Signal::TERM);
    trio.leads_on(leads, first, "STOP");
    trio.returns(first, "STOP");
    assert_eq!(leads.code(), Some(0));
    let Former { id, reign, .. } = first;
    let stops = format!("{id} STOP {reign} begins");
    let log = trio.folder.text("log");
    assert_eq!(log.lines().filter(|line| *line == stops).count(), 1, "{log}");
    let last = log.lines().rfind(|line| line.starts_with(&format!("{id} ")));
    assert_eq!(last, Some(format!("{id} STOP {reign} ends").as_str()), "nothing after it: {log}");
}

#[test]
fn a_second_signal_does_not_wait_for_hooks_before_the_hand_over() {
    let trio = Trio::new("farewell-second", STEADY);
    let mut members = trio.all(&[], "500s");
    let first = trio.hold(&members);
    members[first.index()].signal(Signal::TERM);
    trio.wait_for(first, "STOP", "begins");
    members[first.index()].signal(Signal::INT);
    trio.next_master(first);
    assert_eq!(trio.place_of(first, "STOP", "ends"), None);
    trio.go(first);
    assert_eq!(members[first.index()].code(), Some(0));
}

#[test]
fn a_leader_whose_check_fails_or_that_yields_leads_on_until_its_hooks_have_returned() {
    let trio = Trio::new("farewell-check", STEADY);
    let well = trio.folder.file("well").display().to_string();
    let probe = trio.folder.script("probe", &format!("[ -e {well}.$BELLWETHER_ID ]"));
    let set_well = |id: u64| std::fs::write(format!("{well}.{id}"), "").expect("there is room");
    (1..=3).for_each(set_well);
    let check = format!("exec={},interval=200ms,timeout=20s", probe.display());
    let members = trio.all(&["--check", &check], "500s");
    let first = trio.hold(&members);
    std::fs::remove_file(format!("{well}.{}", first.id)).expect("it was well");
    trio.leads_on(&members[first.index()], first, "FAULT");
    trio.returns(first, "FAULT");
    drop(members);

    let trio = Trio::new("farewell-better", STEADY);
    let flags = ["--preempt", "--preempt-delay", "500ms"];
    let mut members: Vec<Member> = [1, 2].map(|id| trio.start(id, &flags, "500s")).into();
    let first = trio.hold(&members);
    members.push(trio.start(3, &[&flags[..], &["--priority", "5"]].concat(), "500s"));
    trio.leads_on(&members[first.index()], first, "BACKUP");
    assert_eq!(trio.returns(first, "BACKUP"), 3);
}

#[test]
fn a_hook_whose_time_is_over_does_not_keep_a_leader_from_handing_over() {
    let trio = Trio::new("farewell-long", STEADY);
    let members = trio.all(&[], "2s");
    let first = trio.hold(&members);
    assert!(members[first.index()].ask("resign").status.success());
    members[first.index()].error("it took longer than 2s at BACKUP, and was killed");
    trio.next_master(first);
}

/// The hooks of a member that leads on know that, and those of one that leads no longer are not
/// told twice.
#[test]
fn hooks_are_told_once_of_a_hand_over_and_again_if_it_is_refused() {
    let folder = Folder::new("farewell-once");
    let log = folder.file("log").display().to_string();
    let hook = folder.script("hook", &format!("echo \"$3 $BELLWETHER_REIGN\" >> {log}"));
    let flags = ["--on-change", &hook.display().to_string()];
    let member = start(&folder, &peers(1), 1, &[&STEADY, &flags]);
    // Also if it had to begin more than once.
    let leads_after = |reign: u64| {
        eventually("it leads", || {
            let log = folder.text("log");
            let now = log.lines().last()?.strip_prefix("MASTER ")?.parse().ok()?;
            (now > reign).then_some(now)
        })
    };
    let reign = leads_after(0);
    assert!(member.ask("resign").status.success());
    let next = leads_after(reign);
    let lines = folder.text("log");
    let told = format!("MASTER {reign}\nBACKUP {reign}\nMASTER {next}\n");
    assert!(lines.ends_with(&told) && next == reign + 1, "{lines}");
    drop(member);

    let trio = Trio::new("farewell-refused", WAN);
    let mut members = trio.all(&[], "500s");
    let first = trio.hold(&members);
    let second = first.id % 3 + 1;
    let words = format!("transfer web {second} --id {} --dir {}", first.id, trio.folder.dir());
    let mut asking = command(&words).stderr(Stdio::null()).spawn().expect("it starts");
    trio.wait_for(first, "BACKUP", "begins");
    members.retain(|member| member.id() != second); // by SIGKILL
    let leads = members.iter().find(|member| member.id() == first.id).expect("it runs");
    eventually("nobody hears the nominee", || {
        let status = leads.status()?;
        let found = status["members"].as_array()?.iter().find(|it| it["id"] == second)?.clone();
        found["heard_ms"].as_f64().filter(|heard| *heard > 2_500.0)
    });
    trio.go(first);
    assert!(!asking.wait().expect("it is ours").success(), "the nominee has gone");
    trio.wait_for(first, "MASTER", "begins");
    assert_eq!(leads.becomes("leader")["role"], "leader");
}

/// A lease that is lost does not wait for hooks, so those of two leaders overlap. The help and the
/// guide say so.
#[test]
fn a_former_leaders_hook_may_still_run_while_the_next_leaders_does_if_the_lease_was_lost() {
    let trio = Trio::new("overlap", WAN);
    let mut members = trio.all(&[], "500s");
    let old = trio.hold(&members);
    let words = format!("resign web --id {} --dir {}", old.id, trio.folder.dir());
    let mut asking = command(&words).stderr(Stdio::null()).spawn().expect("it starts");
    trio.wait_for(old, "BACKUP", "begins");
    members[old.index()].signal(Signal::STOP);
    let (_, new) = trio.next_master(old);
    let is_end = |it: &str| it.starts_with(&format!("{new} MASTER ")) && it.ends_with("ends");
    eventually("the end of the next leader's hook", || trio.place(old.from, is_end));
    let ended = trio.place_of(old, "BACKUP", "ends");
    assert_eq!(ended, None, "it still runs: {}", trio.folder.text("log"));
    members[old.index()].signal(Signal::CONT);
    asking.wait().expect("it is ours"); // refused: that lease ended by itself
    trio.go(old);
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
        "[ -e {0} ] || {{ touch {0}; (while [ -d {2} ] && ! [ -e {1} ]; do sleep .05; done) & }}",
        left.display(),
        go.display(),
        folder.0.display()
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
