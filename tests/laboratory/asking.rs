//! Starts the laboratory and asks it.

use bellwether::net::clock::{BootTime, Clock};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Duration;

/// An answer comes within this, or never.
const PATIENCE: Duration = Duration::from_secs(120);

/// The time, in seconds since the machine started.
pub(crate) fn seconds() -> f64 {
    BootTime.now().as_nanos() as f64 / 1e9
}

/// The command with these arguments.
pub(crate) fn program(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bellwether"));
    command.args(arguments.split_whitespace());
    command
}

/// What it gives.
pub(crate) fn ran(arguments: &str) -> Output {
    program(arguments).output().expect("the command starts")
}

/// What it writes if it succeeds.
pub(crate) fn stdout(arguments: &str) -> String {
    let output = ran(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {errors}");
    String::from_utf8(output.stdout).expect("the output is text")
}

/// A laboratory that answers.
pub(crate) struct Lab {
    child: Child,
    /// What it prints after its address.
    _output: BufReader<ChildStdout>,
    /// Its address, without the scheme.
    pub(crate) host: String,
    pub(crate) token: String,
}

impl Lab {
    pub(crate) fn start() -> Self {
        Self::with("")
    }

    /// With these arguments beside those that every test needs, at any free port.
    pub(crate) fn with(arguments: &str) -> Self {
        Self::at(&format!("--port 0 {arguments}"))
    }

    /// The same at the port that the arguments say, or at the usual one.
    pub(crate) fn at(arguments: &str) -> Self {
        Self::of(program(&format!("lab --no-open {arguments}")))
    }

    /// The one that this command starts.
    pub(crate) fn of(mut command: Command) -> Self {
        let nowhere = std::env::temp_dir().join(format!("bw-lab-none-{}", std::process::id()));
        if !command.get_args().any(|argument| argument == "--dir") {
            command.arg("--dir").arg(nowhere);
        }
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the command starts");
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("its output is ours"));
        output.read_line(&mut line).expect("it says where it answers");
        let url = line.trim_end().rsplit(' ').next().expect("a line has an address");
        let (host, rest) = url.strip_prefix("http://").expect(url).split_once('/').expect(url);
        let token = rest.strip_prefix("#token=").unwrap_or_default().to_owned();
        Self { child, _output: output, host: host.to_owned(), token }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to end, as Ctrl-C does, and waits for it.
    pub(crate) fn end(&mut self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw);
        let pid = pid.expect("a process has a number");
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        self.child.wait().expect("it ends");
    }

    /// Announces a body of so many bytes, and sends none.
    pub(crate) fn announce(&self, line: &str, length: u64) -> Answer {
        let mut bytes = Vec::new();
        let _ = self.begin(line, length).read_to_end(&mut bytes); // a reset is an end
        Answer::of(&bytes)
    }

    /// The same, without waiting for the answer.
    pub(crate) fn begin(&self, line: &str, length: u64) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket has a time-out");
        let headers = self.own().join("\r\n");
        let head = format!("{line} HTTP/1.0\r\nContent-Length: {length}\r\n{headers}\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("a head is taken");
        stream
    }

    /// Sends a request and returns the connection; the answer ends when it is closed.
    fn connect(&self, line: &str, headers: &[String], body: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket has a time-out");
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let length = body.len();
        let head = format!("{line} HTTP/1.0\r\nContent-Length: {length}\r\n{headers}\r\n");
        // It may refuse before it has read all.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        stream
    }

    /// The headers of a page of its own.
    pub(crate) fn own(&self) -> Vec<String> {
        vec![format!("Host: {}", self.host), format!("Authorization: Bearer {}", self.token)]
    }

    /// One request with these headers.
    pub(crate) fn request(&self, line: &str, headers: &[String], body: &[u8]) -> Answer {
        let mut bytes = Vec::new();
        let _ = self.connect(line, headers, body).read_to_end(&mut bytes); // a reset is an end
        Answer::of(&bytes)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.request(&format!("GET {path}"), &self.own(), b"")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.request(&format!("POST {path}"), &self.own(), body.to_string().as_bytes())
    }

    /// How a request is answered, which is closed as soon as that is known.
    pub(crate) fn status(&self, line: &str) -> u16 {
        let mut reader = BufReader::new(self.connect(line, &self.own(), b""));
        let mut head = String::new();
        reader.read_line(&mut head).expect("an answer has a head");
        head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect(&head)
    }

    /// A stream, line by line as they come.
    pub(crate) fn open(&self, line: &str, body: &Value) -> BufReader<TcpStream> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut reader = BufReader::new(self.connect(line, &self.own(), body.as_bytes()));
        let mut head = String::new();
        while reader.read_line(&mut head).expect("an answer has a head") > 2 {}
        assert!(head.starts_with("HTTP/1.0 200"), "{head}");
        reader
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.end();
        }
    }
}

/// The next line of a stream.
pub(crate) fn next(stream: &mut BufReader<TcpStream>) -> Value {
    let mut line = String::new();
    stream.read_line(&mut line).expect("a line comes");
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
}

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let code = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        let code = code.unwrap_or_else(|| panic!("no answer: {text:?}"));
        Self { code, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code, 200, "{self:?}");
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Its one line of an error.
    pub(crate) fn error(&self, code: u16) -> String {
        assert_eq!(self.code, code, "{self:?}");
        let said: Value = serde_json::from_str(&self.body).expect("errors are JSON");
        let line = said["error"].as_str().expect("an error has a text").to_owned();
        assert_eq!(line.lines().count(), 1, "{line}");
        line
    }

    /// The lines of a stream.
    pub(crate) fn lines(&self) -> Vec<Value> {
        assert_eq!(self.code, 200, "{self:?}");
        self.body.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
    }

    /// Those of them that the laboratory wrote itself, of this kind.
    pub(crate) fn said(&self, lab: &str) -> Vec<Value> {
        self.lines().into_iter().filter(|line| line["lab"] == lab).collect()
    }

    /// The records of a run, as text.
    pub(crate) fn records(&self) -> Vec<&str> {
        self.body.lines().filter(|line| !line.starts_with("{\"lab\":")).collect()
    }
}
