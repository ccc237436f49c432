//! The control socket as its visitors meet it, in front of a member that is made up.

use crate::support::{Folder, peers, places};
use bellwether_core::NodeId;
use bellwether_net::control::{
    self, Change, ChangeStream, ClientError, ControlHandler, ServeError, Server, WatchEvent, find,
};
use bellwether_net::status::{Role, Status, Traffic};
use bellwether_net::{Election, VoterChange};
use rustix::fs::{FlockOperation, flock};
use serde_json::json;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// A member that leads until it resigns.
#[derive(Default)]
struct Member {
    resigned: AtomicU64,
}

struct Numbers(u64);

fn change(number: u64) -> Change {
    Change {
        t: number,
        group: "web".to_owned(),
        id: 1,
        role: Role::Leader,
        leaders: vec![1],
        until: Some(number + 1),
        term: None,
        term_kept: false,
        why: None,
        wall: String::new(),
    }
}

impl ChangeStream for Numbers {
    fn next(&mut self, _: Duration) -> WatchEvent {
        self.0 += 1;
        if self.0 > 3 { WatchEvent::Ended } else { WatchEvent::Change(change(self.0)) }
    }
}

impl ControlHandler for Member {
    fn status(&self) -> Result<Status, String> {
        let status = json!({
            "group": "web",
            "id": 1,
            "pid": 1,
            "version": "0",
            "incarnation": 1,
            "protocol": "local-leader",
            "promise": "never two",
            "role": Role::Leader,
            "leaders": [1],
            "term": 7,
            "term_kept": true,
            "remaining_ms": 1.5,
            "lease_ends_ms": 0.5,
            "since_ms": 1.0,
            "changes": 1,
            "security": "insecure",
            "keys": [],
            "listen": "",
            "peers": "",
            "priority": 3,
            "members": [],
            "why": [],
            "traffic": Traffic::default(),
            "refusals": [],
            "warnings": [],
        });
        Ok(serde_json::from_value(status).expect("all that a status must have"))
    }

    fn resign(&self) -> Result<(), String> {
        match self.resigned.fetch_add(1, Ordering::SeqCst) {
            0 => Ok(()),
            _ => Err("it does not lead".to_owned()),
        }
    }

    fn transfer(&self, to: NodeId) -> Result<(), String> {
        if to == NodeId(2) { self.resign() } else { Err(format!("member {to} cannot lead")) }
    }

    fn change_voters(&self, change: VoterChange, list: Option<u64>) -> Result<(), String> {
        match (change, list) {
            (_, Some(list)) => Err(format!("not by list {list}")),
            (VoterChange::Replace { old: NodeId(1), new: NodeId(4) }, None) => Ok(()),
            (other, None) => Err(format!("{other:?} is not possible")),
        }
    }

    fn forget(&self, id: NodeId) -> Result<(), String> {
        if id == NodeId(7) { Ok(()) } else { Err(format!("member {id} votes")) }
    }

    fn watch(&self) -> Box<dyn ChangeStream> {
        Box::new(Numbers(0))
    }
}

fn serve(folder: &Folder, group: &str, id: u64) -> Result<Server, ServeError> {
    Server::start(&folder.0, group, id, Arc::new(Member::default()))
}

/// What is answered to these bytes.
fn answer(server: &Server, said: &[u8]) -> String {
    let mut stream = UnixStream::connect(server.path()).expect("it listens");
    stream.write_all(said).expect("it listens");
    stream.shutdown(std::net::Shutdown::Write).expect("it listens");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it answers in text");
    text
}

#[test]
fn a_member_tells_its_status_resigns_and_is_watched() {
    let folder = Folder::new();
    let server = serve(&folder, "web", 1).unwrap();
    let mut client = find(&folder.0, None, None).unwrap();
    assert_eq!((client.place().group.as_str(), client.place().id), ("web", 1));
    assert_eq!(client.status().unwrap(), Member::default().status().unwrap());
    client.resign().unwrap();
    let refused = client.resign().unwrap_err();
    assert_eq!(refused.to_string(), "it does not lead");
    let mut seen = Vec::new();
    let mut tell = |change: &Change| {
        seen.push(change.clone());
        true
    };
    client.watch(&mut tell).unwrap();
    assert_eq!(seen, [change(1), change(2), change(3)]);
    drop(server);
}

