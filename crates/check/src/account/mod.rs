//! Tells who led when, why each reign ended, and how long nobody led: for operators, from what
//! members recorded or remember.
//!
//! **Source.** Whole traces, or the recent pasts of members, which tell only what changed. Of a
//! member that is gone there may be nothing: its reigns are then what the others believed.
//!
//! **Assumptions.** Members with one boot id read one clock. Other clocks are compared by what is
//! known of them ([`Piece::clock`]), and how well is part of the account.
//!
//! **Promise.** A leader without a lease led until its last record, and not until it is heard
//! again. A leader with a lease that was killed led until its last record, and nobody else may lead
//! before its lease ends: both moments are told. What only others saw is marked as such, and is
//! never evidence that two led at once.
//!
//! | part | holds |
//! |---|---|
//! | `clocks` | all records on one time line |
//! | `own` | the reigns that a leader recorded itself |
//! | `witnessed` | the reigns of members whose records are missing |
//! | `picture` | the same as records, for a diagram |

mod clocks;
mod own;
mod picture;
#[cfg(test)]
mod tests;
mod witnessed;

pub use clocks::{ClockOffset, Piece};
pub use picture::pictured;

use crate::live::BadTrace;
use bellwether_core::{Duration, Event, LAST_NUMBER, NodeId};
use bellwether_protocols::choice::Choice;
use bellwether_protocols::promise::Promise;
use clocks::Timeline;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Why a reign ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// It has not: the leader was asked, and leads.
    Leads,
    /// The leader was asked to resign.
    Resigned,
    /// The leader resigned because it was no candidate any more: its checks failed, for example.
    Unfit,
    /// The leader was asked to resign in favour of this member.
    Transferred(NodeId),
    /// The leader left the group: its process was asked to end.
    Left,
    /// The leader told the others that it leads no longer. Why is not known: its records are
    /// missing.
    Released,
    /// The leader withdrew, for this reason.
    Withdrew(String),
    /// The lease ran out: the leader could not renew it in time, because it was cut off or did not
    /// run.
    Lapsed,
    /// The leader followed this one instead.
    Preempted(NodeId),
    /// The leader no longer believed that it leads; its records do not say why.
    GaveUp,
    /// The process was killed: its last will was received, or its next life began.
    Killed,
    /// The leader was heard no more: it was killed, stopped or cut off.
    Silent,
}

impl End {
    /// Its name for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Leads => "leads",
            Self::Resigned => "resigned",
            Self::Unfit => "unfit",
            Self::Transferred(_) => "transferred",
            Self::Left => "left",
            Self::Released => "released",
            Self::Withdrew(_) => "withdrew",
            Self::Lapsed => "lapsed",
            Self::Preempted(_) => "preempted",
            Self::GaveUp => "gave-up",
            Self::Killed => "killed",
            Self::Silent => "silent",
        }
    }

    /// Whether the process, its machine or the network failed.
    pub fn is_fault(&self) -> bool {
        let unfit = matches!(self, Self::Unfit | Self::Withdrew(_));
        unfit || matches!(self, Self::Lapsed | Self::Killed | Self::Silent)
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Leads => f.write_str("it leads"),
            Self::Resigned => f.write_str("resigned"),
            Self::Unfit => f.write_str("resigned: not fit to lead, as its checks found"),
            Self::Transferred(to) => write!(f, "handed over to {to}"),
            Self::Left => f.write_str("left the group"),
            Self::Released => f.write_str("released: it resigned or left"),
            Self::Withdrew(why) => write!(f, "withdrew: {why}"),
            Self::Lapsed => f.write_str("its lease ran out: cut off, or stopped"),
            Self::Preempted(by) => write!(f, "gave way to {by}"),
            Self::GaveUp => f.write_str("gave up"),
            Self::Killed => f.write_str("killed"),
            Self::Silent => f.write_str("fell silent: killed, stopped or cut off"),
        }
    }
}

/// An unbroken time in which one life led. Times are nanoseconds of the first machine's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reign {
    /// The leader.
    pub leader: NodeId,
    /// Its start, or that of the account.
    pub from: u64,
    /// Its end.
    pub to: u64,
    /// Until when nobody else may lead: later than the end if the leader was killed.
    pub bound: u64,
    /// The number of the reign, where reigns have one.
    pub term: Option<u64>,
    /// Why it ended.
    pub end: End,
    /// Whether the leader recorded it; otherwise it is what others believed.
    pub own: bool,
}

/// Two reigns at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The leaders.
    pub leaders: [NodeId; 2],
    /// From when.
    pub from: u64,
    /// Until when.
    pub to: u64,
    /// Whether it is longer than clocks may differ.
    pub certain: bool,
}

