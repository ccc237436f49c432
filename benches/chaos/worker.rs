//! The worker: a command that shows from outside when it runs.
//!
//! **How.** Each of its processes writes the time into a place of its own in one file of its
//! member, when it begins and then again and again: every millisecond, or without a pause if it is
//! to take a processor. The first and the last of these times are between which it ran. No process
//! can forge that, and how long the kernel takes to clear away a killed one does not matter.
//!
//! **Assumptions.** The clock of a member in a time namespace is ahead by what the worker is told.
//!
//! **Promise.** It ends by itself when the file is gone, and after half an hour.

use crate::lab::clock::{now, sleep};
use bellwether::core::{Duration, Instant};
use signal_hook::consts::SIGTERM;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The word after the program's name that makes it a worker.
pub(crate) const WORD: &str = "worker";
const LIFE: Duration = Duration::from_secs(1800);
/// A place: the process, its first and its last time.
const PLACE: usize = 24;
/// So many times are written between two looks at the file's name.
const LOOK: u64 = 1000;

/// What kind of a worker a member has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Habits {
    /// So many processes that never sleep; none: one that sleeps between its marks.
    pub(crate) spinners: u32,
    /// Whether it ignores SIGTERM.
    pub(crate) stubborn: bool,
    /// How far the clock of its member is ahead.
    pub(crate) ahead: Duration,
}

/// The command of a member.
pub(crate) fn command(marks: &str, habits: Habits) -> Vec<String> {
    let program = std::env::current_exe().expect("a program has a file");
    let program = program.to_str().expect("the target folder has a plain name").to_owned();
    let Habits { spinners, stubborn, ahead } = habits;
    let numbers = [u64::from(spinners), u64::from(stubborn), ahead.as_nanos()];
    let words = [program, WORD.to_owned(), marks.to_owned()].into_iter();
    words.chain(numbers.map(|number| number.to_string())).collect()
}

/// What the command does: `worker FILE SPINNERS STUBBORN AHEAD`.
pub(crate) fn run(words: &[String]) -> ExitCode {
    let number = |index: usize| words.get(index).and_then(|word| word.parse::<u64>().ok());
    let (Some(path), Some(spinners), Some(stubborn), Some(ahead)) =
        (words.first(), number(1), number(2), number(3))
    else {
        return ExitCode::from(2);
    };
    let ahead = Duration::from_nanos(ahead);
    let Ok(place) = Place::take(path, ahead) else { return ExitCode::FAILURE };
    if stubborn > 0 {
        let _ = signal_hook::flag::register(SIGTERM, Arc::new(AtomicBool::new(false)));
    }
    for _ in 1..spinners {
        let program = std::env::current_exe().unwrap_or_default();
        let (one, rest) = ("1".to_owned(), [stubborn, ahead.as_nanos()].map(|it| it.to_string()));
        let words = [WORD.to_owned(), path.clone(), one].into_iter().chain(rest);
        let _ = Command::new(program).args(words).stdin(Stdio::null()).spawn();
    }
    let end = now() + LIFE;
    for count in 1.. {
        if place.mark().is_err() || now() > end {
            break;
        }
        if count % LOOK == 0 && !std::path::Path::new(path).exists() {
            break;
        }
        if spinners == 0 {
            sleep(Duration::from_millis(1));
        }
    }
    ExitCode::SUCCESS
}

/// One process's place in the file.
struct Place {
    file: File,
    at: u64,
    ahead: Duration,
}

impl Place {
    fn take(path: &str, ahead: Duration) -> std::io::Result<Self> {
        use std::io::Seek;
        let time = now() - ahead;
        let mut end = File::options().append(true).open(path)?;
        let numbers = [u64::from(std::process::id()), time.as_nanos(), time.as_nanos()];
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        end.write_all(&bytes)?;
        let at = end.stream_position()? - PLACE as u64;
        // A file that appends cannot write anywhere else.
        Ok(Self { file: File::options().write(true).open(path)?, at, ahead })
    }

    fn mark(&self) -> std::io::Result<()> {
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
