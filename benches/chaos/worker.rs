//! The worker: a command that shows from outside when it runs.
//!
//! **How.** Each of its processes has a place of its own among the [marks](crate::lab::marks) of
//! its member, and marks it every millisecond, or without a pause if it is to take a processor.
//!
//! **Assumptions.** The clock of a member in a time namespace is ahead by what the worker is told.
//!
//! **Promise.** It ends by itself when the file is gone, and after half an hour.

use crate::lab::clock::{now, sleep};
use crate::lab::marks::Place;
use bellwether::core::Duration;
use signal_hook::consts::SIGTERM;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The word after the program's name that makes it a worker.
pub(crate) const WORD: &str = "worker";
const LIFE: Duration = Duration::from_secs(1800);
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
