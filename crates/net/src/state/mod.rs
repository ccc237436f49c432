//! The durable state of a member: its incarnation number, what its protocol stored, and how long a
//! promise of the last incarnation may still bind.
//!
//! **Assumptions.** The directory outlives the process. It need not survive a reboot: a member
//! without stored state takes its incarnation number from the wall clock, and supports no leader
//! for as long as a lease lasts. Everybody who may write to the directory is trusted. Its content
//! may be damaged, or not be a file.
//!
//! **Promise.** Stored bytes are durable before [`State::store`] returns. One process at a time
//! holds the state of a member. A file that is damaged, of another member or group, or older than
//! the one that was last written here counts as lost: it is renamed, and `status` says where it is.
//! Nothing in the directory makes the member wait.
//!
//! An older file is known by the number of writes, which the lock file has too. That number is
//! written after the file, so it is never ahead of a file that was not replaced. If the lock file
//! is restored together with it, or is missing, nothing tells an older file from the latest one.
//!
//! | module | what it holds |
//! |---|---|
//! | `stored` | the content of the file, and its checks |
//! | `checked` | a file with a checksum |
//! | `file` | opening, reading and replacing files without blocking |

pub(crate) mod checked;
pub(crate) mod file;
mod stored;

use crate::clock::wall;
use crate::frame::latest_life;
use bellwether_core::{Duration, from_hex, to_hex};
use rustix::fs::{FlockOperation, FsWord, flock, statfs};
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _};
use std::path::{Path, PathBuf};
use stored::Stored;

pub(crate) use stored::BINDS_MAX;

/// The durable state of one member.
#[derive(Debug)]
pub(crate) struct State {
    /// The file and its lock; `None` for a member without a state directory.
    home: Option<(PathBuf, File)>,
    /// The owner of the state: group and member.
    name: String,
    /// The founding voters of its group with their addresses, where members keep a record.
    founders: Vec<String>,
    stored: Option<Stored>,
    /// Where a damaged file was moved to.
    damage: Option<String>,
    /// The directory, if it is in memory.
    in_memory: Option<PathBuf>,
}

/// What the kernel calls a file system in memory.
const TMPFS_MAGIC: FsWord = 0x0102_1994;

