//! What a check does that starts no program: it looks for a process, a file or an interface, or
//! asks by HTTP.
//!
//! **Assumptions.** Whoever calls [`look`] does not wait for it for ever: a file may be on a disk
//! that hangs.

use super::check::{Kind, Url};
use crate::cli::connect::connect;
use bellwether::net::address;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

/// The most bytes of an answer that are read: the code is in the first line.
const ANSWER_MAX: u64 = 512;
/// The most bytes of a process's name that its kernel keeps.
const COMM_MAX: usize = 15;

/// Looks once; why it is not well, if it is not.
pub(super) fn look(kind: &Kind, within: Duration) -> Result<(), String> {
    match kind {
        Kind::Exec(_) => Err("a command is started elsewhere".to_owned()),
        Kind::Process(name) => process(name),
        Kind::File(path) => match fs::metadata(path) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => Err("it is not there".to_owned()),
            Err(error) => Err(error.to_string()),
        },
        Kind::Interface(name) => match address::is_up(name) {
            Ok(true) => Ok(()),
            Ok(false) => Err("it is down, or has no carrier".to_owned()),
            Err(error) => Err(error.to_string()),
        },
        Kind::Http(url, status) => http(url, *status, within),
    }
}

/// Whether a process of this name runs: by the name that the kernel keeps, or by the first word of
/// its command line, without its path.
fn process(name: &str) -> Result<(), String> {
    let processes = fs::read_dir("/proc").map_err(|error| error.to_string())?;
    let is_number = |entry: &fs::DirEntry| entry.file_name().as_bytes()[0].is_ascii_digit();
    let found = processes.flatten().filter(is_number).any(|entry| is_called(&entry.path(), name));
    if found { Ok(()) } else { Err("no process has that name".to_owned()) }
}

fn is_called(process: &Path, name: &str) -> bool {
    // The dead that nobody has reaped do not run.
    let Ok(stat) = fs::read(process.join("stat")) else { return false };
    let state = stat.iter().rposition(|byte| *byte == b')').and_then(|at| stat.get(at + 2));
    if matches!(state, None | Some(b'Z' | b'X')) {
        return false;
    }
    let kept = fs::read(process.join("comm")).unwrap_or_default();
    if kept.trim_ascii_end() == &name.as_bytes()[..name.len().min(COMM_MAX)]
        && name.len() <= COMM_MAX
    {
        return true;
    }
    let line = fs::read(process.join("cmdline")).unwrap_or_default();
    let first = line.split(|byte| *byte == 0).next().unwrap_or_default();
    first.rsplit(|byte| *byte == b'/').next() == Some(name.as_bytes())
}

/// Asks by GET, and reads the code of the answer.
fn http(url: &Url, status: Option<u16>, within: Duration) -> Result<(), String> {
    let why = |error: io::Error| match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => "it did not answer in time".to_owned(),
        _ => error.to_string(),
    };
    let mut stream = connect(&url.place, within).map_err(why)?;
    stream.set_read_timeout(Some(within)).map_err(why)?;
    stream.set_write_timeout(Some(within)).map_err(why)?;
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: bellwether/{}\r\nAccept: */*\r\n\
         Connection: close\r\n\r\n",
        url.path,
        url.place,
        env!("CARGO_PKG_VERSION")
    );
    stream.write_all(request.as_bytes()).map_err(why)?;
    let code = code(&mut stream.take(ANSWER_MAX)).map_err(why)?;
    let is_well = status.map_or((200..300).contains(&code), |status| status == code);
    if is_well { Ok(()) } else { Err(format!("it answered with {code}")) }
}

/// The code in the first line of an answer, as in `HTTP/1.1 200 OK`.
fn code(answer: &mut dyn Read) -> io::Result<u16> {
    let (mut line, mut buffer) = (Vec::new(), [0; 64]);
    while !line.contains(&b'\n') {
        match answer.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => line.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let words = String::from_utf8_lossy(&line);
    let mut words = words.lines().next().unwrap_or_default().split(' ');
    let is_http = words.next().is_some_and(|version| version.starts_with("HTTP/1."));
    let code = words.next().and_then(|code| code.parse().ok()).filter(|_| is_http);
    code.ok_or_else(|| io::Error::other("its answer is not HTTP"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::path::PathBuf;
    use std::thread;

    const SOON: Duration = Duration::from_secs(10);

    /// Answers one request with this.
    fn server(answer: &'static str) -> Url {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = listener.local_addr().unwrap().to_string();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let _ = stream.read(&mut request).unwrap();
            assert!(request.starts_with(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1:"));
            stream.write_all(answer.as_bytes()).unwrap();
        });
        Url { place, path: "/health".to_owned() }
    }

    #[test]
    fn the_code_of_an_answer_decides() {
        let ok = "HTTP/1.1 204 No Content\r\n\r\n";
        assert_eq!(http(&server(ok), None, SOON), Ok(()));
        assert_eq!(http(&server(ok), Some(204), SOON), Ok(()));
        let wrong = "it answered with 204".to_owned();
        assert_eq!(http(&server(ok), Some(200), SOON), Err(wrong));
        let failed = http(&server("HTTP/1.0 503 Busy\r\n\r\n"), None, SOON);
        assert_eq!(failed, Err("it answered with 503".to_owned()));
        let strange = http(&server("SSH-2.0-OpenSSH\r\n"), None, SOON);
        assert_eq!(strange, Err("its answer is not HTTP".to_owned()));
        assert!(http(&server(""), None, SOON).is_err());
    }

    /// `localhost` usually has `::1`, too, where this server does not listen.
    #[test]
    fn a_server_at_one_address_of_its_host_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = format!("localhost:{}", listener.local_addr().unwrap().port());
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        });
        assert_eq!(http(&Url { place, path: "/".to_owned() }, None, SOON), Ok(()));
    }

    #[test]
    fn who_never_answers_is_given_up() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = listener.local_addr().unwrap().to_string();
        let url = Url { place, path: "/".to_owned() };
        let late = http(&url, None, Duration::from_millis(50));
        assert_eq!(late, Err("it did not answer in time".to_owned()));
    }

    #[test]
    fn a_process_has_the_name_of_its_program() {
        let own = std::env::current_exe().unwrap();
        let own = own.file_name().unwrap().to_str().unwrap().to_owned();
        assert_eq!(look(&Kind::Process(own), SOON), Ok(()));
        let nobody = look(&Kind::Process("nobody-is-called-so".to_owned()), SOON);
        assert_eq!(nobody, Err("no process has that name".to_owned()));
    }

    #[test]
    fn files_and_interfaces_are_there_or_not() {
        assert_eq!(look(&Kind::File(PathBuf::from("/proc/self")), SOON), Ok(()));
        let missing = look(&Kind::File(PathBuf::from("/proc/nothing")), SOON);
        assert_eq!(missing, Err("it is not there".to_owned()));
        assert_eq!(look(&Kind::Interface("lo".to_owned()), SOON), Ok(()));
        assert!(look(&Kind::Interface("nothing0".to_owned()), SOON).is_err());
    }
}
