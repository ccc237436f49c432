//! What came of it, in numbers.

use crate::drive::rulings;
use crate::lab::clock::millis;
use crate::plan::Kind;
use bellwether::core::Duration;
use serde_json::Value;
use std::collections::BTreeMap;

/// One time that has a bound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failover {
    pub(crate) took: Duration,
    pub(crate) bound: Duration,
    /// How long it took to make the fault: from when on it had its effect is unknown.
    pub(crate) making: Duration,
    /// How long the machine let a thread wait meanwhile, in all.
    pub(crate) stalls: Duration,
}

impl Failover {
    fn is_beyond(&self) -> bool {
        self.took > self.bound + self.making
    }
}

/// Many of them.
#[derive(Clone, Debug, Default)]
struct Times {
    count: u64,
    worst: Option<Failover>,
    beyond: u64,
    /// Beyond the bound by more than the machine stalled.
    unexplained: u64,
}

impl Times {
    fn add(&mut self, one: Failover) {
        self.count += 1;
        self.beyond += u64::from(one.is_beyond());
        self.unexplained += u64::from(one.took > one.bound + one.making + one.stalls);
        // Bounds differ: the worst comes nearest to its own, or goes farthest beyond.
        let part = |it: &Failover| it.took.as_secs_f64() / it.bound.as_secs_f64();
        if self.worst.is_none_or(|worst| part(&worst) < part(&one)) {
            self.worst = Some(one);
        }
    }

    fn line(&self) -> String {
        let Some(worst) = self.worst else { return String::new() };
        format!(
            "{:>6} {:>8.1} {:>7.1} {:>7} {:>12}",
            self.count,
            millis(worst.took),
            millis(worst.bound),
            self.beyond,
            self.unexplained
        )
    }
}

/// What is counted over all groups.
#[derive(Default)]
pub(crate) struct Report {
    kinds: BTreeMap<Kind, u64>,
    refused: BTreeMap<Kind, u64>,
    failovers: BTreeMap<Kind, Times>,
    recoveries: Times,
    rulings: BTreeMap<(String, String), u64>,
    pub(crate) runs: usize,
    pub(crate) overlaps: u64,
    /// Overlaps while the machine stood still, which is a documented exception.
    pub(crate) excused: u64,
    /// Overlaps of a worker whose three watchers were all struck, which is another one.
    pub(crate) excepted: u64,
    /// Old state files that were noticed.
    pub(crate) noticed: usize,
    pub(crate) groups: u64,
    /// Groups whose commands were in cgroups.
    cgroups: u64,
    /// The longest that one step of a plan took.
    pub(crate) latest: Duration,
}

impl Report {
    pub(crate) fn count(&mut self, kind: Kind) {
        *self.kinds.entry(kind).or_default() += 1;
    }

    pub(crate) fn refuse(&mut self, kind: Kind, count: u64) {
        *self.refused.entry(kind).or_default() += count;
    }

    /// Says whether a group's commands are in cgroups. One that may not have them has none.
    pub(crate) fn cgroup(&mut self, may: bool, has: bool) {
        self.cgroups += u64::from(has);
        let why = match (may, has) {
            (true, true) => "each command has a cgroup",
            (false, false) => "no command has a cgroup, as planned",
            (true, false) => "no command has a cgroup: none can be made on this machine",
            (false, true) => panic!("a command has a cgroup, though none can be seen"),
        };
        println!("    {why}");
    }

    pub(crate) fn failover(&mut self, kind: Kind, one: Failover) {
        if one.is_beyond() {
            println!("beyond its bound: {}, {}", kind.name(), words(one));
        }
        self.failovers.entry(kind).or_default().add(one);
    }

    pub(crate) fn recovery(&mut self, one: Failover) {
        if one.is_beyond() {
            println!("beyond its bound: a leader after all was healed, {}", words(one));
        }
        self.recoveries.add(one);
    }

    pub(crate) fn verdict(&mut self, verdict: &Value) {
        self.groups += 1;
        for ruling in rulings(verdict) {
            if ruling.1 == "undecidable" {
                println!("{} undecidable: {}", ruling.0, verdict["invariants"][&ruling.0]["note"]);
            }
            *self.rulings.entry(ruling).or_default() += 1;
        }
    }

    /// How many came later than their bound and than the machine stalled.
    pub(crate) fn unexplained(&self) -> u64 {
        let failovers = self.failovers.values().map(|times| times.unexplained);
        failovers.sum::<u64>() + self.recoveries.unexplained
    }

    pub(crate) fn faults(&self) -> u64 {
        self.kinds.values().sum()
    }

    pub(crate) fn print(&self) {
        println!(
            "{:<34} {:>6} {:>6} {:>8} {:>7} {:>7} {:>12}",
            "fault", "times", "timed", "worst ms", "bound", "beyond", "of no stall"
        );
        for (kind, count) in &self.kinds {
            let times = self.failovers.get(kind).map_or_else(String::new, Times::line);
            println!("{:<34} {count:>6} {times}", kind.name());
        }
        println!("{:<34} {:>6} {}", "a leader after all was healed", "", self.recoveries.line());
        for (kind, count) in self.refused.iter().filter(|(_, count)| **count > 0) {
            println!("{}: {count} were refused, or nobody led", kind.name());
        }
        println!("{} state files were noticed as old and not used", self.noticed);
        for ((invariant, verdict), count) in &self.rulings {
            println!("{invariant}: {verdict} in {count} of {} groups", self.groups);
        }
        println!("commands were in cgroups in {} groups", self.cgroups);
        println!(
            "{} faults in {} groups, {} processes of workers: {} overlaps; {} more while the \
             machine stood still, {} where nobody looked after the worker",
            self.faults(),
            self.groups,
            self.runs,
            self.overlaps,
            self.excused,
            self.excepted
        );
    }
}

fn words(one: Failover) -> String {
    format!(
        "{:.1} ms, bound {:.1} ms and {:.1} ms to make the fault, the machine stalled for {:.1} ms \
         meanwhile",
        millis(one.took),
        millis(one.bound),
        millis(one.making),
        millis(one.stalls)
    )
}
