//! A planned hand-over takes the time that the command needs to end, and no longer; a lease that is
//! lost does not wait.

use super::member::{
    Folder, Member, bellwether, command, eventually, leader, lives, now, peers, refusal,
};
use super::stalls::stalls;
use bellwether::core::Instant;
use rustix::process::Signal;
use serde_json::Value;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

/// What a worker writes into the log: what happened, whose it is, its process, and when.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    what: String,
    id: u64,
    pid: u32,
    at: f64,
}

/// The first lines of every worker. It writes what happens to it into one log for all.
fn says(folder: &Folder) -> String {
    format!(
        "say() {{ echo \"$1 $BELLWETHER_ID $$ $(cut -d' ' -f1 /proc/uptime)\" >> {}; }}",
        folder.file("log").display()
    )
}

/// A worker that takes 1.5 s to end.
fn slow(folder: &Folder) -> String {
    let script = format!(
        "{}\ntrap 'say asked; sleep 1.5; say end; exit 0' TERM\nsay begin\n\
         while :; do sleep .05; done",
        says(folder)
    );
    folder.script("slow", &script).display().to_string()
}

/// A worker that ends when a file of its member's number is there.
fn patient(folder: &Folder) -> String {
    let script = format!(
        "{}\nends() {{ say asked; while [ ! -e {}.$BELLWETHER_ID ]; do sleep .02; done; say end; \
         exit 0; }}\ntrap ends TERM\nsay begin\nwhile :; do sleep .05; done",
        says(folder),
        folder.file("go").display()
    );
    folder.script("patient", &script).display().to_string()
}

/// A worker that does not end.
fn stubborn(folder: &Folder) -> String {
    let script =
        format!("{}\ntrap 'say asked' TERM\nsay begin\nwhile :; do sleep .05; done", says(folder));
    folder.script("stubborn", &script).display().to_string()
}

fn log(folder: &Folder) -> Vec<Entry> {
    let entry = |line: &str| {
        let mut words = line.split(' ');
        let what = words.next()?.to_owned();
        let (id, pid) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(Entry { what, id, pid, at: words.next()?.parse().ok()? })
    };
    folder.text("log").lines().map(|line| entry(line).expect("workers write entries")).collect()
}

/// Waits until something happened to the worker of a member.
fn wait_for(folder: &Folder, what: &str, id: u64) -> Entry {
    eventually(what, || log(folder).into_iter().find(|entry| entry.what == what && entry.id == id))
}

fn group(folder: &Folder, flags: &[&str], worker: &str) -> Vec<Member> {
    let list = peers(3);
    let start = |id| {
        let record = folder.file(&format!("{id}.jsonl")).display().to_string();
        let words = format!(
            "run web --peers {list} --id {id} --dir {} --insecure --record {record}",
            folder.dir()
        );
        let mut run = command(&words);
        run.args(flags).args(["--", worker]);
        Member::spawn(run, &folder.dir(), id)
    };
    (1..=3).map(start).collect()
}

/// Asks a member for something that takes a while.
fn ask_later(folder: &Folder, what: &str, id: u64) -> Child {
    let mut asking = command(&format!("{what} --id {id} --dir {}", folder.dir()));
    asking.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command starts")
}

/// What was said in the end, and whether it was granted.
fn answer(asked: Child) -> (bool, String) {
    let output = asked.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.success(), said.into_owned())
}

/// Ends all members, and has their traces judged.
fn judge(folder: &Folder, members: &mut [Member]) {
    for member in members.iter_mut() {
        let id = member.id();
        std::fs::write(folder.file(&format!("go.{id}")), "").expect("there is room");
        member.signal(Signal::TERM);
    }
    for member in members {
        assert_eq!(member.code(), Some(0));
    }
    never_two(folder);
}

