//! Asks all members that this machine reaches for their recent past.
//!
//! **Promise.** A member that does not answer is named, with the reason, and the others are told
//! of. What a member answers is bounded by its memory, and by a limit here.

use super::http::{self, From, Url};
use crate::cli::failure::{Failure, with_flags};
use crate::cli::runtime_dir;
use bellwether::check::account::{ClockOffset, Piece};
use bellwether::check::live::{Line, Trace};
use bellwether::core::{Duration, Event, Record};
use bellwether::net::clock::{BootTime, Clock};
use bellwether::net::control::{ClientError, Place, find, places};
use bellwether::net::status::Status;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The most records of one member: more than its memory holds.
const RECORDS_MAX: usize = 100_000;

/// A member that did not answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Missing {
    /// Its id, or where it was asked.
    pub(super) who: String,
    pub(super) why: String,
}

/// What was collected.
#[derive(Debug)]
pub(super) struct Collected {
    pub(super) pieces: Vec<Piece>,
    pub(super) missing: Vec<Missing>,
}

/// Asks the members on this machine, and those elsewhere.
pub(super) fn collect(
    group: Option<String>,
    dir: Option<&Path>,
    remote: &[From],
    last: Option<Duration>,
) -> Result<Collected, Failure> {
    let text = |name| runtime_dir::variable(name).and_then(|value| value.into_string().ok());
    let group = group.or_else(|| text("BELLWETHER_GROUP"));
    let (mut pieces, mut missing) = (Vec::new(), Vec::new());
    let dirs = runtime_dir::all_of_process(dir);
    let here = sockets(&dirs, group.as_deref())?;
    for (dir, place) in &here {
        let found = find(dir, Some(&place.group), Some(place.id));
        match found.and_then(|mut client| {
            let mut records = Vec::new();
            client.past(last, &mut |record| {
                if records.len() < RECORDS_MAX {
                    records.push(record);
                }
            })?;
            Ok(records)
        }) {
            Ok(records) => pieces.push(piece(&place.path.display().to_string(), records, None)),
            Err(ClientError::Nobody { .. }) => {
                missing.push(Missing { who: place.id.to_string(), why: "it has ended".to_owned() });
            }
            Err(error) => {
                missing.push(Missing { who: place.id.to_string(), why: with_flags(&error) });
            }
        }
    }
    for url in elsewhere(&here, remote) {
        match self::remote(&url, last) {
            Ok(piece) => pieces.push(piece),
            Err(why) => missing.push(Missing { who: url.to_string(), why }),
        }
    }
    if pieces.is_empty() {
        return Err(nobody(group.as_deref(), &dirs, &missing));
    }
    once(&mut pieces);
    Ok(Collected { pieces, missing })
}

/// Where members elsewhere are asked: those that were named; and at a port, all that members here
/// or those know, but for the members here. Each is asked once.
fn elsewhere(here: &[(PathBuf, Place)], remote: &[From]) -> Vec<Url> {
    let named = remote.iter().filter_map(|from| match from {
        From::Member(url) => Some(url.clone()),
        From::All(_) => None,
    });
    let mut urls: Vec<Url> = Vec::new();
    for url in named {
        if !urls.contains(&url) {
            urls.push(url);
        }
    }
    let ports: Vec<u16> = remote
        .iter()
        .filter_map(|from| match from {
            From::All(port) => Some(*port),
            From::Member(_) => None,
        })
        .collect();
    if ports.is_empty() {
        return urls;
    }
    let told = here.iter().filter_map(|(dir, place)| {
        find(dir, Some(&place.group), Some(place.id)).ok()?.status().ok()
    });
    let told: Vec<Status> =
        told.chain(urls.iter().filter_map(|url| http::told(url).ok())).collect();
    let is_here = |id: u64| here.iter().any(|(_, place)| place.id == id);
    for member in told.iter().flat_map(|status| &status.members).filter(|one| !is_here(one.id)) {
        let address = member.address.as_deref().unwrap_or_default();
        for url in ports.iter().filter_map(|port| Url::at(address, *port)) {
            if !urls.contains(&url) {
                urls.push(url);
            }
        }
    }
    urls
}

/// What the member there remembers, and how its clock compares; why it does not tell, in a
/// sentence.
pub(in crate::cli) fn remote(url: &Url, last: Option<Duration>) -> Result<Piece, String> {
    let before = BootTime.now().as_nanos();
    let trace = http::past(url, last)?;
    let clock = compared(&trace, before, BootTime.now().as_nanos());
    Ok(Piece { trace, clock })
}

/// The sockets of the group, or of the one group that is here.
fn sockets(dirs: &[PathBuf], group: Option<&str>) -> Result<Vec<(PathBuf, Place)>, Failure> {
    let mut here = Vec::new();
    for dir in dirs {
        // A directory that others may not read has nothing for them.
        for place in places(dir).unwrap_or_default() {
            if group.is_none_or(|group| group == place.group) {
                here.push((dir.clone(), place));
            }
        }
    }
    let groups: BTreeSet<&str> = here.iter().map(|(_, place)| place.group.as_str()).collect();
    if groups.len() > 1 {
        let names = groups.into_iter().collect::<Vec<_>>().join(", ");
        return Err(Failure::usage(format!(
            "several groups have members here: name one of {names}"
        )));
    }
    Ok(here)
}

fn piece(name: &str, records: Vec<Record>, clock: Option<ClockOffset>) -> Piece {
    let lines = records.into_iter().enumerate();
    let lines = lines.map(|(index, record)| Line { number: index + 1, record }).collect();
    Piece { trace: Trace { name: name.to_owned(), lines, torn: 0 }, clock }
}

/// How another machine's clock compares with ours: its reading was made between our two. Clocks may
/// have drifted apart by 100 ppm since the first record.
fn compared(trace: &Trace, before: u64, after: u64) -> Option<ClockOffset> {
    let mut read = trace.lines.iter().rev().map(|line| &line.record);
    let read = read.find(|record| matches!(record.event, Event::Collected { .. }))?.t.as_nanos();
    let first = trace.lines.first().map_or(read, |line| line.record.t.as_nanos());
    let middle = before + after.saturating_sub(before) / 2;
    let add = i64::try_from(i128::from(middle) - i128::from(read)).ok()?;
    let half = after.saturating_sub(before).div_ceil(2);
    let uncertain = Duration::from_nanos(half + read.saturating_sub(first) / 10_000);
    Some(ClockOffset { add, uncertain })
}

/// Leaves out a member that was asked twice: at its socket, and by HTTP.
fn once(pieces: &mut Vec<Piece>) {
    let mut known = BTreeSet::new();
    pieces.retain(|piece| {
        let lives = piece.trace.lines.iter().filter_map(|line| match &line.record.event {
            Event::Begin(head) => Some((line.record.node, head.incarnation)),
            _ => None,
        });
        let lives: Vec<_> = lives.collect();
        let new = lives.is_empty() || lives.iter().any(|life| !known.contains(life));
        known.extend(lives);
        new
    });
}

/// Nobody answered.
fn nobody(group: Option<&str>, dirs: &[PathBuf], missing: &[Missing]) -> Failure {
    let of = group.map_or_else(String::new, |group| format!(" of group {group}"));
    let whys = missing.iter().map(|Missing { who, why }| format!(" ({who}: {why})"));
    let dir = dirs.first().map(|dir| dir.display().to_string()).unwrap_or_default();
    Failure::Io(format!(
        "no member{of} answers in {dir}{}; start one, set --dir to its directory, or name one \
         with --http-from",
        whys.collect::<String>()
    ))
}
