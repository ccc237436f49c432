//! A cgroup for the command and all that it starts, where the system permits one.
//!
//! **Source.** cgroup v2 (`Documentation/admin-guide/cgroup-v2.rst`): `cgroup.kill` kills all
//! processes of a cgroup and of those below it in one step that no fork escapes, of any user;
//! `cgroup.events` says when it is empty.
//!
//! **Assumptions.** Linux 5.14 or later, and permission to create a cgroup below our own: as root,
//! or in a delegated subtree.
//!
//! **Promise.** A cgroup is in use while its directory is locked, by its creator and the processes
//! that inherited the lock. An unlocked one was left behind by a watchdog and a guardian that were
//! killed together: the next watchdog kills its processes and removes it first.

use rustix::fd::OwnedFd;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, fstat, mkdir, open, stat};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// The prefix of the directory's name.
const PREFIX: &str = "bellwether-";
/// How many names are tried.
const TRIES: u32 = 16;
/// How long processes that a predecessor left behind may take to end, in milliseconds.
const PATIENCE_MS: u32 = 5000;

/// A cgroup whose processes can be killed.
#[derive(Debug)]
pub(super) struct Cgroup {
    path: PathBuf,
    kill: File,
    events: File,
}

impl Cgroup {
    /// Creates a cgroup below our own; returns it with its lock, which is held until the file is
    /// closed.
    ///
    /// # Errors
    /// Why there is no cgroup, in words.
    pub(super) fn make() -> Result<(Self, OwnedFd), String> {
        let parent = own_cgroup()?;
        let refused = |error: io::Error| format!("{}: {error}", parent.display());
        rustix::fs::access(parent.join("cgroup.procs"), rustix::fs::Access::WRITE_OK)
            .map_err(|error| refused(error.into()))?;
        sweep(&parent).map_err(refused)?;
        for number in 0..TRIES {
            let path = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
            match mkdir(&path, Mode::RWXU) {
                Err(Errno::EXIST) => continue,
                other => other.map_err(|error| refused(error.into()))?,
            }
            // A cleanup may have found it before it was locked; then try another name.
            let Some(lock) = lock(&path).map_err(refused)? else { continue };
            let made = Self::open(&path).map_err(refused).and_then(|cgroup| {
                let kind = fs::read_to_string(path.join("cgroup.type")).map_err(refused)?;
                match kind.trim() {
                    "domain" => Ok(cgroup),
                    kind => Err(format!("{}: its type is '{kind}'", path.display())),
                }
            });
            if made.is_err() {
                let _ = fs::remove_dir(&path);
            }
            return made.map(|cgroup| (cgroup, lock));
        }
        Err(format!("{}: no name was free in {TRIES} tries", parent.display()))
    }

    /// An existing cgroup.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let kill = File::options().write(true).open(path.join("cgroup.kill"))?;
        let events = File::open(path.join("cgroup.events"))?;
        Ok(Self { path: path.to_owned(), kill, events })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The file to which a process writes `0` to enter the cgroup.
    pub(super) fn entrance(&self) -> io::Result<File> {
        File::options().write(true).open(self.path.join("cgroup.procs"))
    }

    /// Kills all its processes.
    pub(super) fn kill(&self) -> io::Result<()> {
        self.kill.write_all_at(b"1", 0)
    }

    /// A file that has priority data for `poll` when the cgroup became empty since
    /// [`Self::is_empty`] was last asked.
    pub(super) fn events(&self) -> &File {
        &self.events
    }

    /// Whether it is empty or no longer exists.
    pub(super) fn is_empty(&self) -> bool {
        let mut text = [0; 128];
        match self.events.read_at(&mut text, 0) {
            Ok(length) => is_unpopulated(&text[..length]),
            Err(_) => !self.path.exists(),
        }
    }

    /// Removes the empty cgroup, and those that the command created in it.
    pub(super) fn remove(&self) {
        let _ = remove(&self.path); // the next watchdog removes what remains
    }
}

fn is_unpopulated(events: &[u8]) -> bool {
    events.split(|byte| *byte == b'\n').any(|line| line == b"populated 0")
}

fn remove(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove(&entry.path())?;
        }
    }
    fs::remove_dir(path)
}

/// Locks a directory, unless another process has, or the name has another directory by now.
///
/// # Errors
/// The system's error.
fn lock(path: &Path) -> io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let look = || {
        let folder = open(path, flags, Mode::empty())?;
        flock(&folder, FlockOperation::NonBlockingLockExclusive)?;
        Ok((fstat(&folder)?.st_ino == stat(path)?.st_ino).then_some(folder))
    };
    match look() {
        Err(Errno::WOULDBLOCK | Errno::NOENT) => Ok(None),
        found => Ok(found?),
    }
}