#[test]
fn a_member_hands_over_to_another_and_says_why_it_does_not() {
    let folder = Folder::new();
    let server = serve(&folder, "web", 1).unwrap();
    let mut client = find(&folder.0, None, None).unwrap();
    assert_eq!(client.transfer(7).unwrap_err().to_string(), "member 7 cannot lead");
    client.transfer(2).unwrap();
    let to_nobody = answer(&server, b"{\"ask\":\"transfer\"}\n");
    assert!(to_nobody.contains("is to lead is missing: ask "), "{to_nobody}");
}

#[test]
fn a_member_changes_the_voters_and_says_why_it_does_not() {
    let folder = Folder::new();
    let server = serve(&folder, "web", 1).unwrap();
    let mut client = find(&folder.0, None, None).unwrap();
    let replace = VoterChange::Replace { old: NodeId(1), new: NodeId(4) };
    client.change_voters(replace, None).unwrap();
    let refused = client.change_voters(replace, Some(7)).unwrap_err().to_string();
    assert_eq!(refused, "not by list 7");
    for (change, name) in
        [(VoterChange::Add(NodeId(4)), "Add"), (VoterChange::Remove(NodeId(1)), "Remove")]
    {
        let refused = client.change_voters(change, None).unwrap_err().to_string();
        assert!(refused.starts_with(name), "{refused}");
    }
    let nobody = answer(&server, b"{\"ask\":\"voters\"}\n");
    assert!(nobody.contains("one change at a time: a voter, "), "{nobody}");
    client.forget(7).unwrap();
    assert_eq!(client.forget(3).unwrap_err().to_string(), "member 3 votes");
    let nobody = answer(&server, b"{\"ask\":\"forget\"}\n");
    assert!(nobody.contains("whom? Ask "), "{nobody}");
}

#[test]
fn only_the_owner_may_open_the_socket_and_it_goes_with_the_server() {
    let folder = Folder::new();
    let server = serve(&folder, "web", 1).unwrap();
    let mode = std::fs::metadata(server.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(control::places(&folder.0).unwrap().len(), 1);
    drop(server);
    assert_eq!(control::places(&folder.0).unwrap(), []);
}

#[test]
fn a_socket_left_behind_is_replaced_and_one_that_answers_is_not() {
    let folder = Folder::new();
    drop(UnixListener::bind(folder.0.join("web.1.sock")).unwrap());
    let gone = find(&folder.0, Some("web"), None).unwrap_err();
    assert!(gone.to_string().contains("member 1 of web was here, and has ended"), "{gone}");
    let server = serve(&folder, "web", 1).unwrap();
    let taken = serve(&folder, "web", 1).unwrap_err();
    assert!(matches!(taken, ServeError::Taken(_)) && taken.is_config(), "{taken}");
    assert!(find(&folder.0, Some("web"), Some(1)).unwrap().status().is_ok(), "it still answers");
    drop(server);
}

#[test]
fn what_a_killed_member_was_about_to_start_is_waited_for() {
    let folder = Folder::new();
    let listener = UnixListener::bind(folder.0.join("web.1.sock")).unwrap();
    let lock = File::create(folder.0.join("web.1.sock.lock")).unwrap();
    flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
    // The kernel closes the one before the other.
    let executed = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        drop(lock);
        std::thread::sleep(Duration::from_millis(100));
        drop(listener);
    });
    let server = serve(&folder, "web", 1).unwrap();
    executed.join().unwrap();
    assert!(find(&folder.0, Some("web"), Some(1)).unwrap().status().is_ok(), "it answers");
    drop(server);
}

