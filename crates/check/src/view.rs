//! What invariants see after a step: what processes reported, independent of the protocol.

use crate::links::{Links, Part};
use crate::nodes::Nodes;
use bellwether_core::{Duration, Fact, Instant, NodeId, SimTime};
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
    /// Its list of voters, as it reports; `None` if all processes vote, or it has no record.
    pub list: Option<VoterList>,
    /// Its votes and requests, as it reports.
    pub account: Account,
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

/// A list of voters that a process holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VoterList {
    /// How often the list has changed since the founding.
    pub version: u64,
    /// Whether the process knows it to be committed.
    pub committed: bool,
    /// The voters.
    pub voters: Nodes,
    /// The voters of the list before it, while it is not known to be committed; otherwise none.
    pub before: Nodes,
    /// Its lockTime and ρ, if they are known.
    pub lengths: Option<Lengths>,
    /// The longest lock by it or, while it is not known to be committed, by the list before it.
    pub longest: Duration,
}

/// How long locks last, and by how many millionths clocks drift.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lengths {
    /// lockTime.
    pub lock: Duration,
    /// ρ.
    pub drift_ppm: u32,
}

impl VoterList {
    /// Takes in a fact about the list.
    pub(crate) fn hear(
        list: &mut Option<Self>,
        fact: &Fact,
        number: impl Fn(&NodeId) -> Option<u32>,
    ) {
        let number = |peer| number(peer).unwrap_or(u32::MAX); // a number that no set holds
        match (fact, list) {
            (Fact::List { version, committed }, list) => {
                let (version, committed) = (*version, *committed);
                *list = Some(Self { version, committed, ..Self::default() });
            }
            (Fact::Lengths { lock, drift_ppm, longest }, Some(list)) => {
                list.lengths = Some(Lengths { lock: *lock, drift_ppm: *drift_ppm });
                list.longest = *longest;
            }
            (Fact::Voter { peer }, Some(list)) => {
                list.voters.set(number(peer), true);
                list.before.set(number(peer), !list.committed);
            }
            (Fact::Added { peer }, Some(list)) => list.before.set(number(peer), false),
            (Fact::Removed { peer }, Some(list)) => list.before.set(number(peer), true),
            _ => {}
        }
    }

    /// Whether this is the same list, perhaps with other knowledge of whether it is committed.
    fn is_same(&self, other: &Self) -> bool {
        let name = |list: &Self| (list.version, list.voters, list.lengths);
        name(self) == name(other)
    }

    /// Whether these processes can decide by it.
    fn is_decided_by(&self, nodes: Nodes) -> bool {
        let most = |voters: Nodes| voters.is_empty() || voters.and(nodes).len() * 2 > voters.len();
        most(self.voters) && most(self.before)
    }

    /// Whether a process that has no record can read it from these, which have one.
    fn is_read_from(&self, nodes: Nodes) -> bool {
        let half = |voters: Nodes| voters.and(nodes).len() * 2 >= voters.len();
        half(self.voters) && half(self.before)
    }
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
        list: None,
        account: Account::NONE,
        gone: None,
        unseen: false,
    };
}

/// What a process reports of its votes and requests: the state that the model of the leases has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    /// The number of its incarnation.
    pub life: Option<u64>,
    /// While it supports no process after a restart: the last reading of its clock at which that
    /// holds.
    pub bound: Option<Instant>,
    /// The request that its lock is for: the incarnation of the process that it is locked to, and
    /// when that one asked, by its own clock.
    pub granted: Option<(u64, Instant)>,
    /// Its record of what it granted, if it has one.
    pub record: Option<Record>,
    /// Its last request.
    pub request: Option<Request>,
    /// When it made the last of the requests that it gave up, by its own clock.
    pub gave_up: Option<Instant>,
}

/// A record of what a process granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The highest term that it granted or learnt of.
    pub highest: u64,
    /// The process that it granted that term to, and its incarnation.
    pub granted: Option<(u32, u64)>,
}

impl Record {
    /// That of a founder that has voted for nobody.
    pub const FOUNDING: Self = Self { highest: 0, granted: None };
}

/// A request for support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it asked, by its own clock.
    pub sent: Instant,
    /// The term that it asked for.
    pub term: u64,
}

impl Account {
    /// Nothing is reported.
    pub const NONE: Self =
        Self { life: None, bound: None, granted: None, record: None, request: None, gave_up: None };

