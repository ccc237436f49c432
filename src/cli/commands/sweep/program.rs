//! Which program makes the pieces: a hash of the file that holds this code.
//!
//! A version is not enough. Whoever changes a protocol and builds again has the same version, and
//! the pieces of the old code would go into the rows of the new one. The bytes of the file tell
//! the two apart, whatever made the difference: sources, dependencies, the compiler or its flags.
//! A hash of the sources, made when they are compiled, would need a build script in every crate
//! and would miss the other three. Copies of the file have the same name, so machines that share
//! the work need the same file and nothing else. The price is that a program which was built from
//! the same sources in another way makes all pieces again.

use super::folder::Folder;
use crate::cli::failure::Failure;
use bellwether::analysis::sweep::piece::checksum;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The program with its own executable, even if that was removed or replaced.
const OWN: &str = "/proc/self/exe";

/// This program as a file of a folder, made if it is not there. Whoever starts it later gets this
/// code, also if another build has replaced the program meanwhile.
pub(super) fn copied(folder: &Folder) -> Result<PathBuf, Failure> {
    let source = file()?;
    if source != Path::new(OWN) && source != std::env::current_exe()? {
        let line = "this code is a library in another program, which a cluster cannot start; use \
                    the command `bellwether`";
        return Err(Failure::usage(line));
    }
    let name = format!("slurm-bellwether-{}", name()?);
    let path = folder.path().join(&name);
    let is_whole = |bytes: Vec<u8>| name.ends_with(&hash(&bytes));
    if !fs::read(&path).is_ok_and(is_whole) {
        let bytes = fs::read(&source).map_err(|error| Failure::io("read", &source, &error))?;
        folder.write_program(&name, &bytes)?;
    }
    Ok(path)
}

/// The name of this program: digits and letters, the same for all copies of its file.
pub(super) fn name() -> Result<&'static str, Failure> {
    static NAME: OnceLock<Result<String, String>> = OnceLock::new();
    let hashed = || {
        let path = file().map_err(|error| format!("cannot find this program's file: {error}"))?;
        let bytes = fs::read(&path);
        let bytes = bytes.map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        Ok(hash(&bytes))
    };
    let name: Result<&String, &String> = NAME.get_or_init(hashed).as_ref();
    name.map(String::as_str).map_err(|why| Failure::Io(why.clone()))
}

/// The name of a program with these bytes.
fn hash(bytes: &[u8]) -> String {
    format!("{:016x}", checksum(bytes))
}

/// The file that holds this code: the executable, or a library that another program has loaded.
fn file() -> io::Result<PathBuf> {
    let Ok(maps) = fs::read_to_string("/proc/self/maps") else {
        return std::env::current_exe(); // not on Linux
    };
    let here = file as *const () as usize;
    let path = maps.lines().find_map(|line| holds(line, here)).map(PathBuf::from);
    let path = path.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
    let is_own = fs::read_link(OWN).is_ok_and(|own| own == path);
    Ok(if is_own { PathBuf::from(OWN) } else { path })
}

/// The file of a line of `/proc/self/maps`, if it is mapped around this address: from and to,
/// permissions, offset, device, inode, file.
fn holds(line: &str, address: usize) -> Option<&str> {
    let (range, rest) = line.split_once(' ')?;
    let (from, to) = range.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    let mapped = number(from)?..number(to)?;
    let file = rest.find('/').map(|start| &rest[start..]);
    file.filter(|_| mapped.contains(&address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_what_is_mapped_where() {
        let line = "7f00aa000000-7f00aa100000 r-xp 00001000 08:01 1234    /opt/a lib/x.so";
        assert_eq!(holds(line, 0x7f00_aa00_0000), Some("/opt/a lib/x.so"));
        assert_eq!(holds(line, 0x7f00_aa10_0000), None);
        assert_eq!(
            holds("7f00aa000000-7f00aa100000 rw-p 00000000 00:00 0 ", 0x7f00_aa00_0000),
            None
        );
        assert_eq!(holds("no such line", 0), None);
    }

    #[test]
    fn this_test_is_in_its_own_program() {
        let own = std::env::current_exe().expect("it runs");
        let found = fs::canonicalize(file().expect("it is mapped")).expect("it is there");
        assert_eq!(found, fs::canonicalize(own).expect("it is there"));
        assert_eq!(name().expect("it can be read").len(), 16);
    }
}
