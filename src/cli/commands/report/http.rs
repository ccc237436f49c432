//! Asks a member on another machine for its recent past, `GET /v1/trace`, and for its status.
//!
//! **Promise.** An answer takes a few seconds at most, from its first byte to its last, and no more
//! than [`ANSWER_MAX`] bytes.

use crate::cli::connect::connect;
use bellwether::check::live::Trace;
use bellwether::core::{Duration, Instant};
use bellwether::net::clock::{BootTime, Clock};
use bellwether::net::status::Status;
use serde_json::Value;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::str::FromStr;

/// The longest to wait for a connection, and for the whole answer.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);
/// The longest answer.
const ANSWER_MAX: u64 = 16 << 20;

/// Who is asked by HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) enum From {
    /// The member there: `http://HOST:PORT`.
    Member(Url),
    /// Every member that those who are asked know, each at this port of its address: `:PORT`.
    All(u16),
}

impl FromStr for From {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix(':').map(str::parse) {
            Some(Ok(port)) => Ok(Self::All(port)),
            Some(Err(_)) => Err(format!("'{}' is no port: as in :7480", text.escape_debug())),
            None => text.parse().map(Self::Member),
        }
    }
}

/// Where a member answers: `http://HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Url {
    place: String,
}

impl Url {
    /// Another port of the address at which a member receives.
    pub(super) fn at(address: &str, port: u16) -> Option<Self> {
        let (host, _) = address.rsplit_once(':')?;
        Some(Self { place: format!("{host}:{port}") })
    }
}

impl FromStr for Url {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "'{}' is no address of a member: as in http://10.0.0.2:7480",
                text.escape_debug()
            )
        };
        let place = text.strip_prefix("http://").ok_or_else(bad)?;
        let place = place.strip_suffix('/').unwrap_or(place);
        let (host, port) = place.rsplit_once(':').ok_or_else(bad)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]%".contains(c);
        let good = !host.is_empty() && host.chars().all(plain) && port.parse::<u16>().is_ok();
        if good { Ok(Self { place: place.to_owned() }) } else { Err(bad()) }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}", self.place)
    }
}

/// What the member there remembers; why it does not tell, in a sentence.
pub(super) fn past(url: &Url, last: Option<Duration>) -> Result<Trace, String> {
    let since = last.map_or_else(String::new, |last| format!("?since={last}"));
    let answer = answer(url, &format!("/v1/trace{since}"))?;
    Trace::parse(&url.to_string(), body(&answer)?).map_err(|bad| bad.to_string())
}

/// The status of the member there; why it does not tell, in a sentence.
pub(super) fn told(url: &Url) -> Result<Status, String> {
    let answer = answer(url, "/v1/status")?;
    serde_json::from_slice(body(&answer)?).map_err(strange)
}

/// The same as JSON. What is no status of a member is not passed on, whoever sends it.
pub(in crate::cli) fn status(url: &Url) -> Result<Value, String> {
    serde_json::to_value(told(url)?).map_err(strange)
}

fn strange(_: serde_json::Error) -> String {
    "it does not answer as a member does".to_owned()
}

/// What is answered at a path.
fn answer(url: &Url, path: &str) -> Result<Vec<u8>, String> {
    ask(url, path).map_err(|error| match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => "it does not answer".to_owned(),
        _ => error.to_string(),
    })
}

fn ask(url: &Url, path: &str) -> io::Result<Vec<u8>> {
    let mut stream = connect(&url.place, PATIENCE)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // With HTTP/1.0 the end of the answer is the end of the connection.
    let asks = format!("GET {path} HTTP/1.0\r\nHost: {}\r\n\r\n", url.place);
    stream.write_all(asks.as_bytes())?;
    read_until(stream, BootTime.now() + Duration::from_nanos(PATIENCE.as_nanos() as u64))
}

