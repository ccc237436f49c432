//! What a member remembers between its lives: how many there were, what its protocol stored, and
//! for how long a promise of the last one may still bind it.
//!
//! **Assumptions.** The directory outlives the process. It need not outlive the machine's start: a
//! member that remembers nothing takes its life's number from the wall clock, and is bound to
//! nobody's support for as long as a lease lasts.
//!
//! **Promise.** What is stored is durable before [`State::store`] returns. One process at a time
//! holds the state of a member. A file that is damaged counts as lost, never as something else.

use crate::clock::wall;
use bellwether_core::Duration;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The memory of one member.
#[derive(Debug)]
pub(crate) struct State {
    /// Where it is, and the lock on it; nothing for a member that forgets.
    home: Option<(PathBuf, File)>,
    kept: Option<Kept>,
}

/// What is in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    incarnation: u64,
    /// For how long, in nanoseconds, a promise of that life may bind.
    binds: u64,
    #[serde(default)]
    memory: Option<String>,
}

/// No protocol stores more.
const FILE_MAX: u64 = 1 << 20;

impl State {
    /// The memory of this member in this directory, if one is given.
    ///
    /// # Errors
    /// If it cannot be read or written, or another process holds it.
    pub(crate) fn open(dir: Option<&Path>, name: &str) -> io::Result<Self> {
        let Some(dir) = dir else { return Ok(Self { home: None, kept: None }) };
        let place = dir.display();
        // Others may have a directory of this name that is none of theirs to read.
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|error| {
            io::Error::new(error.kind(), format!("the directory {place}: {error}"))
        })?;
        let mut options = OpenOptions::new();
        let lock_path = dir.join(format!("{name}.lock"));
        let lock = options.create(true).write(true).truncate(false).mode(0o600).open(lock_path)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
            let why = format!("another process is member {name} in {place}; end it, or use --dir");
            io::Error::new(ErrorKind::AddrInUse, why)
        })?;
        let path = dir.join(format!("{name}.state"));
        let kept = read(&path)?;
        Ok(Self { home: Some((path, lock)), kept })
    }

    /// How long the promises of the last life may bind beyond those of this one, if they may.
    pub(crate) fn still_binds(&self, binds: Duration) -> Option<Duration> {
        let kept = self.kept.as_ref()?;
        (kept.binds > binds.as_nanos()).then(|| Duration::from_nanos(kept.binds))
    }

    /// Begins a life: its number. A longer promise of a former life stays remembered: it may still
    /// run, and this life may end before it does.
    pub(crate) fn begin(&mut self, binds: Duration) -> io::Result<u64> {
        let former = self.kept.as_ref().map_or(0, |kept| kept.binds);
        self.begin_again(Duration::from_nanos(former.max(binds.as_nanos())))
    }

    /// Begins a life after all promises of former ones have run out: its number.
    pub(crate) fn begin_again(&mut self, binds: Duration) -> io::Result<u64> {
        let mut kept = self.kept.clone().unwrap_or_default();
        kept.incarnation = kept.incarnation.saturating_add(1).max(wall());
        kept.binds = binds.as_nanos();
        let incarnation = kept.incarnation;
        self.keep(kept)?;
        Ok(incarnation)
    }

    /// Others know of this life: the next one is later.
    pub(crate) fn outlive(&mut self, life: u64) {
        let kept = self.kept.get_or_insert_default();
        kept.incarnation = kept.incarnation.max(life);
    }

    /// What the protocol stored last.
    pub(crate) fn memory(&self) -> Option<Vec<u8>> {
        from_hex(self.kept.as_ref()?.memory.as_ref()?)
    }

    /// Stores what the protocol wants kept.
    pub(crate) fn store(&mut self, bytes: &[u8]) -> io::Result<()> {
        let kept = Kept { memory: Some(to_hex(bytes)), ..self.kept.clone().unwrap_or_default() };
        self.keep(kept)
    }

    fn keep(&mut self, kept: Kept) -> io::Result<()> {
        if let Some((path, _)) = &self.home {
            let text = serde_json::to_string(&kept).map_err(io::Error::other)?;
            replace(path, text.as_bytes())?;
        }
        self.kept = Some(kept);
        Ok(())
    }
}

fn read(path: &Path) -> io::Result<Option<Kept>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(FILE_MAX).read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes).ok())
}

/// All or nothing, and durable.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let next = path.with_extension("next");
    let mut options = OpenOptions::new();
    let mut file = options.create(true).write(true).truncate(true).mode(0o600).open(&next)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&next, path)?;
    match path.parent() {
        Some(dir) => File::open(dir)?.sync_all(),
        None => Ok(()),
    }
}

/// Bytes as hexadecimal digits.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes again; nothing if the digits are not ones.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| u8::try_from(digit.to_digit(16)?).ok()).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dir(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("bellwether-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir(&dir).unwrap();
        dir
    }

    const SHORT: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_millis(900);

    #[test]
    fn lives_are_counted_and_what_was_stored_comes_back() {
        let dir = dir("state");
        let mut state = State::open(Some(&dir), "g.1").unwrap();
        assert_eq!((state.memory(), state.still_binds(SHORT)), (None, None));
        let first = state.begin(LONG).unwrap();
        state.store(&[1, 0xfe]).unwrap();
        assert!(State::open(Some(&dir), "g.1").is_err(), "one process at a time");
        drop(state);
        let mut state = State::open(Some(&dir), "g.1").unwrap();
        assert_eq!(state.memory(), Some(vec![1, 0xfe]));
        assert_eq!(state.still_binds(SHORT), Some(LONG), "a longer promise may still run");
        assert_eq!(state.still_binds(LONG), None);
        assert!(state.begin(SHORT).unwrap() > first);
        assert_eq!(state.still_binds(SHORT), Some(LONG), "until it was waited for");
        assert!(state.begin_again(SHORT).unwrap() > first);
        assert_eq!(state.still_binds(SHORT), None);
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_damaged_file_counts_as_lost() {
        let dir = dir("torn");
        fs::write(dir.join("g.1.state"), b"{\"incarnation\":4,\"bin").unwrap();
        let mut state = State::open(Some(&dir), "g.1").unwrap();
        assert_eq!(state.memory(), None);
        assert!(state.begin(SHORT).unwrap() > 4, "the wall clock is far beyond");
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn digits_are_bytes_and_anything_else_is_nothing() {
        assert_eq!(from_hex(&to_hex(&[0, 127, 255])), Some(vec![0, 127, 255]));
        for text in ["0", "0g", "é0", "+1"] {
            assert_eq!(from_hex(text), None, "{text}");
        }
    }
}
