//! A small disk in memory for the state of each member, which can be filled.
//!
//! **Promise.** It is taken away with its owner. What a killed run left is taken away by the next.

use crate::lab::shell::{attempt, must};
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Room for the state of a member; a full disk takes a moment to fill.
const SIZE: &str = "size=256k,mode=700";
const FILLER: &str = "filler";

/// Mounted disks.
pub(crate) struct Disks(Vec<String>);

impl Disks {
    /// A disk in each of these directories.
    pub(crate) fn mount(dirs: Vec<String>) -> Self {
        sweep();
        let mut disks = Self(Vec::new());
        for dir in dirs {
            std::fs::create_dir_all(&dir).expect("the folder can be written");
            must(&["mount", "-t", "tmpfs", "-o", SIZE, "bellwether-chaos", &dir], "");
            disks.0.push(dir);
        }
        disks
    }
}

impl Drop for Disks {
    fn drop(&mut self) {
        for dir in &self.0 {
            // A member that is being ended may still have a file open.
            let _ = attempt(&["umount", "--lazy", dir], "");
        }
    }
}

/// Takes away the disks of processes that are no more: their folders are called by their numbers.
fn sweep() {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    for line in mounts.lines().filter(|line| line.starts_with("bellwether-chaos ")) {
        let Some(dir) = line.split_whitespace().nth(1) else { continue };
        let owner = dir.split("bellwether-live-").nth(1).and_then(|rest| rest.split('x').next());
        if owner.is_some_and(|owner| !Path::new("/proc").join(owner).exists()) {
            let _ = attempt(&["umount", "--lazy", dir], "");
        }
    }
}

/// Fills the disk of this directory.
pub(crate) fn fill(dir: &str) {
    let Ok(mut file) = File::create(Path::new(dir).join(FILLER)) else { return };
    // In pieces until there is no room for one more byte.
    for piece in [4096, 64, 1] {
        while file.write_all(&vec![0; piece]).is_ok() {}
    }
}

/// There is room again.
pub(crate) fn clear(dir: &str) {
    let _ = std::fs::remove_file(Path::new(dir).join(FILLER));
}
