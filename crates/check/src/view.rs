//! What the judge sees of the world after a step: no protocol, only what processes told.

use crate::links::{Links, Part};
use crate::nodes::Nodes;
use bellwether_core::{Duration, Instant, SimTime};
use bellwether_protocols::pace::Pace;

/// One process, as it was after its last step and as its clock reads now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Whether it is there.
    pub alive: bool,
    /// What its clock reads now.
    pub reading: Instant,
    /// Whom it names as leaders.
    pub names: Nodes,
    /// Whether it leads: it names itself, and has decided so.
    pub leads: bool,
    /// In its last step it told that what it believes ends at this reading.
    pub told: Instant,
    /// If it leads: when that ends in the world's time, if its clock goes on as it does.
    pub ends: SimTime,
    /// Who supports it, as it tells.
    pub supporters: Nodes,
    /// Whom it supports, as it tells.
    pub lock: Option<Lock>,
    /// How good it is, as it tells.
    pub claim: u64,
    /// When it was last gone.
    pub gone: Option<SimTime>,
    /// Whether nothing can be known of it: a member of a live group that left no trace.
    pub unseen: bool,
}

/// A promise to support nobody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lock {
    /// Whom it supports.
    pub to: u32,
    /// The last reading of its clock at which it is bound.
    pub until: Instant,
}

impl Row {
    /// A process that is not there.
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
        gone: None,
        unseen: false,
    };
}

/// A message that a process has just handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Who handled it.
    pub node: u32,
    /// Who sent it.
    pub from: u32,
    /// How long ago, in the world's time.
    pub took: Duration,
    /// How long ago at most, as the receiver computed it.
    pub bound: Option<Duration>,
}

/// What is known of a run before it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// From then on nothing goes wrong.
    pub calm: SimTime,
    /// From then on the promise must be kept: κ later.
    pub settled: SimTime,
    /// Who is connected from `calm` on.
    pub links: Links,
    /// The protocol's time scales.
    pub pace: Pace,
    /// Whether somebody may have been asked to resign: whoever did comes last, whatever its id.
    pub resigned: bool,
}

impl Course {
    /// A run that is calm from then on.
    pub fn new(calm: SimTime, links: Links, pace: Pace) -> Self {
        Self { calm, settled: calm + pace.settles, links, pace, resigned: false }
    }

    /// A length that a clock within the drift counts as no less than `length`.
    pub fn stretched(&self, length: Duration) -> Duration {
        let whole = length.as_nanos() / 1_000_000_000 + 1;
        length + Duration::from_nanos(whole.saturating_mul(u64::from(self.pace.drift) * 4))
    }
}

/// The world at one moment.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The world's time.
    pub at: SimTime,
    /// All processes.
    pub rows: &'a [Row],
    /// Those that are there.
    pub alive: Nodes,
    /// Those that lead.
    pub leaders: Nodes,
    /// What was known before.
    pub course: &'a Course,
    /// From `calm` on: the maximum connected sets of those that are there.
    pub parts: &'a [Part],
    /// The message of the last step, if it was one and the true delay is known.
    pub arrival: Option<Arrival>,
}

impl View<'_> {
    /// One process.
    pub fn row(&self, node: u32) -> &Row {
        self.rows.get(node as usize).unwrap_or(&Row::ABSENT)
    }

    /// Whether nothing goes wrong any more.
    pub fn is_calm(&self) -> bool {
        self.at >= self.course.calm
    }

    /// Whether the promise must be kept by now.
    pub fn is_settled(&self) -> bool {
        self.at > self.course.settled
    }

    /// Who supports `node`: section IX, "a process q supports a process p at time t iff p is leader
    /// at time t and q is in p's support set".
    pub fn supporters(&self, node: u32) -> Nodes {
        let row = self.row(node);
        if row.leads { row.supporters } else { Nodes::NONE }
    }

    /// Whether a part is a stable partition that can have a leader.
    pub fn is_stable(&self, part: &Part) -> bool {
        let enough = self.course.pace.quorum.is_none_or(|quorum| part.members.len() >= quorum);
        part.clique && enough
    }

    /// The logical partition of a process (section VI): all that is linked with it by supports, in
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
        let by = if self.course.pace.leases {
            format!(", supported by {supporters}")
        } else {
            String::new()
        };
        format!("process {leader} leads {until}{by}")
    }
}