#[test]
fn of_several_members_one_must_be_named_and_the_names_are_told() {
    let folder = Folder::new();
    let _one = serve(&folder, "web", 1).unwrap();
    let _two = serve(&folder, "web", 2).unwrap();
    let _other = serve(&folder, "db", 1).unwrap();
    let error = find(&folder.0, None, Some(1)).unwrap_err().to_string();
    assert!(error.contains("choose one of db `id` 1, web `id` 1"), "{error}");
    assert_eq!(find(&folder.0, Some("db"), None).unwrap().place().id, 1);
    let error = find(&folder.0, Some("mail"), Some(7)).unwrap_err();
    assert!(matches!(error, ClientError::Nobody { .. }));
    assert!(error.to_string().starts_with("no running member 7 of group mail in /"), "{error}");
    let nowhere = folder.0.join("nowhere");
    assert!(matches!(find(&nowhere, None, None), Err(ClientError::Nobody { .. })));
}

#[test]
fn what_is_no_question_is_answered_with_an_error_and_changes_nothing() {
    let folder = Folder::new();
    let server = serve(&folder, "web", 1).unwrap();
    let long = [b'x'; 8192];
    let texts: [&[u8]; 6] = [
        b"hello\n",
        b"{\"ask\":\"everything\"}\n",
        b"{\"ask\":\"status\",\"twice\":1}\n",
        b"\xff\xfe\n",
        b"[[[[[[[[\n",
        &long[..4096],
    ];
    for said in texts {
        let text = answer(&server, said);
        assert!(text.starts_with("{\"error\":\""), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
    assert_eq!(answer(&server, b""), "");
    assert_eq!(answer(&server, b"{\"ask\":\"sta"), "", "half a question");
    let twice = answer(&server, b"{\"ask\":\"resign\"}\n{\"ask\":\"resign\"}\n");
    assert_eq!(twice, "{\"done\":true}\n{\"error\":\"it does not lead\"}\n");
}

/// Asks for the status, and reads one line.
fn ask(stream: &UnixStream) -> std::io::Result<String> {
    let mut writer = stream;
    writer.write_all(b"{\"ask\":\"status\"}\n")?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).map(|_| line)
}

fn connect(server: &Server) -> UnixStream {
    UnixStream::connect(server.path()).expect("it listens")
}

/// A member that takes long to resign, and whose changes never come.
#[derive(Default)]
struct Slow {
    goes_on: Mutex<bool>,
    news: Condvar,
}

struct Never;

impl ChangeStream for Never {
    fn next(&mut self, within: Duration) -> WatchEvent {
        std::thread::sleep(within);
        WatchEvent::Nothing
    }
}

impl ControlHandler for Slow {
    fn status(&self) -> Result<Status, String> {
        Member::default().status()
    }

    fn resign(&self) -> Result<(), String> {
        let waits = self.goes_on.lock().expect("nobody panics");
        let waited = self.news.wait_while(waits, |goes_on| !*goes_on);
        drop(waited.expect("nobody panics"));
        Ok(())
    }

    fn transfer(&self, _to: NodeId) -> Result<(), String> {
        self.resign()
    }

    fn change_voters(&self, _: VoterChange, _: Option<u64>) -> Result<(), String> {
        self.resign()
    }

    fn forget(&self, _: NodeId) -> Result<(), String> {
        self.resign()
    }

    fn watch(&self) -> Box<dyn ChangeStream> {
        Box::new(Never)
    }
}

#[test]
fn no_more_than_32_are_answered_at_once_and_whoever_is_makes_room() {
    let folder = Folder::new();
    let desk = Arc::new(Slow::default());
    let server =
        Server::start(&folder.0, "web", 1, Arc::clone(&desk) as Arc<dyn ControlHandler>).unwrap();
    let asking: Vec<UnixStream> = (0..32)
        .map(|_| {
            let mut stream = connect(&server);
            stream.write_all(b"{\"ask\":\"resign\"}\n").unwrap();
            stream
        })
        .collect();
    let refused = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        ask(&connect(&server))
            .is_ok_and(|line| line.contains("32 questions are being answered already"))
    });
    assert!(refused, "33 are answered at once");
    *desk.goes_on.lock().unwrap() = true;
    desk.news.notify_all();
    for stream in &asking {
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        assert_eq!(line, "{\"done\":true}\n");
    }
    let answered = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        ask(&connect(&server)).is_ok_and(|line| line.starts_with("{\"status\""))
    });
    assert!(answered, "those who were answered made no room");
}

