//! What members cost: datagrams, memory and processor time, as the kernel counts them.

use crate::lab::clock::sleep;
use crate::lab::group::Group;
use bellwether::core::Duration;

/// Counts of all members at one moment.
pub(crate) struct Cost {
    datagrams: u64,
    members: Vec<OfMember>,
}

/// Resident memory in KiB, how much of it is no copy of a file, and processor time in seconds.
struct OfMember {
    memory: f64,
    /// That of all its processes, the guardian's too. Pages of the program count in each.
    memory_of_all: f64,
    anonymous: f64,
    processor: f64,
}

/// The memory of the largest member when all have been asked for their status, and later.
pub(crate) struct Asked {
    pub(crate) then: f64,
    pub(crate) later: f64,
}

/// After a question a member gives memory back within a minute and some seconds.
const SOON: Duration = Duration::from_secs(70);

/// What came of them over a while.
pub(crate) struct Rates {
    /// Per second, of the whole group.
    pub(crate) datagrams: f64,
    /// The largest member's, in MiB.
    pub(crate) memory: f64,
    /// The same with all that it started, such as its guardian.
    pub(crate) memory_of_all: f64,
    /// How much of such a member's is no copy of a file.
    pub(crate) anonymous: f64,
    /// The busiest member's, in percent of a core.
    pub(crate) processor: f64,
}

fn read(pid: u32, file: &str) -> String {
    let path = format!("/proc/{pid}/{file}");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A line such as `VmRSS:  1234 kB`.
fn memory(pid: u32, key: &str) -> f64 {
    let status = read(pid, "status");
    let line = status.lines().find_map(|line| line.strip_prefix(key));
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
    pub(crate) fn read(group: &Group) -> Self {
        let ids = group.ids();
        let datagrams = ids.iter().map(|id| group.network().datagrams(*id)).sum();
        let member = |pids: Vec<u32>| OfMember {
            memory: memory(pids[0], "VmRSS:"),
            memory_of_all: pids.iter().map(|pid| memory(*pid, "VmRSS:")).sum(),
            anonymous: memory(pids[0], "RssAnon:"),
            processor: processor(pids[0]),
        };
        Self { datagrams, members: group.processes().into_iter().map(member).collect() }
    }

    /// Asks all members for their status, and waits for so long, but no longer than they may take.
    pub(crate) fn after_a_question(group: &Group, wait: Duration) -> Asked {
        for id in group.ids() {
            let answer = group.ask("status", id, &[]);
            assert!(answer.is_ok(), "member {id} answers: {answer:?}");
        }
        let then = Self::read(group).largest();
        sleep(SOON.min(wait));
        Asked { then, later: Self::read(group).largest() }
    }

    /// The resident memory of the largest member, in MiB.
    fn largest(&self) -> f64 {
        self.members.iter().map(|member| member.memory / 1024.0).fold(0.0, f64::max)
    }

    /// What came of it since an earlier reading, so long ago.
    pub(crate) fn since(&self, before: &Self, length: Duration) -> Rates {
        let seconds = length.as_secs_f64();
        let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let pairs = || self.members.iter().zip(&before.members);
        Rates {
            datagrams: (self.datagrams - before.datagrams) as f64 / seconds,
            memory: self.largest(),
            memory_of_all: largest(
                &mut self.members.iter().map(|member| member.memory_of_all / 1024.0),
            ),
            anonymous: largest(&mut self.members.iter().map(|member| member.anonymous / 1024.0)),
            processor: largest(
                &mut pairs().map(|(now, then)| (now.processor - then.processor) / seconds * 100.0),
            ),
        }
    }
}