/// What is known of one member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberKnown {
    /// The member.
    pub id: NodeId,
    /// How many of its lives there are records of.
    pub lives: usize,
    /// How many entries of its past were overwritten before somebody asked.
    pub lost: u64,
    /// Its first record and its last one; nothing if there are none.
    pub covered: Option<(u64, u64)>,
}

/// Who led when.
#[derive(Clone, Debug)]
pub struct Account {
    /// The group.
    pub group: String,
    /// Its protocol.
    pub protocol: String,
    /// What that promises.
    pub promise: Promise,
    /// Where it begins.
    pub from: u64,
    /// Where it ends.
    pub to: u64,
    /// All members that are named anywhere, by id.
    pub members: Vec<MemberKnown>,
    /// The reigns, by their start.
    pub reigns: Vec<Reign>,
    /// When nobody led, as far as any member tells.
    pub gaps: Vec<(u64, u64)>,
    /// When it is not known who led: there is no record of that time, and nobody saw a leader.
    pub unknown: Vec<(u64, u64)>,
    /// When two led.
    pub overlaps: Vec<Overlap>,
    /// By how much clocks of different machines may be off from each other; zero for one machine.
    pub uncertain: Option<Duration>,
    /// What has to be added to moments to get nanoseconds since 1970, if that is known.
    pub wall: Option<i128>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

impl Account {
    /// The account of these records, of the last time of this length or of all.
    ///
    /// # Errors
    /// [`BadTrace`] if they are not of one group, or their clocks cannot be compared.
    pub fn of(pieces: &[Piece], last: Option<Duration>) -> Result<Self, BadTrace> {
        let line = Timeline::of(pieces)?;
        let head = line.head(pieces)?;
        let choice = Choice::from_json(&head.protocol, &head.params)
            .map_err(|error| BadTrace { place: "params".to_owned(), problem: error.to_string() })?;
        let (first, to) = line.extent();
        let from = last.map_or(first, |last| to.saturating_sub(last.as_nanos()).max(first));
        let members = known(&line);
        let wills = wills(&line);
        let mut reigns = own::reigns(&line, &wills);
        reigns.extend(witnessed::reigns(&line, &members, &reigns, &wills));
        // Members are asked one after the other: who leads goes on until the last was asked.
        let leading = reigns.iter_mut().filter(|reign| reign.end == End::Leads);
        leading.for_each(|reign| reign.to = to);
        reigns.retain(|reign| reign.to > from || reign.bound > from);
        for reign in &mut reigns {
            reign.from = reign.from.max(from);
            reign.to = reign.to.clamp(reign.from, to);
            reign.bound = reign.bound.max(reign.to);
        }
        reigns.sort_by_key(|reign| (reign.from, reign.leader));
        let (gaps, unknown) = split(&gaps(&reigns, from, to), &covered(&line));
        let count = u32::try_from(members.len()).unwrap_or(u32::MAX);
        let mut account = Self {
            group: head.group.clone(),
            protocol: head.protocol.clone(),
            promise: choice.promise_to(count),
            from,
            to,
            gaps,
            unknown,
            overlaps: overlaps(&reigns, line.uncertain),
            members,
            reigns,
            uncertain: line.uncertain,
            wall: line.wall,
            notes: Vec::new(),
        };
        account.notes = account.remarks();
        if last.is_some_and(|last| account.lasted() < last) {
            account.notes.push("of the time before that nothing is known".to_owned());
        }
        Ok(account)
    }

    /// How long it is about.
    pub fn lasted(&self) -> Duration {
        Duration::from_nanos(self.to.saturating_sub(self.from))
    }

    /// How long nobody led, in all.
    pub fn without(&self) -> Duration {
        length(&self.gaps)
    }

    /// How long it is not known who led, in all.
    pub fn not_known(&self) -> Duration {
        length(&self.unknown)
    }

    /// The part of the time that is known in which somebody led.
    pub fn availability(&self) -> Option<f64> {
        let lasted = self.lasted().saturating_sub(self.not_known()).as_nanos();
        let led = lasted.saturating_sub(self.without().as_nanos());
        (lasted > 0).then(|| led as f64 / lasted as f64)
    }

    /// Whether the protocol promises what the reigns certainly break.
    pub fn violated(&self) -> bool {
        self.promise == Promise::NeverTwo && self.overlaps.iter().any(|overlap| overlap.certain)
    }

    /// The members of which there are no records.
    pub fn missing(&self) -> impl Iterator<Item = NodeId> {
        self.members.iter().filter(|member| member.covered.is_none()).map(|member| member.id)
    }