impl State {
    /// Opens the state of this member in this directory, if one is given.
    ///
    /// # Errors
    /// If it cannot be read or written, if another process holds it, or if its path is not a
    /// regular file.
    pub(crate) fn open(dir: Option<&Path>, name: &str, founders: Vec<String>) -> io::Result<Self> {
        let (name, none) = (name.to_owned(), None);
        let mut state =
            Self { home: None, name, founders, stored: None, damage: none, in_memory: None };
        let Some(dir) = dir else { return Ok(state) };
        let name = state.name.clone();
        let place = dir.display();
        // For its owner alone: others must not read it.
        DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(|error| {
            io::Error::new(error.kind(), format!("the directory {place}: {error}"))
        })?;
        let lock = file::open_to_write(&dir.join(format!("{name}.lock")))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|_| {
            let why = format!("another process is member {name} in {place}; end it first");
            io::Error::new(ErrorKind::AddrInUse, why)
        })?;
        let path = dir.join(format!("{name}.state"));
        let writes = written(&lock);
        let lost = Some(Stored { writes, lost: true, ..Stored::default() });
        state.stored = match file::read(&path, checked::FILE_MAX)? {
            Some(bytes) => match state.believe(&bytes, writes) {
                Ok(stored) => Some(stored),
                Err(why) => {
                    state.damage = Some(put_aside(&path, &why)?);
                    lost
                }
            },
            None => lost.filter(|_| writes > 0),
        };
        state.home = Some((path, lock));
        // If the system does not tell, nobody is warned.
        let found = statfs(dir).is_ok_and(|found| found.f_type == TMPFS_MAGIC);
        state.in_memory = found.then(|| dir.to_owned());
        Ok(state)
    }

    /// Reads a file that can be the one that was last written here; fails with the reason.
    fn believe(&self, bytes: &[u8], writes: u64) -> Result<Stored, String> {
        let stored = Stored::decode(bytes, &self.name, latest_life(wall()))?;
        if stored.is_foreign(&self.founders) {
            let others = stored.founders.join(", ");
            return Err(format!("it is of another group of this name, founded by {others}"));
        }
        if stored.writes < writes && stored.writes > 0 {
            let behind = writes - stored.writes;
            return Err(format!("it is older than the one last written here, by {behind} writes"));
        }
        Ok(stored)
    }

    /// Where a file that is not used was moved to, if there was one.
    pub(crate) fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// The directory, if it is in memory and so does not survive the machine.
    pub(crate) fn in_memory(&self) -> Option<&Path> {
        self.in_memory.as_deref()
    }

    /// Where the bytes are that the protocol stored, if it did.
    pub(crate) fn holds(&self) -> Option<String> {
        self.stored.as_ref()?.memory.as_ref()?;
        let place = self.home.as_ref().map(|(path, _)| path.display().to_string());
        Some(format!("{} has its record", place.unwrap_or_default()))
    }

    /// Why it may have had a record, if it has none now: an earlier file is unused or missing. And
    /// what an operator can do who knows better.
    pub(crate) fn may_have_held(&self) -> Option<(String, String)> {
        let (path, _) = self.home.as_ref()?;
        let aside = aside(path);
        let lost = self.stored.as_ref().is_some_and(|stored| stored.lost);
        (lost || fs::symlink_metadata(&aside).is_ok()).then(|| {
            let (path, lock) = (path.display(), path.with_extension("lock"));
            let unless = format!(
                "; or, if this member certainly never voted, remove {path}, {} and {} and start \
                 again",
                aside.display(),
                lock.display()
            );
            ("a state file that may have had its record is not used or missing".to_owned(), unless)
        })
    }

    /// How long the promises of the last incarnation may bind, if that is longer than those of this
    /// one.
    pub(crate) fn still_binds(&self, binds: Duration) -> Option<Duration> {
        let stored = self.stored.as_ref()?;
        (stored.binds > binds.as_nanos()).then(|| Duration::from_nanos(stored.binds))
    }

    /// Begins an incarnation and returns its number. A longer promise of an earlier incarnation
    /// stays stored: it may still bind after this one has ended.
    pub(crate) fn begin(&mut self, binds: Duration) -> io::Result<u64> {
        let former = self.stored.as_ref().map_or(0, |stored| stored.binds);
        self.begin_again(Duration::from_nanos(former.max(binds.as_nanos())))
    }

    /// Begins an incarnation after all promises of earlier ones have expired, and returns its
    /// number.
    pub(crate) fn begin_again(&mut self, binds: Duration) -> io::Result<u64> {
        let mut stored = self.stored.clone().unwrap_or_default();
        stored.incarnation = stored.incarnation.saturating_add(1).max(wall());
        stored.binds = binds.as_nanos();
        let incarnation = stored.incarnation;
        self.keep(stored)?;
        Ok(incarnation)
    }

    /// Makes the next incarnation later than this one, which others know of.
    pub(crate) fn outlive(&mut self, life: u64) {
        let stored = self.stored.get_or_insert_default();
        stored.incarnation = stored.incarnation.max(life.min(latest_life(wall())));
    }

    /// The bytes that the protocol stored last.
    pub(crate) fn memory(&self) -> Option<Vec<u8>> {
        from_hex(self.stored.as_ref()?.memory.as_ref()?)
    }

    /// Stores bytes for the protocol.
    pub(crate) fn store(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (memory, lost) = (Some(to_hex(bytes)), false);
        let stored = Stored { memory, lost, ..self.stored.clone().unwrap_or_default() };
        self.keep(stored)
    }

    fn keep(&mut self, mut stored: Stored) -> io::Result<()> {
        stored.founders.clone_from(&self.founders);
        if let Some((path, lock)) = &self.home {
            stored.writes = stored.writes.max(written(lock)).saturating_add(1);
            let text = stored.encode(&self.name)?;
            if text.len() >= checked::FILE_MAX {
                let most = checked::FILE_MAX;
                return Err(io::Error::other(format!(
                    "the state must have less than {most} bytes"
                )));
            }
            file::replace(path, text.as_bytes())?;
            // Without it an older file is not noticed, which is no reason not to vote.
            let _ = lock.write_all_at(format!("{:020}", stored.writes).as_bytes(), 0);
        }
        self.stored = Some(stored);
        Ok(())
    }
}

/// How often the state file was written, as far as its lock file knows.
fn written(lock: &File) -> u64 {
    let mut digits = [0; 20];
    let read = lock.read_exact_at(&mut digits, 0).ok();
    read.and_then(|()| str::from_utf8(&digits).ok()?.parse().ok()).unwrap_or(0)
}

/// Where a file is kept that is not used.
fn aside(path: &Path) -> PathBuf {
    path.with_extension("state.damaged")
}

