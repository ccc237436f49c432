//! A small client, and groups whose members answer HTTP.

use super::member::{Folder, Member, eventually, peers};
use serde_json::Value;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// An answer comes within this, or never.
const PATIENCE: Duration = Duration::from_secs(20);

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn of(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let code = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        let code = code.unwrap_or_else(|| panic!("no answer: {text:?}"));
        Self { code, head: head.to_owned(), body: body.to_owned() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let named =
            |line: &str| line.split(':').next().is_some_and(|it| it.eq_ignore_ascii_case(name));
        let line = self.head.lines().find(|line| named(line))?;
        line.split_once(':').map(|(_, value)| value.trim())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Its one line of an error.
    pub(crate) fn error(&self) -> String {
        assert_eq!(self.body.trim_end().lines().count(), 1, "one line: {self:?}");
        self.json()["error"].as_str().unwrap_or_else(|| panic!("no error: {self:?}")).to_owned()
    }
}

/// Where a member answers.
#[derive(Clone, Debug)]
pub(crate) enum Door {
    Tcp(String),
    Unix(String),
}

/// Both kinds of connections.
pub(crate) trait Connection: Read + Write + Send {}
impl<T: Read + Write + Send> Connection for T {}

impl Door {
    pub(crate) fn connect(&self) -> std::io::Result<Box<dyn Connection>> {
        Ok(match self {
            Self::Tcp(address) => {
                let stream = TcpStream::connect(address)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                Box::new(stream)
            }
            Self::Unix(path) => {
                let stream = UnixStream::connect(Path::new(path))?;
                stream.set_read_timeout(Some(PATIENCE))?;
                Box::new(stream)
            }
        })
    }

    /// Sends this, and reads until the connection is closed; what came before that.
    pub(crate) fn send(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect().expect("it listens");
        let _ = stream.write_all(bytes); // it may refuse before it has read all
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer); // a reset comes after the answer
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// One request with these headers and this body.
    pub(crate) fn request(&self, line: &str, headers: &[&str], body: &str) -> Answer {
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let length = body.len();
        Answer::of(
            &self.send(
                format!(
                    "{line} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\
                 Content-Length: {length}\r\n{headers}\r\n{body}"
                )
                .as_bytes(),
            ),
        )
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.request(&format!("GET {path}"), &[], "")
    }

    /// The same as soon as there is an answer: a connection may give way to newer ones.
    pub(crate) fn get_soon(&self, path: &str) -> Answer {
        let asks = format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
        eventually("an answer", || {
            self.connect().ok()?;
            let answer = self.send(asks.as_bytes());
            answer.contains("\r\n\r\n").then(|| Answer::of(&answer))
        })
    }

    /// An open event stream.
    pub(crate) fn events(&self, last: Option<&str>) -> Events {
        let mut stream = self.connect().expect("it listens");
        let last = last.map_or_else(String::new, |last| format!("Last-Event-ID: {last}\r\n"));
        let asks = format!("GET /v1/events HTTP/1.1\r\nHost: test\r\n{last}\r\n");
        let _ = stream.write_all(asks.as_bytes()); // it may have given way
        Events(BufReader::new(stream))
    }
}

/// An event: its id, its kind and its data.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) data: Value,
}

/// A stream of events, as it comes.
pub(crate) struct Events(BufReader<Box<dyn Connection>>);

impl Events {
    /// The next line; `None` at the end of the stream.
    pub(crate) fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = match self.0.read_line(&mut line) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => panic!("nothing comes"),
            read => read.unwrap_or(0), // it was reset
        };
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// The next event; `None` at the end of the stream.
    pub(crate) fn next(&mut self) -> Option<Event> {
        let (mut id, mut kind) = (String::new(), String::new());
        loop {
            let line = self.line()?;
            if let Some(text) = line.strip_prefix("id: ") {
                text.clone_into(&mut id);
            } else if let Some(text) = line.strip_prefix("event: ") {
                text.clone_into(&mut kind);
            } else if let Some(text) = line.strip_prefix("data: ") {
                let data = serde_json::from_str(text).expect("it is JSON");
                return Some(Event { id, kind, data });
            }
        }
    }

    /// Waits for an event like this.
    pub(crate) fn find(&mut self, like: impl Fn(&Event) -> bool) -> Event {
        loop {
            let event = self.next().expect("the stream goes on");
            if like(&event) {
                return event;
            }
        }
    }
}

/// Members of a group, each with its door.
pub(crate) struct Group {
    pub(crate) members: Vec<Member>,
    pub(crate) doors: Vec<Door>,
    pub(crate) folder: Folder,
}

impl Group {
    /// So many members that answer at an address, started with these arguments.
    pub(crate) fn start(name: &str, count: usize, rest: &[&str]) -> Self {
        let folder = Folder::new(&format!("http-{name}"));
        let list = peers(count);
        let doors: Vec<Door> = list
            .split(',')
            .map(|place| place.split_once('=').expect("a place").1.replace(":7400", ":7480"))
            .map(Door::Tcp)
            .collect();
        let start = |(at, door): (usize, &Door)| {
            let Door::Tcp(address) = door else { unreachable!("all are addresses") };
            let rest = [&["--http", address], rest].concat();
            Member::start(&folder, &list, at as u64 + 1, &rest)
        };
        let members = doors.iter().enumerate().map(start).collect();
        Self { members, doors, folder }
    }

    /// The doors of the leader and of another member, once all follow that leader.
    pub(crate) fn roles(&self) -> (u64, &Door, &Door) {
        let leader = super::member::leader(&self.members);
        let other = leader % self.members.len() as u64;
        (leader, &self.doors[leader as usize - 1], &self.doors[other as usize])
    }
}
