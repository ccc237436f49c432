//! The control socket as its visitors meet it, in front of a member that is made up.

use bellwether_net::control::{
    CannotServe, Change, Desk, Heard, NoAnswer, Server, Watcher, find, places,
};
use bellwether_net::status::{Role, Status, Traffic};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
        why: None,
    }
}

impl Watcher for Numbers {
    fn next(&mut self, _: std::time::Duration) -> Heard {
        self.0 += 1;
        if self.0 > 3 { Heard::Ended } else { Heard::Change(change(self.0)) }
    }
}

impl Desk for Member {
    fn status(&self) -> Result<Status, String> {
        Ok(Status {
            group: "web".to_owned(),
            id: 1,
            pid: 1,
            version: "0".to_owned(),
            incarnation: 1,
            protocol: "local-leader".to_owned(),
            promise: "never two".to_owned(),
            role: Role::Leader,
            leaders: vec![1],
            remaining_ms: Some(1.5),
            since_ms: 1.0,
            changes: 1,
            lease_duration_ms: None,
            renew_deadline_ms: None,
            retry_period_ms: None,
            security: "insecure".to_owned(),
            keys: Vec::new(),
            listen: String::new(),
            peers: String::new(),
            members: Vec::new(),
            why: Vec::new(),
            traffic: Traffic::default(),
            refusals: Vec::new(),
            warnings: Vec::new(),
        })
    }

    fn resign(&self) -> Result<(), String> {
        match self.resigned.fetch_add(1, Ordering::SeqCst) {
            0 => Ok(()),
            _ => Err("it does not lead".to_owned()),
        }
    }

    fn watch(&self) -> Box<dyn Watcher> {
        Box::new(Numbers(0))
    }
}

/// An empty folder of this test's own, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("bw-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path); // of a process that had this number before
        std::fs::create_dir_all(&path).expect("there is room for a folder");
        Self(path)
    }

    fn serve(&self, group: &str, id: u64) -> Result<Server, CannotServe> {
        Server::start(&self.0, group, id, Arc::new(Member::default()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
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
    let folder = Folder::new("asked");
    let server = folder.serve("web", 1).unwrap();
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
fn only_the_owner_may_open_the_socket_and_it_goes_with_the_server() {
    let folder = Folder::new("mode");
    let server = folder.serve("web", 1).unwrap();
    let mode = std::fs::metadata(server.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(places(&folder.0).unwrap().len(), 1);
    drop(server);
    assert_eq!(places(&folder.0).unwrap(), []);
}

#[test]
fn a_socket_left_behind_is_replaced_and_one_that_answers_is_not() {
    let folder = Folder::new("stale");
    drop(UnixListener::bind(folder.0.join("web.1.sock")).unwrap());
    let gone = find(&folder.0, Some("web"), None).unwrap_err();
    assert!(gone.to_string().contains("member 1 of web was here, and has ended"), "{gone}");
    let server = folder.serve("web", 1).unwrap();
    let taken = folder.serve("web", 1).unwrap_err();
    assert!(matches!(taken, CannotServe::Taken(_)) && taken.is_config(), "{taken}");
    assert!(find(&folder.0, Some("web"), Some(1)).unwrap().status().is_ok(), "it still answers");
    drop(server);
}

#[test]
fn of_several_members_one_must_be_named_and_the_names_are_told() {
    let folder = Folder::new("several");
    let _one = folder.serve("web", 1).unwrap();
    let _two = folder.serve("web", 2).unwrap();
    let _other = folder.serve("db", 1).unwrap();
    let error = find(&folder.0, None, Some(1)).unwrap_err().to_string();
    assert!(error.contains("db --id 1, web --id 1?"), "{error}");
    assert_eq!(find(&folder.0, Some("db"), None).unwrap().place().id, 1);
    let error = find(&folder.0, Some("mail"), Some(7)).unwrap_err();
    assert!(matches!(error, NoAnswer::Nobody { .. }));
    assert!(error.to_string().starts_with("no running member 7 of group mail in /"), "{error}");
    let nowhere = folder.0.join("nowhere");
    assert!(matches!(find(&nowhere, None, None), Err(NoAnswer::Nobody { .. })));
}

#[test]
fn what_is_no_question_is_answered_with_an_error_and_changes_nothing() {
    let folder = Folder::new("garbage");
    let server = folder.serve("web", 1).unwrap();
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

#[test]
fn no_more_than_32_are_answered_at_once_and_whoever_leaves_makes_room() {
    let folder = Folder::new("crowd");
    let server = folder.serve("web", 1).unwrap();
    let ask = |stream: &UnixStream| {
        let mut writer = stream;
        writer.write_all(b"{\"ask\":\"status\"}\n")?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).map(|_| line)
    };
    let sitting: Vec<_> = (0..32)
        .map(|_| {
            let stream = UnixStream::connect(server.path()).unwrap();
            assert!(ask(&stream).unwrap().starts_with("{\"status\""));
            stream
        })
        .collect();
    let standing = UnixStream::connect(server.path()).unwrap();
    let mut line = String::new();
    BufReader::new(&standing).read_line(&mut line).unwrap();
    assert!(line.contains("32 are being answered already"), "{line}");
    drop(sitting);
    let answered = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        let stream = UnixStream::connect(server.path()).unwrap();
        ask(&stream).is_ok_and(|line| line.starts_with("{\"status\""))
    });
    assert!(answered, "those who left made no room");
}