/// Whether this is the name of a cgroup that this program creates. Others are not touched.
fn is_ours(name: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = name.strip_prefix(PREFIX).and_then(|rest| rest.split_once('-'));
    numbers.is_some_and(|(pid, count)| number(pid) && number(count))
}

/// Kills and removes what earlier watchdogs left behind.
fn sweep(parent: &Path) -> io::Result<()> {
    for entry in fs::read_dir(parent)? {
        let entry = entry?;
        let ours = entry.file_name().to_str().is_some_and(is_ours);
        if !ours || !entry.file_type()?.is_dir() {
            continue;
        }
        let path = entry.path();
        let Some(lock) = lock(&path)? else { continue };
        if fstat(&lock)?.st_uid != geteuid().as_raw() {
            continue;
        }
        match Cgroup::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            other => end(&other?)?,
        }
    }
    Ok(())
}

fn end(cgroup: &Cgroup) -> io::Result<()> {
    for _ in 0..PATIENCE_MS {
        let killed = cgroup.kill();
        if cgroup.is_empty() {
            cgroup.remove(); // another process may have removed it already
            return Ok(());
        }
        killed?;
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let error = format!("{} was left behind and does not end", cgroup.path.display());
    Err(io::Error::other(error))
}

/// The directory of this process's cgroup.
fn own_cgroup() -> Result<PathBuf, String> {
    let read = |path: &str| {
        let text = fs::read(path).map_err(|error| format!("{path}: {error}"))?;
        Ok::<_, String>(String::from_utf8_lossy(&text).into_owned())
    };
    let (mounts, own) = (read("/proc/self/mountinfo")?, read("/proc/self/cgroup")?);
    find(&mounts, &own).ok_or_else(|| "no cgroup v2 is mounted that shows this process".to_owned())
}

/// The directory of the cgroup that `own` names, in one of these mounts.
fn find(mounts: &str, own: &str) -> Option<PathBuf> {
    let own = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    mounts.lines().find_map(|line| {
        let (mount, system) = line.split_once(" - ")?;
        if system.split(' ').next() != Some("cgroup2") {
            return None;
        }
        let mut fields = mount.split(' ').skip(3);
        let (root, point) = (unescaped(fields.next()?), unescaped(fields.next()?));
        // A mount may show a part of the tree; one of another namespace may not show our cgroup.
        let below = Path::new(own).strip_prefix(&root).ok()?;
        let hidden = below.components().any(|part| part == std::path::Component::ParentDir);
        (!hidden).then(|| Path::new(&point).join(below))
    })
}

/// Decodes spaces and the like, which are written as three octal digits.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                out.push(char::from(byte));
                out.push_str(&part[3..]);
            }
            None => out.push_str(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n";

    #[test]
    fn only_what_we_made_is_swept() {
        for (name, ours) in [
            ("bellwether-17-0", true),
            ("bellwether-limits", false),
            ("bellwether-17", false),
            ("bellwether-17-", false),
            ("bellwether-17-0-x", false),
            ("bellwether-a-0", false),
        ] {
            assert_eq!(is_ours(name), ours, "{name}");
        }
    }

    #[test]
    fn the_cgroup_is_found_wherever_it_is_mounted() {
        let own = "9:pids:/x\n0::/system.slice/web.service\n";
        for (root, point, found) in [
            ("/", "/sys/fs/cgroup", Some("/sys/fs/cgroup/system.slice/web.service")),
            ("/", "/mnt/a\\040b", Some("/mnt/a b/system.slice/web.service")),
            ("/system.slice", "/sys/fs/cgroup", Some("/sys/fs/cgroup/web.service")),
            ("/user.slice", "/sys/fs/cgroup", None),
        ] {
            let mounts = format!("{V1}41 31 0:38 {root} {point} rw shared:9 - cgroup2 none rw\n");
            assert_eq!(find(&mounts, own), found.map(PathBuf::from), "{root} {point}");
        }
        assert_eq!(find(V1, own), None);
        assert_eq!(find("", "9:pids:/x\n"), None);
        let outside = "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 none rw";
        assert_eq!(find(outside, "0::/../web"), None);
    }

    #[test]
    fn nobody_is_left_only_if_the_kernel_says_so() {
        assert!(is_unpopulated(b"populated 0\nfrozen 0\n"));
        assert!(!is_unpopulated(b"populated 1\nfrozen 0\n"));
        assert!(!is_unpopulated(b""));
    }
}