/// Renames a file that is not used, so that people can look at it and a new one can be written.
fn put_aside(path: &Path, why: &str) -> io::Result<String> {
    let aside = aside(path);
    fs::rename(path, &aside).map_err(|error| {
        let text = format!("{} is not used ({why}) and cannot be renamed: {error}", path.display());
        io::Error::new(error.kind(), text)
    })?;
    Ok(format!(
        "its state file is not used ({why}) and is kept as {}: what it knew of its former life \
         counts as lost",
        aside.display()
    ))
}

/// The state file, for fuzzers.
#[cfg(feature = "fuzzing")]
pub mod fuzzing {
    use super::{Stored, checked, from_hex, latest_life};

    /// Whether these bytes are a state file, or would be one below the right checksum.
    pub fn read(bytes: &[u8]) -> bool {
        let summed = checked::encode("bellwether-state 1", &String::from_utf8_lossy(bytes));
        let read = |bytes: &[u8]| Stored::decode(bytes, "g.1", latest_life(0)).ok();
        let found = read(bytes).or_else(|| read(summed.as_bytes()));
        if let Some(stored) = &found {
            let again = stored.encode("g.1").map(|text| read(text.as_bytes()));
            assert!(again.is_ok_and(|again| again.as_ref() == Some(stored)), "it comes back");
            stored.memory.as_deref().map(from_hex);
        }
        found.is_some()
    }

    /// What a member writes.
    pub fn seeds() -> Vec<Vec<u8>> {
        let stored = Stored {
            incarnation: 1_790_000_000_000_000_000,
            binds: 330_000_000,
            memory: Some("01fe".to_owned()),
            founders: vec!["1=10.0.0.1:7400".to_owned()],
            writes: 7,
            lost: true,
        };
        let whole = stored.encode("g.1").unwrap_or_default();
        let body = whole.lines().nth(1).unwrap_or_default().to_owned();
        vec![whole.into_bytes(), body.into_bytes()]
    }
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

    fn open(dir: &Path) -> io::Result<State> {
        State::open(Some(dir), "g.1", Vec::new())
    }

    const SHORT: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_millis(900);

    #[test]
    fn lives_are_counted_and_what_was_stored_comes_back() {
        let dir = dir("state");
        let mut state = open(&dir).unwrap();
        assert_eq!((state.memory(), state.still_binds(SHORT)), (None, None));
        let first = state.begin(LONG).unwrap();
        state.store(&[1, 0xfe]).unwrap();
        assert!(open(&dir).is_err(), "one process at a time");
        drop(state);
        let mut state = open(&dir).unwrap();
        assert_eq!(state.memory(), Some(vec![1, 0xfe]));
        assert_eq!(state.still_binds(SHORT), Some(LONG), "a longer promise may still run");
        assert_eq!(state.still_binds(LONG), None);
        assert!(state.begin(SHORT).unwrap() > first);
        assert_eq!(state.still_binds(SHORT), Some(LONG), "until it was waited for");
        assert!(state.begin_again(SHORT).unwrap() > first);
        assert_eq!(state.still_binds(SHORT), None);
        fs::remove_dir_all(dir).unwrap();
    }