/// At no time did two lead, and at no time did two commands run.
fn never_two(folder: &Folder) {
    let files = (1..=3).map(|id| {
        let file = |kind: &str| folder.file(&format!("{id}.{kind}jsonl")).display().to_string();
        format!("{} {}", file(""), file("work."))
    });
    let files = files.collect::<Vec<_>>().join(" ");
    let output = bellwether(&format!("check --format json --trace {files}"));
    let verdict: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    for rule in ["never-two", "one-command", "command-within-lease"] {
        assert_eq!(verdict["invariants"][rule]["verdict"], "holds", "{rule}: {verdict}");
    }
}

/// The entries of the log without their times: each worker ends before the next begins.
fn story(folder: &Folder) -> Vec<(String, u64)> {
    log(folder).into_iter().map(|entry| (entry.what, entry.id)).collect()
}

fn expected(ids: &[u64], last: &[&str]) -> Vec<(String, u64)> {
    let all = |id: &u64| ["begin", "asked", "end"].map(|what| (what.to_owned(), *id));
    let (next, ended) = ids.split_last().expect("there is one");
    let last = last.iter().map(|what| ((*what).to_owned(), *next));
    ended.iter().flat_map(all).chain(last).collect()
}

/// From when to when members led, by what they recorded, in nanoseconds.
fn reigns(folder: &Folder) -> Vec<(u64, u64)> {
    let mut all = Vec::new();
    for id in 1..=3 {
        let mut since = None;
        for line in folder.text(&format!("{id}.jsonl")).lines() {
            let record: Value = serde_json::from_str(line).expect("it is JSON");
            let at = record["t"].as_u64().expect("it has a time");
            let leads = match record["kind"].as_str() {
                Some("leadership") => record["leaders"] == serde_json::json!([id]),
                Some("leave") => false,
                _ => continue,
            };
            match since {
                None if leads => since = Some(at),
                Some(begun) if !leads => {
                    all.push((begun, at));
                    since = None;
                }
                _ => {}
            }
        }
    }
    all.sort_unstable();
    all
}

/// The longest that a message and its answer take in a group with leases of six seconds (2Δ). In
/// fact it is far less, on one machine.
const ROUND_TRIP: bellwether::core::Duration = bellwether::core::Duration::from_millis(250);

/// By what members recorded, each of these leaders but the first led within a round trip of the
/// end of the former. Late wake-ups of the machine are forgiven.
fn follow_each_other(folder: &Folder, count: usize) {
    let all = reigns(folder);
    assert!(all.len() >= count, "{all:?}");
    for pair in all[..count].windows(2) {
        let [(_, end), (begin, _)] = [pair[0], pair[1]]
            .map(|(one, other)| (Instant::from_nanos(one), Instant::from_nanos(other)));
        let (took, stalls) = (begin.since(end), stalls().total_between(end, begin + ROUND_TRIP));
        println!("{took} from one leader to the next; the machine stalled for {stalls} meanwhile");
        assert!(took <= ROUND_TRIP + stalls, "{took}, and stalls of {stalls}: {all:?}");
    }
}

/// The lease is six seconds long, and renewed before half of it is over: whoever leads less than
/// three seconds after the end did not wait for that of the lease.
#[test]
fn a_command_that_takes_a_while_to_end_ends_undisturbed_and_the_next_begins_soon_after() {
    let folder = Folder::new("slow");
    stalls(); // from now on they are counted
    let mut members = group(&folder, &["--lease", "6s"], &slow(&folder));
    let first = leader(&members);
    wait_for(&folder, "begin", first);
    let (done, said) = answer(ask_later(&folder, "resign web", first));
    assert!(done, "{said}");
    let second = leader(&members);
    wait_for(&folder, "begin", second);
    let third = 6 - first - second;
    let (done, said) = answer(ask_later(&folder, &format!("transfer web {third}"), second));
    assert!(done, "{said}");
    wait_for(&folder, "begin", third);
    assert_eq!(members[third as usize - 1].end().0, Some(0));
    let entries = eventually("the last leader", || {
        let entries = log(&folder);
        (entries.len() > 9).then_some(entries)
    });
    let last = entries[9].id;
    assert!(last == first || last == second, "{entries:?}");
    assert_eq!(story(&folder), expected(&[first, second, third, last], &["begin"]));
    for three in [&entries[1..4], &entries[4..7], &entries[7..10]] {
        let [asked, end, begin] = three else { panic!("{three:?}") };
        assert!(end.at - asked.at > 1.4, "it had its time: {entries:?}");
        assert!(begin.at - end.at < 3.0, "the lease was handed over: {entries:?}");
    }
    members.remove(third as usize - 1);
    judge(&folder, &mut members);
    follow_each_other(&folder, 4);
}

