//! A store that refuses the requests of former leaders, by their fencing tokens.
//!
//! A leader may be stopped after it asked whether it leads and before it acts: its request then
//! comes late, and no lease prevents that. The store can: it remembers the highest token that it
//! has seen, and refuses a lower one.
//!
//! ```text
//! fenced_store serve /tmp/store                      the store
//! bellwether run web … -- fenced_store write /tmp/store HELLO
//!                                                    a command writes with $BELLWETHER_TERM
//! fenced_store lead /tmp/store 1 [PEERS]             a member writes with the token of its guard
//! ```

use bellwether::{Election, Peers};
use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::ExitCode;
use std::time::Duration;

const MEMBERS: &str = "1=127.0.0.1:7401,2=127.0.0.1:7402,3=127.0.0.1:7403";
/// The longest request.
const LINE: u64 = 4096;

/// What the store holds. A real one keeps the token with the data, and checks it in the same
/// transaction in which it writes.
#[derive(Default)]
struct Store {
    highest: u64,
    lines: Vec<String>,
}

impl Store {
    /// Writes a line, unless a leader with a higher token has written.
    fn write(&mut self, token: u64, line: &str) -> Result<(), u64> {
        if token < self.highest {
            return Err(self.highest);
        }
        self.highest = token;
        self.lines.push(line.to_owned());
        Ok(())
    }

    /// Answers one request, `TOKEN LINE`.
    fn answer(&mut self, request: &str) -> String {
        let parts = request.trim_end().split_once(' ');
        let parsed = parts.and_then(|(token, line)| Some((token.parse::<u64>().ok()?, line)));
        let Some((token, line)) = parsed else { return "a request is: TOKEN LINE".to_owned() };
        match self.write(token, line) {
            Ok(()) => format!("written with token {token}"),
            Err(highest) => format!("refused: token {token} is lower than {highest}"),
        }
    }
}

/// Serves one request after the other, and shows each.
fn serve(place: &str) -> Result<(), Box<dyn Error>> {
    let mut store = Store::default();
    for stream in UnixListener::bind(place)?.incoming() {
        let mut stream = stream?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        let mut request = String::new();
        // Whoever says nothing, or no text, is not answered.
        if BufReader::new((&stream).take(LINE)).read_line(&mut request).is_ok() {
            let answer = store.answer(&request);
            println!("{}: {answer}; it has {} lines", request.trim_end(), store.lines.len());
            let _ = writeln!(stream, "{answer}"); // the client may have gone
        }
    }
    Ok(())
}

/// Asks the store to write a line; what it answers.
fn write(place: &str, token: u64, line: &str) -> Result<String, Box<dyn Error>> {
    let mut stream = UnixStream::connect(place)?;
    writeln!(stream, "{token} {line}")?;
    let mut answer = String::new();
    BufReader::new(stream.take(LINE)).read_line(&mut answer)?;
    Ok(answer.trim_end().to_owned())
}

/// A member that writes while it leads.
fn lead(place: &str, id: u64, peers: Peers) -> Result<(), Box<dyn Error>> {
    let election = Election::builder("store").peers(peers).id(id).insecure().join()?;
    loop {
        let Some(guard) = election.wait(None)? else { continue };
        // Between this question and the write any time may pass: the store decides.
        while let Some(token) = guard.term() {
            let answer = write(place, token.number(), &format!("by member {id}"))?;
            println!("member {id}: {answer}");
            guard.wait_lost(Some(Duration::from_millis(500)));
        }
    }
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["serve", place] => serve(place)?,
        ["write", place, line] => {
            let token =
                std::env::var("BELLWETHER_TERM").map_err(|_| "BELLWETHER_TERM: no token")?;
            let answer = write(place, token.parse()?, line)?;
            println!("{answer}");
            let written = answer.starts_with("written");
            return Ok(if written { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        ["lead", place, id] => lead(place, id.parse()?, MEMBERS.parse()?)?,
        ["lead", place, id, peers] => lead(place, id.parse()?, peers.parse()?)?,
        _ => return Err("serve PLACE, write PLACE LINE or lead PLACE ID [PEERS]".into()),
    }
    Ok(ExitCode::SUCCESS)
}