#[test]
fn those_who_watch_leave_room_for_those_who_ask() {
    let folder = Folder::new();
    let server = Server::start(&folder.0, "web", 1, Arc::new(Slow::default())).unwrap();
    let watching: Vec<UnixStream> = (0..40)
        .map(|_| {
            let mut stream = connect(&server);
            stream.write_all(b"{\"ask\":\"watch\"}\n").unwrap();
            stream
        })
        .collect();
    let mut lines = BufReader::new(&watching[39]);
    let mut line = String::new();
    lines.read_line(&mut line).unwrap();
    assert!(line.contains("24 clients watch already"), "{line}");
    assert!(ask(&connect(&server)).unwrap().starts_with("{\"status\""));
}

#[test]
fn whoever_is_silent_for_longest_yields_to_whoever_asks() {
    let folder = Folder::new();
    let server = serve(&folder, "web", 1).unwrap();
    let early = connect(&server);
    assert!(ask(&early).unwrap().starts_with("{\"status\""));
    let crowd: Vec<UnixStream> = (0..500).map(|_| connect(&server)).collect();
    let begin = clock();
    let line = ask(&connect(&server)).unwrap();
    assert!(line.starts_with("{\"status\""), "{line}");
    assert!(clock() - begin < Duration::from_secs(2), "{:?}", clock() - begin);
    let mut rest = String::new();
    assert_eq!((&early).read_to_string(&mut rest).unwrap_or(0), 0, "it was silent for longest");
    assert!(ask(&crowd[499]).unwrap().starts_with("{\"status\""), "it is still there");
}

/// The time since the machine started.
fn clock() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::try_from(now).expect("the machine has started")
}

#[test]
fn a_lock_on_the_directory_holds_up_nobody_and_one_on_the_lock_file_for_a_second() {
    let folder = Folder::new();
    let exclusive = FlockOperation::NonBlockingLockExclusive;
    let hostile = File::open(&folder.0).unwrap();
    flock(&hostile, exclusive).unwrap();
    let server = serve(&folder, "web", 1).unwrap();
    let lock = folder.0.join("web.1.sock.lock");
    assert_eq!(std::fs::metadata(&lock).unwrap().permissions().mode() & 0o777, 0o600);
    drop(server);
    let held = File::open(&lock).unwrap();
    flock(&held, exclusive).unwrap();
    let locked = serve(&folder, "web", 1).unwrap_err();
    assert!(matches!(locked, ServeError::Locked(_)) && locked.is_config(), "{locked}");
    assert!(control::places(&folder.0).unwrap().is_empty(), "a lock is no place");
    drop(held);
    serve(&folder, "web", 1).unwrap();
}

#[test]
fn a_member_answers_by_itself_where_it_is_told_to_and_not_in_a_folder_of_others() {
    let folder = Folder::new();
    let dir = folder.0.join("control");
    let peers = peers(&places(1));
    let member = || Election::builder("own").peers(peers.clone()).insecure().control_dir(&dir);
    let election = member().join().unwrap();
    let guard = election.wait(None).unwrap().unwrap();
    let mut client = find(&dir, Some("own"), None).unwrap();
    assert_eq!(client.status().unwrap().role, Role::Leader);
    let mut leaders = Vec::new();
    client
        .watch(&mut |change| {
            leaders.clone_from(&change.leaders);
            false
        })
        .unwrap();
    assert_eq!(leaders, [1]);
    find(&dir, None, Some(1)).unwrap().resign().unwrap();
    assert!(!guard.still_leading());
    // Nobody who may ask keeps the member alive.
    drop(guard);
    drop(election);
    assert!(matches!(find(&dir, None, None), Err(ClientError::Nobody { .. })));
    std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o777)).unwrap();
    let refused = member().join().unwrap_err().to_string();
    assert!(refused.contains("its mode is 777"), "{refused}");
}