/// The worker takes longer than three leases to end, so that the lease must be renewed meanwhile.
#[test]
fn the_leader_goes_on_leading_until_its_command_has_ended() {
    let folder = Folder::new("goes-on");
    let mut members = group(&folder, &["--preset", "wan"], &patient(&folder));
    let first = leader(&members);
    wait_for(&folder, "begin", first);
    let second = first % 3 + 1;
    let asked = ask_later(&folder, &format!("transfer web {second}"), first);
    wait_for(&folder, "asked", first);
    let of = |id: u64| &members[id as usize - 1];
    let begun = now();
    while now() - begun < Duration::from_millis(3_500) {
        let status = of(first).status().expect("it answers");
        assert_eq!(status["role"], "leader", "{status}");
        assert_eq!(status["handing_over"]["to"], second, "{status}");
        thread::sleep(Duration::from_millis(100));
    }
    let told = String::from_utf8(of(first).ask("status").stdout).expect("it is text");
    assert!(told.contains(&format!("ending its command, hands over to {second} then")), "{told}");
    let why = String::from_utf8(of(first).ask("why").stdout).expect("it is text");
    assert!(why.contains("ending its command, hands over"), "{why}");
    assert_eq!(story(&folder), expected(&[first], &["begin", "asked"]), "nobody else runs it");
    std::fs::write(folder.file(&format!("go.{first}")), "").expect("there is room");
    let (done, said) = answer(asked);
    assert!(done, "{said}");
    wait_for(&folder, "begin", second);
    assert_eq!(story(&folder), expected(&[first, second], &["begin"]));
    let status = of(first).status().expect("it answers");
    assert_eq!(status.get("handing_over"), None, "{status}");
    judge(&folder, &mut members);
}

#[test]
fn a_command_that_ignores_the_signal_is_killed_when_its_time_is_over() {
    let folder = Folder::new("stubborn");
    let worker = stubborn(&folder);
    let flags = ["--stop-timeout", "2s", "--", &worker];
    let mut member = Member::start(&folder, &peers(1), 1, &flags);
    let pid = wait_for(&folder, "begin", 1).pid;
    let (code, took) = member.end();
    assert_eq!(code, Some(0));
    assert!(took >= Duration::from_secs(2), "{took:?}");
    assert!(!lives(pid));
    wait_for(&folder, "asked", 1);
    member.error("the command has 2s to end; then the member hands over");
    member.error("the command did not end in time, and was killed");
}

#[test]
fn a_second_signal_ends_the_command_at_once() {
    for second in [Signal::TERM, Signal::INT] {
        let folder = Folder::new(&format!("second-{}", second.as_raw()));
        let worker = stubborn(&folder);
        let flags = ["--stop-timeout", "600s", "--", &worker];
        let mut member = Member::start(&folder, &peers(1), 1, &flags);
        let pid = wait_for(&folder, "begin", 1).pid;
        member.signal(Signal::TERM);
        wait_for(&folder, "asked", 1);
        assert!(lives(pid));
        member.signal(second);
        assert_eq!(member.code(), Some(0));
        assert!(!lives(pid));
    }
}