    /// A file that was damaged or removed may have had a record, until the next one has it, however
    /// often the member begins in between.
    #[test]
    fn a_record_that_may_be_lost_is_known_until_there_is_one_again() {
        type Lose<'a> = (&'a dyn Fn(&Path), bool);
        let losses: [Lose<'_>; 2] = [
            (&|file| fs::write(file, b"torn").unwrap(), false),
            (&|file| fs::remove_file(file).unwrap(), true),
        ];
        for (lose, whole) in losses {
            let dir = dir("lost");
            let mut state = open(&dir).unwrap();
            assert_eq!(state.may_have_held(), None, "it is new");
            state.begin(SHORT).unwrap();
            assert_eq!(state.may_have_held(), None, "it has begun, and stored nothing");
            drop(state);
            assert_eq!(open(&dir).unwrap().may_have_held(), None);
            lose(&dir.join("g.1.state"));
            for _ in 0..2 {
                let mut state = open(&dir).unwrap();
                let (_, unless) = state.may_have_held().expect("nobody knows what the file had");
                for name in ["g.1.state, ", "g.1.state.damaged and ", "g.1.lock and start"] {
                    assert!(unless.contains(name), "{unless}");
                }
                state.begin(SHORT).unwrap();
            }
            open(&dir).unwrap().store(&[5]).unwrap();
            assert_eq!(open(&dir).unwrap().may_have_held().is_none(), whole);
            fs::remove_dir_all(dir).unwrap();
        }
    }

    /// A state directory with these bytes as the file.
    fn found(bytes: &[u8], test: &str) -> (State, PathBuf) {
        let dir = dir(test);
        fs::write(dir.join("g.1.state"), bytes).unwrap();
        (open(&dir).unwrap(), dir)
    }

    #[test]
    fn a_damaged_file_counts_as_lost_and_is_put_aside() {
        let whole = Stored { incarnation: 4, ..Stored::default() }.encode("g.1").unwrap();
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
            assert_eq!(open(&dir).unwrap().damage(), None, "it is whole again");
            fs::remove_dir_all(dir).unwrap();
        }
    }

    #[test]
    fn a_whole_file_is_believed_if_it_can_be_true() {
        let year = 31_557_600_000_000_000;
        let life = |incarnation| Stored { incarnation, ..Stored::default() };
        let binds = |binds: Duration| Stored { binds: binds.as_nanos(), ..life(4) };
        let cases = [
            (life(wall() + year), "g.1", None),
            (life(wall() + 101 * year), "g.1", Some("cannot have begun yet")),
            (life(u64::MAX), "g.1", Some("cannot have begun yet")),
            (binds(BINDS_MAX), "g.1", None),
            (binds(BINDS_MAX + Duration::from_nanos(1)), "g.1", Some("for more than")),
            (binds(Duration::MAX), "g.1", Some("for more than")),
            (life(4), "g.2", Some("member g.2")),
        ];
        for (stored, name, why) in cases {
            let (mut state, dir) = found(stored.encode(name).unwrap().as_bytes(), "true");
            match (why, state.damage()) {
                (None, None) => assert!(state.begin(SHORT).unwrap() > stored.incarnation),
                (Some(why), Some(damage)) => {
                    assert!(damage.contains(why), "{damage}");
                    assert!(state.begin(SHORT).unwrap() <= wall(), "{stored:?} is not believed");
                }
                other => panic!("{stored:?}: {other:?}"),
            }
            fs::remove_dir_all(dir).unwrap();
        }
    }

    #[test]
    fn a_file_that_is_put_back_later_is_known_by_the_number_of_writes() {
        let dir = dir("older");
        let (file, aside) = (dir.join("g.1.state"), dir.join("aside"));
        let mut state = open(&dir).unwrap();
        state.begin(SHORT).unwrap();
        state.store(&[5]).unwrap();
        fs::copy(&file, &aside).unwrap();
        drop(state);
        assert_eq!(open(&dir).unwrap().memory(), Some(vec![5]), "it is the latest one");
        open(&dir).unwrap().store(&[6]).unwrap();
        fs::copy(&aside, &file).unwrap();
        let mut state = open(&dir).unwrap();
        let damage = state.damage().unwrap();
        assert!(damage.contains("older than the one last written here, by 1 writes"), "{damage}");
        assert_eq!(state.memory(), None);
        state.begin(SHORT).unwrap();
        drop(state);
        assert_eq!(open(&dir).unwrap().damage(), None, "the next file is newer than both");
        // Without the number in the lock file nothing is known, and nothing is refused.
        fs::remove_file(dir.join("g.1.lock")).unwrap();
        fs::copy(&aside, &file).unwrap();
        assert_eq!(open(&dir).unwrap().memory(), Some(vec![5]));
        fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_file_of_another_group_with_the_same_name_counts_as_lost() {
        let dir = dir("foreign");
        let founders = |port: u16| -> Vec<String> {
            (1..4).map(|id| format!("{id}=10.0.0.{id}:{port}")).collect()
        };
        let open = |founders| State::open(Some(&dir), "g.1", founders).unwrap();
        open(founders(7400)).store(&[5]).unwrap();
        let mut moved = founders(7400);
        moved[0] = "1=10.0.0.9:7400".to_owned();
        assert_eq!(open(moved).memory(), Some(vec![5]), "one member has moved");
        assert_eq!(open(Vec::new()).memory(), Some(vec![5]), "not compared");
        let other = open(founders(7500));
        let damage = other.damage().unwrap();
        assert!(damage.contains("founded by 1=10.0.0.1:7400, 2="), "{damage}");
        assert_eq!(other.memory(), None);
        fs::remove_dir_all(&dir).unwrap();
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
                let opened = open(&dir);
                let error = opened.and_then(|mut state| state.begin(SHORT)).unwrap_err();
                let text = error.to_string();
                assert!(text.contains(name) && text.contains(kind), "{kind} as {name}: {text}");
                fs::remove_dir_all(dir).unwrap();
            }
        }
    }
}
