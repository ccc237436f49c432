//! Marks: when a process ran, as it shows itself.
//!
//! **How.** Each process writes the time into a place of its own in a file, when it begins and then
//! again and again. Between the first and the last of these times it ran. How long the kernel takes
//! to clear away a killed process does not matter, which a lock would also wait for.
//!
//! **Assumptions.** A process marks often enough: what it does after its last mark is not seen.

use super::clock::now;
use bellwether::core::{Duration, Instant};
use std::fs::File;
use std::io::{Seek, Write};
use std::os::unix::fs::FileExt;

/// The bytes of a place: the process, its first and its last time.
const PLACE: usize = 24;

/// One process's place in the file.
pub(crate) struct Place {
    file: File,
    at: u64,
    ahead: Duration,
}

impl Place {
    /// A place at the end of this file, with the first mark. The clock is ahead by so much.
    pub(crate) fn take(path: &str, ahead: Duration) -> std::io::Result<Self> {
        let time = now() - ahead;
        let mut end = File::options().append(true).open(path)?;
        let numbers = [u64::from(std::process::id()), time.as_nanos(), time.as_nanos()];
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        end.write_all(&bytes)?;
        let at = end.stream_position()? - PLACE as u64;
        // A file that appends cannot write anywhere else.
        Ok(Self { file: File::options().write(true).open(path)?, at, ahead })
    }

    /// It runs.
    pub(crate) fn mark(&self) -> std::io::Result<()> {
        let time = (now() - self.ahead).as_nanos();
        self.file.write_all_at(&time.to_le_bytes(), self.at + 16)
    }
}

/// When one process of a worker ran, by its own marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) id: u64,
    pub(crate) pid: u64,
    pub(crate) first: Instant,
    pub(crate) last: Instant,
}

/// The marks of a member's workers so far.
pub(crate) fn runs(id: u64, path: &str) -> Vec<Run> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let run = |place: &[u8]| {
        let number = |at: usize| {
            u64::from_le_bytes(place[at..at + 8].try_into().expect("a place has three numbers"))
        };
        let time = |at: usize| Instant::from_nanos(number(at));
        Run { id, pid: number(0), first: time(8), last: time(16) }
    };
    bytes.chunks_exact(PLACE).map(run).collect()
}

/// Two processes of different members that ran at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overlap {
    pub(crate) one: Run,
    pub(crate) other: Run,
    pub(crate) from: Instant,
    pub(crate) to: Instant,
}

/// All overlaps of processes of different members, earliest first, one for each pair of runs that
/// follow each other.
pub(crate) fn overlaps(runs: &[Run]) -> Vec<Overlap> {
    let mut sorted = runs.to_vec();
    sorted.sort_by_key(|run| run.first);
    let mut found = Vec::new();
    for (at, one) in sorted.iter().enumerate() {
        for other in sorted[at + 1..].iter().take_while(|other| other.first < one.last) {
            if other.id != one.id {
                let to = one.last.min(other.last);
                found.push(Overlap { one: *one, other: *other, from: other.first, to });
            }
        }
    }
    found
}