/// Nobody answers any more, so the lease runs out while the command is ending. It would have ten
/// minutes.
#[test]
fn a_lease_that_is_lost_meanwhile_ends_the_command_in_time() {
    let folder = Folder::new("lost");
    let flags = ["--preset", "wan", "--stop-timeout", "600s"];
    let mut members = group(&folder, &flags, &stubborn(&folder));
    let first = leader(&members);
    let pid = wait_for(&folder, "begin", first).pid;
    let asked = ask_later(&folder, "resign web", first);
    wait_for(&folder, "asked", first);
    let others = || members.iter().filter(move |member| member.id() != first);
    others().for_each(|member| member.signal(Signal::STOP));
    eventually("the end of the command", || (!lives(pid)).then_some(()));
    others().for_each(|member| member.signal(Signal::CONT));
    let (_, said) = answer(asked); // refused or not: that lease ended by itself
    assert!(!said.is_empty());
    let entries = eventually("the next command", || {
        let entries = log(&folder);
        (entries.iter().filter(|entry| entry.what == "begin").count() > 1).then_some(entries)
    });
    assert_eq!(entries[2].what, "begin", "{entries:?}");
    for member in &members {
        member.signal(Signal::TERM);
        member.signal(Signal::INT); // that worker would not end either
    }
    members.iter_mut().for_each(|member| assert_eq!(member.code(), Some(0)));
    never_two(&folder);
}

/// The guardian sends the last will when nothing of the command is left, and not before.
#[test]
fn a_member_that_is_killed_meanwhile_leaves_nothing_and_the_next_one_leads() {
    let folder = Folder::new("killed-meanwhile");
    let flags = ["--lease", "6s", "--stop-timeout", "600s"];
    let mut members = group(&folder, &flags, &patient(&folder));
    let first = leader(&members);
    let pid = wait_for(&folder, "begin", first).pid;
    let asked = ask_later(&folder, "resign web", first);
    wait_for(&folder, "asked", first);
    let killed = now();
    members.remove(first as usize - 1); // by SIGKILL
    eventually("the end of the command", || (!lives(pid)).then_some(()));
    let (done, _) = answer(asked);
    assert!(!done, "nobody was there to answer");
    let begin = eventually("the next command", || log(&folder).get(2).cloned());
    assert_eq!(begin.what, "begin");
    assert!(begin.at >= killed.as_secs_f64() - 0.01, "{begin:?} began before {killed:?}");
    judge(&folder, &mut members);
}

/// Whoever asked only for a resignation gets it, whatever becomes of the nominee.
#[test]
fn a_resignation_while_a_transfer_is_under_way_is_granted_if_the_nominee_has_gone() {
    let folder = Folder::new("both");
    let mut members = group(&folder, &["--preset", "wan"], &patient(&folder));
    let first = leader(&members);
    wait_for(&folder, "begin", first);
    let (second, third) = (first % 3 + 1, (first + 1) % 3 + 1);
    let transfer = ask_later(&folder, &format!("transfer web {second}"), first);
    wait_for(&folder, "asked", first);
    members.retain(|member| member.id() != second); // by SIGKILL
    let of = |id: u64| members.iter().find(|member| member.id() == id).expect("it runs");
    let resign = ask_later(&folder, "resign web", first);
    eventually("nobody hears the nominee", || {
        let status = of(first).status()?;
        let found = status["members"].as_array()?.iter().find(|it| it["id"] == second)?.clone();
        found["heard_ms"].as_f64().filter(|heard| *heard > 2_500.0)
    });
    std::fs::write(folder.file(&format!("go.{first}")), "").expect("there is room");
    let (done, said) = answer(transfer);
    assert!(!done && said.contains(&format!("member {second}")), "{said}");
    let (done, said) = answer(resign);
    assert!(done, "{said}");
    wait_for(&folder, "begin", third);
    assert_eq!(story(&folder), expected(&[first, third], &["begin"]));
    judge(&folder, &mut members);
}

