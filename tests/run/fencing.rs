//! What fencing tokens are for: a worker that outlives its lease, because all that would end it was
//! stopped with it, and a store that refuses it.

use super::member::{Folder, Member, eventually, lives, peers};
use rustix::process::{Pid, Signal, kill_process};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// The example of this name. Cargo puts examples beside the folder of the tests.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test has a file");
    let folder = test.ancestors().nth(2).expect("it lies in a folder of a folder");
    let path = folder.join("examples").join(name);
    let advice = "`cargo test` makes it, unless it is told which targets to test; \
                  `cargo build --profile test --examples` does";
    assert!(path.is_file(), "{} is missing: {advice}", path.display());
    path
}

/// Ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill(); // it may have ended
        let _ = self.0.wait();
    }
}

/// Processes that were stopped, and go on at the end: then their guardian ends the command.
struct Stopped(Vec<u32>);

impl Stopped {
    /// Stops a member and all that it started.
    fn stop(member: &Member) -> Self {
        let all = [vec![member.pid()], descendants(member.pid())].concat();
        let stopped = Self(all);
        stopped.signal(Signal::STOP, |_| true);
        stopped
    }

    /// Signals those of them whose command line is like this.
    fn signal(&self, signal: Signal, like: impl Fn(&str) -> bool) {
        for pid in &self.0 {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            if like(&String::from_utf8_lossy(&line)) {
                let pid = i32::try_from(*pid).ok().and_then(Pid::from_raw);
                let _ = pid.map(|pid| kill_process(pid, signal)); // a sleep may have ended
            }
        }
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        self.signal(Signal::CONT, |_| true);
    }
}

/// The processes that this one started, and those that they started, and so on.
fn descendants(pid: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("processes are listed");
    let all = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let children = all.filter(|child| {
        let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        let rest = stat.rsplit(')').next().unwrap_or_default();
        rest.split_whitespace().nth(1).and_then(|parent| parent.parse().ok()) == Some(pid)
    });
    children.flat_map(|child| [vec![child], descendants(child)].concat()).collect()
}

#[test]
fn a_worker_that_outlives_its_lease_is_refused_by_a_store_that_knows_a_higher_token() {
    let folder = Folder::new("fencing");
    let (store, place) = (example("fenced_store"), folder.file("store"));
    let output = std::fs::File::create(folder.file("served")).expect("there is room");
    let mut serve = Command::new(&store);
    let serve = serve.arg("serve").arg(&place).stdout(Stdio::from(output)).spawn();
    let _server = Server(serve.expect("it starts"));
    eventually("the store", || place.exists().then_some(()));
    let lines = format!(
        "me=$BELLWETHER_ID; cd {}
         write() {{ {} write {} \"$me $1\" >> said.$me; }}
         write first; echo $$ > pid.$me
         until [ -e go.$me ]; do sleep .02; done
         write second; exec sleep 1000",
        folder.0.display(),
        store.display(),
        place.display()
    );
    let worker = folder.script("worker", &lines).display().to_string();
    let list = peers(3);
    let start = |id: u64| Member::start(&folder, &list, id, &["--", &worker]);
    let members: Vec<Member> = (1..4).map(start).collect();
    let pid = |id: usize| folder.text(&format!("pid.{id}")).trim().parse::<u32>().ok();
    let first = eventually("a worker", || (1..4).find(|id| pid(*id).is_some()));
    let stopped = Stopped::stop(&members[first - 1]);
    let next = eventually("another", || (1..4).find(|id| *id != first && pid(*id).is_some()));
    // The worker goes on; nobody is there to end it.
    std::fs::write(folder.file(&format!("go.{first}")), "").expect("there is room");
    stopped.signal(Signal::CONT, |line| !line.contains("bellwether"));
    let said = eventually("what the store answers", || {
        Some(folder.text(&format!("said.{first}"))).filter(|said| said.lines().count() == 2)
    });
    let (old, refused) = said.trim_end().split_once('\n').expect("two lines");
    let old = old.strip_prefix("written with token ").expect(&said);
    let new = folder.text(&format!("said.{next}"));
    let new = new.trim_end().strip_prefix("written with token ").expect(&new);
    assert_eq!(refused, format!("refused: token {old} is lower than {new}"));
    assert!(folder.text("served").trim_end().ends_with("it has 2 lines"));
    let worker = pid(first).expect("it told");
    assert!(lives(worker));
    drop(stopped);
    eventually("the end of the worker", || (!lives(worker)).then_some(()));
}
