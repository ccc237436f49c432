//! The files of the demonstration: a directory of its own for the key and the sockets, which is
//! removed at the end; and the directory for the records, which is the same one unless they are to
//! be kept.

use super::cannot;
use super::cast::MEMBERS;
use super::proof::Proof;
use crate::cli::failure::Failure;
use crate::cli::file;
use bellwether::net::Keyring;
use bellwether::sim::diagram::{Options, space_time};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// How many names are tried for a directory that is not there yet.
const NAMES_MAX: u32 = 100;
/// The picture.
const PICTURE: &str = "bellwether-demo.svg";
/// The fault schedule.
const FAULTS: &str = "faults.jsonl";

/// The files of one demonstration.
#[derive(Debug)]
pub(in crate::cli) struct Place {
    own: PathBuf,
    out: Option<PathBuf>,
    kept: bool,
}

impl Place {
    /// Makes the directories and the key; refuses to mix new records with old ones.
    pub(in crate::cli) fn prepare(out: Option<&Path>) -> Result<Self, Failure> {
        if let Some(dir) = out {
            fs::create_dir_all(dir).map_err(|error| Failure::io("make", dir, &error))?;
        }
        let own = make_own().map_err(|error| cannot("make a temporary directory", &error))?;
        let place = Self { own, out: out.map(Path::to_owned), kept: false };
        let old = MEMBERS.map(|id| place.record(id));
        if let Some(path) = old.iter().find(|path| path.exists()) {
            return Err(Failure::Io(format!(
                "{} is there already, and new records would follow the old ones; name a new \
                 directory",
                path.display()
            )));
        }
        place.write_key()?;
        Ok(place)
    }

    fn write_key(&self) -> Result<(), Failure> {
        let keyring = Keyring::generate()
            .map_err(|error| Failure::Io(format!("this machine has no randomness: {error}")))?;
        let path = self.key();
        let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let written = opened.and_then(|mut file| file.write_all(keyring.to_text().as_bytes()));
        written.map_err(|error| Failure::io("write", &path, &error))
    }

    /// The group's key.
    pub(super) fn key(&self) -> PathBuf {
        self.own.join("key")
    }

    /// The directory of the members' sockets and state.
    pub(in crate::cli) fn dir(&self) -> &Path {
        &self.own
    }

    /// The standard error of a member.
    pub(super) fn complaints(&self, id: u64) -> PathBuf {
        self.own.join(format!("{id}.err"))
    }

    /// The trace of a member.
    pub(in crate::cli) fn record(&self, id: u64) -> PathBuf {
        self.out.as_ref().unwrap_or(&self.own).join(format!("{id}.jsonl"))
    }

    /// Writes the faults and the picture beside the records, if these are kept; returns the
    /// directory.
    pub(super) fn keep_records(
        &mut self,
        faults: &str,
        proof: &Proof,
    ) -> Result<Option<PathBuf>, Failure> {
        let dir = match (&self.out, proof.is_complete()) {
            (Some(out), _) => out.clone(),
            (None, true) => return Ok(None),
            (None, false) => self.own.clone(),
        };
        self.kept = dir == self.own;
        file::write(&dir.join(FAULTS), faults)?;
        let title = "Five members, of which one at most leads".to_owned();
        let options = Options { title, width: 1600, ..Options::default() };
        file::write(&dir.join(PICTURE), &space_time(&proof.merged(), &options))?;
        Ok(Some(dir))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if !self.kept {
            let _ = fs::remove_dir_all(&self.own); // what cannot be removed is only temporary
        }
    }
}

/// The directory for temporary files: in memory where possible, because members would wait for a
/// busy disk.
fn temporary() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    let chosen = std::env::var_os("TMPDIR").is_some() || !memory.is_dir();
    if chosen { std::env::temp_dir() } else { memory }
}

/// Makes a new directory that only its owner may use.
fn make_own() -> io::Result<PathBuf> {
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for number in 0..NAMES_MAX {
        let name = format!("bellwether-demo-{}-{number}", std::process::id());
        let path = temporary().join(name);
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

/// How the kept records are judged again.
pub(super) fn again(dir: &Path) -> String {
    let dir = dir.display();
    format!("bellwether check --trace {dir}/[1-5].jsonl --faults {dir}/{FAULTS}")
}

/// Where the picture is.
pub(super) fn picture(dir: &Path) -> PathBuf {
    dir.join(PICTURE)
}