#[test]
fn the_command_receives_the_stop_signal_that_was_chosen() {
    let folder = Folder::new("signal");
    for (flag, number) in [("SIGINT", "INT"), ("quit", "QUIT"), ("10", "USR1")] {
        // It starts nothing: dash forgets a signal that comes while it starts a program.
        let script = "for s in INT QUIT TERM USR1; do trap \"echo $s; exit\" $s; done; echo up; \
                      while :; do :; done";
        let flags = ["--stop-signal", flag, "--", "sh", "-c", script];
        let mut member = Member::start(&folder, &peers(1), 1, &flags);
        assert_eq!(member.next_line().as_deref(), Some("up"));
        member.signal(Signal::TERM);
        let heard = member.next_line();
        assert_eq!(heard.as_deref(), Some(number), "{:?}", member.all_errors());
        assert_eq!(member.code(), Some(0));
    }
}

#[test]
fn bad_values_are_refused_in_one_line() {
    let folder = Folder::new("bad-stop");
    let config = folder.file("web.toml");
    let run = |flags: &str, file: &str| {
        std::fs::write(&config, file).expect("there is room");
        let (config, dir) = (config.display(), folder.dir());
        bellwether(&format!(
            "run web --peers {} --dir {dir} --insecure --config {config} {flags} -- true",
            peers(1)
        ))
    };
    for (flags, file, code, why) in [
        ("--stop-signal KILL", "", 2, "SIGKILL does not ask a program to end"),
        ("--stop-signal SIGFOO", "", 2, "write the name of a signal, as in SIGINT"),
        ("--stop-timeout never", "", 2, "--stop-timeout"),
        ("--stop-timeout infinite", "", 78, "--stop-timeout infinite is more than 86400s"),
        ("", "stop-signal = \"STOP\"", 78, "SIGSTOP does not ask a program to end"),
        ("", "stop-timeout = \"25h\"", 78, "--stop-timeout"),
        ("--lease 5s --preset wan", "", 78, "leave out --preset, or --lease"),
        ("--lease 5s", "[params]\nrenew = \"1s\"", 78, "leave out --renew, or --lease"),
        ("--lease 1ms", "", 78, "0.036s <= lease <= 36000s must hold"),
        ("", "[params]\nlease = \"5 years\"", 78, "[params] lease: invalid value '5 years'"),
    ] {
        let line = refusal(&run(flags, file), code);
        assert!(line.contains(why), "{flags} {file}: {line}");
    }
}

#[test]
fn check_config_shows_what_follows_from_a_lease() {
    let folder = Folder::new("lease");
    let said = bellwether(&format!(
        "check-config web --peers {} --id 1 --dir {} --insecure --lease 5s -- true",
        peers(3),
        folder.dir()
    ));
    let text = String::from_utf8(said.stdout).expect("it is text");
    assert!(said.status.success(), "{text}{}", String::from_utf8_lossy(&said.stderr));
    let times = "delta = 0.104s, sigma = 0.05s, renew = 1.667s, lock = 5s, period = 5.157s, \
                 expires = 8.048s";
    assert!(text.contains(&format!("ok  lease      5s gives {times}")), "{text}");
    assert!(text.contains("handed over as planned it has 10s to end"), "{text}");
}

/// The worker takes longer to end than a lease lasts.
#[test]
fn a_leader_that_yields_to_a_better_member_ends_its_command_in_its_own_time() {
    let folder = Folder::new("preempt");
    let (list, worker) = (peers(3), slow(&folder));
    let start = |id: u64, flags: &str| {
        let record = folder.file(&format!("{id}.jsonl")).display().to_string();
        let mut run = command(&format!(
            "run web --peers {list} --id {id} --dir {} --insecure --record {record} --preset wan \
             --preempt --preempt-delay 1s {flags}",
            folder.dir()
        ));
        run.args(["--", &worker]);
        Member::spawn(run, &folder.dir(), id)
    };
    let mut members: Vec<Member> = [1, 2].map(|id| start(id, "")).into();
    let first = leader(&members);
    wait_for(&folder, "begin", first);
    members.push(start(3, "--priority 5"));
    wait_for(&folder, "begin", 3);
    assert_eq!(story(&folder), expected(&[first, 3], &["begin"]));
    let entries = log(&folder);
    assert!(entries[2].at - entries[1].at > 1.4, "it had its time: {entries:?}");
    judge(&folder, &mut members);
}
