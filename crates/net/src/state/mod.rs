//! What a member remembers between its lives: how many there were, what its protocol stored, and
//! for how long a promise of the last one may still bind it.
//!
//! **Assumptions.** The directory outlives the process. It need not outlive the machine's start: a
//! member that remembers nothing takes its life's number from the wall clock, and is bound to
//! nobody's support for as long as a lease lasts. Whoever may write to the directory is trusted;
//! what is found in it need not be whole, nor a file.
//!
//! **Promise.** What is stored is durable before [`State::store`] returns. One process at a time
//! holds the state of a member. A file that is damaged counts as lost, never as something else: it
//! is put aside, and `status` says where. Nothing in the directory makes the member wait.
//!
//! | module | what it holds |
//! |---|---|
//! | `kept` | what is in the file, as text, and when it is believed |
//! | `file` | opening, reading and replacing files without waiting |

mod file;
mod kept;

use crate::clock::wall;
use crate::frame::latest_life;
use bellwether_core::Duration;
use kept::Kept;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

pub(crate) use kept::BINDS_MAX;

/// The memory of one member.
#[derive(Debug)]
pub(crate) struct State {
    /// Where it is, and the lock on it; nothing for a member that forgets.
    home: Option<(PathBuf, File)>,
    /// Whose it is: group and member.
    name: String,
    kept: Option<Kept>,
    /// What became of a file that was damaged.
    damage: Option<String>,
}

impl State {
    /// The memory of this member in this directory, if one is given.
    ///
    /// # Errors
    /// If it cannot be read or written, or another process holds it, or something that is no file
    /// is in its place.
    pub(crate) fn open(dir: Option<&Path>, name: &str) -> io::Result<Self> {
        let mut state = Self { home: None, name: name.to_owned(), kept: None, damage: None };
        let Some(dir) = dir else { return Ok(state) };
        let place = dir.display();
        // Others may have a directory of this name that is none of theirs to read.
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|error| {
            io::Error::new(error.kind(), format!("the directory {place}: {error}"))
        })?;
        let lock = file::open_to_write(&dir.join(format!("{name}.lock")))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
            let why = format!("another process is member {name} in {place}; end it first");
            io::Error::new(ErrorKind::AddrInUse, why)
        })?;
        let path = dir.join(format!("{name}.state"));
        if let Some(bytes) = file::read(&path, kept::FILE_MAX)? {
            match Kept::decode(&bytes, name, latest_life(wall())) {
                Ok(kept) => state.kept = Some(kept),
                Err(why) => state.damage = Some(put_aside(&path, &why)?),
            }
        }
        state.home = Some((path, lock));
        Ok(state)
    }

    /// What became of a file that was damaged, if it was.
    pub(crate) fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
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
        kept.incarnation = kept.incarnation.max(life.min(latest_life(wall())));
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
            let text = kept.encode(&self.name)?;
            if text.len() >= kept::FILE_MAX {
                let most = kept::FILE_MAX;
                return Err(io::Error::other(format!("a state has less than {most} bytes")));
            }
            file::replace(path, text.as_bytes())?;
        }
        self.kept = Some(kept);
        Ok(())
    }
}

