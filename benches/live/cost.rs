//! What members cost: datagrams, memory and processor time, as the kernel counts them.

use crate::lab::group::Group;
use bellwether::core::Duration;

/// Counts of all members at one moment.
pub(crate) struct Cost {
    datagrams: u64,
    /// Per member: resident memory in KiB, and processor time in seconds.
    members: Vec<(f64, f64)>,
}

/// What came of them over a while.
pub(crate) struct Rates {
    /// Per second, of the whole group.
    pub(crate) datagrams: f64,
    /// The largest member's, in MiB.
    pub(crate) memory: f64,
    /// The busiest member's, in percent of a core.
    pub(crate) processor: f64,
}

fn read(pid: u32, file: &str) -> String {
    let path = format!("/proc/{pid}/{file}");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The line `VmRSS:  1234 kB`.
fn memory(pid: u32) -> f64 {
    let status = read(pid, "status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kib.expect("a process has resident memory")
}

/// The first number of schedstat: nanoseconds spent on the processor, of every thread.
fn processor(pid: u32) -> f64 {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).expect("a process has threads");
    let nanos = threads.filter_map(Result::ok).map(|thread| {
        let stat = std::fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
        stat.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok()).unwrap_or(0.0)
    });
    nanos.sum::<f64>() / 1e9
}

impl Cost {
    pub(crate) fn read(group: &mut Group) -> Self {
        let ids = group.ids();
        let datagrams = ids.iter().map(|id| group.network().datagrams(*id)).sum();
        let pids = ids.iter().map(|id| group.member(*id).pid());
        Self { datagrams, members: pids.map(|pid| (memory(pid), processor(pid))).collect() }
    }

    /// What came of it since an earlier reading, so long ago.
    pub(crate) fn since(&self, before: &Self, length: Duration) -> Rates {
        let seconds = length.as_secs_f64();
        let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let pairs = || self.members.iter().zip(&before.members);
        Rates {
            datagrams: (self.datagrams - before.datagrams) as f64 / seconds,
            memory: largest(&mut self.members.iter().map(|(memory, _)| memory / 1024.0)),
            processor: largest(&mut pairs().map(|(now, then)| (now.1 - then.1) / seconds * 100.0)),
        }
    }
}
