//! What invariants see after a step: what processes reported, independent of the protocol.

use crate::links::{Links, Part};
use crate::nodes::Nodes;
use bellwether_core::{Duration, Instant, SimTime};
use bellwether_protocols::time_scales::TimeScales;

/// One process after its last step, with its present clock reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Whether it runs.
    pub alive: bool,
    /// The present reading of its clock.
    pub reading: Instant,
    /// The leaders that it names.
    pub names: Nodes,
    /// Whether it leads: it names itself, and is decided.
    pub leads: bool,
    /// The deadline of its belief, as of its last step.
    pub told: Instant,
    /// If it leads: the end of that in simulated time, at the present rate of its clock.
    pub ends: SimTime,
    /// Its supporters, as it reports.
    pub supporters: Nodes,
    /// Its lock, as it reports.
    pub lock: Option<Lock>,
    /// Its rank, as it reports.
    pub claim: u64,
    /// The term of its belief; if it leads, its token.
    pub term: u64,
    /// The highest term that it has granted or learnt of, as it reports.
    pub highest: u64,
    /// Whether it has no record of what it granted, as it reports, and so cannot vote.
    pub no_record: bool,
    /// When it was last down.
    pub gone: Option<SimTime>,
    /// Whether it is unknown: a member of a live group without a trace.
    pub unseen: bool,
}

/// A lock: a promise to support no other process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lock {
    /// The process that it supports.
    pub to: u32,
    /// The last reading of its clock at which the lock holds.
    pub until: Instant,
}

impl Row {
    /// A process that does not run.
    pub const ABSENT: Self = Self {
        alive: false,
        reading: Instant::ZERO,
        names: Nodes::NONE,
        leads: false,
        told: Instant::NEVER,
        ends: SimTime::ZERO,
        supporters: Nodes::NONE,
        lock: None,
        claim: 0,
        term: 0,
        highest: 0,
        no_record: false,
        gone: None,
        unseen: false,
    };
}

/// A message that a process has just handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The receiver.
    pub node: u32,
    /// The sender.
    pub from: u32,
    /// The true delay.
    pub took: Duration,
    /// The bound on the delay that the receiver computed.
    pub bound: Option<Duration>,
}

/// What is known of a run beforehand.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// From then on there are no faults.
    pub calm: SimTime,
    /// From then on the promise must be kept: κ later.
    pub settled: SimTime,
    /// The connections from `calm` on.
    pub links: Links,
    /// The protocol's time scales.
    pub time_scales: TimeScales,
    /// Whether a process may have been asked to resign: such a process comes last, whatever its id.
    pub resigned: bool,
}

impl Course {
    /// A run that is calm from then on.
    pub fn new(calm: SimTime, links: Links, time_scales: TimeScales) -> Self {
        Self { calm, settled: calm + time_scales.settles, links, time_scales, resigned: false }
    }

    /// A duration that every clock within the drift measures as at least `length`.
    pub fn stretched(&self, length: Duration) -> Duration {
        let whole = length.as_nanos() / 1_000_000_000 + 1;
        length + Duration::from_nanos(whole.saturating_mul(u64::from(self.time_scales.drift) * 4))
    }
}

/// The state of all processes at one moment.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The simulated time.
    pub at: SimTime,
    /// All processes.
    pub rows: &'a [Row],
    /// The running processes.
    pub alive: Nodes,
    /// The leaders.
    pub leaders: Nodes,
    /// What was known beforehand.
    pub course: &'a Course,
    /// From `calm` on: the maximum connected sets of the running processes.
    pub parts: &'a [Part],
    /// The message of the last step, if it was one and the true delay is known.
    pub arrival: Option<Arrival>,
}

impl View<'_> {
    /// One process.
    pub fn row(&self, node: u32) -> &Row {
        self.rows.get(node as usize).unwrap_or(&Row::ABSENT)
    }

    /// Whether there are no more faults.
    pub fn is_calm(&self) -> bool {
        self.at >= self.course.calm
    }

    /// Whether the promise must be kept by now.
    pub fn is_settled(&self) -> bool {
        self.at > self.course.settled
    }

    /// The supporters of `node`: section IX, "a process q supports a process p at time t iff p is
    /// leader at time t and q is in p's support set".
    pub fn supporters(&self, node: u32) -> Nodes {
        let row = self.row(node);
        if row.leads { row.supporters } else { Nodes::NONE }
    }

    /// Whether a part is a stable partition that can have a leader.
    pub fn is_stable(&self, part: &Part) -> bool {
        let enough =
            self.course.time_scales.quorum.is_none_or(|quorum| part.members.len() >= quorum);
        part.clique && enough
    }

    /// Whether the members of a stable partition have records enough for a leader, or can get them:
    /// by reading those of others, or by founding the group together.
    pub fn has_records(&self, part: &Part) -> bool {
        let Some(quorum) = self.course.time_scales.quorum else { return true };
        let kept = part.members.iter().filter(|node| !self.row(*node).no_record).count();
        let nodes = self.rows.len();
        // A process alone in its group cannot be told that it never voted.
        let founds = nodes > 1 && part.members.len() == nodes && self.is_new();
        kept + quorum > nodes || founds
    }

    /// Whether all processes run and none knows of a term: as in a new group.
    pub fn is_new(&self) -> bool {
        self.rows.iter().all(|row| row.alive && row.highest == 0)
    }

    /// The logical partition of a process (section VI): all processes linked with it by support, in
    /// either direction.
    pub fn logical_partition(&self, node: u32) -> Nodes {
        let mut partition = Nodes::only(node);
        loop {
            let before = partition;
            for leader in self.leaders.iter() {
                let group = self.supporters(leader).or(Nodes::only(leader));
                if group.meets(partition) {
                    partition = partition.or(group);
                }
            }
            if partition == before {
                return partition;
            }
        }
    }

    /// A leader in words.
    pub fn tell(&self, leader: u32) -> String {
        let Row { told, reading, supporters, .. } = self.row(leader);
        let until = if *told == Instant::NEVER {
            "until it hears otherwise".to_owned()
        } else {
            format!("until its clock, now {reading}, reads {told}")
        };
        let by = if self.course.time_scales.leases {
            format!(", supported by {supporters}")
        } else {
            String::new()
        };
        format!("process {leader} leads {until}{by}")
    }
}