/// Keeps a damaged file for whoever wants to look at it, out of the way of the next one.
fn put_aside(path: &Path, why: &str) -> io::Result<String> {
    let aside = path.with_extension("state.damaged");
    fs::rename(path, &aside).map_err(|error| {
        let text =
            format!("{} is damaged ({why}) and cannot be put aside: {error}", path.display());
        io::Error::new(error.kind(), text)
    })?;
    Ok(format!(
        "its state file was damaged ({why}) and is kept as {}: what it knew of its former life \
         counts as lost",
        aside.display()
    ))
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

    /// What a directory holds under the name of a member's state.
    fn found(bytes: &[u8], test: &str) -> (State, PathBuf) {
        let dir = dir(test);
        fs::write(dir.join("g.1.state"), bytes).unwrap();
        (State::open(Some(&dir), "g.1").unwrap(), dir)
    }

    #[test]
    fn a_damaged_file_counts_as_lost_and_is_put_aside() {
        let whole = Kept { incarnation: 4, ..Kept::default() }.encode("g.1").unwrap();
        let mut flipped = whole.clone().into_bytes();
        *flipped.last_mut().unwrap() ^= 1;
        let first = whole.lines().next().unwrap();
        for (bytes, why) in [
            (&b""[..], "does not begin"),
            (b"{\"incarnation\":4,\"binds\":0}", "does not begin"),
            (&whole.as_bytes()[..whole.len() - 1], "checksum"),
            (&flipped, "checksum"),
            (first.as_bytes(), "does not begin"),
            (&[b'x'; 1 << 20], "longer than"),
        ] {
            let (mut state, dir) = found(bytes, "torn");
            assert_eq!(state.memory(), None);
            let damage = state.damage().unwrap();
            assert!(damage.contains(why) && damage.contains("g.1.state.damaged"), "{damage}");
            assert_eq!(fs::read(dir.join("g.1.state.damaged")).unwrap(), bytes);
            assert!(state.begin(SHORT).unwrap() > 4, "the wall clock is far beyond");
            drop(state);
            assert_eq!(State::open(Some(&dir), "g.1").unwrap().damage(), None, "it is whole again");
            fs::remove_dir_all(dir).unwrap();
        }
    }

    #[test]
    fn a_whole_file_is_believed_if_it_can_be_true() {
        let year = 31_557_600_000_000_000;
        let life = |incarnation| Kept { incarnation, ..Kept::default() };
        let binds = |binds: Duration| Kept { binds: binds.as_nanos(), ..life(4) };
        let cases = [
            (life(wall() + year), "g.1", None),
            (life(wall() + 101 * year), "g.1", Some("cannot have begun yet")),
            (life(u64::MAX), "g.1", Some("cannot have begun yet")),
            (binds(BINDS_MAX), "g.1", None),
            (binds(BINDS_MAX + Duration::from_nanos(1)), "g.1", Some("for more than")),
            (binds(Duration::MAX), "g.1", Some("for more than")),
            (life(4), "g.2", Some("member g.2")),
        ];
        for (kept, name, why) in cases {
            let (mut state, dir) = found(kept.encode(name).unwrap().as_bytes(), "true");
            match (why, state.damage()) {
                (None, None) => assert!(state.begin(SHORT).unwrap() > kept.incarnation),
                (Some(why), Some(damage)) => {
                    assert!(damage.contains(why), "{damage}");
                    assert!(state.begin(SHORT).unwrap() <= wall(), "{kept:?} is not believed");
                }
                other => panic!("{kept:?}: {other:?}"),
            }
            fs::remove_dir_all(dir).unwrap();
        }
    }

    #[test]
    fn whatever_is_in_the_place_of_a_file_is_named_and_never_waited_for() {
        type Make<'a> = (&'a str, &'a dyn Fn(&Path));
        let make: [Make<'_>; 4] = [
            ("pipe", &|at| {
                let kind = rustix::fs::FileType::Fifo;
                rustix::fs::mknodat(rustix::fs::CWD, at, kind, 0o600.into(), 0).unwrap();
            }),
            ("directory", &|at| fs::create_dir(at).unwrap()),
            ("symbolic link", &|at| std::os::unix::fs::symlink("/dev/null", at).unwrap()),
            ("socket", &|at| drop(std::os::unix::net::UnixListener::bind(at).unwrap())),
        ];
        for (kind, make) in make {
            for name in ["g.1.state", "g.1.lock", "g.1.next"] {
                let dir = dir("odd");
                make(&dir.join(name));
                let opened = State::open(Some(&dir), "g.1");
                let error = opened.and_then(|mut state| state.begin(SHORT)).unwrap_err();
                let text = error.to_string();
                assert!(text.contains(name) && text.contains(kind), "{kind} as {name}: {text}");
                fs::remove_dir_all(dir).unwrap();
            }
        }
    }

    #[test]
    fn digits_are_bytes_and_anything_else_is_nothing() {
        assert_eq!(from_hex(&to_hex(&[0, 127, 255])), Some(vec![0, 127, 255]));
        for text in ["0", "0g", "é0", "+1"] {
            assert_eq!(from_hex(text), None, "{text}");
        }
    }
}