    /// Notes a fact, if it is of votes and requests. `number` gives the number of a process.
    pub(crate) fn note(&mut self, fact: Fact, number: impl Fn(NodeId) -> u32) {
        match fact {
            Fact::Life { number } => self.life = Some(number),
            Fact::Bound { until } => self.bound = Some(until),
            Fact::Granted { life, sent } => self.granted = Some((life, sent)),
            Fact::NoRecord => self.record = None,
            Fact::Record { highest, granted } => {
                let granted = granted.map(|(node, life)| (number(node), life));
                self.record = Some(Record { highest, granted });
            }
            Fact::Request { sent, term } => self.request = Some(Request { sent, term }),
            Fact::GaveUp { sent } => self.gave_up = Some(sent),
            _ => {}
        }
    }
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
    /// Who votes at first, if not all do.
    pub founders: Option<Nodes>,
    /// The processes that vote and never lead.
    pub witnesses: Nodes,
    /// The lockTime of processes that were given another one than the group.
    pub locks: Vec<(u32, Duration)>,
}

impl Course {
    /// A run that is calm from then on.
    pub fn new(calm: SimTime, links: Links, time_scales: TimeScales) -> Self {
        let settled = calm + time_scales.settles;
        let (resigned, founders, witnesses, locks) = (false, None, Nodes::NONE, Vec::new());
        Self { calm, settled, links, time_scales, resigned, founders, witnesses, locks }
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
    /// The members of the group: of a live one, some rows may be nobody's.
    pub members: Nodes,
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
    /// The process that made the last step; `None` if only time passed.
    pub stepped: Option<u32>,
    /// The lives that others were told are over before that step: the process, and the number of
    /// its incarnation.
    pub farewells: &'a [(u32, u64)],
    /// Whether the records of that step may be incomplete: a trace ends there.
    pub torn: bool,
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
        let Some(quorum) = self.course.time_scales.quorum else { return part.clique };
        let mut lists = self.newest_lists(part).peekable();
        let enough = match lists.peek() {
            Some(first) => {
                // Two leaders may have made one list each, of which neither can be committed.
                let (first, able) = (*first, part.members.without(self.course.witnesses));
                let can_lead =
                    |list: &VoterList| list.is_decided_by(part.members) && list.voters.meets(able);
                lists.all(|list| can_lead(list) && list.is_same(first))
            }
            None => match self.course.founders {
                Some(founders) => part.members.holds(founders),
                None => part.members.len() >= quorum,
            },
        };
        part.clique && enough
    }

    /// The newest lists that the processes of a part hold: there may be several of one version, of
    /// which at most one is committed, and one that is not.
    fn newest_lists(&self, part: &Part) -> impl Iterator<Item = &VoterList> {
        let members = part.members;
        let lists = move || members.iter().filter_map(|node| self.row(node).list.as_ref());
        let version = lists().map(|list| list.version).max();
        let committed = lists().any(|list| Some(list.version) == version && list.committed);
        lists().filter(move |list| Some(list.version) == version && list.committed == committed)
    }

    /// Whether a process neither votes by its list nor, while that may be open, by the one before.
    /// Without a list it is known of the founders only.
    pub fn observes(&self, node: u32) -> bool {
        match &self.row(node).list {
            Some(list) => !list.voters.is_empty() && !list.voters.or(list.before).contains(node),
            None => self.course.founders.is_some_and(|founders| !founders.contains(node)),
        }
    }

    /// The members of a part that neither vote by its newest lists nor by the ones before.
    pub fn observers(&self, part: &Part) -> Nodes {
        let mut lists = self.newest_lists(part).peekable();
        let voters = match lists.peek() {
            Some(_) => lists.map(|list| list.voters.or(list.before)).reduce(Nodes::or),
            None => self.course.founders,
        };
        let voters = voters.filter(|voters| !voters.is_empty());
        voters.map_or(Nodes::NONE, |voters| part.members.without(voters))
    }

    /// Whether the members of a stable partition have records enough for a leader, or can get them:
    /// by reading those of others, or by founding the group together.
    pub fn has_records(&self, part: &Part) -> bool {
        let Some(quorum) = self.course.time_scales.quorum else { return true };
        let kept: Nodes = part.members.iter().filter(|node| !self.row(*node).no_record).collect();
        let mut lists = self.newest_lists(part).peekable();
        if lists.peek().is_some() {
            return lists.all(|list| list.is_read_from(kept));
        }
        if let Some(founders) = self.course.founders {
            let clean = founders.iter().all(|node| self.row(node).highest == 0);
            return founders.len() > 1 && part.members.holds(founders) && clean;
        }
        let kept = kept.len();
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
