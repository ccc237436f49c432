//! The folder of a sweep: its description, its pieces and its rows.
//!
//! A piece is written under a name of its process and then renamed, so that it is there whole or
//! not at all, whenever the process is killed. A piece that a failing disk damaged is made again:
//! its checksum tells. Each build of the program has a folder of its own for its pieces, and reads
//! no others: they may come from other code.

use super::program;
use crate::cli::Done;
use crate::cli::failure::Failure;
use bellwether::analysis::sweep::work::Keep;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The description of a sweep.
const DESCRIPTION: &str = "sweep.toml";
/// Where the pieces are, of all builds.
const PIECES: &str = "pieces";
/// The description of figures that are made in shares.
pub(super) const FIGURES: &str = "figures.toml";

/// What the pieces of a folder belong to. No folder has both: figures remove all pieces once they
/// are made, and `merge` joins what one description says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Sweep,
    Figures,
}

impl Owner {
    /// Refuses a folder of the other one.
    fn check(self, path: &Path) -> Done {
        let (other, whose) = match self {
            Self::Sweep => (FIGURES, "shares of figures keep"),
            Self::Figures => (DESCRIPTION, "a sweep keeps"),
        };
        if !path.join(other).exists() {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "{}: it has {other}, so {whose} pieces there; name another folder, or remove that \
             file if they are not needed",
            path.display()
        )))
    }
}

/// A folder with pieces.
pub(super) struct Folder {
    path: PathBuf,
    /// The name of the program, whose pieces these are.
    program: &'static str,
}

impl Folder {
    /// This folder, made if it is not there.
    pub(super) fn make(path: &Path, owner: Owner) -> Result<Self, Failure> {
        if path.exists() && !path.is_dir() {
            let path = path.display();
            return Err(Failure::usage(format!("--out {path}: that is a file; name a folder")));
        }
        owner.check(path)?;
        let folder = Self { path: path.to_owned(), program: program::name()? };
        fs::create_dir_all(folder.pieces())
            .map_err(|error| Failure::io("make the folder", path, &error))?;
        Ok(folder)
    }

    /// This folder of a sweep, and the description in it.
    pub(super) fn open(path: &Path) -> Result<(Self, String), Failure> {
        let description = path.join(DESCRIPTION);
        let text = fs::read_to_string(&description).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Failure::usage(format!(
                "{}: it has no {DESCRIPTION}, so no sweep kept its pieces there; name the --out of \
                 one",
                path.display()
            )),
            _ => Failure::io("read", &description, &error),
        })?;
        Ok((Self { path: path.to_owned(), program: program::name()? }, text))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn pieces(&self) -> PathBuf {
        self.path.join(PIECES).join(self.program)
    }

    /// Whether another build of the program has kept pieces there.
    pub(super) fn has_others(&self) -> bool {
        let Ok(entries) = fs::read_dir(self.path.join(PIECES)) else { return false };
        entries.flatten().any(|entry| entry.file_name() != self.program)
    }

    /// Keeps the description. Shares that begin at the same time write the same one.
    pub(super) fn describe(&self, text: &str) -> Done {
        self.describe_as(DESCRIPTION, text)
    }

    /// The same under another name.
    pub(super) fn describe_as(&self, name: &str, text: &str) -> Done {
        let path = self.path.join(name);
        if fs::read_to_string(&path).is_ok_and(|known| known == text) {
            return Ok(());
        }
        put(&path, text.as_bytes()).map_err(|error| Failure::io("write", &path, &error))
    }

    /// Where the description is, for whoever has another working directory.
    pub(super) fn description(&self) -> Result<String, Failure> {
        let path = self.path.join(DESCRIPTION);
        let path = std::path::absolute(&path);
        let path = path.map_err(|error| Failure::io("find", &self.path, &error))?;
        Ok(path.display().to_string())
    }

    /// Writes a file of results.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Done {
        let path = self.path.join(name);
        put(&path, bytes).map_err(|error| Failure::io("write", &path, &error))
    }

    /// Writes a file that can be started.
    pub(super) fn write_program(&self, name: &str, bytes: &[u8]) -> Done {
        let path = self.path.join(name);
        put_as(&path, bytes, Some(0o755)).map_err(|error| Failure::io("write", &path, &error))
    }

    /// Removes all pieces, of all builds, unless somebody has described what they are for: then
    /// others may need them.
    pub(super) fn clear(&self) {
        if [DESCRIPTION, FIGURES].iter().any(|name| self.path.join(name).exists()) {
            return self.tidy();
        }
        let _ = fs::remove_dir_all(self.path.join(PIECES)); // what stays does no harm
    }

    /// Removes what processes left behind that were killed while they wrote.
    pub(super) fn tidy(&self) {
        let Ok(entries) = fs::read_dir(self.pieces()) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.extension().is_some_and(|end| end == "new") {
                let _ = fs::remove_file(path); // one that stays does no harm
            }
        }
    }
}

impl Keep for Folder {
    fn load(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.pieces().join(name)).ok()
    }

    fn keep(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let path = self.pieces().join(name);
        let put = |()| put(&path, bytes);
        // Another command may have finished in this folder, and cleared it.
        put(())
            .or_else(|_| fs::create_dir_all(self.pieces()).and_then(put))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))
    }
}

/// Several folders of one sweep.
pub(super) struct Folders(pub(super) Vec<Folder>);

impl Folders {
    /// What is to be said where pieces are missing: they may be there, but not for this program.
    pub(super) fn of_others(&self) -> String {
        match self.0.iter().find(|folder| folder.has_others()) {
            None => String::new(),
            Some(folder) => format!(
                "; {} has pieces of another build of this program, which that build can join",
                folder.path.display()
            ),
        }
    }
}

impl Keep for Folders {
    fn load(&self, name: &str) -> Option<Vec<u8>> {
        self.0.iter().find_map(|folder| folder.load(name))
    }

    fn keep(&self, _name: &str, _bytes: &[u8]) -> Result<(), String> {
        Err("pieces are joined, not made".to_owned())
    }
}

/// Writes a file in one step, beside others who may write the same.
fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put_as(path, bytes, None)
}

/// The same with these permissions, if they are given.
fn put_as(path: &Path, bytes: &[u8], mode: Option<u32>) -> io::Result<()> {
    // Processes of several machines may have the same number.
    let mut host = [0; 8];
    rustix::rand::getrandom(&mut host, rustix::rand::GetRandomFlags::empty())?;
    let own = u64::from_le_bytes(host);
    let new = path.with_added_extension(format!("{own:016x}.new"));
    for _ in 0..ATTEMPTS {
        fs::write(&new, bytes)?;
        if let Some(mode) = mode {
            fs::set_permissions(&new, fs::Permissions::from_mode(mode))?;
        }
        match fs::rename(&new, path) {
            // Another process has finished meanwhile, and tidied up.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
    }
    Err(io::Error::other("another process removes what is written"))
}

/// How often a file is written that another process removes.
const ATTEMPTS: u32 = 10;
