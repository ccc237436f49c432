//! Checks that look at a server or at an interface: the leader hands over when that fails.

use super::member::{Folder, Member, command, eventually, leader, peers};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Sees that the leader hands over when its check fails, for this reason, and that it may lead
/// again when it is well.
fn hands_over(members: Vec<Member>, set_well: impl Fn(u64, bool), name: &str, why: &str) {
    let first = leader(&members);
    set_well(first, false);
    let (former, others): (Vec<Member>, Vec<Member>) =
        members.into_iter().partition(|member| member.id() == first);
    former[0].error(&format!("check {name} fails: {why}; the member does not lead"));
    let second = leader(&others);
    let status = eventually("its place", || {
        former[0].status().filter(|status| status["leaders"] == serde_json::json!([second]))
    });
    assert_eq!(status["role"], "follower", "{status}");
    assert!(status["why"].to_string().contains(why), "{status}");
    set_well(first, true);
    former[0].error(&format!("check {name} is well; the member may lead"));
}

/// A server that answers with 200 while it is well, and otherwise with 503; where it listens.
fn server(well: Arc<AtomicBool>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let place = listener.local_addr().expect("it is bound").to_string();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 1_024]); // all of a small request, or nobody asks
            let code = if well.load(Ordering::Relaxed) { "200 OK" } else { "503 Busy" };
            let _ = write!(stream, "HTTP/1.1 {code}\r\nContent-Length: 0\r\n\r\n");
        }
    });
    place
}

#[test]
fn a_leader_whose_server_answers_with_503_hands_over() {
    let folder = Folder::new("http-check");
    let list = peers(3);
    let well: Vec<Arc<AtomicBool>> = (0..3).map(|_| Arc::new(AtomicBool::new(true))).collect();
    let start = |id: u64| {
        let place = server(Arc::clone(&well[id as usize - 1]));
        // A machine that stalls does not make it fail.
        let check = format!("http=http://{place}/health,name=web,interval=200ms,timeout=20s");
        Member::start(&folder, &list, id, &["--check", &check])
    };
    let members = (1..=3).map(start).collect();
    let set_well = |id: u64, is: bool| well[id as usize - 1].store(is, Ordering::Relaxed);
    hands_over(members, set_well, "web", "it answered with 503");
}

/// A network namespace, which ends with the test. Live tests remove what a killed one left, by its
/// name.
struct Namespace(String);

impl Namespace {
    fn new() -> Self {
        let own = Self(format!("bellwether-{}x-checks", std::process::id()));
        own.ip(&["netns", "add", &own.0]);
        own.ip(&["-n", &own.0, "link", "set", "lo", "up"]);
        own
    }

    fn ip(&self, words: &[&str]) {
        let done = Command::new("ip").args(words).output().expect("there is iproute2");
        let errors = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "ip {words:?}, which needs root: {errors}");
    }

    /// The same command in this namespace.
    fn inside(&self, command: &Command) -> Command {
        let mut within = Command::new("ip");
        within.args(["netns", "exec", &self.0]).arg(command.get_program());
        within.args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => within.env(name, value),
                None => within.env_remove(name),
            };
        }
        within
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "delete", &self.0]).output();
    }
}

#[test]
fn a_leader_whose_interface_goes_down_hands_over() {
    let folder = Folder::new("interface-check");
    let (list, dir, namespace) = (peers(3), folder.dir(), Namespace::new());
    let link = |name: &str, is: &str| {
        namespace.ip(&["-n", &namespace.0, "link", "set", name, is]);
    };
    let start = |id: u64| {
        // A cable, both ends of which are here.
        let [name, other] = [format!("link{id}"), format!("other{id}")];
        let cable = ["link", "add", &name, "type", "veth", "peer", "name", &other];
        namespace.ip(&[&["-n", &namespace.0], &cable[..]].concat());
        link(&name, "up");
        link(&other, "up");
        let run = command(&format!(
            "run web --peers {list} --id {id} --dir {dir} --insecure --preset wan \
             --check interface={name},name=link,interval=200ms,timeout=20s"
        ));
        Member::spawn(namespace.inside(&run), &dir, id)
    };
    let members = (1..=3).map(start).collect();
    let set_well = |id: u64, is: bool| link(&format!("link{id}"), if is { "up" } else { "down" });
    hands_over(members, set_well, "link", "it is down, or has no carrier");
}