/// Everything that comes before this time; if the end does not, none of it.
fn read_until(mut stream: TcpStream, deadline: Instant) -> io::Result<Vec<u8>> {
    let (mut answer, mut piece) = (Vec::new(), vec![0; 64 * 1024]);
    while answer.len() as u64 <= ANSWER_MAX {
        let left = deadline.since(BootTime.now());
        if left == Duration::ZERO {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(std::time::Duration::from_nanos(left.as_nanos())))?;
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => answer.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(answer)
}

/// What was answered, if it was 200.
fn body(answer: &[u8]) -> Result<&[u8], String> {
    if answer.len() as u64 > ANSWER_MAX {
        return Err(format!("its answer is longer than {ANSWER_MAX} bytes"));
    }
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let Some(end) = end else { return Err("it does not answer as a member does".to_owned()) };
    let (head, body) = (&answer[..end], &answer[end + 4..]);
    let head = String::from_utf8_lossy(head);
    match head.split(' ').nth(1) {
        Some("200") => Ok(body),
        code => {
            let shown: String = String::from_utf8_lossy(body).chars().take(200).collect();
            let code = code.unwrap_or("nothing");
            Err(format!("it answers {}: {}", code.escape_debug(), shown.trim().escape_debug()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    #[test]
    fn an_address_is_http_a_host_and_a_port() {
        for good in ["http://10.0.0.2:7480", "http://one.example:80/", "http://[::1]:7480"] {
            assert!(good.parse::<Url>().is_ok(), "{good}");
        }
        for bad in [
            "10.0.0.2:7480",
            "https://a:1",
            "http://a",
            "http://:1",
            "http://a:x",
            "http://a b:1",
            "http://a:1/x",
            "http://a\r\nb:1",
            "http://a:99999",
        ] {
            let why = bad.parse::<Url>().unwrap_err();
            assert!(why.lines().count() == 1 && why.contains("as in http://"), "{why}");
        }
    }

    /// A connection to a member that sends these pieces, and rests a little before each.
    fn server(pieces: Vec<Vec<u8>>, rest: std::time::Duration) -> TcpStream {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        thread::spawn(move || {
            let Ok((mut client, _)) = listener.accept() else { return };
            for piece in pieces {
                thread::sleep(rest);
                if client.write_all(&piece).is_err() {
                    return; // nobody reads it any more
                }
            }
        });
        stream
    }

    #[test]
    fn an_answer_that_comes_byte_by_byte_is_not_waited_for() {
        let pieces = vec![b"x".to_vec(); 10_000];
        let stream = server(pieces, std::time::Duration::from_millis(5));
        let began = BootTime.now();
        let read = read_until(stream, began + Duration::from_millis(100));
        let late = read.unwrap_err().kind();
        assert!([ErrorKind::TimedOut, ErrorKind::WouldBlock].contains(&late), "{late}");
        let took = BootTime.now().since(began);
        assert!(took < Duration::from_secs(20), "{took}: it would take 50 s");
        let stream = server(vec![b"a".to_vec(), b"b".to_vec()], std::time::Duration::ZERO);
        let whole = read_until(stream, BootTime.now() + Duration::from_secs(60)).unwrap();
        assert_eq!(whole, b"ab");
    }

    #[test]
    fn a_port_alone_means_all_members() {
        assert_eq!(":7480".parse(), Ok(From::All(7480)));
        assert!(matches!("http://10.0.0.2:7480".parse(), Ok(From::Member(_))));
        for bad in [":", ":99999", ":x"] {
            let why = bad.parse::<From>().unwrap_err();
            assert!(why.contains("as in :7480"), "{why}");
        }
        let shown = |address| Url::at(address, 80).map(|url| url.to_string());
        assert_eq!(shown("10.0.0.2:7400").as_deref(), Some("http://10.0.0.2:80"));
        assert_eq!(shown("[fe80::1]:7400").as_deref(), Some("http://[fe80::1]:80"));
        assert_eq!(shown("nothing"), None);
    }

    #[test]
    fn only_an_answer_of_200_is_read() {
        assert_eq!(body(b"HTTP/1.0 200 OK\r\na: b\r\n\r\nx\n"), Ok(&b"x\n"[..]));
        let refused = body(b"HTTP/1.0 404 Not Found\r\n\r\n{\"error\":\"no\"}\n").unwrap_err();
        assert_eq!(refused, "it answers 404: {\\\"error\\\":\\\"no\\\"}");
        for bad in [&b""[..], b"nonsense", b"\r\n\r\n"] {
            assert!(body(bad).is_err());
        }
    }
}