    fn remarks(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for MemberKnown { id, lost, .. } in self.members.iter().filter(|member| member.lost > 0) {
            notes.push(format!("member {id} has forgotten {lost} earlier entries"));
        }
        if self.reigns.iter().any(|reign| !reign.own) {
            notes.push("a reign that others saw ends when they learnt of its end".to_owned());
        }
        match self.uncertain {
            None => notes.push(
                "the clocks of different machines are compared by their wall clocks: moments are \
                 as exact as those agree"
                    .to_owned(),
            ),
            Some(Duration::ZERO) => {}
            Some(uncertain) => notes
                .push(format!("moments of different machines are compared to within {uncertain}")),
        }
        notes
    }
}

/// What is known of every member that is named.
fn known(line: &Timeline<'_>) -> Vec<MemberKnown> {
    let mut ids: BTreeSet<NodeId> = line.members.keys().copied().collect();
    let mut all: BTreeMap<NodeId, MemberKnown> = BTreeMap::new();
    for (id, records) in &line.members {
        let (mut lives, mut lost) = (0, 0);
        for (_, event) in records {
            match event {
                Event::Begin(head) => {
                    lives += 1;
                    ids.extend(&head.members);
                }
                Event::Peers { members } => ids.extend(members),
                Event::Leadership { leaders, .. } => ids.extend(leaders),
                Event::Collected { lost: forgotten, .. } => lost = lost.max(*forgotten),
                _ => {}
            }
        }
        let covered = records.first().zip(records.last()).map(|(first, last)| (first.0, last.0));
        all.insert(*id, MemberKnown { id: *id, lives, lost, covered });
    }
    let unknown = |id| MemberKnown { id, lives: 0, lost: 0, covered: None };
    ids.into_iter().map(|id| all.remove(&id).unwrap_or_else(|| unknown(id))).collect()
}

/// When the last will of each life was first received.
type Wills = BTreeMap<(NodeId, u64), u64>;

fn wills(line: &Timeline<'_>) -> Wills {
    let mut wills = Wills::new();
    for (at, event) in line.members.values().flatten() {
        if let Event::Recv { from, number: LAST_NUMBER, life: Some(life), .. } = event {
            let known = wills.entry((*from, *life)).or_insert(*at);
            *known = (*known).min(*at);
        }
    }
    wills
}

fn length(times: &[(u64, u64)]) -> Duration {
    Duration::from_nanos(times.iter().map(|(from, to)| to - from).sum())
}

/// The times of which at least one member has records: it began, and did not leave, withdraw or
/// fall silent.
fn covered(line: &Timeline<'_>) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = Vec::new();
    for records in line.members.values() {
        let mut life: Option<(u64, u64)> = None;
        for (at, event) in records {
            match (event, &mut life) {
                (Event::Begin(_), _) => {
                    all.extend(life.replace((*at, *at)));
                }
                (_, Some((_, last))) => *last = *at,
                (_, None) => {}
            }
            if matches!(event, Event::Leave | Event::Withdraw { .. }) {
                all.extend(life.take());
            }
        }
        all.extend(life);
    }
    all.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (from, to) in all {
        match joined.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    joined
}

/// When each of them begins and ends.
type Times = Vec<(u64, u64)>;

/// The parts of these times that are covered, and those that are not.
fn split(gaps: &[(u64, u64)], covered: &[(u64, u64)]) -> (Times, Times) {
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for (from, to) in gaps {
        let mut at = *from;
        for (begins, ends) in covered.iter().filter(|(begins, ends)| ends > from && begins < to) {
            unknown.extend((at < *begins).then_some((at, *begins)));
            known.push((at.max(*begins), *to.min(ends)));
            at = *to.min(ends);
        }
        unknown.extend((at < *to).then_some((at, *to)));
    }
    (known, unknown)
}

/// The times without a reign.
fn gaps(reigns: &[Reign], from: u64, to: u64) -> Vec<(u64, u64)> {
    let mut gaps = Vec::new();
    let mut led = from;
    for reign in reigns {
        if reign.from > led {
            gaps.push((led, reign.from));
        }
        led = led.max(reign.to);
    }
    gaps.extend((led < to).then_some((led, to)));
    gaps
}

/// The times with two reigns that their leaders recorded.
fn overlaps(reigns: &[Reign], uncertain: Option<Duration>) -> Vec<Overlap> {
    let mut found = Vec::new();
    let own: Vec<&Reign> = reigns.iter().filter(|reign| reign.own).collect();
    for (index, later) in own.iter().enumerate() {
        for former in own[..index].iter().filter(|former| former.leader != later.leader) {
            let to = former.bound.min(later.bound);
            if to > later.from {
                let certain =
                    uncertain.is_some_and(|uncertain| to - later.from > 2 * uncertain.as_nanos());
                let leaders = [former.leader, later.leader];
                found.push(Overlap { leaders, from: later.from, to, certain });
            }
        }
    }
    found
}
