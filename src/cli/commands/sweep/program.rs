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
use bellwether::core::mix;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The program with its own executable, even if that was removed or replaced.
const OWN: &str = "/proc/self/exe";

/// So many bytes of a program are read at once.
const BLOCK: usize = 1 << 16;

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
    if !hash(&path).is_ok_and(|hash| name.ends_with(&hash)) {
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
        hash(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))
    };
    let name: Result<&String, &String> = NAME.get_or_init(hashed).as_ref();
    name.map(String::as_str).map_err(|why| Failure::Io(why.clone()))
}

/// The name of the program in this file. It is read block by block: new memory for all of it would
/// take longer than the hash.
fn hash(path: &Path) -> io::Result<String> {
    let (mut file, mut block) = (fs::File::open(path)?, Vec::with_capacity(BLOCK));
    let mut sum = 0;
    while file.by_ref().take(BLOCK as u64).read_to_end(&mut block)? > 0 {
        sum = mix(sum ^ checksum(&block));
        block.clear();
    }
    Ok(format!("{sum:016x}"))
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
    use std::collections::BTreeSet;

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
    fn every_block_of_a_program_is_in_its_name() {
        let path = std::env::temp_dir().join(format!("program-{}", std::process::id()));
        let name = |bytes: &[u8]| {
            fs::write(&path, bytes).expect("it can be written");
            hash(&path).expect("it can be read")
        };
        let one = [vec![1; BLOCK], vec![2; BLOCK], vec![3; 5]].concat();
        let other = [vec![2; BLOCK], vec![1; BLOCK], vec![3; 5]].concat();
        let names = [&one[..], &other, &one[..2 * BLOCK], &one[..2 * BLOCK + 4]].map(name);
        fs::remove_file(&path).expect("it is there");
        let different: BTreeSet<&String> = names.iter().collect();
        assert_eq!(different.len(), names.len());
    }

    #[test]
    fn this_test_is_in_its_own_program() {
        let own = std::env::current_exe().expect("it runs");
        let found = fs::canonicalize(file().expect("it is mapped")).expect("it is there");
        assert_eq!(found, fs::canonicalize(own).expect("it is there"));
        assert_eq!(name().expect("it can be read").len(), 16);
    }
}
