//! A command that finds out whether it runs twice at once.
//!
//! **How.** It holds a lock of the kernel's on one file for as long as it lives, and so does all
//! that it starts, since a lock stays until the last process that inherited it is gone, however it
//! went. Whoever begins and does not get the lock runs beside somebody else. No stale file, no
//! number of a process that is another's by now. It asks for the lock first of all; only an overlap
//! that ends within the millisecond that this takes would not be seen, and what separates two
//! reigns is a margin many times as long.
//!
//! Some of its processes leave the process group and ignore SIGTERM: a guardian has to end those
//! as well.

use super::clock::{now, sleep};
use super::{Folder, shell};
use bellwether::core::Duration;

/// `$1` the lock, `$2` the log, `$3` who, `$4` for how many seconds a process stays that will not
/// go; none if 0.
const SCRIPT: &str = r#"
exec 9>>"$1"
if flock --exclusive --nonblock 9; then word=alone; else word=OVERLAP; fi
if [ "$4" -gt 0 ]; then
    setsid sh -c 'trap "" TERM INT HUP; i=0; while [ $i -lt $0 ]; do sleep 1; i=$((i+1)); done' \
        "$4" >/dev/null 2>&1 &
fi
echo "$word $3" >>"$2" # when all is there: whoever reads it may kill this process at once
exec sleep 300
"#;

/// One start of the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Whether another one ran at that moment.
    pub(crate) overlap: bool,
    /// Of which member.
    pub(crate) id: u64,
}

/// The lock and the log.
pub(crate) struct Detector {
    lock: String,
    log: String,
}

impl Detector {
    pub(crate) fn new(folder: &Folder) -> Self {
        shell::must(&["flock", "--version"], "");
        let detector = Self { lock: folder.file("lock"), log: folder.file("starts") };
        std::fs::write(&detector.log, "").expect("the folder can be written");
        detector
    }

    /// The command for a member.
    ///
    /// It brings a process of another session along that ignores every signal it can and stays for
    /// `stubborn` seconds; none if that is 0.
    pub(crate) fn command(&self, id: u64, stubborn: u32) -> Vec<String> {
        let (id, stubborn) = (id.to_string(), stubborn.to_string());
        let words = ["sh", "-c", SCRIPT, "detector", &self.lock, &self.log, &id, &stubborn];
        words.map(str::to_owned).to_vec()
    }

    /// All starts so far.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let text = std::fs::read_to_string(&self.log).expect("the log is there");
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        whole.map(|line| entry(line).unwrap_or_else(|| panic!("not an entry: {line}"))).collect()
    }

    /// Waits until there are more than `known` starts.
    pub(crate) fn wait_beyond(&self, known: usize, patience: Duration) -> Option<Vec<Entry>> {
        let end = now() + patience;
        loop {
            let entries = self.entries();
            if entries.len() > known {
                return Some(entries);
            }
            if now() >= end {
                return None;
            }
            sleep(Duration::from_millis(2));
        }
    }

    /// Whether nothing of the command runs any more.
    pub(crate) fn free(&self) -> bool {
        shell::attempt(&["flock", "--nonblock", &self.lock, "true"], "").is_ok()
    }
}

fn entry(line: &str) -> Option<Entry> {
    let mut words = line.split_whitespace();
    let overlap = match words.next()? {
        "alone" => false,
        "OVERLAP" => true,
        _ => return None,
    };
    Some(Entry { overlap, id: words.next()?.parse().ok()? })
}
