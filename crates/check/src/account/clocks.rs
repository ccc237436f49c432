//! Puts the records of all members on one time line.
//!
//! **Assumptions.** Records of one boot id share a clock. The clock of another machine was compared
//! while its past was collected, or else its wall clock is believed.

use crate::live::{BadTrace, Trace};
use bellwether_core::{Duration, Event, LifeHeader, NodeId};
use std::collections::BTreeMap;

/// How the clock of a member compares with that of the machine on which the account is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockOffset {
    /// What has to be added to the member's clock, in nanoseconds.
    pub add: i64,
    /// By how much that may be wrong.
    pub uncertain: Duration,
}

/// The records of one or more members, from one place.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The records.
    pub trace: Trace,
    /// How their clock compares, where that was measured.
    pub clock: Option<ClockOffset>,
}

/// All records by member, in order.
pub(super) struct Timeline<'a> {
    pub(super) members: BTreeMap<NodeId, Vec<(u64, &'a Event)>>,
    /// What has to be added to the readings of each member's clock, life by life.
    pub(super) shifts: BTreeMap<(NodeId, u64), i128>,
    pub(super) uncertain: Option<Duration>,
    /// The wall clock less the time of this line.
    pub(super) wall: Option<i128>,
}

/// A boot id, and what is known of its clock.
#[derive(Clone, Copy, Default)]
struct ClockKnown {
    measured: Option<ClockOffset>,
    /// The wall clock less this clock.
    wall: Option<i128>,
}

impl<'a> Timeline<'a> {
    pub(super) fn of(pieces: &'a [Piece]) -> Result<Self, BadTrace> {
        let clocks = clocks(pieces);
        let reference = clocks.first().map(|(_, known)| *known).unwrap_or_default();
        let mut uncertain = Some(Duration::ZERO);
        let mut adds: BTreeMap<&str, i128> = BTreeMap::new();
        for (index, (boot, known)) in clocks.iter().enumerate() {
            let add = match (index, known.measured, known.wall.zip(reference.wall)) {
                (0, ..) => 0,
                (_, Some(measured), _) => {
                    uncertain = uncertain.map(|known| known.max(measured.uncertain));
                    i128::from(measured.add)
                }
                (_, None, Some((there, here))) => {
                    uncertain = None;
                    there - here
                }
                (_, None, None) => return Err(incomparable(boot)),
            };
            adds.insert(boot, add);
        }
        let mut members: BTreeMap<NodeId, Vec<(u64, &Event)>> = BTreeMap::new();
        let mut shifts = BTreeMap::new();
        for Piece { trace, .. } in pieces {
            let mut add: BTreeMap<NodeId, i128> = BTreeMap::new();
            for line in &trace.lines {
                let (t, node) = (line.record.t.as_nanos(), line.record.node);
                match &line.record.event {
                    Event::Begin(head) => {
                        let own = adds.get(head.boot.as_str()).copied().unwrap_or(0);
                        add.insert(node, own);
                        shifts.insert((node, head.incarnation), own);
                    }
                    Event::Guardian(_) | Event::Work { .. } => continue,
                    // A member that has not begun tells only that it is there.
                    Event::Collected { boot, .. } => {
                        add.entry(node).or_insert_with(|| adds.get(&**boot).copied().unwrap_or(0));
                    }
                    _ => {}
                }
                let Some(add) = add.get(&node) else {
                    let problem = format!("process {node} has not begun; a trace has a 'begin'");
                    let place = format!("{}:{}", trace.name, line.number);
                    return Err(BadTrace { place, problem });
                };
                members.entry(node).or_default().push((shifted(t, *add), &line.record.event));
            }
        }
        members.values_mut().for_each(|records| records.sort_by_key(|(t, _)| *t));
        Ok(Self { members, shifts, uncertain, wall: reference.wall })
    }

    /// What all lives have in common.
    pub(super) fn head(&self, pieces: &'a [Piece]) -> Result<&'a LifeHeader, BadTrace> {
        let mut first: Option<(&str, &LifeHeader)> = None;
        for Piece { trace, .. } in pieces {
            for line in &trace.lines {
                let Event::Begin(head) = &line.record.event else { continue };
                let (name, known) = *first.get_or_insert((&trace.name, head));
                if (&known.group, &known.protocol) != (&head.group, &head.protocol) {
                    let problem = format!(
                        "it is of {} in group '{}', but {name} is of {} in group '{}'; report on \
                         one group at a time",
                        head.protocol, head.group, known.protocol, known.group
                    );
                    return Err(BadTrace { place: trace.name.clone(), problem });
                }
            }
        }
        first.map(|(_, head)| head).ok_or_else(|| {
            let problem = "no member has begun: there is nothing to tell yet".to_owned();
            BadTrace { place: "the records".to_owned(), problem }
        })
    }

    /// The first moment and the last one.
    pub(super) fn extent(&self) -> (u64, u64) {
        let times = || self.members.values().flatten().map(|(t, _)| *t);
        (times().min().unwrap_or(0), times().max().unwrap_or(0))
    }
}

/// A moment of another clock.
pub(super) fn shifted(t: u64, add: i128) -> u64 {
    u64::try_from((i128::from(t) + add).max(0)).unwrap_or(u64::MAX)
}

/// All clocks, in the order in which they come.
fn clocks(pieces: &[Piece]) -> Vec<(&str, ClockKnown)> {
    let mut all: Vec<(&str, ClockKnown)> = Vec::new();
    for Piece { trace, clock } in pieces {
        for line in &trace.lines {
            let (boot, wall) = match &line.record.event {
                Event::Begin(head) => (head.boot.as_str(), None),
                Event::Collected { boot, wall, .. } => (boot.as_str(), Some(*wall)),
                _ => continue,
            };
            let place = all.iter().position(|(known, _)| *known == boot);
            let place = place.unwrap_or_else(|| {
                all.push((boot, ClockKnown::default()));
                all.len() - 1
            });
            let known = &mut all[place].1;
            known.measured = known.measured.or(*clock);
            let t = i128::from(line.record.t.as_nanos());
            known.wall = known.wall.or(wall.map(|wall| i128::from(wall) - t));
        }
    }
    all
}

fn incomparable(boot: &str) -> BadTrace {
    let problem = format!(
        "the clock of machine '{boot}' cannot be compared with that of the first records: files \
         tell no wall clock; report on one machine's files at a time, or ask the members"
    );
    BadTrace { place: "the records".to_owned(), problem }
}
